/* Playback: stages in time, micro-steps, speed, and what passes between two frames. */
#include "handlers.h"

#include <math.h>

const float step_speeds[5] = {0.25f, 0.5f, 1.0f, 2.0f, 4.0f};

enum { SPEED_COUNT = sizeof step_speeds / sizeof *step_speeds };

#define DWELL_SECONDS 0.9f /* a finished stage is looked at so long before the next */

static void show(struct step_state *s, enum attn_stage stage, float time)
{
    if (stage != s->stage) {
        s->hover = step_no_ref(); /* another matrix may lie there */
        s->dive = (struct step_dive){.n = 0};
        s->code.scroll = 0;
    }
    s->stage = stage;
    s->time = time;
    s->dwell = 0.0f;
}

static void play(struct step_state *s, bool run_on)
{
    s->playing = true;
    s->run_on = run_on;
    s->dwell = 0.0f;
}

void play_stop(struct step_state *s)
{
    s->playing = s->run_on = false;
    s->dwell = 0.0f;
}

static bool is_last(enum attn_stage stage)
{
    return stage + 1 == ATTN_STAGE_COUNT;
}

/* The next stage or, in decode mode, the next token's first. false: there is none. */
static bool show_next(struct step_state *s)
{
    if (!is_last(s->stage))
        show(s, s->stage + 1, 0.0f);
    else if (decode_by(s, 1))
        show(s, 0, 0.0f);
    else
        return false;
    return true;
}

/* Whether nothing comes behind the stage in view. */
static bool is_end(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    return is_last(s->stage) && !(step_is_decoding(s) && p->row + 1 < p->dims.n_tok);
}

bool do_next(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (s->time < 1.0f) {
        s->time = 1.0f;
        play_stop(s);
        return true;
    }
    if (!show_next(s)) return false;
    play(s, false);
    return true;
}

bool do_prev(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (s->stage > 0)
        show(s, s->stage - 1, 1.0f);
    else if (decode_by(s, -1))
        show(s, ATTN_STAGE_COUNT - 1, 1.0f);
    else if (s->time > 0.0f || s->playing)
        s->time = 0.0f;
    else
        return false;
    play_stop(s);
    return true;
}

bool do_go(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= ATTN_STAGE_COUNT) return false;
    show(s, (enum attn_stage)a->i, 0.0f);
    play(s, false);
    return true;
}

bool do_play(struct step_state *s, const struct step_action *a)
{
    if (a->i == 1) {
        if (s->time >= 1.0f && is_end(s)) return false;
        play(s, true);
        return true;
    }
    if (s->playing) {
        play_stop(s);
        return true;
    }
    if (s->time >= 1.0f && !show_next(s)) {
        const struct step_place *p = step_place_of(s);
        (void)decode_by(s, p->prefill - 1 - p->row); /* all of it again */
        show(s, 0, 0.0f);
    }
    play(s, true);
    return true;
}

bool do_restart(struct step_state *s, const struct step_action *a)
{
    (void)a;
    show(s, s->stage, 0.0f);
    play(s, false);
    return true;
}

bool do_scrub(struct step_state *s, const struct step_action *a)
{
    if (!(a->x >= 0.0f && a->x <= 1.0f)) return false; /* NaN too */
    s->time = a->x;
    play_stop(s);
    return true;
}

enum { TENTHS = 10 };

/* The k-th place where a micro-step stops, ascending from 0 to 1, k < stops(c). */
static int stops(const struct step_clock *c)
{
    return c->n_beat > 1 ? c->n_beat + 3 : TENTHS + 1;
}

static float stop_at(const struct step_clock *c, int k)
{
    if (c->n_beat < 2) return (float)k / (float)TENTHS;
    if (k == 0) return 0.0f;
    return k <= c->n_beat + 1 ? step_beat_start(c, k - 1) : 1.0f;
}

bool do_beat(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_clock c = step_clock_at(s, s->stage);
    int n = stops(&c), k = a->i > 0 ? 0 : n - 1;
    if (a->i > 0)
        while (k < n && stop_at(&c, k) <= s->time) k++;
    else
        while (k >= 0 && stop_at(&c, k) >= s->time) k--;
    bool inside = k >= 0 && k < n;
    if (!inside && !s->playing) return false;
    if (inside) s->time = stop_at(&c, k);
    play_stop(s);
    return true;
}

static int speed_index(float speed)
{
    for (int i = 0; i < SPEED_COUNT; i++)
        if (step_speeds[i] == speed) return i;
    return -1;
}

bool do_speed(struct step_state *s, const struct step_action *a)
{
    if (speed_index(a->x) < 0) return false;
    s->speed = a->x;
    return true;
}

bool do_speed_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    int to = speed_index(s->speed) + a->i;
    if (to < 0 || to >= SPEED_COUNT) return false;
    s->speed = step_speeds[to];
    return true;
}

bool step_is_moving(const struct step_state *s)
{
    return s->playing;
}

/* Lets at most dt seconds pass in the stage shown; returns what is left of them. */
static float advance(struct step_state *s, float dt)
{
    struct step_clock c = step_clock_at(s, s->stage);
    float need = (1.0f - s->time) * c.seconds / s->speed;
    float left = dt < need ? 0.0f : dt - need;
    s->time = dt < need ? fminf(s->time + dt * s->speed / c.seconds, 1.0f) : 1.0f;
    if (s->time >= 1.0f && (!s->run_on || is_end(s))) play_stop(s);
    return left;
}

/* The same for the pause behind a finished stage. */
static float dwell(struct step_state *s, float dt)
{
    float need = DWELL_SECONDS - s->dwell;
    if (dt * s->speed < need) {
        s->dwell += dt * s->speed;
        return 0.0f;
    }
    (void)show_next(s);
    return dt - need / s->speed;
}

bool step_tick(struct step_state *s, float dt)
{
    if (!(dt > 0.0f) || !isfinite(dt)) return false; /* a clock that stood or slipped */
    bool moved = false;
    while (s->playing && dt > 0.0f) {
        enum attn_stage stage = s->stage;
        float time = s->time;
        dt = time < 1.0f ? advance(s, dt) : dwell(s, dt);
        moved = moved || s->time != time || s->stage != stage || !s->playing;
    }
    return moved;
}
