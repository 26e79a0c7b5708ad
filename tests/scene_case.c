/* Runs and scenes for the tests of scene. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct case_size case_sizes[CASE_SIZES] = {
    {1024, 640}, {1280, 800}, {1440, 900}, {1920, 1080}, {3840, 2160}};

/* ---- a text face ----------------------------------------------------------------------- */

/* Inter Regular's advances from the space to the tilde, in 1/100 em, rounded up. */
static const unsigned char text_advance[] = {
    29, 28, 41, 64, 64, 82, 64, 23, 37, 37, 50, 66, 28, 47, 28, 36, 63, 47, 61,
    64, 65, 61, 63, 58, 62, 63, 28, 28, 66, 66, 66, 51, 94, 68, 66, 73, 72, 60,
    59, 75, 75, 27, 55, 66, 57, 89, 76, 77, 64, 77, 64, 64, 65, 75, 68, 95, 65,
    67, 63, 37, 36, 37, 47, 46, 50, 57, 63, 56, 63, 59, 37, 61, 60, 24, 24, 55,
    24, 87, 59, 60, 61, 61, 38, 53, 37, 59, 56, 82, 54, 56, 55, 37, 33, 37, 66};

struct font_metrics case_font(void)
{
    static const float heavier[] = {1, 1.05f, 1.11f}; /* Regular, Medium, Semi Bold */
    static const enum scene_font text_fonts[] = {FONT_UI, FONT_UI_MEDIUM, FONT_UI_BOLD};
    struct font_metrics m = font_metrics_fake();
    for (int f = 0; f < 3; f++) {
        float *advance = m.advance[text_fonts[f]], *extra = m.extra[text_fonts[f]];
        for (size_t i = 0; i < sizeof text_advance; i++)
            advance[i] = 0.01f * (float)text_advance[i] * heavier[f];
        for (int i = 0; i < FONT_EXTRA && scene_extra_glyphs[i]; i++) {
            uint32_t c = scene_extra_glyphs[i];
            bool quote = c >= 0x2018 && c <= 0x201D;
            extra[i] = quote ? 0.4f : 1; /* and no other glyph is wider than an em */
        }
    }
    return m;
}

/* ---- random numbers ---------------------------------------------------------------------- */

uint64_t case_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

