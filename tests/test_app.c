/* app without a screen: the command line, settings, input, the worker. */
#include "app_case.h"

#include "browse.h"
#include "cli.h"
#include "input.h"
#include "settings.h"
#include "source.h"

#include <SDL.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- command line ------------------------------------------------------------------- */

enum { MAX_ARGS = 32 };

/* Parses words split at single spaces. */
static bool parse(struct cli *c, const char *words, struct err *e)
{
    static char text[512];
    char *argv[MAX_ARGS] = {"headlight"};
    int argc = 1;
    (void)snprintf(text, sizeof text, "%s", words);
    for (char *w = strtok(text, " "); w && argc < MAX_ARGS; w = strtok(NULL, " "))
        argv[argc++] = w;
    *e = (struct err){0};
    return cli_parse(c, argc, argv, e);
}

static struct step_state started(const struct cli *c)
{
    struct step_state s = step_initial();
    for (int i = 0; i < c->start.n; i++) assert_true(step_apply(&s, c->start.at[i]));
    return s;
}

static void options_become_the_state_that_was_asked_for(void **state)
{
    (void)state;
    struct cli c;
    struct err e;
    assert_true(parse(&c,
                      "--scale gpt2 --tokens=1024 --seed 4294967295 --head 12 --row=1024 "
                      "--stage 5 --time 0.25 --theme dark --off mask,residual",
                      &e));
    struct step_state s = started(&c);
    assert_int_equal(s.scale, STEP_GPT2);
    assert_int_equal(step_place_of(&s)->dims.n_tok, 1024);
    assert_int_equal(step_place_of(&s)->seed, UINT32_MAX);
    assert_int_equal(step_place_of(&s)->head, 11);
    assert_int_equal(step_place_of(&s)->row, 1023);
    assert_int_equal(s.stage, ATTN_SOFTMAX);
    assert_true(s.time == 0.25f && !s.playing);
    assert_int_equal(s.theme, STEP_DARK);
    assert_true(s.opts.scale && !s.opts.causal && !s.opts.residual);
    assert_int_equal(c.mode, CLI_WINDOW);
}

static void a_picture_is_of_a_finished_stage_and_a_window_plays_it(void **state)
{
    (void)state;
    struct cli c;
    struct err e;
    assert_true(parse(&c, "--export a.png --stage 3", &e));
    struct step_state s = started(&c);
    assert_true(s.time == 1.0f && !s.playing && s.stage == ATTN_SCALE);
    assert_true(parse(&c, "--export a.png", &e));
    s = started(&c);
    assert_true(s.time == 1.0f && s.stage == ATTN_PROJECTIONS);
    assert_true(parse(&c, "--stage 3", &e));
    s = started(&c);
    assert_true(s.time == 0.0f && s.playing && s.stage == ATTN_SCALE);
}

static void a_model_s_parts_are_asked_for_once_it_is_open(void **state)
{
    (void)state;
    struct cli c;
    struct err e;
    assert_true(parse(&c, "m/ --text A --cut front --block 3 --head 2 --row 9", &e));
    assert_string_equal(c.model, "m/");
    assert_string_equal(c.text, "A");
    assert_true(c.cut_front);
    assert_int_equal(c.when_opened.n, 3);
    assert_int_equal(c.when_opened.at[0].verb, STEP_BLOCK);
    assert_int_equal(c.when_opened.at[0].i, 2);
    struct step_state s = started(&c);
    assert_int_equal(s.scale, STEP_TOY); /* it is shown when it is there */
}

