/* Items become quads, clipped here, so that no pass needs a scissor. Text is laid out
 * here; the other shapes have files of their own. */
#include "mesh.h"

#include <math.h>
#include <string.h>

static const float FAR = 1024; /* pixels: a box of this half size has no edge nearby */
static const float GLYPH_MAX = 256; /* pixels; larger text is a scaled picture */
enum { CORNERS = 12 };              /* of a quad cut by four edges, and some */

bool mesh_init(struct mesh *m, struct arena *mem, struct err *e)
{
    *m = (struct mesh){0};
    m->vertex = arena_take(mem, (size_t)4 * MESH_QUADS, sizeof *m->vertex);
    m->run = arena_take(mem, MESH_RUNS, sizeof *m->run);
    if (!m->vertex || !m->run)
        return err_set(e, ERR_SYSTEM, "out of memory for what is drawn");
    return true;
}

void mesh_clear(struct mesh *m)
{
    m->n_quad = m->n_run = 0;
    m->full = false;
}

struct mesh_box mesh_intersect(struct mesh_box a, struct mesh_box b)
{
    return (struct mesh_box){fmaxf(a.x0, b.x0), fmaxf(a.y0, b.y0), fminf(a.x1, b.x1),
                             fminf(a.y1, b.y1)};
}

bool mesh_is_empty(struct mesh_box b)
{
    return !(b.x0 < b.x1 && b.y0 < b.y1); /* NaN is empty too */
}

struct mesh_box mesh_grow(struct mesh_box b, float by)
{
    return (struct mesh_box){b.x0 - by, b.y0 - by, b.x1 + by, b.y1 + by};
}

float mesh_snap(float v)
{
    return floorf(v + 0.5f);
}

struct mesh_box mesh_scaled(struct scene_rect r, float density)
{
    return (struct mesh_box){r.x * density, r.y * density, (r.x + r.w) * density,
                             (r.y + r.h) * density};
}

struct mesh_box mesh_snapped(struct mesh_box b)
{
    return (struct mesh_box){mesh_snap(b.x0), mesh_snap(b.y0), mesh_snap(b.x1),
                             mesh_snap(b.y1)};
}

struct mesh_vertex *mesh_push(struct mesh *m, enum mesh_pass pass)
{
    bool joins = m->n_run > 0 && pass != MESH_HEAT && m->run[m->n_run - 1].pass == pass;
    if (m->n_quad == MESH_QUADS || (!joins && m->n_run == MESH_RUNS)) {
        m->full = true;
        return NULL;
    }
    if (!joins) m->run[m->n_run++] = (struct mesh_run){pass, m->n_quad, 0, NULL};
    m->run[m->n_run - 1].count++;
    return m->vertex + (size_t)4 * (size_t)m->n_quad++;
}

static float area(struct mesh_box b)
{
    return (b.x1 - b.x0) * (b.y1 - b.y0);
}

static bool holds(struct mesh_box outer, struct mesh_box b)
{
    return outer.x0 <= b.x0 && outer.y0 <= b.y0 && outer.x1 >= b.x1 && outer.y1 >= b.y1;
}

static bool is_covered(const struct mesh *m, struct mesh_box b)
{
    for (int i = 0; i < m->n_cover; i++)
        if (holds(m->cover[i], b)) return true;
    return false;
}

/* A quad's parts have this in common: see mesh_quad. */
struct quad {
    enum mesh_pass pass;
    struct mesh_box box;
    const struct mesh_vertex *proto;
    float cx, cy, unit;
    bool textured;
};

static void add_part(struct mesh *m, const struct quad *q, struct mesh_box b)
{
    struct mesh_vertex *v = mesh_push(m, q->pass);
    if (!v) return;
    for (int i = 0; i < 4; i++) {
        v[i] = *q->proto;
        v[i].x = i == 0 || i == 3 ? b.x0 : b.x1;
        v[i].y = i < 2 ? b.y0 : b.y1;
        v[i].local_x = (v[i].x - q->cx) / q->unit;
        v[i].local_y = (v[i].y - q->cy) / q->unit;
        if (!q->textured) continue;
        v[i].u += v[i].x - q->box.x0;
        v[i].v += v[i].y - q->box.y0;
    }
}

