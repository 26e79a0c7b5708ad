/* The colours of a matrix and what they stand for. */
#include "ramp.h"

#include <limits.h>
#include <math.h>

enum { STEPS = 120 };

float ramp_draw(struct scene *sc, const struct scene_theme *t, const struct ramp *r)
{
    float *cell = arena_push(sc->mem, STEPS, sizeof *cell);
    if (!cell) return r->y;
    for (int i = 0; i < STEPS; i++) {
        float u = ((float)i + 0.5f) / STEPS;
        cell[i] = r->log ? r->hi * powf(10, 4 * (u - 1)) : r->lo + (r->hi - r->lo) * u;
    }
    struct scene_heat heat = {.m = {cell, 1, STEPS, STEPS},
                              .x = r->x,
                              .y = r->y,
                              .cell_w = r->w / STEPS,
                              .cell_h = RAMP_H,
                              .row1 = 1,
                              .col1 = STEPS,
                              .shown = STEPS,
                              .map = r->map,
                              .lo = r->lo,
                              .hi = r->hi,
                              .log = r->log,
                              .gain = 1,
                              .least = r->least,
                              .mask_from = INT_MAX,
                              .alpha = 1,
                              .dim = 1,
                              .focus_row1 = 1,
                              .focus_col1 = STEPS};
    (void)scene_heat(sc, &heat);
    float base = r->y + RAMP_H + r->size + 3;
    const char *left = r->log ? scene_number(sc, r->hi * 1e-4f, 4)
                              : scene_number(sc, r->lo, r->decimals);
    const char *middle = r->log ? "log" : r->map == MAP_DIVERGING ? "0" : NULL;
    (void)scene_text(sc, r->x, base, ALIGN_LEFT, FONT_MONO, r->size, t->ink_faint, left);
    if (middle)
        (void)scene_text(sc, r->x + r->w / 2, base, ALIGN_CENTER, FONT_MONO, r->size,
                         t->ink_faint, middle);
    (void)scene_text(sc, r->x + r->w, base, ALIGN_RIGHT, FONT_MONO, r->size, t->ink_faint,
                     scene_number(sc, r->hi, r->decimals));
    return base;
}
