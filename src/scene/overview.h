/* Private to scene: every block, every head. */
#ifndef HEADLIGHT_OVERVIEW_H
#define HEADLIGHT_OVERVIEW_H

#include "scene.h"

/* Draws the overview of the state where the stage would be. */
void overview_build(struct scene *sc, const struct step_state *s,
                    const struct scene_source *src);

/* The range that every image is painted in. */
void overview_range(const struct step_state *s, const struct scene_source *src, float *lo,
                    float *hi);

#endif
