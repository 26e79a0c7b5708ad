/* The float64 oracle. Plain loops over the formulas; shares nothing with src/attn. */
#include "oracle.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double u = 0x1p-24;
/* An exp in float32 may be off by two units in the last place, 2 * 2u. */
static const double exp_error = 4 * 0x1p-24;

static double g(double n)
{
    return n * u / (1 - n * u) * (1 + 1e-6); /* 1e-6: the oracle's own rounding */
}

static double at(struct attn_cmat m, int i, int j)
{
    return (double)m.data[(size_t)i * m.ld + j];
}

void oracle_layer_norm(double *want, double *bound, struct attn_cmat h, const float *gain,
                       const float *bias, double eps)
{
    int d = h.cols;
    for (int i = 0; i < h.rows; i++) {
        long double mean = 0;
        long double square = 0;
        double mass = 0;
        for (int j = 0; j < d; j++) mean += (long double)at(h, i, j) / d;
        for (int j = 0; j < d; j++) {
            long double off = (long double)at(h, i, j) - mean;
            square += off * off / d;
            mass += fabs(at(h, i, j)) / d;
        }
        double r = (double)(1 / sqrtl(square + (long double)eps));
        for (int j = 0; j < d; j++) {
            double gn = gain ? (double)gain[j] : 1.0;
            double bs = bias ? (double)bias[j] : 0.0;
            double x = (double)((long double)at(h, i, j) - mean) * r * gn;
            size_t o = (size_t)i * d + j;
            want[o] = x + bs;
            /* Three roundings to float32; mean and variance are sums of d doubles. */
            bound[o] = g(3) * (fabs(x) + fabs(bs)) +
                       2 * d * DBL_EPSILON * (mass * r * fabs(gn) + fabs(x));
        }
    }
}

void oracle_project(double *want, double *bound, struct attn_cmat x, struct attn_cmat w,
                    const float *b)
{
    oracle_output(want, bound, x, w, b, (struct attn_cmat){0});
}

void oracle_output(double *want, double *bound, struct attn_cmat z, struct attn_cmat w,
                   const float *b, struct attn_cmat h)
{
    int n = w.cols;
    for (int i = 0; i < z.rows; i++) {
        double *c = want + (size_t)i * n;
        double *mass = bound + (size_t)i * n;
        for (int j = 0; j < n; j++) {
            c[j] = b ? (double)b[j] : 0;
            if (h.data) c[j] += at(h, i, j);
            mass[j] = (b ? fabs((double)b[j]) : 0) + (h.data ? fabs(at(h, i, j)) : 0);
        }
        for (int k = 0; k < z.cols; k++) {
            double a = at(z, i, k);
            const float *row = w.data + (size_t)k * w.ld;
            for (int j = 0; j < n; j++) {
                double t = a * (double)row[j];
                c[j] += t;
                mass[j] += fabs(t);
            }
        }
        int terms = z.cols + (b != NULL) + (h.data != NULL);
        for (int j = 0; j < n; j++)
            mass[j] = g(terms) * mass[j] + terms * (double)FLT_TRUE_MIN;
    }
}

void oracle_scores(double *want, double *bound, struct attn_cmat q, struct attn_cmat k)
{
    for (int i = 0; i < q.rows; i++) {
        for (int j = 0; j < k.rows; j++) {
            double dot = 0;
            double mass = 0;
            for (int c = 0; c < q.cols; c++) {
                double t = at(q, i, c) * at(k, j, c);
                dot += t;
                mass += fabs(t);
            }
            want[(size_t)i * k.rows + j] = dot;
            bound[(size_t)i * k.rows + j] =
                g(q.cols) * mass + q.cols * (double)FLT_TRUE_MIN;
        }
    }
}

float oracle_scaled(float s, int d_head)
{
    return (float)((long double)s / sqrtl((long double)d_head));
}

/* One row: w_j = exp(s_j - m) / sum. A float32 program sees s_j - m off by d_j, where
 *
 *     d_j = slack_j + a*u*|s_j - m| + exp_error
 *
 * (slack: the error of s_j itself; a: roundings of the difference and of what it is
 * multiplied by; then exp's own error, which is relative, so an exponent too). It gets
 *
 *     w_j * exp(e_j) / sum_k w_k * exp(e_k),   |e_k| <= d_k,
 *
 * and the sum lies between 1/E and E, E = sum_k w_k * exp(d_k), by Jensen. Adding n
 * terms and dividing cost `roundings` more. Hence
 *
 *     |error| <= w_j * (exp(d_j) * E * (1 + g(roundings)) - 1) + 2 * FLT_MIN,
 *
 * the last because an exp below FLT_MIN may become zero. Masked scores weigh exactly 0.
 *
 * s holds the row and gets the weights, d holds the slack and gets the bounds. */
