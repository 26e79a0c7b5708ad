/* Private to ui, and to its tests: the listings of the code drawer. */
#ifndef HEADLIGHT_UI_CODE_H
#define HEADLIGHT_UI_CODE_H

#include "parts.h"

enum { UI_CODE_LINES = 320 };
struct ui_code_line {
    const char *file; /* "attn.c" */
    int number;       /* of the line in it, from 1 */
    const char *text; /* len bytes, not terminated */
    int len;
    const char *function; /* in which it stands, function_len bytes */
    int function_len;
    enum attn_stage stage;
};
struct ui_code {
    struct ui_code_line line[UI_CODE_LINES];
    int n;
};
/* All stages' listings, one behind the other. */
void ui_code_of(struct ui_code *c, enum step_code_tab tab);

/* A line of `stage` that holds part[tab] is lit while a beat has come from `from` to `to`
 * (1 and more: behind the last beat), where it runs. NULL: none of that tab is. */
enum ui_code_when {
    UI_CODE_ALWAYS,
    UI_CODE_BY_PRODUCT, /* what S is divided by is a power of two */
    UI_CODE_BY_QUOTIENT,
    UI_CODE_SCALED,
    UI_CODE_MASKED,
    UI_CODE_BARE, /* the row's maximum is not subtracted */
    UI_CODE_SHIFTED,
    UI_CODE_ADDED /* the residual */
};
struct ui_code_lit {
    enum attn_stage stage;
    float from, to;
    enum ui_code_when when;
    const char *part[STEP_CODE_TAB_COUNT];
};
extern const struct ui_code_lit ui_code_lits[];
extern const int ui_code_lit_count;
bool ui_code_is_lit(const struct step_state *s, const struct ui_code_line *l);

/* The options of the run that is looked at. */
struct attn_opts ui_code_opts(const struct step_state *s);

/* "q, k, v [2, 5, 4]": of what the line makes or reads; "": nothing. */
const char *ui_code_shape(const struct ui *u, const struct ui_code_line *l);

/* The first name from byte `from` of the line on that has a value: its number, at *at and
 * *n bytes long; -1: there is none. */
int ui_code_name(const struct ui_code_line *l, int from, int *at, int *n);
/* "q = Q [5x4], row 4: ..."; NULL: there is no run. */
const char *ui_code_name_text(const struct ui *u, const struct ui_code_line *l, int name);
/* All of a line, in as many lines; "": none. */
const char *ui_code_line_text(const struct ui *u, const struct ui_code_line *l);

#endif
