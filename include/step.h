/* step: the state of the program, and the one function that applies an action to it.
 *
 * Keys, buttons, scripts and the command line all become actions; step_apply and
 * step_tick are the only writers of struct step_state, and the same actions always give
 * the same state. Nothing here knows SDL, OpenGL, files or clocks: time is passed in. */
#ifndef HEADLIGHT_STEP_H
#define HEADLIGHT_STEP_H

#include "attn.h"

#include <stdbool.h>
#include <stdint.h>

enum step_scale { STEP_TOY, STEP_GPT2, STEP_SCALE_COUNT };
enum step_theme { STEP_LIGHT, STEP_DARK };
enum step_edit { STEP_EDIT_NONE, STEP_EDIT_TEXT, STEP_EDIT_PATH, STEP_EDIT_EXPORT };
/* What the sources of a row are ranked by: the weight a_ij, or the length of what the
 * source adds to the row of Y through this head, |a_ij v_j W_O|. */
enum step_rank { STEP_RANK_WEIGHT, STEP_RANK_CONTRIBUTION };
enum step_copy {
    STEP_COPY_STATE,   /* the line that shows this again */
    STEP_COPY_NUMBERS, /* the pinned cell, the rows, the matrix: wider each time */
    STEP_COPY_PICTURE,
    STEP_COPY_COUNT
};
/* The export dialog. */
enum step_out_format {
    STEP_OUT_PNG,
    STEP_OUT_SVG,
    STEP_OUT_PDF,
    STEP_OUT_FILMS, /* from here on */
    STEP_OUT_MP4 = STEP_OUT_FILMS,
    STEP_OUT_GIF,
    STEP_OUT_WEBM,
    STEP_OUT_FRAMES,
    STEP_OUT_FORMAT_COUNT
};
enum step_out_part {
    STEP_OUT_WINDOW,
    STEP_OUT_STAGE,
    STEP_OUT_MATRIX, /* the pinned cell's, else what the stage computes */
    STEP_OUT_HEADS,
    STEP_OUT_PART_COUNT
};
enum step_out_size {
    STEP_OUT_USUAL, /* the window's, or what the part needs */
    STEP_OUT_720,
    STEP_OUT_1080,
    STEP_OUT_COLUMN, /* of a paper: 85 mm */
    STEP_OUT_PAGE,   /* 170 mm */
    STEP_OUT_SIZE_COUNT
};
struct step_out {
    enum step_out_part part;
    enum step_out_size size;
    bool transparent;
    bool all; /* a film: of all stages */
};
/* Two heads looked at together, in the stages that have scores or weights: side by side,
 * or the place's head minus its second. */
enum step_pair { STEP_PAIR_NONE, STEP_PAIR_BESIDE, STEP_PAIR_MINUS, STEP_PAIR_COUNT };
enum step_option { STEP_OPT_SCALE, STEP_OPT_CAUSAL, STEP_OPT_RESIDUAL, STEP_OPT_COUNT };

enum {
    STEP_TOY_TOKENS = 5, /* of its first text */
    STEP_TOY_MOST = 8,
    STEP_GPT2_TOKENS = 64,  /* at first; 1 .. STEP_MAX_TOKENS by control or --tokens */
    STEP_MAX_TOKENS = 1024, /* GPT-2's n_ctx */
    /* Of a loaded model: a trace keeps four n_tok x n_tok, 268 MB of them. */
    STEP_MODEL_TOKENS = 4096,
    STEP_MIN_UI = 50, /* UI size in percent */
    STEP_MAX_UI = 300
};

/* One cell of one matrix; counted from 0. tensor = ATTN_TENSOR_COUNT: none. */
struct step_ref {
    enum attn_tensor tensor;
    int row, col;
};

/* What may be set wrong, see struct attn_opts; choice 0 is right each time. */
enum step_switch {
    STEP_SW_DIVIDE,    /* by sqrt(d_head), nothing, d_head, sqrt(d_model) */
    STEP_SW_MASK,      /* j > i, none, j > i + 1 */
    STEP_SW_PRECISION, /* enum attn_precision */
    STEP_SW_MAX,       /* subtracted, not */
    STEP_SW_BIAS,      /* added, left out */
    STEP_SW_SWAP,      /* Q and K right, swapped */
    STEP_SW_RESIDUAL,  /* added, left out */
    STEP_SW_COUNT
};
#define STEP_HEAT_MOST 4.0f /* temperatures from 2^-4 to 2^4 */

