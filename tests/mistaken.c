/* Plain loops in double; what is wrong in each is beside what is right. */
#include "mistaken.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *wrong;
static const struct mistaken_edit *given;
static int n_given;

static bool is(const char *mistake)
{
    return strcmp(wrong, mistake) == 0;
}

/* The nearest number of so many bits behind the point of its leading one. */
static double rounded(double x, int bits)
{
    int e = 0;
    if (x == 0 || !isfinite(x)) return x;
    double part = frexp(x, &e);
    return ldexp(nearbyint(ldexp(part, bits)), e - bits);
}

static double weight(double x)
{
    if (is("weights-float16") || is("float16")) return rounded(x, 11);
    if (is("weights-bfloat16") || is("bfloat16")) return rounded(x, 8);
    return x;
}

static void result(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is("float16")) x[i] = rounded(x[i], 11);
        if (is("bfloat16")) x[i] = rounded(x[i], 8);
    }
}

static double *room(size_t n)
{
    double *p = calloc(n ? n : 1, sizeof *p);
    if (!p) abort();
    return p;
}

size_t mistaken_count(const struct mistaken *s, enum mistaken_tensor t)
{
    size_t n = (size_t)s->n, d = (size_t)s->d;
    if (t >= MT_SCORES && t <= MT_WEIGHTS) return (size_t)s->heads * n * n;
    if (t == MT_MLP_FC || t == MT_MLP_ACT) return n * (size_t)s->mlp;
    return n * d;
}

static const float *tensor(struct case_model *m, int l, const char *name)
{
    char text[64];
    (void)snprintf(text, sizeof text, "h.%d.%s", l, name);
    return case_tensor(m, text)->v;
}

static void norm(double *out, const double *h, int n, int d, const float *gain,
                 const float *bias, int which)
{
    static const char *const skip[] = {"no-ln_1", "no-ln_2"};
    static const char *const sample[] = {"ln_1-n-1", "ln_2-n-1"};
    static const struct {
        const char *name;
        double eps;
    } others[] = {{"eps-0", 0},       {"eps-1e-12", 1e-12}, {"eps-1e-8", 1e-8},
                  {"eps-1e-6", 1e-6}, {"eps-1e-4", 1e-4},   {"eps-1e-3", 1e-3},
                  {"eps-1e-2", 1e-2}};
    double eps = 1e-5;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (is(others[i].name)) eps = others[i].eps;
    bool bare = which == 0 && is("ln_1-no-gain");
    for (int i = 0; i < n; i++) {
        const double *x = h + (size_t)i * d;
        double mean = 0, var = 0;
        for (int a = 0; a < d; a++) mean += x[a] / d;
        for (int a = 0; a < d; a++) var += (x[a] - mean) * (x[a] - mean);
        var /= is(sample[which]) || is("ln-n-1") ? d - 1 : d;
        for (int a = 0; a < d; a++) {
            double v = (x[a] - mean) / sqrt(var + eps);
            if (!bare) v = v * weight((double)gain[a]);
            if (!bare && !is("no-b_ln") && !is("no-bias")) v += weight((double)bias[a]);
            out[(size_t)i * d + a] = is(skip[which]) || is("no-ln") ? x[a] : v;
        }
    }
    result(out, (size_t)n * (size_t)d);
}

/* turned: element (i, o) is taken from where it is in the memory of a [cols, rows]. */
static void linear(double *out, const double *x, int n, int rows, int cols,
                   const float *w, const float *bias, bool turned)
{
    for (int i = 0; i < n; i++)
        for (int o = 0; o < cols; o++) {
            double sum = bias ? weight((double)bias[o]) : 0;
            for (int a = 0; a < rows; a++)
                sum += x[(size_t)i * rows + a] *
                       weight((double)(turned ? w[(size_t)o * rows + a]
                                              : w[(size_t)a * cols + o]));
            out[(size_t)i * cols + o] = sum;
        }
    result(out, (size_t)n * (size_t)cols);
}

/* Whether W_Q, W_K or W_V (k = 0, 1, 2), square, is used on its other side. */
static bool is_turned(int k)
{
    static const char *const name[] = {"w_q-transposed", "w_k-transposed",
                                       "w_v-transposed"};
    return is(name[k]) || is("w_q-w_k-w_v-transposed") || is("attn-transposed");
}

