/* lab_words: an open lab as the command line says it: "saturation,keys=128,at=64",
 * "cost,of=bytes,dims=gpt2,at=1024,measure". */
#ifndef HEADLIGHT_LAB_WORDS_H
#define HEADLIGHT_LAB_WORDS_H

#include "base.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the actions that lead to it. ERR_USAGE: there is no such lab, choice or number. */
bool lab_parse(struct step_actions *out, const char *text, struct err *e);
/* "": no lab is open. */
void lab_print(char *out, size_t room, const struct step_state *s);

#endif
