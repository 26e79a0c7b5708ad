/* app without a screen: numbers that are given by hand. Every number of an edited run is
 * that of a pass in float64 made here; what does not follow from an edit stays to the bit. */
#include "app_case.h"

#include "cli.h"
#include "compare.h"
#include "dump.h"
#include "edits.h"
#include "source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the pass in float64 ----------------------------------------------------------------- */

enum { MOST_N = 12, MOST_D = 768, MOST_HEADS = 12, MOST_EDITS = 8 };

struct pass {
    int n, d, heads, d_head;
    double h[MOST_N][MOST_D], x[MOST_N][MOST_D], qkv[MOST_N][3 * MOST_D];
    double raw[MOST_HEADS][MOST_N][MOST_N], scaled[MOST_HEADS][MOST_N][MOST_N],
        masked[MOST_HEADS][MOST_N][MOST_N], p[MOST_HEADS][MOST_N][MOST_N];
    double z[MOST_N][MOST_D], y_proj[MOST_N][MOST_D], y[MOST_N][MOST_D];
    double w_qkv[MOST_D][3 * MOST_D], w_o[MOST_D][MOST_D];
};

static double *cell_of(struct pass *s, enum attn_tensor t, int head, int i, int j)
{
    int col = head * s->d_head + j;
    switch (t) {
    case ATTN_H:
        return &s->h[i][j];
    case ATTN_X:
        return &s->x[i][j];
    case ATTN_W_Q:
    case ATTN_W_K:
    case ATTN_W_V:
        return &s->w_qkv[i][((int)t - ATTN_W_Q) * s->d + col];
    case ATTN_Q:
    case ATTN_K:
    case ATTN_V:
        return &s->qkv[i][((int)t - ATTN_Q) * s->d + col];
    case ATTN_S_RAW:
        return &s->raw[head][i][j];
    case ATTN_S_SCALED:
        return &s->scaled[head][i][j];
    case ATTN_S_MASKED:
        return &s->masked[head][i][j];
    case ATTN_P:
        return &s->p[head][i][j];
    case ATTN_Z:
        return &s->z[i][col];
    case ATTN_Z_ALL:
        return &s->z[i][j];
    case ATTN_W_O:
        return &s->w_o[i][j];
    case ATTN_Y_PROJ:
        return &s->y_proj[i][j];
    case ATTN_Y:
        return &s->y[i][j];
    case ATTN_TENSOR_COUNT:
        break;
    }
    return NULL;
}

static void put(struct pass *s, enum attn_tensor t, const struct step_place *p)
{
    for (int k = 0; k < p->n_edit; k++) {
        const struct attn_edit *e = &p->edits[k].cell;
        if (e->tensor == t) *cell_of(s, t, e->head, e->row, e->col) = (double)e->value;
    }
}

static void norm(struct pass *s, const struct model *m)
{
    for (int i = 0; i < s->n; i++) {
        double mean = 0;
        double square = 0;
        for (int k = 0; k < s->d; k++) mean += s->h[i][k] / s->d;
        for (int k = 0; k < s->d; k++)
            square += (s->h[i][k] - mean) * (s->h[i][k] - mean) / s->d;
        for (int k = 0; k < s->d; k++)
            s->x[i][k] = (s->h[i][k] - mean) / sqrt(square + (double)m->eps) *
                             (double)m->ln_gain[k] +
                         (double)m->ln_bias[k];
    }
}

