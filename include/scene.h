/* scene: what is on screen, as a list. A pure function of (state, source, metrics, size).
 *
 * Drawing, hit testing and export all read this one list, in painter's order. Lengths
 * are points with the origin at the top left; only gfx multiplies by pixel density. */
#ifndef HEADLIGHT_SCENE_H
#define HEADLIGHT_SCENE_H

#include "attn.h"
#include "base.h"
#include "step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- geometry and colour -------------------------------------------------------- */

struct scene_rect {
    float x, y, w, h;
};
struct scene_rgba { /* sRGB, not premultiplied */
    uint8_t r, g, b, a;
};

/* ---- text ------------------------------------------------------------------------- */

enum scene_font {
    FONT_UI,        /* Inter Regular */
    FONT_UI_MEDIUM, /* Inter Medium */
    FONT_UI_BOLD,   /* Inter Bold */
    FONT_MONO,      /* JetBrains Mono Regular */
    FONT_MONO_BOLD, /* JetBrains Mono Bold */
    FONT_COUNT
};

/* What is looked for, and taken where that is not installed: families, and weights as CSS
 * counts them. Window and paper find the same. */
struct scene_face {
    const char *family, *fallback;
    int weight, fallback_weight;
};
extern const struct scene_face scene_faces[FONT_COUNT];

enum { FONT_FIRST = 0x20, FONT_LAST = 0x17F, FONT_EXTRA = 64 };

/* Widths as plain data, in em. gfx fills it from the fonts found, tests use a
 * monospaced fake. Drawing advances by these same numbers, so layout and picture agree. */
struct font_metrics {
    float advance[FONT_COUNT][FONT_LAST - FONT_FIRST + 1];
    float extra[FONT_COUNT][FONT_EXTRA]; /* of scene_extra_glyphs[] */
    float other[FONT_COUNT];             /* any other character */
    float cap[FONT_COUNT];               /* height of capitals and digits */
};
extern const uint32_t scene_extra_glyphs[FONT_EXTRA]; /* ascending; 0 behind the last */

float font_advance(const struct font_metrics *m, enum scene_font f, uint32_t code);
/* Width in points of n bytes of UTF-8 (n < 0: up to the zero) at size points. */
float font_width(const struct font_metrics *m, enum scene_font f, float size,
                 const char *text, int n);
/* The code point at *text, which moves on; U+FFFD for a malformed byte; 0 at the end. */
uint32_t utf8_next(const char **text);
/* Every character 0.6 em wide, capitals 0.72 em high. */
struct font_metrics font_metrics_fake(void);

/* A text's glyphs from left to right, as a sentence of the program runs. Letters that run
 * from right to left are in the order of the Unicode bidirectional algorithm (UAX #9),
 * brackets among them mirrored, and Arabic letters have the forms that join, lam and alef one;
 * any other text is as it is written. Whatever draws or measures a text goes through here. */
struct scene_glyph {
    uint32_t code; /* as it is drawn */
    int from, to;  /* the bytes of the text it stands for */
    float advance; /* em */
    float room;    /* em, up to where it has advanced to: a mark has its letter's again */
    bool rtl;      /* is read from its right edge */
};
enum { SCENE_GLYPHS = 256 }; /* a longer text is not reordered: no line is as long */
struct scene_glyphs {
    const struct font_metrics *metrics;
    enum scene_font font;
    const char *text;
    int at, end; /* bytes; end < 0: up to the zero */
    int n, next; /* of glyph[]; n = 0: nothing is reordered */
    struct scene_glyph glyph[SCENE_GLYPHS];
};
/* n bytes of text; n < 0: up to the zero. */
void scene_glyphs_begin(struct scene_glyphs *g, const struct font_metrics *m,
                        enum scene_font font, const char *text, int n);
bool scene_glyphs_next(struct scene_glyphs *g, struct scene_glyph *glyph);

/* Whether any of n bytes is of a letter that runs from right to left. */
bool scene_has_rtl(const char *text, int n);
/* Around a text with such letters: it runs as its first letter does, and what is beside it
 * stays there. Neither is seen nor has a width. */
#define SCENE_FIRST_STRONG "\u2068"
#define SCENE_POP_ISOLATE  "\u2069"
enum { SCENE_ISOLATE_BYTES = 3 }; /* of each */
#define SCENE_ISOLATED SCENE_FIRST_STRONG "%.*s" SCENE_POP_ISOLATE

/* How a glyph of another font is put into the room that the layout has for it. */
struct scene_fit {
    float squeeze; /* horizontally: a wider one has to fit, Arabic has to touch */
    float shift;   /* to the right: a narrower one is centred */
};
struct scene_fit scene_glyph_fit(uint32_t code, float own, float room);
/* Whether it is of Arabic's forms, which touch: best of a font of one width. */
bool scene_glyph_joins(uint32_t code);

