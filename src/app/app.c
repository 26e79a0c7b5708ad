/* The program: events to actions, the state to a scene, the scene to the screen. */
#include "app.h"

#include "browse.h"
#include "clipboard.h"
#include "dialog.h"
#include "film.h"
#include "names.h"
#include "open.h"
#include "paper.h"
#include "state.h"
#include "typing.h"

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- start and end -------------------------------------------------------------------- */

/* What the program begins with, and the stop of the tour that is asked for. */
static bool begin(struct app *a, const struct app_config *c, struct err *e)
{
    struct step_action stop = {
        .verb = STEP_TOUR_TO, .i = c->stop - 1, .x = (float)a->tour.tour.n};
    if (c->stop > a->tour.tour.n)
        return err_set(e, ERR_USAGE, "--stop %d: the tour has stops 1 to %d", c->stop,
                       a->tour.tour.n);
    if (c->stop > 0 && c->answer) (void)step_apply(&a->step, stop);
    for (int i = 0; c->start && i < c->start->n; i++) app_apply(a, c->start->at[i]);
    if (c->stop > 0 && c->answer) (void)step_apply(&a->step, *c->answer);
    for (int i = a->tour.tour.n; i < STEP_STOPS_MOST; i++)
        if (a->step.tour.answered[i])
            return err_set(e, ERR_USAGE, "--answered %d: the tour has stops 1 to %d",
                           i + 1, a->tour.tour.n);
    a->tour.as_is = c->stop > 0 && c->answer;
    if (a->tour.as_is) step_tour_from_here(&a->step);
    if (c->stop > 0 && !c->answer) app_apply(a, stop);
    return true;
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
    open_hints(c->headless);
    bool ok = c->headless ? open_offscreen(a, c, e) : open_on_display(a, c, e);
    if (ok && c->on_paper) ok = app_paper(a, e);
    if (!ok || !arena_init(&a->frame_mem, scene_bytes(), e) ||
        !source_init(&a->source, a->wake, e)) {
        app_fini(a);
        return false;
    }
    a->source.loaded.cut_front = c->cut_front;
    a->compare = c->compare;
    if (a->compare) a->compare->event = a->wake;
    app_rescale(a);
    a->step.past = step_past_create();
    bool kept = !c->words || texts_keep(&a->source.read, c->words, strlen(c->words)) == 1;
    if (!a->step.past || !kept) {
        app_fini(a);
        return err_set(e, ERR_SYSTEM, "out of memory for what can be undone");
    }
    a->tour.notes = c->notes;
    if (!tour_load(&a->tour, c->tour, e) || !begin(a, c, e)) {
        app_fini(a);
        return false;
    }
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
    tour_unload(&a->tour);
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
    const struct text_kept *words = source_words(&a->source, &a->step);
    bool loaded = step_is_loaded(&a->step.place[STEP_GPT2]);
    bool compared =
        a->compare && compare_view_fits(a->compare, source_key(&a->source, &a->step));
    const struct state_shown now = {
        .step = &a->step,
        .model = loaded ? a->source.path : NULL,
        .text = l->typed,
        .n_text = loaded ? l->n_typed : 0,
        .cut_front = loaded && l->cut_front,
        .words = words ? words->bytes : NULL,
        .n_words = words ? words->n : 0,
        .compare = compared ? a->compare->cmp.cli->compare : NULL,
        .tolerance = compared ? a->compare->cmp.cli->tolerance : 0.0,
        .w = a->px_w,
        .h = a->px_h,
        .tour = a->tour.path,
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

/* Another UI size. Where the window has not the room for all of it, that is said; one that
 * would make nothing larger is not kept. */
static void follow_ui_size(struct app *a, int was)
{
    float density = a->scale.density;
    int wish = a->step.ui_percent;
    bool presented = a->step.presenter.on;
    app_rescale(a);
    bool larger = a->scale.density > density;
    if (!a->scale.limited || wish <= was || (presented && larger)) return;
    if (!larger) {
        (void)step_apply(&a->step, (struct step_action){.verb = STEP_UI_SIZE, .i = was});
        app_rescale(a);
    }
    float factor = a->base / a->ratio * (float)wish / 100.0f;
    if (presented) factor *= INPUT_PRESENTED;
    int w = presented ? SCENE_PRESENTED_W : SCENE_MIN_W;
    int h = presented ? SCENE_PRESENTED_H : SCENE_MIN_H;
    char stays[48] = "";
    if (!larger) (void)snprintf(stays, sizeof stays, "UI size stays at %d%%: ", was);
    (void)snprintf(a->message, sizeof a->message,
                   "%s%s%d%% needs a window of at least %.0f\u00d7%.0f", stays,
                   larger ? "UI size " : "", wish, (double)ceilf((float)w * factor),
                   (double)ceilf((float)h * factor));
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

/* In the browser; off screen it is said alone. */
static void open_link(struct app *a, int i)
{
    const struct scene_link *l = scene_link_at(i);
    if (!l) return;
    bool ok = a->headless || SDL_OpenURL(l->address) == 0;
    (void)snprintf(a->message, sizeof a->message, "%s%.400s",
                   ok ? "" : "no browser could be started for ", l->address);
}

/* What stands in a cell of the run in view; 0 where there is none yet. */
static float number_in(const struct app *a, struct step_ref r)
{
    struct attn_cmat m = scene_tensor_view(&a->seen_source, r.tensor);
    bool there = m.data && r.row >= 0 && r.row < m.rows && r.col >= 0 && r.col < m.cols;
    return there ? m.data[(size_t)r.row * (size_t)m.ld + (size_t)r.col] : 0.0f;
}

/* A cell that cannot be edited: said in the message bar. */
static void answer_field(struct app *a, struct step_ref r)
{
    enum step_wrong w = step_can_give(&a->step, r);
    if (r.tensor == ATTN_TENSOR_COUNT) w = STEP_WRONG_MATRIX;
    const char *text = scene_wrong_text(&a->scene, &a->step, w);
    if (*text && !step_is_covered(&a->step))
        (void)snprintf(a->message, sizeof a->message, "%s", text);
}

/* What an action does to a text or a name that is being edited. */
static void follow_editor(struct app *a, struct step_action action)
{
    if (action.verb == STEP_TEXT_CUT && !a->editor.path && !a->editor.words) {
        a->source.loaded.cut_front = a->editor.cut_front = !a->editor.cut_front;
        typing_look(a);
    }
    if (action.verb == STEP_TEXT_PICK) typing_pick(a, action.i);
    struct err e = {0};
    if (action.verb == STEP_TEXT_BROWSE && a->editor.can_browse &&
        !browse_begin(&a->browse, a->wake, &e))
        (void)snprintf(a->editor.wrong, sizeof a->editor.wrong, "%s", e.text);
    if (action.verb == STEP_TEXT_SPECIAL) {
        const char special[1] = {UI_EDITOR_SPECIAL};
        (void)ui_editor_insert(&a->editor, special, 1);
        typing_look(a);
    }
    if (action.verb == STEP_OUT_FORMAT) {
        dialog_format(a, (enum step_out_format)action.i);
        typing_look(a);
    }
}

void app_apply(struct app *a, struct step_action action)
{
    const struct step_tour was = a->step.tour;
    int percent = a->step.ui_percent;
    if (!tour_before(a, &action)) return;
    if (action.verb == STEP_FIELD) action.x = number_in(a, action.ref);
    bool done = step_apply(&a->step, action);
    if (!done && action.verb == STEP_FIELD) answer_field(a, action.ref);
    if (done) tour_after(a, &was, action.verb);
    if (done && action.verb == STEP_LINK) {
        open_link(a, action.i);
        return;
    }
    if (done && (action.verb == STEP_UNDO || action.verb == STEP_REDO))
        source_follow(&a->source, &a->step);
    typing_follow(a);
    if (done && action.verb == STEP_TEXT_DONE) {
        typing_end(a);
        return;
    }
    if (done) follow_editor(a, action);
    if (done && !keeps_message(action.verb)) {
        a->message[0] = '\0';
        if (action.verb != STEP_COPY) a->copied = 0;
    }
    if (done && action.verb == STEP_LAB_MEASURE) lab_measure(a->source.lab);
    if (done && action.verb == STEP_COPY) app_copy(a, (enum step_copy)action.i);
    if (action.verb == STEP_UI_SIZE || action.verb == STEP_UI_SIZE_BY)
        follow_ui_size(a, percent);
    set_fullscreen(a);
}

void app_event(struct app *a, const struct ui_event *ev)
{
    a->actions.n = 0;
    if (ev->kind == UI_KEY && ev->key == UI_KEY_ESCAPE && dialog_cancel(a)) return;
    if (typing_event(a, ev)) return;
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
    app_rescale(a);
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
    a->refused = !ok;
    if (ok) {
        a->n_odd = 0;
        (void)snprintf(a->message, sizeof a->message, "%s", note);
        a->tour.look = a->step.tour.open;
        if (!a->tour.as_is) a->tour.due = a->step.tour.open; /* its stop is looked at */
    }
    for (int i = 0; ok && i < a->when_opened.n; i++)
        if (!step_apply(&a->step, a->when_opened.at[i]))
            ok = names_refusal(&a->step, a->when_opened.at[i], e);
    if (ok && a->when_opened.n > 0 && a->tour.as_is)
        step_tour_from_here(&a->step);
    else if (ok && a->when_opened.n > 0)
        step_tour_from_model(&a->step);
    a->when_opened.n = 0;
    return ok;
}

bool app_open(struct app *a, const char *path, const char *text,
              const struct step_actions *actions, struct err *e)
{
    if (file_ends_with(path, ".txt")) { /* a guided tour */
        if (!tour_load(&a->tour, path, e)) return false;
        app_apply(a, (struct step_action){.verb = STEP_TOUR_AGAIN, .i = 1});
        return true;
    }
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
    struct scene_tour tour;
    typing_take_chosen(a);
    tour_follow(a);
    if (a->presented != a->step.presenter.on) app_rescale(a);
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
    if (tour_look(a, &src)) src.message = a->message;
    if (tour_show(a, &a->scene, &src, &tour)) src.tour = &tour;
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
    uint64_t look = scene_look(&a->scene);
    if (look == a->look) return true;
    a->look = 0;
    if (!gfx_draw(a->gfx, &a->scene, a->scale.density, e)) return false;
    gfx_present(a->gfx);
    a->look = look;
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
