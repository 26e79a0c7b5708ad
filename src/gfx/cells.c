/* Cells of a matrix that are large enough to be looked at one by one: a box each, with
 * corners and gaps, on whole pixels. Smaller ones are heat.frag's. */
#include "mesh.h"

#include <math.h>

static const float CELL_MIN = 12; /* pixels; what is smaller has no gap */
static const float DASH_MIN = 24; /* pixels; what is smaller has no dashes */
static const float GAP_SHARE = 0.12f, RADIUS_SHARE = 0.2f; /* of a cell, at most */
enum { CELLS_MAX = 4096, DASHED_MAX = 1024 };              /* that fit into the view */

/* What the cells of a matrix have in common; pixels. */
struct look {
    float x, y, w, h;
    float gap, radius;
    bool dashes;
};

static float in_view(const struct mesh *m, float w, float h)
{
    return (m->view.x1 - m->view.x0) * (m->view.y1 - m->view.y0) / (w * h);
}

bool mesh_cells_fit(const struct mesh *m, const struct scene_heat *heat)
{
    float w = heat->cell_w * m->density, h = heat->cell_h * m->density;
    return fminf(w, h) >= CELL_MIN && in_view(m, w, h) <= CELLS_MAX;
}

/* A pattern of the atlas over a part of a cell; it continues from cell to cell. */
static void pattern(struct mesh *m, struct mesh_box b, struct mesh_vertex p, float u,
                    int period, bool along_x, bool along_y, float cx, float cy)
{
    int step = (ATLAS_TILE / period - 1) * period; /* whole periods of a tile */
    int nx = (int)ceilf((b.x1 - b.x0) / (float)step);
    int ny = (int)ceilf((b.y1 - b.y0) / (float)step);
    for (int k = 0; k < nx * ny; k++) {
        int column = k % nx, row = k / nx;
        float x = b.x0 + (float)(column * step), y = b.y0 + (float)(row * step);
        /* Hatch lines depend on u + v: both shifts may go into u. */
        float shift = (along_x ? x : 0) + (along_y ? y : 0);
        shift -= floorf(shift / (float)period) * (float)period;
        p.u = along_x ? u + shift : u;
        p.v = along_x ? 0 : shift;
        struct mesh_box part = {x, y, fminf(x + (float)step, b.x1),
                                fminf(y + (float)step, b.y1)};
        mesh_quad(m, MESH_SHAPE, part, &p, cx, cy, 1, true);
    }
}

static void hatch(struct mesh *m, struct mesh_box b, struct mesh_vertex p, float cx,
                  float cy)
{
    pattern(m, b, p, ATLAS_HATCH_U, atlas_hatch_period(m->density), true, true, cx, cy);
}

static void dashes(struct mesh *m, struct mesh_box b, struct mesh_vertex p, float inset,
                   float cx, float cy)
{
    float t = fminf(fmaxf(1, mesh_snap(m->density)), ATLAS_TILE_ACROSS);
    int period = atlas_dash_period(m->density);
    const struct mesh_box row[2] = {{b.x0 + inset, b.y0, b.x1 - inset, b.y0 + t},
                                    {b.x0 + inset, b.y1 - t, b.x1 - inset, b.y1}};
    const struct mesh_box column[2] = {{b.x0, b.y0 + inset, b.x0 + t, b.y1 - inset},
                                       {b.x1 - t, b.y0 + inset, b.x1, b.y1 - inset}};
    for (int i = 0; i < 2; i++) {
        pattern(m, row[i], p, ATLAS_DASH_U, period, true, false, cx, cy);
        pattern(m, column[i], p, ATLAS_DASH_V_U, period, false, true, cx, cy);
    }
}

static struct scene_rgba faded(struct scene_rgba c, float alpha)
{
    c.a = (uint8_t)lroundf((float)c.a * fminf(fmaxf(alpha, 0), 1));
    return c;
}

static void cell(struct mesh *m, const struct scene_heat *heat, const struct look *l,
                 int i, int j)
{
    const struct scene_theme *t = m->theme;
    float low = floorf(l->gap / 2), high = l->gap - low;
    struct mesh_box b = {mesh_snap(l->x + (float)j * l->w) + low,
                         mesh_snap(l->y + (float)i * l->h) + low,
                         mesh_snap(l->x + (float)(j + 1) * l->w) - high,
                         mesh_snap(l->y + (float)(i + 1) * l->h) - high};
    bool focus = i >= heat->focus_row0 && i < heat->focus_row1 && j >= heat->focus_col0 &&
                 j < heat->focus_col1;
    float alpha = focus ? heat->alpha : heat->alpha * heat->dim;
    int64_t at = (int64_t)(i - heat->row0) * (heat->col1 - heat->col0) + j - heat->col0;
    bool empty = at >= heat->shown, masked = !empty && j - i >= heat->mask_from;
    float value = scene_heat_value(heat, heat->m.data[(ptrdiff_t)i * heat->m.ld + j]);
    struct scene_rgba color =
        empty    ? t->empty
        : masked ? t->mask
                 : scene_map_color(t, heat->map, heat->lo, heat->hi, heat->log, value);
    float cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2;
    struct mesh_vertex p = {.half_w = (b.x1 - b.x0) / 2,
                            .half_h = (b.y1 - b.y0) / 2,
                            .radius = l->radius,
                            .fill = faded(color, alpha)};
    p.line = p.fill;
    mesh_quad(m, MESH_SHAPE, b, &p, cx, cy, 1, false);
    if (masked) {
        p.fill = p.line = faded(t->hatch, alpha);
        hatch(m, b, p, cx, cy);
    } else if (empty && l->dashes) {
        p.fill = p.line = faded(t->empty_line, alpha);
        dashes(m, b, p, ceilf(l->radius), cx, cy);
    }
}

static int clamp(float v, int low, int high)
{
    return v <= (float)low ? low : v >= (float)high ? high : (int)v;
}

void mesh_cells(struct mesh *m, const struct scene_heat *heat)
{
    float d = m->density;
    struct look l = {
        heat->x * d, heat->y * d, heat->cell_w * d, heat->cell_h * d, 0, 0, 0};
    float side = fminf(l.w, l.h);
    l.gap = mesh_snap(fminf(heat->gap * d, side * GAP_SHARE));
    l.radius = fminf(heat->radius * d, side * RADIUS_SHARE);
    l.dashes = side >= DASH_MIN && in_view(m, l.w, l.h) <= DASHED_MAX;
    /* One more on either side, since edges are put on whole pixels. */
    int i0 = clamp(floorf((m->clip.y0 - l.y) / l.h) - 1, heat->row0, heat->row1);
    int i1 = clamp(ceilf((m->clip.y1 - l.y) / l.h) + 1, heat->row0, heat->row1);
    int j0 = clamp(floorf((m->clip.x0 - l.x) / l.w) - 1, heat->col0, heat->col1);
    int j1 = clamp(ceilf((m->clip.x1 - l.x) / l.w) + 1, heat->col0, heat->col1);
    for (int i = i0; i < i1; i++)
        for (int j = j0; j < j1; j++) cell(m, heat, &l, i, j);
}
