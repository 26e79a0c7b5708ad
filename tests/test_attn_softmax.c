/* attn, stage 5: what softmax promises of every row. */
#include "attn_case.h"
#include "oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double row_sum(struct attn_cmat p, int i)
{
    double sum = 0;
    for (int j = 0; j < p.cols; j++) sum += (double)p.data[(size_t)i * p.ld + j];
    return sum;
}

/* Random scores of a size that goes by t; now and then -INFINITY, at times a whole row. */
static struct attn_mat random_scores(struct bag *b, struct rng *r, int n, int t)
{
    const float amplitude[] = {1.0f, 30.0f, 1e4f, 100.0f, 1e-3f};
    struct attn_mat s = input_new(b, r, n, n, amplitude[t % 5]);
    for (int i = 0; i < n; i++) {
        bool empty = t % 3 == 1 && i % 7 == 3;
        for (int j = 0; j < n; j++)
            if (empty || (t % 2 && rng_int(r, 0, 3) == 0))
                s.data[(size_t)i * s.ld + j] = -INFINITY;
    }
    return s;
}

static void check_softmax(struct bag *b, struct rng *r, struct attn_cmat s)
{
    int n = s.rows;
    double *want = bag_push(b, (size_t)n * n * sizeof *want);
    double *bound = bag_push(b, (size_t)n * n * sizeof *bound);
    int empty = oracle_softmax(want, bound, s);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct where w = where_is(c.k, "softmax N=%d", n);
        struct fence p = fence_new(b, r, n, n);
        int64_t n_empty = 77; /* set, not added to */
        assert_int_equal(attn_softmax(&c, p.m, s, &n_empty), ATTN_OK);
        check_within(w.text, readable(p.m), want, bound);
        fence_check(&p, w.text);
        assert_int_equal(n_empty, empty);
        struct attn_mat same = input_copy(b, s);
        assert_int_equal(attn_softmax(&c, same, readable(same), NULL), ATTN_OK);
        check_same(w.text, readable(same), readable(p.m));
        for (int i = 0; i < n; i++) {
            bool any = false;
            for (int j = 0; j < n; j++) {
                bool hidden = s.data[(size_t)i * s.ld + j] == -INFINITY;
                any = any || !hidden;
                float got = p.m.data[(size_t)i * p.m.ld + j];
                if (hidden) assert_true(got == 0 && !signbit(got));
                if (!hidden) assert_true(got >= 0 && got <= 1);
            }
            /* Whatever exp gave, the weights are its parts of their own sum. */
            assert_true(fabs(row_sum(readable(p.m), i) - any) <= (n + 3) * 0x1p-24);
        }
    }
}

static void softmax_stays_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {21};
    for (int t = 0; t < 70 * 5; t++) {
        struct bag b = {0};
        check_softmax(&b, &r, readable(random_scores(&b, &r, 1 + t / 5, t)));
        bag_empty(&b);
    }
    for (int t = 1; t < 3; t++) {
        struct bag b = {0};
        check_softmax(&b, &r, readable(random_scores(&b, &r, 1024, t)));
        bag_empty(&b);
    }
}

/* Fills an n x n matrix with one row of scores and returns softmax's first row. */
static void softmax_of(const struct attn_ctx *c, float *p, const float *s, int n)
{
    float block[64];
    assert_true(n * n <= 64);
    for (int i = 0; i < n; i++) memcpy(block + (size_t)i * n, s, (size_t)n * sizeof *s);
    struct attn_mat m = {block, n, n, n};
    assert_int_equal(attn_softmax(c, m, readable(m), NULL), ATTN_OK);
    memcpy(p, block, (size_t)n * sizeof *p);
}

