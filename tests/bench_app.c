/* headlight-bench: the program's own times. Pictures are drawn off screen, by whatever
 * OpenGL there is; idle needs an X display, or Xvfb. */
#include "bench.h"

#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 3 };

/* ---- figures --------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts; prints name, median and unit, and the worst. */
static void report(const char *name, double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    printf("%-28s %9.3f ms  (worst %.3f of %d)\n", name, seconds[n / 2] * 1e3,
           seconds[n - 1] * 1e3, n);
    (void)fflush(stdout);
}

static bool failed(const struct err *e)
{
    (void)fprintf(stderr, "headlight-bench: %s\n", e->text);
    return false;
}

static void nap(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds,
                         .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
}

/* ---- frames ---------------------------------------------------------------------------- */

static bool off_screen(struct app *a, int w, int h, struct err *e)
{
    const struct app_config c = {.headless = true, .w = w, .h = h};
    return app_init(a, &c, e);
}

static void act(struct app *a, enum step_verb verb, int i)
{
    app_apply(a, (struct step_action){.verb = verb, .i = i});
}

static bool frame(struct app *a, double *seconds, struct err *e)
{
    double t = bench_now();
    bool ok = app_build(a, false, e) && app_draw(a, e);
    *seconds = bench_now() - t;
    return ok;
}

/* Everything that can be open at once: the tour's card, the code, the reasons, the switches,
 * a broken run with its banner and what is right beside it, and the key help. */
static void open_everything(struct app *a)
{
    act(a, STEP_TOUR, 0);
    act(a, STEP_TOGGLE, STEP_OPT_SCALE);
    act(a, STEP_CODE, 0);
    act(a, STEP_WHY, 0);
    act(a, STEP_SWITCHES, 0);
    act(a, STEP_HELP, 0);
}

/* Every stage's animation, frame by frame. */
static bool toy_frames(int w, int h, bool all_open, const char *name)
{
    enum { PER_STAGE = 24 };
    struct app a;
    struct err e = {0};
    double t[ATTN_STAGE_COUNT * PER_STAGE];
    int n = 0;
    bool ok = off_screen(&a, w, h, &e);
    if (ok && all_open) open_everything(&a);
    for (int i = 0; ok && i < WARM; i++) ok = frame(&a, &t[0], &e);
    for (int k = 0; ok && k < ATTN_STAGE_COUNT; k++) {
        act(&a, STEP_GO, k);
        for (int i = 0; ok && i < PER_STAGE; i++) {
            app_apply(&a, (struct step_action){.verb = STEP_SCRUB,
                                               .x = (float)i / (float)(PER_STAGE - 1)});
            ok = frame(&a, &t[n++], &e);
        }
    }
    if (ok && all_open &&
        !(a.step.tour.open && a.step.code.open && a.step.why && a.step.switches &&
          a.step.help && a.seen_source.ghost))
        ok = err_set(&e, ERR_SYSTEM, "not everything is open");
    if (ok) report(name, t, n);
    app_fini(&a);
    return ok ? true : failed(&e);
}

static bool toy_frame(const struct bench_opts *o)
{
    (void)o;
    return toy_frames(1280, 800, false, "toy-frame 1280x800") &&
           toy_frames(1920, 1080, false, "toy-frame 1920x1080");
}

static bool toy_frame_open(const struct bench_opts *o)
{
    (void)o;
    return toy_frames(1280, 800, true, "toy-frame-open 1280x800") &&
           toy_frames(1920, 1080, true, "toy-frame-open 1920x1080");
}

/* A lab while its cursor is moved; what is plotted is there by then. */
static bool lab_frames(enum step_lab_kind kind, int w, int h, const char *name)
{
    enum { FRAMES = 120 };
    struct app a;
    struct err e = {0};
    double t[FRAMES];
    bool ok = off_screen(&a, w, h, &e);
    if (ok) act(&a, STEP_LAB, (int)kind);
    if (ok && kind == STEP_LAB_COST) act(&a, STEP_LAB_MEASURE, 0);
    ok = ok && app_build(&a, true, &e);
    for (int i = 0; ok && i < WARM; i++) ok = frame(&a, &t[0], &e);
    for (int i = 0; ok && i < FRAMES; i++) {
        act(&a, STEP_LAB_BY, i / 40 % 2 ? -1 : 1);
        ok = frame(&a, &t[i], &e);
    }
    if (ok) report(name, t, FRAMES);
    app_fini(&a);
    return ok ? true : failed(&e);
}

