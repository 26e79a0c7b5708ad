/* A few threads that wait for work.
 *
 * One word, claim, holds the job's number above and the count of tasks not yet taken
 * below. A thread takes tasks by lowering the count with compare-and-swap; success means
 * the job is still the one whose fields it has just read, since they are rewritten only
 * after every task of the old job has been done. Waiting is a short spin and then a
 * sleep, so that a pool without work costs nothing and a stolen core stalls nobody for
 * longer than its own task. */
#include "kernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    SPINS = 4000,         /* some 20 to 60 microseconds */
    STACK_BYTES = 4 << 20 /* tasks keep up to 300 KiB of scratch on the stack */
};

typedef void task_fn(const void *arg, int t);

struct attn_pool {
    _Alignas(ATTN_ALIGN) _Atomic uint64_t claim;
    _Alignas(ATTN_ALIGN) _Atomic int done; /* tasks finished or dropped */
    _Alignas(ATTN_ALIGN) _Atomic int sleepers;
    _Atomic int caller_sleeps;
    _Atomic int quit;
    /* The job. */
    _Atomic(task_fn *) fn;
    _Atomic(const void *) arg;
    _Atomic(const volatile int *) cancel;
    _Atomic int n;
    _Atomic int runs;

    pthread_mutex_t lock;
    pthread_cond_t work, finished;
    int n_thread; /* the caller among them */
    pthread_t thread[];
};

static void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static bool cancelled(const volatile int *cancel)
{
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

static void run_tasks(task_fn *fn, const void *arg, const volatile int *cancel, int from,
                      int to)
{
    for (int t = from; t < to && !cancelled(cancel); t++) fn(arg, t);
}

static uint32_t tasks_left(struct attn_pool *p)
{
    return (uint32_t)atomic_load(&p->claim);
}

/* Takes tasks of the present job until none is left. */
static void help(struct attn_pool *p)
{
    uint64_t seen = atomic_load(&p->claim);
    while ((uint32_t)seen > 0) {
        int left = (int)(uint32_t)seen;
        task_fn *fn = atomic_load(&p->fn);
        const void *arg = atomic_load(&p->arg);
        const volatile int *cancel = atomic_load(&p->cancel);
        int n = atomic_load(&p->n);
        int take = atomic_load(&p->runs) ? attn_max(1, left / (2 * p->n_thread)) : 1;
        if (!atomic_compare_exchange_weak(&p->claim, &seen, seen - (uint64_t)take))
            continue;
        run_tasks(fn, arg, cancel, n - left, n - left + take);
        if (atomic_fetch_add(&p->done, take) + take == n &&
            atomic_load(&p->caller_sleeps)) {
            pthread_mutex_lock(&p->lock);
            pthread_cond_signal(&p->finished);
            pthread_mutex_unlock(&p->lock);
        }
        seen = atomic_load(&p->claim);
    }
}

static void *worker(void *arg)
{
    struct attn_pool *p = arg;
    while (!atomic_load(&p->quit)) {
        help(p);
        for (int i = 0; i < SPINS && tasks_left(p) == 0; i++) spin_pause();
        if (tasks_left(p) > 0) continue;
        pthread_mutex_lock(&p->lock);
        atomic_fetch_add(&p->sleepers, 1);
        while (tasks_left(p) == 0 && !atomic_load(&p->quit))
            pthread_cond_wait(&p->work, &p->lock);
        atomic_fetch_sub(&p->sleepers, 1);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static void wait_until_done(struct attn_pool *p, int n)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&p->done) == n) return;
        spin_pause();
    }
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->caller_sleeps, 1);
    while (atomic_load(&p->done) != n) pthread_cond_wait(&p->finished, &p->lock);
    atomic_store(&p->caller_sleeps, 0);
    pthread_mutex_unlock(&p->lock);
}

void attn_parallel(const struct attn_ctx *c, int n, bool runs, task_fn *fn,
                   const void *arg)
{
    struct attn_pool *p = c->pool;
    if (!p || p->n_thread == 1 || n <= 1) {
        run_tasks(fn, arg, c->cancel, 0, n);
        return;
    }
    atomic_store(&p->fn, fn);
    atomic_store(&p->arg, arg);
    atomic_store(&p->cancel, c->cancel);
    atomic_store(&p->n, n);
    atomic_store(&p->runs, runs);
    atomic_store(&p->done, 0);
    uint64_t job = (atomic_load(&p->claim) >> 32) + 1;
    atomic_store(&p->claim, job << 32 | (uint32_t)n);
    if (atomic_load(&p->sleepers) > 0) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
    help(p);
    wait_until_done(p, n);
}

int attn_pool_size(const struct attn_pool *p)
{
    return p ? p->n_thread : 1;
}

struct attn_pool *attn_pool_create(int n_thread)
{
    if (n_thread < 1 || n_thread > 1024) return NULL;
    size_t bytes = sizeof(struct attn_pool) + (size_t)n_thread * sizeof(pthread_t);
    bytes = (bytes + ATTN_ALIGN - 1) / ATTN_ALIGN * ATTN_ALIGN;
    struct attn_pool *p = aligned_alloc(ATTN_ALIGN, bytes);
    if (!p) return NULL;
    *p = (struct attn_pool){.n_thread = 1};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->finished, NULL);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int started = 1;
    while (started < n_thread &&
           pthread_create(&p->thread[started], &attr, worker, p) == 0)
        started++;
    pthread_attr_destroy(&attr);
    p->n_thread = started;
    if (started == n_thread) return p;
    attn_pool_destroy(p);
    return NULL;
}

void attn_pool_destroy(struct attn_pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->quit, 1);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->n_thread; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->finished);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
