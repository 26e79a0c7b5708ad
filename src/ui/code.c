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
static const struct ui_type code_type = {FONT_MONO, 12}, number_type = {FONT_MONO, 10};

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

static void take_file(struct ui_code *c, const char *name, enum attn_stage stage)
{
    static const char mark[] = "listing: ";
    unsigned in = 0;
    int number = 1;
    for (const char *at = file_named(name); *at; number++) {
        size_t n = strcspn(at, "\n");
        const char *end = at + n, *found = strstr(at, mark);
        if (found && found < end) {
            in = stages_of(found, end);
        } else if (in & 1u << stage && c->n < UI_CODE_LINES) {
            struct ui_code_line *l = &c->line[c->n];
            if (n > 0 || (c->n > 0 && c->line[c->n - 1].len > 0))
                c->n++, *l = (struct ui_code_line){name, number, at, (int)n, stage};
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

/* Parts of the lines that are at work from one share of a beat to another. */
const struct ui_code_lit ui_code_lits[] = {
    {ATTN_PROJECTIONS, 0, 2, {"sum += a[kk]", "x @ w_qkv"}},
    {ATTN_SCORES, 0, 2, {"sum += a[kk]", "q @ k"}},
    {ATTN_SCALE, 0, 2, {"out[a] = ", "s / math"}},
    {ATTN_MASK, 0, 2, {"out[a] = -INFINITY", "masked_fill"}},
    {ATTN_SOFTMAX, 0, 0.5f, {"row_exp(p, s", "torch.softmax"}},
    {ATTN_SOFTMAX, 0, 0.5f, {"expf(", "torch.softmax"}},
    {ATTN_SOFTMAX, 0.5f, 2, {"row_div(p, p", "torch.softmax"}},
    {ATTN_SOFTMAX, 0.5f, 2, {"= e[j] / sum", "torch.softmax"}},
    {ATTN_WEIGHTED_SUM, 0, 2, {"sum += a[kk]", "a @ v"}},
    {ATTN_OUTPUT, 0, 1, {"sum += a[kk]", "z @ w_o"}},
    {ATTN_OUTPUT, 1, 2, {"if (g->res)", "z @ w_o"}},
};
const int ui_code_lit_count = sizeof ui_code_lits / sizeof *ui_code_lits;

static bool is_lit(const struct step_state *s, const struct ui_code_line *l)
{
    if (l->stage != s->stage) return false;
    struct step_clock clock = step_clock_at(s, s->stage);
    struct step_beat b = step_beat_at(&clock, s->time);
    if (b.intro < 1) return false;
    float part = b.at >= clock.n_beat ? 1 : b.part;
    if (b.at < clock.n_beat && s->stage == ATTN_OUTPUT) part = fminf(part, 0.99f);
    for (int i = 0; i < ui_code_lit_count; i++) {
        const struct ui_code_lit *lit = &ui_code_lits[i];
        if (lit->stage == s->stage && part >= lit->from && part < lit->to &&
            holds(l, lit->part[s->code.tab]))
            return true;
    }
    return false;
}

/* ---- shapes beside the lines ------------------------------------------------------------------ */

/* N tokens, d = d_model, D = 3d, H heads, k = d_head; in square brackets alone. */
static const struct {
    const char *part, *shape;
} shapes[] = {
    {"def attention", ""},
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
    {"attn_divide_floats", "a row of s: [N]"},
    {"mask_row(", "a row of s: [N]"},
    {"attn_soften", "a row of s and p: [N]"},
};

/* What a letter between brackets stands for; 0: itself. */
static int size_of(struct attn_dims d, char letter)
{
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
    default:
        return 0;
    }
}

static const char *shape_of(const struct ui *u, const struct ui_code_line *l)
{
    struct attn_dims d = step_place_of(u->s)->dims;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!holds(l, shapes[i].part)) continue;
        char out[160];
        int n = 0;
        bool inside = false;
        for (const char *at = shapes[i].shape; *at && n < 140; at++) {
            if (*at == '[' || *at == ']') inside = *at == '[';
            int v = inside ? size_of(d, *at) : 0;
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

/* ---- names ------------------------------------------------------------------------------------ */

/* What a name stands for, in the listings of the stages named by bits. */
enum { ALL = 127, COUNTS = ATTN_TENSOR_COUNT, MAX, SUM, N_TOK, WIDTH, HEADS };
static const struct {
    const char *name;
    enum step_code_tab tab;
    unsigned stages;
    int what;
} names[] = {
    /* clang-format off */
    {"h", STEP_CODE_TORCH, ALL, ATTN_H},      {"x", STEP_CODE_TORCH, ALL, ATTN_X},
    {"q", STEP_CODE_TORCH, ALL, ATTN_Q},      {"k", STEP_CODE_TORCH, ALL, ATTN_K},
    {"v", STEP_CODE_TORCH, ALL, ATTN_V},      {"s", STEP_CODE_TORCH, 2, ATTN_S_RAW},
    {"s", STEP_CODE_TORCH, 4, ATTN_S_SCALED}, {"s", STEP_CODE_TORCH, 8 | 16, ATTN_S_MASKED},
    {"a", STEP_CODE_TORCH, ALL, ATTN_P},      {"o", STEP_CODE_TORCH, ALL, ATTN_Z},
    {"z", STEP_CODE_TORCH, ALL, ATTN_Z_ALL},  {"y", STEP_CODE_TORCH, ALL, ATTN_Y},
    {"w_o", STEP_CODE_TORCH, ALL, ATTN_W_O},  {"n", STEP_CODE_TORCH, ALL, N_TOK},
    {"d", STEP_CODE_TORCH, ALL, WIDTH},       {"n_head", STEP_CODE_TORCH, ALL, HEADS},
    {"x", STEP_CODE_C, 1, ATTN_X},            {"q", STEP_CODE_C, 2, ATTN_Q},
    {"k", STEP_CODE_C, 2, ATTN_K},            {"s", STEP_CODE_C, 2, ATTN_S_RAW},
    {"p", STEP_CODE_C, 32, ATTN_P},           {"v", STEP_CODE_C, 32, ATTN_V},
    {"z", STEP_CODE_C, 32, ATTN_Z},           {"z", STEP_CODE_C, 64, ATTN_Z_ALL},
    {"w_o", STEP_CODE_C, 64, ATTN_W_O},       {"y", STEP_CODE_C, 64, ATTN_Y},
    {"h", STEP_CODE_C, 64, ATTN_H},           {"in", STEP_CODE_C, 4, ATTN_S_RAW},
    {"out", STEP_CODE_C, 4, ATTN_S_SCALED},   {"in", STEP_CODE_C, 8, ATTN_S_SCALED},
    {"out", STEP_CODE_C, 8, ATTN_S_MASKED},   {"p", STEP_CODE_C, 16, ATTN_P},
    {"s", STEP_CODE_C, 16, ATTN_S_MASKED},    {"max", STEP_CODE_C, 16, MAX},
    {"sum", STEP_CODE_C, 16, SUM},            
    {"sum", STEP_CODE_C, 1, ATTN_Q},          {"sum", STEP_CODE_C, 2, ATTN_S_RAW},
    {"sum", STEP_CODE_C, 32, ATTN_Z},         {"sum", STEP_CODE_C, 64, ATTN_Y_PROJ},
    /* clang-format on */
};

/* "q [5×4], row 4: −1.35 −1.23 1.96 −2.20"; of a cell in view its own number too. */
static const char *matrix_text(const struct ui *u, const char *name, enum attn_tensor t)
{
    enum { FIRST = 6 };
    struct attn_cmat m = scene_tensor_view(u->src, t);
    if (!m.data) return NULL;
    struct step_ref cell = scene_cell_of(u->s);
    int row = cell.tensor != ATTN_TENSOR_COUNT ? cell.row : step_place_of(u->s)->row;
    if (row >= m.rows) row = m.rows - 1;
    const float *r = m.data + (size_t)row * (size_t)m.ld;
    const char *text = scene_print(u->sc, "%s = %s [%d\u00D7%d], row %d:", name,
                                   scene_tensor_name(t), m.rows, m.cols, row + 1);
    for (int j = 0; j < m.cols && j < FIRST; j++)
        text = scene_print(u->sc, "%s  %s", text, scene_number(u->sc, r[j], 3));
    if (m.cols > FIRST) text = scene_print(u->sc, "%s  \u2026", text);
    if (cell.tensor == ATTN_TENSOR_COUNT || cell.col >= m.cols) return text;
    return scene_print(u->sc, "%s   column %d: %s", text, cell.col + 1,
                       scene_number(u->sc, r[cell.col], 5));
}

static const char *name_text(const struct ui *u, const char *name, int what)
{
    struct attn_dims d = step_place_of(u->s)->dims;
    int row = step_place_of(u->s)->row;
    if (what < ATTN_TENSOR_COUNT) return matrix_text(u, name, (enum attn_tensor)what);
    if (what == N_TOK) return scene_print(u->sc, "%s = %d tokens", name, d.n_tok);
    if (what == WIDTH) return scene_print(u->sc, "%s = d_model = %d", name, d.d_model);
    if (what == HEADS) return scene_print(u->sc, "%s = %d heads", name, d.n_head);
    if (!u->src->trace || !u->src->fits || !u->src->attn) return NULL;
    struct attn_row r = attn_trace_row(u->src->attn, u->src->trace, row, NULL);
    return scene_print(u->sc, "%s = %s in row %d", name,
                       scene_number(u->sc, what == MAX ? r.max : r.sum, 5), row + 1);
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static void draw_names(const struct ui *u, const struct ui_code_line *l, float x, float y)
{
    float pitch = ui_width(u, code_type, "0");
    for (int i = 0; i < l->len;) {
        int n = 0;
        while (i + n < l->len && is_name(l->text[i + n])) n++;
        bool member = i > 0 && (l->text[i - 1] == '.' || l->text[i - 1] == '>');
        for (size_t k = 0; n > 0 && !member && k < sizeof names / sizeof *names; k++) {
            if (names[k].tab != u->s->code.tab || !(names[k].stages & 1u << l->stage) ||
                (int)strlen(names[k].name) != n ||
                strncmp(names[k].name, l->text + i, (size_t)n) != 0)
                continue;
            struct scene_rect box = {x + pitch * (float)i, y, pitch * (float)n, LINE_H};
            if (!ui_hot(u, box)) break; /* its text is made for the pointer alone */
            const char *tip = name_text(u, names[k].name, names[k].what);
            if (tip)
                (void)ui_touch(u, box, UI_ID_NONE, ui_act(STEP_GO, (int)l->stage), tip);
            break;
        }
        i += n > 0 ? n : 1;
    }
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* The first line shown: the stage's own, moved so that what is at work can be seen, and by
 * as much as was scrolled. */
static int first_shown(const struct ui *u, const struct ui_code *c, int room)
{
    int from = 0, lit = -1;
    while (from < c->n && c->line[from].stage != u->s->stage) from++;
    for (int i = from; i < c->n && lit < 0; i++)
        if (is_lit(u->s, &c->line[i])) lit = i;
    if (lit >= from + room - 1) from = lit - room + 2;
    from += u->s->code.scroll;
    if (from > c->n - room) from = c->n - room;
    return from < 0 ? 0 : from;
}

static void draw_line(const struct ui *u, const struct ui_code_line *l,
                      struct scene_rect box, int id)
{
    const struct scene_theme *t = u->theme;
    bool lit = is_lit(u->s, l), here = l->stage == u->s->stage;
    float cy = box.y + box.h / 2, x = box.x + NUMBER_W;
    struct scene_item *row =
        scene_rect(u->sc, box, RADIUS, lit ? t->accent_soft : scene_fade(t->panel, 0));
    ui_control(row, id, ui_act(STEP_GO, (int)l->stage),
               scene_print(u->sc, here ? "Stage %d from its start" : "To stage %d",
                           (int)l->stage + 1));
    (void)ui_text(u, x - PAD * 0.5f, cy, ALIGN_RIGHT, number_type, t->ink_faint,
                  scene_print(u->sc, "%d", l->number));
    const char *text = scene_print(u->sc, "%.*s", l->len, l->text);
    float w = ui_width(u, code_type, text), room = box.x + box.w - x - PAD;
    (void)ui_text_fit(u, x, cy, room, ALIGN_LEFT, code_type,
                      lit    ? t->ink
                      : here ? t->ink_soft
                             : t->ink_faint,
                      text);
    const char *shape = shape_of(u, l);
    if (*shape && w + NOTE_GAP + ui_width(u, number_type, shape) <= room)
        (void)ui_text(u, box.x + box.w - PAD, cy, ALIGN_RIGHT, number_type,
                      here ? t->accent : t->ink_faint, shape);
    draw_names(u, l, x, box.y);
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
    int from = first_shown(u, c, room);
    float top = box.y + HEAD_H + (box.h - HEAD_H - (float)(room * LINE_H)) / 2;
    for (int i = 0; i < room && from + i < c->n; i++)
        draw_line(
            u, &c->line[from + i],
            (struct scene_rect){box.x + 4, top + (float)(i * LINE_H), box.w - 8, LINE_H},
            UI_ID_CODE_LINE + i);
    const char *file = from < c->n ? c->line[from].file : "";
    draw_head(
        u, box,
        u->s->code.tab == STEP_CODE_C
            ? scene_print(sc, "stage %d \u00B7 src/attn/%s", (int)u->s->stage + 1, file)
            : "assets/attention.py");
    sc->clip = (struct scene_rect){0, 0, sc->w, sc->h};
}
