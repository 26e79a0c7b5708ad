/* ui_build: the parts in painter's order, and what lies over them: the what-if banner,
 * the message bar, the tooltip, the focus ring. */
#include "ui.h"

#include "field.h"
#include "parts.h"

#include <math.h>
#include <string.h>

enum {
    BANNER_H = 24,
    BANNER_LEADING = 11, /* of two lines */
    MESSAGE_H = 32,      /* of one line */
    MESSAGE_LEADING = 17,
    MESSAGE_MORE = 24, /* a line more covers a whole line of the caption */
    MAKING_H = 4,      /* of the bar that says how far a film is */
    BAR_PAD = 24,
    TIP_PAD = 11,
    TIP_LINE = 19,
    TIP_DX = 14, /* from the pointer */
    TIP_DY = 18,
    TIP_MARGIN = 6, /* to the window's edge */
    TIP_MOST = 420, /* width */
    TIP_CODE_MOST = 680,
    TIP_RADIUS = 6,
    BACK_PAD = 10,
    BACK_INSET = 3,
    BACK_RADIUS = 4,
    RING_W = 2,
    RING_OUT = 2, /* outside the control */
    RING_RADIUS = 6
};
static const float tip_soft = 0.78f; /* strength of a tooltip's second line */
static const struct ui_type banner_small = {FONT_UI_MEDIUM, 10.5f};

/* ---- banner and message ------------------------------------------------------------------ */

static void bar(const struct ui *u, struct scene_rect box, const char *text)
{
    const struct scene_theme *t = u->theme;
    u->sc->clip = u->sc->frame.stage;
    (void)scene_rect(u->sc, box, 0, t->warn);
    (void)ui_text_fit(u, box.x + BAR_PAD, box.y + box.h / 2, box.w - 2 * BAR_PAD,
                      ALIGN_LEFT, ui_strong, t->on_warn, text);
}

/* The texts of a tooltip; lines past the last are NULL. */
enum { TIP_LINES = 6, TIP_ROOM = 7 };
struct tip {
    const char *line[TIP_ROOM]; /* wrapped: TIP_LINES of them */
};

/* A long text in lines of at most `width` points, broken at spaces; what is over is in the
 * last. */
static void tip_wrap(const struct ui *u, struct ui_type type, float width, int lines,
                     struct tip *tip)
{
    const char *rest = tip->line[0];
    for (int i = 0; i < lines && *rest; i++) {
        int n = 0, fit = 0;
        while (rest[n]) {
            n++;
            while (rest[n] && rest[n] != ' ') n++;
            if (fit && font_width(u->sc->font, type.font, type.size, rest, n) > width)
                break;
            fit = n;
        }
        tip->line[i] = i + 1 < lines ? scene_print(u->sc, "%.*s", fit, rest) : rest;
        rest += fit;
        while (*rest == ' ') rest++;
    }
}

/* "What if: causal mask is off"; see scene_broken_text. */
static const char *broken_text(const struct ui *u, bool brief)
{
    static const char *const looked_at[STEP_SEE_COUNT] = {
        "What if: ", "Correct, without: ", "Difference made by: "};
    return scene_print(u->sc, "%s%s", looked_at[step_seen(u->s)],
                       scene_broken_text(u->sc, u->s, brief));
}

/* In words that fit: whole, brief, or brief in two small lines. The hover text says all
 * of it. */
static void banner_text(const struct ui *u, struct scene_rect box, const char *whole)
{
    struct scene_rgba ink = u->theme->on_warn;
    float cy = box.y + box.h / 2;
    const char *text =
        ui_width(u, ui_strong, whole) <= box.w ? whole : broken_text(u, true);
    if (ui_width(u, ui_strong, text) <= box.w) {
        (void)ui_text(u, box.x, cy, ALIGN_LEFT, ui_strong, ink, text);
    } else {
        struct tip two = {.line = {text}};
        tip_wrap(u, banner_small, box.w, 2, &two);
        int n = two.line[1] ? 2 : 1;
        for (int i = 0; i < n; i++)
            (void)ui_text_fit(u, box.x,
                              cy + ((float)i - (float)(n - 1) * 0.5f) * BANNER_LEADING,
                              box.w, ALIGN_LEFT, banner_small, ink, two.line[i]);
    }
    struct scene_item *touch = scene_rect(u->sc, box, 0, scene_fade(ink, 0));
    touch->hit.kind = HIT_COVER;
    touch->hit.tip = whole;
}

