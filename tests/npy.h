/* Test-side readers: .npy version 1 and one tensor of a safetensors file, float32 or
 * float64, little-endian, C order. For files of our own; the program's reader is model. */
#ifndef TESTS_NPY_H
#define TESTS_NPY_H

#include "attn.h"

#include <stdbool.h>
#include <stddef.h>

struct tensor {
    int rank, shape[4];
    size_t n;
    double *f64; /* as stored, or widened */
    float *f32;  /* as stored, or rounded */
};

/* false: no such file or tensor, or not of this kind; t is then all zero. */
bool npy_read(struct tensor *t, const char *path);
bool safetensors_read(struct tensor *t, const char *path, const char *name);
void tensor_free(struct tensor *t);

/* The tensor's last two dimensions as a matrix; index chooses among the first. A vector
 * is one row. */
struct attn_cmat tensor_mat(const struct tensor *t, int index);
const double *tensor_f64(const struct tensor *t, int index);

/* Where the shared test data's file rel lies: in HEADLIGHT_TEST_DATA, else beside the
 * project. false: in neither. */
bool data_path(char *out, size_t room, const char *rel);

#endif
