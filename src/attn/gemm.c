/* C = A * B for whole matrices: cuts them into (panel of columns, block of rows), packs
 * what is not packed yet, and leaves the sums to the kernel. */
#include "kernels.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 96,          /* of C in one task, or nearly */
    ROWS_TO_PACK = 192, /* where the task packs its panel first */
    PANEL_K = 1024      /* terms at a time: 256 KiB of a panel stay in the second cache */
};

/* Blocks are even, lest the last one be a few rows for which a panel passes. Where panels
 * are long a task has fewer rows, which stay in cache with it. Where B is packed as it is
 * used, a task takes all rows of a panel if that leaves tasks enough, so that the panel is
 * packed once. */
static int rows_a_task(const struct attn_ctx *c, const struct attn_product *p,
                       int n_panel)
{
    int rows = p->c.rows, most = p->a.cols > PANEL_K ? ROWS / 2 : ROWS;
    if (!p->panels) return n_panel >= 4 * attn_pool_size(c->pool) ? rows : ROWS_TO_PACK;
    int n = attn_max(1, (rows + most / 2) / most);
    return attn_round_up((rows + n - 1) / n, c->k->mr);
}

void attn_pack_panel(float *panel, int width, struct attn_cmat b, bool transposed, int k0,
                     int k, int n0, int n)
{
    for (int kk = 0; kk < k; kk++) {
        float *to = panel + (size_t)kk * width;
        if (transposed) {
            const float *from = b.data + (size_t)n0 * b.ld + k0 + kk;
            for (int j = 0; j < n; j++) to[j] = from[(size_t)j * b.ld];
        } else {
            memcpy(to, b.data + (size_t)(k0 + kk) * b.ld + n0, (size_t)n * sizeof *to);
        }
        for (int j = n; j < width; j++) to[j] = 0.0f;
    }
}

size_t attn_panel_floats(const struct attn_kernels *k, int rows, int cols)
{
    return (size_t)rows * attn_round_up(cols, k->vec);
}

void attn_pack_all(const struct attn_kernels *k, float *to, struct attn_cmat b)
{
    for (int n0 = 0; n0 < b.cols; n0 += k->nr) {
        int n = attn_min(k->nr, b.cols - n0);
        attn_pack_panel(to + (size_t)b.rows * n0, attn_round_up(n, k->vec), b, false, 0,
                        b.rows, n0, n);
    }
}

void attn_unpack_all(const struct attn_kernels *k, struct attn_mat b, const float *from)
{
    for (int n0 = 0; n0 < b.cols; n0 += k->nr) {
        int n = attn_min(k->nr, b.cols - n0), width = attn_round_up(n, k->vec);
        const float *panel = from + (size_t)b.rows * n0;
        for (int i = 0; i < b.rows; i++)
            memcpy(b.data + (size_t)i * b.ld + n0, panel + (size_t)i * width,
                   (size_t)n * sizeof *panel);
    }
}

float *attn_aligned(void *mem)
{
    uintptr_t off = (uintptr_t)mem % ATTN_ALIGN;
    return (float *)(void *)((char *)mem + (off ? ATTN_ALIGN - off : 0));
}

struct product_job {
    const struct attn_kernels *k;
    const struct attn_product *p;
    int n_row, n_block, n_panel; /* rows a task; blocks of them; panels */
};

/* Where task t's part of C begins. A panel stays in the second cache while tasks go
 * through the rows, which are fetched a tile ahead. One that is too long for that is read
 * in pieces, and tasks go through the panels with one block of rows. */
static void part_at(const struct product_job *job, int t, int *m0, int *n0)
{
    bool rows_first = job->p->a.cols <= PANEL_K;
    *m0 = (rows_first ? t % job->n_block : t / job->n_panel) * job->n_row;
    *n0 = (rows_first ? t / job->n_block : t % job->n_panel) * job->k->nr;
}

/* Lets task t's g fetch what follows: the rest of its panel, the next tile's rows, or the
 * next task's panel. k1: terms done with it. */
static void fetch_next(const struct product_job *job, struct attn_gemm *g, int t, int k1)
{
    const struct attn_product *p = job->p;
    int m0, n0, m1, n1;
    part_at(job, t, &m0, &n0);
    part_at(job, t + 1, &m1, &n1);
    if (k1 < p->a.cols) {
        g->next = g->b + (size_t)g->k * g->ldb;
        g->n_next = (size_t)attn_min(PANEL_K, p->a.cols - k1) * g->ldb;
    } else if (t + 1 == job->n_block * job->n_panel) {
        return;
    } else if (n1 == n0) {
        g->next = g->a + (size_t)job->k->mr * g->lda;
        g->n_next = (size_t)attn_min(g->m, p->a.rows - m0 - job->k->mr) * g->lda;
    } else {
        int width = attn_round_up(attn_min(job->k->nr, p->c.cols - n1), job->k->vec);
        g->next = p->panels + (size_t)p->a.cols * n1;
        g->n_next = (size_t)attn_min(PANEL_K, p->a.cols) * width;
    }
}

