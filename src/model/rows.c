/* Rows of the embeddings, each read from its place when the text first needs it, and once:
 * wte as a whole is 154 MB in GPT-2 small, and twenty tokens need sixty kilobytes of it. */
#include "net.h"

#include <assert.h>

enum { PART = 256 }; /* rows that memory is taken for at a time */

void rows_free(struct rows *r)
{
    for (int i = 0; i < r->n_part; i++) arena_free(&r->part[i]);
    arena_free(&r->mem);
    *r = (struct rows){0};
}

/* Room for the list of rows: a few bytes for each that the file has. */
static bool begin(struct rows *r, const struct tensor_at *t, struct err *e)
{
    size_t n = (size_t)t->shape[0], parts = n / PART + 1;
    if (!arena_init(&r->mem, n * sizeof *r->at + parts * sizeof *r->part + ROUNDING, e))
        return false;
    r->at = arena_push(&r->mem, n, sizeof *r->at);
    r->part = arena_push(&r->mem, parts, sizeof *r->part);
    assert(r->at && r->part);
    return true;
}

const float *rows_have(const struct rows *r, int i, size_t width)
{
    int at = r->at ? r->at[i] - 1 : -1; /* 0: it was not read */
    if (at < 0) return NULL;
    const float *first = (const float *)(const void *)r->part[at / PART].data;
    return first + (size_t)(at % PART) * width;
}

const float *rows_read(struct model_net *m, struct rows *r, const struct tensor_at *t,
                       int i, struct err *e)
{
    size_t width = (size_t)t->shape[1];
    const float *have = rows_have(r, i, width);
    if (have) return have;
    if (!r->at && !begin(r, t, e)) return NULL;
    if (r->n == r->n_part * PART) {
        struct arena *part = &r->part[r->n_part];
        size_t left = (size_t)t->shape[0] - (size_t)r->n;
        size_t rows = left < PART ? left : PART;
        if (!arena_init(part, rows * width * sizeof(float), e)) return NULL;
        r->n_part++;
    }
    float *to =
        (float *)(void *)r->part[r->n / PART].data + (size_t)(r->n % PART) * width;
    if (!tensor_read_rows(&m->weights, t, to, (uint64_t)i, 1, &m->odd, e)) return NULL;
    r->at[i] = ++r->n;
    return to;
}
