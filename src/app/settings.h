/* settings: what the window remembers between two starts, in
 * $XDG_CONFIG_HOME/headlight/settings.json (~/.config where that is not set). */
#ifndef HEADLIGHT_SETTINGS_H
#define HEADLIGHT_SETTINGS_H

#include "base.h"
#include "step.h"

#include <stdbool.h>

struct settings {
    enum step_theme theme;
    int ui_percent;
    float speed;
    bool log_weights;
    bool placed; /* x, y, w, h hold the window's place and size, screen coordinates */
    int x, y, w, h;
};

/* The file and the folder it lies in; path[0] = 0: nowhere to keep settings. */
struct settings_file {
    char path[3072];
    bool broken; /* what lies there could not be read: it is moved aside, not lost */
};

struct settings settings_default(void);

/* By XDG_CONFIG_HOME and HOME. */
void settings_find(struct settings_file *f);

/* No file: the defaults, true. A broken or unreadable one: the defaults, false, and a
 * line for the person in *e. */
bool settings_load(struct settings_file *f, struct settings *s, struct err *e);

/* Writes them whole. A broken file is first renamed to settings.json.broken. */
bool settings_save(struct settings_file *f, const struct settings *s, struct err *e);

#endif
