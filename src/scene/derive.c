/* Where a number came from: its operands, and its sum made anew in float64 from them. */
#include "scene.h"

#include <float.h>
#include <math.h>

/* ---- series ------------------------------------------------------------------------------ */

float derive_number(const struct derive_series *s, int k)
{
    return s->data[(ptrdiff_t)k * s->step];
}

struct step_ref derive_ref(const struct derive_series *s, int k)
{
    return (struct step_ref){s->first.tensor, s->first.row + k * s->d_row,
                             s->first.col + k * s->d_col};
}

double derive_term(const struct scene_derivation *d, int k)
{
    return (double)derive_number(&d->a, k) * (double)derive_number(&d->b, k);
}

static struct attn_cmat view(const struct scene_source *src, enum attn_tensor t)
{
    return attn_trace_view(src->trace, t, src->trace->head);
}

static float cell(struct attn_cmat m, int i, int j)
{
    return m.data[(ptrdiff_t)i * m.ld + j];
}

static struct derive_series row_of(const struct scene_source *src, enum attn_tensor t,
                                   int i)
{
    struct attn_cmat m = view(src, t);
    return (struct derive_series){
        .data = m.data + (ptrdiff_t)i * m.ld, .step = 1, .first = {t, i, 0}, .d_col = 1};
}

static struct derive_series column_of(const struct scene_source *src, enum attn_tensor t,
                                      int j)
{
    struct attn_cmat m = view(src, t);
    return (struct derive_series){
        .data = m.data + j, .step = m.ld, .first = {t, 0, j}, .d_row = 1};
}

static struct derive_series one_cell(const struct scene_source *src, enum attn_tensor t,
                                     int i, int j)
{
    struct derive_series s = row_of(src, t, i);
    s.data += j;
    s.first.col = j;
    return s;
}

/* ---- one function a kind ------------------------------------------------------------------ */

/* Whatever the order of summation, |error| <= n eps sum |a b| (Higham 2002, sec. 3.1);
 * bias and residual are two additions more. */
static void dot(struct scene_derivation *d)
{
    double mass = 0;
    d->kind = DERIVE_DOT;
    d->sum = 0;
    for (int k = 0; k < d->n; k++) {
        double term = derive_term(d, k);
        d->sum += term;
        mass += fabs(term);
    }
    if (d->bias) {
        d->sum += (double)*d->bias;
        mass += fabs((double)*d->bias);
    }
    if (d->plus.tensor != ATTN_TENSOR_COUNT) {
        d->sum += (double)d->plus_value;
        mass += fabs((double)d->plus_value);
    }
    d->bound = (d->n + 2) * (double)FLT_EPSILON * mass + (double)FLT_MIN;
}

/* Mean and variance in two passes, as attn_layer_norm takes them. */
static void norm(struct scene_derivation *d, const struct scene_source *src)
{
    int i = d->ref.row, n = src->trace->dims.d_model;
    if (!(src->ln_eps > 0)) return; /* given */
    d->kind = DERIVE_NORM;
    d->a = row_of(src, ATTN_H, i);
    d->n = n;
    d->at = d->ref.col;
    for (int k = 0; k < n; k++) d->mean += (double)derive_number(&d->a, k) / n;
    for (int k = 0; k < n; k++) {
        double v = (double)derive_number(&d->a, k) - d->mean;
        d->variance += v * v / n;
    }
    d->eps = (double)src->ln_eps;
    d->gain = src->ln_gain ? (double)src->ln_gain[d->at] : 1;
    d->shift = src->ln_bias ? (double)src->ln_bias[d->at] : 0;
    double x = ((double)derive_number(&d->a, d->at) - d->mean) /
               sqrt(d->variance + d->eps) * d->gain;
    d->sum = x + d->shift;
    d->bound = (double)FLT_EPSILON * (fabs(x) + fabs(d->shift)) + (double)FLT_MIN;
}

