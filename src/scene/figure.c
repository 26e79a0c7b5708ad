/* Figures: one matrix, or every head, composed for a page of its own. */
#include "grid.h"
#include "overview.h"

#include <limits.h>
#include <math.h>

/* Spacing and type in points; a page in a paper has 3/4 of them in print. */
static const float margin = 12, title_size = 14, title_base = 14, line_size = 10,
                   line_base = 29, head_h = 38;
static const float label_most = 10, label_least = 4.5f, label_share = 0.86f;
static const float label_gap = 5, label_room_most = 96, ink_share = 0.6f;
static const float axis_size = 9, axis_h = 13;
static const float tick_size = 8, tick_apart_x = 26, tick_apart_y = 14;
static const float ramp_w = 132, ramp_gap = 10, ramp_size = 9, foot_h = 30;
static const float cell_most = 84, cell_apart = 14, stretch_most = 8;

static const struct figure_words {
    const char *name;
    enum attn_stage stage;
    bool rows, cols; /* stand for tokens */
} words[ATTN_TENSOR_COUNT] = {
    /* clang-format off */
    [ATTN_H]        = {"residual stream",             ATTN_PROJECTIONS,  true,  false},
    [ATTN_X]        = {"ln_1(h)",                     ATTN_PROJECTIONS,  true,  false},
    [ATTN_W_Q]      = {"query weights",               ATTN_PROJECTIONS,  false, false},
    [ATTN_W_K]      = {"key weights",                 ATTN_PROJECTIONS,  false, false},
    [ATTN_W_V]      = {"value weights",               ATTN_PROJECTIONS,  false, false},
    [ATTN_Q]        = {"queries",                     ATTN_PROJECTIONS,  true,  false},
    [ATTN_K]        = {"keys",                        ATTN_PROJECTIONS,  true,  false},
    [ATTN_V]        = {"values",                      ATTN_PROJECTIONS,  true,  false},
    [ATTN_S_RAW]    = {"scores Q \u00B7 K\u1D40",     ATTN_SCORES,       true,  true},
    [ATTN_S_SCALED] = {"scores \u00F7 \u221Ad_head",  ATTN_SCALE,        true,  true},
    [ATTN_S_MASKED] = {"scaled and masked scores",    ATTN_MASK,         true,  true},
    [ATTN_P]        = {"attention weights",           ATTN_SOFTMAX,      true,  true},
    [ATTN_Z]        = {"weighted sum A \u00B7 V",     ATTN_WEIGHTED_SUM, true,  false},
    [ATTN_Z_ALL]    = {"all heads side by side",      ATTN_OUTPUT,       true,  false},
    [ATTN_W_O]      = {"output weights",              ATTN_OUTPUT,       false, false},
    [ATTN_Y_PROJ]   = {"output projection",           ATTN_OUTPUT,       true,  false},
    [ATTN_Y]        = {"output projection + h",       ATTN_OUTPUT,       true,  false},
    /* clang-format on */
};

enum attn_stage scene_stage_of(enum attn_tensor t)
{
    return t < ATTN_TENSOR_COUNT ? words[t].stage : ATTN_PROJECTIONS;
}

static struct brush brush_of(struct scene *sc, const struct step_state *s,
                             const struct scene_source *src)
{
    struct scene_rect page = {0, 0, sc->w, sc->h};
    sc->clip = page;
    sc->order = (struct scene_order){.n = 0};
    return (struct brush){.sc = sc,
                          .s = s,
                          .place = step_place_of(s),
                          .src = src,
                          .theme = scene_theme_get(s->theme),
                          .canvas = page,
                          .view = {.zoom = 1},
                          .mask_from = s->opts.causal ? 1 + s->opts.shifted : INT_MAX,
                          .bare = !src->fits,
                          .decoding = step_is_decoding(s),
                          .pass = step_pass_of(s)};
}

