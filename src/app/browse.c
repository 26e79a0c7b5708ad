/* The desktop's file chooser: a program that writes the chosen path to its standard
 * output, which a thread waits for. */
#include "browse.h"

#include <SDL.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char title[] = "Open a model";
static char *const zenity[] = {(char[]){"zenity"}, (char[]){"--file-selection"},
                               (char[]){"--title"}, title, NULL};
static char *const kdialog[] = {(char[]){"kdialog"}, (char[]){"--getopenfilename"},
                                (char[]){"."}, NULL};
static char *const *const choosers[] = {zenity, kdialog};

struct browse {
    SDL_Thread *thread;
    SDL_atomic_t closed;
    uint32_t event;
    pid_t child;
    int out; /* what it writes */
    char path[FILE_PATH];
    size_t n;
};

/* Whether a folder of PATH has the program. */
static bool is_on_path(const char *name)
{
    const char *at = getenv("PATH");
    char whole[FILE_PATH];
    while (at && *at) {
        size_t n = strcspn(at, ":");
        int got = snprintf(whole, sizeof whole, "%.*s/%s", (int)n, at, name);
        if (n > 0 && got > 0 && (size_t)got < sizeof whole && access(whole, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static char *const *chooser(void)
{
    for (size_t i = 0; i < sizeof choosers / sizeof choosers[0]; i++)
        if (is_on_path(choosers[i][0])) return choosers[i];
    return NULL;
}

bool browse_is_there(void)
{
    return chooser() != NULL;
}

/* A folder is chosen by any of its files but a model's. */
static void settle(char *path)
{
    char *slash = strrchr(path, '/');
    bool model = file_ends_with(path, ".safetensors") || file_ends_with(path, ".bin");
    if (!model && slash && !file_is_folder(path)) slash[1] = '\0';
}

static int SDLCALL wait_for_it(void *data)
{
    struct browse *b = data;
    int status = 0;
    for (;;) {
        ssize_t got = read(b->out, b->path + b->n, sizeof b->path - 1 - b->n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        b->n += (size_t)got;
    }
    while (waitpid(b->child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) b->n = 0;
    b->path[b->n] = '\0';
    b->path[strcspn(b->path, "\n")] = '\0';
    settle(b->path);
    SDL_AtomicSet(&b->closed, 1);
    if (b->event == 0) return 0;
    SDL_Event ev = {.type = b->event};
    (void)SDL_PushEvent(&ev);
    return 0;
}

/* Starts the program with `out` as its standard output. */
static bool spawn(struct browse *b, char *const *argv, int out, struct err *e)
{
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (rc == 0) rc = posix_spawn_file_actions_addclose(&actions, out);
        if (rc == 0) rc = posix_spawn_file_actions_addclose(&actions, b->out);
        if (rc == 0) rc = posix_spawnp(&b->child, argv[0], &actions, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    return rc == 0 ? true : err_set(e, ERR_SYSTEM, "%s: %s", argv[0], strerror(rc));
}

bool browse_begin(struct browse **b, uint32_t event, struct err *e)
{
    char *const *argv = chooser();
    int ends[2];
    if (*b) return true; /* it is open */
    if (!argv)
        return err_set(e, ERR_SYSTEM, "there is no zenity or kdialog; type a path");
    struct browse *n = SDL_calloc(1, sizeof *n);
    if (!n) return err_set(e, ERR_SYSTEM, "no memory for a file chooser");
    if (pipe(ends) != 0) {
        SDL_free(n);
        return err_set(e, ERR_SYSTEM, "%s: %s", argv[0], strerror(errno));
    }
    n->event = event;
    n->out = ends[0];
    bool ok = spawn(n, argv, ends[1], e);
    (void)close(ends[1]);
    if (ok) {
        n->thread = SDL_CreateThread(wait_for_it, "headlight-open", n);
        if (n->thread) {
            *b = n;
            return true;
        }
        (void)kill(n->child, SIGTERM);
        (void)waitpid(n->child, NULL, 0);
        (void)err_set(e, ERR_SYSTEM, "no thread for a file chooser: %s", SDL_GetError());
    }
    (void)close(ends[0]);
    SDL_free(n);
    return false;
}

static void drop(struct browse **b)
{
    SDL_WaitThread((*b)->thread, NULL);
    (void)close((*b)->out);
    SDL_free(*b);
    *b = NULL;
}

bool browse_done(struct browse **b, char *path, size_t room)
{
    if (!*b || !SDL_AtomicGet(&(*b)->closed)) return false;
    (void)snprintf(path, room, "%s", (*b)->path);
    drop(b);
    return true;
}

void browse_end(struct browse **b)
{
    if (!*b) return;
    if (!SDL_AtomicGet(&(*b)->closed)) (void)kill((*b)->child, SIGTERM);
    drop(b);
}
