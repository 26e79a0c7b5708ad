/* Fonts: found by fontconfig, drawn by cairo, which also embeds them. */
#ifndef HEADLIGHT_PAPER_FACES_H
#define HEADLIGHT_PAPER_FACES_H

#include "base.h"
#include "scene.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>

enum {
    FACES_FALLBACK = 16, /* faces opened for characters that the five lack */
    FACES_LOOKUPS = 512  /* remembered answers of fontconfig; a power of two */
};

struct font_face {
    cairo_font_face_t *face;
    cairo_scaled_font_t *em; /* at FACES_EM pixels, not hinted: for measuring */
    char family[64];
    int weight; /* CSS: 400, 500, ... */
    FcPattern *file;
};
enum { FACES_EM = 1000 };

struct faces {
    FcConfig *config;
    struct font_face face[FONT_COUNT + FACES_FALLBACK];
    int n;
    struct {
        uint32_t code; /* 0: free */
        bool mono;
        int face;
    } lookup[FACES_LOOKUPS];
};

/* Opens the five fonts and measures them. ERR_SYSTEM names the font that is missing and
 * the package that has it. */
bool faces_init(struct faces *f, struct font_metrics *m, struct err *e);
void faces_fini(struct faces *f); /* zeroed is fine */

/* The character in UTF-8 with a zero behind; returns its bytes. What no file can hold,
 * controls and noncharacters, becomes U+FFFD. */
int utf8_put(char out[5], uint32_t code);

/* How a character is drawn in the room its font gives it. */
struct font_glyph {
    int face;
    unsigned long index;
    float squeeze, shift; /* of another face; em: see scene_fit */
};
/* advance: what the layout gives it, in em. */
struct font_glyph faces_glyph(struct faces *f, enum scene_font font, uint32_t code,
                              float advance);

#endif
