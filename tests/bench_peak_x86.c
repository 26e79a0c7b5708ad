/* The most multiply-adds a core does in registers: the yardstick of bench_attn.c. Twelve
 * or more independent chains hide the latency of two multiply-adds a cycle. Each chain is
 * a = a/2 + 1, which stays between 1 and 2. */
#include "bench.h"

#include <immintrin.h>
#include <string.h>

enum { CHAINS = 24, CHAINS_AVX2 = 12 /* of 16 registers */ };

__attribute__((target("avx512f"))) static double loop_avx512(double flops)
{
    const long steps = 1 + (long)(flops / (CHAINS * 2.0 * 16.0));
    const volatile float half = 0.5f;
    const __m512 m = _mm512_set1_ps(half), one = _mm512_set1_ps(1.0f);
    __m512 a[CHAINS];
    for (int i = 0; i < CHAINS; i++) a[i] = one;
    for (long s = 0; s < steps; s++)
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS; i++) a[i] = _mm512_fmadd_ps(a[i], m, one);
    for (int i = 1; i < CHAINS; i++) a[0] = _mm512_add_ps(a[0], a[i]);
    volatile float sink = _mm512_reduce_add_ps(a[0]);
    (void)sink;
    return (double)steps * (CHAINS * 2.0 * 16.0);
}

__attribute__((target("avx2,fma"))) static double loop_avx2(double flops)
{
    const long steps = 1 + (long)(flops / (CHAINS_AVX2 * 2.0 * 8.0));
    const volatile float half = 0.5f;
    const __m256 m = _mm256_set1_ps(half), one = _mm256_set1_ps(1.0f);
    __m256 a[CHAINS_AVX2];
    for (int i = 0; i < CHAINS_AVX2; i++) a[i] = one;
    for (long s = 0; s < steps; s++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS_AVX2; i++) a[i] = _mm256_fmadd_ps(a[i], m, one);
    for (int i = 1; i < CHAINS_AVX2; i++) a[0] = _mm256_add_ps(a[0], a[i]);
    volatile float sink = _mm256_cvtss_f32(a[0]);
    (void)sink;
    return (double)steps * (CHAINS_AVX2 * 2.0 * 8.0);
}

static double loop_sse(double flops)
{
    const long steps = 1 + (long)(flops / (CHAINS_AVX2 * 2.0 * 4.0));
    const volatile float half = 0.5f;
    const __m128 m = _mm_set1_ps(half), one = _mm_set1_ps(1.0f);
    __m128 a[CHAINS_AVX2];
    for (int i = 0; i < CHAINS_AVX2; i++) a[i] = one;
    for (long s = 0; s < steps; s++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS_AVX2; i++) a[i] = _mm_add_ps(_mm_mul_ps(a[i], m), one);
    for (int i = 1; i < CHAINS_AVX2; i++) a[0] = _mm_add_ps(a[0], a[i]);
    volatile float sink = _mm_cvtss_f32(a[0]);
    (void)sink;
    return (double)steps * (CHAINS_AVX2 * 2.0 * 4.0);
}

double bench_fma_loop(const char *kernels, double flops)
{
    if (strcmp(kernels, "avx512") == 0) return loop_avx512(flops);
    if (strcmp(kernels, "avx2") == 0) return loop_avx2(flops);
    return loop_sse(flops);
}
