/* scene: every stage at 0, half and 1 as text, compared line by line with
 * tests/golden/scene_*.txt. With HEADLIGHT_UPDATE_GOLDEN=1 they are written anew; look at
 * the difference before it is kept. */
#include "scene_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct picture {
    enum step_scale scale;
    enum attn_stage stage;
    int percent;
    int lab;       /* enum step_lab_kind, or -1: the stage */
    char name[64]; /* "scene_toy_5_softmax_050.txt" */
};

static struct picture picture_of(enum step_scale scale, int stage, int percent)
{
    static const char *const name[ATTN_STAGE_COUNT] = {
        "projections", "scores", "scale", "mask", "softmax", "weighted_sum", "output"};
    struct picture p = {
        .scale = scale, .stage = (enum attn_stage)stage, .percent = percent, .lab = -1};
    (void)snprintf(p.name, sizeof p.name, "scene_%s_%d_%s_%03d.txt",
                   scale == STEP_TOY ? "toy" : "gpt2", stage + 1, name[stage], percent);
    return p;
}

/* Length of the first line of text. */
static int line_length(const char *text)
{
    return (int)strcspn(text, "\n");
}

static void compare(const struct picture *p, const char *want, const char *got)
{
    int line = 1;
    while (*want && *want == *got) {
        const char *a = want, *b = got;
        int n = line_length(a);
        if (n != line_length(b) || strncmp(a, b, (size_t)n) != 0) break;
        want += n + (a[n] == '\n');
        got += n + (b[n] == '\n');
        line++;
    }
    if (!*want && !*got) return;
    fail_msg("%s:%d\n  expected: %.*s\n  actual:   %.*s\n  whole: %s/%s; if it is right, "
             "run with HEADLIGHT_UPDATE_GOLDEN=1",
             p->name, line, line_length(want), want, line_length(got), got, OUT_DIR,
             p->name);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[1024];
    struct err e;
    assert_in_range(snprintf(path, sizeof path, "%s/%s", folder, name), 1, 1023);
    if (!file_write(path, text, strlen(text), &e)) fail_msg("%s", e.text);
}

static void check_picture(struct scene_case *c, const struct picture *p)
{
    const char *golden = TEST_DIR "/golden", *update = getenv("HEADLIGHT_UPDATE_GOLDEN");
    char path[1024];
    struct arena mem;
    struct err e;
    char *want;
    size_t n;
    case_show(c, p->stage, (float)p->percent / 100, 1440, 900);
    if (p->lab >= 0) {
        (void)step_apply(&c->state, (struct step_action){.verb = STEP_LAB, .i = p->lab});
        case_build(c, 1440, 900);
    }
    const char *got = case_dump(c);
    if (update && strcmp(update, "1") == 0) {
        write_text(golden, p->name, got);
        return;
    }
    assert_in_range(snprintf(path, sizeof path, "%s/%s", golden, p->name), 1, 1023);
    assert_true(arena_init(&mem, 1 << 21, &e));
    if (!file_read(path, 1 << 20, &mem, &want, &n, &e)) fail_msg("%s", e.text);
    if (strcmp(want, got) != 0) write_text(OUT_DIR, p->name, got);
    compare(p, want, got);
    arena_free(&mem);
}

/* By the reference kernels: the same numbers on every machine. */
static void open_reference(struct scene_case *c, enum step_scale scale)
{
    case_open(c, scale);
    c->attn.k = attn_kernels_get("ref");
    case_run(c);
}

static void the_toy_looks_as_it_did(void **state)
{
    (void)state;
    struct scene_case c;
    open_reference(&c, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int percent = 0; percent <= 100; percent += 50) {
            struct picture p = picture_of(STEP_TOY, s, percent);
            check_picture(&c, &p);
        }
    case_close(&c);
}

static void gpt2s_size_looks_as_it_did(void **state)
{
    (void)state;
    struct scene_case c;
    open_reference(&c, STEP_GPT2);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        struct picture p = picture_of(STEP_GPT2, s, 50);
        check_picture(&c, &p);
    }
    case_close(&c);
}

static void the_labs_look_as_they_did(void **state)
{
    (void)state;
    struct scene_case c;
    struct scene_saturation sat;
    open_reference(&c, STEP_GPT2);
    case_saturation(&sat, STEP_GPT2_TOKENS);
    c.src.saturation = &sat;
    for (int k = 0; k < STEP_LAB_KINDS; k++) {
        struct picture p = {.scale = STEP_GPT2, .percent = 100, .lab = k};
        (void)snprintf(p.name, sizeof p.name, "scene_lab_%s.txt",
                       scene_lab_name((enum step_lab_kind)k));
        check_picture(&c, &p);
    }
    case_close(&c);
}

int scene_golden_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_toy_looks_as_it_did),
        cmocka_unit_test(gpt2s_size_looks_as_it_did),
        cmocka_unit_test(the_labs_look_as_they_did),
    };
    return cmocka_run_group_tests_name("scene golden", tests, NULL, NULL);
}
