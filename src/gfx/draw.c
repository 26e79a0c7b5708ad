/* The passes: plain areas, shapes and text, heat maps. Blending is done on sRGB
 * values with premultiplied alpha, as browsers do. */
#include "draw.h"

#include <assert.h>
#include <cglm/cam.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* The std140 block u_frame; the same for all passes of a frame. */
struct frame_block {
    float view[4];
    float empty[4], mask[4], hatch[4], odd[4];
    float density[4];
};
static_assert(sizeof(struct frame_block) == 96, "std140");
static_assert(offsetof(struct frame_block, empty) == 16, "std140");
static_assert(offsetof(struct frame_block, density) == 80, "std140");

enum { UNIFORM_ATLAS };
static const struct gl_program_spec shape_spec = {"shape", {"u_atlas"}};
static const struct gl_program_spec fill_spec = {"fill", {NULL}};

enum {
    HEAT_VALUES,
    HEAT_MAPS,
    HEAT_MAP,
    HEAT_LEVEL,
    HEAT_GRID,
    HEAT_BOUNDS,
    HEAT_PART,
    HEAT_FOCUS,
    HEAT_LIMIT,
    HEAT_RANGE,
    HEAT_LEAST,
    HEAT_ALPHA
};
static const struct gl_program_spec heat_spec = {
    "heat",
    {"u_values", "u_maps", "u_map", "u_level", "u_grid", "u_bounds", "u_part", "u_focus",
     "u_limit", "u_range", "u_least", "u_alpha"}};

enum { MAP_SIZE = 256 };
enum { COVERS = 8, COVER_LEAST = 1 << 15 /* pixels */ };

/* One row a colour map: light diverging, light sequential, dark ... */
static GLuint create_maps(void)
{
    struct scene_rgba texel[2][MAP_COUNT][MAP_SIZE];
    for (int t = 0; t < 2; t++)
        for (int m = 0; m < MAP_COUNT; m++)
            for (int i = 0; i < MAP_SIZE; i++)
                texel[t][m][i] = scene_map_entry(scene_theme_get((enum step_theme)t),
                                                 (enum scene_map)m, i);
    return gl_texture_create(GL_RGBA8, MAP_SIZE, 2 * MAP_COUNT, GL_RGBA, GL_UNSIGNED_BYTE,
                             texel);
}

/* OpenGL takes offsets into a buffer where it once took pointers. */
static const void *buffer_offset(size_t bytes)
{
    return (const void *)bytes; /* NOLINT(performance-no-int-to-ptr): see above */
}

static void attribute(GLuint at, GLint n, GLenum type, size_t offset)
{
    glEnableVertexAttribArray(at);
    glVertexAttribPointer(at, n, type, type == GL_UNSIGNED_BYTE,
                          sizeof(struct mesh_vertex), buffer_offset(offset));
}

static bool create_mesh(struct painter *p, struct arena *mem, struct err *e)
{
    if (!mesh_init(&p->mesh, mem, e)) return false;
    glGenVertexArrays(1, &p->vao);
    glGenBuffers(1, &p->vertices);
    glGenBuffers(1, &p->indices);
    glBindVertexArray(p->vao);
    glBindBuffer(GL_ARRAY_BUFFER, p->vertices);
    attribute(0, 2, GL_FLOAT, offsetof(struct mesh_vertex, x));
    attribute(1, 4, GL_FLOAT, offsetof(struct mesh_vertex, local_x));
    attribute(2, 4, GL_FLOAT, offsetof(struct mesh_vertex, half_w));
    attribute(3, 4, GL_UNSIGNED_BYTE, offsetof(struct mesh_vertex, fill));
    attribute(4, 4, GL_UNSIGNED_BYTE, offsetof(struct mesh_vertex, line));
    size_t used = mem->used;
    uint16_t *index = arena_take(mem, (size_t)6 * MESH_QUADS, sizeof *index);
    if (!index) return err_set(e, ERR_SYSTEM, "out of memory for what is drawn");
    static const uint16_t corner[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 6 * MESH_QUADS; i++)
        index[i] = (uint16_t)(i / 6 * 4 + corner[i % 6]);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, p->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER,
                 (GLsizeiptr)((size_t)6 * MESH_QUADS * sizeof *index), index,
                 GL_STATIC_DRAW);
    mem->used = used; /* the indices are OpenGL's now */
    return true;
}

