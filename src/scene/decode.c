/* What decode mode says at a stage: what the new token computes, and what it reads again. */
#include "motion.h"

const char *scene_decode_refusal(const struct step_state *s)
{
    if (!s->decode || step_is_decoding(s)) return NULL;
    if (!s->opts.causal)
        return "Decode mode waits: with the mask off every row needs keys and values of "
               "tokens that are yet to come, so nothing can be cached (X: all correct).";
    return "Decode mode waits: with the mask one off every row needs the key and value "
           "of a token that is yet to come, so nothing can be decoded (X: all correct).";
}

static const char *prefill_caption(struct scene *sc, const struct step_state *s, int n)
{
    if (s->stage == ATTN_PROJECTIONS)
        return scene_print(sc,
                           "Prefill: the prompt\u2019s %d token%s go%s through the block "
                           "at once, as in any pass. The rows of K and V stay in memory: "
                           "they are the cache. Q\u2019s are done with after this pass.",
                           n, n == 1 ? "" : "s", n == 1 ? "es" : "");
    if (s->stage == ATTN_SCORES)
        return scene_print(
            sc,
            "Prefill: %d quer%s meet%s %d key%s in one multiply. Later "
            "tokens come one by one; each brings one query, and asks these "
            "keys again.",
            n, n == 1 ? "y" : "ies", n == 1 ? "s" : "", n, n == 1 ? "" : "s");
    return NULL;
}

/* One token, after `before` others. */
static const char *token_caption(struct scene *sc, const struct step_state *s,
                                 const char *who, int before)
{
    int n = before + 1;
    const char *rows = before == 1 ? "row" : "rows";
    switch (s->stage) {
    case ATTN_PROJECTIONS:
        return scene_print(
            sc,
            "%s goes through W_Q, W_K and W_V alone: one row of X gives one "
            "query, one key, one value. Key and value join the cache; the "
            "%d grey %s %s computed before and %s not computed again.",
            who, before, rows, before == 1 ? "was" : "were", before == 1 ? "is" : "are");
    case ATTN_SCORES:
        return scene_print(
            sc,
            "One query meets %d keys: %d read from the cache, and its own. "
            "Only this row of S is computed. No later token asks for the "
            "rows above it, so they are not kept.",
            n, before);
    case ATTN_SCALE:
        return scene_print(sc,
                           "One row of %d scores is divided. Without the cache, all %d "
                           "rows would be computed and divided again for this token.",
                           n, n);
    case ATTN_MASK:
        return "There is nothing to mask: the newest token may see every token that is "
               "there, and those that it must not see are yet to come. Decoding needs no "
               "mask; it is the mask that makes decoding possible.";
    case ATTN_SOFTMAX:
        return scene_print(
            sc,
            "One row becomes a distribution over the %d tokens that are "
            "there. It is row %d of the pass over all tokens at once, where "
            "the mask hides what is yet to come.",
            n, n);
    case ATTN_WEIGHTED_SUM:
        return scene_print(
            sc,
            "One row of A blends %d rows of V: %d read from the cache, and "
            "the new one. A grey value has not changed since its token came: "
            "no later token can change it.",
            n, before);
    case ATTN_OUTPUT:
        return scene_print(
            sc,
            "%s has one row of O. It goes through W_O, and its h is added: one row of "
            "Y. Only this row goes on to the next block; the rows before it have been "
            "there.",
            who);
    case ATTN_STAGE_COUNT:
        break;
    }
    return NULL;
}

const char *decode_caption(struct scene *sc, const struct step_state *s,
                           const struct scene_source *src)
{
    struct step_pass pass = step_pass_of(s);
    const char *refusal = scene_decode_refusal(s);
    if (refusal || !s->decode) return refusal;
    if (pass.to == step_place_of(s)->prefill) return prefill_caption(sc, s, pass.to);
    bool named = *scene_token_text(sc, src, pass.from);
    const char *who =
        named ? scene_print(sc, "Token %d, %s,", pass.to, words_token(sc, src, pass.from))
              : scene_print(sc, "Token %d", pass.to);
    return token_caption(sc, s, who, pass.from);
}

const char *decode_cost(struct scene *sc, const struct step_state *s)
{
    struct step_pass pass = step_pass_of(s);
    struct attn_dims d = step_place_of(s)->dims, before = d;
    d.n_tok = pass.to;
    before.n_tok = pass.from;
    uint64_t all = attn_cost_of(d, s->stage).flops_causal;
    uint64_t new = all - attn_cost_of(before, s->stage).flops_causal;
    if (pass.from == 0)
        return scene_print(sc, "prefill of %d, %d heads: %s", pass.to, d.n_head,
                           words_amount(sc, new, "FLOPs"));
    return scene_print(sc, "token %d, %d heads: %s with the cache  %s without", pass.to,
                       d.n_head, words_amount(sc, new, "FLOPs"),
                       words_amount(sc, all, "FLOPs"));
}