/* A name in bold with what it is beside it, and a line below. */
static void head_draw(const struct brush *b, const char *name, const char *is,
                      const char *line)
{
    struct scene *sc = b->sc;
    float room = sc->w - 2 * margin;
    (void)scene_text(sc, margin, margin + title_base, ALIGN_LEFT, FONT_UI_BOLD,
                     title_size, b->theme->ink, name);
    float x = font_width(sc->font, FONT_UI_BOLD, title_size, name, -1) + title_size / 2;
    if (*is)
        (void)scene_text(sc, margin + x, margin + title_base, ALIGN_LEFT, FONT_UI,
                         title_size, b->theme->ink,
                         scene_fit_text(sc, FONT_UI, title_size, room - x, is));
    (void)scene_text(sc, margin, margin + line_base, ALIGN_LEFT, FONT_UI, line_size,
                     b->theme->ink_soft,
                     scene_fit_text(sc, FONT_UI, line_size, room, line));
}

/* What is switched off, for the line under a title: a figure has no banner. */
static const char *what_if(const struct brush *b)
{
    const struct attn_opts *o = &b->s->opts;
    const char *broken = scene_broken_text(b->sc, b->s, false);
    if (broken && (!attn_opts_fused(*o) || step_given_count(b->s) > 0))
        return scene_print(b->sc, " \u00B7 what if: %s", broken);
    return scene_print(b->sc, "%s%s%s",
                       o->scale ? "" : " \u00B7 without \u00F7 \u221Ad_head",
                       o->causal ? "" : " \u00B7 without causal mask",
                       o->residual ? "" : " \u00B7 without residual");
}

/* ---- what stands along an axis ------------------------------------------------------------ */

struct axis {
    int n;
    bool tokens;
    float size; /* of a label a cell; 0: ticks */
    float room; /* for labels and ticks, away from the matrix */
};

static const char *axis_label(const struct brush *b, const struct axis *a, int i)
{
    const char *text = scene_token_text(b->sc, b->src, i);
    if (!*text) return scene_print(b->sc, "%d", i + 1);
    return scene_fit_text(b->sc, FONT_MONO, a->size, label_room_most, text);
}

/* How the labels of an axis are set where a cell has so much room along it. */
static struct axis axis_of(const struct brush *b, int n, bool tokens, float pitch)
{
    struct axis a = {.n = n, .tokens = tokens};
    float size = fminf(pitch * label_share, label_most);
    if (tokens && size >= label_least) a.size = size;
    if (!(a.size > 0)) {
        const char *last = scene_print(b->sc, "%d", n);
        a.room = font_width(b->sc->font, FONT_MONO, tick_size, last, -1) + label_gap;
        return a;
    }
    for (int i = 0; i < n; i++)
        a.room = fmaxf(
            a.room, font_width(b->sc->font, FONT_MONO, a.size, axis_label(b, &a, i), -1));
    a.room += label_gap;
    return a;
}

static struct scene_rgba label_ink(const struct brush *b, int token)
{
    return scene_mix(b->theme->ink, scene_token_hue(token), ink_share);
}

static int tick_step(float pitch, float apart)
{
    static const int steps[] = {1, 2, 5, 10, 16, 32, 64, 128, 256, 512};
    for (int k = 0; k < (int)(sizeof steps / sizeof steps[0]); k++)
        if (pitch * (float)steps[k] >= apart) return steps[k];
    return 1024;
}

/* The k-th of 1, step, 2 step, ... below n; 0: none is there or it stands too near to n,
 * which is always marked. */
static int tick_at(const struct axis *a, int k, float pitch, float apart)
{
    int step = tick_step(pitch, apart), at = k == 0 ? 1 : k * step;
    if (at >= a->n || (k > 0 && at == 1)) return 0;
    if (k > 0 && (float)(at - 1) * pitch < apart * 0.8f) return 0;
    return (float)(a->n - at) * pitch >= apart * 0.8f ? at : 0;
}

