/* OpenBLAS: its threads for the two big products, one call a tile between them. */
#include "bench_peers.h"

#include <cblas.h>
#include <string.h>

struct peer {
    struct bench_problem p;
    struct bench_peer_memory m;
};

static void sgemm(bool transposed, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, m, n,
                k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static void tiled(void *arg)
{
    struct peer *o = arg;
    const struct bench_problem *p = &o->p;
    int n = p->d.n_tok, w = p->d.d_model;
    openblas_set_num_threads(p->threads);
    for (int i = 0; i < n; i++) /* the bias is what the product is added to */
        memcpy(o->m.qkv + (size_t)i * 3 * w, p->w.b_qkv, 3 * (size_t)w * sizeof(float));
    sgemm(false, n, 3 * w, w, 1.0f, p->io.x.data, p->io.x.ld, p->w.w_qkv.data,
          p->w.w_qkv.ld, 1.0f, o->m.qkv, 3 * w);
    openblas_set_num_threads(1);
    bench_peer_attention(p, sgemm, &o->m);
    openblas_set_num_threads(p->threads);
    for (int i = 0; i < n; i++)
        for (int a = 0; a < w; a++)
            o->m.y[(size_t)i * w + a] =
                p->w.b_o[a] + p->io.h.data[(size_t)i * p->io.h.ld + a];
    sgemm(false, n, w, w, 1.0f, o->m.z, w, p->w.w_o.data, p->w.w_o.ld, 1.0f, o->m.y, w);
}

int bench_openblas(struct bench_run *runs, const struct bench_problem *p, double flops)
{
    struct peer *o = bench_alloc(sizeof *o);
    *o = (struct peer){*p, bench_peer_memory(p->d)};
    runs[0] = (struct bench_run){
        .name = "OpenBLAS, causal tiles", .run = tiled, .arg = o, .flops = flops};
    runs[0].out = o->m.y;
    return 1;
}
