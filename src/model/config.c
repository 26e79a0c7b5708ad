/* A model's dimensions: from config.json, or from the tensors where there is none. */
#include "strict_json.h"
#include "weights.h"

#include <stdio.h>
#include <string.h>

enum { CONFIG_MAX = 1 << 20, D_HEAD = 64 };

/* An integer in 1..max under the first of two names that is there; otherwise `or`, and
 * where that is 0 an error. */
struct number {
    const char *name, *also;
    int64_t max, or ;
    int64_t *out;
};

static bool read_number(const json_t *root, const struct number *n, struct err *e)
{
    const json_t *v = json_object_get(root, n->name);
    const char *name = n->name;
    if ((!v || json_is_null(v)) && n->also) {
        v = json_object_get(root, n->also);
        name = n->also;
    }
    if (!v || json_is_null(v)) {
        if (n->or == 0) return err_set(e, ERR_INPUT, "%s is missing", n->name);
        *n->out = n->or ;
        return true;
    }
    if (!json_is_integer(v)) return err_set(e, ERR_INPUT, "%s is no whole number", name);
    int64_t i = json_integer_value(v);
    if (i < 1 || i > n->max)
        return err_set(e, ERR_INPUT, "%s %jd is not in 1 to %jd", name, (intmax_t)i,
                       (intmax_t)n->max);
    *n->out = i;
    return true;
}

static bool read_act(const json_t *root, enum model_act *act, struct err *e)
{
    static const struct {
        const char *name;
        enum model_act act;
    } acts[] = {{"gelu_new", MODEL_GELU_TANH},
                {"gelu_pytorch_tanh", MODEL_GELU_TANH},
                {"gelu_fast", MODEL_GELU_TANH},
                {"gelu", MODEL_GELU_ERF}};
    const json_t *v = json_object_get(root, "activation_function");
    *act = MODEL_GELU_TANH;
    if (!v) return true;
    const char *name = json_string_value(v);
    for (size_t i = 0; name && i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(name, acts[i].name) == 0) {
            *act = acts[i].act;
            return true;
        }
    return err_set(e, ERR_INPUT,
                   "activation_function \"%.40s\"; gelu_new or gelu is read",
                   name ? name : "?");
}

/* What would make the attention another one than the seven stages show. */
static bool check_kind(const json_t *root, struct err *e)
{
    const json_t *type = json_object_get(root, "model_type");
    if (type && (!json_is_string(type) || strcmp(json_string_value(type), "gpt2") != 0))
        return err_set(e, ERR_INPUT, "model_type \"%.40s\"; gpt2 is read",
                       json_is_string(type) ? json_string_value(type) : "?");
    if (json_is_false(json_object_get(root, "scale_attn_weights")))
        return err_set(e, ERR_INPUT, "scale_attn_weights is false; GPT-2's is true");
    static const char *const off[] = {"scale_attn_by_inverse_layer_idx",
                                      "add_cross_attention"};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (json_is_true(json_object_get(root, off[i])))
            return err_set(e, ERR_INPUT, "%s is true; GPT-2's is false", off[i]);
    return true;
}

static bool read_rest(const json_t *root, struct config *c, struct err *e)
{
    const json_t *eps = json_object_get(root, "layer_norm_epsilon");
    c->eps = eps ? json_number_value(eps) : 1e-5; /* GPT-2's */
    if (!(c->eps > 0.0 && c->eps < 1.0))
        return err_set(e, ERR_INPUT, "layer_norm_epsilon is not in 0 to 1");
    const json_t *tie = json_object_get(root, "tie_word_embeddings");
    c->tie = json_is_true(tie) ? 1 : json_is_false(tie) ? 0 : -1;
    return read_act(root, &c->act, e);
}

bool config_read(struct config *c, const char *path, struct err *e)
{
    json_t *root = strict_json_file(path, CONFIG_MAX, e);
    if (!root) return false;
    *c = (struct config){.from = "config.json"};
    const struct number numbers[] = {
        {"n_embd", NULL, D_MODEL_MAX, 0, &c->d_model},
        {"n_layer", NULL, LAYERS_MAX, 0, &c->n_layer},
        {"n_head", NULL, D_MODEL_MAX, 0, &c->n_head},
        {"n_positions", "n_ctx", CONTEXT_MAX, 0, &c->n_ctx},
        {"vocab_size", NULL, VOCAB_MAX, 0, &c->n_vocab},
    };
    bool ok = json_is_object(root) ? check_kind(root, e)
                                   : err_set(e, ERR_INPUT, "is no JSON object");
    for (size_t i = 0; ok && i < sizeof numbers / sizeof numbers[0]; i++)
        ok = read_number(root, &numbers[i], e);
    const struct number inner = {"n_inner", NULL, MLP_MAX, 4 * c->d_model, &c->d_mlp};
    ok = ok && read_number(root, &inner, e) && read_rest(root, c, e);
    json_decref(root);
    return ok ? true : err_at(e, path_last(path));
}

/* Size `which` of a tensor of two dimensions. */
static bool measure(const struct weights *w, const char *name, int which, int64_t max,
                    int64_t *out, struct err *e)
{
    const struct tensor_at *t = weights_find(w, name);
    const char *file = w->files[0].name;
    char shape[SHAPE_TEXT];
    if (!t) return err_set(e, ERR_INPUT, "%s: %s: is missing", file, name);
    if (t->rank != 2 || t->shape[which] < 1 || t->shape[which] > (uint64_t)max)
        return err_set(e, ERR_INPUT, "%s: %s: shape %s, expected two sizes from 1 to %jd",
                       w->files[t->file].name, name, shape_text(shape, t->shape, t->rank),
                       (intmax_t)max);
    *out = (int64_t)t->shape[which];
    return true;
}

bool config_guess(struct config *c, const struct weights *w, struct err *e)
{
    *c = (struct config){.from = "the tensors",
                         .act = MODEL_GELU_TANH,
                         .eps = 1e-5,
                         .head_guessed = true,
                         .tie = -1};
    if (!measure(w, "wte.weight", 0, VOCAB_MAX, &c->n_vocab, e) ||
        !measure(w, "wte.weight", 1, D_MODEL_MAX, &c->d_model, e) ||
        !measure(w, "wpe.weight", 0, CONTEXT_MAX, &c->n_ctx, e) ||
        !measure(w, "h.0.mlp.c_fc.weight", 1, MLP_MAX, &c->d_mlp, e))
        return false;
    char name[64];
    for (c->n_layer = 1; c->n_layer < LAYERS_MAX; c->n_layer++) {
        (void)snprintf(name, sizeof name, "h.%jd.ln_1.weight", (intmax_t)c->n_layer);
        if (!weights_find(w, name)) break;
    }
    if (c->d_model % D_HEAD != 0)
        return err_set(e, ERR_INPUT,
                       "%s: n_head is not in the file; put its config.json beside it",
                       w->files[0].name);
    c->n_head = c->d_model / D_HEAD;
    return true;
}
