/* Colours by role, colour maps, token hues. Sizes of the stage are in layout.c. */
#include "scene.h"

#include <math.h>

// clang-format off
#define RGB(hex) {(hex) >> 16 & 255, (hex) >> 8 & 255, (hex) & 255, 255}

static const struct scene_theme light = {
    .paper = RGB(0xFAF9F6),
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
    .o = RGB(0x7A2BDD),
    .map = {[MAP_DIVERGING] = {RGB(0x2A69B7), RGB(0xF4F1EC), RGB(0xD9652A), 0.85f},
            [MAP_SEQUENTIAL] = {RGB(0xF3F1F8), RGB(0xF3F1F8), RGB(0x3A1D8C), 0.75f},
            [MAP_CACHED] = {RGB(0xA3A2AA), RGB(0xEFEEEB), RGB(0xA3A2AA), 0.85f}},
};

static const struct scene_theme dark = {
    .paper = RGB(0x16161A),
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
    .o = RGB(0xB58BFF),
    .map = {[MAP_DIVERGING] = {RGB(0x5FA2EE), RGB(0x26262C), RGB(0xF08B4C), 0.85f},
            [MAP_SEQUENTIAL] = {RGB(0x26232F), RGB(0x26232F), RGB(0xB7A8FF), 0.75f},
            [MAP_CACHED] = {RGB(0x6E6D78), RGB(0x28282E), RGB(0x6E6D78), 0.85f}},
};
// clang-format on

const struct scene_theme *scene_theme_get(enum step_theme t)
{
    return t == STEP_DARK ? &dark : &light;
}

struct scene_rgba scene_map_entry(const struct scene_theme *t, enum scene_map map, int i)
{
    float v = (float)i / 255.0f; /* 0 .. 1; a diverging map begins anew at the middle */
    if (map != MAP_SEQUENTIAL) v = 2 * v - 1;
    return scene_mix(t->map[map].middle, v < 0 ? t->map[map].low : t->map[map].high,
                     powf(fabsf(v), t->map[map].power));
}

struct scene_rgba scene_map_color(const struct scene_theme *t, enum scene_map map,
                                  float lo, float hi, bool log, float value)
{
    if (!isfinite(value)) return t->odd;
    float u = hi > lo ? (value - lo) / (hi - lo) : 0.5f;
    if (log && map == MAP_SEQUENTIAL) /* four decades below hi */
        u = value > 0 && hi > 0 ? 1.0f + log10f(value / hi) / 4.0f : 0.0f;
    u = fminf(fmaxf(u, 0.0f), 1.0f);
    return scene_map_entry(t, map, (int)lrintf(u * 255.0f));
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

float scene_heat_value(const struct scene_heat *h, float number)
{
    float v = number * h->gain;
    return fabsf(v) < h->least ? 0.0f : v;
}

struct scene_rgba scene_ink_on(const struct scene_theme *t, struct scene_rgba c)
{
    struct scene_rgba on = scene_mix(t->paper, c, (float)c.a / 255.0f);
    float lum =
        luminance(on) + 0.05f; /* WCAG contrast ratio: (lighter + .05) / (darker + .05) */
    struct scene_rgba black = {0x1B, 0x1B, 0x21, 255}, white = {255, 255, 255, 255};
    return lum / (luminance(black) + 0.05f) >= 1.05f / lum ? black : white;
}

/* Tol's vibrant set (P. Tol, Colour Schemes, 2021), ordered so that neighbours differ. */
static const struct scene_rgba hues[] = {
    {0x00, 0x77, 0xBB, 255}, {0xEE, 0x77, 0x33, 255}, {0x00, 0x99, 0x88, 255},
    {0xCC, 0x33, 0x11, 255}, {0xAA, 0x44, 0x99, 255}, {0x33, 0xA8, 0xDD, 255},
    {0xC7, 0x9A, 0x00, 255}, {0xEE, 0x33, 0x77, 255}};
enum { HUES = sizeof hues / sizeof hues[0] };

struct scene_rgba scene_token_hue(int i)
{
    return hues[(i % HUES + HUES) % HUES];
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
    float hue[HUES][3];
    for (int k = 0; k < HUES; k++) {
        struct scene_rgba c = scene_token_hue(k);
        hue[k][0] = linear(c.r);
        hue[k][1] = linear(c.g);
        hue[k][2] = linear(c.b);
    }
    for (int i = 0; i < p.rows; i++) {
        float by_hue[HUES] = {0}; /* few hues: add weights first, mix once */
        const float *row = p.data + (size_t)i * (size_t)p.ld;
        for (int j = 0; j < p.cols; j++) by_hue[j % HUES] += row[j];
        for (int c = 0; c < 3; c++) {
            float sum = 0;
            for (int k = 0; k < HUES; k++) sum += by_hue[k] * hue[k][c];
            blend[3 * i + c] = sum;
        }
    }
}
