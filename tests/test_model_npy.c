/* .npy and .npz: what numpy writes is read, what is written numpy reads, and nothing that
 * a file says is believed. */
#include "model.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 1 << 20 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/headlight_npy_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char path[2][512];
    static int at;
    at = !at;
    (void)snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static int files_in_folder(bool clear)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *at; (at = readdir(d)) != NULL;) {
        if (at->d_name[0] == '.') continue;
        n++;
        if (clear) (void)unlink(in_folder(at->d_name));
    }
    (void)closedir(d);
    return n;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)files_in_folder(true);
    return rmdir(folder);
}

static void write_bytes(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static size_t read_bytes(const char *name, unsigned char *data, size_t room)
{
    FILE *f = fopen(in_folder(name), "rb");
    assert_non_null(f);
    size_t n = fread(data, 1, room, f);
    assert_int_equal(fclose(f), 0);
    return n;
}

static float values[4 * 6];

static struct model_array view_4x5(void)
{
    for (int i = 0; i < 4 * 6; i++) values[i] = (float)i * 0.5f - 3;
    return model_array_of((struct attn_cmat){values, 4, 5, 6});
}

static void assert_is_view(const struct model_array *a)
{
    assert_int_equal(a->rank, 2);
    assert_int_equal(a->shape[0], 4);
    assert_int_equal(a->shape[1], 5);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++)
            assert_true(a->data[i * a->ld + j] == values[i * 6 + j]);
}

/* ---- .npy ------------------------------------------------------------------------------ */

static void an_array_is_read_back_without_its_gaps(void **state)
{
    (void)state;
    struct err e = {0};
    struct model_array a = view_4x5(), b;
    unsigned char bytes[1024];
    assert_true(model_npy_write(in_folder("a.npy"), &a, &e));
    size_t n = read_bytes("a.npy", bytes, sizeof bytes);
    assert_int_equal(n, 128 + 4 * 5 * 4);
    assert_memory_equal(bytes,
                        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', "
                        "'fortran_order': False, 'shape': (4, 5), } ",
                        70);
    assert_int_equal(bytes[127], '\n');
    assert_true(model_npy_read(&b, in_folder("a.npy"), MOST, &e));
    assert_is_view(&b);
    assert_string_equal(b.dtype, "<f4");
    model_array_free(&b);
    model_array_free(&b);
}

