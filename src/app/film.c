/* Films: the deterministic scene at one time after another. */
#include "film.h"

#include "app.h"
#include "encoder.h"
#include "paper.h"

#include <math.h>
#include <stdio.h>

static const float hold_seconds = 0.9f; /* a finished stage stays so long */

struct film {
    struct arena mem, pixels;
    struct film_ask ask;
    char path[FILE_PATH];
    struct step_state state;
    enum attn_stage first, end; /* stages first .. end - 1 */
    int n, done;                /* frames */
    int w, h;
    uint8_t *rgba;
    struct file_folder folder;
    struct file_out file; /* its place is kept; ffmpeg writes into f->file.part */
    struct encoder encoder;
};

/* ---- time ------------------------------------------------------------------------------- */

/* Frames in which a stage moves, and in which it is held then. */
static int moving_frames(const struct film *f, enum attn_stage stage)
{
    struct step_clock c = step_clock_at(&f->state, stage);
    int n = (int)lroundf(c.seconds / f->state.speed * (float)f->ask.fps);
    return n < 2 ? 2 : n;
}

static int held_frames(const struct film *f)
{
    return (int)lroundf(hold_seconds / f->state.speed * (float)f->ask.fps);
}

/* The state of frame k. */
static void show(struct film *f, int k)
{
    enum attn_stage stage = f->first;
    int held = held_frames(f);
    for (; stage + 1 < f->end; stage++) {
        int n = moving_frames(f, stage) + held;
        if (k < n) break;
        k -= n;
    }
    int n = moving_frames(f, stage);
    f->state.stage = stage;
    f->state.time = k >= n - 1 ? 1.0f : (float)k / (float)(n - 1);
    f->state.playing = f->state.run_on = k < n - 1;
}

/* ---- making ------------------------------------------------------------------------------- */

static bool sizes(struct film *f, const struct app *a, struct err *e)
{
    struct export_ask *out = &f->ask.out;
    struct export_size usual = export_usual_size(a, out);
    if (!(out->w > 0.0f)) out->w = usual.w;
    if (!(out->h > 0.0f)) out->h = usual.h;
    f->w = (int)lroundf(out->w);
    f->h = (int)lroundf(out->h);
    if (f->w < EXPORT_MIN_SIDE || f->h < EXPORT_MIN_SIDE || f->w > EXPORT_MAX_SIDE ||
        f->h > EXPORT_MAX_SIDE)
        return err_set(e, ERR_USAGE, "a film of %dx%d: a side is from %d to %d pixels",
                       f->w, f->h, EXPORT_MIN_SIDE, EXPORT_MAX_SIDE);
    size_t pixels = (size_t)f->w * (size_t)f->h;
    if (!arena_init(&f->pixels, pixels * 4 + 64, e)) return false;
    f->rgba = arena_take(&f->pixels, pixels, 4);
    return f->rgba ? true : err_set(e, ERR_SYSTEM, "no memory for a frame");
}

static bool open_output(struct film *f, struct err *e)
{
    const struct export_ask *out = &f->ask.out;
    if (out->format == EXPORT_FRAMES) return file_folder_begin(&f->folder, out->path, e);
    if (!file_begin(&f->file, out->path, e)) return false;
    if (!f->file.part[0])
        return err_set(e, ERR_INPUT, "%s: is no regular file; a film needs one",
                       out->path);
    return encoder_begin(&f->encoder, out->format, f->w, f->h, f->ask.fps, f->file.part,
                         e);
}

bool film_begin(struct film **out, struct app *a, const struct film_ask *ask,
                struct err *e)
{
    struct arena mem;
    *out = NULL;
    if (!arena_init(&mem, sizeof(struct film) + 64, e)) return false;
    struct film *f = arena_push(&mem, 1, sizeof *f);
    f->mem = mem;
    f->ask = *ask;
    (void)snprintf(f->path, sizeof f->path, "%s", ask->out.path);
    f->ask.out.path = f->path;
    if (f->ask.fps == 0) f->ask.fps = FILM_FPS;
    f->state = a->step;
    f->state.hover = step_no_ref();
    f->state.over.open = f->state.lab.open = false;
    f->first = ask->all ? 0 : a->step.stage;
    f->end = ask->all ? ATTN_STAGE_COUNT : a->step.stage + 1;
    for (enum attn_stage s = f->first; s < f->end; s++)
        f->n += moving_frames(f, s) + held_frames(f);
    if (sizes(f, a, e) && open_output(f, e)) {
        *out = f;
        return true;
    }
    film_drop(f);
    return false;
}

void film_progress(const struct film *f, int *done, int *all)
{
    *done = f->done;
    *all = f->n;
}

bool film_frame(struct film *f, struct app *a, struct err *e)
{
    float density = 1.0f;
    if (f->done >= f->n) return true;
    show(f, f->done);
    if (!export_compose(a, &f->state, &f->ask.out, &density, e) ||
        !gfx_picture(a->gfx, &a->scene, density, f->w, f->h, f->rgba, e))
        return false;
    f->done++;
    if (f->ask.out.format != EXPORT_FRAMES)
        return encoder_put(&f->encoder, f->rgba, (size_t)f->w * (size_t)f->h * 4, e);
    char name[32];
    char path[FILE_PATH];
    (void)snprintf(name, sizeof name, "frame-%05d.png", f->done);
    return file_folder_name(&f->folder, name, path, e) &&
           paper_png_write(path, f->rgba, f->w, f->h, e);
}

bool film_close(struct film *f, bool *ended, struct err *e)
{
    *ended = true;
    return f->ask.out.format == EXPORT_FRAMES || encoder_close(&f->encoder, ended, e);
}

static void free_film(struct film *f)
{
    encoder_stop(&f->encoder);
    arena_free(&f->pixels);
    struct arena mem = f->mem;
    arena_free(&mem);
}

bool film_end(struct film *f, struct err *e)
{
    bool ok = f->ask.out.format == EXPORT_FRAMES ? file_folder_end(&f->folder, e)
                                                 : file_end(&f->file, e);
    free_film(f);
    return ok;
}

void film_drop(struct film *f)
{
    if (!f) return;
    encoder_stop(&f->encoder);
    file_drop(&f->file);
    file_folder_drop(&f->folder);
    free_film(f);
}
