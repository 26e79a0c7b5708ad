/* Options of where a walk has led to: the token that is decoded, the operands that were
 * dived into, how far the code is scrolled. */
#include "cli_options.h"

#include "names.h"

#include <stdlib.h>
#include <string.h>

/* The row in view of a list of actions, from 0; -1: none is chosen. */
static int row_in(const struct step_actions *list)
{
    int row = -1;
    for (int i = 0; i < list->n; i++) {
        enum step_verb v = list->at[i].verb;
        if (v == STEP_ROW || v == STEP_ROW_ALSO || v == STEP_ROWS_AND)
            row = list->at[i].i;
    }
    return row;
}

/* Behind what is broken: where the mask is, nothing is decoded, and any row is in view. */
bool cli_decode_option(struct cli *c, const struct given *g, struct err *e)
{
    long long prefill = 0;
    if (!g->at[OPT_DECODE]) return true;
    if (!cli_whole(g, OPT_DECODE, 1, STEP_MODEL_TOKENS, "the prefill", &prefill, e))
        return false;
    struct step_action a = {.verb = STEP_DECODE, .i = (int)prefill};
    if (!cli_also(c, g, OPT_DECODE, a, "there are not so many tokens", e)) return false;
    const struct step_actions *asked = g->model ? &c->when_opened : &c->start;
    struct step_state s = step_initial();
    for (int i = 0; i < c->start.n; i++) (void)step_apply(&s, c->start.at[i]);
    for (int i = 0; i < c->when_opened.n; i++) (void)step_apply(&s, c->when_opened.at[i]);
    int row = row_in(asked);
    bool inside = row >= 0 && row < prefill - 1;
    if (!s.opts.causal || s.opts.shifted) return true;
    if (g->at[OPT_ROW] && strpbrk(g->at[OPT_ROW], ",-"))
        return err_set(e, ERR_USAGE,
                       "--row %s: --decode shows one token at a time; give one row",
                       g->at[OPT_ROW]);
    if (!inside) return true;
    return err_set(
        e, ERR_USAGE,
        "--row %d: is inside the prefill of --decode %lld, whose last row stands "
        "for it; give row %lld or a later one",
        row + 1, prefill, prefill);
}

/* "5,s_raw:4:2,q:4:4": the stage in which the pinned cell was, and each operand's cell. It
 * leads to a finished stage; where time goes on, it is told so again. */
bool cli_dive_option(struct cli *c, const struct given *g, struct err *e)
{
    static const char is[] = "a dive is STAGE,CELL[,CELL]...: the stage in which the "
                             "cell was pinned, and up to "
                             "12 operands on the way, like 5,s_masked:4:2";
    enum { ROOM = 64 };
    const char *at = g->at[OPT_DIVE];
    if (!at) return true;
    if (!g->at[OPT_PIN])
        return err_set(e, ERR_USAGE,
                       "--dive %s: starts at a pinned cell; add --pin M:I:J", at);
    int stage = at[0] - '0';
    if (stage < 1 || stage > ATTN_STAGE_COUNT || at[1] != ',')
        return err_set(e, ERR_USAGE, "--dive %s: %s", g->at[OPT_DIVE], is);
    for (at++; *at == ',';) {
        char cell[ROOM] = "";
        size_t n = strcspn(++at, ",");
        struct step_action a = {.verb = STEP_DIVE, .i = stage};
        if (n < ROOM) memcpy(cell, at, n);
        if (n >= ROOM || !names_parse_cell(cell, &a.ref, NULL))
            return err_set(e, ERR_USAGE, "--dive %s: %s", g->at[OPT_DIVE], is);
        if (!cli_also(c, g, OPT_DIVE, a, is, e)) return false;
        at += n;
    }
    const char *t = g->at[OPT_TIME]; /* a number: it has been read */
    struct step_action time = {.verb = STEP_SCRUB, .x = t ? (float)strtod(t, NULL) : 1};
    struct step_action play = {.verb = STEP_PLAY, .i = 1};
    return (!t || cli_also(c, g, OPT_TIME, time, "", e)) &&
           (!g->at[OPT_PLAY] || cli_also(c, g, OPT_PLAY, play, "", e));
}

bool cli_scroll_option(struct cli *c, const struct given *g, struct err *e)
{
    long long lines = 0;
    if (!g->at[OPT_CODE_SCROLL]) return true;
    if (!g->at[OPT_CODE])
        return err_set(e, ERR_USAGE, "--code-scroll %s: is of the code; add --code c",
                       g->at[OPT_CODE_SCROLL]);
    if (!cli_whole(g, OPT_CODE_SCROLL, -STEP_SCROLL_MOST, STEP_SCROLL_MOST,
                   "the number of lines", &lines, e))
        return false;
    cli_push(c, STEP_CODE_BY, (int)lines, 0.0f);
    return true;
}
