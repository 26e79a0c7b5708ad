/* app with its renderer, off screen: every control is clicked, and a long random session
 * never leaves the state's bounds. */
#include "app.h"

#include <SDL.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { W = 1280, H = 800, MAX_CONTROLS = 256 };

static int open_app(void **state)
{
    static struct app a;
    struct err e = {0};
    const struct app_config c = {.headless = true, .w = W, .h = H};
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

static void act(struct app *a, enum step_verb verb, int i, float x)
{
    app_apply(a, (struct step_action){.verb = verb, .i = i, .x = x});
}

/* A state in which no control is at the end of its range. */
static void middle(struct app *a, enum step_scale scale)
{
    a->step = step_initial();
    act(a, STEP_SCALE_TO, (int)scale, 0.0f);
    act(a, STEP_GO, ATTN_MASK, 0.0f);
    act(a, STEP_SCRUB, 0, 0.5f);
    act(a, STEP_SPEED, 0, 2.0f);
    act(a, STEP_UI_SIZE, 90, 0.0f);
    act(a, STEP_HEAD, 1, 0.0f);
    assert_true(app_build(a, true, NULL));
}

static void send(struct app *a, enum ui_event_kind kind, float x, float y, int clicks)
{
    const struct ui_event ev = {.kind = kind, .x = x, .y = y, .clicks = clicks};
    app_event(a, &ev);
    assert_true(app_build(a, false, NULL));
}

static int controls(const struct app *a, int *ids)
{
    int n = 0;
    for (int i = 0; i < a->scene.n; i++) {
        int id = a->scene.items[i].hit.id;
        if (id > 0 && n < MAX_CONTROLS) ids[n++] = id;
    }
    return n;
}

static bool states_differ(const struct step_state *a, const struct step_state *b)
{
    /* Copies of one zeroed struct: padding is equal too. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    return memcmp(a, b, sizeof *a) != 0;
}

/* What is chosen already stays so; everything else must do something. */
static bool is_chosen(const struct step_state *s, struct step_action a)
{
    return (a.verb == STEP_SCALE_TO && a.i == (int)s->scale) ||
           (a.verb == STEP_HEAD && a.i == step_place_of(s)->head) ||
           (a.verb == STEP_SPEED && a.x == s->speed) ||
           (a.verb == STEP_PAIR && a.i == (int)s->pair) ||
           (a.verb == STEP_ROW && a.i == step_place_of(s)->row) || a.verb == STEP_FIT ||
           (a.verb == STEP_HEAD_BY && s->scale == STEP_TOY && a.i > 0);
}

static void every_control_is_reached_by_a_click_and_does_something(void **state)
{
    struct app *a = *state;
    int ids[MAX_CONTROLS];
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        middle(a, (enum step_scale)scale);
        int n = controls(a, ids);
        assert_true(n > 20);
        for (int i = 0; i < n; i++) {
            middle(a, (enum step_scale)scale);
            const struct scene_item *it = scene_find(&a->scene, ids[i]);
            assert_non_null(it);
            struct scene_hit hit = it->hit;
            if (hit.kind == HIT_COVER) continue; /* a term tells its meaning */
            struct scene_rect box = scene_item_box(&a->scene, it);
            float x = box.x + box.w * 0.3f;
            float y = box.y + box.h * 0.5f;
            send(a, UI_MOVE, x, y, 0);
            if (scene_pick(&a->scene, x, y).item != scene_find(&a->scene, ids[i]))
                fail_msg("control %d (%s) is covered", ids[i], hit.tip ? hit.tip : "");
            struct step_state before = a->step;
            send(a, UI_DOWN, x, y, 1);
            send(a, UI_UP, x, y, 1);
            if (!states_differ(&before, &a->step) && !is_chosen(&before, hit.action))
                fail_msg("control %d (%s) does nothing", ids[i], hit.tip ? hit.tip : "");
        }
    }
}

static void ids_of_controls_are_unique_and_tab_reaches_every_one(void **state)
{
    struct app *a = *state;
    int ids[MAX_CONTROLS];
    const struct ui_event tab = {.kind = UI_KEY, .key = UI_KEY_TAB};
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        bool seen[4096] = {false};
        middle(a, (enum step_scale)scale);
        int n = controls(a, ids);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) assert_int_not_equal(ids[i], ids[j]);
        for (int i = 0; i < n; i++) {
            app_event(a, &tab);
            assert_true(app_build(a, false, NULL));
            assert_true(a->step.focus > 0 && a->step.focus < 4096);
            assert_false(seen[a->step.focus]);
            seen[a->step.focus] = true;
        }
    }
}

