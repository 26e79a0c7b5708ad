/* AVX2 and FMA: 8 lanes; a tile of 6 x 16, its sums in 12 of 16 registers. */
#include <immintrin.h>

#define W       8
#define VD      2
#define NV      2
#define NAME    "avx2"
#define KERNELS attn_kernels_avx2
#define INLINE  static inline __attribute__((always_inline))

typedef __m256 vf;
typedef __m256d vd;
typedef __m256 vmask; /* all bits of a lane */

/* The first n lanes' sign bits set. */
INLINE __m256i first_lanes(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
INLINE vf v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
INLINE vf v_load_n(const float *p, int n, float fill)
{
    __m256i m = first_lanes(n);
    return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, m),
                            _mm256_castsi256_ps(m));
}
INLINE void v_store(float *p, vf x)
{
    _mm256_storeu_ps(p, x);
}
INLINE void v_store_n(float *p, vf x, int n)
{
    _mm256_maskstore_ps(p, first_lanes(n), x);
}
INLINE vf v_set1(float x)
{
    return _mm256_set1_ps(x);
}
INLINE vf v_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}
INLINE vf v_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}
INLINE vf v_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}
INLINE vf v_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}
INLINE vf v_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}
INLINE vf v_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}
INLINE vf v_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}
INLINE vf v_fnma(vf a, vf b, vf c)
{
    return _mm256_fnmadd_ps(a, b, c);
}
INLINE vf v_abs(vf x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}
INLINE float v_sum(vf x)
{
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}
INLINE float v_highest(vf x)
{
    __m128 a = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(a, _mm_movehdup_ps(a)));
}
INLINE float v_lowest(vf x)
{
    __m128 a = _mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    a = _mm_min_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_min_ss(a, _mm_movehdup_ps(a)));
}
/* In two steps, the first of which is exact, since 2^-150 is no float32. 254 is the
 * exponents' bias twice. */
INLINE vf v_pow2_mul(vf p, vf n)
{
    __m256i both = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(254));
    __m256i half = _mm256_srai_epi32(both, 1), rest = _mm256_sub_epi32(both, half);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(half, 23)));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(rest, 23)));
}
INLINE vf v_zip_low(vf a, vf b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b),
                                  0x20);
}
INLINE vf v_zip_high(vf a, vf b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b),
                                  0x31);
}
INLINE vmask v_less(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
INLINE vmask v_equal(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
INLINE int v_all(vmask m)
{
    return _mm256_movemask_ps(m) == 0xff;
}
INLINE int v_count(vmask m)
{
    return __builtin_popcount((unsigned)_mm256_movemask_ps(m));
}
INLINE vf v_select(vmask m, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, m);
}
INLINE void vd_add_floats(vd *acc, vf x)
{
    acc[0] = _mm256_add_pd(acc[0], _mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    acc[1] = _mm256_add_pd(acc[1], _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
}
INLINE double vd_sum(const vd *acc)
{
    __m256d a = _mm256_add_pd(acc[0], acc[1]);
    __m128d b = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(b, _mm_unpackhi_pd(b, b)));
}

#include "kernels_simd.h"