/* ---- items ------------------------------------------------------------------------ */

enum scene_kind { SCENE_RECT, SCENE_POLY, SCENE_LINE, SCENE_TEXT, SCENE_HEAT };

/* Colour maps. MAP_TOKEN is not a map of values: it paints a fixed colour. */
/* MAP_CACHED: diverging, in greys. */
enum scene_map { MAP_DIVERGING, MAP_SEQUENTIAL, MAP_CACHED, MAP_COUNT };

/* A matrix, or a part of it: one item, whatever its size. Cell (i, j) covers
 * x + j*cell_w .. + cell_w, y + i*cell_h .. + cell_h, and is drawn for row0 <= i < row1,
 * col0 <= j < col1. Where a cell is narrower than a pixel, a pixel shows the value of
 * largest magnitude below it; NaN and unexpected infinities win over every number. */
struct scene_heat {
    struct attn_cmat m;
    uint64_t key; /* equal keys mean equal numbers: may be kept; 0: never kept */
    float x, y, cell_w, cell_h;
    int row0, row1, col0, col1;
    int64_t shown; /* cells of the drawn part that are computed, in reading
                             * order; the others are drawn as empty */
    enum scene_map map;
    float lo, hi;  /* values at the map's ends; diverging: lo = -hi */
    bool log;      /* sequential only: log scale over the four decades below hi */
    float gain;    /* values are multiplied by it first */
    float least;   /* values nearer to 0 are painted as 0 is */
    int mask_from; /* cells with j - i >= mask_from are hatched; INT_MAX: none */
    float alpha;   /* of everything */
    float dim;     /* alpha outside the focus, times alpha */
    int focus_row0, focus_row1, focus_col0, focus_col1; /* inside: not dimmed */
    float gap, radius; /* between cells and of their corners, points; gfx draws plain
                             * where cells are too small for them */
};

/* What a click, a drag or the pointer means here. */
enum scene_hit_kind {
    HIT_NONE,   /* the pointer looks through */
    HIT_COVER,  /* nothing below is reached (panels, an open dialog) */
    HIT_ACTION, /* a click gives `action` */
    HIT_SLIDER, /* a press or drag gives `action`, its x or i set from the position */
    HIT_CELLS,  /* a heat map: hover and pin its cells, drag pans, wheel zooms */
    HIT_CANVAS  /* drag pans, wheel zooms */
};
struct scene_hit {
    enum scene_hit_kind kind;
    struct step_action action;
    int id;                  /* > 0: can have the keyboard focus; unique in a scene */
    const char *tip;         /* hover text, or NULL */
    enum attn_tensor tensor; /* HIT_CELLS: whose cells; */
    bool transposed;         /*   drawn transposed: drawn (i, j) is cell (j, i) */
    float lo, hi;            /* HIT_SLIDER: values at its ends, */
    float inset;             /*   which are so far inside its box */
    bool whole;              /*   into action.i, rounded; else into action.x */
};

struct scene_item {
    enum scene_kind kind;
    struct scene_rect clip; /* nothing outside is drawn or hit */
    struct scene_hit hit;
    union {
        struct { /* corner radius and, where border > 0, an inner border line */
            struct scene_rect box;
            float radius, border;
            struct scene_rgba fill, stroke;
            float soft; /* > 0: the edge fades over so many points (shadows) */
        } rect;
        struct { /* convex, clockwise on screen */
            float x[4], y[4];
            int n;
            struct scene_rgba fill;
        } poly;
        struct {
            float x0, y0, x1, y1, width;
            float dash; /* > 0: dashes and gaps of so many points */
            struct scene_rgba color;
        } line;
        struct { /* one run; x is its left end, y its baseline */
            float x, y, size;
            bool turned; /* a quarter to the left around (x, y): reads upwards */
            enum scene_font font;
            struct scene_rgba color;
            const char *text;
        } text;
        struct scene_heat heat;
    } u;
};

/* ---- theme ------------------------------------------------------------------------ */

