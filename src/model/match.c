/* Names as people's code has them (Hugging Face, nanoGPT, minGPT, llm.c, TransformerLens and
 * our own), and shapes: heads first or tokens first, merged or split, with a batch or
 * without. */
#include "match.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------- */

enum { WORDS = 24, WORD = 32 };

struct words {
    char at[WORDS][WORD];
    bool apart[WORDS]; /* a separator stands before it */
    int n;
};

static void push_word(struct words *w, const char *text, size_t n, bool apart)
{
    if (n == 0 || n >= WORD || w->n == WORDS) return;
    char *to = w->at[w->n];
    for (size_t i = 0; i < n; i++) to[i] = (char)tolower((unsigned char)text[i]);
    to[n] = '\0';
    w->apart[w->n++] = apart;
}

/* Letters or digits at the front of text: a word ends where letters turn to digits and
 * small letters to capitals. */
static size_t word_length(const char *at)
{
    size_t n = 0;
    if (isdigit((unsigned char)*at)) {
        while (isdigit((unsigned char)at[n])) n++;
        return n;
    }
    while (isalpha((unsigned char)at[n])) {
        n++;
        if (isupper((unsigned char)at[n]) && islower((unsigned char)at[n - 1])) break;
    }
    return n;
}

/* "h.0.attnWeights_2" -> h 0 attn weights 2 */
static struct words words_of(const char *name)
{
    struct words w = {.n = 0};
    bool apart = true;
    for (const char *at = name; *at;) {
        size_t n = word_length(at);
        push_word(&w, at, n, apart);
        apart = n == 0;
        at += n ? n : 1;
    }
    return w;
}

