#include "ops/backup_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/str.h"

enum { FILE_BYTES_MAX = 8192 };

static const char *const NAMES[BACKUP_KIND_COUNT] = { "clean", "violated", "unknown" };

static void line_read(struct backup_record *record, struct str line)
{
    struct str value, name = str_trim(str_cut(line, '=', &value));
    value = str_trim(str_or_empty(value));
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        struct backup_note *note = &record->last[i];
        struct str rest = name;
        if (!str_skip_prefix(&rest, str_from(NAMES[i])))
            continue;
        if (str_equal(rest, STR("_at")))
            (void)clock_parse(value, &note->at_ms);
        else if (rest.len == 0)
            (void)snprintf(note->dir, sizeof note->dir, "%.*s", STR_ARG(value));
    }
}

bool backup_record_read(const char *path, struct backup_record *out)
{
    char text[FILE_BYTES_MAX];
    *out = (struct backup_record){ 0 };
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return errno == ENOENT;
    const size_t len = fread(text, 1, sizeof text, file);
    const bool read = ferror(file) == 0;
    (void)fclose(file);
    struct str rest = { text, len };
    while (read && rest.ptr != NULL && rest.len > 0)
        line_read(out, str_cut(rest, '\n', &rest));
    return read;
}
