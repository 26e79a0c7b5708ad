/* The run that belongs to a state: the toy's at once, GPT-2's by the worker. */
#include "source.h"

#include <SDL.h>
#include <stdlib.h>
#include <string.h>

bool source_init(struct source *s, uint32_t event, struct err *e)
{
    *s = (struct source){0};
    if (!run_kernels(&s->attn, e)) return false;
    s->worker = worker_create(s->attn.k, event);
    s->lab = lab_create(s->attn.k, event);
    return s->worker && s->lab ? true
                               : err_set(e, ERR_SYSTEM, "out of memory for the worker");
}

void source_fini(struct source *s)
{
    lab_destroy(s->lab);
    worker_destroy(s->worker);
    run_fini(&s->toy);
    run_fini(&s->toy_ungiven);
    there_fini(&s->there);
    ghost_fini(&s->toy_ghost);
    ghost_right_fini(&s->toy_right);
    heads_fini(&s->toy_heads);
    run_model_fini(&s->toy_model);
    texts_fini(&s->read);
    SDL_free(s->text);
    SDL_free(s->opening);
    SDL_free(s->path);
    *s = (struct source){0};
}

/* ---- opened models -------------------------------------------------------------------- */

bool source_open(struct source *s, const char *path, const char *text, struct err *e)
{
    char *opening = SDL_strdup(path);
    char *kept = text ? SDL_strdup(text) : NULL;
    if (!opening || (text && !kept)) {
        SDL_free(opening);
        SDL_free(kept);
        return err_set(e, ERR_SYSTEM, "out of memory for a model\u2019s name");
    }
    if (!worker_open(s->worker, path, e)) {
        SDL_free(opening);
        SDL_free(kept);
        return false;
    }
    SDL_free(s->opening);
    SDL_free(s->text);
    s->opening = opening;
    s->text = kept;
    return true;
}

/* The worker's runs and the state are of what is loaded now. */
static void show(struct source *s, struct step_state *st, bool fresh)
{
    const struct loaded *l = &s->loaded;
    const struct model_info *info = model_net_info(l->net);
    worker_use(s->worker, l->net, l->model, l->ids.at, l->ids.n, l->text);
    const struct step_model m = {
        .dims = {.n_tok = l->ids.n, .d_model = info->d_model, .n_head = info->n_head},
        .n_block = info->n_layer,
        .limit = l->limit,
        .fresh = fresh};
    step_load(st, &m);
}

enum source_news source_news(struct source *s, struct step_state *st, char *note,
                             size_t room, struct err *e)
{
    struct model_net *net = NULL;
    if (!worker_opened(s->worker, &net, e)) return SOURCE_NOTHING;
    bool ok = net != NULL;
    if (ok && !loaded_set_net(&s->loaded, net, s->text, note, room, e)) {
        model_net_close(net);
        ok = false;
    }
    if (ok) {
        s->loaded_first = texts_keep(&s->read, s->loaded.typed, s->loaded.n_typed);
        s->loaded_text = 0;
        show(s, st, true);
    }
    /* The reader's words begin with the file at fault, as a rule; the rest is said here. */
    const char *name = strrchr(s->opening, '/');
    name = name && name[1] ? name + 1 : s->opening;
    if (!ok && !strstr(e->text, name)) (void)err_at(e, name);
    if (ok) {
        SDL_free(s->path);
        s->path = s->opening;
    } else {
        SDL_free(s->opening);
    }
    SDL_free(s->text);
    s->opening = s->text = NULL;
    return ok ? SOURCE_OPENED : SOURCE_FAILED;
}

bool source_set_text(struct source *s, struct step_state *st, const char *text,
                     size_t len, char *note, size_t room, struct err *e)
{
    uint32_t number = texts_keep(&s->read, text, len);
    if (number == 0) return err_set(e, ERR_SYSTEM, "out of memory for the text");
    if (!loaded_set_text(&s->loaded, text, len, note, room, e)) return false;
    (void)step_apply(st, (struct step_action){.verb = STEP_READ,
                                              .i = (int)number,
                                              .x = (float)s->loaded.ids.n});
    s->loaded_text = number;
    show(s, st, false);
    return true;
}

void source_follow(struct source *s, struct step_state *st)
{
    const struct step_place *p = &st->place[STEP_GPT2];
    char note[256];
    struct err e;
    if (!step_is_loaded(p) || p->text == s->loaded_text) return;
    const struct text_kept *t = texts_get(&s->read, p->text ? p->text : s->loaded_first);
    if (!t || !loaded_set_text(&s->loaded, t->bytes, t->n, note, sizeof note, &e)) return;
    s->loaded_text = p->text;
    show(s, st, false);
}

