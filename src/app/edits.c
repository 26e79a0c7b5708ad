/* Numbers given by hand, to and from text. */
#include "edits.h"

#include "cli_options.h"
#include "names.h"

#include <stdio.h>
#include <string.h>

static const char form[] = "an edit is MATRIX ROW COLUMN NUMBER, counted from 1, such as "
                           "\u201CQ 3 2 0.5\u201D";

static bool find_tensor(const char *name, size_t n, enum attn_tensor *t)
{
    bool one = n == 1;
    if (one && (*name == 'S' || *name == 's'))
        *t = ATTN_S_RAW;
    else if (one && (*name == 'A' || *name == 'a'))
        *t = ATTN_P;
    else
        return names_find_tensor(name, n, t);
    return true;
}

/* The next word at *text, which moves on; its length, 0: there is none. */
static size_t word(const char **text, const char **at)
{
    *text += strspn(*text, " \t");
    *at = *text;
    size_t n = strcspn(*text, " \t");
    *text += n;
    return n;
}

/* A count from 1, n bytes of it, as one from 0. */
static bool count(const char *at, size_t n, int *out)
{
    enum { DIGITS = 7 }; /* no matrix has more rows or columns */
    int v = 0;
    if (n == 0 || n > DIGITS) return false;
    for (size_t i = 0; i < n; i++) {
        if (at[i] < '0' || at[i] > '9') return false;
        v = v * 10 + (at[i] - '0');
    }
    *out = v - 1;
    return v > 0;
}

static bool bad_number(enum step_wrong w, const char *at, size_t n, struct err *e)
{
    int k = (int)(n < 40 ? n : 40);
    return err_set(e, ERR_USAGE, "%.*s: is %s", k, at,
                   w == STEP_WRONG_NAN     ? "no finite number"
                   : w == STEP_WRONG_LARGE ? "beyond float32, which ends at 3.4e38"
                   : w == STEP_WRONG_SMALL ? "nearer to 0 than float32 goes; write 0"
                                           : "no number");
}

bool edits_parse(const char *text, struct step_action *out, struct err *e)
{
    struct step_action a = {.verb = STEP_GIVE, .i = -1};
    const char *rest = text;
    const char *at = NULL;
    size_t n = word(&rest, &at);
    const char *dot = memchr(at, '.', n);
    size_t name = dot ? (size_t)(dot - at) : n;
    if (!find_tensor(at, name, &a.ref.tensor) ||
        (dot && !count(dot + 1, n - name - 1, &a.i)) ||
        (dot && !step_tensor_has_heads(a.ref.tensor)))
        return err_set(e, ERR_USAGE,
                       "%s; matrices are X, h, w_q, w_k, w_v, w_o, Q, K, V, "
                       "S, s_scaled, s_masked, A; Q.2 is head 2\u2019s",
                       form);
    for (int k = 0; k < 2; k++) {
        n = word(&rest, &at);
        if (!count(at, n, k ? &a.ref.col : &a.ref.row))
            return err_set(e, ERR_USAGE, "%s", form);
    }
    n = word(&rest, &at);
    if (n == strlen("computed") && strncmp(at, "computed", n) == 0) {
        a.verb = STEP_UNGIVE;
    } else {
        enum step_wrong w = step_number_of(at, (int)n, &a.x);
        if (w && n > 0) return bad_number(w, at, n, e);
        if (w) return err_set(e, ERR_USAGE, "%s", form);
    }
    if (word(&rest, &at) > 0) return err_set(e, ERR_USAGE, "%s", form);
    *out = a;
    return true;
}

void edits_print(char *out, size_t room, const struct attn_edit *edit)
{
    char head[16] = "";
    if (step_tensor_has_heads(edit->tensor))
        (void)snprintf(head, sizeof head, ".%d", edit->head + 1);
    (void)snprintf(out, room, "%s%s %d %d %.9g", names_tensor[edit->tensor], head,
                   edit->row + 1, edit->col + 1, (double)edit->value);
}

bool edits_refusal(const struct step_state *s, struct step_action a, struct err *e)
{
    const char *name = names_tensor[a.ref.tensor];
    const struct attn_dims d = step_place_of(s)->dims;
    enum step_wrong w = step_can_give(s, a.ref);
    if (w == STEP_WRONG_MATRIX)
        return err_set(
            e, ERR_USAGE,
            s->scale == STEP_TOY
                ? "%s: follows from other matrices; edit X, h, W, Q, K, V, S or A"
                : "%s: at GPT-2\u2019s scale X and h can be edited",
            name);
    if (w == STEP_WRONG_HIDDEN)
        return err_set(e, ERR_USAGE,
                       "%s: the mask hides row %d, column %d: nothing reads it", name,
                       a.ref.row + 1, a.ref.col + 1);
    if (w == STEP_WRONG_CELL)
        return err_set(e, ERR_USAGE, "%s: has no row %d, column %d", name, a.ref.row + 1,
                       a.ref.col + 1);
    if (a.i >= d.n_head)
        return err_set(e, ERR_USAGE, "%s.%d: there are %d heads", name, a.i + 1,
                       d.n_head);
    if (a.verb == STEP_UNGIVE)
        return err_set(e, ERR_USAGE, "%s: row %d, column %d is not edited", name,
                       a.ref.row + 1, a.ref.col + 1);
    return err_set(e, ERR_USAGE, "%s: %d numbers are edited, and no more can be", name,
                   STEP_GIVEN_MOST);
}

/* ---- the command line ------------------------------------------------------------------ */

bool cli_edit_options(struct cli *c, const struct given *g, struct err *e)
{
    struct step_state s = step_initial();
    if (g->n_edit > 0 && c->with)
        return err_set(e, ERR_USAGE,
                       "--edit %s: --with compares two dumps as they are; leave one out",
                       g->edit[0]);
    for (int i = 0; i < c->start.n; i++) (void)step_apply(&s, c->start.at[i]);
    for (int i = 0; i < g->n_edit; i++) {
        struct step_action a = {.verb = STEP_NONE};
        char where[96];
        (void)snprintf(where, sizeof where, "--edit %.80s", g->edit[i]);
        if (!edits_parse(g->edit[i], &a, e)) return err_at(e, where);
        if (a.verb != STEP_GIVE)
            return err_set(e, ERR_USAGE, "%s: nothing is edited yet", where);
        if (!g->model && !step_apply(&s, a) && !edits_refusal(&s, a, e))
            return err_at(e, where);
        step_push(g->model ? &c->when_opened : &c->start, a);
    }
    bool broken = g->model ? g->n_edit > 0 || g->at[OPT_BREAK] || g->at[OPT_OFF]
                           : step_is_broken(&s);
    if (g->at[OPT_SEE] && s.see != STEP_SEE_BROKEN && !broken && !g->at[OPT_SCRIPT])
        return err_set(e, ERR_USAGE,
                       "--see %s: nothing is broken; add --break, --edit or --off",
                       g->at[OPT_SEE]);
    return true;
}
