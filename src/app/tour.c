/* The guided tour while the program runs. */
#include "tour.h"

#include "app.h"
#include "script.h"
#include "tour_embedded.h"
#include "tour_words.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- its text -------------------------------------------------------------------------- */

bool tour_load(struct tour_guide *g, const char *path, struct err *e)
{
    struct tour t;
    const char *own = tour_files[0].text;
    bool ok = path ? tour_read(&t, path, e)
                   : tour_parse(&t, tour_files[0].name, own, strlen(own), e);
    if (!ok) return false;
    tour_free(&g->tour);
    g->tour = t;
    g->told = 0;
    (void)snprintf(g->path, sizeof g->path, "%s", path ? path : "");
    return true;
}

void tour_unload(struct tour_guide *g)
{
    tour_free(&g->tour);
}

static const struct tour_stop *stop_of(const struct app *a)
{
    int i = a->step.tour.stop;
    return a->step.tour.open && i < a->tour.tour.n ? &a->tour.tour.stop[i] : NULL;
}

/* ---- answers --------------------------------------------------------------------------- */

static bool is_grid(enum attn_tensor t)
{
    return t >= ATTN_S_RAW && t <= ATTN_P;
}

static bool has_token_rows(enum attn_tensor t)
{
    return !(t >= ATTN_W_Q && t <= ATTN_W_V) && t != ATTN_W_O;
}

/* "cell M INDEX INDEX" as its matrix and row; *at is at the column. */
static bool cell_asked(const struct tour_world *w, const char **at, enum attn_tensor *t,
                       int *row)
{
    return tour_matrix(at, t, NULL) && tour_index(w, at, row, NULL);
}

/* What a click on the cell answers, or a row and column of the keys; brought into *ref. */
static bool meant(const struct tour_stop *s, struct step_ref *ref)
{
    bool cell = ref->tensor != ATTN_TENSOR_COUNT;
    int i = ref->row;
    if (cell && s->kind != ASK_CELL) {
        if (!has_token_rows(ref->tensor)) return false;
        if (s->kind == ASK_TOKEN && is_grid(ref->tensor)) i = ref->col;
    }
    if (s->kind == ASK_CELL) return true;
    if (s->kind == ASK_CHOICE && cell) return false;
    ref->row = ref->col = i;
    return i >= 0;
}

static bool same_place(enum attn_tensor a, enum attn_tensor b)
{
    return a == b || b == ATTN_TENSOR_COUNT || (is_grid(a) && is_grid(b));
}

/* A cell of another matrix than the one that is asked about is no answer: said so. */
static bool of_another(struct app *a, const struct tour_stop *s,
                       const struct tour_world *w, enum attn_tensor clicked)
{
    enum attn_tensor t = ATTN_TENSOR_COUNT;
    int row = 0;
    const char *at = s->answer;
    if (s->kind != ASK_CELL || !cell_asked(w, &at, &t, &row) || same_place(t, clicked))
        return false;
    (void)snprintf(a->message, sizeof a->message,
                   "that is a cell of %s; the question is about %s",
                   scene_tensor_name(clicked), scene_tensor_name(t));
    return true;
}

/* How an answer at ref compares with what the numbers say. */
static struct tour_judged judged(const struct tour_world *w, const struct tour_stop *s,
                                 struct step_ref ref)
{
    enum attn_tensor t = ATTN_TENSOR_COUNT;
    int row = 0;
    const char *at = s->answer;
    if (s->kind == ASK_CHOICE)
        return (struct tour_judged){.right = ref.row == s->right, .given = NAN};
    if (s->kind != ASK_CELL) return tour_judge(w, s->answer, ref.row + 1);
    if (!cell_asked(w, &at, &t, &row)) return (struct tour_judged){.given = NAN};
    struct tour_judged j = tour_judge(w, at, ref.col + 1);
    j.right = j.right && ref.row + 1 == row && same_place(t, ref.tensor);
    j.given = tour_number(w, t, ref.row + 1, ref.col + 1); /* of the row answered */
    return j;
}

/* One answer that is right; -1, -1: these numbers have none. */
static struct step_ref right_of(const struct tour_world *w, const struct tour_stop *s)
{
    struct step_ref r = {.tensor = ATTN_TENSOR_COUNT, .row = -1, .col = -1};
    const char *at = s->answer;
    int i = 0;
    int j = 0;
    if (s->kind == ASK_CHOICE) r.row = r.col = s->right;
    if (s->kind == ASK_TOKEN || s->kind == ASK_ROW)
        if (tour_index(w, &at, &i, NULL)) r.row = r.col = i - 1;
    if (s->kind == ASK_CELL && cell_asked(w, &at, &r.tensor, &i) &&
        tour_index(w, &at, &j, NULL)) {
        r.row = i - 1;
        r.col = j - 1;
    }
    return r;
}

