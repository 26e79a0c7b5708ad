/* Decode mode in the side panel: which token it is at, and what it costs with the cache of
 * keys and values and without. Figures are of attn's cost functions. */
#include "panel.h"

#include <math.h>

enum {
    ID_BACK = 2200,
    ID_ON,
    ID_PREFILL,
    ID_CLOSE,
    HEADING_CY = 30,
    CHIP_Y = 48,
    CHIP_H = 28,
    CHIP_W = 84,
    BODY_Y = 86,
    CLOSE = 20,
    BUTTON = 24,
    GAP = 8,
    CONTROL_H = 34,
    SLIDER_LEFT = 96,
    SECTION_H = 26,
    LINE_LEAST = 17,
    LINE_MOST = 23,
    LINES = 10,      /* without the stages' */
    SECTIONS = 3,    /* their headings */
    COLUMN_AGAIN = 4 /* tenths of the width, from the left end of the last column */
};
static const struct ui_type chip_type = {FONT_MONO, 14};
static const float button_radius = 5, mark = 5;

/* 1536 -> "1,536 B", 9437184 -> "9.44 MB"; unit: "B", or "" for a number. */
static const char *amount(const struct panel *p, uint64_t n, const char *unit)
{
    struct scene *sc = p->u->sc;
    return scene_print(sc, "%s%s%s", scene_amount(sc, (double)n),
                       *unit && n < 100000 ? " " : "", unit);
}

static void step_button(const struct ui *u, float x, float cy, int by, bool end)
{
    struct scene_rect box = {x, cy - BUTTON * 0.5f, BUTTON, BUTTON};
    struct scene_item *face = ui_face(u, box, button_radius, false);
    if (!end)
        ui_control(face, by < 0 ? ID_BACK : ID_ON, ui_act(STEP_ROW_BY, by),
                   by < 0 ? "The token before (\u2191)" : "The next token (\u2193)");
    float cx = x + BUTTON * 0.5f, side = (float)by;
    const float px[3] = {cx + side * mark, cx - side * mark, cx - side * mark};
    const float py[3] = {cy, cy + side * mark, cy - side * mark};
    (void)scene_triangle(u->sc, px, py, end ? u->theme->edge : u->theme->ink_soft);
}

/* Which token, and the way to the others. */
static void header(struct panel *p, struct step_pass pass)
{
    const struct ui *u = p->u;
    float top = u->sc->frame.panel.y, cy = top + CHIP_Y + CHIP_H * 0.5f;
    float right = p->x + p->w;
    struct scene_rect close = {right - CLOSE, top + HEADING_CY - CLOSE * 0.5f, CLOSE,
                               CLOSE};
    ui_section(u, p->x, top + HEADING_CY, "DECODE");
    ui_control(ui_face(u, close, button_radius, false), ID_CLOSE, ui_act(STEP_DECODE, 0),
               "Back to all rows at once (K)");
    (void)ui_text(u, close.x + CLOSE * 0.5f, close.y + CLOSE * 0.5f, ALIGN_CENTER,
                  ui_body, u->theme->ink, "\u00D7");
    p->y = top + BODY_Y;
    if (!step_is_decoding(u->s)) return;
    int row = step_place_of(u->s)->row, first = step_place_of(u->s)->prefill - 1;
    scene_chip(u->sc, (struct scene_rect){p->x, top + CHIP_Y, CHIP_W, CHIP_H}, u->src,
               row, chip_type.size, true);
    float x = p->x + CHIP_W + GAP, room = right - 2 * BUTTON - 2 * GAP - x;
    const char *text = pass.from ? scene_print(u->sc, "token %d of %d", pass.to, p->n)
                                 : scene_print(u->sc, "prefill of %d", pass.to);
    if (ui_width(u, ui_body, text) > room)
        text = scene_print(u->sc, "%d of %d", pass.to, p->n);
    (void)ui_text_fit(u, x, cy, room, ALIGN_LEFT, ui_body, u->theme->ink_soft, text);
    step_button(u, right - 2 * BUTTON - GAP * 0.5f, cy, -1, row <= first);
    step_button(u, right - BUTTON, cy, 1, row + 1 >= p->n);
    cy = p->y + CONTROL_H * 0.5f;
    (void)ui_text(u, p->x, cy, ALIGN_LEFT, ui_body, u->theme->ink, "prefill");
    (void)ui_text(u, p->x + SLIDER_LEFT - 2 * GAP, cy, ALIGN_RIGHT, ui_figure,
                  u->theme->ink, scene_print(u->sc, "%d", first + 1));
    struct ui_slider prefill = {.id = ID_PREFILL,
                                .action = {.verb = STEP_DECODE},
                                .lo = 1,
                                .hi = (float)p->n,
                                .value = (float)(first + 1),
                                .whole = true,
                                .tip = "Tokens of the prefill: drag, or Tab here and "
                                       "\u2190 \u2192"};
    if (p->n > 1)
        ui_slider(u, p->x + SLIDER_LEFT, cy, p->w - SLIDER_LEFT - GAP, &prefill);
    p->y += CONTROL_H;
}

static void section(struct panel *p, const char *text)
{
    ui_section(p->u, p->x, p->y + SECTION_H * 0.5f + 2, text);
    p->y += SECTION_H;
}

