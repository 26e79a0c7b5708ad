/* One number taken apart: the arithmetic that made it, with the real operands, each of them
 * a way on to its own origin; and whether it adds up. */
#include "field.h"
#include "panel.h"

#include <math.h>

enum {
    HEADING_CY = 30,
    CHIP_Y = 46,
    CHIP_H = 26,
    CHIP_LEAST = 70,
    CHIP_MOST = 100,
    HEADER_H = 84,
    CRUMB_H = 22,
    CRUMB_GAP = 6,
    LINE_H = 27,
    LINE_LEAST_H = 21,
    CELL_W = 74,
    CELL_H = 21,
    ORDER_W = 84,
    EDIT_W = 40,
    EDIT_LEAST_W = 20,
    ORDER_H = 20,
    ORDER_RADIUS = 5,
    RESULT_H = 30,
    CURVE_H = 34, /* the small picture of all terms */
    CURVE_BAR = 2,
    CURVE_MOST = 160, /* bars of it */
    VERDICT_H = 24,
    TICK = 5,
    GAP = 8,
    SHARE_MOST = 12, /* scores of a row in full */
    OPERANDS_MOST = 60
};
static const struct ui_type crumb_type = {FONT_MONO, 12};

/* ---- names --------------------------------------------------------------------------------- */

const char *panel_cell_name(const struct panel *p, struct step_ref r)
{
    static const char *const letter[ATTN_TENSOR_COUNT] = {
        [ATTN_H] = "h",        [ATTN_X] = "x",
        [ATTN_W_Q] = "W_Q",    [ATTN_W_K] = "W_K",
        [ATTN_W_V] = "W_V",    [ATTN_Q] = "q",
        [ATTN_K] = "k",        [ATTN_V] = "v",
        [ATTN_S_RAW] = "S",    [ATTN_S_SCALED] = "S",
        [ATTN_S_MASKED] = "S", [ATTN_P] = "A",
        [ATTN_Z] = "o",        [ATTN_Z_ALL] = "O",
        [ATTN_W_O] = "W_O",    [ATTN_Y_PROJ] = "(O W_O)",
        [ATTN_Y] = "y"};
    const char *tail = r.tensor == ATTN_S_SCALED   ? " scaled"
                       : r.tensor == ATTN_S_MASKED ? " masked"
                                                   : "";
    return scene_print(p->u->sc, "%s%s%s", letter[r.tensor], panel_index(p, r.row, r.col),
                       tail);
}

/* What softmax takes of a score, by the options as they are. */
static const char *exp_of(const struct panel *p)
{
    struct attn_opts o = p->t->opts;
    const char *s = o.no_max ? "s" : "s \u2212 max";
    if (step_heat_of(o) == 0) return scene_print(p->u->sc, "exp(%s)", s);
    return scene_print(p->u->sc,
                       o.no_max ? "exp(%s \u00F7 %.3g)" : "exp((%s) \u00F7 %.3g)", s,
                       (double)o.temperature);
}

const char *panel_made_of(const struct panel *p, const struct scene_derivation *d)
{
    struct scene *sc = p->u->sc;
    const char *name = panel_cell_name(p, d->ref);
    const char *row = panel_index(p, d->ref.row, -1);
    const char *col = panel_index(p, d->ref.col, -1);
    const char *bias = d->bias ? " + b" : "";
    switch (d->kind) {
    case DERIVE_NORM:
        return scene_print(sc, "%s = ln_1 of row %d of h", name, d->ref.row + 1);
    case DERIVE_DIVIDE:
        return scene_print(sc, "%s = S%s \u00F7 %.4g", name,
                           panel_index(p, d->ref.row, d->ref.col), d->divisor);
    case DERIVE_MASK:
        return scene_print(sc, "%s: %s", name, d->hidden ? "hidden" : "stays");
    case DERIVE_SOFTMAX:
        return scene_print(sc, "%s = %s \u00F7 sum", name, exp_of(p));
    case DERIVE_SAME:
        return scene_print(sc, "%s = head %d\u2019s o%s", name, d->head + 1,
                           panel_index(p, d->a.first.row, d->a.first.col));
    case DERIVE_HEAD:
        return scene_print(sc, "%s is of head %d", name, d->head + 1);
    case DERIVE_DOT:
        break;
    default:
        return scene_print(sc, "%s is given", name);
    }
    switch (d->ref.tensor) {
    case ATTN_S_RAW:
        return scene_print(sc, "%s = q%s \u00B7 k%s", name, row, col);
    case ATTN_Z:
        if (d->silent) return scene_print(sc, "%s = 0: its head is silenced", name);
        return scene_print(sc, "%s = A%s \u00B7 column %d of V", name, row,
                           d->ref.col + 1);
    case ATTN_Y_PROJ:
    case ATTN_Y:
        return scene_print(sc, "%s = O%s \u00B7 W_O%s%s", name, row, bias,
                           d->plus.tensor != ATTN_TENSOR_COUNT ? " + h" : "");
    default:
        return scene_print(sc, "%s = x%s \u00B7 column %d of %s%s", name, row,
                           d->ref.col + 1, scene_tensor_name(d->b.first.tensor), bias);
    }
}

