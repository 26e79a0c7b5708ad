/* The program: events to actions, the state to a scene, the scene to the screen. */
#include "app.h"

#include "browse.h"
#include "cli.h"
#include "clipboard.h"
#include "complete.h"
#include "dialog.h"
#include "film.h"
#include "names.h"
#include "paper.h"
#include "preview.h"
#include "state.h"

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- start and end -------------------------------------------------------------------- */

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

static void rescale(struct app *a)
{
    a->scale = input_scale_of(a->px_w, a->px_h, a->ratio, a->base, a->step.ui_percent);
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
    rescale(a);
}

static void set_hints(bool headless)
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

static bool open_window(struct app *a, const struct app_config *c, struct err *e)
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

static bool open_offscreen(struct app *a, const struct app_config *c, struct err *e)
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

bool app_init(struct app *a, const struct app_config *c, struct err *e)
{
    *a = (struct app){
        .headless = c->headless, .shader_dir = c->shader_dir, .density = c->density};
    a->step = step_initial();
    if (c->settings) {
        a->step.theme = c->settings->theme;
        a->step.ui_percent = c->settings->ui_percent;
        a->step.speed = c->settings->speed;
        a->step.log_weights = c->settings->log_weights;
    }
    set_hints(c->headless);
    bool ok = c->headless ? open_offscreen(a, c, e) : open_window(a, c, e);
    if (ok && c->on_paper) ok = app_paper(a, e);
    if (!ok || !arena_init(&a->frame_mem, scene_bytes(), e) ||
        !source_init(&a->source, a->wake, e)) {
        app_fini(a);
        return false;
    }
    a->source.loaded.cut_front = c->cut_front;
    a->compare = c->compare;
    if (a->compare) a->compare->event = a->wake;
    rescale(a);
    a->step.past = step_past_create();
    if (!a->step.past) {
        app_fini(a);
        return err_set(e, ERR_SYSTEM, "out of memory for what can be undone");
    }
    for (int i = 0; c->start && i < c->start->n; i++) app_apply(a, c->start->at[i]);
    if (c->warning) (void)snprintf(a->message, sizeof a->message, "%s", c->warning);
    return true;
}

void app_fini(struct app *a)
{
    film_drop(a->film);
    browse_end(&a->browse);
    if (a->compare) compare_view_settle(a->compare);
    source_fini(&a->source); /* its thread pushes events: before SDL goes */
    step_past_destroy(a->step.past);
    arena_free(&a->frame_mem);
    paper_destroy(a->paper);
    gfx_destroy(a->gfx);
    *a = (struct app){0};
}

const struct font_metrics *app_fonts(const struct app *a)
{
    return a->gfx ? gfx_metrics(a->gfx) : paper_metrics(a->paper);
}

bool app_paper(struct app *a, struct err *e)
{
    return a->paper || paper_create(&a->paper, e);
}

const char *app_state(const struct app *a, struct arena *mem, struct err *e)
{
    const struct loaded *l = &a->source.loaded;
    bool loaded = step_is_loaded(&a->step.place[STEP_GPT2]);
    bool compared =
        a->compare && compare_view_fits(a->compare, source_key(&a->source, &a->step));
    const struct state_shown now = {
        .step = &a->step,
        .model = loaded ? a->source.path : NULL,
        .text = l->typed,
        .n_text = loaded ? l->n_typed : 0,
        .cut_front = loaded && l->cut_front,
        .compare = compared ? a->compare->cmp.cli->compare : NULL,
        .tolerance = compared ? a->compare->cmp.cli->tolerance : 0.0,
        .w = a->px_w,
        .h = a->px_h,
        .density = a->base};
    *mem = (struct arena){0};
    const char *line = NULL;
    if (arena_init(mem, state_line_bytes(&now) + 64, e)) line = state_line(&now, mem);
    if (!line) (void)err_set(e, ERR_SYSTEM, "out of memory for the state\u2019s line");
    return line;
}