static void softmax_row(double *s, double *d, int n, double a, double roundings)
{
    double max = -HUGE_VAL;
    bool bad = false;
    for (int j = 0; j < n; j++) {
        bad = bad || isnan(s[j]) || s[j] == HUGE_VAL;
        max = fmax(max, s[j]);
    }
    double sum = 0;
    for (int j = 0; j < n && !bad; j++)
        if (s[j] != -HUGE_VAL) sum += exp(s[j] - max);
    double spread = 0;
    for (int j = 0; j < n; j++) {
        if (s[j] == -HUGE_VAL) {
            s[j] = 0;
            d[j] = 0;
        } else if (bad) {
            s[j] = (double)NAN;
        } else {
            double x = s[j] - max;
            d[j] += a * u * fabs(x) + exp_error;
            s[j] = exp(x) / sum;
            if (s[j] > 0) spread += s[j] * exp(d[j]);
        }
    }
    for (int j = 0; j < n; j++) {
        double tiny = s[j] != 0 || d[j] != 0 ? 2 * (double)FLT_MIN : 0;
        double w = s[j] > 0 ? s[j] * (exp(d[j]) * spread * (1 + g(roundings)) - 1) : 0;
        d[j] = w + tiny;
    }
}

int oracle_softmax(double *want, double *bound, struct attn_cmat s)
{
    int empty = 0;
    for (int i = 0; i < s.rows; i++) {
        double *w = want + (size_t)i * s.cols;
        double *d = bound + (size_t)i * s.cols;
        int visible = 0;
        for (int j = 0; j < s.cols; j++) {
            w[j] = at(s, i, j);
            d[j] = 0;
            visible += w[j] != -HUGE_VAL;
        }
        empty += visible == 0;
        softmax_row(w, d, s.cols, 1, visible + 2);
    }
    return empty;
}

void oracle_weighted_sum(double *want, double *bound, struct attn_cmat p,
                         struct attn_cmat v, bool causal)
{
    oracle_weighted_sum_as(want, bound, p, v, (struct attn_opts){.causal = causal});
}

void oracle_weighted_sum_as(double *want, double *bound, struct attn_cmat p,
                            struct attn_cmat v, struct attn_opts o)
{
    for (int i = 0; i < p.rows; i++) {
        double *z = want + (size_t)i * v.cols;
        double *mass = bound + (size_t)i * v.cols;
        int n = oracle_seen(o, i, v.rows);
        memset(z, 0, (size_t)v.cols * sizeof *z);
        memset(mass, 0, (size_t)v.cols * sizeof *mass);
        for (int j = 0; j < n; j++) {
            double w = at(p, i, j);
            for (int c = 0; c < v.cols; c++) {
                double t = w * at(v, j, c);
                z[c] += t;
                mass[c] += fabs(t);
            }
        }
        for (int c = 0; c < v.cols; c++)
            mass[c] = g(n) * mass[c] + n * (double)FLT_TRUE_MIN;
    }
}

int oracle_seen(struct attn_opts o, int i, int n)
{
    int seen = o.shifted ? i + 2 : i + 1;
    return o.causal && seen < n ? seen : n;
}

double oracle_divisor(struct attn_opts o, struct attn_dims d)
{
    double d_head = (double)d.d_model / d.n_head;
    if (!o.scale) return 1;
    if (o.divisor == ATTN_D_HEAD) return d_head;
    return sqrt(o.divisor == ATTN_SQRT_D_MODEL ? (double)d.d_model : d_head);
}

/* Without the maximum: e_j = exp(s_j), each with a relative error of about u*|s_j| from its
 * argument and exp's own; beyond FLT_MAX it is infinite, far below FLT_MIN it is 0. */
