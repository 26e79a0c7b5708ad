/* The tokens of a text being edited. A text is its tokens' bytes one behind another, so
 * their lengths tell which of them the caret is in. */
#include "preview.h"

#include <string.h>

enum { BEFORE = 10 }; /* chips before the caret's */

/* A token's bytes as they stand in the text. */
static size_t length_of(const struct model_bpe *bpe, int32_t id)
{
    size_t len = 0;
    if (id == model_bpe_special(bpe)) return 1;
    return model_bpe_token(bpe, id, &len) ? len : 0;
}

static void set_chip(struct ui_editor_chip *c, const struct model_bpe *bpe, int32_t id)
{
    size_t len = 0;
    const char *text = model_bpe_token(bpe, id, &len);
    if (!text) len = 0;
    if (len >= sizeof c->text) len = sizeof c->text - 1;
    if (len > 0) memcpy(c->text, text, len);
    c->text[len] = '\0';
}

void preview_words(struct ui_editor *ed, const struct model_words *words)
{
    ed->first_chip = 0;
    ed->caret_chip = -1;
    for (ed->n_chip = 0; ed->n_chip < words->n; ed->n_chip++) {
        struct ui_editor_chip *c = &ed->chip[ed->n_chip];
        const char *word = words->text[ed->n_chip];
        size_t len = strlen(word);
        if (len >= sizeof c->text) len = sizeof c->text - 1;
        while (len > 0 && ((unsigned char)word[len] & 0xC0) == 0x80) len--;
        memcpy(c->text, word, len);
        c->text[len] = '\0';
        c->joins = false;
    }
}

void preview_tokens(struct ui_editor *ed, const struct loaded *l,
                    const struct loaded_ids *ids)
{
    const struct model_bpe *bpe = model_net_bpe(l->net);
    ed->n_chip = 0;
    if (!bpe) return;
    size_t all = 0;
    for (int i = 0; i < ids->n; i++) all += length_of(bpe, ids->at[i]);
    /* Where the front is cut, the ids are of the text's end. */
    size_t at = l->cut_front && (size_t)ed->n > all ? (size_t)ed->n - all : 0;
    int caret = 0;
    for (; caret < ids->n - 1; caret++) {
        at += length_of(bpe, ids->at[caret]);
        if (at >= (size_t)ed->at) break;
    }
    ed->caret_chip = caret;
    ed->first_chip = caret > BEFORE ? caret - BEFORE : 0;
    for (int i = ed->first_chip; i < ids->n && ed->n_chip < UI_EDITOR_CHIPS; i++) {
        struct ui_editor_chip *c = &ed->chip[ed->n_chip];
        set_chip(c, bpe, ids->at[i]);
        c->joins = ed->n_chip > 0 && scene_tokens_join(c[-1].text, c->text);
        ed->n_chip++;
    }
}
