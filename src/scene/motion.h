/* Private to scene: the stage being drawn, and the motions that draw it. */
#ifndef HEADLIGHT_MOTION_H
#define HEADLIGHT_MOTION_H

#include "grid.h"

/* The cell or line that the frames point at. -1: none. */
struct focus {
    int row, col, group;
    bool moving; /* the animation's own, not the pointer's */
};

struct stage {
    struct brush b;
    const struct stage_spec *spec;
    struct layout l;
    struct step_clock clock;
    struct step_beat beat;
    struct focus f;
    struct attn_dims d;
    bool done; /* the animation has come to its end */
};

/* Where several rows are selected and nothing else is asked for: none, see rows_draw. */
struct focus focus_of(const struct stage *st);
bool several_rows(const struct stage *st);

/* Shared by the motions. */
const char *range_note(const struct stage *st, enum attn_tensor t, const char *text);
struct scene_rgba tensor_color(const struct scene_theme *t, enum attn_tensor id);
struct grid_style weights_style(const struct stage *st, const struct grid *g);
bool large_cells(const struct stage *st, const struct grid *g);
void operands_draw(const struct stage *st, float alpha);
/* Frames around the row asked, the column asked, and what they give; short leaders show
 * which way they meet. */
void frames_draw(const struct stage *st, bool operands);
/* Crosshair over a large matrix: the row, and the column under the pointer. */
void crosshair_draw(const struct stage *st);

/* The sum of the first n products of the cell of a group's result. false: no operands. */
bool scene_dot_part(const struct scene_source *src, const struct stage_spec *spec,
                    int group, int row, int col, int n, float *sum);
/* Cells of a swept result that are computed by now. */
int64_t cells_shown(const struct stage *st, const struct grid *g);
/* Stage 3: how far numbers have moved from s to s / sqrt(d_head), 0..1. */
float fade_part(const struct stage *st);
/* Stage 4: cells with j - i from this on are masked by now. */
int diagonal_from(const struct stage *st);
/* K stands on its side, so its name goes to its right. */
void key_label(const struct stage *st, float alpha);
/* One diverging range for the scores of stages 2 to 5. */
void score_range(const struct stage *st, float *lo, float *hi);

/* Whether a question of the tour is open: no figure gives its answer away. */
bool scene_tour_asks(const struct step_state *s, const struct scene_source *src);
/* Broken minus right; the caption of what is broken, NULL: the stage's own is right. */
void motion_difference(struct stage *st); /* broken.c */
/* "Row 3 (“·sat”): its largest score goes from 4.73 to 1.18. " */
const char *caption_example(struct scene *sc, const struct step_state *s,
                            const struct scene_source *src, bool made);
/* made: the stage's figures stand there by now. */
const char *broken_caption(struct scene *sc, const struct step_state *s,
                           const struct scene_source *src, bool made);
/* Of decode mode, NULL: the stage's own is right; and its line of costs. */
const char *decode_caption(struct scene *sc, const struct step_state *s,
                           const struct scene_source *src); /* decode.c */
const char *decode_cost(struct scene *sc, const struct step_state *s);
/* "3.62 GFLOPs", "1.6 M cells"; a token in quotes, or its number. */
const char *words_amount(struct scene *sc, uint64_t n, const char *unit); /* words.c */
const char *words_token(struct scene *sc, const struct scene_source *src, int i);
void motion_dot(struct stage *st);  /* dot.c */
void motion_fade(struct stage *st); /* scores.c */
void motion_diagonal(struct stage *st);
void motion_softmax(struct stage *st);
void motion_blend(struct stage *st); /* blend.c */

/* The operands of the cell that is taken apart, and a line to each. */
void trail_draw(const struct stage *st); /* trail.c */
/* What must hold at this stage, under the title. */
void strip_draw(const struct stage *st); /* strip.c */

#endif
