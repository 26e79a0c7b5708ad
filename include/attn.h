/* attn: causal self-attention, stage by stage and as one fused block.
 *
 * Pure C, float32, row-major. Uses libm and threads and nothing else. Nothing here prints
 * or exits, and nothing but attn_pool_create allocates: the caller gives the memory,
 * functions return a status.
 *
 * Three vocabularies, tied together once:
 *
 *   paper        code             shape                        GPT-2 tensor
 *   h            h                [n_tok, d_model]             the residual stream
 *   X            x                [n_tok, d_model]             output of ln_1
 *   W_Q W_K W_V  w_qkv, b_qkv     [d_model, 3*d_model], [3*d_model]
 *                                                              h.<l>.attn.c_attn.weight, .bias
 *   Q K V        q k v            [n_tok, d_model], three views of one
 *                                 [n_tok, 3*d_model]; head h = columns h*d_head...
 *   S, A         s_raw s_scaled   n_head x [n_tok, n_tok]; row = query, column = key
 *                s_masked p
 *   O            z                [n_tok, d_model], heads side by side
 *   W_O, Y       w_o b_o, y       [d_model, d_model] [d_model], [n_tok, d_model]
 *                                                              h.<l>.attn.c_proj.weight, .bias
 *
 * Counts are n_tok n_head, widths d_model d_head, indices i (query) j (key) h (head).
 * Arguments run: context, outputs, inputs, sizes.
 *
 * In short (tests/package/example.c is whole):
 *
 *   struct attn_ctx c = {.k = attn_kernels_get(NULL)};
 *   struct attn_dims d = {.n_tok = 4, .d_model = 8, .n_head = 2};
 *   void *mem = malloc(attn_trace_bytes(d));
 *   struct attn_trace t;
 *   attn_trace_init(&t, d, mem, attn_trace_bytes(d));
 *   attn_run(&c, &t, x, h, &weights, attn_opts_default(), 0);
 *   struct attn_cmat p = attn_trace_view(&t, ATTN_P, 0);
 *
 * Large buffers (packed weights, work, traces) are read in long strides: memory in large
 * pages (on Linux aligned to 2 MiB and given to madvise with MADV_HUGEPAGE) is faster by
 * some percent. Any memory works. */
#ifndef HEADLIGHT_ATTN_H
#define HEADLIGHT_ATTN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* View of float32 storage owned by someone else. Row-major: element (i, j) is
 * data[i*ld + j]; ld >= cols, counted in elements. */
struct attn_mat {
    float *data;
    int rows, cols, ld;
};
struct attn_cmat {
    const float *data;
    int rows, cols, ld;
};

enum attn_status { ATTN_OK, ATTN_BAD_SHAPE, ATTN_NO_ROOM, ATTN_BAD_OPTS };
const char *attn_status_text(enum attn_status s);

struct attn_dims {
    int n_tok, d_model, n_head; /* d_head = d_model / n_head, exactly */
};
/* ATTN_BAD_SHAPE where a count is < 1, heads do not divide d_model, or a buffer's
 * size would not fit a size_t or an index an int. */
enum attn_status attn_dims_check(struct attn_dims d);
int attn_d_head(struct attn_dims d);

/* The seven stages, in order; on screen they count from 1. */
enum attn_stage {
    ATTN_PROJECTIONS,
    ATTN_SCORES,
    ATTN_SCALE,
    ATTN_MASK,
    ATTN_SOFTMAX,
    ATTN_WEIGHTED_SUM,
    ATTN_OUTPUT,
    ATTN_STAGE_COUNT
};

/* What S is divided by. The first is right (Vaswani et al. 2017, sec. 3.2.1), the others
 * are the usual mistakes. */
enum attn_divisor {
    ATTN_SQRT_D_HEAD,
    ATTN_D_HEAD,
    ATTN_SQRT_D_MODEL,
    ATTN_DIVISOR_COUNT
};
/* What every stage's result is rounded to, to nearest even; it is held as float32. */
enum attn_precision { ATTN_FLOAT32, ATTN_BFLOAT16, ATTN_FLOAT16, ATTN_PRECISION_COUNT };
enum { ATTN_SILENT_MOST = 64 /* heads that attn_opts.silent can name */ };

/* How a block is computed. attn_opts_default() is right; everything else takes a stage out
 * or does it wrong, to show what it is there for. */
