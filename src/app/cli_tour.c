/* The command line's guided tour and presenter mode. */
#include "cli_options.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

/* "right:3:2": what has been answered, and where; 0:0: nothing yet. */
static bool answer_option(struct cli *c, const struct given *g, struct err *e)
{
    const char *text = g->at[OPT_ANSWER];
    if (!text) return true;
    if (!g->at[OPT_STOP])
        return err_set(e, ERR_USAGE, "--answer %s: is of a stop; add --stop K", text);
    size_t n = strcspn(text, ":");
    for (int v = 0; v < STEP_VERDICT_COUNT; v++) {
        char want[64];
        int at[2] = {0, 0};
        if (strlen(state_verdicts[v]) != n || strncmp(text, state_verdicts[v], n) != 0)
            continue;
        /* NOLINTNEXTLINE(cert-err34-c): printed again below, which finds what is too large */
        if (text[n] && sscanf(text + n, ":%6d:%6d", &at[0], &at[1]) != 2) break;
        (void)snprintf(want, sizeof want, ":%d:%d", at[0], at[1]);
        if ((text[n] && strcmp(text + n, want) != 0) || at[0] < 0 || at[1] < 0) break;
        enum step_verb verb = v == STEP_UNANSWERED ? STEP_TOUR_AT : STEP_TOUR_PICK;
        c->answer = (struct step_action){
            .verb = verb, .i = v, .ref = {ATTN_TENSOR_COUNT, at[0] - 1, at[1] - 1}};
        c->answer_given = true;
        return true;
    }
    return err_set(e, ERR_USAGE,
                   "--answer %s: is none, wrong, right or shown, and where: right:3:2",
                   text);
}

/* "1:right,4:shown": the stops that have been answered. */
static bool answered_option(struct cli *c, const struct given *g, struct err *e)
{
    const char *at = g->at[OPT_ANSWERED];
    if (at && !g->at[OPT_STOP])
        return err_set(e, ERR_USAGE, "--answered %s: is of a tour; add --stop K", at);
    while (at && *at) {
        char number[4] = "";
        long long stop = 0;
        size_t n = strspn(at, "0123456789");
        if (n < sizeof number) memcpy(number, at, n);
        int v = STEP_RIGHT;
        size_t len = at[n] == ':' ? strcspn(at + n + 1, ",") : 0;
        while (v < STEP_VERDICT_COUNT &&
               (strlen(state_verdicts[v]) != len ||
                strncmp(at + n + 1, state_verdicts[v], len) != 0))
            v++;
        if (!cli_whole_number(number, &stop) || stop < 1 || stop > STEP_STOPS_MOST ||
            v == STEP_VERDICT_COUNT)
            break;
        cli_push(c, STEP_TOUR_ANSWERED, (int)stop - 1, (float)v);
        at += n + 1 + len;
        if (*at == ',' && at[1]) at++;
    }
    return !at || !*at ||
           err_set(e, ERR_USAGE,
                   "--answered %s: is a stop and right or shown, as 1:right,4:shown",
                   g->at[OPT_ANSWERED]);
}

bool cli_tour_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const presenters[2] = {"on", "blank"};
    long long stop = 0;
    int presenter = 0;
    c->tour = g->at[OPT_TOUR];
    if (!cli_whole(g, OPT_STOP, 1, STEP_STOPS_MOST, "a stop", &stop, e) ||
        !answer_option(c, g, e) || !answered_option(c, g, e) ||
        !cli_one_of(g, OPT_PRESENTER, presenters, &presenter, e))
        return false;
    c->stop = (int)stop;
    if (c->tour && stop == 0) c->stop = 1;
    if (g->at[OPT_PRESENTER]) cli_push(c, STEP_PRESENT, 0, 0.0f);
    if (presenter == 1) cli_push(c, STEP_BLANK, 0, 0.0f);
    return true;
}