/* ---- the way here ----------------------------------------------------------------------------- */

static bool rows_are_tokens(enum attn_tensor t)
{
    return t != ATTN_W_Q && t != ATTN_W_K && t != ATTN_W_V && t != ATTN_W_O;
}

static float chip(struct panel *p, float x, int token)
{
    const struct ui *u = p->u;
    float w = scene_chip_width(u->sc, u->src, token, ui_body.size);
    w = fminf(fmaxf(w, CHIP_LEAST), CHIP_MOST);
    scene_chip(u->sc, (struct scene_rect){x, p->y, w, CHIP_H}, u->src, token,
               ui_body.size, true);
    return x + w + GAP;
}

static void draw_header(struct panel *p, struct step_ref r)
{
    const struct ui *u = p->u;
    float top = u->sc->frame.panel.y, x = p->x;
    ui_section(u, p->x, top + HEADING_CY, "THIS CELL");
    p->y = top + CHIP_Y;
    const char *text;
    if (!rows_are_tokens(r.tensor)) {
        text = scene_print(u->sc, "row %d, column %d of %s", r.row + 1, r.col + 1,
                           scene_tensor_name(r.tensor));
    } else {
        x = chip(p, x, r.row);
        text = ui_is_grid(r.tensor)
                   ? "\u2192"
                   : scene_print(u->sc, "row %d, column %d", r.row + 1, r.col + 1);
    }
    float cy = p->y + CHIP_H * 0.5f;
    (void)ui_text_fit(u, x, cy, p->x + p->w - x, ALIGN_LEFT, ui_body, u->theme->ink_soft,
                      text);
    if (ui_is_grid(r.tensor)) (void)chip(p, x + ui_width(u, ui_body, text) + GAP, r.col);
    p->y = top + HEADER_H;
}

/* Every cell on the way, each a click away; lines break where they must. */
static void draw_way(struct panel *p)
{
    const struct ui *u = p->u;
    const struct step_dive *way = &u->s->dive;
    if (way->n == 0 || u->s->hover.tensor != ATTN_TENSOR_COUNT) return;
    float x = p->x;
    for (int i = 0; i <= way->n; i++) {
        struct step_ref r = i ? way->at[i - 1] : step_place_of(u->s)->pin;
        const char *name = panel_cell_name(p, r), *arrow = i ? "\u2190 " : "";
        float w_arrow = ui_width(u, crumb_type, arrow), w = ui_width(u, crumb_type, name);
        if (x > p->x && x + w_arrow + w > p->x + p->w) {
            x = p->x;
            p->y += CRUMB_H;
        }
        float cy = p->y + CRUMB_H * 0.5f;
        (void)ui_text(u, x, cy, ALIGN_LEFT, crumb_type, u->theme->ink_faint, arrow);
        x += w_arrow;
        bool here = i == way->n;
        struct scene_rect box = {x, p->y, w, CRUMB_H};
        bool hot = !here && ui_hot(u, box);
        (void)ui_text(u, x, cy, ALIGN_LEFT, crumb_type,
                      here || hot ? u->theme->ink : u->theme->accent, name);
        if (!here)
            (void)ui_touch(u, box, UI_ID_CRUMB + i, ui_act(STEP_CLIMB, i),
                           "Climb out to this cell (Esc)");
        x += w + CRUMB_GAP;
    }
    p->y += CRUMB_H;
}

