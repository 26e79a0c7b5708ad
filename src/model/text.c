/* What is kept of a text, and how much of it is still right when the text changes. */
#include "net.h"

#include <assert.h>
#include <string.h>

enum { ROOM_MIN = 256 };

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* Twice the tokens, so that a text typed on rarely outgrows it. */
static int room_for(const struct model_net *m, int n)
{
    int room = n < ROOM_MIN / 2 ? ROOM_MIN : n > INT32_MAX / 2 ? n : 2 * n;
    return min_int(room, m->info.n_ctx);
}

/* Floats of each part, in the order in which they are pushed. */
struct text_sizes {
    size_t h, qkv, keys, row, mlp, total;
};

/* false: beyond a size_t. */
static bool text_sizes(struct text_sizes *s, const struct model_net *m, size_t room)
{
    size_t d = (size_t)m->info.d_model, n_layer = (size_t)m->info.n_layer;
    size_t wide = d + (size_t)m->info.d_mlp / 4 + 64;
    if (room > SIZE_MAX / 64 / wide / (n_layer + 1)) return false;
    *s = (struct text_sizes){.h = (n_layer + 1) * room * d,
                             .qkv = n_layer * room * (3 * d + 16),
                             .keys = attn_block_keep_bytes(net_dims(m, (int)room)),
                             .row = room * d,
                             .mlp = room * (size_t)m->info.d_mlp};
    if (s->keys == 0 || s->keys > SIZE_MAX / 4 / n_layer) return false;
    size_t floats = s->h + s->qkv + 3 * s->row + s->mlp;
    size_t lists =
        room * sizeof(int32_t) + (n_layer + 1) * (sizeof(int) + sizeof(void *));
    s->total = floats * sizeof(float) + n_layer * (s->keys + 64) + lists + ROUNDING;
    return true;
}

static bool text_init(struct model_net *m, int room, struct err *e)
{
    struct text *t = &m->text;
    struct text_sizes s;
    size_t n_layer = (size_t)m->info.n_layer;
    arena_free(&t->mem);
    *t = (struct text){.room = room, .ld_qkv = 3 * m->info.d_model + 16};
    if (!text_sizes(&s, m, (size_t)room)) {
        (void)err_set(e, ERR_SYSTEM, "%d tokens of this model are beyond memory", room);
        return false;
    }
    if (!arena_init(&t->mem, s.total, e)) return false;
    t->ids = arena_push(&t->mem, (size_t)room, sizeof *t->ids);
    t->valid = arena_push(&t->mem, n_layer + 1, sizeof *t->valid);
    t->keys = arena_push(&t->mem, n_layer, sizeof *t->keys);
    t->h = arena_take(&t->mem, s.h, sizeof(float));
    t->qkv = arena_take(&t->mem, s.qkv, sizeof(float));
    t->x = arena_take(&t->mem, s.row, sizeof(float));
    t->y = arena_take(&t->mem, s.row, sizeof(float));
    t->z = arena_take(&t->mem, s.row, sizeof(float));
    t->mlp = arena_take(&t->mem, s.mlp, sizeof(float));
    bool all =
        t->ids && t->valid && t->keys && t->h && t->qkv && t->x && t->y && t->z && t->mlp;
    for (size_t l = 0; all && l < n_layer; l++)
        all = (t->keys[l] = arena_take(&t->mem, s.keys, 1)) != NULL;
    assert(all); /* text_sizes counts what is pushed */
    return all;
}

float *text_input(const struct model_net *m, int l, int i)
{
    return m->text.h + ((size_t)l * m->text.room + i) * m->info.d_model;
}

float *text_qkv(const struct model_net *m, int l, int i)
{
    return m->text.qkv + ((size_t)l * m->text.room + i) * m->text.ld_qkv;
}

bool model_net_feed(struct model_net *m, const int32_t *ids, int n, struct err *e)
{
    struct text *t = &m->text;
    if (n < 1 || n > m->info.n_ctx) {
        t->n = 0;
        return err_set(e, ERR_INPUT, "%d tokens; the model reads 1 to %d", n,
                       m->info.n_ctx);
    }
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= m->info.n_vocab) {
            t->n = 0;
            return err_set(e, ERR_INPUT, "token %d is id %d; the model has 0 to %d",
                           i + 1, ids[i], m->info.n_vocab - 1);
        }
    int same = 0;
    if (!t->ids || !t->valid || n > t->room) { /* the first text, or a longer one */
        if (!text_init(m, room_for(m, n), e)) {
            arena_free(&t->mem);
            *t = (struct text){0};
            return false;
        }
    } else {
        while (same < min_int(n, t->n) && t->ids[same] == ids[same]) same++;
    }
    for (int l = 0; l <= m->info.n_layer; l++) t->valid[l] = min_int(t->valid[l], same);
    memcpy(t->ids, ids, (size_t)n * sizeof *ids);
    t->n = n;
    return true;
}

int model_net_tokens(const struct model_net *m)
{
    return m->text.n;
}

int model_net_done(const struct model_net *m)
{
    int l = 0;
    while (m->text.n > 0 && l < m->info.n_layer && m->text.valid[l + 1] == m->text.n) l++;
    return l;
}

struct attn_cmat model_net_input(const struct model_net *m, int l)
{
    int n = m->text.n, d = m->info.d_model;
    if (n == 0 || l < 0 || l > m->info.n_layer || m->text.valid[l] < n)
        return (struct attn_cmat){NULL, 0, 0, 0};
    return (struct attn_cmat){text_input(m, l, 0), n, d, d};
}

void model_net_put(struct model_net *m, int l, struct attn_cmat h)
{
    struct text *t = &m->text;
    for (int i = 0; i < t->n; i++)
        memcpy(text_input(m, l, i), h.data + (size_t)i * (size_t)h.ld,
               (size_t)m->info.d_model * sizeof(float));
    t->valid[l] = t->n;
    for (int k = l + 1; k <= m->info.n_layer; k++) t->valid[k] = 0;
}

struct attn_cmat model_net_qkv(const struct model_net *m, int l)
{
    int n = m->text.n;
    if (n == 0 || l < 0 || l >= m->info.n_layer || m->text.valid[l + 1] < n)
        return (struct attn_cmat){NULL, 0, 0, 0};
    return (struct attn_cmat){text_qkv(m, l, 0), n, 3 * m->info.d_model, m->text.ld_qkv};
}
