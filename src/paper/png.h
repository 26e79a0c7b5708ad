/* PNG by cairo: one encoder for files and for the images inside an SVG. */
#ifndef HEADLIGHT_PAPER_PNG_H
#define HEADLIGHT_PAPER_PNG_H

#include "base.h"

#include <cairo.h>

enum { PNG_SIDE_MAX = 32767 }; /* cairo's limit */

/* Writes an image surface to path; dpi > 0 is kept in the file (pHYs). */
bool png_file(cairo_surface_t *surface, const char *path, float dpi, struct err *e);

#endif
