/* Draws the stage in view: title, matrices in motion, caption. Knows matrices and motions;
 * which stage has which is in stages.c, where they lie in layout.c. */
#include "grid.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Type and spacing of the stage's head and foot, in points. */
static const float head_x = 32, title_y = 48, title_size = 24, formula_y = 77;
static const float formula_size = 15, shapes_size = 13, shapes_gap = 22;
static const float caption_size = 16, caption_leading = 24.5f, caption_up = 92;
static const float caption_size_small = 14, caption_leading_small = 20;
static const float cost_size = 12, cost_up = 18, canvas_inset_small = 22;

/* The cell or line that the frames point at. -1: none. */
struct focus {
    int row, col, group;
    bool moving; /* the animation's own, not the pointer's */
};

struct stage {
    struct brush b;
    const struct stage_spec *spec;
    struct layout l;
    struct step_clock clock;
    struct step_beat beat;
    struct focus f;
    struct attn_dims d;
    bool done; /* the animation has come to its end */
};

int scene_terms(float part, int k)
{
    int n = (int)ceilf(part * (float)k);
    return n < 0 ? 0 : n > k ? k : n;
}

/* ---- focus ------------------------------------------------------------------------------- */

static bool same_as(const struct grid *g, struct step_ref ref)
{
    return g->tensor == ref.tensor && ref.tensor != ATTN_TENSOR_COUNT;
}

/* The scores before and after a stage are the same place on screen. */
static bool is_score(enum attn_tensor t)
{
    return t == ATTN_S_RAW || t == ATTN_S_SCALED || t == ATTN_S_MASKED || t == ATTN_P;
}

static bool focus_from(const struct stage *st, struct step_ref ref, struct focus *f)
{
    const struct layout *l = &st->l;
    if (ref.tensor == ATTN_TENSOR_COUNT) return false;
    for (int g = 0; g < st->spec->n_group; g++) {
        const struct grid *r = &l->right[g], *out = &l->result[g];
        bool hit = same_as(out, ref) || (is_score(out->tensor) && is_score(ref.tensor)) ||
                   (st->spec->adds && ref.tensor == st->spec->sum);
        if (hit) {
            *f = (struct focus){ref.row, ref.col, g, false};
            return true;
        }
        if (same_as(r, ref)) {
            *f = (struct focus){-1, r->transposed ? ref.row : ref.col, g, false};
            return true;
        }
    }
    if (same_as(&l->left, ref) || (st->spec->adds && ref.tensor == st->spec->added)) {
        *f = (struct focus){ref.row, -1, 0, false};
        return true;
    }
    return false;
}

static struct focus focus_of(const struct stage *st)
{
    struct focus f = {st->b.place->row, -1, 0, false};
    if (focus_from(st, st->b.s->hover, &f)) return f;
    if (!st->done && st->spec->motion == MOTION_DOT && st->beat.at < st->clock.n_beat &&
        st->beat.intro >= 1) {
        f.moving = true;
        f.row = st->beat.at / st->clock.beats_a_row;
        f.col = st->clock.beats_a_row > 1 ? st->beat.at % st->clock.beats_a_row : -1;
        return f;
    }
    if (!st->done && st->beat.intro >= 1 && st->beat.at < st->clock.n_beat &&
        (st->spec->motion == MOTION_SOFTMAX || st->spec->motion == MOTION_BLEND)) {
        f.moving = true;
        f.row = st->beat.at;
        return f;
    }
    (void)focus_from(st, st->b.place->pin, &f);
    return f;
}

/* ---- parts that motions share --------------------------------------------------------------- */

static const char *range_note(const struct stage *st, enum attn_tensor t,
                              const char *text)
{
    struct scene *sc = st->b.sc;
    float hi = st->b.src->trace->stats[t].max_abs;
    return scene_print(sc, "%s%s\u00B1%s", text, *text ? " " : "",
                       scene_number(sc, hi, 2));
}

static struct scene_rgba tensor_color(const struct scene_theme *t, enum attn_tensor id)
{
    switch (id) {
    case ATTN_W_Q:
    case ATTN_Q:
        return t->q;
    case ATTN_W_K:
    case ATTN_K:
        return t->k;
    case ATTN_W_V:
    case ATTN_V:
        return t->v;
    case ATTN_Z:
    case ATTN_Z_ALL:
        return t->o;
    case ATTN_P:
        return t->accent;
    default:
        return t->ink;
    }
}

static struct grid_style weights_style(const struct stage *st, const struct grid *g)
{
    struct grid_style style = grid_style(&st->b, g);
    style.map = MAP_SEQUENTIAL;
    style.lo = 0;
    style.hi = 1;
    style.masked_zero = true;
    if (st->b.causal) style.mask_from = 1;
    return style;
}

