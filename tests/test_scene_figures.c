/* scene: the figures in the cells. At toy scale every number can be read, in every
 * window; what is read is the tensor's value. */
#include "scene_case.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct scene_rect cell_box(const struct scene_heat *t, int i, int j)
{
    return (struct scene_rect){t->x + (float)j * t->cell_w, t->y + (float)i * t->cell_h,
                               t->cell_w, t->cell_h};
}

static bool has_centre_of(struct scene_rect outer, struct scene_rect inner)
{
    float x = inner.x + inner.w / 2, y = inner.y + inner.h / 2;
    return x >= outer.x && x < outer.x + outer.w && y >= outer.y && y < outer.y + outer.h;
}

/* The only text over cell (i, j); fails where there is none, or another. */
static const struct scene_item *text_in(struct scene_case *c, const struct scene_heat *t,
                                        int i, int j)
{
    const struct scene *sc = &c->sc;
    struct scene_rect cell = cell_box(t, i, j);
    const struct scene_item *found = NULL;
    for (int k = 0; k < sc->n; k++) {
        const struct scene_item *it = &sc->items[k];
        if (it->kind != SCENE_TEXT || !has_centre_of(cell, scene_item_box(sc, it)))
            continue;
        if (found)
            fail_msg("%s: cell %d, %d holds \"%s\" and \"%s\"", case_where(c).text, i, j,
                     found->u.text.text, it->u.text.text);
        found = it;
    }
    if (!found) fail_msg("%s: cell %d, %d has no figure", case_where(c).text, i, j);
    return found;
}

/* "\u22480" stands where "<0.01" does not fit: nearly 0, and not 0. */
static bool is_nearly_zero(const char *text, double value)
{
    return strcmp(text, "\u22480") == 0 && value != 0 && fabs(value) < 0.5;
}

/* it is the figure of cell (i, j): inside, large enough, and true. */
static void check_figure(struct scene_case *c, const struct scene_heat *t,
                         const struct scene_item *it, int i, int j)
{
    const char *text = it->u.text.text;
    struct scene_rect box = scene_item_box(&c->sc, it);
    box.h = c->sc.font->cap[it->u.text.font] * it->u.text.size; /* figures stand */
    if (!rect_holds(cell_box(t, i, j), box, 0.01f))
        fail_msg("%s: \"%s\" is larger than its cell", case_where(c).text, text);
    if (it->u.text.size < 7.5f)
        fail_msg("%s: \"%s\" at %g points", case_where(c).text, text,
                 (double)it->u.text.size);
    double value = (double)(t->m.data[(size_t)i * (size_t)t->m.ld + (size_t)j] * t->gain);
    if (j - i >= t->mask_from) {
        bool weights = t->map == MAP_SEQUENTIAL;
        if (strcmp(text, weights ? "0" : "\u2212\u221E") != 0)
            fail_msg("%s: masked cell %d, %d reads \"%s\"", case_where(c).text, i, j,
                     text);
        if (weights)
            assert_true(value == 0);
        else
            assert_true(isinf(value) && value < 0);
    } else if (!figure_is(text, value) && !is_nearly_zero(text, value)) {
        fail_msg("%s: \"%s\" is not %.9g", case_where(c).text, text, value);
    }
}

/* A live matrix is the tensor it says, whole. */
static void check_is_tensor(struct scene_case *c, const struct scene_item *it)
{
    const struct scene_heat *t = &it->u.heat;
    struct attn_cmat m = scene_tensor_view(&c->src, it->hit.tensor);
    int rows = it->hit.transposed ? m.cols : m.rows;
    int cols = it->hit.transposed ? m.rows : m.cols;
    assert_true(t->row0 == 0 && t->row1 == rows && t->col0 == 0 && t->col1 == cols);
    assert_int_equal(t->shown, (int64_t)rows * cols);
    assert_true(t->gain == 1 && t->alpha == 1);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            int r = it->hit.transposed ? j : i, k = it->hit.transposed ? i : j;
            float want = m.data[(size_t)r * (size_t)m.ld + (size_t)k];
            float got = t->m.data[(size_t)i * (size_t)t->m.ld + (size_t)j];
            assert_true(got == want);
        }
}