struct attn_opts {
    bool scale;    /* S is divided; by what: divisor */
    bool causal;   /* j > i is forbidden */
    bool residual; /* + h in the output projection */
    /* From here on 0 is right. Stage by stage alone: see attn_opts_fused. */
    /* The mask is one off: j > i + 1 is forbidden; row i sees what it should predict. */
    bool shifted;
    bool no_max;  /* softmax does not subtract the row's maximum */
    bool no_bias; /* b_qkv and b_o are left out */
    bool swapped; /* Q is X * W_K and K is X * W_Q */
    enum attn_divisor divisor;
    enum attn_precision precision;
    float temperature; /* softmax(S / temperature), 2^-100 to 2^100; 0 stands for 1 */
    uint64_t silent;   /* bit h: O of head h < ATTN_SILENT_MOST is 0 */
};
struct attn_opts attn_opts_default(void);
bool attn_opts_same(struct attn_opts a, struct attn_opts b); /* the same numbers */
/* ATTN_BAD_OPTS: a temperature that is neither 0 nor 2^-100 to 2^100, an enum out of
 * range. */
enum attn_status attn_opts_check(struct attn_opts o);
/* Whether attn_block can do it: scale, causal and residual are on or off, the rest is
 * right. */
bool attn_opts_fused(struct attn_opts o);
/* What S is divided by: 1 where scale is off. */
double attn_divisor_of(struct attn_opts o, struct attn_dims d);
/* Keys that row i of n may see: 0 .. attn_seen() - 1. */
int attn_seen(struct attn_opts o, int i, int n);
bool attn_is_silent(struct attn_opts o, int head);
/* v rounded to nearest even; beyond the format's range an infinity. */
float attn_rounded(float v, enum attn_precision p);

struct attn_packed; /* the same weights laid out by attn_pack */

/* One block's weights. Biases may be NULL. */
struct attn_weights {
    struct attn_cmat w_qkv;           /* [d_model, 3*d_model] */
    const float *b_qkv;               /* [3*d_model] or NULL */
    struct attn_cmat w_o;             /* [d_model, d_model] */
    const float *b_o;                 /* [d_model] or NULL */
    const struct attn_packed *packed; /* the same; makes attn_run quicker; or NULL */
};

/* ---- kernels and threads --------------------------------------------------------- */

/* The table behind which speed lives: one per instruction set, "ref" being the
 * specification. Its members are for the library alone. */
struct attn_kernels;

/* The best set this CPU runs, or the one HEADLIGHT_KERNELS names (ref, avx2, avx512, neon).
 * name != NULL asks for that one. NULL: no such set, or not on this CPU. */
const struct attn_kernels *attn_kernels_get(const char *name);
const char *attn_kernels_name(const struct attn_kernels *k);
/* The i-th set compiled in that this CPU runs; NULL past the last. */
const struct attn_kernels *attn_kernels_at(int i);

/* A few threads that wait for work. n = 1 has none and runs everything in the caller.
 * Results are the same to the bit for every n. A pool serves one caller at a time: threads
 * that compute at once need one each. */
struct attn_pool;
struct attn_pool *attn_pool_create(int n_thread); /* NULL: no threads to be had */
void attn_pool_destroy(struct attn_pool *p);      /* NULL is fine */

/* Given first to everything that computes. pool may be NULL: one thread. */
struct attn_ctx {
    const struct attn_kernels *k;
    struct attn_pool *pool;
    /* Where not NULL, read now and then in long work; nonzero stops it early. What
     * was being computed is then unfinished, and the caller throws it away. */
    const volatile int *cancel;
};

/* ---- what was found in the numbers ------------------------------------------------- */

struct attn_stats {
    float min, max; /* of the finite elements; 0, 0 where there is none */
    float max_abs;  /* of the finite elements */
    double mean;    /* of the finite elements */
    int64_t n_nan;  /* NaN, wherever it came from */
    int64_t n_pos_inf;
    int64_t n_neg_inf;
};
struct attn_stats attn_stats_of(struct attn_cmat m);
/* The same over what a causal reader sees: columns j <= i of each row i. */
struct attn_stats attn_stats_causal(struct attn_cmat m);

/* The largest change from one matrix to another: the first in reading order of those that
 * are equally large. A change from or to a number that is none is larger than any other. */
struct attn_change {
    int row, col; /* -1: nothing has changed */
    float was, is;
    int64_t count; /* cells that differ at all */
};
/* out = is - was; equal values, infinities and NaN too, differ by 0. */
enum attn_status attn_difference(const struct attn_ctx *c, struct attn_mat out,
                                 struct attn_cmat is, struct attn_cmat was,
                                 struct attn_change *change);

