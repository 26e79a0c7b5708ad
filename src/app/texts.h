/* texts: those that were read, kept so that undo can lead back to them. The state names
 * them by number. */
#ifndef HEADLIGHT_TEXTS_H
#define HEADLIGHT_TEXTS_H

#include "base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_kept {
    struct arena mem;
    const char *bytes;
    size_t n;
};
/* Starts zeroed. */
struct texts {
    struct arena mem; /* the list; grows by taking a larger one */
    struct text_kept *at;
    uint32_t n;
};
/* A copy of the n bytes; its number, from 1 on. 0: no memory. */
uint32_t texts_keep(struct texts *t, const char *bytes, size_t n);
/* NULL: there is none of that number. */
const struct text_kept *texts_get(const struct texts *t, uint32_t number);
void texts_fini(struct texts *t);

#endif
