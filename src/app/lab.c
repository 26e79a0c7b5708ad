/* One thread, when there is something to compute for a lab; its results are the window's
 * when it has ended. */
#include "lab.h"

#include "saturation.h"

#include <SDL.h>
#include <stdatomic.h>
#include <string.h>

enum { KEPT = STEP_LAB_KEYS };

/* What is computed; equal jobs have equal results. */
struct job {
    int n_key, d_head;
};

struct lab {
    const struct attn_kernels *k;
    uint32_t event;
    SDL_Thread *thread;
    SDL_atomic_t cancel;
    atomic_bool ended;
    /* The thread's until it has ended. */
    struct job job;
    bool ok;
    struct scene_saturation made;
    struct err why;
    /* The window's. */
    struct job failed; /* n_key = 0: none has */
    struct err failed_why;
    struct {
        struct job job; /* n_key = 0: none */
        struct scene_saturation sat;
    } kept[KEPT];
    int oldest;
};

static bool same_job(struct job a, struct job b)
{
    return a.n_key == b.n_key && a.d_head == b.d_head;
}

struct lab *lab_create(const struct attn_kernels *k, uint32_t event)
{
    struct lab *l = SDL_calloc(1, sizeof *l);
    if (!l) return NULL;
    l->k = k;
    l->event = event;
    atomic_init(&l->ended, false);
    return l;
}

static int SDLCALL work(void *data)
{
    struct lab *l = data;
    const struct attn_ctx c = {.k = l->k, .cancel = &l->cancel.value};
    (void)SDL_SetThreadPriority(SDL_THREAD_PRIORITY_LOW);
    l->why = (struct err){0};
    l->ok = saturation_make(&l->made, l->job.n_key, l->job.d_head, &c, &l->why);
    atomic_store(&l->ended, true);
    SDL_Event ev = {.type = l->event};
    if (l->event) (void)SDL_PushEvent(&ev);
    return 0;
}

/* Takes over what the thread has made, once it has ended. */
static void reap(struct lab *l, bool wait)
{
    if (!l->thread || (!wait && !atomic_load(&l->ended))) return;
    SDL_WaitThread(l->thread, NULL);
    l->thread = NULL;
    if (l->ok) {
        l->kept[l->oldest].job = l->job;
        l->kept[l->oldest].sat = l->made;
        l->oldest = (l->oldest + 1) % KEPT;
    } else if (l->why.code != ERR_CANCELLED) {
        l->failed = l->job;
        l->failed_why = l->why;
    }
}

static void begin(struct lab *l, struct job job, struct err *e)
{
    l->job = job;
    SDL_AtomicSet(&l->cancel, 0);
    atomic_store(&l->ended, false);
    l->thread = SDL_CreateThread(work, "lab", l);
    if (!l->thread) (void)err_set(e, ERR_SYSTEM, "no thread for the lab");
}

void lab_destroy(struct lab *l)
{
    if (!l) return;
    SDL_AtomicSet(&l->cancel, 1);
    reap(l, true);
    SDL_free(l);
}

static const struct scene_saturation *kept(const struct lab *l, struct job job)
{
    for (int i = 0; i < KEPT; i++)
        if (same_job(l->kept[i].job, job)) return &l->kept[i].sat;
    return NULL;
}

bool lab_for(struct lab *l, const struct step_state *s, bool wait,
             struct scene_source *src, struct err *e)
{
    struct attn_dims dims = step_place_of(s)->dims;
    const struct job job = {step_lab_row(s), attn_d_head(dims)};
    reap(l, false);
    if (!s->lab.open || s->lab.kind != STEP_LAB_SATURATION) return true;
    while (!kept(l, job) && !same_job(l->failed, job)) {
        if (!l->thread)
            begin(l, job, e);
        else if (!same_job(l->job, job))
            SDL_AtomicSet(&l->cancel, 1); /* the next call begins */
        if (!l->thread) return false;
        if (!wait) break;
        reap(l, true);
    }
    src->saturation = kept(l, job);
    if (src->saturation || !same_job(l->failed, job)) return true;
    *e = l->failed_why;
    return false;
}
