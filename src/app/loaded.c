/* Which model is open, and its text as ids. */
#include "loaded.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char own_text[] =
    "The cat that sat by the window watched the birds, and the "
    "birds watched the cat that sat by the window.";

/* Cuts what the model does not read, at the end or at the front. */
static void keep(const struct loaded *l, const int32_t *all, size_t n,
                 struct loaded_ids *ids)
{
    size_t most = (size_t)l->limit;
    size_t from = n > most && l->cut_front ? n - most : 0;
    ids->all = n;
    ids->n = (int)(n < most ? n : most);
    memcpy(ids->at, all + from, (size_t)ids->n * sizeof *ids->at);
}

/* ---- ids in digits ------------------------------------------------------------------------ */

static bool ids_typed(const struct loaded *l, const char *text, size_t len, int32_t *all,
                      size_t *n, struct err *e)
{
    int most = model_net_info(l->net)->n_vocab - 1;
    for (size_t i = 0; i < len;) {
        if (strchr(" ,\t\n\r", text[i]) && text[i]) {
            i++;
            continue;
        }
        int64_t id = 0;
        size_t from = i;
        for (; i < len && text[i] >= '0' && text[i] <= '9'; i++)
            if (id <= INT_MAX) id = id * 10 + (text[i] - '0');
        if (i == from)
            return err_set(e, ERR_INPUT,
                           "no tokenizer lies beside the model: type ids from 0 to %d, "
                           "with spaces between",
                           most);
        if (id > most)
            return err_set(e, ERR_INPUT, "id %.*s: the model's ids are 0 to %d",
                           (int)(i - from < 20 ? i - from : 20), text + from, most);
        all[(*n)++] = (int32_t)id;
    }
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool tokens_of(const struct loaded *l, const char *text, size_t len, int32_t *all,
                      size_t *n, struct err *e)
{
    const struct model_bpe *bpe = model_net_bpe(l->net);
    for (size_t i = 0; i < len;) {
        const char *special = memchr(text + i, LOADED_SPECIAL, len - i);
        size_t part = special ? (size_t)(special - text) - i : len - i;
        size_t got = 0;
        if (part > 0 &&
            !model_bpe_encode(bpe, all + *n, len - *n, &got, text + i, part, e))
            return false;
        *n += got;
        i += part;
        if (!special) continue;
        if (model_bpe_special(bpe) < 0)
            return err_set(e, ERR_INPUT, "this model has no token <|endoftext|>");
        all[(*n)++] = model_bpe_special(bpe);
        i++;
    }
    return true;
}

bool loaded_encode(const struct loaded *l, const char *text, size_t len,
                   struct loaded_ids *ids, struct err *e)
{
    /* A token takes at least one byte. */
    struct arena mem = {0};
    size_t n = 0;
    if (!arena_init(&mem, (len + 1) * sizeof(int32_t) + 64, e)) return false;
    int32_t *all = arena_push(&mem, len + 1, sizeof *all);
    bool ok = all && (model_net_bpe(l->net) ? tokens_of(l, text, len, all, &n, e)
                                            : ids_typed(l, text, len, all, &n, e));
    if (ok && n == 0)
        ok = err_set(e, ERR_INPUT, "the text is empty: the model needs a token to read");
    if (ok) keep(l, all, n, ids);
    arena_free(&mem);
    return ok;
}

/* ---- what is loaded --------------------------------------------------------------------------- */

/* "124.4 M", "48.6 k" */
static void print_amount(char *out, size_t room, double n, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    int k = 0;
    while (n >= 999.95 && k < 4) {
        n /= 1000;
        k++;
    }
    (void)snprintf(out, room, k ? "%.1f %s%s" : "%.0f %s%s", n, prefix[k], unit);
}

static void set_label(struct loaded *l)
{
    const struct model_info *info = model_net_info(l->net);
    char count[32];
    char size[32];
    print_amount(count, sizeof count, (double)info->n_param, "");
    print_amount(size, sizeof size, (double)info->bytes, "B");
    (void)snprintf(l->label, sizeof l->label,
                   "%s \u00b7 %s \u00b7 %s parameters \u00b7 %s", info->name, info->dtype,
                   count, size);
}

/* What is not shown of a text that was longer: by bytes, of which `len` were read of `all`,
 * and by tokens. */
static void say_cut(const struct loaded *l, size_t len, size_t all, char *note,
                    size_t room)
{
    const struct model_info *info = model_net_info(l->net);
    const char *end = l->cut_front ? "last" : "first";
    size_t n = 0;
    note[0] = '\0';
    if (len < all) {
        int k = snprintf(note, room, "of %zu bytes the %s %zu are read; ", all, end, len);
        n = k > 0 && (size_t)k < room ? (size_t)k : 0;
    }
    if (l->ids.all <= (size_t)l->ids.n) {
        if (n > 2) note[n - 2] = '\0';
        return;
    }
    (void)snprintf(note + n, room - n, "%zu tokens; the %s %d are shown, as many as %s",
                   l->ids.all, end, l->ids.n,
                   l->limit < info->n_ctx ? "Headlight draws" : "the model reads");
}

static void remember(struct loaded *l, const char *text, size_t len)
{
    memmove(l->typed, text, len);
    l->n_typed = len;
    l->text++;
}

/* Whether a text may be cut before byte i: between characters; between ids, where the text
 * is ids, since half an id is another one. */
static bool may_cut(const struct loaded *l, const char *text, size_t i)
{
    /* The analyzer takes a text of first_text, of 64 bytes, for one that is cut.
     * NOLINTBEGIN(clang-analyzer-core.CallAndMessage,clang-analyzer-core.UndefinedBinaryOperatorResult) */
    if (!model_net_bpe(l->net)) return strchr(" ,\t\n\r", text[i]) != NULL;
    bool begins = ((unsigned char)text[i] & 0xC0) != 0x80;
    /* NOLINTEND(clang-analyzer-core.CallAndMessage,clang-analyzer-core.UndefinedBinaryOperatorResult) */
    return begins;
}

/* Cuts a text to what is taken of it, at the end or at the front. */
static void fit(const struct loaded *l, const char **text, size_t *len)
{
    const size_t most = sizeof l->typed;
    if (*len <= most) return;
    size_t at = l->cut_front ? *len - most : most;
    if (l->cut_front) {
        while (at < *len && !may_cut(l, *text, at)) at++;
        *text += at;
        *len -= at;
        return;
    }
    while (at > 0 && !may_cut(l, *text, at)) at--;
    *len = at;
}

bool loaded_set_text(struct loaded *l, const char *text, size_t len, char *note,
                     size_t room, struct err *e)
{
    struct loaded_ids ids;
    size_t all = len;
    fit(l, &text, &len);
    if (!loaded_encode(l, text, len, &ids, e)) return false;
    l->ids = ids;
    remember(l, text, len);
    say_cut(l, len, all, note, room);
    return true;
}

/* A text to begin with: our own sentence, or what the vocabulary allows. */
static bool first_text(struct loaded *l, char *note, size_t room, struct err *e)
{
    const struct model_info *info = model_net_info(l->net);
    const struct model_bpe *bpe = model_net_bpe(l->net);
    char text[64] = "";
    size_t n = 0;
    if (bpe && loaded_set_text(l, own_text, strlen(own_text), note, room, NULL))
        return true;
    if (bpe) { /* a few tokens that are text */
        for (int32_t id = 0; id < model_bpe_size(bpe) && n + 16 < sizeof text; id++) {
            size_t len = 0;
            const char *token = model_bpe_token(bpe, id, &len);
            if (len == 0 || len > 8 || (unsigned char)token[0] >= 0x80) continue;
            memcpy(text + n, token, len);
            n += len;
        }
        if (!loaded_set_text(l, text, n, note, room, e)) return false;
        (void)snprintf(note, room,
                       "%s: no tokens for an English sentence; some of its own are "
                       "shown",
                       info->name);
        return true;
    }
    for (int id = 0; id < 8 && id < info->n_vocab; id++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", id ? " " : "", id);
    if (!loaded_set_text(l, text, n, note, room, e)) return false;
    (void)snprintf(note, room,
                   "%s: no tokenizer lies beside it, so the text is ids, typed "
                   "as numbers from 0 to %d",
                   info->name, info->n_vocab - 1);
    return true;
}

bool loaded_set_net(struct loaded *l, struct model_net *net, const char *text, char *note,
                    size_t room, struct err *e)
{
    const struct loaded was = *l;
    const struct model_info *info = model_net_info(net);
    l->net = net;
    l->model++;
    l->limit = info->n_ctx < STEP_MODEL_TOKENS ? info->n_ctx : STEP_MODEL_TOKENS;
    set_label(l);
    note[0] = '\0';
    bool ok = true;
    if (text && strchr(text, LOADED_SPECIAL))
        ok = err_set(e, ERR_INPUT, "the text is not UTF-8");
    else if (text)
        ok = loaded_set_text(l, text, strlen(text), note, room, e);
    else
        ok = first_text(l, note, room, e);
    if (!ok) *l = was;
    return ok;
}
