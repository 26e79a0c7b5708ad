/* attn: what does not fit is refused before a single element is written, and too little
 * memory is refused before it is used. */
#include "attn_case.h"

#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The ways to spoil a view: each breaks it against any shape it fitted. */
enum { SPOILS = 7 };
static void spoil(struct attn_cmat *m, int way)
{
    switch (way) {
    case 0:
        m->rows++;
        break;
    case 1:
        m->cols++, m->ld++;
        break;
    case 2:
        m->ld = m->cols - 1;
        break;
    case 3:
        m->rows = 0;
        break;
    case 4:
        m->cols = 0;
        break;
    case 5:
        m->rows = -m->rows;
        break;
    default:
        m->data = NULL;
        break;
    }
}

static struct attn_mat spoiled(struct attn_mat m, int way)
{
    struct attn_cmat c = readable(m);
    spoil(&c, way);
    return (struct attn_mat){c.data ? m.data : NULL, c.rows, c.cols, c.ld};
}

static struct attn_cmat spoiled_input(struct attn_mat m, int way)
{
    return readable(spoiled(m, way));
}

static void bad_shapes_are_refused_and_the_output_is_untouched(void **state)
{
    (void)state;
    struct rng r = {61};
    struct bag b = {0};
    enum { N = 6, D = 10 };
    struct attn_mat x = input_new(&b, &r, N, D, 1);
    struct attn_mat w3 = input_new(&b, &r, D, 3 * D, 1);
    struct attn_mat w = input_new(&b, &r, D, D, 1);
    struct attn_mat s = input_new(&b, &r, N, N, 1);
    struct fence wide = fence_new(&b, &r, N, 3 * D);
    struct fence square = fence_new(&b, &r, N, N);
    struct fence slim = fence_new(&b, &r, N, D);
    struct attn_cmat none = {0};
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        for (int way = 0; way < SPOILS; way++) {
            struct attn_cmat bx = spoiled_input(x, way);
            struct attn_cmat bs = spoiled_input(s, way);
            struct attn_mat bwide = spoiled(wide.m, way);
            struct attn_mat bsquare = spoiled(square.m, way);
            struct attn_mat bslim = spoiled(slim.m, way);
            struct attn_cmat gx = readable(x);
            struct attn_cmat gs = readable(s);
            const enum attn_status got[] = {
                attn_project(&c, bwide, gx, readable(w3), NULL),
                attn_project(&c, wide.m, bx, readable(w3), NULL),
                attn_project(&c, wide.m, gx, spoiled_input(w3, way), NULL),
                attn_scores(&c, bsquare, gx, gx),
                attn_scores(&c, square.m, bx, gx),
                attn_scores(&c, square.m, gx, bx),
                attn_scale(&c, bsquare, gs, 4),
                attn_scale(&c, square.m, bs, 4),
                attn_mask(&c, bsquare, gs),
                attn_mask(&c, square.m, bs),
                attn_softmax(&c, bsquare, gs, NULL),
                attn_softmax(&c, square.m, bs, NULL),
                attn_weighted_sum(&c, bslim, gs, gx, true),
                attn_weighted_sum(&c, slim.m, bs, gx, true),
                attn_weighted_sum(&c, slim.m, gs, bx, false),
                attn_output(&c, bslim, gx, readable(w), NULL, gx),
                attn_output(&c, slim.m, bx, readable(w), NULL, gx),
                attn_output(&c, slim.m, gx, spoiled_input(w, way), NULL, gx),
                /* without data it is no residual, whatever its shape */
                way == 6 ? ATTN_BAD_SHAPE
                         : attn_output(&c, slim.m, gx, readable(w), NULL, bx),
                attn_layer_norm(&c, bslim, gx, NULL, NULL, 1e-5f),
                attn_layer_norm(&c, slim.m, bx, NULL, NULL, 1e-5f),
            };
            for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
                if (got[i] != ATTN_BAD_SHAPE)
                    fail_msg("%s: call %zu spoiled in way %d gave \"%s\"",
                             attn_kernels_name(c.k), i, way, attn_status_text(got[i]));
        }
        assert_int_equal(attn_scale(&c, square.m, readable(s), 0), ATTN_BAD_SHAPE);
        assert_int_equal(attn_scale(&c, square.m, readable(s), -4), ATTN_BAD_SHAPE);
        int64_t empty = 77;
        struct attn_mat half = {square.m.data, N, N - 1, square.m.ld};
        assert_int_equal(attn_softmax(&c, half, readable(s), &empty), ATTN_BAD_SHAPE);
        assert_int_equal(empty, 77);
        assert_true(fence_untouched(&wide));
        assert_true(fence_untouched(&square));
        assert_true(fence_untouched(&slim));
        /* and with nothing spoiled they all work */
        assert_int_equal(attn_output(&c, slim.m, readable(x), readable(w), NULL, none),
                         ATTN_OK);
        fence_fill(&slim);
    }
    bag_empty(&b);
}

