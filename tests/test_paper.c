/* Pictures as files: the vectors show what the window shows, text stays text, matrices
 * keep every cell, and a file appears whole or not at all. Pictures that differ stay in
 * OUT_DIR. */
#include "paper.h"

#include "gfx.h"
#include "ui_case.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { W = 1440, H = 900, PIXELS_MAX = 1 << 23, FILE_MAX = 1 << 24 };

static struct paper *paper;
static struct gfx *gfx; /* NULL where there is no OpenGL */
static char folder[] = "/tmp/headlight_paper_XXXXXX";

static int open_all(void **state)
{
    (void)state;
    struct err e = {0};
    struct gfx_config c = {
        .w = W, .h = H, .x = GFX_ANYWHERE, .y = GFX_ANYWHERE, .offscreen = true};
    if (!gfx_create(&gfx, &c, &e)) {
        gfx = NULL;
        print_message("no window's pictures to compare with: %s\n", e.text);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return paper_create(&paper, &e) && mkdtemp(folder) ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    gfx_destroy(gfx);
    paper_destroy(paper);
    DIR *d = opendir(folder);
    for (const struct dirent *at; d && (at = readdir(d)) != NULL;) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", folder, at->d_name);
        if (at->d_name[0] != '.') (void)unlink(path);
    }
    if (d) (void)closedir(d);
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int at;
    at = (at + 1) % 4;
    (void)snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static int names_in_folder(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d)) n++;
    (void)closedir(d);
    return n;
}

/* ---- programs ---------------------------------------------------------------------------- */

static bool have(const char *program)
{
    char line[128];
    (void)snprintf(line, sizeof line, "command -v %s >/dev/null", program);
    return system(line) == 0; // NOLINT(cert-env33-c): a fixed program
}

static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < sizeof line);
    return system(line); // NOLINT(cert-env33-c): a fixed program
}

/* ---- pictures ------------------------------------------------------------------------------ */

struct picture {
    struct arena mem;
    uint8_t *rgba;
    int w, h;
};

static struct picture load(const char *path)
{
    struct picture p = {0};
    struct err e = {0};
    assert_true(arena_init(&p.mem, (size_t)PIXELS_MAX * 4 + 64, &e));
    if (!paper_png_read(path, &p.mem, PIXELS_MAX, &p.rgba, &p.w, &p.h, &e))
        fail_msg("%s", e.text);
    return p;
}

static const uint8_t *pixel(const struct picture *p, int x, int y)
{
    return p->rgba + ((size_t)y * (size_t)p->w + (size_t)x) * 4;
}

/* How far two pictures are apart. */
struct apart {
    double mean;  /* of the largest difference of a pixel's channels */
    double share; /* of pixels more than 64 apart */
    int most;
};

static struct apart compare(const struct picture *a, const struct picture *b)
{
    struct apart d = {0, 0, 0};
    long n = (long)a->w * a->h, over = 0, sum = 0;
    assert_int_equal(a->w, b->w);
    assert_int_equal(a->h, b->h);
    for (long i = 0; i < n; i++) {
        int most = 0;
        for (int c = 0; c < 4; c++) {
            int by = abs((int)a->rgba[4 * i + c] - (int)b->rgba[4 * i + c]);
            most = by > most ? by : most;
        }
        sum += most;
        over += most > 64;
        d.most = most > d.most ? most : d.most;
    }
    d.mean = (double)sum / (double)n;
    d.share = (double)over / (double)n;
    return d;
}

static void expect_alike(const struct picture *found, const struct picture *window,
                         double mean, double share, const char *what)
{
    struct err e = {0};
    struct apart d = compare(found, window);
    if (d.mean <= mean && d.share <= share) return;
    (void)paper_png_write(OUT_DIR "/paper_found.png", found->rgba, found->w, found->h,
                          &e);
    (void)paper_png_write(OUT_DIR "/paper_window.png", window->rgba, window->w, window->h,
                          &e);
    fail_msg("%s: %.3f apart, %.5f of it far; see " OUT_DIR "/paper_*.png", what, d.mean,
             d.share);
}

