/* What the overview shows of a model and its text, block by block. */
#include "heads.h"

bool heads_key_same(struct run_key a, struct run_key b)
{
    a.block = b.block; /* every block of the text is part of it */
    a.head = b.head;
    if (a.model) a.n_given = b.n_given = 0; /* its blocks are read as they are */
    return run_key_same(a, b);
}

static bool make_room(struct arena *mem, size_t bytes, struct err *e)
{
    arena_reset(mem);
    if (mem->size >= bytes) return true;
    arena_free(mem);
    return arena_init(mem, bytes, e);
}

bool heads_begin(struct heads *h, struct run_key key, int n_block, struct attn_dims d,
                 struct err *e)
{
    enum { SLACK = 4 * 64 }; /* what aligning three blocks may cost */
    size_t side = (size_t)attn_heads_side(d.n_tok);
    size_t n = (size_t)n_block * (size_t)d.n_head, pixels = n * side * side;
    size_t work = attn_heads_bytes(d);
    h->made = false;
    h->done = 0;
    if (work == 0) return err_set(e, ERR_SYSTEM, "%s", attn_status_text(ATTN_BAD_SHAPE));
    if (!make_room(&h->mem, 2 * pixels * sizeof(float) + n * sizeof *h->sum + SLACK, e) ||
        !make_room(&h->work, work, e))
        return false;
    h->scores = arena_push(&h->mem, pixels, sizeof(float));
    h->weights = arena_push(&h->mem, pixels, sizeof(float));
    h->sum = arena_push(&h->mem, n, sizeof *h->sum);
    if (!h->scores || !h->weights || !h->sum)
        return err_set(e, ERR_SYSTEM, "no memory for the overview");
    h->key = key;
    h->dims = d;
    h->n_block = n_block;
    h->side = (int)side;
    return true;
}

bool heads_block(struct heads *h, int l, struct attn_cmat qkv, const int32_t *ids,
                 const struct attn_ctx *c, struct err *e)
{
    size_t first = (size_t)l * (size_t)h->dims.n_head;
    size_t at = first * (size_t)h->side * (size_t)h->side;
    const struct attn_heads_out out = {h->scores + at, h->weights + at, h->sum + first};
    struct attn_opts opts = h->key.opts;
    if (!h->key.model) opts.swapped = false; /* a run's qkv has it done */
    enum attn_status st =
        attn_heads(c, &out, qkv, ids, opts, h->dims, h->work.data, h->work.size);
    if (st != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "overview, block %d: %s", l + 1,
                       attn_status_text(st));
    if (c->cancel && *c->cancel) return err_set(e, ERR_CANCELLED, "cancelled");
    return true;
}

struct scene_heads heads_view(const struct heads *h)
{
    return (struct scene_heads){.n_block = h->n_block,
                                .n_head = h->dims.n_head,
                                .done = h->done,
                                .side = h->side,
                                .gain =
                                    (float)(1 / attn_divisor_of(h->key.opts, h->dims)),
                                .causal = h->key.opts.causal,
                                .shifted = h->key.opts.shifted,
                                .sum = h->sum,
                                .scores = h->scores,
                                .weights = h->weights,
                                .version = h->version};
}

void heads_fini(struct heads *h)
{
    arena_free(&h->mem);
    arena_free(&h->work);
    h->made = false;
}
