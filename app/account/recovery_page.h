/* Making recovery codes (user/recovery_code.h), in the auth pool, and what the account page shows of them. */
#ifndef HB_ACCOUNT_RECOVERY_PAGE_H
#define HB_ACCOUNT_RECOVERY_PAGE_H

#include "base/value.h"
#include "user/recovery_code.h"
#include "web/exchange.h"

/* Adds recovery_codes, the number of codes left, and page-only has_recovery_codes, recovery_one and recovery_few (so
 * few that new ones are suggested). ST_OK, or the status of a store. */
enum status recovery_model(struct exchange *x, struct model *m);

/* Handler of GET /account/recovery: pages/recovery, with recovery_codes, proof_model and, page-only, has_recovery_codes
 * and username. With ?made=1, where the POST leads, also the members of lost_phone_model, and page-only, at the first
 * look (account/shown_once.h): new_codes (the codes, a line each), codes (a list of { code }), codes_url (their file),
 * and onward (of the query &next=PATH; may be empty); at a later look: shown_before. After a refused POST (422) also
 * errors and error { password }. */
enum step recovery_show(struct exchange *x);
/* Handler of POST /account/recovery, a form of proof_fields: makes a set, which replaces the earlier one.
 * JSON 201 { codes: [ { code } ] }, the only answer that has them; HTML 303 /account/recovery?made=1, which shows them
 * once. 422 for a refused proof. */
enum step recovery_submit(struct exchange *x);

/* Makes the codes of a set for this username, and their hashes. False: no memory. */
bool recovery_codes_new(struct exchange *x, struct str username, struct recovery_code codes[RECOVERY_CODES],
                        struct str hashes[RECOVERY_CODES]);
/* Adds the cookie with which /account/recovery?made=1 shows the codes once, in the visitor's session. */
void recovery_codes_show(struct exchange *x, const struct recovery_code codes[RECOVERY_CODES]);

#endif
