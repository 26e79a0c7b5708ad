/* Everything that can be set wrong, in the side panel's place: a line of choices each, the
 * right one first. */
#include "panel.h"

#include <math.h>

enum {
    HEADING_CY = 30,
    TOP = 44,
    LINE_H = 56, /* a name and its choices */
    LINE_LOW_H = 41,
    NAME_H = 18,
    NAME_LOW_H = 15,
    CHOICE_H = 24,
    CHOICE_LOW_H = 20,
    CHOICE_GAP = 4,
    PAIR_GAP = 12,
    RADIUS = 5,
    CLOSE = 24,
    FOOT_H = 28, /* undo, redo, back to correct */
    LINE_COUNT = 7
};

/* The lines: one switch, or two side by side. */
static const enum step_switch lines[5][2] = {
    {STEP_SW_DIVIDE, STEP_SW_COUNT},    {STEP_SW_MASK, STEP_SW_COUNT},
    {STEP_SW_PRECISION, STEP_SW_COUNT}, {STEP_SW_MAX, STEP_SW_BIAS},
    {STEP_SW_SWAP, STEP_SW_RESIDUAL},
};

struct place {
    float x, w, name_h, choice_h;
};

static void choice(const struct panel *p, struct scene_rect box, int id,
                   struct step_action a, const char *text, bool on, bool right,
                   const char *tip)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    struct scene_rgba fill = !on     ? ui_hot(u, box) ? t->edge : t->paper
                             : right ? t->accent_soft
                                     : t->warn;
    struct scene_rgba ink = !on ? t->ink_soft : right ? t->ink : t->on_warn;
    struct scene_item *it = scene_border(u->sc, box, RADIUS, on ? 1.5f : 1, fill,
                                         on && right ? t->accent
                                         : on        ? t->warn
                                                     : t->track);
    ui_control(it, id, a, tip);
    (void)ui_text_fit(u, box.x + box.w / 2, box.y + box.h / 2, box.w - 4, ALIGN_CENTER,
                      (struct ui_type){on ? FONT_UI_MEDIUM : FONT_UI, ui_note.size}, ink,
                      text);
}

static void draw_switch(const struct panel *p, struct place at, float y,
                        enum step_switch w)
{
    const struct ui *u = p->u;
    int n = step_choice_count(w), now = step_choice_of(u->s->opts, w);
    (void)ui_text_fit(u, at.x, y + at.name_h / 2, at.w, ALIGN_LEFT, ui_note,
                      u->theme->ink_soft, scene_switch_name(w));
    float each = (at.w - (float)(n - 1) * CHOICE_GAP) / (float)n;
    for (int i = 0; i < n; i++) {
        struct scene_rect box = {at.x + (float)i * (each + CHOICE_GAP), y + at.name_h,
                                 each, at.choice_h};
        const char *name = scene_choice_name(w, i);
        choice(p, box, UI_ID_SWITCH + (int)w * 4 + i,
               (struct step_action){.verb = STEP_SWITCH, .i = (int)w, .x = (float)i},
               name, i == now, i == 0,
               scene_print(u->sc, "%s: %s%s", scene_switch_name(w), name,
                           i ? "" : ", as it should be"));
    }
}

static void draw_temperature(const struct panel *p, struct place at, float y)
{
    const struct ui *u = p->u;
    float heat = step_heat_of(u->s->opts);
    (void)ui_text(u, at.x, y + at.name_h / 2, ALIGN_LEFT, ui_note, u->theme->ink_soft,
                  "temperature");
    (void)ui_text(u, at.x + at.w, y + at.name_h / 2, ALIGN_RIGHT, ui_figure,
                  heat == 0 ? u->theme->ink_soft : u->theme->ink,
                  scene_print(u->sc, "%.3g", (double)exp2f(heat)));
    struct ui_slider slider = {.id = UI_ID_HEAT,
                               .action = {.verb = STEP_TEMPERATURE},
                               .lo = -STEP_HEAT_MOST,
                               .hi = STEP_HEAT_MOST,
                               .value = heat,
                               .tip = "1/16 to 16; drag, or Tab here and \u2190 \u2192"};
    ui_slider(u, at.x + RADIUS, y + at.name_h + at.choice_h / 2, at.w - 2 * RADIUS,
              &slider);
}