/* Colours by role. Two tables: light and dark. */
struct scene_theme {
    struct scene_rgba paper;       /* the stage */
    struct scene_rgba panel;       /* bars, rails, side panel */
    struct scene_rgba edge;        /* lines between them */
    struct scene_rgba ink;         /* text */
    struct scene_rgba ink_soft;    /* secondary text */
    struct scene_rgba ink_faint;   /* tertiary text, disabled */
    struct scene_rgba accent;      /* selected control, links */
    struct scene_rgba accent_soft; /* its background */
    struct scene_rgba accent_mid;  /* a finished step's disc */
    struct scene_rgba on_accent;   /* text on accent */
    struct scene_rgba track;       /* slider, switch off */
    struct scene_rgba select;      /* frame around the selected row or cell */
    struct scene_rgba empty;       /* a cell not yet computed */
    struct scene_rgba empty_line;  /* its dashes */
    struct scene_rgba mask;        /* a masked cell */
    struct scene_rgba hatch;       /* lines on it */
    struct scene_rgba odd;         /* NaN and unexpected infinity */
    struct scene_rgba tip;         /* tooltip background */
    struct scene_rgba on_tip;
    struct scene_rgba warn; /* what-if banner, message bar */
    struct scene_rgba on_warn;
    struct scene_rgba q, k, v, o; /* the matrices' letters */
    struct
    { /* colours at the map's ends and, if diverging, middle; see scene_map_entry */
        struct scene_rgba low, middle, high;
        float power; /* of the way between: < 1 is steeper near the middle or low end */
    } map[MAP_COUNT];
};
const struct scene_theme *scene_theme_get(enum step_theme t);

/* Entry 0 .. 255 of a colour map: what a value at i / 255 of the range is painted in. */
struct scene_rgba scene_map_entry(const struct scene_theme *t, enum scene_map map, int i);
/* The colour of a value, as gfx paints it. */
struct scene_rgba scene_map_color(const struct scene_theme *t, enum scene_map map,
                                  float lo, float hi, bool log, float value);
/* What is painted for a number of h.m: times gain, 0 where it is below least. */
float scene_heat_value(const struct scene_heat *h, float number);
/* Dark or light ink, whichever reads better on c over the paper. */
struct scene_rgba scene_ink_on(const struct scene_theme *t, struct scene_rgba c);
/* The hue of token i: from a colour-blind-safe set, readable as text in theme t. */
struct scene_rgba scene_token_hue(int i);
struct scene_rgba scene_mix(struct scene_rgba a, struct scene_rgba b, float t);
struct scene_rgba scene_fade(struct scene_rgba c, float alpha);

/* ---- what has to hold ----------------------------------------------------------------- */

/* What has to hold in a run, and whether it does; see scene_check. A ref is the first cell
 * at fault, none where there is none. */
struct scene_checks {
    double row_sum;         /* largest |sum of a row of A - 1|; NaN where a row is NaN */
    struct step_ref row_at; /* a cell of that row */
    double upper;           /* largest magnitude of A above the diagonal, or NaN */
    int64_t n_upper;        /* cells there that are not 0 */
    struct step_ref upper_at; /* the first of them */
    int64_t n_unmasked;       /* masked scores there that are not -INFINITY */
    struct step_ref unmasked_at;
    double
        scale; /* largest |scaled - S / sqrt(d_head)|, in units of its rounding, or NaN */
    struct step_ref scale_at;
    double residual; /* largest |Y - (O W_O + b) - h|, or NaN */
    struct step_ref residual_at;
    double blend; /* by how much O leaves the range of V; NaN: O or V is not finite */
    struct step_ref blend_at;
    float entropy_lo, entropy_hi;           /* of rows of A, bits; NaN rows left out */
    struct attn_stats seen;                 /* of masked scores that are not hidden */
    int64_t n_odd[ATTN_TENSOR_COUNT];       /* NaN and infinities that should not be */
    struct step_ref odd[ATTN_TENSOR_COUNT]; /* the first of them */
};

/* ---- what is shown ------------------------------------------------------------------ */

/* What the overview shows: see attn_heads. Head h of block b is number b * n_head + h. */
struct scene_heads {
    int n_block, n_head;
    int done;   /* blocks that are computed; the numbers of later ones are none yet */
    int side;   /* of the images */
    float gain; /* scaled scores = gain * scores */
    bool causal, shifted; /* the mask was on; one off */
    const struct attn_head_sum *sum;
    const float *scores, *weights; /* [n_block * n_head, side, side] */
    uint64_t version;              /* other numbers have another version, never 0 */
};

/* The likeliest next tokens behind one row of a loaded model's text. */
enum { SCENE_NEXT = 5 };
struct scene_next {
    int row;
    bool ready;                   /* false: they are being computed */
    int n;                        /* falling; 0: every logit is NaN */
    const char *text[SCENE_NEXT]; /* as struct scene_source has tokens */
    float p[SCENE_NEXT], logit[SCENE_NEXT];
};

/* Beside a broken run: the right one, and broken - right. */
struct scene_ghost {
    const struct attn_trace *right, *diff;
    const float *blend, *reach;       /* of right */
    const struct attn_change *change; /* [ATTN_TENSOR_COUNT] */
    uint64_t right_version;
    const struct scene_checks *checks; /* of right */
};