static void every_rank_is_read_back(void **state)
{
    (void)state;
    struct err e = {0};
    float x[24];
    for (int i = 0; i < 24; i++) x[i] = (float)i;
    const struct model_array cases[] = {
        {.data = x, .rank = 0, .ld = 1},
        {.data = x, .rank = 1, .shape = {24}, .ld = 24},
        {.data = x, .rank = 1, .shape = {0}, .ld = 0},
        {.data = x, .rank = 3, .shape = {2, 3, 4}, .ld = 4},
        {.data = x, .rank = 3, .shape = {2, 0, 4}, .ld = 4},
        {.data = x, .rank = 8, .shape = {1, 1, 2, 1, 3, 1, 4, 1}, .ld = 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct model_array b;
        int64_t n = model_array_count(&cases[k]);
        assert_true(model_npy_write(in_folder("r.npy"), &cases[k], &e));
        assert_true(model_npy_read(&b, in_folder("r.npy"), MOST, &e));
        assert_int_equal(b.rank, cases[k].rank);
        assert_memory_equal(b.shape, cases[k].shape, sizeof b.shape);
        assert_memory_equal(b.data, x, (size_t)n * sizeof(float));
        if (n > 1) { /* one less than there are */
            struct model_array c;
            assert_false(model_npy_read(&c, in_folder("r.npy"), n - 1, &e));
            assert_int_equal(e.code, ERR_INPUT);
        }
        model_array_free(&b);
    }
}

/* A .npy of version 1.0 with this header and n bytes of data. */
static void write_npy(const char *name, const char *header, const void *data, size_t n)
{
    unsigned char all[4096] = "\x93NUMPY\x01";
    size_t k = strlen(header);
    assert_true(k + n + 10 <= sizeof all);
    all[8] = (unsigned char)(k & 255);
    all[9] = (unsigned char)(k >> 8);
    memcpy(all + 10, header, k);
    if (n) memcpy(all + 10 + k, data, n);
    write_bytes(name, all, 10 + k + n);
}

static void halves_and_other_byte_orders_are_understood(void **state)
{
    (void)state;
    struct err e = {0};
    static const unsigned char f2[] = {0x00, 0x3C, 0x00, 0xC0, 0x01, 0x00,
                                       0xFF, 0x7B, 0x00, 0x7C, 0x00, 0xFE};
    static const float f2_is[] = {1, -2, 0x1p-24f, 65504, INFINITY, NAN};
    static const unsigned char bf16[] = {0x80, 0x3F, 0x00, 0xC0, 0x80, 0xFF};
    static const float bf16_is[] = {1, -2, -INFINITY};
    static const unsigned char big4[] = {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0};
    static const unsigned char big8[] = {0x3F, 0xF0, 0, 0, 0, 0, 0, 0,
                                         0xC0, 0,    0, 0, 0, 0, 0, 0};
    static const struct {
        const char *header;
        const unsigned char *data;
        size_t n;
        const float *is;
        int count;
        const char *dtype;
    } cases[] = {
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (6,), }\n", f2, 12, f2_is, 6,
         "<f2"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n", bf16, 6, bf16_is,
         3, "bf16"},
        {"{'descr': '|V2', 'fortran_order': True, 'shape': (3,)}", bf16, 6, bf16_is, 3,
         "bf16"},
        {"{\"shape\": (2,), \"descr\": \">f4\", \"fortran_order\": False}\n", big4, 8,
         bf16_is, 2, ">f4"},
        {"{'descr':'>f8','fortran_order':False,'shape':(2,)}   \n", big8, 16, bf16_is, 2,
         ">f8"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct model_array a;
        write_npy("h.npy", cases[k].header, cases[k].data, cases[k].n);
        if (!model_npy_read(&a, in_folder("h.npy"), MOST, &e)) fail_msg("%s", e.text);
        assert_int_equal(model_array_count(&a), cases[k].count);
        assert_string_equal(a.dtype, cases[k].dtype);
        for (int i = 0; i < cases[k].count; i++)
            assert_true(a.data[i] == cases[k].is[i] ||
                        (isnan(a.data[i]) && isnan(cases[k].is[i])));
        model_array_free(&a);
    }
}

static void fortran_order_is_turned(void **state)
{
    (void)state;
    struct err e = {0};
    struct model_array a;
    float x[24];
    /* Element (i, j, k) of [2, 3, 4] is 100 i + 10 j + k; i runs fastest in the file. */
    for (int n = 0; n < 24; n++) x[n] = (float)(100 * (n % 2) + 10 * (n / 2 % 3) + n / 6);
    write_npy("f.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }\n",
              x, sizeof x);
    assert_true(model_npy_read(&a, in_folder("f.npy"), MOST, &e));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                assert_true(a.data[(i * 3 + j) * 4 + k] == (float)(100 * i + 10 * j + k));
    model_array_free(&a);
}

static void a_false_header_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *says;
    } bad[] = {
        {"", "header"},
        {"{}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': "
         "(2,)}",
         "header"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "header"},
        {"{'descr': '<f4', 'fortran_order': False}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3,)}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}", "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "header"},
        {"{'descr: '<f4', 'fortran_order': False, 'shape': (2,)}", "header"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "Python objects"},
        {"{'descr': 'O', 'fortran_order': False, 'shape': (1,), }", "Python objects"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "records"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "dtype <i8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "fewer"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "fewer"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "beyond any file"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "more than"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807), }",
         "fewer"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }",
         "dimensions"},
    };
    struct err e = {0};
    struct model_array a;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        write_npy("b.npy", bad[k].header, "12345678", 8);
        if (model_npy_read(&a, in_folder("b.npy"), MOST, &e))
            fail_msg("%s", bad[k].header);
        assert_int_equal(e.code, ERR_INPUT);
        if (!strstr(e.text, bad[k].says) || !strstr(e.text, "b.npy"))
            fail_msg("%s: %s", bad[k].header, e.text);
        assert_null(a.data);
    }
}

