/* heads: what the overview shows of a model and its text, block by block. */
#ifndef HEADLIGHT_HEADS_H
#define HEADLIGHT_HEADS_H

#include "run.h"
#include "scene.h"

/* Starts zeroed. Blocks 0 .. done - 1 are computed and stay as they are. */
struct heads {
    struct arena mem;  /* images and measures of all blocks */
    struct arena work; /* attn_heads' own */
    struct run_key key;
    struct attn_dims dims;
    int n_block, side, done;
    float *scores, *weights;
    struct attn_head_sum *sum;
    uint64_t version; /* given by who made it */
    bool made;
};

/* Whether both keys mean the same overview: block and head in view are no part of it. */
bool heads_key_same(struct run_key a, struct run_key b);
/* Room for all blocks, none of them computed; whoever shares h says when it is made.
 * ERR_SYSTEM: no memory. */
bool heads_begin(struct heads *h, struct run_key key, int n_block, struct attn_dims d,
                 struct err *e);
/* Block l from its qkv [n_tok, 3*d_model] and, for induction, the tokens' ids (NULL:
 * unknown). Does not count it as done. ERR_CANCELLED: *c->cancel was raised. */
bool heads_block(struct heads *h, int l, struct attn_cmat qkv, const int32_t *ids,
                 const struct attn_ctx *c, struct err *e);
/* Block 0 once more, of a run that has scores or weights which are given, and no more than
 * ATTN_HEADS_SIDE tokens: attn_heads knows q and k alone. */
bool heads_given(struct heads *h, const struct attn_trace *t, const struct attn_ctx *c,
                 struct err *e);
/* What struct attn_head_sum has of the rows of a head's weights and scores; a row with NaN
 * or infinity is in no mean. Entropy is that of a row's shares of its sum, which given
 * weights may make another than 1; where one is negative there is none. ids: the tokens;
 * NULL: unknown, and induction stays. */
void heads_measure(struct attn_head_sum *sum, struct attn_cmat p, struct attn_cmat raw,
                   const int32_t *ids, struct attn_opts opts);
struct scene_heads heads_view(const struct heads *h);
void heads_fini(struct heads *h);

#endif