/* Somebody's numbers beside ours: one matrix a stage, the first of the stage that differs,
 * else its last. */
enum scene_verdict { SCENE_NOT_COMPARED, SCENE_AGREES, SCENE_DIFFERS };
struct scene_compared {
    enum scene_verdict verdict; /* over all heads */
    enum attn_tensor tensor;    /* ATTN_TENSOR_COUNT: none */
    const char *from;           /* what their array is called */
    struct attn_cmat ours, theirs,
        difference;                /* of the head; data NULL: not in the dump */
    float range, difference_range; /* largest finite magnitudes */
    bool masked;                   /* both hide j > i */
    int64_t n, n_bad;      /* cells, and those beyond the tolerance, of all heads */
    struct step_ref first; /* the first of those in this head, or none */
};
struct scene_compare {
    struct scene_compared stage[ATTN_STAGE_COUNT];
    const char *why, *mlp; /* what went wrong; what differs behind the stages; "" */
    uint64_t version;      /* other numbers have another version, never 0 */
};
const char *scene_diff_name(enum step_diff d); /* "theirs" */

/* The stop of the tour in view, its words filled in with the numbers. */
enum scene_ask { ASK_NOTHING, ASK_TOKEN, ASK_ROW, ASK_CELL, ASK_CHOICE };
enum { SCENE_CHOICES = 5 };
struct scene_tour {
    const char *title, *say, *ask, *show; /* "": none */
    const char *verdict;                  /* of what was answered; "": nothing was */
    enum scene_ask kind;
    enum attn_tensor tensor; /* ASK_CELL: of which */
    int rows, cols;          /* that can be answered; a token or a choice: rows alone */
    int first;               /* row at which the keys begin */
    const char *choice[SCENE_CHOICES];
    int right_row, right_col; /* one that is right; -1: none */
};
/* What the keys answer now: see struct scene_tour. */
struct scene_asked {
    enum scene_ask kind;
    int rows, cols, first;
};

/* A second head beside the trace's, and the trace's minus it: [n_tok, n_tok] each, in the
 * order of ATTN_S_RAW .. ATTN_P. Of masked scores the difference is that of the scaled. */
enum { SCENE_PAIR_KINDS = 4 };
struct scene_pair {
    int head; /* the second, from 0 */
    struct attn_cmat second[SCENE_PAIR_KINDS], minus[SCENE_PAIR_KINDS];
    float second_most[SCENE_PAIR_KINDS], minus_most[SCENE_PAIR_KINDS]; /* largest finite
                                                                        * magnitudes */
};

/* What softmax makes of random scores. A draw is a query and n_key keys of 256 numbers of
 * variance 1; at d_head = d the first d of each are taken. [0]: softmax(S), [1]:
 * softmax(S / sqrt(d)). lo and hi: the 10th and the 90th percentile of the draws. */
enum { SCENE_SATURATION = STEP_LAB_DS + 1 };
struct scene_spread {
    float mean, lo, hi;
};
struct scene_saturation {
    int n_key, n_draw, n;                             /* n: how many d */
    int d[SCENE_SATURATION];                          /* ascending */
    struct scene_spread top[2][SCENE_SATURATION];     /* largest weight of the row */
    struct scene_spread entropy[2][SCENE_SATURATION]; /* bits, at most log2 n_key */
};

/* How long the stages took here, at n_tok[i] tokens; all heads. Stages 2 to 5 dense, 6
 * without what the mask hides. */
enum { SCENE_TIMES = 12 };
struct scene_times {
    struct attn_dims dims; /* but n_tok */
    int n, of;             /* so many are measured, of so many that are to be */
    int n_tok[SCENE_TIMES];
    double seconds[SCENE_TIMES][ATTN_STAGE_COUNT];
    int threads;
    const char *kernels; /* "avx2" */
    bool running;
};

/* A computed run with its names; whole and read-only. */
struct scene_source {
    const struct scene_checks *checks; /* NULL: not looked at */
    const float *ln_gain, *ln_bias;    /* of ln_1; NULL: 1, 0 */
    float ln_eps;                      /* 0: nothing is known of ln_1 */

