/* scene: where things lie. Matrices for every size there can be, straight from the
 * layout; texts and all other items in finished scenes. */
#include "scene_case.h"

#include "../src/scene/layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- the layout alone -------------------------------------------------------------------- */

struct laid_out {
    enum attn_stage stage;
    struct attn_dims d;
    struct scene_rect room, canvas; /* the stage's part of the window, and of that */
    struct layout l;
};

static struct scene_rect area(const struct grid *g)
{
    return (struct scene_rect){g->x, g->y, grid_w(g), grid_h(g)};
}

static void check_true(const struct laid_out *x, bool ok, const char *what)
{
    if (!ok)
        fail_msg("stage %d, N=%d d=%d H=%d, canvas %gx%g: %s", (int)x->stage + 1,
                 x->d.n_tok, x->d.d_model, x->d.n_head, (double)x->canvas.w,
                 (double)x->canvas.h, what);
}

#define check(x, ok) check_true(x, ok, #ok)

/* Runs a check over all stages, dims and windows. */
static void everywhere(void (*check_one)(const struct laid_out *x))
{
    static const int n_tok[] = {1, 2, 5, 64, 1000, 1024};
    for (int size = 0; size < CASE_SIZES; size++) {
        struct scene_frame f = scene_frame_of(case_sizes[size].w, case_sizes[size].h);
        struct laid_out x = {.room = f.stage, .canvas = scene_canvas_of(f.stage)};
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int n = 0; n < 6; n++)
                for (int heads = 1; heads <= 25; heads++)
                    for (int d_head = 1; d_head <= 80; d_head += heads % 4 ? 7 : 1) {
                        x.stage = (enum attn_stage)s;
                        x.d = (struct attn_dims){n_tok[n], heads * d_head, heads};
                        x.l = scene_layout(x.stage, x.d, x.room);
                        check_one(&x);
                    }
    }
}

static void check_crossing(const struct laid_out *x)
{
    const struct grid *left = &x->l.left;
    for (int g = 0; g < scene_stages[x->stage].n_group; g++) {
        const struct grid *right = &x->l.right[g], *out = &x->l.result[g];
        check(x, out->y == left->y && out->cell_h == left->cell_h);
        check(x, out->x == right->x && out->cell_w == right->cell_w);
        check(x, out->rows == left->rows && out->cols == right->cols);
        check(x, left->cols == right->rows);
        check(x, left->x + grid_w(left) < out->x);
        check(x, right->y + grid_h(right) < out->y);
    }
}

static void a_result_cell_lies_where_its_row_and_its_column_cross(void **state)
{
    (void)state;
    everywhere(check_crossing);
}

/* Rows and columns of a grid as drawn, after what it holds. */
static void check_shapes(const struct laid_out *x)
{
    struct attn_dims d = x->d;
    int d_head = d.d_model / d.n_head;
    const struct grid *out = &x->l.result[0];
    check(x, out->rows == d.n_tok);
    if (x->stage == ATTN_PROJECTIONS || x->stage == ATTN_WEIGHTED_SUM)
        check(x, out->cols == d_head);
    else
        check(x, out->cols == (x->stage == ATTN_OUTPUT ? d.d_model : d.n_tok));
    int terms = x->stage == ATTN_WEIGHTED_SUM                             ? d.n_tok
                : x->stage == ATTN_PROJECTIONS || x->stage == ATTN_OUTPUT ? d.d_model
                                                                          : d_head;
    check(x, x->l.left.cols == terms);
    if (scene_stages[x->stage].adds)
        check(x, x->l.added.rows == d.n_tok && x->l.added.cols == d.d_model);
}

static void grids_have_the_shapes_of_their_tensors(void **state)
{
    (void)state;
    everywhere(check_shapes);
}

