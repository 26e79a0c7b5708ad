/* attn_run with a stage done wrong on purpose, and with numbers that are given: every
 * tensor against the oracle's answer to the tensors before it, one option at a time, some
 * together, at toy and at GPT-2 dimensions. */
#include "attn_case.h"
#include "oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct attn_opts with(struct attn_opts o)
{
    o.scale = o.causal = o.residual = true;
    return o;
}

enum { OPTS = 16 };

/* One option each, then several. */
static struct attn_opts broken(int i)
{
    const struct attn_opts all[OPTS] = {
        with((struct attn_opts){.shifted = true}),
        with((struct attn_opts){.no_max = true}),
        with((struct attn_opts){.no_bias = true}),
        with((struct attn_opts){.swapped = true}),
        with((struct attn_opts){.divisor = ATTN_D_HEAD}),
        with((struct attn_opts){.divisor = ATTN_SQRT_D_MODEL}),
        with((struct attn_opts){.precision = ATTN_BFLOAT16}),
        with((struct attn_opts){.precision = ATTN_FLOAT16}),
        with((struct attn_opts){.temperature = 0.25f}),
        with((struct attn_opts){.temperature = 3.0f}),
        with((struct attn_opts){.silent = 1}),
        with((struct attn_opts){.silent = 6}),
        with((struct attn_opts){.shifted = true, .no_max = true, .temperature = 0.7f}),
        with((struct attn_opts){
            .precision = ATTN_FLOAT16, .no_max = true, .swapped = true, .no_bias = true}),
        {.no_max = true, .shifted = true, .silent = 2},
        {.causal = true,
         .precision = ATTN_BFLOAT16,
         .shifted = true,
         .temperature = 0.5f},
    };
    return all[i];
}

static struct attn_cmat view(const struct attn_trace *t, enum attn_tensor id, int head)
{
    struct attn_cmat m = attn_trace_view(t, id, head);
    assert_non_null(m.data);
    return m;
}

/* Room for what is wanted of a trace. */
struct wanted {
    double *want, *bound;
};

static void check(const char *where, struct attn_cmat got, struct wanted w,
                  enum attn_precision p)
{
    oracle_round(w.want, w.bound, got.rows * got.cols, p);
    check_within(where, got, w.want, w.bound);
    for (int i = 0; i < got.rows && p != ATTN_FLOAT32; i++)
        for (int j = 0; j < got.cols; j++) {
            float v = got.data[(size_t)i * got.ld + j];
            if (isfinite(v)) assert_true(v == oracle_nearest(v, p));
        }
}

static void check_projection(const struct attn_trace *t, const struct problem *p,
                             struct wanted w, const char *where)
{
    int d = p->dims.d_model;
    const float *bias = t->opts.no_bias ? NULL : p->w.b_qkv;
    for (int part = 0; part < 3; part++) {
        int from = t->opts.swapped && part < 2 ? 1 - part : part;
        struct attn_cmat weights = p->w.w_qkv;
        weights.data += (size_t)from * d;
        weights.cols = d;
        struct attn_cmat got = {t->qkv.data + (size_t)part * d, t->qkv.rows, d,
                                t->qkv.ld};
        oracle_project(w.want, w.bound, readable(p->x), weights,
                       bias ? bias + (size_t)from * d : NULL);
        check(where, got, w, t->opts.precision);
    }
}

static void check_scores(const struct attn_trace *t, struct bag *b, struct wanted w,
                         const char *where)
{
    struct attn_opts o = t->opts;
    int n = t->dims.n_tok;
    int h = t->head;
    oracle_scores(w.want, w.bound, view(t, ATTN_Q, h), view(t, ATTN_K, h));
    check(where, view(t, ATTN_S_RAW, h), w, o.precision);
    struct attn_mat copy = input_copy(b, view(t, ATTN_S_RAW, h));
    double by = oracle_divisor(o, t->dims);
    for (int i = 0; i < n * n; i++) {
        float v = (float)((double)copy.data[i] / by);
        copy.data[i] = o.precision ? oracle_nearest(v, o.precision) : v;
    }
    check_same(where, view(t, ATTN_S_SCALED, h), readable(copy));
    for (int i = 0; i < n; i++)
        for (int j = oracle_seen(o, i, n); j < n; j++) copy.data[i * n + j] = -INFINITY;
    check_same(where, view(t, ATTN_S_MASKED, h), readable(copy));
    oracle_softmax_as(w.want, w.bound, readable(copy), o);
    check(where, view(t, ATTN_P, h), w, o.precision);
}

