/* ui: in every window, stage and scale, nothing overlaps, nothing is cut, every control has
 * a number and a tip of its own. */
#include "field.h"
#include "ui_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const float touching = 0.75f; /* points that two boxes may share */

/* The box of a text's letters, without the room above and below them. */
static struct scene_rect ink_of(const struct ui_case *u, const struct scene_item *it)
{
    struct scene_rect b = scene_item_box(&u->c.sc, it);
    b.h = u->c.sc.font->cap[it->u.text.font] * it->u.text.size;
    return b;
}

static bool is_control(const struct scene_item *it)
{
    return it->hit.kind == HIT_ACTION || it->hit.kind == HIT_SLIDER;
}

static bool is_part(const struct ui_case *u, struct scene_rect clip)
{
    const struct scene_frame *f = &u->c.sc.frame;
    const struct scene_rect parts[] = {f->top, f->rail, f->stage, f->panel, f->bottom};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (rect_holds(parts[i], clip, 0) && rect_holds(clip, parts[i], 0)) return true;
    return false;
}

static void check_texts(const struct ui_case *u, int from)
{
    const struct scene *sc = &u->c.sc;
    struct scene_rect window = {0, 0, sc->w, sc->h};
    for (int i = from; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        if (it->kind != SCENE_TEXT) continue;
        struct scene_rect b = scene_item_box(sc, it);
        if (!rect_holds(window, it->clip, 0) || !rect_holds(it->clip, b, touching))
            fail_msg("%s: cut: \"%s\"", case_where(&u->c).text, it->u.text.text);
        for (int j = from; j < i; j++) {
            const struct scene_item *other = &sc->items[j];
            if (other->kind != SCENE_TEXT) continue;
            if (rect_overlap(ink_of(u, it), ink_of(u, other)) > touching)
                fail_msg("%s: \"%s\" over \"%s\"", case_where(&u->c).text,
                         it->u.text.text, other->u.text.text);
        }
    }
}

static void check_boxes(const struct ui_case *u)
{
    const struct scene *sc = &u->c.sc;
    for (int i = u->n_scene; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        if (it->kind != SCENE_RECT) continue;
        struct scene_rect b = scene_item_box(sc, it);
        if (!is_part(u, it->clip)) continue; /* half an icon */
        if (!rect_holds(it->clip, b, touching) || b.w < 0 || b.h < 0)
            fail_msg("%s: a box leaves its part: %.1f %.1f %.1f %.1f",
                     case_where(&u->c).text, (double)b.x, (double)b.y, (double)b.w,
                     (double)b.h);
    }
}

static void check_controls(const struct ui_case *u)
{
    const struct scene *sc = &u->c.sc;
    for (int i = 0; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        if (!is_control(it)) continue;
        if (!it->hit.tip || !*it->hit.tip) fail_msg("control %d has no tip", it->hit.id);
        struct scene_rect b = scene_item_box(sc, it);
        if (!rect_holds(it->clip, b, 0.01f) && i >= u->n_scene)
            fail_msg("%s: control %d is cut", case_where(&u->c).text, it->hit.id);
        for (int j = 0; j < i; j++) {
            const struct scene_item *other = &sc->items[j];
            if (!is_control(other)) continue;
            if (it->hit.id > 0 && it->hit.id == other->hit.id)
                fail_msg("%s: id %d twice", case_where(&u->c).text, it->hit.id);
            if (rect_overlap(b, scene_item_box(sc, other)) > 0.01f)
                fail_msg("%s: control %d (%s) over %d (%s)", case_where(&u->c).text,
                         it->hit.id, it->hit.tip, other->hit.id, other->hit.tip);
        }
    }
}

static void check(struct ui_case *u, struct case_size size)
{
    ui_show(u, size.w, size.h);
    check_texts(u, u->n_scene);
    check_boxes(u);
    check_controls(u);
}

void ui_check_whole(struct ui_case *u, struct case_size size)
{
    ui_show(u, size.w, size.h);
    check_texts(u, 0);
    check_boxes(u);
    check_controls(u);
}

/* Cells that are pointed at, a stage each: the first, the last, and one above the diagonal. */
static const enum attn_tensor result[ATTN_STAGE_COUNT] = {
    ATTN_K, ATTN_S_RAW, ATTN_S_SCALED, ATTN_S_MASKED, ATTN_P, ATTN_Z, ATTN_Y};

