/* attn_run: every intermediate of one head, against the oracle, against the stage
 * functions, and over threads, later tokens, NaN and cancelling. */
#include "attn_case.h"
#include "npy.h"
#include "oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct attn_cmat view(const struct attn_trace *t, enum attn_tensor id, int head)
{
    struct attn_cmat m = attn_trace_view(t, id, head);
    assert_non_null(m.data);
    return m;
}

static struct attn_cmat view_here(const struct attn_trace *t, enum attn_tensor id)
{
    return view(t, id, t->head);
}

/* Each tensor of the trace against the oracle's answer to the tensors before it. */
static void check_trace(struct bag *b, const struct attn_trace *t,
                        const struct problem *p, const char *where)
{
    int n = p->dims.n_tok;
    int m = p->dims.d_model;
    int wide = n > 3 * m ? n : 3 * m;
    struct attn_opts o = t->opts;
    double *want = bag_push(b, (size_t)n * wide * sizeof *want);
    double *bound = bag_push(b, (size_t)n * wide * sizeof *bound);
    oracle_project(want, bound, readable(p->x), p->w.w_qkv, p->w.b_qkv);
    check_within(where, readable(t->qkv), want, bound);
    struct attn_cmat v = view_here(t, ATTN_V);
    oracle_scores(want, bound, view_here(t, ATTN_Q), view_here(t, ATTN_K));
    struct attn_cmat raw = view_here(t, ATTN_S_RAW);
    check_within(where, raw, want, bound);
    struct attn_mat copy = input_copy(b, raw);
    for (int i = 0; i < n * n && o.scale; i++)
        copy.data[i] = oracle_scaled(copy.data[i], attn_d_head(p->dims));
    check_same(where, view_here(t, ATTN_S_SCALED), readable(copy));
    for (int i = 0; i < n && o.causal; i++)
        for (int j = i + 1; j < n; j++) copy.data[i * n + j] = -INFINITY;
    check_same(where, view_here(t, ATTN_S_MASKED), readable(copy));
    oracle_softmax(want, bound, readable(copy));
    struct attn_cmat w = view_here(t, ATTN_P);
    check_within(where, w, want, bound);
    oracle_weighted_sum(want, bound, w, v, o.causal);
    check_within(where, view_here(t, ATTN_Z), want, bound);
    for (int h = 0; h < p->dims.n_head; h++) { /* the others by the fused path */
        oracle_head(want, bound, view(t, ATTN_Q, h), view(t, ATTN_K, h),
                    view(t, ATTN_V, h), o);
        check_within(where, view(t, ATTN_Z, h), want, bound);
    }
    struct attn_cmat none = {0};
    struct attn_cmat h = readable(p->h);
    oracle_output(want, bound, readable(t->z), p->w.w_o, p->w.b_o, none);
    check_within(where, readable(t->y_proj), want, bound);
    oracle_output(want, bound, readable(t->z), p->w.w_o, p->w.b_o, o.residual ? h : none);
    check_within(where, readable(t->y), want, bound);
}

static void run_and_check(struct rng *r, struct attn_dims d, int i)
{
    struct bag b = {0};
    struct problem p = problem_new(&b, r, d, i % 2);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct where w = where_is(c.k, "run N=%d d=%d H=%d options %d", d.n_tok,
                                  d.d_model, d.n_head, i % 8);
        struct attn_trace *t =
            run_new(&b, &c, &p, opts_of(i % 8), rng_int(r, 0, d.n_head - 1));
        check_trace(&b, t, &p, w.text);
    }
    bag_empty(&b);
}

static void every_tensor_of_a_run_follows_from_those_before_it(void **state)
{
    (void)state;
    struct rng r = {31};
    for (int i = 0; i < 80; i++) { /* each d_head of 1..80, one to three heads */
        int d_head = 1 + i;
        int heads = 1 + i % 3;
        run_and_check(&r, (struct attn_dims){1 + (i * 29) % 70, d_head * heads, heads},
                      i);
    }
    for (int i = 0; i < 25; i++) { /* each count of heads of 1..25 */
        int heads = 1 + i;
        int d_head = rng_int(&r, 1, 8);
        run_and_check(&r, (struct attn_dims){1 + (i * 31) % 70, d_head * heads, heads},
                      i);
    }
    run_and_check(&r, (struct attn_dims){1024, 2 * 9, 2}, 0);
    run_and_check(&r, (struct attn_dims){3, 25 * 16, 25}, 0);
}

