/* scene: what holds of every scene. Where things lie, figures, motion, picking, text,
 * colour, extremes and the golden dumps have files of their own. */
#include "scene_case.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- purity -------------------------------------------------------------------------------- */

static const float some_times[] = {0, 0.06f, 0.2f, 0.5f, 0.77f, 0.95f, 1};
enum { SOME_TIMES = sizeof some_times / sizeof *some_times };

static void the_same_inputs_give_the_same_scene(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int t = 0; t < SOME_TIMES; t++) {
                memset(c.frame_mem.data, 0, c.frame_mem.size);
                case_show(&c, (enum attn_stage)s, some_times[t], 1280, 800);
                char *first = case_dump_kept(&c);
                uint64_t look = scene_look(&c.sc);
                /* 0xFF: NaN as a float, -1 as an int, no end as a text */
                memset(c.frame_mem.data, 0xFF, c.frame_mem.size);
                case_show(&c, (enum attn_stage)s, some_times[t], 1280, 800);
                if (strcmp(first, case_dump(&c)) != 0)
                    fail_msg("%s: not the same again", case_where(&c).text);
                assert_true(scene_look(&c.sc) == look);
                free(first);
            }
        case_close(&c);
    }
}

/* The look with one thing of an item changed; the item is as it was then. */
static uint64_t look_with(struct scene_case *c, struct scene_item *it, int what)
{
    static char other[] = "other";
    const struct scene_item was = *it;
    if (what == 0) it->clip.w = -1; /* a large one plus 1 is the same float */
    if (what == 1) it->kind = it->kind == SCENE_RECT ? SCENE_LINE : SCENE_RECT;
    if (what == 2 && it->kind == SCENE_RECT) it->u.rect.fill.g ^= 1;
    if (what == 2 && it->kind == SCENE_POLY) it->u.poly.y[it->u.poly.n - 1] = -1e6f;
    if (what == 2 && it->kind == SCENE_LINE) it->u.line.dash = 1e6f;
    if (what == 2 && it->kind == SCENE_TEXT) it->u.text.text = other;
    if (what == 2 && it->kind == SCENE_HEAT) it->u.heat.shown--;
    if (what == 3 && it->kind == SCENE_TEXT) it->u.text.turned = !it->u.text.turned;
    if (what == 3 && it->kind == SCENE_HEAT) it->u.heat.key++;
    uint64_t look = scene_look(&c->sc);
    *it = was;
    return look;
}

static void whatever_is_drawn_is_part_of_the_look(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    int n[SCENE_HEAT + 1] = {0};
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        case_show(&c, (enum attn_stage)s, 0.5f, 1280, 800);
        const float corner[3] = {10, 20, 30};
        (void)scene_triangle(&c.sc, corner, corner, scene_token_hue(s));
        const uint64_t look = scene_look(&c.sc);
        for (int i = 0; i < c.sc.n; i++) {
            struct scene_item *it = &c.sc.items[i];
            n[it->kind]++;
            bool more = it->kind == SCENE_TEXT || it->kind == SCENE_HEAT;
            for (int what = 0; what < (more ? 4 : 3); what++)
                assert_true(look_with(&c, it, what) != look);
            it->hit.id++; /* nobody sees it */
            assert_true(scene_look(&c.sc) == look);
        }
    }
    for (int k = 0; k <= SCENE_HEAT; k++) assert_true(n[k] > 0);
    float cell[2] = {1.0f, 2.0f};
    struct scene_heat unkept = {.m = {cell, 1, 2, 2}, .alpha = 1};
    (void)scene_heat(&c.sc, &unkept);
    const uint64_t look = scene_look(&c.sc);
    cell[1] = 3.0f;
    assert_true(scene_look(&c.sc) != look);
    case_close(&c);
}

