/* Names of matrices and cells. */
#include "names.h"

#include "edits.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const names_tensor[ATTN_TENSOR_COUNT] = {
    [ATTN_H] = "h",
    [ATTN_X] = "x",
    [ATTN_W_Q] = "w_q",
    [ATTN_W_K] = "w_k",
    [ATTN_W_V] = "w_v",
    [ATTN_Q] = "q",
    [ATTN_K] = "k",
    [ATTN_V] = "v",
    [ATTN_S_RAW] = "s_raw",
    [ATTN_S_SCALED] = "s_scaled",
    [ATTN_S_MASKED] = "s_masked",
    [ATTN_P] = "p",
    [ATTN_Z] = "z",
    [ATTN_Z_ALL] = "z_all",
    [ATTN_W_O] = "w_o",
    [ATTN_Y_PROJ] = "y_proj",
    [ATTN_Y] = "y",
};

bool names_find_tensor(const char *name, size_t n, enum attn_tensor *t)
{
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++) {
        if (strlen(names_tensor[i]) != n ||
            SDL_strncasecmp(names_tensor[i], name, n) != 0)
            continue;
        *t = (enum attn_tensor)i;
        return true;
    }
    static const struct {
        const char *name;
        enum attn_tensor tensor;
    } shown[] = {{"S", ATTN_S_RAW}, {"A", ATTN_P}, {"O", ATTN_Z}};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        if (n != 1 || SDL_strncasecmp(shown[i].name, name, n) != 0) continue;
        *t = shown[i].tensor;
        return true;
    }
    return false;
}

void names_print_cell(char *out, size_t room, struct step_ref r)
{
    if (r.tensor == ATTN_TENSOR_COUNT)
        (void)snprintf(out, room, "none");
    else
        (void)snprintf(out, room, "%s:%d:%d", names_tensor[r.tensor], r.row + 1,
                       r.col + 1);
}

/* ":12" at *text, which moves on. */
static bool part(const char **text, int *out)
{
    enum { DIGITS = 7 }; /* no matrix has more rows or columns */
    if (**text != ':') return false;
    size_t n = strspn(*text + 1, "0123456789");
    if (n == 0 || n > DIGITS) return false;
    *out = (int)strtol(*text + 1, NULL, 10);
    *text += 1 + n;
    return true;
}

bool names_parse_cell(const char *text, struct step_ref *r, struct err *e)
{
    size_t n = strcspn(text, ":");
    const char *at = text + n;
    struct step_ref cell = {0};
    if (!names_find_tensor(text, n, &cell.tensor))
        return err_set(
            e, ERR_INPUT,
            "there is no matrix %.*s; they are h, X, W_Q, W_K, W_V, Q, K, V, S, "
            "s_scaled, s_masked, A, O, z_all, W_O, y_proj and Y",
            n > 30 ? 30 : (int)n, text);
    if (!part(&at, &cell.row) || !part(&at, &cell.col) || *at != '\0')
        return err_set(e, ERR_INPUT,
                       "a cell is MATRIX:ROW:COLUMN, counted from 1, like %.*s:3:2",
                       (int)n, text);
    cell.row--;
    cell.col--;
    *r = cell;
    return true;
}

bool names_refusal(const struct step_state *s, struct step_action a, struct err *e)
{
    const struct step_place *p = step_place_of(s);
    const char *here = p->n_block ? "the model" : "this scale";
    const char *tokens = p->n_block ? "the text" : here;
    int heads = p->dims.n_head;
    const struct {
        const char *what, *where;
        enum step_verb verb;
        int n;
    } parts[] = {{"block", here, STEP_BLOCK, p->n_block},
                 {"head", here, STEP_HEAD, heads},
                 {"head", here, STEP_SECOND, heads},
                 {"head", here, STEP_SILENCE, heads},
                 {"head", here, STEP_OVER_AT, heads * (p->n_block ? p->n_block : 1)},
                 {"row", tokens, STEP_ROW, p->dims.n_tok},
                 {"row", tokens, STEP_ROW_ALSO, p->dims.n_tok},
                 {"row", tokens, STEP_ROWS_AND, p->dims.n_tok}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].verb == a.verb)
            return err_set(e, ERR_INPUT, "there is no %s %d: %s has %d", parts[i].what,
                           a.i + 1, parts[i].where, parts[i].n);
    if (a.verb == STEP_GIVE) return edits_refusal(s, a, e);
    if (a.verb == STEP_DECODE)
        return err_set(e, ERR_INPUT, "there is no prefill of %d: %s has %d tokens", a.i,
                       tokens, p->dims.n_tok);
    bool cell_there = a.ref.row >= 0 && a.ref.row < p->dims.n_tok;
    if ((a.verb == STEP_PIN || a.verb == STEP_HOVER) && cell_there &&
        step_is_decoding(s) && !step_pass_has(s, a.ref)) {
        char gone[64];
        names_print_cell(gone, sizeof gone, a.ref);
        return err_set(e, ERR_INPUT,
                       "cell %s is not there: --decode computes row %d, and of the rows "
                       "before it K and V are kept alone",
                       gone, p->row + 1);
    }
    if (a.verb != STEP_PIN && a.verb != STEP_HOVER)
        return err_set(e, ERR_INPUT, "this cannot be done with the model");
    char cell[64];
    names_print_cell(cell, sizeof cell, a.ref);
    return err_set(e, ERR_INPUT,
                   "there is no cell %s: a cell is MATRIX:ROW:COLUMN, counted from 1 and "
                   "inside it, like s_raw:1:1",
                   cell);
}
