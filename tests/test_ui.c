/* ui: keys, the pointer and the focus become actions. Where things lie and what the panel
 * says have files of their own. */
#include "ui_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { W = 1440, H = 900 };

static void open_toy(struct ui_case *u)
{
    memset(u, 0, sizeof *u);
    case_open(&u->c, STEP_TOY);
    ui_show(u, W, H);
}

static struct scene_rect box_of(const struct ui_case *u, const struct scene_item *it)
{
    return scene_item_box(&u->c.sc, it);
}

static void center_of(const struct ui_case *u, const struct scene_item *it, float *x,
                      float *y)
{
    struct scene_rect b = box_of(u, it);
    *x = b.x + b.w / 2;
    *y = b.y + b.h / 2;
}

/* The scene's heat map of a tensor. */
static const struct scene_item *heat_of(const struct ui_case *u, enum attn_tensor t)
{
    for (int i = u->n_scene - 1; i >= 0; i--) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (it->hit.kind == HIT_CELLS && it->hit.tensor == t) return it;
    }
    fail_msg("%s: no %s", case_where(&u->c).text, scene_tensor_name(t));
    return NULL;
}

/* The middle of a heat map's cell. */
static void cell_at(const struct scene_item *it, int row, int col, float *x, float *y)
{
    const struct scene_heat *t = &it->u.heat;
    *x = t->x + ((float)col + 0.5f) * t->cell_w;
    *y = t->y + ((float)row + 0.5f) * t->cell_h;
}

static bool same_action(struct step_action a, struct step_action b)
{
    return a.verb == b.verb && a.i == b.i && a.x == b.x && a.y == b.y && a.z == b.z;
}

/* ---- keys ----------------------------------------------------------------------------- */

static void every_key_gives_its_action(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        enum step_verb verb;
        int i;
    } cases[] = {
        {"Right", STEP_NEXT, 0},
        {"Left", STEP_PREV, 0},
        {"Up", STEP_ROW_BY, -1},
        {"Down", STEP_ROW_BY, 1},
        {"Shift+Up", STEP_ROWS_BY, -1},
        {"Shift+Down", STEP_ROWS_BY, 1},
        {"Ctrl+Up", STEP_ROW_WALK, -1},
        {"Ctrl+Down", STEP_ROW_WALK, 1},
        {"Ctrl+Space", STEP_ROW_KEEP, 0},
        {"Home", STEP_GO, 0},
        {"End", STEP_GO, 6},
        {"1", STEP_GO, 0},
        {"2", STEP_GO, 1},
        {"3", STEP_GO, 2},
        {"4", STEP_GO, 3},
        {"5", STEP_GO, 4},
        {"6", STEP_GO, 5},
        {"7", STEP_GO, 6},
        {"Space", STEP_PLAY, 0},
        {",", STEP_BEAT, -1},
        {".", STEP_BEAT, 1},
        {"-", STEP_SPEED_BY, -1},
        {"=", STEP_SPEED_BY, 1},
        {"+", STEP_SPEED_BY, 1},
        {"r", STEP_RESTART, 0},
        {"R", STEP_RESTART, 0},
        {"Shift+r", STEP_RESTART, 0},
        {"t", STEP_SCALE_TO, -1},
        {"[", STEP_HEAD_BY, -1},
        {"]", STEP_HEAD_BY, 1},
        {"a", STEP_PAIR, -1},
        {"Shift+[", STEP_SECOND_BY, -1},
        {"Shift+]", STEP_SECOND_BY, 1},
        {"f", STEP_FIT, 0},
        {"l", STEP_LOG, 0},
        {"n", STEP_ROLL, 0},
        {"d", STEP_THEME, -1},
        {"?", STEP_HELP, 0},
        {"F1", STEP_HELP, 0},
        {"F11", STEP_FULLSCREEN, 0},
        {"Escape", STEP_ESCAPE, 0},
        {"i", STEP_SWITCHES, 0},
        {"x", STEP_CORRECT, 0},
        {"v", STEP_SEE, -1},
        {"Ctrl+z", STEP_UNDO, 0},
        {"Ctrl+y", STEP_REDO, 0},
        {"Ctrl+Shift+z", STEP_REDO, 0},
        {"Ctrl+q", STEP_QUIT, 0},
        {"Ctrl+e", STEP_EDIT, STEP_EDIT_EXPORT},
        {"Ctrl+c", STEP_COPY, STEP_COPY_NUMBERS},
        {"Ctrl+Shift+c", STEP_COPY, STEP_COPY_PICTURE},
        {"Ctrl+l", STEP_COPY, STEP_COPY_STATE},
        {"Ctrl+0", STEP_UI_SIZE, 100},
        {"Ctrl+=", STEP_UI_SIZE_BY, 1},
        {"Ctrl++", STEP_UI_SIZE_BY, 1},
        {"Ctrl+-", STEP_UI_SIZE_BY, -1},
    };
    struct ui_case u;
    open_toy(&u);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ui_key(&u, cases[k].key);
        if (u.out.n != 1 || u.out.at[0].verb != cases[k].verb ||
            u.out.at[0].i != cases[k].i)
            fail_msg("key %s: %d actions, verb %d, i %d", cases[k].key, u.out.n,
                     (int)u.out.at[0].verb, u.out.at[0].i);
    }
    case_close(&u.c);
}

