#include "doctor/nginx_conf.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "web/router.h"

enum { FILE_BYTES_MAX = 4 << 20, INCLUDES_DEEP_MAX = 8, WORDS_MAX = 64, PATH_BYTES_MAX = 4096, KIB = 1024 };

/* One directive: its words, the first of which is its name. */
struct directive {
    struct str words[WORDS_MAX];
    size_t count;
};

void nginx_conf_init(struct nginx_conf *conf, struct arena *a, const char *file)
{
    *conf = (struct nginx_conf){ .arena = a, .file = file, .prefix = "", .body_bytes_max = -1 };
    const char *slash = file == NULL ? NULL : strrchr(file, '/');
    if (slash != NULL)
        conf->prefix = arena_cstr(a, (struct str){ file, (size_t)(slash - file) + 1 });
}

/* ---- values ---- */

static void list_add(struct nginx_conf *conf, struct nginx_conf_list *list, struct str value, bool once)
{
    for (size_t i = 0; i < list->count; i++)
        if (once && str_equal(str_from(list->items[i]), value))
            return;
    char *copy = list->count < NGINX_CONF_ITEMS_MAX ? arena_cstr(conf->arena, value) : NULL;
    if (copy != NULL)
        list->items[list->count++] = copy;
}

/* Relative to the folder of the main file, as in Debian's nginx. */
static struct str path_of(struct nginx_conf *conf, struct str path)
{
    return str_starts(path, STR("/")) ? path : arena_printf(conf->arena, "%s%.*s", conf->prefix, STR_ARG(path));
}

/* "16k", "1m" or bytes; 0 means no limit. */
static int64_t size_of(struct str text)
{
    int64_t n, unit = 1;
    if (str_ends(text, STR("k")) || str_ends(text, STR("K")))
        unit = KIB;
    if (str_ends(text, STR("m")) || str_ends(text, STR("M")))
        unit = KIB * KIB;
    if (!str_to_i64(unit > 1 ? str_slice(text, 0, text.len - 1) : text, &n) || n < 0 || n > INT64_MAX / unit)
        return -1;
    return n == 0 ? INT64_MAX : n * unit;
}

static void listen_add(struct nginx_conf *conf, const struct directive *one)
{
    struct str text = STR("");
    for (size_t i = 1; i < one->count; i++)
        text = arena_printf(conf->arena, "%.*s%s%.*s", STR_ARG(text), i > 1 ? " " : "", STR_ARG(one->words[i]));
    list_add(conf, &conf->listens, text, true);
}

/* access_log /var/log/nginx/hongbao.access.log hongbao buffer=64k; */
static void log_add(struct nginx_conf *conf, const struct directive *one)
{
    struct str file = one->count > 2 && str_equal(one->words[2], STR("hongbao")) ? one->words[1] : STR("");
    if (file.len > 0 && !str_starts(file, STR("syslog:")) && str_index(file, '$') == file.len)
        list_add(conf, &conf->logs, path_of(conf, file), true);
}

static void path_take(struct nginx_conf *conf, const char **out, struct str path)
{
    const bool is_file = !str_starts(path, STR("syslog:")) && !str_starts(path, STR("memory:"));
    if (*out == NULL && is_file && !str_equal(path, STR("stderr")))
        *out = arena_cstr(conf->arena, path_of(conf, path));
}

/* uploads (nginx/site.conf) have their own size, which belongs to two addresses and not to the site */
static void body_size_take(struct nginx_conf *conf, int64_t bytes)
{
    if (bytes > conf->body_bytes_max && bytes != (int64_t)UPLOAD_BYTES_MAX && bytes != INT64_MAX)
        conf->body_bytes_max = bytes;
}

static void directive_take(struct nginx_conf *conf, const struct directive *one)
{
    struct str name = one->words[0], value = one->count > 1 ? one->words[1] : STR("");
    if (str_equal(name, STR("listen")))
        listen_add(conf, one);
    else if (str_equal(name, STR("ssl_certificate")))
        list_add(conf, &conf->certificates, path_of(conf, value), false);
    else if (str_equal(name, STR("ssl_certificate_key")))
        list_add(conf, &conf->keys, path_of(conf, value), false);
    else if (str_equal(name, STR("pid")))
        path_take(conf, &conf->pid_file, value);
    else if (str_equal(name, STR("error_log")))
        path_take(conf, &conf->error_log, value);
    else if (str_equal(name, STR("access_log")))
        log_add(conf, one);
    else if (str_equal(name, STR("client_max_body_size")))
        body_size_take(conf, size_of(value));
    else if ((str_equal(name, STR("server")) || str_equal(name, STR("fastcgi_pass"))) &&
             str_skip_prefix(&value, STR("unix:")))
        list_add(conf, &conf->sockets, value, true);
}

