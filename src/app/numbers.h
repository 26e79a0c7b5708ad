/* numbers: what the command line names, block after block with its weights, for those who
 * read numbers and not pictures: --dump and --compare. Needs no display. */
#ifndef HEADLIGHT_NUMBERS_H
#define HEADLIGHT_NUMBERS_H

#include "cli.h"
#include "loaded.h"
#include "model.h"
#include "run.h"
#include "step.h"

struct numbers {
    struct attn_ctx attn;
    struct attn_pool *pool;
    struct step_state step; /* as a window would begin with it */
    struct attn_dims dims;
    int n_block;
    struct arena mem; /* holds what is loaded */
    struct loaded *loaded;
    struct model_net *net; /* NULL: weights from a seed */
    const char *text;      /* as given, NULL: none */
    const char *words;     /* of the toy, NULL: its first */
    struct run_model view; /* of the block in hand */
    struct arena mlp_mem;
    struct model_mlp mlp;
    struct run_key key; /* of the block in hand: what is edited of it */
    struct run run;     /* it, where something is */
    struct model edited;
};

/* Opens the model, reads the text, applies what else was asked for. note: what the person
 * should be told, or "". */
bool numbers_open(struct numbers *s, const struct cli *c, char *note, size_t room,
                  struct err *e);
void numbers_close(struct numbers *s); /* zeroed is fine */

/* Block l with the input that the model gives it; valid until the next call. The blocks
 * behind one that is edited read what that gives. */
bool numbers_block(struct numbers *s, int l, struct model_block *out, struct err *e);
/* Another input for block l; out->h is then h. */
bool numbers_block_at(struct numbers *s, int l, struct attn_cmat h,
                      struct model_block *out, struct err *e);
/* The ids of the text, NULL: weights from a seed have none. */
const int32_t *numbers_ids(const struct numbers *s);

/* A list from the command line, "1,3-5", of things that count from 1 up to n. */
bool list_check(const char *option, const char *list, int n, const char *what,
                struct err *e);
bool list_has(const char *list, int i); /* i from 0; NULL has everything */

#endif
