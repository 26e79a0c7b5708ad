/* What an array of somebody's dump is: by its name, then by its shape. */
#ifndef HEADLIGHT_MODEL_MATCH_H
#define HEADLIGHT_MODEL_MATCH_H

#include "model.h"

/* One thing that an array may be. part: 0 1 2, Q K V of a matrix of all three; -1: the
 * whole. all_three: an activation of Q, K and V together. */
struct target {
    enum model_tensor tensor;
    int part;
    bool all_three;
};

/* What a name says. */
enum { TARGETS_MAX = 4 };
struct named {
    int block, head; /* from 0; -1: not said */
    struct target at[TARGETS_MAX];
    int n;        /* 0: the name says nothing */
    bool ignored; /* ids, logits, ...: of no block */
};
struct named name_read(const char *name);

/* The sizes of what is compared. */
struct sizes {
    int n_tok, d_model, n_head, d_mlp;
};

/* A way to read an array as a target: the order of its axes, from the slowest on.
 *   n token (query)  m token (key)  h head  c within a head  d model  w MLP  p Q, K or V */
struct form {
    const char *order;
    struct target target;
    int head; /* the one head that it is, or -1: all */
};
/* Those whose sizes the array's shape is, axes of size 1 aside; at most `room` of them.
 * head: the one that the name says, or -1. */
int forms_of(struct form *out, int room, struct target t, int head, struct sizes s,
             const struct model_array *a);
/* "[11,48] or [3,11,16]": what would fit, for an error. */
void forms_text(char *out, size_t room, struct target t, int head, struct sizes s);
/* The tensor that part `part` of an all_three form is of, otherwise the form's own. */
enum model_tensor form_tensor(const struct form *f, int part);
/* Puts the array's numbers where they belong in to[part], each laid out as in struct
 * model_numbers; without all_three in to[0]. */
void form_gather(float *const to[3], const struct form *f, struct sizes s,
                 const float *a);

#endif