    const struct attn_trace *trace;  /* NULL: none yet */
    const struct attn_ctx *attn;     /* kernels, for rows taken apart in the panel */
    bool fits;                       /* trace is of the state; false: still computing */
    uint64_t version;                /* another trace has another version, never 0 */
    const char *const *tokens;       /* n_tok texts, or NULL: shown by index alone */
    const float *blend;              /* [n_tok, 3] linear light, scene_blend() */
    const float *reach;              /* [n_tok] |v_j W_O| of the head, attn_reach() */
    const char *label;               /* "toy · random weights" */
    float progress;                  /* 0..1 while a worker computes, else < 0 */
    const char *message;             /* message bar, or NULL */
    float making;                    /* 0..1: how far a film is; 0: none is made */
    const struct scene_heads *heads; /* of the state, or NULL: none yet */
    const struct scene_pair *pair;   /* of the trace; NULL: one head alone */
    const struct scene_next *next;   /* of the state's row; NULL: none is asked for */
    const struct scene_ghost *ghost; /* NULL: nothing is broken, or not made yet */
    const struct attn_edit
        *given; /* [n_given] numbers of the trace that are not computed */
    int n_given;
    const struct attn_trace *ungiven;    /* the same run without them; NULL: not made */
    const struct scene_compare *compare; /* of the state, or NULL: nothing is compared */
    const struct scene_tour *tour;       /* NULL: it is closed */
    const struct scene_saturation *saturation; /* of the open lab; NULL: none yet */
    const struct scene_times *times;           /* of its dims; NULL: not measured */
};

/* blend[i] = the hues of the tokens mixed in linear light by row i of p. */
void scene_blend(float *blend, struct attn_cmat p);

/* Looks through a run once, off the frame: about a millisecond for 1,024 tokens. */
void scene_check(struct scene_checks *c, const struct attn_trace *t,
                 const struct attn_ctx *attn);
/* The same of the rows that a pass computes; t->stats are theirs. */
void scene_check_pass(struct scene_checks *c, const struct attn_trace *t,
                      const struct attn_ctx *attn, struct step_pass pass);

/* ---- where a number came from ---------------------------------------------------------- */

enum derive_kind {
    DERIVE_GIVEN,   /* an input of the block: h, a weight */
    DERIVE_NORM,    /* X: a row of h, normed */
    DERIVE_DOT,     /* a . b (+ bias) (+ plus) */
    DERIVE_DIVIDE,  /* by the divisor */
    DERIVE_MASK,    /* taken over, or hidden */
    DERIVE_SOFTMAX, /* exp(s - max) / sum over the row */
    DERIVE_SAME,    /* the same number in another matrix */
    DERIVE_HEAD,    /* of a head whose stages are not kept; see head */
    DERIVE_KIND_COUNT
};

/* n numbers of one tensor along a row or a column: number k is data[k * step], cell
 * (first.row + k * d_row, first.col + k * d_col). */
struct derive_series {
    const float *data;
    int step;
    struct step_ref first;
    int d_row, d_col;
};

/* How one number was made of others, of the trace alone. */
struct scene_derivation {
    enum derive_kind kind;
    struct step_ref ref;
    float value;               /* the trace's */
    double sum;                /* ours, in float64 from the same operands */
    double bound;              /* what float32 rounding may make of the difference */
    int n;                     /* terms, or scores of the row; 0: none */
    struct derive_series a, b; /* NORM, DIVIDE, MASK, SOFTMAX, SAME: a alone */
    int at;                    /* NORM, SOFTMAX: the operand's own place in a */
    bool hidden;               /* MASK: by the mask */
    bool given;           /* value was put in the place of what was computed: sum, or, of
                                * an input, */
    float was;            /*   this; NaN: not known */
    bool silent;          /* DOT: of a silenced head, 0 whatever its terms */
    const float *bias;    /* NULL: none */
    struct step_ref plus; /* the residual; tensor ATTN_TENSOR_COUNT: none */
    float plus_value;
    double mean, variance, gain, shift, eps; /* NORM */
    double max, total, heat; /* SOFTMAX: sum of exp, DOT: of the terms; temperature */
    double divisor;          /* DIVIDE */
    int head;                /* HEAD: that made it */
};
/* The cell that is taken apart: under the pointer, dived into or pinned, whether the stage
 * is in motion or not; none where its matrix is not drawn. A pinned score is that of the
 * stage in view. */
struct step_ref scene_cell_of(const struct step_state *s);
/* The same, whatever the pointer is on. */
struct step_ref scene_kept_cell(const struct step_state *s);
/* false: there is no such number in the trace. */
bool scene_derive(struct scene_derivation *d, const struct scene_source *src,
                  struct step_ref ref);
/* Whether value is sum within rounding; both NaN, or the same infinity, are. */
bool scene_derive_agrees(const struct scene_derivation *d);
float derive_number(const struct derive_series *s, int k);
struct step_ref derive_ref(const struct derive_series *s, int k);
double derive_term(const struct scene_derivation *d, int k); /* DOT: a_k * b_k */
/* Whether a cell is one of the numbers that d is made of. */
bool scene_is_operand(const struct scene_derivation *d, struct step_ref r);
/* The operands that are shown: all terms, or the `most` of largest magnitude, in at; the
 * largest first, or, by_place, in their order. SOFTMAX: of the row, its own among them.
 * Returns how many. */