static void every_combination_of_options_is_obeyed(void **state)
{
    (void)state;
    struct rng r = {32};
    for (int i = 0; i < 16; i++) run_and_check(&r, (struct attn_dims){37, 3 * 11, 3}, i);
}

/* The definition: the seven functions one after the other give the same bits. */
static void a_run_is_the_seven_stage_functions(void **state)
{
    (void)state;
    struct rng r = {33};
    for (int i = 0; i < 16; i++) {
        struct bag b = {0};
        struct attn_dims d = {19 + 3 * i, 2 * (5 + 2 * i), 2};
        struct problem p = problem_new(&b, &r, d, true);
        struct attn_opts o = opts_of(i % 8);
        struct attn_cmat h = readable(p.h);
        if (!o.residual) h.data = NULL;
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "stages, options %d", i % 8);
            int n = d.n_tok;
            struct attn_trace *t = run_new(&b, &c, &p, o, 1);
            struct attn_mat qkv = fence_new(&b, &r, n, 3 * d.d_model).m;
            struct attn_mat s = fence_new(&b, &r, n, n).m;
            struct attn_mat z = fence_new(&b, &r, n, attn_d_head(d)).m;
            struct attn_mat y = fence_new(&b, &r, n, d.d_model).m;
            assert_int_equal(attn_project(&c, qkv, readable(p.x), p.w.w_qkv, p.w.b_qkv),
                             ATTN_OK);
            check_same(w.text, readable(qkv), readable(t->qkv));
            attn_scores(&c, s, view_here(t, ATTN_Q), view_here(t, ATTN_K));
            check_same(w.text, readable(s), view_here(t, ATTN_S_RAW));
            if (o.scale) attn_scale(&c, s, readable(s), attn_d_head(d));
            if (o.causal) attn_mask(&c, s, readable(s));
            check_same(w.text, readable(s), view_here(t, ATTN_S_MASKED));
            attn_softmax(&c, s, readable(s), NULL);
            check_same(w.text, readable(s), view_here(t, ATTN_P));
            attn_weighted_sum(&c, z, readable(s), view_here(t, ATTN_V), o.causal);
            check_same(w.text, readable(z), view_here(t, ATTN_Z));
            attn_output(&c, y, view_here(t, ATTN_Z_ALL), p.w.w_o, p.w.b_o, h);
            check_same(w.text, readable(y), view_here(t, ATTN_Y));
        }
        bag_empty(&b);
    }
}

static void check_same_traces(const char *where, const struct attn_trace *a,
                              const struct attn_trace *b, int rows)
{
    static const enum attn_tensor kept[] = {ATTN_Q,        ATTN_K,      ATTN_V,
                                            ATTN_S_SCALED, ATTN_P,      ATTN_Z_ALL,
                                            ATTN_Y,        ATTN_Y_PROJ, ATTN_S_MASKED};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (rows == a->dims.n_tok || kept[i] != ATTN_S_SCALED) /* stage 2 is dense */
            check_same_rows(where, view_here(a, kept[i]), view_here(b, kept[i]), rows);
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
            struct rng r = {34};
            struct bag b = {0};
            struct problem p = problem_new(&b, &r, sizes[i], true);
            struct attn_ctx c = {0};
            for (int a = 0; (c.k = case_kernels(a)); a++) {
                struct where w =
                    where_is(c.k, "%d threads, N=%d", threads[pool], sizes[i].n_tok);
                struct attn_ctx shared = {.k = c.k, .pool = many};
                struct attn_opts o = opts_of(i == 1 ? 2 : 0);
                struct attn_trace *alone = run_new(&b, &c, &p, o, 1);
                struct attn_trace *spread = run_new(&b, &shared, &p, o, 1);
                check_same_traces(w.text, alone, spread, sizes[i].n_tok);
                struct attn_trace *again = run_new(&b, &shared, &p, o, 1);
                check_same_traces(w.text, spread, again, sizes[i].n_tok);
                struct fence x = fence_new(&b, &r, sizes[i].n_tok, sizes[i].d_model);
                struct fence y = fence_new(&b, &r, sizes[i].n_tok, sizes[i].d_model);
                attn_layer_norm(&c, x.m, readable(p.h), NULL, p.w.b_o, 1e-5f);
                attn_layer_norm(&shared, y.m, readable(p.h), NULL, p.w.b_o, 1e-5f);
                check_same(w.text, readable(x.m), readable(y.m));
            }
            bag_empty(&b);
        }
        attn_pool_destroy(many);
    }
    attn_pool_destroy(NULL);
}

