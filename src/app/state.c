/* The state as a command line: a table of what is written, in the order of the options. */
#include "state.h"

#include "breaks.h"
#include "edits.h"
#include "lab_words.h"
#include "names.h"
#include "ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const state_diffs[STEP_DIFF_COUNT] = {[STEP_DIFF_OFF] = "animation",
                                                  [STEP_DIFF_DIFFERENCE] = "difference",
                                                  [STEP_DIFF_THEIRS] = "theirs",
                                                  [STEP_DIFF_OURS] = "ours"};
const char *const state_over_kinds[STEP_OVER_KIND_COUNT] = {
    [STEP_OVER_SCORES] = "scores",
    [STEP_OVER_SCALED] = "scaled",
    [STEP_OVER_WEIGHTS] = "weights",
};
const char *const state_over_sorts[STEP_SORT_COUNT] = {
    [STEP_SORT_PLACE] = "place",       [STEP_SORT_ENTROPY] = "entropy",
    [STEP_SORT_PREVIOUS] = "previous", [STEP_SORT_FIRST] = "first",
    [STEP_SORT_ITSELF] = "itself",     [STEP_SORT_INDUCTION] = "induction",
};

const char *const state_code_tabs[STEP_CODE_TAB_COUNT] = {
    [STEP_CODE_C] = "c",
    [STEP_CODE_TORCH] = "pytorch",
};

const char *const state_verdicts[STEP_VERDICT_COUNT] = {[STEP_UNANSWERED] = "none",
                                                        [STEP_WRONG] = "wrong",
                                                        [STEP_RIGHT] = "right",
                                                        [STEP_REVEALED] = "shown"};

/* ---- the line --------------------------------------------------------------------------- */

struct line {
    char *text;
    size_t n, room; /* room counts the zero */
    bool full;
};

static void put(struct line *l, const char *bytes, size_t n)
{
    if (l->full || l->n + n >= l->room) {
        l->full = true;
        return;
    }
    memcpy(l->text + l->n, bytes, n);
    l->n += n;
    l->text[l->n] = '\0';
}

static void say(struct line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct line *l, const char *format, ...)
{
    char piece[128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof piece)
        l->full = true;
    else
        put(l, piece, (size_t)n);
}

/* Whether a shell takes the byte as it is, wherever it stands. */
static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_-+./,:@%^=", c) != NULL;
}

static bool is_control(unsigned char c)
{
    return c < ' ' || c == 0x7F || c == (unsigned char)UI_EDITOR_SPECIAL;
}

/* Bytes that no clipboard or terminal keeps go through printf. Newlines at the end, which
 * "$(...)" would drop, stand behind it. */
static void put_printed(struct line *l, const char *text, size_t n)
{
    size_t end = n;
    while (end > 0 && text[end - 1] == '\n') end--;
    say(l, "\"$(printf '");
    for (size_t i = 0; i < end; i++) {
        unsigned char c = (unsigned char)text[i];
        bool option = i == 0 && c == '-'; /* of printf */
        if (is_control(c) || c == '\'' || c == '\\' || option)
            say(l, "\\%03o", (unsigned)c);
        else if (c == '%')
            put(l, "%%", 2);
        else
            put(l, &text[i], 1);
    }
    say(l, "')");
    put(l, text + end, n - end);
    put(l, "\"", 1);
}

/* One word for the shell. */
static void put_quoted(struct line *l, const char *text, size_t n)
{
    bool plain = n > 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_control(c)) {
            put_printed(l, text, n);
            return;
        }
        plain = plain && is_plain(c);
    }
    if (plain) {
        put(l, text, n);
        return;
    }
    put(l, "'", 1);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'')
            put(l, "'\\''", 4);
        else
            put(l, &text[i], 1);
    }
    put(l, "'", 1);
}

/* A space and one word for the shell. */
static void put_word(struct line *l, const char *text, size_t n)
{
    put(l, " ", 1);
    put_quoted(l, text, n);
}

/* The same as an option's value, which it stays where it looks like an option. */
static void put_value(struct line *l, const char *text, size_t n)
{
    put(l, n > 1 && text[0] == '-' && text[1] == '-' ? "=" : " ", 1);
    put_quoted(l, text, n);
}

/* ---- what is written ---------------------------------------------------------------------- */

