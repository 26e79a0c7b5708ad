/* ui: editing a text with the mouse and from line to line. */
#include "ui_case.h"

#include "../src/ui/editor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct desk {
    struct scene_case c;
    struct ui_editor ed;
    struct editor_field f;
    struct ui_pointer pointer;
};

static void desk_open(struct desk *d, const char *text, bool path)
{
    case_open(&d->c, STEP_TOY);
    d->c.font = font_metrics_fake();
    d->c.state.editing = path ? STEP_EDIT_PATH : STEP_EDIT_TEXT;
    case_build(&d->c, 1024, 640);
    memset(&d->ed, 0, sizeof d->ed);
    d->ed.path = path;
    d->ed.limit = 10;
    ui_editor_begin(&d->ed, text, strlen(text));
    d->f = editor_field_of(&d->ed, &d->c.sc);
}

static void show(struct desk *d)
{
    case_build(&d->c, 1024, 640);
    (void)ui_editor_build(&d->c.sc, &d->c.state, &d->c.src, &d->pointer, &d->ed);
    assert_false(d->c.sc.full);
}

/* At column c of the field's line l: a character of the fake font is 0.6 em wide. */
static bool mouse(struct desk *d, enum ui_event_kind kind, float c, int l, int clicks,
                  int mods)
{
    struct ui_event ev = {.kind = kind,
                          .x = d->f.box.x + c * 0.6f * editor_type.size,
                          .y = d->f.box.y + ((float)l + 0.5f) * EDITOR_LINE_H,
                          .clicks = clicks,
                          .mods = mods};
    return ui_editor_event(&d->ed, &ev, &d->c.sc);
}

static void key(struct desk *d, const char *name)
{
    struct ui_event ev = {.kind = UI_KEY};
    assert_true(ui_key_parse(name, &ev.key, &ev.mods));
    (void)ui_editor_event(&d->ed, &ev, &d->c.sc);
}

static void selected(const struct desk *d, int from, int to)
{
    int a = 0, b = 0;
    ui_editor_selection(&d->ed, &a, &b);
    assert_int_equal(a, from);
    assert_int_equal(b, to);
}

static void a_click_sets_the_caret_and_a_drag_selects(void **state)
{
    (void)state;
    static struct desk d;
    desk_open(&d, "one two\nthree \u00e9\u00e9 four", false);
    assert_true(mouse(&d, UI_DOWN, 4.2f, 0, 1, 0));
    selected(&d, 4, 4);
    assert_true(mouse(&d, UI_MOVE, 2.6f, 1, 1, 0)); /* nearest between two */
    selected(&d, 4, 11);
    assert_true(mouse(&d, UI_UP, 2.6f, 1, 1, 0));
    assert_false(mouse(&d, UI_MOVE, 0, 0, 1, 0)); /* not held any more */
    selected(&d, 4, 11);
    assert_true(mouse(&d, UI_DOWN, 7.1f, 1, 1, UI_SHIFT)); /* behind the first e acute */
    selected(&d, 4, 16);
    assert_true(mouse(&d, UI_DOWN, 80, 0, 1, 0)); /* a line's end is before its newline */
    selected(&d, 7, 7);
    assert_true(mouse(&d, UI_DOWN, 80, 5, 1, 0)); /* below the text: its end */
    assert_int_equal(d.ed.at, d.ed.n);
    assert_false(mouse(&d, UI_DOWN, -9, 0, 1, 0)); /* beside the field */
    case_close(&d.c);
}

static void a_double_click_takes_a_word(void **state)
{
    (void)state;
    static struct desk d;
    desk_open(&d, "one two\nthree  \u00e9\u00e9 four", false);
    (void)mouse(&d, UI_DOWN, 5.1f, 0, 2, 0);
    selected(&d, 4, 7);
    (void)mouse(&d, UI_DOWN, 8.1f, 1, 2, 0);
    selected(&d, 15, 19);
    (void)mouse(&d, UI_DOWN, 5.6f, 1, 2, 0); /* the spaces between */
    selected(&d, 13, 15);
    (void)mouse(&d, UI_DOWN, 80, 1, 2, 0); /* at the end: the last word */
    selected(&d, 20, 24);
    case_close(&d.c);
}

