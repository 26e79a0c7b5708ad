/* Private to scene: two heads side by side, or one minus the other. */
#ifndef HEADLIGHT_SCENE_PAIR_H
#define HEADLIGHT_SCENE_PAIR_H

#include "motion.h"

/* In place of the stage's own motion, where st's source has a pair. */
void pair_draw(struct stage *st);
/* One head, two, their difference, and which the second is: in the stage's head. */
void pair_controls(const struct brush *b);

#endif