/* ---- files ---- */

static enum status file_read(struct nginx_conf *conf, const char *path, unsigned depth);

static enum status include_read(struct nginx_conf *conf, struct str pattern, unsigned depth)
{
    char path[PATH_BYTES_MAX];
    glob_t found;
    struct str whole = path_of(conf, pattern);
    (void)snprintf(path, sizeof path, "%.*s", STR_ARG(whole));
    int result = glob(path, GLOB_NOCHECK, NULL, &found);
    if (result != 0)
        return ST_NO_MEMORY;
    enum status st = ST_OK;
    bool is_pattern = strpbrk(path, "*?[") != NULL;
    for (size_t i = 0; st == ST_OK && i < found.gl_pathc; i++)
        if (!is_pattern || strcmp(found.gl_pathv[i], path) != 0)
            st = file_read(conf, found.gl_pathv[i], depth);
    globfree(&found);
    return st;
}

/* Cuts the next word off *text: "", ; { and } are words of their own. A word may be quoted. False at the end. */
static bool word_next(struct str *text, struct str *word)
{
    struct str s = *text;
    for (;;) {
        while (s.len > 0 && (unsigned char)s.ptr[0] <= ' ')
            s = str_skip(s, 1);
        if (s.len == 0 || s.ptr[0] != '#')
            break;
        s = str_skip(s, str_index(s, '\n'));
    }
    if (s.len == 0)
        return false;
    size_t len = 1;
    char quote = s.ptr[0];
    if (quote == '"' || quote == '\'') {
        while (len < s.len && s.ptr[len] != quote)
            len += s.ptr[len] == '\\' && len + 1 < s.len ? 2 : 1;
        *word = str_slice(s, 1, len < s.len ? len : s.len);
        *text = str_skip(s, len < s.len ? len + 1 : s.len);
        return true;
    }
    if (strchr(";{}", quote) == NULL)
        while (len < s.len && (unsigned char)s.ptr[len] > ' ' && strchr(";{}", s.ptr[len]) == NULL)
            len++;
    *word = str_slice(s, 0, len);
    *text = str_skip(s, len);
    return true;
}

static enum status text_read(struct nginx_conf *conf, struct str text, unsigned depth)
{
    struct directive one = { .count = 0 };
    struct str word;
    enum status st = ST_OK;
    while (st == ST_OK && word_next(&text, &word)) {
        bool ends = word.len == 1 && strchr(";{}", word.ptr[0]) != NULL;
        if (!ends) {
            if (one.count < WORDS_MAX)
                one.words[one.count++] = word;
            continue;
        }
        if (one.count == 2 && str_equal(one.words[0], STR("include")))
            st = include_read(conf, one.words[1], depth + 1);
        else if (one.count > 0 && word.ptr[0] == ';')
            directive_take(conf, &one);
        one.count = 0;
    }
    return st;
}

static enum status file_read(struct nginx_conf *conf, const char *path, unsigned depth)
{
    struct buf text = { .limit = FILE_BYTES_MAX };
    enum status st = depth > INCLUDES_DEEP_MAX ? ST_INVALID : buf_file(&text, path);
    if (st == ST_OK) {
        struct str copy = arena_str(conf->arena, buf_view(&text));
        list_add(conf, &conf->files, str_from(path), true);
        st = copy.ptr == NULL ? ST_NO_MEMORY : text_read(conf, copy, depth);
    } else if (conf->error[0] == '\0')
        (void)snprintf(conf->error, sizeof conf->error, "%.400s: %s", path,
                       st == ST_UNAVAILABLE ? strerror(errno) : "too many includes");
    buf_free(&text);
    return st;
}

enum status nginx_conf_read(struct nginx_conf *conf)
{
    return conf->prefix == NULL ? ST_NO_MEMORY : file_read(conf, conf->file, 0);
}
