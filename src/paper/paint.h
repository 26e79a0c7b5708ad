/* The items of a scene, drawn with a pen. */
#ifndef HEADLIGHT_PAPER_PAINT_H
#define HEADLIGHT_PAPER_PAINT_H

#include "pen.h"
#include "scene.h"

/* Draws what lies in part, in painter's order. mem: for paths. */
bool paint_scene(struct pen *pen, const struct scene *sc, struct scene_rect part,
                 struct arena *mem, struct err *e);
size_t paint_bytes(void);

#endif
