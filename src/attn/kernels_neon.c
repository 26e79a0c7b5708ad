/* NEON on AArch64, where it is always there: 4 lanes; a tile of 6 x 16, its sums in 24 of
 * 32 registers. */
#include <arm_neon.h>

#define W       4
#define VD      2
#define NV      4
#define NAME    "neon"
#define KERNELS attn_kernels_neon
#define INLINE  static inline __attribute__((always_inline))

typedef float32x4_t vf;
typedef float64x2_t vd;
typedef uint32x4_t vmask;

INLINE vf v_load(const float *p)
{
    return vld1q_f32(p);
}
INLINE vf v_load_n(const float *p, int n, float fill)
{
    if (n == W) return vld1q_f32(p);
    float lane[W] = {fill, fill, fill, fill};
    for (int i = 0; i < n; i++) lane[i] = p[i];
    return vld1q_f32(lane);
}
INLINE void v_store(float *p, vf x)
{
    vst1q_f32(p, x);
}
INLINE void v_store_n(float *p, vf x, int n)
{
    float lane[W];
    vst1q_f32(n == W ? p : lane, x);
    for (int i = 0; n < W && i < n; i++) p[i] = lane[i];
}
INLINE vf v_set1(float x)
{
    return vdupq_n_f32(x);
}
INLINE vf v_add(vf a, vf b)
{
    return vaddq_f32(a, b);
}
INLINE vf v_sub(vf a, vf b)
{
    return vsubq_f32(a, b);
}
INLINE vf v_mul(vf a, vf b)
{
    return vmulq_f32(a, b);
}
INLINE vf v_div(vf a, vf b)
{
    return vdivq_f32(a, b);
}
/* The instructions of these names give NaN where either is NaN. */
INLINE vf v_min(vf a, vf b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
INLINE vf v_max(vf a, vf b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
INLINE vf v_fma(vf a, vf b, vf c)
{
    return vfmaq_f32(c, a, b);
}
INLINE vf v_fnma(vf a, vf b, vf c)
{
    return vfmsq_f32(c, a, b);
}
INLINE vf v_abs(vf x)
{
    return vabsq_f32(x);
}
INLINE float v_sum(vf x)
{
    return vaddvq_f32(x);
}
INLINE float v_highest(vf x)
{
    return vmaxvq_f32(x);
}
INLINE float v_lowest(vf x)
{
    return vminvq_f32(x);
}
/* In two steps, the first of which is exact, since 2^-150 is no float32. 254 is the
 * exponents' bias twice. */
INLINE vf v_pow2_mul(vf p, vf n)
{
    int32x4_t both = vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(254));
    int32x4_t half = vshrq_n_s32(both, 1), rest = vsubq_s32(both, half);
    p = vmulq_f32(p, vreinterpretq_f32_s32(vshlq_n_s32(half, 23)));
    return vmulq_f32(p, vreinterpretq_f32_s32(vshlq_n_s32(rest, 23)));
}
INLINE vf v_zip_low(vf a, vf b)
{
    return vzip1q_f32(a, b);
}
INLINE vf v_zip_high(vf a, vf b)
{
    return vzip2q_f32(a, b);
}
INLINE vmask v_less(vf a, vf b)
{
    return vcltq_f32(a, b);
}
INLINE vmask v_equal(vf a, vf b)
{
    return vceqq_f32(a, b);
}
INLINE int v_all(vmask m)
{
    return vminvq_u32(m) != 0;
}
INLINE int v_count(vmask m)
{
    return (int)vaddvq_u32(vshrq_n_u32(m, 31));
}
INLINE vf v_select(vmask m, vf a, vf b)
{
    return vbslq_f32(m, a, b);
}
INLINE void vd_add_floats(vd *acc, vf x)
{
    acc[0] = vaddq_f64(acc[0], vcvt_f64_f32(vget_low_f32(x)));
    acc[1] = vaddq_f64(acc[1], vcvt_high_f64_f32(x));
}
INLINE double vd_sum(const vd *acc)
{
    return vaddvq_f64(vaddq_f64(acc[0], acc[1]));
}

#include "kernels_simd.h"
