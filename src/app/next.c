/* The likeliest next tokens: from the model's logits, and as texts. */
#include "next.h"

#include <stdio.h>
#include <string.h>

bool next_key_same(struct next_key a, struct next_key b)
{
    return a.model == b.model && a.text == b.text && a.row == b.row;
}

bool next_make(struct next *x, struct next_key key, struct model_net *net,
               const struct attn_ctx *c, struct err *e)
{
    int n = model_net_info(net)->n_vocab;
    size_t bytes = (size_t)n * sizeof(float) + 64;
    x->made = false;
    arena_reset(&x->mem);
    if (x->mem.size < bytes) {
        arena_free(&x->mem);
        if (!arena_init(&x->mem, bytes, e)) return false;
    }
    float *logits = arena_take(&x->mem, (size_t)n, sizeof *logits);
    if (!logits) return err_set(e, ERR_SYSTEM, "no memory for %d logits", n);
    if (!model_net_logits(net, logits, key.row, c, e)) return false;
    x->n = model_next_top(x->top, SCENE_NEXT, logits, n);
    x->key = key;
    x->made = true;
    return true;
}

void next_fini(struct next *x)
{
    arena_free(&x->mem);
    *x = (struct next){0};
}

struct scene_next next_view(const struct next *x, const struct model_net *net,
                            struct next_texts *texts)
{
    const struct model_bpe *bpe = model_net_bpe(net);
    struct scene_next view = {.row = x->key.row, .ready = true, .n = x->n};
    for (int k = 0; k < x->n; k++) {
        char *to = texts->at[k];
        size_t room = sizeof texts->at[k], len = 0;
        const char *text = bpe ? model_bpe_token(bpe, x->top[k].id, &len) : NULL;
        if (len >= room) len = room - 1;
        if (text) {
            memcpy(to, text, len);
            to[len] = '\0';
        }
        /* Ids beyond the tokenizer's have a row in wte, and no text. */
        if (len == 0) (void)snprintf(to, room, bpe ? "id %d" : "%d", x->top[k].id);
        view.text[k] = to;
        view.p[k] = x->top[k].p;
        view.logit[k] = x->top[k].logit;
    }
    return view;
}
