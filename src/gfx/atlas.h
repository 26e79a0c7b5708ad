/* The glyph atlas: one R8 texture, filled as glyphs are first drawn. */
#ifndef HEADLIGHT_GFX_ATLAS_H
#define HEADLIGHT_GFX_ATLAS_H

#include "base.h"
#include "fonts.h"

#include <epoxy/gl.h>

/* Besides glyphs the atlas holds a texel that is 1 throughout, at (0, 0), and tiles of
 * pattern that begin with their periods: hatch lines, dashes along u, dashes along v. */
enum {
    ATLAS_TILE = 128,       /* texels a side; dashes: along the line */
    ATLAS_TILE_ACROSS = 16, /* dashes: across the line */
    ATLAS_HATCH_U = 8,
    ATLAS_DASH_U = ATLAS_HATCH_U + ATLAS_TILE + 8,
    ATLAS_DASH_V_U = ATLAS_DASH_U + ATLAS_TILE + 8,
    ATLAS_RESERVED = ATLAS_TILE + 4 /* rows */
};
enum {
    ATLAS_SIZE = 1024,
    ATLAS_SIZE_MAX = 4096,
    ATLAS_GLYPHS = 8192,
    ATLAS_SHELVES = 128
};

/* Where a glyph lies: FONTS_PHASES pictures of w x h texels side by side, the first at
 * (u, v). Its top left pixel is (left, -top) from the pen on the baseline. */
struct glyph {
    uint64_t key; /* 0: free */
    uint16_t u, v, w, h;
    int16_t left, top;
};

struct atlas {
    GLuint texture;
    int size; /* of a side: ATLAS_SIZE, doubled when full up to ATLAS_SIZE_MAX */
    struct arena mem;
    uint8_t *texels;     /* [size, size]; all of mem */
    int dirty0, dirty1;  /* rows not uploaded yet */
    struct glyph *glyph; /* [ATLAS_GLYPHS], hashed */
    int n_glyph;
    struct {
        int y, h, x;
    } shelf[ATLAS_SHELVES];
    int n_shelf, next_y;
    float density; /* pixels a point, of the patterns */
};

bool atlas_init(struct atlas *a, struct arena *mem, struct err *e);
void atlas_fini(struct atlas *a);

/* The glyph of code at `size` pixels; made where it is new. NULL: the atlas is full: draw
 * what uses it, then atlas_make_room. advance: see fonts_render. */
const struct glyph *atlas_glyph(struct atlas *a, struct fonts *f, enum scene_font font,
                                uint32_t code, float size, float advance);

/* Empties the atlas, and makes it larger if it may be. */
bool atlas_make_room(struct atlas *a, struct err *e);

/* Pixels from hatch line to hatch line along an axis, and from dash to dash, at so many
 * pixels a point; at most half a tile. */
int atlas_hatch_period(float density);
int atlas_dash_period(float density);

/* Makes the patterns for another density; empties the atlas where it is one. */
void atlas_set_density(struct atlas *a, float density);

/* Brings the texture up to date. */
void atlas_upload(struct atlas *a);

#endif
