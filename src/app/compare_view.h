/* compare_view: a comparison as the scene shows it. */
#ifndef HEADLIGHT_COMPARE_VIEW_H
#define HEADLIGHT_COMPARE_VIEW_H

#include "compare.h"
#include "run.h"
#include "scene.h"

#include <stdatomic.h>

struct compare_view {
    struct compare cmp;
    bool is_open, keyed;
    struct run_key key; /* what the comparison is of; block and heads aside */
    int block, head;    /* that view is of, -1: none */
    struct scene_compare view;
    struct arena mem; /* the differences */
    char why[512], mlp[160];
    uint64_t version;
    uint32_t event; /* SDL event type that the thread pushes; 0: there is none */
    struct SDL_Thread *thread; /* takes block `taking` in hand; NULL: none does */
    atomic_bool taken;         /* it has, or could not */
    int taking;                /* -1: none has been asked for */
    volatile int cancel;       /* it need not: attn and model look at its value */
};

/* Compares as compare_make does. */
bool compare_view_open(struct compare_view *v, const struct cli *cli, char *note,
                       size_t room, struct err *e);
void compare_view_close(struct compare_view *v); /* zeroed is fine */
/* Actions that lead to the block, the head and, where `stage`, the stage that
 * differs first. */
void compare_view_start(const struct compare_view *v, struct step_actions *out,
                        bool stage);

/* What is to be seen of block and head of key; NULL: the comparison is not of
 * this model, text, seed or options. The first call,
 * of the model if there is one, says which it is of. */
const struct scene_compare *compare_view_of(struct compare_view *v, struct run_key key,
                                            bool wait);
/* Whether it is of what that key stands for: not while something is broken that was not
 * when it was made, or another text is read. */
bool compare_view_fits(const struct compare_view *v, struct run_key key);
/* Whether a block is being computed: until v->event is pushed, or compare_view_of waits. */
bool compare_view_is_busy(struct compare_view *v);
/* Cancels what the thread does and waits for it; before SDL goes. */
void compare_view_settle(struct compare_view *v);

#endif