static void bare_row(double *s, double *d, int n)
{
    const double edge = 0.01; /* of an exponent: nearer to overflow nothing is claimed */
    double sum = 0;
    double top = -HUGE_VAL;
    double off = 0;
    int visible = 0;
    for (int j = 0; j < n; j++) {
        if (s[j] == -HUGE_VAL) continue;
        visible++;
        top = fmax(top, s[j]);
        sum += exp(s[j]);
        off = fmax(off, 4 * u * fabs(s[j]) + exp_error);
    }
    double over = log((double)FLT_MAX);
    double under = log((double)FLT_TRUE_MIN);
    bool huge = sum > (double)FLT_MAX;
    bool unsure =
        visible > 0 && (fabs(log(sum) - over) < edge || fabs(top - over) < edge ||
                        (top < under + 2 && top > under - 2));
    for (int j = 0; j < n; j++) {
        bool hidden = s[j] == -HUGE_VAL;
        double e = hidden ? 0 : exp(s[j]);
        if (hidden) {
            s[j] = d[j] = 0;
            continue;
        }
        if (huge)
            d[j] = fabs(s[j] - over) < edge ? HUGE_VAL : 0;
        else
            d[j] = e / sum * (exp(2 * off) * (1 + g(n + 3)) - 1) +
                   n * 2 * (double)FLT_MIN / fmax(sum, (double)FLT_TRUE_MIN);
        s[j] = huge ? (e > (double)FLT_MAX ? (double)NAN : 0) : e / sum;
        if (!huge && top < under) s[j] = (double)NAN;
        if (unsure) d[j] = HUGE_VAL;
    }
}

void oracle_softmax_as(double *want, double *bound, struct attn_cmat s,
                       struct attn_opts o)
{
    double t = o.temperature > 0 ? (double)o.temperature : 1;
    for (int i = 0; i < s.rows; i++) {
        double *w = want + (size_t)i * s.cols;
        double *d = bound + (size_t)i * s.cols;
        for (int j = 0; j < s.cols; j++) {
            w[j] = at(s, i, j) / t;
            d[j] = 0;
        }
        if (o.no_max)
            bare_row(w, d, s.cols);
        else
            softmax_row(w, d, s.cols, 4, s.cols + 2);
    }
}

/* Significand and least unit of a format: unit roundoff 2^-digits. */
static void format(enum attn_precision p, int *digits, double *tiny, double *most)
{
    *digits = p == ATTN_BFLOAT16 ? 8 : 11;
    *tiny = p == ATTN_BFLOAT16 ? 0x1p-133 : 0x1p-24;
    *most = p == ATTN_BFLOAT16 ? 0x1.fep127 : 65504.0;
}

void oracle_round(const double *want, double *bound, int n, enum attn_precision p)
{
    int digits = 0;
    double tiny = 0;
    double most = 0;
    if (p == ATTN_FLOAT32) return;
    format(p, &digits, &tiny, &most);
    for (int i = 0; i < n; i++)
        bound[i] += ldexp(fabs(want[i]) + bound[i], -digits) + tiny / 2;
}

float oracle_nearest(float v, enum attn_precision p)
{
    int digits = 0;
    double tiny = 0;
    double most = 0;
    format(p, &digits, &tiny, &most);
    double size = fabs((double)v);
    int exponent = 0;
    (void)frexp(size,
                &exponent); /* size < 2^exponent: one place is 2^(exponent - digits) */
    double place = fmax(ldexp(1, exponent - digits), tiny);
    double below = floor(size / place) * place;
    double half = size - below;
    bool odd = fmod(below / place, 2) == 1;
    if (half > place / 2 || (half == place / 2 && odd)) below += place;
    if (below > most) below = HUGE_VAL;
    return (float)copysign(below, (double)v);
}

void oracle_head(double *want, double *bound, struct attn_cmat q, struct attn_cmat k,
                 struct attn_cmat v, struct attn_opts o)
{
    int d = q.cols;
    double scale = o.scale ? 1 / sqrt((double)d) : 1;
    double *w = malloc((size_t)k.rows * sizeof *w);
    double *e = malloc((size_t)k.rows * sizeof *e);
    assert_non_null(w);
    assert_non_null(e);
    for (int i = 0; i < q.rows; i++) {
        int n = o.causal ? i + 1 : k.rows;
        struct attn_cmat row = {q.data + (size_t)i * q.ld, 1, d, q.ld};
        struct attn_cmat seen = {k.data, n, d, k.ld};
        oracle_scores(w, e, row, seen);
        for (int j = 0; j < n; j++) {
            w[j] *= scale;
            e[j] *= scale * (d + 3) / d; /* the scale's roundings */
        }
        /* a = 3: difference, scale, base 2. One rescaling a tile of at least eight keys
         * costs an exp and a product, 6u: under n more, and a few. */
        softmax_row(w, e, n, 3, 2 * n + 16);
        for (int c = 0; c < v.cols; c++) {
            double z = 0;
            double off = 0;
            for (int j = 0; j < n; j++) {
                double x = at(v, j, c);
                z += w[j] * x;
                off += (e[j] + g(n) * (w[j] + e[j])) * fabs(x);
            }
            want[(size_t)i * v.cols + c] = z;
            bound[(size_t)i * v.cols + c] = off + n * (double)FLT_TRUE_MIN;
        }
    }
    free(e);
    free(w);
}
