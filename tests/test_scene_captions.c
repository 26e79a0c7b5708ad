/* Captions: the row, the token and the figure that they name are those of the run, at any
 * seed, with ties, NaN, one token, and steps that are switched off. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { W = 1024, H = 640 };

/* The text under the canvas, its lines joined. */
static const char *caption(struct scene_case *c, enum attn_stage stage, float time)
{
    static char text[1024];
    case_show(c, stage, time, W, H);
    const struct scene *sc = &c->sc;
    float floor_y = sc->canvas.y + sc->canvas.h;
    text[0] = '\0';
    for (int i = 0; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        if (it->kind != SCENE_TEXT || it->u.text.y <= floor_y) continue;
        if (it->u.text.font != FONT_UI) continue;
        size_t n = strlen(text);
        (void)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", it->u.text.text);
    }
    return text;
}

static void check_says(struct scene_case *c, enum attn_stage stage, const char *want)
{
    const char *text = caption(c, stage, 1);
    if (!strstr(text, want))
        fail_msg("%s: \"%s\" does not say \"%s\"", case_where(c).text, text, want);
}

static void check_not(struct scene_case *c, enum attn_stage stage, const char *what)
{
    const char *text = caption(c, stage, 1);
    if (strstr(text, what))
        fail_msg("%s: \"%s\" says \"%s\"", case_where(c).text, text, what);
}

static const float *row_of(struct scene_case *c, enum attn_tensor t, int i)
{
    struct attn_cmat m = scene_tensor_view(&c->src, t);
    return m.data + (size_t)i * (size_t)m.ld;
}

static int top_of(const float *row, int n, int but)
{
    int top = -1;
    for (int j = 0; j < n; j++)
        if (j != but && (top < 0 || row[j] > row[top])) top = j;
    return top;
}

static const char *const names[] = {"the", "\u00B7cat", "\u00B7sat", "\u00B7down", "."};

static const char *num(float v, char out[32])
{
    double at = fabs((double)v);
    (void)snprintf(out, 32,
                   at < 1e-6 ? "%s%.2e"
                   : at < 1  ? "%s%#.3g"
                             : "%s%.2f",
                   v < 0 ? "\u2212" : "", at);
    if (v == 0) (void)snprintf(out, 32, "0");
    return out;
}

static void rows_are_named_with_their_largest_figures(void **state)
{
    (void)state;
    static const uint32_t seeds[] = {15, 1, 7, 4242};
    for (size_t k = 0; k < sizeof seeds / sizeof seeds[0]; k++) {
        struct scene_case c;
        case_open_toy(&c, seeds[k]);
        for (int i = 0; i < 5; i++) {
            char want[200], a[32], b[32];
            case_place(&c)->row = i;
            const float *s = row_of(&c, ATTN_S_RAW, i);
            int top = top_of(s, 5, -1);
            (void)snprintf(want, sizeof want,
                           "Row %d (\u201C%s\u201D) wants most, with a score of %s, what "
                           "\u201C%s\u201D offers.",
                           i + 1, names[i], num(s[top], a), names[top]);
            check_says(&c, ATTN_SCORES, want);
            const float *d = row_of(&c, ATTN_S_SCALED, i);
            (void)snprintf(want, sizeof want, "its largest score goes from %s to %s.",
                           num(s[top], a), num(d[top_of(d, 5, -1)], b));
            check_says(&c, ATTN_SCALE, want);
            assert_null(strstr(caption(&c, ATTN_SCALE, 0.9f), "goes from"));
            const float *p = row_of(&c, ATTN_P, i);
            int first = top_of(p, 5, -1), second = top_of(p, 5, first);
            if (i > 0)
                (void)snprintf(want, sizeof want,
                               "gives %s to \u201C%s\u201D and %s to \u201C%s\u201D.",
                               num(p[first], a), names[first], num(p[second], b),
                               names[second]);
            else
                (void)snprintf(want, sizeof want,
                               "sees itself alone and gives it all: 1.");
            check_says(&c, ATTN_SOFTMAX, want);
            (void)snprintf(want, sizeof want,
                           i ? "blends %d values in the proportions of row %d of A"
                             : "is its own value, unchanged",
                           i + 1, i + 1);
            check_says(&c, ATTN_WEIGHTED_SUM, want);
            (void)snprintf(
                want, sizeof want,
                i < 4 ? "it is there to predict token %d" : "sees all 5 tokens", i + 2);
            check_says(&c, ATTN_MASK, want);
        }
        case_close(&c);
    }
}

