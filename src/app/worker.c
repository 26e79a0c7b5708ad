/* Requests to the thread that makes models and runs, so that the window never waits. */
#include "worker_parts.h"

#include <string.h>

struct heads *worker_heads_of_key(struct worker *w, struct run_key key)
{
    for (int i = 0; i < WORKER_SLOTS; i++)
        if (w->heads[i].made && heads_key_same(w->heads[i].key, key)) return &w->heads[i];
    return NULL;
}

bool worker_heads_left(struct worker *w)
{
    if (!w->heads_wanted) return false;
    const struct heads *h = worker_heads_of_key(w, w->heads_want);
    return !h || h->done < w->heads_blocks;
}

bool worker_next_left(const struct worker *w)
{
    return w->next_wanted &&
           !(w->likely.made && next_key_same(w->likely.key, w->next_want));
}

struct worker *worker_create(const struct attn_kernels *k, uint32_t event)
{
    struct worker *w = SDL_calloc(1, sizeof *w);
    if (!w) return NULL;
    w->k = k;
    w->event = event;
    w->shown = w->ready = w->heads_shown = WORKER_NONE;
    w->progress = -1.0f;
    w->lock = SDL_CreateMutex();
    w->asked = SDL_CreateCond();
    w->idle = SDL_CreateCond();
    if (w->lock && w->asked && w->idle) return w;
    worker_destroy(w);
    return NULL;
}

void worker_destroy(struct worker *w)
{
    if (!w) return;
    if (w->thread) {
        SDL_LockMutex(w->lock);
        w->quit = true;
        SDL_AtomicSet(&w->cancel, 1);
        SDL_CondSignal(w->asked);
        SDL_UnlockMutex(w->lock);
        SDL_WaitThread(w->thread, NULL);
    }
    for (int i = 0; i < WORKER_SLOTS; i++) {
        run_fini(&w->slot[i]);
        ghost_fini(&w->ghost[i]);
        ghost_right_fini(&w->right[i]);
        ghost_right_fini(&w->ungiven[i]);
        run_model_fini(&w->model[i]);
        heads_fini(&w->heads[i]);
    }
    next_fini(&w->likely);
    model_net_close(w->fresh);
    model_net_close(w->next);
    model_net_close(w->net);
    SDL_DestroyCond(w->idle);
    SDL_DestroyCond(w->asked);
    SDL_DestroyMutex(w->lock);
    SDL_free(w);
}

static bool start(struct worker *w, struct err *e)
{
    if (!w->thread) w->thread = SDL_CreateThread(worker_main, "headlight-work", w);
    if (w->thread) return true;
    return err_set(e, ERR_SYSTEM, "no thread for the computation: %s", SDL_GetError());
}

bool worker_open(struct worker *w, const char *path, struct err *e)
{
    size_t n = strlen(path);
    if (n >= WORKER_PATH)
        return err_set(e, ERR_INPUT, "the path is longer than %d bytes", WORKER_PATH - 1);
    if (!start(w, e)) return false;
    SDL_LockMutex(w->lock);
    memcpy(w->path, path, n + 1);
    w->opening = true;
    w->opened = false;
    SDL_CondSignal(w->asked);
    SDL_UnlockMutex(w->lock);
    return true;
}

bool worker_opened(struct worker *w, struct model_net **net, struct err *why)
{
    SDL_LockMutex(w->lock);
    bool yes = w->opened;
    if (yes) {
        *net = w->fresh;
        *why = w->why_not;
        w->fresh = NULL;
        w->opened = false;
    }
    SDL_UnlockMutex(w->lock);
    return yes;
}

void worker_use(struct worker *w, struct model_net *net, uint32_t model,
                const int32_t *ids, int n, uint32_t text)
{
    SDL_LockMutex(w->lock);
    struct model_net *unused = NULL;
    if (model != w->net_serial) {
        unused = w->next;
        w->next = net;
        w->net_serial = model;
    }
    memcpy(w->ids, ids, (size_t)n * sizeof *ids);
    w->n_ids = n;
    w->text_serial = text;
    SDL_UnlockMutex(w->lock);
    model_net_close(unused);
}

struct model_odd worker_odd(struct worker *w)
{
    SDL_LockMutex(w->lock);
    struct model_odd odd = w->odd;
    SDL_UnlockMutex(w->lock);
    return odd;
}

bool worker_ask(struct worker *w, struct run_key key, struct err *e)
{
    if (!start(w, e)) return false;
    SDL_LockMutex(w->lock);
    if (!w->wanted || !run_key_same(w->want, key)) {
        w->want = key;
        w->wanted = w->pending = true;
        w->failed = false;
        if (w->progress < 0.0f) w->progress = 0.0f;
        /* A model that is still wanted may be finished. */
        if (!(w->making && run_key_same_model(w->made_for, key)))
            SDL_AtomicSet(&w->cancel, 1);
        SDL_CondSignal(w->asked);
    }
    SDL_UnlockMutex(w->lock);
    return true;
}

