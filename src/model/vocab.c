/* The tokenizer's files: vocab.json and merges.txt, or tokenizer.json. Their tokens are
 * written in an alphabet of 256 printable characters, one for each byte. */
#include "bpe.h"
#include "strict_json.h"

#include <stdio.h>
#include <string.h>

enum {
    FILE_MAX_BYTES = 16 << 20,
    PATH_ROOM = 4096,
    CHARACTERS = 0x144,
    TEXT_ROOM = 60,
    ROUNDING = 16 * 64 /* of arena_push */
};
#define SPECIAL "<|endoftext|>"

/* White space is listed, not \s: PCRE2's \s has U+180E besides Unicode's White_Space, by
 * which GPT-2's pieces were cut. Source: openai/gpt-2, src/encoder.py. */
#define SPACE                                                                            \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"   \
    "\\x{202f}\\x{205f}\\x{3000}"
static const char pattern[] = "'(?:s|t|re|ve|m|ll|d)| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE
                              "\\p{L}\\p{N}]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+";

/* A word of the vocabulary by its bytes, while merges are read. */
struct word {
    int32_t id; /* -1: free */
};

/* What is needed while loading alone. */
struct loading {
    struct model_bpe *b;
    const char *file;            /* for errors */
    int16_t byte_of[CHARACTERS]; /* -1: not of the alphabet */
    struct arena mem;            /* the words, and room for one token */
    struct word *words;
    uint32_t word_mask;
    char *scratch; /* two tokens side by side */
    size_t scratch_room;
    int32_t n_merge;
};

/* openai/gpt-2, src/encoder.py, bytes_to_unicode: bytes that are printable in Latin-1 are
 * themselves; the others follow from U+0100 on. */
static void make_alphabet(struct loading *x)
{
    int16_t next = 0x100;
    for (int c = 0; c < CHARACTERS; c++) x->byte_of[c] = -1;
    for (int16_t b = 0; b < 256; b++) {
        bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        x->byte_of[printable ? b : next++] = b;
    }
}

/* The bytes that a token's text means, into out (as many as text has, at most); -1: some
 * character is none of the alphabet. Text is valid UTF-8. */
static int64_t to_bytes(const struct loading *x, char *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int64_t n = 0;
    while (*s) {
        unsigned c = *s++;
        if (c >= 0x80) {
            if (c > 0xC5) return -1; /* beyond U+017F */
            c = (c & 0x1Fu) << 6 | (*s++ & 0x3Fu);
        }
        if (c >= CHARACTERS || x->byte_of[c] < 0) return -1;
        out[n++] = (char)x->byte_of[c];
    }
    return n;
}

/* ---- words by their bytes --------------------------------------------------------------- */

