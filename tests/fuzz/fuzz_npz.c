/* Any bytes as an .npz: every array of it is read or refused. */
#include "model.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_npz *z;
    struct err e = {0};
    if (!model_npz_open(&z, target_file(data, size), &e)) {
        if (e.code != ERR_INPUT) abort();
        return 0;
    }
    for (int i = 0; i < model_npz_count(z); i++) {
        struct model_array a;
        if (strstr(model_npz_name(z, i), "../")) abort();
        if (!model_npz_read(z, i, &a, 1 << 20, &e) && (e.code != ERR_INPUT || a.data))
            abort();
        model_array_free(&a);
    }
    model_npz_close(z);
    return 0;
}