/* ---- the stages --------------------------------------------------------------------- */

/* X = layer norm of each row of h: (h - mean) / sqrt(variance + eps) * gain + bias,
 * mean and variance in two passes, in double. gain, bias: [d_model] or NULL (1, 0). */
enum attn_status attn_layer_norm(const struct attn_ctx *c, struct attn_mat x,
                                 struct attn_cmat h, const float *gain, const float *bias,
                                 float eps);

/* 1. QKV = X * W_qkv + b.   qkv [n_tok, 3*d_model]  x [n_tok, d_model] */
enum attn_status attn_project(const struct attn_ctx *c, struct attn_mat qkv,
                              struct attn_cmat x, struct attn_cmat w_qkv,
                              const float *b_qkv);

/* 2. S = Q * K^T, one head.  s [n_tok, n_tok]  q, k [n_tok, d_head]. Dense: the upper
 * triangle is computed too, since stage 2 shows it. */
enum attn_status attn_scores(const struct attn_ctx *c, struct attn_mat s,
                             struct attn_cmat q, struct attn_cmat k);

/* 3. out = s / sqrt(d_head), correctly rounded. out may be s. */
enum attn_status attn_scale(const struct attn_ctx *c, struct attn_mat out,
                            struct attn_cmat s, int d_head);

/* 4. out = s, -INFINITY where j > i, whatever s holds there. out may be s. */
enum attn_status attn_mask(const struct attn_ctx *c, struct attn_mat out,
                           struct attn_cmat s);

/* 5. P = softmax of each row. Row maxima are subtracted before exp, so no finite score
 * overflows. A row that is -INFINITY throughout gives zeros and is counted in
 * *n_empty (may be NULL). A NaN or +INFINITY in a row makes the row NaN where s is not
 * -INFINITY. p may be s. Source: Vaswani et al. 2017, eq. 1. */
enum attn_status attn_softmax(const struct attn_ctx *c, struct attn_mat p,
                              struct attn_cmat s, int64_t *n_empty);

/* 6. Z = P * V, one head.  z, v [n_tok, d_head].  causal: row i reads v rows j <= i
 * alone, so that nothing of a forbidden row arrives, not even NaN. */
enum attn_status attn_weighted_sum(const struct attn_ctx *c, struct attn_mat z,
                                   struct attn_cmat p, struct attn_cmat v, bool causal);

/* 7. Y = Z * W_O + b_o (+ h).  h.data = NULL: no residual. The residual is added last. */
enum attn_status attn_output(const struct attn_ctx *c, struct attn_mat y,
                             struct attn_cmat z, struct attn_cmat w_o, const float *b_o,
                             struct attn_cmat h);

/* The same stages as opts has them, and what comes of them rounded to opts.precision. With
 * attn_opts_default() they are the functions above to the bit. ATTN_BAD_OPTS: see
 * attn_opts_check. */
enum attn_status attn_scale_as(const struct attn_ctx *c, struct attn_mat out,
                               struct attn_cmat s, struct attn_opts opts,
                               struct attn_dims d);
enum attn_status attn_mask_as(const struct attn_ctx *c, struct attn_mat out,
                              struct attn_cmat s, struct attn_opts opts);
/* no_max: e^s and its sum are taken in float32 as they are, so that a score from 88.8 on
 * overflows: inf / inf = NaN. -INFINITY still gives 0. */
enum attn_status attn_softmax_as(const struct attn_ctx *c, struct attn_mat p,
                                 struct attn_cmat s, struct attn_opts opts,
                                 int64_t *n_empty);
/* Row i reads v rows j < attn_seen(opts, i, n) alone. */
enum attn_status attn_weighted_sum_as(const struct attn_ctx *c, struct attn_mat z,
                                      struct attn_cmat p, struct attn_cmat v,
                                      struct attn_opts opts);
/* m itself, rounded. */
enum attn_status attn_round(const struct attn_ctx *c, struct attn_mat m,
                            enum attn_precision p);

/* ---- all of them ---------------------------------------------------------------------- */