static bool large_cells(const struct stage *st, const struct grid *g)
{
    return fminf(g->cell_w, g->cell_h) * st->b.view.zoom >= 14;
}

static void operands_draw(const struct stage *st, float alpha)
{
    const struct layout *l = &st->l;
    struct grid_style left = st->spec->left == ATTN_P ? weights_style(st, &l->left)
                                                      : grid_style(&st->b, &l->left);
    left.alpha = alpha;
    left.focus_row = st->f.row;
    left.dims = st->f.row >= 0 && large_cells(st, &l->left);
    grid_draw(&st->b, &l->left, &left);
    for (int g = 0; g < st->spec->n_group; g++) {
        struct grid_style right = grid_style(&st->b, &l->right[g]);
        right.alpha = alpha;
        right.focus_col = st->f.group == g ? st->f.col : -1;
        right.dims = right.focus_col >= 0 && large_cells(st, &l->right[g]);
        grid_draw(&st->b, &l->right[g], &right);
    }
}

/* Frames around the row asked, the column asked, and what they give; short leaders show
 * which way they meet. */
static void frames_draw(const struct stage *st, bool operands)
{
    const struct brush *b = &st->b;
    const struct focus *f = &st->f;
    const struct grid *out = &st->l.result[f->group];
    const struct grid *right = &st->l.right[f->group];
    if (f->row >= 0 && operands)
        grid_frame(b, &st->l.left, f->row, f->row + 1, 0, st->l.left.cols);
    if (f->col >= 0 && operands) grid_frame(b, right, 0, right->rows, f->col, f->col + 1);
    if (f->row >= 0 && f->col >= 0)
        grid_frame(b, out, f->row, f->row + 1, f->col, f->col + 1);
    else if (f->row >= 0 && !f->moving)
        for (int g = 0; g < st->spec->n_group; g++) {
            const struct grid *o = &st->l.result[g];
            grid_frame(b, o, f->row, f->row + 1, 0, o->cols);
        }
    else if (f->col >= 0)
        grid_frame(b, out, 0, out->rows, f->col, f->col + 1);
    if (!operands || f->row < 0 || f->col < 0) return;
    struct grid o = grid_on_screen(b, *out), l = grid_on_screen(b, st->l.left);
    struct grid r = grid_on_screen(b, *right);
    float y = o.y + ((float)f->row + 0.5f) * o.cell_h;
    float x = o.x + ((float)f->col + 0.5f) * o.cell_w;
    struct scene_rgba row_ink = b->theme->q, col_ink = b->theme->k;
    if (f->group == 0 && l.x + grid_w(&l) + 6 < o.x)
        scene_line(b->sc, l.x + grid_w(&l) + 4, y, o.x - 3, y, 1.5f, row_ink)
            ->u.line.dash = 4;
    if (r.y + grid_h(&r) + 6 < o.y)
        scene_line(b->sc, x, r.y + grid_h(&r) + 4, x, o.y - 3, 1.5f, col_ink)
            ->u.line.dash = 4;
}

/* Crosshair over a large matrix: the row, and the column under the pointer. */
static void crosshair_draw(const struct stage *st)
{
    const struct brush *b = &st->b;
    struct grid o = grid_on_screen(b, st->l.result[st->f.group]);
    if (st->f.row < 0 || large_cells(st, &st->l.result[0])) return;
    if (st->f.col < 0) return;
    float x = o.x + ((float)st->f.col + 0.5f) * o.cell_w;
    float y = o.y + ((float)st->f.row + 0.5f) * o.cell_h;
    struct scene_rgba soft = scene_fade(b->theme->ink, 0.45f);
    (void)scene_line(b->sc, x, o.y, x, o.y + grid_h(&o), 1, soft);
    (void)scene_line(b->sc, o.x, y, o.x + grid_w(&o), y, 1, soft);
}

/* ---- MOTION_DOT ------------------------------------------------------------------------------- */

static int64_t cells_shown(const struct stage *st, const struct grid *g)
{
    if (st->done || st->beat.at >= st->clock.n_beat) return INT64_MAX;
    if (st->clock.beats_a_row > 1) return st->beat.at;
    return (int64_t)st->beat.at * g->cols + (int64_t)(st->beat.part * (float)g->cols);
}

