/* The seven stages, each checking its shapes and leaving the sums to the kernels. */
#include "kernels.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { ROWS = 16 /* of a stage that goes row by row, in one task */ };

const char *attn_status_text(enum attn_status s)
{
    static const char *const text[] = {
        [ATTN_OK] = "ok",
        [ATTN_BAD_SHAPE] = "shapes do not fit together",
        [ATTN_NO_ROOM] = "too little memory was given",
        [ATTN_BAD_OPTS] = "this option cannot be computed here",
    };
    return text[s];
}

enum attn_status attn_dims_check(struct attn_dims d)
{
    if (d.n_tok < 1 || d.d_model < 1 || d.n_head < 1) return ATTN_BAD_SHAPE;
    if (d.d_model % d.n_head != 0) return ATTN_BAD_SHAPE;
    if (d.d_model > INT_MAX / 4 || d.n_tok > INT_MAX / 4) return ATTN_BAD_SHAPE;
    /* A trace holds 4 n^2 + about 8 n (d + 64 heads) floats, packed weights 4 d^2. */
    size_t n = (size_t)d.n_tok + ATTN_NR_MAX, w = (size_t)d.d_model;
    size_t room = SIZE_MAX / sizeof(float) / 4;
    size_t wide = w + (size_t)d.n_head * ATTN_NR_MAX;
    if (n > room / 4 / n || n > room / 8 / wide || w > room / 4 / wide)
        return ATTN_BAD_SHAPE;
    return ATTN_OK;
}

int attn_d_head(struct attn_dims d)
{
    return d.d_model / d.n_head;
}

bool attn_mat_is(struct attn_cmat m, int rows, int cols)
{
    return m.data && rows >= 1 && cols >= 1 && m.rows == rows && m.cols == cols &&
           m.ld >= cols;
}

struct attn_cmat attn_const(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

struct attn_mat attn_columns(struct attn_mat m, int from, int n)
{
    return (struct attn_mat){m.data + from, m.rows, n, m.ld};
}

struct attn_cmat attn_ccolumns(struct attn_cmat m, int from, int n)
{
    return (struct attn_cmat){m.data + from, m.rows, n, m.ld};
}

/* ---- stages that go row by row ------------------------------------------------------ */

struct rows_job {
    const struct attn_kernels *k;
    struct attn_mat out;
    struct attn_cmat in;
    const float *gain, *bias;
    double number; /* eps; what is divided by */
    struct attn_opts opts;
    int64_t *n_empty;
    void (*row)(const struct rows_job *j, float *out, const float *in, int i);
};

static void rows_task(const void *arg, int t)
{
    const struct rows_job *j = arg;
    int to = attn_min((t + 1) * ROWS, j->out.rows);
    for (int i = t * ROWS; i < to; i++)
        j->row(j, j->out.data + (size_t)i * j->out.ld, j->in.data + (size_t)i * j->in.ld,
               i);
}

static enum attn_status rows_run(const struct attn_ctx *c, const struct rows_job *j)
{
    int rows = j->out.rows, cols = j->out.cols;
    if (!attn_mat_is(attn_const(j->out), rows, cols) || !attn_mat_is(j->in, rows, cols))
        return ATTN_BAD_SHAPE;
    struct rows_job job = *j;
    job.k = c->k;
    attn_parallel(c, (rows + ROWS - 1) / ROWS, true, rows_task, &job);
    return ATTN_OK;
}

/* Sum of x - mean, or of its square, in four partial sums that do not wait for each
 * other. */
static double moment(const float *x, int n, double mean, bool square)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int a = 0;
    for (; a + 4 <= n; a += 4) {
        double v0 = (double)x[a] - mean, v1 = (double)x[a + 1] - mean;
        double v2 = (double)x[a + 2] - mean, v3 = (double)x[a + 3] - mean;
        s0 += square ? v0 * v0 : v0;
        s1 += square ? v1 * v1 : v1;
        s2 += square ? v2 * v2 : v2;
        s3 += square ? v3 * v3 : v3;
    }
    for (; a < n; a++) {
        double v = (double)x[a] - mean;
        s0 += square ? v * v : v;
    }
    return (s0 + s1) + (s2 + s3);
}

