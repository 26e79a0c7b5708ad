/* tour_file: a guided tour as a text that a teacher can edit; assets/tour.txt says how at
 * its top. Read whole or not at all. */
#ifndef HEADLIGHT_TOUR_FILE_H
#define HEADLIGHT_TOUR_FILE_H

#include "base.h"
#include "scene.h"
#include "step.h"

enum {
    TOUR_COMMANDS = 12,
    TOUR_FIGURES = 24,
    TOUR_TITLE = 48,
    TOUR_TEXT = 420,
    TOUR_CHOICE = 60
};

/* A command of a script, and its line for errors. */
struct tour_command {
    const char *text;
    int line;
};

struct tour_stop {
    const char *title, *say, *ask, *hint, *show, *note; /* "": none */
    struct tour_command begin[TOUR_COMMANDS], then[TOUR_COMMANDS];
    int n_begin, n_then;
    /* Lines with {...}: what they lack is found out when the stop is shown; of show, when
     * it is answered. */
    struct tour_command figures[TOUR_FIGURES], after[TOUR_FIGURES];
    int n_figures, n_after;
    enum scene_ask kind;
    /* TOKEN, ROW: an index; CELL: a matrix and two of them. See tour_words.h. */
    const char *answer;
    const char *choice[SCENE_CHOICES];
    int n_choice, right; /* counted from 0 */
    int line;            /* where it begins */
    int answer_line;     /* of the answer */
};

struct tour {
    struct tour_stop stop[STEP_STOPS_MOST];
    int n;
    struct arena mem; /* the texts */
};

/* Starts *t anew from the n bytes at text; name stands in errors, "NAME:LINE: what is
 * wrong; what to do". false: ERR_INPUT, *t is empty. */
bool tour_parse(struct tour *t, const char *name, const char *text, size_t n,
                struct err *e);
bool tour_read(struct tour *t, const char *path, struct err *e);
void tour_free(struct tour *t); /* a zeroed one is fine */

#endif