static void check_silence(const struct attn_trace *t, int h)
{
    struct attn_cmat z = view(t, ATTN_Z, h);
    for (int i = 0; i < z.rows; i++)
        for (int j = 0; j < z.cols; j++)
            assert_true(z.data[(size_t)i * z.ld + j] == 0.0f);
}

static void check_trace(struct bag *b, struct attn_trace *t, const struct attn_ctx *c,
                        const struct problem *p, const char *where)
{
    int n = p->dims.n_tok;
    int wide = n > 3 * p->dims.d_model ? n : 3 * p->dims.d_model;
    struct attn_opts o = t->opts;
    struct wanted w = {bag_push(b, (size_t)n * wide * sizeof(double)),
                       bag_push(b, (size_t)n * wide * sizeof(double))};
    const float *b_o = o.no_bias ? NULL : p->w.b_o;
    struct attn_cmat h = readable(p->h);
    check_projection(t, p, w, where);
    oracle_output(w.want, w.bound, readable(t->z), p->w.w_o, b_o, (struct attn_cmat){0});
    check(where, readable(t->y_proj), w, o.precision);
    for (int i = 0; i < n * p->dims.d_model;
         i++) { /* the sum of two floats, rounded once */
        int row = i / p->dims.d_model;
        int col = i % p->dims.d_model;
        float y = t->y_proj.data[(size_t)row * t->y_proj.ld + col];
        float sum = o.residual ? y + h.data[(size_t)row * h.ld + col] : y;
        if (o.precision) sum = oracle_nearest(sum, o.precision);
        assert_true(t->y.data[(size_t)row * t->y.ld + col] == sum);
    }
    /* Every head's z was made before the view moves there, and is made again there. */
    struct attn_mat before = input_copy(b, readable(t->z));
    for (int k = 0; k < p->dims.n_head; k++) {
        int d_head = attn_d_head(p->dims);
        assert_int_equal(attn_run_head(c, t, k), ATTN_OK);
        check_scores(t, b, w, where);
        if (attn_is_silent(o, k)) {
            check_silence(t, k);
            continue;
        }
        oracle_weighted_sum_as(w.want, w.bound, view(t, ATTN_P, k), view(t, ATTN_V, k),
                               o);
        check(where, view(t, ATTN_Z, k), w, o.precision);
        /* The fused path is off by more roundings than the stages: about four times. */
        for (int i = 0; i < n * d_head; i++) w.bound[i] = 1e-6 + 8 * w.bound[i];
        struct attn_cmat z = {before.data + (size_t)k * d_head, n, d_head, before.ld};
        check_within(where, z, w.want, w.bound);
    }
}

static void run_and_check(struct rng *r, struct attn_dims d, int i, int head)
{
    struct bag b = {0};
    struct problem p = problem_new(&b, r, d, true);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct where w = where_is(c.k, "broken N=%d d=%d H=%d options %d", d.n_tok,
                                  d.d_model, d.n_head, i);
        struct attn_trace *t = run_new(&b, &c, &p, broken(i), head);
        check_trace(&b, t, &c, &p, w.text);
    }
    bag_empty(&b);
}

static void every_option_is_obeyed_at_toy_size(void **state)
{
    (void)state;
    struct rng r = {71};
    for (int i = 0; i < OPTS; i++) {
        run_and_check(&r, (struct attn_dims){5, 8, 2}, i, i % 2);
        run_and_check(&r, (struct attn_dims){1, 6, 3}, i, 2);
        run_and_check(&r, (struct attn_dims){37, 3 * 11, 3}, i, 0);
    }
}

static void every_option_is_obeyed_at_gpt2_size(void **state)
{
    (void)state;
    struct rng r = {72};
    for (int i = 0; i < OPTS; i++)
        run_and_check(&r, (struct attn_dims){33, 768, 12}, i, i % 12);
}

/* 0 and 1 mean the same temperature; a divisor without division, a shift without a mask
 * mean nothing. Then the run is the right one to the bit. */
