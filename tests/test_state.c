/* A state is a line: random walks of actions, written as a command line, read back by a
 * shell's rules and by the program's own, show the same scene. */
#include "cli.h"
#include "scene_case.h"
#include "state.h"
#include "ui.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_WORDS = 128, LINE_ROOM = 1 << 16, W = 1440, H = 900 };

struct words {
    char text[LINE_ROOM];
    char *at[MAX_WORDS + 1];
    int n;
};

/* The words that /bin/sh makes of the line, zeros between them. */
static void shell_words(struct words *w, const char *line)
{
    char file[] = "/tmp/headlight_state_XXXXXX";
    char command[64];
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    assert_true(
        fprintf(f, "headlight() { printf '%%s\\0' headlight \"$@\"; }\n%s\n", line) > 0);
    assert_int_equal(fclose(f), 0);
    (void)snprintf(command, sizeof command, "sh %s", file);
    FILE *p = popen(command, "r"); /* NOLINT(cert-env33-c): the shell is what is asked */
    assert_non_null(p);
    size_t n = fread(w->text, 1, sizeof w->text - 1, p);
    assert_int_equal(pclose(p), 0);
    assert_int_equal(remove(file), 0);
    w->n = 0;
    for (size_t at = 0; at < n; at += strlen(w->text + at) + 1) {
        assert_true(w->n < MAX_WORDS);
        w->at[w->n++] = w->text + at;
    }
}

/* ---- walks -------------------------------------------------------------------------------- */

/* Any action that leaves its mark on screen, with numbers that are often possible. */
static struct step_action any_action(uint64_t *seed)
{
    static const enum step_verb verbs[] = {
        STEP_NEXT,     STEP_PREV,      STEP_GO,        STEP_PLAY,     STEP_RESTART,
        STEP_SCRUB,    STEP_BEAT,      STEP_SPEED_BY,  STEP_SCALE_TO, STEP_TOKENS,
        STEP_SEED,     STEP_ROLL,      STEP_HEAD,      STEP_ROW,      STEP_PIN,
        STEP_RANK,     STEP_LEAST_BY,  STEP_ROWS_TO,   STEP_ROWS_AND, STEP_ROW_ALSO,
        STEP_ROW_WALK, STEP_ROW_KEEP,  STEP_HOVER,     STEP_TOGGLE,   STEP_LOG,
        STEP_ZOOM,     STEP_PAN,       STEP_FIT,       STEP_THEME,    STEP_UI_SIZE_BY,
        STEP_OVERVIEW, STEP_OVER_KIND, STEP_OVER_SORT, STEP_OVER_AT,  STEP_OVER_OPEN,
        STEP_BLOCK,    STEP_CODE,      STEP_CODE_TAB,  STEP_WHY,      STEP_TERMS,
        STEP_SWITCHES, STEP_DECODE,    STEP_DECODE,    STEP_DIVE,     STEP_DIVE,
        STEP_DIVE,     STEP_CLIMB,     STEP_CODE_BY,   STEP_PIN,      STEP_LAB,
        STEP_LAB_TO,   STEP_LAB_BY,    STEP_LAB_ROW,   STEP_LAB_OF,   STEP_LAB_DIMS,
        STEP_GIVE,     STEP_GIVE,      STEP_UNGIVE};
    size_t n = sizeof verbs / sizeof *verbs;
    struct step_action a = {.verb = verbs[case_random(seed) % n]};
    a.i = (int)(case_random(seed) % 12) - 1;
    a.x = case_unit(seed) * (a.verb == STEP_ZOOM || a.verb == STEP_PAN ? 500.0f : 1.0f);
    a.y = case_unit(seed) * 300;
    a.z = 1 + case_unit(seed) * 0.7f;
    a.ref = (struct step_ref){(enum attn_tensor)(case_random(seed) % ATTN_TENSOR_COUNT),
                              (int)(case_random(seed) % 6), (int)(case_random(seed) % 6)};
    return a;
}

static void walk(struct step_state *s, uint64_t *seed)
{
    for (int i = 0; i < 25; i++) (void)step_apply(s, any_action(seed));
    (void)step_tick(s, 0.5f + case_unit(seed) * 0.4f);
    s->over.menu = false; /* comes and goes by itself */
}

/* The state that the words lead to. m: the model that is open by then, or NULL. */
static void state_of_words(struct words *w, const struct step_model *m, struct cli *c,
                           struct step_state *s)
{
    struct err e = {0};
    if (!cli_parse(c, w->n, w->at, &e)) fail_msg("%s", e.text);
    *s = step_initial();
    for (int i = 0; i < c->start.n; i++) assert_true(step_apply(s, c->start.at[i]));
    if (!m) return;
    step_load(s, m);
    for (int i = 0; i < c->when_opened.n; i++)
        assert_true(step_apply(s, c->when_opened.at[i]));
}

