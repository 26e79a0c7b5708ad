/* A model and one run of it, in memory that grows to the largest size asked for. */
#include "run.h"

#include "scene.h"

#include <stdlib.h>
#include <string.h>

struct run_key run_key_of(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    struct run_key key = {.scale = s->scale,
                          .seed = p->seed,
                          .n_tok = p->dims.n_tok,
                          .head = p->head,
                          .second = step_second(s) + 1,
                          .opts = step_opts_of(s),
                          .text = s->scale == STEP_TOY ? p->text : 0,
                          .block = p->block};
    for (int i = 0; i < p->n_edit; i++)
        if (step_given_is_here(s, &p->edits[i]))
            key.given[key.n_given++] = p->edits[i].cell;
    return key;
}

struct run_key run_key_right(struct run_key key)
{
    key.opts = attn_opts_default();
    key.n_given = 0;
    return key;
}

bool run_kernels(struct attn_ctx *c, struct err *e)
{
    c->k = attn_kernels_get(NULL);
    if (c->k) return true;
    const char *name = getenv("HEADLIGHT_KERNELS");
    return err_set(e, ERR_SYSTEM,
                   "HEADLIGHT_KERNELS=%s: this CPU has no such kernels; unset it",
                   name ? name : "");
}

bool run_key_is_right(struct run_key key)
{
    return key.n_given == 0 && attn_opts_same(key.opts, attn_opts_default());
}

static bool same_given(const struct run_key *a, const struct run_key *b)
{
    if (a->n_given != b->n_given) return false;
    for (int i = 0; i < a->n_given; i++) {
        const struct attn_edit *x = &a->given[i];
        const struct attn_edit *y = &b->given[i];
        if (x->tensor != y->tensor || x->head != y->head || x->row != y->row ||
            x->col != y->col || x->value != y->value)
            return false;
    }
    return true;
}

bool run_key_same_model(struct run_key a, struct run_key b)
{
    if (a.scale != b.scale || a.model != b.model) return false;
    if (a.text != b.text) return false;
    return a.model ? a.block == b.block : a.seed == b.seed;
}

static bool same_but_heads(struct run_key a, struct run_key b)
{
    return run_key_same_model(a, b) && a.n_tok == b.n_tok &&
           attn_opts_same(a.opts, b.opts) && same_given(&a, &b);
}

bool run_key_same(struct run_key a, struct run_key b)
{
    return same_but_heads(a, b) && a.head == b.head && a.second == b.second;
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
    m->view_of = 0;
    if (!make_room(&m->mem, model_bytes(kind_of(key)), e)) return false;
    if (!model_make(&m->model, kind_of(key), key.seed, &m->mem, c, e)) return false;
    m->key = key;
    m->n_made++;
    m->made = pack(m, c, e);
    return m->made;
}

bool run_model_words(struct run_model *m, struct run_key key,
                     const struct model_words *words, const struct attn_ctx *c,
                     struct err *e)
{
    m->made = false;
    m->view_of = 0;
    if (!make_room(&m->mem, model_words_bytes(), e) ||
        !model_make_words(&m->model, words, key.seed, &m->mem, c, e))
        return false;
    m->key = key;
    m->n_made++;
    m->made = pack(m, c, e);
    return m->made;
}

bool run_model_view(struct run_model *m, struct run_key key, struct model_net *net,
                    const struct attn_ctx *c, struct err *e)
{
    m->made = false;
    if (m->view_of != key.model || m->view_block != key.block) {
        m->view_of = 0;
        if (!make_room(&m->mem, model_net_view_weights_bytes(net), e) ||
            !model_net_view_weights(net, &m->model, key.block, &m->mem, c, e) ||
            !pack(m, c, e))
            return false;
        m->view_of = key.model;
        m->view_block = key.block;
    }
    m->key = key;
    m->n_made++;
    m->made = make_room(&m->text, model_net_view_text_bytes(net), e) &&
              model_net_view_text(net, &m->model, key.block, &m->text, c, e);
    return m->made;
}