static void the_help_covers_what_is_below(void **state)
{
    struct app *a = *state;
    middle(a, STEP_TOY);
    act(a, STEP_HELP, 0, 0.0f);
    assert_true(app_build(a, false, NULL));
    struct step_state before = a->step;
    const float w = a->scene.frame.rail.w;
    for (float y = 70.0f; y < a->scene.h; y += 13.0f) {
        send(a, UI_DOWN, w / 2.0f, y, 1);
        send(a, UI_UP, w / 2.0f, y, 1);
        a->step.help = true;
        assert_true(app_build(a, false, NULL));
    }
    assert_int_equal(before.stage, a->step.stage);
    assert_int_equal(step_place_of(&before)->head, step_place_of(&a->step)->head);
}

/* ---- a random session ------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *x)
{
    *x ^= *x << 13; /* Marsaglia 2003, xorshift */
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

static void check_bounds(const struct app *a)
{
    const struct step_state *s = &a->step;
    const struct step_place *p = step_place_of(s);
    assert_true(s->stage < ATTN_STAGE_COUNT && s->time >= 0.0f && s->time <= 1.0f);
    assert_true(p->head >= 0 && p->head < p->dims.n_head);
    assert_true(p->row >= 0 && p->row < p->dims.n_tok);
    assert_true(p->dims.n_tok >= 1 && p->dims.n_tok <= STEP_MAX_TOKENS);
    assert_true(isfinite(p->view.x) && isfinite(p->view.y) && p->view.zoom >= 1.0f);
    assert_true(a->scale.w >= (a->presented ? SCENE_PRESENTED_W : SCENE_MIN_W) &&
                a->scale.h >= (a->presented ? SCENE_PRESENTED_H : SCENE_MIN_H));
    assert_false(a->scene.full);
    assert_true(a->scene.n > (a->presented ? 5 : 50));
    if (s->scale == STEP_TOY) assert_true(a->seen_source.fits);
}

static struct ui_event random_event(struct app *a, uint32_t *x)
{
    static const int keys[] = {UI_KEY_LEFT,   UI_KEY_RIGHT, UI_KEY_UP,  UI_KEY_DOWN,
                               UI_KEY_HOME,   UI_KEY_END,   UI_KEY_TAB, UI_KEY_ENTER,
                               UI_KEY_ESCAPE, UI_KEY_F1,    UI_KEY_F11, UI_KEY_PAGE_UP,
                               UI_KEY_DELETE};
    struct ui_event ev = {.kind = (enum ui_event_kind)(next_random(x) % 6)};
    uint32_t r = next_random(x);
    ev.key =
        r % 3 == 0 ? keys[r / 3 % (sizeof keys / sizeof keys[0])] : (int)(32 + r % 95);
    ev.mods = next_random(x) % 4 == 0 ? (int)(next_random(x) % 8) : 0;
    ev.x = (float)(next_random(x) % 1400) - 20.0f;
    ev.y = (float)(next_random(x) % 900) - 20.0f;
    if (next_random(x) % 3 == 0) { /* near where it was: clicks and short drags */
        ev.x = a->pointer.x + (float)(next_random(x) % 9) - 4.0f;
        ev.y = a->pointer.y + (float)(next_random(x) % 9) - 4.0f;
    }
    ev.wheel = (float)(next_random(x) % 9) - 4.0f;
    ev.clicks = next_random(x) % 4 == 0 ? 2 : 1;
    return ev;
}

static void a_random_session_stays_inside_its_bounds(void **state)
{
    enum { EVENTS = 2500, DRAW_EVERY = 50 };
    struct app *a = *state;
    struct err e = {0};
    uint32_t x = 20240229u;
    a->step = step_initial();
    for (int i = 0; i < EVENTS; i++) {
        struct ui_event ev = random_event(a, &x);
        app_event(a, &ev);
        if (i % 7 == 0) (void)step_tick(&a->step, 0.05f);
        if (i % 311 == 0) app_resize(a, 64 + i % 1500, 64 + i % 1100);
        if (!app_build(a, false, &e)) fail_msg("event %d: %s", i, e.text);
        check_bounds(a);
        if (i % DRAW_EVERY == 0 && !app_draw(a, &e)) fail_msg("event %d: %s", i, e.text);
        a->step.quit = false;
    }
    app_resize(a, W, H);
}

