/* The small drawn parts: text, buttons, keycaps, sliders. They know colours and states;
 * where they stand and what they do is said by bars.c, rail.c and panel.c. */
#include "parts.h"

#include <math.h>
#include <string.h>

const struct ui_type ui_body = {FONT_UI, 13};
const struct ui_type ui_strong = {FONT_UI_MEDIUM, 13};
const struct ui_type ui_heading = {FONT_UI_BOLD, 11};
const struct ui_type ui_note = {FONT_UI, 12};
const struct ui_type ui_figure = {FONT_MONO, 12.5f};
const struct ui_type ui_figure_strong = {FONT_MONO_BOLD, 12.5f};
static const struct ui_type keycap_type = {FONT_MONO, 12};

enum {
    KEYCAP_H = 20,
    KEYCAP_PAD = 7,
    KEYCAP_RADIUS = 4,
    TRACK_H = 4,
    THUMB_R = 7,
    THUMB_HOT_R = 8, /* under the pointer */
    SLIDER_H = 18,   /* of the part that can be pressed */
    FOCUS_W = 1
};

float ui_width(const struct ui *u, struct ui_type t, const char *text)
{
    return font_width(u->sc->font, t.font, t.size, text, -1);
}

struct scene_item *ui_text(const struct ui *u, float x, float cy, enum scene_align align,
                           struct ui_type t, struct scene_rgba color, const char *text)
{
    float baseline = cy + u->sc->font->cap[t.font] * t.size / 2;
    return scene_text(u->sc, x, baseline, align, t.font, t.size, color, text);
}

struct scene_item *ui_text_fit(const struct ui *u, float x, float cy, float width,
                               enum scene_align align, struct ui_type t,
                               struct scene_rgba color, const char *text)
{
    text = scene_fit_text(u->sc, t.font, t.size, fmaxf(width, 0), text);
    return ui_text(u, x, cy, align, t, color, text);
}

static const char *spaced_out(const struct ui *u, const char *text)
{
    static const char hair[] = "\u200A"; /* space between two letters */
    char spaced[256];
    size_t n = 0;
    for (const char *at = text; *at && n + 8 < sizeof spaced;) {
        const char *from = at;
        (void)utf8_next(&at);
        if (n) {
            memcpy(spaced + n, hair, sizeof hair - 1);
            n += sizeof hair - 1;
        }
        memcpy(spaced + n, from, (size_t)(at - from));
        n += (size_t)(at - from);
    }
    return scene_print(u->sc, "%.*s", (int)n, spaced);
}

void ui_section(const struct ui *u, float x, float cy, const char *text)
{
    (void)ui_text(u, x, cy, ALIGN_LEFT, ui_heading, u->theme->ink_soft,
                  spaced_out(u, text));
}

float ui_section_width(const struct ui *u, const char *text)
{
    return ui_width(u, ui_heading, spaced_out(u, text));
}

bool ui_inside(struct scene_rect r, float x, float y)
{
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

bool ui_hot(const struct ui *u, struct scene_rect box)
{
    const struct ui_pointer *p = u->pointer;
    if (!p || u->s->help || !ui_inside(box, p->x, p->y)) return false;
    return !p->down || ui_inside(box, p->press_x, p->press_y);
}

struct scene_rect ui_grown(struct scene_rect r, float by)
{
    return (struct scene_rect){r.x - by, r.y - by, r.w + 2 * by, r.h + 2 * by};
}

struct step_action ui_act(enum step_verb verb, int i)
{
    return (struct step_action){.verb = verb, .i = i};
}

void ui_control(struct scene_item *it, int id, struct step_action a, const char *tip)
{
    it->hit = (struct scene_hit){.kind = HIT_ACTION, .action = a, .id = id, .tip = tip};
}

struct scene_item *ui_touch(const struct ui *u, struct scene_rect box, int id,
                            struct step_action a, const char *tip)
{
    struct scene_item *it = scene_rect(u->sc, box, 0, (struct scene_rgba){0, 0, 0, 0});
    ui_control(it, id, a, tip);
    return it;
}

struct scene_item *ui_face(const struct ui *u, struct scene_rect box, float radius,
                           bool on)
{
    const struct scene_theme *t = u->theme;
    struct scene_rgba fill = on ? t->accent_soft : ui_hot(u, box) ? t->edge : t->paper;
    return scene_border(u->sc, box, radius, on ? 1.5f : FOCUS_W, fill,
                        on ? t->accent : t->track);
}

float ui_keycap_width(const struct ui *u, const char *text)
{
    return ui_width(u, keycap_type, text) + 2 * KEYCAP_PAD;
}

struct scene_rect ui_keycap(const struct ui *u, float x, float cy, const char *text)
{
    struct scene_rect box = {x, cy - KEYCAP_H * 0.5f, ui_keycap_width(u, text), KEYCAP_H};
    const struct scene_theme *t = u->theme;
    (void)scene_border(u->sc, box, KEYCAP_RADIUS, FOCUS_W, t->panel, t->track);
    (void)ui_text(u, x + box.w / 2, cy, ALIGN_CENTER, keycap_type, t->ink, text);
    return box;
}

void ui_slider(const struct ui *u, float x, float cy, float width,
               const struct ui_slider *sl)
{
    const struct scene_theme *t = u->theme;
    float share = sl->hi > sl->lo ? (sl->value - sl->lo) / (sl->hi - sl->lo) : 0;
    float room =
        width - 2 * THUMB_HOT_R; /* of the thumb's middle: it ends with the track */
    float at = x + THUMB_HOT_R + room * fminf(fmaxf(share, 0), 1);
    struct scene_rect track = {x, cy - TRACK_H * 0.5f, width, TRACK_H};
    struct scene_rect touch = {x, cy - SLIDER_H * 0.5f, width, SLIDER_H};
    (void)scene_rect(u->sc, track, TRACK_H * 0.5f, t->track);
    (void)scene_rect(u->sc, (struct scene_rect){x, track.y, at - x, TRACK_H},
                     TRACK_H * 0.5f, t->accent);
    float r = ui_hot(u, touch) ? THUMB_HOT_R : THUMB_R;
    (void)scene_rect(u->sc, (struct scene_rect){at - r, cy - r, 2 * r, 2 * r}, r,
                     t->accent);
    struct scene_item *it = ui_touch(u, touch, sl->id, sl->action, sl->tip);
    it->hit.kind = HIT_SLIDER;
    it->hit.lo = sl->lo;
    it->hit.hi = sl->hi;
    it->hit.inset = THUMB_HOT_R;
    it->hit.whole = sl->whole;
}
