#include "config/issuer.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/utf8.h"
#include "config/site_url.h"

enum { ARENA_BYTES = 4096, ENTRIES_MAX = 32, ORIGIN_MAX = CONFIG_TEXT_MAX + 16 };

#define LETTERS      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS       "0123456789"
#define PATH_CHARS   LETTERS DIGITS "/-._~!$&'()*+,;=:@%"
#define CLAIM_CHARS  LETTERS DIGITS "_-.:/"
#define DOMAIN_CHARS LETTERS DIGITS "-."

static bool is_of(struct str s, const char *chars)
{
    size_t i = 0;
    while (i < s.len && s.ptr[i] != '\0' && strchr(chars, s.ptr[i]) != NULL)
        i++;
    return i == s.len;
}

/* host: as in a URL, with its port. */
static bool is_loopback(struct str host)
{
    static const char *const own[] = { "localhost", "127.0.0.1", "[::1]" };
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct str rest = host;
        if (str_skip_prefix(&rest, str_from(own[i])) && (rest.len == 0 || rest.ptr[0] == ':'))
            return true;
    }
    return false;
}

const char *issuer_mistake(const char *url)
{
    char origin[ORIGIN_MAX];
    struct str rest = str_from(url);
    if (rest.len == 0)
        return NULL;
    const bool is_plain = str_skip_prefix(&rest, STR("http://"));
    if (!is_plain && !str_skip_prefix(&rest, STR("https://")))
        return "it must begin with https://";
    if (str_index(rest, '?') < rest.len || str_index(rest, '#') < rest.len)
        return "it must have no query and no fragment";
    const struct str host = str_slice(rest, 0, str_index(rest, '/')), path = str_skip(rest, host.len);
    (void)snprintf(origin, sizeof origin, "https://%.*s", STR_ARG(host));
    const char *mistake = site_url_mistake(origin);
    if (mistake != NULL)
        return mistake;
    if (!is_of(path, PATH_CHARS))
        return "its path has a character that no path has";
    return is_plain && !is_loopback(host) ? "it must begin with https://; http:// is for a loopback address alone"
                                          : NULL;
}

bool issuer_scopes_valid(const char *text)
{
    struct str rest = str_from(text);
    bool has_openid = false;
    while (rest.ptr != NULL) {
        const struct str scope = str_cut(rest, ' ', &rest);
        if (scope.len == 0)
            return false;
        for (size_t i = 0; i < scope.len; i++)
            if (scope.ptr[i] <= ' ' || scope.ptr[i] > '~' || scope.ptr[i] == '"' || scope.ptr[i] == '\\')
                return false;
        has_openid = has_openid || str_equal(scope, STR("openid"));
    }
    return has_openid;
}

bool issuer_claim_valid(const char *text)
{
    return is_of(str_from(text), CLAIM_CHARS);
}

bool issuer_name_valid(const char *text)
{
    const struct str s = str_from(text);
    struct str shown;
    if (s.len == 0)
        return true;
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES);
    const bool valid = a != NULL && utf8_clean_shown(a, s, &shown) == ST_OK && str_equal(s, shown);
    arena_free(a);
    return valid;
}

bool issuer_list_next(struct str *list, struct str *entry)
{
    if (list->ptr == NULL || str_trim(*list).len == 0) {
        *list = STR_NONE;
        return false;
    }
    *entry = str_trim(str_cut(*list, ',', list));
    return true;
}

/* A rule of one entry. */
typedef bool entry_fn(struct str entry);

static bool entries_valid(const char *text, entry_fn *valid)
{
    struct str rest = str_from(text), entry;
    size_t count = 0;
    while (issuer_list_next(&rest, &entry))
        if (entry.len == 0 || ++count > ENTRIES_MAX || !valid(entry))
            return false;
    return true;
}

static bool host_valid(struct str host)
{
    char origin[ORIGIN_MAX];
    (void)snprintf(origin, sizeof origin, "https://%.*s", STR_ARG(host));
    return site_url_mistake(origin) == NULL;
}

static bool domain_valid(struct str domain)
{
    return is_of(domain, DOMAIN_CHARS) && host_valid(domain);
}

static bool group_valid(struct str group)
{
    return utf8_valid(group);
}

bool issuer_domains_valid(const char *text)
{
    return entries_valid(text, domain_valid);
}

bool issuer_hosts_valid(const char *text)
{
    return entries_valid(text, host_valid);
}

bool issuer_groups_valid(const char *text)
{
    return entries_valid(text, group_valid);
}

enum issuer_secret issuer_secret_read(const struct config *c, char out[CONFIG_TEXT_MAX])
{
    char line[2 * CONFIG_TEXT_MAX] = "";
    out[0] = '\0';
    if (c->oidc_client_secret_file[0] == '\0')
        return ISSUER_SECRET_NONE;
    errno = 0;
    FILE *file = fopen(c->oidc_client_secret_file, "re");
    if (file == NULL)
        return ISSUER_SECRET_NOT_READ;
    const bool read = fgets(line, sizeof line, file) != NULL || errno == 0;
    const int error = errno;
    fclose(file);
    errno = error;
    const struct str secret = str_trim(str_from(line));
    const enum issuer_secret result = !read                           ? ISSUER_SECRET_NOT_READ
                                      : secret.len == 0               ? ISSUER_SECRET_EMPTY
                                      : secret.len >= CONFIG_TEXT_MAX ? ISSUER_SECRET_LONG
                                                                      : ISSUER_SECRET_RIGHT;
    if (result == ISSUER_SECRET_RIGHT) {
        memcpy(out, secret.ptr, secret.len);
        out[secret.len] = '\0';
    }
    sodium_memzero(line, sizeof line);
    return result;
}
