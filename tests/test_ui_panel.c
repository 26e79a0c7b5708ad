/* ui: the side panel's figures are the trace's. */
#include "parts.h"
#include "ui_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double value(const struct ui_case *u, enum attn_tensor t, int i, int j)
{
    struct attn_cmat m = attn_trace_view(&u->c.trace, t, u->c.trace.head);
    return (double)m.data[(size_t)i * (size_t)m.ld + (size_t)j];
}

/* As float32 rounds it. */
static double times(double a, double b)
{
    return (double)((float)a * (float)b);
}

static const double infinite = (double)INFINITY;

static bool in_panel(const struct ui_case *u, const struct scene_item *it)
{
    return it->kind == SCENE_TEXT && it->u.text.x >= u->c.sc.frame.panel.x;
}

/* How many texts of the panel read as v at `decimals` or more. */
static int shown(const struct ui_case *u, double v, int decimals)
{
    int n = 0;
    for (int i = u->n_scene; i < u->c.sc.n; i++) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (!in_panel(u, it) || !figure_is(it->u.text.text, v)) continue;
        struct figure_read r = figure_read(it->u.text.text);
        n += r.kind != FIGURE_NUMBER || v == 0 || r.decimals >= decimals;
    }
    return n;
}

static void want(const struct ui_case *u, double v, int decimals)
{
    if (!shown(u, v, decimals))
        fail_msg("%s: the panel lacks %.6f", case_where(&u->c).text, v);
}

static void show_row(struct ui_case *u, enum attn_stage stage, int row)
{
    u->c.state.stage = stage;
    u->c.state.time = 1;
    case_place(&u->c)->row = row;
    ui_show(u, 1440, 900);
}

static void show_cell(struct ui_case *u, enum attn_stage stage, struct step_ref ref)
{
    u->c.state.hover = ref;
    show_row(u, stage, ref.row);
    u->c.state.hover = step_no_ref();
}

enum { SEEDS = 4 };

static void a_dot_product_shows_its_terms_and_the_traces_value(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct ui_case u = {0};
        case_open_toy(&u.c, seed);
        for (int i = 0; i < 5; i++)
            for (int c = 0; c < 4; c++) {
                show_cell(&u, ATTN_PROJECTIONS, (struct step_ref){ATTN_V, i, c});
                want(&u, value(&u, ATTN_V, i, c), 3);
                for (int k = 0; k < 8; k++) {
                    double x = value(&u, ATTN_X, i, k), w = value(&u, ATTN_W_V, k, c);
                    want(&u, x, 2);
                    want(&u, w, 2);
                    want(&u, times(x, w), 3);
                }
                show_cell(&u, ATTN_SCORES, (struct step_ref){ATTN_S_RAW, i, c});
                want(&u, value(&u, ATTN_S_RAW, i, c), 3);
                for (int j = 0; j < 5; j++) want(&u, value(&u, ATTN_S_RAW, i, j), 2);
            }
        case_close(&u.c);
    }
}

static void a_running_sum_grows_with_the_beat(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    struct step_clock clock = step_clock_of(ATTN_SCORES, case_place(&u.c)->dims);
    enum { I = 2, J = 1, AT = I * 5 + J };
    float from = step_beat_start(&clock, AT), to = step_beat_start(&clock, AT + 1);
    u.c.state.stage = ATTN_SCORES;
    for (int k = 1; k <= 4; k++) {
        u.c.state.time = from + (to - from) * ((float)k - 0.5f) / 4;
        ui_show(&u, 1440, 900);
        double sum = 0;
        for (int c = 0; c < k; c++)
            sum += times(value(&u, ATTN_Q, I, c), value(&u, ATTN_K, J, c));
        want(&u, (double)(float)sum, 3);
        double last = times(value(&u, ATTN_Q, I, 3), value(&u, ATTN_K, J, 3));
        if (k < 4) assert_int_equal(shown(&u, last, 3), 0);
        assert_int_equal(shown(&u, value(&u, ATTN_S_RAW, I, 4), 2), 0); /* not yet */
    }
    case_close(&u.c);
}

