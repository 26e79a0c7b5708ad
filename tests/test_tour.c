/* The guided tour: what a file may say and how it is refused, what its words make of the
 * numbers, and every stop of the program's own, answered right and wrong. */
#include "app.h"
#include "tour.h"
#include "tour_words.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { W = 1024, H = 640 };

/* ---- files ----------------------------------------------------------------------------- */

static void check_refused(const char *text, int line, const char *says)
{
    struct tour t;
    struct err e = {0};
    char where[32];
    (void)snprintf(where, sizeof where, "t.txt:%d: ", line);
    assert_false(tour_parse(&t, "t.txt", text, strlen(text), &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(t.n, 0);
    if (strncmp(e.text, where, strlen(where)) != 0 || !strstr(e.text, says))
        fail_msg("%s: expected line %d and \"%s\"", e.text, line, says);
}

static void a_wrong_line_is_refused_by_its_number(void **state)
{
    (void)state;
    check_refused("", 1, "no stop");
    check_refused("# nothing\n\n", 2, "no stop");
    check_refused("say early\n", 1, "begin with stop");
    check_refused("stop\n", 1, "write a text");
    check_refused("stop A\nsay\n", 2, "write a text");
    check_refused("stop A\nsay x\nsings y\n", 3, "sings");
    check_refused("stop A\nsay x\ndo export a.png\n", 3, "export");
    check_refused("stop A\nsay x\ndo wait 1\n", 3, "wait");
    check_refused("stop A\nsay x\ndo click 3 4\n", 3, "quotes");
    check_refused("stop A\nsay x\ndo key Nonesuch\n", 3, "no such key");
    check_refused("stop A\nsay x\ndo set stage 8\n", 3, "1 to 7");
    check_refused("stop A\nsay x\ndo set stage 1.5\n", 3, "1 to 7");
    check_refused("stop A\nsay x\ndo set row 1e999\n", 3, "set row");
    check_refused("stop A\nsay x\ndo set colour red\n", 3, "set colour");
    check_refused("stop A\nsay x\ndo pin nothing:1:1\n", 3,
                  "no matrix nothing; they are h");
    check_refused("stop A\nsay x\ndo pin S:1\n", 3, "MATRIX:ROW:COLUMN");
    check_refused("stop A\nsay x\ndo click \"x\n", 3, "quote");
    check_refused("stop A\nsay {token}\n", 2, "{token}");
    check_refused("stop A\nsay {token row\n", 2, "}");
    check_refused("stop A\nsay {B 1 1}\n", 2, "B");
    check_refused("stop A\nsay {A 0 1}\n", 2, "0");
    check_refused("stop A\nsay {A 1 1 1}\n", 2, "too much");
    check_refused("stop A\nsay {before before before before before before before before "
                  "before row}\n",
                  2, "deeply");
    check_refused("stop A\nask why?\n", 1, "no answer");
    check_refused("stop A\nsay x\nanswer token row\n", 1, "asks nothing");
    check_refused("stop A\nask x\nanswer token\n", 3, "answer");
    check_refused("stop A\nask x\nanswer token row row\n", 3, "too much");
    check_refused("stop A\nask x\nanswer token row\nanswer row row\n", 4, "one answer");
    check_refused("stop A\nask x\nanswer cell A row\n", 3, "nothing");
    check_refused("stop A\nask x\nchoice a\n", 1, "right");
    check_refused("stop A\nask x\nright a\nright b\n", 4, "one choice");
    check_refused("stop A\nask x\nanswer token row\nchoice a\n", 4, "leave one out");
    check_refused("stop A\nsay x\nshow y\n", 1, "add ask");
    check_refused("stop A\nsay x\nstop B\n", 3, "says nothing");
    check_refused("stop A\nsay x\x80\n", 2, "byte 6");
    check_refused("stop A\nsay x\ty\n", 2, "tabs");
}

/* The names that assets/tour.txt gives matrices, in a text and in a command. */
static void documented_names_are_matrices(void **state)
{
    static const char *const names[] = {"h",        "X", "W_Q", "W_K", "W_V",
                                        "Q",        "K", "V",   "S",   "s_scaled",
                                        "s_masked", "A", "O",   "W_O", "Y"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[120];
        struct tour t;
        struct err e = {0};
        (void)snprintf(text, sizeof text, "stop A\nsay {%s 1 1}\ndo pin %s:1:1\n",
                       names[i], names[i]);
        if (!tour_parse(&t, "t.txt", text, strlen(text), &e)) fail_msg("%s", e.text);
        tour_free(&t);
    }
}

static void what_is_too_long_is_refused(void **state)
{
    (void)state;
    char text[4096] = "stop A\nsay ";
    memset(text + strlen(text), 'x', TOUR_TEXT + 1);
    check_refused(text, 2, "shorten");
    char *many = calloc(STEP_STOPS_MOST + 2, 16);
    assert_non_null(many);
    for (int i = 0; i <= STEP_STOPS_MOST; i++) strcat(many, "stop A\nsay x\n");
    check_refused(many, 2 * STEP_STOPS_MOST + 1, "at most");
    free(many);
    struct tour t;
    struct err e = {0};
    assert_false(tour_parse(&t, "t.txt", "stop A\nsay a\0b\n", 15, &e));
    assert_non_null(strstr(e.text, "t.txt:2: "));
    assert_non_null(strstr(e.text, "zero byte"));
}

static void a_file_says_what_it_says(void **state)
{
    (void)state;
    static const char text[] = "\xEF\xBB\xBF# a tour\r\n"
                               "stop One\r\nsay a\r\nsay b\r\nnote n\nnote m\n"
                               "stop Two\n  do set row last\nask who?\nanswer row last\n"
                               "hint h\nthen key 5\nshow s\n";
    struct tour t;
    struct err e = {0};
    assert_true(tour_parse(&t, "t.txt", text, strlen(text), &e));
    assert_int_equal(t.n, 2);
    assert_string_equal(t.stop[0].say, "a b");
    assert_string_equal(t.stop[0].note, "n\nm");
    assert_int_equal(t.stop[0].kind, ASK_NOTHING);
    assert_int_equal(t.stop[1].kind, ASK_ROW);
    assert_string_equal(t.stop[1].answer, "last");
    assert_string_equal(t.stop[1].begin[0].text, "set row last");
    assert_int_equal(t.stop[1].begin[0].line, 8);
    assert_string_equal(t.stop[1].then[0].text, "key 5");
    tour_free(&t);
}

/* ---- the program ------------------------------------------------------------------------- */

static int open_app(void **state)
{
    static struct app a;
    struct err e = {0};
    const struct app_config c = {.headless = true, .on_paper = true, .w = W, .h = H};
    *state = &a;
    if (app_init(&a, &c, &e) && app_build(&a, true, &e)) return 0;
    print_error("%s\n", e.text);
    return -1;
}

static int close_app(void **state)
{
    app_fini(*state);
    return 0;
}

static void act(struct app *a, struct step_action action)
{
    app_apply(a, action);
    assert_true(app_build(a, true, NULL));
}

static void key(struct app *a, int k)
{
    const struct ui_event ev = {.kind = UI_KEY, .key = k};
    app_event(a, &ev);
    assert_true(app_build(a, true, NULL));
}

static struct step_action pick(int row, int col)
{
    return (struct step_action){.verb = STEP_TOUR_PICK,
                                .ref = {ATTN_TENSOR_COUNT, row, col}};
}

static bool on_screen(const struct app *a, const char *text)
{
    for (int i = 0; i < a->scene.n; i++)
        if (a->scene.items[i].kind == SCENE_TEXT &&
            strstr(a->scene.items[i].u.text.text, text))
            return true;
    return false;
}

static void words_are_the_numbers(void **state)
{
    struct app *a = *state;
    act(a, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_TOY});
    act(a, (struct step_action){.verb = STEP_ROW, .i = 2});
    const struct tour_world w = {&a->scene, &a->step, &a->seen_source};
    struct attn_cmat p = scene_tensor_view(&a->seen_source, ATTN_P);
    const float *row = p.data + 2 * p.ld;
    int top = 0;
    int low = 0;
    double bits = 0;
    for (int j = 0; j < p.cols; j++) {
        if (row[j] > row[top]) top = j;
        if (row[j] < row[low]) low = j;
        if (row[j] > 0) bits -= (double)row[j] * log2((double)row[j]);
    }
    char want[200];
    (void)snprintf(want, sizeof want, "3 5 %d %d %.2f %.2f 3 2 %.2f", top + 1, low + 1,
                   (double)row[top], (double)row[top], bits);
    assert_string_equal(
        tour_fill(&w,
                  "{row} {tokens} {argmax A row} {argmin A row} "
                  "{A row argmax A row} {max A 3} {seen row} {before row} "
                  "{entropy row}",
                  NULL),
        want);
    assert_non_null(strstr(tour_fill(&w, "{token 2}", NULL), "cat"));
    assert_string_equal(tour_fill(&w, "{A 9 1}|{token 9}|{before first}", NULL),
                        "\u2013|\u2013|\u2013");
    assert_string_equal(tour_fill(&w, "{S_MASKED 1 last}", NULL), "\u2212\u221E");
}

/* The row and column that the keys lead to and Enter answers. */
static void answer_by_keys(struct app *a, int row, int col)
{
    for (int i = 0; i < 5000 && a->step.tour.row != row; i++)
        key(a, a->step.tour.row < row ? UI_KEY_DOWN : UI_KEY_UP);
    for (int i = 0; i < 5000 && a->step.tour.col != col; i++)
        key(a, a->step.tour.col < col ? UI_KEY_RIGHT : UI_KEY_LEFT);
    key(a, UI_KEY_ENTER);
}

/* At every stop: nothing is refused, one answer is right, and no other one is but for what
 * is as large; the card is whole, and nothing of it lies on the stage. */
static void check_stop(struct app *a, int k, bool by_keys)
{
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = k});
    act(a, (struct step_action){.verb = STEP_TOUR_AGAIN});
    assert_int_equal(a->step.tour.stop, k);
    assert_string_equal(a->message, "");
    assert_false(a->scene.full);
    for (int i = 0; i < a->scene.n; i++) {
        const struct scene_item *it = &a->scene.items[i];
        if (it->kind == SCENE_TEXT && it->u.text.x >= a->scene.frame.panel.x &&
            strstr(it->u.text.text, "\u2013"))
            fail_msg("stop %d: a figure is missing: %s", k + 1, it->u.text.text);
    }
    const struct tour_stop *s = &a->tour.tour.stop[k];
    if (s->kind == ASK_NOTHING) return;
    static const char *const answers[] = {
        "gives ", "wants most", "goes from", "most of all", "|S|", "min", " mean "};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (on_screen(a, answers[i]) && !strstr(s->say, answers[i]))
            fail_msg("stop %d: the stage tells \"%s\"", k + 1, answers[i]);
    struct scene_tour card;
    assert_true(tour_show(a, &a->scene, &a->seen_source, &card));
    int right = card.right_row;
    int col = card.right_col;
    assert_in_range(right, 0, card.rows - 1);
    int rights = 0;
    for (int i = 0; i < card.rows; i++) {
        int j = s->kind == ASK_CELL ? col : i;
        act(a, (struct step_action){.verb = STEP_TOUR_AGAIN});
        act(a, pick(i, j));
        assert_true(a->step.tour.verdict == STEP_RIGHT ||
                    a->step.tour.verdict == STEP_WRONG);
        rights += a->step.tour.verdict == STEP_RIGHT;
        if (i == right) assert_int_equal(a->step.tour.verdict, STEP_RIGHT);
        if (card.rows > 8 && i > 8) i = i < right ? right - 1 : card.rows;
    }
    assert_in_range(rights, 1, card.rows > 1 ? card.rows - 1 : 1);
    act(a, (struct step_action){.verb = STEP_TOUR_AGAIN});
    act(a, (struct step_action){.verb = STEP_TOUR_PICK, .i = STEP_REVEALED});
    assert_int_equal(a->step.tour.verdict, STEP_REVEALED);
    assert_int_equal(a->step.tour.row, right);
    assert_string_equal(a->message, "");
    if (!by_keys) return;
    act(a, (struct step_action){.verb = STEP_TOUR_AGAIN});
    answer_by_keys(a, right, col);
    assert_int_equal(a->step.tour.verdict, STEP_RIGHT);
    assert_string_equal(a->message, "");
}