/* What the window shows, at `density`. */
static struct picture window_picture(const struct scene *sc, float density)
{
    struct picture p = {.w = (int)lroundf(sc->w * density),
                        .h = (int)lroundf(sc->h * density)};
    struct err e = {0};
    size_t pixels = (size_t)p.w * (size_t)p.h;
    assert_true(arena_init(&p.mem, pixels * 4 + 64, &e));
    p.rgba = arena_push(&p.mem, pixels, 4);
    if (!gfx_picture(gfx, sc, density, p.w, p.h, p.rgba, &e)) fail_msg("%s", e.text);
    return p;
}

static void write_or_fail(const struct scene *sc, struct paper_page page,
                          enum paper_format format, const char *path)
{
    struct err e = {0};
    if (!paper_write(paper, sc, &page, format, path, &e)) fail_msg("%s", e.text);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static void open_window(struct ui_case *u, enum step_scale scale, enum step_theme theme)
{
    *u = (struct ui_case){0};
    case_open(&u->c, scale);
    u->c.font = *paper_metrics(paper);
    u->c.state.theme = theme;
}

static void show(struct ui_case *u, int stage, float time)
{
    u->c.state.stage = (enum attn_stage)stage;
    u->c.state.time = time;
    ui_show(u, W, H);
}

/* A scene of one matrix: with all that a heat map can be asked for. */
struct heat_case {
    struct arena mem;
    struct font_metrics font;
    struct scene sc;
    float values[40 * 30];
    struct scene_heat heat;
};

static void open_heat(struct heat_case *c, float cell)
{
    struct err e = {0};
    *c = (struct heat_case){.font = font_metrics_fake()};
    uint64_t seed = 5;
    for (int i = 0; i < 40 * 30; i++) c->values[i] = case_unit(&seed);
    c->values[3] = NAN;
    c->values[10 * 30 + 2] = INFINITY;
    c->values[20 * 30 + 4] = -INFINITY;
    c->heat = (struct scene_heat){.m = {c->values, 40, 30, 30},
                                  .x = 20.25f,
                                  .y = 13.5f,
                                  .cell_w = cell,
                                  .cell_h = cell * 0.9f,
                                  .row1 = 40,
                                  .col1 = 30,
                                  .shown = 30 * 33 + 7,
                                  .map = MAP_DIVERGING,
                                  .lo = -1,
                                  .hi = 1,
                                  .gain = 1,
                                  .mask_from = 12,
                                  .alpha = 1,
                                  .dim = 0.4f,
                                  .focus_row0 = 8,
                                  .focus_row1 = 14,
                                  .focus_col1 = 30,
                                  .gap = 2,
                                  .radius = 3};
    assert_true(arena_init(&c->mem, scene_bytes(), &e));
    assert_true(scene_begin(&c->sc, &c->mem, &c->font, STEP_LIGHT, 400, 400, &e));
}

/* ---- the same as the window ----------------------------------------------------------------------- */

static void metrics_are_those_of_the_window(void **state)
{
    (void)state;
    if (!gfx) skip();
    const struct font_metrics *a = gfx_metrics(gfx), *b = paper_metrics(paper);
    for (int f = 0; f < FONT_COUNT; f++) {
        for (int i = 0; i <= FONT_LAST - FONT_FIRST; i++)
            assert_true(fabsf(a->advance[f][i] - b->advance[f][i]) < 2e-4f);
        for (int i = 0; i < FONT_EXTRA; i++)
            assert_true(fabsf(a->extra[f][i] - b->extra[f][i]) < 2e-4f);
        assert_true(fabsf(a->cap[f] - b->cap[f]) < 2e-3f);
    }
}

static void png_shows_what_the_window_shows(void **state)
{
    (void)state;
    if (!gfx) skip();
    static const struct {
        int stage;
        float time, density;
        enum step_theme theme;
    } cases[] = {{0, 0.5f, 1, STEP_LIGHT},
                 {1, 0.5f, 1.5f, STEP_DARK},
                 {4, 0.8f, 1, STEP_DARK},
                 {5, 0.5f, 2, STEP_LIGHT},
                 {6, 1, 1, STEP_LIGHT}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct ui_case u;
        open_window(&u, STEP_TOY, cases[k].theme);
        show(&u, cases[k].stage, cases[k].time);
        struct picture window = window_picture(&u.c.sc, cases[k].density);
        write_or_fail(&u.c.sc, (struct paper_page){.scale = cases[k].density}, PAPER_PNG,
                      in_folder("a.png"));
        struct picture found = load(in_folder("a.png"));
        expect_alike(&found, &window, 0.4, 0.0005, case_where(&u.c).text);
        arena_free(&found.mem);
        arena_free(&window.mem);
        case_close(&u.c);
    }
}

static void large_matrices_show_as_in_the_window(void **state)
{
    (void)state;
    if (!gfx) skip();
    struct ui_case u;
    open_window(&u, STEP_GPT2, STEP_LIGHT);
    case_tokens(&u.c, 200);
    for (int stage = 0; stage < 7; stage += 4) {
        show(&u, stage, 0.7f);
        struct picture window = window_picture(&u.c.sc, 1);
        write_or_fail(&u.c.sc, (struct paper_page){0}, PAPER_PNG, in_folder("a.png"));
        struct picture found = load(in_folder("a.png"));
        expect_alike(&found, &window, 0.4, 0.0005, case_where(&u.c).text);
        arena_free(&found.mem);
        arena_free(&window.mem);
    }
    case_close(&u.c);
}

static void cells_have_the_windows_pixels_at_every_size(void **state)
{
    (void)state;
    if (!gfx) skip();
    static const float cells[] = {0.11f, 0.3f, 0.7f, 1.9f, 5, 7.3f, 9, 12.4f, 30};
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
        for (int variant = 0; variant < 3; variant++) {
            struct heat_case c;
            open_heat(&c, cells[k]);
            if (variant == 1) {
                c.heat.map = MAP_SEQUENTIAL;
                c.heat.lo = 0;
                c.heat.log = true;
                c.heat.gain = 0.5f;
                c.heat.alpha = 0.7f;
                c.heat.gap = c.heat.radius = 0;
            }
            if (variant == 2) {
                c.heat.row0 = 5;
                c.heat.col0 = 7;
                c.heat.shown = 1 << 20;
                c.heat.mask_from = -3;
            }
            (void)scene_heat(&c.sc, &c.heat);
            struct picture window = window_picture(&c.sc, 1);
            write_or_fail(&c.sc, (struct paper_page){0}, PAPER_PNG, in_folder("a.png"));
            struct picture found = load(in_folder("a.png"));
            char what[64];
            (void)snprintf(what, sizeof what, "cells of %g, variant %d", (double)cells[k],
                           variant);
            expect_alike(&found, &window, 0.1, 0.00002, what);
            arena_free(&found.mem);
            arena_free(&window.mem);
            arena_free(&c.mem);
        }
    }
}

