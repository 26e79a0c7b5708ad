/* Files for the fuzz targets, and what is done with a model once it is open. */
#include "fuzz.h"

#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = {
        "model.safetensors", "config.json",    "model.bin", "vocab.json",
        "merges.txt",        "tokenizer.json", "array.npy", "array.npz"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) fuzz_remove(names[i]);
    (void)rmdir(folder);
}

const char *fuzz_folder(void)
{
    if (folder[0]) return folder;
    struct stat st;
    const char *root = stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/headlight_fuzz_XXXXXX", root);
    if (!mkdtemp(folder)) abort();
    (void)atexit(remove_folder);
    return folder;
}

const char *fuzz_path(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    return path;
}

void fuzz_write(const char *name, const uint8_t *data, size_t n)
{
    FILE *f = fopen(fuzz_path(name), "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) abort();
}

void fuzz_remove(const char *name)
{
    (void)unlink(fuzz_path(name));
}

struct fuzz_part fuzz_next(const uint8_t **data, size_t *n)
{
    size_t len = *n >= 2 ? (size_t)((*data)[0] | (*data)[1] << 8) : 0;
    size_t head = *n >= 2 ? 2 : *n;
    if (len > *n - head) len = *n - head;
    struct fuzz_part part = {*data + head, len};
    *data += head + len;
    *n -= head + len;
    return part;
}

static void check_error(const struct err *e)
{
    bool known = e->code == ERR_INPUT || e->code == ERR_SYSTEM;
    if (!known || e->text[0] == '\0' || strchr(e->text, '\n')) abort();
}

static void run(struct model_net *m, const struct attn_ctx *c)
{
    const struct model_info *info = model_net_info(m);
    const int32_t ids[] = {0, info->n_vocab - 1};
    struct err e = {0};
    struct arena mem = {0};
    struct model view;
    float *logits = malloc((size_t)info->n_vocab * sizeof *logits);
    bool ok = logits && model_net_feed(m, ids, info->n_ctx < 2 ? 1 : 2, &e) &&
              model_net_run(m, info->n_layer, c, &e) &&
              model_net_logits(m, logits, 0, c, &e) &&
              arena_init(&mem, model_net_view_bytes(m), &e) &&
              model_net_view(m, &view, 0, &mem, c, &e);
    if (!ok && logits) check_error(&e);
    arena_free(&mem);
    free(logits);
}

void fuzz_model(const char *path)
{
    struct attn_ctx c = {.k = attn_kernels_get("ref")};
    struct model_net *m = NULL;
    struct err e = {0};
    if (!model_net_open(&m, path, c.k, 1 << 20, &e)) {
        check_error(&e);
        return;
    }
    const struct model_info *info = model_net_info(m);
    if (info->d_model <= 64 && info->d_mlp <= 256 && info->n_vocab <= 4096 &&
        info->n_layer <= 8)
        run(m, &c);
    model_net_close(m);
}