static struct step_ref cell(const struct ui_case *u, enum attn_tensor t, bool last)
{
    struct attn_cmat m = attn_trace_view(&u->c.trace, t, u->c.trace.head);
    return (struct step_ref){t, 0, last ? m.cols - 1 : 0};
}

void ui_check_stages(struct ui_case *u, struct case_size size)
{
    struct step_place *p = case_place(&u->c);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        u->c.state.stage = (enum attn_stage)s;
        u->c.state.hover = p->pin = step_no_ref();
        u->c.state.time = 1;
        check(u, size);
        u->c.state.hover = cell(u, result[s], true);
        check(u, size);
        u->c.state.hover = step_no_ref();
        p->pin = cell(u, result[s], false);
        check(u, size);
        p->pin = step_no_ref();
        u->c.state.time = 0.4f;
        check(u, size);
    }
}

static void the_toy_fits_in_every_window(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int k = 0; k < CASE_SIZES; k++)
        for (int row = 0; row < 5; row += 4) {
            case_place(&u.c)->row = row;
            ui_check_stages(&u, case_sizes[k]);
        }
    case_close(&u.c);
}

static void the_code_and_the_reasons_fit_too(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int i = 0; i < CASE_SIZES; i++) {
        u.c.state.code.open = true;
        for (int tab = 0; tab < STEP_CODE_TAB_COUNT; tab++) {
            u.c.state.code.tab = (enum step_code_tab)tab;
            ui_check_stages(&u, case_sizes[i]);
        }
        u.c.state.code.open = false;
        u.c.state.why = true; /* its card lies on other controls */
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
            u.c.state.stage = (enum attn_stage)s;
            u.c.state.time = 1;
            ui_show(&u, case_sizes[i].w, case_sizes[i].h);
            check_texts(&u, u.n_scene);
            check_boxes(&u);
        }
        u.c.state.why = false;
    }
    case_close(&u.c);
}

static void gpt2_fits_in_every_window(void **state)
{
    (void)state;
    static const int tokens[] = {1, 5, 12, 13, 64, 1024};
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    u.c.attn.k = attn_kernels_get(NULL); /* the quick ones */
    for (size_t n = 0; n < sizeof tokens / sizeof *tokens; n++) {
        case_tokens(&u.c, tokens[n]);
        for (int k = 0; k < CASE_SIZES; k++) ui_check_stages(&u, case_sizes[k]);
    }
    case_close(&u.c);
}

/* A prefill, a token, the last token; and decode mode that waits for the mask. */
static void decode_mode_fits_in_every_window(void **state)
{
    (void)state;
    static const int tokens[] = {1, 5, 64, 1024};
    for (size_t n = 0; n < sizeof tokens / sizeof *tokens; n++) {
        struct ui_case u = {0};
        case_open(&u.c, tokens[n] == 5 ? STEP_TOY : STEP_GPT2);
        if (tokens[n] != 5) case_tokens(&u.c, tokens[n]);
        struct step_place *p = case_place(&u.c);
        u.c.state.decode = true;
        p->prefill = (tokens[n] + 1) / 2;
        for (int k = 0; k < 3 && tokens[n] > k; k++) {
            p->row = k == 0 ? p->prefill - 1 : k == 1 ? p->prefill : tokens[n] - 1;
            if (p->row >= tokens[n]) continue;
            ui_check_stages(&u, case_sizes[k % CASE_SIZES]);
        }
        if (tokens[n] != 1024) {
            u.c.state.opts.causal = false;
            case_run(&u.c);
            ui_check_stages(&u, case_sizes[0]);
        }
        case_close(&u.c);
    }
}

/* The toy of 1 to 8 words, long ones among them. */
static void any_number_of_words_fits(void **state)
{
    (void)state;
    static const char *const words[8] = {"a",
                                         " incomprehensibilities",
                                         " \u05E9\u05DC\u05D5\u05DD",
                                         "...",
                                         " the",
                                         " counterrevolutionaries-and-more-of-them",
                                         " I",
                                         " end"};
    for (int n = 1; n <= 8; n++) {
        struct ui_case u = {0};
        case_open_dims(&u.c, (struct attn_dims){n, 8, 2});
        u.c.tokens = words;
        u.c.state.scale = STEP_TOY;
        case_place(&u.c)->dims.n_tok = n;
        case_place(&u.c)->row = n - 1;
        case_run(&u.c);
        ui_check_stages(&u, case_sizes[n % CASE_SIZES]);
        ui_check_stages(&u, (struct case_size){SCENE_MIN_W, SCENE_MIN_H});
        case_close(&u.c);
    }
}

