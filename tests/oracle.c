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
    for (int i = 0; i < p.rows; i++) {
        double *z = want + (size_t)i * v.cols;
        double *mass = bound + (size_t)i * v.cols;
        int n = causal ? i + 1 : v.rows;
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
