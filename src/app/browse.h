/* browse: the desktop's own file chooser, in a process of its own; the window goes on. */
#ifndef HEADLIGHT_BROWSE_H
#define HEADLIGHT_BROWSE_H

#include "base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether PATH has a chooser: zenity or kdialog. */
bool browse_is_there(void);

struct browse;
/* Opens the chooser. event: an SDL user event type that is pushed when it has been closed;
 * 0: none. ERR_SYSTEM: it cannot be started. */
bool browse_begin(struct browse **b, uint32_t event, struct err *e);
/* true, once it has been closed: path is the model chosen, a file or the folder of one, or
 * "" where none was; *b is freed and NULL then. */
bool browse_done(struct browse **b, char *path, size_t room);
/* Closes it. NULL is fine. */
void browse_end(struct browse **b);

#endif
