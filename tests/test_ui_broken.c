/* ui: with something broken the banner, the correct result beside it and the switches fit
 * in every window; the switches do what they say. */
#include "ui_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A broken run with a right one, and a third in the place of the difference. */
struct broken_case {
    struct ui_case u;
    struct scene_case right, diff;
    struct attn_change change[ATTN_TENSOR_COUNT];
    struct scene_ghost ghost;
};

static void look_for_changes(struct broken_case *b)
{
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++) {
        struct attn_cmat m =
            attn_trace_view(&b->u.c.trace, (enum attn_tensor)i, b->u.c.trace.head);
        b->change[i] = (struct attn_change){m.rows - 1, m.cols - 1, -123.456f, NAN,
                                            (int64_t)m.rows * m.cols};
    }
    b->ghost = (struct scene_ghost){.right = &b->right.trace,
                                    .diff = &b->diff.trace,
                                    .blend = b->right.blend,
                                    .reach = b->right.reach,
                                    .checks = &b->right.checks,
                                    .change = b->change,
                                    .right_version = 77};
    b->u.c.src.ghost = &b->ghost;
}

static void broken_open(struct broken_case *b, enum step_scale scale)
{
    *b = (struct broken_case){0};
    case_open(&b->u.c, scale);
    case_open(&b->right, scale);
    case_open(&b->diff, scale);
    struct attn_opts *o = &b->u.c.state.opts;
    o->shifted = o->no_max = o->no_bias = o->swapped = true;
    o->divisor = ATTN_SQRT_D_MODEL;
    o->precision = ATTN_BFLOAT16;
    o->temperature = 0.3535534f;
    o->silent = 1;
    case_run(&b->u.c);
    look_for_changes(b);
}

static void broken_close(struct broken_case *b)
{
    case_close(&b->u.c);
    case_close(&b->right);
    case_close(&b->diff);
}

static void everything_fits(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct broken_case b;
        broken_open(&b, (enum step_scale)scale);
        for (int k = 0; k < CASE_SIZES * STEP_SEE_COUNT * 2; k++) {
            struct step_state *s = &b.u.c.state;
            s->see = (enum step_see)(k % STEP_SEE_COUNT);
            s->switches = k / STEP_SEE_COUNT % 2;
            s->theme = k % 2 ? STEP_DARK : STEP_LIGHT;
            ui_check_stages(&b.u, case_sizes[k / STEP_SEE_COUNT / 2]);
            assert_true(ui_find_text(&b.u, "X: all correct again") ||
                        ui_find_text(&b.u, "X: all correct"));
        }
        broken_close(&b);
    }
}

/* The banner's hover text has every word, and what it shows is not cut. */
static void the_banner_says_all_of_it(void **state)
{
    static const char *const words[] = {
        "What if: ", "\u00F7 \u221Ad_model", "mask one off: row i sees i + 1",
        "bfloat16",  "row maximum is not",   "biases are left out",
        "Q and K",   "temperature 0.354",    "head 1 is silenced"};
    (void)state;
    for (int k = 0; k < CASE_SIZES; k++) {
        struct broken_case b;
        broken_open(&b, STEP_TOY);
        ui_show(&b.u, case_sizes[k].w, case_sizes[k].h);
        const struct scene_item *banner = NULL;
        for (int i = b.u.n_scene; i < b.u.c.sc.n; i++) {
            const struct scene_item *it = &b.u.c.sc.items[i];
            if (it->hit.tip && strncmp(it->hit.tip, words[0], strlen(words[0])) == 0)
                banner = it;
        }
        assert_non_null(banner);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            assert_non_null(strstr(banner->hit.tip, words[i]));
        struct scene_rect box = scene_item_box(&b.u.c.sc, banner);
        for (int i = b.u.n_scene; i < b.u.c.sc.n; i++) {
            const struct scene_item *it = &b.u.c.sc.items[i];
            bool in = it->kind == SCENE_TEXT && it->u.text.x == box.x &&
                      it->u.text.y > box.y && it->u.text.y < box.y + box.h;
            if (in) assert_null(strstr(it->u.text.text, "\u2026"));
        }
        broken_close(&b);
    }
}

