/* The state of the program and the actions on it.
 *
 * One small handler a verb, in a table. A handler looks first and writes afterwards, so
 * that an action that is not possible leaves no trace. */
#include "handlers.h"

#include <math.h>
#include <string.h>

/* UI sizes that - and + walk along, in percent; browsers' steps. */
static const int ui_sizes[] = {STEP_MIN_UI, 67,  75,  80,  90,  100,        110,
                               125,         150, 175, 200, 250, STEP_MAX_UI};
enum { UI_SIZE_COUNT = sizeof ui_sizes / sizeof *ui_sizes };

#define ZOOM_MOST 4096.0f
#define VIEW_FAR  1e8f /* points; beyond it a float has no whole points left to pan by */

const struct step_view step_fitted = {.zoom = 1.0f};

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

bool step_rows_are_tokens(enum attn_tensor t)
{
    return t < ATTN_TENSOR_COUNT && shapes[t].row == AXIS_TOKEN;
}

bool step_cols_are_tokens(enum attn_tensor t)
{
    return t < ATTN_TENSOR_COUNT && shapes[t].col == AXIS_TOKEN;
}

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

struct step_place *step_here(struct step_state *s)
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
        .second = 1,
        .seed = 15, /* its numbers are readable, its rows neither even nor all on one */
        .row = 3,
        .anchor = 3, /* "down": it sees enough tokens for a blend, and one is masked */
        .pin = step_no_ref(),
        .view = step_fitted,
        .limit = STEP_TOY_MOST,
    };
    s.place[STEP_GPT2] = (struct step_place){
        .dims = {.n_tok = STEP_GPT2_TOKENS, .d_model = 768, .n_head = 12}, /* 124M */
        .second = 1,
        .seed = 1,
        .row = STEP_GPT2_TOKENS - 1,
        .anchor = STEP_GPT2_TOKENS - 1, /* sees every token */
        .pin = step_no_ref(),
        .view = step_fitted,
        .limit = STEP_MAX_TOKENS,
    };
    s.opts.scale = s.opts.causal = s.opts.residual = true;
    s.speed = 1.0f;
    s.over.kind = STEP_OVER_WEIGHTS;
    s.over.view = step_fitted;
    s.hover = s.field.at = step_no_ref();
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
    if (m->fresh) {
        past_forget_model(s);
        memset(p->edits, 0, sizeof p->edits);
        p->n_edit = 0;
        p->text = 0;
    }
    bool same = p->n_block == m->n_block && p->dims.d_model == m->dims.d_model &&
                p->dims.n_head == m->dims.n_head;
    if (!same) p->head = p->block = 0;
    if (!same) p->second = m->dims.n_head > 1 ? 1 : 0;
    if (!same || p->dims.n_tok != m->dims.n_tok) p->view = step_fitted;
    p->dims = m->dims;
    p->n_block = m->n_block;
    p->limit = m->limit;
    rows_one(p, m->dims.n_tok - 1);
    p->pin = s->hover = step_no_ref();
    field_close(s);
    s->dive = (struct step_dive){.n = 0};
    s->scale = STEP_GPT2;
    s->over.at = p->block * p->dims.n_head + p->head;
    s->over.view = step_fitted;
    s->over.menu = false;
    decode_hold(s);
    step_tour_from_model(s);
}

void step_push(struct step_actions *list, struct step_action a)
{
    int room = sizeof list->at / sizeof *list->at;
    if (list->n < room) list->at[list->n++] = a;
}

/* ---- what is looked at ---------------------------------------------------------------- */

static bool do_scale_to(struct step_state *s, const struct step_action *a)
{
    int now = (int)s->scale, to = a->i == -1 ? STEP_SCALE_COUNT - 1 - now : a->i;
    if (to < 0 || to >= STEP_SCALE_COUNT) return false;
    s->scale = (enum step_scale)to;
    if (to == now) return true;
    s->dive = (struct step_dive){.n = 0};
    s->hover = step_no_ref();
    if (s->over.open) over_here(s);
    return true;
}

