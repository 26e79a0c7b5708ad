/* MOTION_BLEND: A slides left, weights fly onto the rows of V, the scaled rows add up. */
#include "motion.h"

#include <math.h>

static const float strip_w = 10, strip_gap = 8;

/* The row whose weights stand beside V; -1: those of several. */
static int blend_row(const struct stage *st)
{
    if (st->f.row < 0 && several_rows(st)) return -1;
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
        for (int i = st->b.pass.from; i < rows_done; i++) {
            float y = g.y + (float)i * g.cell_h;
            if (y + g.cell_h < st->b.canvas.y || y > st->b.canvas.y + st->b.canvas.h)
                continue;
            strip(st, &g, i, blended(blend + 3 * (size_t)i));
        }
        return;
    }
    float x = g.x + grid_w(&g) + strip_gap;
    int lines = (int)ceilf(grid_h(&g) / 2);
    for (int k = 0; k < lines; k++) {
        int i0 = (int)(2 * (float)k / g.cell_h),
            i1 = (int)ceilf(2 * (float)(k + 1) / g.cell_h);
        if (i1 > rows_done) i1 = rows_done;
        if (i0 < st->b.pass.from) i0 = st->b.pass.from;
        if (i1 >= rows_done && i0 >= i1) break;
        if (i0 >= i1) continue;
        float mean[3] = {0};
        for (int i = i0; i < i1; i++)
            for (int c = 0; c < 3; c++) mean[c] += blend[3 * i + c] / (float)(i1 - i0);
        (void)scene_rect(st->b.sc, (struct scene_rect){x, g.y + 2 * (float)k, strip_w, 2},
                         0, blended(mean));
    }
}

/* The weight that row gives to j; where several rows are selected and none is in
 * question (row < 0), the mean of theirs. */
static float weight_on(const struct stage *st, struct attn_cmat p, int row, int j)
{
    int from, to = 0, n = 0;
    double sum = 0;
    if (row >= 0) return p.data[(size_t)row * (size_t)p.ld + (size_t)j];
    while (step_row_run(st->b.place, &from, &to))
        for (int i = from; i < to; i++, n++)
            sum += (double)p.data[(size_t)i * (size_t)p.ld + (size_t)j];
    return (float)(sum / n);
}

/* The last token that row may see, or, row < 0, that one of the selected rows may. */
static int last_seen(const struct stage *st, int row)
{
    int from, to = 0, last = row;
    while (row < 0 && step_row_run(st->b.place, &from, &to)) last = to - 1;
    return attn_seen(st->b.s->opts, last, st->d.n_tok) - 1;
}

/* Beside each row of V: its token's hue and the weight that row r gives it. */
static void value_weights(const struct stage *st, int row, float arrived)
{
    struct grid v = grid_on_screen(&st->b, st->l.right[0]);
    struct attn_cmat p = scene_tensor_view(st->b.src, ATTN_P);
    struct scene *sc = st->b.sc;
    if (v.cell_h < 3) return;
    int seen = last_seen(st, row);
    float x = v.x + grid_w(&v) + strip_gap, right = st->b.canvas.x + st->b.canvas.w;
    for (int j = 0; j < st->b.pass.to; j++) {
        float y = v.y + ((float)j + 0.5f) * v.cell_h;
        if (y < st->b.canvas.y || y > st->b.canvas.y + st->b.canvas.h) continue;
        bool visible = j <= seen;
        struct scene_rgba hue = scene_token_hue(j);
        strip(st, &v, j, visible ? hue : scene_fade(hue, 0.2f));
        if (!visible || arrived < 1 || v.cell_h < 14 || st->b.bare) continue;
        float w = weight_on(st, p, row, j);
        struct scene_rgba ink = scene_mix(st->b.theme->ink, hue, 0.8f);
        const char *text = scene_print(sc, "\u00D7 %s", scene_number(sc, w, 2));
        float from = x + strip_w + 8, size = 12.5f;
        if (from + font_width(sc->font, FONT_MONO, size, text, -1) > right) continue;
        (void)scene_text(sc, from, y + 4.5f, ALIGN_LEFT, FONT_MONO, size, ink, text);
    }
}

/* First half of a beat: each weight flies from A to its row of V. Second half: the scaled
 * rows come down into row r of O. */
static void blend_flight(const struct stage *st)
{
    const struct brush *b = &st->b;
    int row = st->clock.row0 + st->beat.at;
    struct attn_cmat p = scene_tensor_view(b->src, ATTN_P);
    struct grid a = grid_on_screen(b, st->l.left), v = grid_on_screen(b, st->l.right[0]);
    struct grid o = grid_on_screen(b, st->l.result[0]);
    if (b->bare || !large_cells(st, &st->l.left)) return;
    float fly = step_ease(fminf(st->beat.part * 2, 1));
    float fall = step_ease(fminf(fmaxf(st->beat.part * 2 - 1, 0), 1));
    int last = attn_seen(b->s->opts, row, p.cols) - 1;
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
            (void)scene_rect(b->sc, box, 4,
                             scene_fade(hue, 0.15f + 0.55f * fminf(fmaxf(w, 0), 1)));
        }
    }
}

/* "0 to 1", unless a weight was given beyond. */
static const char *weights_note(const struct brush *b)
{
    float lo = 0;
    float hi = 1;
    scene_weights_range(b->src, &lo, &hi);
    return scene_print(b->sc, "%s%s to %s", b->s->log_weights ? "log, " : "",
                       lo < 0 ? scene_number(b->sc, lo, 2) : "0",
                       hi > 1 ? scene_number(b->sc, hi, 2) : "1");
}

void motion_blend(struct stage *st)
{
    const struct layout *l = &st->l;
    const struct brush *b = &st->b;
    float in = step_ease(st->beat.intro);
    int done = st->done ? st->b.pass.to : st->clock.row0 + st->beat.at;
    /* A is the score grid of stage 5, sliding to the left. */
    struct layout was = scene_layout(ATTN_SOFTMAX, st->d, st->b.sc->frame.stage);
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
            : (int64_t)(done - st->clock.row0) * l->result[0].cols +
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
    grid_label(b, &a, true, "A", b->theme->accent, weights_note(b), 1);
    grid_label(b, &l->right[0], false, "V", b->theme->v, range_note(st, ATTN_V, ""), in);
    grid_label(b, &l->result[0], true, "O", b->theme->o, range_note(st, ATTN_Z, ""), in);
}
