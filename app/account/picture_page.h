/* A user's own picture as avatar. */
#ifndef HB_ACCOUNT_PICTURE_PAGE_H
#define HB_ACCOUNT_PICTURE_PAGE_H

#include "base/value.h"
#include "web/exchange.h"

/* Adds to the account page whether the user has a picture (has_picture), and what the query ?picture=set|removed says
 * (picture_set, picture_removed). */
enum status picture_model(struct exchange *x, struct model *m);

/* Handlers of the page pool. POST /account/picture (multipart/form-data, a part `picture`): 303
 * /account?picture=set#own_picture, JSON 200 with id, username and nickname; 422: no file, too large, or not readable.
 * POST /account/picture/delete: 303 /account?picture=removed, JSON 204; also without a picture. Tables first, then
 * sessions: a repeat mends what failed. */
enum step picture_submit(struct exchange *x);
enum step picture_delete_submit(struct exchange *x);
/* Handler of the card pool: GET /picture/HASH.webp. 404: no user has it. */
enum step picture_show(struct exchange *x);

#endif
