/* Fonts by fontconfig and SDL_ttf. What a glyph looks like at a size is found here; where
 * its pixels are kept is the atlas's business. */
#include "fonts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SDL_ttf takes whole points and any resolution: one point at 72 * pixels dots an inch
 * gives sizes in steps of 1/72 pixel, and its own step along each axis. */
enum { DPI_PIXEL = 72, DPI_MAX = 72 * 4096 };

/* Advances are read at a size where rounding to pixels means nothing. */
enum { METRIC_SIZE = 16000 };

/* Opens the font a pattern names, or finds it opened. -1: it cannot be. */
static int open_pattern(struct fonts *f, FcPattern *match)
{
    FcChar8 *file = NULL;
    int index = 0;
    if (FcPatternGetString(match, FC_FILE, 0, &file) != FcResultMatch) return -1;
    (void)FcPatternGetInteger(match, FC_INDEX, 0, &index);
    for (int i = FONT_COUNT; i < f->n; i++)
        if (f->file[i] && strcmp(f->file[i], (const char *)file) == 0 &&
            f->index[i] == index)
            return i;
    if (f->n == FONT_COUNT + FONTS_FALLBACK) return -1;
    TTF_Font *face = TTF_OpenFontIndex((const char *)file, METRIC_SIZE, index & 0xFFFF);
    if (!face) return -1;
    f->face[f->n] = face;
    f->file[f->n] = strdup((const char *)file);
    f->index[f->n] = index;
    return f->n++;
}

/* The face of exactly this family, opened; -1: not installed. */
static int open_family(struct fonts *f, const char *family, int weight)
{
    FcPattern *ask = FcPatternBuild(NULL, FC_FAMILY, FcTypeString, family, FC_WEIGHT,
                                    FcTypeInteger, FcWeightFromOpenType(weight), FC_SLANT,
                                    FcTypeInteger, FC_SLANT_ROMAN, (char *)NULL);
    if (!ask) return -1;
    int face = -1;
    FcResult result;
    (void)FcConfigSubstitute(f->config, ask, FcMatchPattern);
    FcDefaultSubstitute(ask);
    FcPattern *match = FcFontMatch(f->config, ask, &result);
    FcChar8 *got = NULL;
    for (int i = 0;
         match && FcPatternGetString(match, FC_FAMILY, i, &got) == FcResultMatch; i++) {
        if (FcStrCmpIgnoreCase(got, (const FcChar8 *)family) != 0) continue;
        face = open_pattern(f, match);
        break;
    }
    if (match) FcPatternDestroy(match);
    FcPatternDestroy(ask);
    return face;
}

static float advance_em(TTF_Font *face, uint32_t code)
{
    int advance = 0;
    (void)TTF_GlyphMetrics32(face, code, NULL, NULL, NULL, NULL, &advance);
    return (float)advance / (float)METRIC_SIZE;
}

static void measure(TTF_Font *face, int font, struct font_metrics *m)
{
    TTF_SetFontHinting(face, TTF_HINTING_NONE);
    int top = 0;
    (void)TTF_GlyphMetrics32(face, 'H', NULL, NULL, NULL, &top, NULL);
    m->cap[font] = (float)top / (float)METRIC_SIZE;
    m->other[font] = advance_em(face, '0');
    /* Loading an outline is what costs time here; one does for a fixed-width font. */
    bool fixed = TTF_FontFaceIsFixedWidth(face) != 0;
    for (uint32_t c = FONT_FIRST; c <= FONT_LAST; c++)
        m->advance[font][c - FONT_FIRST] = !fixed && TTF_GlyphIsProvided32(face, c)
                                               ? advance_em(face, c)
                                               : m->other[font];
    for (int i = 0; i < FONT_EXTRA && scene_extra_glyphs[i]; i++)
        m->extra[font][i] = !fixed && TTF_GlyphIsProvided32(face, scene_extra_glyphs[i])
                                ? advance_em(face, scene_extra_glyphs[i])
                                : m->other[font];
    TTF_SetFontHinting(face, TTF_HINTING_LIGHT);
}

bool fonts_init(struct fonts *f, struct font_metrics *m, struct err *e)
{
    *f = (struct fonts){0};
    *m = (struct font_metrics){0};
    if (TTF_Init() != 0)
        return err_set(e, ERR_SYSTEM, "SDL_ttf does not start: %s", TTF_GetError());
    f->ttf = true;
    f->config = FcInitLoadConfigAndFonts();
    if (!f->config) {
        fonts_fini(f);
        return err_set(e, ERR_SYSTEM,
                       "fontconfig does not start; install a font: "
                       "fonts-inter fonts-jetbrains-mono");
    }
    for (int i = 0; i < FONT_COUNT; i++) {
        const struct scene_face *w = &scene_faces[i];
        int face = open_family(f, w->family, w->weight);
        if (face < 0) face = open_family(f, w->fallback, w->fallback_weight);
        if (face < 0) {
            fonts_fini(f);
            return err_set(
                e, ERR_SYSTEM,
                "no font: neither %s nor %s is installed; install the packages "
                "fonts-inter and fonts-jetbrains-mono, or fonts-dejavu-core",
                w->family, w->fallback);
        }
        measure(f->face[i], i, m);
    }
    return true;
}

