/* Colours by role, colour maps, token hues. Sizes of the stage are in layout.c. */
#include "scene.h"

#include <math.h>

#define RGB(hex)                                                                         \
    {                                                                                    \
        (hex) >> 16 & 255, (hex) >> 8 & 255, (hex)&255, 255                              \
    }

/* The maps are given by their ends and the exponent of the way between: 256 entries are
 * worked out by map_entry, so that every painter agrees to the bit. */
struct map_ends {
    uint32_t low, middle, high; /* sequential: low to high, middle unused */
    float power;
};

struct theme_spec {
    struct scene_theme theme;
    struct map_ends ends[MAP_COUNT];
};

static const struct theme_spec light = {
    .theme = {.paper = RGB(0xFAF9F6),
              .panel = RGB(0xFFFFFF),
              .edge = RGB(0xEDEBE6),
              .ink = RGB(0x1B1B21),
              .ink_soft = RGB(0x62616B),
              .ink_faint = RGB(0x8B8A94),
              .accent = RGB(0x4338CA),
              .accent_soft = RGB(0xEEECFB),
              .accent_mid = RGB(0xD5D1F5),
              .on_accent = RGB(0xFFFFFF),
              .track = RGB(0xDAD7D0),
              .select = RGB(0x111114),
              .empty = RGB(0xF1EFEA),
              .empty_line = RGB(0xDAD7D0),
              .mask = RGB(0xF6F4F0),
              .hatch = RGB(0xE2DED6),
              .odd = RGB(0xE0189B),
              .tip = RGB(0x1B1B21),
              .on_tip = RGB(0xF4F4F6),
              .warn = RGB(0xFFF1CC),
              .on_warn = RGB(0x6B4700),
              .q = RGB(0x2563D8),
              .k = RGB(0xD9480F),
              .v = RGB(0x168A66),
              .o = RGB(0x7A2BDD)},
    .ends = {{0x2A69B7, 0xF4F1EC, 0xD9652A, 0.85f}, {0xF3F1F8, 0, 0x3A1D8C, 0.75f}},
};

static const struct theme_spec dark = {
    .theme = {.paper = RGB(0x16161A),
              .panel = RGB(0x1D1D22),
              .edge = RGB(0x2B2B32),
              .ink = RGB(0xF1F1F4),
              .ink_soft = RGB(0xA9A8B1),
              .ink_faint = RGB(0x83828D),
              .accent = RGB(0x8B80F9),
              .accent_soft = RGB(0x2C2A4A),
              .accent_mid = RGB(0x38345F),
              .on_accent = RGB(0x16161A),
              .track = RGB(0x3A3A43),
              .select = RGB(0xF1F1F4),
              .empty = RGB(0x1E1E23),
              .empty_line = RGB(0x3A3A43),
              .mask = RGB(0x202026),
              .hatch = RGB(0x34343C),
              .odd = RGB(0xFF4FC0),
              .tip = RGB(0xECECF0),
              .on_tip = RGB(0x1B1B21),
              .warn = RGB(0x4A3A10),
              .on_warn = RGB(0xFFDF8A),
              .q = RGB(0x6EA0FF),
              .k = RGB(0xFF8A5B),
              .v = RGB(0x3FC79A),
              .o = RGB(0xB58BFF)},
    .ends = {{0x5FA2EE, 0x26262C, 0xF08B4C, 0.85f}, {0x26232F, 0, 0xB7A8FF, 0.75f}},
};

static struct scene_rgba rgb(uint32_t hex)
{
    return (struct scene_rgba)RGB(hex);
}

static struct scene_rgba map_entry(const struct map_ends *m, enum scene_map map, int i)
{
    if (map == MAP_SEQUENTIAL)
        return scene_mix(rgb(m->low), rgb(m->high), powf((float)i / 255.0f, m->power));
    float v = ((float)i - 127.5f) / 127.5f; /* -1 .. 1 */
    return scene_mix(rgb(m->middle), rgb(v < 0 ? m->low : m->high),
                     powf(fabsf(v), m->power));
}

