/* The program with models from files, which the test writes itself. */
#include "app.h"
#include "complete.h"
#include "model_case.h"

#include <SDL.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fix {
    struct case_folder folder;
    struct case_model m;
    struct app a;
};

/* Two blocks, two heads, d = 8, context 12, vocabulary 20, no tokenizer. */
static int open_all(void **state)
{
    static struct fix f;
    struct err e = {0};
    const struct app_config c = {.headless = true, .w = 1280, .h = 800};
    memset(&f, 0, sizeof f);
    *state = &f;
    folder_init(&f.folder);
    case_init(&f.m, case_spec_small(), 7);
    folder_write_model(&f.folder, &f.m);
    if (app_init(&f.a, &c, &e)) return 0;
    print_error("%s\n", e.text);
    return -1;
}

static int close_all(void **state)
{
    struct fix *f = *state;
    app_fini(&f->a);
    case_free(&f->m);
    folder_fini(&f->folder);
    return 0;
}

static void build(struct app *a)
{
    struct err e = {0};
    if (!app_build(a, true, &e)) fail_msg("%s", e.text);
    assert_true(a->seen_source.fits);
}

/* Its first block, with the text. */
static void load(struct fix *f, const char *text)
{
    struct err e = {0};
    const struct step_actions first = {.at = {{.verb = STEP_BLOCK}}, .n = 1};
    if (!app_load(&f->a, f->folder.path, text, &first, &e)) fail_msg("%s", e.text);
    build(&f->a);
}

static void act(struct app *a, enum step_verb verb, int i)
{
    app_apply(a, (struct step_action){.verb = verb, .i = i});
}

/* Largest difference of what block l reads from the forward pass by the book. */
static double input_error(struct fix *f, const int32_t *ids, int n, int l)
{
    struct case_pass p = case_forward(&f->m, ids, n);
    struct attn_cmat h = f->a.seen_source.trace->h;
    double worst = 0;
    assert_int_equal(h.rows, n);
    assert_int_equal(h.cols, f->m.spec.d);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < h.cols; c++)
            worst = fmax(worst, fabs((double)h.data[(size_t)i * h.ld + c] -
                                     p.h[((size_t)l * n + i) * h.cols + c]));
    free(p.h);
    free(p.logits);
    return worst;
}

static void every_block_shows_its_true_input(void **state)
{
    struct fix *f = *state;
    static const int32_t ids[] = {3, 1, 4, 1, 5, 9, 2};
    load(f, "3 1 4,1 5\n9 2");
    const struct step_place *p = step_place_of(&f->a.step);
    assert_int_equal(f->a.step.scale, STEP_GPT2);
    assert_int_equal(p->dims.d_model, 8);
    assert_int_equal(p->dims.n_head, 2);
    assert_int_equal(p->n_block, 2);
    assert_int_equal(p->limit, 12);
    assert_int_equal(p->row, 6);
    assert_string_equal(f->a.seen_source.tokens[2], "4");
    assert_true(input_error(f, ids, 7, 0) < 1e-5);
    act(&f->a, STEP_BLOCK_BY, 1);
    assert_int_equal(p->block, 1);
    build(&f->a);
    assert_true(input_error(f, ids, 7, 1) < 1e-5);
    act(&f->a, STEP_HEAD_BY, 1);
    build(&f->a);
    assert_int_equal(f->a.seen_source.trace->head, 1);
    assert_true(input_error(f, ids, 7, 1) < 1e-5);
    act(&f->a, STEP_BLOCK_BY, 1);
    assert_int_equal(p->block, 1);
}

/* The next tokens on screen against softmax over the logits by the book. */
static void next_is(struct fix *f, const int32_t *ids, int n, int row)
{
    const struct scene_next *next = f->a.seen_source.next;
    int vocab = f->m.spec.vocab;
    struct case_pass p = case_forward(&f->m, ids, n);
    const double *l = p.logits + (size_t)row * vocab;
    double sum = 0;
    for (int t = 0; t < vocab; t++) sum += exp(l[t]);
    assert_non_null(next);
    assert_true(next->ready);
    assert_int_equal(next->row, row);
    assert_int_equal(next->n, SCENE_NEXT);
    for (int k = 0; k < next->n; k++) {
        int id = atoi(next->text[k]), larger = 0; /* no tokenizer: digits */
        for (int t = 0; t < vocab; t++) larger += l[t] > l[id] + 1e-5;
        assert_true(larger <= k);
        assert_true(fabs((double)next->logit[k] - l[id]) < 1e-5);
        assert_true(fabs((double)next->p[k] - exp(l[id]) / sum) < 1e-6);
    }
    free(p.h);
    free(p.logits);
}

