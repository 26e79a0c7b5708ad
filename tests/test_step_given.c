/* step: numbers that are given by hand: which can be, what is refused, and undo and redo of
 * them among every other change. */
#include "step_case.h"

#include "step.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool act(struct step_state *s, enum step_verb verb, int i, float x)
{
    return step_apply(s, (struct step_action){.verb = verb, .i = i, .x = x});
}

static bool give(struct step_state *s, enum attn_tensor t, int row, int col, float x)
{
    return step_apply(s, (struct step_action){
                             .verb = STEP_GIVE, .ref = {t, row, col}, .i = -1, .x = x});
}

static bool field(struct step_state *s, enum attn_tensor t, int row, int col, float x)
{
    return step_apply(
        s, (struct step_action){.verb = STEP_FIELD, .ref = {t, row, col}, .x = x});
}

static void type(struct step_state *s, const char *text)
{
    for (; *text; text++) assert_true(act(s, STEP_FIELD_TYPE, (unsigned char)*text, 0));
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u; /* as in test_step_broken.c */
    return *seed >> 8;
}

/* Which matrices and cells can be given: what the list has, and no other. */
static void what_can_be_given_is_told_by_scale_and_mask(void **state)
{
    (void)state;
    static const bool toy[ATTN_TENSOR_COUNT] = {
        [ATTN_H] = true,        [ATTN_X] = true,        [ATTN_W_Q] = true,
        [ATTN_W_K] = true,      [ATTN_W_V] = true,      [ATTN_Q] = true,
        [ATTN_K] = true,        [ATTN_V] = true,        [ATTN_S_RAW] = true,
        [ATTN_S_SCALED] = true, [ATTN_S_MASKED] = true, [ATTN_P] = true,
        [ATTN_W_O] = true};
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++)
        for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
            struct step_state s = step_initial();
            bool can = scale == STEP_TOY ? toy[t] : t == ATTN_H || t == ATTN_X;
            assert_true(act(&s, STEP_SCALE_TO, scale, 0));
            assert_int_equal(give(&s, (enum attn_tensor)t, 3, 2, 0.5f), can);
            assert_int_equal(step_given_count(&s), can);
            assert_int_equal(step_is_broken(&s), can);
        }
    struct step_state s = step_initial();
    assert_false(give(&s, ATTN_P, 1, 3, 0.5f)); /* hidden */
    assert_int_equal(step_can_give(&s, (struct step_ref){ATTN_P, 1, 3}),
                     STEP_WRONG_HIDDEN);
    assert_true(give(&s, ATTN_S_RAW, 1, 3, 0.5f));
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_CAUSAL, 0));
    assert_true(give(&s, ATTN_P, 1, 3, 0.5f));
    assert_int_equal(step_given_count(&s), 2);
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_CAUSAL, 0)); /* nothing reads it again */
    assert_int_equal(step_given_count(&s), 1);
}

static void what_is_no_cell_and_no_number_is_refused(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_false(give(&s, ATTN_Q, 5, 0, 1));
    assert_false(give(&s, ATTN_Q, 0, 4, 1));
    assert_false(give(&s, ATTN_Q, -1, 0, 1));
    assert_false(give(&s, ATTN_Q, 0, 0, NAN));
    assert_false(give(&s, ATTN_Q, 0, 0, INFINITY));
    assert_false(give(&s, ATTN_TENSOR_COUNT, 0, 0, 1));
    assert_false(step_apply(
        &s, (struct step_action){.verb = STEP_GIVE, .ref = {ATTN_Q, 0, 0}, .i = 2}));
    assert_false(step_apply(
        &s, (struct step_action){.verb = STEP_UNGIVE, .ref = {ATTN_Q, 0, 0}, .i = -1}));
    assert_int_equal(step_given_count(&s), 0);
    int n = 0;
    for (int t = ATTN_H; t < ATTN_Z; t++)
        for (int i = 0; i < 8 * 8 && n < STEP_GIVEN_MOST; i++)
            n += give(&s, (enum attn_tensor)t, i / 8, i % 8, (float)n);
    assert_int_equal(n, STEP_GIVEN_MOST);
    assert_false(give(&s, ATTN_W_O, 0, 3, 1)); /* no room */
    assert_true(give(&s, ATTN_H, 0, 3, -1));
}