static void scale_and_mask_show_both_sides(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int i = 0; i < 5; i++) {
        show_row(&u, ATTN_SCALE, i);
        double lo = infinite, hi = -infinite;
        for (int j = 0; j < 5; j++) {
            double s = value(&u, ATTN_S_RAW, i, j);
            want(&u, s, 2);
            want(&u, value(&u, ATTN_S_SCALED, i, j), 2);
            lo = fmin(lo, s);
            hi = fmax(hi, s);
        }
        want(&u, (double)((float)hi - (float)lo), 3);
        show_row(&u, ATTN_MASK, i);
        for (int j = 0; j <= i; j++) want(&u, value(&u, ATTN_S_MASKED, i, j), 2);
        if (i < 4) want(&u, -infinite, 0);
        char seen[32];
        (void)snprintf(seen, sizeof seen, "%d of 5", i + 1);
        assert_non_null(ui_find_text(&u, seen));
    }
    case_close(&u.c);
}

static void softmax_shows_exp_weight_sum_and_entropy(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int i = 0; i < 5; i++) {
        show_row(&u, ATTN_SOFTMAX, i);
        double sum = 0, bits = 0, max = -infinite;
        for (int j = 0; j <= i; j++) max = fmax(max, value(&u, ATTN_S_MASKED, i, j));
        for (int j = 0; j <= i; j++) {
            double shift = value(&u, ATTN_S_MASKED, i, j) - max;
            double p = value(&u, ATTN_P, i, j);
            want(&u, (double)(float)shift, 2);
            want(&u, (double)expf((float)shift), 3);
            want(&u, p, 3);
            sum += exp(shift);
            if (p > 0) bits -= p * log2(p);
        }
        want(&u, (double)(float)sum, 3);
        char text[64];
        (void)snprintf(text, sizeof text, "%.2f of %.2f bits", bits, log2(i + 1));
        if (!ui_find_text(&u, text)) fail_msg("row %d: no \"%s\"", i, text);
    }
    case_close(&u.c);
}

static void the_largest_weights_of_a_long_row_are_shown(void **state)
{
    (void)state;
    enum { N = 64, TOP = 8 };
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    for (int i = N - 1; i > N / 2; i -= 7) {
        show_row(&u, ATTN_SOFTMAX, i);
        double p[N];
        double rest = 0;
        for (int j = 0; j < N; j++) rest += p[j] = value(&u, ATTN_P, i, j);
        for (int k = 0; k < TOP; k++) {
            int top = 0;
            for (int j = 1; j < N; j++)
                if (p[j] > p[top]) top = j;
            want(&u, p[top], 4);
            rest -= p[top];
            p[top] = -1;
        }
        want(&u, (double)(float)rest, 4);
        char others[32]; /* of those that the row sees */
        (void)snprintf(others, sizeof others, "%d others", i + 1 - TOP);
        assert_non_null(ui_find_text(&u, others));
        want(&u, value(&u, ATTN_P, i, i), 4);
        want(&u, value(&u, ATTN_P, i, 0), 4);
        want(&u, value(&u, ATTN_P, i, i - 1), 4);
    }
    case_close(&u.c);
}

static void the_blend_adds_up_to_the_output_row(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int i = 0; i < 5; i++) {
        show_row(&u, ATTN_WEIGHTED_SUM, i);
        assert_non_null(ui_find_text(&u, "VALUE BLEND"));
        for (int c = 0; c < 4; c++) {
            want(&u, value(&u, ATTN_Z, i, c), 3);
            for (int j = 0; j <= i; j++)
                want(&u, times(value(&u, ATTN_P, i, j), value(&u, ATTN_V, j, c)), 3);
        }
    }
    case_close(&u.c);
}

