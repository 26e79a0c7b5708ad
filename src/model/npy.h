/* What .npy and .npz share. */
#ifndef HEADLIGHT_MODEL_NPY_H
#define HEADLIGHT_MODEL_NPY_H

#include "model.h"
#include "stream.h"

#include <stddef.h>

/* Reads a whole .npy, header and numbers, from a stream. *a starts zeroed. */
bool npy_read(struct model_array *a, struct stream *s, int64_t most, struct err *e);

/* Magic, version and header of an array, in out; returns its length, a multiple of 64. */
enum { NPY_HEAD = 320 };
size_t npy_head(char out[NPY_HEAD], const struct model_array *a);
/* The same for n bytes, dtype uint8. */
size_t npy_head_bytes(char out[NPY_HEAD], size_t n);

/* A row of an array: where it begins. Arrays without gaps have one, as long as all. */
struct npy_rows {
    int64_t count, cols; /* rows, and numbers in each */
};
struct npy_rows npy_rows_of(const struct model_array *a);

#endif
