/* What the peers have in common: memory and the attention between their two GEMMs. */
#include "bench_peers.h"

#include "../src/attn/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 64, KEYS_MAX = 4096 };

struct tiles {
    const struct bench_problem *p;
    bench_sgemm *sgemm;
    const struct bench_peer_memory *m;
};

static void tile_task(const void *arg, int t)
{
    static _Thread_local float s[ROWS * KEYS_MAX];
    const struct tiles *a = arg;
    const struct attn_kernels *k = a->p->c->k;
    struct attn_dims d = a->p->d;
    int w = d.d_model, d_head = attn_d_head(d), n_block = (d.n_tok + ROWS - 1) / ROWS;
    int h = t / n_block, i0 = (n_block - 1 - t % n_block) * ROWS;
    int i1 = attn_min(i0 + ROWS, d.n_tok);
    const float *qkv = a->m->qkv + (size_t)h * d_head;
    float *z = a->m->z + (size_t)i0 * w + h * d_head;
    a->sgemm(true, i1 - i0, i1, d_head, 1.0f / sqrtf((float)d_head),
             qkv + (size_t)i0 * 3 * w, 3 * w, qkv + w, 3 * w, 0.0f, s, i1);
    for (int i = i0; i < i1; i++) {
        float *row = s + (size_t)(i - i0) * i1, max;
        k->row_max(&max, row, i + 1);
        k->row_div(row, row, i + 1, k->row_exp(row, row, i + 1, 1.0f, max));
        for (int j = i + 1; j < i1; j++) row[j] = 0.0f;
    }
    a->sgemm(false, i1 - i0, d_head, i1, 1.0f, s, i1, qkv + 2 * w, 3 * w, 0.0f, z, w);
}

void bench_peer_attention(const struct bench_problem *p, bench_sgemm *sgemm,
                          const struct bench_peer_memory *m)
{
    struct tiles t = {p, sgemm, m};
    attn_parallel(p->c, p->d.n_head * ((p->d.n_tok + ROWS - 1) / ROWS), false, tile_task,
                  &t);
}

struct bench_peer_memory bench_peer_memory(struct attn_dims d)
{
    size_t one = (size_t)d.n_tok * (size_t)d.d_model * sizeof(float);
    return (struct bench_peer_memory){bench_alloc(3 * one), bench_alloc(one),
                                      bench_alloc(one)};
}

int bench_peers(struct bench_run *runs, const struct bench_problem *p, double flops)
{
    if (p->d.n_tok > KEYS_MAX) {
        (void)fputs("headlight-bench: the peers end at 4096 tokens\n", stderr);
        return 0;
    }
    int n = bench_openblas(runs, p, flops);
    n += bench_onednn(runs + n, p, flops);
    return n + bench_torch(runs + n, p, flops);
}

void bench_peers_environment(char **argv)
{
    if (!getenv("OPENBLAS_CORETYPE") && !getenv("OPENBLAS_L2_SIZE")) return;
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    execv("/proc/self/exe", argv);
    perror("headlight-bench: cannot start again without OPENBLAS_CORETYPE");
}
