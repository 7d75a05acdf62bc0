/* Reads the files of functions, resolves their includes, and makes libraries of them. */
#include "redis/function.h"

#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"

enum {
    FILE_NAME_MAX = 32,
    KEYS_MAX = 16,
    TEXT_BYTES_MAX = 64 << 10,
    INCLUDE_DEPTH_MAX = 8,
    INCLUDES_MAX = 32, /* of one function */
    PATH_BYTES_MAX = 512,
    HASH_BYTES = crypto_generichash_BYTES_MIN
};

struct redis_function {
    char stem[FILE_NAME_MAX]; /* of its file */
    char name[REDIS_FUNCTION_NAME_MAX];
    uint32_t key_count;
    struct buf library;
};

struct redis_functions {
    struct redis_function items[REDIS_FUNCTIONS_MAX];
    size_t count;
};

/* The text of a function's file, and of its includes: these run once, when the library is loaded, and not in each
 * call. */
struct source {
    struct buf included, body;
};

/* State while files are read: for messages, and to detect cycles of includes. */
struct loader {
    const char *dir;
    const struct redis_include *made;           /* NULL: none */
    char included[INCLUDES_MAX][FILE_NAME_MAX]; /* files included so far in the current function */
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
    return name.len > 0 && name.len < FILE_NAME_MAX - sizeof "include/.lua";
}

static enum status text_append(struct loader *l, const char *file, size_t depth, struct source *out);

static enum status include_append(struct loader *l, const char *file, size_t depth, struct str name, struct source *out)
{
    if (!name_is_plain(name))
        return load_fail(l, file, "bad include name: ", name);
    char included[FILE_NAME_MAX];
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
    if (l->made != NULL && str_equal(name, l->made->name)) {
        buf_str(&out->included, l->made->text);
        return ST_OK;
    }
    return text_append(l, included, depth + 1, out);
}

/* Appends a file, and the files that its include lines name. */
static enum status text_append(struct loader *l, const char *file, size_t depth, struct source *out)
{
    struct buf *text = depth == 0 ? &out->body : &out->included;
    l->stack[depth] = file;
    struct buf raw = { .limit = TEXT_BYTES_MAX };
    enum status st = file_read(l, file, &raw);
    struct str rest = buf_view(&raw);
    while (st == ST_OK && rest.len > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        struct str name = include_name(line);
        if (name.ptr != NULL) {
            st = include_append(l, file, depth, name, out);
        } else {
            buf_str(text, line);
            buf_char(text, '\n');
        }
    }
    buf_free(&raw);
    if (st == ST_OK && text->failed)
        return load_fail(l, file, "is too large with its includes", STR(""));
    return st;
}

/* NAME-K.lua → name and number of keys. */
static bool file_name_parse(const char *file, struct redis_function *f)
{
    struct str stem = { file, strlen(file) - strlen(".lua") };
    struct str digits;
    struct str name = str_cut(stem, '-', &digits);
    uint64_t keys;
    if (!name_is_plain(name) || !str_to_u64(digits, &keys) || keys > KEYS_MAX)
        return false;
    memcpy(f->stem, name.ptr, name.len);
    f->stem[name.len] = '\0';
    f->key_count = (uint32_t)keys;
    return true;
}

/* The flags in `#!lua flags=FLAG,…`; empty: none. False: another line. */
static bool flags_read(struct str line, struct str *flags)
{
    *flags = STR("");
    if (!str_skip_prefix(&line, STR("#!lua")))
        return false;
    if (str_skip_prefix(&line, STR(" flags=")))
        *flags = line;
    return flags->len > 0 || line.len == 0;
}

static void hash_make(const struct source *source, unsigned char *hash)
{
    crypto_generichash_state state;
    const struct str parts[] = { buf_view(&source->included), buf_view(&source->body) };
    crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        crypto_generichash_update(&state, (const unsigned char *)parts[i].ptr, parts[i].len);
    crypto_generichash_final(&state, hash, HASH_BYTES);
}

