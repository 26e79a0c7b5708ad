/* Every kernel set of this machine against a float64 computation of the block, in one
 * program without a test library, so that it runs wherever a cross compiler's output does.
 * Prints a line a set and exits with 1 if one is off. The tests proper, with a bound for
 * every element, are test_attn's. */
#include "attn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 3 /* ld - cols, everywhere */ };

struct shape {
    int n, heads, d_head;
};

static uint64_t state = 88172645463325252U;

static float uniform(void) /* -1..1; Marsaglia 2003, xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (float)((double)(state >> 11) * 0x1p-52 - 1.0);
}

static void *get(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) exit(2);
    return p;
}

static struct attn_mat matrix(int rows, int cols, float scale)
{
    struct attn_mat m = {NULL, rows, cols, cols + PAD};
    size_t n = (size_t)rows * (size_t)m.ld;
    m.data = get(n * sizeof(float));
    for (size_t i = 0; i < n; i++) m.data[i] = scale * uniform();
    return m;
}

static struct attn_cmat in(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

static double at(struct attn_mat m, int i, int j)
{
    return (double)m.data[(size_t)i * (size_t)m.ld + (size_t)j];
}

struct problem {
    struct attn_dims d;
    struct attn_opts o;
    struct attn_mat x, h, w_qkv, w_o, b_qkv, b_o;
};

/* One head's z [n, d_head] for row i, from qkv [n, 3*d_model]. */
static void want_z(const struct problem *p, const double *qkv, double *z, int head, int i)
{
    size_t w = (size_t)p->d.d_model;
    int d = attn_d_head(p->d), seen = p->o.causal ? i + 1 : p->d.n_tok;
    double *s = get((size_t)seen * sizeof *s), max = (double)-INFINITY, sum = 0.0;
    const double *q = qkv + (size_t)i * 3 * w + (size_t)head * d;
    for (int j = 0; j < seen; j++) {
        const double *k = qkv + (size_t)j * 3 * w + w + (size_t)head * d;
        s[j] = 0.0;
        for (int a = 0; a < d; a++) s[j] += q[a] * k[a];
        if (p->o.scale) s[j] /= sqrt((double)d);
        max = fmax(max, s[j]);
    }
    for (int j = 0; j < seen; j++) sum += s[j] = exp(s[j] - max);
    for (int a = 0; a < d; a++) {
        z[a] = 0.0;
        for (int j = 0; j < seen; j++)
            z[a] += s[j] / sum * qkv[(size_t)j * 3 * w + 2 * w + (size_t)head * d + a];
    }
    free(s);
}

static void want_y(const struct problem *p, double *y)
{
    int n = p->d.n_tok, w = p->d.d_model;
    double *qkv = get((size_t)n * 3 * (size_t)w * sizeof *qkv);
    double *z = get((size_t)w * sizeof *z);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3 * w; c++) {
            double sum = at(p->b_qkv, 0, c);
            for (int a = 0; a < w; a++) sum += at(p->x, i, a) * at(p->w_qkv, a, c);
            qkv[(size_t)i * 3 * (size_t)w + c] = sum;
        }
    for (int i = 0; i < n; i++) {
        for (int head = 0; head < p->d.n_head; head++)
            want_z(p, qkv, z + (size_t)head * attn_d_head(p->d), head, i);
        for (int c = 0; c < w; c++) {
            double sum = at(p->b_o, 0, c) + (p->o.residual ? at(p->h, i, c) : 0.0);
            for (int a = 0; a < w; a++) sum += z[a] * at(p->w_o, a, c);
            y[(size_t)i * w + c] = sum;
        }
    }
    free(qkv);
    free(z);
}

