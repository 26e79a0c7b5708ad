/* Somebody's dumps beside our numbers: what they are is found out, right ones are called
 * right, and every mistake by its name. The dumps are made in double by other code. */
#include "compare.h"
#include "compare_view.h"
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

enum { TOKENS = 7, PATH = 256 };
static const int32_t ids[TOKENS] = {3, 11, 3, 0, 18, 7, 5};
static const char text[] = "3 11 3 0 18 7 5";

struct fix {
    struct case_folder folder, dump;
    struct case_model m;
    char path[PATH]; /* of the dump, within its folder */
};

/* Weights off every grid, so that rounding them shows; small embeddings, so that an epsilon
 * does. */
static int open_all(void **state)
{
    static struct fix f;
    struct case_spec spec = case_spec_small();
    spec.n_head = 3;
    spec.d = 24;
    spec.mlp = 40;
    memset(&f, 0, sizeof f);
    *state = &f;
    folder_init(&f.folder);
    folder_init(&f.dump);
    case_init(&f.m, spec, 7);
    for (int i = 0; i < f.m.n; i++) {
        struct case_tensor *t = &f.m.t[i];
        bool embedding =
            strncmp(t->name, "wte", 3) == 0 || strncmp(t->name, "wpe", 3) == 0;
        bool matrix = t->rank == 2 && !embedding;
        for (size_t k = 0; k < t->n; k++) {
            t->v[k] *= embedding ? 0.0112f : matrix ? 1.3717f : 1.0371f;
            if (!matrix && !embedding) t->v[k] += 0.0123f * (float)(k % 5);
        }
    }
    folder_write_model(&f.folder, &f.m);
    (void)snprintf(f.path, sizeof f.path, "%s/d", f.dump.path);
    return 0;
}

static int close_all(void **state)
{
    struct fix *f = *state;
    case_free(&f->m);
    folder_fini(&f->folder);
    folder_fini(&f->dump);
    return 0;
}

/* ---- dumps ------------------------------------------------------------------------------- */

static const struct {
    enum mistaken_tensor t;
    const char *name;
} names[] = {{MT_H, "resid_pre"},
             {MT_X, "ln_1"},
             {MT_Q, "q"},
             {MT_K, "k"},
             {MT_V, "v"},
             {MT_SCORES, "raw_scores"},
             {MT_SCALED, "scaled"},
             {MT_MASKED, "masked"},
             {MT_WEIGHTS, "attn_weights"},
             {MT_Z, "head_out"},
             {MT_MERGED, "concat"},
             {MT_Y_PROJ, "attn.c_proj"},
             {MT_Y, "resid_mid"},
             {MT_LN_2, "ln_2"},
             {MT_MLP_FC, "mlp.c_fc"},
             {MT_MLP_ACT, "mlp.act"},
             {MT_MLP_OUT, "mlp"},
             {MT_BLOCK, "resid_post"}};

static void shape_of(struct model_array *a, const struct mistaken *s,
                     enum mistaken_tensor t)
{
    int64_t n = s->n, heads = s->heads, each = s->d / s->heads;
    a->rank = 4;
    a->shape[0] = 1; /* a batch of one */
    a->shape[1] = heads;
    a->shape[2] = n;
    a->shape[3] = t == MT_Z ? each : n;
    if (t == MT_Z || (t >= MT_SCORES && t <= MT_WEIGHTS)) return;
    a->rank = 3;
    a->shape[1] = n;
    a->shape[2] = t == MT_MLP_FC || t == MT_MLP_ACT ? s->mlp : s->d;
}

static void put(struct model_npz_out *z, const struct mistaken *s, int l,
                enum mistaken_tensor t, const char *name)
{
    struct err e = {0};
    struct model_array a = {0};
    char full[96];
    size_t n = mistaken_count(s, t);
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = (float)s->t[l][t][i];
    shape_of(&a, s, t);
    a.data = x;
    a.ld = a.shape[a.rank - 1];
    (void)snprintf(full, sizeof full, "transformer.h.%d.%s", l, name);
    if (!model_npz_add(z, full, &a, &e)) fail_msg("%s", e.text);
    free(x);
}

