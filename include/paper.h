/* paper: the scene as a file, PNG, SVG or PDF, by cairo. Needs no window and no OpenGL. */
#ifndef HEADLIGHT_PAPER_H
#define HEADLIGHT_PAPER_H

#include "base.h"
#include "scene.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- scenes --------------------------------------------------------------------- */

enum paper_format { PAPER_PNG, PAPER_SVG, PAPER_PDF };
enum paper_unit {
    PAPER_PX, /* pixels; in SVG and PDF 1/96 inch, as in CSS */
    PAPER_MM
};

/* What goes onto the page, and how large that is. All zero: the whole scene on its paper,
 * a pixel a point. Both w and h given: the part is fitted into them and centred. */
struct paper_page {
    struct scene_rect part; /* of the scene, points; w or h = 0: all of it */
    bool transparent;       /* nothing behind the items */
    enum paper_unit unit;   /* of w and h */
    float w, h;             /* 0: follows from the other; both 0: from scale */
    float scale;            /* pixels a point; 0: 1 */
    float dpi;              /* PNG in millimetres; 0: 300. Is kept in the file */
};

/* The fonts, opened. One thread at a time. */
struct paper;
/* ERR_SYSTEM: no font; says which package has one. */
bool paper_create(struct paper **p, struct err *e);
void paper_destroy(struct paper *p); /* NULL is fine */

/* Advances of the fonts, for scenes that are made without a window. */
const struct font_metrics *paper_metrics(const struct paper *p);

/* Writes a file that shows what the window shows, whole or not at all; the same scene
 * gives the same bytes. PNG is as gfx paints it at `scale`. SVG and PDF are vectors: text
 * is text (PDF embeds the fonts; SVG names them and places each glyph), large cells are
 * boxes, small ones together a lossless image of one pixel a cell (in SVG below 2 points).
 * Cells below a quarter point are joined in blocks of 2, 4, ... a side until they are that
 * large, a block showing its value of largest magnitude.
 * ERR_USAGE: a size no file can have. ERR_INPUT: path cannot be written. */
bool paper_write(struct paper *p, const struct scene *sc, const struct paper_page *page,
                 enum paper_format format, const char *path, struct err *e);

/* ---- pixels --------------------------------------------------------------------- */

/* Writes w x h RGBA pixels, rows from the top, as a PNG file: whole or not at all. */
bool paper_png_write(const char *path, const uint8_t *rgba, int w, int h, struct err *e);

/* Reads a PNG file of at most max_pixels into RGBA pushed on mem. */
bool paper_png_read(const char *path, struct arena *mem, int64_t max_pixels,
                    uint8_t **rgba, int *w, int *h, struct err *e);

#endif