static void building_changes_neither_state_nor_run(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    struct step_state s;
    struct scene_source src;
    for (int k = 0; k < ATTN_STAGE_COUNT * SOME_TIMES; k++) {
        c.state.stage = (enum attn_stage)(k / SOME_TIMES);
        c.state.time = some_times[k % SOME_TIMES];
        memcpy(&s, &c.state, sizeof s);
        memcpy(&src, &c.src, sizeof src);
        struct attn_stats before = attn_stats_of(attn_trace_view(&c.trace, ATTN_Y, 0));
        case_build(&c, 1024, 640);
        assert_memory_equal(&s, &c.state, sizeof s);
        assert_memory_equal(&src, &c.src, sizeof src);
        struct attn_stats after = attn_stats_of(attn_trace_view(&c.trace, ATTN_Y, 0));
        assert_memory_equal(&before, &after, sizeof before);
    }
    case_close(&c);
}

/* ---- room ----------------------------------------------------------------------------------- */

static void a_scene_never_runs_out_of_its_room(void **state)
{
    (void)state;
    static const int n_tok[] = {0 /* toy */, 1, 2, 14, 64, 200, 1000, 1024};
    for (int k = 0; k < 8; k++) {
        struct scene_case c;
        case_open(&c, k ? STEP_GPT2 : STEP_TOY);
        if (k) case_tokens(&c, n_tok[k]);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int t = 0; t < SOME_TIMES; t++)
                for (int size = 0; size < CASE_SIZES; size++) /* fails where it is full */
                    case_show(&c, (enum attn_stage)s, some_times[t], case_sizes[size].w,
                              case_sizes[size].h);
        case_close(&c);
    }
}

/* Builds in an arena of so many bytes. -1: refused; 0: full; 1: complete. */
static int build_in(struct scene_case *c, size_t bytes)
{
    struct arena mem;
    struct err e = {0};
    assert_true(arena_init(&mem, bytes, &e));
    int result = -1;
    if (scene_begin(&c->sc, &mem, &c->font, c->state.theme, 1280, 800, &e)) {
        scene_build(&c->sc, &c->state, &c->src);
        result = !c->sc.full;
        assert_true(c->sc.n > 0 && c->sc.n <= c->sc.room);
        for (int i = 0; i < c->sc.n; i++) /* whatever is there can be looked at */
            (void)scene_item_box(&c->sc, &c->sc.items[i]);
        (void)scene_pick(&c->sc, 640, 300);
    } else {
        assert_int_equal(e.code, ERR_SYSTEM);
        assert_true(strlen(e.text) > 0);
    }
    arena_free(&mem);
    return result;
}

static void too_little_memory_fails_cleanly(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    size_t items = (SCENE_ROOM + 1) * sizeof(struct scene_item);
    for (size_t bytes = 0; bytes < items; bytes = bytes ? bytes * 8 : 64)
        assert_int_equal(build_in(&c, bytes), -1);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        c.state.stage = (enum attn_stage)s;
        c.state.time = 0.6f;
        bool complete = false;
        for (size_t text = 0; !complete; text += 64) {
            assert_true(text <= scene_bytes());
            int result = build_in(&c, items + text);
            complete = result == 1;
            if (text == 0) assert_int_not_equal(result, 1);
        }
    }
    case_close(&c);
}

static void a_full_list_is_marked_and_stays_sound(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.state.stage = ATTN_PROJECTIONS;
    case_build(&c, 1280, 800);
    int all = c.sc.n;
    for (int room = 0; room <= all; room++) {
        struct err e;
        arena_reset(&c.frame_mem);
        assert_true(scene_begin(&c.sc, &c.frame_mem, &c.font, STEP_LIGHT, 1280, 800, &e));
        c.sc.room = room;
        scene_build(&c.sc, &c.state, &c.src);
        assert_int_equal(c.sc.full, room < all);
        assert_int_equal(c.sc.n, room);
    }
    case_close(&c);
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static bool has_text(const struct scene *sc, const char *part)
{
    for (int i = 0; i < sc->n; i++)
        if (sc->items[i].kind == SCENE_TEXT && strstr(sc->items[i].u.text.text, part))
            return true;
    return false;
}

static void without_a_run_the_stage_says_that_it_computes(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        c.src = (struct scene_source){.progress = 0.4f, .label = "", .attn = &c.attn};
        case_show(&c, (enum attn_stage)s, 0.5f, 1024, 640);
        assert_true(has_text(&c.sc, "computing"));
        assert_true(has_text(&c.sc, scene_stage_text_of((enum attn_stage)s).title));
        for (int i = 0; i < c.sc.n; i++)
            assert_int_not_equal(c.sc.items[i].kind, SCENE_HEAT);
    }
    case_close(&c);
}