static void row_mark(const struct brush *b, const struct grid *g, int row, float size,
                     struct scene_rgba ink, const char *text)
{
    float y = g->y + ((float)row + 0.5f) * g->cell_h;
    (void)scene_text(b->sc, g->x - label_gap, y + b->sc->font->cap[FONT_MONO] * size / 2,
                     ALIGN_RIGHT, FONT_MONO, size, ink, text);
}

static void rows_draw(const struct brush *b, const struct grid *g, const struct axis *a)
{
    for (int i = 0; a->size > 0 && i < a->n; i++)
        row_mark(b, g, i, a->size, label_ink(b, i), axis_label(b, a, i));
    if (a->size > 0) return;
    for (int k = 0; k <= a->n; k++) {
        int at = tick_at(a, k, g->cell_h, tick_apart_y);
        if (at)
            row_mark(b, g, at - 1, tick_size, b->theme->ink_faint,
                     scene_print(b->sc, "%d", at));
    }
    row_mark(b, g, a->n - 1, tick_size, b->theme->ink_faint,
             scene_print(b->sc, "%d", a->n));
}

static void column_mark(const struct brush *b, const struct grid *g, int column,
                        float size, bool turned, struct scene_rgba ink, const char *text)
{
    float x = g->x + ((float)column + 0.5f) * g->cell_w, y = g->y - label_gap;
    if (!turned) {
        (void)scene_text(b->sc, x, y, ALIGN_CENTER, FONT_MONO, size, ink, text);
        return;
    }
    struct scene_item *it = scene_text(b->sc, x + b->sc->font->cap[FONT_MONO] * size / 2,
                                       y, ALIGN_LEFT, FONT_MONO, size, ink, text);
    it->u.text.turned = true;
}

/* Whether a column's label is written as a row's is. */
static bool lies(const struct axis *a, float pitch)
{
    return a->room - label_gap <= pitch - 2;
}

static void columns_draw(const struct brush *b, const struct grid *g,
                         const struct axis *a)
{
    bool turned = !lies(a, g->cell_w);
    for (int j = 0; a->size > 0 && j < a->n; j++)
        column_mark(b, g, j, a->size, turned, label_ink(b, j), axis_label(b, a, j));
    if (a->size > 0) return;
    for (int k = 0; k <= a->n; k++) {
        int at = tick_at(a, k, g->cell_w, tick_apart_x);
        if (at)
            column_mark(b, g, at - 1, tick_size, false, b->theme->ink_faint,
                        scene_print(b->sc, "%d", at));
    }
    column_mark(b, g, a->n - 1, tick_size, false, b->theme->ink_faint,
                scene_print(b->sc, "%d", a->n));
}

/* "query" upwards at the left, "key" above: what the axes of a score grid stand for. */
static void axes_draw(const struct brush *b, const struct grid *g, float above,
                      float left)
{
    struct scene_item *it =
        scene_text(b->sc, g->x - left, g->y + grid_h(g) / 2, ALIGN_LEFT, FONT_UI,
                   axis_size, b->theme->ink_soft, "query");
    it->u.text.turned = true;
    it->u.text.y += font_width(b->sc->font, FONT_UI, axis_size, "query", -1) / 2;
    (void)scene_text(b->sc, g->x + grid_w(g) / 2, g->y - above, ALIGN_CENTER, FONT_UI,
                     axis_size, b->theme->ink_soft, "key");
}

/* ---- one matrix ---------------------------------------------------------------------------- */

struct page {
    struct grid g;
    struct axis rows, cols;
    float above, left; /* of the matrix: labels and the axes' names */
};

static float column_room(const struct axis *cols, float pitch)
{
    if (!(cols->size > 0) || lies(cols, pitch))
        return fmaxf(cols->size, tick_size) + label_gap;
    return cols->room;
}

/* Pitches for what is left of the page: square cells where they can be. */
static void pitch_of(struct grid *g, float w, float h)
{
    g->cell_w = fminf(w / (float)g->cols, cell_most);
    g->cell_h = fminf(h / (float)g->rows, cell_most);
    float square = fminf(g->cell_w, g->cell_h);
    if (g->rows == g->cols || square >= cell_apart) {
        g->cell_w = g->cell_h = square;
        return;
    }
    g->cell_w = fminf(g->cell_w, square * stretch_most);
    g->cell_h = fminf(g->cell_h, square * stretch_most);
}