enum { DERIVE_SHOWN = 16 };
int scene_derive_shown(const struct scene_derivation *d, int most, bool by_place,
                       int *at);

/* ---- words ---------------------------------------------------------------------------------- */

/* Ids of the terms in a caption: each can have the focus, which shows its meaning. */
enum { SCENE_TERM_ID = 2400, SCENE_TERM_END = 2500 };
/* The first term of the glossary in text from `from` on, n bytes long, and its meaning;
 * NULL: there is none. */
const char *scene_term_in(const char *text, const char *from, int *n,
                          const char **meaning);
/* Why a stage is there, what would go wrong without it, its cost, and where to read on:
 * numbers of links, -1: none. */
enum { SCENE_LINKS = 3 };
struct scene_reasons {
    const char *why, *without, *cost;
    int link[SCENE_LINKS];
};
const struct scene_reasons *scene_reasons_of(enum attn_stage s);
struct scene_link {
    const char *title, *address;
};
const struct scene_link *scene_link_at(int i); /* NULL: there is none */

/* Where the window's parts lie. */
struct scene_frame {
    struct scene_rect top, rail, stage, panel, bottom;
    struct scene_rect code; /* below the stage, which gives it room; w = 0: closed */
};
struct scene_frame scene_frame_of(float w, float h);
enum { SCENE_MIN_W = 1024, SCENE_MIN_H = 640 }; /* points */
/* The same in presenter mode, in which the stage is all there is; with a panel for the
 * tour, or the switches, beside it. */
enum { SCENE_PRESENTED_W = 853, SCENE_PRESENTED_H = 533 };
struct scene_frame scene_frame_presented(float w, float h, bool panel);

/* The overview as last built: the heads in the order in which they lie, row by row. */
struct scene_order {
    const int *at;
    int n, columns;
    float x, y, pitch; /* of the first cell and from cell to cell, as zoomed and panned */
    float far_x, far_y; /* the least view.x and view.y that show something more; <= 0 */
};

struct scene {
    struct scene_item *items;
    int n, room;
    bool full; /* room ran out: a defect, tests look */
    float w, h;
    struct scene_frame frame;
    enum step_theme theme;
    struct scene_rect clip;   /* what is pushed now is clipped to */
    struct scene_rect canvas; /* where the matrices lie, before zoom and pan */
    float pane_by; /* two heads: the second's canvas is so far right of canvas; else 0 */
    struct scene_order order; /* n = 0: the overview is not open */
    struct scene_asked asked; /* by the tour */
    /* Of the cell dived into or pinned, whose operands a click dives into; NULL: none. */
    const struct scene_derivation *apart;
    struct arena *mem; /* texts; until the next frame */
    const struct font_metrics *font;
};

/* Empty scene of w x h points; items and texts from mem. */
bool scene_begin(struct scene *sc, struct arena *mem, const struct font_metrics *font,
                 enum step_theme theme, float w, float h, struct err *e);
enum { SCENE_ROOM = 16384 }; /* items; scene_bytes() of arena hold them and their text */
size_t scene_bytes(void);

/* Draws the stage of the state: title, matrices, numbers, caption; or the overview. */
void scene_build(struct scene *sc, const struct step_state *s,
                 const struct scene_source *src);

/* ---- broken on purpose ------------------------------------------------------------------- */

/* What the state looks at: its own, or the right run in the place of the broken one. */
struct scene_seen {
    const struct step_state *s;
    const struct scene_source *src;
    struct step_state right_s;
    struct scene_source right_src;
};
void scene_seen_of(struct scene_seen *seen, const struct step_state *s,
                   const struct scene_source *src);
/* "causal mask is off · head 3 is silenced"; brief: "no mask · head 3 silent"; NULL:
 * nothing is broken. */
const char *scene_broken_text(struct scene *sc, const struct step_state *s, bool brief);
const char *scene_switch_name(enum step_switch w);             /* "the mask forbids" */
const char *scene_choice_name(enum step_switch w, int choice); /* "j > i" */
const char *
scene_divisor_name(struct attn_opts o); /* what S is divided by, "1": nothing */

/* The ends of the weights' colour map: 0 and 1, or beyond them where a number that is given
 * lies beyond. */
void scene_weights_range(const struct scene_source *src, float *lo, float *hi);
/* Why decode mode cannot show one token after another; NULL: it can, or is off. */
const char *scene_decode_refusal(const struct step_state *s);
/* ---- numbers that are given ------------------------------------------------------------- */

