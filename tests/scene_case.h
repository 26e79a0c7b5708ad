/* What the tests of scene share: a computed run of any size, the state that shows it, and
 * the scene built of both. */
#ifndef TESTS_SCENE_CASE_H
#define TESTS_SCENE_CASE_H

#include "scene.h"

#include "model.h"

#include <stdbool.h>
#include <stdint.h>

/* Widths of a proportional text face, each at least Inter's, so that what fits here fits
 * on screen; code is 0.6 em wide, as JetBrains Mono is. */
struct font_metrics case_font(void);

struct scene_case {
    struct scene_checks checks;
    struct arena model_mem, run_mem, frame_mem, dump_mem;
    struct attn_weights weights;
    const char *const *tokens;
    float *x, *h; /* [n_ctx, d_model]; a test may spoil them before case_run */
    int n_ctx;
    struct attn_ctx attn;
    struct attn_trace trace;
    float *blend, *reach;
    struct arena pair_mem; /* of case_pair */
    struct scene_pair pair;
    struct font_metrics font;
    struct step_state state; /* what case_run computes and case_build shows */
    struct scene_source src;
    struct scene sc;
};

/* The first state of a scale, finished and computed. */
void case_open(struct scene_case *c, enum step_scale scale);
/* The toy of another seed. */
void case_open_toy(struct scene_case *c, uint32_t seed);
/* The same with random weights of any dims, no biases and no token texts. */
void case_open_dims(struct scene_case *c, struct attn_dims d);
void case_close(struct scene_case *c);

struct step_place *case_place(struct scene_case *c);
/* Computes the run that the state asks for. */
void case_run(struct scene_case *c);
/* Computes the head `second` beside it, by a run of its own, and asks for both. */
void case_pair(struct scene_case *c, enum step_pair how, int second);
/* A saturation as smooth as no draws are, of n_key keys, at the lab's d_head. */
void case_saturation(struct scene_saturation *sat, int n_key);
/* That many tokens, the last row selected, computed. */
void case_tokens(struct scene_case *c, int n_tok);
/* Builds the scene of a window of w x h points; fails where its room ran out. */
void case_build(struct scene_case *c, float w, float h);
/* Stage at a time, built. */
void case_show(struct scene_case *c, enum attn_stage stage, float time, float w, float h);
/* scene_dump of the scene; good until the next. */
const char *case_dump(struct scene_case *c);
char *case_dump_kept(struct scene_case *c); /* a copy; the caller frees it */

/* Windows that everything has to work in, the smallest first. */
struct case_size {
    float w, h;
};
enum { CASE_SIZES = 5 };
extern const struct case_size case_sizes[CASE_SIZES];

/* "toy stage 3 at 0.50, 1024x640", for messages. */
struct case_where {
    char text[160];
};
struct case_where case_where(const struct scene_case *c);

/* i in 0..7: each combination of scale, causal, residual. */
struct attn_opts case_opts(int i);

/* A figure as it is read: "-1.05" or ".7" with its decimals; FIGURE_BELOW is "<0.01",
 * value 0.01, or ">-0.01", value -0.01. */
enum figure_kind {
    FIGURE_NONE,
    FIGURE_NUMBER,
    FIGURE_BELOW,
    FIGURE_INFINITY,
    FIGURE_NAN
};
struct figure_read {
    enum figure_kind kind;
    double value;
    int decimals;
    bool ascii_minus; /* a hyphen where the real minus belongs */
};
struct figure_read figure_read(const char *text);
/* Whether text is what value rounds to at the text's own decimals: no false zero, no
 * signed zero, the real minus. */
bool figure_is(const char *text, double value);

/* ---- rectangles ---- */

bool rect_holds(struct scene_rect outer, struct scene_rect inner, float slack);
/* By how much two rectangles overlap: the smaller of both directions; <= 0: not. */
float rect_overlap(struct scene_rect a, struct scene_rect b);
struct scene_rect rect_common(struct scene_rect a, struct scene_rect b);

/* Splitmix64: the same numbers for the same seed, everywhere. */
uint64_t case_random(uint64_t *state);
float case_unit(uint64_t *state); /* in [-1, 1) */

/* The groups, one a file; each returns how many tests failed. */
int scene_layout_tests(void);
int scene_figure_tests(void);
int scene_motion_tests(void);
int scene_pick_tests(void);
int scene_text_tests(void);
int scene_glyphs_tests(void);
int scene_color_tests(void);
int scene_extreme_tests(void);
int scene_golden_tests(void);
int scene_overview_tests(void);
int scene_decode_tests(void);

#endif
