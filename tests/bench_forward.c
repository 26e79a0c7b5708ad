/* headlight-bench: a whole GPT-2, full size with random weights: the forward pass beside
 * PyTorch's, the overview of all heads, one more typed token. The model is made once by the
 * test data's tools, beside this program, unless --model names one. */
#include "bench.h"

#include "app.h"
#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, PROBE = 4 };
static const size_t keep_all = (size_t)1 << 30;

static bool failed(const struct err *e)
{
    (void)fprintf(stderr, "headlight-bench: %s\n", e->text);
    return false;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return v[n / 2];
}

/* ---- processes ---------------------------------------------------------------------------- */

/* A file or folder beside this program. */
static bool beside(char out[PATH_ROOM], const char *name)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_ROOM - 1);
    if (n <= 0) return false;
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    size_t left = slash ? (size_t)(out + PATH_ROOM - slash - 1) : 0;
    if (strlen(name) >= left) return false;
    memcpy(slash + 1, name, strlen(name) + 1);
    return true;
}

static bool start(struct bench_child *c, char *const *argv, bool talk)
{
    int in[2];
    int out[2];
    *c = (struct bench_child){0};
    if (talk && (pipe(in) != 0 || pipe(out) != 0)) return false;
    c->pid = fork();
    if (c->pid == 0) {
        if (talk) {
            (void)dup2(in[0], STDIN_FILENO);
            (void)dup2(out[1], STDOUT_FILENO);
            (void)close(in[1]);
            (void)close(out[0]);
        }
        (void)execvp(argv[0], argv);
        _exit(127);
    }
    if (!talk) return c->pid > 0;
    (void)close(in[0]);
    (void)close(out[1]);
    c->to = fdopen(in[1], "w");
    c->from = fdopen(out[0], "r");
    return c->pid > 0 && c->to && c->from;
}

