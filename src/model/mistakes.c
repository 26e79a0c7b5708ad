/* The mistakes that code of people has, each a small change of the right recipe; and which
 * of them gives somebody's numbers. */
#include "recipe.h"

#include <math.h>
#include <string.h>

/* ---- one by one --------------------------------------------------------------------------- */

/* clang-format off */
static void no_scale(struct recipe *r) { r->divide = BY_NOTHING; }
static void scale_on(struct recipe *r) { r->divide = BY_SQRT_D_HEAD; }
static void mask_on(struct recipe *r) { r->mask = MASK_RIGHT; }
static void residual_on(struct recipe *r) { r->residual_1 = RESIDUAL_RIGHT; }
static void by_d_head(struct recipe *r) { r->divide = BY_D_HEAD; }
static void by_sqrt_d_model(struct recipe *r) { r->divide = BY_SQRT_D_MODEL; }
static void mask_off(struct recipe *r) { r->mask = MASK_OFF; }
static void mask_loose(struct recipe *r) { r->mask = MASK_LOOSE; }
static void mask_strict(struct recipe *r) { r->mask = MASK_STRICT; }
static void mask_transposed(struct recipe *r) { r->mask = MASK_TRANSPOSED; }
static void mask_added_after(struct recipe *r) { r->mask = MASK_ADDED_AFTER; }
static void mask_times_after(struct recipe *r) { r->mask = MASK_TIMES_AFTER; }
static void over_queries(struct recipe *r) { r->softmax = OVER_QUERIES; }
static void over_heads(struct recipe *r) { r->softmax = OVER_HEADS; }
static void split_per_head(struct recipe *r) { r->split_per_head = true; }
static void heads_stay(struct recipe *r) { r->heads_stay = true; }
static void turn_q(struct recipe *r) { r->turned = TURN_Q; }
static void turn_k(struct recipe *r) { r->turned = TURN_K; }
static void turn_v(struct recipe *r) { r->turned = TURN_V; }
static void turn_each(struct recipe *r) { r->turned = TURN_Q | TURN_K | TURN_V; }
static void turn_qkv(struct recipe *r) { r->turned = TURN_QKV; }
static void turn_o(struct recipe *r) { r->turned = TURN_O; }
static void turn_mlp(struct recipe *r) { r->turned = TURN_MLP; }
static void turn_qkv_o(struct recipe *r) { r->turned = TURN_Q | TURN_K | TURN_V | TURN_O; }
static void no_b_qkv(struct recipe *r) { r->unbiased = NO_B_QKV; }
static void no_b_o(struct recipe *r) { r->unbiased = NO_B_O; }
static void no_b_mlp(struct recipe *r) { r->unbiased = NO_B_MLP; }
static void no_b_ln(struct recipe *r) { r->unbiased = NO_B_LN; }
static void no_b_attn(struct recipe *r) { r->unbiased = NO_B_QKV | NO_B_O; }
static void no_bias(struct recipe *r) { r->unbiased = NO_B_QKV | NO_B_O | NO_B_MLP | NO_B_LN; }
static void ln_1_skipped(struct recipe *r) { r->norm_1 = NORM_SKIPPED; }
static void ln_2_skipped(struct recipe *r) { r->norm_2 = NORM_SKIPPED; }
static void ln_skipped(struct recipe *r) { r->norm_1 = r->norm_2 = NORM_SKIPPED; }
static void ln_1_sample(struct recipe *r) { r->norm_1 = NORM_SAMPLE_VARIANCE; }
static void ln_2_sample(struct recipe *r) { r->norm_2 = NORM_SAMPLE_VARIANCE; }
static void ln_sample(struct recipe *r) { r->norm_1 = r->norm_2 = NORM_SAMPLE_VARIANCE; }
static void ln_1_bare(struct recipe *r) { r->norm_1 = NORM_NO_GAIN; }
static void eps_0(struct recipe *r) { r->eps_1 = r->eps_2 = 0; }
static void eps_12(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-12f; }
static void eps_8(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-8f; }
static void eps_6(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-6f; }
static void eps_5(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-5f; }
static void eps_4(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-4f; }
static void eps_3(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-3f; }
static void eps_2(struct recipe *r) { r->eps_1 = r->eps_2 = 1e-2f; }
static void no_residual(struct recipe *r) { r->residual_1 = RESIDUAL_MISSING; }
static void no_residual_2(struct recipe *r) { r->residual_2 = RESIDUAL_MISSING; }
static void late_residual(struct recipe *r) { r->residual_1 = RESIDUAL_AFTER_NORM; }
static void late_residual_2(struct recipe *r) { r->residual_2 = RESIDUAL_AFTER_NORM; }
static void other_gelu(struct recipe *r) { r->act = ACT_OTHER_GELU; }
static void quick_gelu(struct recipe *r) { r->act = ACT_QUICK_GELU; }
static void relu(struct recipe *r) { r->act = ACT_RELU; }
static void no_act(struct recipe *r) { r->act = ACT_NONE; }
static void weights_f16(struct recipe *r) { r->weights = ROUND_F16; }
static void weights_bf16(struct recipe *r) { r->weights = ROUND_BF16; }
static void all_f16(struct recipe *r) { r->weights = r->all = ROUND_F16; }
static void all_bf16(struct recipe *r) { r->weights = r->all = ROUND_BF16; }

