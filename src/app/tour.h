/* tour: the guided tour while the program runs: its text, a stop's commands, what an answer
 * is worth, and what its card says of the numbers in view. */
#ifndef HEADLIGHT_TOUR_H
#define HEADLIGHT_TOUR_H

#include "tour_file.h"

struct app;

struct tour_guide {
    struct tour tour;
    char path[FILE_PATH]; /* "": the one in the program */
    bool due, due_then;   /* the stop's commands are to be run; those behind its answer */
    bool running;         /* they are */
    bool look;            /* whether the numbers have what its words ask for */
    bool as_is;           /* what the stop shows is not its commands' */
    bool notes;           /* for the terminal in presenter mode */
    int told;             /* stop whose note has been printed, from 1 */
};

/* The tour of a file, NULL: the program's own. false: ERR_INPUT, the former one stays. */
bool tour_load(struct tour_guide *g, const char *path, struct err *e);
void tour_unload(struct tour_guide *g); /* a zeroed one is fine */

/* Fills in what an action leaves to us. false: it is not to be applied. */
bool tour_before(struct app *a, struct step_action *action);
/* What follows from it; was: the state's tour before it. */
void tour_after(struct app *a, const struct step_tour *was, enum step_verb verb);
/* Runs what is due. What a command lacks is said in the message bar. */
void tour_follow(struct app *a);
/* Says in the message bar, by its line, what the stop asks of src that is not there. true:
 * it has. */
bool tour_look(struct app *a, const struct scene_source *src);
/* The card's words, on sc's memory. false: the tour is closed. */
bool tour_show(const struct app *a, struct scene *sc, const struct scene_source *src,
               struct scene_tour *out);

#endif
