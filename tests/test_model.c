/* model: a seed means the same numbers everywhere, and GPT-2's size has GPT-2's spreads. */
#include "model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct attn_ctx context(void)
{
    struct attn_ctx c = {.k = attn_kernels_get("ref")};
    assert_non_null(c.k);
    return c;
}

/* A model in an arena of its own; the caller frees the arena. */
static struct model made(enum model_kind kind, uint32_t seed, struct arena *mem)
{
    struct attn_ctx c = context();
    struct model m;
    struct err e = {0};
    assert_true(arena_init(mem, model_bytes(kind), &e));
    assert_true(model_make(&m, kind, seed, mem, &c, &e));
    assert_int_equal(mem->used, mem->size); /* model_bytes is exact */
    return m;
}

/* Made once: it takes a while in a debug build. */
static struct arena gpt2_mem;
static struct model gpt2;

static int make_gpt2(void **state)
{
    (void)state;
    gpt2 = made(MODEL_GPT2_RANDOM, 1, &gpt2_mem);
    return 0;
}

static int free_gpt2(void **state)
{
    (void)state;
    arena_free(&gpt2_mem);
    return 0;
}

static const float *row_of(struct attn_cmat m, int i)
{
    return m.data + (size_t)i * (size_t)m.ld;
}

static const float *masked_row(const struct attn_trace *t, int i)
{
    return row_of(attn_trace_view(t, ATTN_S_MASKED, t->head), i);
}

static bool same_matrix(struct attn_cmat a, struct attn_cmat b)
{
    if (a.rows != b.rows || a.cols != b.cols) return false;
    for (int i = 0; i < a.rows; i++)
        if (memcmp(row_of(a, i), row_of(b, i), (size_t)a.cols * sizeof *a.data) != 0)
            return false;
    return true;
}

static bool same_vector(const float *a, const float *b, int n)
{
    if (!a || !b) return a == b;
    return same_matrix((struct attn_cmat){a, 1, n, n}, (struct attn_cmat){b, 1, n, n});
}

/* Tensor by tensor: what lies between them in the arena is nobody's. */
static bool same_model(const struct model *a, const struct model *b)
{
    int d = a->dims.d_model;
    return same_matrix(a->weights.w_qkv, b->weights.w_qkv) &&
           same_matrix(a->weights.w_o, b->weights.w_o) &&
           same_vector(a->weights.b_qkv, b->weights.b_qkv, 3 * d) &&
           same_vector(a->weights.b_o, b->weights.b_o, d) &&
           same_vector(a->ln_gain, b->ln_gain, d) &&
           same_vector(a->ln_bias, b->ln_bias, d) && same_matrix(a->h, b->h) &&
           same_matrix(a->x, b->x);
}

/* ---- what a model is ---------------------------------------------------------------------- */

static void the_toy_is_as_the_design_says(void **state)
{
    (void)state;
    struct arena mem;
    struct model m = made(MODEL_TOY, 15, &mem);
    static const char *const tokens[] = {"the", " cat", " sat", " down", "."};
    assert_int_equal(m.kind, MODEL_TOY);
    assert_int_equal(m.seed, 15);
    assert_int_equal(m.dims.n_tok, 5);
    assert_int_equal(m.dims.d_model, 8);
    assert_int_equal(m.dims.n_head, 2);
    for (int i = 0; i < 5; i++) assert_string_equal(m.tokens[i], tokens[i]);
    assert_string_equal(m.label, "toy · random weights");
    assert_true(m.weights.w_qkv.rows == 8 && m.weights.w_qkv.cols == 24);
    assert_true(m.weights.w_o.rows == 8 && m.weights.w_o.cols == 8);
    assert_true(m.h.rows == 5 && m.h.cols == 8 && m.x.rows == 5 && m.x.cols == 8);
    assert_null(m.weights.b_qkv);
    assert_null(m.weights.b_o);
    for (int j = 0; j < 8; j++) assert_true(m.ln_gain[j] == 1.0f && m.ln_bias[j] == 0.0f);
    arena_free(&mem);
}