static void the_next_tokens_are_those_of_the_true_logits(void **state)
{
    struct fix *f = *state;
    static const int32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6};
    char note[64];
    struct err e = {0};
    load(f, "3 1 4 1 5 9 2");
    act(&f->a, STEP_GO, ATTN_OUTPUT);
    build(&f->a);
    assert_null(f->a.seen_source.next); /* the first block of two */
    act(&f->a, STEP_BLOCK, 1);
    for (int row = 6; row >= 0; row -= 3) {
        act(&f->a, STEP_ROW, row);
        build(&f->a);
        next_is(f, ids, 7, row);
    }
    /* What is switched off is off in the block on screen, not in the model. */
    act(&f->a, STEP_TOGGLE, STEP_OPT_RESIDUAL);
    build(&f->a);
    next_is(f, ids, 7, 0);
    act(&f->a, STEP_TOGGLE, STEP_OPT_RESIDUAL);
    /* Another text, and at once those of the old one are gone. */
    assert_true(source_set_text(&f->a.source, &f->a.step, "3 1 4 1 5 9 2 6", 15, note,
                                sizeof note, &e));
    assert_true(app_build(&f->a, false, &e));
    assert_true(!f->a.seen_source.next || !f->a.seen_source.next->ready ||
                f->a.seen_source.next->row == 7);
    build(&f->a);
    next_is(f, ids, 8, 7);
    /* The overview tells them whatever block is in view. */
    act(&f->a, STEP_BLOCK, 0);
    act(&f->a, STEP_OVERVIEW, 0);
    act(&f->a, STEP_ROW, 4);
    build(&f->a);
    next_is(f, ids, 8, 4);
    act(&f->a, STEP_OVERVIEW, 0);
    act(&f->a, STEP_GO, ATTN_PROJECTIONS);
}

static void without_a_finite_logit_there_is_no_next_token(void **state)
{
    struct fix *f = *state;
    struct case_tensor *t = case_tensor(&f->m, "ln_f.weight");
    float was = t->v[0];
    t->v[0] = NAN;
    folder_write_model(&f->folder, &f->m);
    load(f, "1 2 3");
    act(&f->a, STEP_BLOCK, 1);
    act(&f->a, STEP_GO, ATTN_OUTPUT);
    build(&f->a);
    assert_non_null(f->a.seen_source.next);
    assert_true(f->a.seen_source.next->ready);
    assert_int_equal(f->a.seen_source.next->n, 0);
    build(&f->a);
    assert_non_null(strstr(f->a.seen_source.message, "ln_f.weight"));
    t->v[0] = was;
    folder_write_model(&f->folder, &f->m);
    act(&f->a, STEP_GO, ATTN_PROJECTIONS);
}

static void a_heads_reach_is_its_values_through_its_rows_of_w_o(void **state)
{
    struct fix *f = *state;
    load(f, "3 1 4 1 5 9 2");
    for (int head = 0; head < 2; head++) {
        act(&f->a, STEP_HEAD, head);
        build(&f->a);
        const struct scene_source *src = &f->a.seen_source;
        struct attn_cmat v = attn_trace_view(src->trace, ATTN_V, head);
        struct attn_cmat w = attn_trace_view(src->trace, ATTN_W_O, head);
        for (int j = 0; j < v.rows; j++) {
            double sum = 0;
            for (int a = 0; a < w.cols; a++) {
                double y = 0;
                for (int k = 0; k < v.cols; k++)
                    y += (double)v.data[(size_t)j * v.ld + k] *
                         (double)w.data[(size_t)(head * v.cols + k) * w.ld + a];
                sum += y * y;
            }
            assert_true(fabs((double)src->reach[j] - sqrt(sum)) < 1e-5 * (1 + sqrt(sum)));
        }
    }
    act(&f->a, STEP_HEAD, 0);
}

