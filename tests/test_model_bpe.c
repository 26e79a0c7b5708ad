/* model: GPT-2's tokenizer: against another algorithm on a small vocabulary, on the texts
 * in the shared data, on every kind of broken file. */
#include "model_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

static struct case_folder folder;

static int set_up(void **state)
{
    (void)state;
    folder_init(&folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_fini(&folder);
    return 0;
}

static void put(const char *name, const char *text)
{
    struct blob b = blob_text(text);
    folder_write(&folder, name, &b);
    blob_free(&b);
}

static struct model_bpe *opened(int n_vocab)
{
    struct err e = {0};
    struct model_bpe *b = NULL;
    if (!model_bpe_open(&b, folder.path, n_vocab, &e)) fail_msg("%s", e.text);
    assert_non_null(b);
    return b;
}

/* The ids as text: "12 7 ". */
static const char *ids_of(const struct model_bpe *b, const char *text, size_t len)
{
    static char out[4096];
    int32_t ids[512];
    size_t n = 0, at = 0;
    struct err e = {0};
    if (!model_bpe_encode(b, ids, 512, &n, text, len, &e)) fail_msg("%s", e.text);
    out[0] = '\0';
    for (size_t i = 0; i < n && at < sizeof out - 16; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%d ", ids[i]);
    return out;
}

/* ---- a vocabulary of our own: 256 bytes, then merges ------------------------------------- */

enum { MERGES = 40, IDS = 256 + MERGES + 1 };
struct own {
    char bytes[IDS][64]; /* of each token */
    size_t len[IDS];
    int left[MERGES], right[MERGES];
};

/* The characters that stand for the bytes in files. */
static void write_byte(char *out, size_t *n, int byte)
{
    static int other = 0x100;
    static int of[256];
    if (of[0] == 0)
        for (int b = 0; b < 256; b++) {
            bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
            of[b] = printable ? b : other++;
        }
    int c = of[byte];
    if (c == '"' || c == '\\') out[(*n)++] = '\\';
    if (c < 0x80) {
        out[(*n)++] = (char)c;
    } else {
        out[(*n)++] = (char)(0xC0 | c >> 6);
        out[(*n)++] = (char)(0x80 | (c & 0x3F));
    }
}

static void write_token(const struct own *o, char *out, size_t *n, int id)
{
    for (size_t i = 0; i < o->len[id]; i++)
        write_byte(out, n, (unsigned char)o->bytes[id][i]);
}

/* Random pairs of what is there; a rank is lower than those that need its token. */
static void make_own(struct own *o)
{
    uint64_t rng = 5;
    static char vocab[32768], merges[16384];
    size_t n = 0, k = (size_t)snprintf(merges, sizeof merges, "#version: 0.2\n");
    for (int b = 0; b < 256; b++) {
        o->bytes[b][0] = (char)b;
        o->len[b] = 1;
    }
    static const char common[] = "abct eh\n\xc3\xa9 n";
    for (int m = 0; m < MERGES; m++) {
        int id = 256 + m, a, b;
        bool new;
        do {
            rng = rng * 6364136223846793005u + 1442695040888963407u;
            a = (rng >> 40) % 3 && m ? 256 + (int)((rng >> 20) % (unsigned)m)
                                     : (unsigned char)common[(rng >> 33) % 12];
            b = (rng >> 44) % 3 ? (unsigned char)common[(rng >> 50) % 12]
                                : (m ? 256 + (int)((rng >> 55) % (unsigned)m) : 'a');
            new = o->len[a] + o->len[b] <= 12;
            memcpy(o->bytes[id], o->bytes[a], o->len[a]);
            memcpy(o->bytes[id] + o->len[a], o->bytes[b], o->len[b]);
            o->len[id] = o->len[a] + o->len[b];
            for (int i = 256; i < id; i++)
                if (o->len[i] == o->len[id] &&
                    !memcmp(o->bytes[i], o->bytes[id], o->len[i]))
                    new = false;
        } while (!new);
        o->left[m] = a;
        o->right[m] = b;
    }
    vocab[n++] = '{';
    for (int id = 0; id < 256 + MERGES; id++) {
        vocab[n++] = '"';
        write_token(o, vocab, &n, id);
        n += (size_t)snprintf(vocab + n, sizeof vocab - n, "\":%d,", id);
    }
    (void)snprintf(vocab + n, sizeof vocab - n, "\"<|endoftext|>\":%d}", IDS - 1);
    for (int m = 0; m < MERGES; m++) {
        size_t from = k;
        write_token(o, merges, &k, o->left[m]);
        merges[k++] = ' ';
        write_token(o, merges, &k, o->right[m]);
        merges[k++] = '\n';
        (void)from;
    }
    merges[k] = '\0';
    put("vocab.json", vocab);
    put("merges.txt", merges);
}

/* openai/gpt-2's way: the pair of lowest rank, everywhere, again and again. n ids. */
static int slow_merge(const struct own *o, int *ids, int n)
{
    for (;;) {
        int best = MERGES;
        for (int i = 0; i + 1 < n; i++)
            for (int m = 0; m < best; m++)
                if (o->left[m] == ids[i] && o->right[m] == ids[i + 1]) best = m;
        if (best == MERGES) return n;
        int to = 0;
        for (int i = 0; i < n; i++) {
            bool both =
                i + 1 < n && ids[i] == o->left[best] && ids[i + 1] == o->right[best];
            ids[to++] = both ? 256 + best : ids[i];
            i += both;
        }
        n = to;
    }
}

static void merging_is_by_rank_as_the_slow_way_does_it(void **state)
{
    (void)state;
    static struct own o;
    make_own(&o);
    struct model_bpe *b = opened(IDS);
    uint64_t rng = 3;
    for (int round = 0; round < 400; round++) {
        char text[65];
        int want[64];
        int n = 1 + round % 64;
        for (int i = 0; i < n; i++) { /* one piece: letters alone */
            rng = rng * 6364136223846793005u + 1442695040888963407u;
            text[i] = "abcteh n"[(rng >> 33) % 6];
            want[i] = (unsigned char)text[i];
        }
        int32_t got[64];
        size_t k = 0;
        struct err e = {0};
        assert_true(model_bpe_encode(b, got, 64, &k, text, (size_t)n, &e));
        n = slow_merge(&o, want, n);
        assert_int_equal(k, n);
        for (int i = 0; i < n; i++) assert_int_equal(got[i], want[i]);
    }
    model_bpe_close(b);
}

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    static struct own o;
    make_own(&o);
    struct model_bpe *b = opened(IDS);
    uint64_t rng = 9;
    for (int round = 0; round < 2000; round++) {
        char text[400];
        size_t n = 0;
        for (int i = 0; i < round % 60; i++) { /* any characters, the planes evenly */
            rng = rng * 6364136223846793005u + 1442695040888963407u;
            uint32_t c = (uint32_t)(rng >> 32) >> (rng >> 10) % 32;
            c %= 0x110000;
            if (c >= 0xD800 && c < 0xE000) c = 0xA0;
            if (c < 0x80) {
                text[n++] = (char)c;
            } else if (c < 0x800) {
                text[n++] = (char)(0xC0 | c >> 6);
            } else if (c < 0x10000) {
                text[n++] = (char)(0xE0 | c >> 12);
                text[n++] = (char)(0x80 | (c >> 6 & 63));
            } else {
                text[n++] = (char)(0xF0 | c >> 18);
                text[n++] = (char)(0x80 | (c >> 12 & 63));
                text[n++] = (char)(0x80 | (c >> 6 & 63));
            }
            if (c >= 0x80) text[n++] = (char)(0x80 | (c & 63));
        }
        int32_t ids[400];
        size_t k = 0, at = 0;
        struct err e = {0};
        if (!model_bpe_encode(b, ids, 400, &k, text, n, &e)) fail_msg("%s", e.text);
        for (size_t i = 0; i < k; i++) {
            size_t len;
            const char *t = model_bpe_token(b, ids[i], &len);
            assert_true(at + len <= n);
            assert_memory_equal(t, text + at, len);
            at += len;
        }
        assert_int_equal(at, n);
        size_t only = 0;
        assert_true(model_bpe_encode(b, NULL, 0, &only, text, n, &e));
        assert_int_equal(only, k);
    }
    model_bpe_close(b);
}

/* Pieces as openai/gpt-2 cuts them, where a vocabulary that is one token a piece shows it:
 * spaces, contractions, numbers, and the white space that \s in PCRE2 has besides. */
static void text_is_cut_as_gpt2_cuts_it(void **state)
{
    (void)state;
    put("vocab.json",
        "{\"a\":0,\"b\":1,\"\xc4\xa0\":2,\"'\":3,\"s\":4,\"'s\":5,\"\xc4\xa0"
        "a\":6,\"ab\":7,\"1\":8,\"a1\":9,\"\xc4\xa0\xc4\xa0\":10,\"!\":11,"
        "\"!!\":12,\"\xc4\xa0!\":13,\"\xc3\xa1\":14,\"\xc5\x82\":15,"
        "\"\xc5\x80\":16,\"\xc4\x93\":17,\"\xc3\x82\":18,\"\xc4\xa7\":19}");
    put("merges.txt", "' s\na b\n\xc4\xa0 a\na 1\n\xc4\xa0 \xc4\xa0\n! !\n\xc4\xa0 !\n");
    struct model_bpe *b = opened(20);
    assert_string_equal(ids_of(b, "ab", 2), "7 ");
    assert_string_equal(ids_of(b, " a", 2), "6 ");
    assert_string_equal(ids_of(b, "a1", 2), "0 8 "); /* letters and digits part */
    assert_string_equal(ids_of(b, "a's", 3), "0 5 ");
    assert_string_equal(ids_of(b, "   a", 4), "10 6 "); /* the last space goes along */
    assert_string_equal(ids_of(b, "a  ", 3), "0 10 ");
    assert_string_equal(ids_of(b, "  !!", 4), "2 2 12 ");
    assert_string_equal(ids_of(b, "!!", 2), "12 ");
    model_bpe_close(b);
}

static void a_vocabulary_without_a_byte_says_which(void **state)
{
    (void)state;
    put("vocab.json", "{\"A\":0,\"B\":1,\"C\":2}\n");
    put("merges.txt", "#version: 0.2\n");
    struct model_bpe *b = opened(3);
    struct err e = {0};
    size_t n = 9;
    assert_string_equal(ids_of(b, "CAB", 3), "2 0 1 ");
    assert_string_equal(ids_of(b, "", 0), "");
    assert_false(model_bpe_encode(b, NULL, 0, &n, "ABX", 3, &e));
    assert_string_equal(e.text, "text: byte 2 (58) has no token in this vocabulary");
    assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(model_bpe_special(b), -1);
    assert_int_equal(model_bpe_size(b), 3);
    size_t len = 9;
    assert_string_equal(model_bpe_token(b, 3, &len), "");
    assert_int_equal(len, 0);
    assert_string_equal(model_bpe_token(b, -1, &len), "");
    model_bpe_close(b);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    static struct own o;
    make_own(&o);
    struct model_bpe *b = opened(IDS);
    static const char *const bad[] = {
        "a\x80",         "a\xC3",         "a\xC0\x80",         "a\xC1\xBF",
        "a\xE0\x80\x80", "a\xED\xA0\x80", "a\xF4\x90\x80\x80", "a\xF5\x80\x80\x80",
        "a\xFF",         "a\xE2\x82",     "a\xF0\x9F\x98",     "a\xF0\x80\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        size_t n;
        assert_false(model_bpe_encode(b, NULL, 0, &n, bad[i], strlen(bad[i]), &e));
        assert_string_equal(e.text, "text: byte 1 is not UTF-8");
    }
    assert_string_equal(ids_of(b, "\0", 1), "0 "); /* a zero byte is a character */
    model_bpe_close(b);
}

static void the_special_token_is_never_made_of_text(void **state)
{
    (void)state;
    static struct own o;
    make_own(&o);
    struct model_bpe *b = opened(IDS);
    size_t n = 0, len = 0;
    struct err e = {0};
    int32_t ids[16];
    assert_int_equal(model_bpe_special(b), IDS - 1);
    assert_string_equal(model_bpe_token(b, IDS - 1, &len), "<|endoftext|>");
    assert_true(model_bpe_encode(b, ids, 16, &n, "<|endoftext|>", 13, &e));
    for (size_t i = 0; i < n; i++) assert_int_not_equal(ids[i], IDS - 1);
    model_bpe_close(b);
}

/* ---- tokenizer.json ----------------------------------------------------------------------- */

static void tokenizer_json_alone_is_enough(void **state)
{
    (void)state;
    static const char *const forms[] = {"\"a b\",\"ab c\"",
                                        "[\"a\",\"b\"],[\"ab\",\"c\"]"};
    folder_remove(&folder, "vocab.json");
    folder_remove(&folder, "merges.txt");
    for (int i = 0; i < 2; i++) {
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "{\"added_tokens\":[{\"id\":9,\"content\":\"<|endoftext|>\",\"special\":"
            "true}],\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":"
            "false},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,"
            "\"ab\":3,\"abc\":4},\"merges\":[%s]}}",
            forms[i]);
        put("tokenizer.json", text);
        struct model_bpe *b = opened(10);
        assert_string_equal(ids_of(b, "abcab", 5), "4 3 ");
        assert_int_equal(model_bpe_special(b), 9);
        model_bpe_close(b);
    }
    folder_remove(&folder, "tokenizer.json");
    struct model_bpe *b = NULL;
    struct err e = {0};
    assert_true(model_bpe_open(&b, folder.path, 10, &e)); /* none is no error */
    assert_null(b);
}