/* What is broken, as long as it is, and the way back. */
static void draw_banner(const struct ui *u)
{
    static const char *const backs[] = {"X: all correct again", "X: all correct"};
    if (!step_is_broken(u->s)) return;
    const char *whole = broken_text(u, false);
    struct scene_rect box = u->sc->frame.stage;
    box.h = BANNER_H;
    const float beside = BAR_PAD + 4 * BACK_PAD; /* of both texts */
    bool tight =
        ui_width(u, ui_strong, whole) + ui_width(u, ui_strong, backs[0]) > box.w - beside;
    const char *back = backs[tight];
    float w = ui_width(u, ui_strong, back) + 2 * BACK_PAD;
    struct scene_rect button = {box.x + box.w - w - BACK_PAD, box.y + BACK_INSET, w,
                                BANNER_H - 2 * BACK_INSET};
    bar(u, box, "");
    struct scene_rect text = {box.x + BAR_PAD, box.y,
                              button.x - box.x - BAR_PAD - BACK_PAD, box.h};
    banner_text(u, text, whole);
    struct scene_item *it =
        scene_border(u->sc, button, BACK_RADIUS, 1, scene_fade(u->theme->on_warn, 0.08f),
                     u->theme->on_warn);
    ui_control(it, UI_ID_CORRECT, ui_act(STEP_CORRECT, 0),
               "Everything back to correct (X)");
    (void)ui_text(u, button.x + button.w / 2, button.y + button.h / 2, ALIGN_CENTER,
                  ui_strong, u->theme->on_warn, back);
}

/* At the stage's foot, in as many lines as it needs. */
static void draw_message(const struct ui *u)
{
    if (!u->src->message) return;
    struct scene_rect box = u->sc->frame.stage;
    struct tip text = {.line = {u->src->message}};
    float room = box.w - 2 * BAR_PAD;
    if (ui_width(u, ui_strong, u->src->message) > room)
        tip_wrap(u, ui_strong, room, TIP_LINES, &text);
    int n = 1;
    while (n < TIP_LINES && text.line[n]) n++;
    float h = MESSAGE_H + (float)(n - 1) * MESSAGE_MORE;
    float first = (h - (float)(n - 1) * MESSAGE_LEADING) / 2;
    box.y += box.h - h;
    box.h = h;
    bar(u, box, "");
    for (int i = 0; i < n; i++)
        (void)ui_text_fit(u, box.x + BAR_PAD, box.y + first + (float)i * MESSAGE_LEADING,
                          room, ALIGN_LEFT, ui_strong, u->theme->on_warn, text.line[i]);
    if (!(u->src->making > 0)) return;
    box.y += box.h - MAKING_H;
    box.h = MAKING_H;
    box.w *= fminf(u->src->making, 1);
    (void)scene_rect(u->sc, box, 0, u->theme->accent);
}

/* "row 3 ·sat": a token's number and, where it has one, its text. */
static const char *named(const struct ui *u, const char *what, int i)
{
    const char *text = scene_token_text(u->sc, u->src, i);
    return scene_print(u->sc, *text ? "%s %d %s" : "%s %d", what, i + 1, text);
}

static bool is_weight(enum attn_tensor t)
{
    return t == ATTN_W_Q || t == ATTN_W_K || t == ATTN_W_V || t == ATTN_W_O;
}

/* Nine digits name a float exactly. */
static const char *full_value(const struct ui *u, float v)
{
    return scene_digits(u->sc, (double)v, 9);
}

/* "rank 2 of 636" among the weights that the row may see. */
static const char *rank_text(const struct ui *u, struct attn_cmat p, struct step_ref at)
{
    int seen = attn_seen(u->src->trace->opts, at.row, p.cols), rank = 1;
    const float *row = p.data + (size_t)at.row * (size_t)p.ld;
    if (at.col >= seen) return "   masked";
    for (int j = 0; j < seen; j++) rank += row[j] > row[at.col];
    return scene_print(u->sc, "   rank %d of %d", rank, seen);
}

