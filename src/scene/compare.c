/* The stage while somebody's numbers are compared: one matrix, theirs minus
 * ours cell by cell, or theirs, or ours. */
#include "compare.h"
#include "grid.h"

#include <limits.h>
#include <math.h>

enum { ID_DIFF = 1950 };

static const float head_x = 32, head_x_small = 22, small_stage = 640;
static const float title_y = 48, title_size = 24, line_y = 77, line_size = 14;
static const float foot_up = 64, foot_size = 14, foot_leading = 19;
static const float chips_w = 92, label_h = 30, below_h = 46, cell_most = 74;
static const float button_h = 22, button_pad = 9, button_size = 12, button_gap = 5;

const char *scene_diff_name(enum step_diff d)
{
    static const char *const name[STEP_DIFF_COUNT] = {[STEP_DIFF_OFF] = "animation",
                                                      [STEP_DIFF_DIFFERENCE] =
                                                          "theirs \u2212 ours",
                                                      [STEP_DIFF_THEIRS] = "theirs",
                                                      [STEP_DIFF_OURS] = "ours"};
    return name[d];
}

/* The switch between the views, its right end at `right`; returns its left one.
 */
static float draw_switch(struct scene *sc, const struct scene_theme *t,
                         enum step_diff now, float right, float cy)
{
    float x = right;
    for (int d = STEP_DIFF_COUNT - 1; d >= 0; d--) {
        const char *name = scene_diff_name((enum step_diff)d);
        float w =
            font_width(sc->font, FONT_UI_BOLD, button_size, name, -1) + 2 * button_pad;
        bool on = d == (int)now;
        enum scene_font font = on ? FONT_UI_BOLD : FONT_UI;
        x -= w + (d + 1 < STEP_DIFF_COUNT ? button_gap : 0);
        struct scene_item *it = scene_border(
            sc, (struct scene_rect){x, cy - button_h / 2, w, button_h}, button_h / 2,
            on ? 1.5f : 1, on ? t->accent_soft : t->panel, on ? t->accent : t->track);
        it->hit = (struct scene_hit){.kind = HIT_ACTION,
                                     .action = {.verb = STEP_DIFF, .i = d},
                                     .id = ID_DIFF + d,
                                     .tip = scene_print(sc, "Show %s (M)", name)};
        (void)scene_text(sc, x + w / 2, cy + sc->font->cap[font] * button_size / 2,
                         ALIGN_CENTER, font, button_size, on ? t->accent : t->ink_soft,
                         name);
    }
    return x;
}

static struct attn_cmat chosen(const struct scene_compared *c, enum step_diff d)
{
    return d == STEP_DIFF_DIFFERENCE ? c->difference
           : d == STEP_DIFF_THEIRS   ? c->theirs
                                     : c->ours;
}

static struct grid place(const struct brush *b, const struct scene_compared *c)
{
    struct scene_rect box = {b->canvas.x + chips_w, b->canvas.y + label_h,
                             b->canvas.w - chips_w - 8, b->canvas.h - label_h - below_h};
    struct grid g = {.tensor = c->tensor, .rows = c->ours.rows, .cols = c->ours.cols};
    g.cell_w = fminf(box.w / (float)g.cols, cell_most);
    g.cell_h = fminf(box.h / (float)g.rows, cell_most);
    if (g.rows == g.cols) g.cell_w = g.cell_h = fminf(g.cell_w, g.cell_h);
    g.x = box.x + (box.w - grid_w(&g)) / 2;
    g.y = box.y + (box.h - grid_h(&g)) / 2;
    return g;
}

static void draw_matrix(const struct brush *b, const struct scene_compared *c,
                        enum step_diff d)
{
    struct grid g = place(b, c);
    struct grid_style style = grid_style(b, &g);
    float hi = d == STEP_DIFF_DIFFERENCE ? c->difference_range : c->range;
    if (!(hi > 0)) hi = 1;
    style.m = chosen(c, d);
    style.key = b->src->compare->version * ATTN_TENSOR_COUNT * STEP_DIFF_COUNT +
                (uint64_t)c->tensor * STEP_DIFF_COUNT + (uint64_t)d;
    style.key = ~style.key; /* apart from the keys of runs, which count up from 0 */
    style.map = MAP_DIVERGING;
    style.lo = -hi;
    style.hi = hi;
    style.mask_from = d != STEP_DIFF_DIFFERENCE && c->masked ? 1 : INT_MAX;
    style.masked_zero = c->tensor == ATTN_P;
    grid_draw(b, &g, &style);
    bool square = g.rows == g.cols;
    grid_row_tokens(b, &g, 1);
    if (square) grid_col_tokens(b, &g, 1);
    grid_label(b, &g, true, c->from, b->theme->ink, "", 1);
    struct grid on = grid_on_screen(b, g);
    grid_legend(b, &on, MAP_DIVERGING, -hi, hi);
    struct step_ref at = b->s->hover;
    if (at.tensor != c->tensor) at = b->place->pin;
    if (at.tensor == c->tensor && at.row < g.rows && at.col < g.cols)
        grid_frame(b, &g, at.row, at.row + 1, at.col, at.col + 1);
}

void compare_build(struct scene *sc, const struct brush *b)
{
    const struct scene_compare *all = b->src->compare;
    const struct scene_compared *c = &all->stage[b->s->stage];
    const struct scene_rect f = sc->frame.stage;
    const struct scene_theme *t = b->theme;
    float x = f.x + (f.w < small_stage ? head_x_small : head_x);
    float right = f.x + f.w - 16;
    float left =
        draw_switch(sc, t, b->s->diff, right, f.y + title_y - title_size * 0.36f);
    const char *title = scene_stage_text_of(b->s->stage).title;
    (void)scene_text(sc, x, f.y + title_y, ALIGN_LEFT, FONT_UI_BOLD, title_size, t->ink,
                     scene_fit_text(sc, FONT_UI_BOLD, title_size, left - x - 12, title));
    const char *line =
        c->verdict == SCENE_NOT_COMPARED ? "the dump has nothing of this stage"
        : !c->ours.data
            ? scene_print(sc, "the dump has nothing of head %d", b->place->head + 1)
        : c->n_bad == 0
            ? scene_print(sc, "%s: all cells agree", c->from)
            : scene_print(sc, "%s: %s of %s cells beyond the tolerance", c->from,
                          scene_count(sc, c->n_bad), scene_count(sc, c->n));
    (void)scene_text(sc, x, f.y + line_y, ALIGN_LEFT, FONT_MONO, line_size, t->ink,
                     scene_fit_text(sc, FONT_MONO, line_size, right - x, line));
    struct scene_rect clip = sc->clip;
    sc->clip = b->canvas;
    if (c->ours.data) draw_matrix(b, c, b->s->diff);
    sc->clip = clip;
    (void)scene_paragraph(sc, x, f.y + f.h - foot_up, right - x, foot_leading, FONT_UI,
                          foot_size, t->ink, all->why);
}