static bool is_number(const char *word)
{
    return isdigit((unsigned char)word[0]) && strlen(word) <= 6;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

static void drop_words(struct words *w, int from, int n)
{
    for (int i = from; i + n < w->n; i++) {
        memmove(w->at[i], w->at[i + n], WORD);
        w->apart[i] = w->apart[i + n];
    }
    w->n -= n;
}

/* Takes "block 3" and "head 0" out. "h" is a block in "transformer.h.0", a head in "h00"
 * and wherever the block is named otherwise. */
static void take_places(struct words *w, struct named *out)
{
    static const char *const blocks[] = {"b",      "block", "blocks", "layer",
                                         "layers", "l",     "blk",    NULL};
    static const char *const heads[] = {"head", "heads", NULL};
    int of_h = -1;
    bool apart = false;
    for (int i = 0; i + 1 < w->n;) {
        bool h = strcmp(w->at[i], "h") == 0;
        bool block = is_one_of(w->at[i], blocks), head = is_one_of(w->at[i], heads);
        if (!is_number(w->at[i + 1]) || !(h || block || head)) {
            i++;
            continue;
        }
        int n = (int)strtol(w->at[i + 1], NULL, 10);
        if (block && out->block < 0) {
            out->block = n;
        } else if (head && out->head < 0) {
            out->head = n;
        } else if (h && of_h < 0) {
            of_h = n;
            apart = w->apart[i + 1];
        } else if (h && out->block < 0) { /* two of them */
            out->block = of_h;
            of_h = n;
        }
        drop_words(w, i, 2);
    }
    if (of_h < 0) return;
    if (out->block < 0 && apart)
        out->block = of_h;
    else if (out->head < 0)
        out->head = of_h;
}

/* clang-format off */
#define T(tensor)        {MODEL_T_##tensor, -1, false}
#define PART(tensor, p)  {MODEL_T_##tensor, p, false}
#define QKV              {MODEL_T_Q, -1, true}

static const struct alias {
    const char *name;
    struct target at[TARGETS_MAX];
    int n;
} aliases[] = {
    {"h", {T(H)}, 1}, {"hidden", {T(H)}, 1}, {"hidden_states", {T(H)}, 1},
    {"resid_pre", {T(H)}, 1}, {"block_in", {T(H)}, 1}, {"block_input", {T(H)}, 1},
    {"input", {T(H)}, 1}, {"drop", {T(H)}, 1}, {"embeddings", {T(H)}, 1},
    {"x", {T(X), T(H)}, 2},
    {"ln_1", {T(X)}, 1}, {"norm_1", {T(X)}, 1}, {"layernorm_1", {T(X)}, 1},
    {"layer_norm_1", {T(X)}, 1}, {"input_layernorm", {T(X)}, 1}, {"attn_in", {T(X)}, 1},
    {"attn_input", {T(X)}, 1},
    {"q", {T(Q)}, 1}, {"query", {T(Q)}, 1}, {"queries", {T(Q)}, 1}, {"q_proj", {T(Q)}, 1},
    {"wq", {T(Q)}, 1}, {"to_q", {T(Q)}, 1},
    {"k", {T(K)}, 1}, {"key", {T(K)}, 1}, {"keys", {T(K)}, 1}, {"k_proj", {T(K)}, 1},
    {"wk", {T(K)}, 1}, {"to_k", {T(K)}, 1},
    {"v", {T(V)}, 1}, {"value", {T(V)}, 1}, {"values", {T(V)}, 1}, {"v_proj", {T(V)}, 1},
    {"wv", {T(V)}, 1}, {"to_v", {T(V)}, 1},
    {"qkv", {QKV}, 1}, {"c_attn", {QKV}, 1}, {"query_key_value", {QKV}, 1},
    {"qkv_proj", {QKV}, 1}, {"in_proj", {QKV}, 1}, {"to_qkv", {QKV}, 1}, {"wqkv", {QKV}, 1},
    {"scores_raw", {T(SCORES)}, 1}, {"raw_scores", {T(SCORES)}, 1}, {"s_raw", {T(SCORES)}, 1},
    {"qk", {T(SCORES)}, 1}, {"qkt", {T(SCORES)}, 1}, {"q_kt", {T(SCORES)}, 1},
    {"scores", {T(SCORES), T(SCALED), T(MASKED)}, 3},
    {"attn_scores", {T(SCORES), T(SCALED), T(MASKED)}, 3},
    {"attention_scores", {T(SCORES), T(SCALED), T(MASKED)}, 3},
    {"attn_logits", {T(SCALED), T(MASKED), T(SCORES)}, 3},
    {"scaled", {T(SCALED)}, 1}, {"scaled_scores", {T(SCALED)}, 1},
    {"scores_scaled", {T(SCALED)}, 1}, {"s_scaled", {T(SCALED)}, 1},
    {"preatt", {T(SCALED), T(MASKED)}, 2}, {"pre_softmax", {T(MASKED), T(SCALED)}, 2},
    {"masked", {T(MASKED)}, 1}, {"masked_scores", {T(MASKED)}, 1},
    {"scores_masked", {T(MASKED)}, 1}, {"s_masked", {T(MASKED)}, 1},
    {"scaled_masked", {T(MASKED)}, 1},
    {"weights", {T(WEIGHTS)}, 1}, {"attn_weights", {T(WEIGHTS)}, 1},
    {"attention_weights", {T(WEIGHTS)}, 1}, {"att", {T(WEIGHTS), T(MASKED), T(SCALED)}, 3},
    {"attn_probs", {T(WEIGHTS)}, 1}, {"attention_probs", {T(WEIGHTS)}, 1},  {"softmax", {T(WEIGHTS)}, 1}, {"p", {T(WEIGHTS)}, 1},
    {"a", {T(WEIGHTS)}, 1}, {"pattern", {T(WEIGHTS)}, 1}, {"attentions", {T(WEIGHTS)}, 1},
    {"attn_dropout", {T(WEIGHTS)}, 1},
    {"attn", {T(WEIGHTS), T(Y_PROJ)}, 2}, {"attention", {T(WEIGHTS), T(Y_PROJ)}, 2},
    {"self_attn", {T(Y_PROJ), T(WEIGHTS)}, 2},
    {"z", {T(Z), T(MERGED)}, 2}, {"context", {T(Z), T(MERGED)}, 2},
    {"av", {T(Z), T(MERGED)}, 2}, {"o", {T(Z), T(MERGED)}, 2},
    {"head_out", {T(Z), T(MERGED)}, 2}, {"attn_z", {T(Z), T(MERGED)}, 2},
    {"context_layer", {T(Z), T(MERGED)}, 2},
    {"merged", {T(MERGED)}, 1}, {"concat", {T(MERGED)}, 1}, {"z_all", {T(MERGED)}, 1},
    {"atty", {T(MERGED)}, 1},
    {"y_proj", {T(Y_PROJ)}, 1}, {"attn_c_proj", {T(Y_PROJ)}, 1}, {"o_proj", {T(Y_PROJ)}, 1},
    {"out_proj", {T(Y_PROJ)}, 1}, {"attproj", {T(Y_PROJ)}, 1}, {"attn_proj", {T(Y_PROJ)}, 1},
    {"attn_out", {T(Y_PROJ), T(MERGED), T(Y)}, 3},
    {"attn_output", {T(Y_PROJ), T(MERGED), T(Y)}, 3},
    {"attention_output", {T(Y_PROJ), T(MERGED), T(Y)}, 3},
    {"resid_dropout", {T(Y_PROJ)}, 1}, {"c_proj", {T(Y_PROJ), T(MLP_OUT)}, 2},
    {"y", {T(Y), T(MERGED), T(Y_PROJ)}, 3}, {"resid_mid", {T(Y)}, 1},
    {"attn_resid", {T(Y)}, 1}, {"residual_2", {T(Y)}, 1}, {"after_attn", {T(Y)}, 1},
    {"ln_2", {T(LN_2)}, 1}, {"norm_2", {T(LN_2)}, 1}, {"layernorm_2", {T(LN_2)}, 1},
    {"layer_norm_2", {T(LN_2)}, 1}, {"post_attention_layernorm", {T(LN_2)}, 1},
    {"mlp_fc", {T(MLP_FC)}, 1}, {"c_fc", {T(MLP_FC)}, 1}, {"fc", {T(MLP_FC)}, 1},
    {"fch", {T(MLP_FC)}, 1}, {"fc_1", {T(MLP_FC)}, 1}, {"up_proj", {T(MLP_FC)}, 1},
    {"mlp_pre", {T(MLP_FC)}, 1}, {"mlp_hook_pre", {T(MLP_FC)}, 1},
    {"mlp_act", {T(MLP_ACT)}, 1}, {"mlp_gelu", {T(MLP_ACT)}, 1}, {"gelu", {T(MLP_ACT)}, 1},
    {"act", {T(MLP_ACT)}, 1}, {"mlp_post", {T(MLP_ACT)}, 1},
    {"mlp_hook_post", {T(MLP_ACT)}, 1}, {"activation", {T(MLP_ACT)}, 1},
    {"mlp_out", {T(MLP_OUT)}, 1}, {"mlp_c_proj", {T(MLP_OUT)}, 1}, {"mlp", {T(MLP_OUT)}, 1},
    {"fcproj", {T(MLP_OUT)}, 1}, {"fc_2", {T(MLP_OUT)}, 1}, {"down_proj", {T(MLP_OUT)}, 1},
    {"mlp_dropout", {T(MLP_OUT)}, 1},
    {"block", {T(BLOCK)}, 1}, {"block_out", {T(BLOCK)}, 1}, {"block_output", {T(BLOCK)}, 1},
    {"resid_post", {T(BLOCK)}, 1}, {"residual_3", {T(BLOCK)}, 1},
    {"layer_out", {T(BLOCK)}, 1}, {"layer_output", {T(BLOCK)}, 1},
    {"w_qkv", {T(W_QKV)}, 1}, {"qkv_weight", {T(W_QKV)}, 1}, {"c_attn_weight", {T(W_QKV)}, 1},
    {"in_proj_weight", {T(W_QKV)}, 1}, {"query_key_value_weight", {T(W_QKV)}, 1},
    {"qkv_proj_weight", {T(W_QKV)}, 1}, {"qkvw", {T(W_QKV)}, 1},
    {"w_q", {PART(W_QKV, 0)}, 1}, {"q_proj_weight", {PART(W_QKV, 0)}, 1},
    {"query_weight", {PART(W_QKV, 0)}, 1},
    {"w_k", {PART(W_QKV, 1)}, 1}, {"k_proj_weight", {PART(W_QKV, 1)}, 1},
    {"key_weight", {PART(W_QKV, 1)}, 1},
    {"w_v", {PART(W_QKV, 2)}, 1}, {"v_proj_weight", {PART(W_QKV, 2)}, 1},
    {"value_weight", {PART(W_QKV, 2)}, 1},
    {"b_qkv", {T(B_QKV)}, 1}, {"c_attn_bias", {T(B_QKV)}, 1}, {"in_proj_bias", {T(B_QKV)}, 1},
    {"qkv_bias", {T(B_QKV)}, 1}, {"query_key_value_bias", {T(B_QKV)}, 1},
    {"q_proj_bias", {PART(B_QKV, 0)}, 1}, {"k_proj_bias", {PART(B_QKV, 1)}, 1},
    {"v_proj_bias", {PART(B_QKV, 2)}, 1},
    {"w_o", {T(W_O)}, 1}, {"attn_c_proj_weight", {T(W_O)}, 1}, {"o_proj_weight", {T(W_O)}, 1},
    {"out_proj_weight", {T(W_O)}, 1}, {"attprojw", {T(W_O)}, 1},
    {"b_o", {T(B_O)}, 1}, {"attn_c_proj_bias", {T(B_O)}, 1}, {"o_proj_bias", {T(B_O)}, 1},
    {"out_proj_bias", {T(B_O)}, 1}, {"attprojb", {T(B_O)}, 1},
};
#undef T
#undef PART
#undef QKV
/* clang-format on */

/* Of the whole model, or no numbers of a stage. */
static const char *const others[] = {
    "ids",      "id",        "tokens",  "input_ids",
    "logits",   "ln_f",      "lm_head", "manifest",
    "wte",      "wpe",       "bias",    "weight",
    "position", "positions", "norm_f",  "final_layernorm",
    NULL};

/* The last k words, with _ between. */
static void join(char *out, size_t room, const struct words *w, int k)
{
    size_t n = 0;
    out[0] = '\0';
    for (int i = w->n - k; i < w->n && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%s", n ? "_" : "", w->at[i]);
}

static bool look_up(struct named *out, const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcmp(aliases[i].name, name) != 0) continue;
        memcpy(out->at, aliases[i].at, sizeof out->at);
        out->n = aliases[i].n;
        return true;
    }
    out->ignored = is_one_of(name, others);
    return out->ignored;
}