/* The two themes with their maps, made at the first call and never changed again.
 * Called first from the thread that draws; a second thread only reads. */
const struct scene_theme *scene_theme_get(enum step_theme t)
{
    static struct scene_theme made[2];
    static bool ready;
    if (!ready) {
        const struct theme_spec *spec[2] = {&light, &dark};
        for (int k = 0; k < 2; k++) {
            made[k] = spec[k]->theme;
            for (int m = 0; m < MAP_COUNT; m++)
                for (int i = 0; i < 256; i++)
                    made[k].map[m][i] =
                        map_entry(&spec[k]->ends[m], (enum scene_map)m, i);
        }
        ready = true;
    }
    return &made[t == STEP_DARK];
}

struct scene_rgba scene_map_color(const struct scene_theme *t, enum scene_map map,
                                  float lo, float hi, bool log, float value)
{
    if (!isfinite(value)) return t->odd;
    float u = hi > lo ? (value - lo) / (hi - lo) : 0.5f;
    if (log && map == MAP_SEQUENTIAL) /* four decades below hi */
        u = value > 0 && hi > 0 ? 1.0f + log10f(value / hi) / 4.0f : 0.0f;
    u = fminf(fmaxf(u, 0.0f), 1.0f);
    return t->map[map][(int)lrintf(u * 255.0f)];
}

static float linear(uint8_t c)
{
    float s = (float)c / 255.0f; /* IEC 61966-2-1 */
    return s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
}

static float luminance(struct scene_rgba c)
{
    return 0.2126f * linear(c.r) + 0.7152f * linear(c.g) + 0.0722f * linear(c.b);
}

struct scene_rgba scene_ink_on(const struct scene_theme *t, struct scene_rgba c)
{
    struct scene_rgba on = scene_mix(t->paper, c, (float)c.a / 255.0f);
    float lum =
        luminance(on) + 0.05f; /* WCAG contrast ratio: (lighter + .05) / (darker + .05) */
    struct scene_rgba black = rgb(0x1B1B21), white = rgb(0xFFFFFF);
    return lum / (luminance(black) + 0.05f) >= 1.05f / lum ? black : white;
}

/* Tol's vibrant set (P. Tol, Colour Schemes, 2021), ordered so that neighbours differ. */
static const uint32_t hues[] = {0x0077BB, 0xEE7733, 0x009988, 0xCC3311,
                                0xAA4499, 0x33A8DD, 0xC79A00, 0xEE3377};

struct scene_rgba scene_token_hue(int i)
{
    int n = (int)(sizeof hues / sizeof hues[0]);
    return rgb(hues[(i % n + n) % n]);
}

static uint8_t mix8(uint8_t a, uint8_t b, float t)
{
    return (uint8_t)lrintf((float)a + ((float)b - (float)a) * t);
}

struct scene_rgba scene_mix(struct scene_rgba a, struct scene_rgba b, float t)
{
    return (struct scene_rgba){mix8(a.r, b.r, t), mix8(a.g, b.g, t), mix8(a.b, b.b, t),
                               255};
}

struct scene_rgba scene_fade(struct scene_rgba c, float alpha)
{
    c.a = (uint8_t)lrintf((float)c.a * fminf(fmaxf(alpha, 0.0f), 1.0f));
    return c;
}

void scene_blend(float *blend, struct attn_cmat p)
{
    float hue[8][3];
    for (int k = 0; k < 8; k++) {
        struct scene_rgba c = scene_token_hue(k);
        hue[k][0] = linear(c.r);
        hue[k][1] = linear(c.g);
        hue[k][2] = linear(c.b);
    }
    for (int i = 0; i < p.rows; i++) {
        float by_hue[8] = {0}; /* eight hues: add weights first, mix once */
        const float *row = p.data + (size_t)i * (size_t)p.ld;
        for (int j = 0; j < p.cols; j++) by_hue[j % 8] += row[j];
        for (int c = 0; c < 3; c++) {
            float sum = 0;
            for (int k = 0; k < 8; k++) sum += by_hue[k] * hue[k][c];
            blend[3 * i + c] = sum;
        }
    }
}
