/* Which kernel sets were compiled in, which of them this CPU runs, and which one is
 * meant by a name. Decided by feature bits alone. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

static bool always(void)
{
    return true;
}

static const struct {
    const struct attn_kernels *set;
    bool (*runs)(void);
} sets[] = {
    /* best first */
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
    if (!name) name = getenv("HEADLIGHT_KERNELS");
    if (!name || !*name) return attn_kernels_at(0);
    const struct attn_kernels *k = attn_kernels_at(0);
    for (int i = 0; k && strcmp(k->name, name) != 0; i++) k = attn_kernels_at(i);
    return k;
}

const char *attn_kernels_name(const struct attn_kernels *k)
{
    return k->name;
}