static void bad_usage_is_refused_in_one_line_that_names_it(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } bad[] = {
        {"--nonsense", "--nonsense"},
        {"-x", "-x"},
        {"--scal toy", "--scal"},
        {"-", "a folder or a file"},
        {"a.bin b.bin", "b.bin"},
        {"--scale gpt2 --text hello", "for a model"},
        {"--text a --words b", "--words out"},
        {"--words 1,2,3,4,5", "9 words"},
        {"--words \xFF", "UTF-8"},
        {"--words a --row 2", "from 1 to 1"},
        {"--edit Q", "MATRIX ROW COLUMN NUMBER"},
        {"--tokens 3", "--words"},
        {"--block 1", "for a model"},
        {"a.bin --cut middle", "end or front"},
        {"a.bin --tokens 9", "random weights"},
        {"a.bin --seed 9", "random weights"},
        {"a.bin --scale toy --tokens 9", "random weights"},
        {"a.bin --block 0", "from 1"},
        {"--stage", "needs a value"},
        {"--stage --help", "--stage: needs a value before --help"},
        {"--words --scale gpt2", "--words: needs a value before --scale"},
        {"a.bin --text --block 2", "--text: needs a value before --block"},
        {"--words", "--words: needs a value"},
        {"--export=", "needs a value"},
        {"--help=1", "takes no value"},
        {"--stage 8", "from 1 to 7"},
        {"--stage 0", "from 1 to 7"},
        {"--stage 1.5", "from 1 to 7"},
        {"--stage 3x", "from 1 to 7"},
        {"--stage 99999999999999999999", "from 1 to 7"},
        {"--stage 1 --stage 2", "twice"},
        {"--time 0.5", "--stage"},
        {"--stage 1 --time 1.01", "from 0 to 1"},
        {"--stage 1 --time -0.1", "from 0 to 1"},
        {"--stage 1 --time nan", "from 0 to 1"},
        {"--stage 1 --time 0x1", "from 0 to 1"},
        {"--tokens 5", "--scale gpt2"},
        {"--scale toy --tokens 5", "--scale gpt2"},
        {"--scale gpt2 --tokens 0", "from 1 to 1024"},
        {"--scale gpt2 --tokens 1025", "from 1 to 1024"},
        {"--scale huge", "toy or gpt2"},
        {"--head 3", "from 1 to 2"},
        {"--scale gpt2 --head 13", "from 1 to 12"},
        {"--row 6", "from 1 to 5"},
        {"--row 0", "from 1 to 5"},
        {"--beside 2", "stages 2 to 5"},
        {"--stage 5 --beside 3", "from 1 to 2"},
        {"--stage 5 --beside 1", "name another"},
        {"--stage 5 --beside 2 --minus 2", "leave it or"},
        {"--row 1-6", "from 1 to 5"},
        {"--row 3-2", "from 1 to 5"},
        {"--row 1,", "from 1 to 5"},
        {"--row 1--2", "from 1 to 5"},
        {"--row 1-3,2", "each once"},
        {"--row 99999999999999999999", "from 1 to 5"},
        {"--scale gpt2 --tokens 9 --row 10", "from 1 to 9"},
        {"--seed -1", "from 0 to 4294967295"},
        {"--seed 4294967296", "from 0 to 4294967295"},
        {"--theme blue", "light or dark"},
        {"--off everything", "scale,mask,residual"},
        {"--ui 49", "from 50 to 300"},
        {"--ui 301", "from 50 to 300"},
        {"--size 800", "WxH"},
        {"--size 800x", "WxH"},
        {"--size x600", "WxH"},
        {"--size 1000x600", "1024x640"},
        {"--size 9000x9000 --export a.png", "8192x8192"},
        {"--size 63x64 --export a.png", "64x64"},
        {"--size 1440x900x3", "WxH"},
        {"--export a.jpg", ".png"},
        {"--export a.mp4 --part heads", "does not move"},
        {"--export a.mp4 --size 100mm", "millimetres"},
        {"--export .png", ".png"},
        {"--export a.png --script b.txt", "script"},
        {"--export a.png --ui 200", "2048x1280"},
        {"--export a.png --density 2 --size 1440x900", "2048x1280"},
        {"--export a.png --density 8", "8192x8192"},
        {"--density 0", "0.5 to 8"},
        {"--density 2x", "0.5 to 8"},
        {"--pin p", "MATRIX:ROW:COLUMN"},
        {"--pin p:0:1", "counted from 1"},
        {"--pin p:6:1", "inside it"},
        {"--pin p:1:1:1", "MATRIX:ROW:COLUMN"},
        {"--hover nothing:1:1", "no matrix nothing; they are h, X"},
        {"--hover q:1:5", "inside it"},
        {"--view 1,2", "ZOOM,X,Y"},
        {"--view 1,2,3,4", "ZOOM,X,Y"},
        {"--view 0.5,0,0", "from 1 to 4096"},
        {"--view nan,0,0", "ZOOM,X,Y"},
        {"--overview all", "scores, scaled or weights"},
        {"--overview scores --sort size", "place"},
        {"--sort place", "--overview"},
        {"--overview scores --overview-at 3", "not so many"},
        {"--speed 3", "0.25, 0.5, 1, 2 or 4"},
        {"--log yes", "off or on"},
        {"--play", "--stage"},
        {"--state --export a.png", "leave --export out"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cli c;
        struct err e;
        if (parse(&c, bad[i].words, &e) || e.code != ERR_USAGE ||
            !strstr(e.text, bad[i].says) || strchr(e.text, '\n'))
            fail_msg("%s: %s", bad[i].words, e.text);
    }
}

