/* ui: the code drawer shows the very sources, lights what is at work, and leads to stages. */
#include "code.h"
#include "ui_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const roots[] = {TEST_DIR "/../src/attn/", TEST_DIR "/../assets/"};

/* Line `number` of the file, without its newline. */
static bool read_line(const char *name, int number, char *out, int room)
{
    char path[512];
    FILE *f = NULL;
    for (int r = 0; r < 2 && !f; r++) {
        (void)snprintf(path, sizeof path, "%s%s", roots[r], name);
        f = fopen(path, "rb");
    }
    if (!f) fail_msg("%s: no such source", name);
    bool ok = true;
    for (int i = 0; i < number && ok; i++) ok = fgets(out, room, f) != NULL;
    (void)fclose(f);
    out[strcspn(out, "\n")] = '\0';
    return ok;
}

static void listings_are_the_sources_line_by_line(void **state)
{
    (void)state;
    static struct ui_code c;
    for (int tab = 0; tab < STEP_CODE_TAB_COUNT; tab++) {
        int of_stage[ATTN_STAGE_COUNT] = {0};
        ui_code_of(&c, (enum step_code_tab)tab);
        assert_true(c.n > 0 && c.n < UI_CODE_LINES);
        for (int i = 0; i < c.n; i++) {
            char want[512] = "";
            assert_true(read_line(c.line[i].file, c.line[i].number, want, sizeof want));
            assert_int_equal((int)strlen(want), c.line[i].len);
            assert_memory_equal(want, c.line[i].text, strlen(want));
            assert_null(strstr(want, "listing:"));
            of_stage[c.line[i].stage]++;
        }
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) assert_true(of_stage[s] > 0);
    }
}

static void what_is_lit_is_in_the_listings(void **state)
{
    (void)state;
    static struct ui_code c;
    for (int k = 0; k < ui_code_lit_count; k++)
        for (int tab = 0; tab < STEP_CODE_TAB_COUNT; tab++) {
            const struct ui_code_lit *lit = &ui_code_lits[k];
            int found = 0;
            if (!lit->part[tab]) continue;
            ui_code_of(&c, (enum step_code_tab)tab);
            for (int i = 0; i < c.n; i++) {
                char text[512];
                (void)snprintf(text, sizeof text, "%.*s", c.line[i].len, c.line[i].text);
                found += c.line[i].stage == lit->stage && strstr(text, lit->part[tab]);
            }
            if (found < 1)
                fail_msg("stage %d, \"%s\": in no line", (int)lit->stage + 1,
                         lit->part[tab]);
        }
}

static void a_click_on_a_line_goes_to_its_stage(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    u.c.state.stage = ATTN_SOFTMAX;
    u.c.state.code.open = true;
    u.c.state.code.tab = STEP_CODE_TORCH;
    ui_show(&u, 1440, 900);
    int seen = 0;
    for (int i = 0; i < 20; i++) {
        const struct scene_item *it = scene_find(&u.c.sc, UI_ID_CODE_LINE + i);
        if (!it) continue;
        struct scene_rect box = scene_item_box(&u.c.sc, it);
        int stage = it->hit.action.i;
        ui_click(&u, box.x + 8, box.y + box.h / 2);
        assert_int_equal(u.out.n, 1);
        assert_int_equal(u.out.at[0].verb, STEP_GO);
        assert_int_equal(u.out.at[0].i, stage);
        seen |= 1 << stage;
    }
    assert_true(seen & 1 << ATTN_SOFTMAX && seen & 1 << ATTN_OUTPUT);
    case_close(&u.c);
}

static void a_name_under_the_pointer_tells_its_value(void **state)
{
    (void)state;
    struct ui_case u = {0};
    case_open(&u.c, STEP_TOY);
    u.c.state.stage = ATTN_SCORES;
    u.c.state.code.open = true;
    u.c.state.code.tab = STEP_CODE_TORCH;
    ui_show(&u, 1440, 900);
    const struct scene_item *line = NULL;
    for (int i = 0; !line || line->hit.action.i != ATTN_SCORES; i++) {
        line = scene_find(&u.c.sc, UI_ID_CODE_LINE + i);
        assert_non_null(line);
    }
    struct scene_rect box = scene_item_box(&u.c.sc, line);
    bool told = false;
    for (float x = box.x; x < box.x + box.w && !told; x += 3) {
        u.pointer = (struct ui_pointer){.x = x, .y = box.y + box.h / 2};
        ui_show(&u, 1440, 900);
        for (int i = u.n_scene; i < u.c.sc.n; i++)
            told = told || (u.c.sc.items[i].hit.tip &&
                            strstr(u.c.sc.items[i].hit.tip, "q = Q [5\u00D74], row 4:"));
    }
    assert_true(told);
    case_close(&u.c);
}

