/* model: the forward pass against double, from every kind of file; what is kept and what is
 * computed again; the head; a block to look at. */
#include "model_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEEP_ALL = 1 << 30, N = 11 };
static const int32_t ids[N] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 19};

static struct attn_ctx context(void)
{
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    assert_non_null(c.k);
    return c;
}

static struct model_net *opened(const char *path, size_t keep)
{
    struct err e = {0};
    struct model_net *m = NULL;
    if (!model_net_open(&m, path, context().k, keep, &e)) fail_msg("%s", e.text);
    return m;
}

static void ran(struct model_net *m, const int32_t *text, int n, int blocks)
{
    struct err e = {0};
    struct attn_ctx c = context();
    if (!model_net_feed(m, text, n, &e) || !model_net_run(m, blocks, &c, &e))
        fail_msg("%s", e.text);
}

static void check_near(const char *what, struct attn_cmat got, const double *want,
                       double near)
{
    for (int i = 0; i < got.rows; i++)
        for (int j = 0; j < got.cols; j++) {
            double g = (double)got.data[(size_t)i * got.ld + j];
            double w = want[(size_t)i * got.cols + j];
            if (!(fabs(g - w) <= near))
                fail_msg("%s: [%d,%d] is %.9g, not %.9g", what, i, j, g, w);
        }
}

/* Every block's input and every row's logits. */
static void check_pass(struct model_net *net, struct case_model *m, const int32_t *text,
                       int n)
{
    const double near = 2e-5;
    struct case_pass want = case_forward(m, text, n);
    struct attn_ctx c = context();
    struct err e = {0};
    int vocab = m->spec.vocab, d = m->spec.d;
    float *logits = calloc((size_t)vocab, sizeof *logits);
    assert_non_null(logits);
    ran(net, text, n, m->spec.n_layer);
    assert_int_equal(model_net_done(net), m->spec.n_layer);
    for (int l = 0; l <= m->spec.n_layer; l++) {
        char what[32];
        struct attn_cmat h = model_net_input(net, l);
        assert_true(h.data && h.rows == n && h.cols == d);
        (void)snprintf(what, sizeof what, "input of block %d", l);
        check_near(what, h, want.h + (size_t)l * n * d, near);
    }
    for (int i = 0; i < n; i++) {
        assert_true(model_net_logits(net, logits, i, &c, &e));
        check_near("logits", (struct attn_cmat){logits, 1, vocab, vocab},
                   want.logits + (size_t)i * vocab, near);
    }
    free(logits);
    free(want.h);
    free(want.logits);
}

static void a_model_is_the_same_from_every_kind_of_file(void **state)
{
    (void)state;
    struct case_folder f;
    folder_init(&f);
    for (int way = 0; way < 12; way++) {
        struct case_spec s = case_spec_small();
        s.dtype = (enum case_dtype)(way % 3);
        s.prefix = way & 1;
        s.masks = way & 2;
        s.tied = way % 4 < 2;
        s.bias = way != 7;
        s.erf = way == 5 || way == 10;
        if (way == 11) s.n_head = 4, s.d = 24, s.mlp = 40, s.n_layer = 3;
        struct case_model m;
        case_init(&m, s, 100 + (uint64_t)way);
        folder_write_model(&f, &m);
        struct model_net *net = opened(f.path, KEEP_ALL);
        const struct model_info *i = model_net_info(net);
        assert_true(i->tied == s.tied && i->bias == s.bias && i->d_mlp == s.mlp);
        assert_true(i->n_layer == s.n_layer && i->n_head == s.n_head &&
                    i->d_model == s.d);
        assert_true(i->n_ctx == s.ctx && i->n_vocab == s.vocab && !i->head_guessed);
        assert_true(i->act == (s.erf ? MODEL_GELU_ERF : MODEL_GELU_TANH));
        static const char *const dtypes[] = {"F32", "F16", "BF16"};
        assert_string_equal(i->dtype, dtypes[s.dtype]);
        int64_t n = 0;
        for (int a = 0; a < m.n; a++) n += m.t[a].rank == 4 ? 0 : (int64_t)m.t[a].n;
        assert_true(i->n_param == n);
        check_pass(net, &m, ids, N);
        assert_true(model_net_odd(net).n == 0);
        model_net_close(net);
        case_free(&m);
    }
    folder_fini(&f);
}

