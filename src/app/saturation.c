/* Softmax over random scores, against d_head. Draws are rows: the first d numbers of a query
 * and of n_key keys make one row of scores at d_head = d. */
#include "saturation.h"

#include "model.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 1, MOST_D = STEP_LAB_MOST_D };

void saturation_draw(float *q, float *k, int n_key, int set)
{
    uint32_t stream = 2 * (uint32_t)set;
    model_normals(q, (size_t)SATURATION_QUERIES * MOST_D, SEED, stream);
    model_normals(k, (size_t)n_key * MOST_D, SEED, stream + 1);
}

/* The d_head that there are figures of. */
static void set_axis(struct scene_saturation *out, int d_head)
{
    out->n = 0;
    for (int i = 0; i < STEP_LAB_DS; i++) {
        int d = step_lab_d(i);
        int before = out->n ? out->d[out->n - 1] : 0;
        if (d_head > before && d_head < d) out->d[out->n++] = d_head;
        out->d[out->n++] = d;
    }
}

/* One number a draw: of the largest weight and of the entropy, without and with the
 * division, at every d_head. */
struct found {
    float top[2][SCENE_SATURATION][SATURATION_DRAWS];
    float entropy[2][SCENE_SATURATION][SATURATION_DRAWS];
};

struct room {
    float *q, *k, *s; /* s [SATURATION_QUERIES, n_key] */
    struct found *found;
};

static void read_rows(const struct room *r, const struct attn_ctx *c, int n_key, int with,
                      int at, int set)
{
    for (int i = 0; i < SATURATION_QUERIES; i++) {
        struct attn_row row =
            attn_row_explain(c, NULL, r->s + (size_t)i * (size_t)n_key, n_key);
        int draw = set * SATURATION_QUERIES + i;
        r->found->top[with][at][draw] = row.top;
        r->found->entropy[with][at][draw] = row.entropy;
    }
}

static enum attn_status one_set(const struct room *r, const struct scene_saturation *sat,
                                const struct attn_ctx *c, int set)
{
    int n = sat->n_key;
    struct attn_mat s = {r->s, SATURATION_QUERIES, n, n};
    const struct attn_cmat read = {r->s, SATURATION_QUERIES, n, n};
    saturation_draw(r->q, r->k, n, set);
    for (int i = 0; i < sat->n; i++) {
        int d = sat->d[i];
        enum attn_status st =
            attn_scores(c, s, (struct attn_cmat){r->q, SATURATION_QUERIES, d, MOST_D},
                        (struct attn_cmat){r->k, n, d, MOST_D});
        if (st != ATTN_OK) return st;
        read_rows(r, c, n, 0, i, set);
        st = attn_scale(c, s, read, d);
        if (st != ATTN_OK) return st;
        read_rows(r, c, n, 1, i, set);
    }
    return ATTN_OK;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a;
    float y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static struct scene_spread spread_of(float *v)
{
    enum { N = SATURATION_DRAWS };
    double sum = 0.0;
    qsort(v, N, sizeof *v, ascending);
    for (int i = 0; i < N; i++) sum += (double)v[i];
    return (struct scene_spread){(float)(sum / N), v[N / 10], v[N - 1 - N / 10]};
}

bool saturation_make(struct scene_saturation *out, int n_key, int d_head,
                     const struct attn_ctx *c, struct err *e)
{
    struct arena mem = {0};
    struct room r = {0};
    size_t n = (size_t)n_key;
    size_t floats = (SATURATION_QUERIES + n) * MOST_D + SATURATION_QUERIES * n;
    if (!arena_init(&mem, floats * sizeof(float) + sizeof *r.found + 512, e))
        return false;
    r.q = arena_take(&mem, (size_t)SATURATION_QUERIES * MOST_D, sizeof(float));
    r.k = arena_take(&mem, n * MOST_D, sizeof(float));
    r.s = arena_take(&mem, SATURATION_QUERIES * n, sizeof(float));
    r.found = arena_take(&mem, 1, sizeof *r.found);
    *out = (struct scene_saturation){.n_key = n_key, .n_draw = SATURATION_DRAWS};
    set_axis(out, d_head);
    bool ok = r.q && r.k && r.s && r.found;
    if (!ok) (void)err_set(e, ERR_SYSTEM, "no memory for %d keys", n_key);
    for (int set = 0; ok && set < SATURATION_SETS; set++) {
        enum attn_status st = one_set(&r, out, c, set);
        if (st != ATTN_OK)
            ok = err_set(e, ERR_SYSTEM, "%d keys: %s", n_key, attn_status_text(st));
        if (c->cancel && *c->cancel) ok = err_set(e, ERR_CANCELLED, "cancelled");
    }
    for (int k = 0; ok && k < 2; k++)
        for (int i = 0; i < out->n; i++) {
            out->top[k][i] = spread_of(r.found->top[k][i]);
            out->entropy[k][i] = spread_of(r.found->entropy[k][i]);
        }
    arena_free(&mem);
    return ok;
}