/* The number of the cell that was clicked, not of its column in the row asked about; a cell
 * of another matrix is no answer. */
static void a_wrong_cell_is_told_with_its_number(void **state)
{
    struct app *a = *state;
    char want[80];
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 1});
    struct attn_cmat q = scene_tensor_view(&a->seen_source, ATTN_Q);
    (void)snprintf(want, sizeof want, "Row 1, column 1, %s, is not it.",
                   scene_number(&a->scene, q.data[0], 2));
    struct step_action click = pick(0, 0);
    click.ref.tensor = ATTN_K;
    act(a, click);
    assert_int_equal(a->step.tour.verdict, STEP_UNANSWERED);
    assert_non_null(strstr(a->message, "a cell of K; the question is about Q"));
    click.ref.tensor = ATTN_Q;
    act(a, click);
    assert_int_equal(a->step.tour.verdict, STEP_WRONG);
    struct scene_tour card;
    assert_true(tour_show(a, &a->scene, &a->seen_source, &card));
    if (strncmp(card.verdict, want, strlen(want)) != 0)
        fail_msg("%s: expected %s", card.verdict, want);
}

static void every_stop_can_be_answered_at_any_seed(void **state)
{
    struct app *a = *state;
    static const int seeds[] = {15, 1, 7, 4242};
    assert_in_range(a->tour.tour.n, 12, 20);
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
            act(a, (struct step_action){.verb = STEP_SCALE_TO, .i = scale});
            act(a, (struct step_action){.verb = STEP_SEED, .i = seeds[i]});
        }
        for (int k = 0; k < a->tour.tour.n; k++) check_stop(a, k, i == 0);
    }
}

