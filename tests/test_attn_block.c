/* attn_block: the fused path against the oracle and against attn_run. */
#include "attn_case.h"
#include "oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct attn_cmat head_of(struct attn_mat m, int first, int d_head)
{
    return (struct attn_cmat){m.data + first, m.rows, d_head, m.ld};
}

static void check_block(struct bag *b, const struct block_result *g,
                        const struct problem *p, struct attn_opts o, const char *where)
{
    int n = p->dims.n_tok;
    int m = p->dims.d_model;
    int d_head = attn_d_head(p->dims);
    double *want = bag_push(b, (size_t)n * 3 * m * sizeof *want);
    double *bound = bag_push(b, (size_t)n * 3 * m * sizeof *bound);
    assert_int_equal(g->status, ATTN_OK);
    oracle_project(want, bound, readable(p->x), p->w.w_qkv, p->w.b_qkv);
    check_within(where, readable(g->qkv.m), want, bound);
    for (int h = 0; h < p->dims.n_head; h++) {
        oracle_head(want, bound, head_of(g->qkv.m, h * d_head, d_head),
                    head_of(g->qkv.m, m + h * d_head, d_head),
                    head_of(g->qkv.m, 2 * m + h * d_head, d_head), o);
        check_within(where, head_of(g->z.m, h * d_head, d_head), want, bound);
    }
    struct attn_cmat h = readable(p->h);
    if (!o.residual) h.data = NULL;
    oracle_output(want, bound, readable(g->z.m), p->w.w_o, p->w.b_o, h);
    check_within(where, readable(g->y.m), want, bound);
}

/* Both lie within rounding of the truth, so of each other: errors of a few units of
 * 2^-24 in numbers of a few units, through some hundred terms. */
static void check_near(const char *where, struct attn_cmat a, struct attn_cmat b)
{
    for (int i = 0; i < a.rows; i++)
        for (int j = 0; j < a.cols; j++) {
            double x = (double)a.data[(size_t)i * a.ld + j];
            double y = (double)b.data[(size_t)i * b.ld + j];
            if (!(fabs(x - y) <= 1e-5 * (1 + fabs(x))))
                fail_msg("%s: [%d,%d] is %.9g by attn_block, %.9g by attn_run", where, i,
                         j, x, y);
        }
}

static void block_and_check(struct rng *r, struct attn_dims d, int i)
{
    struct bag b = {0};
    struct problem p = problem_new(&b, r, d, i % 2);
    struct attn_opts o = opts_of(i % 8);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct where w = where_is(c.k, "block N=%d d=%d H=%d options %d", d.n_tok,
                                  d.d_model, d.n_head, i % 8);
        struct block_result got = block_new(&b, r, &c, &p, o);
        check_block(&b, &got, &p, o, w.text);
        struct attn_trace *t = run_new(&b, &c, &p, o, 0);
        check_near(w.text, readable(got.qkv.m), readable(t->qkv));
        check_near(w.text, readable(got.z.m), readable(t->z));
        check_near(w.text, readable(got.y.m), readable(t->y));
    }
    bag_empty(&b);
}

static void the_block_agrees_with_the_oracle_and_with_attn_run(void **state)
{
    (void)state;
    struct rng r = {41};
    for (int i = 0; i < 80; i++) { /* each d_head of 1..80, one to three heads */
        int d_head = 1 + i;
        int heads = 1 + (i + 1) % 3;
        block_and_check(&r, (struct attn_dims){1 + (i * 27) % 70, d_head * heads, heads},
                        i);
    }
    for (int i = 0; i < 25; i++) { /* each count of heads of 1..25 */
        int heads = 1 + i;
        int d_head = rng_int(&r, 1, 8);
        block_and_check(&r, (struct attn_dims){1 + (i * 33) % 70, d_head * heads, heads},
                        i);
    }
    block_and_check(&r, (struct attn_dims){1024, 11, 1}, 1);
    block_and_check(&r, (struct attn_dims){4, 12 * 64, 12}, 1);
}