/* Column c of the panel's parts, from top to bottom: heads, residual, sum. */
static int parts_of(const struct ui_case *u, int c, double *part, int room)
{
    int n = 0, cells = 0;
    for (int i = u->n_scene; i < u->c.sc.n; i++) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (!in_panel(u, it)) continue;
        struct figure_read r = figure_read(it->u.text.text);
        bool sign =
            it->u.text.text[0] == '+' || (unsigned char)it->u.text.text[0] == 0xE2;
        if (r.kind == FIGURE_NONE || !sign) continue;
        if (cells++ % 8 == c && n < room) part[n++] = r.value;
    }
    return n;
}

static void the_outputs_parts_add_up_to_y(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct ui_case u = {0};
        case_open(&u.c, STEP_TOY);
        u.c.state.opts.residual = !k;
        case_run(&u.c);
        for (int i = 0; i < 5; i++) {
            show_row(&u, ATTN_OUTPUT, i);
            for (int c = 0; c < 8; c++) {
                double part[4] = {0}, sum = 0;
                want(&u, value(&u, ATTN_Y, i, c), 3);
                if (!k) want(&u, value(&u, ATTN_H, i, c), 3);
                int last = k ? 2 : 3; /* two heads, the residual, their sum */
                assert_int_equal(parts_of(&u, c, part, 4), last + 1);
                for (int j = 0; j < last; j++) sum += part[j];
                assert_true(fabs(sum - part[last]) < 0.0005 * 4 + 1e-6);
            }
        }
        case_close(&u.c);
    }
}

/* While the stage moves, the panel has as many columns of the row as the motion has come to,
 * without the residual, which is added at the end; and never Y. In the column under way the
 * second head begins where the first has ended. */
static void the_output_is_a_sum_so_far_until_the_stage_is_over(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    case_run(&u.c);
    for (int k = 0; k < 40; k++) {
        u.c.state.stage = ATTN_OUTPUT;
        u.c.state.time = (float)k / 40;
        ui_show(&u, 1440, 900);
        struct step_clock clock = step_clock_at(&u.c.state, ATTN_OUTPUT);
        struct step_beat b = step_beat_at(&clock, u.c.state.time);
        bool on = b.intro >= 1 && b.at < clock.n_beat;
        int row = on ? b.at / 8 : case_place(&u.c)->row;
        int made = on ? b.at % 8 : b.at < clock.n_beat ? 0 : 8;
        int terms = on ? scene_terms(b.part, 8) : 0; /* 4 a head */
        assert_null(ui_find_text(&u, "sum y"));
        assert_non_null(ui_find_text(&u, "sum so far"));
        for (int c = 0; c < made; c++) want(&u, value(&u, ATTN_Y_PROJ, row, c), 3);
        int cells = 0;
        double part[8];
        for (int c = 0; c < 8; c++) cells += parts_of(&u, c, part, 8);
        assert_int_equal(cells, 8 + 3 * made + 2 * (terms > 0) + (terms > 4));
    }
    case_close(&u.c);
}

/* Rows r of the case: their weights on j, added up. */
static double sum_of_rows(const struct ui_case *u, const int *r, int n, int j)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += value(u, ATTN_P, r[k], j);
    return sum;
}

static void select_rows(struct ui_case *u, const int *r, int n)
{
    for (int k = 0; k < n; k++)
        assert_true(step_apply(
            &u->c.state,
            (struct step_action){.verb = k ? STEP_ROW_ALSO : STEP_ROW, .i = r[k]}));
}

