/* The list as text: one item a line, every field that a reader could see. */
#include "scene.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct out {
    char *text;
    size_t n, room;
};

static void put(struct out *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *format, ...)
{
    if (o->n >= o->room) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(o->text + o->n, o->room - o->n, format, args);
    va_end(args);
    o->n += n > 0 ? (size_t)n : 0;
}

static void put_color(struct out *o, struct scene_rgba c)
{
    put(o, " #%02x%02x%02x", c.r, c.g, c.b);
    if (c.a != 255) put(o, "/%d", c.a);
}

static void put_heat(struct out *o, const struct scene_heat *t)
{
    static const char *const map_name[MAP_COUNT] = {"diverging", "sequential", "cached"};
    put(o, "at %.1f %.1f cell %.2f x %.2f rows %d-%d cols %d-%d shown %lld %s %.4g..%.4g",
        (double)t->x, (double)t->y, (double)t->cell_w, (double)t->cell_h, t->row0,
        t->row1, t->col0, t->col1, (long long)t->shown, map_name[t->map], (double)t->lo,
        (double)t->hi);
    if (t->log) put(o, " log");
    if (t->least > 0) put(o, " least %.4g", (double)t->least);
    if (t->gain != 1) put(o, " gain %.4g", (double)t->gain);
    if (t->mask_from != INT_MAX) put(o, " mask %d", t->mask_from);
    if (t->alpha != 1) put(o, " alpha %.2f", (double)t->alpha);
    if (t->dim != 1)
        put(o, " focus %d-%d %d-%d dim %.2f", t->focus_row0, t->focus_row1, t->focus_col0,
            t->focus_col1, (double)t->dim);
}

static void put_shape(struct out *o, const struct scene_item *it)
{
    switch (it->kind) {
    case SCENE_RECT:
        put(o, "rect %.1f %.1f %.1f %.1f", (double)it->u.rect.box.x,
            (double)it->u.rect.box.y, (double)it->u.rect.box.w, (double)it->u.rect.box.h);
        put_color(o, it->u.rect.fill);
        if (it->u.rect.border > 0) {
            put(o, " border %.1f", (double)it->u.rect.border);
            put_color(o, it->u.rect.stroke);
        }
        return;
    case SCENE_POLY:
        put(o, "poly");
        for (int i = 0; i < it->u.poly.n; i++)
            put(o, " %.1f,%.1f", (double)it->u.poly.x[i], (double)it->u.poly.y[i]);
        put_color(o, it->u.poly.fill);
        return;
    case SCENE_LINE:
        put(o, "line %.1f %.1f %.1f %.1f", (double)it->u.line.x0, (double)it->u.line.y0,
            (double)it->u.line.x1, (double)it->u.line.y1);
        put_color(o, it->u.line.color);
        return;
    case SCENE_TEXT:
        put(o, "text %.1f %.1f size %.1f", (double)it->u.text.x, (double)it->u.text.y,
            (double)it->u.text.size);
        put_color(o, it->u.text.color);
        put(o, "%s \"%s\"", it->u.text.turned ? " turned" : "", it->u.text.text);
        return;
    case SCENE_HEAT:
        put(o, "heat ");
        put_heat(o, &it->u.heat);
        return;
    }
}

static void put_hit(struct out *o, const struct scene_hit *h)
{
    static const char *const kind[] = {"",       "cover", "action",
                                       "slider", "cells", "canvas"};
    if (h->kind == HIT_NONE) return;
    put(o, " [%s", kind[h->kind]);
    if (h->id) put(o, " id %d", h->id);
    if (h->kind == HIT_ACTION || h->kind == HIT_SLIDER)
        put(o, " verb %d %d", (int)h->action.verb, h->action.i);
    if (h->kind == HIT_CELLS)
        put(o, " %s%s", scene_tensor_name(h->tensor), h->transposed ? " transposed" : "");
    put(o, "]");
}

const char *scene_dump(const struct scene *sc, struct arena *mem)
{
    struct out o = {.room = (size_t)sc->n * 200 + 65536};
    o.text = arena_push(mem, o.room, 1);
    if (!o.text) return NULL;
    for (int i = 0; i < sc->n; i++) {
        put_shape(&o, &sc->items[i]);
        put_hit(&o, &sc->items[i].hit);
        put(&o, "\n");
    }
    return o.n < o.room ? o.text : NULL;
}
