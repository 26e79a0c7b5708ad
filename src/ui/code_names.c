/* The names in the code drawer's lines: what each stands for in its function and stage, and
 * its value for the row and the column in view. */
#include "code.h"
#include "panel.h"

#include <math.h>
#include <string.h>

enum { FIRST = 6 /* numbers of a vector that are told */ };

/* What a name stands for. Of tensors: a row, a row of the result with the cell in view, a
 * column, a column of the transposed, a cell. */
enum kind {
    ROW,
    RESULT,
    COLUMN,
    OF_TRANSPOSED,
    CELL,
    WEIGHTS, /* of Q, K and V side by side */
    EXPS,
    MAX,
    SUM,
    SEEN,
    DIVISOR,
    TERMS,
    N_TOK,
    WIDTH,
    HEADS,
    ROW_AT
};

/* Of a function in the listings of the stages named by bits. gives: where it is assigned. */
enum { S1 = 1, S2 = 2, S3 = 4, S4 = 8, S5 = 16, S6 = 32, S7 = 64, ALL = 127 };
static const struct {
    const char *function, *name;
    unsigned stages;
    enum kind kind;
    enum attn_tensor of;
    bool gives;
} names[] = {
    /* clang-format off */
    {"attention", "h", ALL, ROW, ATTN_H, false},
    {"attention", "x", ALL, ROW, ATTN_X, false},
    {"attention", "q", ALL, ROW, ATTN_Q, false},
    {"attention", "k", ALL, ROW, ATTN_K, false},
    {"attention", "v", ALL, ROW, ATTN_V, false},
    {"attention", "w_qkv", ALL, WEIGHTS, ATTN_W_Q, false},
    {"attention", "s", S2, RESULT, ATTN_S_RAW, true},
    {"attention", "s", S3, RESULT, ATTN_S_SCALED, true},
    {"attention", "s", S3, RESULT, ATTN_S_RAW, false},
    {"attention", "s", S4, RESULT, ATTN_S_MASKED, true},
    {"attention", "s", S4, RESULT, ATTN_S_SCALED, false},
    {"attention", "s", S5, RESULT, ATTN_S_MASKED, false},
    {"attention", "a", S5, RESULT, ATTN_P, true},
    {"attention", "a", S6, ROW, ATTN_P, false},
    {"attention", "o", ALL, RESULT, ATTN_Z, false},
    {"attention", "z", ALL, ROW, ATTN_Z_ALL, false},
    {"attention", "y", ALL, RESULT, ATTN_Y, false},
    {"attention", "w_o", ALL, COLUMN, ATTN_W_O, false},
    {"attention", "n", ALL, N_TOK, ATTN_TENSOR_COUNT, false},
    {"attention", "d", ALL, WIDTH, ATTN_TENSOR_COUNT, false},
    {"attention", "n_head", ALL, HEADS, ATTN_TENSOR_COUNT, false},

    {"attn_project", "qkv", S1, RESULT, ATTN_Q, false},
    {"attn_project", "x", S1, ROW, ATTN_X, false},
    {"attn_project", "w_qkv", S1, WEIGHTS, ATTN_W_Q, false},
    {"attn_scores", "s", S2, RESULT, ATTN_S_RAW, false},
    {"attn_scores", "q", S2, ROW, ATTN_Q, false},
    {"attn_scores", "k", S2, OF_TRANSPOSED, ATTN_K, false},
    {"attn_divide_floats", "out", S3, RESULT, ATTN_S_SCALED, false},
    {"attn_divide_floats", "in", S3, RESULT, ATTN_S_RAW, false},
    {"attn_divide_floats", "n", S3, N_TOK, ATTN_TENSOR_COUNT, false},
    {"attn_divide_floats", "divisor", S3, DIVISOR, ATTN_TENSOR_COUNT, false},
    {"mask_row", "out", S4, RESULT, ATTN_S_MASKED, false},
    {"mask_row", "in", S4, RESULT, ATTN_S_SCALED, false},
    {"mask_row", "seen", S4, SEEN, ATTN_TENSOR_COUNT, false},
    {"mask_row", "i", S4, ROW_AT, ATTN_TENSOR_COUNT, false},
    {"attn_soften", "p", S5, RESULT, ATTN_P, false},
    {"attn_soften", "s", S5, RESULT, ATTN_S_MASKED, false},
    {"attn_soften", "n", S5, N_TOK, ATTN_TENSOR_COUNT, false},
    {"attn_soften", "max", S5, MAX, ATTN_TENSOR_COUNT, false},
    {"attn_soften", "sum", S5, SUM, ATTN_TENSOR_COUNT, false},
    {"ref_row_max", "s", S5, RESULT, ATTN_S_MASKED, false},
    {"ref_row_max", "max", S5, MAX, ATTN_TENSOR_COUNT, false},
    {"ref_row_max", "n", S5, N_TOK, ATTN_TENSOR_COUNT, false},
    {"ref_row_exp", "e", S5, EXPS, ATTN_TENSOR_COUNT, false},
    {"ref_row_exp", "s", S5, RESULT, ATTN_S_MASKED, false},
    {"ref_row_exp", "max", S5, MAX, ATTN_TENSOR_COUNT, false},
    {"ref_row_exp", "sum", S5, SUM, ATTN_TENSOR_COUNT, false},
    {"ref_row_exp", "n", S5, N_TOK, ATTN_TENSOR_COUNT, false},
    {"ref_row_div", "p", S5, RESULT, ATTN_P, false},
    {"ref_row_div", "e", S5, EXPS, ATTN_TENSOR_COUNT, false},
    {"ref_row_div", "sum", S5, SUM, ATTN_TENSOR_COUNT, false},
    {"ref_row_div", "n", S5, N_TOK, ATTN_TENSOR_COUNT, false},
    {"attn_weighted_sum", "z", S6, RESULT, ATTN_Z, false},
    {"attn_weighted_sum", "p", S6, ROW, ATTN_P, false},
    {"attn_weighted_sum", "v", S6, COLUMN, ATTN_V, false},
    {"attn_output", "y", S7, RESULT, ATTN_Y, false},
    {"attn_output", "z", S7, ROW, ATTN_Z_ALL, false},
    {"attn_output", "w_o", S7, COLUMN, ATTN_W_O, false},
    {"attn_output", "h", S7, ROW, ATTN_H, false},

    {"ref_gemm", "a", S1, ROW, ATTN_X, false},
    {"ref_gemm", "a", S2, ROW, ATTN_Q, false},
    {"ref_gemm", "a", S6, ROW, ATTN_P, false},
    {"ref_gemm", "a", S7, ROW, ATTN_Z_ALL, false},
    {"ref_gemm", "g->b", S1, COLUMN, ATTN_W_Q, false},
    {"ref_gemm", "g->b", S2, OF_TRANSPOSED, ATTN_K, false},
    {"ref_gemm", "g->b", S6, COLUMN, ATTN_V, false},
    {"ref_gemm", "g->b", S7, COLUMN, ATTN_W_O, false},
    {"ref_gemm", "c", S1, RESULT, ATTN_Q, false},
    {"ref_gemm", "c", S2, RESULT, ATTN_S_RAW, false},
    {"ref_gemm", "c", S6, RESULT, ATTN_Z, false},
    {"ref_gemm", "c", S7, RESULT, ATTN_Y, false},
    {"ref_gemm", "sum", S1, CELL, ATTN_Q, false},
    {"ref_gemm", "sum", S2, CELL, ATTN_S_RAW, false},
    {"ref_gemm", "sum", S6, CELL, ATTN_Z, false},
    {"ref_gemm", "sum", S7, CELL, ATTN_Y_PROJ, false},
    {"ref_gemm", "g->res", S7, ROW, ATTN_H, false},
    {"ref_gemm", "k", ALL, TERMS, ATTN_TENSOR_COUNT, false},
    {"ref_gemm", "r", ALL, ROW_AT, ATTN_TENSOR_COUNT, false},
    /* clang-format on */
};
enum { NAMES = sizeof names / sizeof *names };

