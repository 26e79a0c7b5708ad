/* All numbers of a block, stage by stage, by the same kernels that attn_run uses; or with
 * a mistake in them. Plain and whole: every head has its own scores. */
#include "recipe.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    bool heads;
} tensors[MODEL_T_COUNT] = {
    [MODEL_T_H] = {"h", false},
    [MODEL_T_X] = {"x", false},
    [MODEL_T_Q] = {"q", true},
    [MODEL_T_K] = {"k", true},
    [MODEL_T_V] = {"v", true},
    [MODEL_T_SCORES] = {"scores", true},
    [MODEL_T_SCALED] = {"scaled", true},
    [MODEL_T_MASKED] = {"masked", true},
    [MODEL_T_WEIGHTS] = {"weights", true},
    [MODEL_T_Z] = {"z", true},
    [MODEL_T_MERGED] = {"merged", false},
    [MODEL_T_Y_PROJ] = {"y_proj", false},
    [MODEL_T_Y] = {"y", false},
    [MODEL_T_LN_2] = {"ln_2", false},
    [MODEL_T_MLP_FC] = {"mlp_fc", false},
    [MODEL_T_MLP_ACT] = {"mlp_act", false},
    [MODEL_T_MLP_OUT] = {"mlp_out", false},
    [MODEL_T_BLOCK] = {"block", false},
    [MODEL_T_W_QKV] = {"w_qkv", false},
    [MODEL_T_B_QKV] = {"b_qkv", false},
    [MODEL_T_W_O] = {"w_o", false},
    [MODEL_T_B_O] = {"b_o", false},
};

const char *model_tensor_name(enum model_tensor t)
{
    return tensors[t].name;
}

bool model_tensor_has_heads(enum model_tensor t)
{
    return tensors[t].heads;
}

struct recipe recipe_right(struct attn_opts opts)
{
    return (struct recipe){
        .divide = opts.scale ? BY_SQRT_D_HEAD : BY_NOTHING,
        .mask = opts.causal ? MASK_RIGHT : MASK_OFF,
        .residual_1 = opts.residual ? RESIDUAL_RIGHT : RESIDUAL_MISSING,
        .eps_1 = -1,
        .eps_2 = -1,
    };
}

/* What is at hand while a block is computed. */
struct work {
    const struct attn_ctx *c;
    const struct model_block *b;
    const struct recipe *r;
    struct model_numbers *v;
    int n, d, heads, d_head;
    float *qkv; /* [n, 3*d] */
    /* Copies that are turned or rounded; w_mlp one at a time, and so gain and bias. */
    float *w_qkv, *w_o, *w_mlp, *vector[2];
};

/* ---- sizes ------------------------------------------------------------------------------- */

int64_t model_numbers_count(const struct model_numbers *v, enum model_tensor t)
{
    int64_t n = v->dims.n_tok, d = v->dims.d_model, heads = v->dims.n_head;
    switch (t) {
    case MODEL_T_SCORES:
    case MODEL_T_SCALED:
    case MODEL_T_MASKED:
    case MODEL_T_WEIGHTS:
        return heads * n * n;
    case MODEL_T_MLP_FC:
    case MODEL_T_MLP_ACT:
        return n * v->d_mlp;
    case MODEL_T_W_QKV:
        return 3 * d * d;
    case MODEL_T_B_QKV:
        return 3 * d;
    case MODEL_T_W_O:
        return d * d;
    case MODEL_T_B_O:
        return d;
    default:
        return n * d;
    }
}

static bool is_of_mlp(enum model_tensor t)
{
    return t >= MODEL_T_LN_2 && t <= MODEL_T_MLP_OUT;
}

static bool has(const struct model_block *b, enum model_tensor t)
{
    const struct attn_weights *w = &b->model->weights;
    if (is_of_mlp(t)) return b->mlp != NULL;
    if (t == MODEL_T_B_QKV) return w->b_qkv != NULL;
    return t != MODEL_T_B_O || w->b_o;
}

