/* The numbers of a run as .npy files: attn_run's own, head after head, so that what leaves
 * the program is what its window shows. */
#include "dump.h"

#include "breaks.h"
#include "names.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOGITS = MODEL_T_COUNT, WANTED };

struct dump {
    const struct cli *c;
    struct numbers numbers;
    bool wanted[WANTED];
    struct file_folder folder;
    struct model_npz_out *npz; /* NULL: a folder */
    json_t *list;              /* of arrays, for the manifest */
    int block;
    struct arena mem; /* the trace, and the second half's results */
    struct attn_trace trace;
};

void dump_name(char out[DUMP_NAME], int block, int head, const char *tensor)
{
    if (head < 0)
        (void)snprintf(out, DUMP_NAME, "b%02d.%s", block, tensor);
    else
        (void)snprintf(out, DUMP_NAME, "b%02d.h%02d.%s", block, head, tensor);
}

/* ---- what is wanted -------------------------------------------------------------------------- */

/* Tensors of the seven stages, by their numbers on screen. */
static const struct {
    enum model_tensor first, last;
} of_stage[ATTN_STAGE_COUNT] = {
    {MODEL_T_H, MODEL_T_V},
    {MODEL_T_SCORES, MODEL_T_SCORES},
    {MODEL_T_SCALED, MODEL_T_SCALED},
    {MODEL_T_MASKED, MODEL_T_MASKED},
    {MODEL_T_WEIGHTS, MODEL_T_WEIGHTS},
    {MODEL_T_Z, MODEL_T_Z},
    {MODEL_T_MERGED, MODEL_T_Y},
};

static bool want_one(struct dump *d, const char *name, size_t n)
{
    if (n == 1 && name[0] >= '1' && name[0] <= '7') {
        int k = name[0] - '1';
        for (int t = (int)of_stage[k].first; t <= (int)of_stage[k].last; t++)
            d->wanted[t] = true;
        return true;
    }
    for (int t = 0; t < WANTED; t++) {
        const char *has =
            t == LOGITS ? "logits" : model_tensor_name((enum model_tensor)t);
        if (strlen(has) != n || strncmp(has, name, n) != 0) continue;
        d->wanted[t] = true;
        return true;
    }
    return false;
}

/* Without --stages: everything that is computed, but logits and parameters. */
static bool want(struct dump *d, struct err *e)
{
    const char *list = d->c->stages;
    for (int t = 0; !list && t <= (int)MODEL_T_BLOCK; t++) d->wanted[t] = true;
    while (list && *list) {
        size_t n = strcspn(list, ",");
        if (!want_one(d, list, n))
            return err_set(e, ERR_USAGE,
                           "--stages %s: %.*s is none of 1 to 7, h, x, q, k, v, scores, "
                           "scaled, masked, weights, z, merged, y_proj, y, ln_2, mlp_fc, "
                           "mlp_act, mlp_out, block, w_qkv, b_qkv, w_o, b_o, logits",
                           d->c->stages, (int)(n < 40 ? n : 40), list);
        list += n + (list[n] == ',' ? 1 : 0);
    }
    return list_check("--blocks", d->c->blocks, d->numbers.n_block, "blocks", e) &&
           list_check("--heads", d->c->heads, d->numbers.dims.n_head, "heads", e);
}

/* Without a list the one that --block or --head names, or else all. */
static bool is_wanted(const char *list, bool given, int now, int i)
{
    return list ? list_has(list, i) : !given || i == now;
}

static bool wants_block(const struct dump *d, int l)
{
    const struct step_place *p = step_place_of(&d->numbers.step);
    return is_wanted(d->c->blocks, d->c->block_given, p->block, l);
}

static bool wants_head(const struct dump *d, int h)
{
    const struct step_place *p = step_place_of(&d->numbers.step);
    return is_wanted(d->c->heads, d->c->head_given, p->head, h);
}

/* ---- arrays -------------------------------------------------------------------------------------- */

static bool is_npz(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".npz") == 0;
}

static bool remember(struct dump *d, const char *name, const struct model_array *a,
                     int head, const char *tensor)
{
    json_t *shape = json_array();
    for (int i = 0; i < a->rank; i++)
        (void)json_array_append_new(shape, json_integer(a->shape[i]));
    json_t *one =
        json_pack("{s:s, s:s, s:o}", "name", name, "tensor", tensor, "shape", shape);
    if (!one) return false;
    if (d->block >= 0) (void)json_object_set_new(one, "block", json_integer(d->block));
    if (head >= 0) (void)json_object_set_new(one, "head", json_integer(head));
    return json_array_append_new(d->list, one) == 0;
}