/* Tensors first..last of blocks from..to, as an .npz. */
static void write_dump(const struct fix *f, const struct mistaken *s, int from, int to,
                       enum mistaken_tensor first, enum mistaken_tensor last)
{
    struct model_npz_out *z = NULL;
    struct err e = {0};
    if (!model_npz_begin(&z, f->path, true, 256, &e)) fail_msg("%s", e.text);
    for (int l = from; l <= to; l++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (names[i].t >= first && names[i].t <= last)
                put(z, s, l, names[i].t, names[i].name);
    if (!model_npz_end(z, &e)) fail_msg("%s", e.text);
}

/* The comparison of f's dump with f's model, one option of which is switched off; none:
 * STEP_OPT_COUNT. */
static void compared_without(struct compare *c, const struct fix *f, enum step_option off)
{
    static struct cli cli;
    char note[256];
    struct err e = {0};
    cli = (struct cli){.model = f->folder.path, .text = text, .compare = f->path};
    if (off != STEP_OPT_COUNT)
        step_push(&cli.start, (struct step_action){.verb = STEP_TOGGLE, .i = (int)off});
    if (!compare_make(c, &cli, note, sizeof note, &e)) fail_msg("%s", e.text);
    (void)unlink(f->path);
}

static void compared(struct compare *c, const struct fix *f)
{
    compared_without(c, f, STEP_OPT_COUNT);
}

static void expect(struct fix *f, const char *mistake, bool longer, int from, int to,
                   enum mistaken_tensor first, enum mistaken_tensor last)
{
    struct mistaken s;
    struct compare c;
    mistaken_run(&s, &f->m, ids, TOKENS, mistake, longer);
    write_dump(f, &s, from, to, first, last);
    compared(&c, f);
    if (!mistake[0]) {
        if (!compare_agrees(&c)) fail_msg("a right dump: %s", c.text);
    } else if (compare_agrees(&c) || !c.why.name || strcmp(c.why.name, mistake) != 0) {
        fail_msg("%s, tensors %d to %d: named %s\n%s", mistake, (int)first, (int)last,
                 c.why.name ? c.why.name : "nothing", c.text);
    }
    compare_free(&c);
    mistaken_free(&s);
}

/* ---- the tests ---------------------------------------------------------------------------- */

static void a_right_dump_agrees(void **state)
{
    expect(*state, "", false, 0, 1, MT_H, MT_BLOCK);
    expect(*state, "", false, 1, 1, MT_Y, MT_Y);
}

/* "eps-1e-5" is right here, and so are the three that end in -on while nothing is off. */
static bool is_right_here(const char *name)
{
    return strcmp(name, "eps-1e-5") == 0 || strcmp(name, "scale-on") == 0 ||
           strcmp(name, "mask-on") == 0 || strcmp(name, "residual-on") == 0;
}

/* A right dump is then one that has something which the numbers here leave out. */
static void what_is_switched_off_here_is_named(void **state)
{
    static const struct {
        enum step_option off;
        const char *name;
    } parts[] = {{STEP_OPT_SCALE, "scale-on"},
                 {STEP_OPT_CAUSAL, "mask-on"},
                 {STEP_OPT_RESIDUAL, "residual-on"}};
    struct fix *f = *state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct mistaken s;
        struct compare c;
        mistaken_run(&s, &f->m, ids, TOKENS, "", false);
        write_dump(f, &s, 0, 0, MT_H, MT_Y);
        compared_without(&c, f, parts[i].off);
        if (compare_agrees(&c) || !c.why.name || strcmp(c.why.name, parts[i].name) != 0)
            fail_msg("%s: named %s\n%s", parts[i].name,
                     c.why.name ? c.why.name : "nothing", c.text);
        compare_free(&c);
        mistaken_free(&s);
    }
}

