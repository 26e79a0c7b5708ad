/* ui: the labs in every window: nothing overlaps, every figure is of the numbers given, keys
 * and pointer read figures off. */
#include "ui_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void act(struct ui_case *u, enum step_verb verb, int i)
{
    assert_true(step_apply(&u->c.state, (struct step_action){.verb = verb, .i = i}));
}

static bool on_screen(const struct ui_case *u, const char *text)
{
    for (int i = 0; i < u->c.sc.n; i++)
        if (u->c.sc.items[i].kind == SCENE_TEXT &&
            strcmp(u->c.sc.items[i].u.text.text, text) == 0)
            return true;
    return false;
}

static bool meet(struct scene_rect a, struct scene_rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

static bool holds(struct scene_rect a, struct scene_rect b)
{
    return a.x <= b.x && a.y <= b.y && a.x + a.w >= b.x + b.w && a.y + a.h >= b.y + b.h;
}

/* Whether the text is a note of the plot: it stands in its area. */
static bool is_note(const struct ui_case *u, const struct scene_item *it)
{
    for (int id = 2140; id < 2142 && it->kind == SCENE_TEXT; id++) {
        const struct scene_item *plot = scene_find(&u->c.sc, id);
        if (plot && it < plot &&
            holds(scene_item_box(&u->c.sc, plot), scene_item_box(&u->c.sc, it)))
            return true;
    }
    return false;
}

/* Every note of a lab has an opaque ground, and nothing is drawn over it. */
static void check_notes(const struct ui_case *u)
{
    const struct scene *sc = &u->c.sc;
    int n = 0;
    for (int i = 0; i < u->n_scene; i++) {
        const struct scene_item *it = &sc->items[i];
        if (!is_note(u, it)) continue;
        struct scene_rect box = scene_item_box(sc, it);
        n++;
        assert_true(it[-1].kind == SCENE_RECT && it[-1].u.rect.fill.a == 255);
        assert_true(holds(it[-1].u.rect.box, box));
        for (int k = i + 1; k < u->n_scene; k++) {
            const struct scene_item *on = &sc->items[k];
            bool seen = on->kind == SCENE_RECT   ? on->u.rect.fill.a > 0
                        : on->kind == SCENE_POLY ? on->u.poly.fill.a > 0
                                                 : true;
            if (seen && meet(scene_item_box(sc, on), box) &&
                !(on->kind == SCENE_TEXT && on->u.text.turned))
                fail_msg("\"%s\" is drawn over", it->u.text.text);
        }
    }
    assert_true(n > 0);
}

/* Numbers left of a plot's area. */
static int numbers_of(const struct ui_case *u, int plot)
{
    const struct scene_item *area = scene_find(&u->c.sc, plot);
    int n = 0;
    assert_non_null(area);
    struct scene_rect b = scene_item_box(&u->c.sc, area);
    for (int i = 0; i < u->n_scene; i++) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (it->kind != SCENE_TEXT || it->u.text.font != FONT_MONO) continue;
        struct scene_rect t = scene_item_box(&u->c.sc, it);
        float gap = b.x - t.x - t.w;
        n += gap > 0 && gap < 12 && t.y + t.h > b.y - 6 && t.y < b.y + b.h + 6;
    }
    return n;
}

static void the_saturation_lab_fits_in_every_window(void **state)
{
    (void)state;
    static const int widths[] = {1, 4, 8, 48, 64, 128, 256, 320}; /* d_head in view */
    struct scene_saturation sat;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        struct ui_case u = {0};
        case_open_dims(&u.c, (struct attn_dims){6, widths[w] * 2, 2});
        act(&u, STEP_LAB, STEP_LAB_SATURATION);
        for (int k = 0; k < CASE_SIZES; k++)
            for (int keys = 0; keys < STEP_LAB_KEYS; keys++) {
                act(&u, STEP_LAB_ROW, keys);
                u.c.src.saturation = NULL;
                ui_check_whole(&u, case_sizes[k]);
                case_saturation(&sat, step_lab_row(&u.c.state));
                u.c.src.saturation = &sat;
                for (int d = 1; d <= STEP_LAB_MOST_D; d = d * 3 + 1) {
                    act(&u, STEP_LAB_TO, d);
                    ui_check_whole(&u, case_sizes[k]);
                    if (d > 1 || widths[w] <= STEP_LAB_MOST_D) check_notes(&u);
                    assert_true(numbers_of(&u, 2140) >= 4);
                    assert_true(numbers_of(&u, 2141) >= 4);
                }
            }
        case_close(&u.c);
    }
}

