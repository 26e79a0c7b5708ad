/* Items become paths, with the same rules as the window's (mesh.c of gfx): boxes and
 * straight lines lie on whole pixels, in vectors on whole points. */
#include "paint.h"

#include "heat.h"

#include <math.h>

enum { PATH_ROOM = 1 << 16, SHADOW_STEPS = 16 };
static const float TEXT_MARGIN = 0.5f; /* of the size: glyphs beyond their line box */

struct painter {
    struct pen *pen;
    const struct scene *sc;
    float grid; /* lines a point that edges lie on */
    struct scene_rect part;
    struct scene_rect clip; /* pushed, where clipped */
    bool clipped;
    struct path path;
};

size_t paint_bytes(void)
{
    return PATH_ROOM * sizeof(struct path_step);
}

static float snap(const struct painter *p, float v)
{
    return floorf(v * p->grid + 0.5f) / p->grid;
}

static bool is_empty(struct scene_rect r)
{
    return !(r.w > 0 && r.h > 0); /* NaN is empty too */
}

static struct scene_rect between(float x0, float y0, float x1, float y1)
{
    return (struct scene_rect){x0, y0, x1 - x0, y1 - y0};
}

static struct scene_rect intersect(struct scene_rect a, struct scene_rect b)
{
    return between(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fminf(a.x + a.w, b.x + b.w),
                   fminf(a.y + a.h, b.y + b.h));
}

static bool contains(struct scene_rect a, struct scene_rect b)
{
    return b.x >= a.x && b.y >= a.y && b.x + b.w <= a.x + a.w && b.y + b.h <= a.y + a.h;
}

static struct scene_rect grow(struct scene_rect r, float by)
{
    return between(r.x - by, r.y - by, r.x + r.w + by, r.y + r.h + by);
}

static struct scene_rect snapped(const struct painter *p, struct scene_rect r)
{
    return between(snap(p, r.x), snap(p, r.y), snap(p, r.x + r.w), snap(p, r.y + r.h));
}

static void fill_box(struct painter *p, struct scene_rect box, float radius,
                     struct scene_rgba color)
{
    if (is_empty(box) || color.a == 0) return;
    p->path.n = 0;
    path_box(&p->path, box, fminf(fmaxf(radius, 0), fminf(box.w, box.h) / 2));
    p->pen->k->fill(p->pen, &p->path, color);
}

/* ---- rectangles ------------------------------------------------------------------------- */

/* An edge that fades from full to nothing over `soft`: boxes upon boxes, each as opaque as
 * is missing on what the ones around it have laid. */
static void shadow(struct painter *p, struct scene_rect box, float radius, float soft,
                   struct scene_rgba color)
{
    float have = 0;
    for (int k = 0; k < SHADOW_STEPS; k++) {
        float want = (float)color.a / 255.0f * ((float)k + 0.5f) / (float)SHADOW_STEPS;
        float out = soft * (0.5f - ((float)k + 0.5f) / (float)SHADOW_STEPS);
        struct scene_rgba c = color;
        c.a = (uint8_t)lrintf((want - have) / (1 - have) * 255.0f);
        if (c.a == 0) continue; /* too faint by itself: the next one has it */
        have += (1 - have) * (float)c.a / 255.0f;
        fill_box(p, grow(box, out), radius + out, c);
    }
}

static void draw_rect(struct painter *p, const struct scene_item *it)
{
    struct scene_rect box = it->u.rect.box;
    float radius = it->u.rect.radius, unit = 1 / p->grid;
    struct scene_rgba fill = it->u.rect.fill, stroke = it->u.rect.stroke;
    if (is_empty(box)) return;
    if (it->u.rect.soft > 0) {
        shadow(p, box, radius, it->u.rect.soft, fill);
        return;
    }
    /* A disc that grew along one axis would look dented; it stays as it is. */
    bool disc = fabsf(box.w - box.h) < unit / 2 && 2 * radius > box.w - unit / 2;
    struct scene_rect on_grid = snapped(p, box);
    if (!disc && !is_empty(on_grid)) {
        box = on_grid;
    } else { /* thinner than a pixel: as faint as it is thin */
        float thin = fminf(box.w / unit, 1) * fminf(box.h / unit, 1);
        fill.a = (uint8_t)lroundf((float)fill.a * thin);
        float gx = fmaxf(0, unit - box.w) / 2, gy = fmaxf(0, unit - box.h) / 2;
        box = between(box.x - gx, box.y - gy, box.x + box.w + gx, box.y + box.h + gy);
    }
    radius = fminf(radius, fminf(box.w, box.h) / 2);
    float border = it->u.rect.border;
    if (!(border > 0)) {
        fill_box(p, box, radius, fill);
        return;
    }
    border = fmaxf(unit, snap(p, border));
    float under = stroke.a == 255 ? border / 2 : border; /* no seam, nothing twice */
    fill_box(p, grow(box, -under), radius - under, fill);
    struct scene_rect middle = grow(box, -border / 2);
    if (is_empty(middle) || stroke.a == 0) return;
    p->path.n = 0;
    path_box(&p->path, middle, fmaxf(radius - border / 2, 0));
    p->pen->k->stroke(p->pen, &p->path, border, 0, stroke);
}

/* ---- lines and polygons ------------------------------------------------------------------- */

