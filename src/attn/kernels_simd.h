/* The kernels in terms of vectors: included once by each kernels_<isa>.c, which has
 * defined before
 *
 *   vf, vmask      a vector of W floats; one truth value a lane
 *   vd             a vector of doubles, W lanes in VD of them
 *   W, VD, NV      macros; register tile: 6 rows of NV vectors, NV 2 or 4
 *   KERNELS, NAME  the set
 *   v_load(p) v_load_n(p, n, fill) v_store(p, x) v_store_n(p, x, n)
 *   v_set1(x) v_add v_sub v_mul v_div v_min v_max    min, max: the second where one is NaN
 *   v_fma(a, b, c)                 a*b + c, rounded once
 *   v_fnma(a, b, c)                c - a*b, rounded once
 *   v_abs(x) v_sum(x) v_highest(x) v_lowest(x)       last three over lanes, in fixed order
 *   v_pow2_mul(p, n)               p * 2^n, n integral, -150..128, rounded once
 *   v_zip_low(a, b) v_zip_high(a, b)   a0 b0 a1 b1 ... of the lower, the upper halves
 *   v_less(a, b) v_equal(a, b)     false where one is NaN
 *   v_both(m, m) v_all(m) v_count(m)   and of lanes; whether all are true; how many
 *   v_select(m, a, b)              a where true, else b
 *   vd_add_floats(acc, x)          acc[VD] += x;  vd_sum(acc)
 *
 * Nothing here depends on the instruction set otherwise. */
#ifndef W
#error "include this from a kernels_<isa>.c"
#endif

#include "kernels.h"
#include "round.h"

#include <math.h>

enum { MR = 6, PART_TERMS = 8 /* between fetches of rows of C */ };

/* ---- GEMM -------------------------------------------------------------------------- */

/* Rows r0..r0+mr-1 of C. mr and nv are constants wherever this is inlined, so that acc
 * lives in registers: 24 sums, nv of B and one of A for a 6 x 4 tile. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): flat loops over registers */
INLINE void tile(const struct attn_gemm *g, size_t r0, const char *next, size_t next_step,
                 const size_t mr, const size_t nv)
{
    vf acc[MR][NV];
    const size_t lda = (size_t)g->lda, ldb = (size_t)g->ldb, ldc = (size_t)g->ldc,
                 ldr = (size_t)g->ldr;
    const float *a = g->a + r0 * lda, *b = g->b;
    float *c = g->c + r0 * ldc;
    const int tail =
        g->n - (int)(nv - 1) * W; /* lanes of the last vector that are ours */
#define EACH                                                                             \
    _Pragma("GCC unroll 8") for (size_t r = 0; r < mr; r++)                              \
        _Pragma("GCC unroll 4") for (size_t v = 0; v < nv; v++)
#define LANES (v < nv - 1 ? W : tail)

    if (g->add) {
        EACH acc[r][v] = v_load_n(c + r * ldc + v * W, LANES, 0.0f);
    } else {
        EACH acc[r][v] = v_set1(0.0f);
    }

    /* Terms every row takes, then the up to mr-1 that only the lower rows may see. With
     * every term a little of what the next call will read is fetched, and every few
     * terms a row of C and of what is added to it: all at once they would hold up the
     * loads. */
    const int common = attn_max(0, attn_min(g->k, g->diag + (int)r0 + 1));
    int kk = 0;
    for (size_t part = 0; part < mr; part++) {
#pragma GCC unroll 4
        for (size_t v = 0; v < nv; v++) {
            __builtin_prefetch(c + part * ldc + v * W, 1, 3);
            if (g->res) __builtin_prefetch(g->res + (r0 + part) * ldr + v * W, 0, 3);
        }
        const int to = part == mr - 1 ? common : attn_min(common, kk + PART_TERMS);
        for (; kk < to; kk++, b += ldb, next += next_step) {
            __builtin_prefetch(next, 0, 2);
            vf bv[NV];
#pragma GCC unroll 4
            for (size_t v = 0; v < nv; v++) bv[v] = v_load(b + v * W);
#pragma GCC unroll 8
            for (size_t r = 0; r < mr; r++) {
                vf ar = v_set1(a[r * lda + kk]);
#pragma GCC unroll 4
                for (size_t v = 0; v < nv; v++) acc[r][v] = v_fma(ar, bv[v], acc[r][v]);
            }
        }
    }
    const int end = attn_min(g->k, g->diag + (int)(r0 + mr));
    if (end - common == (int)mr - 1) { /* the whole triangle, known when compiled */
#pragma GCC unroll 8
        for (size_t t = 1; t < mr; t++, b += ldb)
#pragma GCC unroll 8
            for (size_t r = t; r < mr; r++) {
                vf ar = v_set1(a[r * lda + (size_t)common + t - 1]);
#pragma GCC unroll 4
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] = v_fma(ar, v_load(b + v * W), acc[r][v]);
            }
    } else { /* cut off by the end of a block of keys */
        for (; kk < end; kk++, b += ldb) {
#pragma GCC unroll 8
            for (size_t r = 0; r < mr; r++) {
                if (kk > g->diag + (int)(r0 + r)) continue;
                vf ar = v_set1(a[r * lda + kk]);
#pragma GCC unroll 4
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] = v_fma(ar, v_load(b + v * W), acc[r][v]);
            }
        }
    }

    if (g->row_scale) EACH acc[r][v] = v_mul(acc[r][v], v_set1(g->row_scale[r0 + r]));
    if (g->bias)
        EACH acc[r][v] = v_add(acc[r][v], v_load_n(g->bias + v * W, LANES, 0.0f));
    if (g->res)
        EACH acc[r][v] =
            v_add(acc[r][v], v_load_n(g->res + (r0 + r) * ldr + v * W, LANES, 0.0f));
    EACH v_store_n(c + r * ldc + v * W, acc[r][v], LANES);