void worker_cancel(struct worker *w)
{
    SDL_LockMutex(w->lock);
    if (w->wanted) {
        w->wanted = w->pending = w->failed = false;
        w->ready = WORKER_NONE;
        if (!w->heads_making && !w->next_making) SDL_AtomicSet(&w->cancel, 1);
        if (!w->busy) w->progress = -1.0f;
    }
    SDL_UnlockMutex(w->lock);
}

void worker_ask_heads(struct worker *w, struct run_key key, struct attn_dims d,
                      int n_block, int blocks)
{
    SDL_LockMutex(w->lock);
    bool same = heads_key_same(w->heads_want, key) && w->heads_of == n_block;
    if (!same && w->heads_making) SDL_AtomicSet(&w->cancel, 1);
    /* What failed is not begun again by every frame, but by another request. */
    if (!(w->heads_failed && same && w->heads_blocks == blocks)) {
        w->heads_wanted = true;
        w->heads_failed = false;
    }
    w->heads_want = key;
    w->heads_dims = d;
    w->heads_of = n_block;
    w->heads_blocks = blocks;
    if (worker_heads_left(w)) SDL_CondSignal(w->asked);
    SDL_UnlockMutex(w->lock);
}

void worker_drop_heads(struct worker *w)
{
    SDL_LockMutex(w->lock);
    if (w->heads_making) SDL_AtomicSet(&w->cancel, 1);
    w->heads_wanted = w->heads_failed = false;
    SDL_UnlockMutex(w->lock);
}

bool worker_heads(struct worker *w, struct run_key key, struct scene_heads *view)
{
    SDL_LockMutex(w->lock);
    struct heads *h = worker_heads_of_key(w, key);
    bool yes = h && h->version > 0 && h->done > 0;
    if (yes) {
        w->heads_shown = (int)(h - w->heads);
        *view = heads_view(h);
    }
    SDL_UnlockMutex(w->lock);
    return yes;
}

bool worker_heads_failed(struct worker *w, struct err *why)
{
    SDL_LockMutex(w->lock);
    bool failed = w->heads_failed;
    if (failed) *why = w->heads_why;
    SDL_UnlockMutex(w->lock);
    return failed;
}

void worker_ask_next(struct worker *w, struct next_key key)
{
    SDL_LockMutex(w->lock);
    bool same = next_key_same(w->next_want, key);
    bool same_text = w->next_want.model == key.model && w->next_want.text == key.text;
    /* Another row's are soon done, and most of the work is for all rows. */
    if (!same_text && w->next_making) SDL_AtomicSet(&w->cancel, 1);
    /* What failed is begun again by another request alone. */
    if (!(w->next_failed && same)) {
        w->next_wanted = true;
        w->next_failed = false;
    }
    w->next_want = key;
    if (worker_next_left(w)) SDL_CondSignal(w->asked);
    SDL_UnlockMutex(w->lock);
}

void worker_drop_next(struct worker *w)
{
    SDL_LockMutex(w->lock);
    if (w->next_making) SDL_AtomicSet(&w->cancel, 1);
    w->next_wanted = w->next_failed = false;
    SDL_UnlockMutex(w->lock);
}

bool worker_next(struct worker *w, struct next_key key, const struct model_net *net,
                 struct next_texts *texts, struct scene_next *view)
{
    SDL_LockMutex(w->lock);
    bool yes = w->likely.made && next_key_same(w->likely.key, key);
    if (yes) *view = next_view(&w->likely, net, texts);
    SDL_UnlockMutex(w->lock);
    return yes;
}

bool worker_next_failed(struct worker *w, struct err *why)
{
    SDL_LockMutex(w->lock);
    bool failed = w->next_failed;
    if (failed) *why = w->next_why;
    SDL_UnlockMutex(w->lock);
    return failed;
}

const struct run *worker_take(struct worker *w)
{
    SDL_LockMutex(w->lock);
    if (w->ready != WORKER_NONE) {
        w->shown = w->ready;
        w->ready = WORKER_NONE;
    }
    const struct run *r = w->shown == WORKER_NONE ? NULL : &w->slot[w->shown];
    SDL_UnlockMutex(w->lock);
    return r;
}

float worker_progress(struct worker *w)
{
    SDL_LockMutex(w->lock);
    float progress = w->wanted ? w->progress : -1.0f;
    SDL_UnlockMutex(w->lock);
    return progress;
}

bool worker_failed(struct worker *w, struct err *why)
{
    SDL_LockMutex(w->lock);
    bool failed = w->failed;
    if (failed) *why = w->why;
    SDL_UnlockMutex(w->lock);
    return failed;
}

void worker_wait(struct worker *w)
{
    SDL_LockMutex(w->lock);
    while (w->thread && (w->pending || w->busy || w->opening || worker_heads_left(w) ||
                         worker_next_left(w)))
        SDL_CondWait(w->idle, w->lock);
    SDL_UnlockMutex(w->lock);
}
