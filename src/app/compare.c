/* Somebody's dump beside a model's numbers: which blocks, in which order, and, where it
 * differs, the mistakes that lie outside of a block: other positions, another token. */
#include "compare.h"
#include "breaks.h"
#include "compare_text.h"
#include "edits.h"

#include <stdio.h>
#include <string.h>

static struct sheet sheet_of(struct compare *c)
{
    return (struct sheet){c->text, c->n_text, c->room};
}

static void keep(struct compare *c, struct sheet s)
{
    c->n_text = s.n;
}

bool compare_agrees(const struct compare *c)
{
    return c->bad < 0 && !c->token_more;
}

const struct compare_block *compare_block_of(const struct compare *c, int l)
{
    for (int i = 0; i < c->n; i++)
        if (c->block[i].l == l) return &c->block[i];
    return NULL;
}

bool compare_take(struct compare *c, int l, struct err *e)
{
    struct model_block b;
    if (c->at == l) return true;
    c->at = -1;
    model_theirs_free(&c->theirs);
    c->want.block = l;
    if (!numbers_block(&c->numbers, l, &b, e) ||
        !model_numbers_run(&c->ours, &b, MODEL_T_B_O, &c->numbers.attn, e) ||
        !model_theirs_read(&c->theirs, c->dump, &c->want, &c->ours, e))
        return false;
    c->at = l;
    return true;
}

void compare_free(struct compare *c)
{
    model_theirs_free(&c->theirs);
    model_numbers_free(&c->ours);
    model_dump_close(c->dump);
    arena_free(&c->mem);
    numbers_close(&c->numbers);
    *c = (struct compare){0};
}

/* What is in hand, measured. */
static void measure(struct compare_block *b, const struct model_theirs *theirs,
                    const struct model_numbers *ours)
{
    for (int t = 0; t < MODEL_T_COUNT; t++) {
        b->there[t] = theirs->at[t] && ours->at[t];
        if (!b->there[t]) continue;
        b->diff[t] = model_theirs_diff(theirs, (enum model_tensor)t, ours->at[t]);
        (void)snprintf(b->name[t], sizeof b->name[t], "%s", theirs->name[t]);
        int64_t at = b->diff[t].first;
        if (at < 0) continue;
        b->ours[t] = ours->at[t][at];
        b->theirs[t] = theirs->at[t][at];
    }
}

/* A parameter that differs makes everything else differ: it comes first. */
static bool first_bad(const struct compare_block *b, enum model_tensor *out)
{
    for (int i = 0; i < MODEL_T_COUNT; i++) {
        int t = (i + MODEL_T_W_QKV) % MODEL_T_COUNT;
        if (!b->there[t] || b->diff[t].n_bad == 0) continue;
        *out = (enum model_tensor)t;
        return true;
    }
    return false;
}

static bool anything(const struct compare_block *b)
{
    for (int t = 0; t < MODEL_T_COUNT; t++)
        if (b->there[t]) return true;
    return false;
}

static bool compare_blocks(struct compare *c, struct err *e)
{
    struct sheet s = sheet_of(c);
    for (int l = 0; l < c->numbers.n_block; l++) {
        c->want.block = l;
        if (!model_dump_has_block(c->dump, &c->want)) continue;
        if (!compare_take(c, l, e)) return false;
        struct compare_block *b = &c->block[c->n];
        *b = (struct compare_block){.l = l};
        measure(b, &c->theirs, &c->ours);
        if (anything(b)) sheet_block(&s, b);
        sheet_notes(&s, &c->theirs);
        if (!anything(b)) continue;
        if (c->bad < 0 && first_bad(b, &c->first)) c->bad = c->n;
        c->n++;
    }
    keep(c, s);
    if (c->n > 0) return true;
    return err_set(e, ERR_INPUT, "%s: nothing in it could be compared%s%.300s",
                   c->cli->compare,
                   c->theirs.n_note ? ": " : "; see the names in README.md",
                   c->theirs.n_note ? c->theirs.note[0] : "");
}

/* ---- what lies outside of a block -------------------------------------------------------------- */

/* Numbers of the bad block where the model reads `h` in block 0, with a mistake in every
 * block or, -1, without one. */
