/* The tour under the keyboard and the pointer: what is answered, and the way on. */
#include "parts.h"

static struct step_action at_action(enum step_verb verb, int row, int col)
{
    return (struct step_action){
        .verb = verb, .ref = {.tensor = ATTN_TENSOR_COUNT, .row = row, .col = col}};
}

static int moved(int at, int by, int n)
{
    int to = at < 0 ? (by < 0 ? n - 1 : 0) : at + by;
    return to < 0 ? 0 : to >= n ? n - 1 : to;
}

bool ui_tour_asks(const struct scene *seen, const struct step_state *s)
{
    bool answered = s->tour.verdict == STEP_RIGHT || s->tour.verdict == STEP_REVEALED;
    return s->tour.open && seen->asked.kind != ASK_NOTHING && !answered;
}

/* Arrows choose a token, a row, a cell or a choice, and Enter answers. */
static bool answer_key(const struct ui_event *ev, const struct scene *seen,
                       const struct step_state *s, struct step_actions *out)
{
    const struct step_tour *t = &s->tour;
    int right = (ev->key == UI_KEY_RIGHT) - (ev->key == UI_KEY_LEFT);
    int down = (ev->key == UI_KEY_DOWN) - (ev->key == UI_KEY_UP);
    if (ev->key == UI_KEY_ENTER) {
        if (t->row < 0) return false;
        struct step_action pick = at_action(STEP_TOUR_PICK, t->row, t->col);
        step_push(out, pick);
        return true;
    }
    if (right == 0 && down == 0) return false;
    int rows = seen->asked.rows;
    int cols = seen->asked.cols;
    int row = moved(t->row, seen->asked.kind == ASK_CELL ? down : right + down, rows);
    int col = row;
    if (seen->asked.kind == ASK_CELL) {
        bool first = t->row < 0;
        row = first ? seen->asked.first : down ? moved(t->row, down, rows) : t->row;
        col = first ? 0 : right ? moved(t->col, right, cols) : t->col;
    }
    step_push(out, at_action(STEP_TOUR_AT, row, col));
    return true;
}

/* true: the key was the tour's. */
bool ui_tour_key(const struct ui_event *ev, const struct scene *seen,
                 const struct step_state *s, struct step_actions *out)
{
    if (!s->tour.open || step_is_covered(s) || s->help || ev->mods) return false;
    if (ev->key == UI_KEY_PAGE_DOWN || ev->key == UI_KEY_PAGE_UP) {
        step_push(out, ui_act(STEP_TOUR_BY, ev->key == UI_KEY_PAGE_DOWN ? 1 : -1));
        return true;
    }
    if (ui_tour_asks(seen, s)) return answer_key(ev, seen, s, out);
    bool on = ev->key == UI_KEY_ENTER || (ev->key == UI_KEY_RIGHT && !s->playing);
    if (!on && ev->key != UI_KEY_LEFT) return false;
    step_push(out, ui_act(STEP_TOUR_BY, on ? 1 : -1));
    return true;
}

/* What a click on a cell, or on a row's token, answers. */
bool ui_tour_click(const struct scene_at *at, const struct scene *seen,
                   const struct step_state *s, struct step_actions *out)
{
    const struct scene_hit *hit = &at->item->hit;
    if (!ui_tour_asks(seen, s) || seen->asked.kind == ASK_CHOICE) return false;
    struct step_action pick = at_action(STEP_TOUR_PICK, 0, 0);
    if (hit->kind == HIT_CELLS)
        pick.ref = at->cell;
    else if (hit->kind == HIT_ACTION && hit->action.verb == STEP_ROW)
        pick.ref.row = pick.ref.col = hit->action.i;
    else
        return false;
    step_push(out, pick);
    return true;
}
