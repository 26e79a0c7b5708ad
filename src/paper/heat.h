/* Matrices: exactly as the heat shader paints them for pictures of pixels, as boxes or one
 * image for vectors. */
#ifndef HEADLIGHT_PAPER_HEAT_H
#define HEADLIGHT_PAPER_HEAT_H

#include "pen.h"
#include "scene.h"

/* Draws the part of the matrix that lies in box. false: no memory for its image. path is
 * for use here and left empty. */
bool heat_draw(struct pen *pen, const struct scene_heat *h, const struct scene_theme *t,
               struct scene_rect box, struct path *path);

#endif
