/* scene: the smallest sizes, views far away, numbers that should not be there. */
#include "scene_case.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- sizes -------------------------------------------------------------------------------- */

static void one_token_one_head_and_odd_dims_are_shown_whole(void **state)
{
    (void)state;
    static const struct attn_dims dims[] = {
        {1, 1, 1},  {1, 8, 1},   {2, 2, 2},    {3, 75, 25},
        {5, 80, 1}, {1, 768, 1}, {17, 65, 13}, {64, 400, 25},
    };
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        struct scene_case c;
        case_open_dims(&c, dims[k]);
        for (int o = 0; o < 8; o++) {
            c.state.opts = case_opts(o);
            case_place(&c)->head = o % dims[k].n_head;
            case_run(&c);
            for (int s = 0; s < ATTN_STAGE_COUNT; s++)
                for (int t = 0; t <= 8; t++) {
                    case_show(&c, (enum attn_stage)s, (float)t / 8, 1024, 640);
                    int live = 0;
                    for (int i = 0; i < c.sc.n; i++) {
                        const struct scene_item *it = &c.sc.items[i];
                        if (it->kind != SCENE_HEAT) continue;
                        live += it->hit.kind == HIT_CELLS;
                        assert_true(it->u.heat.cell_w > 0 && it->u.heat.cell_h > 0);
                        assert_true(it->u.heat.row1 <= it->u.heat.m.rows);
                        assert_true(it->u.heat.col1 <= it->u.heat.m.cols);
                    }
                    assert_true(live > 0);
                }
        }
        case_close(&c);
    }
}

static void a_cell_can_be_pinned_and_hovered_in_every_matrix(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        struct step_state first = c.state;
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int t = 0; t < ATTN_TENSOR_COUNT; t++)
                for (int far = 0; far < 2; far++) {
                    struct attn_cmat m = scene_tensor_view(&c.src, (enum attn_tensor)t);
                    struct step_ref ref = {(enum attn_tensor)t, far ? m.rows - 1 : 0,
                                           far ? m.cols - 1 : 0};
                    c.state = first;
                    assert_true(step_apply(
                        &c.state, (struct step_action){.verb = STEP_PIN, .ref = ref}));
                    case_show(&c, (enum attn_stage)s, 1, 1280, 800);
                    assert_true(step_apply(
                        &c.state, (struct step_action){.verb = STEP_HOVER, .ref = ref}));
                    case_show(&c, (enum attn_stage)s, 1, 1280, 800);
                    case_show(&c, (enum attn_stage)s, 0.5f, 1280, 800);
                }
        case_close(&c);
    }
}

/* ---- views ---------------------------------------------------------------------------------- */

/* As far as step allows: every item stays finite, and so does its number. */
static void the_farthest_views_are_sound(void **state)
{
    (void)state;
    static const float zooms[] = {1, 7.3f, 200, 4096},
                       far[] = {0, -5e3f, 5e3f, -1e8f, 1e8f};
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        if (scale == STEP_GPT2) case_tokens(&c, 1024);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int k = 0; k < 4 * 5 * 5; k++) {
                struct step_action a = {.verb = STEP_VIEW,
                                        .x = far[k % 5],
                                        .y = far[k / 5 % 5],
                                        .z = zooms[k / 25]};
                assert_true(step_apply(&c.state, a));
                case_show(&c, (enum attn_stage)s, k % 2 ? 1 : 0.55f, 1024, 640);
                for (int i = 0; i < c.sc.n; i++) {
                    struct scene_rect box = scene_item_box(&c.sc, &c.sc.items[i]);
                    assert_true(isfinite(box.x) && isfinite(box.y) && isfinite(box.w) &&
                                isfinite(box.h));
                }
                (void)scene_pick(&c.sc, 400, 300);
                (void)case_dump(&c);
            }
        case_close(&c);
    }
}

/* ---- numbers that should not be there ------------------------------------------------------------ */

