/* One block to be looked at, on its own: what attn_run reads, copied out of the net, so
 * that the net may go on with another text while it is on screen. */
#include "net.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The texts of all tokens with their ends, an id in digits taking up to 11 bytes. */
static size_t token_bytes(const struct model_net *m)
{
    size_t bytes = 0;
    for (int i = 0; i < m->text.n; i++) {
        size_t len = 11;
        if (m->bpe) (void)model_bpe_token(m->bpe, m->text.ids[i], &len);
        bytes += len + 1;
    }
    return bytes;
}

size_t model_net_view_bytes(const struct model_net *m)
{
    return model_net_view_weights_bytes(m) + model_net_view_text_bytes(m);
}

size_t model_net_view_weights_bytes(const struct model_net *m)
{
    size_t d = (size_t)m->info.d_model;
    return (4 * d * d + 6 * d) * sizeof(float) + sizeof m->info.name +
           sizeof m->info.dtype + ROUNDING;
}

size_t model_net_view_text_bytes(const struct model_net *m)
{
    size_t n = (size_t)m->text.n, d = (size_t)m->info.d_model;
    return 2 * n * d * sizeof(float) + n * sizeof(char *) + token_bytes(m) + ROUNDING;
}

static const char *const *view_tokens(const struct model_net *m, struct arena *mem)
{
    size_t n = (size_t)m->text.n, bytes = token_bytes(m);
    const char **list = arena_push(mem, n, sizeof *list);
    char *at = arena_push(mem, bytes, 1);
    if (!list || !at) return NULL;
    for (size_t i = 0; i < n; i++) {
        list[i] = at;
        size_t len = 0;
        if (m->bpe) {
            const char *text = model_bpe_token(m->bpe, m->text.ids[i], &len);
            memcpy(at, text, len);
        } else {
            int k = snprintf(at, 12, "%d", m->text.ids[i]);
            len = k > 0 ? (size_t)k : 0;
        }
        at += len + 1; /* the arena is zeroed */
    }
    return list;
}

static const float *copy_vector(struct arena *mem, const float *from, size_t n)
{
    float *to = from ? arena_push(mem, n, sizeof *to) : NULL;
    return to ? memcpy(to, from, n * sizeof *to) : NULL;
}

/* "gpt2 · F32" */
static const char *view_label(const struct model_net *m, struct arena *mem)
{
    char text[sizeof m->info.name + sizeof m->info.dtype + 8];
    int n = snprintf(text, sizeof text, "%s · %s", m->info.name, m->info.dtype);
    return arena_text(mem, text, n > 0 ? (size_t)n : 0);
}

static bool no_room(int l, struct err *e)
{
    return err_set(e, ERR_SYSTEM, "no memory for a view of block %d", l + 1);
}

bool model_net_view_weights(struct model_net *m, struct model *view, int l,
                            struct arena *mem, const struct attn_ctx *c, struct err *e)
{
    assert(l < m->info.n_layer);
    const struct block *b = block_get(m, l, c, e);
    if (!b) return false;
    int d = m->info.d_model;
    size_t square = (size_t)d * d, width = (size_t)d;
    float *w_qkv = arena_take(mem, 3 * square, sizeof(float));
    float *w_o = arena_take(mem, square, sizeof(float));
    const char *label = view_label(m, mem);
    if (!w_qkv || !w_o || !label) return no_room(l, e);
    *view = (struct model){
        .kind = MODEL_FILE,
        .dims = net_dims(m, 1),
        .weights = {.w_qkv = {w_qkv, d, 3 * d, 3 * d}, .w_o = {w_o, d, d, d}},
        .label = label,
        .eps = m->info.eps,
        .ln_gain = copy_vector(mem, b->ln_1[0], width),
        .ln_bias = copy_vector(mem, b->ln_1[1], width),
    };
    view->weights.b_qkv = copy_vector(mem, b->attn.b_qkv, 3 * width);
    view->weights.b_o = copy_vector(mem, b->attn.b_o, width);
    if (!view->ln_gain ||
        (m->info.bias && (!view->ln_bias || !view->weights.b_qkv || !view->weights.b_o)))
        return no_room(l, e);
    enum attn_status s = attn_unpack((struct attn_mat){w_qkv, d, 3 * d, 3 * d},
                                     (struct attn_mat){w_o, d, d, d}, b->packed);
    assert(s == ATTN_OK);
    (void)s;
    return !net_cancelled(c, e);
}

bool model_net_view_text(struct model_net *m, struct model *view, int l,
                         struct arena *mem, const struct attn_ctx *c, struct err *e)
{
    struct attn_cmat from = model_net_input(m, l);
    assert(from.data);
    int n = m->text.n, d = m->info.d_model;
    size_t all = (size_t)n * d;
    float *h = arena_take(mem, all, sizeof(float));
    float *x = arena_take(mem, all, sizeof(float));
    const char *const *tokens = view_tokens(m, mem);
    if (!h || !x || !tokens) return no_room(l, e);
    memcpy(h, from.data, all * sizeof *h);
    view->dims = net_dims(m, n);
    view->h = (struct attn_cmat){h, n, d, d};
    view->x = (struct attn_cmat){x, n, d, d};
    view->tokens = tokens;
    enum attn_status s = attn_layer_norm(c, (struct attn_mat){x, n, d, d}, view->h,
                                         view->ln_gain, view->ln_bias, m->info.eps);
    assert(s == ATTN_OK);
    (void)s;
    return !net_cancelled(c, e);
}

bool model_net_view(struct model_net *m, struct model *view, int l, struct arena *mem,
                    const struct attn_ctx *c, struct err *e)
{
    return model_net_view_weights(m, view, l, mem, c, e) &&
           model_net_view_text(m, view, l, mem, c, e);
}
