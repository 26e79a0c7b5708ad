/* The guided tour's place, and presenter mode. What is asked at a stop, and what is right,
 * is app's, which knows the tour's text and the numbers. */
#include "handlers.h"

#include <string.h>

/* ---- where one was ------------------------------------------------------------------- */

void step_tour_from_here(struct step_state *s)
{
    struct step_before *b = &s->before;
    *b = (struct step_before){.there = true,
                              .scale = s->scale,
                              .opts = s->opts,
                              .stage = s->stage,
                              .time = s->time,
                              .least_weight = s->least_weight,
                              .see = s->see,
                              .pair = s->pair,
                              .diff = s->diff,
                              .over = s->over,
                              .lab = s->lab,
                              .decode = s->decode,
                              .code = s->code.open};
    for (int i = 0; i < STEP_SCALE_COUNT; i++) b->place[i] = s->place[i];
}

static void enter(struct step_state *s)
{
    if (!s->tour.open) step_tour_from_here(s);
    s->tour.open = true;
}

/* A text that has been read at a stop stays, and so does where it is looked at. */
static void leave(struct step_state *s)
{
    const struct step_before *b = &s->before;
    s->tour.open = false;
    if (!b->there) return;
    for (int i = 0; i < STEP_SCALE_COUNT; i++)
        if (s->place[i].text == b->place[i].text) s->place[i] = b->place[i];
    s->scale = b->scale;
    s->opts = b->opts;
    s->stage = b->stage;
    s->time = b->time;
    s->least_weight = b->least_weight;
    s->see = b->see;
    s->pair = b->pair;
    s->diff = b->diff;
    s->over = b->over;
    s->lab = b->lab;
    s->decode = b->decode;
    s->code.open = b->code;
    s->hover = step_no_ref();
    s->focus = 0;
    s->before.there = false;
    play_stop(s);
}

void step_tour_from_model(struct step_state *s)
{
    s->before.place[STEP_GPT2] = s->place[STEP_GPT2];
    s->before.scale = s->scale;
    s->before.over = s->over;
    s->before.over.open = false;
}

/* ---- the tour ------------------------------------------------------------------------ */

/* A stop begins with nothing over the stage and nothing broken; the rest is its own. */
static void plain(struct step_state *s)
{
    (void)do_correct(s, &(struct step_action){.i = 0});
    for (int i = 0; i < STEP_SCALE_COUNT; i++) {
        struct step_place *p = &s->place[i];
        rows_one(p, p->row);
        p->pin = step_no_ref();
        p->view = step_fitted;
    }
    s->hover = step_no_ref();
    s->editing = STEP_EDIT_NONE;
    s->over.open = s->help = s->switches = s->why = s->code.open = false;
    s->decode = s->lab.open = false;
    field_close(s);
    s->pair = STEP_PAIR_NONE;
    s->diff = STEP_DIFF_OFF;
    s->focus = 0;
    s->least_weight = 0.0f;
    play_stop(s);
}

/* The stop as it was answered, or not; the keys begin at the first token, cell or choice. */
static void recall(struct step_tour *t)
{
    t->verdict = (enum step_verdict)t->answered[t->stop];
    t->row = t->col = -1;
}

static void forget_all(struct step_tour *t)
{
    memset(t->answered, STEP_UNANSWERED, sizeof t->answered);
}

static bool is_answered(const struct step_tour *t)
{
    return t->verdict == STEP_RIGHT || t->verdict == STEP_REVEALED;
}

static bool has_stops(struct step_state *s, float x)
{
    if (!(x >= 1.0f && x <= (float)STEP_STOPS_MOST)) return s->tour.n > 0;
    s->tour.n = (int)x;
    return true;
}

bool do_tour(struct step_state *s, const struct step_action *a)
{
    if (s->tour.open) {
        leave(s);
        return true;
    }
    if (!has_stops(s, a->x)) return false;
    if (s->tour.stop >= s->tour.n) s->tour.stop = 0;
    recall(&s->tour);
    enter(s);
    plain(s);
    return true;
}

bool do_tour_to(struct step_state *s, const struct step_action *a)
{
    int n = a->x >= 1.0f && a->x <= (float)STEP_STOPS_MOST ? (int)a->x : s->tour.n;
    if (a->i < 0 || a->i >= n) return false;
    s->tour.n = n;
    s->tour.stop = a->i;
    enter(s);
    recall(&s->tour);
    plain(s);
    return true;
}

bool do_tour_again(struct step_state *s, const struct step_action *a)
{
    struct step_action to = {.i = a->i ? 0 : s->tour.stop, .x = a->x};
    if (a->i)
        forget_all(&s->tour);
    else
        s->tour.answered[to.i] = STEP_UNANSWERED;
    return do_tour_to(s, &to);
}

/* Behind the last stop the tour is over, and begins anew the next time. */
bool do_tour_by(struct step_state *s, const struct step_action *a)
{
    if (!s->tour.open || (a->i != 1 && a->i != -1)) return false;
    struct step_action to = {.i = s->tour.stop + a->i};
    if (to.i < s->tour.n) return do_tour_to(s, &to);
    leave(s);
    s->tour.stop = 0;
    forget_all(&s->tour);
    recall(&s->tour);
    return true;
}

bool do_tour_at(struct step_state *s, const struct step_action *a)
{
    struct step_tour *t = &s->tour;
    if (!t->open || is_answered(t) || a->ref.row < -1 || a->ref.col < -1) return false;
    t->verdict = STEP_UNANSWERED; /* what was wrong is no longer pointed at */
    t->row = a->ref.row;
    t->col = a->ref.col;
    return true;
}

bool do_tour_pick(struct step_state *s, const struct step_action *a)
{
    struct step_tour *t = &s->tour;
    bool judged = a->i == STEP_WRONG || a->i == STEP_RIGHT || a->i == STEP_REVEALED;
    if (!t->open || is_answered(t) || !judged || a->ref.row < -1 || a->ref.col < -1)
        return false;
    t->verdict = (enum step_verdict)a->i;
    if (is_answered(t)) t->answered[t->stop] = (uint8_t)a->i;
    t->row = a->ref.row;
    t->col = a->ref.col;
    return true;
}

bool do_tour_answered(struct step_state *s, const struct step_action *a)
{
    bool answer = a->x == (float)STEP_RIGHT || a->x == (float)STEP_REVEALED;
    if (a->i < 0 || a->i >= STEP_STOPS_MOST || !answer) return false;
    s->tour.answered[a->i] = (uint8_t)a->x;
    return true;
}

/* ---- presenter mode ------------------------------------------------------------------ */

/* What lies over the stage is folded, and comes back behind it. */
bool do_present(struct step_state *s, const struct step_action *a)
{
    struct step_presenter *p = &s->presenter;
    (void)a;
    s->focus = 0;
    if (p->on) {
        s->code.open = p->code;
        s->switches = p->switches;
        s->why = p->why;
        *p = (struct step_presenter){.on = false};
        return true;
    }
    *p = (struct step_presenter){
        .on = true, .code = s->code.open, .switches = s->switches, .why = s->why};
    s->code.open = s->switches = s->why = s->help = false;
    return true;
}

bool do_blank(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (!s->presenter.on) return false;
    s->presenter.blank = !s->presenter.blank;
    play_stop(s);
    return true;
}

/* Esc: the blank screen, then the tour. */
bool tour_escape(struct step_state *s)
{
    if (s->presenter.blank)
        s->presenter.blank = false;
    else if (s->tour.open)
        leave(s);
    else
        return false;
    return true;
}
