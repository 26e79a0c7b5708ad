/* .npy files: a header that is a Python dictionary in text, then the numbers. It is read
 * by a parser of its own, which knows the three keys and nothing else of Python; objects
 * are refused, because unpickling runs code.
 * Format: NumPy Enhancement Proposal 1; numpy/lib/format.py describes versions 2 and 3. */
#include "npy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files are little-endian");

#define MAGIC "\x93NUMPY"
enum { MAGIC_SIZE = 6, HEAD_MAX = 1 << 14, HEAD_ALIGN = 64, PIECE = 1 << 14 };

enum kind { KIND_F2, KIND_F4, KIND_F8, KIND_BF16, KIND_U1 };
static const int kind_size[] = {2, 4, 8, 2, 1};

struct head {
    enum kind kind;
    bool big, fortran;
    int64_t shape[MODEL_RANK];
    int rank;
    char dtype[8];
};

/* ---- arrays ----------------------------------------------------------------------------- */

struct model_array model_array_of(struct attn_cmat m)
{
    return (struct model_array){
        .data = m.data, .shape = {m.rows, m.cols}, .rank = 2, .ld = m.ld};
}

int64_t model_array_count(const struct model_array *a)
{
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] == 0) return 0; /* whatever the others are */
    for (int i = 0; i < a->rank; i++) n *= a->shape[i];
    return n;
}

void model_array_free(struct model_array *a)
{
    arena_free(&a->mem);
    *a = (struct model_array){0};
}

struct npy_rows npy_rows_of(const struct model_array *a)
{
    int64_t n = model_array_count(a), cols = a->rank > 0 ? a->shape[a->rank - 1] : 1;
    if (n == 0) return (struct npy_rows){0, 0};
    return cols == a->ld || n == cols ? (struct npy_rows){1, n}
                                      : (struct npy_rows){n / cols, cols};
}

/* ---- writing ------------------------------------------------------------------------------ */

static size_t head_of(char out[NPY_HEAD], const char *descr, const char *shape)
{
    const size_t prefix = MAGIC_SIZE + 4;
    int text = snprintf(out + prefix, NPY_HEAD - prefix,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr,
                        shape);
    size_t all = (prefix + (size_t)text + 1 + HEAD_ALIGN - 1) / HEAD_ALIGN * HEAD_ALIGN;
    assert(text > 0 && all <= NPY_HEAD);
    memset(out + prefix + text, ' ', all - prefix - (size_t)text);
    out[all - 1] = '\n';
    memcpy(out, MAGIC "\x01\x00", MAGIC_SIZE + 2);
    out[MAGIC_SIZE + 2] = (char)((all - prefix) & 255);
    out[MAGIC_SIZE + 3] = (char)((all - prefix) >> 8);
    return all;
}

size_t npy_head(char out[NPY_HEAD], const struct model_array *a)
{
    char shape[MODEL_RANK * 21 + 2] = "";
    size_t n = 0;
    assert(a->rank >= 0 && a->rank <= MODEL_RANK);
    for (int i = 0; i < a->rank; i++) {
        const char *after = i + 1 < a->rank ? ", " : a->rank == 1 ? "," : "";
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%jd%s", (intmax_t)a->shape[i],
                              after);
    }
    return head_of(out, "<f4", shape);
}

size_t npy_head_bytes(char out[NPY_HEAD], size_t n)
{
    char shape[32];
    (void)snprintf(shape, sizeof shape, "%zu,", n);
    return head_of(out, "|u1", shape);
}

bool model_npy_write(const char *path, const struct model_array *a, struct err *e)
{
    char head[NPY_HEAD];
    struct file_out f;
    struct npy_rows rows = npy_rows_of(a);
    if (!file_begin(&f, path, e)) return false;
    bool ok = file_put(&f, head, npy_head(head, a), e);
    for (int64_t i = 0; ok && i < rows.count; i++)
        ok = file_put(&f, a->data + i * a->ld, (size_t)rows.cols * sizeof(float), e);
    return ok && file_end(&f, e);
}

