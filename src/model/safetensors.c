/* The header of a safetensors file: eight bytes with its length, then JSON that gives each
 * tensor a dtype, a shape and the place of its data. Nothing of it is believed unchecked.
 * Format: huggingface/safetensors, README, "Format". */
#include "strict_json.h"
#include "weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_MAX = 4 << 20, /* GPT-2 XL's has 60 KB */
    INDEX_MAX = 4 << 20
};
#define PREFIX   "transformer."
#define METADATA "__metadata__"

static const struct {
    const char *name;
    enum dtype dtype;
    int size;
} dtypes[] = {{"F32", DTYPE_F32, 4},   {"F16", DTYPE_F16, 2},   {"BF16", DTYPE_BF16, 2},
              {"F64", DTYPE_OTHER, 8}, {"I64", DTYPE_OTHER, 8}, {"U64", DTYPE_OTHER, 8},
              {"I32", DTYPE_OTHER, 4}, {"U32", DTYPE_OTHER, 4}, {"I16", DTYPE_OTHER, 2},
              {"U16", DTYPE_OTHER, 2}, {"I8", DTYPE_OTHER, 1},  {"U8", DTYPE_OTHER, 1},
              {"BOOL", DTYPE_OTHER, 1}};
enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

/* One header while it is read. */
struct reading {
    struct weight_file *f;
    uint64_t data, data_size; /* where the data begins, and how much there is */
};

static bool bad(struct err *e, const char *name, const char *reason)
{
    return err_set(e, ERR_INPUT, "%.100s: %s", name, reason);
}

static bool read_shape(struct tensor_at *t, const json_t *shape, struct err *e)
{
    if (!json_is_array(shape)) return bad(e, t->name, "there is no shape");
    size_t rank = json_array_size(shape);
    if (rank > SHAPE_MAX)
        return err_set(e, ERR_INPUT, "%.100s: %zu dimensions, at most %d are read",
                       t->name, rank, SHAPE_MAX);
    t->rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        const json_t *size = json_array_get(shape, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return bad(e, t->name, "the shape holds something that is no size");
        t->shape[i] = (uint64_t)json_integer_value(size);
    }
    return true;
}

/* Product of shape times size in *bytes; false: beyond 64 bits. */
static bool shape_bytes(const struct tensor_at *t, uint64_t size, uint64_t *bytes)
{
    *bytes = size;
    for (int i = 0; i < t->rank; i++)
        if (t->shape[i] == 0) {
            *bytes = 0;
            return true;
        }
    for (int i = 0; i < t->rank; i++) {
        if (*bytes > UINT64_MAX / t->shape[i]) return false;
        *bytes *= t->shape[i];
    }
    return true;
}

static bool read_place(const struct reading *r, struct tensor_at *t, const json_t *place,
                       struct err *e)
{
    const json_t *from = json_array_get(place, 0), *to = json_array_get(place, 1);
    if (json_array_size(place) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return bad(e, t->name, "data_offsets is not two numbers");
    int64_t a = json_integer_value(from), b = json_integer_value(to);
    if (a < 0 || b < a)
        return err_set(e, ERR_INPUT, "%.100s: data_offsets [%jd,%jd] run backwards",
                       t->name, (intmax_t)a, (intmax_t)b);
    if ((uint64_t)b > r->data_size)
        return err_set(e, ERR_INPUT,
                       "%.100s: data ends at byte %jd, the file has %ju: it is truncated",
                       t->name, (intmax_t)b, (uintmax_t)r->data_size);
    t->at = r->data + (uint64_t)a;
    t->bytes = (uint64_t)(b - a);
    return true;
}

static bool read_tensor(const struct reading *r, struct tensor_at *t, const json_t *entry,
                        struct err *e)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype) return bad(e, t->name, "there is no dtype");
    if (!read_shape(t, json_object_get(entry, "shape"), e) ||
        !read_place(r, t, json_object_get(entry, "data_offsets"), e))
        return false;
    t->dtype = DTYPE_OTHER;
    t->dtype_name = "another";
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(dtype, dtypes[i].name) != 0) continue;
        char shape[SHAPE_TEXT];
        uint64_t need;
        t->dtype = dtypes[i].dtype;
        t->dtype_name = dtypes[i].name;
        if (!shape_bytes(t, (uint64_t)dtypes[i].size, &need))
            return err_set(e, ERR_INPUT, "%.100s: shape %s is beyond any file", t->name,
                           shape_text(shape, t->shape, t->rank));
        if (need != t->bytes)
            return err_set(e, ERR_INPUT,
                           "%.100s: %ju bytes of data, shape %s of %s needs %ju", t->name,
                           (uintmax_t)t->bytes, shape_text(shape, t->shape, t->rank),
                           dtype, (uintmax_t)need);
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct tensor_at *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* empty ones first */
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tensor_at *)a)->name,
                  ((const struct tensor_at *)b)->name);
}

