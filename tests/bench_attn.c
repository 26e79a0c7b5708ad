/* The kernel library's cases: whole blocks, redone rows, GEMMs, softmax and exp, each as a
 * share of the multiply-adds that the same threads did in registers in the same run. */
#include "../src/attn/kernels.h"
#include "bench.h"
#include "bench_peers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D_MODEL = 768, N_HEAD = 12 /* GPT-2 */ };

/* ---- the yardstick ------------------------------------------------------------------- */

struct peak {
    const struct attn_ctx *c;
    double flops; /* a thread's */
};

static void peak_task(const void *arg, int t)
{
    const struct peak *p = arg;
    (void)t;
    bench_fma_loop(attn_kernels_name(p->c->k), p->flops);
}

static void peak_run(void *arg)
{
    const struct peak *p = arg;
    attn_parallel(p->c, attn_pool_size(p->c->pool), false, peak_task, p);
}

/* One to two milliseconds' work. */
static struct bench_run peak_of(struct peak *p, const struct attn_ctx *c)
{
    *p = (struct peak){c, 2e8};
    return (struct bench_run){.name = "peak (fma in registers)",
                              .run = peak_run,
                              .arg = p,
                              .flops = p->flops * attn_pool_size(c->pool),
                              .is_peak = true};
}

/* ---- context ----------------------------------------------------------------------------- */

static bool begin(struct attn_ctx *c, const struct bench_opts *o, int threads)
{
    *c = (struct attn_ctx){.k = attn_kernels_get(o->kernels)};
    if (!c->k) {
        (void)fputs("headlight-bench: no such kernels here\n", stderr);
        return false;
    }
    if (threads > 1) c->pool = attn_pool_create(threads);
    return threads == 1 || c->pool;
}

/* Calls fn for each N and number of threads that was asked for. */
static bool each(const struct bench_opts *o, const int *sizes, int n_size,
                 bool (*fn)(const struct bench_opts *o, const struct attn_ctx *c, int n))
{
    for (int threads = 1; threads <= 2; threads++) {
        struct attn_ctx c;
        if (o->threads && threads == 2) break;
        if (!begin(&c, o, o->threads ? o->threads : threads)) return false;
        bool ok = true;
        for (int i = 0; ok && i < (o->n ? 1 : n_size); i++)
            ok = fn(o, &c, o->n ? o->n : sizes[i]);
        attn_pool_destroy(c.pool);
        if (!ok) return false;
    }
    return true;
}

static int rounds_for(const struct bench_opts *o, int n)
{
    return o->rounds ? o->rounds : n >= 4096 ? 9 : 21;
}

/* ---- block, run, block-from, decode -------------------------------------------------------- */

struct block {
    const struct attn_ctx *c;
    struct attn_dims d;
    struct attn_weights w;
    struct attn_packed *packed;
    struct attn_block_io io, last; /* last: row n-1 alone */
    void *work;
    size_t bytes;
    struct attn_trace trace;
};

static struct attn_mat writable(int rows, int cols)
{
    return (struct attn_mat){bench_alloc((size_t)rows * (size_t)cols * sizeof(float)),
                             rows, cols, cols};
}

static struct attn_cmat last_row(struct attn_cmat m)
{
    return (struct attn_cmat){m.data + (size_t)(m.rows - 1) * m.ld, 1, m.cols, m.ld};
}

static void block_begin(struct block *b, const struct attn_ctx *c, int n)
{
    *b = (struct block){.c = c, .d = {n, D_MODEL, N_HEAD}};
    b->w.w_qkv = bench_random(D_MODEL, 3 * D_MODEL, 0.15);
    b->w.b_qkv = bench_random(1, 3 * D_MODEL, 0.1).data;
    b->w.w_o = bench_random(D_MODEL, D_MODEL, 0.15);
    b->w.b_o = bench_random(1, D_MODEL, 0.1).data;
    size_t bytes = attn_packed_bytes(c->k, b->d);
    attn_pack(c->k, &b->packed, &b->w, b->d, bench_alloc(bytes), bytes);
    b->bytes = attn_block_bytes(c, b->d);
    b->work = bench_alloc(b->bytes);
    b->io.x = bench_random(n, D_MODEL, 0.15);
    b->io.h = bench_random(n, D_MODEL, 1.0);
    b->io.y = writable(n, D_MODEL);
    b->last.x = last_row(b->io.x);
    b->last.h = last_row(b->io.h);
    b->last.y = writable(1, D_MODEL);
}

