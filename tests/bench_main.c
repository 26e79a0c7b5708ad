/* headlight-bench: finds the case that was asked for and runs it; timing and printing. */
#include "bench.h"
#include "bench_peers.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Seconds: calls before the timed ones, in which threads wake up and find a core; and the
 * longest wait for the threads of the one before. */
static const double WARM = 20e-3, SETTLE_MOST = 0.3;

static const struct bench_case *const tables[] = {
    bench_attn_cases,   bench_app_cases,     bench_forward_cases,
    bench_export_cases, bench_numbers_cases,
};

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *v, int n)
{
    static double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, v, (size_t)n * sizeof *v);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/* Whether a thread of a process, other than this one, runs or is ready to. */
static bool threads_run(long process)
{
    char path[300], line[512];
    (void)snprintf(path, sizeof path, "/proc/%ld/task", process);
    DIR *tasks = opendir(path);
    if (!tasks) return true; /* not Linux: nobody can tell */
    bool any = false;
    for (struct dirent *e; !any && (e = readdir(tasks));) {
        if (e->d_name[0] == '.' || strtol(e->d_name, NULL, 10) == getpid()) continue;
        (void)snprintf(path, sizeof path, "/proc/%ld/task/%s/stat", process, e->d_name);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        const char *name_end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        any = name_end && name_end[1] == ' ' && name_end[2] == 'R';
        (void)fclose(f);
    }
    closedir(tasks);
    return any;
}

/* The same of this program and its children: PyTorch is one. */
static bool others_run(void)
{
    char path[64];
    long child;
    bool any = threads_run(getpid());
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *f = fopen(path, "r");
    while (f && !any && fscanf(f, "%ld", &child) == 1) any = threads_run(child);
    if (f) (void)fclose(f);
    return any;
}

/* Waits until all other threads sleep: those of OpenMP and OpenBLAS spin for up to tens of
 * milliseconds after their work, on a core that whoever comes next is owed. */
static void settle(void)
{
    const double end = bench_now() + SETTLE_MOST;
    do nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    while (others_run() && bench_now() < end);
}

void bench_interleave(struct bench_run *runs, int n_run, int rounds, double min_seconds)
{
    int calls[BENCH_RUNS_MAX];
    for (int i = 0; i < n_run; i++) {
        runs[i].run(runs[i].arg);
        double t = bench_now();
        runs[i].run(runs[i].arg);
        calls[i] = 1 + (int)(min_seconds / (bench_now() - t));
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n_run; i++) {
            struct bench_run *r = &runs[i];
            settle();
            double t = bench_now();
            do r->run(r->arg);
            while (bench_now() - t < WARM);
            t = bench_now();
            for (int k = 0; k < calls[i]; k++) r->run(r->arg);
            r->sample[round] = (bench_now() - t) / calls[i];
        }
    for (int i = 0; i < n_run; i++) {
        runs[i].median = median(runs[i].sample, rounds);
        runs[i].best = (double)INFINITY;
        for (int k = 0; k < rounds; k++)
            runs[i].best = fmin(runs[i].best, runs[i].sample[k]);
        if (rounds < BENCH_ROUNDS_MAX) runs[i].sample[rounds] = -1.0;
    }
}

static double ratio(const struct bench_run *a, const struct bench_run *b)
{
    static double q[BENCH_ROUNDS_MAX];
    int n = 0;
    for (; n < BENCH_ROUNDS_MAX && a->sample[n] >= 0.0; n++)
        q[n] = a->sample[n] / b->sample[n];
    return median(q, n);
}

