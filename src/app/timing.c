/* The stages against the clock. Each runs a few times; the median counts. */
#include "timing.h"

#include "model.h"

#include <SDL.h>
#include <math.h>
#include <stdlib.h>

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 64, SEED = 7 };
static const double long_enough = 0.05; /* seconds of one number of tokens */

/* One block's buffers, for the most tokens. */
struct bench {
    struct attn_dims d;
    float *x, *h, *qkv, *z, *y; /* [n_tok, d_model], qkv [n_tok, 3*d_model] */
    float *a, *b;               /* [n_tok, n_tok] */
    struct attn_linear in, out;
};

static size_t floats_of(struct attn_dims d)
{
    size_t n = (size_t)d.n_tok;
    size_t w = (size_t)d.d_model;
    return 7 * n * w + 2 * n * n + 4 * w * w;
}

/* Weights with the spread of an initialisation, laid out for the kernels. */
static bool pack(struct attn_linear *l, struct arena *mem, const struct attn_kernels *k,
                 int rows, int cols, uint32_t stream)
{
    size_t n = (size_t)rows * (size_t)cols;
    size_t bytes = attn_linear_bytes(k, rows, cols);
    float *w = arena_take(mem, n, sizeof *w);
    void *packed = arena_push(mem, bytes, 1);
    if (!w || !packed) return false;
    model_normals(w, n, SEED, stream);
    for (size_t i = 0; i < n; i++) w[i] *= 1.0f / sqrtf((float)rows);
    return attn_linear_pack(k, l, (struct attn_cmat){w, rows, cols, cols}, NULL, packed,
                            bytes) == ATTN_OK;
}

static bool set_up(struct bench *t, struct arena *mem, const struct attn_kernels *k)
{
    size_t n = (size_t)t->d.n_tok;
    size_t w = (size_t)t->d.d_model;
    t->x = arena_take(mem, n * w, sizeof(float));
    t->h = arena_take(mem, n * w, sizeof(float));
    t->qkv = arena_take(mem, 3 * n * w, sizeof(float));
    t->z = arena_take(mem, n * w, sizeof(float));
    t->y = arena_take(mem, n * w, sizeof(float));
    t->a = arena_take(mem, n * n, sizeof(float));
    t->b = arena_take(mem, n * n, sizeof(float));
    if (!t->x || !t->h || !t->qkv || !t->z || !t->y || !t->a || !t->b) return false;
    model_normals(t->x, n * w, SEED, 0);
    model_normals(t->h, n * w, SEED, 1);
    return pack(&t->in, mem, k, t->d.d_model, 3 * t->d.d_model, 2) &&
           pack(&t->out, mem, k, t->d.d_model, t->d.d_model, 3);
}

static double now(void)
{
    return (double)SDL_GetPerformanceCounter() / (double)SDL_GetPerformanceFrequency();
}

/* Stages 2 to 6 of one head, added to seconds. */
static enum attn_status one_head(const struct bench *t, const struct attn_ctx *c, int n,
                                 int head, double seconds[ATTN_STAGE_COUNT])
{
    int w = t->d.d_model;
    int d = attn_d_head(t->d);
    const float *from = t->qkv + (size_t)head * (size_t)d;
    const struct attn_cmat q = {from, n, d, 3 * w};
    const struct attn_cmat k = {from + w, n, d, 3 * w};
    const struct attn_cmat v = {from + 2 * (size_t)w, n, d, 3 * w};
    const struct attn_mat a = {t->a, n, n, n};
    const struct attn_mat b = {t->b, n, n, n};
    const struct attn_cmat in_a = {t->a, n, n, n};
    const struct attn_cmat in_b = {t->b, n, n, n};
    struct attn_mat z = {t->z + (size_t)head * (size_t)d, n, d, w};
    enum attn_status st = ATTN_OK;
    double at = now();
    for (int s = ATTN_SCORES; s <= ATTN_WEIGHTED_SUM && st == ATTN_OK; s++) {
        if (s == ATTN_SCORES) st = attn_scores(c, a, q, k);
        if (s == ATTN_SCALE) st = attn_scale(c, b, in_a, d);
        if (s == ATTN_MASK) st = attn_mask(c, a, in_b);
        if (s == ATTN_SOFTMAX) st = attn_softmax(c, b, in_a, NULL);
        if (s == ATTN_WEIGHTED_SUM) st = attn_weighted_sum(c, z, in_b, v, true);
        double then = at;
        at = now();
        seconds[s] += at - then;
    }
    return st;
}

