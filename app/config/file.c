#include "config/file_internal.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/random.h"
#include "base/utf8.h"
#include "config/address.h"

enum { ENV_NAME_MAX = 64, NAME_SHOWN_MAX = 64 /* of a name that is no setting */ };
static_assert(sizeof(int64_t) == sizeof(long long), "printed with %lld");

/* Messages that no longer fit are left out; the first one is cut. */
static void mistake_add(struct mistakes *to, const char *where, const char *message)
{
    char *end = to->text + to->len;
    int len = snprintf(end, to->size - to->len, "%s%s%s", to->len > 0 ? "\n" : "", where, message);
    if (len > 0 && (size_t)len < to->size - to->len)
        to->len += (size_t)len;
    else if (to->len == 0)
        to->len = strlen(to->text);
    else
        *end = '\0';
}

enum status config_refuse(const struct source *from, const char *format, ...)
{
    char where[4096] = "", message[CONFIG_TEXT_MAX * 3];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (from->file != NULL && from->line)
        snprintf(where, sizeof where, "%s:%u: ", from->file, from->line);
    else if (from->file != NULL || from->name != NULL)
        snprintf(where, sizeof where, "%s: ", from->file != NULL ? from->file : from->name);
    mistake_add(from->mistakes, where, message);
    return ST_INVALID;
}

static enum status set_int(const struct config_setting *s, void *place, struct str value, const struct source *from)
{
    int64_t n;

    if (!str_to_i64(value, &n))
        return config_refuse(from, "%s must be a whole number", s->name);
    if (n < s->min || n > s->max)
        return config_refuse(from, "%s must be from %lld to %lld", s->name, (long long)s->min, (long long)s->max);
    memcpy(place, &n, sizeof n);
    return ST_OK;
}

static enum status set_bool(const struct config_setting *s, void *place, struct str value, const struct source *from)
{
    bool on = str_equal(value, STR("on"));

    if (!on && !str_equal(value, STR("off")))
        return config_refuse(from, "%s must be on or off", s->name);
    memcpy(place, &on, sizeof on);
    return ST_OK;
}

static enum status set_text(const struct config_setting *s, char *place, struct str value, const struct source *from)
{
    char text[CONFIG_TEXT_MAX] = { 0 };

    if (value.len < (uint64_t)s->min || value.len > (uint64_t)s->max)
        return config_refuse(from, "%s must have from %lld to %lld bytes", s->name, (long long)s->min,
                             (long long)s->max);
    if (!utf8_valid(value))
        return config_refuse(from, "%s must be UTF-8 text", s->name);
    for (size_t i = 0; i < value.len; i++)
        if (iscntrl((unsigned char)value.ptr[i]))
            return config_refuse(from, "%s must not have control characters", s->name);
    if (value.len)
        memcpy(text, value.ptr, value.len);
    if (s->valid != NULL && !s->valid(text))
        return config_refuse(from, "%s must be %s", s->name, s->wanted);
    const char *mistake = s->mistake != NULL ? s->mistake(text) : NULL;
    if (mistake != NULL)
        return config_refuse(from, "%s: %s", s->name, mistake);
    memcpy(place, text, sizeof text);
    return ST_OK;
}

/* The number of the setting in the table. */
static size_t setting_no(const struct config_setting *s)
{
    size_t count;
    return (size_t)(s - config_settings(&count));
}

enum status config_setting_set(struct config *c, const struct config_setting *s, struct str value,
                               const struct source *from)
{
    char *place = (char *)c + s->offset;
    enum status st = ST_INVALID;

    switch (s->type) {
    case CONFIG_INT: st = set_int(s, place, value, from); break;
    case CONFIG_BOOL: st = set_bool(s, place, value, from); break;
    case CONFIG_TEXT: st = set_text(s, place, value, from); break;
    }
    if (st != ST_OK)
        from->mistakes->refused[setting_no(s)] = true;
    return st;
}

/* Sets a setting that the file names by its older name: then the value is the path of a socket. */
static enum status setting_set_older(struct config *c, const struct config_setting *s, struct str path,
                                     const struct source *from)
{
    char text[CONFIG_TEXT_MAX];
    if (path.len < 1 || path.len > ADDRESS_PATH_MAX) {
        from->mistakes->refused[setting_no(s)] = true;
        return config_refuse(from, "%s must have from 1 to %d bytes", s->older, (int)ADDRESS_PATH_MAX);
    }
    (void)snprintf(text, sizeof text, "unix:%.*s", STR_ARG(path));
    return config_setting_set(c, s, str_from(text), from);
}

/* Writes the beginning of a name that is no setting, as a terminal may show it. Returns out. */
static const char *name_shown(struct str name, char out[NAME_SHOWN_MAX + 1])
{
    size_t len = name.len < NAME_SHOWN_MAX ? name.len : NAME_SHOWN_MAX;
    for (size_t i = 0; i < len; i++)
        out[i] = name.ptr[i] >= ' ' && name.ptr[i] <= '~' ? name.ptr[i] : '?';
    out[len] = '\0';
    return out;
}