static void options_that_mean_nothing_change_no_bit(void **state)
{
    (void)state;
    struct rng r = {73};
    struct bag b = {0};
    struct problem p = problem_new(&b, &r, (struct attn_dims){50, 24, 3}, true);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    const struct attn_opts plain[] = {attn_opts_default(),
                                      {.causal = true, .residual = true},
                                      {.scale = true, .residual = true}};
    const struct attn_opts same[] = {
        with((struct attn_opts){.temperature = 1.0f}),
        {.causal = true, .residual = true, .divisor = ATTN_D_HEAD},
        {.scale = true, .residual = true, .shifted = true}};
    for (int i = 0; i < 3; i++) {
        assert_true(attn_opts_same(plain[i], same[i]));
        assert_true(attn_opts_fused(same[i]));
        struct attn_trace *a = run_new(&b, &c, &p, plain[i], 1);
        struct attn_trace *z = run_new(&b, &c, &p, same[i], 1);
        check_same("run", readable(a->y), readable(z->y));
        check_same("run", readable(a->p), readable(z->p));
    }
    for (int i = 0; i < OPTS; i++) {
        assert_false(attn_opts_same(attn_opts_default(), broken(i)));
        assert_false(attn_opts_fused(broken(i)));
    }
    bag_empty(&b);
}

static void rounding_is_to_nearest_even(void **state)
{
    (void)state;
    struct rng r = {74};
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)rng_next(&r);
        float v;
        memcpy(&v, &bits, sizeof v);
        if (i % 2) v = ldexpf(rng_unit(&r), rng_int(&r, -30, 20)); /* float16's range */
        if (!isfinite(v)) continue;
        for (int p = ATTN_BFLOAT16; p < ATTN_PRECISION_COUNT; p++) {
            float got = attn_rounded(v, (enum attn_precision)p);
            float want = oracle_nearest(v, (enum attn_precision)p);
            if (got != want || signbit(got) != signbit(v))
                fail_msg("%a rounds to %a, must be %a", (double)v, (double)got,
                         (double)want);
        }
    }
    /* The halves between neighbours, and the edges. */
    assert_true(attn_rounded(1.0f + 0x1p-11f, ATTN_FLOAT16) == 1.0f);
    assert_true(attn_rounded(1.0f + 0x3p-11f, ATTN_FLOAT16) == 1.0f + 0x1p-9f);
    assert_true(attn_rounded(65519.0f, ATTN_FLOAT16) == 65504.0f);
    assert_true(attn_rounded(65520.0f, ATTN_FLOAT16) == INFINITY);
    assert_true(attn_rounded(-65520.0f, ATTN_FLOAT16) == -INFINITY);
    assert_true(attn_rounded(0x1p-25f, ATTN_FLOAT16) == 0.0f);
    assert_true(attn_rounded(0x3p-26f, ATTN_FLOAT16) == 0x1p-24f);
    assert_true(attn_rounded(1.0f + 0x1p-8f, ATTN_BFLOAT16) == 1.0f);
    assert_true(attn_rounded(1.0f + 0x3p-8f, ATTN_BFLOAT16) == 1.0f + 0x1p-6f);
    assert_true(isnan(attn_rounded(NAN, ATTN_BFLOAT16)));
    assert_true(attn_rounded(-INFINITY, ATTN_FLOAT16) == -INFINITY);
}

/* Whole rows, by every kernel set, NaN and infinities too: the same bits as one by one. */
static void a_row_is_rounded_as_its_numbers_are(void **state)
{
    (void)state;
    enum { N = 4099 };
    static float in[N], got[N];
    struct rng r = {75};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++)
        for (int p = ATTN_FLOAT32; p < ATTN_PRECISION_COUNT; p++)
            for (int k = 0; k < 60; k++) {
                int n = k < 40 ? 1 + 3 * k : N;
                for (int i = 0; i < n; i++) {
                    uint32_t bits = (uint32_t)rng_next(&r);
                    memcpy(&in[i], &bits, sizeof in[i]);
                    if (i % 3) in[i] = ldexpf(rng_unit(&r), rng_int(&r, -30, 20));
                    if (i % 97 == 5) in[i] = i % 2 ? INFINITY : -INFINITY;
                    if (i % 89 == 7) in[i] = NAN;
                }
                memcpy(got, in, sizeof got);
                assert_int_equal(attn_round(&c, (struct attn_mat){got, 1, n, n},
                                            (enum attn_precision)p),
                                 ATTN_OK);
                for (int i = 0; i < n; i++) {
                    float want = attn_rounded(in[i], (enum attn_precision)p);
                    if (memcmp(&want, &got[i], sizeof want) != 0)
                        fail_msg("%s: %a rounds to %a, must be %a",
                                 attn_kernels_name(c.k), (double)in[i], (double)got[i],
                                 (double)want);
                }
                assert_memory_equal(got + n, in + n, (size_t)(N - n) * sizeof *in);
            }
}

