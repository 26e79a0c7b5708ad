/* scene: animation is a function of stage and time; what has been shown stays; the mask. */
#include "scene_case.h"

#include "../src/scene/layout.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TICKS = 200 };

/* Whether a tensor is what the stage computes; in stage 7 the sum takes the product's
 * place. */
static int result_group(enum attn_stage s, enum attn_tensor t)
{
    const struct stage_spec *spec = &scene_stages[s];
    if (spec->adds && t == spec->sum) return 0;
    for (int g = 0; g < spec->n_group; g++)
        if (spec->result[g] == t) return g;
    return -1;
}

/* Which cells of the results are shown: shown[group][i * cols + j]. */
struct results {
    int rows, cols;
    unsigned char *shown[STAGE_GROUPS];
};

static void results_new(struct results *r, const struct scene_case *c)
{
    struct attn_cmat m =
        scene_tensor_view(&c->src, scene_stages[c->state.stage].result[0]);
    *r = (struct results){.rows = m.rows, .cols = m.cols};
    for (int g = 0; g < STAGE_GROUPS; g++) {
        r->shown[g] = calloc((size_t)m.rows * (size_t)m.cols, 1);
        if (!r->shown[g]) fail_msg("out of memory");
    }
}

static void results_free(struct results *r)
{
    for (int g = 0; g < STAGE_GROUPS; g++) free(r->shown[g]);
}

static void results_read(struct results *r, const struct scene_case *c)
{
    size_t all = (size_t)r->rows * (size_t)r->cols;
    for (int g = 0; g < STAGE_GROUPS; g++) memset(r->shown[g], 0, all);
    for (int k = 0; k < c->sc.n; k++) {
        const struct scene_item *it = &c->sc.items[k];
        if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) continue;
        int g = result_group(c->state.stage, it->hit.tensor);
        if (g < 0 || !r->shown[g]) continue;
        const struct scene_heat *t = &it->u.heat;
        int64_t n = 0;
        for (int i = t->row0; i < t->row1; i++)
            for (int j = t->col0; j < t->col1 && n < t->shown; j++, n++)
                r->shown[g][(size_t)i * (size_t)r->cols + (size_t)j] = 1;
    }
}

static int64_t results_count(const struct results *r, int groups)
{
    int64_t n = 0;
    for (int g = 0; g < groups; g++)
        for (int64_t k = 0; k < (int64_t)r->rows * r->cols; k++) n += r->shown[g][k];
    return n;
}

static void run_stage(struct scene_case *c, enum attn_stage s)
{
    int groups = scene_stages[s].n_group;
    struct results before, now;
    c->state.stage = s;
    results_new(&before, c);
    results_new(&now, c);
    int64_t all = (int64_t)now.rows * now.cols;
    for (int t = 0; t <= TICKS; t++) {
        case_show(c, s, (float)t / TICKS, 1280, 800);
        results_read(&now, c);
        if (t == 0 && results_count(&now, groups) != 0)
            fail_msg("%s: part of the result is shown", case_where(c).text);
        for (int g = 0; g < groups; g++)
            for (int64_t k = 0; k < all; k++)
                if (before.shown[g][k] && !now.shown[g][k])
                    fail_msg("%s: a cell of the result has gone", case_where(c).text);
        struct results swap = before;
        before = now;
        now = swap;
    }
    if (results_count(&before, groups) != all * groups)
        fail_msg("%s: the result is not complete", case_where(c).text);
    results_free(&before);
    results_free(&now);
}

/* Stage 4's mask covers a result that is there at once; the others start with none. */
static void a_result_appears_cell_by_cell_and_stays(void **state)
{
    (void)state;
    for (int o = 0; o < 8; o++) {
        struct scene_case c;
        case_open(&c, STEP_TOY);
        c.state.opts = case_opts(o);
        case_run(&c);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) run_stage(&c, (enum attn_stage)s);
        case_close(&c);
    }
}

static void rows_sweep_at_gpt2s_size_and_stay(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) run_stage(&c, (enum attn_stage)s);
    case_close(&c);
}

/* Times reached forwards, backwards or by a jump are the same picture. */
static void a_time_is_one_picture_however_it_is_reached(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        case_show(&c, (enum attn_stage)s, 0.4f, 1280, 800);
        char *first = case_dump_kept(&c);
        assert_true(step_apply(&c.state,
                               (struct step_action){.verb = STEP_GO, .i = (s + 3) % 7}));
        (void)step_tick(&c.state, 0.7f);
        case_build(&c, 1280, 800);
        assert_true(step_apply(&c.state, (struct step_action){.verb = STEP_GO, .i = s}));
        (void)step_tick(&c.state, 5);
        case_build(&c, 1280, 800);
        assert_true(
            step_apply(&c.state, (struct step_action){.verb = STEP_SCRUB, .x = 0.4f}));
        case_build(&c, 1280, 800);
        assert_string_equal(first, case_dump(&c));
        free(first);
    }
    case_close(&c);
}