static void large_scores_give_one_hot_and_small_differences_stay(void **state)
{
    (void)state;
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        float p[5];
        softmax_of(&c, p,
                   (const float[]){-249.87f, -424.13f, -460.29f, 378.10f, -292.61f}, 5);
        for (int j = 0; j < 5; j++) assert_true(p[j] == (j == 3 ? 1.0f : 0.0f));
        softmax_of(&c, p, (const float[]){-1000, -1001, -1002}, 3);
        const double want[] = {0.66524095577482, 0.24472847105479, 0.09003057317038};
        for (int j = 0; j < 3; j++) assert_true(fabs((double)p[j] - want[j]) < 1e-6);
        softmax_of(&c, p, (const float[]){1e4f, -1e4f, 1e4f, 0}, 4);
        assert_true(p[0] == 0.5f && p[1] == 0 && p[2] == 0.5f && p[3] == 0);
        softmax_of(&c, p, (const float[]){3.4e38f, -3.4e38f}, 2);
        assert_true(p[0] == 1 && p[1] == 0);
        softmax_of(&c, p, (const float[]){-3.4e38f}, 1);
        assert_true(p[0] == 1);
    }
}

/* Scores in steps of 2^-6 plus a multiple of it are exact, so that s - max, and with it
 * every later number, is the same. */
static void adding_a_constant_to_a_row_keeps_p(void **state)
{
    (void)state;
    struct rng r = {22};
    const float constants[] = {1.0f, -1000.0f, 9000.5f, -0.015625f};
    for (int n = 1; n <= 70; n++) {
        struct bag b = {0};
        struct attn_mat s = input_new(&b, &r, n, n, 0.0f);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                s.data[(size_t)i * s.ld + j] = (float)rng_int(&r, -640, 640) / 64.0f;
        struct attn_mat moved = input_copy(&b, readable(s));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) moved.data[i * n + j] += constants[i % 4];
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "shift N=%d", n);
            struct fence p = fence_new(&b, &r, n, n);
            struct fence q = fence_new(&b, &r, n, n);
            assert_int_equal(attn_softmax(&c, p.m, readable(s), NULL), ATTN_OK);
            assert_int_equal(attn_softmax(&c, q.m, readable(moved), NULL), ATTN_OK);
            check_same(w.text, readable(p.m), readable(q.m));
        }
        bag_empty(&b);
    }
}

static void a_wholly_masked_row_is_zero_and_counted(void **state)
{
    (void)state;
    struct rng r = {23};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        for (int n = 1; n <= 40; n++) {
            struct bag b = {0};
            struct attn_mat s = input_new(&b, &r, n, n, 2.0f);
            int empty = 0;
            for (int i = 0; i < n; i += 2, empty++)
                for (int j = 0; j < n; j++) s.data[(size_t)i * s.ld + j] = -INFINITY;
            struct fence p = fence_new(&b, &r, n, n);
            int64_t counted = -1;
            assert_int_equal(attn_softmax(&c, p.m, readable(s), &counted), ATTN_OK);
            assert_int_equal(counted, empty);
            for (int i = 0; i < n; i += 2)
                for (int j = 0; j < n; j++)
                    assert_true(p.m.data[(size_t)i * p.m.ld + j] == 0);
            bag_empty(&b);
        }
    }
}

/* Row `bad` is NaN but for column `hidden`, which is zero in every row. */
static void check_spoiled(struct attn_cmat p, int bad, int hidden)
{
    for (int i = 0; i < p.rows; i++) {
        for (int j = 0; j < p.cols; j++) {
            float got = p.data[(size_t)i * p.ld + j];
            if (j == hidden)
                assert_true(got == 0);
            else
                assert_int_equal(!!isnan(got), i == bad);
        }
    }
    assert_int_equal(attn_stats_of(p).n_nan, p.cols - 1);
}

static void nan_and_infinity_spoil_their_row_and_no_other(void **state)
{
    (void)state;
    struct rng r = {24};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        for (int n = 2; n <= 70; n++) {
            struct bag b = {0};
            struct attn_mat s = input_new(&b, &r, n, n, 2.0f);
            int bad = rng_int(&r, 0, n - 1);
            int hidden = rng_int(&r, 0, n - 1);
            for (int i = 0; i < n; i++) s.data[(size_t)i * s.ld + hidden] = -INFINITY;
            int at = (hidden + rng_int(&r, 1, n - 1)) % n;
            s.data[(size_t)bad * s.ld + at] = n % 2 ? NAN : INFINITY;
            struct fence p = fence_new(&b, &r, n, n);
            int64_t empty = -1;
            assert_int_equal(attn_softmax(&c, p.m, readable(s), &empty), ATTN_OK);
            assert_int_equal(empty, 0);
            check_spoiled(readable(p.m), bad, hidden);
            bag_empty(&b);
        }
    }
}

