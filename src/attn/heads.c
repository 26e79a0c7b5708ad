/* Every head of a block at a glance: a small image of its scores and of its weights, and
 * what the rows of weights add up to. A task is a head; it holds ROWS rows of scores.
 *
 *          j ->                     image            pixel (a, b): of the cells whose
 *        +-----------+             +------+          i * side / n is a and whose
 *      i | s         |   side      | x    |          j * side / n is b, the one of
 *      | | s s       |  ------>    | x x  |          largest magnitude; a row of
 *      v | s s s     |             | x x x|          pixels is gathered column by
 *        | s s s s   |             +------+          column, then across             */
#include "kernels.h"

#include <math.h>

enum { ROWS = 32 };

int attn_heads_side(int n_tok)
{
    return attn_min(n_tok, ATTN_HEADS_SIDE);
}

/* One head's part of work, in floats. Rows do not all fall into one cache set. */
struct share {
    size_t ld, kt, total;
};

static struct share share_of(struct attn_dims d)
{
    struct share s;
    size_t n = (size_t)attn_round_up(d.n_tok, ATTN_NR_MAX);
    s.ld = n + 16;
    s.kt = n * (size_t)attn_d_head(d);
    s.total = s.kt + (ROWS + 4) * s.ld; /* the tile, a row of weights, three columns */
    return s;
}

/* Floats that hold n ints. */
static size_t int_floats(int n)
{
    return (size_t)attn_round_up(n, 16);
}

size_t attn_heads_bytes(struct attn_dims d)
{
    if (attn_dims_check(d) != ATTN_OK) return 0;
    return (int_floats(d.n_tok) + share_of(d).total * (size_t)d.n_head) * sizeof(float) +
           ATTN_ALIGN;
}

struct job {
    const struct attn_kernels *k;
    const struct attn_heads_out *out;
    struct attn_cmat qkv;
    struct attn_opts opts;
    struct attn_dims d;
    const int *before; /* [n_tok] the last earlier token with the same id; -1: none */
    float *work;
};

/* What one task has in hand. */
struct hand {
    const struct job *j;
    int h, side;
    struct share share;
    float *kt, *tile, *p;
    float *hi, *lo, *weight; /* [n_tok] of the row of pixels being gathered */
    double entropy, previous, first, itself, induction;
    int64_t n_row, n_later, n_induction, n_odd;
    float max_abs;
};

static void pack_keys(const struct hand *w)
{
    const struct job *j = w->j;
    int d = attn_d_head(j->d), nr = j->k->nr, n_tok = j->d.n_tok;
    int part = j->opts.swapped ? 0 : j->d.d_model;
    struct attn_cmat keys = attn_ccolumns(j->qkv, part + w->h * d, d);
    for (int n0 = 0; n0 < n_tok; n0 += nr) {
        int n = attn_min(nr, n_tok - n0);
        attn_pack_panel(w->kt + (size_t)d * n0, attn_round_up(n, j->k->vec), keys, true,
                        0, d, n0, n);
    }
}

/* Scores of rows i0..i1-1, row i at tile + (i - i0) * ld, up to the diagonal at least. */
static void tile_scores(const struct hand *w, int i0, int i1)
{
    const struct job *j = w->j;
    int d = attn_d_head(j->d), nr = j->k->nr;
    int keys = attn_seen(j->opts, i1 - 1, j->d.n_tok);
    int part = j->opts.swapped ? j->d.d_model : 0;
    const float *q =
        j->qkv.data + (size_t)i0 * j->qkv.ld + (size_t)part + (size_t)w->h * d;
    for (int n0 = 0; n0 < keys; n0 += nr) {
        /* as wide as packed: the last keys of a panel may lie behind those wanted */
        int n = attn_min(nr, j->d.n_tok - n0);
        j->k->gemm(&(struct attn_gemm){.c = w->tile + n0,
                                       .ldc = (int)w->share.ld,
                                       .a = q,
                                       .lda = j->qkv.ld,
                                       .b = w->kt + (size_t)d * n0,
                                       .ldb = attn_round_up(n, j->k->vec),
                                       .m = i1 - i0,
                                       .n = n,
                                       .k = d,
                                       .diag = ATTN_DENSE,
                                       .edge = j->opts.causal ? i0 - n0 + j->opts.shifted
                                                              : ATTN_DENSE});
    }
    for (int i = i0; i < i1; i++)
        attn_round_floats(j->k, w->tile + (size_t)(i - i0) * w->share.ld,
                          attn_seen(j->opts, i, j->d.n_tok), j->opts.precision);
}