/* Every matrix a run keeps, named. */
enum attn_tensor {
    ATTN_H,   /* [n_tok, d_model]  what ln_1 read */
    ATTN_X,   /* [n_tok, d_model] */
    ATTN_W_Q, /* [d_model, d_head] of one head */
    ATTN_W_K,
    ATTN_W_V,
    ATTN_Q, /* [n_tok, d_head] of one head */
    ATTN_K,
    ATTN_V,
    ATTN_S_RAW, /* [n_tok, n_tok] of the head in view; so the next three */
    ATTN_S_SCALED,
    ATTN_S_MASKED,
    ATTN_P,
    ATTN_Z,      /* [n_tok, d_head] of one head */
    ATTN_Z_ALL,  /* [n_tok, d_model] */
    ATTN_W_O,    /* [d_model, d_model] */
    ATTN_Y_PROJ, /* [n_tok, d_model]  Z * W_O + b, before the residual */
    ATTN_Y,      /* [n_tok, d_model] */
    ATTN_TENSOR_COUNT
};

/* One head with every intermediate, and the whole block's output. Filled by attn_run,
 * then read-only. x, h and the weights are views of the caller's memory, which must
 * outlive it. */
struct attn_trace {
    struct attn_dims dims;
    struct attn_opts opts;
    struct attn_weights w;
    struct attn_cmat x, h;
    int head;                                     /* whose S and P are kept */
    struct attn_mat qkv;                          /* [n_tok, 3*d_model] */
    struct attn_mat s_raw, s_scaled, s_masked, p; /* [n_tok, n_tok], one head */
    struct attn_mat z, y_proj, y;
    struct attn_stats stats[ATTN_TENSOR_COUNT]; /* of the head in view */
    int64_t n_empty_row;                        /* rows of S without one visible key */
    const struct attn_edit *edits;              /* the caller's; n_edit of them */
    int n_edit;
    void *work; /* the fused path's */
};

/* Bytes that attn_trace_init needs; 0 where dims are bad. */
size_t attn_trace_bytes(struct attn_dims d);
/* Lays the buffers out in mem, aligned to 64. ATTN_NO_ROOM: bytes too few. */
enum attn_status attn_trace_init(struct attn_trace *t, struct attn_dims d, void *mem,
                                 size_t bytes);

/* All seven stages: every intermediate of head `head`, the other heads' z by the fused
 * path where it can, else stage by stage too. This is the definition of what the program
 * shows. */
enum attn_status attn_run(const struct attn_ctx *c, struct attn_trace *t,
                          struct attn_cmat x, struct attn_cmat h,
                          const struct attn_weights *w, struct attn_opts opts, int head);

/* A number that is not computed but given: cell (row, col) of a tensor of one head. */
struct attn_edit {
    enum attn_tensor tensor; /* ATTN_Q .. ATTN_P; of what is given to a run, the caller
                              * changes the input itself */
    int head;
    int row, col;
    float value;
};
/* attn_run with n_edit numbers given: each is put in its place when its stage has been
 * computed, and what follows reads it. edits must outlive the trace. ATTN_BAD_SHAPE also
 * for an edit of another tensor or outside its matrix. */
enum attn_status attn_run_edited(const struct attn_ctx *c, struct attn_trace *t,
                                 struct attn_cmat x, struct attn_cmat h,
                                 const struct attn_weights *w, struct attn_opts opts,
                                 int head, const struct attn_edit *edits, int n_edit);

/* Moves the view of a trace that attn_run has filled to another head: that head's S to P,
 * its z (stage by stage, so within rounding of the fused one) and its statistics; y stays. */
enum attn_status attn_run_head(const struct attn_ctx *c, struct attn_trace *t, int head);

/* View of a tensor of the trace; head picks the slice where the tensor has one. S and P
 * exist for t->head alone: another head, or a tensor that does not exist, gives data =
 * NULL. */
struct attn_cmat attn_trace_view(const struct attn_trace *t, enum attn_tensor id,
                                 int head);

/* Weights laid out for one kernel set, once, when they are loaded. 0 bytes: bad dims. */
size_t attn_packed_bytes(const struct attn_kernels *k, struct attn_dims d);
enum attn_status attn_pack(const struct attn_kernels *k, struct attn_packed **out,
                           const struct attn_weights *w, struct attn_dims d, void *mem,
                           size_t bytes);

/* The weights again, every bit of them, from where they are kept packed alone.
 *   w_qkv [d_model, 3*d_model]  w_o [d_model, d_model] */
enum attn_status attn_unpack(struct attn_mat w_qkv, struct attn_mat w_o,
                             const struct attn_packed *p);