/* The line of a stage that holds `part`. */
static const struct ui_code_line *line_of(const struct ui_code *c, enum attn_stage stage,
                                          const char *part)
{
    for (int i = 0; i < c->n; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%.*s", c->line[i].len, c->line[i].text);
        if (c->line[i].stage == stage && strstr(text, part)) return &c->line[i];
    }
    fail_msg("stage %d: no line \"%s\"", (int)stage + 1, part);
    return NULL;
}

/* One word may stand for several things: what it is, its function and stage say. */
static void a_name_is_what_it_is_where_it_stands(void **state)
{
    (void)state;
    static const struct {
        enum step_code_tab tab;
        enum attn_stage stage;
        const char *line, *told;
    } cases[] = {
        {STEP_CODE_C, ATTN_PROJECTIONS, "kk < k", "k = 8 terms"},
        {STEP_CODE_C, ATTN_PROJECTIONS, "kk < k", "a = X [5\u00D78], row 4:"},
        {STEP_CODE_C, ATTN_PROJECTIONS, "kk < k", "g->b = W_Q [8\u00D74], column 1:"},
        {STEP_CODE_C, ATTN_SCORES, "kk < k", "k = 4 terms"},
        {STEP_CODE_C, ATTN_SCORES, "kk < k", "a = Q [5\u00D74], row 4:"},
        {STEP_CODE_C, ATTN_SCORES, "kk < k", "g->b = K\u1D40 [4\u00D75], column 4:"},
        {STEP_CODE_C, ATTN_SCORES, "c = s, .a = q", "k = K\u1D40 [4\u00D75]"},
        {STEP_CODE_C, ATTN_WEIGHTED_SUM, "kk < k", "k = 4 terms"}, /* row 4 sees 4 */
        {STEP_CODE_C, ATTN_WEIGHTED_SUM, "kk < k", "a = A [5\u00D75], row 4:"},
        {STEP_CODE_C, ATTN_WEIGHTED_SUM, "kk < k", "g->b = V [5\u00D74], column 1:"},
        {STEP_CODE_C, ATTN_OUTPUT, "kk < k", "g->b = W_O [8\u00D78], column 1:"},
        {STEP_CODE_C, ATTN_OUTPUT, "if (g->res)", "g->res = h [5\u00D78], row 4:"},
        {STEP_CODE_C, ATTN_SCALE, "/ divisor", "divisor = 2"},
        {STEP_CODE_C, ATTN_MASK, "a = seen", "seen = 4 in row 4"},
        {STEP_CODE_C, ATTN_SOFTMAX, "= e[j] / sum", "e [5], row 4:"},
        {STEP_CODE_TORCH, ATTN_SCORES, "s = q @", "k = K [5\u00D74], row 4:"},
        {STEP_CODE_TORCH, ATTN_OUTPUT, "y = z @", "h = h [5\u00D78], row 4:"},
    };
    struct ui_case u = {0};
    static struct ui_code c;
    case_open(&u.c, STEP_TOY);
    ui_show(&u, 1440, 900);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        u.c.state.stage = cases[i].stage;
        const struct ui in = {&u.c.sc, &u.c.state, &u.c.src, &u.pointer, NULL};
        ui_code_of(&c, cases[i].tab);
        const char *told =
            ui_code_line_text(&in, line_of(&c, cases[i].stage, cases[i].line));
        if (!strstr(told, cases[i].told))
            fail_msg("stage %d, \"%s\": no \"%s\" in\n%s", (int)cases[i].stage + 1,
                     cases[i].line, cases[i].told, told);
    }
    /* in motion: the row and the column that it is at */
    u.c.state.stage = ATTN_SCORES;
    struct step_clock clock = step_clock_at(&u.c.state, ATTN_SCORES);
    u.c.state.time = step_beat_start(&clock, 11) + 1e-4f;
    const struct ui in = {&u.c.sc, &u.c.state, &u.c.src, &u.pointer, NULL};
    ui_code_of(&c, STEP_CODE_C);
    const char *told = ui_code_line_text(&in, line_of(&c, ATTN_SCORES, "kk < k"));
    assert_non_null(strstr(told, "sum = S, row 3, column 2: "));
    assert_non_null(strstr(told, "a = Q [5\u00D74], row 3:"));
    assert_non_null(strstr(told, "column 2:"));
    case_close(&u.c);
}

