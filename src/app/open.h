/* open: a window where it was, or none. */
#ifndef HEADLIGHT_OPEN_H
#define HEADLIGHT_OPEN_H

#include "app.h"

/* Before SDL starts. */
void open_hints(bool headless);
/* ERR_SYSTEM: no display, no OpenGL. */
bool open_on_display(struct app *a, const struct app_config *c, struct err *e);
/* c->on_paper: no OpenGL. */
bool open_offscreen(struct app *a, const struct app_config *c, struct err *e);

#endif
