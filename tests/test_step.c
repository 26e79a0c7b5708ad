/* step: every verb and its refusals, the clock, and what holds whatever is done. */
#include "step_case.h"

#include "step.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- making actions ------------------------------------------------------------------- */

static bool act(struct step_state *s, enum step_verb verb, int i)
{
    return step_apply(s, (struct step_action){.verb = verb, .i = i});
}

static bool act_x(struct step_state *s, enum step_verb verb, float x)
{
    return step_apply(s, (struct step_action){.verb = verb, .x = x});
}

static bool act_xyz(struct step_state *s, enum step_verb verb, float x, float y, float z)
{
    return step_apply(s, (struct step_action){.verb = verb, .x = x, .y = y, .z = z});
}

static bool act_ref(struct step_state *s, enum step_verb verb, enum attn_tensor t,
                    int row, int col)
{
    return step_apply(s, (struct step_action){.verb = verb, .ref = {t, row, col}});
}

/* Byte by byte: no member can be forgotten. Copies are made with memcpy and changed member
 * by member, so that the padding agrees too. */
static bool same(const struct step_state *a, const struct step_state *b)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): see above */
    return memcmp(a, b, sizeof *a) == 0;
}

/* Refused, and nothing has changed. */
static void refused(struct step_state *s, struct step_action a)
{
    struct step_state before;
    memcpy(&before, s, sizeof before);
    assert_false(step_apply(s, a));
    assert_true(same(&before, s));
}

static void refused_i(struct step_state *s, enum step_verb verb, int i)
{
    refused(s, (struct step_action){.verb = verb, .i = i});
}

static void refused_x(struct step_state *s, enum step_verb verb, float x)
{
    refused(s, (struct step_action){.verb = verb, .x = x});
}

static struct step_state at_stage(enum attn_stage stage, float time)
{
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_GO, (int)stage));
    assert_true(act_x(&s, STEP_SCRUB, time));
    return s;
}

static bool paused_at(const struct step_state *s, enum attn_stage stage, float time)
{
    return s->stage == stage && s->time == time && !s->playing && !s->run_on &&
           s->dwell == 0.0f;
}

static bool playing_from_the_start(const struct step_state *s, enum attn_stage stage,
                                   bool run_on)
{
    return s->stage == stage && s->time == 0.0f && s->playing && s->run_on == run_on;
}

/* ---- going through the stages ----------------------------------------------------------- */

static void the_first_state_is_the_toy_at_stage_1(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_int_equal(s.scale, STEP_TOY);
    assert_true(paused_at(&s, ATTN_PROJECTIONS, 0.0f));
    assert_true(s.opts.scale && s.opts.causal && s.opts.residual);
    const struct step_place *p = step_place_of(&s);
    assert_int_equal(p->dims.n_tok, 5);
    assert_int_equal(p->dims.d_model, 8);
    assert_int_equal(p->dims.n_head, 2);
    assert_int_equal(p->row, 3);
    assert_int_equal(s.place[STEP_GPT2].dims.n_tok, STEP_GPT2_TOKENS);
    assert_int_equal(s.place[STEP_GPT2].dims.d_model, 768);
    assert_int_equal(s.place[STEP_GPT2].dims.n_head, 12);
    assert_true(s.hover.tensor == ATTN_TENSOR_COUNT &&
                p->pin.tensor == ATTN_TENSOR_COUNT);
    assert_true(s.speed == 1.0f && p->view.zoom == 1.0f && !step_is_moving(&s));
}

static void next_finishes_an_animation_before_it_goes_on(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        assert_true(act(&s, STEP_NEXT, 0));
        assert_true(paused_at(&s, (enum attn_stage)k, 1.0f));
        if (k + 1 == ATTN_STAGE_COUNT) break;
        assert_true(act(&s, STEP_NEXT, 0));
        assert_true(playing_from_the_start(&s, (enum attn_stage)(k + 1), false));
    }
    refused_i(&s, STEP_NEXT, 0);
    assert_true(act_x(&s, STEP_SCRUB, 0.5f));
    assert_true(act(&s, STEP_NEXT, 0));
    assert_true(paused_at(&s, ATTN_OUTPUT, 1.0f));
}

static void back_shows_the_former_stage_finished(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_OUTPUT, 0.4f);
    for (int k = ATTN_OUTPUT - 1; k >= 0; k--) {
        assert_true(act(&s, STEP_PREV, 0));
        assert_true(paused_at(&s, (enum attn_stage)k, 1.0f));
    }
    assert_true(act(&s, STEP_PREV, 0));
    assert_true(paused_at(&s, ATTN_PROJECTIONS, 0.0f));
    refused_i(&s, STEP_PREV, 0);
    assert_true(act(&s, STEP_RESTART, 0));
    assert_true(act(&s, STEP_PREV, 0)); /* it stops what had just begun */
    assert_true(paused_at(&s, ATTN_PROJECTIONS, 0.0f));
}

static void back_then_next_restores_the_state(void **state)
{
    (void)state;
    for (int k = 1; k < ATTN_STAGE_COUNT; k++) {
        struct step_state s = at_stage((enum attn_stage)k, 1.0f), before;
        memcpy(&before, &s, sizeof before);
        assert_true(act(&s, STEP_PREV, 0));
        assert_true(act(&s, STEP_NEXT, 0));
        assert_true(act(&s, STEP_NEXT, 0));
        assert_true(same(&before, &s));
    }
}

static void go_plays_one_stage_and_stops(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_GO, ATTN_SOFTMAX));
    assert_true(playing_from_the_start(&s, ATTN_SOFTMAX, false));
    assert_true(step_is_moving(&s));
    assert_true(step_tick(&s, 1.0f));
    assert_true(s.time > 0.0f && s.time < 1.0f);
    assert_true(step_tick(&s, 60.0f));
    assert_true(paused_at(&s, ATTN_SOFTMAX, 1.0f));
    assert_false(step_tick(&s, 60.0f));
    refused_i(&s, STEP_GO, -1);
    refused_i(&s, STEP_GO, ATTN_STAGE_COUNT);
}

static void restart_plays_the_stage_again(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_MASK, 0.7f);
    assert_true(act(&s, STEP_RESTART, 0));
    assert_true(playing_from_the_start(&s, ATTN_MASK, false));
}

static void play_pauses_and_goes_on_where_it_was(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_SCORES, 0.25f);
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(s.playing && s.run_on && s.time == 0.25f);
    assert_true(step_tick(&s, 0.5f));
    assert_true(s.time > 0.25f);
    float time = s.time;
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(paused_at(&s, ATTN_SCORES, time));
}

