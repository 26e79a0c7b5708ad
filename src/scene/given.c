/* Numbers that are given by hand: which they are, which others they have moved, how both
 * are marked, and what is said of one that is not taken. */
#include "motion.h"

#include <limits.h>
#include <math.h>

const struct attn_edit *scene_given_at(const struct scene_source *src, struct step_ref r)
{
    for (int i = 0; i < src->n_given; i++) {
        const struct attn_edit *e = &src->given[i];
        bool head = !step_tensor_has_heads(r.tensor) || e->head == src->trace->head;
        if (head && e->tensor == r.tensor && e->row == r.row && e->col == r.col) return e;
    }
    return NULL;
}

static float cell(struct attn_cmat m, struct step_ref r)
{
    return m.data[(size_t)r.row * (size_t)m.ld + (size_t)r.col];
}

bool scene_is_moved(const struct scene_source *src, struct step_ref r)
{
    if (!src->ungiven || !src->trace) return false;
    int head = src->trace->head;
    struct attn_cmat is = attn_trace_view(src->trace, r.tensor, head);
    struct attn_cmat was = attn_trace_view(src->ungiven, r.tensor, head);
    if (!is.data || !was.data) return false;
    float a = cell(is, r);
    float b = cell(was, r);
    return !(a == b || (isnan(a) && isnan(b)));
}

void scene_weights_range(const struct scene_source *src, float *lo, float *hi)
{
    static const float rounding = 1e-3f; /* what a sum's or a format's may add to 1 */
    const struct attn_stats *st = src->trace ? &src->trace->stats[ATTN_P] : NULL;
    *lo = st && st->min < 0 ? st->min : 0;
    *hi = st && st->max > 1 + rounding ? st->max : 1;
}

/* ---- which can be edited ----------------------------------------------------------------- */

int scene_field_tensors(const struct step_state *s, enum attn_tensor out[8])
{
    const struct stage_spec *spec = &scene_stages[s->stage];
    enum attn_tensor all[8];
    int n = 0;
    int m = 0;
    if (!spec->operands_leave) {
        all[n++] = spec->left;
        for (int g = 0; g < spec->n_group; g++) all[n++] = spec->right[g];
    }
    for (int g = 0; g < spec->n_group; g++) all[n++] = spec->result[g];
    if (spec->adds) all[n++] = spec->added;
    for (int i = 0; i < n; i++) /* a first cell is never hidden */
        if (step_can_give(s, (struct step_ref){all[i], 0, 0}) == STEP_WRONG_NOT)
            out[m++] = all[i];
    return m;
}

struct step_ref scene_field_cell(const struct step_state *s)
{
    enum attn_tensor can[8];
    struct step_ref r = scene_cell_of(s);
    if (r.tensor != ATTN_TENSOR_COUNT || step_is_covered(s)) return r;
    int n = scene_field_tensors(s, can);
    if (n == 0) return step_no_ref();
    enum attn_tensor result = scene_stages[s->stage].result[0];
    enum attn_tensor t = can[0];
    for (int i = 0; i < n; i++)
        if (can[i] == result) t = result;
    return (struct step_ref){t, step_place_of(s)->row, 0};
}

bool scene_cell_box(const struct scene *sc, struct step_ref r, struct scene_rect *box)
{
    for (int i = sc->n - 1; i >= 0; i--) {
        const struct scene_item *it = &sc->items[i];
        if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS ||
            it->hit.tensor != r.tensor)
            continue;
        const struct scene_heat *h = &it->u.heat;
        int row = it->hit.transposed ? r.col : r.row;
        int col = it->hit.transposed ? r.row : r.col;
        if (row < h->row0 || row >= h->row1 || col < h->col0 || col >= h->col1) continue;
        *box = (struct scene_rect){h->x + (float)col * h->cell_w,
                                   h->y + (float)row * h->cell_h, h->cell_w, h->cell_h};
        return true;
    }
    return false;
}

/* ---- marks --------------------------------------------------------------------------------- */

/* From this size on a cell that has moved has a corner turned down. */
static const float corner_least = 14, corner_share = 0.22f, corner_most = 9;
static const float frame_width = 2.5f, frame_out = 1.5f, ring_least = 11;
enum { MARKS_MOST = 4000 }; /* in one matrix */

static struct step_ref ref_at(const struct grid *g, int i, int j)
{
    return (struct step_ref){g->tensor, g->transposed ? j : i, g->transposed ? i : j};
}

static void corner(const struct brush *b, struct scene_rect r, float gap,
                   struct scene_rgba ink)
{
    float d = fminf(fminf(r.w, r.h) * corner_share, corner_most);
    float right = r.x + r.w - gap;
    float top = r.y + gap;
    const float x[3] = {right - d, right, right};
    const float y[3] = {top, top, top + d};
    (void)scene_triangle(b->sc, x, y, ink);
}

