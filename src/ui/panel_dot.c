/* Stages 1 and 2: one cell as a dot product, term by term, and stage 2's row so far. */
#include "panel.h"

#include <math.h>

enum {
    TERMS_ALL = 8,             /* a sum of more terms is shown by its largest */
    TERMS_MOST = DERIVE_SHOWN, /* of those */
    TERMS_LEAST = 3,
    TERMS_FEW = 4, /* have more room each */
    TERM_FEW_H = 44,
    TERM_H = 38,
    TERM_LEAST_H = 16,
    TERM_TOP_H = 28, /* one of the largest, where there is room */
    CELL_H = 34,
    CELL_GAP = 2, /* between two lines' cells */
    HEAD_H = 20,  /* the columns' names */
    RESULT_H = 40,
    RESULT_TIGHT_H = 30,
    BARS_ALL = 8,   /* a row of more scores is shown by its largest, */
    BARS_LEAST = 5, /* of which so many have their place in any window */
    BAR_H = 16,
    BAR_LEAST_H = 19,
    BAR_MOST_H = 32,
    LABEL_W = 62, /* of a bar's token */
    VALUE_W = 62,
    BARS_GAP = 8
};

/* Where a term's parts stand, of a panel PICTURE_W wide. */
enum {
    PICTURE_W = 304,
    AT_LEFT = 10,  /* first cell */
    AT_TIMES = 79, /* middle */
    AT_RIGHT = 88, /* second cell */
    AT_CELL_W = 60,
    AT_EQUALS = 158,  /* middle */
    AT_PRODUCT = 222, /* right end */
    AT_SUM = 298,     /* right end */
    INDEX_W = 24      /* of a term's number, where not all are shown */
};
static const struct ui_type result_type = {FONT_MONO_BOLD, 20};
static const struct ui_type term_index = {FONT_MONO, 10};
static const float cell_share = 0.9f; /* of a cell's width that its number may take */

/* ---- letters ------------------------------------------------------------------------------ */

/* A number of a tensor in a sum: its letter. */
static const char *letter_of(enum attn_tensor t)
{
    static const char *const letter[ATTN_TENSOR_COUNT] = {
        [ATTN_H] = "h",      [ATTN_X] = "x",        [ATTN_W_Q] = "w",
        [ATTN_W_K] = "w",    [ATTN_W_V] = "w",      [ATTN_Q] = "q",
        [ATTN_K] = "k",      [ATTN_V] = "v",        [ATTN_S_RAW] = "s",
        [ATTN_P] = "a",      [ATTN_S_SCALED] = "s", [ATTN_S_MASKED] = "s",
        [ATTN_Z] = "o",      [ATTN_Z_ALL] = "o",    [ATTN_W_O] = "w",
        [ATTN_Y_PROJ] = "y", [ATTN_Y] = "y"};
    return letter[t];
}

struct scene_rgba panel_tensor_color(const struct panel *p, enum attn_tensor t)
{
    const struct scene_theme *th = p->u->theme;
    switch (t) {
    case ATTN_W_Q:
    case ATTN_Q:
        return th->q;
    case ATTN_W_K:
    case ATTN_K:
        return th->k;
    case ATTN_W_V:
    case ATTN_V:
        return th->v;
    case ATTN_Z:
    case ATTN_Z_ALL:
        return th->o;
    default:
        return th->ink_soft;
    }
}

/* ---- the terms -------------------------------------------------------------------------- */

/* The lines of a sum: where its columns stand, and what has been added. */
struct lines {
    float x, scale; /* of PICTURE_W */
    float pitch;
    bool indexed; /* terms carry their number */
    double sum;
};

static float at(const struct lines *l, int place)
{
    return l->x + l->scale * (float)place;
}

/* A line's right part: what is added, and the sum with it. */
static void add_line(struct panel *p, struct lines *l, float cy, float v)
{
    float w = l->scale * (AT_PRODUCT - AT_EQUALS) - BARS_GAP;
    float w_sum = l->scale * (AT_SUM - AT_PRODUCT) - BARS_GAP;
    l->sum += (double)v;
    (void)ui_text(p->u, at(l, AT_PRODUCT), cy, ALIGN_RIGHT, ui_figure, p->u->theme->ink,
                  panel_signed(p, ui_figure, w, v, 3));
    (void)ui_text(p->u, at(l, AT_SUM), cy, ALIGN_RIGHT, ui_figure, p->u->theme->ink,
                  panel_signed(p, ui_figure, w_sum, (float)l->sum, 3));
}

