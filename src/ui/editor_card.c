/* The card that shows a text being edited: its lines, its tokens, what can be done. */
#include "editor.h"

#include <math.h>
#include <string.h>

enum {
    CARD_W = 760,
    CARD_MARGIN = 24,
    CARD_PAD = 24,
    CARD_RADIUS = 12,
    TITLE_H = 36,
    LINES = 8,
    PATH_LINES = 2,
    LINE_H = EDITOR_LINE_H,
    FIELD_PAD = UI_EDITOR_PAD,
    BUTTON_H = 30,
    BUTTON_PAD = 16,
    BUTTON_GAP = 10,
    ROW_GAP = 14,
    SHADOW = 24,
    CARET_W = 2,
    CHIP_H = 22,
    CHIP_GAP = 5,
    CHIP_ROWS = 2,
    CHIP_ROW_H = 32,
    BAR_W = 4 /* of the scroll bar */
};
static const float scrim_alpha = 0.42f;
static const float shadow_alpha = 0.2f;
static const float select_alpha = 0.30f;
static const struct ui_type chip_type = {FONT_MONO, 12};
static const struct ui_type title_type = {FONT_UI_BOLD, 18};

/* ---- the card's geometry ------------------------------------------------------------------ */

static struct scene_rect card_of(const struct ui_editor *ed, const struct scene *sc)
{
    float w = fminf(CARD_W, sc->w - 2 * CARD_MARGIN);
    float inner = ed->file ? PATH_LINES * LINE_H + ui_export_rows_h() - ROW_GAP
                           : LINES * LINE_H + CHIP_ROWS * CHIP_ROW_H;
    float h = 2 * CARD_PAD + TITLE_H + inner + 2 * FIELD_PAD + 2 * ROW_GAP + BUTTON_H;
    return (struct scene_rect){(sc->w - w) / 2, (sc->h - h) / 2, w, h};
}

struct editor_field editor_field_of(const struct ui_editor *ed, const struct scene *sc)
{
    struct scene_rect card = card_of(ed, sc);
    int lines = ed->path ? PATH_LINES : LINES;
    return (struct editor_field){
        .box = {card.x + CARD_PAD + FIELD_PAD, card.y + CARD_PAD + TITLE_H + FIELD_PAD,
                card.w - 2 * CARD_PAD - 2 * FIELD_PAD, (float)(lines * LINE_H)},
        .lines = lines,
        .font = sc->font};
}

/* ---- the text --------------------------------------------------------------------------------- */

static void draw_line(const struct ui *u, const struct ui_editor *ed,
                      const struct editor_line *l, float x, float cy)
{
    for (int at = l->from; at < l->to;) {
        const char *as = editor_shown_as(ed, at);
        int next = editor_stretch(ed, at, l->to);
        bool rtl = !as && scene_has_rtl(ed->text + at, next - at);
        const char *text = as ? as
                              : scene_print(u->sc, rtl ? SCENE_ISOLATED : "%.*s",
                                            next - at, ed->text + at);
        (void)ui_text(u, x, cy, ALIGN_LEFT, editor_type,
                      as ? u->theme->accent : u->theme->ink, text);
        x += ui_width(u, editor_type, text);
        at = next;
    }
}

/* A box for each stretch that stands together. */
static void draw_selection(const struct ui *u, const struct editor_field *f,
                           const struct ui_editor *ed, const struct editor_line *l,
                           float y)
{
    struct editor_cells cells;
    struct editor_cell c;
    struct scene_rect box = {0, y, 0, LINE_H};
    struct scene_rgba fill = scene_fade(u->theme->accent, select_alpha);
    int from = 0, to = 0;
    ui_editor_selection(ed, &from, &to);
    editor_cells_begin(&cells, f, ed, l);
    while (editor_cells_next(&cells, &c)) {
        if (c.to > from && c.from < to) {
            if (box.w == 0) box.x = f->box.x + c.x;
            box.w = f->box.x + c.x + c.w - box.x;
            continue;
        }
        if (box.w > 0) (void)scene_rect(u->sc, box, 0, fill);
        box.w = 0;
    }
    if (box.w > 0) (void)scene_rect(u->sc, box, 0, fill);
}

