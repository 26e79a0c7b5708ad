/* The code drawer: the stage's listing, from the kernel library's own sources and from the
 * PyTorch file beside them, both embedded when the program is built. The lines at work are
 * lit, a line leads to its stage, a name tells its value. */
#include "code.h"

#include "code_embedded.h"

#include <math.h>
#include <string.h>

enum {
    HEAD_H = 28,
    LINE_H = 18,
    PAD = 14,
    NUMBER_W = 34,
    TAB_W = 70,
    TAB_H = 20,
    TAB_GAP = 6,
    RADIUS = 4,
    NOTE_GAP = 18,
    CLOSE = 20
};
static const struct ui_type number_type = {FONT_MONO, 10};

/* ---- listings ------------------------------------------------------------------------------- */

static const char *file_named(const char *name)
{
    for (size_t i = 0; i < sizeof code_files / sizeof *code_files; i++)
        if (strcmp(code_files[i].name, name) == 0) return code_files[i].text;
    return "";
}

/* The stages that a mark names: a bit each; 0: it ends a listing. */
static unsigned stages_of(const char *mark, const char *end)
{
    unsigned bits = 0;
    for (; mark < end; mark++)
        if (*mark >= '1' && *mark <= '7') bits |= 1u << (*mark - '1');
    return bits;
}

/* The name in front of the first bracket of a line that begins at the margin: a function
 * begins; else nothing is changed. */
static void function_of(const char *at, const char *end, struct ui_code_line *l)
{
    const char *bracket = memchr(at, '(', (size_t)(end - at));
    if (!bracket || *at < 'a' || *at > 'z') return;
    const char *from = bracket;
    while (from > at && from[-1] != ' ' && from[-1] != '*') from--;
    l->function = from;
    l->function_len = (int)(bracket - from);
}

static void take_file(struct ui_code *c, const char *name, enum attn_stage stage)
{
    static const char mark[] = "listing: ";
    struct ui_code_line line = {.file = name, .stage = stage, .function = ""};
    unsigned in = 0;
    int number = 1;
    for (const char *at = file_named(name); *at; number++) {
        size_t n = strcspn(at, "\n");
        const char *end = at + n, *found = strstr(at, mark);
        function_of(at, end, &line);
        if (found && found < end) {
            in = stages_of(found, end);
        } else if (in & 1u << stage && c->n < UI_CODE_LINES) {
            line.number = number;
            line.text = at;
            line.len = (int)n;
            if (n > 0 || (c->n > 0 && c->line[c->n - 1].len > 0)) c->line[c->n++] = line;
        }
        at = *end ? end + 1 : end;
    }
    while (c->n > 0 && c->line[c->n - 1].len == 0) c->n--; /* no empty last line */
}

void ui_code_of(struct ui_code *c, enum step_code_tab tab)
{
    c->n = 0;
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        if (tab == STEP_CODE_TORCH) {
            take_file(c, "attention.py", (enum attn_stage)s);
            continue;
        }
        take_file(c, "attn.c", (enum attn_stage)s);
        take_file(c, "kernels_ref.c", (enum attn_stage)s);
    }
}

static bool holds(const struct ui_code_line *l, const char *part)
{
    size_t n = strlen(part);
    for (int i = 0; i + (int)n <= l->len; i++)
        if (strncmp(l->text + i, part, n) == 0) return true;
    return false;
}

/* ---- what is at work ------------------------------------------------------------------------- */

/* Parts of the lines that are at work from one share of a beat to another, and when they
 * run. */
