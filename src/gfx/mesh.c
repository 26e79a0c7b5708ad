/* Items become quads. Boxes and straight lines are put on whole pixels, so that edges are
 * crisp at any density; everything is clipped here, so that no pass needs a scissor. */
#include "mesh.h"

#include <math.h>
#include <string.h>

static const float FAR = 1024; /* pixels: a box of this half size has no edge nearby */
static const float BIG = 8192; /* pixels of area from which an interior is filled apart */
static const float GLYPH_MAX = 256; /* pixels; larger text is a scaled picture */
enum { DASHES_MAX = 4096, CORNERS = 12 };

bool mesh_init(struct mesh *m, struct arena *mem, struct err *e)
{
    *m = (struct mesh){0};
    m->vertex = arena_push(mem, (size_t)4 * MESH_QUADS, sizeof *m->vertex);
    m->run = arena_push(mem, MESH_RUNS, sizeof *m->run);
    if (!m->vertex || !m->run)
        return err_set(e, ERR_SYSTEM, "out of memory for what is drawn");
    return true;
}

void mesh_clear(struct mesh *m)
{
    m->n_quad = m->n_run = 0;
    m->full = false;
}

static struct mesh_box intersect(struct mesh_box a, struct mesh_box b)
{
    return (struct mesh_box){fmaxf(a.x0, b.x0), fmaxf(a.y0, b.y0), fminf(a.x1, b.x1),
                             fminf(a.y1, b.y1)};
}

static bool is_empty(struct mesh_box b)
{
    return !(b.x0 < b.x1 && b.y0 < b.y1); /* NaN is empty too */
}

static struct mesh_box grow(struct mesh_box b, float by)
{
    return (struct mesh_box){b.x0 - by, b.y0 - by, b.x1 + by, b.y1 + by};
}

static float snap(float v)
{
    return floorf(v + 0.5f);
}

static struct mesh_box scaled(struct scene_rect r, float density)
{
    return (struct mesh_box){r.x * density, r.y * density, (r.x + r.w) * density,
                             (r.y + r.h) * density};
}

static struct mesh_box snapped(struct mesh_box b)
{
    return (struct mesh_box){snap(b.x0), snap(b.y0), snap(b.x1), snap(b.y1)};
}

/* Room for one quad in pass; NULL: full. */
static struct mesh_vertex *push(struct mesh *m, enum mesh_pass pass)
{
    struct mesh_run *last = m->n_run > 0 ? &m->run[m->n_run - 1] : NULL;
    bool joins = last && last->pass == pass && pass != MESH_HEAT;
    if (m->n_quad == MESH_QUADS || (!joins && m->n_run == MESH_RUNS)) {
        m->full = true;
        return NULL;
    }
    if (joins)
        last->count++;
    else
        m->run[m->n_run++] = (struct mesh_run){pass, m->n_quad, 1, NULL};
    return m->vertex + (size_t)4 * (size_t)m->n_quad++;
}

/* The part of a shape that lies in box; proto holds what its vertices share, (cx, cy) is
 * the shape's centre. */
static void box_quad(struct mesh *m, enum mesh_pass pass, struct mesh_box box,
                     const struct mesh_vertex *proto, float cx, float cy)
{
    struct mesh_box b = intersect(box, m->clip);
    if (is_empty(b)) return;
    struct mesh_vertex *v = push(m, pass);
    if (!v) return;
    for (int i = 0; i < 4; i++) {
        v[i] = *proto;
        v[i].x = i == 0 || i == 3 ? b.x0 : b.x1;
        v[i].y = i < 2 ? b.y0 : b.y1;
        v[i].local_x = v[i].x - cx;
        v[i].local_y = v[i].y - cy;
    }
}

static struct mesh_vertex between(const struct mesh_vertex *a,
                                  const struct mesh_vertex *b, float t)
{
    struct mesh_vertex v = *a;
    v.x += (b->x - a->x) * t;
    v.y += (b->y - a->y) * t;
    v.local_x += (b->local_x - a->local_x) * t;
    v.local_y += (b->local_y - a->local_y) * t;
    v.u += (b->u - a->u) * t;
    v.v += (b->v - a->v) * t;
    return v;
}