static void product_task(const void *arg, int t)
{
    const struct product_job *job = arg;
    const struct attn_kernels *ks = job->k;
    const struct attn_product *p = job->p;
    _Alignas(ATTN_ALIGN) float panel[ATTN_K_BLOCK * ATTN_NR_MAX]; /* or spare */
    int m0, n0;
    part_at(job, t, &m0, &n0);
    int m1 = attn_min(m0 + job->n_row, p->c.rows), n = attn_min(ks->nr, p->c.cols - n0);
    struct attn_mat part = {panel, m1 - m0, n, ATTN_NR_MAX};
    if (p->place)
        part = p->place(p->arg, part, m0, n0);
    else
        part =
            (struct attn_mat){p->c.data + (size_t)m0 * p->c.ld + n0, m1 - m0, n, p->c.ld};
    int width = attn_round_up(n, ks->vec);
    int step = p->panels ? PANEL_K : ATTN_K_BLOCK;
    for (int k0 = 0; k0 < p->a.cols; k0 += step) {
        int k = attn_min(step, p->a.cols - k0);
        /* Causal rows above see none of this block. */
        int r0 = p->causal ? attn_max(m0, k0) : m0;
        if (r0 >= m1) break;
        bool last = k0 + k == p->a.cols;
        if (!p->panels)
            attn_pack_panel(panel, width, p->b, p->b_transposed, k0, k, n0, n);
        struct attn_gemm g = {
            .c = part.data + (size_t)(r0 - m0) * part.ld,
            .ldc = part.ld,
            .a = p->a.data + (size_t)r0 * p->a.ld + k0,
            .lda = p->a.ld,
            .b = p->panels ? p->panels + (size_t)p->a.cols * n0 + (size_t)k0 * width
                           : panel,
            .ldb = width,
            .m = m1 - r0,
            .n = n,
            .k = k,
            .diag = p->causal ? r0 - k0 : ATTN_DENSE,
            .edge = ATTN_DENSE,
            .add = k0 > 0,
        };
        if (p->panels) fetch_next(job, &g, t, k0 + k);
        g.gelu = last && p->gelu;
        if (last && p->bias) g.bias = p->bias + n0;
        if (last && p->res.data) {
            g.res = p->res.data + (size_t)r0 * p->res.ld + n0;
            g.ldr = p->res.ld;
        }
        ks->gemm(&g);
    }
    if (p->then) p->then(p->arg, attn_const(part), m0, n0);
}

void attn_multiply(const struct attn_ctx *c, const struct attn_product *p)
{
    int n_panel = (p->c.cols + c->k->nr - 1) / c->k->nr;
    struct product_job job = {.k = c->k, .p = p, .n_panel = n_panel};
    job.n_row = rows_a_task(c, p, n_panel);
    job.n_block = (p->c.rows + job.n_row - 1) / job.n_row;
    attn_parallel(c, job.n_block * n_panel, true, product_task, &job);
}

/* ---- a linear layer of its own --------------------------------------------------------- */

size_t attn_linear_bytes(const struct attn_kernels *k, int rows, int cols)
{
    if (rows < 1 || cols < 1 || cols > INT32_MAX - ATTN_NR_MAX) return 0;
    size_t wide = (size_t)attn_round_up(cols, k->vec);
    if (wide > (SIZE_MAX - ATTN_ALIGN) / sizeof(float) / (size_t)rows) return 0;
    return attn_panel_floats(k, rows, cols) * sizeof(float) + ATTN_ALIGN;
}

enum attn_status attn_linear_pack(const struct attn_kernels *k, struct attn_linear *out,
                                  struct attn_cmat w, const float *bias, void *mem,
                                  size_t bytes)
{
    size_t need = attn_linear_bytes(k, w.rows, w.cols);
    if (need == 0 || !attn_mat_is(w, w.rows, w.cols)) return ATTN_BAD_SHAPE;
    if (!mem || bytes < need) return ATTN_NO_ROOM;
    float *panels = attn_aligned(mem);
    attn_pack_all(k, panels, w);
    *out = (struct attn_linear){k, panels, bias, w.rows, w.cols};
    return ATTN_OK;
}

static void gelu_erf_row(const void *arg, int i)
{
    const struct attn_mat *y = arg;
    float *row = y->data + (size_t)i * y->ld;
    for (int a = 0; a < y->cols; a++)
        row[a] = 0.5f * row[a] * (1.0f + erff(row[a] * 0.70710678f)); /* sqrt(1/2) */
}

enum attn_status attn_linear_apply(const struct attn_ctx *c, struct attn_mat y,
                                   struct attn_cmat x, const struct attn_linear *w,
                                   enum attn_act act, struct attn_cmat res)
{
    if ((unsigned)act > ATTN_GELU_ERF) return ATTN_BAD_OPTS;
    if (w->k != c->k || !attn_mat_is(x, y.rows, w->rows) ||
        !attn_mat_is(attn_const(y), y.rows, w->cols) ||
        (res.data && (act != ATTN_IDENTITY || !attn_mat_is(res, y.rows, w->cols))))
        return ATTN_BAD_SHAPE;
    attn_multiply(c, &(struct attn_product){.c = y,
                                            .a = x,
                                            .panels = w->panels,
                                            .gelu = act == ATTN_GELU,
                                            .bias = w->bias,
                                            .res = res});
    if (act == ATTN_GELU_ERF) attn_parallel(c, y.rows, true, gelu_erf_row, &y);
    return ATTN_OK;
}

enum attn_status attn_linear_column(const struct attn_linear *w, float *out, int col)
{
    if (col < 0 || col >= w->cols) return ATTN_BAD_SHAPE;
    int n0 = col - col % w->k->nr;
    int width = attn_round_up(attn_min(w->k->nr, w->cols - n0), w->k->vec);
    const float *from = w->panels + (size_t)w->rows * n0 + (col - n0);
    for (int i = 0; i < w->rows; i++) out[i] = from[(size_t)i * width];
    return ATTN_OK;
}
