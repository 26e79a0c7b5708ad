/* How a text being edited lies in its field: its lines, and what is where along one. */
#include "editor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct ui_type editor_type = {FONT_MONO, 14};

/* ---- lines ------------------------------------------------------------------------------ */

const char *editor_shown_as(const struct ui_editor *ed, int at)
{
    switch (ed->text[at]) {
    case UI_EDITOR_SPECIAL:
        return "<|endoftext|>";
    case '\n':
        return "\u23CE";
    case '\t':
        return "\u21E5";
    default:
        break;
    }
    bool unbroken = ed->n - at >= 2 && memcmp(ed->text + at, "\u00A0", 2) == 0;
    return unbroken ? "\u2423" : NULL;
}

/* Of one character, whatever is beside it. */
static float width(const struct editor_field *f, const struct ui_editor *ed, int at)
{
    const char *as = editor_shown_as(ed, at);
    return font_width(f->font, editor_type.font, editor_type.size,
                      as ? as : ed->text + at, as ? -1 : editor_behind(ed, at) - at);
}

/* The end of the line that begins at `from`: at a space where there is one. */
static int line_end(const struct editor_field *f, const struct ui_editor *ed, int from)
{
    float w = 0;
    int word = -1;
    for (int at = from; at < ed->n;) {
        int next = editor_behind(ed, at);
        w += width(f, ed, at);
        if (w > f->box.w && at > from) return word > from ? word : at;
        if (ed->text[at] == '\n') return next;
        if (ed->text[at] == ' ') word = next;
        at = next;
    }
    return ed->n;
}

bool editor_next(const struct editor_field *f, const struct ui_editor *ed,
                 struct editor_line *l)
{
    if (l->n >= 0 && l->last) return false;
    l->from = l->to;
    l->to = line_end(f, ed, l->from);
    l->n++;
    l->last = l->to >= ed->n && !(l->to > l->from && ed->text[l->to - 1] == '\n');
    return true;
}

struct editor_line editor_line_of(const struct editor_field *f,
                                  const struct ui_editor *ed, int at)
{
    struct editor_line l = {.n = -1};
    while (editor_next(f, ed, &l))
        if (at < l.to) break;
    return l;
}

struct editor_line editor_line_at(const struct editor_field *f,
                                  const struct ui_editor *ed, int n)
{
    struct editor_line l = {.n = -1};
    while (editor_next(f, ed, &l))
        if (l.n >= n) break;
    return l;
}

int editor_line_count(const struct editor_field *f, const struct ui_editor *ed)
{
    struct editor_line l = {.n = -1};
    while (editor_next(f, ed, &l)) {
    }
    return l.n + 1;
}

/* ---- along a line ------------------------------------------------------------------------- */

int editor_stretch(const struct ui_editor *ed, int at, int to)
{
    bool sign = editor_shown_as(ed, at) != NULL;
    do at = editor_behind(ed, at);
    while (!sign && at < to && !editor_shown_as(ed, at));
    return at;
}

void editor_cells_begin(struct editor_cells *c, const struct editor_field *f,
                        const struct ui_editor *ed, const struct editor_line *l)
{
    c->f = f;
    c->ed = ed;
    c->at = l->from;
    c->to = l->to;
    c->x = 0;
    c->within = false;
}

/* The glyphs of the next characters, as draw_line of the card has them. */
static void enter(struct editor_cells *c)
{
    const char *text = c->ed->text + c->at;
    int next = editor_stretch(c->ed, c->at, c->to), n = next - c->at;
    c->base = c->at;
    c->within = true;
    c->at = next;
    if (scene_has_rtl(text, n)) {
        int put = snprintf(c->text, sizeof c->text, SCENE_ISOLATED, n, text);
        if (put > 0 && put < (int)sizeof c->text) {
            c->base -= SCENE_ISOLATE_BYTES;
            text = c->text;
            n = put;
        }
    }
    scene_glyphs_begin(&c->glyphs, c->f->font, editor_type.font, text, n);
}

static bool is_mark_next(const struct editor_cells *c)
{
    const struct scene_glyphs *g = &c->glyphs;
    return g->next < g->n && g->glyph[g->next].advance == 0;
}

bool editor_cells_next(struct editor_cells *c, struct editor_cell *cell)
{
    struct scene_glyph g;
    for (;;) {
        if (c->within && scene_glyphs_next(&c->glyphs, &g)) {
            *cell = (struct editor_cell){c->base + g.from, c->base + g.to, c->x,
                                         g.advance * editor_type.size, g.rtl};
            while (is_mark_next(c) && scene_glyphs_next(&c->glyphs, &g))
                cell->to = c->base + g.to;
            break;
        }
        c->within = false;
        if (c->at >= c->to) return false;
        if (!editor_shown_as(c->ed, c->at)) {
            enter(c);
            continue;
        }
        int next = editor_behind(c->ed, c->at);
        *cell = (struct editor_cell){c->at, next, c->x, width(c->f, c->ed, c->at), false};
        c->at = next;
        break;
    }
    c->x += cell->w;
    return true;
}

float editor_caret(const struct editor_field *f, const struct ui_editor *ed,
                   const struct editor_line *l, int at)
{
    struct editor_cells cells;
    struct editor_cell c;
    float behind = 0;
    editor_cells_begin(&cells, f, ed, l);
    while (editor_cells_next(&cells, &c)) {
        float left = c.x, right = c.x + c.w;
        if (at >= c.from && at < c.to) { /* two letters may be one glyph */
            float share = c.w * (float)(at - c.from) / (float)(c.to - c.from);
            return c.rtl ? right - share : left + share;
        }
        if (c.to == at) behind = c.rtl ? left : right;
    }
    return behind;
}

/* Whether `edge` is as near to x as any so far; of two places there, the one that x lies by. */
static bool is_nearer(float x, float edge, float *nearest)
{
    float off = fabsf(x - edge);
    if (off > *nearest || (off == *nearest && x < edge)) return false;
    *nearest = off;
    return true;
}

int editor_place_at(const struct editor_field *f, const struct ui_editor *ed,
                    const struct editor_line *l, float x)
{
    struct editor_cells cells;
    struct editor_cell c;
    int at = l->from;
    float nearest = INFINITY;
    editor_cells_begin(&cells, f, ed, l);
    while (editor_cells_next(&cells, &c)) {
        float left = c.x, right = c.x + c.w;
        if (is_nearer(x, c.rtl ? right : left, &nearest)) at = c.from;
        /* behind another line's last character is the next line's start */
        if (c.to == l->to && l->last && is_nearer(x, c.rtl ? left : right, &nearest))
            at = c.to;
    }
    return at;
}