static void term_cell(const struct panel *p, const struct lines *l, int place, float cy,
                      float v, enum attn_tensor t)
{
    float h = fminf(CELL_H, l->pitch - CELL_GAP), w = l->scale * AT_CELL_W;
    struct scene_rect box = {at(l, place), cy - h / 2, w, h};
    const char *text = panel_number(p, ui_figure, w * cell_share, v, 2);
    if (t == ATTN_P)
        panel_weight(p, box, v, ui_figure, text);
    else
        panel_cell(p, box, v, panel_range(p, t), ui_figure, text);
}

static void term(struct panel *p, const struct scene_derivation *d, struct lines *l,
                 int k, bool added)
{
    const struct scene_theme *t = p->u->theme;
    float cy = p->y + l->pitch / 2;
    if (l->indexed)
        (void)ui_text(p->u, l->x - BARS_GAP * 0.5f + l->scale * AT_LEFT, cy, ALIGN_RIGHT,
                      term_index, t->ink_soft, scene_print(p->u->sc, "%d", k + 1));
    const struct derive_series *of[2] = {&d->a, &d->b};
    static const int place[2] = {AT_LEFT, AT_RIGHT};
    for (int i = 0; i < 2; i++) {
        term_cell(p, l, place[i], cy, derive_number(of[i], k), of[i]->first.tensor);
        panel_operand(p,
                      (struct scene_rect){at(l, place[i]), cy - l->pitch / 2,
                                          l->scale * AT_CELL_W, l->pitch},
                      derive_ref(of[i], k));
    }
    (void)ui_text(p->u, at(l, AT_TIMES), cy, ALIGN_CENTER, ui_figure, t->ink_faint,
                  "\u00D7");
    (void)ui_text(p->u, at(l, AT_EQUALS), cy, ALIGN_CENTER, ui_figure, t->ink_faint, "=");
    float product = derive_number(&d->a, k) * derive_number(&d->b, k);
    if (added) add_line(p, l, cy, product);
    p->y += l->pitch;
}

/* A line without cells: the rest, the bias. */
static void plain_line(struct panel *p, struct lines *l, const char *label, float v)
{
    float cy = p->y + l->pitch / 2, x = l->indexed ? p->x : at(l, AT_LEFT);
    (void)ui_text_fit(p->u, x, cy, at(l, AT_EQUALS) - x, ALIGN_LEFT, ui_body,
                      p->u->theme->ink_soft, label);
    add_line(p, l, cy, v);
    p->y += l->pitch;
}

static void names(struct panel *p, const struct scene_derivation *d,
                  const struct lines *l)
{
    const struct scene_rgba soft = p->u->theme->ink_soft;
    enum attn_tensor a = d->a.first.tensor, b = d->b.first.tensor;
    float cy = p->y + HEAD_H * 0.5f;
    (void)ui_text(p->u, at(l, AT_LEFT + AT_CELL_W / 2), cy, ALIGN_CENTER, ui_figure,
                  panel_tensor_color(p, a), letter_of(a));
    (void)ui_text(p->u, at(l, AT_RIGHT + AT_CELL_W / 2), cy, ALIGN_CENTER, ui_figure,
                  panel_tensor_color(p, b), letter_of(b));
    (void)ui_text(p->u, at(l, AT_PRODUCT), cy, ALIGN_RIGHT, ui_figure, soft,
                  scene_print(p->u->sc, "%s\u00D7%s", letter_of(a), letter_of(b)));
    (void)ui_text(p->u, at(l, AT_SUM), cy, ALIGN_RIGHT, ui_figure, soft, "sum");
    p->y += HEAD_H;
}

/* Lines below the terms. */
static int extra_lines(const struct scene_derivation *d, bool rest)
{
    return rest + (d->bias != NULL) + (d->plus.tensor != ATTN_TENSOR_COUNT);
}