#undef EACH
#undef LANES
}

typedef void tile_fn(const struct attn_gemm *g, size_t r0, const char *next,
                     size_t next_step);

#define TILE(mr, nv)                                                                     \
    static void tile_##mr##_##nv(const struct attn_gemm *g, size_t r0, const char *next, \
                                 size_t next_step)                                       \
    {                                                                                    \
        tile(g, r0, next, next_step, mr, nv);                                            \
    }
/* clang-format off */
#if NV == 4
#define TILES(mr) TILE(mr, 1) TILE(mr, 2) TILE(mr, 3) TILE(mr, 4)
#define ROW(mr)   {tile_##mr##_1, tile_##mr##_2, tile_##mr##_3, tile_##mr##_4}
#else
#define TILES(mr) TILE(mr, 1) TILE(mr, 2)
#define ROW(mr)   {tile_##mr##_1, tile_##mr##_2}
#endif
TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6)
static tile_fn *const tiles[MR][NV] = {ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6)};
/* clang-format on */
#undef TILE
#undef TILES
#undef ROW

static void gelu_row(float *c, int n);

static void simd_gemm(const struct attn_gemm *g)
{
    struct attn_gemm cut = *g; /* to what the tile's last row wants */
    /* Bytes of the next call's that fall on a row of this one, and on one of its terms. */
    const size_t a_row = g->n_next * sizeof *g->next / (size_t)g->m;
    const size_t a_term = (a_row * MR + (size_t)g->k - 1) / (size_t)g->k;
    const char *next = (const char *)(g->next ? g->next : g->b);
    for (int r0 = 0; r0 < g->m; r0 += MR, next += a_row * MR) {
        const int mr = attn_min(MR, g->m - r0);
        cut.n = attn_min(g->n, g->edge + r0 + mr);
        if (cut.n <= 0) continue;
        tiles[mr - 1][(cut.n - 1) / W](&cut, (size_t)r0, next, a_term);
        for (int r = r0; g->gelu && r < r0 + mr; r++)
            gelu_row(g->c + (size_t)r * g->ldc, g->n);
    }
}

/* ---- transposition ------------------------------------------------------------------ */

/* Of W x W floats. A round of interleaving moves every element from row i, lane j to where
 * the bits of (i, j), written one after the other, are rotated by one place: after as many
 * rounds as a lane's number has bits, to row j, lane i. */
