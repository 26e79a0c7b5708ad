/* Decoding: a prefill at once and then one token at a time, with cached keys and values,
 * stage by stage, gives the rows of the pass over all tokens at once; and what it costs. */
#include "attn_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OPTS = 12 };

/* Whatever can be decoded: each row sees itself and those before it. */
static struct attn_opts opts_at(int i)
{
    struct attn_opts o = attn_opts_default();
    o.scale = i != 1;
    o.residual = i != 2;
    o.no_max = i == 3 || i == 11;
    o.no_bias = i == 4;
    o.swapped = i == 5 || i == 11;
    o.divisor = i == 6 ? ATTN_D_HEAD : ATTN_SQRT_D_HEAD;
    o.precision = i == 7              ? ATTN_BFLOAT16
                  : i == 8 || i == 11 ? ATTN_FLOAT16
                                      : ATTN_FLOAT32;
    o.temperature = i == 9 ? 0.25f : 0.0f;
    o.silent = i == 10 ? 2 : 0;
    return o;
}

static struct attn_mat matrix(struct bag *b, int rows, int cols)
{
    return (struct attn_mat){bag_push(b, (size_t)rows * cols * sizeof(float)), rows, cols,
                             cols};
}

static struct attn_mat rows_of(struct attn_mat m, int from, int to)
{
    m.data += (size_t)from * m.ld;
    m.rows = to - from;
    return m;
}

static struct attn_mat columns_of(struct attn_mat m, int from, int n)
{
    m.data += from;
    m.cols = n;
    return m;
}

/* What is kept from token to token, and what a pass makes. */
struct decoder {
    struct attn_mat qkv; /* [n_tok, 3*d_model]: keys and values are the cache */
    struct attn_mat s_raw, s_scaled, p; /* of head 0: a row gets as many as there are */
    struct attn_mat z, y_proj, y;
};

static struct decoder decoder_new(struct bag *b, struct attn_dims d)
{
    int n = d.n_tok;
    int w = d.d_model;
    return (struct decoder){matrix(b, n, 3 * w), matrix(b, n, n), matrix(b, n, n),
                            matrix(b, n, n),     matrix(b, n, w), matrix(b, n, w),
                            matrix(b, n, w)};
}

static void swap(struct attn_mat qkv, int w)
{
    for (int i = 0; i < qkv.rows; i++)
        for (int a = 0; a < w; a++) {
            float *row = qkv.data + (size_t)i * qkv.ld;
            float was = row[a];
            row[a] = row[w + a];
            row[w + a] = was;
        }
}

/* Rows from .. to - 1 of one head, after those before. */
static void head_pass(const struct attn_ctx *c, struct decoder *t, struct attn_dims d,
                      struct attn_opts o, int h, int from, int to)
{
    int k = attn_d_head(d);
    struct attn_mat q = columns_of(rows_of(t->qkv, from, to), h * k, k);
    struct attn_mat keys = columns_of(rows_of(t->qkv, 0, to), d.d_model + h * k, k);
    struct attn_mat values = columns_of(rows_of(t->qkv, 0, to), 2 * d.d_model + h * k, k);
    struct attn_mat z = columns_of(rows_of(t->z, from, to), h * k, k);
    struct attn_mat s = columns_of(rows_of(t->s_raw, from, to), 0, to);
    struct attn_mat scaled = columns_of(rows_of(t->s_scaled, from, to), 0, to);
    struct attn_mat p = columns_of(rows_of(t->p, from, to), 0, to);
    bool many = to - from > 1; /* a prefill, from the first token on, has a mask */
    assert_int_equal(attn_scores(c, s, readable(q), readable(keys)), ATTN_OK);
    assert_int_equal(attn_round(c, s, o.precision), ATTN_OK);
    assert_int_equal(attn_scale_as(c, scaled, readable(s), o, d), ATTN_OK);
    if (many) assert_int_equal(attn_mask_as(c, p, readable(scaled), o), ATTN_OK);
    assert_int_equal(attn_softmax_as(c, p, readable(many ? p : scaled), o, NULL),
                     ATTN_OK);
    o.causal = many;
    assert_int_equal(attn_weighted_sum_as(c, z, readable(p), readable(values), o),
                     ATTN_OK);
    for (int i = 0; attn_is_silent(o, h) && i < z.rows; i++)
        memset(z.data + (size_t)i * z.ld, 0, (size_t)k * sizeof(float));
}

static void pass(const struct attn_ctx *c, struct decoder *t, const struct problem *p,
                 struct attn_opts o, int from, int to)
{
    int w = p->dims.d_model;
    struct attn_mat qkv = rows_of(t->qkv, from, to);
    struct attn_mat y_proj = rows_of(t->y_proj, from, to);
    struct attn_mat y = rows_of(t->y, from, to);
    const float *b_qkv = o.no_bias ? NULL : p->w.b_qkv;
    const float *b_o = o.no_bias ? NULL : p->w.b_o;
    struct attn_cmat none = {NULL, 0, 0, 0};
    assert_int_equal(
        attn_project(c, qkv, readable(rows_of(p->x, from, to)), p->w.w_qkv, b_qkv),
        ATTN_OK);
    if (o.swapped) swap(qkv, w);
    assert_int_equal(attn_round(c, qkv, o.precision), ATTN_OK);
    for (int h = p->dims.n_head - 1; h >= 0; h--)
        head_pass(c, t, p->dims, o, h, from, to);
    struct attn_cmat z = readable(rows_of(t->z, from, to));
    assert_int_equal(attn_output(c, y_proj, z, p->w.w_o, b_o, none), ATTN_OK);
    assert_int_equal(attn_round(c, y_proj, o.precision), ATTN_OK);
    for (int i = 0; i < y.rows; i++)
        for (int a = 0; a < w; a++) {
            float h = p->h.data[(size_t)(from + i) * p->h.ld + a];
            float v = y_proj.data[(size_t)i * y_proj.ld + a];
            y.data[(size_t)i * y.ld + a] =
                attn_rounded(o.residual ? v + h : v, o.precision);
        }
}

