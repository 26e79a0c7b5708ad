/* Whom a row takes how much from: weights, and what they send on to the row of Y. A token
 * with a large weight and a small value (a sink) is large in the first and small in the
 * second. */
#include "panel.h"

#include <math.h>

enum { BUTTON_H = 22, BUTTON_PAD = 9, BUTTON_RADIUS = 5, GAP = 8 };

const char panel_sources_tip[] =
    "What the source adds to the row of Y through this head: the length "
    "|a\u00B7v\u00B7W_O| of its weight times its value times the head\u2019s rows of W_O";

bool panel_sources_of(struct panel *p, struct panel_sources *s)
{
    float *sent = panel_floats(p, p->n);
    const float *reach = p->u->src->reach;
    if (!sent || !reach) return false;
    *s = (struct panel_sources){.n = attn_seen(p->t->opts, p->at.row, p->n),
                                .w = panel_row_of(p, ATTN_P, p->at.row),
                                .sent = sent};
    for (int j = 0; j < s->n; j++) {
        sent[j] = attn_is_silent(p->t->opts, p->head) ? 0 : s->w[j] * reach[j];
        if (!(s->w[j] < p->u->s->least_weight)) continue;
        s->below++;
        s->below_sum += (double)s->w[j];
    }
    s->key = p->u->s->rank == STEP_RANK_CONTRIBUTION ? s->sent : s->w;
    return true;
}

int panel_sources_top(const struct panel *p, const struct panel_sources *s, int k,
                      int *at)
{
    int must = p->at.col < s->n ? p->at.col : -1;
    int m = panel_largest(s->key, s->n, k, must, at), kept = 0;
    if (s->below == 0) return m;
    /* The largest of those that are not below: their keys alone are offered. */
    float *key = panel_floats(p, s->n);
    if (!key) return m;
    for (int j = 0; j < s->n; j++)
        key[j] = s->w[j] < p->u->s->least_weight && j != must ? -1 : s->key[j];
    m = panel_largest(key, s->n, k, must, at);
    for (int i = 0; i < m; i++)
        if (!(key[at[i]] < 0)) at[kept++] = at[i];
    return kept;
}

/* "0.01" */
static const char *least_text(const struct panel *p)
{
    return scene_print(p->u->sc, "%g", (double)p->u->s->least_weight);
}

/* Returns the right end. */
static float button(const struct panel *p, float x, int id, bool on, struct step_action a,
                    const char *text, const char *tip)
{
    const struct ui *u = p->u;
    float w = ui_width(u, ui_note, text) + 2 * BUTTON_PAD, cy = p->y + BUTTON_H * 0.5f;
    struct scene_rect box = {x, p->y, w, BUTTON_H};
    ui_control(ui_face(u, box, BUTTON_RADIUS, on), id, a, tip);
    (void)ui_text(u, x + w / 2, cy, ALIGN_CENTER, ui_note, u->theme->ink, text);
    return x + w;
}

void panel_sources_controls(struct panel *p)
{
    bool sent = p->u->s->rank == STEP_RANK_CONTRIBUTION;
    bool all = !(p->u->s->least_weight > 0);
    const char *least =
        all ? "all weights" : scene_print(p->u->sc, "from %s", least_text(p));
    float x =
        button(p, p->x, UI_ID_RANK, sent, ui_act(STEP_RANK, -1),
               sent ? "by contribution" : "by weight",
               "Sources by their weight, or by the length of what they add to Y (W)");
    (void)button(p, x + GAP, UI_ID_LEAST, !all, ui_act(STEP_LEAST_BY, 1), least,
                 "Weights below the least one are left blank, and listed as one (B)");
    p->y += PANEL_CONTROLS_H;
}

void panel_sources_below(struct panel *p, const struct panel_sources *s)
{
    if (!(p->u->s->least_weight > 0)) return;
    panel_pair(p,
               scene_print(p->u->sc, "%s below %s, in all",
                           s->below ? panel_count(p, s->below) : "none", least_text(p)),
               scene_number(p->u->sc, (float)s->below_sum, 4));
}
