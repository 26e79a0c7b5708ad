/* The pen for PDF and for pixels. */
#include "pen.h"

#include <assert.h>
#include <math.h>

enum { RUN = 256 };       /* glyphs drawn at once */
enum { LETTERS = 2 };     /* that one glyph stands for */
enum { TEXT_PHASES = 4 }; /* places of a glyph within a pixel, as gfx has them */

static cairo_t *context(struct pen *p)
{
    return ((struct pen_cairo *)p)->cr;
}

static void trace_box(cairo_t *cr, const struct path_step *s)
{
    double x = (double)s->x, y = (double)s->y, w = (double)s->w, h = (double)s->h;
    double r = (double)s->r, right = x + w, low = y + h, turn = acos(-1) / 2;
    if (!(r > 0)) {
        cairo_rectangle(cr, x, y, w, h);
        return;
    }
    cairo_new_sub_path(cr);
    cairo_arc(cr, right - r, y + r, r, -turn, 0);
    cairo_arc(cr, right - r, low - r, r, 0, turn);
    cairo_arc(cr, x + r, low - r, r, turn, 2 * turn);
    cairo_arc(cr, x + r, y + r, r, 2 * turn, 3 * turn);
    cairo_close_path(cr);
}

static void trace(cairo_t *cr, const struct path *path)
{
    cairo_new_path(cr);
    for (int i = 0; i < path->n; i++) {
        const struct path_step *s = &path->at[i];
        switch (s->kind) {
        case PATH_BOX:
            trace_box(cr, s);
            break;
        case PATH_MOVE:
            cairo_move_to(cr, (double)s->x, (double)s->y);
            break;
        case PATH_LINE:
            cairo_line_to(cr, (double)s->x, (double)s->y);
            break;
        case PATH_CLOSE:
            cairo_close_path(cr);
            break;
        }
    }
}

static void set_color(cairo_t *cr, struct scene_rgba c)
{
    cairo_set_source_rgba(cr, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0);
}

static void fill(struct pen *p, const struct path *path, struct scene_rgba color)
{
    cairo_t *cr = context(p);
    trace(cr, path);
    set_color(cr, color);
    cairo_fill(cr);
}

static void stroke(struct pen *p, const struct path *path, float width, float dash,
                   struct scene_rgba color)
{
    cairo_t *cr = context(p);
    double d = (double)dash;
    trace(cr, path);
    set_color(cr, color);
    cairo_set_line_width(cr, (double)width);
    cairo_set_dash(cr, &d, dash > 0 ? 1 : 0, 0);
    cairo_stroke(cr);
}

static void push(struct pen *p, const struct path *clip, float alpha)
{
    struct pen_cairo *c = (struct pen_cairo *)p;
    assert(c->depth < PEN_DEPTH);
    c->alpha[c->depth++] = alpha;
    cairo_save(c->cr);
    trace(c->cr, clip);
    cairo_clip(c->cr);
    if (alpha < 1) cairo_push_group(c->cr);
}

static void pop(struct pen *p)
{
    struct pen_cairo *c = (struct pen_cairo *)p;
    float alpha = c->alpha[--c->depth];
    if (alpha < 1) {
        cairo_pop_group_to_source(c->cr);
        cairo_paint_with_alpha(c->cr, (double)alpha);
    }
    cairo_restore(c->cr);
}

/* A picture of as many pixels as the box has is put there as it is: no pixel is lost or
 * doubled by rounding. */
static void image(struct pen *p, struct scene_rect box, cairo_surface_t *image)
{
    cairo_t *cr = context(p);
    double w = cairo_image_surface_get_width(image),
           h = cairo_image_surface_get_height(image);
    double x = (double)box.x, y = (double)box.y, bw = (double)box.w, bh = (double)box.h;
    cairo_save(cr);
    if (p->density > 0) {
        cairo_user_to_device(cr, &x, &y);
        cairo_user_to_device_distance(cr, &bw, &bh);
        if (fabs(bw - w) < 0.5 && fabs(bh - h) < 0.5) {
            x = floor(x + 0.5);
            y = floor(y + 0.5);
            bw = w;
            bh = h;
        }
        cairo_identity_matrix(cr);
    }
    cairo_translate(cr, x, y);
    cairo_scale(cr, bw / w, bh / h);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_rectangle(cr, 0, 0, w, h);
    cairo_fill(cr);
    cairo_restore(cr);
}

