/* scene: text as glyphs from left to right; expectations are UAX #9's and Unicode's forms. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The glyphs of text, as UTF-8, from left to right. */
static const char *seen(struct scene *sc, const char *text)
{
    struct scene_glyphs all;
    struct scene_glyph g;
    const char *out = "";
    scene_glyphs_begin(&all, sc->font, FONT_UI, text, -1);
    while (scene_glyphs_next(&all, &g)) {
        char one[5] = {0};
        int n = g.code < 0x80 ? 1 : g.code < 0x800 ? 2 : 3;
        uint32_t c = g.code;
        assert_true(c < 0x10000);
        for (int i = n - 1; i > 0; i--, c >>= 6) one[i] = (char)(0x80 | (c & 0x3F));
        one[0] = (char)(c | (n == 1 ? 0u : n == 2 ? 0xC0u : 0xE0u));
        out = scene_print(sc, "%s%s", out, one);
    }
    return out;
}

struct page {
    struct arena mem;
    struct font_metrics font;
    struct scene sc;
};

static void page_open(struct page *p)
{
    struct err e = {0};
    p->font = font_metrics_fake();
    assert_true(arena_init(&p->mem, scene_bytes(), &e));
    assert_true(scene_begin(&p->sc, &p->mem, &p->font, STEP_LIGHT, 400, 400, &e));
}

static void what_runs_from_right_to_left_is_ordered(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"plain, na\u00EFve \u221AN = 3", "plain, na\u00EFve \u221AN = 3"},
        {"\u4E2D\u6587 \u0420\u0443\u0441", "\u4E2D\u6587 \u0420\u0443\u0441"},
        /* A word, and a word in a sentence, with what is behind it. */
        {"\u05E9\u05DC\u05D5\u05DD", "\u05DD\u05D5\u05DC\u05E9"},
        {"Row 2 (\u05D0\u05D1) gives", "Row 2 (\u05D1\u05D0) gives"},
        /* Two words: the first is at the right. Digits stay digits. */
        {"a \u05D0\u05D1 \u05D2\u05D3 b", "a \u05D3\u05D2 \u05D1\u05D0 b"},
        {"a \u05D0\u05D1 12 b", "a 12 \u05D1\u05D0 b"},
        /* Isolated, a number behind it stays behind it, and it runs its own way. */
        {SCENE_FIRST_STRONG "\u00B7\u05D0\u05D1" SCENE_POP_ISOLATE " 0.5",
         "\u05D1\u05D0\u00B7 0.5"},
        {SCENE_FIRST_STRONG "(\u05D0) ab" SCENE_POP_ISOLATE, "ab (\u05D0)"},
        /* An isolate alone, of any script, is not seen. */
        {SCENE_FIRST_STRONG "ab" SCENE_POP_ISOLATE, "ab"},
        /* salaam: seen initial, lam-alef final, meem isolated. kitaab: kaf initial, teh
         * medial, alef final, beh isolated. */
        {"\u0633\u0644\u0627\u0645", "\uFEE1\uFEFC\uFEB3"},
        {"\u0643\u062A\u0627\u0628", "\uFE8F\uFE8E\uFE98\uFEDB"},
        /* A vowel sign does not part what joins, and stands on its letter. */
        {"\u0628\u064E\u0628", "\uFE90\uFE91\u064E"},
        /* Bytes of no character, as everywhere. */
        {"\xFF\u05D0\u05D1\xC3 a", "\uFFFD\u05D1\u05D0\uFFFD a"},
    };
    static struct page p;
    page_open(&p);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(seen(&p.sc, pairs[i][0]), pairs[i][1]);
    arena_free(&p.mem);
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* A text of many scripts, of whole and of broken characters. */
static void random_text(char *text, size_t room, uint32_t *seed)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         " ",
                                         "(",
                                         ")",
                                         "1",
                                         "-",
                                         "\u05D0",
                                         "\u05E9",
                                         "\u05B8",
                                         "\u0644",
                                         "\u0627",
                                         "\u064E",
                                         "\u0662",
                                         "\u0645",
                                         "\u4E2D",
                                         "\u221E",
                                         "\U0001F642",
                                         "\U00010900",
                                         "\xD7",
                                         "\x80",
                                         "\xE2\x80",
                                         "\u200F",
                                         "\u202E",
                                         "\uFEFF",
                                         SCENE_FIRST_STRONG,
                                         SCENE_POP_ISOLATE};
    uint32_t n = draw(seed, 40);
    text[0] = '\0';
    for (uint32_t k = 0; k < n; k++) {
        const char *piece = pieces[draw(seed, sizeof pieces / sizeof *pieces)];
        if (strlen(text) + strlen(piece) < room) (void)strcat(text, piece);
    }
}

