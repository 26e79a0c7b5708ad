/* gfx: shapes and text as pixels, clips, tiles, density, shaders from files, errors. */
#include "gfx_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GFX_TEST(f) cmocka_unit_test_prestate(f, &c)

static const struct scene_rgba black = {0, 0, 0, 255}, red = {200, 30, 40, 255};

static struct scene_rgba paper(void)
{
    return scene_theme_get(STEP_LIGHT)->paper;
}

static struct scene_rgba over(struct scene_rgba below, struct scene_rgba c, double alpha)
{
    struct scene_rgba mixed = {(uint8_t)lround(below.r + (c.r - below.r) * alpha),
                               (uint8_t)lround(below.g + (c.g - below.g) * alpha),
                               (uint8_t)lround(below.b + (c.b - below.b) * alpha), 255};
    return mixed;
}

static void a_rectangle_fills_its_pixels_and_no_other(void **state)
{
    struct gfx_case *c = *state;
    /* Small ones, and one so large that its inside is a pass of its own. */
    static const struct scene_rect box[] = {
        {10, 20, 30, 7}, {50, 60, 1, 1}, {100, 20, 200, 150}};
    for (size_t k = 0; k < sizeof box / sizeof box[0]; k++) {
        scene_rect(gfx_case_scene(c, STEP_LIGHT), box[k], 0, red);
        gfx_case_draw(c);
        for (int y = 0; y < c->h; y++) {
            for (int x = 0; x < c->w; x++) {
                bool in = (float)x >= box[k].x && (float)x < box[k].x + box[k].w &&
                          (float)y >= box[k].y && (float)y < box[k].y + box[k].h;
                assert_color(gfx_case_pixel(c, x, y), in ? red : paper(), 0);
            }
        }
    }
}

static void transparency_is_blended_in_srgb(void **state)
{
    struct gfx_case *c = *state;
    for (int a = 0; a <= 255; a += 15) {
        struct scene_rgba faint = red;
        faint.a = (uint8_t)a;
        scene_rect(gfx_case_scene(c, STEP_LIGHT), (struct scene_rect){10, 10, 40, 40}, 4,
                   faint);
        gfx_case_draw(c);
        assert_color(gfx_case_pixel(c, 30, 30), over(paper(), red, a / 255.0), 1);
    }
}

static void corners_are_round_and_borders_lie_inside(void **state)
{
    struct gfx_case *c = *state;
    static const float side[] = {40, 160}; /* drawn whole, and as rim and inside */
    for (int k = 0; k < 2; k++) {
        int n = (int)side[k];
        scene_border(gfx_case_scene(c, STEP_LIGHT),
                     (struct scene_rect){10, 10, side[k], side[k]}, 8, 2, red, black);
        gfx_case_draw(c);
        assert_color(gfx_case_pixel(c, 10, 10), paper(), 0);       /* corner */
        assert_color(gfx_case_pixel(c, 10 + n / 2, 10), black, 0); /* border */
        assert_color(gfx_case_pixel(c, 10 + n / 2, 11), black, 0);
        assert_color(gfx_case_pixel(c, 10 + n / 2, 12), red, 0);      /* inside */
        assert_color(gfx_case_pixel(c, 10 + n / 2, 9), paper(), 0);   /* outside */
        assert_color(gfx_case_pixel(c, 9 + n, 10 + n / 2), black, 0); /* right */
    }
    scene_rect(gfx_case_scene(c, STEP_LIGHT), (struct scene_rect){20.3f, 20.6f, 50, 50},
               25, black);
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - 3.14159265 * 25 * 25) < 4);
}

static void a_rectangle_thinner_than_a_pixel_is_as_faint_as_it_is_thin(void **state)
{
    struct gfx_case *c = *state;
    scene_rect(gfx_case_scene(c, STEP_LIGHT), (struct scene_rect){30.2f, 10, 0.25f, 40},
               0, black);
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - 10) < 0.5);
}

