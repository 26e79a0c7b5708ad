/* Small models, their files, and their forward pass in double. */
#include "model_case.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void *need(void *p)
{
    if (!p) abort(); /* a test without memory says nothing */
    return p;
}

/* ---- blobs ---------------------------------------------------------------------------- */

void blob_free(struct blob *b)
{
    free(b->data);
    *b = (struct blob){0};
}

struct blob blob_of(const void *data, size_t n)
{
    struct blob b = {need(malloc(n + 1)), n, n + 1};
    if (n > 0) memcpy(b.data, data, n);
    b.data[n] = 0;
    return b;
}

struct blob blob_text(const char *text)
{
    return blob_of(text, strlen(text));
}

static void append(struct blob *b, const void *data, size_t n)
{
    if (b->n + n >= b->room) {
        b->room = 2 * (b->n + n + 1);
        b->data = need(realloc(b->data, b->room));
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
    b->data[b->n] = 0;
}

static const unsigned char *find(const unsigned char *at, const unsigned char *end,
                                 const char *what, size_t n)
{
    for (; (size_t)(end - at) >= n; at++)
        if (memcmp(at, what, n) == 0) return at;
    return NULL;
}

void blob_replace(struct blob *b, const char *from, const char *to)
{
    struct blob out = blob_of("", 0);
    size_t n = strlen(from);
    const unsigned char *at = b->data, *end = b->data + b->n, *next;
    int found = 0;
    for (; (next = find(at, end, from, n)); at = next + n, found++) {
        append(&out, at, (size_t)(next - at));
        append(&out, to, strlen(to));
    }
    append(&out, at, (size_t)(end - at));
    if (found == 0) fail_msg("nothing to replace: %s", from);
    blob_free(b);
    *b = out;
}

static size_t header_length(const struct blob *b)
{
    uint64_t n = 0;
    memcpy(&n, b->data, sizeof n);
    return (size_t)n;
}

void blob_replace_header(struct blob *b, const char *from, const char *to)
{
    size_t n = header_length(b);
    struct blob head = blob_of(b->data + 8, n),
                data = blob_of(b->data + 8 + n, b->n - 8 - n);
    blob_replace(&head, from, to);
    uint64_t length = head.n;
    struct blob out = blob_of(&length, 8);
    append(&out, head.data, head.n);
    append(&out, data.data, data.n);
    blob_free(&head);
    blob_free(&data);
    blob_free(b);
    *b = out;
}

/* ---- models ----------------------------------------------------------------------------- */

struct case_spec case_spec_small(void)
{
    return (struct case_spec){
        .n_layer = 2,
        .n_head = 2,
        .d = 8,
        .mlp = 32,
        .ctx = 12,
        .vocab = 20,
        .bias = true,
        .tied = true,
    };
}

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void add(struct case_model *m, uint64_t *rng, const char *name, int rows, int cols,
                float shift)
{
    struct case_tensor *t = &m->t[m->n++];
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    t->rank = cols ? 2 : 1;
    t->shape[0] = rows;
    t->shape[1] = cols;
    t->n = (size_t)rows * (size_t)(cols ? cols : 1);
    t->v = need(calloc(t->n + 1, sizeof *t->v));
    float step = shift == 0.0f ? 1.0f / 256.0f : 1.0f / 128.0f; /* BF16 has 8 bits */
    for (size_t i = 0; i < t->n; i++)
        t->v[i] = shift + (float)((int)(next(rng) % 127) - 63) * step;
}

static void add_block(struct case_model *m, uint64_t *rng, int l)
{
    const struct case_spec *s = &m->spec;
    const struct {
        const char *name;
        int rows, cols;
        float shift;
        bool bias;
    } parts[] = {{"ln_1.weight", s->d, 0, 1.0f, false},
                 {"ln_1.bias", s->d, 0, 0.0f, true},
                 {"attn.c_attn.weight", s->d, 3 * s->d, 0.0f, false},
                 {"attn.c_attn.bias", 3 * s->d, 0, 0.0f, true},
                 {"attn.c_proj.weight", s->d, s->d, 0.0f, false},
                 {"attn.c_proj.bias", s->d, 0, 0.0f, true},
                 {"ln_2.weight", s->d, 0, 1.0f, false},
                 {"ln_2.bias", s->d, 0, 0.0f, true},
                 {"mlp.c_fc.weight", s->d, s->mlp, 0.0f, false},
                 {"mlp.c_fc.bias", s->mlp, 0, 0.0f, true},
                 {"mlp.c_proj.weight", s->mlp, s->d, 0.0f, false},
                 {"mlp.c_proj.bias", s->d, 0, 0.0f, true}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "h.%d.%s", l, parts[i].name);
        if (!parts[i].bias || s->bias)
            add(m, rng, name, parts[i].rows, parts[i].cols, parts[i].shift);
    }
    if (!s->masks) return;
    char name[64];
    (void)snprintf(name, sizeof name, "h.%d.attn.bias", l);
    add(m, rng, name, s->ctx * s->ctx, 0, 0.0f);
    struct case_tensor *t = &m->t[m->n - 1];
    t->rank = 4;
    t->shape[0] = t->shape[1] = 1;
    t->shape[2] = t->shape[3] = s->ctx;
}

