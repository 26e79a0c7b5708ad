/* Stages 1 and 2: one cell as a dot product, term by term, and stage 2's row so far. */
#include "panel.h"

#include <math.h>

enum {
    TERMS_ALL = 8,   /* a sum of more terms is shown by its largest */
    TERMS_MOST = 16, /* of those */
    TERMS_LEAST = 3,
    TERMS_FEW = 4, /* have more room each */
    TERM_FEW_H = 44,
    TERM_H = 38,
    TERM_LEAST_H = 20,
    TERM_TOP_H = 28, /* one of the largest, where there is room */
    CELL_H = 34,
    CELL_GAP = 4, /* between two lines' cells */
    HEAD_H = 20,  /* the columns' names */
    RESULT_H = 40,
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

/* One dot product: a . b (+ bias) = value, as the trace has it. */
struct dot {
    const float *a, *b;
    int a_step, b_step; /* from one term to the next, in floats */
    int n;
    float range_a, range_b;
    const float *bias; /* NULL: none */
    float value;
    const char *name_a, *name_b, *name_ab;
    struct scene_rgba color_a, color_b;
};

static float product(const struct dot *d, int k)
{
    return d->a[(size_t)k * (size_t)d->a_step] * d->b[(size_t)k * (size_t)d->b_step];
}

static struct dot dot_projection(const struct panel *p)
{
    const struct attn_trace *t = p->t;
    int which = (int)p->at.tensor - (int)ATTN_Q; /* 0, 1, 2: Q, K, V */
    enum attn_tensor w = (enum attn_tensor)(ATTN_W_Q + which);
    struct attn_cmat m = panel_view(p, w);
    const struct scene_theme *th = p->u->theme;
    const struct scene_rgba hue[3] = {th->q, th->k, th->v};
    int column = which * t->dims.d_model + p->head * p->d_head + p->at.col;
    return (struct dot){
        .a = panel_row_of(p, ATTN_X, p->at.row),
        .a_step = 1,
        .b = m.data + p->at.col,
        .b_step = m.ld,
        .n = t->dims.d_model,
        .range_a = panel_range(p, ATTN_X),
        .range_b = panel_range(p, w),
        .bias = t->w.b_qkv ? t->w.b_qkv + column : NULL,
        .value = panel_row_of(p, p->at.tensor, p->at.row)[p->at.col],
        .name_a = "x",
        .name_b = "w",
        .name_ab = "x\u00D7w",
        .color_a = th->ink_soft,
        .color_b = hue[which],
    };
}

static struct dot dot_score(const struct panel *p)
{
    return (struct dot){
        .a = panel_row_of(p, ATTN_Q, p->at.row),
        .a_step = 1,
        .b = panel_row_of(p, ATTN_K, p->at.col),
        .b_step = 1,
        .n = p->d_head,
        .range_a = panel_range(p, ATTN_Q),
        .range_b = panel_range(p, ATTN_K),
        .value = panel_row_of(p, ATTN_S_RAW, p->at.row)[p->at.col],
        .name_a = "q",
        .name_b = "k",
        .name_ab = "q\u00D7k",
        .color_a = p->u->theme->q,
        .color_b = p->u->theme->k,
    };
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
                      float v, float range)
{
    float h = fminf(CELL_H, l->pitch - CELL_GAP), w = l->scale * AT_CELL_W;
    struct scene_rect box = {at(l, place), cy - h / 2, w, h};
    panel_cell(p, box, v, range, ui_figure,
               panel_number(p, ui_figure, w * cell_share, v, 2));
}

static void term(struct panel *p, const struct dot *d, struct lines *l, int k, bool added)
{
    const struct scene_theme *t = p->u->theme;
    float cy = p->y + l->pitch / 2;
    if (l->indexed)
        (void)ui_text(p->u, l->x - BARS_GAP * 0.5f + l->scale * AT_LEFT, cy, ALIGN_RIGHT,
                      term_index, t->ink_soft, scene_print(p->u->sc, "%d", k + 1));
    term_cell(p, l, AT_LEFT, cy, d->a[(size_t)k * (size_t)d->a_step], d->range_a);
    (void)ui_text(p->u, at(l, AT_TIMES), cy, ALIGN_CENTER, ui_figure, t->ink_faint,
                  "\u00D7");
    term_cell(p, l, AT_RIGHT, cy, d->b[(size_t)k * (size_t)d->b_step], d->range_b);
    (void)ui_text(p->u, at(l, AT_EQUALS), cy, ALIGN_CENTER, ui_figure, t->ink_faint, "=");
    if (added) add_line(p, l, cy, product(d, k));
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

static void names(struct panel *p, const struct dot *d, const struct lines *l)
{
    const struct scene_rgba soft = p->u->theme->ink_soft;
    float cy = p->y + HEAD_H * 0.5f;
    (void)ui_text(p->u, at(l, AT_LEFT + AT_CELL_W / 2), cy, ALIGN_CENTER, ui_figure,
                  d->color_a, d->name_a);
    (void)ui_text(p->u, at(l, AT_RIGHT + AT_CELL_W / 2), cy, ALIGN_CENTER, ui_figure,
                  d->color_b, d->name_b);
    (void)ui_text(p->u, at(l, AT_PRODUCT), cy, ALIGN_RIGHT, ui_figure, soft, d->name_ab);
    (void)ui_text(p->u, at(l, AT_SUM), cy, ALIGN_RIGHT, ui_figure, soft, "sum");
    p->y += HEAD_H;
}

/* Which terms are shown, and in which order; returns how many. */
static int choose_terms(struct panel *p, const struct dot *d, float after, int *shown)
{
    if (d->n <= TERMS_ALL) {
        for (int k = 0; k < d->n; k++) shown[k] = k;
        return d->n;
    }
    float *size = panel_floats(p, d->n);
    if (!size) return 0;
    for (int k = 0; k < d->n; k++) size[k] = fabsf(product(d, k));
    int room = (int)((p->bottom - p->y - after) / TERM_LEAST_H) - 1 - (d->bias != NULL);
    int most = room < TERMS_LEAST ? TERMS_LEAST : room > TERMS_MOST ? TERMS_MOST : room;
    return panel_largest(size, d->n, most, -1, shown);
}

static double rest_of(const struct dot *d, const int *shown, int m)
{
    double rest = 0;
    for (int k = 0; k < d->n; k++) rest += (double)product(d, k);
    for (int i = 0; i < m; i++) rest -= (double)product(d, shown[i]);
    return rest;
}

/* What the sum has come to. */
struct total {
    bool done; /* all terms are in it */
    float value;
};

/* after: points to be left free below. */
static struct total draw_terms(struct panel *p, const struct dot *d, float after)
{
    int shown[TERMS_MOST > TERMS_ALL ? TERMS_MOST : TERMS_ALL];
    int m = choose_terms(p, d, after + HEAD_H, shown);
    bool all = m == d->n;
    int added = all ? scene_terms(p->at.done, m) : m;
    float indent = all ? 0.0f : INDEX_W;
    struct lines l = {
        .x = p->x + indent, .scale = (p->w - indent) / PICTURE_W, .indexed = !all};
    names(p, d, &l);
    int count = m + !all + (d->bias != NULL);
    int most = !all ? TERM_TOP_H : m <= TERMS_FEW ? TERM_FEW_H : TERM_H;
    l.pitch = panel_pitch(p, count, after, TERM_LEAST_H, (float)most);
    for (int i = 0; i < m; i++) term(p, d, &l, shown[i], i < added);
    if (!all)
        plain_line(p, &l, scene_print(p->u->sc, "the rest (%d terms)", d->n - m),
                   (float)rest_of(d, shown, m));
    if (added < m) {
        p->y += d->bias ? l.pitch : 0;
        return (struct total){false, (float)l.sum};
    }
    if (d->bias) plain_line(p, &l, "bias", *d->bias);
    return (struct total){true, d->value}; /* the trace's, not ours */
}

static void draw_result(struct panel *p, struct total total, const char *label)
{
    panel_rule(p);
    float cy = p->y + RESULT_H * 0.5f - BARS_GAP * 0.5f;
    const struct scene_theme *t = p->u->theme;
    (void)ui_text(p->u, p->x, cy, ALIGN_LEFT, ui_body, t->ink_soft, label);
    (void)ui_text(p->u, p->x + p->w, cy, ALIGN_RIGHT, result_type,
                  total.done ? t->ink : t->ink_soft,
                  panel_signed(p, result_type, p->w / 2, total.value, 3));
    p->y += RESULT_H;
}

/* ---- the row of scores so far --------------------------------------------------------------- */

/* Columns of the row that the animation has computed. */
static int columns_done(const struct panel *p)
{
    const struct step_state *s = p->u->s;
    struct step_clock c = step_clock_of(ATTN_SCORES, p->t->dims);
    struct step_beat b = step_beat_at(&c, s->time);
    int first = p->at.row * c.beats_a_row; /* beat of the row's first cell */
    if (c.beats_a_row == 1) return b.at > p->at.row ? p->n : 0;
    int done = b.at - first + (b.at == first + p->at.col && p->at.done >= 1);
    return done < 0 ? 0 : done > p->n ? p->n : done;
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

static float bars_height(int n)
{
    int rows = n <= BARS_ALL ? n : BARS_LEAST + 1;
    return PANEL_SECTION_H + (float)rows * BAR_LEAST_H;
}

static void draw_row(struct panel *p)
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
    struct dot d = scores ? dot_score(p) : dot_projection(p);
    const char *row = panel_index(p, p->at.row, -1), *label;
    if (scores) {
        panel_title(
            p, scene_print(sc, "q%s \u00B7 k%s", row, panel_index(p, p->at.col, -1)));
        label = scene_print(sc, "score S%s", panel_index(p, p->at.row, p->at.col));
    } else {
        static const char *const letter[3] = {"q", "k", "v"};
        static const char *const weight[3] = {"W_Q", "W_K", "W_V"};
        int which = (int)p->at.tensor - (int)ATTN_Q;
        label =
            scene_print(sc, "%s%s", letter[which], panel_index(p, p->at.row, p->at.col));
        panel_title(p, scene_print(sc, "%s = x%s \u00B7 column %d of %s%s", label, row,
                                   p->at.col + 1, weight[which], d.bias ? " + b" : ""));
    }
    float after = PANEL_RULE_H + RESULT_H + (scores ? bars_height(p->n) : 0);
    draw_result(p, draw_terms(p, &d, after), label);
    if (scores) draw_row(p);
}
