/* model on real weights and on full-size random ones: nano-sort as PyTorch computed it,
 * GPT-2's first block as published, and models whose reference is in double. Skipped where
 * the data is not there. */
#include "model.h"
#include "npy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

enum { SKIPPED = 77, PATH = 512 };

struct setup {
    struct model_net *net;
    struct attn_ctx c;
};

static struct setup opened(const char *path, const struct attn_kernels *k)
{
    struct setup s = {.c.k = k ? k : attn_kernels_get(NULL)};
    struct err e = {0};
    if (!model_net_open(&s.net, path, s.c.k, (size_t)1 << 30, &e)) fail_msg("%s", e.text);
    return s;
}

static const char *data(const char *rel)
{
    static char path[PATH];
    if (!data_path(path, sizeof path, rel)) fail_msg("no %s", rel);
    return path;
}

static void ran(const struct setup *s, const int32_t *ids, int n)
{
    struct err e = {0};
    int layers = model_net_info(s->net)->n_layer;
    if (!model_net_feed(s->net, ids, n, &e) || !model_net_run(s->net, layers, &s->c, &e))
        fail_msg("%s", e.text);
}

/* got against index `index` of an array; the largest difference may be `near`. */
static void check(struct attn_cmat got, const char *path, int index, double near)
{
    struct tensor t = {0};
    if (!npy_read(&t, path)) fail_msg("no array %s", path);
    const double *want = tensor_f64(&t, index);
    assert_int_equal(got.cols, t.shape[t.rank - 1]);
    for (int i = 0; i < got.rows; i++)
        for (int j = 0; j < got.cols; j++) {
            double g = (double)got.data[(size_t)i * got.ld + j];
            double w = want[(size_t)i * got.cols + j];
            if (!(g == w || fabs(g - w) <= near))
                fail_msg("%s: [%d,%d] is %.9g, not %.9g", path, i, j, g, w);
        }
    tensor_free(&t);
}

static void check_logits(const struct setup *s, int rows, const char *path, double near)
{
    struct tensor t = {0};
    struct err e = {0};
    int n = model_net_info(s->net)->n_vocab;
    if (!npy_read(&t, path)) fail_msg("no array %s", path);
    float *logits = malloc((size_t)n * sizeof *logits);
    assert_non_null(logits);
    for (int i = 0; i < rows; i++) {
        assert_true(model_net_logits(s->net, logits, i, &s->c, &e));
        for (int j = 0; j < n; j++)
            if (!(fabs((double)logits[j] - t.f64[(size_t)i * n + j]) <= near))
                fail_msg("%s: [%d,%d] is %.9g, not %.9g", path, i, j, (double)logits[j],
                         t.f64[(size_t)i * n + j]);
    }
    free(logits);
    tensor_free(&t);
}

/* One block as the program shows it: a view, then all stages of one head. */
struct shown {
    struct arena mem, run;
    struct model view;
    struct attn_trace t;
};

static struct shown shown_new(const struct setup *s, int block)
{
    struct shown x = {0};
    struct err e = {0};
    assert_true(arena_init(&x.mem, model_net_view_bytes(s->net), &e));
    if (!model_net_view(s->net, &x.view, block, &x.mem, &s->c, &e))
        fail_msg("%s", e.text);
    size_t n = attn_trace_bytes(x.view.dims);
    assert_true(arena_init(&x.run, n + 64, &e));
    assert_int_equal(attn_trace_init(&x.t, x.view.dims, arena_push(&x.run, n, 1), n),
                     ATTN_OK);
    assert_int_equal(attn_run(&s->c, &x.t, x.view.x, x.view.h, &x.view.weights,
                              attn_opts_default(), 0),
                     ATTN_OK);
    return x;
}

static void shown_free(struct shown *x)
{
    arena_free(&x->run);
    arena_free(&x->mem);
}

/* ---- nano-sort ------------------------------------------------------------------------------ */

static void check_nano_block(const struct setup *s, int block)
{
    static const char *const ref[3][4] = {
        {"own_b0_scores", "own_b0_scaled", "attn_softmax", "attn_resid"},
        {"own_b1_scores", "own_b1_scaled", "own_b1_softmax", "own_b1_attn_resid"},
        {"own_b2_scores", "own_b2_scaled", "own_b2_softmax", "own_b2_attn_resid"}};
    static const enum attn_tensor id[4] = {ATTN_S_RAW, ATTN_S_SCALED, ATTN_P, ATTN_Y};
    const double near = 1e-5;
    struct shown x = shown_new(s, block);
    for (int head = 0; head < 3; head++) {
        assert_int_equal(attn_run_head(&s->c, &x.t, head), ATTN_OK);
        for (int a = 0; a < 4; a++) {
            char rel[64];
            (void)snprintf(rel, sizeof rel, "nano-sort/ref/%s.npy", ref[block][a]);
            check(attn_trace_view(&x.t, id[a], head), data(rel), a < 3 ? head : 0, near);
        }
        if (block > 0) continue;
        check(attn_trace_view(&x.t, ATTN_Q, head), data("nano-sort/ref/q.npy"), head,
              near);
        check(attn_trace_view(&x.t, ATTN_K, head), data("nano-sort/ref/k.npy"), head,
              near);
        check(attn_trace_view(&x.t, ATTN_V, head), data("nano-sort/ref/v.npy"), head,
              near);
        check(attn_trace_view(&x.t, ATTN_S_MASKED, head),
              data("nano-sort/ref/att_scaled_masked.npy"), head, near);
    }
    if (block == 0) {
        check(attn_trace_view(&x.t, ATTN_X, 0), data("nano-sort/ref/ln1.npy"), 0, near);
        check(attn_trace_view(&x.t, ATTN_Z_ALL, 0), data("nano-sort/ref/y.npy"), 0, near);
        check(attn_trace_view(&x.t, ATTN_Y_PROJ, 0), data("nano-sort/ref/y_proj.npy"), 0,
              near);
    }
    shown_free(&x);
}

