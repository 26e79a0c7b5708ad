/* Values of options: numbers, and one of several names. */
#include "cli_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole decimal number and nothing else. */
bool cli_whole_number(const char *text, long long *out)
{
    char *end = NULL;
    if (strspn(text, "+-0123456789") != strlen(text)) return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* Option o, if given, into *out; what names it in the error. */
bool cli_whole(const struct given *g, enum option o, long long lo, long long hi,
               const char *what, long long *out, struct err *e)
{
    long long v = 0;
    if (!g->at[o]) return true;
    if (!cli_whole_number(g->at[o], &v) || v < lo || v > hi)
        return err_set(e, ERR_USAGE, "%s %s: %s is a whole number from %lld to %lld",
                       cli_option_names[o], g->at[o], what, lo, hi);
    *out = v;
    return true;
}

bool cli_one_of_many(const struct given *g, enum option o, const char *const *names,
                     int n, int *out, struct err *e)
{
    char all[256] = "";
    size_t at = 0;
    if (!g->at[o]) return true;
    for (int i = 0; i < n; i++) {
        if (strcmp(g->at[o], names[i]) != 0) continue;
        *out = i;
        return true;
    }
    for (int i = 0; i < n && at < sizeof all; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s",
                               i == 0      ? ""
                               : i + 1 < n ? ", "
                                           : " or ",
                               names[i]);
    return err_set(e, ERR_USAGE, "%s %s: is %s%s", cli_option_names[o], g->at[o],
                   n == 2 ? "either " : "", all);
}

bool cli_one_of(const struct given *g, enum option o, const char *const names[2],
                int *out, struct err *e)
{
    return cli_one_of_many(g, o, names, 2, out, e);
}

/* A decimal number and nothing else. */
bool cli_number(const char *text, size_t n, double *out)
{
    enum { ROOM = 64 };
    char digits[ROOM];
    char *end = NULL;
    if (n == 0 || n >= ROOM || strspn(text, "+-.0123456789eE") < n) return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    *out = strtod(digits, &end);
    return *end == '\0' && end != digits && isfinite(*out);
}

void cli_push(struct cli *c, enum step_verb verb, int i, float x)
{
    step_push(&c->start, (struct step_action){.verb = verb, .i = i, .x = x});
}

/* What is to be done to the state in which everything so far has been done. A model's is
 * not known yet: it refuses what it cannot do when it is open. */
bool cli_also(struct cli *c, const struct given *g, enum option o, struct step_action a,
              const char *is, struct err *e)
{
    if (g->model) {
        step_push(&c->when_opened, a);
        return true;
    }
    struct step_state s = step_initial();
    for (int i = 0; i < c->start.n; i++) (void)step_apply(&s, c->start.at[i]);
    if (!step_apply(&s, a))
        return err_set(e, ERR_USAGE, "%s %s: %s", cli_option_names[o], g->at[o], is);
    step_push(&c->start, a);
    return true;
}
