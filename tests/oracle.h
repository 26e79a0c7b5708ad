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

#endif