static void other_keys_do_nothing(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "9",      "j",         "u",         "Alt+p",      "q",      "0",
        "8",      "Backspace", "Delete",    "Ctrl+g",     "Ctrl+k", "Ctrl+x",
        "Ctrl+u", "Ctrl+r",    "Alt+Right", "Ctrl+Right", "Shift+1"};
    struct ui_case u;
    open_toy(&u);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        ui_key(&u, keys[k]);
        if (u.out.n) fail_msg("key %s gives verb %d", keys[k], (int)u.out.at[0].verb);
    }
    case_close(&u.c);
}

static void key_names_are_read_or_refused(void **state)
{
    (void)state;
    int key, mods;
    assert_true(ui_key_parse("Shift+Tab", &key, &mods));
    assert_int_equal(key, UI_KEY_TAB);
    assert_int_equal(mods, UI_SHIFT);
    assert_true(ui_key_parse("ctrl+SHIFT+Q", &key, &mods));
    assert_int_equal(key, 'q');
    assert_int_equal(mods, UI_CTRL | UI_SHIFT);
    assert_true(ui_key_parse("?", &key, &mods));
    assert_int_equal(key, '/');
    assert_int_equal(mods, UI_SHIFT);
    static const char *const bad[] = {"",  "Foo", "Ctrl+",  "ab",
                                      "!", "F99", "\u00E4", "+a"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(ui_key_parse(bad[k], &key, &mods));
}

/* ---- the pointer ------------------------------------------------------------------------ */

static void every_control_clicked_gives_its_action(void **state)
{
    (void)state;
    struct ui_case u;
    open_toy(&u);
    for (int scale = 0; scale < 2; scale++) {
        int clicked = 0;
        for (int i = 0; i < u.c.sc.n; i++) {
            const struct scene_item *it = &u.c.sc.items[i];
            if (it->hit.kind != HIT_ACTION) continue;
            float x, y;
            center_of(&u, it, &x, &y);
            ui_click(&u, x, y);
            if (u.out.n != 1 || !same_action(u.out.at[0], it->hit.action))
                fail_msg("%s: control %d at %.0f %.0f gives %d actions",
                         case_where(&u.c).text, it->hit.id, (double)x, (double)y,
                         u.out.n);
            clicked++;
        }
        assert_true(clicked > 30);
        case_close(&u.c);
        memset(&u, 0, sizeof u);
        case_open(&u.c, STEP_GPT2);
        ui_show(&u, 1024, 640);
    }
    case_close(&u.c);
}

/* The play button: its id is not known here, its action is. */
static const struct scene_item *control_with(const struct ui_case *u, enum step_verb verb)
{
    for (int i = u->c.sc.n - 1; i >= 0; i--) {
        const struct scene_hit *h = &u->c.sc.items[i].hit;
        if (h->id > 0 && h->action.verb == verb) return &u->c.sc.items[i];
    }
    fail_msg("no control with verb %d", (int)verb);
    return NULL;
}

static void a_click_reaches_four_points_and_no_farther(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    center_of(&u, control_with(&u, STEP_PLAY), &x, &y);
    for (int far = 0; far < 2; far++) {
        ui_point(&u, UI_DOWN, x, y);
        ui_point(&u, UI_MOVE, x + 3 + 2 * (float)far, y);
        ui_point(&u, UI_UP, x, y); /* back again: it has been a drag all the same */
        assert_int_equal(u.out.n, !far);
    }
    ui_point(&u, UI_DOWN, x, y);
    ui_point(&u, UI_UP, 700, 400); /* released elsewhere */
    assert_int_equal(u.out.n, 0);
    ui_point(&u, UI_DOWN, 700, 400);
    ui_point(&u, UI_UP, x, y); /* pressed elsewhere */
    assert_int_equal(u.out.n, 0);
    case_close(&u.c);
}

static void a_click_on_a_cell_pins_it_and_on_a_chip_selects_its_row(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    u.c.state.stage = ATTN_SCORES;
    ui_show(&u, W, H);
    cell_at(heat_of(&u, ATTN_S_RAW), 2, 1, &x, &y);
    ui_click(&u, x, y);
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_PIN);
    assert_int_equal(u.out.at[0].ref.row, 2);
    assert_int_equal(u.out.at[0].ref.col, 1);
    for (int i = 0; i < u.n_scene; i++) {
        const struct scene_item *it = &u.c.sc.items[i];
        if (it->hit.action.verb != STEP_ROW) continue;
        center_of(&u, it, &x, &y);
        ui_click(&u, x, y);
        assert_int_equal(u.out.at[0].verb, STEP_ROW);
        assert_int_equal(u.out.at[0].i, it->hit.action.i);
    }
    case_close(&u.c);
}