/* ---- finding them ---------------------------------------------------------------------------- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static int word_at(const struct ui_code_line *l, int i)
{
    int n = 0;
    while (i + n < l->len && is_name(l->text[i + n])) n++;
    return n;
}

/* "g->b", from i on; 0: no member is named there. */
static int member_at(const struct ui_code_line *l, int i)
{
    int n = word_at(l, i);
    if (n == 0 || i + n + 2 >= l->len || strncmp(l->text + i + n, "->", 2) != 0) return 0;
    int more = word_at(l, i + n + 2);
    return more ? n + 2 + more : 0;
}

static int find(const struct ui_code_line *l, int i, int n)
{
    bool gives = i + n + 3 <= l->len && strncmp(l->text + i + n, " = ", 3) == 0;
    for (int k = 0; k < NAMES; k++)
        if ((int)strlen(names[k].name) == n && names[k].stages & 1u << l->stage &&
            (gives || !names[k].gives) &&
            strncmp(names[k].name, l->text + i, (size_t)n) == 0 &&
            (int)strlen(names[k].function) == l->function_len &&
            strncmp(names[k].function, l->function, (size_t)l->function_len) == 0)
            return k;
    return -1;
}

int ui_code_name(const struct ui_code_line *l, int from, int *at, int *n)
{
    for (int i = from; i < l->len;) {
        int word = word_at(l, i), member = member_at(l, i);
        bool behind = i > 0 && (l->text[i - 1] == '.' || l->text[i - 1] == '>');
        int k = -1;
        *at = i;
        *n = member;
        if (member > 0 && !behind) k = find(l, i, member);
        if (k < 0 && word > 0 && !behind) k = find(l, i, *n = word);
        if (k >= 0) return k;
        i += word > 0 ? word : 1;
    }
    return -1;
}