/* Whether the numbers have what is asked for; true while they are not there. */
static bool answerable(const struct tour_world *w, const struct tour_stop *s)
{
    if (s->kind == ASK_NOTHING || s->kind == ASK_CHOICE || !w->src->fits) return true;
    const struct step_ref r = right_of(w, s);
    struct attn_cmat m = {.rows = step_place_of(w->s)->dims.n_tok, .cols = INT_MAX};
    if (s->kind == ASK_CELL) m = scene_tensor_view(w->src, r.tensor);
    return r.row >= 0 && r.col >= 0 && r.row < m.rows && r.col < m.cols;
}

bool tour_before(struct app *a, struct step_action *action)
{
    bool ours = action->verb >= STEP_TOUR && action->verb <= STEP_TOUR_PICK;
    if (!ours) return true;
    if (a->tour.running) return false; /* a stop's commands do not lead to another */
    if (action->verb <= STEP_TOUR_AGAIN) action->x = (float)a->tour.tour.n;
    const struct tour_stop *s = stop_of(a);
    if (action->verb != STEP_TOUR_PICK) return true;
    const struct scene_source *src = &a->seen_source;
    if (!s || s->kind == ASK_NOTHING || !src->fits) return false;
    const struct tour_world w = {&a->scene, &a->step, src};
    if (!answerable(&w, s)) return false;
    if (action->i == STEP_REVEALED) {
        action->ref = right_of(&w, s);
        return true;
    }
    if (!meant(s, &action->ref)) return false;
    if (of_another(a, s, &w, action->ref.tensor)) return false;
    action->i = judged(&w, s, action->ref).right ? STEP_RIGHT : STEP_WRONG;
    return true;
}

void tour_after(struct app *a, const struct step_tour *was, enum step_verb verb)
{
    const struct step_tour *is = &a->step.tour;
    bool answered = is->verdict == STEP_RIGHT || is->verdict == STEP_REVEALED;
    if (!is->open) {
        a->tour.due = a->tour.due_then = false;
        a->tour.told = 0;
        return;
    }
    if (!was->open || was->stop != is->stop || verb == STEP_TOUR_TO ||
        verb == STEP_TOUR_AGAIN) {
        a->tour.due = a->tour.look = true;
        a->tour.as_is = false;
        a->tour.due_then = answered;
    } else if (answered && was->verdict != is->verdict) {
        a->tour.due_then = a->tour.look = true;
    }
}

static const char *name_of(const struct app *a)
{
    return a->tour.path[0] ? a->tour.path : tour_files[0].name;
}

/* The first of n lines with a figure that is not there; said with its number. */
static bool lacks(struct app *a, const struct tour_world *w,
                  const struct tour_command *list, int n)
{
    char part[80];
    for (int i = 0; i < n; i++) {
        if (!tour_lacks(w, list[i].text, part, sizeof part)) continue;
        (void)snprintf(a->message, sizeof a->message,
                       "%.200s:%d: %s: there is no such row, column or token here",
                       name_of(a), list[i].line, part);
        return true;
    }
    return false;
}

bool tour_look(struct app *a, const struct scene_source *src)
{
    const struct tour_stop *s = stop_of(a);
    const struct tour_world w = {&a->scene, &a->step, src};
    bool right = a->step.tour.verdict == STEP_RIGHT;
    if (!s || !a->tour.look || !src->fits || a->message[0]) return false;
    a->tour.look = false;
    if (!answerable(&w, s)) {
        (void)snprintf(a->message, sizeof a->message,
                       "%.200s:%d: answer %.80s: there is no such place here; skip the "
                       "question",
                       name_of(a), s->answer_line, s->answer);
        return true;
    }
    if (lacks(a, &w, s->figures, s->n_figures)) return true;
    return (right || a->step.tour.verdict == STEP_REVEALED) &&
           lacks(a, &w, s->after, s->n_after);
}

/* ---- a stop's commands ------------------------------------------------------------------ */

static void run(struct app *a, const struct tour_command *list, int n)
{
    const char *name = name_of(a);
    for (int i = 0; i < n; i++) {
        struct err e = {0};
        if (script_line(a, list[i].text, &e)) continue;
        (void)snprintf(a->message, sizeof a->message, "%.200s:%d: %.280s", name,
                       list[i].line, e.text);
        return;
    }
}

/* The teacher's part, line by line, without what would steer a terminal. */
static void print_note(const struct app *a, const struct tour_stop *s)
{
    (void)printf("%d/%d %s\n", a->step.tour.stop + 1, a->tour.tour.n, s->title);
    if (s->note[0]) (void)putchar('\t');
    for (const char *c = s->note; *c; c++) {
        (void)putchar(*c);
        if (*c == '\n') (void)putchar('\t');
    }
    if (s->note[0]) (void)putchar('\n');
    (void)fflush(stdout);
}

