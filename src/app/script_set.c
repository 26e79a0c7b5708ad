/* "set NAME VALUE": a part of the state as it is to be, whatever it was, for a tour's stop
 * that may be entered from anywhere; and "tour", "present", "blank". */
#include "names.h"
#include "script_line.h"

#include <stdio.h>
#include <string.h>

/* What a value is, and the action that it makes. */
enum set_kind { SET_NUMBER, SET_TIME, SET_ROW, SET_SCALE, SET_SWITCH, SET_DECODE };
struct set {
    const char *name;
    enum set_kind kind;
    enum step_verb verb;
    int lo, hi;       /* as people count */
    int from;         /* what an action's 0 is called */
    int option;       /* SET_SWITCH */
    const char *what; /* a value is */
};

static const struct set sets[] = {
    {"scale", SET_SCALE, STEP_SCALE_TO, 0, 0, 0, 0, "toy or gpt2"},
    {"stage", SET_NUMBER, STEP_GO, 1, ATTN_STAGE_COUNT, 1, 0, "1 to 7"},
    {"time", SET_TIME, STEP_SCRUB, 0, 1, 0, 0, "0 to 1"},
    {"row", SET_ROW, STEP_ROW, 1, STEP_MODEL_TOKENS, 1, 0,
     "first, middle, last or a number from 1"},
    {"head", SET_NUMBER, STEP_HEAD, 1, 4096, 1, 0, "a number from 1"},
    {"block", SET_NUMBER, STEP_BLOCK, 1, 4096, 1, 0, "a number from 1"},
    {"seed", SET_NUMBER, STEP_SEED, 0, 99999999, 0, 0, "a number from 0"},
    {"tokens", SET_NUMBER, STEP_TOKENS, 1, STEP_MAX_TOKENS, 0, 0, "1 to 1024"},
    {"decode", SET_DECODE, STEP_DECODE, 1, STEP_MODEL_TOKENS, 0, 0,
     "off, or the tokens of the prefill from 1"},
    {"divide", SET_SWITCH, STEP_SWITCH, 0, 0, 0, STEP_SW_DIVIDE, "on or off"},
    {"mask", SET_SWITCH, STEP_SWITCH, 0, 0, 0, STEP_SW_MASK, "on or off"},
    {"residual", SET_SWITCH, STEP_SWITCH, 0, 0, 0, STEP_SW_RESIDUAL, "on or off"},
};

/* Which of the words separated by spaces it is, -1: none. */
static int one_of(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

/* The row that "middle" and the like are now; 0 where it is a number's. */
static int named_row(const char *word, int n_tok)
{
    static const char *const names[] = {"first", "middle", "last"};
    const int rows[] = {1, (n_tok + 1) / 2, n_tok};
    int i = one_of(word, names, 3);
    return i < 0 ? 0 : rows[i];
}

/* s: what it is set in, NULL: to be checked alone. */
static bool action_of(const struct set *t, const char *value, const struct step_state *s,
                      struct step_action *out, struct err *e)
{
    static const char *const scales[] = {"toy", "gpt2"};
    static const char *const switches[] = {"on", "off"}; /* choice 0 is right */
    double v = 0.0;
    int i = 0;
    *out = (struct step_action){.verb = t->verb};
    bool ok = true;
    if (t->kind == SET_SCALE) {
        ok = (out->i = one_of(value, scales, 2)) >= 0;
    } else if (t->kind == SET_SWITCH) {
        out->i = t->option;
        ok = (i = one_of(value, switches, 2)) >= 0;
        out->x = (float)i;
    } else if (t->kind == SET_DECODE && strcmp(value, "off") == 0) {
        out->i = -1;
    } else if (t->kind == SET_ROW &&
               (i = named_row(value, s ? step_place_of(s)->dims.n_tok : 1)) > 0) {
        out->i = i - 1;
    } else {
        ok = script_number(value, &v, NULL) && v >= (double)t->lo && v <= (double)t->hi;
        out->i = ok ? (int)v - t->from : 0;
        out->x = (float)v;
        ok = ok && (t->kind == SET_TIME || (double)(out->i + t->from) == v);
    }
    return ok || err_set(e, ERR_USAGE, "set %s %s: is %s", t->name, value, t->what);
}

static const struct set *find(const struct line *l, struct err *e)
{
    if (l->n != 3) {
        (void)err_set(e, ERR_USAGE, "set: takes a name and a value, as set row 3");
        return NULL;
    }
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(sets[i].name, l->word[1]) == 0) return &sets[i];
    (void)err_set(e, ERR_USAGE,
                  "set %s: can be scale, stage, time, row, head, block, seed, tokens, "
                  "decode, divide, mask or residual",
                  l->word[1]);
    return NULL;
}