/* Every text of the card inside it and above its buttons. */
static void check_card(const struct app *a)
{
    struct scene_rect p = a->scene.frame.panel;
    const struct scene_item *next = scene_find(&a->scene, 2304);
    assert_non_null(next);
    float buttons = scene_item_box(&a->scene, next).y;
    for (int i = 0; i < a->scene.n; i++) {
        const struct scene_item *it = &a->scene.items[i];
        if (it->kind != SCENE_TEXT || it->clip.x != p.x || it->clip.w != p.w) continue;
        struct scene_rect b = scene_item_box(&a->scene, it);
        if (b.x < p.x || b.x + b.w > p.x + p.w + 0.5f || b.y < p.y ||
            b.y + b.h > p.y + p.h)
            fail_msg("stop %d: \"%s\" leaves the card", a->step.tour.stop + 1,
                     it->u.text.text);
        if (b.y < buttons && b.y + b.h > buttons)
            fail_msg("stop %d: \"%s\" lies on the buttons", a->step.tour.stop + 1,
                     it->u.text.text);
    }
}

static void every_card_fits_the_smallest_window(void **state)
{
    struct app *a = *state;
    for (int present = 0; present < 2; present++) {
        if (present) act(a, (struct step_action){.verb = STEP_PRESENT});
        for (int k = 0; k < a->tour.tour.n; k++) {
            act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = k});
            check_card(a);
            if (a->tour.tour.stop[k].kind == ASK_NOTHING) continue;
            for (int i = 0; i < 8 && a->step.tour.verdict != STEP_WRONG; i++) {
                act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = k});
                act(a, pick(i, i));
            }
            check_card(a);
            act(a, (struct step_action){.verb = STEP_TOUR_PICK, .i = STEP_REVEALED});
            check_card(a);
        }
    }
    act(a, (struct step_action){.verb = STEP_PRESENT});
}

