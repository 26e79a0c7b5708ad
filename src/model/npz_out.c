/* .npz files written: each array as it comes, then the directory. The same arrays give the
 * same bytes: no time is kept. Format: see npz.c. */
#include "npy.h"

#include <stdio.h>
#include <string.h>

enum {
    VERSION = 20,          /* 2.0: deflate */
    FLAG_SIZES_BEHIND = 8, /* checksum and sizes follow the data */
    FLAG_UTF8 = 1 << 11,
    STORED = 0,
    DEFLATED = 8,
    DATE = 1 << 5 | 1, /* 1 January 1980, the first day there is */
    MADE_BY = 3 << 8 | VERSION,
    NAME_ROOM = 256
};
static const uint32_t FILE_MODE = 0100644u << 16;

struct record {
    char name[NAME_ROOM]; /* with ".npy" */
    uint32_t crc, packed, size, at;
    bool deflated;
};

struct model_npz_out {
    struct file_out out;
    struct arena self, mem; /* itself; the records */
    struct record *records;
    int n, most;
    bool deflate;
    unsigned char packed[1 << 15];
};

/* Little-endian numbers, one after another. */
struct bytes {
    unsigned char at[64];
    size_t n;
};

static void put16(struct bytes *b, uint32_t v)
{
    b->at[b->n++] = (unsigned char)v;
    b->at[b->n++] = (unsigned char)(v >> 8);
}

static void put32(struct bytes *b, uint32_t v)
{
    put16(b, v);
    put16(b, v >> 16);
}

bool model_npz_begin(struct model_npz_out **out, const char *path, bool deflate, int most,
                     struct err *e)
{
    struct arena self;
    if (most < 0 || most >= UINT16_MAX)
        return err_set(e, ERR_USAGE, "%s: an .npz holds at most %d arrays", path,
                       UINT16_MAX - 1);
    if (!arena_init(&self, sizeof(struct model_npz_out), e)) return false;
    struct model_npz_out *z = arena_push(&self, 1, sizeof *z);
    z->self = self;
    if (!arena_init(&z->mem, (size_t)most * sizeof *z->records + 64, e) ||
        !file_begin(&z->out, path, e)) {
        model_npz_drop(z);
        return false;
    }
    z->records = arena_push(&z->mem, (size_t)most, sizeof *z->records);
    z->most = most;
    z->deflate = deflate;
    *out = z;
    return true;
}

void model_npz_drop(struct model_npz_out *z)
{
    if (!z) return;
    file_drop(&z->out);
    arena_free(&z->mem);
    struct arena self = z->self;
    arena_free(&self);
}

/* ---- an array --------------------------------------------------------------------------------- */

static const void *row_of(const struct model_array *a, int64_t i)
{
    return a->data + i * a->ld;
}

static uint32_t crc_more(uint32_t crc, const void *data, size_t n)
{
    enum { MOST = 1 << 30 };
    const unsigned char *at = data;
    for (; n > MOST; n -= MOST, at += MOST) crc = (uint32_t)crc32(crc, at, MOST);
    return (uint32_t)crc32(crc, at, (uInt)n);
}

static bool put_stored(struct model_npz_out *z, const char *head, size_t n_head,
                       const struct model_array *a, struct err *e)
{
    struct npy_rows rows = npy_rows_of(a);
    bool ok = file_put(&z->out, head, n_head, e);
    for (int64_t i = 0; ok && i < rows.count; i++)
        ok = file_put(&z->out, row_of(a, i), (size_t)rows.cols * sizeof(float), e);
    return ok;
}

static bool deflate_more(struct model_npz_out *z, z_stream *s, const void *data, size_t n,
                         int flush, struct err *e)
{
    enum { MOST = 1 << 30 };
    const unsigned char *from = data;
    do {
        size_t part = n < MOST ? n : MOST;
        s->next_in = from;
        s->avail_in = (uInt)part;
        from += part;
        n -= part;
        do {
            s->next_out = z->packed;
            s->avail_out = sizeof z->packed;
            (void)deflate(s, n > 0 ? Z_NO_FLUSH : flush);
            if (!file_put(&z->out, z->packed, sizeof z->packed - s->avail_out, e))
                return false;
        } while (s->avail_out == 0);
    } while (n > 0);
    return true;
}

