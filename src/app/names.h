/* names: what matrices and cells are called on the command line and in scripts. */
#ifndef HEADLIGHT_NAMES_H
#define HEADLIGHT_NAMES_H

#include "step.h"

#include <stdbool.h>
#include <stddef.h>

extern const char *const names_tensor[ATTN_TENSOR_COUNT]; /* "s_raw" */
/* The matrix of that name, n bytes, in either case. false: there is none. */
bool names_find_tensor(const char *name, size_t n, enum attn_tensor *t);

/* "s_raw:3:2", row and column from 1, or "none". */
void names_print_cell(char *out, size_t room, struct step_ref r);
bool names_parse_cell(const char *text, struct step_ref *r);

#endif