float case_unit(uint64_t *state)
{
    return (float)(case_random(state) >> 40) / (float)(1 << 23) - 1;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void open_common(struct scene_case *c)
{
    struct err e;
    c->attn.k = attn_kernels_get(NULL);
    c->font = case_font();
    c->state.time = 1;
    assert_true(arena_init(&c->frame_mem, scene_bytes(), &e));
    case_run(c);
}

static float *copy_of(struct arena *mem, struct attn_cmat m)
{
    size_t n = (size_t)m.rows * (size_t)m.cols;
    float *copy = arena_push(mem, n, sizeof *copy);
    assert_non_null(copy);
    assert_int_equal(m.ld, m.cols);
    memcpy(copy, m.data, n * sizeof *copy);
    return copy;
}

static void open_model(struct scene_case *c, enum step_scale scale, const uint32_t *seed)
{
    *c = (struct scene_case){.state = step_initial()};
    enum model_kind kind = scale == STEP_TOY ? MODEL_TOY : MODEL_GPT2_RANDOM;
    struct attn_ctx ctx = {.k = attn_kernels_get(NULL)};
    struct model m;
    struct err e;
    size_t own = (size_t)2 * 1024 * 768 * sizeof(float) + 128; /* x and h, at most */
    c->state.scale = scale;
    if (seed) case_place(c)->seed = *seed;
    assert_true(arena_init(&c->model_mem, model_bytes(kind) + own, &e));
    assert_true(model_make(&m, kind, case_place(c)->seed, &c->model_mem, &ctx, &e));
    c->weights = m.weights;
    c->tokens = m.tokens;
    c->n_ctx = m.dims.n_tok;
    c->x = copy_of(&c->model_mem, m.x);
    c->h = copy_of(&c->model_mem, m.h);
    c->src.label = m.label;
    c->src.ln_gain = m.ln_gain;
    c->src.ln_bias = m.ln_bias;
    c->src.ln_eps = m.eps;
    open_common(c);
}

void case_open(struct scene_case *c, enum step_scale scale)
{
    open_model(c, scale, NULL);
}

void case_open_toy(struct scene_case *c, uint32_t seed)
{
    open_model(c, STEP_TOY, &seed);
}

static float *random_block(struct arena *mem, size_t n, float size, uint64_t *seed)
{
    float *block = arena_push(mem, n, sizeof *block);
    assert_non_null(block);
    for (size_t i = 0; i < n; i++) block[i] = size * case_unit(seed);
    return block;
}

void case_open_dims(struct scene_case *c, struct attn_dims d)
{
    *c = (struct scene_case){.state = step_initial(), .n_ctx = d.n_tok};
    struct err e;
    uint64_t seed = 3;
    int n = d.n_tok, w = d.d_model;
    size_t cells = (size_t)w * (size_t)w, rows = (size_t)n * (size_t)w;
    float size = 1.7f / sqrtf((float)w);
    assert_true(arena_init(&c->model_mem,
                           (4 * cells + 2 * rows) * sizeof(float) + (size_t)4 * 64, &e));
    float *qkv = random_block(&c->model_mem, 3 * cells, size, &seed);
    float *o = random_block(&c->model_mem, cells, size, &seed);
    c->weights =
        (struct attn_weights){.w_qkv = {qkv, w, 3 * w, 3 * w}, .w_o = {o, w, w, w}};
    c->x = random_block(&c->model_mem, rows, 1.7f, &seed);
    c->h = random_block(&c->model_mem, rows, 1.7f, &seed);
    c->src.label = "random";
    c->state.scale = STEP_GPT2;
    *case_place(c) = (struct step_place){
        .dims = d, .row = d.n_tok - 1, .pin = step_no_ref(), .view = {.zoom = 1}};
    open_common(c);
}

void case_close(struct scene_case *c)
{
    arena_free(&c->model_mem);
    arena_free(&c->run_mem);
    arena_free(&c->frame_mem);
    arena_free(&c->dump_mem);
    arena_free(&c->pair_mem);
}

struct step_place *case_place(struct scene_case *c)
{
    return &c->state.place[c->state.scale];
}

/* ---- running and building ------------------------------------------------------------------- */

static void make_room(struct arena *mem, size_t bytes)
{
    struct err e;
    arena_reset(mem);
    if (mem->size >= bytes) return;
    arena_free(mem);
    assert_true(arena_init(mem, bytes, &e));
}

/* |v_j W_O| of the head in view, in double. */
static void reach_by_the_book(struct scene_case *c)
{
    int head = c->trace.head, d_head = attn_d_head(c->trace.dims);
    struct attn_cmat v = attn_trace_view(&c->trace, ATTN_V, head);
    struct attn_cmat w = attn_trace_view(&c->trace, ATTN_W_O, head);
    for (int j = 0; j < v.rows; j++) {
        double sum = 0;
        for (int a = 0; a < w.cols; a++) {
            double y = 0;
            for (int k = 0; k < d_head; k++)
                y += (double)v.data[(size_t)j * v.ld + k] *
                     (double)w.data[(size_t)(head * d_head + k) * w.ld + a];
            sum += y * y;
        }
        c->reach[j] = (float)sqrt(sum);
    }
}

void case_run(struct scene_case *c)
{
    const struct step_place *p = case_place(c);
    struct attn_dims d = p->dims;
    assert_true(d.n_tok <= c->n_ctx);
    size_t bytes = attn_trace_bytes(d), blend = (size_t)d.n_tok * 3;
    size_t reach = (size_t)d.n_tok;
    make_room(&c->run_mem, bytes + (blend + reach) * sizeof(float) + 192);
    void *mem = arena_push(&c->run_mem, bytes, 1);
    c->blend = arena_push(&c->run_mem, blend, sizeof(float));
    c->reach = arena_push(&c->run_mem, reach, sizeof(float));
    assert_int_equal(attn_trace_init(&c->trace, d, mem, bytes), ATTN_OK);
    struct attn_cmat x = {c->x, d.n_tok, d.d_model, d.d_model}, h = x;
    h.data = c->h;
    assert_int_equal(
        attn_run(&c->attn, &c->trace, x, h, &c->weights, c->state.opts, p->head),
        ATTN_OK);
    scene_blend(c->blend, attn_trace_view(&c->trace, ATTN_P, p->head));
    reach_by_the_book(c);
    scene_check(&c->checks, &c->trace, &c->attn);
    c->src.checks = &c->checks;
    c->src.trace = &c->trace;
    c->src.attn = &c->attn;
    c->src.fits = true;
    c->src.version++;
    c->src.tokens = c->tokens;
    c->src.blend = c->blend;
    c->src.reach = c->reach;
    c->src.progress = -1;
}

void case_pair(struct scene_case *c, enum step_pair how, int second)
{
    struct attn_dims d = case_place(c)->dims;
    struct attn_trace other;
    size_t bytes = attn_trace_bytes(d), cells = (size_t)d.n_tok * (size_t)d.n_tok;
    make_room(&c->pair_mem, bytes + SCENE_PAIR_KINDS * (cells * sizeof(float) + 64) + 64);
    void *mem = arena_push(&c->pair_mem, bytes, 1);
    assert_int_equal(attn_trace_init(&other, d, mem, bytes), ATTN_OK);
    assert_int_equal(attn_run(&c->attn, &other, c->trace.x, c->trace.h, &c->weights,
                              c->state.opts, second),
                     ATTN_OK);
    c->pair = (struct scene_pair){.head = second};
    for (int k = 0; k < SCENE_PAIR_KINDS; k++) {
        /* of masked scores, as the scaled ones differ */
        int from = ATTN_S_RAW + k == ATTN_S_MASKED ? ATTN_S_SCALED : ATTN_S_RAW + k;
        struct attn_cmat a =
            attn_trace_view(&c->trace, (enum attn_tensor)from, c->trace.head);
        struct attn_cmat b = attn_trace_view(&other, (enum attn_tensor)from, second);
        float *minus = arena_push(&c->pair_mem, cells, sizeof(float));
        assert_non_null(minus);
        for (size_t i = 0; i < cells; i++) minus[i] = a.data[i] - b.data[i];
        c->pair.second[k] =
            attn_trace_view(&other, (enum attn_tensor)(ATTN_S_RAW + k), second);
        c->pair.minus[k] = (struct attn_cmat){minus, d.n_tok, d.n_tok, d.n_tok};
        c->pair.second_most[k] = attn_stats_of(c->pair.second[k]).max_abs;
        c->pair.minus_most[k] = attn_stats_of(c->pair.minus[k]).max_abs;
    }
    c->src.pair = &c->pair;
    c->state.pair = how;
    case_place(c)->second = second;
}

void case_tokens(struct scene_case *c, int n_tok)
{
    case_place(c)->dims.n_tok = n_tok;
    case_place(c)->row = n_tok - 1;
    case_run(c);
}

void case_build(struct scene_case *c, float w, float h)
{
    struct err e;
    arena_reset(&c->frame_mem);
    if (!scene_begin(&c->sc, &c->frame_mem, &c->font, c->state.theme, w, h, &e))
        fail_msg("%s", e.text);
    scene_build(&c->sc, &c->state, &c->src);
    if (c->sc.full) fail_msg("%s: the scene has no room", case_where(c).text);
}

void case_show(struct scene_case *c, enum attn_stage stage, float time, float w, float h)
{
    c->state.stage = stage;
    c->state.time = time;
    case_build(c, w, h);
}

const char *case_dump(struct scene_case *c)
{
    make_room(&c->dump_mem, (size_t)c->sc.n * 200 + (1 << 17));
    const char *text = scene_dump(&c->sc, &c->dump_mem);
    if (!text) fail_msg("%s: no dump", case_where(c).text);
    return text;
}

char *case_dump_kept(struct scene_case *c)
{
    const char *text = case_dump(c);
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    assert_non_null(copy);
    return memcpy(copy, text, n);
}

struct case_where case_where(const struct scene_case *c)
{
    struct case_where where;
    const struct step_place *p = step_place_of(&c->state);
    (void)snprintf(where.text, sizeof where.text,
                   "%s stage %d at %.3f, N=%d d=%d H=%d, %gx%g, %s%s%s",
                   c->state.scale == STEP_TOY ? "toy" : "large", (int)c->state.stage + 1,
                   (double)c->state.time, p->dims.n_tok, p->dims.d_model, p->dims.n_head,
                   (double)c->sc.w, (double)c->sc.h,
                   c->state.opts.scale ? "" : "no scale ",
                   c->state.opts.causal ? "" : "no mask ",
                   c->state.opts.residual ? "" : "no residual");
    return where;
}

struct attn_opts case_opts(int i)
{
    return (struct attn_opts){
        .scale = !(i & 1), .causal = !(i & 2), .residual = !(i & 4)};
}

/* ---- figures --------------------------------------------------------------------------------- */

#define MINUS    "\u2212"
#define INFINITE "\u221E"

static bool starts(const char **text, const char *with)
{
    size_t n = strlen(with);
    if (strncmp(*text, with, n) != 0) return false;
    *text += n;
    return true;
}

/* "1.05", ".7", "3.0e+09": the whole text. */
static bool digits_read(const char *text, double *value, int *decimals)
{
    size_t digits = strspn(text, "0123456789");
    const char *point = text[digits] == '.' ? text + digits : NULL;
    size_t after = point ? strspn(point + 1, "0123456789") : 0;
    if (digits + after == 0 || (point && after == 0)) return false;
    const char *end = text + digits + (point ? after + 1 : 0);
    char *rest;
    *value = strtod(text, &rest);
    if (*rest || (*end && *end != 'e')) return false;
    *decimals = (int)after;
    if (*end == 'e') *decimals -= (int)strtol(end + 1, NULL, 10);
    return true;
}

struct figure_read figure_read(const char *text)
{
    struct figure_read r = {.kind = FIGURE_NONE};
    if (strcmp(text, "NaN") == 0) return (struct figure_read){.kind = FIGURE_NAN};
    bool below = starts(&text, "<");
    bool above = !below && starts(&text, ">");
    bool minus = starts(&text, MINUS);
    if (!minus && starts(&text, "-")) minus = r.ascii_minus = true;
    if (!minus) (void)starts(&text, "+");
    bool bound = below || above;
    if (above && !minus) return r;
    if (strcmp(text, INFINITE) == 0) {
        r.kind = bound ? FIGURE_NONE : FIGURE_INFINITY;
        r.value = minus ? -HUGE_VAL : HUGE_VAL;
        return r;
    }
    double v;
    if (!digits_read(text, &v, &r.decimals)) return r;
    r.kind = bound ? FIGURE_BELOW : FIGURE_NUMBER;
    r.value = minus ? -v : v;
    return r;
}

bool figure_is(const char *text, double value)
{
    struct figure_read r = figure_read(text);
    if (r.ascii_minus) return false;
    switch (r.kind) {
    case FIGURE_NONE:
        return false;
    case FIGURE_NAN:
        return isnan(value);
    case FIGURE_INFINITY:
        return value == r.value;
    case FIGURE_BELOW:
        return value != 0 && fabs(value) < fabs(r.value) &&
               signbit(value) == signbit(r.value);
    case FIGURE_NUMBER:
        break;
    }
    if (r.value == 0) return value == 0 && !signbit(r.value);
    double half = 0.5 * pow(10, -r.decimals);
    return fabs(r.value - value) <= half * (1 + 1e-9) + 1e-12 * fabs(value);
}

/* ---- rectangles --------------------------------------------------------------------------------- */

bool rect_holds(struct scene_rect outer, struct scene_rect inner, float slack)
{
    return inner.x >= outer.x - slack && inner.y >= outer.y - slack &&
           inner.x + inner.w <= outer.x + outer.w + slack &&
           inner.y + inner.h <= outer.y + outer.h + slack;
}

float rect_overlap(struct scene_rect a, struct scene_rect b)
{
    float x = fminf(a.x + a.w, b.x + b.w) - fmaxf(a.x, b.x);
    float y = fminf(a.y + a.h, b.y + b.h) - fmaxf(a.y, b.y);
    return fminf(x, y);
}

struct scene_rect rect_common(struct scene_rect a, struct scene_rect b)
{
    float x0 = fmaxf(a.x, b.x), y0 = fmaxf(a.y, b.y);
    float x1 = fminf(a.x + a.w, b.x + b.w), y1 = fminf(a.y + a.h, b.y + b.h);
    return (struct scene_rect){x0, y0, fmaxf(x1 - x0, 0), fmaxf(y1 - y0, 0)};
}

void case_saturation(struct scene_saturation *sat, int n_key)
{
    float even = 1 / (float)n_key, most = log2f((float)n_key);
    *sat = (struct scene_saturation){.n_key = n_key, .n_draw = 512, .n = STEP_LAB_DS};
    for (int i = 0; i < sat->n; i++) {
        sat->d[i] = step_lab_d(i);
        float done = 1 - expf(-(float)(sat->d[i] - 1) / 40); /* 0 at 1, towards 1 */
        float top[2] = {even * 2 + (1 - even * 2) * done, even * 2};
        if (n_key < 3) top[0] = top[1] = 1;
        for (int k = 0; k < 2; k++) {
            float bits = most * (1 - top[k]) * 0.9f;
            sat->top[k][i] =
                (struct scene_spread){top[k], top[k] * 0.8f, fminf(1, top[k] * 1.1f)};
            sat->entropy[k][i] =
                (struct scene_spread){bits, bits * 0.8f, fminf(most, bits * 1.2f)};
        }
    }
}
