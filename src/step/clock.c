/* The animation's clock: which beat a stage's time falls in, and back.
 *
 * Beats run over the share of time between intro and outro. With n beats, the first taking
 * the share f, beat k >= 1 begins at
 *
 *     f + (1 - f) * G((k - 1) / (n - 1)),    G(v) = v * (1 + q - q*v),
 *
 * so that durations fall in a straight line, from 1 + q to 1 - q times their mean. */
#include "step.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

enum {
    CELLS_ONE_BY_ONE = 200, /* more cells than this: whole rows sweep */
    ROWS_ONE_BY_ONE = 24    /* more rows than this: all take the same time */
};
#define QUICKEN 0.6 /* q, where the first beat is long enough: 1.6 falls to 0.4 */

enum beat_kind {
    BEAT_NONE,
    BEAT_CELLS_HEAD,
    BEAT_SCORES,
    BEAT_DIAGONALS,
    BEAT_ROWS,
    BEAT_CELLS_MODEL
};

/* Choreography: seconds, and shares of them. */
static const struct motion {
    enum beat_kind kind;
    float seconds, intro, outro, first;
} motions[ATTN_STAGE_COUNT] = {
    /* clang-format off */
    [ATTN_PROJECTIONS]  = {BEAT_CELLS_HEAD,  3.0f, 0.12f, 0.0f,  0.28f},
    [ATTN_SCORES]       = {BEAT_SCORES,      3.0f, 0.12f, 0.0f,  0.28f},
    [ATTN_SCALE]        = {BEAT_NONE,        1.6f, 0.0f,  0.0f,  0.0f},
    [ATTN_MASK]         = {BEAT_DIAGONALS,   2.0f, 0.1f,  0.0f,  0.0f},
    [ATTN_SOFTMAX]      = {BEAT_ROWS,        2.8f, 0.1f,  0.0f,  0.3f},
    [ATTN_WEIGHTED_SUM] = {BEAT_ROWS,        3.0f, 0.18f, 0.0f,  0.3f},  /* the grid slides */
    [ATTN_OUTPUT]       = {BEAT_CELLS_MODEL, 3.0f, 0.2f,  0.22f, 0.25f}, /* heads slide; + h */
    /* clang-format on */
};

/* Cells of the result in one of its rows; 1 where beats are rows or diagonals anyway. */
static int cells_a_row(enum beat_kind kind, struct attn_dims d)
{
    switch (kind) {
    case BEAT_CELLS_HEAD:
        return d.d_model / d.n_head;
    case BEAT_SCORES:
        return d.n_tok;
    case BEAT_CELLS_MODEL:
        return d.d_model;
    case BEAT_NONE:
    case BEAT_DIAGONALS:
    case BEAT_ROWS:
        break;
    }
    return 1;
}

/* Of `rows` rows from row0 on; dims.n_tok: tokens that there are. */
static struct step_clock clock_of(enum attn_stage stage, struct attn_dims dims, int row0,
                                  int rows)
{
    assert((unsigned)stage < ATTN_STAGE_COUNT);
    assert(dims.n_tok >= 1 && dims.n_head >= 1 && dims.d_model >= dims.n_head);
    const struct motion *m = &motions[stage];
    int n = rows, a_row = cells_a_row(m->kind, dims);
    if ((int64_t)rows * a_row <= CELLS_ONE_BY_ONE)
        n *= a_row;
    else
        a_row = 1;
    if (m->kind == BEAT_NONE) n = 1;
    if (m->kind == BEAT_DIAGONALS && n > 1) n--; /* j - i = 1 .. n_tok - 1 */
    bool sweep = a_row == 1 && n > ROWS_ONE_BY_ONE;
    float even = 1.0f / (float)n;
    return (struct step_clock){
        .seconds = m->seconds,
        .intro = m->intro,
        .outro = m->outro,
        .first = sweep ? even : fmaxf(m->first, even),
        .n_beat = n,
        .beats_a_row = a_row,
        .row0 = row0,
    };
}

struct step_clock step_clock_of(enum attn_stage stage, struct attn_dims dims)
{
    return clock_of(stage, dims, 0, dims.n_tok);
}

struct step_clock step_clock_at(const struct step_state *s, enum attn_stage stage)
{
    struct attn_dims dims = step_place_of(s)->dims;
    struct step_pass pass = step_pass_of(s);
    dims.n_tok = pass.to;
    return clock_of(stage, dims, pass.from, pass.to - pass.from);
}

/* q of G: at most QUICKEN, and small enough for beat 1 to be no longer than beat 0. */
static double quicken(const struct step_clock *c)
{
    double f = (double)c->first;
    if (f >= 1.0) return 0.0;
    double most = (f * c->n_beat - 1.0) / (1.0 - f);
    return fmin(QUICKEN, fmax(most, 0.0));
}

float step_beat_start(const struct step_clock *c, int at)
{
    assert(at >= 0 && at <= c->n_beat);
    if (at == 0) return c->intro;
    if (at == c->n_beat) return 1.0f - c->outro;
    double q = quicken(c), v = (at - 1) / (double)(c->n_beat - 1);
    double f = (double)c->first, share = f + (1.0 - f) * v * (1.0 + q - q * v);
    double beats = 1.0 - (double)c->intro - (double)c->outro;
    return (float)((double)c->intro + beats * share);
}

/* The beat in which t lies, intro <= t < 1 - outro, up to rounding. */
static int beat_near(const struct step_clock *c, float t)
{
    double beats = 1.0 - (double)c->intro - (double)c->outro, f = (double)c->first;
    double share = ((double)t - (double)c->intro) / beats;
    if (share < f || c->n_beat == 1) return 0;
    double g = (share - f) / (1.0 - f), q = quicken(c);
    /* G(v) = g: the smaller root, in the form that q = 0 does not divide by. */
    double root = sqrt(fmax((1.0 + q) * (1.0 + q) - 4.0 * q * g, 0.0));
    double v = 2.0 * g / (1.0 + q + root);
    return 1 + (int)fmin(v * (c->n_beat - 1), c->n_beat - 2);
}

struct step_beat step_beat_at(const struct step_clock *c, float t)
{
    assert(t >= 0.0f && t <= 1.0f);
    struct step_beat b = {.intro = 1.0f};
    if (t < c->intro) {
        b.intro = t / c->intro;
        return b;
    }
    float end = step_beat_start(c, c->n_beat);
    if (t >= end) {
        b.at = c->n_beat;
        b.outro = t < 1.0f ? (t - end) / (1.0f - end) : 1.0f;
        return b;
    }
    /* step_beat_start decides, so that the two are exact inverses. */
    b.at = beat_near(c, t);
    while (b.at > 0 && t < step_beat_start(c, b.at)) b.at--;
    while (t >= step_beat_start(c, b.at + 1)) b.at++;
    float from = step_beat_start(c, b.at), to = step_beat_start(c, b.at + 1);
    b.part = (t - from) / (to - from);
    return b;
}

float step_ease(float t)
{
    return t * t * (3.0f - 2.0f * t); /* the cubic with slope 0 at both ends */
}