static void one_head(struct pass *s, int h, const struct step_place *p)
{
    int q = h * s->d_head;
    int k = s->d + q;
    int v = 2 * s->d + q;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            s->raw[h][i][j] = 0;
            for (int c = 0; c < s->d_head; c++)
                s->raw[h][i][j] += s->qkv[i][q + c] * s->qkv[j][k + c];
        }
    put(s, ATTN_S_RAW, p);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            s->scaled[h][i][j] = s->raw[h][i][j] / sqrt(s->d_head);
    put(s, ATTN_S_SCALED, p);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            s->masked[h][i][j] = j > i ? -(double)INFINITY : s->scaled[h][i][j];
    put(s, ATTN_S_MASKED, p);
    for (int i = 0; i < s->n; i++) {
        double most = -(double)INFINITY;
        double sum = 0;
        for (int j = 0; j <= i; j++) most = fmax(most, s->masked[h][i][j]);
        for (int j = 0; j <= i; j++) sum += exp(s->masked[h][i][j] - most);
        for (int j = 0; j < s->n; j++)
            s->p[h][i][j] = j > i ? 0 : exp(s->masked[h][i][j] - most) / sum;
    }
    put(s, ATTN_P, p);
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < s->d_head; c++) {
            s->z[i][q + c] = 0;
            for (int j = 0; j <= i; j++)
                s->z[i][q + c] += s->p[h][i][j] * s->qkv[j][v + c];
        }
}

static void pass_make(struct pass *s, const struct model *m, const struct step_place *p)
{
    s->n = p->dims.n_tok;
    s->d = m->dims.d_model;
    s->heads = m->dims.n_head;
    s->d_head = s->d / s->heads;
    const struct attn_weights *w = &m->weights;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->d; k++) s->h[i][k] = (double)m->h.data[i * m->h.ld + k];
    put(s, ATTN_H, p);
    norm(s, m);
    put(s, ATTN_X, p);
    for (int r = 0; r < s->d; r++) {
        for (int c = 0; c < 3 * s->d; c++)
            s->w_qkv[r][c] = (double)w->w_qkv.data[r * w->w_qkv.ld + c];
        for (int c = 0; c < s->d; c++)
            s->w_o[r][c] = (double)w->w_o.data[r * w->w_o.ld + c];
    }
    for (int t = ATTN_W_Q; t <= ATTN_W_V; t++) put(s, (enum attn_tensor)t, p);
    put(s, ATTN_W_O, p);
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 3 * s->d; c++) {
            s->qkv[i][c] = w->b_qkv ? (double)w->b_qkv[c] : 0;
            for (int k = 0; k < s->d; k++) s->qkv[i][c] += s->x[i][k] * s->w_qkv[k][c];
        }
    for (int t = ATTN_Q; t <= ATTN_V; t++) put(s, (enum attn_tensor)t, p);
    for (int h = 0; h < s->heads; h++) one_head(s, h, p);
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < s->d; c++) {
            s->y_proj[i][c] = w->b_o ? (double)w->b_o[c] : 0;
            for (int k = 0; k < s->d; k++) s->y_proj[i][c] += s->z[i][k] * s->w_o[k][c];
            s->y[i][c] = s->y_proj[i][c] + s->h[i][c];
        }
}

static struct pass
    pass; /* float64 numbers of what is looked at: 80 MB of the stack else */

/* ---- what follows from what ---------------------------------------------------------------- */

static bool follows(enum attn_tensor t, enum attn_tensor from)
{
    static const enum attn_tensor of[][2] = {{ATTN_X, ATTN_H},
                                             {ATTN_Q, ATTN_X},
                                             {ATTN_Q, ATTN_W_Q},
                                             {ATTN_K, ATTN_X},
                                             {ATTN_K, ATTN_W_K},
                                             {ATTN_V, ATTN_X},
                                             {ATTN_V, ATTN_W_V},
                                             {ATTN_S_RAW, ATTN_Q},
                                             {ATTN_S_RAW, ATTN_K},
                                             {ATTN_S_SCALED, ATTN_S_RAW},
                                             {ATTN_S_MASKED, ATTN_S_SCALED},
                                             {ATTN_P, ATTN_S_MASKED},
                                             {ATTN_Z, ATTN_P},
                                             {ATTN_Z, ATTN_V},
                                             {ATTN_Z_ALL, ATTN_Z},
                                             {ATTN_Y_PROJ, ATTN_Z_ALL},
                                             {ATTN_Y_PROJ, ATTN_W_O},
                                             {ATTN_Y, ATTN_Y_PROJ},
                                             {ATTN_Y, ATTN_H}};
    if (t == from) return true;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (of[i][0] == t && follows(of[i][1], from)) return true;
    return false;
}