static void nano_sort_is_pytorchs_from_both_formats(void **state)
{
    (void)state;
    static const char *const files[] = {"nano-sort/model.safetensors",
                                        "nano-sort/model_llmc_v3.bin"};
    static const int32_t ids[] = {0, 0, 2, 1, 0, 1, 0, 0, 0, 0, 0};
    for (int f = 0; f < 2; f++) {
        const struct attn_kernels *k;
        for (int a = 0; (k = attn_kernels_at(a)); a++) {
            struct setup s = opened(data(files[f]), k);
            ran(&s, ids, 11);
            check(model_net_input(s.net, 0), data("nano-sort/ref/x.npy"), 0, 1e-6);
            for (int l = 0; l < 3; l++) {
                char rel[64];
                (void)snprintf(rel, sizeof rel, "nano-sort/ref/block%d.npy", l);
                check(model_net_input(s.net, l + 1), data(rel), 0, 1e-5);
                check_nano_block(&s, l);
            }
            check_logits(&s, 11,
                         data(f ? "nano-sort/ref/own_logits_tied.npy"
                                : "nano-sort/ref/logits.npy"),
                         2e-5);
            model_net_close(s.net);
        }
    }
}

static void nano_sort_sorts(void **state)
{
    (void)state;
    struct setup s = opened(data("nano-sort/model.safetensors"), NULL);
    struct err e = {0};
    int32_t ids[16];
    size_t n = 0;
    const struct model_bpe *b = model_net_bpe(s.net);
    assert_non_null(b);
    assert_true(model_bpe_encode(b, ids, 16, &n, "CABBAC", 6, &e));
    assert_int_equal(n, 6);
    static const int32_t want[] = {0, 0, 1, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        float logits[3];
        struct model_next top;
        ran(&s, ids, (int)n);
        assert_true(model_net_logits(s.net, logits, (int)n - 1, &s.c, &e));
        assert_int_equal(model_next_top(&top, 1, logits, 3), 1);
        assert_int_equal(top.id, want[i]);
        if (n < 11) ids[n++] = top.id;
    }
    model_net_close(s.net);
}

/* ---- GPT-2's first block -------------------------------------------------------------------- */

static bool made(char *path, const char *name)
{
    struct stat st;
    (void)snprintf(path, PATH, "%s/%s", MODELS_DIR, name);
    return stat(path, &st) == 0;
}

static void typing_a_prompt_gives_the_published_scores(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        char folder[PATH], name[32], rel[96];
        (void)snprintf(name, sizeof name, "prompt_ex%d", p);
        if (!made(folder, name)) skip();
        struct setup s = opened(folder, NULL);
        (void)snprintf(rel, sizeof rel, "gpt2-block1/%s/prompt.json", name);
        json_t *prompt = json_load_file(data(rel), 0, NULL);
        const char *text = json_string_value(json_object_get(prompt, "prompt"));
        assert_non_null(text);
        int32_t ids[64];
        size_t n = 0;
        struct err e = {0};
        assert_true(
            model_bpe_encode(model_net_bpe(s.net), ids, 64, &n, text, strlen(text), &e));
        json_decref(prompt);
        ran(&s, ids, (int)n);
        struct shown x = shown_new(&s, 0);
        for (int head = 0; head < 12; head++) {
            assert_int_equal(attn_run_head(&s.c, &x.t, head), ATTN_OK);
            (void)snprintf(rel, sizeof rel,
                           "gpt2-block1/%s/published_scores_all_heads.npy", name);
            check(attn_trace_view(&x.t, ATTN_S_RAW, head), data(rel), head, 1e-4);
            (void)snprintf(rel, sizeof rel, "gpt2-block1/%s/own_softmax_all_heads.npy",
                           name);
            check(attn_trace_view(&x.t, ATTN_P, head), data(rel), head, 5e-6);
        }
        (void)snprintf(rel, sizeof rel, "gpt2-block1/%s/own_attn_resid.npy", name);
        check(attn_trace_view(&x.t, ATTN_Y, 0), data(rel), 0, 2e-5);
        shown_free(&x);
        model_net_close(s.net);
    }
}

