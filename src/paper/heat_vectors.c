/* Matrices for vectors: large cells as boxes, small ones as an image of one pixel a cell
 * on top of the hatch of those that are masked. */
#include "cells.h"

#include <limits.h>
#include <math.h>

static const float CELL_MIN = 0.25f; /* points: smaller ones are joined */

static struct scene_rect box_of(const struct scene_heat *h, struct heat_cells c)
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
    float begin = floorf((box.x + box.y) / CELL_HATCH - 1) * CELL_HATCH;
    int n = (int)((right + low - begin) / CELL_HATCH) + 1;
    for (int i = 0; i < n; i++) {
        float sum = begin + ((float)i + 0.5f) * CELL_HATCH + 1;
        float x = fminf(sum - box.y, right) + CELL_HATCH,
              y = fminf(sum - box.x, low) + CELL_HATCH;
        path_move(path, x, sum - x);
        path_line(path, sum - y, y);
    }
    pen->k->stroke(pen, path, CELL_HATCH_WIDTH, 0, t->hatch);
    pen->k->pop(pen);
    clear(path);
}

enum what { CELL_EMPTY, CELL_MASKED, CELL_VALUE };

static enum what what_is(const struct scene_heat *h, int i, int j)
{
    if (!heat_is_shown(h, i, j)) return CELL_EMPTY;
    return heat_is_masked(h, i, j) ? CELL_MASKED : CELL_VALUE;
}

/* Collects the boxes of the cells of one kind and one alpha, made smaller by `by`. */
static void collect(struct path *path, const struct scene_heat *h, struct heat_cells part,
                    enum what what, bool focus, float by, float radius)
{
    clear(path);
    for (int i = part.row0; i < part.row1; i++) {
        for (int j = part.col0; j < part.col1; j++) {
            struct heat_cells c = {i, i + 1, j, j + 1};
            bool is_focus = i >= h->focus_row0 && i < h->focus_row1 &&
                            j >= h->focus_col0 && j < h->focus_col1;
            if (what_is(h, i, j) == what && is_focus == focus)
                path_box(path, inset(box_of(h, c), by), radius);
        }
    }
}

static void fill_values(struct pen *pen, const struct scene_heat *h,
                        const struct scene_theme *t, struct heat_cells part, float gap,
                        float radius, struct path *path)
{
    for (int i = part.row0; i < part.row1; i++) {
        for (int j = part.col0; j < part.col1; j++) {
            if (what_is(h, i, j) != CELL_VALUE) continue;
            struct heat_cells c = {i, i + 1, j, j + 1};
            float value = h->m.data[(ptrdiff_t)i * h->m.ld + j];
            clear(path);
            path_box(path, inset(box_of(h, c), gap / 2), radius);
            pen->k->fill(pen, path,
                         scene_fade(heat_color(h, t, value), heat_alpha(h, c)));
        }
    }
}

static void draw_cells(struct pen *pen, const struct scene_heat *h,
                       const struct scene_theme *t, struct heat_cells part, float gap,
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
                        const struct scene_theme *t, struct heat_cells part, float gap,
                        float radius, struct path *path)
{
    for (int focus = 0; focus < 2; focus++) {
        float alpha = focus ? h->alpha : h->alpha * h->dim;
        collect(path, h, part, CELL_EMPTY, focus, (gap + 1) / 2, fmaxf(radius - 0.5f, 0));
        if (path->n)
            pen->k->stroke(pen, path, 1, CELL_DASH, scene_fade(t->empty_line, alpha));
    }
}

/* The masked columns of row i of the part, first and behind the last; false: none. */
static bool masked_in(const struct scene_heat *h, struct heat_cells part, int i,
                      int64_t *left, int64_t *right)
{
    int64_t shown = h->shown - (int64_t)(i - h->row0) * (h->col1 - h->col0);
    int64_t behind = h->col0 + (shown > 0 ? shown : 0), from = (int64_t)i + h->mask_from;
    *right = behind < part.col1 ? behind : part.col1;
    *left = from > part.col0 ? from : part.col0;
    return *left < *right;
}

static void add_edge(struct path *path, const struct scene_heat *h, int64_t col, int row0,
                     int row1)
{
    float x = h->x + (float)col * h->cell_w;
    if (path->n == 0)
        path_move(path, x, h->y + (float)row0 * h->cell_h);
    else
        path_line(path, x, h->y + (float)row0 * h->cell_h);
    path_line(path, x, h->y + (float)row1 * h->cell_h);
}

/* The masked cells of the part as one outline, which is a staircase: down on the right, up
 * on the left. They are hatched below the image, where it is transparent. */