static float at(struct attn_cmat m, int i, int j)
{
    return m.data[(size_t)i * (size_t)m.ld + (size_t)j];
}

/* Each matrix of the head in view beside the pass, and beside the run without edits:
 * `only` is the one tensor that is edited in that head, ATTN_TENSOR_COUNT: several are. */
static void check(struct source *so, const struct step_state *s, enum attn_tensor only)
{
    struct scene_source src = source_for(so, s, true);
    const struct model *m =
        s->scale == STEP_TOY ? &so->toy_model.model : worker_take(so->worker)->model;
    assert_true(src.fits && src.ungiven && src.ghost);
    pass_make(&pass, m, step_place_of(s));
    for (int k = 0; k < ATTN_TENSOR_COUNT; k++) {
        enum attn_tensor t = (enum attn_tensor)k;
        struct attn_cmat is = attn_trace_view(src.trace, t, src.trace->head);
        struct attn_cmat was = attn_trace_view(src.ungiven, t, src.trace->head);
        double most = 1e-3;
        int64_t moved = 0;
        for (int i = 0; i < is.rows; i++)
            for (int j = 0; j < is.cols; j++) {
                double want = *cell_of(&pass, t, src.trace->head, i, j);
                if (isfinite(want)) most = fmax(most, fabs(want));
            }
        for (int i = 0; i < is.rows; i++)
            for (int j = 0; j < is.cols; j++) {
                double want = *cell_of(&pass, t, src.trace->head, i, j);
                float got = at(is, i, j);
                bool good = isfinite(want) ? fabs((double)got - want) <= 1e-4 * most
                                           : (double)got == want;
                if (!good)
                    fail_msg("tensor %d, %d, %d: %.9g, float64 %.12g (edited: %d)", k, i,
                             j, (double)got, want, (int)only);
                bool same = got == at(was, i, j);
                moved += !same;
                assert_int_equal(scene_is_moved(&src, (struct step_ref){t, i, j}), !same);
            }
        if (only == ATTN_TENSOR_COUNT) continue;
        if (!follows(t, only) && moved)
            fail_msg("tensor %d moved: %d was edited", k, (int)only);
        assert_true(!follows(t, only) || moved > 0);
    }
}

static bool give(struct step_state *s, enum attn_tensor t, int head, int row, int col,
                 float x)
{
    return step_apply(s, (struct step_action){
                             .verb = STEP_GIVE, .ref = {t, row, col}, .i = head, .x = x});
}

static void every_matrix_of_the_toy_is_followed_from(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (int seed = 1; seed <= 3; seed++)
        for (int t = 0; t < ATTN_TENSOR_COUNT; t++)
            for (int head = 0; head < 2; head++) {
                struct step_state s = step_initial();
                assert_true(
                    step_apply(&s, (struct step_action){.verb = STEP_SEED, .i = seed}));
                assert_true(
                    step_apply(&s, (struct step_action){.verb = STEP_HEAD, .i = head}));
                if (!give(&s, (enum attn_tensor)t, -1, 3, 2, 1.75f)) continue;
                check(&so, &s, (enum attn_tensor)t);
            }
    source_fini(&so);
}

static void several_edits_in_several_heads_go_together(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    uint32_t seed = 9;
    assert_true(source_init(&so, 0, &e));
    for (int run = 0; run < 60; run++) {
        struct step_state s = step_initial();
        for (int k = 0; k < MOST_EDITS; k++) {
            seed = seed * 1664525u + 1013904223u;
            (void)give(&s, (enum attn_tensor)(seed >> 8 & 15), (int)(seed >> 12 & 1),
                       (int)(seed >> 13 & 7) % 5, (int)(seed >> 16 & 3),
                       (float)(int)(seed >> 20 & 255) / 64.0f - 2.0f);
        }
        if (s.place[STEP_TOY].n_edit > 0) check(&so, &s, ATTN_TENSOR_COUNT);
    }
    source_fini(&so);
}

