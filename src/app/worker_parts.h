/* What the two halves of the worker share: requests, made by the window (worker.c), and the
 * thread that answers them (worker_thread.c). */
#ifndef HEADLIGHT_WORKER_PARTS_H
#define HEADLIGHT_WORKER_PARTS_H

#include "ghost.h"
#include "worker.h"

#include <SDL.h>

enum { WORKER_SLOTS = 2, WORKER_NONE = -1, WORKER_PATH = 4096 };

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by who may touch it
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
    int shown, ready; /* slots, or WORKER_NONE */
    bool failed;
    struct err why;
    uint64_t version;
    bool opening; /* path is to be opened */
    char path[WORKER_PATH];
    bool opened; /* fresh or why_not is to be fetched */
    struct model_net *fresh;
    struct err why_not;
    struct model_net *next; /* to be used; NULL: the one that is */
    uint32_t net_serial, text_serial;
    int32_t ids[STEP_MODEL_TOKENS];
    int n_ids;
    struct model_odd odd;

    struct run_key heads_want;
    struct attn_dims heads_dims;
    int heads_blocks, heads_of; /* of so many */
    bool heads_wanted, heads_failed;
    bool heads_making; /* busy with them */
    struct err heads_why;
    int heads_shown; /* which the window reads, or WORKER_NONE */
    struct heads heads[WORKER_SLOTS];

    struct next_key next_want;
    bool next_wanted, next_failed;
    bool next_making; /* busy with them */
    struct err next_why;
    struct next likely; /* written under the lock; the logits by the thread alone */

    /* The thread's. */
    struct model_net *net;
    uint32_t fed; /* the text that it was fed, 0: none */

    /* A slot belongs to the window while it is shown or ready, else to the thread. */
    struct run slot[WORKER_SLOTS];
    struct ghost ghost[WORKER_SLOTS]; /* of the slot's run, where it is broken */
    struct ghost_right right[WORKER_SLOTS];
    struct ghost_right
        ungiven[WORKER_SLOTS]; /* of the slot's run, by its switches alone */
    struct run_model model[WORKER_SLOTS];
};

/* The thread; data is the worker. */
int SDLCALL worker_main(void *data);

/* With the lock held: the overview of key, or NULL; whether a block of the overview that is
 * wanted, or a list of next tokens that is wanted, is not there. */
struct heads *worker_heads_of_key(struct worker *w, struct run_key key);
bool worker_heads_left(struct worker *w);
bool worker_next_left(const struct worker *w);

#endif
