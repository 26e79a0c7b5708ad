/* How a block may be computed: as it should be, or with one of the mistakes that people's
 * code has. numbers.c follows a recipe, mistakes.c lists those that are wrong. */
#ifndef HEADLIGHT_MODEL_RECIPE_H
#define HEADLIGHT_MODEL_RECIPE_H

#include "model.h"

enum divide_by { BY_SQRT_D_HEAD, BY_NOTHING, BY_D_HEAD, BY_SQRT_D_MODEL };
enum mask_how {
    MASK_RIGHT,
    MASK_OFF,
    MASK_LOOSE,       /* j > i + 1 is forbidden: one token of the future is seen */
    MASK_STRICT,      /* j >= i: a token does not see itself */
    MASK_TRANSPOSED,  /* j < i: the past is hidden */
    MASK_ADDED_AFTER, /* -inf is added to the weights */
    MASK_TIMES_AFTER  /* the weights are multiplied by 0, and not divided again */
};
enum softmax_over { OVER_KEYS, OVER_QUERIES, OVER_HEADS };
/* Matrices taken as [out, in], or the other way round. */
enum turned {
    TURN_Q = 1,
    TURN_K = 2,
    TURN_V = 4,
    TURN_O = 8,
    TURN_QKV = 16,
    TURN_MLP = 32
};
enum unbiased { NO_B_QKV = 1, NO_B_O = 2, NO_B_MLP = 4, NO_B_LN = 8 };
enum norm_how {
    NORM_RIGHT,
    NORM_SKIPPED,
    NORM_SAMPLE_VARIANCE, /* n - 1 */
    NORM_NO_GAIN          /* neither gain nor bias */
};
enum residual_how { RESIDUAL_RIGHT, RESIDUAL_MISSING, RESIDUAL_AFTER_NORM };
enum act_how { ACT_RIGHT, ACT_OTHER_GELU, ACT_QUICK_GELU, ACT_RELU, ACT_NONE };
enum round_to { ROUND_NOT, ROUND_F16, ROUND_BF16 };

struct recipe {
    enum divide_by divide;
    enum mask_how mask;
    enum softmax_over softmax;
    bool split_per_head; /* columns are q k v of head 0, q k v of head 1, ... */
    bool heads_stay;     /* [n_head, n_tok, d_head] read as [n_tok, d_model] */
    unsigned turned, unbiased;
    enum norm_how norm_1, norm_2;
    float eps_1, eps_2; /* < 0: the model's */
    enum residual_how residual_1, residual_2;
    enum act_how act;
    enum round_to weights, all; /* all: every result too */
};
struct recipe recipe_right(struct attn_opts opts);

/* model_numbers_run by a recipe. */
bool numbers_follow(struct model_numbers *v, const struct model_block *b,
                    const struct recipe *r, enum model_tensor last,
                    const struct attn_ctx *c, struct err *e);
/* The activation; tanh_form: whether the model's GELU is that one. */
float recipe_act(float x, enum act_how how, bool tanh_form);
/* x rounded to the nearest number of the format, ties to even. */
float round_half(float x);
float round_bf16(float x);

#endif
