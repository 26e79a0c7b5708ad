/* model: files that are broken, hostile or not there. Each is refused in one line that
 * names file, tensor and reason; none crashes, whatever bytes it has. */
#include "model_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEEP_ALL = 1 << 30 };

static struct case_folder folder;
static struct case_model small;

static int set_up(void **state)
{
    (void)state;
    folder_init(&folder);
    case_init(&small, case_spec_small(), 7);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_fini(&folder);
    case_free(&small);
    return 0;
}

/* Opens, and if that works, runs everything. false: *e says why. */
static bool tried(const char *path, struct err *e)
{
    struct attn_ctx c = {.k = attn_kernels_get(NULL)};
    struct model_net *m = NULL;
    *e = (struct err){0};
    if (!model_net_open(&m, path, c.k, KEEP_ALL, e)) {
        assert_null(m);
        return false;
    }
    const int32_t ids[] = {0, 1, 2};
    int n = model_net_info(m)->n_ctx < 3 ? 1 : 3;
    float *logits = calloc((size_t)model_net_info(m)->n_vocab, sizeof *logits);
    bool ok = logits && model_net_feed(m, ids, n, e) &&
              model_net_run(m, model_net_info(m)->n_layer, &c, e) &&
              model_net_logits(m, logits, n - 1, &c, e);
    free(logits);
    model_net_close(m);
    return ok;
}

static void check_refused(const char *path, const char *const says[], const char *what)
{
    struct err e;
    if (tried(path, &e)) fail_msg("%s: was opened", what);
    assert_int_equal(e.code, ERR_INPUT);
    assert_null(strchr(e.text, '\n'));
    for (int i = 0; i < 4 && says[i]; i++)
        if (!strstr(e.text, says[i]))
            fail_msg("%s: \"%s\" does not say \"%s\"", what, e.text, says[i]);
}

/* One change to the header or to config.json, and what the refusal says. */
struct change {
    const char *from, *to, *says[4];
};

