/* step: what is broken on purpose, and undo and redo of it: whatever was done, all of it
 * undone gives the first state, all of it redone the last. */
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

static uint32_t next(uint32_t *seed)
{
    *seed =
        *seed * 1664525u + 1013904223u; /* Knuth's constants, as Numerical Recipes has */
    return *seed >> 8;
}

static void open_state(struct step_state *s)
{
    *s = step_initial();
    s->past = step_past_create();
    assert_non_null(s->past);
}

/* What can be undone, and nothing else, of both. */
static void check_same(const struct step_state *a, const struct step_state *b)
{
    assert_true(attn_opts_same(a->opts, b->opts));
    for (int i = 0; i < STEP_SCALE_COUNT; i++) {
        const struct step_place *p = &a->place[i];
        const struct step_place *q = &b->place[i];
        assert_int_equal(p->seed, q->seed);
        assert_int_equal(p->dims.n_tok, q->dims.n_tok);
        assert_int_equal(p->n_edit, q->n_edit);
    }
}

static void any_change(struct step_state *s, uint32_t *seed)
{
    int k = (int)(next(seed) % 9);
    uint32_t r = next(seed);
    if (k < 3) {
        int w = (int)(r % STEP_SW_COUNT);
        int n = step_choice_count((enum step_switch)w);
        (void)act(s, STEP_SWITCH, w, (float)(next(seed) % (uint32_t)n));
    }
    if (k == 3) (void)act(s, STEP_TEMPERATURE, 0, (float)(r % 65) / 8.0f - 4.0f);
    if (k == 4) (void)act(s, STEP_SILENCE, (int)(r % 12), 0);
    if (k == 5) (void)act(s, STEP_TOGGLE, (int)(r % STEP_OPT_COUNT), 0);
    if (k == 6) (void)act(s, STEP_ROLL, 0, 0);
    if (k == 7) (void)act(s, STEP_SCALE_TO, -1, 0);
    if (k == 8) (void)act(s, r % 3 ? STEP_TOKENS : STEP_CORRECT, (int)(1 + r % 1024), 0);
}

static void everything_can_be_undone_and_redone(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 20; run++) {
        struct step_state s;
        struct step_state last;
        const struct step_state first = step_initial();
        uint32_t seed = run;
        int n = run == 0 ? 3000 : 100; /* more than a few blocks of changes */
        open_state(&s);
        for (int i = 0; i < n; i++) any_change(&s, &seed);
        memcpy(&last, &s, sizeof s);
        int changes = step_undo_count(&s);
        int undone = 0;
        assert_int_equal(step_redo_count(&s), 0);
        while (act(&s, STEP_UNDO, 0, 0)) undone++;
        assert_int_equal(undone, changes);
        assert_int_equal(step_redo_count(&s), changes);
        check_same(&s, &first);
        int redone = 0;
        while (act(&s, STEP_REDO, 0, 0)) redone++;
        assert_int_equal(redone, changes);
        check_same(&s, &last);
        step_past_destroy(s.past);
    }
}

/* Back and on again at random places, against a list of all states. */
static void undo_and_redo_walk_along_the_states(void **state)
{
    (void)state;
    enum { MOST = 400 };
    static struct attn_opts at[MOST + 1];
    struct step_state s;
    uint32_t seed = 5;
    int n = 0;
    int now = 0;
    open_state(&s);
    at[0] = s.opts;
    for (int i = 0; i < 4000; i++) {
        uint32_t r = next(&seed) % 4;
        if (r == 0 && now < MOST) {
            int w = (int)(next(&seed) % STEP_SW_COUNT);
            int c = step_choice_of(s.opts, (enum step_switch)w);
            int other = (c + 1) % step_choice_count((enum step_switch)w);
            assert_true(act(&s, STEP_SWITCH, w, (float)other));
            at[n = ++now] = s.opts;
        } else if (r < 3) {
            assert_int_equal(act(&s, STEP_UNDO, 0, 0), now > 0);
            now -= now > 0;
        } else {
            assert_int_equal(act(&s, STEP_REDO, 0, 0), now < n);
            now += now < n;
        }
        assert_true(attn_opts_same(s.opts, at[now]));
        assert_int_equal(step_undo_count(&s), now);
        assert_int_equal(step_redo_count(&s), n - now);
    }
    step_past_destroy(s.past);
}

