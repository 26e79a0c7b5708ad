/* ui: whom a row takes how much from, by weight and by contribution; the least weight; the
 * next tokens. */
#include "ui_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool in_panel(const struct ui_case *u, const struct scene_item *it)
{
    return it->kind == SCENE_TEXT && it->u.text.x >= u->c.sc.frame.panel.x;
}

static bool shows(const struct ui_case *u, double v)
{
    for (int i = u->n_scene; i < u->c.sc.n; i++) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (in_panel(u, it) && figure_is(it->u.text.text, v)) return true;
    }
    return false;
}

static const float *weights(const struct ui_case *u, int i)
{
    struct attn_cmat p = attn_trace_view(&u->c.trace, ATTN_P, u->c.trace.head);
    return p.data + (size_t)i * p.ld;
}

static void show(struct ui_case *u, enum attn_stage stage, int row, float w, float h)
{
    u->c.state.stage = stage;
    u->c.state.time = 1;
    case_place(&u->c)->row = row;
    ui_show(u, w, h);
}

/* Text "<index> ..." of the source at place k of the list, by where it stands. */
static float height_of(const struct ui_case *u, const char *text)
{
    for (int i = u->n_scene; i < u->c.sc.n; i++) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (in_panel(u, it) && strcmp(it->u.text.text, text) == 0) return it->u.text.y;
    }
    return NAN;
}

static void a_sink_is_seen_for_what_it_is(void **state)
{
    (void)state;
    enum { N = 64, SINK = 3 };
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    /* The largest weight of the row belongs to a value of next to no length. */
    int i = N - 1, top = 0;
    const float *w = weights(&u, i);
    for (int j = 1; j < N; j++)
        if (w[j] > w[top]) top = j;
    u.c.reach[top] = 1e-6f;
    show(&u, ATTN_SOFTMAX, i, 1440, 900);
    char name[16];
    (void)snprintf(name, sizeof name, "%d", top + 1);
    float by_weight = height_of(&u, name);
    ui_key(&u, "w");
    ui_apply(&u);
    assert_int_equal(u.c.state.rank, STEP_RANK_CONTRIBUTION);
    ui_show(&u, 1440, 900);
    assert_false(isnan(by_weight));
    assert_true(isnan(height_of(&u, name))); /* not among the first any more */
    int first = 0;
    for (int j = 1; j < N; j++)
        if (w[j] * u.c.reach[j] > w[first] * u.c.reach[first]) first = j;
    (void)snprintf(name, sizeof name, "%d", first + 1);
    assert_true(fabsf(height_of(&u, name) - by_weight) < 1);
    assert_true(shows(&u, (double)(w[first] * u.c.reach[first])));
    assert_true(shows(&u, (double)w[first]));
    case_close(&u.c);
}

static void contributions_are_beside_the_weights_at_both_scales(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++)
        for (int rank = 0; rank < 2; rank++) {
            struct ui_case u = {0};
            case_open(&u.c, (enum step_scale)scale);
            u.c.state.rank = (enum step_rank)rank;
            int i = case_place(&u.c)->row;
            const float *w = weights(&u, i);
            show(&u, ATTN_WEIGHTED_SUM, i, 1440, 900);
            int best = 0;
            for (int j = 1; j <= i; j++) {
                float a = rank ? w[j] * u.c.reach[j] : w[j];
                if (a > (rank ? w[best] * u.c.reach[best] : w[best])) best = j;
            }
            char text[64];
            (void)snprintf(text, sizeof text, "\u2192 Y %s",
                           scene_number(&u.c.sc, w[best] * u.c.reach[best], 3));
            if (!ui_find_text(&u, text))
                fail_msg("%s: no %s", case_where(&u.c).text, text);
            case_close(&u.c);
        }
}

static void weights_below_the_least_are_folded_and_counted(void **state)
{
    (void)state;
    for (int k = 0; k < CASE_SIZES; k++)
        for (int least = 1; least < STEP_LEASTS; least++) {
            struct ui_case u = {0};
            case_open(&u.c, STEP_GPT2);
            u.c.state.least_weight = step_leasts[least];
            int i = case_place(&u.c)->row, below = 0;
            const float *w = weights(&u, i);
            double sum = 0;
            for (int j = 0; j <= i; j++)
                if (w[j] < step_leasts[least]) {
                    below++;
                    sum += (double)w[j];
                }
            show(&u, ATTN_SOFTMAX, i, case_sizes[k].w, case_sizes[k].h);
            char text[64];
            if (below)
                (void)snprintf(text, sizeof text, "%d below %g, in all", below,
                               (double)step_leasts[least]);
            else
                (void)snprintf(text, sizeof text, "none below %g, in all",
                               (double)step_leasts[least]);
            if (!ui_find_text(&u, text))
                fail_msg("%s: no %s", case_where(&u.c).text, text);
            assert_true(shows(&u, (double)(float)sum));
            show(&u, ATTN_WEIGHTED_SUM, i, case_sizes[k].w, case_sizes[k].h);
            case_close(&u.c);
        }
}

