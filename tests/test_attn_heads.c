/* attn_heads: the measures against sums in double over attn_run's own weights, head by
 * head; the images cell by cell; later tokens, NaN, cancelling and refusals. */
#include "attn_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct heads {
    struct attn_heads_out out;
    int side;
    enum attn_status status;
};

static struct heads heads_new(struct bag *b, const struct attn_ctx *c,
                              struct attn_cmat qkv, const int32_t *ids,
                              struct attn_opts o, struct attn_dims d)
{
    struct heads h = {.side = attn_heads_side(d.n_tok)};
    size_t pixels = (size_t)d.n_head * h.side * h.side, bytes = attn_heads_bytes(d);
    h.out.scores = bag_push(b, pixels * sizeof(float));
    h.out.weights = bag_push(b, pixels * sizeof(float));
    h.out.sum = bag_push(b, (size_t)d.n_head * sizeof *h.out.sum);
    h.status = attn_heads(c, &h.out, qkv, ids, o, d, bag_push(b, bytes), bytes);
    return h;
}

static bool same_place(int pixel, int cell, int side, int n)
{
    return (int)((int64_t)cell * side / n) == pixel;
}

/* The value of largest magnitude that pixel (a, b) stands for; none: what it then has. */
static float pixel_of(struct attn_cmat m, bool causal, int side, int a, int b, float none)
{
    float best = none;
    bool any = false;
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < (causal ? i + 1 : m.cols); j++) {
            if (!same_place(a, i, side, m.rows) || !same_place(b, j, side, m.rows))
                continue;
            float v = m.data[(size_t)i * m.ld + j];
            if (!any || fabsf(v) > fabsf(best)) best = v;
            any = true;
        }
    return best;
}

static void near(const char *where, const char *what, double got, double want)
{
    if (isnan(want) ? isnan(got) : fabs(got - want) <= 2e-5 * fmax(1.0, fabs(want)))
        return;
    fail_msg("%s: %s is %.9g, not %.9g", where, what, got, want);
}

/* The definitions, one row after another, over the weights of attn_run. */
static void check_sums(const char *where, const struct attn_head_sum *got,
                       struct attn_cmat p, const int32_t *ids)
{
    int n = p.rows, repeats = 0;
    double entropy = 0, previous = 0, first = 0, itself = 0, induction = 0;
    for (int i = 0; i < n; i++) {
        const float *row = p.data + (size_t)i * p.ld;
        for (int j = 0; j < n; j++)
            if (row[j] > 0) entropy -= (double)row[j] * log2((double)row[j]);
        if (i == 0) continue;
        previous += (double)row[i - 1];
        first += (double)row[0];
        itself += (double)row[i];
        bool any = false;
        for (int j = 0; ids && j + 1 < i; j++) {
            if (ids[j] != ids[i]) continue;
            any = true;
            induction += (double)row[j + 1];
        }
        repeats += any;
    }
    double later = n > 1 ? (double)(n - 1) : (double)NAN;
    near(where, "entropy", got->entropy, entropy / n);
    near(where, "previous", got->previous, previous / later);
    near(where, "first", got->first, first / later);
    near(where, "itself", got->itself, itself / later);
    near(where, "induction", got->induction,
         induction / (repeats ? (double)repeats : (double)NAN));
    assert_int_equal(got->n_odd, 0);
}

static void check_images(const char *where, const struct heads *x, int h,
                         const struct attn_trace *t)
{
    struct attn_cmat s = readable(t->s_raw), p = readable(t->p);
    for (int a = 0; a < x->side; a++)
        for (int b = 0; b < x->side; b++) {
            size_t at = ((size_t)h * x->side + (size_t)a) * x->side + (size_t)b;
            float raw = pixel_of(s, t->opts.causal, x->side, a, b, -INFINITY);
            float weight = pixel_of(p, t->opts.causal, x->side, a, b, 0);
            float got = x->out.scores[at];
            bool ok = got == raw || fabsf(got - raw) <= 1e-4f ||
                      fabsf(fabsf(got) - fabsf(raw)) <= 1e-4f; /* a tie of two signs */
            if (!ok || fabsf(x->out.weights[at] - weight) > 1e-5f)
                fail_msg("%s: head %d pixel %d %d: %g and %g, not %g and %g", where, h, a,
                         b, (double)got, (double)x->out.weights[at], (double)raw,
                         (double)weight);
        }
}

