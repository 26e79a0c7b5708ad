/* Reads a tour: blocks that begin with "stop", a keyword a line. What a line says is
 * checked here and now, so that nothing fails in the middle of a lesson but for what the
 * numbers lack. */
#include "tour_file.h"

#include "script.h"
#include "tour_words.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST = 1 << 18, /* bytes of a file */
    LINES = 4000,   /* of it */
    NOTE = 1680,    /* bytes of all of a stop's notes */
    LINE = 1000     /* bytes of a line */
};

struct reading {
    struct tour *t;
    struct tour_stop *stop; /* NULL: before the first */
    int line;
};

/* ---- texts ----------------------------------------------------------------------------- */

/* Joins what goes on in another line. "%s%s%s" on the tour's memory. */
static bool join(struct tour *t, const char **to, const char *between, const char *more,
                 size_t most, struct err *e)
{
    size_t n = strlen(*to);
    size_t gap = n ? strlen(between) : 0;
    size_t m = strlen(more);
    if (n + gap + m > most)
        return err_set(e, ERR_INPUT, "the text has more than %zu bytes; shorten it",
                       most);
    char *out = arena_push(&t->mem, n + gap + m + 1, 1);
    if (!out) return err_set(e, ERR_SYSTEM, "out of memory");
    (void)snprintf(out, n + gap + m + 1, "%s%s%s", *to, gap ? between : "", more);
    *to = out;
    return true;
}

/* Keeps a line with {...}. */
static bool keep_figures(struct reading *r, bool after, const char *more, struct err *e)
{
    struct tour_stop *s = r->stop;
    int *n = after ? &s->n_after : &s->n_figures;
    const char *text = "";
    if (!strchr(more, '{')) return true;
    if (*n == TOUR_FIGURES)
        return err_set(e, ERR_INPUT, "a stop has at most %d lines with {", TOUR_FIGURES);
    if (!join(r->t, &text, "", more, LINE, e)) return false;
    (after ? s->after : s->figures)[(*n)++] = (struct tour_command){text, r->line};
    return true;
}

/* A text with {...}, which are checked. */
static bool words(struct reading *r, const char **to, const char *more, size_t most,
                  struct err *e)
{
    const struct tour_world none = {0};
    bool after = to == &r->stop->show;
    if (!more[0]) return err_set(e, ERR_INPUT, "says nothing; write a text behind it");
    return tour_fill(&none, more, e) != NULL && keep_figures(r, after, more, e) &&
           join(r->t, to, " ", more, most, e);
}

static bool once(const char *was, const char *what, struct err *e)
{
    return !was[0] || err_set(e, ERR_INPUT, "a stop has one %s; leave one out", what);
}

/* ---- keywords -------------------------------------------------------------------------- */

static bool on_stop(struct reading *r, const char *rest, struct err *e)
{
    struct tour *t = r->t;
    if (t->n == STEP_STOPS_MOST)
        return err_set(e, ERR_INPUT, "a tour has at most %d stops", STEP_STOPS_MOST);
    r->stop = &t->stop[t->n];
    *r->stop = (struct tour_stop){.title = "",
                                  .say = "",
                                  .ask = "",
                                  .hint = "",
                                  .show = "",
                                  .note = "",
                                  .answer = "",
                                  .right = -1,
                                  .line = r->line};
    t->n++;
    return words(r, &r->stop->title, rest, TOUR_TITLE, e);
}

static bool command(struct reading *r, struct tour_command *list, int *n,
                    const char *rest, struct err *e)
{
    const char *text = "";
    if (*n == TOUR_COMMANDS)
        return err_set(e, ERR_INPUT, "a stop has at most %d of these", TOUR_COMMANDS);
    if (!script_tour_check(rest, e) || !join(r->t, &text, "", rest, LINE, e))
        return false;
    list[(*n)++] = (struct tour_command){text, r->line};
    return true;
}

static bool on_do(struct reading *r, const char *rest, struct err *e)
{
    return command(r, r->stop->begin, &r->stop->n_begin, rest, e);
}

static bool on_then(struct reading *r, const char *rest, struct err *e)
{
    return command(r, r->stop->then, &r->stop->n_then, rest, e);
}

static bool on_say(struct reading *r, const char *rest, struct err *e)
{
    return words(r, &r->stop->say, rest, TOUR_TEXT, e);
}

static bool on_ask(struct reading *r, const char *rest, struct err *e)
{
    return words(r, &r->stop->ask, rest, TOUR_TEXT / 2, e);
}

