/* vocab.json, then merges.txt; or, where the first is empty, tokenizer.json. A tokenizer
 * that opens encodes a text. */
#include "fuzz.h"

#include "model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_part vocab = fuzz_next(&data, &n);
    struct model_bpe *b = NULL;
    struct err e = {0};
    fuzz_remove("vocab.json");
    fuzz_remove("merges.txt");
    fuzz_remove("tokenizer.json");
    if (vocab.n > 0) fuzz_write("vocab.json", vocab.data, vocab.n);
    fuzz_write(vocab.n > 0 ? "merges.txt" : "tokenizer.json", data, n);
    if (!model_bpe_open(&b, fuzz_folder(), 5000, &e)) {
        if (e.code == ERR_NONE || strchr(e.text, '\n')) abort();
        return 0;
    }
    static const char text[] = "ab aab  bab's 12\n\xc3\xa9<|endoftext|>";
    int32_t ids[64];
    size_t k = 0;
    if (model_bpe_encode(b, ids, 64, &k, text, sizeof text - 1, &e))
        for (size_t i = 0; i < k; i++)
            if (ids[i] < 0 || ids[i] >= model_bpe_size(b)) abort();
    model_bpe_close(b);
    return 0;
}
