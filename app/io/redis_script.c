/* Reads script files and resolves their includes. */
#include "io/redis_script.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum {
    SCRIPT_NAME_MAX = 32,
    SCRIPT_KEYS_MAX = 16,
    SCRIPT_BYTES_MAX = 64 << 10,
    INCLUDE_DEPTH_MAX = 8,
    INCLUDES_MAX = 32, /* of one script */
    PATH_BYTES_MAX = 512,
    HASH_LEN = 40
};

struct redis_script {
    char name[SCRIPT_NAME_MAX];
    uint32_t key_count;
    struct buf text;
    char hash[HASH_LEN];
};

struct redis_scripts {
    struct redis_script items[REDIS_SCRIPTS_MAX];
    size_t count;
};

/* State while scripts are read: for messages, and to detect cycles of includes. */
struct loader {
    const char *dir;
    char included[INCLUDES_MAX][SCRIPT_NAME_MAX]; /* files included so far in the current script */
    size_t included_count;
    const char *stack[INCLUDE_DEPTH_MAX]; /* the file being read and those that include it */
    char *error;
    size_t error_size;
};

static enum status load_fail(struct loader *l, const char *file, const char *why, struct str what)
{
    if (l->error_size > 0)
        (void)snprintf(l->error, l->error_size, "%s/%s: %s%.*s", l->dir, file, why, STR_ARG(what));
    return ST_INVALID;
}

static enum status file_read(struct loader *l, const char *file, struct buf *out)
{
    char path[PATH_BYTES_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", l->dir, file);
    if (len < 0 || (size_t)len >= sizeof path)
        return load_fail(l, file, "the path is too long", STR(""));
    enum status st = buf_file(out, path);
    if (st == ST_UNAVAILABLE)
        return load_fail(l, file, "", str_from(strerror(errno)));
    return st == ST_OK ? ST_OK : load_fail(l, file, "is too large", STR(""));
}

/* The name in `-- @include "name"`; STR_NONE for any other line. */
static struct str include_name(struct str line)
{
    if (!str_skip_prefix(&line, STR("-- @include \"")))
        return STR_NONE;
    struct str rest;
    struct str name = str_cut(line, '"', &rest);
    return rest.ptr == NULL ? STR_NONE : name;
}

static bool name_is_plain(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!(name.ptr[i] >= 'a' && name.ptr[i] <= 'z') && name.ptr[i] != '_')
            return false;
    return name.len > 0 && name.len < SCRIPT_NAME_MAX - sizeof "include/.lua";
}

static enum status text_append(struct loader *l, const char *file, size_t depth, struct buf *out);

static enum status include_append(struct loader *l, const char *file, size_t depth, struct str name, struct buf *out)
{
    if (!name_is_plain(name))
        return load_fail(l, file, "bad include name: ", name);
    char included[SCRIPT_NAME_MAX];
    (void)snprintf(included, sizeof included, "include/%.*s.lua", STR_ARG(name));
    for (size_t i = 0; i <= depth; i++)
        if (strcmp(l->stack[i], included) == 0)
            return load_fail(l, file, "includes itself through ", name);
    for (size_t i = 0; i < l->included_count; i++)
        if (strcmp(l->included[i], included) == 0)
            return ST_OK;
    if (depth + 1 == INCLUDE_DEPTH_MAX || l->included_count == INCLUDES_MAX)
        return load_fail(l, file, "too many includes at ", name);
    memcpy(l->included[l->included_count++], included, sizeof included);
    return text_append(l, included, depth + 1, out);
}

/* Appends a file, its include lines replaced by the files they name. */
static enum status text_append(struct loader *l, const char *file, size_t depth, struct buf *out)
{
    l->stack[depth] = file;
    struct buf raw = { .limit = SCRIPT_BYTES_MAX };
    enum status st = file_read(l, file, &raw);
    struct str rest = buf_view(&raw);
    while (st == ST_OK && rest.len > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        struct str name = include_name(line);
        if (name.ptr != NULL) {
            st = include_append(l, file, depth, name, out);
        } else {
            buf_str(out, line);
            buf_char(out, '\n');
        }
    }
    buf_free(&raw);
    if (st == ST_OK && out->failed)
        return load_fail(l, file, "is too large with its includes", STR(""));
    return st;
}

/* NAME-K.lua → name and number of keys. */
static bool file_name_parse(const char *file, struct redis_script *s)
{
    struct str stem = { file, strlen(file) - strlen(".lua") };
    struct str digits;
    struct str name = str_cut(stem, '-', &digits);
    uint64_t keys;
    if (!name_is_plain(name) || !str_to_u64(digits, &keys) || keys > SCRIPT_KEYS_MAX)
        return false;
    memcpy(s->name, name.ptr, name.len);
    s->name[name.len] = '\0';
    s->key_count = (uint32_t)keys;
    return true;
}

static enum status script_load(struct loader *l, const char *file, struct redis_scripts *set)
{
    if (set->count == REDIS_SCRIPTS_MAX)
        return load_fail(l, file, "too many scripts", STR(""));
    struct redis_script *s = &set->items[set->count];
    if (!file_name_parse(file, s))
        return load_fail(l, file, "not named NAME-KEYS.lua", STR(""));
    if (redis_script_find(set, s->name) != NULL)
        return load_fail(l, file, "there are two scripts of this name", STR(""));
    set->count++;
    s->text.limit = SCRIPT_BYTES_MAX;
    l->included_count = 0;
    enum status st = text_append(l, file, 0, &s->text);
    if (st != ST_OK)
        return st;
    if (!str_starts(buf_view(&s->text), STR("#!lua")))
        return load_fail(l, file, "does not begin with #!lua", STR(""));
    memset(s->hash, '0', sizeof s->hash);
    return ST_OK;
}

enum status redis_scripts_load(const char *dir, struct redis_scripts **out, char *error, size_t error_size)
{
    struct loader l = { .dir = dir, .error = error, .error_size = error_size };
    struct redis_scripts *set = calloc(1, sizeof *set);
    if (set == NULL)
        return ST_NO_MEMORY;
    DIR *d = opendir(dir);
    enum status st = d == NULL ? load_fail(&l, ".", "", str_from(strerror(errno))) : ST_OK;
    const struct dirent *entry;
    while (st == ST_OK && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.' && str_ends(str_from(entry->d_name), STR(".lua")))
            st = script_load(&l, entry->d_name, set);
    if (d != NULL)
        (void)closedir(d);
    if (st != ST_OK) {
        redis_scripts_free(set);
        return st;
    }
    *out = set;
    return ST_OK;
}

void redis_scripts_free(struct redis_scripts *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        buf_free(&s->items[i].text);
    free(s);
}

struct redis_script *redis_script_find(struct redis_scripts *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return &s->items[i];
    return NULL;
}

uint32_t redis_script_key_count(const struct redis_script *s)
{
    return s->key_count;
}

struct str redis_script_text(const struct redis_script *s)
{
    return buf_view(&s->text);
}

struct str redis_script_hash(const struct redis_script *s)
{
    return (struct str){ s->hash, sizeof s->hash };
}

void redis_script_hash_set(struct redis_script *s, struct str hash)
{
    if (hash.len == sizeof s->hash)
        memcpy(s->hash, hash.ptr, sizeof s->hash);
}