static double length(const float *row, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (double)row[j] * (double)row[j];
    return sqrt(sum);
}

static void lengths_are_those_of_the_vectors(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int i = 0; i < 5; i++) {
        char want[200], a[32], b[32], d[32];
        case_place(&c)->row = i;
        (void)snprintf(want, sizeof want,
                       "looks for, length %s), a key (what it offers, %s) and a value "
                       "(what it hands over, %s)",
                       num((float)length(row_of(&c, ATTN_Q, i), 4), a),
                       num((float)length(row_of(&c, ATTN_K, i), 4), b),
                       num((float)length(row_of(&c, ATTN_V, i), 4), d));
        check_says(&c, ATTN_PROJECTIONS, want);
        (void)snprintf(want, sizeof want,
                       "into a vector of length %s, added to h, the residual stream, "
                       "of length %s.",
                       num((float)length(row_of(&c, ATTN_Y_PROJ, i), 8), a),
                       num((float)length(row_of(&c, ATTN_H, i), 8), b));
        check_says(&c, ATTN_OUTPUT, want);
    }
    case_close(&c);
}

static void a_cell_in_view_is_named_with_its_number(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    static const struct {
        enum attn_stage stage;
        enum attn_tensor tensor;
        int cols;
    } cells[] = {{ATTN_PROJECTIONS, ATTN_Q, 4},  {ATTN_PROJECTIONS, ATTN_V, 4},
                 {ATTN_SCORES, ATTN_S_RAW, 5},   {ATTN_SCALE, ATTN_S_SCALED, 5},
                 {ATTN_MASK, ATTN_S_MASKED, 5},  {ATTN_SOFTMAX, ATTN_P, 5},
                 {ATTN_WEIGHTED_SUM, ATTN_Z, 4}, {ATTN_OUTPUT, ATTN_Y, 8}};
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++)
        for (int at = 0; at < 5 * cells[k].cols; at++) {
            int i = at / cells[k].cols, j = at % cells[k].cols;
            char want[64], is[32];
            c.state.hover = (struct step_ref){cells[k].tensor, i, j};
            (void)snprintf(want, sizeof want, "Row %d, column %d", i + 1, j + 1);
            check_says(&c, cells[k].stage, want);
            float v = row_of(&c, cells[k].tensor, i)[j];
            check_says(&c, cells[k].stage, isinf(v) ? "is \u2212\u221E" : num(v, is));
            if (cells[k].tensor == ATTN_P && j > i)
                check_says(&c, ATTN_SOFTMAX, "is 0: ");
        }
    case_close(&c);
}

/* While cells are computed one by one, the caption is at the one that is. */
static void the_motion_s_cell_is_the_caption_s(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    struct step_clock k = step_clock_of(ATTN_SCORES, case_place(&c)->dims);
    for (int beat = 0; beat < k.n_beat; beat++) {
        char want[64];
        float t = (step_beat_start(&k, beat) + step_beat_start(&k, beat + 1)) / 2;
        const char *text = caption(&c, ATTN_SCORES, t);
        (void)snprintf(want, sizeof want, "Row %d, column %d is ", beat / 5 + 1,
                       beat % 5 + 1);
        if (!strstr(text, want)) fail_msg("\"%s\" does not say \"%s\"", text, want);
    }
    k = step_clock_of(ATTN_SOFTMAX, case_place(&c)->dims);
    for (int beat = 0; beat < k.n_beat; beat++) {
        char want[64];
        float t = (step_beat_start(&k, beat) + step_beat_start(&k, beat + 1)) / 2;
        (void)snprintf(want, sizeof want, "Row %d (", beat + 1);
        const char *text = caption(&c, ATTN_SOFTMAX, t);
        if (!strstr(text, want) || strstr(text, "gives"))
            fail_msg("beat %d: \"%s\"", beat, text);
    }
    case_close(&c);
}