static bool run_from(struct compare *c, struct attn_cmat h, int bad, int mistake,
                     struct model_numbers *v, struct err *e)
{
    struct model_block b;
    struct arena mem = {0};
    size_t n = (size_t)h.rows * (size_t)h.cols;
    if (!arena_init(&mem, n * sizeof(float) + 64, e)) return false;
    float *in = arena_take(&mem, n, sizeof *in);
    memcpy(in, h.data, n * sizeof *in);
    bool ok = true;
    for (int l = 0; ok && l <= bad; l++) {
        ok = numbers_block_at(&c->numbers, l,
                              (struct attn_cmat){in, h.rows, h.cols, h.cols}, &b, e) &&
             model_numbers_mistaken(v, &b, mistake, MODEL_T_BLOCK, &c->numbers.attn, e);
        if (ok) memcpy(in, v->at[MODEL_T_BLOCK], n * sizeof *in);
    }
    arena_free(&mem);
    return ok;
}

struct input {
    const char *name, *text;
    int shift;  /* of positions */
    bool bare;  /* no positions */
    int before; /* a token before the text: 1 the special one, 2 id 0, 3 the first again */
};

static const struct input inputs[] = {
    {"positions-1", "positions count from 1: token i has the position of token i + 1", 1,
     false, 0},
    {"positions-2", "positions count from 2", 2, false, 0},
    {"no-positions", "the position embeddings are missing", 0, true, 0},
    {"leading-special", "there is an extra leading token: <|endoftext|>", 0, false, 1},
    {"leading-0", "there is an extra leading token: id 0", 0, false, 2},
    {"leading-first", "there is an extra leading token: the first one twice", 0, false,
     3},
};

/* The n ids of an input, perhaps with one in front; the last falls out where n is the
 * text's own number. false: there is no such token. */
static bool ids_of(const struct compare *c, const struct input *in, int32_t *ids, int n)
{
    const int32_t *text = numbers_ids(&c->numbers);
    const struct model_bpe *bpe = model_net_bpe(c->numbers.net);
    int from = in->before ? 1 : 0;
    if (from == 0 && n > c->numbers.dims.n_tok) return false;
    int32_t special = bpe ? model_bpe_special(bpe) : -1;
    if (special < 0) special = model_net_info(c->numbers.net)->n_vocab - 1;
    if (from) ids[0] = in->before == 1 ? special : in->before == 2 ? 0 : text[0];
    for (int i = from; i < n; i++) ids[i] = text[i - from];
    return true;
}

static bool try_input(struct compare *c, const struct input *in, int bad, int n,
                      struct model_numbers *v, bool *made, struct err *e)
{
    int32_t ids[STEP_MODEL_TOKENS + 1]; /* the text's, and one in front */
    struct arena mem = {0};
    struct err none = {0};
    int d = c->numbers.dims.d_model;
    *made = false;
    if (!ids_of(c, in, ids, n)) return true;
    if (!arena_init(&mem, (size_t)n * (size_t)d * sizeof(float) + 64, e)) return false;
    float *h = arena_take(&mem, (size_t)n * (size_t)d, sizeof *h);
    bool ok = true;
    /* Positions beyond the model's: no such mistake in this text. */
    if (model_net_embed(c->numbers.net, h, ids, n, in->shift, in->bare, &none)) {
        ok = run_from(c, (struct attn_cmat){h, n, d, d}, bad, -1, v, e);
        *made = ok;
    }
    arena_free(&mem);
    return ok;
}

static bool other_inputs(struct compare *c, enum model_tensor first, struct err *e)
{
    struct model_numbers v = {.d_mlp = 0};
    int bad = c->block[c->bad].l;
    bool ok = true;
    for (size_t i = 0;
         ok && !c->why.name && c->numbers.net && i < sizeof inputs / sizeof inputs[0];
         i++) {
        bool made = false;
        struct model_diagnosis d = {0};
        ok = try_input(c, &inputs[i], bad, c->theirs.dims.n_tok, &v, &made, e);
        if (!made || !model_explains(&d, &v, &c->theirs, first)) continue;
        d.name = inputs[i].name;
        d.text = inputs[i].text;
        c->why = d;
    }
    model_numbers_free(&v);
    return ok;
}

/* Mistakes that are made in the blocks before the bad one too, which the dump has not. */
static bool in_every_block(struct compare *c, enum model_tensor first, struct err *e)
{
    struct model_block b;
    struct model_numbers v = {.d_mlp = 0};
    struct arena mem = {0};
    int bad = c->block[c->bad].l, n = c->numbers.dims.n_tok, d = c->numbers.dims.d_model;
    size_t all = (size_t)n * (size_t)d;
    if (bad == 0 || c->why.name || c->block[0].l < bad) return true;
    if (!arena_init(&mem, all * sizeof(float) + 64, e)) return false;
    float *h = arena_take(&mem, all, sizeof *h);
    bool ok = numbers_block(&c->numbers, 0, &b, e);
    if (ok) memcpy(h, b.h.data, all * sizeof *h);
    for (int i = 0; ok && !c->why.name && model_mistake_name(i); i++) {
        struct model_diagnosis why = {.name = model_mistake_name(i),
                                      .text = model_mistake_text(i)};
        ok = run_from(c, (struct attn_cmat){h, n, d, d}, bad, i, &v, e);
        if (ok && model_explains(&why, &v, &c->theirs, first)) c->why = why;
    }
    model_numbers_free(&v);
    arena_free(&mem);
    return ok;
}