/* ---- images ------------------------------------------------------------------------- */

static void begin_pixels(const struct hand *w)
{
    for (int j = 0; j < w->j->d.n_tok; j++) {
        w->hi[j] = -INFINITY;
        w->lo[j] = INFINITY;
        w->weight[j] = 0.0f;
    }
}

/* n scores and their weights. Comparisons are false for a NaN, so one that is held stays
 * held. */
static void gather(float *restrict hi, float *restrict lo, float *restrict weight,
                   const float *restrict s, const float *restrict p, int n)
{
    for (int j = 0; j < n; j++) {
        hi[j] = s[j] > hi[j] ? s[j] : hi[j];
        lo[j] = s[j] < lo[j] ? s[j] : lo[j];
        weight[j] = p[j] > weight[j] ? p[j] : weight[j];
    }
}

static void gather_nan(const struct hand *w, const float *s, int n)
{
    for (int j = 0; j < n; j++) {
        if (isnan(s[j])) w->hi[j] = s[j];
        if (isnan(w->p[j])) w->weight[j] = w->p[j];
    }
}

static float larger(float a, float b)
{
    return isnan(a) || fabsf(a) >= fabsf(b) ? a : b;
}

/* Row a of both images from what has been gathered. */
static void end_pixels(struct hand *w, int a)
{
    int n = w->j->d.n_tok, side = w->side;
    size_t at = ((size_t)w->h * side + (size_t)a) * side;
    float *scores = w->j->out->scores + at, *weights = w->j->out->weights + at;
    for (int b = 0; b < side; b++) {
        scores[b] = -INFINITY;
        weights[b] = 0.0f;
    }
    for (int j = 0; j < n; j++) {
        if (w->hi[j] < w->lo[j]) continue; /* no row sees it */
        int b = (int)((int64_t)j * side / n);
        float s = larger(w->hi[j], w->lo[j]);
        scores[b] = scores[b] == -INFINITY ? s : larger(scores[b], s);
        weights[b] = larger(weights[b], w->weight[j]);
        if (isfinite(s)) w->max_abs = fmaxf(w->max_abs, fabsf(s));
    }
}

/* ---- measures ----------------------------------------------------------------------- */

/* The row's weights into w->p. false: it holds NaN or +INFINITY, or nothing but
 * -INFINITY, and is in no mean. */
static bool weigh(struct hand *w, const float *s, int n)
{
    const struct job *j = w->j;
    attn_divide_floats(w->p, s, n, attn_divisor_of(j->opts, j->d));
    attn_round_floats(j->k, w->p, n, j->opts.precision);
    bool whole = attn_soften(j->k, w->p, w->p, n, j->opts) == ATTN_ROW_FULL;
    for (int a = 0; whole && j->opts.no_max && a < n; a++) whole = !isnan(w->p[a]);
    w->n_odd += !whole;
    return whole;
}

/* Sum of -p log2 p over the row. With x = s - max, p = exp(x) / z, so that it is
 * log2 z - sum of p x / ln 2: one logarithm a row. z = 1 / p where x = 0. */
static double entropy_of(const float *p, const float *s, int n, double root)
{
    double max = (double)s[0], weighted = 0.0, sum = 0.0, top = 0.0;
    for (int j = 1; j < n; j++) max = (double)s[j] > max ? (double)s[j] : max;
    for (int j = 0; j < n; j++) {
        double pj = (double)p[j];
        sum += pj;
        top = pj > top ? pj : top;
        weighted += pj > 0.0 ? pj * ((double)s[j] - max) : 0.0;
    }
    if (!(top > 0.0)) return 0.0;
    return fmax(0.0, log2(sum / top) - weighted / (root * sum * log(2.0)));
}

