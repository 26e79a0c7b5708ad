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
 *   v_all(m) v_count(m)            whether all lanes are true; how many
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

enum {
    MR = 6,
    PART_TERMS = 8, /* between fetches of rows of what is added to C */
    EXPS = 4        /* vectors side by side in softmax */
};

/* ---- GEMM -------------------------------------------------------------------------- */

/* Rows from..to-1 of C, a multiple of the tile's height, n columns of them, and what is
 * worth fetching meanwhile: one address a term, which moves on with every tile. */
struct strip {
    int from, to, n;
    const char *next;
    size_t next_tile, next_term; /* bytes */
};

/* Keeps the compiler from working out all of a tile's addresses before the sums and
 * holding them until after: at 64 terms that costs more than a tenth. */
#define FORGET(p) __asm__("" : "+r"(p))

/* mr, nv and with_res are constants wherever these are inlined, so that acc lives in
 * registers: 24 sums, nv of B and one of A for a 6 x 4 tile. */
#define EACH                                                                             \
    _Pragma("GCC unroll 8") for (size_t r = 0; r < mr; r++)                              \
        _Pragma("GCC unroll 4") for (size_t v = 0; v < nv; v++)
#define LANES (v < nv - 1 ? W : tail) /* of vector v; tail: of the last one */

/* Adds the terms all..end-1, which only the lower rows of the tile may see. */
INLINE void add_triangle(vf acc[MR][NV], const struct attn_gemm *g, const float *a_tile,
                         int r0, int all, int end, const size_t mr, const size_t nv)
{
    const size_t lda = (size_t)g->lda, ldb = (size_t)g->ldb;
    const float *a = a_tile + all, *b = g->b + (size_t)all * ldb;
    if (end - all == (int)mr - 1) { /* all of it, known when compiled */
#pragma GCC unroll 8
        for (size_t t = 1; t < mr; t++, b += ldb)
#pragma GCC unroll 8
            for (size_t r = t; r < mr; r++) {
                vf ar = v_set1(a[r * lda + t - 1]);
#pragma GCC unroll 4
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] = v_fma(ar, v_load(b + v * W), acc[r][v]);
            }
        return;
    }
    for (int kk = all; kk < end; kk++, a++, b += ldb) { /* cut off by a block's end */
#pragma GCC unroll 8
        for (size_t r = 0; r < mr; r++) {
            if (kk > g->diag + r0 + (int)r) continue;
            vf ar = v_set1(a[r * lda]);
#pragma GCC unroll 4
            for (size_t v = 0; v < nv; v++)
                acc[r][v] = v_fma(ar, v_load(b + v * W), acc[r][v]);
        }
    }
}

/* The tile's rows from r0 on, from sums to C. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): flat loops over registers */
INLINE void finish(vf acc[MR][NV], const struct attn_gemm *g, float *c, const float *res,
                   int r0, int tail, const size_t mr, const size_t nv,
                   const bool with_res)
{
    const size_t ldc = (size_t)g->ldc, ldr = (size_t)g->ldr;
    if (g->row_scale)
        EACH acc[r][v] = v_mul(acc[r][v], v_set1(g->row_scale[(size_t)r0 + r]));
    if (g->bias)
        EACH acc[r][v] = v_add(acc[r][v], v_load_n(g->bias + v * W, LANES, 0.0f));
    if (with_res)
        EACH acc[r][v] = v_add(acc[r][v], v_load_n(res + r * ldr + v * W, LANES, 0.0f));
    EACH v_store_n(c + r * ldc + v * W, acc[r][v], LANES);
}