static void svg_shows_what_the_window_shows(void **state)
{
    (void)state;
    if (!gfx || !have("rsvg-convert")) skip();
    for (int k = 0; k < 4; k++) {
        struct ui_case u;
        open_window(&u, STEP_TOY, k % 2 ? STEP_DARK : STEP_LIGHT);
        show(&u, k < 2 ? 4 : 5, 0.8f);
        struct picture window = window_picture(&u.c.sc, 1);
        write_or_fail(&u.c.sc, (struct paper_page){0}, PAPER_SVG, in_folder("a.svg"));
        assert_int_equal(
            run("cd %s && rsvg-convert a.svg -o svg.png 2>/dev/null", folder), 0);
        struct picture found = load(in_folder("svg.png"));
        expect_alike(&found, &window, 1.2, 0.004, case_where(&u.c).text);
        arena_free(&found.mem);
        arena_free(&window.mem);
        case_close(&u.c);
    }
}

static void pdf_shows_what_the_window_shows(void **state)
{
    (void)state;
    if (!gfx || !have("pdftoppm")) skip();
    for (int k = 0; k < 2; k++) {
        struct ui_case u;
        open_window(&u, STEP_TOY, k % 2 ? STEP_DARK : STEP_LIGHT);
        show(&u, 4, 0.8f);
        struct picture window = window_picture(&u.c.sc, 1);
        write_or_fail(&u.c.sc, (struct paper_page){0}, PAPER_PDF, in_folder("a.pdf"));
        assert_int_equal(
            run("cd %s && pdftoppm -r 96 -png -singlefile a.pdf pdf", folder), 0);
        struct picture found = load(in_folder("pdf.png"));
        expect_alike(&found, &window, 2, 0.008, case_where(&u.c).text);
        arena_free(&found.mem);
        arena_free(&window.mem);
        case_close(&u.c);
    }
}