static bool lay_out(struct work *w, struct err *e)
{
    struct model_numbers *v = w->v;
    const size_t square = (size_t)w->d * (size_t)w->d;
    const struct model_mlp *mlp = w->b->mlp;
    size_t need = ((size_t)w->n * 3 * (size_t)w->d + 4 * square) * sizeof(float) + 4096;
    v->dims = (struct attn_dims){w->n, w->d, w->heads};
    v->d_mlp = mlp ? mlp->width : 0;
    for (int t = 0; t < MODEL_T_COUNT; t++)
        need += (size_t)model_numbers_count(v, (enum model_tensor)t) * sizeof(float);
    size_t longest = 3 * (size_t)w->d + (size_t)v->d_mlp;
    need += ((size_t)v->d_mlp * (size_t)w->d + 2 * longest) * sizeof(float);
    arena_reset(&v->mem);
    if (v->mem.size < need) {
        arena_free(&v->mem);
        if (!arena_init(&v->mem, need, e)) return false;
    }
    for (int t = 0; t < MODEL_T_COUNT; t++) {
        size_t n = (size_t)model_numbers_count(v, (enum model_tensor)t);
        bool is_there = has(w->b, (enum model_tensor)t);
        v->at[t] = is_there ? arena_take(&v->mem, n, sizeof(float)) : NULL;
    }
    w->qkv = arena_take(&v->mem, (size_t)w->n * 3 * (size_t)w->d, sizeof(float));
    w->w_qkv = arena_take(&v->mem, 3 * square, sizeof(float));
    w->w_o = arena_take(&v->mem, square, sizeof(float));
    w->w_mlp = arena_take(&v->mem, (size_t)v->d_mlp * (size_t)w->d, sizeof(float));
    for (int i = 0; i < 2; i++)
        w->vector[i] = arena_take(&v->mem, longest, sizeof(float));
    assert(w->vector[1]); /* need was counted just so */
    return true;
}

void model_numbers_free(struct model_numbers *v)
{
    arena_free(&v->mem);
    *v = (struct model_numbers){0};
}

/* ---- rounding ------------------------------------------------------------------------------ */

float round_half(float x)
{
    float a = fabsf(x);
    if (!(a < 65520.0f)) return isnan(x) ? x : copysignf(INFINITY, x);
    /* Adding and taking away a number whose last place is the format's rounds to it. */
    int exponent = 0;
    (void)frexpf(a, &exponent);
    if (exponent < -13) exponent = -13; /* subnormal: 2^-24 apart */
    float big = ldexpf(1.5f, exponent - 11 + 23);
    volatile float sum = a + big; /* rounded to float32 here */
    return copysignf(sum - big, x);
}

