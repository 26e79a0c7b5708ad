/* compare: somebody's dump beside our numbers, block after block, as a table and a verdict;
 * and what a window needs to show it. */
#ifndef HEADLIGHT_COMPARE_H
#define HEADLIGHT_COMPARE_H

#include "cli.h"
#include "numbers.h"

/* What of one block the dump holds, and how far it is from ours. */
struct compare_block {
    int l; /* from 0 */
    bool there[MODEL_T_COUNT];
    struct model_diff diff[MODEL_T_COUNT];
    char name[MODEL_T_COUNT][MODEL_NAME];
    float ours[MODEL_T_COUNT], theirs[MODEL_T_COUNT]; /* at diff.first */
};

struct compare {
    const struct cli *cli;
    struct numbers numbers;
    struct model_dump *dump;
    struct model_want want;
    struct model_numbers ours; /* of block `at`, as theirs */
    struct model_theirs theirs;
    int at;           /* -1: none is in hand */
    struct arena mem; /* blocks and text */
    struct compare_block *block;
    int n;                   /* of them */
    int bad;                 /* index of the first that differs, -1: all agree */
    enum model_tensor first; /* in which it does */
    struct model_diagnosis why;
    bool token_more; /* theirs has a token more than the text, in front */
    char *text;      /* the table and the verdict */
    size_t n_text, room;
};

/* Opens model and dump, compares all blocks that the dump has, tries to find out what is
 * wrong, and writes the text. note: as numbers_open has it. */
bool compare_make(struct compare *c, const struct cli *cli, char *note, size_t room,
                  struct err *e);
void compare_free(struct compare *c); /* zeroed is fine */
bool compare_agrees(const struct compare *c);

/* Takes block l in hand: ours and theirs of it. */
bool compare_take(struct compare *c, int l, struct err *e);
/* What is known of block l; NULL: the dump has nothing of it. */
const struct compare_block *compare_block_of(const struct compare *c, int l);

/* The same of two dumps, cli->compare beside cli->with: text is set, to be freed with
 * mem. */
bool compare_dumps(const struct cli *cli, struct arena *mem, const char **text,
                   bool *agrees, struct err *e);

/* The stage that a tensor is of; ATTN_STAGE_COUNT: the MLP's, or a parameter. */
enum attn_stage compare_stage(enum model_tensor t);

#endif