void set_tokens(struct step_state *s, struct step_place *p, int n)
{
    p->dims.n_tok = n;
    rows_cut(p);
    if (!exists(p->pin, p->dims)) p->pin = step_no_ref();
    if (!exists(s->hover, p->dims)) s->hover = step_no_ref();
}

/* A number of the scale in view is to be another; topic: see struct change. */
static bool note(struct step_state *s, enum change_kind kind, uint32_t was, uint32_t now,
                 int topic)
{
    struct change c;
    memset(&c, 0, sizeof c);
    c.kind = kind;
    c.scale = s->scale;
    c.topic = topic;
    c.before.number = was;
    c.after.number = now;
    return was == now || past_push(s, &c);
}

static bool do_tokens(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (s->scale != STEP_GPT2 || step_is_loaded(p) || a->i < 1 || a->i > p->limit)
        return false;
    if (!note(s, CHANGE_TOKENS, (uint32_t)p->dims.n_tok, (uint32_t)a->i, 1)) return false;
    set_tokens(s, p, a->i);
    return true;
}

/* Another text: what was given for tokens that it lacks counts again where they come back. */
static bool do_read(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    int n = (int)a->x;
    bool reads = s->scale == STEP_TOY || step_is_loaded(p);
    if (!reads || a->i < 0 || !(a->x >= 1.0f) || n > p->limit || (float)n != a->x)
        return false;
    struct change c;
    memset(&c, 0, sizeof c);
    c.kind = CHANGE_TEXT;
    c.scale = s->scale;
    c.before.read.text = p->text;
    c.before.read.n_tok = p->dims.n_tok;
    c.after.read.text = (uint32_t)a->i;
    c.after.read.n_tok = n;
    if (p->text != (uint32_t)a->i && !past_push(s, &c)) return false;
    p->text = (uint32_t)a->i;
    set_tokens(s, p, n);
    return true;
}

static bool set_seed(struct step_state *s, uint32_t seed)
{
    struct step_place *p = step_here(s);
    if (step_is_loaded(p) || !note(s, CHANGE_SEED, p->seed, seed, 0)) return false;
    p->seed = seed;
    return true;
}

static bool do_seed(struct step_state *s, const struct step_action *a)
{
    return set_seed(s, (uint32_t)a->i);
}

/* Seeds of at most four digits, so that one can be read out in a class. 2213 is a
 * primitive root of the prime 9973: all 9972 seeds come before one comes again. */
static bool do_roll(struct step_state *s, const struct step_action *a)
{
    (void)a;
    uint32_t x = step_here(s)->seed % 9973u;
    return set_seed(s, x ? x * 2213u % 9973u : 1u);
}

static bool do_head(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= step_here(s)->dims.n_head) return false;
    pair_other(step_here(s), a->i);
    return true;
}

static bool do_head_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = step_here(s)->head + a->i};
    return do_head(s, &to);
}

static bool do_block(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= step_here(s)->n_block) return false;
    step_here(s)->block = a->i;
    return true;
}

static bool do_block_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = step_here(s)->block + a->i};
    return do_block(s, &to);
}

static bool do_row(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= step_here(s)->dims.n_tok) return false;
    rows_one(step_here(s), a->i);
    step_here(s)->pin = step_no_ref();
    return true;
}

static bool do_row_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = step_here(s)->row + a->i};
    return do_row(s, &to);
}

static bool do_pin(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (!exists(a->ref, p->dims) || !step_pass_has(s, a->ref)) return false;
    if (step_ref_is(a->ref, p->pin)) {
        p->pin = step_no_ref();
        return true;
    }
    p->pin = a->ref;
    if (step_rows_are_tokens(a->ref.tensor) && !step_is_decoding(s))
        rows_one(p, a->ref.row);
    return true;
}

static bool do_hover(struct step_state *s, const struct step_action *a)
{
    if (is_none(a->ref))
        s->hover = step_no_ref();
    else if (exists(a->ref, step_here(s)->dims) && step_pass_has(s, a->ref))
        s->hover = a->ref;
    else
        return false;
    return true;
}

