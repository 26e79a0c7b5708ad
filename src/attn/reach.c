/* How far a head's values reach: what each source would add to the output at weight 1. */
#include "kernels.h"

#include <math.h>

struct reach_job {
    float *reach;
    struct attn_cmat y;
};

static void reach_row(const void *arg, int j)
{
    const struct reach_job *job = arg;
    const float *row = job->y.data + (size_t)j * job->y.ld;
    double sum = 0.0;
    for (int a = 0; a < job->y.cols; a++) sum += (double)row[a] * (double)row[a];
    job->reach[j] = (float)sqrt(sum);
}

enum attn_status attn_reach(const struct attn_ctx *c, float *reach, struct attn_mat work,
                            struct attn_cmat v, struct attn_cmat w_o)
{
    enum attn_status s =
        attn_output(c, work, v, w_o, NULL, (struct attn_cmat){NULL, 0, 0, 0});
    struct reach_job job = {reach, attn_const(work)};
    if (s == ATTN_OK) attn_parallel(c, work.rows, true, reach_row, &job);
    return s;
}