/* The cell in both heads, and how far they are apart. */
static const char *two_values(const struct ui *u, struct step_ref at, float first)
{
    const struct scene_pair *p = u->src->pair;
    struct attn_cmat m = p->second[at.tensor - ATTN_S_RAW];
    float second = m.data[(size_t)at.row * (size_t)m.ld + (size_t)at.col];
    const char *both = scene_print(u->sc, "head %d: %s   head %d: %s",
                                   u->src->trace->head + 1, scene_number(u->sc, first, 4),
                                   p->head + 1, scene_number(u->sc, second, 4));
    if (!isfinite(first - second)) return both;
    return scene_print(u->sc, "%s   %s", both, scene_signed(u->sc, first - second, 4));
}

static struct tip tip_of_cell(const struct ui *u, const struct scene_at *under)
{
    struct step_ref at = under->cell;
    struct attn_cmat m = scene_tensor_view(u->src, at.tensor);
    struct tip tip = {{NULL}};
    if (!m.data || at.row >= m.rows || at.col >= m.cols) return tip;
    if (ui_is_grid(at.tensor))
        tip.line[0] = scene_print(u->sc, "%s \u2192 %s", named(u, "row", at.row),
                                  named(u, "col", at.col));
    else if (is_weight(at.tensor))
        tip.line[0] = scene_print(u->sc, "row %d, col %d", at.row + 1, at.col + 1);
    else
        tip.line[0] =
            scene_print(u->sc, "%s, col %d", named(u, "row", at.row), at.col + 1);
    if (scene_is_to_come(under)) {
        tip.line[1] =
            scene_print(u->sc, "%s: not computed yet", scene_tensor_name(at.tensor));
        return tip;
    }
    float v = m.data[(size_t)at.row * (size_t)m.ld + (size_t)at.col];
    if (ui_is_grid(at.tensor) && step_is_paired(u->s) && u->src->pair) {
        tip.line[1] = two_values(u, at, v);
        return tip;
    }
    tip.line[1] =
        scene_print(u->sc, "%s = %s%s", scene_tensor_name(at.tensor), full_value(u, v),
                    at.tensor == ATTN_P ? rank_text(u, m, at) : "");
    return tip;
}

enum tip_kind { TIP_NOTE, TIP_CELL, TIP_CODE };

/* Right below (x, y), or left of it or above where there is no room; high: above y, or below
 * `low` where there is no room. */
struct tip_place {
    float x, y, low;
    bool high;
};

static void put_tip(const struct ui *u, struct tip *tip, enum tip_kind kind,
                    struct tip_place at)
{
    bool cells = kind == TIP_CELL;
    float x = at.x, y = at.y, most = kind == TIP_CODE ? TIP_CODE_MOST : TIP_MOST;
    struct scene *sc = u->sc;
    const struct scene_theme *t = u->theme;
    struct ui_type type = kind == TIP_NOTE ? ui_note : ui_figure;
    if (kind == TIP_NOTE) tip_wrap(u, type, TIP_MOST, TIP_LINES, tip);
    sc->clip = (struct scene_rect){0, 0, sc->w, sc->h};
    float w = 0;
    int n = 1;
    while (n < TIP_ROOM && tip->line[n]) n++;
    for (int i = 0; i < n; i++) {
        tip->line[i] = scene_fit_text(sc, type.font, type.size, most, tip->line[i]);
        w = fmaxf(w, ui_width(u, type, tip->line[i]));
    }
    struct scene_rect box = {x + TIP_DX, y + TIP_DY, w + 2 * TIP_PAD,
                             (float)n * TIP_LINE + TIP_PAD};
    if (box.x + box.w > sc->w - TIP_MARGIN) box.x = x - TIP_DX - box.w;
    if (box.y + box.h > sc->h - TIP_MARGIN) box.y = y - TIP_DX - box.h;
    if (at.high) box.y = y - box.h - TIP_MARGIN;
    if (at.high && box.y < TIP_MARGIN) box.y = at.low + TIP_MARGIN;
    box.x = fmaxf(box.x, TIP_MARGIN);
    (void)scene_rect(sc, box, TIP_RADIUS, t->tip);
    for (int i = 0; i < n; i++)
        (void)ui_text(u, box.x + TIP_PAD,
                      box.y + TIP_PAD * 0.5f + TIP_LINE * ((float)i + 0.5f), ALIGN_LEFT,
                      type, i && cells ? scene_fade(t->on_tip, tip_soft) : t->on_tip,
                      tip->line[i]);
}

