/* The strip under the title: what must hold at this stage, and whether it does; a fault is
 * a click away. */
#include "motion.h"

#include <float.h>
#include <math.h>

enum { ITEMS_MOST = 8, STRIP_ID = 1900 /* + place, of the faults */ };
static const float strip_y = 87, mark = 4.5f, mark_gap = 7;
static const float touch_h = 18, margin = 12;

/* From the roomiest: fewer words before smaller ones, and nothing left out before those. */
struct strip_look {
    bool brief;
    float size, gap;
};
enum { LOOKS = 4 };
static const struct strip_look looks[LOOKS] = {
    {false, 11.5f, 16}, {true, 11.5f, 16}, {true, 10.5f, 12}, {true, 9.5f, 9}};

/* check: something that must hold, and a mark; else a figure alone. */
struct strip_item {
    const char *text, *brief, *tip;
    bool check, good;
    struct step_ref at; /* of a fault */
};

struct strip {
    struct scene *sc;
    const struct scene_checks *c;
    const struct attn_trace *t;
    struct strip_item item[ITEMS_MOST];
    int n;
    bool quiet; /* the tour asks: checks alone */
};

static void figure(struct strip *s, const char *text, const char *brief, const char *tip)
{
    if (s->quiet) return;
    s->item[s->n++] = (struct strip_item){text, brief, tip, false, true, step_no_ref()};
}

static void check(struct strip *s, bool good, const char *text, const char *brief,
                  const char *tip, struct step_ref at)
{
    s->item[s->n++] = (struct strip_item){text, brief, tip, true, good, at};
}

static void check_odd(struct strip *s, const enum attn_tensor *tensors, int n)
{
    int64_t odd = 0;
    struct step_ref at = step_no_ref();
    for (int i = n - 1; i >= 0; i--) {
        odd += s->c->n_odd[tensors[i]];
        if (s->c->n_odd[tensors[i]]) at = s->c->odd[tensors[i]];
    }
    const char *found =
        scene_print(s->sc, "%s NaN or \u00B1\u221E", scene_count(s->sc, odd));
    bool masked = tensors[0] == ATTN_S_MASKED;
    check(s, odd == 0,
          odd      ? found
          : masked ? "no NaN, no +\u221E"
                   : "no NaN, no \u00B1\u221E",
          odd ? found : "no NaN, \u00B1\u221E",
          odd ? "Click: to the first of them" : "Every number of this stage is finite",
          at);
}

/* several: the one of them that names the three figures of all, where it is brief. */
enum range_of { RANGE_ALONE, RANGE_FIRST, RANGE_NEXT };

static void range(struct strip *s, const char *name, struct attn_stats st,
                  enum range_of several)
{
    const char *lo = scene_number(s->sc, st.min, 2), *hi = scene_number(s->sc, st.max, 2);
    const char *mean = scene_number(s->sc, (float)st.mean, 3);
    const char *text = scene_print(s->sc, "%s%smin %s  max %s  mean %s", name,
                                   *name ? " " : "", lo, hi, mean);
    figure(s, text,
           several == RANGE_ALONE
               ? scene_print(s->sc, "min %s max %s mean %s", lo, hi, mean)
               : scene_print(s->sc, "%s%s %s/%s/%s",
                             several == RANGE_FIRST ? "min/max/mean " : "", name, lo, hi,
                             mean),
           "Least, greatest and mean of the finite numbers");
}

static void of_projections(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_Q, ATTN_K, ATTN_V};
    check_odd(s, all, 3);
    for (int i = 0; i < 3; i++)
        range(s, scene_tensor_name(all[i]), s->t->stats[all[i]],
              i ? RANGE_NEXT : RANGE_FIRST);
}

static void of_scores(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_S_RAW};
    check_odd(s, all, 1);
    figure(s,
           scene_print(s->sc, "largest |S| %s",
                       scene_number(s->sc, s->t->stats[ATTN_S_RAW].max_abs, 2)),
           scene_print(s->sc, "|S| \u2264 %s",
                       scene_number(s->sc, s->t->stats[ATTN_S_RAW].max_abs, 2)),
           "The largest magnitude, before the division");
    range(s, "", s->t->stats[ATTN_S_RAW], RANGE_ALONE);
}