static void the_tour_goes_on_where_it_was_left(void **state)
{
    struct app *a = *state;
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 3});
    act(a, (struct step_action){.verb = STEP_TOUR_PICK, .i = STEP_REVEALED});
    key(a, UI_KEY_ESCAPE);
    assert_false(a->step.tour.open);
    act(a, (struct step_action){.verb = STEP_GO, .i = ATTN_OUTPUT});
    key(a, 'g');
    assert_true(a->step.tour.open);
    assert_int_equal(a->step.tour.stop, 3);
    assert_int_equal(a->step.tour.verdict, STEP_REVEALED);
    assert_int_equal(a->step.stage, ATTN_SCORES);
    for (int k = 3; k < a->tour.tour.n; k++) key(a, UI_KEY_PAGE_DOWN);
    assert_false(a->step.tour.open);
    key(a, 'g');
    assert_int_equal(a->step.tour.stop, 0);
    key(a, 'g');
}

/* Leaving it, by any way, leads back to what was in view before. */
static void leaving_leads_back(void **state)
{
    struct app *a = *state;
    const struct step_ref cell = {ATTN_S_MASKED, 40, 3};
    act(a, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_GPT2});
    act(a, (struct step_action){.verb = STEP_SEED, .i = 9});
    act(a, (struct step_action){.verb = STEP_GO, .i = ATTN_MASK});
    act(a, (struct step_action){.verb = STEP_SCRUB, .x = 1.0f});
    act(a, (struct step_action){.verb = STEP_HEAD, .i = 5});
    act(a, (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_MASK, .x = 2.0f});
    act(a, (struct step_action){.verb = STEP_PIN, .ref = cell});
    for (int way = 0; way < 3; way++) {
        int first = way == 2 ? a->tour.tour.n - 1 : 1;
        act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = first});
        assert_int_equal(a->step.scale, STEP_TOY);
        assert_int_equal(step_choice_of(a->step.opts, STEP_SW_MASK), 0);
        if (way == 0) key(a, UI_KEY_ESCAPE);
        if (way == 1) key(a, 'g');
        if (way == 2) key(a, UI_KEY_PAGE_DOWN);
        const struct step_place *p = step_place_of(&a->step);
        assert_false(a->step.tour.open);
        assert_int_equal(a->step.scale, STEP_GPT2);
        assert_int_equal(a->step.stage, ATTN_MASK);
        assert_true(a->step.time >= 1.0f && !a->step.playing);
        assert_int_equal(step_choice_of(a->step.opts, STEP_SW_MASK), 2);
        assert_int_equal(p->head, 5);
        assert_int_equal(p->seed, 9);
        assert_int_equal(p->row, 40);
        assert_true(step_ref_is(p->pin, cell));
    }
    act(a, (struct step_action){.verb = STEP_CORRECT});
}