static void hovering_speaks_only_when_the_cell_changes(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    u.c.state.stage = ATTN_SOFTMAX;
    ui_show(&u, W, H);
    cell_at(heat_of(&u, ATTN_P), 3, 2, &x, &y);
    ui_point(&u, UI_MOVE, x, y);
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_HOVER);
    ui_apply(&u);
    assert_int_equal(u.c.state.hover.row, 3);
    ui_point(&u, UI_MOVE, x + 1, y);
    assert_int_equal(u.out.n, 0);
    ui_show(&u, W, H); /* with its tooltip */
    assert_non_null(ui_find_text(&u, "row 4 \u00B7down \u2192 col 3 \u00B7sat"));
    ui_send(&u, (struct ui_event){.kind = UI_LEAVE});
    assert_int_equal(u.out.n, 1);
    ui_apply(&u);
    assert_int_equal(u.c.state.hover.tensor, ATTN_TENSOR_COUNT);
    case_close(&u.c);
}

static void the_wheel_zooms_and_a_drag_pans(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    cell_at(heat_of(&u, ATTN_X), 1, 1, &x, &y);
    ui_send(&u, (struct ui_event){.kind = UI_WHEEL, .x = x, .y = y, .wheel = 2});
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_ZOOM);
    assert_float_equal(u.out.at[0].z, 1.15f * 1.15f, 1e-5f);
    assert_true(u.out.at[0].x == x && u.out.at[0].y == y);
    ui_send(&u, (struct ui_event){.kind = UI_WHEEL, .x = 50, .y = 300, .wheel = 2});
    assert_int_equal(u.out.n, 0); /* over the rail */

    float dx = 0, dy = 0;
    ui_point(&u, UI_DOWN, x, y);
    for (int k = 1; k <= 10; k++) {
        ui_point(&u, UI_MOVE, x + 2 * (float)k, y - (float)k);
        for (int i = 0; i < u.out.n; i++) {
            assert_int_equal(u.out.at[i].verb, STEP_PAN);
            dx += u.out.at[i].x;
            dy += u.out.at[i].y;
        }
    }
    ui_point(&u, UI_UP, x + 20, y - 10);
    assert_int_equal(u.out.n, 0);
    assert_float_equal(dx, 20, 1e-3f);
    assert_float_equal(dy, -10, 1e-3f);
    case_close(&u.c);
}

