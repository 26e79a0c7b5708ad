/* Causal attention of all heads without ever holding an N x N matrix: a block of query
 * rows at a time, its scores in a scratch that stays in cache.
 *
 *          keys j ->                 a task: ROWS query rows of one head
 *        +--------------+            for each block of KEYS keys up to the diagonal:
 *      i | s s s        |              S = Q K^T            into scratch
 *      | | s s s s      |  <- task     e = exp(S - max)     row by row, j <= i alone
 *      v | s s s s s    |              Z = Z*factor + e V   (factor: the maximum moved)
 *        | s s s s s s  |            Z = Z * (1 / sum)      in the last product
 *        +--------------+
 *
 * With up to KEYS keys that is softmax in two passes; beyond, the running maximum and
 * sum of Milakov and Gimelshein 2018, sec. 3. Each row is summed in ascending order of j
 * with the same block bounds whatever rows are asked for, so redoing a row gives the same
 * bits. */
#include "kernels.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 48,     /* query rows in a task: a multiple of every tile's height */
    KEYS = 1024,   /* 48 x 1024 floats are 192 KiB */
    LD = KEYS + 16 /* rows of the scratch do not all fall into one cache set */
};

size_t attn_kv_floats(struct attn_dims d)
{
    size_t d_head = (size_t)attn_d_head(d), heads = (size_t)d.n_head;
    size_t keys = (size_t)attn_round_up(d.n_tok, ATTN_NR_MAX);
    size_t width = (size_t)attn_round_up((int)d_head, ATTN_VEC_MAX);
    return heads * keys * (d_head + width);
}

static size_t kt_floats(const struct attn_kv *kv, const struct attn_kernels *k)
{
    return (size_t)attn_round_up(kv->room, k->nr) * kv->d_head;
}

static size_t v_floats(const struct attn_kv *kv, const struct attn_kernels *k)
{
    return (size_t)kv->room * attn_round_up(kv->d_head, k->vec);
}

float *attn_kv_keys(const struct attn_kv *kv, const struct attn_kernels *k, int h)
{
    return kv->kt + h * kt_floats(kv, k);
}

float *attn_kv_values(const struct attn_kv *kv, const struct attn_kernels *k, int h)
{
    return kv->v + h * v_floats(kv, k);
}

struct attn_kv attn_kv_at(float *mem, struct attn_dims d)
{
    size_t kt = (size_t)attn_round_up(d.n_tok, ATTN_NR_MAX) * d.d_model;
    return (struct attn_kv){mem, mem + kt, d.n_tok, attn_d_head(d), d.n_head};
}

/* Columns a..a+from.cols-1 of one head's keys, of the tokens from i0 on. */
static void fill_keys(const struct attn_kv_fill *f, float *kt, struct attn_cmat from,
                      int a, int i0)
{
    int nr = f->k->nr, d = f->kv->d_head;
    for (int r0 = 0, r1; r0 < from.rows; r0 = r1) {
        int i = i0 + r0;
        r1 = attn_min(r0 + nr - i % nr, from.rows); /* end of this panel */
        float *to = kt + (size_t)(i / nr) * nr * d + (size_t)a * nr + i % nr;
        f->k->transpose(to, nr, from.data + (size_t)r0 * from.ld, from.ld, r1 - r0,
                        from.cols);
    }
}

/* The same of its values, all in one panel of columns. */
static void fill_values(const struct attn_kv_fill *f, float *v, struct attn_cmat from,
                        int a, int i0)
{
    int nr = f->k->nr, a0 = a / nr * nr, n = from.cols;
    int width = attn_round_up(attn_min(nr, f->kv->d_head - a0), f->k->vec);
    int pad = a + n == f->kv->d_head ? width - (a - a0) - n : 0;
    v += (size_t)f->kv->room * a0 + (a - a0);
    for (int r = 0; r < from.rows; r++) {
        float *to = v + (size_t)(i0 + r) * width;
        memcpy(to, from.data + (size_t)r * from.ld, (size_t)n * sizeof *to);
        for (int c = n; c < n + pad; c++) to[c] = 0.0f;
    }
}

/* The panel of values that columns n0... of the projection are, its row of token i; NULL
 * where they are something else. */
static float *values_panel(const struct attn_kv_fill *f, int n0, int i)
{
    int d = f->kv->d_head, width = f->kv->n_head * d, nr = f->k->nr;
    int h = (n0 - 2 * width) / d, a0 = n0 % d;
    if (n0 < 2 * width || d % nr != 0) return NULL;
    return attn_kv_values(f->kv, f->k, h) + (size_t)f->kv->room * a0 + (size_t)i * nr;
}

struct attn_mat attn_kv_place(const void *fill, struct attn_mat spare, int m0, int n0)
{
    const struct attn_kv_fill *f = fill;
    float *values = values_panel(f, n0, f->first + m0);
    int d = f->kv->d_head;
    if (values) return (struct attn_mat){values, spare.rows, spare.cols, f->k->nr};
    if (n0 >= f->kv->n_head * d) return spare;
    return (struct attn_mat){f->q.data + (size_t)(n0 / d) * f->q.head +
                                 (size_t)m0 * f->q.ld + n0 % d,
                             spare.rows, spare.cols, (int)f->q.ld};
}