const struct ui_code_lit ui_code_lits[] = {
    {ATTN_PROJECTIONS, 0, 2, UI_CODE_ALWAYS, {"sum += a[kk]", "x @ w_qkv"}},
    {ATTN_SCORES, 0, 2, UI_CODE_ALWAYS, {"sum += a[kk]", "q @ k"}},
    {ATTN_SCALE, 0, 2, UI_CODE_BY_PRODUCT, {"out[a] = in[a] * by", NULL}},
    {ATTN_SCALE, 0, 2, UI_CODE_BY_QUOTIENT, {"out[a] = (float)", NULL}},
    {ATTN_SCALE, 0, 2, UI_CODE_SCALED, {NULL, "s / math"}},
    {ATTN_MASK, 0, 2, UI_CODE_MASKED, {"out[a] = -INFINITY", "masked_fill"}},
    {ATTN_SOFTMAX, 0, 2, UI_CODE_ALWAYS, {NULL, "torch.softmax"}},
    {ATTN_SOFTMAX, 0, 2, UI_CODE_BARE, {"if (o.no_max)", NULL}},
    {ATTN_SOFTMAX, 0, 0.5f, UI_CODE_SHIFTED, {"row_exp(p, s", NULL}},
    {ATTN_SOFTMAX, 0, 0.5f, UI_CODE_SHIFTED, {"expf(", NULL}},
    {ATTN_SOFTMAX, 0.5f, 2, UI_CODE_SHIFTED, {"row_div(p, p", NULL}},
    {ATTN_SOFTMAX, 0.5f, 2, UI_CODE_SHIFTED, {"= e[j] / sum", NULL}},
    {ATTN_WEIGHTED_SUM, 0, 2, UI_CODE_ALWAYS, {"sum += a[kk]", "a @ v"}},
    {ATTN_OUTPUT, 0, 1, UI_CODE_ALWAYS, {"sum += a[kk]", NULL}},
    {ATTN_OUTPUT, 0, 2, UI_CODE_ALWAYS, {NULL, "z @ w_o"}},
    {ATTN_OUTPUT, 1, 2, UI_CODE_ADDED, {"if (g->res)", NULL}},
};
const int ui_code_lit_count = sizeof ui_code_lits / sizeof *ui_code_lits;

struct attn_opts ui_code_opts(const struct step_state *s)
{
    return step_seen(s) == STEP_SEE_RIGHT ? attn_opts_default() : step_opts_of(s);
}

/* As attn_divide_floats decides. */
static bool by_product(struct attn_opts o, struct attn_dims d)
{
    int exponent;
    return frexp(attn_divisor_of(o, d), &exponent) == 0.5;
}

static bool runs(const struct step_state *s, enum ui_code_when when)
{
    struct attn_opts o = ui_code_opts(s);
    struct attn_dims d = step_place_of(s)->dims;
    switch (when) {
    case UI_CODE_ALWAYS:
        return true;
    case UI_CODE_BY_PRODUCT:
        return by_product(o, d);
    case UI_CODE_BY_QUOTIENT:
        return !by_product(o, d);
    case UI_CODE_SCALED:
        return o.scale;
    case UI_CODE_MASKED:
        return o.causal;
    case UI_CODE_BARE:
        return o.no_max;
    case UI_CODE_SHIFTED:
        return !o.no_max;
    case UI_CODE_ADDED:
        return o.residual;
    }
    return false;
}

bool ui_code_is_lit(const struct step_state *s, const struct ui_code_line *l)
{
    if (l->stage != s->stage) return false;
    struct step_clock clock = step_clock_at(s, s->stage);
    struct step_beat b = step_beat_at(&clock, s->time);
    if (b.intro < 1) return false;
    float part = b.at >= clock.n_beat ? 1 : b.part;
    if (b.at < clock.n_beat && s->stage == ATTN_OUTPUT) part = fminf(part, 0.99f);
    for (int i = 0; i < ui_code_lit_count; i++) {
        const struct ui_code_lit *lit = &ui_code_lits[i];
        const char *of = lit->part[s->code.tab];
        if (lit->stage == s->stage && part >= lit->from && part < lit->to && of &&
            runs(s, lit->when) && holds(l, of))
            return true;
    }
    return false;
}

/* ---- shapes beside the lines ------------------------------------------------------------------ */

/* N tokens, d = d_model, D = 3d, H heads, k = d_head; of the product in the
 * stage t terms, c columns. In square brackets alone. The first part that is found counts. */