/* Which result is looked at while something is broken. */
enum step_see { STEP_SEE_BROKEN, STEP_SEE_RIGHT, STEP_SEE_DIFFERENCE, STEP_SEE_COUNT };

/* A number that a person has put in place of a computed one. */
struct step_given {
    struct attn_edit cell; /* head: of the head in view then, where the tensor has one */
    int block;             /* of a loaded model, else 0 */
};
enum { STEP_GIVEN_MOST = 256 /* at each scale, at most */ };

/* Why a number was not taken. */
enum step_wrong {
    STEP_WRONG_NOT, /* it was */
    STEP_WRONG_EMPTY,
    STEP_WRONG_WORD,   /* no number */
    STEP_WRONG_NAN,    /* NaN or infinity */
    STEP_WRONG_LARGE,  /* beyond float32 */
    STEP_WRONG_SMALL,  /* nearer to 0 than float32 tells from it */
    STEP_WRONG_HIDDEN, /* the mask hides the cell: nothing reads it */
    STEP_WRONG_MATRIX, /* cannot be given at this scale, or is computed from others alone */
    STEP_WRONG_CELL,   /* there is none */
    STEP_WRONG_FULL,   /* STEP_GIVEN_MOST are given */
    STEP_WRONG_COUNT
};
/* The field in which one cell's number is typed. */
enum { STEP_FIELD_ROOM = 32 };
struct step_field {
    struct step_ref at; /* tensor ATTN_TENSOR_COUNT: it is closed */
    float value;        /* that stands in the cell */
    char text[STEP_FIELD_ROOM];
    int n, caret; /* bytes */
    bool fresh;   /* nothing typed yet: the first character takes the number's place */
    enum step_wrong wrong; /* why what was typed has not been taken */
};
enum step_field_key {
    STEP_FIELD_BACK, /* erases */
    STEP_FIELD_DELETE,
    STEP_FIELD_LEFT,
    STEP_FIELD_RIGHT,
    STEP_FIELD_HOME,
    STEP_FIELD_END,
    STEP_FIELD_KEY_COUNT
};

struct step_past; /* what can be undone */

/* Where a pinned number came from: the operands that one has dived into, the last of them
 * in view. A dive leads to the stage that made the operand; climbing out leads back. */
enum { STEP_DIVE_MOST = 12 /* deeper than the longest way, from Y to h */ };
struct step_dive {
    struct step_ref at[STEP_DIVE_MOST];
    int n;                /* 0: the pinned cell itself */
    enum attn_stage from; /* the stage in which it was pinned; where n > 0 */
};

/* How the stage is looked at: on screen, a point p of the fitted layout lies at
 * p * zoom + (x, y). zoom = 1, x = y = 0 fits everything. */
struct step_view {
    float zoom, x, y;
};

/* What is kept for each scale, so that T leads back to where one was. */
struct step_place {
    struct attn_dims dims; /* n_tok included */
    uint32_t seed;
    int head, row; /* counted from 0 */
    int second;    /* another head, where there is one; see enum step_pair */
    uint32_t
        more[STEP_MODEL_TOKENS / 32]; /* bits of rows selected beside row; row's counts
                                          * for nothing until another is in view */
    int anchor;                       /* the row from which Shift selects */
    struct step_ref pin;              /* the cell that a click has pinned */
    struct step_view view;
    int block, n_block; /* counted from 0, of so many; n_block = 0: weights from a seed */
    int limit;          /* tokens there may be */
    uint32_t text; /* number of the text that is read, of those app keeps; 0: the first */
    int n_edit;
    struct step_given edits[STEP_GIVEN_MOST];
    int prefill; /* tokens that decode mode computes at once; 0: not chosen yet */
};

/* A model from files with its text, as far as the state has to know it. */
struct step_model {
    struct attn_dims dims; /* n_tok: the text's */
    int n_block, limit;
    bool fresh; /* another model, not another text of the same */
};

/* The overview: every block's heads as small heat maps. Head h of block b is number
 * b * n_head + h. */
