/* lab: computes what the labs show, on a thread of its own, and keeps it. */
#ifndef HEADLIGHT_LAB_H
#define HEADLIGHT_LAB_H

#include "attn.h"
#include "base.h"
#include "scene.h"
#include "step.h"

#include <stdbool.h>
#include <stdint.h>

struct lab;

/* Starts no thread yet. event: see worker_create. NULL: no memory. */
struct lab *lab_create(const struct attn_kernels *k, uint32_t event);
/* Stops what is under way and waits for its thread. NULL is fine. */
void lab_destroy(struct lab *l);

/* Fills in what the state's lab shows, as far as it is there, and begins what is not;
 * wait: until it is. Stays as it is until the next call. false: *e says why it cannot be. */
bool lab_for(struct lab *l, const struct step_state *s, bool wait,
             struct scene_source *src, struct err *e);

/* Begins to time the stages that the cost lab shows, anew where they have been; or, while
 * they are, stops it, and keeps what is done. */
void lab_measure(struct lab *l);

#endif
