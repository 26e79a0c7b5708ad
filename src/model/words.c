/* The toy's text: words and signs, each with an embedding of its own, and positions.
 *
 * A word's embedding is a function of the word and the seed alone, a position's of its
 * number and the seed: h_i = embedding(word i) + position(i), rounded once to float32. */
#include "seeded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------ */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Letters, digits and whatever is beyond ASCII make words; other signs stand alone. */
static bool is_letter(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') ||
           (u >= 'a' && u <= 'z') || u == '_';
}

static bool is_utf8(const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = utf8_length((const unsigned char *)text + i, n - i);
        if (len == 0 || text[i] == '\0') return false;
        i += len;
    }
    return true;
}

/* The end of the word that begins at `from`: letters, also with ' and - between them, or
 * signs. */
static size_t word_end(const char *text, size_t from, size_t n)
{
    size_t i = from;
    if (!is_letter(text[i])) {
        while (i < n && !is_letter(text[i]) && !is_space(text[i])) i++;
        return i;
    }
    while (i < n) {
        bool joins =
            (text[i] == '\'' || text[i] == '-') && i + 1 < n && is_letter(text[i + 1]);
        if (!is_letter(text[i]) && !joins) break;
        i++;
    }
    return i;
}

bool model_words_split(struct model_words *w, const char *text, size_t n, struct err *e)
{
    struct model_words out;
    int all = 0;
    memset(&out, 0, sizeof out);
    if (!is_utf8(text, n)) return err_set(e, ERR_INPUT, "the text is not UTF-8");
    for (size_t i = 0; i < n;) {
        bool space = false;
        while (i < n && is_space(text[i])) {
            space = true;
            i++;
        }
        if (i == n) break;
        size_t end = word_end(text, i, n);
        all++;
        if (end - i > MODEL_WORD_BYTES)
            return err_set(e, ERR_INPUT, "word %d is longer than %d bytes", all,
                           MODEL_WORD_BYTES);
        if (all <= MODEL_WORDS_MOST) {
            char *to = out.text[out.n++];
            if (space && all > 1) *to++ = ' ';
            memcpy(to, text + i, end - i);
        }
        i = end;
    }
    if (all == 0)
        return err_set(e, ERR_INPUT, "type 1 to %d words for the toy", MODEL_WORDS_MOST);
    if (all > MODEL_WORDS_MOST)
        return err_set(e, ERR_INPUT, "%d words: the toy reads 1 to %d", all,
                       MODEL_WORDS_MOST);
    *w = out;
    return true;
}

struct model_words model_words_first(void)
{
    struct model_words w;
    memset(&w, 0, sizeof w);
    for (; w.n < SEEDED_TOY_TOKENS; w.n++)
        (void)snprintf(w.text[w.n], sizeof w.text[w.n], "%s", seeded_toy_tokens[w.n]);
    return w;
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* Typed words and positions are multiples of it, so that their sum is exact in float32:
 * 2^-20, below 8. */
#define GRID        0x1p-20f
#define WORD_SD     1.0f  /* as the toy's h has it */
#define POSITION_SD 0.25f /* small beside a word */

static float on_grid(float v)
{
    return rintf(v / GRID) * GRID;
}

/* Without the space before it: a word is the same at a text's start. */
static const char *bare(const char *word)
{
    return *word == ' ' ? word + 1 : word;
}

/* FNV-1a (Fowler, Noll and Vo). */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return h;
}

void model_position(float *out, int i, uint32_t seed)
{
    enum { D = MODEL_TOY_D };
    random_normals(out, D, random_key(seed, SEEDED_POSITION), (size_t)i * D, 0.0f,
                   POSITION_SD);
    for (int k = 0; k < D; k++) out[k] = on_grid(out[k]);
}

/* A word of the first text is what its row of the seed's h is without its position, so
 * that the first text has that h, to the bit. Twice the bits of a float32 hold it. */
void model_embedding(double *out, const char *word, uint32_t seed)
{
    enum { D = MODEL_TOY_D };
    float v[D];
    float at[D];
    word = bare(word);
    for (int i = 0; i < SEEDED_TOY_TOKENS; i++) {
        if (strcmp(word, bare(seeded_toy_tokens[i])) != 0) continue;
        random_normals(v, D, random_key(seed, SEEDED_H), (size_t)i * D, 0.0f, WORD_SD);
        model_position(at, i, seed);
        for (int k = 0; k < D; k++) out[k] = (double)v[k] - (double)at[k];
        return;
    }
    random_normals(v, D, random_key(seed, SEEDED_WORD) ^ hash(word), 0, 0.0f, WORD_SD);
    for (int k = 0; k < D; k++) out[k] = (double)on_grid(v[k]);
}

void seeded_words_h(float *h, const struct model_words *w, uint32_t seed)
{
    for (int i = 0; i < w->n; i++) {
        double word[MODEL_TOY_D];
        float at[MODEL_TOY_D];
        model_embedding(word, w->text[i], seed);
        model_position(at, i, seed);
        for (int k = 0; k < MODEL_TOY_D; k++)
            h[i * MODEL_TOY_D + k] = (float)(word[k] + (double)at[k]);
    }
}
