/* breaks: what is set wrong on purpose, as the command line says it:
 * "scale=d_head,mask=shift,temperature=0.5,silent=3,silent=7". */
#ifndef HEADLIGHT_BREAKS_H
#define HEADLIGHT_BREAKS_H

#include "base.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the actions that text asks for. ERR_USAGE: it names no such thing. */
bool breaks_parse(struct step_actions *out, const char *text, struct err *e);
/* The text that leads to what is broken now; "": nothing is. Numbers that are given are
 * not part of it. */
void breaks_print(char *out, size_t room, const struct step_state *s);

#endif
