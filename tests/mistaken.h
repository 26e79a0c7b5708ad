/* GPT-2 in double, by the book or with a mistake in it, and every number on the way: what
 * somebody's code would dump. Shares nothing with the program. */
#ifndef TESTS_MISTAKEN_H
#define TESTS_MISTAKEN_H

#include "model_case.h"

enum mistaken_tensor {
    MT_H,
    MT_X,
    MT_Q, /* [n, d]; so k and v */
    MT_K,
    MT_V,
    MT_SCORES, /* [heads, n, n]; so the next three */
    MT_SCALED,
    MT_MASKED,
    MT_WEIGHTS,
    MT_Z,      /* [heads, n, d_head] */
    MT_MERGED, /* [n, d]; so the next two */
    MT_Y_PROJ,
    MT_Y,
    MT_LN_2,
    MT_MLP_FC, /* [n, mlp] */
    MT_MLP_ACT,
    MT_MLP_OUT,
    MT_BLOCK,
    MT_COUNT
};
enum { MT_BLOCKS = 4 };

struct mistaken {
    int n, d, heads, mlp, n_block;
    double *t[MT_BLOCKS][MT_COUNT];
};
/* mistake: as the program names it; "": none. One it does not know: nothing happens, so
 * that the test that expects it named fails. The numbers of n tokens; "leading-special"
 * and its like have one more in front and n + 1 in all where `longer`. */
void mistaken_run(struct mistaken *out, struct case_model *m, const int32_t *ids, int n,
                  const char *mistake, bool longer);
/* The same without a mistake, with numbers of h or x given in one block. */
struct mistaken_edit {
    int block;
    enum mistaken_tensor t;
    int row, col;
    double value;
};
void mistaken_edited(struct mistaken *out, struct case_model *m, const int32_t *ids,
                     int n, const struct mistaken_edit *edits, int n_edit);
void mistaken_free(struct mistaken *out);
size_t mistaken_count(const struct mistaken *s, enum mistaken_tensor t);

#endif
