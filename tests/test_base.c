/* base: arenas refuse what does not fit, files are read bounded and written whole. */
#include "base.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/headlight_base_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(in_folder("a"));
    (void)unlink(in_folder("p"));
    (void)unlink(in_folder("pipe"));
    return rmdir(folder); /* fails where a test left something half-written */
}

static void arena_refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct arena a;
    struct err e = {0};
    assert_true(arena_init(&a, 128, &e));
    assert_non_null(arena_push(&a, 1, 64));
    size_t used = a.used;
    assert_null(arena_push(&a, 65, 1));
    assert_null(arena_push(&a, SIZE_MAX, SIZE_MAX));
    assert_null(arena_push(&a, SIZE_MAX / 2, 2));
    assert_int_equal(a.used, used);
    assert_non_null(arena_push(&a, 64, 1));
    assert_null(arena_push(&a, 1, 1));
    arena_free(&a);
    assert_null(arena_push(&a, 1, 1));
}

static void pushed_memory_is_zero_and_aligned_after_a_reset(void **state)
{
    (void)state;
    struct arena a;
    assert_true(arena_init(&a, 256, NULL));
    unsigned char *p = arena_push(&a, 3, 1);
    memset(p, 0xff, 3);
    arena_reset(&a);
    p = arena_push(&a, 100, 1);
    assert_int_equal((uintptr_t)p % 64, 0);
    for (int i = 0; i < 100; i++) assert_int_equal(p[i], 0);
    arena_free(&a);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    struct arena a;
    struct err e = {0};
    assert_true(arena_init(&a, 4096, &e));
    assert_true(file_write(in_folder("a"), "first, and longer", 17, &e));
    assert_true(file_write(in_folder("a"), "se\0cond", 7, &e));
    char *data = NULL;
    size_t n = 0;
    assert_true(file_read(in_folder("a"), 7, &a, &data, &n, &e));
    assert_int_equal(n, 7);
    assert_memory_equal(data, "se\0cond", 8);
    assert_false(file_read(in_folder("a"), 6, &a, &data, &n, &e));
    assert_int_equal(e.code, ERR_INPUT);
    arena_free(&a);
}

static void folders_pipes_and_missing_files_are_refused(void **state)
{
    (void)state;
    struct arena a;
    struct err e = {0};
    char *data = NULL;
    size_t n = 0;
    assert_true(arena_init(&a, 4096, &e));
    assert_false(file_read(folder, 100, &a, &data, &n, &e));
    assert_non_null(strstr(e.text, "folder"));
    assert_false(file_read(in_folder("none"), 100, &a, &data, &n, &e));
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_false(file_read(in_folder("pipe"), 100, &a, &data, &n, &e));
    assert_false(file_read("/dev/zero", 100, &a, &data, &n, &e));
    arena_free(&a);
}

