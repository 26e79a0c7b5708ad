/* Where the window's parts lie. */
#include "scene.h"

#include <math.h>

enum { TOP_H = 56, BOTTOM_H = 40 };

/* Rail and side panel keep the pictures' widths where there is room for the stage, and
 * give way by a quarter at the smallest window. */
struct scene_frame scene_frame_of(float w, float h)
{
    float room = fminf(fmaxf((w - SCENE_MIN_W) / (1440 - SCENE_MIN_W), 0.0f), 1.0f);
    float rail = roundf(184 + (216 - 184) * room);
    float panel = roundf(288 + (352 - 288) * room);
    struct scene_frame f = {
        .top = {0, 0, w, TOP_H},
        .rail = {0, TOP_H, rail, h - TOP_H},
        .stage = {rail, TOP_H, w - rail - panel, h - TOP_H - BOTTOM_H},
        .panel = {w - panel, TOP_H, panel, h - TOP_H},
        .bottom = {rail, h - BOTTOM_H, w - rail - panel, BOTTOM_H},
    };
    return f;
}

struct scene_frame scene_frame_presented(float w, float h, bool panel)
{
    float beside = panel ? scene_frame_of(w, h).panel.w : 0;
    return (struct scene_frame){
        .top = {0, 0, w, 0},
        .rail = {0, 0, 0, h},
        .stage = {0, 0, w - beside, h},
        .panel = {w - beside, 0, beside, h},
        .bottom = {0, h, w - beside, 0},
    };
}
