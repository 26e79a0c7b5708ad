/* Settings as JSON: strict reading, whole writing. */
#include "settings.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_FILE = 1 << 16, /* bytes; a real one has some 200 */
    MAX_PLACE = 1 << 20 /* screen coordinates that can be meant seriously */
};

struct settings settings_default(void)
{
    const struct step_state first = step_initial();
    return (struct settings){.theme = first.theme,
                             .ui_percent = first.ui_percent,
                             .speed = first.speed,
                             .log_weights = first.log_weights};
}

void settings_find(struct settings_file *f)
{
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int n = -1;
    *f = (struct settings_file){0};
    if (xdg && xdg[0] == '/') /* a relative one is to be ignored: XDG base directories */
        n = snprintf(f->path, sizeof f->path, "%s/headlight/settings.json", xdg);
    else if (home && home[0] == '/')
        n = snprintf(f->path, sizeof f->path, "%s/.config/headlight/settings.json", home);
    if (n < 0 || (size_t)n >= sizeof f->path) f->path[0] = '\0';
}

static bool read_whole(const json_t *root, const char *name, int lo, int hi, int *out)
{
    const json_t *v = json_object_get(root, name);
    if (!json_is_integer(v)) return false;
    json_int_t i = json_integer_value(v);
    if (i < lo || i > hi) return false;
    *out = (int)i;
    return true;
}

static bool read_speed(const json_t *root, float *out)
{
    const json_t *v = json_object_get(root, "speed");
    for (size_t i = 0; i < sizeof step_speeds / sizeof step_speeds[0]; i++) {
        if ((float)json_number_value(v) != step_speeds[i]) continue;
        *out = step_speeds[i];
        return true;
    }
    return false;
}

static bool read_theme(const json_t *root, enum step_theme *out)
{
    const char *name = json_string_value(json_object_get(root, "theme"));
    if (!name) return false;
    *out = strcmp(name, "dark") == 0 ? STEP_DARK : STEP_LIGHT;
    return *out == STEP_DARK || strcmp(name, "light") == 0;
}

static bool read_place(const json_t *root, struct settings *s)
{
    const json_t *w = json_object_get(root, "window");
    s->placed = w != NULL;
    return !w || (read_whole(w, "x", -MAX_PLACE, MAX_PLACE, &s->x) &&
                  read_whole(w, "y", -MAX_PLACE, MAX_PLACE, &s->y) &&
                  read_whole(w, "w", 1, MAX_PLACE, &s->w) &&
                  read_whole(w, "h", 1, MAX_PLACE, &s->h));
}

/* Every member must be there and in range. */
static const char *parse(const json_t *root, struct settings *s)
{
    const json_t *log = json_object_get(root, "log_weights");
    if (!read_theme(root, &s->theme)) return "theme";
    if (!read_whole(root, "ui_percent", STEP_MIN_UI, STEP_MAX_UI, &s->ui_percent))
        return "ui_percent";
    if (!read_speed(root, &s->speed)) return "speed";
    if (!json_is_boolean(log)) return "log_weights";
    s->log_weights = json_is_true(log);
    if (!read_place(root, s)) return "window";
    return NULL;
}

bool settings_load(struct settings_file *f, struct settings *s, struct err *e)
{
    *s = settings_default();
    struct stat st;
    if (f->path[0] == '\0') return true;
    if (stat(f->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) return true;

    struct arena mem;
    char *text = NULL;
    size_t n = 0;
    json_error_t why = {0};
    json_t *root = NULL;
    const char *member = NULL;
    f->broken = true;
    if (!arena_init(&mem, MAX_FILE + 1, e)) return false;
    if (!file_read(f->path, MAX_FILE, &mem, &text, &n, e)) goto done;
    root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (!root) {
        (void)err_set(e, ERR_INPUT, "%s: line %d: %s", f->path, why.line, why.text);
        goto done;
    }
    member = parse(root, s);
    if (member) {
        (void)err_set(e, ERR_INPUT, "%s: %s is missing or out of range", f->path, member);
        goto done;
    }
    f->broken = false;
done:
    if (f->broken) {
        *s = settings_default();
        struct err was = *e;
        (void)err_set(e, was.code, "%s; settings start afresh", was.text);
    }
    json_decref(root);
    arena_free(&mem);
    return !f->broken;
}

/* Makes every folder on the way to path. */
static bool make_folders(const char *path, struct err *e)
{
    char folder[sizeof((struct settings_file *)0)->path];
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        struct stat st;
        if (stat(folder, &st) != 0 && mkdir(folder, 0700) != 0 && errno != EEXIST)
            return err_set(e, ERR_INPUT, "%s: settings are not kept: %s", folder,
                           strerror(errno));
        *slash = '/';
    }
    return true;
}

bool settings_save(struct settings_file *f, const struct settings *s, struct err *e)
{
    if (f->path[0] == '\0') return true;
    if (!make_folders(f->path, e)) return false;
    if (f->broken) {
        char aside[sizeof f->path + 8];
        (void)snprintf(aside, sizeof aside, "%s.broken", f->path);
        if (rename(f->path, aside) != 0)
            return err_set(e, ERR_INPUT, "%s: cannot be moved aside: %s", f->path,
                           strerror(errno));
    }
    json_t *root =
        json_pack("{s:s, s:i, s:f, s:b}", "theme",
                  s->theme == STEP_DARK ? "dark" : "light", "ui_percent", s->ui_percent,
                  "speed", (double)s->speed, "log_weights", s->log_weights ? 1 : 0);
    if (root && s->placed) {
        json_t *w =
            json_pack("{s:i, s:i, s:i, s:i}", "x", s->x, "y", s->y, "w", s->w, "h", s->h);
        (void)json_object_set_new(root, "window", w);
    }
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (!text) return err_set(e, ERR_SYSTEM, "%s: no memory to write it", f->path);
    bool ok = file_write(f->path, text, strlen(text), e);
    free(text);
    if (ok) f->broken = false;
    return ok;
}