void panel_operand(struct panel *p, struct scene_rect box, struct step_ref r)
{
    const struct step_state *s = p->u->s;
    bool pinned = step_place_of(s)->pin.tensor != ATTN_TENSOR_COUNT;
    if (!p->apart || !pinned || s->hover.tensor != ATTN_TENSOR_COUNT ||
        p->n_operand == OPERANDS_MOST || s->dive.n == STEP_DIVE_MOST)
        return;
    struct step_action dive = {.verb = STEP_DIVE, .ref = r};
    if (ui_hot(p->u, box))
        (void)scene_border(p->u->sc, box, PANEL_CELL_RADIUS, 1,
                           scene_fade(p->u->theme->accent, 0), p->u->theme->accent);
    (void)ui_touch(
        p->u, box, UI_ID_OPERAND + p->n_operand, dive,
        p->n_operand
            ? scene_print(p->u->sc, "Where %s came from", panel_cell_name(p, r))
            : scene_print(p->u->sc, "Where %s came from (Enter)", panel_cell_name(p, r)));
    p->n_operand++;
}

/* ---- lines of arithmetic ------------------------------------------------------------------------ */

/* A line: what it is, and its figure; one that is an operand has a cell's colours. */
static void line(struct panel *p, const char *label, double v, struct step_ref r)
{
    const struct ui *u = p->u;
    float cy = p->y + LINE_H * 0.5f, right = p->x + p->w;
    bool operand = r.tensor != ATTN_TENSOR_COUNT;
    (void)ui_text_fit(u, p->x, cy, p->w - CELL_W - GAP, ALIGN_LEFT, ui_body,
                      u->theme->ink_soft, label);
    struct scene_rect box = {right - CELL_W, cy - CELL_H * 0.5f, CELL_W, CELL_H};
    const char *text = panel_number(p, ui_figure, CELL_W - GAP, (float)v, 4);
    if (operand && isfinite(v)) {
        float range =
            ui_is_grid(r.tensor) ? panel_range(p, ATTN_S_RAW) : panel_range(p, r.tensor);
        panel_cell(p, box, (float)v, range, ui_figure, text);
    } else {
        (void)ui_text(u, right, cy, ALIGN_RIGHT, ui_figure, u->theme->ink, text);
    }
    if (operand) panel_operand(p, box, r);
    p->y += LINE_H;
}

static void draw_norm(struct panel *p, const struct scene_derivation *d)
{
    struct scene *sc = p->u->sc;
    const struct step_ref none = step_no_ref();
    double h = (double)derive_number(&d->a, d->at), sd = sqrt(d->variance + d->eps);
    line(p, panel_cell_name(p, derive_ref(&d->a, d->at)), h, derive_ref(&d->a, d->at));
    line(p, "mean of the row", d->mean, none);
    line(p, "variance of the row", d->variance, none);
    line(p, scene_print(sc, "\u221A(variance + %.0e)", d->eps), sd, none);
    line(p, "(h \u2212 mean) \u00F7 that root", (h - d->mean) / sd, none);
    if (p->u->src->ln_gain) line(p, "\u00D7 gain", d->gain, none);
    if (p->u->src->ln_bias) line(p, "+ bias", d->shift, none);
}

static void draw_divide(struct panel *p, const struct scene_derivation *d)
{
    line(p, panel_cell_name(p, d->a.first), (double)derive_number(&d->a, 0), d->a.first);
    line(p,
         !p->t->opts.scale ? "\u00F7 1: the division is off"
         : p->t->opts.divisor != ATTN_SQRT_D_HEAD
             ? "\u00F7 a wrong divisor"
             : scene_print(p->u->sc, "\u00F7 \u221Ad_head = \u221A%d", p->d_head),
         d->divisor, step_no_ref());
}

static void draw_mask(struct panel *p, const struct scene_derivation *d)
{
    line(p, panel_cell_name(p, d->a.first), (double)derive_number(&d->a, 0), d->a.first);
    p->y += GAP;
    panel_prose(p, panel_mask_why(p, d->ref.col));
    p->y += GAP;
}

