/* What a picture is made of, and the two pens that draw it. Lengths are points of the
 * scene. paint.c uses a pen and knows no file format; the pens know no scene item. */
#ifndef HEADLIGHT_PAPER_PEN_H
#define HEADLIGHT_PAPER_PEN_H

#include "base.h"
#include "faces.h"
#include "scene.h"

#include <cairo.h>
#include <stdbool.h>

enum path_kind { PATH_BOX, PATH_MOVE, PATH_LINE, PATH_CLOSE };
struct path_step {
    enum path_kind kind;
    float x, y;
    float w, h, r; /* PATH_BOX: size and corner radius */
};
struct path {
    struct path_step *at;
    int n, room;
    bool full; /* something did not fit */
};
void path_box(struct path *p, struct scene_rect box, float radius);
void path_move(struct path *p, float x, float y);
void path_line(struct path *p, float x, float y);
void path_close(struct path *p);

/* One run of text; x is its left end, y its baseline. */
struct pen_text {
    float x, y, size;
    enum scene_font font;
    struct scene_rgba color;
    const char *text;
    bool turned; /* a quarter to the left around (x, y) */
};

struct pen;
struct pen_kind {
    void (*fill)(struct pen *p, const struct path *path, struct scene_rgba color);
    /* dash > 0: dashes and gaps of that length; ends are butt */
    void (*stroke)(struct pen *p, const struct path *path, float width, float dash,
                   struct scene_rgba color);
    void (*text)(struct pen *p, const struct pen_text *t);
    /* Fills box with the image, nearest; the image holds premultiplied ARGB and is used
     * up. */
    void (*image)(struct pen *p, struct scene_rect box, cairo_surface_t *image);
    /* What follows up to pop is clipped to the path and faded as one; PEN_DEPTH deep. */
    void (*push)(struct pen *p, const struct path *clip, float alpha);
    void (*pop)(struct pen *p);
};

enum { PEN_DEPTH = 4 };

struct pen {
    const struct pen_kind *k;
    struct faces *fonts;
    const struct font_metrics *metrics;
    /* Pixels a point where the picture has pixels, whose grid begins at the scene's
     * origin; 0: it has none. */
    float density;
    struct scene_rect view; /* what of the scene is drawn */
};

/* Draws with cairo, whose context is set up for points of the scene. */
struct pen_cairo {
    struct pen pen;
    cairo_t *cr;
    float alpha[PEN_DEPTH];
    int depth;
};
void pen_cairo_init(struct pen_cairo *p, cairo_t *cr, struct faces *fonts,
                    const struct font_metrics *metrics, float density);

/* Writes SVG elements. cairo's own SVG surface turns every glyph into an outline, so the
 * text in its files can be neither searched nor edited. */
struct pen_svg {
    struct pen pen;
    struct file_out *out;
    struct err *e;
    bool failed; /* *e says why; nothing more is written */
    int n_clip;
};
/* Size as it stands in the file: "88mm"; view: what part of the scene it shows. */
struct pen_svg_head {
    float w, h;
    const char *unit;
    struct scene_rect view;
};
void pen_svg_begin(struct pen_svg *p, struct file_out *out, struct faces *fonts,
                   const struct font_metrics *metrics, const struct pen_svg_head *head,
                   struct err *e);
bool pen_svg_end(struct pen_svg *p);

#endif
