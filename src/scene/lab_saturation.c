/* The saturation lab: the largest weight and the entropy of softmax over random scores,
 * against d_head, with the division by its root and without. */
#include "lab.h"

#include <math.h>

static const float plots_gap = 14, beside_gap = 24, side_by_side = 1.15f; /* w over h */
static const float line_w = 2, mark_w = 1.5f, mark_dash = 4, dot_r = 4, level_dash = 2;
static const float note_size = 11, note_gap = 7, note_line = 14, uniform_up = 2;
static const float band_alpha = 0.16f, entropy_air = 1.15f;
static const float name_up = 5, names_h = 14, note_pad = 2;

enum { WITHOUT, WITH };

int scene_saturation_at(const struct scene_saturation *sat, int d)
{
    int best = 0;
    for (int i = 1; i < sat->n; i++)
        if (fabs(log2((double)sat->d[i] / d)) < fabs(log2((double)sat->d[best] / d)))
            best = i;
    return best;
}

static struct scene_rgba color_of(const struct scene_theme *t, int with)
{
    return with ? t->q : t->k;
}

/* ---- one plot ------------------------------------------------------------------------------ */

static void curve(const struct plot *p, const struct scene_saturation *sat,
                  const struct scene_spread *of, struct scene_rgba color)
{
    double d[SCENE_SATURATION], mean[SCENE_SATURATION], lo[SCENE_SATURATION],
        hi[SCENE_SATURATION];
    for (int i = 0; i < sat->n; i++) {
        d[i] = sat->d[i];
        mean[i] = (double)of[i].mean;
        lo[i] = (double)of[i].lo;
        hi[i] = (double)of[i].hi;
    }
    plot_band(p, sat->n, d, lo, hi, scene_fade(color, band_alpha));
    plot_line(p, sat->n, d, mean, (struct plot_pen){color, line_w, 0});
}

/* Both curves' points at entry i. */
static void points(const struct plot *p, const struct scene_saturation *sat,
                   const struct scene_spread *const of[2], int i)
{
    float x = plot_x(p, sat->d[i]);
    for (int k = 0; k < 2; k++)
        plot_dot(p, x, plot_y(p, (double)of[k][i].mean), dot_r, color_of(p->theme, k));
}

/* Their figures, one above its point, one below. */
static void figures(const struct plot *p, const struct scene_saturation *sat,
                    const struct scene_spread *const of[2], int i)
{
    bool upper = of[WITHOUT][i].mean > of[WITH][i].mean; /* the undivided's is */
    for (int k = 0; k < 2; k++) {
        const struct plot_note how = {FONT_MONO_BOLD, note_size, note_pad,
                                      color_of(p->theme, k), p->theme->paper};
        const char *text = scene_number(p->sc, of[k][i].mean, 3);
        float y = plot_y(p, (double)of[k][i].mean);
        struct plot_spots s = {.n = 0};
        plot_beside(p, &s, plot_note_box(p, &how, text), plot_x(p, sat->d[i]),
                    y + (upper == (k == WITHOUT) ? -note_line : note_line));
        plot_note(p, &s, &how, text);
    }
}

/* The d_head in view, and the toy's and GPT-2's, as upright lines. */
static const struct known {
    int d;
    const char *name;
} known[] = {{4, "toy: 4"}, {64, "GPT-2: 64"}};
enum { KNOWN = sizeof known / sizeof *known };

static void marks(const struct plot *p, int here)
{
    for (int k = 0; k < KNOWN; k++)
        plot_upright(p, known[k].d,
                     (struct plot_pen){p->theme->ink_faint, mark_w, mark_dash});
    if (here <= STEP_LAB_MOST_D)
        plot_upright(p, here, (struct plot_pen){p->theme->ink, mark_w, mark_dash});
}

/* A name over its line, between the data area's ends; returns its middle. */
static float name_x(const struct plot *p, int d, const char *name)
{
    float w = font_width(p->sc->font, FONT_UI, note_size, name, -1) / 2;
    float x = fmaxf(plot_x(p, d), p->box.x + w);
    return fminf(x, p->box.x + p->box.w - w);
}

