/* What lies in a folder. */
#include "base.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool file_ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n >= k && strcmp(name + n - k, ending) == 0;
}

/* Hidden files, the mere ending among them, are left out. */
static bool is_listed(const char *name, const char *ending)
{
    return name[0] != '.' && strcmp(name, ending) != 0 && file_ends_with(name, ending);
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* One pass: counts names and their bytes, or, with a list, fills it. What has come into
 * the folder between the passes and finds no room is left out. */
static bool pass(struct file_names *f, const char *folder, const char *ending,
                 const char **list, size_t *bytes, int room)
{
    DIR *d = opendir(folder);
    if (!d) return false;
    f->n = 0;
    *bytes = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own */
    for (const struct dirent *at = readdir(d); at && f->n < room; at = readdir(d)) {
        size_t n = strlen(at->d_name);
        if (!is_listed(at->d_name, ending)) continue;
        if (list) {
            list[f->n] = arena_text(&f->mem, at->d_name, n);
            if (!list[f->n]) break;
        }
        *bytes += n + 64; /* as the arena rounds */
        f->n++;
    }
    (void)closedir(d);
    return true;
}

bool file_names_read(struct file_names *f, const char *folder, const char *ending,
                     struct err *e)
{
    enum { POINTER = sizeof(const char *) };
    size_t bytes = 0;
    *f = (struct file_names){0};
    if (!pass(f, folder, ending, NULL, &bytes, FILE_NAMES_MAX))
        return err_set(e, ERR_INPUT, "%s: %s", folder, strerror(errno));
    if (f->n == FILE_NAMES_MAX)
        return err_set(e, ERR_INPUT, "%s: more than %d files %s", folder,
                       FILE_NAMES_MAX - 1, ending);
    int room = f->n;
    if (!arena_init(&f->mem, bytes + (size_t)room * POINTER + 64, e)) return false;
    const char **list = arena_push(&f->mem, (size_t)room, POINTER);
    if (!pass(f, folder, ending, list, &bytes, room)) {
        file_names_free(f);
        return err_set(e, ERR_INPUT, "%s: %s", folder, strerror(errno));
    }
    if (f->n > 1) qsort(list, (size_t)f->n, POINTER, by_name);
    f->at = list;
    return true;
}

void file_names_free(struct file_names *f)
{
    arena_free(&f->mem);
    *f = (struct file_names){0};
}
