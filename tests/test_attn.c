/* attn: what the header promises of kernel sets, views, statistics and costs. The stages,
 * softmax, attn_run, attn_block and refusals have files of their own. */
#include "attn_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void kernel_sets_are_found_by_name_and_no_other_is(void **state)
{
    (void)state;
    int n = 0;
    bool ref = false;
    for (; attn_kernels_at(n); n++) {
        const char *name = attn_kernels_name(attn_kernels_at(n));
        assert_ptr_equal(attn_kernels_get(name), attn_kernels_at(n));
        for (int i = 0; i < n; i++)
            assert_string_not_equal(name, attn_kernels_name(attn_kernels_at(i)));
        ref = ref || strcmp(name, "ref") == 0;
    }
    assert_true(n >= 1 && ref);
    assert_null(attn_kernels_get("avx1024"));
    assert_null(attn_kernels_get("REF"));
    assert_null(attn_kernels_get("re"));
    assert_null(attn_kernels_at(n + 1));
}

static void the_environment_names_the_kernel_set(void **state)
{
    (void)state;
    char *before = getenv("HEADLIGHT_KERNELS");
    char kept[64] = "";
    if (before) strncpy(kept, before, sizeof kept - 1);
    for (int i = 0; attn_kernels_at(i); i++) {
        const char *name = attn_kernels_name(attn_kernels_at(i));
        assert_int_equal(setenv("HEADLIGHT_KERNELS", name, 1), 0);
        assert_ptr_equal(attn_kernels_get(NULL), attn_kernels_at(i));
        assert_ptr_equal(attn_kernels_get("ref"), attn_kernels_get("ref"));
    }
    assert_int_equal(setenv("HEADLIGHT_KERNELS", "no such set", 1), 0);
    assert_null(attn_kernels_get(NULL));
    assert_string_equal(attn_kernels_name(attn_kernels_get("ref")), "ref");
    assert_int_equal(unsetenv("HEADLIGHT_KERNELS"), 0);
    assert_non_null(attn_kernels_get(NULL));
    assert_null(attn_kernels_get(""));
    if (before) assert_int_equal(setenv("HEADLIGHT_KERNELS", kept, 1), 0);
}

static void every_status_has_a_text_of_its_own(void **state)
{
    (void)state;
    const enum attn_status all[] = {ATTN_OK, ATTN_BAD_SHAPE, ATTN_NO_ROOM, ATTN_BAD_OPTS};
    for (int i = 0; i < 4; i++) {
        assert_true(strlen(attn_status_text(all[i])) > 1);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(attn_status_text(all[i]), attn_status_text(all[j]));
    }
    struct attn_opts o = attn_opts_default();
    assert_true(o.scale && o.causal && o.residual);
}

static void check_view(struct attn_cmat m, const float *data, int rows, int cols, int ld)
{
    assert_ptr_equal(m.data, data);
    assert_int_equal(m.rows, rows);
    assert_int_equal(m.cols, cols);
    assert_int_equal(m.ld, ld);
}

static void a_view_shows_its_tensor_and_the_wrong_head_shows_nothing(void **state)
{
    (void)state;
    struct rng r = {71};
    struct bag b = {0};
    enum { N = 5, D = 12, H = 3, HEAD = 4 };
    struct problem p = problem_new(&b, &r, (struct attn_dims){N, D, H}, true);
    struct attn_ctx c = {.k = case_kernels(0)};
    struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 1);
    for (int h = 0; h < H; h++) {
        const enum attn_tensor q = ATTN_Q;
        const enum attn_tensor w = ATTN_W_Q;
        for (int part = 0; part < 3; part++) {
            ptrdiff_t from = part * D + h * HEAD;
            check_view(attn_trace_view(t, (enum attn_tensor)(q + part), h),
                       t->qkv.data + from, N, HEAD, t->qkv.ld);
            check_view(attn_trace_view(t, (enum attn_tensor)(w + part), h),
                       p.w_qkv.data + from, D, HEAD, p.w_qkv.ld);
        }
        check_view(attn_trace_view(t, ATTN_Z, h), t->z.data + (ptrdiff_t)h * HEAD, N,
                   HEAD, t->z.ld);
        check_view(attn_trace_view(t, ATTN_W_O, h), p.w_o.data, D, D, p.w_o.ld);
        check_view(attn_trace_view(t, ATTN_H, h), p.h.data, N, D, p.h.ld);
        check_view(attn_trace_view(t, ATTN_X, h), p.x.data, N, D, p.x.ld);
        check_view(attn_trace_view(t, ATTN_Z_ALL, h), t->z.data, N, D, t->z.ld);
        check_view(attn_trace_view(t, ATTN_Y_PROJ, h), t->y_proj.data, N, D,
                   t->y_proj.ld);
        check_view(attn_trace_view(t, ATTN_Y, h), t->y.data, N, D, t->y.ld);
        const struct attn_mat one[] = {t->s_raw, t->s_scaled, t->s_masked, t->p};
        for (int i = 0; i < 4; i++) {
            struct attn_cmat m =
                attn_trace_view(t, (enum attn_tensor)(ATTN_S_RAW + i), h);
            if (h == 1) check_view(m, one[i].data, N, N, one[i].ld);
            if (h != 1) assert_null(m.data);
        }
    }
    for (int id = 0; id < ATTN_TENSOR_COUNT; id++) {
        bool sliced = (id >= ATTN_W_Q && id <= ATTN_Z);
        if (sliced) assert_null(attn_trace_view(t, (enum attn_tensor)id, H).data);
        if (sliced) assert_null(attn_trace_view(t, (enum attn_tensor)id, -1).data);
    }
    assert_null(attn_trace_view(t, ATTN_TENSOR_COUNT, 1).data);
    bag_empty(&b);
}