void bench_print(const struct bench_run *runs, int n_run, int n, int threads,
                 int ratio_to)
{
    const struct bench_run *peak = NULL;
    for (int i = 0; i < n_run; i++)
        if (runs[i].is_peak) peak = &runs[i];
    printf("%-26s %6s %7s %10s %10s %9s %7s %7s%s\n", "case", "N", "threads", "median ms",
           "best ms", "GFLOP/s", "% peak", "best %", ratio_to >= 0 ? "   ratio" : "");
    for (int i = 0; i < n_run; i++) {
        const struct bench_run *r = &runs[i];
        printf("%-26s %6d %7d %10.4f %10.4f", r->name, n, threads, r->median * 1e3,
               r->best * 1e3);
        if (r->flops > 0.0) {
            printf(" %9.1f", r->flops / r->median * 1e-9);
            if (peak)
                printf(" %7.1f %7.1f", 100.0 * (r->flops / peak->flops) / ratio(r, peak),
                       100.0 * (r->flops / r->best) / (peak->flops / peak->best));
        }
        if (ratio_to >= 0 && !r->is_peak) printf(" %7.3f", ratio(r, &runs[ratio_to]));
        putchar('\n');
    }
    (void)fflush(stdout);
}

void *bench_alloc(size_t bytes)
{
    const size_t page = 2 << 20; /* large pages, for us and for the peers alike */
    size_t unit = bytes < page ? 64 : page;
    bytes = (bytes + unit - 1) / unit * unit;
    void *p = aligned_alloc(unit, bytes);
    if (p && unit == page) (void)madvise(p, bytes, MADV_HUGEPAGE);
    if (!p) {
        (void)fputs("headlight-bench: out of memory\n", stderr);
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

struct attn_cmat bench_random(int rows, int cols, double sd)
{
    uint64_t state = 88172645463325252U + (uint64_t)rows * 31U + (uint64_t)cols;
    float *p = bench_alloc((size_t)rows * (size_t)cols * sizeof *p);
    for (size_t i = 0; i < (size_t)rows * (size_t)cols; i++) {
        state ^= state << 13; /* Marsaglia 2003, xorshift */
        state ^= state >> 7;
        state ^= state << 17;
        double u = (double)(state >> 11) * 0x1p-53 - 0.5;
        p[i] = (float)(u * sqrt(12.0) * sd);
    }
    return (struct attn_cmat){p, rows, cols, cols};
}

static void usage(FILE *to)
{
    (void)fputs(
        "usage: headlight-bench CASE [--n N] [--threads T] [--kernels NAME] [--rounds R] "
        "[--peers] [--model FOLDER]\n\n",
        to);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct bench_case *c = tables[t]; c->name; c++)
            (void)fprintf(to, "  %-12s %s\n", c->name, c->help);
}

static bool number(const char *text, int most, int *out)
{
    char *end;
    errno = 0;
    long v = text ? strtol(text, &end, 10) : 0;
    if (!text || errno || end == text || *end || v < 1 || v > most) return false;
    *out = (int)v;
    return true;
}

static bool parse(int argc, char **argv, struct bench_opts *o)
{
    for (int i = 2; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool ok = true;
        if (strcmp(a, "--peers") == 0) {
            o->peers = true;
            continue;
        }
        if (strcmp(a, "--n") == 0)
            ok = number(value, 65536, &o->n);
        else if (strcmp(a, "--threads") == 0)
            ok = number(value, 256, &o->threads);
        else if (strcmp(a, "--rounds") == 0)
            ok = number(value, BENCH_ROUNDS_MAX - 1, &o->rounds);
        else if (strcmp(a, "--model") == 0)
            ok = (o->model = value) != NULL;
        else if (strcmp(a, "--kernels") == 0)
            ok = (o->kernels = value) && attn_kernels_get(value);
        else
            ok = false;
        if (!ok) {
            (void)fprintf(stderr, "headlight-bench: %s%s%s: not understood\n", a,
                          value ? " " : "", value ? value : "");
            return false;
        }
        i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    struct bench_opts o = {0};
    if (!parse(argc, argv, &o)) return 2;
    if (o.peers) bench_peers_environment(argv);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct bench_case *c = tables[t]; c->name; c++)
            if (strcmp(c->name, argv[1]) == 0) return c->run(&o) ? 0 : 1;
    (void)fprintf(stderr, "headlight-bench: no case %s; --help lists them\n", argv[1]);
    return 2;
}
