/* The pen for SVG 1.1: shapes as paths, images as PNG inside, and text as text, which
 * cairo's SVG surface cannot write. Every glyph has its place, word by word, so that a
 * viewer that sets only the first glyph of a list stays in line too. */
#include "pen.h"

#include <math.h>
#include <string.h>

static const float UNITS = 1000; /* places are written to 1/1000 point */

/* An image's pixels of this many points and more are drawn as boxes, unless those were more
 * than so many. */
static const float PIXEL_MAX = 2;
enum { BOXES_MAX = 1 << 16 };

enum { WORDS = 512 }; /* glyphs of a text element */

static void put_bytes(struct pen_svg *p, const char *text, size_t n)
{
    if (!p->failed) p->failed = !file_put(p->out, text, n, p->e);
}

static void put(struct pen_svg *p, const char *text)
{
    put_bytes(p, text, strlen(text));
}

/* Whatever the locale's decimal sign; as short as it goes. */
static void put_number(struct pen_svg *p, float v)
{
    char text[32];
    size_t at = sizeof text;
    long long n = isfinite(v) ? llroundf(v * UNITS) : 0;
    unsigned long long m = n < 0 ? 0ULL - (unsigned long long)n : (unsigned long long)n;
    int places = 3;
    while (places > 0 && m % 10 == 0) {
        m /= 10;
        places--;
    }
    for (int k = 0; k < places; k++, m /= 10) text[--at] = (char)('0' + m % 10);
    if (places > 0) text[--at] = '.';
    do text[--at] = (char)('0' + m % 10);
    while ((m /= 10) != 0);
    if (n < 0) text[--at] = '-';
    put_bytes(p, text + at, sizeof text - at);
}

static void put_attribute(struct pen_svg *p, const char *name, float v)
{
    put(p, " ");
    put(p, name);
    put(p, "=\"");
    put_number(p, v);
    put(p, "\"");
}

/* name="#4338ca" and, where it is not opaque, name-opacity. */
static void put_color(struct pen_svg *p, const char *name, struct scene_rgba c)
{
    static const char digit[] = "0123456789abcdef";
    const uint8_t part[3] = {c.r, c.g, c.b};
    char hex[] = "=\"#000000\"";
    for (int i = 0; i < 3; i++) {
        hex[3 + 2 * i] = digit[part[i] >> 4];
        hex[4 + 2 * i] = digit[part[i] & 15];
    }
    put(p, " ");
    put(p, name);
    put(p, hex);
    if (c.a == 255) return;
    put(p, " ");
    put(p, name);
    put(p, "-opacity=\"");
    put_number(p, (float)c.a / 255.0f);
    put(p, "\"");
}

static void put_pair(struct pen_svg *p, const char *before, float x, float y)
{
    put(p, before);
    put_number(p, x);
    put(p, " ");
    put_number(p, y);
}

/* A quarter circle to the right, by (x, y). */
static void put_corner(struct pen_svg *p, float r, float x, float y)
{
    put_pair(p, "a", r, r);
    put_pair(p, " 0 0 1 ", x, y);
}

static void put_box(struct pen_svg *p, const struct path_step *s)
{
    float r = s->r > 0 ? s->r : 0;
    put_pair(p, "M", s->x + r, s->y);
    put(p, "h");
    put_number(p, s->w - 2 * r);
    if (r > 0) put_corner(p, r, r, r);
    put(p, "v");
    put_number(p, s->h - 2 * r);
    if (r > 0) put_corner(p, r, -r, r);
    put(p, "h");
    put_number(p, 2 * r - s->w);
    if (r > 0) {
        put_corner(p, r, -r, -r);
        put(p, "v");
        put_number(p, 2 * r - s->h);
        put_corner(p, r, r, -r);
    }
    put(p, "z");
}

