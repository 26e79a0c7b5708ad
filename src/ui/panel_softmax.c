/* Stage 5: a row of weights. Few columns as a table of s - max, exp and weight; many as the
 * largest of them, and what they add up to. */
#include "panel.h"

#include <math.h>

enum {
    ROW_H = 40,
    ROW_LEAST_H = 20,
    HEAD_H = 24,
    LIST_LEAST = 3,  /* rows of the list in any window */
    TABLE_PAIRS = 3, /* of lines below the table */
    BAR_H = 20,
    LIST_BAR_H = 17,
    LIST_ROW_H = 32,
    LIST_LABEL_W = 92,
    GAP = 10,
    LEAST_BAR = 2 /* points: a weight that is not 0 can be seen */
};

/* Right ends of the table's columns, of a panel PICTURE_W wide. */
enum {
    PICTURE_W = 304,
    AT_TOKEN = 62,
    AT_SHIFTED = 124,
    AT_EXP = 188,
    AT_BAR = 200, /* left end */
    BAR_MOST = 52
};

/* The row's numbers: softmax taken apart by the kernels that made it. */
struct apart {
    const float *s, *p; /* masked scores, weights */
    float *e;
    struct attn_row row;
};

static bool take_apart(const struct panel *p, struct apart *a)
{
    a->s = panel_row_of(p, ATTN_S_MASKED, p->at.row);
    a->p = panel_row_of(p, ATTN_P, p->at.row);
    a->e = panel_floats(p, p->n);
    if (!a->e) return false;
    a->row = attn_trace_row(p->u->src->attn, p->t, p->at.row, a->e);
    return true;
}

const char panel_no_entropy[] = "no distribution";

static const char *bits(const struct panel *p, const struct attn_row *row)
{
    double most = row->n_visible > 0 ? log2(row->n_visible) : 0;
    if (isnan(row->entropy)) return panel_no_entropy;
    return scene_print(p->u->sc, "%.2f of %.2f bits", (double)row->entropy, most);
}

/* The top weight that the row would have with the division by sqrt(d_head) the other way. */
static void draw_other_scale(struct panel *p)
{
    const float *s = panel_row_of(p, ATTN_S_RAW, p->at.row);
    float *other = panel_floats(p, p->n);
    if (!other) return;
    bool on = p->t->opts.scale;
    struct attn_opts o = p->t->opts;
    o.scale = !on;
    o.divisor = ATTN_SQRT_D_HEAD;
    float by = (float)(1 / attn_divisor_of(o, p->t->dims));
    for (int j = 0; j < p->n; j++)
        other[j] = j < attn_seen(o, p->at.row, p->n) ? s[j] * by : -INFINITY;
    struct attn_row row = attn_row_explain_as(p->u->src->attn, NULL, other, p->n, o);
    panel_pair(
        p, on ? "without \u00F7 \u221Ad_head" : "with \u00F7 \u221Ad_head",
        scene_print(p->u->sc, "top weight %s", scene_number(p->u->sc, row.top, 3)));
}

/* ---- few columns ------------------------------------------------------------------------- */

static float at(const struct panel *p, int place)
{
    return p->x + p->w * (float)place / PICTURE_W;
}

static void table_line(const struct panel *p, const struct apart *a, int j, float cy,
                       float pitch)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    bool masked = a->s[j] == -INFINITY;
    float right = p->x + p->w, w = at(p, AT_SHIFTED) - at(p, AT_TOKEN) - GAP * 0.5f;
    bool below = a->p[j] < u->s->least_weight;
    struct scene_rgba ink = masked || below ? t->ink_faint : t->ink;
    if (j == p->at.col) panel_mark(p, cy, fminf(pitch, ROW_H));
    panel_token(p, j, at(p, AT_TOKEN), cy, at(p, AT_TOKEN) - p->x, !masked);
    float shifted = (a->s[j] - a->row.max) / exp2f(step_heat_of(p->t->opts));
    (void)ui_text(u, at(p, AT_SHIFTED), cy, ALIGN_RIGHT, ui_figure, ink,
                  panel_number(p, ui_figure, w, shifted, 2));
    (void)ui_text(u, at(p, AT_EXP), cy, ALIGN_RIGHT, ui_figure, ink,
                  panel_number(p, ui_figure, w, a->e[j], 3));
    (void)ui_text(u, right, cy, ALIGN_RIGHT, masked ? ui_figure : ui_figure_strong, ink,
                  panel_number(p, ui_figure_strong, w, a->p[j], 3));
    if (masked || below || !(a->p[j] > 0)) return;
    float h = fminf(BAR_H, pitch - GAP * 0.5f);
    float most = BAR_MOST * p->w / PICTURE_W; /* a weight that is given may be beyond 1 */
    float bar = fminf(fmaxf(LEAST_BAR, a->p[j] * most), most);
    (void)scene_rect(u->sc, (struct scene_rect){at(p, AT_BAR), cy - h / 2, bar, h},
                     fminf(PANEL_BAR_RADIUS, bar / 2), scene_token_hue(j));
    if (a->p[j] > 1) panel_beyond(p, at(p, AT_BAR) + bar, cy, h);
}

