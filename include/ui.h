/* ui: bars, rails, buttons, sliders and the side panel, drawn into the scene; and what
 * input means: events and the scene just drawn become actions. No SDL type here. */
#ifndef HEADLIGHT_UI_H
#define HEADLIGHT_UI_H

#include "scene.h"
#include "step.h"

#include <stdbool.h>

/* Keys: printable ones by their unshifted ASCII character, the others from here. */
enum ui_key {
    UI_KEY_NONE = 0,
    UI_KEY_LEFT = 256,
    UI_KEY_RIGHT,
    UI_KEY_UP,
    UI_KEY_DOWN,
    UI_KEY_HOME,
    UI_KEY_END,
    UI_KEY_PAGE_UP,
    UI_KEY_PAGE_DOWN,
    UI_KEY_TAB,
    UI_KEY_ENTER,
    UI_KEY_ESCAPE,
    UI_KEY_BACKSPACE,
    UI_KEY_DELETE,
    UI_KEY_F1,
    UI_KEY_F11
};
enum ui_mod { UI_SHIFT = 1, UI_CTRL = 2, UI_ALT = 4 };

enum ui_event_kind {
    UI_KEY,    /* key pressed (or repeated) */
    UI_MOVE,   /* pointer at x, y */
    UI_DOWN,   /* left button pressed, with mods */
    UI_UP,     /* left button released, with mods */
    UI_WHEEL,  /* wheel turned by `wheel` notches, up > 0, with mods */
    UI_LEAVE,  /* pointer left the window */
    UI_TEXT,   /* text was entered */
    UI_COMPOSE /* text an input method is about to enter; "": no longer */
};
struct ui_event {
    enum ui_event_kind kind;
    int key, mods;
    float x, y, wheel; /* points */
    int clicks;        /* UI_DOWN: 2 for a double click */
    char text[64];     /* UI_TEXT, UI_COMPOSE: UTF-8 */
};

/* What lasts between events: a press under way. */
struct ui_pointer {
    bool down, moved; /* moved: more than 4 points since the press: a drag */
    float x, y;       /* now */
    float press_x, press_y;
    struct scene_hit press; /* what was pressed, kind HIT_NONE: nothing */
    struct scene_rect press_box;
    /* What a second click does where the first has dived into the cell; STEP_NONE: it has
     * not. */
    struct step_action second;
};

/* Turns one event into actions, by the scene that the person sees. */
void ui_event(struct ui_pointer *p, const struct ui_event *ev, const struct scene *seen,
              const struct step_state *s, struct step_actions *out);

/* The key named "Right", "a", "Ctrl+q", "F11", "Space", "?" ...; false: no such key. */
bool ui_key_parse(const char *name, int *key, int *mods);

/* Draws everything but the stage: top bar, left rail, side panel, bottom bar, banner,
 * message bar, tooltip, focus ring, key help. Call after scene_build. Its controls have
 * the ids below 1000. */
void ui_build(struct scene *sc, const struct step_state *s,
              const struct scene_source *src, const struct ui_pointer *p);

/* ---- editing a text ---------------------------------------------------------------------- */

enum {
    UI_EDITOR_ROOM = 1 << 18,
    UI_EDITOR_MATCHES = 5,
    UI_EDITOR_CHIPS = 48,
    UI_EDITOR_PAD = 10 /* points between the field's edge and its text */
};
/* The special token in an edited text: no byte of UTF-8, so nobody can type it. */
#define UI_EDITOR_SPECIAL '\xFF'

/* A token of an edited text. */
struct ui_editor_chip {
    char text[32]; /* its bytes, as many as there is room for */
    bool joins;    /* a character of the token before goes on in it */
};

/* A text being edited. Bytes from..to (see ui_editor_selection) are selected. */
struct ui_editor {
    char text[UI_EDITOR_ROOM];
    int n;          /* bytes */
    int at, anchor; /* the caret, and where the selection began: at characters' ends */
    char compose[64];
    int top;                                     /* the first line in view */
    bool held;                                   /* the mouse is selecting */
    struct ui_editor_chip chip[UI_EDITOR_CHIPS]; /* tokens around the caret */
    int n_chip, first_chip, caret_chip; /* the last two count from the text's start */
    size_t count;     /* tokens, found out by whoever knows the tokenizer */
    int limit;        /* that are read */
    bool cut_front;   /* what is lost over the limit */
    bool has_special; /* there is a special token */
    bool words;       /* of the toy, at most `limit` */
    bool path;        /* a path is edited, no text of a model */
    bool file;        /* it is of a file to be written: the export dialog */
    bool can_browse;  /* there is a file chooser */
    int pick;         /* of match, -1: none */
    char match[UI_EDITOR_MATCHES][264]; /* what lies there, the first of n_match */
    int n_match;
    char wrong[512]; /* why the text cannot be read, "": it can be */
};
/* Begins with the n bytes at text, all of them selected. */
void ui_editor_begin(struct ui_editor *ed, const char *text, size_t n);
/* In place of the selection; carriage returns are left out. false: no room, nothing
 * happens. */
bool ui_editor_insert(struct ui_editor *ed, const char *text, size_t n);
void ui_editor_selection(const struct ui_editor *ed, int *from, int *to);
/* true: the event was the editor's. seen: what the person sees. */
bool ui_editor_event(struct ui_editor *ed, const struct ui_event *ev,
                     const struct scene *seen);
/* The format that a file's name says by its ending, n bytes; STEP_OUT_FORMAT_COUNT: none. */
enum step_out_format ui_out_format(const char *name, int n);
/* Draws it over everything; returns where the caret is. */
struct scene_rect ui_editor_build(struct scene *sc, const struct step_state *s,
                                  const struct scene_source *src,
                                  const struct ui_pointer *p, const struct ui_editor *ed);

#endif
