/* The cost lab: FLOPs and bytes of each stage against N, log-log, with the times that were
 * measured on this machine. Every count is attn_cost_of's. */
#include "lab.h"

#include <math.h>

static const float labels_w = 112, labels_gap = 8, narrow_labels_w = 96;
static const float line_w = 1.8f, total_w = 2.6f, causal_dash = 4, other_dash = 1.5f;
static const float dot_r = 3.5f, note_size = 11, note_line = 14, note_gap = 6,
                   note_pad = 2;
static const float small_stage = 640;
enum { POINTS = 69, CURVES = 8 /* 2 and 6 are one of FLOPs; 3 to 5 of bytes */ };

/* GPT-2 small: 124M parameters, 12 blocks. */
static const struct attn_dims gpt2_small = {.n_tok = 1024, .d_model = 768, .n_head = 12};

bool scene_lab_is_gpt2(const struct step_state *s)
{
    struct attn_dims d = step_place_of(s)->dims;
    return d.d_model == gpt2_small.d_model && d.n_head == gpt2_small.n_head;
}

struct attn_dims scene_lab_dims(const struct step_state *s, int n_tok)
{
    struct attn_dims d = s->lab.gpt2 ? gpt2_small : step_place_of(s)->dims;
    d.n_tok = n_tok;
    return d;
}

const double *scene_times_at(const struct scene_times *t, int n_tok)
{
    for (int i = 0; t && i < t->n; i++)
        if (t->n_tok[i] == n_tok) return t->seconds[i];
    return NULL;
}

/* ---- counts -------------------------------------------------------------------------------- */

static double count(const struct attn_cost *c, enum step_lab_of of, bool causal)
{
    return of == STEP_LAB_BYTES ? (double)c->bytes
           : causal             ? (double)c->flops_causal
                                : (double)c->flops_dense;
}

/* By how much stages 2 and 6 take more than 1 and 7. */
static double excess(const struct step_state *s, int n, bool causal)
{
    struct attn_dims d = scene_lab_dims(s, n);
    const enum attn_stage of[4] = {ATTN_SCORES, ATTN_WEIGHTED_SUM, ATTN_PROJECTIONS,
                                   ATTN_OUTPUT};
    double v[4];
    for (int k = 0; k < 4; k++) {
        struct attn_cost c = attn_cost_of(d, of[k]);
        v[k] = count(&c, s->lab.of, causal);
    }
    return v[0] + v[1] - v[2] - v[3];
}

/* The excess over N is convex and below 0 at first, or never: it changes sign once. */
int scene_lab_crossing(const struct step_state *s, bool causal)
{
    int lo = 0, hi = STEP_LAB_MOST_N; /* not at lo, at hi */
    if (!(excess(s, hi, causal) > 0)) return 0;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (excess(s, mid, causal) > 0)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}

/* ---- curves -------------------------------------------------------------------------------- */

/* Stages whose counts are the same share a curve. */
struct curve {
    const char *name;
    struct scene_rgba color;
    enum attn_stage stage; /* ATTN_STAGE_COUNT: all of them */
    bool two;              /* dense and causal differ */
};

static int curves_of(const struct lab *l, struct curve c[CURVES])
{
    const struct scene_theme *t = l->t;
    const struct scene_rgba ink = t->ink;
    const struct curve flops[] = {
        {"1 Projections", t->q, ATTN_PROJECTIONS, false},
        {"2, 6 Q\u00B7K\u1D40, A\u00B7V", t->k, ATTN_SCORES, true},
        {"3 Scale", t->ink_faint, ATTN_SCALE, true},
        {"5 Softmax", t->v, ATTN_SOFTMAX, true},
        {"7 Output", t->o, ATTN_OUTPUT, false},
        {"total", ink, ATTN_STAGE_COUNT, true},
    };
    const struct curve bytes[] = {
        {"1 Projections", t->q, ATTN_PROJECTIONS, false},
        {"2, 6 Q\u00B7K\u1D40, A\u00B7V", t->k, ATTN_SCORES, false},
        {"3, 4, 5 each", t->v, ATTN_SOFTMAX, false},
        {"7 Output", t->o, ATTN_OUTPUT, false},
        {"total", ink, ATTN_STAGE_COUNT, false},
    };
    bool of_bytes = l->s->lab.of == STEP_LAB_BYTES;
    int n = of_bytes ? (int)(sizeof bytes / sizeof *bytes)
                     : (int)(sizeof flops / sizeof *flops);
    for (int i = 0; i < n; i++) c[i] = of_bytes ? bytes[i] : flops[i];
    return n;
}

