/* What --dump writes, read back: beside an independent pass, and beside the references of
 * real weights, which lie outside the repository: those are skipped without them. */
#include "dump.h"
#include "mistaken.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH = 512 };

struct fix {
    struct case_folder folder;
    char path[PATH]; /* of the dump: a name in the folder */
};

static int make_folder(void **state)
{
    static struct fix f;
    *state = &f;
    folder_init(&f.folder);
    (void)snprintf(f.path, sizeof f.path, "%s/dump", f.folder.path);
    return 0;
}

static int remove_folder(void **state)
{
    struct fix *f = *state;
    folder_fini(&f->folder);
    return 0;
}

static void dumped(const struct cli *cli)
{
    char note[256];
    struct err e = {0};
    if (!dump_write(cli, "test", note, sizeof note, &e)) fail_msg("%s", e.text);
}

static void clear(const struct fix *f)
{
    struct file_names names;
    struct err e = {0};
    char path[PATH + 128];
    (void)snprintf(path, sizeof path, "%s/manifest.json", f->path);
    (void)unlink(path);
    if (file_names_read(&names, f->path, ".npy", &e))
        for (int i = 0; i < names.n; i++) {
            (void)snprintf(path, sizeof path, "%s/%s", f->path, names.at[i]);
            (void)unlink(path);
        }
    file_names_free(&names);
    (void)rmdir(f->path);
}

static void read_array(struct model_array *a, const struct fix *f, int block, int head,
                       const char *tensor)
{
    char name[DUMP_NAME], path[PATH + 128];
    struct err e = {0};
    dump_name(name, block, head, tensor);
    (void)snprintf(path, sizeof path, "%s/%s.npy", f->path, name);
    if (!model_npy_read(a, path, 1 << 26, &e)) fail_msg("%s", e.text);
}

/* ---- beside an independent pass -------------------------------------------------------------- */

static const struct {
    enum mistaken_tensor t;
    const char *name;
} whole[] = {{MT_H, "h"},
             {MT_X, "x"},
             {MT_MERGED, "merged"},
             {MT_Y_PROJ, "y_proj"},
             {MT_Y, "y"},
             {MT_LN_2, "ln_2"},
             {MT_MLP_FC, "mlp_fc"},
             {MT_MLP_ACT, "mlp_act"},
             {MT_MLP_OUT, "mlp_out"},
             {MT_BLOCK, "block"}},
  square[] = {{MT_SCORES, "scores"},
              {MT_SCALED, "scaled"},
              {MT_MASKED, "masked"},
              {MT_WEIGHTS, "weights"}},
  wide[] = {{MT_Q, "q"}, {MT_K, "k"}, {MT_V, "v"}};

static void near(double got, double want, const char *name, int l)
{
    if (!(got == want || fabs(got - want) <= 2e-5 * (1 + fabs(want))))
        fail_msg("block %d, %s: %.9g, not %.9g", l, name, got, want);
}

static void check_block(const struct fix *f, const struct mistaken *s, int l)
{
    struct model_array a;
    size_t n = (size_t)s->n, each = (size_t)(s->d / s->heads);
    for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++) {
        read_array(&a, f, l, -1, whole[k].name);
        assert_int_equal(model_array_count(&a), mistaken_count(s, whole[k].t));
        assert_int_equal(a.shape[0], s->n);
        for (size_t i = 0; i < mistaken_count(s, whole[k].t); i++)
            near((double)a.data[i], s->t[l][whole[k].t][i], whole[k].name, l);
        model_array_free(&a);
    }
    for (int h = 0; h < s->heads; h++) {
        for (size_t k = 0; k < sizeof square / sizeof square[0]; k++) {
            read_array(&a, f, l, h, square[k].name);
            for (size_t i = 0; i < n * n; i++)
                near((double)a.data[i], s->t[l][square[k].t][(size_t)h * n * n + i],
                     square[k].name, l);
            model_array_free(&a);
        }
        for (size_t k = 0; k < sizeof wide / sizeof wide[0]; k++) {
            read_array(&a, f, l, h, wide[k].name);
            for (size_t i = 0; i < n * each; i++)
                near((double)a.data[i],
                     s->t[l][wide[k].t]
                         [i / each * (size_t)s->d + (size_t)h * each + i % each],
                     wide[k].name, l);
            model_array_free(&a);
        }
        read_array(&a, f, l, h, "z");
        for (size_t i = 0; i < n * each; i++)
            near((double)a.data[i], s->t[l][MT_Z][(size_t)h * n * each + i], "z", l);
        model_array_free(&a);
    }
}