/* What of b no cover from the k-th on hides. Small boxes are not worth cutting. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are covers, a few
static void add_uncovered(struct mesh *m, const struct quad *q, struct mesh_box b, int k)
{
    for (; k < m->n_cover; k++) {
        struct mesh_box c = mesh_intersect(b, m->cover[k]);
        if (mesh_is_empty(c)) continue;
        if (holds(c, b)) return;
        if (q->pass == MESH_HEAT || area(b) < MESH_BIG) continue;
        const struct mesh_box rest[4] = {{b.x0, b.y0, b.x1, c.y0},
                                         {b.x0, c.y0, c.x0, c.y1},
                                         {c.x1, c.y0, b.x1, c.y1},
                                         {b.x0, c.y1, b.x1, b.y1}};
        for (int i = 0; i < 4; i++)
            if (!mesh_is_empty(rest[i])) add_uncovered(m, q, rest[i], k + 1);
        return;
    }
    add_part(m, q, b);
}

void mesh_quad(struct mesh *m, enum mesh_pass pass, struct mesh_box box,
               const struct mesh_vertex *proto, float cx, float cy, float unit,
               bool textured)
{
    struct mesh_box b = mesh_intersect(box, m->clip);
    const struct quad q = {pass, box, proto, cx, cy, unit, textured};
    if (!mesh_is_empty(b)) add_uncovered(m, &q, b, 0);
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

void mesh_convex(struct mesh *m, const struct mesh_vertex *corner, int n)
{
    struct mesh_vertex a[CORNERS], b[CORNERS];
    memcpy(a, corner, (size_t)n * sizeof *a);
    for (int edge = 0; edge < 4 && n > 0; edge++) {
        n = clip_edge(m->clip, edge, a, n, b);
        memcpy(a, b, (size_t)n * sizeof *a);
    }
    struct mesh_box all = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < n; i++)
        all = (struct mesh_box){fminf(all.x0, a[i].x), fminf(all.y0, a[i].y),
                                fmaxf(all.x1, a[i].x), fmaxf(all.y1, a[i].y)};
    if (is_covered(m, all)) return;
    for (int i = 1; i + 1 < n; i += 2) {
        struct mesh_vertex *v = mesh_push(m, MESH_SHAPE);
        if (!v) return;
        v[0] = a[0];
        v[1] = a[i];
        v[2] = a[i + 1];
        v[3] = i + 2 < n ? a[i + 2] : a[i + 1];
    }
}

/* ---- text -------------------------------------------------------------------------------- */

/* A glyph's quad. turned: b and what is seen of it lie as they would be read along a line
 * from (ax, ay); they are turned around it. */
struct glyph_quad {
    struct mesh_box box;
    float u, v, scale; /* texels at the box's corner, pixels a texel */
    bool turned;
    float ax, ay;
};

static bool add_glyph(struct mesh *m, const struct mesh_vertex *proto,
                      const struct glyph_quad *q)
{
    struct mesh_box b = q->box, on = b;
    if (q->turned) /* (x, y) comes to lie at (ax + y - ay, ay - (x - ax)) */
        on = (struct mesh_box){q->ax + b.y0 - q->ay, q->ay - (b.x1 - q->ax),
                               q->ax + b.y1 - q->ay, q->ay - (b.x0 - q->ax)};
    struct mesh_box seen = mesh_intersect(on, m->clip);
    if (mesh_is_empty(seen) || is_covered(m, seen)) return true;
    struct mesh_vertex *v = mesh_push(m, MESH_SHAPE);
    if (!v) return false;
    for (int i = 0; i < 4; i++) {
        v[i] = *proto;
        v[i].x = i == 0 || i == 3 ? seen.x0 : seen.x1;
        v[i].y = i < 2 ? seen.y0 : seen.y1;
        float x = q->turned ? q->ax + q->ay - v[i].y : v[i].x;
        float y = q->turned ? q->ay + v[i].x - q->ax : v[i].y;
        v[i].u = q->u + (x - b.x0) / q->scale;
        v[i].v = q->v + (y - b.y0) / q->scale;
    }
    return true;
}

