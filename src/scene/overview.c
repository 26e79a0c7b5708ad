/* The overview: every block's heads as small heat maps, in the model's order or sorted by
 * what their weights do, marked where one thing takes most of the weight. */
#include "overview.h"
#include "ramp.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Type and spacing, in points; the head's are the stage's own. */
static const float head_x = 32, head_x_small = 22, title_y = 48, title_size = 24;
static const float line_y = 77, formula_size = 15, small_stage = 640;
static const float button_h = 24, button_pad = 13, button_gap = 8, button_size = 12.5f;
static const float sort_w = 150, menu_line = 28, menu_pad = 6, box_radius = 6;
static const float grid_top = 116, grid_foot = 46, grid_left = 48, grid_right = 16;
static const float legend_w = 150, legend_gap = 18, legend_line = 24, dot = 4.5f;
static const float number_size = 11, number_gap = 9, foot_up = 16, foot_size = 12;
static const float legend_up = 52; /* below the heads, over the foot */
static const float pitch_least = 24, pitch_most = 260, gap_share = 0.09f, gap_most = 6;
static const float name_least = 40, name_size = 9.5f, cell_radius = 2, frame_w = 2.5f;
static const float bar_w = 160, bar_h = 5;
static const float ramp_w = 110, ramp_size = 11;

/* Ids of its controls: behind ui's. */
enum { ID_KIND = 1000, ID_SORT = ID_KIND + STEP_OVER_KIND_COUNT, ID_MENU };

/* ---- names and measures ---------------------------------------------------------------- */

const char *scene_over_kind_name(enum step_over_kind k)
{
    static const char *const name[STEP_OVER_KIND_COUNT] = {"scores", "scaled", "weights"};
    return name[k];
}

const char *scene_sort_name(enum step_over_sort s)
{
    static const char *const name[STEP_SORT_COUNT] = {"block and head", "entropy",
                                                      "previous token", "first token",
                                                      "itself",         "induction"};
    return name[s];
}

const char *scene_sort_means(enum step_over_sort s)
{
    static const char *const means[STEP_SORT_COUNT] = {
        "As they lie in the model",
        "Spread of a row in bits: mean of \u2212\u03A3 A log\u2082 A; lowest first",
        "Weight on the token just before: mean over rows from the second on",
        "Weight on the first token (a sink): mean over rows from the second on",
        "Weight on the token itself: mean over rows from the second on",
        "Weight on what followed earlier copies of the token: mean over repeated ones"};
    return means[s];
}

double scene_measure(const struct attn_head_sum *sum, enum step_over_sort s)
{
    const double of[STEP_SORT_COUNT] = {
        [STEP_SORT_PLACE] = (double)NAN,      [STEP_SORT_ENTROPY] = sum->entropy,
        [STEP_SORT_PREVIOUS] = sum->previous, [STEP_SORT_FIRST] = sum->first,
        [STEP_SORT_ITSELF] = sum->itself,     [STEP_SORT_INDUCTION] = sum->induction};
    return of[s];
}

static const enum step_over_sort mark_sort[MARK_COUNT] = {
    STEP_SORT_PREVIOUS, STEP_SORT_INDUCTION, STEP_SORT_ITSELF};

enum scene_mark scene_mark_of(const struct attn_head_sum *sum)
{
    enum scene_mark best = MARK_NONE;
    double most = 0;
    for (int m = 0; m < MARK_COUNT; m++) {
        double v = scene_measure(sum, mark_sort[m]);
        if (!(v >= SCENE_MARK_LEAST) || !(v > most)) continue;
        most = v;
        best = (enum scene_mark)m;
    }
    return best;
}

struct scene_rgba scene_mark_color(const struct scene_theme *t, enum scene_mark m)
{
    return m == MARK_PREVIOUS ? t->k : m == MARK_INDUCTION ? t->v : t->q;
}

bool scene_head_is_there(const struct scene_source *src, int i)
{
    return src->heads && i >= 0 && i < src->heads->done * src->heads->n_head;
}

/* ---- order ------------------------------------------------------------------------------- */

