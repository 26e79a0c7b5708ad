/* Which tensor is which part of GPT-2, every one of them there and of the right shape. */
#ifndef HEADLIGHT_MODEL_LAYOUT_H
#define HEADLIGHT_MODEL_LAYOUT_H

#include "weights.h"

/* A block's tensors, by the end of their names. */
enum part {
    LN_1_WEIGHT,
    LN_1_BIAS,
    C_ATTN_WEIGHT, /* [d_model, 3*d_model] */
    C_ATTN_BIAS,
    C_PROJ_WEIGHT, /* [d_model, d_model] */
    C_PROJ_BIAS,
    LN_2_WEIGHT,
    LN_2_BIAS,
    C_FC_WEIGHT, /* [d_model, d_mlp] */
    C_FC_BIAS,
    MLP_PROJ_WEIGHT, /* [d_mlp, d_model] */
    MLP_PROJ_BIAS,
    PART_COUNT
};

/* Biases are NULL in a model without any, as nanoGPT trains them. */
struct layout {
    struct config config;
    const struct tensor_at *(*block)[PART_COUNT]; /* [n_layer] */
    const struct tensor_at *wte, *wpe; /* [n_vocab, d_model] [n_ctx, d_model] */
    const struct tensor_at *ln_f_weight, *ln_f_bias;
    const struct tensor_at *head; /* [n_vocab, d_model]; wte itself where it is tied */
    bool bias;
};

/* Whether the dimensions can be right at all, before there is memory for so many blocks. */
bool layout_check(const struct weights *w, const struct config *c, struct err *e);
/* Room in an arena for the layout of a model of so many blocks. */
size_t layout_bytes(const struct config *c);
/* *e names file and tensor, and what was found and expected. */
bool layout_bind(struct layout *l, const struct weights *w, const struct config *c,
                 struct arena *mem, struct err *e);

/* Fills what the tensors say: dtype, parameters, dimensions. */
void layout_info(const struct layout *l, struct model_info *info);

#endif
