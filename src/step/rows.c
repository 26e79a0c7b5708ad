/* Which rows are selected: the one in view, and more beside it. */
#include "handlers.h"

#include <string.h>

static bool is_kept(const struct step_place *p, int i)
{
    return (p->more[i / 32] >> (i % 32) & 1u) != 0;
}

static void keep(struct step_place *p, int i, bool on)
{
    uint32_t bit = 1u << (i % 32);
    p->more[i / 32] = on ? p->more[i / 32] | bit : p->more[i / 32] & ~bit;
}

bool step_row_is_on(const struct step_place *p, int i)
{
    return i == p->row || is_kept(p, i);
}

int step_row_count(const struct step_place *p)
{
    int n = 0;
    for (int i = 0; i < p->dims.n_tok; i++) n += step_row_is_on(p, i);
    return n;
}

bool step_row_run(const struct step_place *p, int *from, int *to)
{
    int i = *to;
    while (i < p->dims.n_tok && !step_row_is_on(p, i)) i++;
    *from = i;
    while (i < p->dims.n_tok && step_row_is_on(p, i)) i++;
    *to = i;
    return *from < *to;
}

void rows_one(struct step_place *p, int row)
{
    memset(p->more, 0, sizeof p->more);
    p->row = p->anchor = row;
}

void rows_cut(struct step_place *p)
{
    int n = p->dims.n_tok;
    for (int i = n; i < STEP_MODEL_TOKENS; i++) keep(p, i, false);
    if (p->row >= n) p->row = n - 1;
    if (p->anchor >= n) p->anchor = n - 1;
}

/* Several rows are looked at through the stages alone, and no cell is pinned beside them. */
static bool can_select(const struct step_state *s, int row)
{
    return !step_is_covered(s) && row >= 0 && row < step_place_of(s)->dims.n_tok;
}

/* One row alone is no selection to be kept. */
static void settle(struct step_place *p)
{
    if (step_row_count(p) == 1) memset(p->more, 0, sizeof p->more);
    p->pin = step_no_ref();
}

static void select_to(struct step_place *p, int row)
{
    int from = p->anchor < row ? p->anchor : row, to = p->anchor < row ? row : p->anchor;
    for (int i = from; i <= to; i++) keep(p, i, true);
    p->row = row;
    settle(p);
}

bool do_rows_to(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (!can_select(s, a->i)) return false;
    memset(p->more, 0, sizeof p->more);
    select_to(p, a->i);
    return true;
}

bool do_rows_and(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (!can_select(s, a->i)) return false;
    keep(p, p->row, true);
    select_to(p, a->i);
    return true;
}

bool do_rows_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    struct step_action to = {.i = step_here(s)->row + a->i};
    return do_rows_to(s, &to);
}

/* The selected row nearest to i, i itself apart; -1: there is none. */
static int nearest(const struct step_place *p, int i)
{
    for (int by = 1; by < p->dims.n_tok; by++) {
        if (i - by >= 0 && step_row_is_on(p, i - by)) return i - by;
        if (i + by < p->dims.n_tok && step_row_is_on(p, i + by)) return i + by;
    }
    return -1;
}

bool do_row_also(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (!can_select(s, a->i)) return false;
    int other = nearest(p, a->i);
    if (a->i == p->row && other < 0) return false; /* one row always is */
    if (step_row_is_on(p, a->i)) {
        if (a->i == p->row) p->row = other;
        keep(p, a->i, false);
    } else {
        keep(p, p->row, true);
        keep(p, a->i, true);
        p->row = a->i;
    }
    p->anchor = p->row;
    settle(p);
    return true;
}

bool do_row_walk(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if ((a->i != 1 && a->i != -1) || !can_select(s, p->row + a->i)) return false;
    p->row = p->anchor = p->row + a->i;
    p->pin = step_no_ref();
    return true;
}

bool do_row_keep(struct step_state *s, const struct step_action *a)
{
    (void)a;
    struct step_place *p = step_here(s);
    if (!can_select(s, p->row)) return false;
    keep(p, p->row, !is_kept(p, p->row));
    return true;
}
