/* Captions: what the stage does to the row or the cell in view, with its figures. One idea
 * a sentence; every figure is of the run on screen. */
#include "motion.h"

#include <math.h>
#include <string.h>

struct view {
    struct scene *sc;
    const struct step_state *s;
    const struct scene_source *src;
    struct attn_dims d;
    struct caption_at at;
    int d_head;
    bool toy, loaded;
    bool quiet; /* no figures: the tour asks for them, or they are still to come */
    int terms;  /* of the sum under way; -1: none is */
};

/* ---- figures --------------------------------------------------------------------------- */

/* Three significant digits below 1, else two decimals. */
static const char *figure(const struct view *v, float value)
{
    double size = fabs((double)value);
    if (!(size < 1) || size == 0) return scene_number(v->sc, value, 2);
    if (size < 1e-6) return scene_print(v->sc, "%s%.2e", value < 0 ? "\u2212" : "", size);
    return scene_number(v->sc, value, 2 - (int)floor(log10(size)));
}

/* Row i of a matrix of the run; NULL: there is none, or it is another state's. */
static const float *row_of(const struct view *v, enum attn_tensor t, int i, int *n)
{
    struct attn_cmat m = scene_tensor_view(v->src, t);
    if (v->quiet || !v->src->fits || !m.data || i < 0 || i >= m.rows) return NULL;
    *n = m.cols;
    return m.data + (size_t)i * (size_t)m.ld;
}

static const char *cell(const struct view *v, enum attn_tensor t)
{
    int n = 0;
    const float *row = row_of(v, t, v->at.row, &n);
    if (!row || v->at.col < 0 || v->at.col >= n) return NULL;
    return figure(v, row[v->at.col]);
}

/* The largest numbers of a row: the first place, and how many are as large. */
struct top {
    int at, n; /* n = 0: there is none, or NaN is among them */
    float value;
};

static struct top top_of(const float *row, int n, int but)
{
    struct top t = {.n = 0};
    for (int j = 0; row && j < n; j++) {
        if (isnan(row[j])) return (struct top){.n = 0};
        if (j == but) continue;
        if (t.n == 0 || row[j] > t.value)
            t = (struct top){j, 1, row[j]};
        else if (row[j] == t.value)
            t.n++;
    }
    return t;
}

static const char *length_of(const struct view *v, enum attn_tensor t)
{
    int n = 0;
    const float *row = row_of(v, t, v->at.row, &n);
    double sum = 0;
    for (int j = 0; row && j < n; j++) sum += (double)row[j] * (double)row[j];
    return row ? figure(v, (float)sqrt(sum)) : NULL;
}

/* "“·sat”", or "token 3". */
static const char *token(const struct view *v, int i)
{
    return words_token(v->sc, v->src, i);
}

/* "Row 3 (“·sat”)", or "Row 3". */
static const char *who(const struct view *v)
{
    bool named = *scene_token_text(v->sc, v->src, v->at.row);
    return named ? scene_print(v->sc, "Row %d (%s)", v->at.row + 1, token(v, v->at.row))
                 : scene_print(v->sc, "Row %d", v->at.row + 1);
}

/* "“the”", or "“the” and 2 others alike". */
static const char *those(const struct view *v, struct top t)
{
    if (t.n == 1) return token(v, t.at);
    return scene_print(v->sc, "%s and %d other%s alike", token(v, t.at), t.n - 1,
                       t.n == 2 ? "" : "s");
}

/* The sum under way in the cell, as the cell shows it. NULL: there is none. */
static const char *so_far(const struct view *v, int group)
{
    float sum = 0;
    if (v->terms < 0 || !v->src->fits ||
        !scene_dot_part(v->src, &scene_stages[v->s->stage], group, v->at.row, v->at.col,
                        v->terms, &sum))
        return NULL;
    return figure(v, sum);
}

/* ---- stages ---------------------------------------------------------------------------- */