void run_model_fini(struct run_model *m)
{
    arena_free(&m->packed);
    arena_free(&m->text);
    arena_free(&m->mem);
    m->made = false;
    m->view_of = 0;
}

static struct attn_cmat first_rows(struct attn_cmat m, int rows)
{
    m.rows = rows;
    return m;
}

/* Lays trace, blend and reach out in r->mem, which also has room for v W_O meanwhile, and
 * for `more` bytes. */
static bool lay_out(struct run *r, struct attn_dims d, size_t more, float **work,
                    struct err *e)
{
    enum { SLACK = 512 }; /* what aligning the blocks may cost */
    size_t bytes = attn_trace_bytes(d), n = (size_t)d.n_tok;
    if (bytes == 0)
        return err_set(e, ERR_SYSTEM, "%d tokens: %s", d.n_tok,
                       attn_status_text(ATTN_BAD_SHAPE));
    size_t d_head = (size_t)attn_d_head(d);
    size_t floats = n * (3 + 1 + (size_t)d.d_model + d_head);
    if (!make_room(&r->mem, bytes + floats * sizeof(float) + more + SLACK, e))
        return false;
    void *mem = arena_take(&r->mem, bytes, 1);
    r->blend = arena_push(&r->mem, n * 3, sizeof(float));
    r->reach = arena_push(&r->mem, n, sizeof(float));
    r->z_was = arena_take(&r->mem, n * d_head, sizeof(float));
    *work = arena_take(&r->mem, n * (size_t)d.d_model, sizeof(float));
    if (mem && r->blend && r->reach && r->z_was && *work &&
        attn_trace_init(&r->trace, d, mem, bytes) == ATTN_OK)
        return true;
    return err_set(e, ERR_SYSTEM, "no memory for the trace");
}

/* z of the head in view to r->z_was, or back. */
static void keep_z(struct run *r, bool back)
{
    const struct attn_trace *t = &r->trace;
    size_t d_head = (size_t)attn_d_head(t->dims);
    for (size_t i = 0; i < (size_t)t->dims.n_tok; i++) {
        float *z = t->z.data + i * (size_t)t->z.ld + (size_t)t->head * d_head;
        float *was = r->z_was + i * d_head;
        memcpy(back ? z : was, back ? was : z, d_head * sizeof *z);
    }
}

/* Moves the view to a head. z is first made what attn_run of head 0 left, so that the
 * numbers are the same whichever head was in view before. */