float round_bf16(float x)
{
    uint32_t bits = 0;
    if (isnan(x)) return x;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7FFFu + (bits >> 16 & 1u);
    bits &= 0xFFFF0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void round_all(float *x, int64_t n, enum round_to to)
{
    for (int64_t i = 0; to != ROUND_NOT && i < n; i++)
        x[i] = to == ROUND_F16 ? round_half(x[i]) : round_bf16(x[i]);
}

/* What attn calls a tensor of the stages; ATTN_TENSOR_COUNT: none can be given. */
static enum attn_tensor given_as(enum model_tensor t)
{
    if (t == MODEL_T_H || t == MODEL_T_X) return t == MODEL_T_H ? ATTN_H : ATTN_X;
    bool is_stage = t >= MODEL_T_Q && t <= MODEL_T_WEIGHTS;
    return is_stage ? (enum attn_tensor)(ATTN_Q + (t - MODEL_T_Q)) : ATTN_TENSOR_COUNT;
}

/* Puts the numbers given for a tensor in their places. */
static void put_given(const struct work *w, enum model_tensor t)
{
    bool square = t >= MODEL_T_SCORES;
    size_t row = (size_t)(square ? w->n : w->d);
    size_t head = (size_t)(square ? w->n * w->n : t >= MODEL_T_Q ? w->d_head : 0);
    for (int i = 0; i < w->b->n_edit; i++) {
        const struct attn_edit *g = &w->b->edits[i];
        if (g->tensor == given_as(t))
            w->v->at[t][(size_t)g->head * head + (size_t)g->row * row + (size_t)g->col] =
                g->value;
    }
}

static void done(const struct work *w, enum model_tensor t)
{
    if (!w->v->at[t]) return;
    round_all(w->v->at[t], model_numbers_count(w->v, t), w->r->all);
    put_given(w, t);
}

/* ---- matrices ------------------------------------------------------------------------------- */

static struct attn_mat mat(float *data, int rows, int cols, int ld)
{
    return (struct attn_mat){data, rows, cols, ld};
}

static struct attn_cmat cmat(const float *data, int rows, int cols, int ld)
{
    return (struct attn_cmat){data, rows, cols, ld};
}

/* Shapes are our own, so no call can refuse them. */
static void must(enum attn_status s)
{
    assert(s == ATTN_OK);
    (void)s;
}

static void copy(float *to, struct attn_cmat m)
{
    for (int i = 0; i < m.rows; i++)
        memcpy(to + (size_t)i * (size_t)m.cols, m.data + (size_t)i * (size_t)m.ld,
               (size_t)m.cols * sizeof *to);
}

/* The square at column `from` of a matrix ld wide, on its other side. */
static void turn_square(float *m, int n, int ld, int from)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            float *a = m + (size_t)i * (size_t)ld + from + j;
            float *b = m + (size_t)j * (size_t)ld + from + i;
            float t = *a;
            *a = *b;
            *b = t;
        }
}

/* out [rows, cols]: the same memory taken as [cols, rows], and that on its other side. */
static void misread(float *out, struct attn_cmat m)
{
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < m.cols; j++) {
            size_t at = (size_t)j * (size_t)m.rows + (size_t)i;
            out[(size_t)i * (size_t)m.cols + (size_t)j] =
                m.data[at / (size_t)m.cols * (size_t)m.ld + at % (size_t)m.cols];
        }
}

static struct attn_cmat the_w_qkv(const struct work *w)
{
    struct attn_cmat m = w->b->model->weights.w_qkv;
    unsigned turned = w->r->turned & (TURN_Q | TURN_K | TURN_V | TURN_QKV);
    enum round_to to = w->r->weights;
    if (!turned && to == ROUND_NOT) return m;
    if (turned & TURN_QKV)
        misread(w->w_qkv, m);
    else
        copy(w->w_qkv, m);
    for (int k = 0; k < 3; k++)
        if (turned & ((unsigned)TURN_Q << k))
            turn_square(w->w_qkv, w->d, 3 * w->d, k * w->d);
    round_all(w->w_qkv, (int64_t)3 * w->d * w->d, to);
    return cmat(w->w_qkv, w->d, 3 * w->d, 3 * w->d);
}

static struct attn_cmat the_w_o(const struct work *w)
{
    struct attn_cmat m = w->b->model->weights.w_o;
    if (!(w->r->turned & TURN_O) && w->r->weights == ROUND_NOT) return m;
    copy(w->w_o, m);
    if (w->r->turned & TURN_O) turn_square(w->w_o, w->d, w->d, 0);
    round_all(w->w_o, (int64_t)w->d * w->d, w->r->weights);
    return cmat(w->w_o, w->d, w->d, w->d);
}

static struct attn_cmat the_w_mlp(const struct work *w, struct attn_cmat m)
{
    if (!(w->r->turned & TURN_MLP) && w->r->weights == ROUND_NOT) return m;
    if (w->r->turned & TURN_MLP)
        misread(w->w_mlp, m);
    else
        copy(w->w_mlp, m);
    round_all(w->w_mlp, (int64_t)m.rows * m.cols, w->r->weights);
    return cmat(w->w_mlp, m.rows, m.cols, m.cols);
}

