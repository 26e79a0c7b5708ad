/* PyTorch: a process of its own, which reads the problem from a file that both have mapped,
 * leaves y there, and computes the block once for every line it is sent. The time is ours,
 * from the line to the answer. */
#include "bench_peers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_MOST = 1024 /* it holds all heads' scores */ };

struct peer {
    struct bench_child *child;
    char path[64];
    int n;
};

static void torch_run(void *arg)
{
    const struct peer *o = arg;
    char line[64];
    if (fprintf(o->child->to, "%s %d\n", o->path, o->n) > 0 &&
        fflush(o->child->to) == 0 && fgets(line, sizeof line, o->child->from))
        return;
    (void)fputs("headlight-bench: PyTorch gave no answer\n", stderr);
    exit(1);
}

static float *append(float *to, const float *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
    return to + n;
}

/* The problem in a new file: x, h, W_qkv, b_qkv, W_O, b_O and, after it, room for y, which
 * is returned. NULL: no file. */
static float *share(struct peer *o, const struct bench_problem *p)
{
    size_t w = (size_t)p->d.d_model, nw = (size_t)p->d.n_tok * w;
    size_t bytes = (3 * nw + 4 * w * w + 4 * w) * sizeof(float);
    (void)snprintf(o->path, sizeof o->path, P_tmpdir "/headlight-bench-XXXXXX");
    int fd = mkstemp(o->path);
    if (fd < 0) return NULL;
    float *to = MAP_FAILED;
    if (ftruncate(fd, (off_t)bytes) == 0)
        to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (to == MAP_FAILED) return NULL;
    to = append(append(to, p->io.x.data, nw), p->io.h.data, nw);
    to = append(append(to, p->w.w_qkv.data, 3 * w * w), p->w.b_qkv, 3 * w);
    return append(append(to, p->w.w_o.data, w * w), p->w.b_o, w);
}

/* The process that uses so many threads: one for all problems, until another number is
 * wanted or this program ends. NULL: there is no PyTorch. */
static struct bench_child *with_threads(int threads)
{
    static struct bench_child child;
    static int has;
    static char name[256];
    char mode[] = "block", text[16];
    (void)snprintf(text, sizeof text, "%d", threads);
    if (has == threads) return &child;
    if (has > 0) {
        (void)fclose(child.to);
        (void)fclose(child.from);
        (void)waitpid(child.pid, NULL, 0);
    }
    has = bench_torch_start(&child, name, mode, text, NULL) ? threads : 0;
    return has ? &child : NULL;
}

int bench_torch(struct bench_run *runs, const struct bench_problem *p, double flops)
{
    struct peer *o = bench_alloc(sizeof *o);
    *o = (struct peer){.n = p->d.n_tok};
    if (o->n > N_MOST || !(o->child = with_threads(p->threads))) return 0;
    runs[0] = (struct bench_run){.name = "PyTorch",
                                 .run = torch_run,
                                 .arg = o,
                                 .flops = flops,
                                 .out = share(o, p)};
    if (runs[0].out) torch_run(o); /* now it has the file mapped */
    (void)unlink(o->path);
    return runs[0].out ? 1 : 0;
}
