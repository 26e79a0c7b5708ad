/* Shared by the tests of attn: random problems, fenced memory, comparisons. */
#include "attn_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Quiet NaNs that no sum produces: what an output holds before, what lies between the
 * rows of an input. */
static const uint32_t unwritten = 0x7fc5fe7cU;
static const uint32_t between = 0x7fc0babeU;

uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

float rng_unit(struct rng *r)
{
    return (float)(int32_t)(rng_next(r) >> 40) * 0x1p-23f - 1.0f;
}

int rng_int(struct rng *r, int lo, int hi)
{
    return lo + (int)(rng_next(r) % (uint64_t)(hi - lo + 1));
}

void *bag_push(struct bag *b, size_t bytes)
{
    assert_true((size_t)b->n < sizeof b->at / sizeof b->at[0]);
    void *p = malloc(bytes ? bytes : 1);
    assert_non_null(p);
    b->at[b->n++] = p;
    return p;
}

void bag_empty(struct bag *b)
{
    while (b->n > 0) free(b->at[--b->n]);
}

static void put_pattern(float *at, size_t n, uint32_t bits)
{
    for (size_t i = 0; i < n; i++) memcpy(at + i, &bits, sizeof bits);
}

static uint32_t bits_of(const float *at)
{
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    return bits;
}

static bool is_pattern(const float *at)
{
    return bits_of(at) == unwritten;
}

struct fence fence_new(struct bag *b, struct rng *r, int rows, int cols)
{
    int before = rng_int(r, 16, 31); /* so the start is aligned to nothing */
    int ld = cols + rng_int(r, 0, 5);
    struct fence f = {.n = (size_t)rows * ld + before + 32};
    f.block = bag_push(b, f.n * sizeof *f.block);
    f.m = (struct attn_mat){f.block + before, rows, cols, ld};
    fence_fill(&f);
    return f;
}

void fence_fill(struct fence *f)
{
    put_pattern(f->block, f->n, unwritten);
}

void fence_check(const struct fence *f, const char *where)
{
    const float *first = f->m.data;
    const float *end = first + (size_t)f->m.rows * f->m.ld;
    for (const float *at = f->block; at < f->block + f->n; at++) {
        bool inside = at >= first && at < end && (at - first) % f->m.ld < f->m.cols;
        if (!inside && !is_pattern(at))
            fail_msg("%s: wrote %td elements from the start, beside the output", where,
                     at - first);
    }
}

bool fence_untouched(const struct fence *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!is_pattern(f->block + i)) return false;
    return true;
}

bool fence_has_pattern(const struct fence *f, int i, int j)
{
    return is_pattern(f->m.data + (size_t)i * f->m.ld + j);
}

struct attn_mat input_new(struct bag *b, struct rng *r, int rows, int cols,
                          float amplitude)
{
    int ld = cols + rng_int(r, 0, 5);
    int before = rng_int(r, 0, 3);
    size_t n = (size_t)(rows - 1) * ld + cols + before;
    float *block = bag_push(b, n * sizeof *block);
    put_pattern(block, n, between);
    struct attn_mat m = {block + before, rows, cols, ld};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            m.data[(size_t)i * ld + j] = amplitude * rng_unit(r);
    return m;
}

float *vector_new(struct bag *b, struct rng *r, int n, float amplitude)
{
    return input_new(b, r, 1, n, amplitude).data;
}

struct attn_mat input_copy(struct bag *b, struct attn_cmat m)
{
    size_t row = (size_t)m.cols * sizeof(float);
    struct attn_mat copy = {bag_push(b, m.rows * row), m.rows, m.cols, m.cols};
    for (int i = 0; i < m.rows; i++)
        memcpy(copy.data + (size_t)i * m.cols, m.data + (size_t)i * m.ld, row);
    return copy;
}

