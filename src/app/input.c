/* SDL's events in the program's own words; no SDL type goes further than this. */
#include "input.h"

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* With at least min_w x min_h points. */
static struct input_scale scale_to(int px_w, int px_h, float ratio, float wish,
                                   float min_w, float min_h)
{
    float most = fminf((float)px_w / min_w, (float)px_h / min_h);
    float density = fminf(wish, most);
    return (struct input_scale){.ratio = ratio,
                                .density = density,
                                .w = fmaxf((float)px_w / density, min_w),
                                .h = fmaxf((float)px_h / density, min_h),
                                .limited = wish > most};
}

struct input_scale input_scale_of(int px_w, int px_h, float ratio, float base,
                                  int ui_percent)
{
    return scale_to(px_w, px_h, ratio, base * (float)ui_percent / 100.0f, SCENE_MIN_W,
                    SCENE_MIN_H);
}

struct input_scale input_scale_presented(int px_w, int px_h, float ratio, float base,
                                         int ui_percent)
{
    return scale_to(px_w, px_h, ratio,
                    base * INPUT_PRESENTED * (float)ui_percent / 100.0f,
                    SCENE_PRESENTED_W, SCENE_PRESENTED_H);
}

float input_base_of(float dpi)
{
    if (!(dpi >= 96.0f && dpi <= 400.0f)) return 1.0f; /* projectors claim anything */
    return floorf(dpi / 96.0f * 2.0f) / 2.0f;
}

/* ---- keys ----------------------------------------------------------------------------- */

static const struct {
    SDL_Keycode sym;
    int key;
} special[] = {
    {SDLK_LEFT, UI_KEY_LEFT},
    {SDLK_RIGHT, UI_KEY_RIGHT},
    {SDLK_UP, UI_KEY_UP},
    {SDLK_DOWN, UI_KEY_DOWN},
    {SDLK_HOME, UI_KEY_HOME},
    {SDLK_END, UI_KEY_END},
    {SDLK_PAGEUP, UI_KEY_PAGE_UP},
    {SDLK_PAGEDOWN, UI_KEY_PAGE_DOWN},
    {SDLK_TAB, UI_KEY_TAB},
    {SDLK_RETURN, UI_KEY_ENTER},
    {SDLK_KP_ENTER, UI_KEY_ENTER},
    {SDLK_ESCAPE, UI_KEY_ESCAPE},
    {SDLK_BACKSPACE, UI_KEY_BACKSPACE},
    {SDLK_DELETE, UI_KEY_DELETE},
    {SDLK_F1, UI_KEY_F1},
    {SDLK_F11, UI_KEY_F11},
    {SDLK_KP_PLUS, '='}, /* where "=" shares its key with "+" */
    {SDLK_PLUS, '='},    /* a key of its own on some layouts */
    {SDLK_KP_MINUS, '-'},
};

/* What a US keyboard has at the key's place, 0: nothing printable. */
static int at_place(SDL_Scancode code)
{
    static const char punctuation[] = {
        [SDL_SCANCODE_MINUS] = '-',       [SDL_SCANCODE_EQUALS] = '=',
        [SDL_SCANCODE_LEFTBRACKET] = '[', [SDL_SCANCODE_RIGHTBRACKET] = ']',
        [SDL_SCANCODE_COMMA] = ',',       [SDL_SCANCODE_PERIOD] = '.',
        [SDL_SCANCODE_SLASH] = '/',
    };
    if (code >= SDL_SCANCODE_A && code <= SDL_SCANCODE_Z)
        return 'a' + (int)(code - SDL_SCANCODE_A);
    if (code >= SDL_SCANCODE_1 && code <= SDL_SCANCODE_9)
        return '1' + (int)(code - SDL_SCANCODE_1);
    if (code == SDL_SCANCODE_0) return '0';
    if (code >= SDL_SCANCODE_KP_1 && code <= SDL_SCANCODE_KP_9)
        return '1' + (int)(code - SDL_SCANCODE_KP_1);
    if (code == SDL_SCANCODE_KP_0) return '0';
    return (size_t)code < sizeof punctuation ? punctuation[code] : 0;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Layouts differ: digits may need shift (French), letters may not be Latin at all. Then
 * the key's place decides, so that every key of the program can be pressed. */
static int key_of(SDL_Keysym k)
{
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (special[i].sym == k.sym) return special[i].key;
    int place = at_place(k.scancode);
    bool punctuation = k.sym > 0 && k.sym < SDLK_DELETE && strchr("-=[],./", k.sym);
    if (is_digit(place) && (!punctuation || k.mod & KMOD_SHIFT)) return place;
    if (k.sym >= ' ' && k.sym < SDLK_DELETE) return k.sym;
    return place;
}

static int mods_of(Uint16 mod)
{
    return (mod & KMOD_SHIFT ? UI_SHIFT : 0) | (mod & KMOD_CTRL ? UI_CTRL : 0) |
           (mod & (KMOD_ALT | KMOD_GUI) ? UI_ALT : 0);
}

/* ---- events --------------------------------------------------------------------------- */

bool input_event(const struct input_scale *sc, const union SDL_Event *ev,
                 struct ui_event *out)
{
    float points = sc->ratio / sc->density; /* of a window coordinate */
    *out = (struct ui_event){0};
    switch (ev->type) {
    case SDL_KEYDOWN:
        out->kind = UI_KEY;
        out->key = key_of(ev->key.keysym);
        out->mods = mods_of(ev->key.keysym.mod);
        return out->key != UI_KEY_NONE;
    case SDL_MOUSEMOTION:
        out->kind = UI_MOVE;
        out->x = (float)ev->motion.x * points;
        out->y = (float)ev->motion.y * points;
        return true;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        out->kind = ev->type == SDL_MOUSEBUTTONDOWN ? UI_DOWN : UI_UP;
        out->x = (float)ev->button.x * points;
        out->y = (float)ev->button.y * points;
        out->clicks = ev->button.clicks;
        out->mods = mods_of((Uint16)SDL_GetModState());
        return ev->button.button == SDL_BUTTON_LEFT;
    case SDL_MOUSEWHEEL:
        out->kind = UI_WHEEL;
        out->x = (float)ev->wheel.mouseX * points;
        out->y = (float)ev->wheel.mouseY * points;
        out->wheel = ev->wheel.preciseY;
        out->mods = mods_of((Uint16)SDL_GetModState());
        if (ev->wheel.direction == SDL_MOUSEWHEEL_FLIPPED) out->wheel = -out->wheel;
        return out->wheel != 0.0f;
    case SDL_TEXTINPUT:
    case SDL_TEXTEDITING:
        out->kind = ev->type == SDL_TEXTINPUT ? UI_TEXT : UI_COMPOSE;
        (void)snprintf(out->text, sizeof out->text, "%s",
                       ev->type == SDL_TEXTINPUT ? ev->text.text : ev->edit.text);
        return true;
    case SDL_WINDOWEVENT:
        out->kind = UI_LEAVE;
        return ev->window.event == SDL_WINDOWEVENT_LEAVE;
    default:
        return false;
    }
}
