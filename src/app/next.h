/* next: the likeliest next tokens behind one row of a loaded model's text. */
#ifndef HEADLIGHT_NEXT_H
#define HEADLIGHT_NEXT_H

#include "base.h"
#include "model.h"
#include "scene.h"

/* Whose they are: model and text as in run_key, row from 0. */
struct next_key {
    uint32_t model, text;
    int row;
};
bool next_key_same(struct next_key a, struct next_key b);

/* Starts zeroed. */
struct next {
    struct arena mem; /* the logits */
    struct next_key key;
    struct model_next top[SCENE_NEXT];
    int n;
    bool made;
};
/* From a net with all blocks done for the text. ERR_CANCELLED, ERR_SYSTEM, ERR_INPUT (the
 * head could not be read): there are none then. */
bool next_make(struct next *x, struct next_key key, struct model_net *net,
               const struct attn_ctx *c, struct err *e);
void next_fini(struct next *x);

/* Texts that next_view's result points into. */
struct next_texts {
    char at[SCENE_NEXT][160]; /* GPT-2's longest token has 128 bytes */
};
struct scene_next next_view(const struct next *x, const struct model_net *net,
                            struct next_texts *texts);

#endif