/* Of two ways through a function the one that is taken. */
static void what_does_not_run_is_not_lit(void **state)
{
    (void)state;
    struct ui_case u = {0};
    static struct ui_code c;
    case_open(&u.c, STEP_TOY);
    struct step_state *s = &u.c.state;
    ui_code_of(&c, STEP_CODE_C);
    for (int wrong = 0; wrong < 2; wrong++) {
        s->opts.divisor = wrong ? ATTN_SQRT_D_MODEL : ATTN_SQRT_D_HEAD; /* 2.83, 2 */
        s->opts.no_max = wrong;
        s->opts.residual = s->opts.causal = !wrong;
        static const struct {
            const char *line;
            enum attn_stage stage;
            bool wrong;
        } lines[] = {{"out[a] = in[a] * by", ATTN_SCALE, false},
                     {"out[a] = (float)", ATTN_SCALE, true},
                     {"out[a] = -INFINITY", ATTN_MASK, false},
                     {"if (o.no_max)", ATTN_SOFTMAX, true},
                     {"row_div(p, p", ATTN_SOFTMAX, false},
                     {"= e[j] / sum", ATTN_SOFTMAX, false},
                     {"if (g->res)", ATTN_OUTPUT, false}};
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            s->stage = lines[i].stage;
            s->time = 1;
            assert_int_equal(
                ui_code_is_lit(s, line_of(&c, lines[i].stage, lines[i].line)),
                lines[i].wrong == wrong);
        }
    }
    case_close(&u.c);
}

/* No line is cut, every line at work has its shape, and all shapes that belong to what is
 * shown are on screen, at either scale in any window. */
static void code_is_whole_and_has_its_shapes(void **state)
{
    (void)state;
    static struct ui_case u;
    static struct ui_code c;
    static const struct case_size sizes[] = {{1024, 640}, {1440, 900}};
    for (int k = 0; k < 2 * 2 * 2 * ATTN_STAGE_COUNT; k++) {
        u = (struct ui_case){.pointer = {.x = -1, .y = -1}};
        case_open(&u.c, (enum step_scale)(k % 2));
        u.c.state.stage = (enum attn_stage)(k / 8);
        u.c.state.code.open = true;
        u.c.state.code.tab = (enum step_code_tab)(k / 2 % 2);
        ui_code_of(&c, u.c.state.code.tab);
        ui_show(&u, sizes[k / 4 % 2].w, sizes[k / 4 % 2].h);
        struct scene_rect drawer = u.c.sc.frame.code;
        const struct ui in = {&u.c.sc, &u.c.state, &u.c.src, &u.pointer, NULL};
        bool lit = false;
        for (int i = u.n_scene; i < u.c.sc.n; i++) {
            const struct scene_item *it = &u.c.sc.items[i];
            float x = it->u.text.x, y = it->u.text.y;
            if (it->kind != SCENE_TEXT || x < drawer.x || x > drawer.x + drawer.w ||
                y < drawer.y || y > drawer.y + drawer.h)
                continue;
            assert_null(strstr(it->u.text.text, "\u2026"));
            assert_true(rect_holds(drawer, scene_item_box(&u.c.sc, it), 0.5f));
        }
        for (int i = 0; i < c.n; i++) {
            if (!ui_code_is_lit(&u.c.state, &c.line[i])) continue;
            const char *shape = ui_code_shape(&in, &c.line[i]);
            assert_true(*shape);
            lit = lit || ui_find_text(&u, shape);
        }
        if (!lit) fail_msg("%s: no line at work shows its shape", case_where(&u.c).text);
        case_close(&u.c);
    }
}

/* A line with the focus tells what the pointer would be told. */
static void a_line_with_the_focus_tells_its_names(void **state)
{
    (void)state;
    static struct ui_case u;
    u = (struct ui_case){.pointer = {.x = -1, .y = -1}};
    case_open(&u.c, STEP_TOY);
    u.c.state.stage = ATTN_SCORES;
    u.c.state.code.open = true;
    u.c.state.code.tab = STEP_CODE_TORCH;
    u.c.state.focus = UI_ID_CODE_LINE;
    ui_show(&u, 1024, 640);
    int told = 0;
    for (int i = u.n_scene; i < u.c.sc.n; i++)
        if (u.c.sc.items[i].kind == SCENE_TEXT)
            told +=
                strncmp(u.c.sc.items[i].u.text.text, "q = Q [5\u00D74], row 4:", 20) == 0;
    assert_int_equal(told, 1);
    case_close(&u.c);
}

