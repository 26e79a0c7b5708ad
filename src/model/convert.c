/* Tensors from the file to float32, in pieces that fit on the stack. */
#include "weights.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files are little-endian");

/* Elements read at a time: what fits on the stack, and what goes where it belongs. */
enum { PIECE = 16384, PIECE_IN_PLACE = 1 << 18 };

/* NaN and the infinities: every bit of the exponent is set. */
static int64_t count_odd(const float *x, size_t n)
{
    int64_t odd = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        odd += (bits & 0x7F800000u) == 0x7F800000u;
    }
    return odd;
}

/* IEEE 754 half: the exponent is moved by a product, which makes numbers out of
 * subnormals too; NaN and the infinities land above 2^16 and get their exponent back. */
static void from_f16(float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (in[i] & 0x7FFFu) << 13, sign = (in[i] & 0x8000u) << 16;
        float x;
        memcpy(&x, &bits, sizeof x);
        x *= 0x1p112f; /* 127 - 15 */
        memcpy(&bits, &x, sizeof bits);
        bits |= sign | (bits >= 0x47800000u ? 0x7F800000u : 0u);
        memcpy(&out[i], &bits, sizeof bits);
    }
}

static void from_bf16(float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)in[i] << 16;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

/* n elements, at most PIECE where they are not F32, from element `first` of the tensor as the file has it. */
static bool read_piece(const struct weights *w, const struct tensor_at *t, float *out,
                       uint64_t first, size_t n, struct model_odd *odd, struct err *e)
{
    uint16_t narrow[PIECE];
    size_t size = t->dtype == DTYPE_F32 ? 4 : 2;
    assert((t->dtype == DTYPE_F32 || n <= PIECE) && (first + n) * size <= t->bytes);
    void *to = t->dtype == DTYPE_F32 ? (void *)out : (void *)narrow;
    const struct weight_file *f = &w->files[t->file];
    if (!file_read_at(&f->in, to, n * size, t->at + first * size, e)) {
        (void)err_at(e, t->name);
        return err_at(e, f->name);
    }
    if (t->dtype == DTYPE_F16) from_f16(out, narrow, n);
    if (t->dtype == DTYPE_BF16) from_bf16(out, narrow, n);
    int64_t found = count_odd(out, n);
    if (found > 0 && odd->n == 0)
        (void)snprintf(odd->first, sizeof odd->first, "%s", t->name);
    odd->n += found;
    return true;
}

static bool read_plain(const struct weights *w, const struct tensor_at *t, float *out,
                       uint64_t first, uint64_t n, struct model_odd *odd, struct err *e)
{
    uint64_t piece = t->dtype == DTYPE_F32 ? PIECE_IN_PLACE : PIECE;
    for (uint64_t at = 0; at < n; at += piece)
        if (!read_piece(w, t, out + at, first + at,
                        (size_t)(n - at < piece ? n - at : piece), odd, e))
            return false;
    return true;
}

/* The n rows of `width` elements from row `first` of the file on become the columns of
 * out [width, n], whose rows lie ld apart.
 *
 *      file                          out
 *      first  a a a a a                   a b . .
 *             b b b b b   a piece ->      a b . .
 *             . . . . .                   a b . .      */
static bool read_turned(const struct weights *w, const struct tensor_at *t, float *out,
                        size_t ld, size_t width, uint64_t first, size_t n,
                        struct model_odd *odd, struct err *e)
{
    float piece[PIECE];
    size_t n_i = width < PIECE ? width : PIECE; /* of a row, at a time */
    size_t n_j = PIECE / n_i;                   /* rows at a time, where they are whole */
    for (size_t j = 0; j < n; j += n_j) {
        size_t nj = n_j < n - j ? n_j : n - j;
        for (size_t i = 0; i < width; i += n_i) {
            size_t ni = n_i < width - i ? n_i : width - i;
            if (!read_piece(w, t, piece, (first + j) * width + i, nj * ni, odd, e))
                return false;
            for (size_t a = 0; a < ni; a++)
                for (size_t b = 0; b < nj; b++)
                    /* read_piece has filled nj * ni of it.
                     * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
                    out[(i + a) * ld + j + b] = piece[b * ni + a];
        }
    }
    return true;
}

bool tensor_read(const struct weights *w, const struct tensor_at *t, float *out,
                 struct model_odd *odd, struct err *e)
{
    if (t->transposed)
        return read_turned(w, t, out, (size_t)t->shape[1], (size_t)t->shape[0], 0,
                           (size_t)t->shape[1], odd, e);
    return read_plain(w, t, out, 0, t->bytes / (t->dtype == DTYPE_F32 ? 4 : 2), odd, e);
}

bool tensor_read_rows(const struct weights *w, const struct tensor_at *t, float *out,
                      uint64_t first, uint64_t n, struct model_odd *odd, struct err *e)
{
    assert(t->rank == 2 && !t->transposed && first + n <= t->shape[0]);
    uint64_t width = t->shape[1];
    return read_plain(w, t, out, first * width, n * width, odd, e);
}

bool tensor_read_columns(const struct weights *w, const struct tensor_at *t, float *out,
                         size_t ld, uint64_t first, uint64_t n, struct model_odd *odd,
                         struct err *e)
{
    assert(t->rank == 2 && !t->transposed && first + n <= t->shape[0]);
    return read_turned(w, t, out, ld, (size_t)t->shape[1], first, (size_t)n, odd, e);
}
