/* A separate folder for a test, below TMPDIR, and the arena of a group of tests: TESTS(folder_setup, folder_teardown).
 * The folder is removed with its contents. */
#ifndef HB_TESTS_SUPPORT_TEST_FOLDER_H
#define HB_TESTS_SUPPORT_TEST_FOLDER_H

#include <sys/stat.h>
#include <unistd.h>

#include "support/test_arena.h"

static char folder[64], folder_file[100]; /* short enough to hold the path of a socket */

/* The path of a file in the folder: folder_file, until the next call. */
static inline const char *folder_path(const char *name)
{
    (void)snprintf(folder_file, sizeof folder_file, "%s/%s", folder, name);
    return folder_file;
}

static inline void folder_write_as(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(folder_path(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(folder_file, mode), 0);
}

static inline void folder_write(const char *name, const char *text)
{
    folder_write_as(name, text, 0600);
}

static inline void folder_remove(const char *name)
{
    assert_int_equal(remove(folder_path(name)), 0);
}

static inline int folder_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/hb-test-XXXXXX", tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
    return arena_setup(state) != 0 || mkdtemp(folder) == NULL;
}

static inline int folder_teardown(void **state)
{
    char command[sizeof folder + 16];
    (void)arena_teardown(state);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
