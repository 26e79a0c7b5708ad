/* scene: the overview of every head, up to 48 blocks of 25. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 48, HEADS = 25, ALL = BLOCKS * HEADS, SIDE = 8 };

/* Heads of made-up numbers, of a model that wide. */
struct many {
    struct scene_case c;
    struct scene_heads heads;
    struct attn_head_sum sum[ALL];
    float *image;
};

static void many_open(struct many *m)
{
    uint64_t seed = 5;
    case_open_dims(&m->c, (struct attn_dims){16, 8 * HEADS, HEADS});
    m->image = malloc((size_t)ALL * SIDE * SIDE * sizeof(float));
    assert_non_null(m->image);
    for (int i = 0; i < ALL * SIDE * SIDE; i++) m->image[i] = case_unit(&seed);
    for (int i = 0; i < ALL; i++) {
        bool none = i % 7 == 3; /* no token comes twice */
        m->sum[i] = (struct attn_head_sum){
            .entropy = (double)(case_unit(&seed) + 1) * 3,
            .previous = (double)(case_unit(&seed) + 1) / 2,
            .first = (double)(case_unit(&seed) + 1) / 2,
            .itself = (double)(case_unit(&seed) + 1) / 2,
            .induction = none ? (double)NAN : (double)(case_unit(&seed) + 1) / 2,
            .max_abs = 1 + 40 * fabsf(case_unit(&seed))};
    }
    m->heads = (struct scene_heads){.n_block = BLOCKS,
                                    .n_head = HEADS,
                                    .done = BLOCKS,
                                    .side = SIDE,
                                    .gain = 0.125f,
                                    .causal = true,
                                    .sum = m->sum,
                                    .scores = m->image,
                                    .weights = m->image,
                                    .version = 3};
    m->c.src.heads = &m->heads;
    case_place(&m->c)->n_block = BLOCKS;
    assert_true(step_apply(&m->c.state, (struct step_action){.verb = STEP_OVERVIEW}));
}

static void many_close(struct many *m)
{
    free(m->image);
    case_close(&m->c);
}

static bool is_head(const struct scene_item *it)
{
    return it->hit.kind == HIT_ACTION && it->hit.action.verb == STEP_OVER_OPEN;
}

/* Heads that lie in the canvas whole: how often each is drawn. */
static int count_heads(const struct scene *sc, int seen[ALL])
{
    int n = 0;
    for (int k = 0; k < sc->n; k++) {
        const struct scene_item *it = &sc->items[k];
        if (!is_head(it)) continue;
        assert_true(it->hit.tip && *it->hit.tip);
        seen[it->hit.action.i]++;
        n++;
    }
    return n;
}

static void twelve_hundred_heads_are_reached_in_every_window(void **state)
{
    (void)state;
    static struct many m;
    many_open(&m);
    for (int k = 0; k < CASE_SIZES; k++) {
        static int seen[ALL];
        memset(seen, 0, sizeof seen);
        m.c.state.over.view = (struct step_view){.zoom = 1};
        case_build(&m.c, case_sizes[k].w, case_sizes[k].h);
        const struct scene_order *o = &m.c.sc.order;
        assert_int_equal(o->n, ALL);
        assert_int_equal(o->columns, HEADS);
        assert_true(o->far_x > -0.01f); /* down alone */
        float far = o->far_y;
        for (float y = 0;; y -= m.c.sc.canvas.h / 2) {
            m.c.state.over.view.y = y < far ? far : y;
            case_build(&m.c, case_sizes[k].w, case_sizes[k].h);
            assert_true(count_heads(&m.c.sc, seen) > 0);
            if (y <= far) break;
        }
        for (int i = 0; i < ALL; i++) assert_true(seen[i] > 0);
    }
    many_close(&m);
}

static void heads_lie_in_the_order_of_their_measure(void **state)
{
    (void)state;
    static struct many m;
    many_open(&m);
    for (int s = 0; s < STEP_SORT_COUNT; s++) {
        static bool there[ALL];
        memset(there, 0, sizeof there);
        m.c.state.over.sort = (enum step_over_sort)s;
        case_build(&m.c, 1440, 900);
        const struct scene_order *o = &m.c.sc.order;
        for (int k = 0; k < ALL; k++) {
            assert_false(there[o->at[k]]);
            there[o->at[k]] = true;
            if (s == STEP_SORT_PLACE) assert_int_equal(o->at[k], k);
            if (k == 0 || s == STEP_SORT_PLACE) continue;
            double a = scene_measure(&m.sum[o->at[k - 1]], (enum step_over_sort)s);
            double b = scene_measure(&m.sum[o->at[k]], (enum step_over_sort)s);
            bool fine = isnan(b) || (s == STEP_SORT_ENTROPY ? a <= b : a >= b);
            assert_true(fine); /* so nothing stands behind what has no number */
        }
    }
    many_close(&m);
}

static void all_heads_share_one_range_that_is_said(void **state)
{
    (void)state;
    static struct many m;
    float most = 0;
    many_open(&m);
    for (int i = 0; i < ALL; i++) most = fmaxf(most, m.sum[i].max_abs);
    for (int kind = 0; kind < STEP_OVER_KIND_COUNT; kind++) {
        bool weights = kind == STEP_OVER_WEIGHTS;
        m.c.state.over.kind = (enum step_over_kind)kind;
        case_build(&m.c, 1440, 900);
        int images = 0;
        for (int k = 0; k < m.c.sc.n; k++) {
            const struct scene_item *it = &m.c.sc.items[k];
            if (it->kind != SCENE_HEAT) continue;
            const struct scene_heat *t = &it->u.heat;
            assert_int_equal(t->map, weights ? MAP_SEQUENTIAL : MAP_DIVERGING);
            float hi = weights ? 1 : kind == STEP_OVER_SCALED ? most * 0.125f : most;
            assert_true(t->hi == hi && t->lo == (weights ? 0 : -hi));
            if (t->m.rows != SIDE) continue; /* the legend's ramp */
            assert_true(t->gain == (kind == STEP_OVER_SCALED ? 0.125f : 1));
            images++;
        }
        assert_true(images > HEADS);
        float end = weights ? 1 : kind == STEP_OVER_SCALED ? most * 0.125f : most;
        const char *hi = scene_number(&m.c.sc, end, 1);
        bool said = false;
        for (int k = 0; k < m.c.sc.n; k++)
            said = said || (m.c.sc.items[k].kind == SCENE_TEXT &&
                            strcmp(m.c.sc.items[k].u.text.text, hi) == 0);
        assert_true(said);
    }
    many_close(&m);
}

static void a_head_that_is_not_computed_has_no_image(void **state)
{
    (void)state;
    static struct many m;
    many_open(&m);
    m.heads.done = 2;
    case_build(&m.c, 1440, 900);
    for (int k = 0; k < m.c.sc.n; k++) {
        const struct scene_item *it = &m.c.sc.items[k];
        if (!is_head(it)) continue;
        bool there = m.c.sc.items[k + 1].kind == SCENE_HEAT;
        assert_true(there == (it->hit.action.i < 2 * HEADS));
    }
    many_close(&m);
}

int scene_overview_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twelve_hundred_heads_are_reached_in_every_window),
        cmocka_unit_test(heads_lie_in_the_order_of_their_measure),
        cmocka_unit_test(all_heads_share_one_range_that_is_said),
        cmocka_unit_test(a_head_that_is_not_computed_has_no_image),
    };
    return cmocka_run_group_tests_name("scene overview", tests, NULL, NULL);
}
