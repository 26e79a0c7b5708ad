/* Places a stage's matrices as a product is read: left operand on the left, right operand
 * above, result in the corner, so that a result cell lies where its row and its column
 * cross.
 *
 *                     right [K, C]
 *                     -----------
 *      left [R, K]  | result [R, C]
 *
 * Cells are square where they can be drawn one by one, and wider where a number needs it
 * and there is room. Where there are too many, an axis
 * gets room by the power 0.75 of its length, so that a short one (d_head beside 1,024
 * tokens) stays visible; token axes that meet in the score grid keep one pitch. */
#include "layout.h"

#include <math.h>

/* Spacing at a window of 1440 x 900, and at the smallest one; between them by the room. */
struct spacing {
    float top, bottom, side; /* of the canvas in the stage: title above, caption below */
    float chips;             /* row chips and their distance */
    float gap_x, gap_y;      /* between left and right, right and result */
    float gap_group;
    float label_above, label_below;
};
static const struct spacing roomy = {102, 122, 22, 72, 28, 34, 14, 30, 26};
static const struct spacing tight = {95, 97, 10, 54, 16, 26, 10, 27, 20};

static const float legend_room = 148, strip_room = 84, strip_room_many = 26, margin = 4;
static const float cell_max_scores = 74, grid_share_w = 0.62f, grid_share_h = 0.70f;
static const float cell_max = 60, cell_one_by_one = 14; /* points */
static const float cell_wide = 34, wider_most = 1.7f;   /* room for a number's decimal */
static const float cell_number = 20, operand_least = 4; /* a cell that shows its number */
static const float cell_max_many = 30;                  /* where cells are not square */
static const float extent_min = 24;
static const float axis_power = 0.75f, scores_share = 0.80f, weights_share = 0.66f;

static const float foot_least = 480, bottom_bare = 44; /* two lines of the caption */

bool scene_has_foot(float stage_h)
{
    return stage_h >= foot_least;
}

static float between(float a, float b, float t)
{
    return a + (b - a) * t;
}

/* The stage is 552 x 544 points in the smallest window, 872 x 804 at 1440 x 900. */
static struct spacing spacing_of(float w, float h)
{
    float x = fminf(fmaxf((w - 552) / (872 - 552), 0), 1);
    float y = fminf(fmaxf((h - 544) / (804 - 544), 0), 1);
    return (struct spacing){
        .top = between(tight.top, roomy.top, y),
        .bottom =
            scene_has_foot(h) ? between(tight.bottom, roomy.bottom, y) : bottom_bare,
        .side = between(tight.side, roomy.side, x),
        .chips = between(tight.chips, roomy.chips, x),
        .gap_x = between(tight.gap_x, roomy.gap_x, x),
        .gap_y = between(tight.gap_y, roomy.gap_y, y),
        .gap_group = between(tight.gap_group, roomy.gap_group, x),
        .label_above = between(tight.label_above, roomy.label_above, y),
        .label_below = between(tight.label_below, roomy.label_below, y),
    };
}

struct scene_rect scene_canvas_of(struct scene_rect stage)
{
    struct spacing sp = spacing_of(stage.w, stage.h);
    return (struct scene_rect){stage.x + sp.side, stage.y + sp.top, stage.w - 2 * sp.side,
                               stage.h - sp.top - sp.bottom};
}

float grid_w(const struct grid *g)
{
    return (float)g->cols * g->cell_w;
}

float grid_h(const struct grid *g)
{
    return (float)g->rows * g->cell_h;
}

struct grid grid_between(struct grid a, struct grid b, float t)
{
    b.x = a.x + (b.x - a.x) * t;
    b.y = a.y + (b.y - a.y) * t;
    b.cell_w = a.cell_w + (b.cell_w - a.cell_w) * t;
    b.cell_h = a.cell_h + (b.cell_h - a.cell_h) * t;
    return b;
}

/* Rows of the operands and result as drawn: R, K, C. */
struct extent {
    int r, k, c;
};

static struct extent extent_of(enum attn_stage stage, struct attn_dims d)
{
    int d_head = d.d_model / d.n_head;
    switch (stage) {
    case ATTN_PROJECTIONS:
        return (struct extent){d.n_tok, d.d_model, d_head};
    case ATTN_WEIGHTED_SUM:
        return (struct extent){d.n_tok, d.n_tok, d_head};
    case ATTN_OUTPUT:
        return (struct extent){d.n_tok, d.d_model, d.d_model};
    default:
        return (struct extent){d.n_tok, d_head, d.n_tok};
    }
}

/* Pitches of one direction: `first` cells and `second` cells share `room`; second gets at
 * least the share `least`. */
static void share(float room, int first, int second, float least, float *pitch_first,
                  float *pitch_second)
{
    float a = powf((float)first, axis_power), b = powf((float)second, axis_power);
    float at_least = fminf(extent_min, room / 4);
    float w = fminf(room * a / (a + b), room * (1 - least));
    w = fminf(fmaxf(w, at_least), room - at_least);
    *pitch_first = fminf(w / (float)first, cell_max_many);
    *pitch_second = fminf((room - w) / (float)second, cell_max_many);
}

struct pitch {
    float k_w, c_w; /* columns of left; of right and result */
    float k_h, r_h; /* rows of right; of left and result */
};

