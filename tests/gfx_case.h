/* Pictures for the tests of gfx: one renderer off screen, one scene, its pixels. */
#ifndef HEADLIGHT_TESTS_GFX_CASE_H
#define HEADLIGHT_TESTS_GFX_CASE_H

#include "gfx.h"

#include <setjmp.h>

#include <cmocka.h>

enum { CASE_W = 320, CASE_H = 200, CASE_MAX_W = 4400, CASE_SKIPPED = 77 };

struct gfx_case {
    struct gfx *gfx;
    struct arena mem;
    struct scene scene;
    uint8_t *pixels; /* [CASE_H, CASE_MAX_W] at most, RGBA */
    int w, h;        /* of the last picture */
};

/* 0; CASE_SKIPPED, having said why, where there is no OpenGL; 1 where anything else is
 * missing. */
int gfx_case_init(struct gfx_case *c);
void gfx_case_fini(struct gfx_case *c);

/* A new empty scene, which shows the theme's paper. */
struct scene *gfx_case_scene(struct gfx_case *c, enum step_theme theme);
/* Draws it at density 1 in CASE_W x CASE_H. Fails the test where that fails. */
void gfx_case_draw(struct gfx_case *c);
void gfx_case_draw_at(struct gfx_case *c, float density, int w, int h);
struct scene_rgba gfx_case_pixel(const struct gfx_case *c, int x, int y);

/* No channel differs by more than `most`. */
bool gfx_case_near(struct scene_rgba a, struct scene_rgba b, int most);
#define assert_color(a, b, most) assert_true(gfx_case_near(a, b, most))

/* Sum of the darkening of the paper, 1 for a black pixel on white, in part of the last
 * picture of a light scene whose ink is black. */
double gfx_case_ink(const struct gfx_case *c, int x0, int y0, int x1, int y1);

/* Fixed seed, the same on every machine: 0 .. n - 1. */
int gfx_case_random(uint32_t *seed, int n);

#endif