static void projection(struct scene_derivation *d, const struct scene_source *src)
{
    const struct attn_trace *t = src->trace;
    int which = (int)d->ref.tensor - (int)ATTN_Q, d_head = attn_d_head(t->dims);
    d->a = row_of(src, ATTN_X, d->ref.row);
    /* The trace shows swapped W_Q and W_K in each other's place, but not their biases. */
    d->b = column_of(src, (enum attn_tensor)(ATTN_W_Q + which), d->ref.col);
    if (t->opts.swapped && which < 2) which = 1 - which;
    d->n = t->dims.d_model;
    if (t->w.b_qkv && !t->opts.no_bias)
        d->bias = t->w.b_qkv + (size_t)which * (size_t)t->dims.d_model +
                  (size_t)t->head * (size_t)d_head + d->ref.col;
    dot(d);
}

static void divide(struct scene_derivation *d, const struct scene_source *src)
{
    const struct attn_trace *t = src->trace;
    d->kind = DERIVE_DIVIDE;
    d->a = one_cell(src, ATTN_S_RAW, d->ref.row, d->ref.col);
    d->n = 1;
    d->divisor = attn_divisor_of(t->opts, t->dims);
    d->sum = (double)derive_number(&d->a, 0) / d->divisor;
    d->bound = (double)FLT_EPSILON * fabs(d->sum) + (double)FLT_MIN;
}

static void mask(struct scene_derivation *d, const struct scene_source *src)
{
    d->kind = DERIVE_MASK;
    d->a = one_cell(src, ATTN_S_SCALED, d->ref.row, d->ref.col);
    d->n = 1;
    d->hidden =
        d->ref.col >= attn_seen(src->trace->opts, d->ref.row, src->trace->dims.n_tok);
    d->sum = d->hidden ? -(double)INFINITY : (double)derive_number(&d->a, 0);
}

/* s - max is rounded once, which e^ turns into eps/2 |s - max| of its value; the sum and
 * the quotient add their own. */
static void softmax(struct scene_derivation *d, const struct scene_source *src)
{
    int n = src->trace->dims.n_tok;
    d->kind = DERIVE_SOFTMAX;
    d->a = row_of(src, ATTN_S_MASKED, d->ref.row);
    d->n = n;
    d->at = d->ref.col;
    d->max = -(double)INFINITY;
    for (int k = 0; k < n; k++) d->max = fmax(d->max, (double)derive_number(&d->a, k));
    struct attn_opts o = src->trace->opts;
    double heat = d->heat = o.temperature > 0 ? (double)o.temperature : 1;
    if (o.no_max) d->max = 0;
    double far = 0;
    for (int k = 0; k < n; k++) {
        double s = ((double)derive_number(&d->a, k) - d->max) / heat, e = exp(s);
        d->total += e;
        if (e > 0) far -= e * s;
    }
    double own = (double)derive_number(&d->a, d->at), s = (own - d->max) / heat;
    d->sum = own == -(double)INFINITY ? 0 : exp(s) / d->total;
    double relative = n + 8 + (d->sum > 0 ? fabs(s) + fabs(far) / d->total : 0);
    d->bound = relative * (double)FLT_EPSILON * d->sum + (double)FLT_MIN;
}

static void blend(struct scene_derivation *d, const struct scene_source *src)
{
    const struct attn_trace *t = src->trace;
    d->a = row_of(src, ATTN_P, d->ref.row);
    d->b = column_of(src, ATTN_V, d->ref.col);
    d->n = attn_seen(t->opts, d->ref.row, t->dims.n_tok);
    dot(d);
    d->silent = attn_is_silent(t->opts, t->head);
    d->total = d->sum;
    if (d->silent) d->sum = 0;
}

static void side_by_side(struct scene_derivation *d, const struct scene_source *src)
{
    const struct attn_trace *t = src->trace;
    int d_head = attn_d_head(t->dims);
    d->head = d->ref.col / d_head;
    d->kind = d->head == t->head ? DERIVE_SAME : DERIVE_HEAD;
    d->sum = (double)d->value;
    if (d->kind == DERIVE_HEAD) return;
    d->a = one_cell(src, ATTN_Z, d->ref.row, d->ref.col % d_head);
    d->n = 1;
    d->sum = (double)derive_number(&d->a, 0);
}