/* Matrices of a finished stage: left and right where they have not gone, result, h. */
static const int live_matrices[ATTN_STAGE_COUNT] = {7, 3, 1, 1, 1, 3, 4};

static int check_matrices(struct scene_case *c)
{
    int live = 0;
    for (int k = 0; k < c->sc.n; k++) {
        const struct scene_item *it = &c->sc.items[k];
        if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) continue;
        live++;
        check_is_tensor(c, it);
        for (int i = 0; i < it->u.heat.row1; i++)
            for (int j = 0; j < it->u.heat.col1; j++)
                check_figure(c, &it->u.heat, text_in(c, &it->u.heat, i, j), i, j);
    }
    return live;
}

/* All stages and windows of one run. */
static void check_stages(struct scene_case *c)
{
    for (int k = 0; k < ATTN_STAGE_COUNT * CASE_SIZES; k++) {
        enum attn_stage s = (enum attn_stage)(k / CASE_SIZES);
        struct case_size size = case_sizes[k % CASE_SIZES];
        case_show(c, s, 1, size.w, size.h);
        int n = live_matrices[s];
        if (s == ATTN_OUTPUT && !c->state.opts.residual) n--;
        assert_int_equal(check_matrices(c), n);
    }
}

static void every_toy_number_is_readable_and_true_in_every_window(void **state)
{
    (void)state;
    static const uint32_t seeds[] = {15, 1, 2, 77, 4242};
    for (int seed = 0; seed < 5; seed++) {
        struct scene_case c;
        case_open_toy(&c, seeds[seed]);
        for (int o = 0; o < (seed ? 1 : 8); o++) { /* the switches with one seed */
            c.state.opts = case_opts(o);
            for (int head = 0; head < 2; head++) {
                case_place(&c)->head = head;
                case_run(&c);
                check_stages(&c);
            }
        }
        case_close(&c);
    }
}

/* Whatever moves: a figure over a shown cell of a live matrix is its value. */
static void figures_are_true_at_every_time(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t <= 100; t++) {
            case_show(&c, (enum attn_stage)s, (float)t / 100, 1440, 900);
            for (int k = 0; k < c.sc.n; k++) {
                const struct scene_item *it = &c.sc.items[k];
                if (it->kind != SCENE_TEXT) continue;
                const char *text = it->u.text.text;
                struct figure_read r = figure_read(text);
                if (r.ascii_minus || (r.kind == FIGURE_NUMBER && r.value == 0 &&
                                      (r.decimals > 0 || signbit(r.value))))
                    fail_msg("%s: \"%s\"", case_where(&c).text, text);
            }
        }
    case_close(&c);
}

/* Numbers appear as cells grow, at any scale. */
static void zooming_in_shows_numbers_that_are_true(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    case_tokens(&c, 1024);
    c.state.stage = ATTN_SOFTMAX;
    c.state.time = 1;
    case_build(&c, 1440, 900);
    struct scene_rect canvas = c.sc.canvas;
    float x = canvas.x + canvas.w / 2, y = canvas.y + canvas.h / 2;
    int figures = 0;
    for (int k = 0; k < 5; k++) {
        struct step_action a = {.verb = STEP_ZOOM, .x = x, .y = y, .z = 3};
        assert_true(step_apply(&c.state, a));
        case_build(&c, 1440, 900);
        figures = 0;
        for (int n = 0; n < c.sc.n; n++) {
            const struct scene_item *it = &c.sc.items[n];
            if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) continue;
            const struct scene_heat *t = &it->u.heat;
            for (it++; it->kind == SCENE_TEXT && it->u.text.font == FONT_MONO; it++) {
                struct scene_rect box = scene_item_box(&c.sc, it);
                float x_in = box.x + box.w / 2 - t->x, y_in = it->u.text.y - t->y;
                check_figure(&c, t, it, (int)(y_in / t->cell_h), (int)(x_in / t->cell_w));
                figures++;
            }
        }
    }
    assert_true(figures > 0);
    case_close(&c);
}

int scene_figure_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_toy_number_is_readable_and_true_in_every_window),
        cmocka_unit_test(figures_are_true_at_every_time),
        cmocka_unit_test(zooming_in_shows_numbers_that_are_true),
    };
    return cmocka_run_group_tests_name("scene figures", tests, NULL, NULL);
}