/* The cell in the making shows the sum of the terms so far. */
static void running_cell_draw(const struct stage *st, int group)
{
    const struct layout *l = &st->l;
    struct attn_cmat a = scene_tensor_view(st->b.src, l->left.tensor);
    struct attn_cmat w = scene_tensor_view(st->b.src, l->right[group].tensor);
    const struct grid *out = &l->result[group];
    float *sum = arena_push(st->b.sc->mem, 1, sizeof *sum);
    if (!sum || !a.data || !w.data) return;
    int n = scene_terms(st->beat.part, a.cols);
    for (int k = 0; k < n; k++) {
        size_t at = st->spec->right_transposed
                        ? (size_t)st->f.col * (size_t)w.ld + (size_t)k
                        : (size_t)k * (size_t)w.ld + (size_t)st->f.col;
        *sum += a.data[(size_t)st->f.row * (size_t)a.ld + (size_t)k] * w.data[at];
    }
    struct grid one = *out;
    one.x += (float)st->f.col * one.cell_w;
    one.y += (float)st->f.row * one.cell_h;
    one.rows = one.cols = 1;
    struct grid_style style = grid_style(&st->b, out);
    style.m = (struct attn_cmat){sum, 1, 1, 1};
    style.key = 0;
    style.row1 = style.col1 = 1;
    style.live = false;
    if (n > 0) grid_draw(&st->b, &one, &style);
}

static void heads_labels(const struct stage *st, float alpha)
{
    const struct brush *b = &st->b;
    struct grid g = grid_on_screen(b, st->l.left);
    int n = st->d.n_head, d_head = st->d.d_model / n;
    float w = (float)d_head * g.cell_w;
    struct scene_rgba ink = scene_fade(b->theme->o, alpha);
    for (int h = 0; h < n; h++) {
        float x = g.x + (float)h * w;
        const char *full = scene_print(b->sc, "head %d", h + 1);
        const char *text = scene_print(b->sc, "%d", h + 1);
        bool fits = font_width(b->sc->font, FONT_UI_BOLD, 12, full, -1) < w - 6;
        bool room = fits || font_width(b->sc->font, FONT_UI_BOLD, 11, text, -1) < w - 2;
        struct scene_rgba on = h == st->b.place->head ? ink : scene_fade(ink, 0.75f);
        if (room)
            (void)scene_text(b->sc, x + w / 2, g.y - 12, ALIGN_CENTER, FONT_UI_BOLD,
                             fits ? 12 : 11, on, fits ? full : text);
        if (h > 0)
            (void)scene_line(b->sc, x, g.y - 8, x, g.y + grid_h(&g) + 6,
                             large_cells(st, &g) ? 2 : 1, ink);
    }
}

/* Stage 7's left operand: every head's O slides from where stage 6 left it. */
static void heads_slide_draw(const struct stage *st, float t)
{
    struct layout from = scene_layout(ATTN_WEIGHTED_SUM, st->d, st->b.canvas);
    int n = st->d.n_head, d_head = st->d.d_model / n;
    for (int h = 0; h < n; h++) {
        struct grid to = st->l.left, start = from.result[0];
        float home = (float)(h * d_head);
        to.x += home * to.cell_w;
        start.x += (float)(h - st->b.place->head) * (grid_w(&start) + 20);
        struct grid at = grid_between(start, to, t);
        at.x -= home * at.cell_w;
        at.tensor = ATTN_Z_ALL;
        at.cols = st->d.d_model;
        struct grid_style style = grid_style(&st->b, &at);
        style.col0 = h * d_head;
        style.col1 = style.col0 + d_head;
        style.alpha = h == st->b.place->head ? 1 : t;
        style.live = false;
        grid_draw(&st->b, &at, &style);
    }
}

static void result_draw(const struct stage *st, int group)
{
    struct grid g = st->l.result[group];
    const struct stage_spec *spec = st->spec;
    bool sum = spec->adds && st->b.s->opts.residual && st->beat.outro >= 1;
    if (spec->adds && (sum || !st->b.s->opts.residual)) g.tensor = spec->sum;
    struct grid_style style = grid_style(&st->b, &g);
    style.shown = cells_shown(st, &g);
    bool whole_row = st->f.row >= 0 && st->f.col < 0 && !st->f.moving;
    style.focus_row = whole_row ? st->f.row : -1;
    style.dims = whole_row && large_cells(st, &g);
    grid_draw(&st->b, &g, &style);
}

/* + h: it waits in the corner, slides over the product and the sum stands there. */
static void added_draw(const struct stage *st, float alpha)
{
    if (!st->b.s->opts.residual) return;
    float u = step_ease(fminf(st->beat.outro / 0.7f, 1));
    struct grid home = st->l.added;
    struct grid_style style = grid_style(&st->b, &home);
    style.focus_row = st->f.row;
    style.dims = st->f.row >= 0 && large_cells(st, &home);
    style.alpha = alpha;
    grid_draw(&st->b, &home, &style);
    grid_label(&st->b, &home, false, "+ h", st->b.theme->ink,
               range_note(st, ATTN_H, "residual stream,"), alpha);
    if (st->beat.outro <= 0 || st->beat.outro >= 1) return;
    struct grid to = st->l.result[0];
    to.tensor = ATTN_H;
    struct grid moving = grid_between(home, to, u);
    style = grid_style(&st->b, &moving);
    style.alpha = 0.75f;
    style.figures = u < 1;
    style.live = false;
    grid_draw(&st->b, &moving, &style);
}

