/* The top bar (name, place, scale, dimensions) and the bottom bar (key hints, window). */
#include "parts.h"

#include <math.h>
#include <string.h>

/* ---- top bar ------------------------------------------------------------------------ */

enum {
    EDGE_W = 1,
    TOP_PAD = 24,
    TOP_GAP = 16,
    LOGO_X = 30, /* centre of the disc, from the left */
    LOGO_R = 7,
    BEAM_X = 52, /* where the beam ends */
    BEAM_R = 16, /* half its height there */
    NAME_X = 64,
    SUBTITLE_X = 160, /* at least */
    SWITCH_H = 30,
    SWITCH_INSET = 2,
    LABEL_LEAST = 60, /* points of "toy · random weights" worth showing */
    DIM_INNER = 8     /* between a dimension's name and its values */
};
/* What the bar shows as it gets shorter: the first of these that fits. */
static const struct top_fit {
    bool subtitle, others; /* "causal self-attention"; GPT-2's dimensions */
    int switch_w, dim_gap;
} top_fits[] = {{true, true, 176, 22},
                {false, true, 176, 22},
                {false, true, 148, 16},
                {false, false, 148, 16}};
static const struct ui_type name_type = {FONT_UI_BOLD, 17};
static const struct ui_type title_type = {FONT_UI, 14};
static const struct ui_type place_type = {FONT_UI_MEDIUM, 14};
static const struct ui_type dim_value = {FONT_MONO_BOLD, 14};
static const struct ui_type dim_other = {FONT_MONO, 12};
static const char subtitle[] = "causal self-attention";

static void logo(const struct ui *u, float cy)
{
    const float x[3] = {LOGO_X, BEAM_X, BEAM_X};
    const float y[3] = {cy - LOGO_R, cy - BEAM_R, cy + BEAM_R};
    struct scene_item *beam = scene_triangle(u->sc, x, y, u->theme->accent_mid);
    beam->u.poly.x[3] = LOGO_X;
    beam->u.poly.y[3] = cy + LOGO_R;
    beam->u.poly.n = 4;
    (void)scene_rect(
        u->sc, (struct scene_rect){LOGO_X - LOGO_R, cy - LOGO_R, 2 * LOGO_R, 2 * LOGO_R},
        LOGO_R, u->theme->accent);
}

/* A dimension: its name, its value here and, in toy scale, GPT-2's. */
struct dim {
    const char *name, *value, *other; /* other may be NULL */
    float w;
};

enum { DIM_COUNT = 4 };

static float dims_of(const struct ui *u, struct dim dim[DIM_COUNT],
                     const struct top_fit *fit)
{
    struct attn_dims d = step_place_of(u->s)->dims, g = u->s->place[STEP_GPT2].dims;
    bool others = fit->others && u->s->scale == STEP_TOY;
    const int here[DIM_COUNT] = {d.n_tok, d.d_model, attn_d_head(d), d.n_head};
    const int there[DIM_COUNT] = {0, g.d_model, attn_d_head(g), g.n_head};
    static const char *const name[DIM_COUNT] = {"tokens", "d_model", "d_head", "heads"};
    float w = (float)(fit->dim_gap * (DIM_COUNT - 1));
    for (int i = 0; i < DIM_COUNT; i++) {
        dim[i].name = name[i];
        dim[i].value = scene_print(u->sc, "%d", here[i]);
        dim[i].other = others && there[i] ? scene_print(u->sc, "%d", there[i]) : NULL;
        dim[i].w = ui_width(u, ui_note, name[i]) + DIM_INNER +
                   ui_width(u, dim_value, dim[i].value);
        if (dim[i].other) dim[i].w += DIM_INNER + ui_width(u, dim_other, dim[i].other);
        w += dim[i].w;
    }
    return w;
}

