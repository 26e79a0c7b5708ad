/* scene: UTF-8, widths, wrapping, numbers as people read them, tokens. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- UTF-8 --------------------------------------------------------------------------------- */

static int encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    int n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[n] | c);
    return n;
}

static bool is_surrogate(uint32_t c)
{
    return c >= 0xD800 && c < 0xE000;
}

static void every_code_point_is_read_back(void **state)
{
    (void)state;
    for (uint32_t c = 1; c <= 0x10FFFF; c++) {
        if (is_surrogate(c)) continue;
        char text[5] = {0};
        int n = encode(c, text);
        const char *at = text;
        assert_true(utf8_next(&at) == c && at == text + n);
        assert_true(utf8_next(&at) == 0 && at == text + n); /* stays at the end */
    }
}

/* A copy of exactly n + 1 bytes, so that a sanitizer sees a read beyond the zero. */
static char *exact(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    copy[n] = 0;
    return copy;
}

static void malformed_bytes_are_replaced_one_by_one(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80", /* a continuation alone */
        "\xC3",
        "\xE2",
        "\xE2\x82", /* cut short */
        "\xF0",
        "\xF0\x9F",
        "\xF0\x9F\x98", /* cut short */
        "\xC0\x80",
        "\xC1\xBF", /* too long for their code point */
        "\xE0\x80\x80",
        "\xE0\x9F\xBF", /* so */
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",     /* surrogates */
        "\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "\xF8\x88\x80\x80\x80",
        "\xFE",
        "\xFF",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        size_t n = strlen(bad[k]);
        char *text = exact(bad[k], n);
        const char *at = text;
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(utf8_next(&at), 0xFFFD);
            assert_ptr_equal(at, text + i + 1);
        }
        assert_int_equal(utf8_next(&at), 0);
        free(text);
    }
}

/* Always onwards, never past the zero; and what is no U+FFFD stands there as it is. */
static void random_bytes_are_read_to_their_end(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 20000; k++) {
        char bytes[24];
        size_t n = case_random(&seed) % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            uint64_t r = case_random(&seed);
            bytes[i] = (char)(1 + (r % 4 ? (r >> 8) % 255 : 0x7F + (r >> 8) % 0x40));
        }
        char *text = exact(bytes, n);
        const char *at = text;
        while (*at) {
            const char *from = at;
            uint32_t c = utf8_next(&at);
            char again[4];
            assert_true(at > from && at <= text + n && at - from <= 4);
            assert_true(c <= 0x10FFFF && !is_surrogate(c) && c != 0);
            if (c == 0xFFFD && at - from == 1) continue;
            assert_int_equal(encode(c, again), at - from);
            assert_memory_equal(again, from, (size_t)(at - from));
        }
        assert_ptr_equal(at, text + n);
        free(text);
    }
}

/* ---- widths ---------------------------------------------------------------------------------- */

static void widths_add_up(void **state)
{
    (void)state;
    struct font_metrics m = font_metrics_fake();
    assert_true(fabsf(font_width(&m, FONT_MONO, 10, "12345", -1) - 30) < 1e-3f);
    assert_true(fabsf(font_width(&m, FONT_UI, 10, "12345", 3) - 18) < 1e-3f);
    assert_true(font_width(&m, FONT_UI, 10, "", -1) == 0);
    /* a minus is one character of three bytes */
    assert_true(fabsf(font_width(&m, FONT_MONO, 10, "\u22121.0", -1) - 24) < 1e-3f);
}