static void draw_line(struct painter *p, const struct scene_item *it)
{
    float x0 = it->u.line.x0, y0 = it->u.line.y0, x1 = it->u.line.x1, y1 = it->u.line.y1;
    float width = it->u.line.width, dash = it->u.line.dash, unit = 1 / p->grid;
    struct scene_rgba color = it->u.line.color;
    if (!(width > 0)) return;
    p->path.n = 0;
    if (x0 == x1 || y0 == y1) { /* along an axis: on whole pixels across it */
        bool vertical = x0 == x1;
        float at = vertical ? x0 : y0;
        float from = vertical ? fminf(y0, y1) : fminf(x0, x1);
        float to = vertical ? fmaxf(y0, y1) : fmaxf(x0, x1);
        width = fmaxf(unit, snap(p, width));
        at = snap(p, at - width / 2) + width / 2;
        if (!(dash > 0)) {
            from = snap(p, from);
            to = fmaxf(snap(p, to), from + unit);
        }
        path_move(&p->path, vertical ? at : from, vertical ? from : at);
        path_line(&p->path, vertical ? at : to, vertical ? to : at);
    } else {
        if (width < unit) {
            color.a = (uint8_t)lroundf((float)color.a * width / unit);
            width = unit;
        }
        path_move(&p->path, x0, y0);
        path_line(&p->path, x1, y1);
    }
    p->pen->k->stroke(p->pen, &p->path, width, dash, color);
}

static void draw_poly(struct painter *p, const struct scene_item *it)
{
    int n = it->u.poly.n;
    if (n < 3 || n > 4) return;
    p->path.n = 0;
    path_move(&p->path, it->u.poly.x[0], it->u.poly.y[0]);
    for (int i = 1; i < n; i++) path_line(&p->path, it->u.poly.x[i], it->u.poly.y[i]);
    path_close(&p->path);
    p->pen->k->fill(p->pen, &p->path, it->u.poly.fill);
}

static void draw_text(struct painter *p, const struct scene_item *it)
{
    if (!(it->u.text.size > 0) || !it->u.text.text || !*it->u.text.text) return;
    struct pen_text t = {.x = it->u.text.x,
                         .y = snap(p, it->u.text.y),
                         .size = it->u.text.size,
                         .font = it->u.text.font,
                         .color = it->u.text.color,
                         .text = it->u.text.text,
                         .turned = it->u.text.turned};
    if (t.turned) { /* its baseline stands upright */
        t.x = snap(p, it->u.text.x);
        t.y = it->u.text.y;
    }
    p->pen->k->text(p->pen, &t);
}

/* ---- all of it --------------------------------------------------------------------------- */

static void unclip(struct painter *p)
{
    if (p->clipped) p->pen->k->pop(p->pen);
    p->clipped = false;
}

/* What an item may touch. */
static struct scene_rect reach(const struct painter *p, const struct scene_item *it)
{
    struct scene_rect box = scene_item_box(p->sc, it);
    float unit = 1 / p->grid;
    switch (it->kind) {
    case SCENE_TEXT:
        return grow(box, it->u.text.size * TEXT_MARGIN);
    case SCENE_RECT:
        return grow(box, it->u.rect.soft / 2 + unit);
    case SCENE_LINE:
        return grow(box, unit + it->u.line.width / 2);
    case SCENE_POLY:
    case SCENE_HEAT:
        break;
    }
    return grow(box, unit);
}

/* Sees to it that nothing of the item is drawn outside clip. Items in a row that need the
 * same clip share it. */
static void set_clip(struct painter *p, struct scene_rect clip, struct scene_rect box)
{
    bool same = p->clipped && contains(p->clip, clip) && contains(clip, p->clip);
    if (same || (contains(clip, box) && !p->clipped)) return;
    if (contains(clip, box) && contains(p->clip, box)) return;
    unclip(p);
    if (contains(clip, box)) return;
    p->path.n = 0;
    path_box(&p->path, clip, 0);
    p->pen->k->push(p->pen, &p->path, 1);
    p->clip = clip;
    p->clipped = true;
}

static bool draw_item(struct painter *p, const struct scene_item *it)
{
    struct scene_rect clip = intersect(snapped(p, it->clip), p->part);
    struct scene_rect box = reach(p, it);
    if (is_empty(clip) || is_empty(intersect(clip, box))) return true;
    set_clip(p, clip, box);
    switch (it->kind) {
    case SCENE_RECT:
        draw_rect(p, it);
        break;
    case SCENE_POLY:
        draw_poly(p, it);
        break;
    case SCENE_LINE:
        draw_line(p, it);
        break;
    case SCENE_TEXT:
        draw_text(p, it);
        break;
    case SCENE_HEAT:
        return heat_draw(p->pen, &it->u.heat, scene_theme_get(p->sc->theme), clip,
                         &p->path);
    }
    return true;
}

bool paint_scene(struct pen *pen, const struct scene *sc, struct scene_rect part,
                 struct arena *mem, struct err *e)
{
    struct painter p = {
        .pen = pen, .sc = sc, .grid = pen->density > 0 ? pen->density : 1, .part = part};
    pen->view = part;
    p.path.at = arena_push(mem, PATH_ROOM, sizeof *p.path.at);
    p.path.room = PATH_ROOM;
    bool ok = p.path.at != NULL;
    for (int i = 0; ok && i < sc->n; i++) ok = draw_item(&p, &sc->items[i]);
    unclip(&p);
    if (!ok) return err_set(e, ERR_SYSTEM, "no memory for what is drawn");
    return p.path.full ? err_set(e, ERR_SYSTEM, "a shape has too many corners") : true;
}