/* ---- stage 3 --------------------------------------------------------------------------------- */

static const struct scene_heat *score_heat(const struct scene_case *c)
{
    const struct scene_heat *found = NULL;
    for (int k = 0; k < c->sc.n; k++) {
        const struct scene_item *it = &c->sc.items[k];
        if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) continue;
        if (it->hit.tensor < ATTN_S_RAW || it->hit.tensor > ATTN_P) continue;
        assert_null(found);
        found = &it->u.heat;
    }
    assert_non_null(found);
    return found;
}

static float value_at(const struct scene_heat *t, int i, int j)
{
    return t->m.data[(size_t)i * (size_t)t->m.ld + (size_t)j] * t->gain;
}

static void fading_keeps_one_colour_range(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        float hi = c.trace.stats[ATTN_S_RAW].max_abs;
        for (int s = ATTN_SCORES; s <= ATTN_MASK; s++)
            for (int t = 0; t <= TICKS; t++) {
                case_show(&c, (enum attn_stage)s, (float)t / TICKS, 1280, 800);
                const struct scene_heat *heat = score_heat(&c);
                assert_int_equal(heat->map, MAP_DIVERGING);
                assert_true(heat->lo == -hi && heat->hi == hi);
            }
        case_close(&c);
    }
}

/* Every number runs from s to s / sqrt(d_head), never back and never beyond. */
static void fading_numbers_lie_between_before_and_after(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        int n = c.trace.dims.n_tok;
        double by = sqrt((double)attn_d_head(c.trace.dims));
        float last = 1;
        for (int t = 0; t <= TICKS; t++) {
            case_show(&c, ATTN_SCALE, (float)t / TICKS, 1280, 800);
            const struct scene_heat *heat = score_heat(&c);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double s = (double)c.trace.s_raw.data[i * c.trace.s_raw.ld + j];
                    double v = (double)value_at(heat, i, j);
                    double eps = 1e-6 * fabs(s);
                    assert_true(v * s >= 0 && fabs(v) <= fabs(s) + eps);
                    assert_true(fabs(v) >= fabs(s) / by - eps);
                }
            float now = value_at(heat, 0, 0) / c.trace.s_raw.data[0];
            assert_true(now <= last + 1e-6f && last - now < 0.02f); /* no jump */
            last = now;
            if (t == 0) assert_true(now == 1);
        }
        assert_true(fabs((double)last - 1 / by) < 1e-6);
        case_close(&c);
    }
}

static void switched_off_scaling_moves_no_number(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.state.opts.scale = false;
    case_run(&c);
    for (int t = 0; t <= TICKS; t++) {
        case_show(&c, ATTN_SCALE, (float)t / TICKS, 1280, 800);
        const struct scene_heat *heat = score_heat(&c);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                assert_true(value_at(heat, i, j) ==
                            c.trace.s_raw.data[i * c.trace.s_raw.ld + j]);
    }
    case_close(&c);
}

/* ---- the mask ------------------------------------------------------------------------------------ */

static void the_mask_hatches_the_future_and_nothing_else(void **state)
{
    (void)state;
    static const int n_tok[] = {0 /* toy */, 1, 2, 64, 1024};
    for (int k = 0; k < 5; k++) {
        struct scene_case c;
        case_open(&c, k ? STEP_GPT2 : STEP_TOY);
        if (k) case_tokens(&c, n_tok[k]);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
            case_show(&c, (enum attn_stage)s, 1, 1280, 800);
            for (int i = 0; i < c.sc.n; i++) {
                const struct scene_item *it = &c.sc.items[i];
                if (it->kind != SCENE_HEAT) continue;
                enum attn_tensor t = it->hit.tensor;
                bool masked =
                    it->hit.kind == HIT_CELLS && (t == ATTN_S_MASKED || t == ATTN_P);
                /* j > i is j - i >= 1 */
                assert_int_equal(it->u.heat.mask_from, masked ? 1 : INT_MAX);
            }
        }
        case_close(&c);
    }
}