static void extra_glyphs_ascend_and_are_found(void **state)
{
    (void)state;
    struct font_metrics m = font_metrics_fake();
    int n = 0;
    while (n < FONT_EXTRA && scene_extra_glyphs[n]) n++;
    for (int i = 0; i < n; i++) {
        if (i > 0) assert_true(scene_extra_glyphs[i - 1] < scene_extra_glyphs[i]);
        assert_true(scene_extra_glyphs[i] > FONT_LAST);
        m.extra[FONT_UI][i] = 10.0f + (float)i;
    }
    for (int i = n; i < FONT_EXTRA; i++) assert_int_equal(scene_extra_glyphs[i], 0);
    m.other[FONT_UI] = 5;
    for (int i = 0; i < n; i++)
        assert_true(font_advance(&m, FONT_UI, scene_extra_glyphs[i]) == 10.0f + (float)i);
    assert_true(font_advance(&m, FONT_UI, 0x4E00) == 5);
    assert_true(font_advance(&m, FONT_UI, 0) == 5);
}

/* Whatever the scene writes is in the table: gfx draws no other glyph of it. */
static void every_character_that_is_drawn_has_a_width_of_its_own(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int f = 0; f < FONT_COUNT; f++) c.font.other[f] = -1e6f;
    for (int o = 0; o < 8; o++) {
        c.state.opts = case_opts(o);
        case_run(&c);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int t = 0; t <= 10; t++) {
                case_show(&c, (enum attn_stage)s, (float)t / 10, 1440, 900);
                for (int i = 0; i < c.sc.n; i++) {
                    const struct scene_item *it = &c.sc.items[i];
                    if (it->kind == SCENE_TEXT && scene_item_box(&c.sc, it).w < 0)
                        fail_msg("\"%s\" has a character that is not in the table",
                                 it->u.text.text);
                }
            }
    }
    case_close(&c);
}

/* ---- a scene to write into ---------------------------------------------------------------------- */

struct sheet {
    struct arena mem;
    struct font_metrics font;
    struct scene sc;
};

static void sheet_open(struct sheet *s)
{
    struct err e;
    s->font = case_font();
    assert_true(arena_init(&s->mem, scene_bytes(), &e));
    assert_true(scene_begin(&s->sc, &s->mem, &s->font, STEP_LIGHT, 1024, 640, &e));
}

static void sheet_clear(struct sheet *s)
{
    struct err e;
    arena_reset(&s->mem);
    assert_true(scene_begin(&s->sc, &s->mem, &s->font, STEP_LIGHT, 1024, 640, &e));
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static void numbers_read_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        float value;
        int decimals;
        const char *text, *with_sign;
    } want[] = {
        {0, 3, "0", "0"},
        {-0.0f, 3, "0", "0"},
        {1, 0, "1", "+1"},
        {-1.05f, 2, "\u22121.05", "\u22121.05"},
        {0.5475f, 3, "0.548", "+0.548"}, /* 0.54750001 */
        {1e-7f, 3, "<0.001", "<0.001"},
        {-1e-7f, 3, ">\u22120.001", ">\u22120.001"},
        {0.3f, 0, "<1", "<1"},
        {0.5f, 0, "<1", "<1"}, /* half to even would be a false zero */
        {-0.5f, 0, ">\u22121", ">\u22121"},
        {0.0004f, 3, "<0.001", "<0.001"},
        {0.0006f, 3, "0.001", "+0.001"},
        {0.996f, 2, "1.00", "+1.00"},
        {1.401298464e-45f, 6, "<0.000001", "<0.000001"},
        {INFINITY, 2, "\u221E", "+\u221E"},
        {-INFINITY, 2, "\u2212\u221E", "\u2212\u221E"},
        {NAN, 2, "NaN", "NaN"},
        {-NAN, 2, "NaN", "NaN"},
        {123456, 1, "123456.0", "+123456.0"},
        {3e9f, 1, "3.0e+09", "+3.0e+09"},
        {-3e9f, 1, "\u22123.0e+09", "\u22123.0e+09"},
    };
    struct sheet s;
    sheet_open(&s);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        assert_string_equal(scene_number(&s.sc, want[k].value, want[k].decimals),
                            want[k].text);
        assert_string_equal(scene_signed(&s.sc, want[k].value, want[k].decimals),
                            want[k].with_sign);
    }
    arena_free(&s.mem);
}