void attn_kv_fill(const void *fill, struct attn_cmat part, int m0, int n0)
{
    const struct attn_kv_fill *f = fill;
    int d = f->kv->d_head, width = f->kv->n_head * d, nr = f->k->nr;
    int i0 = f->first + m0, n1 = n0 + part.cols;
    if (part.data == values_panel(f, n0, i0)) return;
    for (int c = attn_max(n0, width), n; c < n1; c += n) {
        int h = c % width / d, a = c % d;
        n = attn_min(n1 - c, d - a);
        if (c >= 2 * width) n = attn_min(n, nr - a % nr);
        struct attn_cmat from = attn_ccolumns(part, c - n0, n);
        if (c < 2 * width)
            fill_keys(f, attn_kv_keys(f->kv, f->k, h), from, a, i0);
        else
            fill_values(f, attn_kv_values(f->kv, f->k, h), from, a, i0);
    }
}

struct job {
    const struct attn_kernels *k;
    const struct attn_fused *f;
    int n_head; /* taken part in: all, or all but one */
    int n_row_block;
};

/* A task: query rows i0..i1-1 of head h. The longest rows come first, so that no thread is
 * left with a long task at the end. Row blocks are counted from the last row: the first
 * task of a head, for which its keys come into cache, is a whole one. */
struct task {
    int h, i0, i1;
};

static struct task task_at(const struct job *j, int t)
{
    const struct attn_fused *f = j->f;
    int h = t / j->n_row_block, i1 = f->n - t % j->n_row_block * ROWS;
    if (f->skip >= 0 && h >= f->skip) h++;
    return (struct task){h, attn_max(i1 - ROWS, f->first), i1};
}

static const float *queries(const struct attn_fused *f, struct task t)
{
    return f->q.data + (size_t)t.h * f->q.head + (size_t)(t.i0 - f->first) * f->q.ld;
}

/* What a task's last product and its first one are to fetch. */
struct ahead {
    const float *q, *kt, *v;
    size_t n_q, n_kv;
};

/* The next task's queries. And in place of the keys and values that this task was the last
 * to need, those of the next head: the second cache has room for one head's. */
static struct ahead look_ahead(const struct job *j, int t)
{
    const struct attn_kv *kv = j->f->kv;
    struct ahead a = {0};
    if (t + 1 == j->n_head * j->n_row_block) return a;
    struct task now = task_at(j, t), next = task_at(j, t + 1);
    if (j->f->q.ld == (size_t)kv->d_head) { /* in one piece */
        a.q = queries(j->f, next);
        a.n_q = (size_t)(next.i1 - next.i0) * j->f->q.ld;
    }
    int after = t + j->n_row_block;
    if (after >= j->n_head * j->n_row_block) return a;
    int h = task_at(j, after).h;
    a.n_kv = (size_t)(now.i1 - now.i0) * kv->d_head;
    a.kt = attn_kv_keys(kv, j->k, h) + (size_t)now.i0 * kv->d_head;
    a.v = attn_kv_values(kv, j->k, h) + (size_t)now.i0 * kv->d_head;
    return a;
}

/* What a row knows of the keys seen so far. */
struct row_state {
    float max, sum, factor; /* factor: for what Z holds, once max has moved */
    int n;                  /* scores of the present block that have a weight */
};

/* Row r of a block of scores: raises the maximum. */
static void see_row(const struct attn_kernels *k, struct row_state *st, float *s, int n,
                    float scale)
{
    float max;
    st->factor = 1.0f;
    st->n = n;
    bool clean = k->row_max(&max, s, n);
    if (!clean || max == -INFINITY) { /* NaN spreads by way of the sum */
        for (int j = 0; j < n; j++) s[j] = 0.0f;
        if (!clean) st->sum = NAN;
        st->n = 0;
    } else if (max > st->max) {
        st->factor = st->max == -INFINITY ? 0.0f : expf((st->max - max) * scale);
        st->max = max;
    }
}

/* What product p of block_scores fetches: the first one the next head's keys, one in the
 * last block of keys the next task's queries, the others the panel after theirs. The very
 * last panel may be narrow, and its product too short to fetch much. */
static void fetch_ahead(struct attn_gemm *g, const struct ahead *ahead, int p, int j0,
                        int j1, bool last)
{
    int for_q = j1 - j0 > g->ldb ? j0 + g->ldb : j0;
    if (last && p == for_q) {
        g->next = ahead->q;
        g->n_next = ahead->n_q;
    } else if (p == 0) {
        g->next = ahead->kt;
        g->n_next = ahead->n_kv;
    } else if (p + g->ldb < j1) {
        g->n_next = (size_t)g->k * g->ldb;
        g->next = g->b + g->n_next;
    }
}