static void output(struct scene_derivation *d, const struct scene_source *src)
{
    const struct attn_trace *t = src->trace;
    d->a = row_of(src, ATTN_Z_ALL, d->ref.row);
    d->b = column_of(src, ATTN_W_O, d->ref.col);
    d->n = t->dims.d_model;
    if (t->w.b_o && !t->opts.no_bias) d->bias = t->w.b_o + d->ref.col;
    if (d->ref.tensor == ATTN_Y && t->opts.residual) {
        d->plus = (struct step_ref){ATTN_H, d->ref.row, d->ref.col};
        d->plus_value = cell(t->h, d->ref.row, d->ref.col);
    }
    dot(d);
}

/* A stage's result is rounded once more where a shorter format is asked for. */
static void widen(struct scene_derivation *d, enum attn_precision p)
{
    static const double unit[ATTN_PRECISION_COUNT] = {
        [ATTN_BFLOAT16] = 0x1p-8, [ATTN_FLOAT16] = 0x1p-11};
    if (p != ATTN_FLOAT32 && isfinite(d->sum))
        d->bound += 3 * unit[p] * (fabs(d->sum) + fabs((double)d->value)) + 0x1p-24;
}

bool scene_derive(struct scene_derivation *d, const struct scene_source *src,
                  struct step_ref ref)
{
    *d = (struct scene_derivation){.ref = ref, .plus = step_no_ref()};
    if (!src->trace || (unsigned)ref.tensor >= ATTN_TENSOR_COUNT) return false;
    struct attn_cmat m = view(src, ref.tensor);
    if (!m.data || ref.row < 0 || ref.col < 0 || ref.row >= m.rows || ref.col >= m.cols)
        return false;
    d->value = cell(m, ref.row, ref.col);
    d->sum = (double)d->value;
    switch (ref.tensor) {
    case ATTN_X:
        norm(d, src);
        break;
    case ATTN_Q:
    case ATTN_K:
    case ATTN_V:
        projection(d, src);
        break;
    case ATTN_S_RAW:
        d->a = row_of(src, ATTN_Q, ref.row);
        d->b = row_of(src, ATTN_K, ref.col);
        d->n = attn_d_head(src->trace->dims);
        dot(d);
        break;
    case ATTN_S_SCALED:
        divide(d, src);
        break;
    case ATTN_S_MASKED:
        mask(d, src);
        break;
    case ATTN_P:
        softmax(d, src);
        break;
    case ATTN_Z:
        blend(d, src);
        break;
    case ATTN_Z_ALL:
        side_by_side(d, src);
        break;
    case ATTN_Y_PROJ:
    case ATTN_Y:
        output(d, src);
        break;
    default: /* h and the weights */
        break;
    }
    widen(d, src->trace->opts.precision);
    d->given = scene_given_at(src, ref) != NULL;
    if (!d->given) return true;
    d->was = d->kind != DERIVE_GIVEN ? (float)d->sum : NAN;
    if (d->kind == DERIVE_GIVEN && src->ungiven) {
        struct attn_cmat was =
            attn_trace_view(src->ungiven, ref.tensor, src->trace->head);
        if (was.data) d->was = cell(was, ref.row, ref.col);
    }
    return true;
}

/* Matrices that a stage draws. */
static bool is_drawn(enum attn_stage stage, enum attn_tensor t)
{
    switch (t) {
    case ATTN_S_RAW:
    case ATTN_S_SCALED:
    case ATTN_S_MASKED:
        return stage >= ATTN_SCORES && stage <= ATTN_SOFTMAX;
    case ATTN_P:
        return stage >= ATTN_SCORES && stage <= ATTN_WEIGHTED_SUM;
    case ATTN_Q:
    case ATTN_K:
        return stage == ATTN_PROJECTIONS || stage == ATTN_SCORES;
    case ATTN_V:
        return stage == ATTN_PROJECTIONS || stage == ATTN_WEIGHTED_SUM;
    case ATTN_H:
        return stage == ATTN_OUTPUT;
    default:
        return t != ATTN_TENSOR_COUNT && step_home_of(t) == stage;
    }
}