/* ---- text ----------------------------------------------------------------------------------------- */

static void svg_is_valid_whatever_a_token_is(void **state)
{
    (void)state;
    struct err e = {0};
    struct arena mem;
    struct scene sc;
    struct font_metrics font = *paper_metrics(paper);
    assert_true(arena_init(&mem, scene_bytes(), &e));
    assert_true(scene_begin(&sc, &mem, &font, STEP_LIGHT, 300, 200, &e));
    static const char *const texts[] = {"a<b>&\"c'</text>",
                                        "\001\033[31m\177",
                                        "\xFF\xFE broken \xC3",
                                        "\uFFFE\uFFFF]]>",
                                        "日本語 漢字",
                                        "  two  spaces  ",
                                        "S = Q·Kᵀ ÷ √d → −∞ ₁₂³",
                                        ""};
    for (int i = 0; i < 8; i++)
        (void)scene_text(&sc, 10, 20 + 20 * (float)i, ALIGN_LEFT, FONT_MONO, 12,
                         (struct scene_rgba){0, 0, 0, 255}, texts[i]);
    write_or_fail(&sc, (struct paper_page){0}, PAPER_SVG, in_folder("t.svg"));
    write_or_fail(&sc, (struct paper_page){0}, PAPER_PDF, in_folder("t.pdf"));
    if (have("xmllint"))
        assert_int_equal(run("xmllint --noout %s", in_folder("t.svg")), 0);
    assert_int_equal(run("grep -q '>  </tspan>\\|two  ' %s", in_folder("t.svg")), 0);
    arena_free(&mem);
}

/* A viewer orders a text element's letters by itself: in SVG no two that run from right to
 * left are in one, and the word's first stands at its right. What a PDF's text is searched
 * for is the letters as they are read, not the forms in which they are drawn. */
static void what_runs_from_right_to_left_is_ordered_once(void **state)
{
    (void)state;
    struct err e = {0};
    struct arena mem;
    struct scene sc;
    struct font_metrics font = *paper_metrics(paper);
    assert_true(arena_init(&mem, scene_bytes() + FILE_MAX, &e));
    assert_true(scene_begin(&sc, &mem, &font, STEP_LIGHT, 300, 60, &e));
    (void)scene_text(&sc, 10, 20, ALIGN_LEFT, FONT_MONO, 12,
                     (struct scene_rgba){0, 0, 0, 255}, "a \u05DB\u05EA\u05D1 b");
    (void)scene_text(&sc, 10, 50, ALIGN_LEFT, FONT_MONO, 12,
                     (struct scene_rgba){0, 0, 0, 255}, "\u0643\u062A\u0628");
    write_or_fail(&sc, (struct paper_page){0}, PAPER_SVG, in_folder("t.svg"));
    write_or_fail(&sc, (struct paper_page){0}, PAPER_PDF, in_folder("t.pdf"));
    char *text = NULL;
    size_t n = 0;
    assert_true(file_read(in_folder("t.svg"), FILE_MAX, &mem, &text, &n, &e));
    static const char *const from_left[] = {">\u05D1</text>", ">\u05EA</text>",
                                            ">\u05DB</text>", ">\uFE90</text>",
                                            ">\uFE98</text>", ">\uFEDB</text>"};
    const char *at = text;
    for (size_t i = 0; i < sizeof from_left / sizeof *from_left; i++) {
        at = strstr(at, from_left[i]);
        assert_non_null(at);
    }
    if (have("pdftotext")) {
        assert_int_equal(run("cd %s && pdftotext -raw t.pdf t.txt", folder), 0);
        assert_int_equal(run("grep -q '\u05DB\u05EA\u05D1' %s", in_folder("t.txt")), 0);
        assert_int_equal(run("grep -q '\u0643\u062A\u0628' %s", in_folder("t.txt")), 0);
    }
    arena_free(&mem);
}

