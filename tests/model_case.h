/* Small models for the tests of layer model: made from a seed, written as the files people
 * have, and broken in one place. */
#ifndef TESTS_MODEL_CASE_H
#define TESTS_MODEL_CASE_H

#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum case_dtype { CASE_F32, CASE_F16, CASE_BF16 };

struct case_spec {
    int n_layer, n_head, d, mlp, ctx, vocab;
    enum case_dtype dtype;
    bool bias, tied;
    bool prefix; /* names begin with "transformer." */
    bool masks;  /* h.N.attn.bias is there, as in old files */
    bool erf;    /* gelu, not gelu_new */
};
/* Two blocks, two heads, d = 8, everything on but prefix and masks. */
struct case_spec case_spec_small(void);

/* Values are multiples of 1/256 or, about 1, of 1/128: every dtype holds them exactly. */
struct case_tensor {
    char name[64];
    int rank, shape[4];
    size_t n;
    float *v;
};
struct case_model {
    struct case_spec spec;
    struct case_tensor t[256];
    int n;
};
void case_init(struct case_model *m, struct case_spec spec, uint64_t seed);
void case_free(struct case_model *m);
/* By its name without prefix; fails the test where there is none. */
struct case_tensor *case_tensor(struct case_model *m, const char *name);

/* Bytes of a file, a zero behind them. data is never NULL. */
struct blob {
    unsigned char *data;
    size_t n, room;
};
void blob_free(struct blob *b);
struct blob blob_of(const void *data, size_t n);
struct blob blob_text(const char *text);
/* Every `from` replaced by `to`; fails the test where there is none. */
void blob_replace(struct blob *b, const char *from, const char *to);
/* The same in a safetensors header, whose length follows. */
void blob_replace_header(struct blob *b, const char *from, const char *to);

struct blob case_safetensors(const struct case_model *m);
/* first <= i < last of the tensors alone */
struct blob case_shard(const struct case_model *m, int first, int last);
struct blob case_llmc(const struct case_model *m, int padded);
struct blob case_config(const struct case_spec *s);

/* A folder of its own, removed with what the tests put into it. */
struct case_folder {
    char path[64];
};
void folder_init(struct case_folder *f);
void folder_fini(struct case_folder *f);
/* path/name, valid until the fourth call after this one. */
const char *folder_file(const struct case_folder *f, const char *name);
void folder_write(const struct case_folder *f, const char *name, const struct blob *b);
void folder_remove(const struct case_folder *f, const char *name);
/* config.json and model.safetensors of m. */
void folder_write_model(const struct case_folder *f, const struct case_model *m);

/* GPT-2 in double, by the book. h: (n_layer + 1) x [n, d], the last one behind all blocks;
 * logits [n, vocab]. The caller frees both. */
struct case_pass {
    double *h, *logits;
};
struct case_pass case_forward(struct case_model *m, const int32_t *ids, int n);

#endif