/* At GPT-2's dimensions: h and x. */
static void h_and_x_of_gpt2s_scale_are_followed_from(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (int t = ATTN_H; t <= ATTN_X; t++) {
        struct step_state s = step_initial();
        assert_true(
            step_apply(&s, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_GPT2}));
        assert_true(
            step_apply(&s, (struct step_action){.verb = STEP_TOKENS, .i = MOST_N}));
        assert_true(step_apply(&s, (struct step_action){.verb = STEP_HEAD, .i = 5}));
        assert_true(give(&s, (enum attn_tensor)t, -1, 4, 700, 3.5f));
        check(&so, &s, (enum attn_tensor)t);
    }
    source_fini(&so);
}

/* The overview has each head's scores and weights as that head's own run has them. */
static void every_head_at_a_glance_is_edited_too(void **state)
{
    (void)state;
    static const enum attn_tensor tensors[] = {ATTN_Q, ATTN_S_RAW, ATTN_S_SCALED,
                                               ATTN_S_MASKED, ATTN_P};
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (size_t t = 0; t < sizeof tensors / sizeof tensors[0]; t++) {
        struct step_state s = step_initial();
        assert_true(give(&s, tensors[t], 1, 3, 1, 0.75f));
        s.over.open = true;
        struct scene_source src = source_for(&so, &s, true);
        struct scene_heads heads = *src.heads;
        s.over.open = false;
        for (int h = 0; h < 2; h++) {
            s.place[STEP_TOY].head = h;
            src = source_for(&so, &s, true);
            double entropy = 0;
            for (int i = 0; i < 5; i++) {
                struct attn_cmat a = attn_trace_view(src.trace, ATTN_P, h);
                double sum = 0; /* not 1 where a weight is given */
                for (int j = 0; j <= i; j++) sum += (double)at(a, i, j);
                for (int j = 0; j <= i; j++) {
                    int pixel = (h * 5 + i) * 5 + j;
                    float p = at(a, i, j);
                    double share = (double)p / sum;
                    float s_ij = at(attn_trace_view(src.trace, ATTN_S_RAW, h), i, j);
                    assert_true(fabsf(heads.weights[pixel] - p) < 1e-5f);
                    assert_true(fabsf(heads.scores[pixel] - s_ij) < 1e-4f);
                    if (p > 0) entropy -= share * log2(share) / 5;
                }
            }
            assert_true(fabs(heads.sum[h].entropy - entropy) < 1e-4);
        }
    }
    source_fini(&so);
}

/* Every number of an edited run is what its operands give, but the edited one; what that
 * was computed to is what it is without the edit. */
static void derivations_follow_edits(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (int k = 0; k < ATTN_TENSOR_COUNT; k++) {
        struct step_state s = step_initial();
        struct step_ref edited = {(enum attn_tensor)k, 3, 2};
        if (!give(&s, edited.tensor, -1, 3, 2, 1.75f)) continue;
        struct scene_source src = source_for(&so, &s, true);
        for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
            struct attn_cmat m = attn_trace_view(src.trace, (enum attn_tensor)t, 0);
            for (int i = 0; i < m.rows; i++)
                for (int j = 0; j < m.cols; j++) {
                    struct step_ref r = {(enum attn_tensor)t, i, j};
                    struct scene_derivation d;
                    assert_true(scene_derive(&d, &src, r));
                    assert_int_equal(d.given, step_ref_is(r, edited));
                    if (!d.given && !scene_derive_agrees(&d))
                        fail_msg("tensor %d, %d, %d with %d edited", t, i, j, k);
                    if (!d.given) continue;
                    float was =
                        at(attn_trace_view(src.ungiven, (enum attn_tensor)t, 0), i, j);
                    assert_true(d.value == 1.75f && fabsf(d.was - was) < 1e-5f);
                }
        }
    }
    source_fini(&so);
}

