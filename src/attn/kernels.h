/* What one instruction set supplies, and the pool's and the GEMM driver's inside.
 *
 * kernels_ref.c says in plain loops what each member means; the others agree with it
 * within rounding. Nothing here allocates, and no member reads or writes outside the
 * elements its comment names. */
#ifndef HEADLIGHT_ATTN_KERNELS_H
#define HEADLIGHT_ATTN_KERNELS_H

#include "attn.h"

enum {
    ATTN_ALIGN = 64,    /* bytes: a cache line, and the widest vector */
    ATTN_NR_MAX = 64,   /* widest panel of any set, in floats */
    ATTN_VEC_MAX = 16,  /* longest vector of any set, in floats */
    ATTN_QKV_PAD = 16,  /* between rows of Q, K, V, which would share cache sets at 768 */
    ATTN_K_BLOCK = 384, /* terms packed at a time where B is not packed for good */
    ATTN_DENSE = 1 << 30 /* attn_gemm.diag or edge that forbids nothing */
};

/* C = act(A*B * row_scale + bias) + res, one panel wide. Terms are added in ascending
 * order of the inner index, whatever the tile, so how C is cut into calls changes no
 * bit. Row r takes the terms kk <= diag + r and touches no other, so that a forbidden
 * NaN does not arrive. */
struct attn_gemm {
    float *c;       /* [m, n] */
    const float *a; /* [m, k] */
    const float *b; /* [k, n], rows readable up to n rounded up to the vector width */
    int ldc, lda, ldb;
    int m, n, k; /* n <= nr */
    int diag;
    int edge;               /* elements j > edge + r of row r may stay unwritten */
    bool add;               /* the sum starts from C, not from 0 */
    bool gelu;              /* act: GPT-2's tanh form, without res; else none */
    const float *bias;      /* [n] or NULL */
    const float *row_scale; /* [m] or NULL */
    const float *res;       /* [m, n] or NULL, rows ldr apart; added last */
    int ldr;
    const float *next; /* n_next floats that are worth fetching into cache meanwhile */
    size_t n_next;
};

struct attn_kernels {
    const char *name;
    int vec; /* floats in a vector */
    int nr;  /* panel width, a multiple of vec, at most ATTN_NR_MAX */
    int mr;  /* rows of the register tile */
    void (*gemm)(const struct attn_gemm *g);
    /* to[j * ld_to + i] = from[i * ld + j] for i < rows, j < cols. */
    void (*transpose)(float *to, int ld_to, const float *from, int ld, int rows,
                      int cols);
    /* Largest of s[0..n-1] in *max; false where one is NaN or +INFINITY. n >= 1. */
    bool (*row_max)(float *max, const float *s, int n);
    /* e[j] = exp((s[j] - max) * scale); returns their sum. s holds no NaN. e may be s.
     * The difference comes first: it is 0 for the largest score however large that is,
     * where s*scale - max*scale would be off by a rounding of max*scale. */
    float (*row_exp)(float *e, const float *s, int n, float scale, float max);
    void (*row_div)(float *p, const float *e, int n, float sum); /* p[j] = e[j] / sum */
    /* To p, which is not float32: attn_rounded of each. */
    void (*round)(float *v, int n, enum attn_precision p);
    void (*exp)(float *y, const float *x, int n); /* any x; correct to 1 ulp or so */
    /* Adds n elements to what *st holds. st->mean is the plain sum until the end. */
    void (*stats)(struct attn_stats *st, const float *s, int n);
};

extern const struct attn_kernels attn_kernels_ref;
extern const struct attn_kernels attn_kernels_avx2;
extern const struct attn_kernels attn_kernels_avx512;
extern const struct attn_kernels attn_kernels_neon;

/* ---- pool.c ------------------------------------------------------------------------ */

/* Runs fn(arg, t) for t in 0..n-1, each once, on the pool's threads and this one, and
 * returns when all are done. Threads take the tasks in order: one at a time, or, where
 * runs is true, in runs that shorten towards the end, so that neighbours share caches.
 * After *cancel becomes nonzero the tasks left are not begun. */
void attn_parallel(const struct attn_ctx *c, int n, bool runs,
                   void (*fn)(const void *arg, int t), const void *arg);
int attn_pool_size(const struct attn_pool *p); /* 1 for NULL */

/* ---- gemm.c ------------------------------------------------------------------------ */

/* C = gelu(A * B (+ bias)) or A * B (+ bias) (+ res), any size. B is [a.cols, c.cols] in
 * panels laid out by attn_pack_all, or, where panels is NULL, the view b, plain or
 * transposed. Shapes have been checked. causal: row i takes the terms k <= i alone. */
struct attn_product {
    struct attn_mat c;
    struct attn_cmat a, b;
    const float *panels;
    bool b_transposed;
    bool causal;
    bool gelu;
    const float *bias;
    struct attn_cmat res; /* data = NULL: none */
    /* If not NULL, with panels alone: where the part of C goes that begins at row m0 and
     * column n0 and is as large as spare, which lasts until then has returned. c.data is
     * not used. */
    struct attn_mat (*place)(const void *arg, struct attn_mat spare, int m0, int n0);
    /* If not NULL, called for each part by the task that has just finished it. */
    void (*then)(const void *arg, struct attn_cmat part, int m0, int n0);
    const void *arg; /* theirs */
};
void attn_multiply(const struct attn_ctx *c, const struct attn_product *p);

/* Copies rows k0..k0+k-1 and columns n0..n0+n-1 of B to panel [k][width], zeros from
 * column n on. Transposed: of B's transpose. */
