/* Opening the window, or what stands for it off screen. */
#include "open.h"

#include "cli.h"

#include <SDL.h>
#include <stdlib.h>

static bool display_is_named(void)
{
    static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && value[0]) return true;
    }
    return false;
}

static bool no_display(struct err *e, const char *why)
{
    return err_set(
        e, ERR_SYSTEM,
        "no display to open a window on (%s); use --export FILE.png or --script "
        "FILE, which need none, or start it in a desktop session",
        why);
}

/* Window size and place: as remembered, as asked for, or the usual, inside a display. */
static void place_window(const struct app *a, const struct app_config *c,
                         struct gfx_config *g)
{
    const struct settings *s = c->settings;
    bool placed = s && s->placed;
    SDL_Rect room = {0, 0, CLI_W, CLI_H};
    int display = 0;
    g->x = g->y = GFX_ANYWHERE;
    if (placed) {
        SDL_Point centre = {s->x + s->w / 2, s->y + s->h / 2};
        int at = SDL_GetPointDisplayIndex(&centre);
        if (at >= 0) {
            display = at;
            g->x = s->x;
            g->y = s->y;
        }
    }
    g->w = c->w ? c->w : placed ? s->w : (int)(CLI_W * a->base);
    g->h = c->h ? c->h : placed ? s->h : (int)(CLI_H * a->base);
    if (SDL_GetDisplayUsableBounds(display, &room) == 0) {
        g->w = SDL_min(g->w, room.w);
        g->h = SDL_min(g->h, room.h);
    }
}

/* What rests on the screen is at another place of the layout. */
static void pointer_rescaled(struct ui_pointer *p, float by)
{
    p->x *= by;
    p->y *= by;
    p->press_x *= by;
    p->press_y *= by;
}

void app_rescale(struct app *a)
{
    float was = a->scale.density;
    a->look = 0;
    a->presented = a->step.presenter.on;
    a->scale = a->presented ? input_scale_presented(a->px_w, a->px_h, a->ratio, a->base,
                                                    a->step.ui_percent)
                            : input_scale_of(a->px_w, a->px_h, a->ratio, a->base,
                                             a->step.ui_percent);
    if (was > 0.0f && a->scale.density > 0.0f)
        pointer_rescaled(&a->pointer, was / a->scale.density);
}

void app_measure(struct app *a)
{
    SDL_Window *window = gfx_window(a->gfx);
    int w = 1;
    int h = 1;
    float dpi = 0.0f;
    gfx_pixels(a->gfx, &a->px_w, &a->px_h);
    SDL_GetWindowSize(window, &w, &h);
    a->ratio = w > 0 ? (float)a->px_w / (float)w : 1.0f;
    int display = SDL_GetWindowDisplayIndex(window);
    if (display < 0 || SDL_GetDisplayDPI(display, NULL, &dpi, NULL) != 0) dpi = 0.0f;
    /* Where the system scales by itself, its ratio says it all. */
    a->base = a->density > 0.0f ? a->density
              : a->ratio > 1.0f ? a->ratio
                                : input_base_of(dpi);
    app_rescale(a);
}

void open_hints(bool headless)
{
    (void)SDL_SetHint(SDL_HINT_APP_NAME, "Headlight");
    (void)SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    (void)SDL_SetHint(SDL_HINT_MOUSE_FOCUS_CLICKTHROUGH, "1");
    (void)SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    if (!headless) return;
    /* Nobody polls for SDL_QUIT off screen: Ctrl+C must end the program itself. */
    (void)SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    /* Whatever SDL_VIDEODRIVER says: it is about windows. */
    (void)SDL_SetHintWithPriority(SDL_HINT_VIDEODRIVER, "offscreen", SDL_HINT_OVERRIDE);
}

bool open_on_display(struct app *a, const struct app_config *c, struct err *e)
{
    if (!display_is_named())
        return no_display(e, "DISPLAY and WAYLAND_DISPLAY are not set");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) return no_display(e, SDL_GetError());
    float dpi = 0.0f;
    if (SDL_GetDisplayDPI(0, NULL, &dpi, NULL) != 0) dpi = 0.0f;
    a->base = a->density > 0.0f ? a->density : input_base_of(dpi);
    struct gfx_config g = {.shader_dir = c->shader_dir};
    place_window(a, c, &g);
    bool ok = gfx_create(&a->gfx, &g, e);
    /* gfx holds video from here on. */
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
    if (!ok) return false;
    SDL_SetWindowMinimumSize(gfx_window(a->gfx), SCENE_MIN_W, SCENE_MIN_H);
    SDL_StopTextInput(); /* keys are commands: no input method in between */
    app_measure(a);
    Uint32 event = SDL_RegisterEvents(1);
    a->wake = event == (Uint32)-1 ? SDL_USEREVENT : event;
    return true;
}

bool open_offscreen(struct app *a, const struct app_config *c, struct err *e)
{
    a->px_w = c->w ? c->w : CLI_W;
    a->px_h = c->h ? c->h : CLI_H;
    a->ratio = 1.0f;
    a->base = a->density > 0.0f ? a->density : 1.0f;
    if (c->on_paper) return true;
    const struct gfx_config g = {.w = a->px_w,
                                 .h = a->px_h,
                                 .x = GFX_ANYWHERE,
                                 .y = GFX_ANYWHERE,
                                 .offscreen = true,
                                 .shader_dir = c->shader_dir};
    return gfx_create(&a->gfx, &g, e);
}
