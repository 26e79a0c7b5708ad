/* Matrices as textures, with levels of detail that keep the largest magnitude. */
#ifndef HEADLIGHT_GFX_HEAT_H
#define HEADLIGHT_GFX_HEAT_H

#include "attn.h"
#include "base.h"

#include <epoxy/gl.h>

enum {
    HEAT_KEPT = 2048,
    HEAT_LEVELS = 16,
    HEAT_BYTES = 256 << 20,
    HEAT_LARGE = 1 << 20, /* bytes of a texture that is filled again where possible */
    HEAT_ALIKE = 4,       /* so many of a size are kept in any case */
    HEAT_ROUND = 128      /* a large one's sides are multiples of it */
};

/* One R32F texture: the matrix at (0, 0), its levels below one another at (cols, y). A
 * texel of level l stands for 2^l x 2^l cells and holds the one that comes first: NaN,
 * then infinities, then the largest magnitude. */
struct heat_texture {
    uint64_t key; /* 0: not kept */
    GLuint id;
    int rows, cols; /* of the matrix */
    int w, h;       /* texels, as many at least */
    int n_level;    /* 0 among them */
    int level_y[HEAT_LEVELS];
    size_t bytes;
    uint64_t used; /* when last drawn */
};

struct heat_cache {
    struct heat_texture kept[HEAT_KEPT];
    int n;
    size_t bytes;
    uint64_t clock, frame, before; /* when this frame began, and the one before */
    struct arena work;             /* where levels are worked out */
    int max_size;                  /* of a texture */
};

void heat_cache_init(struct heat_cache *c);
void heat_cache_fini(struct heat_cache *c);

/* A frame begins. */
void heat_cache_frame(struct heat_cache *c);

/* The texture of m, from the cache where key says that the numbers are the same. key 0:
 * made anew; the caller gives it back with heat_release. ERR_SYSTEM: m is larger than a
 * texture can be, or memory ran out. */
bool heat_acquire(struct heat_cache *c, struct attn_cmat m, uint64_t key,
                  struct heat_texture *out, struct err *e);
void heat_release(struct heat_texture *t); /* does nothing to a kept one */

/* Levels of m into `out`, from level 1 on: level l has ceil(rows / 2^l) rows of
 * ceil(cols / 2^l), in lines of ceil(cols / 2) floats. Returns how many rows that makes;
 * level_y[l] is the row where level l begins, *n_level counts level 0 too. */
int heat_levels(float *out, struct attn_cmat m, int level_y[HEAT_LEVELS], int *n_level);

#endif