/* No byte is drawn twice; none is lost but isolates and what has no ink. */
static void check_cover(const struct page *p, const char *text)
{
    char times[512] = {0};
    float w = 0;
    struct scene_glyphs all;
    struct scene_glyph g;
    scene_glyphs_begin(&all, &p->font, FONT_UI, text, -1);
    while (scene_glyphs_next(&all, &g)) {
        assert_true(g.from >= 0 && g.from < g.to && g.to <= (int)strlen(text));
        for (int i = g.from; i < g.to; i++) times[i]++;
        w += g.advance;
    }
    for (const char *at = text; *at;) {
        int from = (int)(at - text);
        uint32_t c = utf8_next(&at);
        bool hidden = c == 0x2068 || c == 0x2069 || c == 0xFEFF;
        for (int i = from; i < (int)(at - text); i++)
            assert_true(times[i] == 1 || (hidden && times[i] == 0));
    }
    assert_true(fabsf(w - font_width(&p->font, FONT_UI, 1, text, -1)) < 1e-4f);
}

static void every_byte_is_drawn_once_whatever_the_text(void **state)
{
    (void)state;
    static struct page p;
    char text[512];
    uint32_t seed = 1;
    page_open(&p);
    for (int k = 0; k < 20000; k++) {
        random_text(text, sizeof text, &seed);
        check_cover(&p, text);
    }
    arena_free(&p.mem);
}

/* 1,024 tokens, and one text of them all: longer than a line can be, as it is written. */
static void many_tokens_are_ordered(void **state)
{
    (void)state;
    static struct page p;
    static char text[1024 * 8];
    page_open(&p);
    for (int i = 0; i < 1024; i++) {
        char token[24];
        (void)snprintf(token, sizeof token, " \u05D0\u05D1%d", i);
        (void)strcat(text, token);
        const char *shown = scene_raw_text(&p.sc, token);
        char expected[32];
        (void)snprintf(expected, sizeof expected, "%d\u05D1\u05D0\u00B7", i);
        assert_string_equal(seen(&p.sc, shown), expected);
    }
    struct scene_glyphs all;
    struct scene_glyph g;
    int at = 0;
    scene_glyphs_begin(&all, &p.font, FONT_UI, text, -1);
    while (scene_glyphs_next(&all, &g)) {
        assert_int_equal(g.from, at);
        at = g.to;
    }
    assert_int_equal(at, (int)strlen(text));
    arena_free(&p.mem);
}

/* Letters that join touch; others are centred in their room or squeezed into it. */
static void a_glyph_of_another_font_fits_its_room(void **state)
{
    (void)state;
    struct scene_fit wide = scene_glyph_fit('W', 3, 2), slim = scene_glyph_fit('i', 1, 2);
    struct scene_fit alef = scene_glyph_fit(0xFE8E, 1, 2),
                     point = scene_glyph_fit(0x5B8, 0, 2);
    assert_true(fabsf(wide.squeeze * 3 - 2) < 1e-6f && wide.shift == 0);
    assert_true(slim.squeeze == 1 && slim.shift == 0.5f);
    assert_true(alef.squeeze == 2 && alef.shift == 0);
    assert_true(point.squeeze == 1 && point.shift == 0);
}

/* Beth with two points: they have its room, and take none. */
static void a_mark_stands_on_its_letter(void **state)
{
    (void)state;
    struct font_metrics m = font_metrics_fake();
    struct scene_glyphs all;
    struct scene_glyph g[4];
    int n = 0;
    scene_glyphs_begin(&all, &m, FONT_UI, "\u05D1\u05BC\u05B8", -1);
    while (n < 4 && scene_glyphs_next(&all, &g[n])) n++;
    assert_int_equal(n, 3);
    assert_true(g[0].code == 0x5D1 && g[0].advance == 0.6f && g[0].room == 0.6f);
    for (int i = 1; i < 3; i++) assert_true(g[i].advance == 0 && g[i].room == 0.6f);
}

int scene_glyphs_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_runs_from_right_to_left_is_ordered),
        cmocka_unit_test(every_byte_is_drawn_once_whatever_the_text),
        cmocka_unit_test(many_tokens_are_ordered),
        cmocka_unit_test(a_glyph_of_another_font_fits_its_room),
        cmocka_unit_test(a_mark_stands_on_its_letter),
    };
    return cmocka_run_group_tests_name("scene glyphs", tests, NULL, NULL);
}