/* The run on screen is another seed's, of the same size: it may stay, but says nothing. */
static void a_run_that_does_not_fit_shows_no_figures_and_no_live_cells(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.src.fits = false;
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t < SOME_TIMES; t++) {
            case_show(&c, (enum attn_stage)s, some_times[t], 1280, 800);
            for (int i = 0; i < c.sc.n; i++) {
                const struct scene_item *it = &c.sc.items[i];
                assert_int_not_equal(it->hit.kind, HIT_CELLS);
                if (it->kind != SCENE_TEXT) continue;
                struct figure_read r = figure_read(it->u.text.text);
                if (r.kind == FIGURE_NUMBER && r.decimals > 0 &&
                    it->clip.w <= c.sc.canvas.w && it->u.text.size > 11)
                    fail_msg("%s: \"%s\"", case_where(&c).text, it->u.text.text);
            }
        }
    case_close(&c);
}

/* ---- words -------------------------------------------------------------------------------------- */

/* The cost line is the last text that scene_build pushes. */
static const char *cost_line(struct scene_case *c, enum attn_stage stage)
{
    case_show(c, stage, 1, 1920, 1080);
    return c->sc.items[c->sc.n - 1].u.text.text;
}

/* Reads "1,920", "12.6 M" or "3.62 G" at text: its value, and what rounding may have
 * taken. */
static void read_amount(const char *text, double *value, double *half)
{
    double v = 0, place = 1;
    bool point = false;
    for (; *text && strchr("0123456789,.", *text); text++) {
        if (*text == '.') point = true;
        if (*text < '0' || *text > '9') continue;
        v = v * 10 + (*text - '0');
        if (point) place *= 10;
    }
    text += strspn(text, " ");
    double step = *text == 'G' ? 1e9 : *text == 'M' ? 1e6 : *text == 'k' ? 1e3 : 1;
    *value = v / place * step;
    *half = step == 1 ? 0 : 0.5 * step / place * (1 + 1e-9);
}

/* The next amount with this unit, "3.62 GFLOPs" being 3.62e9 FLOPs; *text goes behind it.
 * false: none is left. */
static bool next_amount(const char **text, const char *unit, double *value, double *half)
{
    for (const char *at = strstr(*text, unit); at; at = strstr(at + 1, unit)) {
        const char *from = at;
        while (from > *text && strchr("0123456789,. GMk", from[-1])) from--;
        from += strspn(from, " ,");
        if (*from < '0' || *from > '9') continue; /* "no FLOPs" */
        read_amount(from, value, half);
        *text = at + strlen(unit);
        return true;
    }
    return false;
}

static void check_amount(const char *line, const char **at, const char *unit,
                         uint64_t want)
{
    double v, half;
    if (!next_amount(at, unit, &v, &half) || fabs(v - (double)want) > half)
        fail_msg("\"%s\": not %" PRIu64 " %s", line, want, unit);
}

static void check_costs(struct attn_dims d, enum attn_stage s, const char *line,
                        const char **at)
{
    struct attn_cost cost = attn_cost_of(d, s);
    uint64_t n = (uint64_t)d.n_tok;
    switch (s) {
    case ATTN_MASK:
        assert_int_equal(cost.flops_dense, 0);
        check_amount(line, at, "cells", (uint64_t)d.n_head * n * (n - 1) / 2);
        return;
    case ATTN_SOFTMAX:
        check_amount(line, at, "exps", cost.exps);
        check_amount(line, at, "FLOPs", cost.flops_dense);
        return;
    case ATTN_SCORES:
    case ATTN_WEIGHTED_SUM:
        check_amount(line, at, "FLOPs", cost.flops_dense);
        check_amount(line, at, "causal", cost.flops_causal);
        return;
    default:
        check_amount(line, at, "FLOPs", cost.flops_dense);
    }
}