/* Beyond 1,024 keys a running maximum and sum may take over. */
static void very_long_prompts_stay_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {42};
    const int lengths[] = {1025, 2100};
    for (int i = 0; i < 4; i++) {
        struct bag b = {0};
        struct problem p =
            problem_new(&b, &r, (struct attn_dims){lengths[i / 2], 3, 1}, true);
        struct attn_opts o = opts_of(i % 2 ? 2 : 0);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w =
                where_is(c.k, "block N=%d causal=%d", lengths[i / 2], o.causal);
            struct block_result got = block_new(&b, &r, &c, &p, o);
            check_block(&b, &got, &p, o, w.text);
        }
        bag_empty(&b);
    }
}

static void every_combination_of_options_is_obeyed(void **state)
{
    (void)state;
    struct rng r = {43};
    for (int i = 0; i < 16; i++) block_and_check(&r, (struct attn_dims){50, 5 * 9, 5}, i);
}

/* Scores up to 1e4 and more: rows of one weight 1, and nothing overflows. */
static void huge_scores_stay_within_the_rounding_bound(void **state)
{
    (void)state;
    struct rng r = {44};
    for (int i = 0; i < 12; i++) {
        struct bag b = {0};
        struct attn_dims d = {5 + i * 5, 2 * (8 + i), 2};
        struct problem p = problem_new(&b, &r, d, true);
        for (int t = 0; t < d.n_tok; t++)
            for (int e = 0; e < d.d_model; e++) p.x.data[(size_t)t * p.x.ld + e] *= 40.0f;
        struct attn_opts o = opts_of(i % 4);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "huge scores, N=%d", d.n_tok);
            struct block_result got = block_new(&b, &r, &c, &p, o);
            check_block(&b, &got, &p, o, w.text);
        }
        bag_empty(&b);
    }
}

/* However large: no finite score makes a row NaN or takes its weights away. With V = 1
 * in every row z is the sum of the weights. */
static void no_finite_score_overflows(void **state)
{
    (void)state;
    struct rng r = {52};
    for (int i = 0; i < 40; i++) {
        struct bag b = {0};
        struct attn_dims d = {12 + i, 4 + i % 13, 1};
        int m = d.d_model;
        struct problem p = problem_new(&b, &r, d, false);
        float *bias = vector_new(&b, &r, 3 * m, 0);
        for (int e = 2 * m; e < 3 * m; e++) bias[e] = 1;
        p.w.b_qkv = bias;
        for (int e = 0; e < m; e++) {
            float *row = p.w_qkv.data + (size_t)e * p.w_qkv.ld;
            for (int v = 0; v < 2 * m; v++) row[v] *= ldexpf(1.0f, i); /* S up to 2^78 */
            for (int v = 2 * m; v < 3 * m; v++) row[v] = 0;
        }
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "scores of 2^%d", 2 * i);
            struct block_result got = block_new(&b, &r, &c, &p, opts_of(i % 4));
            struct attn_trace *t = run_new(&b, &c, &p, opts_of(i % 4), 0);
            for (int e = 0; e < d.n_tok * m; e++) {
                float by_block = got.z.m.data[(size_t)(e / m) * got.z.m.ld + e % m];
                float by_run = t->z.data[(size_t)(e / m) * t->z.ld + e % m];
                if (!(fabsf(by_block - 1) <= 1e-5f) || !(fabsf(by_run - 1) <= 1e-5f))
                    fail_msg("%s: the weights of row %d sum to %g, stage by stage to %g",
                             w.text, e / m, (double)by_block, (double)by_run);
            }
        }
        bag_empty(&b);
    }
}

