/* The state of the program and the actions on it.
 *
 * One small handler a verb, in a table. A handler looks first and writes afterwards, so
 * that an action that is not possible leaves no trace. */
#include "step.h"

#include <math.h>
#include <string.h>

const float step_speeds[5] = {0.25f, 0.5f, 1.0f, 2.0f, 4.0f};

enum { SPEED_COUNT = sizeof step_speeds / sizeof *step_speeds };

/* UI sizes that - and + walk along, in percent; browsers' steps. */
static const int ui_sizes[] = {STEP_MIN_UI, 67,  75,  80,  90,  100,        110,
                               125,         150, 175, 200, 250, STEP_MAX_UI};
enum { UI_SIZE_COUNT = sizeof ui_sizes / sizeof *ui_sizes };

#define DWELL_SECONDS 0.9f /* a finished stage is looked at so long before the next */
#define ZOOM_MOST     4096.0f
#define VIEW_FAR      1e8f /* points; beyond it a float has no whole points left to pan by */

static const struct step_view fitted = {.zoom = 1.0f};

/* ---- cells ------------------------------------------------------------------------- */

struct step_ref step_no_ref(void)
{
    return (struct step_ref){.tensor = ATTN_TENSOR_COUNT};
}

bool step_ref_is(struct step_ref a, struct step_ref b)
{
    return a.tensor == b.tensor && a.row == b.row && a.col == b.col;
}

enum axis { AXIS_TOKEN, AXIS_MODEL, AXIS_HEAD };

/* What a tensor's rows and columns stand for. */
static const struct shape {
    enum axis row, col;
} shapes[ATTN_TENSOR_COUNT] = {
    /* clang-format off */
    [ATTN_H]        = {AXIS_TOKEN, AXIS_MODEL},
    [ATTN_X]        = {AXIS_TOKEN, AXIS_MODEL},
    [ATTN_W_Q]      = {AXIS_MODEL, AXIS_HEAD},
    [ATTN_W_K]      = {AXIS_MODEL, AXIS_HEAD},
    [ATTN_W_V]      = {AXIS_MODEL, AXIS_HEAD},
    [ATTN_Q]        = {AXIS_TOKEN, AXIS_HEAD},
    [ATTN_K]        = {AXIS_TOKEN, AXIS_HEAD},
    [ATTN_V]        = {AXIS_TOKEN, AXIS_HEAD},
    [ATTN_S_RAW]    = {AXIS_TOKEN, AXIS_TOKEN},
    [ATTN_S_SCALED] = {AXIS_TOKEN, AXIS_TOKEN},
    [ATTN_S_MASKED] = {AXIS_TOKEN, AXIS_TOKEN},
    [ATTN_P]        = {AXIS_TOKEN, AXIS_TOKEN},
    [ATTN_Z]        = {AXIS_TOKEN, AXIS_HEAD},
    [ATTN_Z_ALL]    = {AXIS_TOKEN, AXIS_MODEL},
    [ATTN_W_O]      = {AXIS_MODEL, AXIS_MODEL},
    [ATTN_Y_PROJ]   = {AXIS_TOKEN, AXIS_MODEL},
    [ATTN_Y]        = {AXIS_TOKEN, AXIS_MODEL},
    /* clang-format on */
};

static int extent(enum axis a, struct attn_dims d)
{
    switch (a) {
    case AXIS_TOKEN:
        return d.n_tok;
    case AXIS_MODEL:
        return d.d_model;
    case AXIS_HEAD:
        break;
    }
    return d.d_model / d.n_head;
}

static bool exists(struct step_ref r, struct attn_dims d)
{
    return (unsigned)r.tensor < ATTN_TENSOR_COUNT && r.row >= 0 && r.col >= 0 &&
           r.row < extent(shapes[r.tensor].row, d) &&
           r.col < extent(shapes[r.tensor].col, d);
}

static bool is_none(struct step_ref r)
{
    return r.tensor == ATTN_TENSOR_COUNT;
}

/* ---- the state ---------------------------------------------------------------------- */

static struct step_place *here(struct step_state *s)
{
    return &s->place[s->scale];
}

const struct step_place *step_place_of(const struct step_state *s)
{
    return &s->place[s->scale];
}