/* "abc", three Hebrew letters, "1"; on screen: a b c 1 and the letters from the right. */
static void letters_from_the_right_have_their_carets_there(void **state)
{
    (void)state;
    static struct desk d;
    desk_open(&d, "abc\u05D0\u05D1\u05D21 d", false);
    struct editor_line l = editor_line_of(&d.f, &d.ed, 0);
    static const struct {
        int at;
        float column;
    } caret[] = {{0, 0}, {3, 7}, {5, 6}, {7, 5}, {9, 3}, {10, 7}, {12, 9}};
    for (size_t i = 0; i < sizeof caret / sizeof *caret; i++)
        assert_true(fabsf(editor_caret(&d.f, &d.ed, &l, caret[i].at) -
                          caret[i].column * 0.6f * editor_type.size) < 1e-3f);
    (void)mouse(&d, UI_DOWN, 6.9f, 0, 1, 0); /* the right edge of the first letter */
    selected(&d, 3, 3);
    (void)mouse(&d, UI_DOWN, 6.1f, 0, 1, 0); /* its left edge: behind it */
    selected(&d, 5, 5);
    (void)mouse(&d, UI_DOWN, 3.2f, 0, 1, 0); /* behind the last, before the digit */
    selected(&d, 9, 9);
    key(&d, "Left"); /* back in the text, whichever way that is */
    selected(&d, 7, 7);
    key(&d, "Home");
    for (int i = 0; i < 9; i++) key(&d, "Right"); /* no place is left out */
    selected(&d, 12, 12);
    show(&d);
    case_close(&d.c);
}

/* Within half a letter: a mark, and half of lam-alef, are no places of a click. */
static void a_click_at_a_caret_leads_to_its_place(void **state)
{
    (void)state;
    static struct desk d;
    static const char *const texts[] = {
        "\u05E9\u05DC\u05D5\u05DD \u05E2\u05D5\u05DC\u05DD",
        "\u0643\u062A\u0628 ab \u05D0\u05D1 12",
        "ab\u05D0\u05B8\u05D1\u0644\u0627\n\u05D0\u05D1"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        desk_open(&d, texts[t], false);
        for (int at = 0; at <= d.ed.n;
             at = at < d.ed.n ? editor_behind(&d.ed, at) : at + 1) {
            struct editor_line l = editor_line_of(&d.f, &d.ed, at);
            float x = editor_caret(&d.f, &d.ed, &l, at);
            assert_true(x >= 0 && x <= d.f.box.w);
            int got = editor_place_at(&d.f, &d.ed, &l, x);
            float again = editor_caret(&d.f, &d.ed, &l, got);
            assert_true(fabsf(again - x) <= 0.31f * editor_type.size);
        }
        case_close(&d.c);
    }
}

static void keys_go_from_line_to_line(void **state)
{
    (void)state;
    static struct desk d;
    desk_open(&d, "abcdef\nxy\n123456", false);
    key(&d, "Ctrl+Home");
    for (int i = 0; i < 4; i++) key(&d, "Right");
    key(&d, "Down");
    selected(&d, 9, 9); /* a short line's end */
    key(&d, "Up");
    selected(&d, 2, 2);
    key(&d, "End");
    selected(&d, 6, 6);
    key(&d, "Shift+Home");
    selected(&d, 0, 6);
    key(&d, "Up");
    selected(&d, 0, 0);
    key(&d, "PageDown");
    assert_int_equal(d.ed.at, d.ed.n);
    key(&d, "Home");
    selected(&d, 10, 10);
    key(&d, "Down");
    assert_int_equal(d.ed.at, d.ed.n);
    case_close(&d.c);
}

static void a_long_text_scrolls(void **state)
{
    (void)state;
    static struct desk d;
    char text[1200] = "";
    for (int i = 0; i < 100; i++)
        (void)snprintf(text + strlen(text), 12, "line %02d\n", i);
    desk_open(&d, text, false);
    key(&d, "Ctrl+End");
    assert_int_equal(d.ed.top, 101 - d.f.lines);
    struct ui_event up = {.kind = UI_WHEEL, .x = d.f.box.x, .y = d.f.box.y, .wheel = 1};
    for (int i = 0; i < 200; i++) assert_true(ui_editor_event(&d.ed, &up, &d.c.sc));
    assert_int_equal(d.ed.top, 0);
    show(&d);
    up.wheel = -1;
    for (int i = 0; i < 40; i++) assert_true(ui_editor_event(&d.ed, &up, &d.c.sc));
    assert_int_equal(d.ed.top, 40);
    (void)mouse(&d, UI_DOWN, 2, 3, 1, 0); /* what is seen is what is clicked */
    selected(&d, 43 * 8 + 2, 43 * 8 + 2);
    (void)mouse(&d, UI_MOVE, 2, d.f.lines + 4, 1, 0); /* a drag below scrolls on */
    assert_int_equal(d.ed.top, 41);
    struct ui_event letter = {.kind = UI_TEXT, .text = "x"};
    d.ed.top = 0;
    (void)ui_editor_event(&d.ed, &letter, &d.c.sc); /* what is typed is seen */
    assert_true(d.ed.top > 30);
    show(&d);
    case_close(&d.c);
}

