/* The left rail: steps, heads, what-if switches, playback, view, input. */
#include "parts.h"

#include <math.h>

/* ---- where things stand --------------------------------------------------------------- */

/* Distances from one line's middle to the next, from top to bottom: in the smallest
 * window, and where there is room (the pictures' own). */
enum flow {
    TO_STEPS,
    TO_FIRST_STEP,
    STEP_PITCH,
    TO_HEADS,
    TO_FIRST_HEAD,
    HEAD_PITCH,
    TO_WHAT_IF,
    TO_SWITCH,
    SWITCH_PITCH,
    TO_PLAYBACK,
    TO_BUTTON,
    TO_SPEEDS,
    TO_VIEW,
    TO_INPUT,
    TO_SEED,
    TO_TOKENS,
    TO_TRACK,
    TO_END,
    FLOW_COUNT
};
static const struct {
    float tight, roomy;
} flows[FLOW_COUNT] = {
    /* clang-format off */
    [TO_STEPS] = {15, 30},      [TO_FIRST_STEP] = {22, 37}, [STEP_PITCH] = {25, 40},
    [TO_HEADS] = {26, 53},      [TO_FIRST_HEAD] = {21, 31}, [HEAD_PITCH] = {24, 30},
    [TO_WHAT_IF] = {25, 39},    [TO_SWITCH] = {19, 28},     [SWITCH_PITCH] = {20, 28},
    [TO_PLAYBACK] = {24, 48},   [TO_BUTTON] = {29, 37},     [TO_SPEEDS] = {20, 24},
    [TO_VIEW] = {23, 36},       [TO_INPUT] = {22, 36},      [TO_SEED] = {19, 28},
    [TO_TOKENS] = {20, 28},     [TO_TRACK] = {15, 19},      [TO_END] = {11, 16},
    /* clang-format on */
};

enum {
    EDGE_W = 1,
    SWITCH_COUNT = 3,
    HEADS_A_ROW = 6,
    HEADS_WIDE = 12, /* more heads than this stand closer */
    HEADS_A_ROW_CLOSE = 9,
    HEADS_MOST = 27, /* more of them are walked along, not shown side by side */
    HEAD_SIZE = 26,
    HEAD_GAP = 3,
    HEAD_RADIUS = 5,
    STEP_H = 34,
    STEP_R = 11,
    STEP_RADIUS = 8,
    STEP_OUTSET = 12, /* of the current step's bar over the margin */
    VERDICT_R = 4,    /* half a tick or cross */
    VERDICT_LINE = 2,
    STEP_NAME = 32, /* from the margin to the name */
    SWITCH_W = 30,
    SWITCH_H = 17,
    SWITCH_INSET = 2,
    SWITCH_TEXT = 40, /* from the margin to the label */
    PLAY_R = 20,
    PLAY_GAP = 12, /* to the slider */
    ICON = 18,
    ICON_GAP = 2,
    VIEW_X = 44, /* from the margin to the switch beside VIEW */
    SPEED_COUNT = 5,
    SPEED_H = 18,
    ROLL_W = 44,
    DECODE_W = 52,
    ROLL_H = 20,
    PAD = 24,
    PAD_RIGHT = 18,
    PAD_TIGHT = 16,
    PAD_RIGHT_TIGHT = 10,
    RAIL_ROOMY = 208 /* from this width on the pictures' margins */
};
static const float play_mark = 0.42f; /* of the button's radius */
static const float icon_mark = 0.26f; /* of the button's width */
static const struct ui_type step_type = {FONT_UI, 14};
static const struct ui_type step_now = {FONT_UI_BOLD, 14};
static const struct ui_type disc_type = {FONT_UI_BOLD, 12};
static const struct ui_type close_type = {FONT_MONO, 8.5f};

struct rail {
    const struct ui *u;
    struct scene_rect box;
    float x, w;  /* of what stands in it */
    float y;     /* middle of the line last drawn */
    float roomy; /* 0: smallest distances, 1: the pictures' */
    int head_rows, heads_a_row;
};

static float flow(const struct rail *r, enum flow f)
{
    return flows[f].tight + r->roomy * (flows[f].roomy - flows[f].tight);
}