/* ---- the header's text --------------------------------------------------------------------- */

/* What is left of it. It ends with a zero. */
struct text {
    const char *at;
};

static void skip_space(struct text *t)
{
    t->at += strspn(t->at, " \t\r\n");
}

/* Whether the next sign is c, which is then passed. */
static bool take(struct text *t, char c)
{
    skip_space(t);
    if (*t->at != c) return false;
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    skip_space(t);
    size_t n = strlen(word);
    if (strncmp(t->at, word, n) != 0) return false;
    t->at += n;
    return true;
}

static bool broken(struct err *e)
{
    return err_set(e, ERR_INPUT, "the header is not that of a .npy file");
}

/* 'text' or "text", of less than `room` bytes. */
static bool take_string(struct text *t, char *out, size_t room, struct err *e)
{
    skip_space(t);
    char quote = *t->at;
    if (quote != '\'' && quote != '"') return broken(e);
    const char *from = t->at + 1, *to = strchr(from, quote);
    if (!to || (size_t)(to - from) >= room) return broken(e);
    memcpy(out, from, (size_t)(to - from));
    out[to - from] = '\0';
    t->at = to + 1;
    return true;
}

static bool take_dtype(struct text *t, struct head *h, struct err *e)
{
    static const struct {
        const char *name;
        enum kind kind;
    } known[] = {{"f2", KIND_F2},   {"f4", KIND_F4},   {"f8", KIND_F8},
                 {"u2", KIND_BF16}, {"V2", KIND_BF16}, {"u1", KIND_U1}};
    char text[32] = "";
    skip_space(t);
    if (*t->at == '[')
        return err_set(e, ERR_INPUT, "is an array of records; one of numbers is needed");
    if (!take_string(t, text, sizeof text, e)) return false;
    const char *bare = text + (strchr("<>|=", text[0]) && text[0] ? 1 : 0);
    if (bare[0] == 'O')
        return err_set(
            e, ERR_INPUT,
            "holds Python objects, which are code when they are loaded, and is "
            "not read; save it as float32");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(bare, known[i].name) != 0) continue;
        h->kind = known[i].kind;
        h->big = text[0] == '>';
        (void)snprintf(h->dtype, sizeof h->dtype, "%.7s",
                       h->kind == KIND_BF16 ? "bf16" : text);
        return true;
    }
    return err_set(e, ERR_INPUT,
                   "dtype %.16s is not read; float16, float32, float64 and bfloat16 are",
                   text);
}

static bool take_size(struct text *t, int64_t *size, struct err *e)
{
    skip_space(t);
    int64_t v = 0;
    const char *from = t->at;
    for (; *t->at >= '0' && *t->at <= '9'; t->at++) {
        int digit = *t->at - '0';
        if (v > (INT64_MAX - digit) / 10)
            return err_set(e, ERR_INPUT, "a size in its shape is beyond any file");
        v = 10 * v + digit;
    }
    *size = v;
    return t->at > from ? true : broken(e);
}

static bool take_shape(struct text *t, struct head *h, struct err *e)
{
    if (!take(t, '(')) return broken(e);
    bool comma = true; /* before the next size */
    for (h->rank = 0; !take(t, ')'); h->rank++) {
        if (h->rank == MODEL_RANK)
            return err_set(e, ERR_INPUT, "more than %d dimensions", MODEL_RANK);
        if (!comma || !take_size(t, &h->shape[h->rank], e))
            return comma ? false : broken(e);
        comma = take(t, ',');
    }
    return h->rank == 1 && !comma ? broken(e) : true; /* (3) is no tuple */
}

