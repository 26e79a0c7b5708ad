/* Where the eye is led: the cell, row or column in view, its frames and leaders. */
#include "motion.h"

#include <math.h>

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

bool several_rows(const struct stage *st)
{
    return step_row_count(st->b.place) > 1;
}

struct focus focus_of(const struct stage *st)
{
    struct focus f = {several_rows(st) ? -1 : st->b.place->row, -1, 0, false};
    if (focus_from(st, st->b.s->hover, &f)) return f;
    if (!st->done && st->spec->motion == MOTION_DOT && st->beat.at < st->clock.n_beat &&
        st->beat.intro >= 1) {
        f.moving = true;
        f.row = st->clock.row0 + st->beat.at / st->clock.beats_a_row;
        f.col = st->clock.beats_a_row > 1 ? st->beat.at % st->clock.beats_a_row : -1;
        return f;
    }
    if (!st->done && st->beat.intro >= 1 && st->beat.at < st->clock.n_beat &&
        (st->spec->motion == MOTION_SOFTMAX || st->spec->motion == MOTION_BLEND)) {
        f.moving = true;
        f.row = st->clock.row0 + st->beat.at;
        return f;
    }
    (void)focus_from(st, step_cell_of(st->b.s), &f);
    return f;
}

/* ---- parts that motions share --------------------------------------------------------------- */

const char *range_note(const struct stage *st, enum attn_tensor t, const char *text)
{
    struct scene *sc = st->b.sc;
    float hi = st->b.src->trace->stats[t].max_abs;
    return scene_print(sc, "%s%s\u00B1%s", text, *text ? " " : "",
                       scene_number(sc, hi, 2));
}

struct scene_rgba tensor_color(const struct scene_theme *t, enum attn_tensor id)
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

struct grid_style weights_style(const struct stage *st, const struct grid *g)
{
    struct grid_style style = grid_style(&st->b, g);
    style.map = MAP_SEQUENTIAL;
    scene_weights_range(st->b.src, &style.lo, &style.hi);
    style.masked_zero = true;
    style.mask_from = st->b.mask_from;
    return style;
}

bool large_cells(const struct stage *st, const struct grid *g)
{
    return fminf(g->cell_w, g->cell_h) * st->b.view.zoom >= 14;
}

void operands_draw(const struct stage *st, float alpha)
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

/* Frames around the rows that are selected, where they are several. */
static void rows_draw(const struct stage *st, bool operands)
{
    const struct layout *l = &st->l;
    int from, to = 0;
    while (step_row_run(st->b.place, &from, &to)) {
        if (operands) grid_frame(&st->b, &l->left, from, to, 0, l->left.cols);
        for (int g = 0; g < st->spec->n_group; g++)
            grid_frame(&st->b, &l->result[g], from, to, 0, l->result[g].cols);
    }
}

/* Frames around the row asked, the column asked, and what they give; short leaders show
 * which way they meet. */
void frames_draw(const struct stage *st, bool operands)
{
    const struct brush *b = &st->b;
    const struct focus *f = &st->f;
    const struct grid *out = &st->l.result[f->group];
    const struct grid *right = &st->l.right[f->group];
    if (several_rows(st) && !f->moving) rows_draw(st, operands);
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
void crosshair_draw(const struct stage *st)
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
