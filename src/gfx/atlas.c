/* Glyphs are placed on shelves of like height and kept until the atlas is full. */
#include "atlas.h"

#include "glo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHITE = 2, GAP = 1, SHELF_STEP = 4 };
static const float HATCH_POINTS = 6, DASH_POINTS = 3;

static bool create(struct atlas *a, int size, struct err *e)
{
    struct arena mem;
    if (!arena_init(&mem, (size_t)size * (size_t)size, e)) return false;
    arena_free(&a->mem);
    if (a->texture) glDeleteTextures(1, &a->texture);
    a->mem = mem;
    a->texels = mem.data;
    memset(a->texels, 0, (size_t)size * (size_t)size);
    a->size = size;
    a->texture = gl_texture_create(GL_R8, size, size, GL_RED, GL_UNSIGNED_BYTE, NULL);
    return true;
}

bool atlas_init(struct atlas *a, struct arena *mem, struct err *e)
{
    *a = (struct atlas){0};
    a->glyph = arena_push(mem, ATLAS_GLYPHS, sizeof *a->glyph);
    if (!a->glyph) return err_set(e, ERR_SYSTEM, "out of memory for the glyph atlas");
    if (!create(a, ATLAS_SIZE, e)) return false;
    atlas_set_density(a, 1);
    return true;
}

void atlas_fini(struct atlas *a)
{
    if (a->texture) glDeleteTextures(1, &a->texture);
    arena_free(&a->mem);
    *a = (struct atlas){0};
}

static int period(float points, float density)
{
    long texels = lroundf(points * density);
    return (int)(texels < 2 ? 2 : texels > ATLAS_TILE / 2 ? ATLAS_TILE / 2 : texels);
}

int atlas_hatch_period(float density)
{
    return period(HATCH_POINTS, density);
}

int atlas_dash_period(float density)
{
    return period(2 * DASH_POINTS, density);
}

/* The patterns stay the same from tile to tile of a picture: they begin at multiples of
 * their period. A tile is read up to ATLAS_TILE - period texels at a time. */
static void draw_patterns(struct atlas *a)
{
    int hatch = atlas_hatch_period(a->density), dash = atlas_dash_period(a->density);
    for (int y = 0; y < ATLAS_TILE; y++) {
        uint8_t *row = a->texels + (size_t)y * (size_t)a->size;
        for (int x = 0; x < ATLAS_TILE; x++) {
            float off = (float)abs((x + y) % hatch - hatch / 2) * 0.70710678f;
            float cover = fminf(fmaxf(0.5f + 0.5f * a->density - off, 0), 1);
            row[ATLAS_HATCH_U + x] = (uint8_t)lroundf(cover * 255);
        }
        for (int x = 0; x < ATLAS_TILE_ACROSS; x++) {
            row[ATLAS_DASH_V_U + x] = y % dash < dash / 2 ? 255 : 0;
            if (y >= ATLAS_TILE_ACROSS) continue;
            for (int k = x; k < ATLAS_TILE; k += ATLAS_TILE_ACROSS)
                row[ATLAS_DASH_U + k] = k % dash < dash / 2 ? 255 : 0;
        }
    }
}

static void reset(struct atlas *a)
{
    memset(a->glyph, 0, ATLAS_GLYPHS * sizeof *a->glyph);
    a->n_glyph = 0;
    a->n_shelf = 0;
    a->next_y = ATLAS_RESERVED;
    for (size_t y = 0; y < WHITE; y++)
        memset(a->texels + y * (size_t)a->size, 255, WHITE);
    draw_patterns(a);
    a->dirty0 = 0;
    a->dirty1 = ATLAS_RESERVED;
}

bool atlas_make_room(struct atlas *a, struct err *e)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    int size = 2 * a->size;
    bool ok = size > ATLAS_SIZE_MAX || size > most || create(a, size, e);
    reset(a);
    return ok;
}

void atlas_set_density(struct atlas *a, float density)
{
    if (a->density == density) return;
    a->density = density;
    reset(a);
}