static void a_soft_edge_fades(void **state)
{
    struct gfx_case *c = *state;
    scene_rect(gfx_case_scene(c, STEP_LIGHT), (struct scene_rect){40, 40, 80, 80}, 6,
               black)
        ->u.rect.soft = 12;
    gfx_case_draw(c);
    double before = 0;
    for (int x = 32; x < 48; x++) {
        double ink = gfx_case_ink(c, x, 80, x + 1, 81);
        assert_true(ink >= before);
        before = ink;
    }
    assert_true(before > 0.99 && gfx_case_ink(c, 33, 80, 34, 81) < 0.01);
}

static void nothing_is_drawn_outside_a_clip(void **state)
{
    struct gfx_case *c = *state;
    float x[3] = {60, 200, 20}, y[3] = {0, 150, 180}, v[4] = {1, 2, 3, 4};
    struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
    struct scene_heat heat = {.m = {v, 2, 2, 2},
                              .x = 5,
                              .y = 5,
                              .cell_w = 90,
                              .cell_h = 90,
                              .row1 = 2,
                              .col1 = 2,
                              .shown = 4,
                              .hi = 4,
                              .lo = -4,
                              .gain = 1,
                              .mask_from = 1,
                              .alpha = 1,
                              .dim = 1};
    scene_heat(sc, &heat);
    heat.cell_w = heat.cell_h = 4;
    heat.x = heat.y = 96;
    scene_heat(sc, &heat);
    scene_rect(sc, (struct scene_rect){0, 0, 300, 190}, 20, scene_fade(red, 0.5f));
    scene_triangle(sc, x, y, black);
    scene_line(sc, 0, 10, 300, 190, 5, black);
    scene_line(sc, 0, 120, 300, 120, 3, black)->u.line.dash = 3;
    scene_text(sc, 60, 130, ALIGN_LEFT, FONT_UI_BOLD, 60, black, "clipped text");
    for (int i = 0; i < sc->n; i++)
        sc->items[i].clip = (struct scene_rect){100, 100, 50, 40};
    gfx_case_draw(c);
    int seen = 0;
    for (int py = 0; py < c->h; py++) {
        for (int px = 0; px < c->w; px++) {
            bool in = px >= 100 && px < 150 && py >= 100 && py < 140;
            if (!in) assert_color(gfx_case_pixel(c, px, py), paper(), 0);
            seen += in && !gfx_case_near(gfx_case_pixel(c, px, py), paper(), 0);
        }
    }
    assert_int_equal(seen, 50 * 40);
}

static void later_items_cover_earlier_ones(void **state)
{
    struct gfx_case *c = *state;
    struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
    float v = 1;
    struct scene_heat heat = {.m = {&v, 1, 1, 1},
                              .x = 10,
                              .y = 10,
                              .cell_w = 8,
                              .cell_h = 8,
                              .row1 = 1,
                              .col1 = 1,
                              .shown = 1,
                              .lo = -1,
                              .hi = 1,
                              .gain = 1,
                              .mask_from = 1,
                              .alpha = 1,
                              .dim = 1};
    scene_rect(sc, (struct scene_rect){0, 0, 200, 200}, 0, black);  /* a fill, */
    scene_heat(sc, &heat);                                          /* a heat map, */
    scene_rect(sc, (struct scene_rect){14, 14, 20, 20}, 2, red);    /* a shape, */
    scene_rect(sc, (struct scene_rect){24, 0, 150, 150}, 0, black); /* and a fill */
    gfx_case_draw(c);
    struct scene_rgba hot =
        scene_map_color(scene_theme_get(STEP_LIGHT), MAP_DIVERGING, -1, 1, false, 1);
    assert_color(gfx_case_pixel(c, 5, 5), black, 0);
    assert_color(gfx_case_pixel(c, 12, 12), hot, 0);
    assert_color(gfx_case_pixel(c, 20, 20), red, 0);
    assert_color(gfx_case_pixel(c, 28, 28), black, 0);
}

