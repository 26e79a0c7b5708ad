/* Stages 3 and 4: a row of scores before and after the division, and what the mask leaves
 * of it. */
#include "panel.h"

#include <math.h>

enum {
    ROW_H = 40,
    ROW_LEAST_H = 20,
    CELL_H = 30,
    CELL_GAP = 4,
    HEAD_H = 22,
    LABEL_W = 66,
    COLUMN_GAP = 10
};
static const float cell_share = 0.92f; /* of a cell's width that its number may take */

/* ---- which columns ------------------------------------------------------------------------ */

/* All columns where they are few, else the largest by magnitude. */
static int choose_columns(struct panel *p, int *shown)
{
    if (p->n <= PANEL_TABLE_MOST) {
        for (int j = 0; j < p->n; j++) shown[j] = j;
        return p->n;
    }
    const float *s = panel_row_of(p, ATTN_S_RAW, p->at.row);
    float *size = panel_floats(p, p->n);
    if (!size) return 0;
    for (int j = 0; j < p->n; j++) size[j] = fabsf(s[j]);
    return panel_largest(size, p->n, PANEL_TOP, p->at.col, shown);
}

/* ---- stage 3 -------------------------------------------------------------------------------- */

/* Three columns behind the token: before, the division, after. */
struct columns {
    float before, sign, after, cell_w;
};

static struct columns columns_of(const struct panel *p)
{
    float left = p->x + LABEL_W + COLUMN_GAP,
          w = (p->x + p->w - left - 2 * COLUMN_GAP) / 3;
    return (struct columns){left, left + w + COLUMN_GAP + w / 2,
                            left + 2 * (w + COLUMN_GAP), w};
}

static void score_cell(const struct panel *p, float x, float cy, float w, float pitch,
                       float v)
{
    float h = fminf(CELL_H, pitch - CELL_GAP);
    struct scene_rect box = {x, cy - h / 2, w, h};
    panel_cell(p, box, v, panel_range(p, ATTN_S_RAW), ui_figure,
               panel_number(p, ui_figure, w * cell_share, v, 2));
}

static float spread(const struct panel *p, enum attn_tensor t)
{
    struct attn_cmat row = {panel_row_of(p, t, p->at.row), 1, p->n, p->n};
    struct attn_stats s = attn_stats_of(row);
    return s.max - s.min;
}

void panel_scale(struct panel *p)
{
    struct scene *sc = p->u->sc;
    const struct scene_theme *t = p->u->theme;
    bool on = p->t->opts.scale;
    const char *root = scene_print(sc, "%.4g", attn_divisor_of(p->t->opts, p->t->dims));
    bool wrong = p->t->opts.divisor != ATTN_SQRT_D_HEAD;
    panel_title(
        p, !on     ? "\u00F7 \u221Ad_head is off: nothing changes"
           : wrong ? scene_print(sc, "s \u00F7 %s = s \u00F7 %s",
                                 scene_divisor_name(p->t->opts), root)
                   : scene_print(sc, "s \u00F7 \u221A%d = s \u00F7 %s", p->d_head, root));
    struct columns c = columns_of(p);
    float cy = p->y + HEAD_H * 0.5f;
    panel_lab_button(p, cy, STEP_LAB_SATURATION,
                     "What softmax does without the division, against d_head (S)");
    (void)ui_text(p->u, c.before + c.cell_w / 2, cy, ALIGN_CENTER, ui_figure, t->ink_soft,
                  "before");
    (void)ui_text(p->u, c.after + c.cell_w / 2, cy, ALIGN_CENTER, ui_figure, t->ink_soft,
                  "after");
    p->y += HEAD_H;

    int shown[PANEL_TABLE_MOST], m = choose_columns(p, shown), others = p->n - m;
    float after = PANEL_RULE_H + 2 * PANEL_PAIR_H;
    float pitch = panel_pitch(p, m + (others > 0), after, ROW_LEAST_H, ROW_H);
    const float *s = panel_row_of(p, ATTN_S_RAW, p->at.row);
    const float *scaled = panel_row_of(p, ATTN_S_SCALED, p->at.row);
    const char *sign = scene_print(sc, "\u00F7 %s =", on ? root : "1");
    for (int i = 0; i < m; i++, p->y += pitch) {
        cy = p->y + pitch / 2;
        if (shown[i] == p->at.col) panel_mark(p, cy, pitch);
        panel_token(p, shown[i], p->x + LABEL_W, cy, LABEL_W, true);
        score_cell(p, c.before, cy, c.cell_w, pitch, s[shown[i]]);
        (void)ui_text_fit(p->u, c.sign, cy, c.cell_w + COLUMN_GAP, ALIGN_CENTER,
                          ui_figure, t->ink_soft, sign);
        score_cell(p, c.after, cy, c.cell_w, pitch, scaled[shown[i]]);
    }
    if (others > 0) {
        (void)ui_text(p->u, p->x, p->y + pitch / 2, ALIGN_LEFT, ui_body, t->ink_soft,
                      panel_others(p, others));
        p->y += pitch;
    }
    panel_rule(p);
    panel_pair(p, "spread before (max \u2212 min)",
               scene_number(sc, spread(p, ATTN_S_RAW), 3));
    panel_pair(p, "spread after", scene_number(sc, spread(p, ATTN_S_SCALED), 3));
}