static void play_at_the_end_of_a_stage_starts_the_next(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_SCORES, 1.0f);
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(playing_from_the_start(&s, ATTN_SCALE, true));
    s = at_stage(ATTN_OUTPUT, 1.0f);
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(playing_from_the_start(&s, ATTN_PROJECTIONS, true));
}

static void scrub_pauses_and_refuses_what_is_no_time(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(act_x(&s, STEP_SCRUB, 0.375f));
    assert_true(paused_at(&s, ATTN_PROJECTIONS, 0.375f));
    assert_true(act_x(&s, STEP_SCRUB, 0.0f));
    assert_true(act_x(&s, STEP_SCRUB, 1.0f));
    refused_x(&s, STEP_SCRUB, -0.001f);
    refused_x(&s, STEP_SCRUB, 1.001f);
    refused_x(&s, STEP_SCRUB, NAN);
    refused_x(&s, STEP_SCRUB, INFINITY);
}

static void a_finished_stage_is_shown_before_the_next(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        struct step_state s = step_initial();
        float speed = step_speeds[k];
        assert_true(act_x(&s, STEP_SPEED, speed));
        assert_true(act(&s, STEP_PLAY, 0));
        assert_true(step_tick(&s, 3.001f / speed));
        assert_true(s.stage == ATTN_PROJECTIONS && s.time == 1.0f && s.playing);
        assert_false(step_tick(&s, 0.88f / speed)); /* nothing to be drawn anew */
        assert_true(s.stage == ATTN_PROJECTIONS && step_is_moving(&s));
        assert_true(step_tick(&s, 0.05f / speed));
        assert_int_equal(s.stage, ATTN_SCORES);
        assert_true(s.time > 0.0f && s.time < 0.1f);
    }
}

static void playing_on_stops_behind_the_last_stage(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_PLAY, 0));
    float seconds = 0.0f;
    while (step_is_moving(&s) && seconds < 60.0f) {
        (void)step_tick(&s, 1.0f / 64);
        seconds += 1.0f / 64;
    }
    assert_true(paused_at(&s, ATTN_OUTPUT, 1.0f));
    float want = 6 * 0.9f; /* the pauses */
    for (int k = 0; k < ATTN_STAGE_COUNT; k++)
        want += step_clock_of((enum attn_stage)k, step_place_of(&s)->dims).seconds;
    assert_true(fabsf(seconds - want) < 0.05f);
}

static void one_long_tick_is_many_short_ones(void **state)
{
    (void)state;
    for (int n = 1; n <= 400; n += 7) {
        struct step_state a = step_initial(), b = step_initial();
        assert_true(act(&a, STEP_PLAY, 0));
        assert_true(act(&b, STEP_PLAY, 0));
        for (int k = 0; k < n; k++) (void)step_tick(&a, 1.0f / 16);
        (void)step_tick(&b, (float)n / 16);
        float behind = (float)b.stage + b.time - (float)a.stage - a.time;
        assert_true(fabsf(behind) < 1e-3f);
        assert_int_equal(a.playing, b.playing);
    }
}

static void a_clock_that_slips_changes_nothing(void **state)
{
    (void)state;
    struct step_state s = step_initial(), before;
    assert_true(act(&s, STEP_PLAY, 0));
    memcpy(&before, &s, sizeof before);
    const float dt[] = {0.0f, -1.0f, NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 5; k++) {
        assert_false(step_tick(&s, dt[k]));
        assert_true(same(&before, &s));
    }
}

static void speeds_are_the_listed_ones(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    for (int k = 0; k < 5; k++) {
        assert_true(act_x(&s, STEP_SPEED, step_speeds[k]));
        assert_true(s.speed == step_speeds[k]);
    }
    refused_i(&s, STEP_SPEED_BY, 1);
    for (int k = 3; k >= 0; k--) {
        assert_true(act(&s, STEP_SPEED_BY, -1));
        assert_true(s.speed == step_speeds[k]);
    }
    refused_i(&s, STEP_SPEED_BY, -1);
    refused_i(&s, STEP_SPEED_BY, 0);
    refused_i(&s, STEP_SPEED_BY, 2);
    refused_x(&s, STEP_SPEED, 3.0f);
    refused_x(&s, STEP_SPEED, 0.0f);
    refused_x(&s, STEP_SPEED, NAN);
}

static void sources_are_ranked_and_cut_as_listed(void **state)
{
    (void)state;
    struct step_state s = step_initial(), first = s;
    assert_true(act(&s, STEP_RANK, -1));
    assert_int_equal(s.rank, STEP_RANK_CONTRIBUTION);
    assert_true(act(&s, STEP_RANK, -1) && same(&s, &first));
    refused_i(&s, STEP_RANK, 2);
    refused_i(&s, STEP_RANK, -2);
    for (int k = 1; k <= STEP_LEASTS; k++) {
        assert_true(act(&s, STEP_LEAST_BY, 1));
        assert_true(s.least_weight == step_leasts[k % STEP_LEASTS]);
    }
    assert_true(same(&s, &first));
    assert_true(act(&s, STEP_LEAST_BY, -1));
    assert_true(s.least_weight == step_leasts[STEP_LEASTS - 1]);
    assert_true(act_x(&s, STEP_LEAST, 0.01f));
    assert_true(s.least_weight == 0.01f);
    refused_i(&s, STEP_LEAST_BY, 0);
    refused_x(&s, STEP_LEAST, 0.02f);
    refused_x(&s, STEP_LEAST, NAN);
}

/* ---- micro-steps -------------------------------------------------------------------------- */

static void micro_steps_stop_at_every_beat_and_come_back(void **state)
{
    (void)state;
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        struct step_state s = at_stage((enum attn_stage)k, 0.0f);
        struct step_clock c = step_clock_of(s.stage, step_place_of(&s)->dims);
        float up[64] = {0};
        int n = 0;
        while (act(&s, STEP_BEAT, 1)) {
            assert_true(s.time > up[n]);
            up[++n] = s.time;
        }
        assert_true(up[n] == 1.0f);
        int stops = c.n_beat > 1 ? c.n_beat + (c.intro > 0.0f) + (c.outro > 0.0f) : 10;
        assert_int_equal(n, stops);
        while (n > 0) {
            assert_true(act(&s, STEP_BEAT, -1));
            assert_true(paused_at(&s, (enum attn_stage)k, up[--n]));
        }
        refused_i(&s, STEP_BEAT, -1);
        refused_i(&s, STEP_BEAT, 0);
    }
}