static float middle(struct scene_rect b)
{
    return b.y + b.h / 2;
}

/* From one control to the next one, of the same part of the window: on or down. */
static void check_reads_on(const struct ui_case *u, struct scene_rect last,
                           struct scene_rect box, int id)
{
    const struct scene_frame *f = &u->c.sc.frame;
    const struct scene_rect part[] = {f->top,  f->rail,   f->stage,
                                      f->code, f->bottom, f->panel};
    bool below = middle(box) >= middle(last) - 1;
    bool beside = box.x > last.x && middle(box) > last.y - 1;
    for (int p = 0; p < 6; p++)
        if (rect_holds(part[p], box, 1) && rect_holds(part[p], last, 1) && !below &&
            !beside)
            fail_msg("%s: %d is above the one before", case_where(&u->c).text, id);
}

/* Tab reaches every control once, part by part, and in a part never leads back up. */
static void tab_goes_as_one_reads(void **state)
{
    (void)state;
    static struct ui_case u;
    for (int k = 0; k < 2 * ATTN_STAGE_COUNT; k++) {
        u = (struct ui_case){.pointer = {.x = -1, .y = -1}};
        case_open(&u.c, (enum step_scale)(k % 2));
        u.c.state.stage = (enum attn_stage)(k / 2);
        u.c.state.code.open = k % 2;
        ui_show(&u, 1440, 900);
        int first = 0, n = 0;
        struct scene_rect last = {0, 0, 0, 0};
        do {
            ui_key(&u, "Tab");
            ui_apply(&u);
            const struct scene_item *it = scene_find(&u.c.sc, u.c.state.focus);
            assert_non_null(it);
            if (n && it->hit.id == first) break;
            if (!n) first = it->hit.id;
            struct scene_rect box = scene_item_box(&u.c.sc, it);
            if (n) check_reads_on(&u, last, box, it->hit.id);
            last = box;
        } while (++n < 400);
        assert_true(n > 40 && n < 400);
        if (u.c.state.stage == ATTN_SCORES) { /* one, two, difference */
            u.c.state.focus = 1100;
            for (int i = 1; i < 3; i++) {
                ui_key(&u, "Tab");
                ui_apply(&u);
                assert_int_equal(u.c.state.focus, 1100 + i);
            }
        }
        case_close(&u.c);
    }
}

/* The card of reasons takes the focus, from there Tab leads on in it, and Esc closes it. */
static void the_card_takes_the_focus(void **state)
{
    (void)state;
    static struct ui_case u;
    u = (struct ui_case){.pointer = {.x = -1, .y = -1}};
    case_open(&u.c, STEP_TOY);
    ui_show(&u, 1024, 640);
    ui_key(&u, "y");
    ui_apply(&u);
    ui_show(&u, 1024, 640);
    assert_int_equal(u.c.state.focus, UI_ID_WHY_CLOSE);
    for (int i = 0; i < SCENE_LINKS; i++) {
        ui_key(&u, "Tab");
        ui_apply(&u);
        assert_int_equal(u.c.state.focus, UI_ID_LINK + i);
    }
    assert_non_null(ui_find_text(&u, "arXiv:1706.03762"));
    ui_key(&u, "Escape");
    ui_apply(&u);
    assert_false(u.c.state.why);
    assert_int_equal(u.c.state.focus, 0);
    case_close(&u.c);
}

/* Esc closes what came last: the drawer, or the pin behind it. */
static void escape_closes_what_came_last(void **state)
{
    (void)state;
    const struct step_action pin = {.verb = STEP_PIN, .ref = {ATTN_Q, 1, 2}};
    const struct step_action code = {.verb = STEP_CODE}, escape = {.verb = STEP_ESCAPE};
    for (int last = 0; last < 2; last++) {
        struct step_state s = step_initial();
        assert_true(step_apply(&s, last ? pin : code));
        assert_true(step_apply(&s, last ? code : pin));
        assert_true(step_apply(&s, escape));
        assert_int_equal(s.code.open, !last);
        assert_int_equal(step_place_of(&s)->pin.tensor == ATTN_TENSOR_COUNT, !last);
        assert_true(step_apply(&s, escape));
        assert_false(s.code.open);
        assert_int_equal(step_place_of(&s)->pin.tensor, ATTN_TENSOR_COUNT);
    }
}

