/* worker: one thread that makes models and runs, so that the window never waits.
 *
 * The newest request is the one that counts: it cancels the one under way. A run is made
 * in a slot that is not on screen and handed over whole. */
#ifndef HEADLIGHT_WORKER_H
#define HEADLIGHT_WORKER_H

#include "run.h"

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* Starts no thread yet. event: an SDL user event type that is pushed when something is
 * new, 0: none is pushed (nobody waits for events). NULL: no memory. */
struct worker *worker_create(const struct attn_kernels *k, uint32_t event);
/* Cancels what is under way and waits for the thread to end. NULL is fine. */
void worker_destroy(struct worker *w);

/* Asks for a run; the same request twice is one. ERR_SYSTEM: no thread to be had. */
bool worker_ask(struct worker *w, struct run_key key, struct err *e);
/* Nothing is wanted any more. */
void worker_cancel(struct worker *w);

/* The newest finished run, which stays as it is until the next call; NULL: none yet. */
const struct run *worker_take(struct worker *w);

/* 0..1 while computing, else < 0. */
float worker_progress(struct worker *w);
/* Whether the last request failed, and why. */
bool worker_failed(struct worker *w, struct err *why);
/* Blocks until nothing is under way. */
void worker_wait(struct worker *w);

#endif