/* How much of a long text is seen. */
static void draw_scroll(const struct ui *u, const struct editor_field *f,
                        const struct ui_editor *ed, int count)
{
    if (count <= f->lines) return;
    struct scene_rect track = {f->box.x + f->box.w + FIELD_PAD - 2 * BAR_W, f->box.y,
                               BAR_W, f->box.h};
    (void)scene_rect(u->sc, track, BAR_W * 0.5f, u->theme->edge);
    track.y += track.h * (float)ed->top / (float)count;
    track.h *= (float)f->lines / (float)count;
    (void)scene_rect(u->sc, track, BAR_W * 0.5f, u->theme->ink_faint);
}

/* What an input method composes, at the caret. */
static void draw_composed(const struct ui *u, const struct editor_field *f,
                          const char *text, struct scene_rect *caret)
{
    if (scene_has_rtl(text, -1))
        text = scene_print(u->sc, SCENE_ISOLATED, (int)strlen(text), text);
    float w = ui_width(u, editor_type, text);
    float right = f->box.x + f->box.w;
    caret->x = fmaxf(fminf(caret->x, right - w), f->box.x);
    (void)scene_rect(u->sc, (struct scene_rect){caret->x, caret->y, w, LINE_H}, 0,
                     u->theme->accent_soft);
    (void)ui_text(u, caret->x, caret->y + LINE_H * 0.5f, ALIGN_LEFT, editor_type,
                  u->theme->ink, text);
    scene_line(u->sc, caret->x, caret->y + LINE_H - 2, caret->x + w,
               caret->y + LINE_H - 2, 1, u->theme->ink);
}

/* The lines from ed->top on; returns where the caret is. */
static struct scene_rect draw_text(const struct ui *u, const struct editor_field *f,
                                   const struct ui_editor *ed)
{
    struct scene_rect caret = {f->box.x, f->box.y, CARET_W, LINE_H};
    struct editor_line l = {.n = -1};
    bool seen = false;
    while (editor_next(f, ed, &l)) {
        float x = f->box.x, y = f->box.y + (float)((l.n - ed->top) * LINE_H);
        if (l.n < ed->top || l.n >= ed->top + f->lines) continue;
        draw_selection(u, f, ed, &l, y);
        draw_line(u, ed, &l, x, y + LINE_H * 0.5f);
        if (ed->at < l.from || (ed->at >= l.to && !l.last)) continue;
        caret.x = x + editor_caret(f, ed, &l, ed->at);
        caret.y = y;
        seen = true;
    }
    draw_scroll(u, f, ed, l.n + 1);
    if (ed->compose[0])
        draw_composed(u, f, ed->compose, &caret);
    else if (seen)
        (void)scene_rect(u->sc, caret, 0, u->theme->accent);
    return caret;
}

/* ---- what is beside it --------------------------------------------------------------------- */

/* The tokens around the caret, as chips; parts of one character are joined. */
static void draw_chips(const struct ui *u, const struct ui_editor *ed, float left,
                       float y, float right)
{
    float x = left, line = u->theme->ink_faint.a ? 1.5f : 1;
    int row = 0;
    for (int i = 0; i < ed->n_chip; i++) {
        const struct ui_editor_chip *c = &ed->chip[i];
        int at = ed->first_chip + i;
        float w = scene_raw_chip_width(u->sc, c->text, at, chip_type.size);
        w = fminf(w, right - left);
        if (x + w > right) {
            if (++row == CHIP_ROWS) return;
            x = left;
        }
        float top = y + (float)(row * CHIP_ROW_H);
        scene_raw_chip(u->sc, (struct scene_rect){x, top, w, CHIP_H}, c->text, at,
                       chip_type.size, at == ed->caret_chip);
        if (i > 0 && c->joins) {
            float from = fmaxf(x - CHIP_GAP - CHIP_H * 0.5f, left),
                  under = top + CHIP_H + 3;
            float to = x + w / 2;
            (void)scene_line(u->sc, from, under, to, under, line, u->theme->ink_soft);
            (void)scene_line(u->sc, from, under - 3, from, under, line,
                             u->theme->ink_soft);
            (void)scene_line(u->sc, to, under - 3, to, under, line, u->theme->ink_soft);
        }
        x += w + CHIP_GAP;
    }
}

