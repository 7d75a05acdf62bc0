/* The page /account/invitations: a user lets others register, where the operator allows it (config_users_invite);
 * elsewhere its addresses are 404. Reading it shows the codes again, as they are computed (user/invitation_code.h). */
#ifndef HB_ACCOUNT_INVITATIONS_PAGE_H
#define HB_ACCOUNT_INVITATIONS_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* Handler of GET /account/invitations: pages/invitations. ?shown=ID shows the link and the QR code of one. Model:
 *   invitations  [ { id, note, state, code (null: not open), url (null), created_at, expires_at, used_at (null),
 *                used_by (nickname; null: not used, or a deleted user) } ], newest first
 *   left, max    how many more the user may make now, and in all: those that are used or open count
 *   days         life of a new one
 * Page-only: shown { the same, html_qr }, is_open, is_used, is_revoked, is_expired, created_at_text, expires_at_text,
 * used_at_text, show_url, request_key, form { note }, revoked. */
enum step invitations_show(struct exchange *x);
/* Handler of POST /account/invitations: note, request_key. HTML 303 to the page with the new one shown; JSON 201 as an
 * item of the list. 422 with `errors`: a bad note, or none is left (field invitations). */
enum step invitation_submit(struct exchange *x);
/* Handler of POST /account/invitations/ID/revoke: HTML 303 to the page, JSON 204; 404: the user has no such invitation;
 * 409 invitation-used. May be repeated. */
enum step invitation_revoke_submit(struct exchange *x);

extern const struct field invitation_fields[];

#endif
