/* ghost: beside a run that is broken on purpose, the right one and what differs. Its memory
 * is held only while there is one. */
#ifndef HEADLIGHT_GHOST_H
#define HEADLIGHT_GHOST_H

#include "run.h"
#include "scene.h"

/* What would be right: one run, kept while it fits. Starts zeroed. */
struct ghost_right {
    struct run run;
    uint32_t n_made; /* of its model then, see struct run_model */
};
/* The right run of what r is of, with r's model m. */
bool ghost_right_is(const struct ghost_right *g, const struct run *r,
                    const struct run_model *m);
bool ghost_right_make(struct ghost_right *g, const struct run *r,
                      const struct run_model *m, const struct attn_ctx *c, struct err *e);
/* The same, where `right` is that run, on screen. */
bool ghost_right_copy(struct ghost_right *g, const struct run *right,
                      const struct run_model *m, struct err *e);
void ghost_right_fini(struct ghost_right *g);

/* What differs between a run and the right one. Starts zeroed. */
struct ghost {
    struct arena mem;
    struct attn_trace diff;
    struct attn_change change[ATTN_TENSOR_COUNT];
    const struct ghost_right *right; /* NULL: there is none */
};
bool ghost_make(struct ghost *g, const struct run *broken,
                const struct ghost_right *right, const struct attn_ctx *c, struct err *e);
struct scene_ghost ghost_view(const struct ghost *g);
void ghost_fini(struct ghost *g);

#endif
