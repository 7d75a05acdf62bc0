#include "config/site_url.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "config/punycode.h"

enum { MISTAKE_MAX = 512, PORT_MAX = 65535 };

static bool is_of(struct str s, const char *chars)
{
    size_t i = 0;
    while (i < s.len && s.ptr[i] != '\0' && strchr(chars, s.ptr[i]) != NULL)
        i++;
    return i == s.len;
}

static bool is_ascii(struct str s)
{
    size_t i = 0;
    while (i < s.len && (unsigned char)s.ptr[i] < 0x80)
        i++;
    return i == s.len;
}

static bool is_address(int family, struct str s)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    if (s.len >= sizeof text)
        return false;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return inet_pton(family, text, address) == 1;
}

static bool port_is_right(struct str port)
{
    uint64_t number;
    return port.len > 0 && port.ptr[0] != '0' && str_to_u64(port, &number) && number <= PORT_MAX;
}

static bool label_is_right(struct str label)
{
    return label.len > 0 && label.len <= HOST_LABEL_MAX_BYTES && label.ptr[0] != '-' &&
           label.ptr[label.len - 1] != '-' &&
           is_of(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}

static const char *name_mistake(struct str name)
{
    struct str rest = name;
    if (name.len > HOST_NAME_MAX_BYTES)
        return "its host has more than 253 characters";
    while (rest.ptr != NULL)
        if (!label_is_right(str_cut(rest, '.', &rest)))
            return "its host is no name: between dots it must have 1 to 63 letters, digits, _ and inner -";
    if (is_of(name, "0123456789.") && !is_address(AF_INET, name))
        return "its host looks like an address, but is none: four numbers from 0 to 255";
    return NULL;
}

/* scheme: "https://" or "http://". host: with other letters than ASCII; port: with its colon, or empty. */
static const char *letters_mistake(struct str scheme, struct str host, struct str port)
{
    static char text[MISTAKE_MAX];
    char ascii[HOST_NAME_MAX_BYTES + 1];
    if (!host_to_ascii(host, ascii) || name_mistake(str_from(ascii)) != NULL)
        return "its host has letters that no name of a host has";
    (void)snprintf(text, sizeof text, "its host must be written in ASCII: %.*s%s%.*s", STR_ARG(scheme), ascii,
                   STR_ARG(port));
    return text;
}

const char *site_url_mistake(const char *url)
{
    struct str rest = str_from(url);
    if (!str_skip_prefix(&rest, STR("https://")) && !str_skip_prefix(&rest, STR("http://")))
        return "it must begin with https:// or http://";
    const struct str scheme = { url, (size_t)(rest.ptr - url) };
    for (size_t i = 0; i < rest.len; i++)
        if (strchr("/?#\\", rest.ptr[i]) != NULL)
            return "it must end after the host or its port: a path is not supported";
        else if ((unsigned char)rest.ptr[i] <= ' ' || strchr("\"'<>^`{|}@", rest.ptr[i]) != NULL)
            return "it has a character that no host has";
    const bool is_bracketed = rest.len > 0 && rest.ptr[0] == '[';
    const size_t bracket = is_bracketed ? str_index(rest, ']') : 0;
    if (is_bracketed && (bracket >= rest.len || !is_address(AF_INET6, (struct str){ rest.ptr + 1, bracket - 1 })))
        return "its host looks like an IPv6 address, but is none: [::1]";
    const size_t colon = bracket + str_index(str_skip(rest, bracket), ':');
    const struct str host = { rest.ptr, colon }, port = str_skip(rest, colon);
    if (is_bracketed && colon != bracket + 1)
        return "only a port may follow ]";
    if (!is_bracketed && colon < rest.len && str_index(str_skip(port, 1), ':') < port.len - 1)
        return "it has more than one colon after its host: an IPv6 address must stand in brackets, https://[::1]";
    if (port.len > 0 && !port_is_right(str_skip(port, 1)))
        return "its port must be a number from 1 to 65535";
    if (host.len == 0)
        return "it has no host";
    if (host.len > 1 && host.ptr[host.len - 1] == '.')
        return "its host must have no dot at the end";
    return is_bracketed ? NULL : is_ascii(host) ? name_mistake(host) : letters_mistake(scheme, host, port);
}
