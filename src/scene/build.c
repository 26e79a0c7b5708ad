/* Draws the stage in view: title, matrices in motion, caption. Knows matrices and motions;
 * which stage has which is in stages.c, where they lie in layout.c. */
#include "compare.h"
#include "lab.h"
#include "motion.h"
#include "overview.h"
#include "pair.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Type and spacing of the stage's head and foot, in points. */
static const float head_x = 32, title_y = 46, title_size = 24, formula_y = 72;
static const float formula_size = 15, shapes_size = 13, shapes_gap = 22;
static const float caption_size = 16, caption_leading = 24.5f, caption_up = 90;
static const float caption_size_small = 14, caption_leading_small = 19,
                   caption_up_small = 78, caption_up_low = 27;
static const float cost_size = 12, cost_size_least = 9, cost_up = 16, cost_line = 1.3f,
                   canvas_inset_small = 22, presenter_corner = 28; /* the way out */
static const float low_stage = 720; /* under it the caption is small, as above the code */
static const float banner_down = 4; /* of the title, below the banner of what is broken */

/* ---- the whole stage ------------------------------------------------------------------------------ */

/* down: of the title, points. */
static void head_draw(const struct stage *st, const struct stage_words *w, float down)
{
    struct scene *sc = st->b.sc;
    const struct scene_rect *f = &sc->frame.stage;
    const struct scene_theme *t = st->b.theme;
    float x = f->x + (f->w < 640 ? canvas_inset_small : head_x);
    (void)scene_text(sc, x, f->y + title_y + down, ALIGN_LEFT, FONT_UI_BOLD, title_size,
                     t->ink, st->spec->text.title);
    float room = f->x + f->w - x - 16;
    const char *formula = scene_fit_text(sc, FONT_MONO, formula_size, room, w->formula);
    (void)scene_text(sc, x, f->y + formula_y, ALIGN_LEFT, FONT_MONO, formula_size, t->ink,
                     formula);
    float after =
        x + font_width(sc->font, FONT_MONO, formula_size, formula, -1) + shapes_gap;
    bool heads = st->b.s->stage != ATTN_OUTPUT;
    int second = step_is_paired(st->b.s) ? step_second(st->b.s) + 1 : 0;
    const char *shapes =
        second ? scene_print(sc, "%s   heads %d and %d", w->shapes, st->b.place->head + 1,
                             second)
        : heads ? scene_print(sc, "%s   head %d", w->shapes, st->b.place->head + 1)
                : w->shapes;
    if (font_width(sc->font, FONT_MONO, shapes_size, shapes, -1) >
        f->x + f->w - 12 - after)
        shapes = w->shapes;
    if (font_width(sc->font, FONT_MONO, shapes_size, shapes, -1) <=
        f->x + f->w - 12 - after)
        (void)scene_text(sc, after, f->y + formula_y, ALIGN_LEFT, FONT_MONO, shapes_size,
                         t->ink_faint, shapes);
}

/* What is broken, above the title of a stage that has no window around it. */
static void what_if_draw(const struct stage *st, const struct step_state *s)
{
    static const float y = 19, size = 12;
    static const char *const looked_at[STEP_SEE_COUNT] = {
        "What if: ", "Correct, without: ", "Difference made by: "};
    struct scene *sc = st->b.sc;
    const struct scene_rect *f = &sc->frame.stage;
    float x = f->x + (f->w < 640 ? canvas_inset_small : head_x);
    float room = f->x + f->w - x - 16;
    const char *text = NULL;
    for (int brief = 0; brief < 2; brief++) {
        text = scene_print(sc, "%s%s", looked_at[step_seen(s)],
                           scene_broken_text(sc, s, brief == 1));
        if (font_width(sc->font, FONT_UI_MEDIUM, size, text, -1) <= room) break;
    }
    (void)scene_text(sc, x, f->y + y, ALIGN_LEFT, FONT_UI_MEDIUM, size,
                     st->b.theme->on_warn,
                     scene_fit_text(sc, FONT_UI_MEDIUM, size, room, text));
}

