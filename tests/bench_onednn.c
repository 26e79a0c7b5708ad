/* oneDNN: matmul primitives with weights in the layout they ask for, bias and residual in
 * their epilogues. Attention once by causal tiles, with our vector exp, and once as most
 * people call it, by oneDNN alone: dense batched products around a masked softmax. */
#include "bench_peers.h"

#include <math.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

struct product {
    dnnl_primitive_t run;
    dnnl_exec_arg_t args[5];
    int n_arg;
};

struct peer {
    struct bench_problem p;
    struct bench_peer_memory m;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct product qkv, out, scores, mask, soften, values;
    float *s; /* dense: n_head x [n, n] */
};

static void must(dnnl_status_t st)
{
    if (st == dnnl_success) return;
    (void)fprintf(stderr, "headlight-bench: oneDNN status %d\n", (int)st);
    exit(1);
}

/* Rows of ld floats, one after another; for batches, stride floats between them. */
static dnnl_memory_desc_t plain(int batch, int rows, int cols, dnnl_dim_t stride,
                                dnnl_dim_t ld, dnnl_dim_t step)
{
    dnnl_memory_desc_t md;
    if (batch)
        must(dnnl_memory_desc_init_by_strides(&md, 3, (dnnl_dims_t){batch, rows, cols},
                                              dnnl_f32, (dnnl_dims_t){stride, ld, step}));
    else
        must(dnnl_memory_desc_init_by_strides(&md, 2, (dnnl_dims_t){rows, cols}, dnnl_f32,
                                              (dnnl_dims_t){ld, step}));
    return md;
}

static dnnl_memory_t memory(struct peer *o, const dnnl_memory_desc_t *md,
                            const void *data)
{
    dnnl_memory_t m;
    union { /* oneDNN takes sources as void * too */
        const void *in;
        void *out;
    } u = {.in = data};
    must(dnnl_memory_create(&m, md, o->engine, u.out));
    return m;
}

/* What comes after a product: bias [cols], and more of what dst is. */
struct epilogue {
    const float *bias, *added;
};

/* dst = src * w (+ bias) (+ added): w is reordered once if reorder is set. */
static void product_create(struct peer *o, struct product *pr, dnnl_memory_desc_t src,
                           const void *src_at, dnnl_memory_desc_t w, const void *w_at,
                           bool reorder, dnnl_memory_desc_t dst, void *dst_at,
                           struct epilogue e)
{
    dnnl_memory_desc_t any = w, bias_md = {0};
    if (reorder)
        must(dnnl_memory_desc_init_by_tag(&any, w.ndims, w.dims, dnnl_f32,
                                          dnnl_format_tag_any));
    if (e.bias) bias_md = plain(0, 1, (int)dst.dims[1], 0, dst.dims[1], 1);
    dnnl_primitive_attr_t attr;
    must(dnnl_primitive_attr_create(&attr));
    if (e.added) {
        dnnl_post_ops_t ops;
        must(dnnl_post_ops_create(&ops));
        must(dnnl_post_ops_append_binary(ops, dnnl_binary_add, &dst));
        must(dnnl_primitive_attr_set_post_ops(attr, ops));
        must(dnnl_post_ops_destroy(ops));
    }
    dnnl_matmul_desc_t md;
    must(dnnl_matmul_desc_init(&md, &src, &any, e.bias ? &bias_md : NULL, &dst));
    dnnl_primitive_desc_t pd;
    must(dnnl_primitive_desc_create(&pd, &md, attr, o->engine, NULL));
    must(dnnl_primitive_attr_destroy(attr));
    dnnl_memory_t weights = memory(o, &w, w_at);
    if (reorder) {
        const dnnl_memory_desc_t *want =
            dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
        dnnl_memory_t packed = memory(o, want, DNNL_MEMORY_ALLOCATE);
        dnnl_primitive_desc_t rd;
        dnnl_primitive_t r;
        must(dnnl_reorder_primitive_desc_create(&rd, &w, o->engine, want, o->engine,
                                                NULL));
        must(dnnl_primitive_create(&r, rd));
        must(dnnl_primitive_execute(
            r, o->stream, 2,
            (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, weights}, {DNNL_ARG_TO, packed}}));
        must(dnnl_stream_wait(o->stream));
        weights = packed;
    }
    must(dnnl_primitive_create(&pr->run, pd));
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_SRC, memory(o, &src, src_at)};
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, weights};
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_DST, memory(o, &dst, dst_at)};
    if (e.bias)
        pr->args[pr->n_arg++] =
            (dnnl_exec_arg_t){DNNL_ARG_BIAS, memory(o, &bias_md, e.bias)};
    if (e.added)
        pr->args[pr->n_arg++] = (dnnl_exec_arg_t){
            DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, memory(o, &dst, e.added)};
}