/* [N][N] of numbers, null = -INFINITY, into out. */
static int matrix_of(const json_t *rows, float *out)
{
    int n = (int)json_array_size(rows);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const json_t *v = json_array_get(json_array_get(rows, (size_t)i), (size_t)j);
            out[i * n + j] = json_is_null(v) ? -INFINITY : (float)json_number_value(v);
        }
    return n;
}

static void check_matrix(const char *what, const float *got, const json_t *rows)
{
    float want[64];
    int n = matrix_of(rows, want);
    for (int i = 0; i < n * n; i++)
        if (!(got[i] == want[i] || fabsf(got[i] - want[i]) <= 5e-7f))
            fail_msg("%s: %d is %.9g, not %.9g", what, i, (double)got[i],
                     (double)want[i]);
}

static void published_scores_pass_through_stages_3_to_5(void **state)
{
    (void)state;
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = attn_kernels_at(a)); a++)
        for (int p = 0; p < 2; p++) {
            json_t *root = json_load_file(
                data(p ? "qk-scores/prompt_ex1.json" : "qk-scores/prompt_ex0.json"), 0,
                NULL);
            const json_t *heads = json_object_get(root, "heads");
            assert_int_equal(json_array_size(heads), 2);
            for (size_t h = 0; h < 2; h++) {
                const json_t *head = json_array_get(heads, h);
                float s[64];
                int n = matrix_of(json_object_get(head, "scores"), s);
                struct attn_mat m = {s, n, n, n};
                struct attn_cmat r = {s, n, n, n};
                assert_int_equal(attn_scale(&c, m, r, 64), ATTN_OK);
                check_matrix("scaled", s, json_object_get(head, "scaled"));
                assert_int_equal(attn_mask(&c, m, r), ATTN_OK);
                check_matrix("masked", s, json_object_get(head, "masked"));
                assert_int_equal(attn_softmax(&c, m, r, NULL), ATTN_OK);
                check_matrix("softmax", s, json_object_get(head, "softmax"));
            }
            json_decref(root);
        }
}

/* ---- full size ---------------------------------------------------------------------------------- */

static const int32_t some_ids[] = {464, 3797, 3332, 319, 262, 2603, 13, 464};

static void check_full(const char *name, const char *file, const char *ref)
{
    char folder[PATH], refs[PATH], path[PATH + 64];
    if (!made(folder, name) || !made(refs, ref)) skip();
    (void)snprintf(path, sizeof path, "%s%s", folder, file);
    struct setup s = opened(path, NULL);
    ran(&s, some_ids, 8);
    for (int l = 0; l < model_net_info(s.net)->n_layer; l++) {
        (void)snprintf(path, sizeof path, "%s/b%d_block_out.npy", refs, l);
        check(model_net_input(s.net, l + 1), path, 0, 1e-4);
        (void)snprintf(path, sizeof path, "%s/b%d_softmax.npy", refs, l);
        struct shown x = shown_new(&s, l);
        for (int head = 0; head < x.view.dims.n_head; head += 11) {
            assert_int_equal(attn_run_head(&s.c, &x.t, head), ATTN_OK);
            /* Scores of up to about 400: their rounding alone is 3e-5. */
            check(attn_trace_view(&x.t, ATTN_P, head), path, head, 2e-5);
        }
        shown_free(&x);
    }
    (void)snprintf(path, sizeof path, "%s/logits.npy", refs);
    check_logits(&s, 8, path, 1e-4);
    assert_true(model_net_odd(s.net).n == 0);
    model_net_close(s.net);
}

static void full_size_models_of_every_dtype_are_right(void **state)
{
    (void)state;
    check_full("small_f32", "", "small_f32/ref");
    check_full("small_f16", "", "small_f16/ref");
    check_full("small_bf16", "", "small_bf16/ref");
    check_full("llmc", "/model.bin", "small_f32/ref");
}

static void a_block_of_xl_is_right(void **state)
{
    (void)state;
    check_full("xl_bf16", "", "xl_bf16/ref");
}

int main(void)
{
    char path[PATH];
    if (!data_path(path, sizeof path, "nano-sort/model.safetensors") ||
        !data_path(path, sizeof path, "qk-scores/prompt_ex0.json")) {
        (void)fprintf(stderr, "skipped: no test data; HEADLIGHT_TEST_DATA may name it\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nano_sort_is_pytorchs_from_both_formats),
        cmocka_unit_test(nano_sort_sorts),
        cmocka_unit_test(typing_a_prompt_gives_the_published_scores),
        cmocka_unit_test(published_scores_pass_through_stages_3_to_5),
        cmocka_unit_test(full_size_models_of_every_dtype_are_right),
        cmocka_unit_test(a_block_of_xl_is_right),
    };
    return cmocka_run_group_tests_name("model on real weights", tests, NULL, NULL);
}
