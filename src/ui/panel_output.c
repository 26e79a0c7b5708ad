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
    int made;  /* columns of the row that the motion has computed, */
    int terms; /* and products that it has added in the next one */
};

/* How far the motion has come in the row. */
static void look_at_motion(const struct panel *p, struct view *v)
{
    struct step_clock c = step_clock_at(p->u->s, ATTN_OUTPUT);
    struct step_beat b = step_beat_at(&c, p->u->s->time);
    int d = p->t->dims.d_model, row = p->at.row - c.row0;
    int done = c.beats_a_row > 1 ? b.at - row * d
               : b.at == row     ? (int)(b.part * (float)d)
               : b.at > row      ? d
                                 : 0;
    v->made = b.at >= c.n_beat || done > d ? d : done < 0 ? 0 : done;
    v->terms = c.beats_a_row > 1 && done == v->made ? scene_terms(b.part, d) : 0;
}

/* Products of column c in view that are there. */
static int terms_of(const struct panel *p, struct view v, int c)
{
    int column = v.from + c;
    return column < v.made ? p->t->dims.d_model : column == v.made ? v.terms : 0;
}

/* part[c] = row i of O_h times head h's rows of W_O, in the columns in view, as far as they
 * are there. */
static void head_part(const struct panel *p, struct view v, int h, double *part)
{
    const float *z =
        panel_row_of(p, ATTN_Z_ALL, p->at.row) + (size_t)h * (size_t)p->d_head;
    struct attn_cmat w = panel_view(p, ATTN_W_O);
    for (int c = 0; c < v.n; c++) part[c] = 0;
    for (int k = 0; k < p->d_head; k++) {
        int term = h * p->d_head + k;
        const float *row = w.data + (size_t)term * (size_t)w.ld + (size_t)v.from;
        for (int c = 0; c < v.n; c++)
            if (term < terms_of(p, v, c)) part[c] += (double)z[k] * (double)row[c];
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

/* A part of the sum: v.n values. */
struct part {
    const char *name;
    const float *value;
    int term; /* the sum's term that it begins with; < 0: no motion computes it */
    bool strong;
};

/* Columns from..from + n - 1 in view; those that are still to come are empty. */
static void draw_cells(const struct panel *p, struct view v, const struct part *part,
                       struct scene_rect box, int from, int n)
{
    const struct scene_theme *t = p->u->theme;
    float each = (box.w + CELL_GAP) / (float)n;
    int there = n;
    while (there > 0 && terms_of(p, v, from + there - 1) <= part->term) there--;
    if (there > 0)
        panel_cells(p, box.x, box.y, each * (float)there - CELL_GAP, box.h,
                    part->value + from, there, panel_range(p, ATTN_Y), part->strong);
    for (int c = there; c < n; c++) {
        struct scene_rect cell = {box.x + each * (float)c, box.y, each - CELL_GAP, box.h};
        (void)scene_border(p->u->sc, cell, PANEL_CELL_RADIUS, 1, t->empty, t->empty_line);
    }
}

static void draw_part(struct panel *p, struct view v, struct part part)
{
    const struct ui *u = p->u;
    struct scene_rgba ink = part.strong ? u->theme->ink : u->theme->ink_soft;
    if (v.lines) {
        (void)ui_text_fit(u, p->x, p->y + v.pitch / 2, NAME_W - CELL_GAP, ALIGN_LEFT,
                          part.strong ? ui_strong : ui_body, ink, part.name);
        float h = fminf(CELL_H, v.pitch - CELL_GAP * 0.5f);
        struct scene_rect box = {p->x + NAME_W, p->y + (v.pitch - h) / 2, p->w - NAME_W,
                                 h};
        draw_cells(p, v, &part, box, 0, v.n);
        p->y += v.pitch;
        return;
    }
    int lines = lines_of(v);
    float name_h =
        v.pitch > NAME_H + (CELL_H + CELL_GAP) * (float)lines ? NAME_H : NAME_TIGHT;
    float h = (v.pitch - name_h - PART_GAP) / (float)lines - CELL_GAP;
    h = fminf(fmaxf(h, CELL_LEAST_H), CELL_H);
    (void)ui_text_fit(u, p->x, p->y + name_h / 2, p->w, ALIGN_LEFT, part_type, ink,
                      part.name);
    for (int k = 0; k < lines; k++) {
        int from = k * LINE_CELLS, n = v.n - from < LINE_CELLS ? v.n - from : LINE_CELLS;
        float w = (p->w + CELL_GAP) * (float)n / LINE_CELLS - CELL_GAP;
        struct scene_rect box = {p->x, p->y + name_h + (float)k * (h + CELL_GAP), w, h};
        draw_cells(p, v, &part, box, from, n);
    }
    p->y += v.pitch;
}

static void draw_sum_of(struct panel *p, struct view v, const char *name, int term,
                        const double *sum)
{
    float part[COLUMNS_MOST];
    for (int c = 0; c < v.n; c++) part[c] = (float)sum[c];
    draw_part(p, v, (struct part){name, part, term, false});
}

/* The row of Y; until the stage is over, what its columns have come to without h. */
static void draw_result(struct panel *p, struct view v)
{
    if (p->u->s->time >= 1) {
        draw_part(p, v,
                  (struct part){"sum y", panel_row_of(p, ATTN_Y, p->at.row) + v.from, -1,
                                true});
        return;
    }
    float sum[COLUMNS_MOST];
    double part[COLUMNS_MOST];
    const float *mixed = panel_row_of(p, ATTN_Y_PROJ, p->at.row) + v.from;
    for (int c = 0; c < v.n; c++) sum[c] = v.from + c < v.made ? mixed[c] : 0;
    for (int h = 0; v.terms > 0 && h < p->t->dims.n_head; h++) {
        head_part(p, v, h, part);
        for (int c = 0; c < v.n; c++)
            if (v.from + c == v.made) sum[c] += (float)part[c];
    }
    draw_part(p, v, (struct part){v.lines ? "so far" : "sum so far", sum, 0, true});
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
            shown[i] * p->d_head, part);
    }
    if (!all) draw_sum_of(p, v, panel_others(p, n - m), 0, rest);
}

void panel_output(struct panel *p)
{
    struct scene *sc = p->u->sc;
    const struct attn_trace *t = p->t;
    struct view v = view_of(p);
    look_at_motion(p, &v);
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
        draw_part(
            p, v,
            (struct part){v.lines ? "bias" : "bias b_O", t->w.b_o + v.from, -1, false});
    if (t->opts.residual)
        draw_part(p, v,
                  (struct part){v.lines ? "resid. h" : "residual h, before ln_1",
                                panel_row_of(p, ATTN_H, p->at.row) + v.from, -1, false});
    panel_rule(p);
    draw_result(p, v);
    if (next) p->y += PART_GAP;
    panel_next(p);
}
