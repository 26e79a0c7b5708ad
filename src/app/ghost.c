/* The right run beside a broken one, their difference, and where it is largest. */
#include "ghost.h"

#include <math.h>

bool ghost_right_is(const struct ghost_right *g, const struct run *r,
                    const struct run_model *m)
{
    return g->run.made && g->run.model == &m->model && g->n_made == m->n_made &&
           run_key_same(g->run.key, run_key_right(r->key));
}

bool ghost_right_make(struct ghost_right *g, const struct run *r,
                      const struct run_model *m, const struct attn_ctx *c, struct err *e)
{
    uint64_t version = g->run.version;
    if (!run_make(&g->run, run_key_right(r->key), &m->model, c, e)) return false;
    g->n_made = m->n_made;
    g->run.version = version + 1;
    return true;
}

void ghost_right_fini(struct ghost_right *g)
{
    run_fini(&g->run);
}

/* ---- the difference --------------------------------------------------------------------- */

/* Equal values differ by 0, infinities and NaN too. */
static float difference(float is, float was)
{
    if (is == was || (isnan(is) && isnan(was))) return 0.0f;
    return is - was;
}

/* How large a change is: from or to a number that is none, more than any other. */
static float size_of(float is, float was)
{
    float d = fabsf(difference(is, was));
    return isnan(d) ? INFINITY : d;
}

static void subtract(struct attn_mat out, struct attn_cmat is, struct attn_cmat was)
{
    for (int i = 0; i < out.rows; i++) {
        float *o = out.data + (size_t)i * (size_t)out.ld;
        const float *a = is.data + (size_t)i * (size_t)is.ld;
        const float *b = was.data + (size_t)i * (size_t)was.ld;
        for (int j = 0; j < out.cols; j++) o[j] = difference(a[j], b[j]);
    }
}

static struct scene_change largest(struct attn_cmat is, struct attn_cmat was)
{
    struct scene_change c = {.row = -1, .col = -1};
    float most = 0.0f;
    for (int i = 0; i < is.rows; i++) {
        const float *a = is.data + (size_t)i * (size_t)is.ld;
        const float *b = was.data + (size_t)i * (size_t)was.ld;
        for (int j = 0; j < is.cols; j++) {
            float d = size_of(a[j], b[j]);
            c.count += d > 0.0f;
            if (!(d > most)) continue;
            most = d;
            c.row = i;
            c.col = j;
            c.is = a[j];
            c.was = b[j];
        }
    }
    return c;
}

static struct attn_cmat const_of(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

/* Weights and inputs, which a trace only views: they differ where they were edited, and W_Q
 * and W_K where they were swapped. */
static bool subtract_inputs(struct ghost *g, const struct attn_trace *a,
                            const struct attn_trace *b)
{
    int n = a->dims.n_tok;
    int d = a->dims.d_model;
    int d_head = attn_d_head(a->dims);
    size_t width = (size_t)d;
    float *w_qkv = arena_push(&g->mem, 3 * width * width, sizeof *w_qkv);
    float *w_o = arena_push(&g->mem, width * width, sizeof *w_o);
    float *x = arena_push(&g->mem, (size_t)n * width, sizeof *x);
    float *h = arena_push(&g->mem, (size_t)n * width, sizeof *h);
    if (!w_qkv || !w_o || !x || !h) return false;
    g->diff.w =
        (struct attn_weights){.w_qkv = {w_qkv, d, 3 * d, 3 * d}, .w_o = {w_o, d, d, d}};
    for (int part = 0; part < 3; part++) { /* of the head in view */
        enum attn_tensor id = (enum attn_tensor)(ATTN_W_Q + part);
        struct attn_mat to = {w_qkv + (size_t)part * width +
                                  (size_t)a->head * (size_t)d_head,
                              d, d_head, 3 * d};
        subtract(to, attn_trace_view(a, id, a->head), attn_trace_view(b, id, b->head));
    }
    subtract((struct attn_mat){w_o, d, d, d}, a->w.w_o, b->w.w_o);
    subtract((struct attn_mat){x, n, d, d}, a->x, b->x);
    subtract((struct attn_mat){h, n, d, d}, a->h, b->h);
    g->diff.x = (struct attn_cmat){x, n, d, d};
    g->diff.h = (struct attn_cmat){h, n, d, d};
    return true;
}

bool ghost_make(struct ghost *g, const struct run *broken,
                const struct ghost_right *right, struct err *e)
{
    const struct attn_trace *a = &broken->trace;
    const struct attn_trace *b = &right->run.trace;
    size_t n = (size_t)a->dims.n_tok;
    size_t d = (size_t)a->dims.d_model;
    size_t bytes = attn_trace_bytes(a->dims);
    enum { SLACK = 512 };
    g->right = NULL;
    size_t all = bytes + (4 * d * d + 2 * n * d) * sizeof(float) + SLACK;
    arena_reset(&g->mem);
    if (g->mem.size < all) {
        arena_free(&g->mem);
        if (!arena_init(&g->mem, all, e)) return false;
    }
    void *mem = arena_take(&g->mem, bytes, 1);
    if (!mem || attn_trace_init(&g->diff, a->dims, mem, bytes) != ATTN_OK ||
        !subtract_inputs(g, a, b))
        return err_set(e, ERR_SYSTEM, "no memory for the difference");
    g->diff.head = a->head;
    g->diff.opts = (struct attn_opts){.residual = true};
    const struct attn_mat out[] = {g->diff.qkv,      g->diff.s_raw, g->diff.s_scaled,
                                   g->diff.s_masked, g->diff.p,     g->diff.z,
                                   g->diff.y_proj,   g->diff.y};
    const struct attn_mat is[] = {a->qkv, a->s_raw, a->s_scaled, a->s_masked,
                                  a->p,   a->z,     a->y_proj,   a->y};
    const struct attn_mat was[] = {b->qkv, b->s_raw, b->s_scaled, b->s_masked,
                                   b->p,   b->z,     b->y_proj,   b->y};
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++)
        subtract(out[i], const_of(is[i]), const_of(was[i]));
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++) {
        enum attn_tensor id = (enum attn_tensor)i;
        g->diff.stats[i] = attn_stats_of(attn_trace_view(&g->diff, id, a->head));
        g->change[i] =
            largest(attn_trace_view(a, id, a->head), attn_trace_view(b, id, b->head));
    }
    g->right = right;
    return true;
}

struct scene_ghost ghost_view(const struct ghost *g)
{
    return (struct scene_ghost){.right = &g->right->run.trace,
                                .blend = g->right->run.blend,
                                .checks = &g->right->run.checks,
                                .reach = g->right->run.reach,
                                .diff = &g->diff,
                                .change = g->change,
                                .right_version = g->right->run.version};
}

void ghost_fini(struct ghost *g)
{
    arena_free(&g->mem);
    g->right = NULL;
}