static void an_llmc_checkpoint_is_the_same_model(void **state)
{
    (void)state;
    struct case_folder f;
    folder_init(&f);
    for (int way = 0; way < 4; way++) {
        struct case_spec s = case_spec_small();
        s.dtype = way % 2 ? CASE_BF16 : CASE_F32;
        struct case_model m;
        case_init(&m, s, 200 + (uint64_t)way);
        struct blob b = case_llmc(&m, way < 2 ? 128 : s.vocab);
        folder_write(&f, way < 2 ? "model.bin" : "some.name", &b);
        struct model_net *net =
            opened(folder_file(&f, way < 2 ? "model.bin" : "some.name"), KEEP_ALL);
        assert_string_equal(model_net_info(net)->format, "llm.c");
        assert_int_equal(model_net_info(net)->n_vocab, s.vocab);
        assert_true(model_net_info(net)->bytes == b.n);
        check_pass(net, &m, ids, N);
        assert_true(model_net_odd(net).n == 0); /* NaN in rows of no token are not read */
        model_net_close(net);
        blob_free(&b);
        case_free(&m);
    }
    folder_fini(&f);
}

static void a_model_in_several_files_is_the_same_model(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    folder_init(&f);
    case_init(&m, case_spec_small(), 300);
    struct blob config = case_config(&m.spec);
    for (int part = 0; part < 3; part++) {
        char name[32];
        (void)snprintf(name, sizeof name, "model-%d.safetensors", part);
        int first = part * m.n / 3, last = (part + 1) * m.n / 3;
        struct blob b = case_shard(&m, first, last);
        folder_write(&f, name, &b);
        blob_free(&b);
    }
    size_t room = 8192, n = 0;
    char *text = calloc(room, 1);
    assert_non_null(text);
    n += (size_t)snprintf(text, room, "{\"metadata\":{},\"weight_map\":{");
    for (int i = 0; i < m.n; i++)
        for (int part = 0; part < 3; part++)
            if (i >= part * m.n / 3 && i < (part + 1) * m.n / 3)
                n += (size_t)snprintf(text + n, room - n,
                                      "%s\"%s\":\"model-%d.safetensors\"", i ? "," : "",
                                      m.t[i].name, part);
    (void)snprintf(text + n, room - n, "}}");
    struct blob index = blob_text(text);
    free(text);
    folder_write(&f, "model.safetensors.index.json", &index);
    folder_write(&f, "config.json", &config);
    struct model_net *net = opened(f.path, KEEP_ALL);
    check_pass(net, &m, ids, N);
    model_net_close(net);
    blob_free(&index);
    blob_free(&config);
    case_free(&m);
    folder_fini(&f);
}

static void a_lone_file_states_all_but_the_heads(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_spec s = case_spec_small();
    s.d = 128; /* two heads of 64, as is guessed */
    struct case_model m;
    folder_init(&f);
    case_init(&m, s, 301);
    struct blob b = case_safetensors(&m);
    folder_write(&f, "a.safetensors", &b);
    struct model_net *net = opened(folder_file(&f, "a.safetensors"), KEEP_ALL);
    assert_true(model_net_info(net)->head_guessed);
    assert_int_equal(model_net_info(net)->n_head, 2);
    assert_int_equal(model_net_info(net)->n_layer, 2);
    assert_string_equal(model_net_info(net)->name, "a.safetensors");
    ran(net, ids, N, 2);
    model_net_close(net);
    blob_free(&b);
    case_free(&m);
    folder_fini(&f);
}

/* What 16 bits mean as an IEEE half, and as the upper half of a float. */
static double half_value(uint32_t i)
{
    int exponent = (int)(i >> 10 & 31), fraction = (int)(i & 1023);
    double x =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) x = fraction ? (double)NAN : (double)INFINITY;
    return i & 0x8000 ? -x : x;
}