static const struct {
    const char *part, *shape;
} shapes[] = {
    {"x = torch", "x [N, d]"},
    {"(x @ w_qkv", "[N, d] \u00B7 [d, D]: q, k, v [N, d]"},
    {"t.view", "q, k, v [H, N, k]"},
    {"s = q @", "[H, N, k] \u00B7 [H, k, N]: s [H, N, N]"},
    {"s = s / math", "s [H, N, N]"},
    {"future =", "future [N, N]"},
    {"masked_fill", "s [H, N, N]"},
    {"softmax(s", "a [H, N, N]"},
    {"o = a @", "[H, N, N] \u00B7 [H, N, k]: o [H, N, k]"},
    {"reshape(n", "z [N, d]"},
    {"y = z @", "[N, d] \u00B7 [d, d] + [N, d]: y [N, d]"},
    {".c = qkv", "[N, d] \u00B7 [d, D]: qkv [N, D]"},
    {".c = s", "[N, k] \u00B7 [k, N]: s [N, N]"},
    {".c = z", "[N, N] \u00B7 [N, k]: z [N, k]"},
    {".c = y", "[N, d] \u00B7 [d, d]: y [N, d]"},
    {"const float *a = g->a", "a [t] of [N, t]"},
    {"float *c = g->c", "c [c] of [N, c]"},
    {"sum += a[kk]", "a [t] \u00B7 b [t, c]"},
    {"if (g->bias)", "bias [c]"},
    {"if (g->res)", "res [N, c]"},
    {"c[j] = sum;", "c [c]"},
    {"attn_divide_floats", "a row of s: [N]"},
    {"out[a] = in[a] * by", "out, in [N]"},
    {"out[a] = (float)", "out, in [N]"},
    {"mask_row(", "a row of s: [N]"},
    {"memcpy(out, in", "out, in [N]"},
    {"out[a] = -INF", "out [N]"},
    {"attn_soften", "a row of s and p: [N]"},
    {"k->row_max(", "s [N]"},
    {"p[a] = clean", "p, s [N]"},
    {"k->row_exp(", "p, s [N]"},
    {"k->row_div(", "p [N]"},
    {"s[j] > *max", "s [N]"},
    {"e[j] = expf(", "e, s [N]"},
    {"sum += e[j]", "e [N]"},
    {"= e[j] / sum", "p, e [N]"},
};

/* What a letter between brackets stands for; 0: itself. */
static int size_of(struct attn_dims d, enum attn_stage stage, char letter)
{
    bool scores = stage == ATTN_SCORES, sum = stage == ATTN_WEIGHTED_SUM;
    switch (letter) {
    case 'N':
        return d.n_tok;
    case 'd':
        return d.d_model;
    case 'D':
        return 3 * d.d_model;
    case 'H':
        return d.n_head;
    case 'k':
        return attn_d_head(d);
    case 't':
        return scores ? attn_d_head(d) : sum ? d.n_tok : d.d_model;
    case 'c':
        return scores                      ? d.n_tok
               : sum                       ? attn_d_head(d)
               : stage == ATTN_PROJECTIONS ? 3 * d.d_model
                                           : d.d_model;
    default:
        return 0;
    }
}

const char *ui_code_shape(const struct ui *u, const struct ui_code_line *l)
{
    struct attn_dims d = step_place_of(u->s)->dims;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!holds(l, shapes[i].part)) continue;
        char out[160];
        int n = 0;
        bool inside = false;
        for (const char *at = shapes[i].shape; *at && n < 140; at++) {
            if (*at == '[' || *at == ']') inside = *at == '[';
            int v = inside ? size_of(d, l->stage, *at) : 0;
            if (v)
                for (const char *digit = scene_print(u->sc, "%d", v); *digit;)
                    out[n++] = *digit++;
            else
                out[n++] = *at;
        }
        return scene_print(u->sc, "%.*s", n, out);
    }
    return "";
}

/* ---- a line on screen ------------------------------------------------------------------------- */

/* The pieces of a line that is wider than the drawer. */
enum { PIECES = 3 };
struct laid {
    struct {
        int from, n;
        float x; /* from the first one's */
    } piece[PIECES];
    int n, rows; /* rows: with a shape that stands in one of its own */
    const char *shape;
    struct ui_type shape_type;
};

/* The type of all code: smaller where the drawer is narrow. */
static struct ui_type type_in(struct scene_rect box)
{
    return (struct ui_type){FONT_MONO, box.w < 620 ? 11 : 12};
}

