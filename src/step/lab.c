/* The labs: softmax's saturation, and what the stages cost. */
#include "handlers.h"

#include <math.h>

const int step_lab_keys[STEP_LAB_KEYS] = {0, 16, 128, 1024};

enum { ONE_BY_ONE = 16, A_DOUBLING = 8 /* points to twice of it */ };

int step_lab_d(int k)
{
    if (k < ONE_BY_ONE) return k + 1;
    int octave = (k - ONE_BY_ONE) / A_DOUBLING, in = (k - ONE_BY_ONE) % A_DOUBLING + 1;
    int from = ONE_BY_ONE << octave;
    return from + in * from / A_DOUBLING;
}

bool step_is_covered(const struct step_state *s)
{
    return s->over.open || s->lab.open;
}

int step_lab_row(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    int n = step_lab_keys[s->lab.keys];
    return n ? n : attn_seen(s->opts, p->row, p->dims.n_tok);
}

/* The d_head nearest to d, as the axis has it, for which there are figures. */
static int nearest_d(const struct step_state *s, double d)
{
    int best = attn_d_head(step_place_of(s)->dims);
    if (best > STEP_LAB_MOST_D) best = STEP_LAB_MOST_D;
    for (int k = 0; k < STEP_LAB_DS; k++)
        if (fabs(log2(step_lab_d(k) / d)) < fabs(log2(best / d))) best = step_lab_d(k);
    return best;
}

int step_lab_at(const struct step_state *s)
{
    const struct step_lab *l = &s->lab;
    struct attn_dims d = step_place_of(s)->dims;
    if (l->kind == STEP_LAB_COST) return l->at_n ? l->at_n : d.n_tok;
    return nearest_d(s, l->at_d ? l->at_d : attn_d_head(d));
}

bool do_lab(struct step_state *s, const struct step_action *a)
{
    struct step_lab *l = &s->lab;
    int to = a->i >= 0 ? a->i : l->open ? (int)l->kind + 1 : 0;
    if (a->i < -1 || a->i >= STEP_LAB_KINDS) return false;
    l->open = to < STEP_LAB_KINDS;
    if (!l->open) return true;
    l->kind = (enum step_lab_kind)to;
    s->over.open = s->switches = false;
    s->hover = step_no_ref();
    play_stop(s);
    return true;
}

bool do_lab_to(struct step_state *s, const struct step_action *a)
{
    struct step_lab *l = &s->lab;
    bool cost = l->kind == STEP_LAB_COST;
    if (!l->open || a->i < 1 || a->i > (cost ? STEP_LAB_MOST_N : STEP_LAB_MOST_D))
        return false;
    if (cost)
        l->at_n = a->i;
    else
        l->at_d = nearest_d(s, a->i);
    return true;
}

bool do_lab_at(struct step_state *s, const struct step_action *a)
{
    double most = s->lab.kind == STEP_LAB_COST ? STEP_LAB_MOST_N : STEP_LAB_MOST_D;
    if (!(a->x >= -1.0f && a->x <= 20.0f)) return false;
    double at = fmin(fmax(exp2((double)a->x), 1.0), most);
    struct step_action to = {.i = (int)lround(at)};
    return do_lab_to(s, &to);
}

/* A quarter of an octave, or, of few tokens, one. */
static int notch_n(int n, int by)
{
    int step = 1;
    while (step * 8 <= (by > 0 ? n : n - 1)) step *= 2;
    return n + by * step;
}

bool do_lab_by(struct step_state *s, const struct step_action *a)
{
    int at = step_lab_at(s), to = at, by = a->i > 0 ? 1 : -1;
    bool cost = s->lab.kind == STEP_LAB_COST;
    if (a->i == 0 || a->i < -2 || a->i > 2) return false;
    if (a->i == 2 || a->i == -2)
        to = by > 0 ? 2 * at : at / 2;
    else if (cost)
        to = notch_n(at, by);
    else
        for (int k = 0; k < STEP_LAB_DS && to == at; k++) {
            int d = step_lab_d(by > 0 ? k : STEP_LAB_DS - 1 - k);
            if ((d - at) * by > 0) to = d;
        }
    int most = cost ? STEP_LAB_MOST_N : STEP_LAB_MOST_D;
    struct step_action go = {.i = to < 1 ? 1 : to > most ? most : to};
    return do_lab_to(s, &go);
}

bool do_lab_row(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_LAB_KEYS) return false;
    s->lab.keys = a->i;
    return true;
}

bool do_lab_of(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i >= STEP_LAB_OF_COUNT) return false;
    s->lab.of = (enum step_lab_of)a->i;
    return true;
}

bool do_lab_dims(struct step_state *s, const struct step_action *a)
{
    if (a->i < 0 || a->i > 1) return false;
    s->lab.gpt2 = a->i == 1;
    return true;
}

bool do_lab_measure(struct step_state *s, const struct step_action *a)
{
    (void)a;
    if (!s->lab.open || s->lab.kind != STEP_LAB_COST) return false;
    s->lab.timed = true;
    return true;
}