static void layer_norm_row(const struct rows_job *j, float *out, const float *in, int i)
{
    (void)i;
    int n = j->out.cols;
    double mean = moment(in, n, 0.0, false) / n;
    double inv = 1.0 / sqrt(moment(in, n, mean, true) / n + j->number);
    for (int a = 0; a < n; a++) {
        double x = ((double)in[a] - mean) * inv;
        if (j->gain) x *= (double)j->gain[a];
        if (j->bias) x += (double)j->bias[a];
        out[a] = (float)x;
    }
}

enum attn_status attn_layer_norm(const struct attn_ctx *c, struct attn_mat x,
                                 struct attn_cmat h, const float *gain, const float *bias,
                                 float eps)
{
    return rows_run(c, &(struct rows_job){.out = x,
                                          .in = h,
                                          .gain = gain,
                                          .bias = bias,
                                          .number = (double)eps,
                                          .row = layer_norm_row});
}

/* In double: the quotient of two float32 roundings would be off by more than half a
 * unit wherever the divisor is not a float32. Where it is a power of two (GPT-2's 8), a
 * product says the same. */
/* listing: 3 */
void attn_divide_floats(float *out, const float *in, int n, double divisor)
{
    int exponent;
    if (frexp(divisor, &exponent) == 0.5) {
        float by = (float)(1.0 / divisor);
        for (int a = 0; a < n; a++) out[a] = in[a] * by;
    } else {
        for (int a = 0; a < n; a++) out[a] = (float)((double)in[a] / divisor);
    }
}
/* listing: end */

static void scale_row(const struct rows_job *j, float *out, const float *in, int i)
{
    (void)i;
    attn_divide_floats(out, in, j->out.cols, j->number);
    attn_round_floats(j->k, out, j->out.cols, j->opts.precision);
}

enum attn_status attn_scale(const struct attn_ctx *c, struct attn_mat out,
                            struct attn_cmat s, int d_head)
{
    if (d_head < 1) return ATTN_BAD_SHAPE;
    return rows_run(
        c, &(struct rows_job){
               .out = out, .in = s, .number = sqrt((double)d_head), .row = scale_row});
}

enum attn_status attn_scale_as(const struct attn_ctx *c, struct attn_mat out,
                               struct attn_cmat s, struct attn_opts opts,
                               struct attn_dims d)
{
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    if (attn_dims_check(d) != ATTN_OK) return ATTN_BAD_SHAPE;
    return rows_run(c, &(struct rows_job){.out = out,
                                          .in = s,
                                          .number = attn_divisor_of(opts, d),
                                          .opts = opts,
                                          .row = scale_row});
}

/* listing: 4 */
static void mask_row(const struct rows_job *j, float *out, const float *in, int i)
{
    int seen = attn_seen(j->opts, i, j->out.cols);
    if (out != in) memcpy(out, in, (size_t)seen * sizeof *out);
    for (int a = seen; a < j->out.cols; a++) out[a] = -INFINITY;
}
/* listing: end */

enum attn_status attn_mask(const struct attn_ctx *c, struct attn_mat out,
                           struct attn_cmat s)
{
    return attn_mask_as(c, out, s, attn_opts_default());
}

enum attn_status attn_mask_as(const struct attn_ctx *c, struct attn_mat out,
                              struct attn_cmat s, struct attn_opts opts)
{
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    return rows_run(
        c, &(struct rows_job){.out = out, .in = s, .opts = opts, .row = mask_row});
}

/* Without the maximum: what float32 makes of it. Hidden cells are held as -1 until the sum
 * is known, since p may be s. Returns how many are not hidden. */
