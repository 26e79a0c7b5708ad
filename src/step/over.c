/* The overview: every block and head at a glance. */
#include "handlers.h"

static int head_count(const struct step_place *p)
{
    return (p->n_block > 1 ? p->n_block : 1) * p->dims.n_head;
}

/* The overview is of another place now: it begins at the head that is shown there. */
void over_here(struct step_state *s)
{
    const struct step_place *p = step_here(s);
    s->over.at = p->block * p->dims.n_head + p->head;
    s->over.view = step_fitted;
    s->over.menu = false;
}

bool do_overview(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->over.open = !s->over.open;
    s->lab.open = false;
    s->playing = s->run_on = false; /* nothing plays unseen */
    s->dwell = 0.0f;
    s->hover = step_no_ref();
    over_here(s);
    return true;
}

bool do_over_kind(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_OVER_KIND_COUNT) return false;
    s->over.kind = (enum step_over_kind)a->i;
    return true;
}

bool do_over_sort(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_SORT_COUNT) return false;
    s->over.sort = (enum step_over_sort)a->i;
    s->over.menu = false;
    return true;
}

bool do_over_menu(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (!s->over.open) return false;
    s->over.menu = !s->over.menu;
    return true;
}

bool do_over_at(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= head_count(step_here(s))) return false;
    s->over.at = a->i;
    return true;
}

bool do_over_open(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (a->i < 0 || a->i >= head_count(p)) return false;
    pair_other(p, a->i % p->dims.n_head);
    if (step_is_loaded(p)) p->block = a->i / p->dims.n_head;
    s->over.open = false;
    return true;
}
