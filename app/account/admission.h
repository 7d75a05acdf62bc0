/* What a registration must bring besides a name, by the settings of the site (docs/how-to/door.md): an invitation, and
 * consent to the terms. Every way to register uses it: with a password, by passkey, by an issuer's first login. */
#ifndef HB_ACCOUNT_ADMISSION_H
#define HB_ACCOUNT_ADMISSION_H

#include "base/value.h"
#include "user/account.h"
#include "user/invitation_store.h"
#include "user/store.h"
#include "web/exchange.h"
#include "web/fields.h"

/* True when somebody may register now. False: registration is closed, and the request is answered (403). */
bool admission_begin(struct exchange *x);

/* Adds what the page of registering needs, all page-only: password_login (passwords are used here), closed (nobody may
 * register), has_form (somebody can register with a password or a passkey), needs_invitation, ahead_is_no_invitation
 * (needs_invitation, and next leads to a packet, whose link lets nobody in), terms { url, version } (absent: none). */
void admission_model(struct exchange *x, struct model *m, struct str next);

/* Judges the code of an invitation, before anything slow is done for the form; fills *out for user_insert. *st: ST_OK,
 * also when *e got a message at `invitation`, else the status of a store. False: too many wrong codes, and the request
 * is answered. */
bool admission_judge(struct exchange *x, const struct account_form *form, struct form_errors *e, struct admission *out,
                     enum status *st);
/* Inserts the user with the admission that was judged. ST_OK · ST_INVALID: somebody else has taken the username or the
 * invitation meanwhile, and *e has the message · else as user_insert. */
enum status admission_insert(struct exchange *x, struct user *user, struct form_errors *e);
/* Writes the security events of a user who was let in. */
void admission_log(struct exchange *x, uint64_t user_id, const struct admission *admission);

#endif