/* ---- stage 4 --------------------------------------------------------------------------------- */

/* "·sat", or its number where it has no text; first: of its sentence. */
static const char *token_name(const struct panel *p, int j, bool first)
{
    const char *text = scene_token_text(p->u->sc, p->u->src, j);
    return *text ? text
                 : scene_print(p->u->sc, "%s %d", first ? "Token" : "token", j + 1);
}

const char *panel_mask_why(const struct panel *p, int j)
{
    struct scene *sc = p->u->sc;
    int i = p->at.row;
    if (!p->t->opts.causal)
        return scene_print(sc,
                           "The mask is off: %s may look at every token, even at the "
                           "one that it should predict.",
                           token_name(p, i, false));
    if (p->t->opts.shifted && (j < 0 || j == i + 1))
        return scene_print(sc,
                           "The mask is one off: %s may look at the very token that it "
                           "should predict.",
                           token_name(p, i, false));
    if (j < 0)
        return scene_print(sc,
                           "Row %d predicts token %d, so it may look at tokens up to %d "
                           "and no further.",
                           i + 1, i + 2, i + 1);
    if (j > i)
        return scene_print(sc,
                           "%s is later than %s: a model that saw it could copy its "
                           "answer.",
                           token_name(p, j, true), token_name(p, i, false));
    if (j == i) return scene_print(sc, "%s may look at itself.", token_name(p, i, true));
    return scene_print(sc, "%s is earlier than %s: it may be used.",
                       token_name(p, j, true), token_name(p, i, false));
}

static void mask_line(const struct panel *p, int j, float cy, float pitch)
{
    const struct scene_theme *t = p->u->theme;
    float v = panel_row_of(p, ATTN_S_MASKED, p->at.row)[j];
    bool seen = j < attn_seen(p->t->opts, p->at.row, p->n);
    struct columns c = columns_of(p);
    float h = fminf(CELL_H, pitch - CELL_GAP), x = c.sign - c.cell_w / 2 + COLUMN_GAP;
    if (j == p->at.col) panel_mark(p, cy, pitch);
    panel_token(p, j, p->x + LABEL_W, cy, LABEL_W, seen);
    if (seen)
        panel_cell(p, (struct scene_rect){c.before, cy - h / 2, c.cell_w, h}, v,
                   panel_range(p, ATTN_S_RAW), ui_figure,
                   panel_number(p, ui_figure, c.cell_w * cell_share, v, 2));
    else
        panel_masked(p, (struct scene_rect){c.before, cy - h / 2, c.cell_w, h},
                     "\u2212\u221E");
    const char *word = seen                 ? j == p->at.row ? "visible: itself"
                                              : j == p->at.row + 1 && p->t->opts.shifted
                                                  ? "visible: answer"
                                                  : "visible"
                       : j == p->at.row + 1 ? "hidden: answer"
                                            : "hidden";
    (void)ui_text_fit(p->u, x, cy, p->x + p->w - x, ALIGN_LEFT, ui_body,
                      seen ? t->ink : t->ink_soft, word);
}

/* A line that stands for several columns. */
static void mask_rest(struct panel *p, int count, const char *what, float pitch)
{
    if (count <= 0) return;
    (void)ui_text(p->u, p->x, p->y + pitch / 2, ALIGN_LEFT, ui_body,
                  p->u->theme->ink_soft,
                  scene_print(p->u->sc, "%s %s", panel_others(p, count), what));
    p->y += pitch;
}

void panel_mask(struct panel *p)
{
    struct scene *sc = p->u->sc;
    int seen = attn_seen(p->t->opts, p->at.row, p->n);
    int middle = p->at.col >= 0 ? p->at.col : p->at.row;
    int m = p->n <= PANEL_TABLE_MOST ? p->n : PANEL_TOP, from = middle - m / 2;
    from = from < 0 ? 0 : from > p->n - m ? p->n - m : from;
    const char *reason = panel_mask_why(p, p->at.col);
    float after =
        PANEL_RULE_H + PANEL_PAIR_H + COLUMN_GAP + panel_prose_height(p, reason);
    int before = from, behind = p->n - from - m;
    panel_title(p, p->t->opts.causal ? "which scores stay" : "the mask is off: all stay");
    int count = m + (before > 0) + (behind > 0);
    float pitch = panel_pitch(p, count, after, ROW_LEAST_H, ROW_H);
    bool causal = p->t->opts.causal;
    mask_rest(p, before, !causal || from < seen ? "earlier, visible" : "earlier", pitch);
    for (int j = from; j < from + m; j++, p->y += pitch)
        mask_line(p, j, p->y + pitch / 2, pitch);
    mask_rest(p, behind, causal && from + m >= seen ? "later, hidden" : "later", pitch);
    panel_rule(p);
    panel_pair(p, "visible", scene_print(sc, "%d of %d", seen, p->n));
    p->y += COLUMN_GAP;
    panel_prose(p, reason);
}