static struct attn_stats counted(struct attn_cmat m, bool causal)
{
    struct attn_stats s = {0};
    int64_t n = 0;
    for (int i = 0; i < m.rows; i++) {
        for (int j = 0; j < (causal && i + 1 < m.cols ? i + 1 : m.cols); j++) {
            float x = m.data[(size_t)i * m.ld + j];
            s.n_nan += !!isnan(x);
            s.n_pos_inf += x == INFINITY;
            s.n_neg_inf += x == -INFINITY;
            if (!isfinite(x)) continue;
            s.min = n == 0 || x < s.min ? x : s.min;
            s.max = n == 0 || x > s.max ? x : s.max;
            s.max_abs = fmaxf(s.max_abs, fabsf(x));
            s.mean += (double)x;
            n++;
        }
    }
    if (n > 0) s.mean /= (double)n;
    return s;
}

static void check_stats(const char *where, struct attn_stats got, struct attn_stats want)
{
    if (got.min != want.min || got.max != want.max || got.max_abs != want.max_abs ||
        got.n_nan != want.n_nan || got.n_pos_inf != want.n_pos_inf ||
        got.n_neg_inf != want.n_neg_inf ||
        !(fabs(got.mean - want.mean) <= 1e-12 * (double)want.max_abs))
        fail_msg(
            "%s: min %g %g, max %g %g, |max| %g %g, mean %g %g, NaN %d %d, inf %d %d, "
            "-inf %d %d",
            where, (double)got.min, (double)want.min, (double)got.max, (double)want.max,
            (double)got.max_abs, (double)want.max_abs, got.mean, want.mean,
            (int)got.n_nan, (int)want.n_nan, (int)got.n_pos_inf, (int)want.n_pos_inf,
            (int)got.n_neg_inf, (int)want.n_neg_inf);
}

static void statistics_count_what_is_there_and_no_gap(void **state)
{
    (void)state;
    struct rng r = {72};
    const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 3.4e38f, -3.4e38f, 1e-45f};
    for (int i = 0; i < 300; i++) {
        struct bag b = {0};
        struct attn_mat m =
            input_new(&b, &r, 1 + i % 9, 1 + (i * 7) % 83, i % 2 ? 1.0f : 1e-3f);
        if (i % 5 == 1) /* one sign alone, so that 0 is neither least nor greatest */
            for (int a = 0; a < m.rows; a++)
                for (int e = 0; e < m.cols; e++)
                    m.data[(size_t)a * m.ld + e] += i % 2 ? 2.0f : -2.0f;
        for (int k = 0; k < i % 8; k++)
            m.data[(size_t)rng_int(&r, 0, m.rows - 1) * m.ld +
                   rng_int(&r, 0, m.cols - 1)] = odd[rng_int(&r, 0, 6)];
        check_stats("whole", attn_stats_of(readable(m)), counted(readable(m), false));
        check_stats("causal", attn_stats_causal(readable(m)), counted(readable(m), true));
        bag_empty(&b);
    }
    const float none[] = {NAN, INFINITY, -INFINITY, -INFINITY};
    struct attn_stats s = attn_stats_of((struct attn_cmat){none, 2, 2, 2});
    assert_true(s.min == 0 && s.max == 0 && s.max_abs == 0 && s.mean == 0);
    assert_int_equal(s.n_nan + 10 * s.n_pos_inf + 100 * s.n_neg_inf, 211);
}

static void a_trace_holds_the_statistics_of_its_tensors(void **state)
{
    (void)state;
    struct rng r = {73};
    struct bag b = {0};
    struct problem p = problem_new(&b, &r, (struct attn_dims){29, 20, 4}, true);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 3);
        for (int id = 0; id < ATTN_TENSOR_COUNT; id++)
            check_stats("trace", t->stats[id],
                        counted(attn_trace_view(t, (enum attn_tensor)id, 3), false));
    }
    bag_empty(&b);
}

