/* Finds GPT-2's tensors in a list and compares their shapes with the dimensions. */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum extent { NONE, D, D3, MLP, CONTEXT, VOCAB };

/* rows and columns; a vector has rows alone. */
struct part_shape {
    const char *name;
    enum extent rows, cols;
    bool is_bias;
};
static const struct part_shape parts[PART_COUNT] = {
    [LN_1_WEIGHT] = {"ln_1.weight", D, NONE, false},
    [LN_1_BIAS] = {"ln_1.bias", D, NONE, true},
    [C_ATTN_WEIGHT] = {"attn.c_attn.weight", D, D3, false},
    [C_ATTN_BIAS] = {"attn.c_attn.bias", D3, NONE, true},
    [C_PROJ_WEIGHT] = {"attn.c_proj.weight", D, D, false},
    [C_PROJ_BIAS] = {"attn.c_proj.bias", D, NONE, true},
    [LN_2_WEIGHT] = {"ln_2.weight", D, NONE, false},
    [LN_2_BIAS] = {"ln_2.bias", D, NONE, true},
    [C_FC_WEIGHT] = {"mlp.c_fc.weight", D, MLP, false},
    [C_FC_BIAS] = {"mlp.c_fc.bias", MLP, NONE, true},
    [MLP_PROJ_WEIGHT] = {"mlp.c_proj.weight", MLP, D, false},
    [MLP_PROJ_BIAS] = {"mlp.c_proj.bias", D, NONE, true},
};

struct binding {
    const struct weights *w;
    const struct config *c;
    bool bias;
};

static uint64_t extent_of(const struct config *c, enum extent x)
{
    const int64_t size[] = {[NONE] = 0,       [D] = c->d_model,     [D3] = 3 * c->d_model,
                            [MLP] = c->d_mlp, [CONTEXT] = c->n_ctx, [VOCAB] = c->n_vocab};
    return (uint64_t)size[x];
}

/* Checks what was found under a name; NULL: *e says what is wrong. */
static const struct tensor_at *checked(const struct binding *b, const char *name,
                                       const struct part_shape *p, struct err *e)
{
    const struct tensor_at *t = weights_find(b->w, name);
    uint64_t want[2] = {extent_of(b->c, p->rows), extent_of(b->c, p->cols)};
    int rank = p->cols == NONE ? 1 : 2;
    char found[SHAPE_TEXT], expected[SHAPE_TEXT];
    (void)shape_text(expected, want, rank);
    if (!t) {
        (void)err_set(e, ERR_INPUT, "%s: %s: is missing, expected with shape %s",
                      b->w->files[0].name, name, expected);
        return NULL;
    }
    const char *file = b->w->files[t->file].name;
    (void)shape_text(found, t->shape, t->rank);
    bool turned = rank == 2 && t->rank == 2 && t->shape[0] == want[1] &&
                  t->shape[1] == want[0] && want[0] != want[1];
    bool fits = t->rank == rank && t->shape[0] == want[0] &&
                (rank == 1 || t->shape[1] == want[1]);
    if (turned)
        (void)err_set(e, ERR_INPUT,
                      "%s: %s: shape %s, expected %s: it is transposed ([out, in]); turn "
                      "the matrices of all blocks when exporting",
                      file, name, found, expected);
    else if (!fits)
        (void)err_set(e, ERR_INPUT, "%s: %s: shape %s, expected %s (%s)", file, name,
                      found, expected, b->c->from);
    else if (t->dtype == DTYPE_OTHER)
        (void)err_set(e, ERR_INPUT, "%s: %s: dtype %s, expected F32, F16 or BF16", file,
                      name, t->dtype_name);
    else
        return t;
    return NULL;
}

static bool bind_one(const struct binding *b, const struct tensor_at **out,
                     const char *name, enum extent rows, enum extent cols, struct err *e)
{
    *out = checked(b, name, &(struct part_shape){name, rows, cols, false}, e);
    return *out != NULL;
}

static bool bind_block(const struct binding *b, const struct tensor_at **out, int64_t l,
                       struct err *e)
{
    for (int p = 0; p < PART_COUNT; p++) {
        char name[64];
        if (parts[p].is_bias && !b->bias) continue;
        (void)snprintf(name, sizeof name, "h.%jd.%s", (intmax_t)l, parts[p].name);
        out[p] = checked(b, name, &parts[p], e);
        if (!out[p]) return false;
    }
    return true;
}

/* Looks at every name once: whether there are biases (the mask buffers of old files,
 * h.N.attn.bias, are none), and whether there are more blocks than was said. */