static bool do_log(struct step_state *s, const struct step_action *a)
{
    if (a->i < -1 || a->i > 1) return false;
    s->log_weights = a->i ? a->i > 0 : !s->log_weights;
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
    return s->over.open ? &s->over.view : &step_here(s)->view;
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
    struct step_view old = *seen(s), v = step_fitted;
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
    return look(s, step_fitted);
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
    bool known = a->i >= STEP_EDIT_NONE && a->i <= STEP_EDIT_EXPORT;
    if (!known ||
        (a->i == STEP_EDIT_TEXT && s->scale != STEP_TOY && !step_is_loaded(step_here(s))))
        return false;
    s->editing = (enum step_edit)a->i;
    s->focus = 0;
    if (s->editing) play_stop(s);
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
    struct step_place *p = step_here(s);
    if (s->presenter.blank) return tour_escape(s);
    if (s->editing)
        s->editing = STEP_EDIT_NONE;
    else if (step_field_is_open(s))
        field_close(s);
    else if (s->help)
        s->help = false;
    else if (s->focus)
        s->focus = 0;
    else if (s->lab.open)
        s->lab.open = false;
    else if (s->over.open && s->over.menu)
        s->over.menu = false;
    else if (s->over.open)
        s->over.open = false;
    else if (s->switches)
        s->switches = false;
    else if (s->why)
        s->why = false;
    else if (s->tour.open)
        return tour_escape(s);
    else if (s->code.open && s->code.last)
        s->code.open = false; // NOLINT(bugprone-branch-clone): the order is what counts
    else if (s->dive.n > 0)
        return do_climb(s, &(struct step_action){.i = s->dive.n - 1});
    else if (!is_none(p->pin))
        p->pin = step_no_ref();
    else if (step_row_count(p) > 1)
        rows_one(p, p->row);
    else if (s->code.open)
        s->code.open = false;
    else if (step_is_paired(s))
        s->pair = STEP_PAIR_NONE;
    else if (s->decode)
        s->decode = false;
    else if (!view_is(p->view, step_fitted))
        p->view = step_fitted;
    else if (s->presenter.on)
        return do_present(s, a);
    else if (s->fullscreen)
        s->fullscreen = false;
    else
        return false;
    return true;
}

/* What is copied, and where to, is app's business. */
static bool do_copy(struct step_state *s, const struct step_action *a)
{
    (void)s;
    return a->i >= 0 && a->i < STEP_COPY_COUNT;
}