static void every_number_is_that_of_an_independent_pass(void **state)
{
    const struct fix *f = *state;
    static struct case_model m;
    struct case_folder model;
    struct mistaken s;
    const int32_t ids[] = {1, 2, 3, 4, 5, 6};
    folder_init(&model);
    case_init(&m, case_spec_small(), 3);
    folder_write_model(&model, &m);
    const struct cli cli = {.model = model.path, .text = "1 2 3 4 5 6", .dump = f->path};
    dumped(&cli);
    mistaken_run(&s, &m, ids, 6, "", false);
    for (int l = 0; l < s.n_block; l++) check_block(f, &s, l);
    mistaken_free(&s);
    case_free(&m);
    folder_fini(&model);
    clear(f);
}

/* Edited in its middle block: what lies before is as it was, what lies behind follows. */
static void an_edited_run_is_edited_everywhere_behind(void **state)
{
    const struct fix *f = *state;
    static const struct mistaken_edit edits[] = {{1, MT_H, 1, 3, 2.5},
                                                 {1, MT_X, 4, 0, -1.25}};
    static struct case_model m;
    struct case_folder model;
    struct case_spec spec = case_spec_small();
    struct mistaken s;
    struct err e = {0};
    char path[PATH + 128], dump[PATH], manifest[8192];
    const int32_t ids[] = {1, 2, 3, 4, 5, 6};
    char *argv[] = {"headlight", "MODEL",  "--text",    "1 2 3 4 5 6", "--block",
                    "2",         "--edit", "h 2 4 2.5", "--edit",      "x 5 1 -1.25",
                    "--blocks",  "1-3",    "--dump",    dump};
    struct cli cli;
    folder_init(&model);
    spec.n_layer = 3;
    case_init(&m, spec, 3);
    folder_write_model(&model, &m);
    argv[1] = model.path;
    (void)snprintf(dump, sizeof dump, "%s", f->path);
    if (!cli_parse(&cli, 14, argv, &e)) fail_msg("%s", e.text);
    dumped(&cli);
    mistaken_edited(&s, &m, ids, 6, edits, 2);
    for (int l = 0; l < s.n_block; l++) check_block(f, &s, l);
    (void)snprintf(path, sizeof path, "%s/manifest.json", f->path);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    manifest[fread(manifest, 1, sizeof manifest - 1, in)] = '\0';
    (void)fclose(in);
    assert_non_null(strstr(manifest, "\"edited\""));
    assert_non_null(strstr(manifest, "-1.25"));
    mistaken_free(&s);
    case_free(&m);
    folder_fini(&model);
    clear(f);
}

static void heads_blocks_and_stages_are_chosen(void **state)
{
    const struct fix *f = *state;
    struct file_names names;
    struct err e = {0};
    const struct cli cli = {.dump = f->path, .stages = "5,y,w_o", .heads = "2"};
    dumped(&cli);
    assert_true(file_names_read(&names, f->path, ".npy", &e));
    assert_int_equal(names.n, 3);
    assert_string_equal(names.at[0], "b00.h01.weights.npy");
    assert_string_equal(names.at[1], "b00.w_o.npy");
    assert_string_equal(names.at[2], "b00.y.npy");
    file_names_free(&names);
    clear(f);
}

