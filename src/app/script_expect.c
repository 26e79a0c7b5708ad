/* What a script expects: parts of the state by their names, and texts on screen. */
#include "names.h"
#include "script_line.h"
#include "state.h"

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLOSE_ENOUGH 1e-3 /* of an expected number that is not whole */

enum name {
    NAME_STAGE,
    NAME_TIME,
    NAME_PLAYING,
    NAME_SPEED,
    NAME_SCALE,
    NAME_TOKENS,
    NAME_SEED,
    NAME_BLOCK,
    NAME_HEAD,
    NAME_PAIR,
    NAME_SECOND,
    NAME_ROW,
    NAME_ROWS,
    NAME_PIN,
    NAME_HOVER,
    NAME_DIVIDE,
    NAME_MASK,
    NAME_RESIDUAL,
    NAME_LOG,
    NAME_RANK,
    NAME_LEAST,
    NAME_SHOW,
    NAME_ZOOM,
    NAME_PAN_X,
    NAME_PAN_Y,
    NAME_HELP,
    NAME_EDITING,
    NAME_FOCUS,
    NAME_THEME,
    NAME_UI,
    NAME_DENSITY,
    NAME_FULLSCREEN,
    NAME_QUIT,
    NAME_FITS,
    NAME_MESSAGE,
    NAME_FULL,
    NAME_CLIPBOARD,
    NAME_BROKEN,
    NAME_SEE,
    NAME_SWITCHES,
    NAME_UNDO,
    NAME_REDO,
    NAME_EDITED,
    NAME_COUNT
};

static const char *const names[NAME_COUNT] = {
    "stage", "time",      "playing", "speed",      "scale",    "tokens",  "seed",
    "block", "head",      "pair",    "second",     "row",      "rows",    "pin",
    "hover", "divide",    "mask",    "residual",   "log",      "rank",    "least",
    "show",  "zoom",      "pan-x",   "pan-y",      "help",     "editing", "focus",
    "theme", "ui",        "density", "fullscreen", "quit",     "fits",    "message",
    "full",  "clipboard", "broken",  "see",        "switches", "undo",    "redo",
    "edited"};

/* Numbers and cells count from 1, as on screen. */
static void print_switch(char *out, size_t room, bool on)
{
    (void)snprintf(out, room, on ? "on" : "off");
}

static void print_number(char *out, size_t room, float v)
{
    (void)snprintf(out, room, "%.6g", (double)v);
}

static void print_playback(const struct app *a, enum name n, char *out, size_t room)
{
    const struct step_state *s = &a->step;
    if (n == NAME_STAGE) (void)snprintf(out, room, "%d", (int)s->stage + 1);
    if (n == NAME_TIME) print_number(out, room, s->time);
    if (n == NAME_PLAYING) print_switch(out, room, s->playing);
    if (n == NAME_SPEED) print_number(out, room, s->speed);
}

static void print_place(const struct app *a, enum name n, char *out, size_t room)
{
    const struct step_place *p = step_place_of(&a->step);
    if (n == NAME_SCALE)
        (void)snprintf(out, room, a->step.scale == STEP_TOY ? "toy" : "gpt2");
    if (n == NAME_TOKENS) (void)snprintf(out, room, "%d", p->dims.n_tok);
    if (n == NAME_SEED) (void)snprintf(out, room, "%u", (unsigned)p->seed);
    if (n == NAME_BLOCK) (void)snprintf(out, room, "%d", p->block + 1);
    if (n == NAME_HEAD) (void)snprintf(out, room, "%d", p->head + 1);
    if (n == NAME_ROW) (void)snprintf(out, room, "%d", p->row + 1);
    if (n == NAME_SECOND) (void)snprintf(out, room, "%d", p->second + 1);
    if (n == NAME_ROWS) (void)snprintf(out, room, "%d", step_row_count(p));
    if (n == NAME_PIN) names_print_cell(out, room, p->pin);
    if (n == NAME_HOVER) names_print_cell(out, room, a->step.hover);
    if (n == NAME_ZOOM) print_number(out, room, p->view.zoom);
    if (n == NAME_PAN_X) print_number(out, room, p->view.x);
    if (n == NAME_PAN_Y) print_number(out, room, p->view.y);
}