static void what_is_not_asked_for_changes_no_bit(void **state)
{
    (void)state;
    struct rng r = {45};
    struct bag b = {0};
    struct attn_dims d = {53, 3 * 13, 3};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct block_result all = block_new(&b, &r, &c, &p, attn_opts_default());
        struct attn_packed *packed = packed_new(&b, c.k, &p);
        size_t bytes = attn_block_bytes(&c, d);
        void *work = bag_push(&b, bytes);
        for (int i = 0; i < 3; i++) {
            struct fence y = fence_new(&b, &r, d.n_tok, d.d_model);
            struct fence z = fence_new(&b, &r, d.n_tok, d.d_model);
            struct fence qkv = fence_new(&b, &r, d.n_tok, 3 * d.d_model);
            struct attn_block_io io = {.x = readable(p.x), .h = readable(p.h), .y = y.m};
            if (i == 1) io.z = z.m;
            if (i == 2) io.qkv = qkv.m;
            assert_int_equal(
                attn_block(&c, &io, packed, attn_opts_default(), d, work, bytes),
                ATTN_OK);
            check_same("y", readable(y.m), readable(all.y.m));
            if (i == 1) check_same("z", readable(z.m), readable(all.z.m));
            if (i == 2) check_same("qkv", readable(qkv.m), readable(all.qkv.m));
            fence_check(&y, "y alone");
        }
    }
    bag_empty(&b);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 3, 5};
    const struct attn_dims sizes[] = {{1, 6, 3}, {70, 51, 3}, {131, 40, 5}, {600, 24, 2}};
    for (int pool = 0; pool < 4; pool++) {
        struct attn_pool *many = attn_pool_create(threads[pool]);
        assert_non_null(many);
        for (int i = 0; i < 4; i++) {
            struct rng r = {46};
            struct bag b = {0};
            struct problem p = problem_new(&b, &r, sizes[i], true);
            struct attn_ctx c = {0};
            for (int a = 0; (c.k = case_kernels(a)); a++) {
                struct where w =
                    where_is(c.k, "%d threads, N=%d", threads[pool], sizes[i].n_tok);
                struct attn_opts o = opts_of(i == 1 ? 2 : 0);
                struct block_result one = block_new(&b, &r, &c, &p, o);
                struct attn_ctx shared = {.k = c.k, .pool = many};
                for (int again = 0; again < 2; again++) {
                    struct block_result two = block_new(&b, &r, &shared, &p, o);
                    check_same(w.text, readable(one.y.m), readable(two.y.m));
                    check_same(w.text, readable(one.z.m), readable(two.z.m));
                    check_same(w.text, readable(one.qkv.m), readable(two.qkv.m));
                }
            }
            bag_empty(&b);
        }
        attn_pool_destroy(many);
    }
}

static void the_workspace_is_what_the_header_says(void **state)
{
    (void)state;
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    for (int n = 64; n <= 65536; n *= 2) {
        struct attn_dims d = {n, 768, 12};
        size_t bytes = attn_block_bytes(&c, d), elements = (size_t)n * 768;
        assert_true(bytes >= 16 * elements &&
                    bytes <= 16 * elements + 64 * (size_t)n + 64);
        assert_true(attn_block_keep_bytes(d) <= 8 * elements + 64);
    }
}

static void a_later_token_never_changes_an_earlier_row(void **state)
{
    (void)state;
    struct rng r = {47};
    const float kinds[] = {1.0f, 1e4f, NAN, INFINITY};
    for (int i = 0; i < 40; i++) {
        struct bag b = {0};
        int heads = 1 + i % 4;
        struct attn_dims d = {2 + (i * 17) % 69, heads * (1 + i % 19), heads};
        if (i == 39) d.n_tok = 1090;
        struct problem p = problem_new(&b, &r, d, true);
        int from = i == 39 ? 1050 : rng_int(&r, 1, d.n_tok - 1);
        struct problem later = p;
        later.x = input_copy(&b, readable(p.x));
        for (int a = from * d.d_model; a < d.n_tok * d.d_model; a++)
            later.x.data[a] = kinds[i % 4] * rng_unit(&r);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "token %d of %d changed", from, d.n_tok);
            struct block_result one = block_new(&b, &r, &c, &p, attn_opts_default());
            struct block_result two = block_new(&b, &r, &c, &later, attn_opts_default());
            check_same_rows(w.text, readable(one.y.m), readable(two.y.m), from);
            check_same_rows(w.text, readable(one.z.m), readable(two.z.m), from);
            /* And where the poison belongs, it shows in every later row. */
            for (int t = from; t < d.n_tok && isnan(kinds[i % 4]); t++)
                for (int e = 0; e < d.d_model; e++)
                    assert_true(isnan(two.y.m.data[(size_t)t * two.y.m.ld + e]));
        }
        bag_empty(&b);
    }
}