static bool survey(struct binding *b, struct err *e)
{
    for (int f = 0; f < b->w->n_file; f++)
        for (int i = 0; i < b->w->files[f].n_tensor; i++) {
            const char *name = b->w->files[f].tensors[i].name;
            if (file_ends_with(name, ".bias") && !file_ends_with(name, ".attn.bias"))
                b->bias = true;
            if (strncmp(name, "h.", 2) != 0) continue;
            char *end = NULL;
            unsigned long long l = strtoull(name + 2, &end, 10);
            if (*end == '.' && l >= (unsigned long long)b->c->n_layer)
                return err_set(e, ERR_INPUT,
                               "%s: %.100s: there are %jd blocks, says %s, and this is "
                               "another",
                               b->w->files[f].name, name, (intmax_t)b->c->n_layer,
                               b->c->from);
        }
    return true;
}

bool layout_check(const struct weights *w, const struct config *c, struct err *e)
{
    int64_t n = 0;
    for (int f = 0; f < w->n_file; f++) n += w->files[f].n_tensor;
    if (c->n_layer > n)
        return err_set(e, ERR_INPUT, "%s: n_layer %jd, the model has only %jd tensors",
                       c->from, (intmax_t)c->n_layer, (intmax_t)n);
    if (c->d_model % c->n_head != 0)
        return err_set(e, ERR_INPUT, "%s: n_head %jd does not divide n_embd %jd", c->from,
                       (intmax_t)c->n_head, (intmax_t)c->d_model);
    return true;
}

static bool bind_head(const struct binding *b, struct layout *l, struct err *e)
{
    l->head = l->wte;
    bool there = weights_find(b->w, "lm_head.weight") != NULL;
    if (b->c->tie == 1 || (b->c->tie == -1 && !there)) return true;
    return bind_one(b, &l->head, "lm_head.weight", VOCAB, D, e);
}

size_t layout_bytes(const struct config *c)
{
    return (size_t)c->n_layer * PART_COUNT * sizeof(void *) + 64;
}

bool layout_bind(struct layout *l, const struct weights *w, const struct config *c,
                 struct arena *mem, struct err *e)
{
    struct binding b = {.w = w, .c = c};
    *l = (struct layout){.config = *c};
    if (!survey(&b, e)) return false;
    l->bias = b.bias;
    l->block = arena_push(mem, (size_t)c->n_layer, sizeof *l->block);
    if (!l->block) return err_set(e, ERR_SYSTEM, "no memory for the list of blocks");
    for (int64_t i = 0; i < c->n_layer; i++)
        if (!bind_block(&b, l->block[i], i, e)) return false;
    return bind_one(&b, &l->wte, "wte.weight", VOCAB, D, e) &&
           bind_one(&b, &l->wpe, "wpe.weight", CONTEXT, D, e) &&
           bind_one(&b, &l->ln_f_weight, "ln_f.weight", D, NONE, e) &&
           (!b.bias || bind_one(&b, &l->ln_f_bias, "ln_f.bias", D, NONE, e)) &&
           bind_head(&b, l, e);
}

static void count(const struct tensor_at *t, struct model_info *info, bool seen[3])
{
    if (!t) return;
    info->n_param += (int64_t)(t->bytes / (t->dtype == DTYPE_F32 ? 4 : 2));
    seen[t->dtype] = true;
}

void layout_info(const struct layout *l, struct model_info *info)
{
    static const char *const names[] = {"F32", "F16", "BF16"};
    const struct config *c = &l->config;
    bool seen[3] = {false};
    for (int64_t i = 0; i < c->n_layer; i++)
        for (int p = 0; p < PART_COUNT; p++) count(l->block[i][p], info, seen);
    const struct tensor_at *const rest[] = {l->wte, l->wpe, l->ln_f_weight, l->ln_f_bias,
                                            l->head == l->wte ? NULL : l->head};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) count(rest[i], info, seen);
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(info->dtype);
        if (seen[i])
            (void)snprintf(info->dtype + n, sizeof info->dtype - n, "%s%s",
                           n ? " + " : "", names[i]);
    }
    info->n_layer = (int)c->n_layer;
    info->n_head = (int)c->n_head;
    info->d_model = (int)c->d_model;
    info->d_mlp = (int)c->d_mlp;
    info->n_ctx = (int)c->n_ctx;
    info->n_vocab = (int)c->n_vocab;
    info->act = c->act;
    info->eps = (float)c->eps;
    info->bias = l->bias;
    info->tied = l->head == l->wte;
    info->head_guessed = c->head_guessed;
}