static bool lab_frame(const struct bench_opts *o)
{
    (void)o;
    return lab_frames(STEP_LAB_SATURATION, 1280, 800, "lab-frame saturation 1280x800") &&
           lab_frames(STEP_LAB_SATURATION, 1920, 1080,
                      "lab-frame saturation 1920x1080") &&
           lab_frames(STEP_LAB_COST, 1280, 800, "lab-frame cost 1280x800") &&
           lab_frames(STEP_LAB_COST, 1920, 1080, "lab-frame cost 1920x1080");
}

/* GPT-2's scale, all tokens, while it is zoomed and panned. */
static bool big(struct app *a, int n_tok, struct err *e)
{
    act(a, STEP_SCALE_TO, STEP_GPT2);
    act(a, STEP_TOKENS, n_tok);
    act(a, STEP_GO, ATTN_SOFTMAX);
    app_apply(a, (struct step_action){.verb = STEP_SCRUB, .x = 1.0f});
    return app_build(a, true, e);
}

static bool heat_frame(const struct bench_opts *o)
{
    enum { FRAMES = 120, TURN = 30 };
    struct app a;
    struct err e = {0};
    double t[FRAMES];
    bool ok = off_screen(&a, 1280, 800, &e) && big(&a, o->n ? o->n : STEP_MAX_TOKENS, &e);
    for (int i = 0; ok && i < WARM; i++) ok = frame(&a, &t[0], &e);
    for (int i = 0; ok && i < FRAMES; i++) {
        bool in = i / TURN % 2 == 0;
        app_apply(&a, (struct step_action){.verb = STEP_ZOOM,
                                           .x = 600.0f,
                                           .y = 400.0f,
                                           .z = in ? 1.12f : 1.0f / 1.12f});
        app_apply(&a, (struct step_action){.verb = STEP_PAN, .x = 3.0f, .y = 2.0f});
        ok = frame(&a, &t[i], &e);
    }
    if (ok) report("heat-frame 1280x800", t, FRAMES);
    app_fini(&a);
    return ok ? true : failed(&e);
}

/* The overview of a text of 1,024 tokens while it is scrolled and zoomed: images of noise,
 * since what they show costs nothing. */
static bool overview_frames(int n_block, int n_head, const char *name)
{
    enum { FRAMES = 60, SIDE = 64, TURN = 15, PIXELS = SIDE * SIDE };
    struct app a;
    struct err e = {0};
    double t[FRAMES];
    int n = n_block * n_head;
    float *image = malloc((size_t)n * PIXELS * sizeof *image);
    struct attn_head_sum *sum = calloc((size_t)n, sizeof *sum);
    bool ok = image && sum && off_screen(&a, 1440, 900, &e);
    if (!ok) {
        free(image);
        free(sum);
        return failed(&e);
    }
    for (int i = 0; i < n * PIXELS; i++)
        image[i] = (float)((unsigned)i * 2654435761u >> 8) / (float)(1 << 24);
    const struct step_model m = {
        .dims = {.n_tok = 1024, .d_model = 64 * n_head, .n_head = n_head},
        .n_block = n_block,
        .limit = 1024};
    const struct scene_heads heads = {.n_block = n_block,
                                      .n_head = n_head,
                                      .done = n_block,
                                      .side = SIDE,
                                      .gain = 0.125f,
                                      .causal = true,
                                      .sum = sum,
                                      .scores = image,
                                      .weights = image,
                                      .version = 1};
    const struct scene_source src = {.progress = -1, .label = "noise", .heads = &heads};
    step_load(&a.step, &m);
    act(&a, STEP_OVERVIEW, 0);
    float zoom = 1, y = 0;
    for (int i = -WARM; ok && i < FRAMES; i++) {
        bool in = i / TURN % 2 == 0;
        zoom = i % 2 ? zoom : zoom * (in ? 1.15f : 1 / 1.15f);
        y = i % 2 ? y - (in ? 48 : -48) : y;
        double from = bench_now();
        (void)step_apply(&a.step, (struct step_action){.verb = STEP_VIEW,
                                                       .y = y > 0 ? 0 : y,
                                                       .z = zoom < 1 ? 1 : zoom});
        arena_reset(&a.frame_mem);
        ok = scene_begin(&a.scene, &a.frame_mem, gfx_metrics(a.gfx), a.step.theme,
                         a.scale.w, a.scale.h, &e);
        if (ok) scene_build(&a.scene, &a.step, &src);
        if (ok) ui_build(&a.scene, &a.step, &src, &a.pointer);
        ok = ok && app_draw(&a, &e);
        if (i >= 0) t[i] = bench_now() - from;
    }
    if (ok) report(name, t, FRAMES);
    app_fini(&a);
    free(image);
    free(sum);
    return ok ? true : failed(&e);
}

