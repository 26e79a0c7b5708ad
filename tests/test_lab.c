/* The labs' numbers: saturation against a computation of its own in float64, from the same
 * draws, and what must hold whatever is drawn; and the lab's words. */
#include "lab.h"
#include "lab_words.h"
#include "saturation.h"
#include "timing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { D = STEP_LAB_MOST_D, Q = SATURATION_QUERIES };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Plain softmax of n dot products in float64. */
static void softmax(const float *q, const float *k, int n, int d, double divisor,
                    double *top, double *bits)
{
    double *s = malloc((size_t)n * sizeof *s);
    double most = (double)-INFINITY;
    double sum = 0.0;
    assert_non_null(s);
    for (int j = 0; j < n; j++) {
        s[j] = 0.0;
        for (int c = 0; c < d; c++) s[j] += (double)q[c] * (double)k[j * D + c];
        s[j] /= divisor;
        most = fmax(most, s[j]);
    }
    for (int j = 0; j < n; j++) sum += exp(s[j] - most);
    *top = 0.0;
    *bits = 0.0;
    for (int j = 0; j < n; j++) {
        double p = exp(s[j] - most) / sum;
        *top = fmax(*top, p);
        if (p > 0.0) *bits -= p * log2(p);
    }
    free(s);
}

static void near(struct scene_spread got, double *v, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += v[i];
    qsort(v, (size_t)n, sizeof *v, ascending);
    assert_true(fabs((double)got.mean - sum / n) < 2e-5);
    assert_true(fabs((double)got.lo - v[n / 10]) < 2e-4);
    assert_true(fabs((double)got.hi - v[n - 1 - n / 10]) < 2e-4);
}

static void saturation_is_that_of_float64(void **state)
{
    (void)state;
    enum { KEYS = 16, R = SATURATION_DRAWS };
    static const int ds[] = {1, 4, 13, 64, 256};
    static float q[Q * D];
    static float k[KEYS * D];
    static double top[R];
    static double bits[R];
    struct scene_saturation sat;
    struct err e = {0};
    const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    assert_true(saturation_make(&sat, KEYS, 4, &c, &e));
    assert_int_equal(sat.n_draw, R);
    for (size_t i = 0; i < sizeof ds / sizeof *ds; i++)
        for (int with = 0; with < 2; with++) {
            double by = with ? sqrt((double)ds[i]) : 1.0;
            for (int r = 0; r < R; r++) {
                if (r % Q == 0) saturation_draw(q, k, KEYS, r / Q);
                softmax(q + (size_t)(r % Q) * D, k, KEYS, ds[i], by, &top[r], &bits[r]);
            }
            int at = scene_saturation_at(&sat, ds[i]);
            assert_int_equal(sat.d[at], ds[i]);
            near(sat.top[with][at], top, R);
            near(sat.entropy[with][at], bits, R);
        }
}

static void draws_have_mean_0_and_variance_1(void **state)
{
    (void)state;
    enum { KEYS = 64, N = KEYS * D };
    static float q[Q * D];
    static float k[N];
    double sum = 0.0;
    double square = 0.0;
    for (int set = 0; set < 4; set++) {
        saturation_draw(q, k, KEYS, set);
        for (int i = 0; i < N; i++) {
            sum += (double)k[i];
            square += (double)k[i] * (double)k[i];
        }
    }
    assert_true(fabs(sum / (4 * N)) < 0.02); /* 5 standard errors */
    assert_true(fabs(square / (4 * N) - 1.0) < 0.03);
}

/* Undivided, the largest weight grows towards 1 and the entropy falls; divided, neither
 * depends on d_head. */
