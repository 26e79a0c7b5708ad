/* JSON from files that are not trusted, by jansson, with bounds around it. */
#ifndef HEADLIGHT_MODEL_STRICT_JSON_H
#define HEADLIGHT_MODEL_STRICT_JSON_H

#include "base.h"

#include <jansson.h>

/* Parses n bytes at text; the caller gives the value back by json_decref. NULL, and *e
 * with line and column but no file: duplicate keys, invalid UTF-8, more than one value,
 * nesting deeper than 16, and whatever else is no JSON.
 *
 * The tree takes at most about 40 bytes for each byte of text: jansson needs some 250 for
 * an object, so text that is nearly nothing but brackets is refused before it is parsed. */
json_t *strict_json(const char *text, size_t n, struct err *e);

/* Reads and parses the file at path, at most max bytes; *e names the file by its last
 * part. */
json_t *strict_json_file(const char *path, size_t max, struct err *e);

/* The part of a path behind its last slash. */
const char *path_last(const char *path);

#endif
