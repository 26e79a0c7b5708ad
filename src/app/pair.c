/* A second head, stage by stage as attn_run has it, and the first head minus it. */
#include "pair.h"

enum { RAW, SCALED, MASKED, WEIGHTS, KINDS = SCENE_PAIR_KINDS, MATRICES = 2 * KINDS - 1 };

static bool make_room(struct head_pair *p, const struct attn_trace *t, struct err *e)
{
    size_t n = (size_t)t->dims.n_tok;
    size_t bytes = (size_t)MATRICES * (n * n * sizeof(float) + 64) +
                   n * (size_t)t->z.ld * sizeof(float) + 128;
    arena_reset(&p->mem);
    if (p->mem.size >= bytes) return true;
    arena_free(&p->mem);
    return arena_init(&p->mem, bytes, e);
}

static struct attn_cmat seen(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

/* out = a - b */
static void subtract(struct attn_mat out, struct attn_cmat a, struct attn_cmat b)
{
    for (size_t i = 0; i < (size_t)out.rows; i++)
        for (size_t j = 0; j < (size_t)out.cols; j++)
            out.data[i * (size_t)out.ld + j] =
                a.data[i * (size_t)a.ld + j] - b.data[i * (size_t)b.ld + j];
}

/* The head `head` of t with buffers of its own for what attn_run_head fills. */
static enum attn_status second_stages(const struct attn_ctx *c,
                                      const struct attn_trace *t, int head,
                                      struct attn_mat own[KINDS], struct attn_mat z)
{
    struct attn_trace other = *t;
    other.s_raw = own[RAW];
    other.s_scaled = own[SCALED];
    other.s_masked = own[MASKED];
    other.p = own[WEIGHTS];
    other.z = z;
    return attn_run_head(c, &other, head);
}

bool pair_make(struct head_pair *p, const struct attn_trace *t, int second,
               const struct attn_ctx *c, struct err *e)
{
    int n = t->dims.n_tok;
    struct attn_mat own[KINDS];
    struct attn_mat minus[KINDS];
    p->view.head = -1;
    if (!make_room(p, t, e)) return false;
    for (int k = 0; k < KINDS; k++) {
        own[k] = minus[k] = (struct attn_mat){NULL, n, n, n};
        own[k].data = arena_take(&p->mem, (size_t)n * (size_t)n, sizeof(float));
        if (k != MASKED)
            minus[k].data = arena_take(&p->mem, (size_t)n * (size_t)n, sizeof(float));
        if (!own[k].data || (k != MASKED && !minus[k].data))
            return err_set(e, ERR_SYSTEM, "no memory for a second head");
    }
    struct attn_mat z = t->z;
    z.data = arena_take(&p->mem, (size_t)z.rows * (size_t)z.ld, sizeof(float));
    if (!z.data) return err_set(e, ERR_SYSTEM, "no memory for a second head");
    enum attn_status st = second_stages(c, t, second, own, z);
    if (st != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "head %d: %s", second + 1, attn_status_text(st));
    for (int k = 0; k < KINDS; k++) {
        enum attn_tensor id = (enum attn_tensor)(ATTN_S_RAW + k);
        if (k != MASKED)
            subtract(minus[k], attn_trace_view(t, id, t->head), seen(own[k]));
        p->view.second[k] = seen(own[k]);
        /* -inf minus -inf is no number: masked cells are hatched over the scaled ones. */
        p->view.minus[k] = seen(minus[k == MASKED ? SCALED : k]);
        p->view.second_most[k] = attn_stats_of(p->view.second[k]).max_abs;
        p->view.minus_most[k] = attn_stats_of(p->view.minus[k]).max_abs;
    }
    if (c->cancel && *c->cancel) return err_set(e, ERR_CANCELLED, "cancelled");
    p->view.head = second;
    return true;
}

void pair_fini(struct head_pair *p)
{
    arena_free(&p->mem);
    p->view.head = -1;
}
