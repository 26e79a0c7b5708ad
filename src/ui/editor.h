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

/* The character before `at`, and behind the one at it. */
int editor_before(const struct ui_editor *ed, int at);
int editor_behind(const struct ui_editor *ed, int at);
/* What stands for the character at `at`; NULL: itself. */
const char *editor_shown_as(const struct ui_editor *ed, int at);

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

/* What is drawn of a line, from left to right, in points from the field's left.
 *
 * Letters that run from right to left stand in their own order, but the text is edited in the
 * order in which it is read and computed: the caret stands where the character behind it
 * begins, at its right edge in such letters; a click sets it to the place where it then
 * stands nearest to the click; the arrows go a character on or back in the text, whichever way that is on
 * screen, so that no place is left out; a selection of one stretch of text may be several
 * boxes. */
struct editor_cell {
    int from, to; /* bytes of the text */
    float x, w;
    bool rtl;
};
struct editor_cells {
    const struct editor_field *f;
    const struct ui_editor *ed;
    int at, to; /* what is left of the line */
    int base;   /* byte of the text that glyphs count from */
    float x;
    bool within; /* glyphs has more */
    struct scene_glyphs glyphs;
    char text[SCENE_GLYPHS * 4];
};
void editor_cells_begin(struct editor_cells *c, const struct editor_field *f,
                        const struct ui_editor *ed, const struct editor_line *l);
bool editor_cells_next(struct editor_cells *c, struct editor_cell *cell);
/* The end of what stands together from `at` on: one sign for a character, or characters. */
int editor_stretch(const struct ui_editor *ed, int at, int to);

/* Where the caret stands before byte `at` of line l. */
float editor_caret(const struct editor_field *f, const struct ui_editor *ed,
                   const struct editor_line *l, int at);
/* The place in line l that is nearest to x. */
int editor_place_at(const struct editor_field *f, const struct ui_editor *ed,
                    const struct editor_line *l, float x);

#endif
