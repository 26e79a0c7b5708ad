/* headlight-bench: a table of cases and what they share. A new file of cases adds its
 * table to bench_main.c's list. */
#ifndef HEADLIGHT_BENCH_H
#define HEADLIGHT_BENCH_H

#include "attn.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { BENCH_ROUNDS_MAX = 501, BENCH_RUNS_MAX = 16 };

/* What the command line asks for; 0 or NULL: the case's own choice. */
struct bench_opts {
    int n, threads, rounds;
    const char *kernels;
    const char *model; /* a folder */
    bool peers;
};

struct bench_case {
    const char *name, *help;                 /* NULL name: the end of a table */
    bool (*run)(const struct bench_opts *o); /* false: it could not be measured */
};

extern const struct bench_case bench_attn_cases[];
extern const struct bench_case bench_app_cases[];
extern const struct bench_case bench_forward_cases[];
extern const struct bench_case bench_export_cases[];
extern const struct bench_case bench_numbers_cases[];

double bench_now(void); /* seconds, monotonic */

/* One thing to be timed. Contestants of one comparison take turns, round by round, so
 * that whatever else the machine does falls on all of them. */
struct bench_run {
    const char *name;
    void (*run)(void *arg);
    void *arg;
    double flops;     /* of one run; 0: not counted in FLOPs */
    bool is_peak;     /* the yardstick for "percent of peak" */
    const float *out; /* what it computed, where runs of one comparison must agree */
    /* Results, seconds. */
    double median, best;
    double sample[BENCH_ROUNDS_MAX];
};
/* Each round every run begins when all other threads of the program sleep, is warmed by
 * some milliseconds of untimed calls, one at least, and then timed over as many calls as
 * fill min_seconds. */
void bench_interleave(struct bench_run *runs, int n_run, int rounds, double min_seconds);

/* One line a run: name, N, threads, median ms, best ms, GFLOP/s, percent of the peak. With
 * ratio_to >= 0 also the median over rounds of its time divided by that run's. */
void bench_print(const struct bench_run *runs, int n_run, int n, int threads,
                 int ratio_to);

/* Memory that lives until the program ends, aligned to 64 bytes and touched. */
void *bench_alloc(size_t bytes);
/* A matrix of random numbers with that standard deviation, the same every time. */
struct attn_cmat bench_random(int rows, int cols, double sd);

/* A child and both its ends; to and from are NULL where they are not asked for. */
struct bench_child {
    pid_t pid;
    FILE *to, *from;
};
/* bench_torch.py with up to three arguments, the rest NULL. false: no python3-torch, which
 * it has said. name: what it calls itself. */
bool bench_torch_start(struct bench_child *c, char name[256], char *a1, char *a2,
                       char *a3);

/* Multiplies and adds in registers, as many as `flops` says at least; returns how many. */
double bench_fma_loop(const char *kernels, double flops);

#endif