static void draw_silence(const struct panel *p, struct place at, float y)
{
    const struct ui *u = p->u;
    const struct step_place *place = step_place_of(u->s);
    int h = place->head;
    bool silent = attn_is_silent(u->s->opts, h), can = h < ATTN_SILENT_MOST;
    (void)ui_text_fit(
        u, at.x, y + at.name_h / 2, at.w, ALIGN_LEFT, ui_note, u->theme->ink_soft,
        scene_print(u->sc, can ? "head %d" : "head %d: cannot be silenced", h + 1));
    static const char *const name[2] = {"heard", "silenced"};
    float each = (at.w - CHOICE_GAP) / 2;
    for (int i = 0; can && i < 2; i++) {
        struct scene_rect box = {at.x + (float)i * (each + CHOICE_GAP), y + at.name_h,
                                 each, at.choice_h};
        bool on = i == silent;
        choice(p, box, UI_ID_SILENCE + i,
               on ? (struct step_action){.verb = STEP_NONE} : ui_act(STEP_SILENCE, h),
               name[i], on, i == 0, "O of the head in view: as it is, or 0");
    }
}

static float foot_button(const struct panel *p, float x, float w, float cy, int id,
                         struct step_action a, const char *text, const char *tip,
                         bool live)
{
    const struct ui *u = p->u;
    struct scene_rect box = {x, cy - CHOICE_H * 0.5f, w, CHOICE_H};
    struct scene_item *it = ui_face(u, box, RADIUS, false);
    if (live) ui_control(it, id, a, tip);
    (void)ui_text_fit(u, x + w / 2, cy, w - 4, ALIGN_CENTER, ui_note,
                      live ? u->theme->ink : u->theme->ink_faint, text);
    return x + w + CHOICE_GAP;
}

static void draw_foot(const struct panel *p, float cy)
{
    const struct step_state *s = p->u->s;
    float each = (p->w - 2 * CHOICE_GAP) / 4, x = p->x;
    x = foot_button(p, x, each, cy, UI_ID_UNDO, ui_act(STEP_UNDO, 0), "undo",
                    "Undo (Ctrl Z)", step_undo_count(s) > 0);
    x = foot_button(p, x, each, cy, UI_ID_REDO, ui_act(STEP_REDO, 0), "redo",
                    "Redo (Ctrl Y)", step_redo_count(s) > 0);
    (void)foot_button(p, x, 2 * each, cy, UI_ID_CORRECT_ALL, ui_act(STEP_CORRECT, 0),
                      "all correct (X)", "Everything back to correct (X)",
                      step_is_broken(s));
}

void panel_switches(struct panel *p)
{
    const struct ui *u = p->u;
    float room = p->bottom - p->y - TOP - FOOT_H;
    bool low = room < LINE_COUNT * LINE_H;
    struct place all = {p->x, p->w, low ? NAME_LOW_H : NAME_H,
                        low ? CHOICE_LOW_H : CHOICE_H};
    float pitch = fminf(fmaxf(room / LINE_COUNT, LINE_LOW_H), LINE_H), y = p->y + TOP;
    ui_section(u, p->x, p->y + HEADING_CY, "WHAT IF");
    struct scene_rect close = {p->x + p->w - CLOSE, p->y + HEADING_CY - CLOSE * 0.5f,
                               CLOSE, CLOSE};
    ui_control(ui_face(u, close, RADIUS, false), UI_ID_SWITCHES_CLOSE,
               ui_act(STEP_SWITCHES, 0), "Close (I or Esc)");
    (void)ui_text(u, close.x + CLOSE * 0.5f, close.y + CLOSE * 0.5f, ALIGN_CENTER,
                  ui_body, u->theme->ink, "\u00D7");
    for (int i = 0; i < 5; i++, y += pitch) {
        bool pair = lines[i][1] != STEP_SW_COUNT;
        struct place at = all;
        if (pair) at.w = (all.w - PAIR_GAP) / 2;
        draw_switch(p, at, y, lines[i][0]);
        at.x += at.w + PAIR_GAP;
        if (pair) draw_switch(p, at, y, lines[i][1]);
    }
    struct place half = all;
    half.w = (all.w - PAIR_GAP) / 2;
    draw_temperature(p, half, y);
    half.x += half.w + PAIR_GAP;
    draw_silence(p, half, y);
    y += pitch;
    draw_foot(p, y + FOOT_H * 0.5f);
    p->y = y + FOOT_H;
}
