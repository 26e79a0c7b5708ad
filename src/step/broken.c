/* Stages done wrong on purpose, numbers that are given, and the way back. */
#include "handlers.h"

#include <math.h>
#include <string.h>

/* ---- switches ------------------------------------------------------------------------- */

int step_choice_count(enum step_switch w)
{
    static const int count[STEP_SW_COUNT] = {[STEP_SW_DIVIDE] = 1 + ATTN_DIVISOR_COUNT,
                                             [STEP_SW_MASK] = 3,
                                             [STEP_SW_PRECISION] = ATTN_PRECISION_COUNT,
                                             [STEP_SW_MAX] = 2,
                                             [STEP_SW_BIAS] = 2,
                                             [STEP_SW_SWAP] = 2,
                                             [STEP_SW_RESIDUAL] = 2};
    return count[w];
}

int step_choice_of(struct attn_opts o, enum step_switch w)
{
    switch (w) {
    case STEP_SW_DIVIDE:
        return !o.scale ? 1 : o.divisor == ATTN_SQRT_D_HEAD ? 0 : 1 + (int)o.divisor;
    case STEP_SW_MASK:
        return !o.causal ? 1 : o.shifted ? 2 : 0;
    case STEP_SW_PRECISION:
        return (int)o.precision;
    case STEP_SW_MAX:
        return o.no_max;
    case STEP_SW_BIAS:
        return o.no_bias;
    case STEP_SW_SWAP:
        return o.swapped;
    case STEP_SW_RESIDUAL:
        return !o.residual;
    case STEP_SW_COUNT:
        break;
    }
    return 0;
}

/* 0 is right, whatever the switch. */
static void choose(struct attn_opts *o, enum step_switch w, int choice)
{
    bool wrong = choice != 0;
    switch (w) {
    case STEP_SW_DIVIDE:
        o->scale = choice != 1;
        o->divisor = choice > 1 ? (enum attn_divisor)(choice - 1) : ATTN_SQRT_D_HEAD;
        return;
    case STEP_SW_MASK:
        o->causal = choice != 1;
        o->shifted = choice == 2;
        return;
    case STEP_SW_PRECISION:
        o->precision = (enum attn_precision)choice;
        return;
    case STEP_SW_MAX:
        o->no_max = wrong;
        return;
    case STEP_SW_BIAS:
        o->no_bias = wrong;
        return;
    case STEP_SW_SWAP:
        o->swapped = wrong;
        return;
    case STEP_SW_RESIDUAL:
        o->residual = !wrong;
        return;
    case STEP_SW_COUNT:
        return;
    }
}

/* Other options from now on; topic: see struct change. */
static bool set_opts(struct step_state *s, const struct attn_opts *o, int topic)
{
    struct change c;
    memset(&c, 0, sizeof c);
    c.kind = CHANGE_OPTS;
    c.topic = topic;
    c.before.opts = s->opts;
    c.after.opts = *o;
    if (attn_opts_same(s->opts, *o)) return true;
    if (!past_push(s, &c)) return false;
    s->opts = *o;
    return true;
}

bool do_switch(struct step_state *s, const struct step_action *a)
{
    int choice = (int)a->x;
    if (a->i < 0 || a->i >= STEP_SW_COUNT || choice < 0 ||
        choice >= step_choice_count((enum step_switch)a->i) || (float)choice != a->x)
        return false;
    struct attn_opts o = s->opts;
    choose(&o, (enum step_switch)a->i, choice);
    return set_opts(s, &o, 0);
}

bool do_toggle(struct step_state *s, const struct step_action *a)
{
    static const enum step_switch of[STEP_OPT_COUNT] = {[STEP_OPT_SCALE] = STEP_SW_DIVIDE,
                                                        [STEP_OPT_CAUSAL] = STEP_SW_MASK,
                                                        [STEP_OPT_RESIDUAL] =
                                                            STEP_SW_RESIDUAL};
    if (a->i < 0 || a->i >= STEP_OPT_COUNT) return false;
    struct attn_opts o = s->opts;
    choose(&o, of[a->i], step_choice_of(o, of[a->i]) == 0 ? 1 : 0);
    return set_opts(s, &o, 0);
}

/* By eighths of a doubling, so that 1 can be met again. */
bool do_temperature(struct step_state *s, const struct step_action *a)
{
    enum { STEPS = 8, TOPIC = 1 };
    if (!(fabsf(a->x) <= STEP_HEAT_MOST)) return false;
    float heat = rintf(a->x * STEPS) / STEPS;
    struct attn_opts o = s->opts;
    o.temperature = heat == 0.0f ? 0.0f : exp2f(heat);
    return set_opts(s, &o, TOPIC);
}

float step_heat_of(struct attn_opts o)
{
    return o.temperature > 0.0f ? log2f(o.temperature) : 0.0f;
}

bool do_silence(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= step_here(s)->dims.n_head || a->i >= ATTN_SILENT_MOST)
        return false;
    struct attn_opts o = s->opts;
    o.silent ^= (uint64_t)1 << a->i;
    return set_opts(s, &o, 0);
}

struct attn_opts step_opts_of(const struct step_state *s)
{
    struct attn_opts o = s->opts;
    int n = step_place_of(s)->dims.n_head;
    if (n < ATTN_SILENT_MOST) o.silent &= ((uint64_t)1 << n) - 1;
    return o;
}

bool step_is_broken(const struct step_state *s)
{
    return !attn_opts_same(step_opts_of(s), attn_opts_default()) ||
           step_given_count(s) > 0;
}

/* ---- all correct --------------------------------------------------------------------------- */

bool do_correct(struct step_state *s, const struct step_action *a)
{
    (void)a;
    struct attn_opts right = attn_opts_default();
    bool chained = !attn_opts_same(s->opts, right);
    if (!set_opts(s, &right, 0)) return false;
    s->opts = right;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct step_place *p = &s->place[scale];
        while (p->n_edit > 0) {
            struct change c;
            memset(&c, 0, sizeof c);
            c.kind = CHANGE_EDIT;
            c.scale = (enum step_scale)scale;
            c.chained = chained;
            c.before.edit.there = true;
            c.before.edit.edit = c.after.edit.edit = p->edits[p->n_edit - 1];
            if (!past_push(s, &c)) return false;
            edit_put(p, &c.after.edit);
            chained = true;
        }
    }
    return true;
}

/* ---- looking at it ------------------------------------------------------------------------- */

bool do_switches(struct step_state *s, const struct step_action *a)
{
    (void)a;
    s->switches = !s->switches;
    return true;
}

bool do_see(struct step_state *s, const struct step_action *a)
{
    bool paired = step_is_paired(s);
    int now = paired ? STEP_SEE_BROKEN : (int)s->see;
    int to = a->i == -1 ? (now + 1) % STEP_SEE_COUNT : a->i;
    if (to < 0 || to >= STEP_SEE_COUNT) return false;
    if (paired && to != STEP_SEE_BROKEN && step_is_broken(s)) s->pair = STEP_PAIR_NONE;
    s->see = (enum step_see)to;
    return true;
}

enum step_see step_seen(const struct step_state *s)
{
    /* Two heads are the run's own, not the right one's. */
    return step_is_broken(s) && !step_is_paired(s) ? s->see : STEP_SEE_BROKEN;
}