/* Waits; *kib is the most memory that it had. */
static bool ended_well(struct bench_child *c, long *kib)
{
    int status = 0;
    struct rusage used;
    if (c->to) (void)fclose(c->to);
    if (c->from) (void)fclose(c->from);
    while (c->pid > 0 && wait4(c->pid, &status, 0, &used) < 0)
        if (errno != EINTR) return false;
    if (kib) *kib = used.ru_maxrss;
    return c->pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The model's folder: the one that was named, or GPT-2 small, made now if it must be. */
static bool model_folder(const struct bench_opts *o, char out[PATH_ROOM])
{
    char python[] = "python3";
    char tool[] = BENCH_TOOLS "/make_gpt2_safetensors.py";
    char file[PATH_ROOM];
    if (o->model && strlen(o->model) < PATH_ROOM) {
        memcpy(out, o->model, strlen(o->model) + 1);
        return true;
    }
    if (!beside(out, "models/gpt2") || !beside(file, "models/gpt2/model.safetensors"))
        return false;
    if (access(file, R_OK) == 0) return true;
    (void)fprintf(stderr, "headlight-bench: making %s, which takes a while\n", out);
    char *argv[] = {python, tool, out, NULL};
    struct bench_child c;
    if (access(tool, R_OK) == 0 && start(&c, argv, false) && ended_well(&c, NULL))
        return true;
    (void)fprintf(stderr,
                  "headlight-bench: there is no full-size model: %s is not there, or "
                  "failed; name one by --model FOLDER\n",
                  tool);
    return false;
}

/* ---- the forward pass ------------------------------------------------------------------- */

/* glibc would give every large tensor back to the system and fetch it again, page by page,
 * which costs PyTorch far more than its sums; so it keeps them. */
static const char keep_memory[] =
    "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:"
    "glibc.malloc.top_pad=268435456";

bool bench_torch_start(struct bench_child *c, char name[256], char *a1, char *a2,
                       char *a3)
{
    char python[] = "/usr/bin/python3";
    char script[] = BENCH_TORCH;
    char *argv[] = {access(python, X_OK) == 0 ? python : python + strlen("/usr/bin/"),
                    script,
                    a1,
                    a2,
                    a3,
                    NULL};
    if (setenv("GLIBC_TUNABLES", keep_memory, 1) != 0) return false;
    bool there = start(c, argv, true);
    (void)unsetenv("GLIBC_TUNABLES");
    there = there && fgets(name, 256, c->from) && strncmp(name, "torch ", 6) == 0;
    name[there ? strcspn(name, "\n") : 0] = '\0';
    if (!there)
        (void)fputs("headlight-bench: python3-torch is not there: no ratio to it\n",
                    stderr);
    return there;
}

/* PyTorch, which is asked for one pass at a time. */
struct peer {
    struct bench_child c;
    char name[256];
    bool there;
};

static bool peer_start(struct peer *p, const char *folder, int n, int threads)
{
    char file[PATH_ROOM];
    char tokens[16];
    char with[16];
    (void)snprintf(tokens, sizeof tokens, "%d", n);
    (void)snprintf(with, sizeof with, "%d", threads);
    int len = snprintf(file, sizeof file, "%s/model.safetensors", folder);
    if (len < 0 || len >= PATH_ROOM) return false;
    p->there = bench_torch_start(&p->c, p->name, file, tokens, with);
    return p->there;
}

/* Its seconds; and the first values of the last row. */
static bool peer_pass(struct peer *p, double *seconds, double probe[PROBE])
{
    char line[256];
    char *at = line;
    if (fputs("go\n", p->c.to) < 0 || fflush(p->c.to) != 0 ||
        !fgets(line, sizeof line, p->c.from))
        return false;
    *seconds = strtod(at, &at);
    for (int k = 0; k < PROBE; k++) probe[k] = strtod(at, &at);
    return *seconds > 0.0;
}

struct pass {
    struct model_net *net;
    struct attn_ctx c;
    int32_t *ids;
    int n;
};

/* All blocks for all tokens: another text comes between, so that nothing is reused. */
static bool our_pass(struct pass *p, double *seconds, struct err *e)
{
    int32_t other = p->ids[0] + 1;
    if (!model_net_feed(p->net, &other, 1, e) ||
        !model_net_feed(p->net, p->ids, p->n, e) || !model_net_run(p->net, 0, &p->c, e))
        return false;
    double from = bench_now();
    bool ok = model_net_run(p->net, model_net_info(p->net)->n_layer, &p->c, e);
    *seconds = bench_now() - from;
    return ok;
}

/* Opened, read, laid out and run: from nothing but a warm file cache. */
static bool first_pass(struct pass *p, const char *folder, double *seconds, struct err *e)
{
    double from = bench_now();
    if (!model_net_open(&p->net, folder, p->c.k, keep_all, e)) return false;
    const struct model_info *info = model_net_info(p->net);
    if (p->n > info->n_ctx) p->n = info->n_ctx;
    for (int i = 0; i < p->n; i++)
        p->ids[i] = (int32_t)(((int64_t)i * 7919 + 13) % info->n_vocab);
    bool ok = model_net_feed(p->net, p->ids, p->n, e) &&
              model_net_run(p->net, info->n_layer, &p->c, e);
    *seconds = bench_now() - from;
    return ok;
}

static double worst_difference(const struct pass *p, const double probe[PROBE])
{
    struct attn_cmat y = model_net_input(p->net, model_net_info(p->net)->n_layer);
    const float *row = y.data + (size_t)(y.rows - 1) * y.ld;
    double worst = 0.0;
    for (int k = 0; k < PROBE; k++) {
        double off = fabs((double)row[k] - probe[k]);
        if (!(off <= worst)) worst = off; /* NaN too */
    }
    return worst;
}

static void print_time(const char *name, double *t, const double *base, int n)
{
    double best = t[0];
    double q[BENCH_ROUNDS_MAX];
    for (int i = 0; i < n; i++) {
        best = fmin(best, t[i]);
        q[i] = base ? t[i] / base[i] : 0.0;
    }
    if (base) printf("%-34s ratio %.3f of PyTorch's,", name, median(q, n));
    if (!base) printf("%-34s", name);
    printf(" median %.1f ms, best %.1f ms\n", median(t, n) * 1e3, best * 1e3);
}

/* Rounds of both, taking turns. */
static bool rounds_of(struct pass *p, struct peer *peer, int rounds, struct err *e)
{
    static double ours[BENCH_ROUNDS_MAX];
    static double theirs[BENCH_ROUNDS_MAX];
    double probe[PROBE];
    for (int i = 0; i < rounds; i++) {
        if (!our_pass(p, &ours[i], e)) return failed(e);
        if (peer->there && !peer_pass(peer, &theirs[i], probe)) {
            (void)fputs("headlight-bench: PyTorch gave no answer\n", stderr);
            peer->there = false;
        }
    }
    if (!peer->there) {
        print_time("forward, weights in memory", ours, NULL, rounds);
        return true;
    }
    print_time("forward, weights in memory", ours, theirs, rounds);
    print_time(peer->name, theirs, NULL, rounds);
    printf("they differ by %.1e in the last row\n", worst_difference(p, probe));
    return true;
}

static bool forward(const struct bench_opts *o)
{
    enum { ROUNDS = 7 };
    char folder[PATH_ROOM];
    struct err e = {0};
    int threads = o->threads ? o->threads : 2;
    struct pass p = {.c = {.k = attn_kernels_get(o->kernels)},
                     .n = o->n ? o->n : STEP_MAX_TOKENS};
    struct peer peer = {.there = false};
    double first = 0.0;
    if (!model_folder(o, folder)) return false;
    p.ids = bench_alloc((size_t)p.n * sizeof *p.ids);
    p.c.pool = attn_pool_create(threads);
    bool ok = first_pass(&p, folder, &first, &e) ? true : failed(&e);
    if (ok) {
        printf("%s, N = %d, %d threads, %s\n", model_net_info(p.net)->name, p.n, threads,
               attn_kernels_name(p.c.k));
        printf("%-34s %.1f ms\n", "opened, read, packed and run", first * 1e3);
        (void)fflush(stdout);
        if (o->peers) (void)peer_start(&peer, folder, p.n, threads);
        ok = rounds_of(&p, &peer, o->rounds ? o->rounds : ROUNDS, &e);
    }
    if (peer.c.pid > 0) (void)ended_well(&peer.c, NULL);
    model_net_close(p.net);
    attn_pool_destroy(p.c.pool);
    return ok;
}

/* ---- the program with a model ------------------------------------------------------------ */

/* "13 7932 ...": n ids. */
static char *ids_text(int n)
{
    char *text = bench_alloc((size_t)n * 12 + 1);
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, 12, "%s%d", i ? " " : "",
                               (i * 7919 + 13) % 50257);
    return text;
}

