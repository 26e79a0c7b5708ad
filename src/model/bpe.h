/* The tokenizer's tables. vocab.c fills them from files, bpe.c uses them. */
#ifndef HEADLIGHT_MODEL_BPE_H
#define HEADLIGHT_MODEL_BPE_H

#include "base.h"
#include "model.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct bpe_token {
    uint32_t at, len; /* in the pool; len 0: no token has this id */
};

/* Two tokens that stand side by side become one. rank: the lower is merged first. */
struct bpe_merge {
    int32_t left, right; /* left -1: the slot is free */
    int32_t rank, id;
};

struct model_bpe {
    struct arena mem;         /* holds this struct too */
    char *pool;               /* all tokens' bytes */
    struct bpe_token *tokens; /* [n_id] */
    int n_id;
    struct bpe_merge *merges; /* open addressing, merge_mask + 1 slots */
    uint32_t merge_mask;
    int32_t byte_id[256]; /* the token that is this one byte, or -1 */
    int32_t special;      /* <|endoftext|>, or -1 */
    pcre2_code *pattern;  /* the next piece of text that merges do not leave */
};

/* The slot of a pair: the one that holds it, or the free one where it would be. */
struct bpe_merge *bpe_slot(const struct model_bpe *b, int32_t left, int32_t right);

#endif