/* Items of every kind, the same for the same seed, the larger the earlier. */
static void scatter(struct scene *sc, uint32_t seed)
{
    for (int i = 0; i < 40; i++) {
        float x = (float)gfx_case_random(&seed, CASE_W), w = (float)(200 - 4 * i);
        float y = (float)gfx_case_random(&seed, CASE_H), h = w * 0.7f;
        const float px[3] = {x, x + w, x}, py[3] = {y, y, y + h};
        struct scene_rgba color = {(uint8_t)(i * 6), (uint8_t)(255 - i * 5), 90,
                                   i % 3 ? 255 : 120};
        struct scene_rect box = {x - w / 2, y - h / 2, w, h};
        switch (i % 5) {
        case 0:
            scene_rect(sc, box, 0, color);
            break;
        case 1:
            scene_border(sc, box, 9, 2, color, black);
            break;
        case 2:
            scene_triangle(sc, px, py, color);
            break;
        case 3:
            scene_line(sc, x, y, x - w, y - h, 3, color);
            break;
        default:
            scene_text(sc, x, y, ALIGN_CENTER, FONT_UI, 30, color, "hidden?");
        }
    }
}

/* What a large opaque box hides is left out. In strips, each too small for that, it has to
 * give the same picture. */
static void what_is_hidden_is_left_out_and_nothing_else(void **state)
{
    enum { SIZE = CASE_W * CASE_H, STRIPS = 10 };
    static const struct scene_rect hides[] = {
        {5, 10, 310, 180}, {-20, -20, 300, 400}, {60, 0, 200, 200}, {0, 0, 320, 200}};
    struct gfx_case *c = *state;
    static struct scene_rgba whole[SIZE];
    for (uint32_t k = 0; k < 16; k++) {
        struct scene_rect box = hides[k % 4];
        struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
        scatter(sc, k);
        if (k % 3) scene_rect(sc, box, 0, red);
        scatter(sc, k + 100);
        scene_rect(sc, box, 0, black)->clip = (struct scene_rect){40, 0, 1000, 140};
        scene_text(sc, 160, 100, ALIGN_CENTER, FONT_UI, 20, red, "above");
        gfx_case_draw(c);
        for (int i = 0; i < SIZE; i++)
            whole[i] = gfx_case_pixel(c, i % CASE_W, i / CASE_W);

        sc = gfx_case_scene(c, STEP_LIGHT);
        scatter(sc, k);
        struct scene_rect strip = box;
        strip.h /= STRIPS;
        for (int i = 0; k % 3 && i < STRIPS; i++, strip.y += strip.h)
            scene_rect(sc, strip, 0, red);
        scatter(sc, k + 100);
        strip.y = box.y;
        for (int i = 0; i < STRIPS; i++, strip.y += strip.h)
            scene_rect(sc, strip, 0, black)->clip = (struct scene_rect){40, 0, 1000, 140};
        scene_text(sc, 160, 100, ALIGN_CENTER, FONT_UI, 20, red, "above");
        gfx_case_draw(c);
        for (int i = 0; i < SIZE; i++)
            assert_color(gfx_case_pixel(c, i % CASE_W, i / CASE_W), whole[i], 1);
    }
}

