/* model: memory that runs out, at every single allocation, and memory that a file asks for
 * without having the bytes. The linker leads aligned_alloc, which is all of layer base,
 * through here; jansson is told to allocate here too. */
#include "model_case.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);

static int allocations, fail_at = -1; /* fail_at: from this one on, every one fails */
static int large_left = -1;           /* so many blocks of at least `large` are given */
static size_t asked;                  /* bytes, ever */
enum { LARGE = 6000 }; /* a block of case_spec_small has more, little else */

static bool fails(size_t n)
{
    asked += n;
    return fail_at >= 0 && allocations++ >= fail_at;
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    if (large_left >= 0 && n >= LARGE && large_left-- == 0) {
        large_left = 0;
        return NULL;
    }
    return fails(n) ? NULL : __real_aligned_alloc(align, n);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static void *json_alloc(size_t n)
{
    return fails(n) ? NULL : malloc(n);
}

static int set_up(void **state)
{
    (void)state;
    json_set_alloc_funcs(json_alloc, free);
    return 0;
}

/* Everything a program does with a model. false: *e says why. */
static bool used(const char *path, struct err *e)
{
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct model_net *m = NULL;
    *e = (struct err){0};
    if (!model_net_open(&m, path, c.k, (size_t)1 << 30, e)) return false;
    float logits[64];
    int32_t ids[8] = {0};
    size_t n = 0;
    struct model view;
    struct arena mem = {0};
    assert_true(model_net_info(m)->n_vocab <= 64);
    bool ok = model_net_bpe(m) &&
              model_bpe_encode(model_net_bpe(m), ids, 8, &n, "ab ba", 5, e) &&
              model_net_feed(m, ids, (int)n, e) &&
              model_net_run(m, model_net_info(m)->n_layer, &c, e) &&
              model_net_logits(m, logits, 0, &c, e) &&
              arena_init(&mem, model_net_view_bytes(m), e) &&
              model_net_view(m, &view, 0, &mem, &c, e);
    arena_free(&mem);
    model_net_close(m);
    return ok;
}

static void write_tokenizer(const struct case_folder *f, bool single)
{
    struct blob vocab = blob_text("{\"a\":0,\"b\":1,\"\xc4\xa0\":2,\"ab\":3,\"\xc4\xa0"
                                  "b\":4}");
    struct blob merges = blob_text("#version: 0.2\na b\n\xc4\xa0 b\n");
    struct blob both = blob_text(
        "{\"added_tokens\":[{\"id\":5,\"content\":\"<|endoftext|>\"}],\"pre_tokenizer\":"
        "{\"type\":\"ByteLevel\"},\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"\xc4\xa0\":2,"
        "\"ab\":3},\"merges\":[\"a b\"]}}");
    folder_remove(f, "vocab.json");
    folder_remove(f, "merges.txt");
    folder_remove(f, "tokenizer.json");
    if (single) folder_write(f, "tokenizer.json", &both);
    if (!single) folder_write(f, "vocab.json", &vocab);
    if (!single) folder_write(f, "merges.txt", &merges);
    blob_free(&vocab);
    blob_free(&merges);
    blob_free(&both);
}

static void memory_may_run_out_at_any_allocation(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct err e;
    folder_init(&f);
    case_init(&m, case_spec_small(), 1);
    folder_write_model(&f, &m);
    struct blob llmc = case_llmc(&m, 32);
    folder_write(&f, "model.bin", &llmc);
    for (int way = 0; way < 3; way++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s%s", f.path, way == 2 ? "/model.bin" : "");
        write_tokenizer(&f, way == 1);
        fail_at = -1;
        if (!used(path, &e)) fail_msg("%s", e.text);
        bool done = false;
        for (int at = 0; !done; at++) {
            allocations = 0;
            fail_at = at;
            done = used(path, &e);
            fail_at = -1;
            /* jansson cannot always say that it was memory that it lacked. */
            if (!done && e.code != ERR_SYSTEM && !strstr(e.text, "no valid JSON"))
                fail_msg("at %d: %s", at, e.text);
            assert_true(at < 10000);
        }
    }
    blob_free(&llmc);
    case_free(&m);
    folder_fini(&f);
}

/* Files that promise much: what is asked for stays within a multiple of what they have. */
static void no_file_asks_for_more_memory_than_its_bytes_justify(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } lies[] = {{"\"n_layer\":2", "\"n_layer\":4096"},
                {"\"n_layer\":2", "\"n_layer\":2000000000"},
                {"\"n_embd\":8", "\"n_embd\":131072"},
                {"\"n_positions\":12", "\"n_positions\":1048576"},
                {"\"vocab_size\":20", "\"vocab_size\":16777216"},
                {"\"n_inner\":32", "\"n_inner\":1048576"}};
    struct case_folder f;
    struct case_model m;
    struct err e;
    folder_init(&f);
    case_init(&m, case_spec_small(), 1);
    folder_write_model(&f, &m);
    write_tokenizer(&f, false);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct blob b = case_config(&m.spec);
        blob_replace(&b, lies[i].from, lies[i].to);
        folder_write(&f, "config.json", &b);
        asked = 0;
        assert_false(used(f.path, &e));
        assert_true(asked < 1 << 20);
        blob_free(&b);
    }
    folder_write_model(&f, &m);
    const char *const vocabularies[] = {"{\"a\":19}", "[[[[[[[[]]]]]]]]", "{\"a\":"};
    for (int i = 0; i < 3; i++) {
        struct blob b = blob_text(vocabularies[i]);
        folder_write(&f, "vocab.json", &b);
        asked = 0;
        (void)used(f.path, &e);
        assert_true(asked < 1 << 20);
        blob_free(&b);
    }
    /* A megabyte of the densest text that jansson takes. */
    static const char *const dense[] = {"[],", "0,", "{},", "\"\","};
    for (int i = 0; i < 4; i++) {
        enum { LENGTH = 1 << 20 };
        struct blob b = {.data = calloc(LENGTH + 16, 1)};
        assert_non_null(b.data);
        char *text = (char *)b.data;
        b.n = (size_t)snprintf(text, 16, "{\"a\":[");
        while (b.n < LENGTH) b.n += (size_t)snprintf(text + b.n, 16, "%s", dense[i]);
        b.n += (size_t)snprintf(text + b.n, 8, "0]}");
        folder_write(&f, "vocab.json", &b);
        asked = 0;
        assert_false(used(f.path, &e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_true(asked < 64 * b.n); /* counts what has been freed again, too */
        blob_free(&b);
    }
    case_free(&m);
    folder_fini(&f);
}

/* Four blocks, and room for one or two of them: those that do not fit are read again, and
 * the numbers are the same. */
static void blocks_that_do_not_fit_are_read_again(void **state)
{
    (void)state;
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct case_folder f;
    struct case_model m;
    struct case_spec s = case_spec_small();
    struct err e = {0};
    const int32_t ids[] = {3, 1, 4}, other[] = {2, 7, 1};
    s.n_layer = 4;
    s.d = 16;
    s.mlp = 64;
    folder_init(&f);
    case_init(&m, s, 5);
    folder_write_model(&f, &m);
    struct model_net *net = NULL;
    if (!model_net_open(&net, f.path, c.k, (size_t)1 << 30, &e)) fail_msg("%s", e.text);
    assert_true(model_net_feed(net, ids, 3, &e)); /* the text has its memory */
    assert_true(model_net_run(net, 1, &c, &e));   /* a block and the staging theirs */
    large_left = 1;
    if (!model_net_run(net, 4, &c, &e)) fail_msg("%s", e.text);
    large_left = 0; /* and nothing from here on */
    for (int round = 0; round < 2; round++) {
        const int32_t *text = round ? ids : other;
        assert_true(model_net_feed(net, text, 3, &e));
        if (!model_net_run(net, 4, &c, &e)) fail_msg("%s", e.text);
        struct case_pass p = case_forward(&m, text, 3);
        for (int i = 0; i < 3 * s.d; i++)
            assert_true(fabs((double)model_net_input(net, 4).data[i] -
                             p.h[(size_t)4 * 3 * s.d + i]) < 1e-4);
        free(p.h);
        free(p.logits);
    }
    large_left = -1;
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_at_any_allocation),
        cmocka_unit_test(blocks_that_do_not_fit_are_read_again),
        cmocka_unit_test(no_file_asks_for_more_memory_than_its_bytes_justify),
    };
    return cmocka_run_group_tests_name("model memory", tests, set_up, NULL);
}
