/* --break: what is set wrong, as a list of name=choice. */
#include "breaks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The choices by their names; the first is right. */
static const struct {
    const char *name, *choice[4];
} names[STEP_SW_COUNT] = {
    [STEP_SW_DIVIDE] = {"scale", {"sqrt_d_head", "off", "d_head", "sqrt_d_model"}},
    [STEP_SW_MASK] = {"mask", {"on", "off", "shift"}},
    [STEP_SW_PRECISION] = {"precision", {"float32", "bfloat16", "float16"}},
    [STEP_SW_MAX] = {"max", {"on", "off"}},
    [STEP_SW_BIAS] = {"bias", {"on", "off"}},
    [STEP_SW_SWAP] = {"qk", {"right", "swapped"}},
    [STEP_SW_RESIDUAL] = {"residual", {"on", "off"}},
};

static bool is(const char *word, const char *text, size_t n)
{
    return strlen(word) == n && strncmp(word, text, n) == 0;
}

/* "off, shift" of a switch: what it may be set to. */
static void list_choices(char *out, size_t room, enum step_switch w)
{
    size_t n = 0;
    for (int i = 0; i < step_choice_count(w) && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%s", i ? ", " : "",
                              names[w].choice[i]);
}

static bool number(const char *text, size_t n, double *out)
{
    char copy[32];
    char *end = NULL;
    if (n == 0 || n >= sizeof copy || strspn(text, "+-.0123456789eE") < n) return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *out = strtod(copy, &end);
    return end != copy && *end == '\0' && isfinite(*out);
}

/* One name=choice, n bytes of it. */
static bool one(struct step_actions *out, const char *text, size_t n, struct err *e)
{
    const char *equals = memchr(text, '=', n);
    size_t name = equals ? (size_t)(equals - text) : n;
    const char *value = equals ? equals + 1 : text + n;
    size_t rest = n - (size_t)(value - text);
    double v = 0.0;
    int len = (int)(n < 80 ? n : 80);
    if (is("temperature", text, name)) {
        if (!number(value, rest, &v) || v < exp2(-(double)STEP_HEAT_MOST) ||
            v > exp2((double)STEP_HEAT_MOST))
            return err_set(e, ERR_USAGE,
                           "--break %.*s: a temperature is a number from 0.0625 to 16",
                           len, text);
        step_push(out,
                  (struct step_action){.verb = STEP_TEMPERATURE, .x = (float)log2(v)});
        return true;
    }
    if (is("silent", text, name)) {
        if (!number(value, rest, &v) || v != floor(v) || v < 1 || v > ATTN_SILENT_MOST)
            return err_set(e, ERR_USAGE, "--break %.*s: a head is a number from 1 to %d",
                           len, text, ATTN_SILENT_MOST);
        step_push(out, (struct step_action){.verb = STEP_SILENCE, .i = (int)v - 1});
        return true;
    }
    for (int w = 0; w < STEP_SW_COUNT; w++) {
        if (!is(names[w].name, text, name)) continue;
        for (int i = 0; i < step_choice_count((enum step_switch)w); i++) {
            if (!is(names[w].choice[i], value, rest)) continue;
            step_push(out,
                      (struct step_action){.verb = STEP_SWITCH, .i = w, .x = (float)i});
            return true;
        }
        char choices[80] = "";
        list_choices(choices, sizeof choices, (enum step_switch)w);
        return err_set(e, ERR_USAGE, "--break %.*s: %s is one of %s", len, text,
                       names[w].name, choices);
    }
    return err_set(e, ERR_USAGE,
                   "--break %.*s: what can be broken is scale, mask, precision, max, "
                   "temperature, silent, bias, qk and residual",
                   len, text);
}

/* What an action sets, of those before it in the list; silencing by the head. */
static bool is_set(const struct step_actions *out, int from, int last)
{
    const struct step_action *a = &out->at[last];
    for (int i = from; i < last; i++)
        if (out->at[i].verb == a->verb && out->at[i].i == a->i) return true;
    return false;
}

bool breaks_parse(struct step_actions *out, const char *text, struct err *e)
{
    int from = out->n;
    if (!*text) return true;
    for (const char *at = text;;) {
        size_t n = strcspn(at, ",");
        if (n == 0)
            return err_set(e, ERR_USAGE,
                           "--break %.80s: is a list of NAME=CHOICE, none of them empty, "
                           "such as scale=off,mask=shift",
                           text);
        if (!one(out, at, n, e)) return false;
        if (is_set(out, from, out->n - 1))
            return err_set(e, ERR_USAGE, "--break %.80s: %.*s sets again what is set",
                           text, (int)(n < 80 ? n : 80), at);
        if (at[n] != ',') return true;
        at += n + 1;
    }
}

void breaks_print(char *out, size_t room, const struct step_state *s)
{
    struct attn_opts o = step_opts_of(s);
    size_t n = 0;
    out[0] = '\0';
    for (int w = 0; w < STEP_SW_COUNT; w++) {
        int choice = step_choice_of(o, (enum step_switch)w);
        if (choice && n < room)
            n += (size_t)snprintf(out + n, room - n, "%s%s=%s", n ? "," : "",
                                  names[w].name, names[w].choice[choice]);
    }
    if (step_heat_of(o) != 0.0f && n < room)
        n += (size_t)snprintf(out + n, room - n, "%stemperature=%.9g", n ? "," : "",
                              (double)o.temperature);
    for (int h = 0; h < ATTN_SILENT_MOST && n < room; h++)
        if (attn_is_silent(o, h))
            n += (size_t)snprintf(out + n, room - n, "%ssilent=%d", n ? "," : "", h + 1);
}