static void put_path(struct pen_svg *p, const struct path *path)
{
    put(p, " d=\"");
    for (int i = 0; i < path->n; i++) {
        const struct path_step *s = &path->at[i];
        switch (s->kind) {
        case PATH_BOX:
            put_box(p, s);
            break;
        case PATH_MOVE:
            put_pair(p, "M", s->x, s->y);
            break;
        case PATH_LINE:
            put_pair(p, "L", s->x, s->y);
            break;
        case PATH_CLOSE:
            put(p, "z");
            break;
        }
    }
    put(p, "\"");
}

/* "<rect ..." for a box alone, "<path ..." for all else; the caller ends the element. */
static void put_shape(struct pen_svg *p, const struct path *path)
{
    if (path->n != 1 || path->at[0].kind != PATH_BOX) {
        put(p, "<path");
        put_path(p, path);
        return;
    }
    const struct path_step *s = &path->at[0];
    put(p, "<rect");
    put_attribute(p, "x", s->x);
    put_attribute(p, "y", s->y);
    put_attribute(p, "width", s->w);
    put_attribute(p, "height", s->h);
    if (s->r > 0) put_attribute(p, "rx", s->r);
}

static void fill(struct pen *pen, const struct path *path, struct scene_rgba color)
{
    struct pen_svg *p = (struct pen_svg *)pen;
    put_shape(p, path);
    put_color(p, "fill", color);
    put(p, "/>\n");
}

static void stroke(struct pen *pen, const struct path *path, float width, float dash,
                   struct scene_rgba color)
{
    struct pen_svg *p = (struct pen_svg *)pen;
    put_shape(p, path);
    put(p, " fill=\"none\"");
    put_color(p, "stroke", color);
    put_attribute(p, "stroke-width", width);
    if (dash > 0) put_attribute(p, "stroke-dasharray", dash);
    put(p, "/>\n");
}

static void put_count(struct pen_svg *p, const char *before, int n, const char *after)
{
    put(p, before);
    put_number(p, (float)n);
    put(p, after);
}

static void push(struct pen *pen, const struct path *clip, float alpha)
{
    struct pen_svg *p = (struct pen_svg *)pen;
    put_count(p, "<clipPath id=\"c", ++p->n_clip, "\">");
    put_shape(p, clip);
    put_count(p, "/></clipPath>\n<g clip-path=\"url(#c", p->n_clip, ")\"");
    if (alpha < 1) put_attribute(p, "opacity", alpha);
    put(p, ">\n");
}

static void pop(struct pen *pen)
{
    put((struct pen_svg *)pen, "</g>\n");
}

/* ---- images --------------------------------------------------------------------------- */

/* Base 64 (RFC 4648, section 4) of a stream: up to two bytes wait for the third. */
struct base64 {
    struct pen_svg *p;
    unsigned char wait[3];
    int n;
};

