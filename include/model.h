/* model: where weights and inputs come from. For now from a seed: the toy, and a block of
 * GPT-2's dimensions whose attention is as peaked as the real first block's. */
#ifndef HEADLIGHT_MODEL_H
#define HEADLIGHT_MODEL_H

#include "attn.h"
#include "base.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_LN_EPS 1e-5f /* GPT-2 layer_norm_epsilon */

enum model_kind { MODEL_TOY, MODEL_GPT2_RANDOM };

/* One block's weights, and an input of up to n_ctx tokens; all memory is the arena's. */
struct model {
    enum model_kind kind;
    uint32_t seed;
    struct attn_dims dims; /* n_tok = n_ctx: all the tokens there are */
    struct attn_weights weights;
    const float *ln_gain, *ln_bias; /* [d_model] */
    struct attn_cmat h;             /* [n_ctx, d_model] the residual stream */
    struct attn_cmat x;             /* [n_ctx, d_model] ln_1(h) */
    const char *const *tokens;      /* n_ctx texts, NULL: random input has no text */
    const char *label;              /* "toy · random weights" */
};

/* Bytes of arena that model_make needs. */
size_t model_bytes(enum model_kind kind);

/* Token i's row of h depends on the seed and i alone, so a shorter input is a prefix of
 * a longer one. The same seed gives the same numbers everywhere.
 * c->cancel is looked at now and then: ERR_CANCELLED. */
bool model_make(struct model *m, enum model_kind kind, uint32_t seed, struct arena *mem,
                const struct attn_ctx *c, struct err *e);

#endif