static struct word *word_slot(const struct loading *x, const char *bytes, size_t n)
{
    uint64_t z = 0xCBF29CE484222325u; /* FNV-1a, Fowler, Noll and Vo */
    for (size_t i = 0; i < n; i++) z = (z ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    uint32_t at = (uint32_t)(z ^ z >> 32) & x->word_mask;
    for (; x->words[at].id >= 0; at = (at + 1) & x->word_mask) {
        const struct bpe_token *t = &x->b->tokens[x->words[at].id];
        if (t->len == n && memcmp(x->b->pool + t->at, bytes, n) == 0) break;
    }
    return &x->words[at];
}

static uint32_t power_above(size_t n)
{
    uint32_t p = 16;
    while (p < 2 * n) p *= 2;
    return p;
}

/* ---- the vocabulary ---------------------------------------------------------------------- */

static bool bad_token(const struct loading *x, struct err *e, const char *token,
                      const char *why)
{
    return err_set(e, ERR_INPUT, "%s: token \"%.*s\": %s", x->file, TEXT_ROOM, token,
                   why);
}

/* Sums up what the tables need, and checks the ids. */
static bool measure_vocab(const struct loading *x, json_t *vocab, int n_vocab,
                          size_t *pool, size_t *longest, int *n_id, struct err *e)
{
    const char *key;
    json_t *value;
    *pool = *longest = 0;
    *n_id = 0;
    if (!json_is_object(vocab) || json_object_size(vocab) == 0)
        return err_set(e, ERR_INPUT, "%s: there is no vocabulary", x->file);
    json_object_foreach(vocab, key, value)
    {
        size_t n = strlen(key);
        json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
        if (id < 0 || id >= n_vocab)
            return err_set(e, ERR_INPUT, "%s: token \"%.*s\": its id is not in 0 to %d",
                           x->file, TEXT_ROOM, key, n_vocab - 1);
        if (n == 0) return bad_token(x, e, key, "is empty");
        if (id >= *n_id) *n_id = (int)id + 1;
        if (n > *longest) *longest = n;
        *pool += n;
    }
    return true;
}

static bool add_token(struct loading *x, const char *text, int32_t id, size_t *used,
                      struct err *e)
{
    struct model_bpe *b = x->b;
    struct bpe_token *t = &b->tokens[id];
    if (t->len > 0) return bad_token(x, e, text, "another has the same id");
    char *to = b->pool + *used;
    int64_t n = to_bytes(x, to, text);
    bool plain = n < 0; /* an added token, or a foreign one: it stands for its own text */
    if (plain) {
        n = (int64_t)strlen(text);
        memcpy(to, text, (size_t)n);
    }
    *t = (struct bpe_token){(uint32_t)*used, (uint32_t)n};
    *used += (size_t)n;
    if (strcmp(text, SPECIAL) == 0) b->special = id;
    if (plain) return true;
    word_slot(x, to, (size_t)n)->id = id;
    if (n == 1) b->byte_id[(unsigned char)to[0]] = id;
    return true;
}

static bool add_vocab(struct loading *x, json_t *vocab, struct err *e)
{
    size_t used = 0;
    const char *key;
    json_t *value;
    json_object_foreach(vocab, key, value)
    {
        if (!add_token(x, key, (int32_t)json_integer_value(value), &used, e))
            return false;
    }
    return true;
}

/* All tables at once, for n_merge merges at most. Pool offsets fit in 32 bits, since files
 * have at most 16 MiB. */
static bool make_tables(struct loading *x, json_t *vocab, int n_vocab, size_t n_merge,
                        struct err *e)
{
    size_t pool, longest;
    int n_id;
    if (!measure_vocab(x, vocab, n_vocab, &pool, &longest, &n_id, e)) return false;
    uint32_t slots = power_above(n_merge), words = power_above(json_object_size(vocab));
    struct arena mem = {0};
    size_t bytes = sizeof(struct model_bpe) + pool +
                   (size_t)n_id * sizeof(struct bpe_token) +
                   slots * sizeof(struct bpe_merge) + ROUNDING;
    if (!arena_init(&mem, bytes, e)) return false;
    struct model_bpe *b = arena_push(&mem, 1, sizeof *b);
    b->pool = arena_push(&mem, pool, 1);
    b->tokens = arena_push(&mem, (size_t)n_id, sizeof *b->tokens);
    b->merges = arena_push(&mem, slots, sizeof *b->merges);
    b->n_id = n_id;
    b->merge_mask = slots - 1;
    b->special = -1;
    for (uint32_t i = 0; i < slots; i++) b->merges[i].left = -1;
    for (int i = 0; i < 256; i++) b->byte_id[i] = -1;
    b->mem = mem;
    x->b = b;
    x->scratch_room = 2 * longest;
    x->word_mask = words - 1;
    if (!arena_init(&x->mem, words * sizeof *x->words + x->scratch_room + ROUNDING, e))
        return false;
    x->words = arena_push(&x->mem, words, sizeof *x->words);
    x->scratch = arena_push(&x->mem, x->scratch_room, 1);
    for (uint32_t i = 0; i < words; i++) x->words[i].id = -1;
    return add_vocab(x, vocab, e);
}

/* ---- merges ----------------------------------------------------------------------------- */

/* The bytes of a token named in a merge, put at x->scratch + at; -1: it is none. */
static int32_t find_word(const struct loading *x, const char *text, size_t at, size_t *n)
{
    if (strlen(text) > x->scratch_room / 2) return -1;
    int64_t len = to_bytes(x, x->scratch + at, text);
    if (len <= 0) return -1;
    *n = (size_t)len;
    return word_slot(x, x->scratch + at, *n)->id;
}

static bool add_merge(struct loading *x, const char *left, const char *right,
                      struct err *e)
{
    size_t n = 0, k = 0;
    int32_t a = find_word(x, left, 0, &n);
    int32_t b = a < 0 ? -1 : find_word(x, right, n, &k);
    const char *unknown = a < 0 ? left : right;
    if (b < 0)
        return err_set(e, ERR_INPUT, "%s: merge %d names \"%.*s\", which is no token",
                       x->file, x->n_merge + 1, TEXT_ROOM, unknown);
    int32_t id = word_slot(x, x->scratch, n + k)->id;
    if (id < 0)
        return err_set(e, ERR_INPUT, "%s: merge %d makes \"%.*s%.*s\", which is no token",
                       x->file, x->n_merge + 1, TEXT_ROOM, left, TEXT_ROOM, right);
    struct bpe_merge *m = bpe_slot(x->b, a, b);
    if (m->left >= 0)
        return err_set(e, ERR_INPUT, "%s: merge %d repeats merge %d", x->file,
                       x->n_merge + 1, m->rank + 1);
    *m = (struct bpe_merge){a, b, x->n_merge++, id};
    return true;
}

/* "left right", taken apart where it stands. */
static bool add_merge_line(struct loading *x, char *line, struct err *e)
{
    char *space = strchr(line, ' ');
    if (!space || space == line || space[1] == '\0' || strchr(space + 1, ' '))
        return err_set(e, ERR_INPUT, "%s: merge %d is not two tokens: \"%.*s\"", x->file,
                       x->n_merge + 1, TEXT_ROOM, line);
    *space = '\0';
    return add_merge(x, line, space + 1, e);
}

/* At least as many merges as there are: "a b" and a newline take four bytes. */
static size_t count_merges(const char *text, size_t n)
{
    size_t lines = 1;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    return lines < n / 4 + 1 ? lines : n / 4 + 1;
}

static bool add_merges_text(struct loading *x, char *text, size_t n, struct err *e)
{
    if (memchr(text, '\0', n))
        return err_set(e, ERR_INPUT, "%s: holds a zero byte", x->file);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        size_t len = strlen(line);
        if (len > 0 && line[len - 1] == '\r') line[len - 1] = '\0';
        bool version = line == text && strncmp(line, "#version", 8) == 0;
        if (*line && !version && !add_merge_line(x, line, e)) return false;
    }
    return true;
}