/* Labels take room from cells, whose size sets the labels: from large labels to what is
 * left beside them. */
static struct page page_of(const struct brush *b, enum attn_tensor t, int rows, int cols)
{
    const struct figure_words *w = &words[t];
    float axis = w->cols ? axis_h : 0, width = b->sc->w - 2 * margin;
    float height = b->sc->h - 2 * margin - head_h - foot_h;
    struct page p = {.g = {.tensor = t, .rows = rows, .cols = cols}};
    pitch_of(&p.g, width * 0.8f, height * 0.8f);
    for (int pass = 0; pass < 3; pass++) {
        p.rows = axis_of(b, rows, w->rows, p.g.cell_h);
        p.cols = axis_of(b, cols, w->cols, p.g.cell_w);
        p.left = p.rows.room + axis;
        p.above = column_room(&p.cols, p.g.cell_w) + axis;
        pitch_of(&p.g, width - p.left, height - p.above);
    }
    p.g.x = margin + p.left + (width - p.left - grid_w(&p.g)) / 2;
    p.g.y = margin + head_h + p.above;
    return p;
}

static struct grid_style style_of(const struct brush *b, const struct grid *g)
{
    struct grid_style style = grid_style(b, g);
    bool grid = g->tensor == ATTN_S_MASKED || g->tensor == ATTN_P;
    if (grid) style.mask_from = b->mask_from;
    style.masked_zero = g->tensor == ATTN_P;
    style.live = false;
    if (g->tensor != ATTN_P) return style;
    style.map = MAP_SEQUENTIAL;
    scene_weights_range(b->src, &style.lo, &style.hi);
    return style;
}

static void foot_draw(const struct brush *b, const struct page *p,
                      const struct grid_style *style)
{
    struct scene *sc = b->sc;
    const struct attn_stats *st = &b->src->trace->stats[p->g.tensor];
    float y = p->g.y + grid_h(&p->g) + ramp_gap, x = p->g.x;
    float w = fminf(ramp_w, (sc->w - 2 * margin) * 0.45f);
    x = fminf(x, sc->w - margin - w);
    grid_ramp(b, x, y, w, ramp_size, style->map, style->lo, style->hi);
    const char *range = scene_print(sc, "%s to %s", scene_number(sc, st->min, 3),
                                    scene_number(sc, st->max, 3));
    int64_t odd = st->n_nan + st->n_pos_inf;
    if (odd)
        range = scene_print(sc, "%s \u00B7 %s not finite", range, scene_count(sc, odd));
    float after = x + w + ramp_gap, room = sc->w - margin - after;
    (void)scene_text(sc, after, y + RAMP_H, ALIGN_LEFT, FONT_MONO, ramp_size,
                     b->theme->ink_soft,
                     scene_fit_text(sc, FONT_MONO, ramp_size, room, range));
}

void scene_figure(struct scene *sc, const struct step_state *s,
                  const struct scene_source *src, enum attn_tensor t)
{
    const struct brush b = brush_of(sc, s, src);
    struct attn_cmat m = scene_tensor_view(src, t);
    if (!m.data) {
        head_draw(&b, scene_tensor_name(t), words[t].name, "computing \u2026");
        return;
    }
    bool one_head = t != ATTN_H && t != ATTN_X && scene_stage_of(t) != ATTN_OUTPUT;
    const char *place = scene_print(sc, "block %d", b.place->block + 1);
    if (one_head) place = scene_print(sc, "%s, head %d", place, b.place->head + 1);
    head_draw(&b, scene_tensor_name(t), words[t].name,
              scene_print(sc, "%s \u00B7 %d\u00D7%d%s \u00B7 %s", place, m.rows, m.cols,
                          what_if(&b), src->label ? src->label : ""));
    struct page p = page_of(&b, t, m.rows, m.cols);
    struct grid_style style = style_of(&b, &p.g);
    grid_draw(&b, &p.g, &style);
    rows_draw(&b, &p.g, &p.rows);
    columns_draw(&b, &p.g, &p.cols);
    if (words[t].cols) axes_draw(&b, &p.g, p.above - axis_size / 2, p.left - axis_size);
    foot_draw(&b, &p, &style);
}

