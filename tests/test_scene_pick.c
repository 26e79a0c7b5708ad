/* scene: what lies under the pointer is what is drawn there. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool inside(struct scene_rect r, float x, float y)
{
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

/* The topmost item with a hit, found by looking at all of them. */
static const struct scene_item *topmost(const struct scene *sc, float x, float y)
{
    const struct scene_item *top = NULL;
    for (int i = 0; i < sc->n; i++) {
        const struct scene_item *it = &sc->items[i];
        if (it->hit.kind != HIT_NONE && inside(it->clip, x, y) &&
            inside(scene_item_box(sc, it), x, y))
            top = it;
    }
    return top;
}

/* Points at the centre of some cells of a live matrix; returns how many were seen. */
static int check_cells(struct scene_case *c, const struct scene_item *it)
{
    const struct scene_heat *t = &it->u.heat;
    int rows = t->row1 - t->row0, cols = t->col1 - t->col0, seen = 0;
    int step_i = rows / 40 + 1, step_j = cols / 40 + 1;
    for (int i = t->row0; i < t->row1; i += step_i)
        for (int j = t->col0; j < t->col1; j += step_j) {
            float x = t->x + ((float)j + 0.5f) * t->cell_w;
            float y = t->y + ((float)i + 0.5f) * t->cell_h;
            struct scene_at at = scene_pick(&c->sc, x, y);
            assert_ptr_equal(at.item, topmost(&c->sc, x, y));
            if (at.item != it) {
                /* off the canvas, or under a token's chip */
                if (!inside(it->clip, x, y)) continue;
                assert_non_null(at.item);
                if (at.item->hit.kind != HIT_ACTION || at.item < it)
                    fail_msg("%s: %s %d, %d is hidden", case_where(c).text,
                             scene_tensor_name(it->hit.tensor), i, j);
                continue;
            }
            bool turned = it->hit.transposed;
            struct step_ref want = {it->hit.tensor, turned ? j : i, turned ? i : j};
            if (!step_ref_is(at.cell, want))
                fail_msg("%s: %s %d, %d picks %d, %d", case_where(c).text,
                         scene_tensor_name(want.tensor), want.row, want.col, at.cell.row,
                         at.cell.col);
            seen++;
        }
    return seen;
}

static int check_all(struct scene_case *c, bool all)
{
    int seen = 0;
    for (int k = 0; k < c->sc.n; k++) {
        const struct scene_item *it = &c->sc.items[k];
        if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) continue;
        int n = check_cells(c, it);
        const struct scene_heat *t = &it->u.heat;
        int rows = t->row1 - t->row0, cols = t->col1 - t->col0;
        int asked =
            ((rows - 1) / (rows / 40 + 1) + 1) * ((cols - 1) / (cols / 40 + 1) + 1);
        if (all && n != asked)
            fail_msg("%s: %d of %d cells of %s can be picked", case_where(c).text, n,
                     asked, scene_tensor_name(it->hit.tensor));
        seen += n;
    }
    return seen;
}

static void every_cell_of_a_finished_stage_picks_itself(void **state)
{
    (void)state;
    static const int n_tok[] = {0 /* toy */, 1, 2, 64, 1024};
    for (int k = 0; k < 5; k++) {
        struct scene_case c;
        case_open(&c, k ? STEP_GPT2 : STEP_TOY);
        if (k) case_tokens(&c, n_tok[k]);
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int size = 0; size < CASE_SIZES; size++) {
                case_show(&c, (enum attn_stage)s, 1, case_sizes[size].w,
                          case_sizes[size].h);
                assert_true(check_all(&c, true) > 0);
            }
        case_close(&c);
    }
}

static void what_is_drawn_is_picked_at_every_time(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        for (int t = 0; t < 60; t++) {
            case_show(&c, (enum attn_stage)s, (float)t / 60, 1440, 900);
            for (int k = 0; k < c.sc.n; k++) {
                const struct scene_item *it = &c.sc.items[k];
                if (it->kind != SCENE_HEAT || it->hit.kind != HIT_CELLS) continue;
                struct scene_rect box = scene_item_box(&c.sc, it);
                float x = box.x + 0.5f, y = box.y + 0.5f;
                struct scene_at at = scene_pick(&c.sc, x, y);
                assert_ptr_equal(at.item, topmost(&c.sc, x, y));
            }
        }
    case_close(&c);
}

/* Random views, as wheel and drag make them. */
static void cells_pick_themselves_zoomed_and_panned(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        if (scale == STEP_GPT2) case_tokens(&c, 1024);
        int seen = 0;
        for (int s = 0; s < ATTN_STAGE_COUNT; s++)
            for (int k = 0; k < 25; k++) {
                case_place(&c)->view = (struct step_view){.zoom = 1};
                case_show(&c, (enum attn_stage)s, 1, 1280, 800);
                struct scene_rect r = c.sc.canvas;
                struct step_action a = {.verb = STEP_ZOOM,
                                        .x = r.x + r.w * (0.5f + 0.4f * case_unit(&seed)),
                                        .y = r.y + r.h * (0.5f + 0.4f * case_unit(&seed)),
                                        .z = powf(2, 2.5f + 2.5f * case_unit(&seed))};
                (void)step_apply(&c.state, a);
                (void)step_apply(&c.state,
                                 (struct step_action){.verb = STEP_PAN,
                                                      .x = 150 * case_unit(&seed),
                                                      .y = 150 * case_unit(&seed)});
                case_build(&c, 1280, 800);
                seen += check_all(&c, false);
            }
        assert_true(seen > 1000);
        case_close(&c);
    }
}