static void a_micro_step_shows_whole_beats(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_SCORES, 0.0f);
    struct step_clock c = step_clock_of(s.stage, step_place_of(&s)->dims);
    for (int k = 0; k <= c.n_beat; k++) {
        assert_true(act(&s, STEP_BEAT, 1));
        struct step_beat b = step_beat_at(&c, s.time);
        assert_int_equal(b.at, k);
        assert_true(b.part == 0.0f && b.intro == 1.0f);
    }
}

static void a_micro_step_pauses_even_at_the_end(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(act(&s, STEP_BEAT, -1));
    assert_true(paused_at(&s, ATTN_PROJECTIONS, 0.0f));
    assert_true(act(&s, STEP_PLAY, 0));
    assert_true(step_tick(&s, 3.1f));
    assert_true(s.time == 1.0f && s.playing);
    assert_true(act(&s, STEP_BEAT, 1));
    assert_true(paused_at(&s, ATTN_PROJECTIONS, 1.0f));
}

/* ---- scale, tokens, seeds ----------------------------------------------------------------- */

static void each_scale_keeps_its_own_place(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_MASK, 0.5f), toy;
    assert_true(act_ref(&s, STEP_PIN, ATTN_S_MASKED, 2, 4));
    assert_true(act(&s, STEP_HEAD, 1));
    memcpy(&toy, &s, sizeof toy);
    assert_true(act_ref(&s, STEP_HOVER, ATTN_Q, 1, 1));
    assert_true(act(&s, STEP_SCALE_TO, -1));
    assert_int_equal(s.scale, STEP_GPT2);
    assert_true(paused_at(&s, ATTN_MASK, 0.5f));
    assert_true(step_ref_is(s.hover, step_no_ref()));
    assert_int_equal(step_place_of(&s)->head, 0);
    assert_true(act(&s, STEP_SCALE_TO, STEP_TOY));
    assert_true(same(&toy, &s));
    assert_true(act(&s, STEP_SCALE_TO, STEP_TOY));
    assert_true(same(&toy, &s));
    refused_i(&s, STEP_SCALE_TO, -2);
    refused_i(&s, STEP_SCALE_TO, STEP_SCALE_COUNT);
}

static void fewer_tokens_bring_row_and_pin_back_inside(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    refused_i(&s, STEP_TOKENS, 4); /* the toy has five */
    assert_true(act(&s, STEP_SCALE_TO, STEP_GPT2));
    assert_true(act(&s, STEP_TOKENS, STEP_MAX_TOKENS));
    assert_true(act_ref(&s, STEP_PIN, ATTN_P, 1023, 100));
    assert_true(act_ref(&s, STEP_HOVER, ATTN_K, 500, 0));
    assert_int_equal(step_place_of(&s)->row, 1023);
    assert_true(act(&s, STEP_TOKENS, 400));
    assert_int_equal(step_place_of(&s)->row, 399);
    assert_true(step_ref_is(step_place_of(&s)->pin, step_no_ref()));
    assert_true(step_ref_is(s.hover, step_no_ref()));
    assert_true(act_ref(&s, STEP_PIN, ATTN_W_Q, 700, 3)); /* no token's row */
    assert_int_equal(step_place_of(&s)->row, 399);
    assert_true(act(&s, STEP_TOKENS, 1));
    assert_int_equal(step_place_of(&s)->row, 0);
    assert_true(step_ref_is(step_place_of(&s)->pin, (struct step_ref){ATTN_W_Q, 700, 3}));
    refused_i(&s, STEP_TOKENS, 0);
    refused_i(&s, STEP_TOKENS, -1);
    refused_i(&s, STEP_TOKENS, STEP_MAX_TOKENS + 1);
}

static void rolling_never_gives_the_same_seed_or_zero(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    const int from[] = {0, 1, 15, 9973, 9974, -1, 2147483647};
    for (int k = 0; k < 7; k++) {
        assert_true(act(&s, STEP_SEED, from[k]));
        assert_true(step_place_of(&s)->seed == (uint32_t)from[k]);
        assert_true(act(&s, STEP_ROLL, 0));
        assert_true(step_place_of(&s)->seed != (uint32_t)from[k]);
    }
    static bool seen[9973];
    for (int k = 0; k < 9972; k++) {
        assert_true(act(&s, STEP_ROLL, 0));
        uint32_t seed = step_place_of(&s)->seed;
        assert_true(seed > 0 && seed < 9973 && !seen[seed]);
        seen[seed] = true;
    }
    assert_int_equal(s.place[STEP_GPT2].seed, step_initial().place[STEP_GPT2].seed);
}

/* ---- rows, heads, cells ---------------------------------------------------------------------- */

static void rows_and_heads_stay_inside(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_ROW, 4));
    refused_i(&s, STEP_ROW_BY, 1);
    refused_i(&s, STEP_ROW, 5);
    refused_i(&s, STEP_ROW, -1);
    refused_i(&s, STEP_ROW_BY, 0);
    for (int k = 3; k >= 0; k--) {
        assert_true(act(&s, STEP_ROW_BY, -1));
        assert_int_equal(step_place_of(&s)->row, k);
    }
    refused_i(&s, STEP_ROW_BY, -1);
    assert_true(act(&s, STEP_HEAD_BY, 1));
    refused_i(&s, STEP_HEAD_BY, 1);
    refused_i(&s, STEP_HEAD, 2);
    refused_i(&s, STEP_HEAD, -1);
    assert_true(act(&s, STEP_HEAD_BY, -1));
    refused_i(&s, STEP_HEAD_BY, -1);
    refused_i(&s, STEP_HEAD_BY, 2147483647);
}

/* The selected rows as a string of digits, from 0. */
static struct rows_text {
    char text[16];
} rows_of(const struct step_state *s)
{
    struct rows_text out = {""};
    int n = 0;
    for (int i = 0; i < step_place_of(s)->dims.n_tok && i < 10; i++)
        if (step_row_is_on(step_place_of(s), i)) out.text[n++] = (char)('0' + i);
    return out;
}

static void want_rows(const struct step_state *s, const char *rows, int in_view)
{
    assert_string_equal(rows_of(s).text, rows);
    assert_int_equal(step_place_of(s)->row, in_view);
    assert_int_equal(step_row_count(step_place_of(s)), (int)strlen(rows));
}