/* The part of a term that stands in the line drawn by item i, bytes from..to of its text. */
static void term_draw(const struct stage *st, int i, int from, int to, int id,
                      const char *meaning)
{
    static const float below = 3.5f;
    struct scene *sc = st->b.sc;
    const char *text = sc->items[i].u.text.text;
    float size = sc->items[i].u.text.size, y = sc->items[i].u.text.y;
    float x = sc->items[i].u.text.x + font_width(sc->font, FONT_UI, size, text, from);
    float w = font_width(sc->font, FONT_UI, size, text + from, to - from);
    scene_line(sc, x, y + below, x + w, y + below, 1, st->b.theme->ink_faint)
        ->u.line.dash = 1.5f;
    struct scene_item *touch =
        scene_rect(sc, (struct scene_rect){x, y - size, w, size + below + 2}, 0,
                   scene_fade(st->b.theme->paper, 0));
    touch->hit.kind = HIT_COVER;
    touch->hit.tip = meaning;
    if (id < SCENE_TERM_END) touch->hit.id = id;
}

/* A dotted line under each term of the glossary in text, whose lines were drawn from item n
 * on; a term may go over from one line to the next. Its meaning is its hover text, and is
 * shown where it has the keyboard focus. */
static void terms_draw(const struct stage *st, const char *text, int n)
{
    int id = SCENE_TERM_ID, to = st->b.sc->n, len = 0, from = 0;
    const char *meaning = NULL, *term = scene_term_in(text, text, &len, &meaning);
    for (int i = n; i < to && term; i++) {
        while (text[from] == ' ') from++;
        int end = from + (int)strlen(st->b.sc->items[i].u.text.text);
        while (term && (int)(term - text) < end) {
            int at = (int)(term - text), last = at + len;
            term_draw(st, i, (at > from ? at : from) - from,
                      (last < end ? last : end) - from, id++, meaning);
            if (last > end) break; /* its rest is in the next line */
            term = scene_term_in(text, term + len, &len, &meaning);
        }
        from = end;
    }
}

/* What two small lines hold of a caption: its first sentences, or the start of the first. */
static const char *caption_start(struct scene *sc, float width, const char *text)
{
    int first = scene_line_fit(sc, FONT_UI, caption_size_small, width, text);
    const char *rest = text + first;
    while (*rest == ' ') rest++;
    int most =
        (int)(rest - text) + scene_line_fit(sc, FONT_UI, caption_size_small, width, rest);
    if (!text[most]) return text;
    int end = 0;
    for (int i = 0; i < most; i++)
        if (text[i] == '.' && text[i + 1] == ' ') end = i + 1;
    if (end) return scene_print(sc, "%.*s", end, text);
    const char *cut = scene_fit_text(sc, FONT_UI, caption_size_small, width, rest);
    return scene_print(sc, "%.*s%s", (int)(rest - text), text, cut);
}

static void foot_draw(const struct stage *st, const struct stage_words *w)
{
    struct scene *sc = st->b.sc;
    const struct scene_rect *f = &sc->frame.stage;
    int n = sc->n;
    bool small = f->w < 760 || f->h < low_stage;
    float size = small ? caption_size_small : caption_size;
    float leading = small ? caption_leading_small : caption_leading;
    float x = f->x + (f->w < 640 ? canvas_inset_small : head_x);
    float bottom = f->y + f->h;
    float width = f->x + f->w - x - 24;
    if (!scene_has_foot(f->h)) {
        const char *start = caption_start(sc, width, w->caption);
        (void)scene_paragraph(sc, x, bottom - caption_up_low, width, leading, FONT_UI,
                              size, st->b.theme->ink, start);
        terms_draw(st, start, n);
        return;
    }
    (void)scene_paragraph(sc, x, bottom - (small ? caption_up_small : caption_up), width,
                          leading, FONT_UI, size, st->b.theme->ink, w->caption);
    terms_draw(st, w->caption, n);
    float natural = font_width(sc->font, FONT_MONO, cost_size, w->cost, -1);
    if (st->b.s->presenter.on) width -= presenter_corner;
    float fit = fmaxf(cost_size * fminf(1, (width - 1) / natural), cost_size_least);
    const char *cost = scene_fit_text(sc, FONT_MONO, fit, width, w->cost);
    struct scene_rect box = {x, bottom - cost_up - fit,
                             font_width(sc->font, FONT_MONO, fit, cost, -1),
                             fit * cost_line};
    scene_rect(sc, box, 0, scene_fade(st->b.theme->paper, 0))->hit =
        (struct scene_hit){.kind = HIT_ACTION,
                           .action = {.verb = STEP_LAB, .i = STEP_LAB_COST},
                           .id = LAB_ID_COST_LINE,
                           .tip = "Cost against N: the cost lab (S)"};
    (void)scene_text(sc, x, bottom - cost_up, ALIGN_LEFT, FONT_MONO, fit,
                     st->b.theme->ink_faint, cost);
}

