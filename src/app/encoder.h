/* encoder: the ffmpeg program, which is fed frames and writes a file. */
#ifndef HEADLIGHT_ENCODER_H
#define HEADLIGHT_ENCODER_H

#include "base.h"
#include "export.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Starts zeroed. */
struct encoder {
    pid_t pid;  /* 0: none runs */
    int to;     /* its standard input */
    bool open;  /* `to` is */
    FILE *says; /* its standard error */
};
/* Begins a film of w x h RGBA pixels a frame at path, which is overwritten. ERR_SYSTEM: it
 * is not installed; says how to get it. */
bool encoder_begin(struct encoder *c, enum export_format format, int w, int h, int fps,
                   const char *path, struct err *e);
bool encoder_put(struct encoder *c, const uint8_t *rgba, size_t n, struct err *e);
/* No frame follows. Returns at once; *ended: it has ended, and well. */
bool encoder_close(struct encoder *c, bool *ended, struct err *e);
void encoder_stop(struct encoder *c); /* at once, if it runs */

#endif
