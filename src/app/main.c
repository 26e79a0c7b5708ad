/* Headlight: parse, run, report. The only place that prints and exits. */
#include "app.h"
#include "cli.h"
#include "compare.h"
#include "compare_view.h"
#include "dump.h"
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A closed standard stream would make the next file opened take its place. Read-only, so
 * that writing to it still fails. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return;
}

/* One line, whatever the text holds. */
static void print_error(const struct err *e)
{
    char line[sizeof e->text];
    (void)snprintf(line, sizeof line, "%s", e->text);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    (void)fprintf(stderr, "headlight: %s\n", line);
}

/* Something to know that is no error. */
static void print_note(const char *text)
{
    struct err note = {0};
    (void)err_set(&note, ERR_NONE, "%s", text);
    print_error(&note);
}

static int exit_code(const struct err *e)
{
    print_error(e);
    return e->code == ERR_USAGE ? 2 : 1;
}

static bool print_text(const char *text, struct err *e)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0) return true;
    return err_set(e, ERR_SYSTEM, "standard output: %s", strerror(errno));
}

static bool print_state(const struct app *a, struct err *e)
{
    struct arena mem;
    const char *line = app_state(a, &mem, e);
    bool ok = line && print_text(line, e) && print_text("\n", e);
    arena_free(&mem);
    return ok;
}

/* ---- films ---------------------------------------------------------------------------- */

/* What ends the program waits until a film has been dropped: before any thread is. */
static void hold_signals(sigset_t *were)
{
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ends, were);
}

static bool is_cancelled(void)
{
    sigset_t waiting;
    (void)sigemptyset(&waiting);
    (void)sigpending(&waiting);
    return sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
           sigismember(&waiting, SIGHUP) == 1;
}

static void print_progress(const struct film *f)
{
    int done = 0;
    int all = 0;
    film_progress(f, &done, &all);
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\rframe %d of %d%s", done, all, done == all ? "\n" : "");
}

static bool make_film(struct app *a, const struct cli *c, struct err *e)
{
    const struct film_ask ask = {.out = c->out, .all = c->film_all, .fps = c->fps};
    const struct timespec pause = {.tv_nsec = 20L * 1000 * 1000};
    struct film *f = NULL;
    int done = 0;
    int all = 1;
    bool ended = false;
    bool ok = app_build(a, true, e) && film_begin(&f, a, &ask, e);
    while (ok && !ended) {
        if (is_cancelled()) {
            ok = err_set(e, ERR_CANCELLED, "%s: cancelled, nothing was written",
                         c->out.path);
        } else if (done < all) {
            ok = film_frame(f, a, e);
            film_progress(f, &done, &all);
            if (ok) print_progress(f);
        } else {
            ok = film_close(f, &ended, e);
            if (ok && !ended) (void)nanosleep(&pause, NULL);
        }
    }
    if (ok) return film_end(f, e);
    film_drop(f);
    return false;
}

/* What is to be compared is, and the state begins where it differs first. */
static bool begin_comparison(struct compare_view *v, struct cli *c, struct err *e)
{
    char note[512] = "";
    if (!c->compare) return true;
    bool ok = compare_view_open(v, c, note, sizeof note, e);
    if (note[0]) print_note(note);
    if (!ok || !v->is_open) return ok;
    compare_view_start(v, c->model ? &c->when_opened : &c->start, !c->stage_given);
    return !c->table || print_text(v->cmp.text, e);
}

/* A picture or a script: no window, no settings. */
static bool show_headless(const struct cli *c, struct compare_view *compare,
                          struct err *e)
{
    struct app a = {0};
    const struct app_config config = {
        .headless = true,
        .w = c->w,
        .h = c->h,
        .density = c->density,
        .on_paper =
            c->mode == CLI_STATE || (c->mode == CLI_EXPORT && !export_by_window(&c->out)),
        .shader_dir = c->shader_dir,
        .start = &c->start,
        .words = c->words,
        .cut_front = c->cut_front,
        .tour = c->tour,
        .stop = c->stop,
        .answer = c->answer_given ? &c->answer : NULL,
        .notes = c->mode == CLI_SCRIPT,
        .compare = compare};
    bool picture = c->mode == CLI_EXPORT;
    bool film = picture && c->out.format >= EXPORT_PICTURES;
    if (picture && c->out.format != EXPORT_FRAMES && !file_can_write(c->path, e))
        return false;
    sigset_t were;
    if (film) hold_signals(&were);
    bool ok = app_init(&a, &config, e);
    if (ok && c->model) ok = app_load(&a, c->model, c->text, &c->when_opened, e);
    if (ok && film)
        ok = make_film(&a, c, e);
    else if (ok && picture && export_by_window(&c->out))
        ok = app_build(&a, true, e) && app_export(&a, c->path, e);
    else if (ok && picture)
        ok = export_picture(&a, &c->out, e);
    if (ok && c->mode == CLI_SCRIPT) ok = script_run(&a, c->path, e);
    if (ok && c->mode == CLI_STATE) ok = print_state(&a, e);
    app_fini(&a);
    if (!ok && e->code == ERR_CANCELLED) print_error(e);
    if (film) (void)sigprocmask(SIG_SETMASK, &were, NULL); /* a held one ends us here */
    return ok;
}

