/* Two heads: their scores or weights side by side, each in a pane that shows the same part
 * of its matrix, or the first minus the second. Stages 2 to 5. */
#include "pair.h"

#include <limits.h>
#include <math.h>

static const float pane_gap = 16, pane_head = 30, pane_foot = 28, pane_margin = 4,
                   ticks_margin = 17;
static const float legend_strip = 34, cell_most = 74, note_size = 11.5f;
static const float button_h = 22, button_pad = 9, button_gap = 5, button_size = 12;
static const float right_pad = 70, title_y = 48, picker_gap = 10, mark = 4;
static const float head_x = 32, head_x_small = 22; /* where the stage's texts begin */

/* Ids of its controls: behind the overview's. */
enum { ID_PAIR = 1100, ID_BACK = ID_PAIR + STEP_PAIR_COUNT, ID_ON };

enum face { FACE_FIRST, FACE_SECOND, FACE_MINUS };

/* ---- one matrix ------------------------------------------------------------------------ */

static int kind_of(enum attn_tensor t)
{
    return (int)t - (int)ATTN_S_RAW;
}

/* One range for both heads, so that colours compare; the difference has its own. */
static float range_of(const struct stage *st, enum face f, enum attn_tensor t)
{
    const struct scene_pair *p = st->b.src->pair;
    int k = kind_of(t);
    float first = st->b.src->trace->stats[t].max_abs;
    float most = f == FACE_MINUS ? p->minus_most[k] : fmaxf(first, p->second_most[k]);
    return most > 0 ? most : 1;
}

static struct grid_style style_of(const struct stage *st, enum face f, enum attn_tensor t)
{
    const struct scene_pair *p = st->b.src->pair;
    struct grid g = st->l.result[0];
    int k = kind_of(t);
    g.tensor = t;
    struct grid_style style =
        t == ATTN_P && f != FACE_MINUS ? weights_style(st, &g) : grid_style(&st->b, &g);
    if (t == ATTN_P) style.mask_from = st->b.mask_from;
    style.masked_zero = t == ATTN_P;
    if (f != FACE_FIRST) {
        style.m = f == FACE_SECOND ? p->second[k] : p->minus[k];
        style.key = (uint64_t)1 << 62 | st->b.src->version << 4 |
                    (f == FACE_MINUS ? 8u : 4u) | (uint64_t)k;
    }
    if (style.map == MAP_SEQUENTIAL) return style;
    style.hi = range_of(st, f, t == ATTN_P ? t : ATTN_S_RAW);
    style.lo = -style.hi;
    return style;
}

/* The stage's motion, of any of the three. */
static void draw_face(const struct stage *st, enum face f)
{
    struct grid g = st->l.result[0];
    enum attn_stage stage = st->b.s->stage;
    int n = st->b.pass.to, done = st->done ? n : st->clock.row0 + st->beat.at;
    float u = fade_part(st);
    enum attn_tensor t = stage == ATTN_SCORES           ? ATTN_S_RAW
                         : stage == ATTN_SCALE && u < 1 ? ATTN_S_RAW
                         : stage == ATTN_SCALE          ? ATTN_S_SCALED
                         : stage == ATTN_MASK && st->b.mask_from == INT_MAX
                             ? ATTN_S_MASKED
                             : ATTN_S_SCALED;
    struct grid_style style = style_of(st, f, t);
    g.tensor = t;
    if (stage == ATTN_SCORES) style.shown = cells_shown(st, &g);
    if (stage == ATTN_SCALE && u < 1)
        style.gain = 1 + ((float)(1.0 / attn_divisor_of(st->b.s->opts, st->d)) - 1) * u;
    if (stage >= ATTN_MASK && st->b.mask_from < INT_MAX)
        style.mask_from = stage == ATTN_MASK ? diagonal_from(st) : st->b.mask_from;
    if (stage != ATTN_SOFTMAX) {
        grid_draw(&st->b, &g, &style);
        return;
    }
    style.row0 = done;
    grid_draw(&st->b, &g, &style);
    style = style_of(st, f, ATTN_P);
    g.tensor = ATTN_P;
    style.row1 = done;
    grid_draw(&st->b, &g, &style);
}

/* ---- panes ----------------------------------------------------------------------------- */

