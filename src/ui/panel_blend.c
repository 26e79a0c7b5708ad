/* Stage 6: a row of the result as a blend: each visible token's weight times its value row,
 * their sum, and the colour that comes of it. */
#include "panel.h"

#include <math.h>

enum {
    BAR_H = 30,
    BAR_GAP = 14, /* below it */
    PART_H = 62,  /* a source: its line and its cells */
    PART_LEAST_H = 40,
    LINE_H = 22, /* of it, the line */
    LINE_TIGHT = 17,
    CELL_H = 28,
    SUM_H = 56,
    SWATCH = 20,
    SWATCH_RADIUS = 4,
    CELL_LEAST_W = 46, /* fewer columns where cells would be narrower */
    COLUMNS_MOST = 6,
    SOURCES_MOST = 8,
    SPACE = 8
};
static const struct ui_type percent_type = {FONT_MONO, 11};

/* Columns of the result that are shown. */
struct window {
    int from, n;
};

static struct window window_of(const struct panel *p)
{
    int fit = (int)(p->w / CELL_LEAST_W), n = fit < COLUMNS_MOST ? fit : COLUMNS_MOST;
    if (n > p->d_head) n = p->d_head;
    int from = p->at.column >= 0 ? p->at.column - n / 2 : 0;
    if (from > p->d_head - n) from = p->d_head - n;
    return (struct window){from < 0 ? 0 : from, n};
}

/* The row's weights as one bar; sources that are not shown share its end. */
static void draw_stack(struct panel *p, const float *w, const int *shown, int m)
{
    const struct ui *u = p->u;
    float x = p->x;
    for (int i = 0; i < m; i++) {
        float room = p->x + p->w - x, part = fminf(p->w * w[shown[i]], room);
        if (!(part > 0)) continue;
        struct scene_rgba hue = scene_token_hue(shown[i]);
        (void)scene_rect(u->sc, (struct scene_rect){x, p->y, part, BAR_H}, 0, hue);
        const char *text =
            scene_print(u->sc, "%s%%", scene_number(u->sc, w[shown[i]] * 100, 0));
        if (ui_width(u, percent_type, text) + SPACE <= part)
            (void)ui_text(u, x + part / 2, p->y + BAR_H * 0.5f, ALIGN_CENTER,
                          percent_type, scene_ink_on(u->theme, hue), text);
        x += part;
    }
    float rest = p->x + p->w - x;
    double all = 0;
    for (int i = 0; i < m; i++) all += fmax((double)w[shown[i]], 0);
    if (all > 1.001) panel_beyond(p, p->x + p->w, p->y + BAR_H * 0.5f, BAR_H);
    if (rest > 1)
        (void)scene_rect(u->sc, (struct scene_rect){x, p->y, rest, BAR_H}, 0,
                         u->theme->track);
    p->y += BAR_H + BAR_GAP;
}

/* part[c] = w * v[c] of the columns in view. */
static void weighted(const struct panel *p, struct window c, int j, float w, float *part)
{
    const float *v = panel_row_of(p, ATTN_V, j) + c.from;
    for (int k = 0; k < c.n; k++) part[k] = w * v[k];
}

/* sent: how long what the source adds to the row of Y is, as text; "": not said. */
static void draw_part(struct panel *p, struct window c, float pitch, const float *part,
                      const char *factor, int token, const char *name, const char *sent)
{
    const struct ui *u = p->u;
    float line = pitch >= PART_H - SPACE ? LINE_H : LINE_TIGHT;
    float h = fminf(CELL_H, pitch - line - 2), cy = p->y + line / 2;
    if (token >= 0 && token == p->at.col) panel_mark(p, p->y + pitch / 2 - 1, pitch);
    float x = p->x, w_sent = ui_width(u, ui_figure, sent);
    (void)ui_text(u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, u->theme->ink_soft, sent);
    if (*factor) {
        (void)ui_text(u, x, cy, ALIGN_LEFT, ui_figure_strong, u->theme->ink, factor);
        x += ui_width(u, ui_figure_strong, factor) + SPACE;
    }
    (void)ui_text_fit(u, x, cy, p->x + p->w - x - w_sent - SPACE, ALIGN_LEFT,
                      token >= 0 ? ui_figure_strong : ui_body,
                      token >= 0 ? panel_hue_text(p, token) : u->theme->ink_soft, name);
    panel_cells(p, p->x, p->y + line, p->w, h, part, c.n, panel_range(p, ATTN_V), false);
    p->y += pitch;
}

static uint8_t encoded(float linear)
{
    float c = fminf(fmaxf(linear, 0), 1); /* IEC 61966-2-1 */
    float s = c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1 / 2.4f) - 0.055f;
    return (uint8_t)lrintf(255 * s);
}