static void several_rows_are_summed_and_averaged(void **state)
{
    (void)state;
    static const int rows[] = {0, 2, 4};
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    select_rows(&u, rows, 3);
    for (int k = 0; k < 2; k++) {
        u.c.state.stage = k ? ATTN_WEIGHTED_SUM : ATTN_SOFTMAX;
        ui_show(&u, 1024, 640);
        assert_non_null(ui_find_text(&u, "THESE ROWS"));
        assert_non_null(ui_find_text(&u, "3 of 5 rows: 1, 3, 5"));
        for (int j = 0; j < 5; j++) {
            want(&u, sum_of_rows(&u, rows, 3, j), 3);
            want(&u, sum_of_rows(&u, rows, 3, j) / 3, 4);
        }
    }
    /* where there are no weights yet the row in view is explained, and it is said */
    u.c.state.stage = ATTN_MASK;
    ui_show(&u, 1024, 640);
    assert_null(ui_find_text(&u, "THESE ROWS"));
    assert_non_null(ui_find_text(&u, "3 rows selected: see stages 5, 6"));
    case_close(&u.c);
}

static void the_largest_sources_of_many_rows_are_shown(void **state)
{
    (void)state;
    static const int rows[] = {20, 40, 41, 42, 63};
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    select_rows(&u, rows, 5);
    u.c.state.stage = ATTN_SOFTMAX;
    ui_show(&u, 1440, 900);
    assert_non_null(ui_find_text(&u, "5 of 64 rows: 21, 41\u201343, 64"));
    double sum[64], left = 5;
    bool used[64] = {false};
    for (int j = 0; j < 64; j++) sum[j] = sum_of_rows(&u, rows, 5, j);
    for (int k = 0; k < 8; k++) {
        int best = -1;
        for (int j = 0; j < 64; j++)
            if (!used[j] && (best < 0 || sum[j] > sum[best])) best = j;
        used[best] = true;
        want(&u, sum[best], 3);
        want(&u, sum[best] / 5, 4);
        left -= sum[best];
    }
    assert_non_null(ui_find_text(&u, "56 others"));
    want(&u, left, 3);
    want(&u, left / 5, 4);
    double itself = 0;
    for (int k = 0; k < 5; k++) itself += value(&u, ATTN_P, rows[k], rows[k]) / 5;
    want(&u, itself, 4);
    case_close(&u.c);
}

static void two_heads_are_told_apart_row_by_row(void **state)
{
    (void)state;
    static const enum attn_tensor of[] = {ATTN_S_RAW, ATTN_S_SCALED, ATTN_S_MASKED,
                                          ATTN_P};
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    case_pair(&u.c, STEP_PAIR_BESIDE, 1);
    for (int s = ATTN_SCORES; s <= ATTN_SOFTMAX; s++)
        for (int i = 0; i < 5; i++) {
            enum attn_tensor t = of[s - ATTN_SCORES];
            struct attn_cmat b = u.c.pair.second[t - ATTN_S_RAW];
            show_row(&u, (enum attn_stage)s, i);
            int seen = s >= ATTN_MASK ? i + 1 : 5, most = 0;
            double apart[5] = {0};
            for (int j = 0; j < seen; j++) {
                float first = (float)value(&u, t, i, j), second = b.data[5 * i + j];
                want(&u, (double)first, 3);
                want(&u, (double)second, 3);
                apart[j] = (double)(first - second);
                want(&u, apart[j], 3);
                if (fabs(apart[j]) > fabs(apart[most])) most = j;
            }
            assert_non_null(ui_find_text(&u, "largest difference"));
            int told = 0; /* once in its line, once as the largest */
            for (int k = u.n_scene; k < u.c.sc.n; k++) {
                const struct scene_item *it = &u.c.sc.items[k];
                const char *figure =
                    it->kind == SCENE_TEXT ? strstr(it->u.text.text, "  ") : NULL;
                if (in_panel(&u, it) && figure && figure_is(figure + 2, apart[most])) {
                    assert_int_equal(strtol(it->u.text.text, NULL, 10), most + 1);
                    told++;
                }
            }
            assert_int_equal(told, 1);
        }
    case_close(&u.c);
}

static void without_numbers_the_panel_waits(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    u.c.src.fits = false;
    u.c.src.progress = 0.4f;
    ui_show(&u, 1440, 900);
    assert_non_null(ui_find_text(&u, "COMPUTING\u2026"));
    assert_non_null(ui_find_text(&u, "40%"));
    assert_null(ui_find_text(&u, "THIS CELL"));
    u.c.src = (struct scene_source){.label = "nothing", .progress = -1};
    ui_show(&u, 1440, 900);
    assert_non_null(ui_find_text(&u, "COMPUTING\u2026"));
    case_close(&u.c);
}

