/* What the tests of ui share: a whole window built over a scene_case, and input to it. */
#ifndef TESTS_UI_CASE_H
#define TESTS_UI_CASE_H

#include "scene_case.h"
#include "ui.h"

struct ui_case {
    struct scene_case c;
    struct ui_pointer pointer;
    struct step_actions out; /* of the last event */
    int n_scene;             /* items below this one are scene's, the others ui's */
};

/* Builds the whole window; fails where its room ran out. */
void ui_show(struct ui_case *u, float w, float h);
/* The first text of ui that is `text`, hair spaces left out; NULL: none. */
const struct scene_item *ui_find_text(const struct ui_case *u, const char *text);
/* Copies a text without its hair spaces. */
struct ui_plain {
    char text[512];
};
struct ui_plain ui_plain(const char *text);

/* One event on what is shown; its actions are in u->out. */
void ui_send(struct ui_case *u, struct ui_event ev);
void ui_key(struct ui_case *u, const char *name); /* fails where there is no such key */
void ui_point(struct ui_case *u, enum ui_event_kind kind, float x, float y);
/* Press and release at a point: the actions of the release. */
void ui_click(struct ui_case *u, float x, float y);
/* Applies the last event's actions to the state. */
void ui_apply(struct ui_case *u);

/* Fails where something overlaps or is cut, in any stage, at any cell and time. */
void ui_check_stages(struct ui_case *u, struct case_size size);

/* Fails where anything of the window overlaps or is cut, the stage's texts among it. */
void ui_check_whole(struct ui_case *u, struct case_size size);

/* The groups, one a file; each returns how many tests failed. */
int ui_layout_tests(void);
int ui_panel_tests(void);
int ui_editor_tests(void);
int ui_sources_tests(void);
int ui_broken_tests(void);
int ui_labs_tests(void);

#endif
