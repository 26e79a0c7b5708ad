/* Levels of detail on the CPU (glGenerateMipmap averages, and takes longer), and the
 * textures that are kept. */
#include "heat.h"

#include "glo.h"

#include <string.h>

void heat_cache_init(struct heat_cache *c)
{
    *c = (struct heat_cache){0};
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &c->max_size);
}

void heat_cache_fini(struct heat_cache *c)
{
    for (int i = 0; i < c->n; i++) glDeleteTextures(1, &c->kept[i].id);
    arena_free(&c->work);
    *c = (struct heat_cache){0};
}

/* Bits of |v|: as integers they order finite magnitudes, then infinity, then NaN. */
static int32_t rank(float v)
{
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffff;
}

static float first_of(float a, float b)
{
    return rank(b) > rank(a) ? b : a;
}

/* One level from the one below: rows x cols at `in`, lines of ld. */
static void halve(float *out, int out_ld, const float *in, int rows, int cols, int ld)
{
    for (int i = 0; i < rows; i += 2) {
        const float *top = in + (ptrdiff_t)i * ld;
        const float *low = i + 1 < rows ? top + ld : top;
        float *to = out + (ptrdiff_t)(i / 2) * out_ld;
        for (ptrdiff_t j = 0; j < cols / 2; j++)
            to[j] = first_of(first_of(top[2 * j], top[2 * j + 1]),
                             first_of(low[2 * j], low[2 * j + 1]));
        if (cols % 2) to[cols / 2] = first_of(top[cols - 1], low[cols - 1]);
    }
}

int heat_levels(float *out, struct attn_cmat m, int level_y[HEAT_LEVELS], int *n_level)
{
    int ld = (m.cols + 1) / 2, y = 0, n = 1;
    const float *in = m.data;
    int rows = m.rows, cols = m.cols, in_ld = m.ld;
    level_y[0] = 0;
    while ((rows > 1 || cols > 1) && n < HEAT_LEVELS) {
        float *to = out + (ptrdiff_t)y * ld;
        halve(to, ld, in, rows, cols, in_ld);
        rows = (rows + 1) / 2;
        cols = (cols + 1) / 2;
        in = to;
        in_ld = ld;
        level_y[n++] = y;
        y += rows;
    }
    *n_level = n;
    return y;
}

/* Rows that heat_levels fills for a matrix of `rows` rows, or a few more. */
static int levels_room(int rows)
{
    return rows + HEAT_LEVELS;
}

static void forget(struct heat_cache *c, int at)
{
    c->bytes -= c->kept[at].bytes;
    c->kept[at] = c->kept[--c->n];
}

void heat_cache_frame(struct heat_cache *c)
{
    c->before = c->frame;
    c->frame = c->clock;
}

/* A large texture that m may have, or 0: of enough that are as large, the one that was
 * drawn longest ago, in neither this frame nor the last. Making one takes ten times as long
 * as filling it. */
static GLuint recycle(struct heat_cache *c, const struct heat_texture *t)
{
    int n = 0;
    int at = 0;
    for (int i = 0; t->key && t->bytes >= HEAT_LARGE && i < c->n; i++) {
        if (c->kept[i].w != t->w || c->kept[i].h != t->h) continue;
        if (n == 0 || c->kept[i].used < c->kept[at].used) at = i;
        n++;
    }
    if (n < HEAT_ALIKE || c->kept[at].used > c->before) return 0;
    GLuint id = c->kept[at].id;
    forget(c, at);
    return id;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static size_t bytes_of(const struct heat_texture *t)
{
    return (size_t)t->w * (size_t)t->h * sizeof(float);
}

/* How large the texture is to be. A large one has room for some tokens more, so that a text
 * that is typed finds one to fill again. */
static void size_up(struct heat_texture *t, int w, int h, int max_size)
{
    t->w = w;
    t->h = h;
    if (bytes_of(t) >= HEAT_LARGE) {
        t->w = min_int((w + HEAT_ROUND - 1) / HEAT_ROUND * HEAT_ROUND, max_size);
        t->h = min_int((h + HEAT_ROUND - 1) / HEAT_ROUND * HEAT_ROUND, max_size);
    }
    t->bytes = bytes_of(t);
}

static bool make(struct heat_cache *c, struct attn_cmat m, struct heat_texture *t,
                 struct err *e)
{
    int half = (m.cols + 1) / 2, room = levels_room(m.rows);
    if (m.cols > c->max_size - half || m.rows > c->max_size - HEAT_LEVELS)
        return err_set(e, ERR_SYSTEM,
                       "a matrix of %d x %d is more than this OpenGL can draw", m.rows,
                       m.cols);
    size_t need = (size_t)half * (size_t)room * sizeof(float);
    if (need > c->work.size) {
        arena_free(&c->work);
        if (!arena_init(&c->work, need, e)) return false;
    }
    float *levels = (float *)(void *)c->work.data;
    int rows = heat_levels(levels, m, t->level_y, &t->n_level);
    t->rows = m.rows;
    t->cols = m.cols;
    size_up(t, m.cols + half, m.rows > rows ? m.rows : rows, c->max_size);
    t->id = recycle(c, t);
    if (!t->id) t->id = gl_texture_create(GL_R32F, t->w, t->h, GL_RED, GL_FLOAT, NULL);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, t->id);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, m.ld);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, m.cols, m.rows, GL_RED, GL_FLOAT, m.data);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, half);
    if (rows > 0)
        glTexSubImage2D(GL_TEXTURE_2D, 0, m.cols, 0, half, rows, GL_RED, GL_FLOAT,
                        levels);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    return true;
}

static void drop(struct heat_cache *c, int at)
{
    glDeleteTextures(1, &c->kept[at].id);
    forget(c, at);
}

static int oldest(const struct heat_cache *c)
{
    int at = 0;
    for (int i = 1; i < c->n; i++)
        if (c->kept[i].used < c->kept[at].used) at = i;
    return at;
}

bool heat_acquire(struct heat_cache *c, struct attn_cmat m, uint64_t key,
                  struct heat_texture *out, struct err *e)
{
    c->clock++;
    for (int i = 0; key && i < c->n; i++) {
        if (c->kept[i].key != key || c->kept[i].rows != m.rows ||
            c->kept[i].cols != m.cols)
            continue;
        c->kept[i].used = c->clock;
        *out = c->kept[i];
        return true;
    }
    *out = (struct heat_texture){.key = key, .used = c->clock};
    if (!make(c, m, out, e)) return false;
    if (!key) return true;
    while (c->n > 0 && (c->n == HEAT_KEPT || c->bytes + out->bytes > HEAT_BYTES))
        drop(c, oldest(c));
    c->kept[c->n++] = *out;
    c->bytes += out->bytes;
    return true;
}

void heat_release(struct heat_texture *t)
{
    if (!t->key && t->id) glDeleteTextures(1, &t->id);
    *t = (struct heat_texture){0};
}