static bool help_names(const char *option)
{
    for (int i = 0; cli_help[i]; i++)
        if (strstr(cli_help[i], option)) return true;
    return false;
}

static void every_option_is_in_the_help(void **state)
{
    (void)state;
    static const char *const names[] = {
        "--scale",       "--tokens", "--seed",     "--stage",      "--time",
        "--head",        "--row",    "--off",      "--break",      "--see",
        "--switches",    "--theme",  "--ui",       "--size",       "--export",
        "--script",      "--help",   "--version",  "--shader-dir", "--pin",
        "--hover",       "--view",   "--overview", "--sort",       "--decode",
        "--overview-at", "--log",    "--speed",    "--play",       "--density",
        "--state",       "--tour",   "--stop",     "--answer",     "--presenter",
        "--edit",        "--words"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(help_names(names[i]));
}

/* ---- settings --------------------------------------------------------------------------- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/headlight_app_XXXXXX");
    return mkdtemp(folder) && setenv("XDG_CONFIG_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[128];
    static const char *const names[] = {"headlight/settings.json",
                                        "headlight/settings.json.broken"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof path, "%s/headlight", folder);
    (void)rmdir(path);
    return rmdir(folder);
}

static void settings_come_back_as_they_were_saved(void **state)
{
    (void)state;
    struct settings_file f;
    struct settings s;
    struct err e = {0};
    settings_find(&f);
    assert_true(settings_load(&f, &s, &e)); /* none yet */
    assert_false(s.placed);
    const struct settings want = {.theme = STEP_DARK,
                                  .ui_percent = 125,
                                  .speed = 0.25f,
                                  .log_weights = true,
                                  .placed = true,
                                  .x = -20,
                                  .y = 30,
                                  .w = 1111,
                                  .h = 777};
    assert_true(settings_save(&f, &want, &e));
    assert_true(settings_load(&f, &s, &e));
    assert_int_equal(s.theme, want.theme);
    assert_int_equal(s.ui_percent, want.ui_percent);
    assert_true(s.speed == want.speed && s.log_weights && s.placed);
    assert_true(s.x == -20 && s.y == 30 && s.w == 1111 && s.h == 777);
}

static void write_settings(const struct settings_file *f, const char *text)
{
    struct err e = {0};
    assert_true(file_write(f->path, text, strlen(text), &e));
}