static bool run_headless(struct cli *c, struct err *e)
{
    struct compare_view v = {.is_open = false};
    bool ok = begin_comparison(&v, c, e) && show_headless(c, v.is_open ? &v : NULL, e);
    compare_view_close(&v);
    return ok;
}

static bool run_dump(const struct cli *c, struct err *e)
{
    char note[512];
    bool ok = dump_write(c, HEADLIGHT_VERSION, note, sizeof note, e);
    if (ok && note[0]) print_note(note);
    return ok;
}

/* A comparison without a window: a table, and an exit code. */
static bool run_compare(const struct cli *c, bool *agrees, struct err *e)
{
    char note[512] = "";
    const char *text = NULL;
    struct arena mem = {0};
    struct compare cmp = {0};
    bool ok = c->with ? compare_dumps(c, &mem, &text, agrees, e)
                      : compare_make(&cmp, c, note, sizeof note, e);
    if (ok && !c->with) {
        text = cmp.text;
        *agrees = compare_agrees(&cmp);
    }
    if (note[0]) print_note(note);
    ok = ok && print_text(text, e);
    compare_free(&cmp);
    arena_free(&mem);
    return ok;
}

/* What was given on the command line is for this once, unless it was changed since. */
static void keep_settings(struct settings *now, const struct settings *was,
                          const struct settings *at_start, const struct cli *c)
{
    if (c->theme_given && now->theme == at_start->theme) now->theme = was->theme;
    if (c->ui_given && now->ui_percent == at_start->ui_percent)
        now->ui_percent = was->ui_percent;
    if (c->speed_given && now->speed == at_start->speed) now->speed = was->speed;
    if (c->log_given && now->log_weights == at_start->log_weights)
        now->log_weights = was->log_weights;
    if (!now->placed || (c->w && now->w == at_start->w && now->h == at_start->h)) {
        now->placed = was->placed;
        now->x = was->x;
        now->y = was->y;
        now->w = was->w;
        now->h = was->h;
    }
}

static bool show_window(const struct cli *c, struct compare_view *compare, struct err *e)
{
    struct app a = {0};
    struct settings_file file;
    struct settings was;
    struct err warning = {0};
    settings_find(&file);
    if (!settings_load(&file, &was, &warning)) print_error(&warning);
    const struct app_config config = {.w = c->w,
                                      .h = c->h,
                                      .density = c->density,
                                      .shader_dir = c->shader_dir,
                                      .settings = &was,
                                      .start = &c->start,
                                      .words = c->words,
                                      .cut_front = c->cut_front,
                                      .tour = c->tour,
                                      .stop = c->stop,
                                      .answer = c->answer_given ? &c->answer : NULL,
                                      .notes = true,
                                      .compare = compare,
                                      .warning = warning.code ? warning.text : NULL};
    if (!app_init(&a, &config, e)) return false;
    struct settings at_start = app_settings(&a);
    bool ok = (!c->model || app_open(&a, c->model, c->text, &c->when_opened, e)) &&
              app_run(&a, e);
    struct settings now = app_settings(&a);
    keep_settings(&now, &was, &at_start, c);
    app_fini(&a);
    if (!settings_save(&file, &now, &warning)) print_error(&warning);
    return ok;
}

/* agrees: whether what was compared does. */
static bool run_window(struct cli *c, bool *agrees, struct err *e)
{
    struct compare_view v = {.is_open = false};
    bool ok = begin_comparison(&v, c, e) && show_window(c, v.is_open ? &v : NULL, e);
    if (ok && v.is_open) *agrees = compare_agrees(&v.cmp);
    compare_view_close(&v);
    return ok;
}

int main(int argc, char **argv)
{
    struct cli c;
    struct err e = {0};
    bool ok = true, agrees = true;
    fill_standard_streams();
    (void)signal(SIGPIPE, SIG_IGN); /* a reader that left is an error like others */
    if (!cli_parse(&c, argc, argv, &e)) return exit_code(&e);
    switch (c.mode) {
    case CLI_HELP:
        for (int i = 0; ok && cli_help[i]; i++) ok = print_text(cli_help[i], &e);
        break;
    case CLI_VERSION:
        ok = print_text("headlight " HEADLIGHT_VERSION "\n", &e);
        break;
    case CLI_EXPORT:
    case CLI_SCRIPT:
    case CLI_STATE:
        ok = run_headless(&c, &e);
        break;
    case CLI_DUMP:
        ok = run_dump(&c, &e);
        break;
    case CLI_COMPARE:
        ok = run_compare(&c, &agrees, &e);
        break;
    case CLI_WINDOW:
        ok = run_window(&c, &agrees, &e);
        break;
    }
    return !ok ? exit_code(&e) : agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}
