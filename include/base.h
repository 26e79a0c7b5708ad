/* base: arenas, errors, bounded file reads and whole-or-nothing writes.
 *
 * Every layer but attn returns bool and fills the caller's struct err; only main prints. */
#ifndef HEADLIGHT_BASE_H
#define HEADLIGHT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- errors ------------------------------------------------------------------- */

enum err_code {
    ERR_NONE,
    ERR_USAGE,    /* the command line or a script is wrong: exit code 2 */
    ERR_INPUT,    /* a file or a value in it is wrong: exit code 1 */
    ERR_SYSTEM,   /* the machine refused: no memory, no display, no OpenGL: exit code 1 */
    ERR_CANCELLED /* a newer request took over; nothing to report */
};

/* Caller-owned. The text is one line: what, where, what to do. */
struct err {
    enum err_code code;
    char text[512];
};

/* Fills *e (which may be NULL) and returns false, so that a function can
 * `return err_set(e, ...)`. Text over the room is cut at a character's end. */
bool err_set(struct err *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "where: " before the text that is there; returns false. */
bool err_at(struct err *e, const char *where);

/* ---- arenas ------------------------------------------------------------------- */

/* A block of memory filled from the front and given back at once. Three live in the
 * program, named by lifetime: app, trace, frame. */
struct arena {
    unsigned char *data;
    size_t used, size;
};

/* size bytes of zeroed memory. false: ERR_SYSTEM, a is empty and may be freed. */
bool arena_init(struct arena *a, size_t size, struct err *e);
void arena_free(struct arena *a);

/* count * size bytes, zeroed, aligned to 64. NULL where the arena is full; nothing
 * is then taken. count = 0 gives a valid empty block. */
void *arena_push(struct arena *a, size_t count, size_t size);

/* The same, holding whatever was there: for large blocks that are written before they are
 * read, whose pages are then touched once or not at all. */
void *arena_take(struct arena *a, size_t count, size_t size);

/* A copy of the n bytes at text with a zero behind. NULL where the arena is full. */
char *arena_text(struct arena *a, const char *text, size_t n);

void arena_reset(struct arena *a);

/* ---- files -------------------------------------------------------------------- */

/* Reads a regular file of at most max bytes into the arena, with a zero behind that
 * *n does not count. A folder, a pipe, a device, a longer file: ERR_INPUT. */
bool file_read(const char *path, size_t max, struct arena *a, char **data, size_t *n,
               struct err *e);

/* A regular file held open for reads at any place. Starts zeroed; a closed one may be
 * closed again. */
struct file_in {
    uint64_t size; /* when it was opened */
    int fd;
    bool is_open;
};
/* A folder, a pipe, a device, no such file: ERR_INPUT. */
bool file_open(struct file_in *f, const char *path, struct err *e);
void file_close(struct file_in *f);
/* The n bytes from `at` on. Fewer, because the file has shrunk: ERR_INPUT; the text does
 * not name the file. */
bool file_read_at(const struct file_in *f, void *data, size_t n, uint64_t at,
                  struct err *e);

bool file_is_folder(const char *path);
/* Whether a name ends in that, letter by letter. */
bool file_ends_with(const char *name, const char *ending);
/* Whether there is anything of that name. */
bool file_exists(const char *path);

/* A file that appears whole or not at all: written beside its place, then renamed, so that
 * a former file stays until the new one is complete. A pipe or a device is written to as
 * it is. Whoever begins it, ends it or drops it. */
enum { FILE_PATH = 4096 };
struct file_out {
    uint64_t size; /* bytes put */
    size_t n;      /* of them in pending */
    int fd;
    bool is_open;
    char path[FILE_PATH], part[FILE_PATH];
    unsigned char pending[1 << 15];
};
bool file_begin(struct file_out *f, const char *path, struct err *e);
/* false: no room, a closed pipe, ...; the file is dropped. */
bool file_put(struct file_out *f, const void *data, size_t n, struct err *e);
bool file_end(struct file_out *f, struct err *e);
void file_drop(struct file_out *f); /* nothing is left; one that is not open is fine */

/* The same for n bytes at once. */
bool file_write(const char *path, const void *data, size_t n, struct err *e);

/* A folder that appears whole or not at all: filled beside its place, then renamed. Whatever
 * is of that name already stays: ERR_INPUT. Whoever begins it, ends it or drops it. */
struct file_folder {
    bool is_open;
    char path[FILE_PATH], part[FILE_PATH];
};
bool file_folder_begin(struct file_folder *f, const char *path, struct err *e);
/* Where the file `name` (no folder in it) is to be written meanwhile. */
bool file_folder_name(const struct file_folder *f, const char *name, char out[FILE_PATH],
                      struct err *e);
/* false: nothing is left. */
bool file_folder_end(struct file_folder *f, struct err *e);
void file_folder_drop(struct file_folder *f); /* one that is not open is fine */

/* The files of a folder whose names end so and do not begin with a dot, in order. */
enum { FILE_NAMES_MAX = 1 << 20 };
struct file_names {
    const char *const *at;
    int n;
    struct arena mem;
};
bool file_names_read(struct file_names *f, const char *folder, const char *ending,
                     struct err *e);
void file_names_free(struct file_names *f); /* zeroed is fine */

/* Whether path names a folder in which a file can be created (the folder part of
 * path, "." where it has none). Lets a long job fail before it starts. */
bool file_can_write(const char *path, struct err *e);

/* Length of the character at s of n bytes; 0: none begins there (RFC 3629, sec. 4). */
size_t utf8_length(const unsigned char *s, size_t n);

#endif
