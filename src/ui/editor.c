/* A text being edited: what keys do to it, and the card that shows it. */
#include "parts.h"

#include <math.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------ */

static bool is_inner(char c) /* a byte behind a character's first */
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static int before(const struct ui_editor *ed, int at)
{
    if (at > 0) at--;
    while (at > 0 && is_inner(ed->text[at])) at--;
    return at;
}

static int behind(const struct ui_editor *ed, int at)
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

/* Where a key leads to from the caret; < 0: it is no such key. */
static int moved(const struct ui_editor *ed, int key, bool ctrl)
{
    switch (key) {
    case UI_KEY_LEFT:
        return ctrl ? word_before(ed, ed->at) : before(ed, ed->at);
    case UI_KEY_RIGHT:
        return ctrl ? word_behind(ed, ed->at) : behind(ed, ed->at);
    case UI_KEY_HOME:
    case UI_KEY_UP:
        return 0;
    case UI_KEY_END:
    case UI_KEY_DOWN:
        return ed->n;
    default:
        return -1;
    }
}

static void remove_by_key(struct ui_editor *ed, int key, bool ctrl)
{
    int from = 0;
    int to = 0;
    ui_editor_selection(ed, &from, &to);
    if (from == to && key == UI_KEY_BACKSPACE)
        from = ctrl ? word_before(ed, ed->at) : before(ed, ed->at);
    else if (from == to)
        to = ctrl ? word_behind(ed, ed->at) : behind(ed, ed->at);
    erase(ed, from, to);
}