static void a_double_click_edits_a_cell(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    cell_at(heat_of(&u, ATTN_W_K), 2, 1, &x, &y);
    ui_send(&u, (struct ui_event){.kind = UI_DOWN, .x = x, .y = y, .clicks = 2});
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_FIELD);
    assert_true(step_ref_is(u.out.at[0].ref, (struct step_ref){ATTN_W_K, 2, 1}));
    ui_apply(&u);
    assert_true(step_field_is_open(&u.c.state));
    ui_point(&u, UI_UP, x, y);
    assert_int_equal(u.out.n, 0); /* its release pins nothing */
    ui_show(&u, W, H);
    assert_null(ui_find_text(&u, "row 3, col 2")); /* no tooltip over the field */
    /* The wheel over the cell, and a drag that begins there, change the number. */
    ui_send(&u, (struct ui_event){.kind = UI_WHEEL, .x = x, .y = y, .wheel = 2});
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_FIELD_BY);
    assert_true(u.out.at[0].x > 0);
    ui_point(&u, UI_DOWN, x, y);
    ui_point(&u, UI_MOVE, x - 40, y);
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_FIELD_BY);
    assert_true(u.out.at[0].x < 0);
    ui_point(&u, UI_UP, x - 40, y);
    assert_int_equal(u.out.n, 0);
    ui_key(&u, "Ctrl+Down");
    assert_int_equal(u.out.at[0].verb, STEP_FIELD);
    assert_true(step_ref_is(u.out.at[0].ref, (struct step_ref){ATTN_W_K, 3, 1}));
    ui_key(&u, "Tab");
    assert_int_equal(u.out.at[0].verb, STEP_FIELD);
    assert_true(step_ref_is(u.out.at[0].ref, (struct step_ref){ATTN_W_V, 2, 1}));
    ui_key(&u, "x"); /* a letter comes as text, and is no command */
    assert_int_equal(u.out.n, 0);
    ui_key(&u, "Enter");
    assert_int_equal(u.out.at[0].verb, STEP_FIELD_TAKE);
    ui_key(&u, "Escape");
    assert_int_equal(u.out.at[0].verb, STEP_ESCAPE);
    ui_apply(&u);
    assert_false(step_field_is_open(&u.c.state));
    case_close(&u.c);
}

static void pin(struct ui_case *u, enum attn_stage stage, struct step_ref cell)
{
    u->c.state.stage = stage;
    u->c.state.time = 1;
    assert_true(
        step_apply(&u->c.state, (struct step_action){.verb = STEP_PIN, .ref = cell}));
    ui_show(u, W, H);
}

/* A click there, as an action. */
static struct step_action click_on(struct ui_case *u, struct step_ref cell)
{
    struct scene_rect b;
    if (!scene_cell_box(&u->c.sc, cell, &b))
        fail_msg("%s: %s is not drawn", case_where(&u->c).text,
                 scene_tensor_name(cell.tensor));
    ui_click(u, b.x + b.w / 2, b.y + b.h / 2);
    assert_int_equal(u->out.n, 1);
    assert_true(step_ref_is(u->out.at[0].ref, cell));
    return u->out.at[0];
}

static void a_click_on_an_operand_dives(void **state)
{
    (void)state;
    struct ui_case u;
    open_toy(&u);
    const struct step_ref cell = {ATTN_S_RAW, 3, 1}, k = {ATTN_K, 1, 2};
    pin(&u, ATTN_SCORES, cell);
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 5; i++) {
            struct step_action a = click_on(&u, (struct step_ref){ATTN_Q, i, c});
            assert_int_equal(a.verb, i == 3 ? STEP_DIVE : STEP_PIN);
            a = click_on(&u, (struct step_ref){ATTN_K, i, c});
            assert_int_equal(a.verb, i == 1 ? STEP_DIVE : STEP_PIN);
        }
        struct step_action a = click_on(&u, (struct step_ref){ATTN_S_RAW, 3, c});
        assert_int_equal(a.verb, STEP_PIN);
    }
    /* a second click takes the dive back, and the operand is edited where it was */
    (void)click_on(&u, k);
    float x = u.pointer.x, y = u.pointer.y;
    ui_apply(&u);
    assert_int_equal(u.c.state.dive.n, 1);
    assert_int_equal(u.c.state.stage, ATTN_PROJECTIONS);
    ui_show(&u, W, H);
    ui_send(&u, (struct ui_event){.kind = UI_DOWN, .x = x, .y = y, .clicks = 2});
    ui_apply(&u);
    assert_int_equal(u.c.state.stage, ATTN_SCORES);
    assert_int_equal(u.c.state.dive.n, 0);
    assert_true(step_ref_is(u.c.state.field.at, k));
    assert_true(step_field_is_open(&u.c.state));
    ui_point(&u, UI_UP, x, y);
    assert_int_equal(u.out.n, 0);
    case_close(&u.c);
}