/* The grid in the middle of a pane: square cells, tokens left of it and above. */
static struct grid grid_in(const struct stage *st, struct scene_rect pane)
{
    float n = (float)st->d.n_tok;
    float margin = n > 99 ? ticks_margin : pane_margin; /* half of "1024" */
    float w = pane.w - st->l.chip_w - 2 * margin, h = pane.h - pane_head - pane_foot;
    float cell = fminf(fminf(w, h) / n, cell_most);
    float all = st->l.chip_w + cell * n;
    return (struct grid){.tensor = st->l.result[0].tensor,
                         .x = pane.x + (pane.w - all) / 2 + st->l.chip_w,
                         .y = pane.y + pane_head + (h - cell * n) / 2,
                         .cell_w = cell,
                         .cell_h = cell,
                         .rows = st->d.n_tok,
                         .cols = st->d.n_tok};
}

static const char *face_name(const struct stage *st, enum face f)
{
    const char *letter = st->b.s->stage == ATTN_SOFTMAX ? "A" : "S";
    int a = st->b.place->head + 1, b = st->b.src->pair->head + 1;
    struct scene *sc = st->b.sc;
    return f == FACE_MINUS
               ? scene_print(sc, "%s, head %d \u2212 head %d", letter, a, b)
               : scene_print(sc, "%s, head %d", letter, f == FACE_FIRST ? a : b);
}

/* Draws one face in its pane. by: how far right of the first pane it lies; what is zoomed
 * and panned is the first's, and the second follows. */
static void draw_pane(const struct stage *whole, enum face f, struct scene_rect pane,
                      float by)
{
    struct stage st = *whole;
    struct scene *sc = st.b.sc;
    struct scene_rect all = sc->clip;
    st.l.result[0] = grid_in(&st, pane);
    st.b.canvas = pane;
    st.b.canvas.x += by;
    st.b.view.x += by;
    sc->clip = st.b.canvas;
    draw_face(&st, f);
    frames_draw(&st, false);
    crosshair_draw(&st);
    grid_row_tokens(&st.b, &st.l.result[0], 1);
    grid_col_tokens(&st.b, &st.l.result[0], 1);
    struct scene_rgba ink = f == FACE_SECOND ? st.b.theme->k : st.b.theme->accent;
    grid_label(&st.b, &st.l.result[0], true, face_name(&st, f),
               f == FACE_MINUS ? st.b.theme->ink : ink, "", 1);
    sc->clip = all;
}

static void draw_note(const struct stage *st, float y)
{
    struct scene *sc = st->b.sc;
    const struct scene_rect *f = &sc->frame.stage;
    const char *text =
        scene_print(sc, "orange: more in head %d \u00B7 blue: more in head %d",
                    st->b.place->head + 1, st->b.src->pair->head + 1);
    (void)scene_text(sc, f->x + (f->w < 640 ? head_x_small : head_x), y, ALIGN_LEFT,
                     FONT_UI, note_size, st->b.theme->ink_soft, text);
}

void pair_draw(struct stage *st)
{
    struct scene *sc = st->b.sc;
    bool minus = st->b.s->pair == STEP_PAIR_MINUS;
    bool weights = st->b.s->stage == ATTN_SOFTMAX;
    struct scene_rect pane = st->b.canvas;
    pane.h -= legend_strip;
    if (!minus) pane.w = (pane.w - pane_gap) / 2;
    sc->canvas = pane;
    if (minus) {
        draw_pane(st, FACE_MINUS, pane, 0);
    } else {
        sc->pane_by = pane.w + pane_gap;
        draw_pane(st, FACE_FIRST, pane, 0);
        draw_pane(st, FACE_SECOND, pane, sc->pane_by);
    }
    /* At the canvas's foot, whatever is zoomed. */
    struct stage under = *st;
    under.b.view = (struct step_view){.zoom = 1};
    struct grid foot = {.y = st->b.canvas.y + st->b.canvas.h};
    enum face f = minus ? FACE_MINUS : FACE_SECOND;
    float hi = range_of(st, f, weights ? ATTN_P : ATTN_S_RAW);
    float lo = 0, top = 1;
    scene_weights_range(st->b.src, &lo, &top);
    if (weights && !minus)
        grid_legend(&under.b, &foot, MAP_SEQUENTIAL, lo, top);
    else
        grid_legend(&under.b, &foot, MAP_DIVERGING, -hi, hi);
    if (minus) draw_note(st, st->b.canvas.y + st->b.canvas.h - 4);
}

