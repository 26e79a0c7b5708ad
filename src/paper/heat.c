#include "heat.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The shader's numbers (heat.frag, draw.c): points, or pixels where a cell is compared. */
static const float DASH = 3, HATCH = 6, HATCH_WIDTH = 1;
static const float DASH_MIN = 12, GAP_SHARE = 0.12f, RADIUS_SHARE = 0.2f;
/* Vectors: cells below this are joined, and as many boxes are worth having. */
static const float CELL_MIN = 0.25f;
enum { CELLS_MAX = 1 << 14 };

/* ---- values --------------------------------------------------------------------------- */

/* What shows of cells first .. last, both inside. */
struct seen {
    int32_t magnitude; /* bits of the largest |value|, -1: none */
    float value;
    bool masked; /* a masked cell is among them */
};

struct cells {
    int row0, row1, col0, col1;
};

/* Bits of |v|: as integers they order finite magnitudes, then infinity, then NaN. */
static int32_t rank(float v)
{
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffff;
}

static bool is_shown(const struct scene_heat *h, int i, int j)
{
    return (int64_t)(i - h->row0) * (h->col1 - h->col0) + (j - h->col0) < h->shown;
}

static bool is_masked(const struct scene_heat *h, int i, int j)
{
    return h->mask_from != INT_MAX && j - i >= h->mask_from;
}

static struct seen look(const struct scene_heat *h, struct cells c)
{
    struct seen s = {-1, 0, false};
    for (int i = c.row0; i < c.row1; i++) {
        const float *row = h->m.data + (ptrdiff_t)i * h->m.ld;
        for (int j = c.col0; j < c.col1; j++) {
            if (!is_shown(h, i, j)) return s; /* nor is any cell behind it in the row */
            if (is_masked(h, i, j)) {
                s.masked = true;
                break;
            }
            int32_t m = rank(row[j]);
            if (m <= s.magnitude) continue;
            s.magnitude = m;
            s.value = row[j];
        }
    }
    return s;
}

static struct scene_rgba color_of(const struct scene_heat *h, const struct scene_theme *t,
                                  float value)
{
    return scene_map_color(t, h->map, h->lo, h->hi, h->log, value * h->gain);
}

static float alpha_of(const struct scene_heat *h, struct cells c)
{
    bool focus = c.col0 < h->focus_col1 && c.row0 < h->focus_row1 &&
                 c.col1 > h->focus_col0 && c.row1 > h->focus_row0;
    return focus ? h->alpha : h->alpha * h->dim;
}

/* Premultiplied, as cairo keeps it; alpha in 0 .. 1. */
static uint32_t packed(struct scene_rgba c, float alpha)
{
    float a = (float)c.a / 255.0f * alpha;
    const uint8_t part[3] = {c.r, c.g, c.b};
    uint32_t v = (uint32_t)lrintf(a * 255.0f);
    for (int i = 0; i < 3; i++) v = v << 8 | (uint32_t)lrintf((float)part[i] * a);
    return v;
}

static int clamp_int(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static cairo_surface_t *new_image(int w, int h)
{
    return cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h);
}

static uint32_t *image_row(cairo_surface_t *s, int y)
{
    return (uint32_t *)(void *)(cairo_image_surface_get_data(s) +
                                (ptrdiff_t)y * cairo_image_surface_get_stride(s));
}

static bool finish(struct pen *pen, cairo_surface_t *s, struct scene_rect box)
{
    bool ok = cairo_surface_status(s) == CAIRO_STATUS_SUCCESS;
    if (ok) {
        cairo_surface_mark_dirty(s);
        pen->k->image(pen, box, s);
    }
    cairo_surface_destroy(s);
    return ok;
}

/* ---- pixels ---------------------------------------------------------------------------- */

/* One axis of a matrix on a grid of pixels. */
struct axis {
    float origin, cell; /* pixels: where cell 0 begins, how wide it is */
    int first, last;    /* drawn cells: the first, the one behind the last */
    float begin, end;   /* the drawn part on whole pixels */
};

static float whole(float v)
{
    return floorf(v + 0.5f);
}