static void waiting_draw(struct scene *sc, const struct scene_theme *t,
                         const struct scene_source *src, struct scene_rect canvas)
{
    float x = canvas.x + canvas.w / 2, y = canvas.y + canvas.h / 2;
    (void)scene_text(sc, x, y, ALIGN_CENTER, FONT_UI, 16, t->ink_soft,
                     "computing \u2026");
    if (src->progress < 0) return;
    struct scene_rect bar = {x - 120, y + 18, 240, 6};
    (void)scene_rect(sc, bar, 3, t->track);
    bar.w *= fminf(src->progress, 1);
    (void)scene_rect(sc, bar, 3, t->accent);
}

static bool same_dims(struct attn_dims a, struct attn_dims b)
{
    return a.n_tok == b.n_tok && a.d_model == b.d_model && a.n_head == b.n_head;
}

/* The code drawer takes its room from the stage. */
static void code_room(struct scene *sc, const struct step_state *s)
{
    static const float share = 0.32f, least = 152, most = 260, low = 144;
    struct scene_rect *f = &sc->frame.stage;
    if (!s->code.open) return;
    float h = fminf(fmaxf(f->h * share, least), most);
    if (!scene_has_foot(f->h - h)) h = low; /* two lines of the caption stay */
    f->h -= h;
    sc->frame.code = (struct scene_rect){f->x, f->y + f->h, f->w, h};
}

/* The matrices in their motion, and what is marked in them. */
static void stage_draw(struct stage *st)
{
    static void (*const motion[])(struct stage *) = {
        [MOTION_DOT] = motion_dot,           [MOTION_FADE] = motion_fade,
        [MOTION_DIAGONAL] = motion_diagonal, [MOTION_SOFTMAX] = motion_softmax,
        [MOTION_BLEND] = motion_blend,
    };
    const struct brush *b = &st->b;
    struct scene_rect all = b->sc->clip;
    bool difference = step_seen(b->s) == STEP_SEE_DIFFERENCE && b->src->ghost;
    b->sc->clip = b->canvas;
    if (step_is_paired(b->s)) {
        pair_draw(st);
    } else if (difference) {
        st->done = true;
        st->f.moving = false;
        motion_difference(st);
    } else {
        motion[st->spec->motion](st);
        trail_draw(st);
        if (b->s->stage == ATTN_SCORES) {
            key_label(st, 1);
            float lo, hi;
            score_range(st, &lo, &hi);
            struct grid on = grid_on_screen(b, st->l.result[0]);
            grid_legend(b, &on, MAP_DIVERGING, lo, hi);
        }
    }
    b->sc->clip = all;
}