static const char *biases(const struct view *v)
{
    bool there = !v->loaded || (v->src->trace && v->src->trace->w.b_qkv);
    if (v->toy) return "GPT-2 adds biases; the toy has none.";
    return scene_print(v->sc, "%s biases. This head has 3 \u00D7 %d of %s columns.",
                       there ? "GPT-2 adds" : "This model adds no", v->d_head,
                       words_amount(v->sc, 3 * (uint64_t)v->d.d_model, ""));
}

static const char *say_projections(const struct view *v)
{
    static const char *const names[] = {
        [ATTN_Q] = "looks for", [ATTN_K] = "offers", [ATTN_V] = "hands over"};
    enum attn_tensor t = v->at.tensor;
    const char *q = so_far(v, 0), *k = so_far(v, 1), *x = so_far(v, 2);
    if (q && k && x)
        return scene_print(
            v->sc,
            "%s, column %d: %d of %d products of X and weights, added, make "
            "q = %s, k = %s and v = %s so far. %s",
            who(v), v->at.col + 1, v->terms, v->d.d_model, q, k, x, biases(v));
    if (cell(v, t) && t >= ATTN_Q && t <= ATTN_V)
        return scene_print(
            v->sc,
            "Row %d, column %d of %s is %s, part of what %s %s: %d products "
            "of X and weights, added. %s",
            v->at.row + 1, v->at.col + 1, scene_tensor_name(t), cell(v, t),
            token(v, v->at.row), names[t], v->d.d_model, biases(v));
    const char *lq = length_of(v, ATTN_Q), *lk = length_of(v, ATTN_K);
    const char *lv = length_of(v, ATTN_V);
    if (!lq || !lk || !lv)
        return scene_print(
            v->sc,
            "Each token gets three vectors: a query (what it looks for), a "
            "key (what it offers) and a value (what it hands over). %s",
            biases(v));
    return scene_print(v->sc,
                       "%s of X becomes three: a query (what it looks for, length "
                       "%s), a key (what it offers, %s) and a value (what it hands over, "
                       "%s). %s",
                       who(v), lq, lk, lv, biases(v));
}

static const char *say_scores(const struct view *v)
{
    static const char grid[] =
        "The grid is N \u00D7 N: twice the context, four times the "
        "work.";
    int n = 0;
    const float *row = row_of(v, ATTN_S_RAW, v->at.row, &n);
    struct top top = top_of(row, n, -1);
    const char *score = cell(v, ATTN_S_RAW), *sum = so_far(v, 0);
    if (sum)
        return scene_print(v->sc,
                           "Row %d, column %d is %s so far, %d of %d products added: how "
                           "much %s wants what %s offers. %s",
                           v->at.row + 1, v->at.col + 1, sum, v->terms, v->d_head,
                           token(v, v->at.row), token(v, v->at.col), grid);
    if (score)
        return scene_print(
            v->sc,
            "Row %d, column %d is %s: how much %s wants what %s offers, one "
            "dot product of %d terms. %s",
            v->at.row + 1, v->at.col + 1, score, token(v, v->at.row), token(v, v->at.col),
            v->d_head, grid);
    if (row && top.n == 0)
        return scene_print(v->sc, "Every query meets every key. %s holds NaN. %s", who(v),
                           grid);
    if (row && n == 1)
        return scene_print(v->sc,
                           "One query meets one key: the only score is %s, a dot product "
                           "of %d terms. %s",
                           figure(v, top.value), v->d_head, grid);
    if (!row)
        return scene_print(v->sc,
                           "Every query meets every key: a dot product says how much the "
                           "row\u2019s token wants what the column\u2019s offers. %s",
                           grid);
    return scene_print(v->sc,
                       "Every query meets every key. %s wants most, with a score of %s, "
                       "what %s offer%s. %s",
                       who(v), figure(v, top.value), those(v, top), top.n == 1 ? "s" : "",
                       grid);
}

