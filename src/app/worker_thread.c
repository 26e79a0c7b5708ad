/* The thread that makes models, runs, the overview and next tokens. */
#include "worker_parts.h"

#include <string.h>
#include <sys/resource.h>

enum {
    WORK_NICE = 10 /* a tenth of a window thread's share where both want the same core;
                    * 19, a seventieth, starves on a busy machine */
};

/* Weights of an opened model that stay in memory: all of GPT-2 small's blocks. */
static const size_t keep_bytes = (size_t)512 << 20;

/* Shares of the work after which progress is told. A model costs about as much as a run
 * at 1,024 tokens. */
static const float progress_model = 0.45f;
static const float progress_start = 0.05f;

static void tell(const struct worker *w)
{
    if (w->event == 0) return;
    SDL_Event ev = {.type = w->event};
    (void)SDL_PushEvent(&ev); /* a full queue means that the loop is awake anyway */
}

static void set_progress(struct worker *w, float progress)
{
    SDL_LockMutex(w->lock);
    w->progress = progress;
    SDL_UnlockMutex(w->lock);
    tell(w);
}

static void set_making(struct worker *w, bool making, struct run_key key)
{
    SDL_LockMutex(w->lock);
    w->making = making;
    w->made_for = key;
    SDL_UnlockMutex(w->lock);
}

/* Whether the run under way is no longer wanted. */
static bool superseded(struct worker *w)
{
    SDL_LockMutex(w->lock);
    bool yes = w->pending || SDL_AtomicGet(&w->cancel) != 0;
    SDL_UnlockMutex(w->lock);
    return yes;
}

/* ---- opened models --------------------------------------------------------------------- */

/* Opens what was asked for; begins and ends with the lock held. */
static void open_model(struct worker *w)
{
    char path[WORKER_PATH];
    memcpy(path, w->path, sizeof path);
    w->opening = false;
    w->busy = true;
    SDL_UnlockMutex(w->lock);
    struct err e = {0};
    struct model_net *net = NULL;
    (void)model_net_open(&net, path, w->k, keep_bytes, &e);
    SDL_LockMutex(w->lock);
    model_net_close(w->fresh); /* one that nobody fetched */
    w->fresh = net;
    w->why_not = e;
    w->opened = !w->opening;
    w->busy = w->pending;
    tell(w);
}

/* Takes over the net and the text that key is of. false: there is a newer request, or no
 * memory for the text. */
static bool take_text(struct worker *w, struct run_key key, struct err *e)
{
    int32_t ids[STEP_MODEL_TOKENS];
    SDL_LockMutex(w->lock);
    struct model_net *old = w->next ? w->net : NULL;
    if (w->next) {
        w->net = w->next;
        w->next = NULL;
        w->fed = 0;
        w->odd = (struct model_odd){0};
    }
    bool current = key.model == w->net_serial && key.text == w->text_serial;
    int n = w->n_ids;
    memcpy(ids, w->ids, (size_t)n * sizeof *ids);
    SDL_UnlockMutex(w->lock);
    model_net_close(old);
    if (!current) return err_set(e, ERR_CANCELLED, "cancelled");
    if (w->fed == key.text) return true;
    w->fed = 0;
    if (!model_net_feed(w->net, ids, n, e)) return false;
    w->fed = key.text;
    return true;
}

/* The net's blocks before key.block, from the nearest that is computed, and a view. */
static bool view_block(struct worker *w, struct run_key key, struct run_model *m,
                       const struct attn_ctx *c, struct err *e)
{
    if (!take_text(w, key, e)) return false;
    int blocks = model_net_done(w->net);
    if (blocks > key.block) blocks = key.block;
    for (; blocks <= key.block; blocks++) { /* 0: the embeddings */
        float share = (float)blocks / (float)(key.block + 1);
        set_progress(w, progress_start + share * (progress_model - progress_start));
        if (!model_net_run(w->net, blocks, c, e)) return false;
    }
    bool ok = run_model_view(m, key, w->net, c, e);
    SDL_LockMutex(w->lock);
    w->odd = model_net_odd(w->net);
    SDL_UnlockMutex(w->lock);
    return ok;
}

/* ---- runs -------------------------------------------------------------------------------- */

/* The model of key: one that is there, or made in the place that nothing shown views. */
static struct run_model *model_for(struct worker *w, struct run_key key, int slot,
                                   const struct attn_ctx *c, struct err *e)
{
    for (int i = 0; i < WORKER_SLOTS; i++)
        if (run_model_is(&w->model[i], key)) return &w->model[i];
    const struct run *other = &w->slot[1 - slot];
    int at = other->made && other->model == &w->model[0].model ? 1 : 0;
    set_making(w, true, key);
    bool ok = key.model ? view_block(w, key, &w->model[at], c, e)
                        : run_model_make(&w->model[at], key, c, e);
    set_making(w, false, key);
    return ok ? &w->model[at] : NULL;
}

/* What is right beside the broken run in slot: one that is there, or made where the run on
 * screen has none. */