void case_init(struct case_model *m, struct case_spec spec, uint64_t seed)
{
    uint64_t rng = seed;
    *m = (struct case_model){.spec = spec};
    add(m, &rng, "wte.weight", spec.vocab, spec.d, 0.0f);
    add(m, &rng, "wpe.weight", spec.ctx, spec.d, 0.0f);
    for (int l = 0; l < spec.n_layer; l++) add_block(m, &rng, l);
    add(m, &rng, "ln_f.weight", spec.d, 0, 1.0f);
    if (spec.bias) add(m, &rng, "ln_f.bias", spec.d, 0, 0.0f);
    if (!spec.tied) add(m, &rng, "lm_head.weight", spec.vocab, spec.d, 0.0f);
}

void case_free(struct case_model *m)
{
    for (int i = 0; i < m->n; i++) free(m->t[i].v);
    *m = (struct case_model){0};
}

struct case_tensor *case_tensor(struct case_model *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->t[i].name, name) == 0) return &m->t[i];
    fail_msg("the model has no %s", name);
    return NULL;
}

/* ---- files ---------------------------------------------------------------------------- */

/* One element; exact for the values that case_init makes, NaN and the infinities. */
static void append_element(struct blob *b, float x, enum case_dtype dtype)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t half = (uint16_t)(bits >> 16); /* BF16 */
    if (dtype == CASE_F16) {
        uint32_t exponent = bits >> 23 & 0xFFu,
                 top = exponent == 0xFFu ? 31u : exponent - 112u;
        if (exponent == 0) top = 0;
        half = (uint16_t)((bits >> 16 & 0x8000u) | top << 10 | (bits >> 13 & 0x3FFu));
    }
    if (dtype == CASE_F32)
        append(b, &bits, sizeof bits);
    else
        append(b, &half, sizeof half);
}

struct blob case_shard(const struct case_model *m, int first, int last)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    struct blob head = blob_text("{\"__metadata__\":{\"format\":\"pt\"}"),
                data = blob_text("");
    for (int i = first; i < last; i++) {
        const struct case_tensor *t = &m->t[i];
        bool bare = !m->spec.prefix || strcmp(t->name, "lm_head.weight") == 0;
        char text[256], shape[64] = "";
        size_t from = data.n, n = 0;
        for (int a = 0; a < t->rank; a++)
            n += (size_t)snprintf(shape + n, sizeof shape - n, a ? ",%d" : "%d",
                                  t->shape[a]);
        for (size_t a = 0; a < t->n; a++) append_element(&data, t->v[a], m->spec.dtype);
        int len = snprintf(
            text, sizeof text,
            ",\"%s%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
            bare ? "" : "transformer.", t->name, dtypes[m->spec.dtype], shape, from,
            data.n);
        append(&head, text, (size_t)len);
    }
    append(&head, "}", 1);
    uint64_t n = head.n;
    struct blob out = blob_of(&n, sizeof n);
    append(&out, head.data, head.n);
    append(&out, data.data, data.n);
    blob_free(&head);
    blob_free(&data);
    return out;
}

struct blob case_safetensors(const struct case_model *m)
{
    return case_shard(m, 0, m->n);
}

static const struct case_tensor *named(const struct case_model *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->t[i].name, name) == 0) return &m->t[i];
    fail_msg("the model has no %s", name);
    return NULL;
}

static void append_tensor(struct blob *b, const struct case_tensor *t, bool turn,
                          enum case_dtype dtype)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t rows = (size_t)t->shape[0], cols = (size_t)t->shape[1];
        append_element(b, t->v[turn ? i % rows * cols + i / rows : i], dtype);
    }
}

