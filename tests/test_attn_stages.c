/* attn, stage by stage: each function alone against the float64 oracle over shapes that
 * cross every vector width and tile, for every kernel set. */
#include "attn_case.h"
#include "oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Shapes of one head: N and d_head; every N of 1..70 with a dozen widths that walk
 * through all of 1..80, then 1,024 tokens. */
struct shape {
    int n, d;
};
static bool shape_at(struct shape *s, int i)
{
    const int widths = 12;
    if (i < 70 * widths) {
        *s = (struct shape){1 + i / widths, 1 + (17 * i + i / widths) % 80};
        return true;
    }
    static const struct shape more[] = {{1024, 64}, {1024, 1}, {129, 80},
                                        {200, 7},   {771, 3},  {386, 9}};
    if ((size_t)(i - 70 * widths) >= sizeof more / sizeof more[0]) return false;
    *s = more[i - 70 * widths];
    return true;
}

static double *room(struct bag *b, int rows, int cols)
{
    return bag_push(b, (size_t)rows * cols * sizeof(double));
}

static void scores_stay_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {1};
    struct shape s;
    for (int i = 0; shape_at(&s, i); i++) {
        struct bag b = {0};
        struct attn_cmat q = readable(input_new(&b, &r, s.n, s.d, 3.0f));
        struct attn_cmat k = readable(input_new(&b, &r, s.n, s.d, 3.0f));
        double *want = room(&b, s.n, s.n);
        double *bound = room(&b, s.n, s.n);
        oracle_scores(want, bound, q, k);
        struct attn_ctx c = {0};
        for (int v = 0; (c.k = case_kernels(v)); v++) {
            struct where w = where_is(c.k, "scores N=%d d_head=%d", s.n, s.d);
            struct fence out = fence_new(&b, &r, s.n, s.n);
            assert_int_equal(attn_scores(&c, out.m, q, k), ATTN_OK);
            check_within(w.text, readable(out.m), want, bound);
            fence_check(&out, w.text);
        }
        bag_empty(&b);
    }
}

static void projection_stays_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {2};
    struct shape s;
    for (int i = 0; shape_at(&s, i); i++) {
        if (s.n == 1024 && s.d == 1) s = (struct shape){2, 2000}; /* 25 heads of 80 */
        struct bag b = {0};
        struct attn_cmat x = readable(input_new(&b, &r, s.n, s.d, 1.7f));
        struct attn_cmat w = readable(input_new(&b, &r, s.d, 3 * s.d, 0.5f));
        const float *bias = i % 2 ? vector_new(&b, &r, 3 * s.d, 2.0f) : NULL;
        double *want = room(&b, s.n, 3 * s.d);
        double *bound = room(&b, s.n, 3 * s.d);
        oracle_project(want, bound, x, w, bias);
        struct attn_ctx c = {0};
        for (int v = 0; (c.k = case_kernels(v)); v++) {
            struct where at = where_is(c.k, "projection N=%d d=%d", s.n, s.d);
            struct fence out = fence_new(&b, &r, s.n, 3 * s.d);
            assert_int_equal(attn_project(&c, out.m, x, w, bias), ATTN_OK);
            check_within(at.text, readable(out.m), want, bound);
            fence_check(&out, at.text);
        }
        bag_empty(&b);
    }
}

static void check_scaled(const char *where, struct attn_cmat got, struct attn_cmat s,
                         int d_head)
{
    for (int i = 0; i < s.rows; i++) {
        for (int j = 0; j < s.cols; j++) {
            float g = got.data[(size_t)i * got.ld + j];
            float from = s.data[(size_t)i * s.ld + j];
            float want = oracle_scaled(from, d_head);
            bool same =
                isnan(want) ? isnan(g) : g == want && !signbit(g) == !signbit(want);
            if (!same)
                fail_msg("%s: %.9g became %.9g, not %.9g", where, (double)from, (double)g,
                         (double)want);
        }
    }
}

