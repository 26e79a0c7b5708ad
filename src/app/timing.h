/* timing: how long the seven stages take here, by a short measurement. */
#ifndef HEADLIGHT_TIMING_H
#define HEADLIGHT_TIMING_H

#include "attn.h"
#include "base.h"
#include "scene.h"

#include <stdatomic.h>

/* Tokens that are measured: 16, 32, ... 2,048. */
enum { TIMING_COUNT = 8, TIMING_FIRST = 16 };

/* Times every stage of one block with random weights of these dims at each number of tokens,
 * causal, as the program runs them: 1 and 7 from packed weights, 2 to 6 head by head. out is
 * to be zeroed; *done, which others may read meanwhile, counts the entries that are whole.
 * tell (may be NULL) is called after each with arg.
 * ERR_CANCELLED: *c->cancel was raised; what is done stays. ERR_SYSTEM: no memory. */
bool timing_make(struct scene_times *out, atomic_int *done, struct attn_dims d,
                 const struct attn_ctx *c, void (*tell)(void *arg), void *arg,
                 struct err *e);

#endif