static bool is_term(int id)
{
    return id >= SCENE_TERM_ID && id < SCENE_TERM_END;
}

/* Over the whole caption, or the whole drawer: what is being read stays free. */
static struct tip_place above(const struct ui *u, const struct scene_item *it)
{
    struct scene_rect box = scene_item_box(u->sc, it);
    float top = box.y;
    if (is_term(it->hit.id))
        top = fminf(top, u->sc->canvas.y + u->sc->canvas.h);
    else
        top = fminf(top, u->sc->frame.code.y);
    return (struct tip_place){box.x - TIP_DX, top, box.y + box.h, true};
}

/* What has the focus tells what the pointer would be told there: a term its meaning, a line
 * of code the values of its names. false: neither has. */
static bool draw_told(const struct ui *u)
{
    int id = u->s->focus;
    bool code = id >= UI_ID_CODE_LINE && id < UI_ID_CODE_TAB;
    const struct scene_item *it = code || is_term(id) ? scene_find(u->sc, id) : NULL;
    if (!it || u->s->help) return false;
    struct tip tip = {{it->hit.tip}};
    const char *rest = it->hit.tip;
    for (int i = 0; code && i < TIP_ROOM && *rest; i++) {
        int n = (int)strcspn(rest, "\n");
        tip.line[i] = scene_print(u->sc, "%.*s", n, rest);
        rest += n + (rest[n] == '\n');
    }
    put_tip(u, &tip, code ? TIP_CODE : TIP_NOTE, above(u, it));
    return true;
}

static void draw_tip(const struct ui *u)
{
    const struct ui_pointer *p = u->pointer;
    if (draw_told(u) || !p || p->down) return;
    if (step_field_is_open(u->s)) return; /* what is typed is not to be covered */
    struct scene_at at = scene_pick(u->sc, p->x, p->y);
    if (!at.item) return;
    bool cells = at.item->hit.kind == HIT_CELLS;
    int id = at.item->hit.id;
    struct tip tip = {{at.item->hit.tip}};
    struct tip_place place = {.x = p->x, .y = p->y};
    if (cells) tip = tip_of_cell(u, &at);
    if (is_term(id) || (id >= UI_ID_CODE_TAB && id <= UI_ID_CODE_CLOSE)) {
        place = above(u, at.item);
        place.x = p->x;
    }
    if (tip.line[0]) put_tip(u, &tip, cells ? TIP_CELL : TIP_NOTE, place);
}

/* ---- focus ----------------------------------------------------------------------------------- */

static void draw_focus(const struct ui *u)
{
    const struct scene_item *it = scene_find(u->sc, u->s->focus);
    if (!it) return;
    struct scene *sc = u->sc;
    struct scene_rect box = scene_item_box(sc, it);
    if (scene_pick(sc, box.x + box.w / 2, box.y + box.h / 2).item != it)
        return; /* hidden */
    box = ui_grown(box, RING_OUT);
    float radius = it->kind == SCENE_RECT && it->u.rect.radius > 0
                       ? it->u.rect.radius + RING_OUT
                       : RING_RADIUS;
    sc->clip = (struct scene_rect){0, 0, sc->w, sc->h};
    (void)scene_border(sc, box, radius, RING_W, scene_fade(u->theme->accent, 0),
                       u->theme->accent);
}

void ui_build(struct scene *sc, const struct step_state *s,
              const struct scene_source *src, const struct ui_pointer *p)
{
    const struct ui u = {sc, s, src, p, scene_theme_get(s->theme)};
    draw_banner(&u);
    draw_message(&u);
    bool bars = !s->presenter.on;
    bool tour = src->tour && !s->switches;
    if (tour)
        sc->asked = (struct scene_asked){src->tour->kind, src->tour->rows,
                                         src->tour->cols, src->tour->first};
    if (tour) ui_tour_mark(&u);
    if (bars) ui_top_bar(&u);
    if (bars) ui_rail(&u);
    if (tour)
        ui_tour(&u);
    else if (sc->frame.panel.w > 0)
        ui_panel(&u);
    if (bars) ui_bottom_bar(&u);
    ui_presenter_leave(&u);
    ui_code(&u);
    ui_why(&u);
    ui_field(&u);
    ui_help(&u);
    draw_focus(&u);
    draw_tip(&u);
    ui_presenter(&u);
}