static void a_cut_or_foreign_file_is_refused(void **state)
{
    (void)state;
    struct err e = {0};
    struct model_array a = view_4x5();
    unsigned char bytes[1024];
    assert_true(model_npy_write(in_folder("c.npy"), &a, &e));
    size_t n = read_bytes("c.npy", bytes, sizeof bytes);
    for (size_t k = 0; k < n; k++) {
        write_bytes("c.npy", bytes, k);
        assert_false(model_npy_read(&a, in_folder("c.npy"), MOST, &e));
        assert_int_equal(e.code, ERR_INPUT);
    }
    write_bytes("c.npy", "\x80\x04\x95pickle, not numpy", 20);
    assert_false(model_npy_read(&a, in_folder("c.npy"), MOST, &e));
    assert_false(model_npy_read(&a, folder, MOST, &e));
    assert_false(model_npy_read(&a, "/dev/zero", MOST, &e));
    bytes[6] = 9; /* version */
    write_bytes("c.npy", bytes, n);
    assert_false(model_npy_read(&a, in_folder("c.npy"), MOST, &e));
    assert_non_null(strstr(e.text, "version 9.0"));
}

static void a_failed_write_leaves_nothing(void **state)
{
    (void)state;
    struct err e = {0};
    struct model_array a = view_4x5();
    int before = files_in_folder(false);
    assert_false(model_npy_write(in_folder("no/such.npy"), &a, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_false(model_npy_write("/dev/full", &a, &e));
    assert_non_null(strstr(e.text, "No space"));
    assert_int_equal(files_in_folder(false), before);
}

/* ---- .npz ------------------------------------------------------------------------------ */

static void make_npz(const char *name, bool deflate)
{
    struct err e = {0};
    struct model_npz_out *z;
    struct model_array a = view_4x5();
    float one = 7;
    struct model_array scalar = {.data = &one, .ld = 1};
    assert_true(model_npz_begin(&z, in_folder(name), deflate, 8, &e));
    assert_true(model_npz_add(z, "b01.h03.scores", &a, &e));
    assert_true(model_npz_add(z, "one", &scalar, &e));
    assert_true(model_npz_end(z, &e));
}

static void archives_are_read_back_stored_and_deflated(void **state)
{
    (void)state;
    for (int deflate = 0; deflate < 2; deflate++) {
        struct err e = {0};
        struct model_npz *z;
        struct model_array a;
        make_npz("a.npz", deflate);
        if (!model_npz_open(&z, in_folder("a.npz"), &e)) fail_msg("%s", e.text);
        assert_int_equal(model_npz_count(z), 2);
        assert_string_equal(model_npz_name(z, 0), "b01.h03.scores");
        assert_string_equal(model_npz_name(z, 1), "one");
        if (!model_npz_read(z, 0, &a, MOST, &e)) fail_msg("%s", e.text);
        assert_is_view(&a);
        model_array_free(&a);
        assert_true(model_npz_read(z, 1, &a, MOST, &e));
        assert_true(a.rank == 0 && a.data[0] == 7);
        model_array_free(&a);
        assert_false(model_npz_read(z, 0, &a, 19, &e));
        model_npz_close(z);
    }
}

static void archives_have_the_same_bytes_each_time(void **state)
{
    (void)state;
    static unsigned char a[4096], b[4096];
    make_npz("a.npz", true);
    make_npz("b.npz", true);
    size_t n = read_bytes("a.npz", a, sizeof a);
    assert_int_equal(n, read_bytes("b.npz", b, sizeof b));
    assert_memory_equal(a, b, n);
}

static void an_empty_archive_has_no_arrays(void **state)
{
    (void)state;
    struct err e = {0};
    struct model_npz_out *out;
    struct model_npz *z;
    assert_true(model_npz_begin(&out, in_folder("e.npz"), false, 0, &e));
    assert_true(model_npz_end(out, &e));
    assert_true(model_npz_open(&z, in_folder("e.npz"), &e));
    assert_int_equal(model_npz_count(z), 0);
    model_npz_close(z);
}

static void a_dropped_or_failed_archive_leaves_nothing(void **state)
{
    (void)state;
    struct err e = {0};
    struct model_npz_out *z;
    struct model_array a = view_4x5();
    int before = files_in_folder(false);
    assert_true(model_npz_begin(&z, in_folder("d.npz"), true, 1, &e));
    assert_true(model_npz_add(z, "a", &a, &e));
    assert_false(model_npz_add(z, "b", &a, &e)); /* there was room for one */
    assert_false(model_npz_end(z, &e));
    assert_true(model_npz_begin(&z, in_folder("d.npz"), false, 1, &e));
    model_npz_drop(z);
    model_npz_drop(NULL);
    assert_true(model_npz_begin(&z, "/dev/full", false, 1, &e));
    (void)model_npz_add(z, "a", &a, &e);
    assert_false(model_npz_end(z, &e));
    assert_false(model_npz_begin(&z, in_folder("no/such.npz"), false, 1, &e));
    assert_false(model_npz_begin(&z, in_folder("d.npz"), false, 65535, &e));
    assert_int_equal(files_in_folder(false), before);
}

/* Whether every array can be read. */
static bool reads(const char *name, struct err *e)
{
    struct model_npz *z;
    bool ok = model_npz_open(&z, in_folder(name), e);
    if (!ok) return false;
    for (int i = 0; ok && i < model_npz_count(z); i++) {
        struct model_array a;
        ok = model_npz_read(z, i, &a, MOST, e);
        model_array_free(&a);
    }
    model_npz_close(z);
    return ok;
}

static void a_damaged_archive_is_refused_or_read_right(void **state)
{
    (void)state;
    static unsigned char bytes[4096];
    for (int deflate = 0; deflate < 2; deflate++) {
        struct err e = {0};
        make_npz("x.npz", deflate);
        size_t n = read_bytes("x.npz", bytes, sizeof bytes);
        for (size_t k = 0; k < n; k++) {
            write_bytes("y.npz", bytes, k);
            assert_false(reads("y.npz", &e));
            assert_int_equal(e.code, ERR_INPUT);
        }
        for (size_t k = 0; k < n; k++) { /* no crash, no hang, no wrong numbers */
            bytes[k] ^= 0x41;
            write_bytes("y.npz", bytes, n);
            if (!reads("y.npz", &e)) assert_int_equal(e.code, ERR_INPUT);
            bytes[k] ^= 0x41;
        }
    }
}

/* Replaces every `from` by `to`, of the same length, in the archive's bytes. */
static void rename_in(const char *name, const char *from, const char *to)
{
    static unsigned char bytes[4096];
    size_t n = read_bytes(name, bytes, sizeof bytes), k = strlen(from);
    assert_int_equal(k, strlen(to));
    for (size_t i = 0; i + k <= n; i++)
        if (memcmp(bytes + i, from, k) == 0) memcpy(bytes + i, to, k);
    write_bytes(name, bytes, n);
}

static void names_that_leave_the_archive_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "/etc/passwd123.npy",   "../../../etc/x.npy",    "a/../../../etc.npy",
        "..\\..\\windows3.npy", "C:\\temp\\abcdef.npy",  "abc//defghijkl.npy",
        "./abcdefghijkl.npy",   "abc\033[31mdefghi.npy", "b01.h03.scores.txt",
        "b01/h03/./scor.npy",   "b01/h03/sco/..npy/"};
    struct err e = {0};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const char *to = bad[k];
        make_npz("n.npz", false);
        rename_in("n.npz", "b01.h03.scores.npy", to);
        if (reads("n.npz", &e)) fail_msg("%s is read", to);
        assert_int_equal(e.code, ERR_INPUT);
    }
    make_npz("n.npz", false);
    rename_in("n.npz", "b01.h03.scores.npy", "b01/h03/scores.npy");
    if (!reads("n.npz", &e)) fail_msg("%s", e.text);
}