static const struct change in_header[] = {
    {"\"h.1.ln_2.weight\"",
     "\"h.1.ln_3.weight\"",
     {"model.safetensors: h.1.ln_2.weight: is missing", "[8]"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,24]",
     "{\"dtype\":\"F32\",\"shape\":[24,8]",
     {"h.0.attn.c_attn.weight: shape [24,8], expected [8,24]", "transposed"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,24]",
     "{\"dtype\":\"F32\",\"shape\":[192]",
     {"h.0.attn.c_attn.weight: shape [192], expected [8,24]"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"I32\",\"shape\":[8,32]",
     {"h.0.mlp.c_fc.weight: dtype I32, expected F32, F16 or BF16"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F8_E4M3\",\"shape\":[8,32]",
     {"h.0.mlp.c_fc.weight: dtype another"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F32\",\"shape\":[8,33]",
     {"mlp.c_fc.weight: 1024 bytes of data, shape [8,33] of F32 needs 1056"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296]",
     {"mlp.c_fc.weight: shape [4294967296,4294967296] is beyond any file"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F32\",\"shape\":[8,-32]",
     {"mlp.c_fc.weight: the shape holds something that is no size"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F32\",\"shape\":[8,32.0]",
     {"mlp.c_fc.weight: the shape holds something that is no size"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F32\",\"shape\":\"8\"",
     {"mlp.c_fc.weight: there is no shape"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,8,32]",
     {"9 dimensions, at most 8"}},
    {"{\"dtype\":\"F32\",\"shape\":[8,32]",
     "{\"shape\":[8,32]",
     {"mlp.c_fc.weight: there is no dtype"}},
    {"\"data_offsets\":[0,640]",
     "\"data_offsets\":[640,0]",
     {"wte.weight: data_offsets [640,0] run backwards"}},
    {"\"data_offsets\":[0,640]",
     "\"data_offsets\":[0]",
     {"wte.weight: data_offsets is not two numbers"}},
    {"\"data_offsets\":[0,640]",
     "\"data_offsets\":[-640,0]",
     {"wte.weight", "backwards"}},
    {"\"data_offsets\":[0,640]",
     "\"data_offsets\":[9223372036854775167,9223372036854775807]",
     {"wte.weight: data ends at byte 9223372036854775807", "truncated"}},
    {"\"data_offsets\":[0,640]",
     "\"data_offsets\":[4,644]",
     {"wpe.weight: its data overlaps that of wte.weight"}},
    {"\"data_offsets\":[0,640]",
     "\"data_offsets\":[0,9223372036854775808]",
     {"header: no valid JSON"}},
    {"\"wpe.weight\"", "\"wte.weight\"", {"header: no valid JSON", "duplicate"}},
    {"\"wpe.weight\"",
     "\"transformer.wte.weight\"",
     {"wte.weight: is there twice, with and without transformer."}},
    {"\"wpe.weight\"", "\"w\xFFpe\"", {"header: no valid JSON"}},
    {"\"wpe.weight\"", "\"w\\u0000pe\"", {"header: no valid JSON"}},
    {"\"__metadata__\":{\"format\":\"pt\"}",
     "\"__metadata__\":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]",
     {"header: nested deeper than 16"}},
    {"\"h.0.ln_1.bias\"", "\"a\\nb\"", {"h.0.ln_1.bias: is missing"}},
    {"\"h.0.ln_1.bias\"",
     "\"h.7.ln_1.bias\"",
     {"h.7.ln_1.bias: there are 2 blocks, says config.json"}},
    {"\"h.0.ln_1.bias\"", "\"h.18446744073709551617.a\"", {"there are 2 blocks"}},
};

static const struct change in_config[] = {
    {"\"n_layer\":2", "\"n_layer\":1000000000", {"config.json: n_layer 1000000000"}},
    {"\"n_layer\":2", "\"n_layer\":4000", {"config.json: n_layer 4000", "tensors"}},
    {"\"n_layer\":2", "\"n_layer\":3", {"h.2.ln_1.weight: is missing"}},
    {"\"n_layer\":2", "\"n_layer\":1", {"h.1.", "there are 1 blocks, says config.json"}},
    {"\"n_layer\":2", "\"n_layer\":0", {"config.json: n_layer 0 is not in 1 to 4096"}},
    {"\"n_layer\":2", "\"n_layer\":2,\"n_layer\":2", {"config.json: no valid JSON"}},
    {"\"n_layer\":2", "\"n_layer\":2.0", {"config.json: n_layer is no whole number"}},
    {"\"n_layer\":2", "\"n_layers\":2", {"config.json: n_layer is missing"}},
    {"\"n_head\":2", "\"n_head\":3", {"config.json: n_head 3 does not divide n_embd 8"}},
    {"\"n_head\":2", "\"n_head\":-2", {"config.json: n_head -2"}},
    {"\"n_embd\":8", "\"n_embd\":4", {"shape", "expected", "(config.json)"}},
    {"\"n_embd\":8", "\"n_embd\":99999999999999999999", {"config.json: no valid JSON"}},
    {"\"n_positions\":12",
     "\"n_positions\":13",
     {"wpe.weight: shape [12,8], expected [13,8] (config.json)"}},
    {"\"vocab_size\":20",
     "\"vocab_size\":21",
     {"wte.weight: shape [20,8], expected [21,8] (config.json)"}},
    {"\"n_inner\":32", "\"n_inner\":31", {"h.0.mlp.c_fc.weight: shape [8,32], expected"}},
    {"gelu_new", "relu", {"config.json: activation_function \"relu\""}},
    {"\"gpt2\"", "\"llama\"", {"config.json: model_type \"llama\"; gpt2 is read"}},
    {"1e-05", "-1", {"config.json: layer_norm_epsilon is not in 0 to 1"}},
    {"1e-05", "\"x\"", {"config.json: layer_norm_epsilon is not in 0 to 1"}},
    {"\"tie_word_embeddings\":true",
     "\"tie_word_embeddings\":false",
     {"lm_head.weight: is missing"}},
    {"\"tie_word_embeddings\":true",
     "\"scale_attn_weights\":false",
     {"config.json: scale_attn_weights"}},
    {"{\"model_type\":\"gpt2\",", "[{", {"config.json: no valid JSON"}},
    {"}\n", "}}", {"config.json: no valid JSON"}},
};

static void broken_headers_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof in_header / sizeof in_header[0]; i++) {
        const struct change *x = &in_header[i];
        struct blob b = case_safetensors(&small);
        folder_write_model(&folder, &small);
        blob_replace_header(&b, x->from, x->to);
        folder_write(&folder, "model.safetensors", &b);
        check_refused(folder.path, x->says, x->to);
        blob_free(&b);
    }
}

static void broken_configs_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof in_config / sizeof in_config[0]; i++) {
        const struct change *x = &in_config[i];
        struct blob b = case_config(&small.spec);
        folder_write_model(&folder, &small);
        blob_replace(&b, x->from, x->to);
        folder_write(&folder, "config.json", &b);
        check_refused(folder.path, x->says, x->to);
        blob_free(&b);
    }
}

static void what_differs_but_does_no_harm_is_read(void **state)
{
    (void)state;
    static const struct change config[] = {
        {"\"n_inner\":32", "\"n_inner\":null", {NULL}},
        {"\"n_positions\"", "\"n_ctx\"", {NULL}},
        {"\"tie_word_embeddings\":true", "\"more\":[1,{\"a\":null}]", {NULL}},
        {"gelu_new", "gelu_pytorch_tanh", {NULL}},
    };
    struct err e;
    for (size_t i = 0; i < sizeof config / sizeof config[0]; i++) {
        struct blob b = case_config(&small.spec);
        folder_write_model(&folder, &small);
        blob_replace(&b, config[i].from, config[i].to);
        folder_write(&folder, "config.json", &b);
        if (!tried(folder.path, &e)) fail_msg("%s: %s", config[i].to, e.text);
        blob_free(&b);
    }
    struct blob b =
        case_safetensors(&small); /* a buffer that nobody needs, of a new type */
    blob_replace_header(&b, "{\"__metadata__\"",
                        "{\"h.0.attn.masked_bias\":{\"dtype\":\"F4\",\"shape\":[],"
                        "\"data_offsets\":[0,0]},\"__metadata__\"");
    folder_write_model(&folder, &small);
    folder_write(&folder, "model.safetensors", &b);
    if (!tried(folder.path, &e)) fail_msg("%s", e.text);
    blob_free(&b);
}

static void check_llmc(const char *what, size_t at, int32_t value, const char *says)
{
    const char *const list[4] = {"model.bin", says};
    struct blob b = case_llmc(&small, 32);
    memcpy(b.data + 4 * at, &value, 4);
    folder_write(&folder, "model.bin", &b);
    check_refused(folder_file(&folder, "model.bin"), list, what);
    blob_free(&b);
}

static void broken_checkpoints_are_refused_by_name(void **state)
{
    (void)state;
    check_llmc("magic", 0, 20240327, "begins with 20240327");
    check_llmc("version", 1, 4, "version 4; 3 (F32) and 5 (BF16) are read");
    check_llmc("BF16", 1, 5, "it is another format");
    check_llmc("context", 2, -1, "context -1 is not in 1 to");
    check_llmc("vocabulary", 3, 33, "padded vocabulary 32 is less than 33");
    check_llmc("layers", 4, 1000000000, "layers 1000000000 is not in 1 to 4096");
    check_llmc("layers", 4, 3, "it is truncated");
    check_llmc("heads", 5, 3, "n_head 3 does not divide n_embd 8");
    check_llmc("channels", 6, 131072, "it is truncated");
    check_llmc("padded", 7, INT32_MAX, "padded vocabulary 2147483647 is not in");
    folder_remove(&folder, "model.bin");
}

/* Cut at every length: a header that is there promises data that is not. */
static void truncated_files_are_refused(void **state)
{
    (void)state;
    struct blob whole[] = {case_safetensors(&small), case_llmc(&small, 32)};
    static const char *const names[] = {"model.safetensors", "model.bin"};
    const char *const says[4] = {NULL};
    folder_write_model(&folder, &small);
    for (int f = 0; f < 2; f++) {
        for (size_t n = 0; n < whole[f].n; n += 1 + n / 40) {
            struct blob b = blob_of(whole[f].data, n);
            folder_write(&folder, names[f], &b);
            check_refused(folder_file(&folder, names[f]), says, "truncated");
            blob_free(&b);
        }
        blob_free(&whole[f]);
    }
    folder_remove(&folder, "model.bin");
}

static void lengths_that_lie_are_refused(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63,
                                       1 << 20};
    const char *const says[4] = {"model.safetensors: header of", "truncated"};
    folder_write_model(&folder, &small);
    for (int i = 0; i < 4; i++) {
        struct blob b = case_safetensors(&small);
        memcpy(b.data, &lengths[i], 8);
        folder_write(&folder, "model.safetensors", &b);
        check_refused(folder.path, says, "a length");
        blob_free(&b);
    }
    /* A header that fits the file and is too long all the same. */
    const char *const too_long[4] = {"at most 4194304 are read"};
    struct blob b = case_safetensors(&small);
    uint64_t n = 5 << 20;
    memcpy(b.data, &n, 8);
    folder_write(&folder, "model.safetensors", &b);
    assert_int_equal(truncate(folder_file(&folder, "model.safetensors"), 6 << 20), 0);
    check_refused(folder.path, too_long, "a long header");
    blob_free(&b);
    /* Nothing but brackets, which would take a hundred times their bytes. */
    const char *const brackets[4] = {"brackets"};
    struct blob text = blob_text("");
    free(text.data);
    text.n = 8 + (1 << 20);
    text.data = malloc(text.n + 1);
    assert_non_null(text.data);
    n = 1 << 20;
    memcpy(text.data, &n, 8);
    for (size_t i = 8; i < text.n; i++) text.data[i] = "[],"[i % 3];
    folder_write(&folder, "model.safetensors", &text);
    check_refused(folder.path, brackets, "brackets");
    blob_free(&text);
}

static void what_is_no_model_is_refused(void **state)
{
    (void)state;
    struct case_folder empty;
    folder_init(&empty);
    const char *const none[4] = {"holds neither model.safetensors nor its index"};
    check_refused(empty.path, none, "an empty folder");
    struct blob b = blob_text("PK");
    folder_write(&empty, "pytorch_model.bin", &b);
    const char *const torch[4] = {"pytorch_model.bin is not read", "safe_serialization"};
    check_refused(empty.path, torch, "a PyTorch folder");
    blob_free(&b);
    const char *const opened[4] = {"cannot be opened"};
    check_refused("/nonexistent", opened, "nothing");
    check_refused("/nonexistent/a.safetensors", opened, "nothing");
    const char *const regular[4] = {"is not a regular file"};
    assert_int_equal(mkfifo(folder_file(&empty, "pipe.bin"), 0600), 0);
    check_refused(folder_file(&empty, "pipe.bin"), regular, "a pipe");
    check_refused("/dev/zero", regular, "a device");
    const char *const path[4] = {"path is empty"};
    check_refused("", path, "no path");
    folder_write_model(&empty, &small);
    folder_remove(&empty, "config.json");
    const char *const config[4] = {"config.json: cannot be opened"};
    check_refused(empty.path, config, "no config.json");
    /* As a lone file of d = 8 it does not say how many heads there are. */
    const char *const heads[4] = {"n_head is not in the file"};
    check_refused(folder_file(&empty, "model.safetensors"), heads, "no heads");
    folder_remove(&empty, "model.safetensors");
    assert_int_equal(mkdir(folder_file(&empty, "model.safetensors"), 0700), 0);
    const char *const dir[4] = {"model.safetensors: is a folder"};
    check_refused(empty.path, dir, "a folder in the model's place");
    folder_fini(&empty);
}

static void indices_that_lead_elsewhere_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{}", "model.safetensors.index.json: there is no weight_map"},
        {"[]", "there is no weight_map"},
        {"{\"weight_map\":{\"a\":1}}", "a: names no file"},
        {"{\"weight_map\":{\"a\":\"../x.safetensors\"}}",
         "is no file of the same folder"},
        {"{\"weight_map\":{\"a\":\"\"}}", "is no file of the same folder"},
        {"{\"weight_map\":{\"a\":\"none\"}}", "cannot be opened"},
        {"{\"weight_map\":{\"a\":\"part\"}}", "a: is not in part"},
        {"{\"weight_map\":{\"wte.weight\":\"part\",\"wpe.weight\":\"again\"}}",
         "is in part too"},
    };
    struct case_folder f;
    folder_init(&f);
    struct blob config = case_config(&small.spec), part = case_safetensors(&small);
    folder_write(&f, "config.json", &config);
    folder_write(&f, "part", &part);
    folder_write(&f, "again", &part);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct blob b = blob_text(cases[i].text);
        const char *const says[4] = {cases[i].says};
        folder_write(&f, "model.safetensors.index.json", &b);
        check_refused(f.path, says, cases[i].text);
        blob_free(&b);
    }
    /* More files than are read. */
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"weight_map\":{");
    for (int i = 0; i < 70; i++) {
        char one[48];
        struct case_model m;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\"x%d\":\"f%d\"",
                               i ? "," : "", i, i);
        m = (struct case_model){.spec = small.spec, .n = 1};
        m.t[0] = small.t[0];
        (void)snprintf(m.t[0].name, sizeof m.t[0].name, "x%d", i);
        struct blob b = case_safetensors(&m);
        (void)snprintf(one, sizeof one, "f%d", i);
        folder_write(&f, one, &b);
        blob_free(&b);
    }
    (void)snprintf(text + at, sizeof text - at, "}}");
    struct blob b = blob_text(text);
    const char *const says[4] = {"more than 64 files"};
    folder_write(&f, "model.safetensors.index.json", &b);
    check_refused(f.path, says, "70 files");
    blob_free(&b);
    blob_free(&config);
    blob_free(&part);
    folder_fini(&f);
}