struct step_state step_initial(void)
{
    struct step_state s;
    memset(&s, 0, sizeof s); /* padding too: tests compare states byte by byte */
    s.place[STEP_TOY] = (struct step_place){
        .dims = {.n_tok = STEP_TOY_TOKENS, .d_model = 8, .n_head = 2},
        .seed = 15, /* its numbers are readable, its rows neither even nor all on one */
        .row = 3,   /* "down": it sees enough tokens for a blend, and one is masked */
        .pin = step_no_ref(),
        .view = fitted,
        .limit = STEP_TOY_TOKENS,
    };
    s.place[STEP_GPT2] = (struct step_place){
        .dims = {.n_tok = STEP_GPT2_TOKENS, .d_model = 768, .n_head = 12}, /* 124M */
        .seed = 1,
        .row = STEP_GPT2_TOKENS - 1, /* sees every token */
        .pin = step_no_ref(),
        .view = fitted,
        .limit = STEP_MAX_TOKENS,
    };
    s.opts = (struct attn_opts){.scale = true, .causal = true, .residual = true};
    s.speed = 1.0f;
    s.over.kind = STEP_OVER_WEIGHTS;
    s.over.view = fitted;
    s.hover = step_no_ref();
    s.ui_percent = 100;
    return s;
}

bool step_is_loaded(const struct step_place *p)
{
    return p->n_block > 0;
}

void step_load(struct step_state *s, const struct step_model *m)
{
    struct step_place *p = &s->place[STEP_GPT2];
    bool same = p->n_block == m->n_block && p->dims.d_model == m->dims.d_model &&
                p->dims.n_head == m->dims.n_head;
    if (!same) p->head = p->block = 0;
    if (!same || p->dims.n_tok != m->dims.n_tok) p->view = fitted;
    p->dims = m->dims;
    p->n_block = m->n_block;
    p->limit = m->limit;
    p->row = m->dims.n_tok - 1;
    p->pin = s->hover = step_no_ref();
    s->scale = STEP_GPT2;
    s->over.at = p->block * p->dims.n_head + p->head;
    s->over.view = fitted;
    s->over.menu = false;
}

void step_push(struct step_actions *list, struct step_action a)
{
    int room = sizeof list->at / sizeof *list->at;
    if (list->n < room) list->at[list->n++] = a;
}

/* ---- the overview ---------------------------------------------------------------------- */

static int head_count(const struct step_place *p)
{
    return (p->n_block > 1 ? p->n_block : 1) * p->dims.n_head;
}

/* The overview is of another place now: it begins at the head that is shown there. */
static void over_here(struct step_state *s)
{
    const struct step_place *p = here(s);
    s->over.at = p->block * p->dims.n_head + p->head;
    s->over.view = fitted;
    s->over.menu = false;
}

static bool do_overview(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->over.open = !s->over.open;
    s->playing = s->run_on = false; /* nothing plays unseen */
    s->dwell = 0.0f;
    s->hover = step_no_ref();
    over_here(s);
    return true;
}

static bool do_over_kind(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_OVER_KIND_COUNT) return false;
    s->over.kind = (enum step_over_kind)a->i;
    return true;
}

static bool do_over_sort(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_SORT_COUNT) return false;
    s->over.sort = (enum step_over_sort)a->i;
    s->over.menu = false;
    return true;
}

static bool do_over_menu(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (!s->over.open) return false;
    s->over.menu = !s->over.menu;
    return true;
}

static bool do_over_at(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= head_count(here(s))) return false;
    s->over.at = a->i;
    return true;
}

static bool do_over_open(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = here(s);
    if (a->i < 0 || a->i >= head_count(p)) return false;
    p->head = a->i % p->dims.n_head;
    if (step_is_loaded(p)) p->block = a->i / p->dims.n_head;
    s->over.open = false;
    return true;
}

/* ---- playback ------------------------------------------------------------------------ */

static void show(struct step_state *s, enum attn_stage stage, float time)
{
    if (stage != s->stage) s->hover = step_no_ref(); /* another matrix may lie there */
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

static void stop(struct step_state *s)
{
    s->playing = s->run_on = false;
    s->dwell = 0.0f;
}

static bool is_last(enum attn_stage stage)
{
    return stage + 1 == ATTN_STAGE_COUNT;
}

static bool do_next(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (s->time < 1.0f) {
        s->time = 1.0f;
        stop(s);
        return true;
    }
    if (is_last(s->stage)) return false;
    show(s, s->stage + 1, 0.0f);
    play(s, false);
    return true;
}

static bool do_prev(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (s->stage > 0)
        show(s, s->stage - 1, 1.0f);
    else if (s->time > 0.0f || s->playing)
        s->time = 0.0f;
    else
        return false;
    stop(s);
    return true;
}

static bool do_go(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= ATTN_STAGE_COUNT) return false;
    show(s, (enum attn_stage)a->i, 0.0f);
    play(s, false);
    return true;
}