static void every_head_agrees_with_the_run_of_that_head(void **state)
{
    (void)state;
    static const struct attn_dims dims[] = {{1, 8, 2},   {2, 12, 3},   {5, 8, 2},
                                            {33, 40, 4}, {64, 64, 1},  {65, 48, 2},
                                            {97, 15, 5}, {130, 128, 2}};
    struct rng r = {71};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct attn_dims d = dims[i];
        struct bag b = {0};
        struct problem p = problem_new(&b, &r, d, true);
        int32_t *ids = bag_push(&b, (size_t)d.n_tok * sizeof *ids);
        for (int t = 0; t < d.n_tok; t++) ids[t] = rng_int(&r, 0, d.n_tok / 3);
        struct attn_ctx c = {0};
        for (int k = 0; (c.k = case_kernels(k)); k++) {
            struct attn_opts o = opts_of((int)i + k);
            struct attn_trace *t = run_new(&b, &c, &p, o, 0);
            const int32_t *known = i == 3 ? NULL : ids;
            struct heads x = heads_new(&b, &c, readable(t->qkv), known, o, d);
            assert_int_equal(x.status, ATTN_OK);
            for (int h = 0; h < d.n_head; h++) {
                struct where w = where_is(c.k, "N=%d d=%d head %d of %d", d.n_tok,
                                          d.d_model, h, d.n_head);
                assert_int_equal(attn_run_head(&c, t, h), ATTN_OK);
                check_sums(w.text, &x.out.sum[h], readable(t->p), known);
                check_images(w.text, &x, h, t);
            }
        }
        bag_empty(&b);
    }
}

/* Keys that are plain: token i's query fits the key of one chosen token alone. */
static struct attn_mat pointing(struct bag *b, int n, const int *at)
{
    struct attn_mat m = {bag_push(b, (size_t)n * 3 * n * sizeof(float)), n, 3 * n, 3 * n};
    memset(m.data, 0, (size_t)n * 3 * n * sizeof(float));
    for (int i = 0; i < n; i++) {
        m.data[(size_t)i * m.ld + at[i]] = 4000;
        m.data[(size_t)i * m.ld + n + i] = 1;
    }
    return m;
}

static void a_head_that_does_one_thing_measures_one(void **state)
{
    (void)state;
    enum { N = 6 };
    static const int32_t ids[N] = {7, 8, 9, 7, 8, 9};
    static const int previous[N] = {0, 0, 1, 2, 3, 4}, itself[N] = {0, 1, 2, 3, 4, 5};
    static const int first[N] = {0}, induction[N] = {0, 1, 2, 1, 2, 3};
    const int *const does[] = {previous, itself, first, induction};
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct attn_dims d = {N, N, 1};
    for (int k = 0; k < 4; k++) {
        struct bag b = {0};
        struct attn_mat qkv = pointing(&b, N, does[k]);
        struct heads x = heads_new(&b, &c, readable(qkv), ids, attn_opts_default(), d);
        const struct attn_head_sum *s = x.out.sum;
        const double got[] = {s->previous, s->itself, s->first, s->induction};
        near("one thing", "its measure", got[k], 1);
        near("one thing", "entropy", s->entropy, 0);
        bag_empty(&b);
    }
}

static void a_token_that_follows_itself_is_not_induction(void **state)
{
    (void)state;
    static const int32_t ids[3] = {5, 5, 6};
    static const int itself[3] = {0, 1, 2};
    struct bag b = {0};
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct attn_mat qkv = pointing(&b, 3, itself);
    struct heads x = heads_new(&b, &c, readable(qkv), ids, attn_opts_default(),
                               (struct attn_dims){3, 3, 1});
    assert_true(isnan(x.out.sum[0].induction));
    near("itself", "itself", x.out.sum[0].itself, 1);
    bag_empty(&b);
}

