/* Making recovery codes (user/recovery_code.h), in the auth pool, and what the account page shows of them. */
#ifndef HB_USER_RECOVERY_PAGE_H
#define HB_USER_RECOVERY_PAGE_H

#include "base/value.h"
#include "web/exchange.h"

/* Adds recovery_codes, the number of codes left, and the page-only has_recovery_codes. ST_OK, or the status of a
 * store. */
enum status recovery_model(struct exchange *x, struct model *m);

/* Handler of GET /account/recovery: pages/recovery, with recovery_codes and, page-only, has_recovery_codes and
 * username. After a refused POST (422) also errors and error { password }. */
enum step recovery_show(struct exchange *x);
/* Handler of POST /account/recovery, a form of password_confirm_fields: makes a set, which replaces the earlier one.
 * 201 { codes: [ { code } ] }, the only answer that has them; the page has them as the page-only text new_codes, a line
 * each. 422 for a wrong password. */
enum step recovery_submit(struct exchange *x);

#endif
