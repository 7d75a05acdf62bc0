/* The picture of a year, 1080 × 1440. The card pool draws what the query says, and reads nothing else, except the file
 * of a face that is a picture: it has no rights on the tables of records, and knows no sessions. nginx passes such a
 * query on from the page pool only (records/story.h), so no page elsewhere can have pictures drawn with words of its
 * own. It is one user's: private. */
#ifndef HB_RECORDS_STORY_PICTURE_H
#define HB_RECORDS_STORY_PICTURE_H

#include "packet/totals.h"
#include "web/exchange.h"
#include "web/fields.h"

extern const struct field story_picture_fields[]; /* the query */

/* The internal address of nginx for the picture of the visitor's year, without amounts unless they are wanted. In the
 * request's arena; STR_NONE without memory. */
struct str story_picture_url(struct exchange *x, const struct user_year *year, bool amounts);

/* GET /story.png in the card pool. */
enum step story_picture(struct exchange *x);

#endif
