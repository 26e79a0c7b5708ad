/* One head with every intermediate: the buffers, the run that fills them, and views. */
#include "kernels.h"

#include <string.h>

/* Bumps *used, in floats, keeping ATTN_ALIGN. */
static size_t take(size_t *used, size_t n)
{
    size_t at = *used, unit = ATTN_ALIGN / sizeof(float);
    *used += (n + unit - 1) / unit * unit;
    return at;
}

struct layout {
    size_t qkv, s[4], z, y_proj, y, kv, total;
};

static struct layout layout(struct attn_dims d)
{
    struct layout l = {0};
    size_t n = (size_t)d.n_tok, w = (size_t)d.d_model;
    l.qkv = take(&l.total, n * (3 * w + ATTN_QKV_PAD));
    for (int i = 0; i < 4; i++) l.s[i] = take(&l.total, n * n);
    l.z = take(&l.total, n * w);
    l.y_proj = take(&l.total, n * w);
    l.y = take(&l.total, n * w);
    l.kv = take(&l.total, d.n_head > 1 ? attn_kv_floats(d) : 0);
    return l;
}

size_t attn_trace_bytes(struct attn_dims d)
{
    if (attn_dims_check(d) != ATTN_OK) return 0;
    return layout(d).total * sizeof(float) + ATTN_ALIGN;
}

enum attn_status attn_trace_init(struct attn_trace *t, struct attn_dims d, void *mem,
                                 size_t bytes)
{
    if (attn_dims_check(d) != ATTN_OK) return ATTN_BAD_SHAPE;
    if (!mem || bytes < attn_trace_bytes(d)) return ATTN_NO_ROOM;
    struct layout l = layout(d);
    float *base = attn_aligned(mem);
    int n = d.n_tok, w = d.d_model;
    *t = (struct attn_trace){
        .dims = d,
        .qkv = {base + l.qkv, n, 3 * w, 3 * w + ATTN_QKV_PAD},
        .s_raw = {base + l.s[0], n, n, n},
        .s_scaled = {base + l.s[1], n, n, n},
        .s_masked = {base + l.s[2], n, n, n},
        .p = {base + l.s[3], n, n, n},
        .z = {base + l.z, n, w, w},
        .y_proj = {base + l.y_proj, n, w, w},
        .y = {base + l.y, n, w, w},
        .work = base + l.kv,
    };
    return ATTN_OK;
}

static struct attn_cmat slice(struct attn_cmat m, int head, int part, struct attn_dims d)
{
    if (head < 0 || head >= d.n_head) return (struct attn_cmat){NULL, 0, 0, 0};
    int d_head = attn_d_head(d);
    return attn_ccolumns(m, part * d.d_model + head * d_head, d_head);
}

static struct attn_cmat one_head(const struct attn_trace *t, struct attn_mat m, int head)
{
    return head == t->head ? attn_const(m) : (struct attn_cmat){NULL, 0, 0, 0};
}

struct attn_cmat attn_trace_view(const struct attn_trace *t, enum attn_tensor id,
                                 int head)
{
    struct attn_cmat qkv = attn_const(t->qkv);
    /* clang-format off */
    switch (id) {
    case ATTN_H: return t->h;
    case ATTN_X: return t->x;
    case ATTN_W_Q: return slice(t->w.w_qkv, head, 0, t->dims);
    case ATTN_W_K: return slice(t->w.w_qkv, head, 1, t->dims);
    case ATTN_W_V: return slice(t->w.w_qkv, head, 2, t->dims);
    case ATTN_Q: return slice(qkv, head, 0, t->dims);
    case ATTN_K: return slice(qkv, head, 1, t->dims);
    case ATTN_V: return slice(qkv, head, 2, t->dims);
    case ATTN_S_RAW: return one_head(t, t->s_raw, head);
    case ATTN_S_SCALED: return one_head(t, t->s_scaled, head);
    case ATTN_S_MASKED: return one_head(t, t->s_masked, head);
    case ATTN_P: return one_head(t, t->p, head);
    case ATTN_Z: return slice(attn_const(t->z), head, 0, t->dims);
    case ATTN_Z_ALL: return attn_const(t->z);
    case ATTN_W_O: return t->w.w_o;
    case ATTN_Y_PROJ: return attn_const(t->y_proj);
    case ATTN_Y: return attn_const(t->y);
    case ATTN_TENSOR_COUNT: break;
    }
    /* clang-format on */
    return (struct attn_cmat){NULL, 0, 0, 0};
}

static void copy(struct attn_mat to, struct attn_cmat from)
{
    for (int i = 0; i < to.rows; i++)
        memcpy(to.data + (size_t)i * to.ld, from.data + (size_t)i * from.ld,
               (size_t)to.cols * sizeof(float));
}

struct stats_job {
    struct attn_trace *t;
    bool head_only; /* leave out what does not change with the head in view */
};

