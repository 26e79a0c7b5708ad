/* attn: a linear layer of its own, GELU, exp, and packed weights. */
#include "attn_case.h"
#include "oracle.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct attn_linear linear_new(struct bag *b, const struct attn_kernels *k,
                                     struct attn_cmat w, const float *bias)
{
    struct attn_linear l;
    size_t bytes = attn_linear_bytes(k, w.rows, w.cols);
    assert_true(bytes > 0);
    assert_int_equal(attn_linear_pack(k, &l, w, bias, bag_push(b, bytes), bytes),
                     ATTN_OK);
    return l;
}

/* One layer of random shape with every kernel set; what: 0 plain, 1 bias, 2 residual,
 * 3 both. */
static void check_layer(struct rng *r, int n, int rows, int cols, int what)
{
    struct bag b = {0};
    struct attn_cmat x = readable(input_new(&b, r, n, rows, 1.5f));
    struct attn_cmat w = readable(input_new(&b, r, rows, cols, 0.5f));
    const float *bias = what & 1 ? vector_new(&b, r, cols, 2.0f) : NULL;
    struct attn_cmat res = {0};
    if (what & 2) res = readable(input_new(&b, r, n, cols, 2.0f));
    double *want = bag_push(&b, (size_t)n * cols * sizeof *want);
    double *bound = bag_push(&b, (size_t)n * cols * sizeof *bound);
    oracle_output(want, bound, x, w, bias, res);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct where at =
            where_is(c.k, "layer N=%d %d to %d, case %d", n, rows, cols, what);
        struct attn_linear l = linear_new(&b, c.k, w, bias);
        struct fence y = fence_new(&b, r, n, cols);
        assert_int_equal(attn_linear_apply(&c, y.m, x, &l, ATTN_IDENTITY, res), ATTN_OK);
        check_within(at.text, readable(y.m), want, bound);
        fence_check(&y, at.text);
    }
    bag_empty(&b);
}

static void a_layer_stays_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {81};
    for (int i = 0; i < 400; i++)
        check_layer(&r, 1 + (i * 7) % 70, 1 + (i * 13) % 80, 1 + (i * 29) % 150, i % 4);
    check_layer(&r, 3, 1, 50257, 1); /* as wide as GPT-2's vocabulary */
    check_layer(&r, 2, 3072, 33, 3); /* as deep as its MLP */
    check_layer(&r, 390, 5, 7, 3);
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

/* GELU's slope is at most 1.13; its own error is a few units of 2^-24 of |x|, the tail
 * towards 0 being a difference. */
static void gelu_follows_gpt2s_formula(void **state)
{
    (void)state;
    struct rng r = {82};
    for (int i = 0; i < 150; i++) {
        struct bag b = {0};
        int n = 1 + (i * 11) % 40;
        int cols = 1 + (i * 29) % 140;
        struct attn_cmat x = readable(input_new(&b, &r, n, 5, i % 2 ? 3.0f : 0.2f));
        struct attn_cmat w = readable(input_new(&b, &r, 5, cols, 2.0f));
        struct attn_cmat none = {0};
        const float *bias = vector_new(&b, &r, cols, i % 2 ? 5.0f : 0.1f);
        double *want = bag_push(&b, (size_t)n * cols * sizeof *want);
        double *bound = bag_push(&b, (size_t)n * cols * sizeof *bound);
        oracle_output(want, bound, x, w, bias, none);
        for (int e = 0; e < n * cols; e++) {
            bound[e] = 1.13 * bound[e] + 8 * 0x1p-24 * fabs(want[e]);
            want[e] = gelu(want[e]);
        }
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where at = where_is(c.k, "GELU N=%d to %d", n, cols);
            struct attn_linear l = linear_new(&b, c.k, w, bias);
            struct fence y = fence_new(&b, &r, n, cols);
            assert_int_equal(attn_linear_apply(&c, y.m, x, &l, ATTN_GELU, none), ATTN_OK);
            check_within(at.text, readable(y.m), want, bound);
            fence_check(&y, at.text);
        }
        bag_empty(&b);
    }
}

