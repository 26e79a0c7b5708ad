/* model: where weights and inputs come from. From a seed: the toy, and a block of GPT-2's
 * dimensions whose attention is as peaked as the real first block's. Or from the files of a
 * trained GPT-2, with its tokenizer, run as far as the block in view. */
#ifndef HEADLIGHT_MODEL_H
#define HEADLIGHT_MODEL_H

#include "attn.h"
#include "base.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_LN_EPS 1e-5f /* GPT-2 layer_norm_epsilon */

enum model_kind { MODEL_TOY, MODEL_GPT2_RANDOM, MODEL_FILE };

/* One block's weights, and an input of up to n_ctx tokens; all memory is the arena's. */
struct model {
    enum model_kind kind;
    uint32_t seed;
    struct attn_dims dims; /* n_tok = n_ctx: all the tokens there are */
    struct attn_weights weights;
    const float *ln_gain, *ln_bias; /* [d_model]; NULL: 1, 0 */
    struct attn_cmat h;             /* [n_ctx, d_model] the residual stream */
    struct attn_cmat x;             /* [n_ctx, d_model] ln_1(h) */
    const char *const *tokens;      /* n_ctx texts, NULL: random input has no text */
    const char *label;              /* "toy · random weights", "gpt2 · F32" */
};

/* Bytes of arena that model_make needs; kind is not MODEL_FILE. */
size_t model_bytes(enum model_kind kind);

/* Token i's row of h depends on the seed and i alone, so a shorter input is a prefix of
 * a longer one. The same seed gives the same numbers everywhere.
 * c->cancel is looked at now and then: ERR_CANCELLED. */
bool model_make(struct model *m, enum model_kind kind, uint32_t seed, struct arena *mem,
                const struct attn_ctx *c, struct err *e);

/* ---- the tokenizer -------------------------------------------------------------------- */

/* GPT-2's byte-level BPE. Read-only once it is open: any thread may use it. */
struct model_bpe;

/* From vocab.json and merges.txt of the folder, or tokenizer.json alone. true and *out =
 * NULL: there is none. ERR_INPUT names the file and what is wrong, an id beyond n_vocab
 * among it. */
bool model_bpe_open(struct model_bpe **out, const char *folder, int n_vocab,
                    struct err *e);
void model_bpe_close(struct model_bpe *b); /* NULL is fine */

/* The ids of the len bytes at text: *n of them, of which the first `room` go to ids (room
 * = 0: only counted). Text is text: "<|endoftext|>" gives seven. ERR_INPUT: not UTF-8, or
 * a byte that has no token in this vocabulary. */
bool model_bpe_encode(const struct model_bpe *b, int32_t *ids, size_t room, size_t *n,
                      const char *text, size_t len, struct err *e);
/* The bytes of a token, perhaps only a part of a character; not terminated. *len = 0 and
 * "" for an id without one. */
const char *model_bpe_token(const struct model_bpe *b, int32_t id, size_t *len);
int model_bpe_size(const struct model_bpe *b); /* ids are below this */
/* The id of the special token <|endoftext|>, -1 where there is none. */
int32_t model_bpe_special(const struct model_bpe *b);

/* ---- models from files ------------------------------------------------------------------ */

enum model_act {
    MODEL_GELU_TANH, /* "gelu_new" */
    MODEL_GELU_ERF   /* "gelu" */
};

/* What a model's files are. */
struct model_info {
    char name[128];  /* the folder's or file's last part */
    char format[32]; /* "safetensors", "llm.c 3" */
    char dtype[32];  /* "F32"; "F32 + F16" where they are mixed */
    int64_t n_param; /* a head that is tied is not counted again */
    uint64_t bytes;  /* of all weight files */
    int n_layer, n_head, d_model, d_mlp, n_ctx, n_vocab;
    enum model_act act;
    float eps;
    bool bias;         /* there are biases */
    bool tied;         /* the head is wte */
    bool head_guessed; /* n_head is stated nowhere: 64 columns each, as in GPT-2 */
};

/* Weights that are NaN or infinite, among those read so far. */
struct model_odd {
    int64_t n;
    char first[64]; /* the tensor in which the first was */
};

/* An open model, the text it was fed, and what has been computed for it. One thread at a
 * time; info and tokenizer never change and may be read by others meanwhile. */
struct model_net;

/* path: a folder with config.json and model.safetensors (or its shards and their index), a
 * .safetensors file, or an llm.c checkpoint, version 3 or 5; the last two use config.json
 * and the tokenizer that lie beside them. Reads headers and the tokenizer, no tensor.
 * k: the kernels of every later call. keep_bytes: how much weight may stay in memory, laid
 * out for them; blocks beyond are read again whenever they are run.
 * ERR_INPUT: one line with file, tensor, what was found and what expected. */
bool model_net_open(struct model_net **out, const char *path,
                    const struct attn_kernels *k, size_t keep_bytes, struct err *e);
