/* Private to scene: somebody's numbers beside ours. */
#ifndef HEADLIGHT_SCENE_COMPARE_H
#define HEADLIGHT_SCENE_COMPARE_H

#include "grid.h"

/* Draws the stage of the state as its step_diff says; b->src->compare is there.
 */
void compare_build(struct scene *sc, const struct brush *b);

#endif