static const char *say_scale(const struct view *v)
{
    int n = 0;
    const float *raw = row_of(v, ATTN_S_RAW, v->at.row, &n);
    const float *scaled = row_of(v, ATTN_S_SCALED, v->at.row, &n);
    struct top a = top_of(raw, n, -1), b = top_of(scaled, n, -1);
    const char *was = cell(v, ATTN_S_RAW), *is = cell(v, ATTN_S_SCALED);
    bool figures = a.n && b.n;
    if (!v->s->opts.scale)
        return scene_print(
            v->sc,
            "The division is switched off: scores go on as they are%s. The "
            "longer the vectors, the wider they spread, and the nearer "
            "softmax comes to picking a single token.",
            figures ? scene_print(v->sc, ", and row %d keeps %s", v->at.row + 1,
                                  figure(v, a.value))
                    : "");
    const char *example =
        was && is ? scene_print(v->sc, "Row %d, column %d: %s \u00F7 %.4g = %s. ",
                                v->at.row + 1, v->at.col + 1, was,
                                attn_divisor_of(v->s->opts, v->d), is)
        : figures ? scene_print(v->sc, "%s: its largest score goes from %s to %s. ",
                                who(v), figure(v, a.value), figure(v, b.value))
                  : "";
    return scene_print(
        v->sc,
        "%sA sum of %d products spreads \u221A%d times as wide as one. "
        "Dividing by \u221Ad_head = %.4g takes that back, or softmax would "
        "start out nearly one-hot.",
        example, v->d_head, v->d_head, sqrt((double)v->d_head));
}

static const char *say_mask(const struct view *v)
{
    int i = v->at.row, j = v->at.col, n = v->d.n_tok;
    if (!v->s->opts.causal)
        return scene_print(
            v->sc,
            "The mask is switched off: %s sees all %d tokens, later ones "
            "too. A model trained like this could copy its answer from the "
            "next column.",
            who(v), n);
    static const char rule[] = "Every score right of the diagonal becomes \u2212\u221E.";
    const char *is = cell(v, ATTN_S_MASKED);
    if (is && j > i)
        return scene_print(v->sc,
                           "Row %d, column %d is \u2212\u221E: %s comes after %s, which "
                           "must not see it. %s",
                           i + 1, j + 1, token(v, j), token(v, i), rule);
    if (is)
        return scene_print(
            v->sc, "Row %d, column %d keeps its %s: %s. %s", i + 1, j + 1, is,
            i == j ? "a token sees itself"
                   : scene_print(v->sc, "%s comes before %s", token(v, j), token(v, i)),
            rule);
    if (i + 1 == n)
        return scene_print(
            v->sc,
            "%s is the last and sees %s. %s A position must not see "
            "the token that it is there to predict.",
            who(v), n == 1 ? "itself alone" : scene_print(v->sc, "all %d tokens", n),
            rule);
    return scene_print(v->sc,
                       "%s sees %s of %d tokens: it is there to predict token %d, and "
                       "must not see it. %s",
                       who(v),
                       i ? scene_print(v->sc, "the first %d", i + 1) : "only itself", n,
                       i + 2, rule);
}

/* "Row 3 (“·sat”) gives 0.66 to “the” and 0.32 to “·sat”." */
static const char *say_top(const struct view *v)
{
    int n = 0;
    const float *row = row_of(v, ATTN_P, v->at.row, &n);
    struct top a = top_of(row, n, -1);
    if (!row) return "";
    if (a.n == 0)
        return scene_print(v->sc, "%s holds NaN, and its weights mean nothing. ", who(v));
    if (attn_seen(v->s->opts, v->at.row, n) == 1)
        return scene_print(v->sc, "%s sees itself alone and gives it all: 1. ", who(v));
    struct top b = top_of(row, n, a.at);
    if (a.n > 1)
        return scene_print(v->sc, "%s gives most, %s each, to %s. ", who(v),
                           figure(v, a.value), those(v, a));
    return scene_print(v->sc, "%s gives %s to %s and %s to %s. ", who(v),
                       figure(v, a.value), token(v, a.at), figure(v, b.value),
                       those(v, b));
}

