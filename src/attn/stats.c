/* What was found in the numbers: ranges and oddities of a matrix, one row of softmax
 * taken apart, and what each stage costs. */
#include "kernels.h"

#include <math.h>

/* Where no kernel set has been asked for: all of them count the same. */
static const struct attn_kernels *any_kernels(void)
{
    const struct attn_kernels *k = attn_kernels_get(NULL);
    return k ? k : &attn_kernels_ref;
}

struct attn_stats attn_stats_by(const struct attn_kernels *k, struct attn_cmat m,
                                bool causal)
{
    struct attn_stats st = {.min = INFINITY, .max = -INFINITY};
    int64_t count = 0;
    for (int i = 0; i < m.rows; i++) {
        int n = causal ? attn_min(i + 1, m.cols) : m.cols;
        k->stats(&st, m.data + (size_t)i * m.ld, n);
        count += n;
    }
    count -= st.n_nan + st.n_pos_inf + st.n_neg_inf;
    if (count == 0) {
        st.min = st.max = 0.0f;
        return st;
    }
    st.max_abs = fmaxf(fabsf(st.min), fabsf(st.max));
    st.mean /= (double)count;
    return st;
}

struct attn_stats attn_stats_of(struct attn_cmat m)
{
    return attn_stats_by(any_kernels(), m, false);
}

struct attn_stats attn_stats_causal(struct attn_cmat m)
{
    return attn_stats_by(any_kernels(), m, true);
}

void attn_exp(const struct attn_ctx *c, float *y, const float *x, int n)
{
    c->k->exp(y, x, n);
}

/* Without the maximum: e^(s / temperature) as float32 has it, overflow and all. */
static struct attn_row explain_bare(const struct attn_ctx *c, float *e, const float *s,
                                    int n, float coldness)
{
    struct attn_row row = {.max = 0.0f};
    double sum = 0.0, weighted = 0.0, largest = -1.0;
    float in_float = 0.0f, chunk[64];
    for (int j0 = 0; j0 < n; j0 += 64) {
        int m = attn_min(64, n - j0);
        float *to = e ? e + j0 : chunk;
        for (int j = 0; j < m; j++) to[j] = s[j0 + j] * coldness;
        c->k->exp(to, to, m);
        for (int j = 0; j < m; j++) {
            if (s[j0 + j] == -INFINITY) continue;
            row.n_visible++;
            in_float += to[j];
            sum += (double)to[j];
            if (to[j] > 0.0f)
                weighted += (double)to[j] * (double)s[j0 + j] * (double)coldness;
            if ((double)to[j] > largest) {
                largest = (double)to[j];
                row.top_at = j0 + j;
            }
        }
    }
    row.sum = in_float;
    if (row.n_visible == 0) return row;
    if (!(in_float > 0.0f && in_float < INFINITY)) {
        row.entropy = row.top = NAN;
        return row;
    }
    row.top = (float)(largest / sum);
    row.entropy = (float)fmax(0.0, (log(sum) - weighted / sum) / log(2.0));
    return row;
}

struct attn_row attn_row_explain(const struct attn_ctx *c, float *e, const float *s,
                                 int n)
{
    return attn_row_explain_as(c, e, s, n, attn_opts_default());
}

struct attn_row attn_row_explain_as(const struct attn_ctx *c, float *e, const float *s,
                                    int n, struct attn_opts opts)
{
    struct attn_row row = {.max = -INFINITY};
    float coldness = attn_coldness(opts);
    if (n < 1) return row;
    if (opts.no_max) return explain_bare(c, e, s, n, coldness);
    bool clean = c->k->row_max(&row.max, s, n);
    for (int j = 0; j < n; j++) row.n_visible += s[j] != -INFINITY;
    if (!clean || row.n_visible == 0) {
        for (int j = 0; e && j < n; j++) e[j] = s[j] == -INFINITY ? 0.0f : NAN;
        if (!clean) row.max = row.sum = row.entropy = row.top = NAN;
        return row;
    }
    /* Entropy in bits: log2(sum) - sum of e * (s - max) / (T * sum * ln 2). Without room
     * for e the exps are taken 64 at a time, and top is that of the largest score. */
    double sum = 0.0, weighted = 0.0;
    float chunk[64];
    for (int j0 = 0; j0 < n; j0 += 64) {
        int m = attn_min(64, n - j0);
        float *to = e ? e + j0 : chunk;
        c->k->row_exp(to, s + j0, m, coldness, row.max);
        for (int j = 0; j < m; j++) {
            sum += (double)to[j];
            if (to[j] > 0.0f)
                weighted += (double)to[j] * ((double)s[j0 + j] - (double)row.max);
        }
    }
    while (s[row.top_at] != row.max) row.top_at++;
    row.sum = (float)sum;
    row.top = (float)(1.0 / sum);
    weighted *= (double)coldness;
    row.entropy = (float)fmax(0.0, log2(sum) - weighted / (sum * log(2.0)));
    return row;
}