static void print_switches(const struct app *a, enum name n, char *out, size_t room)
{
    const struct step_state *s = &a->step;
    if (n == NAME_DIVIDE) print_switch(out, room, s->opts.scale);
    if (n == NAME_MASK) print_switch(out, room, s->opts.causal);
    if (n == NAME_RESIDUAL) print_switch(out, room, s->opts.residual);
    if (n == NAME_LOG) print_switch(out, room, s->log_weights);
    if (n == NAME_RANK)
        (void)snprintf(out, room,
                       s->rank == STEP_RANK_WEIGHT ? "weight" : "contribution");
    if (n == NAME_LEAST) print_number(out, room, s->least_weight);
    if (n == NAME_SHOW) (void)snprintf(out, room, "%s", state_diffs[s->diff]);
    static const char *const pairs[STEP_PAIR_COUNT] = {"off", "beside", "minus"};
    if (n == NAME_PAIR) (void)snprintf(out, room, "%s", pairs[s->pair]);
    if (n == NAME_EDITING) print_switch(out, room, s->editing != STEP_EDIT_NONE);
    if (n == NAME_HELP) print_switch(out, room, s->help);
    if (n == NAME_FULLSCREEN) print_switch(out, room, s->fullscreen);
    if (n == NAME_QUIT) print_switch(out, room, s->quit);
}

static void print_broken(const struct app *a, enum name n, char *out, size_t room)
{
    static const char *const see[STEP_SEE_COUNT] = {"broken", "correct", "difference"};
    const struct step_state *s = &a->step;
    if (n == NAME_BROKEN) print_switch(out, room, step_is_broken(s));
    if (n == NAME_SEE) (void)snprintf(out, room, "%s", see[step_seen(s)]);
    if (n == NAME_SWITCHES) print_switch(out, room, s->switches);
    if (n == NAME_UNDO) (void)snprintf(out, room, "%d", step_undo_count(s));
    if (n == NAME_REDO) (void)snprintf(out, room, "%d", step_redo_count(s));
    if (n == NAME_EDITED) (void)snprintf(out, room, "%d", step_given_count(s));
}

static void print_screen(const struct app *a, enum name n, char *out, size_t room)
{
    const struct step_state *s = &a->step;
    const char *message = a->seen_source.message;
    if (n == NAME_FOCUS && s->focus == 0) (void)snprintf(out, room, "none");
    if (n == NAME_FOCUS && s->focus != 0) (void)snprintf(out, room, "%d", s->focus);
    if (n == NAME_THEME)
        (void)snprintf(out, room, s->theme == STEP_DARK ? "dark" : "light");
    if (n == NAME_UI) (void)snprintf(out, room, "%d", s->ui_percent);
    if (n == NAME_DENSITY) print_number(out, room, a->scale.density);
    if (n == NAME_FITS) print_switch(out, room, a->seen_source.fits);
    if (n == NAME_MESSAGE) (void)snprintf(out, room, "%s", message ? message : "none");
    if (n == NAME_CLIPBOARD) {
        char *text = SDL_GetClipboardText();
        (void)snprintf(out, room, "%s", text ? text : "");
        SDL_free(text);
    }
    if (n == NAME_FULL) print_switch(out, room, a->scene.full);
}

static bool same(const char *want, const char *found)
{
    double w = 0.0;
    double f = 0.0;
    if (strcmp(want, found) == 0) return true;
    return script_number(want, &w, NULL) && script_number(found, &f, NULL) &&
           strpbrk(found, ".e") && fabs(w - f) <= CLOSE_ENOUGH * fmax(1.0, fabs(f));
}

static bool is_on_screen(const struct scene *sc, const char *text)
{
    for (int i = 0; i < sc->n; i++)
        if (sc->items[i].kind == SCENE_TEXT &&
            strcmp(sc->items[i].u.text.text, text) == 0)
            return true;
    return false;
}