static void gpt2_size_is_gpt2s(void **state)
{
    (void)state;
    const struct model *m = &gpt2;
    assert_int_equal(m->dims.n_tok, 1024);
    assert_int_equal(m->dims.d_model, 768);
    assert_int_equal(m->dims.n_head, 12);
    assert_null(m->tokens);
    assert_non_null(strstr(m->label, "random"));
    assert_true(m->weights.w_qkv.rows == 768 && m->weights.w_qkv.cols == 2304);
    assert_true(m->weights.w_o.rows == 768 && m->weights.w_o.cols == 768);
    assert_true(m->h.rows == 1024 && m->h.cols == 768);
    assert_true(m->x.rows == 1024 && m->x.cols == 768);
    assert_non_null(m->weights.b_qkv);
    assert_non_null(m->weights.b_o);
}

/* The words come from another implementation of the same definition, in Python. */
static void a_seed_means_the_same_bits_everywhere(void **state)
{
    (void)state;
    struct arena mem;
    struct model m = made(MODEL_TOY, 15, &mem);
    assert_true(m.h.data[0] == -0x1.5d4dd8p-1f);
    assert_true(m.h.data[1] == 0x1.f9193ap-1f);
    assert_true(m.h.data[7] == 0x1.17c878p-1f);
    assert_true(m.h.data[39] == -0x1.a123eep-1f);
    assert_true(m.weights.w_qkv.data[0] == 0x1.d2c0f6p-3f);
    assert_true(m.weights.w_qkv.data[7 * 24 + 7] == -0x1.4af3ecp-3f); /* W_Q[7][7] */
    arena_free(&mem);
    m = made(MODEL_GPT2_RANDOM, UINT32_MAX, &mem);
    assert_true(m.h.data[0] == 0x1.e6eb64p-7f);
    assert_true(m.h.data[1024 * 768 - 1] == 0x1.6b8b88p-3f);
    arena_free(&mem);
}

static void the_same_seed_gives_the_same_model(void **state)
{
    (void)state;
    struct arena mem_a, mem_b;
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct model a = made(MODEL_TOY, seed, &mem_a);
        struct model b = made(MODEL_TOY, seed, &mem_b);
        assert_true(same_model(&a, &b));
        arena_free(&mem_b);
        b = made(MODEL_TOY, seed + 1, &mem_b);
        assert_false(same_matrix(a.weights.w_qkv, b.weights.w_qkv));
        assert_false(same_matrix(a.weights.w_o, b.weights.w_o));
        assert_false(same_matrix(a.h, b.h));
        arena_free(&mem_a);
        arena_free(&mem_b);
    }
    struct model again = made(MODEL_GPT2_RANDOM, 1, &mem_a);
    assert_true(same_model(&again, &gpt2));
    arena_free(&mem_a);
}

static void every_kernel_set_makes_the_same_model(void **state)
{
    (void)state;
    struct arena mem, other_mem;
    struct model m = made(MODEL_TOY, 15, &mem);
    struct attn_ctx c = context();
    for (int i = 0; (c.k = attn_kernels_at(i)) != NULL; i++) {
        struct model other;
        assert_true(arena_init(&other_mem, model_bytes(MODEL_TOY), NULL));
        assert_true(model_make(&other, MODEL_TOY, 15, &other_mem, &c, NULL));
        assert_true(same_model(&m, &other));
        arena_free(&other_mem);
    }
    arena_free(&mem);
}

/* The input is a prefix by construction, and layer norm takes each row for itself. */
static void a_tokens_row_depends_on_no_other_token(void **state)
{
    (void)state;
    struct attn_ctx c = context();
    enum { N = 7, D = 768 };
    float *x = malloc(sizeof(float[N * D]));
    assert_non_null(x);
    struct attn_cmat h = {gpt2.h.data, N, D, D};
    assert_int_equal(attn_layer_norm(&c, (struct attn_mat){x, N, D, D}, h, gpt2.ln_gain,
                                     gpt2.ln_bias, MODEL_LN_EPS),
                     ATTN_OK);
    assert_memory_equal(x, gpt2.x.data, sizeof(float[N * D]));
    free(x);
}