/* Broken behind spaces; what follows is set in. */
static void lay_code(const struct ui_code_line *l, int chars, float pitch,
                     struct laid *to)
{
    int indent = 0, at = 0;
    while (indent < l->len && l->text[indent] == ' ') indent++;
    do {
        int room = to->n ? chars - indent - 4 : chars, n = l->len - at;
        if (n > room && to->n + 1 < PIECES) {
            n = room;
            while (n > 1 && l->text[at + n - 1] != ' ') n--;
            if (n <= indent + 1) n = room;
        }
        to->piece[to->n].from = at;
        to->piece[to->n].n = n;
        to->piece[to->n].x = to->n ? pitch * (float)(indent + 4) : 0;
        to->n++;
        at += n;
    } while (at < l->len);
    to->rows = to->n;
}

/* The shape beside the code, smaller where that is not enough, else below. */
static struct laid lay(const struct ui *u, const struct ui_code_line *l,
                       struct scene_rect box)
{
    static const float sizes[] = {10, 9, 8.5f};
    struct laid to = {.shape = ui_code_shape(u, l), .shape_type = number_type};
    float room = box.w - NUMBER_W - PAD, pitch = ui_width(u, type_in(box), "0");
    lay_code(l, (int)(room / pitch), pitch, &to);
    if (!*to.shape) return to;
    float end = to.piece[to.n - 1].x + pitch * (float)to.piece[to.n - 1].n + NOTE_GAP;
    for (int i = 0; i < 3; i++) {
        to.shape_type.size = sizes[i];
        if (end + ui_width(u, to.shape_type, to.shape) <= room) return to;
    }
    to.shape_type = number_type;
    to.rows++;
    return to;
}