struct keyed {
    double key;
    int at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->at - y->at;
}

/* All heads, the strongest first; what has no number lies behind, in the model's order. */
static int *order_of(struct scene *sc, const struct step_state *s,
                     const struct scene_source *src, int n)
{
    struct keyed *list = arena_push(sc->mem, (size_t)n, sizeof *list);
    int *at = arena_push(sc->mem, (size_t)n, sizeof *at);
    if (!list || !at) {
        sc->full = true;
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        double v = scene_head_is_there(src, i)
                       ? scene_measure(&src->heads->sum[i], s->over.sort)
                       : (double)NAN;
        double key = s->over.sort == STEP_SORT_ENTROPY ? v : -v;
        list[i] = (struct keyed){isnan(v) ? (double)INFINITY : key, i};
    }
    qsort(list, (size_t)n, sizeof *list, by_key);
    for (int i = 0; i < n; i++) at[i] = list[i].at;
    return at;
}

/* ---- colours ----------------------------------------------------------------------------- */

/* What the values shown are of the scores that are kept. */
static float gain_of(const struct step_state *s, const struct scene_source *src)
{
    return s->over.kind == STEP_OVER_SCALED && src->heads ? src->heads->gain : 1;
}

/* 0 to 1, or as far as weights go that are given. */
static void weights_range(const struct scene_source *src, float *lo, float *hi)
{
    static const float rounding = 1e-3f;
    const struct scene_heads *heads = src->heads;
    bool given = false;
    *lo = 0;
    *hi = 1;
    for (int i = 0; i < src->n_given; i++)
        given = given || src->given[i].tensor == ATTN_P;
    if (!given || !heads) return;
    size_t n = (size_t)heads->done * (size_t)heads->n_head;
    n *= (size_t)heads->side * (size_t)heads->side;
    for (size_t i = 0; i < n; i++) {
        *lo = fminf(*lo, heads->weights[i]);
        if (heads->weights[i] > *hi + rounding) *hi = heads->weights[i];
    }
}

/* One range for all heads, so that they compare; the legend says which. Scaled scores have
 * their own, since under the scores' they could hardly be seen. */
void overview_range(const struct step_state *s, const struct scene_source *src, float *lo,
                    float *hi)
{
    float most = 0;
    const struct scene_heads *heads = src->heads;
    int n = heads ? heads->done * heads->n_head : 0;
    if (s->over.kind == STEP_OVER_WEIGHTS) {
        weights_range(src, lo, hi);
        return;
    }
    for (int i = 0; i < n; i++) most = fmaxf(most, heads->sum[i].max_abs);
    *hi = most > 0 ? most * gain_of(s, src) : 1;
    *lo = -*hi;
}

/* ---- one head ------------------------------------------------------------------------------ */

bool scene_head_image(struct scene *sc, const struct step_state *s,
                      const struct scene_source *src, int i, struct scene_rect box)
{
    if (!scene_head_is_there(src, i)) return false;
    const struct scene_heads *heads = src->heads;
    bool weights = s->over.kind == STEP_OVER_WEIGHTS;
    int side = heads->side;
    const float *all = weights ? heads->weights : heads->scores;
    float lo = 0, hi = 1;
    overview_range(s, src, &lo, &hi);
    struct scene_heat heat = {
        .m = {all + (size_t)i * (size_t)side * (size_t)side, side, side, side},
        .key = (uint64_t)1 << 63 | heads->version << 24 | (uint64_t)i << 1 | weights,
        .x = box.x,
        .y = box.y,
        .cell_w = box.w / (float)side,
        .cell_h = box.h / (float)side,
        .row1 = side,
        .col1 = side,
        .shown = INT64_MAX,
        .map = weights ? MAP_SEQUENTIAL : MAP_DIVERGING,
        .lo = lo,
        .hi = hi,
        .log = weights && s->log_weights,
        .gain = gain_of(s, src),
        .mask_from = heads->causal ? 1 + heads->shifted : INT_MAX,
        .alpha = 1,
        .dim = 1,
        .focus_row1 = side,
        .focus_col1 = side,
    };
    if (step_is_decoding(s)) { /* a part of an image may stand for several rows */
        int n = step_place_of(s)->dims.n_tok;
        struct step_pass pass = step_pass_of(s);
        heat.row0 = side * pass.from / n;
        heat.row1 = heat.col1 = (side * pass.to + n - 1) / n;
    }
    (void)scene_heat(sc, &heat);
    return true;
}