static bool do_play(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (s->playing) {
        stop(s);
        return true;
    }
    if (s->time >= 1.0f) show(s, is_last(s->stage) ? 0 : s->stage + 1, 0.0f);
    play(s, true);
    return true;
}

static bool do_restart(struct step_state *s, const struct step_action *a)
{
    (void)a;
    show(s, s->stage, 0.0f);
    play(s, false);
    return true;
}

static bool do_scrub(struct step_state *s, const struct step_action *a)
{
    if (!(a->x >= 0.0f && a->x <= 1.0f)) return false; /* NaN too */
    s->time = a->x;
    stop(s);
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

static bool do_beat(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_clock c = step_clock_of(s->stage, step_place_of(s)->dims);
    int n = stops(&c), k = a->i > 0 ? 0 : n - 1;
    if (a->i > 0)
        while (k < n && stop_at(&c, k) <= s->time) k++;
    else
        while (k >= 0 && stop_at(&c, k) >= s->time) k--;
    bool inside = k >= 0 && k < n;
    if (!inside && !s->playing) return false;
    if (inside) s->time = stop_at(&c, k);
    stop(s);
    return true;
}

static int speed_index(float speed)
{
    for (int i = 0; i < SPEED_COUNT; i++)
        if (step_speeds[i] == speed) return i;
    return -1;
}

static bool do_speed(struct step_state *s, const struct step_action *a)
{
    if (speed_index(a->x) < 0) return false;
    s->speed = a->x;
    return true;
}

static bool do_speed_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    int to = speed_index(s->speed) + a->i;
    if (to < 0 || to >= SPEED_COUNT) return false;
    s->speed = step_speeds[to];
    return true;
}

/* ---- what is looked at ---------------------------------------------------------------- */

static bool do_scale_to(struct step_state *s, const struct step_action *a)
{
    int now = (int)s->scale, to = a->i == -1 ? STEP_SCALE_COUNT - 1 - now : a->i;
    if (to < 0 || to >= STEP_SCALE_COUNT) return false;
    s->scale = (enum step_scale)to;
    if (to == now) return true;
    s->hover = step_no_ref();
    if (s->over.open) over_here(s);
    return true;
}

static bool do_tokens(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = here(s);
    if (s->scale != STEP_GPT2 || step_is_loaded(p) || a->i < 1 || a->i > p->limit)
        return false;
    p->dims.n_tok = a->i;
    if (p->row >= a->i) p->row = a->i - 1;
    if (!exists(p->pin, p->dims)) p->pin = step_no_ref();
    if (!exists(s->hover, p->dims)) s->hover = step_no_ref();
    return true;
}

static bool do_seed(struct step_state *s, const struct step_action *a)
{
    if (step_is_loaded(here(s))) return false;
    here(s)->seed = (uint32_t)a->i;
    return true;
}

/* Seeds of at most four digits, so that one can be read out in a class. 2213 is a
 * primitive root of the prime 9973: all 9972 seeds come before one comes again. */
static bool do_roll(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (step_is_loaded(here(s))) return false;
    uint32_t x = here(s)->seed % 9973u;
    here(s)->seed = x ? x * 2213u % 9973u : 1u;
    return true;
}

static bool do_head(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= here(s)->dims.n_head) return false;
    here(s)->head = a->i;
    return true;
}

static bool do_head_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = here(s)->head + a->i};
    return do_head(s, &to);
}

static bool do_block(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= here(s)->n_block) return false;
    here(s)->block = a->i;
    return true;
}

static bool do_block_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = here(s)->block + a->i};
    return do_block(s, &to);
}

static bool do_row(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= here(s)->dims.n_tok) return false;
    here(s)->row = a->i;
    here(s)->pin = step_no_ref();
    return true;
}

static bool do_row_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = here(s)->row + a->i};
    return do_row(s, &to);
}

static bool do_pin(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = here(s);
    if (!exists(a->ref, p->dims)) return false;
    if (step_ref_is(a->ref, p->pin)) {
        p->pin = step_no_ref();
        return true;
    }
    p->pin = a->ref;
    if (shapes[a->ref.tensor].row == AXIS_TOKEN) p->row = a->ref.row;
    return true;
}