enum step_over_kind {
    STEP_OVER_SCORES,
    STEP_OVER_SCALED,
    STEP_OVER_WEIGHTS,
    STEP_OVER_KIND_COUNT
};
enum step_over_sort {
    STEP_SORT_PLACE, /* block and head */
    STEP_SORT_ENTROPY,
    STEP_SORT_PREVIOUS,
    STEP_SORT_FIRST,
    STEP_SORT_ITSELF,
    STEP_SORT_INDUCTION,
    STEP_SORT_COUNT
};
struct step_overview {
    bool open;
    bool menu; /* the list of orders is open */
    enum step_over_kind kind;
    enum step_over_sort sort;
    int at;                /* the head that arrows move from */
    struct step_view view; /* as struct step_place has it, of the grid of heads */
};

/* What is shown of a stage while somebody's dump is compared. */
enum step_diff {
    STEP_DIFF_OFF, /* the stage and its animation */
    STEP_DIFF_DIFFERENCE,
    STEP_DIFF_THEIRS,
    STEP_DIFF_OURS,
    STEP_DIFF_COUNT
};

/* The code drawer: the C of the kernel library, or PyTorch. */
enum step_code_tab { STEP_CODE_C, STEP_CODE_TORCH, STEP_CODE_TAB_COUNT };
struct step_code {
    bool open;
    bool last; /* nothing has been pinned since it opened: Esc closes it first */
    enum step_code_tab tab;
    int scroll; /* lines on from where the stage's own are */
};
enum { STEP_SCROLL_MOST = 1000 /* lines either way; there are fewer */ };

/* The guided tour: the stop in view, which stays while it is closed, and what has been
 * answered there. What is asked, and what is right, is app's. */
enum step_verdict {
    STEP_UNANSWERED,
    STEP_WRONG,
    STEP_RIGHT,
    STEP_REVEALED,
    STEP_VERDICT_COUNT
};
enum { STEP_STOPS_MOST = 64 };
struct step_tour {
    bool open;
    int n, stop; /* stops there are, 0: not known yet; counted from 0 */
    enum step_verdict verdict;
    int row, col; /* what is pointed at or has been answered: a cell; a token or a choice
                   * in both. -1: nothing yet */
    uint8_t answered[STEP_STOPS_MOST]; /* each stop's verdict, once it is STEP_RIGHT or
                                        * STEP_REVEALED */
};

/* For a lecture: larger, and nothing but the stage. */
struct step_presenter {
    bool on, blank;
    bool code, switches, why; /* that were open, and will be again */
};

/* The labs: plots of what is no run in view, in the stage's place. */
enum step_lab_kind {
    STEP_LAB_SATURATION, /* softmax of random scores against d_head */
    STEP_LAB_COST,       /* FLOPs and bytes of each stage against N */
    STEP_LAB_KINDS
};
enum step_lab_of { STEP_LAB_FLOPS, STEP_LAB_BYTES, STEP_LAB_OF_COUNT };
enum {
    STEP_LAB_MOST_D = 256,    /* d_head on the saturation lab's axis, from 1 */
    STEP_LAB_MOST_N = 131072, /* tokens on the cost lab's */
    STEP_LAB_DS = 48,         /* d_head for which saturation is computed; step_lab_d */
    STEP_LAB_KEYS = 4
};
/* Keys that a random query sees; the first, 0, stands for as many as the row in view. */
extern const int step_lab_keys[STEP_LAB_KEYS];
int step_lab_d(int k); /* the k-th of STEP_LAB_DS: 1, 2, ... 16, 18, ... 256 */
struct step_lab {
    bool open;
    enum step_lab_kind kind;
    int keys;       /* of step_lab_keys */
    int at_d, at_n; /* where figures are read off; 0: at the present d_head, N */
    enum step_lab_of of;
    bool gpt2;  /* GPT-2 small's dims, not those in view */
    bool timed; /* the stages' times on this machine have been asked for */
};