/* How far v lies inside edge 0..3 (left, top, right, bottom) of the clip. */
static float inside(struct mesh_box c, int edge, const struct mesh_vertex *v)
{
    switch (edge) {
    case 0:
        return v->x - c.x0;
    case 1:
        return v->y - c.y0;
    case 2:
        return c.x1 - v->x;
    default:
        return c.y1 - v->y;
    }
}

static int clip_edge(struct mesh_box c, int edge, const struct mesh_vertex *in, int n,
                     struct mesh_vertex *out)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        const struct mesh_vertex *a = &in[i], *b = &in[(i + 1) % n];
        float da = inside(c, edge, a), db = inside(c, edge, b);
        if (da >= 0) out[k++] = *a;
        if ((da >= 0) != (db >= 0)) out[k++] = between(a, b, da / (da - db));
    }
    return k;
}

/* A convex polygon of n <= 4 corners. */
static void convex(struct mesh *m, const struct mesh_vertex *corner, int n)
{
    struct mesh_vertex a[CORNERS], b[CORNERS];
    memcpy(a, corner, (size_t)n * sizeof *a);
    for (int edge = 0; edge < 4 && n > 0; edge++) {
        n = clip_edge(m->clip, edge, a, n, b);
        memcpy(a, b, (size_t)n * sizeof *a);
    }
    for (int i = 1; i + 1 < n; i += 2) {
        struct mesh_vertex *v = push(m, MESH_SHAPE);
        if (!v) return;
        v[0] = a[0];
        v[1] = a[i];
        v[2] = a[i + 1];
        v[3] = i + 2 < n ? a[i + 2] : a[i + 1];
    }
}

/* ---- rectangles --------------------------------------------------------------------- */

/* Four strips of width t along the edges of b, and what they leave. */
static void rim(struct mesh *m, struct mesh_box b, float t, const struct mesh_vertex *p,
                float cx, float cy)
{
    box_quad(m, MESH_SHAPE, (struct mesh_box){b.x0, b.y0, b.x1, b.y0 + t}, p, cx, cy);
    box_quad(m, MESH_SHAPE, (struct mesh_box){b.x0, b.y1 - t, b.x1, b.y1}, p, cx, cy);
    box_quad(m, MESH_SHAPE, (struct mesh_box){b.x0, b.y0 + t, b.x0 + t, b.y1 - t}, p, cx,
             cy);
    box_quad(m, MESH_SHAPE, (struct mesh_box){b.x1 - t, b.y0 + t, b.x1, b.y1 - t}, p, cx,
             cy);
}