/* Frames that the next drawing comes to. */
static int64_t drawn(struct app *a)
{
    struct err e = {0};
    int64_t before = a->n_frame;
    if (!app_build(a, true, &e) || !app_draw(a, &e)) fail_msg("%s", e.text);
    return a->n_frame - before;
}

static void what_is_on_screen_is_not_drawn_again(void **state)
{
    struct app *a = *state;
    middle(a, STEP_TOY);
    app_resize(a, W, H);
    assert_int_equal(drawn(a), 1);
    assert_int_equal(drawn(a), 0);
    act(a, STEP_ROW, 2, 0.0f);
    assert_int_equal(drawn(a), 1);
    act(a, STEP_ROW, 2, 0.0f);
    assert_int_equal(drawn(a), 0);
    app_resize(a, W, H); /* a size that is told again: what was drawn may be gone */
    assert_int_equal(drawn(a), 1);
}

static void an_impossible_ui_size_is_answered(void **state)
{
    struct app *a = *state;
    a->step = step_initial();
    app_resize(a, W, H);
    act(a, STEP_UI_SIZE, 200, 0.0f);
    assert_true(app_build(a, false, NULL));
    assert_non_null(a->seen_source.message);
    assert_non_null(strstr(a->seen_source.message, "2048\u00d71280"));
    act(a, STEP_HOVER, 0, 0.0f);
    assert_true(app_build(a, false, NULL));
    assert_non_null(a->seen_source.message);
    act(a, STEP_UI_SIZE, 125, 0.0f);
    assert_true(app_build(a, false, NULL));
    assert_null(a->seen_source.message);
    assert_true(a->scale.density == 1.25f);
}

/* Every number on the clipboard is the matrix's own, to the bit. */
static void expect_clipboard(struct attn_cmat m, int row0, int row1)
{
    char *text = SDL_GetClipboardText();
    char *at = text;
    assert_non_null(text);
    for (int i = row0; i < row1; i++) {
        for (int j = 0; j < m.cols; j++) {
            char *end = NULL;
            float v = strtof(at, &end);
            assert_ptr_not_equal(end, at);
            float want = m.data[(size_t)i * (size_t)m.ld + (size_t)j];
            assert_memory_equal(&v, &want, sizeof v);
            assert_int_equal(*end, j + 1 < m.cols ? '\t' : i + 1 < row1 ? '\n' : '\0');
            at = end + 1;
        }
    }
    SDL_free(text);
}

static void what_is_copied_is_the_number_to_the_bit(void **state)
{
    struct app *a = *state;
    middle(a, STEP_TOY);
    struct attn_cmat m = scene_tensor_view(&a->seen_source, ATTN_S_MASKED);
    act(a, STEP_ROW, 2, 0.0f);
    act(a, STEP_COPY, STEP_COPY_NUMBERS, 0.0f);
    expect_clipboard(m, 2, 3);
    act(a, STEP_COPY, STEP_COPY_NUMBERS, 0.0f);
    expect_clipboard(m, 0, m.rows);
    struct step_ref cell = {ATTN_Q, 1, 3};
    app_apply(a, (struct step_action){.verb = STEP_PIN, .ref = cell});
    act(a, STEP_COPY, STEP_COPY_NUMBERS, 0.0f);
    struct attn_cmat q = scene_tensor_view(&a->seen_source, ATTN_Q);
    q.data += (size_t)cell.row * (size_t)q.ld + (size_t)cell.col;
    q.rows = q.cols = 1;
    expect_clipboard(q, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_copied_is_the_number_to_the_bit),
        cmocka_unit_test(every_control_is_reached_by_a_click_and_does_something),
        cmocka_unit_test(ids_of_controls_are_unique_and_tab_reaches_every_one),
        cmocka_unit_test(the_help_covers_what_is_below),
        cmocka_unit_test(what_is_on_screen_is_not_drawn_again),
        cmocka_unit_test(an_impossible_ui_size_is_answered),
        cmocka_unit_test(a_random_session_stays_inside_its_bounds),
    };
    return cmocka_run_group_tests_name("app_session", tests, open_app, close_app);
}