/* So many counts of tokens measured, at rates that no machine has. */
static struct scene_times made_times(struct attn_dims d, int n)
{
    struct scene_times t = {.dims = d,
                            .n = n,
                            .of = 8,
                            .threads = 16,
                            .kernels = "avx512",
                            .running = n % 2 == 1};
    for (int i = 0; i < n; i++) {
        t.n_tok[i] = 16 << i;
        for (int k = 0; k < ATTN_STAGE_COUNT; k++)
            t.seconds[i][k] = 1e-8 * (k + 1) * t.n_tok[i] * t.n_tok[i];
    }
    return t;
}

static void the_cost_lab_fits_in_every_window(void **state)
{
    (void)state;
    static const struct attn_dims dims[] = {{5, 8, 2},      {1, 768, 12}, {1024, 768, 12},
                                            {64, 1600, 25}, {17, 48, 3},  {2, 1, 1}};
    for (size_t w = 0; w < sizeof dims / sizeof *dims; w++) {
        struct ui_case u = {0};
        case_open_dims(&u.c, dims[w]);
        act(&u, STEP_LAB, STEP_LAB_COST);
        for (int k = 0; k < CASE_SIZES; k++)
            for (int of = 0; of < STEP_LAB_OF_COUNT; of++)
                for (int gpt2 = 0; gpt2 < 2; gpt2++) {
                    act(&u, STEP_LAB_OF, of);
                    act(&u, STEP_LAB_DIMS, gpt2);
                    for (int n = 1; n <= STEP_LAB_MOST_N; n = n * 7 + 1) {
                        struct scene_times t = made_times(dims[w], n % 9);
                        u.c.src.times = n % 9 ? &t : NULL;
                        act(&u, STEP_LAB_TO, n);
                        ui_check_whole(&u, case_sizes[k]);
                        check_notes(&u);
                    }
                }
        case_close(&u.c);
    }
}

/* Of the formulas in the design's table, not of attn_cost_of. */
static void the_crossing_is_where_the_products_meet(void **state)
{
    (void)state;
    struct step_state s = step_initial();
    s.lab.open = true;
    s.lab.kind = STEP_LAB_COST;
    for (int gpt2 = 0; gpt2 < 2; gpt2++) {
        s.lab.gpt2 = gpt2 == 1;
        int d = gpt2 ? 768 : 8;
        /* 4 N^2 d > 8 N d^2; 4 N (N + 1) / 2 d > 8 N d^2 */
        assert_int_equal(scene_lab_crossing(&s, false), 2 * d + 1);
        assert_int_equal(scene_lab_crossing(&s, true), 4 * d);
    }
}

static void figures_are_those_given(void **state)
{
    (void)state;
    struct ui_case u = {0};
    struct scene_saturation sat;
    case_open(&u.c, STEP_TOY);
    case_saturation(&sat, 16);
    sat.top[0][3] = (struct scene_spread){0.625f, 0.25f, 0.875f}; /* d_head 4 */
    sat.top[1][3] = (struct scene_spread){0.375f, 0.125f, 0.5f};
    sat.entropy[0][7] = (struct scene_spread){1.5f, 0.5f, 2.5f}; /* 8 */
    u.c.src.saturation = &sat;
    act(&u, STEP_LAB, STEP_LAB_SATURATION);
    act(&u, STEP_LAB_ROW, 1);
    ui_show(&u, 1440, 900);
    assert_true(on_screen(&u, "d_head = 4 (in view), 16 keys"));
    assert_true(on_screen(&u, "0.625"));
    assert_true(on_screen(&u, "0.25\u20130.88"));
    assert_true(on_screen(&u, "0.375"));
    assert_true(on_screen(&u, "log\u2082 16 = 4 bits: all weights equal"));
    act(&u, STEP_LAB_TO, 8);
    ui_show(&u, 1440, 900);
    assert_true(on_screen(&u, "d_head = 8, 16 keys"));
    assert_true(on_screen(&u, "1.500"));
    assert_true(on_screen(&u, "0.50\u20132.50"));

    act(&u, STEP_LAB, STEP_LAB_COST);
    act(&u, STEP_LAB_DIMS, 1);
    act(&u, STEP_LAB_TO, 1024);
    ui_show(&u, 1440, 900);
    assert_true(on_screen(&u, "N = 1,024"));
    assert_true(on_screen(&u, "3.62 G")); /* 6 N d^2 */
    assert_true(on_screen(&u, "1.61 G")); /* 2 N^2 d */
    assert_true(on_screen(&u, "1.21 G")); /* 2 N d^2 */
    assert_true(on_screen(&u, "no times measured here yet"));
    struct scene_times t = made_times((struct attn_dims){1, 768, 12}, 8);
    t.seconds[6][ATTN_SOFTMAX] = 0.0125; /* at 1,024 */
    u.c.src.times = &t;
    ui_show(&u, 1440, 900);
    assert_true(on_screen(&u, "12.5 ms"));
    assert_false(on_screen(&u, "no times measured here yet"));
    assert_true(on_screen(&u, "1,537"));
    assert_true(on_screen(&u, "3,072"));
    case_close(&u.c);
}

