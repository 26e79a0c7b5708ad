/* app: the program itself, with a window or without one.
 *
 *   event ─► actions ─► step ─► source ─► scene, ui ─► gfx
 *
 * A script, a picture and the window all go through these functions. */
#ifndef HEADLIGHT_APP_H
#define HEADLIGHT_APP_H

#include "base.h"
#include "compare_view.h"
#include "gfx.h"
#include "input.h"
#include "paper.h"
#include "scene.h"
#include "settings.h"
#include "source.h"
#include "step.h"
#include "tour.h"
#include "ui.h"

#include <stdbool.h>
#include <stdint.h>

#define APP_MAX_DT 0.1f /* seconds of animation a frame may skip, however long it took */

struct app_config {
    bool headless;
    bool on_paper; /* headless: without OpenGL, for pictures that paper makes */
    int w, h;      /* pixels of a picture, or the window's size; 0: the usual */
    float density; /* pixels a point at UI size 100%; 0: the display's */
    const char *shader_dir;
    const struct settings *settings;  /* NULL: none are remembered */
    const struct step_actions *start; /* applied to the first state; may be NULL */
    const char *words;                /* text number 1 of start; may be NULL */
    bool cut_front;                   /* a text over a model's limit loses its front */
    const char *warning;              /* for the message bar; may be NULL */
    struct compare_view *compare;     /* the caller's, shown all the while; may be NULL */
    const char *tour;                 /* file of the guided tour; NULL: our own */
    int stop;                         /* at which it begins, from 1; 0: it is closed */
    const struct step_action *answer; /* at it: start has what is to be seen, and the
                                       * stop's commands are not run; NULL: they are */
    bool notes;                       /* a terminal may be told the tour's notes */
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by subject
struct app {
    struct gfx *gfx;     /* NULL: on paper */
    struct paper *paper; /* NULL: not needed yet */
    bool headless;
    const char *shader_dir;
    struct step_state step;
    struct step_actions actions; /* of the event under way */
    struct ui_pointer pointer;
    bool pointer_inside;
    struct source source;
    struct compare_view *compare; /* NULL: none */
    struct scene_source seen_source;
    struct arena frame_mem;
    struct font_metrics metrics;
    struct scene scene; /* as last built: what the person sees */
    struct input_scale scale;
    int px_w, px_h;
    float ratio, base;               /* of input_scale_of */
    float density;                   /* asked for instead of base; 0: none */
    char message[512];               /* message bar; "" none */
    struct ui_editor editor;         /* while step.editing */
    enum step_edit edited;           /* what it was begun for */
    bool letters;                    /* the window sends them: something is typed */
    struct browse *browse;           /* the file chooser, while it is open */
    struct step_actions when_opened; /* for the model that is being opened */
    bool
        refused; /* the last one could not be, and a script has not expected the message */
    int64_t n_odd;      /* odd weights that the person has been told of */
    uint32_t wake;      /* SDL event type that the worker pushes */
    bool hidden;        /* minimised: nothing is drawn */
    bool fullscreen;    /* as the window is */
    int64_t n_frame;    /* drawn */
    uint64_t look;      /* scene_look of the last one; 0: it is not on screen any more */
    int copied;         /* times that numbers have been copied, the same ones */
    bool replaces;      /* Enter has been told of a file that is there already */
    char exported[512]; /* name last exported to */
    struct film *film;  /* being made; NULL: none is */
    float film_part;    /* of its frames that are done */
    char film_path[FILE_PATH];
    struct tour_guide tour;
    bool presented; /* the scale is presenter mode's */
};

/* With a window: opens it. ERR_SYSTEM: no display, no OpenGL, no font, no memory. */
bool app_init(struct app *a, const struct app_config *c, struct err *e);
void app_fini(struct app *a); /* a zeroed struct is fine */

/* Applies one action, and what goes with it in the program around the state. */
void app_apply(struct app *a, struct step_action action);
/* One event, by the scene as last built. */
void app_event(struct app *a, const struct ui_event *ev);
/* Another size of the picture. */
void app_resize(struct app *a, int px_w, int px_h);
/* Takes the window's size and its display's density as they are now. */
void app_measure(struct app *a);
/* Points for the pixels, density and UI size as they are now. */
void app_rescale(struct app *a);

/* Opens a model, which is to read text (NULL: a text of our own); actions, which may be
 * NULL, are applied once it is there. Returns at once: app_build tells what became of it. */
bool app_open(struct app *a, const char *path, const char *text,
              const struct step_actions *actions, struct err *e);
/* The same, and waits for it. ERR_INPUT: it cannot be opened, or an action does not suit
 * it. */
bool app_load(struct app *a, const char *path, const char *text,
              const struct step_actions *actions, struct err *e);

/* Builds the scene of the present state. wait: with a run that fits, however
 * long; false too where that run fails. */
bool app_build(struct app *a, bool wait, struct err *e);
/* Draws and presents the scene as last built, unless that is what is on screen. */
bool app_draw(struct app *a, struct err *e);
/* Writes the scene as last built: whole, or no file. */
bool app_export(struct app *a, const char *path, struct err *e);

/* The window's loop, until it is left. */
bool app_run(struct app *a, struct err *e);

/* Widths of the fonts that are drawn with. */
const struct font_metrics *app_fonts(const struct app *a);
/* Sees to it that a->paper is there. */
bool app_paper(struct app *a, struct err *e);

/* The command line that shows again what is on screen, on mem: see state.h. */
const char *app_state(const struct app *a, struct arena *mem, struct err *e);

/* What is to be remembered of the window as it is. */
struct settings app_settings(const struct app *a);

#endif