/* A few bytes of a good file changed, at fixed random places: it may be read or refused. */
static void any_bytes_do_no_harm(void **state)
{
    (void)state;
    uint64_t rng = 1;
    struct blob good[] = {case_safetensors(&small), case_llmc(&small, 32),
                          case_config(&small.spec)};
    static const char *const names[] = {"model.safetensors", "model.bin", "config.json"};
    struct err e;
    folder_write_model(&folder, &small);
    for (int i = 0; i < 1500; i++) {
        int f = i % 3;
        struct blob b = blob_of(good[f].data, good[f].n);
        size_t head = f == 0 ? 2200 : f == 1 ? 40 : b.n;
        for (int k = 0; k <= i % 4; k++) {
            rng = rng * 6364136223846793005u + 1442695040888963407u;
            size_t at = (rng >> 33) % (head < b.n ? head : b.n);
            static const char likely[] = "0123456789[]{}\",:-.eE \x00\xff";
            b.data[at] = (unsigned char)likely[(rng >> 20) % (sizeof likely - 1)];
        }
        folder_write(&folder, names[f], &b);
        if (!tried(f == 1 ? folder_file(&folder, names[1]) : folder.path, &e)) {
            assert_true(e.code == ERR_INPUT || e.code == ERR_SYSTEM);
            assert_null(strchr(e.text, '\n'));
        }
        if (f != 1) folder_write(&folder, names[f], &good[f]);
        blob_free(&b);
    }
    for (int f = 0; f < 3; f++) blob_free(&good[f]);
    folder_remove(&folder, "model.bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_headers_are_refused_by_name),
        cmocka_unit_test(broken_configs_are_refused_by_name),
        cmocka_unit_test(what_differs_but_does_no_harm_is_read),
        cmocka_unit_test(broken_checkpoints_are_refused_by_name),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(lengths_that_lie_are_refused),
        cmocka_unit_test(what_is_no_model_is_refused),
        cmocka_unit_test(indices_that_lead_elsewhere_are_refused),
        cmocka_unit_test(any_bytes_do_no_harm),
    };
    return cmocka_run_group_tests_name("model files", tests, set_up, tear_down);
}
