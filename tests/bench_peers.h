/* The same block by other libraries, where the build found them: their GEMMs, and around
 * them what a careful user would write. Each has its own memory and output. */
#ifndef HEADLIGHT_BENCH_PEERS_H
#define HEADLIGHT_BENCH_PEERS_H

#include "bench.h"

struct bench_problem {
    const struct attn_ctx *c;
    struct attn_block_io io;
    struct attn_weights w;
    struct attn_dims d;
    int threads;
};

/* Appends the peers' runs; returns how many. Says on standard error which are missing. */
int bench_peers(struct bench_run *runs, const struct bench_problem *p, double flops);

/* Starts the program again without OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE, which OpenBLAS
 * reads while it is loaded, if one of them is set. */
void bench_peers_environment(char **argv);

/* One library's: they append 0 or more runs. */
int bench_openblas(struct bench_run *runs, const struct bench_problem *p, double flops);
int bench_onednn(struct bench_run *runs, const struct bench_problem *p, double flops);
int bench_torch(struct bench_run *runs, const struct bench_problem *p, double flops);

/* C[m, n] = alpha * A[m, k] * B + beta * C, row-major; transposed: B is [n, k]. */
typedef void bench_sgemm(bool transposed, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta,
                         float *c, int ldc);

struct bench_peer_memory {
    float *qkv, *z, *y; /* [n, 3d] [n, d] [n, d] */
};
struct bench_peer_memory bench_peer_memory(struct attn_dims d);

/* Attention by causal tiles of 64 query rows, shared out over our pool, with our vector
 * exp; each product is one call of sgemm, which must not start threads. */
void bench_peer_attention(const struct bench_problem *p, bench_sgemm *sgemm,
                          const struct bench_peer_memory *m);

#endif
