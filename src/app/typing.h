/* typing: the editor's side of the program, while step.editing. */
#ifndef HEADLIGHT_TYPING_H
#define HEADLIGHT_TYPING_H

#include "app.h"

/* What goes with the letters as they are now: the count of tokens, or why there is none;
 * of a path, what lies there. */
void typing_look(struct app *a);
/* The editor opens and closes with the state. */
void typing_follow(struct app *a);
/* Reads the text or opens the path; where that cannot be, the editor stays and says why. */
void typing_end(struct app *a);
/* The i-th of what lies there. */
void typing_pick(struct app *a, int i);
/* What was chosen in the file chooser is opened, where a path is still asked for. */
void typing_take_chosen(struct app *a);
/* true: the event was the editor's and not the program's. */
bool typing_event(struct app *a, const struct ui_event *ev);

#endif