/* A box hides nothing at its round corners, nor where it is translucent. */
static void what_is_seen_past_a_large_box_is_drawn(void **state)
{
    struct gfx_case *c = *state;
    struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
    scene_rect(sc, (struct scene_rect){0, 0, 320, 200}, 0, red);
    scene_rect(sc, (struct scene_rect){0, 0, 320, 200}, 30, black);
    gfx_case_draw(c);
    assert_color(gfx_case_pixel(c, 2, 2), red, 0);
    assert_color(gfx_case_pixel(c, 317, 197), red, 0);
    assert_color(gfx_case_pixel(c, 160, 100), black, 0);
    sc = gfx_case_scene(c, STEP_LIGHT);
    scene_rect(sc, (struct scene_rect){0, 0, 320, 200}, 0, red);
    scene_rect(sc, (struct scene_rect){0, 0, 320, 200}, 0,
               (struct scene_rgba){0, 0, 0, 254});
    gfx_case_draw(c);
    assert_color(gfx_case_pixel(c, 160, 100), over(red, black, 254 / 255.0), 1);
    assert_false(gfx_case_near(gfx_case_pixel(c, 160, 100), black, 0));
    sc = gfx_case_scene(c, STEP_LIGHT);
    scene_rect(sc, (struct scene_rect){0, 0, 320, 200}, 0, red);
    scene_rect(sc, (struct scene_rect){40, 40, 240, 160}, 0, black)->u.rect.soft = 20;
    gfx_case_draw(c);
    assert_color(gfx_case_pixel(c, 40, 120), over(red, black, 0.525), 3);
}

static void lines_have_their_width_and_dashes_their_gaps(void **state)
{
    struct gfx_case *c = *state;
    struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
    scene_line(sc, 50.5f, 10, 50.5f, 110, 1, black);
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 50, 10, 51, 110) - 100) < 0.01);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - 100) < 0.01);

    sc = gfx_case_scene(c, STEP_LIGHT);
    scene_line(sc, 20, 20, 140, 110, 3, black); /* 150 long */
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - 450) < 5);

    for (int slanted = 0; slanted < 2; slanted++) {
        sc = gfx_case_scene(c, STEP_LIGHT);
        scene_line(sc, 20, 20, slanted ? 140 : 170, slanted ? 110 : 20, 2, black)
            ->u.line.dash = 5;
        gfx_case_draw(c);
        assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - 150) < 8);
    }
}

static void a_polygon_covers_its_area(void **state)
{
    struct gfx_case *c = *state;
    static const float x[3] = {20.3f, 80.7f, 33}, y[3] = {10, 41.2f, 90.6f};
    double area = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        area += (double)(x[i] * y[j] - x[j] * y[i]) / 2;
    }
    scene_triangle(gfx_case_scene(c, STEP_LIGHT), x, y, black);
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - area) < 0.01 * area);
    float back_x[3] = {x[0], x[2], x[1]}, back_y[3] = {y[0], y[2], y[1]};
    scene_triangle(gfx_case_scene(c, STEP_LIGHT), back_x, back_y, black);
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - area) < 0.01 * area);
}

/* ---- text ---------------------------------------------------------------------------- */

static double text_ink(struct gfx_case *c, float x, enum scene_font font, float size,
                       const char *text)
{
    scene_text(gfx_case_scene(c, STEP_LIGHT), x, 100, ALIGN_LEFT, font, size, black,
               text);
    gfx_case_draw(c);
    return gfx_case_ink(c, 0, 0, c->w, c->h);
}

static void letters_keep_their_ink_at_every_place_in_a_pixel(void **state)
{
    struct gfx_case *c = *state;
    for (int font = 0; font < FONT_COUNT; font++) {
        double first = text_ink(c, 40, (enum scene_font)font, 13, "jWfg-\u22120.5\u00c5");
        assert_true(first > 20);
        for (int k = 1; k < 8; k++) {
            double ink = text_ink(c, 40 + (float)k / 8, (enum scene_font)font, 13,
                                  "jWfg-\u22120.5\u00c5");
            assert_true(fabs(ink - first) < 0.01 * first);
        }
    }
}

static void text_moves_by_quarter_pixels_and_repeats_after_a_whole_one(void **state)
{
    struct gfx_case *c = *state;
    (void)text_ink(c, 40, FONT_UI, 13, "minimum");
    uint8_t *first = malloc((size_t)c->w * (size_t)c->h * 4);
    assert_non_null(first);
    size_t row = (size_t)c->w * 4;
    memcpy(first, c->pixels, row * (size_t)c->h);
    (void)text_ink(c, 40.25f, FONT_UI, 13, "minimum");
    assert_true(memcmp(first, c->pixels, row * (size_t)c->h) != 0);
    (void)text_ink(c, 41, FONT_UI, 13, "minimum");
    for (size_t y = 0; y < (size_t)c->h; y++)
        assert_memory_equal(first + y * row, c->pixels + y * row + 4, row - 4);
    free(first);
}

