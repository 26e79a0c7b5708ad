/* The texts that were read, each in memory of its own. */
#include "texts.h"

#include <string.h>

/* Room for one more in the list. */
static bool grow(struct texts *t)
{
    enum { FIRST = 64 };
    struct arena mem;
    size_t room = t->mem.size / sizeof *t->at;
    if (t->n + 1 <= room && t->at) return true;
    size_t more = room ? 2 * room : FIRST;
    if (!arena_init(&mem, more * sizeof *t->at + 64, NULL)) return false;
    struct text_kept *at = arena_push(&mem, more, sizeof *at);
    if (!at) {
        arena_free(&mem);
        return false;
    }
    if (t->at && t->n > 0) memcpy(at, t->at, t->n * sizeof *at);
    arena_free(&t->mem);
    t->mem = mem;
    t->at = at;
    return true;
}

uint32_t texts_keep(struct texts *t, const char *bytes, size_t n)
{
    struct text_kept k = {.n = n};
    if (t->n == UINT32_MAX || !grow(t) || !arena_init(&k.mem, n + 64, NULL)) return 0;
    k.bytes = arena_text(&k.mem, bytes, n);
    if (!k.bytes) {
        arena_free(&k.mem);
        return 0;
    }
    t->at[t->n++] = k;
    return t->n;
}

const struct text_kept *texts_get(const struct texts *t, uint32_t number)
{
    return number >= 1 && number <= t->n ? &t->at[number - 1] : NULL;
}

void texts_fini(struct texts *t)
{
    for (uint32_t i = 0; i < t->n; i++) arena_free(&t->at[i].mem);
    arena_free(&t->mem);
    *t = (struct texts){.n = 0};
}
