/* What the words of the captions mean, and what is said of each stage behind a click. */
#include "scene.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *term, *meaning;
} glossary[] = {
    {"residual stream", "The vector that a token carries from block to block; each block "
                        "adds to it and none replaces it."},
    {"ln_1",
     "The layer norm in front of attention: it gives each token\u2019s vector mean 0 "
     "and variance 1, then a learned gain and bias."},
    {"query", "A token\u2019s vector for asking: its dot products with all keys are its "
              "scores."},
    {"key", "A token\u2019s vector for being found: queries are held against it."},
    {"value",
     "A token\u2019s vector for giving: what arrives where the token is picked."},
    {"values", "The vectors that tokens give: what arrives where they are picked."},
    {"dot product",
     "Multiply two vectors number by number and add up: large where they point "
     "the same way."},
    {"head",
     "One of the block\u2019s parallel attentions, with d_head columns of its own."},
    {"heads",
     "The block\u2019s parallel attentions, each with d_head columns of its own."},
    {"biases", "Numbers added after a multiply, one a column, the same for every token."},
    {"score", "A dot product of a query and a key: how much one token wants another."},
    {"scores", "Dot products of queries and keys: how much each token wants each other."},
    {"softmax", "Exponentials divided by their sum: positive numbers that add up to 1."},
    {"distribution", "Numbers from 0 to 1 that add up to 1."},
    {"one-hot", "Nearly all weight on one token, and almost none on the others."},
    {"d_head", "Numbers in a head\u2019s query, key or value: d_model \u00F7 heads."},
    {"diagonal", "The cells in which a token looks at itself."},
    {"mask",
     "What keeps a token from seeing later ones: their scores become \u2212\u221E."},
    {"exp", "e to the power of: turns any number into a positive one."},
    {"context", "The tokens that the model reads at once, N of them."},
    {"W_O", "The block\u2019s output weights: they mix the heads\u2019 results."},
    {"O", "A head\u2019s result: for each token the blend of the values it sees."},
    {"V", "The values: one row a token."},
};
enum { TERMS = sizeof glossary / sizeof *glossary };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

const char *scene_term_in(const char *text, const char *from, int *n,
                          const char **meaning)
{
    for (const char *at = from; *at; at++) {
        if (at > text && is_word(at[-1])) continue;
        int best = -1;
        size_t len = 0;
        for (int i = 0; i < TERMS; i++) {
            size_t k = strlen(glossary[i].term);
            if (k > len && strncmp(at, glossary[i].term, k) == 0 && !is_word(at[k])) {
                best = i;
                len = k;
            }
        }
        if (best < 0) continue;
        *n = (int)len;
        *meaning = glossary[best].meaning;
        return at;
    }
    return NULL;
}

/* ---- behind a click ------------------------------------------------------------------------ */

static const struct scene_link links[] = {
    {"Vaswani et al. 2017, Attention Is All You Need",
     "https://arxiv.org/abs/1706.03762"},
    {"The released GPT-2 code, model.py",
     "https://github.com/openai/gpt-2/blob/master/src/model.py"},
    {"Ba et al. 2016, Layer Normalization", "https://arxiv.org/abs/1607.06450"},
    {"Bahdanau et al. 2014, the first attention", "https://arxiv.org/abs/1409.0473"},
    {"Child et al. 2019, Sparse Transformers", "https://arxiv.org/abs/1904.10509"},
    {"Milakov and Gimelshein 2018, softmax in one pass",
     "https://arxiv.org/abs/1805.02867"},
    {"Dao et al. 2022, FlashAttention", "https://arxiv.org/abs/2205.14135"},
    {"Xiao et al. 2023, attention sinks", "https://arxiv.org/abs/2309.17453"},
    {"He et al. 2015, residual learning", "https://arxiv.org/abs/1512.03385"},
    {"Michel et al. 2019, how many heads are needed", "https://arxiv.org/abs/1905.10650"},
};
enum { VASWANI, GPT2, BA, BAHDANAU, CHILD, MILAKOV, DAO, XIAO, HE, MICHEL };
enum { LINKS = sizeof links / sizeof *links };

const struct scene_link *scene_link_at(int i)
{
    return i >= 0 && i < LINKS ? &links[i] : NULL;
}

static const struct scene_reasons reasons[ATTN_STAGE_COUNT] = {
    [ATTN_PROJECTIONS] =
        {"A token has three parts to play: it asks, it is found, and it gives. One "
         "vector "
         "for all three would make it look most at tokens like itself.",
         "With q = k every score on the diagonal is a squared length. Each token would "
         "look mostly at itself, and what it gives could not differ from what it is "
         "found "
         "by.",
         "The widest multiply of attention: 6 d\u00B2 operations a token, whatever the "
         "context. For short texts it costs more than all that follows.",
         {VASWANI, BA, GPT2}},
    [ATTN_SCORES] =
        {"Every token has to be able to reach every other, near or far, in one step. A "
         "dot "
         "product is the cheapest measure of how well a query and a key agree.",
         "Without scores each token would stay alone, or take all others in equal "
         "shares: "
         "its surroundings could not matter more or less.",
         "N\u00B2 dot products of d_head terms a head. Twice the context, four times the "
         "work: this is what limits long texts.",
         {VASWANI, BAHDANAU, CHILD}},
    [ATTN_SCALE] =
        {"A sum of d_head products spreads as \u221Ad_head. Dividing by it keeps scores "
         "at "
         "one size, however wide the head is.",
         "Softmax would be nearly one-hot from the start. Its gradient is then close to "
         "0, "
         "and the head hardly learns.",
         "One division a score; the fast kernels fold it into the exponential.",
         {VASWANI, GPT2, -1}},
    [ATTN_MASK] =
        {"All positions are trained at once, each to predict its next token. The mask "
         "makes "
         "each position see only what it will have when it writes.",
         "A position would read its answer from the next column. The loss falls to "
         "almost "
         "nothing, and the model can write nothing.",
         "Nothing is computed; kernels that know the mask leave out half of the scores.",
         {VASWANI, GPT2, DAO}},
    [ATTN_SOFTMAX] =
        {"Scores may be any numbers; shares have to be positive and add up to 1. Softmax "
         "does both, and keeps the order.",
         "With raw scores as weights a long row would blend more than a short one, and "
         "negative weights would subtract values.",
         "One exponential a visible score and three passes over each row. Subtracting "
         "the "
         "largest score first costs a pass and saves exp from overflow.",
         {VASWANI, MILAKOV, XIAO}},
    [ATTN_WEIGHTED_SUM] =
        {"The weights say where to look; this step fetches what is there. A blend keeps "
         "the "
         "result the size of one value, however many tokens are seen.",
         "The weights would be known and nothing would be moved: no token could learn "
         "anything of another.",
         "As much as the scores: N\u00B2 weights times d_head columns.",
         {VASWANI, DAO, -1}},
    [ATTN_OUTPUT] = {"Each head has written into columns of its own. W_O lets the block "
                     "say what each of "
                     "them means to the whole, and adds it to what was there.",
                     "Without W_O heads could not work on the same feature. Without + h "
                     "a block would "
                     "have to copy all that it does not want to lose.",
                     "2 d\u00B2 operations a token, a third of the projections.",
                     {HE, MICHEL, GPT2}},
};

const struct scene_reasons *scene_reasons_of(enum attn_stage s)
{
    return &reasons[s];
}
