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
    const char *function;
    unsigned stages;
    const char *name;
    bool gives;
    enum kind kind;
    enum attn_tensor of;
} names[] = {
    /* clang-format off */
    {"attention", ALL, "h", false, ROW, ATTN_H},
    {"attention", ALL, "x", false, ROW, ATTN_X},
    {"attention", ALL, "q", false, ROW, ATTN_Q},
    {"attention", ALL, "k", false, ROW, ATTN_K},
    {"attention", ALL, "v", false, ROW, ATTN_V},
    {"attention", ALL, "w_qkv", false, WEIGHTS, ATTN_W_Q},
    {"attention", S2, "s", true, RESULT, ATTN_S_RAW},
    {"attention", S3, "s", true, RESULT, ATTN_S_SCALED},
    {"attention", S3, "s", false, RESULT, ATTN_S_RAW},
    {"attention", S4, "s", true, RESULT, ATTN_S_MASKED},
    {"attention", S4, "s", false, RESULT, ATTN_S_SCALED},
    {"attention", S5, "s", false, RESULT, ATTN_S_MASKED},
    {"attention", S5, "a", true, RESULT, ATTN_P},
    {"attention", S6, "a", false, ROW, ATTN_P},
    {"attention", ALL, "o", false, RESULT, ATTN_Z},
    {"attention", ALL, "z", false, ROW, ATTN_Z_ALL},
    {"attention", ALL, "y", false, RESULT, ATTN_Y},
    {"attention", ALL, "w_o", false, COLUMN, ATTN_W_O},
    {"attention", ALL, "n", false, N_TOK, ATTN_TENSOR_COUNT},
    {"attention", ALL, "d", false, WIDTH, ATTN_TENSOR_COUNT},
    {"attention", ALL, "n_head", false, HEADS, ATTN_TENSOR_COUNT},

    {"attn_project", S1, "qkv", false, RESULT, ATTN_Q},
    {"attn_project", S1, "x", false, ROW, ATTN_X},
    {"attn_project", S1, "w_qkv", false, WEIGHTS, ATTN_W_Q},
    {"attn_scores", S2, "s", false, RESULT, ATTN_S_RAW},
    {"attn_scores", S2, "q", false, ROW, ATTN_Q},
    {"attn_scores", S2, "k", false, OF_TRANSPOSED, ATTN_K},
    {"attn_divide_floats", S3, "out", false, RESULT, ATTN_S_SCALED},
    {"attn_divide_floats", S3, "in", false, RESULT, ATTN_S_RAW},
    {"attn_divide_floats", S3, "n", false, N_TOK, ATTN_TENSOR_COUNT},
    {"attn_divide_floats", S3, "divisor", false, DIVISOR, ATTN_TENSOR_COUNT},
    {"mask_row", S4, "out", false, RESULT, ATTN_S_MASKED},
    {"mask_row", S4, "in", false, RESULT, ATTN_S_SCALED},
    {"mask_row", S4, "seen", false, SEEN, ATTN_TENSOR_COUNT},
    {"mask_row", S4, "i", false, ROW_AT, ATTN_TENSOR_COUNT},
    {"attn_soften", S5, "p", false, RESULT, ATTN_P},
    {"attn_soften", S5, "s", false, RESULT, ATTN_S_MASKED},
    {"attn_soften", S5, "n", false, N_TOK, ATTN_TENSOR_COUNT},
    {"attn_soften", S5, "max", false, MAX, ATTN_TENSOR_COUNT},
    {"attn_soften", S5, "sum", false, SUM, ATTN_TENSOR_COUNT},
    {"ref_row_max", S5, "s", false, RESULT, ATTN_S_MASKED},
    {"ref_row_max", S5, "max", false, MAX, ATTN_TENSOR_COUNT},
    {"ref_row_max", S5, "n", false, N_TOK, ATTN_TENSOR_COUNT},
    {"ref_row_exp", S5, "e", false, EXPS, ATTN_TENSOR_COUNT},
    {"ref_row_exp", S5, "s", false, RESULT, ATTN_S_MASKED},
    {"ref_row_exp", S5, "max", false, MAX, ATTN_TENSOR_COUNT},
    {"ref_row_exp", S5, "sum", false, SUM, ATTN_TENSOR_COUNT},
    {"ref_row_exp", S5, "n", false, N_TOK, ATTN_TENSOR_COUNT},
    {"ref_row_div", S5, "p", false, RESULT, ATTN_P},
    {"ref_row_div", S5, "e", false, EXPS, ATTN_TENSOR_COUNT},
    {"ref_row_div", S5, "sum", false, SUM, ATTN_TENSOR_COUNT},
    {"ref_row_div", S5, "n", false, N_TOK, ATTN_TENSOR_COUNT},
    {"attn_weighted_sum", S6, "z", false, RESULT, ATTN_Z},
    {"attn_weighted_sum", S6, "p", false, ROW, ATTN_P},
    {"attn_weighted_sum", S6, "v", false, COLUMN, ATTN_V},
    {"attn_output", S7, "y", false, RESULT, ATTN_Y},
    {"attn_output", S7, "z", false, ROW, ATTN_Z_ALL},
    {"attn_output", S7, "w_o", false, COLUMN, ATTN_W_O},
    {"attn_output", S7, "h", false, ROW, ATTN_H},

    {"ref_gemm", S1, "a", false, ROW, ATTN_X},
    {"ref_gemm", S2, "a", false, ROW, ATTN_Q},
    {"ref_gemm", S6, "a", false, ROW, ATTN_P},
    {"ref_gemm", S7, "a", false, ROW, ATTN_Z_ALL},
    {"ref_gemm", S1, "g->b", false, COLUMN, ATTN_W_Q},
    {"ref_gemm", S2, "g->b", false, OF_TRANSPOSED, ATTN_K},
    {"ref_gemm", S6, "g->b", false, COLUMN, ATTN_V},
    {"ref_gemm", S7, "g->b", false, COLUMN, ATTN_W_O},
    {"ref_gemm", S1, "c", false, RESULT, ATTN_Q},
    {"ref_gemm", S2, "c", false, RESULT, ATTN_S_RAW},
    {"ref_gemm", S6, "c", false, RESULT, ATTN_Z},
    {"ref_gemm", S7, "c", false, RESULT, ATTN_Y},
    {"ref_gemm", S1, "sum", false, CELL, ATTN_Q},
    {"ref_gemm", S2, "sum", false, CELL, ATTN_S_RAW},
    {"ref_gemm", S6, "sum", false, CELL, ATTN_Z},
    {"ref_gemm", S7, "sum", false, CELL, ATTN_Y_PROJ},
    {"ref_gemm", S7, "g->res", false, ROW, ATTN_H},
    {"ref_gemm", ALL, "k", false, TERMS, ATTN_TENSOR_COUNT},
    {"ref_gemm", ALL, "r", false, ROW_AT, ATTN_TENSOR_COUNT},
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