static void check_point(const struct scene *sc, float x, float y)
{
    struct scene_at at = scene_pick(sc, x, y);
    assert_ptr_equal(at.item, topmost(sc, x, y));
    if (!inside(sc->frame.stage, x, y)) {
        assert_null(at.item); /* ui draws there, scene does not */
        return;
    }
    assert_non_null(at.item);
    if (at.item->hit.kind == HIT_CELLS) {
        assert_true(inside(sc->canvas, x, y));
        return;
    }
    assert_int_equal(at.cell.tensor, ATTN_TENSOR_COUNT);
    if (at.item->hit.kind == HIT_COVER) { /* the strip, a term of the glossary */
        assert_non_null(at.item->hit.tip);
        assert_false(inside(sc->canvas, x, y));
        return;
    }
    if (at.item->hit.kind != HIT_ACTION) assert_int_equal(at.item->hit.kind, HIT_CANVAS);
}

/* Beside the matrices the canvas answers, and outside of it no cell does, however far a
 * matrix reaches. */
static void cells_answer_on_the_canvas_and_nowhere_else(void **state)
{
    (void)state;
    enum { STEP = 7, W = 1280, H = 800 };
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int k = 0; k < 2 * ATTN_STAGE_COUNT; k++) {
        case_place(&c)->view =
            k % 2 ? (struct step_view){5, -2000, -1200} : (struct step_view){1, 0, 0};
        case_show(&c, (enum attn_stage)(k / 2), 1, W, H);
        for (int y = 0; y < H; y += STEP)
            for (int x = 0; x < W; x += STEP)
                check_point(&c.sc, (float)x + 0.5f, (float)y + 0.5f);
    }
    case_close(&c);
}

static void a_row_is_selected_by_its_chip(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        case_show(&c, (enum attn_stage)s, 1, 1024, 640);
        bool row[5] = {false};
        for (int k = 0; k < c.sc.n; k++) {
            const struct scene_item *it = &c.sc.items[k];
            if (it->hit.kind != HIT_ACTION || it->hit.id > 0) continue;
            assert_int_equal(it->hit.action.verb, STEP_ROW);
            assert_true(it->hit.tip && *it->hit.tip);
            struct scene_rect box = scene_item_box(&c.sc, it);
            struct scene_at at = scene_pick(&c.sc, box.x + box.w / 2, box.y + box.h / 2);
            assert_ptr_equal(at.item, it);
            struct step_state next = c.state;
            assert_true(step_apply(&next, it->hit.action));
            row[step_place_of(&next)->row] = true;
        }
        for (int i = 0; i < 5; i++) assert_true(row[i]);
    }
    case_close(&c);
}

/* Frames without a fill that are as wide as the heat map of t and begin where it does. */
static int framed_rows(const struct scene *sc, enum attn_tensor t, bool framed[5])
{
    const struct scene_heat *heat = NULL;
    int n = 0;
    for (int k = 0; k < sc->n; k++) {
        const struct scene_item *it = &sc->items[k];
        if (it->kind == SCENE_HEAT && it->hit.tensor == t && it->hit.kind == HIT_CELLS)
            heat = &it->u.heat;
    }
    assert_non_null(heat);
    for (int k = 0; k < sc->n; k++) {
        const struct scene_item *it = &sc->items[k];
        if (it->kind != SCENE_RECT || it->u.rect.border <= 0 || it->u.rect.fill.a != 0 ||
            it->hit.kind != HIT_NONE)
            continue;
        struct scene_rect b = it->u.rect.box;
        float w = (float)heat->m.cols * heat->cell_w;
        if (fabsf(b.x + b.w / 2 - heat->x - w / 2) > 1 || fabsf(b.w - w) > 8) continue;
        n++;
        for (int i = 0; i < 5; i++) {
            float y = heat->y + ((float)i + 0.5f) * heat->cell_h;
            framed[i] = framed[i] || (y > b.y && y < b.y + b.h);
        }
    }
    return n;
}