/* The number that is given for a cell of the trace's head; NULL: it is computed. */
const struct attn_edit *scene_given_at(const struct scene_source *src, struct step_ref r);
/* Whether a cell is another number than it would be if none were given; false where that
 * is not known. */
bool scene_is_moved(const struct scene_source *src, struct step_ref r);
/* The cell that E edits: under the pointer, dived into or pinned, else the first of the row
 * in view, of what the stage is about. None where the stage has nothing to edit. */
struct step_ref scene_field_cell(const struct step_state *s);
/* The matrices of a stage that can be edited, as it draws them; how many. */
int scene_field_tensors(const struct step_state *s, enum attn_tensor out[8]);
/* Where a cell is drawn; false: nowhere. */
bool scene_cell_box(const struct scene *sc, struct step_ref r, struct scene_rect *box);
/* Why a number was not taken, in a sentence. */
const char *scene_wrong_text(struct scene *sc, const struct step_state *s,
                             enum step_wrong w);

/* ---- the overview ------------------------------------------------------------------------ */

/* What a head's weights do, most of all: the measures that a head can be marked by. */
enum scene_mark { MARK_PREVIOUS, MARK_INDUCTION, MARK_ITSELF, MARK_COUNT, MARK_NONE };
#define SCENE_MARK_LEAST 0.4 /* share of the weight from which on it is marked */
enum scene_mark scene_mark_of(const struct attn_head_sum *sum);
struct scene_rgba scene_mark_color(const struct scene_theme *t, enum scene_mark m);
const char *scene_over_kind_name(enum step_over_kind k); /* "weights" */
const char *scene_sort_name(enum step_over_sort s);      /* "previous token" */
const char *scene_sort_means(enum step_over_sort s);     /* its definition */
/* The measure that s sorts by; NaN where there is none. */
double scene_measure(const struct attn_head_sum *sum, enum step_over_sort s);
/* Whether head number i has been computed. */
bool scene_head_is_there(const struct scene_source *src, int i);
/* Head i's image in box, as the overview draws it. false: it has not been computed. */
bool scene_head_image(struct scene *sc, const struct step_state *s,
                      const struct scene_source *src, int i, struct scene_rect box);

/* ---- the labs ------------------------------------------------------------------------------ */

/* The entry of a saturation at d_head = d, or the nearest. */
int scene_saturation_at(const struct scene_saturation *sat, int d);
/* The dims whose costs the lab shows: those in view, or GPT-2 small's; n_tok of them. */
struct attn_dims scene_lab_dims(const struct step_state *s, int n_tok);
/* Whether those in view are GPT-2 small's. */
bool scene_lab_is_gpt2(const struct step_state *s);
/* The least N at which stages 2 and 6 take more FLOPs (or bytes) than 1 and 7; 0: there is
 * none up to STEP_LAB_MOST_N. */
int scene_lab_crossing(const struct step_state *s, bool causal);
/* The measured times at N, or NULL. */
const double *scene_times_at(const struct scene_times *t, int n_tok);
/* 3623878656 as "3.62 G", up to 9,999 every digit. */
const char *scene_amount(struct scene *sc, double v);
/* 0.00123 s as "1.23 ms". */
const char *scene_seconds(struct scene *sc, double s);
const char *scene_lab_name(enum step_lab_kind k); /* "saturation" */

/* ---- figures ------------------------------------------------------------------------------ */

/* A page of sc->w x sc->h points, at least these, with one matrix and nothing else: its
 * name, the tokens or numbers along its rows and columns, its numbers where they fit, and
 * a legend with its true range. */
enum { SCENE_FIGURE_W = 240, SCENE_FIGURE_H = 200 };
void scene_figure(struct scene *sc, const struct step_state *s,
                  const struct scene_source *src, enum attn_tensor t);
/* The same with every head of every block, as the overview has them in the model's order. */
void scene_figure_heads(struct scene *sc, const struct step_state *s,
                        const struct scene_source *src);
/* The stage at which a matrix comes to be. */
enum attn_stage scene_stage_of(enum attn_tensor t);

/* ---- pushing items (scene and ui) --------------------------------------------------- */

/* Returned item is the caller's to adjust (hit, clip, dash); never NULL: past the room it
 * is a spare that is not drawn. */
struct scene_item *scene_rect(struct scene *sc, struct scene_rect box, float radius,
                              struct scene_rgba fill);
struct scene_item *scene_border(struct scene *sc, struct scene_rect box, float radius,
                                float border, struct scene_rgba fill,
                                struct scene_rgba stroke);
struct scene_item *scene_line(struct scene *sc, float x0, float y0, float x1, float y1,
                              float width, struct scene_rgba color);
