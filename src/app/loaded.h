/* loaded: which model is open, and the text that it reads. */
#ifndef HEADLIGHT_LOADED_H
#define HEADLIGHT_LOADED_H

#include "base.h"
#include "model.h"
#include "step.h"
#include "ui.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOADED_TEXT = UI_EDITOR_ROOM /* bytes of a text: 1,024 of GPT-2's longest tokens, and
                                  * some fifteen times what 4,096 words have */
};
/* Stands in a text for the special token. No byte of UTF-8, so nobody can type it. */
#define LOADED_SPECIAL UI_EDITOR_SPECIAL

/* What is made of a text: the ids that the model reads. */
struct loaded_ids {
    int32_t at[STEP_MODEL_TOKENS];
    int n;
    size_t all; /* before it was cut to the limit */
};

struct loaded {
    struct model_net
        *net; /* NULL: none. Run by the worker; here info and tokenizer are read */
    uint32_t model, text; /* serials: see run_key; never 0 once there is a net */
    int limit;            /* tokens that it is shown with, at most */
    bool cut_front;       /* a text over the limit loses its front, not its end */
    struct loaded_ids ids;
    char typed[LOADED_TEXT]; /* the text as it was given */
    size_t n_typed;
    char label[256]; /* "gpt2 \u00b7 F32 \u00b7 124.4 M parameters \u00b7 548 MB" */
};

/* Tokens of a text, at most the limit. Without a tokenizer it is ids in digits.
 * ERR_INPUT: neither is possible, no token at all, an id that there is not. */
bool loaded_encode(const struct loaded *l, const char *text, size_t len,
                   struct loaded_ids *ids, struct err *e);

/* The net that was opened, with its text; text = NULL: a text of our own. What the person
 * should be told goes to note ("": nothing). false: *l is as it was. */
bool loaded_set_net(struct loaded *l, struct model_net *net, const char *text, char *note,
                    size_t room, struct err *e);
/* Another text for the net; of one longer than LOADED_TEXT an end is read, and note says
 * which. false: *l is as it was. */
bool loaded_set_text(struct loaded *l, const char *text, size_t len, char *note,
                     size_t room, struct err *e);

#endif
