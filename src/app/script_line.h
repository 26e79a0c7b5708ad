/* script: its lines, and what they expect. */
#ifndef HEADLIGHT_SCRIPT_LINE_H
#define HEADLIGHT_SCRIPT_LINE_H

#include "app.h"

enum { SCRIPT_WORDS = 6 };

struct line {
    char *word[SCRIPT_WORDS];
    bool quoted[SCRIPT_WORDS];
    int n;
};

/* A finite number and nothing else. ERR_USAGE. */
bool script_number(const char *text, double *out, struct err *e);

/* expect NAME VALUE. ERR_INPUT: something else was found; ERR_USAGE: no such name. */
bool script_expect(struct app *a, const struct line *l, struct err *e);

/* set NAME VALUE; the check is of the words alone. ERR_USAGE; ERR_INPUT: it cannot be. */
bool script_set(struct app *a, const struct line *l, struct err *e);
bool script_set_check(const struct line *l, struct err *e);
bool script_tour(struct app *a, const struct line *l, struct err *e);
bool script_present(struct app *a, const struct line *l, struct err *e);

#endif
