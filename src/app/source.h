/* source: the run that belongs to a state. The toy's is made at once (microseconds, so it
 * never flickers), GPT-2's is asked of the worker. */
#ifndef HEADLIGHT_SOURCE_H
#define HEADLIGHT_SOURCE_H

#include "run.h"
#include "scene.h"
#include "worker.h"

struct source {
    struct attn_ctx attn; /* for the toy and for rows taken apart: the caller's thread */
    struct run_model toy_model;
    struct run toy;
    struct worker *worker;
    struct err failed; /* why there is no run; code ERR_NONE: there is one, or soon */
};

/* event: see worker_create. ERR_SYSTEM: no memory, HEADLIGHT_KERNELS names no set. */
bool source_init(struct source *s, uint32_t event, struct err *e);
void source_fini(struct source *s);

/* What is there for the state now; wait: blocks until it fits. Valid until the next
 * call. Everything but message is filled in. */
struct scene_source source_for(struct source *s, const struct step_state *st, bool wait);

#endif
