/* Names of matrices and cells. */
#include "names.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const names_tensor[ATTN_TENSOR_COUNT] = {
    [ATTN_H] = "h",
    [ATTN_X] = "x",
    [ATTN_W_Q] = "w_q",
    [ATTN_W_K] = "w_k",
    [ATTN_W_V] = "w_v",
    [ATTN_Q] = "q",
    [ATTN_K] = "k",
    [ATTN_V] = "v",
    [ATTN_S_RAW] = "s_raw",
    [ATTN_S_SCALED] = "s_scaled",
    [ATTN_S_MASKED] = "s_masked",
    [ATTN_P] = "p",
    [ATTN_Z] = "z",
    [ATTN_Z_ALL] = "z_all",
    [ATTN_W_O] = "w_o",
    [ATTN_Y_PROJ] = "y_proj",
    [ATTN_Y] = "y",
};

bool names_find_tensor(const char *name, size_t n, enum attn_tensor *t)
{
    for (int i = 0; i < ATTN_TENSOR_COUNT; i++) {
        if (strlen(names_tensor[i]) != n ||
            SDL_strncasecmp(names_tensor[i], name, n) != 0)
            continue;
        *t = (enum attn_tensor)i;
        return true;
    }
    return false;
}

void names_print_cell(char *out, size_t room, struct step_ref r)
{
    if (r.tensor == ATTN_TENSOR_COUNT)
        (void)snprintf(out, room, "none");
    else
        (void)snprintf(out, room, "%s:%d:%d", names_tensor[r.tensor], r.row + 1,
                       r.col + 1);
}

/* ":12" at *text, which moves on. */
static bool part(const char **text, int *out)
{
    enum { DIGITS = 7 }; /* no matrix has more rows or columns */
    if (**text != ':') return false;
    size_t n = strspn(*text + 1, "0123456789");
    if (n == 0 || n > DIGITS) return false;
    *out = (int)strtol(*text + 1, NULL, 10);
    *text += 1 + n;
    return true;
}

bool names_parse_cell(const char *text, struct step_ref *r)
{
    size_t n = strcspn(text, ":");
    const char *at = text + n;
    struct step_ref cell = {0};
    if (!names_find_tensor(text, n, &cell.tensor) || !part(&at, &cell.row) ||
        !part(&at, &cell.col) || *at != '\0')
        return false;
    cell.row--;
    cell.col--;
    *r = cell;
    return true;
}