/* The part that exists: columns 0 .. i of row i. */
static void check_rows(const char *where, struct attn_cmat got, struct attn_cmat want)
{
    for (int i = 0; i < want.rows; i++)
        check_same(where, (struct attn_cmat){got.data + (size_t)i * got.ld, 1, i + 1, 1},
                   (struct attn_cmat){want.data + (size_t)i * want.ld, 1, i + 1, 1});
}

/* The sum below a softmax is taken in another order where the row is shorter, and heads out
 * of view go the fused way in attn_run: weights, and what they lead to, are the same within
 * rounding. Some units of 2^-24 in numbers of a few units; in a narrower format a number
 * may fall on the other side of a tie, and be off by one of its units. */
static void check_near(const char *where, struct attn_cmat got, struct attn_cmat want,
                       enum attn_precision precision, bool row_only)
{
    static const double unit[ATTN_PRECISION_COUNT] = {
        [ATTN_FLOAT32] = 1e-5, [ATTN_BFLOAT16] = 0x1p-6, [ATTN_FLOAT16] = 0x1p-9};
    for (int i = 0; i < want.rows; i++)
        for (int j = 0; j < (row_only ? i + 1 : want.cols); j++) {
            double x = (double)want.data[(size_t)i * want.ld + j];
            double y = (double)got.data[(size_t)i * got.ld + j];
            if (!(fabs(x - y) <= unit[precision] * (1 + fabs(x))))
                fail_msg("%s: [%d,%d] is %.9g, decoded %.9g", where, i, j, x, y);
        }
}

static void decode_and_check(struct rng *r, struct attn_dims d, int prefill, int option)
{
    struct bag b = {0};
    struct problem p = problem_new(&b, r, d, true);
    struct attn_opts o = opts_at(option);
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct where w = where_is(c.k, "decode N=%d d=%d H=%d prefill %d options %d",
                                  d.n_tok, d.d_model, d.n_head, prefill, option);
        struct attn_trace *full = run_new(&b, &c, &p, o, 0);
        struct decoder t = decoder_new(&b, d);
        pass(&c, &t, &p, o, 0, prefill);
        for (int i = prefill; i < d.n_tok; i++) pass(&c, &t, &p, o, i, i + 1);
        check_same(w.text, readable(t.qkv), readable(full->qkv));
        check_rows(w.text, readable(t.s_raw), readable(full->s_raw));
        check_rows(w.text, readable(t.s_scaled), readable(full->s_scaled));
        check_near(w.text, readable(t.p), readable(full->p), o.precision, true);
        check_near(w.text, readable(t.z), readable(full->z), o.precision, false);
        check_near(w.text, readable(t.y_proj), readable(full->y_proj), o.precision,
                   false);
        check_near(w.text, readable(t.y), readable(full->y), o.precision, false);
    }
    bag_empty(&b);
}

static void decoded_rows_are_those_of_the_pass_over_all_tokens(void **state)
{
    (void)state;
    struct rng r = {77};
    for (int o = 0; o < OPTS; o++) {
        decode_and_check(&r, (struct attn_dims){5, 8, 2}, 3, o); /* the toy */
        decode_and_check(&r, (struct attn_dims){5, 8, 2}, 1, o);
        decode_and_check(&r, (struct attn_dims){21, 30, 3}, 1 + o, o);
        decode_and_check(&r, (struct attn_dims){70, 128, 2}, 40, o);
    }
    decode_and_check(&r, (struct attn_dims){24, 768, 12}, 12, 0); /* GPT-2's widths */
}

static void decoding_costs_what_each_token_adds(void **state)
{
    (void)state;
    static const struct attn_dims dims[] = {{5, 8, 2}, {64, 768, 12}, {9, 30, 3}};
    for (int k = 0; k < 3; k++) {
        struct attn_dims d = dims[k];
        uint64_t w = (uint64_t)d.d_model;
        uint64_t sum = 0;
        for (d.n_tok = 1; d.n_tok <= dims[k].n_tok; d.n_tok++) {
            uint64_t n = (uint64_t)d.n_tok;
            uint64_t heads = (uint64_t)d.n_head;
            struct attn_decode_cost c = attn_cost_decode(d);
            /* q, k, v and W_O; a dot product and a scaled value a key; to divide by
             * sqrt(d_head), and softmax's four, a score */
            assert_int_equal(c.flops, 8 * w * w + n * (4 * w + 5 * heads));
            assert_int_equal(c.flops_again, attn_cost_block(d).flops_causal);
            assert_int_equal(c.cache_bytes, n * 2 * w * 4);
            assert_int_equal(c.read_bytes, (n - 1) * 2 * w * 4);
            assert_int_equal(c.weight_bytes, 4 * w * w * 4);
            sum += c.flops;
        }
        /* One after another they cost what one pass over all of them does. */
        assert_int_equal(sum, attn_cost_block(dims[k]).flops_causal);
    }
}

int attn_decode_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoded_rows_are_those_of_the_pass_over_all_tokens),
        cmocka_unit_test(decoding_costs_what_each_token_adds),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