static void a_slider_that_is_dragged_is_one_change(void **state)
{
    (void)state;
    struct step_state s;
    open_state(&s);
    for (int i = 1; i <= 20; i++)
        assert_true(act(&s, STEP_TEMPERATURE, 0, 0.125f * (float)i));
    assert_int_equal(step_undo_count(&s), 1);
    assert_true(fabsf(step_heat_of(s.opts) - 2.5f) < 1e-6f);
    assert_true(act(&s, STEP_UNDO, 0, 0));
    assert_true(step_heat_of(s.opts) == 0.0f);
    assert_false(step_is_broken(&s));
    step_past_destroy(s.past);
}

static void all_correct_again_is_one_change(void **state)
{
    (void)state;
    struct step_state s;
    open_state(&s);
    assert_true(act(&s, STEP_SWITCH, STEP_SW_MASK, 2));
    assert_true(act(&s, STEP_SILENCE, 1, 0));
    assert_true(step_is_broken(&s));
    assert_true(act(&s, STEP_CORRECT, 0, 0));
    assert_false(step_is_broken(&s));
    assert_int_equal(step_undo_count(&s), 3);
    assert_true(act(&s, STEP_UNDO, 0, 0));
    assert_true(s.opts.shifted && attn_is_silent(s.opts, 1));
    step_past_destroy(s.past);
}

static void every_choice_is_one_of_its_switch(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    for (int w = 0; w < STEP_SW_COUNT; w++) {
        for (int i = step_choice_count((enum step_switch)w) - 1; i >= 0; i--) {
            assert_true(act(&s, STEP_SWITCH, w, (float)i));
            assert_int_equal(step_choice_of(s.opts, (enum step_switch)w), i);
            assert_int_equal(step_is_broken(&s), i != 0);
            assert_int_equal(attn_opts_check(s.opts), ATTN_OK);
        }
        assert_false(act(&s, STEP_SWITCH, w, -1));
        assert_false(act(&s, STEP_SWITCH, w, 0.5f));
        assert_false(
            act(&s, STEP_SWITCH, w, (float)step_choice_count((enum step_switch)w)));
        assert_false(act(&s, STEP_SWITCH, w, NAN));
    }
    assert_false(act(&s, STEP_SWITCH, STEP_SW_COUNT, 0));
    assert_false(act(&s, STEP_SWITCH, -1, 0));
    assert_false(act(&s, STEP_TEMPERATURE, 0, 4.5f));
    assert_false(act(&s, STEP_TEMPERATURE, 0, NAN));
    assert_false(act(&s, STEP_SILENCE, 2, 0)); /* the toy has two heads */
    assert_false(act(&s, STEP_SILENCE, -1, 0));
    assert_false(act(&s, STEP_SEE, STEP_SEE_COUNT, 0));
    assert_false(act(&s, STEP_UNDO, 0, 0)); /* nothing is kept */
    assert_false(act(&s, STEP_REDO, 0, 0));
}

/* A head that the scale lacks breaks nothing there, and still does where it is. */
static void a_silent_head_counts_where_it_is(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_SCALE_TO, STEP_GPT2, 0));
    assert_true(act(&s, STEP_SILENCE, 7, 0));
    assert_true(step_is_broken(&s));
    assert_true(act(&s, STEP_SCALE_TO, STEP_TOY, 0));
    assert_false(step_is_broken(&s));
    assert_int_equal(step_opts_of(&s).silent, 0);
    assert_true(act(&s, STEP_SCALE_TO, STEP_GPT2, 0));
    assert_true(step_is_broken(&s));
}

static void what_is_looked_at_is_the_run_itself_while_nothing_is_broken(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_SEE, STEP_SEE_DIFFERENCE, 0));
    assert_int_equal(step_seen(&s), STEP_SEE_BROKEN);
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_CAUSAL, 0));
    assert_int_equal(step_seen(&s), STEP_SEE_DIFFERENCE);
    assert_true(act(&s, STEP_SEE, -1, 0));
    assert_int_equal(step_seen(&s), STEP_SEE_BROKEN);
}

int step_broken_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_can_be_undone_and_redone),
        cmocka_unit_test(undo_and_redo_walk_along_the_states),
        cmocka_unit_test(a_slider_that_is_dragged_is_one_change),
        cmocka_unit_test(all_correct_again_is_one_change),
        cmocka_unit_test(every_choice_is_one_of_its_switch),
        cmocka_unit_test(a_silent_head_counts_where_it_is),
        cmocka_unit_test(what_is_looked_at_is_the_run_itself_while_nothing_is_broken),
    };
    return cmocka_run_group_tests_name("step broken", tests, NULL, NULL);
}
