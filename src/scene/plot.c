/* A plot's axes, ticks, lines, bands and labels, as items like everything else. */
#include "plot.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const float tick_size = 11, label_size = 12, exponent_size = 8.5f;
static const float tick_len = 5, minor_len = 3, tick_gap = 4;
static const float exponent_up = 5; /* over its base */
static const float number_apart_x = 54, number_apart_y = 30,
                   number_apart_linear = 44; /* between numbered ticks */
static const float minor_apart = 2.5f;       /* between the two nearest minor ticks */
static const float number_least =
    13; /* apart, where an axis would have fewer than four */
enum { NUMBERS_LEAST = 4 };
static const float note_line = 1.3f; /* height of a note, of its text's size */
static const float note_gap = 7, note_air = 1.5f, note_inset = 1.5f, note_radius = 3;
static const float ring_w = 1.5f;
static const float label_line = 15, cap_share = 0.36f;
static const float room_left = 62, room_below = 42, room_bare = 10, room_right = 62;

/* ---- scales ------------------------------------------------------------------------------ */

/* 0 at the axis's low end, 1 at its high; NaN: v has no place on it. */
static double share(const struct plot_axis *a, double v)
{
    if (a->scale == PLOT_LINEAR) return (v - a->lo) / (a->hi - a->lo);
    return v > 0 ? log(v / a->lo) / log(a->hi / a->lo) : (double)NAN;
}

float plot_x(const struct plot *p, double v)
{
    return p->box.x + p->box.w * (float)share(&p->x, v);
}

float plot_y(const struct plot *p, double v)
{
    return p->box.y + p->box.h * (1 - (float)share(&p->y, v));
}

float plot_y_right(const struct plot *p, double v)
{
    return p->box.y + p->box.h * (1 - (float)share(&p->right, v));
}

struct scene_rect plot_area(const struct plot *p, struct scene_rect box)
{
    box.x += room_left;
    box.w -= room_left + (p->right.label ? room_right : 0);
    box.h -= p->bare_x ? room_bare : room_below;
    return box;
}

/* ---- ticks ------------------------------------------------------------------------------- */

/* A numbered tick every so many powers, or every so much. */
struct ticks {
    double step, first, last; /* of the value, or, log, of its logarithm */
    int base;                 /* 0: linear */
    bool minor;               /* between powers of 10 their multiples, of 2 the powers */
    int parts;                /* linear: of a step, with a small tick between two */
};

/* 1, 2 or 5 times a power of ten, at least v. */
static double round_step(double v)
{
    double ten = pow(10, floor(log10(v)));
    for (int k = 1; k < 10; k = k == 1 ? 2 : k == 2 ? 5 : 10)
        if (k * ten >= v * (1 - 1e-9)) return k * ten;
    return 10 * ten;
}

/* Steps down until there are four numbers, if they have room. */
static void linear_step(struct ticks *t, double lo, double hi, float length)
{
    double scale = (double)length / (hi - lo);
    while (floor(hi / t->step + 1e-9) - ceil(lo / t->step - 1e-9) + 1 < NUMBERS_LEAST) {
        double finer = round_step(t->step * 0.39); /* 5 to 2, 2 to 1, 1 to 0.5 */
        if (finer * scale < (double)number_least) break;
        t->step = finer;
    }
    double first = t->step / pow(10, floor(log10(t->step) + 1e-9));
    t->parts = lround(first) == 2 ? 4 : 5;
    if (t->step * scale / t->parts < (double)minor_apart) t->parts = 1;
}

static struct ticks ticks_of(const struct plot_axis *a, float length, float apart)
{
    struct ticks t = {.base = a->scale == PLOT_LOG2    ? 2
                              : a->scale == PLOT_LOG10 ? 10
                                                       : 0};
    double lo = t.base ? log(a->lo) / log(t.base) : a->lo;
    double hi = t.base ? log(a->hi) / log(t.base) : a->hi;
    double most = fmax(floor((double)(length / apart)), 1);
    t.step = round_step((hi - lo) / most);
    if (!t.base) linear_step(&t, lo, hi, length);
    if (t.base) t.step = fmax(ceil((hi - lo) / most - 1e-9), 1);
    t.first = ceil(lo / t.step - 1e-9) * t.step;
    t.last = hi + t.step * 1e-6;
    double a_power = (double)length / fmax(hi - lo, 1e-9);
    t.minor = t.base == 2 || (t.base == 10 && t.step == 1 &&
                              a_power * (1 - log10(9)) >= (double)minor_apart);
    return t;
}