/* What printf rounds to, with the real minus; and it reads back as the value. */
static void check_number(struct sheet *s, float v, int decimals)
{
    const char *text = scene_number(&s->sc, v, decimals);
    if (!figure_is(text, (double)v)) fail_msg("\"%s\" is not %.9g", text, (double)v);
    const char *with_sign = scene_signed(&s->sc, v, decimals);
    if (!figure_is(with_sign, (double)v))
        fail_msg("\"%s\" is not %.9g", with_sign, (double)v);
    if (v > 0 && *text != '<') {
        assert_int_equal(*with_sign, '+');
        assert_string_equal(with_sign + 1, text);
    } else {
        assert_string_equal(with_sign, text);
    }
    if (fabsf(v) >= 1e7f || v == 0 || *text == '<' || *text == '>') return;
    char plain[80];
    (void)snprintf(plain, sizeof plain, "%s%.*f", v < 0 ? "\u2212" : "", decimals,
                   fabs((double)v));
    assert_string_equal(text, plain);
    assert_non_null(strpbrk(text, "123456789"));
}

static void random_numbers_are_rounded_as_printf_rounds(void **state)
{
    (void)state;
    struct sheet s;
    sheet_open(&s);
    uint64_t seed = 9;
    for (int k = 0; k < 40000; k++) {
        float v = case_unit(&seed) * powf(10, 12 * case_unit(&seed));
        check_number(&s, v, (int)(case_random(&seed) % 7));
        if (k % 500 == 0) sheet_clear(&s);
    }
    /* steps of 1/8: exact halves at every place there can be */
    for (int k = -4000; k <= 4000; k++)
        for (int decimals = 0; decimals <= 6; decimals++) {
            check_number(&s, (float)k / 8, decimals);
            if (decimals == 0 && k % 100 == 0) sheet_clear(&s);
        }
    assert_false(s.sc.full);
    arena_free(&s.mem);
}

/* ---- fitting and wrapping --------------------------------------------------------------------------- */

static void text_is_cut_to_its_width_at_a_characters_end(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "a", "internationalization",
                                        "\u2212\u221E \u2192 \u221A\u03A3",
                                        "na\u00EFve \u20AC\u20AC\u20AC\U0001F600"};
    struct sheet s;
    sheet_open(&s);
    float least = font_width(&s.font, FONT_UI, 14, "\u2026", -1);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (int w = 0; w < 120; w++) {
            float width = least + 1.5f * (float)w;
            const char *cut = scene_fit_text(&s.sc, FONT_UI, 14, width, texts[k]);
            assert_true(font_width(&s.font, FONT_UI, 14, cut, -1) <= width + 1e-3f);
            if (font_width(&s.font, FONT_UI, 14, texts[k], -1) <= width) {
                assert_string_equal(cut, texts[k]);
                continue;
            }
            size_t n = strlen(cut);
            assert_true(n >= 3 && strcmp(cut + n - 3, "\u2026") == 0);
            assert_memory_equal(cut, texts[k], n - 3);
            for (const char *at = cut; *at;) assert_int_not_equal(utf8_next(&at), 0xFFFD);
        }
    arena_free(&s.mem);
}

/* The lines say the text, word by word, and none is too wide. */
static void check_paragraph(struct sheet *s, float width, const char *text)
{
    sheet_clear(s);
    struct scene_rgba ink = {0};
    float end = scene_paragraph(&s->sc, 10, 100, width, 20, FONT_UI, 14, ink, text);
    char joined[2048] = "", plain[2048] = "";
    for (int i = 0; i < s->sc.n; i++) {
        const struct scene_item *it = &s->sc.items[i];
        assert_true(it->u.text.y == 100 + 20 * (float)i && it->u.text.x == 10);
        if (font_width(&s->font, FONT_UI, 14, it->u.text.text, -1) > width + 1e-3f)
            fail_msg("\"%s\" is wider than %g", it->u.text.text, (double)width);
        size_t used = strlen(joined);
        (void)snprintf(joined + used, sizeof joined - used, "%s", it->u.text.text);
    }
    assert_true(end == 100 + 20 * (float)s->sc.n);
    size_t n = 0;
    for (const char *at = text; *at; at++)
        if (*at != ' ') plain[n++] = *at;
    size_t m = 0;
    for (size_t i = 0; joined[i]; i++)
        if (joined[i] != ' ') joined[m++] = joined[i];
    joined[m] = plain[n] = 0;
    assert_string_equal(joined, plain);
}

