/* complete: what lies where a typed path leads to. */
#ifndef HEADLIGHT_COMPLETE_H
#define HEADLIGHT_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

/* Folders and model files whose path begins with the n bytes at typed. */
struct complete {
    char name[5][264]; /* the first ones by name; a folder's ends with a slash */
    int n;             /* of all */
    size_t typed;      /* bytes of each name that are typed already */
    char more[264];    /* what all of them go on with */
};
void complete_path(struct complete *c, const char *typed, size_t n);

/* The path without "~" at its front. false: too long. */
bool complete_home(char *out, size_t room, const char *typed, size_t n);

#endif
