/* The side panel: what is explained (the hovered cell, else the pinned cell, else what the
 * animation is at, else the selected row), and its heading. */
#include "panel.h"

#include <assert.h>
#include <math.h>

enum {
    EDGE_W = 1,
    PAD = 24,
    PAD_TIGHT = 16,
    PAD_BOTTOM = 14,
    ROOMY = 336, /* from this width on the pictures' margins */
    HEADING_CY = 30,
    CHIP_Y = 48,
    CHIP_H = 28,
    CHIP_LEAST = 78,
    CHIP_MOST = 104,
    CHIP_GAP = 14,
    HEADER_H = 92, /* heading and chips */
    PROGRESS_H = 4,
    HINT_H = 20
};
static const struct ui_type chip_type = {FONT_MONO, 14};

/* ---- what is explained ----------------------------------------------------------------- */

bool ui_is_grid(enum attn_tensor t)
{
    return t == ATTN_S_RAW || t == ATTN_S_SCALED || t == ATTN_S_MASKED || t == ATTN_P;
}

/* What a cell under the pointer means in stage 1: a cell of Q, K or V. */
static bool ref_projections(struct step_ref r, struct panel_target *at)
{
    switch (r.tensor) {
    case ATTN_Q:
    case ATTN_K:
    case ATTN_V:
        at->tensor = r.tensor;
        at->row = r.row;
        at->col = r.col;
        return true;
    case ATTN_W_Q:
    case ATTN_W_K:
    case ATTN_W_V:
        at->tensor = r.tensor == ATTN_W_Q   ? ATTN_Q
                     : r.tensor == ATTN_W_K ? ATTN_K
                                            : ATTN_V;
        at->col = r.col;
        return true;
    case ATTN_X:
    case ATTN_H:
        at->row = r.row;
        return true;
    default:
        return false;
    }
}

static bool ref_scores(struct step_ref r, struct panel_target *at)
{
    if (ui_is_grid(r.tensor)) {
        at->row = r.row;
        at->col = r.col;
        return true;
    }
    if (r.tensor == ATTN_Q) at->row = r.row;
    if (r.tensor == ATTN_K) at->col = r.row;
    return r.tensor == ATTN_Q || r.tensor == ATTN_K;
}

static bool ref_grid(struct step_ref r, struct panel_target *at)
{
    if (!ui_is_grid(r.tensor)) return false;
    at->row = r.row;
    at->col = r.col;
    return true;
}

static bool ref_sum(struct step_ref r, struct panel_target *at)
{
    if (ref_grid(r, at)) return true;
    if (r.tensor == ATTN_Z) at->row = r.row;
    if (r.tensor == ATTN_V) at->col = r.row;
    if (r.tensor != ATTN_Z && r.tensor != ATTN_V) return false;
    at->column = r.col;
    return true;
}

static bool ref_output(struct step_ref r, struct panel_target *at)
{
    bool result = r.tensor == ATTN_Y || r.tensor == ATTN_Y_PROJ || r.tensor == ATTN_H;
    if (result || r.tensor == ATTN_Z_ALL) at->row = r.row;
    if (result || r.tensor == ATTN_W_O) at->column = r.col;
    return result || r.tensor == ATTN_Z_ALL || r.tensor == ATTN_W_O;
}

static bool target_of_ref(enum attn_stage stage, struct step_ref r,
                          struct panel_target *at)
{
    switch (stage) {
    case ATTN_PROJECTIONS:
        return ref_projections(r, at);
    case ATTN_SCORES:
        return ref_scores(r, at);
    case ATTN_SCALE:
    case ATTN_MASK:
    case ATTN_SOFTMAX:
        return ref_grid(r, at);
    case ATTN_WEIGHTED_SUM:
        return ref_sum(r, at);
    case ATTN_OUTPUT:
        return ref_output(r, at);
    case ATTN_STAGE_COUNT:
        break;
    }
    return false;
}

/* The cell or row that the animation is at. false: it has not begun, is over, or moves
 * everything. */
static bool target_of_time(const struct step_state *s, struct attn_dims d,
                           struct panel_target *at)
{
    if (s->stage == ATTN_SCALE || s->stage == ATTN_MASK) return false;
    struct step_clock c = step_clock_at(s, s->stage);
    struct step_beat b = step_beat_at(&c, s->time);
    if (b.intro < 1 || b.at >= c.n_beat) return false;
    at->row = c.row0 + b.at / c.beats_a_row;
    if (c.beats_a_row == 1) return at->row < d.n_tok;
    int col = b.at % c.beats_a_row;
    if (s->stage == ATTN_OUTPUT)
        at->column = col;
    else
        at->col = col;
    at->done = b.part;
    return true;
}

/* A cell for a row of which none was asked for: the largest, or the token's own. */
static void choose_cell(struct panel *p, enum attn_stage stage)
{
    if (p->at.col >= 0 || stage > ATTN_SCORES) return;
    p->at.col = p->at.row;
    if (stage == ATTN_SCORES) return;
    const float *row = panel_row_of(p, p->at.tensor, p->at.row);
    p->at.col = 0;
    for (int j = 1; j < p->d_head; j++)
        if (fabsf(row[j]) > fabsf(row[p->at.col])) p->at.col = j;
}

