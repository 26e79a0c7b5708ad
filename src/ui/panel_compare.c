/* The side panel while somebody's numbers are compared: one cell three times.
 */
#include "panel.h"

enum { HEADING_CY = 30, FIRST = 50 };

/* All digits that a float32 has. */
static const char *exact(const struct panel *p, float v)
{
    return scene_digits(p->u->sc, (double)v, 9);
}

static float cell_of(struct attn_cmat m, struct step_ref at)
{
    return m.data[(size_t)at.row * (size_t)m.ld + (size_t)at.col];
}

void panel_compare(struct panel *p)
{
    const struct ui *u = p->u;
    const struct scene_compared *c = &u->src->compare->stage[u->s->stage];
    float top = u->sc->frame.panel.y;
    struct step_ref at = u->s->hover;
    if (at.tensor != c->tensor) at = step_place_of(u->s)->pin;
    if (at.tensor != c->tensor) at = c->first;
    ui_section(u, p->x, top + HEADING_CY, "COMPARED");
    p->y = top + FIRST;
    if (c->ours.data && at.tensor == c->tensor && at.row < c->ours.rows &&
        at.col < c->ours.cols) {
        panel_title(p, scene_print(u->sc, "row %d, column %d", at.row + 1, at.col + 1));
        panel_pair(p, "theirs", exact(p, cell_of(c->theirs, at)));
        panel_pair(p, "ours", exact(p, cell_of(c->ours, at)));
        panel_pair(p, "theirs \u2212 ours", exact(p, cell_of(c->difference, at)));
        panel_rule(p);
    }
    if (c->verdict != SCENE_NOT_COMPARED) {
        panel_pair(
            p, "their array",
            scene_fit_text(u->sc, ui_figure.font, ui_figure.size, p->w * 0.6f, c->from));
        panel_pair(p, "cells beyond",
                   scene_print(u->sc, "%s of %s", scene_count(u->sc, c->n_bad),
                               scene_count(u->sc, c->n)));
        if (c->ours.data)
            panel_pair(p, "largest difference", exact(p, c->difference_range));
        panel_rule(p);
    }
    if (u->src->compare->why[0]) {
        panel_section(p, "DIAGNOSIS");
        panel_prose(p, u->src->compare->why);
    }
    if (u->src->compare->mlp[0]) panel_prose(p, u->src->compare->mlp);
}