void attn_pack_panel(float *panel, int width, struct attn_cmat b, bool transposed, int k0,
                     int k, int n0, int n);

/* B in panels of nr columns, the last as wide as it must be: attn_panel_floats of them. */
void attn_pack_all(const struct attn_kernels *k, float *to, struct attn_cmat b);
void attn_unpack_all(const struct attn_kernels *k, struct attn_mat b, const float *from);
size_t attn_panel_floats(const struct attn_kernels *k, int rows, int cols);
/* The first address in mem that is aligned to ATTN_ALIGN. */
float *attn_aligned(void *mem);

/* ---- fused.c ----------------------------------------------------------------------- */

/* Keys and values of all heads, laid out for the kernels, for up to `room` tokens:
 *   kt  n_head x panels of nr keys, each [d_head, nr]
 *   v   n_head x panels of nr columns, each [room, width] */
struct attn_kv {
    float *kt, *v;
    int room, d_head, n_head;
};
size_t attn_kv_floats(struct attn_dims d); /* enough for any kernel set */
struct attn_kv attn_kv_at(float *mem, struct attn_dims d);

/* Where the queries lie: of row i and head h, data + h * head + i * ld. */
struct attn_queries {
    float *data;
    size_t ld, head;
};

/* What attn_product needs to put the keys and values of a projection where the kernels
 * want them, while they are in cache. Row 0 of the projection is token first. With
 * attn_kv_place they go there alone, and the queries to q. */
struct attn_kv_fill {
    const struct attn_kernels *k;
    const struct attn_kv *kv;
    int first;
    struct attn_queries q; /* rows as wide as whole panels that begin in them */
};
struct attn_mat attn_kv_place(const void *fill, struct attn_mat spare, int m0, int n0);
void attn_kv_fill(const void *fill, struct attn_cmat part, int m0, int n0);

/* Z of the rows first..n-1, all heads but skip (-1: none). q and z begin at row first; kv
 * holds all n. */
struct attn_fused {
    struct attn_mat z; /* [n - first, d_model] */
    struct attn_queries q;
    const struct attn_kv *kv;
    struct attn_opts opts;
    int first, n, skip;
};
void attn_fused_rows(const struct attn_ctx *c, const struct attn_fused *f);

/* Of head h: its panels of keys, and of values. */
float *attn_kv_keys(const struct attn_kv *kv, const struct attn_kernels *k, int h);
float *attn_kv_values(const struct attn_kv *kv, const struct attn_kernels *k, int h);

/* ---- stepwise.c --------------------------------------------------------------------- */

/* Z of all heads but skip and those that are silent, stage by stage, whatever the options.
 * qkv, of which Q is read, has been swapped and rounded, and kv holds its keys and
 * values. */
struct attn_stepwise {
    const struct attn_kernels *k;
    struct attn_mat z;    /* [n, d_model] */
    struct attn_cmat qkv; /* [n, d_model or more] */
    const struct attn_kv *kv;
    struct attn_opts opts;
    double divisor;
    int n, skip;
    float *scratch; /* 4 * n * n */
};
void attn_stepwise_rows(const struct attn_ctx *c, const struct attn_stepwise *f);

/* ---- block.c ----------------------------------------------------------------------- */

/* The panels of packed weights; NULL where p is NULL or was packed for another kernel set
 * or other dims. */
const float *attn_packed_qkv(const struct attn_packed *p, const struct attn_kernels *k,
                             struct attn_dims d);
const float *attn_packed_o(const struct attn_packed *p, const struct attn_kernels *k,
                           struct attn_dims d);

/* ---- attn.c ------------------------------------------------------------------------ */

bool attn_mat_is(struct attn_cmat m, int rows, int cols);
struct attn_cmat attn_const(struct attn_mat m);
/* Columns from..from+n-1. */
struct attn_mat attn_columns(struct attn_mat m, int from, int n);
struct attn_cmat attn_ccolumns(struct attn_cmat m, int from, int n);
float attn_scale_factor(struct attn_opts o, int d_head); /* 1 where scaling is off */
bool attn_opts_fused_heads(struct attn_opts o);
float attn_coldness(struct attn_opts o); /* 1 / temperature */
/* attn_stats_of and attn_stats_causal by the kernels of a run. */
struct attn_stats attn_stats_by(const struct attn_kernels *k, struct attn_cmat m,
                                bool causal);
void attn_round_floats(const struct attn_kernels *k, float *v, int n,
                       enum attn_precision p);
/* out = in / divisor, n of them, correctly rounded; out may be in. */
void attn_divide_floats(float *out, const float *in, int n, double divisor);
/* Softmax of one row as o has it; p may be s. ODD: NaN or +INFINITY among the scores.
 * EMPTY: nothing but -INFINITY, and p is 0. */
enum attn_row_kind { ATTN_ROW_FULL, ATTN_ROW_EMPTY, ATTN_ROW_ODD };
enum attn_row_kind attn_soften(const struct attn_kernels *k, float *p, const float *s,
                               int n, struct attn_opts o);

static inline int attn_round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}
/* Place for n floats after *used, which keeps ATTN_ALIGN. */
static inline size_t attn_take(size_t *used, size_t n)
{
    size_t at = *used, unit = ATTN_ALIGN / sizeof(float);
    *used += (n + unit - 1) / unit * unit;
    return at;
}
static inline int attn_min(int a, int b)
{
    return a < b ? a : b;
}
static inline int attn_max(int a, int b)
{
    return a > b ? a : b;
}

#endif