static double tick_value(const struct ticks *t, double at)
{
    return t->base ? pow(t->base, at) : at;
}

/* "1,024", or of a linear axis with as many decimals as its step has. */
static const char *number(struct scene *sc, const struct ticks *t, double v)
{
    int decimals = 0;
    if (!t->base) decimals = (int)fmax(0, ceil(-log10(t->step) - 1e-9));
    long n = lround(v);
    if (t->base && n >= 1000) return scene_print(sc, "%ld,%03ld", n / 1000, n % 1000);
    return scene_print(sc, "%s%.*f", v < 0 ? "\u2212" : "", decimals, fabs(v));
}

/* A tick's number; 10 with its exponent where the axis does not count. Right-aligned at x,
 * left-aligned or centred. */
static void tick_text(const struct plot *p, const struct plot_axis *a,
                      const struct ticks *t, double at, float x, float y,
                      enum scene_align align)
{
    struct scene *sc = p->sc;
    struct scene_rgba ink = p->theme->ink_soft;
    double v = tick_value(t, at);
    if (t->base != 10 || a->counts) {
        (void)scene_text(sc, x, y, align, FONT_MONO, tick_size, ink, number(sc, t, v));
        return;
    }
    int power = (int)lround(at);
    const char *up = scene_print(sc, "%s%d", power < 0 ? "\u2212" : "", abs(power));
    float w = font_width(sc->font, FONT_MONO, tick_size, "10", -1);
    float w_up = font_width(sc->font, FONT_MONO, exponent_size, up, -1);
    if (align == ALIGN_RIGHT) x -= w + w_up;
    if (align == ALIGN_CENTER) x -= (w + w_up) / 2;
    (void)scene_text(sc, x, y, ALIGN_LEFT, FONT_MONO, tick_size, ink, "10");
    (void)scene_text(sc, x + w, y - exponent_up, ALIGN_LEFT, FONT_MONO, exponent_size,
                     ink, up);
}

static bool is_numbered(const struct ticks *t, double at)
{
    double k = (at - t->first) / t->step;
    return fabs(k - round(k)) < 1e-6;
}

/* Small ticks between the numbered one at `at` and the next. side: +1 right, -1 left. */
static void y_minor(const struct plot *p, const struct plot_axis *a,
                    const struct ticks *t, double at, float x, int side)
{
    for (int k = t->base ? 2 : 1; k < (t->base ? 10 : t->parts); k++) {
        double v = t->base ? pow(10, at) * k : at + t->step * k / t->parts;
        if ((t->base && !t->minor) || v < a->lo || v > a->hi) continue;
        float y = p->box.y + p->box.h * (1 - (float)share(a, v));
        (void)scene_line(p->sc, x, y, x + (float)side * minor_len, y, 1, p->theme->track);
    }
}

