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
    int first;              /* item from which on things are plotted: see plot_axes */
};

/* The data area of a plot that fills box with its ticks and labels. */
struct scene_rect plot_area(const struct plot *p, struct scene_rect box);
/* Grid, ticks, numbers, labels; draw first. */
void plot_axes(struct plot *p);

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

/* A text in the data area, on a ground of its own. Notes come after all that is plotted. */
struct plot_note {
    enum scene_font font;
    float size, pad; /* pad: at the text's sides */
    struct scene_rgba color, ground;
};
/* Where a note may stand: its box, the wished for place first. */
enum { PLOT_SPOTS = 96 };
struct plot_spots {
    struct scene_rect box[PLOT_SPOTS];
    int n;
};
/* Of a note's size. */
struct scene_rect plot_note_box(const struct plot *p, const struct plot_note *how,
                                const char *text);
/* Beside x, right and left, from height y on away to both ends. */
void plot_beside(const struct plot *p, struct plot_spots *s, struct scene_rect note,
                 float x, float y);
/* Centred over x, or right of it or left of it, where the area ends. */
void plot_over(const struct plot *p, struct plot_spots *s, struct scene_rect note,
               float x, float y);
/* At height y, along the whole width; left: from the left end on. */
void plot_along(const struct plot *p, struct plot_spots *s, struct scene_rect note,
                float y, bool left);
/* Draws it at the first spot over which nothing is plotted, or the least. */
void plot_note(const struct plot *p, const struct plot_spots *s,
               const struct plot_note *how, const char *text);

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
