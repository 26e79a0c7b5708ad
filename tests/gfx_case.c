/* One renderer off screen for all tests of an executable. */
#include "gfx_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gfx_case_init(struct gfx_case *c)
{
    struct err e = {0};
    struct gfx_config config = {CASE_W, CASE_H, GFX_ANYWHERE, GFX_ANYWHERE, true, NULL};
    *c = (struct gfx_case){0};
    if (!gfx_create(&c->gfx, &config, &e)) {
        bool no_gl = strstr(e.text, "OpenGL") || strstr(e.text, "display");
        (void)fprintf(stderr, "%s: %s\n", no_gl ? "skipped" : "failed", e.text);
        return no_gl ? CASE_SKIPPED : 1;
    }
    if (!arena_init(&c->mem, scene_bytes(), &e)) return 1;
    c->pixels = malloc((size_t)CASE_MAX_W * CASE_H * 4);
    return c->pixels ? 0 : 1;
}

void gfx_case_fini(struct gfx_case *c)
{
    free(c->pixels);
    arena_free(&c->mem);
    gfx_destroy(c->gfx);
}

struct scene *gfx_case_scene(struct gfx_case *c, enum step_theme theme)
{
    struct err e = {0};
    arena_reset(&c->mem);
    assert_true(scene_begin(&c->scene, &c->mem, gfx_metrics(c->gfx), theme, CASE_MAX_W,
                            CASE_H, &e));
    return &c->scene;
}

void gfx_case_draw_at(struct gfx_case *c, float density, int w, int h)
{
    struct err e = {0};
    assert_true(w <= CASE_MAX_W && h <= CASE_H);
    c->w = w;
    c->h = h;
    if (!gfx_picture(c->gfx, &c->scene, density, w, h, c->pixels, &e))
        fail_msg("%s", e.text);
}

void gfx_case_draw(struct gfx_case *c)
{
    gfx_case_draw_at(c, 1, CASE_W, CASE_H);
}

struct scene_rgba gfx_case_pixel(const struct gfx_case *c, int x, int y)
{
    const uint8_t *p = c->pixels + ((size_t)y * (size_t)c->w + (size_t)x) * 4;
    return (struct scene_rgba){p[0], p[1], p[2], p[3]};
}

bool gfx_case_near(struct scene_rgba a, struct scene_rgba b, int most)
{
    return abs(a.r - b.r) <= most && abs(a.g - b.g) <= most && abs(a.b - b.b) <= most;
}

double gfx_case_ink(const struct gfx_case *c, int x0, int y0, int x1, int y1)
{
    double sum = 0, paper = scene_theme_get(STEP_LIGHT)->paper.g;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) sum += 1 - gfx_case_pixel(c, x, y).g / paper;
    return sum;
}

int gfx_case_random(uint32_t *seed, int n)
{
    *seed = *seed * 1664525u + 1013904223u; /* Numerical Recipes, ch. 7.1 */
    return (int)((*seed >> 8) % (uint32_t)n);
}
