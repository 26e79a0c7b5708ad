/* Several rows selected: their weights added up and averaged, source by source. */
#include "panel.h"

#include <math.h>

enum {
    HEAD_H = 24,
    ROW_H = 32,
    ROW_LEAST_H = 18,
    BAR_H = 17,
    LABEL_W = 92,
    GAP = 10,
    LEAST_BAR = 2,
    PAIRS = 4
};

/* What the selected rows come to. Sums are in double; mean[j] = sum[j] / n. */
struct several {
    float *sum, *mean; /* [n_tok] */
    int n;
    double itself, previous, entropy;
    int n_previous;
};

static bool add_up(const struct panel *p, struct several *v)
{
    const struct step_place *place = step_place_of(p->u->s);
    double *sum = arena_push(p->u->sc->mem, (size_t)p->n, sizeof *sum);
    *v = (struct several){.sum = panel_floats(p, p->n), .mean = panel_floats(p, p->n)};
    if (!sum || !v->sum || !v->mean) return false;
    for (int j = 0; j < p->n; j++) sum[j] = 0;
    for (int from, to = 0; step_row_run(place, &from, &to);)
        for (int i = from; i < to; i++, v->n++) {
            const float *row = panel_row_of(p, ATTN_P, i);
            for (int j = 0; j < p->n; j++) sum[j] += (double)row[j];
            v->itself += (double)row[i];
            if (i == 0) continue;
            v->previous += (double)row[i - 1];
            v->n_previous++;
        }
    for (int j = 0; j < p->n; j++) {
        double mean = sum[j] / v->n;
        v->sum[j] = (float)sum[j];
        v->mean[j] = (float)mean;
        if (mean > 0) v->entropy -= mean * log2(mean);
    }
    return true;
}

/* Right ends of the figures' columns. */
static float at_sum(const struct panel *p)
{
    return p->x + p->w - ui_width(p->u, ui_figure, "0.0000") - GAP;
}

static void draw_line(const struct panel *p, int j, float pitch, float sum, float mean,
                      float longest)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float cy = p->y + pitch / 2, value_w = ui_width(u, ui_figure, "0.0000");
    float left = p->x + LABEL_W + GAP, right = at_sum(p) - value_w - GAP;
    float bar = longest > 0 ? (right - left) * mean / longest : 0;
    float h = fminf(BAR_H, pitch - GAP * 0.4f);
    if (mean > 0) bar = fmaxf(bar, LEAST_BAR);
    if (bar > 0)
        (void)scene_rect(u->sc, (struct scene_rect){left, cy - h / 2, bar, h},
                         fminf(PANEL_BAR_RADIUS, bar / 2),
                         j >= 0 ? scene_token_hue(j) : t->track);
    (void)ui_text(u, at_sum(p), cy, ALIGN_RIGHT, ui_figure, t->ink_soft,
                  panel_number(p, ui_figure, value_w, sum, 3));
    (void)ui_text(u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure_strong, t->ink,
                  panel_number(p, ui_figure_strong, value_w, mean, 4));
}

static void draw_sources(struct panel *p, const struct several *v, float after)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    int shown[PANEL_TABLE_MOST], m = p->n;
    bool table = p->n <= PANEL_TABLE_MOST;
    float cy = p->y + HEAD_H * 0.5f;
    (void)ui_text(u, p->x, cy, ALIGN_LEFT, ui_body, t->ink_soft, "source");
    (void)ui_text(u, at_sum(p), cy, ALIGN_RIGHT, ui_figure, t->ink_soft, "sum");
    (void)ui_text(u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure, t->ink_soft, "mean");
    p->y += HEAD_H;
    if (table)
        for (int j = 0; j < m; j++) shown[j] = j;
    else
        m = panel_largest(v->mean, p->n, PANEL_TOP, -1, shown);
    double sum = 0, mean = 0;
    for (int j = 0; j < p->n; j++) {
        sum += (double)v->sum[j];
        mean += (double)v->mean[j];
    }
    for (int i = 0; i < m; i++) {
        sum -= (double)v->sum[shown[i]];
        mean -= (double)v->mean[shown[i]];
    }
    float longest = table ? 0 : fmaxf((float)mean, 0);
    for (int i = 0; i < m; i++) longest = fmaxf(longest, v->mean[shown[i]]);
    float pitch = panel_pitch(p, m + !table, after, ROW_LEAST_H, ROW_H);
    for (int i = 0; i < m; i++, p->y += pitch) {
        panel_token(p, shown[i], p->x + LABEL_W, p->y + pitch / 2, LABEL_W, true);
        draw_line(p, shown[i], pitch, v->sum[shown[i]], v->mean[shown[i]], longest);
    }
    if (table) return;
    (void)ui_text(u, p->x + LABEL_W, p->y + pitch / 2, ALIGN_RIGHT, ui_figure,
                  t->ink_soft, panel_others(p, p->n - m));
    draw_line(p, -1, pitch, fmaxf((float)sum, 0), fmaxf((float)mean, 0), longest);
    p->y += pitch;
}

void panel_rows(struct panel *p)
{
    struct several v;
    if (!add_up(p, &v)) return;
    struct scene *sc = p->u->sc;
    const char *note = p->t->opts.causal
                           ? "Every row\u2019s weights sum to 1. Where a row\u2019s "
                             "weight is masked it counts as 0."
                           : "Every row\u2019s weights sum to 1.";
    float after = PANEL_RULE_H + (float)((PAIRS + 1) * PANEL_PAIR_H) + GAP +
                  panel_prose_height(p, note);
    draw_sources(p, &v, after);
    panel_rule(p);
    panel_pair(p, "rows", scene_print(sc, "%d", v.n));
    panel_pair(p, "entropy of the mean",
               isnan(v.entropy) ? panel_no_entropy
                                : scene_print(sc, "%.2f bits", v.entropy));
    panel_pair(p, "mean on itself", scene_number(sc, (float)(v.itself / v.n), 4));
    panel_pair(p, "mean on the first token", scene_number(sc, v.mean[0], 4));
    if (v.n_previous > 0)
        panel_pair(p, "mean on the previous token",
                   scene_number(sc, (float)(v.previous / v.n_previous), 4));
    p->y += GAP;
    if (p->y + panel_prose_height(p, note) <= p->bottom) panel_prose(p, note);
}

const char *panel_rows_named(const struct panel *p)
{
    const struct step_place *place = step_place_of(p->u->s);
    struct scene *sc = p->u->sc;
    const char *text =
        scene_print(sc, "%d of %d rows:", step_row_count(place), place->dims.n_tok);
    const char *between = " ";
    for (int from, to = 0, k = 0; k < PANEL_TABLE_MOST && step_row_run(place, &from, &to);
         k++) {
        text = to - from == 1
                   ? scene_print(sc, "%s%s%d", text, between, to)
                   : scene_print(sc, "%s%s%d\u2013%d", text, between, from + 1, to);
        between = ", ";
    }
    return text;
}