/* The difference of two matrices and the largest change, against plain loops. */
static void a_difference_names_its_largest_change(void **state)
{
    (void)state;
    struct rng r = {76};
    struct attn_ctx c = {.k = case_kernels(0)};
    for (int k = 0; k < 200; k++) {
        struct bag b = {0};
        int rows = rng_int(&r, 1, 70), cols = rng_int(&r, 1, 150);
        struct attn_mat was = input_new(&b, &r, rows, cols, 2.0f);
        struct attn_mat is = input_new(&b, &r, rows, cols, 2.0f);
        struct fence out = fence_new(&b, &r, rows, cols);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) {
                float *x = &is.data[(size_t)i * is.ld + j];
                float *y = &was.data[(size_t)i * was.ld + j];
                int what = rng_int(&r, 0, 40);
                if (what < 12 || k % 5 == 0) *x = *y;
                if (what == 13) *x = *y = NAN;
                if (what == 14) *x = *y = -INFINITY;
                if (what == 15 && k % 4 == 1) *y = i % 2 ? NAN : INFINITY;
                if (what == 16) *x = 0.0f, *y = -0.0f;
            }
        struct attn_change got;
        assert_int_equal(attn_difference(&c, out.m, readable(is), readable(was), &got),
                         ATTN_OK);
        fence_check(&out, "difference");
        struct attn_change want = {.row = -1, .col = -1};
        float most = 0.0f;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) {
                float x = is.data[(size_t)i * is.ld + j];
                float y = was.data[(size_t)i * was.ld + j];
                float d = x == y || (isnan(x) && isnan(y)) ? 0.0f : x - y;
                float o = out.m.data[(size_t)i * out.m.ld + j];
                float size = isnan(d) ? INFINITY : fabsf(d);
                assert_true(o == d || (isnan(o) && isnan(d)));
                want.count += size > 0.0f;
                if (!(size > most)) continue;
                most = size;
                want.row = i;
                want.col = j;
            }
        assert_int_equal(got.row, want.row);
        assert_int_equal(got.col, want.col);
        assert_true(got.count == want.count);
        bag_empty(&b);
    }
}

/* e^88.7 is a float32, e^88.8 is not. */
static void without_the_maximum_softmax_overflows(void **state)
{
    (void)state;
    struct attn_opts o = with((struct attn_opts){.no_max = true});
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        float s[6][4] = {{88.0f, 1.0f, 0.0f, -INFINITY},  {200.0f, 1.0f, 90.0f, 2.0f},
                         {-200.0f, -300.0f, -250, -999},  {-INFINITY, 3.0f, 3.0f, 3.0f},
                         {88.5f, 88.5f, 0.0f, -INFINITY}, {0.0f, 0.0f, -200.0f, 0.0f}};
        float p[6][4];
        int64_t empty = 7;
        struct attn_mat out = {p[0], 6, 4, 4};
        struct attn_cmat in = {s[0], 6, 4, 4};
        assert_int_equal(attn_softmax_as(&c, out, in, o, &empty), ATTN_OK);
        assert_int_equal(empty, 0);
        assert_true(p[0][0] > 0.99f && p[0][3] == 0.0f);
        assert_true(isnan(p[1][0]) && p[1][1] == 0.0f && isnan(p[1][2]));
        for (int j = 0; j < 4; j++) assert_true(isnan(p[2][j])); /* 0 / 0 */
        assert_true(p[3][0] == 0.0f && fabsf(p[3][1] - 1.0f / 3) < 1e-6f);
        assert_true(p[4][0] == 0.0f && p[4][3] == 0.0f); /* the sum alone overflows */
        assert_true(p[5][2] == 0.0f && fabsf(p[5][0] - 1.0f / 3) < 1e-6f);
        for (int i = 0; i < 6; i++) { /* the row taken apart says the same */
            float e[4];
            struct attn_row row = attn_row_explain_as(&c, e, s[i], 4, o);
            assert_int_equal(row.n_visible, i == 0 || i == 3 || i == 4 ? 3 : 4);
            if (i == 0) assert_true(fabsf(row.top - p[0][0]) < 1e-6f);
            if (i == 1)
                assert_true(isinf(row.sum) && isnan(row.top) && isnan(row.entropy));
            if (i == 3) assert_true(fabsf(row.entropy - log2f(3)) < 1e-5f);
            if (i == 0) assert_true(e[3] == 0.0f);
        }
        attn_softmax(&c, out, in, NULL); /* with it, none of this happens */
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 4; j++) assert_true(isfinite(p[i][j]));
    }
}