struct scene_item *scene_triangle(struct scene *sc, const float x[3], const float y[3],
                                  struct scene_rgba fill);
/* Text that the caller owns until the frame's end, or that scene_print makes. */
enum scene_align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };
struct scene_item *scene_text(struct scene *sc, float x, float baseline,
                              enum scene_align align, enum scene_font font, float size,
                              struct scene_rgba color, const char *text);
const char *scene_print(struct scene *sc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Bytes of the longest start of text that fits width, at a word's end where there is one: no
 * line breaks beside "=", a times sign and the like. */
int scene_line_fit(const struct scene *sc, enum scene_font font, float size, float width,
                   const char *text);
/* Wraps text to width; returns the baseline after the last line. */
float scene_paragraph(struct scene *sc, float x, float baseline, float width,
                      float leading, enum scene_font font, float size,
                      struct scene_rgba color, const char *text);
/* Text cut with an ellipsis to fit width. */
const char *scene_fit_text(struct scene *sc, enum scene_font font, float size,
                           float width, const char *text);
struct scene_item *scene_heat(struct scene *sc, const struct scene_heat *heat);

/* A token's chip: index, visible spaces, its hue. on: full strength. */
void scene_chip(struct scene *sc, struct scene_rect box, const struct scene_source *src,
                int token, float size, bool on);
/* Width a chip needs at font size `size`. */
float scene_chip_width(struct scene *sc, const struct scene_source *src, int token,
                       float size);
/* The same of a text that is no source's token: bytes as the tokenizer has them, or NULL. */
void scene_raw_chip(struct scene *sc, struct scene_rect box, const char *text, int token,
                    float size, bool on);
float scene_raw_chip_width(struct scene *sc, const char *text, int token, float size);
/* Token text with what cannot be seen made visible, each in its own way: spaces, newlines,
 * tabs, spaces that do not break; other invisible characters by their number, and bytes of
 * a character that spans tokens in hex. One with letters that run from right to left is
 * isolated from what is beside it. "" where there is none. */
const char *scene_token_text(struct scene *sc, const struct scene_source *src, int token);
const char *scene_raw_text(struct scene *sc, const char *text);
/* Whether a character begins in a or before it and goes on in b, the token behind it. */
bool scene_tokens_join(const char *a, const char *b);
/* The same of tokens i and i + 1 of src; false where there are none. */
bool scene_token_joins(const struct scene_source *src, int i);

/* A number in at most `digits` significant places and at most `room` characters, with a
 * real minus sign: "-1.05", "<0.001" for a nonzero that would read 0, "∞", "NaN". */
const char *scene_number(struct scene *sc, float value, int decimals);
/* A number in `digits` significant digits, as %g has them; else the same: "NaN", "−∞". */
const char *scene_digits(struct scene *sc, double value, int digits);
/* A count, its thousands apart: 1,048,576. */
const char *scene_count(struct scene *sc, int64_t n);
/* Row and column in subscript digits, from 1; col < 0: the row alone. */
const char *scene_index(struct scene *sc, int row, int col);
const char *scene_signed(struct scene *sc, float value, int decimals); /* "+0.548" */

/* ---- hit testing and tests --------------------------------------------------------------- */

struct scene_at {
    const struct scene_item *item; /* topmost with a hit, or NULL */
    struct step_ref cell;          /* HIT_CELLS: the cell */
};
struct scene_at scene_pick(const struct scene *sc, float x, float y);
/* Whether what lies there is a cell that the motion has not computed yet. */
bool scene_is_to_come(const struct scene_at *at);
/* Box of an item in points (text: its line box). */
struct scene_rect scene_item_box(const struct scene *sc, const struct scene_item *it);
/* The item of control id, or NULL. */
const struct scene_item *scene_find(const struct scene *sc, int id);

/* A number that two scenes share where they look the same, and, but for one in 2^64, only
 * there; never 0. Matrices are told apart by their keys, those without one cell by cell. */
uint64_t scene_look(const struct scene *sc);

/* The list as text, one item a line; for tests and for people. NULL: arena full. */
const char *scene_dump(const struct scene *sc, struct arena *mem);

/* Names, formulas and captions of a stage. */
struct scene_stage_text {
    const char *title, *formula, *caption;
};
struct scene_stage_text scene_stage_text_of(enum attn_stage stage);
/* Terms of a dot product of k terms that are added when its beat has come to `part`. */
int scene_terms(float part, int k);
const char *scene_tensor_name(enum attn_tensor t); /* "W_Q", "S", ... */
struct attn_cmat scene_tensor_view(const struct scene_source *src, enum attn_tensor t);

#endif
