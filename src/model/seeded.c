/* Models made from a seed: a recipe says how wide each tensor's normals spread, and one
 * function follows it. What is random here is labelled random. */
#include "seeded.h"

#include <assert.h>
#include <string.h>

/* W_Q and W_K of GPT-2 small's first block, head by head: geometric mean of the two
 * matrices' sd, as measured. Heads differ, and so do the rows of their softmax. */
static const float gpt2_qk_sd[12] = {0.245f, 0.278f, 0.229f, 0.326f, 0.286f, 0.304f,
                                     0.192f, 0.288f, 0.214f, 0.142f, 0.132f, 0.148f};

/* At 0.5, Q and K of the toy stay within about 3.5 and its scores within about 10. */
static const float toy_qk_sd[2] = {0.5f, 0.5f};

const char *const seeded_toy_tokens[SEEDED_TOY_TOKENS] = {"the", " cat", " sat", " down",
                                                          "."};

/* Standard deviations of normals. */
struct recipe {
    const char *label;
    const char *const *tokens;
    struct attn_dims dims;
    const float *qk_sd; /* [n_head] W_Q and W_K of each head */
    float v_sd, o_sd;   /* W_V, W_O */
    bool bias;          /* whether there are biases */
    float b_q_sd, b_k_sd, b_v_sd, b_o_sd;
    float gain, gain_sd, shift_sd; /* ln_1: gain, its spread, and that of the bias */
    float h_sd;
};

/* MODEL_GPT2_RANDOM has the spreads of GPT-2 small's first block: W_V 0.058, W_O 0.148,
 * biases 0.343 0.183 0.048 0.259, ln_1 0.180 +- 0.041 and 0.036, token embeddings 0.14.
 * Measured over the twelve heads at 6 tokens, real prompts' rows of scaled scores have sd
 * 1.58 and entropy 0.65 of the most there can be; these random ones have about 1.4 and
 * 0.69. */
static const struct recipe recipes[] = {
    [MODEL_TOY] =
        {
            .label = "toy · random weights",
            .tokens = seeded_toy_tokens,
            .dims = {.n_tok = SEEDED_TOY_TOKENS, .d_model = MODEL_TOY_D, .n_head = 2},
            .qk_sd = toy_qk_sd,
            .v_sd = 0.5f,
            .o_sd = 0.5f,
            .gain = 1.0f,
            .h_sd = 1.0f,
        },
    [MODEL_GPT2_RANDOM] =
        {
            .label = "random weights · GPT-2 size",
            .dims = {.n_tok = 1024, .d_model = 768, .n_head = 12},
            .qk_sd = gpt2_qk_sd,
            .v_sd = 0.058f,
            .o_sd = 0.148f,
            .bias = true,
            .b_q_sd = 0.343f,
            .b_k_sd = 0.183f,
            .b_v_sd = 0.048f,
            .b_o_sd = 0.259f,
            .gain = 0.180f,
            .gain_sd = 0.041f,
            .shift_sd = 0.036f,
            .h_sd = 0.14f,
        },
};

/* Writable sides of the model's arrays while they are filled. */
struct making {
    const struct recipe *r;
    uint32_t seed;
    float *w_qkv, *w_o, *b_qkv, *b_o, *gain, *shift, *h, *x;
    const struct model_words *words; /* NULL: h is random */
};

/* floats in each of the arrays, in the order in which they are pushed */
enum { ARRAY_COUNT = 8 };
struct sizes {
    size_t n[ARRAY_COUNT];
};

static struct sizes sizes_of(const struct recipe *r)
{
    size_t n = (size_t)r->dims.n_tok, d = (size_t)r->dims.d_model, b = r->bias ? d : 0;
    return (struct sizes){{3 * d * d, d * d, 3 * b, b, d, d, n * d, n * d}};
}

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64; /* as arena_push rounds */
}

static size_t bytes_of(const struct recipe *r)
{
    struct sizes s = sizes_of(r);
    size_t bytes = 0;
    for (int i = 0; i < ARRAY_COUNT; i++) bytes += rounded(s.n[i] * sizeof(float));
    return bytes;
}

size_t model_bytes(enum model_kind kind)
{
    return bytes_of(&recipes[kind]);
}

size_t model_words_bytes(void)
{
    struct recipe r = recipes[MODEL_TOY];
    r.dims.n_tok = MODEL_WORDS_MOST;
    return bytes_of(&r) + rounded(sizeof(struct model_words)) +
           rounded(MODEL_WORDS_MOST * sizeof(char *));
}

static bool push_all(struct making *m, struct arena *mem)
{
    float **const at[ARRAY_COUNT] = {&m->w_qkv, &m->w_o,   &m->b_qkv, &m->b_o,
                                     &m->gain,  &m->shift, &m->h,     &m->x};
    struct sizes s = sizes_of(m->r);
    for (int i = 0; i < ARRAY_COUNT; i++) {
        *at[i] = arena_push(mem, s.n[i], sizeof(float));
        if (!*at[i]) return false;
    }
    return true;
}

/* n normals of a tensor's stream from element `first` on. */
static void fill(const struct making *m, float *out, size_t n, enum seeded_stream stream,
                 size_t first, float sd)
{
    random_normals(out, n, random_key(m->seed, stream), first, 0.0f, sd);
}