struct step_ref scene_kept_cell(const struct step_state *s)
{
    static const enum attn_tensor grid[] = {[ATTN_SCORES] = ATTN_S_RAW,
                                            [ATTN_SCALE] = ATTN_S_SCALED,
                                            [ATTN_MASK] = ATTN_S_MASKED,
                                            [ATTN_SOFTMAX] = ATTN_P};
    if (step_is_covered(s)) return step_no_ref();
    if (step_field_is_open(s)) return s->field.at;
    struct step_ref r = step_cell_of(s);
    if (s->dive.n > 0) return r;
    if (!is_drawn(s->stage, r.tensor)) return step_no_ref();
    bool score = r.tensor >= ATTN_S_RAW && r.tensor <= ATTN_P;
    if (score && s->stage <= ATTN_SOFTMAX) r.tensor = grid[s->stage];
    return r;
}

struct step_ref scene_cell_of(const struct step_state *s)
{
    if (s->hover.tensor == ATTN_TENSOR_COUNT || step_is_covered(s))
        return scene_kept_cell(s);
    return is_drawn(s->stage, s->hover.tensor) ? s->hover : step_no_ref();
}

static bool series_has(const struct derive_series *s, int n, struct step_ref r)
{
    int i = r.row - s->first.row, j = r.col - s->first.col, k = s->d_row ? i : j;
    return s->data && r.tensor == s->first.tensor && k >= 0 && k < n &&
           i == k * s->d_row && j == k * s->d_col;
}

bool scene_is_operand(const struct scene_derivation *d, struct step_ref r)
{
    bool added = d->plus.tensor != ATTN_TENSOR_COUNT && step_ref_is(d->plus, r);
    return added || series_has(&d->a, d->n, r) || series_has(&d->b, d->n, r);
}

bool scene_derive_agrees(const struct scene_derivation *d)
{
    double v = (double)d->value;
    if (isnan(v) || isnan(d->sum)) return isnan(v) && isnan(d->sum);
    return v == d->sum || fabs(v - d->sum) <= d->bound;
}

/* ---- which of many are shown ---------------------------------------------------------------- */

/* What an operand weighs: its term, its share of the row. NaN is largest. */
static double weight(const struct scene_derivation *d, int k)
{
    double v =
        d->kind == DERIVE_DOT ? fabs(derive_term(d, k)) : (double)derive_number(&d->a, k);
    return isnan(v) ? (double)INFINITY : v;
}

int scene_derive_shown(const struct scene_derivation *d, int most, bool by_place, int *at)
{
    int m = 0;
    if (d->kind != DERIVE_DOT && d->kind != DERIVE_SOFTMAX) return 0;
    if (most > d->n) most = d->n;
    for (int k = 0; k < d->n; k++) { /* insertion into a short list kept in order */
        int to = m;
        while (to > 0 && !(weight(d, at[to - 1]) >= weight(d, k))) to--;
        if (to >= most) continue;
        if (m < most) m++;
        for (int i = m - 1; i > to; i--) at[i] = at[i - 1];
        at[to] = k;
    }
    bool there = d->kind != DERIVE_SOFTMAX || m == 0;
    for (int i = 0; i < m; i++) there = there || at[i] == d->at;
    if (!there) at[m - 1] = d->at;
    if (!by_place) return m;
    for (int i = 1; i < m; i++)
        for (int j = i; j > 0 && at[j - 1] > at[j]; j--) {
            int k = at[j];
            at[j] = at[j - 1];
            at[j - 1] = k;
        }
    return m;
}
