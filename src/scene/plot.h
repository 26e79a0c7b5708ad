/* Private to scene: a plot with axes. Values are data, lengths points. */
#ifndef HEADLIGHT_PLOT_H
#define HEADLIGHT_PLOT_H

#include "scene.h"

enum plot_scale { PLOT_LINEAR, PLOT_LOG2, PLOT_LOG10 };

struct plot_axis {
    double lo, hi; /* of the data area; log: > 0 */
    enum plot_scale scale;
    const char *label; /* what it is, and its unit; NULL: none is written */
    bool counts;       /* whole numbers: ticks read 1,024, not 10 with an exponent */
};

struct plot {
    struct scene *sc;
    const struct scene_theme *theme;
    struct scene_rect box; /* the data area */
    struct plot_axis x, y;
    bool bare_x; /* the x axis has ticks and no numbers: another plot's below has */
    struct plot_axis right; /* a second y axis; label NULL: none */
};

/* The data area of a plot that fills box with its ticks and labels. */
struct scene_rect plot_area(const struct plot *p, struct scene_rect box);
/* Grid, ticks, numbers, labels; draw first. */
void plot_axes(const struct plot *p);

float plot_x(const struct plot *p, double v);
float plot_y(const struct plot *p, double v);
float plot_y_right(const struct plot *p, double v);

struct plot_pen {
    struct scene_rgba color;
    float width, dash;
};
/* What has no place on an axis (NaN, 0 on a log scale) parts the line; the rest is clipped
 * to the data area. */
void plot_line(const struct plot *p, int n, const double *x, const double *y,
               struct plot_pen pen);
void plot_band(const struct plot *p, int n, const double *x, const double *lo,
               const double *hi, struct scene_rgba color);
void plot_dot(const struct plot *p, float x, float y, float r, struct scene_rgba color);
void plot_ring(const struct plot *p, float x, float y, float r, struct scene_rgba color);
/* A line up and down, or across, at v. */
void plot_upright(const struct plot *p, double v, struct plot_pen pen);
void plot_level(const struct plot *p, double v, struct plot_pen pen);

/* A text over lines, on a ground of its own. Its middle is at cy. */
struct plot_note {
    enum scene_align align;
    enum scene_font font;
    float size;
    struct scene_rgba color;
};
void plot_note(const struct plot *p, float x, float cy, struct plot_note how,
               const char *text);

/* Texts beside a plot's right edge, each as near to its line's height as the others let it. */
enum { PLOT_LABELS = 16 };
struct plot_label {
    const char *text;
    struct scene_rgba color;
    float y; /* wished for */
};
void plot_labels(const struct plot *p, float x, float width, int n,
                 struct plot_label *label);

#endif