static bool add_merges_json(struct loading *x, const json_t *merges, struct err *e)
{
    for (size_t i = 0; i < json_array_size(merges); i++) {
        const json_t *m = json_array_get(merges, i);
        const char *left = json_string_value(json_array_get(m, 0));
        const char *right = json_string_value(json_array_get(m, 1));
        if (json_is_string(m)) { /* "left right", before tokenizers 0.20 */
            size_t n = json_string_length(m);
            struct arena copy = {0};
            char *line = arena_init(&copy, n + 1, e)
                             ? arena_text(&copy, json_string_value(m), n)
                             : NULL;
            bool ok = line && add_merge_line(x, line, e);
            arena_free(&copy);
            if (!ok) return false;
        } else if (left && right && json_array_size(m) == 2) {
            if (!add_merge(x, left, right, e)) return false;
        } else {
            return err_set(e, ERR_INPUT, "%s: merge %zu is not two tokens", x->file,
                           i + 1);
        }
    }
    return true;
}

/* ---- files -------------------------------------------------------------------------------- */

static bool load_pair(struct loading *x, const char *vocab_path, const char *merges_path,
                      int n_vocab, struct err *e)
{
    struct file_in f = {0};
    struct arena mem = {0};
    x->file = "merges.txt";
    if (!file_open(&f, merges_path, e)) return false;
    size_t n = f.size <= FILE_MAX_BYTES ? (size_t)f.size : 0;
    char *text = NULL;
    bool ok = false;
    if (f.size > FILE_MAX_BYTES)
        (void)err_set(e, ERR_INPUT, "%s: %ju bytes long, at most %d are read", x->file,
                      (uintmax_t)f.size, FILE_MAX_BYTES);
    else if (arena_init(&mem, n + 1, e) && (text = arena_push(&mem, n + 1, 1)))
        ok = file_read_at(&f, text, n, 0, e) ? true : err_at(e, x->file);
    json_t *vocab = ok ? strict_json_file(vocab_path, FILE_MAX_BYTES, e) : NULL;
    x->file = "vocab.json";
    ok = vocab && make_tables(x, vocab, n_vocab, count_merges(text, n), e);
    x->file = "merges.txt";
    ok = ok && add_merges_text(x, text, n, e);
    json_decref(vocab);
    arena_free(&mem);
    file_close(&f);
    return ok;
}