INLINE void transpose_square(float *to, size_t ld_to, const float *from, size_t ld)
{
    vf a[W], b[W];
#pragma GCC unroll 16
    for (size_t i = 0; i < W; i++) a[i] = v_load(from + i * ld);
#pragma GCC unroll 4
    for (int round = 1; round < W; round *= 2) {
#pragma GCC unroll 8
        for (size_t i = 0; i < W / 2; i++) {
            b[2 * i] = v_zip_low(a[i], a[i + W / 2]);
            b[2 * i + 1] = v_zip_high(a[i], a[i + W / 2]);
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < W; i++) a[i] = b[i];
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < W; i++) v_store(to + i * ld_to, a[i]);
}

static void simd_transpose(float *to, int ld_to, const float *from, int ld, int rows,
                           int cols)
{
    const int r1 = rows / W * W, c1 = cols / W * W;
    for (int c = 0; c < c1; c += W)
        for (int r = 0; r < r1; r += W)
            transpose_square(to + (size_t)c * (size_t)ld_to + r, (size_t)ld_to,
                             from + (size_t)r * (size_t)ld + c, (size_t)ld);
    for (int c = 0; c < cols; c++)
        for (int r = c < c1 ? r1 : 0; r < rows; r++)
            to[(size_t)c * (size_t)ld_to + r] = from[(size_t)r * (size_t)ld + c];
}

/* ---- exp --------------------------------------------------------------------------- */

/* What e^(k t) takes: k / ln 2 in two parts, and the t below which the result rounds to 0. */
struct rate {
    vf high, low, least;
};

INLINE struct rate rate_of(float k)
{
    const double r = (double)k * 1.4426950408889634;
    const float high = (float)r;
    return (struct rate){v_set1(high), v_set1((float)(r - (double)high)),
                         v_set1(-104.0f / k)};
}

/* e^(k t) for k t <= 89: 2^(n - u) with n integral and |u| <= 1/2, where 2^-u = 1 + u p(u), p
 * of degree 5 with the least largest relative error (3e-9). What rounds to 0 is moved to
 * where it just does, -INFINITY too, since inf - inf would be NaN. NaN stays. */
INLINE vf exp_below_89(vf t, struct rate k)
{
    t = v_max(k.least, t);
    const vf round = v_set1(0x1.8p23f); /* adding it leaves no fraction bits */
    vf n = v_sub(v_fma(t, k.high, round), round);
    vf u = v_fnma(t, k.low, v_fnma(t, k.high, n));
    vf p = v_set1(1.532647148e-4f);
    p = v_fma(p, u, v_set1(-1.339080743e-3f));
    p = v_fma(p, u, v_set1(9.618505836e-3f));
    p = v_fma(p, u, v_set1(-5.550359935e-2f));
    p = v_fma(p, u, v_set1(2.402264774e-1f));
    p = v_fma(p, u, v_set1(-6.931471825e-1f));
    return v_pow2_mul(v_fma(p, u, v_set1(1.0f)), n);
}

/* e^89 is beyond float32 and becomes INFINITY in the scaling. */
INLINE vf exp_any(vf x)
{
    return exp_below_89(v_min(v_set1(89.0f), x), rate_of(1.0f));
}

static void simd_exp(float *y, const float *x, int n)
{
    for (int j = 0; j < n; j += W) {
        int m = attn_min(W, n - j);
        v_store_n(y + j, exp_any(v_load_n(x + j, m, 0.0f)), m);
    }
}

/* x / (1 + e^(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3): 0.5 x (1 + tanh u) rewritten, so
 * that it needs no tanh. Hendrycks and Gimpel 2016. */
static void gelu_row(float *c, int n)
{
    for (int j = 0; j < n; j += W) {
        int m = attn_min(W, n - j);
        vf x = v_load_n(c + j, m, 0.0f);
        vf u =
            v_mul(x, v_fma(v_mul(x, x), v_set1(-0.0713548163f), v_set1(-1.5957691216f)));
        v_store_n(c + j, v_div(x, v_add(v_set1(1.0f), exp_any(u))), m);
    }
}

/* ---- softmax ----------------------------------------------------------------------- */

