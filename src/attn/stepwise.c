/* Heads out of view as any option has them: their scores, division, softmax and weighted sum
 * one after the other, ROWS rows of a head at a time, so that these stay in cache. Only what a
 * row may see is computed; of S and A nothing is kept.
 *
 *          keys j ->                 a task: ROWS query rows, head after head
 *        +--------------+              S = Q K^T            into scratch
 *      i | s s          |  <- task     S / divisor, A = softmax(S)   row by row
 *      | | s s s        |              Z = A V
 *      v | s s s s      |            and after each of them what opts.precision leaves */
#include "kernels.h"

enum { ROWS = 32, PAD = 16 /* rows of the scratch do not all fall into one cache set */ };

static void tile_scores(const struct attn_stepwise *f, float *s, int ld, int h, int i0,
                        int i1)
{
    const struct attn_kernels *k = f->k;
    int nr = k->nr, d = f->kv->d_head, keys = attn_seen(f->opts, i1 - 1, f->n);
    const float *q = f->qkv.data + (size_t)i0 * f->qkv.ld + (size_t)h * d;
    for (int p = 0; p < keys; p += nr)
        k->gemm(&(struct attn_gemm){
            .c = s + p,
            .ldc = ld,
            .a = q,
            .lda = f->qkv.ld,
            .b = attn_kv_keys(f->kv, k, h) + (size_t)p * d,
            .ldb = nr,
            .m = i1 - i0,
            .n = attn_min(nr, keys - p),
            .k = d,
            .diag = ATTN_DENSE,
            .edge = f->opts.causal ? i0 - p + f->opts.shifted : ATTN_DENSE,
        });
}

static void tile_values(const struct attn_stepwise *f, const float *s, int ld, int h,
                        int i0, int i1)
{
    const struct attn_kernels *k = f->k;
    int nr = k->nr, d = f->kv->d_head, keys = attn_seen(f->opts, i1 - 1, f->n);
    float *z = f->z.data + (size_t)i0 * f->z.ld + (size_t)h * d;
    for (int a0 = 0; a0 < d; a0 += nr) {
        int n = attn_min(nr, d - a0), width = attn_round_up(n, k->vec);
        k->gemm(&(struct attn_gemm){
            .c = z + a0,
            .ldc = f->z.ld,
            .a = s,
            .lda = ld,
            .b = attn_kv_values(f->kv, k, h) + (size_t)f->kv->room * a0,
            .ldb = width,
            .m = i1 - i0,
            .n = n,
            .k = keys,
            .diag = f->opts.causal ? i0 + f->opts.shifted : ATTN_DENSE,
            .edge = ATTN_DENSE,
        });
    }
    for (int i = 0; i < i1 - i0; i++)
        attn_round_floats(f->k, z + (size_t)i * f->z.ld, d, f->opts.precision);
}

/* Task: the rows of a block of all heads. The longest rows come first, so that no thread is
 * left with a long task at the end. */
static void rows_task(const void *arg, int t)
{
    const struct attn_stepwise *f = arg;
    int i0 = ((f->n - 1) / ROWS - t) * ROWS, i1 = attn_min(i0 + ROWS, f->n);
    int ld = attn_min(attn_round_up(f->n, ATTN_VEC_MAX) + PAD, 4 * f->n);
    float *s = f->scratch + (size_t)4 * i0 * f->n;
    for (int h = 0; h < f->kv->n_head; h++) {
        if (h == f->skip || attn_is_silent(f->opts, h)) continue;
        tile_scores(f, s, ld, h, i0, i1);
        for (int i = i0; i < i1; i++) {
            float *row = s + (size_t)(i - i0) * ld;
            int seen = attn_seen(f->opts, i, f->n);
            attn_round_floats(f->k, row, seen, f->opts.precision);
            attn_divide_floats(row, row, seen, f->divisor);
            attn_round_floats(f->k, row, seen, f->opts.precision);
            (void)attn_soften(f->k, row, row, seen, f->opts);
        }
        tile_values(f, s, ld, h, i0, i1);
    }
}

void attn_stepwise_rows(const struct attn_ctx *c, const struct attn_stepwise *f)
{
    attn_parallel(c, (f->n - 1) / ROWS + 1, false, rows_task, f);
}
