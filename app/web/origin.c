#include "web/origin.h"

/* "host:80" without ":80". */
static struct str without(struct str authority, struct str port)
{
    return str_slice(authority, 0, authority.len - (str_ends(authority, port) ? port.len : 0));
}

/* The host of scheme://host[:port], with the port when it is not the scheme's own; empty: it is no origin. */
static struct str host_of(struct str url, struct str *scheme)
{
    struct str authority, path;
    *scheme = str_cut(url, ':', &authority);
    if (!str_skip_prefix(&authority, STR("//")))
        return STR("");
    return without(str_cut(authority, '/', &path), str_equal_fold(*scheme, STR("https")) ? STR(":443") : STR(":80"));
}

bool origin_allows(struct str sec_fetch_site, struct str origin, struct str host, struct str base_url)
{
    if (sec_fetch_site.len > 0)
        return str_equal(sec_fetch_site, STR("same-origin")) || str_equal(sec_fetch_site, STR("none"));
    if (origin.ptr == NULL || origin.len == 0)
        return true; /* not a browser, or the same-origin request of an old browser */

    /* An origin without a host, such as "null", is foreign. The scheme is not compared with Host, because a proxy may
     * end TLS before nginx; such a Host may have the default port of either scheme. */
    struct str scheme, own_scheme;
    struct str from = host_of(origin, &scheme), own = host_of(base_url, &own_scheme);
    host = without(host, str_ends(host, STR(":443")) ? STR(":443") : STR(":80"));
    return from.len > 0 &&
           (str_equal_fold(from, host) || (str_equal_fold(from, own) && str_equal_fold(scheme, own_scheme)));
}

bool origin_path_is_local(struct str next)
{
    if (next.len == 0 || next.len > NEXT_BYTES_MAX || next.ptr[0] != '/')
        return false;
    if (next.len > 1 && next.ptr[1] == '/')
        return false;
    for (size_t i = 0; i < next.len; i++) {
        unsigned char c = (unsigned char)next.ptr[i];
        if (c <= 0x20 || c == 0x7f || c == '\\')
            return false;
    }
    return true;
}
