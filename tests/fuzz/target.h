/* What a fuzz target is: libFuzzer calls it, and so does replay.c for the files kept. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Puts the bytes into a file of this process, the same at each call; returns its path. */
const char *target_file(const uint8_t *data, size_t size);

#endif