static void draw_sum(struct panel *p, struct window c)
{
    const struct ui *u = p->u;
    panel_rule(p);
    float cy = p->y + LINE_H * 0.5f - 2;
    float room = p->w - SWATCH - SPACE;
    (void)ui_text_fit(u, p->x, cy, room, ALIGN_LEFT, ui_body, u->theme->ink_soft,
                      scene_print(u->sc,
                                  attn_is_silent(p->t->opts, p->t->head)
                                      ? "silenced: output row %d is 0"
                                      : "sum = output row %d",
                                  p->at.row + 1));
    if (u->src->blend) {
        const float *b = u->src->blend + 3 * (size_t)p->at.row;
        struct scene_rgba color = {encoded(b[0]), encoded(b[1]), encoded(b[2]), 255};
        (void)scene_rect(
            u->sc,
            (struct scene_rect){p->x + p->w - SWATCH, cy - SWATCH * 0.5f, SWATCH, SWATCH},
            SWATCH_RADIUS, color);
    }
    p->y += LINE_H + 2;
    panel_cells(p, p->x, p->y, p->w, CELL_H, panel_row_of(p, ATTN_Z, p->at.row) + c.from,
                c.n, panel_range(p, ATTN_Z), true);
    p->y += CELL_H;
}

/* How many sources there is room for. */
static int room_for(const struct panel *p, float after, bool all)
{
    int fit = (int)((p->bottom - p->y - after) / PART_LEAST_H);
    int most = all ? PANEL_TABLE_MOST : SOURCES_MOST;
    return fit < most ? fit : most;
}

/* Sources in reading order where all fit and they are ranked by weight, else the first of
 * the rank. */
static int choose_sources(const struct panel *p, const struct panel_sources *s,
                          float after, int *shown)
{
    int m = room_for(p, after, true);
    bool folded = s->below > 0 || s->n > m;
    if (!folded && s->key == s->w) {
        for (int j = 0; j < s->n; j++) shown[j] = j;
        return s->n;
    }
    m = room_for(p, after + (folded ? (float)PART_LEAST_H : 0), !folded);
    return panel_sources_top(p, s, m > 1 ? m : 1, shown);
}

static void draw_others(struct panel *p, struct window c, float pitch,
                        const struct panel_sources *s, const int *shown, int m)
{
    float part[COLUMNS_MOST];
    double sum[COLUMNS_MOST] = {0}, left = 0;
    for (int j = 0; j < s->n; j++) {
        bool there = false;
        for (int i = 0; i < m; i++) there = there || shown[i] == j;
        if (there) continue;
        weighted(p, c, j, s->w[j], part);
        left += (double)s->w[j];
        for (int k = 0; k < c.n; k++) sum[k] += (double)part[k];
    }
    for (int k = 0; k < c.n; k++) part[k] = (float)sum[k];
    draw_part(p, c, pitch, part, scene_number(p->u->sc, (float)left, 3), -1,
              scene_print(p->u->sc, "on %s", panel_others(p, s->n - m)), "");
}

void panel_blend(struct panel *p)
{
    struct scene *sc = p->u->sc;
    struct panel_sources s;
    if (!panel_sources_of(p, &s)) return;
    struct window c = window_of(p);
    bool cut = c.n < p->d_head;
    int shown[PANEL_TABLE_MOST];
    float after = PANEL_RULE_H + SUM_H;
    float above = (float)(BAR_H + BAR_GAP + PANEL_CONTROLS_H + (cut ? PANEL_PAIR_H : 0));
    int m = choose_sources(p, &s, after + above, shown), others = s.n - m;
    draw_stack(p, s.w, shown, m);
    panel_sources_controls(p);
    if (cut)
        panel_pair(
            p, "columns shown",
            scene_print(sc, "%d\u2013%d of %d", c.from + 1, c.from + c.n, p->d_head));
    float pitch = panel_pitch(p, m + (others > 0), after, PART_LEAST_H, PART_H);
    for (int i = 0; i < m; i++) {
        float part[COLUMNS_MOST];
        int j = shown[i];
        weighted(p, c, j, s.w[j], part);
        const char *text = scene_token_text(sc, p->u->src, j);
        const char *name = *text ? scene_print(sc, "%d %s", j + 1, text)
                                 : scene_print(sc, "token %d", j + 1);
        const char *factor = scene_print(sc, "%s \u00D7", scene_number(sc, s.w[j], 3));
        const char *sent = scene_print(sc, "\u2192 Y %s", scene_number(sc, s.sent[j], 3));
        draw_part(p, c, pitch, part, factor, j, name, sent);
    }
    if (others > 0) draw_others(p, c, pitch, &s, shown, m);
    draw_sum(p, c);
}
