/* The parts that the explanations share: lines, cells, labels, and the trace's numbers. */
#include "panel.h"

#include <math.h>

enum {
    EDGE_W = 1,
    PROSE_LEADING = 19,
    INDEX_GAP = 6, /* between a token's number and its text */
    CELL_LOW = 22, /* lower or shorter cells have smaller numbers */
    CELL_SHORT = 56
};
static const struct ui_type title_type = {FONT_UI_BOLD, 13.5f};
static const struct ui_type index_type = {FONT_MONO, 10};
static const float cell_small = 11;
static const float hue_ink = 0.33f; /* of ink in a hue that is read as text */

/* ---- lines and cells ----------------------------------------------------------------------- */

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

/* Lines are broken as scene_paragraph breaks them. */
float panel_prose_height(const struct panel *p, const char *text)
{
    int lines = 0;
    for (; *text; lines++) {
        text += scene_line_fit(p->u->sc, ui_body.font, ui_body.size, p->w, text);
        while (*text == ' ') text++;
    }
    return (float)((lines ? lines : 1) * PROSE_LEADING);
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

static void colored_cell(const struct panel *p, struct scene_rect box,
                         struct scene_rgba c, struct ui_type t, const char *text)
{
    (void)scene_rect(p->u->sc, box, PANEL_CELL_RADIUS, c);
    (void)ui_text(p->u, box.x + box.w / 2, box.y + box.h / 2, ALIGN_CENTER, t,
                  scene_ink_on(p->u->theme, c), text);
}

void panel_cell(const struct panel *p, struct scene_rect box, float v, float range,
                struct ui_type t, const char *text)
{
    colored_cell(p, box,
                 scene_map_color(p->u->theme, MAP_DIVERGING, -range, range, false, v), t,
                 text);
}

void panel_weight(const struct panel *p, struct scene_rect box, float v, struct ui_type t,
                  const char *text)
{
    bool log = p->u->s->log_weights;
    colored_cell(p, box, scene_map_color(p->u->theme, MAP_SEQUENTIAL, 0, 1, log, v), t,
                 text);
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

/* A piece of the bracket that joins the tokens of one character. */
static void token_joint(const struct panel *p, int j, float x, float cy)
{
    enum { UP = 9, END = 3 };
    bool before = scene_token_joins(p->u->src, j - 1);
    bool after = scene_token_joins(p->u->src, j);
    struct scene_rgba ink = p->u->theme->ink_soft;
    if (!before && !after) return;
    float y0 = before ? cy - UP : cy, y1 = after ? cy + UP : cy;
    (void)scene_line(p->u->sc, x + END, y0, x + END, y1, EDGE_W, ink);
    if (!before || !after) (void)scene_line(p->u->sc, x, cy, x + END, cy, EDGE_W, ink);
}

void panel_token(const struct panel *p, int j, float right, float cy, float width,
                 bool on)
{
    const struct scene_theme *t = p->u->theme;
    const char *index = scene_print(p->u->sc, "%d", j + 1);
    const char *text = scene_token_text(p->u->sc, p->u->src, j);
    struct scene_rgba color = on ? panel_hue_text(p, j) : t->ink_faint;
    token_joint(p, j, right + 2, cy);
    if (!*text) {
        (void)ui_text(p->u, right, cy, ALIGN_RIGHT, ui_figure, color, index);
        return;
    }
    float w = width - ui_width(p->u, index_type, index) - INDEX_GAP;
    text = scene_fit_text(p->u->sc, ui_figure.font, ui_figure.size, w, text);
    (void)ui_text(p->u, right, cy, ALIGN_RIGHT, on ? ui_figure_strong : ui_figure, color,
                  text);
    (void)ui_text(p->u, right - ui_width(p->u, ui_figure, text) - INDEX_GAP, cy,
                  ALIGN_RIGHT, index_type, t->ink_soft, index);
}

void panel_mark(const struct panel *p, float cy, float h)
{
    struct scene_rect box = {p->x - INDEX_GAP, cy - h / 2, p->w + 2 * INDEX_GAP, h};
    (void)scene_rect(p->u->sc, box, PANEL_CELL_RADIUS, p->u->theme->accent_soft);
}

void panel_beyond(const struct panel *p, float right, float cy, float h)
{
    enum { IN = 7, LEAN = 3, WIDTH = 2 };
    for (int i = 0; i < 2; i++) {
        float x = right - IN + (float)(2 * i * WIDTH);
        (void)scene_line(p->u->sc, x - LEAN, cy + h / 2, x, cy - h / 2, WIDTH - 0.5f,
                         p->u->theme->panel);
    }
}

float panel_pitch(const struct panel *p, int count, float after, float least, float most)
{
    float room = (p->bottom - p->y - after) / (float)(count > 0 ? count : 1);
    return fminf(fmaxf(room, least), most);
}

const char *panel_count(const struct panel *p, int v)
{
    return scene_count(p->u->sc, v);
}

const char *panel_others(const struct panel *p, int count)
{
    return scene_print(p->u->sc, "%s other%s", panel_count(p, count),
                       count == 1 ? "" : "s");
}

const char *panel_index(const struct panel *p, int row, int col)
{
    return scene_index(p->u->sc, row, col);
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
