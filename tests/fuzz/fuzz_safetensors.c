/* config.json, then model.safetensors. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_part config = fuzz_next(&data, &n);
    fuzz_write("config.json", config.data, config.n);
    fuzz_write("model.safetensors", data, n);
    fuzz_model(fuzz_folder());
    return 0;
}