/* A label and one figure, or two in columns. */
static void line(struct panel *p, float pitch, const char *label, const char *value,
                 const char *again, bool strong)
{
    const struct ui *u = p->u;
    float cy = p->y + pitch / 2, right = p->x + p->w;
    struct ui_type type = strong ? ui_figure_strong : ui_figure;
    float column = again ? right - p->w * COLUMN_AGAIN / 10 + GAP : right;
    float room = column - ui_width(u, type, value) - GAP - p->x;
    (void)ui_text_fit(u, p->x, cy, room, ALIGN_LEFT, strong ? ui_strong : ui_body,
                      strong ? u->theme->ink : u->theme->ink_soft, label);
    (void)ui_text(u, column, cy, ALIGN_RIGHT, type, u->theme->ink, value);
    if (again) (void)ui_text(u, right, cy, ALIGN_RIGHT, type, u->theme->ink_soft, again);
    p->y += pitch;
}

/* FLOPs stage by stage: of the rows of this pass, and of all rows. */
static void flops(struct panel *p, struct step_pass pass, float pitch, bool stages)
{
    const struct ui *u = p->u;
    struct attn_dims all = p->t->dims, before = p->t->dims;
    all.n_tok = pass.to;
    before.n_tok = pass.from;
    for (int s = 0; stages && s < ATTN_STAGE_COUNT; s++) {
        enum attn_stage at = (enum attn_stage)s;
        uint64_t again = attn_cost_of(all, at).flops_causal;
        uint64_t now = again - attn_cost_of(before, at).flops_causal;
        if (at == u->s->stage) panel_mark(p, p->y + pitch / 2, pitch - 1);
        line(p, pitch, scene_stage_text_of(at).title, amount(p, now, ""),
             pass.from ? amount(p, again, "") : NULL, false);
    }
    uint64_t again = attn_cost_block(all).flops_causal;
    uint64_t now = again - attn_cost_block(before).flops_causal;
    line(p, pitch, "this block", amount(p, now, ""),
         pass.from ? amount(p, again, "") : NULL, true);
}

/* FLOPs of every pass up to this one, where each of them computes all rows again. */
static uint64_t again_so_far(const struct panel *p, struct step_pass pass)
{
    struct attn_dims d = p->t->dims;
    uint64_t sum = 0;
    for (int n = step_place_of(p->u->s)->prefill; n <= pass.to; n++) {
        d.n_tok = n;
        sum += attn_cost_block(d).flops_causal;
    }
    return sum;
}

static void cache(struct panel *p, struct step_pass pass, float pitch)
{
    const struct step_place *place = step_place_of(p->u->s);
    struct attn_dims d = p->t->dims;
    d.n_tok = pass.to;
    struct attn_decode_cost c = attn_cost_decode(d);
    int n_block = step_is_loaded(place)         ? place->n_block
                  : p->u->s->scale == STEP_GPT2 ? 12 /* GPT-2 small has so many */
                                                : 1;
    struct scene *sc = p->u->sc;
    line(p, pitch, "this head", amount(p, c.cache_bytes / (uint64_t)d.n_head, "B"), NULL,
         false);
    line(p, pitch,
         scene_print(sc, "this block, 2\u00B7%d\u00B7%d\u00B74 B", pass.to, d.d_model),
         amount(p, c.cache_bytes, "B"), NULL, true);
    if (n_block > 1)
        line(p, pitch, scene_print(sc, "all %d blocks", n_block),
             amount(p, c.cache_bytes * (uint64_t)n_block, "B"), NULL, false);
    line(p, pitch, "keys, values read again",
         amount(p, pass.from ? c.read_bytes : 0, "B"), NULL, false);
    line(p, pitch, "weights read", amount(p, c.weight_bytes, "B"), NULL, false);
}

void panel_decode(struct panel *p)
{
    const struct ui *u = p->u;
    struct step_pass pass = step_pass_of(u->s);
    header(p, pass);
    const char *refusal = scene_decode_refusal(u->s);
    if (refusal) {
        p->y -= BODY_Y - CHIP_Y;
        panel_prose(p, refusal);
        return;
    }
    float room = p->bottom - p->y - SECTIONS * SECTION_H;
    bool stages = room >= (LINES + ATTN_STAGE_COUNT) * LINE_LEAST;
    int count = LINES + (stages ? ATTN_STAGE_COUNT : 0);
    float pitch = fminf(fmaxf(room / (float)count, LINE_LEAST), LINE_MOST);
    section(p, "FLOPS");
    line(p, pitch, "", pass.from ? "with cache" : "all at once",
         pass.from ? "without" : NULL, false);
    flops(p, pass, pitch, stages);
    section(p, "CACHE");
    cache(p, pass, pitch);
    section(p, "SO FAR");
    struct attn_dims d = p->t->dims;
    d.n_tok = pass.to;
    line(p, pitch, "FLOPs with the cache", amount(p, attn_cost_block(d).flops_causal, ""),
         NULL, true);
    line(p, pitch, "without, all rows each time", amount(p, again_so_far(p, pass), ""),
         NULL, false);
    line(p, pitch, "one pass over all of them",
         amount(p, attn_cost_block(d).flops_causal, ""), NULL, false);
}