static void motion_dot(struct stage *st)
{
    const struct layout *l = &st->l;
    const struct scene_theme *t = st->b.theme;
    float in = step_ease(st->beat.intro);
    bool slides = st->spec->left == ATTN_Z_ALL && in < 1;
    if (slides) {
        struct focus f = st->f;
        heads_slide_draw(st, in);
        struct grid_style right = grid_style(&st->b, &l->right[0]);
        right.alpha = in;
        grid_draw(&st->b, &l->right[0], &right);
        st->f = f;
    } else {
        operands_draw(st, st->spec->left == ATTN_Z_ALL ? 1 : 0.25f + 0.75f * in);
    }
    for (int g = 0; g < st->spec->n_group; g++) {
        result_draw(st, g);
        if (st->f.moving && st->f.col >= 0) running_cell_draw(st, g);
    }
    if (st->spec->adds) added_draw(st, in);
    if (in >= 1) frames_draw(st, true);
    crosshair_draw(st);

    const char *note = st->spec->left == ATTN_X ? "after ln_1," : "";
    grid_row_tokens(&st->b, &l->left, in);
    grid_label(&st->b, &l->left, true, scene_tensor_name(l->left.tensor),
               tensor_color(t, l->left.tensor), range_note(st, l->left.tensor, note), 1);
    if (st->spec->left == ATTN_Z_ALL) heads_labels(st, in);
    for (int g = 0; g < st->spec->n_group; g++) {
        enum attn_tensor r = l->right[g].tensor, o = l->result[g].tensor;
        bool keys = st->spec->right_transposed;
        if (keys) {
            grid_col_tokens(&st->b, &l->right[g], in);
        } else {
            grid_label(
                &st->b, &l->right[g], false, scene_tensor_name(r), tensor_color(t, r),
                l->right[g].cell_w * (float)l->right[g].cols > 150 ? range_note(st, r, "")
                                                                   : "",
                in);
        }
        bool sum = st->spec->adds && (st->beat.outro >= 1 || !st->b.s->opts.residual);
        if (sum) o = st->spec->sum;
        grid_label(&st->b, &l->result[g], true, scene_tensor_name(o), tensor_color(t, o),
                   grid_w(&l->result[g]) > 150
                       ? range_note(st, o,
                                    sum && st->b.s->opts.residual
                                        ? "back on the residual stream,"
                                        : "")
                       : "",
                   1);
    }
}

/* K stands on its side, so its name goes to its right. */
static void key_label(const struct stage *st, float alpha)
{
    struct grid g = grid_on_screen(&st->b, st->l.right[0]);
    struct scene *sc = st->b.sc;
    float x = g.x + grid_w(&g) + 14, y = g.y + 18;
    if (alpha <= 0 || x + 90 > st->b.canvas.x + st->b.canvas.w) return;
    (void)scene_text(sc, x, y, ALIGN_LEFT, FONT_UI_BOLD, 14,
                     scene_fade(st->b.theme->k, alpha), "K\u1D40");
    (void)scene_text(sc, x + 26, y, ALIGN_LEFT, FONT_MONO, 12,
                     scene_fade(st->b.theme->ink_faint, alpha),
                     scene_print(sc, "[%d\u00D7%d]", g.rows, g.cols));
}

/* ---- the score grid, stages 2 to 5 ---------------------------------------------------------- */

/* Operands go, tokens come close to the grid: e runs 0..1 at the start of stage 3. */
static void score_surroundings(struct stage *st, float e, const char *name,
                               enum scene_map map, float lo, float hi)
{
    const struct layout *l = &st->l;
    if (e < 1) {
        struct focus f = st->f;
        st->f = (struct focus){-1, -1, 0, false};
        operands_draw(st, 1 - e);
        st->f = f;
    }
    key_label(st, 1 - e);
    struct grid rows = l->left, cols = l->right[0], out = l->result[0];
    rows.x += (out.x - rows.x) * e;
    cols.y += (out.y - cols.y) * e;
    grid_row_tokens(&st->b, &rows, 1);
    grid_col_tokens(&st->b, &cols, 1);
    grid_label(&st->b, &out, true, name, tensor_color(st->b.theme, out.tensor), "", 1);
    struct grid on = grid_on_screen(&st->b, out);
    grid_legend(&st->b, &on, map, lo, hi);
}

static void score_range(const struct stage *st, float *lo, float *hi)
{
    *hi = st->b.src->trace->stats[ATTN_S_RAW].max_abs;
    if (!(*hi > 0)) *hi = 1;
    *lo = -*hi;
}