static struct axis axis_of(float origin, float cell, int first, int last, float density)
{
    struct axis a = {origin * density, cell * density, first, last, 0, 0};
    a.begin = whole((origin + (float)first * cell) * density);
    a.end = fmaxf(whole((origin + (float)last * cell) * density), a.begin + 1);
    return a;
}

/* The cells that pixel p shows. Where they are at least a pixel wide that is the one its
 * centre is in; else all below it, and below what rounding to pixels cut off. */
static void cells_at(const struct axis *a, float p, int *first, int *last)
{
    if (a->cell >= 1) {
        *first = *last = (int)floorf((p + 0.5f - a->origin) / a->cell);
    } else {
        *first = (int)floorf((p - a->origin) / a->cell);
        *last = (int)ceilf((p + 1 - a->origin) / a->cell) - 1;
        if (p <= a->begin) *first = a->first;
        if (p + 1 >= a->end) *last = a->last - 1;
    }
    *first = clamp_int(*first, a->first, a->last - 1);
    *last = clamp_int(*last, *first, a->last - 1);
}

/* A cell's box on whole pixels, without its share of the gap: middle and half width. */
static void cell_box(const struct axis *a, int cell, float gap, float *middle,
                     float *half)
{
    float low = whole(a->origin + (float)cell * a->cell) + floorf(gap / 2);
    float high = whole(a->origin + (float)(cell + 1) * a->cell) - ceilf(gap / 2);
    *middle = (low + high) / 2;
    *half = (high - low) / 2;
}

/* How the matrix is drawn at a density: as draw.c decides. */
struct look_of {
    float density, gap, radius; /* pixels */
    bool dashes;
};

static struct look_of look_for(const struct scene_heat *h, float density)
{
    float side = fminf(h->cell_w, h->cell_h) * density;
    struct look_of l = {density, whole(fminf(h->gap * density, side * GAP_SHARE)),
                        fminf(h->radius * density, side * RADIUS_SHARE),
                        side >= DASH_MIN};
    if (side < DASH_MIN / 2) l.gap = l.radius = 0;
    return l;
}

static float modulo(float v, float by)
{
    return v - by * floorf(v / by);
}

/* The colour of pixel (px, py), whose place in its cell is d pixels from the edge. */
static struct scene_rgba pixel_color(const struct scene_heat *h,
                                     const struct scene_theme *t, struct look_of l,
                                     struct seen s, float px, float py, float d,
                                     bool on_side)
{
    if (s.magnitude >= 0) return color_of(h, t, s.value);
    if (s.masked) {
        float period = HATCH * l.density;
        float off = fabsf(modulo(px + py, period) - period / 2) * sqrtf(0.5f);
        float in = 0.5f + 0.5f * HATCH_WIDTH * l.density - off;
        return scene_mix(t->mask, t->hatch, fminf(fmaxf(in, 0), 1));
    }
    if (l.dashes && d > -l.density &&
        modulo(on_side ? py : px, 2 * DASH * l.density) < DASH * l.density)
        return t->empty_line;
    return t->empty;
}

static uint32_t pixel(const struct scene_heat *h, const struct scene_theme *t,
                      struct look_of l, const struct axis *x, const struct axis *y,
                      float px, float py)
{
    struct cells c;
    float cx, cy, hw, hh;
    cells_at(x, px, &c.col0, &c.col1);
    cells_at(y, py, &c.row0, &c.row1);
    cell_box(x, c.col0, l.gap, &cx, &hw);
    cell_box(y, c.row0, l.gap, &cy, &hh);
    c.col1++;
    c.row1++;
    float qx = fabsf(px + 0.5f - cx) - hw + l.radius;
    float qy = fabsf(py + 0.5f - cy) - hh + l.radius;
    float d = hypotf(fmaxf(qx, 0), fmaxf(qy, 0)) + fminf(fmaxf(qx, qy), 0) - l.radius;
    float cover = l.gap + l.radius > 0 ? fminf(fmaxf(0.5f - d, 0), 1) : 1;
    if (cover <= 0) return 0;
    struct scene_rgba color = pixel_color(h, t, l, look(h, c), px, py, d, qx > qy);
    return packed(color, cover * alpha_of(h, c));
}