/* The whole block, fused: nothing kept but y [n_tok, d_model], and, where asked for
 * (data not NULL), z and qkv.
 *
 * work: attn_block_bytes(), for whatever number of threads: keys, values, queries and z.
 * Where d_head is a multiple of 16 and d_model one of 64 that is 16 bytes for each of
 * n_tok * d_model, n_tok rounded up to 64, and 64 bytes a token: 12.6 MB for GPT-2 at 1,024
 * tokens. Never n_head * n_tok^2. Besides, up to 300 KiB of each thread's stack.
 *
 * Weighted values are summed before they are divided by the row's sum: from
 * FLT_MAX / n_tok on, and where values are infinite, O may be an infinity or NaN where
 * stage 6 by itself is another or finite. So too the heads out of view of attn_run. */
struct attn_block_io {
    struct attn_cmat x, h;
    struct attn_mat y;
    struct attn_mat z, qkv; /* data = NULL: not asked for */
};
size_t attn_block_bytes(const struct attn_ctx *c, struct attn_dims d); /* 0: bad dims */
/* Enough where both z and qkv are asked for: the keys and values. */
size_t attn_block_keep_bytes(struct attn_dims d);
enum attn_status attn_block(const struct attn_ctx *c, const struct attn_block_io *io,
                            const struct attn_packed *w, struct attn_opts opts,
                            struct attn_dims d, void *work, size_t bytes);

/* The rows first..n-1 of a block of n <= d.n_tok tokens. work is what an earlier call
 * left for the same d, packed weights and opts, and still holds the keys and values of
 * the rows before first, which are taken as unchanged. Everything in io begins at row
 * first: n - first rows. Where attn_opts.causal is off the rows before first would see
 * the new keys too; they are not redone.
 *
 * A changed token p: first = p, n = d.n_tok. One more token: first = n - 1, with d.n_tok
 * the most there will ever be. The rows are the same to the bit as attn_block's. */
enum attn_status attn_block_from(const struct attn_ctx *c, const struct attn_block_io *io,
                                 const struct attn_packed *w, struct attn_opts opts,
                                 struct attn_dims d, int first, int n, void *work,
                                 size_t bytes);

/* ---- one linear layer ---------------------------------------------------------------------- */

/* W [rows, cols] laid out for one kernel set, and its bias. Fill it with
 * attn_linear_pack; mem must outlive it. */
struct attn_linear {
    const struct attn_kernels *k;
    const float *panels;
    const float *bias; /* [cols] or NULL, the caller's */
    int rows, cols;
};
size_t attn_linear_bytes(const struct attn_kernels *k, int rows, int cols); /* 0: bad */
enum attn_status attn_linear_pack(const struct attn_kernels *k, struct attn_linear *out,
                                  struct attn_cmat w, const float *bias, void *mem,
                                  size_t bytes);

enum attn_act {
    ATTN_IDENTITY,
    ATTN_GELU,    /* 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as GPT-2 has it */
    ATTN_GELU_ERF /* 0.5 x (1 + erf(x / sqrt 2)); Hendrycks and Gimpel 2016 */
};

/* y = act(x * W + b), or, with the identity, x * W + b + res: a GPT-2 MLP in two calls.
 *   y [n, cols]  x [n, rows]  res [n, cols] or data = NULL
 * ATTN_BAD_SHAPE also for a res with another act. */
enum attn_status attn_linear_apply(const struct attn_ctx *c, struct attn_mat y,
                                   struct attn_cmat x, const struct attn_linear *w,
                                   enum attn_act act, struct attn_cmat res);

/* Column `col` of W again, every bit of it: out [rows]. ATTN_BAD_SHAPE: there is none. */
enum attn_status attn_linear_column(const struct attn_linear *w, float *out, int col);

/* y[i] = e^x[i] by the kernels, for any x, NaN and infinities included. y may be x. */
void attn_exp(const struct attn_ctx *c, float *y, const float *x, int n);

/* reach[j] = |v_j W_O|, the length of what source j adds to a row of Y through one head at
 * weight 1: at weight a_ij it adds a_ij times that.
 *   reach [n_tok]  work [n_tok, d_model]: v W_O  v [n_tok, d_head]
 *   w_o [d_head, d_model]: the head's rows of W_O */
enum attn_status attn_reach(const struct attn_ctx *c, float *reach, struct attn_mat work,
                            struct attn_cmat v, struct attn_cmat w_o);

/* ---- one row, taken apart ---------------------------------------------------------------- */

/* What softmax did to one row of n scores: e[j] = exp(s[j] - max) in float32, as the
 * kernels round it; e may be NULL. Entropies in bits. */
