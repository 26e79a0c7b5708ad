/* What is well-formed UTF-8. */
#include "base.h"

size_t utf8_length(const unsigned char *s, size_t n)
{
    static const struct {
        unsigned char first, last, low, high; /* first byte; range of the second */
        unsigned char len;
    } rows[] = {{0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2},
                {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
                {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4},
                {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (s[0] < rows[i].first || s[0] > rows[i].last) continue;
        size_t len = rows[i].len;
        if (len > n) return 0;
        if (len > 1 && (s[1] < rows[i].low || s[1] > rows[i].high)) return 0;
        for (size_t k = 2; k < len; k++)
            if (s[k] < 0x80 || s[k] > 0xBF) return 0;
        return len;
    }
    return 0;
}
