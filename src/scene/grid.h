/* Private to scene: drawing one matrix with its numbers, labels and frames. */
#ifndef HEADLIGHT_GRID_H
#define HEADLIGHT_GRID_H

#include "layout.h"
#include "ramp.h"

/* What the drawing of one stage needs at hand. */
struct brush {
    struct scene *sc;
    const struct step_state *s;
    const struct step_place *place;
    const struct scene_source *src;
    const struct scene_theme *theme;
    struct scene_rect canvas;
    struct step_view view;
    int mask_from; /* j - i from which on cells are forbidden; INT_MAX: none are */
    bool bare; /* numbers of another run are still on screen: no figures, half strength */
    bool decoding; /* a pass computes some rows alone */
    struct step_pass pass;
};

/* How a matrix is drawn. grid_style() has everything plain. */
struct grid_style {
    struct attn_cmat m; /* as drawn (transposed already) */
    uint64_t key;
    enum scene_map map;
    float lo, hi, gain, alpha;
    int row0, row1, col0, col1;
    int64_t shown;
    int mask_from;
    bool masked_zero;         /* a masked cell reads 0, not -inf */
    int focus_row, focus_col; /* -1: all rows, all columns */
    bool dims;                /* what is outside the focus is dimmed */
    bool figures;             /* numbers in cells */
    bool live;                /* can be hovered and clicked */
};

struct grid_style grid_style(const struct brush *b, const struct grid *g);
void grid_draw(const struct brush *b, const struct grid *g, const struct grid_style *st);

/* Decode mode. Where the rows that are computed lie; what is not there is cut off. */
struct grid pass_lane(const struct brush *b, struct grid g);
void pass_cut(const struct brush *b, const struct grid *g, struct grid_style *st);
/* Rows and columns that are there. */
void pass_size(const struct brush *b, const struct grid *g, int *rows, int *cols);
/* Parts K and V into what is cached, greyed, and what is added. false: nothing is cached. */
bool pass_cached(const struct brush *b, const struct grid *g, const struct grid_style *st,
                 struct grid_style *cached, struct grid_style *added);
/* Cuts a frame to what is there, in the lane where it is of a new row. false: nothing is. */
bool pass_frame(const struct brush *b, struct grid *g, int *row0, int *row1, int *col0,
                int *col1);
/* Marks in a grid on screen: cells whose number is given, and those that it has moved. */
void marks_draw(const struct brush *b, const struct grid *g, const struct grid_style *st);

/* A grid as it lies on screen, zoomed and panned. */
struct grid grid_on_screen(const struct brush *b, struct grid g);
struct scene_rect grid_cells(const struct grid *g, int row0, int row1, int col0,
                             int col1);

/* Frame around cells, clipped to the canvas. */
void grid_frame(const struct brush *b, const struct grid *g, int row0, int row1, int col0,
                int col1);
/* Name and shape below (or above) a grid. name in color, shape and note in faint ink. */
void grid_label(const struct brush *b, const struct grid *g, bool below, const char *name,
                struct scene_rgba color, const char *note, float alpha);
/* Tokens along the rows (left of g) or the columns (above g): chips where cells are large,
 * ticks where they are small. */
void grid_row_tokens(const struct brush *b, const struct grid *g, float alpha);
void grid_col_tokens(const struct brush *b, const struct grid *g, float alpha);
/* A colour map's ramp of w x RAMP_H at (x, y), its ends written below in size points. */
void grid_ramp(const struct brush *b, float x, float y, float w, float size,
               enum scene_map map, float lo, float hi);
void grid_legend(const struct brush *b, const struct grid *beside, enum scene_map map,
                 float lo, float hi);

#endif
