/* .npz files: ZIP archives of .npy files. The directory at the end is checked as a whole
 * when the archive is opened; what local headers say beside it is not used.
 * Format: PKWARE APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16. Archives beyond
 * 4 GiB (ZIP64) are not read. */
#include "npy.h"

#include <stdlib.h>
#include <string.h>

enum {
    END_SIZE = 22,
    COMMENT_MAX = 65535,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    DIRECTORY_MAX = 1 << 26,
    NAME_MAX_BYTES = 255,
    FLAG_ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8,
    DEFLATE_MOST = 1032 /* bytes that one packed byte can stand for (zlib, "Technical
                         * Details") */
};
#define IN_ZIP64 UINT32_MAX

struct entry {
    const char *name; /* without ".npy" */
    uint32_t crc;
    uint64_t at, packed, size; /* of its local header; of the data */
    size_t name_size;          /* in the file */
    int method;
};

struct model_npz {
    struct arena self, mem; /* itself; entries and names */
    struct file_in in;
    uint64_t directory; /* where it begins: no data reaches beyond */
    struct entry *entries;
    int n;
    char path[256]; /* for errors */
};

static uint32_t u16(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}

static uint32_t u32(const unsigned char *b)
{
    return u16(b) | u16(b + 2) << 16;
}

/* ---- the directory ------------------------------------------------------------------------ */

/* Finds the end record, behind which only its comment stands. */
static bool find_end(struct model_npz *z, unsigned char end[END_SIZE], uint64_t *at,
                     struct err *e)
{
    uint64_t size = z->in.size;
    size_t n = size < END_SIZE + COMMENT_MAX ? (size_t)size : END_SIZE + COMMENT_MAX;
    struct arena mem;
    if (n < END_SIZE) return err_set(e, ERR_INPUT, "is no .npz file");
    if (!arena_init(&mem, n, e)) return false;
    bool ok = file_read_at(&z->in, mem.data, n, size - n, e), found = false;
    for (size_t i = n - END_SIZE + 1; ok && !found && i-- > 0;) {
        const unsigned char *b = mem.data + i;
        found = memcmp(b, "PK\x05\x06", 4) == 0 && u16(b + 20) == n - i - END_SIZE;
        if (!found) continue;
        memcpy(end, b, END_SIZE);
        *at = size - n + i;
    }
    arena_free(&mem);
    if (!ok) return false;
    return found ? true : err_set(e, ERR_INPUT, "is no .npz file, or is truncated");
}

/* A name that would stay in the folder it is unpacked to. Nothing is, but names are shown
 * and become names of files. */
static bool is_safe(const char *name, size_t n)
{
    size_t part = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && name[i] != '/') {
            if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F ||
                strchr("\\:", name[i]))
                return false;
            continue;
        }
        size_t length = i - part;
        if (length == 0 || (length == 1 && name[part] == '.') ||
            (length == 2 && memcmp(name + part, "..", 2) == 0))
            return false;
        part = i + 1;
    }
    return true;
}

static bool take_name(struct model_npz *z, struct entry *t, const char *name, size_t n,
                      struct err *e)
{
    static const char ending[] = ".npy";
    size_t k = sizeof ending - 1;
    if (n > NAME_MAX_BYTES) return err_set(e, ERR_INPUT, "a name of %zu bytes", n);
    if (!is_safe(name, n))
        return err_set(e, ERR_INPUT,
                       "an entry's name leaves the archive or cannot be shown");
    if (n <= k || memcmp(name + n - k, ending, k) != 0)
        return err_set(e, ERR_INPUT, "%.*s is no .npy array", (int)n, name);
    t->name_size = n;
    t->name = arena_text(&z->mem, name, n - k);
    return t->name ? true : err_set(e, ERR_SYSTEM, "no memory for its names");
}

