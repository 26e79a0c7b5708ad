/* Two heads looked at together. */
#include "handlers.h"

static bool has_scores(enum attn_stage stage)
{
    return stage >= ATTN_SCORES && stage <= ATTN_SOFTMAX;
}

bool step_is_paired(const struct step_state *s)
{
    return step_second(s) >= 0 && has_scores(s->stage) && !s->over.open;
}

int step_second(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    return s->pair == STEP_PAIR_NONE || p->dims.n_head < 2 ? -1 : p->second;
}

void pair_other(struct step_place *p, int head)
{
    if (p->second == head) p->second = p->head;
    p->head = head;
}

/* Begun where there are scores to be seen; ended anywhere. */
bool do_pair(struct step_state *s, const struct step_action *a)
{
    int to = a->i == -1 ? ((int)s->pair + 1) % STEP_PAIR_COUNT : a->i;
    bool can =
        has_scores(s->stage) && !step_is_covered(s) && step_here(s)->dims.n_head > 1;
    if (to < 0 || to >= STEP_PAIR_COUNT || (to != STEP_PAIR_NONE && !can)) return false;
    s->pair = (enum step_pair)to;
    return true;
}

bool do_second(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    struct step_action beside = {.i = STEP_PAIR_BESIDE};
    if (a->i < 0 || a->i >= p->dims.n_head || a->i == p->head) return false;
    if (!step_is_paired(s) && !do_pair(s, &beside)) return false;
    p->second = a->i;
    return true;
}

/* Past the head in view; the ends hold. */
bool do_second_by(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if ((a->i != 1 && a->i != -1) || !step_is_paired(s)) return false;
    struct step_action to = {.i = p->second + a->i};
    if (to.i == p->head) to.i += a->i;
    return do_second(s, &to);
}
