/* The window's loop: waits for events, and draws when something has changed. */
#include "app.h"

#include "dialog.h"

#include <SDL.h>
#include <stdio.h>

/* What lasts from frame to frame. */
struct loop {
    bool dirty;        /* what is on screen is not what is to be seen */
    bool resized;      /* the window's pixels are to be measured again */
    Uint64 last_tick;  /* when the animation was last moved on, ms; 0: it stood still */
    Uint64 last_frame; /* when the last frame was begun, ms */
};

/* The least time between two frames, ms. A millisecond under the display's own, which
 * paces better where it does. */
static Uint64 frame_time(struct app *a)
{
    enum { USUAL = 60 };
    SDL_DisplayMode mode = {.refresh_rate = USUAL};
    if (SDL_GetWindowDisplayMode(gfx_window(a->gfx), &mode) != 0 ||
        mode.refresh_rate < USUAL)
        mode.refresh_rate = USUAL;
    return 1000u / (Uint64)mode.refresh_rate - 1u;
}

static void window_event(struct app *a, struct loop *l, const SDL_WindowEvent *ev)
{
    struct err e = {0};
    a->look = 0; /* what was drawn may be gone, or have another size */
    switch (ev->event) {
    case SDL_WINDOWEVENT_SIZE_CHANGED:
    case SDL_WINDOWEVENT_DISPLAY_CHANGED:
        l->resized = l->dirty = true;
        break;
    case SDL_WINDOWEVENT_EXPOSED:
    case SDL_WINDOWEVENT_SHOWN:
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_MAXIMIZED:
        a->hidden = false;
        l->dirty = true;
        break;
    case SDL_WINDOWEVENT_MINIMIZED:
    case SDL_WINDOWEVENT_HIDDEN:
        a->hidden = true;
        break;
    case SDL_WINDOWEVENT_FOCUS_GAINED:
        if (!a->shader_dir) break;
        if (!gfx_reload(a->gfx, &e))
            (void)snprintf(a->message, sizeof a->message, "%s", e.text);
        l->dirty = true;
        break;
    default:
        break;
    }
}

static void take(struct app *a, struct loop *l, const SDL_Event *ev)
{
    struct ui_event input;
    if (ev->type == SDL_QUIT) {
        app_apply(a, (struct step_action){.verb = STEP_QUIT});
    } else if (ev->type == SDL_DROPFILE) {
        struct err e = {0};
        if (!app_open(a, ev->drop.file, NULL, NULL, &e))
            (void)snprintf(a->message, sizeof a->message, "%s", e.text);
        SDL_free(ev->drop.file);
        l->dirty = true;
    } else if (ev->type == a->wake) {
        l->dirty = true;
    } else if (input_event(&a->scale, ev, &input)) {
        app_event(a, &input);
        l->dirty = true;
    }
    if (ev->type == SDL_WINDOWEVENT) window_event(a, l, &ev->window);
}

/* Takes what has happened. Where nothing is to be drawn it sleeps until something does,
 * for as long as that may be; else until the next frame is due. */
static void gather(struct app *a, struct loop *l)
{
    SDL_Event ev;
    bool moving = (step_is_moving(&a->step) && !a->hidden) || a->film;
    if (!moving && (!l->dirty || a->hidden)) {
        l->last_tick = 0;
        if (SDL_WaitEvent(&ev)) take(a, l, &ev);
    }
    Uint64 due = l->last_frame + frame_time(a);
    for (Uint64 now = SDL_GetTicks64(); now < due; now = SDL_GetTicks64())
        if (SDL_WaitEventTimeout(&ev, (int)(due - now))) take(a, l, &ev);
    while (SDL_PollEvent(&ev)) take(a, l, &ev);
}

/* The time that has passed for the animation, seconds. A stall does not skip it. */
static float time_passed(struct loop *l)
{
    Uint64 now = SDL_GetTicks64();
    float dt = l->last_tick ? (float)(now - l->last_tick) / 1000.0f : 0.0f;
    l->last_tick = now;
    return dt < APP_MAX_DT ? dt : APP_MAX_DT;
}

/* The pointer may rest where another thing has come to lie. */
static void hover_again(struct app *a, struct loop *l)
{
    if (!a->pointer_inside || a->pointer.down) return;
    struct step_ref was = a->step.hover;
    const struct ui_event ev = {.kind = UI_MOVE, .x = a->pointer.x, .y = a->pointer.y};
    app_event(a, &ev);
    if (!step_ref_is(was, a->step.hover)) l->dirty = true;
}

bool app_run(struct app *a, struct err *e)
{
    struct loop l = {.dirty = true};
    while (!a->step.quit) {
        gather(a, &l);
        if (l.resized) {
            app_measure(a);
            l.resized = false;
        }
        if (step_is_moving(&a->step) && step_tick(&a->step, time_passed(&l)))
            l.dirty = true;
        l.last_frame = SDL_GetTicks64();
        if (a->film) {
            dialog_film(a);
            l.dirty = true;
        }
        if (a->hidden || !l.dirty || a->step.quit) continue;
        l.dirty = false;
        if (!app_build(a, false, e) || !app_draw(a, e)) return false;
        hover_again(a, &l);
    }
    return true;
}