/* Ink begins and ends where the metrics say, whatever the font. */
static void text_is_as_wide_as_its_metrics(void **state)
{
    struct gfx_case *c = *state;
    static const char text[] = "HHHHHHHHHHHHHHHHHHHH";
    for (int font = 0; font < FONT_COUNT; font++) {
        float width =
            font_width(gfx_metrics(c->gfx), (enum scene_font)font, 14, text, -1);
        (void)text_ink(c, 20, (enum scene_font)font, 14, text);
        int left = c->w, right = 0;
        for (int x = 0; x < c->w; x++) {
            if (gfx_case_ink(c, x, 80, x + 1, 105) < 0.1) continue;
            left = x < left ? x : left;
            right = x + 1;
        }
        float bearing = (float)left - 20; /* the same on both sides of an H */
        assert_true(fabsf((float)right - (20 + width - bearing)) < 1.6f);
    }
}

static void text_stands_on_its_baseline(void **state)
{
    struct gfx_case *c = *state;
    for (int font = 0; font < FONT_COUNT; font++) {
        (void)text_ink(c, 20, (enum scene_font)font, 15, "HEH");
        float cap = gfx_metrics(c->gfx)->cap[font] * 15;
        assert_true(cap > 9 && cap < 13);
        assert_true(gfx_case_ink(c, 0, 100, c->w, c->h) < 0.01);
        assert_true(gfx_case_ink(c, 0, 99, c->w, 100) > 3);
        /* Letters are fitted to the grid: up to a pixel taller than they are. */
        assert_true(gfx_case_ink(c, 0, 0, c->w, 99 - (int)ceilf(cap)) < 0.01);
    }
}

/* Whether another font has it or none, something is seen, and it keeps to its room. */
static void a_missing_letter_is_drawn_within_its_advance(void **state)
{
    struct gfx_case *c = *state;
    static const char *const rare[] = {"\u23ce", "\u21e5", "\u5b57", "\U0001f600",
                                       "\ufffd"};
    for (size_t k = 0; k < sizeof rare / sizeof rare[0]; k++) {
        double ink = text_ink(c, 100, FONT_MONO, 20, rare[k]);
        float room = font_width(gfx_metrics(c->gfx), FONT_MONO, 20, rare[k], -1);
        assert_true(ink > 1);
        assert_true(gfx_case_ink(c, 0, 0, 98, c->h) < 0.01);
        assert_true(gfx_case_ink(c, 102 + (int)ceilf(room), 0, c->w, c->h) < 0.01);
    }
}

/* Arabic letters touch: from the word's first ink to its last no column is empty. */
static void arabic_letters_join(void **state)
{
    struct gfx_case *c = *state;
    static const char word[] = "\u0628\u062A\u0646\u064A"; /* all join on both sides */
    for (int font = 0; font < FONT_COUNT; font++) {
        (void)text_ink(c, 40, (enum scene_font)font, 30, word);
        int left = c->w, right = 0;
        for (int x = 0; x < c->w; x++) {
            if (gfx_case_ink(c, x, 60, x + 1, 130) < 0.1) continue;
            left = x < left ? x : left;
            right = x + 1;
        }
        assert_true(right - left > 40);
        for (int x = left; x < right; x++)
            assert_true(gfx_case_ink(c, x, 60, x + 1, 130) > 0.1);
    }
}