/* Operands that have given their place to what was made of them stand beside it. */
static void operands_of_every_stage_are_in_view(void **state)
{
    (void)state;
    static const struct {
        enum attn_stage stage;
        enum attn_tensor cell, operand;
    } cases[] = {{ATTN_PROJECTIONS, ATTN_X, ATTN_H},
                 {ATTN_PROJECTIONS, ATTN_Q, ATTN_X},
                 {ATTN_SCORES, ATTN_S_RAW, ATTN_K},
                 {ATTN_SCALE, ATTN_S_SCALED, ATTN_S_RAW},
                 {ATTN_MASK, ATTN_S_MASKED, ATTN_S_SCALED},
                 {ATTN_SOFTMAX, ATTN_P, ATTN_S_MASKED},
                 {ATTN_WEIGHTED_SUM, ATTN_Z, ATTN_P},
                 {ATTN_OUTPUT, ATTN_Y, ATTN_H}};
    for (int scale = 0; scale < 2; scale++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct ui_case u = {0};
            case_open(&u.c, (enum step_scale)scale);
            pin(&u, cases[k].stage, (struct step_ref){cases[k].cell, 2, 1});
            int row = cases[k].operand == ATTN_K ? 1 : 2;
            struct step_action a =
                click_on(&u, (struct step_ref){cases[k].operand, row, 1});
            if (a.verb != STEP_DIVE)
                fail_msg("%s, case %d", case_where(&u.c).text, (int)k);
            ui_apply(&u);
            assert_int_equal(u.c.state.dive.n, 1);
            ui_show(&u, W, H);
            case_close(&u.c);
        }
}

static void what_is_not_computed_yet_tells_no_number(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    u.c.state.stage = ATTN_SCORES;
    u.c.state.time = 0.5f;
    ui_show(&u, W, H);
    cell_at(heat_of(&u, ATTN_S_RAW), 4, 4, &x, &y);
    ui_point(&u, UI_MOVE, x, y);
    assert_int_equal(u.out.n, 0);
    ui_show(&u, W, H);
    assert_non_null(ui_find_text(&u, "S: not computed yet"));
    cell_at(heat_of(&u, ATTN_S_RAW), 0, 0, &x, &y);
    ui_point(&u, UI_MOVE, x, y);
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_HOVER);
    case_close(&u.c);
}

static void a_double_click_fits_the_matrix(void **state)
{
    (void)state;
    struct ui_case u;
    float x, y;
    open_toy(&u);
    u.c.state.stage = ATTN_WEIGHTED_SUM;
    u.c.state.time = 1;
    ui_show(&u, W, H);
    cell_at(heat_of(&u, ATTN_Z), 2, 2, &x, &y);
    ui_send(&u, (struct ui_event){.kind = UI_DOWN, .x = x, .y = y, .clicks = 2});
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_VIEW);
    ui_apply(&u);
    ui_point(&u, UI_UP, x, y);
    assert_int_equal(u.out.n, 0); /* its release pins nothing */
    ui_show(&u, W, H);
    struct scene_rect b = box_of(&u, heat_of(&u, ATTN_Z)), c = u.c.sc.canvas;
    assert_true(rect_holds(c, b, 0.5f));
    assert_true(b.w > 0.9f * c.w || b.h > 0.9f * c.h);
    ui_send(&u,
            (struct ui_event){.kind = UI_DOWN, .x = c.x + 2, .y = c.y + 2, .clicks = 2});
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].verb, STEP_FIT);
    case_close(&u.c);
}