/* Entropy and the largest weight of a row, at any temperature, are those of its weights. */
static void a_row_taken_apart_has_its_temperature(void **state)
{
    (void)state;
    struct rng r = {75};
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    for (int i = 0; i < 200; i++) {
        float s[150], p[150];
        int n = rng_int(&r, 1, 150);
        struct attn_opts o = with((struct attn_opts){
            .temperature = ldexpf(1.0f + rng_unit(&r) * 0.9f, rng_int(&r, -3, 3)),
            .no_max = i % 2 == 1});
        for (int j = 0; j < n; j++)
            s[j] = j > 2 && j % 7 == 3 ? -INFINITY : 6.0f * rng_unit(&r);
        struct attn_mat out = {p, 1, n, n};
        struct attn_cmat in = {s, 1, n, n};
        if (o.no_max) o.temperature += 0.1f; /* e^60 is a float32 */
        attn_softmax_as(&c, out, in, o, NULL);
        struct attn_row row = attn_row_explain_as(&c, NULL, s, n, o);
        double entropy = 0;
        double top = 0;
        for (int j = 0; j < n; j++) {
            double w = (double)p[j];
            if (w > 0) entropy -= w * log2(w);
            top = fmax(top, w);
        }
        assert_true(fabs(entropy - (double)row.entropy) < 1e-4);
        assert_true(fabs(top - (double)row.top) < 1e-5);
    }
}

/* ---- numbers that are given -------------------------------------------------------------- */

/* Copies the trace's buffer with the edit in it and runs the rest by the stage functions. */
static void check_edit(struct bag *b, const struct attn_ctx *c, const struct problem *p,
                       struct attn_edit e, struct attn_opts o, int head)
{
    struct attn_trace *t = run_new(b, c, p, o, head);
    struct attn_cmat was[ATTN_TENSOR_COUNT];
    for (int id = ATTN_Q; id <= ATTN_Y; id++) {
        struct attn_cmat m = attn_trace_view(t, (enum attn_tensor)id, e.head);
        was[id] = m.data && id != ATTN_W_O ? readable(input_copy(b, m)) : m;
    }
    assert_int_equal(
        attn_run_edited(c, t, readable(p->x), readable(p->h), &p->w, o, head, &e, 1),
        ATTN_OK);
    for (int id = ATTN_Q; id <= ATTN_P; id++) { /* nothing else before it has changed */
        struct attn_cmat m = attn_trace_view(t, (enum attn_tensor)id, e.head);
        if (!m.data || (int)e.tensor < id) continue;
        for (int i = 0; i < m.rows; i++)
            for (int j = 0; j < m.cols; j++) {
                float v = m.data[(size_t)i * m.ld + j];
                bool here = id == (int)e.tensor && i == e.row && j == e.col;
                float want = here ? e.value : was[id].data[(size_t)i * was[id].ld + j];
                if (!(v == want || (isnan(v) && isnan(want))))
                    fail_msg("tensor %d [%d,%d] is %g, must be %g", id, i, j, (double)v,
                             (double)want);
            }
    }
    if (head != e.head) return;
    int n = p->dims.n_tok;
    struct wanted w = {bag_push(b, (size_t)n * n * sizeof(double)),
                       bag_push(b, (size_t)n * n * sizeof(double))};
    if (e.tensor < ATTN_P) {
        oracle_softmax(w.want, w.bound, view(t, ATTN_S_MASKED, head));
        check_within("edited", view(t, ATTN_P, head), w.want, w.bound);
    }
    struct attn_opts dense = {0}; /* a weight beyond the mask counts, the others are 0 */
    oracle_weighted_sum_as(w.want, w.bound, view(t, ATTN_P, head), view(t, ATTN_V, head),
                           dense);
    check_within("edited", view(t, ATTN_Z, head), w.want, w.bound);
}