static void check_score_grid(const struct laid_out *x)
{
    if (x->stage < ATTN_SCORES || x->stage > ATTN_SOFTMAX) return;
    struct layout first = scene_layout(ATTN_SCORES, x->d, x->room);
    struct scene_rect a = area(&first.result[0]), b = area(&x->l.result[0]);
    check(x, a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h);
    check(x, first.result[0].cell_w == x->l.result[0].cell_w);
}

static void the_score_grid_keeps_its_place_from_stage_2_to_5(void **state)
{
    (void)state;
    everywhere(check_score_grid);
}

static void check_square_scores(const struct laid_out *x)
{
    if (x->stage >= ATTN_SCORES && x->stage <= ATTN_SOFTMAX)
        check(x, x->l.result[0].cell_w == x->l.result[0].cell_h);
    if (x->stage == ATTN_WEIGHTED_SUM) check(x, x->l.left.cell_w == x->l.left.cell_h);
}

static void cells_of_scores_and_weights_are_square(void **state)
{
    (void)state;
    everywhere(check_square_scores);
}

/* The grids of a finished stage: those that are left when operands have gone. */
static int finished_grids(const struct laid_out *x, struct grid *out)
{
    const struct stage_spec *spec = &scene_stages[x->stage];
    int n = 0;
    if (!spec->operands_leave) out[n++] = x->l.left;
    for (int g = 0; g < spec->n_group; g++) {
        if (!spec->operands_leave) out[n++] = x->l.right[g];
        out[n++] = x->l.result[g];
    }
    if (spec->adds) out[n++] = x->l.added;
    return n;
}

static void check_inside(const struct laid_out *x)
{
    struct grid grids[8];
    int n = finished_grids(x, grids);
    for (int i = 0; i < n; i++) {
        check(x, grids[i].cell_w > 0 && grids[i].cell_h > 0);
        check(x, rect_holds(x->canvas, area(&grids[i]), 0.01f));
    }
}

static void matrices_lie_inside_the_canvas(void **state)
{
    (void)state;
    everywhere(check_inside);
}

static void check_apart(const struct laid_out *x)
{
    struct grid grids[8];
    int n = finished_grids(x, grids);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            check(x, rect_overlap(area(&grids[i]), area(&grids[j])) < 0.01f);
}

static void matrices_of_a_stage_do_not_overlap(void **state)
{
    (void)state;
    everywhere(check_apart);
}

static void the_parts_of_the_window_fill_it_and_do_not_overlap(void **state)
{
    (void)state;
    for (int size = 0; size < CASE_SIZES; size++) {
        float w = case_sizes[size].w, h = case_sizes[size].h;
        struct scene_frame f = scene_frame_of(w, h);
        struct scene_rect part[] = {f.top, f.rail, f.stage, f.panel, f.bottom};
        double sum = 0;
        for (int i = 0; i < 5; i++) {
            assert_true(rect_holds((struct scene_rect){0, 0, w, h}, part[i], 0.01f));
            for (int j = 0; j < i; j++)
                assert_true(rect_overlap(part[i], part[j]) < 0.01f);
            sum += (double)part[i].w * (double)part[i].h;
        }
        assert_true(fabs(sum - (double)w * (double)h) < 1);
        assert_true(rect_holds(f.stage, scene_canvas_of(f.stage), 0));
    }
}

/* ---- finished scenes ------------------------------------------------------------------------ */

/* Calls a check for every stage, finished, at every window, at both scales. */
static void each_finished(void (*check_one)(struct scene_case *c))
{
    static const int n_tok[] = {1, 2, 5, 64, 1024};
    for (int k = 0; k < 6; k++) {
        struct scene_case c;
        case_open(&c, k == 0 ? STEP_TOY : STEP_GPT2);
        if (k > 0) case_tokens(&c, n_tok[k - 1]);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int size = 0; size < CASE_SIZES; size++) {
                case_show(&c, (enum attn_stage)s, 1, case_sizes[size].w,
                          case_sizes[size].h);
                check_one(&c);
            }
        case_close(&c);
    }
}