/* A gain or bias as it is used, in one of two places. */
static const float *the_vector(const struct work *w, const float *v, int n, int place)
{
    if (!v || w->r->weights == ROUND_NOT) return v;
    memcpy(w->vector[place], v, (size_t)n * sizeof *v);
    round_all(w->vector[place], n, w->r->weights);
    return w->vector[place];
}

/* ---- the stages -------------------------------------------------------------------------------- */

/* eps < 0: the model's. Variance by n - 1 is variance by n times n / (n - 1), so that the
 * kernels' norm, given rows and eps so scaled, computes it:
 *   (h - mean) / sqrt(v n/(n-1) + eps) = (h - mean) / sqrt(v + eps (n-1)/n) * sqrt((n-1)/n) */
static void norm(const struct work *w, enum model_tensor to, struct attn_cmat from,
                 const float *gain, const float *bias, enum norm_how how, float eps)
{
    float *out = w->v->at[to];
    int n = w->n, d = w->d;
    if (how == NORM_SKIPPED) {
        copy(out, from);
        done(w, to);
        return;
    }
    float share = (float)(d - 1) / (float)d;
    float e = eps < 0 ? w->b->eps : eps;
    bool sample = how == NORM_SAMPLE_VARIANCE && d > 1;
    bool bare = how == NORM_NO_GAIN;
    if (bare || (w->r->unbiased & NO_B_LN)) bias = NULL;
    gain = bare ? NULL : the_vector(w, gain, d, 0);
    bias = the_vector(w, bias, d, 1);
    must(attn_layer_norm(w->c, mat(out, n, d, d), from, sample ? NULL : gain,
                         sample ? NULL : bias, sample ? e * share : e));
    for (int i = 0; sample && i < n; i++)
        for (int a = 0; a < d; a++) {
            float *x = out + (size_t)i * (size_t)d + a;
            *x = *x * sqrtf(share) * (gain ? gain[a] : 1) + (bias ? bias[a] : 0);
        }
    done(w, to);
}

static void project(const struct work *w)
{
    struct model_numbers *v = w->v;
    int n = w->n, d = w->d, each = w->d_head;
    const float *bias = w->r->unbiased & NO_B_QKV ? NULL : w->b->model->weights.b_qkv;
    must(attn_project(w->c, mat(w->qkv, n, 3 * d, 3 * d), cmat(v->at[MODEL_T_X], n, d, d),
                      the_w_qkv(w), the_vector(w, bias, 3 * d, 0)));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            for (int h = 0; h < w->heads; h++) {
                int from = w->r->split_per_head ? (3 * h + k) * each : k * d + h * each;
                memcpy(v->at[MODEL_T_Q + k] + (size_t)i * (size_t)d +
                           (size_t)h * (size_t)each,
                       w->qkv + (size_t)i * 3 * (size_t)d + from,
                       (size_t)each * sizeof(float));
            }
    for (int k = 0; k < 3; k++) done(w, (enum model_tensor)(MODEL_T_Q + k));
}

/* Head h's [n, d_head] of a tensor with heads side by side, and its [n, n]. */
static struct attn_cmat slice(const struct work *w, enum model_tensor t, int h)
{
    return cmat(w->v->at[t] + (size_t)h * (size_t)w->d_head, w->n, w->d_head, w->d);
}

static float *scores_of(const struct work *w, enum model_tensor t, int h)
{
    return w->v->at[t] + (size_t)h * (size_t)w->n * (size_t)w->n;
}

static struct attn_mat head_mat(const struct work *w, enum model_tensor t, int h)
{
    return mat(scores_of(w, t, h), w->n, w->n, w->n);
}

static struct attn_cmat head_cmat(const struct work *w, enum model_tensor t, int h)
{
    return cmat(scores_of(w, t, h), w->n, w->n, w->n);
}