static const struct {
    const char *name, *text;
    void (*make)(struct recipe *r);
} mistakes[] = {
    {"no-scale", "the scores are not divided by \u221Ad_head", no_scale},
    {"scale-d_head", "the scores are divided by d_head, not by its square root", by_d_head},
    {"scale-d_model", "the scores are divided by \u221Ad_model, not by \u221Ad_head", by_sqrt_d_model},
    {"scale-on", "the scores are divided by \u221Ad_head, which is switched off here", scale_on},
    {"mask-on", "there is a causal mask, which is switched off here", mask_on},
    {"residual-on", "the residual is added, which is switched off here", residual_on},
    {"mask-off", "there is no causal mask: a token sees those after it", mask_off},
    {"mask-loose", "the mask is shifted by one: a token sees the next one (triu with diagonal 2)", mask_loose},
    {"mask-strict", "the mask is shifted by one: a token does not see itself (triu with diagonal 0)", mask_strict},
    {"mask-transposed", "the mask is transposed: a token sees those after it, not those before", mask_transposed},
    {"mask-after-softmax", "the mask is added after softmax, not before", mask_added_after},
    {"mask-times-softmax", "the mask sets weights to 0 after softmax, so that rows no longer sum to 1", mask_times_after},
    {"softmax-queries", "softmax runs over the queries (dim=-2), not over the keys (dim=-1)", over_queries},
    {"softmax-heads", "softmax runs over the heads, not over the keys (dim=-1)", over_heads},
    {"qkv-per-head", "c_attn's columns are split head by head, as q k v of each; they are all of Q, all of K, all of V", split_per_head},
    {"heads-not-back", "heads are merged without transposing back: [n_head, n_tok, d_head] is read as [n_tok, d_model]", heads_stay},
    {"w_q-transposed", "W_Q is transposed", turn_q},
    {"w_k-transposed", "W_K is transposed", turn_k},
    {"w_v-transposed", "W_V is transposed", turn_v},
    {"w_q-w_k-w_v-transposed", "W_Q, W_K and W_V are transposed", turn_each},
    {"w_qkv-transposed", "c_attn's weights are read as [out, in]; they are [in, out]", turn_qkv},
    {"w_o-transposed", "W_O is transposed", turn_o},
    {"attn-transposed", "W_Q, W_K, W_V and W_O are transposed", turn_qkv_o},
    {"mlp-transposed", "the MLP's weights are read as [out, in]; they are [in, out]", turn_mlp},
    {"no-b_qkv", "the bias of Q, K and V is missing", no_b_qkv},
    {"no-b_o", "the bias of the output projection is missing", no_b_o},
    {"no-b_attn", "both biases of attention are missing", no_b_attn},
    {"no-b_mlp", "the biases of the MLP are missing", no_b_mlp},
    {"no-b_ln", "the layer norms' bias is missing", no_b_ln},
    {"no-bias", "all biases are missing", no_bias},
    {"no-ln_1", "ln_1 is skipped", ln_1_skipped},
    {"no-ln_2", "ln_2 is skipped", ln_2_skipped},
    {"no-ln", "both layer norms are skipped", ln_skipped},
    {"ln_1-n-1", "ln_1 divides the variance by n - 1, not by n", ln_1_sample},
    {"ln_2-n-1", "ln_2 divides the variance by n - 1, not by n", ln_2_sample},
    {"ln-n-1", "the layer norms divide the variance by n - 1, not by n", ln_sample},
    {"ln_1-no-gain", "ln_1 has neither gain nor bias", ln_1_bare},
    {"eps-0", "the layer norms' epsilon is missing", eps_0},
    {"eps-1e-12", "the layer norms' epsilon is 1e-12", eps_12},
    {"eps-1e-8", "the layer norms' epsilon is 1e-8", eps_8},
    {"eps-1e-6", "the layer norms' epsilon is 1e-6", eps_6},
    {"eps-1e-5", "the layer norms' epsilon is 1e-5", eps_5},
    {"eps-1e-4", "the layer norms' epsilon is 1e-4", eps_4},
    {"eps-1e-3", "the layer norms' epsilon is 1e-3", eps_3},
    {"eps-1e-2", "the layer norms' epsilon is 1e-2", eps_2},
    {"no-residual", "the residual is missing: h is not added to what attention gives", no_residual},
    {"no-residual-mlp", "the residual is missing behind the MLP", no_residual_2},
    {"residual-after-ln_1", "the residual is taken after ln_1: its output is added, not h", late_residual},
    {"residual-after-ln_2", "the residual behind the MLP is taken after ln_2", late_residual_2},
    {"gelu-form", "GELU has its other form (tanh or erf)", other_gelu},
    {"gelu-quick", "GELU is x sigmoid(1.702 x)", quick_gelu},
    {"relu", "the MLP has ReLU in GELU's place", relu},
    {"no-gelu", "the MLP has no activation", no_act},
    {"weights-float16", "the weights are rounded to float16", weights_f16},
    {"weights-bfloat16", "the weights are rounded to bfloat16", weights_bf16},
    {"float16", "every number is rounded to float16", all_f16},
    {"bfloat16", "every number is rounded to bfloat16", all_bf16},
};
/* clang-format on */
enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };

