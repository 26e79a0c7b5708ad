/* One head with every intermediate: the buffers, the run that fills them, and views. */
#include "kernels.h"

#include <string.h>

struct layout {
    size_t qkv, s[4], z, y_proj, y, kv, total;
};

static struct layout layout(struct attn_dims d)
{
    struct layout l = {0};
    size_t n = (size_t)d.n_tok, w = (size_t)d.d_model;
    l.qkv = attn_take(&l.total, n * (3 * w + ATTN_QKV_PAD));
    for (int i = 0; i < 4; i++) l.s[i] = attn_take(&l.total, n * n); /* side by side */
    l.z = attn_take(&l.total, n * w);
    l.y_proj = attn_take(&l.total, n * w);
    l.y = attn_take(&l.total, n * w);
    l.kv = attn_take(&l.total, d.n_head > 1 ? attn_kv_floats(d) : 0);
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
    int q = t->opts.swapped ? 1 : 0; /* whose columns of W_qkv are taken for W_Q's */
    /* clang-format off */
    switch (id) {
    case ATTN_H: return t->h;
    case ATTN_X: return t->x;
    case ATTN_W_Q: return slice(t->w.w_qkv, head, q, t->dims);
    case ATTN_W_K: return slice(t->w.w_qkv, head, 1 - q, t->dims);
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

struct stats_job {
    const struct attn_kernels *k;
    struct attn_trace *t;
    bool head_only; /* leave out what does not change with the head in view */
};

static void stats_task(const void *arg, int id)
{
    const struct stats_job *j = arg;
    bool whole = id == ATTN_H || id == ATTN_X || id >= ATTN_Z_ALL;
    struct attn_cmat m = attn_trace_view(j->t, (enum attn_tensor)id, j->t->head);
    if (m.data && !(whole && j->head_only))
        j->t->stats[id] = attn_stats_by(j->k, m, false);
}

static void take_stats(const struct attn_ctx *c, struct attn_trace *t, bool head_only)
{
    struct stats_job job = {c->k, t, head_only};
    attn_parallel(c, ATTN_TENSOR_COUNT, false, stats_task, &job);
}

struct residual_job {
    const struct attn_kernels *k;
    struct attn_mat y;
    struct attn_cmat y_proj, h;
    enum attn_precision precision;
};

static void residual_task(const void *arg, int i)
{
    const struct residual_job *j = arg;
    float *y = j->y.data + (size_t)i * j->y.ld;
    const float *p = j->y_proj.data + (size_t)i * j->y_proj.ld;
    const float *h = j->h.data ? j->h.data + (size_t)i * j->h.ld : NULL;
    for (int a = 0; a < j->y.cols; a++) y[a] = h ? p[a] + h[a] : p[a];
    attn_round_floats(j->k, y, j->y.cols, j->precision);
}

static void add_residual(const struct attn_ctx *c, struct attn_trace *t)
{
    struct residual_job job = {c->k, t->y, attn_const(t->y_proj), t->h,
                               t->opts.precision};
    if (!t->opts.residual) job.h.data = NULL;
    attn_parallel(c, t->y.rows, true, residual_task, &job);
}

/* ---- numbers that are given ------------------------------------------------------------ */

static bool is_of_head(enum attn_tensor t)
{
    return t == ATTN_Q || t == ATTN_K || t == ATTN_V || t == ATTN_S_RAW ||
           t == ATTN_S_SCALED || t == ATTN_S_MASKED || t == ATTN_P;
}

static bool edits_fit(const struct attn_edit *edits, int n, struct attn_dims d)
{
    for (int i = 0; i < n; i++) {
        const struct attn_edit *e = &edits[i];
        if (!is_of_head(e->tensor) || e->head < 0 || e->head >= d.n_head) return false;
        int cols = e->tensor < ATTN_S_RAW ? attn_d_head(d) : d.n_tok;
        if (e->row < 0 || e->row >= d.n_tok || e->col < 0 || e->col >= cols) return false;
    }
    return n >= 0 && (n == 0 || edits);
}

static void put_edits(const struct attn_trace *t, struct attn_mat m, enum attn_tensor id,
                      int head)
{
    for (int i = 0; i < t->n_edit; i++) {
        const struct attn_edit *e = &t->edits[i];
        if (e->tensor == id && e->head == head)
            m.data[(size_t)e->row * m.ld + e->col] = e->value;
    }
}

/* Whether a number between the projection and O is given for the head. */
static bool is_edited(const struct attn_trace *t, int head)
{
    for (int i = 0; i < t->n_edit; i++)
        if (t->edits[i].head == head && t->edits[i].tensor >= ATTN_S_RAW) return true;
    return false;
}

/* A weight that is given where the mask forbids one, or follows from a score that is: the
 * sum of its row reads every value that has a weight. */
static void sum_beyond_mask(const struct attn_ctx *c, const struct attn_trace *t,
                            struct attn_mat z, int head)
{
    struct attn_cmat v = attn_trace_view(t, ATTN_V, head);
    for (int i = 0; i < t->n_edit; i++) {
        const struct attn_edit *e = &t->edits[i];
        bool late = e->tensor == ATTN_S_MASKED || e->tensor == ATTN_P;
        if (e->head != head || !late || e->col < attn_seen(t->opts, e->row, v.rows))
            continue;
        const float *p = t->p.data + (size_t)e->row * t->p.ld;
        float *row = z.data + (size_t)e->row * z.ld;
        for (int a = 0; a < z.cols; a++) row[a] = 0.0f;
        for (int j = 0; j < v.rows; j++)
            for (int a = 0; p[j] != 0.0f && a < z.cols; a++)
                row[a] += p[j] * v.data[(size_t)j * v.ld + a];
        attn_round_floats(c->k, row, z.cols, t->opts.precision);
    }
}

/* ---- the run --------------------------------------------------------------------------- */

static void silence(const struct attn_trace *t, int h)
{
    int d_head = attn_d_head(t->dims);
    struct attn_mat z = attn_columns(t->z, h * d_head, d_head);
    for (int i = 0; i < z.rows; i++)
        memset(z.data + (size_t)i * z.ld, 0, (size_t)z.cols * sizeof(float));
}

/* Stages 2 to 6 of a head, in the buffers of the head in view. Shapes are the trace's own
 * and cannot be wrong. */
static void head_stages(const struct attn_ctx *c, struct attn_trace *t, int h)
{
    int d_head = attn_d_head(t->dims);
    struct attn_opts o = t->opts;
    struct attn_mat z = attn_columns(t->z, h * d_head, d_head);
    attn_scores(c, t->s_raw, attn_trace_view(t, ATTN_Q, h),
                attn_trace_view(t, ATTN_K, h));
    (void)attn_round(c, t->s_raw, o.precision);
    put_edits(t, t->s_raw, ATTN_S_RAW, h);
    (void)attn_scale_as(c, t->s_scaled, attn_const(t->s_raw), o, t->dims);
    put_edits(t, t->s_scaled, ATTN_S_SCALED, h);
    (void)attn_mask_as(c, t->s_masked, attn_const(t->s_scaled), o);
    put_edits(t, t->s_masked, ATTN_S_MASKED, h);
    t->n_empty_row = 0;
    (void)attn_softmax_as(c, t->p, attn_const(t->s_masked), o, &t->n_empty_row);
    put_edits(t, t->p, ATTN_P, h);
    (void)attn_weighted_sum_as(c, z, attn_const(t->p), attn_trace_view(t, ATTN_V, h), o);
    sum_beyond_mask(c, t, z, h);
    if (attn_is_silent(o, h)) silence(t, h);
}

struct swap_job {
    struct attn_mat qkv;
    int width;
};

static void swap_task(const void *arg, int i)
{
    const struct swap_job *j = arg;
    float *q = j->qkv.data + (size_t)i * j->qkv.ld, *k = q + j->width;
    for (int a = 0; a < j->width; a++) {
        float was = q[a];
        q[a] = k[a];
        k[a] = was;
    }
}

/* What the options and the edits make of the projection; it returns whether anything. */
static bool change_projection(const struct attn_ctx *c, struct attn_trace *t)
{
    struct attn_dims d = t->dims;
    struct swap_job swap = {t->qkv, d.d_model};
    if (t->opts.swapped) attn_parallel(c, d.n_tok, true, swap_task, &swap);
    (void)attn_round(c, t->qkv, t->opts.precision);
    for (int i = 0; i < t->n_edit; i++) {
        const struct attn_edit *e = &t->edits[i];
        int part = (int)e->tensor - (int)ATTN_Q;
        if (part > 2) continue;
        put_edits(t,
                  attn_columns(t->qkv, part * d.d_model + e->head * attn_d_head(d),
                               attn_d_head(d)),
                  e->tensor, e->head);
    }
    return t->opts.swapped || t->opts.precision != ATTN_FLOAT32 || t->n_edit > 0;
}

/* The projection is no longer what it was when keys and values were filled in. */
struct fill_job {
    const struct attn_kv_fill *fill;
    struct attn_cmat qkv;
};
enum { FILL_ROWS = 64 /* whole panels of keys */ };

static void fill_task(const void *arg, int b)
{
    const struct fill_job *j = arg;
    int first = b * FILL_ROWS;
    struct attn_cmat part = j->qkv;
    part.data += (size_t)first * part.ld;
    part.rows = attn_min(FILL_ROWS, part.rows - first);
    attn_kv_fill(j->fill, part, first, 0);
}

static void fill_again(const struct attn_ctx *c, const struct attn_trace *t,
                       const struct attn_kv_fill *fill)
{
    struct fill_job job = {fill, attn_const(t->qkv)};
    attn_parallel(c, (t->dims.n_tok - 1) / FILL_ROWS + 1, false, fill_task, &job);
}

/* The heads out of view. in_place: their keys and values are where the fused path wants
 * them. Their scratch is where the head in view will have its S and A. */
static void other_heads(const struct attn_ctx *c, struct attn_trace *t,
                        const struct attn_kv_fill *fill, bool in_place)
{
    bool fused = attn_opts_fused_heads(t->opts);
    if (!in_place) fill_again(c, t, fill);
    struct attn_queries q = {t->qkv.data, (size_t)t->qkv.ld,
                             (size_t)attn_d_head(t->dims)};
    if (fused)
        attn_fused_rows(c, &(struct attn_fused){.z = t->z,
                                                .q = q,
                                                .kv = fill->kv,
                                                .opts = t->opts,
                                                .n = t->dims.n_tok,
                                                .skip = t->head});
    else
        attn_stepwise_rows(
            c, &(struct attn_stepwise){.k = c->k,
                                       .z = t->z,
                                       .qkv = attn_const(t->qkv),
                                       .kv = fill->kv,
                                       .opts = t->opts,
                                       .divisor = attn_divisor_of(t->opts, t->dims),
                                       .n = t->dims.n_tok,
                                       .skip = t->head,
                                       .scratch = t->s_raw.data});
    for (int h = 0; h < t->dims.n_head; h++) {
        if (h == t->head) continue;
        if (attn_is_silent(t->opts, h))
            silence(t, h);
        else if (is_edited(t, h))
            head_stages(c, t, h);
    }
}

enum attn_status attn_run_edited(const struct attn_ctx *c, struct attn_trace *t,
                                 struct attn_cmat x, struct attn_cmat h,
                                 const struct attn_weights *w, struct attn_opts opts,
                                 int head, const struct attn_edit *edits, int n_edit)
{
    struct attn_dims d = t->dims;
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    if (!attn_mat_is(x, d.n_tok, d.d_model) || !attn_mat_is(h, d.n_tok, d.d_model) ||
        !attn_mat_is(w->w_qkv, d.d_model, 3 * d.d_model) ||
        !attn_mat_is(w->w_o, d.d_model, d.d_model) || head < 0 || head >= d.n_head ||
        !edits_fit(edits, n_edit, d))
        return ATTN_BAD_SHAPE;
    t->opts = opts;
    t->w = *w;
    t->x = x;
    t->h = h;
    t->head = head;
    t->edits = edits;
    t->n_edit = n_edit;
    if (opts.no_bias) t->w.b_qkv = t->w.b_o = NULL;
    struct attn_kv kv = attn_kv_at(t->work, d);
    struct attn_kv_fill fill = {.k = c->k, .kv = &kv};
    /* What attn_project and attn_output do, with the panels where there are any. */
    attn_multiply(c, &(struct attn_product){.c = t->qkv,
                                            .a = x,
                                            .b = w->w_qkv,
                                            .panels = attn_packed_qkv(w->packed, c->k, d),
                                            .bias = t->w.b_qkv,
                                            .then = d.n_head > 1 ? attn_kv_fill : NULL,
                                            .arg = &fill});
    bool changed = change_projection(c, t);
    if (d.n_head > 1) other_heads(c, t, &fill, !changed);
    head_stages(c, t, head);
    attn_multiply(c, &(struct attn_product){.c = t->y_proj,
                                            .a = attn_const(t->z),
                                            .b = w->w_o,
                                            .panels = attn_packed_o(w->packed, c->k, d),
                                            .bias = t->w.b_o});
    (void)attn_round(c, t->y_proj, opts.precision);
    add_residual(c, t);
    take_stats(c, t, false);
    return ATTN_OK;
}

enum attn_status attn_run(const struct attn_ctx *c, struct attn_trace *t,
                          struct attn_cmat x, struct attn_cmat h,
                          const struct attn_weights *w, struct attn_opts opts, int head)
{
    return attn_run_edited(c, t, x, h, w, opts, head, NULL, 0);
}

enum attn_status attn_run_head(const struct attn_ctx *c, struct attn_trace *t, int head)
{
    if (head < 0 || head >= t->dims.n_head || !t->x.data) return ATTN_BAD_SHAPE;
    t->head = head;
    head_stages(c, t, head);
    take_stats(c, t, true);
    return ATTN_OK;
}
