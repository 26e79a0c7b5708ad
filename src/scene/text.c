/* Text: UTF-8, widths, wrapping, and numbers as people read them. */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct scene_face scene_faces[FONT_COUNT] = {
    [FONT_UI] = {"Inter", "DejaVu Sans", 400, 400},
    [FONT_UI_MEDIUM] = {"Inter", "DejaVu Sans", 500, 400},
    [FONT_UI_BOLD] = {"Inter", "DejaVu Sans", 700, 700},
    [FONT_MONO] = {"JetBrains Mono", "DejaVu Sans Mono", 400, 400},
    [FONT_MONO_BOLD] = {"JetBrains Mono", "DejaVu Sans Mono", 700, 700},
};

/* Beyond Latin: what the program itself writes. Ascending. */
const uint32_t scene_extra_glyphs[FONT_EXTRA] = {0x03A3 /* Sigma */,
                                                 0x03B5,
                                                 0x03C3,
                                                 0x1D40 /* superscript T */,
                                                 0x2009 /* thin space */,
                                                 0x200A /* hair space */,
                                                 0x2013,
                                                 0x2014,
                                                 0x2016,
                                                 0x2018,
                                                 0x2019,
                                                 0x201C,
                                                 0x201D,
                                                 0x2022,
                                                 0x2026 /* ellipsis */,
                                                 0x2080,
                                                 0x2081,
                                                 0x2082,
                                                 0x2083,
                                                 0x2084,
                                                 0x2085,
                                                 0x2086,
                                                 0x2087,
                                                 0x2088,
                                                 0x2089 /* subscript digits */,
                                                 0x2190,
                                                 0x2191,
                                                 0x2192,
                                                 0x2193,
                                                 0x21BB,
                                                 0x21E5 /* tab */,
                                                 0x2211,
                                                 0x2212 /* minus */,
                                                 0x221A /* root */,
                                                 0x221E /* infinity */,
                                                 0x2248,
                                                 0x2260,
                                                 0x2264,
                                                 0x2265,
                                                 0x23CE /* return */,
                                                 0x2423 /* open box */,
                                                 0x25B6,
                                                 0x25CF,
                                                 0x25D0};

uint32_t utf8_next(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    if (!*s) return 0;
    int more = *s < 0x80         ? 0
               : (*s >> 5) == 6  ? 1
               : (*s >> 4) == 14 ? 2
               : (*s >> 3) == 30 ? 3
                                 : -1;
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    static const unsigned char first_bits[4] = {0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = more < 0 ? 0 : *s & first_bits[more];
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xC0u) != 0x80u)
            more = -1;
        else
            code = code << 6 | (s[i] & 0x3Fu);
    }
    if (more < 0 || code < least[more] || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000)) {
        *text += 1;
        return 0xFFFD;
    }
    *text += more + 1;
    return code;
}

