/* Opening a model: which files there are, whether they fit together, and what they are. */
#include "net.h"
#include "strict_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

/* What is found out before there is memory for the net itself. */
struct opening {
    char folder[PATH_ROOM]; /* with a slash at its end, or "" */
    char name[128];
    const char *format;
    struct weights weights;
    struct config config;
};

/* folder/name in out; false: too long, *e says so. */
static bool join(char out[PATH_ROOM], const char *folder, const char *name, struct err *e)
{
    int n = snprintf(out, PATH_ROOM, "%s%s", folder, name);
    if (n >= 0 && n < PATH_ROOM) return true;
    return err_set(e, ERR_INPUT, "the path is longer than %d bytes", PATH_ROOM);
}

/* "a/b/" -> "b"; "." and ".." have no better name. */
static void set_name(struct opening *o, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/') from--;
    if (from == n) from = 0;
    (void)snprintf(o->name, sizeof o->name, "%.*s",
                   (int)(n - from < 127 ? n - from : 127), path + from);
}

static bool open_folder(struct opening *o, const char *path, struct err *e)
{
    char at[PATH_ROOM], one[PATH_ROOM], index[PATH_ROOM], torch[PATH_ROOM];
    size_t n = strlen(path);
    if (!join(o->folder, path, path[n - 1] == '/' ? "" : "/", e) ||
        !join(at, o->folder, "config.json", e) ||
        !join(one, o->folder, "model.safetensors", e) ||
        !join(index, o->folder, "model.safetensors.index.json", e) ||
        !join(torch, o->folder, "pytorch_model.bin", e))
        return false;
    o->format = "safetensors";
    if (file_exists(one)) {
        if (!safetensors_open(&o->weights, one, e)) return false;
    } else if (file_exists(index)) {
        if (!safetensors_open_index(&o->weights, index, e)) return false;
    } else {
        return err_set(
            e, ERR_INPUT, "%s: holds neither model.safetensors nor its index%s", path,
            file_exists(torch) ? "; pytorch_model.bin is not read, save it with "
                                 "save_pretrained(safe_serialization=True)"
                               : "");
    }
    return config_read(&o->config, at, e);
}

/* Whether the first bytes are llm.c's magic number, little-endian. */
static bool is_llmc(const char *path, bool *yes, struct err *e)
{
    static const unsigned char magic[4] = {0xC6, 0xD7, 0x34, 0x01};
    unsigned char got[4] = {0};
    struct file_in f = {0};
    if (!file_open(&f, path, e)) return false;
    bool ok = f.size < 4 || file_read_at(&f, got, 4, 0, e);
    *yes = memcmp(got, magic, 4) == 0;
    file_close(&f);
    return ok ? true : err_at(e, path_last(path));
}

static bool open_file(struct opening *o, const char *path, struct err *e)
{
    char at[PATH_ROOM];
    size_t n = (size_t)(path_last(path) - path), len = strlen(path);
    if (n >= PATH_ROOM)
        return err_set(e, ERR_INPUT, "the path is longer than %d bytes", PATH_ROOM);
    memcpy(o->folder, path, n);
    o->folder[n] = '\0';
    bool llmc = false;
    if (!join(at, o->folder, "config.json", e) || !is_llmc(path, &llmc, e)) return false;
    if (llmc || (len > 4 && strcmp(path + len - 4, ".bin") == 0)) {
        o->format = "llm.c";
        return llmc_open(&o->weights, &o->config, path, e);
    }
    o->format = "safetensors";
    if (!safetensors_open(&o->weights, path, e)) return false;
    return file_exists(at) ? config_read(&o->config, at, e)
                           : config_guess(&o->config, &o->weights, e);
}

/* Net, list of blocks and layout in one arena, which the net then owns. */
static struct model_net *make(const struct opening *o, struct err *e)
{
    struct arena mem = {0};
    size_t n_layer = (size_t)o->config.n_layer;
    size_t bytes = sizeof(struct model_net) + n_layer * sizeof(struct block) +
                   layout_bytes(&o->config) + ROUNDING;
    if (!layout_check(&o->weights, &o->config, e) || !arena_init(&mem, bytes, e))
        return NULL;
    struct model_net *m = arena_push(&mem, 1, sizeof *m);
    struct block *block = m ? arena_push(&mem, n_layer, sizeof *block) : NULL;
    if (!block || !layout_bind(&m->layout, &o->weights, &o->config, &mem, e)) {
        arena_free(&mem);
        return NULL;
    }
    for (size_t l = 0; l < n_layer; l++) block[l].l = -1;
    m->spare.l = -1;
    m->block = block;
    m->weights = o->weights;
    m->mem = mem;
    return m;
}

static void describe(struct model_net *m, const struct opening *o)
{
    struct model_info *info = &m->info;
    layout_info(&m->layout, info);
    (void)snprintf(info->name, sizeof info->name, "%s", o->name);
    (void)snprintf(info->format, sizeof info->format, "%s", o->format);
    for (int i = 0; i < m->weights.n_file; i++)
        info->bytes += m->weights.files[i].in.size;
}

bool model_net_open(struct model_net **out, const char *path,
                    const struct attn_kernels *k, size_t keep_bytes, struct err *e)
{
    *out = NULL;
    if (path[0] == '\0') return err_set(e, ERR_INPUT, "the model's path is empty");
    struct opening o = {0};
    set_name(&o, path);
    bool ok = file_is_folder(path) ? open_folder(&o, path, e) : open_file(&o, path, e);
    struct model_net *m = ok ? make(&o, e) : NULL;
    if (!m) {
        weights_close(&o.weights);
        return false;
    }
    m->k = k;
    m->keep_bytes = keep_bytes;
    describe(m, &o);
    if (!model_bpe_open(&m->bpe, o.folder, m->info.n_vocab, e)) {
        model_net_close(m);
        return false;
    }
    *out = m;
    return true;
}

void model_net_close(struct model_net *m)
{
    if (!m) return;
    for (int l = 0; l < m->info.n_layer; l++) block_free(&m->block[l]);
    block_free(&m->spare);
    head_free(&m->head);
    rows_free(&m->wte);
    rows_free(&m->wpe);
    arena_free(&m->text.mem);
    arena_free(&m->staging);
    model_bpe_close(m->bpe);
    weights_close(&m->weights);
    struct arena mem = m->mem; /* the net lies in it */
    arena_free(&mem);
}

const struct model_info *model_net_info(const struct model_net *m)
{
    return &m->info;
}

const struct model_bpe *model_net_bpe(const struct model_net *m)
{
    return m->bpe;
}

struct model_odd model_net_odd(const struct model_net *m)
{
    return m->odd;
}