static enum attn_status move_to(struct run *r, const struct attn_ctx *c, int head)
{
    struct attn_trace *t = &r->trace;
    if (head == t->head) return ATTN_OK;
    if (t->head > 0) keep_z(r, true);
    t->head = head;
    if (head > 0) keep_z(r, false);
    return attn_run_head(c, t, head);
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

/* ---- numbers that are given --------------------------------------------------------------- */

static bool is_given(struct run_key key, enum attn_tensor from, enum attn_tensor to)
{
    for (int i = 0; i < key.n_given; i++)
        if (key.given[i].tensor >= from && key.given[i].tensor <= to) return true;
    return false;
}

static struct attn_mat copy(struct arena *mem, struct attn_cmat m)
{
    struct attn_mat to = {NULL, m.rows, m.cols, m.cols};
    to.data = arena_take(mem, (size_t)m.rows * (size_t)m.cols, sizeof(float));
    for (int i = 0; to.data && i < m.rows; i++)
        memcpy(to.data + (size_t)i * (size_t)to.ld, m.data + (size_t)i * (size_t)m.ld,
               (size_t)m.cols * sizeof(float));
    return to;
}

static struct attn_cmat const_of(struct attn_mat m)
{
    return (struct attn_cmat){m.data, m.rows, m.cols, m.ld};
}

/* Puts the numbers given for a tensor in their places; col0: of the tensor's first
 * column. */
static void put(struct attn_mat m, const struct run_key *key, enum attn_tensor t,
                int col0, int d_head)
{
    for (int i = 0; i < key->n_given; i++) {
        const struct attn_edit *g = &key->given[i];
        if (g->tensor == t)
            m.data[(size_t)g->row * (size_t)m.ld +
                   (size_t)(col0 + g->head * d_head + g->col)] = g->value;
    }
}

/* The run's inputs and weights: the model's, or copies with the numbers that are given;
 * ln_1 reads an edited h. */
static bool inputs(struct run *r, const struct run_key *key, const struct attn_ctx *c,
                   struct attn_cmat *x, struct attn_cmat *h)
{
    const struct model *m = r->model;
    int d = m->dims.d_model;
    int d_head = attn_d_head(m->dims);
    r->w = m->weights;
    if (is_given(*key, ATTN_H, ATTN_X)) {
        struct attn_mat x_own = copy(&r->mem, *x);
        struct attn_mat h_own = copy(&r->mem, *h);
        if (!x_own.data || !h_own.data) return false;
        put(h_own, key, ATTN_H, 0, 0);
        for (int i = 0; i < key->n_given; i++) {
            if (key->given[i].tensor != ATTN_H) continue;
            size_t row = (size_t)key->given[i].row * (size_t)d;
            (void)attn_layer_norm(c, (struct attn_mat){x_own.data + row, 1, d, d},
                                  (struct attn_cmat){h_own.data + row, 1, d, d},
                                  m->ln_gain, m->ln_bias, m->eps);
        }
        put(x_own, key, ATTN_X, 0, 0);
        *x = const_of(x_own);
        *h = const_of(h_own);
    }
    if (is_given(*key, ATTN_W_Q, ATTN_W_V) || is_given(*key, ATTN_W_O, ATTN_W_O)) {
        struct attn_mat qkv = copy(&r->mem, m->weights.w_qkv);
        struct attn_mat o = copy(&r->mem, m->weights.w_o);
        if (!qkv.data || !o.data) return false;
        /* Swapped, W_Q's cells are shown where W_K's lie. */
        int first = key->opts.swapped ? d : 0;
        put(qkv, key, ATTN_W_Q, first, d_head);
        put(qkv, key, ATTN_W_K, d - first, d_head);
        put(qkv, key, ATTN_W_V, 2 * d, d_head);
        put(o, key, ATTN_W_O, 0, 0);
        r->w.w_qkv = const_of(qkv);
        r->w.w_o = const_of(o);
        r->w.packed = NULL;
    }
    return true;
}

/* Bytes of copies that numbers given for inputs and weights need. */
static size_t input_bytes(const struct run_key *key, struct attn_dims dims)
{
    size_t d = (size_t)dims.d_model;
    size_t n = 0;
    if (is_given(*key, ATTN_H, ATTN_X)) n += 2 * (size_t)dims.n_tok * d;
    if (is_given(*key, ATTN_W_Q, ATTN_W_V) || is_given(*key, ATTN_W_O, ATTN_W_O))
        n += 4 * d * d;
    return n * sizeof(float);
}

/* What is made of the head in view and the one beside it, when the trace is there. */
static bool finish(struct run *r, struct run_key key, const struct attn_ctx *c,
                   float *work, struct err *e)
{
    enum attn_status st = move_to(r, c, key.head);
    if (st == ATTN_OK) st = reach_of(r, c, work);
    if (st != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "%d tokens, head %d: %s", key.n_tok, key.head + 1,
                       attn_status_text(st));
    scene_blend(r->blend, attn_trace_view(&r->trace, ATTN_P, key.head));
    if (key.second > 0 && !pair_make(&r->pair, &r->trace, key.second - 1, c, e))
        return false;
    r->key = key;
    scene_check(&r->checks, &r->trace, c);
    r->made = true;
    return true;
}

bool run_make(struct run *r, struct run_key key, const struct model *m,
              const struct attn_ctx *c, struct err *e)
{
    r->made = false;
    r->ghost = NULL;
    r->ungiven = NULL;
    struct attn_dims dims = m->dims;
    float *work = NULL;
    dims.n_tok = key.n_tok;
    if (!lay_out(r, dims, input_bytes(&key, dims), &work, e)) return false;
    struct attn_cmat x = first_rows(m->x, key.n_tok);
    struct attn_cmat h = first_rows(m->h, key.n_tok);
    r->model = m;
    if (!inputs(r, &key, c, &x, &h))
        return err_set(e, ERR_SYSTEM, "no memory for the trace");
    int n = 0;
    for (int i = 0; i < key.n_given; i++) /* what is no input */
        if (key.given[i].tensor >= ATTN_Q && key.given[i].tensor <= ATTN_P)
            r->given[n++] = key.given[i];
    enum attn_status st =
        attn_run_edited(c, &r->trace, x, h, &r->w, key.opts, 0, r->given, n);
    if (st != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "%d tokens: %s", key.n_tok, attn_status_text(st));
    return finish(r, key, c, work, e);
}

/* All of from's trace but what is of the head in view alone, in memory of r's own. */
static bool copy_block(struct run *r, const struct run *from, float **work, struct err *e)
{
    const struct attn_trace *t = &from->trace;
    size_t n = (size_t)t->dims.n_tok;
    r->made = false;
    r->ghost = NULL;
    r->ungiven = NULL;
    if (!lay_out(r, t->dims, 0, work, e)) return false;
    const struct attn_mat to[] = {r->trace.qkv, r->trace.z, r->trace.y_proj, r->trace.y};
    const struct attn_mat of[] = {t->qkv, t->z, t->y_proj, t->y};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) /* laid out alike */
        memcpy(to[i].data, of[i].data,
               (size_t)of[i].rows * (size_t)of[i].ld * sizeof(float));
    memcpy(r->z_was, from->z_was, n * (size_t)attn_d_head(t->dims) * sizeof *r->z_was);
    r->trace.opts = t->opts;
    r->trace.w = t->w;
    r->trace.x = t->x;
    r->trace.h = t->h;
    r->trace.head = t->head;
    r->trace.n_empty_row = t->n_empty_row;
    memcpy(r->trace.stats, t->stats, sizeof r->trace.stats);
    r->w = from->w;
    r->model = from->model;
    return true;
}