/* s: one row of scores; w: its weights; x, e: what attn_row_explain said. */
static void check_explained(const float *s, const float *w, struct attn_row x,
                            const float *e, int n)
{
    int visible = 0;
    int top = 0;
    double entropy = 0;
    for (int j = 0; j < n; j++) {
        visible += s[j] != -INFINITY;
        if (s[j] > s[top]) top = j;
        if (w[j] > 0) entropy -= (double)w[j] * log2((double)w[j]);
    }
    assert_int_equal(x.n_visible, visible);
    if (visible == 0) {
        assert_true(x.sum == 0 && x.entropy == 0 && x.top == 0);
        for (int j = 0; j < n; j++) assert_true(e[j] == 0);
        return;
    }
    assert_true(x.max == s[top] && s[x.top_at] == s[top]);
    assert_true(fabs((double)x.top - (double)w[top]) <= (n + 4) * 0x1p-24);
    assert_true(fabs((double)x.entropy - entropy) <= 1e-5 * (1 + entropy));
    assert_true((double)x.entropy <= log2(visible) + 1e-6);
    for (int j = 0; j < n; j++)
        assert_true(fabs((double)e[j] / (double)x.sum - (double)w[j]) <=
                    (n + 4) * 0x1p-24 * (double)w[j] + 0x1p-125);
}

static void a_row_explained_agrees_with_softmax(void **state)
{
    (void)state;
    struct rng r = {25};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        for (int n = 1; n <= 70; n++) {
            struct bag b = {0};
            struct attn_mat s = random_scores(&b, &r, n, n);
            struct fence p = fence_new(&b, &r, n, n);
            struct fence e = fence_new(&b, &r, 1, n);
            assert_int_equal(attn_softmax(&c, p.m, readable(s), NULL), ATTN_OK);
            for (int i = 0; i < n; i++) {
                const float *row = s.data + (size_t)i * s.ld;
                struct attn_row x = attn_row_explain(&c, e.m.data, row, n);
                check_explained(row, p.m.data + (size_t)i * p.m.ld, x, e.m.data, n);
                struct attn_row without = attn_row_explain(&c, NULL, row, n);
                assert_true(without.sum == x.sum && without.top_at == x.top_at);
            }
            fence_check(&e, "a row's exps");
            bag_empty(&b);
        }
    }
}

static void a_uniform_row_has_the_largest_entropy(void **state)
{
    (void)state;
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        float s[64];
        for (int n = 1; n <= 64; n *= 2) {
            for (int j = 0; j < n; j++) s[j] = -3.5f;
            struct attn_row x = attn_row_explain(&c, NULL, s, n);
            assert_true(fabs((double)x.entropy - log2(n)) <= 1e-6);
            assert_true(x.max == -3.5f && x.sum == (float)n && x.top_at == 0);
            assert_true(x.top == 1.0f / (float)n);
        }
        s[1] = NAN;
        assert_true(isnan(attn_row_explain(&c, NULL, s, 3).sum));
    }
}

int attn_softmax_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_stays_within_the_rounding_bound),
        cmocka_unit_test(large_scores_give_one_hot_and_small_differences_stay),
        cmocka_unit_test(adding_a_constant_to_a_row_keeps_p),
        cmocka_unit_test(a_wholly_masked_row_is_zero_and_counted),
        cmocka_unit_test(nan_and_infinity_spoil_their_row_and_no_other),
        cmocka_unit_test(a_row_explained_agrees_with_softmax),
        cmocka_unit_test(a_uniform_row_has_the_largest_entropy),
    };
    return cmocka_run_group_tests_name("attn softmax", tests, NULL, NULL);
}