/* The directory's entry for the first array. */
static size_t directory_of(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i + 4 <= n; i++)
        if (memcmp(bytes + i, "PK\x01\x02", 4) == 0) return i;
    fail_msg("there is no directory");
    return 0;
}

static void put32(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(v >> (8 * i));
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static unsigned char bytes[4096];
    static const struct {
        size_t at; /* in the directory's entry */
        uint32_t value;
        const char *says;
    } bad[] = {
        {8, 1 | 0 << 16, "encrypted"},
        {10, 12, "method 12"},
        {16, 0x12345678, "checksum"},
        {24, 100000000, "cannot come from"},
        {24, UINT32_MAX, "4 GiB"},
        {20, 0x7FFFFFFF, "not in the file"},
        {42, 0x00FFFFFF, "not in the file"},
        {24, 300, ""},
        {20, 60, ""},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct err e = {0};
        make_npz("s.npz", true);
        size_t n = read_bytes("s.npz", bytes, sizeof bytes);
        put32(bytes + directory_of(bytes, n) + bad[k].at, bad[k].value);
        write_bytes("s.npz", bytes, n);
        if (reads("s.npz", &e)) fail_msg("case %zu is read", k);
        if (!strstr(e.text, bad[k].says)) fail_msg("case %zu: %s", k, e.text);
    }
    /* Two entries over the same bytes. */
    struct err e = {0};
    make_npz("s.npz", false);
    size_t n = read_bytes("s.npz", bytes, sizeof bytes);
    size_t first = directory_of(bytes, n);
    size_t second = first + 46 + strlen("b01.h03.scores.npy");
    put32(bytes + second + 42, 0);
    write_bytes("s.npz", bytes, n);
    assert_false(reads("s.npz", &e));
    assert_non_null(strstr(e.text, "overlaps"));
    make_npz("s.npz", false);
    rename_in("s.npz", "one.npy", "two.npy");
    assert_true(reads("s.npz", &e));
}