/* Names under the pointer tell their values. */
static void draw_names(const struct ui *u, const struct ui_code_line *l,
                       const struct laid *as, float x, float y, float pitch)
{
    for (int k, i, n, from = 0; (k = ui_code_name(l, from, &i, &n)) >= 0; from = i + n) {
        int p = 0;
        while (p + 1 < as->n && i >= as->piece[p + 1].from) p++;
        struct scene_rect box = {x + as->piece[p].x +
                                     pitch * (float)(i - as->piece[p].from),
                                 y + (float)(p * LINE_H), pitch * (float)n, LINE_H};
        if (!ui_hot(u, box)) continue; /* its text is made for the pointer alone */
        const char *tip = ui_code_name_text(u, l, k);
        if (tip) (void)ui_touch(u, box, UI_ID_NONE, ui_act(STEP_GO, (int)l->stage), tip);
    }
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* The first line shown: the stage's own, moved so that what is at work can be seen, and by
 * as much as was scrolled. */
static int first_shown(const struct ui *u, const struct ui_code *c,
                       struct scene_rect line, int room)
{
    int from = 0, lit = -1, last = c->n;
    while (from < c->n && c->line[from].stage != u->s->stage) from++;
    for (int i = from; i < c->n && lit < 0; i++)
        if (ui_code_is_lit(u->s, &c->line[i])) lit = i;
    int rows = 1; /* of the line behind what is at work */
    for (int i = lit; i >= from; i--) {
        rows += lay(u, &c->line[i], line).rows;
        if (rows > room) from = i + (i < lit);
    }
    from += u->s->code.scroll;
    for (rows = 0; last > 0; last--) {
        rows += lay(u, &c->line[last - 1], line).rows;
        if (rows > room) break;
    }
    if (from > last) from = last;
    return from < 0 ? 0 : from;
}

/* box: of as many rows as it takes. */
static void draw_line(const struct ui *u, const struct ui_code_line *l,
                      const struct laid *as, struct scene_rect box, int id)
{
    const struct scene_theme *t = u->theme;
    struct ui_type type = type_in(box);
    bool lit = ui_code_is_lit(u->s, l), here = l->stage == u->s->stage;
    float cy = box.y + LINE_H * 0.5f, x = box.x + NUMBER_W;
    struct scene_item *row =
        scene_rect(u->sc, box, RADIUS, lit ? t->accent_soft : scene_fade(t->panel, 0));
    const char *tip = scene_print(u->sc, here ? "Stage %d from its start" : "To stage %d",
                                  (int)l->stage + 1);
    if (u->s->focus == id) { /* what the pointer would be told name by name */
        const char *told = ui_code_line_text(u, l);
        if (*told) tip = told;
    }
    ui_control(row, id, ui_act(STEP_GO, (int)l->stage), tip);
    (void)ui_text(u, x - PAD * 0.5f, cy, ALIGN_RIGHT, number_type, t->ink_faint,
                  scene_print(u->sc, "%d", l->number));
    struct scene_rgba ink = lit ? t->ink : here ? t->ink_soft : t->ink_faint;
    for (int p = 0; p < as->n; p++) {
        const char *text =
            scene_print(u->sc, "%.*s", as->piece[p].n, l->text + as->piece[p].from);
        (void)ui_text(u, x + as->piece[p].x, cy + (float)(p * LINE_H), ALIGN_LEFT, type,
                      ink, text);
    }
    if (*as->shape)
        (void)ui_text(u, box.x + box.w - PAD, box.y + box.h - LINE_H * 0.5f, ALIGN_RIGHT,
                      as->shape_type, here ? t->accent : t->ink_faint, as->shape);
    draw_names(u, l, as, x, box.y, ui_width(u, type, "0"));
}

static void draw_head(const struct ui *u, struct scene_rect box, const char *file)
{
    static const char *const tab[STEP_CODE_TAB_COUNT] = {"C", "PyTorch"};
    static const char *const tip[STEP_CODE_TAB_COUNT] = {
        "The reference kernels that every other set agrees with",
        "The same in PyTorch (assets/attention.py)"};
    float cy = box.y + HEAD_H * 0.5f + 1, x = box.x + PAD;
    for (int i = 0; i < STEP_CODE_TAB_COUNT; i++) {
        struct scene_rect b = {x, cy - TAB_H * 0.5f, TAB_W, TAB_H};
        bool on = (int)u->s->code.tab == i;
        ui_control(ui_face(u, b, RADIUS, on), UI_ID_CODE_TAB + i,
                   ui_act(STEP_CODE_TAB, i), tip[i]);
        (void)ui_text(u, b.x + TAB_W * 0.5f, cy, ALIGN_CENTER, on ? ui_strong : ui_body,
                      u->theme->ink, tab[i]);
        x += TAB_W + TAB_GAP;
    }
    struct scene_rect close = {box.x + box.w - PAD - CLOSE, cy - CLOSE * 0.5f, CLOSE,
                               CLOSE};
    ui_control(ui_face(u, close, RADIUS, false), UI_ID_CODE_CLOSE, ui_act(STEP_CODE, 0),
               "Close the code (C)");
    (void)ui_text(u, close.x + CLOSE * 0.5f, cy, ALIGN_CENTER, ui_body, u->theme->ink,
                  "\u00D7");
    (void)ui_text_fit(u, close.x - PAD, cy, close.x - PAD - x, ALIGN_RIGHT, number_type,
                      u->theme->ink_faint, file);
}

void ui_code(const struct ui *u)
{
    if (!u->s->code.open || step_is_covered(u->s)) return;
    struct scene *sc = u->sc;
    struct scene_rect box = sc->frame.code;
    struct ui_code *c = arena_push(sc->mem, 1, sizeof *c);
    if (!c) {
        sc->full = true;
        return;
    }
    ui_code_of(c, u->s->code.tab);
    sc->clip = box;
    scene_rect(sc, box, 0, u->theme->panel)->hit.kind = HIT_COVER;
    (void)scene_line(sc, box.x, box.y + 0.5f, box.x + box.w, box.y + 0.5f, 1,
                     u->theme->edge);
    int room = (int)((box.h - HEAD_H - 4) / LINE_H);
    struct scene_rect line = {box.x + 4, 0, box.w - 8, LINE_H};
    int from = first_shown(u, c, line, room);
    line.y = box.y + HEAD_H + (box.h - HEAD_H - (float)(room * LINE_H)) / 2;
    float bottom = line.y + (float)(room * LINE_H);
    for (int i = from; i < c->n; i++, line.y += line.h) {
        struct laid as = lay(u, &c->line[i], line);
        line.h = (float)(as.rows * LINE_H);
        if (line.y + line.h > bottom) break;
        draw_line(u, &c->line[i], &as, line, UI_ID_CODE_LINE + i - from);
    }
    const char *file = from < c->n ? c->line[from].file : "";
    draw_head(
        u, box,
        u->s->code.tab == STEP_CODE_C
            ? scene_print(sc, "stage %d \u00B7 src/attn/%s", (int)u->s->stage + 1, file)
            : "assets/attention.py");
    sc->clip = (struct scene_rect){0, 0, sc->w, sc->h};
}