struct settings app_settings(const struct app *a)
{
    struct settings s = {.theme = a->step.theme,
                         .ui_percent = a->step.ui_percent,
                         .speed = a->step.speed,
                         .log_weights = a->step.log_weights};
    SDL_Window *window = gfx_window(a->gfx);
    Uint32 flags = SDL_GetWindowFlags(window);
    /* A full screen or maximised window's size is not one to come back to. */
    s.placed =
        !(flags & (SDL_WINDOW_FULLSCREEN | SDL_WINDOW_MAXIMIZED | SDL_WINDOW_MINIMIZED));
    SDL_GetWindowPosition(window, &s.x, &s.y);
    SDL_GetWindowSize(window, &s.w, &s.h);
    return s;
}

/* ---- events to state ------------------------------------------------------------------- */

/* Says so where the window is too small for the UI size wished for. */
static void answer_ui_size(struct app *a)
{
    if (!a->scale.limited || a->step.ui_percent <= 100) return;
    float factor = a->base / a->ratio * (float)a->step.ui_percent / 100.0f;
    (void)snprintf(a->message, sizeof a->message,
                   "UI size %d%% needs a window of at least %.0f\u00d7%.0f",
                   a->step.ui_percent, ceil((double)SCENE_MIN_W * (double)factor),
                   ceil((double)SCENE_MIN_H * (double)factor));
}

static void set_fullscreen(struct app *a)
{
    if (a->headless || a->fullscreen == a->step.fullscreen) return;
    Uint32 flags = a->step.fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0;
    a->fullscreen = a->step.fullscreen;
    if (SDL_SetWindowFullscreen(gfx_window(a->gfx), flags) != 0)
        (void)snprintf(a->message, sizeof a->message, "full screen: %s", SDL_GetError());
}

/* Looking around leaves a message where it is; whatever does something takes it away. */
static bool keeps_message(enum step_verb verb)
{
    return verb == STEP_HOVER || verb == STEP_PAN || verb == STEP_ZOOM ||
           verb == STEP_FOCUS;
}

/* ---- the text being edited ------------------------------------------------------------- */

/* What goes with the letters as they are now: the count of tokens, or why there is none;
 * of a path, what lies there. */
static void look_at_edited(struct app *a)
{
    struct ui_editor *ed = &a->editor;
    struct err e = {0};
    ed->wrong[0] = '\0';
    if (ed->file) {
        dialog_look(a);
        return;
    }
    if (ed->path) {
        struct complete c;
        complete_path(&c, ed->text, (size_t)ed->n);
        for (int i = 0; i < UI_EDITOR_MATCHES; i++)
            (void)snprintf(ed->match[i], sizeof ed->match[i], "%s", c.name[i]);
        ed->n_match = c.n;
        ed->pick = -1;
        return;
    }
    struct loaded_ids ids;
    bool ok = loaded_encode(&a->source.loaded, ed->text, (size_t)ed->n, &ids, &e);
    ed->count = ok ? ids.all : 0;
    if (!ok) (void)snprintf(ed->wrong, sizeof ed->wrong, "%s", e.text);
    ed->n_chip = 0;
    if (ok) preview_tokens(ed, &a->source.loaded, &ids);
}

/* The editor opens and closes with the state. */
static void follow_editing(struct app *a)
{
    const struct loaded *l = &a->source.loaded;
    struct ui_editor *ed = &a->editor;
    if (a->edited == a->step.editing) return;
    a->edited = a->step.editing;
    ed->file = a->edited == STEP_EDIT_EXPORT;
    ed->path = ed->file || a->edited == STEP_EDIT_PATH;
    ed->has_special = false;
    ed->can_browse = ed->path && !ed->file && !a->headless && browse_is_there();
    if (a->edited == STEP_EDIT_TEXT) {
        const struct model_bpe *bpe = model_net_bpe(l->net);
        ed->limit = l->limit;
        ed->cut_front = l->cut_front;
        ed->has_special = bpe && model_bpe_special(bpe) >= 0;
        ui_editor_begin(ed, l->typed, l->n_typed);
    } else if (ed->file) {
        dialog_begin(a);
    } else {
        ui_editor_begin(ed, "", 0);
    }
    if (a->edited != STEP_EDIT_NONE) look_at_edited(a);
    if (a->headless) return;
    if (a->edited != STEP_EDIT_NONE)
        SDL_StartTextInput();
    else
        SDL_StopTextInput();
}