static void the_switches_fit_where_nothing_is_broken(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct ui_case u = {0};
        case_open(&u.c, (enum step_scale)scale);
        u.c.state.switches = true;
        for (int k = 0; k < CASE_SIZES; k++) ui_check_stages(&u, case_sizes[k]);
        assert_null(ui_find_text(&u, "X: all correct again"));
        case_close(&u.c);
    }
}

/* Reaches every choice by the mouse and finds it chosen. */
static void every_switch_can_be_clicked(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    u.c.state.switches = true;
    for (int w = 0; w < STEP_SW_COUNT; w++)
        for (int i = step_choice_count((enum step_switch)w) - 1; i >= 0; i--) {
            ui_show(&u, 1024, 640);
            const struct scene_item *found = NULL;
            for (int k = 0; k < u.c.sc.n; k++) {
                const struct scene_hit *hit = &u.c.sc.items[k].hit;
                if (hit->kind == HIT_ACTION && hit->action.verb == STEP_SWITCH &&
                    hit->action.i == w && hit->action.x == (float)i)
                    found = &u.c.sc.items[k];
            }
            assert_non_null(found);
            struct scene_rect box = scene_item_box(&u.c.sc, found);
            ui_click(&u, box.x + box.w / 2, box.y + box.h / 2);
            ui_apply(&u);
            assert_int_equal(step_choice_of(u.c.state.opts, (enum step_switch)w), i);
        }
    assert_false(step_is_broken(&u.c.state));
    case_close(&u.c);
}

static void the_largest_change_is_named(void **state)
{
    (void)state;
    struct broken_case b;
    broken_open(&b, STEP_TOY);
    b.change[ATTN_P] = (struct attn_change){2, 1, 0.324f, 0.871f, 14};
    b.u.c.state.stage = ATTN_SOFTMAX;
    ui_show(&b.u, 1440, 900);
    assert_non_null(ui_find_text(&b.u, "weight of \u201C\u00B7cat\u201D in row 3"));
    assert_non_null(ui_find_text(&b.u, "0.324 \u2192 0.871"));
    b.change[ATTN_P] = (struct attn_change){2, 1, -123.456f, -654.321f, 14};
    ui_show(&b.u, 1024, 640); /* where that is too wide, shorter and not cut */
    assert_non_null(ui_find_text(&b.u, "A row 3, column 2"));
    assert_non_null(ui_find_text(&b.u, "14 of 25"));
    assert_non_null(ui_find_text(&b.u, "entropy of row 4"));
    b.change[ATTN_P] = (struct attn_change){-1, -1, 0, 0, 0};
    ui_show(&b.u, 1440, 900);
    assert_non_null(ui_find_text(&b.u, "every cell is as it should be"));
    broken_close(&b);
}

/* Looking at the right result, stage, captions and panel are those of a right run. */
/* The title makes room for the banner; its line goes. */
static char *without_title(char *dump)
{
    char *at = strstr(dump, " size 24.0 ");
    assert_non_null(at);
    while (at > dump && at[-1] != '\n') at--;
    char *end = strchr(at, '\n');
    assert_non_null(end);
    memmove(at, end + 1, strlen(end));
    return dump;
}

static void the_right_result_is_shown_as_if_nothing_were_broken(void **state)
{
    (void)state;
    struct broken_case b;
    broken_open(&b, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t <= 2; t++) {
            b.u.c.state.see = STEP_SEE_RIGHT;
            case_show(&b.u.c, (enum attn_stage)s, 0.5f * (float)t, 1440, 900);
            char *seen = case_dump_kept(&b.u.c);
            b.right.src.version = 77;
            case_show(&b.right, (enum attn_stage)s, 0.5f * (float)t, 1440, 900);
            char *right = case_dump_kept(&b.right);
            assert_string_equal(without_title(seen), without_title(right));
            free(right);
            free(seen);
        }
    broken_close(&b);
}

int ui_broken_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_fits),
        cmocka_unit_test(the_banner_says_all_of_it),
        cmocka_unit_test(the_switches_fit_where_nothing_is_broken),
        cmocka_unit_test(every_switch_can_be_clicked),
        cmocka_unit_test(the_largest_change_is_named),
        cmocka_unit_test(the_right_result_is_shown_as_if_nothing_were_broken),
    };
    return cmocka_run_group_tests_name("ui broken", tests, NULL, NULL);
}