void tour_follow(struct app *a)
{
    const struct tour_stop *s = stop_of(a);
    struct tour_guide *g = &a->tour;
    if (!s || g->running) return;
    bool begin = g->due;
    bool then = g->due_then;
    g->due = g->due_then = false;
    g->running = true;
    if (begin) run(a, s->begin, s->n_begin);
    if (then) run(a, s->then, s->n_then);
    g->running = false;
    if (!g->notes || !a->step.presenter.on || g->told == a->step.tour.stop + 1) return;
    g->told = a->step.tour.stop + 1;
    print_note(a, s);
}

/* ---- its card --------------------------------------------------------------------------- */

/* What has been answered, and its figure. */
static const char *wrong_text(const struct tour_world *w, const struct tour_stop *s)
{
    const struct step_tour *t = &w->s->tour;
    struct step_ref ref = {.tensor = ATTN_TENSOR_COUNT, .row = t->row, .col = t->col};
    struct tour_judged j = judged(w, s, ref);
    struct scene *sc = w->sc;
    enum { DECIMALS = 2 };
    if (s->kind == ASK_CHOICE) return "That is not it.";
    if (s->kind == ASK_CELL)
        return scene_print(
            sc, "Row %d, column %d%s is not it.", t->row + 1, t->col + 1,
            isnan(j.given)
                ? ""
                : scene_print(sc, ", %s,", scene_number(sc, j.given, DECIMALS)));
    if (s->kind == ASK_ROW)
        return scene_print(sc, "Row %d, %s, is not it.", t->row + 1,
                           tour_token(w, t->row + 1));
    if (isnan(j.given))
        return scene_print(sc, "%s is not it.", tour_token(w, t->row + 1));
    return scene_print(sc, "%s has %s in row %d of %s. Another has %s.",
                       tour_token(w, t->row + 1), scene_number(sc, j.given, DECIMALS),
                       j.row, scene_tensor_name(j.tensor), j.least ? "less" : "more");
}

static const char *verdict_text(const struct tour_world *w, const struct tour_stop *s)
{
    const char *hint = NULL;
    switch (w->s->tour.verdict) {
    case STEP_WRONG:
        hint =
            s->hint[0] ? tour_fill(w, s->hint, NULL) : "Try again, or let it be shown.";
        return scene_print(w->sc, "%s %s", wrong_text(w, s), hint ? hint : "");
    case STEP_RIGHT:
        return "Right.";
    case STEP_REVEALED:
        return "This is it.";
    default:
        return "";
    }
}

static const char *filled(const struct tour_world *w, const char *text)
{
    const char *out = tour_fill(w, text, NULL);
    return out ? out : "";
}

/* Where the keys begin: in the row of a cell of which only the column is to be found. */
static int first_row(const struct tour_stop *s, struct step_ref right)
{
    const char *row = s->answer + strcspn(s->answer, " ");
    const char *found = strstr(row, " argm");
    return s->kind == ASK_CELL && found && found != row && right.row > 0 ? right.row : 0;
}

bool tour_show(const struct app *a, struct scene *sc, const struct scene_source *src,
               struct scene_tour *out)
{
    const struct tour_stop *s = stop_of(a);
    if (!s) return false;
    const struct tour_world w = {sc, &a->step, src};
    struct attn_dims d = step_place_of(&a->step)->dims;
    struct step_ref right = right_of(&w, s);
    bool answered =
        a->step.tour.verdict == STEP_RIGHT || a->step.tour.verdict == STEP_REVEALED;
    *out = (struct scene_tour){.title = filled(&w, s->title),
                               .say = filled(&w, s->say),
                               .ask = filled(&w, s->ask),
                               .show = answered ? filled(&w, s->show) : "",
                               .verdict = verdict_text(&w, s),
                               .kind = a->tour.running || !answerable(&w, s) ? ASK_NOTHING
                                                                             : s->kind,
                               .tensor = right.tensor,
                               .rows = d.n_tok,
                               .first = first_row(s, right),
                               .right_row = right.row,
                               .right_col = right.col};
    if (s->kind == ASK_CHOICE) out->rows = s->n_choice;
    for (int i = 0; i < s->n_choice; i++) out->choice[i] = filled(&w, s->choice[i]);
    struct attn_cmat m = s->kind == ASK_CELL ? scene_tensor_view(src, right.tensor)
                                             : (struct attn_cmat){.cols = out->rows};
    if (s->kind == ASK_CELL) out->rows = m.rows;
    out->cols = m.cols;
    return true;
}
