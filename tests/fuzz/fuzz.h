/* What the fuzz targets share. Each target defines LLVMFuzzerTestOneInput; libFuzzer calls
 * it, and so does replay.c, which runs a corpus without clang. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A folder of this process in memory where there is such a thing; lasts until exit. */
const char *fuzz_folder(void);
/* folder/name, valid until the next call. */
const char *fuzz_path(const char *name);
void fuzz_write(const char *name, const uint8_t *data, size_t n);
void fuzz_remove(const char *name);

/* One input in several parts: two bytes of length, the part; the last has none. */
struct fuzz_part {
    const uint8_t *data;
    size_t n;
};
struct fuzz_part fuzz_next(const uint8_t **data, size_t *n);

/* Opens the model and, if it is small, runs all of it. */
void fuzz_model(const char *path);

#endif
