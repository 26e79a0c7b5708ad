/* One run's numbers minus another's, and the largest change among them. */
#include "kernels.h"

#include <string.h>

enum {
    PARTS = 64,
    CHUNK = 64 /* a fixed number, so that the compiler makes vectors of it */
};

struct part {
    int32_t most; /* bits of the largest magnitude so far; NaN counts as an infinity */
    int row, col;
    int64_t count;
};

struct job {
    struct attn_mat out;
    struct attn_cmat is, was;
    struct part *part;
};

/* Nonnegative floats, and infinity before NaN, are in the order of their bits. */
enum { INFINITE = 0x7F800000 };

/* sizes[a]: bits of how large change a is. Returns the largest. */
static int32_t chunk(float *restrict out, const float *restrict is,
                     const float *restrict was, int32_t *restrict sizes, int64_t *count)
{
    int32_t most = 0, n = 0;
    for (int a = 0; a < CHUNK; a++) {
        float d = is[a] - was[a];
        int same = (is[a] == was[a]) | ((is[a] != is[a]) & (was[a] != was[a]));
        int32_t bits;
        memcpy(&bits, &d, sizeof bits);
        bits &= same - 1; /* equal infinities and NaN differ by 0 */
        memcpy(&out[a], &bits, sizeof bits);
        int32_t size = bits & 0x7FFFFFFF;
        sizes[a] = size > INFINITE ? INFINITE : size;
    }
    for (int a = 0; a < CHUNK; a++) n += sizes[a] != 0;
    for (int a = 0; a < CHUNK; a++) most = sizes[a] > most ? sizes[a] : most;
    *count += n;
    return most;
}

static void row_part(struct part *p, const struct job *j, int row)
{
    float out[CHUNK], is[CHUNK], was[CHUNK];
    int32_t sizes[CHUNK];
    int n = j->out.cols;
    for (int c0 = 0; c0 < n; c0 += CHUNK) {
        size_t m = (size_t)attn_min(CHUNK, n - c0), rest = (CHUNK - m) * sizeof(float);
        memcpy(is, j->is.data + (size_t)row * j->is.ld + c0, m * sizeof *is);
        memcpy(was, j->was.data + (size_t)row * j->was.ld + c0, m * sizeof *was);
        memset(is + m, 0, rest);
        memset(was + m, 0, rest);
        int32_t most = chunk(out, is, was, sizes, &p->count);
        memcpy(j->out.data + (size_t)row * j->out.ld + c0, out, m * sizeof *out);
        if (most <= p->most) continue;
        p->most = most;
        p->row = row;
        for (p->col = c0; sizes[p->col - c0] != most;) p->col++;
    }
}

static void part_task(const void *arg, int t)
{
    const struct job *j = arg;
    struct part p = {.row = -1, .col = -1};
    int64_t rows = j->out.rows;
    for (int64_t i = rows * t / PARTS; i < rows * (t + 1) / PARTS; i++)
        row_part(&p, j, (int)i);
    j->part[t] = p;
}

enum attn_status attn_difference(const struct attn_ctx *c, struct attn_mat out,
                                 struct attn_cmat is, struct attn_cmat was,
                                 struct attn_change *change)
{
    struct part part[PARTS];
    struct job job = {out, is, was, part};
    if (!attn_mat_is(is, out.rows, out.cols) || !attn_mat_is(was, out.rows, out.cols) ||
        !attn_mat_is(attn_const(out), out.rows, out.cols))
        return ATTN_BAD_SHAPE;
    memset(part, 0, sizeof part); /* of a run that is cancelled */
    attn_parallel(c, PARTS, false, part_task, &job);
    struct part *most = &part[0];
    int64_t count = 0;
    for (int t = 0; t < PARTS; t++) {
        count += part[t].count;
        if (part[t].most > most->most) most = &part[t];
    }
    *change = (struct attn_change){.row = -1, .col = -1, .count = count};
    if (most->most == 0) return ATTN_OK;
    change->row = most->row;
    change->col = most->col;
    change->is = is.data[(size_t)most->row * is.ld + most->col];
    change->was = was.data[(size_t)most->row * was.ld + most->col];
    return ATTN_OK;
}