static void add_rect(struct mesh *m, const struct scene_item *it)
{
    float d = m->density;
    struct mesh_box b = scaled(it->u.rect.box, d);
    float soft = it->u.rect.soft * d, w = b.x1 - b.x0, h = b.y1 - b.y0;
    if (!(w > 0 && h > 0)) return;
    /* A disc that grew by a pixel along one axis would look dented; it stays as it is. */
    bool disc = fabsf(w - h) < 0.5f && 2 * it->u.rect.radius * d > w - 0.5f;
    struct mesh_box on_grid = snapped(b);
    bool crisp = soft <= 0 && !disc && !is_empty(on_grid);
    struct scene_rgba fill = it->u.rect.fill;
    if (crisp) {
        b = on_grid;
    } else { /* thinner than a pixel: as faint as it is thin */
        float thin = fminf(w, 1) * fminf(h, 1);
        fill.a = (uint8_t)lroundf((float)fill.a * thin);
        float gx = fmaxf(0, 1 - w) / 2, gy = fmaxf(0, 1 - h) / 2;
        b = (struct mesh_box){b.x0 - gx, b.y0 - gy, b.x1 + gx, b.y1 + gy};
    }
    w = b.x1 - b.x0;
    h = b.y1 - b.y0;
    float cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2;
    float border = it->u.rect.border > 0 ? fmaxf(1, snap(it->u.rect.border * d)) : 0;
    struct mesh_vertex p = {
        .half_w = w / 2,
        .half_h = h / 2,
        .radius = fminf(it->u.rect.radius * d, fminf(w, h) / 2),
        .border = border,
        .feather = 1 / fmaxf(1, soft),
        .fill = fill,
        .line = border > 0 ? it->u.rect.stroke : fill,
    };
    bool plain = crisp && p.radius <= 0 && border <= 0, big = w * h >= BIG;
    if (plain && fill.a == 255 && big) {
        box_quad(m, MESH_FILL, b, &p, cx, cy);
        return;
    }
    float t = ceilf(fmaxf(p.radius, border)) + 1;
    if (crisp && big && (fill.a == 255 || fill.a == 0) && 2 * t < fminf(w, h)) {
        rim(m, b, t, &p, cx, cy);
        if (fill.a) box_quad(m, MESH_FILL, grow(b, -t), &p, cx, cy);
        return;
    }
    box_quad(m, MESH_SHAPE, crisp ? b : grow(b, fmaxf(1, soft / 2 + 0.5f)), &p, cx, cy);
}

/* ---- lines ---------------------------------------------------------------------------- */

/* A line along an axis, on whole pixels across it. */
static void straight(struct mesh *m, bool vertical, float from, float to, float at,
                     float width, float dash, struct scene_rgba color)
{
    float wide = fmaxf(1, snap(width));
    float low = snap(at - wide / 2);
    float end = dash > 0 ? to : fmaxf(snap(to), snap(from) + 1);
    float step = dash > 0 ? 2 * dash : fmaxf(1, end - snap(from));
    float begin = dash > 0 ? from : snap(from);
    for (int k = 0; k < DASHES_MAX && begin + (float)k * step < end; k++) {
        float a = begin + (float)k * step;
        float b = dash > 0 ? fminf(a + dash, end) : end;
        struct mesh_box box = vertical ? (struct mesh_box){low, a, low + wide, b}
                                       : (struct mesh_box){a, low, b, low + wide};
        struct mesh_vertex p = {.half_w = (box.x1 - box.x0) / 2,
                                .half_h = (box.y1 - box.y0) / 2,
                                .feather = 1,
                                .fill = color,
                                .line = color};
        box_quad(m, MESH_SHAPE, dash > 0 ? grow(box, 1) : box, &p, (box.x0 + box.x1) / 2,
                 (box.y0 + box.y1) / 2);
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
                                        .feather = 1,
                                        .fill = color,
                                        .line = color};
        }
        convex(m, v, 4);
    }
}

static void add_line(struct mesh *m, const struct scene_item *it)
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
static void add_poly(struct mesh *m, const struct scene_item *it)
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
                                .feather = 1,
                                .fill = it->u.poly.fill,
                                .line = it->u.poly.fill};
        struct mesh_vertex v[3] = {p, p, p};
        const float px[3] = {cx, gx[i], gx[j]}, py[3] = {cy, gy[i], gy[j]};
        for (int k = 0; k < 3; k++) {
            v[k].x = px[k];
            v[k].y = py[k];
            v[k].local_x = FAR + (px[k] - x[i]) * nx[i] + (py[k] - y[i]) * ny[i];
        }
        convex(m, v, 3);
    }
}

/* ---- text -------------------------------------------------------------------------------- */

