/* The key help: a card over everything, in columns, one line a key. */
#include "parts.h"

#include <math.h>
#include <string.h>

enum {
    CARD_W = 760,
    CARD_WIDE = 976,  /* with three columns */
    CARD_MARGIN = 24, /* to the window's edge, at least */
    CARD_PAD = 28,
    CARD_RADIUS = 12,
    TITLE_H = 44,
    COLUMNS = 3, /* at most */
    COLUMN_GAP = 36,
    GAP_TIGHT = 20,
    LINE_H = 27,
    LINE_TIGHT = 24, /* where the window is low */
    LINE_LEAST = 21, /* where there is no other way: keycaps touch almost */
    GROUP_MORE = 9,  /* a group's heading with the space above it, over a line */
    CAP_GAP = 4,
    CAPS_W = 128,  /* column of the keycaps */
    CAPS_GAP = 12, /* behind it, where it is only as wide as it must be */
    CLOSE = 28,
    SHADOW = 24
};
static const float scrim_alpha = 0.42f;
static const float shadow_alpha = 0.2f;
static const struct ui_type title_type = {FONT_UI_BOLD, 18};

static bool is_shown(const struct ui *u, enum ui_group g)
{
    bool kept = g == GROUP_STEPS || g == GROUP_PRESENT || g == GROUP_LOOK;
    if (u->s->presenter.on && !kept) return false;
    if (g == GROUP_PRESENT) return u->s->presenter.on;
    if (g == GROUP_COMPARE) return u->src->compare != NULL;
    return g != GROUP_MODEL || step_is_loaded(&u->s->place[STEP_GPT2]);
}

/* Whether the line is of the group; the full stop has another use in presenter mode. */
static bool is_of(const struct ui *u, const struct ui_key_line *l, enum ui_group g)
{
    bool other = l->group == GROUP_STEPS && l->caps[1] && strcmp(l->caps[1], ".") == 0;
    return l->group == g && !(u->s->presenter.on && other);
}

static float group_height(const struct ui *u, enum ui_group g, float line)
{
    int n = 0;
    if (!is_shown(u, g)) return 0;
    for (int i = 0; i < ui_key_line_count; i++) n += is_of(u, &ui_key_lines[i], g);
    return line + GROUP_MORE + (float)n * line;
}

/* Groups from .. to - 1 stand in one column. */
static float column_height(const struct ui *u, int from, int to, float line)
{
    float h = 0;
    for (int g = from; g < to; g++) h += group_height(u, (enum ui_group)g, line);
    return h;
}

/* Where columns begin: first[0] = 0, first[n] = GROUP_COUNT. Groups keep their order, and
 * the longest column is as short as it can be. Returns its height. */
static float split(const struct ui *u, float line, int n, int first[COLUMNS + 1])
{
    float best = INFINITY;
    for (int a = 1; a < GROUP_COUNT; a++)
        for (int b = n > 2 ? a + 1 : GROUP_COUNT; b <= GROUP_COUNT; b++) {
            float h = fmaxf(column_height(u, 0, a, line), column_height(u, a, b, line));
            h = fmaxf(h, column_height(u, b, GROUP_COUNT, line));
            if (h >= best) continue;
            best = h;
            first[1] = a;
            first[2] = b;
        }
    first[0] = 0;
    first[n] = GROUP_COUNT;
    return best;
}

/* What the keycaps of groups from .. to - 1 need. */
static float caps_width(const struct ui *u, int from, int to)
{
    float most = 0;
    for (int i = 0; i < ui_key_line_count; i++) {
        const struct ui_key_line *l = &ui_key_lines[i];
        float w = 0;
        if ((int)l->group < from || (int)l->group >= to || !is_shown(u, l->group))
            continue;
        for (int k = 0; k < 4 && l->caps[k]; k++)
            w += ui_keycap_width(u, l->caps[k]) + CAP_GAP;
        most = fmaxf(most, w);
    }
    return most + CAPS_GAP - CAP_GAP;
}

