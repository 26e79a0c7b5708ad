/* While something is broken, at the side panel's foot: the broken result, the right one and
 * the difference side by side, and what has changed most. */
#include "panel.h"

#include <limits.h>
#include <math.h>

enum {
    HEAD_H = 26,
    THUMB_GAP = 8,
    THUMB_H = 84,
    THUMB_LOW_H = 44, /* where the window is low */
    LOW = 640,        /* points of panel */
    NAME_H = 20,
    LINE_H = 21,
    LINES = 3,
    FRAME = 2
};

static float thumb_height(const struct ui *u)
{
    return u->sc->frame.panel.h < LOW ? THUMB_LOW_H : THUMB_H;
}

float panel_ghost_height(const struct ui *u)
{
    return PANEL_RULE_H + HEAD_H + thumb_height(u) + NAME_H + LINES * LINE_H;
}

/* The stage's result: which of the three where there are three. */
static enum attn_tensor result_of(const struct panel *p)
{
    static const enum attn_tensor of[ATTN_STAGE_COUNT] = {
        ATTN_Q, ATTN_S_RAW, ATTN_S_SCALED, ATTN_S_MASKED, ATTN_P, ATTN_Z, ATTN_Y};
    enum attn_stage stage = p->u->s->stage;
    return stage == ATTN_PROJECTIONS ? p->at.tensor : of[stage];
}

static const struct attn_trace *trace_of(const struct ui *u, enum step_see see)
{
    return see == STEP_SEE_BROKEN  ? u->src->trace
           : see == STEP_SEE_RIGHT ? u->src->ghost->right
                                   : u->src->ghost->diff;
}

static uint64_t key_of(const struct ui *u, enum step_see see, enum attn_tensor id)
{
    uint64_t version =
        see == STEP_SEE_RIGHT ? u->src->ghost->right_version : u->src->version;
    uint64_t key = version * ATTN_TENSOR_COUNT + (uint64_t)id;
    return see == STEP_SEE_DIFFERENCE ? ~key : key;
}

static void thumb(const struct ui *u, struct scene_rect box, enum step_see see,
                  enum attn_tensor id)
{
    static const char *const name[STEP_SEE_COUNT] = {"broken", "correct", "difference"};
    static const char *const tip[STEP_SEE_COUNT] = {
        "The broken result on the stage (V)", "The correct result on the stage (V)",
        "Broken minus correct on the stage (V)"};
    const struct attn_trace *t = trace_of(u, see);
    struct attn_cmat m = attn_trace_view(t, id, t->head);
    bool on = step_seen(u->s) == see;
    bool weights = id == ATTN_P && see != STEP_SEE_DIFFERENCE;
    bool grid = ui_is_grid(id) && see != STEP_SEE_DIFFERENCE;
    /* Broken and correct in one range, or they could not be compared. */
    float range =
        fmaxf(u->src->trace->stats[id].max_abs, u->src->ghost->right->stats[id].max_abs);
    if (see == STEP_SEE_DIFFERENCE) range = t->stats[id].max_abs;
    if (!(range > 0)) range = 1;
    float lo = weights ? 0 : -range, hi = weights ? 1 : range;
    if (weights) scene_weights_range(u->src, &lo, &hi);
    int row0 = 0, row1 = m.rows, cols = m.cols;
    if (step_is_decoding(u->s)) /* what is there fills the box */
        step_pass_rows(step_pass_of(u->s), id, &row0, &row1, &cols);
    float cell_h = box.h / (float)(row1 - row0);
    struct scene_heat heat = {.m = m,
                              .key = key_of(u, see, id),
                              .x = box.x,
                              .y = box.y - (float)row0 * cell_h,
                              .cell_w = box.w / (float)cols,
                              .cell_h = cell_h,
                              .row0 = row0,
                              .row1 = row1,
                              .col1 = cols,
                              .shown = (int64_t)m.rows * m.cols,
                              .map = weights ? MAP_SEQUENTIAL : MAP_DIVERGING,
                              .lo = lo,
                              .hi = hi,
                              .log = weights && u->s->log_weights,
                              .gain = 1,
                              .mask_from = INT_MAX,
                              .alpha = 1,
                              .dim = 1,
                              .focus_row1 = m.rows,
                              .focus_col1 = m.cols};
    if (grid && (id == ATTN_S_MASKED || id == ATTN_P) && t->opts.causal)
        heat.mask_from = 1 + t->opts.shifted;
    struct scene_rect frame = ui_grown(box, FRAME);
    (void)scene_border(u->sc, frame, 0, on ? FRAME : 1, u->theme->paper,
                       on ? u->theme->accent : u->theme->track);
    (void)scene_heat(u->sc, &heat);
    (void)ui_text(u, box.x + box.w / 2, box.y + box.h + NAME_H * 0.5f + 1, ALIGN_CENTER,
                  (struct ui_type){on ? FONT_UI_BOLD : FONT_UI, ui_note.size},
                  on ? u->theme->ink : u->theme->ink_soft, name[see]);
    struct scene_rect touch = box;
    touch.h += NAME_H;
    (void)ui_touch(u, touch, UI_ID_SEE + (int)see, ui_act(STEP_SEE, (int)see), tip[see]);
}