/* The person's name of the folder in place of the one that it has while it is filled. */
static bool under_its_name(const struct dump *d, struct err *e)
{
    struct err was = *e;
    size_t n = strlen(d->folder.part);
    if (strncmp(was.text, d->folder.part, n) != 0) return false;
    return err_set(e, was.code, "%.300s%.200s", d->c->dump, was.text + n);
}

static bool put_named(struct dump *d, const char *name, const struct model_array *a,
                      int head, const char *tensor, struct err *e)
{
    char file[DUMP_NAME + 8], path[FILE_PATH];
    if (!remember(d, name, a, head, tensor))
        return err_set(e, ERR_SYSTEM, "no memory for the manifest");
    if (d->npz) return model_npz_add(d->npz, name, a, e);
    (void)snprintf(file, sizeof file, "%s.npy", name);
    return (file_folder_name(&d->folder, file, path, e) && model_npy_write(path, a, e)) ||
           under_its_name(d, e);
}

static bool put(struct dump *d, enum model_tensor t, int head, struct attn_cmat m,
                struct err *e)
{
    char name[DUMP_NAME];
    if (!d->wanted[t] || !m.data) return true;
    const char *tensor = model_tensor_name(t);
    dump_name(name, d->block, head, tensor);
    struct model_array a = model_array_of(m);
    if (m.rows == 0) { /* a vector */
        a.rank = 1;
        a.shape[0] = m.cols;
    }
    return put_named(d, name, &a, head, tensor, e);
}

static bool put_vector(struct dump *d, enum model_tensor t, const float *v, int n,
                       struct err *e)
{
    return put(d, t, -1, (struct attn_cmat){v, 0, n, n}, e);
}

/* ---- a block ---------------------------------------------------------------------------------------- */

static bool put_whole(struct dump *d, const struct model_block *b, struct err *e)
{
    const struct attn_trace *t = &d->trace;
    const struct attn_weights *w = &b->model->weights;
    int width = d->numbers.dims.d_model;
    return put(d, MODEL_T_H, -1, t->h, e) && put(d, MODEL_T_X, -1, t->x, e) &&
           put(d, MODEL_T_MERGED, -1, attn_trace_view(t, ATTN_Z_ALL, 0), e) &&
           put(d, MODEL_T_Y_PROJ, -1, attn_trace_view(t, ATTN_Y_PROJ, 0), e) &&
           put(d, MODEL_T_Y, -1, attn_trace_view(t, ATTN_Y, 0), e) &&
           put(d, MODEL_T_W_QKV, -1, w->w_qkv, e) && put(d, MODEL_T_W_O, -1, w->w_o, e) &&
           put_vector(d, MODEL_T_B_QKV, w->b_qkv, 3 * width, e) &&
           put_vector(d, MODEL_T_B_O, w->b_o, width, e);
}

static bool put_head(struct dump *d, int h, struct err *e)
{
    static const struct {
        enum model_tensor as;
        enum attn_tensor from;
    } parts[] = {{MODEL_T_Q, ATTN_Q},
                 {MODEL_T_K, ATTN_K},
                 {MODEL_T_V, ATTN_V},
                 {MODEL_T_SCORES, ATTN_S_RAW},
                 {MODEL_T_SCALED, ATTN_S_SCALED},
                 {MODEL_T_MASKED, ATTN_S_MASKED},
                 {MODEL_T_WEIGHTS, ATTN_P},
                 {MODEL_T_Z, ATTN_Z}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!put(d, parts[i].as, h, attn_trace_view(&d->trace, parts[i].from, h), e))
            return false;
    return true;
}

static bool put_second_half(struct dump *d, const struct model_block *b, struct err *e)
{
    struct attn_cmat y = attn_trace_view(&d->trace, ATTN_Y, 0);
    struct model_mlp_out out;
    if (!b->mlp) return put(d, MODEL_T_BLOCK, -1, y, e);
    if (!model_mlp_run(&out, b->mlp, b->eps, y, &d->mem, &d->numbers.attn, e))
        return false;
    return put(d, MODEL_T_LN_2, -1, out.ln_2, e) &&
           put(d, MODEL_T_MLP_FC, -1, out.fc, e) &&
           put(d, MODEL_T_MLP_ACT, -1, out.act, e) &&
           put(d, MODEL_T_MLP_OUT, -1, out.out, e) &&
           put(d, MODEL_T_BLOCK, -1, out.block, e);
}