static void what_lies_there_is_picked_by_key_and_click(void **state)
{
    (void)state;
    static struct desk d;
    desk_open(&d, "/a", true);
    for (int i = 0; i < 3; i++) (void)snprintf(d.ed.match[i], 8, "a%d/", i);
    d.ed.n_match = 3;
    show(&d);
    for (int i = 0; i < 3; i++) {
        const struct scene_item *it = scene_find(&d.c.sc, UI_ID_MATCH + i);
        assert_non_null(it);
        assert_int_equal(it->hit.action.verb, STEP_TEXT_PICK);
        assert_int_equal(it->hit.action.i, i);
    }
    key(&d, "Down");
    key(&d, "Down");
    assert_int_equal(d.ed.pick, 1);
    for (int i = 0; i < 5; i++) key(&d, "Down");
    assert_int_equal(d.ed.pick, 2);
    for (int i = 0; i < 9; i++) key(&d, "Up");
    assert_int_equal(d.ed.pick, -1);
    case_close(&d.c);
}

static void whatever_is_done_the_caret_stays_in_the_text(void **state)
{
    (void)state;
    static struct desk d;
    static const char *const keys[] = {
        "Left",   "Right",      "Up",        "Down",      "Home",        "End",
        "PageUp", "PageDown",   "Backspace", "Delete",    "Ctrl+Left",   "Ctrl+Right",
        "Ctrl+a", "Shift+Left", "Shift+Up",  "Shift+End", "Shift+Enter", "Ctrl+Delete"};
    static const char *const texts[] = {"a",
                                        " ",
                                        "\u00e9",
                                        "\xE2\x82",
                                        "\xFF",
                                        "\t",
                                        "\n",
                                        "\xF0\x9F\x99\x82",
                                        "word word ",
                                        "\u05E9\u05DC\u05D5\u05DD ",
                                        "\u0644\u0627\u064E"};
    uint64_t seed = 17;
    desk_open(&d, "", false);
    for (int k = 0; k < 6000; k++) {
        uint64_t r = case_random(&seed);
        if (r % 5 < 2) {
            struct ui_event ev = {.kind = r & 64 ? UI_TEXT : UI_COMPOSE};
            (void)snprintf(ev.text, sizeof ev.text, "%s", texts[r / 8 % 11]);
            if (ev.kind == UI_COMPOSE && r & 128) ev.text[0] = '\0';
            (void)ui_editor_event(&d.ed, &ev, &d.c.sc);
        } else if (r % 5 == 2) {
            key(&d, keys[r / 8 % 18]);
        } else {
            static const enum ui_event_kind kinds[] = {UI_DOWN, UI_MOVE, UI_UP, UI_WHEEL};
            (void)mouse(&d, kinds[r / 8 % 4], case_unit(&seed) * 90,
                        (int)(r / 64 % 30) - 9, 1 + (int)(r / 4096 % 3),
                        r & 8192 ? UI_SHIFT : 0);
        }
        assert_true(d.ed.at >= 0 && d.ed.at <= d.ed.n && d.ed.top >= 0);
        assert_true(d.ed.anchor >= 0 && d.ed.anchor <= d.ed.n);
        if (k % 50 == 0) show(&d);
    }
    case_close(&d.c);
}

int ui_editor_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_click_sets_the_caret_and_a_drag_selects),
        cmocka_unit_test(a_double_click_takes_a_word),
        cmocka_unit_test(letters_from_the_right_have_their_carets_there),
        cmocka_unit_test(a_click_at_a_caret_leads_to_its_place),
        cmocka_unit_test(keys_go_from_line_to_line),
        cmocka_unit_test(a_long_text_scrolls),
        cmocka_unit_test(what_lies_there_is_picked_by_key_and_click),
        cmocka_unit_test(whatever_is_done_the_caret_stays_in_the_text),
    };
    return cmocka_run_group_tests_name("ui editor", tests, NULL, NULL);
}