static void check_cost(struct attn_cost c, uint64_t dense, uint64_t causal, uint64_t exps,
                       uint64_t floats, uint64_t cells)
{
    assert_int_equal(c.flops_dense, dense);
    assert_int_equal(c.flops_causal, causal);
    assert_int_equal(c.exps, exps);
    assert_int_equal(c.bytes, 4 * floats);
    assert_int_equal(c.cells, cells);
}

/* The formulas of the design's table; what is read and written counts matrices alone,
 * biases being a row of thousands. */
static void costs_follow_the_formulas(void **state)
{
    (void)state;
    const struct attn_dims sizes[] = {
        {1, 1, 1}, {5, 8, 2}, {1024, 768, 12}, {1024, 1600, 25}, {100000, 12288, 96}};
    for (int i = 0; i < 5; i++) {
        struct attn_dims s = sizes[i];
        uint64_t n = (uint64_t)s.n_tok;
        uint64_t d = (uint64_t)s.d_model;
        uint64_t h = (uint64_t)s.n_head;
        uint64_t all = n * n * h;
        uint64_t low = n * (n + 1) / 2 * h;
        check_cost(attn_cost_of(s, ATTN_PROJECTIONS), 6 * n * d * d, 6 * n * d * d, 0,
                   n * d + 3 * d * d + 3 * n * d, 3 * n * d);
        check_cost(attn_cost_of(s, ATTN_SCORES), 2 * n * n * d, n * (n + 1) * d, 0,
                   2 * n * d + all, all);
        check_cost(attn_cost_of(s, ATTN_SCALE), all, low, 0, 2 * all, all);
        check_cost(attn_cost_of(s, ATTN_MASK), 0, 0, 0, 2 * all, all);
        check_cost(attn_cost_of(s, ATTN_SOFTMAX), 4 * all, 4 * low, low, 2 * all, all);
        check_cost(attn_cost_of(s, ATTN_WEIGHTED_SUM), 2 * n * n * d, n * (n + 1) * d, 0,
                   all + 2 * n * d, n * d);
        check_cost(attn_cost_of(s, ATTN_OUTPUT), 2 * n * d * d, 2 * n * d * d, 0,
                   3 * n * d + d * d, n * d);
        struct attn_cost sum = attn_cost_block(s);
        assert_int_equal(sum.flops_dense, 8 * n * d * d + 4 * n * n * d + 5 * all);
        assert_int_equal(sum.flops_causal, 8 * n * d * d + 2 * n * (n + 1) * d + 5 * low);
        assert_int_equal(sum.exps, low);
    }
}

static void gpt2_costs_what_is_published(void **state)
{
    (void)state;
    struct attn_dims one = {1, 768, 12};
    struct attn_dims full = {1024, 768, 12};
    assert_int_equal(attn_cost_of(one, ATTN_PROJECTIONS).flops_dense,
                     3538944);                                                 /* 3.5 M */
    assert_int_equal(attn_cost_of(one, ATTN_OUTPUT).flops_dense, 1179648);     /* 1.2 M */
    assert_int_equal(attn_cost_of(full, ATTN_SCORES).flops_dense, 1610612736); /* 1.6 G */
    assert_int_equal(attn_cost_of(full, ATTN_WEIGHTED_SUM).flops_dense, 1610612736);
    assert_int_equal(attn_cost_of(full, ATTN_SCORES).flops_causal, 806092800); /* half */
    assert_int_equal(attn_cost_of(full, ATTN_SOFTMAX).exps, 6297600);
    assert_int_equal(attn_cost_of(full, ATTN_SCORES).cells, 12 * 1024 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_sets_are_found_by_name_and_no_other_is),
        cmocka_unit_test(the_environment_names_the_kernel_set),
        cmocka_unit_test(every_status_has_a_text_of_its_own),
        cmocka_unit_test(a_view_shows_its_tensor_and_the_wrong_head_shows_nothing),
        cmocka_unit_test(statistics_count_what_is_there_and_no_gap),
        cmocka_unit_test(a_trace_holds_the_statistics_of_its_tensors),
        cmocka_unit_test(costs_follow_the_formulas),
        cmocka_unit_test(gpt2_costs_what_is_published),
    };
    int failed = cmocka_run_group_tests_name("attn", tests, NULL, NULL);
    failed += attn_stage_tests() + attn_softmax_tests() + attn_run_tests();
    failed += attn_block_tests() + attn_linear_tests() + attn_refusal_tests();
    failed += attn_heads_tests() + attn_broken_tests() + attn_decode_tests();
    return failed != 0;
}
