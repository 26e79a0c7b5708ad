/* gfx: matrices as colours. Nothing is lost when a pixel covers many cells, and masked,
 * missing and impossible values look like what they are. */
#include "gfx_case.h"

#include "heat.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GFX_TEST(f) cmocka_unit_test_prestate(f, &c)

/* All of m at (x, y), everything computed, nothing masked, never kept. */
static struct scene_heat whole(struct attn_cmat m, float x, float y, float cell_w,
                               float cell_h)
{
    struct scene_heat h = {.m = m,
                           .x = x,
                           .y = y,
                           .cell_w = cell_w,
                           .cell_h = cell_h,
                           .row1 = m.rows,
                           .col1 = m.cols,
                           .shown = INT64_MAX,
                           .map = MAP_DIVERGING,
                           .lo = -1,
                           .hi = 1,
                           .gain = 1,
                           .mask_from = INT_MAX,
                           .alpha = 1,
                           .dim = 1,
                           .focus_row1 = m.rows,
                           .focus_col1 = m.cols};
    return h;
}

static struct scene_rgba map_color(enum step_theme theme, const struct scene_heat *h,
                                   float value)
{
    return scene_map_color(scene_theme_get(theme), h->map, h->lo, h->hi, h->log,
                           value * h->gain);
}

/* The pixel in the middle of cell (i, j) of a matrix at (10, 10). */
static struct scene_rgba middle(const struct gfx_case *c, int i, int j, float side)
{
    return gfx_case_pixel(c, 10 + (int)(((float)j + 0.5f) * side),
                          10 + (int)(((float)i + 0.5f) * side));
}

static void draw(struct gfx_case *c, enum step_theme theme, const struct scene_heat *h)
{
    scene_heat(gfx_case_scene(c, theme), h);
    gfx_case_draw(c);
}

/* Cells drawn one by one, and by the shader. */
static const float sides[] = {16, 5, 1};
enum { SIDES = sizeof sides / sizeof sides[0] };

static void check_cells(struct gfx_case *c, enum step_theme theme, struct scene_heat h,
                        const float *v, int cols)
{
    for (int s = 0; s < SIDES; s++) {
        h.x = 10;
        h.y = 10;
        h.cell_w = h.cell_h = sides[s];
        draw(c, theme, &h);
        for (int k = 0; k < 4 * cols; k++)
            assert_color(middle(c, k / cols, k % cols, sides[s]),
                         map_color(theme, &h, v[k]), 2);
    }
}

static void every_cell_has_the_colour_of_its_value(void **state)
{
    struct gfx_case *c = *state;
    enum { COLS = 10 };
    float v[4 * COLS];
    for (int k = 0; k < 4 * COLS; k++) v[k] = (float)(k - 20) / 17; /* beyond the ends */
    for (int theme = 0; theme < 2; theme++) {
        struct scene_heat h = whole((struct attn_cmat){v, 4, COLS, COLS}, 0, 0, 1, 1);
        check_cells(c, (enum step_theme)theme, h, v, COLS);
        h.gain = 0.5f;
        h.gap = 1;
        h.radius = 2;
        check_cells(c, (enum step_theme)theme, h, v, COLS);
        h.map = MAP_SEQUENTIAL;
        h.lo = 0;
        check_cells(c, (enum step_theme)theme, h, v, COLS);
    }
}

static void a_logarithmic_scale_shows_four_decades(void **state)
{
    struct gfx_case *c = *state;
    enum { COLS = 5 };
    float v[4 * COLS];
    for (int k = 0; k < 4 * COLS; k++) v[k] = powf(10, -(float)k / 4);
    v[19] = 0;
    struct scene_heat h = whole((struct attn_cmat){v, 4, COLS, COLS}, 0, 0, 1, 1);
    h.map = MAP_SEQUENTIAL;
    h.lo = 0;
    h.log = true;
    check_cells(c, STEP_LIGHT, h, v, COLS);
}