static void a_layer_refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct rng r = {83};
    struct bag b = {0};
    struct attn_cmat x = readable(input_new(&b, &r, 4, 6, 1));
    struct attn_cmat w = readable(input_new(&b, &r, 6, 9, 1));
    struct attn_cmat res = readable(input_new(&b, &r, 4, 9, 1));
    struct attn_cmat none = {0};
    struct fence y = fence_new(&b, &r, 4, 9);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        size_t bytes = attn_linear_bytes(c.k, 6, 9);
        void *mem = bag_push(&b, bytes);
        struct attn_linear l;
        assert_int_equal(attn_linear_pack(c.k, &l, w, NULL, mem, bytes - 1),
                         ATTN_NO_ROOM);
        assert_int_equal(attn_linear_pack(c.k, &l, none, NULL, mem, bytes),
                         ATTN_BAD_SHAPE);
        assert_int_equal(attn_linear_bytes(c.k, 0, 9), 0);
        assert_int_equal(attn_linear_bytes(c.k, 6, -9), 0);
        l = linear_new(&b, c.k, w, NULL);
        struct attn_mat few = {y.m.data, 3, 9, y.m.ld};
        struct attn_mat slim = {y.m.data, 4, 8, y.m.ld};
        struct attn_mat tight = {y.m.data, 4, 9, 8};
        struct attn_cmat bad = {x.data, 4, 5, x.ld};
        struct attn_cmat other = {res.data, 4, 8, res.ld};
        const enum attn_status got[] = {
            attn_linear_apply(&c, few, x, &l, ATTN_IDENTITY, none),
            attn_linear_apply(&c, slim, x, &l, ATTN_IDENTITY, none),
            attn_linear_apply(&c, tight, x, &l, ATTN_IDENTITY, none),
            attn_linear_apply(&c, y.m, bad, &l, ATTN_IDENTITY, none),
            attn_linear_apply(&c, y.m, x, &l, ATTN_IDENTITY, other),
            attn_linear_apply(&c, y.m, x, &l, ATTN_GELU, res),
        };
        for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
            assert_int_equal(got[i], ATTN_BAD_SHAPE);
        for (int k = 0; case_kernels(k); k++) { /* panels of another kernel set */
            struct attn_linear foreign = linear_new(&b, case_kernels(k), w, NULL);
            if (k != a)
                assert_int_equal(
                    attn_linear_apply(&c, y.m, x, &foreign, ATTN_IDENTITY, none),
                    ATTN_BAD_SHAPE);
        }
        assert_true(fence_untouched(&y));
    }
    bag_empty(&b);
}

/* Two units in the last place, and half of the smallest number where the result is
 * subnormal. */
static void check_exp(const char *where, float x, float y)
{
    double want = exp((double)x);
    if (isnan(x)) {
        assert_true(isnan(y));
    } else if (want > (double)FLT_MAX * (1 + 0x1p-22)) {
        assert_true(y == INFINITY);
    } else {
        double off = fabs((double)y - want);
        if (!(off <= 4 * 0x1p-24 * want + (double)FLT_TRUE_MIN) && !isinf(y))
            fail_msg("%s: e^%.9g is %.9g, not %.9g", where, (double)x, (double)y, want);
        if (isinf(y)) assert_true(want > (double)FLT_MAX * (1 - 0x1p-21));
    }
}

