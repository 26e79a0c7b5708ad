/* Compares two PNG files pixel by pixel.
 *
 *   image_diff FOUND GOLDEN TOLERANCE SHARE DIFFERENCE
 *
 * A pixel differs where a channel is more than TOLERANCE apart; up to SHARE of all pixels
 * may. Over that, or with other sizes, it ends with 1 and writes DIFFERENCE: the golden
 * picture in grey, what differs in orange. */
#include "paper.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PIXELS = 1 << 24, CHANNELS = 4 };

static bool differs(const uint8_t *a, const uint8_t *b, int tolerance)
{
    for (int c = 0; c < CHANNELS; c++)
        if (abs((int)a[c] - (int)b[c]) > tolerance) return true;
    return false;
}

/* Marks b's pixels and counts those that differ. */
static long compare(const uint8_t *a, uint8_t *b, long n, int tolerance)
{
    long bad = 0;
    for (long i = 0; i < n; i++) {
        uint8_t *p = b + i * CHANNELS;
        bool bad_pixel = differs(a + i * CHANNELS, p, tolerance);
        int grey = 128 + (p[0] + p[1] + p[2]) / 6;
        bad += bad_pixel;
        p[0] = bad_pixel ? 230 : (uint8_t)grey;
        p[1] = bad_pixel ? 90 : (uint8_t)grey;
        p[2] = bad_pixel ? 0 : (uint8_t)grey;
    }
    return bad;
}

int main(int argc, char **argv)
{
    struct arena mem;
    struct err e = {0};
    uint8_t *found = NULL;
    uint8_t *golden = NULL;
    int w[2] = {0};
    int h[2] = {0};
    int code = 1;
    if (argc != 6) return 2;
    if (!arena_init(&mem, (size_t)3 * MAX_PIXELS * CHANNELS, &e) ||
        !paper_png_read(argv[1], &mem, MAX_PIXELS, &found, &w[0], &h[0], &e) ||
        !paper_png_read(argv[2], &mem, MAX_PIXELS, &golden, &w[1], &h[1], &e)) {
        (void)fprintf(stderr, "image_diff: %s\n", e.text);
    } else if (w[0] != w[1] || h[0] != h[1]) {
        (void)fprintf(stderr, "%s: %dx%d, golden %dx%d\n", argv[1], w[0], h[0], w[1],
                      h[1]);
    } else {
        long n = (long)w[0] * h[0];
        long bad = compare(found, golden, n, (int)strtol(argv[3], NULL, 10));
        code = (double)bad <= strtod(argv[4], NULL) * (double)n ? 0 : 1;
        printf("%s: %ld of %ld pixels differ\n", argv[1], bad, n);
        if (code && !paper_png_write(argv[5], golden, w[0], h[0], &e))
            (void)fprintf(stderr, "image_diff: %s\n", e.text);
        if (code) (void)fprintf(stderr, "the difference is in %s\n", argv[5]);
    }
    arena_free(&mem);
    return code;
}
