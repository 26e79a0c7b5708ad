/* Somebody's dump: a folder of .npy files, an .npz, or one .npy; all the same behind this. */
#include "model.h"

#include <stdio.h>
#include <string.h>

struct model_dump {
    struct arena self;
    struct file_names files; /* of a folder */
    struct model_npz *npz;   /* NULL: it is none */
    char path[FILE_PATH];
    char name[256]; /* of the one file, or of the file last asked for, without ".npy" */
    bool folder;
};

/* The last part of a path, without ".npy". */
static void set_name(struct model_dump *d, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    size_t n = strlen(last) - (file_ends_with(last, ".npy") ? 4 : 0);
    (void)snprintf(d->name, sizeof d->name, "%.*s", (int)(n < 255 ? n : 255), last);
}

/* What the first bytes are, whatever the name says. */
static bool is_zip(const char *path, bool *yes, struct err *e)
{
    struct file_in f = {0};
    char magic[4] = "";
    if (!file_open(&f, path, e)) return false;
    bool ok = f.size < 4 || file_read_at(&f, magic, 4, 0, e);
    *yes = memcmp(magic, "PK\x03\x04", 4) == 0 || memcmp(magic, "PK\x05\x06", 4) == 0;
    file_close(&f);
    return ok || err_at(e, path);
}

static bool open_any(struct model_dump *d, const char *path, struct err *e)
{
    bool zip = false;
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof d->path)
        return err_set(e, ERR_INPUT, "a dump's path has 1 to %d bytes", FILE_PATH - 1);
    memcpy(d->path, path, n + 1);
    d->folder = file_is_folder(path);
    if (d->folder) {
        if (!file_names_read(&d->files, path, ".npy", e)) return false;
        if (d->files.n > 0) return true;
        return err_set(e, ERR_INPUT,
                       "%s: holds no .npy file; save arrays as .npy or .npz", path);
    }
    if (!is_zip(path, &zip, e)) return false;
    set_name(d, path);
    if (!zip && file_ends_with(path, ".npz"))
        return err_set(e, ERR_INPUT, "%s: is no .npz archive", path);
    if (!zip) return true;
    if (!model_npz_open(&d->npz, path, e)) return false;
    if (model_npz_count(d->npz) > 0) return true;
    return err_set(e, ERR_INPUT, "%s: holds no array", path);
}

bool model_dump_open(struct model_dump **out, const char *path, struct err *e)
{
    struct arena self;
    if (!arena_init(&self, sizeof(struct model_dump), e)) return false;
    struct model_dump *d = arena_push(&self, 1, sizeof *d);
    d->self = self;
    if (!open_any(d, path, e)) {
        model_dump_close(d);
        return false;
    }
    *out = d;
    return true;
}

void model_dump_close(struct model_dump *d)
{
    if (!d) return;
    file_names_free(&d->files);
    model_npz_close(d->npz);
    struct arena self = d->self;
    arena_free(&self);
}

int model_dump_count(const struct model_dump *d)
{
    return d->folder ? d->files.n : d->npz ? model_npz_count(d->npz) : 1;
}

const char *model_dump_name(struct model_dump *d, int i)
{
    if (d->folder) set_name(d, d->files.at[i]);
    return d->npz ? model_npz_name(d->npz, i) : d->name;
}

bool model_dump_read(struct model_dump *d, int i, struct model_array *a, int64_t most,
                     struct err *e)
{
    char path[FILE_PATH];
    if (d->npz) return model_npz_read(d->npz, i, a, most, e);
    if (!d->folder) return model_npy_read(a, d->path, most, e);
    int n = snprintf(path, sizeof path, "%s/%s", d->path, d->files.at[i]);
    if (n < 0 || (size_t)n >= sizeof path)
        return err_set(e, ERR_INPUT, "the path is longer than %d bytes", FILE_PATH - 1);
    return model_npy_read(a, path, most, e);
}