static void stats_task(const void *arg, int id)
{
    const struct stats_job *j = arg;
    bool whole = id == ATTN_H || id == ATTN_X || id >= ATTN_Z_ALL;
    struct attn_cmat m = attn_trace_view(j->t, (enum attn_tensor)id, j->t->head);
    if (m.data && !(whole && j->head_only)) j->t->stats[id] = attn_stats_of(m);
}

static void take_stats(const struct attn_ctx *c, struct attn_trace *t, bool head_only)
{
    struct stats_job job = {t, head_only};
    attn_parallel(c, ATTN_TENSOR_COUNT, false, stats_task, &job);
}

struct residual_job {
    struct attn_mat y;
    struct attn_cmat y_proj, h;
};

static void residual_task(const void *arg, int i)
{
    const struct residual_job *j = arg;
    float *y = j->y.data + (size_t)i * j->y.ld;
    const float *p = j->y_proj.data + (size_t)i * j->y_proj.ld;
    const float *h = j->h.data ? j->h.data + (size_t)i * j->h.ld : NULL;
    for (int a = 0; a < j->y.cols; a++) y[a] = h ? p[a] + h[a] : p[a];
}

static void add_residual(const struct attn_ctx *c, struct attn_trace *t)
{
    struct residual_job job = {t->y, attn_const(t->y_proj), t->h};
    if (!t->opts.residual) job.h.data = NULL;
    attn_parallel(c, t->y.rows, true, residual_task, &job);
}

/* Stages 2 to 6 of the head in view. Shapes are the trace's own and cannot be wrong. */
static void head_stages(const struct attn_ctx *c, struct attn_trace *t)
{
    int h = t->head, d_head = attn_d_head(t->dims);
    struct attn_mat z = attn_columns(t->z, h * d_head, d_head);
    attn_scores(c, t->s_raw, attn_trace_view(t, ATTN_Q, h),
                attn_trace_view(t, ATTN_K, h));
    if (t->opts.scale)
        attn_scale(c, t->s_scaled, attn_const(t->s_raw), d_head);
    else
        copy(t->s_scaled, attn_const(t->s_raw));
    if (t->opts.causal)
        attn_mask(c, t->s_masked, attn_const(t->s_scaled));
    else
        copy(t->s_masked, attn_const(t->s_scaled));
    t->n_empty_row = 0;
    attn_softmax(c, t->p, attn_const(t->s_masked), &t->n_empty_row);
    attn_weighted_sum(c, z, attn_const(t->p), attn_trace_view(t, ATTN_V, h),
                      t->opts.causal);
}

enum attn_status attn_run(const struct attn_ctx *c, struct attn_trace *t,
                          struct attn_cmat x, struct attn_cmat h,
                          const struct attn_weights *w, struct attn_opts opts, int head)
{
    struct attn_dims d = t->dims;
    if (!attn_mat_is(x, d.n_tok, d.d_model) || !attn_mat_is(h, d.n_tok, d.d_model) ||
        !attn_mat_is(w->w_qkv, d.d_model, 3 * d.d_model) ||
        !attn_mat_is(w->w_o, d.d_model, d.d_model) || head < 0 || head >= d.n_head)
        return ATTN_BAD_SHAPE;
    t->opts = opts;
    t->w = *w;
    t->x = x;
    t->h = h;
    t->head = head;
    struct attn_kv kv = attn_kv_at(t->work, d);
    struct attn_kv_fill fill = {.k = c->k, .kv = &kv};
    /* What attn_project and attn_output do, with the panels where there are any. */
    attn_multiply(c, &(struct attn_product){.c = t->qkv,
                                            .a = x,
                                            .b = w->w_qkv,
                                            .panels = attn_packed_qkv(w->packed, c->k, d),
                                            .bias = w->b_qkv,
                                            .then = d.n_head > 1 ? attn_kv_fill : NULL,
                                            .arg = &fill});
    if (d.n_head > 1) {
        attn_fused_rows(c, &(struct attn_fused){.z = t->z,
                                                .qkv = attn_const(t->qkv),
                                                .kv = &kv,
                                                .opts = opts,
                                                .n = d.n_tok,
                                                .skip = head});
    }
    head_stages(c, t);
    attn_multiply(c, &(struct attn_product){.c = t->y_proj,
                                            .a = attn_const(t->z),
                                            .b = w->w_o,
                                            .panels = attn_packed_o(w->packed, c->k, d),
                                            .bias = w->b_o});
    add_residual(c, t);
    take_stats(c, t, false);
    return ATTN_OK;
}

enum attn_status attn_run_head(const struct attn_ctx *c, struct attn_trace *t, int head)
{
    if (head < 0 || head >= t->dims.n_head || !t->x.data) return ATTN_BAD_SHAPE;
    t->head = head;
    head_stages(c, t);
    take_stats(c, t, true);
    return ATTN_OK;
}
