#include "audit/backup_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/typed.h"

enum { FILE_BYTES_MAX = 8192, PATH_BYTES_MAX = 4096 };

#define AUDITED "audited_at"

static const char *const NAMES[BACKUP_KIND_COUNT] = { "clean", "violated", "unknown" };

static void line_read(struct backup_record *record, struct str line)
{
    struct str value, name = str_trim(str_cut(line, '=', &value));
    value = str_trim(str_or_empty(value));
    if (str_equal(name, STR(AUDITED)))
        (void)typed_time(value, &record->audited_ms);
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        struct backup_note *note = &record->last[i];
        struct str rest = name;
        if (!str_skip_prefix(&rest, str_from(NAMES[i])))
            continue;
        if (str_equal(rest, STR("_at")))
            (void)typed_time(value, &note->at_ms);
        else if (rest.len == 0)
            (void)snprintf(note->dir, sizeof note->dir, "%.*s", STR_ARG(value));
    }
}

/* Reads the file into text. A file that does not exist is empty. */
static bool text_read(const char *path, char text[FILE_BYTES_MAX], struct str *out)
{
    *out = STR("");
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return errno == ENOENT;
    *out = (struct str){ text, fread(text, 1, FILE_BYTES_MAX, file) };
    const bool read = ferror(file) == 0;
    (void)fclose(file);
    return read;
}

bool backup_record_read(const char *path, struct backup_record *out)
{
    char text[FILE_BYTES_MAX];
    struct str rest;
    *out = (struct backup_record){ 0 };
    if (!text_read(path, text, &rest))
        return false;
    while (rest.ptr != NULL && rest.len > 0)
        line_read(out, str_cut(rest, '\n', &rest));
    return true;
}

bool backup_record_note_audit(const char *path, int64_t at_ms)
{
    char text[FILE_BYTES_MAX], at[CLOCK_TEXT_MAX], new_path[PATH_BYTES_MAX];
    struct str rest;
    (void)clock_rfc3339_format(at_ms, at);
    (void)snprintf(new_path, sizeof new_path, "%s.audit", path);
    if (!text_read(path, text, &rest))
        return false;
    FILE *file = fopen(new_path, "we");
    if (file == NULL)
        return false;
    while (rest.ptr != NULL && rest.len > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.len > 0 && !str_starts(line, STR(AUDITED " ")))
            (void)fprintf(file, "%.*s\n", STR_ARG(line));
    }
    bool written = fprintf(file, AUDITED " = %s\n", at) > 0 && ferror(file) == 0;
    written = fclose(file) == 0 && written;
    return written && rename(new_path, path) == 0;
}
