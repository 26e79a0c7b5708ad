/* attn on real weights: PyTorch's values of nano-sort, and GPT-2's first block, within
 * the tolerances their READMEs state. Skipped where the data is not there. */
#include "attn_case.h"
#include "npy.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77, PATH = 512 };

static struct tensor array(const char *folder, const char *name)
{
    char rel[PATH];
    char path[PATH];
    struct tensor t = {0};
    (void)snprintf(rel, sizeof rel, "%s/%s.npy", folder, name);
    if (!data_path(path, sizeof path, rel) || !npy_read(&t, path))
        fail_msg("no array %s", rel);
    return t;
}

static struct tensor weight(const char *file, int block, const char *name)
{
    char key[64];
    char path[PATH];
    struct tensor t = {0};
    (void)snprintf(key, sizeof key, "h.%d.%s", block, name);
    if (!data_path(path, sizeof path, file) || !safetensors_read(&t, path, key))
        fail_msg("no tensor %s in %s", key, file);
    return t;
}

static void check_near(const char *what, struct attn_cmat got, const struct tensor *want,
                       int index, double tolerance)
{
    const double *w = tensor_f64(want, index);
    assert_int_equal(got.cols, want->shape[want->rank - 1]);
    assert_int_equal(got.rows, want->shape[want->rank - 2]);
    for (int i = 0; i < got.rows; i++)
        for (int j = 0; j < got.cols; j++) {
            double g = (double)got.data[(size_t)i * got.ld + j];
            double x = w[(size_t)i * got.cols + j];
            if (!(g == x || fabs(g - x) <= tolerance))
                fail_msg("%s: [%d,%d] is %.9g, must be %.9g within %g", what, i, j, g, x,
                         tolerance);
        }
}

/* The same, the tensor read from its file. */
static void check_file(struct attn_cmat got, const char *folder, const char *name,
                       int index, double tolerance)
{
    struct tensor want = array(folder, name);
    check_near(name, got, &want, index, tolerance);
    tensor_free(&want);
}

/* One block's real weights, read once. */
struct real {
    struct tensor gain, bias, w_qkv, b_qkv, w_o, b_o;
    struct attn_weights w;
};

static struct real real_new(const char *file, int block)
{
    struct real r = {.gain = weight(file, block, "ln_1.weight"),
                     .bias = weight(file, block, "ln_1.bias"),
                     .w_qkv = weight(file, block, "attn.c_attn.weight"),
                     .b_qkv = weight(file, block, "attn.c_attn.bias"),
                     .w_o = weight(file, block, "attn.c_proj.weight"),
                     .b_o = weight(file, block, "attn.c_proj.bias")};
    r.w = (struct attn_weights){tensor_mat(&r.w_qkv, 0), r.b_qkv.f32,
                                tensor_mat(&r.w_o, 0), r.b_o.f32, NULL};
    return r;
}

static void real_free(struct real *r)
{
    tensor_free(&r->gain);
    tensor_free(&r->bias);
    tensor_free(&r->w_qkv);
    tensor_free(&r->b_qkv);
    tensor_free(&r->w_o);
    tensor_free(&r->b_o);
}

/* h = the block's input; X = ln_1(h), by the kernels under test. */
static struct problem real_problem(struct bag *b, const struct attn_ctx *c,
                                   const struct real *r, const struct tensor *h,
                                   int heads)
{
    struct attn_cmat in = tensor_mat(h, 0);
    struct problem p = {.dims = {in.rows, in.cols, heads}, .w = r->w};
    p.h = input_copy(b, in);
    p.x = input_copy(b, in);
    assert_int_equal(attn_layer_norm(c, p.x, in, r->gain.f32, r->bias.f32, 1e-5f),
                     ATTN_OK);
    return p;
}

static void check_block(struct bag *b, const struct attn_ctx *c, const struct problem *p,
                        const char *folder, const char *name, double tolerance)
{
    struct rng r = {1};
    struct block_result block = block_new(b, &r, c, p, attn_opts_default());
    assert_int_equal(block.status, ATTN_OK);
    check_file(readable(block.y.m), folder, name, 0, tolerance);
}

static void nano_sort_block_1_is_pytorchs(void **state)
{
    (void)state;
    const char *ref = "nano-sort/ref";
    const double near = 1e-5;
    struct real real = real_new("nano-sort/model.safetensors", 0);
    struct tensor h = array(ref, "x");
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct bag b = {0};
        struct problem p = real_problem(&b, &c, &real, &h, 3);
        check_file(readable(p.x), ref, "ln1", 0, near);
        for (int head = 0; head < 3; head++) {
            struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), head);
            check_file(attn_trace_view(t, ATTN_Q, head), ref, "q", head, near);
            check_file(attn_trace_view(t, ATTN_K, head), ref, "k", head, near);
            check_file(attn_trace_view(t, ATTN_V, head), ref, "v", head, near);
            check_file(readable(t->s_raw), ref, "own_b0_scores", head, near);
            check_file(readable(t->s_scaled), ref, "own_b0_scaled", head, near);
            check_file(readable(t->s_masked), ref, "att_scaled_masked", head, near);
            check_file(readable(t->p), ref, "attn_softmax", head, near);
            check_file(readable(t->z), ref, "y", 0, near);
            check_file(readable(t->y_proj), ref, "y_proj", 0, near);
            check_file(readable(t->y), ref, "attn_resid", 0, near);
        }
        check_block(&b, &c, &p, ref, "attn_resid", near);
        bag_empty(&b);
    }
    tensor_free(&h);
    real_free(&real);
}

