/* Private to ui: how an edited text lies in its field. Keys and mouse move the caret by it
 * (editor.c), and the card draws by it (editor_card.c). */
#ifndef HEADLIGHT_UI_EDITOR_H
#define HEADLIGHT_UI_EDITOR_H

#include "parts.h"

struct editor_field {
    struct scene_rect box; /* of the text: no padding */
    int lines;             /* that it holds */
    const struct font_metrics *font;
};
struct editor_field editor_field_of(const struct ui_editor *ed, const struct scene *sc);
extern const struct ui_type editor_type;
enum { EDITOR_LINE_H = 24 };

/* The character behind the one at `at`. */
int editor_behind(const struct ui_editor *ed, int at);
/* What stands for the character at `at`; NULL: itself. */
const char *editor_shown_as(const struct ui_editor *ed, int at);
float editor_width(const struct editor_field *f, const struct ui_editor *ed, int from,
                   int to);

/* One line: bytes from .. to - 1. Begin with to = 0 and n = -1; false: there is no more.
 * A text that ends in a newline has an empty line behind it. */
struct editor_line {
    int from, to, n;
    bool last;
};
bool editor_next(const struct editor_field *f, const struct ui_editor *ed,
                 struct editor_line *l);
/* The line that the character place `at` is on. */
struct editor_line editor_line_of(const struct editor_field *f,
                                  const struct ui_editor *ed, int at);
/* Line n, or the nearest there is. */
struct editor_line editor_line_at(const struct editor_field *f,
                                  const struct ui_editor *ed, int n);
int editor_line_count(const struct editor_field *f, const struct ui_editor *ed);
/* The place in line l that is nearest to x, in points from the field's left. */
int editor_place_at(const struct editor_field *f, const struct ui_editor *ed,
                    const struct editor_line *l, float x);

#endif
