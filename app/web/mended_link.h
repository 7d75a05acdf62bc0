/* Links of this site with something added. Chats, mail programs and people add punctuation, blanks, quotes and words to
 * a link, mostly behind it, and fold it into another shape: "/p/ID。", "/p/ID)，快来", "/P/ID/", "/p/%E3%80%8CID". The
 * route table says which address was meant. Pure. */
#ifndef HB_WEB_MENDED_LINK_H
#define HB_WEB_MENDED_LINK_H

#include "web/router.h"

/* Finds the address that was meant by a path without a route: the longest path of a route with which it begins, in the
 * spelling of the table, with the id in small letters. So only an id or a key comes from the request. An addition must
 * not begin with an ASCII letter or digit. Behind an id, which its MAC proves, it may be anything else except a further
 * part of the path; behind other paths it must not have any ASCII letter or digit. In front of an id and between its
 * characters, everything except ASCII letters and digits is skipped. In the arena. STR_NONE: no route fits, the path
 * needs no mending, or there is no memory. */
struct str mended_link(const struct router *router, struct arena *a, struct str path);
/* True when only slashes were added: "//p/ID/" for "/p/ID". */
bool mended_link_slashes(struct str path, struct str meant);
/* Cuts off what was added behind the value of a link's query: a value ends with an ASCII letter or digit. */
struct str mended_link_value(struct str typed);

#endif
