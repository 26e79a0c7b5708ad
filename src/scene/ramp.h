/* A colour map and the numbers at its ends. */
#ifndef HEADLIGHT_RAMP_H
#define HEADLIGHT_RAMP_H

#include "scene.h"

enum { RAMP_H = 8 };

struct ramp {
    float x, y, w; /* its left top corner and width; it is RAMP_H high */
    float size;    /* of the letters below */
    enum scene_map map;
    float lo, hi;
    bool log;    /* four powers of ten below hi */
    float least; /* weights below it are left out */
    int decimals;
};

/* The base line of the numbers. */
float ramp_draw(struct scene *sc, const struct scene_theme *t, const struct ramp *r);

#endif