/* Which terms are shown, and in which order; returns how many. */
static int choose_terms(struct panel *p, const struct scene_derivation *d, float after,
                        int *shown)
{
    int room = (int)((p->bottom - p->y - after) / TERM_LEAST_H) - extra_lines(d, true);
    int most = room < TERMS_LEAST ? TERMS_LEAST : room > TERMS_MOST ? TERMS_MOST : room;
    if (d->n <= TERMS_ALL && most < d->n) most = d->n;
    bool all = d->n <= most;
    return scene_derive_shown(
        d, most, p->at.done < 1 || (all && !p->apart) || p->u->s->by_place, shown);
}

float panel_terms_height(const struct scene_derivation *d)
{
    int m = d->n < TERMS_MOST ? d->n : TERMS_MOST;
    return HEAD_H + (float)((m + extra_lines(d, m < d->n)) * TERM_LEAST_H);
}

static double rest_of(const struct scene_derivation *d, const int *shown, int m)
{
    double rest = 0;
    for (int k = 0; k < d->n; k++) rest += derive_term(d, k);
    for (int i = 0; i < m; i++) rest -= derive_term(d, shown[i]);
    return rest;
}

bool panel_terms(struct panel *p, const struct scene_derivation *d, float after,
                 float *so_far)
{
    int shown[TERMS_MOST];
    int m = choose_terms(p, d, after + HEAD_H, shown);
    bool all = m == d->n;
    bool indexed = !all || (p->apart && !p->u->s->by_place);
    int added = all ? scene_terms(p->at.done, m) : m;
    float indent = indexed ? INDEX_W : 0;
    struct lines l = {
        .x = p->x + indent, .scale = (p->w - indent) / PICTURE_W, .indexed = indexed};
    names(p, d, &l);
    int count = m + extra_lines(d, !all);
    int most = !all ? TERM_TOP_H : m <= TERMS_FEW ? TERM_FEW_H : TERM_H;
    l.pitch = panel_pitch(p, count, after, TERM_LEAST_H, (float)most);
    for (int i = 0; i < m; i++) term(p, d, &l, shown[i], i < added);
    if (!all)
        plain_line(p, &l,
                   scene_print(p->u->sc, "the rest (%d term%s)", d->n - m,
                               d->n - m == 1 ? "" : "s"),
                   (float)rest_of(d, shown, m));
    *so_far = (float)l.sum;
    if (added < m) {
        p->y += (float)extra_lines(d, false) * l.pitch;
        return false;
    }
    if (d->bias) plain_line(p, &l, "bias", *d->bias);
    if (d->plus.tensor != ATTN_TENSOR_COUNT) {
        panel_operand(p, (struct scene_rect){p->x, p->y, p->w, l.pitch}, d->plus);
        plain_line(p, &l, "residual h", d->plus_value);
    }
    *so_far = d->value; /* the trace's, not ours */
    return true;
}

void panel_result(struct panel *p, const char *label, float v, bool sign, bool done)
{
    float h = p->apart ? RESULT_TIGHT_H : RESULT_H;
    if (!p->apart) panel_rule(p);
    float cy = p->y + h / 2 - (p->apart ? 0 : BARS_GAP * 0.5f);
    const struct scene_theme *t = p->u->theme;
    if (p->apart)
        (void)scene_line(p->u->sc, p->x, p->y + 1, p->x + p->w, p->y + 1, 1, t->edge);
    (void)ui_text_fit(p->u, p->x, cy, p->w / 2, ALIGN_LEFT, ui_body, t->ink_soft, label);
    (void)ui_text(p->u, p->x + p->w, cy, ALIGN_RIGHT, result_type,
                  done ? t->ink : t->ink_soft,
                  sign ? panel_signed(p, result_type, p->w / 2, v, 3)
                       : panel_number(p, result_type, p->w / 2, v, 4));
    p->y += h;
}

/* ---- the row of scores so far --------------------------------------------------------------- */

/* Columns of the row that the animation has computed. */
static int columns_done(const struct panel *p)
{
    const struct step_state *s = p->u->s;
    struct step_clock c = step_clock_at(s, ATTN_SCORES);
    int there = step_pass_of(s).to;
    struct step_beat b = step_beat_at(&c, s->time);
    int row = p->at.row - c.row0;
    int first = row * c.beats_a_row; /* beat of the row's first cell */
    if (c.beats_a_row == 1) return b.at > row ? there : 0;
    int done = b.at - first + (b.at == first + p->at.col && p->at.done >= 1);
    return done < 0 ? 0 : done > there ? there : done;
}