/* One key and its value; seen[] counts the three keys. */
static bool take_entry(struct text *t, struct head *h, int seen[3], struct err *e)
{
    char key[16] = "";
    if (!take_string(t, key, sizeof key, e)) return false;
    if (!take(t, ':')) return broken(e);
    if (strcmp(key, "descr") == 0) {
        seen[0]++;
        return take_dtype(t, h, e);
    }
    if (strcmp(key, "shape") == 0) {
        seen[1]++;
        return take_shape(t, h, e);
    }
    if (strcmp(key, "fortran_order") != 0) return broken(e);
    seen[2]++;
    h->fortran = take_word(t, "True");
    return h->fortran || take_word(t, "False") ? true : broken(e);
}

/* Each of the three keys once, in any order. */
static bool parse(struct head *h, const char *header, struct err *e)
{
    struct text t = {header};
    int seen[3] = {0};
    bool more = true;
    *h = (struct head){0};
    if (!take(&t, '{')) return broken(e);
    while (more && !take(&t, '}')) {
        if (!take_entry(&t, h, seen, e)) return false;
        more = take(&t, ',');
        if (!more && !take(&t, '}')) return broken(e);
    }
    skip_space(&t);
    return !*t.at && seen[0] == 1 && seen[1] == 1 && seen[2] == 1 ? true : broken(e);
}

static bool read_head(struct head *h, struct stream *s, struct err *e)
{
    unsigned char start[MAGIC_SIZE + 2], length[4] = {0};
    char text[HEAD_MAX + 1];
    if (s->left < MAGIC_SIZE + 4) return err_set(e, ERR_INPUT, "is no .npy file");
    if (!stream_read(s, start, sizeof start, e)) return false;
    if (memcmp(start, MAGIC, MAGIC_SIZE) != 0)
        return err_set(e, ERR_INPUT, "is no .npy file");
    int version = start[MAGIC_SIZE];
    if (version < 1 || version > 3 || start[MAGIC_SIZE + 1] != 0)
        return err_set(e, ERR_INPUT, ".npy version %d.%d is not read; 1.0 to 3.0 are",
                       version, start[MAGIC_SIZE + 1]);
    if (!stream_read(s, length, version == 1 ? 2 : 4, e)) return false;
    uint64_t n = 0;
    for (int i = 3; i >= 0; i--) n = n << 8 | length[i];
    if (n > s->left)
        return err_set(e, ERR_INPUT, "header of %ju bytes, %ju are there: truncated",
                       (uintmax_t)n, (uintmax_t)s->left);
    if (n > HEAD_MAX)
        return err_set(e, ERR_INPUT, "header of %ju bytes, at most %d are read",
                       (uintmax_t)n, HEAD_MAX);
    if (!stream_read(s, text, (size_t)n, e)) return false;
    text[n] = '\0';
    if (strlen(text) != n) return broken(e);
    return parse(h, text, e);
}

/* ---- the numbers ---------------------------------------------------------------------------- */

/* How many numbers; checked against the limit and against what is left of the stream. */
static bool count_numbers(const struct head *h, const struct stream *s, int64_t most,
                          int64_t *count, struct err *e)
{
    *count = 1;
    for (int i = 0; i < h->rank; i++)
        if (h->shape[i] == 0) *count = 0;
    for (int i = 0; *count > 0 && i < h->rank; i++) {
        if (h->shape[i] > most / *count)
            return err_set(e, ERR_INPUT, "more than %jd numbers, which are read at most",
                           (intmax_t)most);
        *count *= h->shape[i];
    }
    uint64_t size = (uint64_t)kind_size[h->kind];
    if (s->left % size != 0 || s->left / size != (uint64_t)*count)
        return err_set(
            e, ERR_INPUT,
            "%ju bytes of data, its shape of %jd numbers of %ju bytes needs %s",
            (uintmax_t)s->left, (intmax_t)*count, (uintmax_t)size,
            s->left / size < (uint64_t)*count ? "more: truncated" : "fewer");
    return true;
}