/* One colour range from before to after: the fading is the effect. */
static void motion_fade(struct stage *st)
{
    struct grid g = st->l.result[0];
    float lo, hi, t = st->done ? 1 : st->beat.part;
    score_range(st, &lo, &hi);
    float u = step_ease(fminf(fmaxf((t - 0.2f) / 0.7f, 0), 1));
    float after =
        st->b.s->opts.scale ? 1.0f / sqrtf((float)(st->d.d_model / st->d.n_head)) : 1.0f;
    if (u < 1) g.tensor = ATTN_S_RAW;
    struct grid_style style = grid_style(&st->b, &g);
    style.lo = lo;
    style.hi = hi;
    if (u < 1) style.gain = 1 + (after - 1) * u;
    grid_draw(&st->b, &g, &style);
    frames_draw(st, false);
    crosshair_draw(st);
    score_surroundings(st, step_ease(fminf(t / 0.15f, 1)), "S", MAP_DIVERGING, lo, hi);
}

static void motion_diagonal(struct stage *st)
{
    struct grid g = st->l.result[0];
    float lo, hi;
    int n = st->d.n_tok;
    score_range(st, &lo, &hi);
    if (!st->done) g.tensor = ATTN_S_SCALED;
    struct grid_style style = grid_style(&st->b, &g);
    style.lo = lo;
    style.hi = hi;
    if (st->b.causal) {
        int gone = st->done ? n - 1 : st->beat.at + (st->beat.part >= 0.5f);
        style.mask_from = n - gone < 1 ? 1 : n - gone;
    }
    grid_draw(&st->b, &g, &style);
    frames_draw(st, false);
    crosshair_draw(st);
    score_surroundings(st, 1, "S", MAP_DIVERGING, lo, hi);
}

/* One row between s and its weights: first exp(s - max), then divided by the sum. */
static void softmax_row_draw(const struct stage *st, int row, float part)
{
    struct grid g = st->l.result[0];
    struct attn_cmat s = scene_tensor_view(st->b.src, ATTN_S_MASKED);
    int n = st->d.n_tok;
    float *e = arena_push(st->b.sc->mem, (size_t)n, sizeof *e);
    if (!e || !s.data) return;
    struct attn_row r =
        attn_row_explain(st->b.src->attn, e, s.data + (size_t)row * (size_t)s.ld, n);
    float divide = step_ease(fminf(fmaxf((part - 0.5f) * 2, 0), 1));
    float by = 1 + ((r.sum > 0 ? r.sum : 1) - 1) * divide;
    for (int j = 0; j < n; j++) e[j] /= by;
    g.y += (float)row * g.cell_h;
    g.rows = 1;
    struct grid_style style = weights_style(st, &g);
    style.m = (struct attn_cmat){e, 1, n, n};
    style.key = 0;
    style.row1 = 1;
    style.live = false;
    if (st->b.causal) style.mask_from = row + 1; /* the row is drawn as row 0 */
    style.alpha = step_ease(fminf(part * 2, 1));
    grid_draw(&st->b, &g, &style);
}

static void row_sums_draw(const struct stage *st, int rows_done)
{
    struct grid g = grid_on_screen(&st->b, st->l.result[0]);
    struct attn_cmat p = scene_tensor_view(st->b.src, ATTN_P);
    float x = g.x + grid_w(&g) + 16;
    if (!large_cells(st, &st->l.result[0]) || x + 60 > st->b.canvas.x + st->b.canvas.w)
        return;
    for (int i = 0; i < g.rows; i++) {
        double sum = 0;
        for (int j = 0; j < p.cols; j++)
            sum += (double)p.data[(size_t)i * (size_t)p.ld + (size_t)j];
        const char *text = i < rows_done ? scene_print(st->b.sc, "\u03A3 = %.4g", sum)
                                         : "\u03A3 = \u2026";
        (void)scene_text(st->b.sc, x, g.y + ((float)i + 0.5f) * g.cell_h + 4, ALIGN_LEFT,
                         FONT_MONO, 12, st->b.theme->ink_faint, text);
    }
}

static void motion_softmax(struct stage *st)
{
    struct grid g = st->l.result[0];
    float lo, hi;
    score_range(st, &lo, &hi);
    int n = st->d.n_tok, done = st->done ? n : st->beat.at;
    struct grid_style after = weights_style(st, &g);
    after.row1 = done;
    grid_draw(&st->b, &g, &after);
    struct grid before = g;
    before.tensor = ATTN_S_MASKED;
    struct grid_style style = grid_style(&st->b, &before);
    style.lo = lo;
    style.hi = hi;
    style.row0 = done;
    if (st->b.causal) style.mask_from = 1;
    bool busy = done < n && st->beat.part > 0;
    if (busy) { /* the row in the making is drawn alone, so that its figures do not double */
        struct grid_style one = style;
        one.row1 = done + 1;
        one.figures = st->beat.part < 0.25f;
        grid_draw(&st->b, &before, &one);
        softmax_row_draw(st, done, st->beat.part);
        style.row0 = done + 1;
    }
    grid_draw(&st->b, &before, &style);
    row_sums_draw(st, done);
    if (st->f.row >= 0) {
        struct focus f = st->f;
        if (f.moving) st->f.moving = false; /* the row at work has its frame */
        frames_draw(st, false);
        st->f = f;
    }
    crosshair_draw(st);
    score_surroundings(st, 1, "A", MAP_SEQUENTIAL, 0, 1);
}

