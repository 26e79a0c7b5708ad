/* The likeliest next tokens behind the selected row: the model's own logits, whatever is
 * switched off, since every block is run for them as it was trained. */
#include "panel.h"

#include <math.h>

enum {
    LINE_H = 23,
    CHIP_H = 19,
    CHIP_PAD = 8,
    P_W = 58,
    LOGIT_W = 62,
    GAP = 8,
    SPACE = 6
};
static const float bar_alpha = 0.35f;

/* Whether block and stage are those whose output the head reads. */
static bool is_last(const struct panel *p)
{
    const struct step_place *place = step_place_of(p->u->s);
    return p->u->s->over.open || place->block == place->n_block - 1;
}

static const char *elsewhere(const struct panel *p)
{
    return scene_print(
        p->u->sc,
        "The next token comes from the last block\u2019s output: see block %d, or "
        "the overview (H).",
        step_place_of(p->u->s)->n_block);
}

float panel_next_height(const struct panel *p)
{
    if (!step_is_loaded(step_place_of(p->u->s))) return 0;
    if (!is_last(p)) return panel_prose_height(p, elsewhere(p)) + SPACE;
    return PANEL_SECTION_H + SCENE_NEXT * LINE_H;
}

/* As panel_number has it, and no 1 beside what is not 0. */
static const char *probability(const struct panel *p, float v)
{
    bool near = v < 1 && v >= 0.99995f; /* would read 1.0000 */
    return near ? ">0.9999" : panel_number(p, ui_figure, P_W, v, 4);
}

static void draw_line(const struct panel *p, const struct scene_next *next, int k,
                      float cy)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    /* A list of one token: what the chip says of spaces and bytes is said here too. */
    const struct scene_source one = {.tokens = &next->text[k]};
    float right = p->x + p->w, room = p->w - P_W - LOGIT_W - 2 * GAP;
    const char *text = scene_token_text(u->sc, &one, 0);
    text = scene_fit_text(u->sc, ui_figure_strong.font, ui_figure_strong.size,
                          room - 2 * CHIP_PAD, text);
    float w = ui_width(u, ui_figure_strong, text) + 2 * CHIP_PAD;
    struct scene_rect track = {p->x, cy - CHIP_H * 0.5f, room, CHIP_H};
    struct scene_rect bar = track;
    bar.w = fmaxf(room * fminf(next->p[k], 1), 1);
    (void)scene_border(u->sc, (struct scene_rect){track.x, track.y, w, CHIP_H},
                       CHIP_H * 0.5f, 1, scene_fade(t->panel, 0), t->edge);
    if (next->p[k] > 0)
        (void)scene_rect(u->sc, bar, fminf(PANEL_BAR_RADIUS, bar.w / 2),
                         scene_fade(t->accent, bar_alpha));
    (void)ui_text(u, p->x + CHIP_PAD, cy, ALIGN_LEFT, ui_figure_strong, t->ink, text);
    (void)ui_text(u, right - LOGIT_W - GAP * 0.5f, cy, ALIGN_RIGHT, ui_figure, t->ink,
                  probability(p, next->p[k]));
    (void)ui_text(u, right, cy, ALIGN_RIGHT, ui_figure, t->ink_soft,
                  panel_number(p, ui_figure, LOGIT_W - GAP, next->logit[k], 2));
}

void panel_next(struct panel *p)
{
    const struct ui *u = p->u;
    const struct scene_next *next = u->src->next;
    if (!step_is_loaded(step_place_of(u->s))) return;
    if (!is_last(p)) {
        p->y += SPACE;
        panel_prose(p, elsewhere(p));
        return;
    }
    float cy = p->y + PANEL_SECTION_H * 0.5f, right = p->x + p->w;
    ui_section(u, p->x, cy,
               scene_print(u->sc, "NEXT AFTER %d", step_place_of(u->s)->row + 1));
    (void)ui_text(u, right - LOGIT_W - GAP * 0.5f, cy, ALIGN_RIGHT, ui_note,
                  u->theme->ink_soft, "p");
    (void)ui_text(u, right, cy, ALIGN_RIGHT, ui_note, u->theme->ink_soft, "logit");
    p->y += PANEL_SECTION_H;
    if (!next || !next->ready) {
        (void)ui_text(u, p->x, p->y + LINE_H * 0.5f, ALIGN_LEFT, ui_body,
                      u->theme->ink_soft,
                      next ? "computing the logits\u2026" : "not there");
        p->y += SCENE_NEXT * LINE_H;
        return;
    }
    if (next->n == 0)
        (void)ui_text(u, p->x, p->y + LINE_H * 0.5f, ALIGN_LEFT, ui_body, u->theme->odd,
                      "every logit is NaN");
    for (int k = 0; k < next->n; k++)
        draw_line(p, next, k, p->y + ((float)k + 0.5f) * LINE_H);
    p->y += SCENE_NEXT * LINE_H;
}
