/* The same block by other libraries, where the build found them. */
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

/* Appends one run a peer to runs; returns how many. Each has its own output. */
int bench_peers(struct bench_run *runs, const struct bench_problem *p, double flops);

#endif
