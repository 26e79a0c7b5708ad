/* The stages as data: what each one is called, which matrices it shows, how they move.
 * A stage is changed by editing its row; build.c knows matrices and motions alone. */
#include "stages.h"

const struct stage_spec scene_stages[ATTN_STAGE_COUNT] = {
    [ATTN_PROJECTIONS] =
        {
            .text = {.title = "Projections",
                     .formula = "Q, K, V = X \u00B7 W_Q, X \u00B7 W_K, X \u00B7 W_V"},
            .motion = MOTION_DOT,
            .left = ATTN_X,
            .right = {ATTN_W_Q, ATTN_W_K, ATTN_W_V},
            .result = {ATTN_Q, ATTN_K, ATTN_V},
            .n_group = 3,
        },
    [ATTN_SCORES] =
        {
            .text = {.title = "Scores", .formula = "S = Q \u00B7 K\u1D40"},
            .motion = MOTION_DOT,
            .left = ATTN_Q,
            .right = {ATTN_K},
            .right_transposed = true,
            .result = {ATTN_S_RAW},
            .n_group = 1,
        },
    [ATTN_SCALE] =
        {
            .text = {.title = "Scale", .formula = "S \u00F7 \u221Ad_head"},
            .motion = MOTION_FADE,
            .left = ATTN_Q,
            .right = {ATTN_K},
            .right_transposed = true,
            .result = {ATTN_S_SCALED},
            .n_group = 1,
            .operands_leave = true,
        },
    [ATTN_MASK] =
        {
            .text = {.title = "Causal mask",
                     .formula = "S_ij = \u2212\u221E where j > i"},
            .motion = MOTION_DIAGONAL,
            .left = ATTN_Q,
            .right = {ATTN_K},
            .right_transposed = true,
            .result = {ATTN_S_MASKED},
            .n_group = 1,
            .operands_leave = true,
        },
    [ATTN_SOFTMAX] =
        {
            .text = {.title = "Softmax", .formula = "A = softmax(S)"},
            .motion = MOTION_SOFTMAX,
            .left = ATTN_Q,
            .right = {ATTN_K},
            .right_transposed = true,
            .result = {ATTN_P},
            .n_group = 1,
            .operands_leave = true,
        },
    [ATTN_WEIGHTED_SUM] =
        {
            .text = {.title = "Weighted sum", .formula = "O = A \u00B7 V"},
            .motion = MOTION_BLEND,
            .left = ATTN_P,
            .right = {ATTN_V},
            .result = {ATTN_Z},
            .n_group = 1,
        },
    [ATTN_OUTPUT] =
        {
            .text = {.title = "Output projection", .formula = "Y = O \u00B7 W_O + h"},
            .motion = MOTION_DOT,
            .left = ATTN_Z_ALL,
            .right = {ATTN_W_O},
            .result = {ATTN_Y_PROJ},
            .n_group = 1,
            .added = ATTN_H,
            .sum = ATTN_Y,
            .adds = true,
        },
};

static const char *const tensor_name[ATTN_TENSOR_COUNT] = {
    [ATTN_H] = "h",        [ATTN_X] = "X",
    [ATTN_W_Q] = "W_Q",    [ATTN_W_K] = "W_K",
    [ATTN_W_V] = "W_V",    [ATTN_Q] = "Q",
    [ATTN_K] = "K",        [ATTN_V] = "V",
    [ATTN_S_RAW] = "S",    [ATTN_S_SCALED] = "S",
    [ATTN_S_MASKED] = "S", [ATTN_P] = "A",
    [ATTN_Z] = "O",        [ATTN_Z_ALL] = "O",
    [ATTN_W_O] = "W_O",    [ATTN_Y_PROJ] = "O \u00B7 W_O",
    [ATTN_Y] = "Y",
};

const char *scene_tensor_name(enum attn_tensor t)
{
    return t < ATTN_TENSOR_COUNT ? tensor_name[t] : "";
}

struct scene_stage_text scene_stage_text_of(enum attn_stage stage)
{
    return scene_stages[stage].text;
}

struct attn_cmat scene_tensor_view(const struct scene_source *src, enum attn_tensor t)
{
    if (!src->trace || t >= ATTN_TENSOR_COUNT) return (struct attn_cmat){0};
    return attn_trace_view(src->trace, t, src->trace->head);
}