/* Where one was before the tour, to which leaving it leads back. */
struct step_before {
    bool there;
    enum step_scale scale;
    struct step_place place[STEP_SCALE_COUNT];
    struct attn_opts opts;
    enum attn_stage stage;
    float time, least_weight;
    enum step_see see;
    enum step_pair pair;
    enum step_diff diff;
    struct step_overview over;
    struct step_lab lab;
    bool decode, code;
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by subject
struct step_state {
    enum step_scale scale;
    struct step_place place[STEP_SCALE_COUNT];
    struct attn_opts opts;
    enum attn_stage stage;
    float time; /* progress of the stage's animation, 0 .. 1 */
    bool playing;
    bool run_on; /* playing goes on to the next stage */
    float dwell; /* seconds for which a finished stage has been shown */
    float speed; /* 0.25 .. 4 */
    struct step_ref hover;
    bool log_weights;    /* weights on a logarithmic colour scale */
    enum step_rank rank; /* of the sources in the panel */
    float least_weight;  /* smaller ones are not drawn, and listed as one; step_leasts */
    bool help;           /* the key help is open */
    enum step_edit editing; /* the line editor is open; its letters are app's */
    enum step_pair pair;
    struct step_overview over;
    struct step_lab lab;
    struct step_out out;
    enum step_diff diff;
    int focus;              /* id of the control with the keyboard focus, 0: none */
    bool switches;          /* the panel of everything that can be set wrong is open */
    enum step_see see;      /* see step_seen */
    struct step_past *past; /* app's; NULL: nothing can be undone */
    enum step_theme theme;
    int ui_percent;        /* UI size */
    bool fullscreen, quit; /* asked for; app carries them out */

    struct step_dive dive; /* from the pinned cell of the place in view */
    bool by_place;         /* terms of a sum in their order, not the largest first */
    struct step_code code;
    bool why;    /* the card that says why the stage is there is open */
    bool decode; /* decode mode, see step_pass_of */
    struct step_field field;
    struct step_tour tour;
    struct step_before before;
    struct step_presenter presenter;
};

enum step_verb {
    STEP_NONE,
    STEP_NEXT,     /* during an animation: finish it; else the next stage, playing */
    STEP_PREV,     /* the previous stage, finished */
    STEP_GO,       /* i = stage, from its start, playing */
    STEP_PLAY,     /* play or pause; at a stage's end the next; i = 1: on from here */
    STEP_RESTART,  /* the stage from its start, playing */
    STEP_SCRUB,    /* x = time, pauses */
    STEP_BEAT,     /* i = +1 or -1: one cell, diagonal or row of the animation; pauses */
    STEP_SPEED,    /* x = speed, one of step_speeds */
    STEP_SPEED_BY, /* i = +1 or -1 */
    STEP_SCALE_TO, /* i = enum step_scale; -1: the other one */
    STEP_TOKENS,   /* i = n_tok, GPT-2 scale, weights from a seed */
    STEP_SEED,     /* i = seed, where the weights are from one */
    STEP_ROLL,     /* another seed, a function of the present one */
    STEP_HEAD,     /* i = head */
    STEP_HEAD_BY,  /* i = +1 or -1, stays inside */
    STEP_ROW,      /* i = row, and no other; unpins a cell */
    STEP_ROW_BY,   /* i = +-1, stays inside */
    STEP_ROWS_TO,  /* i = row: the rows from the one last chosen alone to it, no others */
    STEP_ROWS_AND, /* the same, and the others stay selected */
    STEP_ROWS_BY,  /* i = +-1: STEP_ROWS_TO the neighbour */
    STEP_ROW_ALSO, /* i = row: selects it too, or no longer; one stays selected */
    STEP_ROW_WALK, /* i = +-1: the neighbour is in view; what has been kept stays */
    STEP_ROW_KEEP, /* keeps the row in view selected when another is, or no longer */
    STEP_PIN,      /* ref = cell; its row (the token it belongs to) is selected too */
    STEP_HOVER,    /* ref = cell or none */
    STEP_TOGGLE,   /* i = enum step_option */
    STEP_LOG,      /* toggles log_weights; i = 1 on, -1 off */
    STEP_RANK,     /* i = enum step_rank; -1: the other one */
    STEP_LEAST,    /* x = least weight, one of step_leasts */
    STEP_LEAST_BY, /* i = +1 or -1; behind the last comes the first */
    STEP_ZOOM,     /* x, y = pointer in points, z = factor */
    STEP_PAN,      /* x, y = points */
    STEP_VIEW,     /* x, y, z = view.x, view.y, view.zoom */
    STEP_FIT,      /* everything in view */
    STEP_OVERVIEW, /* opens or closes the overview, to which zoom, pan and fit then belong */
    STEP_OVER_KIND,  /* i = enum step_over_kind */
    STEP_OVER_SORT,  /* i = enum step_over_sort; closes the list of them */
    STEP_OVER_MENU,  /* opens or closes that list */
    STEP_OVER_AT,    /* i = number of a head */
    STEP_OVER_OPEN,  /* i = number of a head: it is shown, and the overview closed */
    STEP_HELP,       /* opens or closes the key help */
    STEP_THEME,      /* i = enum step_theme; -1: the other one */
    STEP_UI_SIZE,    /* i = percent */
    STEP_UI_SIZE_BY, /* i = +1 or -1 */
    STEP_FULLSCREEN, /* toggles */
    STEP_FOCUS,      /* i = control id, 0: none */
    STEP_ESCAPE, /* closes one layer: editor, help, focus, overview, tour, code or pin, several rows, pair, zoom, full screen;
                  * never quits */
    STEP_QUIT,

