/* Exporting from the window: what the dialog says becomes an export. */
#include "dialog.h"

#include "complete.h"
#include "export.h"
#include "film.h"

#include <stdio.h>
#include <string.h>

static const char *const endings[STEP_OUT_FORMAT_COUNT] = {
    [STEP_OUT_PNG] = ".png", [STEP_OUT_SVG] = ".svg", [STEP_OUT_PDF] = ".pdf",
    [STEP_OUT_MP4] = ".mp4", [STEP_OUT_GIF] = ".gif", [STEP_OUT_WEBM] = ".webm",
    [STEP_OUT_FRAMES] = "/",
};

void dialog_begin(struct app *a)
{
    const char *name = a->exported[0] ? a->exported : "headlight.png";
    ui_editor_begin(&a->editor, name, strlen(name));
}

void dialog_look(struct app *a)
{
    struct ui_editor *ed = &a->editor;
    ed->n_match = 0;
    a->replaces = false;
    if (ed->n == 0)
        (void)snprintf(ed->wrong, sizeof ed->wrong, "type a file\u2019s name");
    else if (ui_out_format(ed->text, ed->n) == STEP_OUT_FORMAT_COUNT)
        (void)snprintf(ed->wrong, sizeof ed->wrong,
                       "end it in .png, .svg, .pdf, .mp4, .gif, .webm or a slash");
}

void dialog_format(struct app *a, enum step_out_format format)
{
    struct ui_editor *ed = &a->editor;
    enum step_out_format now = ui_out_format(ed->text, ed->n);
    ed->at = ed->n;
    ed->anchor = ed->n - (now < STEP_OUT_FORMAT_COUNT ? (int)strlen(endings[now]) : 0);
    (void)ui_editor_insert(ed, endings[format], strlen(endings[format]));
}

/* ---- asking ------------------------------------------------------------------------------ */

static void sized(const struct app *a, struct export_ask *ask)
{
    static const struct {
        float w, h;
        bool mm;
    } sizes[STEP_OUT_SIZE_COUNT] = {
        [STEP_OUT_720] = {1280.0f, 720.0f, false},
        [STEP_OUT_1080] = {1920.0f, 1080.0f, false},
        [STEP_OUT_COLUMN] = {85.0f, 0.0f, true},
        [STEP_OUT_PAGE] = {170.0f, 0.0f, true},
    };
    enum step_out_size size = a->step.out.size;
    ask->w = sizes[size].w;
    ask->h = sizes[size].h;
    ask->mm = sizes[size].mm;
    if (ask->mm) return;
    ask->density = a->base;
    if (size != STEP_OUT_USUAL || ask->part != EXPORT_WINDOW) return;
    ask->w = (float)a->px_w;
    ask->h = (float)a->px_h;
}

static bool asked(const struct app *a, struct export_ask *ask, const char *path,
                  struct err *e)
{
    static const enum export_part parts[STEP_OUT_PART_COUNT] = {
        [STEP_OUT_WINDOW] = EXPORT_WINDOW,
        [STEP_OUT_STAGE] = EXPORT_STAGE,
        [STEP_OUT_MATRIX] = EXPORT_MATRIX,
        [STEP_OUT_HEADS] = EXPORT_HEADS,
    };
    const struct step_ref pin = step_place_of(&a->step)->pin;
    *ask = (struct export_ask){.path = path, .part = parts[a->step.out.part]};
    if (!export_format_of(path, &ask->format, e)) return false;
    ask->tensor =
        pin.tensor != ATTN_TENSOR_COUNT && scene_stage_of(pin.tensor) <= a->step.stage
            ? pin.tensor
            : export_result_of(a->step.stage);
    bool film = ask->format >= EXPORT_PICTURES;
    ask->transparent = a->step.out.transparent && !film;
    sized(a, ask);
    if (film && (ask->part == EXPORT_MATRIX || ask->part == EXPORT_HEADS))
        return err_set(e, ERR_USAGE, "a figure does not move; choose window or stage");
    if (film && ask->mm)
        return err_set(e, ERR_USAGE, "a film has pixels; choose another size");
    return true;
}

bool dialog_done(struct app *a, struct err *e)
{
    struct ui_editor *ed = &a->editor;
    struct export_ask ask;
    char path[FILE_PATH];
    if (a->film) return err_set(e, ERR_INPUT, "a film is being made; Esc ends it");
    if (!complete_home(path, sizeof path, ed->text, (size_t)ed->n))
        return err_set(e, ERR_INPUT, "the path is longer than %d bytes", FILE_PATH);
    if (!asked(a, &ask, path, e)) return false;
    if (ask.format != EXPORT_FRAMES) {
        if (!file_can_write(path, e)) return false;
        if (file_exists(path) && !a->replaces) {
            a->replaces = true;
            return err_set(e, ERR_INPUT, "it is there already; Enter again replaces it");
        }
    }
    a->replaces = false;
    if (ask.format < EXPORT_PICTURES) {
        if (!export_picture(a, &ask, e)) return false;
        (void)snprintf(a->message, sizeof a->message, "written: %.480s", path);
    } else {
        const struct film_ask film = {.out = ask, .all = a->step.out.all};
        (void)snprintf(a->film_path, sizeof a->film_path, "%s", path);
        if (!film_begin(&a->film, a, &film, e)) return false;
    }
    (void)snprintf(a->exported, sizeof a->exported, "%.*s", ed->n, ed->text);
    return true;
}

/* ---- films --------------------------------------------------------------------------------- */

static void film_is_over(struct app *a)
{
    a->film = NULL;
    a->film_part = 0.0f;
}

void dialog_film(struct app *a)
{
    struct err e = {0};
    int done = 0;
    int all = 1;
    bool ended = false;
    if (!a->film) return;
    film_progress(a->film, &done, &all);
    bool ok = done < all ? film_frame(a->film, a, &e) : film_close(a->film, &ended, &e);
    film_progress(a->film, &done, &all);
    a->film_part = (float)done / (float)all;
    (void)snprintf(a->message, sizeof a->message,
                   "%.400s: frame %d of %d \u00B7 Esc ends it", a->film_path, done, all);
    if (ok && !ended) return;
    if (ok)
        ok = film_end(a->film, &e);
    else
        film_drop(a->film);
    film_is_over(a);
    if (ok)
        (void)snprintf(a->message, sizeof a->message, "written: %.400s, %d frames",
                       a->film_path, all);
    else
        (void)snprintf(a->message, sizeof a->message, "%s", e.text);
}

bool dialog_cancel(struct app *a)
{
    if (!a->film) return false;
    film_drop(a->film);
    film_is_over(a);
    (void)snprintf(a->message, sizeof a->message,
                   "%.400s: cancelled, nothing was written", a->film_path);
    return true;
}
