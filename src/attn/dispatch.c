/* Which kernel sets were compiled in, which of them this CPU runs, and which one is
 * meant by a name. Decided by feature bits alone. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#ifdef ATTN_X86 /* set by CMake, which also chooses the files */
/* These look at CPUID and at whether the system saves the registers. */
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static bool always(void)
{
    return true;
}

static const struct {
    const struct attn_kernels *set;
    bool (*runs)(void);
} sets[] = {
/* best first */
#ifdef ATTN_X86
    {&attn_kernels_avx512, has_avx512},
    {&attn_kernels_avx2, has_avx2},
#endif
#ifdef ATTN_NEON /* part of every AArch64 */
    {&attn_kernels_neon, always},
#endif
    {&attn_kernels_ref, always},
};

const struct attn_kernels *attn_kernels_at(int i)
{
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        if (sets[s].runs() && i-- == 0) return sets[s].set;
    return NULL;
}

const struct attn_kernels *attn_kernels_get(const char *name)
{
    if (!name) {
        name = getenv("HEADLIGHT_KERNELS");
        if (!name || !*name) return attn_kernels_at(0);
    }
    const struct attn_kernels *k = attn_kernels_at(0);
    for (int i = 0; k && strcmp(k->name, name) != 0; i++) k = attn_kernels_at(i);
    return k;
}

const char *attn_kernels_name(const struct attn_kernels *k)
{
    return k->name;
}
