/* Tokens along a matrix: chips where cells are large, ticks where they are small. */
#include "grid.h"

#include <math.h>

static const float chip_least = 15; /* points of a row that still hold a chip */
static const float chip_height = 23, chip_distance = 10, chip_pad = 9;
static const float tick_size = 11, tick_apart_x = 44, tick_apart_y = 26;
static const float chip_narrow = 48;
static const float header_h = 28; /* of column tokens that stay at the canvas's edge */
static const float index_share = 0.8f; /* of the text's size */
static const float chip_text_least = 7.5f;
static const float joint_w = 1.25f, joint_off = 1, joint_end = 3;
static const float chip_ring = 2, bar_w = 3; /* around, beside selected rows */

static float index_width(const struct scene *sc, int token, float size)
{
    int digits = token + 1 >= 1000 ? 4 : token + 1 >= 100 ? 3 : token + 1 >= 10 ? 2 : 1;
    return (float)digits * font_advance(sc->font, FONT_MONO, '0') * size * index_share;
}

float scene_raw_chip_width(struct scene *sc, const char *text, int token, float size)
{
    float w = 2 * chip_pad + index_width(sc, token, size);
    if (!text) return w;
    return w + 5 +
           font_width(sc->font, FONT_MONO_BOLD, size, scene_raw_text(sc, text), -1);
}

float scene_chip_width(struct scene *sc, const struct scene_source *src, int token,
                       float size)
{
    return scene_raw_chip_width(sc, src->tokens ? src->tokens[token] : NULL, token, size);
}

void scene_chip(struct scene *sc, struct scene_rect box, const struct scene_source *src,
                int token, float size, bool on)
{
    scene_raw_chip(sc, box, src->tokens ? src->tokens[token] : NULL, token, size, on);
}

void scene_raw_chip(struct scene *sc, struct scene_rect box, const char *raw, int token,
                    float size, bool on)
{
    const struct scene_theme *t = scene_theme_get(sc->theme);
    struct scene_rgba hue = scene_token_hue(token);
    struct scene_rgba fill = scene_mix(t->panel, hue, on ? 0.18f : 0.10f);
    struct scene_rgba ink = scene_mix(t->ink, hue, on ? 0.80f : 0.55f);
    (void)scene_rect(sc, box, box.h / 2, fill);
    const char *text = raw ? scene_raw_text(sc, raw) : "";
    const char *index = scene_print(sc, "%d", token + 1);
    float base = box.y + box.h / 2 + sc->font->cap[FONT_MONO] * size / 2;
    if (!*text) {
        (void)scene_text(sc, box.x + box.w / 2, base, ALIGN_CENTER, FONT_MONO_BOLD, size,
                         ink, index);
        return;
    }
    float small = fmaxf(size * index_share, chip_text_least);
    float wi = font_width(sc->font, FONT_MONO, small, index, -1);
    float room = box.w - wi - 5 - 8;
    while (size > 9 && font_width(sc->font, FONT_MONO_BOLD, size, text, -1) > room)
        size -= 0.5f; /* smaller before shorter */
    bool fits = font_width(sc->font, FONT_MONO_BOLD, size, text, -1) <= room;
    if (!fits && box.w < chip_narrow) { /* the rows name it; here its number is enough */
        (void)scene_text(sc, box.x + box.w / 2, base, ALIGN_CENTER, FONT_MONO_BOLD, size,
                         ink, index);
        return;
    }
    text = scene_fit_text(sc, FONT_MONO_BOLD, size, room, text);
    float wt = font_width(sc->font, FONT_MONO_BOLD, size, text, -1);
    float x = box.x + fmaxf(4, (box.w - wi - 5 - wt) / 2);
    (void)scene_text(sc, x, base, ALIGN_LEFT, FONT_MONO, small, scene_fade(ink, 0.75f),
                     index);
    (void)scene_text(sc, x + wi + 5, base, ALIGN_LEFT, FONT_MONO_BOLD, size, ink, text);
}

/* 1, 5, 10 ... or 1, 256, 512 ...: powers of two from 64 on, as contexts are. */
static int tick_step(float pitch, float apart)
{
    static const int steps[] = {1, 2, 5, 10, 16, 32, 64, 128, 256, 512};
    for (int k = 0; k < (int)(sizeof steps / sizeof steps[0]); k++)
        if (pitch * (float)steps[k] >= apart) return steps[k];
    return 1024;
}

