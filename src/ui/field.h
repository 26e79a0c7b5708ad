/* Private to ui: the field in which a cell's number is edited. */
#ifndef HEADLIGHT_UI_FIELD_H
#define HEADLIGHT_UI_FIELD_H

#include "parts.h"

enum {
    UI_ID_FIELD_CARD = 2000,
    UI_ID_FIELD, /* the number: a drag over it changes it */
    UI_ID_FIELD_LESS,
    UI_ID_FIELD_MORE,
    UI_ID_FIELD_TAKE,
    UI_ID_FIELD_BACK,
    UI_ID_FIELD_OPEN, /* in the side panel */
    UI_ID_FIELD_END = 2100
};

/* Draws it where it is open. */
void ui_field(const struct ui *u);

/* What an event means while the field is open, and what opens it. true: it was the
 * field's. */
bool field_event(const struct ui_pointer *p, const struct ui_event *ev,
                 const struct scene *seen, const struct step_state *s,
                 struct step_actions *out);
/* A double click on a cell that can be edited, and is large enough to be meant. */
bool field_open(const struct scene_at *at, const struct step_state *s,
                struct step_actions *out);
/* A drag by dx points that began on the number or its cell. */
bool field_drag(const struct ui_pointer *p, const struct scene *seen,
                const struct step_state *s, float dx, struct step_actions *out);

#endif