void fonts_fini(struct fonts *f)
{
    for (int i = 0; i < f->n; i++) {
        TTF_CloseFont(f->face[i]);
        free(f->file[i]);
    }
    if (f->config) FcConfigDestroy(f->config);
    if (f->ttf) TTF_Quit();
    *f = (struct fonts){0};
}

/* Asks fontconfig for an outline font that has the character. -1: none has. */
static int find_face(struct fonts *f, bool mono, uint32_t code)
{
    FcCharSet *set = FcCharSetCreate();
    FcPattern *ask = FcPatternCreate();
    int face = -1;
    if (set && ask && FcCharSetAddChar(set, code) &&
        FcPatternAddCharSet(ask, FC_CHARSET, set) &&
        (!mono || FcPatternAddString(ask, FC_FAMILY, (const FcChar8 *)"monospace")) &&
        FcPatternAddBool(ask, FC_SCALABLE, FcTrue) &&
        FcPatternAddBool(ask, FC_COLOR, FcFalse)) {
        FcResult result;
        (void)FcConfigSubstitute(f->config, ask, FcMatchPattern);
        FcDefaultSubstitute(ask);
        FcPattern *match = FcFontMatch(f->config, ask, &result);
        FcCharSet *has = NULL;
        if (match && FcPatternGetCharSet(match, FC_CHARSET, 0, &has) == FcResultMatch &&
            FcCharSetHasChar(has, code))
            face = open_pattern(f, match);
        if (match) FcPatternDestroy(match);
    }
    if (ask) FcPatternDestroy(ask);
    if (set) FcCharSetDestroy(set);
    if (face >= FONT_COUNT) TTF_SetFontHinting(f->face[face], TTF_HINTING_LIGHT);
    return face;
}

/* The face to draw code with: the font itself, else what fontconfig once named. */
static int face_for(struct fonts *f, enum scene_font font, uint32_t code)
{
    if (TTF_GlyphIsProvided32(f->face[font], code)) return (int)font;
    bool mono = font == FONT_MONO || font == FONT_MONO_BOLD || scene_glyph_joins(code);
    uint32_t slot = (2 * code + mono) % FONTS_LOOKUPS;
    if (f->lookup[slot].code != code || f->lookup[slot].mono != mono) {
        f->lookup[slot].code = code;
        f->lookup[slot].mono = mono;
        f->lookup[slot].face = find_face(f, mono, code);
    }
    return f->lookup[slot].face < 0 ? (int)font : f->lookup[slot].face;
}

static unsigned dpi(float pixels)
{
    float d = roundf(pixels * (float)DPI_PIXEL);
    return d < 1 ? 1 : d > (float)DPI_MAX ? DPI_MAX : (unsigned)d;
}

struct font_bitmap fonts_render(struct fonts *f, enum scene_font font, uint32_t code,
                                float size, float advance)
{
    struct font_bitmap none = {0};
    int at = face_for(f, font, code);
    TTF_Font *face = f->face[at];
    float wide = size * (float)FONTS_PHASES;
    if (TTF_SetFontSizeDPI(face, 1, dpi(wide), dpi(size)) != 0) return none;
    int minx = 0, maxy = 0, own = 0;
    if (TTF_GlyphMetrics32(face, code, &minx, NULL, NULL, &maxy, &own) != 0) return none;
    float room = advance * (float)FONTS_PHASES;
    struct scene_fit fit = {.squeeze = 1};
    if (at != (int)font) fit = scene_glyph_fit(code, (float)own, room);
    if (fit.squeeze != 1 &&
        (TTF_SetFontSizeDPI(face, 1, dpi(wide * fit.squeeze), dpi(size)) != 0 ||
         TTF_GlyphMetrics32(face, code, &minx, NULL, NULL, &maxy, &own) != 0))
        return none;
    SDL_Color white = {255, 255, 255, 255}, black = {0, 0, 0, 255};
    SDL_Surface *s = TTF_RenderGlyph32_Shaded(face, code, white, black);
    if (!s) return none;
    int ascent = TTF_FontAscent(face);
    return (struct font_bitmap){.surface = s,
                                .left = (minx < 0 ? minx : 0) + (int)lroundf(fit.shift),
                                .top = ascent > maxy ? ascent : maxy};
}