static void another_text_is_read_and_the_place_kept(void **state)
{
    struct fix *f = *state;
    static const int32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6};
    char note[256];
    struct err e = {0};
    load(f, "3 1 4 1 5 9 2");
    act(&f->a, STEP_BLOCK, 1);
    act(&f->a, STEP_HEAD, 1);
    build(&f->a);
    assert_true(source_set_text(&f->a.source, &f->a.step, "3 1 4 1 5 9 2 6", 15, note,
                                sizeof note, &e));
    build(&f->a);
    assert_string_equal(note, "");
    assert_true(input_error(f, ids, 8, 1) < 1e-5);
    const struct step_place *p = step_place_of(&f->a.step);
    assert_int_equal(p->head, 1);
    assert_int_equal(p->row, 7);

    static const char *const bad[][2] = {{"", "empty"},
                                         {"3 20", "0 to 19"},
                                         {"3 -1", "no tokenizer"},
                                         {"99999999999", "id"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(source_set_text(&f->a.source, &f->a.step, bad[i][0],
                                     strlen(bad[i][0]), note, sizeof note, &e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_non_null(strstr(e.text, bad[i][1]));
        assert_int_equal(p->dims.n_tok, 8);
    }
}

/* The net's text and a block of it in m, beside the same in a view of its own. */
static void view_is(struct run_model *m, struct model_net *net, const int32_t *ids, int n,
                    int l, const struct attn_ctx *c)
{
    const struct run_key key = {.scale = STEP_GPT2, .model = 1, .block = l, .n_tok = n};
    struct arena mem = {0};
    struct model v;
    struct err e = {0};
    assert_true(model_net_feed(net, ids, n, &e) && model_net_run(net, l, c, &e));
    assert_true(run_model_view(m, key, net, c, &e));
    assert_true(arena_init(&mem, model_net_view_bytes(net), &e));
    assert_true(model_net_view(net, &v, l, &mem, c, &e));
    size_t row = sizeof(float) * (size_t)v.dims.d_model;
    assert_memory_equal(&m->model.dims, &v.dims, sizeof v.dims);
    assert_memory_equal(m->model.h.data, v.h.data, row * (size_t)n);
    assert_memory_equal(m->model.x.data, v.x.data, row * (size_t)n);
    for (int i = 0; i < n; i++) assert_string_equal(m->model.tokens[i], v.tokens[i]);
    size_t square = row * (size_t)v.dims.d_model;
    assert_memory_equal(m->model.weights.w_o.data, v.weights.w_o.data, square);
    assert_memory_equal(m->model.weights.w_qkv.data + 1, v.weights.w_qkv.data + 1,
                        3 * square - sizeof(float));
    assert_memory_equal(m->model.weights.b_qkv, v.weights.b_qkv, 3 * row);
    arena_free(&mem);
}

/* The first weight of a view is spoilt to see whether it is laid out again. */
static void another_text_keeps_a_views_weights_and_another_block_does_not(void **state)
{
    struct fix *f = *state;
    static const int32_t ids[2][4] = {{3, 1, 4, 1}, {3, 1, 5, 9}};
    enum { SPOILT = 77 };
    const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct run_model m = {.made = false};
    struct model_net *net = NULL;
    struct err e = {0};
    assert_true(model_net_open(&net, f->folder.path, c.k, SIZE_MAX, &e));
    view_is(&m, net, ids[0], 3, 1, &c);
    float *first = (float *)(void *)m.mem.data;
    assert_ptr_equal(first, m.model.weights.w_qkv.data);
    *first = SPOILT;
    view_is(&m, net, ids[1], 4, 1, &c);
    assert_true(*m.model.weights.w_qkv.data == SPOILT);
    view_is(&m, net, ids[1], 2, 0, &c);
    assert_true(*m.model.weights.w_qkv.data != SPOILT);
    view_is(&m, net, ids[0], 4, 1, &c);
    assert_true(*m.model.weights.w_qkv.data != SPOILT);
    assert_int_equal(m.n_made, 4);
    run_model_fini(&m);
    model_net_close(net);
}

static void expect_same(struct attn_mat a, struct attn_mat b)
{
    for (int i = 0; i < a.rows; i++)
        assert_memory_equal(a.data + (size_t)i * a.ld, b.data + (size_t)i * b.ld,
                            (size_t)a.cols * sizeof *a.data);
}

/* Two runs to the bit, the first within rounding of the definition. */
static void same_run(const struct run *r, const struct run *want,
                     const struct attn_ctx *c)
{
    const struct attn_trace *t = &r->trace;
    const struct attn_trace *w = &want->trace;
    size_t n = (size_t)t->dims.n_tok;
    assert_int_equal(t->head, w->head);
    const struct attn_mat of[] = {t->qkv, t->s_raw, t->s_scaled, t->s_masked,
                                  t->p,   t->z,     t->y_proj,   t->y};
    const struct attn_mat to[] = {w->qkv, w->s_raw, w->s_scaled, w->s_masked,
                                  w->p,   w->z,     w->y_proj,   w->y};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) expect_same(of[i], to[i]);
    assert_memory_equal(t->stats, w->stats, sizeof t->stats);
    assert_memory_equal(r->blend, want->blend, 3 * n * sizeof *r->blend);
    assert_memory_equal(r->reach, want->reach, n * sizeof *r->reach);
    assert_true(r->checks.row_sum == want->checks.row_sum);
    struct attn_trace by_itself;
    struct arena mem;
    size_t bytes = attn_trace_bytes(t->dims);
    assert_true(arena_init(&mem, bytes, NULL));
    assert_int_equal(attn_trace_init(&by_itself, t->dims, mem.data, bytes), ATTN_OK);
    assert_int_equal(attn_run(c, &by_itself, t->x, t->h, &r->w, t->opts, t->head),
                     ATTN_OK);
    expect_same(t->p, by_itself.p);
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < t->y.cols; j++)
            assert_true(fabsf(t->y.data[i * (size_t)t->y.ld + (size_t)j] -
                              by_itself.y.data[i * (size_t)by_itself.y.ld + (size_t)j]) <
                        1e-5f);
    arena_free(&mem);
}