static void shift_selects_from_where_one_began(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    want_rows(&s, "3", 3);
    assert_true(act(&s, STEP_ROWS_BY, 1));
    want_rows(&s, "34", 4);
    refused_i(&s, STEP_ROWS_BY, 1);
    assert_true(act(&s, STEP_ROWS_TO, 1));
    want_rows(&s, "123", 1);
    assert_true(act(&s, STEP_ROWS_BY, 1));
    want_rows(&s, "23", 2);
    assert_true(act(&s, STEP_ROW_BY, -1)); /* and none but it without Shift */
    want_rows(&s, "1", 1);
    assert_true(act(&s, STEP_ROWS_TO, 1));
    want_rows(&s, "1", 1);
    refused_i(&s, STEP_ROWS_TO, 5);
    refused_i(&s, STEP_ROWS_TO, -1);
    refused_i(&s, STEP_ROWS_AND, 5);
    refused_i(&s, STEP_ROWS_BY, 2);
}

static void ctrl_selects_one_more_or_one_less(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    refused_i(&s, STEP_ROW_ALSO, 3); /* one row always is selected */
    assert_true(act(&s, STEP_ROW_ALSO, 0));
    want_rows(&s, "03", 0);
    assert_true(act(&s, STEP_ROWS_AND, 1));
    want_rows(&s, "013", 1);
    assert_true(act(&s, STEP_ROW_ALSO, 1));
    want_rows(&s, "03", 0);
    assert_true(act(&s, STEP_ROW_ALSO, 0));
    want_rows(&s, "3", 3);
    /* by keys alone: keep one, walk past others, keep another */
    assert_true(act(&s, STEP_ROW_KEEP, 0));
    assert_true(act(&s, STEP_ROW_WALK, -1));
    want_rows(&s, "23", 2);
    assert_true(act(&s, STEP_ROW_WALK, -1));
    want_rows(&s, "13", 1);
    assert_true(act(&s, STEP_ROW_KEEP, 0));
    assert_true(act(&s, STEP_ROW_WALK, -1));
    want_rows(&s, "013", 0);
    refused_i(&s, STEP_ROW_WALK, -1);
    assert_true(act(&s, STEP_ESCAPE, 0)); /* to one */
    want_rows(&s, "0", 0);
    refused_i(&s, STEP_ESCAPE, 0);
}

static void several_rows_and_a_pinned_cell_do_not_go_together(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act_ref(&s, STEP_PIN, ATTN_P, 2, 1));
    assert_true(act(&s, STEP_ROWS_TO, 4));
    want_rows(&s, "234", 4);
    assert_true(step_place_of(&s)->pin.tensor == ATTN_TENSOR_COUNT);
    assert_true(act_ref(&s, STEP_PIN, ATTN_P, 2, 1));
    want_rows(&s, "2", 2);
    assert_true(act(&s, STEP_OVERVIEW, 0)); /* where rows are not seen */
    refused_i(&s, STEP_ROWS_BY, 1);
    refused_i(&s, STEP_ROW_ALSO, 0);
    refused_i(&s, STEP_ROW_KEEP, 0);
    refused_i(&s, STEP_ROW_WALK, 1);
}

static void fewer_tokens_take_selected_rows_away(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_SCALE_TO, STEP_GPT2));
    assert_true(act(&s, STEP_ROW, 2) && act(&s, STEP_ROWS_TO, 60));
    assert_int_equal(step_row_count(step_place_of(&s)), 59);
    assert_true(act(&s, STEP_TOKENS, 5));
    want_rows(&s, "234", 4);
    assert_true(act(&s, STEP_TOKENS, 64));
    want_rows(&s, "234", 4);
    int from = -1, to = 0;
    assert_true(step_row_run(step_place_of(&s), &from, &to) && from == 2 && to == 5);
    assert_false(step_row_run(step_place_of(&s), &from, &to));
}

static void two_heads_are_paired_where_there_are_scores(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    refused_i(&s, STEP_PAIR, STEP_PAIR_BESIDE); /* stage 1 */
    refused_i(&s, STEP_SECOND, 1);
    s = at_stage(ATTN_SCORES, 1.0f);
    assert_int_equal(step_second(&s), -1);
    assert_true(act(&s, STEP_PAIR, -1));
    assert_true(s.pair == STEP_PAIR_BESIDE && step_is_paired(&s));
    assert_int_equal(step_second(&s), 1);
    assert_true(act(&s, STEP_HEAD, 1)); /* the second is still another */
    assert_int_equal(step_second(&s), 0);
    refused_i(&s, STEP_SECOND, 1);
    refused_i(&s, STEP_SECOND, 2);
    refused_i(&s, STEP_SECOND_BY, 1); /* past the head in view there is none */
    assert_true(act(&s, STEP_GO, ATTN_WEIGHTED_SUM)); /* stays, unseen */
    assert_false(step_is_paired(&s));
    assert_true(act(&s, STEP_GO, ATTN_SOFTMAX));
    assert_true(act(&s, STEP_PAIR, -1) && s.pair == STEP_PAIR_MINUS);
    assert_true(act(&s, STEP_ESCAPE, 0));
    assert_int_equal(s.pair, STEP_PAIR_NONE);
    refused_i(&s, STEP_PAIR, STEP_PAIR_COUNT);
    assert_true(act(&s, STEP_SCALE_TO, STEP_GPT2));
    assert_true(act(&s, STEP_SECOND, 5)); /* and pairs them */
    assert_true(s.pair == STEP_PAIR_BESIDE && step_second(&s) == 5);
    assert_true(act(&s, STEP_HEAD, 4));
    assert_true(act(&s, STEP_SECOND_BY, -1)); /* past head 4 */
    assert_int_equal(step_second(&s), 3);
}

static void choosing_a_row_unpins_the_cell(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act_ref(&s, STEP_PIN, ATTN_P, 2, 1));
    assert_true(act(&s, STEP_ROW, 2));
    assert_int_equal(step_place_of(&s)->row, 2);
    assert_true(step_ref_is(step_place_of(&s)->pin, step_no_ref()));
}

/* Rows and columns of every tensor of the toy. */
static const int toy_shape[ATTN_TENSOR_COUNT][2] = {
    [ATTN_H] = {5, 8},        [ATTN_X] = {5, 8},        [ATTN_W_Q] = {8, 4},
    [ATTN_W_K] = {8, 4},      [ATTN_W_V] = {8, 4},      [ATTN_Q] = {5, 4},
    [ATTN_K] = {5, 4},        [ATTN_V] = {5, 4},        [ATTN_S_RAW] = {5, 5},
    [ATTN_S_SCALED] = {5, 5}, [ATTN_S_MASKED] = {5, 5}, [ATTN_P] = {5, 5},
    [ATTN_Z] = {5, 4},        [ATTN_Z_ALL] = {5, 8},    [ATTN_W_O] = {8, 8},
    [ATTN_Y_PROJ] = {5, 8},   [ATTN_Y] = {5, 8},
};

static bool is_weight(int t)
{
    return t == ATTN_W_Q || t == ATTN_W_K || t == ATTN_W_V || t == ATTN_W_O;
}