const char *model_mistake_name(int i)
{
    return i >= 0 && i < MISTAKES ? mistakes[i].name : NULL;
}

const char *model_mistake_text(int i)
{
    return i >= 0 && i < MISTAKES ? mistakes[i].text : NULL;
}

bool model_numbers_mistaken(struct model_numbers *v, const struct model_block *b, int i,
                            enum model_tensor last, const struct attn_ctx *c,
                            struct err *e)
{
    struct recipe r = recipe_right(b->opts);
    if (i >= 0 && i < MISTAKES) mistakes[i].make(&r);
    return numbers_follow(v, b, &r, last, c, e);
}

/* ---- which one it is ------------------------------------------------------------------------- */

/* How well a run's numbers are theirs: tensors reproduced, and what is left in all. */
struct score {
    int right;
    double left;
};

static struct score score_of(const struct model_numbers *v,
                             const struct model_theirs *theirs,
                             struct model_diagnosis *out, enum model_tensor first)
{
    struct score s = {0, 0};
    out->whole = true;
    for (int id = 0; id < MODEL_T_W_QKV; id++) {
        if (!theirs->at[id] || !v->at[id]) continue;
        struct model_diff d = model_theirs_diff(theirs, (enum model_tensor)id, v->at[id]);
        s.right += d.n_bad == 0 && d.n > 0;
        s.left += isfinite(d.relative) ? d.relative : 1;
        if ((enum model_tensor)id == first) out->relative = d.relative;
        if (d.n_bad == 0 || !out->whole || (enum model_tensor)id <= first) continue;
        out->whole = false;
        out->next = (enum model_tensor)id;
    }
    return s;
}