static void broken_settings_are_the_defaults_and_are_kept_aside(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"theme\": \"pink\", \"ui_percent\": 100, \"speed\": 1, \"log_weights\": "
        "false}",
        "{\"theme\": \"dark\", \"ui_percent\": 1e9, \"speed\": 1, \"log_weights\": "
        "false}",
        "{\"theme\": \"dark\", \"ui_percent\": 100, \"speed\": 3, \"log_weights\": "
        "false}",
        "{\"theme\": \"dark\", \"ui_percent\": 100, \"speed\": 1, \"log_weights\": 0}",
        "{\"theme\": \"dark\", \"ui_percent\": 100, \"speed\": 1, \"log_weights\": false,"
        " \"window\": {\"x\": 0, \"y\": 0, \"w\": 0, \"h\": 5}}",
    };
    struct settings_file f;
    struct settings s;
    struct err e = {0};
    struct stat st;
    char aside[sizeof f.path + 8];
    settings_find(&f);
    (void)snprintf(aside, sizeof aside, "%s.broken", f.path);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        write_settings(&f, broken[i]);
        assert_false(settings_load(&f, &s, &e));
        assert_int_equal(s.theme, STEP_LIGHT);
        assert_int_equal(s.ui_percent, 100);
        assert_false(s.placed);
        assert_non_null(strstr(e.text, f.path));
    }
    assert_true(settings_save(&f, &s, &e));
    assert_int_equal(stat(aside, &st), 0);
    assert_true(settings_load(&f, &s, &e));
    assert_int_equal(unlink(aside), 0);

    /* A folder in its place is broken too. */
    assert_int_equal(unlink(f.path), 0);
    assert_int_equal(mkdir(f.path, 0700), 0);
    assert_false(settings_load(&f, &s, &e));
    assert_true(settings_save(&f, &s, &e));
    assert_int_equal(rmdir(aside), 0);
    assert_true(settings_load(&f, &s, &e));
}

static void without_a_home_nothing_is_kept(void **state)
{
    (void)state;
    struct settings_file f;
    struct settings s;
    struct err e = {0};
    char home[1024] = "";
    if (getenv("HOME")) (void)snprintf(home, sizeof home, "%s", getenv("HOME"));
    assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    settings_find(&f);
    assert_string_equal(f.path, "");
    assert_true(settings_load(&f, &s, &e));
    assert_true(settings_save(&f, &s, &e));
    assert_int_equal(setenv("HOME", "/home/someone", 1), 0);
    settings_find(&f);
    assert_string_equal(f.path, "/home/someone/.config/headlight/settings.json");
    assert_int_equal(setenv("HOME", home, 1), 0);
    assert_int_equal(setenv("XDG_CONFIG_HOME", folder, 1), 0);
}

/* ---- input ------------------------------------------------------------------------------- */

static void the_layout_never_gets_smaller_than_its_least(void **state)
{
    (void)state;
    for (int ui = STEP_MIN_UI; ui <= STEP_MAX_UI; ui += 25)
        for (int w = 64; w < 6000; w = w * 3 / 2)
            for (int h = 64; h < 4000; h = h * 3 / 2) {
                struct input_scale s = input_scale_of(w, h, 1.0f, 1.5f, ui);
                assert_true(s.w >= SCENE_MIN_W && s.h >= SCENE_MIN_H);
                assert_true(s.density > 0.0f && s.density <= 1.5f * (float)ui / 100.0f);
                assert_true(fabsf(s.w * s.density - (float)w) < 0.5f ||
                            s.w == SCENE_MIN_W);
                assert_true(s.limited == (s.density < 1.5f * (float)ui / 100.0f));
            }
    struct input_scale s = input_scale_of(2880, 1800, 2.0f, 2.0f, 100);
    assert_true(s.w == 1440.0f && s.h == 900.0f && s.density == 2.0f && !s.limited);
}

static void a_display_s_density_counts_in_halves_where_it_can_be_true(void **state)
{
    (void)state;
    assert_true(input_base_of(0.0f) == 1.0f && input_base_of(NAN) == 1.0f);
    assert_true(input_base_of(92.0f) == 1.0f && input_base_of(96.0f) == 1.0f);
    assert_true(input_base_of(157.0f) == 1.5f && input_base_of(192.0f) == 2.0f);
    assert_true(input_base_of(9999.0f) == 1.0f);
}

static int key_for(SDL_Keycode sym, SDL_Scancode code, int mod)
{
    const struct input_scale sc = {.ratio = 1.0f, .density = 1.0f};
    SDL_Event ev = {.type = SDL_KEYDOWN};
    struct ui_event out;
    ev.key.keysym.sym = sym;
    ev.key.keysym.scancode = code;
    ev.key.keysym.mod = (Uint16)mod;
    return input_event(&sc, &ev, &out) ? out.key : -1;
}