static float from_half(uint16_t v)
{
    uint32_t bits = (v & 0x7FFFu) << 13, sign = (v & 0x8000u) << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    x *= 0x1p112f; /* the exponents' biases: 127 - 15; subnormals come right, too */
    memcpy(&bits, &x, sizeof bits);
    bits |= sign | (bits >= 0x47800000u ? 0x7F800000u : 0u); /* NaN and infinity */
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float number(enum kind kind, const unsigned char *at)
{
    uint16_t narrow;
    float x;
    double wide;
    switch (kind) {
    case KIND_F2:
        memcpy(&narrow, at, sizeof narrow);
        return from_half(narrow);
    case KIND_BF16: {
        memcpy(&narrow, at, sizeof narrow);
        uint32_t bits = (uint32_t)narrow << 16;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    case KIND_F8:
        memcpy(&wide, at, sizeof wide);
        return (float)wide;
    case KIND_U1:
        return (float)*at;
    case KIND_F4:
        break;
    }
    memcpy(&x, at, sizeof x);
    return x;
}

static void reverse(unsigned char *at, int size)
{
    for (int i = 0; i < size / 2; i++) {
        unsigned char c = at[i];
        at[i] = at[size - 1 - i];
        at[size - 1 - i] = c;
    }
}

/* Where the numbers of a file in Fortran order belong: the first index runs fastest. */
struct walk {
    int64_t index[MODEL_RANK], step[MODEL_RANK], at;
};

static void walk_on(struct walk *w, const struct head *h)
{
    for (int i = 0; i < h->rank; i++) {
        w->at += w->step[i];
        if (++w->index[i] < h->shape[i]) return;
        w->at -= w->step[i] * h->shape[i];
        w->index[i] = 0;
    }
}

static bool read_numbers(float *out, const struct head *h, int64_t count,
                         struct stream *s, struct err *e)
{
    unsigned char piece[PIECE];
    if (count == 0) return true; /* and the other sizes may be anything */
    int size = kind_size[h->kind];
    bool in_order = !h->fortran || h->rank < 2;
    if (h->kind == KIND_F4 && !h->big && in_order)
        return stream_read(s, out, (size_t)count * sizeof *out, e);
    struct walk w = {.at = 0};
    int64_t step = 1;
    for (int i = h->rank - 1; i >= 0; i--) {
        w.step[i] = step;
        step *= h->shape[i];
    }
    for (int64_t done = 0; done < count;) {
        int64_t n = count - done < PIECE / size ? count - done : PIECE / size;
        if (!stream_read(s, piece, (size_t)(n * size), e)) return false;
        for (int64_t k = 0; k < n; k++) {
            unsigned char *at = piece + k * size;
            if (h->big) reverse(at, size);
            out[in_order ? done + k : w.at] = number(h->kind, at);
            if (!in_order) walk_on(&w, h);
        }
        done += n;
    }
    return true;
}

bool npy_read(struct model_array *a, struct stream *s, int64_t most, struct err *e)
{
    struct head h = {0};
    int64_t count = 0;
    if (!read_head(&h, s, e) || !count_numbers(&h, s, most, &count, e)) return false;
    if (!arena_init(&a->mem, (size_t)count * sizeof(float) + 64, e)) return false;
    float *data = arena_take(&a->mem, (size_t)count, sizeof *data);
    a->data = data;
    a->rank = h.rank;
    a->ld = h.rank > 0 ? h.shape[h.rank - 1] : 1;
    memcpy(a->shape, h.shape, sizeof a->shape);
    memcpy(a->dtype, h.dtype, sizeof a->dtype);
    return read_numbers(data, &h, count, s, e);
}

bool model_npy_read(struct model_array *a, const char *path, int64_t most, struct err *e)
{
    struct file_in in = {0};
    struct stream s;
    *a = (struct model_array){0};
    if (!file_open(&in, path, e)) return false;
    stream_plain(&s, &in, 0, in.size);
    bool ok = npy_read(a, &s, most, e);
    file_close(&in);
    if (ok) return true;
    model_array_free(a);
    return err_at(e, path);
}
