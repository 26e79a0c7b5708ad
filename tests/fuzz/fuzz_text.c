/* Any bytes as text, with a vocabulary of all 256 bytes and some merges: what is UTF-8 is
 * encoded, and its tokens are the text again. */
#include "fuzz.h"

#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vocabulary's file: each byte by the character that stands for it in GPT-2's files,
 * then pairs of them. */
static void write_vocabulary(void)
{
    static char vocab[16384];
    static const char *const pairs[] = {"t h",
                                        "th e",
                                        "\xc4\xa0 the",
                                        "a a",
                                        "aa aa",
                                        "\xc4\xa0 \xc4\xa0",
                                        "\xc3\x83 \xc2\xa9",
                                        "' s"};
    char merges[256] = "";
    size_t n = 0, k = 0;
    int other = 0x100, id = 0;
    vocab[n++] = '{';
    for (int b = 0; b < 256; b++) {
        bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        int c = printable ? b : other++;
        vocab[n++] = '"';
        if (c == '"' || c == '\\') vocab[n++] = '\\';
        if (c >= 0x80) vocab[n++] = (char)(0xC0 | c >> 6);
        vocab[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
        n += (size_t)snprintf(vocab + n, sizeof vocab - n, "\":%d,", id++);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *space = strchr(pairs[i], ' ');
        n +=
            (size_t)snprintf(vocab + n, sizeof vocab - n, "%s\"%.*s%s\":%d", i ? "," : "",
                             (int)(space - pairs[i]), pairs[i], space + 1, id++);
        k += (size_t)snprintf(merges + k, sizeof merges - k, "%s\n", pairs[i]);
    }
    vocab[n++] = '}';
    fuzz_write("vocab.json", (const uint8_t *)vocab, n);
    fuzz_write("merges.txt", (const uint8_t *)merges, k);
}

static void check(const struct model_bpe *b, const int32_t *ids, size_t k,
                  const uint8_t *data, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < k; i++) {
        size_t len;
        const char *t = model_bpe_token(b, ids[i], &len);
        if (len == 0 || len > n - at || memcmp(t, data + at, len) != 0) abort();
        at += len;
    }
    if (at != n) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct model_bpe *b; /* opened once; lasts until exit */
    struct err e = {0};
    if (!b) {
        write_vocabulary();
        if (!model_bpe_open(&b, fuzz_folder(), 300, &e)) abort();
    }
    int32_t *ids = malloc((n + 1) * sizeof *ids);
    size_t k = 0;
    if (!ids) return 0;
    if (model_bpe_encode(b, ids, n, &k, (const char *)data, n, &e))
        check(b, ids, k, data, n);
    else if (e.code != ERR_INPUT)
        abort();
    free(ids);
    return 0;
}