/* The text is read, or the model opened. false: it cannot be, and the editor says why. */
static bool read_edited(struct app *a, struct err *e)
{
    struct ui_editor *ed = &a->editor;
    size_t n = (size_t)ed->n;
    if (ed->file) return dialog_done(a, e);
    if (ed->path) {
        char path[FILE_PATH];
        if (!complete_home(path, sizeof path, ed->text, n))
            return err_set(e, ERR_INPUT, "the path is longer than %d bytes", FILE_PATH);
        if (!path[0]) return err_set(e, ERR_INPUT, "type the path of a model");
        return app_open(a, path, NULL, NULL, e);
    }
    char note[sizeof a->message] = "";
    if (!source_set_text(&a->source, &a->step, ed->text, n, note, sizeof note, e))
        return false;
    (void)snprintf(a->message, sizeof a->message, "%s", note);
    return true;
}

static void end_editing(struct app *a)
{
    struct err e = {0};
    if (!read_edited(a, &e)) {
        (void)snprintf(a->editor.wrong, sizeof a->editor.wrong, "%s", e.text);
        return;
    }
    (void)step_apply(&a->step, (struct step_action){.verb = STEP_EDIT});
    follow_editing(a);
}

/* Tab: what all that lies there goes on with. */
static void complete_edited(struct app *a)
{
    struct ui_editor *ed = &a->editor;
    struct complete c;
    complete_path(&c, ed->text, (size_t)ed->n);
    ed->at = ed->anchor = ed->n;
    (void)ui_editor_insert(ed, c.more, strlen(c.more));
}

/* The i-th of what lies there. */
static void pick_match(struct app *a, int i)
{
    struct ui_editor *ed = &a->editor;
    struct complete c;
    complete_path(&c, ed->text, (size_t)ed->n);
    if (!ed->path || i < 0 || i >= c.n || i >= UI_EDITOR_MATCHES) return;
    ed->at = ed->anchor = ed->n;
    const char *rest = c.name[i] + c.typed;
    (void)ui_editor_insert(ed, rest, strlen(rest));
    look_at_edited(a);
}

/* What was chosen in the file chooser is opened, where a path is still asked for. */
static void take_chosen(struct app *a)
{
    char path[FILE_PATH];
    struct ui_editor *ed = &a->editor;
    if (!browse_done(&a->browse, path, sizeof path) || !path[0]) return;
    if (a->step.editing != STEP_EDIT_PATH) return;
    ui_editor_begin(ed, path, strlen(path));
    look_at_edited(a);
    app_apply(a, (struct step_action){.verb = STEP_TEXT_DONE});
}

static void copy_selection(struct app *a)
{
    struct ui_editor *ed = &a->editor;
    char text[UI_EDITOR_ROOM + 1];
    int from = 0;
    int to = 0;
    size_t n = 0;
    ui_editor_selection(ed, &from, &to);
    for (int i = from; i < to; i++) /* the special token has no text */
        if (ed->text[i] != UI_EDITOR_SPECIAL) text[n++] = ed->text[i];
    text[n] = '\0';
    if (from < to) (void)SDL_SetClipboardText(text);
}

/* Makes room for n bytes at the caret by taking what is at the text's front. */
static void drop_front(struct ui_editor *ed, size_t n)
{
    int from = 0;
    int to = 0;
    ui_editor_selection(ed, &from, &to);
    if (from < to) (void)ui_editor_insert(ed, "", 0);
    size_t room = UI_EDITOR_ROOM - (size_t)ed->n;
    size_t by = n > room ? n - room : 0;
    while (by < (size_t)ed->n && ((unsigned char)ed->text[by] & 0xC0) == 0x80) by++;
    if (by > (size_t)ed->n) by = (size_t)ed->n;
    int at = ed->at > (int)by ? ed->at - (int)by : 0;
    memmove(ed->text, ed->text + by, (size_t)ed->n - by);
    ed->n -= (int)by;
    ed->at = ed->anchor = at;
}