/* Their names, over the plot; that of what is in view goes first. */
static void names(const struct plot *p, int here)
{
    struct scene *sc = p->sc;
    const char *name = scene_print(sc, "in view: %d", here);
    float y = p->box.y - name_up, x = -INFINITY, w = 0;
    if (here <= STEP_LAB_MOST_D) {
        x = name_x(p, here, name);
        w = font_width(sc->font, FONT_UI, note_size, name, -1) / 2 + note_gap;
        (void)scene_text(sc, x, y, ALIGN_CENTER, FONT_UI, note_size, p->theme->ink, name);
    }
    for (int k = 0; k < KNOWN; k++) {
        float at = name_x(p, known[k].d, known[k].name);
        float half = font_width(sc->font, FONT_UI, note_size, known[k].name, -1) / 2;
        if (fabsf(at - x) >= half + w)
            (void)scene_text(sc, at, y, ALIGN_CENTER, FONT_UI, note_size,
                             p->theme->ink_faint, known[k].name);
    }
}

/* What the level of all weights equal is: the largest entropy that so many can have. */
static void uniform_note(const struct plot *p, int n_key, int here)
{
    double bits = log2(n_key);
    const struct plot_note how = {FONT_UI, note_size, note_pad, p->theme->ink_soft,
                                  p->theme->paper};
    const char *text =
        scene_print(p->sc, "log\u2082 %d = %.3g bits: all weights equal", n_key, bits);
    bool left = here <= STEP_LAB_MOST_D && plot_x(p, here) > p->box.x + p->box.w / 2;
    struct scene_rect box = plot_note_box(p, &how, text);
    struct plot_spots s = {.n = 0};
    plot_along(p, &s, box, plot_y(p, bits) - note_line / 2 - uniform_up, left);
    plot_along(p, &s, box, plot_y(p, bits) + note_line / 2 + uniform_up, left);
    plot_note(p, &s, &how, text);
}

enum { TOP, ENTROPY };

static void plot_of(struct plot *p, const struct lab *l,
                    const struct scene_spread *const of[2], int number)
{
    const struct scene_saturation *sat = l->src->saturation;
    int here = attn_d_head(step_place_of(l->s)->dims), at = step_lab_at(l->s);
    int cursor = scene_saturation_at(sat, at), view = scene_saturation_at(sat, here);
    bool seen = here <= STEP_LAB_MOST_D, apart = sat->d[cursor] != here;
    plot_axes(p);
    marks(p, here);
    if (number == TOP) names(p, here);
    if (number == ENTROPY)
        plot_level(p, log2(sat->n_key),
                   (struct plot_pen){p->theme->ink_soft, 1, level_dash});
    if (apart) lab_cursor(p, sat->d[cursor]);
    for (int k = 0; k < 2; k++) curve(p, sat, of[k], color_of(l->t, k));
    if (seen) points(p, sat, of, view);
    if (apart) points(p, sat, of, cursor);
    if (apart)
        lab_cursor_note(p, sat->d[cursor], scene_print(l->sc, "%d", sat->d[cursor]));
    if (seen) figures(p, sat, of, view);
    if (number == ENTROPY) uniform_note(p, sat->n_key, here);
    lab_touch(p, LAB_ID_PLOT + number,
              scene_print(l->sc, "d_head = %d: %s %s undivided, %s divided",
                          sat->d[cursor],
                          number == ENTROPY ? "entropy" : "largest weight",
                          scene_number(l->sc, of[WITHOUT][cursor].mean, 3),
                          scene_number(l->sc, of[WITH][cursor].mean, 3)));
}

/* ---- the lab ------------------------------------------------------------------------------- */

