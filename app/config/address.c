#include "config/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

static_assert(ADDRESS_PATH_MAX == sizeof((struct sockaddr_un){ 0 }.sun_path) - 1, "what a socket's path may have");

enum { PORT_MAX = 65535 };

static bool name_set(struct address *a, struct str name)
{
    if (name.len == 0 || name.len > ADDRESS_NAME_MAX)
        return false;
    memcpy(a->name, name.ptr, name.len);
    a->name[name.len] = '\0';
    return true;
}

/* A name of letters, digits, '-', '_' and '.'. One of digits and dots only must be an IPv4 address. */
static bool host_is_name(const char *host)
{
    struct in_addr ipv4;
    if (host[strspn(host, "0123456789.")] == '\0')
        return inet_pton(AF_INET, host, &ipv4) == 1;
    return host[0] != '-' && host[0] != '.' &&
           host[strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0';
}

static bool host_is_ipv6(const char *host)
{
    struct in6_addr ipv6;
    return inet_pton(AF_INET6, host, &ipv6) == 1;
}

/* "HOST:PORT". */
static const char *tcp_read(struct str text, struct address *a)
{
    const bool bracketed = text.len > 0 && text.ptr[0] == '[';
    size_t end = bracketed ? str_index(text, ']') : str_index(text, ':');
    if (bracketed && end == text.len)
        return "an IPv6 address stands in brackets: [::1]:6379";
    struct str host = str_slice(text, bracketed ? 1 : 0, end);
    struct str port = str_skip(text, bracketed ? end + 1 : end);
    uint64_t number;
    if (!str_skip_prefix(&port, STR(":")))
        return "an address is unix:PATH or HOST:PORT, and this one has no port";
    if (!bracketed && str_index(port, ':') < port.len)
        return "an IPv6 address stands in brackets: [::1]:6379";
    if (!str_to_u64(port, &number) || number < 1 || number > PORT_MAX)
        return "a port must be from 1 to 65535";
    a->port = (uint16_t)number;
    if (!name_set(a, host) || !(bracketed ? host_is_ipv6(a->name) : host_is_name(a->name)))
        return bracketed ? "what stands in brackets must be an IPv6 address" : "a host must be a name or an IP address";
    return NULL;
}

static const char *address_read(struct str text, struct address *a)
{
    *a = (struct address){ .port = 0 };
    if (text.len == 0)
        return "an address is empty; it is unix:PATH or HOST:PORT";
    if (!str_skip_prefix(&text, STR("unix:")))
        return text.ptr[0] == '/' ? "the path of a Unix socket is written unix:PATH" : tcp_read(text, a);
    return text.len <= ADDRESS_PATH_MAX && name_set(a, text)
               ? NULL
               : "the path of a Unix socket must have from 1 to 107 bytes";
}

const char *address_list_read(struct str text, struct address_list *out)
{
    out->count = 0;
    while (text.ptr != NULL) {
        if (out->count == ADDRESSES_MAX)
            return "there may be at most 16 addresses";
        struct address *next = &out->items[out->count];
        const char *wrong = address_read(str_trim(str_cut(text, ',', &text)), next);
        for (size_t i = 0; wrong == NULL && i < out->count; i++)
            if (address_equal(&out->items[i], next))
                wrong = "an address is there twice";
        if (wrong != NULL)
            return wrong;
        out->count++;
    }
    return out->count > 0 ? NULL : "there must be an address, unix:PATH or HOST:PORT";
}

const char *address_print(const struct address *a, char out[ADDRESS_TEXT_MAX])
{
    if (a->port == 0)
        (void)snprintf(out, ADDRESS_TEXT_MAX, "unix:%s", a->name);
    else
        (void)snprintf(out, ADDRESS_TEXT_MAX, strchr(a->name, ':') == NULL ? "%s:%u" : "[%s]:%u", a->name, a->port);
    return out;
}

bool address_equal(const struct address *a, const struct address *b)
{
    if (a->port != b->port)
        return false;
    return a->port == 0 ? strcmp(a->name, b->name) == 0 : strcasecmp(a->name, b->name) == 0;
}