/* ---- spreads ---------------------------------------------------------------------------------- */

struct moments {
    double mean, sd;
};

/* Of columns col0 .. col0 + cols - 1 of m. */
static struct moments moments_of(struct attn_cmat m, int col0, int cols)
{
    double n = (double)m.rows * cols, sum = 0.0, squares = 0.0;
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < cols; j++) sum += (double)m.data[i * m.ld + col0 + j];
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < cols; j++) {
            double d = (double)m.data[i * m.ld + col0 + j] - sum / n;
            squares += d * d;
        }
    return (struct moments){sum / n, sqrt(squares / n)};
}

/* Five standard errors of a mean and of a standard deviation of n normals. */
static void spread_is(struct attn_cmat m, int col0, int cols, double mean, double sd)
{
    double n = (double)m.rows * cols;
    struct moments got = moments_of(m, col0, cols);
    assert_true(fabs(got.mean - mean) < 5.0 * sd / sqrt(n));
    assert_true(fabs(got.sd - sd) < 5.0 * sd / sqrt(2.0 * n) + 1e-4 * sd);
}

static struct attn_cmat vector(const float *v, int n)
{
    return (struct attn_cmat){v, 1, n, n};
}

static void gpt2s_spreads_are_those_of_the_real_first_block(void **state)
{
    (void)state;
    const struct attn_weights *w = &gpt2.weights;
    static const double qk[12] = {0.245, 0.278, 0.229, 0.326, 0.286, 0.304,
                                  0.192, 0.288, 0.214, 0.142, 0.132, 0.148};
    for (int h = 0; h < 12; h++) {
        spread_is(w->w_qkv, h * 64, 64, 0.0, qk[h]);
        spread_is(w->w_qkv, 768 + h * 64, 64, 0.0, qk[h]);
    }
    spread_is(w->w_qkv, 2 * 768, 768, 0.0, 0.058);
    spread_is(w->w_o, 0, 768, 0.0, 0.148);
    spread_is(vector(w->b_qkv, 768), 0, 768, 0.0, 0.343);
    spread_is(vector(w->b_qkv + 768, 768), 0, 768, 0.0, 0.183);
    spread_is(vector(w->b_qkv + 1536, 768), 0, 768, 0.0, 0.048);
    spread_is(vector(w->b_o, 768), 0, 768, 0.0, 0.259);
    spread_is(vector(gpt2.ln_gain, 768), 0, 768, 0.180, 0.041);
    spread_is(vector(gpt2.ln_bias, 768), 0, 768, 0.0, 0.036);
    spread_is(gpt2.h, 0, 768, 0.0, 0.14);
}

static void the_numbers_are_distributed_normally(void **state)
{
    (void)state;
    size_t n = (size_t)gpt2.h.rows * (size_t)gpt2.h.cols;
    for (int k = -12; k <= 12; k++) {
        double z = k / 4.0;
        size_t below = 0;
        for (size_t i = 0; i < n; i++) below += (double)gpt2.h.data[i] < z * 0.14;
        double want = 0.5 * (1.0 + erf(z / sqrt(2.0)));
        /* 0.0005 of the approximation, and five standard errors */
        assert_true(fabs((double)below / (double)n - want) <
                    0.0005 + 5.0 * sqrt(want * (1.0 - want) / (double)n));
    }
    assert_true(attn_stats_of(gpt2.h).max_abs < 5.7f * 0.14f);
}

