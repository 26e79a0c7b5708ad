/* The block that nobody looks into: packed weights, and the three passes from x to y. */
#include "kernels.h"

#include <string.h>

struct attn_packed {
    const struct attn_kernels *k;
    struct attn_dims d;
    float *w_qkv, *w_o; /* panels, see attn_pack_all */
    float *b_qkv, *b_o; /* NULL: none */
};

struct packed_layout {
    size_t w_qkv, w_o, b_qkv, b_o, total; /* in floats, after the struct */
};

static struct packed_layout packed_layout(const struct attn_kernels *k,
                                          struct attn_dims d)
{
    struct packed_layout l = {0};
    size_t w = (size_t)d.d_model;
    attn_take(&l.total, sizeof(struct attn_packed) / sizeof(float) + 1);
    l.w_qkv = attn_take(&l.total, attn_panel_floats(k, d.d_model, 3 * d.d_model));
    l.w_o = attn_take(&l.total, attn_panel_floats(k, d.d_model, d.d_model));
    l.b_qkv = attn_take(&l.total, 3 * w);
    l.b_o = attn_take(&l.total, w);
    return l;
}

size_t attn_packed_bytes(const struct attn_kernels *k, struct attn_dims d)
{
    if (attn_dims_check(d) != ATTN_OK) return 0;
    return packed_layout(k, d).total * sizeof(float) + ATTN_ALIGN;
}

enum attn_status attn_pack(const struct attn_kernels *k, struct attn_packed **out,
                           const struct attn_weights *w, struct attn_dims d, void *mem,
                           size_t bytes)
{
    *out = NULL;
    if (attn_dims_check(d) != ATTN_OK ||
        !attn_mat_is(w->w_qkv, d.d_model, 3 * d.d_model) ||
        !attn_mat_is(w->w_o, d.d_model, d.d_model))
        return ATTN_BAD_SHAPE;
    if (!mem || bytes < attn_packed_bytes(k, d)) return ATTN_NO_ROOM;
    struct packed_layout l = packed_layout(k, d);
    float *base = attn_aligned(mem);
    struct attn_packed *p = (struct attn_packed *)(void *)base;
    *p = (struct attn_packed){
        .k = k, .d = d, .w_qkv = base + l.w_qkv, .w_o = base + l.w_o};
    attn_pack_all(k, p->w_qkv, w->w_qkv);
    attn_pack_all(k, p->w_o, w->w_o);
    size_t width = (size_t)d.d_model;
    if (w->b_qkv) p->b_qkv = memcpy(base + l.b_qkv, w->b_qkv, 3 * width * sizeof(float));
    if (w->b_o) p->b_o = memcpy(base + l.b_o, w->b_o, width * sizeof(float));
    *out = p;
    return ATTN_OK;
}

enum attn_status attn_unpack(struct attn_mat w_qkv, struct attn_mat w_o,
                             const struct attn_packed *p)
{
    int d = p->d.d_model;
    if (!attn_mat_is(attn_const(w_qkv), d, 3 * d) || !attn_mat_is(attn_const(w_o), d, d))
        return ATTN_BAD_SHAPE;
    attn_unpack_all(p->k, w_qkv, p->w_qkv);
    attn_unpack_all(p->k, w_o, p->w_o);
    return ATTN_OK;
}

static bool packed_for(const struct attn_packed *p, const struct attn_kernels *k,
                       struct attn_dims d)
{
    return p && p->k == k && p->d.d_model == d.d_model && p->d.n_head == d.n_head;
}

const float *attn_packed_qkv(const struct attn_packed *p, const struct attn_kernels *k,
                             struct attn_dims d)
{
    return packed_for(p, k, d) ? p->w_qkv : NULL;
}

const float *attn_packed_o(const struct attn_packed *p, const struct attn_kernels *k,
                           struct attn_dims d)
{
    return packed_for(p, k, d) ? p->w_o : NULL;
}

struct block_layout {
    size_t kv, q, z, total; /* in floats */
    int ld_q;
};

