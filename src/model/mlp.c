/* What of an open model's files a comparison needs beside the view of a block: the weights
 * of its second half as they are, and embeddings at other positions. */
#include "net.h"
#include "recipe.h"

#include <string.h>

size_t model_net_mlp_bytes(const struct model_net *m)
{
    size_t d = (size_t)m->info.d_model, wide = (size_t)m->info.d_mlp;
    return (2 * d * wide + 3 * d + wide) * sizeof(float) + ROUNDING;
}

bool model_net_mlp(struct model_net *m, struct model_mlp *out, int l, struct arena *mem,
                   struct err *e)
{
    const struct tensor_at *const *part = m->layout.block[l];
    int d = m->info.d_model, wide = m->info.d_mlp;
    struct {
        const struct tensor_at *from;
        float *to;
        size_t n;
    } all[] = {{part[LN_2_WEIGHT], NULL, (size_t)d},
               {part[LN_2_BIAS], NULL, (size_t)d},
               {part[C_FC_WEIGHT], NULL, (size_t)d * (size_t)wide},
               {part[C_FC_BIAS], NULL, (size_t)wide},
               {part[MLP_PROJ_WEIGHT], NULL, (size_t)d * (size_t)wide},
               {part[MLP_PROJ_BIAS], NULL, (size_t)d}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!all[i].from) continue;
        all[i].to = arena_take(mem, all[i].n, sizeof(float));
        if (!all[i].to) return err_set(e, ERR_SYSTEM, "no memory for block %d", l + 1);
        if (!tensor_read(&m->weights, all[i].from, all[i].to, &m->odd, e)) return false;
    }
    *out = (struct model_mlp){.width = wide,
                              .act = m->info.act,
                              .ln_gain = all[0].to,
                              .ln_bias = all[1].to,
                              .w_fc = {all[2].to, d, wide, wide},
                              .b_fc = all[3].to,
                              .w_proj = {all[4].to, wide, d, d},
                              .b_proj = all[5].to};
    return true;
}

size_t model_mlp_run_bytes(struct attn_dims d, int width)
{
    size_t row = 3 * (size_t)d.d_model + 2 * (size_t)width;
    return (size_t)d.n_tok * row * sizeof(float) + ROUNDING;
}

static struct attn_cmat constant(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

bool model_mlp_run(struct model_mlp_out *out, const struct model_mlp *mlp, float eps,
                   struct attn_cmat y, struct arena *mem, const struct attn_ctx *c,
                   struct err *e)
{
    struct attn_mat m[5]; /* ln_2, fc, act, out, block */
    int n = y.rows, d = y.cols;
    for (int i = 0; i < 5; i++) {
        int cols = i == 1 || i == 2 ? mlp->width : d;
        m[i] = (struct attn_mat){arena_take(mem, (size_t)n * (size_t)cols, sizeof(float)),
                                 n, cols, cols};
        if (!m[i].data) return err_set(e, ERR_SYSTEM, "no memory for the MLP");
    }
    const struct attn_cmat none = {0};
    enum attn_status s = attn_layer_norm(c, m[0], y, mlp->ln_gain, mlp->ln_bias, eps);
    if (s == ATTN_OK)
        s = attn_output(c, m[1], constant(m[0]), mlp->w_fc, mlp->b_fc, none);
    size_t count = (size_t)n * (size_t)mlp->width;
    for (size_t i = 0; s == ATTN_OK && i < count; i++)
        m[2].data[i] = recipe_act(m[1].data[i], ACT_RIGHT, mlp->act == MODEL_GELU_TANH);
    if (s == ATTN_OK)
        s = attn_output(c, m[3], constant(m[2]), mlp->w_proj, mlp->b_proj, none);
    if (s == ATTN_OK)
        s = attn_output(c, m[4], constant(m[2]), mlp->w_proj, mlp->b_proj, y);
    if (s != ATTN_OK) return err_set(e, ERR_SYSTEM, "MLP: %s", attn_status_text(s));
    *out = (struct model_mlp_out){constant(m[0]), constant(m[1]), constant(m[2]),
                                  constant(m[3]), constant(m[4])};
    return true;
}

bool model_net_embed(struct model_net *m, float *out, const int32_t *ids, int n,
                     int shift, bool without_positions, struct err *e)
{
    struct model_odd seen = {0};
    int d = m->info.d_model;
    if (n > m->info.n_ctx - shift && !without_positions)
        return err_set(e, ERR_INPUT, "position %d is beyond the model's %d", n + shift,
                       m->info.n_ctx);
    struct arena mem = {0};
    if (!arena_init(&mem, (size_t)d * sizeof(float) + 64, e)) return false;
    float *position = arena_push(&mem, (size_t)d, sizeof *position);
    bool ok = position != NULL;
    for (int i = 0; ok && i < n; i++) {
        float *h = out + (size_t)i * (size_t)d;
        ok = tensor_read_rows(&m->weights, m->layout.wte, h, (uint64_t)ids[i], 1, &seen,
                              e);
        if (ok && !without_positions)
            ok = tensor_read_rows(&m->weights, m->layout.wpe, position,
                                  (uint64_t)i + (uint64_t)shift, 1, &seen, e);
        for (int a = 0; ok && a < d && !without_positions; a++) h[a] += position[a];
    }
    arena_free(&mem);
    return ok;
}
