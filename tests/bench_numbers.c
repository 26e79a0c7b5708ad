/* headlight-bench: a dump, beside dd writing as many bytes to the same folder.
 */
#include "bench.h"

#include "dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 5, PATH = 256 };

struct folder {
    char path[64], dump[PATH], file[PATH];
};

static void clear(const struct folder *f)
{
    struct file_names names;
    struct err e = {0};
    char path[PATH + 256];
    (void)snprintf(path, sizeof path, "%s/manifest.json", f->dump);
    (void)unlink(path);
    (void)unlink(f->file);
    if (file_names_read(&names, f->dump, ".npy", &e))
        for (int i = 0; i < names.n; i++) {
            (void)snprintf(path, sizeof path, "%s/%s", f->dump, names.at[i]);
            (void)unlink(path);
        }
    file_names_free(&names);
    (void)rmdir(f->dump);
}

static double bytes_in(const struct folder *f)
{
    struct file_names names;
    struct err e = {0};
    struct stat st;
    double sum = 0;
    char path[PATH + 256];
    if (file_names_read(&names, f->dump, ".npy", &e))
        for (int i = 0; i < names.n; i++) {
            (void)snprintf(path, sizeof path, "%s/%s", f->dump, names.at[i]);
            if (stat(path, &st) == 0) sum += (double)st.st_size;
        }
    file_names_free(&names);
    return sum;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool one_round(const struct folder *f, int n_tok, double *dump, double *dd)
{
    struct cli cli = {.dump = f->dump};
    struct err e = {0};
    char note[64], command[PATH + 128];
    step_push(&cli.start, (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_GPT2});
    step_push(&cli.start, (struct step_action){.verb = STEP_TOKENS, .i = n_tok});
    double t = bench_now();
    if (!dump_write(&cli, "bench", note, sizeof note, &e)) {
        (void)fprintf(stderr, "headlight-bench: %s\n", e.text);
        return false;
    }
    *dump = bench_now() - t;
    double bytes = bytes_in(f);
    clear(f);
    (void)snprintf(command, sizeof command,
                   "dd if=/dev/zero of=%s bs=1M count=%.0f conv=fsync 2>/dev/null",
                   f->file, bytes / (1 << 20));
    t = bench_now();
    bool ok = system(command) == 0; /* NOLINT(cert-env33-c): a bench's own line */
    *dd = bench_now() - t;
    clear(f);
    printf("%.0f MB: dump %.3f s, %.0f MB/s; dd %.3f s, %.0f MB/s\n", bytes / 1e6, *dump,
           bytes / 1e6 / *dump, *dd, bytes / 1e6 / *dd);
    (void)fflush(stdout);
    return ok;
}

static bool dump_beside_dd(const struct bench_opts *o)
{
    struct folder f = {.path = "headlight-bench-XXXXXX"};
    double dump[ROUNDS], dd[ROUNDS], ratio[ROUNDS];
    if (!mkdtemp(f.path)) return false;
    (void)snprintf(f.dump, sizeof f.dump, "%s/dump", f.path);
    (void)snprintf(f.file, sizeof f.file, "%s/dd", f.path);
    bool ok = true;
    for (int i = 0; ok && i < ROUNDS; i++) {
        ok = one_round(&f, o->n ? o->n : STEP_MAX_TOKENS, &dump[i], &dd[i]);
        ratio[i] = dd[i] / dump[i];
    }
    (void)rmdir(f.path);
    if (!ok) return false;
    qsort(ratio, ROUNDS, sizeof *ratio, by_size);
    printf("dump writes at %.2f of dd's rate (median of %d)\n", ratio[ROUNDS / 2],
           ROUNDS);
    return true;
}

const struct bench_case bench_numbers_cases[] = {
    {"dump", "one block's dump with all heads, beside dd; in the present folder",
     dump_beside_dd},
    {NULL, NULL, NULL},
};
