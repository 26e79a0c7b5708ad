/* dialog: the export dialog's deeds. It is the line editor with a file's name. */
#ifndef HEADLIGHT_DIALOG_H
#define HEADLIGHT_DIALOG_H

#include "app.h"

/* The name that the dialog begins with: the last one used. */
void dialog_begin(struct app *a);
/* What is wrong with the name as it is now. */
void dialog_look(struct app *a);
/* Another ending for the name. */
void dialog_format(struct app *a, enum step_out_format format);
/* Writes the picture, or begins the film. false: it cannot be, *e says why; or the file is
 * there already, and Enter has to be pressed once more. */
bool dialog_done(struct app *a, struct err *e);

/* The next piece of the film that is being made. */
void dialog_film(struct app *a);
/* true: there was one, and nothing is left of it. */
bool dialog_cancel(struct app *a);

#endif