struct blob case_llmc(const struct case_model *m, int padded)
{
    static const char *const parts[] = {
        "ln_1.weight",      "ln_1.bias",          "attn.c_attn.weight",
        "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias",
        "ln_2.weight",      "ln_2.bias",          "mlp.c_fc.weight",
        "mlp.c_fc.bias",    "mlp.c_proj.weight",  "mlp.c_proj.bias"};
    const struct case_spec *s = &m->spec;
    int32_t head[256] = {20240326,   s->dtype == CASE_F32 ? 3 : 5,
                         s->ctx,     s->vocab,
                         s->n_layer, s->n_head,
                         s->d,       padded};
    struct blob b = blob_of(head, sizeof head);
    append_tensor(&b, named(m, "wte.weight"), false, s->dtype);
    for (int i = 0; i < (padded - s->vocab) * s->d; i++)
        append_element(&b, NAN, s->dtype);
    append_tensor(&b, named(m, "wpe.weight"), false, s->dtype);
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (int l = 0; l < s->n_layer; l++) {
            char name[64];
            (void)snprintf(name, sizeof name, "h.%d.%s", l, parts[p]);
            const struct case_tensor *t = named(m, name);
            append_tensor(&b, t, t->rank == 2, s->dtype);
        }
    append_tensor(&b, named(m, "ln_f.weight"), false, s->dtype);
    append_tensor(&b, named(m, "ln_f.bias"), false, s->dtype);
    return b;
}

struct blob case_config(const struct case_spec *s)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"model_type\":\"gpt2\",\"vocab_size\":%d,\"n_positions\":%d,"
                   "\"n_embd\":%d,\"n_layer\":%d,\"n_head\":%d,\"n_inner\":%d,"
                   "\"activation_function\":\"%s\",\"layer_norm_epsilon\":1e-05,"
                   "\"tie_word_embeddings\":%s}\n",
                   s->vocab, s->ctx, s->d, s->n_layer, s->n_head, s->mlp,
                   s->erf ? "gelu" : "gelu_new", s->tied ? "true" : "false");
    return blob_text(text);
}

/* ---- folders ---------------------------------------------------------------------------- */

void folder_init(struct case_folder *f)
{
    (void)snprintf(f->path, sizeof f->path, "/tmp/headlight_model_XXXXXX");
    if (!mkdtemp(f->path)) fail_msg("no folder under /tmp");
}

void folder_fini(struct case_folder *f)
{
    DIR *d = opendir(f->path);
    if (!d) return;
    for (struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.') (void)remove(folder_file(f, entry->d_name));
    (void)closedir(d);
    (void)rmdir(f->path);
}

const char *folder_file(const struct case_folder *f, const char *name)
{
    static char path[4][512];
    static int at;
    at = (at + 1) % 4;
    (void)snprintf(path[at], sizeof path[at], "%s/%s", f->path, name);
    return path[at];
}

void folder_write(const struct case_folder *f, const char *name, const struct blob *b)
{
    FILE *out = fopen(folder_file(f, name), "wb");
    if (!out) fail_msg("cannot write %s", name);
    assert_int_equal(fwrite(b->data, 1, b->n, out), b->n);
    assert_int_equal(fclose(out), 0);
}

void folder_remove(const struct case_folder *f, const char *name)
{
    (void)remove(folder_file(f, name));
}

void folder_write_model(const struct case_folder *f, const struct case_model *m)
{
    struct blob weights = case_safetensors(m), config = case_config(&m->spec);
    folder_write(f, "model.safetensors", &weights);
    folder_write(f, "config.json", &config);
    blob_free(&weights);
    blob_free(&config);
}

/* ---- the forward pass in double ----------------------------------------------------------- */

static const float *values(struct case_model *m, int l, const char *part)
{
    char name[64];
    (void)snprintf(name, sizeof name, "h.%d.%s", l, part);
    return case_tensor(m, name)->v;
}

static const float *biases(struct case_model *m, int l, const char *part)
{
    return m->spec.bias ? values(m, l, part) : NULL;
}

static void norm(double *out, const double *in, int n, int d, const float *gain,
                 const float *bias)
{
    for (int i = 0; i < n; i++, in += d, out += d) {
        double mean = 0.0, var = 0.0;
        for (int a = 0; a < d; a++) mean += in[a] / d;
        for (int a = 0; a < d; a++) var += (in[a] - mean) * (in[a] - mean) / d;
        for (int a = 0; a < d; a++)
            out[a] = (in[a] - mean) / sqrt(var + 1e-5) * (double)gain[a] +
                     (bias ? (double)bias[a] : 0.0);
    }
}

/* out [n, cols] = in [n, rows] * w [rows, cols] + bias */
static void product(double *out, const double *in, int n, int rows, int cols,
                    const float *w, const float *bias)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < cols; j++) {
            double sum = bias ? (double)bias[j] : 0.0;
            for (int k = 0; k < rows; k++)
                sum += in[(size_t)i * rows + k] * (double)w[(size_t)k * cols + j];
            out[(size_t)i * cols + j] = sum;
        }
}