static void a_nan_is_shown_counted_and_in_no_mean(void **state)
{
    (void)state;
    struct rng r = {5};
    struct bag b = {0};
    struct attn_dims d = {70, 16, 2};
    struct problem p = problem_new(&b, &r, d, false);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 0);
    t->qkv.data[(size_t)60 * t->qkv.ld + 16 + 3] = NAN; /* a key of head 0 */
    struct heads x = heads_new(&b, &c, readable(t->qkv), NULL, attn_opts_default(), d);
    assert_int_equal(x.out.sum[0].n_odd, 10); /* rows 60 to 69 see it */
    assert_true(isfinite(x.out.sum[0].entropy));
    int at = 60 * 64 / 70;
    assert_true(isnan(x.out.scores[(size_t)at * 64 + at]));
    assert_true(isnan(x.out.weights[(size_t)at * 64 + at]));
    assert_false(isnan(x.out.scores[(size_t)at * 64 + at - 1]));
    assert_int_equal(x.out.sum[1].n_odd, 0);
    bag_empty(&b);
}

static void threads_change_no_bit_and_cancelling_stops(void **state)
{
    (void)state;
    struct rng r = {9};
    struct bag b = {0};
    struct attn_dims d = {140, 64, 4};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 0);
    struct heads one = heads_new(&b, &c, readable(t->qkv), NULL, attn_opts_default(), d);
    c.pool = attn_pool_create(3);
    struct heads many = heads_new(&b, &c, readable(t->qkv), NULL, attn_opts_default(), d);
    size_t pixels = (size_t)d.n_head * 64 * 64 * sizeof(float);
    assert_memory_equal(one.out.scores, many.out.scores, pixels);
    assert_memory_equal(one.out.weights, many.out.weights, pixels);
    for (int h = 0; h < d.n_head; h++)
        assert_true(one.out.sum[h].entropy == many.out.sum[h].entropy);
    const volatile int stop = 1;
    c.cancel = &stop;
    memset(many.out.sum, 0, (size_t)d.n_head * sizeof *many.out.sum);
    size_t bytes = attn_heads_bytes(d);
    assert_int_equal(attn_heads(&c, &many.out, readable(t->qkv), NULL,
                                attn_opts_default(), d, bag_push(&b, bytes), bytes),
                     ATTN_OK);
    assert_true(many.out.sum[3].entropy == 0);
    attn_pool_destroy(c.pool);
    bag_empty(&b);
}

static void short_memory_and_other_shapes_are_refused(void **state)
{
    (void)state;
    struct bag b = {0};
    struct attn_dims d = {6, 8, 2};
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct attn_cmat qkv = {bag_push(&b, 6 * 24 * sizeof(float)), 6, 24, 24};
    struct attn_heads_out out = {0};
    size_t bytes = attn_heads_bytes(d);
    void *work = bag_push(&b, bytes);
    assert_int_equal(
        attn_heads(&c, &out, qkv, NULL, attn_opts_default(), d, work, bytes - 1),
        ATTN_NO_ROOM);
    qkv.cols = 23;
    assert_int_equal(attn_heads(&c, &out, qkv, NULL, attn_opts_default(), d, work, bytes),
                     ATTN_BAD_SHAPE);
    assert_int_equal(attn_heads_bytes((struct attn_dims){6, 8, 3}), 0);
    bag_empty(&b);
}

int attn_heads_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_head_agrees_with_the_run_of_that_head),
        cmocka_unit_test(a_head_that_does_one_thing_measures_one),
        cmocka_unit_test(a_token_that_follows_itself_is_not_induction),
        cmocka_unit_test(a_nan_is_shown_counted_and_in_no_mean),
        cmocka_unit_test(threads_change_no_bit_and_cancelling_stops),
        cmocka_unit_test(short_memory_and_other_shapes_are_refused),
    };
    return cmocka_run_group_tests_name("heads", tests, NULL, NULL);
}
