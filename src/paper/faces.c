/* Fonts by fontconfig and cairo. The same families and weights as gfx, so that a picture
 * and the window look alike. */
#include "faces.h"

#include <cairo-ft.h>
#include <stdio.h>
#include <string.h>

/* The file and the face in it, and nothing of what a person's fontconfig says about
 * hinting or colour fringes: every machine draws alike. */
static FcPattern *file_only(FcPattern *match)
{
    FcChar8 *file = NULL;
    int index = 0;
    if (FcPatternGetString(match, FC_FILE, 0, &file) != FcResultMatch) return NULL;
    (void)FcPatternGetInteger(match, FC_INDEX, 0, &index);
    FcPattern *p = FcPatternCreate();
    if (p && FcPatternAddString(p, FC_FILE, file) &&
        FcPatternAddInteger(p, FC_INDEX, index))
        return p;
    if (p) FcPatternDestroy(p);
    return NULL;
}

static cairo_scaled_font_t *scale_to_em(cairo_font_face_t *face)
{
    cairo_matrix_t size, page;
    cairo_matrix_init_scale(&size, FACES_EM, FACES_EM);
    cairo_matrix_init_identity(&page);
    cairo_font_options_t *o = cairo_font_options_create();
    cairo_font_options_set_hint_style(o, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(o, CAIRO_HINT_METRICS_OFF);
    cairo_scaled_font_t *em = cairo_scaled_font_create(face, &size, &page, o);
    cairo_font_options_destroy(o);
    return em;
}

static void close_face(struct font_face *t)
{
    if (t->em) cairo_scaled_font_destroy(t->em);
    if (t->face) cairo_font_face_destroy(t->face);
    if (t->file) FcPatternDestroy(t->file);
    *t = (struct font_face){0};
}

/* Opens the font a pattern names, or finds it opened. -1: it cannot be. */
static int open_pattern(struct faces *f, FcPattern *match, int weight)
{
    FcPattern *file = file_only(match);
    if (!file) return -1;
    for (int i = FONT_COUNT; i < f->n; i++) {
        if (!FcPatternEqual(f->face[i].file, file)) continue;
        FcPatternDestroy(file);
        return i;
    }
    if (f->n == FONT_COUNT + FACES_FALLBACK) {
        FcPatternDestroy(file);
        return -1;
    }
    struct font_face *t = &f->face[f->n];
    FcChar8 *family = NULL;
    *t = (struct font_face){.file = file, .weight = weight};
    if (FcPatternGetString(match, FC_FAMILY, 0, &family) == FcResultMatch)
        (void)snprintf(t->family, sizeof t->family, "%s", (const char *)family);
    t->face = cairo_ft_font_face_create_for_pattern(file);
    t->em = scale_to_em(t->face);
    if (cairo_scaled_font_status(t->em) == CAIRO_STATUS_SUCCESS) return f->n++;
    close_face(t);
    return -1;
}

/* The face of exactly this family, opened; -1: not installed. */
static int open_family(struct faces *f, const char *family, int weight)
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
        face = open_pattern(f, match, weight);
        break;
    }
    if (match) FcPatternDestroy(match);
    FcPatternDestroy(ask);
    return face;
}

/* ---- glyphs --------------------------------------------------------------------------- */

int utf8_put(char out[5], uint32_t code)
{
    bool none = (code & 0xFFFEu) == 0xFFFEu || (code >= 0xFDD0 && code <= 0xFDEF);
    if (none || (code < 0x20 && code != 0)) code = 0xFFFD;
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = n - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80u | (code & 0x3Fu));
    out[0] = (char)(lead[n] | code);
    out[n] = '\0';
    return n;
}

/* 0: the face lacks it. */
static unsigned long glyph_index(const struct font_face *t, uint32_t code)
{
    char text[5];
    cairo_glyph_t one, *glyphs = &one;
    int n = 1;
    cairo_status_t s = cairo_scaled_font_text_to_glyphs(
        t->em, 0, 0, text, utf8_put(text, code), &glyphs, &n, NULL, NULL, NULL);
    unsigned long index = s == CAIRO_STATUS_SUCCESS && n == 1 ? glyphs[0].index : 0;
    if (glyphs != &one) cairo_glyph_free(glyphs);
    return index;
}

