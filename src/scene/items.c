/* The display list: pushing items, finding what lies under the pointer. */
#include "scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_ROOM = 1 << 20 }; /* bytes of a frame's texts and small matrices */

size_t scene_bytes(void)
{
    return (SCENE_ROOM + 1) * sizeof(struct scene_item) + TEXT_ROOM;
}

bool scene_begin(struct scene *sc, struct arena *mem, const struct font_metrics *font,
                 enum step_theme theme, float w, float h, struct err *e)
{
    *sc = (struct scene){
        .room = SCENE_ROOM, .w = w, .h = h, .theme = theme, .mem = mem, .font = font};
    sc->items = arena_take(mem, SCENE_ROOM + 1, sizeof *sc->items); /* push clears */
    if (!sc->items)
        return err_set(e, ERR_SYSTEM, "out of memory for a picture of %d items",
                       SCENE_ROOM);
    sc->clip = (struct scene_rect){0, 0, w, h};
    sc->frame = scene_frame_of(w, h);
    return true;
}

/* The place behind the last item is the spare that a full list hands out. */
static struct scene_item *push(struct scene *sc, enum scene_kind kind)
{
    if (sc->n == sc->room) sc->full = true;
    struct scene_item *it = &sc->items[sc->n < sc->room ? sc->n++ : sc->room];
    *it = (struct scene_item){.kind = kind, .clip = sc->clip};
    return it;
}

struct scene_item *scene_rect(struct scene *sc, struct scene_rect box, float radius,
                              struct scene_rgba fill)
{
    struct scene_item *it = push(sc, SCENE_RECT);
    it->u.rect.box = box;
    it->u.rect.radius = radius;
    it->u.rect.fill = fill;
    return it;
}

struct scene_item *scene_border(struct scene *sc, struct scene_rect box, float radius,
                                float border, struct scene_rgba fill,
                                struct scene_rgba stroke)
{
    struct scene_item *it = scene_rect(sc, box, radius, fill);
    it->u.rect.border = border;
    it->u.rect.stroke = stroke;
    return it;
}

struct scene_item *scene_line(struct scene *sc, float x0, float y0, float x1, float y1,
                              float width, struct scene_rgba color)
{
    struct scene_item *it = push(sc, SCENE_LINE);
    it->u.line.x0 = x0;
    it->u.line.y0 = y0;
    it->u.line.x1 = x1;
    it->u.line.y1 = y1;
    it->u.line.width = width;
    it->u.line.color = color;
    return it;
}

struct scene_item *scene_triangle(struct scene *sc, const float x[3], const float y[3],
                                  struct scene_rgba fill)
{
    struct scene_item *it = push(sc, SCENE_POLY);
    for (int i = 0; i < 3; i++) {
        it->u.poly.x[i] = x[i];
        it->u.poly.y[i] = y[i];
    }
    it->u.poly.n = 3;
    it->u.poly.fill = fill;
    return it;
}

struct scene_item *scene_text(struct scene *sc, float x, float baseline,
                              enum scene_align align, enum scene_font font, float size,
                              struct scene_rgba color, const char *text)
{
    if (align != ALIGN_LEFT) {
        float w = font_width(sc->font, font, size, text, -1);
        x -= align == ALIGN_RIGHT ? w : w / 2;
    }
    struct scene_item *it = push(sc, SCENE_TEXT);
    it->u.text.x = x;
    it->u.text.y = baseline;
    it->u.text.size = size;
    it->u.text.font = font;
    it->u.text.color = color;
    it->u.text.text = text;
    return it;
}

const char *scene_print(struct scene *sc, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) return "";
    if (n >= (int)sizeof text) n = (int)sizeof text - 1;
    const char *kept = arena_text(sc->mem, text, (size_t)n);
    if (kept) return kept;
    sc->full = true;
    return "";
}

struct scene_item *scene_heat(struct scene *sc, const struct scene_heat *heat)
{
    struct scene_item *it = push(sc, SCENE_HEAT);
    it->u.heat = *heat;
    return it;
}

/* ---- boxes and picking ------------------------------------------------------------- */

