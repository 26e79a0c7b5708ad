/* Fonts: found by fontconfig, measured for the layout, rasterised a glyph at a time. */
#ifndef HEADLIGHT_GFX_FONTS_H
#define HEADLIGHT_GFX_FONTS_H

#include "base.h"
#include "scene.h"

#include <SDL_ttf.h>
#include <fontconfig/fontconfig.h>

enum {
    FONTS_FALLBACK = 16, /* fonts opened for glyphs that the five lack */
    FONTS_LOOKUPS = 512, /* remembered answers of fontconfig */
    FONTS_PHASES = 4     /* horizontal positions within a pixel */
};

struct fonts {
    bool ttf; /* SDL_ttf is started */
    FcConfig *config;
    TTF_Font *face[FONT_COUNT + FONTS_FALLBACK];
    char *file[FONT_COUNT + FONTS_FALLBACK]; /* where it came from, for comparison */
    int index[FONT_COUNT + FONTS_FALLBACK];
    int n;
    struct {
        uint32_t code; /* 0: free */
        bool mono;
        int face;
    } lookup[FONTS_LOOKUPS];
};

/* Opens the five fonts and measures them. ERR_SYSTEM names the font that is missing and
 * the package that has it. */
bool fonts_init(struct fonts *f, struct font_metrics *m, struct err *e);
void fonts_fini(struct fonts *f); /* zeroed is fine */

/* Coverage of one glyph, FONTS_PHASES columns to the pixel and one row: the outline is
 * exact horizontally and fitted to the pixel grid vertically, as browsers do. */
struct font_bitmap {
    SDL_Surface *surface; /* 8 bits a sample; NULL: nothing to draw */
    int left;             /* columns from the pen to the surface's left edge */
    int top;              /* rows from the baseline up to its top edge */
};
/* advance: room in pixels that the layout gives the glyph; one from a fallback font is
 * fitted into it (scene_glyph_fit). The caller frees the surface. */
struct font_bitmap fonts_render(struct fonts *f, enum scene_font font, uint32_t code,
                                float size, float advance);

#endif
