/* ln_f and the head: the logits of one row, and the likeliest tokens. The head is GPT-2's
 * largest matrix by far; it is read when somebody asks for a logit, and kept in pieces of
 * HEAD_CHUNK tokens, so that only one of them is ever in memory twice. */
#include "net.h"

#include <assert.h>
#include <math.h>

void head_free(struct head *h)
{
    arena_free(&h->mem);
    *h = (struct head){0};
}

static bool is_whole(const struct head *h)
{
    return h->n_chunk > 0 && h->n_read == h->n_chunk;
}

static int chunk_tokens(const struct model_net *m, int i)
{
    int left = m->info.n_vocab - i * HEAD_CHUNK;
    return left < HEAD_CHUNK ? left : HEAD_CHUNK;
}

static size_t head_bytes(const struct model_net *m, int n_chunk)
{
    size_t bytes = 2 * ((size_t)m->info.d_model * sizeof(float) + 64) +
                   (size_t)n_chunk * sizeof(struct attn_linear) + 64;
    for (int i = 0; i < n_chunk; i++)
        bytes += attn_linear_bytes(m->k, m->info.d_model, chunk_tokens(m, i)) + 64;
    return bytes;
}

/* Rows first..first+n-1 of the head as columns of out [d, n]. Where it is wte, the rows
 * that texts have needed are in memory, and only what lies between is read. */
static bool read_tokens(struct model_net *m, float *out, int first, int n, struct err *e)
{
    size_t d = (size_t)m->info.d_model;
    for (int j = 0; j < n;) {
        const float *have = m->info.tied ? rows_have(&m->wte, first + j, d) : NULL;
        if (have) {
            for (size_t a = 0; a < d; a++) out[a * (size_t)n + (size_t)j] = have[a];
            j++;
            continue;
        }
        int to = j + 1;
        while (to < n && !(m->info.tied && rows_have(&m->wte, first + to, d))) to++;
        if (!tensor_read_columns(&m->weights, m->layout.head, out + j, (size_t)n,
                                 (uint64_t)first + (uint64_t)j,
                                 (uint64_t)to - (uint64_t)j, &m->odd, e))
            return false;
        j = to;
    }
    return true;
}

/* Chunk i: the rows of its tokens become columns, and those panels. */
static bool read_chunk(struct model_net *m, struct head *h, int i, float *staging,
                       struct err *e)
{
    int n = chunk_tokens(m, i), d = m->info.d_model;
    size_t bytes = attn_linear_bytes(m->k, d, n);
    void *mem = arena_take(&h->mem, bytes, 1);
    if (!mem) return err_set(e, ERR_SYSTEM, "no memory for the head");
    if (!read_tokens(m, staging, i * HEAD_CHUNK, n, e)) return false;
    enum attn_status s = attn_linear_pack(
        m->k, &h->chunk[i], (struct attn_cmat){staging, d, n, n}, NULL, mem, bytes);
    assert(s == ATTN_OK); /* sizes are our own */
    (void)s;
    return true;
}

bool head_has_wte(const struct model_net *m)
{
    return m->info.tied && is_whole(&m->head);
}

void head_wte_row(const struct model_net *m, int32_t id, float *out)
{
    enum attn_status s =
        attn_linear_column(&m->head.chunk[id / HEAD_CHUNK], out, id % HEAD_CHUNK);
    assert(s == ATTN_OK);
    (void)s;
}

static bool begin(struct model_net *m, struct head *h, int n_chunk, struct err *e)
{
    size_t d = (size_t)m->info.d_model;
    if (!arena_init(&h->mem, head_bytes(m, n_chunk), e)) return false;
    h->ln_f[0] = arena_push(&h->mem, d, sizeof(float));
    if (m->info.bias) h->ln_f[1] = arena_push(&h->mem, d, sizeof(float));
    h->chunk = arena_push(&h->mem, (size_t)n_chunk, sizeof *h->chunk);
    if (!h->ln_f[0] || (m->info.bias && !h->ln_f[1]) || !h->chunk)
        return err_set(e, ERR_SYSTEM, "no memory for the head");
    h->n_chunk = n_chunk;
    return norm_read(m, h->ln_f, m->layout.ln_f_weight, m->layout.ln_f_bias, e);
}

/* Goes on where a cancelled call has stopped. */
static bool head_read(struct model_net *m, const struct attn_ctx *c, struct err *e)
{
    struct head *h = &m->head;
    int n_chunk = (m->info.n_vocab + HEAD_CHUNK - 1) / HEAD_CHUNK;
    size_t staging = (size_t)m->info.d_model * (size_t)chunk_tokens(m, 0) * sizeof(float);
    struct arena mem = {0};
    if (!arena_init(&mem, staging, e)) return false;
    float *place = arena_take(&mem, staging, 1);
    bool ok = h->n_chunk > 0 || begin(m, h, n_chunk, e), stopped = false;
    while (ok && h->n_read < n_chunk && !stopped) {
        stopped = net_cancelled(c, e);
        ok = stopped || read_chunk(m, h, h->n_read, place, e);
        if (ok && !stopped) h->n_read++;
    }
    arena_free(&mem);
    if (!ok) head_free(h);
    return ok && !stopped;
}

bool model_net_logits(struct model_net *m, float *logits, int row,
                      const struct attn_ctx *c, struct err *e)
{
    struct attn_cmat last = model_net_input(m, m->info.n_layer);
    struct head *h = &m->head;
    int d = m->info.d_model;
    assert(c->k == m->k && last.data && row >= 0 && row < last.rows);
    if (!is_whole(h) && !head_read(m, c, e)) return false;
    struct attn_cmat in = {last.data + (size_t)row * last.ld, 1, d, d};
    struct attn_mat x = {m->text.x, 1, d, d};
    enum attn_status s = attn_layer_norm(c, x, in, h->ln_f[0], h->ln_f[1], m->info.eps);
    for (int i = 0; i < h->n_chunk && s == ATTN_OK; i++) {
        int n = chunk_tokens(m, i);
        s = attn_linear_apply(c,
                              (struct attn_mat){logits + (size_t)i * HEAD_CHUNK, 1, n, n},
                              (struct attn_cmat){x.data, 1, d, d}, &h->chunk[i],
                              ATTN_IDENTITY, (struct attn_cmat){NULL, 0, 0, 0});
    }
    assert(s == ATTN_OK);
    (void)s;
    return !net_cancelled(c, e);
}

int model_next_top(struct model_next *top, int k, const float *logits, int n_vocab)
{
    int n = 0;
    for (int id = 0; id < n_vocab; id++) {
        float x = logits[id];
        if (isnan(x) || (n == k && (k == 0 || !(x > top[n - 1].logit)))) continue;
        int at = n < k ? n++ : k - 1;
        for (; at > 0 && x > top[at - 1].logit; at--) top[at] = top[at - 1];
        top[at] = (struct model_next){.id = id, .logit = x};
    }
    double sum = 0.0, max = n > 0 ? (double)top[0].logit : 0.0;
    for (int id = 0; id < n_vocab; id++)
        if (!isnan(logits[id])) sum += exp((double)logits[id] - max);
    for (int i = 0; i < n; i++) top[i].p = (float)(exp((double)top[i].logit - max) / sum);
    return n;
}