static void what_is_there_stays(void **state)
{
    const struct fix *f = *state;
    char note[64], path[PATH + 16], inside[PATH + 16];
    struct err e = {0};
    struct stat st;
    struct cli cli = {.dump = f->path};
    assert_int_equal(mkdir(f->path, 0777), 0);
    assert_false(dump_write(&cli, "test", note, sizeof note, &e));
    assert_non_null(strstr(e.text, "is there already"));
    (void)snprintf(inside, sizeof inside, "%s/x.npy", f->path);
    assert_int_not_equal(stat(inside, &st), 0);
    (void)rmdir(f->path);
    (void)snprintf(path, sizeof path, "%s.npz", f->path);
    cli.dump = path;
    assert_true(file_write(path, "mine", 4, &e));
    assert_false(dump_write(&cli, "test", note, sizeof note, &e));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 4);
    (void)unlink(path);
    cli.stages = "5,nonsense";
    assert_false(dump_write(&cli, "test", note, sizeof note, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_int_not_equal(stat(path, &st), 0);
}

/* ---- beside the references of real weights ---------------------------------------------------- */

/* Where the shared file rel lies. false: nowhere. */
static bool data_path(char out[PATH], const char *rel)
{
    const char *const at[] = {getenv("HEADLIGHT_TEST_DATA"), DATA_DIR};
    struct stat st;
    for (int i = 0; i < 2; i++) {
        if (!at[i]) continue;
        (void)snprintf(out, PATH, "%s/%s", at[i], rel);
        if (stat(out, &st) == 0) return true;
    }
    return false;
}

/* Array `tensor` of every head or, heads = 0, of the block, within `off` of the file. */
static void check_file(const struct fix *f, int heads, const char *tensor,
                       const char *rel, double off)
{
    char path[PATH];
    struct model_array t, a;
    struct err e = {0};
    if (!data_path(path, rel)) fail_msg("no %s", rel);
    if (!model_npy_read(&t, path, 1 << 26, &e)) fail_msg("%s", e.text);
    for (int h = 0; h < (heads ? heads : 1); h++) {
        read_array(&a, f, 0, heads ? h : -1, tensor);
        int64_t n = model_array_count(&a);
        assert_int_equal(n * (heads ? heads : 1), model_array_count(&t));
        for (int64_t i = 0; i < n; i++) {
            double got = (double)a.data[i], want = (double)t.data[h * n + i];
            if (!(got == want || fabs(got - want) <= off))
                fail_msg("%s, head %d, number %d: %.9g, not %.9g", rel, h, (int)i, got,
                         want);
        }
        model_array_free(&a);
    }
    model_array_free(&t);
}

static void nano_sort_is_as_pytorch_has_it(void **state)
{
    const struct fix *f = *state;
    char model[PATH];
    if (!data_path(model, "nano-sort/config.json")) skip();
    *strrchr(model, '/') = '\0';
    const struct cli cli = {.model = model, .text = "AACBABAAAAA", .dump = f->path};
    dumped(&cli);
    check_file(f, 0, "h", "nano-sort/ref/x.npy", 1e-5);
    check_file(f, 0, "x", "nano-sort/ref/ln1.npy", 1e-5);
    check_file(f, 3, "q", "nano-sort/ref/q.npy", 1e-5);
    check_file(f, 3, "k", "nano-sort/ref/k.npy", 1e-5);
    check_file(f, 3, "v", "nano-sort/ref/v.npy", 1e-5);
    check_file(f, 3, "masked", "nano-sort/ref/att_scaled_masked.npy", 1e-5);
    check_file(f, 3, "weights", "nano-sort/ref/attn_softmax.npy", 1e-5);
    check_file(f, 0, "merged", "nano-sort/ref/y.npy", 1e-5);
    check_file(f, 0, "y_proj", "nano-sort/ref/y_proj.npy", 1e-5);
    check_file(f, 0, "y", "nano-sort/ref/attn_resid.npy", 1e-5);
    check_file(f, 0, "ln_2", "nano-sort/ref/ln2.npy", 1e-5);
    check_file(f, 0, "mlp_fc", "nano-sort/ref/mlp_fc.npy", 1e-5);
    check_file(f, 0, "mlp_act", "nano-sort/ref/mlp_gelu.npy", 1e-5);
    check_file(f, 0, "mlp_out", "nano-sort/ref/mlp_out.npy", 1e-5);
    check_file(f, 0, "block", "nano-sort/ref/block0.npy", 1e-5);
    clear(f);
}

/* GPT-2's first block on a published prompt; the folder is one that the tests of models
 * make where they can. */
static void gpt2_block_1_is_as_its_reference(void **state)
{
    const struct fix *f = *state;
    struct stat st;
    char rel[PATH], *text = NULL;
    size_t n = 0;
    struct err e = {0};
    struct arena mem = {0};
    const char *model = MODELS_DIR "/prompt_ex0";
    if (stat(MODELS_DIR "/prompt_ex0/merges.txt", &st) != 0) skip();
    if (!data_path(rel, "gpt2-block1/prompt_ex0/prompt.json")) skip();
    assert_true(arena_init(&mem, 1 << 20, &e));
    assert_true(file_read(rel, 1 << 19, &mem, &text, &n, &e));
    /* {"prompt": "...": plain letters, no escapes */
    char *at = strstr(text, "\"prompt\"");
    assert_non_null(at);
    at = strchr(strchr(at, ':'), '"') + 1;
    *strchr(at, '"') = '\0';
    const struct cli cli = {.model = model, .text = at, .dump = f->path};
    dumped(&cli);
    check_file(f, 12, "scores", "gpt2-block1/prompt_ex0/published_scores_all_heads.npy",
               1e-4);
    check_file(f, 12, "weights", "gpt2-block1/prompt_ex0/own_softmax_all_heads.npy",
               5e-6);
    check_file(f, 0, "y_proj", "gpt2-block1/prompt_ex0/own_y_proj.npy", 2e-5);
    check_file(f, 0, "y", "gpt2-block1/prompt_ex0/own_attn_resid.npy", 2e-5);
    arena_free(&mem);
    clear(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_that_of_an_independent_pass),
        cmocka_unit_test(an_edited_run_is_edited_everywhere_behind),
        cmocka_unit_test(heads_blocks_and_stages_are_chosen),
        cmocka_unit_test(what_is_there_stays),
        cmocka_unit_test(nano_sort_is_as_pytorch_has_it),
        cmocka_unit_test(gpt2_block_1_is_as_its_reference),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
