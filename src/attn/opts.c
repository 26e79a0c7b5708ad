/* What the options mean, and rounding to the formats that are narrower than float32. */
#include "kernels.h"

#include <math.h>
#include <string.h>

struct attn_opts attn_opts_default(void)
{
    return (struct attn_opts){.scale = true, .causal = true, .residual = true};
}

float attn_coldness(struct attn_opts o)
{
    return o.temperature > 0.0f ? 1.0f / o.temperature : 1.0f;
}

bool attn_opts_same(struct attn_opts a, struct attn_opts b)
{
    return a.scale == b.scale && a.causal == b.causal && a.residual == b.residual &&
           (!a.causal || a.shifted == b.shifted) && a.no_max == b.no_max &&
           a.no_bias == b.no_bias && a.swapped == b.swapped &&
           (!a.scale || a.divisor == b.divisor) && a.precision == b.precision &&
           attn_coldness(a) == attn_coldness(b) && a.silent == b.silent;
}

enum attn_status attn_opts_check(struct attn_opts o)
{
    bool known = (unsigned)o.divisor < ATTN_DIVISOR_COUNT &&
                 (unsigned)o.precision < ATTN_PRECISION_COUNT;
    bool warm = o.temperature == 0.0f ||
                (o.temperature >= 0x1p-100f && o.temperature <= 0x1p100f);
    return known && warm ? ATTN_OK : ATTN_BAD_OPTS;
}

/* Whether scores become weights and these outputs as the fused path does it. */
bool attn_opts_fused_heads(struct attn_opts o)
{
    return !(o.causal && o.shifted) && !o.no_max &&
           (!o.scale || o.divisor == ATTN_SQRT_D_HEAD) && o.precision == ATTN_FLOAT32 &&
           attn_coldness(o) == 1.0f;
}

bool attn_opts_fused(struct attn_opts o)
{
    return attn_opts_check(o) == ATTN_OK && attn_opts_fused_heads(o) && !o.no_bias &&
           !o.swapped && o.silent == 0;
}

double attn_divisor_of(struct attn_opts o, struct attn_dims d)
{
    if (!o.scale) return 1.0;
    double d_head = (double)attn_d_head(d);
    if (o.divisor == ATTN_D_HEAD) return d_head;
    return sqrt(o.divisor == ATTN_SQRT_D_MODEL ? (double)d.d_model : d_head);
}

float attn_scale_factor(struct attn_opts o, int d_head)
{
    return o.scale ? (float)(1.0 / sqrt((double)d_head)) : 1.0f;
}

int attn_seen(struct attn_opts o, int i, int n)
{
    return o.causal ? attn_min(i + 1 + o.shifted, n) : n;
}

bool attn_is_silent(struct attn_opts o, int head)
{
    return head < ATTN_SILENT_MOST && (o.silent >> head & 1) != 0;
}

/* ---- rounding ----------------------------------------------------------------------- */

static uint32_t bits_of(float v)
{
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static float float_of(uint32_t b)
{
    float v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* Drops the last n bits of the significand, to nearest, ties to even; a carry runs into
 * the exponent, as it should. v is finite. */
static float without_bits(float v, int n)
{
    uint32_t b = bits_of(v), odd = b >> n & 1;
    b += ((uint32_t)1 << (n - 1)) - 1 + odd;
    return float_of(b & ~(((uint32_t)1 << n) - 1));
}

/* IEEE 754 binary16: 11 bits of significand, 2^-24 the least there is, 65504 the most. */
static float as_float16(float v)
{
    float size = fabsf(v);
    if (size < 0x1p-14f) /* a multiple of 2^-24, which is the last place of 0.5 to 1 */
        return copysignf((size + 0.5f) - 0.5f, v);
    if (size >= 65520.0f) return copysignf(INFINITY, v);
    return without_bits(v, 13);
}

float attn_rounded(float v, enum attn_precision p)
{
    if (p == ATTN_FLOAT32 || !isfinite(v)) return v;
    return p == ATTN_BFLOAT16 ? without_bits(v, 16) : as_float16(v);
}

void attn_round_floats(const struct attn_kernels *k, float *v, int n,
                       enum attn_precision p)
{
    if (p != ATTN_FLOAT32) k->round(v, n, p);
}