/* Every number where a cell has room for it, wide points. */
static float ticks_apart(float pitch, float wide, float apart)
{
    return pitch >= wide ? pitch : apart;
}

/* Ticks at 1, step, 2 step, ... and n; one too near to n is left out. */
static int tick_at(int k, int step, int n, float pitch, float apart)
{
    int at = k == 0 ? 1 : k * step;
    if (k > 0 && (at == 1 || (float)(at - 1) * pitch < apart)) return 0;
    if (at > n) return k > 0 && (k - 1) * step < n ? n : -1;
    if (at != n && (float)(n - at) * pitch < apart) return k == 0 ? 1 : n;
    return at;
}

static void row_ticks(const struct brush *b, const struct grid *g, float alpha)
{
    struct scene *sc = b->sc;
    float apart = ticks_apart(g->cell_h, tick_size + 3, tick_apart_y);
    int step = tick_step(g->cell_h, apart), last = 0, n = b->pass.to;
    float right = fmaxf(g->x - 8, b->canvas.x + 34);
    for (int k = 0; last < n; k++) {
        int at = tick_at(k, step, n, g->cell_h, apart * 0.7f);
        if (at < 0) break;
        if (at == 0 || at <= last) continue;
        last = at;
        float y = g->y + ((float)at - 0.5f) * g->cell_h + 4;
        if (y < b->canvas.y + (b->view.zoom > 1 ? header_h + 8 : 8) ||
            y > b->canvas.y + b->canvas.h - 2)
            continue;
        (void)scene_text(sc, right, y, ALIGN_RIGHT, FONT_MONO, tick_size,
                         scene_fade(b->theme->ink_faint, alpha),
                         scene_print(sc, "%d", at));
    }
}

static struct scene_rect row_chip_box(const struct brush *b, const struct grid *g,
                                      int row)
{
    float h = fminf(chip_height, g->cell_h - 3);
    float w = b->canvas.w < 640 ? 48 : 62;
    float x = fmaxf(g->x - chip_distance - w, b->canvas.x + 2);
    return (struct scene_rect){x, g->y + ((float)row + 0.5f) * g->cell_h - h / 2, w, h};
}

static float chip_size(float h)
{
    return fminf(12.5f, h * 0.62f);
}

static int first_visible(float from, float start, float pitch, int n)
{
    int i = (int)floorf((from - start) / pitch);
    return i < 0 ? 0 : i > n ? n : i;
}

/* Where a matrix reaches under its own tokens, they stand on paper. */
static void header_paper(const struct brush *b, struct scene_rect box)
{
    if (b->view.zoom > 1)
        (void)scene_rect(b->sc, box, 0, scene_fade(b->theme->paper, 0.94f));
}

/* A bracket's piece between the middles of tokens i and i + 1, parts of one character, along
 * chips: from (x0, y0) to (x1, y1), its ends towards the chips by (dx, dy). */
static void joint(const struct brush *b, int i, float x0, float y0, float x1, float y1,
                  float dx, float dy)
{
    struct scene_rgba ink = b->theme->ink_soft;
    (void)scene_line(b->sc, x0, y0, x1, y1, joint_w, ink);
    if (!scene_token_joins(b->src, i - 1))
        (void)scene_line(b->sc, x0, y0, x0 + dx, y0 + dy, joint_w, ink);
    if (!scene_token_joins(b->src, i + 1))
        (void)scene_line(b->sc, x1, y1, x1 + dx, y1 + dy, joint_w, ink);
}

/* Beside ticks: a bar along the rows that are selected, where they are several. */
static void row_bars(const struct brush *b, const struct grid *g)
{
    int from, to = 0;
    if (g->tensor == ATTN_V || step_row_count(b->place) < 2) return;
    while (step_row_run(b->place, &from, &to)) {
        struct scene_rect r = grid_cells(g, from, to, 0, 0);
        float h = fmaxf(r.h, 2), x = fmaxf(g->x, b->canvas.x + bar_w + 2) - bar_w - 2;
        (void)scene_rect(b->sc, (struct scene_rect){x, r.y + (r.h - h) / 2, bar_w, h}, 0,
                         b->theme->accent);
    }
}

