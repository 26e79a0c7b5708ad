/* Pages: how large, in what format, and who draws them. */
#include "paper.h"

#include "paint.h"
#include "pen.h"
#include "png.h"

#include <cairo-pdf.h>
#include <math.h>
#include <string.h>

static const float INCH_MM = 25.4f, PX_INCH = 96, PDF_INCH = 72, PRINT_DPI = 300;
enum { SIDE_MAX_VECTOR = 14400 }; /* PDF reference 1.7, annex C: units a page side */

struct paper {
    struct arena mem;
    struct faces fonts;
    struct font_metrics metrics;
};

bool paper_create(struct paper **out, struct err *e)
{
    struct arena mem;
    if (!arena_init(&mem, sizeof(struct paper), e)) return false;
    struct paper *p = arena_push(&mem, 1, sizeof *p);
    p->mem = mem;
    if (!faces_init(&p->fonts, &p->metrics, e)) {
        arena_free(&mem);
        return false;
    }
    *out = p;
    return true;
}

void paper_destroy(struct paper *p)
{
    if (!p) return;
    faces_fini(&p->fonts);
    struct arena mem = p->mem;
    arena_free(&mem);
}

const struct font_metrics *paper_metrics(const struct paper *p)
{
    return &p->metrics;
}

/* ---- sizes ------------------------------------------------------------------------------ */

/* A page laid out: the part of the scene it shows, in the middle of what it spans. */
struct sheet {
    struct scene_rect part, span; /* points of the scene */
    float w, h;                   /* in the page's unit */
    float scale;                  /* of that unit, a point of the scene */
    float unit_inch;              /* of that unit, an inch */
};

static bool is_size(float v)
{
    return v >= 0 && v < 1e6f; /* NaN is none */
}

static bool lay_out(struct sheet *s, const struct scene *sc,
                    const struct paper_page *page, struct err *e)
{
    struct scene_rect part = page->part;
    if (!(part.w > 0) || !(part.h > 0)) part = (struct scene_rect){0, 0, sc->w, sc->h};
    if (!is_size(page->w) || !is_size(page->h) || !is_size(page->scale) ||
        !is_size(page->dpi) || !is_size(part.w) || !is_size(part.h))
        return err_set(e, ERR_USAGE, "a picture's size is a number from 0 to 1,000,000");
    float unit_inch = page->unit == PAPER_MM ? INCH_MM : PX_INCH;
    float scale = (page->scale > 0 ? page->scale : 1) * unit_inch / PX_INCH;
    if (page->w > 0 && page->h > 0)
        scale = fminf(page->w / part.w, page->h / part.h);
    else if (page->w > 0)
        scale = page->w / part.w;
    else if (page->h > 0)
        scale = page->h / part.h;
    float w = page->w > 0 ? page->w : part.w * scale;
    float h = page->h > 0 ? page->h : part.h * scale;
    struct scene_rect span = {part.x + (part.w - w / scale) / 2,
                              part.y + (part.h - h / scale) / 2, w / scale, h / scale};
    *s = (struct sheet){part, span, w, h, scale, unit_inch};
    return true;
}

static bool bad_side(const char *path, double w, double h, int most, const char *unit,
                     struct err *e)
{
    if (w >= 0.5 && h >= 0.5 && w <= most && h <= most) return false;
    (void)err_set(e, ERR_USAGE, "%s: a picture of %.0f x %.0f %s; a side is from 1 to %d",
                  path, w, h, unit, most);
    return true;
}

static void lay_paper(cairo_t *cr, const struct scene *sc)
{
    struct scene_rgba c = scene_theme_get(sc->theme)->paper;
    cairo_set_source_rgb(cr, c.r / 255.0, c.g / 255.0, c.b / 255.0);
    cairo_paint(cr);
}

/* Everything between an open surface and its end. */
static bool paint_cairo(struct paper *p, const struct scene *sc, const struct sheet *s,
                        bool transparent, cairo_t *cr, float density, struct err *e)
{
    struct arena mem;
    struct pen_cairo pen;
    if (!arena_init(&mem, paint_bytes() + 64, e)) return false;
    if (!transparent) lay_paper(cr, sc);
    cairo_translate(cr, (double)-s->span.x, (double)-s->span.y);
    pen_cairo_init(&pen, cr, &p->fonts, sc->font, density);
    bool ok = paint_scene(&pen.pen, sc, s->part, &mem, e);
    arena_free(&mem);
    cairo_status_t status = cairo_status(cr);
    if (ok && status != CAIRO_STATUS_SUCCESS)
        ok = err_set(e, ERR_SYSTEM, "no picture could be made: %s",
                     cairo_status_to_string(status));
    return ok;
}