/* Every link is one of the two kinds of address that are there to stay. */
static void every_stage_has_reasons_and_links(void **state)
{
    (void)state;
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        const struct scene_reasons *r = scene_reasons_of((enum attn_stage)s);
        int n = 0;
        assert_true(*r->why && *r->without && *r->cost);
        for (int i = 0; i < SCENE_LINKS; i++) {
            const struct scene_link *l = scene_link_at(r->link[i]);
            if (!l) continue;
            assert_true(strncmp(l->address, "https://arxiv.org/abs/", 22) == 0 ||
                        strncmp(l->address, "https://github.com/openai/gpt-2/", 32) == 0);
            n++;
        }
        assert_true(n >= 2 && n <= 3);
    }
    assert_null(scene_link_at(-1));
    assert_null(scene_link_at(1000));
}

static void terms_are_found_as_whole_words(void **state)
{
    (void)state;
    const char *meaning = NULL;
    int n = 0;
    static const char text[] = "keys; a key-ring, turnkey, key";
    const char *at = scene_term_in(text, text, &n, &meaning);
    assert_ptr_equal(at, text + 8);
    assert_int_equal(n, 3);
    assert_ptr_equal(scene_term_in(text, at + n, &n, &meaning), text + 27);
    assert_null(scene_term_in("", "", &n, &meaning));
}

/* Every term of a caption is reached by Tab, tells its meaning there, and Shift+Tab leads
 * back over the same ones. */
static void a_term_tells_its_meaning_where_it_has_the_focus(void **state)
{
    (void)state;
    static struct ui_case u;
    u = (struct ui_case){.pointer = {.x = -1, .y = -1}};
    case_open(&u.c, STEP_TOY);
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        u.c.state.stage = (enum attn_stage)k;
        u.c.state.focus = 0;
        ui_show(&u, 1024, 640);
        int terms = 0, met = 0;
        for (int i = 0; i < u.c.sc.n; i++)
            terms += u.c.sc.items[i].hit.id >= SCENE_TERM_ID &&
                     u.c.sc.items[i].hit.id < SCENE_TERM_END;
        assert_true(terms > 0);
        for (int tabs = 0; tabs < 100 && met < terms; tabs++) {
            ui_key(&u, "Tab");
            ui_apply(&u);
            ui_show(&u, 1024, 640);
            int id = u.c.state.focus;
            if (id < SCENE_TERM_ID || id >= SCENE_TERM_END) continue;
            assert_int_equal(id, SCENE_TERM_ID + met);
            met++;
            /* the first words of the meaning, as the tip has them */
            char start[12];
            const struct scene_item *it = scene_find(&u.c.sc, id);
            assert_non_null(it);
            (void)snprintf(start, sizeof start, "%s", it->hit.tip);
            bool told = false;
            for (int i = u.n_scene; i < u.c.sc.n; i++)
                told = told ||
                       (u.c.sc.items[i].kind == SCENE_TEXT &&
                        strncmp(u.c.sc.items[i].u.text.text, start, strlen(start)) == 0);
            assert_true(told);
            ui_key(&u,
                   "Enter"); /* it is no control: nothing happens, nothing else does */
            assert_int_equal(u.out.n, 0);
        }
        assert_int_equal(met, terms);
        if (terms > 1) {
            ui_key(&u, "Shift+Tab");
            ui_apply(&u);
            assert_int_equal(u.c.state.focus, SCENE_TERM_ID + terms - 2);
        }
    }
    case_close(&u.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listings_are_the_sources_line_by_line),
        cmocka_unit_test(what_is_lit_is_in_the_listings),
        cmocka_unit_test(a_click_on_a_line_goes_to_its_stage),
        cmocka_unit_test(a_name_under_the_pointer_tells_its_value),
        cmocka_unit_test(a_name_is_what_it_is_where_it_stands),
        cmocka_unit_test(what_does_not_run_is_not_lit),
        cmocka_unit_test(code_is_whole_and_has_its_shapes),
        cmocka_unit_test(a_line_with_the_focus_tells_its_names),
        cmocka_unit_test(tab_goes_as_one_reads),
        cmocka_unit_test(the_card_takes_the_focus),
        cmocka_unit_test(escape_closes_what_came_last),
        cmocka_unit_test(every_stage_has_reasons_and_links),
        cmocka_unit_test(terms_are_found_as_whole_words),
        cmocka_unit_test(a_term_tells_its_meaning_where_it_has_the_focus),
    };
    return cmocka_run_group_tests_name("ui code", tests, NULL, NULL);
}