static void without_the_mask_nothing_is_hatched(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        c.state.opts.causal = false;
        case_run(&c);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int t = 0; t <= 50; t++) {
                case_show(&c, (enum attn_stage)s, (float)t / 50, 1280, 800);
                for (int i = 0; i < c.sc.n; i++)
                    if (c.sc.items[i].kind == SCENE_HEAT)
                        assert_int_equal(c.sc.items[i].u.heat.mask_from, INT_MAX);
            }
        case_close(&c);
    }
}

/* Stage 4: the future goes diagonal by diagonal, the farthest first. */
static void the_future_goes_diagonal_by_diagonal(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    int last = 5, seen = 0;
    for (int t = 0; t <= TICKS; t++) {
        case_show(&c, ATTN_MASK, (float)t / TICKS, 1280, 800);
        int from = score_heat(&c)->mask_from;
        assert_true(from >= 1 && from <= last && from >= last - 1);
        seen += from < last;
        last = from;
    }
    assert_int_equal(last, 1);
    assert_int_equal(seen, 4);
    case_close(&c);
}

/* ---- the cell in the making ------------------------------------------------------------------------ */

/* Sum of the first n terms of cell (i, j) of a stage's group. */
static float sum_so_far(const struct scene_case *c, const struct stage_spec *spec,
                        int group, int i, int j, int n)
{
    struct attn_cmat a = scene_tensor_view(&c->src, spec->left);
    struct attn_cmat b = scene_tensor_view(&c->src, spec->right[group]);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a.data[i * a.ld + k] *
               (spec->right_transposed ? b.data[j * b.ld + k] : b.data[k * b.ld + j]);
    return sum;
}

/* The figures of the cells at work, one a group, in order; returns how many there are. */
static int check_running(struct scene_case *c, enum attn_stage s, struct step_beat beat,
                         int cols)
{
    const struct stage_spec *spec = &scene_stages[s];
    struct attn_cmat a = scene_tensor_view(&c->src, spec->left);
    int n = scene_terms(beat.part, a.cols), group = 0;
    for (int m = 0; n > 0 && m + 1 < c->sc.n; m++) {
        const struct scene_item *it = &c->sc.items[m];
        if (it->kind != SCENE_HEAT || it->hit.kind == HIT_CELLS ||
            it->u.heat.m.rows != 1 || it->u.heat.m.cols != 1)
            continue;
        float sum = sum_so_far(c, spec, group, beat.at / cols, beat.at % cols, n);
        assert_int_equal(it[1].kind, SCENE_TEXT);
        const char *text = it[1].u.text.text;
        bool nearly = strcmp(text, "\u22480") == 0 && sum != 0 && fabsf(sum) < 0.5f;
        if (!nearly && !figure_is(text, (double)sum))
            fail_msg("%s: \"%s\" is not %.9g", case_where(c).text, text, (double)sum);
        group++;
    }
    return group;
}

static void the_cell_in_the_making_reads_the_sum_so_far(void **state)
{
    (void)state;
    static const enum attn_stage stages[] = {ATTN_PROJECTIONS, ATTN_SCORES, ATTN_OUTPUT};
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int k = 0; k < 3; k++) {
        struct step_clock clock = step_clock_of(stages[k], c.trace.dims);
        int looked = 0;
        for (int t = 0; t < 500; t++) {
            float time = (float)t / 500;
            struct step_beat beat = step_beat_at(&clock, time);
            case_show(&c, stages[k], time, 1440, 900);
            if (beat.intro < 1 || beat.at >= clock.n_beat) continue;
            looked += check_running(&c, stages[k], beat, clock.beats_a_row);
        }
        assert_true(looked > 200 * scene_stages[stages[k]].n_group);
    }
    case_close(&c);
}

int scene_motion_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_appears_cell_by_cell_and_stays),
        cmocka_unit_test(rows_sweep_at_gpt2s_size_and_stay),
        cmocka_unit_test(a_time_is_one_picture_however_it_is_reached),
        cmocka_unit_test(fading_keeps_one_colour_range),
        cmocka_unit_test(fading_numbers_lie_between_before_and_after),
        cmocka_unit_test(switched_off_scaling_moves_no_number),
        cmocka_unit_test(the_mask_hatches_the_future_and_nothing_else),
        cmocka_unit_test(without_the_mask_nothing_is_hatched),
        cmocka_unit_test(the_future_goes_diagonal_by_diagonal),
        cmocka_unit_test(the_cell_in_the_making_reads_the_sum_so_far),
    };
    return cmocka_run_group_tests_name("scene motion", tests, NULL, NULL);
}
