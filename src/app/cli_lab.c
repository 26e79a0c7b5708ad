/* The option of the labs. */
#include "cli_options.h"

#include "lab_words.h"

bool cli_lab_option(struct cli *c, const struct given *g, struct err *e)
{
    struct step_actions list = {.n = 0};
    bool matrix = c->out.part == EXPORT_MATRIX || c->out.part == EXPORT_HEADS;
    if (!g->at[OPT_LAB]) return true;
    if (g->at[OPT_OVERVIEW] || g->at[OPT_PLAY] || matrix)
        return err_set(e, ERR_USAGE,
                       "--lab %s: stands in the stage\u2019s place; leave %s out",
                       g->at[OPT_LAB],
                       g->at[OPT_OVERVIEW] ? "--overview"
                       : g->at[OPT_PLAY]   ? "--play"
                                           : "--part");
    if (!lab_parse(&list, g->at[OPT_LAB], e)) return false;
    if (g->at[OPT_SWITCHES]) /* which it has closed */
        step_push(&list, (struct step_action){.verb = STEP_SWITCHES});
    for (int i = 0; i < list.n; i++)
        if (!cli_also(c, g, OPT_LAB, list.at[i], "there is no such choice", e))
            return false;
    return true;
}
