#include "web/etag.h"

static struct str without_weakness(struct str tag)
{
    (void)str_skip_prefix(&tag, STR("W/"));
    return tag;
}

/* Cuts the first tag, with its quotes, from the list. False: the list is empty or malformed. A tag may contain
 * commas. */
static bool tag_cut(struct str *list, struct str *tag)
{
    while (list->len > 0 && (*list->ptr == ',' || *list->ptr == ' ' || *list->ptr == '\t'))
        *list = str_skip(*list, 1);
    struct str rest = without_weakness(*list);
    if (rest.len < 2 || *rest.ptr != '"')
        return false;
    size_t len = str_index(str_skip(rest, 1), '"') + 2;
    if (len > rest.len)
        return false;
    *tag = str_slice(rest, 0, len);
    *list = str_skip(rest, len);
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
