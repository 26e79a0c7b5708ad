/* Files: bounded reads, whole-or-nothing writes. The only place that knows POSIX. */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as many as Linux follows */

static bool read_all(int fd, char *data, size_t want, size_t *got)
{
    *got = 0;
    while (*got < want) {
        ssize_t n = read(fd, data + *got, want - *got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) break;
        *got += (size_t)n;
    }
    return true;
}

/* A descriptor of the regular file at path, and its size; -1: *e says why not. */
static int open_regular(const char *path, uint64_t *size, struct err *e)
{
    /* O_NONBLOCK: opening a pipe must not wait for its other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        (void)err_set(e, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
        return -1;
    }
    struct stat st;
    if (fstat(fd, &st) != 0) {
        (void)err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        (void)err_set(e, ERR_INPUT, "%s: is %s; a file is needed", path,
                      S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
    } else {
        *size = (uint64_t)st.st_size;
        return fd;
    }
    (void)close(fd);
    return -1;
}

bool file_read(const char *path, size_t max, struct arena *a, char **data, size_t *n,
               struct err *e)
{
    uint64_t size = 0;
    int fd = open_regular(path, &size, e);
    if (fd < 0) return false;
    bool ok = false;
    if (size > max) {
        (void)err_set(e, ERR_INPUT, "%s: %ju bytes, at most %zu are read", path,
                      (uintmax_t)size, max);
    } else if (!(*data = arena_push(a, (size_t)size + 1, 1))) {
        (void)err_set(e, ERR_SYSTEM, "%s: no memory for its %ju bytes", path,
                      (uintmax_t)size);
    } else if (!read_all(fd, *data, (size_t)size, n)) {
        (void)err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
    } else {
        (*data)[*n] = '\0';
        ok = true;
    }
    (void)close(fd);
    return ok;
}

bool file_open(struct file_in *f, const char *path, struct err *e)
{
    *f = (struct file_in){0};
    int fd = open_regular(path, &f->size, e);
    if (fd < 0) return false;
    f->fd = fd;
    f->is_open = true;
    return true;
}

void file_close(struct file_in *f)
{
    if (f->is_open) (void)close(f->fd);
    *f = (struct file_in){0};
}

bool file_read_at(const struct file_in *f, void *data, size_t n, uint64_t at,
                  struct err *e)
{
    unsigned char *to = data;
    if (at > INT64_MAX || n > INT64_MAX - at)
        return err_set(e, ERR_INPUT, "%zu bytes from %ju on are beyond any file", n,
                       (uintmax_t)at);
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(f->fd, to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return err_set(e, ERR_INPUT, "%s", strerror(errno));
        if (got == 0)
            return err_set(e, ERR_INPUT,
                           "ends at byte %ju, %ju are needed: it has become shorter",
                           (uintmax_t)(at + done), (uintmax_t)(at + n));
        done += (size_t)got;
    }
    return true;
}

bool file_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* ---- writing -------------------------------------------------------------------------- */

static bool write_all(int fd, const unsigned char *data, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, data, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        data += put;
        n -= (size_t)put;
    }
    return true;
}

/* Replaces path, a symbolic link, by what it points at, so that the link itself stays. */
static bool follow_links(char path[FILE_PATH])
{
    for (int i = 0; i < LINKS_MAX; i++) {
        char to[FILE_PATH];
        ssize_t n = readlink(path, to, sizeof to);
        if (n < 0) return true; /* no link, or nothing there yet */
        char *slash = strrchr(path, '/');
        size_t folder = to[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
        if ((size_t)n >= FILE_PATH - folder) return false;
        memcpy(path + folder, to, (size_t)n);
        path[folder + (size_t)n] = '\0';
    }
    return false;
}

static bool refused(const struct file_out *f, int why, struct err *e)
{
    return err_set(e, ERR_INPUT, "%s: cannot be written: %s", f->path, strerror(why));
}

/* A pipe or a device cannot appear at once; it is written to as it is. O_NONBLOCK: a pipe
 * that nobody reads is refused, not waited for. */
static bool open_direct(struct file_out *f, struct err *e)
{
    f->fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0) return refused(f, errno, e);
    int flags = fcntl(f->fd, F_GETFL);
    if (flags >= 0) (void)fcntl(f->fd, F_SETFL, flags & ~O_NONBLOCK);
    f->is_open = true;
    return true;
}

