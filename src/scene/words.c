/* What a stage says: formula, shapes, caption and cost, for the numbers in view. */
#include "motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A long token would push the caption over the cost line: it is cut to so many em. */
static const float token_em = 6;

static const struct attn_dims gpt2_full = {1024, 768, 12};

/* 1920 -> "1,920 FLOPs", 3623878656 -> "3.62 GFLOPs", but "1.57 M cells". */
const char *words_amount(struct scene *sc, uint64_t n, const char *unit)
{
    bool joins = n >= 100000 && unit[0] == 'F'; /* the prefix is the unit's */
    return scene_print(sc, "%s%s%s", scene_amount(sc, (double)n),
                       joins || !unit[0] ? "" : " ", unit);
}

static const char *shape(struct scene *sc, int rows, int cols)
{
    return scene_print(sc, "[%d\u00D7%d]", rows, cols);
}

/* "·sat", or "token 17" where the input is random. */
const char *words_token(struct scene *sc, const struct scene_source *src, int i)
{
    const char *text = scene_token_text(sc, src, i);
    if (!*text) return scene_print(sc, "token %d", i + 1);
    text = scene_fit_text(sc, FONT_UI, 1, token_em, text);
    return scene_print(sc, "\u201C%s\u201D", text);
}

struct moment {
    struct scene *sc;
    const struct step_state *s;
    const struct scene_source *src;
    struct attn_dims d;
    int d_head;
    int rows, there; /* that the pass computes; tokens that are there */
    bool toy, loaded;
};

static const char *softmax_formula(struct scene *sc, const struct attn_opts *o)
{
    bool heat = step_heat_of(*o) != 0, terms = o->scale || o->causal;
    return scene_print(
        sc, "A = softmax(%sS%s%s%s%s)", heat && terms ? "(" : "",
        o->scale ? scene_print(sc, " \u00F7 %s", scene_divisor_name(*o)) : "",
        o->causal ? " + mask" : "", heat && terms ? ")" : "",
        heat ? scene_print(sc, " \u00F7 %.3g", (double)o->temperature) : "");
}

static const char *output_formula(const struct moment *m)
{
    const char *heads = m->d.n_head == 1   ? "O\u2081"
                        : m->d.n_head == 2 ? "[O\u2081 | O\u2082]"
                                           : "[O\u2081 | \u2026 | O_H]";
    return scene_print(m->sc, "Y = %s \u00B7 W_O%s%s", heads,
                       m->src->trace && m->src->trace->w.b_o ? " + b" : "",
                       m->s->opts.residual ? " + h" : "");
}

static const char *formula_of(const struct moment *m)
{
    const struct attn_opts *o = &m->s->opts;
    struct scene *sc = m->sc;
    switch (m->s->stage) {
    case ATTN_SCALE:
        return o->scale ? scene_print(sc, "S \u00F7 %s = S \u00F7 %.4g",
                                      scene_divisor_name(*o), attn_divisor_of(*o, m->d))
                        : "S, not divided by \u221Ad_head";
    case ATTN_MASK:
        return !o->causal   ? "no mask: S stays"
               : o->shifted ? "S_ij = \u2212\u221E where j > i + 1"
                            : scene_stages[ATTN_MASK].text.formula;
    case ATTN_SOFTMAX:
        return softmax_formula(sc, o);
    case ATTN_OUTPUT:
        return output_formula(m);
    case ATTN_PROJECTIONS:
        if (m->src->trace && m->src->trace->w.b_qkv)
            return scene_print(sc, "%s  (+ b)",
                               scene_stages[ATTN_PROJECTIONS].text.formula);
        return scene_stages[ATTN_PROJECTIONS].text.formula;
    default:
        return scene_stages[m->s->stage].text.formula;
    }
}