static bool on_hint(struct reading *r, const char *rest, struct err *e)
{
    return words(r, &r->stop->hint, rest, TOUR_TEXT / 2, e);
}

static bool on_show(struct reading *r, const char *rest, struct err *e)
{
    return words(r, &r->stop->show, rest, TOUR_TEXT, e);
}

static bool on_note(struct reading *r, const char *rest, struct err *e)
{
    return rest[0] ? join(r->t, &r->stop->note, "\n", rest, NOTE, e)
                   : err_set(e, ERR_INPUT, "says nothing; write a text behind it");
}

/* "token INDEX", "row INDEX", "cell M INDEX INDEX". */
static bool on_answer(struct reading *r, const char *rest, struct err *e)
{
    static const char *const kinds[] = {
        [ASK_TOKEN] = "token ", [ASK_ROW] = "row ", [ASK_CELL] = "cell "};
    const struct tour_world none = {0};
    struct tour_stop *s = r->stop;
    enum attn_tensor t = ATTN_TENSOR_COUNT;
    int i = 0;
    if (!once(s->answer, "answer", e)) return false;
    if (s->n_choice > 0)
        return err_set(e, ERR_INPUT, "a stop has an answer or choices; leave one out");
    for (int k = ASK_TOKEN; k <= ASK_CELL; k++) {
        size_t n = strlen(kinds[k]);
        if (strncmp(rest, kinds[k], n) != 0) continue;
        const char *at = rest + n;
        if ((k == ASK_CELL &&
             (!tour_matrix(&at, &t, e) || !tour_index(&none, &at, &i, e))) ||
            !tour_index(&none, &at, &i, e) || !tour_ends(at, e))
            return false;
        s->kind = (enum scene_ask)k;
        s->answer_line = r->line;
        return join(r->t, &s->answer, "", rest + n, LINE, e);
    }
    return err_set(
        e, ERR_INPUT,
        "%.40s: is no answer; write token INDEX, row INDEX or cell MATRIX INDEX "
        "INDEX",
        rest);
}

static bool choice(struct reading *r, const char *rest, bool right, struct err *e)
{
    struct tour_stop *s = r->stop;
    if (s->answer[0])
        return err_set(e, ERR_INPUT, "a stop has an answer or choices; leave one out");
    if (s->n_choice == SCENE_CHOICES)
        return err_set(e, ERR_INPUT, "a stop has at most %d choices", SCENE_CHOICES);
    if (right && s->right >= 0)
        return err_set(e, ERR_INPUT, "one choice is right; write choice for the others");
    if (right) s->right = s->n_choice;
    s->kind = ASK_CHOICE;
    s->choice[s->n_choice] = "";
    return words(r, &s->choice[s->n_choice++], rest, TOUR_CHOICE, e);
}

static bool on_choice(struct reading *r, const char *rest, struct err *e)
{
    return choice(r, rest, false, e);
}

static bool on_right(struct reading *r, const char *rest, struct err *e)
{
    return choice(r, rest, true, e);
}

static const struct {
    const char *name;
    bool (*read)(struct reading *r, const char *rest, struct err *e);
} keywords[] = {{"stop", on_stop},   {"do", on_do},         {"say", on_say},
                {"ask", on_ask},     {"answer", on_answer}, {"choice", on_choice},
                {"right", on_right}, {"hint", on_hint},     {"then", on_then},
                {"show", on_show},   {"note", on_note}};

/* ---- lines ----------------------------------------------------------------------------- */

/* The stop is complete: what is asked can be answered, and the reverse. */
static bool is_whole(const struct tour_stop *s, struct err *e)
{
    bool asks = s->ask[0] != '\0';
    if (asks && s->kind == ASK_NOTHING)
        return err_set(
            e, ERR_INPUT,
            "the stop asks and has no answer; add answer, or choice and right");
    if (!asks && s->kind != ASK_NOTHING)
        return err_set(e, ERR_INPUT, "the stop has an answer and asks nothing; add ask");
    if (s->kind == ASK_CHOICE && (s->right < 0 || s->n_choice < 2))
        return err_set(e, ERR_INPUT, "the stop needs a choice and one that is right");
    if (!asks && (s->show[0] || s->hint[0] || s->n_then > 0))
        return err_set(
            e, ERR_INPUT,
            "show, hint and then follow an answer; add ask, or use say and do");
    if (!asks && !s->say[0])
        return err_set(e, ERR_INPUT, "the stop says nothing; add say, or ask");
    return true;
}