static bool draw_pixels(struct pen *pen, const struct scene_heat *h,
                        const struct scene_theme *t, struct scene_rect box)
{
    float d = pen->density;
    struct look_of l = look_for(h, d);
    struct axis x = axis_of(h->x, h->cell_w, h->col0, h->col1, d);
    struct axis y = axis_of(h->y, h->cell_h, h->row0, h->row1, d);
    int x0 = (int)fmaxf(x.begin, floorf(box.x * d)),
        x1 = (int)fminf(x.end, ceilf((box.x + box.w) * d));
    int y0 = (int)fmaxf(y.begin, floorf(box.y * d)),
        y1 = (int)fminf(y.end, ceilf((box.y + box.h) * d));
    if (x0 >= x1 || y0 >= y1) return true;
    cairo_surface_t *s = new_image(x1 - x0, y1 - y0);
    for (int py = y0; cairo_surface_status(s) == CAIRO_STATUS_SUCCESS && py < y1; py++) {
        uint32_t *row = image_row(s, py - y0);
        for (int px = x0; px < x1; px++)
            row[px - x0] = pixel(h, t, l, &x, &y, (float)px, (float)py);
    }
    return finish(pen, s,
                  (struct scene_rect){(float)x0 / d, (float)y0 / d, (float)(x1 - x0) / d,
                                      (float)(y1 - y0) / d});
}

/* ---- vectors ----------------------------------------------------------------------------- */

static struct scene_rect box_of(const struct scene_heat *h, struct cells c)
{
    return (struct scene_rect){
        h->x + (float)c.col0 * h->cell_w, h->y + (float)c.row0 * h->cell_h,
        (float)(c.col1 - c.col0) * h->cell_w, (float)(c.row1 - c.row0) * h->cell_h};
}

static struct scene_rect inset(struct scene_rect r, float by)
{
    return (struct scene_rect){r.x + by, r.y + by, r.w - 2 * by, r.h - 2 * by};
}

static void clear(struct path *path)
{
    path->n = 0;
}

/* Lines along x + y = constant over what path encloses; box holds it. They lie where a
 * window of one pixel a point has them. */
static void hatch(struct pen *pen, const struct scene_theme *t, struct path *path,
                  struct scene_rect box, float alpha)
{
    if (path->n == 0) return;
    pen->k->push(pen, path, alpha);
    clear(path);
    path_box(path, box, 0);
    pen->k->fill(pen, path, t->mask);
    clear(path);
    float right = box.x + box.w, low = box.y + box.h;
    float begin = floorf((box.x + box.y) / HATCH - 1) * HATCH + HATCH / 2 + 1;
    for (float sum = begin; sum < right + low + HATCH; sum += HATCH) {
        float x = fminf(sum - box.y, right) + HATCH, y = fminf(sum - box.x, low) + HATCH;
        path_move(path, x, sum - x);
        path_line(path, sum - y, y);
    }
    pen->k->stroke(pen, path, HATCH_WIDTH, 0, t->hatch);
    pen->k->pop(pen);
    clear(path);
}

enum what { CELL_EMPTY, CELL_MASKED, CELL_VALUE };

static enum what what_is(const struct scene_heat *h, int i, int j)
{
    if (!is_shown(h, i, j)) return CELL_EMPTY;
    return is_masked(h, i, j) ? CELL_MASKED : CELL_VALUE;
}

/* Collects the boxes of the cells of one kind and one alpha, made smaller by `by`. */
static void collect(struct path *path, const struct scene_heat *h, struct cells part,
                    enum what what, bool focus, float by, float radius)
{
    clear(path);
    for (int i = part.row0; i < part.row1; i++) {
        for (int j = part.col0; j < part.col1; j++) {
            struct cells c = {i, i + 1, j, j + 1};
            bool is_focus = i >= h->focus_row0 && i < h->focus_row1 &&
                            j >= h->focus_col0 && j < h->focus_col1;
            if (what_is(h, i, j) == what && is_focus == focus)
                path_box(path, inset(box_of(h, c), by), radius);
        }
    }
}