/* Largest error of attn_block and attn_run; INFINITY where something was refused. */
static double error_of(const struct attn_ctx *c, const struct problem *p,
                       const double *want)
{
    int n = p->d.n_tok, w = p->d.d_model;
    const struct attn_weights weights = {.w_qkv = in(p->w_qkv),
                                         .b_qkv = p->b_qkv.data,
                                         .w_o = in(p->w_o),
                                         .b_o = p->b_o.data};
    size_t packed_bytes = attn_packed_bytes(c->k, p->d),
           work_bytes = attn_block_bytes(c, p->d);
    size_t trace_bytes = attn_trace_bytes(p->d);
    void *pack_mem = get(packed_bytes), *work = get(work_bytes), *mem = get(trace_bytes);
    struct attn_packed *packed;
    struct attn_trace t;
    struct attn_mat y = matrix(n, w, 1.0f);
    struct attn_block_io io = {.x = in(p->x), .h = in(p->h), .y = y};
    double worst = 0.0;
    if (attn_pack(c->k, &packed, &weights, p->d, pack_mem, packed_bytes) ||
        attn_block(c, &io, packed, p->o, p->d, work, work_bytes) ||
        attn_trace_init(&t, p->d, mem, trace_bytes) ||
        attn_run(c, &t, io.x, io.h, &weights, p->o, p->d.n_head / 2))
        worst = (double)INFINITY;
    for (int i = 0; worst < 1.0 && i < n; i++)
        for (int a = 0; a < w; a++) {
            double right = want[(size_t)i * w + a];
            double e = fmax(fabs(at(y, i, a) - right), fabs(at(t.y, i, a) - right));
            if (isnan(at(y, i, a)) || isnan(at(t.y, i, a))) e = (double)INFINITY;
            worst = fmax(worst, e);
        }
    free(pack_mem);
    free(work);
    free(mem);
    free(y.data);
    return worst;
}

int main(void)
{
    /* Around every edge of the tiles, and one beyond a block of keys. */
    static const struct shape shapes[] = {
        {1, 1, 1},   {2, 3, 4},    {5, 2, 4},   {6, 1, 16},  {7, 5, 5},   {13, 2, 17},
        {47, 1, 33}, {48, 2, 64},  {49, 1, 65}, {64, 3, 15}, {65, 1, 80}, {70, 25, 3},
        {97, 2, 16}, {130, 1, 20}, {193, 2, 8}, {1040, 1, 8}};
    enum { N_SHAPE = sizeof shapes / sizeof shapes[0] };
    double worst[8] = {0.0};
    struct attn_pool *pool = attn_pool_create(2);
    for (int s = 0; s < N_SHAPE; s++) {
        struct problem p = {
            .d = {shapes[s].n, shapes[s].heads * shapes[s].d_head, shapes[s].heads},
            .o = {.scale = s % 4 != 1, .causal = s % 3 != 1, .residual = s % 5 != 1}};
        int w = p.d.d_model;
        p.x = matrix(p.d.n_tok, w, 1.0f);
        p.h = matrix(p.d.n_tok, w, 1.0f);
        p.w_qkv = matrix(w, 3 * w, 1.0f / sqrtf((float)w));
        p.w_o = matrix(w, w, 1.0f / sqrtf((float)w));
        p.b_qkv = matrix(1, 3 * w, 0.1f);
        p.b_o = matrix(1, w, 0.1f);
        double *want = get((size_t)p.d.n_tok * w * sizeof *want);
        want_y(&p, want);
        for (int k = 0; attn_kernels_at(k); k++) {
            const struct attn_ctx c = {.k = attn_kernels_at(k), .pool = pool};
            worst[k] = fmax(worst[k], error_of(&c, &p, want));
        }
        free(want);
        free(p.x.data), free(p.h.data), free(p.w_qkv.data);
        free(p.w_o.data), free(p.b_qkv.data), free(p.b_o.data);
    }
    attn_pool_destroy(pool);
    int bad = 0;
    for (int k = 0; attn_kernels_at(k); k++) {
        printf("%-7s largest error %.2g\n", attn_kernels_name(attn_kernels_at(k)),
               worst[k]);
        if (!(worst[k] < 5e-6)) bad = 1;
    }
    return bad;
}