bool script_set_check(const struct line *l, struct err *e)
{
    struct step_action a;
    const struct set *t = find(l, e);
    return t && action_of(t, l->word[2], NULL, &a, e);
}

bool script_set(struct app *a, const struct line *l, struct err *e)
{
    struct step_action action;
    struct err why = {0};
    const struct set *t = find(l, e);
    if (!t || !action_of(t, l->word[2], &a->step, &action, e)) return false;
    struct step_state probe = a->step;
    probe.past = NULL;
    if (!step_apply(&probe, action)) {
        (void)names_refusal(&a->step, action, &why);
        return err_set(e, ERR_INPUT, "set %s %s: %.300s", t->name, l->word[2], why.text);
    }
    app_apply(a, action);
    if (action.verb == STEP_GO) /* finished: a key plays it */
        app_apply(a, (struct step_action){.verb = STEP_SCRUB, .x = 1.0f});
    return app_build(a, false, e);
}

bool script_tour(struct app *a, const struct line *l, struct err *e)
{
    static const char *const names[] = {"open", "leave",  "next", "back",
                                        "over", "reveal", "again"};
    static const struct step_action actions[] = {
        {.verb = STEP_TOUR},
        {.verb = STEP_TOUR},
        {.verb = STEP_TOUR_BY, .i = 1},
        {.verb = STEP_TOUR_BY, .i = -1},
        {.verb = STEP_TOUR_AGAIN, .i = 1},
        {.verb = STEP_TOUR_PICK, .i = STEP_REVEALED},
        {.verb = STEP_TOUR_AGAIN}};
    double stop = 0.0;
    int i = l->n == 2 ? one_of(l->word[1], names, 7) : -1;
    bool number = l->n == 2 && i < 0 && script_number(l->word[1], &stop, NULL);
    if (i < 0 && !number)
        return err_set(e, ERR_USAGE,
                       "tour: takes open, leave, next, back, over, reveal, again or a "
                       "stop");
    if (number && !(stop >= 1.0 && stop <= (double)a->tour.tour.n))
        return err_set(e, ERR_INPUT, "tour %s: it has stops 1 to %d", l->word[1],
                       a->tour.tour.n);
    if (number)
        app_apply(a, (struct step_action){.verb = STEP_TOUR_TO, .i = (int)stop - 1});
    else if (i > 1 || a->step.tour.open == (i == 1))
        app_apply(a, actions[i]);
    return app_build(a, true, e);
}

/* "present on", "blank off". */
bool script_present(struct app *a, const struct line *l, struct err *e)
{
    static const char *const names[] = {"off", "on"};
    bool blank = strcmp(l->word[0], "blank") == 0;
    int to = l->n == 2 ? one_of(l->word[1], names, 2) : -1;
    if (to < 0) return err_set(e, ERR_USAGE, "%s: takes on or off", l->word[0]);
    bool is = blank ? a->step.presenter.blank : a->step.presenter.on;
    if (blank && to && !a->step.presenter.on)
        return err_set(e, ERR_INPUT, "blank on: is of presenter mode; present on first");
    if (is != (to == 1))
        app_apply(a, (struct step_action){.verb = blank ? STEP_BLANK : STEP_PRESENT});
    return app_build(a, false, e);
}