static void a_later_token_never_changes_an_earlier_row(void **state)
{
    (void)state;
    struct rng r = {35};
    for (int i = 0; i < 30; i++) {
        struct bag b = {0};
        int heads = 1 + i % 4;
        struct attn_dims d = {2 + (i * 17) % 69, heads * (1 + i % 19), heads};
        struct problem p = problem_new(&b, &r, d, true);
        int from = rng_int(&r, 1, d.n_tok - 1);
        struct problem later = p;
        later.x = input_copy(&b, readable(p.x));
        later.h = input_copy(&b, readable(p.h));
        for (int a = from * d.d_model; a < d.n_tok * d.d_model; a++) {
            later.x.data[a] = 40.0f * rng_unit(&r);
            later.h.data[a] = 40.0f * rng_unit(&r);
        }
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "token %d of %d changed", from, d.n_tok);
            struct attn_trace *one = run_new(&b, &c, &p, attn_opts_default(), 0);
            struct attn_trace *two = run_new(&b, &c, &later, attn_opts_default(), 0);
            check_same_traces(w.text, one, two, from);
        }
        bag_empty(&b);
    }
}

/* attn_run_head moves the view: that head's matrices are those of a run of its own. */
static void another_head_is_shown_as_its_own_run_would(void **state)
{
    (void)state;
    struct rng r = {39};
    struct bag b = {0};
    struct attn_dims d = {41, 4 * 6, 4};
    struct problem p = problem_new(&b, &r, d, true);
    static const enum attn_tensor ids[] = {ATTN_Q,        ATTN_K, ATTN_V, ATTN_S_RAW,
                                           ATTN_S_SCALED, ATTN_P, ATTN_Z, ATTN_S_MASKED};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 2);
        struct attn_mat y = input_copy(&b, view_here(t, ATTN_Y));
        for (int head = 0; head < 4; head++) {
            struct attn_trace *own = run_new(&b, &c, &p, attn_opts_default(), head);
            assert_int_equal(attn_run_head(&c, t, head), ATTN_OK);
            assert_int_equal(t->head, head);
            for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
                check_same("head", view_here(t, ids[i]), view_here(own, ids[i]));
                struct attn_stats x = t->stats[ids[i]];
                struct attn_stats w = own->stats[ids[i]];
                assert_true(x.min == w.min && x.max == w.max && x.mean == w.mean);
            }
            check_same("y", view_here(t, ATTN_Y), readable(y));
        }
        assert_int_equal(attn_run_head(&c, t, 4), ATTN_BAD_SHAPE);
        assert_int_equal(attn_run_head(&c, t, -1), ATTN_BAD_SHAPE);
        assert_int_equal(t->head, 3);
    }
    bag_empty(&b);
}

static void nan_that_belongs_is_kept_and_counted(void **state)
{
    (void)state;
    struct rng r = {36};
    struct bag b = {0};
    const int n = 23;
    const int bad = 9;
    struct attn_dims d = {n, 3 * 7, 3};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_ctx c = {0};
    struct attn_cmat h = readable(p.h);
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct attn_trace *clean = run_new(&b, &c, &p, attn_opts_default(), 1);
        float kept = p.x.data[(size_t)bad * p.x.ld + 4];
        p.x.data[(size_t)bad * p.x.ld + 4] = NAN; /* so q, k and v of that row are NaN */
        struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 1);
        p.x.data[(size_t)bad * p.x.ld + 4] = kept;
        check_same_traces("rows before the NaN", clean, t, bad);
        const struct attn_stats *s = t->stats;
        assert_int_equal(s[ATTN_X].n_nan, 1);
        assert_int_equal(s[ATTN_Q].n_nan, 7);
        assert_int_equal(s[ATTN_V].n_nan, 7);
        /* Row `bad` up to the diagonal and column `bad` from it on. */
        assert_int_equal(s[ATTN_S_MASKED].n_nan, bad + n - bad);
        assert_int_equal(s[ATTN_S_MASKED].n_neg_inf, n * (n - 1) / 2);
        int64_t visible = 0;
        for (int i = bad; i < n; i++) visible += i + 1;
        assert_int_equal(s[ATTN_P].n_nan, visible);
        assert_int_equal(s[ATTN_Z].n_nan, (n - bad) * 7);
        assert_int_equal(s[ATTN_Z_ALL].n_nan, (n - bad) * 21);
        assert_int_equal(s[ATTN_Y].n_nan, (n - bad) * 21);
        assert_int_equal(attn_stats_of(readable(t->y)).n_nan, (n - bad) * 21);
        assert_int_equal(clean->stats[ATTN_Y].n_nan, 0);
        assert_int_equal(clean->stats[ATTN_S_MASKED].n_nan, 0);
        assert_int_equal(clean->n_empty_row, 0);
        assert_true(h.data == view_here(t, ATTN_H).data);
    }
    bag_empty(&b);
}

