/* Errors as values: a code and one line of text. */
#include "base.h"

#include <stdio.h>
#include <string.h>

/* A cut may fall inside a UTF-8 sequence; step back to where the last one began. */
static void cut_at_character(char *text, size_t room)
{
    size_t n = room - 1;
    while (n > 0 && ((unsigned char)text[n - 1] & 0xC0u) == 0x80u) n--;
    if (n > 0 && (unsigned char)text[n - 1] >= 0xC0u) n--;
    text[n] = '\0';
}

/* Names out of files may hold newlines and worse. */
static void one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20u || *text == 0x7f) *text = '?';
}

bool err_set(struct err *e, enum err_code code, const char *format, ...)
{
    if (!e) return false;
    e->code = code;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    if (n < 0) e->text[0] = '\0';
    if (n >= (int)sizeof e->text) cut_at_character(e->text, sizeof e->text);
    one_line(e->text);
    return false;
}

bool err_at(struct err *e, const char *where)
{
    if (!e) return false;
    char was[sizeof e->text];
    memcpy(was, e->text, sizeof was);
    return err_set(e, e->code, "%s: %s", where, was);
}