static void a_whole_window_is_valid_svg_with_text_in_it(void **state)
{
    (void)state;
    struct ui_case u;
    open_window(&u, STEP_TOY, STEP_LIGHT);
    show(&u, 4, 1);
    write_or_fail(&u.c.sc, (struct paper_page){0}, PAPER_SVG, in_folder("a.svg"));
    if (have("xmllint"))
        assert_int_equal(run("xmllint --noout %s", in_folder("a.svg")), 0);
    const char *path = in_folder("a.svg");
    assert_int_equal(run("grep -q '>Softmax</tspan>' %s", path), 0);
    assert_int_equal(run("grep -q \"font-family=\\\"'[A-Z].*font-weight\" %s", path), 0);
    assert_int_not_equal(run("grep -q '<symbol\\|<glyph' %s", path), 0);
    case_close(&u.c);
}

static void text_of_a_pdf_can_be_selected_and_its_fonts_are_inside(void **state)
{
    (void)state;
    if (!have("pdftotext") || !have("pdffonts")) skip();
    struct ui_case u;
    open_window(&u, STEP_TOY, STEP_DARK);
    show(&u, 4, 1);
    write_or_fail(&u.c.sc, (struct paper_page){0}, PAPER_PDF, in_folder("a.pdf"));
    assert_int_equal(run("cd %s && pdftotext -layout a.pdf a.txt", folder), 0);
    static const char *const texts[] = {"Softmax", "A = softmax(S ÷ √d_head + mask)",
                                        "divide by √d_head", "·down"};
    for (int i = 0; i < 4; i++)
        if (run("grep -qF '%s' %s", texts[i], in_folder("a.txt")) != 0)
            fail_msg("\"%s\" is not in the PDF's text", texts[i]);
    /* Every line of the table: emb sub uni = yes. */
    assert_int_equal(
        run("pdffonts %s | tail -n +3 | grep -vq 'yes *yes *yes'", in_folder("a.pdf")),
        256);
    case_close(&u.c);
}

/* ---- matrices in vectors ----------------------------------------------------------------------------- */

static int base64_value(char c)
{
    static const char sign[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(sign, c) : NULL;
    return at ? (int)(at - sign) : -1;
}

/* The first image of an SVG. */
static struct picture image_in(const char *path)
{
    struct err e = {0};
    struct arena mem;
    char *text = NULL;
    size_t n = 0;
    assert_true(arena_init(&mem, FILE_MAX + 64, &e));
    assert_true(file_read(path, FILE_MAX, &mem, &text, &n, &e));
    const char *at = strstr(text, "base64,");
    assert_non_null(at);
    FILE *f = fopen(in_folder("image.png"), "wb");
    assert_non_null(f);
    for (at += 7; base64_value(at[0]) >= 0; at += 4) {
        unsigned v = 0;
        int bytes = 3;
        for (int i = 0; i < 4; i++) {
            int b = base64_value(at[i]);
            v = v << 6 | (b < 0 ? 0u : (unsigned)b);
            bytes -= b < 0;
        }
        for (int i = 0; i < bytes; i++) (void)fputc((int)(v >> (16 - 8 * i) & 255), f);
    }
    assert_int_equal(fclose(f), 0);
    arena_free(&mem);
    return load(in_folder("image.png"));
}

static void small_cells_are_a_pixel_each(void **state)
{
    (void)state;
    struct heat_case c;
    open_heat(&c, 1.5f);
    c.heat.dim = 1;
    (void)scene_heat(&c.sc, &c.heat);
    write_or_fail(&c.sc, (struct paper_page){0}, PAPER_SVG, in_folder("h.svg"));
    struct picture p = image_in(in_folder("h.svg"));
    const struct scene_theme *t = scene_theme_get(STEP_LIGHT);
    assert_int_equal(p.w, 30);
    assert_int_equal(p.h, 40);
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 30; j++) {
            bool shown = i * 30 + j < c.heat.shown, masked = j - i >= 12;
            struct scene_rgba want =
                scene_map_color(t, MAP_DIVERGING, -1, 1, false, c.values[i * 30 + j]);
            if (!shown) want = t->empty;
            if (shown && masked) want = (struct scene_rgba){0, 0, 0, 0};
            assert_memory_equal(pixel(&p, j, i), &want, 4);
        }
    }
    arena_free(&p.mem);
    arena_free(&c.mem);
}