static void sliders_run_from_end_to_end(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    ui_show(&u, W, H);
    struct scene_rect b = box_of(&u, control_with(&u, STEP_TOKENS));
    float y = b.y + b.h / 2;
    ui_point(&u, UI_DOWN, b.x, y);
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].i, 1);
    ui_point(&u, UI_MOVE, b.x + b.w + 500, y + 300); /* beyond its end */
    assert_int_equal(u.out.n, 1);
    assert_int_equal(u.out.at[0].i, STEP_MAX_TOKENS);
    ui_point(&u, UI_MOVE, b.x + b.w / 2, y);
    assert_in_range(u.out.at[0].i, 511, 514);
    ui_point(&u, UI_UP, b.x + b.w / 2, y);
    assert_int_equal(u.out.n, 0);
    b = box_of(&u, control_with(&u, STEP_SCRUB));
    float inset = control_with(&u, STEP_SCRUB)->hit.inset;
    ui_point(&u, UI_DOWN, b.x + inset + (b.w - 2 * inset) / 4, b.y + b.h / 2);
    assert_int_equal(u.out.at[0].verb, STEP_SCRUB);
    assert_float_equal(u.out.at[0].x, 0.25f, 1e-3f);
    case_close(&u.c);
}

/* The thumb, under the pointer and not, stays on its track, and on what is pressed. */
static void a_thumb_stays_on_its_track(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    for (int k = 0; k < 4; k++) {
        u.c.state.time = (float)(k % 2);
        ui_show(&u, W, H);
        struct scene_rect b = box_of(&u, control_with(&u, STEP_SCRUB));
        float middle = b.y + b.h / 2;
        ui_point(&u, UI_MOVE, k < 2 ? 0 : b.x + 1, middle);
        ui_show(&u, W, H);
        int thumbs = 0;
        for (int i = 0; i < u.c.sc.n; i++) {
            const struct scene_item *it = &u.c.sc.items[i];
            if (it->kind != SCENE_RECT) continue;
            struct scene_rect r = it->u.rect.box;
            if (r.w != r.h || r.w != 2 * it->u.rect.radius || r.w > 20) continue;
            if (fabsf(r.y + r.h / 2 - middle) > 0.01f || r.x + r.w < b.x) continue;
            assert_true(r.x >= b.x && r.x + r.w <= b.x + b.w);
            thumbs++;
        }
        assert_int_equal(thumbs, 1);
    }
    case_close(&u.c);
}

/* ---- the focus ----------------------------------------------------------------------------- */

/* Walks round once; returns how many controls it met, and fails where one came twice. */
static int walk(struct ui_case *u, const char *key, int *ids, int room)
{
    int n = 0;
    u->c.state.focus = 0;
    do {
        ui_key(u, key);
        assert_int_equal(u->out.n, 1);
        assert_int_equal(u->out.at[0].verb, STEP_FOCUS);
        ui_apply(u);
        ui_show(u, u->c.sc.w, u->c.sc.h);
        assert_true(n < room);
        ids[n++] = u->c.state.focus;
    } while (n < 2 || ids[n - 1] != ids[0]);
    n--;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (ids[i] == ids[j]) fail_msg("control %d twice", ids[i]);
    return n;
}

static void the_focus_visits_every_control_once(void **state)
{
    (void)state;
    enum { ROOM = 300 };
    int forth[ROOM], back[ROOM];
    for (int scale = 0; scale < 2; scale++) {
        struct ui_case u = {0};
        case_open(&u.c, (enum step_scale)scale);
        ui_show(&u, 1280, 800);
        int count = 0;
        for (int i = 0; i < u.c.sc.n; i++) count += u.c.sc.items[i].hit.id > 0;
        int n = walk(&u, "Tab", forth, ROOM);
        assert_int_equal(n, count);
        assert_int_equal(walk(&u, "Shift+Tab", back, ROOM), n);
        for (int i = 0; i < n; i++) assert_int_equal(back[i], forth[n - 1 - i]);
        case_close(&u.c);
    }
}