static void draw_dims(const struct ui *u, const struct dim dim[DIM_COUNT], float gap,
                      float x, float cy)
{
    const struct scene_theme *t = u->theme;
    for (int i = 0; i < DIM_COUNT; i++) {
        float at = x;
        (void)ui_text(u, at, cy, ALIGN_LEFT, ui_note, t->ink_soft, dim[i].name);
        at += ui_width(u, ui_note, dim[i].name) + DIM_INNER;
        (void)ui_text(u, at, cy, ALIGN_LEFT, dim_value, t->ink, dim[i].value);
        at += ui_width(u, dim_value, dim[i].value) + DIM_INNER;
        if (dim[i].other)
            (void)ui_text(u, at, cy, ALIGN_LEFT, dim_other, t->ink_faint, dim[i].other);
        x += dim[i].w + gap;
    }
}

static void scale_switch(const struct ui *u, float x, float w, float cy)
{
    const struct scene_theme *t = u->theme;
    static const char *const name[STEP_SCALE_COUNT] = {"Toy", "GPT-2"};
    const char *const tip[STEP_SCALE_COUNT] = {
        "A few tokens, every number readable (T)",
        step_is_loaded(&u->s->place[STEP_GPT2])
            ? "The model that is loaded (T)"
            : "GPT-2\u2019s dimensions: d_model 768, 12 heads (T)"};
    struct scene_rect box = {x, cy - SWITCH_H * 0.5f, w, SWITCH_H};
    (void)scene_rect(u->sc, box, SWITCH_H * 0.5f, u->s->theme ? t->track : t->edge);
    for (int i = 0; i < STEP_SCALE_COUNT; i++) {
        struct scene_rect half = {x + (float)i * box.w / 2, box.y, box.w / 2, box.h};
        struct scene_rect pill = ui_grown(half, -SWITCH_INSET);
        bool on = (int)u->s->scale == i;
        if (on) (void)scene_rect(u->sc, pill, pill.h / 2, t->panel);
        (void)ui_text(u, half.x + half.w / 2, cy, ALIGN_CENTER, on ? ui_strong : ui_body,
                      on || ui_hot(u, half) ? t->ink : t->ink_soft, name[i]);
        ui_touch(u, half, i == STEP_TOY ? UI_ID_TOY : UI_ID_GPT2,
                 ui_act(STEP_SCALE_TO, i), tip[i])
            ->u.rect.radius = half.h / 2;
    }
}

/* As wide as "block 12" can get. */
static const char *block_widest(const struct ui *u)
{
    int n = step_place_of(u->s)->n_block;
    return n < 10 ? "block 8" : n < 100 ? "block 88" : "block 888";
}

/* Where name and place end without the subtitle. Nothing moves from head to head. */
static float left_width(const struct ui *u)
{
    float x = fmaxf(NAME_X + ui_width(u, name_type, "Headlight") + TOP_GAP, SUBTITLE_X);
    return x + ui_width(u, place_type, block_widest(u)) + TOP_GAP +
           ui_width(u, place_type, "head 88");
}

/* Name and place; returns where they end. */
static float draw_left(const struct ui *u, float cy, bool with_subtitle)
{
    const struct scene_theme *t = u->theme;
    logo(u, cy);
    (void)ui_text(u, NAME_X, cy, ALIGN_LEFT, name_type, t->ink, "Headlight");
    float x = fmaxf(NAME_X + ui_width(u, name_type, "Headlight") + TOP_GAP, SUBTITLE_X);
    if (with_subtitle) {
        (void)ui_text(u, x, cy, ALIGN_LEFT, title_type, t->ink_soft, subtitle);
        x += ui_width(u, title_type, subtitle) + TOP_GAP * 0.5f;
    }
    const char *block = scene_print(u->sc, "block %d", step_place_of(u->s)->block + 1);
    const char *head = scene_print(u->sc, "head %d", step_place_of(u->s)->head + 1);
    (void)ui_text(u, x, cy, ALIGN_LEFT, place_type, t->ink, block);
    x += ui_width(u, place_type, block_widest(u)) + TOP_GAP;
    (void)ui_text(u, x, cy, ALIGN_LEFT, place_type, t->ink, head);
    return x + ui_width(u, place_type, "head 88");
}

