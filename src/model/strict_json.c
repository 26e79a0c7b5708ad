/* Bounds that jansson does not keep by itself: nesting, and memory for each byte read. */
#include "strict_json.h"

#include <string.h>

enum {
    NESTING = 16,        /* GPT-2's deepest file, tokenizer.json, has 6 levels */
    BYTES_A_BRACKET = 8, /* of text, at least, for every container: ["a","b"], has 10 */
    FREE_BRACKETS = 64
};

/* Counts brackets outside of strings. Whether they match is left to the parser. */
static bool check_brackets(const char *text, size_t n, struct err *e)
{
    size_t open = 0;
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') i++;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            open++;
            if (++depth > NESTING)
                return err_set(e, ERR_INPUT, "nested deeper than %d at byte %zu", NESTING,
                               i);
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    if (open > FREE_BRACKETS + n / BYTES_A_BRACKET)
        return err_set(e, ERR_INPUT, "%zu brackets in %zu bytes: this is no model's file",
                       open, n);
    return true;
}

json_t *strict_json(const char *text, size_t n, struct err *e)
{
    if (!check_brackets(text, n, e)) return NULL;
    json_error_t why;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (root) return root;
    /* Where its own allocations fail, jansson mostly says nothing at all. */
    if (json_error_code(&why) == json_error_out_of_memory || why.text[0] == '\0')
        (void)err_set(e, ERR_SYSTEM, "no memory for %zu bytes of JSON", n);
    else
        (void)err_set(e, ERR_INPUT, "no valid JSON: line %d, column %d: %s", why.line,
                      why.column, why.text);
    return NULL;
}

json_t *strict_json_file(const char *path, size_t max, struct err *e)
{
    struct file_in f = {0};
    struct arena mem = {0};
    json_t *root = NULL;
    if (!file_open(&f, path, e)) return NULL;
    size_t n = f.size <= max ? (size_t)f.size : 0;
    char *text = NULL;
    if (f.size > max)
        (void)err_set(e, ERR_INPUT, "%ju bytes long, at most %zu are read",
                      (uintmax_t)f.size, max);
    else if (arena_init(&mem, n + 1, e) && (text = arena_push(&mem, n + 1, 1)) &&
             file_read_at(&f, text, n, 0, e))
        root = strict_json(text, n, e);
    arena_free(&mem);
    file_close(&f);
    if (!root) (void)err_at(e, path_last(path));
    return root;
}

const char *path_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