static bool simd_row_max(float *max, const float *s, int n)
{
    const vf inf = v_set1(INFINITY);
    vf top[2] = {v_set1(-INFINITY), v_set1(-INFINITY)};
    vmask clean = v_equal(inf, inf); /* NaN is not less than INFINITY either */
    int j = 0;
    for (; j + 2 * W <= n; j += 2 * W) {
        vf a = v_load(s + j), b = v_load(s + j + W);
        top[0] = v_max(a, top[0]);
        top[1] = v_max(b, top[1]);
        clean = v_both(clean, v_both(v_less(a, inf), v_less(b, inf)));
    }
    for (; j < n; j += W) {
        vf a = v_load_n(s + j, attn_min(W, n - j), -INFINITY);
        top[0] = v_max(a, top[0]);
        clean = v_both(clean, v_less(a, inf));
    }
    *max = v_highest(v_max(top[0], top[1]));
    return v_all(clean);
}

static float simd_row_exp(float *e, const float *s, int n, float scale, float max)
{
    const struct rate k = rate_of(scale);
    const vf top = v_set1(max);
    vf sum[2] = {v_set1(0.0f), v_set1(0.0f)};
    int j = 0;
    for (; j + 2 * W <= n; j += 2 * W) {
        vf a = exp_below_89(v_sub(v_load(s + j), top), k);
        vf b = exp_below_89(v_sub(v_load(s + j + W), top), k);
        v_store(e + j, a);
        v_store(e + j + W, b);
        sum[0] = v_add(sum[0], a);
        sum[1] = v_add(sum[1], b);
    }
    for (; j < n; j += W) {
        int m = attn_min(W, n - j);
        vf a = exp_below_89(v_sub(v_load_n(s + j, m, -INFINITY), top), k);
        v_store_n(e + j, a, m);
        sum[0] = v_add(sum[0], a);
    }
    return v_sum(v_add(sum[0], sum[1]));
}

static void simd_row_div(float *p, const float *e, int n, float sum)
{
    const vf by = v_set1(sum);
    int j = 0;
    for (; j + W <= n; j += W) v_store(p + j, v_div(v_load(e + j), by));
    if (j < n) v_store_n(p + j, v_div(v_load_n(e + j, n - j, 0.0f), by), n - j);
}

/* ---- statistics -------------------------------------------------------------------- */

static void simd_stats(struct attn_stats *st, const float *s, int n)
{
    const vf inf = v_set1(INFINITY), minus_inf = v_set1(-INFINITY);
    vf low = inf, high = minus_inf;
    vd sum[VD] = {0};
    int finite = 0, pos = 0, neg = 0;
    for (int j = 0; j < n; j += W) {
        /* Lanes past the end hold NaN, which is counted as nothing. */
        vf x = j + W <= n ? v_load(s + j) : v_load_n(s + j, n - j, NAN);
        vmask ok = v_less(v_abs(x), inf);
        if (v_all(ok)) {
            finite += W;
            low = v_min(x, low);
            high = v_max(x, high);
            vd_add_floats(sum, x);
        } else {
            finite += v_count(ok);
            pos += v_count(v_equal(x, inf));
            neg += v_count(v_equal(x, minus_inf));
            low = v_min(v_select(ok, x, inf), low);
            high = v_max(v_select(ok, x, minus_inf), high);
            vd_add_floats(sum, v_select(ok, x, v_set1(0.0f)));
        }
    }
    st->min = fminf(st->min, v_lowest(low));
    st->max = fmaxf(st->max, v_highest(high));
    st->mean += vd_sum(sum);
    st->n_pos_inf += pos;
    st->n_neg_inf += neg;
    st->n_nan += n - finite - pos - neg;
}

const struct attn_kernels KERNELS = {
    .name = NAME,
    .vec = W,
    .nr = NV * W,
    .mr = MR,
    .gemm = simd_gemm,
    .transpose = simd_transpose,
    .row_max = simd_row_max,
    .row_exp = simd_row_exp,
    .row_div = simd_row_div,
    .round = round_floats,
    .exp = simd_exp,
    .stats = simd_stats,
};
