/* Decode mode: the part of a matrix that is there, and where its new row lies. */
#include "grid.h"

#include <math.h>

static const float lane_h = 12, lane_w = 6; /* least size of a new row, a new column */

static bool is_kept(enum attn_tensor t)
{
    return t == ATTN_K || t == ATTN_V;
}

/* Whether what is drawn as rows, or as columns, are tokens. */
static bool along(const struct grid *g, bool rows)
{
    return g->transposed == rows ? step_cols_are_tokens(g->tensor)
                                 : step_rows_are_tokens(g->tensor);
}

/* By how much a cell of size `cell` that is drawn `thick` instead is moved, n of them side
 * by side: its middle stays where it is, unless it would leave the matrix. */
static float moved(float at, float cell, float thick, int n)
{
    float all = (float)n * cell;
    float middle = fmaxf(fminf((at + 0.5f) * cell, all - thick / 2), thick / 2);
    return middle - (at + 0.5f) * thick;
}

/* A new row may be thinner than a point: it is drawn so thick that its colours are seen. */
struct grid pass_lane(const struct brush *b, struct grid g)
{
    float row = (float)b->pass.from;
    if (!b->decoding || b->pass.to - b->pass.from > 1) return g;
    if (g.transposed && g.cell_w * b->view.zoom < lane_w && is_kept(g.tensor)) {
        float w = lane_w / b->view.zoom;
        g.x += moved(row, g.cell_w, w, g.cols);
        g.cell_w = w;
    }
    if (!g.transposed && along(&g, true) && g.cell_h * b->view.zoom < lane_h) {
        float h = lane_h / b->view.zoom;
        g.y += moved(row, g.cell_h, h, g.rows);
        g.cell_h = h;
    }
    return g;
}

/* Only whole matrices are cut; a row that is drawn by itself is where it should be. */
void pass_cut(const struct brush *b, const struct grid *g, struct grid_style *st)
{
    int n = b->place->dims.n_tok;
    if (along(g, true) && st->m.rows == n) {
        bool first = g->transposed || is_kept(g->tensor);
        if (!first && st->row0 < b->pass.from) st->row0 = b->pass.from;
        if (st->row1 > b->pass.to) st->row1 = b->pass.to;
    }
    if (along(g, false) && st->m.cols == n && st->col1 > b->pass.to)
        st->col1 = b->pass.to;
}

void pass_size(const struct brush *b, const struct grid *g, int *rows, int *cols)
{
    bool first = g->transposed || is_kept(g->tensor);
    if (along(g, true)) *rows = b->pass.to - (first ? 0 : b->pass.from);
    if (along(g, false)) *cols = b->pass.to;
}

bool pass_cached(const struct brush *b, const struct grid *g, const struct grid_style *st,
                 struct grid_style *cached, struct grid_style *added)
{
    int n = b->place->dims.n_tok, from = b->pass.from;
    int tokens = g->transposed ? st->m.cols : st->m.rows;
    *cached = *added = *st;
    if (!is_kept(g->tensor) || tokens != n || from == 0) return false;
    cached->map = MAP_CACHED;
    cached->shown = INT64_MAX;
    if (g->transposed) {
        cached->col1 = from;
        added->col0 = from;
    } else {
        cached->row1 = from;
        added->row0 = from;
    }
    return true;
}

bool pass_frame(const struct brush *b, struct grid *g, int *row0, int *row1, int *col0,
                int *col1)
{
    int from = b->pass.from, to = b->pass.to;
    if (along(g, true)) {
        if (!is_kept(g->tensor) && *row0 < from) *row0 = from;
        if (*row1 > to) *row1 = to;
        if (*row0 >= from) *g = pass_lane(b, *g);
    }
    if (along(g, false)) {
        if (*col1 > to) *col1 = to;
        if (g->transposed && *col0 >= from) *g = pass_lane(b, *g);
    }
    return *row0 < *row1 && *col0 < *col1;
}