static void undivided_scores_saturate(void **state)
{
    (void)state;
    static const int keys[] = {2, 7, 16, 128};
    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++) {
        struct scene_saturation sat;
        struct err e = {0};
        const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
        assert_true(saturation_make(&sat, keys[n], 48, &c, &e));
        assert_int_equal(sat.n, STEP_LAB_DS); /* 48 is one of them */
        int last = sat.n - 1;
        double most = log2(keys[n]) + 1e-6;
        for (int i = 0; i < sat.n; i++) {
            for (int k = 0; k < 2; k++) {
                assert_true((double)sat.top[k][i].hi <= 1.0);
                assert_true((double)sat.top[k][i].lo * keys[n] >= 1.0 - 1e-5);
                assert_true((double)sat.entropy[k][i].hi <= most);
                assert_true((double)sat.entropy[k][i].lo >= 0.0);
                assert_true(sat.top[k][i].lo <= sat.top[k][i].mean &&
                            sat.top[k][i].mean <= sat.top[k][i].hi);
            }
            float by = sat.top[1][i].mean - sat.top[1][last].mean;
            /* products of few normals have longer tails */
            assert_true(fabsf(by) < (sat.d[i] < 4 ? 0.12f : 0.06f));
            int before = scene_saturation_at(&sat, sat.d[i] / 4);
            if (sat.d[i] >= 4) {
                assert_true(sat.top[0][i].mean > sat.top[0][before].mean);
                assert_true(sat.entropy[0][i].mean < sat.entropy[0][before].mean);
            }
        }
        assert_true(sat.top[0][last].mean > 0.85f);
        assert_memory_equal(&sat.top[0][0], &sat.top[1][0], sizeof sat.top[0][0]);
        assert_memory_equal(&sat.entropy[0][0], &sat.entropy[1][0],
                            sizeof sat.entropy[0][0]);
    }
}

static void one_key_has_all_the_weight(void **state)
{
    (void)state;
    struct scene_saturation sat;
    struct err e = {0};
    const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    assert_true(saturation_make(&sat, 1, 100, &c, &e));
    assert_int_equal(sat.n, STEP_LAB_DS + 1);
    assert_int_equal(sat.d[scene_saturation_at(&sat, 100)], 100);
    for (int i = 0; i < sat.n; i++) {
        assert_true(i == 0 || sat.d[i] > sat.d[i - 1]);
        for (int k = 0; k < 2; k++) {
            assert_true(sat.top[k][i].mean == 1.0f);
            assert_true(sat.entropy[k][i].mean == 0.0f);
        }
    }
}

static void a_raised_cancel_ends_it(void **state)
{
    (void)state;
    struct scene_saturation sat;
    struct err e = {0};
    volatile int cancel = 1;
    const struct attn_ctx c = {.k = attn_kernels_get(NULL), .cancel = &cancel};
    assert_false(saturation_make(&sat, 1024, 4, &c, &e));
    assert_int_equal(e.code, ERR_CANCELLED);
}

/* ---- times, and the thread --------------------------------------------------------------- */

static void every_stage_takes_time(void **state)
{
    (void)state;
    struct scene_times t = {.n = 0};
    struct err e = {0};
    atomic_int done;
    const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    atomic_init(&done, 0);
    assert_true(timing_make(&t, &done, (struct attn_dims){1, 8, 2}, &c, NULL, NULL, &e));
    assert_int_equal(atomic_load(&done), TIMING_COUNT);
    for (int i = 0; i < TIMING_COUNT; i++) {
        assert_int_equal(t.n_tok[i], TIMING_FIRST << i);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) assert_true(t.seconds[i][s] > 0.0);
    }
}

static void a_measurement_is_ended_by_cancel(void **state)
{
    (void)state;
    struct scene_times t = {.n = 0};
    struct err e = {0};
    volatile int cancel = 1;
    atomic_int done;
    const struct attn_ctx c = {.k = attn_kernels_get(NULL), .cancel = &cancel};
    atomic_init(&done, 0);
    assert_false(timing_make(&t, &done, (struct attn_dims){1, 8, 2}, &c, NULL, NULL, &e));
    assert_int_equal(e.code, ERR_CANCELLED);
    assert_int_equal(atomic_load(&done), 0);
}