static void every_mistake_is_named_from_all_stages(void **state)
{
    for (int i = 0; model_mistake_name(i); i++)
        if (!is_right_here(model_mistake_name(i)))
            expect(*state, model_mistake_name(i), false, 0, 1, MT_H, MT_BLOCK);
}

static void every_mistake_is_named_from_what_a_block_gives(void **state)
{
    static const char *const hidden[] = {
        "mask-strict", "mask-after-softmax", "softmax-heads", /* NaN from there on */
        "eps-0",       "eps-1e-12",          "eps-1e-8", /* the same to seven digits */
        NULL};
    for (int i = 0; model_mistake_name(i); i++) {
        bool known = !is_right_here(model_mistake_name(i));
        for (const char *const *h = hidden; *h; h++)
            known = known && strcmp(*h, model_mistake_name(i)) != 0;
        if (known) expect(*state, model_mistake_name(i), false, 0, 0, MT_BLOCK, MT_BLOCK);
    }
}

static void a_mistake_in_blocks_before_is_named(void **state)
{
    expect(*state, "no-scale", false, 1, 1, MT_BLOCK, MT_BLOCK);
    expect(*state, "gelu-form", false, 1, 1, MT_H, MT_BLOCK);
    expect(*state, "residual-after-ln_1", false, 1, 1, MT_WEIGHTS, MT_WEIGHTS);
}

static void other_inputs_are_named(void **state)
{
    static const char *const inputs[] = {"positions-1",  "positions-2",
                                         "no-positions", "leading-special",
                                         "leading-0",    "leading-first"};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        expect(*state, inputs[i], false, 0, 1, MT_H, MT_BLOCK);
        expect(*state, inputs[i], false, 0, 0, MT_WEIGHTS, MT_WEIGHTS);
        if (strncmp(inputs[i], "leading", 7) == 0)
            expect(*state, inputs[i], true, 0, 1, MT_H, MT_BLOCK);
    }
}

static void an_unknown_mistake_is_called_unknown(void **state)
{
    struct fix *f = *state;
    struct mistaken s;
    struct compare c;
    mistaken_run(&s, &f->m, ids, TOKENS, "", false);
    size_t each = (size_t)TOKENS * TOKENS; /* head 2 is too large by a twelfth */
    for (size_t i = each; i < 2 * each; i++) s.t[0][MT_SCALED][i] *= 13.0 / 12.0;
    write_dump(f, &s, 0, 0, MT_Q, MT_SCALED);
    compared(&c, f);
    assert_false(compare_agrees(&c));
    assert_null(c.why.name);
    assert_int_equal(c.first, MODEL_T_SCALED);
    assert_non_null(strstr(c.text, "unknown"));
    assert_non_null(strstr(c.text, "head 2 alone differs"));
    compare_free(&c);
    mistaken_free(&s);
}

/* Edited by hand there and here: it agrees; a mistake besides is still named. */
static void an_edited_run_is_compared_with_an_edited_dump(void **state)
{
    struct fix *f = *state;
    static const struct mistaken_edit edits[] = {{0, MT_H, 2, 3, 0.5},
                                                 {0, MT_X, 4, 0, -1.25}};
    for (int with = 0; with < 2; with++) {
        struct mistaken s;
        struct compare c;
        struct err e = {0};
        char note[256], typed[] = "3 11 3 0 18 7 5";
        char *argv[] = {"headlight", f->folder.path, "--text", typed,
                        "--compare", f->path,        "--edit", "h 3 4 0.5",
                        "--edit",    "x 5 1 -1.25"};
        struct cli cli;
        if (!cli_parse(&cli, with ? 10 : 6, argv, &e)) fail_msg("%s", e.text);
        mistaken_edited(&s, &f->m, ids, TOKENS, edits, 2);
        write_dump(f, &s, 0, 1, MT_H, MT_BLOCK);
        if (!compare_make(&c, &cli, note, sizeof note, &e)) fail_msg("%s", e.text);
        if (compare_agrees(&c) != (with == 1)) fail_msg("%s", c.text);
        assert_int_equal(
            strstr(c.text, "2 cells of block 1: h 3 4 0.5; x 5 1 -1.25") != 0, with);
        (void)unlink(f->path);
        compare_free(&c);
        mistaken_free(&s);
    }
}