static void as_large_ones_are_said_together(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    memset(c.x, 0, sizeof *c.x * 5 * 8);
    case_run(&c);
    case_place(&c)->row = 2;
    check_says(&c, ATTN_SOFTMAX,
               "gives most, 0.333 each, to \u201Cthe\u201D and 2 others alike");
    check_says(
        &c, ATTN_SCORES,
        "wants most, with a score of 0, what \u201Cthe\u201D and 4 others alike offer.");
    case_place(&c)->row = 1;
    check_says(&c, ATTN_SOFTMAX,
               "gives most, 0.500 each, to \u201Cthe\u201D and 1 other alike");
    case_close(&c);
}

static void nan_has_no_largest_figure(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int j = 0; j < 8; j++) c.x[8 * 3 + j] = NAN;
    case_run(&c);
    case_place(&c)->row = 3;
    check_says(&c, ATTN_SCORES, "holds NaN");
    check_says(&c, ATTN_SOFTMAX, "holds NaN");
    check_says(&c, ATTN_WEIGHTED_SUM, "holds NaN");
    check_not(&c, ATTN_SCALE, "goes from");
    case_close(&c);
}

static void one_token_and_switches_are_said_as_they_are(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    case_tokens(&c, 1);
    check_says(&c, ATTN_SCORES, "One query meets one key");
    check_says(&c, ATTN_MASK, "sees itself alone");
    check_says(&c, ATTN_SOFTMAX, "sees itself alone and gives it all: 1.");
    check_says(&c, ATTN_WEIGHTED_SUM, "is its own value");
    case_close(&c);
    case_open(&c, STEP_TOY);
    c.state.opts.causal = c.state.opts.scale = c.state.opts.residual = false;
    case_run(&c);
    case_place(&c)->row = 1;
    check_says(&c, ATTN_SCALE, "switched off");
    check_not(&c, ATTN_SCALE, "goes from");
    check_says(&c, ATTN_MASK, "sees all 5 tokens");
    check_says(&c, ATTN_WEIGHTED_SUM, "blends 5 values");
    check_says(&c, ATTN_WEIGHTED_SUM, "later tokens take part");
    check_says(&c, ATTN_OUTPUT, "lost");
    case_close(&c);
}

/* What is broken at the stage itself has a caption of its own, and the row its figure. */
static void broken_stages_name_the_row_too(void **state)
{
    (void)state;
    struct scene_case c;
    char want[96], a[32], b[32];
    case_open(&c, STEP_TOY);
    case_place(&c)->row = 2;
    assert_true(step_apply(
        &c.state,
        (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_DIVIDE, .x = 2.0f}));
    assert_true(step_apply(
        &c.state,
        (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_MASK, .x = 2.0f}));
    assert_true(
        step_apply(&c.state, (struct step_action){.verb = STEP_TEMPERATURE, .x = -1.0f}));
    case_run(&c);
    const float *s = row_of(&c, ATTN_S_RAW, 2);
    int top = top_of(s, 5, -1);
    (void)snprintf(want, sizeof want, "its largest score goes from %s to %s.",
                   num(s[top], a), num(s[top] / 4, b));
    check_says(&c, ATTN_SCALE, want);
    check_says(&c, ATTN_SCALE, "not by its root 2");
    check_says(&c, ATTN_MASK, "row 3 sees 4 tokens");
    const float *p = row_of(&c, ATTN_P, 2);
    top = top_of(p, 5, -1);
    (void)snprintf(want, sizeof want, "gives %s to \u201C%s\u201D", num(p[top], a),
                   names[top]);
    check_says(&c, ATTN_SOFTMAX, want);
    check_says(&c, ATTN_SOFTMAX, "temperature 0.5");
    /* No figure before it is there. */
    assert_non_null(strstr(caption(&c, ATTN_SCALE, 0.5f), "not by its root 2"));
    assert_null(strstr(caption(&c, ATTN_SCALE, 0.5f), "goes from"));
    assert_non_null(strstr(caption(&c, ATTN_SOFTMAX, 0.2f), "temperature 0.5"));
    assert_null(strstr(caption(&c, ATTN_SOFTMAX, 0.2f), "gives"));
    static const char *const long_tokens[] = {
        " internationalization", " counterrevolutionary", " telecommunications",
        " responsibilities", " disproportionately"};
    c.src.tokens = long_tokens;
    for (int stage = ATTN_SCALE; stage <= ATTN_SOFTMAX; stage++) {
        int lines = 0;
        (void)caption(&c, (enum attn_stage)stage, 1);
        for (int i = 0; i < c.sc.n; i++)
            lines += c.sc.items[i].kind == SCENE_TEXT &&
                     c.sc.items[i].u.text.font == FONT_UI &&
                     c.sc.items[i].u.text.y > c.sc.canvas.y + c.sc.canvas.h;
        if (lines > 3) fail_msg("stage %d: %d lines", stage + 1, lines); /* have room */
    }
    case_close(&c);
}

