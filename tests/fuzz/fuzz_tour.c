/* Any bytes as a guided tour: refused with its line, or whole; and then every text of it
 * is filled in and every answer judged with the toy's numbers. */
#include "fuzz.h"

#include "app.h"
#include "tour_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_error(const struct err *e)
{
    bool line = strncmp(e->text, "t.txt:", 6) == 0 && strchr("0123456789 ", e->text[6]);
    if (e->code != ERR_INPUT || !line || strchr(e->text, '\n')) abort();
}

static void check_text(const struct tour_world *w, const char *text)
{
    struct err e = {0};
    if (!tour_fill(w, text, &e) && e.code != ERR_INPUT) abort();
}

static void check_stop(struct app *app, const struct tour_world *w,
                       const struct tour_stop *s)
{
    const char *const texts[] = {s->title, s->say, s->ask, s->hint, s->show};
    bool asks = s->kind != ASK_NOTHING;
    if (!s->title[0] || asks != (s->ask[0] != '\0')) abort();
    if (s->kind == ASK_CHOICE && (s->right < 0 || s->right >= s->n_choice)) abort();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) check_text(w, texts[i]);
    for (int i = 0; i < s->n_choice; i++) check_text(w, s->choice[i]);
    if (s->kind == ASK_TOKEN || s->kind == ASK_ROW)
        for (int i = 0; i <= STEP_TOY_TOKENS + 1; i++) (void)tour_judge(w, s->answer, i);
    arena_reset(&app->frame_mem);
}

static struct app a; /* opened once; lasts until exit */

static void close_all(void)
{
    app_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct tour t;
    if (!a.frame_mem.data) {
        const struct app_config c = {.headless = true, .on_paper = true};
        if (!app_init(&a, &c, &e) || !app_build(&a, true, &e)) abort();
        if (atexit(close_all) != 0) abort();
    }
    if (!tour_parse(&t, "t.txt", (const char *)data, n, &e)) {
        check_error(&e);
        return 0;
    }
    if (t.n < 1 || t.n > STEP_STOPS_MOST) abort();
    const struct tour_world w = {&a.scene, &a.step, &a.seen_source};
    for (int i = 0; i < t.n; i++) check_stop(&a, &w, &t.stop[i]);
    tour_free(&t);
    return 0;
}