/* More glyphs than the atlas holds: it grows, then starts again, and nothing is lost. */
static void text_survives_a_full_atlas(void **state)
{
    struct gfx_case *c = *state;
    double alone = text_ink(c, 10, FONT_UI_BOLD, 33, "last");
    struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
    for (int size = 60; size < 250; size += 2)
        for (int font = 0; font < FONT_COUNT; font++)
            scene_text(sc, 0, 150, ALIGN_LEFT, (enum scene_font)font, (float)size,
                       scene_fade(red, 0), "@Wmg#%&QO");
    scene_text(sc, 10, 100, ALIGN_LEFT, FONT_UI_BOLD, 33, black, "last");
    gfx_case_draw(c);
    assert_true(fabs(gfx_case_ink(c, 0, 0, c->w, c->h) - alone) < 0.01);
}

/* ---- pictures ---------------------------------------------------------------------------- */

static void a_scene_larger_than_the_buffers_is_drawn_whole(void **state)
{
    struct gfx_case *c = *state;
    struct scene *sc = gfx_case_scene(c, STEP_LIGHT);
    for (int i = 0; i < 9000; i++)
        scene_border(sc, (struct scene_rect){0, 0, 120, 120}, 5, 1, red, red);
    scene_rect(sc, (struct scene_rect){50, 50, 5, 5}, 0, black);
    gfx_case_draw(c);
    assert_color(gfx_case_pixel(c, 52, 52), black, 0);
    assert_color(gfx_case_pixel(c, 60, 60), red, 0);
}

static void compose(struct scene *sc, float x)
{
    scene_rect(sc, (struct scene_rect){x, 10, 120, 100}, 12, scene_fade(red, 0.4f));
    scene_text(sc, x, 60, ALIGN_LEFT, FONT_UI, 19, black, "across the seam of two tiles");
    scene_line(sc, x, 70, x + 200, 120, 2, black);
    static float v[25];
    for (int i = 0; i < 25; i++) v[i] = (float)i;
    struct scene_heat heat = {.m = {v, 5, 5, 5},
                              .x = x,
                              .y = 120,
                              .cell_w = 30,
                              .cell_h = 13,
                              .row1 = 5,
                              .col1 = 5,
                              .shown = 21,
                              .lo = -24,
                              .hi = 24,
                              .gain = 1,
                              .mask_from = 1,
                              .alpha = 1,
                              .dim = 1,
                              .gap = 2,
                              .radius = 2};
    scene_heat(sc, &heat);
    heat.x = x + 170;
    heat.cell_w = heat.cell_h = 11;
    scene_heat(sc, &heat);
}

static void a_picture_of_several_tiles_has_no_seam(void **state)
{
    struct gfx_case *c = *state;
    enum { SHIFT = 3960, WIDTH = 300 }; /* a multiple of the patterns' periods */
    compose(gfx_case_scene(c, STEP_LIGHT), 40);
    gfx_case_draw_at(c, 1, WIDTH, CASE_H);
    size_t row = (size_t)WIDTH * 4;
    uint8_t *small = malloc(row * CASE_H);
    assert_non_null(small);
    memcpy(small, c->pixels, row * CASE_H);
    compose(gfx_case_scene(c, STEP_LIGHT), 40 + SHIFT);
    gfx_case_draw_at(c, 1, SHIFT + WIDTH, CASE_H);
    for (int y = 0; y < CASE_H; y++) { /* slanted edges: float rounding at x = 4,000 */
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *p = small + (size_t)y * row + (size_t)x * 4;
            struct scene_rgba want = {p[0], p[1], p[2], p[3]};
            assert_color(gfx_case_pixel(c, SHIFT + x, y), want, 1);
        }
    }
    free(small);
}

static void the_same_scene_gives_the_same_picture(void **state)
{
    struct gfx_case *c = *state;
    compose(gfx_case_scene(c, STEP_LIGHT), 10.3f);
    gfx_case_draw(c);
    size_t size = (size_t)c->w * (size_t)c->h * 4;
    uint8_t *first = malloc(size);
    assert_non_null(first);
    memcpy(first, c->pixels, size);
    gfx_case_draw_at(c, 2, CASE_W, CASE_H);
    assert_true(memcmp(first, c->pixels, size) != 0);
    gfx_case_draw(c);
    assert_memory_equal(first, c->pixels, size);
    free(first);
}