static void impossible_dimensions_are_refused(void **state)
{
    (void)state;
    const struct attn_dims bad[] = {
        {0, 8, 2},           {5, 0, 2},
        {5, 8, 0},           {-5, 8, 2},
        {5, -8, 2},          {5, 8, -2},
        {5, 8, 3},           {5, 7, 2},
        {5, 2, 4},           {INT_MAX, 8, 2},
        {5, INT_MAX, 1},     {INT_MAX, INT_MAX, INT_MAX},
        {5, INT_MAX / 2, 1}, {INT_MIN, INT_MIN, INT_MIN},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct attn_trace t;
        char mem[64];
        assert_int_equal(attn_dims_check(bad[i]), ATTN_BAD_SHAPE);
        assert_int_equal(attn_trace_bytes(bad[i]), 0);
        assert_int_equal(attn_trace_init(&t, bad[i], mem, sizeof mem), ATTN_BAD_SHAPE);
        for (int a = 0; case_kernels(a); a++) {
            struct attn_ctx c = {.k = case_kernels(a)};
            assert_int_equal(attn_packed_bytes(c.k, bad[i]), 0);
            assert_int_equal(attn_block_bytes(&c, bad[i]), 0);
        }
    }
    const struct attn_dims good[] = {
        {1, 1, 1}, {5, 8, 2}, {1024, 768, 12}, {1024, 1600, 25}, {4096, 12288, 96}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(attn_dims_check(good[i]), ATTN_OK);
        assert_int_equal(attn_d_head(good[i]), good[i].d_model / good[i].n_head);
        assert_true(attn_trace_bytes(good[i]) > 0);
    }
}

static void a_trace_lies_in_its_memory_aligned_or_is_refused(void **state)
{
    (void)state;
    struct bag b = {0};
    const struct attn_dims sizes[] = {{1, 1, 1}, {5, 8, 2}, {17, 33, 3}, {70, 80, 5}};
    for (int i = 0; i < 4; i++) {
        struct attn_dims d = sizes[i];
        size_t bytes = attn_trace_bytes(d);
        struct attn_trace t;
        for (int off = 0; off < 3; off++) { /* memory that begins anywhere */
            char *mem = (char *)bag_push(&b, bytes + 64) + (ptrdiff_t)20 * off;
            assert_int_equal(attn_trace_init(&t, d, mem, bytes), ATTN_OK);
            const struct attn_mat m[] = {t.qkv, t.s_raw, t.s_scaled, t.s_masked,
                                         t.p,   t.z,     t.y_proj,   t.y};
            for (int k = 0; k < 8; k++) {
                const char *first = (const char *)m[k].data;
                const char *end =
                    (const char *)(m[k].data + (ptrdiff_t)(m[k].rows - 1) * m[k].ld +
                                   m[k].cols);
                assert_int_equal((uintptr_t)first % 64, 0);
                assert_true(first >= mem && end <= mem + bytes);
                assert_true(m[k].ld >= m[k].cols);
                assert_int_equal(m[k].rows, d.n_tok);
                assert_int_equal(m[k].cols, k == 0  ? 3 * d.d_model
                                            : k < 5 ? d.n_tok
                                                    : d.d_model);
            }
        }
        char *mem = bag_push(&b, bytes);
        assert_int_equal(attn_trace_init(&t, d, mem, bytes - 1), ATTN_NO_ROOM);
        assert_int_equal(attn_trace_init(&t, d, mem, 0), ATTN_NO_ROOM);
    }
    bag_empty(&b);
}

static void a_run_refuses_what_does_not_fit_the_trace(void **state)
{
    (void)state;
    struct rng r = {62};
    struct bag b = {0};
    struct attn_dims d = {6, 10, 2};
    struct problem p = problem_new(&b, &r, d, true);
    struct attn_ctx c = {0};
    struct attn_opts o = attn_opts_default();
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct attn_trace t;
        size_t bytes = attn_trace_bytes(d);
        unsigned char *mem = bag_push(&b, bytes);
        unsigned char *before = bag_push(&b, bytes);
        memset(mem, 0x55, bytes);
        assert_int_equal(attn_trace_init(&t, d, mem, bytes), ATTN_OK);
        memcpy(before, mem, bytes);
        struct attn_cmat x = readable(p.x);
        struct attn_cmat h = readable(p.h);
        assert_int_equal(attn_run(&c, &t, x, h, &p.w, o, -1), ATTN_BAD_SHAPE);
        assert_int_equal(attn_run(&c, &t, x, h, &p.w, o, 2), ATTN_BAD_SHAPE);
        for (int way = 0; way < SPOILS; way++) {
            struct attn_weights w = p.w;
            assert_int_equal(attn_run(&c, &t, spoiled_input(p.x, way), h, &p.w, o, 0),
                             ATTN_BAD_SHAPE);
            assert_int_equal(attn_run(&c, &t, x, spoiled_input(p.h, way), &p.w, o, 0),
                             ATTN_BAD_SHAPE);
            w.w_qkv = spoiled_input(p.w_qkv, way);
            assert_int_equal(attn_run(&c, &t, x, h, &w, o, 0), ATTN_BAD_SHAPE);
            w = p.w;
            w.w_o = spoiled_input(p.w_o, way);
            assert_int_equal(attn_run(&c, &t, x, h, &w, o, 0), ATTN_BAD_SHAPE);
        }
        assert_memory_equal(mem, before, bytes);
    }
    bag_empty(&b);
}

