/* state: the command line that shows again what is on screen. */
#ifndef HEADLIGHT_STATE_H
#define HEADLIGHT_STATE_H

#include "base.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>

/* What decides what is on screen, but for what comes and goes by itself: the pointer's
 * tooltip, the focus ring, an open help, editor or list, a message. */
struct state_shown {
    const struct step_state *step;
    const char *model; /* path of the loaded model; NULL: none is */
    const char *text;  /* that it reads: n_text bytes, UI_EDITOR_SPECIAL among them */
    size_t n_text;
    bool cut_front;
    const char *words; /* that the toy reads, NULL: its first; n_words bytes */
    size_t n_words;
    const char *compare; /* path of the dump beside it; NULL: none */
    double tolerance;    /* of the comparison; 0: the usual */
    const char *tour;    /* file of the guided tour; "", NULL: the program's own */
    int w, h;            /* pixels */
    float density;       /* pixels a point at UI size 100% */
};

/* "headlight --scale toy ...", quoted for a POSIX shell, pushed on mem. NULL: mem is
 * full. */
const char *state_line(const struct state_shown *now, struct arena *mem);
/* Bytes of arena that this takes at most. */
size_t state_line_bytes(const struct state_shown *now);

/* Runs of selected rows that a line names at most, the row in view being the last. */
enum { STATE_ROW_RUNS = 20 };

/* Names of --overview and --sort. */
extern const char *const state_diffs[STEP_DIFF_COUNT]; /* of --show */
extern const char *const state_over_kinds[STEP_OVER_KIND_COUNT];
extern const char *const state_over_sorts[STEP_SORT_COUNT];
extern const char *const state_code_tabs[STEP_CODE_TAB_COUNT];
extern const char *const state_verdicts[STEP_VERDICT_COUNT];

#endif
