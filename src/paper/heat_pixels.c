/* Matrices for pictures of pixels: the heat shader once more, in C. A picture written
 * without a window is the same as one of the window. */
#include "cells.h"

#include <math.h>

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
    *first = heat_clamp(*first, a->first, a->last - 1);
    *last = heat_clamp(*last, *first, a->last - 1);
}

/* How the matrix is drawn, and with what patterns; pixels. */
struct look {
    struct heat_style style;
    float density, hatch, dash, dash_width;
    const struct scene_heat *h;
    const struct scene_theme *t;
};

/* Patterns repeat after whole pixels. */
static float period(float points, float density)
{
    return fmaxf(2, whole(points * density));
}

static struct look look_for(const struct scene_heat *h, const struct scene_theme *t,
                            float density, struct scene_rect view)
{
    struct look l = {.style = heat_style(h, density, view),
                     .density = density,
                     .hatch = period(CELL_HATCH, density),
                     .dash = period(2 * CELL_DASH, density),
                     .dash_width = fmaxf(1, whole(density)),
                     .h = h,
                     .t = t};
    l.style.gap = whole(l.style.gap);
    return l;
}

static float modulo(float v, float by)
{
    return v - by * floorf(v / by);
}

/* How much of pixel (px, py) a hatch line covers. */
static float hatch_cover(const struct look *l, float px, float py)
{
    float off = fabsf(modulo(px + py, l->hatch) - floorf(l->hatch / 2)) * sqrtf(0.5f);
    return fminf(fmaxf(0.5f + 0.5f * CELL_HATCH_WIDTH * l->density - off, 0), 1);
}

/* Where a pixel lies in its cell's box, which stands on whole pixels and has left its
 * share of the gap. */
struct place {
    float x, y;  /* from the middle to the pixel's, either way */
    float w, h;  /* half the box */
    float cover; /* of the pixel by the box with its corners */
};

static float along(const struct axis *a, int cell, float p, float gap, float *half)
{
    float low = whole(a->origin + (float)cell * a->cell) + floorf(gap / 2);
    float high = whole(a->origin + (float)(cell + 1) * a->cell) - ceilf(gap / 2);
    *half = (high - low) / 2;
    return fabsf(p + 0.5f - (low + high) / 2);
}

static struct place place_of(const struct look *l, const struct axis *x,
                             const struct axis *y, struct heat_cells c, float px,
                             float py)
{
    struct place p = {.cover = 1};
    float r = l->style.radius;
    p.x = along(x, c.col0, px, l->style.gap, &p.w);
    p.y = along(y, c.row0, py, l->style.gap, &p.h);
    float qx = p.x - p.w + r, qy = p.y - p.h + r;
    float d = hypotf(fmaxf(qx, 0), fmaxf(qy, 0)) + fminf(fmaxf(qx, qy), 0) - r;
    p.cover = fminf(fmaxf(0.5f - d, 0), 1);
    return p;
}

/* Dashes run along the edges, from corner to corner. */
static bool on_dash(const struct look *l, struct place p, float px, float py)
{
    float corner = ceilf(l->style.radius);
    bool row = p.y > p.h - l->dash_width && p.x < p.w - corner;
    bool column = p.x > p.w - l->dash_width && p.y < p.h - corner;
    float half = floorf(l->dash / 2);
    return (row && modulo(px, l->dash) < half) || (column && modulo(py, l->dash) < half);
}

/* One colour upon another, both premultiplied. */
static uint32_t over(uint32_t top, uint32_t below)
{
    uint32_t left = 255 - (top >> 24), v = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        uint32_t sum = (top >> shift & 255) + ((below >> shift & 255) * left + 127) / 255;
        v |= (sum < 255 ? sum : 255) << shift;
    }
    return v;
}

/* A pixel of a cell that is drawn by itself. */
static uint32_t cell_pixel(const struct look *l, struct heat_seen s, struct place p,
                           float alpha, float px, float py)
{
    if (s.magnitude >= 0)
        return heat_packed(heat_color(l->h, l->t, s.value), alpha * p.cover);
    if (s.masked)
        return over(heat_packed(l->t->hatch, alpha * p.cover * hatch_cover(l, px, py)),
                    heat_packed(l->t->mask, alpha * p.cover));
    uint32_t empty = heat_packed(l->t->empty, alpha * p.cover);
    if (!l->style.dashes || !on_dash(l, p, px, py)) return empty;
    return over(heat_packed(l->t->empty_line, alpha * p.cover), empty);
}

static uint32_t plain_pixel(const struct look *l, struct heat_seen s, float alpha,
                            float px, float py)
{
    struct scene_rgba c = l->t->empty;
    if (s.magnitude >= 0)
        c = heat_color(l->h, l->t, s.value);
    else if (s.masked)
        c = scene_mix(l->t->mask, l->t->hatch, hatch_cover(l, px, py));
    return heat_packed(c, alpha);
}

/* The cell whose box on whole pixels pixel p is in. */
static int cell_at(const struct axis *a, float p)
{
    int cell = (int)floorf((p + 0.5f - a->origin) / a->cell);
    if (p < whole(a->origin + (float)cell * a->cell)) cell--;
    if (p >= whole(a->origin + (float)(cell + 1) * a->cell)) cell++;
    return heat_clamp(cell, a->first, a->last - 1);
}

static uint32_t pixel(const struct look *l, const struct axis *x, const struct axis *y,
                      float px, float py)
{
    struct heat_cells c;
    if (l->style.cells) {
        c.col0 = c.col1 = cell_at(x, px);
        c.row0 = c.row1 = cell_at(y, py);
    } else {
        cells_at(x, px, &c.col0, &c.col1);
        cells_at(y, py, &c.row0, &c.row1);
    }
    c.col1++;
    c.row1++;
    float alpha = heat_alpha(l->h, c);
    if (!l->style.cells) return plain_pixel(l, heat_look(l->h, c), alpha, px, py);
    alpha = whole(alpha * 255) / 255; /* gfx paints cells in colours of 8 bits */
    struct place p = place_of(l, x, y, c, px, py);
    if (p.cover <= 0) return 0;
    return cell_pixel(l, heat_look(l->h, c), p, alpha, px, py);
}

bool heat_pixels(struct pen *pen, const struct scene_heat *h, const struct scene_theme *t,
                 struct scene_rect box)
{
    float d = pen->density;
    struct look l = look_for(h, t, d, pen->view);
    struct axis x = axis_of(h->x, h->cell_w, h->col0, h->col1, d);
    struct axis y = axis_of(h->y, h->cell_h, h->row0, h->row1, d);
    int x0 = (int)fmaxf(x.begin, floorf(box.x * d)),
        x1 = (int)fminf(x.end, ceilf((box.x + box.w) * d));
    int y0 = (int)fmaxf(y.begin, floorf(box.y * d)),
        y1 = (int)fminf(y.end, ceilf((box.y + box.h) * d));
    if (x0 >= x1 || y0 >= y1) return true;
    cairo_surface_t *s = heat_image(x1 - x0, y1 - y0);
    for (int py = y0; cairo_surface_status(s) == CAIRO_STATUS_SUCCESS && py < y1; py++) {
        uint32_t *row = heat_image_row(s, py - y0);
        for (int px = x0; px < x1; px++)
            row[px - x0] = pixel(&l, &x, &y, (float)px, (float)py);
    }
    return heat_show(pen, s,
                     (struct scene_rect){(float)x0 / d, (float)y0 / d,
                                         (float)(x1 - x0) / d, (float)(y1 - y0) / d});
}
