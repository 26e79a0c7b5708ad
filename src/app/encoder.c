/* ffmpeg in a process of its own, fed through a pipe. */
#include "encoder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGS = 48 };

/* Even sides, as the usual players want them. The same frames give the same file. */
static const char *const mp4[] = {"-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                  "-c:v",      "libx264",
                                  "-preset",   "veryfast",
                                  "-crf",      "16",
                                  "-pix_fmt",  "yuv420p",
                                  "-movflags", "+faststart",
                                  "-f",        "mp4",
                                  NULL};
static const char *const webm[] = {"-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                   "-c:v",      "libvpx-vp9",
                                   "-crf",      "24",
                                   "-b:v",      "0",
                                   "-deadline", "realtime",
                                   "-cpu-used", "6",
                                   "-row-mt",   "1",
                                   "-pix_fmt",  "yuv420p",
                                   "-f",        "webm",
                                   NULL};
static const char *const gif[] = {
    "-filter_complex",
    "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none",
    "-loop",
    "0",
    "-f",
    "gif",
    NULL};

struct args {
    const char *at[MOST_ARGS + 1];
    int n;
};

static void add(struct args *a, const char *const *words)
{
    for (; *words && a->n < MOST_ARGS; words++) a->at[a->n++] = *words;
    a->at[a->n] = NULL;
}

static bool no_encoder(int why, struct err *e)
{
    if (why == ENOENT)
        return err_set(e, ERR_SYSTEM,
                       "ffmpeg, which makes .mp4, .gif and .webm, is not installed: "
                       "install the package ffmpeg, or name a folder for the frames: "
                       "--export frames/");
    return err_set(e, ERR_SYSTEM, "ffmpeg does not start: %s", strerror(why));
}

/* Its own process group, so that a terminal's Ctrl+C is ours to answer; signals as usual,
 * though we ignore or block some. */
static int spawn(struct encoder *c, const struct args *args, int from)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t usual;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigemptyset(&usual);
    (void)sigaddset(&usual, SIGPIPE);
    int why = posix_spawn_file_actions_init(&files);
    if (why) return why;
    why = posix_spawnattr_init(&how);
    if (why) {
        (void)posix_spawn_file_actions_destroy(&files);
        return why;
    }
    (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(&how, 0);
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setsigdefault(&how, &usual);
    why = posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO);
    if (!why)
        why = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
                                               O_WRONLY, 0);
    if (!why)
        why = posix_spawn_file_actions_adddup2(&files, fileno(c->says), STDERR_FILENO);
    /* The words are not written to, whatever the prototype allows. */
    union {
        const char *const *fixed;
        char *const *argv;
    } words = {.fixed = args->at};
    if (!why) why = posix_spawnp(&c->pid, "ffmpeg", &files, &how, words.argv, environ);
    if (why) c->pid = 0;
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&how);
    return why;
}

bool encoder_begin(struct encoder *c, enum export_format format, int w, int h, int fps,
                   const char *path, struct err *e)
{
    const char *const *const formats[EXPORT_FORMAT_COUNT] = {
        [EXPORT_MP4] = mp4, [EXPORT_WEBM] = webm, [EXPORT_GIF] = gif};
    char size[32];
    char rate[16];
    char out[FILE_PATH + 8];
    struct args args = {.n = 0};
    int ends[2] = {-1, -1};
    (void)snprintf(size, sizeof size, "%dx%d", w, h);
    (void)snprintf(rate, sizeof rate, "%d", fps);
    (void)snprintf(out, sizeof out, "file:%s", path); /* never a protocol or an option */
    const char *const begin[] = {"ffmpeg",
                                 "-hide_banner",
                                 "-loglevel",
                                 "error",
                                 "-nostdin",
                                 "-y",
                                 "-f",
                                 "rawvideo",
                                 "-pixel_format",
                                 "rgba",
                                 "-video_size",
                                 size,
                                 "-framerate",
                                 rate,
                                 "-i",
                                 "pipe:0",
                                 NULL};
    const char *const end[] = {"-fflags",   "+bitexact", "-flags:v",
                               "+bitexact", out,         NULL};
    add(&args, begin);
    add(&args, formats[format]);
    add(&args, end);
    *c = (struct encoder){.says = tmpfile()};
    if (!c->says || pipe(ends) != 0) {
        (void)err_set(e, ERR_SYSTEM, "no pipe to ffmpeg: %s", strerror(errno));
        encoder_stop(c);
        return false;
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    (void)fcntl(fileno(c->says), F_SETFD, FD_CLOEXEC);
    int why = spawn(c, &args, ends[0]);
    (void)close(ends[0]);
    c->to = ends[1];
    c->open = true;
    if (!why) return true;
    encoder_stop(c);
    return no_encoder(why, e);
}

static void close_input(struct encoder *c)
{
    if (c->open) (void)close(c->to);
    c->open = false;
}

/* What it said last, one line; "" where it said nothing. */
static void last_words(struct encoder *c, char *out, size_t room)
{
    out[0] = '\0';
    char line[256];
    if (fseek(c->says, 0, SEEK_SET) != 0) return;
    while (fgets(line, sizeof line, c->says)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0]) (void)snprintf(out, room, "%s", line);
    }
}

/* It has ended, or ends now: what it said is the reason. */
static bool failed(struct encoder *c, struct err *e)
{
    char words[256];
    close_input(c);
    int status = 0;
    while (c->pid && waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
    c->pid = 0;
    last_words(c, words, sizeof words);
    return err_set(e, ERR_SYSTEM, "ffmpeg gave up: %s",
                   words[0] ? words : "it does not say why");
}

bool encoder_put(struct encoder *c, const uint8_t *rgba, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t put = write(c->to, rgba, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return failed(c, e);
        rgba += put;
        n -= (size_t)put;
    }
    return true;
}

bool encoder_close(struct encoder *c, bool *ended, struct err *e)
{
    int status = 0;
    close_input(c);
    pid_t got = waitpid(c->pid, &status, WNOHANG);
    *ended = got == c->pid;
    if (got == 0 || (got < 0 && errno == EINTR)) return true;
    c->pid = 0;
    if (*ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    *ended = false;
    return failed(c, e);
}

void encoder_stop(struct encoder *c)
{
    if (c->pid) {
        int status = 0;
        (void)kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
    }
    close_input(c);
    if (c->says) (void)fclose(c->says);
    *c = (struct encoder){0};
}
