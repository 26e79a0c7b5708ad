/* tour_words: what a tour's text says of the numbers: {argmax A row} and the like.
 *
 *   INDEX   7   row   first   last   middle   tokens   head   heads   d_head   d_model
 *           argmax M INDEX    argmin M INDEX    seen INDEX    before INDEX
 *   VALUE   M INDEX INDEX     max M INDEX    min M INDEX    sum M INDEX
 *           entropy INDEX     INDEX
 *   TEXT    token INDEX       VALUE
 *
 * M is a matrix: h X W_Q W_K W_V Q K V S S_scaled S_masked A O W_O Y, or its name on the
 * command line. Rows and columns count from 1. An operator stands before what it is of, so
 * that no brackets are needed: {A row argmax A row} is the largest weight of the row. */
#ifndef HEADLIGHT_TOUR_WORDS_H
#define HEADLIGHT_TOUR_WORDS_H

#include "scene.h"

#include <stdbool.h>

/* What the words are of. src NULL: the text is checked alone. */
struct tour_world {
    struct scene *sc;
    const struct step_state *s;
    const struct scene_source *src;
};

/* Each reads its part at *at, which moves on. ERR_INPUT: it is none, or more than nested
 * sense; false without an error: these numbers have no such row or column. */
bool tour_index(const struct tour_world *w, const char **at, int *out, struct err *e);
bool tour_matrix(const char **at, enum attn_tensor *t, struct err *e);
/* Whether nothing is left. ERR_INPUT. */
bool tour_ends(const char *at, struct err *e);

/* Whether i, from 1, is what the index at text says; with argmax or argmin, one of those
 * that are as large or as small. *given: the number in the matrix that was looked at,
 * *best: the extreme; NaN where there is no matrix. */
struct tour_judged {
    bool right;
    float given, best;
    enum attn_tensor tensor; /* ATTN_TENSOR_COUNT: none */
    int row;                 /* from 1 */
    bool least;
};
struct tour_judged tour_judge(const struct tour_world *w, const char *text, int i);

/* A number of a matrix, row and column from 1; NaN: there is none. */
float tour_number(const struct tour_world *w, enum attn_tensor t, int i, int j);

/* The text with each {...} as it is now; "–" where the numbers have none. In a check it
 * returns the text. NULL: ERR_INPUT. */
const char *tour_fill(const struct tour_world *w, const char *text, struct err *e);

/* The first {...} of a text that these numbers do not have, with its braces, cut to room.
 * false: they have all. */
bool tour_lacks(const struct tour_world *w, const char *text, char *part, size_t room);

/* "“·sat”", or "token 17" where the tokens have no text. */
const char *tour_token(const struct tour_world *w, int i);

#endif