struct grid_of_heads {
    struct scene *sc;
    const struct step_state *s;
    const struct scene_source *src;
    const struct scene_theme *t;
    struct scene_rect box; /* what it may fill */
    int n_block, n_head;
    int current;
    bool named; /* heads do not lie in the model's own rows */
};

static void frame(struct grid_of_heads *g, struct scene_rect box, struct scene_rgba color)
{
    float out = frame_w - 1;
    struct scene_rect b = {box.x - out, box.y - out, box.w + 2 * out, box.h + 2 * out};
    (void)scene_border(g->sc, b, cell_radius + out, frame_w, scene_fade(color, 0), color);
}

static const char *head_name(struct grid_of_heads *g, int i)
{
    int b = i / g->n_head, h = i % g->n_head;
    return g->n_block > 1 ? scene_print(g->sc, "block %d \u00B7 head %d", b + 1, h + 1)
                          : scene_print(g->sc, "head %d", h + 1);
}

static const char *head_tip(struct grid_of_heads *g, int i)
{
    const char *name = head_name(g, i);
    enum step_over_sort by = g->s->over.sort;
    if (!scene_head_is_there(g->src, i))
        return scene_print(g->sc, "%s: not computed yet", name);
    const struct attn_head_sum *sum = &g->src->heads->sum[i];
    enum scene_mark m = scene_mark_of(sum);
    if (by == STEP_SORT_PLACE && m == MARK_NONE) return name;
    if (by == STEP_SORT_PLACE) by = mark_sort[m];
    double v = scene_measure(sum, by);
    if (isnan(v)) return name;
    return scene_print(g->sc, "%s: %s %.2f%s", name, scene_sort_name(by), v,
                       by == STEP_SORT_ENTROPY ? " bits" : "");
}

static void draw_cell(struct grid_of_heads *g, int i, struct scene_rect box)
{
    struct scene *sc = g->sc;
    const struct scene_theme *t = g->t;
    bool there = scene_head_is_there(g->src, i);
    struct scene_item *it =
        scene_border(sc, box, cell_radius, 1, there ? t->mask : t->empty, t->empty_line);
    it->hit = (struct scene_hit){.kind = HIT_ACTION,
                                 .action = {.verb = STEP_OVER_OPEN, .i = i},
                                 .tip = head_tip(g, i)};
    struct scene_rect in = {box.x + 1, box.y + 1, box.w - 2, box.h - 2};
    (void)scene_head_image(sc, g->s, g->src, i, in);
    float right = box.x + box.w - dot - 1.5f, top = box.y + dot + 1.5f;
    enum scene_mark m = there ? scene_mark_of(&g->src->heads->sum[i]) : MARK_NONE;
    float r = fminf(dot, box.w * 0.16f);
    if (m != MARK_NONE) {
        (void)scene_rect(sc, (struct scene_rect){right - r, top - r, 2 * r, 2 * r}, r,
                         scene_mark_color(t, m));
        right -= 2 * dot;
    }
    if (g->named && box.w >= name_least)
        (void)scene_text(sc, right + 2, top + sc->font->cap[FONT_MONO] * name_size / 2,
                         ALIGN_RIGHT, FONT_MONO, name_size, t->ink_soft,
                         g->n_block > 1 ? scene_print(sc, "%d\u00B7%d", i / g->n_head + 1,
                                                      i % g->n_head + 1)
                                        : scene_print(sc, "%d", i + 1));
}

/* ---- the grid ------------------------------------------------------------------------------- */