/* Feature 0 is zero but for token j, and W_qkv's row 0 is zero but for the columns of K
 * or of V: so that token's keys, or its values, overflow to infinity and no other
 * number does. Rows before j must not notice. */
static void an_infinite_forbidden_key_or_value_never_reaches_a_row(void **state)
{
    (void)state;
    struct rng r = {37};
    for (int i = 0; i < 12; i++) {
        struct bag b = {0};
        struct attn_dims d = {3 + 5 * i, 2 * (4 + i), 2};
        struct problem p = problem_new(&b, &r, d, true);
        int m = d.d_model;
        int j = 1 + (i * 7) % (d.n_tok - 1);
        for (int t = 0; t < d.n_tok; t++) p.x.data[(size_t)t * p.x.ld] = 0;
        for (int a = 0; a < 3 * m; a++) p.w_qkv.data[a] = a / m == 1 + i % 2 ? 100.0f : 0;
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct where w = where_is(c.k, "%s of token %d of %d infinite",
                                      i % 2 ? "value" : "key", j, d.n_tok);
            p.x.data[(size_t)j * p.x.ld] = 0;
            struct attn_trace *clean = run_new(&b, &c, &p, attn_opts_default(), 0);
            struct block_result block = block_new(&b, &r, &c, &p, attn_opts_default());
            p.x.data[(size_t)j * p.x.ld] = 3e38f;
            struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 0);
            struct block_result other = block_new(&b, &r, &c, &p, attn_opts_default());
            assert_true(
                isinf(view_here(t, i % 2 ? ATTN_V : ATTN_K).data[(size_t)j * t->qkv.ld]));
            assert_true(isfinite(
                view_here(t, i % 2 ? ATTN_K : ATTN_V).data[(size_t)j * t->qkv.ld]));
            check_same_traces(w.text, clean, t, j);
            check_same_rows(w.text, readable(block.y.m), readable(other.y.m), j);
            check_same_rows(w.text, readable(block.z.m), readable(other.z.m), j);
            for (int e = 0; e < m; e++) /* token j sees itself */
                assert_false(isfinite(other.z.m.data[(size_t)j * other.z.m.ld + e]) &&
                             isfinite(t->z.data[(size_t)j * t->z.ld + e]));
        }
        bag_empty(&b);
    }
}

static void a_cancelled_run_stops_and_leaves_nothing_behind(void **state)
{
    (void)state;
    struct rng r = {38};
    struct bag b = {0};
    struct attn_dims d = {700, 64, 2};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_pool *pool = attn_pool_create(2);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        volatile int stop = 1;
        c.pool = a % 2 ? pool : NULL;
        c.cancel = NULL;
        struct attn_trace *want = run_new(&b, &c, &p, attn_opts_default(), 1);
        c.cancel = &stop;
        struct attn_trace t;
        size_t bytes = attn_trace_bytes(d);
        unsigned char *mem = bag_push(&b, bytes);
        memset(mem, 0x55, bytes);
        assert_int_equal(attn_trace_init(&t, d, mem, bytes), ATTN_OK);
        struct attn_cmat x = readable(p.x);
        struct attn_cmat h = readable(p.h);
        (void)attn_run(&c, &t, x, h, &p.w, attn_opts_default(), 1);
        const float *last = t.y.data + (size_t)(d.n_tok - 1) * t.y.ld;
        unsigned char still[4] = {0x55, 0x55, 0x55, 0x55};
        assert_memory_equal(last, still, sizeof still); /* never came that far */
        stop = 0;
        assert_int_equal(attn_run(&c, &t, x, h, &p.w, attn_opts_default(), 1), ATTN_OK);
        check_same_traces("after a cancelled run", want, &t, d.n_tok);
    }
    attn_pool_destroy(pool);
    bag_empty(&b);
}

