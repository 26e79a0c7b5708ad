/* The cell that is taken apart: its operands light up in their matrices, with a line to
 * each; those whose matrix is not in view stand above the result's. */
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

static void dot_at(const struct stage *st, float x, float y, struct scene_rgba ink)
{
    (void)scene_rect(st->b.sc, (struct scene_rect){x - 2, y - 2, 4, 4}, 2, ink);
}

/* From h in its corner to the sum: between rows and through the gap between matrices, so
 * that no number and no name lies under it. */
static void lead_around(const struct stage *st, struct scene_rect r, struct scene_rect to,
                        struct scene_rgba ink)
{
    struct grid h = grid_on_screen(&st->b, st->l.added);
    struct grid out = grid_on_screen(&st->b, st->l.result[0]);
    float x0 = r.x + r.w / 2, y0 = r.y + r.h, y1 = to.y;
    float gap = (h.x + grid_w(&h) + out.x) / 2;
    (void)scene_line(st->b.sc, x0, y0, gap, y0, line_w, ink);
    (void)scene_line(st->b.sc, gap, y0, gap, y1, line_w, ink);
    (void)scene_line(st->b.sc, gap, y1, to.x, y1, line_w, ink);
    dot_at(st, x0, y0, ink);
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
    if (from.tensor == ATTN_H) {
        lead_around(st, r, to, ink);
        return;
    }
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
    dot_at(st, x0, y0, ink);
}

static float strength_of(const struct scene_derivation *d, int k, double most)
{
    return most > 0 ? (float)fmin(fabs(derive_term(d, k)) / most, 1) : 0;
}

/* ---- operands whose matrix is not in view ------------------------------------------------- */

/* A row, or a cell of it, that stands above the matrix of the result, as the row of h that
 * an x comes of, and the scores that have given their place to what was made of them. */
struct ghost {
    enum attn_tensor tensor;
    int row, col0, col1;
    int most; /* the row's largest, where it is marked; -1 */
    const char *name;
};

static bool ghost_of(const struct stage *st, const struct scene_derivation *d,
                     struct ghost *g)
{
    struct scene *sc = st->b.sc;
    int row = d->ref.row, col = d->ref.col;
    *g = (struct ghost){d->a.first.tensor, row, 0, d->n, -1, ""};
    switch (d->kind) {
    case DERIVE_DIVIDE:
    case DERIVE_MASK:
        g->col0 = col;
        g->col1 = col + 1;
        g->name = scene_print(sc, d->kind == DERIVE_MASK ? "from S%s scaled" : "from S%s",
                              scene_index(sc, row, col));
        return true;
    case DERIVE_SOFTMAX:
        g->col1 = attn_seen(st->b.s->opts, row, d->n);
        if (col >= g->col1) g->col1 = col + 1;
        g->most = 0;
        for (int k = 1; k < g->col1; k++)
            if (derive_number(&d->a, k) > derive_number(&d->a, g->most)) g->most = k;
        g->name = scene_print(sc, "from row %d of S", row + 1);
        return true;
    case DERIVE_NORM:
        g->name = scene_print(sc, "from row %d of h", row + 1);
        return true;
    default:
        *g = (struct ghost){ATTN_H,        row, 0,
                            st->d.d_model, -1,  scene_print(sc, "row %d of h", row + 1)};
        return d->ref.tensor == ATTN_H && st->b.s->stage == ATTN_PROJECTIONS;
    }
}

static void ghost_name(const struct stage *st, struct scene_rect all, const char *name)
{
    static const float size = 12, beside = 8;
    struct scene *sc = st->b.sc;
    struct scene_rgba ink = st->b.theme->ink_soft;
    float w = font_width(sc->font, FONT_UI, size, name, -1);
    float y = all.y + all.h / 2 + sc->font->cap[FONT_UI] * size / 2;
    if (all.x - beside - w >= st->b.canvas.x)
        (void)scene_text(sc, all.x - beside, y, ALIGN_RIGHT, FONT_UI, size, ink, name);
    else
        (void)scene_text(sc, fmaxf(all.x, st->b.canvas.x), all.y - 5, ALIGN_LEFT, FONT_UI,
                         size, ink, name);
}