static bool make_ghost(struct worker *w, int slot, const struct run_model *m,
                       const struct attn_ctx *c, struct err *e)
{
    struct run *r = &w->slot[slot];
    const struct ghost_right *seen = w->ghost[1 - slot].right;
    struct ghost_right *right = seen == &w->right[0] ? &w->right[1] : &w->right[0];
    w->ghost[slot].right = NULL;
    if (run_key_is_right(r->key)) {
        ghost_fini(&w->ghost[slot]);
        ghost_right_fini(right);
        return true;
    }
    bool there = false;
    for (int i = 0; i < WORKER_SLOTS && !there; i++) {
        there = ghost_right_is(&w->right[i], r, m);
        if (there) right = &w->right[i];
    }
    if (!there) {
        uint64_t version = right->run.version;
        const struct run *shown = &w->slot[1 - slot];
        const struct run_key key = run_key_right(r->key);
        bool copied = shown->made && shown->model == &m->model && key.second == 0 &&
                      run_key_same(shown->key, key);
        if (copied ? !ghost_right_copy(right, shown, m, e)
                   : !ghost_right_make(right, r, m, c, e))
            return false;
        right->run.version =
            version + WORKER_SLOTS; /* neither has a number of the other's */
        if (version == 0) right->run.version = 1 + (uint64_t)(right - w->right);
    }
    if (c->cancel && *c->cancel) {
        right->run.made = there;
        return err_set(e, ERR_CANCELLED, "cancelled");
    }
    if (!ghost_make(&w->ghost[slot], r, right, c, e)) return false;
    r->ghost = &w->ghost[slot];
    return true;
}

/* The run in slot without the numbers that are given, where switches act besides. */
static bool make_ungiven(struct worker *w, int slot, const struct run_model *m,
                         const struct attn_ctx *c, struct err *e)
{
    struct run *r = &w->slot[slot];
    struct ghost_right *u = &w->ungiven[slot];
    struct run_key key = r->key;
    key.n_given = key.second = 0;
    if (r->key.n_given == 0 || run_key_is_right(key)) {
        ghost_right_fini(u);
        return true;
    }
    bool there = u->run.made && u->run.model == &m->model && u->n_made == m->n_made &&
                 run_key_same(u->run.key, key);
    if (!there && !run_make(&u->run, key, &m->model, c, e)) return false;
    u->n_made = m->n_made;
    if (c->cancel && *c->cancel) {
        u->run.made = there;
        return err_set(e, ERR_CANCELLED, "cancelled");
    }
    r->ungiven = &u->run.trace;
    return true;
}

/* Makes the run of key in slot. false: failed, or cancelled. */
static bool work(struct worker *w, struct run_key key, int slot, const struct attn_ctx *c,
                 struct err *e)
{
    set_progress(w, progress_start);
    const struct run_model *m = model_for(w, key, slot, c, e);
    if (!m) return false;
    if (superseded(w)) return err_set(e, ERR_CANCELLED, "cancelled");
    set_progress(w, progress_model);
    const struct run *shown = &w->slot[1 - slot];
    bool turn = shown->model == &m->model && run_can_turn(shown, key);
    if (turn ? !run_turn(&w->slot[slot], shown, key, c, e)
             : !run_make(&w->slot[slot], key, &m->model, c, e))
        return false;
    if (!SDL_AtomicGet(&w->cancel) &&
        !(make_ghost(w, slot, m, c, e) && make_ungiven(w, slot, m, c, e))) {
        w->slot[slot].made = false;
        return false;
    }
    if (!SDL_AtomicGet(&w->cancel)) return true;
    w->slot[slot].made = false;
    return err_set(e, ERR_CANCELLED, "cancelled");
}

/* ---- the overview ------------------------------------------------------------------------- */

/* Block l of a loaded model, or the block of weights from a seed, from its run. */
static bool heads_next(struct worker *w, struct heads *h, struct run_key key,
                       const struct attn_ctx *c, struct err *e)
{
    int l = h->done;
    if (!key.model) {
        for (int i = 0; i < WORKER_SLOTS; i++) {
            const struct run *r = &w->slot[i];
            if (!r->made || !heads_key_same(r->key, key)) continue;
            struct attn_mat m = r->trace.qkv;
            struct attn_cmat qkv = {m.data, m.rows, m.cols, m.ld};
            return heads_block(h, l, qkv, NULL, c, e);
        }
        return err_set(e, ERR_CANCELLED, "cancelled");
    }
    int32_t ids[STEP_MODEL_TOKENS];
    if (!take_text(w, key, e) || !model_net_run(w->net, l + 1, c, e)) return false;
    SDL_LockMutex(w->lock);
    w->odd = model_net_odd(w->net);
    memcpy(ids, w->ids, sizeof ids);
    SDL_UnlockMutex(w->lock);
    return heads_block(h, l, model_net_qkv(w->net, l), ids, c, e);
}