static double correlation(const float *a, const float *b, size_t n)
{
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (size_t i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

static void neighbours_streams_and_seeds_are_unrelated(void **state)
{
    (void)state;
    size_t n = (size_t)gpt2.weights.w_o.rows * (size_t)gpt2.weights.w_o.cols;
    double bound = 5.0 / sqrt((double)n);
    const float *w = gpt2.weights.w_o.data, *h = gpt2.h.data;
    assert_true(fabs(correlation(w, h, n)) < bound);
    for (size_t lag = 1; lag <= 4; lag++)
        assert_true(fabs(correlation(h, h + lag, n)) < bound);
    assert_true(fabs(correlation(h, h + 768, n)) < bound);
    struct arena mem;
    struct model other = made(MODEL_GPT2_RANDOM, 2, &mem);
    assert_true(fabs(correlation(h, other.h.data, n)) < bound);
    arena_free(&mem);
}

static void x_has_mean_0_and_variance_1_before_the_gain(void **state)
{
    (void)state;
    for (int i = 0; i < 1024; i++) {
        double sum = 0.0, squares = 0.0;
        for (int j = 0; j < 768; j++) {
            double z = ((double)row_of(gpt2.x, i)[j] - (double)gpt2.ln_bias[j]) /
                       (double)gpt2.ln_gain[j];
            sum += z;
            squares += z * z;
        }
        assert_true(fabs(sum / 768) < 1e-5);
        /* variance / (variance + eps): 1e-5 / 0.14^2 short of 1, on average */
        assert_true(fabs(squares / 768 - 1.0) < 1e-3);
    }
    struct arena mem;
    struct model toy = made(MODEL_TOY, 15, &mem);
    for (int i = 0; i < 5; i++) {
        struct attn_cmat row = {row_of(toy.x, i), 1, 8, 8};
        struct moments m = moments_of(row, 0, 8);
        assert_true(fabs(m.mean) < 1e-6 && fabs(m.sd - 1.0) < 1e-4);
    }
    arena_free(&mem);
}

/* ---- as peaked as real rows ---------------------------------------------------------------------- */

/* Means over rows 1 .. n-1 of what a causal reader sees. */
struct peaks {
    double variance; /* of scaled scores */
    double entropy;  /* of weights, as a share of the most there can be */
};

static struct peaks peaks_of(const struct attn_ctx *c, const struct attn_trace *t)
{
    struct peaks p = {0};
    int n = t->dims.n_tok;
    for (int i = 1; i < n; i++) {
        const float *s = masked_row(t, i);
        struct attn_cmat seen = {s, 1, i + 1, i + 1};
        double sd = moments_of(seen, 0, i + 1).sd;
        p.variance += sd * sd * (i + 1) / i / (n - 1);
        struct attn_row row = attn_row_explain(c, NULL, s, n);
        p.entropy += (double)row.entropy / log2(i + 1.0) / (n - 1);
    }
    return p;
}

/* All heads of the first n_tok tokens: mean of the heads' sd and of their entropies. */
static struct peaks peaks_of_block(const struct model *m, int n_tok)
{
    struct attn_ctx c = context();
    struct attn_dims d = {n_tok, m->dims.d_model, m->dims.n_head};
    struct arena mem;
    assert_true(arena_init(&mem, attn_trace_bytes(d), NULL));
    struct attn_trace t;
    assert_int_equal(attn_trace_init(&t, d, mem.data, mem.size), ATTN_OK);
    struct attn_cmat x = {m->x.data, n_tok, d.d_model, m->x.ld};
    struct attn_cmat h = {m->h.data, n_tok, d.d_model, m->h.ld};
    struct attn_opts opts = {.scale = true, .causal = true, .residual = true};
    struct peaks mean = {0};
    for (int head = 0; head < d.n_head; head++) {
        assert_int_equal(attn_run(&c, &t, x, h, &m->weights, opts, head), ATTN_OK);
        struct peaks p = peaks_of(&c, &t);
        mean.variance += sqrt(p.variance) / d.n_head;
        mean.entropy += p.entropy / d.n_head;
    }
    arena_free(&mem);
    return mean;
}

/* The real first block, two prompts of 6 tokens: sd 1.58, entropy 0.65; one of 16: 0.67. */
static void rows_are_as_peaked_as_the_real_first_blocks(void **state)
{
    (void)state;
    static const int n_tok[] = {6, 16};
    for (int k = 0; k < 2; k++) {
        struct peaks p = peaks_of_block(&gpt2, n_tok[k]);
        print_message("%d tokens: score sd %.2f, entropy %.2f of the most\n", n_tok[k],
                      p.variance, p.entropy);
        assert_true(p.variance > 1.2 && p.variance < 2.0);
        assert_true(p.entropy > 0.55 && p.entropy < 0.75);
    }
}

/* Every number of the first picture can be read, and no row is all one or all even. */
static void the_first_toy_is_readable(void **state)
{
    (void)state;
    struct attn_ctx c = context();
    struct arena mem, room;
    struct model m = made(MODEL_TOY, 15, &mem);
    assert_true(arena_init(&room, attn_trace_bytes(m.dims), NULL));
    struct attn_trace t;
    assert_int_equal(attn_trace_init(&t, m.dims, room.data, room.size), ATTN_OK);
    struct attn_opts opts = {.scale = true, .causal = true, .residual = true};
    for (int head = 0; head < 2; head++) {
        assert_int_equal(attn_run(&c, &t, m.x, m.h, &m.weights, opts, head), ATTN_OK);
        assert_true(t.stats[ATTN_Q].max_abs < 3.5f && t.stats[ATTN_K].max_abs < 3.5f);
        assert_true(t.stats[ATTN_S_RAW].max_abs < 10.0f);
        for (int i = 1; i < 5; i++) {
            struct attn_row row = attn_row_explain(&c, NULL, masked_row(&t, i), 5);
            assert_true(row.top > 0.45f && row.top < 0.95f);
        }
    }
    arena_free(&room);
    arena_free(&mem);
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static void too_little_room_fails_cleanly(void **state)
{
    (void)state;
    struct attn_ctx c = context();
    bool done = false;
    for (size_t room = 0; !done; room += 64) {
        struct arena mem;
        struct model m = {.label = "untouched"};
        struct err e = {0};
        assert_true(arena_init(&mem, room, NULL));
        done = model_make(&m, MODEL_TOY, 1, &mem, &c, &e);
        assert_int_equal(done, room >= model_bytes(MODEL_TOY));
        if (!done) {
            assert_int_equal(e.code, ERR_SYSTEM);
            assert_int_equal(mem.used, 0);
            assert_string_equal(m.label, "untouched");
        }
        arena_free(&mem);
    }
}

static void a_cancelled_model_leaves_the_arena_as_it_was(void **state)
{
    (void)state;
    const volatile int cancel = 1;
    struct attn_ctx c = context();
    c.cancel = &cancel;
    for (int kind = MODEL_TOY; kind <= MODEL_GPT2_RANDOM; kind++) {
        struct arena mem;
        struct model m = {.label = "untouched"};
        struct err e = {0};
        assert_true(arena_init(&mem, 64 + model_bytes((enum model_kind)kind), NULL));
        assert_non_null(arena_push(&mem, 1, 1));
        assert_false(model_make(&m, (enum model_kind)kind, 1, &mem, &c, &e));
        assert_int_equal(e.code, ERR_CANCELLED);
        assert_int_equal(mem.used, 64);
        assert_string_equal(m.label, "untouched");
        arena_free(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_toy_is_as_the_design_says),
        cmocka_unit_test(gpt2_size_is_gpt2s),
        cmocka_unit_test(a_seed_means_the_same_bits_everywhere),
        cmocka_unit_test(the_same_seed_gives_the_same_model),
        cmocka_unit_test(every_kernel_set_makes_the_same_model),
        cmocka_unit_test(a_tokens_row_depends_on_no_other_token),
        cmocka_unit_test(gpt2s_spreads_are_those_of_the_real_first_block),
        cmocka_unit_test(the_numbers_are_distributed_normally),
        cmocka_unit_test(neighbours_streams_and_seeds_are_unrelated),
        cmocka_unit_test(x_has_mean_0_and_variance_1_before_the_gain),
        cmocka_unit_test(rows_are_as_peaked_as_the_real_first_blocks),
        cmocka_unit_test(the_first_toy_is_readable),
        cmocka_unit_test(too_little_room_fails_cleanly),
        cmocka_unit_test(a_cancelled_model_leaves_the_arena_as_it_was),
    };
    return cmocka_run_group_tests(tests, make_gpt2, free_gpt2);
}