static float draw_group(const struct ui *u, enum ui_group g, float x, float y, float w,
                        float caps, float line)
{
    ui_section(u, x, y + (line + GROUP_MORE) * 0.5f, ui_group_name(g));
    y += line + GROUP_MORE + line / 2;
    for (int i = 0; i < ui_key_line_count; i++) {
        const struct ui_key_line *l = &ui_key_lines[i];
        if (!is_of(u, l, g)) continue;
        float at = x;
        for (int k = 0; k < 4 && l->caps[k]; k++)
            at += ui_keycap(u, at, y, l->caps[k]).w + CAP_GAP;
        (void)ui_text_fit(u, x + caps, y, w - caps, ALIGN_LEFT, ui_body, u->theme->ink,
                          l->does);
        y += line;
    }
    return y - line / 2;
}

void ui_help(const struct ui *u)
{
    if (!u->s->help) return;
    struct scene *sc = u->sc;
    const struct scene_theme *t = u->theme;
    struct scene_rgba black = {0, 0, 0, 255};
    const struct step_action toggle = {.verb = STEP_HELP};
    struct scene_rect all = {0, 0, sc->w, sc->h};
    sc->clip = all;
    struct scene_item *scrim = scene_rect(sc, all, 0, scene_fade(black, scrim_alpha));
    ui_control(scrim, UI_ID_NONE, toggle, NULL); /* a click outside closes */

    float room = sc->h - 2 * CARD_MARGIN - TITLE_H - 2 * CARD_PAD;
    int first[COLUMNS + 1], n = 2;
    float line = LINE_H, height = split(u, line, n, first);
    if (height > room) height = split(u, line = LINE_TIGHT, n, first);
    if (height > room) height = split(u, line = LINE_H, n = COLUMNS, first);
    if (height > room) height = split(u, line = LINE_TIGHT, n, first);
    while (height > room && line > LINE_LEAST) height = split(u, line -= 1, n, first);
    float w = fminf(n > 2 ? CARD_WIDE : CARD_W, sc->w - 2 * CARD_MARGIN);
    float h = height + TITLE_H + 2 * CARD_PAD;
    struct scene_rect card = {(sc->w - w) / 2, (sc->h - h) / 2, w, h};
    scene_rect(sc, ui_grown(card, SHADOW * 0.5f), CARD_RADIUS,
               scene_fade(black, shadow_alpha))
        ->u.rect.soft = SHADOW;
    scene_border(sc, card, CARD_RADIUS, 1, t->panel, t->edge)->hit.kind = HIT_COVER;
    float x = card.x + CARD_PAD, y = card.y + CARD_PAD;
    (void)ui_text(u, x, y + CLOSE * 0.5f, ALIGN_LEFT, title_type, t->ink,
                  "Keys and mouse");
    struct scene_rect close = {card.x + w - CARD_PAD - CLOSE, y, CLOSE, CLOSE};
    ui_control(ui_face(u, close, CAP_GAP + 1, false), UI_ID_HELP_CLOSE, toggle,
               "Close (Esc)");
    (void)ui_text(u, close.x + CLOSE * 0.5f, y + CLOSE * 0.5f, ALIGN_CENTER, ui_body,
                  t->ink, "\u00D7");
    float gap = n > 2 ? GAP_TIGHT : COLUMN_GAP;
    float column = (w - 2 * CARD_PAD - gap * (float)(n - 1)) / (float)n;
    for (int c = 0; c < n; c++) {
        float down = y + TITLE_H;
        float caps = n > 2 ? caps_width(u, first[c], first[c + 1]) : CAPS_W;
        for (int g = first[c]; g < first[c + 1]; g++)
            if (is_shown(u, (enum ui_group)g))
                down = draw_group(u, (enum ui_group)g, x + (float)c * (column + gap),
                                  down, column, caps, line);
    }
}
