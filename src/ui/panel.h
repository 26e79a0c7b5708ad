/* Private to ui: the side panel's parts. panel.c decides what is explained and draws the
 * heading; one file a kind of explanation draws the rest. Every figure is of the trace. */
#ifndef HEADLIGHT_UI_PANEL_H
#define HEADLIGHT_UI_PANEL_H

#include "parts.h"

enum {
    PANEL_TABLE_MOST =
        12,        /* rows with more columns than this are shown by their largest */
    PANEL_TOP = 8, /* that many of them */
    PANEL_CELL_RADIUS = 3,
    PANEL_BAR_RADIUS = 3
};

/* What is explained. */
struct panel_target {
    enum attn_tensor tensor; /* stage 1: Q, K or V */
    int row;
    int col;      /* cell of that row; -1: the whole row */
    int column;   /* stages 6 and 7: a column of the result to have in view; -1: none */
    float done;   /* how far the animation has come with this cell, 0 .. 1 */
    bool several; /* all selected rows, where the stage has weights */
};
struct panel_target panel_target_of(const struct step_state *s, struct attn_dims d);

struct panel {
    const struct ui *u;
    const struct attn_trace *t;
    struct panel_target at;
    int n, d_head, head;
    float x, w, y, bottom; /* y: the top of what comes next */
    bool apart;            /* a cell is taken apart: its operands are controls */
    int n_operand;         /* of them so far */
};

/* One cell of a dump, beside ours; instead of what the stage would explain. */
void panel_compare(struct panel *p);

/* ---- parts ------------------------------------------------------------------------------ */

void panel_section(struct panel *p, const char *text); /* spaced capitals */
void panel_title(struct panel *p, const char *text);   /* bold */
void panel_rule(struct panel *p);
/* Label on the left, figure on the right. */
void panel_pair(struct panel *p, const char *label, const char *value);
/* Soft text, wrapped. */
void panel_prose(struct panel *p, const char *text);
float panel_prose_height(const struct panel *p, const char *text);
enum { PANEL_PAIR_H = 26, PANEL_RULE_H = 24, PANEL_SECTION_H = 34, PANEL_TITLE_H = 34 };

/* A number in at most `decimals` places, fewer where width is short. */
const char *panel_number(const struct panel *p, struct ui_type t, float width, float v,
                         int decimals);
const char *panel_signed(const struct panel *p, struct ui_type t, float width, float v,
                         int decimals);

/* A cell as the stage paints it: text on the value's colour in a map of +-range. */
/* The same of a weight, in its own colours. */
void panel_weight(const struct panel *p, struct scene_rect box, float v, struct ui_type t,
                  const char *text);
void panel_cell(const struct panel *p, struct scene_rect box, float v, float range,
                struct ui_type t, const char *text);
/* A masked cell: -inf, or 0 after softmax. */
void panel_masked(const struct panel *p, struct scene_rect box, const char *text);
/* A row of n values as cells from x over w; signed numbers. */
void panel_cells(const struct panel *p, float x, float y, float w, float h,
                 const float *v, int n, float range, bool strong);

/* Token j's number and text, right-aligned at `right`. */
void panel_token(const struct panel *p, int j, float right, float cy, float width,
                 bool on);
/* A soft bar behind the line of a column that is asked for. */
void panel_mark(const struct panel *p, float cy, float h);
/* Colour of token j's bars, and as text. */
struct scene_rgba panel_hue_text(const struct panel *p, int j);

/* Two cuts through a bar's end, which is at `right`: it would be longer. */
void panel_beyond(const struct panel *p, float right, float cy, float h);

/* Height of a line where `count` lines share what is left over `after`. */
float panel_pitch(const struct panel *p, int count, float after, float least, float most);
const char *panel_count(const struct panel *p, int count); /* "1,016" */
/* "1,016 others" */
const char *panel_others(const struct panel *p, int count);
/* "₃₂", and "₆₃₅,₄₈₆" where a digit would not do; col < 0: the row alone. */
const char *panel_index(const struct panel *p, int row, int col);

/* ---- numbers ------------------------------------------------------------------------------- */

/* The largest magnitude of a tensor, never 0. */
float panel_range(const struct panel *p, enum attn_tensor t);
struct attn_cmat panel_view(const struct panel *p, enum attn_tensor t);
const float *panel_row_of(const struct panel *p, enum attn_tensor t, int i);
/* Room for n floats until the frame ends, or NULL. */
float *panel_floats(const struct panel *p, int n);
/* The indices of the k largest of key[0..n-1], largest first; NaN counts as largest.
 * `must` (if >= 0) is among them. Returns how many: min(k, n). */
