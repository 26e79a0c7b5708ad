/* The window, its OpenGL context, and pictures without a window. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the name by which libc offers madvise */
#define _DEFAULT_SOURCE
#include "gfx.h"

#include "draw.h"

#include <SDL.h>
#include <SDL_ttf.h>
#include <string.h>

#ifdef NDEBUG
enum { DEBUG_BUILD = 0 };
#else
enum { DEBUG_BUILD = 1 };
#endif

#ifdef __GLIBC__
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* A software driver takes and frees megabytes a frame. glibc would give them back to the
 * kernel every time, and page faults would be a quarter of the frame. At the start the
 * driver touches some 20 MB once: the heap grows in one step, in large pages where the
 * kernel has them, which spares thousands of faults before the first frame. */
static void keep_freed_memory(void)
{
    enum { TAKEN = 4 << 20, STEP = 32 << 20, MOST = 64 << 20, LARGE_PAGE = 2 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, 16 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    (void)mallopt(M_TOP_PAD, STEP);
    char *from = malloc(TAKEN), *to = sbrk(0);
    size_t into = (uintptr_t)from % LARGE_PAGE;
    /* where another allocator stands in for glibc's, the two lie far apart */
    if (from && to > from + LARGE_PAGE && to - from < MOST)
        (void)madvise(from + (LARGE_PAGE - into),
                      (size_t)(to - from) - (LARGE_PAGE - into),
                      MADV_HUGEPAGE); /* refused: small pages, as before */
    free(from);
}
#else
static void keep_freed_memory(void)
{
}
#endif

enum {
    TILE_MAX = 4096, /* pixels a side of a picture drawn at once */
    PICTURE_MAX = 32768,
    PATH_ROOM = 8192
};

/* Fonts are found and measured on a second thread while the driver makes the context. */
struct font_job {
    struct fonts fonts;
    struct font_metrics metrics;
    struct err err;
    bool ok;
};

struct gfx {
    struct arena mem; /* holds this struct too */
    SDL_Window *window;
    SDL_GLContext context;
    bool video; /* SDL's video is started */
    bool offscreen;
    const char *shader_dir;
    struct font_job font;
    struct painter painter;
    struct gl_target back;  /* off screen: what gfx_draw draws to */
    struct err debug_error; /* what the driver's debug output said first */
    int tile;               /* largest side of a target */
};

static int SDLCALL find_fonts(void *data)
{
    struct font_job *job = data;
    job->ok = fonts_init(&job->fonts, &job->metrics, &job->err);
    return 0;
}

static void APIENTRY on_debug(GLenum source, GLenum type, GLuint id, GLenum severity,
                              GLsizei length, const GLchar *text, const void *user)
{
    (void)source;
    (void)id;
    (void)severity;
    if (type != GL_DEBUG_TYPE_ERROR) return;
    union {
        const void *in;
        struct gfx *g;
    } at = {user}; /* the pointer that glDebugMessageCallback was given, not const */
    if (at.g->debug_error.code == ERR_NONE)
        (void)err_set(&at.g->debug_error, ERR_SYSTEM, "OpenGL: %.*s", (int)length, text);
}

/* Without a display SDL settles for a driver that shows nothing, unless it is told which
 * to take. */
static bool shows_nothing(void)
{
    const char *driver = SDL_GetCurrentVideoDriver();
    return !SDL_GetHint(SDL_HINT_VIDEODRIVER) && driver &&
           (strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0 ||
            strcmp(driver, "evdev") == 0);
}

static bool open_window(struct gfx *g, const struct gfx_config *c, struct err *e)
{
    if (c->offscreen) (void)SDL_SetHint(SDL_HINT_VIDEODRIVER, "offscreen");
    g->video = SDL_InitSubSystem(SDL_INIT_VIDEO) == 0;
    if (!g->video || (!c->offscreen && shows_nothing()))
        return err_set(
            e, ERR_SYSTEM,
            "no display: %s; run it on a desktop, or use --export or --script, "
            "which need none",
            g->video ? "neither X11 nor Wayland answers" : SDL_GetError());
    (void)SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    (void)SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    (void)SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    (void)SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0);
    (void)SDL_GL_SetAttribute(SDL_GL_DOUBLEBUFFER, 1);
    if (DEBUG_BUILD || c->shader_dir)
        (void)SDL_GL_SetAttribute(SDL_GL_CONTEXT_FLAGS, SDL_GL_CONTEXT_DEBUG_FLAG);
    int x = c->x == GFX_ANYWHERE ? (int)SDL_WINDOWPOS_CENTERED : c->x;
    int y = c->y == GFX_ANYWHERE ? (int)SDL_WINDOWPOS_CENTERED : c->y;
    uint32_t flags = SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    g->window = SDL_CreateWindow("Headlight", x, y, c->w, c->h, flags);
    if (g->window) g->context = SDL_GL_CreateContext(g->window);
    if (!g->context || epoxy_gl_version() < 33)
        return err_set(e, ERR_SYSTEM,
                       "OpenGL 3.3 is not to be had: %s; install a driver (Debian: "
                       "libegl1 libgl1-mesa-dri)",
                       g->context ? "the driver is older" : SDL_GetError());
    (void)SDL_GL_SetSwapInterval(c->offscreen ? 0 : 1);
    return true;
}

static void ask_for_debug(struct gfx *g)
{
    GLint flags = 0;
    glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
    if (!((GLuint)flags & GL_CONTEXT_FLAG_DEBUG_BIT) ||
        !epoxy_has_gl_extension("GL_KHR_debug"))
        return;
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    glDebugMessageCallback(on_debug, g);
}

