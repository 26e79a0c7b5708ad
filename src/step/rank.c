/* How a row's sources are ranked, and from which weight on they are shown. */
#include "handlers.h"

const float step_leasts[STEP_LEASTS] = {0.0f, 0.001f, 0.01f, 0.05f, 0.1f};

bool do_rank(struct step_state *s, const struct step_action *a)
{
    int to = a->i == -1 ? STEP_RANK_CONTRIBUTION - (int)s->rank : a->i;
    if (to != STEP_RANK_WEIGHT && to != STEP_RANK_CONTRIBUTION) return false;
    s->rank = (enum step_rank)to;
    return true;
}

static int least_at(float x)
{
    for (int k = 0; k < STEP_LEASTS; k++)
        if (step_leasts[k] == x) return k;
    return -1;
}

bool do_least(struct step_state *s, const struct step_action *a)
{
    if (least_at(a->x) < 0) return false;
    s->least_weight = a->x;
    return true;
}

bool do_least_by(struct step_state *s, const struct step_action *a)
{
    if (a->i != 1 && a->i != -1) return false;
    int to = (least_at(s->least_weight) + a->i + STEP_LEASTS) % STEP_LEASTS;
    s->least_weight = step_leasts[to];
    return true;
}