static bool put_deflated(struct model_npz_out *z, const char *head, size_t n_head,
                         const struct model_array *a, struct err *e)
{
    struct npy_rows rows = npy_rows_of(a);
    z_stream s = {0};
    if (deflateInit2(&s, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(e, ERR_SYSTEM, "no memory for packing");
    bool ok = deflate_more(z, &s, head, n_head, Z_NO_FLUSH, e);
    for (int64_t i = 0; ok && i < rows.count; i++)
        ok = deflate_more(z, &s, row_of(a, i), (size_t)rows.cols * sizeof(float),
                          Z_NO_FLUSH, e);
    ok = ok && deflate_more(z, &s, NULL, 0, Z_FINISH, e);
    (void)deflateEnd(&s);
    return ok;
}

/* What local header and directory have in common. */
static void put_common(struct bytes *b, const struct record *r, bool local)
{
    bool later = local && r->deflated; /* sizes not known yet */
    put16(b, VERSION);
    put16(b, FLAG_UTF8 | (r->deflated ? FLAG_SIZES_BEHIND : 0));
    put16(b, r->deflated ? DEFLATED : STORED);
    put16(b, 0);
    put16(b, DATE);
    put32(b, later ? 0 : r->crc);
    put32(b, later ? 0 : r->packed);
    put32(b, later ? 0 : r->size);
    put16(b, (uint32_t)strlen(r->name));
    put16(b, 0); /* nothing extra */
}

static bool put_record(struct model_npz_out *z, const struct bytes *b, const char *name,
                       struct err *e)
{
    return file_put(&z->out, b->at, b->n, e) && file_put(&z->out, name, strlen(name), e);
}

static bool put_sizes(struct model_npz_out *z, const struct record *r, struct err *e)
{
    struct bytes b = {.n = 0};
    put32(&b, 0x08074b50);
    put32(&b, r->crc);
    put32(&b, r->packed);
    put32(&b, r->size);
    return file_put(&z->out, b.at, b.n, e);
}

/* An archive has to stay below what 32 bits reach. Deflate may make data longer, by 5
 * bytes in 16 KiB. */
static bool has_room(const struct model_npz_out *z, uint64_t size)
{
    uint64_t most = size + size / 1024 + (uint64_t)(z->n + 1) * 2 * (NAME_ROOM + 64);
    return z->out.size < UINT32_MAX && most < UINT32_MAX - z->out.size;
}

/* Begins an entry of so many bytes whose checksum is known. NULL: *e says why not. */
static struct record *begin_entry(struct model_npz_out *z, const char *name,
                                  uint64_t bytes, uint32_t crc, bool deflated,
                                  struct err *e)
{
    if (strlen(name) + sizeof ".npy" > NAME_ROOM) {
        (void)err_set(e, ERR_USAGE, "%.40s…: the name is too long", name);
        return NULL;
    }
    if (z->n == z->most) {
        (void)err_set(e, ERR_USAGE, "%s: more than the %d arrays", name, z->most);
        return NULL;
    }
    if (!has_room(z, bytes)) {
        (void)err_set(e, ERR_INPUT,
                      "%s: an .npz holds up to 4 GiB; write a folder of .npy files",
                      name);
        return NULL;
    }
    struct record *r = &z->records[z->n++];
    (void)snprintf(r->name, sizeof r->name, "%s.npy", name);
    r->at = (uint32_t)z->out.size;
    r->size = r->packed = (uint32_t)bytes;
    r->crc = crc;
    r->deflated = deflated;
    struct bytes b = {.n = 0};
    put32(&b, 0x04034b50);
    put_common(&b, r, true);
    return put_record(z, &b, r->name, e) ? r : NULL;
}

static bool add(struct model_npz_out *z, const char *name, const struct model_array *a,
                struct err *e)
{
    char head[NPY_HEAD];
    size_t n_head = npy_head(head, a);
    uint64_t bytes = (uint64_t)model_array_count(a) * sizeof(float);
    struct npy_rows rows = npy_rows_of(a);
    uint32_t crc = crc_more(0, head, n_head);
    for (int64_t i = 0; i < rows.count; i++)
        crc = crc_more(crc, row_of(a, i), (size_t)rows.cols * sizeof(float));
    struct record *r = begin_entry(z, name, bytes + n_head, crc, z->deflate, e);
    if (!r) return false;
    uint64_t from = z->out.size;
    if (!z->deflate) return put_stored(z, head, n_head, a, e);
    if (!put_deflated(z, head, n_head, a, e)) return false;
    r->packed = (uint32_t)(z->out.size - from);
    return put_sizes(z, r, e);
}

bool model_npz_add(struct model_npz_out *z, const char *name, const struct model_array *a,
                   struct err *e)
{
    if (add(z, name, a, e)) return true;
    file_drop(&z->out);
    return false;
}

bool model_npz_add_bytes(struct model_npz_out *z, const char *name, const void *data,
                         size_t n, struct err *e)
{
    char head[NPY_HEAD];
    size_t n_head = npy_head_bytes(head, n);
    uint32_t crc = crc_more(crc_more(0, head, n_head), data, n);
    const struct record *r = begin_entry(z, name, (uint64_t)n + n_head, crc, false, e);
    if (r && file_put(&z->out, head, n_head, e) && file_put(&z->out, data, n, e))
        return true;
    file_drop(&z->out);
    return false;
}

/* ---- the directory ------------------------------------------------------------------------------ */

static bool put_directory(struct model_npz_out *z, struct err *e)
{
    uint64_t from = z->out.size;
    for (int i = 0; i < z->n; i++) {
        struct bytes b = {.n = 0};
        put32(&b, 0x02014b50);
        put16(&b, MADE_BY);
        put_common(&b, &z->records[i], false);
        put16(&b, 0); /* comment, disk, text or not */
        put16(&b, 0);
        put16(&b, 0);
        put32(&b, FILE_MODE);
        put32(&b, z->records[i].at);
        if (!put_record(z, &b, z->records[i].name, e)) return false;
    }
    struct bytes b = {.n = 0};
    put32(&b, 0x06054b50);
    put16(&b, 0); /* disks */
    put16(&b, 0);
    put16(&b, (uint32_t)z->n);
    put16(&b, (uint32_t)z->n);
    put32(&b, (uint32_t)(z->out.size - from));
    put32(&b, (uint32_t)from);
    put16(&b, 0); /* comment */
    return file_put(&z->out, b.at, b.n, e);
}

bool model_npz_end(struct model_npz_out *z, struct err *e)
{
    bool ok = put_directory(z, e) && file_end(&z->out, e);
    model_npz_drop(z);
    return ok;
}