static void the_lab_makes_what_is_shown_and_keeps_it(void **state)
{
    (void)state;
    struct lab *l = lab_create(attn_kernels_get(NULL), 0);
    struct step_state s = step_initial();
    struct scene_source src = {.progress = -1.0f};
    struct err e = {0};
    assert_non_null(l);
    assert_true(lab_for(l, &s, true, &src, &e)); /* closed */
    assert_null(src.saturation);
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_LAB}));
    assert_true(lab_for(l, &s, true, &src, &e));
    assert_non_null(src.saturation);
    assert_int_equal(src.saturation->n_key, 4); /* row 4 sees four tokens */
    const struct scene_saturation *first = src.saturation;
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_LAB_ROW, .i = 1}));
    assert_true(lab_for(l, &s, true, &src, &e));
    assert_int_equal(src.saturation->n_key, 16);
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_LAB_ROW, .i = 0}));
    assert_true(lab_for(l, &s, false, &src, &e)); /* without waiting */
    assert_ptr_equal(src.saturation, first);

    src.saturation = NULL;
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_LAB, .i = 1}));
    assert_true(lab_for(l, &s, true, &src, &e));
    assert_null(src.times); /* nobody has asked */
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_LAB_MEASURE}));
    assert_true(lab_for(l, &s, true, &src, &e));
    assert_non_null(src.times);
    assert_int_equal(src.times->n, TIMING_COUNT);
    assert_int_equal(src.times->dims.d_model, 8);
    assert_false(src.times->running);
    /* begun anew, stopped, and what is done stays */
    lab_measure(l);
    assert_true(lab_for(l, &s, false, &src, &e));
    assert_true(src.times->running);
    lab_measure(l);
    src.times = NULL;
    assert_true(lab_for(l, &s, true, &src, &e));
    assert_true(!src.times || !src.times->running);
    lab_destroy(l);
}

/* ---- words ------------------------------------------------------------------------------- */

static void a_lab_s_words_lead_to_it(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "saturation,keys=row", "saturation,keys=1024,at=64", "cost,of=flops,dims=view",
        "cost,of=bytes,dims=gpt2,at=131072,measure"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct step_actions list = {.n = 0};
        struct step_state s = step_initial();
        struct err e = {0};
        char text[96];
        assert_true(lab_parse(&list, lines[i], &e));
        for (int k = 0; k < list.n; k++) assert_true(step_apply(&s, list.at[k]));
        lab_print(text, sizeof text, &s);
        assert_string_equal(text, lines[i]);
    }
}

static void bad_words_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        "sat",
                                        "cost,",
                                        "cost,of=",
                                        "cost,of=x",
                                        "cost,keys=16",
                                        "saturation,at=0",
                                        "saturation,at=257",
                                        "cost,at=-1",
                                        "cost,at=1e3",
                                        "cost,at=131073",
                                        "cost,at=9999999999999999999",
                                        "cost,at=",
                                        "saturation,of=bytes",
                                        "cost,measure=1",
                                        "saturation,measure"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct step_actions list = {.n = 0};
        struct err e = {0};
        if (lab_parse(&list, lines[i], &e)) fail_msg("%s was taken", lines[i]);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "--lab"));
        assert_null(strchr(e.text, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saturation_is_that_of_float64),
        cmocka_unit_test(draws_have_mean_0_and_variance_1),
        cmocka_unit_test(undivided_scores_saturate),
        cmocka_unit_test(one_key_has_all_the_weight),
        cmocka_unit_test(a_raised_cancel_ends_it),
        cmocka_unit_test(every_stage_takes_time),
        cmocka_unit_test(a_measurement_is_ended_by_cancel),
        cmocka_unit_test(the_lab_makes_what_is_shown_and_keeps_it),
        cmocka_unit_test(a_lab_s_words_lead_to_it),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
