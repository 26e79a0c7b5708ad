/* GPT-2's forward pass as far as it is asked for, taking up what is there:
 *
 *   h_0 = wte[id] + wpe[i]
 *   y   = h_l + attention(ln_1(h_l))
 *   h_l+1 = y + W_proj gelu(W_fc ln_2(y))
 *
 * A causal block's row depends on the rows before it alone. So each block's input knows
 * how many of its rows are right, and a run computes the others. Source: Radford et al.
 * 2019; names as in openai/gpt-2, src/model.py. */
#include "net.h"

#include <assert.h>

/* Row id of wte; scratch is room for one. NULL: it could not be read. */
static const float *wte_row(struct model_net *m, int32_t id, float *scratch,
                            struct err *e)
{
    const float *have = rows_have(&m->wte, id, (size_t)m->info.d_model);
    if (have) return have;
    if (!head_has_wte(m)) return rows_read(m, &m->wte, m->layout.wte, id, e);
    head_wte_row(m, id, scratch);
    return scratch;
}

static bool embed(struct model_net *m, const struct attn_ctx *c, struct err *e)
{
    struct text *t = &m->text;
    int d = m->info.d_model;
    for (int i = t->valid[0]; i < t->n; i++) {
        float *h = text_input(m, 0, i);
        if (net_cancelled(c, e)) return false;
        const float *token = wte_row(m, t->ids[i], t->x, e);
        const float *place = token ? rows_read(m, &m->wpe, m->layout.wpe, i, e) : NULL;
        if (!place) return false;
        for (int a = 0; a < d; a++) h[a] = token[a] + place[a];
        t->valid[0] = i + 1;
    }
    return true;
}

/* Block l's rows first..n-1, from its input to the next one's. Shapes are our own, so
 * that no call can refuse them. */
static bool run_rows(struct model_net *m, const struct block *b, int first,
                     const struct attn_ctx *c, struct err *e)
{
    struct text *t = &m->text;
    int l = b->l, rows = t->n - first, d = m->info.d_model, wide = m->info.d_mlp;
    struct attn_dims dims = net_dims(m, t->room);
    struct attn_mat x = {t->x, rows, d, d}, y = {t->y, rows, d, d},
                    z = {t->z, rows, d, d};
    struct attn_cmat cx = {t->x, rows, d, d}, cy = {t->y, rows, d, d}, none = {0};
    struct attn_cmat h = {text_input(m, l, first), rows, d, d};
    struct attn_mat next = {text_input(m, l + 1, first), rows, d, d};
    struct attn_mat fc = {t->mlp, rows, wide, wide};
    struct attn_cmat cfc = {t->mlp, rows, wide, wide};
    struct attn_block_io io = {
        .x = cx,
        .h = h,
        .y = y,
        .z = z,
        .qkv = {text_qkv(m, l, first), rows, 3 * d, t->ld_qkv},
    };
    enum attn_act act = m->info.act == MODEL_GELU_TANH ? ATTN_GELU : ATTN_GELU_ERF;
    enum attn_status s = attn_layer_norm(c, x, h, b->ln_1[0], b->ln_1[1], m->info.eps);
    if (s == ATTN_OK)
        s = attn_block_from(c, &io, b->packed, attn_opts_default(), dims, first, t->n,
                            t->keys[l], attn_block_keep_bytes(dims));
    if (s == ATTN_OK) s = attn_layer_norm(c, x, cy, b->ln_2[0], b->ln_2[1], m->info.eps);
    if (s == ATTN_OK) s = attn_linear_apply(c, fc, cx, &b->fc, act, none);
    if (s == ATTN_OK) s = attn_linear_apply(c, next, cfc, &b->proj, ATTN_IDENTITY, cy);
    if (s != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "block %d: %s", l + 1, attn_status_text(s));
    return !net_cancelled(c, e);
}

bool model_net_run(struct model_net *m, int blocks, const struct attn_ctx *c,
                   struct err *e)
{
    struct text *t = &m->text;
    assert(c->k == m->k && t->n > 0 && blocks >= 0 && blocks <= m->info.n_layer);
    if (!embed(m, c, e)) return false;
    for (int l = 0; l < blocks; l++) {
        int first = t->valid[l + 1];
        if (first == t->n) continue;
        const struct block *b = block_get(m, l, c, e);
        if (!b || !run_rows(m, b, first, c, e)) return false;
        t->valid[l + 1] = t->n;
    }
    return true;
}