static void of_scale(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_S_SCALED};
    bool good = s->c->scale <= 0.5 + 1e-6;
    check(s, good,
          good ? "each S \u00F7 \u221Ad_head, correctly rounded"
               : "not S \u00F7 \u221Ad_head",
          good ? "S \u00F7 \u221Ad_head" : "not \u00F7 \u221Ad_head",
          good ? "No quotient is off by more than half a unit in the last place"
               : "Click: to the cell that is farthest off",
          s->c->scale_at);
    check_odd(s, all, 1);
    const char *most = scene_print(
        s->sc, "%s \u2192 %s", scene_number(s->sc, s->t->stats[ATTN_S_RAW].max_abs, 2),
        scene_number(s->sc, s->t->stats[ATTN_S_SCALED].max_abs, 2));
    figure(s, scene_print(s->sc, "largest |S| %s", most),
           scene_print(s->sc, "|S| %s", most),
           "The largest magnitude, before and after the division");
    range(s, "", s->t->stats[ATTN_S_SCALED], RANGE_ALONE);
}

static void of_mask(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_S_MASKED};
    bool good = s->c->n_unmasked == 0;
    const char *seen = scene_print(s->sc, "%s future cell%s visible",
                                   scene_count(s->sc, s->c->n_unmasked),
                                   s->c->n_unmasked == 1 ? "" : "s");
    check(s, good, good ? "upper triangle all \u2212\u221E" : seen,
          good ? "upper \u2212\u221E" : seen,
          good ? "Every score right of the diagonal is hidden"
               : "Click: to the first of them",
          s->c->unmasked_at);
    check_odd(s, all, 1);
    range(s, "visible", s->c->seen, RANGE_ALONE);
}

static void check_sums(struct strip *s, bool sums)
{
    double by = s->c->row_sum;
    if (!isfinite(by)) {
        const char *is =
            scene_print(s->sc, "a row sums to %s", scene_number(s->sc, (float)by, 0));
        check(s, false, is, is, "Click: to the first of them", s->c->row_at);
        return;
    }
    const char *off = scene_print(s->sc, "%.0e", by);
    check(s, sums,
          sums ? by > 0 ? scene_print(s->sc, "rows sum to 1, within %s", off)
                        : "rows sum to 1, exactly"
               : scene_print(s->sc, "a row\u2019s sum is off by %s", off),
          sums ? by > 0 ? scene_print(s->sc, "\u03A3 = 1 \u00B1%s", off)
                        : "\u03A3 = 1, exactly"
               : scene_print(s->sc, "\u03A3 off by %s", off),
          sums ? scene_print(
                     s->sc, "The largest deviation of a row\u2019s sum from 1 is %s", off)
               : "Click: to the row that is farthest off",
          s->c->row_at);
}

static void of_softmax(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_P};
    double n = s->t->dims.n_tok;
    bool sums = s->c->row_sum <= (n + 8) * (double)FLT_EPSILON;
    check_sums(s, sums);
    bool upper = s->c->n_upper == 0;
    const char *leak =
        scene_print(s->sc, "%s weight%s on the future", scene_count(s->sc, s->c->n_upper),
                    s->c->n_upper == 1 ? "" : "s");
    check(s, upper, upper ? "upper triangle exactly 0" : leak, upper ? "upper = 0" : leak,
          upper ? "No weight, however small, lies on a later token"
                : "Click: to the first of them",
          s->c->upper_at);
    check_odd(s, all, 1);
    const char *bits = scene_print(s->sc, "entropy %s to %s bits",
                                   scene_number(s->sc, s->c->entropy_lo, 2),
                                   scene_number(s->sc, s->c->entropy_hi, 2));
    figure(s, bits,
           scene_print(s->sc, "entropy %s\u2013%s bits",
                       scene_number(s->sc, s->c->entropy_lo, 2),
                       scene_number(s->sc, s->c->entropy_hi, 2)),
           "Of the rows\u2019 weights, in bits: 0 is one token alone");
    range(s, "", s->t->stats[ATTN_P], RANGE_ALONE);
}

static void of_weighted_sum(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_Z};
    double slack = (s->t->dims.n_tok + 8) * (double)FLT_EPSILON *
                   (double)s->t->stats[ATTN_V].max_abs;
    bool good = s->c->blend <= slack;
    check(s, good, good ? "O inside the range of V" : "O leaves the range of V",
          good ? "O inside V" : "O outside V",
          good ? "A blend lies between the least and the greatest of what it blends"
               : "Click: to the number that is farthest out",
          s->c->blend_at);
    check_odd(s, all, 1);
    range(s, "", s->t->stats[ATTN_Z], RANGE_ALONE);
}