/* What is loaded, with as many of its parts as there is room for. */
static const char *label_in(const struct ui *u, float room)
{
    static const char dot[] = " \u00B7 ";
    const char *text = u->src->label ? u->src->label : "";
    while (ui_width(u, ui_body, text) > room) {
        const char *last = NULL;
        for (const char *at = text; (at = strstr(at, dot)) != NULL; at++) last = at;
        if (!last) break;
        text = scene_print(u->sc, "%.*s", (int)(last - text), text);
    }
    return text;
}

void ui_top_bar(const struct ui *u)
{
    struct scene *sc = u->sc;
    const struct scene_theme *t = u->theme;
    struct scene_rect bar = sc->frame.top;
    float cy = bar.y + bar.h / 2 - 0.5f;
    sc->clip = bar;
    scene_rect(sc, bar, 0, t->panel)->hit.kind = HIT_COVER;
    scene_line(sc, bar.x, bar.y + bar.h - 0.5f, bar.x + bar.w, bar.y + bar.h - 0.5f,
               EDGE_W, t->edge);

    float label = ui_width(u, ui_body, u->src->label ? u->src->label : "");
    float bare = left_width(u), sub = ui_width(u, title_type, subtitle) + TOP_GAP * 0.5f;
    const struct top_fit *fit = top_fits;
    const struct top_fit *last = top_fits + sizeof top_fits / sizeof *top_fits - 1;
    struct dim dim[DIM_COUNT];
    float right = bar.w - TOP_PAD - dims_of(u, dim, fit);
    while (fit < last &&
           bare + (fit->subtitle ? sub : 0) + (float)fit->switch_w + label + 3 * TOP_GAP >
               right) {
        fit++;
        right = bar.w - TOP_PAD - dims_of(u, dim, fit);
    }
    float left = draw_left(u, cy, fit->subtitle), w = (float)fit->switch_w;
    draw_dims(u, dim, (float)fit->dim_gap, right, cy);
    float room = right - TOP_GAP;
    const char *text = label_in(u, room - left - 2 * TOP_GAP - w);
    label = ceilf(ui_width(u, ui_body, text)); /* not a hair less than it needs */
    float x = fminf(sc->frame.stage.x + (sc->frame.stage.w - w) / 2,
                    room - label - TOP_GAP - w);
    x = fmaxf(x, left + TOP_GAP);
    scale_switch(u, x, w, cy);
    x += w + TOP_GAP;
    if (!u->src->label || room - x < LABEL_LEAST) return;
    (void)ui_text_fit(u, x, cy, room - x, ALIGN_LEFT, ui_body, t->ink_soft, text);
    if (!step_is_loaded(step_place_of(u->s))) return;
    struct scene_rect all = {x, cy - SWITCH_H * 0.5f, room - x, SWITCH_H};
    struct scene_item *touch = scene_rect(sc, all, 0, scene_fade(t->panel, 0));
    touch->hit.kind = HIT_COVER;
    touch->hit.tip = u->src->label; /* it may be cut */
}

/* ---- bottom bar ----------------------------------------------------------------------- */

enum {
    BOTTOM_PAD = 24,
    BUTTON = 24,
    BUTTON_GAP = 4,
    BUTTON_RADIUS = 5,
    PERCENT_W = 42,
    ICON_R = 6,      /* half an icon's width */
    ICON_CORNER = 4, /* length of a corner's strokes */
    ICON_W = 1
};

/* A hint shows keys and does what they do. */
struct hint {
    const char *cap, *does, *tip[2];
    int key[2], mods; /* one key, or two side by side; 0: nothing to press */
};
static const struct hint hints[] = {
    {"\u2190 \u2192",
     "step",
     {"Previous stage (\u2190)", "Next stage; first finishes an animation (\u2192)"},
     {UI_KEY_LEFT, UI_KEY_RIGHT},
     0},
    {"space", "play", {"Play or pause (space)", NULL}, {' ', 0}, 0},
    {"H", "heads", {"Every head at a glance (H)", NULL}, {'h', 0}, 0},
    {"S", "labs", {"Saturation and cost against d_head and N (S)", NULL}, {'s', 0}, 0},
    {"T", "toy / GPT-2", {"The other scale (T)", NULL}, {'t', 0}, 0},
    {"C", "code", {"The stage\u2019s code (C)", NULL}, {'c', 0}, 0},
    {"[ ]", "head", {"Previous head ([)", "Next head (])"}, {'[', ']'}, 0},
    {"click", "row", {NULL, NULL}, {0, 0}, 0},
    {"F", "fit", {"Everything in view (F)", NULL}, {'f', 0}, 0},
    {"?", "help", {"All keys (? or F1)", NULL}, {'/', 0}, UI_SHIFT},
};

