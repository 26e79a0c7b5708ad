/* Causal attention of all heads without ever holding an N x N matrix: a block of query
 * rows at a time, its scores in a scratch that stays in cache.
 *
 *          keys j ->                 a task: ROWS query rows of one head
 *        +--------------+            for each block of KEYS keys up to the diagonal:
 *      i | s s s        |              S = Q K^T            into scratch
 *      | | s s s s      |  <- task     e = exp(S - max)     row by row, j <= i alone
 *      v | s s s s s    |              Z = Z*factor + e V   (factor: the maximum moved)
 *        | s s s s s s  |            Z = Z / sum            in the last product
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
    if (values) return (struct attn_mat){values, spare.rows, spare.cols, f->k->nr};
    if (n0 >= f->kv->n_head * f->kv->d_head) return spare;
    return (struct attn_mat){f->q.data + (size_t)m0 * f->q.ld + n0, spare.rows,
                             spare.cols, f->q.ld};
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

static int head_at(const struct job *j, int index)
{
    int skip = j->f->skip;
    return skip >= 0 && index >= skip ? index + 1 : index;
}

/* What a row knows of the keys seen so far. */
struct row_state {
    float max, sum, factor;
};

/* Turns row r of a block of scores into exps; sets the factor for what Z holds. */
static void soften(const struct attn_kernels *k, struct row_state *st, float *s, int n,
                   float scale)
{
    float max;
    st->factor = 1.0f;
    bool clean = k->row_max(&max, s, n);
    if (!clean || max == -INFINITY) { /* NaN spreads by way of the sum */
        for (int j = 0; j < n; j++) s[j] = 0.0f;
        if (!clean) st->sum = NAN;
        return;
    }
    if (max > st->max) {
        st->factor = st->max == -INFINITY ? 0.0f : expf((st->max - max) * scale);
        st->max = max;
    }
    st->sum = st->sum * st->factor + k->row_exp(s, s, n, scale, st->max);
}

static void block_scores(const struct job *j, float *s, int h, int i0, int i1, int j0,
                         int j1)
{
    const struct attn_fused *f = j->f;
    const struct attn_kv *kv = f->kv;
    int nr = j->k->nr, d = kv->d_head;
    const float *q = f->qkv.data + (size_t)(i0 - f->first) * f->qkv.ld + (size_t)h * d;
    for (int p = j0; p < j1; p += nr)
        j->k->gemm(&(struct attn_gemm){
            .c = s + (p - j0),
            .ldc = LD,
            .a = q,
            .lda = f->qkv.ld,
            .b = attn_kv_keys(kv, j->k, h) + (size_t)p * d,
            .ldb = nr,
            .m = i1 - i0,
            .n = attn_min(nr, j1 - p),
            .k = d,
            .diag = ATTN_DENSE,
            .edge = f->opts.causal ? i0 - p : ATTN_DENSE,
        });
}

static void block_values(const struct job *j, const float *s, int h, int i0, int i1,
                         int j0, int j1, const float *inv)
{
    const struct attn_fused *f = j->f;
    const struct attn_kv *kv = f->kv;
    int nr = j->k->nr, d = kv->d_head;
    float *z = f->z.data + (size_t)(i0 - f->first) * f->z.ld + (size_t)h * d;
    for (int a0 = 0; a0 < d; a0 += nr) {
        int n = attn_min(nr, d - a0), width = attn_round_up(n, j->k->vec);
        j->k->gemm(&(struct attn_gemm){
            .c = z + a0,
            .ldc = f->z.ld,
            .a = s,
            .lda = LD,
            .b = attn_kv_values(kv, j->k, h) + (size_t)kv->room * a0 + (size_t)j0 * width,
            .ldb = width,
            .m = i1 - i0,
            .n = n,
            .k = j1 - j0,
            .diag = f->opts.causal ? i0 - j0 : ATTN_DENSE,
            .edge = ATTN_DENSE,
            .add = j0 > 0,
            .row_scale = inv,
        });
    }
}

/* Softmax's part in a block of keys: rows i0..i1-1 of head h. */
static void block_soften(const struct job *j, struct row_state *st, float *s, int h,
                         int i0, int i1, int j0, int j1)
{
    const struct attn_fused *f = j->f;
    int d = f->kv->d_head;
    float scale = attn_scale_factor(f->opts, d);
    /* Rows that lie wholly before the block see nothing of it. */
    for (int i = f->opts.causal ? attn_max(i0, j0) : i0; i < i1; i++) {
        struct row_state *row = &st[i - i0];
        int n = f->opts.causal ? attn_min(j1, i + 1) - j0 : j1 - j0;
        soften(j->k, row, s + (size_t)(i - i0) * LD, n, scale);
        if (row->factor == 1.0f || j0 == 0) continue;
        float *z = f->z.data + (size_t)(i - f->first) * f->z.ld + (size_t)h * d;
        for (int a = 0; a < d; a++) z[a] *= row->factor;
    }
}

/* Task: one head's rows i0..i1-1. The longest rows come first, so that no thread is
 * left with a long task at the end. */
static void rows_task(const void *arg, int t)
{
    const struct job *j = arg;
    const struct attn_fused *f = j->f;
    int h = head_at(j, t / j->n_row_block);
    int block = (f->n - 1) / ROWS - t % j->n_row_block;
    int i0 = attn_max(block * ROWS, f->first), i1 = attn_min((block + 1) * ROWS, f->n);
    int keys = f->opts.causal ? i1 : f->n;
    _Alignas(ATTN_ALIGN) float s[ROWS * LD];
    struct row_state st[ROWS];
    float inv[ROWS];
    for (int r = 0; r < ROWS; r++) st[r] = (struct row_state){.max = -INFINITY};
    for (int j0 = 0; j0 < keys; j0 += KEYS) {
        int j1 = attn_min(j0 + KEYS, keys);
        bool last = j1 == keys;
        block_scores(j, s, h, i0, i1, j0, j1);
        block_soften(j, st, s, h, i0, i1, j0, j1);
        for (int r = 0; last && r < i1 - i0; r++)
            inv[r] = st[r].sum == 0.0f ? 1.0f : 1.0f / st[r].sum;
        block_values(j, s, h, i0, i1, j0, j1, last ? inv : NULL);
    }
}

void attn_fused_rows(const struct attn_ctx *c, const struct attn_fused *f)
{
    struct job j = {.k = c->k, .f = f, .n_head = f->kv->n_head - (f->skip >= 0)};
    j.n_row_block = (f->n - 1) / ROWS - f->first / ROWS + 1;
    attn_parallel(c, j.n_head * j.n_row_block, true, rows_task, &j);
}