/* Whether the figures of what is in view are on the stage by now. */
static bool is_made(const struct stage *st)
{
    const struct focus *f = &st->f;
    const struct grid *out = &st->l.result[f->group < 0 ? 0 : f->group];
    int row = (f->row < 0 ? st->b.place->row : f->row) - st->clock.row0;
    bool cell = f->row >= 0 && f->col >= 0;
    if (st->done || step_is_paired(st->b.s)) return true;
    switch (st->spec->motion) {
    case MOTION_DOT:
        if (st->beat.at >= st->clock.n_beat) return !st->spec->adds || !cell;
        if (st->clock.beats_a_row == 1) return row < st->beat.at;
        return row * out->cols + (cell ? f->col + 1 : out->cols) <= st->beat.at;
    case MOTION_DIAGONAL:
        return !cell || f->col - f->row <= 0 || f->col - f->row >= diagonal_from(st);
    case MOTION_SOFTMAX:
        return row < st->beat.at;
    case MOTION_BLEND:
        return !cell || row < st->beat.at;
    case MOTION_FADE: /* all cells at once */
        break;
    }
    return false;
}

static struct caption_at caption_at_of(const struct stage *st)
{
    bool sums = st->f.moving && st->f.col >= 0 && st->spec->motion == MOTION_DOT;
    int terms = sums ? scene_terms(st->beat.part, st->l.left.cols) : -1;
    return (struct caption_at){st->spec->result[st->f.group < 0 ? 0 : st->f.group],
                               st->f.row, st->f.row < 0 ? -1 : st->f.col, terms,
                               is_made(st)};
}

void scene_build(struct scene *sc, const struct step_state *state,
                 const struct scene_source *source)
{
    struct scene_seen seen;
    scene_seen_of(&seen, state, source);
    const struct step_state *s = seen.s;
    const struct scene_source *src = seen.src;
    sc->order = (struct scene_order){.n = 0};
    sc->pane_by = 0;
    sc->apart = NULL;
    sc->asked = (struct scene_asked){.kind = ASK_NOTHING};
    if (s->presenter.on)
        sc->frame = scene_frame_presented(sc->w, sc->h,
                                          s->tour.open || s->switches || s->lab.open);
    if (s->over.open) {
        overview_build(sc, s, src);
        return;
    }
    if (s->lab.open) {
        lab_build(sc, s, src);
        return;
    }
    code_room(sc, s);
    const struct step_place *place = step_place_of(s);
    const struct scene_theme *theme = scene_theme_get(s->theme);
    struct stage st = {
        .b = {.sc = sc,
              .s = s,
              .place = place,
              .src = src,
              .theme = theme,
              .canvas = scene_canvas_of(sc->frame.stage),
              .view = place->view,
              .mask_from = s->opts.causal ? 1 + s->opts.shifted : INT_MAX,
              .bare = !src->fits,
              .decoding = step_is_decoding(s),
              .pass = step_pass_of(s)},
        .spec = &scene_stages[s->stage],
        .clock = step_clock_at(s, s->stage),
        .d = place->dims,
        .done = s->time >= 1,
    };
    sc->canvas = st.b.canvas;
    st.beat = step_beat_at(&st.clock, s->time);
    struct scene_item *paper = scene_rect(sc, sc->frame.stage, 0, theme->paper);
    paper->hit.kind = HIT_CANVAS;
    bool paired = step_is_paired(s);
    bool ready =
        src->trace && same_dims(src->trace->dims, place->dims) && (!paired || src->pair);
    st.f = (struct focus){-1, -1, 0, false};
    if (ready && src->compare && s->diff != STEP_DIFF_OFF) {
        compare_build(sc, &st.b);
        return;
    }
    struct caption_at at = {
        .tensor = st.spec->result[0], .row = -1, .col = -1, .terms = -1, .made = true};
    if (ready) {
        st.l = scene_layout(s->stage, st.d, sc->frame.stage);
        st.f = focus_of(&st);
        stage_draw(&st);
        at = caption_at_of(&st);
    } else {
        waiting_draw(sc, theme, src, st.b.canvas);
    }
    pair_controls(&st.b);
    struct stage_words w = scene_words(sc, s, src, at);
    bool broken = step_is_broken(state);
    head_draw(&st, &w, broken ? banner_down : 0);
    if (broken && !(sc->frame.top.h > 0)) what_if_draw(&st, state);
    if (ready) strip_draw(&st);
    foot_draw(&st, &w);
}