static void put_triple(struct base64 *b)
{
    static const char sign[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    for (int i = b->n; i < 3; i++) b->wait[i] = 0;
    unsigned v = (unsigned)b->wait[0] << 16 | (unsigned)b->wait[1] << 8 | b->wait[2];
    char four[4];
    for (int i = 0; i < 4; i++) four[i] = sign[i > b->n ? 64 : v >> (18 - 6 * i) & 63u];
    put_bytes(b->p, four, sizeof four);
    b->n = 0;
}

static cairo_status_t put_base64(void *closure, const unsigned char *data, unsigned n)
{
    struct base64 *b = closure;
    for (unsigned i = 0; i < n; i++) {
        b->wait[b->n++] = data[i];
        if (b->n == 3) put_triple(b);
    }
    return b->p->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static void put_image(struct pen_svg *p, struct scene_rect box, cairo_surface_t *surface)
{
    put(p, "<image");
    put_attribute(p, "x", box.x);
    put_attribute(p, "y", box.y);
    put_attribute(p, "width", box.w);
    put_attribute(p, "height", box.h);
    put(p, " preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" "
           "style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,");
    struct base64 b = {.p = p};
    cairo_status_t s = cairo_surface_write_to_png_stream(surface, put_base64, &b);
    if (b.n) put_triple(&b);
    put(p, "\"/>\n");
    if (s != CAIRO_STATUS_SUCCESS && !p->failed)
        p->failed = !err_set(p->e, ERR_SYSTEM, "an image could not be made: %s",
                             cairo_status_to_string(s));
}

static struct scene_rgba unpacked(uint32_t v)
{
    uint32_t a = v >> 24, half = a / 2;
    return (struct scene_rgba){(uint8_t)(((v >> 16 & 255) * 255 + half) / a),
                               (uint8_t)(((v >> 8 & 255) * 255 + half) / a),
                               (uint8_t)(((v & 255) * 255 + half) / a), (uint8_t)a};
}

/* All pixels of one colour from `from` on as one path, a box for each run in a row. They
 * are cleared: done. */
static void put_color_of(struct pen_svg *p, struct scene_rect box, uint32_t *pixels,
                         int w, int n, int from)
{
    uint32_t color = pixels[from];
    int rows = n / w;
    float pw = box.w / (float)w, ph = box.h / (float)rows;
    put(p, "<path");
    put_color(p, "fill", unpacked(color));
    put(p, " d=\"");
    for (int i = from; i < n; i++) {
        if (pixels[i] != color) continue;
        int begin = i, row = i / w;
        while (i < n && pixels[i] == color && i / w == row) pixels[i++] = 0;
        float y = box.y + (float)row * ph;
        put_box(p, &(struct path_step){.kind = PATH_BOX,
                                       .x = box.x + (float)(begin % w) * pw,
                                       .y = y,
                                       .w = (float)(i - begin) * pw,
                                       .h = ph});
        i--;
    }
    put(p, "\"/>\n");
}

/* Some viewers, librsvg 2.54 among them, smooth an image that is enlarged whatever it says.
 * So large pixels are boxes; their edges are not smoothed, or seams would show. */
static void image(struct pen *pen, struct scene_rect box, cairo_surface_t *surface)
{
    struct pen_svg *p = (struct pen_svg *)pen;
    int w = cairo_image_surface_get_width(surface),
        h = cairo_image_surface_get_height(surface);
    bool large = fminf(box.w / (float)w, box.h / (float)h) >= PIXEL_MAX;
    if (!large || (int64_t)w * h > BOXES_MAX ||
        cairo_image_surface_get_stride(surface) != 4 * w) {
        put_image(p, box, surface);
        return;
    }
    uint32_t *pixels = (uint32_t *)(void *)cairo_image_surface_get_data(surface);
    put(p, "<g shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < w * h; i++)
        if (pixels[i] >> 24) put_color_of(p, box, pixels, w, w * h, i);
    put(p, "</g>\n");
}

/* ---- text ----------------------------------------------------------------------------- */

static void put_character(struct pen_svg *p, uint32_t code)
{
    char text[5];
    if (code == '&')
        put(p, "&amp;");
    else if (code == '<')
        put(p, "&lt;");
    else if (code == '>')
        put(p, "&gt;");
    else
        put_bytes(p, text, (size_t)utf8_put(text, code));
}

/* Opens a text element; the family comes from a font file and is not trusted. */
static void begin_text(struct pen_svg *p, const struct pen_text *t, int face)
{
    const struct font_face *f = &p->pen.fonts->face[face];
    bool mono = t->font == FONT_MONO || t->font == FONT_MONO_BOLD;
    put(p, "<text font-family=\"'");
    for (const char *at = f->family; *at;) {
        uint32_t code = utf8_next(&at);
        if (code != '\'' && code != '"') put_character(p, code);
    }
    put(p, mono ? "', monospace\"" : "', sans-serif\"");
    put_attribute(p, "font-size", t->size);
    if (f->weight != 400) put_attribute(p, "font-weight", (float)f->weight);
    put_color(p, "fill", t->color);
}

/* One glyph, fitted into its room; its marks may follow it. The caller ends the element. */
static void put_alone(struct pen_svg *p, const struct pen_text *t, float x,
                      struct font_glyph g, uint32_t code)
{
    begin_text(p, t, g.face);
    put(p, " transform=\"matrix(");
    put_number(p, g.squeeze);
    put_pair(p, " 0 0 1 ", x + g.shift * t->size, t->y);
    put(p, ")\">");
    put_character(p, code);
}

/* A text of words, of which none lacks a glyph and none is read from the right. */
static float put_words(struct pen_svg *p, const struct pen_text *t, float x,
                       const struct scene_glyph *g, int n)
{
    if (n == 0) return x;
    begin_text(p, t, (int)t->font);
    put_attribute(p, "y", t->y);
    put(p, ">");
    for (int at = 0; at < n;) {
        int word = at, stop = at;
        put(p, "<tspan x=\"");
        for (bool spaced = false; stop < n; stop++) { /* and the spaces behind it */
            if (spaced && g[stop].code != ' ') break;
            spaced = g[stop].code == ' ';
            if (stop > word) put(p, " ");
            put_number(p, x);
            x += g[stop].advance * t->size;
        }
        put(p, "\">");
        while (at < stop) put_character(p, g[at++].code);
        put(p, "</tspan>");
    }
    put(p, "</text>\n");
    return x;
}

/* A viewer orders and joins letters by itself, which here is done: those that are read from
 * the right stand alone, each in its place with its marks, so that nothing is left to be
 * ordered. */
static void text_along(struct pen_svg *p, const struct pen_text *t)
{
    static const char end[] = "</text>\n";
    struct pen *pen = &p->pen;
    float x = t->x;
    struct scene_glyphs all;
    struct scene_glyph word[WORDS], each;
    int n = 0;
    bool open = false; /* a glyph's element */
    scene_glyphs_begin(&all, pen->metrics, t->font, t->text, -1);
    while (scene_glyphs_next(&all, &each)) {
        if (open && each.advance == 0) {
            put_character(p, each.code);
            continue;
        }
        if (open) put(p, end);
        open = false;
        struct font_glyph g = faces_glyph(pen->fonts, t->font, each.code, each.room);
        bool alone = each.rtl || g.face != (int)t->font;
        if (!alone) word[n++] = each;
        if (alone || n == WORDS) {
            x = put_words(p, t, x, word, n);
            n = 0;
        }
        if (!alone) continue;
        open = each.code != ' ';
        if (open) put_alone(p, t, x + (each.advance - each.room) * t->size, g, each.code);
        x += each.advance * t->size;
    }
    if (open) put(p, end);
    (void)put_words(p, t, x, word, n);
}

/* ---- the document ---------------------------------------------------------------------- */

static void text(struct pen *pen, const struct pen_text *t)
{
    struct pen_svg *p = (struct pen_svg *)pen;
    if (!t->turned) {
        text_along(p, t);
        return;
    }
    struct pen_text flat = *t;
    flat.x = flat.y = 0;
    put_pair(p, "<g transform=\"matrix(0 -1 1 0 ", t->x, t->y);
    put(p, ")\">\n");
    text_along(p, &flat);
    put(p, "</g>\n");
}

static const struct pen_kind kind = {fill, stroke, text, image, push, pop};

void pen_svg_begin(struct pen_svg *p, struct file_out *out, struct faces *fonts,
                   const struct font_metrics *metrics, const struct pen_svg_head *head,
                   struct err *e)
{
    *p = (struct pen_svg){.pen = {&kind, fonts, metrics, 0, {0}}, .out = out, .e = e};
    put(p, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<svg xmlns=\"http://www.w3.org/2000/svg\" "
           "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"");
    put_number(p, head->w);
    put(p, head->unit);
    put(p, "\" height=\"");
    put_number(p, head->h);
    put(p, head->unit);
    put(p, "\" viewBox=\"");
    put_number(p, head->view.x);
    put(p, " ");
    put_number(p, head->view.y);
    put(p, " ");
    put_number(p, head->view.w);
    put(p, " ");
    put_number(p, head->view.h);
    /* Glyphs as the window draws them: one by one, no pairs, no joined signs. */
    put(p, "\" xml:space=\"preserve\">\n<style>text { font-kerning: none; "
           "font-variant-ligatures: none; white-space: pre }</style>\n");
}

bool pen_svg_end(struct pen_svg *p)
{
    put(p, "</svg>\n");
    return !p->failed;
}
