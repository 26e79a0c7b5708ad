/* preview: the tokens of a text being edited, for the editor's chips. */
#ifndef HEADLIGHT_PREVIEW_H
#define HEADLIGHT_PREVIEW_H

#include "loaded.h"
#include "ui.h"

/* The words of the toy. */
void preview_words(struct ui_editor *ed, const struct model_words *words);
/* Those around the caret, of ids, which are what l makes of the editor's text. None without
 * a tokenizer. */
void preview_tokens(struct ui_editor *ed, const struct loaded *l,
                    const struct loaded_ids *ids);

#endif