size_t painter_bytes(void)
{
    const size_t rounding = (size_t)64 * 16; /* of every push */
    return (size_t)4 * MESH_QUADS * sizeof(struct mesh_vertex) +
           (size_t)MESH_RUNS * sizeof(struct mesh_run) +
           (size_t)6 * MESH_QUADS * sizeof(uint16_t) + (size_t)ATLAS_SIZE * ATLAS_SIZE +
           (size_t)ATLAS_GLYPHS * sizeof(struct glyph) + rounding;
}

bool painter_init(struct painter *p, struct arena *mem, struct fonts *fonts,
                  const struct font_metrics *metrics, const char *shader_dir,
                  struct err *e)
{
    *p = (struct painter){.fonts = fonts, .metrics = metrics};
    heat_cache_init(&p->heats);
    if (!atlas_init(&p->atlas, mem, e) || !create_mesh(p, mem, e) ||
        !painter_reload(p, shader_dir, e)) {
        painter_fini(p);
        return false;
    }
    glGenBuffers(1, &p->frame);
    p->maps = create_maps();
    return true;
}

void painter_fini(struct painter *p)
{
    gl_program_destroy(&p->shape);
    gl_program_destroy(&p->fill);
    gl_program_destroy(&p->heat);
    if (p->vao) glDeleteVertexArrays(1, &p->vao);
    if (p->vertices) glDeleteBuffers(1, &p->vertices);
    if (p->indices) glDeleteBuffers(1, &p->indices);
    if (p->frame) glDeleteBuffers(1, &p->frame);
    if (p->maps) glDeleteTextures(1, &p->maps);
    atlas_fini(&p->atlas);
    heat_cache_fini(&p->heats);
    *p = (struct painter){0};
}

bool painter_reload(struct painter *p, const char *shader_dir, struct err *e)
{
    struct gl_program shape, fill, heat;
    if (!gl_program_create(&shape, &shape_spec, shader_dir, e)) return false;
    if (!gl_program_create(&fill, &fill_spec, shader_dir, e)) {
        gl_program_destroy(&shape);
        return false;
    }
    if (!gl_program_create(&heat, &heat_spec, shader_dir, e)) {
        gl_program_destroy(&shape);
        gl_program_destroy(&fill);
        return false;
    }
    gl_program_destroy(&p->shape);
    gl_program_destroy(&p->fill);
    gl_program_destroy(&p->heat);
    p->shape = shape;
    p->fill = fill;
    p->heat = heat;
    return true;
}

static void set_color(float out[4], struct scene_rgba c)
{
    const uint8_t v[4] = {c.r, c.g, c.b, c.a};
    for (int i = 0; i < 4; i++) out[i] = (float)v[i] / 255.0f;
}

