/* A session as text: every line becomes the events or the clock that the window has. */
#include "script.h"

#include "cli.h"
#include "dialog.h"
#include "edits.h"
#include "export.h"
#include "names.h"
#include "script_line.h"
#include "state.h"

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SCRIPT = 1 << 20, /* bytes */
    LINE_MOST = 1024      /* of a tour's line, the zero included */
};
#define FRAME_DT   (1.0f / 60.0f)
#define MAX_WAIT   3600.0 /* seconds of one line */
#define DRAG_STEPS 4

/* ---- reading ---------------------------------------------------------------------------- */

/* Splits text in place. false: too many words, or a quote that does not end. */
static bool split(struct line *l, char *text, struct err *e)
{
    *l = (struct line){0};
    char *at = text;
    for (;;) {
        at += strspn(at, " \t\r");
        if (*at == '\0' || *at == '#') return true;
        if (l->n == SCRIPT_WORDS) return err_set(e, ERR_USAGE, "too many words");
        bool quoted = *at == '"';
        if (quoted) at++;
        size_t n = strcspn(at, quoted ? "\"" : " \t\r");
        if (quoted && at[n] != '"') return err_set(e, ERR_USAGE, "a quote does not end");
        l->quoted[l->n] = quoted;
        l->word[l->n++] = at;
        at += n;
        if (*at == '\0') return true;
        *at++ = '\0';
    }
}

bool script_number(const char *text, double *out, struct err *e)
{
    char *end = NULL;
    *out = strtod(text, &end);
    if (strspn(text, "+-.0123456789eE") == strlen(text) && end != text && *end == '\0' &&
        isfinite(*out))
        return true;
    return err_set(e, ERR_USAGE, "%s: is not a number", text);
}

static bool numbers(const struct line *l, int n, double *out, struct err *e)
{
    if (l->n != n + 1)
        return err_set(e, ERR_USAGE, "%s: takes %d number%s", l->word[0], n,
                       n == 1 ? "" : "s");
    for (int i = 0; i < n; i++)
        if (!script_number(l->word[i + 1], &out[i], e)) return false;
    return true;
}

/* ---- events ----------------------------------------------------------------------------- */

/* One event by the scene as it is, and the scene that follows from it. */
static bool event(struct app *a, struct ui_event ev, struct err *e)
{
    app_event(a, &ev);
    return app_build(a, false, e);
}

static bool point_event(struct app *a, enum ui_event_kind kind, double x, double y,
                        int clicks, struct err *e)
{
    return event(
        a,
        (struct ui_event){.kind = kind, .x = (float)x, .y = (float)y, .clicks = clicks},
        e);
}

static bool press_at(struct app *a, double x, double y, int clicks, int mods,
                     struct err *e)
{
    struct ui_event ev = {.x = (float)x, .y = (float)y, .mods = mods};
    bool ok = app_build(a, true, e) && point_event(a, UI_MOVE, x, y, 0, e);
    for (int i = 1; ok && i <= 2 * clicks; i++) {
        ev.kind = i % 2 ? UI_DOWN : UI_UP;
        ev.clicks = (i + 1) / 2;
        ok = event(a, ev, e);
    }
    return ok;
}

/* The keys held, where the line ends with their names: "click 40 60 Ctrl+Shift". */
static void held_keys(struct line *l, int *mods)
{
    static const struct {
        const char *name;
        int mods;
    } held[] = {{"Shift", UI_SHIFT},
                {"Ctrl", UI_CTRL},
                {"Ctrl+Shift", UI_CTRL | UI_SHIFT},
                {"Shift+Ctrl", UI_CTRL | UI_SHIFT}};
    for (size_t i = 0; l->n > 2 && i < sizeof held / sizeof held[0]; i++) {
        if (strcmp(l->word[l->n - 1], held[i].name) != 0) continue;
        *mods = held[i].mods;
        l->n--;
        return;
    }
}

