/* GPT-2's byte-level BPE (Sennrich et al. 2016; openai/gpt-2, src/encoder.py). Text is cut
 * into pieces by a pattern, and in each piece the pair with the lowest rank is merged
 * until no pair has one. Pairs wait in a heap, so a piece of n bytes takes n log n. */
#include "bpe.h"

#include <assert.h>
#include <string.h>

enum { TEXT_MAX = 1 << 28 };

int model_bpe_size(const struct model_bpe *b)
{
    return b->n_id;
}

int32_t model_bpe_special(const struct model_bpe *b)
{
    return b->special;
}

const char *model_bpe_token(const struct model_bpe *b, int32_t id, size_t *len)
{
    *len = id >= 0 && id < b->n_id ? b->tokens[id].len : 0;
    return *len ? b->pool + b->tokens[id].at : "";
}

struct bpe_merge *bpe_slot(const struct model_bpe *b, int32_t left, int32_t right)
{
    /* The finalizer of MurmurHash3: every bit of the pair moves every bit of the slot. */
    uint64_t z = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    z = (z ^ z >> 33) * 0xFF51AFD7ED558CCDu;
    z = (z ^ z >> 33) * 0xC4CEB9FE1A85EC53u;
    uint32_t at = (uint32_t)(z ^ z >> 33) & b->merge_mask;
    while (b->merges[at].left >= 0 &&
           (b->merges[at].left != left || b->merges[at].right != right))
        at = (at + 1) & b->merge_mask;
    return &b->merges[at];
}

/* ---- valid UTF-8 ---------------------------------------------------------------------- */

static bool check_utf8(const char *text, size_t n, struct err *e)
{
    for (size_t i = 0; i < n;) {
        size_t len = utf8_length((const unsigned char *)text + i, n - i);
        if (len == 0) return err_set(e, ERR_INPUT, "text: byte %zu is not UTF-8", i);
        i += len;
    }
    return true;
}

/* ---- one piece ------------------------------------------------------------------------ */

/* A pair that may be merged: symbols left and right, as they were when it was found, at
 * position `at` of the piece. */
struct pair {
    int32_t rank, at, left, right;
};

/* A piece while it is merged: symbol i has an id and neighbours; id -1: it has gone into
 * the one before. */
struct piece {
    const struct model_bpe *b;
    int32_t *id, *prev, *next;
    struct pair *heap; /* the least rank, then the least position, first */
    int n_heap;
};