/* ---- its controls ------------------------------------------------------------------------- */

static struct step_action act(enum step_verb verb, int i)
{
    return (struct step_action){.verb = verb, .i = i};
}

/* A small button whose right end is at x; returns its left end. */
static float button(const struct brush *b, float x, float cy, const char *text, bool on,
                    int id, struct step_action a, const char *tip)
{
    struct scene *sc = b->sc;
    const struct scene_theme *t = b->theme;
    enum scene_font font = on ? FONT_UI_BOLD : FONT_UI;
    float w = font_width(sc->font, FONT_UI_BOLD, button_size, text, -1) + 2 * button_pad;
    struct scene_rect box = {x - w, cy - button_h / 2, w, button_h};
    struct scene_item *it =
        scene_border(sc, box, button_h / 2, on ? 1.5f : 1, on ? t->accent_soft : t->panel,
                     on ? t->accent : t->track);
    it->hit = (struct scene_hit){.kind = HIT_ACTION, .action = a, .id = id, .tip = tip};
    (void)scene_text(sc, box.x + w / 2, cy + sc->font->cap[font] * button_size / 2,
                     ALIGN_CENTER, font, button_size, on ? t->accent : t->ink_soft, text);
    return box.x;
}

/* < or >, its right end at x; dead at the end of the heads. */
static float arrow(const struct brush *b, float x, float cy, int way, bool end)
{
    struct scene *sc = b->sc;
    const struct scene_theme *t = b->theme;
    struct scene_rect box = {x - button_h, cy - button_h / 2, button_h, button_h};
    struct scene_item *it = scene_border(sc, box, mark + 1, 1, t->panel, t->track);
    if (!end)
        it->hit =
            (struct scene_hit){.kind = HIT_ACTION,
                               .action = act(STEP_SECOND_BY, way),
                               .id = way < 0 ? ID_BACK : ID_ON,
                               .tip = way < 0 ? "Second head: the one before (Shift [)"
                                              : "Second head: the next one (Shift ])"};
    float cx = box.x + button_h / 2, side = (float)way;
    const float px[3] = {cx + side * mark, cx - side * mark, cx - side * mark};
    const float py[3] = {cy, cy + side * mark, cy - side * mark};
    (void)scene_triangle(sc, px, py, end ? t->edge : t->ink_soft);
    return box.x;
}

void pair_controls(const struct brush *b)
{
    static const char *const name[STEP_PAIR_COUNT] = {"one", "two", "difference"};
    static const char *const tip[STEP_PAIR_COUNT] = {
        "One head (A)", "Two heads side by side (A)",
        "The first head minus the second (A)"};
    struct scene *sc = b->sc;
    const struct scene_rect *f = &sc->frame.stage;
    int n = b->place->dims.n_head, second = step_second(b->s);
    if (n < 2 || b->s->stage < ATTN_SCORES || b->s->stage > ATTN_SOFTMAX) return;
    float x = f->x + f->w - right_pad, cy = f->y + title_y - 8;
    if (second >= 0) {
        int last = b->place->head == n - 1 ? n - 2 : n - 1;
        int first = b->place->head == 0 ? 1 : 0;
        x = arrow(b, x, cy, 1, second >= last) - button_gap;
        float w = font_width(sc->font, FONT_UI_MEDIUM, button_size, "head 88", -1);
        (void)scene_text(sc, x - w / 2, cy + sc->font->cap[FONT_UI] * button_size / 2,
                         ALIGN_CENTER, FONT_UI_MEDIUM, button_size, b->theme->k,
                         scene_print(sc, "head %d", second + 1));
        x = arrow(b, x - w - button_gap, cy, -1, second <= first) - picker_gap;
    }
    for (int k = STEP_PAIR_COUNT - 1; k >= 0; k--)
        x = button(b, x, cy, name[k], (int)b->s->pair == k, ID_PAIR + k,
                   act(STEP_PAIR, k), tip[k]) -
            button_gap;
    (void)scene_text(sc, x - button_gap, cy + sc->font->cap[FONT_UI] * button_size / 2,
                     ALIGN_RIGHT, FONT_UI, button_size, b->theme->ink_soft, "heads");
}