/* "b07." at *at, which moves behind it: a letter, two or more digits, a dot. -1: none. */
static int own_place(const char **at, char letter)
{
    const char *p = *at;
    if (*p != letter) return -1;
    size_t n = strspn(p + 1, "0123456789");
    if (n < 2 || n > 6 || p[1 + n] != '.') return -1;
    *at = p + n + 2;
    return (int)strtol(p + 1, NULL, 10);
}

/* "b00.h03.x", as --dump names it: its word means one thing alone. */
static bool is_own(const char *name, struct named *out)
{
    const char *at = name;
    int block = own_place(&at, 'b');
    if (block < 0) return false;
    int head = own_place(&at, 'h');
    for (int t = 0; t < MODEL_T_COUNT; t++) {
        if (strcmp(at, model_tensor_name((enum model_tensor)t)) != 0) continue;
        *out = (struct named){.block = block,
                              .head = head,
                              .at = {{(enum model_tensor)t, -1, false}},
                              .n = 1};
        return true;
    }
    return false;
}

struct named name_read(const char *name)
{
    static const char *const behind[] = {"output", "tensor", "result", NULL};
    static const char *const roots[] = {"transformer", "model", "gpt", NULL};
    struct named out = {.block = -1, .head = -1};
    char text[WORDS * WORD];
    if (is_own(name, &out)) return out;
    struct words w = words_of(name);
    take_places(&w, &out);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = w.n; k > 0; k--) {
            join(text, sizeof text, &w, k);
            if (look_up(&out, text)) return out;
        }
        if (w.n == 0 || !is_one_of(w.at[w.n - 1], behind)) break;
        w.n--; /* "attn.c_proj.output" */
    }
    bool bare = w.n == 0 || (w.n == 1 && is_one_of(w.at[0], roots));
    if (out.block >= 0 && bare) { /* "transformer.h.3" is what block 3 gives */
        out.at[0] = (struct target){MODEL_T_BLOCK, -1, false};
        out.n = 1;
    }
    return out;
}