struct panel_target panel_target_of(const struct step_state *s, struct attn_dims d)
{
    const struct step_place *place = step_place_of(s);
    const struct panel_target row = {
        .tensor = ATTN_Q, .row = place->row, .col = -1, .column = -1, .done = 1};
    struct panel_target at = row; /* in scene_cell_of's order, so that both agree */
    if (!target_of_ref(s->stage, s->hover, &at) &&
        !target_of_ref(s->stage, place->pin, &at) && !target_of_time(s, d, &at))
        at.several = step_row_count(place) > 1 &&
                     (s->stage == ATTN_SOFTMAX || s->stage == ATTN_WEIGHTED_SUM);
    return at;
}

/* ---- the panel --------------------------------------------------------------------------------- */

static void draw_chips(struct panel *p, bool with_col)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float cy = p->y + CHIP_H * 0.5f, right = p->x + p->w;
    float w = scene_chip_width(u->sc, u->src, p->at.row, chip_type.size);
    w = fminf(fmaxf(w, CHIP_LEAST), CHIP_MOST);
    scene_chip(u->sc, (struct scene_rect){p->x, p->y, w, CHIP_H}, u->src, p->at.row,
               chip_type.size, true);
    float x = p->x + w + CHIP_GAP;
    const char *text = scene_print(u->sc, "row %d of %d", p->at.row + 1, p->n);
    const char *arrow = "\u2192";
    float w_arrow = ui_width(u, ui_body, arrow), w_col = 0;
    if (with_col) {
        w_col = scene_chip_width(u->sc, u->src, p->at.col, chip_type.size);
        w_col = fminf(fmaxf(w_col, CHIP_LEAST), CHIP_MOST);
        float need = ui_width(u, ui_body, text) + w_arrow + 2 * CHIP_GAP + w_col;
        if (x + need > right) text = scene_print(u->sc, "row %d", p->at.row + 1);
    }
    float room = with_col ? right - x - w_col - w_arrow - CHIP_GAP : right - x;
    (void)ui_text_fit(u, x, cy, room, ALIGN_LEFT, ui_body, t->ink_soft, text);
    if (!with_col) return;
    x += fminf(ui_width(u, ui_body, text), room) + CHIP_GAP * 0.5f;
    (void)ui_text(u, x, cy, ALIGN_LEFT, ui_body, t->ink_soft, arrow);
    x += w_arrow + CHIP_GAP * 0.5f;
    scene_chip(u->sc, (struct scene_rect){x, p->y, fminf(w_col, right - x), CHIP_H},
               u->src, p->at.col, chip_type.size, true);
}

static void draw_header(struct panel *p)
{
    enum attn_stage stage = p->u->s->stage;
    bool cell = stage <= ATTN_SCORES || (stage <= ATTN_SOFTMAX && p->at.col >= 0);
    const char *heading = step_is_paired(p->u->s)      ? "TWO HEADS"
                          : p->at.several              ? "THESE ROWS"
                          : stage == ATTN_WEIGHTED_SUM ? "VALUE BLEND"
                          : cell                       ? "THIS CELL"
                                                       : "THIS ROW";
    float top = p->u->sc->frame.panel.y;
    ui_section(p->u, p->x, top + HEADING_CY, heading);
    p->y = top + CHIP_Y;
    if (p->at.several && !step_is_paired(p->u->s))
        (void)ui_text_fit(p->u, p->x, p->y + CHIP_H * 0.5f, p->w, ALIGN_LEFT, ui_body,
                          p->u->theme->ink_soft, panel_rows_named(p));
    else
        draw_chips(p, cell && stage != ATTN_PROJECTIONS);
    p->y = top + HEADER_H;
}

/* At the panel's foot: how several rows are selected, or what they are for. */
static void draw_rows_hint(struct panel *p)
{
    const struct ui *u = p->u;
    int n = step_row_count(step_place_of(u->s));
    const char *text = n > 1 ? scene_print(u->sc, "%d rows selected: see stages 5, 6", n)
                             : "Shift or Ctrl and a click: more rows";
    bool weights = u->s->stage == ATTN_SOFTMAX || u->s->stage == ATTN_WEIGHTED_SUM;
    if (p->n < 2 || (n > 1) == weights) return;
    p->bottom -= HINT_H;
    (void)ui_text_fit(u, p->x, p->bottom + HINT_H * 0.5f, p->w, ALIGN_LEFT, ui_note,
                      u->theme->ink_soft, text);
}

