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
        assert_true(n >= 2);
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
        for (int tabs = 0; tabs < 60 && met < terms; tabs++) {
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
        cmocka_unit_test(every_stage_has_reasons_and_links),
        cmocka_unit_test(terms_are_found_as_whole_words),
        cmocka_unit_test(a_term_tells_its_meaning_where_it_has_the_focus),
    };
    return cmocka_run_group_tests_name("ui code", tests, NULL, NULL);
}
