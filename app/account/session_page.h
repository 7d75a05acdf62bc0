/* One's own sessions: the list, on the account page and on a page of its own, and ending them. */
#ifndef HB_ACCOUNT_SESSION_PAGE_H
#define HB_ACCOUNT_SESSION_PAGE_H

#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* The form: `session` is the id of one session, or `others` has any text: all sessions except the visitor's own. */
extern const struct field session_end_fields[];

/* Adds sessions: a list of { id, device (null: unknown), created_at, seen_at (at most an hour late), current }, first
 * the current session, then the others, the last used first; page: created_at_text, seen_at_text, shown (on the account
 * page), earlier_begins (this one and those behind it were not used for a month), has_others (there are more than the
 * current one), others_count and others_one. ST_OK, or the status of Redis. */
enum status sessions_model(struct exchange *x, struct model *m);

/* Handler of GET /account/devices: 200, pages/devices with sessions. Page: also ended, ended_others of the query, and
 * the members of lost_phone_model. */
enum step devices_show(struct exchange *x);
/* Handler of GET for the address of the form: 303 /account/devices. */
enum step devices_redirect(struct exchange *x);
/* Handler of POST /account/sessions/end: 303 /account/devices?ended=1 (all others: 2), JSON 204; 404 when the user
 * has no such session, 422 when the form names none. */
enum step session_end_submit(struct exchange *x);

#endif