static struct scene_rect box_around(const float *x, const float *y, int n, float margin)
{
    float x0 = x[0], x1 = x[0], y0 = y[0], y1 = y[0];
    for (int i = 1; i < n; i++) {
        x0 = fminf(x0, x[i]);
        x1 = fmaxf(x1, x[i]);
        y0 = fminf(y0, y[i]);
        y1 = fmaxf(y1, y[i]);
    }
    return (struct scene_rect){x0 - margin, y0 - margin, x1 - x0 + 2 * margin,
                               y1 - y0 + 2 * margin};
}

struct scene_rect scene_item_box(const struct scene *sc, const struct scene_item *it)
{
    switch (it->kind) {
    case SCENE_RECT:
        return it->u.rect.box;
    case SCENE_POLY:
        return box_around(it->u.poly.x, it->u.poly.y, it->u.poly.n, 0);
    case SCENE_LINE: {
        float x[2] = {it->u.line.x0, it->u.line.x1},
              y[2] = {it->u.line.y0, it->u.line.y1};
        return box_around(x, y, 2, it->u.line.width / 2);
    }
    case SCENE_TEXT: {
        float w =
            font_width(sc->font, it->u.text.font, it->u.text.size, it->u.text.text, -1);
        float cap = sc->font->cap[it->u.text.font] * it->u.text.size;
        float drop = 0.25f * it->u.text.size; /* of g, j, p, q, y */
        if (it->u.text.turned)
            return (struct scene_rect){it->u.text.x - cap, it->u.text.y - w, cap + drop,
                                       w};
        return (struct scene_rect){it->u.text.x, it->u.text.y - cap, w, cap + drop};
    }
    case SCENE_HEAT: {
        const struct scene_heat *t = &it->u.heat;
        return (struct scene_rect){t->x + (float)t->col0 * t->cell_w,
                                   t->y + (float)t->row0 * t->cell_h,
                                   (float)(t->col1 - t->col0) * t->cell_w,
                                   (float)(t->row1 - t->row0) * t->cell_h};
    }
    }
    return (struct scene_rect){0, 0, 0, 0};
}

static bool inside(struct scene_rect r, float x, float y)
{
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

static int clamp_to(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static struct step_ref cell_under(const struct scene_item *it, float x, float y)
{
    const struct scene_heat *t = &it->u.heat;
    int i = clamp_to((int)floorf((y - t->y) / t->cell_h), t->row0, t->row1 - 1);
    int j = clamp_to((int)floorf((x - t->x) / t->cell_w), t->col0, t->col1 - 1);
    if (it->hit.transposed) return (struct step_ref){it->hit.tensor, j, i};
    return (struct step_ref){it->hit.tensor, i, j};
}

struct scene_at scene_pick(const struct scene *sc, float x, float y)
{
    struct scene_at at = {NULL, step_no_ref()};
    for (int n = sc->n - 1; n >= 0; n--) {
        const struct scene_item *it = &sc->items[n];
        if (it->hit.kind == HIT_NONE || !inside(it->clip, x, y)) continue;
        if (!inside(scene_item_box(sc, it), x, y)) continue;
        at.item = it;
        if (it->kind == SCENE_HEAT && it->hit.kind == HIT_CELLS)
            at.cell = cell_under(it, x, y);
        return at;
    }
    return at;
}

bool scene_is_to_come(const struct scene_at *at)
{
    if (!at->item || at->item->hit.kind != HIT_CELLS || at->item->kind != SCENE_HEAT)
        return false;
    const struct scene_heat *t = &at->item->u.heat;
    bool turned = at->item->hit.transposed;
    int i = turned ? at->cell.col : at->cell.row,
        j = turned ? at->cell.row : at->cell.col;
    return (int64_t)(i - t->row0) * (t->col1 - t->col0) + (j - t->col0) >= t->shown;
}

const struct scene_item *scene_find(const struct scene *sc, int id)
{
    for (int n = sc->n - 1; n >= 0 && id > 0; n--)
        if (sc->items[n].hit.id == id) return &sc->items[n];
    return NULL;
}
