/* The reference kernels: what every other set has to compute, in plain loops. */
#include "kernels.h"
#include "round.h"

#include <math.h>

/* Hendrycks and Gimpel 2016, the tanh form that GPT-2 uses. */
static float gelu(float x)
{
    const float c = 0.7978845608f; /* sqrt(2 / pi) */
    return 0.5f * x * (1.0f + tanhf(c * (x + 0.044715f * x * x * x)));
}

/* listing: 1 2 6 7 */
static void ref_gemm(const struct attn_gemm *g)
{
    for (int r = 0; r < g->m; r++) {
        const float *a = g->a + (size_t)r * g->lda;
        float *c = g->c + (size_t)r * g->ldc;
        int k = attn_min(g->k, g->diag + r + 1);
        for (int j = 0; j < attn_min(g->n, g->edge + r + 1); j++) {
            float sum = g->add ? c[j] : 0.0f;
            for (int kk = 0; kk < k; kk++) sum += a[kk] * g->b[(size_t)kk * g->ldb + j];
            if (g->row_scale) sum *= g->row_scale[r];
            if (g->bias) sum += g->bias[j];
            if (g->gelu) sum = gelu(sum);
            if (g->res) sum += g->res[(size_t)r * g->ldr + j];
            c[j] = sum;
        }
    }
}

static void ref_transpose(float *to, int ld_to, const float *from, int ld, int rows,
                          int cols)
{
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            to[(size_t)j * ld_to + i] = from[(size_t)i * ld + j];
}

/* listing: 5 */
static bool ref_row_max(float *max, const float *s, int n)
{
    bool clean = true;
    *max = -INFINITY;
    for (int j = 0; j < n; j++) {
        if (!(s[j] < INFINITY)) clean = false;
        if (s[j] > *max) *max = s[j];
    }
    return clean;
}

static float ref_row_exp(float *e, const float *s, int n, float scale, float max)
{
    float sum = 0.0f;
    for (int j = 0; j < n; j++) {
        e[j] = expf((s[j] - max) * scale);
        sum += e[j];
    }
    return sum;
}

static void ref_row_div(float *p, const float *e, int n, float sum)
{
    for (int j = 0; j < n; j++) p[j] = e[j] / sum;
}

/* listing: end */
static void ref_exp(float *y, const float *x, int n)
{
    for (int j = 0; j < n; j++) y[j] = expf(x[j]);
}

static void ref_stats(struct attn_stats *st, const float *s, int n)
{
    for (int j = 0; j < n; j++) {
        float v = s[j];
        if (isnan(v)) {
            st->n_nan++;
        } else if (isinf(v)) {
            if (v > 0.0f)
                st->n_pos_inf++;
            else
                st->n_neg_inf++;
        } else {
            st->min = fminf(st->min, v);
            st->max = fmaxf(st->max, v);
            st->mean += (double)v;
        }
    }
}

const struct attn_kernels attn_kernels_ref = {
    .name = "ref",
    .vec = 1,
    .nr = 16,
    .mr = 1,
    .gemm = ref_gemm,
    .transpose = ref_transpose,
    .row_max = ref_row_max,
    .row_exp = ref_row_exp,
    .row_div = ref_row_div,
    .exp = ref_exp,
    .round = round_floats,
    .stats = ref_stats,
};