/* What is read beside the picture. false: no such name. */
static bool print_read(const struct step_state *s, const char *name, char *out,
                       size_t room)
{
    const char *tab = s->code.tab == STEP_CODE_C ? "c" : "pytorch";
    if (strcmp(name, "cell") == 0)
        names_print_cell(out, room, step_cell_of(s));
    else if (strcmp(name, "dive") == 0)
        (void)snprintf(out, room, "%d", s->dive.n);
    else if (strcmp(name, "terms") == 0)
        (void)snprintf(out, room, s->by_place ? "in-order" : "largest");
    else if (strcmp(name, "code") == 0)
        (void)snprintf(out, room, "%s", s->code.open ? tab : "off");
    else if (strcmp(name, "decode") == 0)
        (void)snprintf(out, room, "%d", s->decode ? step_place_of(s)->prefill : 0);
    else if (strcmp(name, "lab") == 0)
        (void)snprintf(out, room, "%s",
                       s->lab.open ? scene_lab_name(s->lab.kind) : "off");
    else if (strcmp(name, "lab-at") == 0)
        (void)snprintf(out, room, "%d", step_lab_at(s));
    else if (strcmp(name, "lab-keys") == 0)
        (void)snprintf(out, room, "%d", step_lab_row(s));
    else if (strcmp(name, "lab-of") == 0)
        (void)snprintf(out, room, s->lab.of == STEP_LAB_BYTES ? "bytes" : "flops");
    else if (strcmp(name, "why") == 0)
        (void)snprintf(out, room, s->why ? "on" : "off");
    else
        return false;
    return true;
}

/* The tour, and presenter mode. false: no such name. */
static bool print_guided(const struct step_state *s, const char *name, char *out,
                         size_t room)
{
    if (strcmp(name, "tour") == 0 && s->tour.open)
        (void)snprintf(out, room, "%d", s->tour.stop + 1);
    else if (strcmp(name, "tour") == 0)
        (void)snprintf(out, room, "off");
    else if (strcmp(name, "answer") == 0)
        (void)snprintf(out, room, "%s", state_verdicts[s->tour.verdict]);
    else if (strcmp(name, "presenter") == 0)
        print_switch(out, room, s->presenter.on);
    else if (strcmp(name, "blank") == 0)
        print_switch(out, room, s->presenter.blank);
    else
        return false;
    return true;
}

bool script_expect(struct app *a, const struct line *l, struct err *e)
{
    char found[600] = "";
    int n = 0;
    if (l->n != 3) return err_set(e, ERR_USAGE, "expect: takes a name and a value");
    const char *name = l->word[1];
    const char *want = l->word[2];
    bool negated = strcmp(name, "no-text") == 0;
    if (negated || strcmp(name, "text") == 0) {
        if (is_on_screen(&a->scene, want) != negated) return true;
        return err_set(e, ERR_INPUT, "expect %s \"%s\": it is%s on screen", name, want,
                       negated ? "" : " not");
    }
    if (print_read(&a->step, name, found, sizeof found) ||
        print_guided(&a->step, name, found, sizeof found))
        return same(want, found) ||
               err_set(e, ERR_INPUT, "expected %s %s, found %s", name, want, found);
    while (n < NAME_COUNT && strcmp(names[n], name) != 0) n++;
    if (n == NAME_COUNT)
        return err_set(e, ERR_USAGE, "expect %s: the state has no such part", name);
    print_playback(a, (enum name)n, found, sizeof found);
    print_place(a, (enum name)n, found, sizeof found);
    print_switches(a, (enum name)n, found, sizeof found);
    print_broken(a, (enum name)n, found, sizeof found);
    print_screen(a, (enum name)n, found, sizeof found);
    if (!same(want, found))
        return err_set(e, ERR_INPUT, "expected %s %s, found %s", name, want, found);
    if (n == NAME_MESSAGE) a->refused = false;
    return true;
}
