/* A text being edited: what keys and the mouse do to it. editor_line.c says how it
 * lies, editor_card.c shows it. */
#include "editor.h"

#include <math.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------ */

static bool is_inner(char c) /* a byte behind a character's first */
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

int editor_before(const struct ui_editor *ed, int at)
{
    if (at > 0) at--;
    while (at > 0 && is_inner(ed->text[at])) at--;
    return at;
}

int editor_behind(const struct ui_editor *ed, int at)
{
    if (at < ed->n) at++;
    while (at < ed->n && is_inner(ed->text[at])) at++;
    return at;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

/* The start of the word before, or behind the word after. */
static int word_before(const struct ui_editor *ed, int at)
{
    while (at > 0 && is_space(ed->text[at - 1])) at--;
    while (at > 0 && !is_space(ed->text[at - 1])) at--;
    return at;
}

static int word_behind(const struct ui_editor *ed, int at)
{
    while (at < ed->n && is_space(ed->text[at])) at++;
    while (at < ed->n && !is_space(ed->text[at])) at++;
    return at;
}

/* ---- editing ------------------------------------------------------------------------------ */

void ui_editor_begin(struct ui_editor *ed, const char *text, size_t n)
{
    ed->n = ed->at = ed->anchor = 0;
    ed->compose[0] = ed->wrong[0] = '\0';
    ed->count = 0;
    ed->top = ed->n_chip = 0;
    ed->pick = -1;
    ed->held = false;
    (void)ui_editor_insert(ed, text, n);
    ed->anchor = 0;
}

void ui_editor_selection(const struct ui_editor *ed, int *from, int *to)
{
    *from = ed->at < ed->anchor ? ed->at : ed->anchor;
    *to = ed->at < ed->anchor ? ed->anchor : ed->at;
}

static void erase(struct ui_editor *ed, int from, int to)
{
    memmove(ed->text + from, ed->text + to, (size_t)(ed->n - to));
    ed->n -= to - from;
    ed->at = ed->anchor = from;
}

bool ui_editor_insert(struct ui_editor *ed, const char *text, size_t n)
{
    int from = 0;
    int to = 0;
    size_t kept = 0;
    ui_editor_selection(ed, &from, &to);
    for (size_t i = 0; i < n; i++) kept += text[i] != '\r';
    if (kept > (size_t)(UI_EDITOR_ROOM - (ed->n - (to - from)))) return false;
    erase(ed, from, to);
    memmove(ed->text + from + kept, ed->text + from, (size_t)(ed->n - from));
    for (size_t i = 0; i < n; i++)
        if (text[i] != '\r') ed->text[ed->at++] = text[i];
    ed->n += (int)kept;
    ed->anchor = ed->at;
    return true;
}

/* ---- where keys and the mouse lead ------------------------------------------------------- */

/* The same place in the line so many lines on; past the ends: the text's own. */
static int line_on(const struct editor_field *f, const struct ui_editor *ed, int by)
{
    struct editor_line l = editor_line_of(f, ed, ed->at);
    float x = editor_caret(f, ed, &l, ed->at);
    if (l.n + by < 0) return 0;
    int to = l.n + by;
    l = editor_line_at(f, ed, to);
    if (l.n < to) return ed->n;
    return editor_place_at(f, ed, &l, x);
}

static int line_end(const struct editor_field *f, const struct ui_editor *ed)
{
    struct editor_line l = editor_line_of(f, ed, ed->at);
    return l.last ? l.to : editor_before(ed, l.to);
}

/* Where a key leads to from the caret; < 0: it is no such key. */
static int moved(const struct editor_field *f, const struct ui_editor *ed, int key,
                 bool ctrl)
{
    switch (key) {
    case UI_KEY_LEFT:
        return ctrl ? word_before(ed, ed->at) : editor_before(ed, ed->at);
    case UI_KEY_RIGHT:
        return ctrl ? word_behind(ed, ed->at) : editor_behind(ed, ed->at);
    case UI_KEY_HOME:
        return ctrl ? 0 : editor_line_of(f, ed, ed->at).from;
    case UI_KEY_END:
        return ctrl ? ed->n : line_end(f, ed);
    case UI_KEY_UP:
        return line_on(f, ed, -1);
    case UI_KEY_DOWN:
        return line_on(f, ed, 1);
    case UI_KEY_PAGE_UP:
        return line_on(f, ed, -f->lines);
    case UI_KEY_PAGE_DOWN:
        return line_on(f, ed, f->lines);
    default:
        return -1;
    }
}

/* Keeps the caret's line in the field, and the field inside the text. */
static void reveal(const struct editor_field *f, struct ui_editor *ed)
{
    int line = editor_line_of(f, ed, ed->at).n;
    if (ed->top > line) ed->top = line;
    if (ed->top < line - f->lines + 1) ed->top = line - f->lines + 1;
}

static void scroll(const struct editor_field *f, struct ui_editor *ed, int by)
{
    int most = editor_line_count(f, ed) - f->lines;
    ed->top += by;
    if (ed->top > most) ed->top = most;
    if (ed->top < 0) ed->top = 0;
}

static void remove_by_key(struct ui_editor *ed, int key, bool ctrl)
{
    int from = 0;
    int to = 0;
    ui_editor_selection(ed, &from, &to);
    if (from == to && key == UI_KEY_BACKSPACE)
        from = ctrl ? word_before(ed, ed->at) : editor_before(ed, ed->at);
    else if (from == to)
        to = ctrl ? word_behind(ed, ed->at) : editor_behind(ed, ed->at);
    erase(ed, from, to);
}

/* Up and down in a path go along what lies there. */
static bool on_match_key(struct ui_editor *ed, const struct ui_event *ev)
{
    int shown = ed->n_match < UI_EDITOR_MATCHES ? ed->n_match : UI_EDITOR_MATCHES;
    int by = (ev->key == UI_KEY_DOWN) - (ev->key == UI_KEY_UP);
    if (!ed->path || ed->file || by == 0 || ev->mods) return false;
    int to = ed->pick + by;
    ed->pick = to < -1 ? -1 : to >= shown ? shown - 1 : to;
    return true;
}

static bool on_key(const struct editor_field *f, struct ui_editor *ed,
                   const struct ui_event *ev)
{
    bool ctrl = (ev->mods & UI_CTRL) != 0;
    bool shift = (ev->mods & UI_SHIFT) != 0;
    if (ev->mods & UI_ALT) return false;
    if (on_match_key(ed, ev)) return true;
    int to = moved(f, ed, ev->key, ctrl);
    if (to >= 0) {
        int from = 0;
        int end = 0;
        ui_editor_selection(ed, &from, &end);
        bool step = !ctrl && !shift && from != end; /* out of the selection */
        if (step && ev->key == UI_KEY_LEFT) to = from;
        if (step && ev->key == UI_KEY_RIGHT) to = end;
        ed->at = to;
        if (!shift) ed->anchor = to;
        return true;
    }
    if (ev->key == UI_KEY_BACKSPACE || ev->key == UI_KEY_DELETE) {
        remove_by_key(ed, ev->key, ctrl);
        return true;
    }
    if (ctrl && ev->key == 'a') {
        ed->anchor = 0;
        ed->at = ed->n;
        return true;
    }
    if (ev->key == UI_KEY_ENTER && shift && !ctrl) {
        (void)ui_editor_insert(ed, "\n", 1);
        return true;
    }
    return false;
}

/* ---- the mouse ------------------------------------------------------------------------------ */

static int place_under(const struct editor_field *f, const struct ui_editor *ed, float x,
                       float y)
{
    float line = floorf((y - f->box.y) / EDITOR_LINE_H);
    int most = f->lines; /* one line past either end: a drag scrolls */
    int k = line < -1 ? -1 : line > (float)most ? most : (int)line;
    struct editor_line l = editor_line_at(f, ed, ed->top + k);
    return editor_place_at(f, ed, &l, x - f->box.x);
}

/* The word under a double click: up to the spaces around it, or the spaces themselves. */
static void take_word(struct ui_editor *ed)
{
    int from = ed->at, to = ed->at;
    if (from >= ed->n && from > 0) from = editor_before(ed, from);
    bool space = from < ed->n && is_space(ed->text[from]);
    while (from > 0 && is_space(ed->text[editor_before(ed, from)]) == space)
        from = editor_before(ed, from);
    while (to < ed->n && is_space(ed->text[to]) == space) to = editor_behind(ed, to);
    ed->anchor = from;
    ed->at = to;
}

static bool on_mouse(const struct editor_field *f, struct ui_editor *ed,
                     const struct ui_event *ev)
{
    bool inside = ui_inside(ui_grown(f->box, UI_EDITOR_PAD), ev->x, ev->y);
    bool was = ed->held;
    switch (ev->kind) {
    case UI_DOWN:
        if (!inside) return false;
        ed->at = place_under(f, ed, ev->x, ev->y);
        if (!(ev->mods & UI_SHIFT)) ed->anchor = ed->at;
        if (ev->clicks == 2) take_word(ed);
        ed->held = ev->clicks < 2;
        break;
    case UI_MOVE:
        if (!was) return false;
        ed->at = place_under(f, ed, ev->x, ev->y);
        break;
    case UI_WHEEL:
        if (inside) scroll(f, ed, ev->wheel > 0 ? -1 : 1);
        return true;
    default:
        ed->held = false;
        return was;
    }
    reveal(f, ed);
    return true;
}

bool ui_editor_event(struct ui_editor *ed, const struct ui_event *ev,
                     const struct scene *seen)
{
    const struct editor_field f = editor_field_of(ed, seen);
    bool mine = true;
    switch (ev->kind) {
    case UI_TEXT:
        ed->compose[0] = '\0';
        (void)ui_editor_insert(ed, ev->text, strlen(ev->text));
        break;
    case UI_COMPOSE:
        memcpy(ed->compose, ev->text, sizeof ed->compose);
        break;
    case UI_KEY:
        /* While an input method composes, keys are its own. */
        mine = ed->compose[0] ? true : on_key(&f, ed, ev);
        break;
    case UI_LEAVE:
        return false;
    default:
        return on_mouse(&f, ed, ev);
    }
    if (mine) reveal(&f, ed);
    return mine;
}