static void block_run(void *arg)
{
    struct block *b = arg;
    attn_block(b->c, &b->io, b->packed, attn_opts_default(), b->d, b->work, b->bytes);
}

static void last_run(void *arg)
{
    struct block *b = arg;
    attn_block_from(b->c, &b->last, b->packed, attn_opts_default(), b->d, b->d.n_tok - 1,
                    b->d.n_tok, b->work, b->bytes);
}

static void trace_run(void *arg)
{
    struct block *b = arg;
    attn_run(b->c, &b->trace, b->io.x, b->io.h, &b->w, attn_opts_default(), N_HEAD / 2);
}

static double block_flops(struct attn_dims d)
{
    double n = d.n_tok, w = d.d_model;
    return 8.0 * n * w * w + 2.0 * n * (n + 1.0) * w;
}

/* A peer that computes something else proves nothing. */
static bool all_agree(const struct bench_run *runs, int n_run, int count)
{
    const float *want = NULL;
    bool agree = true;
    for (int i = 0; i < n_run; i++) {
        if (!runs[i].out) continue;
        if (!want) want = runs[i].out;
        double worst = 0.0;
        for (int e = 0; e < count; e++) {
            double off = fabs((double)runs[i].out[e] - (double)want[e]);
            if (!(off <= worst)) worst = off; /* NaN too */
        }
        if (worst < 1e-3) continue;
        (void)fprintf(stderr, "headlight-bench: %s is off by %g\n", runs[i].name, worst);
        agree = false;
    }
    return agree;
}

static bool block_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    struct block b;
    struct peak p;
    static struct bench_run runs[BENCH_RUNS_MAX];
    block_begin(&b, c, n);
    int n_run = 0, threads = attn_pool_size(c->pool);
    double flops = block_flops(b.d);
    runs[n_run++] = peak_of(&p, c);
    runs[n_run++] = (struct bench_run){
        .name = "attn_block", .run = block_run, .arg = &b, .flops = flops};
    runs[1].out = b.io.y.data;
    struct bench_problem problem = {
        .c = c, .io = b.io, .w = b.w, .d = b.d, .threads = threads};
    if (o->peers) n_run += bench_peers(runs + n_run, &problem, flops);
    bench_interleave(runs, n_run, rounds_for(o, n), 10e-3);
    bench_print(runs, n_run, n, threads, 1);
    return all_agree(runs, n_run, n * D_MODEL);
}

static bool block_case(const struct bench_opts *o)
{
    return each(o, (const int[]){64, 256, 1024, 4096}, 4, block_one);
}

static bool run_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    struct block b;
    struct peak p;
    static struct bench_run runs[3];
    block_begin(&b, c, n);
    size_t bytes = attn_trace_bytes(b.d);
    attn_trace_init(&b.trace, b.d, bench_alloc(bytes), bytes);
    b.w.packed = b.packed;
    runs[0] = peak_of(&p, c);
    double flops = block_flops(b.d);
    runs[1] = (struct bench_run){
        .name = "attn_block", .run = block_run, .arg = &b, .flops = flops};
    runs[2] = (struct bench_run){
        .name = "attn_run", .run = trace_run, .arg = &b, .flops = flops};
    bench_interleave(runs, 3, rounds_for(o, n), 10e-3);
    bench_print(runs, 3, n, attn_pool_size(c->pool), 1);
    return true;
}

static bool run_case(const struct bench_opts *o)
{
    return each(o, (const int[]){1024}, 1, run_one);
}

/* ---- broken runs ------------------------------------------------------------------------- */

struct broken {
    struct block *b;
    struct attn_opts opts;
};

static void broken_run(void *arg)
{
    struct broken *k = arg;
    attn_run(k->b->c, &k->b->trace, k->b->io.x, k->b->io.h, &k->b->w, k->opts,
             N_HEAD / 2);
}