/* ---- MOTION_BLEND ------------------------------------------------------------------------------ */

static const float strip_w = 10, strip_gap = 8;

/* The row whose weights stand beside V. */
static int blend_row(const struct stage *st)
{
    return st->f.row >= 0 ? st->f.row : st->b.place->row;
}

static void strip(const struct stage *st, const struct grid *g, int row,
                  struct scene_rgba color)
{
    float x = g->x + grid_w(g) + strip_gap;
    float h = fminf(g->cell_h * 0.8f, 40);
    (void)scene_rect(st->b.sc,
                     (struct scene_rect){
                         x, g->y + ((float)row + 0.5f) * g->cell_h - h / 2, strip_w, h},
                     fminf(2, h / 3), color);
}

static struct scene_rgba blended(const float *rgb)
{
    uint8_t c[3];
    for (int k = 0; k < 3; k++) { /* linear light to sRGB, IEC 61966-2-1 */
        float v = fminf(fmaxf(rgb[k], 0), 1);
        v = v <= 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
        c[k] = (uint8_t)lrintf(255 * v);
    }
    return (struct scene_rgba){c[0], c[1], c[2], 255};
}

/* Colour of O's rows: their sources' hues mixed by their weights. Where rows are narrower
 * than a point, each point shows the mean of the rows below it, still in linear light. */
static void blend_strips(const struct stage *st, int rows_done)
{
    struct grid g = grid_on_screen(&st->b, st->l.result[0]);
    const float *blend = st->b.src->blend;
    if (!blend) return;
    if (g.cell_h >= 2) {
        for (int i = 0; i < rows_done; i++) {
            float y = g.y + (float)i * g.cell_h;
            if (y + g.cell_h < st->b.canvas.y || y > st->b.canvas.y + st->b.canvas.h)
                continue;
            strip(st, &g, i, blended(blend + 3 * i));
        }
        return;
    }
    float x = g.x + grid_w(&g) + strip_gap;
    int lines = (int)ceilf(grid_h(&g) / 2);
    for (int k = 0; k < lines; k++) {
        int i0 = (int)(2 * (float)k / g.cell_h),
            i1 = (int)ceilf(2 * (float)(k + 1) / g.cell_h);
        if (i1 > rows_done) i1 = rows_done;
        if (i0 >= i1) break;
        float mean[3] = {0};
        for (int i = i0; i < i1; i++)
            for (int c = 0; c < 3; c++) mean[c] += blend[3 * i + c] / (float)(i1 - i0);
        (void)scene_rect(st->b.sc, (struct scene_rect){x, g.y + 2 * (float)k, strip_w, 2},
                         0, blended(mean));
    }
}

/* Beside each row of V: its token's hue and the weight that row r gives it. */
static void value_weights(const struct stage *st, int row, float arrived)
{
    struct grid v = grid_on_screen(&st->b, st->l.right[0]);
    struct attn_cmat p = scene_tensor_view(st->b.src, ATTN_P);
    struct scene *sc = st->b.sc;
    if (v.cell_h < 3) return;
    float x = v.x + grid_w(&v) + strip_gap;
    for (int j = 0; j < v.rows; j++) {
        float y = v.y + ((float)j + 0.5f) * v.cell_h;
        if (y < st->b.canvas.y || y > st->b.canvas.y + st->b.canvas.h) continue;
        bool visible = !st->b.causal || j <= row;
        struct scene_rgba hue = scene_token_hue(j);
        strip(st, &v, j, visible ? hue : scene_fade(hue, 0.2f));
        if (!visible || arrived < 1 || v.cell_h < 14 || st->b.bare) continue;
        float w = p.data[(size_t)row * (size_t)p.ld + (size_t)j];
        struct scene_rgba ink = scene_mix(st->b.theme->ink, hue, 0.8f);
        (void)scene_text(sc, x + strip_w + 8, y + 4.5f, ALIGN_LEFT, FONT_MONO, 12.5f, ink,
                         scene_print(sc, "\u00D7 %s", scene_number(sc, w, 2)));
    }
}

/* First half of a beat: each weight flies from A to its row of V. Second half: the scaled
 * rows come down into row r of O. */
