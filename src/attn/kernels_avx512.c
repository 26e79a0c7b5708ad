/* AVX-512 (F, DQ, BW, VL): 16 lanes; a tile of 6 x 64, its sums in 24 of 32 registers. */
#include <immintrin.h>

#define W       16
#define VD      2
#define NV      4
#define NAME    "avx512"
#define KERNELS attn_kernels_avx512
#define INLINE  static inline __attribute__((always_inline))

typedef __m512 vf;
typedef __m512d vd;
typedef __mmask16 vmask;

INLINE __mmask16 first_lanes(int n)
{
    return (__mmask16)((1U << n) - 1U);
}
INLINE vf v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
INLINE vf v_load_n(const float *p, int n, float fill)
{
    return _mm512_mask_loadu_ps(_mm512_set1_ps(fill), first_lanes(n), p);
}
INLINE void v_store(float *p, vf x)
{
    _mm512_storeu_ps(p, x);
}
INLINE void v_store_n(float *p, vf x, int n)
{
    _mm512_mask_storeu_ps(p, first_lanes(n), x);
}
INLINE vf v_set1(float x)
{
    return _mm512_set1_ps(x);
}
INLINE vf v_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}
INLINE vf v_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}
INLINE vf v_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}
INLINE vf v_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}
INLINE vf v_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}
INLINE vf v_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}
INLINE vf v_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
INLINE vf v_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
INLINE vf v_abs(vf x)
{
    return _mm512_abs_ps(x);
}
INLINE float v_sum(vf x)
{
    return _mm512_reduce_add_ps(x);
}
INLINE float v_highest(vf x)
{
    return _mm512_reduce_max_ps(x);
}
INLINE float v_lowest(vf x)
{
    return _mm512_reduce_min_ps(x);
}
INLINE vf v_pow2_mul(vf p, vf n)
{
    return _mm512_scalef_ps(p, n);
}
INLINE vf v_zip_low(vf a, vf b)
{
    const __m512i at =
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(a, at, b);
}
INLINE vf v_zip_high(vf a, vf b)
{
    const __m512i at =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_ps(a, at, b);
}
INLINE vmask v_less(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
INLINE vmask v_equal(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
INLINE int v_all(vmask m)
{
    return m == 0xffff;
}
INLINE int v_count(vmask m)
{
    return __builtin_popcount(m);
}
INLINE vf v_select(vmask m, vf a, vf b)
{
    return _mm512_mask_blend_ps(m, b, a);
}
INLINE void vd_add_floats(vd *acc, vf x)
{
    acc[0] = _mm512_add_pd(acc[0], _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
    acc[1] = _mm512_add_pd(acc[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
}
INLINE double vd_sum(const vd *acc)
{
    return _mm512_reduce_add_pd(_mm512_add_pd(acc[0], acc[1]));
}

#include "kernels_simd.h"
