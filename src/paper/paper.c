/* Pictures as PNG files. cairo encodes and decodes; sizes of a file are checked before it
 * is given to cairo. */
#include "paper.h"

#include <cairo.h>
#include <string.h>

/* No row of numbers deflates by more than about 1000; a PNG that says it holds more
 * pixels than that allows is not decoded. The file may be this long a pixel. */
enum { PNG_HEAD = 33, PNG_BYTES_PER_PIXEL = 9, PNG_SLACK = 1 << 16, SIDE_MAX = 32767 };

struct sink {
    struct arena *mem;
    size_t n;
    bool full;
};

/* The arena holds nothing else, so pushes of whole bytes are kept contiguous by hand. */
static cairo_status_t collect(void *closure, const unsigned char *data, unsigned n)
{
    struct sink *s = closure;
    if (n > s->mem->size - s->n) {
        s->full = true;
        return CAIRO_STATUS_WRITE_ERROR;
    }
    memcpy(s->mem->data + s->n, data, n);
    s->n += n;
    return CAIRO_STATUS_SUCCESS;
}

/* c * a / 255, rounded. */
static uint32_t times(uint32_t c, uint32_t a)
{
    return (c * a + 127) / 255;
}

static void to_cairo(uint32_t *to, const uint8_t *rgba, int n)
{
    for (int i = 0; i < n; i++, rgba += 4) {
        uint32_t a = rgba[3];
        to[i] = a << 24 | times(rgba[0], a) << 16 | times(rgba[1], a) << 8 |
                times(rgba[2], a);
    }
}

static uint8_t over(uint32_t c, uint32_t a)
{
    uint32_t v = a ? (c * 255 + a / 2) / a : 0;
    return (uint8_t)(v > 255 ? 255 : v);
}

static void from_cairo(uint8_t *rgba, const uint32_t *from, int n, bool opaque)
{
    for (int i = 0; i < n; i++, rgba += 4) {
        uint32_t p = from[i], a = opaque ? 255 : p >> 24;
        rgba[0] = over(p >> 16 & 255, a);
        rgba[1] = over(p >> 8 & 255, a);
        rgba[2] = over(p & 255, a);
        rgba[3] = (uint8_t)a;
    }
}

static bool encode(cairo_surface_t *surface, const char *path, const uint8_t *rgba, int w,
                   int h, struct err *e)
{
    cairo_surface_flush(surface);
    unsigned char *pixels = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < h; y++)
        to_cairo((uint32_t *)(void *)(pixels + (ptrdiff_t)y * stride),
                 rgba + (size_t)y * (size_t)w * 4, w);
    cairo_surface_mark_dirty(surface);
    struct arena mem;
    size_t room = (size_t)w * (size_t)h * PNG_BYTES_PER_PIXEL / 2 + PNG_SLACK;
    if (!arena_init(&mem, room, e)) return false;
    struct sink sink = {&mem, 0, false};
    cairo_status_t s = cairo_surface_write_to_png_stream(surface, collect, &sink);
    bool ok = s == CAIRO_STATUS_SUCCESS;
    if (ok)
        ok = file_write(path, mem.data, sink.n, e);
    else
        (void)err_set(e, ERR_SYSTEM, "%s: no PNG could be made: %s", path,
                      sink.full ? "it grew too large" : cairo_status_to_string(s));
    arena_free(&mem);
    return ok;
}

bool paper_png_write(const char *path, const uint8_t *rgba, int w, int h, struct err *e)
{
    if (w < 1 || h < 1 || w > SIDE_MAX || h > SIDE_MAX)
        return err_set(e, ERR_USAGE, "%s: a picture of %d x %d pixels; at most %d a side",
                       path, w, h, SIDE_MAX);
    /* A picture without transparency is stored without it: half the file's channels. */
    bool opaque = true;
    for (size_t i = 0; opaque && i < (size_t)w * (size_t)h; i++)
        opaque = rgba[4 * i + 3] == 255;
    cairo_surface_t *surface = cairo_image_surface_create(
        opaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32, w, h);
    bool ok = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
    if (ok)
        ok = encode(surface, path, rgba, w, h, e);
    else
        (void)err_set(e, ERR_SYSTEM, "%s: no memory for %d x %d pixels", path, w, h);
    cairo_surface_destroy(surface);
    return ok;
}

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The sizes in the header chunk, which is always first (PNG specification, 11.2.2). */
static bool header_size(const char *data, size_t n, uint32_t *w, uint32_t *h)
{
    static const unsigned char magic[16] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                            0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    if (n < PNG_HEAD || memcmp(data, magic, sizeof magic) != 0) return false;
    *w = big_endian((const unsigned char *)data + sizeof magic);
    *h = big_endian((const unsigned char *)data + sizeof magic + 4);
    return *w > 0 && *h > 0;
}