/* ---- telling them ---------------------------------------------------------------------------- */

/* What is in view for a line: the row, and a cell of it where there is one. */
struct place {
    enum attn_tensor group; /* stage 1: Q, K or V */
    int row, col;           /* col: of the stage's result; -1: none */
};

static struct place place_of(const struct ui *u, const struct ui_code_line *l)
{
    const struct step_place *p = step_place_of(u->s);
    if (l->stage != u->s->stage) return (struct place){ATTN_Q, p->row, -1};
    struct panel_target at = panel_target_of(u->s, p->dims);
    int col = l->stage >= ATTN_WEIGHTED_SUM ? at.column : at.col;
    return (struct place){at.tensor, at.row, col};
}

static enum attn_tensor tensor_of(int k, struct place at)
{
    bool of_c = names[k].stages == S1;
    if (of_c && names[k].of == ATTN_Q) return at.group;
    if (!of_c || names[k].of != ATTN_W_Q || at.group == ATTN_Q) return names[k].of;
    return at.group == ATTN_K ? ATTN_W_K : ATTN_W_V;
}

static int within(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* "  -1.35  -1.23  ..." */
static const char *numbers(const struct ui *u, const char *text, const float *from, int n,
                           int step)
{
    for (int j = 0; j < n && j < FIRST; j++)
        text = scene_print(u->sc, "%s  %s", text,
                           scene_number(u->sc, from[(size_t)j * (size_t)step], 3));
    return n > FIRST ? scene_print(u->sc, "%s  \u2026", text) : text;
}

/* "q = Q [5×4], row 4:  −1.35  −1.23  1.96  −2.20" */
static const char *tensor_text(const struct ui *u, int k, struct place at)
{
    struct scene *sc = u->sc;
    enum attn_tensor t = tensor_of(k, at);
    struct attn_cmat m = scene_tensor_view(u->src, t);
    if (!m.data) return NULL;
    const char *name = names[k].name, *of = scene_tensor_name(t);
    enum kind kind = names[k].kind;
    int row = within(at.row, m.rows);
    const float *r = m.data + (size_t)row * (size_t)m.ld;
    if (kind == OF_TRANSPOSED) {
        int col = within(at.col >= 0 ? at.col : at.row, m.rows);
        return numbers(u,
                       scene_print(sc, "%s = %s\u1D40 [%d\u00D7%d], column %d:", name, of,
                                   m.cols, m.rows, col + 1),
                       m.data + (size_t)col * (size_t)m.ld, m.cols, 1);
    }
    int col = within(at.col, m.cols);
    if (kind == COLUMN)
        return numbers(u,
                       scene_print(sc, "%s = %s [%d\u00D7%d], column %d:", name, of,
                                   m.rows, m.cols, col + 1),
                       m.data + col, m.rows, m.ld);
    if (kind == CELL)
        return scene_print(sc, "%s = %s, row %d, column %d: %s", name, of, row + 1,
                           col + 1, scene_number(sc, r[col], 5));
    const char *text = numbers(u,
                               scene_print(sc, "%s = %s [%d\u00D7%d], row %d:", name, of,
                                           m.rows, m.cols, row + 1),
                               r, m.cols, 1);
    if (kind == ROW || at.col < 0) return text;
    return scene_print(sc, "%s   column %d: %s", text, col + 1,
                       scene_number(sc, r[col], 5));
}

/* What softmax does with the row. */
static const char *softmax_text(const struct ui *u, int k, struct place at)
{
    const struct attn_trace *t = u->src->trace;
    if (!t || !u->src->fits || !u->src->attn) return NULL;
    int n = t->dims.n_tok, row = within(at.row, n);
    float *e = arena_push(u->sc->mem, (size_t)n, sizeof *e);
    if (!e) return NULL;
    struct attn_row r = attn_trace_row(u->src->attn, t, row, e);
    if (names[k].kind == EXPS)
        return numbers(u,
                       scene_print(u->sc, "%s [%d], row %d:", names[k].name, n, row + 1),
                       e, n, 1);
    return scene_print(u->sc, "%s = %s in row %d", names[k].name,
                       scene_number(u->sc, names[k].kind == MAX ? r.max : r.sum, 5),
                       row + 1);
}

/* The terms of a dot product in the listing's stage. */
static int terms_of(struct attn_dims d, enum attn_stage stage, struct attn_opts o,
                    int row)
{
    if (stage == ATTN_SCORES) return attn_d_head(d);
    return stage == ATTN_WEIGHTED_SUM ? attn_seen(o, row, d.n_tok) : d.d_model;
}

const char *ui_code_name_text(const struct ui *u, const struct ui_code_line *l, int k)
{
    struct scene *sc = u->sc;
    struct attn_dims d = step_place_of(u->s)->dims;
    struct attn_opts o = ui_code_opts(u->s);
    struct place at = place_of(u, l);
    const char *name = names[k].name;
    int seen = attn_seen(o, at.row, d.n_tok);
    switch (names[k].kind) {
    case ROW:
    case RESULT:
    case COLUMN:
    case OF_TRANSPOSED:
    case CELL:
        return tensor_text(u, k, at);
    case EXPS:
    case MAX:
    case SUM:
        return softmax_text(u, k, at);
    case WEIGHTS:
        return scene_print(sc, "%s = W_Q, W_K, W_V of all heads [%d\u00D7%d]", name,
                           d.d_model, 3 * d.d_model);
    case SEEN:
        return scene_print(sc, "%s = %d in row %d", name, seen, at.row + 1);
    case DIVISOR:
        return scene_print(sc, "%s = %s", name,
                           scene_digits(sc, attn_divisor_of(o, d), 6));
    case TERMS:
        return scene_print(sc, "%s = %d terms", name, terms_of(d, l->stage, o, at.row));
    case N_TOK:
        return scene_print(sc, "%s = %d tokens", name, d.n_tok);
    case WIDTH:
        return scene_print(sc, "%s = d_model = %d", name, d.d_model);
    case HEADS:
        return scene_print(sc, "%s = %d heads", name, d.n_head);
    case ROW_AT:
        return scene_print(sc, "%s = %d: row %d", name, at.row, at.row + 1);
    }
    return NULL;
}

/* Each of them once, a line each. */
const char *ui_code_line_text(const struct ui *u, const struct ui_code_line *l)
{
    const char *text = "";
    bool told[NAMES] = {false};
    for (int k, i, n, from = 0; (k = ui_code_name(l, from, &i, &n)) >= 0; from = i + n) {
        const char *one = told[k] ? NULL : ui_code_name_text(u, l, k);
        told[k] = true;
        if (one) text = scene_print(u->sc, *text ? "%s\n%s" : "%s%s", text, one);
    }
    return text;
}