static void y_axis(const struct plot *p, const struct plot_axis *a, int side)
{
    struct scene *sc = p->sc;
    float x = side < 0 ? p->box.x : p->box.x + p->box.w, way = (float)side;
    struct ticks t = ticks_of(
        a, p->box.h, a->scale == PLOT_LINEAR ? number_apart_linear : number_apart_y);
    double step = t.base ? 1 : t.step; /* every power has a tick */
    double from = t.first - t.step;
    int n = (int)floor((t.last - from) / step);
    for (int k = 0; k <= n; k++) {
        double at = from + k * step;
        y_minor(p, a, &t, at, x, side);
        double v = tick_value(&t, at);
        if (share(a, v) < -1e-9) continue;
        bool numbered = is_numbered(&t, at);
        float y = p->box.y + p->box.h * (1 - (float)share(a, v));
        if (side < 0 && numbered)
            (void)scene_line(sc, p->box.x, y, p->box.x + p->box.w, y, 1, p->theme->edge);
        (void)scene_line(sc, x, y, x + way * (numbered ? tick_len : minor_len), y, 1,
                         numbered ? p->theme->ink_soft : p->theme->track);
        if (numbered)
            tick_text(p, a, &t, at, x + way * (tick_len + tick_gap),
                      y + tick_size * cap_share, side < 0 ? ALIGN_RIGHT : ALIGN_LEFT);
    }
    (void)scene_line(sc, x, p->box.y, x, p->box.y + p->box.h, 1, p->theme->ink_soft);
    float far = side < 0 ? x - room_left + label_size : x + room_right - tick_gap;
    float w = font_width(sc->font, FONT_UI, label_size, a->label, -1);
    struct scene_item *it =
        scene_text(sc, far, p->box.y + p->box.h / 2 + w / 2, ALIGN_LEFT, FONT_UI,
                   label_size, p->theme->ink, a->label);
    it->u.text.turned = true;
}

static void x_axis(const struct plot *p)
{
    struct scene *sc = p->sc;
    float y = p->box.y + p->box.h;
    struct ticks t = ticks_of(&p->x, p->box.w, number_apart_x);
    double step = t.base ? 1 : t.step; /* every power has a tick */
    double from = t.first - t.step;
    int n = (int)floor((t.last - from) / step);
    for (int k = 0; k <= n; k++) {
        double at = from + k * step;
        double v = tick_value(&t, at);
        if (share(&p->x, v) < -1e-9) continue;
        float x = plot_x(p, v), left = p->box.x + p->box.w - x;
        bool last =
            p->x.counts && left < 0.5f; /* always numbered, and what is near not */
        bool numbered =
            last || (is_numbered(&t, at) && (!p->x.counts || left >= number_apart_x));
        if (numbered) (void)scene_line(sc, x, p->box.y, x, y, 1, p->theme->edge);
        (void)scene_line(sc, x, y, x, y + (numbered ? tick_len : minor_len), 1,
                         numbered ? p->theme->ink_soft : p->theme->track);
        if (numbered && !p->bare_x)
            tick_text(p, &p->x, &t, at, x, y + tick_len + tick_gap + tick_size * 0.75f,
                      ALIGN_CENTER);
    }
    (void)scene_line(sc, p->box.x, y, p->box.x + p->box.w, y, 1, p->theme->ink_soft);
    if (!p->bare_x && p->x.label)
        (void)scene_text(sc, p->box.x + p->box.w / 2, y + room_below - 2 * tick_gap,
                         ALIGN_CENTER, FONT_UI, label_size, p->theme->ink, p->x.label);
}

void plot_axes(struct plot *p)
{
    x_axis(p);
    y_axis(p, &p->y, -1);
    if (p->right.label) y_axis(p, &p->right, 1);
    p->first = p->sc->n;
}

/* ---- what is plotted ---------------------------------------------------------------------- */

/* The part of the segment inside b (Liang & Barsky 1984). false: none is. */
static bool cut(struct scene_rect b, float x[2], float y[2])
{
    float dx = x[1] - x[0], dy = y[1] - y[0], from = 0, to = 1;
    const float way[4] = {-dx, dx, -dy, dy};
    const float room[4] = {x[0] - b.x, b.x + b.w - x[0], y[0] - b.y, b.y + b.h - y[0]};
    for (int k = 0; k < 4; k++) {
        if (way[k] == 0 && room[k] < 0) return false;
        if (way[k] == 0) continue;
        float t = room[k] / way[k];
        if (way[k] < 0)
            from = fmaxf(from, t);
        else
            to = fminf(to, t);
    }
    if (from > to) return false;
    float x0 = x[0], y0 = y[0];
    x[0] = x0 + from * dx;
    y[0] = y0 + from * dy;
    x[1] = x0 + to * dx;
    y[1] = y0 + to * dy;
    return true;
}

