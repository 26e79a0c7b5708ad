/* What has to hold in a run, looked at once for the strip under the title. */
#include "scene.h"

#include <float.h>
#include <math.h>

static float at(struct attn_cmat m, int i, int j)
{
    return m.data[(ptrdiff_t)i * m.ld + j];
}

/* Keeps the largest of what was found, and where; NaN is larger than any number. */
static void worst(double v, double *most, struct step_ref *where, struct step_ref ref)
{
    if (!(v > *most) && !isnan(v)) return;
    if (isnan(*most)) return;
    *most = v;
    *where = ref;
}

static void check_weights(struct scene_checks *c, const struct attn_trace *t,
                          const struct attn_ctx *attn, struct step_pass pass)
{
    struct attn_cmat p = attn_trace_view(t, ATTN_P, t->head);
    struct attn_cmat s = attn_trace_view(t, ATTN_S_MASKED, t->head);
    c->entropy_lo = INFINITY;
    c->entropy_hi = -INFINITY;
    for (int i = pass.from; i < pass.to; i++) {
        double sum = 0;
        for (int j = 0; j < p.cols; j++) {
            sum += (double)at(p, i, j);
            if (j <= i) continue;
            if (at(p, i, j) != 0 && c->n_upper++ == 0)
                c->upper_at = (struct step_ref){ATTN_P, i, j};
            worst(fabs((double)at(p, i, j)), &c->upper, &c->upper_at, c->upper_at);
            if (at(s, i, j) != -INFINITY && c->n_unmasked++ == 0)
                c->unmasked_at = (struct step_ref){ATTN_S_MASKED, i, j};
        }
        worst(fabs(sum - 1), &c->row_sum, &c->row_at, (struct step_ref){ATTN_P, i, 0});
        struct attn_row r = attn_trace_row(attn, t, i, NULL);
        if (isnan(r.entropy)) continue;
        c->entropy_lo = fminf(c->entropy_lo, r.entropy);
        c->entropy_hi = fmaxf(c->entropy_hi, r.entropy);
    }
    if (c->entropy_lo > c->entropy_hi) c->entropy_lo = c->entropy_hi = NAN;
}

/* The quotient is correctly rounded: half a unit in the last place, at most. NaN is the
 * quotient of nothing. */
static void check_scale(struct scene_checks *c, const struct attn_trace *t,
                        struct step_pass pass)
{
    struct attn_cmat s = attn_trace_view(t, ATTN_S_RAW, t->head);
    struct attn_cmat out = attn_trace_view(t, ATTN_S_SCALED, t->head);
    double root = sqrt((double)attn_d_head(t->dims));
    for (int i = pass.from; i < pass.to; i++)
        for (int j = 0; j < s.cols; j++) {
            double want = (double)at(s, i, j) / root, is = (double)at(out, i, j);
            if (is == want) continue; /* an infinity's too */
            worst(fabs(is - want) /
                      (fabs(want) * (double)FLT_EPSILON + (double)FLT_TRUE_MIN),
                  &c->scale, &c->scale_at, (struct step_ref){ATTN_S_SCALED, i, j});
        }
}

static bool is_in(struct attn_stats v, double x)
{
    return x >= (double)v.min && x <= (double)v.max;
}

/* A blend of values with weights that add up to 1 stays between the least and the
 * greatest of them. NaN lies between no numbers, and numbers between no NaN. */
static void check_blend(struct scene_checks *c, const struct attn_trace *t,
                        struct step_pass pass)
{
    struct attn_cmat z = attn_trace_view(t, ATTN_Z, t->head);
    struct attn_stats v = t->stats[ATTN_V];
    for (int i = pass.from; i < pass.to; i++)
        for (int j = 0; j < z.cols; j++) {
            double x = (double)at(z, i, j);
            if (is_in(v, x)) continue;
            worst(x > (double)v.max ? x - (double)v.max : (double)v.min - x, &c->blend,
                  &c->blend_at, (struct step_ref){ATTN_Z, i, j});
        }
    if (c->n_odd[ATTN_V] > 0) worst((double)NAN, &c->blend, &c->blend_at, c->odd[ATTN_V]);
}

static void check_residual(struct scene_checks *c, const struct attn_trace *t,
                           struct step_pass pass)
{
    struct attn_cmat y = attn_trace_view(t, ATTN_Y, t->head);
    struct attn_cmat p = attn_trace_view(t, ATTN_Y_PROJ, t->head);
    for (int i = pass.from; i < pass.to; i++)
        for (int j = 0; j < y.cols; j++) {
            double is = (double)at(y, i, j);
            double want = (double)(at(p, i, j) + at(t->h, i, j));
            if (is == want) continue; /* an infinity's too */
            worst(fabs(is - want), &c->residual, &c->residual_at,
                  (struct step_ref){ATTN_Y, i, j});
        }
}

/* A masked score may be -INFINITY where it is hidden, and nothing else may. */
static bool is_odd(enum attn_tensor t, float v)
{
    return isnan(v) || (isinf(v) && !(t == ATTN_S_MASKED && v < 0));
}

static void find_odd(struct scene_checks *c, const struct attn_trace *t,
                     struct step_pass pass)
{
    for (int id = 0; id < ATTN_TENSOR_COUNT; id++) {
        const struct attn_stats *s = &t->stats[id];
        bool masked = id == ATTN_S_MASKED;
        c->odd[id] = step_no_ref();
        c->n_odd[id] = s->n_nan + s->n_pos_inf + (masked ? 0 : s->n_neg_inf);
        if (c->n_odd[id] == 0) continue;
        struct attn_cmat m = attn_trace_view(t, (enum attn_tensor)id, t->head);
        int i0 = 0, i1 = m.rows, cols = m.cols;
        step_pass_rows(pass, (enum attn_tensor)id, &i0, &i1, &cols);
        for (int i = i0; i < i1 && c->odd[id].tensor == ATTN_TENSOR_COUNT; i++)
            for (int j = 0; j < cols; j++)
                if (is_odd((enum attn_tensor)id, at(m, i, j))) {
                    c->odd[id] = (struct step_ref){(enum attn_tensor)id, i, j};
                    break;
                }
    }
}

void scene_check(struct scene_checks *c, const struct attn_trace *t,
                 const struct attn_ctx *attn)
{
    scene_check_pass(c, t, attn, (struct step_pass){0, t->dims.n_tok});
}

void scene_check_pass(struct scene_checks *c, const struct attn_trace *t,
                      const struct attn_ctx *attn, struct step_pass pass)
{
    const struct step_ref none = step_no_ref();
    *c = (struct scene_checks){.row_at = none,
                               .upper_at = none,
                               .unmasked_at = none,
                               .scale_at = none,
                               .residual_at = none,
                               .blend_at = none};
    find_odd(c, t, pass);
    check_weights(c, t, attn, pass);
    check_scale(c, t, pass);
    check_blend(c, t, pass);
    check_residual(c, t, pass);
    struct attn_cmat seen = attn_trace_view(t, ATTN_S_MASKED, t->head);
    seen.data += (size_t)pass.from * (size_t)seen.ld;
    seen.rows = pass.to - pass.from;
    seen.cols = pass.to;
    /* Behind the first row a pass has one alone, which sees every token that is there. */
    bool all = !t->opts.causal || pass.from > 0;
    c->seen = all ? attn_stats_of(seen) : attn_stats_causal(seen);
}