static void cost_lines_say_what_the_kernels_count(void **state)
{
    (void)state;
    static const int n_tok[] = {0 /* toy */, 1, 2, 64, 333, 1024};
    static const struct attn_dims full = {1024, 768, 12};
    for (int k = 0; k < 6; k++) {
        struct scene_case c;
        case_open(&c, k ? STEP_GPT2 : STEP_TOY);
        if (k) case_tokens(&c, n_tok[k]);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
            const char *line = cost_line(&c, (enum attn_stage)s), *at = line;
            check_costs(case_place(&c)->dims, (enum attn_stage)s, line, &at);
            if (case_place(&c)->dims.n_tok != full.n_tok) /* and GPT-2's */
                check_costs(full, (enum attn_stage)s, line, &at);
        }
        case_close(&c);
    }
}

static void gpt2_at_1024_costs_what_the_design_says(void **state)
{
    (void)state;
    static const char *const says[ATTN_STAGE_COUNT][2] = {
        {"3.62 GFLOPs", NULL},          /* 6 N d^2 */
        {"1.61 GFLOPs", "causal"},      /* 2 N^2 d */
        {"12.6 MFLOPs", NULL},          /* N^2 H */
        {"6.29 M cells", NULL},         /* N (N - 1) / 2 H */
        {"6.30 M exps", "50.3 MFLOPs"}, /* N (N + 1) / 2 H, 4 N^2 H */
        {"1.61 GFLOPs", "causal"},      /* 2 N^2 d */
        {"1.21 GFLOPs", NULL},          /* 2 N d^2 */
    };
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    case_tokens(&c, 1024);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        const char *line = cost_line(&c, (enum attn_stage)s);
        for (int k = 0; k < 2; k++)
            if (says[s][k] && !strstr(line, says[s][k]))
                fail_msg("\"%s\": no \"%s\"", line, says[s][k]);
    }
    case_close(&c);
}

static void what_is_switched_off_is_said(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.state.opts = (struct attn_opts){0};
    case_run(&c);
    static const enum attn_stage stages[] = {ATTN_SCALE, ATTN_MASK, ATTN_OUTPUT};
    for (int k = 0; k < 3; k++) {
        case_show(&c, stages[k], 1, 1440, 900);
        assert_true(has_text(&c.sc, "switched off"));
    }
    c.state.opts = attn_opts_default();
    case_run(&c);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        case_show(&c, (enum attn_stage)s, 1, 1440, 900);
        assert_false(has_text(&c.sc, "switched off"));
    }
    case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_inputs_give_the_same_scene),
        cmocka_unit_test(whatever_is_drawn_is_part_of_the_look),
        cmocka_unit_test(building_changes_neither_state_nor_run),
        cmocka_unit_test(a_scene_never_runs_out_of_its_room),
        cmocka_unit_test(too_little_memory_fails_cleanly),
        cmocka_unit_test(a_full_list_is_marked_and_stays_sound),
        cmocka_unit_test(without_a_run_the_stage_says_that_it_computes),
        cmocka_unit_test(a_run_that_does_not_fit_shows_no_figures_and_no_live_cells),
        cmocka_unit_test(cost_lines_say_what_the_kernels_count),
        cmocka_unit_test(gpt2_at_1024_costs_what_the_design_says),
        cmocka_unit_test(what_is_switched_off_is_said),
    };
    int failed = cmocka_run_group_tests_name("scene", tests, NULL, NULL);
    failed += scene_layout_tests() + scene_figure_tests() + scene_motion_tests();
    failed += scene_pick_tests() + scene_text_tests() + scene_glyphs_tests() +
              scene_color_tests();
    failed += scene_extreme_tests() + scene_golden_tests() + scene_overview_tests();
    failed += scene_decode_tests();
    return failed != 0;
}