static void every_layout_reaches_every_key(void **state)
{
    (void)state;
    assert_int_equal(key_for(SDLK_RIGHT, SDL_SCANCODE_RIGHT, 0), UI_KEY_RIGHT);
    assert_int_equal(key_for(SDLK_t, SDL_SCANCODE_T, 0), 't');
    assert_int_equal(key_for(SDLK_a, SDL_SCANCODE_Q, 0), 'a');         /* French */
    assert_int_equal(key_for(SDLK_AMPERSAND, SDL_SCANCODE_1, 0), '1'); /* French */
    assert_int_equal(key_for(SDLK_MINUS, SDL_SCANCODE_6, 0), '-');     /* French */
    assert_int_equal(key_for(SDLK_MINUS, SDL_SCANCODE_6, KMOD_LSHIFT), '6');
    assert_int_equal(key_for(0xfc, SDL_SCANCODE_LEFTBRACKET, 0), '['); /* German */
    assert_int_equal(key_for(SDLK_PLUS, SDL_SCANCODE_RIGHTBRACKET, 0), '=');
    assert_int_equal(key_for(0x435, SDL_SCANCODE_T, 0), 't'); /* Russian */
    assert_int_equal(key_for(SDLK_KP_7, SDL_SCANCODE_KP_7, 0), '7');
    assert_int_equal(key_for(SDLK_LSHIFT, SDL_SCANCODE_LSHIFT, KMOD_LSHIFT), -1);
    assert_int_equal(key_for(SDLK_F5, SDL_SCANCODE_F5, 0), -1);
}

static void window_coordinates_become_points(void **state)
{
    (void)state;
    const struct input_scale sc = {.ratio = 2.0f, .density = 2.5f};
    SDL_Event ev = {.type = SDL_MOUSEBUTTONDOWN};
    struct ui_event out;
    ev.button.button = SDL_BUTTON_LEFT;
    ev.button.clicks = 2;
    ev.button.x = 100;
    ev.button.y = 50;
    assert_true(input_event(&sc, &ev, &out));
    assert_true(out.kind == UI_DOWN && out.x == 80.0f && out.y == 40.0f &&
                out.clicks == 2);
    ev.button.button = SDL_BUTTON_RIGHT;
    assert_false(input_event(&sc, &ev, &out));
}

/* ---- the file chooser --------------------------------------------------------------------- */

/* A program named zenity in a folder of its own, first in PATH. */
static void make_chooser(char dir[64], const char *script)
{
    char path[96];
    (void)snprintf(dir, 64, "/tmp/headlight-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/zenity", dir);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fprintf(f, "#!/bin/sh\n%s\n", script) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(setenv("PATH", dir, 1), 0);
}

static void drop_chooser(const char *dir)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/zenity", dir);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void the_desktop_s_chooser_gives_a_path(void **state)
{
    (void)state;
    static const struct {
        const char *script, *path;
    } cases[] = {
        {"echo /models/gpt2/model.safetensors", "/models/gpt2/model.safetensors"},
        {"echo '/models/a b/config.json'", "/models/a b/"}, /* its folder is the model */
        {"echo /tmp", "/tmp"},
        {"exit 1", ""},              /* cancelled */
        {"echo /x.bin; exit 5", ""}, /* it failed */
        {"kill -9 $$", ""},
    };
    char was[4096];
    (void)snprintf(was, sizeof was, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct browse *b = NULL;
        struct err e = {0};
        char dir[64];
        char path[256] = "unset";
        make_chooser(dir, cases[k].script);
        assert_true(browse_is_there());
        assert_true(browse_begin(&b, 0, &e));
        assert_true(browse_begin(&b, 0, &e)); /* the one that is open */
        for (int i = 0; i < 2000 && !browse_done(&b, path, sizeof path); i++)
            SDL_Delay(5);
        assert_null(b);
        assert_string_equal(path, cases[k].path);
        drop_chooser(dir);
    }
    struct browse *b = NULL;
    struct err e = {0};
    char dir[64];
    make_chooser(dir, "exec /bin/sleep 600");
    assert_true(browse_begin(&b, 0, &e));
    browse_end(&b); /* does not wait for the person */
    assert_null(b);
    browse_end(&b);
    drop_chooser(dir);
    assert_int_equal(setenv("PATH", "/no-such-folder::", 1), 0);
    assert_false(browse_is_there());
    assert_false(browse_begin(&b, 0, &e));
    assert_int_equal(setenv("PATH", was, 1), 0);
}

