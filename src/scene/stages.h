/* Private to scene: the table of stages. */
#ifndef HEADLIGHT_STAGES_H
#define HEADLIGHT_STAGES_H

#include "scene.h"

enum motion {
    MOTION_DOT,      /* a row of the left sweeps the columns of the right, cell by cell */
    MOTION_FADE,     /* numbers and colours move from s to s / sqrt(d_head) */
    MOTION_DIAGONAL, /* the future goes, diagonal by diagonal */
    MOTION_SOFTMAX,  /* row by row: exp, then divide */
    MOTION_BLEND     /* weights fly onto the rows of V, the scaled rows add up */
};

enum { STAGE_GROUPS = 3 };

/* left [R, K] times right [K, C] = result [R, C], for each group; right stands above its
 * result. Where operands_leave, the layout is kept but left and right fade out: that is
 * how the score grid keeps its place from stage 2 to stage 5. */
struct stage_spec {
    struct scene_stage_text text;
    enum motion motion;
    enum attn_tensor left, right[STAGE_GROUPS], result[STAGE_GROUPS];
    int n_group;
    bool right_transposed, operands_leave;
    bool adds; /* result + added = sum, in the outro */
    enum attn_tensor added, sum;
};
extern const struct stage_spec scene_stages[ATTN_STAGE_COUNT];

/* The caption and the cost line at this moment. */
struct stage_words {
    const char *formula, *shapes, *caption, *cost;
};
/* What is in view: a cell of a result, a row (col = -1), or neither (row = -1: the selected
 * row). */
struct caption_at {
    enum attn_tensor tensor;
    int row, col;
    int terms; /* products that the animation has added in this cell; -1: it is not at it */
    bool made; /* its figures stand on the stage by now */
};
struct stage_words scene_words(struct scene *sc, const struct step_state *s,
                               const struct scene_source *src, struct caption_at at);
const char *stage_caption(struct scene *sc, const struct step_state *s,
                          const struct scene_source *src, struct caption_at at);

#endif