bool source_set_words(struct source *s, struct step_state *st, const char *text,
                      size_t len, struct err *e)
{
    struct model_words words;
    if (!model_words_split(&words, text, len, e)) return false;
    uint32_t number = texts_keep(&s->read, text, len);
    if (number == 0) return err_set(e, ERR_SYSTEM, "out of memory for the text");
    return step_apply(st, (struct step_action){.verb = STEP_READ,
                                               .i = (int)number,
                                               .x = (float)words.n}) ||
           err_set(e, ERR_SYSTEM, "out of memory for what can be undone");
}

const struct text_kept *source_words(const struct source *s, const struct step_state *st)
{
    return texts_get(&s->read, st->place[STEP_TOY].text);
}

/* ---- runs ------------------------------------------------------------------------------- */

static bool toy_model(struct source *s, struct run_key key)
{
    struct model_words words;
    const struct text_kept *t = texts_get(&s->read, key.text);
    if (run_model_is(&s->toy_model, key)) return true;
    if (!t) return run_model_make(&s->toy_model, key, &s->attn, &s->failed);
    return model_words_split(&words, t->bytes, t->n, &s->failed) &&
           run_model_words(&s->toy_model, key, &words, &s->attn, &s->failed);
}

static const struct run *toy_run(struct source *s, struct run_key key)
{
    worker_cancel(s->worker);
    if (s->toy.made && run_key_same(s->toy.key, key)) return &s->toy;
    if (!toy_model(s, key)) return NULL;
    if (!run_make(&s->toy, key, &s->toy_model.model, &s->attn, &s->failed)) return NULL;
    s->toy.version++;
    if (!run_key_is_right(key)) {
        if (!ghost_right_is(&s->toy_right, &s->toy, &s->toy_model) &&
            !ghost_right_make(&s->toy_right, &s->toy, &s->toy_model, &s->attn,
                              &s->failed))
            return NULL;
        if (!ghost_make(&s->toy_ghost, &s->toy, &s->toy_right, &s->attn, &s->failed))
            return NULL;
        s->toy.ghost = &s->toy_ghost;
    }
    struct run_key ungiven = key;
    ungiven.n_given = 0;
    if (key.n_given > 0 && !run_key_is_right(ungiven) &&
        !run_make(&s->toy_ungiven, ungiven, &s->toy_model.model, &s->attn, &s->failed))
        return NULL;
    return &s->toy;
}

/* The run without the numbers that are given: the correct one, or, where switches are set
 * too, one with them alone. NULL: not made. */
static const struct attn_trace *ungiven_of(const struct source *s, const struct run *r)
{
    struct run_key key = r->key;
    key.n_given = 0;
    if (r->key.n_given == 0) return NULL;
    if (run_key_is_right(key)) return r->ghost ? &r->ghost->right->run.trace : NULL;
    return key.scale == STEP_TOY ? &s->toy_ungiven.trace : r->ungiven;
}

/* The last one that was finished, whether it is of key or not. */
static const struct run *worker_run(struct source *s, struct run_key key, bool wait)
{
    const struct run *r = worker_take(s->worker);
    if (!r || !run_key_same(r->key, key)) {
        if (!worker_ask(s->worker, key, &s->failed)) return r;
        if (wait) worker_wait(s->worker);
        r = worker_take(s->worker);
        (void)worker_failed(s->worker, &s->failed);
    } else {
        worker_cancel(s->worker);
    }
    return r;
}

/* ---- the overview ------------------------------------------------------------------------ */

/* The toy's heads, made at once. */
static bool toy_heads(struct source *s, struct run_key key)
{
    struct heads *h = &s->toy_heads;
    if (!h->made || h->done == 0 || !heads_key_same(h->key, key)) {
        struct attn_mat m = s->toy.trace.qkv;
        struct attn_cmat qkv = {m.data, m.rows, m.cols, m.ld};
        if (!heads_begin(h, key, 1, s->toy.trace.dims, &s->failed) ||
            !heads_block(h, 0, qkv, NULL, &s->attn, &s->failed) ||
            (s->toy.trace.n_edit > 0 &&
             !heads_given(h, &s->toy.trace, &s->attn, &s->failed)))
            return false;
        h->made = true;
        h->done = 1;
        h->version++;
    }
    s->heads = heads_view(h);
    s->heads.version = s->heads.version * 2 + 1; /* as for runs */
    return true;
}

