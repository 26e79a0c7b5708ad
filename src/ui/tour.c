/* The tour's card, in the side panel's place so that it lies over nothing; a frame on the
 * stage around what is pointed at; and what presenter mode lays over all. */
#include "parts.h"

#include <math.h>

enum {
    PAD = 20,
    PAD_TIGHT = 16,
    ROOMY = 340, /* a panel from this width on */
    HEAD_Y = 26,
    BAR_Y = 42, /* of the stops that are behind one */
    BAR_H = 3,
    BODY_Y = 58,
    GAP = 12, /* between two texts */
    LEADING = 19,
    CHOICE_PAD = 8,
    CHOICE_GAP = 6,
    CLOSE = 24,
    BUTTON_H = 30,
    BUTTON_GAP = 8,
    RADIUS = 6,
    OVER_H = 26,
    RING_R = 22, /* around the pointer */
    RING_W = 3,
    FRAME_W = 3,
    FRAME_LEAST = 10 /* points: a cell's frame stays to be seen where cells are small */
};
static const float text_size = 13.5f;
static const struct ui_type title_type = {FONT_UI_BOLD, 16};

/* The card from top to bottom. */
struct card {
    const struct ui *u;
    const struct scene_tour *t;
    float x, y, w;
};

/* A wrapped text; y goes on below it. */
static void prose(struct card *c, enum scene_font font, struct scene_rgba ink,
                  const char *text)
{
    if (!text[0]) return;
    float cap = c->u->sc->font->cap[font] * text_size;
    float up = (LEADING - cap) / 2;
    c->y = scene_paragraph(c->u->sc, c->x, c->y + up + cap, c->w, LEADING, font,
                           text_size, ink, text) -
           up - cap + GAP;
}

static void head(struct card *c)
{
    const struct ui *u = c->u;
    const struct step_tour *t = &u->s->tour;
    float top = u->sc->frame.panel.y;
    ui_section(u, c->x, top + HEAD_Y,
               scene_print(u->sc, "TOUR, STOP %d OF %d", t->stop + 1, t->n));
    struct scene_rect close = {c->x + c->w - CLOSE, top + HEAD_Y - CLOSE * 0.5f, CLOSE,
                               CLOSE};
    ui_control(ui_face(u, close, RADIUS, false), UI_ID_TOUR_CLOSE, ui_act(STEP_TOUR, 0),
               "Leave the tour; G comes back to this stop (Esc)");
    (void)ui_text(u, close.x + CLOSE * 0.5f, close.y + CLOSE * 0.5f, ALIGN_CENTER,
                  ui_body, u->theme->ink, "\u00D7");
    struct scene_rect bar = {c->x, top + BAR_Y, c->w, BAR_H};
    (void)scene_rect(u->sc, bar, BAR_H * 0.5f, u->theme->track);
    bar.w *= (float)(t->stop + 1) / (float)(t->n > 0 ? t->n : 1);
    (void)scene_rect(u->sc, bar, BAR_H * 0.5f, u->theme->accent);
    c->y = top + BODY_Y;
    c->y = scene_paragraph(u->sc, c->x, c->y + LEADING * 0.75f, c->w, LEADING + 2,
                           title_type.font, title_type.size, u->theme->ink, c->t->title) -
           LEADING * 0.75f + GAP * 0.5f;
}

/* One text that can be chosen, as high as it needs. */
static void one_choice(struct card *c, int i, bool asks)
{
    const struct ui *u = c->u;
    bool at = u->s->tour.row == i;
    bool right = !asks && c->t->right_row == i;
    struct scene_rect box = {c->x, c->y, c->w, LEADING + 2 * CHOICE_PAD};
    struct card in = {u, c->t, c->x + 2 * CHOICE_PAD, c->y + CHOICE_PAD,
                      c->w - 4 * CHOICE_PAD};
    struct scene_item *face = ui_face(u, box, RADIUS, asks ? at : right);
    if (asks)
        ui_control(face, UI_ID_TOUR_CHOICE + i,
                   (struct step_action){.verb = STEP_TOUR_PICK,
                                        .ref = {ATTN_TENSOR_COUNT, i, i}},
                   NULL);
    prose(&in, FONT_UI, asks || right ? u->theme->ink : u->theme->ink_faint,
          c->t->choice[i]);
    box.h = in.y - GAP + CHOICE_PAD - c->y;
    face->u.rect.box = box;
    c->y += box.h + CHOICE_GAP;
}