/* What is longer than the editor holds loses its end or its front, as a text does. */
static void paste_long(struct app *a, const char *text, size_t n)
{
    struct ui_editor *ed = &a->editor;
    int from = 0;
    int to = 0;
    if (ed->cut_front) {
        while (n > UI_EDITOR_ROOM || (n && ((unsigned char)*text & 0xC0) == 0x80)) {
            text++;
            n--;
        }
        drop_front(ed, n);
    } else {
        ui_editor_selection(ed, &from, &to);
        n = UI_EDITOR_ROOM - (size_t)(ed->n - (to - from));
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
    }
    (void)ui_editor_insert(ed, text, n);
    (void)snprintf(a->message, sizeof a->message,
                   "a text has up to %d bytes: what was pasted has lost its %s",
                   UI_EDITOR_ROOM, ed->cut_front ? "front" : "end");
}

/* Pastes what is UTF-8; SDL's texts are. */
static void paste(struct app *a)
{
    char *text = SDL_GetClipboardText();
    size_t n = text ? strlen(text) : 0;
    if (text && !strchr(text, UI_EDITOR_SPECIAL) &&
        !ui_editor_insert(&a->editor, text, n))
        paste_long(a, text, n);
    SDL_free(text);
}

/* The mouse in the editor. true: the event was the editor's. */
static bool edit_by_mouse(struct app *a, const struct ui_event *ev)
{
    struct ui_editor *ed = &a->editor;
    int at = ed->at;
    if (!ui_editor_event(ed, ev, &a->scene)) return false;
    if (ed->at != at && !ed->path) look_at_edited(a);
    a->pointer.x = ev->x;
    a->pointer.y = ev->y;
    return true;
}

/* What is not a letter and not a way through the text. true: the event was the editor's. */
static bool edit_command(struct app *a, const struct ui_event *ev)
{
    struct ui_editor *ed = &a->editor;
    bool ctrl = ev->kind == UI_KEY && ev->mods == UI_CTRL;
    bool enter =
        ev->kind == UI_KEY && ev->key == UI_KEY_ENTER && !ev->mods && !ed->compose[0];
    if (ctrl && (ev->key == 'c' || ev->key == 'x')) {
        copy_selection(a);
        if (ev->key == 'x' && ed->at != ed->anchor) (void)ui_editor_insert(ed, "", 0);
        look_at_edited(a);
    } else if (ctrl && ev->key == 'v') {
        paste(a);
        look_at_edited(a);
    } else if (ctrl && ev->key == 'o' && ed->can_browse) {
        app_apply(a, (struct step_action){.verb = STEP_TEXT_BROWSE});
    } else if (enter && ed->path && ed->pick >= 0) {
        pick_match(a, ed->pick);
    } else if (enter) {
        app_apply(a, (struct step_action){.verb = STEP_TEXT_DONE});
    } else {
        /* What concerns the window still does; letters come as text. */
        return !(ev->key == UI_KEY_TAB || ev->key == UI_KEY_ESCAPE ||
                 ev->key == UI_KEY_F11 || (ev->mods & UI_CTRL));
    }
    return true;
}

/* true: the event was the editor's and not the program's. */
static bool edit(struct app *a, const struct ui_event *ev)
{
    struct ui_editor *ed = &a->editor;
    bool letters = ev->kind == UI_TEXT || ev->kind == UI_COMPOSE;
    if (!a->step.editing) return letters;
    if (ev->kind != UI_KEY && !letters) return edit_by_mouse(a, ev);
    bool press = ev->kind == UI_KEY && (ev->key == UI_KEY_ENTER || ev->key == ' ') &&
                 !ev->mods && !ed->compose[0];
    if (press && a->step.focus) return false; /* the focused button's */
    if (ed->path && !ed->file && ev->kind == UI_KEY && ev->key == UI_KEY_TAB &&
        !ed->compose[0]) {
        complete_edited(a);
        look_at_edited(a);
        return true;
    }
    int pick = ed->pick;
    if (!ui_editor_event(ed, ev, &a->scene)) return edit_command(a, ev);
    if (ed->pick == pick) look_at_edited(a);
    return true;
}

