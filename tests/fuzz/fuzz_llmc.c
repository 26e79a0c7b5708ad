/* An llm.c checkpoint. The first eight numbers of its header come from the input, the other
 * 248, which nobody reads, are zero. */
#include "fuzz.h"

#include <string.h>

enum { USED = 32, HEADER = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static uint8_t file[HEADER + (1 << 16)];
    size_t head = n < USED ? n : USED;
    size_t rest = n - head < (1 << 16) ? n - head : 1 << 16;
    memset(file, 0, HEADER);
    memcpy(file, data, head);
    memcpy(file + HEADER, data + head, rest);
    fuzz_write("model.bin", file, HEADER + rest);
    fuzz_model(fuzz_path("model.bin"));
    return 0;
}