/* However one has come to a head, its numbers are those of a run from nothing. */
static void another_head_is_turned_to_and_its_run_is_the_same_to_the_bit(void **state)
{
    (void)state;
    static const int heads[] = {0, 5, 3, 0, 11, 5};
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct run_model m = {.made = false};
    struct run r[2] = {{.made = false}, {.made = false}};
    struct run fresh = {.made = false};
    struct err e = {0};
    for (int broken = 0; broken < 2; broken++) {
        struct run_key key = {
            .scale = STEP_GPT2, .seed = 4, .n_tok = 37, .opts = attn_opts_default()};
        key.opts.shifted = broken == 1;
        assert_true(run_model_make(&m, key, &c, &e));
        assert_true(run_make(&r[0], key, &m.model, &c, &e));
        for (size_t i = 1; i < sizeof heads / sizeof heads[0]; i++) {
            key.head = heads[i];
            key.second = i == 2 ? 8 : 0;
            const struct run *from = &r[(i + 1) % 2];
            struct run *to = &r[i % 2];
            assert_true(run_can_turn(from, key));
            assert_true(run_turn(to, from, key, &c, &e));
            assert_false(run_can_turn(to, key));
            assert_true(run_make(&fresh, key, &m.model, &c, &e));
            same_run(to, &fresh, &c);
        }
        struct run_key other = key;
        other.head = 1;
        assert_true(run_can_turn(&fresh, other));
        other.n_tok--;
        assert_false(run_can_turn(&fresh, other));
        other.n_tok++;
        other.opts.scale = false;
        assert_false(run_can_turn(&fresh, other));
    }
    run_fini(&r[0]);
    run_fini(&r[1]);
    run_fini(&fresh);
    run_model_fini(&m);
}

