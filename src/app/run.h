/* run: a model and one run of it, in memory that is kept and used again. The toy's is made
 * in the frame itself, GPT-2's by the worker; both come from here. */
#ifndef HEADLIGHT_RUN_H
#define HEADLIGHT_RUN_H

#include "attn.h"
#include "base.h"
#include "model.h"
#include "pair.h"
#include "scene.h"
#include "step.h"

#include <stdbool.h>
#include <stdint.h>

/* The kernels of this CPU, or those that HEADLIGHT_KERNELS names. ERR_SYSTEM: none. */
bool run_kernels(struct attn_ctx *c, struct err *e);

/* What a run is of. Two equal keys mean the same numbers to the bit. */
struct run_key {
    enum step_scale scale;
    uint32_t seed;
    int n_tok, head; /* head from 0 */
    int second;      /* head beside it, from 1; 0: none */
    struct attn_opts opts;
    uint32_t model, text; /* which opened model and text of it; model 0: weights from a
                           * seed, and the text is the toy's, 0: its first */
    int block;            /* from 0; of an opened model */
    int n_given;          /* numbers that are not computed, of this block */
    struct attn_edit given[STEP_GIVEN_MOST];
};
/* The same with nothing broken. */
struct run_key run_key_right(struct run_key key);
bool run_key_is_right(struct run_key key);
/* model and text are left 0: they are nothing the state knows. */
struct run_key run_key_of(const struct step_state *s);
bool run_key_same(struct run_key a, struct run_key b);
/* Whether both are of the same weights and input: a head is not part of that. */
bool run_key_same_model(struct run_key a, struct run_key b);

/* A model, remade when another seed is asked for. Starts zeroed. */
struct run_model {
    struct arena mem;    /* of an opened model: the weights alone */
    struct arena packed; /* the weights once more, as the kernels like them */
    struct arena text;   /* of an opened model: what depends on its text */
    uint32_t view_of;    /* whose block view_block the weights are; 0: none's */
    int view_block;
    struct model model;
    struct run_key key; /* what it was made for */
    bool made;
    uint32_t n_made; /* how often: what viewed an earlier one views nothing now */
};
/* ERR_CANCELLED, ERR_SYSTEM (no memory): there is no model then. */
bool run_model_make(struct run_model *m, struct run_key key, const struct attn_ctx *c,
                    struct err *e);
/* The same of the toy with other words than its first. */
bool run_model_words(struct run_model *m, struct run_key key,
                     const struct model_words *words, const struct attn_ctx *c,
                     struct err *e);
/* The same of block key.block of an opened model, whose input has been computed. The
 * weights of a block that m has viewed last are taken as they are. */
bool run_model_view(struct run_model *m, struct run_key key, struct model_net *net,
                    const struct attn_ctx *c, struct err *e);
bool run_model_is(const struct run_model *m, struct run_key key);
void run_model_fini(struct run_model *m);

/* One computed run with the colours of its blends. Starts zeroed. */
struct run {
    struct arena mem;
    struct scene_checks checks;
    struct run_key key;
    const struct model *model; /* whose x, h and weights the trace views */
    struct attn_trace trace;
    float *blend;          /* [n_tok, 3] linear light */
    struct head_pair pair; /* of key.second */
    float *reach;          /* [n_tok] see attn_reach */
    float *z_was;          /* [n_tok, d_head] where the head in view is not 0: its z in
                            * the run of head 0, from which every head's is made */
    struct attn_weights w; /* the model's, or where they are edited, a copy */
    struct attn_edit given[STEP_GIVEN_MOST]; /* of those, what attn_run is given */
    const struct ghost *ghost;               /* beside a broken run; NULL: none */
    const struct attn_trace *ungiven; /* the same without `given`, where that is broken
                                       * too and somebody has made it, or NULL */
    uint64_t version; /* never 0 and never twice the same; given by who made the run */
    bool made;
};
/* Where c->cancel was raised the run is unfinished: the caller looks and throws it away. */
bool run_make(struct run *r, struct run_key key, const struct model *m,
              const struct attn_ctx *c, struct err *e);
/* r becomes from, which has nothing given and no second head, in memory of its own: a
 * seventh of the time. */
bool run_copy(struct run *r, const struct run *from, struct err *e);
/* Whether from is of key but for the heads in view; run_turn then makes r of it, the same to
 * the bit as run_make and in a quarter of the time. */
bool run_can_turn(const struct run *from, struct run_key key);
bool run_turn(struct run *r, const struct run *from, struct run_key key,
              const struct attn_ctx *c, struct err *e);
void run_fini(struct run *r);

#endif