/* The whole window of the state as text, computed anew. */
static char *shown(struct scene_case *c, const struct step_state *s)
{
    c->state = *s;
    c->state.focus = 0;
    case_run(c);
    case_build(c, W, H);
    ui_build(&c->sc, &c->state, &c->src, NULL);
    return case_dump_kept(c);
}

static void same_screen(struct scene_case *c, const struct step_state *a,
                        const struct step_state *b, const char *line)
{
    char *x = shown(c, a);
    char *y = shown(c, b);
    if (strcmp(x, y) != 0) {
        size_t n = 0;
        while (x[n] == y[n]) n++;
        while (n > 0 && x[n - 1] != '\n') n--;
        fail_msg("%s\n-- %.200s\n-- %.200s", line, x + n, y + n);
    }
    free(x);
    free(y);
}

static const char *line_of(const struct step_state *s, const char *model,
                           const char *text, size_t n, struct arena *mem)
{
    const struct state_shown now = {.step = s,
                                    .model = model,
                                    .text = text,
                                    .n_text = n,
                                    .cut_front = model != NULL,
                                    .w = W,
                                    .h = H,
                                    .density = 1.0f};
    assert_true(arena_init(mem, state_line_bytes(&now) + 64, NULL));
    const char *line = state_line(&now, mem);
    assert_non_null(line);
    return line;
}

static void a_walk_s_line_leads_to_the_same_screen(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct words w;
    for (int k = 0; k < 60; k++) {
        struct scene_case c;
        struct step_state s = step_initial();
        struct step_state back;
        struct arena mem;
        struct cli parsed;
        walk(&s, &seed);
        const char *line = line_of(&s, NULL, NULL, 0, &mem);
        shell_words(&w, line);
        state_of_words(&w, NULL, &parsed, &back);
        assert_int_equal(parsed.w, W);
        assert_int_equal(parsed.h, H);
        case_open(&c, s.scale);
        if (s.scale == STEP_TOY) {
            case_close(&c);
            case_open_toy(&c, step_place_of(&s)->seed);
        }
        same_screen(&c, &s, &back, line);
        case_close(&c);
        /* and once more: the line of the line is the line */
        struct arena again;
        assert_string_equal(line_of(&back, NULL, NULL, 0, &again), line);
        arena_free(&again);
        arena_free(&mem);
    }
}

static void a_loaded_model_s_line_says_path_text_and_block(void **state)
{
    (void)state;
    uint64_t seed = 99;
    struct words w;
    const struct step_model m = {
        .dims = {.n_tok = 6, .d_model = 24, .n_head = 3}, .n_block = 4, .limit = 64};
    static const struct {
        const char *path, *text;
    } models[] = {
        {"a b/it's $HOME", "The \"cat\" `sat` $x\\n"},
        {"-x.bin", "two\nlines\tand % \\ '\n\n"},
        {"m/", "a\xFF"
               "b\n"},
        {"m/", "--stage 3"},
        {"m/", "--stage\n3\n"},
        {"\xC3\xA9/m", "\xE2\x80\x9Cq\xE2\x80\x9D *?[a] ~ #!&|;<>()"},
    };
    for (int k = 0; k < 40; k++) {
        size_t i = (size_t)k % (sizeof models / sizeof models[0]);
        size_t n = strlen(models[i].text);
        struct step_state s = step_initial();
        struct step_state back;
        struct arena mem;
        struct cli parsed;
        step_load(&s, &m);
        walk(&s, &seed);
        const char *line = line_of(&s, models[i].path, models[i].text, n, &mem);
        shell_words(&w, line);
        state_of_words(&w, &m, &parsed, &back);
        assert_string_equal(strncmp(parsed.model, "./-", 3) == 0 ? parsed.model + 2
                                                                 : parsed.model,
                            models[i].path);
        assert_true(parsed.cut_front);
        assert_int_equal(strlen(parsed.text), n);
        assert_memory_equal(parsed.text, models[i].text, n);
        struct arena again;
        assert_string_equal(line_of(&back, models[i].path, models[i].text, n, &again),
                            line);
        arena_free(&again);
        if (s.scale == STEP_GPT2) {
            struct scene_case c;
            case_open_dims(&c, m.dims);
            same_screen(&c, &s, &back, line);
            case_close(&c);
        }
        arena_free(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_s_line_leads_to_the_same_screen),
        cmocka_unit_test(a_loaded_model_s_line_says_path_text_and_block),
    };
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
