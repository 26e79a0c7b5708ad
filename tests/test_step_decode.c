/* step: decode mode walks through stages and tokens, and nothing is in view that is not
 * there yet. */
#include "step_case.h"

#include "step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool act(struct step_state *s, enum step_verb verb, int i)
{
    return step_apply(s, (struct step_action){.verb = verb, .i = i});
}

static bool at_cell(struct step_state *s, enum step_verb verb, struct step_ref r)
{
    return step_apply(s, (struct step_action){.verb = verb, .ref = r});
}

static int row_of(const struct step_state *s)
{
    return step_place_of(s)->row;
}

static void check_pass(const struct step_state *s, int from, int to)
{
    struct step_pass p = step_pass_of(s);
    assert_int_equal(p.from, from);
    assert_int_equal(p.to, to);
}

static void the_row_in_view_is_the_token_decoded(void **state)
{
    (void)state;
    struct step_state s = step_initial(); /* row 4 of 5 */
    check_pass(&s, 0, 5);
    assert_true(act(&s, STEP_DECODE, 0));
    assert_int_equal(step_place_of(&s)->prefill, 3); /* half of them */
    check_pass(&s, 3, 4);
    assert_true(act(&s, STEP_ROW_BY, 1));
    check_pass(&s, 4, 5);
    assert_false(act(&s, STEP_ROW_BY, 1));
    assert_true(act(&s, STEP_ROW, 0)); /* of the prefill: all of it */
    assert_int_equal(row_of(&s), 2);
    check_pass(&s, 0, 3);
    assert_false(act(&s, STEP_ROW_BY, -1));
    assert_true(act(&s, STEP_DECODE, 1));
    check_pass(&s, 2, 3);
    assert_false(act(&s, STEP_DECODE, 6));
    assert_false(act(&s, STEP_DECODE, -2));
    assert_true(act(&s, STEP_DECODE, 5));
    check_pass(&s, 0, 5);
    assert_true(act(&s, STEP_DECODE, 0));
    assert_false(s.decode);
    assert_true(act(&s, STEP_DECODE, -1)); /* off as it is */
    assert_false(s.decode);
    check_pass(&s, 0, 5);
}

static void right_walks_through_stages_then_to_the_next_token(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_DECODE, 3));
    assert_true(act(&s, STEP_ROW, 2));
    assert_true(act(&s, STEP_GO, 0));
    for (int row = 2; row < 5; row++)
        for (int stage = 0; stage < ATTN_STAGE_COUNT; stage++) {
            assert_int_equal(row_of(&s), row);
            assert_int_equal((int)s.stage, stage);
            assert_true(act(&s, STEP_NEXT, 0)); /* finishes it */
            assert_true(s.time == 1.0f);
            bool last = row == 4 && stage == ATTN_OUTPUT;
            assert_int_equal(act(&s, STEP_NEXT, 0), !last);
        }
    for (int k = 3 * ATTN_STAGE_COUNT - 1; k > 0; k--) assert_true(act(&s, STEP_PREV, 0));
    assert_int_equal(row_of(&s), 2);
    assert_int_equal((int)s.stage, 0);
}

static void playing_goes_on_to_the_last_token(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_DECODE, 2));
    assert_true(act(&s, STEP_ROW, 1));
    assert_true(act(&s, STEP_GO, 0));
    assert_true(act(&s, STEP_PLAY, 1));
    int row = 1;
    for (int k = 0; k < 4000 && s.playing; k++) {
        (void)step_tick(&s, 0.05f);
        assert_true(row_of(&s) == row || row_of(&s) == row + 1);
        row = row_of(&s);
    }
    assert_false(s.playing);
    assert_int_equal(row, 4);
    assert_int_equal(s.stage, ATTN_OUTPUT);
    assert_true(act(&s, STEP_PLAY, 0)); /* all of it again */
    assert_int_equal(row_of(&s), 1);
    assert_int_equal(s.stage, ATTN_PROJECTIONS);
}

static void the_animation_is_of_the_new_row_alone(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_DECODE, 3));
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        enum attn_stage stage = (enum attn_stage)k;
        struct step_clock c = step_clock_at(&s, stage);
        assert_int_equal(c.row0, 3);
        assert_int_equal((c.n_beat - 1) / c.beats_a_row, 0);
    }
    assert_int_equal(step_clock_at(&s, ATTN_SCORES).n_beat, 4); /* a key each */
    assert_int_equal(step_clock_at(&s, ATTN_PROJECTIONS).n_beat, 4);
    assert_int_equal(step_clock_at(&s, ATTN_OUTPUT).n_beat, 8);
    assert_true(act(&s, STEP_ROW, 2));
    assert_int_equal(step_clock_at(&s, ATTN_SCORES).n_beat, 9);
}