static bool says(const struct scene *sc, const char *text)
{
    for (int i = 0; i < sc->n; i++)
        if (sc->items[i].kind == SCENE_TEXT &&
            strcmp(sc->items[i].u.text.text, text) == 0)
            return true;
    return false;
}

static void nan_is_shown_as_nan_in_every_stage(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.x[19] = NAN;
    case_run(&c);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t <= 40; t++) {
            case_show(&c, (enum attn_stage)s, (float)t / 40, 1440, 900);
            (void)case_dump(&c);
            if (t == 40) assert_true(says(&c.sc, "NaN"));
        }
    case_close(&c);
}

/* An infinity is no mask: it reads as one but is not hatched, and is not masked's ink. */
static void an_infinity_is_shown_as_one(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.x[0] = INFINITY;
    c.x[8 + 1] = -INFINITY;
    case_run(&c);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t <= 40; t++) {
            case_show(&c, (enum attn_stage)s, (float)t / 40, 1440, 900);
            (void)case_dump(&c);
            if (s > 0 || t < 40) continue;
            assert_true(says(&c.sc, "\u221E") && says(&c.sc, "\u2212\u221E"));
            for (int i = 0; i < c.sc.n; i++)
                if (c.sc.items[i].kind == SCENE_HEAT)
                    assert_int_equal(c.sc.items[i].u.heat.mask_from, INT_MAX);
        }
    case_close(&c);
}

static void check_ranges(const struct scene *sc)
{
    for (int i = 0; i < sc->n; i++) {
        const struct scene_heat *h = &sc->items[i].u.heat;
        if (sc->items[i].kind != SCENE_HEAT) continue;
        assert_true(isfinite(h->lo) && isfinite(h->hi) && h->lo < h->hi);
        if (h->map == MAP_DIVERGING) assert_true(h->lo == -h->hi);
        assert_true(isfinite(h->gain));
    }
}

/* Ranges are of the finite numbers, and never empty. */
static void ranges_stay_finite_whatever_the_numbers(void **state)
{
    (void)state;
    static const float spoil[] = {NAN, INFINITY, -INFINITY, 0, 1e38f, 1e-42f, -3e38f};
    for (int k = 0; k < 7; k++)
        for (int all = 0; all < 2; all++) {
            struct scene_case c;
            case_open(&c, STEP_TOY);
            for (int i = 0; i < (all ? 40 : 1); i++) c.x[i] = c.h[i] = spoil[k];
            case_run(&c);
            for (int s = 0; s < ATTN_STAGE_COUNT; s++)
                for (int t = 0; t <= 12; t++) {
                    case_show(&c, (enum attn_stage)s, (float)t / 12, 1024, 640);
                    (void)case_dump(&c);
                    check_ranges(&c.sc);
                }
            case_close(&c);
        }
}

static void gpt2_with_nan_is_sound(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    c.x[(size_t)17 * 768] = NAN;
    c.x[(size_t)30 * 768 + 5] = INFINITY;
    case_run(&c);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t <= 12; t++) {
            case_place(&c)->view = (struct step_view){t % 2 ? 1 : 12, 0, 0};
            case_show(&c, (enum attn_stage)s, (float)t / 12, 1280, 800);
            (void)case_dump(&c);
        }
    case_close(&c);
}

int scene_extreme_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_token_one_head_and_odd_dims_are_shown_whole),
        cmocka_unit_test(a_cell_can_be_pinned_and_hovered_in_every_matrix),
        cmocka_unit_test(the_farthest_views_are_sound),
        cmocka_unit_test(nan_is_shown_as_nan_in_every_stage),
        cmocka_unit_test(an_infinity_is_shown_as_one),
        cmocka_unit_test(ranges_stay_finite_whatever_the_numbers),
        cmocka_unit_test(gpt2_with_nan_is_sound),
    };
    return cmocka_run_group_tests_name("scene extremes", tests, NULL, NULL);
}
