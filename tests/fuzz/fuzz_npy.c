/* Any bytes as a .npy: numbers or one line, and the memory they say they need. */
#include "fuzz.h"

#include "model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct model_array a;
    struct err e = {0};
    fuzz_write("array.npy", data, n);
    if (!model_npy_read(&a, fuzz_path("array.npy"), 1 << 22, &e)) {
        if (e.code != ERR_INPUT || a.data) abort();
        return 0;
    }
    /* No number without at least two bytes for it. */
    if (model_array_count(&a) < 0 || (uint64_t)model_array_count(&a) > n / 2) abort();
    float sum = 0;
    for (int64_t i = 0; i < model_array_count(&a); i++) sum += a.data[i];
    volatile float kept = sum;
    (void)kept;
    model_array_free(&a);
    return 0;
}
