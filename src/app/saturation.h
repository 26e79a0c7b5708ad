/* saturation: what softmax makes of random scores, by the kernel library. */
#ifndef HEADLIGHT_SATURATION_H
#define HEADLIGHT_SATURATION_H

#include "attn.h"
#include "base.h"
#include "scene.h"

enum {
    SATURATION_SETS = 64,   /* of keys, each new */
    SATURATION_QUERIES = 8, /* of each set: so many draws */
    SATURATION_DRAWS = SATURATION_SETS * SATURATION_QUERIES
};

/* The numbers of one set, of mean 0 and variance 1, always the same.
 *   q [SATURATION_QUERIES, STEP_LAB_MOST_D]  k [n_key, STEP_LAB_MOST_D] */
void saturation_draw(float *q, float *k, int n_key, int set);

/* At every step_lab_d and at d_head, where that is another and on the axis. ERR_CANCELLED:
 * *c->cancel was raised. ERR_SYSTEM: no memory. */
bool saturation_make(struct scene_saturation *out, int n_key, int d_head,
                     const struct attn_ctx *c, struct err *e);

#endif