static int bare_softmax(const struct attn_kernels *k, float *p, const float *s, int n,
                        struct attn_opts o)
{
    enum {
        CHUNK = 64,
        LANES = 16
    }; /* fixed, so that the compiler makes vectors of them */
    int visible = 0;
    float part[LANES] = {0.0f}, sum = 0.0f, coldness = attn_coldness(o);
    float e[CHUNK], in[CHUNK];
    for (int j0 = 0; j0 < n; j0 += CHUNK) {
        int m = attn_min(CHUNK, n - j0);
        for (int a = m; a < CHUNK; a++) in[a] = -INFINITY;
        memcpy(in, s + j0, (size_t)m * sizeof *in);
        for (int a = 0; a < CHUNK; a++) e[a] = in[a] * coldness;
        k->exp(e, e, CHUNK); /* 0 of what is hidden */
        for (int b = 0; b < CHUNK; b += LANES)
            for (int a = 0; a < LANES; a++) part[a] += e[b + a];
        for (int a = 0; a < CHUNK; a++) visible += in[a] != -INFINITY;
        for (int a = 0; a < CHUNK; a++) e[a] = in[a] == -INFINITY ? -1.0f : e[a];
        memcpy(p + j0, e, (size_t)m * sizeof *e);
    }
    for (int a = 0; a < LANES; a++) sum += part[a];
    for (int j0 = 0; j0 < n; j0 += CHUNK) {
        size_t bytes = (size_t)attn_min(CHUNK, n - j0) * sizeof *e;
        memcpy(in, p + j0, bytes);
        k->row_div(e, in, attn_min(CHUNK, n - j0), sum);
        for (int a = 0; a < CHUNK; a++) e[a] = in[a] == -1.0f ? 0.0f : e[a];
        memcpy(p + j0, e, bytes);
    }
    attn_round_floats(k, p, n, o.precision);
    return visible;
}

/* listing: 5 */
enum attn_row_kind attn_soften(const struct attn_kernels *k, float *p, const float *s,
                               int n, struct attn_opts o)
{
    float max;
    if (o.no_max) return bare_softmax(k, p, s, n, o) > 0 ? ATTN_ROW_FULL : ATTN_ROW_EMPTY;
    bool clean = k->row_max(&max, s, n);
    if (!clean || max == -INFINITY) {
        for (int a = 0; a < n; a++) p[a] = clean || s[a] == -INFINITY ? 0.0f : NAN;
        return clean ? ATTN_ROW_EMPTY : ATTN_ROW_ODD;
    }
    float sum = k->row_exp(p, s, n, attn_coldness(o), max);
    k->row_div(p, p, n, sum);
    attn_round_floats(k, p, n, o.precision);
    return ATTN_ROW_FULL;
}
/* listing: end */

static void softmax_row(const struct rows_job *j, float *p, const float *s, int i)
{
    (void)i;
    if (attn_soften(j->k, p, s, j->out.cols, j->opts) == ATTN_ROW_EMPTY)
        __atomic_fetch_add(j->n_empty, 1, __ATOMIC_RELAXED);
}

enum attn_status attn_softmax_as(const struct attn_ctx *c, struct attn_mat p,
                                 struct attn_cmat s, struct attn_opts opts,
                                 int64_t *n_empty)
{
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    int64_t empty = 0;
    enum attn_status st = rows_run(
        c, &(struct rows_job){
               .out = p, .in = s, .opts = opts, .n_empty = &empty, .row = softmax_row});
    if (n_empty && st == ATTN_OK) *n_empty = empty;
    return st;
}

enum attn_status attn_softmax(const struct attn_ctx *c, struct attn_mat p,
                              struct attn_cmat s, int64_t *n_empty)
{
    return attn_softmax_as(c, p, s, attn_opts_default(), n_empty);
}

static void round_row(const struct rows_job *j, float *out, const float *in, int i)
{
    (void)in, (void)i;
    attn_round_floats(j->k, out, j->out.cols, j->opts.precision);
}

enum attn_status attn_round(const struct attn_ctx *c, struct attn_mat m,
                            enum attn_precision p)
{
    const struct attn_opts opts = {.precision = p};
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    if (p == ATTN_FLOAT32) return ATTN_OK;
    return rows_run(c,
                    &(struct rows_job){
                        .out = m, .in = attn_const(m), .opts = opts, .row = round_row});
}

