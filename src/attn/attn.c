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
        [ATTN_UNKNOWN_KERNELS] = "no such kernel set on this machine",
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

struct attn_opts attn_opts_default(void)
{
    return (struct attn_opts){.scale = true, .causal = true, .residual = true};
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

float attn_scale_factor(struct attn_opts o, int d_head)
{
    return o.scale ? (float)(1.0 / sqrt((double)d_head)) : 1.0f;
}

/* ---- stages that go row by row ------------------------------------------------------ */

struct rows_job {
    const struct attn_kernels *k;
    struct attn_mat out;
    struct attn_cmat in;
    const float *gain, *bias;
    double number; /* eps */
    int d_head;
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
    attn_parallel(c, (rows + ROWS - 1) / ROWS, true, rows_task, j);
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
 * unit wherever sqrt(d_head) is not an integer. Where it is a power of two (GPT-2's 8),
 * a product says the same. */
void attn_scale_floats(float *out, const float *in, int n, int d_head)
{
    int exponent;
    double root = sqrt((double)d_head);
    if (frexp(root, &exponent) == 0.5) {
        float by = (float)(1.0 / root);
        for (int a = 0; a < n; a++) out[a] = in[a] * by;
    } else {
        for (int a = 0; a < n; a++) out[a] = (float)((double)in[a] / root);
    }
}

static void scale_row(const struct rows_job *j, float *out, const float *in, int i)
{
    (void)i;
    attn_scale_floats(out, in, j->out.cols, j->d_head);
}

enum attn_status attn_scale(const struct attn_ctx *c, struct attn_mat out,
                            struct attn_cmat s, int d_head)
{
    if (d_head < 1) return ATTN_BAD_SHAPE;
    return rows_run(
        c, &(struct rows_job){.out = out, .in = s, .d_head = d_head, .row = scale_row});
}

static void mask_row(const struct rows_job *j, float *out, const float *in, int i)
{
    int seen = attn_min(i + 1, j->out.cols);
    if (out != in) memcpy(out, in, (size_t)seen * sizeof *out);
    for (int a = seen; a < j->out.cols; a++) out[a] = -INFINITY;
}

enum attn_status attn_mask(const struct attn_ctx *c, struct attn_mat out,
                           struct attn_cmat s)
{
    return rows_run(c, &(struct rows_job){.out = out, .in = s, .row = mask_row});
}

/* What softmax gives for a row that holds NaN or +INFINITY, or -INFINITY alone. */
static void odd_row(float *p, const float *s, int n, bool clean)
{
    for (int a = 0; a < n; a++) p[a] = clean || s[a] == -INFINITY ? 0.0f : NAN;
}

static void softmax_row(const struct rows_job *j, float *p, const float *s, int i)
{
    (void)i;
    int n = j->out.cols;
    float max;
    bool clean = j->k->row_max(&max, s, n);
    if (!clean || max == -INFINITY) {
        odd_row(p, s, n, clean);
        if (clean) __atomic_fetch_add(j->n_empty, 1, __ATOMIC_RELAXED);
        return;
    }
    float sum = j->k->row_exp(p, s, n, 1.0f, max);
    j->k->row_div(p, p, n, sum);
}

enum attn_status attn_softmax(const struct attn_ctx *c, struct attn_mat p,
                              struct attn_cmat s, int64_t *n_empty)
{
    int64_t empty = 0;
    enum attn_status st = rows_run(
        c, &(struct rows_job){
               .k = c->k, .out = p, .in = s, .n_empty = &empty, .row = softmax_row});
    if (n_empty && st == ATTN_OK) *n_empty = empty;
    return st;
}

/* ---- stages that are products --------------------------------------------------------- */

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

enum attn_status attn_weighted_sum(const struct attn_ctx *c, struct attn_mat z,
                                   struct attn_cmat p, struct attn_cmat v, bool causal)
{
    if (!attn_mat_is(p, z.rows, p.cols) || !attn_mat_is(v, p.cols, z.cols) ||
        !attn_mat_is(attn_const(z), z.rows, z.cols))
        return ATTN_BAD_SHAPE;
    attn_multiply(c, &(struct attn_product){.c = z, .a = p, .b = v, .causal = causal});
    return ATTN_OK;
}

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