/* What has been answered is so when one comes back, until it is asked anew. */
static void what_was_answered_is_remembered(void **state)
{
    struct app *a = *state;
    act(a, (struct step_action){.verb = STEP_TOUR_AGAIN, .i = 1});
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 3});
    act(a, (struct step_action){.verb = STEP_TOUR_PICK, .i = STEP_REVEALED});
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 1});
    assert_int_equal(a->step.tour.verdict, STEP_UNANSWERED);
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 3});
    assert_int_equal(a->step.tour.verdict, STEP_REVEALED);
    assert_non_null(scene_find(&a->scene, 2306)); /* Ask again */
    act(a, (struct step_action){.verb = STEP_TOUR_AGAIN});
    assert_int_equal(a->step.tour.stop, 3);
    assert_int_equal(a->step.tour.verdict, STEP_UNANSWERED);
    assert_null(scene_find(&a->scene, 2306));
    act(a, (struct step_action){.verb = STEP_TOUR_PICK, .i = STEP_REVEALED});
    act(a, (struct step_action){.verb = STEP_TOUR_AGAIN, .i = 1});
    assert_int_equal(a->step.tour.stop, 0);
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 3});
    assert_int_equal(a->step.tour.verdict, STEP_UNANSWERED);
    key(a, 'g');
}

/* What was wrong when it was left is not pointed at when one comes back. */
static void coming_back_asks_anew(void **state)
{
    struct app *a = *state;
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 1});
    act(a, pick(0, 0));
    assert_int_equal(a->step.tour.verdict, STEP_WRONG);
    key(a, UI_KEY_ESCAPE);
    key(a, 'g');
    assert_int_equal(a->step.tour.verdict, STEP_UNANSWERED);
    assert_int_equal(a->step.tour.row, -1);
    key(a, UI_KEY_DOWN); /* the keys begin in the row that is asked about */
    assert_int_equal(a->step.tour.row, 2);
    assert_int_equal(a->step.tour.col, 0);
    key(a, 'g');
}