/* The row's scores as exp(s - max), the largest of them or all. */
static void draw_softmax(struct panel *p, const struct scene_derivation *d, float after)
{
    struct scene *sc = p->u->sc;
    const struct step_ref none = step_no_ref();
    double s = (double)derive_number(&d->a, d->at);
    line(p, panel_cell_name(p, derive_ref(&d->a, d->at)), s, derive_ref(&d->a, d->at));
    if (!p->t->opts.no_max)
        line(p, scene_print(sc, "largest of row %d", d->ref.row + 1), d->max, none);
    line(p, exp_of(p), exp((s - d->max) / d->heat), none);
    line(p, "sum of the row\u2019s exp", d->total, none);
    int shown[SHARE_MOST];
    int room = (int)((p->bottom - p->y - after - PANEL_SECTION_H) / LINE_LEAST_H) - 1;
    int most = room < SHARE_MOST ? room : SHARE_MOST;
    if (most < 2) return;
    int m = scene_derive_shown(d, most, p->u->s->by_place || d->n <= most, shown);
    panel_section(p, "EXP OF THE ROW");
    double rest = d->total;
    double longest = 1; /* bar; without the maximum, e^s has no bound */
    for (int k = 0; k < m; k++) {
        double e = exp(((double)derive_number(&d->a, shown[k]) - d->max) / d->heat);
        if (isfinite(e)) longest = fmax(longest, e);
    }
    float left = p->x + CELL_W + GAP, right = p->x + p->w - CELL_W - GAP;
    for (int i = 0; i < m; i++) {
        double e = exp(((double)derive_number(&d->a, shown[i]) - d->max) / d->heat);
        float cy = p->y + LINE_LEAST_H * 0.5f;
        if (isfinite(e)) rest -= e;
        if (shown[i] == d->at) panel_mark(p, cy, LINE_LEAST_H);
        panel_token(p, shown[i], p->x + CELL_W, cy, CELL_W, e > 0);
        if (e > 0 && isfinite(e))
            (void)scene_rect(
                p->u->sc,
                (struct scene_rect){left, cy - GAP * 0.5f,
                                    fmaxf(1, (float)(e / longest) * (right - left)), GAP},
                1, scene_token_hue(shown[i]));
        (void)ui_text(p->u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, p->u->theme->ink,
                      panel_number(p, ui_figure, CELL_W, (float)e, 4));
        panel_operand(p, (struct scene_rect){p->x, p->y, p->w, LINE_LEAST_H},
                      derive_ref(&d->a, shown[i]));
        p->y += LINE_LEAST_H;
    }
    if (m == d->n) return;
    float cy = p->y + LINE_LEAST_H * 0.5f;
    (void)ui_text(p->u, p->x, cy, ALIGN_LEFT, ui_body, p->u->theme->ink_soft,
                  panel_others(p, d->n - m));
    (void)ui_text(p->u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, p->u->theme->ink,
                  panel_number(p, ui_figure, CELL_W, (float)fmax(rest, 0), 4));
    p->y += LINE_LEAST_H;
}

static void draw_given(struct panel *p, const struct scene_derivation *d)
{
    bool loaded = step_is_loaded(step_place_of(p->u->s));
    int block = step_place_of(p->u->s)->block;
    const char *weight = loaded
                             ? "A weight of the model, learned in training and read from "
                               "its file. Nothing in this block computes it."
                             : "A weight, here drawn at random from the seed. In a model "
                               "it is learned.";
    const char *h =
        p->u->s->scale == STEP_TOY
            ? "The word\u2019s embedding plus its position\u2019s, both drawn at random "
              "from the seed. The same word has the same embedding wherever it stands."
        : !loaded ? "The residual stream as it comes in, here drawn at random from "
                    "the seed. In a model it is the token\u2019s embedding plus "
                    "its position\u2019s."
        : block
            ? scene_print(p->u->sc, "The residual stream as block %d has left it.", block)
            : "The token\u2019s embedding plus its position\u2019s: what the "
              "first block reads.";
    const char *x = "The input of this block, as it was given.";
    if (!d->given)
        panel_prose(p, d->ref.tensor == ATTN_H   ? h
                       : d->ref.tensor == ATTN_X ? x
                                                 : weight);
    p->y += GAP;
}

static void draw_other_head(struct panel *p, const struct scene_derivation *d)
{
    const struct ui *u = p->u;
    panel_prose(p, "Only one head\u2019s scores and weights are kept, and this number is "
                   "another\u2019s. Show that head to take it apart:");
    p->y += GAP;
    struct scene_rect box = {p->x, p->y, ORDER_W, ORDER_H + GAP * 0.5f};
    ui_control(ui_face(u, box, ORDER_RADIUS, false), UI_ID_OPERAND,
               ui_act(STEP_HEAD, d->head), "The head that made it (Enter)");
    (void)ui_text(u, box.x + box.w / 2, box.y + box.h / 2, ALIGN_CENTER, ui_body,
                  u->theme->ink, scene_print(u->sc, "head %d", d->head + 1));
    p->y += box.h + GAP;
}

/* ---- all terms at a glance, and the verdict ------------------------------------------------------ */

static float magnitude(const struct scene_derivation *d, int k)
{
    return d->kind == DERIVE_DOT ? (float)derive_term(d, k) : derive_number(&d->a, k);
}

