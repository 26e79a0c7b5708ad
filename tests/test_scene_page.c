/* Figures: whatever the matrix and the page, everything lies on it and no text on another. */
#include "scene_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct case_size pages[] = {
    {SCENE_FIGURE_W, SCENE_FIGURE_H}, {560, 640}, {900, 300}, {320, 900}, {1500, 1500}};
enum { PAGES = sizeof pages / sizeof *pages };

static void begin(struct scene_case *c, struct case_size page)
{
    struct err e;
    arena_reset(&c->frame_mem);
    assert_true(
        scene_begin(&c->sc, &c->frame_mem, &c->font, c->state.theme, page.w, page.h, &e));
}

static struct scene_rect ink_of(const struct scene_case *c, const struct scene_item *it)
{
    struct scene_rect box = scene_item_box(&c->sc, it);
    if (it->kind != SCENE_TEXT) return box;
    float drop = 0.25f * it->u.text.size; /* digits and most letters have none */
    if (it->u.text.turned)
        box.w -= drop;
    else
        box.h -= drop;
    return box;
}

/* min_text: the smallest type that anybody reads in print. */
static void check(const struct scene_case *c, const char *what, float min_text)
{
    const struct scene *sc = &c->sc;
    struct scene_rect page = {0, 0, sc->w, sc->h};
    if (sc->full) fail_msg("%s on %gx%g: no room", what, (double)sc->w, (double)sc->h);
    for (int i = 0; i < sc->n; i++) {
        const struct scene_item *a = &sc->items[i];
        if (!rect_holds(page, ink_of(c, a), 0.5f))
            fail_msg("%s on %gx%g: item %d lies outside", what, (double)sc->w,
                     (double)sc->h, i);
        if (a->kind != SCENE_TEXT) continue;
        if (a->u.text.size < min_text)
            fail_msg("%s: \"%s\" in %g points", what, a->u.text.text,
                     (double)a->u.text.size);
        for (int j = 0; j < i; j++) {
            const struct scene_item *b = &sc->items[j];
            if (b->kind == SCENE_TEXT && rect_overlap(ink_of(c, a), ink_of(c, b)) > 0.3f)
                fail_msg("%s on %gx%g: \"%s\" on \"%s\"", what, (double)sc->w,
                         (double)sc->h, a->u.text.text, b->u.text.text);
        }
    }
}

static void every_matrix(struct scene_case *c)
{
    for (int t = 0; t < ATTN_TENSOR_COUNT; t++) {
        for (int k = 0; k < PAGES; k++) {
            begin(c, pages[k]);
            scene_figure(&c->sc, &c->state, &c->src, (enum attn_tensor)t);
            check(c, scene_tensor_name((enum attn_tensor)t), 4.5f);
        }
    }
}

static void a_figure_of_the_toy_fits_its_page(void **state)
{
    (void)state;
    struct scene_case c;
    case_open(&c, STEP_TOY);
    for (int i = 0; i < 8; i += 7) {
        c.state.opts = case_opts(i);
        case_run(&c);
        every_matrix(&c);
    }
    case_close(&c);
}

static void a_figure_of_many_tokens_fits_its_page(void **state)
{
    (void)state;
    static const int tokens[] = {1, 9, 64, 300};
    struct scene_case c;
    case_open(&c, STEP_GPT2);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        case_tokens(&c, tokens[i]);
        every_matrix(&c);
    }
    case_close(&c);
}

/* The numbers of a legend are the matrix's own. */
static void a_figure_says_the_true_range(void **state)
{
    (void)state;
    struct scene_case c;
    char want[64];
    case_open(&c, STEP_TOY);
    struct attn_cmat q = scene_tensor_view(&c.src, ATTN_Q);
    float lo = q.data[0], hi = q.data[0];
    for (int i = 0; i < q.rows; i++)
        for (int j = 0; j < q.cols; j++) {
            lo = fminf(lo, q.data[(size_t)i * (size_t)q.ld + (size_t)j]);
            hi = fmaxf(hi, q.data[(size_t)i * (size_t)q.ld + (size_t)j]);
        }
    (void)snprintf(want, sizeof want, "\u2212%.3f to %.3f", fabs((double)lo), (double)hi);
    begin(&c, pages[1]);
    scene_figure(&c.sc, &c.state, &c.src, ATTN_Q);
    bool found = false;
    for (int i = 0; i < c.sc.n; i++)
        found = found || (c.sc.items[i].kind == SCENE_TEXT &&
                          strcmp(c.sc.items[i].u.text.text, want) == 0);
    if (!found) fail_msg("no \"%s\"", want);
    case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_figure_of_the_toy_fits_its_page),
        cmocka_unit_test(a_figure_of_many_tokens_fits_its_page),
        cmocka_unit_test(a_figure_says_the_true_range),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
