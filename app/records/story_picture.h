/* The picture of a year, 1080 × 1440. The card pool draws what the query says. It reads nothing else, except the
 * picture of a user's face: it has no rights on the tables of records, and knows no sessions. nginx accepts such a
 * query only from the page pool (records/story.h), so no other website can make the site draw its own words. The
 * picture is private to one user. */
#ifndef HB_RECORDS_STORY_PICTURE_H
#define HB_RECORDS_STORY_PICTURE_H

#include "packet/totals.h"
#include "web/exchange.h"
#include "web/fields.h"

extern const struct field story_picture_fields[]; /* the query */

/* The internal address of nginx for the picture of the visitor's year, with amounts only if they are wanted. In the
 * request's arena; STR_NONE without memory. */
struct str story_picture_url(struct exchange *x, const struct user_year *year, bool amounts);

/* GET /story.png in the card pool. */
enum step story_picture(struct exchange *x);

#endif