static void a_paragraph_keeps_its_width_and_every_word(void **state)
{
    (void)state;
    struct sheet s;
    sheet_open(&s);
    static const char *const texts[] = {
        "",
        "one",
        "two words",
        "  leading  and   many spaces  ",
        "internationalization stands alone",
        "every word \u2014 \u2212\u221E where j > i \u2014 to the end"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (int width = 20; width < 400; width += 3)
            check_paragraph(&s, (float)width, texts[k]);
    uint64_t seed = 21;
    for (int k = 0; k < 500; k++) {
        char text[200];
        size_t n = case_random(&seed) % 190;
        for (size_t i = 0; i < n; i++)
            text[i] = "abcdefghijkl mno pqr st"[case_random(&seed) % 23];
        text[n] = 0;
        check_paragraph(&s, 40 + 200 * fabsf(case_unit(&seed)), text);
    }
    arena_free(&s.mem);
}

/* A line breaks between words wherever a word fits. */
static void words_that_fit_are_not_broken(void **state)
{
    (void)state;
    struct sheet s;
    sheet_open(&s);
    struct scene_rgba ink = {0};
    (void)scene_paragraph(&s.sc, 0, 0, 80, 20, FONT_MONO, 10, ink,
                          "alpha beta gamma delta"); /* 13 characters a line */
    assert_int_equal(s.sc.n, 2);
    assert_string_equal(s.sc.items[0].u.text.text, "alpha beta");
    assert_string_equal(s.sc.items[1].u.text.text, "gamma delta");
    arena_free(&s.mem);
}

/* ---- tokens ------------------------------------------------------------------------------------------ */

static void token_text_makes_the_invisible_visible(void **state)
{
    (void)state;
    static const struct {
        const char *token, *shown;
    } want[] = {
        {"the", "the"},
        {" sat", "\u00B7sat"},
        {"  ", "\u00B7\u00B7"},
        {"\n\n", "\u23CE\u23CE"},
        {"\tx", "\u21E5x"},
        {"\xE2\x82", "E2\u200982"}, /* bytes of a character that spans tokens */
        {"a\xFF", "aFF"},
        {"a\u00A0b", "a\u2423b"},
        {"\u200B", "U+200B"}, /* nothing to see, so its number */
        {"x\uFEFF\u00AD", "xU+FEFFU+00AD"},
        {"\u3000", "U+3000"},
        {"na\u00EFve", "na\u00EFve"},
        {"\uFFFD", "\uFFFD"}, /* a character of its own, not a fragment */
        {"", ""},
    };
    struct sheet s;
    sheet_open(&s);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        struct scene_source src = {.tokens = &want[k].token};
        assert_string_equal(scene_token_text(&s.sc, &src, 0), want[k].shown);
    }
    struct scene_source none = {0};
    assert_string_equal(scene_token_text(&s.sc, &none, 0), "");
    static const char *const missing[] = {NULL};
    none.tokens = missing;
    assert_string_equal(scene_token_text(&s.sc, &none, 0), "");
    arena_free(&s.mem);
}

static void the_tokens_of_one_character_are_joined(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool join;
    } want[] = {
        {"\xE6", "\x97", true},      /* the first byte of three, the second */
        {"\x97", "\xA5", true},      /* the second, the third */
        {"\xA5", "\xE6\x9C", false}, /* the last, another character's first two */
        {"\xE6\x9C",
         "\xAC"
         "a",
         true},
        {"a \xF0\x9F", "\x99\x82", true},
        {"\u00e9", "a", false},
        {"a", "\x82", false}, /* no character begins in a */
        {"", "\x82", false},
        {"\xE6", "", false},
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++)
        assert_true(scene_tokens_join(want[k].a, want[k].b) == want[k].join);
}