static bool open_beside(struct file_out *f, struct err *e)
{
    char target[FILE_PATH];
    (void)snprintf(target, sizeof target, "%s", f->path);
    if (!follow_links(target)) return refused(f, ELOOP, e);
    int n = snprintf(f->part, sizeof f->part, "%s.XXXXXX", target);
    if (n < 0 || (size_t)n >= sizeof f->part) return refused(f, ENAMETOOLONG, e);
    f->fd = mkstemp(f->part);
    if (f->fd < 0) return refused(f, errno, e);
    f->is_open = true;
    /* mkstemp makes the file private; a new file gets what the person's umask allows. */
    mode_t mask = umask(0);
    (void)umask(mask);
    if (fchmod(f->fd, 0666 & ~mask) == 0) return true;
    int why = errno;
    file_drop(f);
    return refused(f, why, e);
}

bool file_begin(struct file_out *f, const char *path, struct err *e)
{
    f->is_open = false;
    f->part[0] = '\0';
    f->n = 0;
    f->size = 0;
    if (strlen(path) >= sizeof f->path)
        return err_set(e, ERR_INPUT, "the path is longer than %zu bytes", sizeof f->path);
    (void)snprintf(f->path, sizeof f->path, "%s", path);
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode)) return open_beside(f, e);
    if (S_ISDIR(st.st_mode))
        return err_set(e, ERR_INPUT, "%s: is a folder; a file name is needed", path);
    return open_direct(f, e);
}

void file_drop(struct file_out *f)
{
    if (!f->is_open) return;
    (void)close(f->fd);
    if (f->part[0]) (void)unlink(f->part);
    f->is_open = false;
}

static bool give_up(struct file_out *f, int why, struct err *e)
{
    file_drop(f);
    return refused(f, why, e);
}

static bool put_now(struct file_out *f, const void *data, size_t n, struct err *e)
{
    return write_all(f->fd, data, n) ? true : give_up(f, errno, e);
}

bool file_put(struct file_out *f, const void *data, size_t n, struct err *e)
{
    if (!f->is_open) return refused(f, EBADF, e);
    f->size += n;
    if (n > sizeof f->pending - f->n) {
        if (!put_now(f, f->pending, f->n, e)) return false;
        f->n = 0;
        if (n >= sizeof f->pending) return put_now(f, data, n, e);
    }
    memcpy(f->pending + f->n, data, n);
    f->n += n;
    return true;
}

bool file_end(struct file_out *f, struct err *e)
{
    if (!f->is_open) return refused(f, EBADF, e);
    if (!put_now(f, f->pending, f->n, e)) return false;
    bool beside = f->part[0] != '\0';
    if (beside && fsync(f->fd) != 0) return give_up(f, errno, e);
    f->is_open = false;
    int why = close(f->fd) == 0 ? 0 : errno;
    if (!why && beside) {
        char target[FILE_PATH];
        size_t n = strlen(f->part) - strlen(".XXXXXX");
        memcpy(target, f->part, n);
        target[n] = '\0';
        why = rename(f->part, target) == 0 ? 0 : errno;
    }
    if (!why) return true;
    if (beside) (void)unlink(f->part);
    return refused(f, why, e);
}

bool file_write(const char *path, const void *data, size_t n, struct err *e)
{
    struct file_out f;
    return file_begin(&f, path, e) && file_put(&f, data, n, e) && file_end(&f, e);
}

bool file_can_write(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof folder)
        return err_set(e, ERR_INPUT, "the path is longer than %zu bytes", sizeof folder);
    if (slash) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    struct stat st;
    if (path[0] == '\0' || (slash && slash[1] == '\0'))
        return err_set(e, ERR_INPUT, "%s: names no file", path);
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_INPUT, "%s: there is no folder %s; create it first", path,
                       folder);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(e, ERR_INPUT, "%s: is a folder; a file name is needed", path);
    if (access(folder, W_OK | X_OK) != 0)
        return err_set(e, ERR_INPUT, "%s: cannot be written: %s", path, strerror(errno));
    return true;
}