/* z of row i, one head, from q k v side by side; all three begin at the head's columns. */
static void attend(double *z, const double *qkv, int i, int d, int d_head)
{
    double p[1024], max = -(double)INFINITY, sum = 0.0;
    const size_t ld = (size_t)3 * d;
    const double *q = qkv + (size_t)i * ld, *k = qkv + d, *v = k + d;
    for (int j = 0; j <= i; j++) {
        p[j] = 0.0;
        for (int a = 0; a < d_head; a++) p[j] += q[a] * k[(size_t)j * ld + a];
        p[j] /= sqrt(d_head);
        max = fmax(max, p[j]);
    }
    for (int j = 0; j <= i; j++) sum += p[j] = exp(p[j] - max);
    for (int a = 0; a < d_head; a++) {
        double mix = 0.0;
        for (int j = 0; j <= i; j++) mix += p[j] / sum * v[(size_t)j * ld + a];
        z[(size_t)i * d + a] = mix;
    }
}

static double gelu(double x, bool erf_form)
{
    if (erf_form) return 0.5 * x * (1.0 + erf(x / sqrt(2.0)));
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double *room_for(int rows, int cols)
{
    return need(calloc((size_t)rows * (size_t)cols, sizeof(double)));
}

static void forward_block(struct case_model *m, int l, double *out, const double *in,
                          int n)
{
    int d = m->spec.d, wide = m->spec.mlp, d_head = d / m->spec.n_head;
    double *x = room_for(n, d), *qkv = room_for(n, 3 * d), *z = room_for(n, d);
    double *y = room_for(n, d), *fc = room_for(n, wide);
    norm(x, in, n, d, values(m, l, "ln_1.weight"), biases(m, l, "ln_1.bias"));
    product(qkv, x, n, d, 3 * d, values(m, l, "attn.c_attn.weight"),
            biases(m, l, "attn.c_attn.bias"));
    for (int i = 0; i < n; i++)
        for (int c = 0; c < d; c += d_head) attend(z + c, qkv + c, i, d, d_head);
    product(y, z, n, d, d, values(m, l, "attn.c_proj.weight"),
            biases(m, l, "attn.c_proj.bias"));
    for (int i = 0; i < n * d; i++) y[i] += in[i];
    norm(x, y, n, d, values(m, l, "ln_2.weight"), biases(m, l, "ln_2.bias"));
    product(fc, x, n, d, wide, values(m, l, "mlp.c_fc.weight"),
            biases(m, l, "mlp.c_fc.bias"));
    for (int i = 0; i < n * wide; i++) fc[i] = gelu(fc[i], m->spec.erf);
    product(out, fc, n, wide, d, values(m, l, "mlp.c_proj.weight"),
            biases(m, l, "mlp.c_proj.bias"));
    for (int i = 0; i < n * d; i++) out[i] += y[i];
    free(x);
    free(qkv);
    free(z);
    free(y);
    free(fc);
}

struct case_pass case_forward(struct case_model *m, const int32_t *ids, int n)
{
    const struct case_spec *s = &m->spec;
    const float *wte = case_tensor(m, "wte.weight")->v,
                *wpe = case_tensor(m, "wpe.weight")->v;
    const float *head = s->tied ? wte : case_tensor(m, "lm_head.weight")->v;
    struct case_pass p = {room_for((s->n_layer + 1) * n, s->d), room_for(n, s->vocab)};
    size_t all = (size_t)n * (size_t)s->d;
    for (int i = 0; i < n; i++)
        for (int a = 0; a < s->d; a++)
            p.h[i * s->d + a] =
                (double)wte[ids[i] * s->d + a] + (double)wpe[i * s->d + a];
    for (int l = 0; l < s->n_layer; l++)
        forward_block(m, l, p.h + (size_t)(l + 1) * all, p.h + (size_t)l * all, n);
    double *x = room_for(n, s->d);
    norm(x, p.h + (size_t)s->n_layer * all, n, s->d, case_tensor(m, "ln_f.weight")->v,
         s->bias ? case_tensor(m, "ln_f.bias")->v : NULL);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < s->vocab; t++)
            for (int a = 0; a < s->d; a++)
                p.logits[i * s->vocab + t] +=
                    x[i * s->d + a] * (double)head[t * s->d + a];
    free(x);
    return p;
}
