/* The yardstick of bench_attn.c where no instruction set has its own loop: as much as the
 * compiler makes of thirty-two chains a = a/2 + 1. */
#include "bench.h"

enum { CHAINS = 32 };

double bench_fma_loop(const char *kernels, double flops)
{
    (void)kernels;
    const long steps = 1 + (long)(flops / (CHAINS * 2.0));
    const volatile float half = 0.5f;
    const float m = half;
    float a[CHAINS];
    for (int i = 0; i < CHAINS; i++) a[i] = 1.0f;
    for (long s = 0; s < steps; s++)
#pragma GCC unroll 32
        for (int i = 0; i < CHAINS; i++) a[i] = a[i] * m + 1.0f;
    for (int i = 1; i < CHAINS; i++) a[0] += a[i];
    volatile float sink = a[0];
    (void)sink;
    return (double)steps * (CHAINS * 2.0);
}