static void score(const struct work *w)
{
    for (int h = 0; h < w->heads; h++)
        must(attn_scores(w->c, head_mat(w, MODEL_T_SCORES, h), slice(w, MODEL_T_Q, h),
                         slice(w, MODEL_T_K, h)));
    done(w, MODEL_T_SCORES);
}

static void scale(const struct work *w)
{
    int64_t count = model_numbers_count(w->v, MODEL_T_SCALED);
    const float *s = w->v->at[MODEL_T_SCORES];
    float *out = w->v->at[MODEL_T_SCALED];
    float by = w->r->divide == BY_NOTHING  ? 1
               : w->r->divide == BY_D_HEAD ? (float)w->d_head
                                           : sqrtf((float)w->d);
    for (int h = 0; w->r->divide == BY_SQRT_D_HEAD && h < w->heads; h++)
        must(attn_scale(w->c, head_mat(w, MODEL_T_SCALED, h),
                        head_cmat(w, MODEL_T_SCORES, h), w->d_head));
    for (int64_t i = 0; w->r->divide != BY_SQRT_D_HEAD && i < count; i++)
        out[i] = s[i] / by;
    done(w, MODEL_T_SCALED);
}

/* Whether a mask of this kind lets i see j, before softmax. */
static bool is_seen(enum mask_how how, int i, int j)
{
    switch (how) {
    case MASK_RIGHT:
        return j <= i;
    case MASK_LOOSE:
        return j <= i + 1;
    case MASK_STRICT:
        return j < i;
    case MASK_TRANSPOSED:
        return j >= i;
    default:
        return true;
    }
}

static void mask(const struct work *w)
{
    int n = w->n;
    for (int h = 0; h < w->heads; h++) {
        const float *s = scores_of(w, MODEL_T_SCALED, h);
        float *out = scores_of(w, MODEL_T_MASKED, h);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                size_t at = (size_t)i * (size_t)n + (size_t)j;
                out[at] = is_seen(w->r->mask, i, j) ? s[at] : -INFINITY;
            }
    }
    done(w, MODEL_T_MASKED);
}

/* Softmax of n numbers that lie `step` apart. */
static void softmax_along(float *out, const float *in, int n, size_t step)
{
    float max = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) max = fmaxf(max, in[(size_t)i * step]);
    for (int i = 0; i < n; i++) {
        float e = expf(in[(size_t)i * step] - max);
        out[(size_t)i * step] = e;
        sum += e;
    }
    for (int i = 0; i < n; i++) out[(size_t)i * step] /= sum;
}

static void softmax(const struct work *w)
{
    size_t n = (size_t)w->n;
    const float *in = w->v->at[MODEL_T_MASKED];
    float *out = w->v->at[MODEL_T_WEIGHTS];
    for (int h = 0; w->r->softmax == OVER_KEYS && h < w->heads; h++)
        must(attn_softmax(w->c, head_mat(w, MODEL_T_WEIGHTS, h),
                          head_cmat(w, MODEL_T_MASKED, h), NULL));
    for (size_t h = 0; w->r->softmax == OVER_QUERIES && h < (size_t)w->heads; h++)
        for (size_t j = 0; j < n; j++)
            softmax_along(out + h * n * n + j, in + h * n * n + j, w->n, n);
    for (size_t at = 0; w->r->softmax == OVER_HEADS && at < n * n; at++)
        softmax_along(out + at, in + at, w->heads, n * n);
    bool added = w->r->mask == MASK_ADDED_AFTER;
    for (size_t k = 0;
         (added || w->r->mask == MASK_TIMES_AFTER) && k < (size_t)w->heads * n * n; k++) {
        if (k % n <= k / n % n) continue;
        out[k] = added ? -INFINITY : 0;
    }
    /* A row that sees nothing is NaN in most people's code: nothing is compared there. */
    if (w->r->mask == MASK_STRICT)
        for (size_t h = 0; h < (size_t)w->heads; h++)
            for (size_t j = 0; j < n; j++) out[h * n * n + j] = NAN;
    done(w, MODEL_T_WEIGHTS);
}