static void a_text_over_the_limit_is_cut_at_the_end_or_the_front_and_said(void **state)
{
    struct fix *f = *state;
    static const int32_t first[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const int32_t last[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    static const char text[] = "0 1 2 3 4 5 6 7 8 9 10 11 12 13";
    f->a.source.loaded.cut_front = false;
    load(f, text);
    assert_true(input_error(f, first, 12, 0) < 1e-5);
    assert_non_null(strstr(f->a.message, "14 tokens; the first 12"));
    f->a.source.loaded.cut_front = true;
    load(f, text);
    assert_true(input_error(f, last, 12, 0) < 1e-5);
    assert_non_null(strstr(f->a.message, "14 tokens; the last 12"));
    f->a.source.loaded.cut_front = false;
}

static void without_a_text_or_a_tokenizer_there_are_ids_and_it_is_said(void **state)
{
    struct fix *f = *state;
    load(f, NULL);
    assert_non_null(strstr(f->a.message, "no tokenizer"));
    assert_int_equal(step_place_of(&f->a.step)->dims.n_tok, 8);
    assert_non_null(strstr(f->a.seen_source.label, "F32"));
}

static void a_failure_names_the_file_and_leaves_what_was_loaded(void **state)
{
    struct fix *f = *state;
    static const int32_t ids[] = {7, 7, 8};
    struct err e = {0};
    load(f, "7 7 8");
    struct blob junk = blob_text("not a model at all, not even nearly");
    folder_write(&f->folder, "junk.safetensors", &junk);
    blob_free(&junk);
    const char *path = folder_file(&f->folder, "junk.safetensors");
    assert_false(app_load(&f->a, path, NULL, NULL, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "junk.safetensors"));
    build(&f->a);
    assert_true(input_error(f, ids, 3, 0) < 1e-5);

    /* In the window it is said in the message bar. */
    assert_true(app_open(&f->a, path, NULL, NULL, &e));
    build(&f->a);
    assert_non_null(strstr(f->a.seen_source.message, "junk.safetensors"));
    assert_true(input_error(f, ids, 3, 0) < 1e-5);

    /* A text that does not suit the model: neither is taken. */
    assert_false(app_load(&f->a, f->folder.path, "hello", NULL, &e));
    assert_non_null(strstr(e.text, "no tokenizer"));
    build(&f->a);
    assert_true(input_error(f, ids, 3, 0) < 1e-5);
    folder_remove(&f->folder, "junk.safetensors");

    /* What the model does not have is said. */
    struct step_actions late = {.n = 0};
    step_push(&late, (struct step_action){.verb = STEP_HEAD, .i = 2});
    assert_false(app_load(&f->a, f->folder.path, NULL, &late, &e));
    assert_non_null(strstr(e.text, "no head 3"));
}

static void odd_weights_are_counted_and_said(void **state)
{
    struct fix *f = *state;
    struct case_tensor *t = case_tensor(&f->m, "h.0.attn.c_attn.weight");
    float was = t->v[5];
    t->v[5] = NAN;
    folder_write_model(&f->folder, &f->m);
    load(f, "1 2 3");
    assert_non_null(strstr(f->a.seen_source.message, "1 weight is NaN or infinite"));
    assert_non_null(strstr(f->a.seen_source.message, "h.0.attn.c_attn.weight"));
    t->v[5] = was;
    folder_write_model(&f->folder, &f->m);
}

static void paths_are_completed_as_far_as_they_agree(void **state)
{
    struct fix *f = *state;
    struct complete c;
    char typed[160];
    struct blob some = blob_text("x");
    folder_write(&f->folder, "model.bin", &some);
    blob_free(&some);
    int n = snprintf(typed, sizeof typed, "%s/mo", f->folder.path);
    complete_path(&c, typed, (size_t)n);
    assert_int_equal(c.n, 2); /* config.json is no model */
    assert_string_equal(c.name[0], "model.bin");
    assert_string_equal(c.name[1], "model.safetensors");
    assert_string_equal(c.more, "del.");
    folder_remove(&f->folder, "model.bin");
    complete_path(&c, typed, (size_t)n);
    assert_int_equal(c.n, 1);
    assert_string_equal(c.more, "del.safetensors");
    complete_path(&c, f->folder.path, strlen(f->folder.path));
    assert_string_equal(c.more, "/");
    complete_path(&c, "/no-such-folder/", 16);
    assert_int_equal(c.n, 0);
    assert_string_equal(c.more, "");

    /* In the editor. */
    const struct ui_event tab = {.kind = UI_KEY, .key = UI_KEY_TAB};
    const struct ui_event enter = {.kind = UI_KEY, .key = UI_KEY_ENTER};
    load(f, "1 2");
    act(&f->a, STEP_EDIT, STEP_EDIT_PATH);
    assert_true(ui_editor_insert(&f->a.editor, typed, (size_t)n));
    app_event(&f->a, &tab);
    assert_int_equal(f->a.editor.n, n + 15);
    app_event(&f->a, &enter);
    assert_int_equal(f->a.step.editing, STEP_EDIT_NONE);
    build(&f->a);
    assert_int_equal(step_place_of(&f->a.step)->dims.n_tok, 8);
}

static void type(struct app *a, const char *text)
{
    struct ui_event ev = {.kind = UI_TEXT};
    (void)snprintf(ev.text, sizeof ev.text, "%s", text);
    app_event(a, &ev);
}

static void press(struct app *a, const char *name)
{
    struct ui_event ev = {.kind = UI_KEY};
    assert_true(ui_key_parse(name, &ev.key, &ev.mods));
    app_event(a, &ev);
}

static void edited_text_is(const struct app *a, const char *want)
{
    if ((size_t)a->editor.n != strlen(want) ||
        memcmp(a->editor.text, want, strlen(want)) != 0)
        fail_msg("%.*s, expected %s", a->editor.n, a->editor.text, want);
}

static void the_editor_moves_by_characters_and_words(void **state)
{
    struct fix *f = *state;
    struct app *a = &f->a;
    load(f, "1 2");
    act(a, STEP_EDIT, STEP_EDIT_TEXT);
    edited_text_is(a, "1 2");
    type(a, "one tw\u00f6 thr\u00e9\u00e9"); /* all was selected */
    edited_text_is(a, "one tw\u00f6 thr\u00e9\u00e9");
    press(a, "Left");
    press(a, "Backspace");
    edited_text_is(a, "one tw\u00f6 thr\u00e9");
    press(a, "Ctrl+Left");
    press(a, "Left");
    press(a, "Backspace");
    edited_text_is(a, "one tw thr\u00e9");
    press(a, "Shift+Ctrl+Left");
    press(a, "Ctrl+x");
    edited_text_is(a, "one  thr\u00e9");
    press(a, "Home");
    press(a, "Ctrl+v");
    edited_text_is(a, "twone  thr\u00e9");
    press(a, "Ctrl+Delete");
    edited_text_is(a, "tw  thr\u00e9");
    press(a, "End");
    press(a, "Shift+Left");
    press(a, "Shift+Left");
    press(a, "Right"); /* out of the selection, at its end */
    press(a, "Shift+Enter");
    edited_text_is(a, "tw  thr\u00e9\n");
    press(a, "Ctrl+a");
    press(a, "Delete");
    edited_text_is(a, "");
    press(a, "Backspace");
    press(a, "Delete");
    press(a, "Left");
    press(a, "Right");
    edited_text_is(a, "");
    assert_non_null(strstr(a->editor.wrong, "empty"));
    press(a, "Enter"); /* it says why, and stays */
    assert_int_equal(a->step.editing, STEP_EDIT_TEXT);
    press(a, "Escape");
    assert_int_equal(a->step.editing, STEP_EDIT_NONE);
    assert_int_equal(step_place_of(&a->step)->dims.n_tok, 2);
    type(a, "t"); /* letters are no commands */
    assert_int_equal(a->step.scale, STEP_GPT2);
}

static void the_editor_holds_so_much_and_no_more(void **state)
{
    (void)state;
    static struct ui_editor ed;
    static char much[UI_EDITOR_ROOM];
    memset(much, 'a', sizeof much);
    ui_editor_begin(&ed, much, sizeof much);
    assert_int_equal(ed.n, UI_EDITOR_ROOM);
    assert_true(ui_editor_insert(&ed, "b", 1)); /* in place of all */
    assert_true(ui_editor_insert(&ed, much, sizeof much - 1));
    assert_false(ui_editor_insert(&ed, "c", 1));
    assert_true(ui_editor_insert(&ed, "\r", 1));
    assert_int_equal(ed.n, UI_EDITOR_ROOM);
}

/* "11 11 ... 11 " of so many bytes, `last` in place of the last id. */
static char *many_ids(size_t n, const char *last)
{
    char *text = malloc(n + 1);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) text[i] = "11 "[i % 3];
    memcpy(text + n - 3, last, 3);
    text[n] = '\0';
    return text;
}

/* Never refused, never half an id: an end is read, and it is said which. */
static void a_text_longer_than_is_taken_loses_an_end_and_it_is_said(void **state)
{
    struct fix *f = *state;
    struct loaded *l = &f->a.source.loaded;
    enum { N = LOADED_TEXT / 3 * 3 + 300 };
    char *text = many_ids(N, " 7 ");
    char note[512];
    struct err e = {0};
    load(f, "1 2");
    for (int front = 0; front < 2; front++) {
        l->cut_front = front != 0;
        assert_true(
            source_set_text(&f->a.source, &f->a.step, text, N, note, sizeof note, &e));
        assert_non_null(strstr(note, front ? "the last 26" : "the first 26"));
        assert_non_null(strstr(note, "of 262443 bytes"));
        assert_non_null(strstr(note, front ? "the last 12 are" : "the first 12 are"));
        assert_true(l->n_typed <= LOADED_TEXT && l->n_typed > LOADED_TEXT - 4);
        assert_int_equal(l->ids.n, 12);
        for (int i = 0; i < 12; i++)
            assert_int_equal(l->ids.at[i], front && i == 11 ? 7 : 11);
        build(&f->a);
    }
    /* The same in the editor, by way of the clipboard. */
    for (int front = 0; front < 2; front++) {
        l->cut_front = front != 0;
        load(f, "1 2");
        act(&f->a, STEP_EDIT, STEP_EDIT_TEXT);
        press(&f->a, "End");
        type(&f->a, " ");
        assert_int_equal(SDL_SetClipboardText(text), 0);
        press(&f->a, "Ctrl+v");
        assert_true(f->a.editor.n <= UI_EDITOR_ROOM &&
                    f->a.editor.n > UI_EDITOR_ROOM - 4);
        assert_int_equal(f->a.editor.text[f->a.editor.n - 2] == '7', front);
        assert_int_equal(memcmp(f->a.editor.text, "1 2 ", 4) == 0, !front);
        assert_non_null(strstr(f->a.message, front ? "its front" : "its end"));
        press(&f->a, "Escape");
    }
    l->cut_front = false;
    free(text);
}

/* Everything is asked of the worker at once; the last request is what is shown. */
static void the_newest_of_many_requests_is_shown(void **state)
{
    struct fix *f = *state;
    static const int32_t ids[] = {5, 6};
    char note[64];
    struct err e = {0};
    for (int round = 0; round < 20; round++) {
        assert_true(app_open(&f->a, f->folder.path, "1 2 3", NULL, &e));
        assert_true(app_build(&f->a, false, &e));
        if (f->a.source.loaded.net)
            assert_true(source_set_text(&f->a.source, &f->a.step, "9 8 7", 5, note,
                                        sizeof note, &e));
        act(&f->a, STEP_BLOCK, round % 2);
        act(&f->a, STEP_HEAD, round / 2 % 2);
        assert_true(app_build(&f->a, round % 5 == 0, &e));
        act(&f->a, STEP_SCALE_TO, -1);
    }
    load(f, "5 6");
    act(&f->a, STEP_BLOCK, 1);
    build(&f->a);
    assert_true(input_error(f, ids, 2, 1) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_shows_its_true_input),
        cmocka_unit_test(the_next_tokens_are_those_of_the_true_logits),
        cmocka_unit_test(without_a_finite_logit_there_is_no_next_token),
        cmocka_unit_test(a_heads_reach_is_its_values_through_its_rows_of_w_o),
        cmocka_unit_test(another_text_is_read_and_the_place_kept),
        cmocka_unit_test(another_text_keeps_a_views_weights_and_another_block_does_not),
        cmocka_unit_test(another_head_is_turned_to_and_its_run_is_the_same_to_the_bit),
        cmocka_unit_test(a_text_over_the_limit_is_cut_at_the_end_or_the_front_and_said),
        cmocka_unit_test(without_a_text_or_a_tokenizer_there_are_ids_and_it_is_said),
        cmocka_unit_test(a_failure_names_the_file_and_leaves_what_was_loaded),
        cmocka_unit_test(odd_weights_are_counted_and_said),
        cmocka_unit_test(paths_are_completed_as_far_as_they_agree),
        cmocka_unit_test(the_editor_moves_by_characters_and_words),
        cmocka_unit_test(the_editor_holds_so_much_and_no_more),
        cmocka_unit_test(a_text_longer_than_is_taken_loses_an_end_and_it_is_said),
        cmocka_unit_test(the_newest_of_many_requests_is_shown),
    };
    return cmocka_run_group_tests_name("app_model", tests, open_all, close_all);
}
