/* An llm.c checkpoint: a header of 256 integers, then every tensor for all blocks at once,
 * matrices as [out, in]. The file says how many of each there are, so its size is known
 * and has to be right. Source: karpathy/llm.c, train_gpt2.py, write_model. */
#include "strict_json.h"
#include "weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAGIC = 20240326,
    HEADER = 256,  /* integers of 32 bits */
    NAME_ROOM = 64 /* of a tensor, rounded as arena_push does */
};

/* What a tensor has of rows and columns, in the checkpoint's own order. */
enum extent { ONE, D, D3, D4, VOCAB, CONTEXT };
struct entry {
    const char *name;
    enum extent in, out; /* a vector's in is ONE */
    bool a_block;        /* one for each block */
};
static const struct entry entries[] = {
    {"wte.weight", VOCAB, D, false},     {"wpe.weight", CONTEXT, D, false},
    {"ln_1.weight", ONE, D, true},       {"ln_1.bias", ONE, D, true},
    {"attn.c_attn.weight", D, D3, true}, {"attn.c_attn.bias", ONE, D3, true},
    {"attn.c_proj.weight", D, D, true},  {"attn.c_proj.bias", ONE, D, true},
    {"ln_2.weight", ONE, D, true},       {"ln_2.bias", ONE, D, true},
    {"mlp.c_fc.weight", D, D4, true},    {"mlp.c_fc.bias", ONE, D4, true},
    {"mlp.c_proj.weight", D4, D, true},  {"mlp.c_proj.bias", ONE, D, true},
    {"ln_f.weight", ONE, D, false},      {"ln_f.bias", ONE, D, false},
};
enum { ENTRY_COUNT = sizeof entries / sizeof entries[0], BLOCK_ENTRIES = 12 };

struct header {
    int version, context, vocab, layers, heads, d, padded;
};

static bool read_header(struct header *h, const struct file_in *in, struct err *e)
{
    int32_t v[HEADER];
    if (in->size < sizeof v)
        return err_set(e, ERR_INPUT, "%ju bytes are no llm.c checkpoint",
                       (uintmax_t)in->size);
    if (!file_read_at(in, v, sizeof v, 0, e)) return false;
    if (v[0] != MAGIC)
        return err_set(e, ERR_INPUT, "begins with %d, an llm.c checkpoint begins with %d",
                       v[0], MAGIC);
    if (v[1] != 3 && v[1] != 5)
        return err_set(e, ERR_INPUT,
                       "llm.c checkpoint of version %d; 3 (F32) and 5 (BF16) are read",
                       v[1]);
    *h = (struct header){v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
    const struct {
        const char *what;
        int value, max;
    } checks[] = {{"context", h->context, CONTEXT_MAX},
                  {"vocabulary", h->vocab, VOCAB_MAX},
                  {"layers", h->layers, LAYERS_MAX},
                  {"heads", h->heads, D_MODEL_MAX},
                  {"channels", h->d, D_MODEL_MAX},
                  {"padded vocabulary", h->padded, VOCAB_MAX}};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].value < 1 || checks[i].value > checks[i].max)
            return err_set(e, ERR_INPUT, "header: %s %d is not in 1 to %d",
                           checks[i].what, checks[i].value, checks[i].max);
    if (h->padded < h->vocab)
        return err_set(e, ERR_INPUT, "header: padded vocabulary %d is less than %d",
                       h->padded, h->vocab);
    return true;
}

static uint64_t extent_of(const struct header *h, enum extent x)
{
    const uint64_t d = (uint64_t)h->d;
    const uint64_t size[] = {[ONE] = 1,
                             [D] = d,
                             [D3] = 3 * d,
                             [D4] = 4 * d,
                             [VOCAB] = (uint64_t)h->padded,
                             [CONTEXT] = (uint64_t)h->context};
    return size[x];
}

/* The limits on the header keep this below 2^60: 4096 * 13 entries of 4 * 2^40 bytes. */
static uint64_t bytes_of(const struct header *h, const struct entry *t)
{
    uint64_t size = h->version == 3 ? 4 : 2;
    return size * extent_of(h, t->in) * extent_of(h, t->out);
}