static bool do_key(struct app *a, const struct line *l, struct err *e)
{
    struct ui_event ev = {.kind = UI_KEY};
    if (l->n != 2) return err_set(e, ERR_USAGE, "key: takes the name of one key");
    if (!ui_key_parse(l->word[1], &ev.key, &ev.mods))
        return err_set(e, ERR_USAGE, "key %s: there is no such key", l->word[1]);
    return event(a, ev, e);
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Whether `has` is the text, whatever the case, or the text and its key: "Play (space)". */
static bool bears(const char *has, const char *text)
{
    for (; *text; has++, text++)
        if (lower(*has) != lower(*text)) return false;
    return *has == '\0' || strncmp(has, " (", 2) == 0;
}

/* Where the control with just this text, or else with it in another case, or else with this
 * hover text, is. */
static bool find_text(const struct scene *sc, const char *text, double *x, double *y)
{
    for (int pass = 0; pass < 3; pass++) {
        for (int i = sc->n - 1; i >= 0; i--) {
            const struct scene_item *it = &sc->items[i];
            const char *has = pass == 2                ? it->hit.tip
                              : it->kind == SCENE_TEXT ? it->u.text.text
                                                       : NULL;
            if (!has || !(pass ? bears(has, text) : strcmp(has, text) == 0)) continue;
            struct scene_rect box = scene_item_box(sc, it);
            float cx = box.x + box.w / 2.0f;
            float cy = box.y + box.h / 2.0f;
            struct scene_at at = scene_pick(sc, cx, cy);
            if (!at.item || at.item->hit.kind == HIT_COVER) continue;
            *x = (double)cx;
            *y = (double)cy;
            return true;
        }
    }
    return false;
}

static bool do_click(struct app *a, const struct line *whole, struct err *e)
{
    double at[2] = {0.0, 0.0};
    struct line line = *whole;
    const struct line *l = &line;
    int clicks = strcmp(l->word[0], "double") == 0 ? 2 : 1;
    int mods = 0;
    held_keys(&line, &mods);
    if (l->n != 2 || !l->quoted[1])
        return numbers(l, 2, at, e) && press_at(a, at[0], at[1], clicks, mods, e);
    if (!app_build(a, true, e)) return false;
    if (!find_text(&a->scene, l->word[1], &at[0], &at[1]))
        return err_set(e, ERR_INPUT, "%s \"%s\": no control on screen bears this text",
                       l->word[0], l->word[1]);
    return press_at(a, at[0], at[1], clicks, mods, e);
}

static bool do_hover(struct app *a, const struct line *l, struct err *e)
{
    double at[2] = {0.0, 0.0};
    return numbers(l, 2, at, e) && app_build(a, true, e) &&
           point_event(a, UI_MOVE, at[0], at[1], 0, e);
}

static bool do_drag(struct app *a, const struct line *l, struct err *e)
{
    double at[4] = {0.0, 0.0, 0.0, 0.0};
    if (!numbers(l, 4, at, e) || !app_build(a, true, e) ||
        !point_event(a, UI_MOVE, at[0], at[1], 0, e) ||
        !point_event(a, UI_DOWN, at[0], at[1], 1, e))
        return false;
    for (int i = 1; i <= DRAG_STEPS; i++) {
        double t = (double)i / DRAG_STEPS;
        if (!point_event(a, UI_MOVE, at[0] + (at[2] - at[0]) * t,
                         at[1] + (at[3] - at[1]) * t, 0, e))
            return false;
    }
    return point_event(a, UI_UP, at[2], at[3], 1, e);
}

static bool do_wheel(struct app *a, const struct line *l, struct err *e)
{
    double at[3] = {0.0, 0.0, 0.0};
    if (!numbers(l, 3, at, e) || !app_build(a, true, e)) return false;
    return event(a,
                 (struct ui_event){.kind = UI_WHEEL,
                                   .x = (float)at[0],
                                   .y = (float)at[1],
                                   .wheel = (float)at[2]},
                 e);
}

static bool do_leave(struct app *a, const struct line *l, struct err *e)
{
    return numbers(l, 0, NULL, e) && event(a, (struct ui_event){.kind = UI_LEAVE}, e);
}

/* ---- clock, size and pictures ------------------------------------------------------------ */

static bool do_wait(struct app *a, const struct line *l, struct err *e)
{
    double left = 0.0;
    if (!numbers(l, 1, &left, e)) return false;
    if (!(left >= 0.0 && left <= MAX_WAIT))
        return err_set(e, ERR_USAGE, "wait %s: takes 0 to %.0f seconds", l->word[1],
                       MAX_WAIT);
    while (a->film) dialog_film(a); /* it takes what time it takes */
    for (; left > 0.0 && step_is_moving(&a->step); left -= (double)FRAME_DT)
        (void)step_tick(&a->step, fminf(FRAME_DT, (float)left));
    return app_build(a, false, e);
}

static bool do_ready(struct app *a, const struct line *l, struct err *e)
{
    return numbers(l, 0, NULL, e) && app_build(a, true, e);
}

static bool do_frame(struct app *a, const struct line *l, struct err *e)
{
    return numbers(l, 0, NULL, e) && app_build(a, false, e) && app_draw(a, e);
}

static bool do_size(struct app *a, const struct line *l, struct err *e)
{
    int w = 0;
    int h = 0;
    char rest = 0;
    if (l->n != 2 || strlen(l->word[1]) > 11 ||
        sscanf(l->word[1], "%dx%d%c", &w, &h, &rest) !=
            2 || /* NOLINT(cert-err34-c): the length is bounded above, so no number overflows */
        w < CLI_MIN_SIDE ||
        w > CLI_MAX_SIDE || h < CLI_MIN_SIDE || h > CLI_MAX_SIDE)
        return err_set(e, ERR_USAGE, "size: takes WxH pixels from %dx%d to %dx%d",
                       CLI_MIN_SIDE, CLI_MIN_SIDE, CLI_MAX_SIDE, CLI_MAX_SIDE);
    app_resize(a, w, h);
    return app_build(a, false, e);
}

/* Enters the text as an input method does. */
static bool do_text(struct app *a, const struct line *l, struct err *e)
{
    if (l->n != 2) return err_set(e, ERR_USAGE, "text: takes one text in quotes");
    const char *at = l->word[1];
    while (*at) {
        struct ui_event ev = {.kind = UI_TEXT};
        size_t n = strlen(at);
        if (n >= sizeof ev.text) n = sizeof ev.text - 1;
        while (at[n] && ((unsigned char)at[n] & 0xC0) == 0x80) n--;
        memcpy(ev.text, at, n);
        at += n;
        if (!event(a, ev, e)) return false;
    }
    return true;
}

static bool do_open(struct app *a, const struct line *l, struct err *e)
{
    if (l->n != 2) return err_set(e, ERR_USAGE, "open: takes the name of one model");
    return app_open(a, l->word[1], NULL, NULL, e) && app_build(a, false, e);
}

static bool do_export(struct app *a, const struct line *l, struct err *e)
{
    struct export_ask ask = {.path = l->word[1]};
    if (l->n < 2 || l->n > 3)
        return err_set(e, ERR_USAGE, "export: takes a file\u2019s name, and a part");
    if (!export_format_of(ask.path, &ask.format, e) ||
        (l->n == 3 && !export_part_of(l->word[2], &ask, e)))
        return false;
    if (ask.format >= EXPORT_PICTURES)
        return err_set(e, ERR_USAGE, "export: a script makes pictures, not films");
    if (!export_by_window(&ask)) /* and the window's scene again */
        return export_picture(a, &ask, e) && app_build(a, false, e);
    return file_can_write(ask.path, e) && app_build(a, true, e) &&
           app_export(a, ask.path, e);
}

/* Writes the command line that shows this again. */
static bool do_state(struct app *a, const struct line *l, struct err *e)
{
    struct arena mem;
    if (l->n != 2) return err_set(e, ERR_USAGE, "state: takes the name of one file");
    if (!app_build(a, true, e)) return false;
    const char *line = app_state(a, &mem, e);
    bool ok = line && file_write(l->word[1], line, strlen(line), e);
    arena_free(&mem);
    return ok;
}

/* edit Q 3 2 0.5: the number in a cell, which need not be in view; or "computed". */
static bool do_edit(struct app *a, const struct line *l, struct err *e)
{
    char text[160] = "";
    size_t n = 0;
    struct step_action edit;
    for (int i = 1; i < l->n && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s ", l->word[i]);
    struct step_state probe = a->step;
    probe.past = NULL;
    if (!edits_parse(text, &edit, e)) return err_at(e, "edit");
    if (!step_apply(&probe, edit) && !edits_refusal(&a->step, edit, e))
        return err_at(e, "edit");
    app_apply(a, edit);
    return app_build(a, false, e);
}

/* pin TENSOR:I:J: as a click on that cell, which need not be in view. */
static bool do_pin(struct app *a, const struct line *l, struct err *e)
{
    struct step_action pin = {.verb = STEP_PIN};
    struct step_state probe = a->step;
    if (l->n != 2) return err_set(e, ERR_USAGE, "pin: takes one cell, as p:4:2");
    if (!names_parse_cell(l->word[1], &pin.ref, e)) return err_at(e, "pin");
    if (!step_apply(&probe, pin))
        return err_set(e, ERR_INPUT, "pin %s: there is no such cell", l->word[1]);
    app_apply(a, pin);
    return app_build(a, false, e);
}

/* ---- running ------------------------------------------------------------------------------ */

static bool check_key(const struct line *l, struct err *e)
{
    int key = 0;
    int mods = 0;
    if (l->n == 2 && ui_key_parse(l->word[1], &key, &mods)) return true;
    return err_set(e, ERR_INPUT, "key %s: there is no such key",
                   l->n > 1 ? l->word[1] : "");
}

static bool check_click(const struct line *l, struct err *e)
{
    if (l->n == 2 && l->quoted[1]) return true;
    return err_set(e, ERR_INPUT,
                   "click: takes a control\u2019s text in quotes in a tour");
}

static bool check_pin(const struct line *l, struct err *e)
{
    struct step_ref ref;
    if (l->n != 2) return err_set(e, ERR_INPUT, "pin: takes one cell, as p:4:2");
    return names_parse_cell(l->word[1], &ref, e) || err_at(e, "pin");
}

/* check: what a tour may do, too. */
static const struct {
    const char *name;
    bool (*run)(struct app *a, const struct line *l, struct err *e);
    bool (*check)(const struct line *l, struct err *e);
} verbs[] = {
    {"pin", do_pin, check_pin},        {"key", do_key, check_key},
    {"click", do_click, check_click},  {"set", script_set, script_set_check},
    {"double", do_click, NULL},        {"hover", do_hover, NULL},
    {"drag", do_drag, NULL},           {"wheel", do_wheel, NULL},
    {"leave", do_leave, NULL},         {"wait", do_wait, NULL},
    {"ready", do_ready, NULL},         {"frame", do_frame, NULL},
    {"size", do_size, NULL},           {"export", do_export, NULL},
    {"expect", script_expect, NULL},   {"open", do_open, NULL},
    {"edit", do_edit, NULL},           {"text", do_text, NULL},
    {"state", do_state, NULL},         {"tour", script_tour, NULL},
    {"present", script_present, NULL}, {"blank", script_present, NULL},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

/* VERBS: there is none of that name. */
static int find_verb(const char *name)
{
    int i = 0;
    while (i < VERBS && strcmp(verbs[i].name, name) != 0) i++;
    return i;
}

static bool run_line(struct app *a, char *text, struct err *e)
{
    struct line l;
    if (!split(&l, text, e)) return false;
    if (l.n == 0) return true;
    int i = find_verb(l.word[0]);
    return i < VERBS ? verbs[i].run(a, &l, e)
                     : err_set(e, ERR_USAGE, "%s: there is no such action", l.word[0]);
}

bool script_line(struct app *a, const char *text, struct err *e)
{
    char copy[LINE_MOST];
    (void)snprintf(copy, sizeof copy, "%s", text);
    return run_line(a, copy, e);
}

bool script_tour_check(const char *text, struct err *e)
{
    char copy[LINE_MOST];
    struct line l;
    struct err why = {0};
    if (strlen(text) >= sizeof copy) return err_set(e, ERR_INPUT, "is too long");
    (void)snprintf(copy, sizeof copy, "%s", text);
    if (!split(&l, copy, &why)) return err_set(e, ERR_INPUT, "%s", why.text);
    int i = l.n > 0 ? find_verb(l.word[0]) : VERBS;
    if (i == VERBS || !verbs[i].check)
        return err_set(e, ERR_INPUT, "%.40s: a tour can set, key, pin and click \"TEXT\"",
                       l.n > 0 ? l.word[0] : "nothing");
    return verbs[i].check(&l, &why) || err_set(e, ERR_INPUT, "%s", why.text);
}

/* A model that could not be opened, which no line expected, is an error at the end. */
static bool opened_all(struct app *a, struct err *e)
{
    if (!app_build(a, a->source.opening != NULL, e)) return false;
    return !a->refused || err_set(e, ERR_INPUT, "%s", a->message);
}

bool script_run(struct app *a, const char *path, struct err *e)
{
    struct arena mem;
    char *text = NULL;
    size_t n = 0;
    if (!arena_init(&mem, MAX_SCRIPT + 64, e)) return false;
    bool ok = file_read(path, MAX_SCRIPT, &mem, &text, &n, e);
    if (ok && strlen(text) != n)
        ok = err_set(e, ERR_USAGE, "%s: holds a zero byte; a script is text", path);
    ok = ok && app_build(a, false, e);
    int number_of_line = 0;
    for (char *at = text; ok && at && *at; number_of_line++) {
        size_t len = strcspn(at, "\n");
        char *next = at[len] ? at + len + 1 : at + len;
        at[len] = '\0';
        ok = run_line(a, at, e);
        if (!ok) {
            char where[512];
            (void)snprintf(where, sizeof where, "%.480s:%d", path, number_of_line + 1);
            (void)err_at(e, where);
        }
        at = next;
    }
    arena_free(&mem);
    return ok && opened_all(a, e);
}