static double brain_value(uint32_t i)
{
    uint32_t bits = i << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

/* All 65,536 halves and BF16 as rows of wte; wpe is 0, so h shows what was read. */
static void every_half_is_converted_exactly(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_spec s = {.n_layer = 1,
                          .n_head = 1,
                          .d = 64,
                          .mlp = 1,
                          .ctx = 1024,
                          .vocab = 1024,
                          .bias = true,
                          .tied = true};
    folder_init(&f);
    for (int dtype = CASE_F16; dtype <= CASE_BF16; dtype++) {
        struct case_model m;
        s.dtype = (enum case_dtype)dtype;
        case_init(&m, s, 1);
        memset(case_tensor(&m, "wpe.weight")->v, 0, sizeof(float) * 1024 * 64);
        folder_write_model(&f, &m);
        struct blob b = case_safetensors(&m);
        uint64_t head;
        memcpy(&head, b.data, 8);
        for (size_t i = 0; i < 65536; i++) { /* wte comes first */
            b.data[8 + head + 2 * i] = (unsigned char)(i & 0xFF);
            b.data[8 + head + 2 * i + 1] = (unsigned char)(i >> 8);
        }
        folder_write(&f, "model.safetensors", &b);
        blob_free(&b);
        struct model_net *net = opened(f.path, KEEP_ALL);
        static int32_t all[1024];
        for (int i = 0; i < 1024; i++) all[i] = i;
        ran(net, all, 1024, 0);
        const float *h = model_net_input(net, 0).data;
        for (uint32_t i = 0; i < 65536; i++) {
            double want = dtype == CASE_F16 ? half_value(i) : brain_value(i);
            if (!((double)h[i] == want || (isnan(want) && isnan(h[i]))))
                fail_msg("%04x is %g, not %g", i, (double)h[i], want);
        }
        model_net_close(net);
        case_free(&m);
    }
    folder_fini(&f);
}

/* ---- what is kept ------------------------------------------------------------------------- */

static void check_same_as_fresh(struct model_net *net, const char *path,
                                const int32_t *text, int n)
{
    struct model_net *fresh = opened(path, KEEP_ALL);
    int layers = model_net_info(net)->n_layer;
    ran(fresh, text, n, layers);
    for (int l = 0; l <= layers; l++) {
        struct attn_cmat a = model_net_input(net, l), b = model_net_input(fresh, l);
        assert_true(a.data && a.rows == n);
        assert_memory_equal(a.data, b.data, (size_t)n * (size_t)a.ld * sizeof(float));
    }
    for (int l = 0; l < layers; l++) {
        struct attn_cmat a = model_net_qkv(net, l), b = model_net_qkv(fresh, l);
        for (int i = 0; i < n; i++)
            assert_memory_equal(a.data + (size_t)i * a.ld, b.data + (size_t)i * b.ld,
                                (size_t)a.cols * sizeof(float));
    }
    model_net_close(fresh);
}

/* Texts that grow, shrink, change in the middle and outgrow their memory, some of them left
 * half computed, with all blocks kept in memory and with none. */
static void a_text_taken_up_again_gives_the_bits_of_a_fresh_one(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_spec s = case_spec_small();
    s.ctx = 700;
    s.n_layer = 3;
    struct case_model m;
    folder_init(&f);
    case_init(&m, s, 400);
    folder_write_model(&f, &m);
    static int32_t text[700];
    static const int lengths[] = {1, 2, 9, 5, 6, 200, 140, 141, 300, 299, 640, 700, 3};
    for (int keep = 0; keep < 2; keep++) {
        struct model_net *net = opened(f.path, keep ? KEEP_ALL : 0);
        for (int i = 0; i < 700; i++) text[i] = i * 7 % s.vocab;
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            int n = lengths[i];
            text[n / 2] = (text[n / 2] + 1) % s.vocab;
            ran(net, text, n, 1); /* only as far as the second block's input */
            assert_int_equal(model_net_done(net), 1);
            assert_null(model_net_input(net, 2).data);
            assert_null(model_net_qkv(net, 1).data);
            ran(net, text, n, i % 3 == 2 ? 2 : 3);
            ran(net, text, n, 3);
            check_same_as_fresh(net, f.path, text, n);
        }
        model_net_close(net);
    }
    case_free(&m);
    folder_fini(&f);
}