static void selected_rows_are_framed_and_their_chips_ringed(void **state)
{
    (void)state;
    static const int rows[] = {0, 1, 3};
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int k = 0; k < 3; k++)
        assert_true(step_apply(
            &c.state,
            (struct step_action){.verb = k ? STEP_ROW_ALSO : STEP_ROW, .i = rows[k]}));
    for (int s = 0; s < ATTN_STAGE_COUNT; s++) {
        static const enum attn_tensor result[ATTN_STAGE_COUNT] = {
            ATTN_Q, ATTN_S_RAW, ATTN_S_SCALED, ATTN_S_MASKED, ATTN_P, ATTN_Z, ATTN_Y};
        case_show(&c, (enum attn_stage)s, 1, 1024, 640);
        bool framed[5] = {false};
        assert_int_equal(framed_rows(&c.sc, result[s], framed), 2); /* two runs */
        int ringed = 0;
        for (int k = 0; k < c.sc.n; k++) {
            const struct scene_item *it = &c.sc.items[k];
            bool chip = it->kind == SCENE_RECT && it->hit.action.verb == STEP_ROW;
            if (!chip || it->u.rect.border <= 0) continue;
            ringed++;
            assert_true(step_row_is_on(step_place_of(&c.state), it->hit.action.i));
        }
        assert_true(ringed >= 3);
        for (int i = 0; i < 5; i++) assert_true(framed[i] == (i != 2 && i != 4));
    }
    case_close(&c);
}

/* The n-th heat map that can be pointed at. */
static const struct scene_item *live_heat(const struct scene *sc, int n)
{
    for (int k = 0; k < sc->n; k++) {
        const struct scene_item *it = &sc->items[k];
        if (it->kind == SCENE_HEAT && it->hit.kind == HIT_CELLS && n-- == 0) return it;
    }
    return NULL;
}

static void two_heads_stand_side_by_side_under_one_range(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    case_pair(&c, STEP_PAIR_BESIDE, 1);
    for (int s = ATTN_SCORES; s <= ATTN_SOFTMAX; s++) {
        case_show(&c, (enum attn_stage)s, 1, 1024, 640);
        const struct scene_item *a = live_heat(&c.sc, 0), *b = live_heat(&c.sc, 1);
        assert_non_null(a);
        assert_non_null(b);
        assert_null(live_heat(&c.sc, 2));
        const struct scene_heat *x = &a->u.heat, *y = &b->u.heat;
        assert_true(x->lo == y->lo && x->hi == y->hi && x->mask_from == y->mask_from);
        assert_true(x->y == y->y && x->cell_w == y->cell_w && x->cell_h == y->cell_h);
        assert_true(fabsf(y->x - x->x - c.sc.pane_by) < 0.01f);
        assert_true(x->key != y->key && x->m.data != y->m.data);
        for (int i = 0; i < 5; i++) {
            float cx = x->x + 1.5f * x->cell_w, cy = x->y + ((float)i + 0.5f) * x->cell_h;
            struct scene_at p = scene_pick(&c.sc, cx, cy);
            struct scene_at q = scene_pick(&c.sc, cx + c.sc.pane_by, cy);
            assert_true(p.item == a && q.item == b && step_ref_is(p.cell, q.cell));
            assert_int_equal(p.cell.row, i);
        }
    }
    case_close(&c);
}

static void the_difference_has_a_range_of_its_own(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    case_pair(&c, STEP_PAIR_MINUS, 1);
    for (int s = ATTN_SCORES; s <= ATTN_SOFTMAX; s++) {
        case_show(&c, (enum attn_stage)s, 1, 1024, 640);
        const struct scene_item *it = live_heat(&c.sc, 0);
        assert_non_null(it);
        assert_null(live_heat(&c.sc, 1));
        enum attn_tensor t = it->hit.tensor, range = t == ATTN_P ? ATTN_P : ATTN_S_RAW;
        struct attn_cmat a = attn_trace_view(&c.trace, range, 0);
        struct attn_cmat b = c.pair.second[range - ATTN_S_RAW];
        float most = 0;
        for (int i = 0; i < 25; i++) most = fmaxf(most, fabsf(a.data[i] - b.data[i]));
        assert_int_equal(it->u.heat.map, MAP_DIVERGING);
        assert_true(it->u.heat.hi == most && it->u.heat.lo == -most);
        assert_true(c.sc.pane_by == 0);
    }
    case_close(&c);
}

static void a_control_is_found_by_its_id(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    case_build(&c, 1024, 640);
    assert_null(scene_find(&c.sc, 0));
    assert_null(scene_find(&c.sc, 77));
    struct scene_item *it =
        scene_rect(&c.sc, (struct scene_rect){1, 2, 3, 4}, 0, (struct scene_rgba){0});
    it->hit.id = 77;
    assert_ptr_equal(scene_find(&c.sc, 77), it);
    assert_null(scene_find(&c.sc, 0));
    assert_null(scene_find(&c.sc, -1));
    case_close(&c);
}

int scene_pick_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_of_a_finished_stage_picks_itself),
        cmocka_unit_test(what_is_drawn_is_picked_at_every_time),
        cmocka_unit_test(cells_pick_themselves_zoomed_and_panned),
        cmocka_unit_test(cells_answer_on_the_canvas_and_nowhere_else),
        cmocka_unit_test(a_row_is_selected_by_its_chip),
        cmocka_unit_test(selected_rows_are_framed_and_their_chips_ringed),
        cmocka_unit_test(two_heads_stand_side_by_side_under_one_range),
        cmocka_unit_test(the_difference_has_a_range_of_its_own),
        cmocka_unit_test(a_control_is_found_by_its_id),
    };
    return cmocka_run_group_tests_name("scene picking", tests, NULL, NULL);
}
