/* Blocks with their weights, without a window. */
#include "numbers.h"

#include "names.h"

#include <SDL.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t keep_bytes = (size_t)256 << 20; /* of weights that stay in memory */

static bool open_net(struct numbers *s, const struct cli *c, char *note, size_t room,
                     struct err *e)
{
    struct loaded *l = s->loaded;
    if (!model_net_open(&s->net, c->model, s->attn.k, keep_bytes, e)) return false;
    l->cut_front = c->cut_front;
    if (!loaded_set_net(l, s->net, c->text, note, room, e) ||
        !model_net_feed(s->net, l->ids.at, l->ids.n, e))
        return false;
    const struct model_info *info = model_net_info(s->net);
    const struct step_model m = {
        .dims = {.n_tok = l->ids.n, .d_model = info->d_model, .n_head = info->n_head},
        .n_block = info->n_layer,
        .limit = l->limit};
    step_load(&s->step, &m);
    for (int i = 0; i < c->when_opened.n; i++)
        if (!step_apply(&s->step, c->when_opened.at[i]))
            return names_refusal(&s->step, c->when_opened.at[i], e);
    s->text = l->typed;
    return true;
}

/* What the run of block l is of, head 1's. */
static struct run_key key_of(const struct numbers *s, int l)
{
    struct step_state at = s->step;
    at.place[at.scale].block = l;
    struct run_key key = run_key_of(&at);
    key.head = key.second = 0;
    key.model = s->net ? 1 : 0;
    return key;
}

/* The model's blocks behind an edited one read what it gives; as each block is broken by
 * itself, it gives that with nothing broken. */
static bool follow_edits(struct numbers *s, struct err *e)
{
    const struct step_place *p = step_place_of(&s->step);
    const struct attn_opts broken = s->step.opts;
    struct model_block b;
    struct model_mlp_out out;
    struct arena mem = {0};
    if (!s->net || s->n_block == 0 || key_of(s, p->block).n_given == 0) return true;
    s->step.opts = attn_opts_default();
    bool ok = numbers_block(s, p->block, &b, e) && b.mlp && /* a model's block has one */
              arena_init(&mem, model_mlp_run_bytes(s->dims, b.mlp->width), e) &&
              model_mlp_run(&out, b.mlp, b.eps, attn_trace_view(&s->run.trace, ATTN_Y, 0),
                            &mem, &s->attn, e);
    if (ok) model_net_put(s->net, p->block + 1, out.block);
    s->step.opts = broken;
    arena_free(&mem);
    return ok;
}

bool numbers_open(struct numbers *s, const struct cli *c, char *note, size_t room,
                  struct err *e)
{
    *s = (struct numbers){.step = step_initial(), .words = c->words};
    note[0] = '\0';
    if (!run_kernels(&s->attn, e)) return false;
    s->pool = attn_pool_create(SDL_GetCPUCount());
    s->attn.pool = s->pool;
    if (!arena_init(&s->mem, sizeof *s->loaded + 64, e)) return false;
    s->loaded = arena_push(&s->mem, 1, sizeof *s->loaded);
    for (int i = 0; i < c->start.n; i++) (void)step_apply(&s->step, c->start.at[i]);
    if (c->model && !open_net(s, c, note, room, e)) {
        numbers_close(s);
        return false;
    }
    const struct step_place *p = step_place_of(&s->step);
    s->dims = p->dims;
    s->n_block = s->net ? p->n_block : 1;
    if (follow_edits(s, e)) return true;
    numbers_close(s);
    return false;
}

void numbers_close(struct numbers *s)
{
    run_fini(&s->run);
    run_model_fini(&s->view);
    arena_free(&s->mlp_mem);
    model_net_close(s->net);
    arena_free(&s->mem);
    attn_pool_destroy(s->pool);
    *s = (struct numbers){0};
}

const int32_t *numbers_ids(const struct numbers *s)
{
    return s->net ? s->loaded->ids.at : NULL;
}

static bool second_half(struct numbers *s, int l, struct err *e)
{
    size_t bytes = model_net_mlp_bytes(s->net);
    arena_reset(&s->mlp_mem);
    if (s->mlp_mem.size < bytes) {
        arena_free(&s->mlp_mem);
        if (!arena_init(&s->mlp_mem, bytes, e)) return false;
    }
    return model_net_mlp(s->net, &s->mlp, l, &s->mlp_mem, e);
}

/* The block with what is edited of it. */
static bool edit(struct numbers *s, struct run_key key, struct model_block *b,
                 struct err *e)
{
    if (!run_make(&s->run, key, b->model, &s->attn, e)) return false;
    s->key = key;
    s->edited = *b->model;
    s->edited.weights = s->run.w;
    s->edited.h = b->h = s->run.trace.h;
    s->edited.x = s->run.trace.x;
    b->model = &s->edited;
    b->edits = s->key.given;
    b->n_edit = s->key.n_given;
    return true;
}

bool numbers_block(struct numbers *s, int l, struct model_block *out, struct err *e)
{
    struct run_key key = key_of(s, l);
    bool kept = s->view.made && s->view.key.block == l;
    if (s->net) {
        if (!kept && (!model_net_run(s->net, l, &s->attn, e) ||
                      !run_model_view(&s->view, key, s->net, &s->attn, e) ||
                      !second_half(s, l, e)))
            return false;
    } else if (!kept && key.text && s->words) {
        struct model_words words;
        if (!model_words_split(&words, s->words, strlen(s->words), e) ||
            !run_model_words(&s->view, key, &words, &s->attn, e))
            return false;
    } else if (!kept && !run_model_make(&s->view, key, &s->attn, e)) {
        return false;
    }
    *out =
        (struct model_block){.model = &s->view.model,
                             .mlp = s->net ? &s->mlp : NULL,
                             .h = s->view.model.h,
                             .opts = s->step.opts,
                             .eps = s->net ? model_net_info(s->net)->eps : MODEL_LN_EPS};
    out->h.rows = s->dims.n_tok;
    return key.n_given == 0 || edit(s, key, out, e);
}

bool numbers_block_at(struct numbers *s, int l, struct attn_cmat h,
                      struct model_block *out, struct err *e)
{
    bool ok = numbers_block(s, l, out, e);
    out->h = h;
    return ok;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* The next part of a list, from..to; *list moves behind it. false: it is none. */
static bool next_part(const char **list, long *from, long *to)
{
    char *end = NULL;
    const char *at = *list;
    if (*at < '0' || *at > '9') return false;
    errno = 0;
    *from = *to = strtol(at, &end, 10);
    if (*end == '-') {
        at = end + 1;
        if (*at < '0' || *at > '9') return false;
        *to = strtol(at, &end, 10);
    }
    if (errno || (*end && *end != ',') || (*end == ',' && !end[1])) return false;
    *list = end + (*end == ',' ? 1 : 0);
    return true;
}

bool list_check(const char *option, const char *list, int n, const char *what,
                struct err *e)
{
    for (const char *at = list; at && *at;) {
        long from = 0, to = 0;
        if (!next_part(&at, &from, &to) || from < 1 || to < from || to > n)
            return err_set(e, ERR_USAGE, "%s %s: is a list of %s from 1 to %d, as 1,3-5",
                           option, list, what, n);
    }
    return true;
}

bool list_has(const char *list, int i)
{
    if (!list) return true;
    for (const char *at = list; *at;) {
        long from = 0, to = 0;
        if (!next_part(&at, &from, &to)) return false;
        if (i + 1 >= from && i + 1 <= to) return true;
    }
    return false;
}