    STEP_DIVE,  /* ref = operand of the number in view, whose own origin is shown next;
                 * i = stage, from 1, in which the first was pinned; 0: the one in view */
    STEP_CLIMB, /* i = operands to stay below, 0: the pinned cell */
    STEP_TERMS, /* toggles by_place */

    STEP_CODE,     /* opens or closes the code drawer */
    STEP_CODE_TAB, /* i = enum step_code_tab */
    STEP_CODE_BY,  /* i = lines to scroll by */
    STEP_WHY,      /* opens or closes the card of reasons */
    STEP_LINK,     /* i = an address to open; app does it */

    STEP_BLOCK,    /* i = block of a loaded model */
    STEP_BLOCK_BY, /* i = +1 or -1, stays inside */
    STEP_EDIT, /* i = enum step_edit: the toy's or a loaded model's text, or a path to open;
                * 0: closes */
    STEP_TEXT_DONE,    /* what was edited is to be read, or opened */
    STEP_TEXT_CUT,     /* the text's other end is what it loses over the limit */
    STEP_TEXT_SPECIAL, /* enters the token <|endoftext|> */
    STEP_COPY,         /* i = enum step_copy, to the clipboard */
    STEP_OUT_PART,     /* i = enum step_out_part */
    STEP_OUT_SIZE,     /* i = enum step_out_size */
    STEP_OUT_CLEAR,    /* i = 1: transparent, 0: on paper */
    STEP_OUT_ALL,      /* i = 1: all stages, 0: this one */
    STEP_OUT_FORMAT,   /* i = enum step_out_format; the name's ending is app's */
    STEP_SWITCH,       /* i = enum step_switch, x = choice */
    STEP_TEMPERATURE,  /* x = log2 of softmax's temperature */
    STEP_SILENCE,      /* i = head: silenced, or heard again */
    STEP_CORRECT,      /* every switch is right and every number computed again */
    STEP_SWITCHES,     /* opens or closes the panel of switches */
    STEP_SEE,          /* i = enum step_see; -1: the next one */
    STEP_UNDO,
    STEP_REDO,
    STEP_PAIR,        /* i = enum step_pair; -1: the next one; stages 2 to 5 */
    STEP_SECOND,      /* i = head, another than the one in view; pairs them */
    STEP_SECOND_BY,   /* i = +1 or -1, past the head in view */
    STEP_TEXT_PICK,   /* i = which of what lies where the edited path leads */
    STEP_TEXT_BROWSE, /* opens the desktop's file chooser */
    STEP_DIFF,        /* i = enum step_diff; -1: the next one */
    STEP_LAB,         /* i = enum step_lab_kind; -1: the next lab, behind the last none */
    STEP_LAB_TO,      /* i = d_head or N at which figures are read off */
    STEP_LAB_AT,      /* x = its log2, as the pointer finds it */
    STEP_LAB_BY,      /* i = +-1: to the next; +-2: to twice or half of it */
    STEP_LAB_ROW,     /* i = place in step_lab_keys */
    STEP_LAB_OF,      /* i = enum step_lab_of */
    STEP_LAB_DIMS,    /* i = 1: GPT-2 small's, 0: those in view */
    STEP_LAB_MEASURE, /* starts measuring, or stops it; app does it */
    STEP_DECODE, /* i = tokens of the prefill, decode mode on; -1: off; 0: the other */