/* In the browser; off screen it is said alone. */
static void open_link(struct app *a, int i)
{
    const struct scene_link *l = scene_link_at(i);
    if (!l) return;
    bool ok = a->headless || SDL_OpenURL(l->address) == 0;
    (void)snprintf(a->message, sizeof a->message, "%s%.400s",
                   ok ? "" : "no browser could be started for ", l->address);
}

void app_apply(struct app *a, struct step_action action)
{
    bool done = step_apply(&a->step, action);
    if (done && action.verb == STEP_LINK) {
        open_link(a, action.i);
        return;
    }
    follow_editing(a);
    if (done && action.verb == STEP_TEXT_DONE) {
        end_editing(a);
        return;
    }
    if (done && action.verb == STEP_TEXT_CUT && !a->editor.path) {
        a->source.loaded.cut_front = a->editor.cut_front = !a->editor.cut_front;
        look_at_edited(a);
    }
    if (done && action.verb == STEP_TEXT_PICK) pick_match(a, action.i);
    struct err e = {0};
    if (done && action.verb == STEP_TEXT_BROWSE && a->editor.can_browse &&
        !browse_begin(&a->browse, a->wake, &e))
        (void)snprintf(a->editor.wrong, sizeof a->editor.wrong, "%s", e.text);
    if (done && action.verb == STEP_TEXT_SPECIAL) {
        const char special[1] = {UI_EDITOR_SPECIAL};
        (void)ui_editor_insert(&a->editor, special, 1);
        look_at_edited(a);
    }
    if (done && action.verb == STEP_OUT_FORMAT) {
        dialog_format(a, (enum step_out_format)action.i);
        look_at_edited(a);
    }
    if (done && !keeps_message(action.verb)) {
        a->message[0] = '\0';
        if (action.verb != STEP_COPY) a->copied = 0;
    }
    if (done && action.verb == STEP_COPY) app_copy(a, (enum step_copy)action.i);
    if (action.verb == STEP_UI_SIZE || action.verb == STEP_UI_SIZE_BY) {
        rescale(a);
        answer_ui_size(a);
    }
    set_fullscreen(a);
}

void app_event(struct app *a, const struct ui_event *ev)
{
    a->actions.n = 0;
    if (ev->kind == UI_KEY && ev->key == UI_KEY_ESCAPE && dialog_cancel(a)) return;
    if (edit(a, ev)) return;
    ui_event(&a->pointer, ev, &a->scene, &a->step, &a->actions);
    for (int i = 0; i < a->actions.n; i++) app_apply(a, a->actions.at[i]);
    if (ev->kind == UI_LEAVE)
        a->pointer_inside = false;
    else if (ev->kind != UI_KEY)
        a->pointer_inside = true;
}

void app_resize(struct app *a, int px_w, int px_h)
{
    if (a->headless && a->gfx) SDL_SetWindowSize(gfx_window(a->gfx), px_w, px_h);
    a->px_w = px_w;
    a->px_h = px_h;
    rescale(a);
}

/* ---- models ------------------------------------------------------------------------------ */

/* Takes a model over that has been opened. false: it could not be, or does not have what
 * was asked for with it. */
static bool take_model(struct app *a, struct err *e)
{
    char note[sizeof a->message] = "";
    enum source_news news = source_news(&a->source, &a->step, note, sizeof note, e);
    if (news == SOURCE_NOTHING) return true;
    bool ok = news == SOURCE_OPENED;
    if (ok) {
        a->n_odd = 0;
        (void)snprintf(a->message, sizeof a->message, "%s", note);
    }
    for (int i = 0; ok && i < a->when_opened.n; i++)
        if (!step_apply(&a->step, a->when_opened.at[i]))
            ok = names_refusal(&a->step, a->when_opened.at[i], e);
    a->when_opened.n = 0;
    return ok;
}