static void masked_outline(struct path *path, const struct scene_heat *h,
                           struct heat_cells part)
{
    int64_t left, right;
    int i = part.row0;
    clear(path);
    for (; i < part.row1 && masked_in(h, part, i, &left, &right); i++)
        add_edge(path, h, right, i, i + 1);
    while (i-- > part.row0)
        if (masked_in(h, part, i, &left, &right)) add_edge(path, h, left, i + 1, i);
    if (path->n) path_close(path);
}

static void hatch_below(struct pen *pen, const struct scene_heat *h,
                        const struct scene_theme *t, struct heat_cells part,
                        struct path *path)
{
    if (h->mask_from == INT_MAX) return;
    masked_outline(path, h, part);
    hatch(pen, t, path, box_of(h, part), h->alpha * h->dim);
    if (!(h->dim < 1)) return;
    struct heat_cells focus = {heat_clamp(h->focus_row0, part.row0, part.row1),
                               heat_clamp(h->focus_row1, part.row0, part.row1),
                               heat_clamp(h->focus_col0, part.col0, part.col1),
                               heat_clamp(h->focus_col1, part.col0, part.col1)};
    masked_outline(path, h, focus);
    hatch(pen, t, path, box_of(h, focus), h->alpha);
}

/* One pixel for each block of k x k cells. */
static bool draw_image(struct pen *pen, const struct scene_heat *h,
                       const struct scene_theme *t, struct heat_cells part, int k,
                       struct path *path)
{
    int w = (part.col1 - part.col0 + k - 1) / k, n = (part.row1 - part.row0 + k - 1) / k;
    cairo_surface_t *s = heat_image(w, n);
    for (int y = 0; cairo_surface_status(s) == CAIRO_STATUS_SUCCESS && y < n; y++) {
        uint32_t *row = heat_image_row(s, y);
        for (int x = 0; x < w; x++) {
            struct heat_cells c = {part.row0 + y * k, part.row0 + (y + 1) * k,
                                   part.col0 + x * k, part.col0 + (x + 1) * k};
            c.row1 = c.row1 < part.row1 ? c.row1 : part.row1;
            c.col1 = c.col1 < part.col1 ? c.col1 : part.col1;
            struct heat_seen seen = heat_look(h, c);
            if (seen.magnitude >= 0)
                row[x] = heat_packed(heat_color(h, t, seen.value), heat_alpha(h, c));
            else if (!seen.masked)
                row[x] = heat_packed(t->empty, heat_alpha(h, c));
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
    bool ok = heat_show(pen, s, all);
    if (clip) pen->k->pop(pen);
    return ok;
}

static int clamp_float(float v, int lo, int hi)
{
    return v > (float)lo ? v < (float)hi ? (int)v : hi : lo; /* NaN: lo */
}

/* Cells that show in box, from whole blocks of k. */
static struct heat_cells part_in(const struct scene_heat *h, struct scene_rect box, int k)
{
    float left = (box.x - h->x) / h->cell_w, top = (box.y - h->y) / h->cell_h;
    float right = left + box.w / h->cell_w, low = top + box.h / h->cell_h;
    struct heat_cells c = {
        clamp_float(floorf(top), h->row0, h->row1),
        clamp_float(ceilf(low), h->row0, h->row1),
        clamp_float(floorf(left), h->col0, h->col1),
        clamp_float(ceilf(right), h->col0, h->col1),
    };
    c.row0 -= (c.row0 - h->row0) % k;
    c.col0 -= (c.col0 - h->col0) % k;
    c.row1 = heat_clamp(c.row1 + k - 1 - (c.row1 - h->row0 + k - 1) % k, 0, h->row1);
    c.col1 = heat_clamp(c.col1 + k - 1 - (c.col1 - h->col0 + k - 1) % k, 0, h->col1);
    return c;
}

bool heat_vectors(struct pen *pen, const struct scene_heat *h,
                  const struct scene_theme *t, struct scene_rect box, struct path *path)
{
    struct heat_style style = heat_style(h, 1, pen->view);
    float side = fminf(h->cell_w, h->cell_h);
    int k = 1;
    while (side * (float)k < CELL_MIN && k < (1 << 20)) k *= 2;
    struct heat_cells part = part_in(h, box, k);
    if (part.row0 >= part.row1 || part.col0 >= part.col1) return true;
    bool ok = true;
    if (style.cells) {
        draw_cells(pen, h, t, part, style.gap, style.radius, path);
    } else {
        hatch_below(pen, h, t, part, path);
        ok = draw_image(pen, h, t, part, k, path);
    }
    if (style.cells && style.dashes)
        draw_dashes(pen, h, t, part, style.gap, style.radius, path);
    clear(path);
    return ok;
}