/* From below the ghost to the cell, along its side. */
static void ghost_lead(const struct stage *st, struct scene_rect all, bool row,
                       struct scene_rect to)
{
    static const float under = 4;
    struct scene_rgba ink = scene_fade(st->b.theme->ink, 0.7f);
    bool numbers = fminf(to.w, to.h) >= number_least;
    float x = to.x + to.w * (numbers ? 0.5f + clear_x : 0.5f), y = all.y + all.h + 1;
    if (row) {
        y += under;
        float x1 = fmaxf(all.x + all.w, x);
        (void)scene_line(st->b.sc, all.x, y, x1, y, line_w, ink);
        (void)scene_line(st->b.sc, all.x, y, all.x, y - under, line_w, ink);
        (void)scene_line(st->b.sc, x1, y, x1, y - under, line_w, ink);
    }
    (void)scene_line(st->b.sc, x, y, x, to.y, line_w, ink);
}

/* to: the result's cell; NULL: it is the ghost's own. */
static void ghost_draw(const struct stage *st, const struct scene_derivation *d,
                       const struct scene_rect *to)
{
    static const float over_tokens = 44, over_rows = 24, most_h = 34, least_h = 6;
    struct ghost g;
    if (!ghost_of(st, d, &g)) return;
    struct brush b = st->b; /* what is drawn lies on screen already, and is no pass's */
    bool x = st->b.s->stage == ATTN_PROJECTIONS;
    struct grid at = grid_on_screen(&b, x ? st->l.left : st->l.result[0]);
    float h = fminf(fmaxf(at.cell_h, least_h), most_h);
    float y = at.y - h - (x ? over_rows : over_tokens);
    if (y < b.canvas.y) return;
    b.view = (struct step_view){.zoom = 1};
    b.decoding = false;
    at.tensor = g.tensor;
    at.y = y - (float)g.row * h;
    at.cell_h = h;
    struct grid_style style = grid_style(&b, &at);
    if (!x) score_range(st, &style.lo, &style.hi);
    if (d->kind == DERIVE_SOFTMAX) style.mask_from = b.mask_from;
    style.row0 = g.row;
    style.row1 = g.row + 1;
    style.col0 = g.col0;
    style.col1 = g.col1;
    grid_draw(&b, &at, &style);
    struct scene_rect all = grid_cells(&at, g.row, g.row + 1, g.col0, g.col1);
    ghost_name(st, all, g.name);
    if (to) ghost_lead(st, all, g.col1 - g.col0 > 1, *to);
    if (g.most >= 0)
        outline(st, grid_cells(&at, g.row, g.row + 1, g.most, g.most + 1),
                st->b.theme->ink);
    outline(st, grid_cells(&at, g.row, g.row + 1, d->ref.col, d->ref.col + 1),
            to ? st->b.theme->ink_soft : st->b.theme->select);
}

/* The cell whose operands are lit: the pointer may go to one of them to dive into it. */
static struct step_ref lit_cell(const struct stage *st)
{
    struct scene *sc = st->b.sc;
    struct step_ref kept = scene_kept_cell(st->b.s), cell = scene_cell_of(st->b.s);
    struct scene_derivation *d = arena_push(sc->mem, 1, sizeof *d);
    if (!d || !scene_derive(d, st->b.src, kept)) return cell;
    sc->apart = d;
    bool drawn = cell.tensor != ATTN_TENSOR_COUNT;
    return drawn && !scene_is_operand(d, st->b.s->hover) ? cell : kept;
}

void trail_draw(const struct stage *st)
{
    struct scene_derivation d;
    struct scene_rect to;
    if (st->b.bare || !st->b.src->fits) return;
    struct step_ref cell = lit_cell(st);
    if (!scene_derive(&d, st->b.src, cell)) return;
    bool there = box_of(st, cell, &to);
    if (st->done) ghost_draw(st, &d, there ? &to : NULL);
    if (!there) return;
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