static bool broken_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    struct block b;
    static struct bench_run runs[9];
    static struct broken k[9];
    static const char *const name[9] = {
        "as it should be",  "scale=off",       "scale=d_head", "mask=shift",
        "max=off",          "temperature=0.5", "qk=swapped",   "precision=bfloat16",
        "precision=float16"};
    block_begin(&b, c, n);
    size_t bytes = attn_trace_bytes(b.d);
    attn_trace_init(&b.trace, b.d, bench_alloc(bytes), bytes);
    b.w.packed = b.packed;
    for (int i = 0; i < 9; i++) {
        k[i] = (struct broken){&b, attn_opts_default()};
        runs[i] = (struct bench_run){.name = name[i], .run = broken_run, .arg = &k[i]};
    }
    k[1].opts.scale = false;
    k[2].opts.divisor = ATTN_D_HEAD;
    k[3].opts.shifted = true;
    k[4].opts.no_max = true;
    k[5].opts.temperature = 0.5f;
    k[6].opts.swapped = true;
    k[7].opts.precision = ATTN_BFLOAT16;
    k[8].opts.precision = ATTN_FLOAT16;
    bench_interleave(runs, 9, rounds_for(o, n), 10e-3);
    bench_print(runs, 9, n, attn_pool_size(c->pool), 0);
    return true;
}

static bool broken_case(const struct bench_opts *o)
{
    return each(o, (const int[]){1024}, 1, broken_one);
}

static bool from_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    struct block b;
    static struct bench_run runs[2];
    block_begin(&b, c, n);
    runs[0] = (struct bench_run){.name = "attn_block", .run = block_run, .arg = &b};
    runs[1] = (struct bench_run){
        .name = "attn_block_from, last row", .run = last_run, .arg = &b};
    bench_interleave(runs, 2, rounds_for(o, n), 10e-3);
    bench_print(runs, 2, n, attn_pool_size(c->pool), 0);
    return true;
}

static bool from_case(const struct bench_opts *o)
{
    return each(o, (const int[]){1024}, 1, from_one);
}

/* ---- decode -------------------------------------------------------------------------------- */

/* The floats a decoded token cannot do without, cut up among the threads. */
struct reading {
    const struct attn_ctx *c;
    const float *data;
    int n_part; /* of PART floats */
};

enum { PART = 1 << 16 };

static void reading_task(const void *arg, int t)
{
    const struct reading *r = arg;
    float max;
    r->c->k->row_max(&max, r->data + (size_t)t * PART, PART);
}

static void reading_run(void *arg)
{
    const struct reading *r = arg;
    attn_parallel(r->c, r->n_part, true, reading_task, r);
}

static bool decode_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    struct block b;
    static struct bench_run runs[2];
    block_begin(&b, c, n);
    block_run(&b);
    size_t floats = 4 * (size_t)D_MODEL * D_MODEL + 2 * (size_t)n * D_MODEL;
    struct reading r = {c, bench_alloc((floats + PART) * sizeof(float)),
                        (int)(floats / PART)};
    runs[0] =
        (struct bench_run){.name = "read W, K and V once", .run = reading_run, .arg = &r};
    runs[1] = (struct bench_run){.name = "decode one token", .run = last_run, .arg = &b};
    bench_interleave(runs, 2, rounds_for(o, n), 10e-3);
    bench_print(runs, 2, n, attn_pool_size(c->pool), 0);
    return true;
}

static bool decode_case(const struct bench_opts *o)
{
    return each(o, (const int[]){1024}, 1, decode_one);
}

/* ---- the MLP's products ---------------------------------------------------------------------- */

struct mlp {
    const struct attn_ctx *c;
    struct attn_linear up, down;
    struct attn_cmat x;
    struct attn_mat wide, y;
};

static void up_run(void *arg)
{
    struct mlp *m = arg;
    attn_linear_apply(m->c, m->wide, m->x, &m->up, ATTN_GELU, (struct attn_cmat){0});
}

static void down_run(void *arg)
{
    struct mlp *m = arg;
    attn_linear_apply(m->c, m->y, attn_const(m->wide), &m->down, ATTN_IDENTITY, m->x);
}

