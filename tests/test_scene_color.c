/* scene: themes, colour maps, hues. Luminance and contrast by their definitions, in
 * double: IEC 61966-2-1 and WCAG 2.1, 1.4.3. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static double linear(uint8_t c)
{
    double s = c / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double luminance(struct scene_rgba c)
{
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

static double contrast(struct scene_rgba a, struct scene_rgba b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static bool same(struct scene_rgba a, struct scene_rgba b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b && a.a == b.a;
}

static const enum step_theme themes[] = {STEP_LIGHT, STEP_DARK};

/* ---- maps --------------------------------------------------------------------------------- */

static void weights_grow_steadily_darker_or_lighter(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct scene_theme *t = scene_theme_get(themes[k]);
        double way = themes[k] == STEP_LIGHT ? -1 : 1; /* away from the paper */
        struct scene_rgba last = scene_map_color(t, MAP_SEQUENTIAL, 0, 1, false, 0);
        for (int i = 1; i <= 1000; i++) {
            struct scene_rgba c =
                scene_map_color(t, MAP_SEQUENTIAL, 0, 1, false, (float)i / 1000);
            assert_true(way * (luminance(c) - luminance(last)) >= 0);
            last = c;
        }
        assert_true(contrast(last, t->paper) > 5);
    }
}

static void values_are_clamped_to_the_maps_ends(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int map = 0; map < MAP_COUNT; map++) {
            const struct scene_theme *t = scene_theme_get(themes[k]);
            enum scene_map m = (enum scene_map)map;
            struct scene_rgba low = scene_map_entry(t, m, 0);
            struct scene_rgba high = scene_map_entry(t, m, 255);
            assert_true(same(scene_map_color(t, m, -2, 2, false, -2), low));
            assert_true(same(scene_map_color(t, m, -2, 2, false, -1e30f), low));
            assert_true(same(scene_map_color(t, m, -2, 2, false, 2), high));
            assert_true(same(scene_map_color(t, m, -2, 2, false, 1e30f), high));
            for (int i = 0; i < 256; i++) /* entry i is what i / 255 is painted in */
                assert_true(same(scene_map_entry(t, m, i),
                                 scene_map_color(t, m, 0, 255, false, (float)i)));
            /* a range of nothing is no division by zero */
            assert_int_equal(scene_map_color(t, m, 1, 1, false, 1).a, 255);
        }
}

/* How far entry i has come from the middle to its end, 0..1. */
static double way_out(const struct scene_theme *t, int i)
{
    struct scene_rgba c = scene_map_entry(t, MAP_DIVERGING, i);
    struct scene_rgba m = t->map[MAP_DIVERGING].middle;
    struct scene_rgba e = scene_map_entry(t, MAP_DIVERGING, i < 128 ? 0 : 255);
    double dot = 0, all = 0;
    const double at[] = {c.r - m.r, c.g - m.g, c.b - m.b};
    const double end[] = {e.r - m.r, e.g - m.g, e.b - m.b};
    for (int n = 0; n < 3; n++) {
        dot += at[n] * end[n];
        all += end[n] * end[n];
    }
    return dot / all;
}

static void both_signs_are_painted_alike(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct scene_theme *t = scene_theme_get(themes[k]);
        assert_true(
            same(scene_map_entry(t, MAP_DIVERGING, 0), t->map[MAP_DIVERGING].low));
        assert_true(
            same(scene_map_entry(t, MAP_DIVERGING, 255), t->map[MAP_DIVERGING].high));
        double last = 2;
        for (int i = 0; i < 128; i++) {
            double minus = way_out(t, i), plus = way_out(t, 255 - i);
            assert_true(fabs(minus - plus) < 0.012); /* a step of 8-bit colour */
            assert_true(plus <= last + 1e-9);
            last = plus;
        }
        assert_true(way_out(t, 127) < 0.02);
        /* blue below, orange above */
        struct scene_rgba low = scene_map_entry(t, MAP_DIVERGING, 0);
        struct scene_rgba high = scene_map_entry(t, MAP_DIVERGING, 255);
        assert_true(low.b > low.r && high.r > high.b);
    }
}

static void the_log_scale_covers_four_decades(void **state)
{
    (void)state;
    const struct scene_theme *t = scene_theme_get(STEP_LIGHT);
    for (int d = 0; d <= 4; d++) {
        float v = powf(10, (float)-d);
        assert_true(
            same(scene_map_color(t, MAP_SEQUENTIAL, 0, 1, true, v),
                 scene_map_entry(t, MAP_SEQUENTIAL, (int)lrint(255 * (1 - d / 4.0)))));
    }
    struct scene_rgba low = scene_map_entry(t, MAP_SEQUENTIAL, 0);
    assert_true(same(scene_map_color(t, MAP_SEQUENTIAL, 0, 1, true, 0), low));
    assert_true(same(scene_map_color(t, MAP_SEQUENTIAL, 0, 1, true, 1e-9f), low));
    assert_true(same(scene_map_color(t, MAP_SEQUENTIAL, 0, 1, true, -1), low));
}