static void masked_cells_say_why(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    show_cell(&u, ATTN_MASK, (struct step_ref){ATTN_S_MASKED, 2, 3});
    assert_non_null(ui_find_text(&u, "THIS CELL"));
    char prose[1024] = "";
    size_t n = 0;
    for (int i = u.n_scene; i < u.c.sc.n; i++) {
        const struct scene_item *it = &u.c.sc.items[i];
        if (!in_panel(&u, it) || n > 900) continue;
        int k = snprintf(prose + n, 100, "%s ", it->u.text.text);
        n += k > 0 && k < 100 ? (size_t)k : 0;
    }
    assert_non_null(
        strstr(prose, "\u00B7down is later than \u00B7sat: a model that saw it"));
    case_close(&u.c);
}

/* In the smallest window, too, and whether the cell is pinned or not; weights among them have
 * their own colours. */
static void sixteen_terms_come_first(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    case_place(&u.c)->pin = (struct step_ref){ATTN_S_RAW, 39, 2};
    u.c.state.stage = ATTN_SCORES;
    ui_show(&u, 1024, 640);
    assert_non_null(scene_find(&u.c.sc, UI_ID_OPERAND + 2 * DERIVE_SHOWN - 1));
    assert_non_null(ui_find_text(&u, "the rest (48 terms)"));
    case_place(&u.c)->pin = step_no_ref();
    ui_show(&u, 1024, 640);
    assert_non_null(ui_find_text(&u, "the rest (48 terms)"));
    case_place(&u.c)->pin = (struct step_ref){ATTN_Z, 39, 2};
    u.c.state.stage = ATTN_WEIGHTED_SUM;
    ui_show(&u, 1024, 640);
    struct scene_derivation d;
    int at[DERIVE_SHOWN], found = 0;
    assert_true(scene_derive(&d, &u.c.src, case_place(&u.c)->pin));
    assert_int_equal(scene_derive_shown(&d, DERIVE_SHOWN, false, at), DERIVE_SHOWN);
    struct scene_rgba want =
        scene_map_color(scene_theme_get(u.c.state.theme), MAP_SEQUENTIAL, 0, 1, false,
                        derive_number(&d.a, at[0]));
    for (int i = u.n_scene; i < u.c.sc.n; i++) {
        const struct scene_item *it = &u.c.sc.items[i];
        found +=
            it->kind == SCENE_RECT && memcmp(&it->u.rect.fill, &want, sizeof want) == 0;
    }
    assert_true(found > 0);
    case_close(&u.c);
}

int ui_panel_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dot_product_shows_its_terms_and_the_traces_value),
        cmocka_unit_test(a_running_sum_grows_with_the_beat),
        cmocka_unit_test(scale_and_mask_show_both_sides),
        cmocka_unit_test(softmax_shows_exp_weight_sum_and_entropy),
        cmocka_unit_test(the_largest_weights_of_a_long_row_are_shown),
        cmocka_unit_test(the_blend_adds_up_to_the_output_row),
        cmocka_unit_test(the_outputs_parts_add_up_to_y),
        cmocka_unit_test(the_output_is_a_sum_so_far_until_the_stage_is_over),
        cmocka_unit_test(several_rows_are_summed_and_averaged),
        cmocka_unit_test(the_largest_sources_of_many_rows_are_shown),
        cmocka_unit_test(two_heads_are_told_apart_row_by_row),
        cmocka_unit_test(without_numbers_the_panel_waits),
        cmocka_unit_test(masked_cells_say_why),
        cmocka_unit_test(sixteen_terms_come_first),
    };
    return cmocka_run_group_tests_name("ui panel", tests, NULL, NULL);
}
