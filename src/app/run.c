/* A model and one run of it, in memory that grows to the largest size asked for. */
#include "run.h"

#include "scene.h"

struct run_key run_key_of(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    return (struct run_key){.scale = s->scale,
                            .seed = p->seed,
                            .n_tok = p->dims.n_tok,
                            .head = p->head,
                            .opts = s->opts,
                            .block = p->block};
}

bool run_key_same_model(struct run_key a, struct run_key b)
{
    if (a.scale != b.scale || a.model != b.model) return false;
    return a.model ? a.text == b.text && a.block == b.block : a.seed == b.seed;
}

bool run_key_same(struct run_key a, struct run_key b)
{
    return run_key_same_model(a, b) && a.n_tok == b.n_tok && a.head == b.head &&
           a.opts.scale == b.opts.scale && a.opts.causal == b.opts.causal &&
           a.opts.residual == b.opts.residual;
}

/* At least `bytes` of empty arena; what it held is gone. One that has become too small
 * grows by more than it must: a text that is typed would outgrow it again at once. */
static bool make_room(struct arena *mem, size_t bytes, struct err *e)
{
    arena_reset(mem);
    if (mem->size >= bytes) return true;
    if (mem->size > 0 && bytes < SIZE_MAX / 2) bytes += bytes / 4;
    arena_free(mem);
    return arena_init(mem, bytes, e);
}

static enum model_kind kind_of(struct run_key key)
{
    return key.scale == STEP_TOY ? MODEL_TOY : MODEL_GPT2_RANDOM;
}

bool run_model_is(const struct run_model *m, struct run_key key)
{
    return m->made && run_key_same_model(m->key, key);
}

/* The weights laid out for the kernels, so that runs need not do it each time. */
static bool pack(struct run_model *m, const struct attn_ctx *c, struct err *e)
{
    size_t bytes = attn_packed_bytes(c->k, m->model.dims);
    struct attn_packed *packed = NULL;
    if (!make_room(&m->packed, bytes, e)) return false;
    void *mem = arena_push(&m->packed, bytes, 1);
    enum attn_status st =
        attn_pack(c->k, &packed, &m->model.weights, m->model.dims, mem, bytes);
    if (st != ATTN_OK) return err_set(e, ERR_SYSTEM, "weights: %s", attn_status_text(st));
    m->model.weights.packed = packed;
    return true;
}

bool run_model_make(struct run_model *m, struct run_key key, const struct attn_ctx *c,
                    struct err *e)
{
    m->made = false;
    if (!make_room(&m->mem, model_bytes(kind_of(key)), e)) return false;
    if (!model_make(&m->model, kind_of(key), key.seed, &m->mem, c, e)) return false;
    m->key = key;
    m->made = pack(m, c, e);
    return m->made;
}

bool run_model_view(struct run_model *m, struct run_key key, struct model_net *net,
                    const struct attn_ctx *c, struct err *e)
{
    m->made = false;
    if (!make_room(&m->mem, model_net_view_bytes(net), e) ||
        !model_net_view(net, &m->model, key.block, &m->mem, c, e))
        return false;
    m->key = key;
    m->made = pack(m, c, e);
    return m->made;
}

void run_model_fini(struct run_model *m)
{
    arena_free(&m->packed);
    arena_free(&m->mem);
    m->made = false;
}

static struct attn_cmat first_rows(struct attn_cmat m, int rows)
{
    m.rows = rows;
    return m;
}

/* Lays trace, blend and reach out in r->mem, which also has room for v W_O meanwhile. */
static bool lay_out(struct run *r, struct attn_dims d, float **work, struct err *e)
{
    enum { SLACK = 256 }; /* what aligning four blocks may cost */
    size_t bytes = attn_trace_bytes(d), n = (size_t)d.n_tok;
    if (bytes == 0)
        return err_set(e, ERR_SYSTEM, "%d tokens: %s", d.n_tok,
                       attn_status_text(ATTN_BAD_SHAPE));
    size_t floats = n * (3 + 1 + (size_t)d.d_model);
    if (!make_room(&r->mem, bytes + floats * sizeof(float) + SLACK, e)) return false;
    void *mem = arena_take(&r->mem, bytes, 1);
    r->blend = arena_push(&r->mem, n * 3, sizeof(float));
    r->reach = arena_push(&r->mem, n, sizeof(float));
    *work = arena_take(&r->mem, n * (size_t)d.d_model, sizeof(float));
    if (mem && r->blend && r->reach && *work &&
        attn_trace_init(&r->trace, d, mem, bytes) == ATTN_OK)
        return true;
    return err_set(e, ERR_SYSTEM, "no memory for the trace");
}

static enum attn_status reach_of(struct run *r, const struct attn_ctx *c, float *work)
{
    struct attn_dims d = r->trace.dims;
    int d_head = attn_d_head(d);
    struct attn_cmat w_o = attn_trace_view(&r->trace, ATTN_W_O, r->trace.head);
    w_o.data += (size_t)r->trace.head * (size_t)d_head * (size_t)w_o.ld;
    w_o.rows = d_head;
    return attn_reach(c, r->reach, (struct attn_mat){work, d.n_tok, d.d_model, d.d_model},
                      attn_trace_view(&r->trace, ATTN_V, r->trace.head), w_o);
}

bool run_make(struct run *r, struct run_key key, const struct model *m,
              const struct attn_ctx *c, struct err *e)
{
    r->made = false;
    struct attn_dims dims = m->dims;
    float *work = NULL;
    dims.n_tok = key.n_tok;
    if (!lay_out(r, dims, &work, e)) return false;
    enum attn_status st =
        attn_run(c, &r->trace, first_rows(m->x, key.n_tok), first_rows(m->h, key.n_tok),
                 &m->weights, key.opts, key.head);
    if (st == ATTN_OK) st = reach_of(r, c, work);
    if (st != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "%d tokens, head %d: %s", key.n_tok, key.head + 1,
                       attn_status_text(st));
    scene_blend(r->blend, attn_trace_view(&r->trace, ATTN_P, key.head));
    r->key = key;
    r->model = m;
    r->made = true;
    return true;
}

void run_fini(struct run *r)
{
    arena_free(&r->mem);
    r->made = false;
}