    STEP_GIVE, /* ref = cell, i = head, -1: the one in view; x = its number from now on */
    STEP_UNGIVE, /* ref, i: as it is computed again */
    STEP_FIELD, /* ref = cell whose field opens, none: it closes; x = the cell's number */
    STEP_FIELD_TYPE, /* i = code point */
    STEP_FIELD_EDIT, /* i = enum step_field_key */
    STEP_FIELD_TAKE, /* the field's text becomes the cell's number */
    STEP_FIELD_BY,   /* x = notches: the number becomes larger, at once */

    STEP_TOUR,       /* opens or closes the tour; x = stops, which app fills in */
    STEP_TOUR_TO,    /* i = stop, as it was answered; x the same */
    STEP_TOUR_BY,    /* i = +1 or -1 */
    STEP_TOUR_AGAIN, /* asks the stop in view anew; i = 1: all, from the first stop; x the
                      * same */
    STEP_TOUR_AT,    /* ref = row, col that the keys have come to */
    STEP_TOUR_PICK,  /* ref = tensor (none: a token, a choice), row, col that is answered;
                     * i = enum step_verdict, which app fills in; STEP_REVEALED asks */
    STEP_TOUR_ANSWERED, /* i = stop that has been answered so: x = enum step_verdict */
    STEP_PRESENT,       /* presenter mode on or off */
    STEP_BLANK,         /* its screen blank or not */