/* ---- runs --------------------------------------------------------------------------------- */

static struct run_key gpt2(int n_tok, uint32_t seed, int head)
{
    return (struct run_key){.scale = STEP_GPT2,
                            .seed = seed,
                            .n_tok = n_tok,
                            .head = head,
                            .opts = attn_opts_default()};
}

static void the_worker_s_run_is_the_caller_s_to_the_bit(void **state)
{
    (void)state;
    struct err e = {0};
    const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct run_model m = {0};
    struct run own = {0};
    struct run_key key = gpt2(70, 3, 5);
    struct worker *w = worker_create(c.k, 0);
    assert_non_null(w);
    assert_null(worker_take(w));
    assert_true(worker_ask(w, key, &e));
    worker_wait(w);
    const struct run *r = worker_take(w);
    assert_non_null(r);
    assert_true(run_key_same(r->key, key));
    assert_true(worker_progress(w) < 0.0f);
    assert_true(run_model_make(&m, key, &c, &e));
    assert_true(run_make(&own, key, &m.model, &c, &e));
    assert_memory_equal(r->trace.y.data, own.trace.y.data,
                        sizeof(float) * (size_t)own.trace.y.rows *
                            (size_t)own.trace.y.ld);
    assert_memory_equal(r->trace.p.data, own.trace.p.data,
                        sizeof(float) * (size_t)own.trace.p.rows *
                            (size_t)own.trace.p.ld);
    run_fini(&own);
    run_model_fini(&m);
    worker_destroy(w);
}

static void same_to_the_bit(struct attn_cmat a, struct attn_cmat b)
{
    assert_true(a.data && b.data && a.rows == b.rows && a.ld == b.ld);
    assert_memory_equal(a.data, b.data, sizeof(float) * (size_t)a.rows * (size_t)a.ld);
}

static void a_second_head_is_what_its_own_run_shows(void **state)
{
    (void)state;
    struct err e = {0};
    const struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    for (int o = 0; o < 4; o++) {
        struct run_model m = {0};
        struct run two = {0};
        struct run one = {0};
        struct run_key key = gpt2(37, 5, 2);
        key.opts.scale = o & 1;
        key.opts.causal = o & 2;
        assert_true(run_model_make(&m, key, &c, &e));
        key.second = 8; /* head 7 from 0 */
        assert_true(run_make(&two, key, &m.model, &c, &e));
        key.head = 7;
        key.second = 0;
        assert_true(run_make(&one, key, &m.model, &c, &e));
        assert_int_equal(two.pair.view.head, 7);
        for (int k = 0; k < SCENE_PAIR_KINDS; k++) {
            enum attn_tensor t = (enum attn_tensor)(ATTN_S_RAW + k);
            struct attn_cmat a = attn_trace_view(&two.trace, t, 2);
            struct attn_cmat b = attn_trace_view(&one.trace, t, 7);
            same_to_the_bit(two.pair.view.second[k], b);
            for (size_t i = 0; i < (size_t)37 * 37 && t != ATTN_S_MASKED; i++)
                assert_true(two.pair.view.minus[k].data[i] == a.data[i] - b.data[i]);
        }
        run_fini(&one);
        run_fini(&two);
        run_model_fini(&m);
    }
}

static void the_newest_request_is_the_one_that_arrives(void **state)
{
    (void)state;
    struct err e = {0};
    struct worker *w = worker_create(attn_kernels_get(NULL), 0);
    assert_non_null(w);
    uint64_t version = 0;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 5; i++)
            assert_true(worker_ask(w, gpt2(64 + i, (uint32_t)(round + i % 2), i), &e));
        if (round % 3 == 2) worker_cancel(w);
        if (round % 3 == 2) assert_true(worker_ask(w, gpt2(20, 1, 0), &e));
        struct run_key want =
            round % 3 == 2 ? gpt2(20, 1, 0) : gpt2(68, (uint32_t)round, 4);
        worker_wait(w);
        const struct run *r = worker_take(w);
        assert_non_null(r);
        assert_true(run_key_same(r->key, want));
        assert_true(r->version > version);
        version = r->version;
        assert_false(worker_failed(w, &e));
    }
    worker_destroy(w);
}