struct attn_cmat readable(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

const struct attn_kernels *case_kernels(int i)
{
    const char *only = getenv("HEADLIGHT_KERNELS");
    if (!only) return attn_kernels_at(i);
    return i == 0 ? attn_kernels_get(only) : NULL;
}

struct where where_is(const struct attn_kernels *k, const char *format, ...)
{
    struct where w;
    int n = snprintf(w.text, sizeof w.text, "%s: ", attn_kernels_name(k));
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
    (void)vsnprintf(w.text + n, sizeof w.text - (size_t)n, format, args);
    va_end(args);
    return w;
}

void check_within(const char *where, struct attn_cmat got, const double *want,
                  const double *bound)
{
    for (int i = 0; i < got.rows; i++) {
        for (int j = 0; j < got.cols; j++) {
            double g = (double)got.data[(size_t)i * got.ld + j];
            double w = want[(size_t)i * got.cols + j];
            double e = bound[(size_t)i * got.cols + j];
            bool good = isinf(e)   ? true
                        : isnan(w) ? isnan(g)
                        : isinf(w) ? g == w
                                   : isfinite(g) && fabs(g - w) <= e;
            if (!good)
                fail_msg("%s: [%d,%d] is %.9g, must be %.9g, off by %.3g, may be %.3g",
                         where, i, j, g, w, fabs(g - w), e);
        }
    }
}

void check_same_rows(const char *where, struct attn_cmat a, struct attn_cmat b, int rows)
{
    assert_int_equal(a.cols, b.cols);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < a.cols; j++) {
            const float *p = a.data + (size_t)i * a.ld + j;
            const float *q = b.data + (size_t)i * b.ld + j;
            if (bits_of(p) != bits_of(q))
                fail_msg("%s: [%d,%d] is %.9g and %.9g, not the same bits", where, i, j,
                         (double)*p, (double)*q);
        }
    }
}

void check_same(const char *where, struct attn_cmat a, struct attn_cmat b)
{
    assert_int_equal(a.rows, b.rows);
    check_same_rows(where, a, b, a.rows);
}

struct problem problem_new(struct bag *b, struct rng *r, struct attn_dims d, bool biases)
{
    int m = d.d_model;
    float spread = 2.0f / sqrtf((float)m);
    struct problem p = {.dims = d};
    p.x = input_new(b, r, d.n_tok, m, 1.7f); /* about unit variance, as ln_1 leaves it */
    p.h = input_new(b, r, d.n_tok, m, 1.0f);
    p.w_qkv = input_new(b, r, m, 3 * m, spread);
    p.w_o = input_new(b, r, m, m, spread);
    p.w.w_qkv = readable(p.w_qkv);
    p.w.w_o = readable(p.w_o);
    if (biases) {
        p.w.b_qkv = vector_new(b, r, 3 * m, 0.5f);
        p.w.b_o = vector_new(b, r, m, 0.5f);
    }
    return p;
}

struct attn_trace *run_new(struct bag *b, const struct attn_ctx *c,
                           const struct problem *p, struct attn_opts o, int head)
{
    struct attn_trace *t = bag_push(b, sizeof *t);
    size_t bytes = attn_trace_bytes(p->dims);
    assert_true(bytes > 0);
    void *mem = bag_push(b, bytes);
    assert_int_equal(attn_trace_init(t, p->dims, mem, bytes), ATTN_OK);
    assert_int_equal(attn_run(c, t, readable(p->x), readable(p->h), &p->w, o, head),
                     ATTN_OK);
    return t;
}

struct attn_packed *packed_new(struct bag *b, const struct attn_kernels *k,
                               const struct problem *p)
{
    struct attn_packed *packed = NULL;
    size_t bytes = attn_packed_bytes(k, p->dims);
    assert_true(bytes > 0);
    void *mem = bag_push(b, bytes);
    assert_int_equal(attn_pack(k, &packed, &p->w, p->dims, mem, bytes), ATTN_OK);
    assert_non_null(packed);
    return packed;
}

struct block_result block_new(struct bag *b, struct rng *r, const struct attn_ctx *c,
                              const struct problem *p, struct attn_opts o)
{
    struct attn_dims d = p->dims;
    struct block_result out = {
        .y = fence_new(b, r, d.n_tok, d.d_model),
        .z = fence_new(b, r, d.n_tok, d.d_model),
        .qkv = fence_new(b, r, d.n_tok, 3 * d.d_model),
    };
    struct attn_block_io io = {.x = readable(p->x),
                               .h = readable(p->h),
                               .y = out.y.m,
                               .z = out.z.m,
                               .qkv = out.qkv.m};
    size_t bytes = attn_block_bytes(c, d);
    out.status =
        attn_block(c, &io, packed_new(b, c->k, p), o, d, bag_push(b, bytes), bytes);
    struct where w = where_is(c->k, "block N=%d d=%d H=%d", d.n_tok, d.d_model, d.n_head);
    fence_check(&out.y, w.text);
    fence_check(&out.z, w.text);
    fence_check(&out.qkv, w.text);
    return out;
}

struct attn_opts opts_of(int i)
{
    return (struct attn_opts){
        .scale = !(i & 1), .causal = !(i & 2), .residual = !(i & 4)};
}