static bool add_text(struct mesh *m, const struct scene_item *it,
                     const struct mesh_text *text)
{
    enum scene_font font = it->u.text.font;
    float size = it->u.text.size * m->density;
    bool turned = it->u.text.turned;
    float pen = it->u.text.x * m->density, base = mesh_snap(it->u.text.y * m->density);
    if (turned) pen = mesh_snap(pen); /* its baseline stands upright */
    float ax = pen, ay = base;
    struct mesh_box near = mesh_grow(m->clip, 2 * size);
    if (turned) /* the clip, as the line is read */
        near = (struct mesh_box){ax + ay - near.y1, ay + near.x0 - ax, ax + ay - near.y0,
                                 ay + near.x1 - ax};
    if (!(size > 0) || base < near.y0 || base > near.y1) return true;
    float scale = fmaxf(1, size / GLYPH_MAX);
    struct mesh_vertex p = {
        .half_w = FAR, .half_h = FAR, .fill = it->u.text.color, .line = it->u.text.color};
    if (!it->u.text.text) return true;
    struct scene_glyphs all;
    struct scene_glyph each;
    scene_glyphs_begin(&all, text->metrics, font, it->u.text.text, -1);
    while (scene_glyphs_next(&all, &each)) {
        float room = each.room * size, x = pen + (each.advance - each.room) * size;
        pen += each.advance * size;
        if (each.code == ' ' || x < near.x0) continue;
        if (x > near.x1) break;
        const struct glyph *g = atlas_glyph(text->atlas, text->fonts, font, each.code,
                                            size / scale, room / scale);
        if (!g) return false;
        float whole = floorf((x * FONTS_PHASES + 0.5f) / FONTS_PHASES);
        float phase = floorf(x * FONTS_PHASES + 0.5f) - whole * FONTS_PHASES;
        struct mesh_box b = {whole + (float)g->left * scale, base - (float)g->top * scale,
                             0, 0};
        b.x1 = b.x0 + (float)g->w * scale;
        b.y1 = b.y0 + (float)g->h * scale;
        const struct glyph_quad q = {
            b, (float)g->u + phase * (float)g->w, (float)g->v, scale, turned, ax, ay};
        if (!add_glyph(m, &p, &q)) return false;
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
    b = mesh_snapped(b);
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
    if (mesh_cells_fit(m, h)) {
        mesh_cells(m, h);
        return;
    }
    struct mesh_vertex p = {0};
    int before = m->n_run;
    mesh_quad(m, MESH_HEAT, mesh_heat_bounds(h, m->density), &p, 0, 0, 1, false);
    if (m->n_run > before) m->run[before].heat = h;
}

bool mesh_add(struct mesh *m, const struct scene_item *it, const struct mesh_text *text)
{
    m->clip = mesh_intersect(mesh_snapped(mesh_scaled(it->clip, m->density)), m->view);
    if (mesh_is_empty(m->clip)) return true;
    int n_quad = m->n_quad, n_run = m->n_run;
    int count = n_run > 0 ? m->run[n_run - 1].count : 0;
    bool ok = true;
    switch (it->kind) {
    case SCENE_RECT:
        mesh_rect(m, it);
        break;
    case SCENE_POLY:
        mesh_poly(m, it);
        break;
    case SCENE_LINE:
        mesh_line(m, it);
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