static struct block_layout block_layout(struct attn_dims d)
{
    struct block_layout l = {0};
    l.ld_q = attn_round_up(d.d_model, ATTN_NR_MAX) + ATTN_QKV_PAD;
    l.kv = attn_take(&l.total, attn_kv_floats(d));
    l.q = attn_take(&l.total, (size_t)d.n_tok * (size_t)l.ld_q);
    l.z = attn_take(&l.total, (size_t)d.n_tok * d.d_model);
    return l;
}

size_t attn_block_bytes(const struct attn_ctx *c, struct attn_dims d)
{
    (void)c; /* scratch is on the threads' stacks */
    if (attn_dims_check(d) != ATTN_OK) return 0;
    return block_layout(d).total * sizeof(float) + ATTN_ALIGN;
}

size_t attn_block_keep_bytes(struct attn_dims d)
{
    if (attn_dims_check(d) != ATTN_OK) return 0;
    return block_layout(d).q * sizeof(float) + ATTN_ALIGN; /* kv lies before it */
}

static bool absent_or(struct attn_mat m, int rows, int cols)
{
    return !m.data || attn_mat_is(attn_const(m), rows, cols);
}

enum attn_status attn_block_from(const struct attn_ctx *c, const struct attn_block_io *io,
                                 const struct attn_packed *w, struct attn_opts opts,
                                 struct attn_dims d, int first, int n, void *work,
                                 size_t bytes)
{
    int rows = n - first, width = d.d_model;
    if (!attn_opts_fused(opts)) return ATTN_BAD_OPTS;
    if (attn_dims_check(d) != ATTN_OK || first < 0 || n <= first || n > d.n_tok ||
        !packed_for(w, c->k, d) || !attn_mat_is(io->x, rows, width) ||
        !attn_mat_is(attn_const(io->y), rows, width) ||
        (opts.residual && !attn_mat_is(io->h, rows, width)) ||
        !absent_or(io->z, rows, width) || !absent_or(io->qkv, rows, 3 * width))
        return ATTN_BAD_SHAPE;
    bool given = io->qkv.data && io->z.data;
    size_t need = given ? attn_block_keep_bytes(d) : attn_block_bytes(c, d);
    if (!work || bytes < need) return ATTN_NO_ROOM;

    struct block_layout l = block_layout(d);
    float *base = attn_aligned(work);
    struct attn_kv kv = attn_kv_at(base + l.kv, d);
    size_t d_head = (size_t)attn_d_head(d);
    struct attn_kv_fill fill = {
        c->k, &kv, first, {io->qkv.data, (size_t)io->qkv.ld, d_head}};
    struct attn_mat qkv = io->qkv, z = io->z;
    if (!qkv.data) {
        qkv = (struct attn_mat){.rows = rows, .cols = 3 * width};
        fill.q = (struct attn_queries){base + l.q, (size_t)l.ld_q, d_head};
        /* A head of whole panels has its queries in one piece. */
        if (d_head % (size_t)c->k->nr == 0)
            fill.q = (struct attn_queries){base + l.q, d_head, d_head * (size_t)rows};
    }
    if (!z.data) z = (struct attn_mat){base + l.z, rows, width, width};

    attn_multiply(c, &(struct attn_product){.c = qkv,
                                            .a = io->x,
                                            .panels = w->w_qkv,
                                            .bias = w->b_qkv,
                                            .place = io->qkv.data ? NULL : attn_kv_place,
                                            .then = attn_kv_fill,
                                            .arg = &fill});
    attn_fused_rows(c, &(struct attn_fused){.z = z,
                                            .q = fill.q,
                                            .kv = &kv,
                                            .opts = opts,
                                            .first = first,
                                            .n = n,
                                            .skip = -1});
    struct attn_product out = {
        .c = io->y, .a = attn_const(z), .panels = w->w_o, .bias = w->b_o};
    if (opts.residual) out.res = io->h;
    attn_multiply(c, &out);
    return ATTN_OK;
}

enum attn_status attn_block(const struct attn_ctx *c, const struct attn_block_io *io,
                            const struct attn_packed *w, struct attn_opts opts,
                            struct attn_dims d, void *work, size_t bytes)
{
    return attn_block_from(c, io, w, opts, d, 0, d.n_tok, work, bytes);
}
