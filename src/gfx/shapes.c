/* Rectangles, lines and polygons as quads. Boxes and straight lines are put on whole
 * pixels, so that edges are crisp at any density. */
#include "mesh.h"

#include <math.h>

static const float FAR = 1024; /* pixels: a box of this half size has no edge nearby */
enum { DASHES_MAX = 4096 };

/* ---- rectangles --------------------------------------------------------------------- */

/* Four strips of width t along the edges of b. */
static void rim(struct mesh *m, struct mesh_box b, float t, const struct mesh_vertex *p,
                float cx, float cy)
{
    const struct mesh_box strip[4] = {{b.x0, b.y0, b.x1, b.y0 + t},
                                      {b.x0, b.y1 - t, b.x1, b.y1},
                                      {b.x0, b.y0 + t, b.x0 + t, b.y1 - t},
                                      {b.x1 - t, b.y0 + t, b.x1, b.y1 - t}};
    for (int i = 0; i < 4; i++) mesh_quad(m, MESH_SHAPE, strip[i], p, cx, cy, 1, false);
}

/* A box that is thinner than a pixel becomes a pixel wide, and fainter in proportion. */
static struct mesh_box widened(struct mesh_box b, struct scene_rgba *fill)
{
    float w = b.x1 - b.x0, h = b.y1 - b.y0;
    float x = fmaxf(0, 1 - w) / 2, y = fmaxf(0, 1 - h) / 2;
    fill->a = (uint8_t)lroundf((float)fill->a * fminf(w, 1) * fminf(h, 1));
    return (struct mesh_box){b.x0 - x, b.y0 - y, b.x1 + x, b.y1 + y};
}

/* A rectangle on the grid of pixels. */
struct placed {
    struct mesh_box b;
    bool crisp;           /* its edges are pixels' */
    float radius, border; /* pixels */
    float rim;            /* inside of so much it is its fill and nothing else */
};

static struct placed place(const struct scene_item *it, float d, struct scene_rgba *fill)
{
    struct placed p = {.b = mesh_scaled(it->u.rect.box, d)};
    float w = p.b.x1 - p.b.x0, h = p.b.y1 - p.b.y0;
    /* A disc that grew by a pixel along one axis would look dented; it stays as it is. */
    bool disc = fabsf(w - h) < 0.5f && 2 * it->u.rect.radius * d > w - 0.5f;
    struct mesh_box on_grid = mesh_snapped(p.b);
    p.crisp = !(it->u.rect.soft > 0) && !disc && !mesh_is_empty(on_grid);
    p.b = p.crisp ? on_grid : widened(p.b, fill);
    w = p.b.x1 - p.b.x0;
    h = p.b.y1 - p.b.y0;
    p.radius = fminf(it->u.rect.radius * d, fminf(w, h) / 2);
    p.border = it->u.rect.border > 0 ? fmaxf(1, mesh_snap(it->u.rect.border * d)) : 0;
    p.rim = p.radius > 0 || p.border > 0 ? ceilf(fmaxf(p.radius, p.border)) + 1 : 0;
    return p;
}

struct mesh_box mesh_solid(const struct scene_item *it, float density)
{
    struct scene_rgba fill = it->u.rect.fill;
    if (it->kind != SCENE_RECT || fill.a < 255) return (struct mesh_box){0};
    struct placed p = place(it, density, &fill);
    if (!p.crisp) return (struct mesh_box){0};
    return mesh_intersect(mesh_grow(p.b, -p.rim),
                          mesh_snapped(mesh_scaled(it->clip, density)));
}

void mesh_rect(struct mesh *m, const struct scene_item *it)
{
    struct scene_rgba fill = it->u.rect.fill;
    float soft = fmaxf(0, it->u.rect.soft * m->density), unit = fmaxf(1, soft);
    if (!(it->u.rect.box.w > 0 && it->u.rect.box.h > 0)) return;
    struct placed at = place(it, m->density, &fill);
    struct mesh_box b = at.b;
    float w = b.x1 - b.x0, h = b.y1 - b.y0, t = at.rim;
    float cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2;
    struct mesh_vertex p = {
        .half_w = w / 2 / unit,
        .half_h = h / 2 / unit,
        .radius = at.radius / unit,
        .border = at.border / unit,
        .fill = fill,
        .line = at.border > 0 ? it->u.rect.stroke : fill,
    };
    if (!at.crisp) {
        float fade = soft > 0 ? soft / 2 : 1;
        mesh_quad(m, MESH_SHAPE, mesh_grow(b, fade), &p, cx, cy, unit, false);
    } else if (w * h >= MESH_BIG && 2 * t < fminf(w, h)) {
        if (t > 0) rim(m, b, t, &p, cx, cy);
        if (fill.a)
            mesh_quad(m, fill.a == 255 ? MESH_FILL : MESH_VEIL, mesh_grow(b, -t), &p, cx,
                      cy, 1, false);
    } else {
        mesh_quad(m, MESH_SHAPE, b, &p, cx, cy, 1, false);
    }
}

/* ---- lines ---------------------------------------------------------------------------- */