/* ---- stages that are products --------------------------------------------------------- */

/* listing: 1 */
enum attn_status attn_project(const struct attn_ctx *c, struct attn_mat qkv,
                              struct attn_cmat x, struct attn_cmat w_qkv,
                              const float *b_qkv)
{
    if (!attn_mat_is(x, qkv.rows, x.cols) || !attn_mat_is(w_qkv, x.cols, qkv.cols) ||
        !attn_mat_is(attn_const(qkv), qkv.rows, qkv.cols))
        return ATTN_BAD_SHAPE;
    attn_multiply(c, &(struct attn_product){.c = qkv, .a = x, .b = w_qkv, .bias = b_qkv});
    return ATTN_OK;
}
/* listing: end */

/* listing: 2 */
enum attn_status attn_scores(const struct attn_ctx *c, struct attn_mat s,
                             struct attn_cmat q, struct attn_cmat k)
{
    if (!attn_mat_is(q, s.rows, q.cols) || !attn_mat_is(k, s.cols, q.cols) ||
        !attn_mat_is(attn_const(s), s.rows, s.cols))
        return ATTN_BAD_SHAPE;
    attn_multiply(c,
                  &(struct attn_product){.c = s, .a = q, .b = k, .b_transposed = true});
    return ATTN_OK;
}
/* listing: end */

/* listing: 6 */
enum attn_status attn_weighted_sum(const struct attn_ctx *c, struct attn_mat z,
                                   struct attn_cmat p, struct attn_cmat v, bool causal)
{
    if (!attn_mat_is(p, z.rows, p.cols) || !attn_mat_is(v, p.cols, z.cols) ||
        !attn_mat_is(attn_const(z), z.rows, z.cols))
        return ATTN_BAD_SHAPE;
    attn_multiply(c, &(struct attn_product){.c = z, .a = p, .b = v, .causal = causal});
    return ATTN_OK;
}
/* listing: end */

/* What a mask that is one off lets through besides: p[i][i+1] of v's row i + 1. */
struct next_job {
    struct attn_mat z;
    struct attn_cmat p, v;
};

static void next_task(const void *arg, int i)
{
    const struct next_job *j = arg;
    if (i + 1 >= j->v.rows) return;
    float *z = j->z.data + (size_t)i * j->z.ld;
    const float *v = j->v.data + (size_t)(i + 1) * j->v.ld;
    float w = j->p.data[(size_t)i * j->p.ld + i + 1];
    for (int a = 0; a < j->z.cols; a++) z[a] += w * v[a];
}

enum attn_status attn_weighted_sum_as(const struct attn_ctx *c, struct attn_mat z,
                                      struct attn_cmat p, struct attn_cmat v,
                                      struct attn_opts opts)
{
    if (attn_opts_check(opts) != ATTN_OK) return ATTN_BAD_OPTS;
    enum attn_status st = attn_weighted_sum(c, z, p, v, opts.causal);
    if (st != ATTN_OK) return st;
    struct next_job next = {z, p, v};
    if (opts.causal && opts.shifted) attn_parallel(c, z.rows, true, next_task, &next);
    return attn_round(c, z, opts.precision);
}

/* listing: 7 */
enum attn_status attn_output(const struct attn_ctx *c, struct attn_mat y,
                             struct attn_cmat z, struct attn_cmat w_o, const float *b_o,
                             struct attn_cmat h)
{
    if (!attn_mat_is(z, y.rows, z.cols) || !attn_mat_is(w_o, z.cols, y.cols) ||
        !attn_mat_is(attn_const(y), y.rows, y.cols) ||
        (h.data && !attn_mat_is(h, y.rows, y.cols)))
        return ATTN_BAD_SHAPE;
    attn_multiply(
        c, &(struct attn_product){.c = y, .a = z, .b = w_o, .bias = b_o, .res = h});
    return ATTN_OK;
}
/* listing: end */
