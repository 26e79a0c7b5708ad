/* Windows and input for the tests of ui. */
#include "ui_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void ui_show(struct ui_case *u, float w, float h)
{
    case_build(&u->c, w, h);
    u->n_scene = u->c.sc.n;
    ui_build(&u->c.sc, &u->c.state, &u->c.src, &u->pointer);
    if (u->c.sc.full) fail_msg("%s: the window has no room", case_where(&u->c).text);
}

struct ui_plain ui_plain(const char *text)
{
    static const char hair[] = "\u200A";
    struct ui_plain out = {{0}};
    size_t n = 0;
    while (*text && n + 1 < sizeof out.text) {
        if (strncmp(text, hair, sizeof hair - 1) == 0)
            text += sizeof hair - 1;
        else
            out.text[n++] = *text++;
    }
    return out;
}

const struct scene_item *ui_find_text(const struct ui_case *u, const char *text)
{
    for (int i = u->n_scene; i < u->c.sc.n; i++) {
        const struct scene_item *it = &u->c.sc.items[i];
        if (it->kind == SCENE_TEXT && strcmp(ui_plain(it->u.text.text).text, text) == 0)
            return it;
    }
    return NULL;
}

void ui_send(struct ui_case *u, struct ui_event ev)
{
    u->out.n = 0;
    ui_event(&u->pointer, &ev, &u->c.sc, &u->c.state, &u->out);
}

void ui_key(struct ui_case *u, const char *name)
{
    struct ui_event ev = {.kind = UI_KEY};
    if (!ui_key_parse(name, &ev.key, &ev.mods)) fail_msg("no key is named %s", name);
    ui_send(u, ev);
}

void ui_point(struct ui_case *u, enum ui_event_kind kind, float x, float y)
{
    ui_send(u, (struct ui_event){.kind = kind, .x = x, .y = y, .clicks = 1});
}

void ui_click(struct ui_case *u, float x, float y)
{
    ui_point(u, UI_DOWN, x, y);
    ui_point(u, UI_UP, x, y);
}

void ui_apply(struct ui_case *u)
{
    for (int i = 0; i < u->out.n; i++) (void)step_apply(&u->c.state, u->out.at[i]);
    u->out.n = 0;
}