static bool keyword(struct reading *r, const char *text, struct err *e)
{
    size_t n = strcspn(text, " \t");
    const char *rest = text + n + strspn(text + n, " \t");
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strlen(keywords[i].name) != n || strncmp(text, keywords[i].name, n) != 0)
            continue;
        if (!r->stop && i > 0)
            return err_set(e, ERR_INPUT, "%s: belongs to a stop; begin with stop TITLE",
                           keywords[i].name);
        if (i == 0 && r->stop && !is_whole(r->stop, e)) {
            r->line = r->stop->line;
            return false;
        }
        return keywords[i].read(r, rest, e);
    }
    return err_set(
        e, ERR_INPUT,
        "%.*s: is none of stop, do, say, ask, answer, choice, right, hint, then, "
        "show, note",
        n > 30 ? 30 : (int)n, text);
}

/* Every byte belongs to a character of UTF-8, and none is a control character. */
static bool is_text(const char *text, struct err *e)
{
    for (const char *at = text; *at;) {
        const char *from = at;
        uint32_t code = utf8_next(&at);
        if ((code == 0xFFFD && strncmp(from, "\uFFFD", 3) != 0) || code < ' ' ||
            code == 0x7F)
            return err_set(e, ERR_INPUT,
                           "byte %d is no text; save the file as UTF-8, without tabs",
                           (int)(from - text) + 1);
    }
    return true;
}

static bool one_line(struct reading *r, char *text, size_t n, struct err *e)
{
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\r')) text[--n] = '\0';
    text += strspn(text, " ");
    if (*text == '\0' || *text == '#') return true;
    if (n > LINE) return err_set(e, ERR_INPUT, "has more than %d bytes; break it", LINE);
    return is_text(text, e) && keyword(r, text, e);
}

static bool all_lines(struct reading *r, const char *text, size_t n, struct err *e)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* that some editors put in front */
    if (n >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) {
        text += strlen(mark);
        n -= strlen(mark);
    }
    char *copy = arena_text(&r->t->mem, text, n);
    if (!copy) return err_set(e, ERR_SYSTEM, "out of memory");
    if (strlen(copy) != n) { /* the line of the zero byte */
        for (const char *at = copy; (at = strchr(at, '\n')) != NULL; at++) r->line++;
        r->line++;
        return err_set(e, ERR_INPUT, "holds a zero byte; a tour is text");
    }
    for (char *at = copy; *at;) {
        size_t len = strcspn(at, "\n");
        char *next = at[len] ? at + len + 1 : at + len;
        at[len] = '\0';
        r->line++;
        if (!one_line(r, at, len, e)) return false;
        at = next;
    }
    if (!r->stop) return err_set(e, ERR_INPUT, "has no stop; begin with stop TITLE");
    if (is_whole(r->stop, e)) return true;
    r->line = r->stop->line;
    return false;
}

bool tour_parse(struct tour *t, const char *name, const char *text, size_t n,
                struct err *e)
{
    enum { A_LINE = 192 }; /* memory of a joined text, rounded up, over its own bytes */
    struct reading r = {.t = t};
    struct err wrong = {0};
    *t = (struct tour){.n = 0};
    if (n > MOST)
        return err_set(e, ERR_INPUT,
                       "%.300s: has more than %d bytes; a tour is a short text", name,
                       MOST);
    /* Texts are joined line by line: each of at most NOTE bytes, a line at a time. */
    size_t lines = 1;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    if (lines > LINES)
        return err_set(e, ERR_INPUT,
                       "%.300s:%d: a tour has at most %d lines; make two of it", name,
                       LINES + 1, LINES);
    size_t most = lines * (2 * A_LINE + NOTE) + 3 * n + A_LINE;
    if (!arena_init(&t->mem, most, e)) return false;
    if (all_lines(&r, text, n, &wrong)) return true;
    tour_free(t);
    return err_set(e, wrong.code, "%.200s:%d: %.280s", name, r.line > 0 ? r.line : 1,
                   wrong.text);
}

bool tour_read(struct tour *t, const char *path, struct err *e)
{
    struct arena mem;
    char *text = NULL;
    size_t n = 0;
    *t = (struct tour){.n = 0};
    if (!arena_init(&mem, MOST + 64, e)) return false;
    bool ok =
        file_read(path, MOST, &mem, &text, &n, e) && tour_parse(t, path, text, n, e);
    arena_free(&mem);
    return ok;
}

void tour_free(struct tour *t)
{
    arena_free(&t->mem);
    *t = (struct tour){.n = 0};
}