static const char *say_softmax(const struct view *v)
{
    const char *weight = cell(v, ATTN_P);
    const char *random = v->loaded ? "" : "Random weights: no meaning.";
    if (weight && strcmp(weight, "0") == 0 &&
        v->at.col >= attn_seen(v->s->opts, v->at.row, v->d.n_tok))
        return scene_print(v->sc,
                           "Row %d, column %d is 0: %s comes after %s, and exp(\u2212"
                           "\u221E) = 0. Each row adds up to 1. %s",
                           v->at.row + 1, v->at.col + 1, token(v, v->at.col),
                           token(v, v->at.row), random);
    if (weight)
        return scene_print(
            v->sc,
            "Row %d, column %d: %s gives %s a weight of %s, the exp of its "
            "score over the sum of the row\u2019s. %s",
            v->at.row + 1, v->at.col + 1, token(v, v->at.row), token(v, v->at.col),
            weight, random);
    if (!v->at.made)
        return scene_print(
            v->sc,
            "%s becomes shares of 1: its largest score is subtracted, each "
            "is exponentiated, and all are divided by their sum. %s",
            who(v), random);
    return scene_print(
        v->sc,
        "%sEach row becomes shares of 1: subtract its largest score, exponentiate, "
        "divide by the sum. %s",
        say_top(v), random);
}

static const char *say_weighted_sum(const struct view *v)
{
    int n = 0, i = v->at.row;
    const float *row = row_of(v, ATTN_P, i, &n);
    struct top a = top_of(row, n, -1);
    int seen = attn_seen(v->s->opts, i, v->d.n_tok);
    const char *is = cell(v, ATTN_Z);
    const char *later = v->s->opts.causal ? "Nothing later takes part."
                                          : "With the mask off, later tokens take part.";
    if (row && a.n == 0)
        return scene_print(
            v->sc,
            "%s of A holds NaN, and so does its row of O: a blend with NaN "
            "in it is NaN. Other rows are as they were.",
            who(v));
    if (is)
        return scene_print(v->sc,
                           "Row %d, column %d of O is %s: column %d of V, mixed in the "
                           "proportions of row %d of A. %s",
                           i + 1, v->at.col + 1, is, v->at.col + 1, i + 1, later);
    if (row && seen == 1)
        return scene_print(v->sc,
                           "%s of O is its own value, unchanged: it sees no other token. "
                           "Its colour is its own, too.",
                           who(v));
    return scene_print(
        v->sc,
        "%s of O blends %d values in the proportions of row %d of A%s, and "
        "so is its colour. %s",
        who(v), seen, i + 1,
        a.n ? scene_print(v->sc, ", most of all %s\u2019s, %s", those(v, a),
                          figure(v, a.value))
            : "",
        later);
}

static const char *say_output(const struct view *v)
{
    const char *mixed = cell(v, ATTN_Y_PROJ), *y = cell(v, ATTN_Y), *h = cell(v, ATTN_H);
    const char *sum = so_far(v, 0);
    bool added = v->s->opts.residual;
    if (sum)
        return scene_print(
            v->sc,
            "%s, column %d: %d of %d products of O\u2019s row and a column of W_O "
            "make %s so far. So the heads, side by side, are mixed.",
            who(v), v->at.col + 1, v->terms, v->d.d_model, sum);
    if (mixed && y && h && added)
        return scene_print(
            v->sc,
            "Row %d, column %d of Y is %s: %s from the heads, mixed by W_O, "
            "and %s that was there in h, the residual stream.",
            v->at.row + 1, v->at.col + 1, y, mixed, h);
    if (!added)
        return "The heads\u2019 outputs stand side by side and W_O mixes them. The "
               "residual "
               "is switched off: h, the stream that ln_1 read, is lost.";
    const char *was = length_of(v, ATTN_H), *by = length_of(v, ATTN_Y_PROJ);
    static const char narrow[] =
        "Several narrow heads follow different relations for the "
        "price of a wide one.";
    if (!was || !by)
        return scene_print(
            v->sc,
            "W_O mixes the heads\u2019 outputs, and the sum goes on in the "
            "residual stream. %s",
            narrow);
    return scene_print(
        v->sc,
        "%s: W_O mixes the heads into a vector of length %s, added to h, the "
        "residual stream, of length %s. %s",
        who(v), by, was, narrow);
}