static void values_below_the_least_are_painted_as_zero(void **state)
{
    struct gfx_case *c = *state;
    enum { COLS = 5 };
    float v[4 * COLS];
    float kept[4 * COLS];
    for (int k = 0; k < 4 * COLS; k++) {
        v[k] = powf(10, -(float)k / 4);
        kept[k] = v[k] < 0.02f ? 0 : v[k];
    }
    struct scene_heat h = whole((struct attn_cmat){v, 4, COLS, COLS}, 0, 0, 1, 1);
    h.map = MAP_SEQUENTIAL;
    h.lo = 0;
    h.log = true;
    h.least = 0.02f;
    check_cells(c, STEP_LIGHT, h, kept, COLS);
}

/* A view into a larger matrix: ld > cols, and rows and columns left out. */
static void a_part_of_a_matrix_is_drawn_where_the_whole_would_be(void **state)
{
    struct gfx_case *c = *state;
    enum { LD = 40, N = 20 };
    float v[N * LD];
    for (int k = 0; k < N * LD; k++) v[k] = k % LD < N ? sinf((float)k) : NAN;
    for (int s = 0; s < SIDES; s++) {
        float side = sides[s] / 2;
        struct scene_heat h = whole((struct attn_cmat){v, N, N, LD}, 10, 10, side, side);
        draw(c, STEP_LIGHT, &h);
        struct scene_rgba first = middle(c, 4, 6, side), last = middle(c, 9, 11, side);
        h.row0 = 4;
        h.row1 = 10;
        h.col0 = 6;
        h.col1 = 12;
        draw(c, STEP_LIGHT, &h);
        assert_color(middle(c, 4, 6, side), first, 0);
        assert_color(middle(c, 9, 11, side), last, 0);
        assert_color(middle(c, 2, 3, side), scene_theme_get(STEP_LIGHT)->paper, 0);
    }
}

/* ---- far away ----------------------------------------------------------------------------- */

enum { BIG = 1024 };

static bool is_seen(const struct gfx_case *c, struct scene_rgba color)
{
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++)
            if (gfx_case_near(gfx_case_pixel(c, x, y), color, 2)) return true;
    return false;
}

static void one_hot_cell_is_seen_at_any_size_and_place(void **state)
{
    struct gfx_case *c = *state;
    float *v = calloc((size_t)BIG * BIG, sizeof *v);
    assert_non_null(v);
    uint32_t seed = 1;
    for (int k = 0; k < 60; k++) {
        int rows = k < 20 ? BIG : 1 + gfx_case_random(&seed, BIG);
        int cols = k < 20 ? BIG : 1 + gfx_case_random(&seed, BIG);
        int i = gfx_case_random(&seed, rows), j = gfx_case_random(&seed, cols);
        float w = 100, h = 100;
        if (k >= 40) { /* not square, not on whole pixels */
            w = 1 + (float)gfx_case_random(&seed, 1500) / 7;
            h = 1 + (float)gfx_case_random(&seed, 1000) / 7;
        }
        struct scene_heat heat =
            whole((struct attn_cmat){v, rows, cols, cols}, 20 + (float)(k % 8) / 8,
                  10 + (float)(k % 5) / 5, w / (float)cols, h / (float)rows);
        float *cell = v + (size_t)i * (size_t)cols + (size_t)j;
        *cell = k % 2 ? -1 : 1;
        draw(c, STEP_LIGHT, &heat);
        assert_true(is_seen(c, map_color(STEP_LIGHT, &heat, *cell)));
        *cell = 0;
        draw(c, STEP_LIGHT, &heat);
        assert_false(is_seen(c, map_color(STEP_LIGHT, &heat, k % 2 ? -1 : 1)));
    }
    free(v);
}

/* What pixel p of the axis covers, in cells that are exact in binary. */
static void covered(int p, float start, float cell, int n, int *first, int *last)
{
    *first = (int)floorf(((float)p - start) / cell);
    *last = (int)ceilf(((float)p + 1 - start) / cell) - 1;
    if (*first < 0) *first = 0;
    if (*last > n - 1) *last = n - 1;
}