/* Entropy and largest weight of p as it stands. */
static void weigh(struct attn_row *row, const float *p, int n)
{
    double sum = 0.0, weighted = 0.0;
    bool fine = true;
    row->top = -INFINITY;
    for (int j = 0; j < n; j++) {
        double v = (double)p[j];
        fine = fine && v >= 0.0 && v < (double)INFINITY;
        sum += v;
        if (v > 0.0) weighted += v * log2(v);
        if (!(p[j] > row->top)) continue;
        row->top = p[j];
        row->top_at = j;
    }
    row->top = (float)((double)row->top / sum);
    row->entropy = (float)fmax(0.0, log2(sum) - weighted / sum);
    if (!fine || !(sum > 0.0)) row->top = row->entropy = NAN;
}

struct attn_row attn_trace_row(const struct attn_ctx *c, const struct attn_trace *t,
                               int i, float *e)
{
    int n = t->dims.n_tok;
    struct attn_row row = attn_row_explain_as(
        c, e, t->s_masked.data + (size_t)i * (size_t)t->s_masked.ld, n, t->opts);
    for (int k = 0; k < t->n_edit; k++)
        if (t->edits[k].tensor == ATTN_P && t->edits[k].head == t->head &&
            t->edits[k].row == i) {
            weigh(&row, t->p.data + (size_t)i * (size_t)t->p.ld, n);
            break;
        }
    return row;
}

struct attn_cost attn_cost_of(struct attn_dims d, enum attn_stage s)
{
    uint64_t n = (uint64_t)d.n_tok, w = (uint64_t)d.d_model, h = (uint64_t)d.n_head;
    uint64_t square = n * n * h, seen = n * (n + 1) / 2 * h, f = sizeof(float);
    uint64_t d_head = w / h;
    switch (s) {
    case ATTN_PROJECTIONS:
        return (struct attn_cost){6 * n * w * w, 6 * n * w * w, 0,
                                  (n * w + 3 * w * w + 3 * n * w) * f, 3 * n * w};
    case ATTN_SCORES:
        return (struct attn_cost){2 * square * d_head, 2 * seen * d_head, 0,
                                  (2 * n * w + square) * f, square};
    case ATTN_SCALE:
        return (struct attn_cost){square, seen, 0, 2 * square * f, square};
    case ATTN_MASK:
        return (struct attn_cost){0, 0, 0, 2 * square * f, square};
    case ATTN_SOFTMAX:
        return (struct attn_cost){4 * square, 4 * seen, seen, 2 * square * f, square};
    case ATTN_WEIGHTED_SUM:
        return (struct attn_cost){2 * square * d_head, 2 * seen * d_head, 0,
                                  (square + 2 * n * w) * f, n * w};
    case ATTN_OUTPUT:
        return (struct attn_cost){2 * n * w * w, 2 * n * w * w, 0,
                                  (3 * n * w + w * w) * f, n * w};
    case ATTN_STAGE_COUNT:
        break;
    }
    return (struct attn_cost){0};
}

struct attn_cost attn_cost_block(struct attn_dims d)
{
    struct attn_cost sum = {0};
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        struct attn_cost one = attn_cost_of(d, (enum attn_stage)s);
        sum.flops_dense += one.flops_dense;
        sum.flops_causal += one.flops_causal;
        sum.exps += one.exps;
        sum.bytes += one.bytes;
        sum.cells += one.cells;
    }
    return sum;
}

struct attn_decode_cost attn_cost_decode(struct attn_dims d)
{
    struct attn_dims before = d;
    before.n_tok = d.n_tok - 1;
    uint64_t n = (uint64_t)d.n_tok, w = (uint64_t)d.d_model, f = sizeof(float);
    uint64_t all = attn_cost_block(d).flops_causal;
    return (struct attn_decode_cost){.flops = all - attn_cost_block(before).flops_causal,
                                     .flops_again = all,
                                     .cache_bytes = 2 * n * w * f,
                                     .read_bytes = 2 * (n - 1) * w * f,
                                     .weight_bytes = 4 * w * w * f};
}