bool app_open(struct app *a, const char *path, const char *text,
              const struct step_actions *actions, struct err *e)
{
    if (!source_open(&a->source, path, text, e)) return false;
    a->when_opened = actions ? *actions : (struct step_actions){.n = 0};
    (void)snprintf(a->message, sizeof a->message, "opening %.400s \u2026", path);
    return true;
}

bool app_load(struct app *a, const char *path, const char *text,
              const struct step_actions *actions, struct err *e)
{
    if (!app_open(a, path, text, actions, e)) return false;
    worker_wait(a->source.worker);
    return take_model(a, e);
}

/* NaN and infinity among the weights are said once for every number of them. */
static void tell_odd(struct app *a)
{
    struct model_odd odd = worker_odd(a->source.worker);
    if (odd.n == a->n_odd || !step_is_loaded(step_place_of(&a->step))) return;
    a->n_odd = odd.n;
    if (odd.n == 0) return;
    (void)snprintf(a->message, sizeof a->message,
                   "%lld weight%s NaN or infinite, the first in %s", (long long)odd.n,
                   odd.n == 1 ? " is" : "s are", odd.first);
}

/* ---- state to screen ------------------------------------------------------------------- */

/* Where an input method may put its window, in window coordinates. */
static void place_input(const struct app *a, struct scene_rect caret)
{
    float points = a->scale.density / a->ratio;
    const SDL_Rect at = {(int)(caret.x * points), (int)(caret.y * points),
                         (int)(caret.w * points), (int)(caret.h * points)};
    if (!a->headless) SDL_SetTextInputRect(&at);
}

bool app_build(struct app *a, bool wait, struct err *e)
{
    struct err why = {0};
    take_chosen(a);
    if (wait && a->source.opening) worker_wait(a->source.worker);
    if (!take_model(a, &why))
        (void)snprintf(a->message, sizeof a->message, "%s", why.text);
    struct scene_source src = source_for(&a->source, &a->step, wait);
    if (wait && a->source.failed.code != ERR_NONE)
        return err_set(e, a->source.failed.code, "%s", a->source.failed.text);
    tell_odd(a);
    if (a->compare && src.fits) {
        src.compare = compare_view_of(a->compare, source_key(&a->source, &a->step), wait);
        if (a->step.diff != STEP_DIFF_OFF && compare_view_is_busy(a->compare))
            src.fits = false;
    }
    if (a->source.failed.code != ERR_NONE)
        src.message = a->source.failed.text;
    else if (a->message[0])
        src.message = a->message;
    src.making = a->film_part;
    a->seen_source = src;
    arena_reset(&a->frame_mem);
    if (!scene_begin(&a->scene, &a->frame_mem, app_fonts(a), a->step.theme, a->scale.w,
                     a->scale.h, e))
        return false;
    scene_build(&a->scene, &a->step, &src);
    ui_build(&a->scene, &a->step, &src, &a->pointer);
    if (a->step.editing) {
        struct scene_rect caret =
            ui_editor_build(&a->scene, &a->step, &src, &a->pointer, &a->editor);
        place_input(a, caret);
    }
    return true;
}

bool app_draw(struct app *a, struct err *e)
{
    if (!gfx_draw(a->gfx, &a->scene, a->scale.density, e)) return false;
    gfx_present(a->gfx);
    a->n_frame++;
    return true;
}

bool app_export(struct app *a, const char *path, struct err *e)
{
    struct arena mem;
    size_t pixels = (size_t)a->px_w * (size_t)a->px_h;
    if (!arena_init(&mem, pixels * 4 + 64, e)) return false;
    uint8_t *rgba = arena_take(&mem, pixels, 4);
    bool ok = rgba != NULL;
    if (!ok) (void)err_set(e, ERR_SYSTEM, "%s: no memory for the picture", path);
    ok = ok &&
         gfx_picture(a->gfx, &a->scene, a->scale.density, a->px_w, a->px_h, rgba, e) &&
         paper_png_write(path, rgba, a->px_w, a->px_h, e);
    arena_free(&mem);
    return ok;
}
