/* --lab: which lab, and what is chosen in it, as a list of name=choice. */
#include "lab_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[STEP_LAB_KINDS] = {"saturation", "cost"};
static const char *const keys[STEP_LAB_KEYS] = {"row", "16", "128", "1024"};
static const char *const ofs[STEP_LAB_OF_COUNT] = {"flops", "bytes"};
static const char *const dims[2] = {"view", "gpt2"};

/* A choice by its name; the lab that has it. */
static const struct {
    const char *name;
    enum step_lab_kind kind;
    enum step_verb verb;
    const char *const *choice;
    int n;
} choices[] = {
    {"keys", STEP_LAB_SATURATION, STEP_LAB_ROW, keys, STEP_LAB_KEYS},
    {"of", STEP_LAB_COST, STEP_LAB_OF, ofs, STEP_LAB_OF_COUNT},
    {"dims", STEP_LAB_COST, STEP_LAB_DIMS, dims, 2},
};
enum { CHOICES = sizeof choices / sizeof choices[0] };

static bool is(const char *word, const char *text, size_t n)
{
    return strlen(word) == n && strncmp(word, text, n) == 0;
}

static int one_of(const char *const *words, int count, const char *text, size_t n)
{
    int i = 0;
    while (i < count && !is(words[i], text, n)) i++;
    return i;
}

static bool refuse(enum step_lab_kind kind, const char *text, size_t n, struct err *e)
{
    static const char *const what[STEP_LAB_KINDS] = {
        "keys=row, 16, 128 or 1024, and at=D, a d_head from 1 to 256",
        "of=flops or bytes, dims=view or gpt2, at=N, from 1 to 131072, and measure"};
    return err_set(e, ERR_USAGE, "--lab %s,%.*s: a %s lab takes %s", kinds[kind],
                   (int)(n < 60 ? n : 60), text, kinds[kind], what[kind]);
}

/* "at=64": digits alone. 0: it is none, or none of this axis. */
static int place_of(enum step_lab_kind kind, const char *text, size_t n)
{
    enum { DIGITS = 6 };
    char digits[DIGITS + 1] = "";
    size_t count = n > 3 ? n - 3 : 0;
    if (n < 3 || strncmp(text, "at=", 3) != 0 || count == 0 || count > DIGITS ||
        strspn(text + 3, "0123456789") < count)
        return 0;
    memcpy(digits, text + 3, count);
    int at = (int)strtol(digits, NULL, 10);
    return at <= (kind == STEP_LAB_COST ? STEP_LAB_MOST_N : STEP_LAB_MOST_D) ? at : 0;
}

static bool one(struct step_actions *out, enum step_lab_kind kind, const char *text,
                size_t n, struct err *e)
{
    int at = place_of(kind, text, n);
    if (at > 0) {
        step_push(out, (struct step_action){.verb = STEP_LAB_TO, .i = at});
        return true;
    }
    if (kind == STEP_LAB_COST && is("measure", text, n)) {
        step_push(out, (struct step_action){.verb = STEP_LAB_MEASURE});
        return true;
    }
    for (int k = 0; k < CHOICES; k++) {
        size_t name = strlen(choices[k].name);
        if (choices[k].kind != kind || n <= name || text[name] != '=' ||
            strncmp(choices[k].name, text, name) != 0)
            continue;
        int i = one_of(choices[k].choice, choices[k].n, text + name + 1, n - name - 1);
        if (i == choices[k].n) break;
        step_push(out, (struct step_action){.verb = choices[k].verb, .i = i});
        return true;
    }
    return refuse(kind, text, n, e);
}

bool lab_parse(struct step_actions *out, const char *text, struct err *e)
{
    size_t n = strcspn(text, ",");
    int kind = one_of(kinds, STEP_LAB_KINDS, text, n);
    if (kind == STEP_LAB_KINDS)
        return err_set(e, ERR_USAGE, "--lab %.60s: is saturation or cost", text);
    step_push(out, (struct step_action){.verb = STEP_LAB, .i = kind});
    while (text[n] == ',') {
        text += n + 1;
        n = strcspn(text, ",");
        if (!one(out, (enum step_lab_kind)kind, text, n, e)) return false;
    }
    return true;
}

void lab_print(char *out, size_t room, const struct step_state *s)
{
    const struct step_lab *l = &s->lab;
    bool cost = l->kind == STEP_LAB_COST;
    char at[24] = "";
    out[0] = '\0';
    if (!l->open) return;
    if (cost ? l->at_n : l->at_d) (void)snprintf(at, sizeof at, ",at=%d", step_lab_at(s));
    if (!cost)
        (void)snprintf(out, room, "saturation,keys=%s%s", keys[l->keys], at);
    else
        (void)snprintf(out, room, "cost,of=%s,dims=%s%s%s", ofs[l->of], dims[l->gpt2], at,
                       l->timed ? ",measure" : "");
}