static double curve_at(const struct lab *l, struct attn_dims d, enum attn_stage stage,
                       bool causal)
{
    struct attn_cost c =
        stage == ATTN_STAGE_COUNT ? attn_cost_block(d) : attn_cost_of(d, stage);
    return count(&c, l->s->lab.of, causal);
}

static void curve_draw(const struct lab *l, const struct plot *p, struct attn_dims d,
                       const struct curve *c, bool causal, struct plot_pen pen)
{
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        double n = pow(STEP_LAB_MOST_N, (double)i / (POINTS - 1));
        d.n_tok = (int)lround(n);
        x[i] = d.n_tok;
        y[i] = curve_at(l, d, c->stage, causal);
    }
    plot_line(p, POINTS, x, y, pen);
}

/* The curve of each stage, its name at the right edge, and, where it differs, what is left
 * of it when nothing behind the mask is computed. */
static void curves_draw(const struct lab *l, const struct plot *p, float labels)
{
    struct curve c[CURVES];
    struct plot_label label[CURVES];
    int n = curves_of(l, c);
    struct attn_dims d = scene_lab_dims(l->s, STEP_LAB_MOST_N);
    for (int i = 0; i < n; i++) {
        float w = c[i].stage == ATTN_STAGE_COUNT ? total_w : line_w;
        curve_draw(l, p, d, &c[i], false, (struct plot_pen){c[i].color, w, 0});
        if (c[i].two)
            curve_draw(l, p, d, &c[i], true,
                       (struct plot_pen){c[i].color, line_w / 2 + 0.5f, causal_dash});
        label[i] = (struct plot_label){c[i].name, c[i].color,
                                       plot_y(p, curve_at(l, d, c[i].stage, false))};
    }
    float x = l->plots.x + l->plots.w - labels + labels_gap; /* past the second axis */
    plot_labels(p, x, labels - labels_gap, n, label);
}

/* ---- measured times ------------------------------------------------------------------------ */

/* The rate, a power of ten, at which the counts would be done in about the times that were
 * measured: it lays the second axis beside the first. */
static double rate_of(const struct lab *l)
{
    const struct scene_times *t = l->src->times;
    double sum = 0;
    int n = 0;
    for (int i = 0; i < t->n; i++) {
        struct attn_dims d = scene_lab_dims(l->s, t->n_tok[i]);
        double seconds = 0;
        for (int k = 0; k < ATTN_STAGE_COUNT; k++) seconds += t->seconds[i][k];
        sum += log10(curve_at(l, d, ATTN_STAGE_COUNT, true) / seconds);
        n++;
    }
    return n ? pow(10, round(sum / n)) : 0;
}

/* A point a stage, in its curve's colour; of two that share a colour the second is a ring. */
static void times_draw(const struct lab *l, const struct plot *p)
{
    const struct scene_times *t = l->src->times;
    const struct scene_theme *th = l->t;
    const struct scene_rgba color[ATTN_STAGE_COUNT] = {
        th->q, th->k, th->ink_faint, th->ink_faint, th->v, th->k, th->o};
    for (int i = 0; i < t->n; i++) {
        float x = plot_x(p, t->n_tok[i]);
        double total = 0;
        for (int k = 0; k < ATTN_STAGE_COUNT; k++) {
            float y = plot_y_right(p, t->seconds[i][k]);
            total += t->seconds[i][k];
            if (k == ATTN_MASK || k == ATTN_WEIGHTED_SUM)
                plot_ring(p, x, y, dot_r, color[k]);
            else
                plot_dot(p, x, y, dot_r, color[k]);
        }
        plot_dot(p, x, plot_y_right(p, total), dot_r + 1, th->ink);
    }
}

/* A power of ten with its unit: 1e11 as "100 G". */
static const char *power_text(struct scene *sc, double v)
{
    static const char *const unit[] = {"", " k", " M", " G", " T", " P"};
    int k = (int)floor(log10(v) / 3 + 1e-9);
    k = k < 0 ? 0 : k > 5 ? 5 : k;
    return scene_print(sc, "%.0f%s", v / pow(1000, k), unit[k]);
}

/* ---- controls and words -------------------------------------------------------------------- */