struct source {
    const char *data;
    size_t left;
};

static cairo_status_t supply(void *closure, unsigned char *to, unsigned n)
{
    struct source *s = closure;
    if (n > s->left) return CAIRO_STATUS_READ_ERROR;
    memcpy(to, s->data, n);
    s->data += n;
    s->left -= n;
    return CAIRO_STATUS_SUCCESS;
}

static bool decode(const char *path, const char *data, size_t n, struct arena *mem,
                   uint8_t **rgba, int w, int h, struct err *e)
{
    struct source source = {data, n};
    cairo_surface_t *s = cairo_image_surface_create_from_png_stream(supply, &source);
    cairo_status_t status = cairo_surface_status(s);
    cairo_format_t format = cairo_image_surface_get_format(s);
    bool ok = false;
    if (status == CAIRO_STATUS_NO_MEMORY) {
        (void)err_set(e, ERR_SYSTEM, "%s: no memory for %d x %d pixels", path, w, h);
    } else if (status != CAIRO_STATUS_SUCCESS) {
        (void)err_set(e, ERR_INPUT, "%s: the PNG is damaged or cut short", path);
    } else if (cairo_image_surface_get_width(s) != w ||
               cairo_image_surface_get_height(s) != h ||
               (format != CAIRO_FORMAT_ARGB32 && format != CAIRO_FORMAT_RGB24)) {
        (void)err_set(e, ERR_INPUT, "%s: PNGs of 8 bits a channel are read, not this one",
                      path);
    } else if (!(*rgba = arena_push(mem, (size_t)w * (size_t)h, 4))) {
        (void)err_set(e, ERR_SYSTEM, "%s: no memory for %d x %d pixels", path, w, h);
    } else {
        cairo_surface_flush(s);
        const unsigned char *pixels = cairo_image_surface_get_data(s);
        int stride = cairo_image_surface_get_stride(s);
        for (int y = 0; y < h; y++)
            from_cairo(*rgba + (size_t)y * (size_t)w * 4,
                       (const uint32_t *)(const void *)(pixels + (ptrdiff_t)y * stride),
                       w, format == CAIRO_FORMAT_RGB24);
        ok = true;
    }
    cairo_surface_destroy(s);
    return ok;
}

bool paper_png_read(const char *path, struct arena *mem, int64_t max_pixels,
                    uint8_t **rgba, int *w, int *h, struct err *e)
{
    if (max_pixels < 1 || max_pixels > (int64_t)SIDE_MAX * SIDE_MAX)
        return err_set(e, ERR_USAGE, "%s: at most %d x %d pixels can be read", path,
                       SIDE_MAX, SIDE_MAX);
    size_t most = (size_t)max_pixels * PNG_BYTES_PER_PIXEL + PNG_SLACK;
    struct arena file;
    if (!arena_init(&file, most + 64, e)) return false;
    char *data = NULL;
    size_t n = 0;
    uint32_t fw = 0, fh = 0;
    bool ok = file_read(path, most, &file, &data, &n, e);
    if (ok && !header_size(data, n, &fw, &fh))
        ok = err_set(e, ERR_INPUT, "%s: is not a PNG file", path);
    if (ok && (fw > SIDE_MAX || fh > SIDE_MAX || (int64_t)fw * fh > max_pixels))
        ok = err_set(e, ERR_INPUT, "%s: %u x %u pixels; at most %lld are read", path, fw,
                     fh, (long long)max_pixels);
    if (ok) ok = decode(path, data, n, mem, rgba, (int)fw, (int)fh, e);
    if (ok) {
        *w = (int)fw;
        *h = (int)fh;
    }
    arena_free(&file);
    return ok;
}