/* NOLINTNEXTLINE(readability-function-cognitive-complexity): flat loops over registers */
INLINE void strip(const struct attn_gemm *g, const struct strip *s, const size_t mr,
                  const size_t nv, const bool with_res)
{
    const size_t lda = (size_t)g->lda, ldb = (size_t)g->ldb, ldc = (size_t)g->ldc,
                 ldr = (size_t)g->ldr, next_term = s->next_term;
    const float *a_tile = g->a + (size_t)s->from * lda;
    const char *next_tile = s->next;
    float *c = g->c + (size_t)s->from * ldc;
    const int tail = s->n - (int)(nv - 1) * W;

    for (int r0 = s->from; r0 < s->to; r0 += (int)mr) {
        const float *res = with_res ? g->res + (size_t)r0 * ldr : NULL;
        vf acc[MR][NV];
        FORGET(c);
        if (g->add) {
            EACH acc[r][v] = v_load_n(c + r * ldc + v * W, LANES, 0.0f);
        } else {
            EACH acc[r][v] = v_set1(0.0f);
        }

        /* Terms every row takes. What is added at the end is fetched a row at a time,
         * every few terms: all at once would hold up the loads. */
        const int all = attn_max(0, attn_min(g->k, g->diag + r0 + 1));
        const int end = attn_min(g->k, g->diag + r0 + (int)mr);
        const float *a = a_tile, *stop = a + all, *b = g->b;
        const float *a3 = mr > 3 ? a + 3 * lda : a; /* rows 3.. */
        const char *next = next_tile;
        for (size_t part = with_res ? 0 : mr - 1; part < mr; part++) {
#pragma GCC unroll 4
            for (size_t v = 0; with_res && v < nv; v++)
                __builtin_prefetch(res + part * ldr + v * W, 0, 3);
            const float *to =
                part == mr - 1 ? stop : a + attn_min(PART_TERMS, (int)(stop - a));
            for (; a < to; a++, a3++, b += ldb, next += next_term) {
                __builtin_prefetch(next, 0, 2);
                vf bv[NV];
#pragma GCC unroll 4
                for (size_t v = 0; v < nv; v++) bv[v] = v_load(b + v * W);
#pragma GCC unroll 8
                for (size_t r = 0; r < mr; r++) {
                    vf ar = v_set1(r < 3 ? a[r * lda] : a3[(r - 3) * lda]);
#pragma GCC unroll 4
                    for (size_t v = 0; v < nv; v++)
                        acc[r][v] = v_fma(ar, bv[v], acc[r][v]);
                }
            }
        }
        if (__builtin_expect(end > all, 0)) /* out of the other products' way */
            add_triangle(acc, g, a_tile, r0, all, end, mr, nv);
        FORGET(c);
        finish(acc, g, c, res, r0, tail, mr, nv, with_res);
        c += mr * ldc;
        a_tile += mr * lda;
        next_tile += s->next_tile;
    }
}
#undef EACH
#undef LANES

typedef void strip_fn(const struct attn_gemm *g, const struct strip *s);

#define STRIP(mr, nv)                                                                    \
    static void strip_##mr##_##nv(const struct attn_gemm *g, const struct strip *s)      \
    {                                                                                    \
        strip(g, s, mr, nv, false);                                                      \
    }                                                                                    \
    static void strip_res_##mr##_##nv(const struct attn_gemm *g, const struct strip *s)  \
    {                                                                                    \
        strip(g, s, mr, nv, true);                                                       \
    }
/* clang-format off */
#if NV == 4
#define STRIPS(mr)   STRIP(mr, 1) STRIP(mr, 2) STRIP(mr, 3) STRIP(mr, 4)
#define ROW(of, mr) {of##_##mr##_1, of##_##mr##_2, of##_##mr##_3, of##_##mr##_4}
#else
#define STRIPS(mr)   STRIP(mr, 1) STRIP(mr, 2)
#define ROW(of, mr) {of##_##mr##_1, of##_##mr##_2}
#endif
#define ROWS(of)    {ROW(of, 1), ROW(of, 2), ROW(of, 3), ROW(of, 4), ROW(of, 5), ROW(of, 6)}
STRIPS(1) STRIPS(2) STRIPS(3) STRIPS(4) STRIPS(5) STRIPS(6)
static strip_fn *const strips[2][MR][NV] = {ROWS(strip), ROWS(strip_res)};
/* clang-format on */
#undef STRIP
#undef STRIPS
#undef ROW
#undef ROWS

static void gelu_row(float *c, int n);