void grid_row_tokens(const struct brush *b, const struct grid *fitted, float alpha)
{
    if (alpha < 0.5f) return;
    struct grid g = grid_on_screen(b, *fitted);
    bool chips = g.cell_h >= chip_least;
    float left = b->canvas.x, wide = chips ? row_chip_box(b, &g, 0).w + 8 : 38;
    if (g.x < left + wide)
        header_paper(b, (struct scene_rect){left, b->canvas.y, wide, b->canvas.h});
    if (!chips) {
        row_ticks(b, &g, alpha);
        row_bars(b, &g);
        return;
    }
    int i0 = first_visible(b->canvas.y, g.y, g.cell_h, g.rows);
    int i1 = first_visible(b->canvas.y + b->canvas.h, g.y, g.cell_h, b->pass.to - 1) + 1;
    bool several =
        g.tensor != ATTN_V && step_row_count(b->place) > 1; /* V's are sources */
    for (int i = i0; i < i1; i++) {
        struct scene_rect box = row_chip_box(b, &g, i);
        if (b->view.zoom > 1 && box.y < b->canvas.y + header_h) continue;
        scene_chip(b->sc, box, b->src, i, chip_size(box.h), i >= b->pass.from);
        float side = box.x + box.w + joint_off + joint_end, mid = box.y + box.h / 2;
        if (scene_token_joins(b->src, i))
            joint(b, i, side, mid, side, mid + g.cell_h, -joint_end, 0);
        struct scene_item *it =
            scene_rect(b->sc, box, box.h / 2, scene_fade(b->theme->paper, 0));
        if (several && step_row_is_on(b->place, i)) {
            it->u.rect.border = chip_ring;
            it->u.rect.stroke = b->theme->select;
        }
        it->hit.kind = HIT_ACTION;
        it->hit.action = (struct step_action){.verb = STEP_ROW, .i = i};
        it->hit.tip = scene_print(
            b->sc, "Select row %d (\u2191 \u2193; several: Shift or Ctrl)", i + 1);
    }
}

void grid_col_tokens(const struct brush *b, const struct grid *fitted, float alpha)
{
    if (alpha < 0.5f) return;
    struct scene *sc = b->sc;
    struct grid g = grid_on_screen(b, *fitted);
    bool chips = g.cell_w >= 30;
    float y = fmaxf(g.y - 8, b->canvas.y + header_h - 8);
    if (g.y < b->canvas.y + header_h)
        header_paper(
            b, (struct scene_rect){b->canvas.x, b->canvas.y, b->canvas.w, header_h});
    float wide =
        font_width(sc->font, FONT_MONO, tick_size, scene_print(sc, "%d", g.cols), -1);
    float apart = ticks_apart(g.cell_w, wide + 8, tick_apart_x);
    int step = tick_step(g.cell_w, apart), last = 0;
    int j0 = first_visible(b->canvas.x, g.x, g.cell_w, g.cols);
    int n = b->pass.to;
    int j1 = first_visible(b->canvas.x + b->canvas.w, g.x, g.cell_w, n - 1) + 1;
    if (chips) {
        for (int j = j0; j < j1; j++) {
            float w = fminf(g.cell_w - 4, 62), h = fminf(chip_height, 21);
            struct scene_rect box = {g.x + ((float)j + 0.5f) * g.cell_w - w / 2,
                                     y - h + 3, w, h};
            float size = fminf(12.5f, fmaxf(w * 0.24f, chip_text_least));
            scene_chip(sc, box, b->src, j, size, j >= b->pass.from);
            float mid = box.x + w / 2, under = y + joint_off + joint_end;
            if (scene_token_joins(b->src, j))
                joint(b, j, mid, under, mid + g.cell_w, under, 0, -joint_end);
        }
        return;
    }
    for (int k = 0; last < n; k++) {
        int at = tick_at(k, step, n, g.cell_w, apart * 0.7f);
        if (at < 0) break;
        if (at == 0 || at <= last) continue;
        last = at;
        float x = g.x + ((float)at - 0.5f) * g.cell_w;
        if (x < b->canvas.x || x > b->canvas.x + b->canvas.w) continue;
        (void)scene_text(sc, x, y, ALIGN_CENTER, FONT_MONO, tick_size,
                         scene_fade(b->theme->ink_faint, alpha),
                         scene_print(sc, "%d", at));
    }
}
