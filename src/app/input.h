/* input: SDL's events in the program's own words, and window coordinates as points. */
#ifndef HEADLIGHT_INPUT_H
#define HEADLIGHT_INPUT_H

#include "ui.h"

#include <stdbool.h>

union SDL_Event;

/* How the window's coordinates relate to the layout's points. */
struct input_scale {
    float ratio;   /* pixels a window coordinate */
    float density; /* pixels a point */
    float w, h;    /* the layout, points; at least SCENE_MIN_W x SCENE_MIN_H */
    bool limited;  /* the UI size wished for does not fit the window */
};

/* For a window of px_w x px_h pixels. base: pixels a point at UI size 100%. A wish that
 * would leave less than the smallest layout is cut to what fits. */
struct input_scale input_scale_of(int px_w, int px_h, float ratio, float base,
                                  int ui_percent);

/* The same in presenter mode: larger by 1.6 where the stage keeps its room, and without
 * bars and panel there is room to be larger by a fifth even in the smallest window. */
struct input_scale input_scale_presented(int px_w, int px_h, float ratio, float base,
                                         int ui_percent);

/* By how much it is larger there. */
#define INPUT_PRESENTED 1.6f

/* Pixels a point at 100% for a display of dpi dots an inch, 96 being 1: in halves, and
 * 1 where the figure cannot be true. */
float input_base_of(float dpi);

/* true: *out is what the event says. Everything else that SDL tells is not input. */
bool input_event(const struct input_scale *sc, const union SDL_Event *ev,
                 struct ui_event *out);

#endif
