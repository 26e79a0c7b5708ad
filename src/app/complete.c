/* Completion of a path that is being typed. */
#include "complete.h"

#include "base.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = sizeof((struct complete *)0)->name / sizeof((struct complete *)0)->name[0]
};

bool complete_home(char *out, size_t room, const char *typed, size_t n)
{
    const char *home = getenv("HOME");
    bool front = n > 0 && typed[0] == '~' && (n == 1 || typed[1] == '/') && home;
    int got =
        snprintf(out, room, "%s%.*s", front ? home : "", (int)(n - front), typed + front);
    return got >= 0 && (size_t)got < room;
}

/* Takes one more name in: among the first by name, and into what all have in common. */
static void take(struct complete *c, const char *name, size_t typed)
{
    size_t same = 0;
    if (c->n == 0) (void)snprintf(c->more, sizeof c->more, "%s", name + typed);
    while (c->more[same] && c->more[same] == name[typed + same]) same++;
    /* Never half a character. */
    while (same > 0 && ((unsigned char)c->more[same] & 0xC0) == 0x80) same--;
    c->more[same] = '\0';
    int at = c->n < MOST ? c->n : MOST;
    while (at > 0 && strcmp(name, c->name[at - 1]) < 0) at--;
    c->n++;
    if (at == MOST) return;
    memmove(c->name[at + 1 < MOST ? at + 1 : at], c->name[at],
            (size_t)(MOST - 1 - at) * sizeof c->name[0]);
    (void)snprintf(c->name[at], sizeof c->name[at], "%.*s", (int)sizeof c->name[at] - 1,
                   name);
}

void complete_path(struct complete *c, const char *typed, size_t n)
{
    char path[FILE_PATH];
    char folder[FILE_PATH];
    char whole[FILE_PATH + 512];
    *c = (struct complete){.n = 0};
    if (!complete_home(path, sizeof path, typed, n)) return;
    char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t len = strlen(base);
    c->typed = len;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(base - path), path);
    DIR *d = opendir(folder[0] ? folder : ".");
    if (!d) return;
    for (struct dirent *ent = readdir(d); ent; ent = readdir(d)) {
        if (strncmp(ent->d_name, base, len) != 0) continue;
        if (ent->d_name[0] == '.' && base[0] != '.') continue;
        if (strcmp(ent->d_name, ".") == 0 || strcmp(ent->d_name, "..") == 0) continue;
        (void)snprintf(whole, sizeof whole, "%s%s", folder, ent->d_name);
        bool is_folder = file_is_folder(whole);
        if (!is_folder && !file_ends_with(whole, ".safetensors") &&
            !file_ends_with(whole, ".bin"))
            continue;
        (void)snprintf(whole, sizeof whole, "%s%s", ent->d_name, is_folder ? "/" : "");
        take(c, whole, len);
    }
    (void)closedir(d);
}
