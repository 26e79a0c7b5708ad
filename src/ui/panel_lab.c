/* The side panel beside a lab: its figures where the cursor is. And the lab's keys. */
#include "panel.h"

#include <math.h>
#include <string.h>

enum {
    HEADING_CY = 30,
    FIRST = 50,
    LINE_H = 24,
    GAP = 8,
    BUTTON_W = 38,
    BUTTON_H = 20,
    BUTTON_RADIUS = 5
};
static const struct ui_type small_figure = {FONT_MONO, 11.5f};

/* ---- keys ---------------------------------------------------------------------------------- */

static void push(struct step_actions *out, enum step_verb verb, int i)
{
    step_push(out, (struct step_action){.verb = verb, .i = i});
}

/* Up and down walk along the lab's choices. */
static void choose(const struct step_state *s, int by, struct step_actions *out)
{
    bool cost = s->lab.kind == STEP_LAB_COST;
    int n = cost ? STEP_LAB_OF_COUNT : STEP_LAB_KEYS;
    int to = (cost ? (int)s->lab.of : s->lab.keys) + by;
    if (to >= 0 && to < n) push(out, cost ? STEP_LAB_OF : STEP_LAB_ROW, to);
}

bool ui_lab_key(const struct ui_event *ev, const struct step_state *s,
                struct step_actions *out)
{
    bool cost = s->lab.kind == STEP_LAB_COST;
    if (!s->lab.open || (ev->mods & ~UI_SHIFT)) return false;
    int by = ev->mods ? 2 : 1;
    switch (ev->key) {
    case UI_KEY_LEFT:
        push(out, STEP_LAB_BY, -by);
        return true;
    case UI_KEY_RIGHT:
        push(out, STEP_LAB_BY, by);
        return true;
    case UI_KEY_HOME:
        push(out, STEP_LAB_TO, 1);
        return true;
    case UI_KEY_END:
        push(out, STEP_LAB_TO, cost ? STEP_LAB_MOST_N : STEP_LAB_MOST_D);
        return true;
    case UI_KEY_UP:
        choose(s, -1, out);
        return true;
    case UI_KEY_DOWN:
        choose(s, 1, out);
        return true;
    case UI_KEY_ENTER:
        if (cost) push(out, STEP_LAB_MEASURE, 0);
        return true;
    default:
        return false;
    }
}

void panel_lab_button(const struct panel *p, float cy, enum step_lab_kind kind,
                      const char *tip)
{
    struct scene_rect box = {p->x, cy - BUTTON_H * 0.5f, BUTTON_W, BUTTON_H};
    ui_control(ui_face(p->u, box, BUTTON_RADIUS, false), UI_ID_LAB + (int)kind,
               ui_act(STEP_LAB, (int)kind), tip);
    (void)ui_text(p->u, box.x + box.w / 2, cy, ALIGN_CENTER, ui_note, p->u->theme->ink,
                  "lab");
}

/* ---- saturation ---------------------------------------------------------------------------- */

/* Label, mean and, softer, from where to where the draws lie. */
static void spread_line(struct panel *p, const char *label, struct scene_rgba color,
                        struct scene_spread v)
{
    const struct ui *u = p->u;
    struct scene *sc = u->sc;
    float cy = p->y + LINE_H * 0.5f, right = p->x + p->w;
    const char *range = scene_print(sc, "%s\u2013%s", scene_number(sc, v.lo, 2),
                                    scene_number(sc, v.hi, 2));
    float w = ui_width(u, small_figure, "0.00\u201310.00");
    (void)ui_text(u, right, cy, ALIGN_RIGHT, small_figure, u->theme->ink_soft, range);
    (void)ui_text(u, right - w - GAP, cy, ALIGN_RIGHT, ui_figure_strong, u->theme->ink,
                  scene_number(sc, v.mean, 3));
    (void)ui_text(u, p->x, cy, ALIGN_LEFT, ui_strong, color, label);
    p->y += LINE_H;
}

static void saturation(struct panel *p)
{
    const struct ui *u = p->u;
    struct scene *sc = u->sc;
    const struct scene_theme *t = u->theme;
    const struct scene_saturation *sat = u->src->saturation;
    static const char *const label[2] = {"undivided", "\u00F7 \u221Ad_head"};
    int here = attn_d_head(step_place_of(u->s)->dims), at = step_lab_at(u->s);
    if (!sat) {
        panel_prose(p, "Computing \u2026");
        return;
    }
    int i = scene_saturation_at(sat, at);
    panel_title(p, scene_print(sc, "d_head = %d%s, %s key%s", sat->d[i],
                               sat->d[i] == here ? " (in view)" : "",
                               scene_count(sc, sat->n_key), sat->n_key == 1 ? "" : "s"));
    panel_section(p, "LARGEST WEIGHT");
    for (int k = 0; k < 2; k++) spread_line(p, label[k], k ? t->q : t->k, sat->top[k][i]);
    panel_section(p, "ENTROPY, BITS");
    for (int k = 0; k < 2; k++)
        spread_line(p, label[k], k ? t->q : t->k, sat->entropy[k][i]);
    panel_pair(p, "all weights equal", scene_number(sc, log2f((float)sat->n_key), 3));
    panel_rule(p);
    panel_prose(p, scene_print(sc,
                               "Mean, and from the 10th to the 90th percentile, of %d "
                               "draws: a query and %s key%s, every number random with "
                               "mean 0 and variance 1, the same draws at every d_head.",
                               sat->n_draw, scene_count(sc, sat->n_key),
                               sat->n_key == 1 ? "" : "s"));
    if (here > STEP_LAB_MOST_D)
        panel_prose(p,
                    scene_print(sc, "The d_head in view, %d, is past the axis.", here));
}