static void blend_flight(const struct stage *st)
{
    const struct brush *b = &st->b;
    int row = st->beat.at;
    struct attn_cmat p = scene_tensor_view(b->src, ATTN_P);
    struct grid a = grid_on_screen(b, st->l.left), v = grid_on_screen(b, st->l.right[0]);
    struct grid o = grid_on_screen(b, st->l.result[0]);
    if (!large_cells(st, &st->l.left)) return;
    float fly = step_ease(fminf(st->beat.part * 2, 1));
    float fall = step_ease(fminf(fmaxf(st->beat.part * 2 - 1, 0), 1));
    int last = b->causal ? row : p.cols - 1;
    for (int j = 0; j <= last; j++) {
        float w = p.data[(size_t)row * (size_t)p.ld + (size_t)j];
        struct scene_rgba hue = scene_token_hue(j);
        if (fall <= 0) {
            float x0 = a.x + (float)j * a.cell_w, y0 = a.y + (float)row * a.cell_h;
            float x1 = v.x + grid_w(&v) + strip_gap,
                  y1 = v.y + ((float)j + 0.5f) * v.cell_h - 10;
            struct scene_rect box = {x0 + (x1 - x0) * fly, y0 + (y1 - y0) * fly, 46, 20};
            (void)scene_rect(b->sc, box, 5, scene_fade(hue, 0.92f));
            (void)scene_text(b->sc, box.x + 23, box.y + 14.5f, ALIGN_CENTER, FONT_MONO,
                             12, scene_ink_on(b->theme, hue), scene_number(b->sc, w, 2));
        } else {
            float y0 = v.y + (float)j * v.cell_h, y1 = o.y + (float)row * o.cell_h;
            struct scene_rect box = {v.x, y0 + (y1 - y0) * fall + 2, grid_w(&v),
                                     v.cell_h - 4};
            (void)scene_rect(b->sc, box, 4, scene_fade(hue, 0.15f + 0.55f * w));
        }
    }
}

static void motion_blend(struct stage *st)
{
    const struct layout *l = &st->l;
    const struct brush *b = &st->b;
    float in = step_ease(st->beat.intro);
    int done = st->done ? st->d.n_tok : st->beat.at;
    /* A is the score grid of stage 5, sliding to the left. */
    struct layout was = scene_layout(ATTN_SOFTMAX, st->d, b->canvas);
    struct grid a = grid_between(was.result[0], l->left, in);
    a.tensor = ATTN_P;
    struct grid_style weights = weights_style(st, &a);
    weights.focus_row = in >= 1 ? st->f.row : -1;
    weights.dims = weights.focus_row >= 0 && large_cells(st, &a);
    grid_draw(b, &a, &weights);
    struct grid_style values = grid_style(b, &l->right[0]);
    values.alpha = in;
    values.focus_col = st->f.col;
    values.dims = st->f.col >= 0 && large_cells(st, &l->right[0]);
    grid_draw(b, &l->right[0], &values);
    struct grid_style out = grid_style(b, &l->result[0]);
    bool sweeping = !large_cells(st, &l->result[0]);
    out.shown =
        st->done
            ? INT64_MAX
            : (int64_t)done * l->result[0].cols +
                  (sweeping ? (int64_t)(st->beat.part * (float)l->result[0].cols) : 0);
    out.alpha = fmaxf(in, 0.01f);
    out.focus_row = st->f.moving ? -1 : st->f.row;
    out.dims = !st->f.moving && st->f.row >= 0 && large_cells(st, &l->result[0]);
    grid_draw(b, &l->result[0], &out);
    if (in >= 1) {
        value_weights(st, blend_row(st), st->f.moving ? st->beat.part * 2 : 1);
        blend_strips(st, done);
        frames_draw(st, true);
        if (st->f.moving) blend_flight(st);
    }
    crosshair_draw(st);
    grid_row_tokens(b, &a, 1);
    grid_row_tokens(b, &l->right[0], in);
    grid_label(b, &a, true, "A", b->theme->accent, b->s->log_weights ? "log" : "", 1);
    grid_label(b, &l->right[0], false, "V", b->theme->v, range_note(st, ATTN_V, ""), in);
    grid_label(b, &l->result[0], true, "O", b->theme->o, range_note(st, ATTN_Z, ""), in);
}

/* ---- the whole stage ------------------------------------------------------------------------------ */

static void head_draw(const struct stage *st, const struct stage_words *w)
{
    struct scene *sc = st->b.sc;
    const struct scene_rect *f = &sc->frame.stage;
    const struct scene_theme *t = st->b.theme;
    float x = f->x + (f->w < 640 ? canvas_inset_small : head_x);
    (void)scene_text(sc, x, f->y + title_y, ALIGN_LEFT, FONT_UI_BOLD, title_size, t->ink,
                     st->spec->text.title);
    float room = f->x + f->w - x - 16;
    const char *formula = scene_fit_text(sc, FONT_MONO, formula_size, room, w->formula);
    (void)scene_text(sc, x, f->y + formula_y, ALIGN_LEFT, FONT_MONO, formula_size, t->ink,
                     formula);
    float after =
        x + font_width(sc->font, FONT_MONO, formula_size, formula, -1) + shapes_gap;
    bool heads = st->b.s->stage != ATTN_OUTPUT;
    const char *shapes =
        heads ? scene_print(sc, "%s   head %d", w->shapes, st->b.place->head + 1)
              : w->shapes;
    if (font_width(sc->font, FONT_MONO, shapes_size, shapes, -1) >
        f->x + f->w - 12 - after)
        shapes = w->shapes;
    if (font_width(sc->font, FONT_MONO, shapes_size, shapes, -1) <=
        f->x + f->w - 12 - after)
        (void)scene_text(sc, after, f->y + formula_y, ALIGN_LEFT, FONT_MONO, shapes_size,
                         t->ink_faint, shapes);
}