static void what_is_shown_stays_while_another_is_made(void **state)
{
    (void)state;
    struct err e = {0};
    struct worker *w = worker_create(attn_kernels_get(NULL), 0);
    assert_true(worker_ask(w, gpt2(33, 1, 0), &e));
    worker_wait(w);
    const struct run *shown = worker_take(w);
    assert_non_null(shown);
    struct attn_cmat p = attn_trace_view(&shown->trace, ATTN_P, 0);
    double before = (double)p.data[32 * p.ld + 7] + (double)shown->trace.x.data[5];
    assert_true(worker_ask(w, gpt2(200, 2, 3), &e));
    worker_wait(w); /* finished, not taken */
    assert_true(worker_ask(w, gpt2(100, 3, 1), &e));
    worker_wait(w);
    assert_true(before == (double)p.data[32 * p.ld + 7] + (double)shown->trace.x.data[5]);
    shown = worker_take(w);
    assert_int_equal(shown->key.n_tok, 100);
    worker_destroy(w);
}

static void destroying_a_busy_worker_ends_it(void **state)
{
    (void)state;
    struct err e = {0};
    for (int i = 0; i < 4; i++) {
        struct worker *w = worker_create(attn_kernels_get(NULL), 0);
        assert_true(worker_ask(w, gpt2(1024, 1, 0), &e));
        SDL_Delay((Uint32)i * 7u);
        worker_destroy(w);
    }
    worker_destroy(NULL);
}

static void a_source_fits_its_state(void **state)
{
    (void)state;
    struct err e = {0};
    struct source src;
    struct step_state s = step_initial();
    assert_true(source_init(&src, 0, &e));
    struct scene_source toy = source_for(&src, &s, false);
    assert_true(toy.fits && toy.trace && toy.version != 0 && toy.progress < 0.0f);
    assert_int_equal(source_for(&src, &s, false).version, toy.version);
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_ROLL}));
    assert_int_not_equal(source_for(&src, &s, false).version, toy.version);
    assert_true(step_apply(&s, (struct step_action){.verb = STEP_SCALE_TO, .i = -1}));
    struct scene_source first = source_for(&src, &s, false);
    assert_true(!first.fits && !first.trace);
    struct scene_source big = source_for(&src, &s, true);
    assert_true(big.fits && big.trace && big.version != toy.version);
    assert_int_equal(big.trace->dims.n_tok, STEP_GPT2_TOKENS);
    source_fini(&src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_become_the_state_that_was_asked_for),
        cmocka_unit_test(a_picture_is_of_a_finished_stage_and_a_window_plays_it),
        cmocka_unit_test(a_model_s_parts_are_asked_for_once_it_is_open),
        cmocka_unit_test(bad_usage_is_refused_in_one_line_that_names_it),
        cmocka_unit_test(every_option_is_in_the_help),
        cmocka_unit_test(settings_come_back_as_they_were_saved),
        cmocka_unit_test(broken_settings_are_the_defaults_and_are_kept_aside),
        cmocka_unit_test(without_a_home_nothing_is_kept),
        cmocka_unit_test(the_layout_never_gets_smaller_than_its_least),
        cmocka_unit_test(a_display_s_density_counts_in_halves_where_it_can_be_true),
        cmocka_unit_test(every_layout_reaches_every_key),
        cmocka_unit_test(window_coordinates_become_points),
        cmocka_unit_test(the_desktop_s_chooser_gives_a_path),
        cmocka_unit_test(the_worker_s_run_is_the_caller_s_to_the_bit),
        cmocka_unit_test(a_second_head_is_what_its_own_run_shows),
        cmocka_unit_test(the_newest_request_is_the_one_that_arrives),
        cmocka_unit_test(what_is_shown_stays_while_another_is_made),
        cmocka_unit_test(destroying_a_busy_worker_ends_it),
        cmocka_unit_test(a_source_fits_its_state),
    };
    return cmocka_run_group_tests_name("app", tests, make_folder, remove_folder) +
           app_broken_tests() + app_edit_tests();
}
