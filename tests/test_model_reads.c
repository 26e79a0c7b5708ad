/* model: each byte of the weights is read once. The linker leads pread, by which layer base
 * reads, through here, where every byte of the file is counted. */
#include "model_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

enum { MOST = 1 << 20 };
static unsigned char count[MOST]; /* how often each byte has been read */
static bool counting;

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);

ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    ssize_t got = __real_pread(fd, to, n, at);
    for (ssize_t i = 0; counting && i < got; i++) count[at + i]++;
    return got;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static void run_and_ask(struct model_net *net, const int32_t *ids, int n)
{
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct err e = {0};
    float logits[4096];
    if (!model_net_feed(net, ids, n, &e) ||
        !model_net_run(net, model_net_info(net)->n_layer, &c, &e) ||
        !model_net_logits(net, logits, n - 1, &c, &e))
        fail_msg("%s", e.text);
}

/* Opened, three texts read, the next tokens asked for, tokens that came before the head
 * was read and others that came after. */
static void each_byte_is_read_once(void **state)
{
    (void)state;
    static const int32_t texts[3][6] = {
        {5, 1900, 5, 961, 0, 959}, {5, 1900, 77, 960, 2, 2}, {1999, 77, 5, 961, 3, 960}};
    for (int tied = 0; tied < 2; tied++)
        for (int dtype = CASE_F32; dtype <= CASE_BF16; dtype++) {
            struct case_folder f;
            struct case_model m;
            struct case_spec s = case_spec_small();
            s.vocab = 2000; /* the head is in three pieces */
            s.tied = tied != 0;
            s.dtype = (enum case_dtype)dtype;
            folder_init(&f);
            case_init(&m, s, 11);
            folder_write_model(&f, &m);
            folder_remove(&f, "config.json");
            struct blob b = case_safetensors(&m), config = case_config(&s);
            folder_write(&f, "config.json", &config);
            uint64_t header = 0;
            memcpy(&header, b.data, sizeof header);
            assert_true(b.n < MOST);
            struct model_net *net = NULL;
            struct err e = {0};
            if (!model_net_open(&net, f.path, attn_kernels_get(NULL), MOST, &e))
                fail_msg("%s", e.text);
            memset(count, 0, sizeof count);
            counting = true;
            for (int k = 0; k < 3; k++) run_and_ask(net, texts[k], 6 - (k == 1));
            counting = false;
            size_t unread = 0;
            for (size_t i = 8 + header; i < b.n; i++) {
                if (count[i] > 1)
                    fail_msg("tied %d, dtype %d: byte %zu of %zu was read %d times", tied,
                             dtype, i, b.n, count[i]);
                unread += count[i] == 0;
            }
            /* wpe beyond the text; without a tie, what no text needs of wte. */
            size_t size = dtype == CASE_F32 ? 4 : 2, rows = (size_t)s.ctx - 6;
            if (!s.tied) rows += 2000 - 10;
            assert_int_equal(unread, rows * (size_t)s.d * size);
            model_net_close(net);
            blob_free(&b);
            blob_free(&config);
            case_free(&m);
            folder_fini(&f);
        }
}

/* What is taken from the head's memory is what the file has. */
static void a_token_read_late_is_the_token(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct case_spec s = case_spec_small();
    s.vocab = 2000;
    folder_init(&f);
    case_init(&m, s, 12);
    folder_write_model(&f, &m);
    struct model_net *net = NULL;
    struct err e = {0};
    if (!model_net_open(&net, f.path, attn_kernels_get(NULL), MOST, &e))
        fail_msg("%s", e.text);
    const int32_t first[] = {4, 9}, late[] = {4, 0, 959, 960, 961, 1919, 1920, 1999};
    run_and_ask(net, first, 2);
    run_and_ask(net, late, 8);
    const float *wte = case_tensor(&m, "wte.weight")->v;
    const float *wpe = case_tensor(&m, "wpe.weight")->v;
    for (int i = 0; i < 8; i++)
        for (int a = 0; a < s.d; a++)
            assert_true(model_net_input(net, 0).data[i * s.d + a] ==
                        wte[late[i] * s.d + a] + wpe[i * s.d + a]);
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

/* A head whose reading was stopped is taken up: the bytes before are not read again. */
static void a_stopped_head_is_taken_up(void **state)
{
    (void)state;
    struct case_folder f;
    struct case_model m;
    struct case_spec s = case_spec_small();
    s.vocab = 2000;
    folder_init(&f);
    case_init(&m, s, 13);
    folder_write_model(&f, &m);
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct model_net *net = NULL;
    struct err e = {0};
    float logits[2000];
    const int32_t ids[] = {4, 9};
    const volatile int stop = 1;
    if (!model_net_open(&net, f.path, c.k, MOST, &e)) fail_msg("%s", e.text);
    memset(count, 0, sizeof count);
    counting = true;
    assert_true(model_net_feed(net, ids, 2, &e) && model_net_run(net, 2, &c, &e));
    c.cancel = &stop;
    for (int k = 0; k < 3; k++) {
        assert_false(model_net_logits(net, logits, 1, &c, &e));
        assert_int_equal(e.code, ERR_CANCELLED);
    }
    c.cancel = NULL;
    assert_true(model_net_logits(net, logits, 1, &c, &e));
    counting = false;
    for (size_t i = 0; i < MOST; i++) assert_true(count[i] <= 1);
    struct case_pass p = case_forward(&m, ids, 2);
    for (int t = 0; t < s.vocab; t++)
        assert_true(fabs((double)logits[t] - p.logits[s.vocab + t]) < 1e-4);
    free(p.h);
    free(p.logits);
    model_net_close(net);
    case_free(&m);
    folder_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_is_read_once),
        cmocka_unit_test(a_token_read_late_is_the_token),
        cmocka_unit_test(a_stopped_head_is_taken_up),
    };
    return cmocka_run_group_tests_name("model reads", tests, NULL, NULL);
}