static void a_cell_is_pinned_where_it_exists(void **state)
{
    (void)state;
    for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
        const int *n = toy_shape[t];
        struct step_state s = step_initial();
        struct step_ref last = {(enum attn_tensor)t, n[0] - 1, n[1] - 1};
        assert_true(act(&s, STEP_ROW, 1));
        assert_true(step_apply(&s, (struct step_action){.verb = STEP_PIN, .ref = last}));
        assert_true(step_ref_is(step_place_of(&s)->pin, last));
        assert_int_equal(step_place_of(&s)->row, is_weight(t) ? 1 : 4);
        const struct step_ref outside[] = {{last.tensor, n[0], 0},
                                           {last.tensor, 0, n[1]},
                                           {last.tensor, -1, 0},
                                           {last.tensor, 0, -1}};
        for (int k = 0; k < 4; k++) {
            refused(&s, (struct step_action){.verb = STEP_PIN, .ref = outside[k]});
            refused(&s, (struct step_action){.verb = STEP_HOVER, .ref = outside[k]});
        }
    }
    struct step_state s = step_initial();
    refused(&s, (struct step_action){.verb = STEP_PIN, .ref = step_no_ref()});
    refused(&s,
            (struct step_action){.verb = STEP_PIN, .ref = {(enum attn_tensor)99, 0, 0}});
}

static void pinning_the_pinned_cell_unpins_it(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act_ref(&s, STEP_PIN, ATTN_K, 2, 3));
    assert_true(act_ref(&s, STEP_PIN, ATTN_K, 2, 3));
    assert_true(step_ref_is(step_place_of(&s)->pin, step_no_ref()));
    assert_int_equal(step_place_of(&s)->row, 2);
}

static void hover_ends_where_the_stage_changes(void **state)
{
    (void)state;
    struct step_state s = at_stage(ATTN_SCORES, 1.0f);
    assert_true(act_ref(&s, STEP_HOVER, ATTN_S_RAW, 1, 2));
    assert_true(step_ref_is(s.hover, (struct step_ref){ATTN_S_RAW, 1, 2}));
    assert_true(act(&s, STEP_RESTART, 0));
    assert_true(step_ref_is(s.hover, (struct step_ref){ATTN_S_RAW, 1, 2}));
    assert_true(act(&s, STEP_GO, ATTN_SCALE));
    assert_true(step_ref_is(s.hover, step_no_ref()));
    assert_true(act_ref(&s, STEP_HOVER, ATTN_S_SCALED, 1, 2));
    assert_true(
        step_apply(&s, (struct step_action){.verb = STEP_HOVER, .ref = step_no_ref()}));
    assert_true(step_ref_is(s.hover, step_no_ref()));
}

static void toggles_flip_one_thing_each(void **state)
{
    (void)state;
    struct step_state s = step_initial(), before;
    memcpy(&before, &s, sizeof before);
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_SCALE));
    assert_true(!s.opts.scale && s.opts.causal && s.opts.residual);
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_CAUSAL));
    assert_true(!s.opts.scale && !s.opts.causal && s.opts.residual);
    assert_true(act(&s, STEP_TOGGLE, STEP_OPT_RESIDUAL));
    assert_true(!s.opts.scale && !s.opts.causal && !s.opts.residual);
    for (int k = 0; k < STEP_OPT_COUNT; k++) assert_true(act(&s, STEP_TOGGLE, k));
    const enum step_verb verbs[] = {STEP_LOG, STEP_HELP, STEP_FULLSCREEN};
    for (int k = 0; k < 3; k++) {
        assert_true(act(&s, verbs[k], 0));
        assert_int_equal(s.log_weights, k == 0);
        assert_int_equal(s.help, k == 1);
        assert_int_equal(s.fullscreen, k == 2);
        assert_true(act(&s, verbs[k], 0));
    }
    assert_true(same(&before, &s));
    refused_i(&s, STEP_TOGGLE, -1);
    refused_i(&s, STEP_TOGGLE, STEP_OPT_COUNT);
}

/* ---- the view ----------------------------------------------------------------------------------- */

static void zoom_keeps_the_point_under_the_pointer(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    const float factor[] = {1.25f, 3.0f, 1.1f, 0.7f, 1.9f};
    for (int k = 0; k < 5; k++) {
        struct step_view a = step_place_of(&s)->view;
        float px = 100.0f + 90.0f * (float)k, py = 500.0f - 70.0f * (float)k;
        assert_true(act_xyz(&s, STEP_ZOOM, px, py, factor[k]));
        struct step_view b = step_place_of(&s)->view;
        assert_true(fabsf((px - a.x) / a.zoom - (px - b.x) / b.zoom) < 1e-2f);
        assert_true(fabsf((py - a.y) / a.zoom - (py - b.y) / b.zoom) < 1e-2f);
        assert_true(fabsf(b.zoom / a.zoom - factor[k]) < 1e-5f);
    }
    assert_true(act_xyz(&s, STEP_ZOOM, 3.0f, 4.0f, 1e-6f)); /* all the way out fits all */
    struct step_view v = step_place_of(&s)->view;
    assert_true(v.zoom == 1.0f && v.x == 0.0f && v.y == 0.0f);
    refused(&s, (struct step_action){.verb = STEP_ZOOM, .z = 0.5f});
    assert_true(act_xyz(&s, STEP_ZOOM, 3.0f, 4.0f, 1e6f));
    assert_true(step_place_of(&s)->view.zoom == 4096.0f);
    refused(&s, (struct step_action){.verb = STEP_ZOOM, .z = 2.0f});
}

static void views_that_are_no_view_are_refused(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        float v = bad[k];
        refused(&s, (struct step_action){.verb = STEP_ZOOM, .z = v});
        refused(&s, (struct step_action){.verb = STEP_ZOOM, .x = v, .z = 2.0f});
        refused(&s, (struct step_action){.verb = STEP_ZOOM, .y = v, .z = 2.0f});
        refused(&s, (struct step_action){.verb = STEP_PAN, .x = v});
        refused(&s, (struct step_action){.verb = STEP_PAN, .y = v});
        refused(&s, (struct step_action){.verb = STEP_VIEW, .z = v});
        refused(&s, (struct step_action){.verb = STEP_VIEW, .x = v, .z = 2.0f});
        refused(&s, (struct step_action){.verb = STEP_VIEW, .y = v, .z = 2.0f});
    }
    refused(&s, (struct step_action){.verb = STEP_ZOOM, .z = 0.0f});
    refused(&s, (struct step_action){.verb = STEP_ZOOM, .z = -2.0f});
    refused(&s, (struct step_action){.verb = STEP_VIEW, .z = 0.99f});
    refused(&s, (struct step_action){.verb = STEP_VIEW, .z = 4097.0f});
    refused(&s, (struct step_action){.verb = STEP_PAN, .x = 1e30f});
    refused(&s, (struct step_action){.verb = STEP_ZOOM, .x = 3e38f, .z = 2.0f});
}