static void any_token_can_be_shown(void **state)
{
    (void)state;
    struct sheet s;
    sheet_open(&s);
    uint64_t seed = 31;
    for (int k = 0; k < 3000; k++) {
        char bytes[300];
        size_t n = case_random(&seed) % sizeof bytes;
        for (size_t i = 0; i < n; i++) bytes[i] = (char)(1 + case_random(&seed) % 255);
        char *text = exact(bytes, n);
        const char *const token = text;
        struct scene_source src = {.tokens = &token};
        sheet_clear(&s);
        const char *shown = scene_token_text(&s.sc, &src, 0);
        assert_true(strlen(shown) < 128);
        for (const char *at = shown; *at;) {
            const char *from = at;
            assert_false(utf8_next(&at) == 0xFFFD && at - from == 1);
        }
        struct scene_rect box = {100, 100, 62, 23};
        scene_chip(&s.sc, box, &src, 0, 12.5f, true);
        for (int i = 0; i < s.sc.n; i++)
            if (s.sc.items[i].kind == SCENE_TEXT)
                assert_true(rect_holds(box, scene_item_box(&s.sc, &s.sc.items[i]), 1));
        assert_true(scene_chip_width(&s.sc, &src, 0, 12.5f) > 0);
        free(text);
    }
    arena_free(&s.mem);
}

/* The index is always there: tokens repeat. */
static void a_chip_shows_its_index_and_stays_in_its_box(void **state)
{
    (void)state;
    struct sheet s;
    sheet_open(&s);
    static const char *const tokens[] = {"the", " internationalization", "\n", ".", ""};
    struct scene_source src = {.tokens = tokens};
    for (int on = 0; on < 2; on++)
        for (int k = 0; k < 5; k++)
            for (int width = 34; width <= 120; width += 4) {
                float w = (float)width;
                sheet_clear(&s);
                struct scene_rect box = {10, 10, w, 21};
                scene_chip(&s.sc, box, &src, k, fminf(12.5f, w * 0.24f), on);
                char index[12];
                (void)snprintf(index, sizeof index, "%d", k + 1);
                bool found = false;
                for (int i = 0; i < s.sc.n; i++) {
                    const struct scene_item *it = &s.sc.items[i];
                    if (it->kind != SCENE_TEXT) continue;
                    found = found || strcmp(it->u.text.text, index) == 0;
                    assert_true(rect_holds(box, scene_item_box(&s.sc, it), 1));
                }
                assert_true(found);
            }
    arena_free(&s.mem);
}

int scene_text_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_read_back),
        cmocka_unit_test(malformed_bytes_are_replaced_one_by_one),
        cmocka_unit_test(random_bytes_are_read_to_their_end),
        cmocka_unit_test(widths_add_up),
        cmocka_unit_test(extra_glyphs_ascend_and_are_found),
        cmocka_unit_test(every_character_that_is_drawn_has_a_width_of_its_own),
        cmocka_unit_test(numbers_read_as_people_write_them),
        cmocka_unit_test(random_numbers_are_rounded_as_printf_rounds),
        cmocka_unit_test(text_is_cut_to_its_width_at_a_characters_end),
        cmocka_unit_test(a_paragraph_keeps_its_width_and_every_word),
        cmocka_unit_test(words_that_fit_are_not_broken),
        cmocka_unit_test(token_text_makes_the_invisible_visible),
        cmocka_unit_test(the_tokens_of_one_character_are_joined),
        cmocka_unit_test(any_token_can_be_shown),
        cmocka_unit_test(a_chip_shows_its_index_and_stays_in_its_box),
    };
    return cmocka_run_group_tests_name("scene text", tests, NULL, NULL);
}