static void draw_controls(const struct lab *l)
{
    const struct step_place *place = step_place_of(l->s);
    if (l->bare) return;
    float x = lab_word(l, l->x, "keys in the row");
    for (int k = 0; k < STEP_LAB_KEYS; k++) {
        struct step_state with = *l->s;
        with.lab.keys = k;
        int n = step_lab_row(&with);
        const char *count = scene_count(l->sc, n);
        x = lab_button(
            l, x, k ? count : scene_print(l->sc, "row %d: %s", place->row + 1, count),
            l->s->lab.keys == k, LAB_ID_ROW + k,
            (struct step_action){.verb = STEP_LAB_ROW, .i = k},
            k ? "Keys that a random query sees (\u2191 \u2193)"
              : "As many keys as the row in view sees (\u2191 \u2193)");
    }
}

static void draw_keys(const struct lab *l)
{
    const struct scene_theme *t = l->t;
    float x = l->x;
    x = lab_key(l, x, (struct plot_pen){color_of(t, WITHOUT), line_w, 0}, false,
                "without \u00F7 \u221Ad_head");
    x = lab_key(l, x, (struct plot_pen){color_of(t, WITH), line_w, 0}, false,
                "\u00F7 \u221Ad_head");
    const char *band = scene_print(l->sc, "10 to 90%% of %d draws",
                                   l->src->saturation ? l->src->saturation->n_draw : 0);
    (void)lab_key(l, x, (struct plot_pen){scene_fade(t->ink, band_alpha), 0, 0}, true,
                  band);
}

static void waiting(const struct lab *l)
{
    (void)scene_text(l->sc, l->plots.x + l->plots.w / 2, l->plots.y + l->plots.h / 2,
                     ALIGN_CENTER, FONT_UI, 16, l->t->ink_soft, "computing \u2026");
}

void lab_saturation(struct lab *l)
{
    const struct scene_saturation *sat = l->src->saturation;
    int n = step_lab_row(l->s);
    lab_words(
        l,
        scene_print(l->sc, "softmax(q\u00B7k\u1D40) of %s random key%s",
                    scene_count(l->sc, n), n == 1 ? "" : "s"),
        "A dot product of d_head random numbers spreads as \u221Ad_head. Undivided, "
        "one score soon stands out so far that softmax gives it nearly all the "
        "weight: the entropy falls towards 0, and gradients with it. Divided, "
        "d_head hardly matters.");
    draw_controls(l);
    draw_keys(l);
    if (!sat || sat->n_key != n) {
        waiting(l);
        return;
    }
    const struct scene_spread *const top[2] = {sat->top[0], sat->top[1]};
    const struct scene_spread *const entropy[2] = {sat->entropy[0], sat->entropy[1]};
    struct plot p = {
        .sc = l->sc,
        .theme = l->t,
        .x = {1, STEP_LAB_MOST_D, PLOT_LOG2, "d_head (log scale)", true},
        .y = {0, 1, PLOT_LINEAR, "largest weight", false},
    };
    l->plots.y += names_h;
    l->plots.h -= names_h;
    bool beside = l->plots.w > side_by_side * l->plots.h && l->plots.w > 2 * 420;
    struct scene_rect box = l->plots;
    p.bare_x = !beside;
    if (beside) {
        box.w = (box.w - beside_gap) / 2;
    } else { /* both data areas as high */
        struct scene_rect bare = plot_area(&p, (struct scene_rect){.h = 100});
        p.bare_x = false;
        struct scene_rect full = plot_area(&p, (struct scene_rect){.h = 100});
        p.bare_x = true;
        box.h = (box.h - plots_gap - (bare.h - full.h)) / 2;
    }
    p.box = plot_area(&p, box);
    plot_of(&p, l, top, TOP);
    if (beside)
        box.x += box.w + beside_gap;
    else
        box.y += box.h + plots_gap;
    box.h = l->plots.y + l->plots.h - box.y;
    p.bare_x = false;
    p.y = (struct plot_axis){0, fmax(log2(n), 1) * (double)entropy_air, PLOT_LINEAR,
                             "entropy (bits)", false};
    p.box = plot_area(&p, box);
    plot_of(&p, l, entropy, ENTROPY);
}
