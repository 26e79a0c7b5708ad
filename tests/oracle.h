/* An independent float64 computation of the seven stages, each with a bound on how far a
 * float32 computation in any order of summation may lie from it.
 *
 * u = 2^-24 is float32's unit roundoff, g(n) = n*u / (1 - n*u).
 *   dot product of n terms, any order, FMA or not:   |error| <= g(n) * sum |a_k * b_k|
 *   with m further terms added (bias, residual):     |error| <= g(n + m) * (... + |b|)
 * (Higham 2002, sec. 3.1.)
 *
 * want and bound are [rows, cols] of the result, without gaps. */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "attn.h"

void oracle_layer_norm(double *want, double *bound, struct attn_cmat h, const float *gain,
                       const float *bias, double eps);
void oracle_project(double *want, double *bound, struct attn_cmat x, struct attn_cmat w,
                    const float *b);
void oracle_scores(double *want, double *bound, struct attn_cmat q, struct attn_cmat k);
float oracle_scaled(float s, int d_head); /* to the last bit */
/* Returns the number of rows that are -INFINITY throughout. */
int oracle_softmax(double *want, double *bound, struct attn_cmat s);
void oracle_weighted_sum(double *want, double *bound, struct attn_cmat p,
                         struct attn_cmat v, bool causal);
/* h.data = NULL: no residual. */
void oracle_output(double *want, double *bound, struct attn_cmat z, struct attn_cmat w,
                   const float *b, struct attn_cmat h);
/* Stages 2 to 6 of one head at once: z from q, k, v, for the fused path, which may
 * rescale its running sums once every eight keys and holds no S. */
void oracle_head(double *want, double *bound, struct attn_cmat q, struct attn_cmat k,
                 struct attn_cmat v, struct attn_opts o);

/* With a stage done wrong on purpose. What a mask that is one off shows: j <= i + 1. */
int oracle_seen(struct attn_opts o, int i, int n);
double oracle_divisor(struct attn_opts o, struct attn_dims d); /* 1: not divided */
/* S / temperature; without the maximum float32 overflows and underflows, as it is told to.
 * Rows in which that hangs on the last rounding have a bound of infinity. */
void oracle_softmax_as(double *want, double *bound, struct attn_cmat s,
                       struct attn_opts o);
void oracle_weighted_sum_as(double *want, double *bound, struct attn_cmat p,
                            struct attn_cmat v, struct attn_opts o);
/* bound grows by what rounding want to the format may cost. */
void oracle_round(const double *want, double *bound, int n, enum attn_precision p);
/* v rounded to nearest even among all numbers of the format, in exact arithmetic. */
float oracle_nearest(float v, enum attn_precision p);

#endif