static void foot_draw(const struct stage *st, const struct stage_words *w)
{
    struct scene *sc = st->b.sc;
    const struct scene_rect *f = &sc->frame.stage;
    bool small = f->w < 760;
    float size = small ? caption_size_small : caption_size;
    float leading = small ? caption_leading_small : caption_leading;
    float x = f->x + (f->w < 640 ? canvas_inset_small : head_x);
    float bottom = f->y + f->h;
    float width = f->x + f->w - x - 24;
    (void)scene_paragraph(sc, x, bottom - caption_up, width, leading, FONT_UI, size,
                          st->b.theme->ink, w->caption);
    (void)scene_text(sc, x, bottom - cost_up, ALIGN_LEFT, FONT_MONO, cost_size,
                     st->b.theme->ink_faint,
                     scene_fit_text(sc, FONT_MONO, cost_size, width, w->cost));
}

static void waiting_draw(struct scene *sc, const struct scene_theme *t,
                         const struct scene_source *src, struct scene_rect canvas)
{
    float x = canvas.x + canvas.w / 2, y = canvas.y + canvas.h / 2;
    (void)scene_text(sc, x, y, ALIGN_CENTER, FONT_UI, 16, t->ink_soft,
                     "computing \u2026");
    if (src->progress < 0) return;
    struct scene_rect bar = {x - 120, y + 18, 240, 6};
    (void)scene_rect(sc, bar, 3, t->track);
    bar.w *= fminf(src->progress, 1);
    (void)scene_rect(sc, bar, 3, t->accent);
}

static bool same_dims(struct attn_dims a, struct attn_dims b)
{
    return a.n_tok == b.n_tok && a.d_model == b.d_model && a.n_head == b.n_head;
}

void scene_build(struct scene *sc, const struct step_state *s,
                 const struct scene_source *src)
{
    static void (*const motion[])(struct stage *) = {
        [MOTION_DOT] = motion_dot,           [MOTION_FADE] = motion_fade,
        [MOTION_DIAGONAL] = motion_diagonal, [MOTION_SOFTMAX] = motion_softmax,
        [MOTION_BLEND] = motion_blend,
    };
    const struct step_place *place = step_place_of(s);
    const struct scene_theme *theme = scene_theme_get(s->theme);
    struct stage st = {
        .b = {.sc = sc,
              .s = s,
              .place = place,
              .src = src,
              .theme = theme,
              .canvas = scene_canvas_of(sc->frame.stage),
              .view = place->view,
              .causal = s->opts.causal,
              .bare = !src->fits},
        .spec = &scene_stages[s->stage],
        .clock = step_clock_of(s->stage, place->dims),
        .d = place->dims,
        .done = s->time >= 1,
    };
    sc->canvas = st.b.canvas;
    st.beat = step_beat_at(&st.clock, s->time);
    struct scene_item *paper = scene_rect(sc, sc->frame.stage, 0, theme->paper);
    paper->hit.kind = HIT_CANVAS;
    bool ready = src->trace && same_dims(src->trace->dims, place->dims);
    st.f = (struct focus){-1, -1, 0, false};
    struct step_ref cell = step_no_ref();
    if (ready) {
        st.l = scene_layout(s->stage, st.d, st.b.canvas);
        st.f = focus_of(&st);
        if (st.f.row >= 0)
            cell = (struct step_ref){st.spec->result[0], st.f.row, st.f.col};
        struct scene_rect all = sc->clip;
        sc->clip = st.b.canvas;
        motion[st.spec->motion](&st);
        if (s->stage == ATTN_SCORES) {
            key_label(&st, 1);
            float lo, hi;
            score_range(&st, &lo, &hi);
            struct grid on = grid_on_screen(&st.b, st.l.result[0]);
            grid_legend(&st.b, &on, MAP_DIVERGING, lo, hi);
        }
        sc->clip = all;
    } else {
        waiting_draw(sc, theme, src, st.b.canvas);
    }
    struct stage_words w = scene_words(sc, s, src, cell);
    head_draw(&st, &w);
    foot_draw(&st, &w);
}