static void put_model(struct line *l, const struct state_shown *now)
{
    const char *path = now->model;
    if (!path) return;
    if (path[0] == '-') { /* no option */
        char local[FILE_PATH + 2];
        int n = snprintf(local, sizeof local, "./%s", path);
        put_word(l, local, n < (int)sizeof local ? (size_t)n : sizeof local - 1);
    } else {
        put_word(l, path, strlen(path));
    }
    if (now->n_text) {
        say(l, " --text");
        put_value(l, now->text, now->n_text);
    }
    if (now->cut_front) say(l, " --cut front");
}

static void put_scale(struct line *l, const struct state_shown *now)
{
    say(l, " --scale %s", now->step->scale == STEP_TOY ? "toy" : "gpt2");
}

static void put_words(struct line *l, const struct state_shown *now)
{
    if (!now->words || now->step->scale != STEP_TOY) return;
    say(l, " --words");
    put_value(l, now->words, now->n_words);
}

static void put_weights(struct line *l, const struct state_shown *now)
{
    const struct step_place *p = step_place_of(now->step);
    if (step_is_loaded(p)) return;
    if (now->step->scale == STEP_GPT2) say(l, " --tokens %d", p->dims.n_tok);
    say(l, " --seed %u", (unsigned)p->seed);
}

/* The rows beside the one in view, run by run, and that one last. */
static void put_rows(struct line *l, const struct step_place *p)
{
    int from = 0;
    int to = 0;
    const char *before = " --row ";
    for (int runs = 1; runs < STATE_ROW_RUNS && step_row_run(p, &from, &to);) {
        bool inside = p->row >= from && p->row < to; /* it parts the run */
        const int ends[2][2] = {{from, inside ? p->row : to}, {p->row + 1, to}};
        for (int k = 0; k < (inside ? 2 : 1) && runs < STATE_ROW_RUNS; k++) {
            if (ends[k][0] >= ends[k][1]) continue;
            say(l, "%s%d", before, ends[k][0] + 1);
            if (ends[k][1] - ends[k][0] > 1) say(l, "-%d", ends[k][1]);
            before = ",";
            runs++;
        }
    }
    say(l, "%s%d", before, p->row + 1);
}

static void put_place(struct line *l, const struct state_shown *now)
{
    const struct step_place *p = step_place_of(now->step);
    if (step_is_loaded(p)) say(l, " --block %d", p->block + 1);
    say(l, " --head %d", p->head + 1);
    put_rows(l, p);
    if (now->step->decode) say(l, " --decode %d", p->prefill);
}

static void put_cell(struct line *l, const char *option, struct step_ref at)
{
    char cell[64];
    if (at.tensor == ATTN_TENSOR_COUNT) return;
    names_print_cell(cell, sizeof cell, at);
    say(l, " %s %s", option, cell);
}

static void put_dive(struct line *l, const struct step_state *s)
{
    if (s->dive.n == 0) return;
    say(l, " --dive %d", (int)s->dive.from + 1);
    for (int i = 0; i < s->dive.n; i++) {
        char cell[64];
        names_print_cell(cell, sizeof cell, s->dive.at[i]);
        say(l, ",%s", cell);
    }
}

static void put_cells(struct line *l, const struct state_shown *now)
{
    put_cell(l, "--pin", step_place_of(now->step)->pin);
    put_dive(l, now->step);
    put_cell(l, "--hover", now->step->hover);
}

static void put_time(struct line *l, const struct state_shown *now)
{
    const struct step_state *s = now->step;
    say(l, " --stage %d --time %.9g", (int)s->stage + 1, (double)s->time);
    if (s->playing) say(l, " --play");
    say(l, " --speed %.9g", (double)s->speed);
}

/* Where two heads are on screen. */
static void put_pair(struct line *l, const struct state_shown *now)
{
    const struct step_state *s = now->step;
    if (!step_is_paired(s)) return;
    say(l, " --%s %d", s->pair == STEP_PAIR_MINUS ? "minus" : "beside",
        step_second(s) + 1);
}

static void put_switches(struct line *l, const struct state_shown *now)
{
    static const char *const sees[STEP_SEE_COUNT] = {"broken", "correct", "difference"};
    char broken[1024];
    breaks_print(broken, sizeof broken, now->step);
    if (broken[0]) {
        say(l, " --break ");
        put(l, broken, strlen(broken));
    }
    if (step_seen(now->step) != STEP_SEE_BROKEN)
        say(l, " --see %s", sees[step_seen(now->step)]);
    if (now->step->switches) say(l, " --switches");
    say(l, " --log %s", now->step->log_weights ? "on" : "off");
}