/* Makes one block of the overview; begins and ends with the lock held. */
static void make_heads(struct worker *w, const struct attn_ctx *c)
{
    struct run_key key = w->heads_want;
    struct attn_dims dims = w->heads_dims;
    int n_block = w->heads_of;
    struct heads *h = worker_heads_of_key(w, key);
    bool begun = h != NULL;
    if (!h) h = &w->heads[w->heads_shown == 0 ? 1 : 0];
    if (!begun) h->made = false;
    w->busy = w->heads_making = true;
    SDL_AtomicSet(&w->cancel, 0);
    SDL_UnlockMutex(w->lock);

    struct err e = {0};
    bool room = begun || heads_begin(h, key, n_block, dims, &e);
    bool ok = room && heads_next(w, h, key, c, &e);

    SDL_LockMutex(w->lock);
    w->heads_making = false;
    h->made = room;
    if (!begun) h->version = ++w->version;
    if (ok && !SDL_AtomicGet(&w->cancel))
        h->done++;
    else if (e.code != ERR_NONE && e.code != ERR_CANCELLED) {
        w->heads_wanted = false;
        w->heads_failed = true;
        w->heads_why = e;
    } else if (!w->pending && !SDL_AtomicGet(&w->cancel))
        w->heads_wanted = false; /* its run is no more: whoever shows it asks again */
    tell(w);
}

/* ---- the next tokens ---------------------------------------------------------------------- */

/* Runs what is missing of the blocks, then the head. */
static bool next_of(struct worker *w, struct next *x, struct next_key key,
                    const struct attn_ctx *c, struct err *e)
{
    const struct run_key text = {.model = key.model, .text = key.text};
    if (!take_text(w, text, e) ||
        !model_net_run(w->net, model_net_info(w->net)->n_layer, c, e) ||
        !next_make(x, key, w->net, c, e))
        return false;
    SDL_LockMutex(w->lock);
    w->odd = model_net_odd(w->net);
    SDL_UnlockMutex(w->lock);
    return true;
}

/* Begins and ends with the lock held. */
static void make_next(struct worker *w, const struct attn_ctx *c)
{
    struct next_key key = w->next_want;
    struct next x = {.mem = w->likely.mem};
    w->busy = w->next_making = true;
    w->likely = (struct next){0};
    SDL_AtomicSet(&w->cancel, 0);
    SDL_UnlockMutex(w->lock);

    struct err e = {0};
    bool ok = next_of(w, &x, key, c, &e);

    SDL_LockMutex(w->lock);
    w->next_making = false;
    w->likely = x;
    if (!ok && e.code != ERR_CANCELLED) {
        w->next_wanted = false;
        w->next_failed = true;
        w->next_why = e;
    } else if (!ok && !w->pending && !SDL_AtomicGet(&w->cancel)) {
        w->next_wanted = false; /* of another text by now: whoever shows it asks again */
    }
    tell(w);
}

int SDLCALL worker_main(void *data)
{
    struct worker *w = data;
    /* Below the window's threads; on Linux it is this thread's own, and the pool's threads
     * inherit it. Where it is refused the work is done all the same. */
    (void)setpriority(PRIO_PROCESS, 0, WORK_NICE);
    struct attn_pool *pool = attn_pool_create(SDL_GetCPUCount());
    const struct attn_ctx c = {.k = w->k, .pool = pool, .cancel = &w->cancel.value};

    SDL_LockMutex(w->lock);
    while (!w->quit) {
        if (w->opening) {
            open_model(w);
            continue;
        }
        if (!w->pending && worker_heads_left(w)) {
            w->progress = -1.0f;
            make_heads(w, &c);
            continue;
        }
        if (!w->pending && worker_next_left(w)) {
            w->progress = -1.0f;
            make_next(w, &c);
            continue;
        }
        if (!w->pending) {
            w->busy = false;
            w->progress = -1.0f;
            SDL_CondBroadcast(w->idle);
            SDL_CondWait(w->asked, w->lock);
            continue;
        }
        struct run_key key = w->want;
        int slot = w->shown == 0 ? 1 : 0;
        w->pending = false;
        w->busy = true;
        w->ready = WORKER_NONE;
        w->slot[slot].made = false;
        SDL_AtomicSet(&w->cancel, 0);
        SDL_UnlockMutex(w->lock);

        struct err e = {0};
        bool ok = work(w, key, slot, &c, &e);

        SDL_LockMutex(w->lock);
        if (ok && !SDL_AtomicGet(&w->cancel)) {
            w->slot[slot].version = ++w->version;
            w->ready = slot;
        } else {
            w->slot[slot].made = false;
            if (e.code != ERR_NONE && e.code != ERR_CANCELLED && !w->pending) {
                w->failed = true;
                w->why = e;
            }
        }
        if (!w->pending) {
            w->busy = false;
            w->progress = -1.0f;
        }
        tell(w);
    }
    SDL_UnlockMutex(w->lock);
    attn_pool_destroy(pool);
    return 0;
}