/* How many weights are NaN is known when all are there. */
static void broken_weights_are_counted_at_the_end(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    assert_true(step_apply(
        &c.state,
        (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_MAX, .x = 1.0f}));
    case_run(&c);
    check_says(&c, ATTN_SOFTMAX, "is NaN. 0 weights are NaN here.");
    assert_null(strstr(caption(&c, ATTN_SOFTMAX, 0.95f), "here"));
    case_close(&c);
}

/* Figures of a run that is no longer the state's are not told. */
static void a_run_that_does_not_fit_is_not_quoted(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    c.src.fits = false;
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        check_not(&c, (enum attn_stage)s, "wants most");
        check_not(&c, (enum attn_stage)s, "length");
        check_not(&c, (enum attn_stage)s, "gives");
        check_not(&c, (enum attn_stage)s, "goes from");
        check_not(&c, (enum attn_stage)s, "most of all");
    }
    case_close(&c);
}

/* The sum of the first n products of a cell of stage 1 (Q), 2 or 7. */
static float part_of(struct scene_case *c, enum attn_stage stage, int i, int j, int n)
{
    bool scores = stage == ATTN_SCORES;
    const float *a = row_of(c,
                            stage == ATTN_PROJECTIONS ? ATTN_X
                            : scores                  ? ATTN_Q
                                                      : ATTN_Z_ALL,
                            i);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k] * (scores ? row_of(c, ATTN_K, j)[k]
                              : row_of(c, stage == ATTN_PROJECTIONS ? ATTN_W_Q : ATTN_W_O,
                                       k)[j]);
    return sum;
}

/* What the cell shows and what the caption says of it is the same at any time. */
static void a_sum_under_way_is_told_as_far_as_it_is(void **state)
{
    (void)state;
    static const enum attn_stage stages[] = {ATTN_PROJECTIONS, ATTN_SCORES, ATTN_OUTPUT};
    struct scene_case c;
    case_open_toy(&c, 15);
    for (size_t k = 0; k < sizeof stages / sizeof stages[0]; k++) {
        enum attn_stage stage = stages[k];
        const struct step_clock clock = step_clock_of(stage, case_place(&c)->dims);
        int terms = stage == ATTN_SCORES ? attn_d_head(case_place(&c)->dims)
                                         : case_place(&c)->dims.d_model;
        for (int t = 0; t <= 200; t++) {
            const struct step_beat beat = step_beat_at(&clock, (float)t / 200);
            const char *text = caption(&c, stage, (float)t / 200);
            char want[64], figure[32];
            if (beat.intro < 1 && (strstr(text, "so far") || strstr(text, "most") ||
                                   strstr(text, "length")))
                fail_msg("stage %d, %d: \"%s\" is told too early", stage + 1, t, text);
            if (beat.intro < 1 || beat.at >= clock.n_beat) continue;
            int i = beat.at / clock.beats_a_row, j = beat.at % clock.beats_a_row;
            int n = (int)ceilf(beat.part * (float)terms);
            (void)snprintf(want, sizeof want, "%s so far",
                           num(part_of(&c, stage, i, j, n), figure));
            if (stage == ATTN_PROJECTIONS)
                (void)snprintf(want, sizeof want, "q = %s, ", figure);
            if (!strstr(text, want))
                fail_msg("stage %d, %d: \"%s\" does not say \"%s\"", stage + 1, t, text,
                         want);
            (void)snprintf(want, sizeof want, "%d of %d products", n, terms);
            if (!strstr(text, want))
                fail_msg("stage %d, %d: \"%s\" does not say \"%s\"", stage + 1, t, text,
                         want);
        }
    }
    case_close(&c);
}