static void pack(const struct attn_ctx *c, struct attn_linear *l, int rows, int cols)
{
    size_t bytes = attn_linear_bytes(c->k, rows, cols);
    attn_linear_pack(c->k, l, bench_random(rows, cols, 0.1),
                     bench_random(1, cols, 0.1).data, bench_alloc(bytes), bytes);
}

static bool gemm_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    struct mlp m = {.c = c, .x = bench_random(n, D_MODEL, 1.0)};
    struct peak p;
    static struct bench_run runs[3];
    pack(c, &m.up, D_MODEL, 4 * D_MODEL);
    pack(c, &m.down, 4 * D_MODEL, D_MODEL);
    m.wide = writable(n, 4 * D_MODEL);
    m.y = writable(n, D_MODEL);
    double flops = 8.0 * n * D_MODEL * D_MODEL;
    runs[0] = peak_of(&p, c);
    runs[1] = (struct bench_run){
        .name = "768 -> 3072, bias, GELU", .run = up_run, .arg = &m, .flops = flops};
    runs[2] = (struct bench_run){
        .name = "3072 -> 768, bias, + h", .run = down_run, .arg = &m, .flops = flops};
    bench_interleave(runs, 3, rounds_for(o, n), 10e-3);
    bench_print(runs, 3, n, attn_pool_size(c->pool), -1);
    return true;
}

static bool gemm_case(const struct bench_opts *o)
{
    return each(o, (const int[]){64, 1024}, 2, gemm_one);
}

/* ---- softmax and exp, beside the reference kernels' --------------------------------------------- */

enum { ROWS_MOST = 16384 /* 1 GiB a matrix */ };

struct rows {
    struct attn_ctx c;
    struct attn_cmat s;
    struct attn_mat p;
};

static void softmax_run(void *arg)
{
    struct rows *r = arg;
    attn_softmax(&r->c, r->p, r->s, NULL);
}

static void exp_run(void *arg)
{
    struct rows *r = arg;
    attn_exp(&r->c, r->p.data, r->s.data, r->s.rows * r->s.cols);
}

static bool rows_one(const struct bench_opts *o, const struct attn_ctx *c, int n,
                     const char *name, void (*run)(void *arg))
{
    static struct bench_run runs[2];
    if (n > ROWS_MOST) {
        (void)fprintf(stderr, "headlight-bench: --n up to %d here\n", ROWS_MOST);
        return false;
    }
    struct rows fast = {*c, bench_random(n, n, 4.0), writable(n, n)}, ref = fast;
    ref.c.k = &attn_kernels_ref;
    runs[0] = (struct bench_run){.name = name, .run = run, .arg = &fast};
    runs[1] = (struct bench_run){.name = "by the reference", .run = run, .arg = &ref};
    bench_interleave(runs, 2, rounds_for(o, n), 10e-3);
    bench_print(runs, 2, n, attn_pool_size(c->pool), 0);
    return true;
}

static bool softmax_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    return rows_one(o, c, n, "softmax of N x N", softmax_run);
}

static bool softmax_case(const struct bench_opts *o)
{
    return each(o, (const int[]){1024}, 1, softmax_one);
}

static bool exp_one(const struct bench_opts *o, const struct attn_ctx *c, int n)
{
    return rows_one(o, c, n, "exp of N x N, one thread", exp_run);
}

static bool exp_case(const struct bench_opts *o)
{
    struct bench_opts one = *o;
    one.threads = 1;
    return each(&one, (const int[]){1024}, 1, exp_one);
}

const struct bench_case bench_attn_cases[] = {
    {"block", "the whole block, fused; --peers adds OpenBLAS, oneDNN and PyTorch",
     block_case},
    {"run", "attn_run (one head with every intermediate) beside attn_block", run_case},
    {"broken", "attn_run with a stage done wrong, beside the right one", broken_case},
    {"block-from", "redoing the last row beside the whole block", from_case},
    {"decode", "one more token beside reading all it needs once", decode_case},
    {"gemm", "the MLP's two products, with GELU and with the residual", gemm_case},
    {"softmax", "the softmax stage beside the reference kernels", softmax_case},
    {"exp", "the kernels' exp beside libm's", exp_case},
    {0},
};