/* Without the mask every row sees a NaN, whichever token brings it. */
static void without_the_mask_a_nan_reaches_every_row(void **state)
{
    (void)state;
    struct rng r = {48};
    struct bag b = {0};
    struct attn_dims d = {60, 3 * 5, 3};
    struct problem p = problem_new(&b, &r, d, true);
    p.x.data[(size_t)57 * p.x.ld + 2] = NAN;
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct block_result got = block_new(&b, &r, &c, &p, opts_of(2));
        assert_int_equal(attn_stats_of(readable(got.y.m)).n_nan, 60 * 15);
        struct attn_trace *t = run_new(&b, &c, &p, opts_of(2), 2);
        assert_int_equal(attn_stats_of(readable(t->y)).n_nan, 60 * 15);
    }
    bag_empty(&b);
}

static void a_nan_in_the_residual_stays_in_its_cell(void **state)
{
    (void)state;
    struct rng r = {49};
    struct bag b = {0};
    struct attn_dims d = {20, 3 * 5, 3};
    struct problem p = problem_new(&b, &r, d, true);
    p.h.data[(size_t)7 * p.h.ld + 2] = NAN;
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct block_result got = block_new(&b, &r, &c, &p, attn_opts_default());
        assert_int_equal(attn_stats_of(readable(got.y.m)).n_nan, 1);
        assert_true(isnan(got.y.m.data[(size_t)7 * got.y.m.ld + 2]));
        struct block_result off = block_new(&b, &r, &c, &p, opts_of(4));
        assert_int_equal(attn_stats_of(readable(off.y.m)).n_nan, 0);
    }
    bag_empty(&b);
}

static void a_cancelled_block_stops_and_leaves_nothing_behind(void **state)
{
    (void)state;
    struct rng r = {50};
    struct bag b = {0};
    struct attn_dims d = {700, 64, 2};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_pool *pool = attn_pool_create(2);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        volatile int stop = 1;
        c.pool = a % 2 ? pool : NULL;
        c.cancel = &stop;
        struct block_result cut = block_new(&b, &r, &c, &p, attn_opts_default());
        assert_true(fence_has_pattern(&cut.y, d.n_tok - 1, d.d_model - 1));
        stop = 0;
        struct block_result whole = block_new(&b, &r, &c, &p, attn_opts_default());
        c.cancel = NULL;
        struct block_result want = block_new(&b, &r, &c, &p, attn_opts_default());
        check_same("after a cancelled block", readable(want.y.m), readable(whole.y.m));
    }
    attn_pool_destroy(pool);
    bag_empty(&b);
}

static struct attn_cmat rows_of(struct attn_mat m, int first, int n)
{
    return (struct attn_cmat){m.data + (size_t)first * m.ld, n, m.cols, m.ld};
}

/* attn_block_from(first, n) into y, z of n - first rows; the same bits as `want`. */
static void check_rows_from(struct rng *r, const struct attn_ctx *c,
                            const struct problem *p, const struct attn_packed *packed,
                            int first, int n, const struct block_result *want, void *work,
                            size_t bytes)
{
    struct bag b = {0};
    struct where w = where_is(c->k, "rows %d to %d of %d", first, n, p->dims.n_tok);
    struct fence y = fence_new(&b, r, n - first, p->dims.d_model);
    struct fence z = fence_new(&b, r, n - first, p->dims.d_model);
    struct attn_block_io io = {.x = rows_of(p->x, first, n - first),
                               .h = rows_of(p->h, first, n - first),
                               .y = y.m,
                               .z = z.m};
    assert_int_equal(attn_block_from(c, &io, packed, attn_opts_default(), p->dims, first,
                                     n, work, bytes),
                     ATTN_OK);
    fence_check(&y, w.text);
    fence_check(&z, w.text);
    check_same(w.text, readable(z.m), rows_of(want->z.m, first, n - first));
    check_same(w.text, readable(y.m), rows_of(want->y.m, first, n - first));
    bag_empty(&b);
}

/* Row by row as a text grows, in leaps, and again from a changed token on: rows of a
 * causal block depend on nothing behind them, so they are those of the whole block. */
