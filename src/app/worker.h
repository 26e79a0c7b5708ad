/* worker: one thread that makes models and runs, so that the window never waits.
 *
 * The newest request is the one that counts: it cancels the one under way. A run is made
 * in a slot that is not on screen and handed over whole. */
#ifndef HEADLIGHT_WORKER_H
#define HEADLIGHT_WORKER_H

#include "heads.h"
#include "next.h"
#include "run.h"

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* Starts no thread yet. event: an SDL user event type that is pushed when something is
 * new, 0: none is pushed (nobody waits for events). NULL: no memory. */
struct worker *worker_create(const struct attn_kernels *k, uint32_t event);
/* Cancels what is under way and waits for the thread to end. NULL is fine. */
void worker_destroy(struct worker *w);

/* Opens the model at path; a newer request takes an older one's place. ERR_SYSTEM: no
 * memory, no thread. */
bool worker_open(struct worker *w, const char *path, struct err *e);
/* true, once: a request has been carried out. *net is the caller's, to be closed or given
 * back by worker_use; NULL: *why says why there is none. */
bool worker_opened(struct worker *w, struct model_net **net, struct err *why);
/* Runs with these serials (see run_key) are of this net and these n ids from now on. The
 * net is the worker's then; info and tokenizer may still be read, until another takes
 * its place. */
void worker_use(struct worker *w, struct model_net *net, uint32_t model,
                const int32_t *ids, int n, uint32_t text);
/* Odd weights among those that the net in use has read so far. */
struct model_odd worker_odd(struct worker *w);

/* Asks for a run; the same request twice is one. ERR_SYSTEM: no thread to be had. */
bool worker_ask(struct worker *w, struct run_key key, struct err *e);
/* Nothing is wanted any more. */
void worker_cancel(struct worker *w);

/* Asks for the overview of the first `blocks` of n_block blocks, which is made when no run
 * is wanted, block by block; the run on screen is of key. What has been made is kept. */
void worker_ask_heads(struct worker *w, struct run_key key, struct attn_dims d,
                      int n_block, int blocks);
/* It is not wanted any more. */
void worker_drop_heads(struct worker *w);
/* The overview of key as far as it is there, which stays as it is until the next call.
 * false: not even begun. */
bool worker_heads(struct worker *w, struct run_key key, struct scene_heads *view);
/* Whether the overview asked for could not be made, and why. */
bool worker_heads_failed(struct worker *w, struct err *why);

/* Asks for the likeliest next tokens, which are made when neither a run nor the overview is
 * wanted; the run on screen is of the same model and text. The same request twice is one. */
void worker_ask_next(struct worker *w, struct next_key key);
/* They are not wanted any more. */
void worker_drop_next(struct worker *w);
/* Those of key, with texts of `net`, the net in use. false: not there. */
bool worker_next(struct worker *w, struct next_key key, const struct model_net *net,
                 struct next_texts *texts, struct scene_next *view);
/* Whether those asked for could not be made, and why. */
bool worker_next_failed(struct worker *w, struct err *why);

/* The newest finished run, which stays as it is until the next call; NULL: none yet. */
const struct run *worker_take(struct worker *w);

/* 0..1 while computing, else < 0. */
float worker_progress(struct worker *w);
/* Whether the last request failed, and why. */
bool worker_failed(struct worker *w, struct err *why);
/* Blocks until nothing is under way. */
void worker_wait(struct worker *w);

#endif
