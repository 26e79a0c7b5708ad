/* Cells of a matrix: what heat.c, heat_pixels.c and heat_vectors.c share. */
#ifndef HEADLIGHT_PAPER_CELLS_H
#define HEADLIGHT_PAPER_CELLS_H

#include "pen.h"
#include "scene.h"

/* gfx's numbers (cells.c and heat.frag there); points. */
#define CELL_DASH        3.0f
#define CELL_HATCH       6.0f /* from line to line, along an axis */
#define CELL_HATCH_WIDTH 1.0f

/* How a matrix is drawn at so many pixels a point: cells with gaps and corners, in pixels,
 * where they are large enough and few enough for view. */
struct heat_style {
    bool cells, dashes;
    float gap, radius;
};
struct heat_style heat_style(const struct scene_heat *h, float density,
                             struct scene_rect view);

struct heat_cells {
    int row0, row1, col0, col1;
};

/* What shows of some cells. */
struct heat_seen {
    int32_t magnitude; /* bits of the largest |value|, -1: none */
    float value;
    bool masked; /* a masked cell is among them */
};
struct heat_seen heat_look(const struct scene_heat *h, struct heat_cells c);

bool heat_is_shown(const struct scene_heat *h, int i, int j);
bool heat_is_masked(const struct scene_heat *h, int i, int j);
struct scene_rgba heat_color(const struct scene_heat *h, const struct scene_theme *t,
                             float value);
/* Of cells together: that of the focus where one of them is in it. */
float heat_alpha(const struct scene_heat *h, struct heat_cells c);

/* Premultiplied, as cairo keeps it; alpha in 0 .. 1. */
uint32_t heat_packed(struct scene_rgba c, float alpha);
cairo_surface_t *heat_image(int w, int h);
uint32_t *heat_image_row(cairo_surface_t *s, int y);
/* Draws the image into box and destroys it. false: there was no memory for it. */
bool heat_show(struct pen *pen, cairo_surface_t *s, struct scene_rect box);

int heat_clamp(int v, int lo, int hi);

/* Draw what lies in box. */
bool heat_pixels(struct pen *pen, const struct scene_heat *h, const struct scene_theme *t,
                 struct scene_rect box);
bool heat_vectors(struct pen *pen, const struct scene_heat *h,
                  const struct scene_theme *t, struct scene_rect box, struct path *path);

#endif
