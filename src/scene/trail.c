/* The cell that is taken apart: its operands light up in their matrices, with a line to
 * each. */
#include "motion.h"

#include <math.h>

static const float line_w = 1.25f, frame_w = 1.5f, frame_least = 9;    /* points */
static const float number_least = 20, clear_x = 0.47f, clear_y = 0.4f; /* of a cell */
static const float least_alpha = 0.3f; /* of the line of a small term */

/* The drawn matrix that a tensor's cells lie in; NULL: it is not in view. */
static const struct grid *grid_of(const struct stage *st, enum attn_tensor t)
{
    const struct layout *l = &st->l;
    bool scores = l->result[0].tensor >= ATTN_S_RAW && l->result[0].tensor <= ATTN_P;
    if (l->left.tensor == t && !st->spec->operands_leave) return &l->left;
    for (int g = 0; g < st->spec->n_group; g++) {
        if (l->right[g].tensor == t && !st->spec->operands_leave) return &l->right[g];
        if (l->result[g].tensor == t) return &l->result[g];
    }
    if (scores && t >= ATTN_S_RAW && t <= ATTN_P) return &l->result[0];
    if (!st->spec->adds) return NULL;
    if (t == st->spec->sum) return &l->result[0];
    return t == st->spec->added && st->b.s->opts.residual ? &l->added : NULL;
}

static bool box_of(const struct stage *st, struct step_ref r, struct scene_rect *box)
{
    const struct grid *fitted = grid_of(st, r.tensor);
    if (!fitted || !step_pass_has(st->b.s, r)) return false;
    bool lane = st->b.decoding && r.row >= st->b.pass.from;
    struct grid g = grid_on_screen(&st->b, lane ? pass_lane(&st->b, *fitted) : *fitted);
    int i = g.transposed ? r.col : r.row, j = g.transposed ? r.row : r.col;
    *box = grid_cells(&g, i, i + 1, j, j + 1);
    return true;
}

static void outline(const struct stage *st, struct scene_rect r, struct scene_rgba ink)
{
    if (fminf(r.w, r.h) < frame_least) return;
    (void)scene_border(st->b.sc, r, 3, frame_w, scene_fade(ink, 0), ink);
}

/* From an operand to the result: from the left out of the cell's foot, from above out of
 * its side, so that lines fan out instead of lying on each other. Where cells show numbers
 * the fan is narrow, to run beside the figures and not through them. */
static void lead(const struct stage *st, struct step_ref from, struct scene_rect to,
                 float strength)
{
    struct scene_rect r;
    if (!box_of(st, from, &r)) return;
    struct scene_rgba ink = tensor_color(st->b.theme, from.tensor);
    outline(st, r, ink);
    ink = scene_fade(ink, least_alpha + (1 - least_alpha) * strength);
    bool beside = fabsf(r.y + r.h / 2 - to.y - to.h / 2) < 1;
    bool above = fabsf(r.x + r.w / 2 - to.x - to.w / 2) < 1;
    float x0 = r.x + r.w / 2, y0 = r.y + r.h / 2, x1 = to.x + to.w / 2,
          y1 = to.y + to.h / 2;
    bool numbers = fminf(to.w, to.h) >= number_least;
    if (beside) {
        y0 = r.y + r.h;
        if (numbers) y1 += to.h * clear_y;
        x1 = r.x < to.x ? to.x : to.x + to.w;
    } else if (above) {
        x0 = r.x + r.w;
        if (numbers) x1 += to.w * clear_x;
        y1 = r.y < to.y ? to.y : to.y + to.h;
    }
    (void)scene_line(st->b.sc, x0, y0, x1, y1, line_w, ink);
    (void)scene_rect(st->b.sc, (struct scene_rect){x0 - 2, y0 - 2, 4, 4}, 2, ink);
}

static float strength_of(const struct scene_derivation *d, int k, double most)
{
    return most > 0 ? (float)fmin(fabs(derive_term(d, k)) / most, 1) : 0;
}

void trail_draw(const struct stage *st)
{
    struct scene_derivation d;
    struct step_ref cell = scene_cell_of(st->b.s);
    struct scene_rect to;
    if (st->b.bare || !st->b.src->fits || !scene_derive(&d, st->b.src, cell) ||
        !box_of(st, cell, &to))
        return;
    int shown[DERIVE_SHOWN];
    int m = scene_derive_shown(&d, DERIVE_SHOWN, false, shown);
    double most = 0;
    bool dot = d.kind == DERIVE_DOT;
    for (int i = 0; dot && i < m; i++) most = fmax(most, fabs(derive_term(&d, shown[i])));
    for (int i = 0; dot && i < m; i++) {
        float s = strength_of(&d, shown[i], most);
        lead(st, derive_ref(&d.a, shown[i]), to, s);
        lead(st, derive_ref(&d.b, shown[i]), to, s);
    }
    if (dot && d.plus.tensor != ATTN_TENSOR_COUNT) lead(st, d.plus, to, 1);
    if (d.kind == DERIVE_SOFTMAX) {
        const struct grid *g = grid_of(st, cell.tensor);
        grid_frame(&st->b, g, cell.row, cell.row + 1, 0, g->cols);
    }
    outline(st, to, st->b.theme->select);
}