/* ---- cost ---------------------------------------------------------------------------------- */

/* Three figures at the line's right end, in columns. */
static void figures(struct panel *p, struct ui_type type, struct scene_rgba ink,
                    const char *label, const char *const figure[3])
{
    const struct ui *u = p->u;
    float cy = p->y + LINE_H * 0.5f, right = p->x + p->w;
    const float w[3] = {ui_width(u, small_figure, "8.88 G") + GAP,
                        ui_width(u, small_figure, "8.88 G") + GAP,
                        ui_width(u, small_figure, "88.8 \u00B5s") + GAP};
    for (int k = 2; k >= 0; right -= w[k--])
        (void)ui_text(u, right, cy, ALIGN_RIGHT, type, ink, figure[k]);
    (void)ui_text_fit(u, p->x, cy, right - p->x, ALIGN_LEFT, ui_body, ink, label);
    p->y += LINE_H;
}

static void cost_line(struct panel *p, const char *label, const struct attn_cost *c,
                      double seconds, bool strong)
{
    struct scene *sc = p->u->sc;
    bool bytes = p->u->s->lab.of == STEP_LAB_BYTES;
    const char *const figure[3] = {
        scene_amount(sc, bytes ? (double)c->bytes : (double)c->flops_dense),
        bytes ? c->bytes
                    ? scene_print(sc, "%.3g", (double)c->flops_dense / (double)c->bytes)
                    : "\u2013"
              : scene_amount(sc, (double)c->flops_causal),
        seconds > 0 ? scene_seconds(sc, seconds) : "\u2013"};
    figures(p, (struct ui_type){strong ? FONT_MONO_BOLD : FONT_MONO, small_figure.size},
            p->u->theme->ink, label, figure);
}

static void cost(struct panel *p)
{
    static const char *const name[ATTN_STAGE_COUNT] = {
        "1 Projections", "2 Scores",       "3 Scale", "4 Mask",
        "5 Softmax",     "6 Sum A\u00B7V", "7 Output"};
    const struct ui *u = p->u;
    struct scene *sc = u->sc;
    bool bytes = u->s->lab.of == STEP_LAB_BYTES;
    int at = step_lab_at(u->s);
    struct attn_dims d = scene_lab_dims(u->s, at);
    const double *seconds = scene_times_at(u->src->times, at);
    panel_title(p,
                scene_print(sc, "N = %s%s", scene_count(sc, at),
                            at == step_place_of(u->s)->dims.n_tok ? " (in view)" : ""));
    const char *const head[2][3] = {{"dense", "no j>i", "time"},
                                    {"bytes", "FLOP/B", "time"}};
    figures(p, ui_note, u->theme->ink_soft, "", head[bytes]);
    double total = 0;
    for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
        struct attn_cost c = attn_cost_of(d, (enum attn_stage)k);
        if (seconds) total += seconds[k];
        cost_line(p, name[k], &c, seconds ? seconds[k] : 0, false);
    }
    struct attn_cost all = attn_cost_block(d);
    cost_line(p, "total", &all, total, true);
    panel_rule(p);
    int dense = scene_lab_crossing(u->s, false), causal = scene_lab_crossing(u->s, true);
    panel_section(p, "2 + 6 OVER 1 + 7");
    panel_pair(p, bytes ? "bytes, from N" : "dense, from N",
               dense ? scene_count(sc, dense) : "never");
    if (!bytes)
        panel_pair(p, "without j > i, from N",
                   causal ? scene_count(sc, causal) : "never");
    panel_rule(p);
    const struct scene_times *t = u->src->times;
    panel_prose(p, !t || t->n == 0
                       ? "Times: none measured here yet. Enter, or the button, measures "
                         "the stages at these dimensions."
                   : seconds
                       ? scene_print(sc,
                                     "Times: medians on this machine, %d thread%s, %s "
                                     "kernels; stages 2 to 5 dense, 6 without j > i.",
                                     t->threads, t->threads == 1 ? "" : "s", t->kernels)
                       : scene_print(sc, "Times: measured at N = %s to %s, not at this.",
                                     scene_count(sc, t->n_tok[0]),
                                     scene_count(sc, t->n_tok[t->n - 1])));
}

void panel_lab(struct panel *p)
{
    bool is_cost = p->u->s->lab.kind == STEP_LAB_COST;
    ui_section(p->u, p->x, p->y + HEADING_CY, is_cost ? "COST LAB" : "SATURATION LAB");
    p->y += FIRST;
    if (is_cost)
        cost(p);
    else
        saturation(p);
}
