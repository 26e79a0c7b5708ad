/* Where a model's tensors lie in its files. safetensors.c and llmc.c fill the same lists,
 * and nobody behind them knows which of the two it was. Headers only: no tensor is read
 * until it is asked for. */
#ifndef HEADLIGHT_MODEL_WEIGHTS_H
#define HEADLIGHT_MODEL_WEIGHTS_H

#include "base.h"
#include "model.h"

enum {
    SHAPE_MAX = 8,   /* dimensions of a tensor */
    SHARDS_MAX = 64, /* files of one model */
    /* Limits of a model, so that sizes fit where they are computed; far beyond GPT-2. */
    LAYERS_MAX = 4096,
    D_MODEL_MAX = 1 << 17,
    MLP_MAX = 1 << 20,
    CONTEXT_MAX = 1 << 20,
    VOCAB_MAX = 1 << 24
};

enum dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_OTHER };

/* bytes = the product of shape times the dtype's size, and at + bytes lies in the file. */
struct tensor_at {
    const char *name; /* as GPT-2 has it, without "transformer." */
    uint64_t at, bytes;
    uint64_t shape[SHAPE_MAX];
    int rank;
    int file; /* index into struct weights */
    enum dtype dtype;
    const char *dtype_name;
    bool transposed; /* the file holds the matrix as [out, in]; shape is [in, out] */
};

struct weight_file {
    struct file_in in;
    struct arena mem;          /* name, tensors and their names */
    const char *name;          /* last part of the path, for errors */
    struct tensor_at *tensors; /* by name, each name once */
    int n_tensor;
};

struct weights {
    struct weight_file files[SHARDS_MAX];
    int n_file;
};
void weights_close(struct weights *w);

/* The tensor, or NULL. */
const struct tensor_at *weights_find(const struct weights *w, const char *name);

/* Adds one file's tensors to w. What is wrong with it, *e says with the file's name and,
 * where there is one, the tensor's; w may then only be closed. */
bool safetensors_open(struct weights *w, const char *path, struct err *e);
/* Every file that an index (model.safetensors.index.json) names. */
bool safetensors_open_index(struct weights *w, const char *path, struct err *e);

/* What config.json, a checkpoint's header, or the tensors themselves say. */
struct config {
    const char *from; /* "config.json", "model.bin"; for errors */
    int64_t n_layer, n_head, d_model, d_mlp, n_ctx, n_vocab;
    enum model_act act;
    double eps;
    bool
        head_guessed; /* nothing states n_head: 64 columns a head, as all of GPT-2 have */
    int tie;          /* whether lm_head is wte: 1 yes, 0 no, -1 not stated */
};

/* An llm.c checkpoint, versions 3 and 5. */
bool llmc_open(struct weights *w, struct config *c, const char *path, struct err *e);

/* From config.json at path. */
bool config_read(struct config *c, const char *path, struct err *e);
/* From the tensors' shapes, where there is no config.json. */
bool config_guess(struct config *c, const struct weights *w, struct err *e);

/* "[768,2304]" in out. */
enum { SHAPE_TEXT = SHAPE_MAX * 21 + 3 };
const char *shape_text(char out[SHAPE_TEXT], const uint64_t *shape, int rank);

/* All of a tensor as float32, row-major [in, out] where it is a matrix, read in pieces of
 * at most 1 MiB. What is NaN or infinite is counted in *odd. */
bool tensor_read(const struct weights *w, const struct tensor_at *t, float *out,
                 struct model_odd *odd, struct err *e);

/* The n rows from `first` on of a matrix that is not transposed: as rows of out [n, cols],
 * or as columns of out [cols, n], whose rows lie ld elements apart. */
bool tensor_read_rows(const struct weights *w, const struct tensor_at *t, float *out,
                      uint64_t first, uint64_t n, struct model_odd *odd, struct err *e);
bool tensor_read_columns(const struct weights *w, const struct tensor_at *t, float *out,
                         size_t ld, uint64_t first, uint64_t n, struct model_odd *odd,
                         struct err *e);

#endif
