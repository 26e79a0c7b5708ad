/* The glyph atlas: one R8 texture, filled as glyphs are first drawn. */
#ifndef HEADLIGHT_GFX_ATLAS_H
#define HEADLIGHT_GFX_ATLAS_H

#include "base.h"
#include "fonts.h"

#include <epoxy/gl.h>

enum { ATLAS_SIZE = 2048, ATLAS_GLYPHS = 8192, ATLAS_SHELVES = 128 };

/* Where a glyph lies: FONTS_PHASES pictures of w x h texels side by side, the first at
 * (u, v). Its top left pixel is (left, -top) from the pen on the baseline. */
struct glyph {
    uint64_t key; /* 0: free */
    uint16_t u, v, w, h;
    int16_t left, top;
};

struct atlas {
    GLuint texture;
    uint8_t *texels;     /* [ATLAS_SIZE, ATLAS_SIZE] */
    int dirty0, dirty1;  /* rows not uploaded yet */
    struct glyph *glyph; /* [ATLAS_GLYPHS], hashed */
    int n_glyph;
    struct {
        int y, h, x;
    } shelf[ATLAS_SHELVES];
    int n_shelf, next_y;
};

bool atlas_init(struct atlas *a, struct arena *mem, struct err *e);
void atlas_fini(struct atlas *a);

/* The texel that is 1 throughout, for shapes that are no glyphs: (0, 0). */

/* The glyph of code at `size` pixels; made where it is new. NULL: the atlas is full, and
 * nothing is drawn from it any more after atlas_reset. advance: see fonts_render. */
const struct glyph *atlas_glyph(struct atlas *a, struct fonts *f, enum scene_font font,
                                uint32_t code, float size, float advance);
void atlas_reset(struct atlas *a);

/* Brings the texture up to date. */
void atlas_upload(struct atlas *a);

#endif