static void draw_waiting(struct panel *p)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float top = u->sc->frame.panel.y, share = u->src->progress;
    ui_section(u, p->x, top + HEADING_CY, "COMPUTING\u2026");
    struct scene_rect track = {p->x, top + CHIP_Y + CHIP_H * 0.5f, p->w, PROGRESS_H};
    (void)scene_rect(u->sc, track, PROGRESS_H * 0.5f, t->track);
    if (!(share > 0)) return;
    track.w *= fminf(share, 1);
    (void)scene_rect(u->sc, track, PROGRESS_H * 0.5f, t->accent);
    (void)ui_text(u, p->x, track.y + CHIP_H, ALIGN_LEFT, ui_body, t->ink_soft,
                  scene_print(u->sc, "%.0f%%", (double)(fminf(share, 1) * 100)));
}

/* Whether the trace has the numbers of this very state. */
static bool is_ready(const struct ui *u)
{
    const struct step_place *place = step_place_of(u->s);
    const struct attn_trace *t = u->src->trace;
    return t && u->src->fits && u->src->attn && t->dims.n_tok == place->dims.n_tok &&
           t->dims.d_model == place->dims.d_model &&
           t->dims.n_head == place->dims.n_head && t->head == place->head &&
           (!step_is_paired(u->s) || u->src->pair);
}

/* What the numbers would be, at the foot. */
static void draw_ghost(struct panel *p, const struct ui *u)
{
    float h = panel_ghost_height(u);
    if (!u->src->ghost || !is_ready(u)) return;
    const struct scene_rect *box = &u->sc->frame.panel;
    p->u = u;
    p->t = u->src->trace;
    p->n = p->t->dims.n_tok;
    p->at = panel_target_of(u->s, p->t->dims);
    p->bottom = box->y + box->h - PAD_BOTTOM;
    p->y = p->bottom - h;
    panel_ghost(p);
}

static struct panel draw_empty(const struct ui *u)
{
    struct scene_rect box = u->sc->frame.panel;
    u->sc->clip = box;
    scene_rect(u->sc, box, 0, u->theme->panel)->hit.kind = HIT_COVER;
    scene_line(u->sc, box.x + 0.5f, box.y, box.x + 0.5f, box.y + box.h, EDGE_W,
               u->theme->edge);
    float pad = box.w >= ROOMY ? PAD : PAD_TIGHT;
    return (struct panel){.u = u,
                          .t = u->src->trace,
                          .x = box.x + pad,
                          .w = box.w - 2 * pad,
                          .y = box.y,
                          .bottom = box.y + box.h - PAD_BOTTOM};
}

void ui_panel(const struct ui *u)
{
    static void (*const draw[ATTN_STAGE_COUNT])(struct panel *) = {
        [ATTN_PROJECTIONS] = panel_dot, [ATTN_SCORES] = panel_dot,
        [ATTN_SCALE] = panel_scale,     [ATTN_MASK] = panel_mask,
        [ATTN_SOFTMAX] = panel_softmax, [ATTN_WEIGHTED_SUM] = panel_blend,
        [ATTN_OUTPUT] = panel_output};
    struct panel p = draw_empty(u);
    if (u->s->over.open) {
        panel_overview(&p);
        return;
    }
    if (u->s->switches) { /* whose place is the same, whether there is a ghost or not */
        p.bottom -= panel_ghost_height(u);
        panel_switches(&p);
        draw_ghost(&p, u);
        return;
    }
    if (u->s->lab.open) {
        panel_lab(&p);
        return;
    }
    if (!is_ready(u)) {
        draw_waiting(&p);
        return;
    }
    if (u->src->compare && u->s->diff != STEP_DIFF_OFF) {
        panel_compare(&p);
        return;
    }
    struct scene_seen seen;
    scene_seen_of(&seen, u->s, u->src);
    struct ui looked_at = *u;
    looked_at.s = seen.s;
    looked_at.src = seen.src;
    p.u = &looked_at;
    p.t = seen.src->trace;
    if (u->src->ghost) p.bottom -= panel_ghost_height(u);
    p.n = p.t->dims.n_tok;
    p.d_head = attn_d_head(p.t->dims);
    p.head = p.t->head;
    p.at = panel_target_of(u->s, p.t->dims);
    struct scene_derivation d;
    if (scene_derive(&d, seen.src, scene_cell_of(u->s))) {
        p.at.row = d.ref.row;
        p.at.col = ui_is_grid(d.ref.tensor) ? d.ref.col : -1;
        p.at.done = 1;
        panel_apart(&p, &d);
        draw_ghost(&p, u);
        return;
    }
    struct panel_target asked = p.at;
    if (u->s->decode && !target_of_ref(u->s->stage, u->s->hover, &asked)) {
        panel_decode(&p);
        draw_ghost(&p, u);
        return;
    }
    choose_cell(&p, u->s->stage);
    draw_header(&p);
    if (step_is_paired(u->s)) {
        panel_two(&p);
        return;
    }
    draw_rows_hint(&p);
    if (p.at.several) {
        panel_rows(&p);
        return;
    }
    assert(u->s->stage >= 0 && u->s->stage < ATTN_STAGE_COUNT);
    draw[u->s->stage](&p);
    draw_ghost(&p, u);
}