static void simd_gemm(const struct attn_gemm *g)
{
    /* Bytes of the next call's that fall on a row of this one, a tile, a term of a tile. */
    const size_t a_row = g->n_next * sizeof *g->next / (size_t)g->m;
    const size_t a_tile = a_row * (size_t)attn_min(MR, g->m);
    struct strip s = {.next = (const char *)(g->next ? g->next : g->b),
                      .next_tile = a_tile,
                      .next_term = (a_tile + (size_t)g->k - 1) / (size_t)g->k};
    for (; s.from < g->m; s.from = s.to) {
        const int mr = attn_min(MR, g->m - s.from);
        s.n = attn_min(g->n, g->edge + s.from + mr); /* what the tile's last row wants */
        s.to = s.from + (s.n == g->n ? (g->m - s.from) / mr * mr : mr);
        if (s.n > 0) strips[g->res != NULL][mr - 1][(s.n - 1) / W](g, &s);
        for (int r = s.from; g->gelu && r < s.to; r++)
            gelu_row(g->c + (size_t)r * (size_t)g->ldc, g->n);
        s.next += (size_t)(s.to - s.from) * a_row;
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

#define EACH _Pragma("GCC unroll 4") for (size_t i = 0; i < m; i++)

/* m vectors t become e^(k t), for k t <= 89: 2^(n - u) with n integral and |u| <= 1/2, where
 * 2^-u = 1 + u p(u), p of degree 5 with the least largest relative error (3e-9). What rounds
 * to 0 is moved to where it just does, -INFINITY too, since inf - inf would be NaN. NaN
 * stays. Each step waits for the one before; side by side, m of them hide that. */
INLINE void exps_below_89(vf *t, struct rate k, const size_t m)
{
    static const float c[] = {-1.339080743e-3f, 9.618505836e-3f,  -5.550359935e-2f,
                              2.402264774e-1f,  -6.931471825e-1f, 1.0f};
    const vf round = v_set1(0x1.8p23f); /* adding it leaves no fraction bits */
    vf n[EXPS], u[EXPS], p[EXPS];
    EACH t[i] = v_max(k.least, t[i]);
    EACH n[i] = v_fma(t[i], k.high, round);
    EACH n[i] = v_sub(n[i], round);
    EACH u[i] = v_fnma(t[i], k.high, n[i]);
    EACH u[i] = v_fnma(t[i], k.low, u[i]);
    EACH p[i] = v_fma(v_set1(1.532647148e-4f), u[i], v_set1(c[0]));
#pragma GCC unroll 8
    for (size_t d = 1; d < sizeof c / sizeof c[0]; d++)
        EACH p[i] = v_fma(p[i], u[i], v_set1(c[d]));
    EACH t[i] = v_pow2_mul(p[i], n[i]);
}

/* e^89 is beyond float32 and becomes INFINITY in the scaling. */
INLINE vf exp_any(vf x)
{
    vf t = v_min(v_set1(89.0f), x);
    exps_below_89(&t, rate_of(1.0f), 1);
    return t;
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

/* Whether s has neither NaN nor +INFINITY. */
static bool clean_row(const float *s, int n)
{
    const vf inf = v_set1(INFINITY);
    bool clean = true; /* NaN is not less than INFINITY either */
    for (int j = 0; clean && j < n; j += W)
        clean = v_all(v_less(v_load_n(s + j, attn_min(W, n - j), 0.0f), inf));
    return clean;
}

static bool simd_row_max(float *max, const float *s, int n)
{
    const vf zero = v_set1(0.0f);
    const size_t m = EXPS;
    vf top[EXPS], odd[EXPS]; /* odd: 0 unless something is not finite */
    EACH top[i] = v_set1(-INFINITY);
    EACH odd[i] = zero;
    int j = 0;
    for (; j + EXPS * W <= n; j += EXPS * W) {
        vf a[EXPS];
        EACH a[i] = v_load(s + j + i * W);
        EACH top[i] = v_max(a[i], top[i]);
        EACH odd[i] = v_fma(a[i], zero, odd[i]);
    }
    for (; j < n; j += W) {
        int lanes = attn_min(W, n - j);
        top[0] = v_max(v_load_n(s + j, lanes, -INFINITY), top[0]);
        odd[0] = v_fma(v_load_n(s + j, lanes, 0.0f), zero, odd[0]);
    }
    *max = v_highest(v_max(v_max(top[0], top[1]), v_max(top[2], top[3])));
    vf any = v_add(v_add(odd[0], odd[1]), v_add(odd[2], odd[3]));
    return v_all(v_equal(any, zero)) || clean_row(s, n);
}

static float simd_row_exp(float *e, const float *s, int n, float scale, float max)
{
    const struct rate k = rate_of(scale);
    const vf top = v_set1(max);
    const size_t m = EXPS;
    vf sum[EXPS];
    EACH sum[i] = v_set1(0.0f);
    int j = 0;
    for (; j + EXPS * W <= n; j += EXPS * W) {
        vf t[EXPS];
        EACH t[i] = v_sub(v_load(s + j + i * W), top);
        exps_below_89(t, k, m);
        EACH v_store(e + j + i * W, t[i]);
        EACH sum[i] = v_add(sum[i], t[i]);
    }
    for (; j < n; j += W) {
        int lanes = attn_min(W, n - j);
        vf t = v_sub(v_load_n(s + j, lanes, -INFINITY), top);
        exps_below_89(&t, k, 1);
        v_store_n(e + j, t, lanes);
        sum[0] = v_add(sum[0], t);
    }
    return v_sum(v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
}
#undef EACH

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
