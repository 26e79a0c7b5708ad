/* Decode mode: the tokens of the prefill go through the block at once, later ones one at a
 * time, each with the keys and values that are cached from before.
 *
 *            prefill = 3                       the token of row 4 (from 0)
 *     row 0  Q K V   all three at once         - K V   cached
 *     row 1  Q K V                             - K V
 *     row 2  Q K V   <- row in view            - K V
 *     row 3  -                                 - K V
 *     row 4  -                                 Q K V   computed: the row in view
 */
#include "handlers.h"

bool step_is_decoding(const struct step_state *s)
{
    return s->decode && s->opts.causal && !s->opts.shifted;
}

struct step_pass step_pass_of(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    if (!step_is_decoding(s)) return (struct step_pass){0, p->dims.n_tok};
    if (p->row < p->prefill) return (struct step_pass){0, p->prefill};
    return (struct step_pass){p->row, p->row + 1};
}

bool step_pass_has(const struct step_state *s, struct step_ref r)
{
    struct step_pass pass = step_pass_of(s);
    bool kept = r.tensor == ATTN_K || r.tensor == ATTN_V;
    if (step_rows_are_tokens(r.tensor) &&
        (r.row >= pass.to || (r.row < pass.from && !kept)))
        return false;
    return !step_cols_are_tokens(r.tensor) || r.col < pass.to;
}

void step_pass_rows(struct step_pass pass, enum attn_tensor t, int *row0, int *row1,
                    int *cols)
{
    bool kept = t == ATTN_K || t == ATTN_V;
    if (step_rows_are_tokens(t)) {
        *row0 = kept ? 0 : pass.from;
        *row1 = pass.to;
    }
    if (step_cols_are_tokens(t)) *cols = pass.to;
}

void decode_hold(struct step_state *s)
{
    struct step_place *p = step_here(s);
    int n = p->dims.n_tok;
    if (p->prefill > n) p->prefill = n;
    /* Half of them: there is as much to see of either way. */
    if (s->decode && p->prefill == 0) p->prefill = (n + 1) / 2;
    if (!step_is_decoding(s)) return;
    int row = p->row < p->prefill - 1 ? p->prefill - 1 : p->row;
    if (row != p->row || step_row_count(p) > 1) rows_one(p, row);
    if (p->pin.tensor != ATTN_TENSOR_COUNT && !step_pass_has(s, p->pin))
        p->pin = step_no_ref();
    if (s->hover.tensor != ATTN_TENSOR_COUNT && !step_pass_has(s, s->hover))
        s->hover = step_no_ref();
}

struct step_action decode_meant(const struct step_state *s, struct step_action a)
{
    const struct step_place *p = step_place_of(s);
    if (!step_is_decoding(s)) return a;
    if (a.verb == STEP_ROWS_TO || a.verb == STEP_ROWS_AND || a.verb == STEP_ROW_ALSO)
        a.verb = STEP_ROW;
    if (a.verb == STEP_ROWS_BY || a.verb == STEP_ROW_WALK) a.verb = STEP_ROW_BY;
    if (a.verb == STEP_ROW && a.i >= 0 && a.i < p->prefill - 1) a.i = p->prefill - 1;
    if (a.verb == STEP_ROW_KEEP) a.verb = STEP_NONE;
    if (a.verb == STEP_ROW_BY && p->row + a.i < p->prefill - 1) a.verb = STEP_NONE;
    return a;
}

bool decode_by(struct step_state *s, int by)
{
    struct step_place *p = step_here(s);
    int to = p->row + by;
    if (!step_is_decoding(s) || to < p->prefill - 1 || to >= p->dims.n_tok) return false;
    rows_one(p, to);
    p->pin = s->hover = step_no_ref();
    return true;
}

bool do_decode(struct step_state *s, const struct step_action *a)
{
    struct step_place *p = step_here(s);
    if (a->i < -1 || a->i > p->dims.n_tok) return false;
    /* An open lab hides it. */
    s->decode = a->i > 0 || (a->i == 0 && (!s->decode || s->lab.open));
    if (a->i >= 0) s->lab.open = false;
    if (a->i > 0) p->prefill = a->i;
    return true;
}