/* Row r of W_qkv [d_model, 3*d_model]: W_Q | W_K | W_V, each of them heads side by side. */
static void fill_w_qkv_row(const struct making *m, size_t r)
{
    size_t d = (size_t)m->r->dims.d_model, n_head = (size_t)m->r->dims.n_head;
    size_t d_head = d / n_head;
    float *row = m->w_qkv + r * 3 * d;
    for (size_t h = 0; h < n_head; h++) {
        size_t col = h * d_head, i = r * d + col;
        fill(m, row + col, d_head, SEEDED_W_Q, i, m->r->qk_sd[h]);
        fill(m, row + d + col, d_head, SEEDED_W_K, i, m->r->qk_sd[h]);
    }
    fill(m, row + 2 * d, d, SEEDED_W_V, r * d, m->r->v_sd);
}

static void fill_vectors(const struct making *m)
{
    const struct recipe *r = m->r;
    size_t d = (size_t)r->dims.d_model;
    random_normals(m->gain, d, random_key(m->seed, SEEDED_GAIN), 0, r->gain, r->gain_sd);
    fill(m, m->shift, d, SEEDED_SHIFT, 0, r->shift_sd);
    if (!r->bias) return;
    fill(m, m->b_qkv, d, SEEDED_B_Q, 0, r->b_q_sd);
    fill(m, m->b_qkv + d, d, SEEDED_B_K, 0, r->b_k_sd);
    fill(m, m->b_qkv + 2 * d, d, SEEDED_B_V, 0, r->b_v_sd);
    fill(m, m->b_o, d, SEEDED_B_O, 0, r->b_o_sd);
}

static bool cancelled(const struct attn_ctx *c)
{
    return c->cancel && *c->cancel;
}

/* Everything but x. false: cancelled. Looks up once a row. */
static bool fill_all(const struct making *m, const struct attn_ctx *c)
{
    size_t n = (size_t)m->r->dims.n_tok, d = (size_t)m->r->dims.d_model;
    fill_vectors(m);
    for (size_t r = 0; r < d; r++) {
        if (cancelled(c)) return false;
        fill_w_qkv_row(m, r);
        fill(m, m->w_o + r * d, d, SEEDED_W_O, r * d, m->r->o_sd);
    }
    if (m->words) seeded_words_h(m->h, m->words, m->seed);
    for (size_t i = 0; i < n && !m->words; i++) {
        if (cancelled(c)) return false;
        fill(m, m->h + i * d, d, SEEDED_H, i * d, m->r->h_sd);
    }
    return true;
}

static bool make(struct model *m, enum model_kind kind, struct making k,
                 struct arena *mem, const struct attn_ctx *c, struct err *e)
{
    int n = k.r->dims.n_tok, d = k.r->dims.d_model;
    size_t used = mem->used;
    if (!push_all(&k, mem)) {
        mem->used = used;
        return err_set(e, ERR_SYSTEM, "%s: no room in memory: %zu bytes are needed",
                       k.r->label, bytes_of(k.r));
    }
    struct attn_mat x = {k.x, n, d, d};
    struct attn_cmat h = {k.h, n, d, d};
    bool done = fill_all(&k, c);
    if (done) {
        enum attn_status s = attn_layer_norm(c, x, h, k.gain, k.shift, MODEL_LN_EPS);
        assert(s == ATTN_OK);
        (void)s; /* shapes are our own */
        done = !cancelled(c);
    }
    if (!done) {
        mem->used = used;
        return err_set(e, ERR_CANCELLED, "%s: cancelled", k.r->label);
    }
    *m = (struct model){
        .kind = kind,
        .seed = k.seed,
        .dims = k.r->dims,
        .weights =
            {
                .w_qkv = {k.w_qkv, d, 3 * d, 3 * d},
                .b_qkv = k.r->bias ? k.b_qkv : NULL,
                .w_o = {k.w_o, d, d, d},
                .b_o = k.r->bias ? k.b_o : NULL,
            },
        .ln_gain = k.gain,
        .ln_bias = k.shift,
        .eps = MODEL_LN_EPS,
        .h = h,
        .x = {k.x, n, d, d},
        .tokens = k.r->tokens,
        .label = k.r->label,
    };
    return true;
}

void model_normals(float *out, size_t n, uint32_t seed, uint32_t stream)
{
    random_normals(out, n, random_key(seed, stream), 0, 0.0f, 1.0f);
}

bool model_make(struct model *m, enum model_kind kind, uint32_t seed, struct arena *mem,
                const struct attn_ctx *c, struct err *e)
{
    return make(m, kind, (struct making){.r = &recipes[kind], .seed = seed}, mem, c, e);
}

bool model_make_words(struct model *m, const struct model_words *words, uint32_t seed,
                      struct arena *mem, const struct attn_ctx *c, struct err *e)
{
    struct recipe r = recipes[MODEL_TOY];
    size_t used = mem->used;
    struct model_words *own = arena_push(mem, 1, sizeof *own);
    const char **tokens = arena_push(mem, MODEL_WORDS_MOST, sizeof *tokens);
    bool ok = own && tokens;
    if (!ok)
        (void)err_set(e, ERR_SYSTEM, "%s: no room in memory: %zu bytes are needed",
                      r.label, model_words_bytes());
    if (ok) {
        *own = *words;
        for (int i = 0; i < own->n; i++) tokens[i] = own->text[i];
        r.dims.n_tok = own->n;
        r.tokens = tokens;
        ok = make(m, MODEL_TOY, (struct making){.r = &r, .seed = seed, .words = own}, mem,
                  c, e);
    }
    if (!ok) mem->used = used;
    return ok;
}