static struct rail rail_of(const struct ui *u)
{
    struct rail r = {.u = u, .box = u->sc->frame.rail};
    bool wide = r.box.w >= RAIL_ROOMY;
    float pad = wide ? PAD : PAD_TIGHT, right = wide ? PAD_RIGHT : PAD_RIGHT_TIGHT;
    r.x = r.box.x + pad;
    r.w = r.box.w - pad - right;
    r.y = r.box.y;
    int n = step_place_of(u->s)->dims.n_head;
    r.heads_a_row = n > HEADS_WIDE ? HEADS_A_ROW_CLOSE : HEADS_A_ROW;
    if (n > HEADS_MOST) n = 1;
    r.head_rows = (n + r.heads_a_row - 1) / r.heads_a_row;
    /* Two rows are kept free for heads, and the tokens' lines too, so that nothing moves
     * between the scales. */
    if (r.head_rows < 2) r.head_rows = 2;
    float tight = 0, roomy = 0;
    for (int f = 0; f < FLOW_COUNT; f++) {
        int times = f == STEP_PITCH     ? ATTN_STAGE_COUNT - 1
                    : f == HEAD_PITCH   ? r.head_rows - 1
                    : f == SWITCH_PITCH ? SWITCH_COUNT - 1
                                        : 1;
        tight += (float)times * flows[f].tight;
        roomy += (float)times * flows[f].roomy;
    }
    r.roomy = fminf(fmaxf((r.box.h - tight) / (roomy - tight), 0), 1);
    return r;
}

/* A triangle that points right (side = 1) or left (side = -1). */
static void pointer(const struct ui *u, float cx, float cy, float r, float side,
                    struct scene_rgba color)
{
    float tip = cx + side * r, back = cx - side * r;
    const float x[3] = {tip, back, back};
    const float y[3] = {cy, cy + side * r, cy - side * r};
    (void)scene_triangle(u->sc, x, y, color);
}

/* ---- steps and heads ------------------------------------------------------------------- */

/* Beside a step whose numbers are compared: a tick, or a cross of the other colour. */
static void draw_verdict(const struct rail *r, int i, float x, float half)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    if (!u->src->compare) return;
    enum scene_verdict v = u->src->compare->stage[i].verdict;
    struct scene_rgba good = t->map[MAP_DIVERGING].low, bad = t->map[MAP_DIVERGING].high;
    if (v == SCENE_AGREES) {
        (void)scene_line(u->sc, x - half, r->y, x - half / 3, r->y + half, VERDICT_LINE,
                         good);
        (void)scene_line(u->sc, x - half / 3, r->y + half, x + half, r->y - half,
                         VERDICT_LINE, good);
    } else if (v == SCENE_DIFFERS) {
        (void)scene_line(u->sc, x - half, r->y - half, x + half, r->y + half,
                         VERDICT_LINE, bad);
        (void)scene_line(u->sc, x - half, r->y + half, x + half, r->y - half,
                         VERDICT_LINE, bad);
    }
}

static void draw_step(const struct rail *r, int i)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    bool now = (int)u->s->stage == i, done = i < (int)u->s->stage;
    float h = fminf(STEP_H, flow(r, STEP_PITCH) - 1), disc = fminf(STEP_R, h / 2 - 1);
    float inset = r->x - STEP_OUTSET - r->box.x;
    struct scene_rect bar = {r->x - STEP_OUTSET, r->y - h / 2, r->box.w - 2 * inset, h};
    struct scene_rgba fill = now              ? t->accent_soft
                             : ui_hot(u, bar) ? t->paper
                                              : scene_fade(t->panel, 0);
    struct scene_item *it = scene_rect(u->sc, bar, fminf(STEP_RADIUS, h / 2), fill);
    ui_control(it, UI_ID_STEP + i, ui_act(STEP_GO, i),
               scene_print(u->sc, "Stage %d (%d)", i + 1, i + 1));
    float cx = r->x + STEP_R - 1;
    if (now || done)
        (void)scene_rect(u->sc,
                         (struct scene_rect){cx - disc, r->y - disc, 2 * disc, 2 * disc},
                         disc, now ? t->accent : t->accent_mid);
    (void)ui_text(u, cx, r->y, ALIGN_CENTER, disc_type,
                  now    ? t->on_accent
                  : done ? scene_mix(t->accent, t->ink, u->s->theme ? 0.5f : 0)
                         : t->ink_soft,
                  scene_print(u->sc, "%d", i + 1));
    float name = r->x + STEP_NAME, mark = bar.x + bar.w - VERDICT_R - VERDICT_LINE;
    float room = (u->src->compare ? mark - 2 * VERDICT_R : bar.x + bar.w) - name;
    const char *title = scene_stage_text_of((enum attn_stage)i).title;
    bool bold = now && ui_width(u, step_now, title) <= room; /* rather than cut */
    (void)ui_text_fit(u, name, r->y, room, ALIGN_LEFT, bold ? step_now : step_type,
                      now || done ? t->ink : t->ink_soft, title);
    draw_verdict(r, i, mark, VERDICT_R);
}

