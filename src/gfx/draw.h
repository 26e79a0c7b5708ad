/* A scene to pixels: the passes and the state each of them sets. */
#ifndef HEADLIGHT_GFX_DRAW_H
#define HEADLIGHT_GFX_DRAW_H

#include "glo.h"
#include "heat.h"
#include "mesh.h"

struct painter {
    struct gl_program shape, fill, heat;
    GLuint vao, vertices, indices, frame, maps;
    struct mesh mesh;
    struct atlas atlas;
    struct heat_cache heats;
    struct fonts *fonts;
    const struct font_metrics *metrics;
};

/* Where to draw: w x h pixels of the scene from pixel (x, y) on. */
struct painter_view {
    GLuint fbo;
    float density; /* pixels a point */
    int x, y, w, h;
    bool top_first; /* the top row is row 0 of the framebuffer, for reading back */
};

bool painter_init(struct painter *p, struct arena *mem, struct fonts *fonts,
                  const struct font_metrics *metrics, const char *shader_dir,
                  struct err *e);
void painter_fini(struct painter *p); /* zeroed is fine */

/* Bytes of arena that painter_init takes. */
size_t painter_bytes(void);

/* Compiles the shaders again; the old ones stay where that fails. */
bool painter_reload(struct painter *p, const char *shader_dir, struct err *e);

bool painter_draw(struct painter *p, const struct scene *sc,
                  const struct painter_view *view, struct err *e);

#endif
