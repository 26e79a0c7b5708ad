/* Private to ui: ids of controls, what is passed around, and the small drawn parts. */
#ifndef HEADLIGHT_UI_PARTS_H
#define HEADLIGHT_UI_PARTS_H

#include "ui.h"

/* ---- controls --------------------------------------------------------------------- */

/* Ids of ui's controls; the scene's own begin at UI_ID_END. */
enum ui_id {
    UI_ID_NONE,
    UI_ID_TOY,
    UI_ID_GPT2,
    UI_ID_STEP,                                   /* + stage */
    UI_ID_OPTION = UI_ID_STEP + ATTN_STAGE_COUNT, /* + enum step_option */
    UI_ID_LOG = UI_ID_OPTION + STEP_OPT_COUNT,
    UI_ID_PLAY,
    UI_ID_SCRUB,
    UI_ID_SPEED, /* + index into step_speeds */
    UI_ID_RESTART = UI_ID_SPEED + 5,
    UI_ID_BACK,
    UI_ID_FORWARD,
    UI_ID_SEED,
    UI_ID_TOKENS,
    UI_ID_THEME,
    UI_ID_SMALLER,
    UI_ID_PERCENT,
    UI_ID_LARGER,
    UI_ID_FULL,
    UI_ID_HELP,
    UI_ID_HELP_CLOSE,
    UI_ID_BLOCK_BACK,
    UI_ID_BLOCK_ON,
    UI_ID_HEAD_BACK,
    UI_ID_HEAD_ON,
    UI_ID_TEXT,
    UI_ID_OPEN,
    UI_ID_TEXT_DONE,
    UI_ID_TEXT_CANCEL,
    UI_ID_TEXT_CUT,
    UI_ID_TEXT_SPECIAL,
    UI_ID_TEXT_BROWSE,
    UI_ID_MATCH, /* + place in the list of what lies there */
    UI_ID_RANK = 94,
    UI_ID_LEAST,
    UI_ID_HINT = 70,  /* + place in the row of key hints */
    UI_ID_HEAD = 100, /* + head */
    UI_ID_EXPORT = 470,
    UI_ID_OUT, /* + choice of the export dialog, row by row */
    UI_ID_OUT_END =
        UI_ID_OUT + STEP_OUT_FORMAT_COUNT + STEP_OUT_PART_COUNT + STEP_OUT_SIZE_COUNT + 2,
    UI_ID_STRIP = 500, /* + head */
    UI_ID_SWITCHES = 900,
    UI_ID_SWITCHES_CLOSE,
    UI_ID_CORRECT,
    UI_ID_CORRECT_ALL,
    UI_ID_UNDO,
    UI_ID_REDO,
    UI_ID_HEAT,
    UI_ID_SILENCE,                             /* + 0, 1 */
    UI_ID_SEE = UI_ID_SILENCE + 2,             /* + enum step_see */
    UI_ID_SWITCH = UI_ID_SEE + STEP_SEE_COUNT, /* + 4 * enum step_switch + choice */
    UI_ID_END = 1000,
    UI_ID_DECODE = 2204 /* beside panel_decode.c's */
};

/* ---- keys ------------------------------------------------------------------------- */

enum ui_group {
    GROUP_STEPS,
    GROUP_PRESENT, /* in presenter mode, in which some others are not */
    GROUP_LOOK,
    GROUP_BREAK,
    GROUP_INPUT,
    GROUP_MODEL,   /* of use with a loaded model alone, and shown then */
    GROUP_COMPARE, /* while a dump is compared */
    GROUP_WINDOW,
    GROUP_MOUSE,
    GROUP_COUNT
};

/* The action of a key with its modifiers; verb STEP_NONE: it does nothing. */
struct step_action ui_key_action(int key, int mods);

/* A line of the key help. */
struct ui_key_line {
    enum ui_group group;
    const char *caps[4]; /* what stands on the keys; NULL behind the last */
    const char *does;
};
extern const struct ui_key_line ui_key_lines[];
extern const int ui_key_line_count;
const char *ui_group_name(enum ui_group g);

/* ---- drawing ------------------------------------------------------------------------ */

/* What every part needs; lives for one ui_build. */
struct ui {
    struct scene *sc;
    const struct step_state *s;
    const struct scene_source *src;
    const struct ui_pointer *pointer;
    const struct scene_theme *theme;
};

/* A font and its size in points. */
struct ui_type {
    enum scene_font font;
    float size;
};

/* Type of the bars, rails and panels. */
extern const struct ui_type ui_body;    /* labels */
extern const struct ui_type ui_strong;  /* the current one of several */
extern const struct ui_type ui_heading; /* STEPS, HEADS */
extern const struct ui_type ui_note;    /* small print */
extern const struct ui_type ui_figure;  /* numbers */
extern const struct ui_type ui_figure_strong;