void plot_line(const struct plot *p, int n, const double *x, const double *y,
               struct plot_pen pen)
{
    for (int i = 0; i + 1 < n; i++) {
        float px[2] = {plot_x(p, x[i]), plot_x(p, x[i + 1])};
        float py[2] = {plot_y(p, y[i]), plot_y(p, y[i + 1])};
        if (!isfinite(px[0] + px[1] + py[0] + py[1]) || !cut(p->box, px, py)) continue;
        scene_line(p->sc, px[0], py[0], px[1], py[1], pen.width, pen.color)->u.line.dash =
            pen.dash;
    }
}

void plot_band(const struct plot *p, int n, const double *x, const double *lo,
               const double *hi, struct scene_rgba color)
{
    struct scene_rect all = p->sc->clip;
    p->sc->clip = p->box;
    for (int i = 0; i + 1 < n; i++) {
        float x0 = roundf(plot_x(p, x[i])),
              x1 = roundf(plot_x(p, x[i + 1])); /* no seams */
        const float px[4] = {x0, x1, x1, x0};
        const float py[4] = {plot_y(p, hi[i]), plot_y(p, hi[i + 1]), plot_y(p, lo[i + 1]),
                             plot_y(p, lo[i])};
        if (!isfinite(x0 + x1 + py[0] + py[1] + py[2] + py[3])) continue;
        struct scene_item *it = scene_triangle(p->sc, px, py, color);
        it->u.poly.x[3] = px[3];
        it->u.poly.y[3] = py[3];
        it->u.poly.n = 4;
    }
    p->sc->clip = all;
}

void plot_dot(const struct plot *p, float x, float y, float r, struct scene_rgba color)
{
    if (!isfinite(x + y)) return;
    (void)scene_border(p->sc, (struct scene_rect){x - r, y - r, 2 * r, 2 * r}, r, 1,
                       color, p->theme->paper);
}

void plot_ring(const struct plot *p, float x, float y, float r, struct scene_rgba color)
{
    if (!isfinite(x + y)) return;
    (void)scene_border(p->sc, (struct scene_rect){x - r, y - r, 2 * r, 2 * r}, r, ring_w,
                       p->theme->paper, color);
}

void plot_upright(const struct plot *p, double v, struct plot_pen pen)
{
    float x = plot_x(p, v);
    if (!(x >= p->box.x - 1 && x <= p->box.x + p->box.w + 1)) return;
    scene_line(p->sc, x, p->box.y, x, p->box.y + p->box.h, pen.width, pen.color)
        ->u.line.dash = pen.dash;
}

void plot_level(const struct plot *p, double v, struct plot_pen pen)
{
    float y = plot_y(p, v);
    if (!(y >= p->box.y - 1 && y <= p->box.y + p->box.h + 1)) return;
    scene_line(p->sc, p->box.x, y, p->box.x + p->box.w, y, pen.width, pen.color)
        ->u.line.dash = pen.dash;
}

/* ---- notes ------------------------------------------------------------------------------- */

struct scene_rect plot_note_box(const struct plot *p, const struct plot_note *how,
                                const char *text)
{
    float w = font_width(p->sc->font, how->font, how->size, text, -1) + 2 * how->pad;
    return (struct scene_rect){0, 0, w, how->size * note_line};
}

static void spot(const struct plot *p, struct plot_spots *s, struct scene_rect box)
{
    const struct scene_rect b = p->box;
    if (s->n == PLOT_SPOTS) return;
    box.x = fmaxf(fminf(box.x, b.x + b.w - box.w - note_inset), b.x + note_inset);
    box.y = fmaxf(fminf(box.y, b.y + b.h - box.h - note_inset), b.y + note_inset);
    s->box[s->n++] = box;
}

void plot_beside(const struct plot *p, struct plot_spots *s, struct scene_rect note,
                 float x, float y)
{
    float step = note.h / 2;
    int n = (int)(p->box.h / step);
    for (int k = 0; k <= 2 * n; k++) {
        int away = (k + 1) / 2;
        float cy = y + (k % 2 ? 1.0f : -1.0f) * (float)away * step;
        bool in = cy >= p->box.y && cy <= p->box.y + p->box.h;
        note.y = cy - note.h / 2;
        note.x = x + note_gap;
        if (in && note.x + note.w < p->box.x + p->box.w) spot(p, s, note);
        note.x = x - note_gap - note.w;
        if (in && note.x > p->box.x) spot(p, s, note);
    }
    if (s->n) return; /* there is no room on either side */
    note.y = y - note.h / 2;
    spot(p, s, note);
}

