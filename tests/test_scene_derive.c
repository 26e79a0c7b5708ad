/* scene: where a number came from. Each derivation's own sum in float64 is the trace's
 * number within rounding, and its operands are the trace's. */
#include "scene_case.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static float number(const struct scene_case *c, struct step_ref r)
{
    struct attn_cmat m = attn_trace_view(&c->trace, r.tensor, c->trace.head);
    if (!m.data || r.row < 0 || r.col < 0 || r.row >= m.rows || r.col >= m.cols)
        fail_msg("%s: no cell %d, %d of tensor %d", case_where(c).text, r.row, r.col,
                 (int)r.tensor);
    return m.data[(ptrdiff_t)r.row * m.ld + r.col];
}

static bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What the operands come to, by the formula of the tensor and not by scene's kinds. */
static double made_anew(const struct scene_case *c, const struct scene_derivation *d)
{
    const struct attn_trace *t = &c->trace;
    double sum = 0;
    for (int k = 0; k < d->n; k++) {
        struct step_ref a = derive_ref(&d->a, k);
        assert_true(same_float(number(c, a), derive_number(&d->a, k)));
        if (d->kind != DERIVE_DOT) continue;
        struct step_ref b = derive_ref(&d->b, k);
        assert_true(same_float(number(c, b), derive_number(&d->b, k)));
        sum += (double)number(c, a) * (double)number(c, b);
    }
    struct step_ref r = d->ref;
    if (d->kind == DERIVE_GIVEN) return (double)d->value;
    double own = d->n ? (double)number(c, derive_ref(&d->a, d->at)) : 0;
    switch (r.tensor) {
    case ATTN_X: {
        double mean = 0, square = 0, n = d->n;
        for (int k = 0; k < d->n; k++) mean += (double)derive_number(&d->a, k);
        mean /= n;
        for (int k = 0; k < d->n; k++)
            square += pow((double)derive_number(&d->a, k) - mean, 2);
        double x = (own - mean) / sqrt(square / n + (double)c->src.ln_eps);
        if (c->src.ln_gain) x *= (double)c->src.ln_gain[r.col];
        return x + (c->src.ln_bias ? (double)c->src.ln_bias[r.col] : 0);
    }
    case ATTN_S_SCALED:
        return t->opts.scale ? own / sqrt((double)attn_d_head(t->dims)) : own;
    case ATTN_S_MASKED:
        return t->opts.causal && r.col > r.row ? -(double)INFINITY : own;
    case ATTN_P: {
        double total = 0;
        for (int k = 0; k < d->n; k++)
            total += exp((double)derive_number(&d->a, k) - own); /* any shift will do */
        return isinf(own) ? 0 : 1 / total;
    }
    case ATTN_Z_ALL:
        return d->kind == DERIVE_SAME ? own : (double)d->value;
    case ATTN_Y:
        return sum + (d->bias ? (double)*d->bias : 0) +
               (t->opts.residual ? (double)t->h.data[(ptrdiff_t)r.row * t->h.ld + r.col]
                                 : 0);
    default:
        return d->kind == DERIVE_DOT ? sum + (d->bias ? (double)*d->bias : 0)
                                     : (double)d->value;
    }
}

static void check_cell(const struct scene_case *c, struct step_ref r)
{
    struct scene_derivation d;
    assert_true(scene_derive(&d, &c->src, r));
    assert_true(same_float(d.value, number(c, r)));
    double anew = made_anew(c, &d), close = 1e-9 * (1 + fabs(anew));
    if (anew != d.sum && !(fabs(anew - d.sum) <= close))
        fail_msg("%s: tensor %d, %d, %d: sum %.17g, made anew %.17g", case_where(c).text,
                 (int)r.tensor, r.row, r.col, d.sum, anew);
    if (!scene_derive_agrees(&d))
        fail_msg("%s: tensor %d, %d, %d: %.9g, float64 %.17g, bound %.3g",
                 case_where(c).text, (int)r.tensor, r.row, r.col, (double)d.value, d.sum,
                 d.bound);
    /* The bound is one of rounding: a thousandth more is seen, where numbers are not
     * tiny against their terms. */
    if (d.kind == DERIVE_GIVEN || d.kind == DERIVE_HEAD || !isfinite(d.value)) return;
    if (!(d.bound < 1e-4 * fabs(d.sum))) return;
    d.value *= 1.001f;
    assert_false(scene_derive_agrees(&d));
}

