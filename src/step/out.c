/* What is asked of an export, beside the file's name, which is app's. */
#include "handlers.h"

bool do_out_part(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_OUT_PART_COUNT) return false;
    s->out.part = (enum step_out_part)a->i;
    return true;
}

bool do_out_size(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_OUT_SIZE_COUNT) return false;
    s->out.size = (enum step_out_size)a->i;
    return true;
}

bool do_out_clear(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i > 1) return false;
    s->out.transparent = a->i == 1;
    return true;
}

bool do_out_all(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i > 1) return false;
    s->out.all = a->i == 1;
    return true;
}

/* Changes the ending of the file's name. */
bool do_out_format(struct step_state *s, const struct step_action *a)
{
    return s->editing == STEP_EDIT_EXPORT && a->i >= 0 && a->i < STEP_OUT_FORMAT_COUNT;
}
