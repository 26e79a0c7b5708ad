/* What a tour's text says of the numbers. A reader of prefix notation: each word knows how
 * much follows it. */
#include "tour_words.h"

#include "names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD = 24,    /* bytes of the longest word, and more */
    DEPTH = 8,    /* operators in each other */
    DIGITS = 6,   /* of an index */
    PART = 120,   /* bytes between { and } */
    FILLED = 1000 /* of a text with its numbers */
};

static const char *const where_none = "\u2013";

/* The next word; *at moves behind it. "": there is none. */
static void word(const char **at, char out[WORD])
{
    size_t n = 0;
    *at += strspn(*at, " \t");
    while ((*at)[n] && !strchr(" \t{}", (*at)[n])) n++;
    (void)snprintf(out, WORD, "%.*s", (int)n, *at);
    *at += n;
}

bool tour_ends(const char *at, struct err *e)
{
    at += strspn(at, " \t");
    return *at == '\0' || err_set(e, ERR_INPUT, "%.40s: is too much; leave it out", at);
}

bool tour_matrix(const char **at, enum attn_tensor *t, struct err *e)
{
    char name[WORD];
    word(at, name);
    if (names_find_tensor(name, strlen(name), t)) return true;
    return err_set(e, ERR_INPUT, "%s: is no matrix; name one, such as A, S, Q or h",
                   name[0] ? name : "nothing");
}

/* The matrix as the kernels made it; NULL where it is not there. */
static struct attn_cmat view(const struct tour_world *w, enum attn_tensor t)
{
    if (!w->src || !w->src->fits) return (struct attn_cmat){.data = NULL};
    return scene_tensor_view(w->src, t);
}

/* A row of the matrix, from 1; NULL: there is none. */
static const float *row_of(struct attn_cmat m, int i)
{
    if (!m.data || i < 1 || i > m.rows) return NULL;
    return m.data + (size_t)(i - 1) * (size_t)m.ld;
}

/* The place of a row's largest or least number, from 0. NaN is neither. */
static int extreme(const float *row, int n, bool least)
{
    int best = -1;
    for (int j = 0; j < n; j++) {
        if (isnan(row[j])) continue;
        if (best < 0 || (least ? row[j] < row[best] : row[j] > row[best])) best = j;
    }
    return best < 0 ? 0 : best;
}

/* ---- indices --------------------------------------------------------------------------- */

static bool named_index(const struct tour_world *w, const char *name, int *out)
{
    const struct step_place *p = w->s ? step_place_of(w->s) : NULL;
    struct attn_dims d = p ? p->dims : (struct attn_dims){1, 1, 1};
    const struct {
        const char *name;
        int is;
    } known[] = {{"row", p ? p->row + 1 : 1}, {"first", 1},
                 {"last", d.n_tok},           {"middle", (d.n_tok + 1) / 2},
                 {"tokens", d.n_tok},         {"head", p ? p->head + 1 : 1},
                 {"heads", d.n_head},         {"d_head", d.d_model / d.n_head},
                 {"d_model", d.d_model}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].is;
            return true;
        }
    return false;
}

static bool index_at(const struct tour_world *w, const char **at, int *out, int depth,
                     struct err *e);

