/* Two heads: one row of both, source by source, and where they differ most. */
#include "panel.h"

#include <math.h>

enum { HEAD_H = 24, ROW_H = 32, ROW_LEAST_H = 18, TOKEN_W = 78, GAP = 8, PAIRS = 4 };

struct two {
    const float *a, *b; /* the row in the first head and in the second */
    int seen;           /* columns that are not masked in both */
    bool weights;
    enum attn_tensor tensor;
};

static enum attn_tensor tensor_of(enum attn_stage stage)
{
    return stage == ATTN_SCORES  ? ATTN_S_RAW
           : stage == ATTN_SCALE ? ATTN_S_SCALED
           : stage == ATTN_MASK  ? ATTN_S_MASKED
                                 : ATTN_P;
}

static struct two two_of(const struct panel *p)
{
    const struct scene_pair *pair = p->u->src->pair;
    enum attn_tensor t = tensor_of(p->u->s->stage);
    struct attn_cmat m = pair->second[t - ATTN_S_RAW];
    bool masked = p->t->opts.causal && t >= ATTN_S_MASKED;
    int last = p->at.row + 1 + p->t->opts.shifted;
    return (struct two){.a = panel_row_of(p, t, p->at.row),
                        .b = m.data + (size_t)p->at.row * (size_t)m.ld,
                        .seen = masked && last < p->n ? last : p->n,
                        .weights = t == ATTN_P,
                        .tensor = t};
}

static float right_of(const struct panel *p, int column)
{
    float each = (p->w - TOKEN_W) / 3;
    return p->x + TOKEN_W + each * (float)(column + 1);
}

static void draw_line(const struct panel *p, const struct two *v, int j, float pitch)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float cy = p->y + pitch / 2, w = right_of(p, 1) - right_of(p, 0) - GAP;
    bool masked = j >= v->seen;
    if (j == p->at.col) panel_mark(p, cy, pitch - 2);
    panel_token(p, j, p->x + TOKEN_W, cy, TOKEN_W, !masked);
    for (int c = 0; c < 3; c++) {
        float n = c == 0 ? v->a[j] : c == 1 ? v->b[j] : v->a[j] - v->b[j];
        struct ui_type type = c == 2 ? ui_figure_strong : ui_figure;
        const char *text = masked   ? (v->weights ? "0" : "\u2212\u221E")
                           : c == 2 ? panel_signed(p, type, w, n, 3)
                                    : panel_number(p, type, w, n, 3);
        if (masked && c == 2) text = "\u2013";
        (void)ui_text(u, right_of(p, c), cy, ALIGN_RIGHT, type,
                      masked ? t->ink_faint : t->ink, text);
    }
}

static void draw_lines(struct panel *p, const struct two *v, float after)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    int shown[PANEL_TABLE_MOST], m = p->n;
    float cy = p->y + HEAD_H * 0.5f;
    int a = p->head + 1, b = u->src->pair->head + 1;
    (void)ui_text(u, right_of(p, 0), cy, ALIGN_RIGHT, ui_figure, t->accent,
                  scene_print(u->sc, "head %d", a));
    (void)ui_text(u, right_of(p, 1), cy, ALIGN_RIGHT, ui_figure, t->k,
                  scene_print(u->sc, "head %d", b));
    (void)ui_text(u, right_of(p, 2), cy, ALIGN_RIGHT, ui_figure, t->ink_soft,
                  scene_print(u->sc, "%d\u2009\u2212\u2009%d", a, b));
    p->y += HEAD_H;
    if (p->n <= PANEL_TABLE_MOST) {
        for (int j = 0; j < m; j++) shown[j] = j;
    } else {
        float *by = panel_floats(p, v->seen);
        if (!by) return;
        for (int j = 0; j < v->seen; j++) by[j] = fabsf(v->a[j] - v->b[j]);
        m = panel_largest(by, v->seen, PANEL_TOP, p->at.col, shown);
    }
    float pitch = panel_pitch(p, m + (m < p->n), after, ROW_LEAST_H, ROW_H);
    for (int i = 0; i < m; i++, p->y += pitch) draw_line(p, v, shown[i], pitch);
    if (m == p->n) return;
    (void)ui_text(u, p->x, p->y + pitch / 2, ALIGN_LEFT, ui_note, t->ink_soft,
                  v->seen > m ? scene_print(u->sc, "the largest of %d", v->seen)
                              : scene_print(u->sc, "%d masked", p->n - v->seen));
    p->y += pitch;
}

void panel_two(struct panel *p)
{
    struct scene *sc = p->u->sc;
    struct two v = two_of(p);
    int most = 0;
    double common = 0, apart = 0;
    for (int j = 0; j < v.seen; j++) {
        float d = fabsf(v.a[j] - v.b[j]);
        if (d > fabsf(v.a[most] - v.b[most])) most = j;
        common += (double)fminf(v.a[j], v.b[j]);
        apart += (double)d;
    }
    draw_lines(p, &v, PANEL_RULE_H + (float)(PAIRS * PANEL_PAIR_H));
    panel_rule(p);
    const char *text = scene_token_text(sc, p->u->src, most);
    text = scene_fit_text(sc, ui_figure.font, ui_figure.size, TOKEN_W, text);
    panel_pair(p, "largest difference",
               scene_print(sc, "%d%s%s  %s", most + 1, *text ? " " : "", text,
                           scene_signed(sc, v.a[most] - v.b[most], 3)));
    panel_pair(p, "mean difference, either way",
               scene_number(sc, (float)(apart / v.seen), 4));
    if (v.weights) panel_pair(p, "weight in common", scene_number(sc, (float)common, 4));
}
