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
    float eps;                      /* of ln_1 */
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

/* n numbers of mean 0 and variance 1, the first of one stream of many that a seed has; the
 * same everywhere. */
void model_normals(float *out, size_t n, uint32_t seed, uint32_t stream);

/* ---- the toy's words ------------------------------------------------------------------ */

enum {
    MODEL_TOY_D = 8, /* d_model of the toy */
    MODEL_WORDS_MOST = 8,
    MODEL_WORD_BYTES = 48
};
/* A text as words and signs, each with a space before it where there was one. */
struct model_words {
    int n;
    char text[MODEL_WORDS_MOST][MODEL_WORD_BYTES + 2];
};
/* ERR_INPUT: no word, too many, one that is too long, no UTF-8; w stays as it was. */
bool model_words_split(struct model_words *w, const char *text, size_t n, struct err *e);
/* What model_make's toy reads. */
struct model_words model_words_first(void);
/* The toy with other words: h_i = embedding of word i + position i, rounded once. With the
 * first words it is model_make's, to the bit. */
bool model_make_words(struct model *m, const struct model_words *words, uint32_t seed,
                      struct arena *mem, const struct attn_ctx *c, struct err *e);
size_t model_words_bytes(void); /* of arena that it needs at most */
/* [MODEL_TOY_D] each: functions of the word, of i, and of the seed alone. A space before a
 * word is no part of it. */
void model_embedding(double *out, const char *word, uint32_t seed);
void model_position(float *out, int i, uint32_t seed);

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
/* Block l reads h, [n, d_model], and not what the blocks before give it; what follows is
 * computed from there. It holds for the net's present text, the last that it is fed. */
void model_net_put(struct model_net *m, int l, struct attn_cmat h);

/* Block l < n_layer, l <= done, for attn_run: its weights, h, x and the tokens' texts (raw
 * bytes; the ids in digits where there is no tokenizer), all of it in mem, which needs
 * model_net_view_bytes, and of the net's life no part. */
size_t model_net_view_bytes(const struct model_net *m);
bool model_net_view(struct model_net *m, struct model *view, int l, struct arena *mem,
                    const struct attn_ctx *c, struct err *e);
/* Its two halves, in memory of their own: the weights, which are the same for every text;
 * and h, x and the tokens of the text as it is, in a view that has the block's weights. */
size_t model_net_view_weights_bytes(const struct model_net *m);
bool model_net_view_weights(struct model_net *m, struct model *view, int l,
                            struct arena *mem, const struct attn_ctx *c, struct err *e);
size_t model_net_view_text_bytes(const struct model_net *m);
bool model_net_view_text(struct model_net *m, struct model *view, int l,
                         struct arena *mem, const struct attn_ctx *c, struct err *e);

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
 * nameless bytes, V2) and uint8, C or Fortran order, into float32 in C order: at most `most`
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
/* n bytes, as an array of uint8 that numpy's tobytes() gives back. */
bool model_npz_add_bytes(struct model_npz_out *z, const char *name, const void *data,
                         size_t n, struct err *e);
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

/* ---- every number of a block --------------------------------------------------------------- */

/* What a dump holds and a comparison compares, in the order in which it is computed. The
 * shapes are those of struct model_numbers. */
enum model_tensor {
    MODEL_T_H, /* [n_tok, d_model] what ln_1 read */
    MODEL_T_X, /* [n_tok, d_model] */
    MODEL_T_Q, /* [n_tok, d_model] heads side by side; so k, v and z */
    MODEL_T_K,
    MODEL_T_V,
    MODEL_T_SCORES, /* [n_head, n_tok, n_tok]; so the next three */
    MODEL_T_SCALED,
    MODEL_T_MASKED,
    MODEL_T_WEIGHTS,
    MODEL_T_Z,       /* each head's weighted sum */
    MODEL_T_MERGED,  /* [n_tok, d_model] what W_O is given */
    MODEL_T_Y_PROJ,  /* [n_tok, d_model] */
    MODEL_T_Y,       /* [n_tok, d_model] with the residual */
    MODEL_T_LN_2,    /* [n_tok, d_model] */
    MODEL_T_MLP_FC,  /* [n_tok, d_mlp] */
    MODEL_T_MLP_ACT, /* [n_tok, d_mlp] */
    MODEL_T_MLP_OUT, /* [n_tok, d_model] */
    MODEL_T_BLOCK,   /* [n_tok, d_model] what the next block reads */
    MODEL_T_W_QKV,   /* [d_model, 3*d_model]; from here on parameters */
    MODEL_T_B_QKV,   /* [3*d_model] */
    MODEL_T_W_O,     /* [d_model, d_model] */
    MODEL_T_B_O,     /* [d_model] */
    MODEL_T_COUNT
};
/* As in files' names: "h", "x", ..., "weights", "w_qkv". */
const char *model_tensor_name(enum model_tensor t);
/* Whether each head has one of its own. */
bool model_tensor_has_heads(enum model_tensor t);

