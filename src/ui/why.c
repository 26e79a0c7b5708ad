/* Behind a click: why the stage is here, what would go wrong without it, what it costs, and
 * where to read on. */
#include "parts.h"

#include <math.h>
#include <string.h>

enum {
    MARGIN = 16,
    PAD = 20,
    RADIUS = 10,
    MOST_W = 620,
    SECTION_H = 26,
    LEADING = 19,
    LINK_H = 21,
    CLOSE = 24,
    BUTTON_W = 46,
    BUTTON_H = 22,
    BUTTON_UP = 39, /* middle of the button, from the stage's top */
    NUMBER_GAP = 10,
    SHADOW = 18
};
static const struct ui_type number_type = {FONT_MONO, 10.5f};
static const float text_size = 13.5f, button_size = 12, shadow_alpha = 0.16f;

static void button(const struct ui *u)
{
    struct scene_rect f = u->sc->frame.stage;
    struct scene_rect box = {f.x + f.w - MARGIN - BUTTON_W,
                             f.y + BUTTON_UP - BUTTON_H * 0.5f, BUTTON_W, BUTTON_H};
    struct ui_type type = {u->s->why ? FONT_UI_BOLD : FONT_UI, button_size};
    ui_control(ui_face(u, box, BUTTON_H * 0.5f, u->s->why), UI_ID_WHY,
               ui_act(STEP_WHY, 0), "Why this step is here, and what it costs (Y)");
    (void)ui_text(u, box.x + box.w / 2, box.y + box.h / 2, ALIGN_CENTER, type,
                  u->s->why ? u->theme->accent : u->theme->ink_soft, "why?");
}

/* "arXiv:1706.03762", by which a paper is found; "": it is none. */
static const char *number_of(const struct ui *u, const struct scene_link *l)
{
    static const char papers[] = "https://arxiv.org/abs/";
    size_t n = sizeof papers - 1;
    if (strncmp(l->address, papers, n) != 0) return "";
    return scene_print(u->sc, "arXiv:%s", l->address + n);
}

/* Draws from y on and returns where it ends. */
static float body(const struct ui *u, float x, float y, float w)
{
    static const char *const heading[3] = {"WHY IS THIS STEP HERE", "WITHOUT IT", "COST"};
    const struct scene_reasons *r = scene_reasons_of(u->s->stage);
    const char *const text[3] = {r->why, r->without, r->cost};
    for (int i = 0; i < 3; i++) {
        ui_section(u, x, y + SECTION_H * 0.5f, heading[i]);
        y += SECTION_H;
        float cap = u->sc->font->cap[FONT_UI] * text_size;
        y = scene_paragraph(u->sc, x, y + cap, w, LEADING, FONT_UI, text_size,
                            u->theme->ink, text[i]) -
            cap;
    }
    ui_section(u, x, y + SECTION_H * 0.5f, "GO DEEPER");
    y += SECTION_H;
    for (int i = 0; i < SCENE_LINKS; i++) {
        const struct scene_link *l = scene_link_at(r->link[i]);
        if (!l) continue;
        struct scene_rect box = {x, y, w, LINK_H};
        const char *number = number_of(u, l);
        float room = w - ui_width(u, number_type, number) - NUMBER_GAP;
        (void)ui_text_fit(u, x, y + LINK_H * 0.5f, room, ALIGN_LEFT, ui_body,
                          ui_hot(u, box) ? u->theme->ink : u->theme->accent, l->title);
        (void)ui_text(u, x + fminf(ui_width(u, ui_body, l->title), room) + NUMBER_GAP,
                      y + LINK_H * 0.5f, ALIGN_LEFT, number_type, u->theme->ink_soft,
                      number);
        (void)ui_touch(u, box, UI_ID_LINK + i, ui_act(STEP_LINK, r->link[i]), l->address);
        y += LINK_H;
    }
    return y;
}

void ui_why(const struct ui *u)
{
    struct scene *sc = u->sc;
    bool compared = u->src->compare && u->s->diff != STEP_DIFF_OFF;
    if (step_is_covered(u->s)) return;
    sc->clip = (struct scene_rect){0, 0, sc->w, sc->h};
    if (!compared) button(u); /* else its place is the comparison's */
    if (!u->s->why) return;
    struct scene_rect f = sc->frame.stage;
    f.h += sc->frame.code.h; /* over the code too */
    float w = fminf(MOST_W, f.w - 2 * MARGIN), x = f.x + f.w - MARGIN - w;
    struct scene_rect card = {x, f.y + BUTTON_UP + BUTTON_H, w, 0};
    struct scene_item *shadow = scene_rect(
        sc, card, RADIUS, scene_fade((struct scene_rgba){0, 0, 0, 255}, shadow_alpha));
    struct scene_item *face =
        scene_border(sc, card, RADIUS, 1, u->theme->panel, u->theme->edge);
    float end = body(u, x + PAD, card.y + PAD * 0.5f, w - 2 * PAD - CLOSE) + PAD * 0.5f;
    card.h = end - card.y;
    face->u.rect.box = card;
    face->hit.kind = HIT_COVER;
    shadow->u.rect.box = ui_grown(card, SHADOW * 0.5f);
    shadow->u.rect.soft = SHADOW;
    struct scene_rect close = {card.x + w - PAD * 0.5f - CLOSE, card.y + PAD * 0.5f,
                               CLOSE, CLOSE};
    ui_control(ui_face(u, close, RADIUS * 0.5f, false), UI_ID_WHY_CLOSE,
               ui_act(STEP_WHY, 0), "Close (Esc)");
    (void)ui_text(u, close.x + CLOSE * 0.5f, close.y + CLOSE * 0.5f, ALIGN_CENTER,
                  ui_body, u->theme->ink, "\u00D7");
}