/* Columns that let n cells be as large as they can in the box. */
static int best_columns(int n, float w, float h)
{
    int best = 1;
    float most = 0;
    for (int c = 1; c <= n; c++) {
        int rows = (n + c - 1) / c;
        float pitch = fminf(w / (float)c, h / (float)rows);
        if (pitch <= most) continue;
        most = pitch;
        best = c;
    }
    return best;
}

static void place(struct grid_of_heads *g, int n)
{
    struct scene_order *o = &g->sc->order;
    const struct step_view *v = &g->s->over.view;
    float w = g->box.w, h = g->box.h;
    o->n = n;
    o->columns = g->n_block > 1 ? g->n_head : best_columns(n, w, h);
    int rows = (n + o->columns - 1) / o->columns;
    float wide = w / (float)o->columns;
    float pitch = fminf(fminf(wide, h / (float)rows), pitch_most);
    pitch = fmaxf(pitch, fminf(wide, pitch_least));
    o->pitch = pitch * v->zoom;
    /* view.x and view.y are kept where something is to be seen */
    o->far_x = fminf(0, w - o->pitch * (float)o->columns);
    o->far_y = fminf(0, h - o->pitch * (float)rows);
    o->x = g->box.x + fminf(fmaxf(v->x, o->far_x), 0);
    o->y = g->box.y + fminf(fmaxf(v->y, o->far_y), 0);
}

static void draw_numbers(struct grid_of_heads *g)
{
    struct scene *sc = g->sc;
    const struct scene_order *o = &sc->order;
    struct scene_rect all = sc->clip;
    float cap = sc->font->cap[FONT_MONO] * number_size;
    int step = o->pitch < 18 ? 5 : 1;
    sc->clip = (struct scene_rect){g->box.x, g->box.y - 3 * number_gap, g->box.w,
                                   3 * number_gap};
    for (int c = 0; c < g->n_head; c += c ? step : step > 1 ? step - 1 : 1)
        (void)scene_text(sc, o->x + ((float)c + 0.5f) * o->pitch, g->box.y - number_gap,
                         ALIGN_CENTER, FONT_MONO, number_size, g->t->ink_soft,
                         scene_print(sc, "%d", c + 1));
    sc->clip = (struct scene_rect){g->box.x - grid_left, g->box.y, grid_left, g->box.h};
    for (int b = 0; b < g->n_block; b++) {
        float y = o->y + ((float)b + 0.5f) * o->pitch;
        if (y < g->box.y - o->pitch || y > g->box.y + g->box.h + o->pitch) continue;
        (void)scene_text(sc, g->box.x - number_gap, y + cap / 2, ALIGN_RIGHT, FONT_MONO,
                         number_size, g->t->ink_soft, scene_print(sc, "%d", b + 1));
    }
    sc->clip = all;
}

static void draw_grid(struct grid_of_heads *g)
{
    struct scene *sc = g->sc;
    const struct scene_order *o = &sc->order;
    struct scene_rect all = sc->clip, at = {0}, current = {0}, box;
    float gap = fminf(o->pitch * gap_share, gap_most);
    if (!g->named) draw_numbers(g);
    sc->clip = (struct scene_rect){g->box.x - frame_w, g->box.y - frame_w,
                                   g->box.w + 2 * frame_w, g->box.h + 2 * frame_w};
    for (int k = 0; k < o->n; k++) {
        int row = k / o->columns;
        box = (struct scene_rect){o->x + (float)(k % o->columns) * o->pitch + gap / 2,
                                  o->y + (float)row * o->pitch + gap / 2, o->pitch - gap,
                                  o->pitch - gap};
        if (box.x > g->box.x + g->box.w || box.x + box.w < g->box.x ||
            box.y > g->box.y + g->box.h || box.y + box.h < g->box.y)
            continue;
        draw_cell(g, o->at[k], box);
        if (o->at[k] == g->s->over.at) at = box;
        if (o->at[k] == g->current) current = box;
    }
    if (at.w > 0 && g->current != g->s->over.at) frame(g, at, g->t->select);
    if (current.w > 0) frame(g, current, g->t->accent);
    sc->clip = all;
}

/* ---- around it -------------------------------------------------------------------------------- */