/* Beside the heading: tokens one at a time. */
static void draw_decode(const struct rail *r)
{
    const struct ui *u = r->u;
    bool on = u->s->decode;
    struct scene_rect box = {r->x + r->w - DECODE_W, r->y - ROLL_H * 0.5f, DECODE_W,
                             ROLL_H};
    ui_control(ui_face(u, box, HEAD_RADIUS, on), UI_ID_DECODE, ui_act(STEP_DECODE, 0),
               "Decode: a prompt at once, then one token at a time, with cached keys and "
               "values (K)");
    (void)ui_text(u, box.x + DECODE_W * 0.5f, r->y, ALIGN_CENTER, ui_note,
                  on ? u->theme->accent : u->theme->ink, "decode");
}

static void draw_steps(struct rail *r)
{
    r->y += flow(r, TO_STEPS);
    ui_section(r->u, r->x, r->y, "STEPS");
    draw_decode(r);
    for (int i = 0; i < ATTN_STAGE_COUNT; i++) {
        r->y += flow(r, i ? STEP_PITCH : TO_FIRST_STEP);
        draw_step(r, i);
    }
}

/* A number that is walked along, at the right end of the line: < block 3/12 >. */
static void draw_stepper(const struct rail *r, const char *what, int now, int n,
                         enum step_verb verb, int id, const char *keys)
{
    const struct ui *u = r->u;
    static const char *const way[2] = {"Previous", "Next"};
    const char *text = scene_print(u->sc, "%s %d/%d", what, now + 1, n);
    float right = r->x + r->w, m = ICON * icon_mark;
    float w = ui_width(u, ui_note, scene_print(u->sc, "%s %d/%d", what, n, n));
    float x[2] = {right - 2 * ICON - w - 4 * ICON_GAP, right - ICON};
    (void)ui_text(u, x[1] - 2 * ICON_GAP - w / 2, r->y, ALIGN_CENTER, ui_note,
                  u->theme->ink, text);
    for (int i = 0; i < 2; i++) {
        bool end = i ? now + 1 >= n : now <= 0;
        struct scene_rect box = {x[i], r->y - ICON * 0.5f, ICON, ICON};
        struct scene_item *face = ui_face(u, box, HEAD_RADIUS, false);
        if (!end)
            ui_control(face, id + i, ui_act(verb, i ? 1 : -1),
                       scene_print(u->sc, "%s %s (%s)", way[i], what, keys));
        pointer(u, x[i] + ICON * 0.5f, r->y, m, i ? 1 : -1,
                end ? u->theme->edge : u->theme->ink_soft);
    }
}