static void block_scores(const struct job *j, float *s, struct task t, int j0, int j1,
                         bool last, const struct ahead *ahead)
{
    const struct attn_fused *f = j->f;
    int nr = j->k->nr, d = f->kv->d_head;
    for (int p = j0; p < j1; p += nr) {
        struct attn_gemm g = {
            .c = s + (p - j0),
            .ldc = LD,
            .a = queries(f, t),
            .lda = (int)f->q.ld,
            .b = attn_kv_keys(f->kv, j->k, t.h) + (size_t)p * d,
            .ldb = nr,
            .m = t.i1 - t.i0,
            .n = attn_min(nr, j1 - p),
            .k = d,
            .diag = ATTN_DENSE,
            .edge = f->opts.causal ? t.i0 - p : ATTN_DENSE,
        };
        fetch_ahead(&g, ahead, p, j0, j1, last);
        j->k->gemm(&g);
    }
}

static void block_values(const struct job *j, const float *s, struct task t, int j0,
                         int j1, const float *inv, const struct ahead *ahead)
{
    const struct attn_fused *f = j->f;
    const struct attn_kv *kv = f->kv;
    int nr = j->k->nr, d = kv->d_head;
    float *z = f->z.data + (size_t)(t.i0 - f->first) * f->z.ld + (size_t)t.h * d;
    for (int a0 = 0; a0 < d; a0 += nr) {
        int n = attn_min(nr, d - a0), width = attn_round_up(n, j->k->vec);
        j->k->gemm(&(struct attn_gemm){
            .c = z + a0,
            .ldc = f->z.ld,
            .a = s,
            .lda = LD,
            .b = attn_kv_values(kv, j->k, t.h) + (size_t)kv->room * a0 +
                 (size_t)j0 * width,
            .ldb = width,
            .m = t.i1 - t.i0,
            .n = n,
            .k = j1 - j0,
            .diag = f->opts.causal ? t.i0 - j0 : ATTN_DENSE,
            .edge = ATTN_DENSE,
            .add = j0 > 0,
            .row_scale = inv,
            .next = inv ? ahead->v : NULL,
            .n_next = inv ? ahead->n_kv : 0,
        });
    }
}

/* Softmax's part in a block of keys. All maxima come first: a row's exps would wait for
 * its own. */
static void block_soften(const struct job *j, struct row_state *st, float *s,
                         struct task t, int j0, int j1)
{
    const struct attn_fused *f = j->f;
    int d = f->kv->d_head;
    float scale = attn_scale_factor(f->opts, d);
    /* Rows that lie wholly before the block see nothing of it. */
    int from = f->opts.causal ? attn_max(t.i0, j0) : t.i0;
    for (int i = from; i < t.i1; i++)
        see_row(j->k, &st[i - t.i0], s + (size_t)(i - t.i0) * LD,
                f->opts.causal ? attn_min(j1, i + 1) - j0 : j1 - j0, scale);
    for (int i = from; i < t.i1; i++) {
        struct row_state *row = &st[i - t.i0];
        float *e = s + (size_t)(i - t.i0) * LD;
        row->sum *= row->factor;
        if (row->n > 0) row->sum += j->k->row_exp(e, e, row->n, scale, row->max);
        if (row->factor == 1.0f || j0 == 0) continue;
        float *z = f->z.data + (size_t)(i - f->first) * f->z.ld + (size_t)t.h * d;
        for (int a = 0; a < d; a++) z[a] *= row->factor;
    }
}

static void rows_task(const void *arg, int index)
{
    const struct job *j = arg;
    const struct task t = task_at(j, index);
    const struct ahead ahead = look_ahead(j, index);
    int keys = j->f->opts.causal ? t.i1 : j->f->n;
    _Alignas(ATTN_ALIGN) float s[ROWS * LD];
    struct row_state st[ROWS];
    float inv[ROWS];
    for (int r = 0; r < ROWS; r++) st[r] = (struct row_state){.max = -INFINITY};
    for (int j0 = 0; j0 < keys; j0 += KEYS) {
        int j1 = attn_min(j0 + KEYS, keys);
        bool last = j1 == keys;
        block_scores(j, s, t, j0, j1, last, &ahead);
        block_soften(j, st, s, t, j0, j1);
        for (int r = 0; last && r < t.i1 - t.i0; r++)
            inv[r] = st[r].sum == 0.0f ? 1.0f : 1.0f / st[r].sum;
        block_values(j, s, t, j0, j1, last ? inv : NULL, &ahead);
    }
}

void attn_fused_rows(const struct attn_ctx *c, const struct attn_fused *f)
{
    struct job j = {.k = c->k, .f = f, .n_head = f->kv->n_head - (f->skip >= 0)};
    j.n_row_block = (f->n - f->first + ROWS - 1) / ROWS;
    attn_parallel(c, j.n_head * j.n_row_block, true, rows_task, &j);
}
