/* One matrix on the stage: its heat map, the numbers that fit, its frame and label. */
#include "grid.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { NUMBERS_MAX = 4000 }; /* in one matrix; a screen of the smallest has fewer */

/* Cells from this size on have gaps and round corners, and numbers from the next. */
static const float cell_apart = 14, cell_number = 16;
static const float gap_share = 0.05f, gap_most = 2, radius_share = 0.07f, radius_most = 4;
static const float number_share = 0.30f, number_least = 8, number_most = 13;
static const float dim_outside = 0.55f, frame_width = 2, frame_out = 2;
static const float line_instead = 4, line_width = 1.25f;

struct grid grid_on_screen(const struct brush *b, struct grid g)
{
    g.x = g.x * b->view.zoom + b->view.x;
    g.y = g.y * b->view.zoom + b->view.y;
    g.cell_w *= b->view.zoom;
    g.cell_h *= b->view.zoom;
    return g;
}

struct scene_rect grid_cells(const struct grid *g, int row0, int row1, int col0, int col1)
{
    return (struct scene_rect){
        g->x + (float)col0 * g->cell_w, g->y + (float)row0 * g->cell_h,
        (float)(col1 - col0) * g->cell_w, (float)(row1 - row0) * g->cell_h};
}

/* A transposed copy for one frame; gfx keeps its texture by the key. */
static struct attn_cmat transposed(struct scene *sc, struct attn_cmat m)
{
    float *t = arena_push(sc->mem, (size_t)m.rows * (size_t)m.cols, sizeof *t);
    if (!t) {
        sc->full = true;
        return (struct attn_cmat){0};
    }
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < m.cols; j++)
            t[(size_t)j * (size_t)m.rows + (size_t)i] =
                m.data[(size_t)i * (size_t)m.ld + (size_t)j];
    return (struct attn_cmat){t, m.cols, m.rows, m.rows};
}

struct grid_style grid_style(const struct brush *b, const struct grid *g)
{
    struct attn_cmat m = scene_tensor_view(b->src, g->tensor);
    if (g->transposed && m.data) m = transposed(b->sc, m);
    float hi = b->src->trace ? b->src->trace->stats[g->tensor].max_abs : 0;
    if (!(hi > 0)) hi = 1;
    return (struct grid_style){
        .m = m,
        .key = b->src->version * ATTN_TENSOR_COUNT + (uint64_t)g->tensor,
        .map = MAP_DIVERGING,
        .lo = -hi,
        .hi = hi,
        .gain = 1,
        .alpha = 1,
        .row1 = g->rows,
        .col1 = g->cols,
        .shown = INT64_MAX,
        .mask_from = INT_MAX,
        .focus_row = -1,
        .focus_col = -1,
        .figures = true,
        .live = true,
    };
}