static void scaling_is_correctly_rounded(void **state)
{
    (void)state;
    struct rng r = {3};
    const float edges[] = {0.0f,     -0.0f, 1e4f,   -1e4f,     3e38f,     -INFINITY,
                           INFINITY, NAN,   1e-38f, 0x1p-149f, 0x3p-149f, 1.0f};
    for (int d = 1; d <= 80; d++) {
        struct bag b = {0};
        int n = d == 64 ? 300 : 1 + (d * 13) % 70;
        struct attn_mat s = input_new(&b, &r, n, n, d % 2 ? 1e4f : 5.0f);
        for (int j = 0; j < n && j < 12; j++) s.data[j] = edges[(j + d) % 12];
        struct attn_ctx c = {0};
        for (int v = 0; (c.k = case_kernels(v)); v++) {
            struct where w = where_is(c.k, "scale N=%d d_head=%d", n, d);
            struct fence out = fence_new(&b, &r, n, n);
            assert_int_equal(attn_scale(&c, out.m, readable(s), d), ATTN_OK);
            fence_check(&out, w.text);
            check_scaled(w.text, readable(out.m), readable(s), d);
            struct attn_mat same = input_copy(&b, readable(s));
            assert_int_equal(attn_scale(&c, same, readable(same), d), ATTN_OK);
            check_same(w.text, readable(same), readable(out.m));
        }
        bag_empty(&b);
    }
}

static void the_mask_hides_the_future_and_nothing_else(void **state)
{
    (void)state;
    struct rng r = {4};
    for (int n = 1; n <= 70; n++) {
        struct bag b = {0};
        struct attn_mat s = input_new(&b, &r, n, n, 5.0f);
        for (int i = 0; i < n; i++) /* whatever s holds there */
            for (int j = i + 1; j < n; j += 3) s.data[(size_t)i * s.ld + j] = NAN;
        s.data[(size_t)(n - 1) * s.ld] = NAN; /* this one belongs */
        struct attn_ctx c = {0};
        for (int v = 0; (c.k = case_kernels(v)); v++) {
            struct where w = where_is(c.k, "mask N=%d", n);
            struct fence out = fence_new(&b, &r, n, n);
            assert_int_equal(attn_mask(&c, out.m, readable(s)), ATTN_OK);
            fence_check(&out, w.text);
            struct attn_mat want = input_copy(&b, readable(s));
            for (int i = 0; i < n; i++)
                for (int j = i + 1; j < n; j++) want.data[i * n + j] = -INFINITY;
            check_same(w.text, readable(out.m), readable(want));
            struct attn_mat same = input_copy(&b, readable(s));
            assert_int_equal(attn_mask(&c, same, readable(same)), ATTN_OK);
            check_same(w.text, readable(same), readable(want));
        }
        bag_empty(&b);
    }
}

static void the_weighted_sum_stays_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {6};
    struct shape s;
    for (int i = 0; shape_at(&s, i); i++) {
        bool causal = i % 2;
        struct bag b = {0};
        /* Above the diagonal P is not zero: a causal sum does not look there. */
        struct attn_cmat p = readable(input_new(&b, &r, s.n, s.n, 1.0f));
        struct attn_cmat v = readable(input_new(&b, &r, s.n, s.d, 3.0f));
        double *want = room(&b, s.n, s.d);
        double *bound = room(&b, s.n, s.d);
        oracle_weighted_sum(want, bound, p, v, causal);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w =
                where_is(c.k, "sum N=%d d_head=%d causal=%d", s.n, s.d, causal);
            struct fence out = fence_new(&b, &r, s.n, s.d);
            assert_int_equal(attn_weighted_sum(&c, out.m, p, v, causal), ATTN_OK);
            check_within(w.text, readable(out.m), want, bound);
            fence_check(&out, w.text);
        }
        bag_empty(&b);
    }
}

static void the_output_stays_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {7};
    struct shape s;
    for (int i = 0; shape_at(&s, i); i++) {
        struct bag b = {0};
        struct attn_cmat z = readable(input_new(&b, &r, s.n, s.d, 1.0f));
        struct attn_cmat w = readable(input_new(&b, &r, s.d, s.d, 0.5f));
        struct attn_cmat h = {0};
        if (i & 1) h = readable(input_new(&b, &r, s.n, s.d, 2.0f));
        const float *bias = i & 2 ? vector_new(&b, &r, s.d, 2.0f) : NULL;
        double *want = room(&b, s.n, s.d);
        double *bound = room(&b, s.n, s.d);
        oracle_output(want, bound, z, w, bias, h);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where at = where_is(c.k, "output N=%d d=%d case %d", s.n, s.d, i & 3);
            struct fence out = fence_new(&b, &r, s.n, s.d);
            assert_int_equal(attn_output(&c, out.m, z, w, bias, h), ATTN_OK);
            check_within(at.text, readable(out.m), want, bound);
            fence_check(&out, at.text);
        }
        bag_empty(&b);
    }
}