static void joined_cells_show_the_largest_magnitude(void **state)
{
    (void)state;
    struct heat_case c;
    open_heat(&c, 0.2f); /* the lower side of a cell is 0.18: two by two */
    for (int i = 0; i < 40 * 30; i++) c.values[i] = i % 97 == 0 ? -0.9f : 0.1f;
    c.heat.dim = 1;
    c.heat.mask_from = INT_MAX;
    c.heat.shown = 1 << 20;
    (void)scene_heat(&c.sc, &c.heat);
    write_or_fail(&c.sc, (struct paper_page){0}, PAPER_SVG, in_folder("h.svg"));
    struct picture p = image_in(in_folder("h.svg"));
    const struct scene_theme *t = scene_theme_get(STEP_LIGHT);
    assert_int_equal(p.w, 15);
    assert_int_equal(p.h, 20);
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 15; j++) {
            float most = 0;
            for (int k = 0; k < 4; k++) {
                float v = c.values[(2 * i + k / 2) * 30 + 2 * j + k % 2];
                if (fabsf(v) > fabsf(most)) most = v;
            }
            struct scene_rgba want =
                scene_map_color(t, MAP_DIVERGING, -1, 1, false, most);
            assert_memory_equal(pixel(&p, j, i), &want, 4);
        }
    }
    arena_free(&p.mem);
    arena_free(&c.mem);
}

static void vector_cells_look_like_the_windows(void **state)
{
    (void)state;
    if (!gfx || !have("rsvg-convert")) skip();
    static const float cells[] = {3, 5, 8, 12};
    for (int k = 0; k < 8; k++) {
        struct heat_case c;
        open_heat(&c, cells[k % 4]);
        if (k >= 4) {
            c.heat.x = 20;
            c.heat.y = 10;
            c.heat.cell_h = c.heat.cell_w;
            c.heat.alpha = 0.8f;
            c.sc.clip = (struct scene_rect){40, 20, 150, 120};
        }
        (void)scene_heat(&c.sc, &c.heat);
        struct picture window = window_picture(&c.sc, 1);
        write_or_fail(&c.sc, (struct paper_page){0}, PAPER_SVG, in_folder("h.svg"));
        assert_int_equal(
            run("cd %s && rsvg-convert h.svg -o svg.png 2>/dev/null", folder), 0);
        struct picture found = load(in_folder("svg.png"));
        char what[64];
        (void)snprintf(what, sizeof what, "cells of %g, %d", (double)cells[k % 4], k);
        expect_alike(&found, &window, k < 4 ? 7 : 2.5, k < 4 ? 0.03 : 0.002, what);
        arena_free(&found.mem);
        arena_free(&window.mem);
        arena_free(&c.mem);
    }
}

/* ---- pages ------------------------------------------------------------------------------------------- */