/* The definition, cell by cell. false: nothing visible is below the pixel. */
static bool largest(const struct scene_heat *h, int x, int y, float *best)
{
    int i0, i1, j0, j1;
    bool any = false;
    covered(y, h->y, h->cell_h, h->m.rows, &i0, &i1);
    covered(x, h->x, h->cell_w, h->m.cols, &j0, &j1);
    for (int i = i0; i <= i1; i++) {
        for (int j = j0; j <= j1; j++) {
            int64_t at = (int64_t)i * h->m.cols + j;
            if (j - i >= h->mask_from || at >= h->shown) continue;
            if (!any || fabsf(h->m.data[at]) > fabsf(*best)) *best = h->m.data[at];
            any = true;
        }
    }
    return any;
}

static void a_pixel_shows_the_largest_magnitude_below_it(void **state)
{
    struct gfx_case *c = *state;
    enum { N = 300, SHOWN = N * 200 + 77, SIDE = 93 };
    const float cell = 0.3125f; /* exact in binary, as 12 and 20 are */
    float *v = malloc(sizeof *v * N * N);
    assert_non_null(v);
    uint32_t seed = 5;
    for (int k = 0; k < N * N; k++)
        v[k] = (float)(gfx_case_random(&seed, 2001) - 1000) / 1000;
    for (int variant = 0; variant < 3; variant++) {
        struct scene_heat h = whole((struct attn_cmat){v, N, N, N}, 12, 20, cell, cell);
        h.mask_from = variant > 0 ? 1 : INT_MAX;
        h.shown = variant > 1 ? SHOWN : INT64_MAX;
        draw(c, STEP_LIGHT, &h);
        for (int k = 0; k < SIDE * SIDE; k++) {
            int x = 12 + k % SIDE, y = 20 + k / SIDE;
            float best = 0;
            if (largest(&h, x, y, &best))
                assert_color(gfx_case_pixel(c, x, y), map_color(STEP_LIGHT, &h, best), 2);
        }
    }
    free(v);
}

static void a_level_keeps_nan_then_infinity_then_the_largest(void **state)
{
    (void)state;
    uint32_t seed = 9;
    for (int k = 0; k < 40; k++) {
        int rows = 1 + gfx_case_random(&seed, 40), cols = 1 + gfx_case_random(&seed, 40);
        int ld = cols + gfx_case_random(&seed, 3);
        float m[40 * 42], out[21 * 64];
        for (int i = 0; i < rows * ld; i++)
            m[i] = (float)(gfx_case_random(&seed, 201) - 100);
        if (k % 3 == 1)
            m[(ptrdiff_t)gfx_case_random(&seed, rows) * ld + cols - 1] = -INFINITY;
        if (k % 3 == 2) m[(ptrdiff_t)(rows - 1) * ld] = NAN;
        int level_y[HEAT_LEVELS], n = 0;
        int filled = heat_levels(out, (struct attn_cmat){m, rows, cols, ld}, level_y, &n);
        assert_true(filled <= rows + HEAT_LEVELS);
        float want = 0,
              got = n > 1 ? out[(ptrdiff_t)level_y[n - 1] * ((cols + 1) / 2)] : m[0];
        bool nan = false;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < cols; j++) {
                float x = m[i * ld + j];
                nan = nan || isnan(x);
                want = fmaxf(want, fabsf(x));
            }
        }
        assert_true(nan ? isnan(got) : fabsf(got) == want);
    }
}

/* ---- values that are no numbers -------------------------------------------------------------- */

