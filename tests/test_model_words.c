/* model: the toy's words. A word is one vector wherever and whenever it is typed. */
#include "model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { D = MODEL_TOY_D };

static struct model_words words_of(const char *text)
{
    struct model_words w;
    struct err e = {0};
    if (!model_words_split(&w, text, strlen(text), &e)) fail_msg("%s: %s", text, e.text);
    return w;
}

static void made(struct model *m, const struct model_words *w, uint32_t seed,
                 struct arena *mem)
{
    struct attn_ctx c = {.k = attn_kernels_get("ref")};
    struct err e = {0};
    assert_true(arena_init(mem, model_words_bytes(), &e));
    assert_true(model_make_words(m, w, seed, mem, &c, &e));
    assert_int_equal(m->dims.n_tok, w->n);
    for (int i = 0; i < w->n; i++) assert_string_equal(m->tokens[i], w->text[i]);
}

/* h without its position: exact, since both lie on one grid; see words.c. */
static void without_position(float *out, const struct model *m, int i)
{
    float at[D];
    model_position(at, i, m->seed);
    for (int k = 0; k < D; k++) out[k] = m->h.data[i * m->h.ld + k] - at[k];
}

static void a_repeated_word_is_the_same_vector(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 40; seed++) {
        struct arena mem;
        struct model m;
        float v[MODEL_WORDS_MOST][D];
        const struct model_words few = words_of("row your row boat Row boat");
        made(&m, &few, seed, &mem);
        for (int i = 0; i < few.n; i++) without_position(v[i], &m, i);
        assert_memory_equal(v[0], v[2], sizeof v[0]); /* with and without a space */
        assert_memory_equal(v[3], v[5], sizeof v[0]);
        assert_memory_not_equal(v[0], v[1], sizeof v[0]);
        assert_memory_not_equal(v[0], v[4], sizeof v[0]); /* Row is another word */
        /* h itself differs: it has a position */
        assert_memory_not_equal(m.h.data, m.h.data + 2 * m.h.ld, sizeof v[0]);
        arena_free(&mem);
    }
}

static void a_vector_does_not_depend_on_the_other_words(void **state)
{
    (void)state;
    static const char *const texts[] = {"zebra apple pear", "pear zebra apple",
                                        "fig fig fig fig fig zebra apple pear"};
    double first[3][D];
    for (size_t i = 0; i < 3; i++) {
        struct model_words w = words_of(texts[i]);
        for (int k = 0; k < w.n; k++) {
            static const char *const names[] = {"zebra", "apple", "pear"};
            const char *bare = w.text[k] + (w.text[k][0] == ' ');
            double v[D];
            model_embedding(v, w.text[k], 7);
            for (int j = 0; j < 3; j++) {
                if (strcmp(bare, names[j]) != 0) continue;
                if (i == 0) memcpy(first[j], v, sizeof v);
                assert_memory_equal(v, first[j], sizeof v);
            }
        }
    }
    double a[D];
    double b[D];
    model_embedding(a, "zebra", 7);
    model_embedding(b, "zebra", 8);
    assert_memory_not_equal(a, b, sizeof a); /* another seed, another vector */
}

/* 500 words: no two share a vector, and their numbers have mean 0 and variance 1. */
static void different_words_differ(void **state)
{
    (void)state;
    enum { N = 500 };
    static double v[N][D];
    double sum = 0;
    double square = 0;
    for (int i = 0; i < N; i++) {
        char word[16];
        (void)snprintf(word, sizeof word, "w%d", i);
        model_embedding(v[i], word, 3);
        for (int k = 0; k < D; k++) {
            sum += v[i][k];
            square += v[i][k] * v[i][k];
        }
        for (int j = 0; j < i; j++) assert_memory_not_equal(v[i], v[j], sizeof v[i]);
    }
    double n = (double)N * D; /* within five standard errors */
    assert_true(fabs(sum / n) < 5 / sqrt(n));
    assert_true(fabs(square / n - 1) < 5 * sqrt(2 / n));
}