/* With switches besides, an edit's own marks are told from the switches'. */
static void what_an_edit_moves_is_told_from_switches(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct step_state s = step_initial();
        assert_true(
            step_apply(&s, (struct step_action){.verb = STEP_SCALE_TO, .i = scale}));
        assert_true(step_apply(
            &s, (struct step_action){.verb = STEP_SWITCH, .i = STEP_SW_DIVIDE, .x = 1}));
        struct scene_source src = source_for(&so, &s, true);
        struct attn_cmat m = attn_trace_view(src.trace, ATTN_S_SCALED, 0);
        float before[2] = {at(m, 2, 1), at(m, 3, 1)};
        assert_true(give(&s, ATTN_X, -1, 3, 2, 3.5f));
        src = source_for(&so, &s, true);
        assert_true(src.fits && src.ungiven);
        assert_true(at(attn_trace_view(src.ungiven, ATTN_S_SCALED, 0), 2, 1) ==
                    before[0]);
        assert_true(at(attn_trace_view(src.ungiven, ATTN_S_SCALED, 0), 3, 1) ==
                    before[1]);
        assert_false(scene_is_moved(&src, (struct step_ref){ATTN_S_SCALED, 2, 1}));
        assert_true(scene_is_moved(&src, (struct step_ref){ATTN_S_SCALED, 3, 1}));
    }
    source_fini(&so);
}

/* In decode mode the overview's measures are of the rows that have come. */
static void heads_are_measured_as_far_as_they_are_decoded(void **state)
{
    (void)state;
    struct source so;
    struct err e = {0};
    assert_true(source_init(&so, 0, &e));
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct step_state s = step_initial();
        assert_true(
            step_apply(&s, (struct step_action){.verb = STEP_SCALE_TO, .i = scale}));
        assert_true(step_apply(&s, (struct step_action){.verb = STEP_DECODE, .i = 2}));
        for (int row = 1; row < 5; row++) {
            assert_true(step_apply(&s, (struct step_action){.verb = STEP_ROW, .i = row}));
            struct scene_source src = source_for(&so, &s, true);
            struct attn_cmat p = attn_trace_view(src.trace, ATTN_P, 0);
            double entropy = 0, first = 0;
            for (int i = 0; i <= row; i++) {
                if (i > 0) first += (double)at(p, i, 0) / row;
                for (int j = 0; j <= i; j++)
                    if (at(p, i, j) > 0)
                        entropy -=
                            (double)at(p, i, j) * log2((double)at(p, i, j)) / (row + 1);
            }
            s.over.open = true;
            src = source_for(&so, &s, true);
            s.over.open = false;
            if (fabs(src.heads->sum[0].entropy - entropy) > 1e-4 ||
                fabs(src.heads->sum[0].first - first) > 1e-4)
                fail_msg("scale %d, row %d: %g bits, not %g", scale, row + 1,
                         src.heads->sum[0].entropy, entropy);
        }
    }
    source_fini(&so);
}

/* ---- as text -------------------------------------------------------------------------------- */

static void an_edit_as_text_leads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"h 1 2 0.5",       "x 5 8 -1.25e-07",
                                        "q.2 3 4 3.4e+38", "s_raw.1 1 5 0.1",
                                        "p.1 2 1 0",       "w_o 8 8 -2"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct step_state s = step_initial();
        struct step_action a;
        struct err e = {0};
        char out[80];
        assert_true(edits_parse(texts[i], &a, &e));
        assert_true(step_apply(&s, a));
        edits_print(out, sizeof out, &s.place[STEP_TOY].edits[0].cell);
        struct step_action again;
        assert_true(edits_parse(out, &again, &e));
        assert_true(again.x == a.x && step_ref_is(again.ref, a.ref));
    }
}