static bool overview(const struct bench_opts *o)
{
    (void)o;
    return overview_frames(12, 12, "overview 12x12, 1440x900") &&
           overview_frames(48, 25, "overview 48x25, 1440x900");
}

/* Scene and panels alone, nothing drawn. */
static bool scenes(struct app *a, const char *name, struct err *e)
{
    enum { PER_STAGE = 40 };
    double t[ATTN_STAGE_COUNT * PER_STAGE];
    int n = 0;
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        act(a, STEP_GO, k);
        for (int i = 0; i < PER_STAGE; i++) {
            app_apply(a, (struct step_action){.verb = STEP_SCRUB,
                                              .x = (float)i / (float)(PER_STAGE - 1)});
            double from = bench_now();
            if (!app_build(a, false, e)) return false;
            t[n++] = bench_now() - from;
        }
    }
    report(name, t, n);
    return true;
}

static bool scene(const struct bench_opts *o)
{
    struct app a;
    struct err e = {0};
    bool ok = off_screen(&a, 1280, 800, &e) && scenes(&a, "scene toy", &e) &&
              big(&a, o->n ? o->n : STEP_MAX_TOKENS, &e) && scenes(&a, "scene gpt2", &e);
    app_fini(&a);
    return ok ? true : failed(&e);
}

/* ---- other processes -------------------------------------------------------------------- */

/* The program beside this one. */
static bool program_path(char *out, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", out, room - 16);
    if (n <= 0) return false;
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (!slash) return false;
    memcpy(slash, "/headlight", sizeof "/headlight");
    return access(out, X_OK) == 0;
}

static pid_t start(char *const *argv)
{
    pid_t pid = fork();
    if (pid != 0) return pid;
    (void)execvp(argv[0], argv);
    _exit(127);
}

static bool ended_well(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* From exec to the first frame, and the end of the process too: the real program with a
 * script that draws once. */
static bool first_frame(const struct bench_opts *o)
{
    enum { ROUNDS = 15 };
    char program[4096];
    char script[] = "/tmp/headlight-bench-XXXXXX";
    double t[ROUNDS];
    int rounds = o->rounds && o->rounds < ROUNDS ? o->rounds : ROUNDS;
    int fd = mkstemp(script);
    bool ok =
        fd >= 0 && write(fd, "frame\n", 6) == 6 && program_path(program, sizeof program);
    if (fd >= 0) (void)close(fd);
    char size[] = "1280x800";
    char *argv[] = {program, "--script", script, "--size", size, NULL};
    for (int i = -1; ok && i < rounds; i++) { /* the first warms the cache */
        double from = bench_now();
        pid_t pid = start(argv);
        ok = pid > 0 && ended_well(pid);
        if (i >= 0) t[i] = bench_now() - from;
    }
    (void)unlink(script);
    if (ok) report("first-frame 1280x800", t, rounds);
    if (!ok) (void)fputs("headlight-bench: the program could not be run\n", stderr);
    return ok;
}

/* CPU time and wake-ups of a process so far, over all its threads. */
struct usage {
    double cpu; /* seconds */
    long wakes; /* voluntary context switches of the main thread */
};

static bool usage_of(pid_t pid, struct usage *u)
{
    char path[64];
    char text[4096];
    unsigned long user = 0;
    unsigned long system = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    for (int field = 2; at && field < 14; field++) at = strchr(at + 1, ' ');
    if (!at) return false;
    char *end = NULL;
    user = strtoul(at, &end, 10);
    system = strtoul(end, NULL, 10);
    u->cpu = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    u->wakes = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    if (!f) return false;
    while (fgets(text, sizeof text, f))
        if (strncmp(text, "voluntary_ctxt_switches:", 24) == 0)
            u->wakes = strtol(text + 24, NULL, 10);
    (void)fclose(f);
    return u->wakes >= 0;
}

/* Starts Xvfb where there is no display, and names it in DISPLAY. 0: it was not needed,
 * < 0: there is none. */
static pid_t display(void)
{
    int pipe_end[2];
    char number[16] = "";
    char name[20];
    if (getenv("DISPLAY")) return 0;
    if (pipe(pipe_end) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        char fd[12];
        (void)snprintf(fd, sizeof fd, "%d", pipe_end[1]);
        (void)close(pipe_end[0]);
        (void)execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", "1600x1000x24",
                     "-nolisten", "tcp", (char *)NULL);
        _exit(127);
    }
    (void)close(pipe_end[1]);
    ssize_t n = pid > 0 ? read(pipe_end[0], number, sizeof number - 1) : -1;
    (void)close(pipe_end[0]);
    if (n <= 0) return -1;
    number[strcspn(number, "\n")] = '\0';
    (void)snprintf(name, sizeof name, ":%s", number);
    return setenv("DISPLAY", name, 1) == 0 ? pid : -1;
}

