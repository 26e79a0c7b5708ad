/* Private to attn: rounding to the narrow formats without a branch, included by each kernel
 * set, so that its own vectors are made of it. It says what attn_rounded says, to the bit. */
#ifndef HEADLIGHT_ROUND_H
#define HEADLIGHT_ROUND_H

#include "kernels.h"

#include <string.h>

/* yes where so, else no; never a branch, behind which a compiler would put a float's sum. */
static inline uint32_t either(bool so, uint32_t yes, uint32_t no)
{
    uint32_t mask = 0u - (uint32_t)so;
    return (yes & mask) | (no & ~mask);
}

static inline uint32_t bfloat16_bits(uint32_t b)
{
    uint32_t rounded = (b + 0x7FFF + (b >> 16 & 1)) & 0xFFFF0000;
    return (b & 0x7F800000) == 0x7F800000 ? b : rounded;
}

/* Below 2^-14: a multiple of 2^-24, which is the last place of 0.5 to 1. */
static inline uint32_t small_bits(uint32_t size)
{
    float v;
    memcpy(&v, &size, sizeof v);
    v = (v + 0.5f) - 0.5f;
    memcpy(&size, &v, sizeof v);
    return size;
}

static inline uint32_t float16_bits(uint32_t b)
{
    const uint32_t least = 0x38800000, over = 0x477FF000; /* 2^-14, 65520 */
    uint32_t size = b & 0x7FFFFFFF;
    uint32_t rounded = (size + 0xFFF + (size >> 13 & 1)) & ~(uint32_t)0x1FFF;
    uint32_t small = small_bits(size);
    rounded = either(size < least, small, rounded);
    rounded = either(size >= over, 0x7F800000, rounded);
    rounded = either(size >= 0x7F800000, size, rounded); /* infinities and NaN stay */
    return rounded | (b & 0x80000000);
}

enum { ROUND_CHUNK = 64 /* a fixed number, so that the compiler makes vectors of it */ };

static inline void round_chunk(uint32_t *restrict b, enum attn_precision p)
{
    if (p == ATTN_BFLOAT16)
        for (int a = 0; a < ROUND_CHUNK; a++) b[a] = bfloat16_bits(b[a]);
    else
        for (int a = 0; a < ROUND_CHUNK; a++) b[a] = float16_bits(b[a]);
}

static void round_floats(float *v, int n, enum attn_precision p)
{
    uint32_t b[ROUND_CHUNK];
    for (int a = 0; a < n; a += ROUND_CHUNK) {
        size_t m = (size_t)attn_min(ROUND_CHUNK, n - a);
        memcpy(b, v + a, m * sizeof *b);
        memset(b + m, 0, (ROUND_CHUNK - m) * sizeof *b);
        round_chunk(b, p);
        memcpy(v + a, b, m * sizeof *b);
    }
}

#endif
