/* A comparison as a table for the terminal. Blocks, heads, rows and columns count from 1. */
#include "compare_text.h"

#include "scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sheet_print(struct sheet *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->at + s->n, s->room - s->n, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < s->room - s->n)
        s->n += (size_t)n;
    else
        s->at[s->n] = '\0';
}

enum attn_stage compare_stage(enum model_tensor t)
{
    if (t <= MODEL_T_V) return ATTN_PROJECTIONS;
    if (t <= MODEL_T_WEIGHTS)
        return (enum attn_stage)(ATTN_SCORES + (t - MODEL_T_SCORES));
    if (t == MODEL_T_Z) return ATTN_WEIGHTED_SUM;
    return t <= MODEL_T_Y ? ATTN_OUTPUT : ATTN_STAGE_COUNT;
}

static const char *stage_name(enum model_tensor t, char out[40])
{
    enum attn_stage s = compare_stage(t);
    if (s < ATTN_STAGE_COUNT)
        (void)snprintf(out, 40, "%d %s", (int)s + 1, scene_stage_text_of(s).title);
    else
        (void)snprintf(out, 40, "%s", t >= MODEL_T_W_QKV ? "parameter" : "MLP");
    return out;
}

void sheet_block(struct sheet *s, const struct compare_block *b)
{
    sheet_print(s, "\nblock %d\n  %-19s %-8s %9s %10s %10s %10s %12s  %s\n", b->l + 1,
                "stage", "matrix", "cells", "max error", "mean error", "relative",
                "cosine", "verdict");
    for (int t = 0; t < MODEL_T_COUNT; t++) {
        char stage[40];
        const struct model_diff *d = &b->diff[t];
        if (!b->there[t]) continue;
        sheet_print(s, "  %-19s %-8s %9jd %10.2e %10.2e %10.2e %12.9f  ",
                    stage_name((enum model_tensor)t, stage),
                    model_tensor_name((enum model_tensor)t), (intmax_t)d->n, d->max_abs,
                    d->mean_abs, d->relative, d->cosine);
        if (d->n_bad == 0)
            sheet_print(s, "agrees     %s\n", b->name[t]);
        else
            sheet_print(s, "DIFFERS    %s: %jd cells\n", b->name[t], (intmax_t)d->n_bad);
    }
}

void sheet_first(struct sheet *s, const struct compare_block *b, enum model_tensor t,
                 struct attn_dims d, int d_mlp)
{
    char stage[40];
    int64_t at = b->diff[t].first, n = d.n_tok, cols = d.d_model, row, col, head = -1;
    if (t >= MODEL_T_SCORES && t <= MODEL_T_WEIGHTS) {
        head = at / (n * n);
        cols = n;
    } else if (t == MODEL_T_MLP_FC || t == MODEL_T_MLP_ACT) {
        cols = d_mlp;
    } else if (t == MODEL_T_W_QKV || t == MODEL_T_B_QKV) {
        cols = 3L * d.d_model;
    }
    col = at % cols;
    row = (head >= 0 ? at % (n * n) : at) / cols;
    if (head < 0 && model_tensor_has_heads(t)) {
        head = col / attn_d_head(d);
        col %= attn_d_head(d);
    }
    sheet_print(s, "\nIt differs first in block %d, %s, %s", b->l + 1,
                stage_name(t, stage), model_tensor_name(t));
    if (head >= 0) sheet_print(s, ", head %jd", (intmax_t)head + 1);
    sheet_print(s, ", row %jd, column %jd: theirs %.9g, ours %.9g\n", (intmax_t)row + 1,
                (intmax_t)col + 1, (double)b->theirs[t], (double)b->ours[t]);
}

/* The number that theirs is ours times, by least squares. */
static double factor_of(const float *ours, const float *theirs, int64_t n)
{
    double dot = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(ours[i]) || !isfinite(theirs[i])) continue;
        dot += (double)ours[i] * (double)theirs[i];
        square += (double)ours[i] * (double)ours[i];
    }
    return square > 0 ? dot / square : 0;
}

/* Heads that differ, of those that are there. */
static void print_heads(struct sheet *s, const struct model_theirs *theirs,
                        const float *ours, enum model_tensor t, int64_t n)
{
    bool square = t >= MODEL_T_SCORES && t <= MODEL_T_WEIGHTS;
    int64_t rows = theirs->dims.n_tok;
    struct model_heads one = {.each = square ? rows * rows : attn_d_head(theirs->dims),
                              .n = theirs->dims.n_head};
    int there = 0, bad = 0, last = 0;
    for (one.only = 0; one.only < one.n; one.only++) {
        if (!theirs->has_head[t][one.only]) continue;
        there++;
        if (model_diff_of(ours, theirs->at[t], n, &one, theirs->tolerance[t]).n_bad == 0)
            continue;
        bad++;
        last = one.only;
    }
    if (bad == 1 && there > 1)
        sheet_print(s, "  head %d alone differs, of %d\n", last + 1, there);
    else if (there > 1)
        sheet_print(s, "  %d of %d heads differ\n", bad, there);
}

void sheet_evidence(struct sheet *s, const struct model_theirs *theirs, const float *ours,
                    enum model_tensor t)
{
    struct model_numbers sizes = {.dims = theirs->dims, .d_mlp = theirs->d_mlp};
    int64_t n = model_numbers_count(&sizes, t);
    struct model_diff d = model_theirs_diff(theirs, t, ours);
    sheet_print(
        s, "  %jd of %jd cells (%.3g%%) differ, by %.3g at most and %.3g on average\n",
        (intmax_t)d.n_bad, (intmax_t)d.n, 100.0 * (double)d.n_bad / (double)d.n,
        d.max_abs, d.mean_abs);
    if (d.n_odd)
        sheet_print(s, "  %jd cells are NaN or infinite in one of the two alone\n",
                    (intmax_t)d.n_odd);
    if (d.cosine > 0.99999)
        sheet_print(s, "  theirs is ours times %.6g\n",
                    factor_of(ours, theirs->at[t], n));
    else if (fabs(d.cosine) < 0.05)
        sheet_print(s, "  the two have nothing in common: their cosine is %.3f\n",
                    d.cosine);
    if (model_tensor_has_heads(t)) print_heads(s, theirs, ours, t, n);
}

void sheet_why(struct sheet *s, const struct model_diagnosis *why,
               enum model_tensor first)
{
    if (!why->name) {
        sheet_print(s,
                    "Diagnosis: unknown. None of the known mistakes gives these numbers; "
                    "whatever comes before %s agrees or is not in the dump.\n",
                    model_tensor_name(first));
        return;
    }
    sheet_print(s, "Diagnosis: %s (%s).\n", why->text, why->name);
    if (why->whole)
        sheet_print(s,
                    "With this mistake every matrix of that block is as in the dump.\n");
    else
        sheet_print(s,
                    "With this mistake %s is as in the dump; %s still differs: there is "
                    "another one.\n",
                    model_tensor_name(first), model_tensor_name(why->next));
}

void sheet_notes(struct sheet *s, const struct model_theirs *theirs)
{
    for (int i = 0; i < theirs->n_note; i++)
        sheet_print(s, "  note: %s\n", theirs->note[i]);
    if (theirs->n_note == MODEL_NOTES) sheet_print(s, "  note: and more like it\n");
}
