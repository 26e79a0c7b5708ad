/* What is copied from the window: the line that shows it, numbers, its picture. */
#include "clipboard.h"

#include "export.h"
#include "names.h"

#include <SDL.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool put_text(const char *text, struct err *e)
{
    if (SDL_SetClipboardText(text) == 0) return true;
    return err_set(e, ERR_SYSTEM, "the clipboard refuses it: %s", SDL_GetError());
}

static bool copy_state(struct app *a, char *what, size_t room, struct err *e)
{
    struct arena mem;
    const char *line = app_state(a, &mem, e);
    bool ok = line && put_text(line, e);
    if (ok) (void)snprintf(what, room, "%s", line);
    arena_free(&mem);
    return ok;
}

/* ---- numbers ------------------------------------------------------------------------------ */

enum {
    NUMBER = 20,         /* bytes of one with what parts it from the next, at most */
    MOST_CELLS = 1 << 22 /* that a clipboard is asked to keep */
};

/* Nine digits name a float32 exactly. */
static size_t put_number(char *at, float v, char after)
{
    int n = isnan(v)   ? snprintf(at, NUMBER, "nan%c", after)
            : isinf(v) ? snprintf(at, NUMBER, "%sinf%c", v < 0.0f ? "-" : "", after)
                       : snprintf(at, NUMBER, "%.9g%c", (double)v, after);
    return n > 0 ? (size_t)n : 0;
}

enum breadth { ONE_CELL, ROWS, ALL_ROWS };

struct cells {
    enum attn_tensor tensor;
    struct attn_cmat m;
    enum breadth breadth;
    struct step_ref pin;
};

static bool has_row(const struct app *a, const struct cells *c, int row)
{
    if (c->breadth == ALL_ROWS) return true;
    if (c->pin.tensor != ATTN_TENSOR_COUNT) return c->pin.row == row;
    return step_row_is_on(step_place_of(&a->step), row);
}

/* A pinned cell, then its row, then its matrix; or the selected rows of what the stage
 * computes, then all of it. */
static bool choose(const struct app *a, struct cells *c, struct err *e)
{
    const struct step_place *p = step_place_of(&a->step);
    bool pinned = p->pin.tensor != ATTN_TENSOR_COUNT;
    if (a->step.lab.open)
        return err_set(e, ERR_INPUT, "close the lab (Esc), then copy numbers");
    if (a->step.over.open)
        return err_set(e, ERR_INPUT, "open a head (Enter), then copy its numbers");
    if (!a->seen_source.trace || !a->seen_source.fits)
        return err_set(e, ERR_INPUT, "the numbers are still being computed");
    int breadth = a->copied + (pinned ? ONE_CELL : ROWS);
    c->pin = p->pin;
    c->tensor = pinned ? p->pin.tensor : export_result_of(a->step.stage);
    c->m = scene_tensor_view(&a->seen_source, c->tensor);
    c->breadth = breadth < ALL_ROWS ? (enum breadth)breadth : ALL_ROWS;
    return true;
}

static void say_what(const struct app *a, const struct cells *c, char *out, size_t room)
{
    const struct step_place *p = step_place_of(&a->step);
    const char *name = names_tensor[c->tensor];
    bool pinned = c->pin.tensor != ATTN_TENSOR_COUNT;
    int rows = pinned ? 1 : step_row_count(p);
    if (c->breadth == ONE_CELL)
        (void)snprintf(out, room, "%s, row %d, column %d; once more: its row", name,
                       c->pin.row + 1, c->pin.col + 1);
    else if (c->breadth == ROWS && rows == 1)
        (void)snprintf(out, room, "%s, row %d; once more: all rows", name,
                       (pinned ? c->pin.row : p->row) + 1);
    else if (c->breadth == ROWS)
        (void)snprintf(out, room, "%s, %d rows; once more: all rows", name, rows);
    else
        (void)snprintf(out, room, "%s, %d\u00D7%d", name, c->m.rows, c->m.cols);
}

