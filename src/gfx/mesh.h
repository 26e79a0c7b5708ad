/* Items of a scene as quads in memory, in painter's order. Knows no OpenGL object. */
#ifndef HEADLIGHT_GFX_MESH_H
#define HEADLIGHT_GFX_MESH_H

#include "atlas.h"
#include "scene.h"

/* As shape.vert reads it; see there for units. */
struct mesh_vertex {
    float x, y;
    float local_x, local_y;
    float half_w, half_h, radius, border;
    float feather;
    float u, v;
    struct scene_rgba fill, line;
};

enum mesh_pass { MESH_SHAPE, MESH_FILL, MESH_HEAT };

/* Quads that one draw call paints. */
struct mesh_run {
    enum mesh_pass pass;
    int first, count;
    const struct scene_heat *heat; /* MESH_HEAT */
};

enum {
    MESH_QUADS = 16384, /* 4 vertices each: what 16 bit indices reach */
    MESH_RUNS = 2048
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
 * there, mesh_clear, atlas_reset, and try again. */
bool mesh_add(struct mesh *m, const struct scene_item *it, const struct mesh_text *text);

/* A matrix's part on whole pixels. */
struct mesh_box mesh_heat_bounds(const struct scene_heat *heat, float density);

#endif