static float draw_button(struct grid_of_heads *g, float x, float cy, const char *text,
                         bool on, int id, struct step_action action, const char *tip)
{
    struct scene *sc = g->sc;
    const struct scene_theme *t = g->t;
    enum scene_font font = on ? FONT_UI_BOLD : FONT_UI;
    float w = font_width(sc->font, FONT_UI_BOLD, button_size, text, -1) + 2 * button_pad;
    struct scene_rect box = {x, cy - button_h / 2, w, button_h};
    struct scene_item *it =
        scene_border(sc, box, button_h / 2, on ? 1.5f : 1, on ? t->accent_soft : t->panel,
                     on ? t->accent : t->track);
    it->hit =
        (struct scene_hit){.kind = HIT_ACTION, .action = action, .id = id, .tip = tip};
    (void)scene_text(sc, x + w / 2, cy + sc->font->cap[font] * button_size / 2,
                     ALIGN_CENTER, font, button_size, on ? t->accent : t->ink_soft, text);
    return x + w + button_gap;
}

static struct step_action act(enum step_verb verb, int i)
{
    return (struct step_action){.verb = verb, .i = i};
}

/* Returns where they end. */
static float draw_kinds(struct grid_of_heads *g, float x, float cy)
{
    static const char *const tip[STEP_OVER_KIND_COUNT] = {
        "Q\u00B7K\u1D40, one range of colours for all heads",
        "Scores \u00F7 \u221Ad_head, all heads in one range of colours",
        "Softmax of the scaled scores, from 0 to 1"};
    for (int k = 0; k < STEP_OVER_KIND_COUNT; k++)
        x = draw_button(g, x, cy, scene_over_kind_name((enum step_over_kind)k),
                        (int)g->s->over.kind == k, ID_KIND + k, act(STEP_OVER_KIND, k),
                        tip[k]);
    return x;
}

static const char sort_by[] = "sort by";

/* It and the order; returns the box, below which its list opens. */
static struct scene_rect draw_sort(struct grid_of_heads *g, float right, float cy)
{
    struct scene *sc = g->sc;
    const struct scene_theme *t = g->t;
    float cap = sc->font->cap[FONT_UI] * button_size;
    struct scene_rect box = {right - sort_w, cy - button_h / 2, sort_w, button_h};
    struct scene_item *it = scene_border(sc, box, box_radius, 1, t->panel, t->track);
    it->hit = (struct scene_hit){.kind = HIT_ACTION,
                                 .action = act(STEP_OVER_MENU, 0),
                                 .id = ID_SORT,
                                 .tip = "The order in which heads lie"};
    (void)scene_text(sc, box.x - button_gap, cy + cap / 2, ALIGN_RIGHT, FONT_UI,
                     button_size, t->ink_soft, sort_by);
    (void)scene_text(sc, box.x + button_pad, cy + cap / 2, ALIGN_LEFT, FONT_UI,
                     button_size, t->ink, scene_sort_name(g->s->over.sort));
    float cx = right - 2 * menu_pad - 2, r = menu_pad / 2 + 1;
    const float x[3] = {cx - r, cx + r, cx}, y[3] = {cy - r / 2, cy - r / 2, cy + r};
    (void)scene_triangle(sc, x, y, t->ink_soft);
    return box;
}

static void draw_menu(struct grid_of_heads *g, struct scene_rect under)
{
    struct scene *sc = g->sc;
    const struct scene_theme *t = g->t;
    if (!g->s->over.menu) return;
    struct scene_rect box = {under.x, under.y + under.h + 2, under.w,
                             menu_line * STEP_SORT_COUNT + 2 * menu_pad};
    scene_border(sc, box, box_radius, 1, t->panel, t->track)->hit.kind = HIT_COVER;
    for (int i = 0; i < STEP_SORT_COUNT; i++) {
        struct scene_rect line = {box.x + menu_pad,
                                  box.y + menu_pad + (float)i * menu_line,
                                  box.w - 2 * menu_pad, menu_line};
        bool on = (int)g->s->over.sort == i;
        struct scene_item *it =
            scene_rect(sc, line, box_radius, on ? t->accent_soft : t->panel);
        it->hit = (struct scene_hit){.kind = HIT_ACTION,
                                     .action = act(STEP_OVER_SORT, i),
                                     .id = ID_MENU + i,
                                     .tip = scene_sort_means((enum step_over_sort)i)};
        (void)scene_text(sc, line.x + menu_pad,
                         line.y + menu_line / 2 +
                             sc->font->cap[FONT_UI] * button_size / 2,
                         ALIGN_LEFT, FONT_UI, button_size, on ? t->accent : t->ink,
                         scene_sort_name((enum step_over_sort)i));
    }
}