static bool any(const struct dump *d, enum model_tensor first, enum model_tensor last)
{
    for (int t = (int)first; t <= (int)last; t++)
        if (d->wanted[t]) return true;
    return false;
}

/* Room for the trace of a block, and for what its second half gives. */
static bool make_room(struct dump *d, size_t *trace, struct err *e)
{
    const struct model_net *net = d->numbers.net;
    *trace = attn_trace_bytes(d->numbers.dims);
    if (*trace == 0)
        return err_set(e, ERR_SYSTEM, "%s", attn_status_text(ATTN_BAD_SHAPE));
    size_t rows =
        net ? model_mlp_run_bytes(d->numbers.dims, model_net_info(net)->d_mlp) : 0;
    return arena_init(&d->mem, *trace + rows + 128, e);
}

static bool dump_block(struct dump *d, int l, size_t trace, struct err *e)
{
    struct model_block b;
    struct attn_trace *t = &d->trace;
    const struct attn_ctx *c = &d->numbers.attn;
    struct attn_dims dims = d->numbers.dims;
    if (!numbers_block(&d->numbers, l, &b, e)) return false;
    d->block = l;
    arena_reset(&d->mem);
    void *mem = arena_take(&d->mem, trace, 1);
    struct attn_cmat x = b.model->x;
    x.rows = dims.n_tok;
    enum attn_status s = attn_trace_init(t, dims, mem, trace);
    const struct run *edited = &d->numbers.run;
    if (s == ATTN_OK)
        s = attn_run_edited(c, t, x, b.h, &b.model->weights, b.opts, 0, edited->given,
                            b.n_edit ? edited->trace.n_edit : 0);
    if (s != ATTN_OK)
        return err_set(e, ERR_SYSTEM, "block %d: %s", l + 1, attn_status_text(s));
    if (!put_whole(d, &b, e)) return false;
    for (int h = 0; any(d, MODEL_T_Q, MODEL_T_Z) && h < dims.n_head; h++) {
        if (!wants_head(d, h)) continue;
        if (h > 0) (void)attn_run_head(c, t, h); /* the shapes are those of attn_run */
        if (!put_head(d, h, e)) return false;
    }
    return !any(d, MODEL_T_LN_2, MODEL_T_BLOCK) || put_second_half(d, &b, e);
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static bool dump_logits(struct dump *d, struct err *e)
{
    struct numbers *s = &d->numbers;
    if (!d->wanted[LOGITS]) return true;
    if (!s->net)
        return err_set(e, ERR_USAGE,
                       "--stages logits: random weights have no head; name "
                       "a model");
    int n = s->dims.n_tok, wide = model_net_info(s->net)->n_vocab;
    struct arena mem = {0};
    if (!arena_init(&mem, (size_t)n * (size_t)wide * sizeof(float) + 64, e)) return false;
    float *all = arena_take(&mem, (size_t)n * (size_t)wide, sizeof *all);
    bool ok = model_net_run(s->net, s->n_block, &s->attn, e);
    for (int i = 0; ok && i < n; i++)
        ok = model_net_logits(s->net, all + (size_t)i * (size_t)wide, i, &s->attn, e);
    struct model_array a = model_array_of((struct attn_cmat){all, n, wide, wide});
    d->block = -1;
    ok = ok && put_named(d, "logits", &a, -1, "logits", e);
    arena_free(&mem);
    return ok;
}

static json_t *describe_model(const struct dump *d)
{
    const struct numbers *s = &d->numbers;
    if (!s->net)
        return json_pack("{s:s, s:I}", "weights",
                         s->step.scale == STEP_TOY ? "toy" : "random GPT-2", "seed",
                         (json_int_t)step_place_of(&s->step)->seed);
    const struct model_info *i = model_net_info(s->net);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:f}", "name", i->name, "format",
                     i->format, "dtype", i->dtype, "n_layer", i->n_layer, "d_mlp",
                     i->d_mlp, "layer_norm_epsilon", (double)i->eps);
}

static json_t *describe_ids(const struct numbers *s)
{
    json_t *ids = json_array();
    const int32_t *at = numbers_ids(s);
    for (int i = 0; at && i < s->dims.n_tok; i++)
        (void)json_array_append_new(ids, json_integer(at[i]));
    return ids;
}

