/* The command line's own parts: its table of options, and what reads a value. */
#ifndef HEADLIGHT_CLI_OPTIONS_H
#define HEADLIGHT_CLI_OPTIONS_H

#include "cli.h"

enum option {
    OPT_TEXT,
    OPT_CUT,
    OPT_BLOCK,
    OPT_SCALE,
    OPT_TOKENS,
    OPT_SEED,
    OPT_STAGE,
    OPT_TIME,
    OPT_HEAD,
    OPT_ROW,
    OPT_DECODE,
    OPT_PIN,
    OPT_DIVE,
    OPT_HOVER,
    OPT_VIEW,
    OPT_OVERVIEW,
    OPT_SORT,
    OPT_OVERVIEW_AT,
    OPT_LOG,
    OPT_SPEED,
    OPT_DENSITY,
    OPT_BESIDE,
    OPT_MINUS,
    OPT_OFF,
    OPT_RANK,
    OPT_LEAST,
    OPT_BREAK,
    OPT_SEE,
    OPT_WORDS,
    OPT_EDIT,
    OPT_CODE,
    OPT_CODE_SCROLL,
    OPT_LAB,
    OPT_THEME,
    OPT_UI,
    OPT_SIZE,
    OPT_EXPORT,
    OPT_PART,
    OPT_BACKGROUND,
    OPT_FILM,
    OPT_FPS,
    OPT_SCRIPT,
    OPT_DUMP,
    OPT_STAGES,
    OPT_BLOCKS,
    OPT_HEADS,
    OPT_COMPARE,
    OPT_WITH,
    OPT_TOLERANCE,
    OPT_SHOW,
    OPT_SHADER_DIR,
    OPT_TOUR,
    OPT_STOP,
    OPT_ANSWER,
    OPT_ANSWERED,
    OPT_PRESENTER,
    OPT_FLAGS, /* from here on without a value */
    OPT_HELP = OPT_FLAGS,
    OPT_SWITCHES,
    OPT_WHY,
    OPT_TERMS,
    OPT_VERSION,
    OPT_PLAY,
    OPT_STATE,
    OPT_WINDOW,
    OPT_COUNT
};

extern const char *const cli_option_names[OPT_COUNT];

/* The values as given; NULL: not given. */
struct given {
    const char *model;
    const char *at[OPT_COUNT];
    const char *edit[STEP_GIVEN_MOST]; /* each --edit */
    int n_edit;
};

/* ---- values ------------------------------------------------------------------------- */

/* A whole decimal number and nothing else. */
bool cli_whole_number(const char *text, long long *out);
/* A finite decimal number in n bytes and nothing else. */
bool cli_number(const char *text, size_t n, double *out);
/* Option o, if given, into *out, lo .. hi; what names it in the error. ERR_USAGE. */
bool cli_whole(const struct given *g, enum option o, long long lo, long long hi,
               const char *what, long long *out, struct err *e);
/* Option o, if given, as its place among n names. ERR_USAGE: it is none of them. */
bool cli_one_of_many(const struct given *g, enum option o, const char *const *names,
                     int n, int *out, struct err *e);
bool cli_one_of(const struct given *g, enum option o, const char *const names[2],
                int *out, struct err *e);
void cli_push(struct cli *c, enum step_verb verb, int i, float x);

/* ---- groups of options, each ERR_USAGE with one line ---------------------------------- */

bool cli_place_options(struct cli *c, const struct given *g, struct err *e);
bool cli_read_options(struct cli *c, const struct given *g, struct err *e);
bool cli_off_option(struct cli *c, const struct given *g, struct err *e);
bool cli_edit_options(struct cli *c, const struct given *g, struct err *e);
bool cli_source_options(struct cli *c, const struct given *g, struct err *e);
bool cli_time_options(struct cli *c, const struct given *g, struct err *e);
bool cli_pair_options(struct cli *c, const struct given *g, struct err *e);
bool cli_shown_options(struct cli *c, const struct given *g, struct err *e);
bool cli_decode_option(struct cli *c, const struct given *g, struct err *e);
bool cli_dive_option(struct cli *c, const struct given *g, struct err *e);
bool cli_lab_option(struct cli *c, const struct given *g, struct err *e);
bool cli_scroll_option(struct cli *c, const struct given *g, struct err *e);
/* Does an action to the state to which everything so far leads, or once the model is open,
 * which refuses what it cannot do. is: what the option's value has to be. */
bool cli_also(struct cli *c, const struct given *g, enum option o, struct step_action a,
              const char *is, struct err *e);
bool cli_density_option(struct cli *c, const struct given *g, struct err *e);
bool cli_size_option(struct cli *c, const struct given *g, struct err *e);
bool cli_look_options(struct cli *c, const struct given *g, struct err *e);
bool cli_tour_options(struct cli *c, const struct given *g, struct err *e);
bool cli_picture_options(struct cli *c, const struct given *g, struct err *e);

#endif