static void the_residual_is_added_last(void **state)
{
    (void)state;
    struct rng r = {8};
    struct bag b = {0};
    struct attn_cmat z = readable(input_new(&b, &r, 19, 37, 1.0f));
    struct attn_cmat w = readable(input_new(&b, &r, 37, 37, 0.5f));
    struct attn_cmat h = readable(input_new(&b, &r, 19, 37, 200.0f));
    const float *bias = vector_new(&b, &r, 37, 2.0f);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct fence with = fence_new(&b, &r, 19, 37);
        struct fence without = fence_new(&b, &r, 19, 37);
        struct attn_cmat none = {0};
        assert_int_equal(attn_output(&c, with.m, z, w, bias, h), ATTN_OK);
        assert_int_equal(attn_output(&c, without.m, z, w, bias, none), ATTN_OK);
        for (int i = 0; i < 19; i++)
            for (int j = 0; j < 37; j++)
                without.m.data[i * without.m.ld + j] += h.data[i * h.ld + j];
        check_same("y and y_proj + h", readable(with.m), readable(without.m));
    }
    bag_empty(&b);
}

static void layer_norm_stays_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {9};
    for (int d = 1; d <= 100; d++) {
        struct bag b = {0};
        int n = 1 + (d * 7) % 12;
        int wide = d == 100 ? 2000 : d;
        struct attn_mat h = input_new(&b, &r, n, wide, d % 3 ? 2.0f : 1e-3f);
        const float *gain = d & 1 ? vector_new(&b, &r, wide, 2.0f) : NULL;
        const float *bias = d & 2 ? vector_new(&b, &r, wide, 2.0f) : NULL;
        double *want = room(&b, n, wide);
        double *bound = room(&b, n, wide);
        oracle_layer_norm(want, bound, readable(h), gain, bias, (double)1e-5f);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "layer norm N=%d d=%d", n, wide);
            struct fence out = fence_new(&b, &r, n, wide);
            assert_int_equal(attn_layer_norm(&c, out.m, readable(h), gain, bias, 1e-5f),
                             ATTN_OK);
            check_within(w.text, readable(out.m), want, bound);
            fence_check(&out, w.text);
        }
        bag_empty(&b);
    }
}

/* One pass, E(h^2) - E(h)^2, loses 1e6 * 2^-24 of a variance of 1 in float32; a variance
 * about a float32 mean loses less, but shows at a mean of 1e6. */
static void layer_norm_survives_a_large_mean(void **state)
{
    (void)state;
    struct rng r = {10};
    const double means[] = {1e3, -1e3, 1e6};
    for (int m = 0; m < 3; m++) {
        struct bag b = {0};
        struct attn_mat h = input_new(&b, &r, 4, 768, 1.7f);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 768; j++) h.data[(size_t)i * h.ld + j] += (float)means[m];
        double *want = room(&b, 4, 768);
        double *bound = room(&b, 4, 768);
        oracle_layer_norm(want, bound, readable(h), NULL, NULL, (double)1e-5f);
        for (int i = 0; i < 4 * 768; i++)
            assert_true(bound[i] <= 1e-3 * (1e-3 + fabs(want[i])));
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "layer norm of mean %g", means[m]);
            struct fence out = fence_new(&b, &r, 4, 768);
            assert_int_equal(attn_layer_norm(&c, out.m, readable(h), NULL, NULL, 1e-5f),
                             ATTN_OK);
            check_within(w.text, readable(out.m), want, bound);
        }
        bag_empty(&b);
    }
}

static void a_constant_row_normalises_to_the_bias(void **state)
{
    (void)state;
    struct rng r = {11};
    struct bag b = {0};
    struct attn_mat h = input_new(&b, &r, 3, 33, 0.0f);
    for (int j = 0; j < 33; j++) h.data[h.ld + j] = 0.1f;
    for (int j = 0; j < 33; j++) h.data[2 * h.ld + j] = NAN;
    const float *bias = vector_new(&b, &r, 33, 2.0f);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct fence out = fence_new(&b, &r, 3, 33);
        assert_int_equal(attn_layer_norm(&c, out.m, readable(h), NULL, bias, 1e-5f),
                         ATTN_OK);
        for (int j = 0; j < 33; j++) {
            float zero_row = out.m.data[j];
            float row = out.m.data[out.m.ld + j];
            assert_true(zero_row == bias[j]);
            assert_true(fabsf(row - bias[j]) <= 1e-6f);
            assert_true(isnan(out.m.data[2 * out.m.ld + j]));
        }
    }
    bag_empty(&b);
}