static void draw_heads(struct rail *r)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    const struct step_place *p = step_place_of(u->s);
    r->y += flow(r, TO_HEADS);
    ui_section(u, r->x, r->y, "HEADS");
    if (p->n_block > 1)
        draw_stepper(r, "block", p->block, p->n_block, STEP_BLOCK_BY, UI_ID_BLOCK_BACK,
                     "PgUp and PgDn");
    r->y += flow(r, TO_FIRST_HEAD);
    if (p->dims.n_head > HEADS_MOST) {
        draw_stepper(r, "head", p->head, p->dims.n_head, STEP_HEAD_BY, UI_ID_HEAD_BACK,
                     "[ and ]");
        r->y += (float)(r->head_rows - 1) * flow(r, HEAD_PITCH);
        return;
    }
    float pitch = flow(r, HEAD_PITCH);
    float w = (r->w - HEAD_GAP * (float)(r->heads_a_row - 1)) / (float)r->heads_a_row;
    w = fminf(w, HEAD_SIZE);
    float h = fminf(fminf(HEAD_SIZE, pitch - HEAD_GAP), w);
    bool close = p->dims.n_head > HEADS_WIDE;
    for (int i = 0; i < p->dims.n_head; i++) {
        float x = r->x + (float)(i % r->heads_a_row) * (w + HEAD_GAP);
        int line = i / r->heads_a_row;
        float cy = r->y + (float)line * pitch;
        struct scene_rect box = {x, cy - h / 2, w, h};
        bool on = i == p->head;
        struct scene_item *face = ui_face(u, box, HEAD_RADIUS, on);
        if (step_is_paired(u->s) && i == p->second) face->u.rect.stroke = t->k;
        ui_control(face, UI_ID_HEAD + i, ui_act(STEP_HEAD, i),
                   scene_print(u->sc, "Head %d ([ and ])", i + 1));
        struct ui_type type = close ? close_type : on ? ui_figure_strong : ui_figure;
        (void)ui_text(u, x + w / 2, cy, ALIGN_CENTER, type,
                      !on           ? t->ink_soft
                      : u->s->theme ? t->ink
                                    : t->accent,
                      scene_print(u->sc, "%d", i + 1));
    }
    r->y += (float)(r->head_rows - 1) * pitch;
}

/* ---- switches --------------------------------------------------------------------------- */

static void draw_switch(const struct rail *r, float x, float h, bool on, int id,
                        struct step_action a, const char *label, const char *tip)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    struct scene_rect row = {x - 2, r->y - h / 2, r->x + r->w - x + 2, h};
    struct scene_rect body = {x, r->y - SWITCH_H * 0.5f, SWITCH_W, SWITCH_H};
    struct scene_rect knob = ui_grown(body, -SWITCH_INSET);
    if (on) knob.x += knob.w - knob.h;
    knob.w = knob.h;
    (void)scene_rect(u->sc, body, body.h / 2, on ? t->accent : t->track);
    (void)scene_rect(u->sc, knob, knob.h / 2, t->panel);
    float left = x + SWITCH_TEXT;
    (void)ui_text_fit(u, left, r->y, r->x + r->w - left, ALIGN_LEFT, ui_body,
                      ui_hot(u, row) ? t->accent : t->ink, label);
    (void)ui_touch(u, row, id, a, tip);
}

/* A small button at the line's right end. */
static void draw_small(const struct rail *r, int id, struct step_action a,
                       const char *text, const char *tip)
{
    const struct ui *u = r->u;
    struct scene_rect box = {r->x + r->w - ROLL_W, r->y - ROLL_H * 0.5f, ROLL_W, ROLL_H};
    ui_control(ui_face(u, box, HEAD_RADIUS, false), id, a, tip);
    (void)ui_text(u, box.x + ROLL_W * 0.5f, r->y, ALIGN_CENTER, ui_note, u->theme->ink,
                  text);
}

static void draw_what_if(struct rail *r)
{
    static const enum step_switch of[SWITCH_COUNT] = {STEP_SW_DIVIDE, STEP_SW_MASK,
                                                      STEP_SW_RESIDUAL};
    static const char *const label[SWITCH_COUNT] = {"divide by \u221Ad_head",
                                                    "causal mask", "add residual"};
    static const char *const tip[SWITCH_COUNT] = {
        "What if scores were not divided by \u221Ad_head?",
        "What if a token could see the ones after it?",
        "What if the block\u2019s input were not added to its output?"};
    r->y += flow(r, TO_WHAT_IF);
    ui_section(r->u, r->x, r->y, "WHAT IF");
    struct scene_rect heading = {r->x, r->y - SWITCH_H * 0.5f, r->w, SWITCH_H};
    (void)ui_touch(r->u, heading, UI_ID_SWITCHES, ui_act(STEP_SWITCHES, 0),
                   "Everything that can be set wrong (I)");
    for (int i = 0; i < SWITCH_COUNT; i++) {
        r->y += flow(r, i ? SWITCH_PITCH : TO_SWITCH);
        draw_switch(r, r->x, flow(r, SWITCH_PITCH) - 1,
                    step_choice_of(r->u->s->opts, of[i]) == 0, UI_ID_OPTION + i,
                    ui_act(STEP_TOGGLE, i), label[i], tip[i]);
    }
}