static void impossible_values_are_seen_above_all_others(void **state)
{
    struct gfx_case *c = *state;
    enum { N = 64 };
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    float *v = calloc((size_t)BIG * BIG, sizeof *v);
    assert_non_null(v);
    struct scene_rgba color = scene_theme_get(STEP_DARK)->odd;
    for (int k = 0; k < 3; k++) {
        for (int s = 0; s < SIDES + 2; s++) {
            int n = s < SIDES ? 9 : BIG;
            float cell = s < SIDES ? sides[s] : s == SIDES ? 0.15f : 0.02f;
            float *visible = v + (ptrdiff_t)5 * n + 3, *masked = v + (ptrdiff_t)3 * n + 5;
            for (int i = 0; i < n * n; i++) v[i] = 1;
            *visible = odd[k];
            struct scene_heat h =
                whole((struct attn_cmat){v, n, n, n}, 20, 10, cell, cell);
            h.mask_from = 1; /* (5, 3) is not masked */
            draw(c, STEP_DARK, &h);
            assert_true(is_seen(c, color));
            *visible = 1;
            *masked = odd[k]; /* but (3, 5) is */
            draw(c, STEP_DARK, &h);
            assert_false(is_seen(c, color));
        }
    }
    free(v);
}

/* On the line from a to b. */
static bool lies_between(struct scene_rgba p, struct scene_rgba a, struct scene_rgba b)
{
    const int lo[3] = {a.r < b.r ? a.r : b.r, a.g < b.g ? a.g : b.g,
                       a.b < b.b ? a.b : b.b};
    const int hi[3] = {a.r > b.r ? a.r : b.r, a.g > b.g ? a.g : b.g,
                       a.b > b.b ? a.b : b.b};
    return p.r >= lo[0] - 1 && p.r <= hi[0] + 1 && p.g >= lo[1] - 1 && p.g <= hi[1] + 1 &&
           p.b >= lo[2] - 1 && p.b <= hi[2] + 1;
}

static void masked_cells_are_hatched_and_no_others(void **state)
{
    struct gfx_case *c = *state;
    enum { N = 8 };
    float v[N * N];
    for (int k = 0; k < N * N; k++) v[k] = k % N > k / N ? -INFINITY : 1;
    const struct scene_theme *t = scene_theme_get(STEP_LIGHT);
    for (int s = 0; s < 2; s++) { /* wide enough to have hatch lines in it */
        float side = s ? 20 : 8;
        struct scene_heat h = whole((struct attn_cmat){v, N, N, N}, 10, 10, side, side);
        h.mask_from = 1;
        draw(c, STEP_LIGHT, &h);
        int plain = 0, lines = 0;
        for (int y = 0; y < N * (int)side; y++) {
            for (int x = 0; x < N * (int)side; x++) {
                struct scene_rgba p = gfx_case_pixel(c, 10 + x, 10 + y);
                if (x / (int)side <= y / (int)side) {
                    assert_color(p, map_color(STEP_LIGHT, &h, 1), 2);
                    continue;
                }
                assert_true(lies_between(p, t->mask, t->hatch));
                plain += gfx_case_near(p, t->mask, 1);
                lines += gfx_case_near(p, t->hatch, 1);
            }
        }
        assert_true(plain > lines && lines > 100);
    }
}

static void cells_not_computed_yet_are_empty(void **state)
{
    struct gfx_case *c = *state;
    enum { N = 6, SHOWN = 15 };
    float v[N * N];
    for (int k = 0; k < N * N; k++) v[k] = 1;
    const struct scene_theme *t = scene_theme_get(STEP_DARK);
    for (int s = 0; s < 3; s++) {
        float side = s == 2 ? 30 : sides[s];
        struct scene_heat h = whole((struct attn_cmat){v, N, N, N}, 10, 10, side, side);
        h.shown = SHOWN;
        draw(c, STEP_DARK, &h);
        for (int k = 0; k < N * N; k++) {
            struct scene_rgba p = middle(c, k / N, k % N, side);
            assert_color(p, k < SHOWN ? map_color(STEP_DARK, &h, 1) : t->empty, 2);
        }
        assert_int_equal(is_seen(c, t->empty_line), s == 2); /* dashes need room */
    }
}

static struct scene_rgba over(struct scene_rgba below, struct scene_rgba color,
                              double alpha)
{
    struct scene_rgba mixed = {(uint8_t)lround(below.r + (color.r - below.r) * alpha),
                               (uint8_t)lround(below.g + (color.g - below.g) * alpha),
                               (uint8_t)lround(below.b + (color.b - below.b) * alpha),
                               255};
    return mixed;
}