/* Rows that are ours, further down by one: a token stands before them. Of weights from a
 * seed, whose inputs have no positions. */
static bool rows_moved(struct compare *c, enum model_tensor first, struct err *e)
{
    struct model_block b;
    struct model_numbers v = {.d_mlp = 0};
    struct arena mem = {0};
    int n = c->numbers.dims.n_tok, d = c->numbers.dims.d_model;
    size_t all = (size_t)n * (size_t)d;
    if (c->numbers.net || c->why.name || n < 3) return true;
    if (!arena_init(&mem, all * sizeof(float) + 64, e)) return false;
    float *h = arena_take(&mem, all, sizeof *h);
    bool ok = numbers_block(&c->numbers, 0, &b, e);
    if (ok) {
        /* What stands in front is not known, unless the dump says it. */
        const float *front = c->theirs.at[MODEL_T_H] ? c->theirs.at[MODEL_T_H] : b.h.data;
        memcpy(h, front, (size_t)d * sizeof *h);
        memcpy(h + d, b.h.data, (all - (size_t)d) * sizeof *h);
        b.h = (struct attn_cmat){h, n, d, d};
        ok = model_numbers_run(&v, &b, MODEL_T_BLOCK, &c->numbers.attn, e);
    }
    if (ok && model_explains(&c->why, &v, &c->theirs, first)) {
        c->why.name = "leading-token";
        c->why.text = "there is an extra leading token: every row is the one before";
    }
    model_numbers_free(&v);
    arena_free(&mem);
    return ok;
}

static bool diagnose(struct compare *c, struct err *e)
{
    struct model_block b;
    if (c->bad < 0) return true;
    struct compare_block *bad = &c->block[c->bad];
    if (!compare_take(c, bad->l, e)) return false;
    bool parameter = c->first >= MODEL_T_W_QKV;
    if (!parameter &&
        (!numbers_block(&c->numbers, bad->l, &b, e) ||
         !model_diagnose(&c->why, &b, &c->theirs, c->first, &c->numbers.attn, e) ||
         !in_every_block(c, c->first, e) || !rows_moved(c, c->first, e) ||
         !other_inputs(c, c->first, e)))
        return false;
    struct sheet s = sheet_of(c);
    sheet_first(&s, bad, c->first, c->theirs.dims, c->theirs.d_mlp);
    if (parameter)
        sheet_print(&s, "Diagnosis: the weights are not the model's.\n");
    else
        sheet_why(&s, &c->why, c->first);
    if (!c->why.name) sheet_evidence(&s, &c->theirs, c->ours.at[c->first], c->first);
    keep(c, s);
    return true;
}

/* ---- a token more ---------------------------------------------------------------------------------- */