static void of_output(struct strip *s)
{
    static const enum attn_tensor all[] = {ATTN_Y, ATTN_Y_PROJ};
    bool good = s->c->residual == 0;
    check(s, good,
          good ? "Y is the product plus h, exactly" : "Y is not the product plus h",
          good ? "Y = product + h" : "Y \u2260 product + h",
          good ? "The residual is added last, in one rounding"
               : "Click: to the number that is farthest off",
          s->c->residual_at);
    check_odd(s, all, 2);
    range(s, "", s->t->stats[ATTN_Y], RANGE_ALONE);
}

static float width_of(const struct strip *s, const struct strip_item *it,
                      struct strip_look look)
{
    float w = font_width(s->sc->font, FONT_UI, look.size,
                         look.brief ? it->brief : it->text, -1);
    return w + (it->check ? 2 * mark + mark_gap : 0);
}

static float total(const struct strip *s, int n, struct strip_look look)
{
    float w = (float)(n - 1) * look.gap;
    for (int i = 0; i < n; i++) w += width_of(s, &s->item[i], look);
    return w;
}

/* A tick, or a triangle: the shape says it, and not the colour alone. */
static void mark_draw(struct scene *sc, const struct scene_theme *t, float x, float cy,
                      bool good)
{
    if (good) {
        (void)scene_line(sc, x, cy, x + mark * 0.7f, cy + mark * 0.8f, 1.75f, t->accent);
        (void)scene_line(sc, x + mark * 0.7f, cy + mark * 0.8f, x + 2 * mark, cy - mark,
                         1.75f, t->accent);
        return;
    }
    const float px[3] = {x + mark, x + 2 * mark, x};
    const float py[3] = {cy - mark, cy + mark, cy + mark};
    (void)scene_triangle(sc, px, py, t->odd);
}

static void item_draw(const struct strip *s, const struct scene_theme *t, int i, float x,
                      float cy, struct strip_look look)
{
    struct scene *sc = s->sc;
    const struct strip_item *it = &s->item[i];
    struct scene_rect box = {x - 3, cy - touch_h / 2, width_of(s, it, look) + 6, touch_h};
    if (!it->good) (void)scene_border(sc, box, 4, 1, scene_fade(t->odd, 0.12f), t->odd);
    float from = x;
    if (it->check) {
        mark_draw(sc, t, x, cy, it->good);
        from += 2 * mark + mark_gap;
    }
    (void)scene_text(sc, from, cy + sc->font->cap[FONT_UI] * look.size / 2, ALIGN_LEFT,
                     FONT_UI, look.size, it->good ? t->ink_soft : t->ink,
                     look.brief ? it->brief : it->text);
    struct scene_item *touch = scene_rect(sc, box, 4, scene_fade(t->paper, 0));
    touch->hit.kind = HIT_COVER;
    touch->hit.tip = it->tip;
    if (it->good || it->at.tensor == ATTN_TENSOR_COUNT) return;
    touch->hit.kind = HIT_ACTION;
    touch->hit.id = STRIP_ID + i;
    touch->hit.action = (struct step_action){.verb = STEP_PIN, .ref = it->at};
}

void strip_draw(const struct stage *st)
{
    static void (*const of[ATTN_STAGE_COUNT])(struct strip *) = {
        of_projections, of_scores,       of_scale, of_mask,
        of_softmax,     of_weighted_sum, of_output};
    const struct brush *b = &st->b;
    if (!b->src->checks || !b->src->fits) return;
    struct strip s = {.sc = b->sc,
                      .c = b->src->checks,
                      .t = b->src->trace,
                      .quiet = scene_tour_asks(b->s, b->src)};
    of[b->s->stage](&s);
    const struct scene_rect *f = &b->sc->frame.stage;
    float x = f->x + (f->w < 640 ? 22.0f : 32.0f), room = f->x + f->w - margin - x;
    int k = 0;
    while (k + 1 < LOOKS && total(&s, s.n, looks[k]) > room) k++;
    while (s.n > 1 && total(&s, s.n, looks[k]) > room) s.n--;
    for (int i = 0; i < s.n; i++) {
        item_draw(&s, b->theme, i, x, f->y + strip_y, looks[k]);
        x += width_of(&s, &s.item[i], looks[k]) + looks[k].gap;
    }
}