static bool before(const struct pair *a, const struct pair *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_push(struct piece *p, struct pair x)
{
    int i = p->n_heap++;
    for (; i > 0 && before(&x, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = x;
}

static struct pair heap_pop(struct piece *p)
{
    struct pair top = p->heap[0], x = p->heap[--p->n_heap];
    int i = 0;
    for (int child; (child = 2 * i + 1) < p->n_heap; i = child) {
        if (child + 1 < p->n_heap && before(&p->heap[child + 1], &p->heap[child]))
            child++;
        if (!before(&p->heap[child], &x)) break;
        p->heap[i] = p->heap[child];
    }
    p->heap[i] = x;
    return top;
}

static void push_pair(struct piece *p, int32_t at)
{
    if (at < 0 || p->next[at] < 0) return;
    int32_t left = p->id[at], right = p->id[p->next[at]];
    const struct bpe_merge *m = bpe_slot(p->b, left, right);
    if (m->left >= 0) heap_push(p, (struct pair){m->rank, at, left, right});
}

/* Every merge takes a pair off and puts at most two on, so that the heap never holds more
 * than 2n: n - 1 from the start and one more for each of at most n - 1 merges. */
static void merge_piece(struct piece *p, int n)
{
    p->n_heap = 0;
    for (int i = 0; i < n; i++) {
        p->prev[i] = i - 1;
        p->next[i] = i + 1 < n ? i + 1 : -1;
    }
    for (int i = 0; i < n; i++) push_pair(p, i);
    while (p->n_heap > 0) {
        struct pair x = heap_pop(p);
        int32_t right = p->next[x.at];
        if (p->id[x.at] != x.left || right < 0 || p->id[right] != x.right) continue;
        p->id[x.at] = bpe_slot(p->b, x.left, x.right)->id;
        p->id[right] = -1;
        p->next[x.at] = p->next[right];
        if (p->next[right] >= 0) p->prev[p->next[right]] = x.at;
        push_pair(p, p->prev[x.at]);
        push_pair(p, x.at);
    }
}

/* ---- the text -------------------------------------------------------------------------- */

/* The work of one encoding: memory for the longest piece so far. */
struct encoding {
    const struct model_bpe *b;
    const char *text;
    size_t len;
    int32_t *ids;
    size_t room, n;
    struct arena mem;
    struct piece piece;
    size_t piece_room;
};

static bool piece_init(struct encoding *x, size_t n, struct err *e)
{
    if (n <= x->piece_room) return true;
    size_t room = 2 * n;
    arena_free(&x->mem);
    x->piece_room = 0;
    if (!arena_init(&x->mem, room * (3 * sizeof(int32_t) + 2 * sizeof(struct pair)) + 256,
                    e))
        return false;
    x->piece = (struct piece){
        .b = x->b,
        .id = arena_take(&x->mem, room, sizeof(int32_t)),
        .prev = arena_take(&x->mem, room, sizeof(int32_t)),
        .next = arena_take(&x->mem, room, sizeof(int32_t)),
        .heap = arena_take(&x->mem, 2 * room, sizeof(struct pair)),
    };
    x->piece_room = room;
    return true;
}

static bool encode_piece(struct encoding *x, size_t at, size_t n, struct err *e)
{
    if (!piece_init(x, n, e)) return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)x->text[at + i];
        x->piece.id[i] = x->b->byte_id[byte];
        if (x->piece.id[i] < 0)
            return err_set(e, ERR_INPUT,
                           "text: byte %zu (%02X) has no token in this vocabulary",
                           at + i, byte);
    }
    merge_piece(&x->piece, (int)n);
    for (int32_t i = 0; i >= 0; i = x->piece.next[i], x->n++)
        if (x->n < x->room) x->ids[x->n] = x->piece.id[i];
    return true;
}

static bool encode_pieces(struct encoding *x, pcre2_match_data *found, struct err *e)
{
    const size_t *ends = pcre2_get_ovector_pointer(found);
    for (size_t at = 0; at < x->len; at = ends[1]) {
        int rc = pcre2_match(x->b->pattern, (PCRE2_SPTR)x->text, x->len, at,
                             PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK, found, NULL);
        if (rc == PCRE2_ERROR_NOMEMORY)
            return err_set(e, ERR_SYSTEM, "no memory to tokenize the text");
        /* The pattern's alternatives take every character there is. */
        if (rc < 0 || ends[1] <= at)
            return err_set(e, ERR_SYSTEM, "text: PCRE2 error %d at byte %zu", rc, at);
        if (!encode_piece(x, at, ends[1] - at, e)) return false;
    }
    return true;
}

bool model_bpe_encode(const struct model_bpe *b, int32_t *ids, size_t room, size_t *n,
                      const char *text, size_t len, struct err *e)
{
    *n = 0;
    if (len > TEXT_MAX)
        return err_set(e, ERR_INPUT, "text: %zu bytes, at most %d are read", len,
                       TEXT_MAX);
    if (!check_utf8(text, len, e)) return false;
    pcre2_match_data *found = pcre2_match_data_create(1, NULL);
    if (!found) return err_set(e, ERR_SYSTEM, "no memory to tokenize the text");
    struct encoding x = {.b = b, .text = text, .len = len, .ids = ids, .room = room};
    bool ok = encode_pieces(&x, found, e);
    *n = x.n;
    arena_free(&x.mem);
    pcre2_match_data_free(found);
    return ok;
}