static void an_edit_changes_what_follows_and_nothing_before(void **state)
{
    (void)state;
    static const enum attn_tensor tensors[] = {
        ATTN_Q, ATTN_K, ATTN_V, ATTN_S_RAW, ATTN_S_SCALED, ATTN_S_MASKED, ATTN_P};
    struct rng r = {76};
    for (int i = 0; i < 140; i++) {
        struct bag b = {0};
        struct attn_dims d = {i % 3 ? 5 : 40, i % 3 ? 8 : 36, i % 3 ? 2 : 3};
        struct problem p = problem_new(&b, &r, d, i % 2);
        struct attn_ctx c = {.k = case_kernels(i % 2) ? case_kernels(i % 2)
                                                      : case_kernels(0)};
        enum attn_tensor t = tensors[i % 7];
        int cols = t < ATTN_S_RAW ? attn_d_head(d) : d.n_tok;
        struct attn_edit e = {t, rng_int(&r, 0, d.n_head - 1),
                              rng_int(&r, 0, d.n_tok - 1), rng_int(&r, 0, cols - 1),
                              3.0f * rng_unit(&r)};
        struct attn_opts o = attn_opts_default();
        o.causal = i % 5 != 0;
        check_edit(&b, &c, &p, e, o, rng_int(&r, 0, d.n_head - 1));
        bag_empty(&b);
    }
}

static void the_output_has_the_edits_of_heads_out_of_view(void **state)
{
    (void)state;
    struct rng r = {77};
    struct bag b = {0};
    struct attn_dims d = {20, 24, 3};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    for (int t = ATTN_Q; t <= ATTN_P; t++) {
        struct attn_edit e = {(enum attn_tensor)t, 1, 7, 3, 2.5f};
        struct attn_trace *near = run_new(&b, &c, &p, attn_opts_default(), 1);
        struct attn_trace *far = run_new(&b, &c, &p, attn_opts_default(), 2);
        attn_run_edited(&c, near, readable(p.x), readable(p.h), &p.w, attn_opts_default(),
                        1, &e, 1);
        attn_run_edited(&c, far, readable(p.x), readable(p.h), &p.w, attn_opts_default(),
                        2, &e, 1);
        for (int i = 0; i < d.n_tok * d.d_model; i++) {
            size_t at = (size_t)(i / d.d_model) * near->y.ld + i % d.d_model;
            assert_true(fabsf(near->y.data[at] - far->y.data[at]) < 1e-5f);
        }
    }
    bag_empty(&b);
}

/* A row of A with a given weight is judged as it stands; the others by their scores. */
static void a_row_with_a_given_weight_has_its_entropy(void **state)
{
    (void)state;
    struct rng r = {80};
    struct bag b = {0};
    struct problem p = problem_new(&b, &r, (struct attn_dims){7, 8, 2}, true);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    static const float given[] = {0.9f, 0.0f, 40.0f, -0.25f, NAN};
    for (size_t k = 0; k < sizeof given / sizeof given[0]; k++) {
        struct attn_edit e = {ATTN_P, 1, 4, 2, given[k]};
        struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 1);
        assert_int_equal(attn_run_edited(&c, t, readable(p.x), readable(p.h), &p.w,
                                         attn_opts_default(), 1, &e, 1),
                         ATTN_OK);
        for (int i = 0; i < 7; i++) {
            const float *a = t->p.data + (size_t)i * t->p.ld;
            struct attn_row row = attn_trace_row(&c, t, i, NULL);
            double sum = 0, bits = 0, top = 0;
            for (int j = 0; j < 7; j++) sum += (double)a[j];
            for (int j = 0; j < 7; j++) {
                double v = (double)a[j] / sum;
                bits -= v > 0 ? v * log2(v) : 0;
                top = v > top ? v : top;
            }
            if (i == 4 && !(given[k] >= 0.0f)) {
                assert_true(isnan(row.entropy) && isnan(row.top));
                continue;
            }
            assert_true(fabs(bits - (double)row.entropy) < 1e-5);
            assert_true(fabs(top - (double)row.top) < 1e-5);
        }
    }
    bag_empty(&b);
}