static void check_all(const struct scene_case *c, int step)
{
    for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
        struct attn_cmat m =
            attn_trace_view(&c->trace, (enum attn_tensor)t, c->trace.head);
        int64_t n = (int64_t)m.rows * m.cols;
        for (int64_t i = 0; i < n; i += 1 + (n > 2000 ? step : 0))
            check_cell(c, (struct step_ref){(enum attn_tensor)t, (int)(i / m.cols),
                                            (int)(i % m.cols)});
    }
}

static void every_number_of_the_toy_is_what_its_operands_give(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 3; seed++)
        for (int o = 0; o < 8; o++) {
            struct scene_case c;
            case_open_toy(&c, seed);
            c.state.opts = case_opts(o);
            case_place(&c)->head = o & 1;
            case_run(&c);
            check_all(&c, 0);
            case_close(&c);
        }
}

static void numbers_of_gpt2s_size_are_what_their_operands_give(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    case_tokens(&c, 97);
    check_all(&c, 431); /* prime: every column comes by */
    case_close(&c);
}

static void odd_dims_too(void **state)
{
    (void)state;
    struct scene_case c;
    case_open_dims(&c, (struct attn_dims){.n_tok = 7, .d_model = 15, .n_head = 3});
    check_all(&c, 0);
    struct scene_derivation d; /* nothing is known of a layer norm */
    assert_true(scene_derive(&d, &c.src, (struct step_ref){ATTN_X, 1, 1}));
    assert_int_equal(d.kind, DERIVE_GIVEN);
    case_close(&c);
}

static void what_is_not_there_has_no_origin(void **state)
{
    (void)state;
    struct scene_case c;
    struct scene_derivation d;
    case_open(&c, STEP_TOY);
    static const struct step_ref bad[] = {{ATTN_TENSOR_COUNT, 0, 0},
                                          {ATTN_P, -1, 0},
                                          {ATTN_P, 0, -1},
                                          {ATTN_P, 5, 0},
                                          {ATTN_Q, 0, 4}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(scene_derive(&d, &c.src, bad[i]));
    c.src.trace = NULL;
    assert_false(scene_derive(&d, &c.src, (struct step_ref){ATTN_P, 0, 0}));
    case_close(&c);
}

/* From y through each stage to h, by the first operand of the kind asked for. */
static void every_way_ends_at_an_input(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int side = 0; side < 2; side++) {
        struct step_ref r = {ATTN_Y, 3, 1};
        int depth = 0;
        for (struct scene_derivation d;; depth++) {
            assert_true(depth <= STEP_DIVE_MOST);
            assert_true(scene_derive(&d, &c.src, r));
            if (d.kind == DERIVE_GIVEN) break;
            r = derive_ref(side && d.kind == DERIVE_DOT ? &d.b : &d.a, d.at);
        }
        assert_int_equal(r.tensor, side ? ATTN_W_O : ATTN_H);
        assert_int_equal(depth, side ? 1 : 9);
    }
    case_close(&c);
}

