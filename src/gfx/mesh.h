/* Items of a scene as quads in memory, in painter's order. Knows no OpenGL object. */
#ifndef HEADLIGHT_GFX_MESH_H
#define HEADLIGHT_GFX_MESH_H

#include "atlas.h"
#include "scene.h"

/* As shape.vert reads it; see there for units. */
struct mesh_vertex {
    float x, y;
    float local_x, local_y, u, v;
    float half_w, half_h, radius, border;
    struct scene_rgba fill, line;
};

enum mesh_pass { MESH_SHAPE, MESH_FILL, MESH_VEIL, MESH_HEAT };

/* Quads that one draw call paints. */
struct mesh_run {
    enum mesh_pass pass;
    int first, count;
    const struct scene_heat *heat; /* MESH_HEAT */
};

enum {
    MESH_QUADS = 16384, /* 4 vertices each: what 16 bit indices reach */
    MESH_RUNS = 2048,
    MESH_BIG = 8192 /* pixels of area from which plain insides are filled apart */
};

struct mesh_box { /* pixels */
    float x0, y0, x1, y1;
};

struct mesh {
    struct mesh_vertex *vertex; /* [4 * MESH_QUADS] */
    struct mesh_run *run;       /* [MESH_RUNS] */
    int n_quad, n_run;
    bool full; /* something did not fit since the last mesh_clear */
    float density;
    struct mesh_box view; /* what is visible */
    struct mesh_box clip; /* of the item at hand, whole pixels */
    const struct scene_theme *theme;
    /* What later items paint over, opaquely: what lies below is not drawn. */
    const struct mesh_box *cover; /* [n_cover] */
    int n_cover;
};

/* What text needs. */
struct mesh_text {
    struct atlas *atlas;
    struct fonts *fonts;
    const struct font_metrics *metrics;
};

bool mesh_init(struct mesh *m, struct arena *mem, struct err *e);
void mesh_clear(struct mesh *m);

/* Adds one item. false: the mesh or the atlas is full, nothing was added; draw what is
 * there, make room, and try again. */
bool mesh_add(struct mesh *m, const struct scene_item *it, const struct mesh_text *text);

/* The whole pixels that an item hides, whatever is below; empty for most. */
struct mesh_box mesh_solid(const struct scene_item *it, float density);

/* A matrix's part on whole pixels. */
struct mesh_box mesh_heat_bounds(const struct scene_heat *heat, float density);

/* ---- for the files that make shapes (shapes.c, cells.c) ---- */

void mesh_rect(struct mesh *m, const struct scene_item *it);
void mesh_line(struct mesh *m, const struct scene_item *it);
void mesh_poly(struct mesh *m, const struct scene_item *it);

/* Whether the cells of a matrix are large enough to be shapes, with corners and gaps; the
 * others are a MESH_HEAT run. */
bool mesh_cells_fit(const struct mesh *m, const struct scene_heat *heat);
void mesh_cells(struct mesh *m, const struct scene_heat *heat);

struct mesh_box mesh_intersect(struct mesh_box a, struct mesh_box b);
bool mesh_is_empty(struct mesh_box b); /* true where a side is NaN, too */
struct mesh_box mesh_grow(struct mesh_box b, float by);
float mesh_snap(float v); /* to the nearest whole pixel */
struct mesh_box mesh_scaled(struct scene_rect r, float density);
struct mesh_box mesh_snapped(struct mesh_box b);

/* Room for one quad in pass; NULL: full. */
struct mesh_vertex *mesh_push(struct mesh *m, enum mesh_pass pass);
/* The part of a shape that lies in box; proto holds what its corners share, u and v at
 * the box's top left corner among it where it is textured; (cx, cy) is the shape's
 * centre, unit the pixels in a unit of its distances. */
void mesh_quad(struct mesh *m, enum mesh_pass pass, struct mesh_box box,
               const struct mesh_vertex *proto, float cx, float cy, float unit,
               bool textured);
/* A convex polygon of n <= 4 corners. */
void mesh_convex(struct mesh *m, const struct mesh_vertex *corner, int n);

#endif