/* What the keys have come to, in words, and how one answers. */
static const char *how(const struct card *c)
{
    const struct step_tour *t = &c->u->s->tour;
    struct scene *sc = c->u->sc;
    if (c->t->kind == ASK_CHOICE) return "Click one, or \u2191 \u2193 and Enter.";
    if (t->row < 0)
        return c->t->kind == ASK_TOKEN
                   ? "Click a token or its column, or arrows and Enter."
               : c->t->kind == ASK_ROW ? "Click a row, or arrows and Enter."
                                       : "Click the cell, or arrows and Enter.";
    if (c->t->kind == ASK_CELL)
        return scene_print(sc, "Row %d, column %d: Enter answers.", t->row + 1,
                           t->col + 1);
    const char *text = scene_token_text(sc, c->u->src, t->row);
    return scene_print(sc, "%s %d %s: Enter answers.",
                       c->t->kind == ASK_ROW ? "Row" : "Token", t->row + 1,
                       scene_fit_text(sc, FONT_UI, 1, 8, text));
}

static void question(struct card *c, bool asks)
{
    const struct ui *u = c->u;
    const struct scene_theme *t = u->theme;
    prose(c, FONT_UI_MEDIUM, t->ink, c->t->ask);
    if (c->t->kind == ASK_CHOICE) {
        for (int i = 0; i < SCENE_CHOICES && c->t->choice[i]; i++) one_choice(c, i, asks);
        c->y += CHOICE_GAP;
    }
    prose(c, FONT_UI_MEDIUM, asks ? t->ink_soft : t->accent, c->t->verdict);
    if (asks && u->s->tour.verdict == STEP_UNANSWERED)
        prose(c, FONT_UI, t->ink_soft, how(c));
}

static void button(const struct card *c, struct scene_rect box, int id,
                   struct step_action a, bool on, const char *text, const char *tip)
{
    const struct ui *u = c->u;
    ui_control(ui_face(u, box, RADIUS, on), id, a, tip);
    (void)ui_text_fit(u, box.x + box.w / 2, box.y + box.h / 2, box.w - CHOICE_PAD,
                      ALIGN_CENTER, on ? ui_strong : ui_body, u->theme->ink, text);
}

/* At the panel's foot: back, show, on; and from the start. */
static void buttons(const struct card *c, bool asks)
{
    const struct ui *u = c->u;
    const struct step_tour *t = &u->s->tour;
    struct scene_rect p = u->sc->frame.panel;
    bool last = t->stop + 1 == t->n;
    float w = (c->w - 2 * BUTTON_GAP) / 3;
    struct scene_rect box = {c->x, p.y + p.h - PAD_TIGHT - OVER_H - BUTTON_H, w,
                             BUTTON_H};
    if (t->stop > 0)
        button(c, box, UI_ID_TOUR_BACK, ui_act(STEP_TOUR_BY, -1), false, "\u2190 Back",
               "The stop before (PgUp)");
    box.x += w + BUTTON_GAP;
    if (asks)
        button(c, box, UI_ID_TOUR_REVEAL, ui_act(STEP_TOUR_PICK, STEP_REVEALED), false,
               "Show it", "What is right");
    else if (c->t->kind != ASK_NOTHING)
        button(c, box, UI_ID_TOUR_AGAIN, ui_act(STEP_TOUR_AGAIN, 0), false, "Ask again",
               "Answer this question anew");
    box.x += w + BUTTON_GAP;
    button(c, box, UI_ID_TOUR_NEXT, ui_act(STEP_TOUR_BY, 1), !asks,
           last   ? "Finish"
           : asks ? "Skip \u2192"
                  : "Next \u2192",
           last ? "The end; G begins anew" : "The next stop (PgDn)");
    if (t->stop == 0) return;
    struct scene_rect over = {c->x, p.y + p.h - PAD_TIGHT * 0.5f - OVER_H, c->w, OVER_H};
    (void)ui_text(u, c->x + c->w / 2, over.y + over.h / 2, ALIGN_CENTER, ui_note,
                  ui_hot(u, over) ? u->theme->ink : u->theme->accent, "Start over");
    (void)ui_touch(u, over, UI_ID_TOUR_OVER, ui_act(STEP_TOUR_AGAIN, 1),
                   "From the first stop, nothing answered");
}

void ui_tour(const struct ui *u)
{
    struct scene *sc = u->sc;
    struct scene_rect p = sc->frame.panel;
    struct card c = {.u = u, .t = u->src->tour};
    bool asks = ui_tour_asks(sc, u->s);
    float pad = p.w >= ROOMY ? PAD : PAD_TIGHT;
    sc->clip = p;
    scene_rect(sc, p, 0, u->theme->panel)->hit.kind = HIT_COVER;
    scene_line(sc, p.x + 0.5f, p.y, p.x + 0.5f, p.y + p.h, 1, u->theme->edge);
    c.x = p.x + pad;
    c.w = p.w - 2 * pad;
    head(&c);
    if (asks || c.t->kind == ASK_NOTHING) prose(&c, FONT_UI, u->theme->ink, c.t->say);
    if (c.t->ask[0]) question(&c, asks);
    if (!asks) prose(&c, FONT_UI, u->theme->ink, c.t->show);
    buttons(&c, asks);
}