static void the_largest_terms_are_shown_and_their_rest_is_the_remainder(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    struct scene_derivation d;
    int at[DERIVE_SHOWN], placed[DERIVE_SHOWN];
    for (int j = 0; j < 64; j += 9) {
        assert_true(scene_derive(&d, &c.src, (struct step_ref){ATTN_Q, j, j}));
        assert_int_equal(scene_derive_shown(&d, DERIVE_SHOWN, false, at), DERIVE_SHOWN);
        assert_int_equal(scene_derive_shown(&d, DERIVE_SHOWN, true, placed),
                         DERIVE_SHOWN);
        double least = fabs(derive_term(&d, at[DERIVE_SHOWN - 1]));
        int larger = 0;
        for (int k = 0; k < d.n; k++) larger += fabs(derive_term(&d, k)) > least;
        assert_true(larger < DERIVE_SHOWN);
        uint64_t sum[2] = {0, 0};
        for (int i = 0; i < DERIVE_SHOWN; i++) {
            if (i) {
                assert_true(fabs(derive_term(&d, at[i - 1])) >=
                            fabs(derive_term(&d, at[i])));
                assert_true(placed[i - 1] < placed[i]);
            }
            sum[0] += (uint64_t)at[i] * (uint64_t)at[i];
            sum[1] += (uint64_t)placed[i] * (uint64_t)placed[i];
        }
        assert_true(sum[0] == sum[1]); /* the same terms */
    }
    case_close(&c);
}

static void a_wrong_number_is_told_from_a_rounded_one(void **state)
{
    (void)state;
    struct scene_case c;
    struct scene_derivation d;
    case_open(&c, STEP_TOY);
    struct attn_mat m = c.trace.s_raw;
    m.data[2 * m.ld + 1] += 0.01f;
    assert_true(scene_derive(&d, &c.src, (struct step_ref){ATTN_S_RAW, 2, 1}));
    assert_false(scene_derive_agrees(&d));
    m.data[2 * m.ld + 1] = NAN;
    assert_true(scene_derive(&d, &c.src, (struct step_ref){ATTN_S_RAW, 2, 1}));
    assert_false(scene_derive_agrees(&d));
    case_close(&c);
}

/* ---- what has to hold ---------------------------------------------------------------------- */

static void a_run_keeps_its_invariants(void **state)
{
    (void)state;
    for (int scale = 0; scale < 2; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        const struct scene_checks *k = &c.checks;
        double n = c.trace.dims.n_tok;
        assert_true(k->row_sum <= n * (double)FLT_EPSILON);
        assert_true(k->upper == 0 && k->n_upper == 0 && k->n_unmasked == 0);
        assert_true(k->scale <= 0.5 && k->residual == 0);
        assert_true(k->blend <=
                    n * (double)FLT_EPSILON * (double)c.trace.stats[ATTN_V].max_abs);
        assert_true(k->entropy_lo >= 0 && (double)k->entropy_hi <= log2(n) + 1e-6);
        for (int t = 0; t < ATTN_TENSOR_COUNT; t++) assert_int_equal(k->n_odd[t], 0);
        case_close(&c);
    }
}

/* Stages done wrong still say how each number came about. */
static void broken_numbers_are_what_their_operands_give(void **state)
{
    (void)state;
    for (int o = 0; o < 4; o++) {
        struct scene_case c;
        case_open_toy(&c, 5);
        struct attn_opts *opts = &c.state.opts;
        opts->silent = o == 0 ? 1 : 2;
        opts->no_max = o & 1;
        opts->temperature = o & 2 ? 0.5f : 0;
        opts->swapped = opts->shifted = o == 3;
        case_run(&c);
        for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
            struct attn_cmat m =
                attn_trace_view(&c.trace, (enum attn_tensor)t, c.trace.head);
            for (int i = 0; i < m.rows * m.cols; i++) {
                struct scene_derivation d;
                struct step_ref r = {(enum attn_tensor)t, i / m.cols, i % m.cols};
                assert_true(scene_derive(&d, &c.src, r));
                if (!scene_derive_agrees(&d))
                    fail_msg("case %d, tensor %d, %d, %d: %.9g, float64 %.17g", o, t,
                             r.row, r.col, (double)d.value, d.sum);
                assert_int_equal(d.silent, o == 0 && t == (int)ATTN_Z);
                if (d.silent) assert_true(d.sum == 0 && d.total != 0);
            }
        }
        case_close(&c);
    }
}

