/* What is broken on purpose, in words; the right result in the broken one's place, and the
 * difference of the two as a view of its own. */
#include "motion.h"

#include <limits.h>
#include <math.h>

static const struct {
    const char *name, *choice[4];
    const char *banner[4], *brief[4]; /* of a choice that is not right */
} switches[STEP_SW_COUNT] = {
    [STEP_SW_DIVIDE] = {"S is divided by",
                        {"\u221Ad_head", "nothing", "d_head", "\u221Ad_model"},
                        {NULL, "\u00F7 \u221Ad_head is off", "\u00F7 d_head, no root",
                         "\u00F7 \u221Ad_model"},
                        {NULL, "no \u00F7 \u221Ad_head", "\u00F7 d_head",
                         "\u00F7 \u221Ad_model"}},
    [STEP_SW_MASK] = {"the mask forbids",
                      {"j > i", "nothing", "j > i + 1"},
                      {NULL, "causal mask is off", "mask one off: row i sees i + 1"},
                      {NULL, "no mask", "mask one off"}},
    [STEP_SW_PRECISION] = {"every stage is rounded to",
                           {"float32", "bfloat16", "float16"},
                           {NULL, "bfloat16", "float16"},
                           {NULL, "bfloat16", "float16"}},
    [STEP_SW_MAX] = {"e to the power of",
                     {"s \u2212 max", "s"},
                     {NULL, "row maximum is not subtracted"},
                     {NULL, "no \u2212 max"}},
    [STEP_SW_BIAS] = {"biases",
                      {"added", "left out"},
                      {NULL, "biases are left out"},
                      {NULL, "no biases"}},
    [STEP_SW_SWAP] = {"Q and K",
                      {"right", "swapped"},
                      {NULL, "Q and K are swapped"},
                      {NULL, "Q, K swapped"}},
    [STEP_SW_RESIDUAL] = {"residual",
                          {"added", "left out"},
                          {NULL, "residual is off"},
                          {NULL, "no residual"}},
};

const char *scene_switch_name(enum step_switch w)
{
    return switches[w].name;
}

const char *scene_choice_name(enum step_switch w, int choice)
{
    return switches[w].choice[choice];
}

const char *scene_divisor_name(struct attn_opts o)
{
    int choice = step_choice_of(o, STEP_SW_DIVIDE);
    return choice == 1 ? "1" : switches[STEP_SW_DIVIDE].choice[choice];
}

/* "heads 1, 3 are silenced"; brief: "heads 1, 3 silent" */
static const char *silent_text(struct scene *sc, struct attn_opts o, int n_head,
                               bool brief)
{
    const char *list = "";
    int n = 0;
    for (int h = 0; h < n_head; h++) {
        if (!attn_is_silent(o, h)) continue;
        n++;
        if (n <= 4) list = scene_print(sc, "%s%s%d", list, n > 1 ? ", " : " ", h + 1);
    }
    if (n > 4 && brief) return scene_print(sc, "%d heads silent", n);
    if (n > 4) list = scene_print(sc, "%s and %d more", list, n - 4);
    return scene_print(sc, "head%s%s %s", n > 1 ? "s" : "", list,
                       brief   ? "silent"
                       : n > 1 ? "are silenced"
                               : "is silenced");
}

/* "edited: Q of head 2, row 3, column 1", or how many there are. */
static const char *edits_text(struct scene *sc, const struct step_state *s, int n,
                              bool brief)
{
    const struct step_place *p = step_place_of(s);
    int i = 0;
    if (n > 1) return scene_print(sc, brief ? "%d edited" : "edited: %d numbers", n);
    while (i + 1 < p->n_edit && !step_given_is_here(s, &p->edits[i])) i++;
    const struct attn_edit *e = &p->edits[i].cell;
    const char *head = step_tensor_has_heads(e->tensor) && e->head != p->head
                           ? scene_print(sc, " of head %d", e->head + 1)
                           : "";
    return scene_print(sc,
                       brief ? "%s%s (%d, %d) edited" : "edited: %s%s, row %d, column %d",
                       scene_tensor_name(e->tensor), head, e->row + 1, e->col + 1);
}

