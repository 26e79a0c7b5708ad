/* edits: numbers that are given by hand, as the command line and scripts say them:
 * "Q 3 2 0.5", the matrix, row and column from 1, the number; "Q.2 ..." is head 2's. */
#ifndef HEADLIGHT_EDITS_H
#define HEADLIGHT_EDITS_H

#include "base.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>

/* The action that text asks for. "computed" in the number's place takes one back. ERR_USAGE,
 * without a name for where text stands: it is no such thing. */
bool edits_parse(const char *text, struct step_action *out, struct err *e);
/* The text of an edit, whatever head is in view. */
void edits_print(char *out, size_t room, const struct attn_edit *edit);
/* Sets e to why the state refuses such an action; false always. */
bool edits_refusal(const struct step_state *s, struct step_action a, struct err *e);

#endif