static void fill_values(struct pen *pen, const struct scene_heat *h,
                        const struct scene_theme *t, struct cells part, float gap,
                        float radius, struct path *path)
{
    for (int i = part.row0; i < part.row1; i++) {
        for (int j = part.col0; j < part.col1; j++) {
            if (what_is(h, i, j) != CELL_VALUE) continue;
            struct cells c = {i, i + 1, j, j + 1};
            float value = h->m.data[(ptrdiff_t)i * h->m.ld + j];
            clear(path);
            path_box(path, inset(box_of(h, c), gap / 2), radius);
            pen->k->fill(pen, path, scene_fade(color_of(h, t, value), alpha_of(h, c)));
        }
    }
}

static void draw_cells(struct pen *pen, const struct scene_heat *h,
                       const struct scene_theme *t, struct cells part, float gap,
                       float radius, struct path *path)
{
    for (int focus = 0; focus < 2; focus++) {
        float alpha = focus ? h->alpha : h->alpha * h->dim;
        collect(path, h, part, CELL_MASKED, focus, gap / 2, radius);
        hatch(pen, t, path, box_of(h, part), alpha);
        collect(path, h, part, CELL_EMPTY, focus, gap / 2, radius);
        if (path->n) pen->k->fill(pen, path, scene_fade(t->empty, alpha));
    }
    fill_values(pen, h, t, part, gap, radius, path);
}

static void draw_dashes(struct pen *pen, const struct scene_heat *h,
                        const struct scene_theme *t, struct cells part, float gap,
                        float radius, struct path *path)
{
    for (int focus = 0; focus < 2; focus++) {
        float alpha = focus ? h->alpha : h->alpha * h->dim;
        collect(path, h, part, CELL_EMPTY, focus, (gap + 1) / 2, fmaxf(radius - 0.5f, 0));
        if (path->n) pen->k->stroke(pen, path, 1, DASH, scene_fade(t->empty_line, alpha));
    }
}

/* The masked cells of the part as one outline, which is a staircase. They are hatched
 * below the image, where it is transparent. */
static void masked_outline(struct path *path, const struct scene_heat *h,
                           struct cells part)
{
    clear(path);
    int n = 0, begin = part.row0;
    for (int pass = 0; pass < 2; pass++) { /* down on the right, up on the left */
        for (int k = 0; k < (pass ? n : part.row1 - part.row0); k++) {
            int i = pass ? begin + n - 1 - k : part.row0 + k;
            int64_t shown = h->shown - (int64_t)(i - h->row0) * (h->col1 - h->col0);
            int64_t behind = h->col0 + (shown > 0 ? shown : 0);
            int right = behind < part.col1 ? (int)behind : part.col1;
            int left = clamp_int(i + h->mask_from, part.col0, part.col1);
            if (left >= right) break;
            int col = pass ? left : right;
            float x = h->x + (float)col * h->cell_w;
            float y0 = h->y + (float)i * h->cell_h, y1 = y0 + h->cell_h;
            if (n == 0)
                path_move(path, x, y0);
            else
                path_line(path, x, pass ? y1 : y0);
            path_line(path, x, pass ? y0 : y1);
            n += !pass;
        }
    }
    if (path->n) path_close(path);
}

static void hatch_below(struct pen *pen, const struct scene_heat *h,
                        const struct scene_theme *t, struct cells part, struct path *path)
{
    if (h->mask_from == INT_MAX) return;
    masked_outline(path, h, part);
    hatch(pen, t, path, box_of(h, part), h->alpha * h->dim);
    if (!(h->dim < 1)) return;
    struct cells focus = {clamp_int(h->focus_row0, part.row0, part.row1),
                          clamp_int(h->focus_row1, part.row0, part.row1),
                          clamp_int(h->focus_col0, part.col0, part.col1),
                          clamp_int(h->focus_col1, part.col0, part.col1)};
    masked_outline(path, h, focus);
    hatch(pen, t, path, box_of(h, focus), h->alpha);
}

