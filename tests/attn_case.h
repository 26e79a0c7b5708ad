/* What the tests of attn share: fixed random numbers, memory that shows where somebody
 * wrote or read beside a matrix, and whole random problems. */
#ifndef TESTS_ATTN_CASE_H
#define TESTS_ATTN_CASE_H

#include "attn.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Splitmix64: the same numbers for the same seed, everywhere. */
struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *r);
float rng_unit(struct rng *r);              /* in [-1, 1) */
int rng_int(struct rng *r, int lo, int hi); /* in [lo, hi] */

/* Memory of one test, given back at once. Every block is as long as was asked, so that
 * a sanitizer sees the first byte beyond. */
struct bag {
    void *at[128];
    int n;
};
void *bag_push(struct bag *b, size_t bytes);
void bag_empty(struct bag *b);

/* An output with a pattern before, behind and between its rows, and in its cells.
 * Its first element lies at any multiple of four bytes; ld is random, >= cols. */
struct fence {
    float *block;
    size_t n;
    struct attn_mat m;
};
struct fence fence_new(struct bag *b, struct rng *r, int rows, int cols);
void fence_fill(struct fence *f); /* puts the pattern everywhere again */
void fence_check(const struct fence *f, const char *where); /* beside the cells: kept */
bool fence_untouched(const struct fence *f);                /* the cells as well */
bool fence_has_pattern(const struct fence *f, int i, int j);

/* An input of random numbers in [-amplitude, amplitude); between its rows lie NaN, and
 * it ends with its last element. */
struct attn_mat input_new(struct bag *b, struct rng *r, int rows, int cols,
                          float amplitude);
float *vector_new(struct bag *b, struct rng *r, int n, float amplitude);
struct attn_mat input_copy(struct bag *b, struct attn_cmat m); /* ld = cols */
struct attn_cmat readable(struct attn_mat m);

/* The kernel sets under test: all this CPU runs, or the one HEADLIGHT_KERNELS names. */
const struct attn_kernels *case_kernels(int i);

/* "avx2: N=5 d=8", for messages. */
struct where {
    char text[128];
};
struct where where_is(const struct attn_kernels *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails unless every got(i, j) is within bound[i*cols + j] of want[i*cols + j]; NaN
 * wants NaN, an infinity itself. */
void check_within(const char *where, struct attn_cmat got, const double *want,
                  const double *bound);
/* Fails unless rows [0, rows) hold the same bits. */
void check_same_rows(const char *where, struct attn_cmat a, struct attn_cmat b, int rows);
void check_same(const char *where, struct attn_cmat a, struct attn_cmat b);

/* One block's input and weights; scores of a few units for every d_model. */
struct problem {
    struct attn_dims dims;
    struct attn_mat x, h, w_qkv, w_o;
    struct attn_weights w; /* of w_qkv, w_o and random biases */
};
struct problem problem_new(struct bag *b, struct rng *r, struct attn_dims d, bool biases);

/* attn_run and attn_block with memory of exactly the size they ask for. */
struct attn_trace *run_new(struct bag *b, const struct attn_ctx *c,
                           const struct problem *p, struct attn_opts o, int head);
struct block_result {
    struct fence y, z, qkv;
    enum attn_status status;
};
struct block_result block_new(struct bag *b, struct rng *r, const struct attn_ctx *c,
                              const struct problem *p, struct attn_opts o);
struct attn_packed *packed_new(struct bag *b, const struct attn_kernels *k,
                               const struct problem *p);

/* i in 0..7: each combination of scale, causal, residual. */
struct attn_opts opts_of(int i);

/* The groups, one a file; each returns how many tests failed. */
int attn_stage_tests(void);
int attn_softmax_tests(void);
int attn_run_tests(void);
int attn_block_tests(void);
int attn_linear_tests(void);
int attn_refusal_tests(void);
int attn_heads_tests(void);
int attn_broken_tests(void);
int attn_decode_tests(void);

#endif