static bool do_hover(struct step_state *s, const struct step_action *a)
{
    if (is_none(a->ref))
        s->hover = step_no_ref();
    else if (exists(a->ref, here(s)->dims))
        s->hover = a->ref;
    else
        return false;
    return true;
}

static bool do_toggle(struct step_state *s, const struct step_action *a)
{
    bool *const opts[STEP_OPT_COUNT] = {
        [STEP_OPT_SCALE] = &s->opts.scale,
        [STEP_OPT_CAUSAL] = &s->opts.causal,
        [STEP_OPT_RESIDUAL] = &s->opts.residual,
    };
    if (a->i < 0 || a->i >= STEP_OPT_COUNT) return false;
    *opts[a->i] = !*opts[a->i];
    return true;
}

static bool do_log(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->log_weights = !s->log_weights;
    return true;
}

/* ---- the view -------------------------------------------------------------------------- */

static bool view_is(struct step_view a, struct step_view b)
{
    return a.zoom == b.zoom && a.x == b.x && a.y == b.y;
}

/* What zooming and panning changes: the overview's view while it is open. */
static struct step_view *seen(struct step_state *s)
{
    return s->over.open ? &s->over.view : &here(s)->view;
}

/* Comparisons are written so that NaN fails them. */
static bool look(struct step_state *s, struct step_view v)
{
    bool near = fabsf(v.x) <= VIEW_FAR && fabsf(v.y) <= VIEW_FAR;
    if (!near || !(v.zoom >= 1.0f && v.zoom <= ZOOM_MOST)) return false;
    *seen(s) = v;
    return true;
}

/* The point under the pointer stays: p = (p - x) / zoom before and after. */
static bool do_zoom(struct step_state *s, const struct step_action *a)
{
    struct step_view old = *seen(s), v = fitted;
    if (!(a->z > 0.0f) || !isfinite(a->z) || !isfinite(a->x) || !isfinite(a->y))
        return false;
    v.zoom = fminf(fmaxf(old.zoom * a->z, 1.0f), ZOOM_MOST);
    if (v.zoom > 1.0f) {
        float f = v.zoom / old.zoom;
        v.x = a->x - (a->x - old.x) * f;
        v.y = a->y - (a->y - old.y) * f;
    }
    return !view_is(v, old) && look(s, v);
}

static bool do_pan(struct step_state *s, const struct step_action *a)
{
    struct step_view v = *seen(s);
    v.x += a->x;
    v.y += a->y;
    return look(s, v);
}

static bool do_view(struct step_state *s, const struct step_action *a)
{
    return look(s, (struct step_view){.zoom = a->z, .x = a->x, .y = a->y});
}

static bool do_fit(struct step_state *s, const struct step_action *a)
{
    (void)a;
    return look(s, fitted);
}

/* ---- the window -------------------------------------------------------------------------- */

static bool do_help(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->help = !s->help;
    return true;
}

static bool do_edit(struct step_state *s, const struct step_action *a)
{
    bool known = a->i >= STEP_EDIT_NONE && a->i <= STEP_EDIT_PATH;
    if (!known || (a->i == STEP_EDIT_TEXT && !step_is_loaded(here(s)))) return false;
    s->editing = (enum step_edit)a->i;
    s->focus = 0;
    if (s->editing) stop(s);
    return true;
}

/* What is done with the letters is app's business. */
static bool do_text_part(struct step_state *s, const struct step_action *a)
{
    (void)a;
    return s->editing != STEP_EDIT_NONE;
}

static bool do_theme(struct step_state *s, const struct step_action *a)
{
    int now = (int)s->theme, to = a->i == -1 ? STEP_LIGHT + STEP_DARK - now : a->i;
    if (to != STEP_LIGHT && to != STEP_DARK) return false;
    s->theme = (enum step_theme)to;
    return true;
}

static bool do_ui_size(struct step_state *s, const struct step_action *a)
{
    if (a->i < STEP_MIN_UI || a->i > STEP_MAX_UI) return false;
    s->ui_percent = a->i;
    return true;
}

/* To the next listed size; a size between two was asked for by number. */
static bool do_ui_size_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    int k = a->i > 0 ? 0 : UI_SIZE_COUNT - 1;
    while (k >= 0 && k < UI_SIZE_COUNT && (ui_sizes[k] - s->ui_percent) * a->i <= 0)
        k += a->i;
    if (k < 0 || k >= UI_SIZE_COUNT) return false;
    s->ui_percent = ui_sizes[k];
    return true;
}