/* The heads of the state where it shows them: all of them in the overview, those of the
 * block beside its weights. r fits the state. */
static bool heads_for(struct source *s, const struct step_state *st, const struct run *r,
                      struct run_key key, bool wait)
{
    const struct step_place *p = step_place_of(st);
    int n_block = p->n_block > 1 ? p->n_block : 1;
    bool beside = st->stage == ATTN_SOFTMAX && st->scale == STEP_GPT2;
    if (!st->over.open && !beside) {
        worker_drop_heads(s->worker);
        return false;
    }
    if (key.scale == STEP_TOY) return toy_heads(s, key);
    worker_ask_heads(s->worker, key, r->trace.dims, n_block,
                     st->over.open ? n_block : p->block + 1);
    if (wait) worker_wait(s->worker);
    if (s->failed.code == ERR_NONE) (void)worker_heads_failed(s->worker, &s->failed);
    if (!worker_heads(s->worker, key, &s->heads)) return false;
    s->heads.version *= 2;
    return true;
}

/* The next tokens behind the selected row where the state shows them: stage 7 of a loaded
 * model's last block, and the overview. */
static bool next_for(struct source *s, const struct step_state *st, struct run_key key,
                     bool wait)
{
    const struct step_place *p = step_place_of(st);
    bool last = st->stage == ATTN_OUTPUT && p->block == p->n_block - 1;
    if (!key.model || !(last || st->over.open)) {
        worker_drop_next(s->worker);
        return false;
    }
    struct next_key next = {.model = key.model, .text = key.text, .row = p->row};
    worker_ask_next(s->worker, next);
    if (wait) worker_wait(s->worker);
    struct err why;
    if (worker_next_failed(s->worker, &why)) {
        if (s->failed.code == ERR_NONE) s->failed = why;
        return false;
    }
    if (!worker_next(s->worker, next, s->loaded.net, &s->texts, &s->next))
        s->next = (struct scene_next){.row = p->row};
    return true;
}

struct run_key source_key(const struct source *s, const struct step_state *st)
{
    struct run_key key = run_key_of(st);
    if (step_is_loaded(step_place_of(st))) {
        key.model = s->loaded.model;
        key.text = s->loaded.text;
    }
    return key;
}

struct scene_source source_for(struct source *s, const struct step_state *st, bool wait)
{
    struct run_key key = source_key(s, st);
    bool loaded = step_is_loaded(step_place_of(st));
    s->failed = (struct err){0};
    bool toy = key.scale == STEP_TOY;
    const struct run *r = toy ? toy_run(s, key) : worker_run(s, key, wait);
    struct scene_source src = {.attn = &s->attn, .progress = -1.0f, .label = ""};
    if (!toy) src.progress = worker_progress(s->worker);
    if (loaded) src.label = s->loaded.label;
    struct err why = {0};
    if (!lab_for(s->lab, st, wait, &src, &why) && s->failed.code == ERR_NONE)
        s->failed = why;
    if (!r) return src;
    src.checks = &r->checks;
    src.ln_gain = r->model->ln_gain;
    src.ln_bias = r->model->ln_bias;
    src.ln_eps = r->model->eps;
    src.trace = &r->trace;
    src.fits = run_key_same(r->key, key);
    /* Toy and worker count apart; the last bit keeps them apart. */
    src.version = r->version * 2 + (toy ? 1 : 0);
    src.tokens = r->model->tokens;
    src.blend = r->blend;
    if (r->key.second > 0) src.pair = &r->pair.view;
    src.reach = r->reach;
    if (r->ghost) {
        s->ghost = ghost_view(r->ghost);
        /* Numbers that no run has: three kinds, toy and worker apart. */
        s->ghost.right_version = ~(s->ghost.right_version * 2 + (toy ? 1 : 0));
        src.ghost = &s->ghost;
    }
    src.given = r->key.given;
    src.n_given = r->key.n_given;
    src.ungiven = ungiven_of(s, r);
    if (!loaded) src.label = r->model->label;
    if (src.fits && heads_for(s, st, r, key, wait)) src.heads = &s->heads;
    if (src.fits && next_for(s, st, key, wait)) src.next = &s->next;
    there_show(&s->there, st, &src, key.model ? s->loaded.ids.at : NULL);
    return src;
}
