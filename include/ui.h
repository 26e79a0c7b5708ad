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
    UI_KEY,   /* key pressed (or repeated) */
    UI_MOVE,  /* pointer at x, y */
    UI_DOWN,  /* left button pressed */
    UI_UP,    /* left button released */
    UI_WHEEL, /* wheel turned by `wheel` notches, up > 0, with mods */
    UI_LEAVE  /* pointer left the window */
};
struct ui_event {
    enum ui_event_kind kind;
    int key, mods;
    float x, y, wheel; /* points */
    int clicks;        /* UI_DOWN: 2 for a double click */
};

/* What lasts between events: a press under way. */
struct ui_pointer {
    bool down, moved; /* moved: more than 4 points since the press: a drag */
    float x, y;       /* now */
    float press_x, press_y;
    struct scene_hit press; /* what was pressed, kind HIT_NONE: nothing */
    struct scene_rect press_box;
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

#endif