static void measure(struct hand *w, const float *s, int i, int n)
{
    const struct job *j = w->j;
    const float *p = w->p;
    double root = attn_divisor_of(j->opts, j->d) / (double)attn_coldness(j->opts);
    w->entropy += entropy_of(p, s, n, root);
    w->n_row++;
    if (i == 0) return; /* it sees itself alone, which says nothing of the head */
    w->previous += (double)p[i - 1];
    w->first += (double)p[0];
    w->itself += (double)p[i];
    w->n_later++;
    if (!j->before) return;
    bool any = false;
    for (int at = j->before[i]; at >= 0; at = j->before[at]) {
        if (at + 1 == i) continue; /* what came after it is the token itself */
        w->induction += (double)p[at + 1];
        any = true;
    }
    w->n_induction += any;
}

static void head_task(const void *arg, int h)
{
    const struct job *j = arg;
    struct hand w = {
        .j = j, .h = h, .side = attn_heads_side(j->d.n_tok), .share = share_of(j->d)};
    w.kt = j->work + w.share.total * (size_t)h;
    w.tile = w.kt + w.share.kt;
    w.p = w.tile + ROWS * w.share.ld;
    w.hi = w.p + w.share.ld;
    w.lo = w.hi + w.share.ld;
    w.weight = w.lo + w.share.ld;
    int n_tok = j->d.n_tok, pixel = 0;
    pack_keys(&w);
    begin_pixels(&w);
    for (int i = 0; i < n_tok; i++) {
        if (i % ROWS == 0) tile_scores(&w, i, attn_min(i + ROWS, n_tok));
        const float *s = w.tile + (size_t)(i % ROWS) * w.share.ld;
        int n = attn_seen(j->opts, i, n_tok), a = (int)((int64_t)i * w.side / n_tok);
        if (a != pixel) {
            end_pixels(&w, pixel);
            begin_pixels(&w);
            pixel = a;
        }
        bool clean = weigh(&w, s, n);
        if (clean) measure(&w, s, i, n);
        gather(w.hi, w.lo, w.weight, s, w.p, n);
        if (!clean) gather_nan(&w, s, n);
    }
    end_pixels(&w, pixel);
    j->out->sum[h] = (struct attn_head_sum){
        .entropy = w.n_row ? w.entropy / (double)w.n_row : (double)NAN,
        .previous = w.n_later ? w.previous / (double)w.n_later : (double)NAN,
        .first = w.n_later ? w.first / (double)w.n_later : (double)NAN,
        .itself = w.n_later ? w.itself / (double)w.n_later : (double)NAN,
        .induction = w.n_induction ? w.induction / (double)w.n_induction : (double)NAN,
        .max_abs = w.max_abs,
        .n_odd = w.n_odd};
}

enum attn_status attn_heads(const struct attn_ctx *c, const struct attn_heads_out *out,
                            struct attn_cmat qkv, const int32_t *ids,
                            struct attn_opts opts, struct attn_dims d, void *work,
                            size_t bytes)
{
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    if (attn_dims_check(d) != ATTN_OK || !attn_mat_is(qkv, d.n_tok, 3 * d.d_model))
        return ATTN_BAD_SHAPE;
    if (!work || bytes < attn_heads_bytes(d)) return ATTN_NO_ROOM;
    float *at = attn_aligned(work);
    int *before = (int *)(void *)at;
    for (int i = 0; ids && i < d.n_tok; i++) {
        before[i] = i - 1;
        while (before[i] >= 0 && ids[before[i]] != ids[i]) before[i]--;
    }
    const struct job job = {.k = c->k,
                            .out = out,
                            .qkv = qkv,
                            .opts = opts,
                            .d = d,
                            .before = ids ? before : NULL,
                            .work = at + int_floats(d.n_tok)};
    attn_parallel(c, d.n_head, false, head_task, &job);
    return ATTN_OK;
}