/* No two share a byte, no two share a name; leaves them in the order of their names. */
static bool check_together(struct weight_file *f, struct err *e)
{
    struct tensor_at *t = f->tensors;
    qsort(t, (size_t)f->n_tensor, sizeof *t, by_place);
    for (int i = 1; i < f->n_tensor; i++)
        if (t[i].at - t[i - 1].at < t[i - 1].bytes)
            return err_set(e, ERR_INPUT, "%.100s: its data overlaps that of %.100s",
                           t[i].name, t[i - 1].name);
    qsort(t, (size_t)f->n_tensor, sizeof *t, by_name);
    for (int i = 1; i < f->n_tensor; i++)
        if (strcmp(t[i].name, t[i - 1].name) == 0)
            return bad(e, t[i].name, "is there twice, with and without " PREFIX);
    return true;
}

static const char *bare(const char *name)
{
    size_t n = strlen(PREFIX);
    return strncmp(name, PREFIX, n) == 0 ? name + n : name;
}

/* Memory for the file's name, the tensors and their names, to the byte as arena_push
 * rounds. */
static bool make_room(struct weight_file *f, const char *file, json_t *head,
                      struct err *e)
{
    size_t n = json_object_size(head), bytes = strlen(file) + 65;
    const char *key;
    json_t *entry;
    json_object_foreach(head, key, entry) bytes += strlen(bare(key)) + 65;
    if (!arena_init(&f->mem, bytes + n * sizeof *f->tensors + 64, e)) return false;
    f->name = arena_text(&f->mem, file, strlen(file));
    f->tensors = arena_push(&f->mem, n, sizeof *f->tensors);
    return f->name && f->tensors
               ? true
               : err_set(e, ERR_SYSTEM, "no memory for its %zu tensors", n);
}

static bool read_entries(struct reading *r, int index, json_t *head, struct err *e)
{
    struct weight_file *f = r->f;
    const char *key;
    json_t *entry;
    json_object_foreach(head, key, entry)
    {
        if (strcmp(key, METADATA) == 0) continue;
        struct tensor_at *t = &f->tensors[f->n_tensor];
        t->name = arena_text(&f->mem, bare(key), strlen(bare(key)));
        t->file = index;
        if (!t->name) return err_set(e, ERR_SYSTEM, "no memory for its tensors");
        if (!read_tensor(r, t, entry, e)) return false;
        f->n_tensor++;
    }
    return check_together(f, e);
}

/* Where the header lies: behind its length. */
static bool measure_header(struct reading *r, struct err *e)
{
    unsigned char word[8];
    uint64_t size = r->f->in.size, n = 0;
    if (size < sizeof word)
        return err_set(e, ERR_INPUT, "%ju bytes are no safetensors file",
                       (uintmax_t)size);
    if (!file_read_at(&r->f->in, word, sizeof word, 0, e)) return false;
    for (int i = 7; i >= 0; i--) n = n << 8 | word[i];
    if (n > size - sizeof word)
        return err_set(e, ERR_INPUT,
                       "header of %ju bytes, the file has %ju more: truncated, or no "
                       "safetensors file",
                       (uintmax_t)n, (uintmax_t)(size - sizeof word));
    if (n > HEADER_MAX)
        return err_set(e, ERR_INPUT, "header of %ju bytes, at most %d are read",
                       (uintmax_t)n, HEADER_MAX);
    r->data = sizeof word + n;
    r->data_size = size - r->data;
    return true;
}

/* The header's JSON object; NULL: *e says why. */
static json_t *read_header(struct reading *r, struct err *e)
{
    if (!measure_header(r, e)) return NULL;
    size_t n = (size_t)r->data - 8;
    struct arena mem = {0};
    json_t *head = NULL;
    char *text = arena_init(&mem, n + 1, e) ? arena_push(&mem, n + 1, 1) : NULL;
    if (text && file_read_at(&r->f->in, text, n, 8, e)) {
        head = strict_json(text, n, e);
        if (!head) (void)err_at(e, "header");
    }
    arena_free(&mem);
    if (!head || json_is_object(head)) return head;
    json_decref(head);
    (void)err_set(e, ERR_INPUT, "header: is no JSON object");
    return NULL;
}

