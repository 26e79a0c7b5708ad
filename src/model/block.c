/* One block's weights from the file into the kernels' layout. */
#include "net.h"

#include <assert.h>
#include <string.h>

struct attn_dims net_dims(const struct model_net *m, int n_tok)
{
    return (struct attn_dims){n_tok, m->info.d_model, m->info.n_head};
}

bool net_cancelled(const struct attn_ctx *c, struct err *e)
{
    if (!c->cancel || !*c->cancel) return false;
    (void)err_set(e, ERR_CANCELLED, "cancelled");
    return true;
}

void block_free(struct block *b)
{
    arena_free(&b->mem);
    *b = (struct block){.l = -1};
}

bool norm_read(struct model_net *m, float *const to[2], const struct tensor_at *gain,
               const struct tensor_at *bias, struct err *e)
{
    return tensor_read(&m->weights, gain, to[0], &m->odd, e) &&
           (!bias || tensor_read(&m->weights, bias, to[1], &m->odd, e));
}

/* What one block takes: 12 allocations, each rounded up. */
static size_t block_bytes(const struct model_net *m)
{
    size_t d = (size_t)m->info.d_model, mlp = (size_t)m->info.d_mlp;
    size_t vectors = (9 * d + mlp) * sizeof(float);
    return vectors + attn_packed_bytes(m->k, net_dims(m, 1)) +
           attn_linear_bytes(m->k, (int)d, (int)mlp) +
           attn_linear_bytes(m->k, (int)mlp, (int)d) + ROUNDING;
}

static size_t staging_bytes(const struct model_net *m)
{
    size_t d = (size_t)m->info.d_model, mlp = (size_t)m->info.d_mlp;
    size_t wide = mlp > 4 * d ? mlp : 4 * d;
    return d * wide * sizeof(float) + ROUNDING;
}

/* Vectors of a block while it is read, biases NULL where the model has none. */
struct vectors {
    float *qkv, *o, *fc, *proj;
};

static bool push_vectors(struct block *b, struct vectors *v, const struct model_net *m)
{
    const size_t d = (size_t)m->info.d_model;
    struct {
        float **at;
        size_t n;
        bool bias;
    } const all[] = {{&b->ln_1[0], d, false},
                     {&b->ln_2[0], d, false},
                     {&b->ln_1[1], d, true},
                     {&b->ln_2[1], d, true},
                     {&v->qkv, 3 * d, true},
                     {&v->o, d, true},
                     {&v->fc, (size_t)m->info.d_mlp, true},
                     {&v->proj, d, true}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i].at = NULL;
        if (all[i].bias && !m->info.bias) continue;
        *all[i].at = arena_push(&b->mem, all[i].n, sizeof(float));
        if (!*all[i].at) return false;
    }
    return true;
}

static bool read_vectors(struct model_net *m, const struct block *b,
                         const struct vectors *v, struct err *e)
{
    const struct tensor_at *const *part = m->layout.block[b->l];
    if (!norm_read(m, b->ln_1, part[LN_1_WEIGHT], part[LN_1_BIAS], e) ||
        !norm_read(m, b->ln_2, part[LN_2_WEIGHT], part[LN_2_BIAS], e))
        return false;
    struct {
        const struct tensor_at *from;
        float *to;
    } const biases[] = {{part[C_ATTN_BIAS], v->qkv},
                        {part[C_PROJ_BIAS], v->o},
                        {part[C_FC_BIAS], v->fc},
                        {part[MLP_PROJ_BIAS], v->proj}};
    for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++)
        if (biases[i].to &&
            !tensor_read(&m->weights, biases[i].from, biases[i].to, &m->odd, e))
            return false;
    return true;
}

static bool pack_attention(struct model_net *m, struct block *b, const struct vectors *v,
                           struct err *e)
{
    const struct tensor_at *const *part = m->layout.block[b->l];
    int d = m->info.d_model;
    size_t square = (size_t)d * (size_t)d,
           bytes = attn_packed_bytes(m->k, net_dims(m, 1));
    arena_reset(&m->staging);
    float *w_qkv = arena_take(&m->staging, 3 * square, sizeof(float));
    float *w_o = arena_take(&m->staging, square, sizeof(float));
    void *mem = arena_take(&b->mem, bytes, 1);
    if (!w_qkv || !w_o || !mem) return err_set(e, ERR_SYSTEM, "no memory for a block");
    if (!tensor_read(&m->weights, part[C_ATTN_WEIGHT], w_qkv, &m->odd, e) ||
        !tensor_read(&m->weights, part[C_PROJ_WEIGHT], w_o, &m->odd, e))
        return false;
    b->attn = (struct attn_weights){.b_qkv = v->qkv, .b_o = v->o};
    struct attn_weights plain = b->attn;
    plain.w_qkv = (struct attn_cmat){w_qkv, d, 3 * d, 3 * d};
    plain.w_o = (struct attn_cmat){w_o, d, d, d};
    enum attn_status s = attn_pack(m->k, &b->packed, &plain, net_dims(m, 1), mem, bytes);
    assert(s == ATTN_OK); /* shapes and bytes are our own */
    (void)s;
    b->attn.packed = b->packed;
    return true;
}