/* The pointer stays where it is on the screen when points become larger. */
static void the_pointer_stays_when_points_change(void **state)
{
    struct app *a = *state;
    const struct ui_event move = {.kind = UI_MOVE, .x = 500, .y = 300};
    app_event(a, &move);
    float x = a->pointer.x * a->scale.density;
    float y = a->pointer.y * a->scale.density;
    float points = a->scale.density;
    act(a, (struct step_action){.verb = STEP_PRESENT});
    assert_true(a->scale.density > points);
    assert_true(fabsf(a->pointer.x * a->scale.density - x) < 0.01f);
    assert_true(fabsf(a->pointer.y * a->scale.density - y) < 0.01f);
    act(a, (struct step_action){.verb = STEP_UI_SIZE, .i = 50});
    assert_true(fabsf(a->pointer.x * a->scale.density - x) < 0.01f);
    act(a, (struct step_action){.verb = STEP_UI_SIZE, .i = 100});
    act(a, (struct step_action){.verb = STEP_PRESENT});
    assert_true(fabsf(a->pointer.x - 500) < 0.01f);
}

/* A size is kept and nothing said, or not kept and said with what it needs. */
static void a_ui_size_without_room_is_not_kept(void **state)
{
    struct app *a = *state;
    act(a, (struct step_action){.verb = STEP_UI_SIZE_BY, .i = 1});
    assert_int_equal(a->step.ui_percent, 100);
    assert_non_null(strstr(a->message, "110% needs a window of at least 1127\u00d7704"));
    app_resize(a, 1440, 900);
    act(a, (struct step_action){.verb = STEP_PRESENT});
    act(a, (struct step_action){.verb = STEP_UI_SIZE_BY, .i = 1});
    assert_int_equal(a->step.ui_percent, 110);
    assert_string_equal(a->message, "");
    act(a, (struct step_action){.verb = STEP_UI_SIZE_BY, .i = 1});
    assert_int_equal(a->step.ui_percent, 110);
    assert_non_null(
        strstr(a->message, "stays at 110%: 125% needs a window of at least 1706"));
    act(a, (struct step_action){.verb = STEP_UI_SIZE_BY, .i = -1});
    assert_int_equal(a->step.ui_percent, 100);
    act(a, (struct step_action){.verb = STEP_PRESENT});
    app_resize(a, W, H);
}

/* What a stop asks of the numbers and they lack is said by its line, and one can go on. */
static void what_cannot_be_answered_is_said_and_skipped(void **state)
{
    struct app *a = *state;
    static const struct {
        const char *stop, *says;
    } cases[] = {{"ask who?\nanswer token 9\n", ".txt:3: answer 9: "},
                 {"ask who?\nanswer token argmax S 99\n", ".txt:3: answer argmax S 99: "},
                 {"ask who?\nanswer cell Q 2 9\n", ".txt:3: answer Q 2 9: "},
                 {"say {A 1 1}\nsay {A 9 2}\n", ".txt:3: {A 9 2}: "},
                 {"say {token 9}\n", ".txt:2: {token 9}: "},
                 {"ask who?\nanswer row 1\nshow {A 1 1}\nshow {max A 9}\n",
                  ".txt:5: {max A 9}: "}};
    char folder[] = "/tmp/headlight_tour_XXXXXX";
    char path[64];
    struct err e = {0};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a.txt", folder);
    act(a, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_TOY});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_true(fprintf(f, "stop A\n%sstop B\nsay y\n", cases[i].stop) > 0);
        assert_int_equal(fclose(f), 0);
        assert_true(app_open(a, path, NULL, NULL, &e));
        assert_true(app_build(a, true, &e));
        bool shown = strstr(cases[i].stop, "show") != NULL;
        if (shown) assert_string_equal(a->message, "");
        if (shown) act(a, pick(0, 0));
        if (!strstr(a->message, cases[i].says))
            fail_msg("%s: \"%s\" does not say %s", cases[i].stop, a->message,
                     cases[i].says);
        if (!shown) { /* nothing is asked, and Enter goes on */
            act(a, pick(0, 0));
            assert_int_equal(a->step.tour.verdict, STEP_UNANSWERED);
        }
        key(a, UI_KEY_ENTER);
        assert_int_equal(a->step.tour.stop, 1);
        assert_string_equal(a->message, "");
    }
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_true(tour_load(&a->tour, NULL, &e));
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 0});
    key(a, 'g');
}