enum { HINT_COUNT = sizeof hints / sizeof *hints, HINTS_LEAST = 4 /* up to the labs */ };
/* How they stand, as there is less room: the first with which the least that must be there
 * are. A key's word can do without where the key says it. */
static const struct hint_fit {
    float inner, gap;
    int words_from;
} hint_fits[] = {{8, 18, 0}, {6, 10, 0}, {6, 8, 1}, {6, 8, 2}};

static float hint_width(const struct ui *u, const struct hint_fit *f, int i)
{
    float w = ui_keycap_width(u, hints[i].cap);
    return i < f->words_from ? w : w + f->inner + ui_width(u, ui_note, hints[i].does);
}

static const struct hint_fit *fit_hints(const struct ui *u, float room)
{
    const struct hint_fit *last = hint_fits + sizeof hint_fits / sizeof *hint_fits - 1;
    for (const struct hint_fit *f = hint_fits; f < last; f++) {
        float w = -f->gap;
        for (int i = 0; i < HINTS_LEAST; i++) w += hint_width(u, f, i) + f->gap;
        if (w <= room) return f;
    }
    return last;
}

/* Returns where the next begins. */
static float draw_hint(const struct ui *u, const struct hint_fit *f, int i, float x,
                       float cy)
{
    const struct hint *h = &hints[i];
    int id = UI_ID_HINT + 2 * i;
    struct scene_rect cap = ui_keycap(u, x, cy, h->cap);
    int n = h->key[1] ? 2 : h->key[0] ? 1 : 0;
    for (int k = 0; k < n; k++) {
        struct scene_rect part = cap;
        part.w = cap.w / (float)n;
        part.x += (float)k * part.w;
        (void)ui_touch(u, part, id + k, ui_key_action(h->key[k], h->mods), h->tip[k]);
    }
    if (i >= f->words_from)
        (void)ui_text(u, x + cap.w + f->inner, cy, ALIGN_LEFT, ui_note,
                      u->theme->ink_soft, h->does);
    return x + hint_width(u, f, i) + f->gap;
}

static void icon_theme(const struct ui *u, float cx, float cy)
{
    struct scene_rect disc = {cx - ICON_R, cy - ICON_R, 2 * ICON_R, 2 * ICON_R};
    struct scene_rgba ink = u->theme->ink;
    (void)scene_border(u->sc, disc, ICON_R, ICON_W, scene_fade(ink, 0), ink);
    struct scene_item *half = scene_rect(u->sc, disc, ICON_R, ink);
    half->clip = (struct scene_rect){disc.x, disc.y, ICON_R, disc.h};
}

/* An arrow out of a tray. */
static void icon_export(const struct ui *u, float cx, float cy)
{
    struct scene_rgba ink = u->theme->ink;
    float r = ICON_R, top = cy - r, foot = cy + r - 1;
    const float x[3] = {cx - 3, cx, cx + 3}, y[3] = {top + 4, top, top + 4};
    (void)scene_line(u->sc, cx, top + 1, cx, cy + 2, ICON_W, ink);
    (void)scene_triangle(u->sc, x, y, ink);
    (void)scene_line(u->sc, cx - r, cy, cx - r, foot, ICON_W, ink);
    (void)scene_line(u->sc, cx + r, cy, cx + r, foot, ICON_W, ink);
    (void)scene_line(u->sc, cx - r, foot, cx + r, foot, ICON_W, ink);
}

