/* Options of a picture, a film, and of how the window looks. */
#include "cli_options.h"

#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool cli_density_option(struct cli *c, const struct given *g, struct err *e)
{
    double density = 1.0;
    const char *text = g->at[OPT_DENSITY];
    if (!text) return true;
    if (!cli_number(text, strlen(text), &density) || !(density >= 0.5 && density <= 8.0))
        return err_set(e, ERR_USAGE, "--density %s: is a number from 0.5 to 8", text);
    c->density = c->out.density = (float)density;
    if (c->out.part != EXPORT_WINDOW || c->out.mm) return true;
    if (c->w || c->mode == CLI_WINDOW) return true;
    c->w = (int)lround(CLI_W * density);
    c->h = (int)lround(CLI_H * density);
    if (c->w > CLI_MAX_SIDE || c->h > CLI_MAX_SIDE)
        return err_set(e, ERR_USAGE,
                       "--density %s: makes a picture of %dx%d, at most %dx%d; give "
                       "--size WxH",
                       text, c->w, c->h, CLI_MAX_SIDE, CLI_MAX_SIDE);
    return true;
}

/* "160mm" or "160x90mm". */
static bool size_in_mm(struct cli *c, const char *text, struct err *e)
{
    double side[2] = {0.0, 0.0};
    size_t n = strcspn(text, "x");
    size_t all = strlen(text) - strlen("mm");
    bool both = text[n] == 'x';
    bool ok = cli_number(text, both ? n : all, &side[0]) &&
              (!both || cli_number(text + n + 1, all - n - 1, &side[1]));
    for (int i = 0; i < (both ? 2 : 1); i++)
        ok = ok && side[i] >= EXPORT_MIN_MM && side[i] <= EXPORT_MAX_MM;
    if (!ok || c->mode != CLI_EXPORT || c->out.format >= EXPORT_PICTURES)
        return err_set(e, ERR_USAGE,
                       "--size %s: a picture has WxHmm or Wmm, from %d to %d millimetres",
                       text, EXPORT_MIN_MM, EXPORT_MAX_MM);
    c->out.mm = true;
    c->out.w = (float)side[0];
    c->out.h = (float)side[1];
    return true;
}

bool cli_size_option(struct cli *c, const struct given *g, struct err *e)
{
    const char *text = g->at[OPT_SIZE];
    if (!text) return true;
    if (strlen(text) > 2 && strcmp(text + strlen(text) - 2, "mm") == 0)
        return size_in_mm(c, text, e);
    bool window = c->mode == CLI_WINDOW;
    int min_w = window ? SCENE_MIN_W : CLI_MIN_SIDE;
    int min_h = window ? SCENE_MIN_H : CLI_MIN_SIDE;
    char side[2][16] = {{0}};
    long long v[2] = {0, 0};
    size_t n = strcspn(text, "x");
    bool ok =
        text[n] == 'x' && n < sizeof side[0] && strlen(text + n + 1) < sizeof side[1];
    if (ok) {
        memcpy(side[0], text, n);
        memcpy(side[1], text + n + 1, strlen(text + n + 1));
        ok = cli_whole_number(side[0], &v[0]) && cli_whole_number(side[1], &v[1]) &&
             v[0] >= min_w && v[0] <= CLI_MAX_SIDE && v[1] >= min_h &&
             v[1] <= CLI_MAX_SIDE;
    }
    if (!ok)
        return err_set(e, ERR_USAGE,
                       "--size %s: the size of a %s is WxH pixels from %dx%d to %dx%d",
                       text, window ? "window" : "picture", min_w, min_h, CLI_MAX_SIDE,
                       CLI_MAX_SIDE);
    c->w = (int)v[0];
    c->h = (int)v[1];
    c->out.w = (float)v[0];
    c->out.h = (float)v[1];
    return true;
}

bool cli_look_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const themes[2] = {"light", "dark"};
    int theme = STEP_LIGHT;
    long long ui = 100;
    if (!cli_one_of(g, OPT_THEME, themes, &theme, e) ||
        !cli_whole(g, OPT_UI, STEP_MIN_UI, STEP_MAX_UI, "the UI size in percent", &ui, e))
        return false;
    c->theme_given = g->at[OPT_THEME] != NULL;
    c->ui_given = g->at[OPT_UI] != NULL;
    if (c->theme_given) cli_push(c, STEP_THEME, theme, 0.0f);
    if (c->ui_given) cli_push(c, STEP_UI_SIZE, (int)ui, 0.0f);
    double factor = (double)ui / 100.0 * (c->density > 0.0f ? (double)c->density : 1.0);
    if (c->mode == CLI_WINDOW || c->mode == CLI_STATE || factor <= 1.0) return true;
    if (c->out.part != EXPORT_WINDOW || c->out.mm) return true;
    /* No message bar answers here, so a size that would be cut is refused. */
    int need_w = (int)ceil(SCENE_MIN_W * factor);
    int need_h = (int)ceil(SCENE_MIN_H * factor);
    enum option o = c->density > 0.0f ? OPT_DENSITY : OPT_UI;
    if ((c->w ? c->w : CLI_W) < need_w || (c->h ? c->h : CLI_H) < need_h)
        return err_set(e, ERR_USAGE, "%s %s: needs a picture of at least --size %dx%d",
                       cli_option_names[o], g->at[o], need_w, need_h);
    return true;
}

static bool film_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const which[2] = {"stage", "all"};
    static const enum option not_films[] = {OPT_TIME, OPT_OVERVIEW, OPT_PLAY, OPT_HOVER,
                                            OPT_LAB};
    int all = g->at[OPT_STAGE] ? 0 : 1;
    long long fps = 0;
    bool film = c->out.format >= EXPORT_PICTURES;
    for (int o = OPT_FILM; o <= OPT_FPS; o++)
        if (g->at[o] && !film)
            return err_set(e, ERR_USAGE,
                           "%s %s: is of a film; export to .mp4, .gif, .webm or a folder "
                           "with a slash behind it",
                           cli_option_names[o], g->at[o]);
    if (!film) return true;
    if (c->out.part == EXPORT_HEADS || c->out.part == EXPORT_MATRIX)
        return err_set(e, ERR_USAGE,
                       "--part %s: does not move; a film is of the window or the stage",
                       g->at[OPT_PART]);
    if (c->out.transparent)
        return err_set(e, ERR_USAGE, "--background transparent: is not for a film");
    for (size_t i = 0; i < sizeof not_films / sizeof not_films[0]; i++)
        if (g->at[not_films[i]])
            return err_set(e, ERR_USAGE, "%s: is not for a film; leave it out",
                           cli_option_names[not_films[i]]);
    if (!cli_one_of(g, OPT_FILM, which, &all, e) ||
        !cli_whole(g, OPT_FPS, 1, FILM_MAX_FPS, "the number of frames a second", &fps, e))
        return false;
    c->film_all = all == 1;
    c->fps = (int)fps;
    return true;
}

bool cli_picture_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const grounds[2] = {"paper", "transparent"};
    int ground = 0;
    c->mode = CLI_EXPORT;
    c->out.path = g->at[OPT_EXPORT];
    if (!export_format_of(c->out.path, &c->out.format, e) ||
        (g->at[OPT_PART] && !export_part_of(g->at[OPT_PART], &c->out, e)) ||
        !cli_one_of(g, OPT_BACKGROUND, grounds, &ground, e))
        return false;
    c->out.transparent = ground == 1;
    return film_options(c, g, e);
}