static bool pack_linear(struct model_net *m, struct block *b, struct attn_linear *out,
                        const struct tensor_at *weight, const float *bias, struct err *e)
{
    int rows = (int)weight->shape[0], cols = (int)weight->shape[1];
    size_t bytes = attn_linear_bytes(m->k, rows, cols);
    arena_reset(&m->staging);
    float *w = arena_take(&m->staging, (size_t)rows * (size_t)cols, sizeof(float));
    void *mem = arena_take(&b->mem, bytes, 1);
    if (!w || !mem) return err_set(e, ERR_SYSTEM, "no memory for a block");
    if (!tensor_read(&m->weights, weight, w, &m->odd, e)) return false;
    enum attn_status s = attn_linear_pack(
        m->k, out, (struct attn_cmat){w, rows, cols, cols}, bias, mem, bytes);
    assert(s == ATTN_OK);
    (void)s;
    return true;
}

static bool fill(struct model_net *m, struct block *b, const struct attn_ctx *c,
                 struct err *e)
{
    const struct tensor_at *const *part = m->layout.block[b->l];
    struct vectors v = {0};
    if (!push_vectors(b, &v, m)) return err_set(e, ERR_SYSTEM, "no memory for a block");
    return read_vectors(m, b, &v, e) && !net_cancelled(c, e) &&
           pack_attention(m, b, &v, e) && !net_cancelled(c, e) &&
           pack_linear(m, b, &b->fc, part[C_FC_WEIGHT], v.fc, e) &&
           !net_cancelled(c, e) &&
           pack_linear(m, b, &b->proj, part[MLP_PROJ_WEIGHT], v.proj, e);
}

/* An arena of the block's size in b, kept from the last time where there is one. */
static bool make_room(struct block *b, size_t bytes, struct err *e)
{
    b->l = -1;
    arena_reset(&b->mem);
    return b->mem.size >= bytes || arena_init(&b->mem, bytes, e);
}

/* The last kept block's arena becomes the spare's: that block will be read again. */
static bool give_up_one(struct model_net *m, size_t bytes)
{
    for (int l = m->info.n_layer - 1; l >= 0; l--) {
        if (m->block[l].l != l) continue;
        arena_free(&m->spare.mem);
        m->spare = (struct block){.mem = m->block[l].mem, .l = -1};
        m->block[l] = (struct block){.l = -1};
        m->kept_bytes -= bytes;
        return true;
    }
    return false;
}

/* Where a block goes: among those that are kept, or, where that is too much or memory is
 * short, in the place of one that is then read again. NULL: there is none at all. */
static struct block *place_for(struct model_net *m, int l, size_t bytes, struct err *e)
{
    struct err why;
    bool keep = bytes <= m->keep_bytes - m->kept_bytes;
    if (keep && make_room(&m->block[l], bytes, e)) return &m->block[l];
    if (keep) m->keep_bytes = m->kept_bytes; /* no more than there is now */
    if (make_room(&m->spare, bytes, keep ? &why : e)) return &m->spare;
    if (!give_up_one(m, bytes)) return NULL;
    m->keep_bytes = m->kept_bytes;
    return make_room(&m->spare, bytes, e) ? &m->spare : NULL;
}

const struct block *block_get(struct model_net *m, int l, const struct attn_ctx *c,
                              struct err *e)
{
    if (m->block[l].l == l) return &m->block[l];
    if (m->spare.l == l) return &m->spare;
    size_t bytes = block_bytes(m), staging = staging_bytes(m);
    if (net_cancelled(c, e)) return NULL;
    if (m->staging.size < staging && !arena_init(&m->staging, staging, e)) return NULL;
    struct block *b = place_for(m, l, bytes, e);
    if (!b) return NULL;
    b->l = l;
    if (!fill(m, b, c, e)) {
        block_free(b);
        return NULL;
    }
    if (b != &m->spare) m->kept_bytes += bytes;
    return b;
}