static void draw_table(struct panel *p, const struct apart *a)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float right = p->x + p->w, cy = p->y + HEAD_H * 0.5f;
    (void)ui_text(u, at(p, AT_SHIFTED), cy, ALIGN_RIGHT, ui_figure, t->ink_soft,
                  p->t->opts.no_max               ? "s"
                  : step_heat_of(p->t->opts) == 0 ? "s\u2212max"
                                                  : "\u00F7 T");
    (void)ui_text(u, at(p, AT_EXP), cy, ALIGN_RIGHT, ui_figure, t->ink_soft, "exp");
    (void)ui_text(u, right, cy, ALIGN_RIGHT, ui_figure, t->ink_soft, "weight");
    p->y += HEAD_H;
    bool some = u->s->least_weight > 0;
    float after = (float)(PANEL_RULE_H + (TABLE_PAIRS + some) * PANEL_PAIR_H);
    float pitch = panel_pitch(p, p->n, after, ROW_LEAST_H, ROW_H);
    double sum = 0;
    for (int j = 0; j < p->n; j++, p->y += pitch) {
        table_line(p, a, j, p->y + pitch / 2, pitch);
        sum += (double)a->p[j];
    }
    panel_rule(p);
    cy = p->y + PANEL_PAIR_H * 0.5f;
    (void)ui_text(u, p->x, cy, ALIGN_LEFT, ui_body, t->ink_soft, "sum");
    (void)ui_text(u, at(p, AT_EXP), cy, ALIGN_RIGHT, ui_figure, t->ink,
                  scene_number(u->sc, a->row.sum, 3));
    (void)ui_text(u, right, cy, ALIGN_RIGHT, ui_figure_strong, t->ink,
                  scene_number(u->sc, (float)sum, 3));
    p->y += PANEL_PAIR_H;
}

/* ---- many columns ------------------------------------------------------------------------- */

/* One source, or (j < 0) all the others: weight w, sent on to Y as sent. */
static void list_line(const struct panel *p, int j, float cy, float pitch, float w,
                      float sent, float share)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float value_w = ui_width(u, ui_figure, "0.0000"), end = p->x + p->w;
    float left = p->x + LIST_LABEL_W + GAP, right = end - 2 * (value_w + GAP);
    float h = fminf(LIST_BAR_H, pitch - GAP * 0.5f);
    float bar = (right - left) * fminf(share, 1);
    if (share > 0) bar = fmaxf(bar, LEAST_BAR);
    if (bar > 0)
        (void)scene_rect(u->sc, (struct scene_rect){left, cy - h / 2, bar, h},
                         fminf(PANEL_BAR_RADIUS, bar / 2),
                         j >= 0 ? scene_token_hue(j) : t->track);
    bool by_sent = u->s->rank == STEP_RANK_CONTRIBUTION;
    (void)ui_text(u, end - value_w - GAP, cy, ALIGN_RIGHT, ui_figure,
                  by_sent ? t->ink_soft : t->ink,
                  panel_number(p, ui_figure, value_w, w, 4));
    (void)ui_text(u, end, cy, ALIGN_RIGHT, ui_figure, by_sent ? t->ink : t->ink_soft,
                  panel_number(p, ui_figure, value_w, sent, 4));
}

