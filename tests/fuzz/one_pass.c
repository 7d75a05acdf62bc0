/* A fuzz target without libFuzzer: gives it the empty input, then each file of the folders that are named. It first
 * writes the path of each file to stderr, so the last line names the input at which the program ended. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"

enum { SECONDS_MAX = 60 * HB_TEST_PATIENCE };

/* Allocates exactly the size of the file, so that a sanitizer notices a read behind its end. */
static void file_give(const char *path)
{
    fprintf(stderr, "%s\n", path);
    FILE *file = fopen(path, "rb");
    assert(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size + (size == 0));
    assert(bytes != NULL && fread(bytes, 1, size, file) == size);
    fclose(file);
    alarm(SECONDS_MAX);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    int count = 1;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        assert(folder != NULL);
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.') {
                file_give(path);
                count++;
            }
        }
        closedir(folder);
    }
    printf("%d\n", count);
    return 0;
}