/* ---- PNG ---------------------------------------------------------------------------------- */

static bool write_png(struct paper *p, const struct scene *sc, const struct sheet *s,
                      const struct paper_page *page, const char *path, struct err *e)
{
    float dpi = page->unit != PAPER_MM ? 0 : page->dpi > 0 ? page->dpi : PRINT_DPI;
    float pixels = dpi > 0 ? dpi / INCH_MM : 1; /* a unit of the page */
    double w = round((double)(s->w * pixels)), h = round((double)(s->h * pixels));
    if (bad_side(path, w, h, PNG_SIDE_MAX, "pixels", e)) return false;
    float density = s->scale * pixels;
    cairo_surface_t *surface = cairo_image_surface_create(
        page->transparent ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, (int)w, (int)h);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(surface);
        return err_set(e, ERR_SYSTEM, "%s: no memory for %.0f x %.0f pixels", path, w, h);
    }
    /* The grid of pixels begins at the scene's origin, whatever part is shown. */
    struct sheet on_grid = *s;
    on_grid.span.x = roundf(s->span.x * density) / density;
    on_grid.span.y = roundf(s->span.y * density) / density;
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, (double)density, (double)density);
    bool ok = paint_cairo(p, sc, &on_grid, page->transparent, cr, density, e);
    cairo_destroy(cr);
    if (ok) ok = png_file(surface, path, dpi, e);
    cairo_surface_destroy(surface);
    return ok;
}

/* ---- PDF ---------------------------------------------------------------------------------- */

struct pdf_sink {
    struct file_out out;
    struct err *e;
    bool failed;
};

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned n)
{
    struct pdf_sink *s = closure;
    if (!s->failed) s->failed = !file_put(&s->out, data, n, s->e);
    return s->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static bool write_pdf(struct paper *p, const struct scene *sc, const struct sheet *s,
                      const struct paper_page *page, const char *path, struct err *e)
{
    double unit = (double)(PDF_INCH / s->unit_inch);
    double w = (double)s->w * unit, h = (double)s->h * unit;
    if (bad_side(path, w, h, SIDE_MAX_VECTOR, "points of 1/72 inch", e)) return false;
    struct pdf_sink sink = {.e = e};
    if (!file_begin(&sink.out, path, e)) return false;
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(collect, &sink, w, h);
    /* No date: the same scene gives the same bytes. */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Headlight");
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, (double)s->scale * unit, (double)s->scale * unit);
    bool ok = paint_cairo(p, sc, s, page->transparent, cr, 0, e);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (ok && !sink.failed && status != CAIRO_STATUS_SUCCESS)
        ok = err_set(e, ERR_SYSTEM, "%s: no PDF could be made: %s", path,
                     cairo_status_to_string(status));
    if (ok && !sink.failed) return file_end(&sink.out, e);
    file_drop(&sink.out);
    return false;
}

/* ---- SVG ---------------------------------------------------------------------------------- */

static bool write_svg(struct paper *p, const struct scene *sc, const struct sheet *s,
                      const struct paper_page *page, const char *path, struct err *e)
{
    if (bad_side(path, (double)s->w, (double)s->h, 1000000, "units", e)) return false;
    struct file_out out;
    struct arena mem;
    if (!arena_init(&mem, paint_bytes() + 256, e)) return false;
    if (!file_begin(&out, path, e)) {
        arena_free(&mem);
        return false;
    }
    struct pen_svg pen;
    struct pen_svg_head head = {s->w, s->h, page->unit == PAPER_MM ? "mm" : "", s->span};
    pen_svg_begin(&pen, &out, &p->fonts, sc->font, &head, e);
    if (!page->transparent) {
        struct path_step step;
        struct path path_all = {.at = &step, .room = 1};
        path_box(&path_all, s->span, 0);
        pen.pen.k->fill(&pen.pen, &path_all, scene_theme_get(sc->theme)->paper);
    }
    bool ok = paint_scene(&pen.pen, sc, s->part, &mem, e) && pen_svg_end(&pen);
    arena_free(&mem);
    if (ok) return file_end(&out, e);
    file_drop(&out);
    return false;
}

/* ------------------------------------------------------------------------------------------- */

bool paper_write(struct paper *p, const struct scene *sc, const struct paper_page *page,
                 enum paper_format format, const char *path, struct err *e)
{
    struct sheet s = {0};
    if (!lay_out(&s, sc, page, e)) return false;
    switch (format) {
    case PAPER_PNG:
        return write_png(p, sc, &s, page, path, e);
    case PAPER_SVG:
        return write_svg(p, sc, &s, page, path, e);
    case PAPER_PDF:
        break;
    }
    return write_pdf(p, sc, &s, page, path, e);
}
