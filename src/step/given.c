/* Numbers that are given in place of computed ones, and the field in which one is typed. */
#include "handlers.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which cells ------------------------------------------------------------------------ */

bool step_tensor_has_heads(enum attn_tensor t)
{
    return t >= ATTN_W_Q && t <= ATTN_Z;
}

/* Whether the mask hides the cell, so that nothing reads it. */
static bool is_hidden(const struct step_state *s, struct step_ref r)
{
    if (r.tensor != ATTN_S_MASKED && r.tensor != ATTN_P) return false;
    return r.col >= attn_seen(s->opts, r.row, step_place_of(s)->dims.n_tok);
}

enum step_wrong step_can_give(const struct step_state *s, struct step_ref r)
{
    bool input = r.tensor == ATTN_H || r.tensor == ATTN_X;
    bool made = r.tensor == ATTN_Z || r.tensor == ATTN_Z_ALL || r.tensor == ATTN_Y_PROJ ||
                r.tensor == ATTN_Y;
    if (r.tensor == ATTN_TENSOR_COUNT) return STEP_WRONG_CELL;
    if (made || (s->scale != STEP_TOY && !input)) return STEP_WRONG_MATRIX;
    if (!step_exists(r, step_place_of(s)->dims)) return STEP_WRONG_CELL;
    return is_hidden(s, r) ? STEP_WRONG_HIDDEN : STEP_WRONG_NOT;
}

static struct step_ref ref_of(const struct attn_edit *e)
{
    return (struct step_ref){e->tensor, e->row, e->col};
}

bool step_given_is_here(const struct step_state *s, const struct step_given *e)
{
    const struct step_place *p = step_place_of(s);
    struct step_ref r = ref_of(&e->cell);
    return e->block == p->block && step_exists(r, p->dims) && !is_hidden(s, r);
}

int step_given_count(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    int n = 0;
    for (int i = 0; i < p->n_edit; i++) n += step_given_is_here(s, &p->edits[i]);
    return n;
}

/* ---- the list --------------------------------------------------------------------------- */