static void what_is_no_edit_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "Q",
                                        "Q 1",
                                        "Q 1 1",
                                        "Q 1 1 x",
                                        "Q 1 1 nan",
                                        "Q 1 1 inf",
                                        "Q 1 1 1e99",
                                        "Q 0 1 1",
                                        "Q 1 -1 1",
                                        "Q a 1 1",
                                        "R 1 1 1",
                                        "h.1 1 1 1",
                                        "Q.0 1 1 1",
                                        "Q. 1 1 1",
                                        "Q 1 1 1 1",
                                        "Q 1 1 1,5",
                                        "Q 99999999 1 1",
                                        "Q 1 1 1e-60",
                                        "q 1 1 ,",
                                        "computed"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct step_action a;
        struct err e = {0};
        if (edits_parse(texts[i], &a, &e)) fail_msg("\"%s\" was taken", texts[i]);
        assert_int_equal(e.code, ERR_USAGE);
        assert_true(e.text[0] && !strchr(e.text, '\n'));
    }
}

static void the_command_line_edits_or_says_why_not(void **state)
{
    (void)state;
    static const struct {
        char *edit;
        const char *says; /* NULL: it is taken */
    } cases[] = {{"Q 3 2 0.5", NULL},       {"A 3 1 0.5", NULL},
                 {"S 1 5 2", NULL},         {"A 1 5 0.5", "hides"},
                 {"Q 6 1 1", "no row 6"},   {"z 1 1 1", "edit X, h"},
                 {"Q.3 1 1 1", "2 heads"},  {"Q 1 1 1e999", "beyond float32"},
                 {"Q 1 1 one", "no number"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *argv[] = {"headlight", "--edit", cases[i].edit, "--edit", "h 1 1 1"};
        struct cli c;
        struct err e = {0};
        bool ok = cli_parse(&c, 5, argv, &e);
        if (ok != !cases[i].says) fail_msg("%s: %s", cases[i].edit, e.text);
        if (!ok) assert_int_equal(e.code, ERR_USAGE);
        if (!ok && !strstr(e.text, cases[i].says)) fail_msg("%s", e.text);
        if (!ok) continue;
        struct step_state s = step_initial();
        for (int k = 0; k < c.start.n; k++) (void)step_apply(&s, c.start.at[k]);
        assert_int_equal(step_given_count(&s), 2);
    }
}

/* ---- numbers out ---------------------------------------------------------------------------- */

/* --dump of an edited toy, each of its matrices, and --compare, which agrees with it. */
static void a_dump_of_the_edited_toy_is_that_of_the_pass(void **state)
{
    (void)state;
    static const struct {
        enum attn_tensor t;
        const char *name;
    } parts[] = {{ATTN_H, "h"},
                 {ATTN_X, "x"},
                 {ATTN_Q, "q"},
                 {ATTN_K, "k"},
                 {ATTN_V, "v"},
                 {ATTN_S_RAW, "scores"},
                 {ATTN_S_SCALED, "scaled"},
                 {ATTN_S_MASKED, "masked"},
                 {ATTN_P, "weights"},
                 {ATTN_Z, "z"},
                 {ATTN_Z_ALL, "merged"},
                 {ATTN_Y_PROJ, "y_proj"},
                 {ATTN_Y, "y"},
                 {ATTN_W_O, "w_o"}};
    char folder[] = "/tmp/headlight-edit-XXXXXX";
    char path[64], note[256], name[64];
    struct err e = {0};
    struct source so;
    struct cli cli;
    struct model_npz *z = NULL;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a.npz", folder);
    char *argv[] = {"headlight",
                    "--edit",
                    "w_v.2 3 1 0.75",
                    "--edit",
                    "w_o 2 2 -1",
                    "--edit",
                    "h 1 2 1",
                    "--edit",
                    "x 2 3 -1.5",
                    "--edit",
                    "Q.2 3 2 0.5",
                    "--edit",
                    "s_scaled.1 4 2 1.25",
                    "--edit",
                    "A.2 5 2 0.9",
                    "--stages",
                    "1,2,3,4,5,6,7,w_o,w_qkv",
                    "--dump",
                    path};
    enum { ARGS = sizeof argv / sizeof argv[0] };
    if (!cli_parse(&cli, ARGS, argv, &e)) fail_msg("%s", e.text);
    if (!dump_write(&cli, "test", note, sizeof note, &e)) fail_msg("%s", e.text);
    struct step_state s = step_initial();
    for (int i = 0; i < cli.start.n; i++) (void)step_apply(&s, cli.start.at[i]);
    assert_int_equal(step_given_count(&s), 7);
    assert_true(source_init(&so, 0, &e));
    (void)source_for(&so, &s, true);
    pass_make(&pass, &so.toy_model.model, step_place_of(&s));
    if (!model_npz_open(&z, path, &e)) fail_msg("%s", e.text);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        for (int h = 0; h < 2; h++) {
            bool heads = parts[k].t >= ATTN_Q && parts[k].t <= ATTN_Z;
            struct model_array a = {0};
            int at = 0;
            if (!heads && h > 0) continue;
            dump_name(name, 0, heads ? h : -1, parts[k].name);
            while (at < model_npz_count(z) && strcmp(model_npz_name(z, at), name) != 0)
                at++;
            if (!model_npz_read(z, at, &a, 1 << 20, &e)) fail_msg("%s", e.text);
            for (int64_t i = 0; i < model_array_count(&a); i++) {
                double got = (double)a.data[i];
                double want = *cell_of(&pass, parts[k].t, h, (int)(i / a.shape[1]),
                                       (int)(i % a.shape[1]));
                if (!(got == want || fabs(got - want) <= 2e-5 * (1 + fabs(want))))
                    fail_msg("%s, %d: %.9g, not %.9g", name, (int)i, got, want);
            }
            model_array_free(&a);
        }
    model_npz_close(z);
    source_fini(&so);
    struct compare c;
    argv[ARGS - 4] = "--compare"; /* in place of --stages and --dump */
    argv[ARGS - 3] = path;
    if (!cli_parse(&cli, ARGS - 2, argv, &e)) fail_msg("%s", e.text);
    if (!compare_make(&c, &cli, note, sizeof note, &e)) fail_msg("%s", e.text);
    if (!compare_agrees(&c)) fail_msg("%s", c.text);
    compare_free(&c);
    char *plain[] = {"headlight", "--compare", path};
    assert_true(cli_parse(&cli, 3, plain, &e));
    assert_true(compare_make(&c, &cli, note, sizeof note, &e));
    assert_false(compare_agrees(&c));
    compare_free(&c);
    (void)unlink(path);
    (void)rmdir(folder);
}

int app_edit_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_matrix_of_the_toy_is_followed_from),
        cmocka_unit_test(several_edits_in_several_heads_go_together),
        cmocka_unit_test(h_and_x_of_gpt2s_scale_are_followed_from),
        cmocka_unit_test(derivations_follow_edits),
        cmocka_unit_test(every_head_at_a_glance_is_edited_too),
        cmocka_unit_test(what_an_edit_moves_is_told_from_switches),
        cmocka_unit_test(heads_are_measured_as_far_as_they_are_decoded),
        cmocka_unit_test(an_edit_as_text_leads_back),
        cmocka_unit_test(what_is_no_edit_is_refused),
        cmocka_unit_test(the_command_line_edits_or_says_why_not),
        cmocka_unit_test(a_dump_of_the_edited_toy_is_that_of_the_pass),
    };
    return cmocka_run_group_tests_name("app edit", tests, NULL, NULL);
}