static void project(struct mistaken *s, double **t, struct case_model *m, int l)
{
    int n = s->n, d = s->d, each = d / s->heads;
    const float *w = tensor(m, l, "attn.c_attn.weight");
    const float *b = tensor(m, l, "attn.c_attn.bias");
    float *copy = malloc((size_t)3 * (size_t)d * (size_t)d * sizeof *copy);
    double *qkv = room((size_t)n * 3 * (size_t)d);
    if (!copy) abort();
    for (int a = 0; a < d; a++)
        for (int o = 0; o < 3 * d; o++) {
            int k = o / d, c = o % d;
            copy[a * 3 * d + o] = is_turned(k) ? w[(size_t)c * 3 * d + k * d + a]
                                               : w[(size_t)a * 3 * d + o];
        }
    if (is("no-b_qkv") || is("no-b_attn") || is("no-bias")) b = NULL;
    linear(qkv, t[MT_X], n, d, 3 * d, copy, b, is("w_qkv-transposed"));
    for (int i = 0; i < n; i++)
        for (int h = 0; h < s->heads; h++)
            for (int k = 0; k < 3; k++)
                for (int c = 0; c < each; c++)
                    t[MT_Q + k][(size_t)i * d + h * each + c] =
                        qkv[(size_t)i * 3 * d + (is("qkv-per-head")
                                                     ? h * 3 * each + k * each + c
                                                     : k * d + h * each + c)];
    free(copy);
    free(qkv);
}

static bool hidden(int i, int j)
{
    if (is("mask-off") || is("mask-after-softmax") || is("mask-times-softmax"))
        return false;
    if (is("mask-loose")) return j >= i + 2;
    if (is("mask-strict")) return j >= i;
    if (is("mask-transposed")) return j < i;
    return j > i;
}

static void score(struct mistaken *s, double **t)
{
    int n = s->n, d = s->d, each = d / s->heads;
    double by = is("no-scale")        ? 1
                : is("scale-d_head")  ? each
                : is("scale-d_model") ? sqrt(d)
                                      : sqrt(each);
    size_t at = 0;
    for (int h = 0; h < s->heads; h++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++, at++) {
                double sum = 0;
                for (int c = h * each; c < (h + 1) * each; c++)
                    sum += t[MT_Q][(size_t)i * d + c] * t[MT_K][(size_t)j * d + c];
                t[MT_SCORES][at] = sum;
                result(&t[MT_SCORES][at], 1);
                t[MT_SCALED][at] = t[MT_SCORES][at] / by;
                result(&t[MT_SCALED][at], 1);
                t[MT_MASKED][at] = hidden(i, j) ? -(double)INFINITY : t[MT_SCALED][at];
            }
}

static void softmax(struct mistaken *s, double **t)
{
    int n = s->n;
    size_t square = (size_t)n * (size_t)n, all = (size_t)s->heads * square;
    for (size_t at = 0; at < all; at++) {
        size_t h = at / square, i = at % square / n, j = at % n;
        double sum = 0;
        if (is("softmax-queries"))
            for (size_t k = 0; k < (size_t)n; k++)
                sum += exp(t[MT_MASKED][h * square + k * n + j]);
        else if (is("softmax-heads"))
            for (size_t k = 0; k < (size_t)s->heads; k++)
                sum += exp(t[MT_MASKED][k * square + i * n + j]);
        else
            for (size_t k = 0; k < (size_t)n; k++)
                sum += exp(t[MT_MASKED][h * square + i * n + k]);
        double p = exp(t[MT_MASKED][at]) / sum;
        if (is("mask-after-softmax") && j > i) p = -(double)INFINITY;
        if (is("mask-times-softmax") && j > i) p = 0;
        t[MT_WEIGHTS][at] = p;
    }
    result(t[MT_WEIGHTS], all);
}

static void sum_up(struct mistaken *s, double **t)
{
    int n = s->n, d = s->d, each = d / s->heads;
    for (int h = 0; h < s->heads; h++)
        for (int i = 0; i < n; i++)
            for (int c = 0; c < each; c++) {
                double sum = 0;
                for (int j = 0; j < n; j++)
                    sum += t[MT_WEIGHTS][((size_t)h * n + i) * n + j] *
                           t[MT_V][(size_t)j * d + h * each + c];
                t[MT_Z][((size_t)h * n + i) * each + c] = sum;
            }
    result(t[MT_Z], (size_t)n * (size_t)d);
    for (int h = 0; h < s->heads; h++)
        for (int i = 0; i < n; i++)
            for (int c = 0; c < each; c++)
                t[MT_MERGED][(size_t)i * d + h * each + c] =
                    t[MT_Z][((size_t)h * n + i) * each + c];
    if (is("heads-not-back"))
        memcpy(t[MT_MERGED], t[MT_Z], (size_t)n * (size_t)d * sizeof(double));
}

static double active(double x)
{
    double tanh_form =
        0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    if (is("gelu-form")) return 0.5 * x * (1 + erf(x / sqrt(2)));
    if (is("gelu-quick")) return x / (1 + exp(-1.702 * x));
    if (is("relu")) return x > 0 ? x : 0;
    return is("no-gelu") ? x : tanh_form;
}

static void put_given(const struct mistaken *s, int l, enum mistaken_tensor t)
{
    for (int k = 0; k < n_given; k++)
        if (given[k].block == l && given[k].t == t)
            s->t[l][t][(size_t)given[k].row * s->d + given[k].col] = given[k].value;
}