/* Cells of the heads that theirs has. */
static int64_t cells_of(const struct model_theirs *theirs, enum model_tensor t,
                        int64_t all)
{
    int heads = 0, n = theirs->dims.n_head;
    if (!model_tensor_has_heads(t)) return all;
    for (int h = 0; h < n; h++) heads += theirs->has_head[t][h];
    return all / n * heads;
}

/* Most of the cells have to be numbers that agree. */
static bool is_reproduced(const struct model_numbers *v,
                          const struct model_theirs *theirs, enum model_tensor first,
                          double left_at_most)
{
    struct model_diff d = model_theirs_diff(theirs, first, v->at[first]);
    int64_t cells = cells_of(theirs, first, model_numbers_count(v, first));
    return 2 * d.n >= cells &&
           (d.n_bad == 0 || (d.n_odd == 0 && d.relative < left_at_most));
}

bool model_explains(struct model_diagnosis *out, const struct model_numbers *v,
                    const struct model_theirs *theirs, enum model_tensor first)
{
    (void)score_of(v, theirs, out, first);
    return is_reproduced(v, theirs, first, 0);
}

/* Rounded numbers are not the same to the last place, whoever adds them up in another
 * order: a third of the difference may be left. */
static double may_be_left(const struct recipe *r, double before)
{
    return r->weights != ROUND_NOT || r->all != ROUND_NOT ? before / 3 : 0;
}

/* Whether all numbers of theirs are such as the format has: no other code would give
 * them, whatever it rounded before. */
static bool is_in_format(const struct model_theirs *theirs, enum model_tensor t,
                         int64_t n, float (*to_format)(float))
{
    int64_t other = 0, some = 0;
    for (int64_t i = 0; i < n; i++) {
        float x = theirs->at[t][i];
        if (!isfinite(x) || x == 0 || x == 1) continue;
        some++;
        other += to_format(x) != x;
    }
    return some >= 16 && other == 0;
}

/* The numbers are near ours, and their last places are missing. */
static void look_at_format(struct model_diagnosis *out, const struct model_theirs *theirs,
                           enum model_tensor first, int64_t n, double relative)
{
    static const double half = 0.02, bf16 = 0.15; /* some forty units of the last place */
    const char *name = NULL;
    if (relative < bf16 && is_in_format(theirs, first, n, round_bf16))
        name = "bfloat16";
    else if (relative < half && is_in_format(theirs, first, n, round_half))
        name = "float16";
    for (int i = 0; name && i < MISTAKES; i++)
        if (strcmp(mistakes[i].name, name) == 0)
            *out =
                (struct model_diagnosis){name, mistakes[i].text, relative, true, first};
}

bool model_diagnose(struct model_diagnosis *out, const struct model_block *b,
                    const struct model_theirs *theirs, enum model_tensor first,
                    const struct attn_ctx *c, struct err *e)
{
    struct model_numbers v = {.d_mlp = 0};
    struct score best = {-1, 0};
    double before = 0;
    bool ok = true;
    *out = (struct model_diagnosis){.name = NULL};
    for (int i = -1; ok && i < MISTAKES; i++) {
        struct recipe r = recipe_right(b->opts);
        if (i >= 0) mistakes[i].make(&r);
        ok = numbers_follow(&v, b, &r, first, c, e);
        if (!ok) break;
        if (i < 0) {
            before = model_theirs_diff(theirs, first, v.at[first]).relative;
            continue;
        }
        if (!is_reproduced(&v, theirs, first, may_be_left(&r, before))) continue;
        struct model_diagnosis d = {mistakes[i].name, mistakes[i].text, 0, false, first};
        ok = numbers_follow(&v, b, &r, MODEL_T_BLOCK, c, e);
        if (!ok) break;
        struct score s = score_of(&v, theirs, &d, first);
        if (s.right < best.right || (s.right == best.right && s.left >= best.left))
            continue;
        best = s;
        *out = d;
    }
    if (ok && !out->name)
        look_at_format(out, theirs, first, model_numbers_count(&v, first), before);
    model_numbers_free(&v);
    return ok;
}
