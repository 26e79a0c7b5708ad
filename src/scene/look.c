/* What a scene looks like, as one number: whoever has drawn it once need not draw it again. */
#include "scene.h"

#include <string.h>

static uint64_t mixed(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio: Knuth 1998, sec. 6.4 */
    return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t n)
{
    const char *at = data;
    uint64_t word = n;
    h = mixed(h, word);
    for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
        memcpy(&word, at, sizeof word);
        h = mixed(h, word);
    }
    word = 0;
    memcpy(&word, at, n);
    return mixed(h, word);
}

/* A field or a struct without padding. */
#define MIX(h, field) mix_bytes(h, &(field), sizeof(field))

static uint64_t mix_heat(uint64_t h, const struct scene_heat *t)
{
    const float sizes[] = {t->x,    t->y,     t->cell_w, t->cell_h, t->lo,  t->hi,
                           t->gain, t->least, t->alpha,  t->dim,    t->gap, t->radius};
    const int counts[] = {t->m.rows,    t->m.cols,     t->row0,       t->row1,
                          t->col0,      t->col1,       (int)t->map,   t->log,
                          t->mask_from, t->focus_row0, t->focus_row1, t->focus_col0,
                          t->focus_col1};
    h = MIX(h, sizes);
    h = MIX(h, counts);
    h = mixed(mixed(h, t->key), (uint64_t)t->shown);
    for (int i = 0; t->key == 0 && i < t->m.rows; i++)
        h = mix_bytes(h, t->m.data + (ptrdiff_t)i * t->m.ld,
                      (size_t)t->m.cols * sizeof *t->m.data);
    return h;
}

static uint64_t mix_item(uint64_t h, const struct scene_item *it)
{
    h = mixed(h, it->kind);
    h = MIX(h, it->clip);
    switch (it->kind) {
    case SCENE_RECT:
        return MIX(h, it->u.rect);
    case SCENE_POLY:
        h = mix_bytes(h, it->u.poly.x, (size_t)it->u.poly.n * sizeof *it->u.poly.x);
        h = mix_bytes(h, it->u.poly.y, (size_t)it->u.poly.n * sizeof *it->u.poly.y);
        return MIX(h, it->u.poly.fill);
    case SCENE_LINE:
        return MIX(h, it->u.line);
    case SCENE_TEXT: {
        const float sizes[] = {it->u.text.x, it->u.text.y, it->u.text.size};
        h = mixed(MIX(h, sizes), it->u.text.turned);
        h = MIX(mixed(h, it->u.text.font), it->u.text.color);
        return mix_bytes(h, it->u.text.text, strlen(it->u.text.text));
    }
    case SCENE_HEAT:
        break;
    }
    return mix_heat(h, &it->u.heat);
}

uint64_t scene_look(const struct scene *sc)
{
    const float size[] = {sc->w, sc->h};
    uint64_t h = mixed(mixed(0, sc->theme), (uint64_t)sc->n);
    h = MIX(h, size);
    for (int i = 0; i < sc->n; i++) h = mix_item(h, &sc->items[i]);
    return h ? h : 1;
}