/* The toy's numbers have a decimal in the smallest window: none is but "<1" or a digit. */
static void small_windows_show_a_decimal(void **state)
{
    struct app *a = *state;
    static const enum attn_stage stages[] = {ATTN_PROJECTIONS, ATTN_WEIGHTED_SUM,
                                             ATTN_OUTPUT};
    static const char words[] = "the cat sat down on the mat .";
    struct err e = {0};
    act(a, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_TOY});
    for (int present = 1; present >= 0; present--) {
        if (present)
            act(a, (struct step_action){.verb = STEP_PRESENT});
        else
            assert_true(
                source_set_words(&a->source, &a->step, words, sizeof words - 1, &e));
        for (size_t k = 0; k < sizeof stages / sizeof stages[0]; k++) {
            act(a, (struct step_action){.verb = STEP_GO, .i = (int)stages[k]});
            act(a, (struct step_action){.verb = STEP_SCRUB, .x = 1.0f});
            if (on_screen(a, "<1") || on_screen(a, ">\u22121"))
                fail_msg("stage %d, %d tokens: whole numbers", stages[k] + 1,
                         step_place_of(&a->step)->dims.n_tok);
        }
        if (present) act(a, (struct step_action){.verb = STEP_PRESENT});
    }
    assert_true(step_apply(&a->step, (struct step_action){.verb = STEP_UNDO}));
}

static void a_wrong_file_leaves_the_tour(void **state)
{
    struct app *a = *state;
    char folder[] = "/tmp/headlight_tour_XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a.txt", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("stop A\nsay x\nsay {nothing}\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    struct err e = {0};
    int n = a->tour.tour.n;
    assert_false(app_open(a, path, NULL, NULL, &e));
    assert_non_null(strstr(e.text, ".txt:3: "));
    assert_int_equal(a->tour.tour.n, n);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("stop A\nsay x {token 1}\nstop B\ndo set row 5000\nsay y\n", f) >=
                0);
    assert_int_equal(fclose(f), 0);
    assert_false(app_open(a, path, NULL, NULL, &e));
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("stop A\nsay x {token 1}\nstop B\ndo set row 4000\nsay y\n", f) >=
                0);
    assert_int_equal(fclose(f), 0);
    assert_true(app_open(a, path, NULL, NULL, &e));
    assert_true(app_build(a, true, &e));
    assert_true(a->step.tour.open);
    assert_int_equal(a->tour.tour.n, 2);
    key(a, UI_KEY_PAGE_DOWN); /* what the numbers lack is said by its line */
    assert_non_null(strstr(a->message, ".txt:4: set row 4000"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_true(tour_load(&a->tour, NULL, &e));
    act(a, (struct step_action){.verb = STEP_TOUR_TO, .i = 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_line_is_refused_by_its_number),
        cmocka_unit_test(documented_names_are_matrices),
        cmocka_unit_test(what_is_too_long_is_refused),
        cmocka_unit_test(a_file_says_what_it_says),
        cmocka_unit_test(words_are_the_numbers),
        cmocka_unit_test(a_wrong_cell_is_told_with_its_number),
        cmocka_unit_test(every_stop_can_be_answered_at_any_seed),
        cmocka_unit_test(every_card_fits_the_smallest_window),
        cmocka_unit_test(the_tour_goes_on_where_it_was_left),
        cmocka_unit_test(leaving_leads_back),
        cmocka_unit_test(what_was_answered_is_remembered),
        cmocka_unit_test(coming_back_asks_anew),
        cmocka_unit_test(the_pointer_stays_when_points_change),
        cmocka_unit_test(a_ui_size_without_room_is_not_kept),
        cmocka_unit_test(what_cannot_be_answered_is_said_and_skipped),
        cmocka_unit_test(small_windows_show_a_decimal),
        cmocka_unit_test(a_wrong_file_leaves_the_tour),
    };
    return cmocka_run_group_tests(tests, open_app, close_app);
}