static void what_is_broken_is_found_where_it_is(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    struct attn_trace *t = &c.trace;
    t->p.data[2 * t->p.ld + 4] = 0.25f;
    t->p.data[3 * t->p.ld + 1] += 0.5f;
    t->s_masked.data[1 * t->s_masked.ld + 3] = 7;
    t->s_scaled.data[4 * t->s_scaled.ld + 2] *= 1.01f;
    t->z.data[3 * t->z.ld + 1] = 1e6f;
    t->y.data[2 * t->y.ld + 5] += 1;
    t->qkv.data[1 * t->qkv.ld + 3] = NAN;
    t->stats[ATTN_Q].n_nan = 1;
    scene_check(&c.checks, t, &c.attn);
    const struct scene_checks *k = &c.checks;
    const struct {
        struct step_ref found, want;
    } refs[] = {
        {k->upper_at, {ATTN_P, 2, 4}},           {k->row_at, {ATTN_P, 3, 0}},
        {k->unmasked_at, {ATTN_S_MASKED, 1, 3}}, {k->scale_at, {ATTN_S_SCALED, 4, 2}},
        {k->blend_at, {ATTN_Z, 3, 1}},           {k->residual_at, {ATTN_Y, 2, 5}},
        {k->odd[ATTN_Q], {ATTN_Q, 1, 3}}};
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++)
        assert_true(step_ref_is(refs[i].found, refs[i].want));
    assert_int_equal(k->n_upper, 1);
    assert_true(fabs(k->row_sum - 0.5) < 1e-6);
    case_close(&c);
}

/* The first text of the scene that begins so, or NULL. */
static const char *strip_says(const struct scene *sc, const char *start)
{
    for (int i = 0; i < sc->n; i++)
        if (sc->items[i].kind == SCENE_TEXT &&
            strncmp(sc->items[i].u.text.text, start, strlen(start)) == 0)
            return sc->items[i].u.text.text;
    return NULL;
}

static void put_number(struct attn_trace *t, enum attn_tensor id, int i, int j, float v)
{
    struct attn_cmat m = attn_trace_view(t, id, t->head);
    float *data;
    memcpy(&data, &m.data, sizeof data); /* the case's own numbers */
    data[i * m.ld + j] = v;
    t->stats[id] = attn_stats_of(m);
}

/* What the strip must not claim while a cell of the tensor holds no number. */
static void no_check_holds_of_what_is_no_number(void **state)
{
    (void)state;
    static const char finite[] = "no NaN, no ", scale[] = "each S \u00F7 \u221Ad_head";
    static const char blend[] = "O inside the range of V", sum[] = "rows sum to 1";
    static const char residual[] = "Y is the product plus h";
    static const struct {
        enum attn_tensor of;
        enum attn_stage stage;
        const char *claim;
        int col; /* of row 2; 3: above the diagonal */
    } claims[] = {{ATTN_Q, ATTN_PROJECTIONS, finite, 1},
                  {ATTN_K, ATTN_PROJECTIONS, finite, 1},
                  {ATTN_V, ATTN_PROJECTIONS, finite, 1},
                  {ATTN_S_RAW, ATTN_SCORES, finite, 1},
                  {ATTN_S_RAW, ATTN_SCALE, scale, 1},
                  {ATTN_S_SCALED, ATTN_SCALE, scale, 1},
                  {ATTN_S_SCALED, ATTN_SCALE, finite, 1},
                  {ATTN_S_MASKED, ATTN_MASK, finite, 1},
                  {ATTN_S_MASKED, ATTN_MASK, "upper triangle all", 3},
                  {ATTN_P, ATTN_SOFTMAX, sum, 1},
                  {ATTN_P, ATTN_SOFTMAX, sum, 3},
                  {ATTN_P, ATTN_SOFTMAX, finite, 1},
                  {ATTN_P, ATTN_SOFTMAX, "upper triangle exactly 0", 3},
                  {ATTN_V, ATTN_WEIGHTED_SUM, blend, 1},
                  {ATTN_Z, ATTN_WEIGHTED_SUM, blend, 1},
                  {ATTN_Z, ATTN_WEIGHTED_SUM, finite, 1},
                  {ATTN_Y_PROJ, ATTN_OUTPUT, residual, 1},
                  {ATTN_Y_PROJ, ATTN_OUTPUT, finite, 1},
                  {ATTN_Y, ATTN_OUTPUT, residual, 1},
                  {ATTN_Y, ATTN_OUTPUT, finite, 1},
                  {ATTN_H, ATTN_OUTPUT, residual, 1}};
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < 3 * sizeof claims / sizeof *claims; k++) {
        float v = odd[k % 3];
        enum attn_tensor of = claims[k / 3].of;
        const char *claim = claims[k / 3].claim;
        if (of == ATTN_S_MASKED && v == -INFINITY) continue; /* it may be */
        struct scene_case c;
        case_open(&c, STEP_TOY);
        case_show(&c, claims[k / 3].stage, 1, 1440, 900);
        assert_non_null(strip_says(&c.sc, claim));
        put_number(&c.trace, of, 2, claims[k / 3].col, v);
        scene_check(&c.checks, &c.trace, &c.attn);
        case_show(&c, claims[k / 3].stage, 1, 1440, 900);
        const char *said = strip_says(&c.sc, claim);
        if (said) fail_msg("\"%s\" with %g in tensor %d", said, (double)v, (int)of);
        for (int i = 0; i < c.sc.n; i++) /* no word of C's library */
            if (c.sc.items[i].kind == SCENE_TEXT)
                assert_null(strstr(c.sc.items[i].u.text.text, "nan"));
        case_close(&c);
    }
}