/* ---- shapes ------------------------------------------------------------------------------------ */

static int64_t size_of(char axis, const struct form *f, struct sizes s)
{
    switch (axis) {
    case 'n':
    case 'm':
        return s.n_tok;
    case 'h':
        return f->head >= 0 ? 1 : s.n_head;
    case 'c':
        return s.d_model / s.n_head;
    case 'd':
        return s.d_model;
    case 'w':
        return s.d_mlp;
    default: /* p */
        return f->target.part >= 0 ? 1 : 3;
    }
}

/* Orders in which people hold a target, ended by NULL. */
static const char *const *orders_of(struct target t)
{
    static const char *const per_head[] = {"nhc", "hnc", "hcn", NULL};
    static const char *const three[] = {"nphc", "pnhc", "phnc", NULL};
    static const char *const square[] = {"hnm", "nhm", NULL};
    static const char *const rows[] = {"nd", NULL}, *const wide[] = {"nw", NULL};
    static const char *const w_qkv[] = {"dphc", "phcd", NULL};
    static const char *const w_o[] = {"hcd", "dhc", NULL};
    static const char *const b_qkv[] = {"phc", NULL}, *const b_o[] = {"d", NULL};
    if (t.all_three) return three;
    switch (t.tensor) {
    case MODEL_T_Q:
    case MODEL_T_K:
    case MODEL_T_V:
    case MODEL_T_Z:
        return per_head;
    case MODEL_T_SCORES:
    case MODEL_T_SCALED:
    case MODEL_T_MASKED:
    case MODEL_T_WEIGHTS:
        return square;
    case MODEL_T_MLP_FC:
    case MODEL_T_MLP_ACT:
        return wide;
    case MODEL_T_W_QKV:
        return w_qkv;
    case MODEL_T_W_O:
        return w_o;
    case MODEL_T_B_QKV:
        return b_qkv;
    case MODEL_T_B_O:
        return b_o;
    default:
        return rows;
    }
}

