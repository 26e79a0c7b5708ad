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
    enum attn_stage stage;
};
struct ui_code {
    struct ui_code_line line[UI_CODE_LINES];
    int n;
};
/* All stages' listings, one behind the other. */
void ui_code_of(struct ui_code *c, enum step_code_tab tab);

/* A line of `stage` that holds part[tab] is lit while a beat has come from `from` to `to`;
 * 1 and more: behind the last beat. */
struct ui_code_lit {
    enum attn_stage stage;
    float from, to;
    const char *part[STEP_CODE_TAB_COUNT];
};
extern const struct ui_code_lit ui_code_lits[];
extern const int ui_code_lit_count;

#endif
