#include "web/origin.h"

bool origin_allows(struct str sec_fetch_site, struct str origin, struct str host)
{
    if (sec_fetch_site.len > 0)
        return str_equal(sec_fetch_site, STR("same-origin")) || str_equal(sec_fetch_site, STR("none"));
    if (origin.ptr == NULL || origin.len == 0)
        return true; /* not a browser, or the same-origin request of an old browser */

    /* Origin is "scheme://host[:port]" or "null", which has no "://" and is foreign. The scheme is not compared,
     * because a proxy may end TLS before nginx. */
    struct str authority;
    (void)str_cut(origin, ':', &authority);
    return str_skip_prefix(&authority, STR("//")) && host.len > 0 && str_equal_fold(authority, host);
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