/* float32 through at most two sums of 15 terms, from exact inputs. */
static void check_golden(const char *where, struct attn_cmat got, const double *want)
{
    struct bag b = {0};
    int n = got.rows * got.cols;
    double *bound = bag_push(&b, (size_t)n * sizeof *bound);
    for (int i = 0; i < n; i++) bound[i] = 3e-6 * (1 + fabs(want[i]));
    check_within(where, got, want, bound);
    bag_empty(&b);
}

static void the_golden_blocks_are_met(void **state)
{
    (void)state;
    const char *const names[] = {"h", "gain",   "bias",  "w_qkv",    "w_o",
                                 "x", "qkv",    "s_raw", "s_scaled", "p",
                                 "z", "y_proj", "y",     "b_qkv",    "b_o"};
    enum {
        H,
        GAIN,
        BIAS,
        W_QKV,
        W_O,
        X,
        QKV,
        RAW,
        SCALED,
        P,
        Z,
        PROJ,
        Y,
        B_QKV,
        B_O,
        ALL
    };
    for (int file = 0; file < 2; file++) {
        const char *path = file ? TEST_DIR "/golden/attn_odd.safetensors"
                                : TEST_DIR "/golden/attn_toy.safetensors";
        struct tensor t[ALL];
        for (int i = 0; i < ALL; i++) {
            bool there = safetensors_read(&t[i], path, names[i]);
            if (!there && (file || i < B_QKV)) fail_msg("%s: no %s", path, names[i]);
        }
        struct bag b = {0};
        struct attn_dims d = {t[H].shape[0], t[H].shape[1], t[P].shape[0]};
        struct attn_weights w = {tensor_mat(&t[W_QKV], 0), t[B_QKV].f32,
                                 tensor_mat(&t[W_O], 0), t[B_O].f32, NULL};
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            const char *name = attn_kernels_name(c.k);
            struct attn_mat x = input_copy(&b, tensor_mat(&t[X], 0));
            attn_layer_norm(&c, x, tensor_mat(&t[H], 0), t[GAIN].f32, t[BIAS].f32, 1e-5f);
            check_golden(name, readable(x), t[X].f64);
            for (int head = 0; head < d.n_head; head++) {
                struct problem p = {.dims = d, .x = x, .w = w};
                p.h = input_copy(&b, tensor_mat(&t[H], 0));
                struct attn_trace *run = run_new(&b, &c, &p, attn_opts_default(), head);
                check_golden(name, readable(run->qkv), t[QKV].f64);
                check_golden(name, view_here(run, ATTN_S_RAW), tensor_f64(&t[RAW], head));
                check_golden(name, view_here(run, ATTN_S_SCALED),
                             tensor_f64(&t[SCALED], head));
                check_golden(name, view_here(run, ATTN_P), tensor_f64(&t[P], head));
                check_golden(name, readable(run->z), t[Z].f64);
                check_golden(name, readable(run->y_proj), t[PROJ].f64);
                check_golden(name, readable(run->y), t[Y].f64);
            }
        }
        for (int i = 0; i < ALL; i++) tensor_free(&t[i]);
        bag_empty(&b);
    }
}

int attn_run_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tensor_of_a_run_follows_from_those_before_it),
        cmocka_unit_test(every_combination_of_options_is_obeyed),
        cmocka_unit_test(a_run_is_the_seven_stage_functions),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_later_token_never_changes_an_earlier_row),
        cmocka_unit_test(another_head_is_shown_as_its_own_run_would),
        cmocka_unit_test(nan_that_belongs_is_kept_and_counted),
        cmocka_unit_test(an_infinite_forbidden_key_or_value_never_reaches_a_row),
        cmocka_unit_test(a_cancelled_run_stops_and_leaves_nothing_behind),
        cmocka_unit_test(the_golden_blocks_are_met),
    };
    return cmocka_run_group_tests_name("attn run", tests, NULL, NULL);
}
