/* Any bytes as an .npz: every array of it is read or refused. */
#include "fuzz.h"

#include "model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct model_npz *z;
    struct err e = {0};
    fuzz_write("array.npz", data, n);
    if (!model_npz_open(&z, fuzz_path("array.npz"), &e)) {
        if (e.code != ERR_INPUT) abort();
        return 0;
    }
    for (int i = 0; i < model_npz_count(z); i++) {
        struct model_array a;
        const char *name = model_npz_name(z, i);
        if (name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../"))
            abort();
        if (!model_npz_read(z, i, &a, 1 << 20, &e) && (e.code != ERR_INPUT || a.data))
            abort();
        model_array_free(&a);
    }
    model_npz_close(z);
    return 0;
}
