/* One thread that makes models and runs, so that the window never waits. */
#include "worker.h"

#include <SDL.h>

#include <string.h>

enum { SLOTS = 2, NONE = -1, PATH_ROOM = 4096 };

/* Weights of an opened model that stay in memory: all of GPT-2 small's blocks. */
static const size_t keep_bytes = (size_t)512 << 20;

/* Shares of the work after which progress is told. A model costs about as much as a run
 * at 1,024 tokens. */
static const float progress_model = 0.45f;
static const float progress_start = 0.05f;

struct worker {
    const struct attn_kernels *k;
    uint32_t event;
    SDL_Thread *thread;
    SDL_mutex *lock;
    SDL_cond *asked, *idle;
    SDL_atomic_t cancel; /* attn and model look at its value */

    /* Under the lock. */
    struct run_key want;
    bool wanted;  /* want holds the last request, done or not */
    bool pending; /* it has not been begun */
    bool busy, quit;
    bool making; /* busy with the model of `made_for` */
    struct run_key made_for;
    float progress;
    int shown, ready; /* slots, or NONE */
    bool failed;
    struct err why;
    uint64_t version;
    bool opening; /* path is to be opened */
    char path[PATH_ROOM];
    bool opened; /* fresh or why_not is to be fetched */
    struct model_net *fresh;
    struct err why_not;
    struct model_net *next; /* to be used; NULL: the one that is */
    uint32_t net_serial, text_serial;
    int32_t ids[STEP_MAX_TOKENS];
    int n_ids;
    struct model_odd odd;

    /* The thread's. */
    struct model_net *net;
    uint32_t fed; /* the text that it was fed, 0: none */

    /* A slot belongs to the window while it is shown or ready, else to the thread. */
    struct run slot[SLOTS];
    struct run_model model[SLOTS];
};

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
    char path[PATH_ROOM];
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
    int32_t ids[STEP_MAX_TOKENS];
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
    for (int i = 0; i < SLOTS; i++)
        if (run_model_is(&w->model[i], key)) return &w->model[i];
    const struct run *other = &w->slot[1 - slot];
    int at = other->made && other->model == &w->model[0].model ? 1 : 0;
    set_making(w, true, key);
    bool ok = key.model ? view_block(w, key, &w->model[at], c, e)
                        : run_model_make(&w->model[at], key, c, e);
    set_making(w, false, key);
    return ok ? &w->model[at] : NULL;
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
    if (!run_make(&w->slot[slot], key, &m->model, c, e)) return false;
    if (!SDL_AtomicGet(&w->cancel)) return true;
    w->slot[slot].made = false;
    return err_set(e, ERR_CANCELLED, "cancelled");
}

static int SDLCALL worker_main(void *data)
{
    struct worker *w = data;
    /* Below the window's thread; the pool's threads inherit it. Where it is refused the
     * work is done all the same. */
    (void)SDL_SetThreadPriority(SDL_THREAD_PRIORITY_LOW);
    struct attn_pool *pool = attn_pool_create(SDL_GetCPUCount());
    const struct attn_ctx c = {.k = w->k, .pool = pool, .cancel = &w->cancel.value};

    SDL_LockMutex(w->lock);
    while (!w->quit) {
        if (w->opening) {
            open_model(w);
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
        w->ready = NONE;
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

struct worker *worker_create(const struct attn_kernels *k, uint32_t event)
{
    struct worker *w = SDL_calloc(1, sizeof *w);
    if (!w) return NULL;
    w->k = k;
    w->event = event;
    w->shown = w->ready = NONE;
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
    for (int i = 0; i < SLOTS; i++) {
        run_fini(&w->slot[i]);
        run_model_fini(&w->model[i]);
    }
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
    if (n >= PATH_ROOM)
        return err_set(e, ERR_INPUT, "the path is longer than %d bytes", PATH_ROOM - 1);
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
        w->ready = NONE;
        SDL_AtomicSet(&w->cancel, 1);
        if (!w->busy) w->progress = -1.0f;
    }
    SDL_UnlockMutex(w->lock);
}

const struct run *worker_take(struct worker *w)
{
    SDL_LockMutex(w->lock);
    if (w->ready != NONE) {
        w->shown = w->ready;
        w->ready = NONE;
    }
    const struct run *r = w->shown == NONE ? NULL : &w->slot[w->shown];
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
    while (w->thread && (w->pending || w->busy || w->opening))
        SDL_CondWait(w->idle, w->lock);
    SDL_UnlockMutex(w->lock);
}