/* The second half of a block. */
struct model_mlp {
    int width; /* d_mlp */
    enum model_act act;
    const float *ln_gain, *ln_bias; /* [d_model]; bias NULL: none */
    struct attn_cmat w_fc, w_proj;  /* [d_model, width] [width, d_model] */
    const float *b_fc, *b_proj;     /* NULL: none */
};
/* Block l's, copied into mem, which needs model_net_mlp_bytes. */
size_t model_net_mlp_bytes(const struct model_net *m);
bool model_net_mlp(struct model_net *m, struct model_mlp *out, int l, struct arena *mem,
                   struct err *e);
/* The second half of a block, taken apart; views of mem, which needs model_mlp_run_bytes. */
struct model_mlp_out {
    struct attn_cmat ln_2, fc, act, out, block; /* act: after the activation */
};
size_t model_mlp_run_bytes(struct attn_dims d, int width);
bool model_mlp_run(struct model_mlp_out *out, const struct model_mlp *mlp, float eps,
                   struct attn_cmat y, struct arena *mem, const struct attn_ctx *c,
                   struct err *e);
/* What block 0 reads: wte[id] + wpe[i + shift], out [n, d_model]; without_positions: wte
 * alone. ERR_INPUT: there is no such position. */
bool model_net_embed(struct model_net *m, float *out, const int32_t *ids, int n,
                     int shift, bool without_positions, struct err *e);

/* A block and what it reads. */
struct model_block {
    const struct model *model;   /* weights and ln_1; its h is not read */
    const struct model_mlp *mlp; /* NULL: the block ends with y */
    struct attn_cmat h;          /* [n_tok, d_model] */
    struct attn_opts opts;
    float eps; /* of both layer norms */
    /* Numbers that are given, in the order of their tensors; those of the weights are in
     * the model's already, those of h in h. */
    const struct attn_edit *edits;
    int n_edit;
};

/* All of them for all heads; NULL where the block has none. Starts zeroed. */
struct model_numbers {
    float *at[MODEL_T_COUNT];
    struct attn_dims dims;
    int d_mlp;
    struct arena mem;
};
int64_t model_numbers_count(const struct model_numbers *v, enum model_tensor t);
/* Computes them, stage by stage, up to and with `last`; memory is kept from call to call.
 * ERR_SYSTEM: no memory. */
bool model_numbers_run(struct model_numbers *v, const struct model_block *b,
                       enum model_tensor last, const struct attn_ctx *c, struct err *e);
void model_numbers_free(struct model_numbers *v);

/* ---- somebody's numbers beside ours ----------------------------------------------------------- */

/* How far theirs is from ours. Where ours is -INFINITY, theirs may be any number a mask is
 * made of, -9000 or less. */
struct model_diff {
    int64_t n, n_bad;         /* cells, and those beyond the tolerance */
    int64_t first, worst;     /* cells: the first beyond it, and the farthest; -1: none */
    double max_abs, mean_abs; /* of the finite pairs */
    double relative;          /* |theirs - ours| / |ours|, as vectors */
    double cosine;            /* 1 where both are zero */
    int64_t n_odd;            /* NaN or infinite in one of them alone */
};
/* Which heads' cells count: cell i is of head i / each % n. */
struct model_heads {
    const bool *has; /* [n], or NULL: head `only` alone */
    int only, n;
    int64_t each;
};
/* A cell is beyond the tolerance where |theirs - ours| > tolerance * (|ours| + rms), rms
 * of all of ours. Where ours is NaN nothing is compared. heads NULL: all cells count. */
struct model_diff model_diff_of(const float *ours, const float *theirs, int64_t n,
                                const struct model_heads *heads, double tolerance);