static void keys_and_pointer_read_figures_off(void **state)
{
    (void)state;
    struct ui_case u = {0};
    struct scene_saturation sat;
    case_open(&u.c, STEP_TOY);
    ui_show(&u, 1024, 640);
    ui_key(&u, "s");
    ui_apply(&u);
    assert_true(u.c.state.lab.open);
    case_saturation(&sat, step_lab_row(&u.c.state));
    u.c.src.saturation = &sat;
    ui_show(&u, 1024, 640);
    assert_int_equal(step_lab_at(&u.c.state), 4); /* in view */
    ui_key(&u, "Right");
    ui_apply(&u);
    assert_int_equal(step_lab_at(&u.c.state), 5);
    ui_key(&u, "Shift+Right");
    ui_apply(&u);
    assert_int_equal(step_lab_at(&u.c.state), 10);
    ui_key(&u, "End");
    ui_apply(&u);
    assert_int_equal(step_lab_at(&u.c.state), STEP_LAB_MOST_D);
    ui_key(&u, "Right");
    ui_apply(&u);
    assert_int_equal(step_lab_at(&u.c.state), STEP_LAB_MOST_D);
    /* The plot's middle is the root of its ends' product. */
    const struct scene_item *plot = scene_find(&u.c.sc, 2140);
    assert_non_null(plot);
    struct scene_rect b = scene_item_box(&u.c.sc, plot);
    ui_point(&u, UI_MOVE, b.x + b.w / 2, b.y + b.h / 2);
    ui_apply(&u);
    assert_int_equal(step_lab_at(&u.c.state), 16);
    assert_int_equal(u.c.state.stage, ATTN_PROJECTIONS); /* arrows did not go on */
    ui_key(&u, "s");
    ui_apply(&u);
    assert_int_equal(u.c.state.lab.kind, STEP_LAB_COST);
    ui_show(&u, 1024, 640);
    ui_key(&u, "Home");
    ui_apply(&u);
    assert_int_equal(step_lab_at(&u.c.state), 1);
    ui_key(&u, "Down");
    ui_apply(&u);
    assert_int_equal(u.c.state.lab.of, STEP_LAB_BYTES);
    ui_key(&u, "Esc");
    ui_apply(&u);
    assert_false(u.c.state.lab.open);
    case_close(&u.c);
}

/* Of two figures of the same amount there are no two forms. */
static void amounts_have_three_digits(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    ui_show(&u, 1440, 900);
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0"},           {1920, "1,920"},     {99999, "99,999"},
                 {100000, "100 k"},  {1234567, "1.23 M"}, {6300000, "6.30 M"},
                 {999499, "999 k"},  {999500, "1.00 M"},  {50331648, "50.3 M"},
                 {3.624e9, "3.62 G"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(scene_amount(&u.c.sc, cases[i].v), cases[i].text);
    case_close(&u.c);
}

static void the_cost_line_opens_the_cost_lab(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    ui_show(&u, 1024, 640);
    const struct scene_item *line = scene_find(&u.c.sc, 2106);
    assert_non_null(line); /* Tab comes to it */
    assert_non_null(strstr(line->hit.tip, "cost lab"));
    struct scene_rect b = scene_item_box(&u.c.sc, line);
    ui_click(&u, b.x + b.w / 2, b.y + b.h / 2);
    ui_apply(&u);
    assert_true(u.c.state.lab.open);
    assert_int_equal(u.c.state.lab.kind, STEP_LAB_COST);
    case_close(&u.c);
}

/* The smallest window has the labs' hint, and no other went for it. */
static void the_labs_have_a_hint_in_every_window(void **state)
{
    (void)state;
    static const float widths[] = {1024, 1100, 1280, 1440, 1920};
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        ui_show(&u, widths[i], 700);
        assert_non_null(ui_find_text(&u, "space"));
        assert_non_null(ui_find_text(&u, "heads"));
        assert_non_null(ui_find_text(&u, "labs"));
    }
    assert_non_null(ui_find_text(&u, "fit"));
    case_close(&u.c);
}

int ui_labs_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_saturation_lab_fits_in_every_window),
        cmocka_unit_test(the_cost_lab_fits_in_every_window),
        cmocka_unit_test(the_crossing_is_where_the_products_meet),
        cmocka_unit_test(figures_are_those_given),
        cmocka_unit_test(keys_and_pointer_read_figures_off),
        cmocka_unit_test(amounts_have_three_digits),
        cmocka_unit_test(the_cost_line_opens_the_cost_lab),
        cmocka_unit_test(the_labs_have_a_hint_in_every_window),
    };
    return cmocka_run_group_tests_name("ui labs", tests, NULL, NULL);
}