float ui_width(const struct ui *u, struct ui_type t, const char *text);
/* One run whose capitals are centred on cy. */
struct scene_item *ui_text(const struct ui *u, float x, float cy, enum scene_align align,
                           struct ui_type t, struct scene_rgba color, const char *text);
/* The same, cut to width with an ellipsis. */
struct scene_item *ui_text_fit(const struct ui *u, float x, float cy, float width,
                               enum scene_align align, struct ui_type t,
                               struct scene_rgba color, const char *text);
/* A section's heading in spaced capitals. */
void ui_section(const struct ui *u, float x, float cy, const char *text);
float ui_section_width(const struct ui *u, const char *text);

bool ui_inside(struct scene_rect r, float x, float y);
/* Whether the pointer is on the control in box and would act on it. */
bool ui_hot(const struct ui *u, struct scene_rect box);
struct scene_rect ui_grown(struct scene_rect r, float by);

struct step_action ui_act(enum step_verb verb, int i);
/* Whether a tensor is the score grid: token by token. */
bool ui_is_grid(enum attn_tensor t);
/* Makes an item a control: a click gives the action. */
void ui_control(struct scene_item *it, int id, struct step_action a, const char *tip);
/* An unseen control over box. */
struct scene_item *ui_touch(const struct ui *u, struct scene_rect box, int id,
                            struct step_action a, const char *tip);
/* A button's face: border and fill by state. */
struct scene_item *ui_face(const struct ui *u, struct scene_rect box, float radius,
                           bool on);
/* A keycap with its text, centred on cy; returns its box. */
struct scene_rect ui_keycap(const struct ui *u, float x, float cy, const char *text);
float ui_keycap_width(const struct ui *u, const char *text);

/* A value on a track from x over width, centred on cy. */
struct ui_slider {
    int id;
    struct step_action action; /* its x or i is set from the position */
    float lo, hi, value;
    bool whole;
    const char *tip;
};
void ui_slider(const struct ui *u, float x, float cy, float width,
               const struct ui_slider *sl);

/* ---- parts of the screen -------------------------------------------------------------- */

void ui_top_bar(const struct ui *u);
void ui_rail(const struct ui *u);
void ui_bottom_bar(const struct ui *u);
void ui_panel(const struct ui *u);
/* The choices of the export dialog below a file's name; they take so much height. */
void ui_export_rows(const struct ui *u, const struct ui_editor *ed, float x, float y);
float ui_export_rows_h(void);
void ui_help(const struct ui *u); /* the key help, where it is open */

/* ---- a number taken apart; code and reasons ----------------------------------------- */

enum ui_id_read {
    UI_ID_TERMS = 720,
    UI_ID_OPERAND = 750,   /* + place in the arithmetic, the first one Enter's */
    UI_ID_CODE_LINE = 820, /* + place in the drawer */
    UI_ID_CODE_TAB = 850,  /* + enum step_code_tab */
    UI_ID_CODE_CLOSE = 855,
    UI_ID_WHY = 860,
    UI_ID_WHY_CLOSE,
    UI_ID_LINK = 865,  /* + place among a stage's links */
    UI_ID_CRUMB = 880, /* + operands to stay below */
};

/* ---- the guided tour and presenter mode ---------------------------------------------- */

enum ui_id_tour {
    UI_ID_TOUR = 2300, /* the button that opens it */
    UI_ID_TOUR_CLOSE,
    UI_ID_TOUR_BACK,
    UI_ID_TOUR_REVEAL,
    UI_ID_TOUR_NEXT,
    UI_ID_TOUR_OVER,
    UI_ID_TOUR_AGAIN,
    UI_ID_TOUR_CHOICE = 2310, /* + choice */
    UI_ID_PRESENT = 2320,
    UI_ID_BLANK,
};

void ui_tour(const struct ui *u);      /* its card; src->tour is there */
void ui_tour_mark(const struct ui *u); /* what is pointed at, on the stage */
void ui_presenter_leave(const struct ui *u);
void ui_presenter(const struct ui *u); /* over everything */
/* Whether a question waits for an answer. */
bool ui_tour_asks(const struct scene *seen, const struct step_state *s);
/* Each true: the key, or the click, was the tour's. */
bool ui_tour_key(const struct ui_event *ev, const struct scene *seen,
                 const struct step_state *s, struct step_actions *out);
bool ui_tour_click(const struct scene_at *at, const struct scene *seen,
                   const struct step_state *s, struct step_actions *out);

/* ---- the labs ---------------------------------------------------------------------- */

enum { UI_ID_LAB = 2160 /* opens the saturation lab, + 1 the cost lab */ };
/* A key of the open lab. true: it was one. */
bool ui_lab_key(const struct ui_event *ev, const struct step_state *s,
                struct step_actions *out);

void ui_code(const struct ui *u); /* the code drawer, where it is open */
void ui_why(const struct ui *u); /* the stage's reasons, and the button that shows them */

#endif
