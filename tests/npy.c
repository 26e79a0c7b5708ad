/* Test-side readers of .npy and safetensors. */
#include "npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tensor_free(struct tensor *t)
{
    free(t->f64);
    free(t->f32);
    *t = (struct tensor){0};
}

/* "(11, 48)" or "[11,48]": text stands behind the bracket. */
static bool read_shape(struct tensor *t, const char *text)
{
    t->n = 1;
    for (t->rank = 0; *text != ')' && *text != ']'; t->rank++) {
        char *end = NULL;
        long size = strtol(text, &end, 10);
        if (end == text || size < 1 || size > 1 << 24 || t->rank == 4) return false;
        t->shape[t->rank] = (int)size;
        t->n *= (size_t)size;
        text = end + strspn(end, ", ");
    }
    return t->n <= 1U << 26;
}

/* The elements from where f stands. */
static bool read_elements(struct tensor *t, FILE *f, bool wide)
{
    t->f64 = malloc(t->n * sizeof *t->f64);
    t->f32 = malloc(t->n * sizeof *t->f32);
    if (!t->f64 || !t->f32) return false;
    if (wide ? fread(t->f64, 8, t->n, f) != t->n : fread(t->f32, 4, t->n, f) != t->n)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        if (wide)
            t->f32[i] = (float)t->f64[i];
        else
            t->f64[i] = (double)t->f32[i];
    }
    return true;
}

static bool npy_body(struct tensor *t, FILE *f)
{
    unsigned char head[10];
    char text[512] = "";
    if (fread(head, 1, 10, f) != 10 || memcmp(head, "\x93NUMPY\x01", 7) != 0)
        return false;
    size_t n = head[8] + 256U * head[9];
    if (n >= sizeof text || fread(text, 1, n, f) != n) return false;
    const char *shape = strstr(text, "'shape': (");
    bool wide = strstr(text, "'<f8'") != NULL;
    if (!shape || !strstr(text, "'fortran_order': False")) return false;
    if (!wide && !strstr(text, "'<f4'")) return false;
    return read_shape(t, shape + strlen("'shape': (")) && read_elements(t, f, wide);
}

static bool safetensors_body(struct tensor *t, FILE *f, const char *name, char *text,
                             size_t n)
{
    if (fread(text, 1, n, f) != n) return false;
    text[n] = '\0';
    char key[128];
    (void)snprintf(key, sizeof key, "\"%s\":{", name);
    const char *entry = strstr(text, key);
    const char *shape = entry ? strstr(entry, "\"shape\":[") : NULL;
    const char *offsets = entry ? strstr(entry, "\"data_offsets\":[") : NULL;
    const char *type = entry ? strstr(entry, "\"dtype\":\"F") : NULL;
    if (!shape || !offsets || !type) return false;
    bool wide = strncmp(type + strlen("\"dtype\":\"F"), "64", 2) == 0;
    long first = strtol(offsets + strlen("\"data_offsets\":["), NULL, 10);
    return read_shape(t, shape + strlen("\"shape\":[")) && first >= 0 &&
           fseek(f, first, SEEK_CUR) == 0 && read_elements(t, f, wide);
}

bool npy_read(struct tensor *t, const char *path)
{
    *t = (struct tensor){0};
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    bool good = npy_body(t, f);
    (void)fclose(f);
    if (!good) tensor_free(t);
    return good;
}

bool safetensors_read(struct tensor *t, const char *path, const char *name)
{
    *t = (struct tensor){0};
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    uint64_t n = 0;
    bool good = fread(&n, 8, 1, f) == 1 && n > 0 && n < 1U << 20;
    char *text = good ? malloc(n + 1) : NULL;
    good = text && safetensors_body(t, f, name, text, n);
    free(text);
    (void)fclose(f);
    if (!good) tensor_free(t);
    return good;
}

const double *tensor_f64(const struct tensor *t, int index)
{
    struct attn_cmat m = tensor_mat(t, index);
    return t->f64 + (m.data - t->f32);
}

struct attn_cmat tensor_mat(const struct tensor *t, int index)
{
    int cols = t->shape[t->rank - 1];
    int rows = t->rank > 1 ? t->shape[t->rank - 2] : 1;
    return (struct attn_cmat){t->f32 + (size_t)index * rows * cols, rows, cols, cols};
}

static bool is_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) (void)fclose(f);
    return f != NULL;
}

bool data_path(char *out, size_t room, const char *rel)
{
    const char *roots[] = {getenv("HEADLIGHT_TEST_DATA"), DATA_DIR};
    for (int i = 0; i < 2; i++) {
        if (!roots[i]) continue;
        int n = snprintf(out, room, "%s/%s", roots[i], rel);
        if (n > 0 && (size_t)n < room && is_file(out)) return true;
    }
    return false;
}
