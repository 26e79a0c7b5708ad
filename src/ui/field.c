/* The field at a cell whose number is edited: a small card with the number being typed,
 * what is computed there, and why what was typed is not taken. */
#include "field.h"

#include <math.h>

enum {
    CARD_W = 268,
    CARD_H = 118,
    CARD_PAD = 12,
    CARD_RADIUS = 8,
    CARD_GAP = 9, /* to the cell */
    SHADOW = 14,
    MARGIN = 6, /* to the stage's edge */
    TITLE_CY = 18,
    BOX_Y = 32,
    BOX_H = 30,
    BOX_RADIUS = 5,
    BOX_PAD = 9,
    BUTTON_W = 30,
    BUTTON_GAP = 5,
    LINE_CY = 78,
    FOOT_CY = 99,
    CARET_W = 2,
    CARET_H = 18,
    CELL_OUT = 3, /* a frame around the cell */
    CELL_W = 3,
    CELL_RADIUS = 5
};
static const float shadow_alpha = 0.2f;
static const struct ui_type number_type = {FONT_MONO_BOLD, 15};
static const struct ui_type hint_type = {FONT_UI, 11};

/* Below the cell, or above it where there is no room; beside the stage's edge never. */
static struct scene_rect card_of(const struct ui *u)
{
    struct scene_rect f = u->sc->frame.stage;
    struct scene_rect cell = {f.x + f.w / 2, f.y + f.h / 2, 0, 0};
    (void)scene_cell_box(u->sc, u->s->field.at, &cell);
    struct scene_rect r = {cell.x + cell.w / 2 - CARD_W * 0.5f,
                           cell.y + cell.h + CARD_GAP, CARD_W, CARD_H};
    if (r.y + r.h > f.y + f.h - MARGIN) r.y = cell.y - CARD_GAP - CARD_H;
    r.x = fminf(fmaxf(r.x, f.x + MARGIN), f.x + f.w - MARGIN - r.w);
    r.y = fminf(fmaxf(r.y, f.y + MARGIN), f.y + f.h - MARGIN - r.h);
    return r;
}

static void button(const struct ui *u, struct scene_rect box, int id,
                   struct step_action a, const char *text, const char *tip)
{
    ui_control(ui_face(u, box, BOX_RADIUS, false), id, a, tip);
    (void)ui_text_fit(u, box.x + box.w / 2, box.y + box.h / 2, box.w - 4, ALIGN_CENTER,
                      ui_body, u->theme->ink, text);
}

static void number(const struct ui *u, struct scene_rect box)
{
    const struct step_field *f = &u->s->field;
    const struct scene_theme *t = u->theme;
    struct scene_item *it = scene_border(u->sc, box, BOX_RADIUS, f->wrong ? 2 : 1.5f,
                                         t->paper, f->wrong ? t->odd : t->accent);
    it->hit.kind = HIT_COVER;
    it->hit.id = UI_ID_FIELD;
    it->hit.tip = "Type a number; or \u2191 \u2193, the wheel, or drag sideways";
    struct scene_rect in = ui_grown(box, -2);
    struct scene_rect all = u->sc->clip;
    u->sc->clip = in;
    float x = box.x + BOX_PAD;
    float cy = box.y + box.h / 2;
    float w = font_width(u->sc->font, number_type.font, number_type.size, f->text, f->n);
    float at =
        font_width(u->sc->font, number_type.font, number_type.size, f->text, f->caret);
    float room = box.w - 2 * BOX_PAD;
    if (at > room) x -= at - room; /* the caret stays in view */
    if (f->fresh)
        (void)scene_rect(u->sc,
                         (struct scene_rect){x - 2, cy - CARET_H * 0.5f, w + 4, CARET_H},
                         2, t->accent_mid);
    (void)ui_text(u, x, cy, ALIGN_LEFT, number_type, t->ink,
                  scene_print(u->sc, "%.*s", f->n, f->text));
    if (!f->fresh)
        (void)scene_rect(
            u->sc, (struct scene_rect){x + at, cy - CARET_H * 0.5f, CARET_W, CARET_H}, 0,
            t->accent);
    u->sc->clip = all;
}

/* "W_Q row 3, column 2" */
static const char *title(const struct ui *u)
{
    struct step_ref r = u->s->field.at;
    const char *stage = r.tensor == ATTN_S_SCALED   ? " scaled"
                        : r.tensor == ATTN_S_MASKED ? " masked"
                                                    : "";
    return scene_print(u->sc, "%s%s row %d, column %d", scene_tensor_name(r.tensor),
                       stage, r.row + 1, r.col + 1);
}