/* Small numbers keep three digits: no "<0.01" where the panel says 0.0009. */
static void small_figures_keep_three_digits(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    struct attn_cmat p = scene_tensor_view(&c.src, ATTN_P);
    int tiny = 0;
    for (int j = 0; j < p.cols; j++) {
        char want[64], is[32];
        float v = row_of(&c, ATTN_P, p.rows - 1)[j];
        if (!(v > 0) || !(v < 0.005f)) continue;
        c.state.hover = (struct step_ref){ATTN_P, p.rows - 1, j};
        (void)snprintf(want, sizeof want, "a weight of %s,", num(v, is));
        check_says(&c, ATTN_SOFTMAX, want);
        tiny++;
    }
    assert_true(tiny > 0);
    case_close(&c);
}

static bool ends_in_sign(const char *text, bool at_start)
{
    static const char *const signs[] = {"=", "\u00D7", "\u00F7"};
    size_t n = strlen(text);
    for (size_t k = 0; k < 3; k++) {
        size_t m = strlen(signs[k]);
        const char *at = at_start ? text : text + n - m;
        if (n >= m && strncmp(at, signs[k], m) == 0) return true;
    }
    return false;
}

/* "N \u00D7 N" and "k = \u22120.73" stay on one line; and a term that does not is reached in
 * both. */
static void lines_break_beside_no_sign_and_terms_are_whole(void **state)
{
    (void)state;
    int wrapped = 0;
    for (int scale = 0; scale < 2; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        for (int k = 0; k < 70 * ATTN_STAGE_COUNT; k++) {
            float w = 1024 + 7 * (float)(k / ATTN_STAGE_COUNT);
            case_place(&c)->row = k % 5;
            case_show(&c, (enum attn_stage)(k % ATTN_STAGE_COUNT), 1, w, 640);
            char text[1024] = "";
            int touched = 0, terms = 0, parts = 0, n = 0;
            size_t ends[8] = {0};
            for (int i = 0; i < c.sc.n; i++) {
                const struct scene_item *it = &c.sc.items[i];
                if (it->hit.id >= SCENE_TERM_ID && it->hit.id < SCENE_TERM_END) touched++;
                if (it->kind != SCENE_TEXT || it->u.text.font != FONT_UI ||
                    it->u.text.y <= c.sc.canvas.y + c.sc.canvas.h)
                    continue;
                assert_false(ends_in_sign(it->u.text.text, false));
                assert_false(ends_in_sign(it->u.text.text, true));
                size_t at = strlen(text);
                (void)snprintf(text + at, sizeof text - at, "%s ", it->u.text.text);
                if (n < 8) ends[n++] = strlen(text) - 1;
            }
            const char *meaning, *at = text;
            for (int len = 0; (at = scene_term_in(text, at, &len, &meaning)); at += len) {
                terms++;
                for (int i = 0; i < n; i++)
                    parts += ends[i] > (size_t)(at - text) &&
                             ends[i] < (size_t)(at - text + len);
            }
            assert_int_equal(touched, terms + parts);
            wrapped += parts;
        }
        case_close(&c);
    }
    assert_true(wrapped > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_under_way_is_told_as_far_as_it_is),
        cmocka_unit_test(rows_are_named_with_their_largest_figures),
        cmocka_unit_test(lengths_are_those_of_the_vectors),
        cmocka_unit_test(a_cell_in_view_is_named_with_its_number),
        cmocka_unit_test(the_motion_s_cell_is_the_caption_s),
        cmocka_unit_test(as_large_ones_are_said_together),
        cmocka_unit_test(nan_has_no_largest_figure),
        cmocka_unit_test(small_figures_keep_three_digits),
        cmocka_unit_test(lines_break_beside_no_sign_and_terms_are_whole),
        cmocka_unit_test(one_token_and_switches_are_said_as_they_are),
        cmocka_unit_test(broken_stages_name_the_row_too),
        cmocka_unit_test(broken_weights_are_counted_at_the_end),
        cmocka_unit_test(a_run_that_does_not_fit_is_not_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