/* One bar a term, in their order; where there are more terms than bars, the largest of
 * those that share one. */
static void draw_curve(struct panel *p, const struct scene_derivation *d)
{
    const struct scene_theme *t = p->u->theme;
    int n = d->n < CURVE_MOST ? d->n : CURVE_MOST;
    int fit = (int)(p->w / CURVE_BAR);
    if (n > fit) n = fit;
    float bar[CURVE_MOST], most = 0;
    for (int b = 0; b < n; b++) {
        bar[b] = 0;
        for (int k = (int)((int64_t)b * d->n / n); k < (int)((int64_t)(b + 1) * d->n / n);
             k++) {
            float v = magnitude(d, k);
            if (isfinite(v) && fabsf(v) > fabsf(bar[b])) bar[b] = v;
        }
        most = fmaxf(most, fabsf(bar[b]));
    }
    float mid = p->y + CURVE_H * 0.5f, pitch = p->w / (float)n;
    (void)scene_line(p->u->sc, p->x, mid, p->x + p->w, mid, 1, t->edge);
    for (int b = 0; b < n && most > 0; b++) {
        float h = fabsf(bar[b]) / most * (CURVE_H * 0.5f - 2);
        if (h < 0.5f) continue;
        struct scene_rect r = {p->x + (float)b * pitch, bar[b] > 0 ? mid - h : mid,
                               fmaxf(fminf(pitch - 0.5f, GAP), 1), h};
        (void)scene_rect(
            p->u->sc, r, 0,
            scene_map_color(t, MAP_DIVERGING, -1, 1, false, bar[b] > 0 ? 0.8f : -0.8f));
    }
    struct scene_item *it =
        scene_rect(p->u->sc, (struct scene_rect){p->x, p->y, p->w, CURVE_H}, 0,
                   scene_fade(t->panel, 0));
    it->hit.kind = HIT_COVER;
    it->hit.tip = scene_print(p->u->sc, "all %d terms in their order", d->n);
    p->y += CURVE_H;
}

static void draw_verdict(struct panel *p, const struct scene_derivation *d)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    bool good = scene_derive_agrees(d);
    double off = fabs((double)d->value - d->sum);
    const char *text =
        d->silent ? scene_print(u->sc, "silenced: the terms\u2019 sum %s is left out",
                                scene_digits(u->sc, d->total, 4))
        : !good   ? scene_print(u->sc, "%s in float64: more than rounding",
                                scene_digits(u->sc, d->sum, 6))
        : !(off > 0)
            ? "float64 gives the very same number"
            : scene_print(u->sc, "off by %.1e, rounding allows %.1e", off, d->bound);
    float cy = p->y + VERDICT_H * 0.5f;
    if (good) {
        (void)scene_line(u->sc, p->x, cy, p->x + TICK * 0.8f, cy + TICK * 0.8f, 2,
                         t->accent);
        (void)scene_line(u->sc, p->x + TICK * 0.8f, cy + TICK * 0.8f, p->x + 2 * TICK,
                         cy - TICK, 2, t->accent);
    } else {
        const float x[3] = {p->x + TICK, p->x + 2 * TICK, p->x};
        const float y[3] = {cy - TICK, cy + TICK, cy + TICK};
        (void)scene_triangle(u->sc, x, y, t->odd);
    }
    float from = p->x + 2 * TICK + GAP;
    struct scene_item *all =
        scene_rect(u->sc, (struct scene_rect){p->x, p->y, p->w, VERDICT_H}, 0,
                   scene_fade(t->panel, 0));
    all->hit.kind = HIT_COVER;
    all->hit.tip = scene_print(u->sc,
                               "The same operands in float64 give %s; the kernel\u2019s "
                               "float32 gave %s.",
                               scene_digits(u->sc, d->sum, 9),
                               scene_digits(u->sc, (double)d->value, 9));
    (void)ui_text_fit(u, from, cy, p->x + p->w - from, ALIGN_LEFT, ui_note,
                      good ? t->ink_soft : t->ink, text);
    p->y += VERDICT_H;
}