static const char *dims_name(const struct lab *l)
{
    const struct step_place *p = step_place_of(l->s);
    return l->s->scale == STEP_TOY ? "toy" : step_is_loaded(p) ? "model" : "GPT-2";
}

static void draw_controls(const struct lab *l)
{
    const struct scene_times *t = l->src->times;
    float x = l->x;
    if (l->bare) return;
    for (int k = 0; k < STEP_LAB_OF_COUNT; k++)
        x = lab_button(l, x, k ? "bytes" : "FLOPs", (int)l->s->lab.of == k, LAB_ID_OF + k,
                       (struct step_action){.verb = STEP_LAB_OF, .i = k},
                       k ? "Read and written once each, float32 (\u2191 \u2193)"
                         : "A multiply and an add are two (\u2191 \u2193)");
    x += note_gap;
    if (!scene_lab_is_gpt2(l->s))
        for (int k = 0; k < 2; k++)
            x = lab_button(l, x, k ? "GPT-2 small" : dims_name(l), l->s->lab.gpt2 == k,
                           LAB_ID_DIMS + k,
                           (struct step_action){.verb = STEP_LAB_DIMS, .i = k},
                           k ? "d_model 768, 12 heads" : "The dimensions in view");
    x += note_gap;
    bool running = t && t->running;
    (void)lab_button(
        l, x,
        running ? scene_print(l->sc, "stop: %d of %d", t->n, t->of)
        : t     ? "measure again"
                : "measure",
        running, LAB_ID_MEASURE, (struct step_action){.verb = STEP_LAB_MEASURE},
        running ? "Stop measuring (Enter)" : "Time the stages on this machine (Enter)");
}

static void draw_keys(const struct lab *l)
{
    const struct scene_theme *t = l->t;
    float x = l->x;
    bool bytes = l->s->lab.of == STEP_LAB_BYTES;
    if (bytes) {
        x = lab_key(l, x, (struct plot_pen){t->ink_soft, line_w, 0}, false,
                    "all heads, nothing masked");
    } else {
        x = lab_key(l, x, (struct plot_pen){t->ink_soft, line_w, 0}, false, "dense");
        x = lab_key(l, x, (struct plot_pen){t->ink_soft, 1.4f, causal_dash}, false,
                    "without j > i");
    }
    const struct scene_times *times = l->src->times;
    const char *note =
        !times || times->n == 0
            ? "no times measured here yet"
            : scene_print(l->sc, "points: measured (rings: 4, 6), %d thread%s, %s",
                          times->threads, times->threads == 1 ? "" : "s", times->kernels);
    float cap = l->sc->font->cap[FONT_UI] * note_size;
    (void)scene_text(l->sc, x, l->key_y + cap / 2, ALIGN_LEFT, FONT_UI, note_size,
                     t->ink_soft,
                     scene_fit_text(l->sc, FONT_UI, note_size, l->right - x, note));
}

/* Where stages 2 and 6 begin to take more than 1 and 7. */
static void crossing(const struct lab *l, const struct plot *p, bool causal)
{
    int n = scene_lab_crossing(l->s, causal);
    if (n > 1)
        plot_upright(p, n,
                     (struct plot_pen){l->t->accent, 1.3f, causal ? causal_dash : 0});
}

static void note(const struct plot *p, struct scene_rgba color, int n, float y,
                 const char *text)
{
    const struct plot_note how = {FONT_UI, note_size, note_pad, color, p->theme->paper};
    struct plot_spots s = {.n = 0};
    plot_beside(p, &s, plot_note_box(p, &how, text), plot_x(p, n), y);
    plot_note(p, &s, &how, text);
}

static void crossing_note(const struct lab *l, const struct plot *p, bool causal)
{
    struct scene *sc = l->sc;
    int n = scene_lab_crossing(l->s, causal);
    if (n <= 1) return;
    bool bytes = l->s->lab.of == STEP_LAB_BYTES;
    note(p, l->t->accent, n, p->box.y + (causal ? 2.0f : 1.0f) * note_line,
         scene_print(sc, "2 + 6 over 1 + 7 from N = %s%s", scene_count(sc, n),
                     bytes    ? ""
                     : causal ? " (without j > i)"
                              : " (dense)"));
}

/* What is in view, and what the cursor is at. */
static void present(const struct lab *l, const struct plot *p)
{
    int n = step_place_of(l->s)->dims.n_tok, at = step_lab_at(l->s);
    plot_upright(p, n, (struct plot_pen){l->t->ink, 1, other_dash});
    if (at != n) lab_cursor(p, at);
}