static bool check_entry(const struct model_npz *z, const struct entry *t, uint32_t flags,
                        struct err *e)
{
    if (flags & FLAG_ENCRYPTED) return err_set(e, ERR_INPUT, "%s: is encrypted", t->name);
    if (t->method != STORED && t->method != DEFLATED)
        return err_set(e, ERR_INPUT,
                       "%s: is packed by method %d; stored and deflated are "
                       "read",
                       t->name, t->method);
    if (t->packed == IN_ZIP64 || t->size == IN_ZIP64 || t->at == IN_ZIP64)
        return err_set(e, ERR_INPUT,
                       "%s: archives beyond 4 GiB are not read; unpack it and give the "
                       "folder",
                       t->name);
    uint64_t head = LOCAL_SIZE + t->name_size;
    if (t->at > z->directory || head > z->directory - t->at ||
        t->packed > z->directory - t->at - head)
        return err_set(e, ERR_INPUT, "%s: its data is not in the file", t->name);
    if (t->method == STORED ? t->size != t->packed
                            : t->size / DEFLATE_MOST > t->packed + 1)
        return err_set(e, ERR_INPUT, "%s: %ju bytes cannot come from %ju", t->name,
                       (uintmax_t)t->size, (uintmax_t)t->packed);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;
    return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static int by_name(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static bool check_together(struct model_npz *z, struct err *e)
{
    size_t used = z->mem.used, n = (size_t)z->n;
    enum { POINTER = sizeof(void *) };
    const struct entry **sorted = arena_push(&z->mem, n, POINTER);
    if (!sorted) return err_set(e, ERR_SYSTEM, "no memory for its names");
    for (int i = 0; i < z->n; i++) sorted[i] = &z->entries[i];
    if (n > 0) qsort(sorted, n, POINTER, by_place);
    for (size_t i = 1; i < n; i++) {
        const struct entry *t = sorted[i - 1];
        if (sorted[i]->at - t->at < LOCAL_SIZE + t->name_size + t->packed)
            return err_set(e, ERR_INPUT, "%s: its data overlaps that of %s",
                           sorted[i]->name, t->name);
    }
    if (n > 0) qsort(sorted, n, POINTER, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0)
            return err_set(e, ERR_INPUT, "%s: is there twice", sorted[i]->name);
    z->mem.used = used;
    return true;
}

static bool read_entries(struct model_npz *z, const unsigned char *at, size_t size,
                         struct err *e)
{
    for (int i = 0; i < z->n; i++) {
        struct entry *t = &z->entries[i];
        if (size < ENTRY_SIZE || memcmp(at, "PK\x01\x02", 4) != 0)
            return err_set(e, ERR_INPUT, "its directory is damaged");
        size_t name = u16(at + 28), all = ENTRY_SIZE + name + u16(at + 30) + u16(at + 32);
        if (all > size) return err_set(e, ERR_INPUT, "its directory is truncated");
        t->method = (int)u16(at + 10);
        t->crc = u32(at + 16);
        t->packed = u32(at + 20);
        t->size = u32(at + 24);
        t->at = u32(at + 42);
        if (!take_name(z, t, (const char *)at + ENTRY_SIZE, name, e) ||
            !check_entry(z, t, u16(at + 8), e))
            return false;
        at += all;
        size -= all;
    }
    if (size != 0) return err_set(e, ERR_INPUT, "its directory is longer than it says");
    return check_together(z, e);
}

static bool read_directory(struct model_npz *z, struct err *e)
{
    unsigned char end[END_SIZE] = {0};
    uint64_t end_at = 0;
    if (!find_end(z, end, &end_at, e)) return false;
    uint64_t size = u32(end + 12);
    z->directory = u32(end + 16);
    z->n = (int)u16(end + 10);
    if (z->directory == IN_ZIP64 || size == IN_ZIP64 || z->n == UINT16_MAX)
        return err_set(
            e, ERR_INPUT,
            "archives beyond 4 GiB or 65534 entries are not read; unpack it and give "
            "the folder");
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != u16(end + 10))
        return err_set(e, ERR_INPUT, "is a part of an archive in several files");
    if (z->directory > end_at || size > end_at - z->directory || size > DIRECTORY_MAX)
        return err_set(e, ERR_INPUT, "its directory is not where it should be");
    /* Entries, their names, each rounded up as the arena does, and a list to sort. */
    size_t n = (size_t)z->n;
    if (!arena_init(&z->mem,
                    n * (sizeof *z->entries + sizeof(void *) + 64) + (size_t)size + 256,
                    e))
        return false;
    z->entries = arena_push(&z->mem, n, sizeof *z->entries);
    struct arena mem;
    if (!arena_init(&mem, (size_t)size + 64, e)) return false;
    bool ok = file_read_at(&z->in, mem.data, (size_t)size, z->directory, e) &&
              read_entries(z, mem.data, (size_t)size, e);
    arena_free(&mem);
    return ok;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool model_npz_open(struct model_npz **out, const char *path, struct err *e)
{
    struct arena self;
    if (!arena_init(&self, sizeof(struct model_npz), e)) return false;
    struct model_npz *z = arena_push(&self, 1, sizeof *z);
    z->self = self;
    strncat(z->path, last_part(path), sizeof z->path - 1);
    if (!file_open(&z->in, path, e)) {
        model_npz_close(z);
        return false;
    }
    if (!read_directory(z, e)) {
        (void)err_at(e, z->path);
        model_npz_close(z);
        return false;
    }
    *out = z;
    return true;
}

void model_npz_close(struct model_npz *z)
{
    if (!z) return;
    file_close(&z->in);
    arena_free(&z->mem);
    struct arena self = z->self;
    arena_free(&self);
}

int model_npz_count(const struct model_npz *z)
{
    return z->n;
}

const char *model_npz_name(const struct model_npz *z, int i)
{
    return z->entries[i].name;
}

/* ---- one array ------------------------------------------------------------------------------ */

static bool read_array(struct model_npz *z, const struct entry *t, struct model_array *a,
                       int64_t most, struct err *e)
{
    unsigned char local[LOCAL_SIZE];
    struct stream s;
    if (!file_read_at(&z->in, local, sizeof local, t->at, e)) return false;
    uint64_t head = LOCAL_SIZE + (uint64_t)u16(local + 26) + u16(local + 28);
    if (memcmp(local, "PK\x03\x04", 4) != 0 || u16(local + 26) != t->name_size ||
        head > z->directory - t->at || t->packed > z->directory - t->at - head)
        return err_set(e, ERR_INPUT, "its data is not where the directory says");
    if (t->method == DEFLATED) {
        if (!stream_deflated(&s, &z->in, t->at + head, t->packed, t->size, e))
            return false;
    } else {
        stream_plain(&s, &z->in, t->at + head, t->size);
    }
    s.checked = true;
    bool ok = npy_read(a, &s, most, e) && stream_is_whole(&s, t->crc, e);
    stream_end(&s);
    return ok;
}

bool model_npz_read(struct model_npz *z, int i, struct model_array *a, int64_t most,
                    struct err *e)
{
    const struct entry *t = &z->entries[i];
    *a = (struct model_array){0};
    if (read_array(z, t, a, most, e)) return true;
    model_array_free(a);
    (void)err_at(e, t->name);
    return err_at(e, z->path);
}
