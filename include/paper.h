/* paper: pictures as files, by cairo. */
#ifndef HEADLIGHT_PAPER_H
#define HEADLIGHT_PAPER_H

#include "base.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes w x h RGBA pixels, rows from the top, as a PNG file: whole or not at all. */
bool paper_png_write(const char *path, const uint8_t *rgba, int w, int h, struct err *e);

/* Reads a PNG file of at most max_pixels into RGBA pushed on mem. */
bool paper_png_read(const char *path, struct arena *mem, int64_t max_pixels,
                    uint8_t **rgba, int *w, int *h, struct err *e);

#endif
