/* names: what matrices and cells are called on the command line and in scripts, and what
 * is said of one that is not there. */
#ifndef HEADLIGHT_NAMES_H
#define HEADLIGHT_NAMES_H

#include "base.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>

extern const char *const names_tensor[ATTN_TENSOR_COUNT]; /* "s_raw" */
/* The matrix of that name, n bytes, in either case; S, A and O as on screen, too. false:
 * there is none. */
bool names_find_tensor(const char *name, size_t n, enum attn_tensor *t);

/* "s_raw:3:2", row and column from 1, or "none". */
void names_print_cell(char *out, size_t room, struct step_ref r);
/* ERR_INPUT: no such matrix, or no cell. */
bool names_parse_cell(const char *text, struct step_ref *r, struct err *e);

/* Sets e to what is missing where the state refused an action: a block, head, row or cell
 * that is not there. Always false. */
bool names_refusal(const struct step_state *s, struct step_action a, struct err *e);

#endif