static void check_items_inside(struct scene_case *c)
{
    const struct scene *sc = &c->sc;
    for (int i = 0; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        struct scene_rect seen = rect_common(scene_item_box(sc, it), it->clip);
        if (seen.w > 0 && seen.h > 0 && !rect_holds(sc->frame.stage, seen, 1))
            fail_msg("%s: item %d at %g %g, %g x %g is outside the stage",
                     case_where(c).text, i, (double)seen.x, (double)seen.y,
                     (double)seen.w, (double)seen.h);
    }
}

static void nothing_is_drawn_outside_the_stage(void **state)
{
    (void)state;
    each_finished(check_items_inside);
}

static void check_texts_whole(struct scene_case *c)
{
    const struct scene *sc = &c->sc;
    for (int i = 0; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        if (it->kind != SCENE_TEXT) continue;
        if (!rect_holds(it->clip, scene_item_box(sc, it), 1))
            fail_msg("%s: \"%s\" is cut by its clip", case_where(c).text,
                     it->u.text.text);
        if (it->u.text.size < 7.5f)
            fail_msg("%s: \"%s\" is too small to read", case_where(c).text,
                     it->u.text.text);
    }
}

static void no_text_is_cut_or_too_small(void **state)
{
    (void)state;
    each_finished(check_texts_whole);
}

static void check_texts_apart(struct scene_case *c)
{
    static const float slack = 1; /* points */
    const struct scene *sc = &c->sc;
    for (int i = 0; i < sc->n; i++) {
        if (sc->items[i].kind != SCENE_TEXT) continue;
        struct scene_rect a = scene_item_box(sc, &sc->items[i]);
        for (int j = 0; j < i; j++) {
            if (sc->items[j].kind != SCENE_TEXT) continue;
            if (rect_overlap(a, scene_item_box(sc, &sc->items[j])) > slack)
                fail_msg("%s: \"%s\" lies on \"%s\"", case_where(c).text,
                         sc->items[i].u.text.text, sc->items[j].u.text.text);
        }
    }
}

static void no_text_lies_on_another(void **state)
{
    (void)state;
    each_finished(check_texts_apart);
}

/* ---- captions ---------------------------------------------------------------------------------- */

/* The caption's lines lie between canvas and cost line, and inside the stage's width. */
static void check_caption(struct scene_case *c)
{
    const struct scene *sc = &c->sc;
    float floor_y = sc->canvas.y + sc->canvas.h, cost_top = 0;
    int last = sc->n - 1, lines = 0;
    assert_int_equal(sc->items[last].kind, SCENE_TEXT);
    assert_int_equal(sc->items[last].u.text.font, FONT_MONO); /* the cost line */
    const char *cost = sc->items[last].u.text.text;
    if (strstr(cost, "\u2026")) fail_msg("%s: \"%s\" is cut", case_where(c).text, cost);
    cost_top = scene_item_box(sc, &sc->items[last]).y;
    for (int i = last - 1; i >= 0; i--) {
        const struct scene_item *it = &sc->items[i];
        if (it->kind != SCENE_TEXT) continue; /* terms are underlined */
        if (it->u.text.y <= floor_y) break;
        struct scene_rect box = scene_item_box(sc, it);
        lines++;
        if (box.y < floor_y - 0.5f)
            fail_msg("%s: the caption \"%s\" reaches into the canvas", case_where(c).text,
                     it->u.text.text);
        if (box.y + box.h > cost_top + 0.5f)
            fail_msg("%s: the caption's end \"%s\" lies on the cost line",
                     case_where(c).text, it->u.text.text);
        if (box.x + box.w > sc->frame.stage.x + sc->frame.stage.w)
            fail_msg("%s: the caption \"%s\" is too wide", case_where(c).text,
                     it->u.text.text);
    }
    if (lines < 1) fail_msg("%s: no caption", case_where(c).text);
}