static bool check_size(const struct header *h, uint64_t size, struct err *e)
{
    uint64_t need = HEADER * sizeof(int32_t);
    for (int i = 0; i < ENTRY_COUNT; i++)
        need += bytes_of(h, &entries[i]) * (entries[i].a_block ? (uint64_t)h->layers : 1);
    if (need == size) return true;
    return err_set(e, ERR_INPUT,
                   "%ju bytes, its header (%d layers, %d channels) needs %ju: %s",
                   (uintmax_t)size, h->layers, h->d, (uintmax_t)need,
                   size < need ? "it is truncated" : "it is another format");
}

static void set_tensor(struct tensor_at *t, const struct header *h, const struct entry *x,
                       uint64_t at)
{
    t->at = at;
    t->bytes = bytes_of(h, x);
    if (x->in == VOCAB) /* rows up to the padded vocabulary belong to no token */
        t->bytes = t->bytes / (uint64_t)h->padded * (uint64_t)h->vocab;
    t->dtype = h->version == 3 ? DTYPE_F32 : DTYPE_BF16;
    t->dtype_name = h->version == 3 ? "F32" : "BF16";
    t->rank = x->in == ONE ? 1 : 2;
    t->shape[0] = extent_of(h, x->in == ONE ? x->out : x->in);
    t->shape[1] = x->in == ONE ? 0 : extent_of(h, x->out);
    if (x->in == VOCAB) t->shape[0] = (uint64_t)h->vocab;
    t->transposed = t->rank == 2 && x->a_block;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tensor_at *)a)->name,
                  ((const struct tensor_at *)b)->name);
}

static bool list_tensors(struct weight_file *f, const struct header *h, const char *file,
                         int index, struct err *e)
{
    size_t n = (size_t)h->layers * BLOCK_ENTRIES + (ENTRY_COUNT - BLOCK_ENTRIES);
    size_t bytes = n * (sizeof *f->tensors + NAME_ROOM) + strlen(file) + 256;
    if (!arena_init(&f->mem, bytes, e)) return false;
    f->name = arena_text(&f->mem, file, strlen(file));
    f->tensors = arena_push(&f->mem, n, sizeof *f->tensors);
    if (!f->name || !f->tensors)
        return err_set(e, ERR_SYSTEM, "no memory for the tensors");
    uint64_t at = HEADER * sizeof(int32_t);
    for (int i = 0; i < ENTRY_COUNT; i++) {
        int count = entries[i].a_block ? h->layers : 1;
        for (int l = 0; l < count; l++) {
            char name[NAME_ROOM];
            int len = entries[i].a_block
                          ? snprintf(name, sizeof name, "h.%d.%s", l, entries[i].name)
                          : snprintf(name, sizeof name, "%s", entries[i].name);
            struct tensor_at *t = &f->tensors[f->n_tensor++];
            set_tensor(t, h, &entries[i], at);
            t->file = index;
            t->name = arena_text(&f->mem, name, len > 0 ? (size_t)len : 0);
            if (!t->name) return err_set(e, ERR_SYSTEM, "no memory for the tensors");
            at += bytes_of(h, &entries[i]);
        }
    }
    qsort(f->tensors, n, sizeof *f->tensors, by_name);
    return true;
}

bool llmc_open(struct weights *w, struct config *c, const char *path, struct err *e)
{
    struct weight_file *f = &w->files[w->n_file++];
    struct header h = {0};
    if (!file_open(&f->in, path, e)) return false;
    if (!read_header(&h, &f->in, e) || !check_size(&h, f->in.size, e) ||
        !list_tensors(f, &h, path_last(path), w->n_file - 1, e))
        return err_at(e, path_last(path));
    *c = (struct config){
        .from = f->name,
        .n_layer = h.layers,
        .n_head = h.heads,
        .d_model = h.d,
        .d_mlp = 4 * (int64_t)h.d,
        .n_ctx = h.context,
        .n_vocab = h.vocab,
        .act = MODEL_GELU_TANH, /* llm.c has no other */
        .eps = 1e-5,            /* nor another epsilon */
        .tie = 1,
    };
    return true;
}
