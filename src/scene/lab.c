/* What the labs have in common: their head, controls, legend and cursor. */
#include "lab.h"

#include <math.h>

static const float head_x = 32, head_x_small = 22, small_stage = 640, right_pad = 16;
static const float title_y = 46, title_size = 24, formula_y = 72, formula_size = 14;
static const float controls_y = 98, key_y = 127, plots_y = 142;
static const float button_h = 24, button_pad = 11, button_gap = 6, button_size = 12.5f;
static const float key_size = 11.5f, key_line = 22, key_gap = 6, key_next = 18,
                   key_h = 10;
static const float caption_size = 15, caption_leading = 22, caption_size_small = 13,
                   caption_leading_small = 18, foot_gap = 14;
static const float close_w = 26, cursor_size = 11, cursor_pad = 4;
enum { CAPTION_LINES = 3 };

const char *scene_lab_name(enum step_lab_kind k)
{
    static const char *const name[STEP_LAB_KINDS] = {"saturation", "cost"};
    return name[k];
}

const char *scene_amount(struct scene *sc, double v)
{
    static const char *const unit[] = {"", " k", " M", " G", " T", " P"};
    int k = 0;
    if (v < 99999.5) return scene_count(sc, lround(v));
    for (; v >= 999.5 && k < 5; k++) v /= 1000;
    return scene_print(sc, "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit[k]);
}

const char *scene_seconds(struct scene *sc, double s)
{
    static const char *const unit[] = {"s", "ms", "\u00B5s", "ns"};
    int k = 0;
    if (!(s > 0)) return "0 s";
    for (; s < 0.9995 && k < 3; k++) s *= 1000;
    return scene_print(sc, "%.*f %s", s < 9.995 ? 2 : s < 99.95 ? 1 : 0, s, unit[k]);
}

/* ---- parts ------------------------------------------------------------------------------- */

void lab_words(const struct lab *l, const char *formula, const char *caption)
{
    struct scene *sc = l->sc;
    bool small = l->f.w < small_stage;
    float size = small ? caption_size_small : caption_size;
    float leading = small ? caption_leading_small : caption_leading;
    float room = l->right - l->x;
    (void)scene_text(sc, l->x, l->f.y + formula_y, ALIGN_LEFT, FONT_MONO, formula_size,
                     l->t->ink,
                     scene_fit_text(sc, FONT_MONO, formula_size, room, formula));
    (void)scene_paragraph(sc, l->x, l->plots.y + l->plots.h + foot_gap + size, room,
                          leading, FONT_UI, size, l->t->ink, caption);
}

static struct scene_item *face(const struct lab *l, struct scene_rect box, bool on)
{
    return scene_border(l->sc, box, button_h / 2, on ? 1.5f : 1,
                        on ? l->t->accent_soft : l->t->panel,
                        on ? l->t->accent : l->t->track);
}

static float button_w(const struct lab *l, const char *text)
{
    return font_width(l->sc->font, FONT_UI_BOLD, button_size, text, -1) + 2 * button_pad;
}

static void button(const struct lab *l, struct scene_rect box, const char *text, bool on,
                   int id, struct step_action a, const char *tip)
{
    enum scene_font font = on ? FONT_UI_BOLD : FONT_UI;
    face(l, box, on)->hit =
        (struct scene_hit){.kind = HIT_ACTION, .action = a, .id = id, .tip = tip};
    (void)scene_text(l->sc, box.x + box.w / 2,
                     box.y + box.h / 2 + l->sc->font->cap[font] * button_size / 2,
                     ALIGN_CENTER, font, button_size, on ? l->t->accent : l->t->ink_soft,
                     text);
}

float lab_button(const struct lab *l, float x, const char *text, bool on, int id,
                 struct step_action a, const char *tip)
{
    struct scene_rect box = {x, l->f.y + controls_y - button_h / 2, button_w(l, text),
                             button_h};
    button(l, box, text, on, id, a, tip);
    return x + box.w + button_gap;
}

float lab_word(const struct lab *l, float x, const char *text)
{
    float cap = l->sc->font->cap[FONT_UI] * button_size;
    (void)scene_text(l->sc, x, l->f.y + controls_y + cap / 2, ALIGN_LEFT, FONT_UI,
                     button_size, l->t->ink_soft, text);
    return x + font_width(l->sc->font, FONT_UI, button_size, text, -1) + button_gap;
}

float lab_key(const struct lab *l, float x, struct plot_pen pen, bool band,
              const char *text)
{
    struct scene *sc = l->sc;
    float y = l->key_y;
    if (band)
        (void)scene_rect(sc, (struct scene_rect){x, y - key_h / 2, key_line, key_h}, 0,
                         pen.color);
    else
        scene_line(sc, x, y, x + key_line, y, pen.width, pen.color)->u.line.dash =
            pen.dash;
    x += key_line + key_gap;
    (void)scene_text(sc, x, y + sc->font->cap[FONT_UI] * key_size / 2, ALIGN_LEFT,
                     FONT_UI, key_size, l->t->ink_soft, text);
    return x + font_width(sc->font, FONT_UI, key_size, text, -1) + key_next;
}

void lab_touch(const struct plot *p, int id, const char *tip)
{
    struct scene_item *it = scene_rect(p->sc, p->box, 0, scene_fade(p->theme->paper, 0));
    it->hit = (struct scene_hit){.kind = HIT_SLIDER,
                                 .action = {.verb = STEP_LAB_AT},
                                 .id = id,
                                 .tip = tip,
                                 .lo = (float)log2(p->x.lo),
                                 .hi = (float)log2(p->x.hi)};
}

void lab_cursor(const struct plot *p, double v)
{
    plot_upright(p, v, (struct plot_pen){p->theme->select, 1, 0});
}

void lab_cursor_note(const struct plot *p, double v, const char *text)
{
    const struct plot_note how = {FONT_MONO, cursor_size, cursor_pad, p->theme->on_tip,
                                  p->theme->tip};
    struct scene_rect box = plot_note_box(p, &how, text);
    struct plot_spots s = {.n = 0};
    plot_over(p, &s, box, plot_x(p, v), p->box.y + p->box.h - box.h);
    plot_note(p, &s, &how, text);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Which lab, and the way out, right of the title. */
static void draw_tabs(const struct lab *l)
{
    static const char *const tip[STEP_LAB_KINDS] = {
        "Why stage 3 divides by \u221Ad_head (S)", "FLOPs and bytes against N (S)"};
    float cy = l->f.y + title_y - title_size * 0.36f, x = l->right - close_w;
    struct scene_rect box = {x, cy - button_h / 2, close_w, button_h};
    button(l, box, "\u00D7", false, LAB_ID_CLOSE,
           (struct step_action){.verb = STEP_ESCAPE}, "Back to the stage (Esc)");
    for (int k = STEP_LAB_KINDS - 1; k >= 0; k--) {
        const char *name = scene_lab_name((enum step_lab_kind)k);
        box.w = button_w(l, name);
        x = box.x = x - button_gap - box.w;
        button(l, box, name, (int)l->s->lab.kind == k, LAB_ID_KIND + k,
               (struct step_action){.verb = STEP_LAB, .i = k}, tip[k]);
    }
}

void lab_build(struct scene *sc, const struct step_state *s,
               const struct scene_source *src)
{
    static const char *const title[STEP_LAB_KINDS] = {"Softmax\u2019s saturation",
                                                      "What a block costs"};
    static void (*const draw[STEP_LAB_KINDS])(struct lab *) = {
        [STEP_LAB_SATURATION] = lab_saturation, [STEP_LAB_COST] = lab_cost};
    const struct scene_rect f = sc->frame.stage, all = sc->clip;
    bool small = f.w < small_stage;
    float leading = small ? caption_leading_small : caption_leading;
    float foot = CAPTION_LINES * leading + 2 * foot_gap;
    struct lab l = {.sc = sc,
                    .s = s,
                    .src = src,
                    .t = scene_theme_get(s->theme),
                    .f = f,
                    .bare = !(sc->frame.bottom.w > 0),
                    .x = f.x + (small ? head_x_small : head_x),
                    .right = f.x + f.w - right_pad};
    float up = l.bare ? key_y - controls_y : 0; /* no buttons, no room for them */
    float top = plots_y - up;
    l.key_y = f.y + key_y - up;
    l.plots = (struct scene_rect){l.x, f.y + top, l.right - l.x, f.h - top - foot};
    scene_rect(sc, f, 0, l.t->paper)->hit.kind = HIT_CANVAS;
    sc->clip = f;
    sc->canvas = l.plots;
    (void)scene_text(sc, l.x, f.y + title_y, ALIGN_LEFT, FONT_UI_BOLD, title_size,
                     l.t->ink, title[s->lab.kind]);
    if (!l.bare) draw_tabs(&l);
    draw[s->lab.kind](&l);
    sc->clip = all;
}
