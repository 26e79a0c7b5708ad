/* Private to model: what seeded models have in common. */
#ifndef HEADLIGHT_MODEL_SEEDED_H
#define HEADLIGHT_MODEL_SEEDED_H

#include "model.h"
#include "random.h"

/* One stream of random numbers a tensor. Their order is part of what a seed means: new
 * ones go to the end. */
enum seeded_stream {
    SEEDED_W_Q,
    SEEDED_W_K,
    SEEDED_W_V,
    SEEDED_W_O,
    SEEDED_B_Q,
    SEEDED_B_K,
    SEEDED_B_V,
    SEEDED_B_O,
    SEEDED_GAIN,
    SEEDED_SHIFT,
    SEEDED_H,
    SEEDED_POSITION, /* of the toy's tokens */
    SEEDED_WORD
};

enum { SEEDED_TOY_TOKENS = 5 };
extern const char *const seeded_toy_tokens[SEEDED_TOY_TOKENS];
/* h [w->n, MODEL_TOY_D]: each word's embedding and its position's. */
void seeded_words_h(float *h, const struct model_words *w, uint32_t seed);

#endif