static bool add_text(struct mesh *m, const struct scene_item *it,
                     const struct mesh_text *text)
{
    enum scene_font font = it->u.text.font;
    float size = it->u.text.size * m->density;
    float pen = it->u.text.x * m->density, base = snap(it->u.text.y * m->density);
    struct mesh_box near = grow(m->clip, 2 * size);
    if (!(size > 0) || base < near.y0 || base > near.y1) return true;
    float scale = fmaxf(1, size / GLYPH_MAX);
    struct mesh_vertex p = {.half_w = FAR,
                            .half_h = FAR,
                            .feather = 1,
                            .fill = it->u.text.color,
                            .line = it->u.text.color};
    const char *at = it->u.text.text;
    for (uint32_t code; at && (code = utf8_next(&at)) != 0;) {
        float advance = font_advance(text->metrics, font, code) * size;
        float x = pen;
        pen += advance;
        if (code == ' ' || x < near.x0) continue;
        if (x > near.x1) break;
        const struct glyph *g = atlas_glyph(text->atlas, text->fonts, font, code,
                                            size / scale, advance / scale);
        if (!g) return false;
        float whole = floorf((x * FONTS_PHASES + 0.5f) / FONTS_PHASES);
        float phase = floorf(x * FONTS_PHASES + 0.5f) - whole * FONTS_PHASES;
        struct mesh_box b = {whole + (float)g->left * scale, base - (float)g->top * scale,
                             0, 0};
        b.x1 = b.x0 + (float)g->w * scale;
        b.y1 = b.y0 + (float)g->h * scale;
        struct mesh_box seen = intersect(b, m->clip);
        if (is_empty(seen)) continue;
        struct mesh_vertex *v = push(m, MESH_SHAPE);
        if (!v) return false;
        float u = (float)g->u + phase * (float)g->w;
        for (int i = 0; i < 4; i++) {
            v[i] = p;
            v[i].x = i == 0 || i == 3 ? seen.x0 : seen.x1;
            v[i].y = i < 2 ? seen.y0 : seen.y1;
            v[i].u = u + (v[i].x - b.x0) / scale;
            v[i].v = (float)g->v + (v[i].y - b.y0) / scale;
        }
    }
    return true;
}

/* ---- heat maps ---------------------------------------------------------------------------- */

struct mesh_box mesh_heat_bounds(const struct scene_heat *heat, float density)
{
    struct mesh_box b = {(heat->x + (float)heat->col0 * heat->cell_w) * density,
                         (heat->y + (float)heat->row0 * heat->cell_h) * density,
                         (heat->x + (float)heat->col1 * heat->cell_w) * density,
                         (heat->y + (float)heat->row1 * heat->cell_h) * density};
    b = snapped(b);
    b.x1 = fmaxf(b.x1, b.x0 + 1);
    b.y1 = fmaxf(b.y1, b.y0 + 1);
    return b;
}

static void add_heat(struct mesh *m, const struct scene_item *it)
{
    const struct scene_heat *h = &it->u.heat;
    if (!h->m.data || h->row0 >= h->row1 || h->col0 >= h->col1 || !(h->cell_w > 0) ||
        !(h->cell_h > 0) || !(h->alpha > 0))
        return;
    struct mesh_vertex p = {0};
    int before = m->n_run;
    box_quad(m, MESH_HEAT, mesh_heat_bounds(h, m->density), &p, 0, 0);
    if (m->n_run > before) m->run[before].heat = h;
}

bool mesh_add(struct mesh *m, const struct scene_item *it, const struct mesh_text *text)
{
    m->clip = intersect(snapped(scaled(it->clip, m->density)), m->view);
    if (is_empty(m->clip)) return true;
    int n_quad = m->n_quad, n_run = m->n_run;
    int count = n_run > 0 ? m->run[n_run - 1].count : 0;
    bool ok = true;
    switch (it->kind) {
    case SCENE_RECT:
        add_rect(m, it);
        break;
    case SCENE_POLY:
        add_poly(m, it);
        break;
    case SCENE_LINE:
        add_line(m, it);
        break;
    case SCENE_TEXT:
        ok = add_text(m, it, text);
        break;
    case SCENE_HEAT:
        add_heat(m, it);
        break;
    }
    if (ok && !m->full) return true;
    m->n_quad = n_quad;
    m->n_run = n_run;
    if (n_run > 0) m->run[n_run - 1].count = count;
    return false;
}