static void notes(const struct lab *l, const struct plot *p)
{
    struct scene *sc = l->sc;
    int n = step_place_of(l->s)->dims.n_tok, at = step_lab_at(l->s);
    if (at != n) lab_cursor_note(p, at, scene_print(sc, "N = %s", scene_count(sc, at)));
    note(p, l->t->ink, n, p->box.y + p->box.h - 2.5f * note_line,
         scene_print(sc, "N = %s in view", scene_count(sc, n)));
    crossing_note(l, p, false);
    if (l->s->lab.of == STEP_LAB_FLOPS) crossing_note(l, p, true);
}

/* Decades that hold every curve. */
static struct plot_axis axis_of(const struct lab *l)
{
    struct curve c[CURVES];
    double lo = (double)INFINITY, hi = 0;
    int n = curves_of(l, c);
    for (int i = 0; i < n; i++) {
        lo = fmin(lo, curve_at(l, scene_lab_dims(l->s, 1), c[i].stage, true));
        hi = fmax(hi,
                  curve_at(l, scene_lab_dims(l->s, STEP_LAB_MOST_N), c[i].stage, false));
    }
    return (struct plot_axis){
        pow(10, floor(log10(fmax(lo, 1)))), pow(10, ceil(log10(hi))), PLOT_LOG10,
        l->s->lab.of == STEP_LAB_BYTES ? "bytes (log scale)" : "FLOPs (log scale)",
        false};
}

static const char *caption(const struct lab *l)
{
    if (l->s->lab.of == STEP_LAB_BYTES)
        return "Each stage reads its inputs and its weights and writes its result, once "
               "each, in float32, all heads together. From 3 to 5 nothing is multiplied "
               "much: moving N\u00D7N numbers is what they cost, and a fused block keeps "
               "them from memory.";
    return "Projections grow with N, everything that has N\u00D7N cells with N\u00B2. In "
           "a "
           "short text nearly all the work is in 1 and 7; past the crossing it is in "
           "2 and 6. Stage 4 computes nothing, and leaving out what it hides halves "
           "the rest.";
}

void lab_cost(struct lab *l)
{
    const struct scene_times *times = l->src->times;
    struct attn_dims d = scene_lab_dims(l->s, 1);
    bool bytes = l->s->lab.of == STEP_LAB_BYTES;
    lab_words(l,
              scene_print(l->sc, "%s of one block: d_model %d, %d head%s of %d",
                          bytes ? "bytes" : "FLOPs", d.d_model, d.n_head,
                          d.n_head == 1 ? "" : "s", attn_d_head(d)),
              caption(l));
    draw_controls(l);
    draw_keys(l);
    struct plot p = {.sc = l->sc,
                     .theme = l->t,
                     .x = {1, STEP_LAB_MOST_N, PLOT_LOG2, "N, tokens (log scale)", true},
                     .y = axis_of(l)};
    double rate = times && times->n ? rate_of(l) : 0;
    if (rate > 0)
        p.right =
            (struct plot_axis){p.y.lo / rate, p.y.hi / rate, PLOT_LOG10,
                               scene_print(l->sc, "measured time (s), level at %s%s/s",
                                           power_text(l->sc, rate), bytes ? "B" : "FLOP"),
                               false};
    float labels = l->f.w < small_stage ? narrow_labels_w : labels_w;
    struct scene_rect box = l->plots;
    box.w -= labels;
    p.box = plot_area(&p, box);
    plot_axes(&p);
    crossing(l, &p, false);
    if (!bytes) crossing(l, &p, true);
    present(l, &p);
    curves_draw(l, &p, labels);
    if (rate > 0) times_draw(l, &p);
    int at = step_lab_at(l->s);
    plot_dot(&p, plot_x(&p, at),
             plot_y(&p, curve_at(l, scene_lab_dims(l->s, at), ATTN_STAGE_COUNT, false)),
             dot_r, l->t->ink);
    notes(l, &p);
    struct attn_cost all = attn_cost_block(scene_lab_dims(l->s, step_lab_at(l->s)));
    lab_touch(&p, LAB_ID_PLOT,
              scene_print(l->sc, "N = %s: %s %s in all",
                          scene_count(l->sc, step_lab_at(l->s)),
                          scene_amount(l->sc, count(&all, l->s->lab.of, false)),
                          bytes ? "bytes" : "FLOPs, dense,"));
}