/* Positions are small beside words, and the first text is the toy that there always was. */
static void the_first_words_are_the_toy(void **state)
{
    (void)state;
    struct attn_ctx c = {.k = attn_kernels_get("ref")};
    const struct model_words first = model_words_first();
    const struct model_words typed = words_of("the cat sat down.");
    assert_memory_equal(&first, &typed, sizeof first);
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct arena mem;
        struct arena toy_mem;
        struct model m;
        struct model toy;
        struct err e;
        made(&m, &first, seed, &mem);
        assert_true(arena_init(&toy_mem, model_bytes(MODEL_TOY), &e));
        assert_true(model_make(&toy, MODEL_TOY, seed, &toy_mem, &c, &e));
        assert_memory_equal(m.h.data, toy.h.data, (size_t)first.n * D * sizeof(float));
        assert_memory_equal(m.x.data, toy.x.data, (size_t)first.n * D * sizeof(float));
        assert_memory_equal(m.weights.w_qkv.data, toy.weights.w_qkv.data,
                            3 * D * D * sizeof(float));
        for (int i = 0; i < first.n; i++) { /* one embedding for both */
            double v[D];
            float at[D];
            model_embedding(v, first.text[i], seed);
            model_position(at, i, seed);
            for (int k = 0; k < D; k++)
                assert_true((float)(v[k] + (double)at[k]) == m.h.data[i * m.h.ld + k]);
        }
        arena_free(&mem);
        arena_free(&toy_mem);
    }
}

static void a_text_is_parted_into_words_and_signs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words[MODEL_WORDS_MOST];
    } cases[] = {
        {"a", {"a"}},
        {"  a  b\n\tc  ", {"a", " b", " c"}},
        {"the cat.", {"the", " cat", "."}},
        {"don't re-use it...", {"don't", " re-use", " it", "..."}},
        {"'quoted'", {"'", "quoted", "'"}},
        {"na\u00EFve \U0001F642 \u05E9\u05DC\u05D5\u05DD",
         {"na\u00EFve", " \U0001F642", " \u05E9\u05DC\u05D5\u05DD"}},
        {"1 2 3 4 5 6 7 8", {"1", " 2", " 3", " 4", " 5", " 6", " 7", " 8"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct model_words w = words_of(cases[i].text);
        int n = 0;
        while (n < MODEL_WORDS_MOST && cases[i].words[n]) n++;
        assert_int_equal(w.n, n);
        for (int k = 0; k < n; k++) assert_string_equal(w.text[k], cases[i].words[k]);
    }
}

static void what_is_no_text_of_words_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "1 to 8 words"},
        {" \n\t ", "1 to 8 words"},
        {"a b c d e f g h i", "9 words"},
        {"a.b.c.d.e", "9 words"},
        {"\xFF", "UTF-8"},
        {"a \xC3", "UTF-8"},
        {"\xC0\x80", "UTF-8"},
        {"\xED\xA0\x80", "UTF-8"},
        {"\xF4\x90\x80\x80", "UTF-8"},
        {"a 0123456789012345678901234567890123456789012345678", "word 2 is longer"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct model_words w = {.n = 77};
        struct err e = {0};
        assert_false(model_words_split(&w, bad[i].text, strlen(bad[i].text), &e));
        assert_int_equal(e.code, ERR_INPUT);
        if (!strstr(e.text, bad[i].says)) fail_msg("%s: %s", bad[i].text, e.text);
        assert_int_equal(w.n, 77);
    }
    struct model_words w;
    assert_false(model_words_split(&w, "a\0b", 3, NULL)); /* no zero in a text */
}

static void too_little_room_fails_cleanly(void **state)
{
    (void)state;
    struct attn_ctx c = {.k = attn_kernels_get("ref")};
    const struct model_words w = words_of("1 2 3 4 5 6 7 8");
    bool done = false;
    for (size_t room = 64; !done; room += 64) {
        struct arena mem;
        struct model m = {.label = "untouched"};
        struct err e = {0};
        assert_true(arena_init(&mem, room, &e));
        done = model_make_words(&m, &w, 1, &mem, &c, &e);
        if (!done) assert_int_equal(e.code, ERR_SYSTEM);
        if (!done) assert_int_equal(mem.used, 0);
        if (!done) assert_string_equal(m.label, "untouched");
        if (done) assert_true(room <= model_words_bytes());
        arena_free(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeated_word_is_the_same_vector),
        cmocka_unit_test(a_vector_does_not_depend_on_the_other_words),
        cmocka_unit_test(different_words_differ),
        cmocka_unit_test(the_first_words_are_the_toy),
        cmocka_unit_test(a_text_is_parted_into_words_and_signs),
        cmocka_unit_test(what_is_no_text_of_words_is_refused),
        cmocka_unit_test(too_little_room_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
