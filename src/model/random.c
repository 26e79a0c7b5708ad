/* SplitMix64 used as a counter (Steele, Lea & Flood 2014, "Fast splittable pseudorandom
 * number generators"): its n-th output is a mix of state + n * gamma, so any of them can be
 * had directly. The state is the stream's key. */
#include "random.h"

#define GAMMA 0x9E3779B97F4A7C15u /* 2^64 over the golden ratio, odd */

/* The paper's 64-bit finalizer, "variant 13" of Stafford 2011. */
static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t random_key(uint32_t seed, uint32_t stream)
{
    return mix(mix(seed + GAMMA) + stream * GAMMA);
}

/* Sum of eight uniform 16-bit integers, standardised: kurtosis 2.85. The cubic restores
 * variance 1 and kurtosis 3 (Cornish & Fisher 1938, to first order); its two coefficients
 * solve those two equations for this sum. */
#define SUM_MEAN  262140        /* 8 * 65535 / 2 */
#define SUM_SCALE 1.8688124e-5f /* 1 / sqrt(8 * (65536^2 - 1) / 12) */
#define CUBIC_1   0.97846855f
#define CUBIC_3   0.0075080664f

static inline float normal(uint64_t key, uint64_t i)
{
    const uint64_t lanes = 0x0000FFFF0000FFFFu; /* two sums of four, side by side */
    uint64_t a = mix(key + (2 * i + 1) * GAMMA), b = mix(key + (2 * i + 2) * GAMMA);
    uint64_t s = (a & lanes) + (a >> 16 & lanes) + (b & lanes) + (b >> 16 & lanes);
    int32_t sum = (int32_t)((s & 0xFFFFFFFFu) + (s >> 32));
    float x = (float)(sum - SUM_MEAN) * SUM_SCALE;
    return x * (CUBIC_1 + CUBIC_3 * (x * x));
}

void random_normals(float *out, size_t n, uint64_t key, size_t first, float mean,
                    float sd)
{
    for (size_t k = 0; k < n; k++) out[k] = mean + sd * normal(key, first + k);
}