static void float32_noise_is_no_mistake(void **state)
{
    struct fix *f = *state;
    struct mistaken s;
    struct compare c;
    uint64_t r = 1;
    mistaken_run(&s, &f->m, ids, TOKENS, "", false);
    for (int l = 0; l < s.n_block; l++)
        for (int t = 0; t < MT_COUNT; t++)
            for (size_t i = 0; i < mistaken_count(&s, (enum mistaken_tensor)t); i++) {
                r = r * 6364136223846793005u + 1442695040888963407u;
                double u = (double)(r >> 40) / (double)(1 << 24) - 0.5;
                s.t[l][t][i] *= 1 + u * 4e-6; /* some thirty units of the last place */
            }
    write_dump(f, &s, 0, 1, MT_H, MT_BLOCK);
    compared(&c, f);
    if (!compare_agrees(&c)) fail_msg("%s", c.text);
    compare_free(&c);
    mistaken_free(&s);
}

/* ---- how arrays may lie ----------------------------------------------------------------------- */

/* One array of Q of block 0, permuted, under a name. */
struct lying {
    const char *name;
    int rank;
    int64_t shape[4];
    int axis[3]; /* 0 token, 1 head, 2 within the head: from the slowest */
};

static void q_is_found_however_it_lies(void **state)
{
    struct fix *f = *state;
    enum { H = 3, C = 8 };
    static const struct lying cases[] = {
        {"h.0.attn.q_proj", 2, {TOKENS, H * C}, {0, 1, 2}},
        {"blocks.0.query", 3, {TOKENS, H, C}, {0, 1, 2}},
        {"layers.0.attn.q", 4, {1, H, TOKENS, C}, {1, 0, 2}},
        {"layer_0.queries", 3, {H, C, TOKENS}, {1, 2, 0}},
        {"q", 3, {TOKENS, 1, H * C}, {0, 1, 2}},
    };
    struct mistaken s;
    mistaken_run(&s, &f->m, ids, TOKENS, "", false);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int size[3] = {TOKENS, H, C}, step[3] = {H * C, C, 1};
        float x[TOKENS * H * C];
        size_t n = 0;
        const int *ax = cases[k].axis;
        for (int a = 0; a < size[ax[0]]; a++)
            for (int b = 0; b < size[ax[1]]; b++)
                for (int c = 0; c < size[ax[2]]; c++)
                    x[n++] = (float)s.t[0][MT_Q][a * step[ax[0]] + b * step[ax[1]] +
                                                 c * step[ax[2]]];
        struct model_array a = {.data = x, .rank = cases[k].rank};
        memcpy(a.shape, cases[k].shape, sizeof cases[k].shape);
        a.ld = a.shape[a.rank - 1];
        struct model_npz_out *z = NULL;
        struct err e = {0};
        struct compare c;
        assert_true(model_npz_begin(&z, f->path, false, 1, &e));
        assert_true(model_npz_add(z, cases[k].name, &a, &e));
        assert_true(model_npz_end(z, &e));
        compared(&c, f);
        if (!compare_agrees(&c) || !c.block[0].there[MODEL_T_Q])
            fail_msg("%s: %s", cases[k].name, c.text);
        assert_int_equal(c.block[0].diff[MODEL_T_Q].n, TOKENS * H * C);
        compare_free(&c);
    }
    mistaken_free(&s);
}