#define MODEL_MASK_LIKE (-9000.0f) /* old code masks with -10000, newer with less */
#define MODEL_TOLERANCE 5e-5       /* some twenty times what float32 rounding comes to */

/* A folder of .npy files, an .npz, or one .npy: names, and arrays when they are asked
 * for. */
struct model_dump;
bool model_dump_open(struct model_dump **d, const char *path, struct err *e);
void model_dump_close(struct model_dump *d); /* NULL is fine */
int model_dump_count(const struct model_dump *d);
/* Without ".npy"; valid until the next call. */
const char *model_dump_name(struct model_dump *d, int i);
bool model_dump_read(struct model_dump *d, int i, struct model_array *a, int64_t most,
                     struct err *e);

/* How a dump's names are to be read. */
struct model_want {
    int block;        /* the one that is wanted, from 0 */
    int first;        /* what the dump's names call block 0 */
    int usual_block;  /* of arrays whose name says none */
    int head;         /* of single heads whose name says none; -1: the one that fits */
    double tolerance; /* 0: MODEL_TOLERANCE, or what a dump in half precision allows */
};
/* Which number the dump's names begin to count blocks from: 1 where block 0 is not in it
 * and block n_block is, else 0. ERR_INPUT: a block beyond. */
bool model_dump_first(struct model_dump *d, int n_block, int *first, struct err *e);
/* Whether there is something of that block. */
bool model_dump_has_block(struct model_dump *d, const struct model_want *want);
/* The tokens that its arrays are of: n_tok, or one more. ERR_INPUT: neither fits. */
bool model_dump_tokens(struct model_dump *d, const struct model_want *want,
                       struct attn_dims dims, int d_mlp, int *n_tok, struct err *e);

/* What a dump has of one block, each laid out as in struct model_numbers. */
enum { MODEL_NOTES = 48, MODEL_NAME = 96 };
struct model_theirs {
    float *at[MODEL_T_COUNT];      /* NULL: not in the dump */
    bool *has_head[MODEL_T_COUNT]; /* [n_head]; of tensors that have heads */
    double tolerance[MODEL_T_COUNT];
    char name[MODEL_T_COUNT][MODEL_NAME]; /* of the array, the first of several */
    char note[MODEL_NOTES][256];          /* what was ambiguous, or left out */
    int n_note;
    struct attn_dims dims;
    int d_mlp;
    struct arena mem;
};
/* ours: of that block. ERR_INPUT: an array of the block cannot be read, or has a name
 * that is known and a shape that it cannot have. */
bool model_theirs_read(struct model_theirs *t, struct model_dump *d,
                       const struct model_want *want, const struct model_numbers *ours,
                       struct err *e);
void model_theirs_free(struct model_theirs *t); /* zeroed is fine */
/* Of a tensor that is there, over the heads that are. */
struct model_diff model_theirs_diff(const struct model_theirs *t, enum model_tensor id,
                                    const float *ours);

/* ---- what went wrong ---------------------------------------------------------------------------- */

/* The mistake that gives somebody's numbers. */
struct model_diagnosis {
    const char *name; /* "no-scale"; NULL: none that is known */
    const char *text; /* what the code does, in one sentence */
    double relative;  /* what of the first difference is left with it */
    bool whole;       /* all later tensors of the dump are as the mistake makes them */
    enum model_tensor next; /* else: the first that is not */
};
/* theirs differs from ours first in `first`. Every mistake is tried in block b; the one
 * that gives theirs most closely is named. ERR_SYSTEM, ERR_CANCELLED. */
bool model_diagnose(struct model_diagnosis *out, const struct model_block *b,
                    const struct model_theirs *theirs, enum model_tensor first,
                    const struct attn_ctx *c, struct err *e);
/* Whether numbers of another run, v, are theirs: `first` within the tolerance. Fills in
 * all but name and text. */
bool model_explains(struct model_diagnosis *out, const struct model_numbers *v,
                    const struct model_theirs *theirs, enum model_tensor first);
/* The mistakes that are tried, in order; NULL: past the last. */
const char *model_mistake_name(int i);
const char *model_mistake_text(int i);
/* model_numbers_run with mistake i in it, or, i = -1, with none. */
bool model_numbers_mistaken(struct model_numbers *v, const struct model_block *b, int i,
                            enum model_tensor last, const struct attn_ctx *c,
                            struct err *e);

#endif