const char *scene_broken_text(struct scene *sc, const struct step_state *s, bool brief)
{
    const struct step_place *p = step_place_of(s);
    struct attn_opts o = step_opts_of(s);
    const char *part[STEP_SW_COUNT + 3];
    const char *text = "";
    int n = 0;
    if (!step_is_broken(s)) return NULL;
    for (int w = 0; w < STEP_SW_COUNT; w++) {
        int choice = step_choice_of(o, (enum step_switch)w);
        if (choice)
            part[n++] = brief ? switches[w].brief[choice] : switches[w].banner[choice];
    }
    if (step_heat_of(o) != 0.0f)
        part[n++] =
            scene_print(sc, brief ? "T %.3g" : "temperature %.3g", (double)o.temperature);
    if (o.silent) part[n++] = silent_text(sc, o, p->dims.n_head, brief);
    int edits = step_given_count(s);
    if (edits > 0) part[n++] = edits_text(sc, s, edits, brief);
    for (int i = 0; i < n; i++)
        text = scene_print(sc, "%s%s%s", text, i ? " \u00B7 " : "", part[i]);
    if (p->n_block > 1)
        text = scene_print(sc, brief ? "%s (block %d)" : "%s (in block %d alone)", text,
                           p->block + 1);
    return text;
}

/* ---- captions ---------------------------------------------------------------------------- */

static const char *say_scale(struct scene *sc, struct attn_opts o, struct attn_dims d,
                             const char *row)
{
    double by = attn_divisor_of(o, d);
    if (o.divisor == ATTN_D_HEAD)
        return scene_print(sc,
                           "%sDivided by d_head = %.4g, not by its root %.4g: rows come "
                           "out nearly even, "
                           "and the head picks nothing.",
                           row, by, sqrt(by));
    return scene_print(
        sc,
        "%sDivided by \u221Ad_model = %.4g. But a score is a sum of d_head = %d terms, "
        "and spreads \u221Ad_head = %.4g times as wide as one.",
        row, by, attn_d_head(d), sqrt((double)attn_d_head(d)));
}

static const char *say_softmax(struct scene *sc, struct attn_opts o,
                               const struct scene_source *src, bool done, const char *row)
{
    int64_t n_nan = src->trace && src->fits ? src->trace->stats[ATTN_P].n_nan : 0;
    if (o.no_max)
        return scene_print(
            sc,
            "The row\u2019s largest score is not subtracted: e\u02E2 is taken as it is. "
            "float32 ends at 3.4e38, so a score above %s gives \u221E, and \u221E "
            "\u00F7 \u221E is NaN.%s",
            scene_number(sc, 88.72f * o.temperature, 1),
            done ? scene_print(sc, " %s weight%s NaN here.", scene_count(sc, n_nan),
                               n_nan == 1 ? " is" : "s are")
                 : "");
    return scene_print(
        sc,
        "%sScores are first divided by the temperature %.3g: below 1 a row sharpens, "
        "above 1 it evens out.",
        row, (double)o.temperature);
}

static const char *say_projections(struct scene *sc, struct attn_opts o)
{
    if (o.swapped)
        return "W_Q and W_K have changed places: what is called a query is what the "
               "token "
               "offers. S becomes its own transpose, and who wants what is reversed.";
    (void)sc;
    return "The biases are left out: a projection is then zero for a zero input, and "
           "all that the biases moved is gone.";
}

/* What the stage says of its own mistake; NULL: it makes none. */
static const char *say_stage(struct scene *sc, const struct step_state *s,
                             const struct scene_source *src, bool made)
{
    struct attn_opts o = step_opts_of(s);
    const struct step_place *p = step_place_of(s);
    bool biased = src->ghost && src->ghost->right->w.b_qkv;
    switch (s->stage) {
    case ATTN_PROJECTIONS:
        return o.swapped || (o.no_bias && biased) ? say_projections(sc, o) : NULL;
    case ATTN_SCALE:
        return o.scale && o.divisor
                   ? say_scale(sc, o, p->dims, caption_example(sc, s, src, made))
                   : NULL;
    case ATTN_MASK:
        return o.causal && o.shifted
                   ? scene_print(
                         sc,
                         "The mask is one off: row %d sees %d tokens, and a row sees "
                         "the very token that it should predict. In training it "
                         "would copy its answer; the loss looks wonderful.",
                         p->row + 1, attn_seen(o, p->row, p->dims.n_tok))
                   : NULL;
    case ATTN_SOFTMAX:
        return o.no_max || step_heat_of(o) != 0.0f
                   ? say_softmax(sc, o, src, s->time >= 1,
                                 caption_example(sc, s, src, made))
                   : NULL;
    case ATTN_WEIGHTED_SUM:
        return attn_is_silent(o, p->head)
                   ? scene_print(sc,
                                 "Head %d is silenced: whatever its weights and values "
                                 "say, its O is 0, and the other heads go on without it.",
                                 p->head + 1)
                   : NULL;
    case ATTN_OUTPUT:
        return o.silent ? scene_print(sc,
                                      "Of the silenced heads nothing reaches Y. How "
                                      "little or how much Y changes is how much they "
                                      "mattered here: %s.",
                                      silent_text(sc, o, p->dims.n_head, false))
                        : NULL;
    case ATTN_SCORES:
    case ATTN_STAGE_COUNT:
        break;
    }
    return NULL;
}