/* What the dots say: below one another, or in a line from x to its left end. */
static void draw_legend(struct grid_of_heads *g, float x, float y, bool line)
{
    struct scene *sc = g->sc;
    for (int m = 0; m < MARK_COUNT; m++) {
        const char *name = scene_sort_name(mark_sort[m]);
        float w = font_width(sc->font, FONT_UI, button_size, name, -1) + 4 * dot;
        (void)scene_rect(sc, (struct scene_rect){x, y - dot, 2 * dot, 2 * dot}, dot,
                         scene_mark_color(g->t, (enum scene_mark)m));
        (void)scene_text(sc, x + 4 * dot, y + sc->font->cap[FONT_UI] * button_size / 2,
                         ALIGN_LEFT, FONT_UI, button_size, g->t->ink_soft, name);
        struct scene_rect over = {x, y - legend_line / 2, w, legend_line};
        struct scene_item *it = scene_rect(sc, over, 0, scene_fade(g->t->paper, 0));
        it->hit.kind = HIT_COVER;
        it->hit.tip = scene_sort_means(mark_sort[m]);
        if (line)
            x += w + legend_gap;
        else
            y += legend_line;
    }
}

/* The range that every image is painted in. */
static void draw_range(struct grid_of_heads *g, float x, float y)
{
    struct scene *sc = g->sc;
    bool weights = g->s->over.kind == STEP_OVER_WEIGHTS;
    bool log = weights && g->s->log_weights;
    float lo = 0, hi = 1;
    overview_range(g->s, g->src, &lo, &hi);
    float base = ramp_draw(sc, g->t,
                           &(struct ramp){.x = x,
                                          .y = y,
                                          .w = ramp_w,
                                          .size = ramp_size,
                                          .map = weights ? MAP_SEQUENTIAL : MAP_DIVERGING,
                                          .lo = lo,
                                          .hi = hi,
                                          .log = log,
                                          .decimals = 1});
    struct scene_item *over =
        scene_rect(sc, (struct scene_rect){x, y - 2, ramp_w, base - y + 4}, 0,
                   scene_fade(g->t->paper, 0));
    over->hit.kind = HIT_COVER;
    over->hit.tip =
        weights && lo == 0 && hi == 1 ? "Weights, from 0 to 1"
        : weights ? "From the least to the largest of the weights that are given"
                  : "From the largest of all heads that are computed, one range for all";
}

static void draw_foot(struct grid_of_heads *g, float x, float right, float y)
{
    struct scene *sc = g->sc;
    const struct scene_heads *heads = g->src->heads;
    int done = heads ? heads->done : 0;
    float width = right - x;
    const char *text = "Enter opens \u00B7 arrows move \u00B7 Ctrl wheel zooms \u00B7 "
                       "marks: share of weight over 0.4, definition on hover";
    static const char brief[] =
        "Enter opens \u00B7 arrows move \u00B7 Ctrl wheel zooms \u00B7 "
        "marks: weight over 0.4";
    if (font_width(sc->font, FONT_MONO, foot_size, text, -1) > width) text = brief;
    /* Larger images do not tell rows apart. */
    if (step_is_decoding(g->s) && heads && heads->side < step_place_of(g->s)->dims.n_tok)
        text = "marks, entropies and order: of the whole text, not of what has come";
    if (done < g->n_block) {
        text = scene_print(sc, "computing block %d of %d \u2026", done + 1, g->n_block);
        float w = font_width(sc->font, FONT_MONO, foot_size, text, -1) + button_pad;
        struct scene_rect bar = {x + w, y - bar_h - 2, bar_w, bar_h};
        (void)scene_rect(sc, bar, bar_h / 2, g->t->track);
        bar.w *= (float)done / (float)g->n_block;
        if (done > 0) (void)scene_rect(sc, bar, bar_h / 2, g->t->accent);
    }
    (void)scene_text(sc, x, y, ALIGN_LEFT, FONT_MONO, foot_size, g->t->ink_faint,
                     scene_fit_text(sc, FONT_MONO, foot_size, width, text));
}