static void block(struct mistaken *s, double **t, struct case_model *m, int l)
{
    int n = s->n, d = s->d, wide = s->mlp;
    size_t all = (size_t)n * (size_t)d;
    bool no_mlp = is("no-b_mlp") || is("no-bias");
    bool no_o = is("no-b_o") || is("no-b_attn") || is("no-bias");
    result(t[MT_H], all);
    put_given(s, l, MT_H);
    norm(t[MT_X], t[MT_H], n, d, tensor(m, l, "ln_1.weight"), tensor(m, l, "ln_1.bias"),
         0);
    put_given(s, l, MT_X);
    project(s, t, m, l);
    score(s, t);
    softmax(s, t);
    sum_up(s, t);
    linear(t[MT_Y_PROJ], t[MT_MERGED], n, d, d, tensor(m, l, "attn.c_proj.weight"),
           no_o ? NULL : tensor(m, l, "attn.c_proj.bias"),
           is("w_o-transposed") || is("attn-transposed"));
    for (size_t i = 0; i < all; i++)
        t[MT_Y][i] = t[MT_Y_PROJ][i] + (is("no-residual")           ? 0
                                        : is("residual-after-ln_1") ? t[MT_X][i]
                                                                    : t[MT_H][i]);
    result(t[MT_Y], all);
    norm(t[MT_LN_2], t[MT_Y], n, d, tensor(m, l, "ln_2.weight"),
         tensor(m, l, "ln_2.bias"), 1);
    linear(t[MT_MLP_FC], t[MT_LN_2], n, d, wide, tensor(m, l, "mlp.c_fc.weight"),
           no_mlp ? NULL : tensor(m, l, "mlp.c_fc.bias"), is("mlp-transposed"));
    for (size_t i = 0; i < (size_t)n * (size_t)wide; i++)
        t[MT_MLP_ACT][i] = active(t[MT_MLP_FC][i]);
    result(t[MT_MLP_ACT], (size_t)n * (size_t)wide);
    linear(t[MT_MLP_OUT], t[MT_MLP_ACT], n, wide, d, tensor(m, l, "mlp.c_proj.weight"),
           no_mlp ? NULL : tensor(m, l, "mlp.c_proj.bias"), is("mlp-transposed"));
    for (size_t i = 0; i < all; i++)
        t[MT_BLOCK][i] = t[MT_MLP_OUT][i] + (is("no-residual-mlp")       ? 0
                                             : is("residual-after-ln_2") ? t[MT_LN_2][i]
                                                                         : t[MT_Y][i]);
    result(t[MT_BLOCK], all);
}

void mistaken_run(struct mistaken *out, struct case_model *m, const int32_t *ids, int n,
                  const char *mistake, bool longer)
{
    const struct case_spec *spec = &m->spec;
    const float *wte = case_tensor(m, "wte.weight")->v;
    const float *wpe = case_tensor(m, "wpe.weight")->v;
    int d = spec->d;
    bool leading = strncmp(mistake, "leading-", 8) == 0;
    wrong = mistake;
    *out = (struct mistaken){.n = n + (leading && longer ? 1 : 0),
                             .d = d,
                             .heads = spec->n_head,
                             .mlp = spec->mlp,
                             .n_block = spec->n_layer};
    for (int l = 0; l < out->n_block; l++)
        for (int t = 0; t < MT_COUNT; t++)
            out->t[l][t] = room(mistaken_count(out, (enum mistaken_tensor)t));
    for (int i = 0; i < out->n; i++) {
        int32_t first = is("leading-0")       ? 0
                        : is("leading-first") ? ids[0]
                                              : spec->vocab - 1;
        int32_t id = !leading ? ids[i] : i == 0 ? first : ids[i - 1];
        int p = i + (is("positions-1") ? 1 : is("positions-2") ? 2 : 0);
        for (int a = 0; a < d; a++)
            out->t[0][MT_H][(size_t)i * d + a] =
                (double)wte[(size_t)id * d + a] +
                (is("no-positions") ? 0 : (double)wpe[(size_t)p * d + a]);
    }
    for (int l = 0; l < out->n_block; l++) {
        block(out, out->t[l], m, l);
        if (l + 1 < out->n_block)
            memcpy(out->t[l + 1][MT_H], out->t[l][MT_BLOCK],
                   mistaken_count(out, MT_H) * sizeof(double));
    }
}

void mistaken_edited(struct mistaken *out, struct case_model *m, const int32_t *ids,
                     int n, const struct mistaken_edit *edits, int n_edit)
{
    given = edits;
    n_given = n_edit;
    mistaken_run(out, m, ids, n, "", false);
    n_given = 0;
}

void mistaken_free(struct mistaken *out)
{
    for (int l = 0; l < MT_BLOCKS; l++)
        for (int t = 0; t < MT_COUNT; t++) free(out->t[l][t]);
    *out = (struct mistaken){0};
}