// NOLINTNEXTLINE(misc-no-recursion): as deep as DEPTH
static bool extreme_at(const struct tour_world *w, const char **at, bool least, int *out,
                       int depth, struct err *e)
{
    enum attn_tensor t = ATTN_TENSOR_COUNT;
    int i = 0;
    if (!tour_matrix(at, &t, e) || !index_at(w, at, &i, depth, e)) return false;
    struct attn_cmat m = view(w, t);
    const float *row = row_of(m, i);
    *out = row ? extreme(row, m.cols, least) + 1 : 1;
    return row || !w->src;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as DEPTH
static bool index_at(const struct tour_world *w, const char **at, int *out, int depth,
                     struct err *e)
{
    char name[WORD];
    word(at, name);
    if (depth >= DEPTH) return err_set(e, ERR_INPUT, "%s: is nested too deeply", name);
    if (strcmp(name, "argmax") == 0 || strcmp(name, "argmin") == 0)
        return extreme_at(w, at, name[4] == 'i', out, depth + 1, e);
    if (strcmp(name, "seen") == 0 || strcmp(name, "before") == 0) {
        bool seen = name[0] == 's';
        if (!index_at(w, at, out, depth + 1, e)) return false;
        if (!seen) *out -= 1;
        if (seen && w->s)
            *out = attn_seen(w->s->opts, *out - 1, step_place_of(w->s)->dims.n_tok);
        return *out >= 1 || !w->src;
    }
    if (named_index(w, name, out)) return true;
    size_t n = strlen(name);
    *out = (int)strtol(name, NULL, 10);
    if (n > 0 && n <= DIGITS && strspn(name, "0123456789") == n && *out >= 1) return true;
    return err_set(e, ERR_INPUT,
                   "%s: is no row or column; give a number from 1, row, first, last, "
                   "middle, argmax MATRIX ROW",
                   n ? name : "nothing");
}

bool tour_index(const struct tour_world *w, const char **at, int *out, struct err *e)
{
    return index_at(w, at, out, 0, e);
}

struct tour_judged tour_judge(const struct tour_world *w, const char *text, int i)
{
    struct tour_judged j = {.given = NAN, .best = NAN, .tensor = ATTN_TENSOR_COUNT};
    const char *at = text;
    char name[WORD];
    int is = 0;
    word(&at, name);
    bool least = strcmp(name, "argmin") == 0;
    if (!least && strcmp(name, "argmax") != 0) {
        at = text;
        j.right = tour_index(w, &at, &is, NULL) && is == i;
        return j;
    }
    if (!tour_matrix(&at, &j.tensor, NULL) || !tour_index(w, &at, &j.row, NULL)) return j;
    struct attn_cmat m = view(w, j.tensor);
    const float *row = row_of(m, j.row);
    if (!row || i < 1 || i > m.cols) return j;
    j.given = row[i - 1];
    j.best = row[extreme(row, m.cols, least)];
    j.least = least;
    j.right = j.given == j.best;
    return j;
}

float tour_number(const struct tour_world *w, enum attn_tensor t, int i, int j)
{
    struct attn_cmat m = view(w, t);
    const float *row = row_of(m, i);
    return row && j >= 1 && j <= m.cols ? row[j - 1] : NAN;
}

/* ---- values ---------------------------------------------------------------------------- */

struct value {
    bool whole;
    int i;
    float x;
};

/* Shannon's, in bits, of a row of A. */
static double entropy_of(const float *row, int n)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        if (row[j] > 0.0f) sum -= (double)row[j] * log2((double)row[j]);
    return sum;
}

/* max, min, sum of a row of a matrix, and entropy of one of A. */
static bool row_value(const struct tour_world *w, const char *what, const char **at,
                      struct value *v, struct err *e)
{
    enum attn_tensor t = ATTN_P;
    int i = 0;
    bool entropy = strcmp(what, "entropy") == 0;
    if (!entropy && !tour_matrix(at, &t, e)) return false;
    if (!tour_index(w, at, &i, e)) return false;
    struct attn_cmat m = view(w, t);
    const float *row = row_of(m, i);
    double sum = 0.0;
    if (!row) return !w->src;
    for (int j = 0; j < m.cols; j++) sum += (double)row[j];
    v->x = (float)(entropy ? entropy_of(row, m.cols) : sum);
    if (what[0] == 'm') v->x = row[extreme(row, m.cols, what[1] == 'i')];
    return true;
}

/* M INDEX INDEX. */
static bool cell_value(const struct tour_world *w, enum attn_tensor t, const char **at,
                       struct value *v, struct err *e)
{
    int i = 0;
    int j = 0;
    if (!tour_index(w, at, &i, e) || !tour_index(w, at, &j, e)) return false;
    struct attn_cmat m = view(w, t);
    const float *row = row_of(m, i);
    if (!row || j < 1 || j > m.cols) return !w->src;
    v->x = row[j - 1];
    return true;
}