/* n letters, for a model that has a tokenizer: each is a token of GPT-2's. */
static char *letters_text(int n)
{
    char *text = bench_alloc((size_t)n * 2 + 1);
    for (int i = 0; i < n; i++)
        (void)snprintf(text + 2 * (size_t)i, 3, "%c ", 'a' + i % 26);
    return text;
}

static bool has_tokenizer(const char *folder)
{
    char path[PATH_ROOM + 16];
    (void)snprintf(path, sizeof path, "%s/vocab.json", folder);
    return access(path, R_OK) == 0;
}

/* Frames as a window draws them until `done` says so. */
static bool frames_until(struct app *a, bool (*done)(const struct app *a),
                         double *longest, struct err *e)
{
    *longest = 0.0;
    do {
        double from = bench_now();
        if (!app_build(a, false, e) || !app_draw(a, e)) return false;
        double t = bench_now() - from;
        *longest = fmax(*longest, t);
        struct timespec rest = {.tv_nsec = (long)(fmax(0.0, 1.0 / 60.0 - t) * 1e9)};
        (void)nanosleep(&rest, NULL);
    } while (!done(a));
    return true;
}

static bool all_heads(const struct app *a)
{
    const struct scene_heads *h = a->seen_source.heads;
    return h && a->seen_source.fits && step_is_loaded(step_place_of(&a->step)) &&
           h->done == h->n_block;
}

static bool fits(const struct app *a)
{
    return a->seen_source.fits && step_is_loaded(step_place_of(&a->step));
}