/* ---- every head ------------------------------------------------------------------------------ */

static const float gap_share = 0.07f, number_size = 9;

void scene_figure_heads(struct scene *sc, const struct step_state *s,
                        const struct scene_source *src)
{
    static const char *const kind[STEP_OVER_KIND_COUNT] = {
        "scores Q \u00B7 K\u1D40", "scores \u00F7 \u221Ad_head", "attention weights"};
    static const char *const letter[STEP_OVER_KIND_COUNT] = {"S", "S", "A"};
    const struct brush b = brush_of(sc, s, src);
    int blocks = b.place->n_block > 1 ? b.place->n_block : 1,
        heads = b.place->dims.n_head;
    head_draw(&b, letter[s->over.kind], kind[s->over.kind],
              scene_print(sc, "every head, %d tokens%s \u00B7 %s", b.place->dims.n_tok,
                          what_if(&b), src->label ? src->label : ""));
    float left = axis_h + number_size * 2, above = axis_h + number_size + label_gap;
    float width = sc->w - 2 * margin - left;
    float height = sc->h - 2 * margin - head_h - foot_h - above;
    float pitch = fminf(width / (float)heads, height / (float)blocks);
    float x = margin + left + (width - pitch * (float)heads) / 2;
    float y = margin + head_h + above, side = pitch * (1 - gap_share);
    float cap = sc->font->cap[FONT_MONO] * number_size;
    for (int i = 0; i < blocks * heads; i++) {
        int block = i / heads, head = i % heads;
        float cx = x + (float)head * pitch, cy = y + (float)block * pitch;
        struct scene_rect box = {cx, cy, side, side};
        if (!scene_head_image(sc, s, src, i, box))
            (void)scene_rect(sc, box, 0, b.theme->empty);
        if (block == 0)
            (void)scene_text(sc, cx + side / 2, y - label_gap, ALIGN_CENTER, FONT_MONO,
                             number_size, b.theme->ink_soft,
                             scene_print(sc, "%d", head + 1));
        if (head == 0)
            (void)scene_text(sc, x - label_gap, cy + (side + cap) / 2, ALIGN_RIGHT,
                             FONT_MONO, number_size, b.theme->ink_soft,
                             scene_print(sc, "%d", block + 1));
    }
    (void)scene_text(sc, x + pitch * (float)heads / 2, y - above + axis_size,
                     ALIGN_CENTER, FONT_UI, axis_size, b.theme->ink_soft, "head");
    struct scene_item *it =
        scene_text(sc, x - left + axis_size, y + pitch * (float)blocks / 2, ALIGN_LEFT,
                   FONT_UI, axis_size, b.theme->ink_soft, "block");
    it->u.text.turned = true;
    it->u.text.y += font_width(sc->font, FONT_UI, axis_size, "block", -1) / 2;
    float foot = y + pitch * (float)blocks - pitch * gap_share + ramp_gap;
    if (s->over.kind == STEP_OVER_WEIGHTS) {
        float lo = 0, hi = 1;
        overview_range(s, src, &lo, &hi);
        grid_ramp(&b, x, foot, fminf(ramp_w, width / 2), ramp_size, MAP_SEQUENTIAL, lo,
                  hi);
        return;
    }
    (void)scene_text(sc, x, foot + ramp_size, ALIGN_LEFT, FONT_UI, ramp_size,
                     b.theme->ink_soft,
                     scene_fit_text(sc, FONT_UI, ramp_size, width,
                                    "each head from minus to plus its largest score"));
}
