/* paper: PNG files keep every pixel, and hostile ones are refused. */
#include "paper.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { W = 37, H = 23, PIXELS = W * H, ROOM = 1 << 22 };

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/headlight_png_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(in_folder("a.png"));
    (void)unlink(in_folder("b.png"));
    return rmdir(folder); /* fails where a test left something half-written */
}

static void fill(uint8_t *rgba, bool opaque)
{
    uint32_t seed = 3;
    for (int i = 0; i < 4 * PIXELS; i++) {
        seed = seed * 1664525u + 1013904223u;
        rgba[i] = (uint8_t)(opaque && i % 4 == 3 ? 255 : seed >> 24);
    }
}

static bool read_back(const char *path, struct arena *mem, int64_t most, uint8_t **got,
                      struct err *e)
{
    int w = 0, h = 0;
    bool ok = paper_png_read(path, mem, most, got, &w, &h, e);
    if (ok) {
        assert_int_equal(w, W);
        assert_int_equal(h, H);
    }
    return ok;
}

static void opaque_pixels_come_back_exactly(void **state)
{
    (void)state;
    uint8_t rgba[4 * PIXELS], *got = NULL;
    struct arena mem;
    struct err e = {0};
    assert_true(arena_init(&mem, ROOM, &e));
    fill(rgba, true);
    assert_true(paper_png_write(in_folder("a.png"), rgba, W, H, &e));
    assert_true(read_back(in_folder("a.png"), &mem, PIXELS, &got, &e));
    assert_memory_equal(got, rgba, sizeof rgba);
    arena_free(&mem);
}

/* cairo multiplies colours by alpha in 8 bits: what is fainter is kept more coarsely. */
static void transparent_pixels_come_back_as_close_as_alpha_allows(void **state)
{
    (void)state;
    uint8_t rgba[4 * PIXELS], *got = NULL;
    struct arena mem;
    struct err e = {0};
    assert_true(arena_init(&mem, ROOM, &e));
    fill(rgba, false);
    assert_true(paper_png_write(in_folder("a.png"), rgba, W, H, &e));
    assert_true(read_back(in_folder("a.png"), &mem, PIXELS, &got, &e));
    for (int i = 0; i < 4 * PIXELS; i++) {
        int alpha = rgba[i | 3];
        assert_int_equal(got[i | 3], alpha);
        assert_true(abs(got[i] - rgba[i]) * alpha <= 255);
    }
    arena_free(&mem);
}

/* The file's bytes; the arena has room for them. */
static char *bytes_of(const char *path, struct arena *mem, size_t *n)
{
    char *data = NULL;
    struct err e = {0};
    assert_true(file_read(path, ROOM / 2, mem, &data, n, &e));
    return data;
}

static void a_truncated_picture_is_refused(void **state)
{
    (void)state;
    uint8_t rgba[4 * PIXELS], *got = NULL;
    struct arena mem, data;
    struct err e = {0};
    size_t n = 0;
    assert_true(arena_init(&mem, ROOM, &e) && arena_init(&data, ROOM, &e));
    fill(rgba, true);
    assert_true(paper_png_write(in_folder("a.png"), rgba, W, H, &e));
    char *whole = bytes_of(in_folder("a.png"), &data, &n);
    for (size_t cut = 0; cut < n; cut += cut < 64 ? 1 : 97) {
        arena_reset(&mem);
        assert_true(file_write(in_folder("b.png"), whole, cut, &e));
        e = (struct err){0};
        assert_false(read_back(in_folder("b.png"), &mem, PIXELS, &got, &e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_non_null(strstr(e.text, "b.png"));
    }
    arena_free(&mem);
    arena_free(&data);
}

static void a_flipped_byte_is_refused_or_gives_a_picture_of_the_size_it_says(void **state)
{
    (void)state;
    uint8_t rgba[4 * PIXELS], *got = NULL;
    struct arena mem, data;
    struct err e = {0};
    size_t n = 0;
    int w = 0, h = 0;
    assert_true(arena_init(&mem, ROOM, &e) && arena_init(&data, ROOM, &e));
    fill(rgba, true);
    assert_true(paper_png_write(in_folder("a.png"), rgba, W, H, &e));
    char *whole = bytes_of(in_folder("a.png"), &data, &n);
    for (size_t at = 0; at < n; at += at < 64 ? 1 : 53) {
        arena_reset(&mem);
        whole[at] = (char)(whole[at] ^ 0x55);
        assert_true(file_write(in_folder("b.png"), whole, n, &e));
        if (paper_png_read(in_folder("b.png"), &mem, PIXELS, &got, &w, &h, &e))
            assert_true(w > 0 && h > 0 && (int64_t)w * h <= PIXELS);
        whole[at] = (char)(whole[at] ^ 0x55);
    }
    arena_free(&mem);
    arena_free(&data);
}

static void a_picture_with_too_many_pixels_is_not_decoded(void **state)
{
    (void)state;
    uint8_t rgba[4 * PIXELS], *got = NULL;
    struct arena mem, data;
    struct err e = {0};
    size_t n = 0;
    assert_true(arena_init(&mem, ROOM, &e) && arena_init(&data, ROOM, &e));
    fill(rgba, true);
    assert_true(paper_png_write(in_folder("a.png"), rgba, W, H, &e));
    assert_false(read_back(in_folder("a.png"), &mem, PIXELS - 1, &got, &e));
    assert_int_equal(e.code, ERR_INPUT);
    /* A header that promises 4 billion pixels, and none behind it. */
    char *whole = bytes_of(in_folder("a.png"), &data, &n);
    memset(whole + 16, 0x7f, 8);
    assert_true(file_write(in_folder("b.png"), whole, n, &e));
    assert_false(read_back(in_folder("b.png"), &mem, 1000000, &got, &e));
    assert_int_equal(e.code, ERR_INPUT);
    arena_free(&mem);
    arena_free(&data);
}

static void what_cannot_be_written_leaves_no_file(void **state)
{
    (void)state;
    uint8_t rgba[4 * PIXELS];
    struct err e = {0};
    fill(rgba, true);
    assert_false(paper_png_write(in_folder("none/a.png"), rgba, W, H, &e));
    assert_int_equal(e.code, ERR_INPUT);
    (void)unlink(in_folder("b.png"));
    assert_false(paper_png_write(in_folder("b.png"), rgba, 0, H, &e));
    assert_false(paper_png_write(in_folder("b.png"), rgba, W, 1 << 20, &e));
    assert_int_equal(access(in_folder("b.png"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opaque_pixels_come_back_exactly),
        cmocka_unit_test(transparent_pixels_come_back_as_close_as_alpha_allows),
        cmocka_unit_test(a_truncated_picture_is_refused),
        cmocka_unit_test(
            a_flipped_byte_is_refused_or_gives_a_picture_of_the_size_it_says),
        cmocka_unit_test(a_picture_with_too_many_pixels_is_not_decoded),
        cmocka_unit_test(what_cannot_be_written_leaves_no_file),
    };
    return cmocka_run_group_tests_name("paper_png", tests, make_folder, remove_folder);
}