/* The numbers that are given here; those of other blocks change nothing on screen. */
static void put_edits(struct line *l, const struct state_shown *now)
{
    const struct step_place *p = step_place_of(now->step);
    for (int i = 0; i < p->n_edit; i++) {
        char edit[80];
        if (!step_given_is_here(now->step, &p->edits[i])) continue;
        edits_print(edit, sizeof edit, &p->edits[i].cell);
        say(l, " --edit '%s'", edit);
    }
}

static void put_sources(struct line *l, const struct state_shown *now)
{
    const struct step_state *s = now->step;
    if (s->rank == STEP_RANK_CONTRIBUTION) say(l, " --rank contribution");
    if (s->code.open) say(l, " --code %s", state_code_tabs[s->code.tab]);
    if (s->code.open && s->code.scroll) say(l, " --code-scroll %d", s->code.scroll);
    if (s->why) say(l, " --why");
    if (s->by_place) say(l, " --terms");
    if (s->least_weight > 0.0f) say(l, " --least %.9g", (double)s->least_weight);
}

static void put_overview(struct line *l, const struct state_shown *now)
{
    const struct step_overview *o = &now->step->over;
    if (!o->open) return;
    say(l, " --overview %s --sort %s --overview-at %d", state_over_kinds[o->kind],
        state_over_sorts[o->sort], o->at + 1);
}

static void put_lab(struct line *l, const struct state_shown *now)
{
    char lab[96];
    lab_print(lab, sizeof lab, now->step);
    if (lab[0]) say(l, " --lab %s", lab);
}

static void put_view(struct line *l, const struct state_shown *now)
{
    const struct step_overview *o = &now->step->over;
    const struct step_view v = o->open ? o->view : step_place_of(now->step)->view;
    if (v.zoom == 1.0f && v.x == 0.0f && v.y == 0.0f) return;
    say(l, " --view %.9g,%.9g,%.9g", (double)v.zoom, (double)v.x, (double)v.y);
}

static void put_window(struct line *l, const struct state_shown *now)
{
    say(l, " --theme %s --ui %d", now->step->theme == STEP_DARK ? "dark" : "light",
        now->step->ui_percent);
    say(l, " --size %dx%d", now->w, now->h);
    if (now->density != 1.0f) say(l, " --density %.9g", (double)now->density);
}

static void put_compare(struct line *l, const struct state_shown *now)
{
    if (!now->compare) return;
    say(l, " --compare");
    put_value(l, now->compare, strlen(now->compare));
    if (now->tolerance > 0.0) say(l, " --tolerance %.9g", now->tolerance);
    say(l, " --window --show %s", state_diffs[now->step->diff]);
}

static void put_tour(struct line *l, const struct state_shown *now)
{
    const struct step_tour *t = &now->step->tour;
    if (now->step->presenter.on)
        say(l, now->step->presenter.blank ? " --presenter blank" : " --presenter on");
    if (!t->open) return;
    if (now->tour && now->tour[0]) {
        say(l, " --tour");
        put_value(l, now->tour, strlen(now->tour));
    }
    say(l, " --stop %d --answer %s:%d:%d", t->stop + 1, state_verdicts[t->verdict],
        t->row + 1, t->col + 1);
    const char *before = " --answered ";
    for (int i = 0; i < t->n; i++) {
        if (!t->answered[i] || i == t->stop) continue;
        say(l, "%s%d:%s", before, i + 1, state_verdicts[t->answered[i]]);
        before = ",";
    }
}

/* What changes the screen has its option here and in cli.c. */
static void (*const parts[])(struct line *, const struct state_shown *) = {
    put_model, put_scale,    put_words,  put_weights, put_place,    put_time,
    put_pair,  put_switches, put_edits,  put_sources, put_overview, put_lab,
    put_cells, put_view,     put_window, put_compare, put_tour,
};

size_t state_line_bytes(const struct state_shown *now)
{
    enum {
        A_BYTE = 4,
        OPTIONS = 2048 + 64 * STEP_GIVEN_MOST + 16 * STEP_STOPS_MOST
    }; /* a byte as \ooo; everything but texts */
    size_t n = now->n_text + now->n_words + (now->model ? strlen(now->model) : 0) +
               (now->compare ? strlen(now->compare) : 0) +
               (now->tour ? strlen(now->tour) : 0);
    return A_BYTE * n + OPTIONS;
}

const char *state_line(const struct state_shown *now, struct arena *mem)
{
    struct line l = {.room = state_line_bytes(now)};
    l.text = arena_take(mem, l.room, 1);
    if (!l.text) return NULL;
    put(&l, "headlight", strlen("headlight"));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) parts[i](&l, now);
    return l.full ? NULL : l.text;
}