static bool do_fullscreen(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->fullscreen = !s->fullscreen;
    return true;
}

static bool do_focus(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0) return false;
    s->focus = a->i;
    return true;
}

static bool do_escape(struct step_state *s, const struct step_action *a)
{
    (void)a;
    struct step_place *p = here(s);
    if (s->editing)
        s->editing = STEP_EDIT_NONE;
    else if (s->help)
        s->help = false;
    else if (s->focus)
        s->focus = 0;
    else if (s->over.open && s->over.menu)
        s->over.menu = false;
    else if (s->over.open)
        s->over.open = false;
    else if (!is_none(p->pin))
        p->pin = step_no_ref();
    else if (!view_is(p->view, fitted))
        p->view = fitted;
    else if (s->fullscreen)
        s->fullscreen = false;
    else
        return false;
    return true;
}

static bool do_quit(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->quit = true;
    return true;
}

/* ---- applying ------------------------------------------------------------------------------ */

static bool (*const handlers[])(struct step_state *, const struct step_action *) = {
    /* clang-format off */
    [STEP_NEXT] = do_next,         [STEP_PREV] = do_prev,
    [STEP_GO] = do_go,             [STEP_PLAY] = do_play,
    [STEP_RESTART] = do_restart,   [STEP_SCRUB] = do_scrub,
    [STEP_BEAT] = do_beat,         [STEP_SPEED] = do_speed,
    [STEP_SPEED_BY] = do_speed_by, [STEP_SCALE_TO] = do_scale_to,
    [STEP_TOKENS] = do_tokens,     [STEP_SEED] = do_seed,
    [STEP_ROLL] = do_roll,         [STEP_HEAD] = do_head,
    [STEP_HEAD_BY] = do_head_by,   [STEP_BLOCK] = do_block,
    [STEP_BLOCK_BY] = do_block_by, [STEP_ROW] = do_row,
    [STEP_ROW_BY] = do_row_by,     [STEP_PIN] = do_pin,
    [STEP_HOVER] = do_hover,       [STEP_TOGGLE] = do_toggle,
    [STEP_LOG] = do_log,           [STEP_ZOOM] = do_zoom,
    [STEP_PAN] = do_pan,           [STEP_VIEW] = do_view,
    [STEP_FIT] = do_fit,           [STEP_HELP] = do_help,
    [STEP_OVERVIEW] = do_overview, [STEP_OVER_KIND] = do_over_kind,
    [STEP_OVER_SORT] = do_over_sort,
    [STEP_OVER_MENU] = do_over_menu,
    [STEP_OVER_AT] = do_over_at,   [STEP_OVER_OPEN] = do_over_open,
    [STEP_THEME] = do_theme,       [STEP_UI_SIZE] = do_ui_size,
    [STEP_UI_SIZE_BY] = do_ui_size_by,
    [STEP_FULLSCREEN] = do_fullscreen,
    [STEP_FOCUS] = do_focus,       [STEP_ESCAPE] = do_escape,
    [STEP_QUIT] = do_quit,         [STEP_EDIT] = do_edit,
    [STEP_TEXT_DONE] = do_text_part,
    [STEP_TEXT_SPECIAL] = do_text_part,
    /* clang-format on */
};

bool step_apply(struct step_state *s, struct step_action a)
{
    unsigned n = sizeof handlers / sizeof *handlers, verb = (unsigned)a.verb;
    if (verb >= n || !handlers[verb] || !handlers[verb](s, &a)) return false;
    /* Whatever plays is to be seen. */
    if (verb >= STEP_NEXT && verb <= STEP_BEAT) s->over.open = false;
    return true;
}

bool step_is_moving(const struct step_state *s)
{
    return s->playing;
}

/* Lets at most dt seconds pass in the stage shown; returns what is left of them. */
static float advance(struct step_state *s, float dt)
{
    struct step_clock c = step_clock_of(s->stage, step_place_of(s)->dims);
    float need = (1.0f - s->time) * c.seconds / s->speed;
    float left = dt < need ? 0.0f : dt - need;
    s->time = dt < need ? fminf(s->time + dt * s->speed / c.seconds, 1.0f) : 1.0f;
    if (s->time >= 1.0f && (!s->run_on || is_last(s->stage))) stop(s);
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
    show(s, s->stage + 1, 0.0f);
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