/* The numbers given by hand, counted from 0. */
static json_t *describe_edits(const struct numbers *s)
{
    const struct step_place *p = step_place_of(&s->step);
    json_t *list = json_array();
    for (int i = 0; i < p->n_edit; i++) {
        const struct attn_edit *g = &p->edits[i].cell;
        if (!step_given_is_here(&s->step, &p->edits[i])) continue;
        const char *name = names_tensor[g->tensor];
        if (g->tensor >= ATTN_Q && g->tensor <= ATTN_P)
            name = model_tensor_name(MODEL_T_Q + (g->tensor - ATTN_Q));
        json_t *one = json_pack("{s:s, s:i, s:i, s:i, s:f}", "tensor", name, "block",
                                p->edits[i].block, "row", g->row, "column", g->col,
                                "value", (double)g->value);
        if (step_tensor_has_heads(g->tensor))
            (void)json_object_set_new(one, "head", json_integer(g->head));
        (void)json_array_append_new(list, one);
    }
    return list;
}

/* The manifest as text, to be freed by free; NULL: no memory. Takes d->list. */
static char *manifest(struct dump *d, const char *version)
{
    const struct numbers *s = &d->numbers;
    const struct attn_opts *o = &s->step.opts;
    char broken[1024];
    breaks_print(broken, sizeof broken, &s->step);
    json_t *text = s->text ? json_stringn(s->text, s->loaded->n_typed) : json_null();
    json_t *all = json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:o, s:{s:i, s:i, s:i}, s:{s:b, s:b, s:b, s:s, s:o}, "
        "s:o}",
        "format", "headlight dump 1", "version", version, "counts_from", 0, "model",
        describe_model(d), "text", text ? text : json_null(), "ids", describe_ids(s),
        "dims", "n_tok", s->dims.n_tok, "d_model", s->dims.d_model, "n_head",
        s->dims.n_head, "options", "scale", o->scale, "causal", o->causal, "residual",
        o->residual, "broken", broken, "edited", describe_edits(s), "arrays", d->list);
    d->list = NULL;
    char *out = all ? json_dumps(all, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    json_decref(all);
    return out;
}

static bool put_manifest(struct dump *d, const char *version, struct err *e)
{
    char path[FILE_PATH];
    char *text = manifest(d, version);
    if (!text) return err_set(e, ERR_SYSTEM, "no memory for the manifest");
    size_t n = strlen(text);
    bool ok = d->npz ? model_npz_add_bytes(d->npz, "manifest", text, n, e)
                     : file_folder_name(&d->folder, "manifest.json", path, e) &&
                           file_write(path, text, n, e);
    free(text);
    return ok;
}

static bool begin(struct dump *d, struct err *e)
{
    const char *path = d->c->dump;
    const struct numbers *s = &d->numbers;
    if (!is_npz(path)) return file_folder_begin(&d->folder, path, e);
    int64_t arrays = (int64_t)s->n_block * (MODEL_T_COUNT + 8LL * s->dims.n_head) + 2;
    int most = arrays < UINT16_MAX - 1 ? (int)arrays : UINT16_MAX - 1;
    if (file_exists(path))
        return err_set(e, ERR_INPUT, "%s: is there already; name a file that is not",
                       path);
    return model_npz_begin(&d->npz, path, false, most, e);
}

static bool fill(struct dump *d, const char *version, struct err *e)
{
    size_t trace = 0;
    if (!make_room(d, &trace, e)) return false;
    for (int l = 0; l < d->numbers.n_block; l++)
        if (wants_block(d, l) && !dump_block(d, l, trace, e)) return false;
    return dump_logits(d, e) && put_manifest(d, version, e);
}

bool dump_write(const struct cli *c, const char *version, char *note, size_t room,
                struct err *e)
{
    struct dump d = {.c = c, .block = -1, .list = json_array()};
    bool ok = numbers_open(&d.numbers, c, note, room, e) && want(&d, e) && begin(&d, e);
    bool begun = ok;
    ok = ok && fill(&d, version, e);
    if (begun && d.npz) {
        if (ok)
            ok = model_npz_end(d.npz, e);
        else
            model_npz_drop(d.npz);
    } else if (begun) {
        if (ok)
            ok = file_folder_end(&d.folder, e);
        else
            file_folder_drop(&d.folder);
    }
    json_decref(d.list);
    arena_free(&d.mem);
    numbers_close(&d.numbers);
    return ok;
}