static bool in_focus(const struct grid_style *st, int i, int j)
{
    return (st->focus_row < 0 || st->focus_row == i) &&
           (st->focus_col < 0 || st->focus_col == j);
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* "0.07" -> ".07", "−0.7" -> "−.7": where cells are narrow. */
static const char *without_zero(struct scene *sc, const char *text)
{
    const char *zero = strstr(text, "0.");
    if (!zero || (zero != text && zero[-1] >= '0' && zero[-1] <= '9')) return text;
    return scene_print(sc, "%.*s%s", (int)(zero - text), text, zero + 1);
}

/* As many decimals as fit: one choice for the whole matrix, so that columns compare. */
struct figure {
    int decimals;
    bool bare_point;
    float size;
};

static float widest(const struct brush *b, const struct grid_style *st, int decimals,
                    float size, bool bare_point)
{
    float most = fmaxf(fabsf(st->lo), fabsf(st->hi)) * fabsf(st->gain);
    const char *text =
        scene_number(b->sc, st->map == MAP_SEQUENTIAL ? most : -most, decimals);
    const char *small =
        scene_number(b->sc, st->map == MAP_SEQUENTIAL ? 0.77777f : -0.77777f, decimals);
    if (bare_point) {
        text = without_zero(b->sc, text);
        small = without_zero(b->sc, small);
    }
    return fmaxf(font_width(b->sc->font, FONT_MONO, size, text, -1),
                 font_width(b->sc->font, FONT_MONO, size, small, -1));
}

static bool figure_fits(const struct brush *b, const struct grid_style *st,
                        struct figure f, float room)
{
    return widest(b, st, f.decimals, f.size, f.bare_point) <= room;
}

/* Comfortably set first; where cells are narrow, smaller and without the leading zero. */
static bool figure_of(const struct brush *b, const struct grid *g,
                      const struct grid_style *st, struct figure *f)
{
    float cell = fminf(g->cell_w, g->cell_h * 1.6f);
    if (g->cell_w < cell_number || g->cell_h < cell_number * 0.7f) return false;
    float size = fminf(fmaxf(cell * number_share, number_least), number_most);
    if (size > g->cell_h * 0.85f) return false;
    int most = g->cell_w >= 120 ? 5 : g->cell_w >= 72 ? 3 : 2;
    for (int decimals = most; decimals >= 1; decimals--) {
        *f = (struct figure){decimals, false, size};
        if (figure_fits(b, st, *f, g->cell_w * 0.84f - 2)) return true;
    }
    int smaller = (int)((size - number_least + 0.5f) * 2); /* steps of half a point */
    for (int bare = 0; bare < 2; bare++)
        for (int k = 0; k <= smaller; k++) {
            *f = (struct figure){1, bare, size - 0.5f * (float)k};
            if (figure_fits(b, st, *f, g->cell_w - 3)) return true;
        }
    *f = (struct figure){0, false, size};
    return figure_fits(b, st, *f, g->cell_w - 3);
}

/* Weights below it are as good as none here: no colour, no number. */
static float grid_least(const struct brush *b, const struct grid_style *st)
{
    return st->map == MAP_SEQUENTIAL ? b->s->least_weight : 0;
}

static void number_draw(const struct brush *b, const struct grid *g,
                        const struct grid_style *st, const struct figure *f, int i, int j)
{
    struct scene *sc = b->sc;
    bool masked = j - i >= st->mask_from;
    float v = st->m.data[(size_t)i * (size_t)st->m.ld + (size_t)j] * st->gain;
    struct scene_rgba ink;
    const char *text;
    if (!masked && fabsf(v) < grid_least(b, st)) return;
    float alpha = st->alpha * (st->dims && !in_focus(st, i, j) ? dim_outside : 1);
    if (masked) {
        text = st->masked_zero ? "0" : "\u2212\u221E";
        ink = scene_mix(b->theme->mask, b->theme->ink_faint, 0.75f);
    } else {
        text = scene_number(sc, v, f->decimals);
        if (f->bare_point) text = without_zero(sc, text);
        struct scene_rgba cell =
            scene_map_color(b->theme, st->map, st->lo, st->hi,
                            b->s->log_weights && st->map == MAP_SEQUENTIAL, v);
        ink = scene_ink_on(b->theme, scene_fade(cell, alpha));
        alpha = fminf(1, alpha + 0.15f); /* dimmed figures stay readable */
    }
    /* "<0.1" in every other cell would be noise, "<0.01" may be wider than its cell */
    bool tiny = !masked && v != 0 && fabsf(v) < 0.05f && f->decimals <= 1;
    bool below = *text == '<' || *text == '>';
    bool wide = font_width(sc->font, FONT_MONO, f->size, text, -1) > g->cell_w - 2;
    if (tiny || (below && wide)) text = "\u22480";
    (void)scene_text(sc, g->x + ((float)j + 0.5f) * g->cell_w,
                     g->y + ((float)i + 0.5f) * g->cell_h +
                         sc->font->cap[FONT_MONO] * f->size / 2,
                     ALIGN_CENTER, FONT_MONO, f->size, scene_fade(ink, alpha), text);
}

static int bounded(float v, int lo, int hi)
{
    return v < (float)lo ? lo : v > (float)hi ? hi : (int)v;
}

static void numbers_draw(const struct brush *b, const struct grid *g,
                         const struct grid_style *st)
{
    struct figure f;
    if (!st->figures || b->bare || st->alpha < 0.35f || !figure_of(b, g, st, &f)) return;
    /* only what the canvas shows */
    const struct scene_rect *c = &b->canvas;
    int i0 = bounded(floorf((c->y - g->y) / g->cell_h), st->row0, st->row1);
    int i1 = bounded(ceilf((c->y + c->h - g->y) / g->cell_h), st->row0, st->row1);
    int j0 = bounded(floorf((c->x - g->x) / g->cell_w), st->col0, st->col1);
    int j1 = bounded(ceilf((c->x + c->w - g->x) / g->cell_w), st->col0, st->col1);
    if ((int64_t)(i1 - i0) * (j1 - j0) > NUMBERS_MAX) return;
    for (int i = i0; i < i1; i++)
        for (int j = j0; j < j1; j++) {
            int64_t at = (int64_t)(i - st->row0) * (st->col1 - st->col0) + (j - st->col0);
            if (at < st->shown) number_draw(b, g, st, &f, i, j);
        }
}

/* ---- the matrix ----------------------------------------------------------------------------- */

static void part_draw(const struct brush *b, const struct grid *fitted,
                      const struct grid_style *st)
{
    if (!st->m.data || st->row1 <= st->row0 || st->col1 <= st->col0 || st->alpha <= 0)
        return;
    struct grid g = grid_on_screen(b, *fitted);
    float cell = fminf(g.cell_w, g.cell_h);
    bool apart = cell >= cell_apart;
    struct scene_heat heat = {
        .m = st->m,
        .key = st->key,
        .x = g.x,
        .y = g.y,
        .cell_w = g.cell_w,
        .cell_h = g.cell_h,
        .row0 = st->row0,
        .row1 = st->row1,
        .col0 = st->col0,
        .col1 = st->col1,
        .shown = st->shown,
        .map = st->map,
        .lo = st->lo,
        .hi = st->hi,
        .log = b->s->log_weights && st->map == MAP_SEQUENTIAL,
        .gain = st->gain,
        .least = grid_least(b, st),
        .mask_from = st->mask_from,
        .alpha = st->alpha * (b->bare ? 0.5f : 1),
        .dim = st->dims ? dim_outside : 1,
        .focus_row0 = st->focus_row < 0 ? 0 : st->focus_row,
        .focus_row1 = st->focus_row < 0 ? g.rows : st->focus_row + 1,
        .focus_col0 = st->focus_col < 0 ? 0 : st->focus_col,
        .focus_col1 = st->focus_col < 0 ? g.cols : st->focus_col + 1,
        .gap = apart ? fminf(cell * gap_share, gap_most) : 0,
        .radius = apart ? fminf(cell * radius_share, radius_most) : 0,
    };
    if (heat.shown > (int64_t)(st->row1 - st->row0) * (st->col1 - st->col0))
        heat.shown = (int64_t)(st->row1 - st->row0) * (st->col1 - st->col0);
    struct scene_item *it = scene_heat(b->sc, &heat);
    if (st->live && !b->bare) {
        it->hit.kind = HIT_CELLS;
        it->hit.tensor = g.tensor;
        it->hit.transposed = g.transposed;
    }
    numbers_draw(b, &g, st);
    marks_draw(b, &g, st);
}

void grid_draw(const struct brush *b, const struct grid *fitted,
               const struct grid_style *st)
{
    if (!b->decoding) {
        part_draw(b, fitted, st);
        return;
    }
    struct grid_style there = *st, cached, added;
    pass_cut(b, fitted, &there);
    if (pass_cached(b, fitted, &there, &cached, &added)) part_draw(b, fitted, &cached);
    struct grid lane = pass_lane(b, *fitted);
    part_draw(b, &lane, &added);
}

void grid_frame(const struct brush *b, const struct grid *fitted, int row0, int row1,
                int col0, int col1)
{
    struct grid at = *fitted;
    if (b->decoding && !pass_frame(b, &at, &row0, &row1, &col0, &col1)) return;
    struct grid g = grid_on_screen(b, at);
    struct scene_rect r = grid_cells(&g, row0, row1, col0, col1);
    struct scene_rgba ink = b->theme->select;
    if (fminf(r.w, r.h) < line_instead) { /* a line of the crosshair */
        float x = r.x + r.w / 2, y = r.y + r.h / 2;
        if (r.h < line_instead)
            (void)scene_line(b->sc, r.x, y, r.x + r.w, y, line_width, ink);
        else
            (void)scene_line(b->sc, x, r.y, x, r.y + r.h, line_width, ink);
        return;
    }
    bool large = fminf(g.cell_w, g.cell_h) >= cell_apart;
    float grow = large ? frame_out : 1;
    r = (struct scene_rect){r.x - grow, r.y - grow, r.w + 2 * grow, r.h + 2 * grow};
    (void)scene_border(b->sc, r, large ? radius_most + 1 : 0, large ? frame_width : 1,
                       scene_fade(b->theme->paper, 0), ink);
}

/* What of a note there is room for last. */
static const char *range_in(const char *note)
{
    const char *range = strstr(note, "\u00B1");
    return range ? range : note;
}

/* The shape and the note, or less of them, in `room` points; size and the gap before it
 * become smaller before the range is left out. "": not even that. */
static const char *fit_note(struct scene *sc, const char *shape, const char *note,
                            float room, float *size, float *by)
{
    static const float small = 9.5f, least = 8.5f;
    const float usual = *size, apart = *by;
    const char *range = range_in(note);
    const char *const says[] = {*note ? scene_print(sc, "%s %s", shape, note) : shape,
                                *note ? scene_print(sc, "%s %s", shape, range) : shape,
                                range};
    for (int k = 0; k < 7; k++) {
        *size = k < 3 ? usual : k < 6 ? small : least;
        *by = k < 6 ? apart : apart / 2;
        const char *text = k < 6 ? says[k % 3] : range;
        if (font_width(sc->font, FONT_MONO, *size, text, -1) <= room - *by && *text)
            return text;
    }
    return "";
}

void grid_label(const struct brush *b, const struct grid *fitted, bool below,
                const char *name, struct scene_rgba color, const char *note, float alpha)
{
    static const float below_by = 22, above_by = 9, size = 14, note_size = 12;
    static const float note_small = 9.5f, apart = 8;
    static const float reach = 4; /* a label may end so far right of its matrix: the
                                   * canvas has that much left, too */
    struct scene *sc = b->sc;
    struct grid g = grid_on_screen(b, *fitted);
    float y = below ? g.y + grid_h(&g) + below_by : g.y - above_by;
    /* A label stays at the canvas's edge when its matrix reaches beyond. */
    y = fminf(fmaxf(y, b->canvas.y + 14), b->canvas.y + b->canvas.h - 6);
    float x = fmaxf(g.x, b->canvas.x + 2);
    if (x > b->canvas.x + b->canvas.w - 40 || x > g.x + grid_w(&g)) return;
    float w = font_width(sc->font, FONT_UI_BOLD, size, name, -1);
    int rows = g.rows, cols = g.cols;
    if (b->decoding) pass_size(b, fitted, &rows, &cols);
    const char *shape = scene_print(sc, "[%d\u00D7%d]", rows, cols);
    float end = fminf(g.x + grid_w(&g) + reach, b->canvas.x + b->canvas.w);
    float noted = note_size;
    float by = apart;
    shape = fit_note(sc, shape, note, end - x - w, &noted, &by);
    if (!below && !*shape) { /* under the matrix */
        const char *range = range_in(note);
        float under = g.y + grid_h(&g) + 2 + note_small;
        if (font_width(sc->font, FONT_MONO, note_small, range, -1) <= end - x)
            (void)scene_text(sc, x, under, ALIGN_LEFT, FONT_MONO, note_small,
                             scene_fade(b->theme->ink_faint, alpha), range);
    }
    float all = w + by + font_width(sc->font, FONT_MONO, noted, shape, -1);
    if (b->view.zoom > 1) /* over numbers: on paper of its own */
        (void)scene_rect(sc, (struct scene_rect){x - 4, y - 14, all + 8, 20}, 4,
                         scene_fade(b->theme->paper, alpha * 0.92f));
    (void)scene_text(sc, x, y, ALIGN_LEFT, FONT_UI_BOLD, size, scene_fade(color, alpha),
                     name);
    if (*shape)
        (void)scene_text(sc, x + w + by, y, ALIGN_LEFT, FONT_MONO, noted,
                         scene_fade(b->theme->ink_faint, alpha), shape);
}

void grid_ramp(const struct brush *b, float x, float y, float w, float size,
               enum scene_map map, float lo, float hi)
{
    bool sequential = map == MAP_SEQUENTIAL;
    (void)ramp_draw(b->sc, b->theme,
                    &(struct ramp){.x = x,
                                   .y = y,
                                   .w = w,
                                   .size = size,
                                   .map = map,
                                   .lo = lo,
                                   .hi = hi,
                                   .log = b->s->log_weights && sequential,
                                   .least = sequential ? b->s->least_weight : 0,
                                   .decimals = 2});
}

void grid_legend(const struct brush *b, const struct grid *beside, enum scene_map map,
                 float lo, float hi)
{
    static const float w = 120, h = RAMP_H, inset = 14, size = 11;
    float x = b->canvas.x + b->canvas.w - w - 4;
    float y =
        fminf(b->canvas.y + b->canvas.h - h - inset - 2, beside->y + grid_h(beside) + 6);
    if (b->view.zoom > 1)
        (void)scene_rect(b->sc, (struct scene_rect){x - 8, y - 6, w + 16, h + inset + 10},
                         4, scene_fade(b->theme->paper, 0.94f));
    grid_ramp(b, x, y, w, size, map, lo, hi);
}