static void pan_view_and_fit_set_what_they_say(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act_xyz(&s, STEP_VIEW, -20.0f, 30.0f, 2.5f));
    assert_true(act_xyz(&s, STEP_PAN, 5.0f, -7.0f, 0.0f));
    struct step_view v = step_place_of(&s)->view;
    assert_true(v.x == -15.0f && v.y == 23.0f && v.zoom == 2.5f);
    assert_true(s.place[STEP_GPT2].view.zoom == 1.0f);
    assert_true(act(&s, STEP_FIT, 0));
    v = step_place_of(&s)->view;
    assert_true(v.x == 0.0f && v.y == 0.0f && v.zoom == 1.0f);
}

/* ---- the window ----------------------------------------------------------------------------------- */

static void theme_and_focus_are_set(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_THEME, -1));
    assert_int_equal(s.theme, STEP_DARK);
    assert_true(act(&s, STEP_THEME, -1));
    assert_int_equal(s.theme, STEP_LIGHT);
    assert_true(act(&s, STEP_THEME, STEP_DARK));
    assert_int_equal(s.theme, STEP_DARK);
    refused_i(&s, STEP_THEME, 2);
    refused_i(&s, STEP_THEME, -2);
    assert_true(act(&s, STEP_FOCUS, 7));
    assert_int_equal(s.focus, 7);
    refused_i(&s, STEP_FOCUS, -1);
    assert_true(act(&s, STEP_QUIT, 0));
    assert_true(s.quit);
}

static void ui_size_walks_along_its_steps(void **state)
{
    (void)state;
    static const int sizes[] = {50,  67,  75,  80,  90,  100, 110,
                                125, 150, 175, 200, 250, 300};
    struct step_state s = step_initial();
    assert_true(act(&s, STEP_UI_SIZE, 50));
    refused_i(&s, STEP_UI_SIZE_BY, -1);
    for (int k = 1; k < 13; k++) {
        assert_true(act(&s, STEP_UI_SIZE_BY, 1));
        assert_int_equal(s.ui_percent, sizes[k]);
    }
    refused_i(&s, STEP_UI_SIZE_BY, 1);
    assert_true(act(&s, STEP_UI_SIZE_BY, -1));
    assert_int_equal(s.ui_percent, 250);
    assert_true(act(&s, STEP_UI_SIZE, 101)); /* between two steps */
    assert_true(act(&s, STEP_UI_SIZE_BY, -1));
    assert_int_equal(s.ui_percent, 100);
    refused_i(&s, STEP_UI_SIZE, 49);
    refused_i(&s, STEP_UI_SIZE, 301);
    refused_i(&s, STEP_UI_SIZE_BY, 0);
    refused_i(&s, STEP_UI_SIZE_BY, 2);
}

static void escape_closes_one_layer_at_a_time(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    refused_i(&s, STEP_ESCAPE, 0);
    assert_true(act(&s, STEP_FULLSCREEN, 0));
    assert_true(act_xyz(&s, STEP_ZOOM, 10.0f, 10.0f, 2.0f));
    assert_true(act_ref(&s, STEP_PIN, ATTN_P, 1, 1));
    assert_true(act(&s, STEP_FOCUS, 3));
    assert_true(act(&s, STEP_HELP, 0));
    for (int open = 4; open >= 0; open--) {
        assert_true(act(&s, STEP_ESCAPE, 0));
        const struct step_place *p = step_place_of(&s);
        assert_false(s.help);
        assert_int_equal(s.focus != 0, open > 3);
        assert_int_equal(p->pin.tensor != ATTN_TENSOR_COUNT, open > 2);
        assert_int_equal(p->view.zoom != 1.0f, open > 1);
        assert_int_equal(s.fullscreen, open > 0);
    }
    refused_i(&s, STEP_ESCAPE, 0);
    assert_false(s.quit);
}

static void a_verb_that_is_none_is_refused(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    refused_i(&s, STEP_NONE, 0);
    refused_i(&s, (enum step_verb)(STEP_QUIT + 1), 0);
    refused_i(&s, (enum step_verb) - 1, 0);
}

static void actions_beyond_the_room_are_dropped(void **state)
{
    (void)state;
    struct step_actions list = {0};
    int room = sizeof list.at / sizeof *list.at;
    for (int k = 0; k < room + 30; k++)
        step_push(&list, (struct step_action){.verb = STEP_ROW, .i = k});
    assert_int_equal(list.n, room);
    assert_int_equal(list.at[room - 1].i, room - 1);
}

/* ---- whatever is done ------------------------------------------------------------------------------ */

static uint32_t draw(uint32_t *seed) /* Marsaglia 2003, xorshift32 */
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static float draw_number(uint32_t *seed)
{
    static const float odd[] = {0.0f, 1.0f,  -1.0f, 0.25f,    0.5f, 2.0f,
                                4.0f, 1e30f, NAN,   INFINITY, 1e-9f};
    uint32_t k = draw(seed);
    if (k % 3 == 0) return odd[draw(seed) % 11];
    return (float)(draw(seed) % 4000) / 1000.0f;
}

static struct step_action draw_action(uint32_t *seed)
{
    struct step_action a = {.verb = (enum step_verb)(draw(seed) % (STEP_QUIT + 2))};
    static const int span[] = {3, 12, 400, 1100};
    a.i = (int)(draw(seed) % (uint32_t)span[draw(seed) % 4]) - 1;
    a.x = draw_number(seed);
    a.y = draw_number(seed);
    a.z = draw_number(seed);
    a.ref.tensor = (enum attn_tensor)(draw(seed) % (ATTN_TENSOR_COUNT + 2));
    a.ref.row = (int)(draw(seed) % 70) - 1;
    a.ref.col = (int)(draw(seed) % 9) - 1;
    return a;
}

static void check_ref(struct step_ref r, struct attn_dims d)
{
    if (r.tensor == ATTN_TENSOR_COUNT) return;
    assert_true(r.tensor >= 0 && r.tensor < ATTN_TENSOR_COUNT);
    const int *n = toy_shape[r.tensor];
    int rows = n[0] == 5 ? d.n_tok : d.d_model;
    int cols = n[1] == 5 ? d.n_tok : n[1] == 8 ? d.d_model : d.d_model / d.n_head;
    assert_true(r.row >= 0 && r.row < rows && r.col >= 0 && r.col < cols);
}

