/* Where a number came from: diving into its operands, and climbing out again. */
#include "handlers.h"

enum attn_stage step_home_of(enum attn_tensor t)
{
    static const enum attn_stage home[ATTN_TENSOR_COUNT] = {
        [ATTN_H] = ATTN_PROJECTIONS,   [ATTN_X] = ATTN_PROJECTIONS,
        [ATTN_W_Q] = ATTN_PROJECTIONS, [ATTN_W_K] = ATTN_PROJECTIONS,
        [ATTN_W_V] = ATTN_PROJECTIONS, [ATTN_Q] = ATTN_PROJECTIONS,
        [ATTN_K] = ATTN_PROJECTIONS,   [ATTN_V] = ATTN_PROJECTIONS,
        [ATTN_S_RAW] = ATTN_SCORES,    [ATTN_S_SCALED] = ATTN_SCALE,
        [ATTN_S_MASKED] = ATTN_MASK,   [ATTN_P] = ATTN_SOFTMAX,
        [ATTN_Z] = ATTN_WEIGHTED_SUM,  [ATTN_Z_ALL] = ATTN_OUTPUT,
        [ATTN_W_O] = ATTN_OUTPUT,      [ATTN_Y_PROJ] = ATTN_OUTPUT,
        [ATTN_Y] = ATTN_OUTPUT,
    };
    return home[t];
}

struct step_ref step_cell_of(const struct step_state *s)
{
    return s->dive.n > 0 ? s->dive.at[s->dive.n - 1] : step_place_of(s)->pin;
}

/* The finished stage in which a cell of t is a result; h stays where it is read. */
static void look_at(struct step_state *s, enum attn_tensor t)
{
    bool there = t == ATTN_H && s->stage == ATTN_OUTPUT;
    s->stage = there ? s->stage : step_home_of(t);
    s->time = 1.0f;
    s->hover = step_no_ref();
    play_stop(s);
}

bool do_dive(struct step_state *s, const struct step_action *a)
{
    const struct step_place *p = step_here(s);
    if (p->pin.tensor == ATTN_TENSOR_COUNT || s->dive.n == STEP_DIVE_MOST ||
        !step_exists(a->ref, p->dims) || step_ref_is(a->ref, step_cell_of(s)) ||
        a->i < 0 || a->i > ATTN_STAGE_COUNT)
        return false;
    if (s->dive.n == 0) s->dive.from = a->i ? (enum attn_stage)(a->i - 1) : s->stage;
    s->dive.at[s->dive.n++] = a->ref;
    look_at(s, a->ref.tensor);
    return true;
}

bool do_climb(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= s->dive.n) return false;
    enum attn_stage from = s->dive.from;
    while (s->dive.n > a->i) s->dive.at[--s->dive.n] = (struct step_ref){0};
    look_at(s, step_cell_of(s).tensor);
    if (s->dive.n > 0) return true;
    s->stage = from;
    s->dive.from = 0;
    return true;
}

bool do_terms(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->by_place = !s->by_place;
    return true;
}