/* The field at the corners of every matrix that can be edited, with each refusal. */
static void the_field_fits_in_every_window(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int stage = 0; stage < ATTN_STAGE_COUNT; stage++)
        for (int k = 0; k < 8; k++) {
            enum attn_tensor can[8];
            u.c.state.stage = (enum attn_stage)stage;
            u.c.state.time = 1;
            if (k >= scene_field_tensors(&u.c.state, can)) continue;
            struct attn_cmat m = attn_trace_view(&u.c.trace, can[k], 0);
            for (int w = 0; w < STEP_WRONG_COUNT; w++) {
                struct step_ref r = {can[k], w & 1 ? m.rows - 1 : 0,
                                     w & 2 ? m.cols - 1 : 0};
                if (step_can_give(&u.c.state, r)) r.col = 0;
                assert_true(step_apply(
                    &u.c.state, (struct step_action){.verb = STEP_FIELD, .ref = r}));
                u.c.state.field.wrong = (enum step_wrong)w;
                ui_show(&u, case_sizes[w % CASE_SIZES].w, case_sizes[w % CASE_SIZES].h);
                int card = 0; /* it lies on other controls */
                for (int i = u.n_scene; i < u.c.sc.n && !card; i++)
                    if (u.c.sc.items[i].hit.id == UI_ID_FIELD_CARD) card = i;
                assert_true(card > 0);
                struct scene_rect box = scene_item_box(&u.c.sc, &u.c.sc.items[card]);
                assert_true(rect_holds(u.c.sc.frame.stage, box, 0));
                check_texts(&u, card);
                struct scene_rect cell;
                assert_true(scene_cell_box(&u.c.sc, r, &cell));
                assert_true(rect_overlap(box, cell) <=
                            0); /* it does not cover its cell */
            }
            assert_true(
                step_apply(&u.c.state, (struct step_action){.verb = STEP_ESCAPE}));
        }
    case_close(&u.c);
}

static void the_wide_fake_font_fits_too(void **state)
{
    (void)state;
    for (int scale = 0; scale < 2; scale++) {
        struct ui_case u = {0};
        case_open(&u.c, (enum step_scale)scale);
        u.c.font = font_metrics_fake();
        for (int k = 1; k < CASE_SIZES; k++) ui_check_stages(&u, case_sizes[k]);
        case_close(&u.c);
    }
}

static void what_if_and_messages_fit(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    for (int k = 0; k < 8; k++) {
        u.c.state.opts = case_opts(k);
        u.c.state.theme = k & 1 ? STEP_DARK : STEP_LIGHT;
        case_run(&u.c);
        ui_check_stages(&u, case_sizes[0]);
        bool banner = ui_find_text(&u, "What if: residual is off") != NULL;
        assert_int_equal(banner, k == 4);
    }
    u.c.src.message =
        "a message that is longer than any window: /a/folder/of/files/with/"
        "long/names/that/go/on/and/on/and/on/and/on/and/on.png: no room left";
    ui_check_stages(&u, case_sizes[0]);
    case_close(&u.c);
}

static void many_heads_fit(void **state)
{
    (void)state;
    static const int heads[] = {1, 12, 16, 20, 25};
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        struct ui_case u = {0};
        case_open_dims(&u.c, (struct attn_dims){9, heads[k] * 16, heads[k]});
        case_place(&u.c)->head = heads[k] - 1;
        case_run(&u.c);
        for (int i = 0; i < 2; i++) ui_check_stages(&u, case_sizes[i]);
        case_close(&u.c);
    }
}