static const char *const long_tokens[] = {" internationalization",
                                          " counterrevolutionary", " telecommunications",
                                          " responsibilities", " disproportionately"};

static void captions_fit_between_matrices_and_cost_line(void **state)
{
    (void)state;
    static const int n_tok[] = {0 /* toy */, 1, 333, 999, 1024, 5};
    for (int k = 0; k < 6; k++) {
        struct scene_case c;
        case_open(&c, k ? STEP_GPT2 : STEP_TOY);
        if (k) case_tokens(&c, n_tok[k]);
        if (k % 5 == 0) c.src.tokens = long_tokens;
        int last = case_place(&c)->dims.n_tok - 1;
        for (int o = 0; o < 8 * ATTN_STAGE_COUNT * 4 * CASE_SIZES; o++) {
            struct case_size size = case_sizes[o % CASE_SIZES];
            enum attn_stage s = (enum attn_stage)(o / CASE_SIZES / 4 % ATTN_STAGE_COUNT);
            bool narrow = s == ATTN_PROJECTIONS || s == ATTN_WEIGHTED_SUM;
            /* words follow the state, not the run */
            c.state.opts = case_opts(o / CASE_SIZES / 4 / ATTN_STAGE_COUNT);
            c.state.hover = step_no_ref();
            int way = o / CASE_SIZES % 4; /* a row, two cells, in motion */
            if (way == 1)
                c.state.hover =
                    (struct step_ref){scene_stages[s].result[0], last, narrow ? 3 : last};
            if (way == 2)
                c.state.hover =
                    (struct step_ref){scene_stages[s].result[scene_stages[s].n_group - 1],
                                      last / 2, narrow ? 3 : last};
            case_show(&c, s, way == 3 ? 0.5f : 1, size.w, size.h);
            check_caption(&c);
            if (o % CASE_SIZES) continue;
            c.state.presenter.on = true; /* alone, and with the tour beside it */
            for (int tour = 0; tour < 2; tour++) {
                c.state.tour.open = tour == 1;
                case_build(&c, SCENE_PRESENTED_W, SCENE_PRESENTED_H);
                check_caption(&c);
            }
            c.state.presenter.on = c.state.tour.open = false;
        }
        case_close(&c);
    }
}

/* Where there is no ramp, every matrix tells its range: one "\u00B1" a label, "0 to 1" of
 * weights. */
static void every_matrix_tells_its_range(void **state)
{
    (void)state;
    static const struct {
        enum attn_stage stage;
        int n;
    } stages[] = {{ATTN_PROJECTIONS, 7}, {ATTN_WEIGHTED_SUM, 3}, {ATTN_OUTPUT, 4}};
    for (int size = 0; size < CASE_SIZES; size++)
        for (int k = 0; k < 6; k++) {
            struct scene_case c;
            int n = 0;
            case_open(&c, (enum step_scale)(k / 3));
            case_show(&c, stages[k % 3].stage, 1, case_sizes[size].w, case_sizes[size].h);
            for (int i = 0; i < c.sc.n; i++) {
                const struct scene_item *it = &c.sc.items[i];
                if (it->kind != SCENE_TEXT || it->u.text.font != FONT_MONO) continue;
                n += strstr(it->u.text.text, "\u00B1") != NULL ||
                     strstr(it->u.text.text, "0 to 1") != NULL;
            }
            if (n != stages[k % 3].n) fail_msg("%s: %d ranges", case_where(&c).text, n);
            case_close(&c);
        }
}

/* Whether the straight line from (x0, y0) to (x1, y1) comes into a box. */
static bool crosses(float x0, float y0, float x1, float y1, struct scene_rect b)
{
    for (int k = 0; k <= 400; k++) {
        float x = x0 + (x1 - x0) * (float)k / 400, y = y0 + (y1 - y0) * (float)k / 400;
        if (x > b.x && x < b.x + b.w && y > b.y && y < b.y + b.h) return true;
    }
    return false;
}