static void a_failed_write_leaves_nothing(void **state)
{
    (void)state;
    struct err e = {0};
    assert_false(file_write(in_folder("no/such"), "x", 1, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_false(file_write(folder, "x", 1, &e));
    assert_false(file_can_write(in_folder("no/such"), &e));
    assert_false(file_can_write(folder, &e));
    assert_false(file_can_write("", &e));
    assert_true(file_can_write(in_folder("b"), &e));
}

static int names_in_folder(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *at; (at = readdir(d)) != NULL;) n += at->d_name[0] != '.';
    (void)closedir(d);
    return n;
}

static void a_file_in_parts_appears_when_it_is_ended(void **state)
{
    (void)state;
    struct err e = {0};
    struct file_out f;
    struct arena a;
    char *data = NULL;
    size_t n = 0;
    static char block[100000];
    memset(block, 'b', sizeof block);
    assert_true(file_write(in_folder("p"), "former", 6, &e));
    int before = names_in_folder();
    assert_true(file_begin(&f, in_folder("p"), &e));
    for (int i = 0; i < 3; i++) {
        assert_true(file_put(&f, "small", 5, &e));
        assert_true(file_put(&f, block, sizeof block, &e));
    }
    file_drop(&f);
    file_drop(&f);
    assert_false(file_put(&f, "x", 1, &e));
    assert_false(file_end(&f, &e));
    assert_int_equal(names_in_folder(), before);
    assert_true(file_begin(&f, in_folder("p"), &e));
    assert_true(file_put(&f, "small", 5, &e));
    assert_true(file_put(&f, block, sizeof block, &e));
    assert_int_equal(f.size, 5 + sizeof block);
    assert_true(arena_init(&a, 1 << 18, &e));
    assert_true(file_read(in_folder("p"), 1 << 17, &a, &data, &n, &e));
    assert_string_equal(data, "former");
    assert_true(file_end(&f, &e));
    assert_true(file_read(in_folder("p"), 1 << 17, &a, &data, &n, &e));
    assert_int_equal(n, 5 + sizeof block);
    assert_memory_equal(data + 5, block, sizeof block);
    assert_int_equal(names_in_folder(), before);
    arena_free(&a);
}

static void links_and_devices_stay_what_they_are(void **state)
{
    (void)state;
    struct err e = {0};
    struct stat st;
    assert_true(file_write(in_folder("a"), "0123456789", 10, &e));
    (void)unlink(in_folder("link"));
    assert_int_equal(symlink("a", in_folder("link")), 0);
    assert_true(file_write(in_folder("link"), "new", 3, &e));
    assert_int_equal(lstat(in_folder("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(in_folder("a"), &st), 0);
    assert_int_equal(st.st_size, 3);
    assert_int_equal(unlink(in_folder("link")), 0);

    assert_false(file_write("/dev/full", "x", 1, &e));
    assert_non_null(strstr(e.text, "/dev/full: cannot be written: No space"));
    assert_true(file_write("/dev/null", "x", 1, &e));
    assert_int_equal(lstat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    /* A pipe that nobody reads is refused at once. */
    (void)unlink(in_folder("pipe"));
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_false(file_write(in_folder("pipe"), "x", 1, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(unlink(in_folder("pipe")), 0);
}

static void a_long_error_is_cut_between_characters(void **state)
{
    (void)state;
    struct err e = {0};
    for (int lead = 0; lead < 4; lead++) {
        char text[1200] = "xxx";
        text[lead] = '\0';
        for (int i = 0; i < 300; i++) strcat(text, "\u2212");
        assert_false(err_set(&e, ERR_INPUT, "%s", text));
        size_t n = strlen(e.text);
        assert_true(n < sizeof e.text && n > sizeof e.text - 5);
        assert_int_equal((n - (size_t)lead) % 3, 0);
    }
    assert_false(err_set(NULL, ERR_INPUT, "nowhere to put it"));
    assert_false(err_set(&e, ERR_USAGE, "text"));
    assert_false(err_at(&e, "file"));
    assert_string_equal(e.text, "file: text");
}

static void a_file_is_read_at_any_place_until_it_shrinks(void **state)
{
    (void)state;
    struct err e = {0};
    struct file_in f = {0};
    char got[8] = "";
    assert_true(file_write(in_folder("a"), "0123456789", 10, &e));
    assert_true(file_open(&f, in_folder("a"), &e));
    assert_int_equal(f.size, 10);
    assert_true(file_read_at(&f, got, 3, 7, &e));
    assert_string_equal(got, "789");
    assert_true(file_read_at(&f, got, 0, 10, &e));
    assert_false(file_read_at(&f, got, 1, UINT64_MAX, &e));
    assert_false(file_read_at(&f, got, SIZE_MAX, 1, &e));
    assert_int_equal(truncate(in_folder("a"), 8), 0);
    assert_false(file_read_at(&f, got, 3, 7, &e));
    assert_string_equal(e.text, "ends at byte 8, 10 are needed: it has become shorter");
    file_close(&f);
    file_close(&f);
}

static void what_is_no_regular_file_is_not_opened(void **state)
{
    (void)state;
    struct err e = {0};
    struct file_in f = {0};
    (void)unlink(in_folder("pipe"));
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    const char *const bad[] = {in_folder("pipe"), folder, "/dev/zero", "/nonexistent"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(file_open(&f, bad[i], &e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_false(f.is_open);
    }
    assert_true(file_is_folder(folder) && file_exists(folder));
    assert_false(file_is_folder("/dev/zero"));
    assert_false(file_exists("/nonexistent"));
}

static bool put_inside(const struct file_folder *f, const char *name)
{
    char path[FILE_PATH];
    return file_folder_name(f, name, path, NULL) && file_write(path, "x", 1, NULL);
}

static void a_folder_appears_whole_or_not_at_all(void **state)
{
    (void)state;
    struct file_folder f;
    struct err e = {0};
    char path[FILE_PATH];
    (void)snprintf(path, sizeof path, "%s/", in_folder("d"));
    assert_true(file_folder_begin(&f, path, &e));
    assert_true(put_inside(&f, "p"));
    assert_false(file_exists(in_folder("d")));
    file_folder_drop(&f);
    file_folder_drop(&f);
    assert_false(file_folder_end(&f, &e));

    assert_true(file_folder_begin(&f, path, &e));
    assert_true(put_inside(&f, "p"));
    assert_true(put_inside(&f, "q"));
    assert_true(file_folder_end(&f, &e));
    assert_true(file_is_folder(in_folder("d")));
    struct stat st;
    mode_t mask = umask(0);
    (void)umask(mask);
    assert_int_equal(stat(in_folder("d"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0777 & ~mask);
    assert_true(file_exists(in_folder("d/p")));

    assert_false(file_folder_begin(&f, path, &e)); /* is there: untouched */
    assert_int_equal(e.code, ERR_INPUT);
    assert_true(file_exists(in_folder("d/q")));
    assert_int_equal(unlink(in_folder("d/p")) | unlink(in_folder("d/q")), 0);
    assert_int_equal(rmdir(in_folder("d")), 0);
}

static void a_folder_that_has_come_meanwhile_stays(void **state)
{
    (void)state;
    struct file_folder f;
    struct err e = {0};
    char path[FILE_PATH];
    (void)snprintf(path, sizeof path, "%s", in_folder("d"));
    assert_true(file_folder_begin(&f, path, &e));
    assert_true(put_inside(&f, "p"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(file_folder_end(&f, &e));
    assert_false(f.is_open);
    assert_int_equal(rmdir(path), 0); /* it stayed empty */

    assert_false(file_folder_begin(&f, "", &e));
    assert_false(file_folder_begin(&f, in_folder("none/d"), &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_false(file_folder_begin(&f, path, &e));
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_refuses_what_does_not_fit),
        cmocka_unit_test(pushed_memory_is_zero_and_aligned_after_a_reset),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(folders_pipes_and_missing_files_are_refused),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(a_file_in_parts_appears_when_it_is_ended),
        cmocka_unit_test(links_and_devices_stay_what_they_are),
        cmocka_unit_test(a_folder_appears_whole_or_not_at_all),
        cmocka_unit_test(a_folder_that_has_come_meanwhile_stays),
        cmocka_unit_test(a_long_error_is_cut_between_characters),
        cmocka_unit_test(a_file_is_read_at_any_place_until_it_shrinks),
        cmocka_unit_test(what_is_no_regular_file_is_not_opened),
    };
    return cmocka_run_group_tests_name("base", tests, make_folder, remove_folder);
}