/* Whether pieces are cut as GPT-2 cuts them. */
static bool check_tokenizer(const json_t *root, const json_t *model, struct err *e)
{
    const char *type = json_string_value(json_object_get(model, "type"));
    if (type && strcmp(type, "BPE") != 0)
        return err_set(e, ERR_INPUT, "tokenizer.json: model \"%.*s\"; BPE is read",
                       TEXT_ROOM, type);
    const json_t *pre = json_object_get(root, "pre_tokenizer");
    type = json_string_value(json_object_get(pre, "type"));
    if (!type || strcmp(type, "ByteLevel") != 0)
        return err_set(
            e, ERR_INPUT,
            "tokenizer.json: pre_tokenizer \"%.*s\"; GPT-2's ByteLevel is read",
            TEXT_ROOM, type ? type : "none");
    if (json_is_true(json_object_get(pre, "add_prefix_space")))
        return err_set(e, ERR_INPUT,
                       "tokenizer.json: add_prefix_space is true; GPT-2's "
                       "is false");
    return true;
}

/* Tokens that stand beside the vocabulary, <|endoftext|> among them. */
static bool add_added(json_t *vocab, const json_t *added, struct err *e)
{
    for (size_t i = 0; i < json_array_size(added); i++) {
        const json_t *token = json_array_get(added, i);
        const char *content = json_string_value(json_object_get(token, "content"));
        const json_t *id = json_object_get(token, "id");
        if (!content || !json_is_integer(id))
            return err_set(e, ERR_INPUT,
                           "tokenizer.json: added token %zu has no content "
                           "and id",
                           i + 1);
        if (json_object_get(vocab, content)) continue;
        if (json_object_set_new(vocab, content, json_integer(json_integer_value(id))) !=
            0)
            return err_set(e, ERR_SYSTEM, "tokenizer.json: no memory for its tokens");
    }
    return true;
}

static bool load_single(struct loading *x, const char *path, int n_vocab, struct err *e)
{
    x->file = "tokenizer.json";
    json_t *root = strict_json_file(path, FILE_MAX_BYTES, e);
    if (!root) return false;
    const json_t *model = json_object_get(root, "model");
    const json_t *merges = json_object_get(model, "merges");
    json_t *vocab = json_object_get(model, "vocab");
    bool ok = check_tokenizer(root, model, e) &&
              (json_is_array(merges) ||
               err_set(e, ERR_INPUT, "%s: there are no merges", x->file)) &&
              (!json_is_object(vocab) ||
               add_added(vocab, json_object_get(root, "added_tokens"), e)) &&
              make_tables(x, vocab, n_vocab, json_array_size(merges), e) &&
              add_merges_json(x, merges, e);
    json_decref(root);
    return ok;
}

static bool compile(struct model_bpe *b, struct err *e)
{
    int code = 0;
    size_t at = 0;
    b->pattern = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                               PCRE2_UTF | PCRE2_UCP, &code, &at, NULL);
    if (b->pattern) return true;
    return err_set(e, ERR_SYSTEM, "PCRE2 does not take the tokenizer's pattern: error %d",
                   code);
}

static bool join(char out[PATH_ROOM], const char *folder, const char *name, struct err *e)
{
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] != '/' ? "/" : "";
    int len = snprintf(out, PATH_ROOM, "%s%s%s", folder, slash, name);
    if (len >= 0 && len < PATH_ROOM) return true;
    return err_set(e, ERR_INPUT, "the path is longer than %d bytes", PATH_ROOM);
}

bool model_bpe_open(struct model_bpe **out, const char *folder, int n_vocab,
                    struct err *e)
{
    char vocab[PATH_ROOM], merges[PATH_ROOM], single[PATH_ROOM];
    *out = NULL;
    if (!join(vocab, folder, "vocab.json", e) || !join(merges, folder, "merges.txt", e) ||
        !join(single, folder, "tokenizer.json", e))
        return false;
    bool one = file_exists(single), pair = file_exists(vocab) && file_exists(merges);
    if (!one && !pair && !file_exists(vocab)) return true;
    struct loading x = {.b = NULL};
    make_alphabet(&x);
    bool ok = pair || !one ? load_pair(&x, vocab, merges, n_vocab, e)
                           : load_single(&x, single, n_vocab, e);
    ok = ok && compile(x.b, e);
    arena_free(&x.mem);
    if (!ok) model_bpe_close(x.b);
    *out = ok ? x.b : NULL;
    return ok;
}

void model_bpe_close(struct model_bpe *b)
{
    if (!b) return;
    pcre2_code_free(b->pattern);
    struct arena mem = b->mem; /* the tables, and b itself */
    arena_free(&mem);
}