static bool do_diff(struct step_state *s, const struct step_action *a)
{
    int to = a->i == -1 ? ((int)s->diff + 1) % STEP_DIFF_COUNT : a->i;
    if (to < 0 || to >= STEP_DIFF_COUNT) return false;
    s->diff = (enum step_diff)to;
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
    [STEP_DIVE] = do_dive,         [STEP_CLIMB] = do_climb,
    [STEP_TERMS] = do_terms,       [STEP_CODE] = do_code,
    [STEP_CODE_TAB] = do_code_tab, [STEP_CODE_BY] = do_code_by,
    [STEP_WHY] = do_why,           [STEP_LINK] = do_link,
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
    [STEP_PAIR] = do_pair,         [STEP_SECOND] = do_second,
    [STEP_SECOND_BY] = do_second_by,
    [STEP_ROWS_TO] = do_rows_to,   [STEP_ROWS_AND] = do_rows_and,
    [STEP_ROWS_BY] = do_rows_by,   [STEP_ROW_ALSO] = do_row_also,
    [STEP_ROW_WALK] = do_row_walk, [STEP_ROW_KEEP] = do_row_keep,
    [STEP_HOVER] = do_hover,       [STEP_TOGGLE] = do_toggle,
    [STEP_LOG] = do_log,           [STEP_ZOOM] = do_zoom,
    [STEP_RANK] = do_rank,         [STEP_LEAST] = do_least,
    [STEP_LEAST_BY] = do_least_by,
    [STEP_PAN] = do_pan,           [STEP_VIEW] = do_view,
    [STEP_FIT] = do_fit,           [STEP_HELP] = do_help,
    [STEP_OVERVIEW] = do_overview, [STEP_OVER_KIND] = do_over_kind,
    [STEP_OVER_SORT] = do_over_sort,
    [STEP_OVER_MENU] = do_over_menu,
    [STEP_OVER_AT] = do_over_at,   [STEP_OVER_OPEN] = do_over_open,
    [STEP_LAB] = do_lab,           [STEP_LAB_TO] = do_lab_to,
    [STEP_LAB_AT] = do_lab_at,     [STEP_LAB_BY] = do_lab_by,
    [STEP_LAB_ROW] = do_lab_row,   [STEP_LAB_OF] = do_lab_of,
    [STEP_LAB_DIMS] = do_lab_dims, [STEP_LAB_MEASURE] = do_lab_measure,
    [STEP_THEME] = do_theme,       [STEP_UI_SIZE] = do_ui_size,
    [STEP_UI_SIZE_BY] = do_ui_size_by,
    [STEP_FULLSCREEN] = do_fullscreen,
    [STEP_FOCUS] = do_focus,       [STEP_ESCAPE] = do_escape,
    [STEP_QUIT] = do_quit,         [STEP_EDIT] = do_edit,
    [STEP_TEXT_PICK] = do_text_part,
    [STEP_TEXT_BROWSE] = do_text_part,
    [STEP_TEXT_DONE] = do_text_part,
    [STEP_TEXT_CUT] = do_text_part,
    [STEP_TEXT_SPECIAL] = do_text_part,
    [STEP_COPY] = do_copy,
    [STEP_OUT_PART] = do_out_part, [STEP_OUT_SIZE] = do_out_size,
    [STEP_OUT_CLEAR] = do_out_clear,
    [STEP_OUT_ALL] = do_out_all,   [STEP_OUT_FORMAT] = do_out_format,
    [STEP_SWITCH] = do_switch,     [STEP_TEMPERATURE] = do_temperature,
    [STEP_SILENCE] = do_silence,   [STEP_CORRECT] = do_correct,
    [STEP_SWITCHES] = do_switches, [STEP_SEE] = do_see,
    [STEP_UNDO] = do_undo,         [STEP_REDO] = do_redo,
    [STEP_DIFF] = do_diff,         [STEP_DECODE] = do_decode,
    [STEP_GIVE] = do_give,         [STEP_UNGIVE] = do_ungive,
    [STEP_FIELD] = do_field,       [STEP_FIELD_TYPE] = do_field_type,
    [STEP_FIELD_EDIT] = do_field_edit,
    [STEP_FIELD_TAKE] = do_field_take,
    [STEP_TOUR] = do_tour,         [STEP_TOUR_TO] = do_tour_to,
    [STEP_TOUR_AGAIN] = do_tour_again,
    [STEP_TOUR_BY] = do_tour_by,   [STEP_TOUR_AT] = do_tour_at,
    [STEP_TOUR_PICK] = do_tour_pick, [STEP_TOUR_ANSWERED] = do_tour_answered,
    [STEP_PRESENT] = do_present,   [STEP_BLANK] = do_blank,
    [STEP_FIELD_BY] = do_field_by, [STEP_READ] = do_read,
    /* clang-format on */
};

bool step_exists(struct step_ref r, struct attn_dims d)
{
    return exists(r, d);
}

bool step_apply(struct step_state *s, struct step_action a)
{
    a = decode_meant(s, a);
    unsigned n = sizeof handlers / sizeof *handlers, verb = (unsigned)a.verb;
    struct step_ref pin = step_here(s)->pin;
    const struct field_place was = field_place_of(s);
    int rows = step_row_count(step_here(s));
    if (verb >= n || !handlers[verb] || !handlers[verb](s, &a)) return false;
    decode_hold(s);
    field_follow(s, &was);
    if (!step_ref_is(step_here(s)->pin, pin))
        s->dive = (struct step_dive){.n = 0}; /* another scale's too */
    if (a.verb == STEP_PIN || a.verb == STEP_DIVE || step_row_count(step_here(s)) > rows)
        s->code.last = false;
    /* Whatever plays is to be seen. */
    if (verb >= STEP_NEXT && verb <= STEP_BEAT) s->over.open = s->lab.open = false;
    return true;
}