static struct pitch pitch_of(enum attn_stage stage, struct extent e, int groups, float w,
                             float h)
{
    float square =
        fminf(fminf(w / (float)(e.k + groups * e.c), h / (float)(e.k + e.r)), cell_max);
    if (square >= cell_one_by_one && scene_stages[stage].right_transposed) {
        /* S is in view for four stages: it grows, Q and K keep what is left */
        float cell =
            fminf(fminf(grid_share_w * w / (float)e.c, grid_share_h * h / (float)e.r),
                  cell_max_scores);
        struct pitch p = {fminf(cell, (w - cell * (float)e.c) / (float)e.k), cell,
                          fminf(cell, (h - cell * (float)e.r) / (float)e.k), cell};
        /* where squares are too small for numbers, S alone shows them */
        float least = square < cell_number ? operand_least : cell_one_by_one;
        if (cell > square && fminf(p.k_w, p.k_h) >= least) return p;
    }
    if (square >= cell_one_by_one) {
        bool grid = scene_stages[stage].right_transposed; /* token by token, as A is */
        bool alone = grid || stage == ATTN_WEIGHTED_SUM;
        float room = alone ? (w - square * (float)e.k) / (float)(groups * e.c)
                           : w / (float)(e.k + groups * e.c);
        float most = fminf(fmaxf(square, cell_wide), square * wider_most);
        float wide = grid ? square : fminf(room, most);
        return (struct pitch){alone ? square : wide, wide, square, square};
    }
    struct pitch p;
    bool blend = stage == ATTN_WEIGHTED_SUM;
    bool scores = !blend && stage != ATTN_PROJECTIONS && stage != ATTN_OUTPUT;
    float least = scores ? scores_share : 0; /* S is what one looks at, and so is A */
    share(w, e.k, groups * e.c, least, &p.k_w, &p.c_w);
    share(h, e.k, e.r, least, &p.k_h, &p.r_h);
    if (scores) /* S is [R, C], square, and grows where tokens are few */
        p.c_w = p.r_h = fminf(fminf((w - p.k_w * (float)e.k) / (float)e.c,
                                    (h - p.k_h * (float)e.k) / (float)e.r),
                              cell_max_scores);
    if (!blend) return p;
    p.k_w = p.r_h = /* A is [R, K], square */
        fminf(weights_share * fminf(w, h) / (float)e.k, cell_max_many);
    p.c_w = fminf((w - p.k_w * (float)e.k) / (float)e.c, cell_max_many / 6);
    p.k_h = fminf((h - p.r_h * (float)e.r) / (float)e.k, cell_max_many);
    return p;
}

/* Room right of the matrices: the legend beside a score grid, the strips beside O. */
static float room_beside(const struct stage_spec *spec, struct extent e, float w, float h)
{
    if (spec->motion == MOTION_BLEND) {
        bool one_by_one = w / (float)(e.k + e.c) >= 2 * cell_one_by_one &&
                          h / (float)(e.k + e.r) >= cell_one_by_one;
        return one_by_one ? strip_room : strip_room_many;
    }
    /* the legend only where it does not cost cells room */
    return spec->right_transposed && w - legend_room > h ? legend_room : 0;
}

struct layout scene_layout(enum attn_stage stage, struct attn_dims d,
                           struct scene_rect box)
{
    const struct stage_spec *spec = &scene_stages[stage];
    struct spacing sp = spacing_of(box.w, box.h);
    struct scene_rect canvas = scene_canvas_of(box);
    struct extent e = extent_of(stage, d);
    struct layout l = {.chip_w = sp.chips};
    float gaps = sp.gap_x + (float)(spec->n_group - 1) * sp.gap_group + 2 * margin;
    float labels = sp.label_above + sp.gap_y + sp.label_below;
    float w = canvas.w - sp.chips - gaps, h = canvas.h - labels;
    float beside = room_beside(spec, e, w, h);
    struct pitch p = pitch_of(stage, e, spec->n_group, w - beside, h);
    l.cells = fminf(p.r_h, p.c_w) >= cell_one_by_one;

    float content_w = sp.chips + gaps + p.k_w * (float)e.k +
                      p.c_w * (float)(e.c * spec->n_group) + beside;
    float content_h = labels + p.k_h * (float)e.k + p.r_h * (float)e.r;
    float x = canvas.x + (canvas.w - content_w) / 2;
    float y = canvas.y + (canvas.h - content_h) / 2;
    float left_x = x + margin + sp.chips, top_y = y + sp.label_above;
    float result_y = top_y + p.k_h * (float)e.k + sp.gap_y;
    l.left = (struct grid){spec->left, false, left_x, result_y, p.k_w, p.r_h, e.r, e.k};
    for (int g = 0; g < spec->n_group; g++) {
        float gx = left_x + p.k_w * (float)e.k + sp.gap_x +
                   (float)g * (p.c_w * (float)e.c + sp.gap_group);
        l.right[g] = (struct grid){
            spec->right[g], spec->right_transposed, gx, top_y, p.c_w, p.k_h, e.k, e.c};
        l.result[g] =
            (struct grid){spec->result[g], false, gx, result_y, p.c_w, p.r_h, e.r, e.c};
    }
    if (spec->adds) { /* h waits in the empty corner, above the left operand */
        float room = fmaxf(p.k_h * (float)e.k - sp.label_above, margin);
        float row = fminf(p.r_h, room / (float)e.r);
        float top = top_y + sp.label_above + (room - row * (float)e.r) / 2;
        l.added = (struct grid){spec->added, false, left_x, top, p.k_w, row, e.r, e.k};
    }
    return l;
}