static void what_should_not_be_there_has_a_colour_of_its_own(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int map = 0; map < MAP_COUNT; map++) {
            const struct scene_theme *t = scene_theme_get(themes[k]);
            enum scene_map m = (enum scene_map)map;
            assert_true(same(scene_map_color(t, m, -1, 1, false, NAN), t->odd));
            assert_true(same(scene_map_color(t, m, -1, 1, false, INFINITY), t->odd));
            assert_true(same(scene_map_color(t, m, -1, 1, false, -INFINITY), t->odd));
            assert_true(same(scene_map_color(t, m, 0, 1, true, NAN), t->odd));
            for (int i = 0; i < 256; i++) {
                struct scene_rgba c = scene_map_entry(t, m, i);
                int far = abs(c.r - t->odd.r) + abs(c.g - t->odd.g) + abs(c.b - t->odd.b);
                assert_true(far > 60);
            }
        }
}

/* ---- reading ---------------------------------------------------------------------------------- */

static void ink_can_be_read_on_every_colour_of_every_map(void **state)
{
    (void)state;
    double least = 21;
    for (int k = 0; k < 2; k++)
        for (int map = 0; map < MAP_COUNT; map++)
            for (int i = 0; i < 256; i++) {
                const struct scene_theme *t = scene_theme_get(themes[k]);
                struct scene_rgba c = scene_map_entry(t, (enum scene_map)map, i);
                least = fmin(least, contrast(scene_ink_on(t, c), c));
            }
    print_message("least contrast of a figure on its cell: %.2f\n", least);
    assert_true(least >= 3);
    for (int k = 0; k < 2; k++) {
        const struct scene_theme *t = scene_theme_get(themes[k]);
        assert_true(contrast(scene_ink_on(t, t->odd), t->odd) >= 3);
        for (int i = 0; i < 8; i++) {
            struct scene_rgba hue = scene_token_hue(i);
            assert_true(contrast(scene_ink_on(t, hue), hue) >= 3);
        }
    }
}

/* A faded colour is judged as it looks: over the paper. */
static void ink_is_chosen_by_what_shines_through(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int map = 0; map < MAP_COUNT; map++)
            for (int i = 0; i < 256; i += 3)
                for (int a = 0; a <= 20; a++) {
                    const struct scene_theme *t = scene_theme_get(themes[k]);
                    struct scene_rgba c = scene_map_entry(t, (enum scene_map)map, i);
                    struct scene_rgba faded = scene_fade(c, (float)a / 20);
                    struct scene_rgba seen =
                        scene_mix(t->paper, c, (float)faded.a / 255.0f);
                    assert_true(contrast(scene_ink_on(t, faded), seen) >= 3);
                }
}

static void check_contrast(const char *what, int theme, struct scene_rgba text,
                           struct scene_rgba on, double least)
{
    double c = contrast(text, on);
    if (c < least)
        fail_msg("%s, %s theme: contrast %.2f, not %.1f", what, theme ? "dark" : "light",
                 c, least);
}

static void text_can_be_read_in_both_themes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct scene_theme *t = scene_theme_get(themes[k]);
        struct scene_rgba grounds[] = {t->paper, t->panel};
        for (int g = 0; g < 2; g++) {
            check_contrast("ink", k, t->ink, grounds[g], 4.5);
            check_contrast("ink_soft", k, t->ink_soft, grounds[g], 4.5);
            check_contrast("ink_faint", k, t->ink_faint, grounds[g], 3);
            check_contrast("accent", k, t->accent, grounds[g], 4.5);
            check_contrast("q", k, t->q, grounds[g], 3);
            check_contrast("k", k, t->k, grounds[g], 3);
            check_contrast("v", k, t->v, grounds[g], 3);
            check_contrast("o", k, t->o, grounds[g], 3);
            check_contrast("select", k, t->select, grounds[g], 4.5);
        }
        check_contrast("on_accent", k, t->on_accent, t->accent, 4.5);
        check_contrast("accent on accent_soft", k, t->accent, t->accent_soft, 3);
        check_contrast("on_tip", k, t->on_tip, t->tip, 4.5);
        check_contrast("on_warn", k, t->on_warn, t->warn, 4.5);
    }
}

/* ---- hues --------------------------------------------------------------------------------------- */

