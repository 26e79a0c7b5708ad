/* What is read beside the picture: the code drawer and the card of reasons. */
#include "handlers.h"

bool do_code(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->code.open = !s->code.open || s->lab.open; /* which hides it */
    s->lab.open = false;
    s->code.last = s->code.open;
    s->code.scroll = 0;
    return true;
}

bool do_code_tab(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_CODE_TAB_COUNT) return false;
    s->code.tab = (enum step_code_tab)a->i;
    s->code.scroll = 0;
    return true;
}

bool do_code_by(struct step_state *s, const struct step_action *a)
{
    if (!s->code.open || a->i < -STEP_SCROLL_MOST || a->i > STEP_SCROLL_MOST)
        return false;
    int to = s->code.scroll + a->i;
    if (to < -STEP_SCROLL_MOST || to > STEP_SCROLL_MOST) return false;
    s->code.scroll = to;
    return true;
}

bool do_why(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->why = !s->why || s->lab.open; /* which hides it */
    s->lab.open = false;
    return true;
}

bool do_link(struct step_state *s, const struct step_action *a)
{
    return a->i >= 0 && s->why;
}