static void check_place(const struct step_place *p)
{
    assert_true(p->dims.n_tok >= 1 && p->dims.n_tok <= STEP_MAX_TOKENS);
    assert_true(p->head >= 0 && p->head < p->dims.n_head);
    assert_true(p->second >= 0 && p->second < p->dims.n_head && p->second != p->head);
    assert_true(p->row >= 0 && p->row < p->dims.n_tok);
    assert_true(p->anchor >= 0 && p->anchor < p->dims.n_tok);
    for (int i = p->dims.n_tok; i < STEP_MODEL_TOKENS; i++)
        assert_false(step_row_is_on(p, i));
    check_ref(p->pin, p->dims);
    assert_true(p->view.zoom >= 1.0f && p->view.zoom <= 4096.0f);
    assert_true(isfinite(p->view.x) && isfinite(p->view.y));
}

static void check_state(const struct step_state *s)
{
    for (int k = 0; k < STEP_SCALE_COUNT; k++) check_place(&s->place[k]);
    assert_int_equal(s->place[STEP_TOY].dims.n_tok, STEP_TOY_TOKENS);
    check_ref(s->hover, step_place_of(s)->dims);
    assert_true(s->scale < STEP_SCALE_COUNT && s->stage < ATTN_STAGE_COUNT);
    assert_true(s->time >= 0.0f && s->time <= 1.0f);
    assert_true(s->playing || (!s->run_on && s->dwell == 0.0f));
    assert_true(s->dwell == 0.0f || (s->run_on && s->time == 1.0f));
    assert_true(s->dwell >= 0.0f && s->dwell < 0.91f);
    assert_true(!s->playing || s->time < 1.0f || s->run_on); /* a finished one stops */
    assert_true(s->ui_percent >= STEP_MIN_UI && s->ui_percent <= STEP_MAX_UI);
    assert_true(s->speed >= 0.25f && s->speed <= 4.0f && s->focus >= 0);
}

static void the_state_is_sound_and_repeatable_whatever_is_done(void **state)
{
    (void)state;
    for (uint32_t run = 1; run <= 20; run++) {
        uint32_t seed = run * 2654435761u;
        struct step_state s = step_initial(), twin, before;
        memcpy(&twin, &s, sizeof s);
        for (int k = 0; k < 2000; k++) {
            struct step_action a = draw_action(&seed);
            memcpy(&before, &s, sizeof s);
            bool done = step_apply(&s, a);
            assert_true(done || same(&before, &s));
            assert_int_equal(step_apply(&twin, a), done);
            float dt = (float)(draw(&seed) % 100) / 300.0f;
            bool moved = step_tick(&s, dt);
            assert_int_equal(step_tick(&twin, dt), moved);
            check_state(&s);
            assert_true(same(&twin, &s));
        }
    }
}

/* ---- the clock ------------------------------------------------------------------------------------- */

static struct attn_dims toy_of(int n_tok)
{
    return (struct attn_dims){.n_tok = n_tok, .d_model = 8, .n_head = 2};
}

static struct attn_dims gpt2_of(int n_tok)
{
    return (struct attn_dims){.n_tok = n_tok, .d_model = 768, .n_head = 12};
}

static void the_toy_is_computed_cell_by_cell(void **state)
{
    (void)state;
    static const int beats[ATTN_STAGE_COUNT] = {20, 25, 1, 4, 5, 5, 40};
    static const int a_row[ATTN_STAGE_COUNT] = {4, 5, 1, 1, 1, 1, 8};
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        struct step_clock c = step_clock_of((enum attn_stage)k, toy_of(5));
        assert_int_equal(c.n_beat, beats[k]);
        assert_int_equal(c.beats_a_row, a_row[k]);
    }
}

static void gpt2_sweeps_whole_rows(void **state)
{
    (void)state;
    static const int beats[ATTN_STAGE_COUNT] = {1024, 1024, 1, 1023, 1024, 1024, 1024};
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        struct step_clock c = step_clock_of((enum attn_stage)k, gpt2_of(1024));
        assert_int_equal(c.n_beat, beats[k]);
        assert_int_equal(c.beats_a_row, 1);
        assert_true(c.first == 1.0f / (float)c.n_beat);
    }
    assert_int_equal(step_clock_of(ATTN_SCORES, gpt2_of(14)).beats_a_row, 14);
    assert_int_equal(step_clock_of(ATTN_SCORES, gpt2_of(15)).beats_a_row, 1);
}

/* Calls check on every stage at both scales and many counts of tokens. */
static void for_every_clock(void (*check)(const struct step_clock *c))
{
    static const int n_tok[] = {1, 2, 3, 4, 5, 14, 15, 24, 25, 26, 64, 1023, 1024};
    for (int k = 0; k < ATTN_STAGE_COUNT; k++)
        for (int i = 0; i < 13; i++)
            for (int scale = 0; scale < 2; scale++) {
                struct step_clock c = step_clock_of(
                    (enum attn_stage)k, scale ? gpt2_of(n_tok[i]) : toy_of(n_tok[i]));
                check(&c);
            }
}

static void check_durations(const struct step_clock *c)
{
    assert_true(c->seconds > 0.0f && c->seconds <= 3.0f && c->n_beat >= 1);
    assert_true(c->intro >= 0.0f && c->outro >= 0.0f && c->intro + c->outro < 0.5f);
    assert_true(c->first > 0.0f && c->first <= 1.0f);
    assert_true(step_beat_start(c, 0) == c->intro);
    assert_true(step_beat_start(c, c->n_beat) == 1.0f - c->outro);
    float beats = 1.0f - c->intro - c->outro, last = beats * 1.0001f;
    assert_true(fabsf(step_beat_start(c, 1) - c->intro - c->first * beats) < 1e-6f);
    for (int k = 0; k < c->n_beat; k++) {
        float takes = step_beat_start(c, k + 1) - step_beat_start(c, k);
        assert_true(takes > 0.0f && takes <= last + 2e-7f); /* two roundings near 1 */
        last = takes;
    }
}

static void beats_never_slow_down(void **state)
{
    (void)state;
    for_every_clock(check_durations);
}

static void check_inverse(const struct step_clock *c)
{
    for (int k = 0; k <= c->n_beat; k++) {
        float from = step_beat_start(c, k);
        struct step_beat b = step_beat_at(c, from);
        assert_int_equal(b.at, k);
        assert_true(b.part == 0.0f && b.intro == 1.0f);
        if (from == 0.0f) continue;
        b = step_beat_at(c, nextafterf(from, 0.0f));
        assert_int_equal(b.at, k > 0 ? k - 1 : 0);
        assert_true(k == 0 ? b.intro > 0.999f : b.part > 0.99f);
    }
}

