/* The key of a page in a list that is ordered by (ms, id), newest first: the page has the rows below the key. In links
 * it is "MS-ID" with the public form of the id, so internal ids stay hidden and forged ones are refused. */
#ifndef HB_WEB_LIST_KEY_H
#define HB_WEB_LIST_KEY_H

#include "base/str.h"
#include "mysql/db_page.h"
#include "web/fields.h"

/* struct list_key: the key as a field of a query. */
extern const struct field_type FIELD_LIST_KEY;
/* The row of the field `before`, whose value is at this offset. */
#define BEFORE_FIELD(offset)                                                                                           \
    {                                                                                                                  \
        .name = "before", .type = &FIELD_LIST_KEY, .member = (offset),                                                 \
        .says = "the `next` of the page before: older ones"                                                            \
    }

/* The key as text for a link, in the request's arena. STR_NONE without memory. */
struct str list_key_text(struct exchange *x, int64_t ms, uint64_t id);

#endif