/* Axes that may stand as one: heads side by side, and Q, K and V beside each other. What
 * several heads give before they are merged is not merged. */
static bool may_merge(const char *axes, int n, const struct form *f)
{
    static const char *const whole[] = {"hc", "phc", "ph", "pc"};
    if (n == 1) return true;
    if (f->target.tensor == MODEL_T_Z) return false;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if ((int)strlen(whole[i]) == n && strncmp(axes, whole[i], (size_t)n) == 0)
            return true;
    return false;
}

/* Whether the sizes shape[0..rank) are those of the axes, merged here and there. */
// NOLINTNEXTLINE(misc-no-recursion): at most four calls deep
static bool fits(const char *axes, const struct form *f, struct sizes s,
                 const int64_t *shape, int rank)
{
    int n = (int)strlen(axes);
    if (n == 0 || rank == 0) return n == 0 && rank == 0;
    int64_t size = 1;
    for (int k = 1; k <= n; k++) {
        size *= size_of(axes[k - 1], f, s);
        if (size == shape[0] && may_merge(axes, k, f) &&
            fits(axes + k, f, s, shape + 1, rank - 1))
            return true;
    }
    return false;
}

/* The order without its axes of size 1. */
static void squeeze(char *out, const struct form *f, struct sizes s)
{
    for (const char *at = f->order; *at; at++)
        if (size_of(*at, f, s) != 1) *out++ = *at;
    *out = '\0';
}

/* Whether out[0..n) has the target and head read in the same order, axes of size 1 aside. */
static bool is_known(const struct form *out, int n, const struct form *f,
                     const char *axes, struct sizes s)
{
    char has[8];
    for (int i = 0; i < n; i++) {
        bool same = out[i].target.tensor == f->target.tensor &&
                    out[i].target.part == f->target.part && out[i].head == f->head;
        squeeze(has, &out[i], s);
        if (same && strcmp(has, axes) == 0) return true;
    }
    return false;
}