static const char *whole_name(const struct ui *u, enum attn_tensor id, int row, int col)
{
    struct scene *sc = u->sc;
    if (ui_is_grid(id)) {
        const char *of = scene_token_text(sc, u->src, col);
        return scene_print(sc, "%s of %s in row %d", id == ATTN_P ? "weight" : "score",
                           *of ? scene_print(sc, "\u201C%s\u201D", of)
                               : scene_print(sc, "token %d", col + 1),
                           row + 1);
    }
    return scene_print(sc, "%s, row %d, column %d", scene_tensor_name(id), row + 1,
                       col + 1);
}

/* "weight of “·cat” in row 3"; where that is wider than room, "A row 3, column 2" or
 * "A (3, 2)". */
static const char *cell_name(const struct ui *u, enum attn_tensor id, int row, int col,
                             float room)
{
    struct scene *sc = u->sc;
    const char *name = whole_name(u, id, row, col);
    for (int i = 0; i < 2 && ui_width(u, ui_note, name) > room; i++)
        name = scene_print(sc, i ? "%s (%d, %d)" : "%s row %d, column %d",
                           scene_tensor_name(id), row + 1, col + 1);
    return name;
}

static void line(const struct panel *p, float cy, const char *label, const char *value)
{
    const struct ui *u = p->u;
    float w = ui_width(u, ui_figure, value);
    (void)ui_text_fit(u, p->x, cy, p->w - w - THUMB_GAP, ALIGN_LEFT, ui_note,
                      u->theme->ink_soft, label);
    (void)ui_text(u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, u->theme->ink, value);
}

static struct attn_row row_of(const struct ui *u, const struct attn_trace *t, int i)
{
    return attn_trace_row(u->src->attn, t, i, NULL);
}

void panel_ghost(struct panel *p)
{
    const struct ui *u = p->u;
    struct scene *sc = u->sc;
    const struct scene_ghost *g = u->src->ghost;
    enum attn_tensor id = result_of(p);
    const struct attn_change *c = &g->change[id];
    float h = thumb_height(u);
    float w = (p->w - (STEP_SEE_COUNT - 1) * THUMB_GAP) / STEP_SEE_COUNT;
    panel_rule(p);
    ui_section(u, p->x, p->y + HEAD_H * 0.5f - 4,
               scene_print(sc, "%s COMPARED", scene_tensor_name(id)));
    p->y += HEAD_H;
    for (int see = 0; see < STEP_SEE_COUNT; see++)
        thumb(u, (struct scene_rect){p->x + (float)see * (w + THUMB_GAP), p->y, w, h},
              (enum step_see)see, id);
    p->y += h + NAME_H;
    struct attn_cmat m = attn_trace_view(u->src->trace, id, u->src->trace->head);
    int row0 = 0, row1 = m.rows, cols = m.cols;
    if (step_is_decoding(u->s))
        step_pass_rows(step_pass_of(u->s), id, &row0, &row1, &cols);
    if (c->row < 0) {
        line(p, p->y + LINE_H * 0.5f, "every cell is as it should be", "");
    } else {
        const char *both = scene_print(sc, "%s \u2192 %s", scene_number(sc, c->was, 3),
                                       scene_number(sc, c->is, 3));
        float room = p->w - ui_width(u, ui_figure, both) - THUMB_GAP;
        line(p, p->y + LINE_H * 0.5f, cell_name(u, id, c->row, c->col, room), both);
        line(p, p->y + LINE_H * 1.5f, "cells that differ",
             scene_print(sc, "%s of %s", scene_count(sc, c->count),
                         scene_count(sc, (int64_t)(row1 - row0) * cols)));
    }
    struct attn_row was = row_of(u, g->right, p->at.row);
    struct attn_row is = row_of(u, u->src->trace, p->at.row);
    const char *then = scene_number(sc, was.entropy, 2);
    if (isnan(is.entropy)) /* long: the row is named above */
        line(p, p->y + LINE_H * 2.5f, "entropy",
             scene_print(sc, "%s \u2192 %s", then, panel_no_entropy));
    else
        line(p, p->y + LINE_H * 2.5f, scene_print(sc, "entropy of row %d", p->at.row + 1),
             scene_print(sc, "%s \u2192 %s bits", then, scene_number(sc, is.entropy, 2)));
    p->y += LINES * LINE_H;
}
