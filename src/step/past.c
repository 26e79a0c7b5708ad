/* Undo and redo: every change of the numbers as a small record of what was before and what
 * is after, in blocks of memory that are added as they are needed. */
#include "handlers.h"

#include "base.h"

#include <string.h>

enum {
    BLOCK_CHANGES = 256, /* in one block */
    BLOCK_BYTES = BLOCK_CHANGES * (int)sizeof(struct change) + 4096
};

struct block {
    struct arena mem; /* this struct and its changes are in it */
    struct block *before;
    struct change *at;
};

struct step_past {
    struct arena mem;
    struct block *last; /* of the newest changes */
    int n_block;
    int n, now; /* changes there are, and those that are done */
};

struct step_past *step_past_create(void)
{
    struct arena mem;
    if (!arena_init(&mem, sizeof(struct step_past) + 64, NULL)) return NULL;
    struct step_past *p = arena_push(&mem, 1, sizeof *p);
    if (p) p->mem = mem;
    return p;
}

static void drop_block(struct step_past *p)
{
    struct arena mem = p->last->mem;
    p->last = p->last->before;
    p->n_block--;
    arena_free(&mem);
}

void step_past_destroy(struct step_past *p)
{
    if (!p) return;
    while (p->last) drop_block(p);
    struct arena mem = p->mem;
    arena_free(&mem);
}

static struct change *change_at(const struct step_past *p, int i)
{
    struct block *b = p->last;
    for (int k = p->n_block - 1; k > i / BLOCK_CHANGES; k--) b = b->before;
    return &b->at[i % BLOCK_CHANGES];
}

static bool add_block(struct step_past *p)
{
    struct arena mem;
    if (!arena_init(&mem, BLOCK_BYTES, NULL)) return false;
    struct block *b = arena_push(&mem, 1, sizeof *b);
    struct change *at = arena_push(&mem, BLOCK_CHANGES, sizeof *at);
    if (!b || !at) {
        arena_free(&mem);
        return false;
    }
    *b = (struct block){mem, p->last, at};
    p->last = b;
    p->n_block++;
    return true;
}

bool past_push(struct step_state *s, const struct change *c)
{
    struct step_past *p = s->past;
    if (!p) return true;
    struct change *last = p->now > 0 ? change_at(p, p->now - 1) : NULL;
    bool more = last && c->topic && last->topic == c->topic && last->kind == c->kind &&
                last->scale == c->scale && p->now == p->n &&
                (c->kind != CHANGE_EDIT ||
                 given_same_cell(&last->after.edit.edit, &c->after.edit.edit));
    if (more) {
        last->after = c->after;
        return true;
    }
    if (p->now == p->n_block * BLOCK_CHANGES && !add_block(p)) return false;
    /* What had been undone is no more. */
    while (p->n_block > p->now / BLOCK_CHANGES + 1) drop_block(p);
    *change_at(p, p->now) = *c;
    p->n = ++p->now;
    return true;
}

static void set(struct step_state *s, const struct change *c, const union change_value *v)
{
    struct step_place *p = &s->place[c->scale];
    switch (c->kind) {
    case CHANGE_NONE:
        return;
    case CHANGE_OPTS:
        s->opts = v->opts;
        return;
    case CHANGE_SEED:
        p->seed = v->number;
        break;
    case CHANGE_TOKENS:
        set_tokens(s, p, (int)v->number);
        break;
    case CHANGE_TEXT:
        p->text = v->read.text;
        set_tokens(s, p, v->read.n_tok);
        break;
    case CHANGE_EDIT:
        edit_put(p, &v->edit);
        break;
    }
    s->scale = c->scale; /* what changes is in view */
}

bool do_undo(struct step_state *s, const struct step_action *a)
{
    struct step_past *p = s->past;
    (void)a;
    if (!p || p->now == 0) return false;
    field_close(s);
    bool chained = true;
    while (chained && p->now > 0) {
        const struct change *c = change_at(p, --p->now);
        set(s, c, &c->before);
        chained = c->chained || c->kind == CHANGE_NONE;
    }
    return true;
}

bool do_redo(struct step_state *s, const struct step_action *a)
{
    struct step_past *p = s->past;
    (void)a;
    if (!p || p->now == p->n) return false;
    field_close(s);
    do {
        const struct change *c = change_at(p, p->now++);
        set(s, c, &c->after);
    } while (p->now < p->n && (change_at(p, p->now)->chained ||
                               change_at(p, p->now - 1)->kind == CHANGE_NONE));
    return true;
}

void past_forget_model(struct step_state *s)
{
    struct step_past *p = s->past;
    for (int i = 0; p && i < p->n; i++) {
        struct change *c = change_at(p, i);
        if (c->scale == STEP_GPT2 && c->kind != CHANGE_OPTS) c->kind = CHANGE_NONE;
    }
}

int step_undo_count(const struct step_state *s)
{
    int n = 0;
    for (int i = 0; s->past && i < s->past->now; i++) {
        const struct change *c = change_at(s->past, i);
        n += c->kind != CHANGE_NONE && !c->chained;
    }
    return n;
}

int step_redo_count(const struct step_state *s)
{
    int n = 0;
    for (int i = s->past ? s->past->now : 0; s->past && i < s->past->n; i++) {
        const struct change *c = change_at(s->past, i);
        n += c->kind != CHANGE_NONE && !c->chained;
    }
    return n;
}
