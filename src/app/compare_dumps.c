/* Two dumps beside each other: two models, two texts, two heads. The second is one of
 * --dump, whose manifest says the sizes. */
#include "compare.h"
#include "compare_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MANIFEST_MOST = 1 << 26, TEXT_ROOM = 1 << 20, BLOCKS_MOST = 4096 };

struct pair {
    const struct cli *cli;
    struct model_dump *a, *b;
    struct attn_dims dims;
    int d_mlp, n_block;
    struct sheet sheet;
    bool differs, any;
};

/* ---- the manifest ------------------------------------------------------------------------------ */

static bool no_manifest(const char *path, struct err *e)
{
    return err_set(e, ERR_INPUT,
                   "%s: has no manifest that can be read; --with takes what headlight "
                   "--dump wrote",
                   path);
}

static bool parse_manifest(struct pair *p, const char *text, size_t n, struct err *e)
{
    json_error_t why;
    json_t *m = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    const char *format = NULL;
    int blocks = 0;
    bool ok = m && json_unpack(m, "{s:s, s:{s:i, s:i, s:i}, s?{s?i, s?i}}", "format",
                               &format, "dims", "n_tok", &p->dims.n_tok, "d_model",
                               &p->dims.d_model, "n_head", &p->dims.n_head, "model",
                               "d_mlp", &p->d_mlp, "n_layer", &blocks) == 0;
    ok = ok && strcmp(format, "headlight dump 1") == 0 &&
         attn_dims_check(p->dims) == ATTN_OK && p->dims.n_tok <= STEP_MODEL_TOKENS &&
         p->dims.d_model <= 1 << 17 && p->d_mlp >= 0 && p->d_mlp <= 1 << 20;
    p->n_block = blocks > 0 && blocks <= BLOCKS_MOST ? blocks : 1;
    json_decref(m);
    return ok || no_manifest(p->cli->with, e);
}

static bool manifest_of_npz(struct pair *p, struct err *e)
{
    struct model_npz *z = NULL;
    struct model_array a = {0};
    bool ok = model_npz_open(&z, p->cli->with, e);
    int at = -1;
    for (int i = 0; ok && i < model_npz_count(z); i++)
        if (strcmp(model_npz_name(z, i), "manifest") == 0) at = i;
    if (ok && at < 0) ok = no_manifest(p->cli->with, e);
    ok = ok && model_npz_read(z, at, &a, MANIFEST_MOST, e);
    if (ok) {
        size_t n = (size_t)model_array_count(&a);
        struct arena mem = {0};
        ok = arena_init(&mem, n + 64, e);
        char *text = ok ? arena_push(&mem, n + 1, 1) : NULL;
        for (size_t i = 0; ok && i < n; i++) text[i] = (char)(unsigned char)a.data[i];
        ok = ok && parse_manifest(p, text, n, e);
        arena_free(&mem);
    }
    model_array_free(&a);
    model_npz_close(z);
    return ok;
}

static bool read_manifest(struct pair *p, struct err *e)
{
    char path[FILE_PATH], *text = NULL;
    size_t n = 0;
    struct arena mem = {0};
    struct file_in f = {0};
    if (!file_is_folder(p->cli->with)) return manifest_of_npz(p, e);
    int len = snprintf(path, sizeof path, "%s/manifest.json", p->cli->with);
    if (len < 0 || (size_t)len >= sizeof path || !file_exists(path))
        return no_manifest(p->cli->with, e);
    if (!file_open(&f, path, e)) return false;
    uint64_t size = f.size < MANIFEST_MOST ? f.size : MANIFEST_MOST;
    file_close(&f);
    bool ok = arena_init(&mem, (size_t)size + 128, e) &&
              file_read(path, MANIFEST_MOST, &mem, &text, &n, e) &&
              parse_manifest(p, text, n, e);
    arena_free(&mem);
    return ok;
}

/* ---- one block -------------------------------------------------------------------------------------- */

static int heads_there(const struct model_theirs *t, int *only)
{
    int n = 0;
    for (int id = 0; id < MODEL_T_W_QKV; id++)
        for (int h = 0; model_tensor_has_heads((enum model_tensor)id) && t->at[id] &&
                        h < t->dims.n_head;
             h++) {
            if (!t->has_head[id][h] || (n > 0 && *only == h)) continue;
            *only = h;
            n++;
        }
    return n;
}

/* Head `from` of everything goes where head `to` is. */
static void move_head(struct model_theirs *t, int from, int to)
{
    size_t n = (size_t)t->dims.n_tok, d = (size_t)t->dims.d_model;
    size_t each = d / (size_t)t->dims.n_head;
    for (int id = 0; id < MODEL_T_W_QKV; id++) {
        if (!model_tensor_has_heads((enum model_tensor)id) || !t->at[id]) continue;
        bool square = id >= (int)MODEL_T_SCORES && id <= (int)MODEL_T_WEIGHTS;
        if (square)
            memcpy(t->at[id] + (size_t)to * n * n, t->at[id] + (size_t)from * n * n,
                   n * n * sizeof(float));
        for (size_t i = 0; !square && i < n; i++)
            memcpy(t->at[id] + i * d + (size_t)to * each,
                   t->at[id] + i * d + (size_t)from * each, each * sizeof(float));
        t->has_head[id][to] = t->has_head[id][from];
        t->has_head[id][from] = false;
    }
}