static void what_cannot_be_done_is_refused(void **state)
{
    (void)state;
    struct rng r = {78};
    struct bag b = {0};
    struct problem p = problem_new(&b, &r, (struct attn_dims){6, 8, 2}, true);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    for (int i = 0; i < OPTS; i++) {
        struct block_result g = block_new(&b, &r, &c, &p, broken(i));
        assert_int_equal(g.status, ATTN_BAD_OPTS);
        assert_true(fence_untouched(&g.y));
    }
    struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 0);
    const struct attn_opts bad[] = {
        with((struct attn_opts){.temperature = -1.0f}),
        with((struct attn_opts){.temperature = NAN}),
        with((struct attn_opts){.temperature = INFINITY}),
        with((struct attn_opts){.temperature = 2e30f}),
        with((struct attn_opts){.temperature = 4e-31f}),
        with((struct attn_opts){.divisor = ATTN_DIVISOR_COUNT}),
        with((struct attn_opts){.precision = 9})};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(attn_opts_check(bad[i]), ATTN_BAD_OPTS);
        assert_int_equal(attn_run(&c, t, readable(p.x), readable(p.h), &p.w, bad[i], 0),
                         ATTN_BAD_OPTS);
    }
    const struct attn_edit wrong[] = {{ATTN_X, 0, 0, 0, 1.0f}, {ATTN_Q, 2, 0, 0, 1.0f},
                                      {ATTN_Q, 0, 6, 0, 1.0f}, {ATTN_Q, 0, 0, 4, 1.0f},
                                      {ATTN_P, 0, 0, 6, 1.0f}, {ATTN_P, 0, -1, 0, 1.0f},
                                      {ATTN_Z, 0, 0, 0, 1.0f}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(attn_run_edited(&c, t, readable(p.x), readable(p.h), &p.w,
                                         attn_opts_default(), 0, &wrong[i], 1),
                         ATTN_BAD_SHAPE);
    bag_empty(&b);
}

/* The images of every head are those of the runs, whatever is broken. */
static void the_heads_at_a_glance_are_broken_alike(void **state)
{
    (void)state;
    struct rng r = {79};
    struct attn_dims d = {45, 36, 3}; /* a pixel is a cell */
    for (int i = 0; i < OPTS; i++) {
        struct bag b = {0};
        struct problem p = problem_new(&b, &r, d, true);
        struct attn_ctx c = {.k = attn_kernels_get(NULL)};
        struct attn_opts o = broken(i);
        struct attn_trace *t = run_new(&b, &c, &p, o, 0);
        size_t cells = (size_t)d.n_head * d.n_tok * d.n_tok;
        size_t bytes = attn_heads_bytes(d);
        struct attn_head_sum sum[3];
        struct attn_heads_out out = {bag_push(&b, cells * sizeof(float)),
                                     bag_push(&b, cells * sizeof(float)), sum};
        o.swapped = false; /* the trace's qkv is as swapped as it should be */
        assert_int_equal(attn_heads(&c, &out, readable(t->qkv), NULL, o, d,
                                    bag_push(&b, bytes), bytes),
                         ATTN_OK);
        for (int h = 0; h < d.n_head; h++) {
            attn_run_head(&c, t, h);
            struct attn_cmat a = view(t, ATTN_P, h);
            for (int k = 0; k < d.n_tok * d.n_tok; k++) {
                int row = k / d.n_tok;
                int col = k % d.n_tok;
                float want = a.data[(size_t)row * a.ld + col];
                float got = out.weights[(size_t)h * d.n_tok * d.n_tok + k];
                if (!(fabsf(want - got) <= (o.precision ? 5e-3f : 1e-5f)))
                    fail_msg("options %d, head %d [%d,%d]: %g, in the run %g", i, h, row,
                             col, (double)got, (double)want);
            }
        }
        bag_empty(&b);
    }
}

int attn_broken_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_obeyed_at_toy_size),
        cmocka_unit_test(every_option_is_obeyed_at_gpt2_size),
        cmocka_unit_test(options_that_mean_nothing_change_no_bit),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(a_row_is_rounded_as_its_numbers_are),
        cmocka_unit_test(a_difference_names_its_largest_change),
        cmocka_unit_test(without_the_maximum_softmax_overflows),
        cmocka_unit_test(a_row_taken_apart_has_its_temperature),
        cmocka_unit_test(an_edit_changes_what_follows_and_nothing_before),
        cmocka_unit_test(the_output_has_the_edits_of_heads_out_of_view),
        cmocka_unit_test(a_row_with_a_given_weight_has_its_entropy),
        cmocka_unit_test(what_cannot_be_done_is_refused),
        cmocka_unit_test(the_heads_at_a_glance_are_broken_alike),
    };
    return cmocka_run_group_tests_name("broken", tests, NULL, NULL);
}
