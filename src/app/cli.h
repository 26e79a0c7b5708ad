/* cli: the command line as plain data. A person counts from 1; what is stored here counts
 * from 0, and most of it is actions already. */
#ifndef HEADLIGHT_CLI_H
#define HEADLIGHT_CLI_H

#include "base.h"
#include "export.h"
#include "film.h"
#include "step.h"

#include <stdbool.h>

enum cli_mode {
    CLI_WINDOW,
    CLI_EXPORT,
    CLI_SCRIPT,
    CLI_STATE,
    CLI_DUMP,
    CLI_COMPARE,
    CLI_HELP,
    CLI_VERSION
};

enum { /* of a picture, pixels */
       CLI_MIN_SIDE = EXPORT_MIN_SIDE,
       CLI_MAX_SIDE = EXPORT_MAX_SIDE,
       CLI_W = 1440, /* without --size */
       CLI_H = 900
};

struct cli {
    enum cli_mode mode;
    const char *path;  /* of the picture or the script; argv's */
    const char *model; /* folder or file, NULL: none; argv's, as text */
    const char *text;  /* that it is to read, NULL: a text of our own */
    const char *words; /* of the toy, NULL: its first; text number 1 of start */
    bool cut_front;    /* over its limit the text loses its front */
    struct step_actions
        when_opened; /* what can only be asked of the model once it is there */
    const char *shader_dir;
    struct export_ask out; /* CLI_EXPORT */
    bool film_all;         /* a film: of all stages */
    int fps;               /* 0: the usual */
    int w, h;              /* 0: not given */
    float density;         /* pixels a point at UI size 100%; 0: not given */
    bool theme_given, ui_given, speed_given, log_given;
    const char *dump; /* folder or .npz to write; argv's, as what follows */
    const char *stages, *blocks, *heads; /* of it; NULL: all */
    bool block_given, head_given, stage_given, answer_given;
    const char *compare, *with; /* a dump, and another instead of a model */
    enum step_diff show;        /* of the comparison */
    int stop;                   /* of the tour, from 1; 0: it is closed */
    double tolerance;           /* 0: the usual */
    bool table;                 /* of the comparison, and no picture */
    const char *tour;           /* its file; NULL: our own */
    struct step_action answer;  /* at its stop */
    struct step_actions start;  /* lead from the first state to what was asked for */
};

/* argv[0] is the program. ERR_USAGE: one line that says what, where and what to do. */
bool cli_parse(struct cli *c, int argc, char *const *argv, struct err *e);

extern const char *const cli_help[]; /* in pieces; NULL behind the last */

#endif