float font_advance(const struct font_metrics *m, enum scene_font f, uint32_t code)
{
    if (code >= FONT_FIRST && code <= FONT_LAST) return m->advance[f][code - FONT_FIRST];
    if (code == 0x2068 || code == 0x2069) return 0; /* SCENE_FIRST_STRONG and its end */
    int lo = 0, hi = FONT_EXTRA;
    while (hi > 0 && scene_extra_glyphs[hi - 1] == 0) hi--;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (scene_extra_glyphs[mid] == code) return m->extra[f][mid];
        if (scene_extra_glyphs[mid] < code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return m->other[f];
}

float font_width(const struct font_metrics *m, enum scene_font f, float size,
                 const char *text, int n)
{
    float w = 0;
    struct scene_glyphs all;
    struct scene_glyph g;
    scene_glyphs_begin(&all, m, f, text, n);
    while (scene_glyphs_next(&all, &g)) w += g.advance;
    return w * size;
}

struct font_metrics font_metrics_fake(void)
{
    struct font_metrics m;
    for (int f = 0; f < FONT_COUNT; f++) {
        for (int i = 0; i <= FONT_LAST - FONT_FIRST; i++) m.advance[f][i] = 0.6f;
        for (int i = 0; i < FONT_EXTRA; i++) m.extra[f][i] = 0.6f;
        m.other[f] = 0.6f;
        m.cap[f] = 0.72f;
    }
    return m;
}

/* "N x N" and "k = 3" are read as one. */
static bool is_sign(uint32_t c)
{
    return c == '=' || c == 0xD7 || c == 0xF7;
}

int scene_line_fit(const struct scene *sc, enum scene_font font, float size, float width,
                   const char *text)
{
    const char *at = text, *word = NULL;
    float w = 0;
    uint32_t before = 0;
    while (*at) {
        const char *here = at;
        uint32_t c = utf8_next(&at);
        w += font_advance(sc->font, font, c) * size;
        const char *next = at;
        if (c == ' ' && !is_sign(before) && !is_sign(utf8_next(&next))) word = here;
        before = c;
        if (w > width && here > text) return (int)((word ? word : here) - text);
    }
    return (int)(at - text);
}

float scene_paragraph(struct scene *sc, float x, float baseline, float width,
                      float leading, enum scene_font font, float size,
                      struct scene_rgba color, const char *text)
{
    while (*text) {
        int n = scene_line_fit(sc, font, size, width, text);
        (void)scene_text(sc, x, baseline, ALIGN_LEFT, font, size, color,
                         scene_print(sc, "%.*s", n, text));
        baseline += leading;
        text += n;
        while (*text == ' ') text++;
    }
    return baseline;
}

const char *scene_fit_text(struct scene *sc, enum scene_font font, float size,
                           float width, const char *text)
{
    if (font_width(sc->font, font, size, text, -1) <= width) return text;
    const char *at = text, *end = text;
    float w = font_advance(sc->font, font, 0x2026) * size;
    while (*at) {
        w += font_advance(sc->font, font, utf8_next(&at)) * size;
        if (w > width) break;
        end = at;
    }
    return scene_print(sc, "%.*s\u2026", (int)(end - text), text);
}

/* ---- numbers -------------------------------------------------------------------------- */

/* "0.0000012" at 3 decimals is "<0.001": never a zero that is none. A negative one is
 * ">-0.001". No "-0.00" either: a true zero has no sign. */
static const char *number(struct scene *sc, float value, int decimals, const char *plus)
{
    if (isnan(value)) return "NaN";
    if (isinf(value))
        return value > 0 ? scene_print(sc, "%s\u221E", plus) : "\u2212\u221E";
    double v = (double)value;
    double unit = pow(10, -decimals);
    if (v == 0) return "0";
    if (fabs(v) <= unit / 2) /* a half, too: 0.5 would round to an even 0 */
        return scene_print(sc, "%s%.*f", v > 0 ? "<" : ">\u2212", decimals, unit);
    const char *sign = v > 0 ? plus : "\u2212";
    if (fabs(v) >= 1e7) return scene_print(sc, "%s%.1e", sign, fabs(v));
    return scene_print(sc, "%s%.*f", sign, decimals, fabs(v));
}

const char *scene_number(struct scene *sc, float value, int decimals)
{
    return number(sc, value, decimals, "");
}

const char *scene_digits(struct scene *sc, double value, int digits)
{
    if (!isfinite(value)) return scene_number(sc, (float)value, 0);
    return scene_print(sc, "%s%.*g", value < 0 ? "\u2212" : "", digits, fabs(value));
}

// NOLINTNEXTLINE(misc-no-recursion): a count has seven groups at most
const char *scene_count(struct scene *sc, int64_t n)
{
    if (n < 1000) return scene_print(sc, "%d", (int)n);
    return scene_print(sc, "%s,%03d", scene_count(sc, n / 1000), (int)(n % 1000));
}

const char *scene_signed(struct scene *sc, float value, int decimals)
{
    return number(sc, value, decimals, "+");
}

const char *scene_index(struct scene *sc, int row, int col)
{
    static const char *const sub[10] = {"\u2080", "\u2081", "\u2082", "\u2083", "\u2084",
                                        "\u2085", "\u2086", "\u2087", "\u2088", "\u2089"};
    bool single = row < 9 && col < 9;
    const char *digits = col < 0  ? scene_print(sc, "%d", row + 1)
                         : single ? scene_print(sc, "%d%d", row + 1, col + 1)
                                  : scene_print(sc, "%d,%d", row + 1, col + 1);
    const char *out = "";
    for (; *digits; digits++)
        out = scene_print(sc, "%s%s", out, *digits == ',' ? "," : sub[*digits - '0']);
    return out;
}

/* ---- tokens --------------------------------------------------------------------------- */

/* What stands for a character that cannot be seen; NULL: it can. */
static const char *stand_in(uint32_t c)
{
    switch (c) {
    case ' ':
        return "\u00B7";
    case '\n':
        return "\u23CE";
    case '\t':
        return "\u21E5";
    case 0xA0: /* a space that does not break */
        return "\u2423";
    default:
        return NULL;
    }
}

/* Characters without ink of their own: spaces of other widths, marks of direction, joiners
 * and the like. */
static bool is_invisible(uint32_t c)
{
    return c == 0xAD || c == 0x34F || c == 0x61C || c == 0x1680 || c == 0x180E ||
           (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) ||
           (c >= 0x205F && c <= 0x206F) || c == 0x3000 || c == 0xFEFF ||
           (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0x80 && c < 0xA0);
}

const char *scene_raw_text(struct scene *sc, const char *at)
{
    char text[128];
    size_t n = 0;
    bool hex = false; /* the last one was a byte */
    while (*at && n + 16 < sizeof text) {
        const char *from = at;
        uint32_t c = utf8_next(&at);
        const char *as = stand_in(c);
        int len = as ? (int)strlen(as) : (int)(at - from);
        bool part = c == 0xFFFD && len == 1; /* of a character that spans tokens */
        bool control = (c < ' ' || c == 0x7F) && !as;
        if (part || control) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%02X",
                                  hex ? "\u2009" : "", (unsigned char)*from);
            hex = true;
            continue;
        }
        hex = false;
        if (!as && is_invisible(c)) {
            n += (size_t)snprintf(text + n, sizeof text - n, "U+%04X", (unsigned)c);
            continue;
        }
        memcpy(text + n, as ? as : from, (size_t)len);
        n += (size_t)len;
    }
    return scene_print(sc, scene_has_rtl(text, (int)n) ? SCENE_ISOLATED : "%.*s", (int)n,
                       text);
}

const char *scene_token_text(struct scene *sc, const struct scene_source *src, int token)
{
    /* A longer text may be in view before its run is there. */
    bool beyond = !src->fits && src->trace && token >= src->trace->dims.n_tok;
    if (!src->tokens || beyond || !src->tokens[token]) return "";
    return scene_raw_text(sc, src->tokens[token]);
}

bool scene_tokens_join(const char *a, const char *b)
{
    bool part = false;
    while (*a) {
        const char *from = a;
        part = utf8_next(&a) == 0xFFFD && a - from == 1;
    }
    return part && ((unsigned char)*b & 0xC0) == 0x80;
}

bool scene_token_joins(const struct scene_source *src, int i)
{
    if (!src->tokens || !src->trace || i < 0 || i + 1 >= src->trace->dims.n_tok)
        return false;
    const char *a = src->tokens[i], *b = src->tokens[i + 1];
    return a && b && scene_tokens_join(a, b);
}
