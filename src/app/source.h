/* source: the run that belongs to a state. The toy's is made at once (microseconds, so it
 * never flickers), GPT-2's is asked of the worker. */
#ifndef HEADLIGHT_SOURCE_H
#define HEADLIGHT_SOURCE_H

#include "ghost.h"
#include "heads.h"
#include "lab.h"
#include "loaded.h"
#include "run.h"
#include "scene.h"
#include "texts.h"
#include "there.h"
#include "worker.h"

struct source {
    struct attn_ctx attn; /* for the toy and for rows taken apart: the caller's thread */
    struct run_model toy_model;
    struct run toy;
    struct heads toy_heads;
    struct run toy_ungiven; /* with its switches, without the numbers that are given */
    struct ghost_right toy_right;
    struct ghost toy_ghost;
    struct scene_ghost ghost; /* what source_for has given out; so heads */
    struct there there;       /* of it in decode mode */
    struct scene_heads heads; /* what source_for has given out */
    struct scene_next next;   /* and this, */
    struct next_texts texts;  /*   with its texts */
    struct worker *worker;
    struct lab *lab;
    struct loaded loaded;
    struct texts read;     /* that the state can name */
    uint32_t loaded_first; /* of these, the loaded model's first */
    uint32_t loaded_text;  /* as the state names the one it reads: 0, its first */
    char *text;    /* that the model being opened is to read; NULL: a text of our own */
    char *opening; /* path of the model being opened, NULL: none is */
    char *path;    /* of the loaded model, NULL: none is */
    struct err failed; /* why there is no run; code ERR_NONE: there is one, or soon */
};

/* event: see worker_create. ERR_SYSTEM: no memory, HEADLIGHT_KERNELS names no set. */
bool source_init(struct source *s, uint32_t event, struct err *e);
void source_fini(struct source *s);

/* Begins to open a model, which is to read text (NULL: a text of our own). ERR_SYSTEM,
 * ERR_INPUT: it is not begun. */
bool source_open(struct source *s, const char *path, const char *text, struct err *e);
/* What has become of it. On SOURCE_OPENED st shows it, and note holds what the person
 * should be told, or ""; on SOURCE_FAILED *e says why, and what was loaded stays. */
enum source_news { SOURCE_NOTHING, SOURCE_OPENED, SOURCE_FAILED };
enum source_news source_news(struct source *s, struct step_state *st, char *note,
                             size_t room, struct err *e);
/* Another text for the loaded model; note as loaded_set_text has it. false: *e says why, and
 * the former one stays. */
bool source_set_text(struct source *s, struct step_state *st, const char *text,
                     size_t len, char *note, size_t room, struct err *e);

/* The same for the words of the toy. */
bool source_set_words(struct source *s, struct step_state *st, const char *text,
                      size_t len, struct err *e);
/* The words that the toy reads, as they were typed. NULL: its first. */
const struct text_kept *source_words(const struct source *s, const struct step_state *st);
/* After undo and redo: the loaded model reads what the state says. */
void source_follow(struct source *s, struct step_state *st);

/* What is there for the state now; wait: blocks until it fits. Valid until the next
 * call. Everything but message is filled in. */
/* What the state's run is of. */
struct run_key source_key(const struct source *s, const struct step_state *st);
struct scene_source source_for(struct source *s, const struct step_state *st, bool wait);

#endif