void plot_over(const struct plot *p, struct plot_spots *s, struct scene_rect note,
               float x, float y)
{
    float step = note.h / 2;
    int n = (int)(p->box.h / step);
    note.x = x - note.w / 2;
    for (int k = 0; k <= n; k++) {
        note.y = y - note.h / 2 - (float)k * step;
        if (note.y >= p->box.y) spot(p, s, note);
    }
}

void plot_along(const struct plot *p, struct plot_spots *s, struct scene_rect note,
                float y, bool left)
{
    float step = note.h;
    int n = (int)((p->box.w - note.w) / step);
    note.y = y - note.h / 2;
    for (int k = 0; k <= n; k++) {
        float by = note_gap + (float)k * step;
        note.x = left ? p->box.x + by : p->box.x + p->box.w - by - note.w;
        spot(p, s, note);
    }
}

static bool meet(struct scene_rect a, struct scene_rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/* How much it matters that the item lies under a note: bands do not, texts most. */
static int weight(const struct plot *p, const struct scene_item *it,
                  struct scene_rect box)
{
    float x[2] = {it->u.line.x0, it->u.line.x1}, y[2] = {it->u.line.y0, it->u.line.y1};
    switch (it->kind) {
    case SCENE_LINE:
        return cut(box, x, y) ? 4 : 0;
    case SCENE_RECT:
        return it->u.rect.fill.a && meet(scene_item_box(p->sc, it), box) ? 5 : 0;
    case SCENE_TEXT:
        return meet(scene_item_box(p->sc, it), box) ? 40 : 0;
    default:
        return 0;
    }
}

void plot_note(const struct plot *p, const struct plot_spots *s,
               const struct plot_note *how, const char *text)
{
    struct scene *sc = p->sc;
    int best = 0, least = INT_MAX;
    for (int k = 0; k < s->n && least > 0; k++) {
        struct scene_rect near = s->box[k];
        int sum = 0;
        near.x -= note_air;
        near.y -= note_air;
        near.w += 2 * note_air;
        near.h += 2 * note_air;
        for (int i = p->first; i < sc->n && sum < least; i++)
            sum += weight(p, &sc->items[i], near);
        if (sum >= least) continue;
        least = sum;
        best = k;
    }
    struct scene_rect box = s->box[best];
    (void)scene_rect(sc, box, note_radius, how->ground);
    (void)scene_text(sc, box.x + how->pad,
                     box.y + box.h / 2 + sc->font->cap[how->font] * how->size / 2,
                     ALIGN_LEFT, how->font, how->size, how->color, text);
}

static int by_height(const void *a, const void *b)
{
    float x = ((const struct plot_label *)a)->y, y = ((const struct plot_label *)b)->y;
    return (x > y) - (x < y);
}

void plot_labels(const struct plot *p, float x, float width, int n,
                 struct plot_label *label)
{
    float top = p->box.y, foot = p->box.y + p->box.h;
    qsort(label, (size_t)n, sizeof *label, by_height);
    for (int i = 0; i < n; i++) { /* down from the top, then up from the foot */
        label[i].y = fminf(fmaxf(label[i].y, top), foot);
        if (i) label[i].y = fmaxf(label[i].y, label[i - 1].y + label_line);
    }
    for (int i = n - 1; i >= 0; i--)
        label[i].y = fminf(label[i].y, i + 1 < n ? label[i + 1].y - label_line : foot);
    for (int i = 0; i < n; i++)
        (void)scene_text(p->sc, x, label[i].y + tick_size * cap_share, ALIGN_LEFT,
                         FONT_UI, tick_size, label[i].color,
                         scene_fit_text(p->sc, FONT_UI, tick_size, width, label[i].text));
}