static void what_is_there_is_not_read_again(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct attn_ctx c = context();
    struct err e = {0};
    folder_init(&f);
    case_init(&m, case_spec_small(), 401);
    folder_write_model(&f, &m);
    struct model_net *net = opened(f.path, KEEP_ALL);
    float logits[20];
    ran(net, ids, N, 2);
    struct blob nothing = blob_text("");
    folder_write(&f, "model.safetensors", &nothing); /* the open file is empty now */
    blob_free(&nothing);
    assert_true(model_net_feed(net, ids, N - 2, &e));
    assert_int_equal(model_net_done(net), 2);
    assert_true(model_net_run(net, 2, &c, &e));
    assert_false(model_net_logits(net, logits, N - 3, &c, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "model.safetensors: ln_f.weight: ends at byte "));
    /* A new token's embedding is not there. */
    static const int32_t other[] = {7};
    assert_true(model_net_feed(net, other, 1, &e));
    assert_false(model_net_run(net, 2, &c, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "model.safetensors: wte.weight: ends at byte "));
    assert_int_equal(model_net_done(net), 0);
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

static void a_cancelled_run_is_taken_up_where_it_stopped(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct err e = {0};
    volatile int cancel = 1;
    struct attn_ctx c = context();
    c.cancel = &cancel;
    folder_init(&f);
    case_init(&m, case_spec_small(), 402);
    folder_write_model(&f, &m);
    struct model_net *net = opened(f.path, KEEP_ALL);
    assert_true(model_net_feed(net, ids, N, &e));
    assert_false(model_net_run(net, 2, &c, &e));
    assert_int_equal(e.code, ERR_CANCELLED);
    cancel = 0;
    assert_true(model_net_run(net, 1, &c, &e));
    cancel = 1;
    assert_false(model_net_run(net, 2, &c, &e));
    assert_int_equal(model_net_done(net), 1);
    cancel = 0;
    assert_true(model_net_run(net, 2, &c, &e));
    check_same_as_fresh(net, f.path, ids, N);
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

static void ids_and_counts_out_of_range_are_refused(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct err e = {0};
    int32_t text[13] = {0};
    folder_init(&f);
    case_init(&m, case_spec_small(), 403);
    folder_write_model(&f, &m);
    struct model_net *net = opened(f.path, KEEP_ALL);
    assert_false(model_net_feed(net, text, 0, &e));
    assert_false(model_net_feed(net, text, 13, &e));
    assert_string_equal(e.text, "13 tokens; the model reads 1 to 12");
    text[2] = 20;
    assert_false(model_net_feed(net, text, 3, &e));
    assert_string_equal(e.text, "token 3 is id 20; the model has 0 to 19");
    text[2] = -1;
    assert_false(model_net_feed(net, text, 3, &e));
    assert_int_equal(model_net_tokens(net), 0);
    assert_int_equal(model_net_done(net), 0);
    assert_null(model_net_input(net, 0).data);
    text[2] = 19;
    ran(net, text, 12, 2);
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

static void weights_that_are_no_numbers_are_counted(void **state)
{
    (void)state;
    struct case_folder f;
    folder_init(&f);
    for (int dtype = CASE_F32; dtype <= CASE_BF16; dtype++) {
        struct case_spec s = case_spec_small();
        s.dtype = (enum case_dtype)dtype;
        struct case_model m;
        case_init(&m, s, 404);
        float *w = case_tensor(&m, "h.1.mlp.c_fc.weight")->v;
        w[3] = w[17] = NAN;
        case_tensor(&m, "h.1.mlp.c_proj.bias")->v[0] = -INFINITY;
        case_tensor(&m, "wpe.weight")->v[s.d * (N - 1)] = NAN; /* the last row's */
        case_tensor(&m, "wte.weight")->v[s.d * ids[N - 1]] = INFINITY;
        folder_write_model(&f, &m);
        struct model_net *net = opened(f.path, KEEP_ALL);
        ran(net, ids, N - 1, 1);
        assert_true(model_net_odd(net).n == 0);
        ran(net, ids, N - 1, 2);
        assert_true(model_net_odd(net).n == 3);
        assert_string_equal(model_net_odd(net).first, "h.1.mlp.c_proj.bias");
        assert_true(isnan(model_net_input(net, 2).data[5]));
        for (int k = 0; k < 3; k++) { /* each is counted once, however often it is used */
            ran(net, ids, N - 2, 2);
            ran(net, ids, N, 2);
            assert_true(model_net_odd(net).n == 5);
        }
        model_net_close(net);
        case_free(&m);
    }
    folder_fini(&f);
}

/* ---- what is looked at ----------------------------------------------------------------------- */

static void a_view_is_what_the_seven_stages_read(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct err e = {0};
    struct attn_ctx c = context();
    folder_init(&f);
    case_init(&m, case_spec_small(), 500);
    folder_write_model(&f, &m);
    struct model_net *net = opened(f.path, KEEP_ALL);
    ran(net, ids, N, 2);
    for (int l = 0; l < 2; l++) {
        struct arena mem;
        struct model v;
        size_t bytes = model_net_view_bytes(net);
        assert_true(arena_init(&mem, bytes, &e));
        assert_true(model_net_view(net, &v, l, &mem, &c, &e));
        assert_true(v.kind == MODEL_FILE && v.dims.n_tok == N && v.dims.n_head == 2);
        assert_non_null(strstr(v.label, "headlight_model"));
        assert_string_equal(v.tokens[10], "19");
        char name[64];
        (void)snprintf(name, sizeof name, "h.%d.attn.c_attn.weight", l);
        assert_memory_equal(v.weights.w_qkv.data, case_tensor(&m, name)->v,
                            sizeof(float) * 8 * 24);
        (void)snprintf(name, sizeof name, "h.%d.attn.c_proj.bias", l);
        assert_memory_equal(v.weights.b_o, case_tensor(&m, name)->v, 8 * sizeof(float));
        struct attn_trace t;
        struct arena run;
        size_t n = attn_trace_bytes(v.dims);
        assert_true(arena_init(&run, n + 64, &e));
        assert_int_equal(attn_trace_init(&t, v.dims, arena_push(&run, n, 1), n), ATTN_OK);
        assert_int_equal(attn_run(&c, &t, v.x, v.h, &v.weights, attn_opts_default(), 1),
                         ATTN_OK);
        struct attn_cmat qkv = model_net_qkv(net, l);
        for (int i = 0; i < N; i++) /* the same kernels: the same bits */
            assert_memory_equal(t.qkv.data + (size_t)i * t.qkv.ld,
                                qkv.data + (size_t)i * qkv.ld, 24 * sizeof(float));
        arena_free(&run);
        arena_free(&mem);
        for (size_t room = 0; room < bytes / 2; room += 64 + room / 4) {
            assert_true(arena_init(&mem, room, &e));
            assert_false(model_net_view(net, &v, l, &mem, &c, &e));
            assert_int_equal(e.code, ERR_SYSTEM);
            arena_free(&mem);
        }
    }
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

static void the_likeliest_tokens_come_first(void **state)
{
    (void)state;
    const float logits[] = {1.0f, NAN, 3.0f, -INFINITY, 2.0f, 3.0f};
    struct model_next top[8];
    assert_int_equal(model_next_top(top, 8, logits, 6), 5);
    const int want[] = {2, 5, 4, 0, 3};
    double sum = 2.0 * exp(3.0) + exp(2.0) + exp(1.0);
    for (int i = 0; i < 5; i++) assert_int_equal(top[i].id, want[i]);
    assert_true(fabs((double)top[0].p - exp(3.0) / sum) < 1e-7);
    assert_true(fabs((double)top[3].p - exp(1.0) / sum) < 1e-7);
    assert_true(top[4].p == 0.0f);
    assert_int_equal(model_next_top(top, 2, logits, 6), 2);
    assert_int_equal(top[1].id, 5);
    assert_int_equal(model_next_top(top, 0, logits, 6), 0);
    const float large[] = {1e30f, -1e30f};
    assert_int_equal(model_next_top(top, 2, large, 2), 2);
    assert_true(top[0].p == 1.0f && top[1].p == 0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_the_same_from_every_kind_of_file),
        cmocka_unit_test(an_llmc_checkpoint_is_the_same_model),
        cmocka_unit_test(a_model_in_several_files_is_the_same_model),
        cmocka_unit_test(a_lone_file_states_all_but_the_heads),
        cmocka_unit_test(every_half_is_converted_exactly),
        cmocka_unit_test(a_text_taken_up_again_gives_the_bits_of_a_fresh_one),
        cmocka_unit_test(what_is_there_is_not_read_again),
        cmocka_unit_test(a_cancelled_run_is_taken_up_where_it_stopped),
        cmocka_unit_test(ids_and_counts_out_of_range_are_refused),
        cmocka_unit_test(weights_that_are_no_numbers_are_counted),
        cmocka_unit_test(a_view_is_what_the_seven_stages_read),
        cmocka_unit_test(the_likeliest_tokens_come_first),
    };
    return cmocka_run_group_tests_name("model net", tests, NULL, NULL);
}