/* A dump of n + 1 tokens: compared with each of the inputs that has a token in front. */
static bool token_more(struct compare *c, struct err *e)
{
    struct model_numbers v = {.d_mlp = 0};
    int n = c->numbers.dims.n_tok + 1, l = c->want.block;
    bool ok = c->numbers.net != NULL;
    if (!ok)
        return err_set(e, ERR_INPUT, "%s: is of %d tokens, one more than the %d compared",
                       c->cli->compare, n, n - 1);
    struct sheet s = sheet_of(c);
    sheet_print(&s, "The dump is of %d tokens, the text of %d.\n", n, n - 1);
    for (size_t i = 0; ok && !c->why.name && i < sizeof inputs / sizeof inputs[0]; i++) {
        bool made = false;
        struct compare_block b = {.l = l};
        enum model_tensor first = MODEL_T_H;
        if (!inputs[i].before) continue;
        ok = try_input(c, &inputs[i], l, n, &v, &made, e);
        if (!made) continue;
        model_theirs_free(&c->theirs);
        ok = model_theirs_read(&c->theirs, c->dump, &c->want, &v, e);
        if (!ok) break;
        measure(&b, &c->theirs, &v);
        if (first_bad(&b, &first) || !anything(&b)) continue;
        c->why.name = inputs[i].name;
        c->why.text = inputs[i].text;
        sheet_block(&s, &b);
        sheet_print(&s, "\nDiagnosis: %s (%s). With it everything agrees.\n", c->why.text,
                    c->why.name);
    }
    if (ok && !c->why.name)
        sheet_print(&s, "Diagnosis: unknown. There is an extra token, and with none of "
                        "<|endoftext|>, id 0 or the first one again in front do the "
                        "numbers agree.\n");
    model_numbers_free(&v);
    keep(c, s);
    return ok;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static bool begin(struct compare *c, char *note, size_t room, struct err *e)
{
    const struct cli *cli = c->cli;
    if (!model_dump_open(&c->dump, cli->compare, e)) return false;
    if (!numbers_open(&c->numbers, cli, note, room, e)) return false;
    char broken[256];
    breaks_print(broken, sizeof broken, &c->numbers.step);
    if (cli->mode == CLI_COMPARE && !attn_opts_fused(step_opts_of(&c->numbers.step)))
        return err_set(e, ERR_USAGE,
                       "--break %s: a table of a comparison follows scale=off, mask=off "
                       "and residual=off; leave the others out",
                       broken);
    const struct step_place *p = step_place_of(&c->numbers.step);
    size_t blocks = (size_t)c->numbers.n_block;
    c->room = (size_t)1 << 20;
    if (!arena_init(&c->mem, blocks * sizeof *c->block + c->room + 256, e)) return false;
    c->block = arena_push(&c->mem, blocks, sizeof *c->block);
    c->text = arena_push(&c->mem, c->room, 1);
    c->want = (struct model_want){.usual_block = c->numbers.net ? p->block : 0,
                                  .head = cli->head_given ? p->head : -1,
                                  .tolerance = cli->tolerance};
    return model_dump_first(c->dump, c->numbers.n_block, &c->want.first, e);
}

/* The tokens that the first block in the dump has. */
static bool look_at_tokens(struct compare *c, int *n, struct err *e)
{
    int d_mlp = c->numbers.net ? model_net_info(c->numbers.net)->d_mlp : 0;
    *n = c->numbers.dims.n_tok;
    for (int l = 0; l < c->numbers.n_block; l++) {
        c->want.block = l;
        if (!model_dump_has_block(c->dump, &c->want)) continue;
        return model_dump_tokens(c->dump, &c->want, c->numbers.dims, d_mlp, n, e);
    }
    return true;
}

/* What is edited of the numbers compared with, the first few of it by name. */
static void print_edits(struct sheet *s, const struct step_state *step)
{
    enum { NAMED = 4 };
    const struct step_place *p = step_place_of(step);
    int n = step_given_count(step), k = 0;
    for (int i = 0; i < p->n_edit && k < NAMED; i++) {
        char text[80];
        if (!step_given_is_here(step, &p->edits[i])) continue;
        edits_print(text, sizeof text, &p->edits[i].cell);
        if (k == 0)
            sheet_print(s, "compared with edited numbers, %d cell%s of block %d: ", n,
                        n == 1 ? "" : "s", p->edits[i].block + 1);
        sheet_print(s, "%s%s", k ? "; " : "", text);
        k++;
    }
    if (n > 0) sheet_print(s, "%s\n", n > k ? "; ..." : "");
}

static void print_head(struct compare *c)
{
    struct sheet s = sheet_of(c);
    const struct numbers *n = &c->numbers;
    char seed[48];
    (void)snprintf(seed, sizeof seed, "random weights, seed %u",
                   (unsigned)step_place_of(&n->step)->seed);
    sheet_print(&s, "%s beside %s, %d token%s", c->cli->compare,
                n->net ? model_net_info(n->net)->name : seed, n->dims.n_tok,
                n->dims.n_tok == 1 ? "" : "s");
    if (c->want.first) sheet_print(&s, "; its names count blocks from 1");
    sheet_print(&s, "\n");
    print_edits(&s, &n->step);
    keep(c, s);
}

bool compare_make(struct compare *c, const struct cli *cli, char *note, size_t room,
                  struct err *e)
{
    int n = 0;
    *c = (struct compare){.cli = cli, .at = -1, .bad = -1};
    note[0] = '\0';
    bool ok = begin(c, note, room, e) && look_at_tokens(c, &n, e);
    if (ok) {
        print_head(c);
        c->token_more = n > c->numbers.dims.n_tok;
        ok = c->token_more ? token_more(c, e) : compare_blocks(c, e) && diagnose(c, e);
    }
    if (ok && compare_agrees(c)) {
        struct sheet s = sheet_of(c);
        sheet_print(&s, "\nEverything that was compared agrees.\n");
        keep(c, s);
    }
    if (!ok) compare_free(c);
    return ok;
}
