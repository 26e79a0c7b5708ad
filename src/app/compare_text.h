/* A comparison in words. */
#ifndef HEADLIGHT_COMPARE_TEXT_H
#define HEADLIGHT_COMPARE_TEXT_H

#include "compare.h"

/* Text that grows in place; what has no room is left out, at a line's end. */
struct sheet {
    char *at;
    size_t n, room;
};
void sheet_print(struct sheet *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The table of one block. */
void sheet_block(struct sheet *s, const struct compare_block *b);
/* Where it differs first, in one sentence. */
void sheet_first(struct sheet *s, const struct compare_block *b, enum model_tensor t,
                 struct attn_dims d, int d_mlp);
/* How theirs lies to ours, for a mistake that is unknown. */
void sheet_evidence(struct sheet *s, const struct model_theirs *theirs, const float *ours,
                    enum model_tensor t);
/* What the mistake is, or that it is unknown. */
void sheet_why(struct sheet *s, const struct model_diagnosis *why,
               enum model_tensor first);
/* What model_theirs_read had to say. */
void sheet_notes(struct sheet *s, const struct model_theirs *theirs);

#endif