static void sum_up(const struct work *w)
{
    bool causal = w->r->mask == MASK_RIGHT && w->r->softmax == OVER_KEYS;
    struct model_numbers *v = w->v;
    int n = w->n, d = w->d, each = w->d_head;
    for (int h = 0; h < w->heads; h++)
        must(attn_weighted_sum(
            w->c, mat(v->at[MODEL_T_Z] + (size_t)h * (size_t)each, n, each, d),
            head_cmat(w, MODEL_T_WEIGHTS, h), slice(w, MODEL_T_V, h), causal));
    done(w, MODEL_T_Z);
    float *to = v->at[MODEL_T_MERGED];
    const float *from = v->at[MODEL_T_Z];
    if (!w->r->heads_stay) {
        memcpy(to, from, (size_t)n * (size_t)d * sizeof *to);
        return;
    }
    for (int h = 0; h < w->heads; h++)
        for (int i = 0; i < n; i++)
            memcpy(to + ((size_t)h * (size_t)n + (size_t)i) * (size_t)each,
                   from + (size_t)i * (size_t)d + (size_t)h * (size_t)each,
                   (size_t)each * sizeof *to);
}

static void add(const struct work *w, enum model_tensor to, enum model_tensor from,
                enum residual_how how, const float *stream, const float *normed)
{
    const float *res = how == RESIDUAL_RIGHT        ? stream
                       : how == RESIDUAL_AFTER_NORM ? normed
                                                    : NULL;
    size_t n = (size_t)w->n * (size_t)w->d;
    for (size_t i = 0; i < n; i++)
        w->v->at[to][i] = w->v->at[from][i] + (res ? res[i] : 0);
    done(w, to);
}

static void output(const struct work *w)
{
    struct model_numbers *v = w->v;
    int n = w->n, d = w->d;
    const float *bias = w->r->unbiased & NO_B_O ? NULL : w->b->model->weights.b_o;
    must(attn_output(w->c, mat(v->at[MODEL_T_Y_PROJ], n, d, d),
                     cmat(v->at[MODEL_T_MERGED], n, d, d), the_w_o(w),
                     the_vector(w, bias, d, 0), (struct attn_cmat){0}));
    done(w, MODEL_T_Y_PROJ);
    add(w, MODEL_T_Y, MODEL_T_Y_PROJ, w->r->residual_1, v->at[MODEL_T_H],
        v->at[MODEL_T_X]);
}