/* The real program in its window, its first animation over, nobody there. */
static bool idle(const struct bench_opts *o)
{
    (void)o;
    enum { SETTLE = 6, IDLE = 10 };
    char program[4096];
    char config[] = "/tmp/headlight-bench-XXXXXX";
    struct usage before;
    struct usage after;
    pid_t server = display();
    if (server < 0 || !program_path(program, sizeof program) || !mkdtemp(config) ||
        setenv("XDG_CONFIG_HOME", config, 1) != 0) {
        (void)fputs("headlight-bench: idle needs a display, or Xvfb\n", stderr);
        return false;
    }
    char *argv[] = {program, NULL};
    pid_t pid = start(argv);
    nap(SETTLE);
    bool ok = pid > 0 && usage_of(pid, &before);
    nap(ok ? IDLE : 0);
    ok = ok && usage_of(pid, &after);
    if (pid > 0) {
        (void)kill(pid, SIGTERM);
        ok = ended_well(pid) && ok;
    }
    if (server > 0) {
        (void)kill(server, SIGTERM);
        (void)ended_well(server);
    }
    char path[96];
    (void)snprintf(path, sizeof path, "%s/headlight/settings.json", config);
    (void)unlink(path);
    path[strlen(config) + sizeof "/headlight" - 1] = '\0';
    (void)rmdir(path);
    (void)rmdir(config);
    if (!ok) (void)fputs("headlight-bench: the program did not run\n", stderr);
    if (ok)
        printf("%-28s %9.3f ms  CPU in %d s, %ld wake-ups of the main thread\n", "idle",
               (after.cpu - before.cpu) * 1e3, IDLE, after.wakes - before.wakes);
    return ok;
}

/* ---- the worker ------------------------------------------------------------------------- */

/* Frames as a window draws them, 60 a second, until the run fits. */
static bool frames_until_it_fits(struct app *a, double *longest, double *total,
                                 struct err *e)
{
    double from = bench_now();
    *longest = 0.0;
    do {
        double t = 0.0;
        if (!frame(a, &t, e)) return false;
        if (t > *longest) *longest = t;
        if (t < 1.0 / 60.0) nap(1.0 / 60.0 - t);
    } while (!a->seen_source.fits);
    *total = bench_now() - from;
    return true;
}

/* Toy to GPT-2 at 1,024 tokens with another seed each time; then a switch back and forth
 * while the first is under way. */
static bool switch_scale(const struct bench_opts *o)
{
    enum { ROUNDS = 7 };
    struct app a;
    struct err e = {0};
    double longest[ROUNDS];
    double total[ROUNDS];
    double cancelled[ROUNDS];
    int n = o->n ? o->n : STEP_MAX_TOKENS;
    double t = 0.0;
    bool ok = off_screen(&a, 1280, 800, &e);
    for (int i = 0; ok && i < WARM; i++) ok = frame(&a, &t, &e);
    act(&a, STEP_SCALE_TO, STEP_GPT2);
    act(&a, STEP_TOKENS, n);
    for (int i = 0; ok && i < ROUNDS; i++) {
        act(&a, STEP_SEED, 2 * i + 100);
        ok = frames_until_it_fits(&a, &longest[i], &total[i], &e);
    }
    for (int i = 0; ok && i < ROUNDS; i++) {
        act(&a, STEP_SEED, 2 * i + 200);
        ok = frame(&a, &t, &e);
        nap(total[0] / 4.0);
        double from = bench_now();
        act(&a, STEP_SCALE_TO, STEP_TOY);
        ok = ok && app_build(&a, false, &e);
        worker_wait(a.source.worker);
        cancelled[i] = bench_now() - from;
        act(&a, STEP_SCALE_TO, STEP_GPT2);
    }
    if (ok) {
        report("switch longest frame", longest, ROUNDS);
        report("switch until it is shown", total, ROUNDS);
        report("switch cancelled after", cancelled, ROUNDS);
    }
    app_fini(&a);
    return ok ? true : failed(&e);
}

