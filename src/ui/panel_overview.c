/* The side panel beside the overview: what the rows of one head's weights come to. And,
 * beside stage 5 at GPT-2 scale, the heads of the block in view. */
#include "panel.h"

#include <math.h>

enum {
    HEADING_CY = 30,
    FIRST_CY = 66,
    LINE_H = 28,
    BAR_H = 14,
    LABEL_W = 118,
    VALUE_W = 44,
    GAP = 8,
    LEAST_BAR = 2,
    STRIP_MOST_A_ROW = 6,
    STRIP_GAP = 5,
    STRIP_NUMBER_H = 19,
    STRIP_HEAD_H = 30,
    STRIP_FRAME = 2
};

/* The head that the pointer is on, else the selected one. */
static int head_in_question(const struct ui *u)
{
    const struct ui_pointer *p = u->pointer;
    struct scene_at at = {0};
    if (p && !p->down) at = scene_pick(u->sc, p->x, p->y);
    if (at.item && at.item->hit.kind == HIT_ACTION &&
        at.item->hit.action.verb == STEP_OVER_OPEN)
        return at.item->hit.action.i;
    return u->s->over.at;
}

/* A label that says on hover what its figure is. */
static void draw_label(const struct panel *p, enum step_over_sort s, const char *text)
{
    struct scene_rect line = {p->x, p->y, p->w, LINE_H};
    struct scene_item *it =
        scene_rect(p->u->sc, line, 0, scene_fade(p->u->theme->panel, 0));
    it->hit.kind = HIT_COVER;
    it->hit.tip = scene_sort_means(s);
    (void)ui_text(p->u, p->x, p->y + LINE_H * 0.5f, ALIGN_LEFT, ui_body,
                  p->u->theme->ink_soft, text);
}

static void draw_share(struct panel *p, enum step_over_sort s, double v,
                       struct scene_rgba color)
{
    const struct ui *u = p->u;
    float cy = p->y + LINE_H * 0.5f;
    struct scene_rect track = {p->x + LABEL_W, cy - BAR_H * 0.5f,
                               p->w - LABEL_W - VALUE_W - GAP, BAR_H};
    draw_label(p, s, scene_sort_name(s));
    (void)scene_rect(u->sc, track, PANEL_BAR_RADIUS, u->theme->edge);
    if (v > 0) {
        track.w = fmaxf(track.w * fminf((float)v, 1), LEAST_BAR);
        (void)scene_rect(u->sc, track, fminf(PANEL_BAR_RADIUS, track.w / 2), color);
    }
    (void)ui_text(u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, u->theme->ink,
                  isnan(v) ? "\u2013" : scene_number(u->sc, (float)v, 2));
    p->y += LINE_H;
}

static void draw_measures(struct panel *p, const struct attn_head_sum *sum)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    static const struct {
        enum step_over_sort by;
        enum scene_mark mark;
    } lines[] = {{STEP_SORT_INDUCTION, MARK_INDUCTION},
                 {STEP_SORT_FIRST, MARK_NONE},
                 {STEP_SORT_PREVIOUS, MARK_PREVIOUS},
                 {STEP_SORT_ITSELF, MARK_ITSELF}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct scene_rgba color = lines[i].mark == MARK_NONE
                                      ? t->ink_faint
                                      : scene_mark_color(t, lines[i].mark);
        draw_share(p, lines[i].by, scene_measure(sum, lines[i].by), color);
    }
    draw_label(p, STEP_SORT_ENTROPY, "mean entropy");
    (void)ui_text(u, p->x + p->w, p->y + LINE_H * 0.5f, ALIGN_RIGHT, ui_figure, t->ink,
                  isnan(sum->entropy) ? "\u2013"
                                      : scene_print(u->sc, "%.2f bits", sum->entropy));
    p->y += LINE_H;
    bool scaled = u->s->over.kind == STEP_OVER_SCALED;
    float most = sum->max_abs * (scaled ? u->src->heads->gain : 1);
    panel_pair(p, scaled ? "largest scaled score" : "largest score",
               scene_print(u->sc, "\u00B1%s", scene_number(u->sc, most, 2)));
    if (sum->n_odd > 0)
        panel_pair(p, "rows with NaN or \u221E", scene_count(u->sc, sum->n_odd));
}

void panel_overview(struct panel *p)
{
    const struct ui *u = p->u;
    const struct step_place *place = step_place_of(u->s);
    int i = head_in_question(u), n_head = place->dims.n_head;
    ui_section(
        u, p->x, p->y + HEADING_CY,
        scene_print(u->sc, "BLOCK %d \u00B7 HEAD %d", i / n_head + 1, i % n_head + 1));
    p->y += FIRST_CY - LINE_H * 0.5f;
    if (!scene_head_is_there(u->src, i)) {
        panel_prose(p, "This head has not been computed yet.");
        return;
    }
    const struct attn_head_sum *sum = &u->src->heads->sum[i];
    draw_measures(p, sum);
    if (isnan(sum->induction)) {
        p->y += GAP;
        panel_prose(p,
                    step_is_loaded(place)
                        ? "Induction needs a token that comes twice, not in a row; this "
                          "text has none."
                        : "Induction needs a text; these tokens are random.");
    }
    p->y += GAP;
    panel_next(p);
}

/* ---- the block's heads beside stage 5 ----------------------------------------------------- */

void panel_heads(struct panel *p)
{
    const struct ui *u = p->u;
    const struct step_place *place = step_place_of(u->s);
    int n = place->dims.n_head, block = place->block;
    int a_row = n < STRIP_MOST_A_ROW ? n : STRIP_MOST_A_ROW,
        rows = (n + a_row - 1) / a_row;
    float pitch = (p->w + STRIP_GAP) / STRIP_MOST_A_ROW, side = pitch - STRIP_GAP;
    float need = STRIP_HEAD_H + (float)rows * (side + STRIP_NUMBER_H);
    if (u->s->scale != STEP_GPT2 || !scene_head_is_there(u->src, block * n) ||
        p->y + need > p->bottom)
        return;
    ui_section(u, p->x, p->y + STRIP_HEAD_H * 0.5f,
               scene_print(u->sc, "BLOCK %d", block + 1));
    p->y += STRIP_HEAD_H;
    struct step_state weights = *u->s; /* this is the stage of the weights */
    weights.over.kind = STEP_OVER_WEIGHTS;
    for (int h = 0; h < n; h++) {
        bool on = h == place->head;
        int row = h / a_row;
        struct scene_rect box = {p->x + (float)(h % a_row) * pitch,
                                 p->y + (float)row * (side + STRIP_NUMBER_H), side, side};
        const struct scene_theme *t = u->theme;
        ui_control(scene_border(u->sc, box, STRIP_FRAME, 1, t->mask, t->empty_line),
                   UI_ID_STRIP + h, ui_act(STEP_HEAD, h),
                   scene_print(u->sc, "Head %d", h + 1));
        (void)scene_head_image(u->sc, &weights, u->src, block * n + h, ui_grown(box, -1));
        if (on)
            (void)scene_border(u->sc, ui_grown(box, STRIP_FRAME - 1), STRIP_FRAME,
                               STRIP_FRAME, scene_fade(t->accent, 0), t->accent);
        (void)ui_text(u, box.x + side / 2, box.y + side + STRIP_NUMBER_H * 0.5f,
                      ALIGN_CENTER, ui_note, on ? t->accent : t->ink_soft,
                      scene_print(u->sc, "%d", h + 1));
    }
}