static void a_part_is_cut_from_the_whole(void **state)
{
    (void)state;
    struct ui_case u;
    open_window(&u, STEP_TOY, STEP_LIGHT);
    show(&u, 4, 1);
    struct scene_rect stage = u.c.sc.frame.stage;
    write_or_fail(&u.c.sc, (struct paper_page){0}, PAPER_PNG, in_folder("a.png"));
    write_or_fail(&u.c.sc, (struct paper_page){.part = stage}, PAPER_PNG,
                  in_folder("b.png"));
    struct picture all = load(in_folder("a.png")), part = load(in_folder("b.png"));
    assert_int_equal(part.w, (int)lroundf(stage.w));
    assert_int_equal(part.h, (int)lroundf(stage.h));
    for (int y = 0; y < part.h; y++)
        assert_memory_equal(pixel(&part, 0, y),
                            pixel(&all, (int)stage.x, y + (int)stage.y),
                            (size_t)part.w * 4);
    arena_free(&all.mem);
    arena_free(&part.mem);
    case_close(&u.c);
}

static void a_transparent_page_has_nothing_behind_its_items(void **state)
{
    (void)state;
    struct heat_case c;
    open_heat(&c, 5);
    (void)scene_rect(&c.sc, (struct scene_rect){10, 10, 20, 20}, 0,
                     (struct scene_rgba){200, 10, 20, 128});
    write_or_fail(&c.sc, (struct paper_page){.transparent = true}, PAPER_PNG,
                  in_folder("t.png"));
    struct picture p = load(in_folder("t.png"));
    assert_int_equal(pixel(&p, 5, 5)[3], 0);
    assert_int_equal(pixel(&p, 15, 15)[3], 128);
    assert_in_range(pixel(&p, 15, 15)[0], 198, 202);
    arena_free(&p.mem);
    write_or_fail(&c.sc, (struct paper_page){.transparent = true}, PAPER_SVG,
                  in_folder("t.svg"));
    assert_int_equal(run("test $(grep -c '<rect' %s) = 1", in_folder("t.svg")), 0);
    arena_free(&c.mem);
}

static void sizes_are_as_asked_for(void **state)
{
    (void)state;
    struct heat_case c;
    open_heat(&c, 5); /* 400 x 400 points */
    (void)scene_heat(&c.sc, &c.heat);
    static const struct {
        struct paper_page page;
        int w, h;
        const char *svg;
    } cases[] = {
        {{.scale = 0}, 400, 400, "width=\"400\" height=\"400\""},
        {{.scale = 2.5f}, 1000, 1000, "width=\"1000\" height=\"1000\""},
        {{.w = 100}, 100, 100, "width=\"100\" height=\"100\""},
        {{.w = 100, .h = 50}, 100, 50, "width=\"100\" height=\"50\""},
        {{.unit = PAPER_MM, .w = 88, .dpi = 600}, 2079, 2079, "width=\"88mm\""},
        {{.unit = PAPER_MM, .h = 50.8f}, 600, 600, "height=\"50.8mm\""},
        {{.part = {10, 10, 200, 100}, .unit = PAPER_MM, .w = 25.4f},
         300,
         150,
         "width=\"25.4mm\" height=\"12.7mm\" viewBox=\"10 10 200 100\""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        write_or_fail(&c.sc, cases[k].page, PAPER_PNG, in_folder("s.png"));
        struct picture p = load(in_folder("s.png"));
        assert_int_equal(p.w, cases[k].w);
        assert_int_equal(p.h, cases[k].h);
        arena_free(&p.mem);
        write_or_fail(&c.sc, cases[k].page, PAPER_SVG, in_folder("s.svg"));
        if (run("grep -q '%s' %s", cases[k].svg, in_folder("s.svg")) != 0)
            fail_msg("no %s", cases[k].svg);
        write_or_fail(&c.sc, cases[k].page, PAPER_PDF, in_folder("s.pdf"));
    }
    if (have("pdfinfo"))
        assert_int_equal(
            run("pdfinfo %s | grep -q 'Page size: *72 x 36 pts'", in_folder("s.pdf")), 0);
    arena_free(&c.mem);
}

static void sizes_no_file_can_have_are_refused(void **state)
{
    (void)state;
    struct heat_case c;
    open_heat(&c, 5);
    static const struct paper_page bad[] = {
        {.scale = 1000},    {.w = NAN},  {.w = -5},
        {.w = 1e9f},        {.w = 0.1f}, {.part = {0, 0, NAN, 5}, .scale = 1e5f},
        {.scale = INFINITY}};
    int before = names_in_folder();
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct err e = {0};
        if (paper_write(paper, &c.sc, &bad[k], PAPER_PNG, in_folder("x.png"), &e))
            fail_msg("size %zu is written", k);
        assert_int_equal(e.code, ERR_USAGE);
    }
    assert_int_equal(names_in_folder(), before);
    arena_free(&c.mem);
}