static void a_number_is_read_or_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum step_wrong wrong;
        float value;
    } cases[] = {
        {"0.5", STEP_WRONG_NOT, 0.5f},
        {"-2", STEP_WRONG_NOT, -2},
        {"+1e-3", STEP_WRONG_NOT, 1e-3f},
        {" 7 ", STEP_WRONG_NOT, 7},
        {"0", STEP_WRONG_NOT, 0},
        {".25", STEP_WRONG_NOT, 0.25f},
        {"3.4e38", STEP_WRONG_NOT, 3.4e38f},
        {"", STEP_WRONG_EMPTY, 0},
        {"   ", STEP_WRONG_EMPTY, 0},
        {"x", STEP_WRONG_WORD, 0},
        {"1x", STEP_WRONG_WORD, 0},
        {"1,5", STEP_WRONG_WORD, 0},
        {"0x10", STEP_WRONG_WORD, 0},
        {"--1", STEP_WRONG_WORD, 0},
        {"1 2", STEP_WRONG_WORD, 0},
        {".", STEP_WRONG_WORD, 0},
        {"1e", STEP_WRONG_WORD, 0},
        {"e5", STEP_WRONG_WORD, 0},
        {"nan", STEP_WRONG_NAN, 0},
        {"NaN", STEP_WRONG_NAN, 0},
        {"inf", STEP_WRONG_NAN, 0},
        {"-Infinity", STEP_WRONG_WORD, 0},
        {"-inf", STEP_WRONG_NAN, 0},
        {"1e999", STEP_WRONG_LARGE, 0},
        {"-1e39", STEP_WRONG_LARGE, 0},
        {"1e-60", STEP_WRONG_SMALL, 0},
        {"1e-40", STEP_WRONG_SMALL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_state s = step_initial();
        float v = 0;
        enum step_wrong w = step_number_of(cases[i].text, (int)strlen(cases[i].text), &v);
        if (w != cases[i].wrong) fail_msg("\"%s\": %d", cases[i].text, (int)w);
        if (!w) assert_true(v == cases[i].value);
        /* In the field: the reason, the text and the number that was there stay. */
        assert_true(give(&s, ATTN_K, 1, 1, 9));
        assert_true(field(&s, ATTN_K, 1, 1, 9));
        if (cases[i].text[0])
            type(&s, cases[i].text);
        else
            assert_true(act(&s, STEP_FIELD_EDIT, STEP_FIELD_BACK, 0));
        assert_true(act(&s, STEP_FIELD_TAKE, 0, 0));
        assert_int_equal(s.field.wrong, w);
        assert_int_equal(step_field_is_open(&s), w != STEP_WRONG_NOT);
        assert_true(s.place[0].edits[0].cell.value == (w ? 9.0f : v));
        if (w) assert_string_equal(s.field.text, cases[i].text);
        assert_int_equal(act(&s, STEP_ESCAPE, 0, 0), w != STEP_WRONG_NOT);
        assert_false(step_field_is_open(&s));
    }
}

static void the_field_is_edited_by_keys(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(field(&s, ATTN_V, 2, 1, 0.25f));
    assert_string_equal(s.field.text, "0.25");
    assert_true(act(&s, STEP_FIELD_EDIT, STEP_FIELD_LEFT, 0)); /* keeps the number */
    assert_true(act(&s, STEP_FIELD_EDIT, STEP_FIELD_BACK, 0));
    assert_string_equal(s.field.text, "0.5");
    assert_true(act(&s, STEP_FIELD_EDIT, STEP_FIELD_HOME, 0));
    assert_true(act(&s, STEP_FIELD_TYPE, 0x2212, 0)); /* a real minus sign */
    assert_string_equal(s.field.text, "-0.5");
    assert_true(act(&s, STEP_FIELD_EDIT, STEP_FIELD_END, 0));
    assert_true(act(&s, STEP_FIELD_TYPE, 0x1F642, 0)); /* no number has it */
    assert_true(act(&s, STEP_FIELD_EDIT, STEP_FIELD_BACK, 0));
    assert_string_equal(s.field.text, "-0.5");
    for (int i = 0; i < 100; i++) (void)act(&s, STEP_FIELD_TYPE, '1', 0);
    assert_true(s.field.n < STEP_FIELD_ROOM && s.field.text[s.field.n] == '\0');
    assert_true(field(&s, ATTN_V, 2, 1, 0.25f));
    type(&s, "3"); /* takes the place of all of it */
    assert_string_equal(s.field.text, "3");
    assert_true(act(&s, STEP_FIELD_BY, 0, 1)); /* from what is typed */
    assert_true(fabsf(s.place[0].edits[0].cell.value - 3.1f) < 1e-6f);
    assert_true(act(&s, STEP_FIELD_BY, 0, -0.1f));
    assert_true(fabsf(s.place[0].edits[0].cell.value - 3.09f) < 1e-6f);
    assert_true(act(&s, STEP_GO, ATTN_SCORES, 0)); /* its cell is no longer there */
    assert_false(step_field_is_open(&s));
}