/* Every figure of the strip is there in the smallest window, and where presenting and the
 * tour's card leave no more. */
static void the_strip_is_whole_in_the_smallest_window(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * ATTN_STAGE_COUNT; k++) {
        struct scene_case c;
        enum attn_stage stage = (enum attn_stage)(k % ATTN_STAGE_COUNT);
        case_open(&c, (enum step_scale)(k / ATTN_STAGE_COUNT));
        case_show(&c, stage, 1, 1024, 640);
        int means = 0;
        for (int i = 0; i < c.sc.n; i++)
            means += c.sc.items[i].kind == SCENE_TEXT &&
                     c.sc.items[i].u.text.y < c.sc.frame.stage.y + 100 &&
                     strstr(c.sc.items[i].u.text.text, "mean");
        if (means < 1) fail_msg("%s: no mean in the strip", case_where(&c).text);
        if (stage == ATTN_SOFTMAX) {
            const char *sum = strip_says(&c.sc, "\u03A3 = 1 \u00B1");
            if (!sum) sum = strip_says(&c.sc, "\u03A3 = 1, exactly");
            assert_non_null(sum);
            assert_non_null(strip_says(&c.sc, "entropy "));
        }
        if (stage == ATTN_PROJECTIONS)
            assert_true(strip_says(&c.sc, "K ") && strip_says(&c.sc, "V "));
        case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_the_toy_is_what_its_operands_give),
        cmocka_unit_test(numbers_of_gpt2s_size_are_what_their_operands_give),
        cmocka_unit_test(odd_dims_too),
        cmocka_unit_test(what_is_not_there_has_no_origin),
        cmocka_unit_test(every_way_ends_at_an_input),
        cmocka_unit_test(the_largest_terms_are_shown_and_their_rest_is_the_remainder),
        cmocka_unit_test(a_wrong_number_is_told_from_a_rounded_one),
        cmocka_unit_test(a_run_keeps_its_invariants),
        cmocka_unit_test(broken_numbers_are_what_their_operands_give),
        cmocka_unit_test(what_is_broken_is_found_where_it_is),
        cmocka_unit_test(no_check_holds_of_what_is_no_number),
        cmocka_unit_test(the_strip_is_whole_in_the_smallest_window),
    };
    return cmocka_run_group_tests_name("scene derive", tests, NULL, NULL);
}