void overview_build(struct scene *sc, const struct step_state *s,
                    const struct scene_source *src)
{
    const struct step_place *p = step_place_of(s);
    const struct scene_rect f = sc->frame.stage, all = sc->clip;
    struct grid_of_heads g = {
        .sc = sc,
        .s = s,
        .src = src,
        .t = scene_theme_get(s->theme),
        .n_block = p->n_block > 1 ? p->n_block : 1,
        .n_head = p->dims.n_head,
        .current = p->block * p->dims.n_head + p->head,
    };
    g.named = g.n_block == 1 || s->over.sort != STEP_SORT_PLACE;
    scene_rect(sc, f, 0, g.t->paper)->hit.kind = HIT_CANVAS;
    sc->clip = f;
    bool small = f.w < small_stage;
    float x = f.x + (small ? head_x_small : head_x), right = f.x + f.w - grid_right;
    int n = g.n_block * g.n_head;
    (void)scene_text(sc, x, f.y + title_y, ALIGN_LEFT, FONT_UI_BOLD, title_size, g.t->ink,
                     g.n_block > 1 ? "Every block, every head" : "Every head");
    static const char *const letter[STEP_OVER_KIND_COUNT] = {"S", "S \u00F7 \u221Ad",
                                                             "A"};
    const char *formula =
        scene_print(sc, "%s, %d head%s", letter[s->over.kind], n, n == 1 ? "" : "s");
    (void)scene_text(sc, x, f.y + line_y, ALIGN_LEFT, FONT_MONO, formula_size, g.t->ink,
                     formula);
    float line = f.y + line_y - formula_size * 0.36f;
    float at = x + font_width(sc->font, FONT_MONO, formula_size,
                              "S \u00F7 \u221Ad, 1200 heads", -1);
    float kinds_end = draw_kinds(&g, at + button_gap, line);

    bool beside = f.w - grid_left - grid_right - 2 * x + 2 * f.x > 4 * legend_w;
    float beside_w = beside ? legend_w : 0, foot = beside ? 0 : legend_line;
    float left = x + (g.named ? 0 : grid_left);
    g.box = (struct scene_rect){left, f.y + grid_top, right - beside_w - left,
                                f.h - grid_top - grid_foot - foot};
    sc->canvas = g.box;
    place(&g, n);
    sc->order.at = order_of(sc, s, src, n);
    if (!sc->order.at) sc->order.n = 0;
    draw_grid(&g);
    if (beside)
        draw_legend(&g, right - legend_w + legend_gap, g.box.y + legend_line / 2, false);
    else
        draw_legend(&g, x, f.y + f.h - legend_up, true);
    if (beside)
        draw_range(&g, right - legend_w + legend_gap,
                   g.box.y + legend_line * (MARK_COUNT + 0.5f));
    else
        draw_range(&g, right - ramp_w - 2, f.y + f.h - legend_up - (float)RAMP_H / 2);
    draw_foot(&g, x, right, f.y + f.h - foot_up);
    /* Beside the kinds where there is room, else beside the title. */
    float label =
        font_width(sc->font, FONT_UI, button_size, sort_by, -1) + 2 * button_gap;
    bool up = small || kinds_end + label + sort_w > right - beside_w;
    float sort_y = up ? f.y + title_y - title_size * 0.36f : line;
    struct scene_rect under = draw_sort(&g, right - (up ? 0 : beside_w), sort_y);
    draw_menu(&g, under);
    sc->clip = all;
}
