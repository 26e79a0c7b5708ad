/* The text, path or name that is being typed: what it means so far, keys and mouse in it,
 * the clipboard. */
#include "typing.h"

#include "browse.h"
#include "complete.h"
#include "dialog.h"
#include "preview.h"

#include <SDL.h>
#include <stdio.h>
#include <string.h>

/* What goes with the letters as they are now: the count of tokens, or why there is none;
 * of a path, what lies there. */
void typing_look(struct app *a)
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
    ed->n_chip = 0;
    if (ed->words) {
        struct model_words words;
        bool are = model_words_split(&words, ed->text, (size_t)ed->n, &e);
        ed->count = are ? (size_t)words.n : 0;
        if (are)
            preview_words(ed, &words);
        else
            (void)snprintf(ed->wrong, sizeof ed->wrong, "%s", e.text);
        return;
    }
    struct loaded_ids ids;
    bool ok = loaded_encode(&a->source.loaded, ed->text, (size_t)ed->n, &ids, &e);
    ed->count = ok ? ids.all : 0;
    if (!ok) (void)snprintf(ed->wrong, sizeof ed->wrong, "%s", e.text);
    if (ok) preview_tokens(ed, &a->source.loaded, &ids);
}

/* The editor opens and closes with the state. */
void typing_follow(struct app *a)
{
    const struct loaded *l = &a->source.loaded;
    struct ui_editor *ed = &a->editor;
    bool letters = a->step.editing != STEP_EDIT_NONE || step_field_is_open(&a->step);
    if (letters != a->letters && !a->headless) {
        if (letters)
            SDL_StartTextInput();
        else
            SDL_StopTextInput();
    }
    a->letters = letters;
    if (a->edited == a->step.editing) return;
    a->edited = a->step.editing;
    ed->file = a->edited == STEP_EDIT_EXPORT;
    ed->path = ed->file || a->edited == STEP_EDIT_PATH;
    ed->has_special = false;
    ed->words = a->edited == STEP_EDIT_TEXT && a->step.scale == STEP_TOY;
    ed->can_browse = ed->path && !ed->file && !a->headless && browse_is_there();
    if (ed->words) {
        char text[MODEL_WORDS_MOST * (MODEL_WORD_BYTES + 2)] = "";
        const struct text_kept *now = source_words(&a->source, &a->step);
        const struct model_words first = model_words_first();
        size_t n = 0;
        for (int i = 0; i < first.n; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", first.text[i]);
        ed->limit = MODEL_WORDS_MOST;
        ui_editor_begin(ed, now ? now->bytes : text, now ? now->n : n);
    } else if (a->edited == STEP_EDIT_TEXT) {
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
    if (a->edited != STEP_EDIT_NONE) typing_look(a);
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
    if (ed->words) return source_set_words(&a->source, &a->step, ed->text, n, e);
    char note[sizeof a->message] = "";
    if (!source_set_text(&a->source, &a->step, ed->text, n, note, sizeof note, e))
        return false;
    (void)snprintf(a->message, sizeof a->message, "%s", note);
    return true;
}

void typing_end(struct app *a)
{
    struct err e = {0};
    if (!read_edited(a, &e)) {
        (void)snprintf(a->editor.wrong, sizeof a->editor.wrong, "%s", e.text);
        return;
    }
    (void)step_apply(&a->step, (struct step_action){.verb = STEP_EDIT});
    typing_follow(a);
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
void typing_pick(struct app *a, int i)
{
    struct ui_editor *ed = &a->editor;
    struct complete c;
    complete_path(&c, ed->text, (size_t)ed->n);
    if (!ed->path || i < 0 || i >= c.n || i >= UI_EDITOR_MATCHES) return;
    ed->at = ed->anchor = ed->n;
    const char *rest = c.name[i] + c.typed;
    (void)ui_editor_insert(ed, rest, strlen(rest));
    typing_look(a);
}

/* What was chosen in the file chooser is opened, where a path is still asked for. */
void typing_take_chosen(struct app *a)
{
    char path[FILE_PATH];
    struct ui_editor *ed = &a->editor;
    if (!browse_done(&a->browse, path, sizeof path) || !path[0]) return;
    if (a->step.editing != STEP_EDIT_PATH) return;
    ui_editor_begin(ed, path, strlen(path));
    typing_look(a);
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
    if (ed->at != at && !ed->path) typing_look(a);
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
        typing_look(a);
    } else if (ctrl && ev->key == 'v') {
        paste(a);
        typing_look(a);
    } else if (ctrl && ev->key == 'o' && ed->can_browse) {
        app_apply(a, (struct step_action){.verb = STEP_TEXT_BROWSE});
    } else if (enter && ed->path && ed->pick >= 0) {
        typing_pick(a, ed->pick);
    } else if (enter) {
        app_apply(a, (struct step_action){.verb = STEP_TEXT_DONE});
    } else {
        /* What concerns the window still does; letters come as text. Undo is of numbers
         * and whole texts, which lie behind the editor. */
        bool undo = (ev->mods & UI_CTRL) && (ev->key == 'z' || ev->key == 'y');
        return undo || !(ev->key == UI_KEY_TAB || ev->key == UI_KEY_ESCAPE ||
                         ev->key == UI_KEY_F11 || (ev->mods & UI_CTRL));
    }
    return true;
}

/* true: the event was the editor's and not the program's. */
bool typing_event(struct app *a, const struct ui_event *ev)
{
    struct ui_editor *ed = &a->editor;
    bool letters = ev->kind == UI_TEXT || ev->kind == UI_COMPOSE;
    if (!a->step.editing) return letters && !step_field_is_open(&a->step);
    if (ev->kind != UI_KEY && !letters) return edit_by_mouse(a, ev);
    bool press = ev->kind == UI_KEY && (ev->key == UI_KEY_ENTER || ev->key == ' ') &&
                 !ev->mods && !ed->compose[0];
    if (press && a->step.focus) return false; /* the focused button's */
    if (ed->path && !ed->file && ev->kind == UI_KEY && ev->key == UI_KEY_TAB &&
        !ed->compose[0]) {
        complete_edited(a);
        typing_look(a);
        return true;
    }
    int pick = ed->pick;
    if (!ui_editor_event(ed, ev, &a->scene)) return edit_command(a, ev);
    if (ed->pick == pick) typing_look(a);
    return true;
}