static bool value_at(const struct tour_world *w, const char **at, struct value *v,
                     struct err *e)
{
    static const char *const of_rows[] = {"max", "min", "sum", "entropy"};
    const char *from = *at;
    char name[WORD];
    enum attn_tensor t = ATTN_TENSOR_COUNT;
    word(at, name);
    *v = (struct value){.whole = false};
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++)
        if (strcmp(name, of_rows[i]) == 0) return row_value(w, name, at, v, e);
    if (names_find_tensor(name, strlen(name), &t)) return cell_value(w, t, at, v, e);
    *at = from;
    v->whole = true;
    return tour_index(w, at, &v->i, e);
}

const char *tour_token(const struct tour_world *w, int i)
{
    static const float most = 6.0f; /* em: a long one would push the rest away */
    const char *text = scene_token_text(w->sc, w->src, i - 1);
    if (!*text) return scene_print(w->sc, "token %d", i);
    text = scene_fit_text(w->sc, FONT_UI, 1, most, text);
    return scene_print(w->sc, "\u201C%s\u201D", text);
}

/* What stands between { and }. NULL: wrong; or, without an error, there is none. */
static const char *part_text(const struct tour_world *w, const char *part, struct err *e)
{
    enum { DECIMALS = 2 };
    const char *at = part;
    char name[WORD];
    struct value v = {.whole = true};
    word(&at, name);
    bool token = strcmp(name, "token") == 0;
    if (!token) at = part;
    bool ok = token ? tour_index(w, &at, &v.i, e) : value_at(w, &at, &v, e);
    if (!ok || !tour_ends(at, e)) return NULL;
    if (!w->src) return "";
    if (token) return v.i <= step_place_of(w->s)->dims.n_tok ? tour_token(w, v.i) : NULL;
    return v.whole ? scene_print(w->sc, "%d", v.i) : scene_number(w->sc, v.x, DECIMALS);
}

struct filled {
    char text[FILLED];
    size_t n;
    bool full;
};

static void put(struct filled *f, const char *text, size_t n)
{
    if (f->full || n >= sizeof f->text - f->n) {
        f->full = true;
        return;
    }
    memcpy(f->text + f->n, text, n);
    f->n += n;
}

/* The {...} at *at, which moves behind it. */
static bool put_part(const struct tour_world *w, const char **at, struct filled *f,
                     struct err *e)
{
    char part[PART];
    struct err wrong = {0};
    size_t n = strcspn(*at, "}");
    if ((*at)[n] != '}' || n >= sizeof part)
        return err_set(e, ERR_INPUT, "%.20s: close it with }", *at);
    (void)snprintf(part, sizeof part, "%.*s", (int)n - 1, *at + 1);
    const char *is = part_text(w, part, &wrong);
    if (!is && wrong.code)
        return err_set(e, wrong.code, "{%s}: %.300s", part, wrong.text);
    if (!is) is = where_none;
    put(f, is, strlen(is));
    *at += n + 1;
    return true;
}

const char *tour_fill(const struct tour_world *w, const char *text, struct err *e)
{
    struct filled f = {.n = 0};
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "{");
        put(&f, at, plain);
        at += plain;
        if (*at && !put_part(w, &at, &f, e)) return NULL;
    }
    if (f.full) {
        (void)err_set(e, ERR_INPUT, "the text is too long; shorten it");
        return NULL;
    }
    return w->src ? scene_print(w->sc, "%.*s", (int)f.n, f.text) : text;
}

bool tour_lacks(const struct tour_world *w, const char *text, char *part, size_t room)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        char inner[PART];
        size_t n = strcspn(at, "}");
        if (at[n] != '}' || n >= sizeof inner) return false; /* none that was read */
        (void)snprintf(inner, sizeof inner, "%.*s", (int)n - 1, at + 1);
        if (part_text(w, inner, NULL)) continue;
        (void)snprintf(part, room, "{%s}", inner);
        return true;
    }
    return false;
}
