/* Reading values of settings from a file and from the environment, with a message for each mistake. */
#ifndef HB_CONFIG_FILE_INTERNAL_H
#define HB_CONFIG_FILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "config/config.h"
#include "config/settings.h"

/* All that is wrong, one message a line. */
struct mistakes {
    char *text; /* size bytes, the caller's */
    size_t size, len;
    bool refused[CONFIG_SETTINGS_MAX]; /* settings whose value was refused */
};

/* Where a value comes from, for messages. */
struct source {
    const char *file; /* or NULL */
    unsigned line;
    const char *name; /* environment variable, or NULL */
    struct mistakes *mistakes;
};

/* Adds a message, as printf formats it, with the place of the value before it. Returns ST_INVALID. */
enum status config_refuse(const struct source *from, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Checks the value and sets it in c. ST_OK; ST_INVALID: refused, which is noted. */
enum status config_setting_set(struct config *c, const struct config_setting *s, struct str value,
                               const struct source *from);
/* Sets what the file says. *digest becomes the hash of its text; NULL: not wanted. ST_INVALID: a mistake in the file ·
 * ST_UNAVAILABLE: it can't be read · ST_NO_MEMORY. Adds the reasons to mistakes. */
enum status config_file_read(struct config *c, const char *path, uint64_t *digest, struct mistakes *mistakes);
/* Sets what the variables HB_NAME say. ST_OK or ST_INVALID. */
enum status config_environment_read(struct config *c, struct mistakes *mistakes);

#endif