static bool on_key(struct ui_editor *ed, const struct ui_event *ev)
{
    bool ctrl = (ev->mods & UI_CTRL) != 0;
    bool shift = (ev->mods & UI_SHIFT) != 0;
    if (ev->mods & UI_ALT) return false;
    int to = moved(ed, ev->key, ctrl);
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

bool ui_editor_event(struct ui_editor *ed, const struct ui_event *ev)
{
    switch (ev->kind) {
    case UI_TEXT:
        ed->compose[0] = '\0';
        (void)ui_editor_insert(ed, ev->text, strlen(ev->text));
        return true;
    case UI_COMPOSE:
        memcpy(ed->compose, ev->text, sizeof ed->compose);
        return true;
    case UI_KEY:
        /* While an input method composes, keys are its own. */
        return ed->compose[0] ? true : on_key(ed, ev);
    default:
        return false;
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

enum {
    CARD_W = 760,
    CARD_MARGIN = 24,
    CARD_PAD = 24,
    CARD_RADIUS = 12,
    TITLE_H = 36,
    LINES = 8,
    PATH_LINES = 2,
    LINE_H = 24,
    FIELD_PAD = 10,
    BUTTON_H = 30,
    BUTTON_PAD = 16,
    BUTTON_GAP = 10,
    ROW_GAP = 14,
    SHADOW = 24,
    CARET_W = 2
};
static const float scrim_alpha = 0.42f;
static const float shadow_alpha = 0.2f;
static const float select_alpha = 0.30f;
static const struct ui_type title_type = {FONT_UI_BOLD, 18};
static const struct ui_type text_type = {FONT_MONO, 14};

/* What stands for the character at `at`; NULL: itself. */
static const char *shown_as(const struct ui_editor *ed, int at)
{
    switch (ed->text[at]) {
    case UI_EDITOR_SPECIAL:
        return "<|endoftext|>";
    case '\n':
        return "\u23CE";
    case '\t':
        return "\u21E5";
    default:
        return NULL;
    }
}

static float width_of(const struct ui *u, const struct ui_editor *ed, int from, int to)
{
    float w = 0;
    for (int at = from; at < to;) {
        const char *as = shown_as(ed, at);
        int next = behind(ed, at);
        w += as ? ui_width(u, text_type, as)
                : font_width(u->sc->font, text_type.font, text_type.size, ed->text + at,
                             next - at);
        at = next;
    }
    return w;
}

/* The end of the line that begins at `from`: at a space where there is one. */
static int line_end(const struct ui *u, const struct ui_editor *ed, int from, float width)
{
    float w = 0;
    int word = -1;
    for (int at = from; at < ed->n;) {
        int next = behind(ed, at);
        w += width_of(u, ed, at, next);
        if (w > width && at > from) return word > from ? word : at;
        if (ed->text[at] == '\n') return next;
        if (ed->text[at] == ' ') word = next;
        at = next;
    }
    return ed->n;
}

static void draw_line(const struct ui *u, const struct ui_editor *ed, int from, int to,
                      float x, float cy)
{
    for (int at = from; at < to;) {
        const char *as = shown_as(ed, at);
        int next = as ? behind(ed, at) : at;
        while (!as && next < to && !shown_as(ed, next)) next = behind(ed, next);
        const char *text = as ? as : scene_print(u->sc, "%.*s", next - at, ed->text + at);
        (void)ui_text(u, x, cy, ALIGN_LEFT, text_type,
                      as ? u->theme->accent : u->theme->ink, text);
        x += width_of(u, ed, at, next);
        at = next;
    }
}

/* The lines around the caret; returns where it is. */
static struct scene_rect draw_text(const struct ui *u, const struct ui_editor *ed,
                                   struct scene_rect field, int lines)
{
    int start[LINES] = {0};
    int end[LINES] = {0};
    int n = 0;
    int from = 0;
    float width = field.w - 2 * FIELD_PAD;
    bool seen = false; /* the caret's line is among them */
    for (int at = 0;;) {
        int to = line_end(u, ed, at, width);
        bool last = to >= ed->n && !(to > at && ed->text[to - 1] == '\n');
        if (n == lines && !seen) { /* scroll */
            memmove(start, start + 1, sizeof start - sizeof *start);
            memmove(end, end + 1, sizeof end - sizeof *end);
            n--;
        }
        if (n == lines) break;
        start[n] = at;
        end[n++] = to;
        seen = seen || (ed->at >= at && (ed->at < to || last));
        if (last) break;
        at = to;
    }
    struct scene_rect caret = {field.x + FIELD_PAD, field.y + FIELD_PAD, CARET_W, LINE_H};
    int to = 0;
    ui_editor_selection(ed, &from, &to);
    for (int k = 0; k < n; k++) {
        float x = field.x + FIELD_PAD;
        float y = field.y + FIELD_PAD + (float)(k * LINE_H);
        int a = from > start[k] ? from : start[k];
        int b = to < end[k] ? to : end[k];
        if (a < b)
            (void)scene_rect(u->sc,
                             (struct scene_rect){x + width_of(u, ed, start[k], a), y,
                                                 width_of(u, ed, a, b), LINE_H},
                             0, scene_fade(u->theme->accent, select_alpha));
        draw_line(u, ed, start[k], end[k], x, y + LINE_H * 0.5f);
        if (ed->at >= start[k] && (ed->at < end[k] || k == n - 1)) {
            caret.x = x + width_of(u, ed, start[k], ed->at);
            caret.y = y;
        }
    }
    if (ed->compose[0]) {
        float w = ui_width(u, text_type, ed->compose);
        (void)scene_rect(u->sc, (struct scene_rect){caret.x, caret.y, w, LINE_H}, 0,
                         u->theme->accent_soft);
        (void)ui_text(u, caret.x, caret.y + LINE_H * 0.5f, ALIGN_LEFT, text_type,
                      u->theme->ink, ed->compose);
        scene_line(u->sc, caret.x, caret.y + LINE_H - 2, caret.x + w,
                   caret.y + LINE_H - 2, 1, u->theme->ink);
    } else {
        (void)scene_rect(u->sc, caret, 0, u->theme->accent);
    }
    return caret;
}

/* What lies where the path leads to. */
static void draw_matches(const struct ui *u, const struct ui_editor *ed, float x, float y,
                         float w)
{
    int shown = ed->n_match < UI_EDITOR_MATCHES ? ed->n_match : UI_EDITOR_MATCHES;
    for (int i = 0; i < shown; i++, y += LINE_H)
        (void)ui_text_fit(u, x, y + LINE_H * 0.5f, w, ALIGN_LEFT, text_type,
                          u->theme->ink_soft, ed->match[i]);
    if (ed->n_match > shown)
        (void)ui_text(u, x, y + LINE_H * 0.5f, ALIGN_LEFT, ui_note, u->theme->ink_faint,
                      scene_print(u->sc, "and %d more", ed->n_match - shown));
}

static float draw_button(const struct ui *u, float x, float y, int id,
                         struct step_action a, const char *text)
{
    struct scene_rect box = {x, y, ui_width(u, ui_body, text) + 2 * BUTTON_PAD, BUTTON_H};
    ui_control(ui_face(u, box, CARD_RADIUS * 0.5f, false), id, a, NULL);
    (void)ui_text(u, box.x + box.w / 2, y + BUTTON_H * 0.5f, ALIGN_CENTER, ui_body,
                  u->theme->ink, text);
    return x + box.w + BUTTON_GAP;
}

static void draw_count(const struct ui *u, const struct ui_editor *ed, float right,
                       float width, float cy)
{
    const char *text = ed->wrong;
    if (ed->file && !*text) text = "where to, from this folder or from ~";
    if (ed->path && !*text)
        text = "a folder, a .safetensors or an llm.c .bin file; Tab completes";
    bool over = !ed->path && ed->count > (size_t)ed->limit;
    if (!*text && over)
        text = scene_print(u->sc, "%zu of %d tokens: the %s is cut", ed->count, ed->limit,
                           ed->cut_front ? "front" : "end");
    else if (!*text)
        text = scene_print(u->sc, "%zu of %d token%s", ed->count, ed->limit,
                           ed->limit == 1 ? "" : "s");
    (void)ui_text_fit(u, right - fminf(width, ui_width(u, ui_body, text)), cy, width,
                      ALIGN_LEFT, ui_body,
                      over || *ed->wrong ? u->theme->ink : u->theme->ink_soft, text);
}

struct scene_rect ui_editor_build(struct scene *sc, const struct step_state *s,
                                  const struct scene_source *src,
                                  const struct ui_pointer *p, const struct ui_editor *ed)
{
    const struct scene_theme *t = scene_theme_get(s->theme);
    const struct ui u = {sc, s, src, p, t};
    const struct scene_rgba black = {0, 0, 0, 255};
    struct scene_rect all = {0, 0, sc->w, sc->h};
    sc->clip = all;
    scene_rect(sc, all, 0, scene_fade(black, scrim_alpha))->hit.kind = HIT_COVER;
    float w = fminf(CARD_W, sc->w - 2 * CARD_MARGIN);
    float field_h = LINES * LINE_H + 2 * FIELD_PAD;
    if (ed->file) field_h = PATH_LINES * LINE_H + 2 * FIELD_PAD + ui_export_rows_h();
    float h = 2 * CARD_PAD + TITLE_H + field_h + ROW_GAP + BUTTON_H;
    struct scene_rect card = {(sc->w - w) / 2, (sc->h - h) / 2, w, h};
    scene_rect(sc, ui_grown(card, SHADOW * 0.5f), CARD_RADIUS,
               scene_fade(black, shadow_alpha))
        ->u.rect.soft = SHADOW;
    scene_border(sc, card, CARD_RADIUS, 1, t->panel, t->edge)->hit.kind = HIT_COVER;
    float x = card.x + CARD_PAD;
    float right = card.x + w - CARD_PAD;
    const char *name = ed->file ? "Export" : ed->path ? "Open a model" : "Text";
    float title = ui_width(&u, title_type, name) + BUTTON_GAP;
    (void)ui_text(&u, x, card.y + CARD_PAD + TITLE_H * 0.3f, ALIGN_LEFT, title_type,
                  t->ink, name);
    draw_count(&u, ed, right, right - x - title, card.y + CARD_PAD + TITLE_H * 0.3f);
    struct scene_rect field = {x, card.y + CARD_PAD + TITLE_H, right - x, field_h};
    float y = field.y + field.h + ROW_GAP;
    int lines = ed->path ? PATH_LINES : LINES;
    if (ed->file) {
        field.h -= ui_export_rows_h();
        ui_export_rows(&u, ed, x, field.y + field.h + ROW_GAP * 0.5f);
    } else if (ed->path) {
        field.h -= (LINES - PATH_LINES) * LINE_H;
        draw_matches(&u, ed, x + FIELD_PAD, field.y + field.h, field.w - 2 * FIELD_PAD);
    }
    (void)scene_border(sc, field, CARD_RADIUS * 0.5f, 1, t->paper, t->edge);
    sc->clip = field;
    struct scene_rect caret = draw_text(&u, ed, field, lines);
    sc->clip = all;
    x = draw_button(&u, x, y, UI_ID_TEXT_DONE, ui_act(STEP_TEXT_DONE, 0),
                    ed->file   ? "Export (Enter)"
                    : ed->path ? "Open (Enter)"
                               : "Compute (Enter)");
    x = draw_button(&u, x, y, UI_ID_TEXT_CANCEL, ui_act(STEP_EDIT, STEP_EDIT_NONE),
                    "Cancel (Esc)");
    if (!ed->path)
        x = draw_button(&u, x, y, UI_ID_TEXT_CUT, ui_act(STEP_TEXT_CUT, 0),
                        ed->cut_front ? "if too long, the front is cut"
                                      : "if too long, the end is cut");
    if (ed->has_special)
        (void)draw_button(&u, x, y, UI_ID_TEXT_SPECIAL, ui_act(STEP_TEXT_SPECIAL, 0),
                          "insert <|endoftext|>");
    const struct scene_item *focus = scene_find(sc, s->focus);
    if (focus && ((s->focus >= UI_ID_TEXT_DONE && s->focus <= UI_ID_TEXT_SPECIAL) ||
                  (s->focus >= UI_ID_OUT && s->focus < UI_ID_OUT_END)))
        (void)scene_border(sc, ui_grown(scene_item_box(sc, focus), 2), CARD_RADIUS * 0.5f,
                           2, scene_fade(t->accent, 0), t->accent);
    return caret;
}