int panel_largest(const float *key, int n, int k, int must, int *at);

/* ---- the sources of the row in question: stages 5 and 6 --------------------------------- */

struct panel_sources {
    int n;          /* tokens that the row sees */
    const float *w; /* [n] their weights a_ij */
    const float
        *sent;        /* [n] |a_ij v_j W_O|: how long what each adds to the row of Y is */
    const float *key; /* [n] what they are ranked by: one of the two */
    int below;        /* weights under the state's least */
    double below_sum; /* what they come to */
};
extern const char panel_no_entropy[];  /* of a row that is no distribution */
extern const char panel_sources_tip[]; /* what "-> Y" means */
/* false: no memory for this frame. */
bool panel_sources_of(struct panel *p, struct panel_sources *s);
/* The k largest by the rank, none below the least weight but p->at.col; returns how many. */
int panel_sources_top(const struct panel *p, const struct panel_sources *s, int k,
                      int *at);
/* The controls of rank and least weight, in one line. */
void panel_sources_controls(struct panel *p);
/* "below 0.01: 1,010 that come to 0.231"; nothing where every weight is shown. */
void panel_sources_below(struct panel *p, const struct panel_sources *s);
enum { PANEL_CONTROLS_H = 30 };

/* ---- the likeliest next tokens of a loaded model ----------------------------------------- */

/* For the block in view: what they are, or where to look. 0 and nothing: no model. */
float panel_next_height(const struct panel *p);
void panel_next(struct panel *p);

/* ---- the overview: the head under the pointer, or the selected one --------------------- */

void panel_overview(struct panel *p);
/* At GPT-2 scale and where there is room: the heads of the block in view. */
void panel_heads(struct panel *p);

/* ---- the labs: figures at the cursor ---------------------------------------------------- */

void panel_lab(struct panel *p);
/* A small button that opens one, from the panel's left edge, its middle at cy. */
void panel_lab_button(const struct panel *p, float cy, enum step_lab_kind kind,
                      const char *tip);

/* ---- several rows ------------------------------------------------------------------------ */

void panel_rows(struct panel *p);
/* "5 of 64 rows: 3–6, 9", as many as there is room to say. */
const char *panel_rows_named(const struct panel *p);

/* ---- broken on purpose ---------------------------------------------------------------- */

void panel_switches(struct panel *p);
/* Points that panel_ghost takes at the panel's foot. */
float panel_ghost_height(const struct ui *u);
void panel_ghost(struct panel *p);

/* ---- decode mode ------------------------------------------------------------------------ */

void panel_decode(struct panel *p);

/* ---- two heads --------------------------------------------------------------------------- */

void panel_two(struct panel *p);

/* ---- the seven explanations ------------------------------------------------------------------- */

void panel_dot(struct panel *p);     /* stages 1 and 2 */
void panel_scale(struct panel *p);   /* 3 */
void panel_mask(struct panel *p);    /* 4 */
void panel_softmax(struct panel *p); /* 5 */
void panel_blend(struct panel *p);   /* 6 */
void panel_output(struct panel *p);  /* 7 */

/* ---- one number taken apart ------------------------------------------------------------ */

/* Colour of a tensor's letter. */
struct scene_rgba panel_tensor_color(const struct panel *p, enum attn_tensor t);
const char *panel_cell_name(const struct panel *p, struct step_ref r); /* "q42" */
/* "q42 = x4 . column 2 of W_Q" */
const char *panel_made_of(const struct panel *p, const struct scene_derivation *d);
/* The terms of a dot product, as many as there is room for over `after` points. true: all
 * are added, *so_far is the trace's value; else what the animation has come to. */
bool panel_terms(struct panel *p, const struct scene_derivation *d, float after,
                 float *so_far);
void panel_result(struct panel *p, const char *label, float v, bool sign, bool done);
/* A click there, or Enter on the first, leads to where that operand came from. */
void panel_operand(struct panel *p, struct scene_rect box, struct step_ref r);
/* Stage 2: the row's scores as bars. */
void panel_row_so_far(struct panel *p);
/* Their height in `room` points: fewer bars, or 0 where too few would fit. */
float panel_row_height_in(int n, float room);
/* The least height of all terms that a number taken apart shows. */
float panel_terms_height(const struct scene_derivation *d);
/* Why the mask lets column j of the row stay, or not. */
const char *panel_mask_why(const struct panel *p, int j);
/* Heading, way, arithmetic, and whether it adds up. */
void panel_apart(struct panel *p, const struct scene_derivation *d);

#endif