/* A line along an axis, on whole pixels across it. */
static void straight(struct mesh *m, bool vertical, float from, float to, float at,
                     float width, float dash, struct scene_rgba color)
{
    float wide = fmaxf(1, mesh_snap(width));
    float low = mesh_snap(at - wide / 2);
    float end = dash > 0 ? to : fmaxf(mesh_snap(to), mesh_snap(from) + 1);
    float step = dash > 0 ? 2 * dash : fmaxf(1, end - mesh_snap(from));
    float begin = dash > 0 ? from : mesh_snap(from);
    for (int k = 0; k < DASHES_MAX && begin + (float)k * step < end; k++) {
        float a = begin + (float)k * step;
        float b = dash > 0 ? fminf(a + dash, end) : end;
        struct mesh_box box = vertical ? (struct mesh_box){low, a, low + wide, b}
                                       : (struct mesh_box){a, low, b, low + wide};
        struct mesh_vertex p = {.half_w = (box.x1 - box.x0) / 2,
                                .half_h = (box.y1 - box.y0) / 2,
                                .fill = color,
                                .line = color};
        mesh_quad(m, MESH_SHAPE, dash > 0 ? mesh_grow(box, 1) : box, &p,
                  (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, 1, false);
    }
}

static void slanted(struct mesh *m, float x0, float y0, float x1, float y1, float width,
                    float dash, struct scene_rgba color)
{
    float length = hypotf(x1 - x0, y1 - y0);
    if (!(length > 0)) return;
    float ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    float step = dash > 0 ? 2 * dash : length;
    if (width < 1) color.a = (uint8_t)lroundf((float)color.a * width);
    for (int k = 0; k < DASHES_MAX && (float)k * step < length; k++) {
        float a = (float)k * step, b = dash > 0 ? fminf(a + dash, length) : length;
        float half = (b - a) / 2, mid = (a + b) / 2, across = fmaxf(width, 1) / 2;
        struct mesh_vertex v[4];
        for (int i = 0; i < 4; i++) {
            float lx = (half + 1) * (i == 0 || i == 3 ? -1.0f : 1.0f);
            float ly = (across + 1) * (i < 2 ? -1.0f : 1.0f);
            v[i] = (struct mesh_vertex){.x = x0 + ux * (mid + lx) - uy * ly,
                                        .y = y0 + uy * (mid + lx) + ux * ly,
                                        .local_x = lx,
                                        .local_y = ly,
                                        .half_w = half,
                                        .half_h = across,
                                        .fill = color,
                                        .line = color};
        }
        mesh_convex(m, v, 4);
    }
}

void mesh_line(struct mesh *m, const struct scene_item *it)
{
    float d = m->density;
    float x0 = it->u.line.x0 * d, y0 = it->u.line.y0 * d;
    float x1 = it->u.line.x1 * d, y1 = it->u.line.y1 * d;
    float width = it->u.line.width * d, dash = it->u.line.dash * d;
    if (!(width > 0)) return;
    if (x0 == x1)
        straight(m, true, fminf(y0, y1), fmaxf(y0, y1), x0, width, dash,
                 it->u.line.color);
    else if (y0 == y1)
        straight(m, false, fminf(x0, x1), fmaxf(x0, x1), y0, width, dash,
                 it->u.line.color);
    else
        slanted(m, x0, y0, x1, y1, width, dash, it->u.line.color);
}

/* ---- polygons -------------------------------------------------------------------------- */

/* One wedge from the middle to each edge, grown by half a pixel. Along a wedge local_x is
 * FAR + the distance from the edge, so that the box's right side is the edge. */
void mesh_poly(struct mesh *m, const struct scene_item *it)
{
    int n = it->u.poly.n;
    float x[4], y[4], nx[4], ny[4], gx[4], gy[4], cx = 0, cy = 0, area = 0;
    if (n < 3 || n > 4) return;
    for (int i = 0; i < n; i++) {
        x[i] = it->u.poly.x[i] * m->density;
        y[i] = it->u.poly.y[i] * m->density;
        cx += x[i] / (float)n;
        cy += y[i] / (float)n;
    }
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        area += x[i] * y[j] - x[j] * y[i];
    }
    if (area == 0) return;
    float turn = area > 0 ? 1.0f : -1.0f; /* clockwise on screen: area > 0 */
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        float length = hypotf(x[j] - x[i], y[j] - y[i]);
        if (!(length > 0)) return;
        nx[i] = turn * (y[j] - y[i]) / length;
        ny[i] = -turn * (x[j] - x[i]) / length;
    }
    for (int i = 0; i < n; i++) {
        int k = (i + n - 1) % n;
        float along = fmaxf(1 + nx[i] * nx[k] + ny[i] * ny[k], 0.1f);
        gx[i] = x[i] + 0.5f * (nx[i] + nx[k]) / along;
        gy[i] = y[i] + 0.5f * (ny[i] + ny[k]) / along;
    }
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        struct mesh_vertex p = {.half_w = FAR,
                                .half_h = FAR,
                                .fill = it->u.poly.fill,
                                .line = it->u.poly.fill};
        struct mesh_vertex v[3] = {p, p, p};
        const float px[3] = {cx, gx[i], gx[j]}, py[3] = {cy, gy[i], gy[j]};
        for (int k = 0; k < 3; k++) {
            v[k].x = px[k];
            v[k].y = py[k];
            v[k].local_x = FAR + (px[k] - x[i]) * nx[i] + (py[k] - y[i]) * ny[i];
        }
        mesh_convex(m, v, 3);
    }
}