/* What leads to a cell that is taken apart lies on no number and no name. */
static void lines_to_a_cell_cross_no_text(void **state)
{
    (void)state;
    static const struct step_ref cells[] = {
        {ATTN_X, 2, 1}, {ATTN_S_RAW, 2, 1}, {ATTN_S_SCALED, 2, 1}, {ATTN_S_MASKED, 2, 1},
        {ATTN_P, 2, 1}, {ATTN_Z, 2, 1},     {ATTN_Y, 2, 1},        {ATTN_Y, 4, 6}};
    for (int size = 0; size < CASE_SIZES; size++)
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            struct scene_case c;
            case_open(&c, STEP_TOY);
            case_place(&c)->pin = cells[k];
            case_show(&c, step_home_of(cells[k].tensor), 1, case_sizes[size].w,
                      case_sizes[size].h);
            for (int i = 0; i < c.sc.n; i++) {
                const struct scene_item *line = &c.sc.items[i];
                if (line->kind != SCENE_LINE || line->u.line.dash > 0 ||
                    line->u.line.width != 1.25f)
                    continue;
                for (int j = 0; j < c.sc.n; j++) {
                    const struct scene_item *it = &c.sc.items[j];
                    if (it->kind != SCENE_TEXT) continue;
                    struct scene_rect b = scene_item_box(&c.sc, it);
                    b.h -= 0.25f * it->u.text.size; /* digits do not hang */
                    if (crosses(line->u.line.x0, line->u.line.y0, line->u.line.x1,
                                line->u.line.y1, b))
                        fail_msg("%s: tensor %d: a line through \"%s\"",
                                 case_where(&c).text, (int)cells[k].tensor,
                                 it->u.text.text);
                }
            }
            case_close(&c);
        }
}

/* Above the code, too, the smallest window has the start of the caption. */
static void the_caption_stays_above_the_code(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * ATTN_STAGE_COUNT; k++) {
        struct scene_case c;
        int lines = 0;
        case_open(&c, (enum step_scale)(k & 1));
        c.state.code.open = true;
        case_show(&c, (enum attn_stage)(k / 2), 1, SCENE_MIN_W, SCENE_MIN_H);
        for (int i = 0; i < c.sc.n; i++) {
            const struct scene_item *it = &c.sc.items[i];
            if (it->kind != SCENE_TEXT || it->u.text.font != FONT_UI ||
                it->u.text.y <= c.sc.canvas.y + c.sc.canvas.h)
                continue;
            lines++;
            assert_true(rect_holds(c.sc.frame.stage, scene_item_box(&c.sc, it), 0));
        }
        assert_true(lines == 1 || lines == 2);
        case_close(&c);
    }
}

int scene_layout_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_matrix_tells_its_range),
        cmocka_unit_test(lines_to_a_cell_cross_no_text),
        cmocka_unit_test(the_caption_stays_above_the_code),
        cmocka_unit_test(a_result_cell_lies_where_its_row_and_its_column_cross),
        cmocka_unit_test(grids_have_the_shapes_of_their_tensors),
        cmocka_unit_test(the_score_grid_keeps_its_place_from_stage_2_to_5),
        cmocka_unit_test(cells_of_scores_and_weights_are_square),
        cmocka_unit_test(matrices_lie_inside_the_canvas),
        cmocka_unit_test(matrices_of_a_stage_do_not_overlap),
        cmocka_unit_test(the_parts_of_the_window_fill_it_and_do_not_overlap),
        cmocka_unit_test(nothing_is_drawn_outside_the_stage),
        cmocka_unit_test(no_text_is_cut_or_too_small),
        cmocka_unit_test(no_text_lies_on_another),
        cmocka_unit_test(captions_fit_between_matrices_and_cost_line),
    };
    return cmocka_run_group_tests_name("scene layout", tests, NULL, NULL);
}
