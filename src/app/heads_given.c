/* The overview of a run some of whose scores or weights are given: those of every head as
 * the run has them. */
#include "heads.h"
#include "pair.h"

#include <math.h>

static float at(struct attn_cmat m, int i, int j)
{
    return m.data[(size_t)i * (size_t)m.ld + (size_t)j];
}

/* What row i gives to what followed earlier copies of its token. false: there are none. */
static bool induction_of(struct attn_cmat p, int i, const int32_t *ids, double *sum)
{
    bool any = false;
    for (int j = 1; j < i; j++) {
        if (ids[j - 1] != ids[i]) continue;
        *sum += (double)at(p, i, j);
        any = true;
    }
    return any;
}

static double mean_of(double sum, int n)
{
    return n ? sum / n : (double)NAN;
}

void heads_measure(struct attn_head_sum *sum, struct attn_cmat p, struct attn_cmat raw,
                   const int32_t *ids, struct attn_opts opts)
{
    int n_copy = 0;
    double induction = 0.0;
    int n_row = 0;
    int n_later = 0;
    struct attn_head_sum s = {.induction = sum->induction};
    for (int i = 0; i < p.rows; i++) {
        int n = attn_seen(opts, i, p.rows);
        bool whole = true;
        bool spread = true; /* it has one: of what stands there, divided by its sum */
        double all = 0.0;
        double entropy = 0.0;
        for (int j = 0; j < n; j++) {
            double w = (double)at(p, i, j);
            whole = whole && isfinite(w);
            spread = spread && w >= 0.0;
            all += w;
            if (w > 0.0) entropy -= w * log2(w);
            if (isfinite(at(raw, i, j)))
                s.max_abs = fmaxf(s.max_abs, fabsf(at(raw, i, j)));
        }
        s.n_odd += !whole;
        if (!whole) continue;
        n_copy += ids && induction_of(p, i, ids, &induction);
        spread = spread && all > 0.0;
        n_row += spread;
        if (spread) s.entropy += entropy / all + log2(all);
        if (i == 0) continue;
        n_later++;
        s.previous += (double)at(p, i, i - 1);
        s.first += (double)at(p, i, 0);
        s.itself += (double)at(p, i, i);
    }
    s.entropy = mean_of(s.entropy, n_row);
    s.previous = mean_of(s.previous, n_later);
    s.first = mean_of(s.first, n_later);
    s.itself = mean_of(s.itself, n_later);
    if (ids) s.induction = mean_of(induction, n_copy);
    *sum = s;
}

bool heads_given(struct heads *h, const struct attn_trace *t, const struct attn_ctx *c,
                 struct err *e)
{
    struct head_pair pair = {.view.head = -1};
    int n = t->dims.n_tok;
    bool ok = h->side == n; /* a pixel is a cell */
    for (int k = 0; ok && k < t->dims.n_head; k++) {
        ok = pair_make(&pair, t, k, c, e);
        if (!ok) break;
        struct attn_cmat raw = pair.view.second[0];
        struct attn_cmat p = pair.view.second[ATTN_P - ATTN_S_RAW];
        size_t first = (size_t)k * (size_t)n * (size_t)n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < attn_seen(t->opts, i, n); j++) {
                size_t pixel = first + (size_t)i * (size_t)n + (size_t)j;
                h->scores[pixel] = at(raw, i, j);
                h->weights[pixel] = at(p, i, j);
            }
        heads_measure(&h->sum[k], p, raw, NULL, t->opts);
    }
    pair_fini(&pair);
    return ok;
}