/* ---- text ----------------------------------------------------------------------------- */

/* Glyphs of one face, and the characters they stand for. */
struct run {
    cairo_glyph_t glyph[RUN];
    cairo_text_cluster_t cluster[RUN];
    char utf8[RUN * LETTERS * 4 + 1];
    int n, bytes, face;
    double squeeze;
};

static void show(struct pen *p, const struct pen_text *t, struct run *r)
{
    cairo_t *cr = context(p);
    if (r->n == 0) return;
    cairo_save(cr);
    cairo_set_font_face(cr, p->fonts->face[r->face].face);
    cairo_set_font_size(cr, (double)t->size);
    if (r->squeeze != 1) {
        double x = r->glyph[0].x;
        cairo_translate(cr, x, 0);
        cairo_scale(cr, r->squeeze, 1);
        r->glyph[0].x = 0;
    }
    set_color(cr, t->color);
    if (p->density > 0) { /* outlines may stand between pixels, cairo's glyphs not */
        cairo_new_path(cr);
        cairo_glyph_path(cr, r->glyph, r->n);
        cairo_fill(cr);
    } else {
        cairo_show_text_glyphs(cr, r->utf8, r->bytes, r->glyph, r->n, r->cluster, r->n,
                               (cairo_text_cluster_flags_t)0);
    }
    cairo_restore(cr);
    r->n = r->bytes = 0;
}

/* Puts the letters a glyph stands for: what a search finds; returns their bytes. */
static int put_letters(char *utf8, const char *text, const struct scene_glyph *g)
{
    int bytes = 0;
    const char *at = text + g->from;
    for (int k = 0; k < LETTERS && at < text + g->to; k++)
        bytes += utf8_put(utf8 + bytes, utf8_next(&at));
    return bytes;
}

static void text_along(struct pen *p, const struct pen_text *t)
{
    struct run r = {.face = -1, .squeeze = 1};
    float pen = t->x;
    struct scene_glyphs all;
    struct scene_glyph each;
    scene_glyphs_begin(&all, p->metrics, t->font, t->text, -1);
    while (scene_glyphs_next(&all, &each)) {
        struct font_glyph g = faces_glyph(p->fonts, t->font, each.code, each.room);
        double squeeze = (double)g.squeeze;
        if (r.n == RUN || r.face != g.face || r.squeeze != 1 || squeeze != 1)
            show(p, t, &r);
        r.face = g.face;
        r.squeeze = squeeze;
        float x = pen + (each.advance - each.room + g.shift) * t->size;
        if (p->density > 0) {
            float phases = p->density * (float)TEXT_PHASES;
            x = floorf(x * phases + 0.5f) / phases;
        }
        r.glyph[r.n] = (cairo_glyph_t){g.index, (double)x, (double)t->y};
        int bytes = put_letters(r.utf8 + r.bytes, t->text, &each);
        r.cluster[r.n] = (cairo_text_cluster_t){bytes, 1};
        r.bytes += bytes;
        r.n++;
        pen += each.advance * t->size;
    }
    show(p, t, &r);
}

static void text(struct pen *p, const struct pen_text *t)
{
    static const double quarter = -1.57079632679489661923;
    cairo_t *cr = context(p);
    if (!t->turned) {
        text_along(p, t);
        return;
    }
    struct pen_text flat = *t;
    flat.x = flat.y = 0;
    cairo_save(cr);
    cairo_translate(cr, (double)t->x, (double)t->y);
    cairo_rotate(cr, quarter);
    text_along(p, &flat);
    cairo_restore(cr);
}

static const struct pen_kind kind = {fill, stroke, text, image, push, pop};

void pen_cairo_init(struct pen_cairo *p, cairo_t *cr, struct faces *fonts,
                    const struct font_metrics *metrics, float density)
{
    *p = (struct pen_cairo){.pen = {&kind, fonts, metrics, density, {0}}, .cr = cr};
    cairo_font_options_t *o = cairo_font_options_create();
    cairo_font_options_set_antialias(o, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_metrics(o, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(o, density > 0 ? CAIRO_HINT_STYLE_SLIGHT
                                                     : CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(cr, o);
    cairo_font_options_destroy(o);
}