static int add_forms(struct form *out, int n, int room, struct form f, struct sizes s,
                     const int64_t *shape, int rank)
{
    char axes[8];
    for (const char *const *at = orders_of(f.target); *at && n < room; at++) {
        f.order = *at;
        squeeze(axes, &f, s);
        if (fits(axes, &f, s, shape, rank) && !is_known(out, n, &f, axes, s))
            out[n++] = f;
    }
    return n;
}

int forms_of(struct form *out, int room, struct target t, int head, struct sizes s,
             const struct model_array *a)
{
    int64_t shape[MODEL_RANK];
    int rank = 0, n = 0;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != 1) shape[rank++] = a->shape[i];
    struct form f = {.target = t, .head = -1};
    if (head < 0) n = add_forms(out, n, room, f, s, shape, rank);
    bool per_head = model_tensor_has_heads(t.tensor) || t.all_three;
    if (!per_head || head >= s.n_head || n > 0 || (head < 0 && s.n_head == 1)) return n;
    /* One head of several, named or not. */
    int last = head >= 0 ? head : s.n_head - 1;
    for (f.head = head >= 0 ? head : 0; f.head <= last; f.head++)
        n = add_forms(out, n, room, f, s, shape, rank);
    return n;
}

void forms_text(char *out, size_t room, struct target t, int head, struct sizes s)
{
    struct form f = {.target = t, .head = head};
    size_t n = 0;
    out[0] = '\0';
    for (const char *const *at = orders_of(t); *at && n < room; at++) {
        n += (size_t)snprintf(out + n, room - n, "%s[", n ? " or " : "");
        const char *comma = "";
        for (const char *axis = *at; *axis && n < room; axis++) {
            int64_t size = size_of(*axis, &f, s);
            bool merge = *axis == 'h' && axis[1] == 'c' && t.tensor != MODEL_T_Z;
            if (size == 1 && !merge) continue;
            if (merge) size *= size_of(*++axis, &f, s);
            n += (size_t)snprintf(out + n, room - n, "%s%jd", comma, (intmax_t)size);
            comma = ",";
        }
        if (n < room) n += (size_t)snprintf(out + n, room - n, "]");
    }
}

/* ---- numbers ------------------------------------------------------------------------------------- */

enum model_tensor form_tensor(const struct form *f, int part)
{
    return f->target.all_three ? (enum model_tensor)(MODEL_T_Q + part) : f->target.tensor;
}

/* How far apart in our layout the neighbours along an axis lie. */
static int64_t our_step(char axis, const struct form *f, struct sizes s)
{
    int64_t d = s.d_model, n = s.n_tok, each = d / s.n_head;
    enum model_tensor t = f->target.tensor;
    bool square = t >= MODEL_T_SCORES && t <= MODEL_T_WEIGHTS;
    switch (axis) {
    case 'n':
        return square ? n : orders_of(f->target)[0][1] == 'w' ? s.d_mlp : d;
    case 'c':
        return t == MODEL_T_W_O ? d : 1;
    case 'h':
        return square ? n * n : t == MODEL_T_W_O ? each * d : each;
    case 'd':
        return t == MODEL_T_W_QKV ? 3 * d : 1;
    case 'p':
        return f->target.all_three ? 0 : d; /* parts are matrices of their own */
    default:                                /* m, w */
        return 1;
    }
}

void form_gather(float *const to[3], const struct form *f, struct sizes s, const float *a)
{
    int64_t size[4] = {1, 1, 1, 1}, step[4] = {0, 0, 0, 0}, index[4] = {0};
    int n = (int)strlen(f->order), part_axis = 0;
    int64_t count = 1, at = 0;
    for (int i = 0; i < n; i++) {
        size[i] = size_of(f->order[i], f, s);
        step[i] = our_step(f->order[i], f, s);
        if (f->order[i] == 'p') part_axis = i;
        count *= size[i];
    }
    if (f->head > 0) at += f->head * our_step('h', f, s);
    if (f->target.part > 0) at += f->target.part * (int64_t)s.d_model;
    for (int64_t k = 0; k < count; k++) {
        to[f->target.all_three ? index[part_axis] : 0][at] = a[k];
        for (int i = n - 1; i >= 0; i--) {
            at += step[i];
            if (++index[i] < size[i]) break;
            at -= step[i] * size[i];
            index[i] = 0;
        }
    }
}