/* ---- playback ---------------------------------------------------------------------------- */

static void bar(const struct ui *u, float cx, float cy, float w, float h,
                struct scene_rgba color)
{
    (void)scene_rect(u->sc, (struct scene_rect){cx - w / 2, cy - h / 2, w, h}, 0, color);
}

static void draw_play(const struct rail *r)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    struct scene_rect box = {r->x, r->y - PLAY_R, 2 * PLAY_R, 2 * PLAY_R};
    struct scene_rgba fill =
        ui_hot(u, box) ? scene_mix(t->accent, t->ink, 1.0f / PLAY_R) : t->accent;
    ui_control(scene_rect(u->sc, box, PLAY_R, fill), UI_ID_PLAY, ui_act(STEP_PLAY, 0),
               u->s->playing ? "Pause (space)" : "Play (space)");
    float cx = r->x + PLAY_R, m = PLAY_R * play_mark;
    if (u->s->playing) {
        bar(u, cx - m / 2, r->y, m / 2, 2 * m, t->on_accent);
        bar(u, cx + m / 2, r->y, m / 2, 2 * m, t->on_accent);
    } else {
        pointer(u, cx + 1, r->y, m, 1, t->on_accent);
    }
}

/* Restart, one beat back, one beat on: beside the heading. */
static void draw_icons(const struct rail *r)
{
    const struct ui *u = r->u;
    static const struct {
        int id;
        enum step_verb verb;
        int by;
        const char *tip;
    } icon[] = {{UI_ID_RESTART, STEP_RESTART, 0, "Restart this stage (R)"},
                {UI_ID_BACK, STEP_BEAT, -1, "One micro-step back (,)"},
                {UI_ID_FORWARD, STEP_BEAT, 1, "One micro-step on (.)"}};
    enum { N = sizeof icon / sizeof *icon };
    float m = ICON * icon_mark;
    for (int i = 0; i < N; i++) {
        float x = r->x + r->w - (float)(N - i) * (ICON + ICON_GAP) + ICON_GAP;
        struct scene_rect box = {x, r->y - ICON * 0.5f, ICON, ICON};
        ui_control(ui_face(u, box, HEAD_RADIUS, false), icon[i].id,
                   ui_act(icon[i].verb, icon[i].by), icon[i].tip);
        float cx = x + ICON * 0.5f, side = icon[i].by > 0 ? 1 : -1;
        pointer(u, cx, r->y, m, side, u->theme->ink_soft);
        if (icon[i].verb == STEP_RESTART)
            bar(u, cx - m, r->y, 1, 2 * m, u->theme->ink_soft);
    }
}

static void draw_playback(struct rail *r)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    r->y += flow(r, TO_PLAYBACK);
    ui_section(u, r->x, r->y, "PLAYBACK");
    draw_icons(r);
    r->y += flow(r, TO_BUTTON);
    draw_play(r);
    float x = r->x + 2 * PLAY_R + PLAY_GAP, w = r->x + r->w - x;
    struct ui_slider time = {.id = UI_ID_SCRUB,
                             .action = {.verb = STEP_SCRUB},
                             .lo = 0,
                             .hi = 1,
                             .value = u->s->time,
                             .tip = "The stage\u2019s time: drag, or , and ."};
    ui_slider(u, x, r->y, w, &time);
    r->y += flow(r, TO_SPEEDS);
    static const char *const name[SPEED_COUNT] = {"\u00BC\u00D7", "\u00BD\u00D7",
                                                  "1\u00D7", "2\u00D7", "4\u00D7"};
    float each = w / SPEED_COUNT;
    for (int i = 0; i < SPEED_COUNT; i++) {
        bool on = u->s->speed == step_speeds[i];
        struct scene_rect box = {x + (float)i * each, r->y - SPEED_H * 0.5f, each,
                                 SPEED_H};
        (void)ui_text(u, box.x + each / 2, r->y, ALIGN_CENTER,
                      (struct ui_type){on ? FONT_UI_BOLD : FONT_UI, ui_note.size},
                      on || ui_hot(u, box) ? t->ink : t->ink_soft, name[i]);
        (void)ui_touch(u, box, UI_ID_SPEED + i,
                       (struct step_action){.verb = STEP_SPEED, .x = step_speeds[i]},
                       scene_print(u->sc, "Speed %s (- slower, = faster)", name[i]));
    }
}