/* What is moved: a small corner each, of the cells that the canvas shows. */
static void moved_draw(const struct brush *b, const struct grid *g,
                       const struct grid_style *st)
{
    const struct scene_rect *c = &b->canvas;
    int i0 = st->row0;
    int j0 = st->col0;
    int i1 = st->row1;
    int j1 = st->col1;
    while (i0 < i1 && g->y + (float)(i0 + 1) * g->cell_h < c->y) i0++;
    while (i1 > i0 && g->y + (float)(i1 - 1) * g->cell_h > c->y + c->h) i1--;
    while (j0 < j1 && g->x + (float)(j0 + 1) * g->cell_w < c->x) j0++;
    while (j1 > j0 && g->x + (float)(j1 - 1) * g->cell_w > c->x + c->w) j1--;
    if ((int64_t)(i1 - i0) * (j1 - j0) > MARKS_MOST) return;
    for (int i = i0; i < i1; i++)
        for (int j = j0; j < j1; j++) {
            int64_t at = (int64_t)(i - st->row0) * (st->col1 - st->col0) + (j - st->col0);
            if (at >= st->shown || !scene_is_moved(b->src, ref_at(g, i, j))) continue;
            corner(b, grid_cells(g, i, i + 1, j, j + 1), 1,
                   scene_fade(b->theme->on_warn, 0.75f));
        }
}

void marks_draw(const struct brush *b, const struct grid *g, const struct grid_style *st)
{
    bool large = fminf(g->cell_w, g->cell_h) >= corner_least;
    if (!st->live || b->bare || b->src->n_given == 0 || step_is_paired(b->s)) return;
    if (large && step_seen(b->s) == STEP_SEE_BROKEN) moved_draw(b, g, st);
    for (int i = 0; i < b->src->n_given; i++) {
        const struct attn_edit *e = &b->src->given[i];
        struct step_ref r = {e->tensor, e->row, e->col};
        int row = g->transposed ? r.col : r.row;
        int col = g->transposed ? r.row : r.col;
        if (e->tensor != g->tensor || scene_given_at(b->src, r) != e) continue;
        if (row < st->row0 || row >= st->row1 || col < st->col0 || col >= st->col1)
            continue;
        int64_t at = (int64_t)(row - st->row0) * (st->col1 - st->col0) + (col - st->col0);
        if (at >= st->shown) continue;
        struct scene_rect c = grid_cells(g, row, row + 1, col, col + 1);
        float w = fmaxf(c.w + 2 * frame_out, ring_least);
        float h = fmaxf(c.h + 2 * frame_out, ring_least);
        struct scene_rect ring = {c.x + (c.w - w) / 2, c.y + (c.h - h) / 2, w, h};
        (void)scene_border(b->sc, ring, large ? corner_most * 0.5f : ring_least * 0.5f,
                           frame_width + 1, scene_fade(b->theme->paper, 0),
                           b->theme->warn);
        (void)scene_border(b->sc, ring, large ? corner_most * 0.5f : ring_least * 0.5f,
                           frame_width, scene_fade(b->theme->paper, 0),
                           b->theme->on_warn);
        if (large) corner(b, c, 2, b->theme->on_warn);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *scene_wrong_text(struct scene *sc, const struct step_state *s,
                             enum step_wrong w)
{
    const struct step_field *f = &s->field;
    switch (w) {
    case STEP_WRONG_EMPTY:
        return "type a number, such as \u22120.5";
    case STEP_WRONG_WORD:
        return scene_print(sc, "\u201C%.*s\u201D is no number", f->n, f->text);
    case STEP_WRONG_NAN:
        return "only finite numbers, please";
    case STEP_WRONG_LARGE:
        return "beyond float32, which ends at 3.4e38";
    case STEP_WRONG_SMALL:
        return "nearer to 0 than float32 goes: 1.2e\u221238";
    case STEP_WRONG_HIDDEN:
        return "hidden by the mask: nothing reads it";
    case STEP_WRONG_FULL:
        return scene_print(sc, "%d numbers are edited: X, or undo", STEP_GIVEN_MOST);
    case STEP_WRONG_MATRIX:
        return s->scale == STEP_TOY
                   ? "X, h, W, Q, K, V, S and A can be edited; O and Y follow from them"
                   : "at GPT-2\u2019s scale X (stage 1) and h (stage 7) can be edited";
    case STEP_WRONG_CELL:
        return "there is no such cell";
    case STEP_WRONG_NOT:
    case STEP_WRONG_COUNT:
        break;
    }
    return "";
}