/* A single head, whose name does not say which: its numbers do, and it is said. */
static void an_ambiguous_head_is_told(void **state)
{
    struct fix *f = *state;
    struct mistaken s;
    struct compare c;
    struct err e = {0};
    float x[TOKENS * TOKENS];
    mistaken_run(&s, &f->m, ids, TOKENS, "", false);
    for (int i = 0; i < TOKENS * TOKENS; i++)
        x[i] = (float)s.t[0][MT_WEIGHTS][2 * TOKENS * TOKENS + i];
    struct model_array a = {
        .data = x, .rank = 2, .shape = {TOKENS, TOKENS}, .ld = TOKENS};
    assert_true(model_npy_write(f->path, &a, &e));
    compared(&c, f);
    assert_true(compare_agrees(&c));
    assert_true(c.theirs.has_head[MODEL_T_WEIGHTS][2]);
    assert_false(c.theirs.has_head[MODEL_T_WEIGHTS][1]);
    assert_non_null(strstr(c.text, "note: "));
    compare_free(&c);
    mistaken_free(&s);
}

/* Two arrays under one meaning, a name that means several things, one that means nothing. */
static void what_is_ambiguous_is_said(void **state)
{
    struct fix *f = *state;
    struct mistaken s;
    struct compare c;
    struct err e = {0};
    struct model_npz_out *z = NULL;
    mistaken_run(&s, &f->m, ids, TOKENS, "", false);
    for (size_t i = 0; i < mistaken_count(&s, MT_SCALED); i++)
        s.t[1][MT_SCALED][i] = sin((double)i);
    assert_true(model_npz_begin(&z, f->path, false, 8, &e));
    put(z, &s, 0, MT_SCALED, "scores");
    put(z, &s, 0, MT_Y, "something");
    put(z, &s, 1, MT_SCALED, "strange");
    assert_true(model_npz_end(z, &e));
    compared(&c, f);
    assert_true(c.block[0].there[MODEL_T_SCALED]);
    assert_non_null(
        strstr(c.text, "scores: may be scores, scaled, masked; taken as scaled"));
    assert_non_null(strstr(c.text, "something: may be"));
    assert_non_null(strstr(c.text, "strange: may be"));
    assert_non_null(strstr(c.text, "not compared"));
    compare_free(&c);
    mistaken_free(&s);
}

/* ---- what cannot be compared --------------------------------------------------------------------- */

static void refused(const struct fix *f, const char *why)
{
    struct compare c;
    char note[256];
    struct err e = {0};
    const struct cli cli = {.model = f->folder.path, .text = text, .compare = f->path};
    assert_false(compare_make(&c, &cli, note, sizeof note, &e));
    assert_int_equal(e.code, ERR_INPUT);
    if (!strstr(e.text, why) || strchr(e.text, '\n')) fail_msg("%s: %s", why, e.text);
    (void)unlink(f->path);
}

static void a_dump_of_another_shape_is_refused(void **state)
{
    struct fix *f = *state;
    struct err e = {0};
    struct model_npz_out *z = NULL;
    float x[10 * 24] = {0};
    struct model_array a = {.data = x, .rank = 2, .shape = {10, 24}, .ld = 24};
    assert_true(model_npz_begin(&z, f->path, false, 2, &e));
    assert_true(model_npz_add(z, "h.0.ln_1", &a, &e));
    assert_true(model_npz_end(z, &e));
    refused(f, "h.0.ln_1: shape [10,24]; x of 7 tokens is [7,24]");
    assert_true(model_npz_begin(&z, f->path, false, 2, &e));
    assert_true(model_npz_add(z, "h.5.ln_1", &a, &e));
    assert_true(model_npz_end(z, &e));
    refused(f, "block 5; the model has 2");
    assert_true(model_npz_begin(&z, f->path, false, 2, &e));
    assert_true(model_npz_add(z, "b00.h03.q", &a, &e));
    assert_true(model_npz_end(z, &e));
    refused(f, "head 3, counted from 0; the model has 3");
    assert_true(model_npz_begin(&z, f->path, false, 2, &e));
    assert_true(model_npz_add(z, "nonsense", &a, &e));
    assert_true(model_npz_end(z, &e));
    refused(f, "nothing in it could be compared");
    refused(f, "cannot be opened");
}

