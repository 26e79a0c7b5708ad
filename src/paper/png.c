/* Pictures as PNG files. cairo encodes and decodes; sizes of a file are checked before it
 * is given to cairo. */
#include "png.h"

#include "paper.h"

#include <cairo.h>
#include <math.h>
#include <string.h>

/* No row of numbers deflates by more than about 1000; a PNG that says it holds more
 * pixels than that allows is not decoded. The file may be this long a pixel. */
enum { PNG_HEAD = 33, PNG_BYTES_PER_PIXEL = 9, PNG_SLACK = 1 << 16 };
static const float INCH_MM = 25.4f;

struct sink {
    struct file_out out;
    struct err *e;
    float dpi;
    size_t head; /* bytes of the signature and the header chunk that have passed */
    bool failed; /* *e says why */
};

static void put_big_endian(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* PNG specification, annex D: CRC with the polynomial 0xEDB88320, reflected. */
static uint32_t crc_of(const unsigned char *data, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= data[i];
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    return ~c;
}

/* The chunk that says how large a pixel is (PNG specification, 11.3.5.3). */
static bool put_density(struct sink *s)
{
    unsigned char chunk[21] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    uint32_t per_metre = (uint32_t)lroundf(s->dpi / INCH_MM * 1000.0f);
    put_big_endian(chunk + 8, per_metre);
    put_big_endian(chunk + 12, per_metre);
    chunk[16] = 1; /* metres */
    put_big_endian(chunk + 17, crc_of(chunk + 4, 13));
    return file_put(&s->out, chunk, sizeof chunk, s->e);
}

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned n)
{
    struct sink *s = closure;
    if (s->head < PNG_HEAD && s->dpi > 0 && !s->failed) {
        unsigned part = (unsigned)(PNG_HEAD - s->head);
        if (part > n) part = n;
        s->failed = !file_put(&s->out, data, part, s->e);
        s->head += part;
        data += part;
        n -= part;
        if (!s->failed && s->head == PNG_HEAD) s->failed = !put_density(s);
    }
    if (!s->failed) s->failed = !file_put(&s->out, data, n, s->e);
    return s->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

bool png_file(cairo_surface_t *surface, const char *path, float dpi, struct err *e)
{
    struct sink s = {.e = e, .dpi = dpi};
    if (!file_begin(&s.out, path, e)) return false;
    cairo_status_t status = cairo_surface_write_to_png_stream(surface, collect, &s);
    if (status == CAIRO_STATUS_SUCCESS) return file_end(&s.out, e);
    file_drop(&s.out);
    if (s.failed) return false;
    return err_set(e, ERR_SYSTEM, "%s: no PNG could be made: %s", path,
                   cairo_status_to_string(status));
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
    return png_file(surface, path, 0, e);
}

bool paper_png_write(const char *path, const uint8_t *rgba, int w, int h, struct err *e)
{
    if (w < 1 || h < 1 || w > PNG_SIDE_MAX || h > PNG_SIDE_MAX)
        return err_set(e, ERR_USAGE, "%s: a picture of %d x %d pixels; at most %d a side",
                       path, w, h, PNG_SIDE_MAX);
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
    bool ok = false, full = status == CAIRO_STATUS_NO_MEMORY;
    if (status != CAIRO_STATUS_SUCCESS && !full) {
        (void)err_set(e, ERR_INPUT, "%s: the PNG is damaged or cut short", path);
    } else if (!full &&
               (cairo_image_surface_get_width(s) != w ||
                cairo_image_surface_get_height(s) != h ||
                (format != CAIRO_FORMAT_ARGB32 && format != CAIRO_FORMAT_RGB24))) {
        (void)err_set(e, ERR_INPUT, "%s: PNGs of 8 bits a channel are read, not this one",
                      path);
    } else if (full || !(*rgba = arena_push(mem, (size_t)w * (size_t)h, 4))) {
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
    if (max_pixels < 1 || max_pixels > (int64_t)PNG_SIDE_MAX * PNG_SIDE_MAX)
        return err_set(e, ERR_USAGE, "%s: at most %d x %d pixels can be read", path,
                       PNG_SIDE_MAX, PNG_SIDE_MAX);
    size_t most = (size_t)max_pixels * PNG_BYTES_PER_PIXEL + PNG_SLACK;
    struct arena file;
    if (!arena_init(&file, most + 64, e)) return false;
    char *data = NULL;
    size_t n = 0;
    uint32_t fw = 0, fh = 0;
    bool ok = file_read(path, most, &file, &data, &n, e);
    if (ok && !header_size(data, n, &fw, &fh))
        ok = err_set(e, ERR_INPUT, "%s: is not a PNG file", path);
    if (ok && (fw > PNG_SIDE_MAX || fh > PNG_SIDE_MAX || (int64_t)fw * fh > max_pixels))
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
