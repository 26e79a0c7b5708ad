/* Private to scene: where the matrices of a stage lie, before zoom and pan. */
#ifndef HEADLIGHT_LAYOUT_H
#define HEADLIGHT_LAYOUT_H

#include "stages.h"

/* One matrix: its corner, the pitch of its cells, its size as drawn. */
struct grid {
    enum attn_tensor tensor;
    bool transposed;
    float x, y, cell_w, cell_h;
    int rows, cols;
};

struct layout {
    struct grid left, right[STAGE_GROUPS], result[STAGE_GROUPS], added;
    float chip_w; /* room for the row chips, left of `left` */
    bool cells;   /* cells are large enough to be drawn one by one */
};

struct layout scene_layout(enum attn_stage stage, struct attn_dims d,
                           struct scene_rect stage_box);
/* The part of the stage's rectangle in which matrices are drawn. */
/* Whether a stage that high has room for a caption below its matrices. */
bool scene_has_foot(float stage_h);
struct scene_rect scene_canvas_of(struct scene_rect stage);

float grid_w(const struct grid *g);
float grid_h(const struct grid *g);
struct grid grid_between(struct grid a, struct grid b, float t);

#endif