/* The real program, from exec to its end, which draws the overview when it is whole. */
static bool overview_exec(const char *folder, char *text)
{
    char program[PATH_ROOM];
    char script[] = "/tmp/headlight-bench-XXXXXX";
    static const char lines[] = "key H\nready\nframe\n";
    char option[] = "--text";
    char with[] = "--script";
    char model[PATH_ROOM];
    long kib = 0;
    struct bench_child c;
    memcpy(model, folder, strlen(folder) + 1);
    int fd = mkstemp(script);
    bool ok = fd >= 0 && write(fd, lines, sizeof lines - 1) == sizeof lines - 1 &&
              beside(program, "headlight");
    if (fd >= 0) (void)close(fd);
    char *argv[] = {program, model, option, text, with, script, NULL};
    double from = bench_now();
    ok = ok && start(&c, argv, false) && ended_well(&c, &kib);
    if (ok)
        printf("%-34s %.1f ms, %.0f MB at the most\n",
               "exec to the overview of all heads", (bench_now() - from) * 1e3,
               (double)kib * 1024 / 1e6);
    (void)unlink(script);
    if (!ok) (void)fputs("headlight-bench: the program could not be run\n", stderr);
    return ok;
}

static bool overview(const struct bench_opts *o)
{
    char folder[PATH_ROOM];
    struct app a;
    struct err e = {0};
    const struct app_config c = {.headless = true, .w = 1280, .h = 800};
    double longest = 0.0;
    if (!model_folder(o, folder)) return false;
    char *text = ids_text(o->n ? o->n : STEP_MAX_TOKENS);
    if (!overview_exec(folder, text)) return false;
    double from = bench_now();
    bool ok = app_init(&a, &c, &e) && app_open(&a, folder, text, NULL, &e);
    app_apply(&a, (struct step_action){.verb = STEP_OVERVIEW});
    ok = ok && frames_until(&a, all_heads, &longest, &e);
    if (ok)
        printf("%-34s %.1f ms, longest frame %.1f ms\n", "the same while it is watched",
               (bench_now() - from) * 1e3, longest * 1e3);
    app_fini(&a);
    return ok ? true : failed(&e);
}

/* A text of n tokens, then one more: until the last block's weights are drawn. */
static bool typed(const struct bench_opts *o)
{
    enum { ROUNDS = 9 };
    char folder[PATH_ROOM];
    char note[256];
    struct app a;
    struct err e = {0};
    const struct app_config c = {.headless = true, .w = 1280, .h = 800};
    double t[ROUNDS];
    double longest = 0.0;
    int n = o->n ? o->n : 512;
    if (!model_folder(o, folder)) return false;
    char *text = has_tokenizer(folder) ? letters_text(n + ROUNDS) : ids_text(n + ROUNDS);
    size_t end = 0;
    for (int i = 0; i < n; i++) end += strcspn(text + end, " ") + 1;
    text[end - 1] = '\0';
    bool ok = app_init(&a, &c, &e) && app_load(&a, folder, text, NULL, &e);
    app_apply(&a, (struct step_action){.verb = STEP_BLOCK,
                                       .i = step_place_of(&a.step)->n_block - 1});
    app_apply(&a, (struct step_action){.verb = STEP_GO, .i = ATTN_SOFTMAX});
    app_apply(&a, (struct step_action){.verb = STEP_SCRUB, .x = 1.0f});
    ok = ok && app_build(&a, true, &e) && app_draw(&a, &e);
    for (int i = 0; ok && i < ROUNDS; i++) {
        text[end - 1] = ' ';
        end += strcspn(text + end, " ") + 1;
        text[end - 1] = '\0';
        double from = bench_now();
        ok = source_set_text(&a.source, &a.step, text, end - 1, note, sizeof note, &e) &&
             frames_until(&a, fits, &longest, &e);
        t[i] = bench_now() - from;
    }
    if (ok && step_place_of(&a.step)->dims.n_tok != n + ROUNDS) {
        (void)fprintf(stderr, "headlight-bench: %s makes %d tokens of a text for %d\n",
                      folder, step_place_of(&a.step)->dims.n_tok, n + ROUNDS);
        app_fini(&a);
        return false;
    }
    double middle = ok ? median(t, ROUNDS) : 0.0; /* they are in order now */
    if (ok)
        printf("%-34s median %.1f ms, worst %.1f ms\n",
               "one more token, until it is shown", middle * 1e3, t[ROUNDS - 1] * 1e3);
    app_fini(&a);
    return ok ? true : failed(&e);
}

const struct bench_case bench_forward_cases[] = {
    {"forward", "GPT-2 small's blocks, N tokens [--n --threads --peers --model]",
     forward},
    {"overview", "from exec to every head at a glance [--n --model]", overview},
    {"typed", "one more token of a text until it is shown [--n --model]", typed},
    {NULL, NULL, NULL},
};
