/* The table of all settings: names, defaults, rules and what the reference says of each. */
#ifndef HB_CONFIG_SETTINGS_H
#define HB_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"
#include "config/config.h"

enum { CONFIG_SETTINGS_MAX = 128 }; /* rows of the table, at most */

/* One row of the table of settings. */
struct config_setting {
    const char *name;
    enum config_type { CONFIG_INT, CONFIG_BOOL, CONFIG_TEXT } type; /* bool: on | off */
    size_t offset;                                                  /* in struct config */
    int64_t min, max;                                               /* of the number; of the text's length in bytes */
    const char *preset;                                             /* the default, as it would stand in the file */
    bool (*valid)(const char *text);                                /* another rule for a text, or NULL */
    const char *(*mistake)(const char *text);                       /* the same, but returns what is wrong; or NULL */
    const char *wanted;                                             /* the rule in words */
    const char *older;   /* its older name, still accepted, when the value was the path of one Unix socket; or NULL */
    const char *summary; /* for the reference */
};
/* All settings in the order of the reference; *count of them. Static storage. */
const struct config_setting *config_settings(size_t *count);

/* The name of the setting that is spelled nearly like name, or NULL. Static storage. */
const char *config_setting_like(struct str name);

/* The folder of the installed files, with which some defaults begin. */
const char *config_data_dir(void);

/* Whether a change of the setting also needs `hongbao setup`. */
bool config_needs_setup(const struct config_setting *setting);

/* Whether the value is a password or the secret, which no terminal should show. */
bool config_is_secret(const struct config_setting *setting);

/* Writes the value of the setting in c as it would stand in the file. False: out refused it. */
bool config_value_print(const struct config *c, const struct config_setting *setting, FILE *out);

/* Writes all settings of c as lines name=value, passwords too. False: out refused a line. */
bool config_print(const struct config *c, FILE *out);

#endif