static void exp_is_right_to_two_units_for_any_x(void **state)
{
    (void)state;
    enum { N = 4099 };
    const float odd[] = {NAN,      INFINITY, -INFINITY, 0.0f,    -0.0f,     1e30f,
                         -1e30f,   88.72f,   88.73f,    -87.33f, -87.34f,   -103.9f,
                         -103.98f, -104.0f,  -150.0f,   1e-30f,  -1e-30f,   3.4e38f,
                         89.0f,    88.9f,    -103.0f,   1e-45f,  0x1p-149f, -3.4e38f};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct rng r = {84};
        struct bag b = {0};
        struct fence y = fence_new(&b, &r, 1, N);
        float *x = vector_new(&b, &r, N, 0);
        for (int pass = 0; pass < 16; pass++) {
            for (int i = 0; i < N; i++) x[i] = rng_unit(&r) * (pass % 2 ? 110.0f : 2.0f);
            memcpy(x + pass, odd, sizeof odd);
            int n = N - pass * (1 + pass);
            fence_fill(&y);
            attn_exp(&c, y.m.data, x, n);
            for (int i = 0; i < n; i++)
                check_exp(attn_kernels_name(c.k), x[i], y.m.data[i]);
            for (int i = n; i < N; i++) assert_true(fence_has_pattern(&y, 0, i));
            fence_check(&y, "exp");
            attn_exp(&c, x, x, n); /* in place */
            assert_memory_equal(x, y.m.data, (size_t)n * sizeof *x);
        }
        bag_empty(&b);
    }
}

static void packed_weights_change_no_bit_of_a_run(void **state)
{
    (void)state;
    struct rng r = {85};
    const struct attn_dims sizes[] = {{5, 8, 2}, {33, 51, 3}, {70, 100, 25}, {3, 400, 5}};
    for (int i = 0; i < 4; i++) {
        struct bag b = {0};
        struct problem p = problem_new(&b, &r, sizes[i], i % 2);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct problem fast = p;
            struct attn_trace *plain = run_new(&b, &c, &p, attn_opts_default(), 1);
            for (int k = 0; case_kernels(k); k++) { /* another set's are passed over */
                fast.w.packed = packed_new(&b, case_kernels(k), &p);
                struct attn_trace *t = run_new(&b, &c, &fast, attn_opts_default(), 1);
                struct where w =
                    where_is(c.k, "packed for %s, d=%d",
                             attn_kernels_name(case_kernels(k)), sizes[i].d_model);
                check_same(w.text, readable(plain->qkv), readable(t->qkv));
                check_same(w.text, readable(plain->p), readable(t->p));
                check_same(w.text, readable(plain->z), readable(t->z));
                check_same(w.text, readable(plain->y), readable(t->y));
            }
        }
        bag_empty(&b);
    }
}

static void the_erf_form_of_gelu_is_the_gaussians(void **state)
{
    (void)state;
    enum { N = 70, COLS = 61 };
    struct rng r = {84};
    struct bag b = {0};
    struct attn_cmat x = readable(input_new(&b, &r, N, 1, 6.0f));
    struct attn_cmat w = readable(input_new(&b, &r, 1, COLS, 1.0f));
    struct attn_ctx c = {.pool = attn_pool_create(3)};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct attn_linear l = linear_new(&b, c.k, w, NULL);
        struct fence y = fence_new(&b, &r, N, COLS);
        assert_int_equal(
            attn_linear_apply(&c, y.m, x, &l, ATTN_GELU_ERF, (struct attn_cmat){0}),
            ATTN_OK);
        fence_check(&y, "gelu by erf");
        for (int i = 0; i < N; i++)
            for (int j = 0; j < COLS; j++) {
                double t = (double)(x.data[(size_t)i * x.ld] * w.data[j]);
                double want = 0.5 * t * erfc(-t * sqrt(0.5));
                assert_true(fabs((double)y.m.data[(size_t)i * y.m.ld + j] - want) <=
                            4 * (double)FLT_EPSILON * fmax(1, fabs(t)));
            }
        assert_int_equal(attn_linear_apply(&c, y.m, x, &l, ATTN_GELU_ERF, readable(y.m)),
                         ATTN_BAD_SHAPE);
    }
    attn_pool_destroy(c.pool);
    bag_empty(&b);
}