static void draw_bar(const struct panel *p, int j, float cy, bool done)
{
    const struct ui *u = p->u;
    const struct scene_theme *t = u->theme;
    float left = p->x + LABEL_W + BARS_GAP, right = p->x + p->w - VALUE_W - BARS_GAP;
    float zero = (left + right) / 2, range = panel_range(p, ATTN_S_RAW);
    if (j == p->at.col) panel_mark(p, cy, BAR_LEAST_H);
    panel_token(p, j, p->x + LABEL_W, cy, LABEL_W, true);
    (void)scene_line(u->sc, zero, cy - BAR_H * 0.5f, zero, cy + BAR_H * 0.5f, 1,
                     t->track);
    float v = panel_row_of(p, ATTN_S_RAW, p->at.row)[j];
    if (done && isfinite(v)) {
        float w = fabsf(v) / range * (right - left) / 2;
        (void)scene_rect(
            u->sc,
            (struct scene_rect){v < 0 ? zero - w : zero, cy - BAR_H * 0.5f, w, BAR_H},
            fminf(PANEL_BAR_RADIUS, w / 2),
            scene_map_color(t, MAP_DIVERGING, -range, range, false, v));
    }
    (void)ui_text(u, p->x + p->w, cy, ALIGN_RIGHT, ui_figure,
                  done ? t->ink : t->ink_faint,
                  done ? panel_signed(p, ui_figure, VALUE_W, v, 2) : "\u00B7");
}

static float row_height(int n)
{
    int rows = n <= BARS_ALL ? n : BARS_LEAST + 1;
    return PANEL_SECTION_H + (float)rows * BAR_LEAST_H;
}

float panel_row_height_in(int n, float room)
{
    float all = row_height(n), least = PANEL_SECTION_H + 3 * BAR_LEAST_H;
    if (n <= BARS_ALL || room >= all) return room >= all ? all : 0;
    return room >= least ? room : 0;
}

void panel_row_so_far(struct panel *p)
{
    int shown[BARS_ALL], m = p->n, done = columns_done(p);
    panel_section(p, scene_print(p->u->sc, "ROW %d SO FAR", p->at.row + 1));
    bool all = p->n <= BARS_ALL;
    int room = (int)((p->bottom - p->y) / BAR_LEAST_H) - 1; /* the others */
    if (all)
        for (int j = 0; j < m; j++) shown[j] = j;
    else
        m = panel_largest(panel_row_of(p, ATTN_S_RAW, p->at.row), p->n,
                          room < BARS_ALL ? room : BARS_ALL, p->at.col, shown);
    float pitch = panel_pitch(p, m + !all, 0, BAR_LEAST_H, BAR_MOST_H);
    for (int i = 0; i < m; i++, p->y += pitch)
        draw_bar(p, shown[i], p->y + pitch / 2, shown[i] < done);
    if (all) return;
    (void)ui_text(p->u, p->x + p->w, p->y + pitch / 2, ALIGN_RIGHT, ui_body,
                  p->u->theme->ink_soft, panel_others(p, p->n - m));
}

void panel_dot(struct panel *p)
{
    struct scene *sc = p->u->sc;
    bool scores = p->u->s->stage == ATTN_SCORES;
    struct step_ref ref = {scores ? ATTN_S_RAW : p->at.tensor, p->at.row, p->at.col};
    struct scene_derivation d;
    if (!scene_derive(&d, p->u->src, ref)) return;
    panel_title(p, panel_made_of(p, &d));
    float after = PANEL_RULE_H + RESULT_H, v = 0;
    float beside =
        scores
            ? panel_row_height_in(p->n, p->bottom - p->y - after - panel_terms_height(&d))
            : 0; /* the terms come first, as where a cell is taken apart */
    bool done = panel_terms(p, &d, after + beside, &v);
    const char *name = panel_cell_name(p, ref);
    panel_result(p, scores ? scene_print(sc, "score %s", name) : name, v, true, done);
    if (beside > 0) panel_row_so_far(p);
}
