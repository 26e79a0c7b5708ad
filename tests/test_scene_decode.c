/* scene: in decode mode no number is drawn that is not there yet, cached keys and values
 * are grey, and what is drawn are the numbers of the pass over all tokens. */
#include "scene_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Live matrices of the scene. */
static const struct scene_item *next_cells(const struct scene *sc, int *at)
{
    while (*at < sc->n) {
        const struct scene_item *it = &sc->items[(*at)++];
        if (it->kind == SCENE_HEAT && it->hit.kind == HIT_CELLS) return it;
    }
    return NULL;
}

/* Rows and columns of the tensor itself that an item draws. */
static void check_item(const struct scene_case *c, const struct scene_item *it)
{
    struct step_pass pass = step_pass_of(&c->state);
    const struct scene_heat *h = &it->u.heat;
    enum attn_tensor t = it->hit.tensor;
    bool turned = it->hit.transposed;
    int row0 = turned ? h->col0 : h->row0, row1 = turned ? h->col1 : h->row1;
    int col1 = turned ? h->row1 : h->col1;
    bool kept = t == ATTN_K || t == ATTN_V;
    if (step_rows_are_tokens(t)) {
        assert_true(row1 <= pass.to);
        assert_true(kept || row0 >= pass.from);
        bool cached = kept && row1 <= pass.from;
        assert_true(!kept || cached || row0 >= pass.from); /* never both in one */
        assert_int_equal(h->map == MAP_CACHED, cached);
    } else {
        assert_true(h->map != MAP_CACHED);
    }
    if (step_cols_are_tokens(t)) assert_true(col1 <= pass.to);
    struct attn_cmat m = attn_trace_view(&c->trace, t, c->trace.head);
    assert_non_null(m.data);
    for (int i = h->row0; i < h->row1; i++)
        for (int j = h->col0; j < h->col1; j++) {
            int a = turned ? j : i, b = turned ? i : j;
            assert_memory_equal(&h->m.data[(size_t)i * (size_t)h->m.ld + (size_t)j],
                                &m.data[(size_t)a * (size_t)m.ld + (size_t)b],
                                sizeof(float));
        }
}

static void check_scene(struct scene_case *c)
{
    int at = 0;
    int n = 0;
    const struct scene_item *it;
    while ((it = next_cells(&c->sc, &at)) != NULL) {
        check_item(c, it);
        n++;
    }
    assert_true(n > 0);
    struct case_where w = case_where(c);
    if (c->sc.full) fail_msg("%s: full", w.text);
}

static void every_stage_of(struct scene_case *c, const struct case_size *z)
{
    for (int k = 0; k < ATTN_STAGE_COUNT; k++)
        for (int t = 0; t <= 4; t++) {
            case_show(c, (enum attn_stage)k, (float)t / 4, z->w, z->h);
            check_scene(c);
        }
}

static void only_what_is_there_is_drawn(void **state)
{
    (void)state;
    for (int scale = 0; scale < STEP_SCALE_COUNT; scale++) {
        struct scene_case c;
        case_open(&c, (enum step_scale)scale);
        int n = case_place(&c)->dims.n_tok;
        assert_true(
            step_apply(&c.state, (struct step_action){.verb = STEP_DECODE, .i = n / 2}));
        for (int row = n / 2 - 1; row < n; row += (n + 3) / 4) {
            assert_true(
                step_apply(&c.state, (struct step_action){.verb = STEP_ROW, .i = row}));
            every_stage_of(&c, &case_sizes[row % CASE_SIZES]);
        }
        case_close(&c);
    }
}

static const struct scene_item *with_text(const struct scene *sc, const char *part)
{
    for (int i = 0; i < sc->n; i++)
        if (sc->items[i].kind == SCENE_TEXT && strstr(sc->items[i].u.text.text, part))
            return &sc->items[i];
    return NULL;
}

static void captions_name_the_token_and_count_what_is_cached(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    assert_true(step_apply(&c.state, (struct step_action){.verb = STEP_DECODE, .i = 3}));
    case_show(&c, ATTN_PROJECTIONS, 1, 1440, 900);
    assert_non_null(with_text(&c.sc, "Token 4, \u201C\u00B7down\u201D"));
    assert_non_null(with_text(&c.sc, "[1\u00D78] \u00B7 [8\u00D74] \u2192 [1\u00D74]"));
    /* 6 d^2 for this token; for all four of them, four times as many */
    assert_non_null(with_text(&c.sc, "384 FLOPs with the cache  1,536 FLOPs without"));
    case_show(&c, ATTN_SCORES, 1, 1440, 900);
    assert_non_null(with_text(&c.sc, "One query meets 4 keys: 3 read from the cache"));
    c.state.opts.causal = false;
    case_run(&c);
    case_show(&c, ATTN_SCORES, 1, 1440, 900);
    assert_non_null(with_text(&c.sc, "Decode mode waits: with the mask off"));
    case_close(&c);
}

/* A token is a row more: what has been drawn of K and V stays where it is. */
static void the_cache_grows_and_does_not_move(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    struct scene_heat was = {0};
    assert_true(step_apply(&c.state, (struct step_action){.verb = STEP_DECODE, .i = 2}));
    for (int row = 2; row < 5; row++) {
        assert_true(
            step_apply(&c.state, (struct step_action){.verb = STEP_ROW, .i = row}));
        case_show(&c, ATTN_PROJECTIONS, 1, 1440, 900);
        int at = 0;
        const struct scene_item *it;
        while ((it = next_cells(&c.sc, &at)) != NULL) {
            if (it->hit.tensor != ATTN_V || it->u.heat.map != MAP_CACHED) continue;
            assert_int_equal(it->u.heat.row1, row);
            assert_true(row == 2 || (was.x == it->u.heat.x && was.y == it->u.heat.y));
            was = it->u.heat;
        }
    }
    assert_int_equal(was.row1, 4);
    case_close(&c);
}

int scene_decode_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_there_is_drawn),
        cmocka_unit_test(captions_name_the_token_and_count_what_is_cached),
        cmocka_unit_test(the_cache_grows_and_does_not_move),
    };
    return cmocka_run_group_tests_name("scene decode", tests, NULL, NULL);
}