static void the_focused_control_takes_enter_space_and_arrows(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    ui_show(&u, W, H);
    u.c.state.focus = control_with(&u, STEP_LOG)->hit.id;
    static const char *const press[] = {"Enter", "Space"};
    for (int k = 0; k < 2; k++) {
        ui_key(&u, press[k]);
        assert_int_equal(u.out.n, 1);
        assert_int_equal(u.out.at[0].verb, STEP_LOG);
    }
    ui_key(&u, "Right");
    assert_int_equal(u.out.at[0].verb, STEP_NEXT);
    u.c.state.focus = control_with(&u, STEP_TOKENS)->hit.id;
    ui_key(&u, "Left");
    assert_int_equal(u.out.at[0].verb, STEP_TOKENS);
    assert_int_equal(u.out.at[0].i, STEP_GPT2_TOKENS - 1);
    u.c.state.focus = control_with(&u, STEP_SCRUB)->hit.id;
    u.c.state.time = 0.99f;
    ui_key(&u, "Right");
    assert_int_equal(u.out.at[0].verb, STEP_SCRUB);
    assert_true(u.out.at[0].x == 1);
    ui_key(&u, "Space");
    assert_int_equal(u.out.at[0].verb, STEP_PLAY);
    ui_point(&u, UI_DOWN, 700, 300); /* the ring is for the keyboard */
    assert_int_equal(u.out.at[0].verb, STEP_FOCUS);
    assert_int_equal(u.out.at[0].i, 0);
    case_close(&u.c);
}

static void the_open_help_keeps_the_focus_and_closes_by_a_click_outside(void **state)
{
    (void)state;
    struct ui_case u;
    int ids[8];
    open_toy(&u);
    u.c.state.help = true;
    ui_show(&u, W, H);
    assert_int_equal(walk(&u, "Tab", ids, 8), 1); /* the button that closes it */
    ui_key(&u, "Enter");
    assert_int_equal(u.out.at[0].verb, STEP_HELP);
    ui_click(&u, 20, 300);
    assert_int_equal(u.out.n ? u.out.at[0].verb : STEP_NONE, STEP_HELP);
    ui_click(&u, W * 0.5f, H * 0.5f);
    assert_int_equal(u.out.n, 0);
    ui_send(&u, (struct ui_event){
                    .kind = UI_WHEEL, .x = W * 0.5f, .y = H * 0.5f, .wheel = 1});
    assert_int_equal(u.out.n, 0);
    ui_key(&u, "Escape");
    ui_apply(&u);
    assert_int_equal(u.c.state.focus, ids[0]); /* help first, the focus stays */
    assert_false(u.c.state.help);
    case_close(&u.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_gives_its_action),
        cmocka_unit_test(other_keys_do_nothing),
        cmocka_unit_test(key_names_are_read_or_refused),
        cmocka_unit_test(every_control_clicked_gives_its_action),
        cmocka_unit_test(a_click_reaches_four_points_and_no_farther),
        cmocka_unit_test(a_click_on_a_cell_pins_it_and_on_a_chip_selects_its_row),
        cmocka_unit_test(hovering_speaks_only_when_the_cell_changes),
        cmocka_unit_test(the_wheel_zooms_and_a_drag_pans),
        cmocka_unit_test(a_double_click_edits_a_cell),
        cmocka_unit_test(a_click_on_an_operand_dives),
        cmocka_unit_test(operands_of_every_stage_are_in_view),
        cmocka_unit_test(what_is_not_computed_yet_tells_no_number),
        cmocka_unit_test(a_double_click_fits_the_matrix),
        cmocka_unit_test(sliders_run_from_end_to_end),
        cmocka_unit_test(a_thumb_stays_on_its_track),
        cmocka_unit_test(the_focus_visits_every_control_once),
        cmocka_unit_test(the_focused_control_takes_enter_space_and_arrows),
        cmocka_unit_test(the_open_help_keeps_the_focus_and_closes_by_a_click_outside),
    };
    return cmocka_run_group_tests_name("ui", tests, NULL, NULL) + ui_layout_tests() +
           ui_panel_tests() + ui_sources_tests() + ui_broken_tests() + ui_labs_tests() +
           ui_editor_tests();
}
