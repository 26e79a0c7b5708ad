/* What is copied from the window. */
#include "clipboard.h"

#include <SDL.h>
#include <stdio.h>

static void answer(struct app *a, bool ok, const struct err *e, const char *copied)
{
    if (ok)
        (void)snprintf(a->message, sizeof a->message, "copied: %s", copied);
    else
        (void)snprintf(a->message, sizeof a->message, "not copied: %.480s", e->text);
}

static void copy_state(struct app *a)
{
    struct arena mem;
    struct err e = {0};
    const char *line = app_state(a, &mem, &e);
    bool ok = line && SDL_SetClipboardText(line) == 0;
    if (line && !ok)
        (void)err_set(&e, ERR_SYSTEM, "the clipboard refuses it: %s", SDL_GetError());
    answer(a, ok, &e, line);
    arena_free(&mem);
}

void app_copy(struct app *a, enum step_copy what)
{
    switch (what) {
    case STEP_COPY_STATE:
        copy_state(a);
        break;
    case STEP_COPY_COUNT:
        break;
    }
}
