/* The page /terms: asks a user to accept the present version of the terms (docs/how-to/door.md#terms). Logins lead here
 * first while it is not accepted; everything else stays possible, and no grab waits for it. */
#ifndef HB_ACCOUNT_TERMS_PAGE_H
#define HB_ACCOUNT_TERMS_PAGE_H

#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Whether this user has not accepted the present version. False also when the site has no terms, and when MySQL does
 * not answer: a login does not fail for it. */
bool terms_due(struct exchange *x, uint64_t user_id);
/* The path, or first the page /terms when terms are due for the user. STR_NONE without memory. */
struct str terms_first(struct exchange *x, uint64_t user_id, struct str path);

/* Handler of GET /terms?next=PATH: pages/terms. When nothing is due, 303 to next. Model, also in JSON:
 *   terms_url, version, due
 * Page-only: next. */
enum step terms_show(struct exchange *x);
/* Handler of POST /terms: version (must be the present one, so that nobody accepts what was not shown), next. HTML 303
 * to next, JSON 200 as GET. 422: another version, and the page shows the present one. May be repeated. A site without
 * terms notes nothing. */
enum step terms_submit(struct exchange *x);

extern const struct field terms_fields[];

#endif