static void list_head(struct panel *p)
{
    const struct ui *u = p->u;
    float value_w = ui_width(u, ui_figure, "0.0000"), end = p->x + p->w;
    float cy = p->y + HEAD_H * 0.5f;
    (void)ui_text(u, end - value_w - GAP, cy, ALIGN_RIGHT, ui_note, u->theme->ink_soft,
                  "weight");
    (void)ui_text(u, end, cy, ALIGN_RIGHT, ui_note, u->theme->ink_soft, "\u2192 Y");
    struct scene_rect box = {end - value_w, p->y, value_w, HEAD_H};
    struct scene_item *it = scene_rect(u->sc, box, 0, scene_fade(u->theme->panel, 0));
    it->hit.kind = HIT_COVER;
    it->hit.tip = panel_sources_tip;
    p->y += HEAD_H;
}

/* What the others come to: their weights add up; what they send on points every way, so
 * that no more than the sum of the lengths can be said. */
static void draw_list(struct panel *p, const struct panel_sources *s, float after)
{
    const struct ui *u = p->u;
    int room = (int)((p->bottom - p->y - HEAD_H - after) / ROW_LEAST_H) - 1;
    int most = room < LIST_LEAST ? LIST_LEAST : room > PANEL_TOP ? PANEL_TOP : room;
    int shown[PANEL_TOP], m = panel_sources_top(p, s, most, shown);
    int others = s->n - m;
    double rest[2] = {0, 0};
    float longest = 0;
    for (int j = 0; j < s->n; j++) {
        rest[0] += (double)s->w[j];
        rest[1] += (double)s->sent[j];
        longest = fmaxf(longest, s->key[j]);
    }
    for (int i = 0; i < m; i++) {
        rest[0] -= (double)s->w[shown[i]];
        rest[1] -= (double)s->sent[shown[i]];
    }
    bool by_sent = s->key == s->sent;
    float rest_w = fmaxf((float)rest[0], 0), rest_sent = fmaxf((float)rest[1], 0);
    if (!by_sent) longest = fmaxf(longest, rest_w);
    list_head(p);
    float pitch = panel_pitch(p, m + 1, after, ROW_LEAST_H, LIST_ROW_H);
    for (int i = 0; i < m; i++, p->y += pitch) {
        float cy = p->y + pitch / 2;
        if (shown[i] == p->at.col) panel_mark(p, cy, pitch - 2);
        panel_token(p, shown[i], p->x + LIST_LABEL_W, cy, LIST_LABEL_W, true);
        list_line(p, shown[i], cy, pitch, s->w[shown[i]], s->sent[shown[i]],
                  longest > 0 ? s->key[shown[i]] / longest : 0);
    }
    float cy = p->y + pitch / 2;
    if (others > 0) {
        (void)ui_text(u, p->x + LIST_LABEL_W, cy, ALIGN_RIGHT, ui_figure,
                      u->theme->ink_soft, panel_others(p, others));
        list_line(p, -1, cy, pitch, rest_w, rest_sent,
                  longest > 0 && !by_sent ? rest_w / longest : 0);
        p->y += pitch;
    }
    panel_rule(p);
}

void panel_softmax(struct panel *p)
{
    struct apart a;
    struct panel_sources s;
    if (!take_apart(p, &a) || !panel_sources_of(p, &s)) return;
    struct scene *sc = p->u->sc;
    bool large = p->n > PANEL_TABLE_MOST, some = p->u->s->least_weight > 0;
    panel_sources_controls(p);
    int pairs = (large ? 5 : TABLE_PAIRS) + some;
    float after = (float)(PANEL_RULE_H + pairs * PANEL_PAIR_H);
    float table = (float)(HEAD_H + p->n * ROW_LEAST_H) + after;
    if (large || p->u->s->rank == STEP_RANK_CONTRIBUTION || p->y + table > p->bottom)
        draw_list(p, &s, after);
    else
        draw_table(p, &a);
    panel_sources_below(p, &s);
    panel_pair(p, "entropy", bits(p, &a.row));
    if (large) {
        int i = p->at.row;
        panel_pair(p, "weight on itself", scene_number(sc, a.p[i], 4));
        panel_pair(p, "weight on the first token", scene_number(sc, a.p[0], 4));
        if (i > 0)
            panel_pair(p, "weight on the previous token",
                       scene_number(sc, a.p[i - 1], 4));
    }
    draw_other_scale(p);
    if (large) panel_heads(p);
}