static void a_nudge_held_is_one_change(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    s.past = step_past_create();
    assert_true(field(&s, ATTN_Q, 0, 0, 1));
    for (int i = 0; i < 10; i++) assert_true(act(&s, STEP_FIELD_BY, 0, 1));
    assert_int_equal(step_undo_count(&s), 1);
    assert_true(field(&s, ATTN_Q, 0, 1, 1));
    assert_true(act(&s, STEP_FIELD_BY, 0, 1)); /* another cell's is another */
    assert_int_equal(step_undo_count(&s), 2);
    assert_true(act(&s, STEP_UNDO, 0, 0));
    assert_int_equal(step_given_count(&s), 1);
    assert_true(act(&s, STEP_UNDO, 0, 0));
    assert_int_equal(step_given_count(&s), 0);
    assert_true(act(&s, STEP_REDO, 0, 0));
    assert_true(fabsf(s.place[0].edits[0].cell.value - 2) < 1e-5f);
    step_past_destroy(s.past);
}

static void any_change(struct step_state *s, uint32_t *seed)
{
    static const int n_row[] = {5, 5, 8, 8, 8, 5, 5, 5, 5, 5, 5, 5, 5, 5, 8};
    uint32_t k = next(seed) % 10;
    int t = (int)(next(seed) % 15);
    int row = (int)(next(seed) % (uint32_t)n_row[t]);
    struct step_ref r = {(enum attn_tensor)t, row, (int)(next(seed) % 4)};
    struct step_action a = {.ref = r, .i = (int)(next(seed) % 3) - 1};
    a.x = (float)(int)(next(seed) % 100) / 8.0f;
    a.verb = k < 6 ? STEP_GIVE : STEP_UNGIVE;
    if (k < 8) (void)step_apply(s, a);
    if (k == 8) (void)act(s, STEP_TOGGLE, (int)(next(seed) % STEP_OPT_COUNT), 0);
    if (k == 9) (void)act(s, next(seed) % 8 ? STEP_SCALE_TO : STEP_CORRECT, -1, 0);
}

static bool same(const struct step_state *a, const struct step_state *b)
{
    for (int i = 0; i < STEP_SCALE_COUNT; i++) {
        const struct step_place *p = &a->place[i];
        const struct step_place *q = &b->place[i];
        if (p->n_edit != q->n_edit || memcmp(p->edits, q->edits, sizeof p->edits) != 0)
            return false;
    }
    return attn_opts_same(a->opts, b->opts);
}

/* Whatever was done, every state is met again on the way back and on the way on. */
static void undo_and_redo_meet_every_state_again(void **state)
{
    (void)state;
    enum { MOST = 600 };
    static struct step_state at[MOST + 1];
    for (uint32_t run = 0; run < 5; run++) {
        struct step_state s = step_initial();
        uint32_t seed = 77 + run;
        int n = 0;
        s.past = step_past_create();
        memcpy(&at[0], &s, sizeof s);
        for (int i = 0; i < MOST; i++) {
            any_change(&s, &seed);
            if (step_undo_count(&s) == n) continue;
            n = step_undo_count(&s);
            memcpy(&at[n], &s, sizeof s);
        }
        assert_true(n > MOST / 3);
        for (int i = n - 1; i >= 0; i--) {
            assert_true(act(&s, STEP_UNDO, 0, 0));
            assert_true(same(&s, &at[i]));
        }
        assert_false(act(&s, STEP_UNDO, 0, 0));
        for (int i = 1; i <= n; i++) {
            assert_true(act(&s, STEP_REDO, 0, 0));
            assert_true(same(&s, &at[i]));
        }
        assert_false(act(&s, STEP_REDO, 0, 0));
        step_past_destroy(s.past);
    }
}

int step_given_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_given_is_told_by_scale_and_mask),
        cmocka_unit_test(what_is_no_cell_and_no_number_is_refused),
        cmocka_unit_test(a_number_is_read_or_refused_with_the_reason),
        cmocka_unit_test(the_field_is_edited_by_keys),
        cmocka_unit_test(a_nudge_held_is_one_change),
        cmocka_unit_test(undo_and_redo_meet_every_state_again),
    };
    return cmocka_run_group_tests_name("step given", tests, NULL, NULL);
}
