/* The inside of an open model: which memory lives how long.
 *
 *   mem      the struct itself, the layout; until it is closed
 *   block[]  one arena for each block kept, packed for the kernels
 *   spare    the last block that is not kept
 *   wte, wpe the rows of the embeddings that texts have needed
 *   text     the residual stream, Q K V and packed keys of every block; until the text
 *            outgrows it
 *   head     the head in chunks, once it has been asked for                            */
#ifndef HEADLIGHT_MODEL_NET_H
#define HEADLIGHT_MODEL_NET_H

#include "layout.h"
#include "model.h"
#include "weights.h"

/* One block's weights in memory. Pointers are into its arena. */
struct block {
    struct arena mem;
    int l;                    /* which one; -1: none */
    float *ln_1[2], *ln_2[2]; /* gain, bias [d_model]; bias NULL where there is none */
    struct attn_weights attn; /* biases and packed alone; the views are empty */
    struct attn_packed *packed;
    struct attn_linear fc, proj;
};

/* Tokens in one of the head's linear layers: a multiple of every panel's width, and rows
 * of so many floats do not all fall into one cache set. */
enum { HEAD_CHUNK = 960 };

/* What arena_push may round off in up to 16 allocations of one arena. */
enum { ROUNDING = 16 * 64 };

struct head {
    struct arena mem;
    float *ln_f[2];
    struct attn_linear *chunk; /* [n_chunk], each [d_model, up to HEAD_CHUNK] */
    int n_chunk, n_read;       /* of so many so many have been read; 0, 0: not begun */
};

/* Rows of an embedding that have been read: row i is number at[i] - 1. */
struct rows {
    struct arena mem; /* the lists */
    int32_t *at;
    struct arena *part;
    int n, n_part;
};

/* What is kept of the text. Row i of everything belongs to token i. */
struct text {
    struct arena mem;
    int room, n;      /* tokens */
    int32_t *ids;     /* [room] */
    int *valid;       /* [n_layer + 1] how many rows of block l's input are right */
    float *h;         /* [n_layer + 1][room, d_model] */
    float *qkv;       /* [n_layer][room, ld_qkv] */
    void **keys;      /* [n_layer] attn_block_from's work */
    float *x, *y, *z; /* [room, d_model] of the block being run */
    float *mlp;       /* [room, d_mlp] */
    int ld_qkv;
};

struct model_net {
    struct arena mem;
    struct weights weights;
    struct layout layout;
    struct model_info info;
    struct model_bpe *bpe;
    const struct attn_kernels *k;
    struct block *block; /* [n_layer] */
    struct block spare;
    size_t keep_bytes, kept_bytes;
    struct arena staging; /* one block's matrices as the file has them, while packing */
    struct rows wte, wpe;
    struct text text;
    struct head head;
    struct model_odd odd;
};

struct attn_dims net_dims(const struct model_net *m, int n_tok);
bool net_cancelled(const struct attn_ctx *c, struct err *e);

/* ---- block.c */

/* Block l's weights, read now if they are not in memory. NULL: *e says why. */
const struct block *block_get(struct model_net *m, int l, const struct attn_ctx *c,
                              struct err *e);
void block_free(struct block *b);
/* The two vectors of a layer norm into [d_model] each; to[1] may be NULL. */
bool norm_read(struct model_net *m, float *const to[2], const struct tensor_at *gain,
               const struct tensor_at *bias, struct err *e);

/* ---- rows.c */

/* Row i of t, read now if it was not before; NULL: *e says why. */
const float *rows_read(struct model_net *m, struct rows *r, const struct tensor_at *t,
                       int i, struct err *e);
/* The same where it has been read, else NULL. */
const float *rows_have(const struct rows *r, int i, size_t width);
void rows_free(struct rows *r);

/* ---- text.c: row i of block l's input [d_model], and of its Q K V [3*d_model] */
float *text_input(const struct model_net *m, int l, int i);
float *text_qkv(const struct model_net *m, int l, int i);

/* ---- head.c */

/* Whether the head is in memory and is wte; then out [d_model] can be token id's row. */
bool head_has_wte(const struct model_net *m);
void head_wte_row(const struct model_net *m, int32_t id, float *out);
void head_free(struct head *h);

#endif