    STEP_READ /* i = number of the text that the scale in view reads, x = its tokens */
};

struct step_action {
    enum step_verb verb;
    int i;
    float x, y, z;
    struct step_ref ref;
};

/* Actions of one frame, in order. Over the room, later ones are dropped. */
struct step_actions {
    struct step_action at[96 + STEP_GIVEN_MOST + STEP_STOPS_MOST];
    int n;
};
void step_push(struct step_actions *list, struct step_action a);

/* The state a first start has: toy, stage 1 at time 0, everything on. */
struct step_state step_initial(void);

/* Applies one action. false, state untouched: the action is not possible (a row, head,
 * stage or number outside its range). */
bool step_apply(struct step_state *s, struct step_action a);

/* GPT-2 scale is this model from now on, and in view, its last row selected. Block and
 * head stay where only the text is another. */
void step_load(struct step_state *s, const struct step_model *m);
bool step_is_loaded(const struct step_place *p);
/* What is in view is what leaving the tour leads back to; of a model that has been opened
 * meanwhile: the model, as it is looked at. */
void step_tour_from_here(struct step_state *s);
void step_tour_from_model(struct step_state *s);

/* ---- broken on purpose ------------------------------------------------------------- */

int step_choice_count(enum step_switch w);
int step_choice_of(struct attn_opts o, enum step_switch w);
float step_heat_of(struct attn_opts o); /* log2 of the temperature */
/* The options as the scale in view can have them: heads that it lacks are not silent. */
struct attn_opts step_opts_of(const struct step_state *s);
/* Whether an edit is of the block and the tokens in view, and not hidden by the mask. */
bool step_given_is_here(const struct step_state *s, const struct step_given *e);
/* Whether a number can be given for a cell of the head in view: STEP_WRONG_NOT. At toy
 * scale h, X, the weights, Q, K, V, S and A, at GPT-2's h and X. */
enum step_wrong step_can_give(const struct step_state *s, struct step_ref cell);
bool step_tensor_has_heads(enum attn_tensor t);
bool step_field_is_open(const struct step_state *s);
/* The number that n bytes of text are, in decimals: "-0.5", "1e-3", "−2" (U+2212). */
enum step_wrong step_number_of(const char *text, int n, float *out);
/* What a notch comes to at v. */
float step_notch(float v);
int step_given_count(const struct step_state *s); /* of those */
/* Whether the numbers in view are not the right ones. */
bool step_is_broken(const struct step_state *s);
/* What is looked at: while nothing is broken, that. */
enum step_see step_seen(const struct step_state *s);

/* Records of what was changed, for s->past. NULL: no memory. */
struct step_past *step_past_create(void);
void step_past_destroy(struct step_past *p); /* NULL is fine */
int step_undo_count(const struct step_state *s);
int step_redo_count(const struct step_state *s);

/* ---- decode mode -------------------------------------------------------------------
 *
 * The first `prefill` tokens are computed at once, later ones one at a time. The row in
 * view is the token that is decoded now; the prefill's last row stands for all of it. */

/* Rows from .. to - 1 are computed now; the tokens 0 .. to - 1 are there, and the keys and
 * values of those before `from` are read from the cache. All of them without decode mode. */
struct step_pass {
    int from, to;
};
struct step_pass step_pass_of(const struct step_state *s);
/* Whether rows come one by one. false in decode mode: rows see tokens that are yet to come
 * (the mask is off or shifted, or a weight beyond it is given), so nothing can be decoded. */
bool step_is_decoding(const struct step_state *s);
/* Whether the pass computes the cell or reads it from the cache. */
bool step_pass_has(const struct step_state *s, struct step_ref r);
/* The rows and columns of a tensor that are there after a pass: *row0 .. *row1 - 1, and
 * *cols columns; each as it was where it is no token's. */
void step_pass_rows(struct step_pass pass, enum attn_tensor t, int *row0, int *row1,
                    int *cols);
/* Whether a tensor's rows, or its columns, are tokens. */
bool step_rows_are_tokens(enum attn_tensor t);
bool step_cols_are_tokens(enum attn_tensor t);

/* dt seconds pass. true: something moved and a new frame is needed. */
bool step_tick(struct step_state *s, float dt);

/* Whether time will change the state by itself. false: wait for events. */
bool step_is_moving(const struct step_state *s);

const struct step_place *step_place_of(const struct step_state *s);
struct step_ref step_no_ref(void);
/* The cell whose number is taken apart: dived into, or pinned, or none. */
struct step_ref step_cell_of(const struct step_state *s);
/* The stage in which a tensor is made, or first read. */
enum attn_stage step_home_of(enum attn_tensor t);
bool step_ref_is(struct step_ref a, struct step_ref b);
/* The second head where heads are paired, else -1; and whether two are on screen. */
int step_second(const struct step_state *s);
bool step_is_paired(const struct step_state *s);
/* Whether the overview or a lab stands in the stage's place. */
bool step_is_covered(const struct step_state *s);
/* What the open lab reads off: the present d_head or N, or where it was moved to. */
int step_lab_at(const struct step_state *s);
/* Keys in the saturation lab's row. */
int step_lab_row(const struct step_state *s);
/* The selected rows: row, and those in more. */
bool step_row_is_on(const struct step_place *p, int i);
int step_row_count(const struct step_place *p); /* at least 1 */
/* The next selected rows from *to on that lie side by side: *from .. *to - 1. Begin with
 * *to = 0; false: there are no more. */
bool step_row_run(const struct step_place *p, int *from, int *to);
extern const float step_speeds[5]; /* 0.25 0.5 1 2 4 */
enum { STEP_LEASTS = 5 };
extern const float step_leasts[STEP_LEASTS]; /* 0: every weight is drawn; 0.001 ... 0.1 */

/* ---- the animation's clock ----------------------------------------------------------
 *
 * A stage's time runs over an intro (operands arrive), n_beat beats, and an outro. The
 * first beat is slow enough to read its terms, later ones quicken. A beat is a cell of
 * the result (three at once in stage 1), a diagonal (stage 4), or a row (stages 5 and 6,
 * and everywhere once there are more than 200 cells: whole rows sweep). */
struct step_clock {
    float seconds;      /* of the whole stage at speed 1, at most 3 */
    float intro, outro; /* shares of the time */
    float first;        /* share of the beats' time that the first takes */
    int n_beat;
    int beats_a_row; /* 1: rows (or diagonals); else cells of a row */
    int row0;        /* the row of the first beat */
};
struct step_clock step_clock_of(enum attn_stage stage, struct attn_dims dims);
/* Of a stage in the scale in view, of the rows that its pass computes. */
struct step_clock step_clock_at(const struct step_state *s, enum attn_stage stage);

/* Where time t is: intro runs 0..1, then beat at = 0..n_beat-1 with part 0..1, then
 * outro 0..1. Before the beats: at = 0, part = 0; after: at = n_beat, part = 0. */
struct step_beat {
    float intro, part, outro;
    int at;
};
struct step_beat step_beat_at(const struct step_clock *c, float t);
/* Time at which beat `at` begins, 0 <= at <= n_beat (= the beats' end). */
float step_beat_start(const struct step_clock *c, int at);

/* Eases 0..1 to 0..1, slow at both ends. */
float step_ease(float t);

#endif
