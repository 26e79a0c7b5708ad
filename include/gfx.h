/* gfx: the window's renderer. SDL2, OpenGL 3.3 core, glyph atlas, heat maps. */
#ifndef HEADLIGHT_GFX_H
#define HEADLIGHT_GFX_H

#include "base.h"
#include "scene.h"

#include <stdbool.h>
#include <stdint.h>

struct SDL_Window;

struct gfx_config {
    int w, h;               /* window size in screen coordinates */
    int x, y;               /* its place; GFX_ANYWHERE */
    bool offscreen;         /* SDL's offscreen driver: no display is needed */
    const char *shader_dir; /* shaders from files, not the built-in ones; or NULL */
};
enum { GFX_ANYWHERE = INT32_MIN };

struct gfx;

/* Starts SDL video, opens the window and an OpenGL 3.3 core context, finds the fonts.
 * ERR_SYSTEM: no display, no OpenGL 3.3, no font; each says what to do. */
bool gfx_create(struct gfx **g, const struct gfx_config *c, struct err *e);
void gfx_destroy(struct gfx *g); /* NULL is fine */

struct SDL_Window *gfx_window(struct gfx *g);
const struct font_metrics *gfx_metrics(const struct gfx *g);

/* Drawable size in pixels; off screen, what SDL_SetWindowSize asked for. */
void gfx_pixels(const struct gfx *g, int *w, int *h);

/* Draws the scene at `density` pixels a point to the back buffer, or, off screen, to a
 * target of gfx_pixels(). */
bool gfx_draw(struct gfx *g, const struct scene *sc, float density, struct err *e);
void gfx_present(struct gfx *g);

/* Draws into a target of w x h pixels and reads it back: rows from the top, RGBA. */
bool gfx_picture(struct gfx *g, const struct scene *sc, float density, int w, int h,
                 uint8_t *rgba, struct err *e);

/* Reads the shaders of shader_dir again; the old ones stay where one does not compile:
 * ERR_INPUT with file and line. */
bool gfx_reload(struct gfx *g, struct err *e);

#endif
