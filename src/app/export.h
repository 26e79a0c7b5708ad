/* export: what is on screen, or a part of it, as a file. */
#ifndef HEADLIGHT_EXPORT_H
#define HEADLIGHT_EXPORT_H

#include "base.h"
#include "scene.h"
#include "step.h"

#include <stdbool.h>

struct app;

enum export_format {
    EXPORT_PNG,
    EXPORT_SVG,
    EXPORT_PDF,
    EXPORT_PICTURES, /* from here on films */
    EXPORT_MP4 = EXPORT_PICTURES,
    EXPORT_GIF,
    EXPORT_WEBM,
    EXPORT_FRAMES, /* a folder of PNG files */
    EXPORT_FORMAT_COUNT
};
enum export_part {
    EXPORT_WINDOW,
    EXPORT_STAGE,  /* the stage without bars and panel, or the overview */
    EXPORT_HEADS,  /* every head, as a figure */
    EXPORT_MATRIX, /* one matrix, as a figure */
    EXPORT_PART_COUNT
};
enum { /* of a picture */
       EXPORT_MIN_SIDE = 64,
       EXPORT_MAX_SIDE = 8192, /* pixels */
       EXPORT_MIN_MM = 10,
       EXPORT_MAX_MM = 2000
};

struct export_ask {
    const char *path;
    enum export_format format;
    enum export_part part;
    enum attn_tensor tensor; /* EXPORT_MATRIX; ATTN_TENSOR_COUNT: S as the stage has it */
    bool transparent;
    bool mm;       /* w and h are millimetres, else pixels */
    float w, h;    /* 0: the usual, or what follows from the other */
    float density; /* pixels a point; 0: one, in millimetres what print needs */
};

/* By the ending: .png, .svg, ..., or a slash. ERR_USAGE names them all. */
bool export_format_of(const char *path, enum export_format *format, struct err *e);
/* "window", "stage", "heads", or a matrix: "S", "A", "w_q", ... ERR_USAGE. */
bool export_part_of(const char *text, struct export_ask *ask, struct err *e);
/* Whether the part is there at a stage; *t: which matrix it then is. */
bool export_part_is_at(const struct export_ask *ask, enum attn_stage stage,
                       enum attn_tensor *t, struct err *e);
/* What a stage computes, first of all. */
enum attn_tensor export_result_of(enum attn_stage stage);
/* Whether it is drawn by OpenGL: what the window's renderer alone can do. */
bool export_by_window(const struct export_ask *ask);

struct export_size {
    float w, h; /* pixels */
};
/* What a part has in pixels where no size is asked for. */
struct export_size export_usual_size(const struct app *a, const struct export_ask *ask);

/* Writes a picture, whole or not at all. The scene as last built is another one then. */
bool export_picture(struct app *a, const struct export_ask *ask, struct err *e);

/* The part composed as a scene, in a->scene. *density: pixels a point that suit it. */
bool export_compose(struct app *a, const struct step_state *s,
                    const struct export_ask *ask, float *density, struct err *e);

#endif