/* ---- on the stage ----------------------------------------------------------------------- */

static bool is_place(const struct scene_item *it, enum attn_tensor t)
{
    if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) return false;
    if (t == ATTN_TENSOR_COUNT) return true;
    return it->hit.tensor == t || (ui_is_grid(t) && ui_is_grid(it->hit.tensor));
}

/* The matrix on screen that is asked of: the scores before any other. NULL: none is. */
static const struct scene_item *asked_of(const struct ui *u)
{
    const struct scene_tour *t = u->src->tour;
    const struct scene_item *first = NULL;
    enum attn_tensor tensor = t->kind == ASK_CELL ? t->tensor : ATTN_TENSOR_COUNT;
    for (int i = 0; i < u->sc->n; i++) {
        const struct scene_item *it = &u->sc->items[i];
        if (!is_place(it, tensor)) continue;
        if (t->kind == ASK_CELL || ui_is_grid(it->hit.tensor)) return it;
        bool rows = it->hit.tensor == ATTN_X || it->hit.tensor == ATTN_Z_ALL;
        if (!first && rows) first = it;
    }
    return first;
}

/* Cells row, col of the heat; -1: all of them. */
static struct scene_rect cells_of(const struct scene_heat *h, int row, int col)
{
    struct scene_rect r = {h->x, h->y, h->cell_w, h->cell_h};
    if (row >= 0) r.y += (float)row * h->cell_h;
    if (col >= 0) r.x += (float)col * h->cell_w;
    if (row < 0) r.h *= (float)h->m.rows;
    if (col < 0) r.w *= (float)h->m.cols;
    return r;
}

void ui_tour_mark(const struct ui *u)
{
    const struct scene_tour *t = u->src->tour;
    const struct step_tour *s = &u->s->tour;
    if (t->kind == ASK_NOTHING || t->kind == ASK_CHOICE || step_is_covered(u->s)) return;
    bool asks = ui_tour_asks(u->sc, u->s);
    int row = asks ? s->row : t->right_row;
    int col = asks ? s->col : t->right_col;
    const struct scene_item *it = asked_of(u);
    if (!it || row < 0) return;
    bool grid = ui_is_grid(it->hit.tensor);
    if (t->kind == ASK_ROW || (t->kind == ASK_TOKEN && !grid)) col = -1;
    if (t->kind == ASK_TOKEN && grid) row = step_place_of(u->s)->row;
    if (row >= it->u.heat.m.rows || col >= it->u.heat.m.cols) return;
    struct scene_rect box = it->hit.transposed ? cells_of(&it->u.heat, col, row)
                                               : cells_of(&it->u.heat, row, col);
    float more = fmaxf(FRAME_LEAST - fminf(box.w, box.h), 0) / 2 + FRAME_W;
    u->sc->clip = u->sc->canvas;
    (void)scene_border(u->sc, ui_grown(box, more), RADIUS, FRAME_W,
                       scene_fade(u->theme->accent, 0), u->theme->accent);
}

/* ---- presenter mode ----------------------------------------------------------------------- */

/* A way out for the mouse, a ring around it, or nothing at all. */
void ui_presenter(const struct ui *u)
{
    struct scene *sc = u->sc;
    const struct step_presenter *p = &u->s->presenter;
    const struct scene_rect all = {0, 0, sc->w, sc->h};
    if (!p->on) return;
    sc->clip = all;
    if (p->blank) {
        struct scene_item *dark =
            scene_rect(sc, all, 0, (struct scene_rgba){0, 0, 0, 255});
        ui_control(dark, UI_ID_BLANK, ui_act(STEP_BLANK, 0), NULL);
        return;
    }
    const struct ui_pointer *at = u->pointer;
    bool there = at && at->x > 0 && at->y > 0; /* it has come into the window */
    if (!there || !ui_inside(all, at->x, at->y)) return;
    struct scene_rect ring = {at->x - RING_R, at->y - RING_R, 2 * RING_R, 2 * RING_R};
    (void)scene_border(sc, ring, RING_R, RING_W, scene_fade(u->theme->accent, 0.12f),
                       u->theme->accent);
}

void ui_presenter_leave(const struct ui *u)
{
    struct scene_rect f = u->sc->frame.stage;
    if (!u->s->presenter.on) return;
    u->sc->clip = f;
    struct scene_rect box = {f.x + f.w - PAD_TIGHT - CLOSE,
                             f.y + f.h - PAD_TIGHT * 0.5f - CLOSE, CLOSE, CLOSE};
    ui_control(ui_face(u, box, RADIUS, false), UI_ID_PRESENT, ui_act(STEP_PRESENT, 0),
               "Leave presenter mode (P)");
    (void)ui_text(u, box.x + CLOSE * 0.5f, box.y + CLOSE * 0.5f, ALIGN_CENTER, ui_body,
                  u->theme->ink, "\u00D7");
}
