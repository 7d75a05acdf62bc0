#include "oidc/url.h"

#include <arpa/inet.h>
#include <string.h>

enum { PORT_HTTPS = 443, PORT_HTTP = 80, PORT_MAX = 65535 };

/* Every byte is one of these, or a letter or digit. */
static bool all_of(struct str s, const char *others)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return true;
}

/* True: an address of this family, in the spelling that has only one reading ("127.1" is not). */
static bool is_address(struct str text, int family)
{
    char copy[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    if (text.len == 0 || text.len >= sizeof copy || !all_of(text, ".:"))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return inet_pton(family, copy, address) == 1;
}

static bool is_loopback(struct str host)
{
    return str_equal_fold(host, STR("localhost")) || str_equal(host, STR("[::1]")) ||
           (str_starts(host, STR("127.")) && is_address(host, AF_INET));
}

/* Splits "HOST" or "HOST:PORT". The port is 0 when there is none. */
static bool authority_read(struct str text, struct str *host, uint16_t *port)
{
    bool v6 = text.len > 0 && text.ptr[0] == '[';
    size_t end = v6 ? str_index(text, ']') : 0;
    if (v6 && end == text.len)
        return false;
    size_t colon = end + str_index(str_skip(text, end), ':');
    uint64_t number = 0;
    *host = str_slice(text, 0, colon);
    *port = 0;
    if (colon < text.len) {
        if (!str_to_u64(str_skip(text, colon + 1), &number) || number == 0 || number > PORT_MAX)
            return false;
        *port = (uint16_t)number;
    }
    if (v6)
        return end == colon - 1 && is_address(str_slice(*host, 1, end), AF_INET6);
    return host->len > 0 && all_of(*host, "-.") && host->ptr[0] != '.' && host->ptr[0] != '-';
}

bool oidc_url_read(struct str text, struct oidc_url *out)
{
    struct str rest = text;
    out->https = str_skip_prefix(&rest, STR("https://"));
    if (text.len > OIDC_URL_MAX || (!out->https && !str_skip_prefix(&rest, STR("http://"))))
        return false;
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?')
        end++;
    if (!authority_read(str_slice(rest, 0, end), &out->host, &out->port))
        return false;
    if (out->port == 0)
        out->port = out->https ? PORT_HTTPS : PORT_HTTP;
    out->path = str_cut(str_skip(rest, end), '?', &out->query);
    return (out->https || is_loopback(out->host)) && all_of(out->path, "/-._~!$&'()*+,;=:@%") &&
           all_of(out->query, "/-._~!$&'()*+,;=:@%?");
}

bool oidc_url_is_at(const struct oidc_url *url, struct str host)
{
    struct str name;
    uint16_t port;
    return authority_read(host, &name, &port) && str_equal_fold(name, url->host) &&
           (port == 0 ? PORT_HTTPS : port) == url->port;
}

bool oidc_url_same_origin(const struct oidc_url *a, const struct oidc_url *b)
{
    return a->https == b->https && a->port == b->port && str_equal_fold(a->host, b->host);
}