static void two_heads_fit_in_every_window(void **state)
{
    (void)state;
    static const int n_tok[] = {1, 9, 64, 700};
    for (int how = STEP_PAIR_BESIDE; how < STEP_PAIR_COUNT; how++) {
        struct ui_case u = {0};
        case_open(&u.c, STEP_TOY);
        case_pair(&u.c, (enum step_pair)how, 1);
        for (int k = 0; k < CASE_SIZES; k++)
            for (int s = ATTN_SCORES; s <= ATTN_SOFTMAX; s++) {
                u.c.state.stage = (enum attn_stage)s;
                check(&u, case_sizes[k]);
            }
        case_close(&u.c);
        for (size_t n = 0; n < sizeof n_tok / sizeof *n_tok; n++) {
            u = (struct ui_case){0};
            case_open_dims(&u.c, (struct attn_dims){n_tok[n], 25 * 8, 25});
            case_pair(&u.c, (enum step_pair)how, 24);
            u.c.state.stage = n % 2 ? ATTN_SOFTMAX : ATTN_MASK;
            for (int k = 0; k < CASE_SIZES; k++) check(&u, case_sizes[k]);
            case_close(&u.c);
        }
    }
}

static void numbers_of_any_size_fit(void **state)
{
    (void)state;
    static const float factor[] = {1e-6f, 1e4f, 1e12f, NAN, INFINITY};
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
        struct ui_case u = {0};
        case_open(&u.c, STEP_TOY);
        for (int i = 0; i < 8; i++) u.c.x[8 + i] *= factor[k];
        case_run(&u.c);
        ui_check_stages(&u, case_sizes[0]);
        case_close(&u.c);
    }
}

static void the_help_fits_in_every_window(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    u.c.state.help = true;
    for (int k = 0; k <= CASE_SIZES; k++) {
        u.c.state.presenter.on = k == CASE_SIZES;
        if (k < CASE_SIZES)
            ui_show(&u, case_sizes[k].w, case_sizes[k].h);
        else
            ui_show(&u, SCENE_PRESENTED_W, SCENE_PRESENTED_H);
        int scrim = u.c.sc.n;
        while (u.c.sc.items[scrim - 1].hit.action.verb != STEP_HELP ||
               u.c.sc.items[scrim - 1].hit.id != 0)
            scrim--;
        check_texts(&u, scrim);
        struct scene_rect card = scene_item_box(&u.c.sc, &u.c.sc.items[scrim + 1]);
        assert_true(rect_holds((struct scene_rect){0, 0, u.c.sc.w, u.c.sc.h}, card, 0));
        for (int i = scrim + 1; i < u.c.sc.n; i++)
            assert_true(rect_holds(card, scene_item_box(&u.c.sc, &u.c.sc.items[i]), 16));
    }
    case_close(&u.c);
}

static void tooltips_stay_in_the_window(void **state)
{
    (void)state;
    enum { ACROSS = 34, DOWN = 20 };
    struct ui_case u = {0};
    case_open(&u.c, STEP_GPT2);
    for (int k = 0; k < 2; k++) {
        struct case_size size = case_sizes[k];
        u.c.state.stage = k ? ATTN_SOFTMAX : ATTN_PROJECTIONS;
        for (int at = 0; at < ACROSS * DOWN; at++) {
            u.pointer.x = 1 + (size.w - 2) * (float)(at % ACROSS) / (ACROSS - 1);
            int line = at / ACROSS;
            u.pointer.y = 1 + (size.h - 2) * (float)line / (DOWN - 1);
            ui_show(&u, size.w, size.h);
            const struct scene *sc = &u.c.sc;
            struct scene_rect window = {0, 0, sc->w, sc->h};
            for (int i = sc->n - 3; i < sc->n; i++)
                assert_true(rect_holds(window, scene_item_box(sc, &sc->items[i]), 0.5f));
        }
    }
    case_close(&u.c);
}

int ui_layout_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_toy_fits_in_every_window),
        cmocka_unit_test(the_code_and_the_reasons_fit_too),
        cmocka_unit_test(gpt2_fits_in_every_window),
        cmocka_unit_test(decode_mode_fits_in_every_window),
        cmocka_unit_test(any_number_of_words_fits),
        cmocka_unit_test(the_field_fits_in_every_window),
        cmocka_unit_test(the_wide_fake_font_fits_too),
        cmocka_unit_test(what_if_and_messages_fit),
        cmocka_unit_test(many_heads_fit),
        cmocka_unit_test(two_heads_fit_in_every_window),
        cmocka_unit_test(numbers_of_any_size_fit),
        cmocka_unit_test(the_help_fits_in_every_window),
        cmocka_unit_test(tooltips_stay_in_the_window),
    };
    return cmocka_run_group_tests_name("ui layout", tests, NULL, NULL);
}
