/* there: a run as decode mode has it. Its numbers are the run's; its ranges, its checks and
 * what has changed are of the tokens that have come. */
#ifndef HEADLIGHT_THERE_H
#define HEADLIGHT_THERE_H

#include "base.h"
#include "scene.h"

struct there {
    uint64_t version, right; /* of the run and the right one; 0: of none */
    struct step_pass pass;
    struct attn_trace trace, right_trace, diff;
    struct scene_checks checks, right_checks;
    struct attn_change change[ATTN_TENSOR_COUNT];
    struct scene_ghost ghost;
    struct arena mem; /* holds the heads' measures */
    struct scene_heads heads;
    struct attn_head_sum *sum;
    int heads_to; /* of so many rows */
};

/* Puts what is there in the place of src's run; kept until the run or the pass is
 * another. Of the overview's heads, where a pixel is a cell. ids: the tokens, or NULL. */
void there_show(struct there *t, const struct step_state *s, struct scene_source *src,
                const int32_t *ids);
void there_fini(struct there *t);

#endif
