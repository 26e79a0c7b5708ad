/* oneDNN was not found when this was built. */
#include "bench_peers.h"

#include <stdio.h>

int bench_onednn(struct bench_run *runs, const struct bench_problem *p, double flops)
{
    (void)runs;
    (void)p;
    (void)flops;
    (void)fputs("headlight-bench: built without oneDNN\n", stderr);
    return 0;
}