static void a_block_refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct rng r = {63};
    struct bag b = {0};
    struct attn_dims d = {6, 10, 2};
    struct problem p = problem_new(&b, &r, d, true);
    struct fence y = fence_new(&b, &r, 6, 10);
    struct fence z = fence_new(&b, &r, 6, 10);
    struct fence qkv = fence_new(&b, &r, 6, 30);
    struct attn_opts o = attn_opts_default();
    struct attn_ctx c = {0};
    for (int a = 0; (c.k = case_kernels(a)); a++) {
        struct attn_packed *packed = packed_new(&b, c.k, &p);
        size_t bytes = attn_block_bytes(&c, d);
        void *work = bag_push(&b, bytes);
        const struct attn_block_io good = {
            .x = readable(p.x), .h = readable(p.h), .y = y.m, .z = z.m, .qkv = qkv.m};
        for (int way = 0; way < SPOILS; way++) {
            struct attn_block_io io[5] = {good, good, good, good, good};
            spoil(&io[0].x, way);
            io[1].y = spoiled(y.m, way);
            spoil(&io[2].h, way);
            io[3].z = spoiled(z.m, way);
            io[4].qkv = spoiled(qkv.m, way);
            /* Without data z and qkv are not asked for. */
            for (int i = 0; i < (way == 6 ? 3 : 5); i++)
                assert_int_equal(attn_block(&c, &io[i], packed, o, d, work, bytes),
                                 ATTN_BAD_SHAPE);
        }
        struct attn_dims other[] = {{5, 10, 2}, {6, 20, 2}, {6, 10, 3}, {0, 10, 2}};
        for (int i = 0; i < 4; i++)
            assert_int_equal(attn_block(&c, &good, packed, o, other[i], work, bytes),
                             ATTN_BAD_SHAPE);
        struct attn_block_io less = good;
        less.z.data = NULL;
        size_t keep = attn_block_keep_bytes(d);
        assert_int_equal(attn_block(&c, &less, packed, o, d, work, bytes - 1),
                         ATTN_NO_ROOM);
        assert_int_equal(attn_block(&c, &good, packed, o, d, work, keep - 1),
                         ATTN_NO_ROOM);
        assert_int_equal(attn_block(&c, &good, packed, o, d, work, 0), ATTN_NO_ROOM);
        assert_true(fence_untouched(&y));
        assert_true(fence_untouched(&z));
        assert_true(fence_untouched(&qkv));
        assert_int_equal(attn_block(&c, &good, packed, o, d, work, bytes), ATTN_OK);
        fence_fill(&y);
        fence_fill(&z);
        fence_fill(&qkv);
    }
    bag_empty(&b);
}

static void packing_refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct rng r = {64};
    struct bag b = {0};
    struct attn_dims d = {6, 10, 2};
    struct problem p = problem_new(&b, &r, d, true);
    for (int a = 0; case_kernels(a); a++) {
        const struct attn_kernels *k = case_kernels(a);
        struct attn_packed *packed = NULL;
        size_t bytes = attn_packed_bytes(k, d);
        char *mem = bag_push(&b, bytes + 64);
        assert_int_equal(attn_pack(k, &packed, &p.w, d, mem, bytes - 1), ATTN_NO_ROOM);
        assert_int_equal(attn_pack(k, &packed, &p.w, d, mem, 0), ATTN_NO_ROOM);
        for (int way = 0; way < SPOILS; way++) {
            struct attn_weights w = p.w;
            w.w_qkv = spoiled_input(p.w_qkv, way);
            assert_int_equal(attn_pack(k, &packed, &w, d, mem, bytes), ATTN_BAD_SHAPE);
            w = p.w;
            w.w_o = spoiled_input(p.w_o, way);
            assert_int_equal(attn_pack(k, &packed, &w, d, mem, bytes), ATTN_BAD_SHAPE);
        }
        assert_null(packed);
        assert_int_equal(attn_pack(k, &packed, &p.w, d, mem + 20, bytes), ATTN_OK);
    }
    bag_empty(&b);
}

int attn_refusal_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_shapes_are_refused_and_the_output_is_untouched),
        cmocka_unit_test(impossible_dimensions_are_refused),
        cmocka_unit_test(a_trace_lies_in_its_memory_aligned_or_is_refused),
        cmocka_unit_test(a_run_refuses_what_does_not_fit_the_trace),
        cmocka_unit_test(a_block_refuses_what_does_not_fit),
        cmocka_unit_test(packing_refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests_name("attn refusals", tests, NULL, NULL);
}
