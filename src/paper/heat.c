/* What both ways of drawing a matrix share: which cell shows, in what colour. The rules are
 * those of gfx's heat shader (heat.frag). */
#include "heat.h"
#include "cells.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* As gfx decides, in pixels; and how many cells of this size fill the view. */
static const float CELL_MIN = 12, DASH_MIN = 24, GAP_SHARE = 0.12f, RADIUS_SHARE = 0.2f;
enum { CELLS_MAX = 4096, DASHED_MAX = 1024 };

struct heat_style heat_style(const struct scene_heat *h, float density,
                             struct scene_rect view)
{
    float side = fminf(h->cell_w, h->cell_h) * density;
    float in_view = view.w * view.h / (h->cell_w * h->cell_h);
    struct heat_style s = {side >= CELL_MIN && in_view <= (float)CELLS_MAX,
                           side >= DASH_MIN && in_view <= (float)DASHED_MAX,
                           fminf(h->gap * density, side * GAP_SHARE),
                           fminf(h->radius * density, side * RADIUS_SHARE)};
    if (!s.cells) s.gap = s.radius = 0;
    return s;
}

/* Bits of |v|: as integers they order finite magnitudes, then infinity, then NaN. */
static int32_t rank(float v)
{
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffff;
}

bool heat_is_shown(const struct scene_heat *h, int i, int j)
{
    return (int64_t)(i - h->row0) * (h->col1 - h->col0) + (j - h->col0) < h->shown;
}

bool heat_is_masked(const struct scene_heat *h, int i, int j)
{
    return h->mask_from != INT_MAX && j - i >= h->mask_from;
}

struct heat_seen heat_look(const struct scene_heat *h, struct heat_cells c)
{
    struct heat_seen s = {-1, 0, false};
    for (int i = c.row0; i < c.row1; i++) {
        const float *row = h->m.data + (ptrdiff_t)i * h->m.ld;
        for (int j = c.col0; j < c.col1; j++) {
            if (!heat_is_shown(h, i, j))
                return s; /* nor is any cell behind it in the row */
            if (heat_is_masked(h, i, j)) {
                s.masked = true;
                break;
            }
            int32_t m = rank(row[j]);
            if (m <= s.magnitude) continue;
            s.magnitude = m;
            s.value = row[j];
        }
    }
    return s;
}

struct scene_rgba heat_color(const struct scene_heat *h, const struct scene_theme *t,
                             float value)
{
    return scene_map_color(t, h->map, h->lo, h->hi, h->log, scene_heat_value(h, value));
}

float heat_alpha(const struct scene_heat *h, struct heat_cells c)
{
    bool focus = c.col0 < h->focus_col1 && c.row0 < h->focus_row1 &&
                 c.col1 > h->focus_col0 && c.row1 > h->focus_row0;
    return focus ? h->alpha : h->alpha * h->dim;
}

uint32_t heat_packed(struct scene_rgba c, float alpha)
{
    float a = (float)c.a / 255.0f * alpha;
    const uint8_t part[3] = {c.r, c.g, c.b};
    uint32_t v = (uint32_t)lrintf(a * 255.0f);
    for (int i = 0; i < 3; i++) v = v << 8 | (uint32_t)lrintf((float)part[i] * a);
    return v;
}

int heat_clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

cairo_surface_t *heat_image(int w, int h)
{
    return cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h);
}

uint32_t *heat_image_row(cairo_surface_t *s, int y)
{
    return (uint32_t *)(void *)(cairo_image_surface_get_data(s) +
                                (ptrdiff_t)y * cairo_image_surface_get_stride(s));
}

bool heat_show(struct pen *pen, cairo_surface_t *s, struct scene_rect box)
{
    bool ok = cairo_surface_status(s) == CAIRO_STATUS_SUCCESS;
    if (ok) {
        cairo_surface_mark_dirty(s);
        pen->k->image(pen, box, s);
    }
    cairo_surface_destroy(s);
    return ok;
}

bool heat_draw(struct pen *pen, const struct scene_heat *h, const struct scene_theme *t,
               struct scene_rect box, struct path *path)
{
    if (!h->m.data || h->row0 >= h->row1 || h->col0 >= h->col1 || !(h->cell_w > 0) ||
        !(h->cell_h > 0) || !(h->alpha > 0))
        return true;
    if (pen->density > 0) return heat_pixels(pen, h, t, box);
    return heat_vectors(pen, h, t, box, path);
}
