/* The right run beside a broken one, their difference, and where it is largest. */
#include "ghost.h"

#include <string.h>

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

bool ghost_right_copy(struct ghost_right *g, const struct run *right,
                      const struct run_model *m, struct err *e)
{
    uint64_t version = g->run.version;
    if (!run_copy(&g->run, right, e)) return false;
    g->n_made = m->n_made;
    g->run.version = version + 1;
    return true;
}

void ghost_right_fini(struct ghost_right *g)
{
    run_fini(&g->run);
}

/* ---- the difference --------------------------------------------------------------------- */

/* out = is - was of a tensor, with what is largest in it. Views of the same memory are
 * equal. */
static void subtract(struct ghost *g, const struct attn_ctx *c, enum attn_tensor id,
                     struct attn_mat out, struct attn_cmat is, struct attn_cmat was)
{
    if (is.data != was.data) {
        (void)attn_difference(c, out, is, was, &g->change[id]);
        return;
    }
    for (int i = 0; i < out.rows; i++)
        memset(out.data + (size_t)i * (size_t)out.ld, 0,
               (size_t)out.cols * sizeof *out.data);
    g->change[id] = (struct attn_change){.row = -1, .col = -1};
}

static struct attn_cmat const_of(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

/* Weights and inputs, which a trace only views: they differ where they were edited, and W_Q
 * and W_K where they were swapped. */
static bool subtract_inputs(struct ghost *g, const struct attn_ctx *c,
                            const struct attn_trace *a, const struct attn_trace *b)
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
        subtract(g, c, id, to, attn_trace_view(a, id, a->head),
                 attn_trace_view(b, id, b->head));
    }
    subtract(g, c, ATTN_W_O, (struct attn_mat){w_o, d, d, d}, a->w.w_o, b->w.w_o);
    subtract(g, c, ATTN_X, (struct attn_mat){x, n, d, d}, a->x, b->x);
    subtract(g, c, ATTN_H, (struct attn_mat){h, n, d, d}, a->h, b->h);
    g->diff.x = (struct attn_cmat){x, n, d, d};
    g->diff.h = (struct attn_cmat){h, n, d, d};
    return true;
}

/* The columns of the head in view, in a part that is d_model wide. */
static struct attn_mat of_head(struct attn_mat m, int part, const struct attn_trace *t)
{
    int d_head = attn_d_head(t->dims);
    m.data += part * t->dims.d_model + t->head * d_head;
    m.cols = d_head;
    return m;
}

bool ghost_make(struct ghost *g, const struct run *broken,
                const struct ghost_right *right, const struct attn_ctx *c, struct err *e)
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
        !subtract_inputs(g, c, a, b))
        return err_set(e, ERR_SYSTEM, "no memory for the difference");
    g->diff.head = a->head;
    g->diff.opts = (struct attn_opts){.residual = true};
    const struct attn_mat qkv = g->diff.qkv;
    const struct attn_mat z = g->diff.z;
    struct attn_change any; /* of all heads: nobody asks for the largest among them */
    (void)attn_difference(c, qkv, const_of(a->qkv), const_of(b->qkv), &any);
    const struct {
        enum attn_tensor id;
        struct attn_mat out;
    } parts[] = {{ATTN_Q, of_head(qkv, 0, a)},
                 {ATTN_K, of_head(qkv, 1, a)},
                 {ATTN_V, of_head(qkv, 2, a)},
                 {ATTN_S_RAW, g->diff.s_raw},
                 {ATTN_S_SCALED, g->diff.s_scaled},
                 {ATTN_S_MASKED, g->diff.s_masked},
                 {ATTN_P, g->diff.p},
                 {ATTN_Z_ALL, z},
                 {ATTN_Z, of_head(z, 0, a)},
                 {ATTN_Y_PROJ, g->diff.y_proj},
                 {ATTN_Y, g->diff.y}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        subtract(g, c, parts[i].id, parts[i].out,
                 attn_trace_view(a, parts[i].id, a->head),
                 attn_trace_view(b, parts[i].id, b->head));
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++)
        g->diff.stats[i] =
            attn_stats_of(attn_trace_view(&g->diff, (enum attn_tensor)i, a->head));
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