#define GOOD_MODEL "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}"
#define GOOD_PRE   "\"pre_tokenizer\":{\"type\":\"ByteLevel\"}"

static void broken_tokenizers_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *vocab, *merges, *single, *says;
    } cases[] = {
        {"{\"a\":0}", NULL, NULL, "merges.txt: cannot be opened"},
        {"{}", "", NULL, "vocab.json: there is no vocabulary"},
        {"[]", "", NULL, "vocab.json: there is no vocabulary"},
        {"{\"a\":0,\"a\":1}", "", NULL, "vocab.json: no valid JSON"},
        {"{\"a\":0,\"b\":0}", "", NULL,
         "vocab.json: token \"b\": another has the same id"},
        {"{\"a\":10}", "", NULL, "vocab.json: token \"a\": its id is not in 0 to 9"},
        {"{\"a\":-1}", "", NULL, "token \"a\": its id is not in 0 to 9"},
        {"{\"a\":\"0\"}", "", NULL, "token \"a\": its id is not in 0 to 9"},
        {"{\"\":0}", "", NULL, "token \"\": is empty"},
        {"{\"a\":0", "", NULL, "vocab.json: no valid JSON"},
        {"{\"a\":0,\"b\":1}", "a b\n", NULL, "merge 1 makes \"ab\", which is no token"},
        {"{\"a\":0,\"ac\":1}", "#version\na c\n", NULL,
         "merge 1 names \"c\", which is no"},
        {"{\"a\":0,\"ca\":1}", "c a\n", NULL, "merges.txt: merge 1 names \"c\""},
        {"{\"a\":0,\"aa\":1}", "a a\na a\n", NULL, "merge 2 repeats merge 1"},
        {"{\"a\":0,\"aa\":1}", "a\n", NULL, "merge 1 is not two tokens: \"a\""},
        {"{\"a\":0,\"aa\":1}", "a a a\n", NULL, "merge 1 is not two tokens"},
        {"{\"a\":0,\"aa\":1}", " a\n", NULL, "merge 1 is not two tokens"},
        {"{\"a\":0,\"aa\":1}", "a \xff\n", NULL, "merge 1 names"},
        {"{\"a\":0,\"aa\":1}", "a \xc4", NULL, "merge 1 names"},
        {"{\"a\":0,\"aa\":1}", "a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", NULL,
         "merge 1 names"},
        {NULL, NULL, "{" GOOD_PRE "}", "tokenizer.json: there are no merges"},
        {NULL, NULL, "{" GOOD_MODEL "}", "pre_tokenizer \"none\""},
        {NULL, NULL, "{" GOOD_MODEL ",\"pre_tokenizer\":{\"type\":\"Metaspace\"}}",
         "pre_tokenizer \"Metaspace\"; GPT-2's ByteLevel is read"},
        {NULL, NULL, "{" GOOD_PRE ",\"model\":{\"type\":\"Unigram\"}}",
         "model \"Unigram\""},
        {NULL, NULL,
         "{" GOOD_MODEL ",\"pre_tokenizer\":{\"type\":\"ByteLevel\","
         "\"add_prefix_space\":true}}",
         "add_prefix_space is true"},
        {NULL, NULL, "{" GOOD_PRE ",\"model\":{\"vocab\":{\"a\":0},\"merges\":[1]}}",
         "merge 1 is not two tokens"},
        {NULL, NULL,
         "{" GOOD_PRE ",\"model\":{\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}}",
         "merge 1 is not two tokens"},
        {NULL, NULL, "{" GOOD_PRE ",\"model\":{\"vocab\":[],\"merges\":[]}}",
         "there is no vocabulary"},
        {NULL, NULL, "{" GOOD_PRE "," GOOD_MODEL ",\"added_tokens\":[{}]}",
         "added token 1 has no content"},
        {NULL, NULL, "7", "no valid JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct model_bpe *b = NULL;
        struct err e = {0};
        folder_remove(&folder, "vocab.json");
        folder_remove(&folder, "merges.txt");
        folder_remove(&folder, "tokenizer.json");
        if (cases[i].vocab) put("vocab.json", cases[i].vocab);
        if (cases[i].merges) put("merges.txt", cases[i].merges);
        if (cases[i].single) put("tokenizer.json", cases[i].single);
        if (model_bpe_open(&b, folder.path, 10, &e))
            fail_msg("opened: %s", cases[i].says);
        assert_null(b);
        assert_int_equal(e.code, ERR_INPUT);
        if (!strstr(e.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", e.text, cases[i].says);
    }
    folder_remove(&folder, "tokenizer.json");
}

/* A million letters in one piece; the square of that would take an hour. */
static void a_long_word_takes_no_square_of_its_length(void **state)
{
    (void)state;
    enum { LENGTH = 1000000 };
    static struct own o;
    make_own(&o);
    struct model_bpe *b = opened(IDS);
    char *text = malloc(LENGTH);
    assert_non_null(text);
    uint64_t rng = 1;
    for (int i = 0; i < LENGTH; i++) {
        rng = rng * 6364136223846793005u + 1442695040888963407u;
        text[i] = "abcteh"[(rng >> 33) % 6];
    }
    size_t n = 0;
    struct err e = {0};
    clock_t from = clock();
    assert_true(model_bpe_encode(b, NULL, 0, &n, text, LENGTH, &e));
    double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    assert_true(n > 0 && n < LENGTH);
    if (seconds > 20.0) fail_msg("%.1f s", seconds);
    free(text);
    model_bpe_close(b);
}

/* ---- GPT-2's own vocabulary, where it is ----------------------------------------------------- */

static bool gpt2_folder(char *out, size_t room)
{
    const char *data = getenv("HEADLIGHT_TEST_DATA");
    (void)snprintf(out, room, "%s/tokenizer", data ? data : DATA_DIR);
    struct stat st;
    return stat(out, &st) == 0;
}

static size_t from_hex(char *out, const char *hex)
{
    size_t n = 0;
    for (unsigned x; sscanf(hex + 2 * n, "%2x", &x) == 1; n++) out[n] = (char)x;
    return n;
}

static void gpt2_cases_are_exact(void **state)
{
    (void)state;
    char path[512], tsv[600];
    static char line[65536], text[32768];
    if (!gpt2_folder(path, sizeof path)) skip();
    struct model_bpe *b = NULL;
    struct err e = {0};
    if (!model_bpe_open(&b, path, 50257, &e)) fail_msg("%s", e.text);
    (void)snprintf(tsv, sizeof tsv, "%s/cases.tsv", path);
    FILE *f = fopen(tsv, "r");
    assert_non_null(f);
    int cases = 0;
    while (fgets(line, sizeof line, f)) {
        char *hex = strchr(line, '\t');
        char *ids = hex ? strchr(hex + 1, '\t') : NULL;
        if (!ids || hex[1] == 'u') continue; /* a heading */
        *hex++ = *ids++ = '\0';
        static int32_t got[16384];
        size_t n = 0, len = from_hex(text, hex), at = 0;
        if (!model_bpe_encode(b, got, 16384, &n, text, len, &e)) fail_msg("%s", e.text);
        for (size_t i = 0; i < n; i++) {
            char *end;
            long want = strtol(ids, &end, 10);
            if (end == ids || want != got[i])
                fail_msg("%s: id %zu is %d, not %ld", line, i, got[i], want);
            ids = end;
            size_t k;
            const char *t = model_bpe_token(b, got[i], &k);
            assert_memory_equal(t, text + at, k);
            at += k;
        }
        assert_int_equal(at, len);
        assert_int_equal(strspn(ids, " \r\n"), strlen(ids));
        cases++;
    }
    (void)fclose(f);
    assert_int_equal(cases, 40);
    assert_string_equal(ids_of(b, "<|endoftext|>", 13), "27 91 437 1659 5239 91 29 ");
    assert_int_equal(model_bpe_special(b), 50256);
    assert_int_equal(model_bpe_size(b), 50257);
    model_bpe_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_is_by_rank_as_the_slow_way_does_it),
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(text_is_cut_as_gpt2_cuts_it),
        cmocka_unit_test(a_vocabulary_without_a_byte_says_which),
        cmocka_unit_test(text_that_is_not_utf8_is_refused),
        cmocka_unit_test(the_special_token_is_never_made_of_text),
        cmocka_unit_test(tokenizer_json_alone_is_enough),
        cmocka_unit_test(broken_tokenizers_are_refused_by_name),
        cmocka_unit_test(a_long_word_takes_no_square_of_its_length),
        cmocka_unit_test(gpt2_cases_are_exact),
    };
    return cmocka_run_group_tests_name("model bpe", tests, set_up, tear_down);
}