/* < 0, 0, > 0: a's cell comes before b's, is the same, behind it. */
static int order(const struct step_given *a, const struct step_given *b)
{
    const int of[][2] = {{a->block, b->block},
                         {(int)a->cell.tensor, (int)b->cell.tensor},
                         {a->cell.head, b->cell.head},
                         {a->cell.row, b->cell.row},
                         {a->cell.col, b->cell.col}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (of[i][0] != of[i][1]) return of[i][0] < of[i][1] ? -1 : 1;
    return 0;
}

bool given_same_cell(const struct step_given *a, const struct step_given *b)
{
    return order(a, b) == 0;
}

/* The place of e's cell in the list, or where it would be; *there tells which. */
static int place_of(const struct step_place *p, const struct step_given *e, bool *there)
{
    int i = 0;
    while (i < p->n_edit && order(&p->edits[i], e) < 0) i++;
    *there = i < p->n_edit && order(&p->edits[i], e) == 0;
    return i;
}

void edit_put(struct step_place *p, const struct given_value *g)
{
    bool there = false;
    int i = place_of(p, &g->edit, &there);
    size_t behind = (size_t)(p->n_edit - i) * sizeof *p->edits;
    if (g->there) {
        if (!there) {
            memmove(&p->edits[i + 1], &p->edits[i], behind);
            p->n_edit++;
        }
        p->edits[i] = g->edit;
    } else if (there) {
        p->n_edit--;
        memmove(&p->edits[i], &p->edits[i + 1], behind - sizeof *p->edits);
        memset(&p->edits[p->n_edit], 0, sizeof *p->edits);
    }
}

/* Another number for a cell, or, not there, the computed one; topic: see struct change. */
static bool change(struct step_state *s, const struct given_value *to, int topic)
{
    struct step_place *p = step_here(s);
    struct change c;
    bool there = false;
    int i = place_of(p, &to->edit, &there);
    memset(&c, 0, sizeof c);
    c.kind = CHANGE_EDIT;
    c.scale = s->scale;
    c.topic = topic;
    c.after.edit = *to;
    c.before.edit.there = there;
    c.before.edit.edit = there ? p->edits[i] : to->edit;
    if (!to->there && !there) return false;
    if (!past_push(s, &c)) return false;
    edit_put(p, to);
    return true;
}

/* Whether there is room for e's cell: it has a place already, or there is one more. */
static bool has_room(const struct step_place *p, const struct step_given *e)
{
    bool there = false;
    (void)place_of(p, e, &there);
    return there || p->n_edit < STEP_GIVEN_MOST;
}

/* The edit of a cell of `head`, or, < 0, of the head in view. */
static struct step_given given_of(const struct step_state *s, struct step_ref r, int head,
                                  float value)
{
    const struct step_place *p = step_place_of(s);
    struct step_given e;
    memset(&e, 0, sizeof e); /* states are compared byte by byte */
    bool heads = step_tensor_has_heads(r.tensor);
    e.block = step_is_loaded(p) ? p->block : 0;
    e.cell.tensor = r.tensor;
    e.cell.head = !heads ? 0 : head < 0 ? p->head : head;
    e.cell.row = r.row;
    e.cell.col = r.col;
    e.cell.value = value;
    return e;
}

static enum step_wrong give(struct step_state *s, struct step_ref r, int head,
                            float value, int topic)
{
    struct given_value g;
    memset(&g, 0, sizeof g);
    enum step_wrong wrong = step_can_give(s, r);
    if (wrong) return wrong;
    if (head >= step_place_of(s)->dims.n_head) return STEP_WRONG_CELL;
    if (!isfinite(value)) return STEP_WRONG_NAN;
    g.edit = given_of(s, r, head, value);
    g.there = true;
    if (!has_room(step_place_of(s), &g.edit) || !change(s, &g, topic))
        return STEP_WRONG_FULL;
    return STEP_WRONG_NOT;
}

bool do_give(struct step_state *s, const struct step_action *a)
{
    return a->i >= -1 && give(s, a->ref, a->i, a->x, 0) == STEP_WRONG_NOT;
}

bool do_ungive(struct step_state *s, const struct step_action *a)
{
    struct given_value g;
    memset(&g, 0, sizeof g);
    if (a->i < -1 || !step_exists(a->ref, step_place_of(s)->dims)) return false;
    g.edit = given_of(s, a->ref, a->i, 0.0f);
    if (!change(s, &g, 0)) return false;
    field_close(s); /* the number is another one now */
    return true;
}

/* ---- the field -------------------------------------------------------------------------- */

bool step_field_is_open(const struct step_state *s)
{
    return s->field.at.tensor != ATTN_TENSOR_COUNT;
}

void field_close(struct step_state *s)
{
    memset(&s->field, 0, sizeof s->field);
    s->field.at = step_no_ref();
}

struct field_place field_place_of(const struct step_state *s)
{
    const struct step_place *p = step_place_of(s);
    return (struct field_place){.scale = s->scale,
                                .stage = s->stage,
                                .pair = s->pair,
                                .see = s->see,
                                .head = p->head,
                                .block = p->block,
                                .over = step_is_covered(s)};
}

void field_follow(struct step_state *s, const struct field_place *was)
{
    const struct field_place now = field_place_of(s);
    bool same = now.scale == was->scale && now.stage == was->stage &&
                now.head == was->head && now.block == was->block;
    bool hidden = now.over || step_is_paired(s) || s->see != STEP_SEE_BROKEN;
    bool gone =
        step_can_give(s, s->field.at) != STEP_WRONG_NOT || !step_pass_has(s, s->field.at);
    if (step_field_is_open(s) && (!same || hidden || gone)) field_close(s);
}

static void show_number(struct step_field *f, float value)
{
    memset(f->text, 0, sizeof f->text);
    f->value = value;
    int n = snprintf(f->text, sizeof f->text, "%.6g", (double)value);
    f->n = f->caret = n < 0 ? 0 : n;
    f->fresh = true;
    f->wrong = STEP_WRONG_NOT;
}

/* The finished stage in which the cell stands, of the run as it is. */
bool do_field(struct step_state *s, const struct step_action *a)
{
    if (a->ref.tensor == ATTN_TENSOR_COUNT) {
        if (!step_field_is_open(s)) return false;
        field_close(s);
        return true;
    }
    if (step_can_give(s, a->ref) || !step_pass_has(s, a->ref) || step_is_covered(s) ||
        s->editing)
        return false;
    s->field.at = a->ref;
    show_number(&s->field, a->x);
    s->see = STEP_SEE_BROKEN;
    s->pair = STEP_PAIR_NONE;
    s->diff = STEP_DIFF_OFF;
    s->time = 1.0f;
    s->focus = 0;
    s->help = false;
    play_stop(s);
    return true;
}

/* What a keyboard or a page has for a minus sign. */
static int plain(int code)
{
    return code == 0x2212 || code == 0x2013 ? '-' : code;
}

bool do_field_type(struct step_state *s, const struct step_action *a)
{
    struct step_field *f = &s->field;
    int c = plain(a->i);
    char put[4];
    int n = 0;
    if (!step_field_is_open(s) || c < ' ' || c == 0x7F || c > 0x10FFFF) return false;
    if (c < 0x80) {
        put[n++] = (char)c;
    } else if (c < 0x800) {
        put[n++] = (char)(0xC0 | c >> 6);
        put[n++] = (char)(0x80 | (c & 0x3F));
    } else { /* as wide as it gets here: no number has it anyway */
        c = c > 0xFFFF ? 0xFFFD : c;
        put[n++] = (char)(0xE0 | c >> 12);
        put[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        put[n++] = (char)(0x80 | (c & 0x3F));
    }
    if (f->fresh) {
        memset(f->text, 0, sizeof f->text);
        f->n = f->caret = 0;
    }
    if (f->n + n >= STEP_FIELD_ROOM) return false;
    memmove(f->text + f->caret + n, f->text + f->caret, (size_t)(f->n - f->caret));
    memcpy(f->text + f->caret, put, (size_t)n);
    f->n += n;
    f->caret += n;
    f->fresh = false;
    f->wrong = STEP_WRONG_NOT;
    return true;
}

static bool goes_on(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static int before(const struct step_field *f, int at)
{
    if (at > 0) at--;
    while (at > 0 && goes_on(f->text[at])) at--;
    return at;
}

static int behind(const struct step_field *f, int at)
{
    if (at < f->n) at++;
    while (at < f->n && goes_on(f->text[at])) at++;
    return at;
}

static void erase(struct step_field *f, int from, int to)
{
    memmove(f->text + from, f->text + to, (size_t)(f->n - to));
    f->n -= to - from;
    memset(f->text + f->n, 0, (size_t)(STEP_FIELD_ROOM - f->n));
    f->caret = from;
    f->wrong = STEP_WRONG_NOT;
}

bool do_field_edit(struct step_state *s, const struct step_action *a)
{
    struct step_field *f = &s->field;
    if (!step_field_is_open(s) || a->i < 0 || a->i >= STEP_FIELD_KEY_COUNT) return false;
    bool all = f->fresh; /* all of it is selected */
    f->fresh = false;
    switch ((enum step_field_key)a->i) {
    case STEP_FIELD_BACK:
        erase(f, all ? 0 : before(f, f->caret), all ? f->n : f->caret);
        break;
    case STEP_FIELD_DELETE:
        erase(f, all ? 0 : f->caret, all ? f->n : behind(f, f->caret));
        break;
    case STEP_FIELD_LEFT:
        f->caret = before(f, f->caret);
        break;
    case STEP_FIELD_RIGHT:
        f->caret = behind(f, f->caret);
        break;
    case STEP_FIELD_HOME:
        f->caret = 0;
        break;
    case STEP_FIELD_END:
        f->caret = f->n;
        break;
    case STEP_FIELD_KEY_COUNT:
        return false;
    }
    return true;
}

/* The sign at text, of n bytes, if it is a minus sign of three bytes. */
static bool is_minus(const char *text, int n)
{
    return n >= 3 && (memcmp(text, "\u2212", 3) == 0 || memcmp(text, "\u2013", 3) == 0);
}

enum step_wrong step_number_of(const char *text, int n, float *out)
{
    static const char *const odd[] = {"nan", "inf", "infinity", "+inf", "-inf", "-nan"};
    char digits[STEP_FIELD_ROOM] = "";
    int m = 0;
    char *end = NULL;
    while (n > 0 && text[n - 1] == ' ') n--;
    for (; n > 0 && *text == ' '; text++) n--;
    if (n == 0) return STEP_WRONG_EMPTY;
    if (n >= STEP_FIELD_ROOM) return STEP_WRONG_WORD;
    for (int i = 0; i < n; i++) {
        char c = text[i];
        bool minus = is_minus(text + i, n - i);
        digits[m++] = (char)(minus ? '-' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        i += minus ? 2 : 0;
    }
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (strcmp(digits, odd[i]) == 0) return STEP_WRONG_NAN;
    if (strspn(digits, "+-.0123456789e") != (size_t)m) return STEP_WRONG_WORD;
    errno = 0;
    float v = strtof(digits, &end);
    if (end == digits || *end) return STEP_WRONG_WORD;
    if (!isfinite(v)) return STEP_WRONG_LARGE;
    if (errno == ERANGE && fabsf(v) < FLT_MIN) return STEP_WRONG_SMALL;
    *out = v;
    return STEP_WRONG_NOT;
}

bool do_field_take(struct step_state *s, const struct step_action *a)
{
    struct step_field *f = &s->field;
    float v = 0.0f;
    (void)a;
    if (!step_field_is_open(s)) return false;
    if (!f->fresh) {
        f->wrong = step_number_of(f->text, f->n, &v);
        if (!f->wrong) f->wrong = give(s, f->at, -1, v, 0);
        if (f->wrong) return true; /* the field says why */
    }
    field_close(s);
    return true;
}

float step_notch(float v)
{
    static const float small = 0.1f; /* of what is below 10, as most numbers here are */
    float most = fabsf(v);
    return most < 10.0f ? small : small * powf(10.0f, floorf(log10f(most)));
}

bool do_field_by(struct step_state *s, const struct step_action *a)
{
    enum { TOPIC = 1 };
    struct step_field *f = &s->field;
    if (!step_field_is_open(s) || !isfinite(a->x) || a->x == 0.0f) return false;
    float v = f->value;
    (void)(f->fresh || step_number_of(f->text, f->n, &v)); /* from what is typed */
    if (!isfinite(v)) v = 0.0f;
    float to = v + a->x * step_notch(v);
    enum step_wrong wrong = give(s, f->at, -1, to, TOPIC);
    if (wrong) {
        f->wrong = wrong == STEP_WRONG_NAN ? STEP_WRONG_LARGE : wrong;
        return true;
    }
    show_number(f, to);
    return true;
}