/* One pixel for each block of k x k cells. */
static bool draw_image(struct pen *pen, const struct scene_heat *h,
                       const struct scene_theme *t, struct cells part, int k,
                       struct path *path)
{
    int w = (part.col1 - part.col0 + k - 1) / k, n = (part.row1 - part.row0 + k - 1) / k;
    cairo_surface_t *s = new_image(w, n);
    for (int y = 0; cairo_surface_status(s) == CAIRO_STATUS_SUCCESS && y < n; y++) {
        uint32_t *row = image_row(s, y);
        for (int x = 0; x < w; x++) {
            struct cells c = {part.row0 + y * k, part.row0 + (y + 1) * k,
                              part.col0 + x * k, part.col0 + (x + 1) * k};
            c.row1 = c.row1 < part.row1 ? c.row1 : part.row1;
            c.col1 = c.col1 < part.col1 ? c.col1 : part.col1;
            struct seen seen = look(h, c);
            if (seen.magnitude >= 0)
                row[x] = packed(color_of(h, t, seen.value), alpha_of(h, c));
            else if (!seen.masked)
                row[x] = packed(t->empty, alpha_of(h, c));
        }
    }
    /* The last blocks may reach beyond the matrix. */
    struct scene_rect box = box_of(h, part), all = box;
    all.w = (float)(w * k) * h->cell_w;
    all.h = (float)(n * k) * h->cell_h;
    clear(path);
    path_box(path, box, 0);
    bool clip = w * k > part.col1 - part.col0 || n * k > part.row1 - part.row0;
    if (clip) pen->k->push(pen, path, 1);
    bool ok = finish(pen, s, all);
    if (clip) pen->k->pop(pen);
    return ok;
}

static int clamp_float(float v, int lo, int hi)
{
    return v > (float)lo ? v < (float)hi ? (int)v : hi : lo; /* NaN: lo */
}

/* Cells that show in box, from whole blocks of k. */
static struct cells part_in(const struct scene_heat *h, struct scene_rect box, int k)
{
    float left = (box.x - h->x) / h->cell_w, top = (box.y - h->y) / h->cell_h;
    float right = left + box.w / h->cell_w, low = top + box.h / h->cell_h;
    struct cells c = {
        clamp_float(floorf(top), h->row0, h->row1),
        clamp_float(ceilf(low), h->row0, h->row1),
        clamp_float(floorf(left), h->col0, h->col1),
        clamp_float(ceilf(right), h->col0, h->col1),
    };
    c.row0 -= (c.row0 - h->row0) % k;
    c.col0 -= (c.col0 - h->col0) % k;
    c.row1 = clamp_int(c.row1 + k - 1 - (c.row1 - h->row0 + k - 1) % k, 0, h->row1);
    c.col1 = clamp_int(c.col1 + k - 1 - (c.col1 - h->col0 + k - 1) % k, 0, h->col1);
    return c;
}

static bool draw_vectors(struct pen *pen, const struct scene_heat *h,
                         const struct scene_theme *t, struct scene_rect box,
                         struct path *path)
{
    float side = fminf(h->cell_w, h->cell_h);
    float gap = fminf(h->gap, side * GAP_SHARE),
          radius = fminf(h->radius, side * RADIUS_SHARE);
    int k = 1;
    while (side * (float)k < CELL_MIN && k < (1 << 20)) k *= 2;
    struct cells part = part_in(h, box, k);
    if (part.row0 >= part.row1 || part.col0 >= part.col1) return true;
    bool few = (int64_t)(part.row1 - part.row0) * (part.col1 - part.col0) <= CELLS_MAX;
    bool boxes = few && side >= DASH_MIN / 2 && gap + radius > 0, ok = true;
    if (boxes) {
        draw_cells(pen, h, t, part, gap, radius, path);
    } else {
        hatch_below(pen, h, t, part, path);
        ok = draw_image(pen, h, t, part, k, path);
        gap = radius = 0;
    }
    if (few && side >= DASH_MIN) draw_dashes(pen, h, t, part, gap, radius, path);
    clear(path);
    return ok;
}

bool heat_draw(struct pen *pen, const struct scene_heat *h, const struct scene_theme *t,
               struct scene_rect box, struct path *path)
{
    if (!h->m.data || h->row0 >= h->row1 || h->col0 >= h->col1 || !(h->cell_w > 0) ||
        !(h->cell_h > 0) || !(h->alpha > 0))
        return true;
    if (pen->density > 0) return draw_pixels(pen, h, t, box);
    return draw_vectors(pen, h, t, box, path);
}