/* There may be more than one renderer. Costs nothing where it is current already. */
static void make_current(const struct gfx *g)
{
    (void)SDL_GL_MakeCurrent(g->window, g->context);
}

static bool start(struct gfx *g, const struct gfx_config *c, struct err *e)
{
    keep_freed_memory();
    SDL_Thread *thread = SDL_CreateThread(find_fonts, "fonts", &g->font);
    bool ok = open_window(g, c, e);
    if (thread)
        SDL_WaitThread(thread, NULL);
    else
        (void)find_fonts(&g->font);
    if (!ok) return false;
    if (!g->font.ok) {
        if (e) *e = g->font.err;
        return false;
    }
    ask_for_debug(g);
    GLint size = 0, viewport[2] = {0};
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    g->tile = SDL_min(SDL_min(size, TILE_MAX), SDL_min(viewport[0], viewport[1]));
    return painter_init(&g->painter, &g->mem, &g->font.fonts, &g->font.metrics,
                        g->shader_dir, e);
}

bool gfx_create(struct gfx **out, const struct gfx_config *c, struct err *e)
{
    *out = NULL;
    struct arena mem;
    if (!arena_init(&mem, sizeof(struct gfx) + painter_bytes() + PATH_ROOM, e))
        return false;
    struct gfx *g = arena_push(&mem, 1, sizeof *g);
    g->mem = mem;
    g->offscreen = c->offscreen;
    if (c->shader_dir) {
        g->shader_dir = arena_text(&g->mem, c->shader_dir, strlen(c->shader_dir));
        if (!g->shader_dir) {
            arena_free(&mem);
            return err_set(e, ERR_USAGE, "the shader folder's path is too long");
        }
    }
    if (!start(g, c, e)) {
        gfx_destroy(g);
        return false;
    }
    *out = g;
    return true;
}

void gfx_destroy(struct gfx *g)
{
    if (!g) return;
    if (g->context) {
        make_current(g);
        painter_fini(&g->painter);
        gl_target_destroy(&g->back);
        SDL_GL_DeleteContext(g->context);
    }
    fonts_fini(&g->font.fonts);
    if (g->window) SDL_DestroyWindow(g->window);
    if (g->video) SDL_QuitSubSystem(SDL_INIT_VIDEO);
    struct arena mem = g->mem;
    arena_free(&mem);
}

struct SDL_Window *gfx_window(struct gfx *g)
{
    return g->window;
}

const struct font_metrics *gfx_metrics(const struct gfx *g)
{
    return &g->font.metrics;
}

void gfx_pixels(const struct gfx *g, int *w, int *h)
{
    SDL_GL_GetDrawableSize(g->window, w, h);
}

/* Draws, and reports what the driver's debug output said meanwhile. */
static bool draw(struct gfx *g, const struct scene *sc, const struct painter_view *view,
                 struct err *e)
{
    g->debug_error = (struct err){0};
    if (!painter_draw(&g->painter, sc, view, e)) return false;
    if (g->debug_error.code == ERR_NONE) return true;
    if (e) *e = g->debug_error;
    return false;
}

bool gfx_draw(struct gfx *g, const struct scene *sc, float density, struct err *e)
{
    struct painter_view view = {.density = density};
    gfx_pixels(g, &view.w, &view.h);
    if (view.w < 1 || view.h < 1) return true; /* minimised */
    make_current(g);
    if (g->offscreen) {
        if (g->back.w != view.w || g->back.h != view.h) {
            gl_target_destroy(&g->back);
            if (!gl_target_create(&g->back, view.w, view.h, e)) return false;
        }
        view.fbo = g->back.fbo;
    }
    return draw(g, sc, &view, e);
}

void gfx_present(struct gfx *g)
{
    if (g->offscreen)
        glFinish(); /* there is nothing to swap; the frame is as done as it gets */
    else
        SDL_GL_SwapWindow(g->window);
}

bool gfx_picture(struct gfx *g, const struct scene *sc, float density, int w, int h,
                 uint8_t *rgba, struct err *e)
{
    if (w < 1 || h < 1 || w > PICTURE_MAX || h > PICTURE_MAX)
        return err_set(e, ERR_USAGE,
                       "a picture of %d x %d pixels; each side must be 1 to %d", w, h,
                       PICTURE_MAX);
    make_current(g);
    struct gl_target target;
    int tile_w = SDL_min(w, g->tile), tile_h = SDL_min(h, g->tile);
    if (!gl_target_create(&target, tile_w, tile_h, e)) return false;
    bool ok = true;
    for (int y = 0; ok && y < h; y += tile_h) {
        for (int x = 0; ok && x < w; x += tile_w) {
            struct painter_view view = {.fbo = target.fbo,
                                        .density = density,
                                        .x = x,
                                        .y = y,
                                        .w = SDL_min(tile_w, w - x),
                                        .h = SDL_min(tile_h, h - y),
                                        .top_first = true};
            ok = draw(g, sc, &view, e);
            glBindFramebuffer(GL_READ_FRAMEBUFFER, target.fbo);
            glPixelStorei(GL_PACK_ALIGNMENT, 1);
            glPixelStorei(GL_PACK_ROW_LENGTH, w);
            if (ok)
                glReadPixels(0, 0, view.w, view.h, GL_RGBA, GL_UNSIGNED_BYTE,
                             rgba + ((size_t)y * (size_t)w + (size_t)x) * 4);
        }
    }
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    ok = ok && gl_check("picture", e);
    gl_target_destroy(&target);
    return ok;
}

bool gfx_reload(struct gfx *g, struct err *e)
{
    make_current(g);
    return painter_reload(&g->painter, g->shader_dir, e);
}
