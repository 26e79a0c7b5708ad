/* MOTION_DOT: a row of the left operand sweeps the columns of the right one; stage 7 then
 * adds h. */
#include "motion.h"

#include <math.h>
#include <stdint.h>

int scene_terms(float part, int k)
{
    int n = (int)ceilf(part * (float)k);
    return n < 0 ? 0 : n > k ? k : n;
}

int64_t cells_shown(const struct stage *st, const struct grid *g)
{
    if (st->done || st->beat.at >= st->clock.n_beat) return INT64_MAX;
    if (st->clock.beats_a_row > 1) return st->beat.at;
    int cols = step_cols_are_tokens(g->tensor) ? st->b.pass.to : g->cols;
    return (int64_t)st->beat.at * cols + (int64_t)(st->beat.part * (float)cols);
}

bool scene_dot_part(const struct scene_source *src, const struct stage_spec *spec,
                    int group, int row, int col, int n, float *sum)
{
    struct attn_cmat a = scene_tensor_view(src, spec->left);
    struct attn_cmat w = scene_tensor_view(src, spec->right[group]);
    if (!a.data || !w.data) return false;
    *sum = 0;
    for (int k = 0; k < n; k++) {
        size_t at = spec->right_transposed ? (size_t)col * (size_t)w.ld + (size_t)k
                                           : (size_t)k * (size_t)w.ld + (size_t)col;
        *sum += a.data[(size_t)row * (size_t)a.ld + (size_t)k] * w.data[at];
    }
    return true;
}

/* The cell in the making shows the sum of the terms so far. */
static void running_cell_draw(const struct stage *st, int group)
{
    const struct grid *out = &st->l.result[group];
    float *sum = arena_push(st->b.sc->mem, 1, sizeof *sum);
    int n = scene_terms(st->beat.part, st->l.left.cols);
    if (!sum || !scene_dot_part(st->b.src, st->spec, group, st->f.row, st->f.col, n, sum))
        return;
    struct grid one = pass_lane(&st->b, *out);
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
            (void)scene_line(b->sc, x, g.y - 8, x, g.y + grid_h(&g) + 2,
                             large_cells(st, &g) ? 2 : 1, ink);
    }
}

/* Stage 7's left operand: every head's O slides from where stage 6 left it. */
static void heads_slide_draw(const struct stage *st, float t)
{
    struct layout from = scene_layout(ATTN_WEIGHTED_SUM, st->d, st->b.sc->frame.stage);
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
    style.alpha = 0.6f;
    style.figures = false;
    style.live = false;
    grid_draw(&st->b, &moving, &style);
}

static void labels_draw(const struct stage *st, float in)
{
    const struct layout *l = &st->l;
    const struct scene_theme *t = st->b.theme;
    bool heads = l->left.tensor == ATTN_Z_ALL;
    const char *left = !heads              ? scene_tensor_name(l->left.tensor)
                       : st->d.n_head == 1 ? "O\u2081"
                       : st->d.n_head == 2 ? "[O\u2081 | O\u2082]"
                                           : "[O\u2081 | \u2026 | O_H]";
    grid_row_tokens(&st->b, &l->left, in);
    grid_label(
        &st->b, &l->left, true, left, tensor_color(t, l->left.tensor),
        range_note(st, l->left.tensor, l->left.tensor == ATTN_X ? "after ln_1," : ""), 1);
    if (heads) heads_labels(st, in);
    bool summed = st->spec->adds && (st->beat.outro >= 1 || !st->b.s->opts.residual);
    const char *note =
        summed && st->b.s->opts.residual ? "back on the residual stream," : "";
    for (int g = 0; g < st->spec->n_group; g++) {
        enum attn_tensor r = l->right[g].tensor;
        enum attn_tensor o = summed ? st->spec->sum : l->result[g].tensor;
        if (st->spec->right_transposed)
            grid_col_tokens(&st->b, &l->right[g], in);
        else
            grid_label(&st->b, &l->right[g], false, scene_tensor_name(r),
                       tensor_color(t, r), range_note(st, r, ""), in);
        grid_label(&st->b, &l->result[g], true, scene_tensor_name(o), tensor_color(t, o),
                   range_note(st, o, note), 1);
    }
}

void motion_dot(struct stage *st)
{
    const struct layout *l = &st->l;
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

    labels_draw(st, in);
}