static bool copy_numbers(struct app *a, char *what, size_t room, struct err *e)
{
    struct cells c = {0};
    struct arena mem;
    if (!choose(a, &c, e)) return false;
    say_what(a, &c, what, room);
    int col0 = c.breadth == ONE_CELL ? c.pin.col : 0;
    int col1 = c.breadth == ONE_CELL ? c.pin.col + 1 : c.m.cols;
    size_t rows = 0;
    for (int i = 0; i < c.m.rows; i++) rows += has_row(a, &c, i);
    size_t cells = rows * (size_t)(col1 - col0);
    if (cells > MOST_CELLS)
        return err_set(e, ERR_INPUT, "%s has %zu cells; the clipboard takes %d",
                       names_tensor[c.tensor], cells, MOST_CELLS);
    if (!arena_init(&mem, cells * NUMBER + 64, e)) return false;
    char *text = arena_take(&mem, cells * NUMBER + 1, 1);
    size_t n = 0;
    for (int i = 0; text && i < c.m.rows; i++)
        for (int j = col0; has_row(a, &c, i) && j < col1; j++)
            n += put_number(text + n, c.m.data[(size_t)i * (size_t)c.m.ld + (size_t)j],
                            j + 1 < col1 ? '\t' : '\n');
    if (n > 0) text[n - 1] = '\0'; /* nothing behind the last number */
    bool ok = text && put_text(text, e);
    if (!text) (void)err_set(e, ERR_SYSTEM, "no memory for the numbers");
    arena_free(&mem);
    if (ok && a->copied < ALL_ROWS) a->copied++;
    return ok;
}

/* ---- the picture ----------------------------------------------------------------------------- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0];
}

/* It has three seconds. It leaves a process of its own behind, which keeps the picture. */
static bool ends_well(pid_t pid)
{
    enum { PATIENCE = 300 };
    const struct timespec pause = {.tv_nsec = 10L * 1000 * 1000};
    pid_t got = 0;
    int status = 0;
    for (int i = 0; i < PATIENCE && got == 0; i++) {
        got = waitpid(pid, &status, WNOHANG);
        if (got == 0) (void)nanosleep(&pause, NULL);
    }
    if (got == pid) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    return false;
}

/* Runs the desktop's program with the file as its input. */
static bool give(const char *const *words, const char *package, const char *path,
                 struct err *e)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    pid_t pid = 0;
    /* The words are not written to, whatever the prototype allows. */
    union {
        const char *const *fixed;
        char *const *argv;
    } args = {.fixed = words};
    int why = posix_spawn_file_actions_init(&files);
    if (why) return err_set(e, ERR_SYSTEM, "%s", strerror(why));
    why = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, path, O_RDONLY, 0);
    for (int fd = STDOUT_FILENO; !why && fd <= STDERR_FILENO; fd++)
        why = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
    if (!why) why = posix_spawnp(&pid, words[0], &files, NULL, args.argv, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    if (why == ENOENT)
        return err_set(e, ERR_SYSTEM, "%s is not installed: install the package %s",
                       words[0], package);
    if (why) return err_set(e, ERR_SYSTEM, "%s: %s", words[0], strerror(why));
    return ends_well(pid) || err_set(e, ERR_SYSTEM, "%s does not take it", words[0]);
}

static bool copy_picture(struct app *a, char *what, size_t room, struct err *e)
{
    static const char *const wayland[] = {"wl-copy", "-t", "image/png", NULL};
    static const char *const x11[] = {"xclip", "-selection", "clipboard",
                                      "-t",    "image/png",  NULL};
    bool on_wayland = is_set("WAYLAND_DISPLAY");
    if (!on_wayland && !is_set("DISPLAY"))
        return err_set(e, ERR_SYSTEM,
                       "there is no desktop whose clipboard takes pictures");
    const char *folder = is_set("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char path[FILE_PATH];
    int n = snprintf(path, sizeof path, "%s/headlight-XXXXXX", folder);
    int fd = n > 0 && (size_t)n < sizeof path ? mkstemp(path) : -1;
    if (fd < 0)
        return err_set(e, ERR_SYSTEM, "no file in %.300s: %s", folder, strerror(errno));
    (void)close(fd);
    const struct export_ask ask = {.path = path,
                                   .format = EXPORT_PNG,
                                   .w = (float)a->px_w,
                                   .h = (float)a->px_h,
                                   .density = a->base};
    bool ok =
        export_picture(a, &ask, e) && (on_wayland ? give(wayland, "wl-clipboard", path, e)
                                                  : give(x11, "xclip", path, e));
    (void)unlink(path);
    (void)snprintf(what, room, "the picture, %d\u00D7%d", a->px_w, a->px_h);
    return ok;
}

void app_copy(struct app *a, enum step_copy what)
{
    char copied[400] = "";
    struct err e = {0};
    bool ok = false;
    switch (what) {
    case STEP_COPY_STATE:
        ok = copy_state(a, copied, sizeof copied, &e);
        break;
    case STEP_COPY_NUMBERS:
        ok = copy_numbers(a, copied, sizeof copied, &e);
        break;
    case STEP_COPY_PICTURE:
        ok = copy_picture(a, copied, sizeof copied, &e);
        break;
    case STEP_COPY_COUNT:
        return;
    }
    (void)snprintf(a->message, sizeof a->message, "%s: %.480s",
                   ok ? "copied" : "not copied", ok ? copied : e.text);
}