static enum attn_status one_round(const struct bench *t, const struct attn_ctx *c, int n,
                                  double seconds[ATTN_STAGE_COUNT])
{
    int w = t->d.d_model;
    const struct attn_cmat none = {NULL, 0, 0, 0};
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) seconds[s] = 0.0;
    double from = now();
    enum attn_status st =
        attn_linear_apply(c, (struct attn_mat){t->qkv, n, 3 * w, 3 * w},
                          (struct attn_cmat){t->x, n, w, w}, &t->in, ATTN_IDENTITY, none);
    seconds[ATTN_PROJECTIONS] = now() - from;
    for (int h = 0; h < t->d.n_head && st == ATTN_OK; h++)
        st = one_head(t, c, n, h, seconds);
    if (st != ATTN_OK) return st;
    from = now();
    st = attn_linear_apply(c, (struct attn_mat){t->y, n, w, w},
                           (struct attn_cmat){t->z, n, w, w}, &t->out, ATTN_IDENTITY,
                           (struct attn_cmat){t->h, n, w, w});
    seconds[ATTN_OUTPUT] = now() - from;
    return st;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool cancelled(const struct attn_ctx *c)
{
    return c->cancel && *c->cancel;
}

/* The median round of each stage. false: cancelled, or *st is not ATTN_OK. */
static bool one_count(const struct bench *t, const struct attn_ctx *c, int n,
                      double median[ATTN_STAGE_COUNT], enum attn_status *st)
{
    double of[ATTN_STAGE_COUNT][MOST_ROUNDS];
    double from = now();
    int rounds = 0;
    while (rounds < MOST_ROUNDS &&
           (rounds < LEAST_ROUNDS || now() - from < long_enough)) {
        double seconds[ATTN_STAGE_COUNT];
        *st = one_round(t, c, n, seconds);
        if (*st != ATTN_OK || cancelled(c)) return false;
        for (int s = 0; s < ATTN_STAGE_COUNT; s++) of[s][rounds] = seconds[s];
        rounds++;
    }
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        qsort(of[s], (size_t)rounds, sizeof of[s][0], ascending);
        median[s] = of[s][rounds / 2];
    }
    return true;
}

bool timing_make(struct scene_times *out, atomic_int *done, struct attn_dims d,
                 const struct attn_ctx *c, void (*tell)(void *arg), void *arg,
                 struct err *e)
{
    struct arena mem = {0};
    struct bench t = {.d = d};
    t.d.n_tok = TIMING_FIRST << (TIMING_COUNT - 1);
    size_t more = attn_linear_bytes(c->k, d.d_model, 3 * d.d_model) +
                  attn_linear_bytes(c->k, d.d_model, d.d_model) + 4096;
    if (!arena_init(&mem, floats_of(t.d) * sizeof(float) + more, e)) return false;
    enum attn_status st = ATTN_OK;
    bool ok = set_up(&t, &mem, c->k) ||
              err_set(e, ERR_SYSTEM, "no memory to measure %d tokens", t.d.n_tok);
    for (int i = 0; ok && i < TIMING_COUNT; i++) {
        int n = TIMING_FIRST << i;
        if (!one_count(&t, c, n, out->seconds[i], &st)) {
            ok = st == ATTN_OK
                     ? err_set(e, ERR_CANCELLED, "cancelled")
                     : err_set(e, ERR_SYSTEM, "%d tokens: %s", n, attn_status_text(st));
            break;
        }
        out->n_tok[i] = n;
        atomic_store(done, i + 1);
        if (tell) tell(arg);
    }
    arena_free(&mem);
    return ok;
}