/* A thousandfold packed file unpacks to what it says, within the limit, and no further. */
static void a_bomb_does_not_go_off(void **state)
{
    (void)state;
    struct err e = {0};
    enum { N = 1 << 22 };
    struct arena mem;
    assert_true(arena_init(&mem, N * sizeof(float) + 64, &e));
    float *zeros = arena_push(&mem, N, sizeof *zeros);
    struct model_npz_out *out;
    struct model_array a = {.data = zeros, .rank = 1, .shape = {N}, .ld = N};
    assert_true(model_npz_begin(&out, in_folder("z.npz"), true, 1, &e));
    assert_true(model_npz_add(out, "zeros", &a, &e));
    assert_true(model_npz_end(out, &e));
    struct stat st;
    assert_int_equal(stat(in_folder("z.npz"), &st), 0);
    assert_true(st.st_size < N * 4 / 900);
    assert_false(reads("z.npz", &e)); /* MOST is less */
    assert_non_null(strstr(e.text, "more than"));
    arena_free(&mem);
}

/* ---- numpy -------------------------------------------------------------------------------- */

static const char *python(void)
{
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2; i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "%s -c 'import numpy' 2>/dev/null", names[i]);
        if (system(line) == 0) return names[i]; // NOLINT(cert-env33-c): a fixed program
    }
    return NULL;
}

static void run_python(const char *script)
{
    char line[4096];
    write_bytes("script.py", script, strlen(script));
    (void)snprintf(line, sizeof line, "cd %s && %s script.py", folder, python());
    if (system(line) != 0) fail_msg("%s", script); // NOLINT(cert-env33-c)
}