const char *broken_caption(struct scene *sc, const struct step_state *s,
                           const struct scene_source *src, bool made)
{
    struct attn_opts o = step_opts_of(s);
    if (step_seen(s) == STEP_SEE_DIFFERENCE && src->ghost)
        return "Broken minus correct, each matrix in a colour range of its own: orange "
               "is more than it should be, blue is less, and what is blank is right.";
    const char *text = say_stage(sc, s, src, made);
    if (text || o.precision == ATTN_FLOAT32) return text;
    return o.precision == ATTN_BFLOAT16
               ? "Each stage\u2019s result is rounded to bfloat16: float32\u2019s "
                 "exponents, but 8 bits of significand, two to three decimal digits. "
                 "The sums inside a stage are still float32."
               : "Each stage\u2019s result is rounded to float16: 11 bits of "
                 "significand, "
                 "and nothing above 65,504. The sums inside a stage are still float32.";
}

/* ---- the right result in its place ------------------------------------------------------- */

void scene_seen_of(struct scene_seen *seen, const struct step_state *s,
                   const struct scene_source *src)
{
    seen->s = s;
    seen->src = src;
    if (step_seen(s) != STEP_SEE_RIGHT || !src->ghost) return;
    seen->right_s = *s;
    seen->right_s.opts = attn_opts_default();
    for (int i = 0; i < STEP_SCALE_COUNT; i++) seen->right_s.place[i].n_edit = 0;
    seen->right_src = *src;
    seen->right_src.trace = src->ghost->right;
    seen->right_src.version = src->ghost->right_version;
    seen->right_src.blend = src->ghost->blend;
    seen->right_src.reach = src->ghost->reach;
    seen->right_src.checks = src->ghost->checks;
    seen->right_src.n_given = 0;
    seen->right_src.ungiven = NULL;
    seen->s = &seen->right_s;
    seen->src = &seen->right_src;
}

/* ---- the difference ------------------------------------------------------------------------ */

static struct grid_style difference_style(const struct stage *st, const struct grid *g)
{
    const struct scene_ghost *ghost = st->b.src->ghost;
    struct scene_source src = *st->b.src;
    struct brush b = st->b;
    src.trace = ghost->diff;
    b.src = &src;
    struct grid_style style = grid_style(&b, g);
    style.key = ~style.key; /* no run's own */
    return style;
}

static void difference_draw(const struct stage *st, const struct grid *g, bool below,
                            bool named)
{
    struct scene *sc = st->b.sc;
    struct grid_style style = difference_style(st, g);
    float most = st->b.src->ghost->diff->stats[g->tensor].max_abs;
    grid_draw(&st->b, g, &style);
    const struct attn_change *c = &st->b.src->ghost->change[g->tensor];
    if (c->row >= 0 && g->tensor == st->spec->result[0]) {
        int i = g->transposed ? c->col : c->row;
        int j = g->transposed ? c->row : c->col;
        grid_frame(&st->b, g, i, i + 1, j, j + 1);
    }
    if (!named) return;
    grid_label(
        &st->b, g, below, scene_print(sc, "\u0394 %s", scene_tensor_name(g->tensor)),
        tensor_color(st->b.theme, g->tensor),
        most > 0 ? scene_print(sc, "\u00B1%s", scene_number(sc, most, 3)) : "no change",
        1);
}

/* All matrices of the stage as they are when it is over; what moves is not shown. */
void motion_difference(struct stage *st)
{
    const struct layout *l = &st->l;
    const struct stage_spec *spec = st->spec;
    bool operands = !spec->operands_leave;
    struct grid rows = l->left;
    struct grid cols = l->right[0];
    if (operands) {
        difference_draw(st, &l->left, true, true);
        for (int g = 0; g < spec->n_group; g++)
            difference_draw(st, &l->right[g], false, !l->right[g].transposed);
        if (l->right[0].transposed) key_label(st, 1);
    } else {
        rows.x = l->result[0].x;
        cols.y = l->result[0].y;
    }
    for (int g = 0; g < spec->n_group; g++) {
        struct grid out = l->result[g];
        if (spec->adds) out.tensor = spec->sum;
        difference_draw(st, &out, true, true);
    }
    if (spec->adds) difference_draw(st, &l->added, false, true);
    grid_row_tokens(&st->b, &rows, 1);
    if (spec->right_transposed) grid_col_tokens(&st->b, &cols, 1);
    frames_draw(st, operands);
    crosshair_draw(st);
    struct grid on = grid_on_screen(&st->b, l->result[0]);
    float hi = st->b.src->ghost->diff->stats[l->result[0].tensor].max_abs;
    if (spec->right_transposed && hi > 0)
        grid_legend(&st->b, &on, MAP_DIVERGING, -hi, hi);
}