/* Heads that both have; two single ones are put beside each other. */
static void pair_heads(struct pair *p, struct model_theirs *a,
                       const struct model_theirs *b)
{
    int of_a = -1, of_b = -1;
    if (heads_there(a, &of_a) == 1 && heads_there(b, &of_b) == 1 && of_a != of_b) {
        move_head(a, of_a, of_b);
        sheet_print(&p->sheet, "  head %d beside head %d\n", of_a + 1, of_b + 1);
    }
    for (int id = 0; id < MODEL_T_W_QKV; id++) {
        bool some = false;
        if (!model_tensor_has_heads((enum model_tensor)id) || !a->at[id] || !b->at[id])
            continue;
        for (int h = 0; h < a->dims.n_head; h++) {
            a->has_head[id][h] = a->has_head[id][h] && b->has_head[id][h];
            some = some || a->has_head[id][h];
        }
        if (!some) a->at[id] = NULL;
    }
}

/* Sizes with something at every tensor, so that all that b holds is taken. */
static bool all_of(struct model_numbers *v, const struct pair *p, struct err *e)
{
    int64_t most = 0;
    *v = (struct model_numbers){.dims = p->dims, .d_mlp = p->d_mlp};
    for (int t = 0; t < MODEL_T_COUNT; t++)
        if (model_numbers_count(v, (enum model_tensor)t) > most)
            most = model_numbers_count(v, (enum model_tensor)t);
    if (!arena_init(&v->mem, (size_t)most * sizeof(float) + 64, e)) return false;
    float *zeros = arena_push(&v->mem, (size_t)most, sizeof *zeros);
    for (int t = 0; t < MODEL_T_COUNT; t++) v->at[t] = zeros;
    return true;
}

static void report(struct pair *p, const struct model_theirs *a,
                   const struct model_theirs *b, int l)
{
    struct compare_block row = {.l = l};
    enum model_tensor first = MODEL_T_COUNT;
    for (int t = 0; t < MODEL_T_COUNT; t++) {
        row.there[t] = a->at[t] && b->at[t];
        if (!row.there[t]) continue;
        p->any = true;
        row.diff[t] = model_theirs_diff(a, (enum model_tensor)t, b->at[t]);
        (void)snprintf(row.name[t], sizeof row.name[t], "%s", a->name[t]);
        int64_t at = row.diff[t].first;
        if (at < 0) continue;
        row.theirs[t] = a->at[t][at];
        row.ours[t] = b->at[t][at];
        if (first == MODEL_T_COUNT) first = (enum model_tensor)t;
    }
    sheet_block(&p->sheet, &row);
    sheet_notes(&p->sheet, a);
    if (first == MODEL_T_COUNT || p->differs) return;
    p->differs = true;
    sheet_first(&p->sheet, &row, first, p->dims, p->d_mlp);
}

/* Block la of the one beside block lb of the other. */
static bool compare_pair(struct pair *p, int la, int lb, struct err *e)
{
    struct model_numbers all, ours = {.dims = p->dims, .d_mlp = p->d_mlp};
    struct model_theirs a = {0}, b = {0};
    struct model_want want = {.block = lb, .head = -1, .tolerance = p->cli->tolerance};
    bool ok = all_of(&all, p, e) && model_theirs_read(&b, p->b, &want, &all, e);
    memcpy(ours.at, b.at, sizeof ours.at);
    want.block = la;
    ok = ok && model_theirs_read(&a, p->a, &want, &ours, e);
    if (ok) {
        if (la != lb)
            sheet_print(&p->sheet, "\nblock %d beside block %d\n", la + 1, lb + 1);
        pair_heads(p, &a, &b);
        report(p, &a, &b, la);
    }
    model_theirs_free(&a);
    model_theirs_free(&b);
    model_numbers_free(&all);
    return ok;
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

/* The only block of a dump, -1: it has several or none. */
static int only_block(struct model_dump *d, int n_block)
{
    int only = -1;
    for (int l = 0; l < n_block; l++) {
        struct model_want want = {.block = l};
        if (!model_dump_has_block(d, &want)) continue;
        if (only >= 0) return -1;
        only = l;
    }
    return only;
}

static bool compare_all(struct pair *p, struct err *e)
{
    int a = only_block(p->a, BLOCKS_MOST), b = only_block(p->b, p->n_block);
    if (a >= 0 && b >= 0 && a != b) return compare_pair(p, a, b, e);
    for (int l = 0; l < p->n_block; l++) {
        struct model_want want = {.block = l};
        if (model_dump_has_block(p->a, &want) && model_dump_has_block(p->b, &want) &&
            !compare_pair(p, l, l, e))
            return false;
    }
    return true;
}

bool compare_dumps(const struct cli *cli, struct arena *mem, const char **text,
                   bool *agrees, struct err *e)
{
    struct arena self = {0};
    if (!arena_init(&self, sizeof(struct pair), e)) return false;
    struct pair *p = arena_push(&self, 1, sizeof *p);
    p->cli = cli;
    bool ok = arena_init(mem, TEXT_ROOM + 64, e);
    if (ok) p->sheet = (struct sheet){arena_push(mem, TEXT_ROOM, 1), 0, TEXT_ROOM};
    ok = ok && model_dump_open(&p->a, cli->compare, e) &&
         model_dump_open(&p->b, cli->with, e) && read_manifest(p, e);
    if (ok)
        sheet_print(&p->sheet, "%s beside %s, %d tokens\n", cli->compare, cli->with,
                    p->dims.n_tok);
    ok = ok && compare_all(p, e);
    if (ok && !p->any)
        ok = err_set(e, ERR_INPUT, "%s: has no block and no matrix that %s has",
                     cli->compare, cli->with);
    if (ok && !p->differs)
        sheet_print(&p->sheet, "\nEverything that was compared agrees.\n");
    *agrees = ok && !p->differs;
    *text = p->sheet.at;
    model_dump_close(p->a);
    model_dump_close(p->b);
    arena_free(&self);
    return ok;
}