static void icon_full(const struct ui *u, float cx, float cy)
{
    for (int k = 0; k < 4; k++) {
        float sx = k & 1 ? 1 : -1, sy = k & 2 ? 1 : -1;
        float x = cx + sx * ICON_R, y = cy + sy * ICON_R;
        struct scene_rgba ink = u->theme->ink;
        (void)scene_line(u->sc, x, y, x - sx * ICON_CORNER, y, ICON_W, ink);
        (void)scene_line(u->sc, x, y, x, y - sy * ICON_CORNER, ICON_W, ink);
    }
}

/* A button at the right end; returns its left end. Its text may be NULL: an icon. */
static float window_button(const struct ui *u, float right, float cy, float w, int id,
                           struct step_action a, const char *text, const char *tip)
{
    struct scene_rect box = {right - w, cy - BUTTON * 0.5f, w, BUTTON};
    ui_control(ui_face(u, box, BUTTON_RADIUS, false), id, a, tip);
    if (text)
        (void)ui_text(u, box.x + w / 2, cy, ALIGN_CENTER, ui_note, u->theme->ink, text);
    return box.x - BUTTON_GAP;
}

void ui_bottom_bar(const struct ui *u)
{
    struct scene *sc = u->sc;
    const struct scene_theme *t = u->theme;
    struct scene_rect bar = sc->frame.bottom;
    float cy = bar.y + bar.h / 2;
    sc->clip = bar;
    scene_rect(sc, bar, 0, t->paper)->hit.kind = HIT_COVER;
    scene_line(sc, bar.x, bar.y + 0.5f, bar.x + bar.w, bar.y + 0.5f, EDGE_W, t->edge);

    bool narrow = sc->w < 1280; /* the pictures' margins from here on */
    float pad = narrow ? BOTTOM_PAD * 0.5f : BOTTOM_PAD;
    float x = bar.x + bar.w - pad, mid = BUTTON * 0.5f + BUTTON_GAP;
    x = window_button(u, x, cy, BUTTON, UI_ID_HELP, ui_act(STEP_HELP, 0), "?",
                      "All keys (? or F1)");
    x = window_button(u, x, cy, BUTTON, UI_ID_TOUR, ui_act(STEP_TOUR, 0), "G",
                      "Guided tour (G)");
    x = window_button(u, x, cy, BUTTON, UI_ID_PRESENT, ui_act(STEP_PRESENT, 0), "P",
                      "Presenter mode: larger, the stage alone (P)");
    x = window_button(u, x, cy, BUTTON, UI_ID_FULL, ui_act(STEP_FULLSCREEN, 0), NULL,
                      "Full screen (F11)");
    icon_full(u, x + mid, cy);
    x = window_button(u, x, cy, BUTTON, UI_ID_EXPORT, ui_act(STEP_EDIT, STEP_EDIT_EXPORT),
                      NULL, "Export (Ctrl E)");
    icon_export(u, x + mid, cy);
    x = window_button(u, x, cy, BUTTON, UI_ID_LARGER, ui_act(STEP_UI_SIZE_BY, 1), "A+",
                      "Larger (Ctrl =)");
    x = window_button(u, x, cy, PERCENT_W, UI_ID_PERCENT, ui_act(STEP_UI_SIZE, 100),
                      scene_print(sc, "%d%%", u->s->ui_percent), "Back to 100% (Ctrl 0)");
    x = window_button(u, x, cy, BUTTON, UI_ID_SMALLER, ui_act(STEP_UI_SIZE_BY, -1),
                      "A\u2212", "Smaller (Ctrl -)");
    x = window_button(u, x, cy, BUTTON, UI_ID_THEME, ui_act(STEP_THEME, -1), NULL,
                      u->s->theme == STEP_DARK ? "Light theme (D)" : "Dark theme (D)");
    icon_theme(u, x + mid, cy);

    float at = bar.x + pad, end = x - BUTTON_GAP;
    const struct hint_fit *fit = fit_hints(u, end - at);
    for (int i = 0; i < HINT_COUNT && at + hint_width(u, fit, i) <= end; i++)
        at = draw_hint(u, fit, i, at, cy);
}
