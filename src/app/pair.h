/* pair: a second head's scores and weights beside those of a run, and their differences. */
#ifndef HEADLIGHT_PAIR_H
#define HEADLIGHT_PAIR_H

#include "attn.h"
#include "base.h"
#include "scene.h"

#include <stdbool.h>

/* Starts zeroed. Seven matrices [n_tok, n_tok]: 29 MB at 1,024 tokens. */
struct head_pair {
    struct arena mem;
    struct scene_pair view;
};
/* From a trace that attn_run has filled; second is another head of it. ERR_SYSTEM: no
 * memory. ERR_CANCELLED: *c->cancel was raised. */
bool pair_make(struct head_pair *p, const struct attn_trace *t, int second,
               const struct attn_ctx *c, struct err *e);
void pair_fini(struct head_pair *p);

#endif
