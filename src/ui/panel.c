/* The side panel: what is explained (the hovered cell, else what the animation is at, else
 * the pinned cell, else the selected row), its heading, and the parts that all share. */
#include "panel.h"

#include <math.h>
#include <string.h>

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
    PROSE_LEADING = 19,
    INDEX_GAP = 6, /* between a token's number and its text */
    PROGRESS_H = 4,
    CELL_LOW = 22, /* lower or shorter cells have smaller numbers */
    CELL_SHORT = 56
};
static const struct ui_type chip_type = {FONT_MONO, 14};
static const struct ui_type title_type = {FONT_UI_BOLD, 13.5f};
static const struct ui_type index_type = {FONT_MONO, 10};
static const float cell_small = 11;
static const float hue_ink = 0.22f; /* of ink in a hue that is read as text */

/* ---- what is explained ----------------------------------------------------------------- */

static bool is_grid(enum attn_tensor t)
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
    if (is_grid(r.tensor)) {
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
    if (!is_grid(r.tensor)) return false;
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
    struct step_clock c = step_clock_of(s->stage, d);
    struct step_beat b = step_beat_at(&c, s->time);
    if (b.intro < 1 || b.at >= c.n_beat) return false;
    at->row = b.at / c.beats_a_row;
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

static struct panel_target target_of(const struct step_state *s, struct attn_dims d)
{
    const struct step_place *place = step_place_of(s);
    const struct panel_target row = {
        .tensor = ATTN_Q, .row = place->row, .col = -1, .column = -1, .done = 1};
    struct panel_target at = row; /* in the order of scene's frames, so that both agree */
    if (!target_of_ref(s->stage, s->hover, &at) && !target_of_time(s, d, &at))
        (void)target_of_ref(s->stage, place->pin, &at);
    return at;
}

/* ---- shared parts -------------------------------------------------------------------------- */

void panel_section(struct panel *p, const char *text)
{
    ui_section(p->u, p->x, p->y + PANEL_SECTION_H * 0.5f, text);
    p->y += PANEL_SECTION_H;
}

void panel_title(struct panel *p, const char *text)
{
    (void)ui_text_fit(p->u, p->x, p->y + PANEL_TITLE_H * 0.5f, p->w, ALIGN_LEFT,
                      title_type, p->u->theme->ink, text);
    p->y += PANEL_TITLE_H;
}

void panel_rule(struct panel *p)
{
    float y = p->y + PANEL_RULE_H * 0.5f;
    scene_line(p->u->sc, p->x, y, p->x + p->w, y, EDGE_W, p->u->theme->edge);
    p->y += PANEL_RULE_H;
}

void panel_pair(struct panel *p, const char *label, const char *value)
{
    float cy = p->y + PANEL_PAIR_H * 0.5f, w = ui_width(p->u, ui_figure, value);
    (void)ui_text_fit(p->u, p->x, cy, p->w - w - INDEX_GAP, ALIGN_LEFT, ui_body,
                      p->u->theme->ink_soft, label);
    (void)ui_text(p->u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, p->u->theme->ink, value);
    p->y += PANEL_PAIR_H;
}

/* Lines are broken as scene_paragraph breaks them: at the last space that fits. */
float panel_prose_height(const struct panel *p, const char *text)
{
    int lines = 1;
    float w = 0, since_space = 0;
    for (const char *at = text; *at;) {
        uint32_t c = utf8_next(&at);
        float a = font_advance(p->u->sc->font, ui_body.font, c) * ui_body.size;
        w += a;
        since_space = c == ' ' ? 0 : since_space + a;
        if (w <= p->w || c == ' ') continue;
        lines++;
        w = since_space;
    }
    return (float)(lines * PROSE_LEADING);
}

void panel_prose(struct panel *p, const char *text)
{
    float cap = p->u->sc->font->cap[ui_body.font] * ui_body.size;
    float end = scene_paragraph(p->u->sc, p->x, p->y + cap, p->w, PROSE_LEADING,
                                ui_body.font, ui_body.size, p->u->theme->ink_soft, text);
    p->y = end - cap;
}

/* "−8e7": where nothing longer fits. */
static const char *shortest(const struct panel *p, float v)
{
    if (!isfinite(v)) return scene_number(p->u->sc, v, 0);
    int power = (int)floor(log10(fmax(fabs((double)v), 1)));
    return scene_print(p->u->sc, "%s%.0fe%d", v < 0 ? "\u2212" : "",
                       fabs((double)v) / pow(10, power), power);
}

static const char *fitted(const struct panel *p, struct ui_type t, float width, float v,
                          int decimals, bool with_sign)
{
    for (int k = decimals; k >= 0; k--) {
        const char *text =
            with_sign ? scene_signed(p->u->sc, v, k) : scene_number(p->u->sc, v, k);
        if (ui_width(p->u, t, text) <= width) return text;
    }
    return shortest(p, v);
}

const char *panel_number(const struct panel *p, struct ui_type t, float width, float v,
                         int decimals)
{
    return fitted(p, t, width, v, decimals, false);
}

const char *panel_signed(const struct panel *p, struct ui_type t, float width, float v,
                         int decimals)
{
    return fitted(p, t, width, v, decimals, true);
}

void panel_cell(const struct panel *p, struct scene_rect box, float v, float range,
                struct ui_type t, const char *text)
{
    struct scene_rgba c =
        scene_map_color(p->u->theme, MAP_DIVERGING, -range, range, false, v);
    (void)scene_rect(p->u->sc, box, PANEL_CELL_RADIUS, c);
    (void)ui_text(p->u, box.x + box.w / 2, box.y + box.h / 2, ALIGN_CENTER, t,
                  scene_ink_on(p->u->theme, c), text);
}

void panel_masked(const struct panel *p, struct scene_rect box, const char *text)
{
    const struct scene_theme *t = p->u->theme;
    (void)scene_border(p->u->sc, box, PANEL_CELL_RADIUS, EDGE_W, t->mask, t->hatch);
    (void)ui_text(p->u, box.x + box.w / 2, box.y + box.h / 2, ALIGN_CENTER, ui_figure,
                  t->ink_faint, text);
}

void panel_cells(const struct panel *p, float x, float y, float w, float h,
                 const float *v, int n, float range, bool strong)
{
    enum { GAP = 4 };
    float each = (w - GAP * (float)(n - 1)) / (float)n;
    struct ui_type t = {strong ? FONT_MONO_BOLD : FONT_MONO, ui_figure.size};
    if (h < CELL_LOW || each < CELL_SHORT) t.size = cell_small;
    for (int c = 0; c < n; c++) {
        struct scene_rect box = {x + (float)c * (each + GAP), y, each, h};
        panel_cell(p, box, v[c], range, t, panel_signed(p, t, each - GAP, v[c], 3));
    }
}

struct scene_rgba panel_hue_text(const struct panel *p, int j)
{
    return scene_mix(scene_token_hue(j), p->u->theme->ink, hue_ink);
}

void panel_token(const struct panel *p, int j, float right, float cy, float width,
                 bool on)
{
    const struct scene_theme *t = p->u->theme;
    const char *index = scene_print(p->u->sc, "%d", j + 1);
    const char *text = scene_token_text(p->u->sc, p->u->src, j);
    struct scene_rgba color = on ? panel_hue_text(p, j) : t->ink_faint;
    if (!*text) {
        (void)ui_text(p->u, right, cy, ALIGN_RIGHT, ui_figure, color, index);
        return;
    }
    float w = width - ui_width(p->u, index_type, index) - INDEX_GAP;
    text = scene_fit_text(p->u->sc, ui_figure.font, ui_figure.size, w, text);
    (void)ui_text(p->u, right, cy, ALIGN_RIGHT, on ? ui_figure_strong : ui_figure, color,
                  text);
    (void)ui_text(p->u, right - ui_width(p->u, ui_figure, text) - INDEX_GAP, cy,
                  ALIGN_RIGHT, index_type, t->ink_faint, index);
}

void panel_mark(const struct panel *p, float cy, float h)
{
    struct scene_rect box = {p->x - INDEX_GAP, cy - h / 2, p->w + 2 * INDEX_GAP, h};
    (void)scene_rect(p->u->sc, box, PANEL_CELL_RADIUS, p->u->theme->accent_soft);
}

float panel_pitch(const struct panel *p, int count, float after, float least, float most)
{
    float room = (p->bottom - p->y - after) / (float)(count > 0 ? count : 1);
    return fminf(fmaxf(room, least), most);
}

/* "1,016" */
static const char *grouped(const struct panel *p, int v)
{
    if (v < 1000) return scene_print(p->u->sc, "%d", v);
    return scene_print(p->u->sc, "%d,%03d", v / 1000, v % 1000);
}

const char *panel_others(const struct panel *p, int count)
{
    return scene_print(p->u->sc, "%s other%s", grouped(p, count), count == 1 ? "" : "s");
}

const char *panel_index(const struct panel *p, int row, int col)
{
    static const char *const sub[10] = {"\u2080", "\u2081", "\u2082", "\u2083", "\u2084",
                                        "\u2085", "\u2086", "\u2087", "\u2088", "\u2089"};
    bool single = row < 9 && col < 9;
    const char *digits = col < 0  ? scene_print(p->u->sc, "%d", row + 1)
                         : single ? scene_print(p->u->sc, "%d%d", row + 1, col + 1)
                                  : scene_print(p->u->sc, "%d,%d", row + 1, col + 1);
    char out[64] = "";
    for (; *digits; digits++)
        strcat(out, *digits == ',' ? "," : sub[*digits - '0']); /* at most 13 * 3 bytes */
    return scene_print(p->u->sc, "%s", out);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

float panel_range(const struct panel *p, enum attn_tensor t)
{
    float r = p->t->stats[t].max_abs;
    return r > 0 ? r : 1;
}

struct attn_cmat panel_view(const struct panel *p, enum attn_tensor t)
{
    return attn_trace_view(p->t, t, p->head);
}

const float *panel_row_of(const struct panel *p, enum attn_tensor t, int i)
{
    struct attn_cmat m = panel_view(p, t);
    return m.data + (size_t)i * (size_t)m.ld;
}

float *panel_floats(const struct panel *p, int n)
{
    return arena_push(p->u->sc->mem, (size_t)n, sizeof(float));
}

/* Insertion into a short list that is kept in order: k is at most a screen's lines. */
int panel_largest(const float *key, int n, int k, int must, int *at)
{
    int m = 0;
    if (k > n) k = n;
    for (int j = 0; j < n; j++) {
        int to = m;
        while (to > 0 && !(key[at[to - 1]] >= key[j])) to--;
        if (to >= k) continue;
        if (m < k) m++;
        for (int i = m - 1; i > to; i--) at[i] = at[i - 1];
        at[to] = j;
    }
    bool there = must < 0 || must >= n || m == 0;
    for (int i = 0; i < m; i++) there = there || at[i] == must;
    if (!there) at[m - 1] = must;
    return m;
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
    const char *heading = stage == ATTN_WEIGHTED_SUM ? "VALUE BLEND"
                          : cell                     ? "THIS CELL"
                                                     : "THIS ROW";
    float top = p->u->sc->frame.panel.y;
    ui_section(p->u, p->x, top + HEADING_CY, heading);
    p->y = top + CHIP_Y;
    draw_chips(p, cell && stage != ATTN_PROJECTIONS);
    p->y = top + HEADER_H;
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
           t->dims.n_head == place->dims.n_head && t->head == place->head;
}

void ui_panel(const struct ui *u)
{
    static void (*const draw[ATTN_STAGE_COUNT])(struct panel *) = {
        panel_dot,     panel_dot,   panel_scale, panel_mask,
        panel_softmax, panel_blend, panel_output};
    struct scene_rect box = u->sc->frame.panel;
    u->sc->clip = box;
    scene_rect(u->sc, box, 0, u->theme->panel)->hit.kind = HIT_COVER;
    scene_line(u->sc, box.x + 0.5f, box.y, box.x + 0.5f, box.y + box.h, EDGE_W,
               u->theme->edge);
    float pad = box.w >= ROOMY ? PAD : PAD_TIGHT;
    struct panel p = {.u = u,
                      .t = u->src->trace,
                      .x = box.x + pad,
                      .w = box.w - 2 * pad,
                      .y = box.y,
                      .bottom = box.y + box.h - PAD_BOTTOM};
    if (!is_ready(u)) {
        draw_waiting(&p);
        return;
    }
    p.n = p.t->dims.n_tok;
    p.d_head = attn_d_head(p.t->dims);
    p.head = p.t->head;
    p.at = target_of(u->s, p.t->dims);
    choose_cell(&p, u->s->stage);
    draw_header(&p);
    draw[u->s->stage](&p);
}
