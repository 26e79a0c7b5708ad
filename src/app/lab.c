/* One thread, when there is something to compute or to measure for a lab; its results are
 * the window's when it has ended, and what has been measured so far before. */
#include "lab.h"

#include "saturation.h"
#include "timing.h"

#include <SDL.h>
#include <stdatomic.h>
#include <string.h>

enum {
    KEPT = STEP_LAB_KEYS,
    TIMED = 2 /* dims whose times are kept: in view, GPT-2's */
};

/* What is computed; equal jobs have equal results. */
struct job {
    bool times;            /* the stages' times of dims, else a saturation */
    struct attn_dims dims; /* n_tok = 1 */
    int n_key, d_head;     /* 0 of times */
};

struct lab {
    const struct attn_kernels *k;
    uint32_t event;
    SDL_Thread *thread;
    SDL_atomic_t cancel;
    atomic_bool ended;
    atomic_int done; /* entries of made_times that are whole */
    /* The thread's until it has ended. */
    struct job job;
    bool ok;
    struct scene_saturation made;
    struct scene_times made_times;
    struct err why;
    /* The window's. */
    bool again;        /* times have been asked for since the last were begun */
    struct job failed; /* zeroed: none has */
    struct err failed_why;
    struct {
        struct job job; /* n_key = 0: none */
        struct scene_saturation sat;
    } kept[KEPT];
    struct scene_times timed[TIMED]; /* of = 0: none */
    struct scene_times shown;
    int oldest, oldest_timed;
};

static bool same_dims(struct attn_dims a, struct attn_dims b)
{
    return a.d_model == b.d_model && a.n_head == b.n_head;
}

static bool same_job(struct job a, struct job b)
{
    return a.times == b.times && same_dims(a.dims, b.dims) && a.n_key == b.n_key &&
           a.d_head == b.d_head;
}

struct lab *lab_create(const struct attn_kernels *k, uint32_t event)
{
    struct lab *l = SDL_calloc(1, sizeof *l);
    if (!l) return NULL;
    l->k = k;
    l->event = event;
    atomic_init(&l->ended, false);
    atomic_init(&l->done, 0);
    return l;
}

static void tell(void *data)
{
    const struct lab *l = data;
    SDL_Event ev = {.type = l->event};
    if (l->event) (void)SDL_PushEvent(&ev);
}

static int SDLCALL work(void *data)
{
    struct lab *l = data;
    struct attn_ctx c = {.k = l->k, .cancel = &l->cancel.value};
    l->why = (struct err){0};
    if (l->job.times) {
        c.pool = attn_pool_create(SDL_GetCPUCount());
        l->ok = timing_make(&l->made_times, &l->done, l->job.dims, &c, tell, l, &l->why);
        attn_pool_destroy(c.pool);
    } else {
        (void)SDL_SetThreadPriority(SDL_THREAD_PRIORITY_LOW);
        l->ok = saturation_make(&l->made, l->job.n_key, l->job.d_head, &c, &l->why);
    }
    atomic_store(&l->ended, true);
    tell(l);
    return 0;
}

/* What has been measured so far. */
static struct scene_times times_so_far(struct lab *l)
{
    struct scene_times t = {.dims = l->job.dims,
                            .n = atomic_load(&l->done),
                            .of = TIMING_COUNT,
                            .threads = SDL_GetCPUCount(),
                            .kernels = attn_kernels_name(l->k)};
    memcpy(t.n_tok, l->made_times.n_tok, (size_t)t.n * sizeof t.n_tok[0]);
    memcpy(t.seconds, l->made_times.seconds, (size_t)t.n * sizeof t.seconds[0]);
    return t;
}

static struct scene_times *timed(struct lab *l, struct attn_dims d)
{
    for (int i = 0; i < TIMED; i++)
        if (l->timed[i].of > 0 && same_dims(l->timed[i].dims, d)) return &l->timed[i];
    return NULL;
}

static void keep_times(struct lab *l)
{
    struct scene_times *at = timed(l, l->job.dims);
    if (!at) {
        at = &l->timed[l->oldest_timed];
        l->oldest_timed = (l->oldest_timed + 1) % TIMED;
    }
    *at = times_so_far(l);
}

/* Takes over what the thread has made, once it has ended. */
static void reap(struct lab *l, bool wait)
{
    if (!l->thread || (!wait && !atomic_load(&l->ended))) return;
    SDL_WaitThread(l->thread, NULL);
    l->thread = NULL;
    if (l->job.times && (l->ok || l->why.code == ERR_CANCELLED)) {
        keep_times(l);
    } else if (l->ok) {
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
    l->made_times = (struct scene_times){.n = 0};
    SDL_AtomicSet(&l->cancel, 0);
    atomic_store(&l->ended, false);
    atomic_store(&l->done, 0);
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

void lab_measure(struct lab *l)
{
    bool running = l->thread && l->job.times && !atomic_load(&l->ended);
    if (running) SDL_AtomicSet(&l->cancel, 1);
    l->again = !running;
    l->failed = (struct job){0};
}

/* ---- what is shown ------------------------------------------------------------------------ */

static const struct scene_saturation *kept(const struct lab *l, struct job job)
{
    for (int i = 0; i < KEPT; i++)
        if (l->kept[i].job.n_key > 0 && same_job(l->kept[i].job, job))
            return &l->kept[i].sat;
    return NULL;
}

/* Whether there is what the job makes. */
static bool is_there(struct lab *l, struct job job)
{
    return job.times ? !l->again && timed(l, job.dims) : kept(l, job) != NULL;
}

/* Sees to it that the job is in hand, or done. false: *e says why it cannot be. */
static bool see_to(struct lab *l, struct job job, bool wait, struct err *e)
{
    while (!is_there(l, job) && !same_job(l->failed, job)) {
        if (!l->thread) {
            l->again = l->again && !job.times;
            begin(l, job, e);
        } else if (!same_job(l->job, job)) {
            SDL_AtomicSet(&l->cancel, 1); /* the next call begins */
        }
        if (!l->thread) return false;
        if (!wait) return true;
        reap(l, true);
    }
    if (!same_job(l->failed, job)) return true;
    *e = l->failed_why;
    return false;
}

bool lab_for(struct lab *l, const struct step_state *s, bool wait,
             struct scene_source *src, struct err *e)
{
    bool cost = s->lab.kind == STEP_LAB_COST;
    struct attn_dims here = step_place_of(s)->dims;
    const struct job times = {.times = true, .dims = scene_lab_dims(s, 1)};
    const struct job sat = {.n_key = step_lab_row(s), .d_head = attn_d_head(here)};
    reap(l, false);
    bool measuring = l->thread && l->job.times;
    if (measuring && !(s->lab.open && cost && same_job(l->job, times)))
        SDL_AtomicSet(&l->cancel, 1);
    if (!s->lab.open) return true;
    if (!cost) {
        bool ok = see_to(l, sat, wait, e);
        src->saturation = kept(l, sat);
        return ok;
    }
    bool ok = true;
    if (l->again || (s->lab.timed && !timed(l, times.dims)))
        ok = see_to(l, times, wait, e);
    if (wait) reap(l, true);
    const struct scene_times *t = timed(l, times.dims);
    if (l->thread && same_job(l->job, times)) {
        l->shown = times_so_far(l);
        l->shown.running = true;
        src->times = &l->shown;
    } else if (t && t->n > 0) {
        src->times = t;
    }
    return ok;
}
