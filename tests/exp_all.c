/* The kernels' exp against libm's in double, over every float32 there is or every STEP-th:
 *   exp_all [STEP]
 * One line a kernel set: the worst error in units in the last place and where. Exits with
 * 1 if one is over 1.5, or if a NaN, an infinity, a 0 or a 1 is not what it must be. */
#include "attn.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096 };

static float from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Error in units of the last place of a float32 near want, subnormals' unit being 2^-149. */
static double ulps(float got, double want)
{
    int e;
    frexp(want, &e);
    return fabs((double)got - want) / ldexp(1.0, (e < -125 ? -125 : e) - 24);
}

static double error(float x, float y)
{
    if (isnan(x)) return isnan(y) ? 0.0 : (double)INFINITY;
    if (x < -104.0f) return y == 0.0f ? 0.0 : (double)INFINITY;
    if (x > 89.0f) return y == INFINITY ? 0.0 : (double)INFINITY;
    if (fabsf(x) < 0x1p-26f) return y == 1.0f ? 0.0 : (double)INFINITY;
    double want = exp((double)x);
    if (isinf(y)) /* right where the exact value rounds to infinity */
        return want >= 0x1.ffffffp127 ? 0.0 : (double)INFINITY;
    return ulps(y, want);
}

int main(int argc, char **argv)
{
    static float x[N], y[N];
    const uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int bad = step == 0;
    for (int s = 0; step && attn_kernels_at(s); s++) {
        const struct attn_ctx c = {.k = attn_kernels_at(s)};
        double worst = 0.0;
        float where = 0.0f;
        uint64_t bits = 0;
        while (bits <= UINT32_MAX) {
            int n = 0;
            for (; n < N && bits <= UINT32_MAX; bits += step)
                x[n++] = from_bits((uint32_t)bits);
            attn_exp(&c, y, x, n);
            for (int i = 0; i < n; i++) {
                double e = error(x[i], y[i]);
                if (!(e <= worst)) {
                    worst = e;
                    where = x[i];
                }
            }
        }
        printf("%-7s worst error %.4f ulp at %.9g\n", attn_kernels_name(c.k), worst,
               (double)where);
        if (!(worst <= 1.5)) bad = 1;
    }
    return bad;
}