/* Sets the function's name and its library. */
static enum status library_make(struct loader *l, const char *file, const struct source *source,
                                struct redis_function *f)
{
    unsigned char hash[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1], name[sizeof f->name] = "";
    struct str flags, body;
    if (!flags_read(str_cut(buf_view(&source->body), '\n', &body), &flags))
        return load_fail(l, file, "does not begin with #!lua, or #!lua flags=…", STR(""));
    hash_make(source, hash);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    /* not printed into *f: gcc 14 warns of an overlap */
    (void)snprintf(name, sizeof name, "hongbao_%s_%s", f->stem, hex);
    memcpy(f->name, name, sizeof name);
    buf_printf(&f->library, "#!lua name=%s\n", f->name);
    buf_str(&f->library, buf_view(&source->included));
    buf_printf(&f->library, "redis.register_function{function_name='%s', flags={", f->name);
    while (flags.len > 0) {
        struct str flag = str_cut(flags, ',', &flags);
        buf_printf(&f->library, "'%.*s', ", STR_ARG(flag));
    }
    buf_cstr(&f->library, "}, callback=function(KEYS, ARGV)\n");
    buf_str(&f->library, body);
    buf_cstr(&f->library, "end}\n");
    return f->library.failed ? ST_NO_MEMORY : ST_OK;
}

static enum status function_read(struct loader *l, const char *file, struct redis_functions *set)
{
    if (set->count == REDIS_FUNCTIONS_MAX)
        return load_fail(l, file, "too many functions", STR(""));
    struct redis_function *f = &set->items[set->count];
    if (!file_name_parse(file, f))
        return load_fail(l, file, "not named NAME-KEYS.lua", STR(""));
    if (redis_function_find(set, f->stem) != NULL)
        return load_fail(l, file, "there are two functions of this name", STR(""));
    set->count++;
    struct source source = { .included = { .limit = TEXT_BYTES_MAX }, .body = { .limit = TEXT_BYTES_MAX } };
    l->included_count = 0;
    enum status st = text_append(l, file, 0, &source);
    if (st == ST_OK)
        st = library_make(l, file, &source, f);
    buf_free(&source.included);
    buf_free(&source.body);
    return st;
}

enum status redis_functions_read(const char *dir, const struct redis_include *made, struct redis_functions **out,
                                 char *error, size_t error_size)
{
    struct loader l = { .dir = dir, .made = made, .error = error, .error_size = error_size };
    struct redis_functions *set = calloc(1, sizeof *set);
    if (set == NULL)
        return ST_NO_MEMORY;
    DIR *d = opendir(dir);
    enum status st = d == NULL ? load_fail(&l, ".", "", str_from(strerror(errno))) : ST_OK;
    const struct dirent *entry;
    while (st == ST_OK && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.' && str_ends(str_from(entry->d_name), STR(".lua")))
            st = function_read(&l, entry->d_name, set);
    if (d != NULL)
        (void)closedir(d);
    if (st != ST_OK) {
        redis_functions_free(set);
        return st;
    }
    *out = set;
    return ST_OK;
}

void redis_functions_free(struct redis_functions *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        buf_free(&s->items[i].library);
    free(s);
}

size_t redis_functions_count(const struct redis_functions *s)
{
    return s->count;
}

const struct redis_function *redis_functions_at(const struct redis_functions *s, size_t at)
{
    return &s->items[at];
}

const struct redis_function *redis_function_find(const struct redis_functions *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].stem, name) == 0)
            return &s->items[i];
    return NULL;
}

uint32_t redis_function_key_count(const struct redis_function *f)
{
    return f->key_count;
}

struct str redis_function_name(const struct redis_function *f)
{
    return str_from(f->name);
}

struct str redis_function_library(const struct redis_function *f)
{
    return buf_view(&f->library);
}