static void density_scales_points_to_pixels(void **state)
{
    struct gfx_case *c = *state;
    scene_rect(gfx_case_scene(c, STEP_DARK), (struct scene_rect){10, 20, 7, 5}, 0, red);
    gfx_case_draw_at(c, 2.5f, CASE_W, CASE_H);
    assert_color(gfx_case_pixel(c, 25, 50), red, 0);
    assert_color(gfx_case_pixel(c, 42, 62), red, 0);
    assert_color(gfx_case_pixel(c, 24, 50), scene_theme_get(STEP_DARK)->paper, 0);
    assert_color(gfx_case_pixel(c, 43, 62), scene_theme_get(STEP_DARK)->paper, 0);
}

static void a_picture_without_or_with_too_many_pixels_is_refused(void **state)
{
    struct gfx_case *c = *state;
    struct err e = {0};
    gfx_case_scene(c, STEP_LIGHT);
    assert_false(gfx_picture(c->gfx, &c->scene, 1, 0, 10, c->pixels, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_false(gfx_picture(c->gfx, &c->scene, 1, 10, 1 << 20, c->pixels, &e));
}

static void the_window_is_drawn_too(void **state)
{
    struct gfx_case *c = *state;
    struct err e = {0};
    int w = 0, h = 0;
    compose(gfx_case_scene(c, STEP_LIGHT), 10);
    assert_true(gfx_draw(c->gfx, &c->scene, 1, &e));
    gfx_present(c->gfx);
    gfx_pixels(c->gfx, &w, &h);
    assert_int_equal(w, CASE_W);
    assert_int_equal(h, CASE_H);
    assert_non_null(gfx_window(c->gfx));
}

/* ---- shaders and fonts -------------------------------------------------------------------- */

static const char *const shaders[] = {"shape.vert", "shape.frag", "fill.vert",
                                      "fill.frag",  "heat.vert",  "heat.frag"};
enum { SHADERS = sizeof shaders / sizeof shaders[0] };

static void put_shader(const char *folder, const char *name, const char *instead)
{
    struct arena mem;
    struct err e = {0};
    char from[512], to[512], *text = NULL;
    size_t n = 0;
    (void)snprintf(from, sizeof from, "%s/../shaders/%s", TEST_DIR, name);
    (void)snprintf(to, sizeof to, "%s/%s", folder, name);
    assert_true(arena_init(&mem, 1 << 20, &e));
    assert_true(file_read(from, (1 << 20) - 64, &mem, &text, &n, &e));
    assert_true(
        file_write(to, instead ? instead : text, instead ? strlen(instead) : n, &e));
    arena_free(&mem);
}

static void a_shader_that_does_not_compile_is_named_and_the_old_one_stays(void **state)
{
    struct gfx_case *c = *state, own = {0};
    char folder[] = "/tmp/headlight_gfx_XXXXXX", path[512];
    struct err e = {0};
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < SHADERS; i++) put_shader(folder, shaders[i], NULL);
    struct gfx_config config = {64, 64, GFX_ANYWHERE, GFX_ANYWHERE, true, folder};
    if (!gfx_create(&own.gfx, &config, &e)) fail_msg("%s", e.text);
    compose(gfx_case_scene(c, STEP_LIGHT), 10);
    static uint8_t before[64 * 64 * 4], after[64 * 64 * 4];
    assert_true(gfx_picture(own.gfx, &c->scene, 1, 64, 64, before, &e));

    put_shader(folder, "heat.frag",
               "#version 330 core\nvoid main()\n{\n    nonsense;\n}\n");
    assert_false(gfx_reload(own.gfx, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.text, "heat.frag:4"));
    put_shader(folder, "heat.frag", "#version 330 core\nvoid main()\n{\n}\n");
    assert_false(gfx_reload(own.gfx, &e));
    assert_non_null(strstr(e.text, "u_values"));
    assert_true(gfx_picture(own.gfx, &c->scene, 1, 64, 64, after, &e));
    assert_memory_equal(before, after, sizeof before);

    put_shader(folder, "heat.frag", NULL);
    assert_true(gfx_reload(own.gfx, &e));
    (void)snprintf(path, sizeof path, "%s/fill.vert", folder);
    (void)unlink(path);
    assert_false(gfx_reload(own.gfx, &e));
    assert_non_null(strstr(e.text, "fill.vert"));
    gfx_destroy(own.gfx);
    for (int i = 0; i < SHADERS; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, shaders[i]);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_true(gfx_reload(c->gfx, &e)); /* the built-in ones compile again */
    gfx_case_draw(c);
}

static void without_fonts_the_error_names_the_packages(void **state)
{
    struct gfx_case *c = *state;
    char path[] = "/tmp/headlight_fonts_XXXXXX";
    static const char empty[] = "<?xml version=\"1.0\"?><fontconfig></fontconfig>";
    struct err e = {0};
    struct gfx *none = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, empty, sizeof empty - 1) == sizeof empty - 1);
    (void)close(fd);
    (void)setenv("FONTCONFIG_FILE", path, 1);
    struct gfx_config config = {64, 64, GFX_ANYWHERE, GFX_ANYWHERE, true, NULL};
    bool made = gfx_create(&none, &config, &e);
    (void)unsetenv("FONTCONFIG_FILE");
    (void)unlink(path);
    assert_false(made);
    assert_null(none);
    assert_int_equal(e.code, ERR_SYSTEM);
    assert_non_null(strstr(e.text, "fonts-inter"));
    gfx_case_scene(c, STEP_LIGHT);
    gfx_case_draw(c);
}