float recipe_act(float x, enum act_how how, bool tanh_form)
{
    if (how == ACT_OTHER_GELU) tanh_form = !tanh_form;
    if (how == ACT_NONE) return x;
    if (how == ACT_RELU) return x > 0 ? x : 0;
    if (how == ACT_QUICK_GELU) return x / (1 + expf(-1.702f * x));
    if (!tanh_form) return 0.5f * x * (1 + erff(x * 0.70710678f));
    return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

static void mlp(const struct work *w)
{
    const struct model_mlp *m = w->b->mlp;
    struct model_numbers *v = w->v;
    int n = w->n, d = w->d, wide = m->width;
    bool biased = !(w->r->unbiased & NO_B_MLP);
    norm(w, MODEL_T_LN_2, cmat(v->at[MODEL_T_Y], n, d, d), m->ln_gain, m->ln_bias,
         w->r->norm_2, w->r->eps_2);
    must(attn_output(w->c, mat(v->at[MODEL_T_MLP_FC], n, wide, wide),
                     cmat(v->at[MODEL_T_LN_2], n, d, d), the_w_mlp(w, m->w_fc),
                     biased ? the_vector(w, m->b_fc, wide, 0) : NULL,
                     (struct attn_cmat){0}));
    done(w, MODEL_T_MLP_FC);
    size_t count = (size_t)n * (size_t)wide;
    for (size_t i = 0; i < count; i++)
        v->at[MODEL_T_MLP_ACT][i] =
            recipe_act(v->at[MODEL_T_MLP_FC][i], w->r->act, m->act == MODEL_GELU_TANH);
    done(w, MODEL_T_MLP_ACT);
    must(attn_output(w->c, mat(v->at[MODEL_T_MLP_OUT], n, d, d),
                     cmat(v->at[MODEL_T_MLP_ACT], n, wide, wide), the_w_mlp(w, m->w_proj),
                     biased ? the_vector(w, m->b_proj, d, 0) : NULL,
                     (struct attn_cmat){0}));
    done(w, MODEL_T_MLP_OUT);
}

static void parameters(const struct work *w)
{
    const struct attn_weights *p = &w->b->model->weights;
    float *const *at = w->v->at;
    size_t d = (size_t)w->d;
    copy(at[MODEL_T_W_QKV], p->w_qkv);
    copy(at[MODEL_T_W_O], p->w_o);
    if (p->b_qkv) memcpy(at[MODEL_T_B_QKV], p->b_qkv, 3 * d * sizeof(float));
    if (p->b_o) memcpy(at[MODEL_T_B_O], p->b_o, d * sizeof(float));
}

static void second_half(const struct work *w)
{
    struct model_numbers *v = w->v;
    if (w->b->mlp) {
        mlp(w);
        add(w, MODEL_T_BLOCK, MODEL_T_MLP_OUT, w->r->residual_2, v->at[MODEL_T_Y],
            v->at[MODEL_T_LN_2]);
    } else {
        memcpy(v->at[MODEL_T_BLOCK], v->at[MODEL_T_Y],
               (size_t)w->n * (size_t)w->d * sizeof(float));
    }
}

static void first_norm(const struct work *w)
{
    const struct model *m = w->b->model;
    struct attn_cmat h = w->b->h;
    const float *given = w->v->at[MODEL_T_H]; /* h with what was edited */
    if (w->b->n_edit > 0 && given) h = cmat(given, w->n, w->d, w->d);
    norm(w, MODEL_T_X, h, m->ln_gain, m->ln_bias, w->r->norm_1, w->r->eps_1);
}

bool numbers_follow(struct model_numbers *v, const struct model_block *b,
                    const struct recipe *r, enum model_tensor last,
                    const struct attn_ctx *c, struct err *e)
{
    static const struct {
        enum model_tensor first; /* that it gives */
        void (*compute)(const struct work *w);
    } stages[] = {{MODEL_T_X, first_norm},     {MODEL_T_Q, project},
                  {MODEL_T_SCORES, score},     {MODEL_T_SCALED, scale},
                  {MODEL_T_MASKED, mask},      {MODEL_T_WEIGHTS, softmax},
                  {MODEL_T_Z, sum_up},         {MODEL_T_Y_PROJ, output},
                  {MODEL_T_LN_2, second_half}, {MODEL_T_W_QKV, parameters}};
    struct attn_dims d = b->model->dims;
    struct work w = {.c = c,
                     .b = b,
                     .r = r,
                     .v = v,
                     .n = b->h.rows,
                     .d = d.d_model,
                     .heads = d.n_head,
                     .d_head = attn_d_head(d)};
    if (!lay_out(&w, e)) return false;
    copy(v->at[MODEL_T_H], b->h);
    done(&w, MODEL_T_H);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && stages[i].first <= last;
         i++) {
        if (c->cancel && *c->cancel) return err_set(e, ERR_CANCELLED, "cancelled");
        stages[i].compute(&w);
    }
    return true;
}

bool model_numbers_run(struct model_numbers *v, const struct model_block *b,
                       enum model_tensor last, const struct attn_ctx *c, struct err *e)
{
    struct recipe right = recipe_right(b->opts);
    return numbers_follow(v, b, &right, last, c, e);
}