bool scene_tour_asks(const struct step_state *s, const struct scene_source *src)
{
    bool answered = s->tour.verdict == STEP_RIGHT || s->tour.verdict == STEP_REVEALED;
    return src->tour && src->tour->kind != ASK_NOTHING && !answered;
}

/* Of a cell whose number is given by hand; NULL: it is computed. */
static const char *say_given(const struct view *v)
{
    struct step_ref r = {v->at.tensor, v->at.row, v->at.col};
    struct scene_derivation d;
    if (v->at.terms >= 0 || v->at.col < 0 || v->quiet || !v->src->fits ||
        !v->src->trace || !scene_given_at(v->src, r) || !scene_derive(&d, v->src, r))
        return NULL;
    return scene_print(v->sc,
                       "Row %d, column %d of %s is edited to %s%s. All that is computed "
                       "from it takes it as it stands.",
                       r.row + 1, r.col + 1, scene_tensor_name(r.tensor),
                       scene_number(v->sc, d.value, 2),
                       isnan(d.was) ? ""
                                    : scene_print(v->sc, "; computed, it is %s",
                                                  scene_number(v->sc, d.was, 2)));
}

static struct view view_of(struct scene *sc, const struct step_state *s,
                           const struct scene_source *src, struct caption_at at)
{
    const struct step_place *p = step_place_of(s);
    bool asks = scene_tour_asks(s, src);
    return (struct view){.sc = sc,
                         .s = s,
                         .src = src,
                         .d = p->dims,
                         .at = at,
                         .d_head = attn_d_head(p->dims),
                         .toy = s->scale == STEP_TOY,
                         .loaded = step_is_loaded(p),
                         .quiet = asks || !at.made,
                         .terms = asks ? -1 : at.terms};
}

/* The selected row's figure at stages 3 and 5, for the caption of what is broken there. */
const char *caption_example(struct scene *sc, const struct step_state *s,
                            const struct scene_source *src, bool made)
{
    const struct view v = view_of(
        sc, s, src, (struct caption_at){ATTN_P, step_place_of(s)->row, -1, -1, made});
    int n = 0;
    const float *raw = row_of(&v, ATTN_S_RAW, v.at.row, &n);
    const float *scaled = row_of(&v, ATTN_S_SCALED, v.at.row, &n);
    struct top a = top_of(raw, n, -1), b = top_of(scaled, n, -1);
    if (s->stage != ATTN_SCALE) return say_top(&v);
    if (!a.n || !b.n) return "";
    return scene_print(sc, "%s: its largest score goes from %s to %s. ", who(&v),
                       figure(&v, a.value), figure(&v, b.value));
}

const char *stage_caption(struct scene *sc, const struct step_state *s,
                          const struct scene_source *src, struct caption_at at)
{
    static const char *(*const say[ATTN_STAGE_COUNT])(const struct view *) = {
        say_projections, say_scores,       say_scale, say_mask,
        say_softmax,     say_weighted_sum, say_output};
    const struct view v = view_of(sc, s, src, at);
    const char *given = say_given(&v);
    return given ? given : say[s->stage](&v);
}