/* ---- edited cells ------------------------------------------------------------------------ */

static void field(struct app *a, enum attn_tensor t, int row, int col)
{
    app_apply(a, (struct step_action){.verb = STEP_FIELD, .ref = {t, row, col}});
}

/* The wheel over an edited cell of the toy, stage by stage: all that follows, and the frame
 * with it. */
static bool toy_edits(void)
{
    enum { PER_CELL = 20, CELLS = 9 };
    static const struct {
        enum attn_stage stage;
        enum attn_tensor tensor;
    } cells[CELLS] = {{ATTN_PROJECTIONS, ATTN_X},  {ATTN_PROJECTIONS, ATTN_W_Q},
                      {ATTN_PROJECTIONS, ATTN_Q},  {ATTN_SCORES, ATTN_K},
                      {ATTN_SCORES, ATTN_S_RAW},   {ATTN_SOFTMAX, ATTN_P},
                      {ATTN_WEIGHTED_SUM, ATTN_V}, {ATTN_OUTPUT, ATTN_W_O},
                      {ATTN_OUTPUT, ATTN_H}};
    struct app a;
    struct err e = {0};
    double t[CELLS * PER_CELL];
    double drawn = 0.0;
    int n = 0;
    bool ok = off_screen(&a, 1280, 800, &e);
    for (int i = 0; ok && i < WARM; i++) ok = frame(&a, &drawn, &e);
    for (int k = 0; ok && k < CELLS; k++) {
        act(&a, STEP_GO, (int)cells[k].stage);
        field(&a, cells[k].tensor, 2, 1);
        for (int i = 0; ok && i < PER_CELL; i++) {
            double from = bench_now();
            app_apply(&a, (struct step_action){.verb = STEP_FIELD_BY, .x = 0.1f});
            ok = frame(&a, &drawn, &e);
            t[n++] = bench_now() - from;
        }
    }
    if (ok) report("edit toy, frame included", t, n);
    app_fini(&a);
    return ok ? true : failed(&e);
}

/* An edited h of many tokens, until its result is drawn: the first edit, beside which the
 * correct run is made too, and later ones. */
static bool large_edits(int n_tok)
{
    enum { FIRST = 7, LATER = 15 };
    struct app a;
    struct err e = {0};
    double first[FIRST];
    double later[LATER];
    double drawn = 0.0;
    bool ok = off_screen(&a, 1280, 800, &e) && big(&a, n_tok, &e);
    for (int i = 0; ok && i < WARM; i++) ok = frame(&a, &drawn, &e);
    for (int i = 0; ok && i < FIRST + LATER; i++) {
        if (i < FIRST) {
            act(&a, STEP_CORRECT, 0);
            ok = app_build(&a, true, &e);
        }
        double from = bench_now();
        app_apply(&a, (struct step_action){.verb = STEP_GIVE,
                                           .ref = {ATTN_H, n_tok / 3, 100},
                                           .i = -1,
                                           .x = (float)i + 1.0f});
        while (ok && (ok = app_build(&a, false, &e)) && !a.seen_source.fits) nap(0.5e-3);
        ok = ok && app_draw(&a, &e);
        *(i < FIRST ? &first[i] : &later[i - FIRST]) = bench_now() - from;
    }
    if (ok) {
        report("edit h, the first", first, FIRST);
        report("edit h, later ones", later, LATER);
    }
    app_fini(&a);
    return ok ? true : failed(&e);
}

static bool edits(const struct bench_opts *o)
{
    return toy_edits() && large_edits(o->n ? o->n : STEP_MAX_TOKENS);
}

const struct bench_case bench_app_cases[] = {
    {"first-frame", "the program from exec to its first frame and end", first_frame},
    {"toy-frame", "a frame of the toy's animation, two sizes", toy_frame},
    {"toy-frame-open", "the same with every panel open that can be open with others",
     toy_frame_open},
    {"lab-frame", "a frame of both labs while the cursor moves", lab_frame},
    {"heat-frame", "a frame at GPT-2's scale, zoomed and panned [--n]", heat_frame},
    {"overview-frame", "a frame of the overview of 1,024 tokens, scrolled and zoomed",
     overview},
    {"scene", "scene and panels alone, both scales [--n]", scene},
    {"idle", "CPU time of ten seconds without input", idle},
    {"edit", "an edited cell until all that follows is drawn, both scales [--n]", edits},
    {"switch", "longest frame while the worker computes [--n]", switch_scale},
    {NULL, NULL, NULL},
};