static const char *shapes_of(const struct moment *m)
{
    struct scene *sc = m->sc;
    int r = m->rows, n = m->there, d = m->d.d_model, dh = m->d_head;
    switch (m->s->stage) {
    case ATTN_PROJECTIONS:
        return scene_print(sc, "%s \u00B7 %s \u2192 %s, 3 times", shape(sc, r, d),
                           shape(sc, d, dh), shape(sc, r, dh));
    case ATTN_SCORES:
        return scene_print(sc, "%s \u00B7 %s \u2192 %s", shape(sc, r, dh),
                           shape(sc, dh, n), shape(sc, r, n));
    case ATTN_SOFTMAX:
        return scene_print(sc, "row by row \u2192 %s", shape(sc, r, n));
    case ATTN_WEIGHTED_SUM:
        return scene_print(sc, "%s \u00B7 %s \u2192 %s", shape(sc, r, n),
                           shape(sc, n, dh), shape(sc, r, dh));
    case ATTN_OUTPUT:
        return scene_print(
            sc, "%s \u00B7 %s%s \u2192 %s", shape(sc, r, d), shape(sc, d, d),
            m->s->opts.residual ? scene_print(sc, " + %s", shape(sc, r, d)) : "",
            shape(sc, r, d));
    default:
        return shape(sc, r, n);
    }
}

/* ---- costs ------------------------------------------------------------------------------ */

/* The figures of one size: what counts differs by stage. */
static const char *figures(const struct moment *m, struct attn_dims d)
{
    struct attn_cost c = attn_cost_of(d, m->s->stage);
    struct scene *sc = m->sc;
    uint64_t future =
        (uint64_t)d.n_head * (uint64_t)d.n_tok * (uint64_t)(d.n_tok - 1) / 2;
    switch (m->s->stage) {
    case ATTN_SCORES:
    case ATTN_WEIGHTED_SUM:
        return scene_print(sc, "%s (%s causal)", words_amount(sc, c.flops_dense, "FLOPs"),
                           words_amount(sc, c.flops_causal, ""));
    case ATTN_MASK:
        if (!m->s->opts.causal) return "nothing hidden";
        return scene_print(sc, "%s hidden", words_amount(sc, future, "cells"));
    case ATTN_SOFTMAX:
        return scene_print(sc, "%s, %s", words_amount(sc, c.exps, "exps"),
                           words_amount(sc, c.flops_dense, "FLOPs"));
    default:
        return words_amount(sc, c.flops_dense, "FLOPs");
    }
}

static const char *cost_of(const struct moment *m)
{
    struct attn_dims most = m->loaded ? m->d : gpt2_full;
    if (m->loaded) most.n_tok = step_place_of(m->s)->limit;
    const char *here = figures(m, m->d), *full = figures(m, most);
    if (m->loaded && m->d.n_tok < most.n_tok)
        return scene_print(m->sc, "N = %d, %d heads: %s  at N = %s: %s", m->d.n_tok,
                           m->d.n_head, here,
                           words_amount(m->sc, (uint64_t)most.n_tok, ""), full);
    if (m->loaded)
        return scene_print(m->sc, "N = %s, %d heads: %s",
                           words_amount(m->sc, (uint64_t)most.n_tok, ""), m->d.n_head,
                           here);
    if (m->toy)
        return scene_print(m->sc, "toy, %d heads: %s  GPT-2 at N = 1,024: %s",
                           m->d.n_head, here, full);
    if (m->d.n_tok == gpt2_full.n_tok)
        return scene_print(m->sc, "N = 1,024, %d heads: %s", m->d.n_head, here);
    return scene_print(m->sc, "N = %d, %d heads: %s  at N = 1,024: %s", m->d.n_tok,
                       m->d.n_head, here, full);
}

struct stage_words scene_words(struct scene *sc, const struct step_state *s,
                               const struct scene_source *src, struct caption_at at)
{
    const struct step_place *p = step_place_of(s);
    struct step_pass pass = step_pass_of(s);
    struct moment m = {.sc = sc,
                       .s = s,
                       .src = src,
                       .d = p->dims,
                       .d_head = p->dims.d_model / p->dims.n_head,
                       .rows = pass.to - pass.from,
                       .there = pass.to,
                       .toy = s->scale == STEP_TOY,
                       .loaded = step_is_loaded(p)};
    if (at.row < 0) at.row = p->row;
    const char *instead = broken_caption(sc, s, src, at.made);
    const char *decode = decode_caption(sc, s, src);
    if (decode) instead = decode;
    return (struct stage_words){formula_of(&m), shapes_of(&m),
                                instead ? instead : stage_caption(sc, s, src, at),
                                step_is_decoding(s) ? decode_cost(sc, s) : cost_of(&m)};
}