/* ---- view and input ---------------------------------------------------------------------- */

static void draw_view(struct rail *r)
{
    const struct ui *u = r->u;
    r->y += flow(r, TO_VIEW);
    ui_section(u, r->x, r->y, "VIEW");
    draw_switch(r, r->x + VIEW_X, SWITCH_H + 1, u->s->log_weights, UI_ID_LOG,
                (struct step_action){.verb = STEP_LOG}, "log weights",
                "Weights on a logarithmic colour scale (L)");
}

static void draw_input(struct rail *r)
{
    const struct ui *u = r->u;
    const struct scene_theme *t = u->theme;
    const struct step_place *p = step_place_of(u->s);
    float right = r->x + r->w;
    r->y += flow(r, TO_INPUT);
    ui_section(u, r->x, r->y, "INPUT");
    draw_small(r, UI_ID_OPEN, ui_act(STEP_EDIT, STEP_EDIT_PATH), "open",
               "Open a model (Ctrl O)");
    r->y += flow(r, TO_SEED);
    if (step_is_loaded(p)) {
        (void)ui_text(u, r->x, r->y, ALIGN_LEFT, ui_body, t->ink, "tokens");
        (void)ui_text(u, right, r->y, ALIGN_RIGHT, ui_figure, t->ink,
                      scene_print(u->sc, "%d of %d", p->dims.n_tok, p->limit));
        r->y += flow(r, TO_TOKENS);
        (void)ui_text(u, r->x, r->y, ALIGN_LEFT, ui_body, t->ink, "text");
        draw_small(r, UI_ID_TEXT, ui_act(STEP_EDIT, STEP_EDIT_TEXT), "edit",
                   "Another text (/)");
        return;
    }
    (void)ui_text(u, r->x, r->y, ALIGN_LEFT, ui_body, t->ink, "seed");
    (void)ui_text(u, right - ROLL_W - PLAY_GAP * 0.5f, r->y, ALIGN_RIGHT, ui_figure,
                  t->ink, scene_print(u->sc, "%u", (unsigned)p->seed));
    draw_small(r, UI_ID_SEED, ui_act(STEP_ROLL, 0), "roll", "Other random weights (N)");
    r->y += flow(r, TO_TOKENS);
    if (u->s->scale != STEP_GPT2) {
        (void)ui_text(u, r->x, r->y, ALIGN_LEFT, ui_body, t->ink, "words");
        draw_small(r, UI_ID_TEXT, ui_act(STEP_EDIT, STEP_EDIT_TEXT), "edit",
                   "Other words, 1 to 8 (/ or Enter)");
        return;
    }
    (void)ui_text(u, r->x, r->y, ALIGN_LEFT, ui_body, t->ink, "tokens");
    (void)ui_text(u, right, r->y, ALIGN_RIGHT, ui_figure, t->ink,
                  scene_print(u->sc, "%d", p->dims.n_tok));
    r->y += flow(r, TO_TRACK);
    struct ui_slider tokens = {.id = UI_ID_TOKENS,
                               .action = {.verb = STEP_TOKENS},
                               .lo = 1,
                               .hi = STEP_MAX_TOKENS,
                               .value = (float)p->dims.n_tok,
                               .whole = true,
                               .tip = "Tokens: drag, or Tab here and \u2190 \u2192"};
    ui_slider(u, r->x, r->y, r->w, &tokens);
}

void ui_rail(const struct ui *u)
{
    struct rail r = rail_of(u);
    const struct scene_theme *t = u->theme;
    u->sc->clip = r.box;
    scene_rect(u->sc, r.box, 0, t->panel)->hit.kind = HIT_COVER;
    float edge = r.box.x + r.box.w - 0.5f;
    scene_line(u->sc, edge, r.box.y, edge, r.box.y + r.box.h, EDGE_W, t->edge);
    draw_steps(&r);
    draw_heads(&r);
    draw_what_if(&r);
    draw_playback(&r);
    draw_view(&r);
    draw_input(&r);
}