/* Row i reads K_j and V_j for no j > i. Stage 2 is dense and shows what is there, so a
 * NaN reaches S; the mask takes it out, and the sum does not multiply it by zero. */
static void a_forbidden_key_or_value_never_reaches_a_row(void **state)
{
    (void)state;
    struct rng r = {12};
    const float poison[] = {NAN, INFINITY, -INFINITY, 3e38f};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        for (int t = 0; t < 40; t++) {
            struct bag b = {0};
            int n = t < 36 ? 2 + (t * 11) % 60 : 420 + 3 * t;
            int d = 1 + (t * 7) % 40;
            int j = rng_int(&r, t < 36 ? 1 : 380, n - 1);
            struct where w = where_is(c.k, "poison N=%d d_head=%d j=%d", n, d, j);
            struct attn_cmat q = readable(input_new(&b, &r, n, d, 2.0f));
            struct attn_mat k = input_new(&b, &r, n, d, 2.0f);
            struct attn_mat v = input_new(&b, &r, n, d, 2.0f);
            struct fence z[2];
            struct fence s = fence_new(&b, &r, n, n);
            for (int pass = 0; pass < 2; pass++) {
                z[pass] = fence_new(&b, &r, n, d);
                assert_int_equal(attn_scores(&c, s.m, q, readable(k)), ATTN_OK);
                assert_int_equal(attn_scale(&c, s.m, readable(s.m), d), ATTN_OK);
                assert_int_equal(attn_mask(&c, s.m, readable(s.m)), ATTN_OK);
                assert_int_equal(attn_softmax(&c, s.m, readable(s.m), NULL), ATTN_OK);
                assert_int_equal(
                    attn_weighted_sum(&c, z[pass].m, readable(s.m), readable(v), true),
                    ATTN_OK);
                for (int e = 0; e < d; e++) {
                    if (t & 1) k.data[(size_t)j * k.ld + e] = poison[t % 4];
                    if (t & 2 || !(t & 1)) v.data[(size_t)j * v.ld + e] = poison[t % 4];
                }
            }
            check_same_rows(w.text, readable(z[0].m), readable(z[1].m), j);
            bag_empty(&b);
        }
    }
}

static void a_visible_nan_value_stays_nan_though_its_weight_is_zero(void **state)
{
    (void)state;
    struct rng r = {13};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        for (int n = 2; n < 40; n += 5) {
            struct bag b = {0};
            struct attn_mat p = input_new(&b, &r, n, n, 0.0f);
            struct attn_mat v = input_new(&b, &r, n, 9, 1.0f);
            v.data[v.ld + 4] = NAN; /* of token 1 */
            struct fence z = fence_new(&b, &r, n, 9);
            for (int causal = 0; causal < 2; causal++) {
                assert_int_equal(
                    attn_weighted_sum(&c, z.m, readable(p), readable(v), causal),
                    ATTN_OK);
                for (int i = 0; i < n; i++)
                    for (int e = 0; e < 9; e++)
                        assert_int_equal(!!isnan(z.m.data[(size_t)i * z.m.ld + e]),
                                         e == 4 && (i >= 1 || !causal));
            }
            bag_empty(&b);
        }
    }
}

int attn_stage_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_stay_within_the_rounding_bound),
        cmocka_unit_test(projection_stays_within_the_rounding_bound),
        cmocka_unit_test(scaling_is_correctly_rounded),
        cmocka_unit_test(the_mask_hides_the_future_and_nothing_else),
        cmocka_unit_test(the_weighted_sum_stays_within_the_rounding_bound),
        cmocka_unit_test(the_output_stays_within_the_rounding_bound),
        cmocka_unit_test(the_residual_is_added_last),
        cmocka_unit_test(layer_norm_stays_within_the_rounding_bound),
        cmocka_unit_test(layer_norm_survives_a_large_mean),
        cmocka_unit_test(a_constant_row_normalises_to_the_bias),
        cmocka_unit_test(a_forbidden_key_or_value_never_reaches_a_row),
        cmocka_unit_test(a_visible_nan_value_stays_nan_though_its_weight_is_zero),
    };
    return cmocka_run_group_tests_name("attn stages", tests, NULL, NULL);
}