/* What was computed, and the number that stands in its place. */
static void draw_edited(struct panel *p, const struct scene_derivation *d)
{
    const struct ui *u = p->u;
    const char *name = panel_cell_name(p, d->ref);
    if (!isnan(d->was))
        line(p,
             scene_print(u->sc, d->kind == DERIVE_GIVEN ? "%s was" : "%s computed", name),
             (double)d->was, step_no_ref());
    panel_result(p, scene_print(u->sc, "%s edited", name), d->value,
                 d->ref.tensor != ATTN_P, true);
    (void)ui_text_fit(u, p->x, p->y + VERDICT_H * 0.5f, p->w, ALIGN_LEFT, ui_note,
                      u->theme->ink_soft, "What follows reads the edited number.");
    p->y += VERDICT_H;
}

/* "edit", beside the heading, where the cell can be. */
static void draw_edit(const struct panel *p, struct step_ref r)
{
    const struct ui *u = p->u;
    if (step_can_give(u->s, r)) return;
    float cy = u->sc->frame.panel.y + HEADING_CY;
    float right = p->x + p->w - ORDER_W - GAP;
    float room = right - p->x - GAP - ui_section_width(u, "THIS CELL");
    float w = room < EDIT_W ? EDIT_LEAST_W : EDIT_W;
    struct scene_rect box = {right - w, cy - ORDER_H * 0.5f, w, ORDER_H};
    ui_control(ui_face(u, box, ORDER_RADIUS, false), UI_ID_FIELD_OPEN,
               (struct step_action){.verb = STEP_FIELD, .ref = r},
               "Another number here (E, or a double click on the cell)");
    (void)ui_text(u, box.x + box.w / 2, cy, ALIGN_CENTER, ui_note, u->theme->ink,
                  room < EDIT_W ? "E" : "edit");
}

/* Beside the heading. */
static void draw_order(const struct panel *p)
{
    const struct ui *u = p->u;
    float cy = u->sc->frame.panel.y + HEADING_CY;
    struct scene_rect box = {p->x + p->w - ORDER_W, cy - ORDER_H * 0.5f, ORDER_W,
                             ORDER_H};
    ui_control(ui_face(u, box, ORDER_RADIUS, false), UI_ID_TERMS, ui_act(STEP_TERMS, 0),
               u->s->by_place ? "Largest terms first (O)" : "Terms in their order (O)");
    (void)ui_text(u, box.x + box.w / 2, cy, ALIGN_CENTER, ui_note, u->theme->ink,
                  u->s->by_place ? "in order" : "largest first");
}

/* The arithmetic of each kind. after: points to be left free below. */
static void draw_kind(struct panel *p, const struct scene_derivation *d, float after)
{
    float v = d->value;
    switch (d->kind) {
    case DERIVE_DOT:
        (void)panel_terms(p, d, after, &v);
        break;
    case DERIVE_NORM:
        draw_norm(p, d);
        break;
    case DERIVE_DIVIDE:
        draw_divide(p, d);
        break;
    case DERIVE_SAME:
        line(p, panel_cell_name(p, d->a.first), (double)derive_number(&d->a, 0),
             d->a.first);
        break;
    case DERIVE_MASK:
        draw_mask(p, d);
        break;
    case DERIVE_SOFTMAX:
        draw_softmax(p, d, after);
        break;
    case DERIVE_HEAD:
        draw_other_head(p, d);
        break;
    default:
        draw_given(p, d);
        break;
    }
}

void panel_apart(struct panel *p, const struct scene_derivation *d)
{
    p->apart = true;
    draw_header(p, d->ref);
    draw_way(p);
    panel_title(p, panel_made_of(p, d));
    bool dot = d->kind == DERIVE_DOT;
    bool many = (dot || d->kind == DERIVE_NORM) && d->n > 1;
    bool row = p->u->s->stage == ATTN_SCORES && d->ref.tensor == ATTN_S_RAW &&
               p->u->s->dive.n == 0;
    if ((dot || d->kind == DERIVE_SOFTMAX) && d->n > 1) draw_order(p);
    draw_edit(p, d->ref);
    float after =
        (float)(RESULT_H + VERDICT_H + (many ? CURVE_H : 0) + (d->given ? LINE_H : 0));
    float beside =
        row ? panel_row_height_in(p->n, p->bottom - p->y - after - panel_terms_height(d))
            : 0; /* the terms come first */
    draw_kind(p, d, after + beside);
    if (d->given)
        draw_edited(p, d);
    else
        panel_result(p, panel_cell_name(p, d->ref), d->value, d->ref.tensor != ATTN_P,
                     true);
    if (many) draw_curve(p, d);
    if (!d->given && d->kind != DERIVE_GIVEN && d->kind != DERIVE_HEAD)
        draw_verdict(p, d);
    if (beside > 0) panel_row_so_far(p);
}