static void a_block_taken_up_again_gives_the_rows_of_the_whole(void **state)
{
    (void)state;
    struct rng r = {51};
    const struct attn_dims sizes[] = {{9, 6, 1}, {70, 39, 3}, {130, 34, 2}, {1060, 6, 2}};
    for (int i = 0; i < 4; i++) {
        int n = sizes[i].n_tok;
        struct bag b = {0};
        struct problem p = problem_new(&b, &r, sizes[i], true);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct block_result want = block_new(&b, &r, &c, &p, attn_opts_default());
            struct attn_packed *packed = packed_new(&b, c.k, &p);
            size_t bytes = attn_block_bytes(&c, sizes[i]);
            void *work = bag_push(&b, bytes);
            for (int first = 0; first < n;) { /* 1, 1, 3, 7, ... tokens more */
                int more = 1 + first + first / 3;
                int to = first + more < n ? first + more : n;
                check_rows_from(&r, &c, &p, packed, first, to, &want, work, bytes);
                first = to;
            }
            for (int first = n - 1; first > 0; first /= 2)
                check_rows_from(&r, &c, &p, packed, first, n, &want, work, bytes);
        }
        bag_empty(&b);
    }
}

/* A block that is run in the memory that has to be kept alone, and its weights as they
 * come back out of the panels. */
static void what_a_block_keeps_is_enough_to_go_on_and_to_look_at_it(void **state)
{
    (void)state;
    struct rng r = {52};
    const struct attn_dims sizes[] = {{1, 1, 1}, {9, 6, 1}, {70, 39, 3}, {20, 68, 2}};
    for (int i = 0; i < 4; i++) {
        struct bag b = {0};
        struct attn_dims d = sizes[i];
        struct problem p = problem_new(&b, &r, d, true);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "N=%d d=%d", d.n_tok, d.d_model);
            struct block_result want = block_new(&b, &r, &c, &p, attn_opts_default());
            struct attn_packed *packed = packed_new(&b, c.k, &p);
            size_t bytes = attn_block_keep_bytes(d);
            void *work = bag_push(&b, bytes);
            struct fence y = fence_new(&b, &r, d.n_tok, d.d_model);
            struct fence z = fence_new(&b, &r, d.n_tok, d.d_model);
            struct fence qkv = fence_new(&b, &r, d.n_tok, 3 * d.d_model);
            struct attn_block_io io = {readable(p.x), readable(p.h), y.m, z.m, qkv.m};
            struct attn_opts o = attn_opts_default();
            assert_int_equal(attn_block(&c, &io, packed, o, d, work, bytes), ATTN_OK);
            check_same(w.text, readable(y.m), readable(want.y.m));
            io.z.data = NULL; /* its scratch has no room there */
            assert_int_equal(attn_block(&c, &io, packed, o, d, work, bytes),
                             ATTN_NO_ROOM);

            struct fence w_qkv = fence_new(&b, &r, d.d_model, 3 * d.d_model);
            struct fence w_o = fence_new(&b, &r, d.d_model, d.d_model);
            assert_int_equal(attn_unpack(w_qkv.m, w_o.m, packed), ATTN_OK);
            fence_check(&w_qkv, w.text);
            check_same(w.text, readable(w_qkv.m), readable(p.w_qkv));
            check_same(w.text, readable(w_o.m), readable(p.w_o));
            assert_int_equal(attn_unpack(w_o.m, w_o.m, packed), ATTN_BAD_SHAPE);
        }
        bag_empty(&b);
    }
}

int attn_block_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_agrees_with_the_oracle_and_with_attn_run),
        cmocka_unit_test(very_long_prompts_stay_within_the_rounding_bound),
        cmocka_unit_test(every_combination_of_options_is_obeyed),
        cmocka_unit_test(huge_scores_stay_within_the_rounding_bound),
        cmocka_unit_test(no_finite_score_overflows),
        cmocka_unit_test(what_is_not_asked_for_changes_no_bit),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(the_workspace_is_what_the_header_says),
        cmocka_unit_test(a_later_token_never_changes_an_earlier_row),
        cmocka_unit_test(without_the_mask_a_nan_reaches_every_row),
        cmocka_unit_test(a_nan_in_the_residual_stays_in_its_cell),
        cmocka_unit_test(a_block_taken_up_again_gives_the_rows_of_the_whole),
        cmocka_unit_test(what_a_block_keeps_is_enough_to_go_on_and_to_look_at_it),
        cmocka_unit_test(a_cancelled_block_stops_and_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("attn block", tests, NULL, NULL);
}