/* Sets the setting of this name, present or older. *seen: the name by which this file has set it before; NULL: not
 * yet. */
static enum status named_set(struct config *c, const struct config_setting *s, const char *name, const char **seen,
                             struct str value, const struct source *from)
{
    if (*seen == name)
        return config_refuse(from, "%s is set twice", name);
    if (*seen != NULL)
        return config_refuse(from, "%s and %s are the same setting; only one may be set", s->name, s->older);
    *seen = name;
    return name == s->name ? config_setting_set(c, s, value, from) : setting_set_older(c, s, value, from);
}

/* `name = value # comment`; an empty line is ST_OK. seen: for each setting, as in named_set. */
static enum status line_read(struct config *c, struct str line, const char **seen, const struct source *from)
{
    struct str value;

    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '#' && (i == 0 || line.ptr[i - 1] == ' ' || line.ptr[i - 1] == '\t')) {
            line.len = i;
            break;
        }
    }
    line = str_trim(line);
    if (line.len == 0)
        return ST_OK;
    struct str name = str_trim(str_cut(line, '=', &value));
    if (value.ptr == NULL || name.len == 0)
        return config_refuse(from, "expected name = value");
    size_t count;
    const struct config_setting *all = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_setting *s = &all[i];
        if (str_equal(name, str_from(s->name)))
            return named_set(c, s, s->name, &seen[i], str_trim(value), from);
        if (s->older != NULL && str_equal(name, str_from(s->older)))
            return named_set(c, s, s->older, &seen[i], str_trim(value), from);
    }
    const char *like = config_setting_like(name);
    char shown[NAME_SHOWN_MAX + 1];
    if (like != NULL)
        return config_refuse(from, "there is no such setting: %s; did you mean %s?", name_shown(name, shown), like);
    return config_refuse(from, "there is no such setting: %s", name_shown(name, shown));
}

static uint64_t digest_of(const struct buf *text)
{
    uint8_t sha256[HASH_BYTES];
    uint64_t digest;
    hash_sha256(text->len > 0 ? text->ptr : "", text->len, sha256);
    memcpy(&digest, sha256, sizeof digest);
    return digest;
}

enum status config_file_read(struct config *c, const char *path, uint64_t *digest, struct mistakes *mistakes)
{
    struct source from = { .file = path, .mistakes = mistakes };
    const char *seen[CONFIG_SETTINGS_MAX] = { NULL };
    enum status st = ST_OK;
    struct buf text = BUF_EMPTY;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)config_refuse(&from, "%s", strerror(errno));
        return ST_UNAVAILABLE;
    }
    while (errno = 0, (len = getline(&line, &cap, file)) >= 0) {
        from.line++;
        buf_bytes(&text, line, (size_t)len);
        struct str rest = { line, (size_t)len };
        if (from.line == 1)
            (void)str_skip_prefix(&rest, STR("\xef\xbb\xbf")); /* the mark that some editors put before UTF-8 */
        if (line_read(c, rest, seen, &from) != ST_OK)
            st = ST_INVALID;
    }
    if (!feof(file)) {
        from.line = 0;
        st = errno == ENOMEM ? ST_NO_MEMORY : ST_UNAVAILABLE;
        (void)config_refuse(&from, "%s", strerror(errno));
    }
    if (text.failed)
        st = ST_NO_MEMORY;
    else if (digest != NULL)
        *digest = digest_of(&text);
    buf_free(&text);
    free(line);
    fclose(file);
    return st;
}

/* Sets the setting from its variable HB_NAME, if the environment has one; name: the setting's present or older name. */
static enum status variable_read(struct config *c, const struct config_setting *s, const char *name, const char **seen,
                                 struct mistakes *mistakes)
{
    char variable[ENV_NAME_MAX] = "HB_";
    const struct source from = { .name = variable, .mistakes = mistakes };
    size_t n = strlen(variable);

    assert(strlen(name) < sizeof variable - n);
    for (const char *p = name; *p; p++)
        variable[n++] = (char)toupper((unsigned char)*p);
    variable[n] = '\0';
    const char *value = getenv(variable);
    return value == NULL ? ST_OK : named_set(c, s, name, seen, str_from(value), &from);
}

enum status config_environment_read(struct config *c, struct mistakes *mistakes)
{
    enum status st = ST_OK;
    size_t count;
    const struct config_setting *all = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_setting *s = &all[i];
        const char *seen = NULL;
        if (variable_read(c, s, s->name, &seen, mistakes) != ST_OK)
            st = ST_INVALID;
        if (s->older != NULL && variable_read(c, s, s->older, &seen, mistakes) != ST_OK)
            st = ST_INVALID;
    }
    return st;
}