bool safetensors_open(struct weights *w, const char *path, struct err *e)
{
    if (w->n_file == SHARDS_MAX)
        return err_set(e, ERR_INPUT, "%s: more than %d files", path_last(path),
                       SHARDS_MAX);
    struct weight_file *f = &w->files[w->n_file++];
    struct reading r = {.f = f};
    if (!file_open(&f->in, path, e)) return false;
    json_t *head = read_header(&r, e);
    bool ok = head && make_room(f, path_last(path), head, e) &&
              read_entries(&r, w->n_file - 1, head, e);
    json_decref(head);
    return ok ? true : err_at(e, path_last(path));
}

/* ---- several files ------------------------------------------------------------------ */

static bool open_once(struct weights *w, const char *folder, size_t n_folder,
                      const char *name, int *at, struct err *e)
{
    for (*at = 0; *at < w->n_file; ++*at)
        if (strcmp(w->files[*at].name, name) == 0) return true;
    char path[4096];
    if (name[0] == '\0' || strchr(name, '/'))
        return bad(e, name, "is no file of the same folder");
    int n = snprintf(path, sizeof path, "%.*s%s", (int)n_folder, folder, name);
    if (n < 0 || (size_t)n >= sizeof path) return bad(e, name, "the path is too long");
    return safetensors_open(w, path, e);
}

static const struct tensor_at *find_in(const struct weight_file *f, const char *name)
{
    struct tensor_at key = {.name = name};
    if (f->n_tensor == 0) return NULL;
    return bsearch(&key, f->tensors, (size_t)f->n_tensor, sizeof key, by_name);
}

static bool check_once(const struct weights *w, struct err *e)
{
    for (int a = 1; a < w->n_file; a++)
        for (int i = 0; i < w->files[a].n_tensor; i++)
            for (int b = 0; b < a; b++)
                if (find_in(&w->files[b], w->files[a].tensors[i].name))
                    return err_set(e, ERR_INPUT, "%s: %.100s: is in %s too",
                                   w->files[a].name, w->files[a].tensors[i].name,
                                   w->files[b].name);
    return true;
}

static bool read_index(struct weights *w, const char *path, json_t *map, struct err *e)
{
    size_t n_folder = (size_t)(path_last(path) - path);
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value)
    {
        const char *file = json_string_value(value);
        int index = 0;
        if (!file) return bad(e, key, "names no file");
        if (!open_once(w, path, n_folder, file, &index, e)) return false;
        if (!find_in(&w->files[index], bare(key)))
            return err_set(e, ERR_INPUT, "%.100s: is not in %.100s", key, file);
    }
    return check_once(w, e);
}

bool safetensors_open_index(struct weights *w, const char *path, struct err *e)
{
    json_t *root = strict_json_file(path, INDEX_MAX, e);
    if (!root) return false;
    json_t *map = json_object_get(root, "weight_map");
    bool ok = json_is_object(map) ? read_index(w, path, map, e)
                                  : err_set(e, ERR_INPUT, "there is no weight_map");
    json_decref(root);
    return ok ? true : err_at(e, path_last(path));
}

/* ---- lists of tensors --------------------------------------------------------------- */

void weights_close(struct weights *w)
{
    for (int i = 0; i < w->n_file; i++) {
        file_close(&w->files[i].in);
        arena_free(&w->files[i].mem);
    }
    *w = (struct weights){0};
}

const struct tensor_at *weights_find(const struct weights *w, const char *name)
{
    for (int i = 0; i < w->n_file; i++) {
        const struct tensor_at *t = find_in(&w->files[i], name);
        if (t) return t;
    }
    return NULL;
}

const char *shape_text(char out[SHAPE_TEXT], const uint64_t *shape, int rank)
{
    size_t n = 0;
    out[n++] = '[';
    for (int i = 0; i < rank; i++) {
        int k =
            snprintf(out + n, SHAPE_TEXT - n, i ? ",%ju" : "%ju", (uintmax_t)shape[i]);
        if (k > 0) n += (size_t)k;
    }
    (void)snprintf(out + n, SHAPE_TEXT - n, "]");
    return out;
}