static void what_is_out_of_focus_is_dimmed(void **state)
{
    struct gfx_case *c = *state;
    enum { N = 6 };
    float v[N * N];
    for (int k = 0; k < N * N; k++) v[k] = 1;
    struct scene_rgba paper = scene_theme_get(STEP_LIGHT)->paper;
    for (int s = 0; s < SIDES; s++) {
        struct scene_heat h =
            whole((struct attn_cmat){v, N, N, N}, 10, 10, sides[s], sides[s]);
        h.alpha = 0.8f;
        h.dim = 0.25f;
        h.focus_row0 = 1;
        h.focus_row1 = 3;
        h.focus_col0 = 2;
        draw(c, STEP_LIGHT, &h);
        for (int k = 0; k < N * N; k++) {
            bool focus = k / N >= 1 && k / N < 3 && k % N >= 2;
            struct scene_rgba p = middle(c, k / N, k % N, sides[s]);
            assert_color(p, over(paper, map_color(STEP_LIGHT, &h, 1), focus ? 0.8 : 0.2),
                         2);
        }
    }
}

static void gaps_show_what_is_below(void **state)
{
    struct gfx_case *c = *state;
    float v[4] = {1, 1, 1, 1};
    struct scene_heat h = whole((struct attn_cmat){v, 2, 2, 2}, 10, 10, 40, 40);
    h.gap = 2;
    h.radius = 3;
    draw(c, STEP_LIGHT, &h);
    struct scene_rgba paper = scene_theme_get(STEP_LIGHT)->paper;
    assert_color(gfx_case_pixel(c, 49, 30), paper, 0);
    assert_color(gfx_case_pixel(c, 50, 30), paper, 0);
    assert_color(gfx_case_pixel(c, 11, 11), paper, 60); /* a corner, partly */
    assert_color(gfx_case_pixel(c, 48, 30), map_color(STEP_LIGHT, &h, 1), 0);
    assert_color(gfx_case_pixel(c, 51, 30), map_color(STEP_LIGHT, &h, 1), 0);
}

/* ---- textures that are kept ---------------------------------------------------------------- */

static void a_key_stands_for_its_numbers_until_it_changes(void **state)
{
    struct gfx_case *c = *state;
    float v[16];
    for (int k = 0; k < 16; k++) v[k] = 1;
    struct scene_heat h = whole((struct attn_cmat){v, 4, 4, 4}, 10, 10, 3, 3);
    h.key = 77;
    draw(c, STEP_LIGHT, &h);
    struct scene_rgba hot = map_color(STEP_LIGHT, &h, 1),
                      cold = map_color(STEP_LIGHT, &h, -1);
    assert_color(gfx_case_pixel(c, 15, 15), hot, 0);
    for (int k = 0; k < 16; k++) v[k] = -1;
    draw(c, STEP_LIGHT, &h);
    assert_color(gfx_case_pixel(c, 15, 15), hot, 0); /* the key said: the same */
    h.key = 78;
    draw(c, STEP_LIGHT, &h);
    assert_color(gfx_case_pixel(c, 15, 15), cold, 0);
    for (int k = 0; k < 16; k++) v[k] = 1;
    h.key = 0;
    draw(c, STEP_LIGHT, &h);
    assert_color(gfx_case_pixel(c, 15, 15), hot, 0);
}