/* What stands in the cell by itself, or why the text is refused. */
static void line(const struct ui *u, float x, float cy, float w, bool given)
{
    const struct step_field *f = &u->s->field;
    struct scene_derivation d;
    if (f->wrong) {
        (void)ui_text_fit(u, x, cy, w, ALIGN_LEFT, ui_note, u->theme->odd,
                          scene_wrong_text(u->sc, u->s, f->wrong));
        return;
    }
    const char *text = "computed";
    if (given && u->src->fits && scene_derive(&d, u->src, f->at) && !isnan(d.was))
        text = scene_print(u->sc, "edited; it was %s", scene_number(u->sc, d.was, 6));
    else if (given)
        text = "edited";
    else if (f->at.tensor <= ATTN_W_V || f->at.tensor == ATTN_W_O)
        text = f->at.tensor == ATTN_X ? "as ln_1 gives it" : "as it is given";
    (void)ui_text_fit(u, x, cy, w, ALIGN_LEFT, ui_note, u->theme->ink_soft, text);
}

void ui_field(const struct ui *u)
{
    if (!step_field_is_open(u->s)) return;
    const struct scene_theme *t = u->theme;
    struct scene *sc = u->sc;
    struct scene_rect card = card_of(u);
    struct scene_rect cell;
    sc->clip = sc->canvas;
    if (scene_cell_box(sc, u->s->field.at, &cell))
        (void)scene_border(sc, ui_grown(cell, CELL_OUT), CELL_RADIUS, CELL_W,
                           scene_fade(t->accent, 0), t->accent);
    sc->clip = sc->frame.stage;
    struct scene_rect shadow = card;
    shadow.y += 4;
    scene_rect(sc, shadow, CARD_RADIUS, scene_fade(t->ink, shadow_alpha))->u.rect.soft =
        SHADOW;
    scene_border(sc, card, CARD_RADIUS, 1, t->panel, t->track)->hit =
        (struct scene_hit){.kind = HIT_COVER, .id = UI_ID_FIELD_CARD, .tip = NULL};
    float x = card.x + CARD_PAD;
    float w = card.w - 2 * CARD_PAD;
    bool given = scene_given_at(u->src, u->s->field.at) != NULL;
    static const char back[] = "as computed";
    (void)ui_text_fit(u, x, card.y + TITLE_CY, w, ALIGN_LEFT, ui_strong, t->ink,
                      title(u));
    float take = BUTTON_W;
    struct scene_rect box = {x, card.y + BOX_Y, w - 3 * (take + BUTTON_GAP), BOX_H};
    number(u, box);
    struct scene_rect b = {box.x + box.w + BUTTON_GAP, box.y, take, BOX_H};
    button(u, b, UI_ID_FIELD_LESS, (struct step_action){.verb = STEP_FIELD_BY, .x = -1},
           "\u2212", "Less (\u2193; with Shift a tenth of it)");
    b.x += take + BUTTON_GAP;
    button(u, b, UI_ID_FIELD_MORE, (struct step_action){.verb = STEP_FIELD_BY, .x = 1},
           "+", "More (\u2191; with Shift a tenth of it)");
    b.x += take + BUTTON_GAP;
    button(u, b, UI_ID_FIELD_TAKE, ui_act(STEP_FIELD_TAKE, 0), "\u21B5",
           "Take the number (Enter)");
    float w_back = ui_width(u, ui_note, back) + 2 * BUTTON_GAP;
    line(u, x, card.y + LINE_CY, given ? w - w_back - BUTTON_GAP : w, given);
    if (given) {
        b = (struct scene_rect){x + w - w_back, card.y + LINE_CY - 10, w_back, 20};
        ui_control(
            ui_face(u, b, BOX_RADIUS, false), UI_ID_FIELD_BACK,
            (struct step_action){.verb = STEP_UNGIVE, .i = -1, .ref = u->s->field.at},
            "The computed number again (Ctrl Delete)");
        (void)ui_text(u, b.x + b.w / 2, b.y + b.h / 2, ALIGN_CENTER, ui_note, t->ink,
                      back);
    }
    (void)ui_text_fit(
        u, x, card.y + FOOT_CY, w, ALIGN_LEFT, hint_type, t->ink_faint,
        "\u2191 \u2193 wheel drag \u00B7 Ctrl arrows: cell \u00B7 Tab: matrix");
}