/* State that all passes of a frame share. */
static void begin_frame(struct painter *p, const struct scene_theme *t,
                        const struct painter_view *view)
{
    float x = (float)view->x, y = (float)view->y;
    float from = view->top_first ? y : y + (float)view->h;
    float to = view->top_first ? y + (float)view->h : y;
    mat4 m; /* scale and offset are all that an orthographic view of a plane has */
    glm_ortho(x, x + (float)view->w, from, to, -1, 1, m);
    struct frame_block b = {
        .view = {m[0][0], m[1][1], m[3][0], m[3][1]},
        .density = {view->density, (float)atlas_hatch_period(view->density), 0, 0}};
    set_color(b.empty, t->empty);
    set_color(b.mask, t->mask);
    set_color(b.hatch, t->hatch);
    set_color(b.odd, t->odd);
    glBindBuffer(GL_UNIFORM_BUFFER, p->frame);
    glBufferData(GL_UNIFORM_BUFFER, sizeof b, &b, GL_STREAM_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, p->frame);

    glBindFramebuffer(GL_FRAMEBUFFER, view->fbo);
    glViewport(0, 0, view->w, view->h);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_STENCIL_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_FRAMEBUFFER_SRGB);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    float paper[4];
    set_color(paper, t->paper);
    glClearColor(paper[0], paper[1], paper[2], 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

static void set_blend(bool on)
{
    if (!on) {
        glDisable(GL_BLEND);
        return;
    }
    glEnable(GL_BLEND);
    glBlendEquation(GL_FUNC_ADD);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
}

static void bind_texture(GLenum unit, GLuint id)
{
    glActiveTexture(unit);
    glBindTexture(GL_TEXTURE_2D, id);
}

static void draw_quads(const struct mesh_run *r)
{
    size_t offset = (size_t)r->first * 6 * sizeof(uint16_t);
    glDrawElements(GL_TRIANGLES, r->count * 6, GL_UNSIGNED_SHORT, buffer_offset(offset));
}

static void draw_shapes(const struct painter *p, const struct mesh_run *r)
{
    glUseProgram(p->shape.id);
    set_blend(true);
    bind_texture(GL_TEXTURE0, p->atlas.texture);
    glUniform1i(p->shape.at[UNIFORM_ATLAS], 0);
    draw_quads(r);
}

static void draw_fill(const struct painter *p, const struct mesh_run *r)
{
    glUseProgram(p->fill.id);
    set_blend(r->pass == MESH_VEIL);
    draw_quads(r);
}

/* The coarsest level whose texels are at most half as wide as a pixel, along the axis
 * on which a pixel covers fewer cells. */
static int level_for(float cell_w, float cell_h, int n_level)
{
    float cells = fminf(1 / cell_w, 1 / cell_h);
    int level = cells >= 4 ? (int)floorf(log2f(cells)) - 1 : 0;
    return level < n_level ? level : n_level - 1;
}

static bool draw_heat(struct painter *p, const struct mesh_run *r, enum step_theme theme,
                      float d, struct err *e)
{
    const struct scene_heat *h = r->heat;
    struct heat_texture t;
    if (!heat_acquire(&p->heats, h->m, h->key, &t, e)) return false;
    const GLint *at = p->heat.at;
    float cw = h->cell_w * d, ch = h->cell_h * d;
    int level = level_for(cw, ch, t.n_level);
    struct mesh_box b = mesh_heat_bounds(h, d);

    glUseProgram(p->heat.id);
    set_blend(h->alpha < 1 || h->dim < 1);
    bind_texture(GL_TEXTURE1, p->maps);
    bind_texture(GL_TEXTURE0, t.id);
    glUniform1i(at[HEAT_VALUES], 0);
    glUniform1i(at[HEAT_MAPS], 1);
    glUniform1i(at[HEAT_MAP], (GLint)theme * MAP_COUNT + (GLint)h->map);
    glUniform3i(at[HEAT_LEVEL], level, level > 0 ? t.cols : 0, t.level_y[level]);
    glUniform4f(at[HEAT_GRID], h->x * d, h->y * d, cw, ch);
    glUniform4f(at[HEAT_BOUNDS], b.x0, b.y0, b.x1, b.y1);
    glUniform4i(at[HEAT_PART], h->col0, h->row0, h->col1, h->row1);
    glUniform4i(at[HEAT_FOCUS], h->focus_col0, h->focus_row0, h->focus_col1,
                h->focus_row1);
    glUniform2i(at[HEAT_LIMIT], h->shown < INT_MAX ? (GLint)h->shown : INT_MAX,
                h->mask_from);
    glUniform4f(at[HEAT_RANGE], h->lo, h->hi, h->gain,
                h->log && h->map == MAP_SEQUENTIAL ? 1 : 0);
    glUniform1f(at[HEAT_LEAST], h->least);
    glUniform2f(at[HEAT_ALPHA], h->alpha, h->alpha * h->dim);
    draw_quads(r);
    heat_release(&t);
    return true;
}

/* The largest areas that items hide, in painter's order, and whose they are. */
struct covers {
    struct mesh_box box[COVERS];
    int item[COVERS], n;
};

static float area(struct mesh_box b)
{
    return (b.x1 - b.x0) * (b.y1 - b.y0);
}

static struct covers covers_of(const struct mesh *m, const struct scene *sc)
{
    struct covers c = {.n = 0};
    for (int i = 0; i < sc->n; i++) {
        struct mesh_box b =
            mesh_intersect(mesh_solid(&sc->items[i], m->density), m->view);
        if (mesh_is_empty(b) || area(b) < COVER_LEAST) continue;
        int least = 0;
        for (int k = 1; k < c.n; k++)
            if (area(c.box[k]) < area(c.box[least])) least = k;
        if (c.n == COVERS) { /* the smallest goes */
            if (area(c.box[least]) >= area(b)) continue;
            for (int k = least; k + 1 < c.n; k++) {
                c.box[k] = c.box[k + 1];
                c.item[k] = c.item[k + 1];
            }
            c.n--;
        }
        c.box[c.n] = b;
        c.item[c.n++] = i;
    }
    return c;
}

/* Draws what the mesh holds and empties it. */
static bool flush(struct painter *p, const struct scene *sc, float density, struct err *e)
{
    bool ok = true;
    atlas_upload(&p->atlas);
    glBindVertexArray(p->vao);
    glBindBuffer(GL_ARRAY_BUFFER, p->vertices);
    glBufferData(GL_ARRAY_BUFFER,
                 (GLsizeiptr)((size_t)p->mesh.n_quad * 4 * sizeof(struct mesh_vertex)),
                 p->mesh.vertex, GL_STREAM_DRAW);
    for (int i = 0; ok && i < p->mesh.n_run; i++) {
        const struct mesh_run *r = &p->mesh.run[i];
        switch (r->pass) {
        case MESH_SHAPE:
            draw_shapes(p, r);
            break;
        case MESH_FILL:
        case MESH_VEIL:
            draw_fill(p, r);
            break;
        case MESH_HEAT:
            ok = draw_heat(p, r, sc->theme, density, e);
            break;
        }
    }
    mesh_clear(&p->mesh);
    return gl_check("scene", e) && ok;
}

bool painter_draw(struct painter *p, const struct scene *sc,
                  const struct painter_view *view, struct err *e)
{
    begin_frame(p, scene_theme_get(sc->theme), view);
    heat_cache_frame(&p->heats);
    const struct mesh_text text = {&p->atlas, p->fonts, p->metrics};
    mesh_clear(&p->mesh);
    atlas_set_density(&p->atlas, view->density);
    p->mesh.theme = scene_theme_get(sc->theme);
    p->mesh.density = view->density;
    p->mesh.view =
        (struct mesh_box){(float)view->x, (float)view->y, (float)(view->x + view->w),
                          (float)(view->y + view->h)};
    const struct covers covers = covers_of(&p->mesh, sc);
    for (int i = 0, k = 0; i < sc->n; i++) {
        while (k < covers.n && covers.item[k] <= i) k++;
        p->mesh.cover = covers.box + k;
        p->mesh.n_cover = covers.n - k;
        if (mesh_add(&p->mesh, &sc->items[i], &text)) continue;
        bool mesh_full = p->mesh.full;
        if (!flush(p, sc, view->density, e) ||
            (!mesh_full && !atlas_make_room(&p->atlas, e)))
            return false;
        if (!mesh_add(&p->mesh, &sc->items[i], &text))
            return err_set(e, ERR_SYSTEM, "an item is too large to be drawn at once");
    }
    p->mesh.cover = NULL; /* it was this frame's */
    p->mesh.n_cover = 0;
    return flush(p, sc, view->density, e);
}
