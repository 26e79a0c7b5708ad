/* Runs a target on every file of the folders named; the corpus as a plain test. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int replay(const char *folder, const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    static uint8_t data[1 << 20];
    size_t n = fread(data, 1, sizeof data, f);
    (void)fclose(f);
    uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees the end */
    if (!exact) return 0;
    for (size_t i = 0; i < n; i++) exact[i] = data[i];
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        if (!d) {
            (void)fprintf(stderr, "%s: no folder\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(d));)
            if (entry->d_name[0] != '.') count += replay(argv[i], entry->d_name);
        (void)closedir(d);
    }
    (void)printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