static float advance_em(const struct font_face *t, unsigned long index)
{
    cairo_glyph_t g = {index, 0, 0};
    cairo_text_extents_t x;
    cairo_scaled_font_glyph_extents(t->em, &g, 1, &x);
    return (float)(x.x_advance / FACES_EM);
}

static float advance_or(const struct font_face *t, uint32_t code, float other)
{
    unsigned long index = glyph_index(t, code);
    return index ? advance_em(t, index) : other;
}

static void measure(const struct font_face *t, int font, struct font_metrics *m)
{
    cairo_glyph_t capital = {glyph_index(t, 'H'), 0, 0};
    cairo_text_extents_t x;
    cairo_scaled_font_glyph_extents(t->em, &capital, 1, &x);
    m->cap[font] = (float)(-x.y_bearing / FACES_EM);
    m->other[font] = advance_or(t, '0', 0.5f);
    for (uint32_t c = FONT_FIRST; c <= FONT_LAST; c++)
        m->advance[font][c - FONT_FIRST] = advance_or(t, c, m->other[font]);
    for (int i = 0; i < FONT_EXTRA && scene_extra_glyphs[i]; i++)
        m->extra[font][i] = advance_or(t, scene_extra_glyphs[i], m->other[font]);
}

bool faces_init(struct faces *f, struct font_metrics *m, struct err *e)
{
    *f = (struct faces){0};
    *m = (struct font_metrics){0};
    f->config = FcInitLoadConfigAndFonts();
    if (!f->config)
        return err_set(e, ERR_SYSTEM,
                       "fontconfig does not start; install a font: "
                       "fonts-inter fonts-jetbrains-mono");
    for (int i = 0; i < FONT_COUNT; i++) {
        const struct scene_face *w = &scene_faces[i];
        int face = open_family(f, w->family, w->weight);
        if (face < 0) face = open_family(f, w->fallback, w->fallback_weight);
        if (face < 0) {
            faces_fini(f);
            return err_set(
                e, ERR_SYSTEM,
                "no font: neither %s nor %s is installed; install the packages "
                "fonts-inter and fonts-jetbrains-mono, or fonts-dejavu-core",
                w->family, w->fallback);
        }
        measure(&f->face[i], i, m);
    }
    return true;
}

void faces_fini(struct faces *f)
{
    for (int i = 0; i < f->n; i++) close_face(&f->face[i]);
    if (f->config) FcConfigDestroy(f->config);
    *f = (struct faces){0};
}

/* Asks fontconfig for an outline font that has the character. -1: none has. */
static int find_face(struct faces *f, bool mono, uint32_t code)
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
            face = open_pattern(f, match, 400);
        if (match) FcPatternDestroy(match);
    }
    if (ask) FcPatternDestroy(ask);
    if (set) FcCharSetDestroy(set);
    return face;
}

struct font_glyph faces_glyph(struct faces *f, enum scene_font font, uint32_t code,
                              float advance)
{
    struct font_glyph g = {(int)font, glyph_index(&f->face[font], code), 1, 0};
    if (g.index) return g;
    bool mono = font == FONT_MONO || font == FONT_MONO_BOLD || scene_glyph_joins(code);
    uint32_t slot = (2 * code + mono) % FACES_LOOKUPS;
    if (f->lookup[slot].code != code || f->lookup[slot].mono != mono) {
        f->lookup[slot].code = code;
        f->lookup[slot].mono = mono;
        f->lookup[slot].face = find_face(f, mono, code);
    }
    int face = f->lookup[slot].face;
    if (face < 0) return g; /* the font's own sign for what it lacks */
    g.face = face;
    g.index = glyph_index(&f->face[face], code);
    struct scene_fit fit =
        scene_glyph_fit(code, advance_em(&f->face[face], g.index), advance);
    g.squeeze = fit.squeeze;
    g.shift = fit.shift;
    return g;
}
