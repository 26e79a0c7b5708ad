/* The score grid from stage 3 to stage 5: scaled, masked, turned into weights. It keeps its
 * place all the while. */
#include "motion.h"

#include <limits.h>
#include <math.h>

/* K stands on its side, so its name goes to its right. */
void key_label(const struct stage *st, float alpha)
{
    struct grid g = grid_on_screen(&st->b, st->l.right[0]);
    struct scene *sc = st->b.sc;
    float x = g.x + grid_w(&g) + 14, y = g.y + 18;
    if (alpha <= 0 || x + 90 > st->b.canvas.x + st->b.canvas.w) return;
    (void)scene_text(sc, x, y, ALIGN_LEFT, FONT_UI_BOLD, 14,
                     scene_fade(st->b.theme->k, alpha), "K\u1D40");
    (void)scene_text(sc, x + 26, y, ALIGN_LEFT, FONT_MONO, 12,
                     scene_fade(st->b.theme->ink_faint, alpha),
                     scene_print(sc, "[%d\u00D7%d]", g.rows, st->b.pass.to));
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

void score_range(const struct stage *st, float *lo, float *hi)
{
    *hi = st->b.src->trace->stats[ATTN_S_RAW].max_abs;
    if (!(*hi > 0)) *hi = 1;
    *lo = -*hi;
}

float fade_part(const struct stage *st)
{
    float t = st->done ? 1 : st->beat.part;
    return step_ease(fminf(fmaxf((t - 0.2f) / 0.7f, 0), 1));
}

int diagonal_from(const struct stage *st)
{
    int n = st->b.pass.to,
        gone = st->done ? n - 1 : st->beat.at + (st->beat.part >= 0.5f);
    return n - gone < st->b.mask_from ? st->b.mask_from : n - gone;
}

/* One colour range from before to after: the fading is the effect. */
void motion_fade(struct stage *st)
{
    struct grid g = st->l.result[0];
    float lo, hi, t = st->done ? 1 : st->beat.part;
    score_range(st, &lo, &hi);
    float u = fade_part(st);
    float after = (float)(1.0 / attn_divisor_of(st->b.s->opts, st->d));
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

void motion_diagonal(struct stage *st)
{
    struct grid g = st->l.result[0];
    float lo, hi;
    score_range(st, &lo, &hi);
    if (!st->done) g.tensor = ATTN_S_SCALED;
    struct grid_style style = grid_style(&st->b, &g);
    style.lo = lo;
    style.hi = hi;
    if (st->b.mask_from < INT_MAX) style.mask_from = diagonal_from(st);
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
    struct attn_row r = attn_row_explain_as(
        st->b.src->attn, e, s.data + (size_t)row * (size_t)s.ld, n, st->b.s->opts);
    float divide = step_ease(fminf(fmaxf((part - 0.5f) * 2, 0), 1));
    float by = 1 + ((r.sum > 0 ? r.sum : 1) - 1) * divide;
    for (int j = 0; j < n; j++) e[j] /= by;
    g = pass_lane(&st->b, g);
    g.y += (float)row * g.cell_h;
    g.rows = 1;
    struct grid_style style = weights_style(st, &g);
    style.m = (struct attn_cmat){e, 1, n, n};
    style.key = 0;
    style.row1 = 1;
    style.live = false;
    if (st->b.mask_from < INT_MAX) /* the row is drawn as row 0 */
        style.mask_from = row + st->b.mask_from;
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
    for (int i = st->b.pass.from; i < st->b.pass.to; i++) {
        double sum = 0;
        for (int j = 0; j < p.cols; j++)
            sum += (double)p.data[(size_t)i * (size_t)p.ld + (size_t)j];
        const char *text = i < rows_done ? scene_print(st->b.sc, "\u03A3 = %s",
                                                       scene_digits(st->b.sc, sum, 4))
                                         : "\u03A3 = \u2026";
        (void)scene_text(st->b.sc, x, g.y + ((float)i + 0.5f) * g.cell_h + 4, ALIGN_LEFT,
                         FONT_MONO, 12, st->b.theme->ink_faint, text);
    }
}

void motion_softmax(struct stage *st)
{
    struct grid g = st->l.result[0];
    float lo, hi;
    score_range(st, &lo, &hi);
    int n = st->b.pass.to, done = st->done ? n : st->clock.row0 + st->beat.at;
    struct grid_style after = weights_style(st, &g);
    after.row1 = done;
    grid_draw(&st->b, &g, &after);
    struct grid before = g;
    before.tensor = ATTN_S_MASKED;
    struct grid_style style = grid_style(&st->b, &before);
    style.lo = lo;
    style.hi = hi;
    style.row0 = done;
    style.mask_from = st->b.mask_from;
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
    if (st->f.row >= 0 || several_rows(st)) {
        struct focus f = st->f;
        if (f.moving) st->f.moving = false; /* the row at work has its frame */
        frames_draw(st, false);
        st->f = f;
    }
    crosshair_draw(st);
    score_surroundings(st, 1, "A", MAP_SEQUENTIAL, after.lo, after.hi);
}