/* ---- files -------------------------------------------------------------------------------------------- */

static void the_same_scene_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const ending[] = {"png", "svg", "pdf"};
    struct ui_case u;
    open_window(&u, STEP_TOY, STEP_LIGHT);
    show(&u, 5, 0.5f);
    for (int pass = 0; pass < 2; pass++) {
        for (int f = 0; f < 3; f++) {
            char name[16];
            (void)snprintf(name, sizeof name, "%d.%s", pass, ending[f]);
            write_or_fail(&u.c.sc, (struct paper_page){0}, (enum paper_format)f,
                          in_folder(name));
        }
        if (pass == 0) (void)sleep(1); /* another second: no time is kept in a file */
    }
    for (int f = 0; f < 3; f++)
        if (run("cd %s && cmp 0.%s 1.%s", folder, ending[f], ending[f]) != 0)
            fail_msg("two %s differ", ending[f]);
    case_close(&u.c);
}

static void what_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    struct ui_case u;
    open_window(&u, STEP_TOY, STEP_LIGHT);
    show(&u, 4, 1);
    struct paper_page page = {0};
    int before = names_in_folder();
    for (int f = 0; f < 3; f++) {
        enum paper_format format = (enum paper_format)f;
        struct err e = {0};
        assert_false(
            paper_write(paper, &u.c.sc, &page, format, in_folder("no/such"), &e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_false(paper_write(paper, &u.c.sc, &page, format, folder, &e));
        assert_non_null(strstr(e.text, "is a folder"));
        assert_false(paper_write(paper, &u.c.sc, &page, format, "/dev/full", &e));
        assert_non_null(strstr(e.text, "/dev/full: cannot be written: No space"));
        /* A pipe whose reader has gone. */
        int ends[2];
        char path[64];
        assert_int_equal(pipe(ends), 0);
        (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        (void)close(ends[0]);
        assert_false(paper_write(paper, &u.c.sc, &page, format, path, &e));
        assert_int_equal(e.code, ERR_INPUT);
        (void)close(ends[1]);
    }
    assert_int_equal(names_in_folder(), before);
    case_close(&u.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_those_of_the_window),
        cmocka_unit_test(png_shows_what_the_window_shows),
        cmocka_unit_test(large_matrices_show_as_in_the_window),
        cmocka_unit_test(cells_have_the_windows_pixels_at_every_size),
        cmocka_unit_test(svg_shows_what_the_window_shows),
        cmocka_unit_test(pdf_shows_what_the_window_shows),
        cmocka_unit_test(svg_is_valid_whatever_a_token_is),
        cmocka_unit_test(what_runs_from_right_to_left_is_ordered_once),
        cmocka_unit_test(a_whole_window_is_valid_svg_with_text_in_it),
        cmocka_unit_test(text_of_a_pdf_can_be_selected_and_its_fonts_are_inside),
        cmocka_unit_test(small_cells_are_a_pixel_each),
        cmocka_unit_test(joined_cells_show_the_largest_magnitude),
        cmocka_unit_test(vector_cells_look_like_the_windows),
        cmocka_unit_test(a_part_is_cut_from_the_whole),
        cmocka_unit_test(a_transparent_page_has_nothing_behind_its_items),
        cmocka_unit_test(sizes_are_as_asked_for),
        cmocka_unit_test(sizes_no_file_can_have_are_refused),
        cmocka_unit_test(the_same_scene_gives_the_same_bytes),
        cmocka_unit_test(what_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests_name("paper", tests, open_all, close_all);
}
