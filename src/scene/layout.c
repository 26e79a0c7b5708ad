/* Places a stage's matrices as a product is read: left operand on the left, right operand
 * above, result in the corner, so that a result cell lies where its row and its column
 * cross.
 *
 *                     right [K, C]
 *                     -----------
 *      left [R, K]  | result [R, C]
 *
 * Cells are square where they can be drawn one by one. Where there are too many, an axis
 * gets room by the power 0.75 of its length, so that a short one (d_head beside 1,024
 * tokens) stays visible; token axes that meet in the score grid keep one pitch. */
#include "layout.h"

#include <math.h>

enum {
    CHIP_ROOM = 72, /* row chips and their distance */
    CHIP_ROOM_SMALL = 56,
    GAP_X = 28, /* between left and right */
    GAP_Y = 34, /* between right and result */
    GAP_GROUP = 14,
    LABEL_ABOVE = 30, /* label or chips above the right operand */
    LABEL_BELOW = 26, /* label below the result */
    LEGEND_ROOM = 148,
    CELL_MAX = 60, /* points */
    CELL_ONE_BY_ONE = 14,
    CELL_MAX_MANY = 30, /* where cells are not square */
    EXTENT_MIN = 24
};

static const float axis_power = 0.75f;

/* Margins of the canvas in the stage: title and formula above, caption below. */
static const float canvas_top = 86, canvas_bottom = 122, canvas_side = 22;

struct scene_rect scene_canvas_of(struct scene_rect stage)
{
    return (struct scene_rect){stage.x + canvas_side, stage.y + canvas_top,
                               stage.w - 2 * canvas_side,
                               stage.h - canvas_top - canvas_bottom};
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

/* Pitches of one direction: `first` cells and `second` cells share `room`. */
static void share(float room, int first, int second, float *pitch_first,
                  float *pitch_second)
{
    float a = powf((float)first, axis_power), b = powf((float)second, axis_power);
    float at_least = fminf(EXTENT_MIN, room / 4);
    float w = fminf(fmaxf(room * a / (a + b), at_least), room - at_least);
    *pitch_first = fminf(w / (float)first, CELL_MAX_MANY);
    *pitch_second = fminf((room - w) / (float)second, CELL_MAX_MANY);
}

struct pitch {
    float k_w, c_w; /* columns of left; of right and result */
    float k_h, r_h; /* rows of right; of left and result */
};

static struct pitch pitch_of(enum attn_stage stage, struct extent e, int groups, float w,
                             float h)
{
    float square =
        fminf(fminf(w / (float)(e.k + groups * e.c), h / (float)(e.k + e.r)), CELL_MAX);
    if (square >= CELL_ONE_BY_ONE) return (struct pitch){square, square, square, square};
    struct pitch p;
    share(w, e.k, groups * e.c, &p.k_w, &p.c_w);
    share(h, e.k, e.r, &p.k_h, &p.r_h);
    if (stage == ATTN_WEIGHTED_SUM) { /* A is [R, K], square */
        p.k_w = p.r_h = fminf(p.k_w, p.r_h);
        p.c_w = fminf((w - p.k_w * (float)e.k) / (float)e.c, CELL_MAX_MANY / 4.0f);
        p.k_h = fminf((h - p.r_h * (float)e.r) / (float)e.k, CELL_MAX_MANY);
    } else if (stage != ATTN_PROJECTIONS && stage != ATTN_OUTPUT) { /* S is [R, C] */
        p.c_w = p.r_h = fminf(p.c_w, p.r_h);
    }
    return p;
}

struct layout scene_layout(enum attn_stage stage, struct attn_dims d,
                           struct scene_rect canvas)
{
    const struct stage_spec *spec = &scene_stages[stage];
    struct extent e = extent_of(stage, d);
    struct layout l = {.chip_w = canvas.w < 640 ? CHIP_ROOM_SMALL : CHIP_ROOM};
    float gaps = GAP_X + (float)(spec->n_group - 1) * GAP_GROUP;
    float w = canvas.w - l.chip_w - gaps;
    float h = canvas.h - LABEL_ABOVE - GAP_Y - LABEL_BELOW;
    /* The legend stands right of a score grid where that does not cost cells room. */
    bool grid_of_scores = e.c == d.n_tok && spec->n_group == 1 && stage != ATTN_OUTPUT;
    bool beside = grid_of_scores && w - LEGEND_ROOM > h;
    if (beside) w -= LEGEND_ROOM;
    struct pitch p = pitch_of(stage, e, spec->n_group, w, h);
    l.cells = fminf(p.r_h, p.c_w) >= CELL_ONE_BY_ONE;

    float content_w = l.chip_w + gaps + p.k_w * (float)e.k +
                      p.c_w * (float)(e.c * spec->n_group) + (beside ? LEGEND_ROOM : 0);
    float content_h =
        LABEL_ABOVE + GAP_Y + LABEL_BELOW + p.k_h * (float)e.k + p.r_h * (float)e.r;
    float x = canvas.x + (canvas.w - content_w) / 2,
          y = canvas.y + (canvas.h - content_h) / 2;
    l.all = (struct scene_rect){x, y, content_w, content_h};
    float left_x = x + l.chip_w, top_y = y + LABEL_ABOVE;
    float result_y = top_y + p.k_h * (float)e.k + GAP_Y;
    l.left = (struct grid){spec->left, false, left_x, result_y, p.k_w, p.r_h, e.r, e.k};
    for (int g = 0; g < spec->n_group; g++) {
        float gx = left_x + p.k_w * (float)e.k + GAP_X +
                   (float)g * (p.c_w * (float)e.c + GAP_GROUP);
        l.right[g] = (struct grid){
            spec->right[g], spec->right_transposed, gx, top_y, p.c_w, p.k_h, e.k, e.c};
        l.result[g] =
            (struct grid){spec->result[g], false, gx, result_y, p.c_w, p.r_h, e.r, e.c};
    }
    if (spec->adds) { /* h waits in the empty corner, above the left operand */
        float room = p.k_h * (float)e.k;
        float row = fminf(p.r_h, room / (float)e.r);
        l.added = (struct grid){
            spec->added, false, left_x, top_y + (room - row * (float)e.r) / 2,
            p.k_w,       row,   e.r,    e.k};
    }
    return l;
}
