/* Stage 7: a row of the output as a sum: each head's part through its block of W_O, the
 * bias, the residual. */
#include "panel.h"

#include <math.h>

enum {
    COLUMNS_ALL = 8, /* a row of more columns is shown in part */
    LINE_CELLS = 4,  /* cells of a line, where all columns are shown */
    COLUMNS_MOST = 8,
    CELL_LEAST_W = 44,
    CELL_GAP = 4,
    CELL_H = 28,
    CELL_LEAST_H = 15,
    NAME_H = 24, /* of a part, above its cells */
    NAME_TIGHT = 17,
    PART_GAP = 10,
    NAME_W = 56, /* of a part, beside its cells */
    LINE_H = 30, /* a part in one line */
    LINE_LEAST_H = 17,
    PARTS_MOST = 32 /* heads shown at most */
};
static const struct ui_type part_type = {FONT_UI_MEDIUM, 13};

/* Columns of y that are shown, and how. */
struct view {
    int from, n;
    bool lines; /* a part is one line with its name beside the cells */
    float pitch;
};

/* part[c] = row i of O_h times head h's rows of W_O, in the columns in view. */
static void head_part(const struct panel *p, struct view v, int h, double *part)
{
    const float *z =
        panel_row_of(p, ATTN_Z_ALL, p->at.row) + (size_t)h * (size_t)p->d_head;
    struct attn_cmat w = panel_view(p, ATTN_W_O);
    for (int c = 0; c < v.n; c++) part[c] = 0;
    for (int k = 0; k < p->d_head; k++) {
        const float *row =
            w.data + (size_t)(h * p->d_head + k) * (size_t)w.ld + (size_t)v.from;
        for (int c = 0; c < v.n; c++) part[c] += (double)z[k] * (double)row[c];
    }
}

static struct view view_of(const struct panel *p)
{
    int d = p->t->dims.d_model;
    if (d <= COLUMNS_ALL) return (struct view){.from = 0, .n = d};
    int fit = (int)((p->w - NAME_W) / CELL_LEAST_W);
    int n = fit < COLUMNS_MOST ? fit : COLUMNS_MOST;
    int from = p->at.column >= 0 ? p->at.column - n / 2 : 0;
    if (from > d - n) from = d - n;
    return (struct view){.from = from < 0 ? 0 : from, .n = n, .lines = true};
}

static int lines_of(struct view v)
{
    return (v.n + LINE_CELLS - 1) / LINE_CELLS;
}

/* One part of the sum, v.n values. */
static void draw_part(struct panel *p, struct view v, const char *name, const float *part,
                      bool strong)
{
    const struct ui *u = p->u;
    float range = panel_range(p, ATTN_Y);
    struct scene_rgba ink = strong ? u->theme->ink : u->theme->ink_soft;
    if (v.lines) {
        (void)ui_text_fit(u, p->x, p->y + v.pitch / 2, NAME_W - CELL_GAP, ALIGN_LEFT,
                          strong ? ui_strong : ui_body, ink, name);
        float h = fminf(CELL_H, v.pitch - CELL_GAP * 0.5f);
        panel_cells(p, p->x + NAME_W, p->y + (v.pitch - h) / 2, p->w - NAME_W, h, part,
                    v.n, range, strong);
        p->y += v.pitch;
        return;
    }
    int lines = lines_of(v);
    float name_h =
        v.pitch > NAME_H + (CELL_H + CELL_GAP) * (float)lines ? NAME_H : NAME_TIGHT;
    float h = (v.pitch - name_h - PART_GAP) / (float)lines - CELL_GAP;
    h = fminf(fmaxf(h, CELL_LEAST_H), CELL_H);
    (void)ui_text_fit(u, p->x, p->y + name_h / 2, p->w, ALIGN_LEFT, part_type, ink, name);
    for (int k = 0; k < lines; k++) {
        int from = k * LINE_CELLS, n = v.n - from < LINE_CELLS ? v.n - from : LINE_CELLS;
        float w = (p->w + CELL_GAP) * (float)n / LINE_CELLS - CELL_GAP;
        panel_cells(p, p->x, p->y + name_h + (float)k * (h + CELL_GAP), w, h, part + from,
                    n, range, strong);
    }
    p->y += v.pitch;
}

static void draw_sum_of(struct panel *p, struct view v, const char *name,
                        const double *sum, bool strong)
{
    float part[COLUMNS_MOST];
    for (int c = 0; c < v.n; c++) part[c] = (float)sum[c];
    draw_part(p, v, name, part, strong);
}

/* The heads that are shown: all, or those with the largest parts; the others as one. */
static void draw_heads(struct panel *p, struct view v, int room)
{
    struct scene *sc = p->u->sc;
    int n = p->t->dims.n_head, shown[PARTS_MOST], m = n;
    double part[COLUMNS_MOST], rest[COLUMNS_MOST] = {0};
    float *size = panel_floats(p, n);
    if (!size) return;
    for (int h = 0; h < n; h++) {
        head_part(p, v, h, part);
        size[h] = 0;
        for (int c = 0; c < v.n; c++) {
            size[h] += (float)fabs(part[c]);
            rest[c] += part[c];
        }
    }
    bool all = n <= room;
    if (all)
        for (int h = 0; h < n; h++) shown[h] = h;
    else
        m = panel_largest(size, n, room - 1, p->head, shown);
    for (int i = 0; i < m; i++) {
        head_part(p, v, shown[i], part);
        for (int c = 0; c < v.n; c++) rest[c] -= part[c];
        draw_sum_of(
            p, v,
            scene_print(sc, v.lines ? "head %d" : "head %d \u00B7 W_O", shown[i] + 1),
            part, false);
    }
    if (!all) draw_sum_of(p, v, panel_others(p, n - m), rest, false);
}

void panel_output(struct panel *p)
{
    struct scene *sc = p->u->sc;
    const struct attn_trace *t = p->t;
    struct view v = view_of(p);
    int extra = (t->w.b_o != NULL) + t->opts.residual + 1; /* bias, residual, sum */
    bool next = panel_next_height(p) > 0;
    float after = PANEL_RULE_H + panel_next_height(p) + (next ? (float)PART_GAP : 0.0f);
    if (v.lines)
        panel_pair(p, "columns of Y shown",
                   scene_print(sc, "%d\u2013%d of %d", v.from + 1, v.from + v.n,
                               t->dims.d_model));
    int lines = lines_of(v);
    float least =
        v.lines ? (float)LINE_LEAST_H
                : NAME_TIGHT + PART_GAP + (float)(lines * (CELL_LEAST_H + CELL_GAP));
    float most = v.lines ? (float)LINE_H
                         : NAME_H + PART_GAP + (float)(lines * (CELL_H + CELL_GAP));
    int room = (int)((p->bottom - p->y - after) / least) - extra;
    room = room < 2 ? 2 : room > PARTS_MOST ? PARTS_MOST : room;
    int heads = t->dims.n_head < room ? t->dims.n_head : room;
    v.pitch = panel_pitch(p, heads + extra, after, least, most);
    draw_heads(p, v, room);
    if (t->w.b_o)
        draw_part(p, v, v.lines ? "bias" : "bias b_O", t->w.b_o + v.from, false);
    if (t->opts.residual)
        draw_part(p, v, v.lines ? "resid. h" : "residual h, before ln_1",
                  panel_row_of(p, ATTN_H, p->at.row) + v.from, false);
    panel_rule(p);
    draw_part(p, v, "sum y", panel_row_of(p, ATTN_Y, p->at.row) + v.from, true);
    if (next) p->y += PART_GAP;
    panel_next(p);
}