bool run_copy(struct run *r, const struct run *from, struct err *e)
{
    const struct attn_trace *t = &from->trace;
    size_t n = (size_t)t->dims.n_tok;
    float *work = NULL;
    if (!copy_block(r, from, &work, e)) return false;
    memcpy(r->trace.s_raw.data, t->s_raw.data, n * n * sizeof(float));
    memcpy(r->trace.s_scaled.data, t->s_scaled.data, n * n * sizeof(float));
    memcpy(r->trace.s_masked.data, t->s_masked.data, n * n * sizeof(float));
    memcpy(r->trace.p.data, t->p.data, n * n * sizeof(float));
    memcpy(r->blend, from->blend, n * 3 * sizeof *r->blend);
    memcpy(r->reach, from->reach, n * sizeof *r->reach);
    r->checks = from->checks;
    r->key = from->key;
    r->made = true;
    return true;
}

bool run_can_turn(const struct run *from, struct run_key key)
{
    return from->made && key.n_given == 0 && key.head != from->key.head &&
           same_but_heads(from->key, key);
}

bool run_turn(struct run *r, const struct run *from, struct run_key key,
              const struct attn_ctx *c, struct err *e)
{
    float *work = NULL;
    return copy_block(r, from, &work, e) && finish(r, key, c, work, e);
}

void run_fini(struct run *r)
{
    arena_free(&r->mem);
    pair_fini(&r->pair);
    r->made = false;
}
