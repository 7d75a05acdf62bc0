#include "web/etag.h"

static struct str skipped(struct str s, size_t bytes)
{
    return (struct str){ s.ptr + bytes, s.len - bytes };
}

static struct str without_weakness(struct str tag)
{
    return str_starts(tag, STR("W/")) ? skipped(tag, 2) : tag;
}

/* Cuts the first tag off, quotes and all. False: there is none, or it is malformed. A comma may be part of a tag. */
static bool tag_cut(struct str *list, struct str *tag)
{
    while (list->len > 0 && (*list->ptr == ',' || *list->ptr == ' ' || *list->ptr == '\t'))
        *list = skipped(*list, 1);
    struct str rest = without_weakness(*list);
    if (rest.len < 2 || *rest.ptr != '"')
        return false;
    size_t len = str_index(skipped(rest, 1), '"') + 2;
    if (len > rest.len)
        return false;
    *tag = (struct str){ rest.ptr, len };
    *list = skipped(rest, len);
    return true;
}

bool etag_matches(struct str if_none_match, struct str tag)
{
    struct str opaque = without_weakness(tag), listed;
    if (str_equal(str_trim(if_none_match), STR("*")))
        return true;
    while (tag_cut(&if_none_match, &listed))
        if (str_equal(listed, opaque))
            return true;
    return false;
}