static void what_is_not_there_cannot_be_pinned(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_DECODE, 3)); /* row 4 is decoded */
    assert_false(at_cell(&s, STEP_PIN, (struct step_ref){ATTN_Q, 1, 0}));
    assert_false(at_cell(&s, STEP_PIN, (struct step_ref){ATTN_K, 4, 0}));
    assert_false(at_cell(&s, STEP_HOVER, (struct step_ref){ATTN_P, 3, 4}));
    assert_true(at_cell(&s, STEP_PIN, (struct step_ref){ATTN_K, 1, 0})); /* cached */
    assert_int_equal(row_of(&s), 3); /* which token is decoded has not changed */
    assert_true(at_cell(&s, STEP_PIN, (struct step_ref){ATTN_P, 3, 3}));
    assert_true(act(&s, STEP_ROW_BY, 1));
    assert_int_equal(step_place_of(&s)->pin.tensor, ATTN_TENSOR_COUNT);
}

static void without_the_mask_nothing_is_decoded(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_DECODE, 3));
    assert_true(step_is_decoding(&s));
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_CAUSAL));
    assert_true(s.decode);
    assert_false(step_is_decoding(&s));
    check_pass(&s, 0, 5);
    assert_true(act(&s, STEP_ROW, 0)); /* every row is there */
    assert_int_equal(row_of(&s), 0);
    assert_true(act(&s, STEP_CORRECT, 0));
    assert_true(step_is_decoding(&s));
    check_pass(&s, 0, 3);
    assert_true(step_apply(
        &s, (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_MASK, .x = 2}));
    assert_false(step_is_decoding(&s));
    assert_true(step_apply(
        &s, (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_MASK, .x = 0}));
    assert_true(step_apply(
        &s, (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_MAX, .x = 1}));
    assert_true(step_is_decoding(&s)); /* what is broken row by row can be decoded */
}

/* Whatever is done, what is in view is there. */
static void any_walk_stays_sound(void **state)
{
    (void)state;
    static const enum step_verb verbs[] = {
        STEP_NEXT,     STEP_PREV,     STEP_GO,       STEP_PLAY,    STEP_ROW,
        STEP_ROW_BY,   STEP_PIN,      STEP_HOVER,    STEP_ROWS_TO, STEP_ROWS_AND,
        STEP_ROW_ALSO, STEP_ROW_WALK, STEP_TOKENS,   STEP_DECODE,  STEP_SCALE_TO,
        STEP_TOGGLE,   STEP_ESCAPE,   STEP_ROW_KEEP, STEP_DECODE,  STEP_ROWS_BY};
    uint32_t seed = 5;
    struct step_state s = step_initial();
    for (int k = 0; k < 20000; k++) {
        seed = seed * 1664525u + 1013904223u; /* Knuth's constants */
        uint32_t x = seed >> 8;
        int i = (int)(x / 32 % 12) - 1;
        struct step_ref r = {(enum attn_tensor)(x / 512 % ATTN_TENSOR_COUNT), i,
                             (int)(x / 8192 % 8)};
        (void)step_apply(
            &s, (struct step_action){
                    .verb = verbs[x % (sizeof verbs / sizeof *verbs)], .i = i, .ref = r});
        if (k % 7 == 0) (void)step_tick(&s, 0.9f);
        const struct step_place *p = step_place_of(&s);
        struct step_pass pass = step_pass_of(&s);
        assert_true(pass.from >= 0 && pass.from < pass.to && pass.to <= p->dims.n_tok);
        assert_true(p->prefill >= 0 && p->prefill <= p->dims.n_tok);
        if (!step_is_decoding(&s)) continue;
        assert_true(p->prefill >= 1 && p->row >= p->prefill - 1);
        assert_int_equal(pass.to, p->row + 1);
        assert_int_equal(step_row_count(p), 1);
        assert_true(p->pin.tensor == ATTN_TENSOR_COUNT || step_pass_has(&s, p->pin));
        assert_true(s.hover.tensor == ATTN_TENSOR_COUNT || step_pass_has(&s, s.hover));
    }
}

int step_decode_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_in_view_is_the_token_decoded),
        cmocka_unit_test(right_walks_through_stages_then_to_the_next_token),
        cmocka_unit_test(playing_goes_on_to_the_last_token),
        cmocka_unit_test(the_animation_is_of_the_new_row_alone),
        cmocka_unit_test(what_is_not_there_cannot_be_pinned),
        cmocka_unit_test(without_the_mask_nothing_is_decoded),
        cmocka_unit_test(any_walk_stays_sound),
    };
    return cmocka_run_group_tests_name("step decode", tests, NULL, NULL);
}