/* What lies where the path leads to. */
static void draw_matches(const struct ui *u, const struct ui_editor *ed, float x, float y,
                         float w)
{
    int shown = ed->n_match < UI_EDITOR_MATCHES ? ed->n_match : UI_EDITOR_MATCHES;
    for (int i = 0; i < shown; i++, y += LINE_H) {
        struct scene_rect line = {x - FIELD_PAD * 0.5f, y, w + FIELD_PAD, LINE_H};
        bool on = i == ed->pick || ui_hot(u, line);
        struct scene_item *it =
            scene_rect(u->sc, line, FIELD_PAD * 0.5f,
                       on ? u->theme->accent_soft : scene_fade(u->theme->panel, 0));
        ui_control(it, UI_ID_MATCH + i, ui_act(STEP_TEXT_PICK, i), NULL);
        (void)ui_text_fit(u, x, y + LINE_H * 0.5f, w, ALIGN_LEFT, editor_type,
                          on ? u->theme->ink : u->theme->ink_soft, ed->match[i]);
    }
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
        text = "a folder, a .safetensors or an llm.c .bin; Tab completes, \u2193 picks";
    if (ed->words && !*text)
        text = scene_print(u->sc,
                           "%zu of at most %d words; a repeated word is the same vector",
                           ed->count, ed->limit);
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
    struct scene_rect card = card_of(ed, sc);
    const struct editor_field f = editor_field_of(ed, sc);
    scene_rect(sc, ui_grown(card, SHADOW * 0.5f), CARD_RADIUS,
               scene_fade(black, shadow_alpha))
        ->u.rect.soft = SHADOW;
    scene_border(sc, card, CARD_RADIUS, 1, t->panel, t->edge)->hit.kind = HIT_COVER;
    float x = card.x + CARD_PAD;
    float right = card.x + card.w - CARD_PAD;
    const char *name = ed->file    ? "Export"
                       : ed->path  ? "Open a model"
                       : ed->words ? "Words of the toy"
                                   : "Text";
    float title = ui_width(&u, title_type, name) + BUTTON_GAP;
    (void)ui_text(&u, x, card.y + CARD_PAD + TITLE_H * 0.3f, ALIGN_LEFT, title_type,
                  t->ink, name);
    draw_count(&u, ed, right, right - x - title, card.y + CARD_PAD + TITLE_H * 0.3f);
    struct scene_rect field = ui_grown(f.box, FIELD_PAD);
    float y = card.y + card.h - CARD_PAD - BUTTON_H, below = field.y + field.h;
    if (ed->file)
        ui_export_rows(&u, ed, x, below + ROW_GAP * 0.5f);
    else if (ed->path)
        draw_matches(&u, ed, f.box.x, below + ROW_GAP * 0.5f, f.box.w);
    else
        draw_chips(&u, ed, x, below + ROW_GAP, right);
    (void)scene_border(sc, field, CARD_RADIUS * 0.5f, 1, t->paper, t->edge);
    sc->clip = field;
    struct scene_rect caret = draw_text(&u, &f, ed);
    sc->clip = all;
    x = draw_button(&u, x, y, UI_ID_TEXT_DONE, ui_act(STEP_TEXT_DONE, 0),
                    ed->file   ? "Export (Enter)"
                    : ed->path ? "Open (Enter)"
                               : "Compute (Enter)");
    x = draw_button(&u, x, y, UI_ID_TEXT_CANCEL, ui_act(STEP_EDIT, STEP_EDIT_NONE),
                    "Cancel (Esc)");
    if (!ed->path && !ed->words)
        x = draw_button(&u, x, y, UI_ID_TEXT_CUT, ui_act(STEP_TEXT_CUT, 0),
                        ed->cut_front ? "if too long, the front is cut"
                                      : "if too long, the end is cut");
    if (ed->has_special)
        (void)draw_button(&u, x, y, UI_ID_TEXT_SPECIAL, ui_act(STEP_TEXT_SPECIAL, 0),
                          "insert <|endoftext|>");
    if (ed->path && ed->can_browse)
        (void)draw_button(&u, x, y, UI_ID_TEXT_BROWSE, ui_act(STEP_TEXT_BROWSE, 0),
                          "Browse \u2026 (Ctrl O)");
    const struct scene_item *focus = scene_find(sc, s->focus);
    if (focus &&
        ((s->focus >= UI_ID_TEXT_DONE && s->focus < UI_ID_MATCH + UI_EDITOR_MATCHES) ||
         (s->focus >= UI_ID_OUT && s->focus < UI_ID_OUT_END)))
        (void)scene_border(sc, ui_grown(scene_item_box(sc, focus), 2), CARD_RADIUS * 0.5f,
                           2, scene_fade(t->accent, 0), t->accent);
    return caret;
}
