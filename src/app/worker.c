/* One thread that makes models and runs, so that the window never waits. */
#include "worker.h"

#include <SDL.h>
#include <sys/resource.h>

enum {
    SLOTS = 2,
    NONE = -1,
    WORK_NICE = 10 /* a tenth of a window thread's share where both want the same core;
                    * 19, a seventieth, starves on a busy machine */
};

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
    bool making; /* busy with the model of `seed` */
    uint32_t seed;
    float progress;
    int shown, ready; /* slots, or NONE */
    bool failed;
    struct err why;
    uint64_t version;

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

static void set_making(struct worker *w, bool making, uint32_t seed)
{
    SDL_LockMutex(w->lock);
    w->making = making;
    w->seed = seed;
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

/* The model of key: one that is there, or made in the place that nothing shown views. */
static struct run_model *model_for(struct worker *w, struct run_key key, int slot,
                                   const struct attn_ctx *c, struct err *e)
{
    for (int i = 0; i < SLOTS; i++)
        if (run_model_is(&w->model[i], key)) return &w->model[i];
    const struct run *other = &w->slot[1 - slot];
    int at = other->made && other->model == &w->model[0].model ? 1 : 0;
    set_making(w, true, key.seed);
    bool ok = run_model_make(&w->model[at], key, c, e);
    set_making(w, false, 0);
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
    /* Below the window's threads; on Linux it is this thread's own, and the pool's threads
     * inherit it. Where it is refused the work is done all the same. */
    (void)setpriority(PRIO_PROCESS, 0, WORK_NICE);
    struct attn_pool *pool = attn_pool_create(SDL_GetCPUCount());
    const struct attn_ctx c = {.k = w->k, .pool = pool, .cancel = &w->cancel.value};

    SDL_LockMutex(w->lock);
    while (!w->quit) {
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
    SDL_DestroyCond(w->idle);
    SDL_DestroyCond(w->asked);
    SDL_DestroyMutex(w->lock);
    SDL_free(w);
}

bool worker_ask(struct worker *w, struct run_key key, struct err *e)
{
    if (!w->thread) w->thread = SDL_CreateThread(worker_main, "headlight-work", w);
    if (!w->thread)
        return err_set(e, ERR_SYSTEM, "no thread for the computation: %s",
                       SDL_GetError());
    SDL_LockMutex(w->lock);
    if (!w->wanted || !run_key_same(w->want, key)) {
        w->want = key;
        w->wanted = w->pending = true;
        w->failed = false;
        if (w->progress < 0.0f) w->progress = 0.0f;
        /* A model of the seed that is still wanted may be finished. */
        if (!(w->making && w->seed == key.seed)) SDL_AtomicSet(&w->cancel, 1);
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
    while (w->thread && (w->pending || w->busy)) SDL_CondWait(w->idle, w->lock);
    SDL_UnlockMutex(w->lock);
}