static void beat_and_start_are_inverse(void **state)
{
    (void)state;
    for_every_clock(check_inverse);
}

/* Intro, beats done and outro in one number that grows with time. */
static double progress(const struct step_clock *c, float t)
{
    struct step_beat b = step_beat_at(c, t);
    assert_true(b.part >= 0.0f && b.part < 1.0f);
    assert_true(b.intro >= 0.0f && b.intro <= 1.0f && b.outro >= 0.0f && b.outro <= 1.0f);
    assert_true(b.intro == 1.0f || (b.at == 0 && b.part == 0.0f));
    assert_true(b.outro == 0.0f || b.at == c->n_beat);
    return (double)b.intro * (c->intro > 0.0f) +
           ((double)b.at + (double)b.part) / c->n_beat +
           (double)b.outro * (c->outro > 0.0f);
}

static void check_progress(const struct step_clock *c)
{
    enum { STEPS = 4000 };
    double last = progress(c, 0.0f);
    assert_true(last == 0.0);
    for (int k = 1; k <= STEPS; k++) {
        double now = progress(c, (float)k / STEPS);
        /* steepest: an intro of 0.1, or beats that take 0.4 of their mean time */
        assert_true(now >= last && now - last <= 10.5 / STEPS);
        last = now;
    }
    struct step_beat end = step_beat_at(c, 1.0f);
    assert_true(end.at == c->n_beat && end.part == 0.0f);
    assert_true(end.intro == 1.0f && end.outro == 1.0f);
}

static void the_animation_is_continuous_and_never_goes_back(void **state)
{
    (void)state;
    for_every_clock(check_progress);
}

static void scaling_moves_all_cells_at_once(void **state)
{
    (void)state;
    struct step_clock c = step_clock_of(ATTN_SCALE, toy_of(5));
    for (int k = 0; k < 100; k++) {
        float t = (float)k / 100;
        struct step_beat b = step_beat_at(&c, t);
        assert_true(b.at == 0 && b.part == t);
    }
}

static void the_first_product_is_slow_enough_to_read(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) { /* stages 1 and 2 */
        struct step_clock c = step_clock_of((enum attn_stage)k, toy_of(5));
        float first = (step_beat_start(&c, 1) - step_beat_start(&c, 0)) * c.seconds;
        assert_true(first > 0.6f);
    }
}

static void easing_is_slow_at_both_ends(void **state)
{
    (void)state;
    assert_true(step_ease(0.0f) == 0.0f && step_ease(1.0f) == 1.0f);
    assert_true(step_ease(0.5f) == 0.5f);
    for (int k = 1; k <= 100; k++)
        assert_true(step_ease((float)k / 100) > step_ease((float)(k - 1) / 100));
    assert_true(step_ease(0.01f) < 0.001f && step_ease(0.99f) > 0.999f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_state_is_the_toy_at_stage_1),
        cmocka_unit_test(next_finishes_an_animation_before_it_goes_on),
        cmocka_unit_test(back_shows_the_former_stage_finished),
        cmocka_unit_test(back_then_next_restores_the_state),
        cmocka_unit_test(go_plays_one_stage_and_stops),
        cmocka_unit_test(restart_plays_the_stage_again),
        cmocka_unit_test(play_pauses_and_goes_on_where_it_was),
        cmocka_unit_test(play_at_the_end_of_a_stage_starts_the_next),
        cmocka_unit_test(scrub_pauses_and_refuses_what_is_no_time),
        cmocka_unit_test(a_finished_stage_is_shown_before_the_next),
        cmocka_unit_test(playing_on_stops_behind_the_last_stage),
        cmocka_unit_test(one_long_tick_is_many_short_ones),
        cmocka_unit_test(a_clock_that_slips_changes_nothing),
        cmocka_unit_test(speeds_are_the_listed_ones),
        cmocka_unit_test(sources_are_ranked_and_cut_as_listed),
        cmocka_unit_test(micro_steps_stop_at_every_beat_and_come_back),
        cmocka_unit_test(a_micro_step_shows_whole_beats),
        cmocka_unit_test(a_micro_step_pauses_even_at_the_end),
        cmocka_unit_test(each_scale_keeps_its_own_place),
        cmocka_unit_test(fewer_tokens_bring_row_and_pin_back_inside),
        cmocka_unit_test(rolling_never_gives_the_same_seed_or_zero),
        cmocka_unit_test(rows_and_heads_stay_inside),
        cmocka_unit_test(shift_selects_from_where_one_began),
        cmocka_unit_test(ctrl_selects_one_more_or_one_less),
        cmocka_unit_test(several_rows_and_a_pinned_cell_do_not_go_together),
        cmocka_unit_test(fewer_tokens_take_selected_rows_away),
        cmocka_unit_test(two_heads_are_paired_where_there_are_scores),
        cmocka_unit_test(choosing_a_row_unpins_the_cell),
        cmocka_unit_test(a_cell_is_pinned_where_it_exists),
        cmocka_unit_test(pinning_the_pinned_cell_unpins_it),
        cmocka_unit_test(hover_ends_where_the_stage_changes),
        cmocka_unit_test(toggles_flip_one_thing_each),
        cmocka_unit_test(zoom_keeps_the_point_under_the_pointer),
        cmocka_unit_test(views_that_are_no_view_are_refused),
        cmocka_unit_test(pan_view_and_fit_set_what_they_say),
        cmocka_unit_test(theme_and_focus_are_set),
        cmocka_unit_test(ui_size_walks_along_its_steps),
        cmocka_unit_test(escape_closes_one_layer_at_a_time),
        cmocka_unit_test(a_verb_that_is_none_is_refused),
        cmocka_unit_test(actions_beyond_the_room_are_dropped),
        cmocka_unit_test(the_state_is_sound_and_repeatable_whatever_is_done),
        cmocka_unit_test(the_toy_is_computed_cell_by_cell),
        cmocka_unit_test(gpt2_sweeps_whole_rows),
        cmocka_unit_test(beats_never_slow_down),
        cmocka_unit_test(beat_and_start_are_inverse),
        cmocka_unit_test(the_animation_is_continuous_and_never_goes_back),
        cmocka_unit_test(scaling_moves_all_cells_at_once),
        cmocka_unit_test(the_first_product_is_slow_enough_to_read),
        cmocka_unit_test(easing_is_slow_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + step_broken_tests() +
           step_decode_tests() + step_given_tests();
}
