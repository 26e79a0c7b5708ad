/* Memory by lifetime: pushed from the front, given back at once. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the name by which libc offers madvise */
#define _DEFAULT_SOURCE
#include "base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ARENA_ALIGN = 64,    /* a cache line, and the widest vector register */
    HUGE_PAGE = 2 << 20, /* of x86-64 and, mostly, ARM64 */
    LARGE = 2 * HUGE_PAGE
};

/* A model's weights touch 100,000 pages of 4 KiB, and where a fault is slow (a virtual
 * machine) those take longer than reading the file. The kernel may ignore the wish. */
#ifdef MADV_HUGEPAGE
static void wish_for_huge_pages(void *at, size_t size)
{
    (void)madvise(at, size, MADV_HUGEPAGE);
}
#else
static void wish_for_huge_pages(void *at, size_t size)
{
    (void)at;
    (void)size;
}
#endif

bool arena_init(struct arena *a, size_t size, struct err *e)
{
    *a = (struct arena){0};
    if (size > SIZE_MAX - HUGE_PAGE)
        return err_set(e, ERR_SYSTEM, "out of memory: %zu bytes asked for", size);
    size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (size == 0) return true;
    size_t align = size < LARGE ? ARENA_ALIGN : HUGE_PAGE;
    size_t whole = (size + align - 1) / align * align;
    a->data = aligned_alloc(align, whole);
    if (!a->data)
        return err_set(e, ERR_SYSTEM, "out of memory: %zu bytes asked for", size);
    if (size >= LARGE) wish_for_huge_pages(a->data, whole);
    a->size = size;
    return true;
}

void arena_free(struct arena *a)
{
    free(a->data);
    *a = (struct arena){0};
}

void *arena_take(struct arena *a, size_t count, size_t size)
{
    size_t room = a->size - a->used;
    if (size != 0 && count > room / size) return NULL;
    size_t n = count * size;
    size_t rounded = (n + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (rounded > room || !a->data) return NULL;
    void *at = a->data + a->used;
    a->used += rounded;
    return at;
}

void *arena_push(struct arena *a, size_t count, size_t size)
{
    void *at = arena_take(a, count, size);
    return at ? memset(at, 0, count * size) : NULL;
}

char *arena_text(struct arena *a, const char *text, size_t n)
{
    char *copy = n < SIZE_MAX ? arena_push(a, n + 1, 1) : NULL;
    if (copy) memcpy(copy, text, n);
    return copy;
}

void arena_reset(struct arena *a)
{
    a->used = 0;
}
