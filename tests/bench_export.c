/* headlight-bench: what leaves the program, from exec to the closed file. */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 24, ROUNDS = 9, FILM_ROUNDS = 3 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The program beside this one. */
static bool program_path(char *out, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", out, room - 1);
    if (n <= 0) return false;
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    size_t at = slash ? (size_t)(slash + 1 - out) : 0;
    return snprintf(out + at, room - at, "headlight") < (int)(room - at);
}

static bool run(char *const *argv)
{
    int status = 0;
    pid_t pid = fork();
    if (pid < 0) return false;
    if (pid == 0) {
        (void)execv(argv[0], argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs the program with the words and "--export FOLDER/name" so often; prints the median
 * and what came out. A name with a slash behind it is a folder. */
static bool measure(const char *what, const char *const *words, const char *name, int n)
{
    char program[4096];
    char folder[] = "/tmp/headlight_bench_XXXXXX";
    char path[4200];
    double seconds[BENCH_ROUNDS_MAX];
    struct stat st = {0};
    char *argv[WORDS + 4] = {program};
    int argc = 1;
    bool ok = program_path(program, sizeof program) && mkdtemp(folder);
    if (!ok) return false;
    for (; *words && argc < WORDS; words++) {
        /* execv takes what it does not write to */
        union {
            const char *fixed;
            char *word;
        } u = {.fixed = *words};
        argv[argc++] = u.word;
    }
    char option[] = "--export";
    argv[argc] = option;
    argv[argc + 1] = path;
    for (int i = 0; ok && i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/%d%s", folder, i, name);
        double from = bench_now();
        ok = run(argv);
        seconds[i] = bench_now() - from;
        if (ok) ok = stat(path, &st) == 0;
    }
    char clear[4200];
    (void)snprintf(clear, sizeof clear, "rm -r '%s'", folder);
    /* NOLINTNEXTLINE(cert-env33-c): a folder of our own is removed */
    if (system(clear) != 0) ok = false;
    if (!ok) return false;
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    printf("%-28s %9.1f ms  (worst %.1f of %d)", what, seconds[n / 2] * 1e3,
           seconds[n - 1] * 1e3, n);
    if (S_ISREG(st.st_mode)) printf("  %.2f MB", (double)st.st_size / 1e6);
    printf("\n");
    (void)fflush(stdout);
    return true;
}

static bool picture(const struct bench_opts *o)
{
    static const char *const png[] = {"--stage", "5", "--size", "1440x900", NULL};
    int n = o->rounds ? o->rounds : ROUNDS;
    return measure("1440x900 PNG", png, ".png", n) &&
           measure("the same as SVG", png, ".svg", n) &&
           measure("the same as PDF", png, ".pdf", n);
}

static bool heads(const struct bench_opts *o)
{
    const char *model = getenv("HEADLIGHT_BENCH_MODEL");
    const char *const of_model[] = {model, "--overview", "weights", NULL};
    static const char *const of_one_block[] = {"--scale",    "gpt2",    "--tokens", "64",
                                               "--overview", "weights", NULL};
    int n = o->rounds ? o->rounds : ROUNDS;
    if (!model)
        printf("(one block; HEADLIGHT_BENCH_MODEL names a model with all of them)\n");
    return measure("SVG of the overview", model ? of_model : of_one_block, ".svg", n);
}

static bool film(const struct bench_opts *o)
{
    /* Stage 2 of the toy takes three seconds; a held end follows. */
    static const char *const stage[] = {"--stage", "2",  "--size", "1280x720",
                                        "--fps",   "30", NULL};
    int n = o->rounds ? o->rounds : FILM_ROUNDS;
    return measure("3 s at 1280x720, mp4", stage, ".mp4", n) &&
           measure("the same as PNG frames", stage, "/", n);
}

const struct bench_case bench_export_cases[] = {
    {"picture", "a PNG, SVG, PDF of the window from exec to the closed file", picture},
    {"heads", "an SVG of every head of a model", heads},
    {"film", "a stage as mp4 and as PNG frames", film},
    {NULL, NULL, NULL},
};
