/* Folders that appear whole or not at all. */
#include "base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char unfinished[] = ".XXXXXX"; /* behind the name of what is being filled */

static bool refused(const struct file_folder *f, int why, struct err *e)
{
    return err_set(e, ERR_INPUT, "%s: cannot be written: %s", f->path, strerror(why));
}

static bool is_free(const struct file_folder *f, struct err *e)
{
    struct stat st;
    if (lstat(f->path, &st) != 0) return true;
    return err_set(e, ERR_INPUT, "%s: is there already; name a folder that is not",
                   f->path);
}

bool file_folder_begin(struct file_folder *f, const char *path, struct err *e)
{
    f->is_open = false;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    if (n == 0) return err_set(e, ERR_INPUT, "a folder needs a name");
    if (n + sizeof unfinished > sizeof f->part)
        return err_set(e, ERR_INPUT, "the path is longer than %zu bytes", sizeof f->path);
    memcpy(f->path, path, n);
    f->path[n] = '\0';
    memcpy(f->part, f->path, n);
    memcpy(f->part + n, unfinished, sizeof unfinished);
    if (!is_free(f, e)) return false;
    if (!mkdtemp(f->part)) return refused(f, errno, e);
    f->is_open = true;
    /* mkdtemp makes it private; a new folder gets what the person's umask allows. */
    mode_t mask = umask(0);
    (void)umask(mask);
    if (chmod(f->part, 0777 & ~mask) == 0) return true;
    int why = errno;
    file_folder_drop(f);
    return refused(f, why, e);
}

bool file_folder_name(const struct file_folder *f, const char *name, char out[FILE_PATH],
                      struct err *e)
{
    int n = snprintf(out, FILE_PATH, "%s/%s", f->part, name);
    if (n > 0 && n < FILE_PATH) return true;
    return err_set(e, ERR_INPUT, "the path is longer than %d bytes", FILE_PATH);
}

/* The folder's entries are on the disk before it takes its name. */
static int flush(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    /* EINVAL: the file system has nothing to flush. */
    int why = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    (void)close(fd);
    return why;
}

bool file_folder_end(struct file_folder *f, struct err *e)
{
    if (!f->is_open) return refused(f, EBADF, e);
    int why = 0;
    bool ok = is_free(f, e); /* it may have come since; an empty one would be replaced */
    if (ok) why = flush(f->part);
    if (ok && !why && rename(f->part, f->path) != 0) why = errno;
    if (ok && !why) {
        f->is_open = false;
        return true;
    }
    file_folder_drop(f);
    return ok ? refused(f, why, e) : false;
}

void file_folder_drop(struct file_folder *f)
{
    if (!f->is_open) return;
    f->is_open = false;
    DIR *d = opendir(f->part);
    if (d) {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own */
        for (const struct dirent *at = readdir(d); at; at = readdir(d))
            (void)unlinkat(dirfd(d), at->d_name, 0); /* "." and ".." are refused */
        (void)closedir(d);
    }
    (void)rmdir(f->part);
}
