/* clipboard: what is copied from the window, and what the message bar says of it. */
#ifndef HEADLIGHT_CLIPBOARD_H
#define HEADLIGHT_CLIPBOARD_H

#include "app.h"

/* Copies it; the message bar says what, or why not. */
void app_copy(struct app *a, enum step_copy what);

#endif
