/* The attn library on its own: one causal block of four tokens, two heads of width 4.
 *   cc example.c $(pkg-config --cflags --libs attn) */
#include <attn.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { N = 4, D = 8, H = 2 };
    const struct attn_dims d = {.n_tok = N, .d_model = D, .n_head = H};
    float h[N * D], x[N * D], w_qkv[D * 3 * D], w_o[D * D];
    for (int i = 0; i < N * D; i++) h[i] = (float)(i * 7 % 11) - 5.0f;
    for (int i = 0; i < D * 3 * D; i++) w_qkv[i] = (float)(i * 5 % 13) * 0.1f - 0.6f;
    for (int i = 0; i < D * D; i++) w_o[i] = (float)(i * 3 % 7) * 0.1f - 0.3f;

    struct attn_ctx c = {.k = attn_kernels_get(NULL)}; /* the best set of this CPU */
    struct attn_weights w = {.w_qkv = {w_qkv, D, 3 * D, 3 * D}, .w_o = {w_o, D, D, D}};
    struct attn_cmat hv = {h, N, D, D}, xv = {x, N, D, D};
    size_t bytes = attn_trace_bytes(d);
    void *mem = malloc(bytes);
    struct attn_trace t;
    if (!c.k ||
        attn_layer_norm(&c, (struct attn_mat){x, N, D, D}, hv, NULL, NULL, 1e-5f) ||
        attn_trace_init(&t, d, mem, bytes) ||
        attn_run(&c, &t, xv, hv, &w, attn_opts_default(), 0))
        return 1;

    struct attn_cmat p = attn_trace_view(&t, ATTN_P, 0); /* head 0's weights */
    for (int i = 0; i < p.rows; i++, putchar('\n'))
        for (int j = 0; j < p.cols; j++) printf("%6.3f", (double)p.data[i * p.ld + j]);
    free(mem);
    return 0;
}