/* ---- two dumps ------------------------------------------------------------------------------------- */

static void dumped(const char *path, const struct step_action *actions, int n)
{
    struct cli cli = {.dump = path, .head_given = n > 0};
    char note[64];
    struct err e = {0};
    for (int i = 0; i < n; i++) step_push(&cli.start, actions[i]);
    if (!dump_write(&cli, "test", note, sizeof note, &e)) fail_msg("%s", e.text);
}

static void two_dumps_are_compared(void **state)
{
    struct fix *f = *state;
    char a[PATH], b[PATH];
    const char *said = NULL;
    bool agrees = true;
    struct err e = {0};
    struct arena mem = {0};
    struct cli cli = {.compare = a, .with = b};
    const struct step_action head[] = {{.verb = STEP_HEAD, .i = 1}};
    const struct step_action other[] = {{.verb = STEP_SEED, .i = 4},
                                        {.verb = STEP_HEAD, .i = 1}};
    (void)snprintf(a, sizeof a, "%s/a.npz", f->dump.path);
    (void)snprintf(b, sizeof b, "%s/b.npz", f->dump.path);
    dumped(a, NULL, 0);
    dumped(b, head, 1); /* one head of the same */
    assert_true(compare_dumps(&cli, &mem, &said, &agrees, &e));
    assert_true(agrees);
    arena_free(&mem);
    (void)unlink(b);
    dumped(b, other, 2);
    assert_true(compare_dumps(&cli, &mem, &said, &agrees, &e));
    assert_false(agrees);
    assert_non_null(strstr(said, "It differs first in block 1"));
    arena_free(&mem);
    (void)unlink(a);
    (void)unlink(b);
}

/* A window shows the toy until the model is open; the comparison is not of that. */
static void a_window_that_still_opens_the_model_keeps_the_comparison(void **state)
{
    (void)state;
    const struct cli cli = {.model = "model"};
    struct compare_view v = {.is_open = true, .cmp = {.cli = &cli}};
    struct run_key toy = {.n_tok = 5};
    struct run_key model = {.scale = STEP_GPT2, .model = 1, .text = 1, .n_tok = 8};
    assert_null(compare_view_of(&v, toy, false));
    assert_non_null(compare_view_of(&v, model, false));
    model.second = 2; /* two heads looked at together */
    assert_non_null(compare_view_of(&v, model, false));
    assert_null(compare_view_of(&v, toy, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_dump_agrees),
        cmocka_unit_test(what_is_switched_off_here_is_named),
        cmocka_unit_test(every_mistake_is_named_from_all_stages),
        cmocka_unit_test(every_mistake_is_named_from_what_a_block_gives),
        cmocka_unit_test(a_mistake_in_blocks_before_is_named),
        cmocka_unit_test(other_inputs_are_named),
        cmocka_unit_test(an_unknown_mistake_is_called_unknown),
        cmocka_unit_test(an_edited_run_is_compared_with_an_edited_dump),
        cmocka_unit_test(float32_noise_is_no_mistake),
        cmocka_unit_test(q_is_found_however_it_lies),
        cmocka_unit_test(an_ambiguous_head_is_told),
        cmocka_unit_test(what_is_ambiguous_is_said),
        cmocka_unit_test(a_dump_of_another_shape_is_refused),
        cmocka_unit_test(two_dumps_are_compared),
        cmocka_unit_test(a_window_that_still_opens_the_model_keeps_the_comparison),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
