/* A run's ranges, checks and changes over the tokens that have come. */
#include "there.h"

#include "heads.h"

#include <math.h>

/* The part of a tensor that is there, without what the pass has not. */
static struct attn_cmat part_of(const struct attn_trace *t, enum attn_tensor id,
                                struct step_pass pass, int *row0)
{
    struct attn_cmat m = attn_trace_view(t, id, t->head);
    int row1 = m.rows;
    *row0 = 0;
    if (!m.data) return m;
    step_pass_rows(pass, id, row0, &row1, &m.cols);
    m.data += (size_t)*row0 * (size_t)m.ld;
    m.rows = row1 - *row0;
    return m;
}

static bool is_cut(enum attn_tensor id)
{
    return step_rows_are_tokens(id) || step_cols_are_tokens(id);
}

static void cut(struct attn_trace *out, const struct attn_trace *t, struct step_pass pass)
{
    int row0 = 0;
    *out = *t;
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++) {
        struct attn_cmat m = part_of(t, (enum attn_tensor)i, pass, &row0);
        if (m.data && is_cut((enum attn_tensor)i)) out->stats[i] = attn_stats_of(m);
    }
}

/* The largest change in the part that is there. */
static struct attn_change change_of(const struct scene_ghost *g,
                                    const struct attn_trace *is, enum attn_tensor id,
                                    struct step_pass pass)
{
    struct attn_change c = {.row = -1, .col = -1};
    float most = 0;
    int row0 = 0;
    struct attn_cmat d = part_of(g->diff, id, pass, &row0);
    for (int i = 0; d.data && i < d.rows; i++)
        for (int j = 0; j < d.cols; j++) {
            float v = fabsf(d.data[(size_t)i * (size_t)d.ld + (size_t)j]);
            if (v == 0) continue;
            if (isnan(v)) v = INFINITY;
            c.count++;
            if (v <= most) continue;
            most = v;
            c.row = row0 + i;
            c.col = j;
        }
    if (c.row < 0) return c;
    struct attn_cmat a = attn_trace_view(is, id, is->head);
    struct attn_cmat b = attn_trace_view(g->right, id, g->right->head);
    c.is = a.data[(size_t)c.row * (size_t)a.ld + (size_t)c.col];
    c.was = b.data[(size_t)c.row * (size_t)b.ld + (size_t)c.col];
    return c;
}

static void make(struct there *t, const struct scene_source *src)
{
    const struct scene_ghost *g = src->ghost;
    cut(&t->trace, src->trace, t->pass);
    scene_check_pass(&t->checks, &t->trace, src->attn, t->pass);
    if (!g) return;
    cut(&t->right_trace, g->right, t->pass);
    scene_check_pass(&t->right_checks, &t->right_trace, src->attn, t->pass);
    cut(&t->diff, g->diff, t->pass);
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++)
        t->change[i] = is_cut((enum attn_tensor)i)
                           ? change_of(g, src->trace, (enum attn_tensor)i, t->pass)
                           : g->change[i];
}

/* What the heads' weights do in the rows that have come. */
static bool measure(struct there *t, const struct scene_heads *h, int to,
                    const int32_t *ids, struct attn_opts opts)
{
    int n = h->n_block * h->n_head;
    size_t side = (size_t)h->side;
    size_t bytes = (size_t)n * sizeof *t->sum + 64;
    if (t->heads.version == h->version && t->heads.done == h->done && t->heads_to == to)
        return true;
    t->heads.version = 0;
    arena_reset(&t->mem);
    if (t->mem.size < bytes) {
        arena_free(&t->mem);
        if (!arena_init(&t->mem, bytes, NULL)) return false;
    }
    t->sum = arena_push(&t->mem, (size_t)n, sizeof *t->sum);
    for (int k = 0; k < h->done * h->n_head; k++) {
        size_t at = (size_t)k * side * side;
        t->sum[k] = h->sum[k];
        heads_measure(
            &t->sum[k], (struct attn_cmat){h->weights + at, to, h->side, h->side},
            (struct attn_cmat){h->scores + at, to, h->side, h->side}, ids, opts);
        t->sum[k].max_abs = h->sum[k].max_abs; /* the colours stay */
    }
    t->heads_to = to;
    return true;
}

static void show_heads(struct there *t, const struct step_state *s,
                       struct scene_source *src, const int32_t *ids)
{
    const struct scene_heads *h = src->heads;
    if (!h || h->side != step_place_of(s)->dims.n_tok ||
        !measure(t, h, t->pass.to, ids, step_opts_of(s)))
        return;
    t->heads = *h;
    t->heads.sum = t->sum;
    src->heads = &t->heads;
}

void there_fini(struct there *t)
{
    arena_free(&t->mem);
    *t = (struct there){0};
}

void there_show(struct there *t, const struct step_state *s, struct scene_source *src,
                const int32_t *ids)
{
    struct step_pass pass = step_pass_of(s);
    uint64_t right = src->ghost ? src->ghost->right_version : 0;
    if (!step_is_decoding(s) || !src->fits || !src->trace) return;
    bool same = t->version == src->version && t->right == right &&
                t->pass.from == pass.from && t->pass.to == pass.to;
    t->version = src->version;
    t->right = right;
    t->pass = pass;
    if (!same) make(t, src);
    src->trace = &t->trace;
    src->checks = &t->checks;
    show_heads(t, s, src, ids);
    if (!src->ghost) return;
    t->ghost = *src->ghost;
    t->ghost.right = &t->right_trace;
    t->ghost.checks = &t->right_checks;
    t->ghost.diff = &t->diff;
    t->ghost.change = t->change;
    src->ghost = &t->ghost;
}