struct attn_row {
    float max, sum; /* sum of e */
    int n_visible;  /* scores that are not -INFINITY */
    float entropy;  /* of the weights; at most log2(n_visible) */
    float top;      /* largest weight */
    int top_at;     /* its column */
};
struct attn_row attn_row_explain(const struct attn_ctx *c, float *e, const float *s,
                                 int n);
/* The same of opts.temperature and opts.no_max: e[j] = exp((s[j] - max) / temperature),
 * max = 0 with no_max. The row then may overflow: sum is infinite, entropy and top NaN. */
struct attn_row attn_row_explain_as(const struct attn_ctx *c, float *e, const float *s,
                                    int n, struct attn_opts opts);
/* Row i of the head that the trace views, by its options. Where a weight of it is given,
 * entropy and top are of what stands in A, divided by its sum; NaN where that is no
 * distribution: a weight below 0, or none above. */
struct attn_row attn_trace_row(const struct attn_ctx *c, const struct attn_trace *t,
                               int i, float *e);

/* ---- every head at a glance ------------------------------------------------------------ */

/* What the rows of one head's weights A come to. A row that holds NaN or +INFINITY is in
 * no mean. NaN: there is no row to take the mean of. Sums are in double. */
struct attn_head_sum {
    double entropy;   /* mean over rows i of -sum of A_ij log2 A_ij, in bits */
    double previous;  /* mean over i >= 1 of A_i,i-1 */
    double first;     /* mean over i >= 1 of A_i0 */
    double itself;    /* mean over i >= 1 of A_ii */
    double induction; /* mean, over the rows i whose token has been there before, of
                       * the sum of A_i,j+1 over its earlier places j < i - 1 */
    float max_abs;    /* of the finite scores that count */
    int64_t n_odd;    /* rows in no mean */
};

/* Images are side x side, side = attn_heads_side(n_tok): pixel (a, b) is the value of
 * largest magnitude among the cells with i * side / n_tok = a and j * side / n_tok = b,
 * a NaN before any other. Forbidden cells do not count; where there is no other, b > a,
 * the scores have -INFINITY and the weights 0. */
enum { ATTN_HEADS_SIDE = 64 };
int attn_heads_side(int n_tok);
struct attn_heads_out {
    float *scores;             /* [n_head, side, side]  Q K^T before scaling */
    float *weights;            /* [n_head, side, side]  A */
    struct attn_head_sum *sum; /* [n_head] */
};
size_t attn_heads_bytes(struct attn_dims d); /* of work; 0 where dims are bad */

/* All heads of a block from its qkv [n_tok, 3*d_model]: scores, division (opts.scale),
 * mask (opts.causal) and softmax as attn_run has them, 32 rows of a head at a time and
 * never n_tok x n_tok; so too with every option that changes S or A. opts.swapped takes
 * qkv's first columns for the keys: leave it out where qkv is an attn_trace's, which has
 * done so. ids [n_tok]: the tokens, for induction alone; NULL: unknown.
 * ATTN_NO_ROOM: bytes < attn_heads_bytes(d). */
enum attn_status attn_heads(const struct attn_ctx *c, const struct attn_heads_out *out,
                            struct attn_cmat qkv, const int32_t *ids,
                            struct attn_opts opts, struct attn_dims d, void *work,
                            size_t bytes);

/* ---- costs -------------------------------------------------------------------------------- */

struct attn_cost {
    uint64_t flops_dense;  /* multiply and add count as two */
    uint64_t flops_causal; /* what is left when j > i is not computed */
    uint64_t exps;         /* over all heads, causal */
    uint64_t bytes;        /* read and written once each, float32, all heads */
    uint64_t cells;        /* elements of the result, all heads */
};
struct attn_cost attn_cost_of(struct attn_dims d, enum attn_stage s);
struct attn_cost attn_cost_block(struct attn_dims d);

/* The last of d.n_tok tokens through a block that has the keys and values of those before. */
struct attn_decode_cost {
    uint64_t flops;        /* of its row alone */
    uint64_t flops_again;  /* of all rows: without the cache */
    uint64_t cache_bytes;  /* keys and values of all d.n_tok, all heads, float32 */
    uint64_t read_bytes;   /* of those: what was there before */
    uint64_t weight_bytes; /* W_qkv and W_O: read for one row as for many; no biases */
};
struct attn_decode_cost attn_cost_decode(struct attn_dims d);

#endif
