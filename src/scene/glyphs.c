/* Text as glyphs from left to right. The order of scripts that run from right to left and the
 * forms of Arabic letters are FriBidi's; everything else passes through as it is written. */
#include "scene.h"

#include <fribidi.h>

/* Letters and digits of scripts that run from right to left. */
static bool is_rtl(uint32_t c)
{
    return (c >= 0x590 && c < 0x900) || (c >= 0xFB1D && c < 0xFE00) ||
           (c >= 0xFE70 && c < 0xFEFF) || (c >= 0x10800 && c < 0x11000) ||
           (c >= 0x1E800 && c < 0x1F000);
}

/* ASCII and all of Latin are told by their bytes alone. */
bool scene_has_rtl(const char *text, int n)
{
    const char *at = text;
    while (at - text != n && *at && (unsigned char)*at < 0xD6) at++;
    while ((n < 0 || at - text < n) && *at)
        if (is_rtl(utf8_next(&at))) return true;
    return false;
}

static bool is_over(const struct scene_glyphs *g, const char *at)
{
    return (g->end >= 0 && at - g->text >= g->end) || !*at;
}

/* The character at *at, which moves on, but not beyond the end. */
static uint32_t next_code(const struct scene_glyphs *g, const char **at)
{
    uint32_t code = utf8_next(at);
    if (g->end >= 0 && *at - g->text > g->end) *at = g->text + g->end;
    return code;
}

/* SCENE_FIRST_STRONG, SCENE_POP_ISOLATE. */
static bool is_isolate(uint32_t c)
{
    return c == 0x2068 || c == 0x2069;
}

/* The letters of a line, as it is read. */
struct line {
    FriBidiChar code[SCENE_GLYPHS];
    FriBidiCharType type[SCENE_GLYPHS];
    FriBidiLevel level[SCENE_GLYPHS]; /* odd: from right to left */
    int from[SCENE_GLYPHS + 1];
    FriBidiStrIndex n;
};

static bool read_line(const struct scene_glyphs *g, struct line *l)
{
    const char *at = g->text;
    for (l->n = 0; !is_over(g, at); l->n++) {
        if (l->n == SCENE_GLYPHS) return false;
        l->from[l->n] = (int)(at - g->text);
        l->code[l->n] = next_code(g, &at);
    }
    l->from[l->n] = (int)(at - g->text);
    return true;
}

/* Letters become the forms that are drawn; order[k] is the k-th from the left. */
static bool order_line(struct line *l, FriBidiStrIndex order[SCENE_GLYPHS])
{
    FriBidiBracketType bracket[SCENE_GLYPHS];
    FriBidiArabicProp joins[SCENE_GLYPHS];
    FriBidiParType way = FRIBIDI_PAR_LTR;
    fribidi_get_bidi_types(l->code, l->n, l->type);
    fribidi_get_bracket_types(l->code, l->n, l->type, bracket);
    if (!fribidi_get_par_embedding_levels_ex(l->type, bracket, l->n, &way, l->level))
        return false; /* no memory */
    fribidi_get_joining_types(l->code, l->n, joins);
    fribidi_join_arabic(l->type, l->n, l->level, joins);
    fribidi_shape(FRIBIDI_FLAGS_DEFAULT | FRIBIDI_FLAGS_ARABIC, l->level, l->n, joins,
                  l->code);
    for (FriBidiStrIndex i = 0; i < l->n; i++) order[i] = i;
    return fribidi_reorder_line(FRIBIDI_FLAGS_DEFAULT, l->type, l->n, 0, way, l->level,
                                NULL, order) != 0;
}

static void order(struct scene_glyphs *g)
{
    struct line l;
    FriBidiStrIndex from_left[SCENE_GLYPHS];
    if (!read_line(g, &l) || !order_line(&l, from_left)) return;
    for (FriBidiStrIndex k = 0; k < l.n; k++) {
        FriBidiStrIndex i = from_left[k];
        bool rtl = FRIBIDI_LEVEL_IS_RTL(l.level[i]);
        /* The first of two letters that are one is in the second. */
        if (l.code[i] == FRIBIDI_CHAR_FILL || is_isolate(l.code[i])) continue;
        FriBidiStrIndex first = i > 0 && l.code[i - 1] == FRIBIDI_CHAR_FILL ? i - 1 : i;
        bool mark = rtl && g->n > 0 && l.type[i] == FRIBIDI_TYPE_NSM;
        float own = font_advance(g->metrics, g->font, l.code[i]);
        float room = mark ? g->glyph[g->n - 1].room : own;
        g->glyph[g->n++] = (struct scene_glyph){.code = l.code[i],
                                                .from = l.from[first],
                                                .to = l.from[i + 1],
                                                .advance = mark ? 0 : own,
                                                .room = room,
                                                .rtl = rtl};
    }
}

void scene_glyphs_begin(struct scene_glyphs *g, const struct font_metrics *m,
                        enum scene_font font, const char *text, int n)
{
    g->metrics = m;
    g->font = font;
    g->text = text;
    g->at = g->n = g->next = 0;
    g->end = n;
    if (scene_has_rtl(text, n)) order(g);
}

bool scene_glyphs_next(struct scene_glyphs *g, struct scene_glyph *glyph)
{
    if (g->n > 0) {
        if (g->next == g->n) return false;
        *glyph = g->glyph[g->next++];
        return true;
    }
    const char *at = g->text + g->at;
    uint32_t code = 0;
    int from = 0;
    do {
        if (is_over(g, at)) return false;
        from = (int)(at - g->text);
        code = next_code(g, &at);
    } while (is_isolate(code));
    float own = font_advance(g->metrics, g->font, code);
    *glyph = (struct scene_glyph){.code = code,
                                  .from = from,
                                  .to = (int)(at - g->text),
                                  .advance = own,
                                  .room = own};
    g->at = glyph->to;
    return true;
}

bool scene_glyph_joins(uint32_t code)
{
    return (code >= 0xFB50 && code < 0xFE00) || (code >= 0xFE70 && code < 0xFEFF);
}

struct scene_fit scene_glyph_fit(uint32_t code, float own, float room)
{
    struct scene_fit fit = {.squeeze = 1};
    if (own > room || (scene_glyph_joins(code) && own > 0))
        fit.squeeze = room / own;
    else if (own > 0)
        fit.shift = (room - own) / 2;
    return fit;
}