static void numpy_loads_what_is_written(void **state)
{
    (void)state;
    struct err e = {0};
    if (!python()) skip();
    struct model_array a = view_4x5();
    assert_true(model_npy_write(in_folder("p.npy"), &a, &e));
    make_npz("p.npz", false);
    make_npz("q.npz", true);
    run_python("import numpy as np, zipfile\n"
               "want = (np.arange(24) * .5 - 3).reshape(4, 6)[:, :5].astype('<f4')\n"
               "a = np.load('p.npy')\n"
               "assert a.dtype == np.dtype('<f4') and a.flags.c_contiguous\n"
               "assert (a == want).all()\n"
               "for name in 'p.npz', 'q.npz':\n"
               "    assert zipfile.ZipFile(name).testzip() is None\n"
               "    z = np.load(name, allow_pickle=False)\n"
               "    assert z.files == ['b01.h03.scores', 'one']\n"
               "    assert (z['b01.h03.scores'] == want).all() and z['one'] == 7\n");
}

static void what_numpy_saves_is_read(void **state)
{
    (void)state;
    struct err e = {0};
    if (!python()) skip();
    run_python(
        "import numpy as np\n"
        "x = (np.arange(24) * .5 - 3).reshape(4, 6)[:, :5]\n"
        "for t in '<f2', '<f4', '<f8', '>f2', '>f4', '>f8':\n"
        "    np.save('n_%s.npy' % t[1:] + t[0].replace('<','l').replace('>','b'),"
        " x.astype(t))\n"
        "np.savez('n.npz', a=x, b=np.asfortranarray(x.astype('f4')))\n"
        "np.savez_compressed('m.npz', a=x, b=np.asfortranarray(x.astype('f4')))\n"
        "np.save('objects.npy', np.array([{}], dtype=object), allow_pickle=True)\n");
    (void)view_4x5();
    static const char *const names[] = {"n_f2.npyl", "n_f4.npyl", "n_f8.npyl",
                                        "n_f2.npyb", "n_f4.npyb", "n_f8.npyb"};
    for (int i = 0; i < 6; i++) {
        char name[32];
        struct model_array a;
        (void)snprintf(name, sizeof name, "%s.npy", names[i]);
        if (!model_npy_read(&a, in_folder(name), MOST, &e)) fail_msg("%s", e.text);
        assert_is_view(&a);
        model_array_free(&a);
    }
    for (int k = 0; k < 2; k++) {
        struct model_npz *z;
        if (!model_npz_open(&z, in_folder(k ? "m.npz" : "n.npz"), &e))
            fail_msg("%s", e.text);
        assert_int_equal(model_npz_count(z), 2);
        for (int i = 0; i < 2; i++) {
            struct model_array a;
            if (!model_npz_read(z, i, &a, MOST, &e)) fail_msg("%s", e.text);
            assert_is_view(&a);
            model_array_free(&a);
        }
        model_npz_close(z);
    }
    struct model_array a;
    assert_false(model_npy_read(&a, in_folder("objects.npy"), MOST, &e));
    assert_non_null(strstr(e.text, "Python objects"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_read_back_without_its_gaps),
        cmocka_unit_test(every_rank_is_read_back),
        cmocka_unit_test(halves_and_other_byte_orders_are_understood),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(a_false_header_is_refused),
        cmocka_unit_test(a_cut_or_foreign_file_is_refused),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(archives_are_read_back_stored_and_deflated),
        cmocka_unit_test(archives_have_the_same_bytes_each_time),
        cmocka_unit_test(an_empty_archive_has_no_arrays),
        cmocka_unit_test(a_dropped_or_failed_archive_leaves_nothing),
        cmocka_unit_test(a_damaged_archive_is_refused_or_read_right),
        cmocka_unit_test(names_that_leave_the_archive_are_refused),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(a_bomb_does_not_go_off),
        cmocka_unit_test(numpy_loads_what_is_written),
        cmocka_unit_test(what_numpy_saves_is_read),
    };
    return cmocka_run_group_tests_name("npy", tests, make_folder, remove_folder);
}