/* Room for w x h texels; false: full. */
static bool place(struct atlas *a, int w, int h, uint16_t *u, uint16_t *v)
{
    h = (h + SHELF_STEP - 1) / SHELF_STEP * SHELF_STEP;
    int at = 0;
    while (at < a->n_shelf && (a->shelf[at].h != h || a->shelf[at].x + w > a->size)) at++;
    if (at == a->n_shelf) {
        if (at == ATLAS_SHELVES || w > a->size || a->next_y + h > a->size) return false;
        a->shelf[at].y = a->next_y;
        a->shelf[at].h = h;
        a->shelf[at].x = 0;
        a->next_y += h + GAP;
        a->n_shelf++;
    }
    *u = (uint16_t)a->shelf[at].x;
    *v = (uint16_t)a->shelf[at].y;
    a->shelf[at].x += w + GAP;
    return true;
}

/* The mean of FONTS_PHASES columns of the bitmap is one texel; phase k begins k columns
 * earlier, which moves the glyph right by k / FONTS_PHASES pixel. */
static void filter(struct atlas *a, const struct glyph *g, const struct font_bitmap *b,
                   int first)
{
    const SDL_Surface *s = b->surface;
    for (int y = 0; y < g->h; y++) {
        const uint8_t *from = (const uint8_t *)s->pixels + (ptrdiff_t)y * s->pitch;
        uint8_t *to = a->texels + (size_t)(g->v + y) * (size_t)a->size + g->u;
        for (int phase = 0; phase < FONTS_PHASES; phase++) {
            for (int x = 0; x < g->w; x++) {
                int begin = x * FONTS_PHASES + first - phase, sum = 0;
                for (int k = 0; k < FONTS_PHASES; k++)
                    if (begin + k >= 0 && begin + k < s->w) sum += from[begin + k];
                *to++ = (uint8_t)((sum + FONTS_PHASES / 2) / FONTS_PHASES);
            }
        }
    }
    if (g->v < a->dirty0) a->dirty0 = g->v;
    if (g->v + g->h > a->dirty1) a->dirty1 = g->v + g->h;
}

static int floor_div(int a, int b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static bool make(struct atlas *a, struct fonts *f, struct glyph *g, enum scene_font font,
                 uint32_t code, float size, float advance)
{
    struct font_bitmap b = fonts_render(f, font, code, size, advance);
    if (!b.surface) return true; /* takes its room and shows nothing */
    int left = floor_div(b.left, FONTS_PHASES);
    int first = left * FONTS_PHASES - b.left; /* columns before the surface: <= 0 */
    int w = (b.surface->w - first + 2 * (FONTS_PHASES - 1)) / FONTS_PHASES;
    int h = b.surface->h;
    bool ok = place(a, w * FONTS_PHASES, h, &g->u, &g->v);
    if (ok) {
        g->w = (uint16_t)w;
        g->h = (uint16_t)h;
        g->left = (int16_t)left;
        g->top = (int16_t)b.top;
        filter(a, g, &b, first);
    }
    SDL_FreeSurface(b.surface);
    return ok;
}

const struct glyph *atlas_glyph(struct atlas *a, struct fonts *f, enum scene_font font,
                                uint32_t code, float size, float advance)
{
    /* Sizes in 1/32 pixel; the advance follows from font and code. */
    uint64_t key = 1 | (uint64_t)code << 1 | (uint64_t)font << 22 |
                   (uint64_t)lroundf(size * 32) << 25;
    uint64_t slot = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 51; /* 13 bits */
    while (a->glyph[slot].key && a->glyph[slot].key != key)
        slot = (slot + 1) % ATLAS_GLYPHS;
    struct glyph *g = &a->glyph[slot];
    if (g->key) return g;
    if (a->n_glyph == ATLAS_GLYPHS / 2) return NULL;
    struct glyph made = {.key = key};
    if (!make(a, f, &made, font, code, size, advance)) return NULL;
    *g = made;
    a->n_glyph++;
    return g;
}

void atlas_upload(struct atlas *a)
{
    if (a->dirty0 >= a->dirty1) return;
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, a->texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, a->dirty0, a->size, a->dirty1 - a->dirty0,
                    GL_RED, GL_UNSIGNED_BYTE,
                    a->texels + (size_t)a->dirty0 * (size_t)a->size);
    a->dirty0 = a->size;
    a->dirty1 = 0;
}