int main(void)
{
    struct gfx_case c;
    int missing = gfx_case_init(&c);
    if (missing) return missing;
    const struct CMUnitTest tests[] = {
        GFX_TEST(a_rectangle_fills_its_pixels_and_no_other),
        GFX_TEST(transparency_is_blended_in_srgb),
        GFX_TEST(corners_are_round_and_borders_lie_inside),
        GFX_TEST(a_rectangle_thinner_than_a_pixel_is_as_faint_as_it_is_thin),
        GFX_TEST(a_soft_edge_fades),
        GFX_TEST(nothing_is_drawn_outside_a_clip),
        GFX_TEST(later_items_cover_earlier_ones),
        GFX_TEST(what_is_hidden_is_left_out_and_nothing_else),
        GFX_TEST(what_is_seen_past_a_large_box_is_drawn),
        GFX_TEST(lines_have_their_width_and_dashes_their_gaps),
        GFX_TEST(a_polygon_covers_its_area),
        GFX_TEST(letters_keep_their_ink_at_every_place_in_a_pixel),
        GFX_TEST(text_moves_by_quarter_pixels_and_repeats_after_a_whole_one),
        GFX_TEST(text_is_as_wide_as_its_metrics),
        GFX_TEST(text_stands_on_its_baseline),
        GFX_TEST(a_missing_letter_is_drawn_within_its_advance),
        GFX_TEST(arabic_letters_join),
        GFX_TEST(text_survives_a_full_atlas),
        GFX_TEST(a_scene_larger_than_the_buffers_is_drawn_whole),
        GFX_TEST(a_picture_of_several_tiles_has_no_seam),
        GFX_TEST(the_same_scene_gives_the_same_picture),
        GFX_TEST(density_scales_points_to_pixels),
        GFX_TEST(a_picture_without_or_with_too_many_pixels_is_refused),
        GFX_TEST(the_window_is_drawn_too),
        GFX_TEST(a_shader_that_does_not_compile_is_named_and_the_old_one_stays),
        GFX_TEST(without_fonts_the_error_names_the_packages),
    };
    int failed = cmocka_run_group_tests_name("gfx", tests, NULL, NULL);
    gfx_case_fini(&c);
    return failed;
}