/* More matrices than are kept: the memory stays bounded, and each is drawn right. */
static void many_matrices_share_a_bounded_cache(void **state)
{
    struct gfx_case *c = *state;
    struct heat_cache *cache = malloc(sizeof *cache);
    float *v = calloc((size_t)BIG * BIG, sizeof *v);
    assert_non_null(cache);
    assert_non_null(v);
    gfx_case_scene(c, STEP_LIGHT);
    gfx_case_draw(c); /* its context is current now */
    heat_cache_init(cache);
    struct heat_texture t;
    struct err e = {0};
    struct attn_cmat m = {v, BIG, BIG, BIG};
    for (uint64_t key = 1; key <= 60; key++) {
        m.rows = m.cols = BIG - 60 + (int)key; /* a text that is typed */
        heat_cache_frame(cache);
        assert_true(heat_acquire(cache, m, key, &t, &e));
        assert_true(cache->bytes <= HEAT_BYTES);
        assert_true(cache->n <= HEAT_ALIKE + 2);
    }
    GLuint last = t.id;
    assert_true(heat_acquire(cache, m, 60, &t, &e));
    assert_int_equal(t.id, last);
    GLuint id[20];
    for (uint64_t key = 61; key <= 80; key++) {
        assert_true(heat_acquire(cache, m, key, &t, &e));
        assert_true(cache->bytes <= HEAT_BYTES);
        id[key - 61] = t.id;
    }
    heat_cache_frame(cache); /* what the last frame showed may be shown again: it stays */
    assert_true(heat_acquire(cache, m, 81, &t, &e));
    for (uint64_t key = 61; key <= 80; key++) {
        assert_true(heat_acquire(cache, m, key, &t, &e));
        assert_int_equal(t.id, id[key - 61]);
    }
    m.cols = m.ld = cache->max_size;
    m.rows = 1;
    assert_false(heat_acquire(cache, m, 82, &t, &e)); /* no room for its levels */
    assert_non_null(strstr(e.text, "more than this OpenGL can draw"));
    heat_cache_fini(cache);
    free(cache);
    free(v);
}

/* Their textures are filled again and again; each shows its own numbers, levels too. */
static void a_texture_that_is_filled_again_shows_the_new_numbers(void **state)
{
    struct gfx_case *c = *state;
    enum { N = 520, LAPS = 2, ALL = 4 * HEAT_ALIKE + 3 };
    float *v = calloc((size_t)N * N, sizeof *v);
    assert_non_null(v);
    for (int lap = 0; lap < LAPS; lap++)
        for (int k = 0; k < ALL; k++) {
            float value = (float)(k % 5 - 2) / 2;
            for (int i = 0; i < N * N; i++) v[i] = value;
            struct scene_heat h = whole((struct attn_cmat){v, N, N, N}, 10, 10, 3, 3);
            if (k % 2) h.cell_w = h.cell_h = 0.25f;
            h.key = 1000 + (uint64_t)k;
            draw(c, STEP_LIGHT, &h);
            assert_color(gfx_case_pixel(c, 60, 60), map_color(STEP_LIGHT, &h, value), 1);
        }
    free(v);
}

int main(void)
{
    struct gfx_case c;
    int missing = gfx_case_init(&c);
    if (missing) return missing;
    const struct CMUnitTest tests[] = {
        GFX_TEST(every_cell_has_the_colour_of_its_value),
        GFX_TEST(a_logarithmic_scale_shows_four_decades),
        GFX_TEST(values_below_the_least_are_painted_as_zero),
        GFX_TEST(a_part_of_a_matrix_is_drawn_where_the_whole_would_be),
        GFX_TEST(one_hot_cell_is_seen_at_any_size_and_place),
        GFX_TEST(a_pixel_shows_the_largest_magnitude_below_it),
        GFX_TEST(a_level_keeps_nan_then_infinity_then_the_largest),
        GFX_TEST(impossible_values_are_seen_above_all_others),
        GFX_TEST(masked_cells_are_hatched_and_no_others),
        GFX_TEST(cells_not_computed_yet_are_empty),
        GFX_TEST(what_is_out_of_focus_is_dimmed),
        GFX_TEST(gaps_show_what_is_below),
        GFX_TEST(a_key_stands_for_its_numbers_until_it_changes),
        GFX_TEST(a_texture_that_is_filled_again_shows_the_new_numbers),
        GFX_TEST(many_matrices_share_a_bounded_cache),
    };
    int failed = cmocka_run_group_tests_name("gfx_heat", tests, NULL, NULL);
    gfx_case_fini(&c);
    return failed;
}
