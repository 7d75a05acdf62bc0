/* One's own sessions on the account page: the list, and ending them. */
#ifndef HB_USER_SESSION_PAGE_H
#define HB_USER_SESSION_PAGE_H

#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* The form: `session` is the id of one session, or `others` has any text: all but the own one. */
extern const struct field session_end_fields[];

/* Adds sessions: a list of { id, device (null: unknown), created_at, seen_at (at most an hour late), current }, the one
 * that was used last first; page: created_at_text, seen_at_text, fold_begins (with this one), has_others (there are
 * more than the current one), has_more_sessions, more_count and more_one: how many are folded.
 * ST_OK, or the status of Redis. */
enum status sessions_model(struct exchange *x, struct model *m);

/* Handler of POST /account/sessions/end: 303 /account?ended=1#sessions (all others: 2), JSON 204; 404 when the user
 * has no such session, 422 when the form names none. */
enum step session_end_submit(struct exchange *x);

#endif