static void the_least_weight_reaches_the_heat_map_and_its_numbers(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    int figures[2] = {0, 0};
    for (int on = 0; on < 2; on++) {
        u.c.state.least_weight = on ? 0.1f : 0;
        show(&u, ATTN_SOFTMAX, 3, 1440, 900);
        bool seen = false;
        for (int i = 0; i < u.n_scene; i++) {
            const struct scene_item *it = &u.c.sc.items[i];
            if (it->kind == SCENE_TEXT && figure_read(it->u.text.text).kind)
                figures[on]++;
            if (it->kind != SCENE_HEAT || it->hit.tensor != ATTN_P ||
                it->hit.kind != HIT_CELLS)
                continue;
            seen = true;
            assert_true(it->u.heat.least == u.c.state.least_weight);
            const struct scene_heat *h = &it->u.heat;
            for (int k = 0; k < 5 * 5; k++) {
                float v = h->m.data[(size_t)(k / 5) * h->m.ld + k % 5];
                float want = v < u.c.state.least_weight ? 0 : v;
                assert_true(scene_heat_value(h, v) == want);
            }
        }
        assert_true(seen);
    }
    int below = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j <= i; j++) below += weights(&u, i)[j] < 0.1f;
    assert_true(below > 0);
    assert_int_equal(figures[0] - figures[1], below);
    case_close(&u.c);
}

/* As a model from files: three blocks of the dims that are there. */
static void be_loaded(struct ui_case *u, int block)
{
    case_place(&u->c)->n_block = 3;
    case_place(&u->c)->block = block;
}

static void the_last_block_tells_the_next_tokens_and_others_where(void **state)
{
    (void)state;
    const struct scene_next next = {.row = 63,
                                    .ready = true,
                                    .n = 2,
                                    .text = {" down", "\n\xC3"},
                                    .p = {0.75f, 1e-9f},
                                    .logit = {12.5f, -3.25f}};
    const struct scene_next later = {.row = 63};
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    be_loaded(&u, 2);
    for (int k = 0; k < CASE_SIZES; k++) {
        u.c.src.next = &next;
        show(&u, ATTN_OUTPUT, 63, case_sizes[k].w, case_sizes[k].h);
        assert_non_null(ui_find_text(&u, "\u00B7down"));
        assert_non_null(ui_find_text(&u, "\u23CEC3"));
        assert_non_null(ui_find_text(&u, "0.7500"));
        assert_non_null(ui_find_text(&u, "<0.0001"));
        assert_non_null(ui_find_text(&u, "12.50"));
        struct scene_rect panel = u.c.sc.frame.panel;
        for (int i = u.n_scene; i < u.c.sc.n; i++)
            if (in_panel(&u, &u.c.sc.items[i]))
                assert_true(u.c.sc.items[i].u.text.y < panel.y + panel.h);
    }
    /* All but sure is not sure: the others are not 0. */
    const struct scene_next sure = {.row = 63,
                                    .ready = true,
                                    .n = 2,
                                    .text = {"a", "b"},
                                    .p = {0.99999f, 1e-5f},
                                    .logit = {9, 0}};
    u.c.src.next = &sure;
    show(&u, ATTN_OUTPUT, 63, 1024, 640);
    assert_null(ui_find_text(&u, "1.0000"));
    assert_non_null(ui_find_text(&u, ">0.9999"));
    u.c.src.next = &later;
    show(&u, ATTN_OUTPUT, 63, 1024, 640);
    assert_non_null(ui_find_text(&u, "computing the logits\u2026"));
    be_loaded(&u, 1);
    u.c.src.next = NULL;
    show(&u, ATTN_OUTPUT, 63, 1024, 640);
    assert_null(ui_find_text(&u, "computing the logits\u2026"));
    bool told = false;
    for (int i = u.n_scene; i < u.c.sc.n; i++)
        told = told || (in_panel(&u, &u.c.sc.items[i]) &&
                        strstr(u.c.sc.items[i].u.text.text, "block 3"));
    assert_true(told);
    case_close(&u.c);
}

int ui_sources_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sink_is_seen_for_what_it_is),
        cmocka_unit_test(contributions_are_beside_the_weights_at_both_scales),
        cmocka_unit_test(weights_below_the_least_are_folded_and_counted),
        cmocka_unit_test(the_least_weight_reaches_the_heat_map_and_its_numbers),
        cmocka_unit_test(the_last_block_tells_the_next_tokens_and_others_where),
    };
    return cmocka_run_group_tests_name("ui sources", tests, NULL, NULL);
}