/* s = s * scale + mask, in place; mask is [n, n] for each of a batch. */
static void mask_create(struct peer *o, struct product *pr, dnnl_memory_desc_t md,
                        void *s, dnnl_memory_desc_t mask_md, const float *mask,
                        float scale)
{
    dnnl_binary_desc_t bd;
    dnnl_primitive_desc_t pd;
    dnnl_primitive_attr_t attr;
    must(dnnl_primitive_attr_create(&attr));
    must(dnnl_primitive_attr_set_scales(attr, DNNL_ARG_SRC_0, 1, 0, &scale));
    must(dnnl_binary_desc_init(&bd, dnnl_binary_add, &md, &mask_md, &md));
    must(dnnl_primitive_desc_create(&pd, &bd, attr, o->engine, NULL));
    must(dnnl_primitive_attr_destroy(attr));
    must(dnnl_primitive_create(&pr->run, pd));
    dnnl_memory_t m = memory(o, &md, s);
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_SRC_0, m};
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_SRC_1, memory(o, &mask_md, mask)};
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_DST, m};
}

/* Over the last axis, in place. */
static void softmax_create(struct peer *o, struct product *pr, dnnl_memory_desc_t md,
                           void *at)
{
    dnnl_softmax_desc_t sd;
    dnnl_primitive_desc_t pd;
    must(dnnl_softmax_forward_desc_init(&sd, dnnl_forward_inference, &md, md.ndims - 1));
    must(dnnl_primitive_desc_create(&pd, &sd, NULL, o->engine, NULL));
    must(dnnl_primitive_create(&pr->run, pd));
    dnnl_memory_t m = memory(o, &md, at);
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_SRC, m};
    pr->args[pr->n_arg++] = (dnnl_exec_arg_t){DNNL_ARG_DST, m};
}

/* [n, n]: 0 where row i may look, -INFINITY beyond. */
static float *causal_mask(int n)
{
    float *m = bench_alloc((size_t)n * n * sizeof *m);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) m[(size_t)i * n + j] = -INFINITY;
    return m;
}

static void execute(struct peer *o, const struct product *pr)
{
    must(dnnl_primitive_execute(pr->run, o->stream, pr->n_arg, pr->args));
    must(dnnl_stream_wait(o->stream));
}

static void sgemm(bool transposed, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    omp_set_num_threads(1); /* for the calling thread: a tile is one thread's */
    must(dnnl_sgemm('N', transposed ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c,
                    ldc));
}

static void tiled(void *arg)
{
    struct peer *o = arg;
    omp_set_num_threads(o->p.threads);
    execute(o, &o->qkv);
    bench_peer_attention(&o->p, sgemm, &o->m);
    omp_set_num_threads(o->p.threads);
    execute(o, &o->out);
}

static void dense(void *arg)
{
    struct peer *o = arg;
    omp_set_num_threads(o->p.threads);
    execute(o, &o->qkv);
    execute(o, &o->scores);
    execute(o, &o->mask);
    execute(o, &o->soften);
    execute(o, &o->values);
    execute(o, &o->out);
}

int bench_onednn(struct bench_run *runs, const struct bench_problem *p, double flops)
{
    struct peer *o = bench_alloc(sizeof *o);
    *o = (struct peer){.p = *p, .m = bench_peer_memory(p->d)};
    const int n = p->d.n_tok, h = p->d.n_head, d = attn_d_head(p->d);
    const int w = p->d.d_model, w3 = 3 * w;
    omp_set_num_threads(p->threads);
    must(dnnl_engine_create(&o->engine, dnnl_cpu, 0));
    must(dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags));
    dnnl_memory_desc_t row_major = plain(0, n, w, 0, w, 1);
    product_create(o, &o->qkv, row_major, p->io.x.data, plain(0, w, w3, 0, w3, 1),
                   p->w.w_qkv.data, true, plain(0, n, w3, 0, w3, 1), o->m.qkv,
                   (struct epilogue){.bias = p->w.b_qkv});
    product_create(o, &o->out, row_major, o->m.z, plain(0, w, w, 0, w, 1), p->w.w_o.data,
                   true, row_major, o->m.y, (struct epilogue){p->w.b_o, p->io.h.data});
    runs[0] = (struct bench_run){
        .name = "oneDNN, causal tiles", .run = tiled, .arg = o, .flops = flops};
    runs[0].out = o->m.y;
    if (n > 1024)
        return 1; /* dense scores of all heads would be 200 MiB a thousand more */
    o->s = bench_alloc((size_t)h * n * n * sizeof(float));
    dnnl_memory_desc_t s = plain(h, n, n, (dnnl_dim_t)n * n, n, 1);
    product_create(o, &o->scores, plain(h, n, d, d, w3, 1), o->m.qkv,
                   plain(h, d, n, d, 1, w3), o->m.qkv + w, false, s, o->s,
                   (struct epilogue){0});
    mask_create(o, &o->mask, s, o->s, plain(1, n, n, (dnnl_dim_t)n * n, n, 1),
                causal_mask(n), 1.0f / sqrtf((float)d));
    softmax_create(o, &o->soften, s, o->s);
    product_create(o, &o->values, s, o->s, plain(h, n, d, d, w3, 1),
                   o->m.qkv + (size_t)2 * w, false, plain(h, n, d, d, w, 1), o->m.z,
                   (struct epilogue){0});
    runs[1] = (struct bench_run){
        .name = "oneDNN, dense", .run = dense, .arg = o, .flops = flops};
    runs[1].out = o->m.y;
    return 2;
}