static void a_column_of_a_layer_is_given_back_to_the_bit(void **state)
{
    (void)state;
    struct rng r = {85};
    for (int i = 0; i < 40; i++) {
        struct bag b = {0};
        int rows = 1 + (i * 7) % 40, cols = 1 + (i * 31) % 200;
        struct attn_cmat w = readable(input_new(&b, &r, rows, cols, 1.0f));
        const struct attn_kernels *k;
        for (int a = 0; (k = case_kernels(a)); a++) {
            struct attn_linear l = linear_new(&b, k, w, NULL);
            float *out = bag_push(&b, (size_t)rows * sizeof *out);
            for (int j = 0; j < cols; j++) {
                assert_int_equal(attn_linear_column(&l, out, j), ATTN_OK);
                for (int t = 0; t < rows; t++)
                    assert_true(out[t] == w.data[(size_t)t * w.ld + j]);
            }
            assert_int_equal(attn_linear_column(&l, out, cols), ATTN_BAD_SHAPE);
            assert_int_equal(attn_linear_column(&l, out, -1), ATTN_BAD_SHAPE);
        }
        bag_empty(&b);
    }
}

/* |v_j W_O| row by row in double; a NaN stays in its row; threads change no bit. */
static void reach_is_the_length_of_a_value_behind_w_o(void **state)
{
    (void)state;
    struct rng r = {83};
    for (int i = 0; i < 60; i++) {
        struct bag b = {0};
        int n = 1 + (i * 7) % 50, d_head = 1 + (i * 5) % 20, d = 1 + (i * 11) % 90;
        struct attn_mat values = input_new(&b, &r, n, d_head, 2.0f);
        struct attn_cmat v = readable(values);
        struct attn_cmat w = readable(input_new(&b, &r, d_head, d, 0.5f));
        struct attn_ctx c = {0};
        if (n > 3) values.data[(size_t)2 * values.ld] = NAN;
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            float *reach = bag_push(&b, (size_t)n * sizeof *reach);
            struct fence work = fence_new(&b, &r, n, d);
            assert_int_equal(attn_reach(&c, reach, work.m, v, w), ATTN_OK);
            fence_check(&work, "reach");
            for (int j = 0; j < n; j++) {
                double sum = 0, mass = 0;
                for (int k = 0; k < d; k++) {
                    double y = 0;
                    for (int t = 0; t < d_head; t++) {
                        double part = (double)v.data[(size_t)j * v.ld + t] *
                                      (double)w.data[(size_t)t * w.ld + k];
                        y += part;
                        mass += fabs(part);
                    }
                    sum += y * y;
                }
                if (isnan(sum))
                    assert_true(isnan(reach[j]));
                else
                    assert_true(fabs((double)reach[j] - sqrt(sum)) <=
                                (double)FLT_EPSILON * (d_head + 2) * (mass + 1));
            }
            struct attn_cmat other = w;
            other.rows++;
            assert_int_equal(attn_reach(&c, reach, work.m, v, other), ATTN_BAD_SHAPE);
        }
        bag_empty(&b);
    }
}

int attn_linear_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_stays_within_the_rounding_bound),
        cmocka_unit_test(gelu_follows_gpt2s_formula),
        cmocka_unit_test(a_layer_refuses_what_does_not_fit),
        cmocka_unit_test(exp_is_right_to_two_units_for_any_x),
        cmocka_unit_test(packed_weights_change_no_bit_of_a_run),
        cmocka_unit_test(the_erf_form_of_gelu_is_the_gaussians),
        cmocka_unit_test(a_column_of_a_layer_is_given_back_to_the_bit),
        cmocka_unit_test(reach_is_the_length_of_a_value_behind_w_o),
    };
    return cmocka_run_group_tests_name("attn linear", tests, NULL, NULL);
}
