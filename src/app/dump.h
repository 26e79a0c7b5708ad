/* dump: every stage's matrices as files, with a manifest that says what they are. */
#ifndef HEADLIGHT_DUMP_H
#define HEADLIGHT_DUMP_H

#include "cli.h"
#include "numbers.h"

/* Writes c->dump, a new folder of .npy files or one .npz: whole or not at all. version: the
 * program's, for the manifest. note: what the person should be told, or "". */
bool dump_write(const struct cli *c, const char *version, char *note, size_t room,
                struct err *e);

/* "b00.h03.scores"; head < 0: "b00.y". */
enum { DUMP_NAME = 64 };
void dump_name(char out[DUMP_NAME], int block, int head, const char *tensor);

#endif