static void nano_sort_blocks_2_and_3_follow_from_their_inputs(void **state)
{
    (void)state;
    const char *ref = "nano-sort/ref";
    const char *const names[2][5] = {{"block0", "own_b1_scores", "own_b1_scaled",
                                      "own_b1_softmax", "own_b1_attn_resid"},
                                     {"block1", "own_b2_scores", "own_b2_scaled",
                                      "own_b2_softmax", "own_b2_attn_resid"}};
    const double near = 1e-5;
    for (int l = 1; l <= 2; l++) {
        const char *const *name = names[l - 1];
        struct real real = real_new("nano-sort/model.safetensors", l);
        struct tensor h = array(ref, name[0]);
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct bag b = {0};
            struct problem p = real_problem(&b, &c, &real, &h, 3);
            for (int head = 0; head < 3; head++) {
                struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), head);
                check_file(readable(t->s_raw), ref, name[1], head, near);
                check_file(readable(t->s_scaled), ref, name[2], head, near);
                check_file(readable(t->p), ref, name[3], head, near);
                check_file(readable(t->y), ref, name[4], 0, near);
            }
            check_block(&b, &c, &p, ref, name[4], near);
            bag_empty(&b);
        }
        tensor_free(&h);
        real_free(&real);
    }
}

/* Tolerances of gpt2-block1/README.md: scores 1e-4, softmax 5e-6, attn_resid 2e-5; what
 * lies between softmax and attn_resid keeps the latter, q and k a tenth of the scores. */
static const double near_scores = 1e-4;
static const double near_weights = 5e-6;
static const double near_output = 2e-5;

static void check_gpt2_head(const struct attn_trace *t, int head)
{
    const char *ref = "gpt2-block1/ref";
    static const struct {
        const char *name;
        enum attn_tensor id;
        double near;
    } files[] = {{"q", ATTN_Q, 1e-5},
                 {"k", ATTN_K, 1e-5},
                 {"v", ATTN_V, 1e-5},
                 {"scores", ATTN_S_RAW, 1e-4},
                 {"scaled", ATTN_S_SCALED, 1e-4},
                 {"masked", ATTN_S_MASKED, 1e-4},
                 {"softmax", ATTN_P, 5e-6},
                 {"out", ATTN_Z, 1e-5}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "head%d_%s", head, files[i].name);
        check_file(attn_trace_view(t, files[i].id, head), ref, name, 0, files[i].near);
    }
}

static void gpt2_block_1_is_the_reference(void **state)
{
    (void)state;
    const char *ref = "gpt2-block1/ref";
    struct real real = real_new("gpt2-block1/block1_attn.safetensors", 0);
    struct tensor h = array("gpt2-block1", "x");
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct bag b = {0};
        struct problem p = real_problem(&b, &c, &real, &h, 12);
        check_file(readable(p.x), ref, "ln1", 0, 1e-5);
        struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 0);
        for (int head = 0; head < 12; head++) {
            assert_int_equal(attn_run_head(&c, t, head), ATTN_OK);
            if (head == 0 || head == 5) check_gpt2_head(t, head);
            check_file(readable(t->p), ref, "softmax_all_heads", head, near_weights);
        }
        check_file(readable(t->z), ref, "y", 0, near_output);
        check_file(readable(t->y_proj), ref, "y_proj", 0, near_output);
        check_file(readable(t->y), ref, "attn_resid", 0, near_output);
        check_block(&b, &c, &p, ref, "attn_resid", near_output);
        bag_empty(&b);
    }
    tensor_free(&h);
    real_free(&real);
}

static void gpt2_attends_to_two_prompts_as_published(void **state)
{
    (void)state;
    struct real real = real_new("gpt2-block1/block1_attn.safetensors", 0);
    for (int prompt = 0; prompt < 2; prompt++) {
        const char *folder = prompt ? "gpt2-block1/prompt_ex1" : "gpt2-block1/prompt_ex0";
        struct tensor h = array(folder, "x");
        struct attn_ctx c = {0};
        for (int a = 0; (c.k = case_kernels(a)); a++) {
            struct bag b = {0};
            struct problem p = real_problem(&b, &c, &real, &h, 12);
            struct attn_trace *t = run_new(&b, &c, &p, attn_opts_default(), 0);
            for (int head = 0; head < 12; head++) {
                assert_int_equal(attn_run_head(&c, t, head), ATTN_OK);
                check_file(readable(t->s_raw), folder, "published_scores_all_heads", head,
                           near_scores);
                check_file(readable(t->p), folder, "own_softmax_all_heads", head,
                           near_weights);
            }
            check_file(readable(t->y_proj), folder, "own_y_proj", 0, near_output);
            check_file(readable(t->y), folder, "own_attn_resid", 0, near_output);
            check_block(&b, &c, &p, folder, "own_attn_resid", near_output);
            bag_empty(&b);
        }
        tensor_free(&h);
    }
    real_free(&real);
}

int main(void)
{
    char path[PATH];
    if (!data_path(path, sizeof path, "nano-sort/model.safetensors") ||
        !data_path(path, sizeof path, "gpt2-block1/block1_attn.safetensors")) {
        (void)fprintf(stderr, "skipped: no test data; HEADLIGHT_TEST_DATA may name it\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nano_sort_block_1_is_pytorchs),
        cmocka_unit_test(nano_sort_blocks_2_and_3_follow_from_their_inputs),
        cmocka_unit_test(gpt2_block_1_is_the_reference),
        cmocka_unit_test(gpt2_attends_to_two_prompts_as_published),
    };
    return cmocka_run_group_tests_name("attn on real weights", tests, NULL, NULL);
}
