/* The run that belongs to a state: the toy's at once, GPT-2's by the worker. */
#include "source.h"

#include <stdlib.h>

bool source_init(struct source *s, uint32_t event, struct err *e)
{
    *s = (struct source){0};
    s->attn.k = attn_kernels_get(NULL);
    if (!s->attn.k) {
        const char *name = getenv("HEADLIGHT_KERNELS");
        return err_set(e, ERR_SYSTEM,
                       "HEADLIGHT_KERNELS=%s: this CPU has no such kernels; unset it",
                       name ? name : "");
    }
    s->worker = worker_create(s->attn.k, event);
    return s->worker ? true : err_set(e, ERR_SYSTEM, "out of memory for the worker");
}

void source_fini(struct source *s)
{
    worker_destroy(s->worker);
    run_fini(&s->toy);
    run_model_fini(&s->toy_model);
    *s = (struct source){0};
}

static const struct run *toy_run(struct source *s, struct run_key key)
{
    worker_cancel(s->worker);
    if (s->toy.made && run_key_same(s->toy.key, key)) return &s->toy;
    if (!run_model_is(&s->toy_model, key) &&
        !run_model_make(&s->toy_model, key, &s->attn, &s->failed))
        return NULL;
    if (!run_make(&s->toy, key, &s->toy_model.model, &s->attn, &s->failed)) return NULL;
    s->toy.version++;
    return &s->toy;
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

struct scene_source source_for(struct source *s, const struct step_state *st, bool wait)
{
    struct run_key key = run_key_of(st);
    s->failed = (struct err){0};
    bool toy = key.scale == STEP_TOY;
    const struct run *r = toy ? toy_run(s, key) : worker_run(s, key, wait);
    struct scene_source src = {.attn = &s->attn, .progress = -1.0f, .label = ""};
    if (!toy) src.progress = worker_progress(s->worker);
    if (!r) return src;
    src.trace = &r->trace;
    src.fits = run_key_same(r->key, key);
    /* Toy and worker count apart; the last bit keeps them apart. */
    src.version = r->version * 2 + (toy ? 1 : 0);
    src.tokens = r->model->tokens;
    src.blend = r->blend;
    src.label = r->model->label;
    return src;
}