void model_net_close(struct model_net *m); /* NULL is fine */

const struct model_info *model_net_info(const struct model_net *m);
const struct model_bpe *model_net_bpe(const struct model_net *m); /* NULL: none */
struct model_odd model_net_odd(const struct model_net *m);

/* The text is now these n ids, 1 <= n <= n_ctx. What has been computed for the ids that
 * both texts begin with is kept. ERR_INPUT: an id or count out of range; ERR_SYSTEM: no
 * memory. There is no text then. */
bool model_net_feed(struct model_net *m, const int32_t *ids, int n, struct err *e);
int model_net_tokens(const struct model_net *m); /* n; 0: none */

/* Computes what is missing of blocks 0 .. blocks - 1, so that the input of block `blocks`
 * is there (n_layer: the head's). Call it with model_net_done() + 1 again and again for
 * progress. ERR_CANCELLED: *c->cancel was raised; what was done stays. */
bool model_net_run(struct model_net *m, int blocks, const struct attn_ctx *c,
                   struct err *e);
int model_net_done(const struct model_net *m); /* blocks computed for all tokens */

/* The residual stream that block l reads, l <= done, [n, d_model]; Q, K and V of block l
 * < done, [n, 3*d_model]. Valid until the next feed or run. */
struct attn_cmat model_net_input(const struct model_net *m, int l);
struct attn_cmat model_net_qkv(const struct model_net *m, int l);

/* Block l < n_layer, l <= done, for attn_run: its weights, h, x and the tokens' texts (raw
 * bytes; the ids in digits where there is no tokenizer), all of it in mem, which needs
 * model_net_view_bytes, and of the net's life no part. */
size_t model_net_view_bytes(const struct model_net *m);
bool model_net_view(struct model_net *m, struct model *view, int l, struct arena *mem,
                    const struct attn_ctx *c, struct err *e);

/* The head: logits [n_vocab] of what follows token `row`, once all blocks are done. The
 * head's weights are read at the first call and stay in memory. */
bool model_net_logits(struct model_net *m, float *logits, int row,
                      const struct attn_ctx *c, struct err *e);

struct model_next {
    int32_t id;
    float logit, p; /* p: softmax over all logits */
};
/* The likeliest n <= k of them, falling; returns n. NaN is never among them. */
int model_next_top(struct model_next *top, int k, const float *logits, int n_vocab);

/* ---- arrays as numpy keeps them: .npy and .npz -------------------------------------------- */

enum { MODEL_RANK = 8 };

/* Numbers of any rank, row-major: rows of the last axis lie ld elements apart. Rank 0 is
 * one number. */
struct model_array {
    const float *data;
    int64_t shape[MODEL_RANK];
    int rank;
    int64_t ld;       /* at least the last size */
    char dtype[8];    /* what was read had: "<f4", ">f8", "bf16" */
    struct arena mem; /* what was read is here */
};
struct model_array model_array_of(struct attn_cmat m); /* a view: rank 2 */
int64_t model_array_count(const struct model_array *a);
void model_array_free(struct model_array *a); /* zeroed or a view is fine */

/* Version 1.0, little-endian float32, C order; whole or not at all. */
bool model_npy_write(const char *path, const struct model_array *a, struct err *e);

/* Reads f2, f4 and f8 in either byte order and bfloat16 as uint16 (or as numpy's two
 * nameless bytes, V2), C or Fortran order, into float32 in C order: at most `most`
 * numbers. ERR_INPUT: anything else, objects among it, which are pickles and so code. */
bool model_npy_read(struct model_array *a, const char *path, int64_t most, struct err *e);

/* An .npz that is written: stored, or deflated. Whoever begins it, ends it or drops it. */
struct model_npz_out;
/* most: arrays there is room for. */
bool model_npz_begin(struct model_npz_out **z, const char *path, bool deflate, int most,
                     struct err *e);
/* name without ".npy", up to 250 bytes. false: the whole file is dropped. */
bool model_npz_add(struct model_npz_out *z, const char *name, const struct model_array *a,
                   struct err *e);
/* Frees z, whether it succeeds or not. */
bool model_npz_end(struct model_npz_out *z, struct err *e);
void model_npz_drop(struct model_npz_out *z); /* NULL is fine */

/* An .npz that is read. Opening checks the whole directory: no two entries share a name
 * or a byte, no path leaves the archive. Nothing is ever unpacked to a file. */
struct model_npz;
bool model_npz_open(struct model_npz **z, const char *path, struct err *e);
void model_npz_close(struct model_npz *z); /* NULL is fine */
int model_npz_count(const struct model_npz *z);
const char *model_npz_name(const struct model_npz *z, int i); /* without ".npy" */
/* As model_npy_read; what does not match its checksum is refused too. */
bool model_npz_read(struct model_npz *z, int i, struct model_array *a, int64_t most,
                    struct err *e);

#endif
