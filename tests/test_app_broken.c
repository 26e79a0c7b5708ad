/* app without a screen: --break, and the correct result that is kept beside a broken one. */
#include "app_case.h"

#include "breaks.h"
#include "cli.h"
#include "source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool apply(struct step_state *s, const char *text)
{
    struct step_actions list = {.n = 0};
    struct err e = {0};
    bool ok = breaks_parse(&list, text, &e);
    for (int i = 0; ok && i < list.n; i++) ok = step_apply(s, list.at[i]);
    return ok;
}

static void what_is_printed_leads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "scale=off", "scale=d_head,mask=shift,precision=bfloat16,max=off",
        "scale=sqrt_d_model,mask=off,bias=off,qk=swapped,residual=off",
        "precision=float16,temperature=0.25,silent=1,silent=2", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct step_state s = step_initial();
        struct step_state again = step_initial();
        char out[512];
        assert_true(apply(&s, texts[i]));
        breaks_print(out, sizeof out, &s);
        assert_string_equal(out, texts[i]);
        assert_true(apply(&again, out));
        assert_true(attn_opts_same(s.opts, again.opts));
    }
}

static void what_is_no_break_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "scale",          "scale=",         "scale=twice",     "nothing=off",
        "temperature=0",  "temperature=99", "temperature=nan", "temperature=1e999",
        "temperature=x",  "silent=0",       "silent=1.5",      "silent=65",
        "mask=off,mask=", "=off",           "scale=offf",      "mask=shift;max=off"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct step_actions list = {.n = 0};
        struct err e = {0};
        assert_false(breaks_parse(&list, texts[i], &e));
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "--break"));
    }
}

static float at(struct attn_cmat m, int i, int j)
{
    return m.data[(size_t)i * (size_t)m.ld + (size_t)j];
}

/* The ghost's right run is the run without anything broken, to the bit; its difference is
 * one; the largest change is none that any other cell exceeds. */
static void check_ghost(struct source *so, const struct step_state *s, bool broken)
{
    struct step_state right = *s;
    struct scene_source src = source_for(so, s, true);
    assert_true(src.fits);
    assert_int_equal(src.ghost != NULL, broken);
    if (!broken) return;
    struct source other;
    struct err e = {0};
    right.opts = attn_opts_default();
    assert_true(source_init(&other, 0, &e));
    struct scene_source want = source_for(&other, &right, true);
    assert_null(want.ghost);
    for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
        enum attn_tensor id = (enum attn_tensor)t;
        struct attn_cmat a = attn_trace_view(src.trace, id, src.trace->head);
        struct attn_cmat b = attn_trace_view(src.ghost->right, id, src.trace->head);
        struct attn_cmat w = attn_trace_view(want.trace, id, src.trace->head);
        struct attn_cmat d = attn_trace_view(src.ghost->diff, id, src.trace->head);
        const struct attn_change *c = &src.ghost->change[t];
        int64_t count = 0;
        float most = 0;
        for (int i = 0; i < a.rows; i++)
            for (int j = 0; j < a.cols; j++) {
                float x = at(a, i, j);
                float y = at(b, i, j);
                assert_memory_equal(&(float){y}, &(float){at(w, i, j)}, sizeof(float));
                bool same = x == y || (isnan(x) && isnan(y));
                float diff = same ? 0 : x - y;
                assert_true(at(d, i, j) == diff || (isnan(diff) && isnan(at(d, i, j))));
                count += !same;
                if (!same) most = fmaxf(most, isnan(diff) ? INFINITY : fabsf(diff));
            }
        assert_true(count == c->count);
        assert_int_equal(c->row >= 0, count > 0);
        if (count == 0) continue;
        assert_true(c->is == at(a, c->row, c->col) || isnan(c->is));
        assert_true(c->was == at(b, c->row, c->col) || isnan(c->was));
        float size = fabsf(c->is - c->was);
        assert_true((isnan(size) ? INFINITY : size) == most);
    }
    source_fini(&other);
}

static void the_correct_result_stands_beside_the_broken_one(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct step_state s = step_initial();
        assert_true(
            step_apply(&s, (struct step_action){.verb = STEP_SCALE_TO, .i = scale}));
        static const char *const texts[] = {"scale=off",   "mask=off", "qk=swapped",
                                            "silent=1",    "bias=off", "mask=shift",
                                            "residual=off"};
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            s.opts = attn_opts_default();
            assert_true(apply(&s, texts[i]));
            check_ghost(&so, &s, true);
            if (i % 3 ==
                0) { /* other numbers, another head, and nothing broken between */
                s.opts = attn_opts_default();
                check_ghost(&so, &s, false);
                (void)step_apply(&s, (struct step_action){.verb = STEP_ROLL});
                (void)step_apply(&s, (struct step_action){.verb = STEP_HEAD, .i = 1});
            }
        }
    }
    source_fini(&so);
}

/* Weights come and go; what is right is of those in view each time. */
static void the_correct_result_is_of_the_weights_in_view(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    struct step_state s = step_initial();
    assert_true(source_init(&so, 0, &e));
    (void)step_apply(&s, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_GPT2});
    (void)step_apply(&s, (struct step_action){.verb = STEP_TOKENS, .i = 7});
    assert_true(apply(&s, "scale=d_head"));
    static const int seeds[] = {1, 2, 1, 3, 1, 2, 3};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        (void)step_apply(&s, (struct step_action){.verb = STEP_SEED, .i = seeds[i]});
        check_ghost(&so, &s, true);
    }
    source_fini(&so);
}

int app_broken_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_leads_back),
        cmocka_unit_test(what_is_no_break_is_refused),
        cmocka_unit_test(the_correct_result_stands_beside_the_broken_one),
        cmocka_unit_test(the_correct_result_is_of_the_weights_in_view),
    };
    return cmocka_run_group_tests_name("app broken", tests, NULL, NULL);
}