/* CIE L*a*b* of an sRGB colour, D65. */
static void lab_of(struct scene_rgba c, double lab[3])
{
    double r = linear(c.r), g = linear(c.g), b = linear(c.b), f[3];
    double xyz[3] = {(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
                     0.2126 * r + 0.7152 * g + 0.0722 * b,
                     (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089};
    for (int i = 0; i < 3; i++)
        f[i] = xyz[i] > 0.008856 ? cbrt(xyz[i]) : 7.787 * xyz[i] + 16.0 / 116;
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static double distance(struct scene_rgba a, struct scene_rgba b)
{
    double p[3], q[3];
    lab_of(a, p);
    lab_of(b, q);
    return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

static void tokens_have_hues_that_differ(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            assert_true(distance(scene_token_hue(i), scene_token_hue(j)) > 15);
    for (int i = 0; i < 1024; i++) { /* neighbours clearly; and they come again */
        assert_true(distance(scene_token_hue(i), scene_token_hue(i + 1)) > 40);
        assert_true(same(scene_token_hue(i), scene_token_hue(i + 8)));
    }
}

static void blends_are_mixed_in_linear_light_by_weight(void **state)
{
    (void)state;
    static const int n_tok[] = {0 /* toy */, 1, 64, 1024};
    for (int k = 0; k < 4; k++) {
        struct scene_case c;
        case_open(&c, k ? STEP_GPT2 : STEP_TOY);
        if (k) case_tokens(&c, n_tok[k]);
        struct attn_cmat p = scene_tensor_view(&c.src, ATTN_P);
        for (int i = 0; i < p.rows; i++) {
            double rgb[3] = {0};
            for (int j = 0; j < p.cols; j++) {
                struct scene_rgba hue = scene_token_hue(j);
                double w = (double)p.data[(size_t)i * (size_t)p.ld + (size_t)j];
                rgb[0] += w * linear(hue.r);
                rgb[1] += w * linear(hue.g);
                rgb[2] += w * linear(hue.b);
            }
            for (int n = 0; n < 3; n++)
                assert_true(fabs((double)c.blend[3 * i + n] - rgb[n]) < 1e-5);
        }
        case_close(&c);
    }
}

static void a_row_that_sees_one_token_has_its_hue(void **state)
{
    (void)state;
    float weights[9 * 9] = {0}, blend[27];
    for (int i = 0; i < 9; i++) weights[i * 9 + i] = 1;
    scene_blend(blend, (struct attn_cmat){weights, 9, 9, 9});
    const float *rgb = blend;
    for (int i = 0; i < 9; i++, rgb += 3) {
        struct scene_rgba hue = scene_token_hue(i);
        assert_true(fabs((double)rgb[0] - linear(hue.r)) < 1e-6);
        assert_true(fabs((double)rgb[1] - linear(hue.g)) < 1e-6);
        assert_true(fabs((double)rgb[2] - linear(hue.b)) < 1e-6);
    }
}

static void mixing_and_fading_end_where_they_should(void **state)
{
    (void)state;
    struct scene_rgba a = {10, 200, 30, 255}, b = {250, 0, 31, 255};
    assert_true(same(scene_mix(a, b, 0), a) && same(scene_mix(a, b, 1), b));
    struct scene_rgba half = {130, 100, 30, 255};
    assert_true(same(scene_mix(a, b, 0.5f), half));
    assert_int_equal(scene_fade(a, 1).a, 255);
    assert_int_equal(scene_fade(a, 0).a, 0);
    assert_int_equal(scene_fade(a, 7).a, 255);
    assert_int_equal(scene_fade(a, -1).a, 0);
    assert_int_equal(scene_fade(scene_fade(a, 0.5f), 0.5f).a, 64);
}

int scene_color_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_grow_steadily_darker_or_lighter),
        cmocka_unit_test(values_are_clamped_to_the_maps_ends),
        cmocka_unit_test(both_signs_are_painted_alike),
        cmocka_unit_test(the_log_scale_covers_four_decades),
        cmocka_unit_test(what_should_not_be_there_has_a_colour_of_its_own),
        cmocka_unit_test(ink_can_be_read_on_every_colour_of_every_map),
        cmocka_unit_test(ink_is_chosen_by_what_shines_through),
        cmocka_unit_test(text_can_be_read_in_both_themes),
        cmocka_unit_test(tokens_have_hues_that_differ),
        cmocka_unit_test(blends_are_mixed_in_linear_light_by_weight),
        cmocka_unit_test(a_row_that_sees_one_token_has_its_hue),
        cmocka_unit_test(mixing_and_fading_end_where_they_should),
    };
    return cmocka_run_group_tests_name("scene colour", tests, NULL, NULL);
}
