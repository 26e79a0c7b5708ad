/* film: a stage's animation, or all of them, frame by frame, as a file or a folder. */
#ifndef HEADLIGHT_FILM_H
#define HEADLIGHT_FILM_H

#include "base.h"
#include "export.h"

#include <stdbool.h>

enum { FILM_FPS = 30, FILM_MAX_FPS = 60 };

struct film_ask {
    struct export_ask
        out;  /* window or stage; its path and size in pixels (0: the usual) */
    bool all; /* all seven stages, else the one in view */
    int fps;  /* 0: FILM_FPS */
};

/* A film being made. Whatever becomes of it, film_end or film_drop ends it. */
struct film;

/* ERR_INPUT: the path is taken by a folder or cannot be written. ERR_SYSTEM: there is no
 * ffmpeg; says how to get it. */
bool film_begin(struct film **f, struct app *a, const struct film_ask *ask,
                struct err *e);
/* Adds the next frame. a->scene is another one then. */
bool film_frame(struct film *f, struct app *a, struct err *e);
void film_progress(const struct film *f, int *done, int *all);
/* All frames are there: the encoder is told, and works on. *ended: it has ended well. */
bool film_close(struct film *f, bool *ended, struct err *e);
/* The file or folder appears. */
bool film_end(struct film *f, struct err *e);
void film_drop(struct film *f); /* nothing is left; NULL is fine */

#endif
