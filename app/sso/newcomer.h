/* The first login of a subject makes a user, without a password and with an empty wallet. */
#ifndef HB_SSO_NEWCOMER_H
#define HB_SSO_NEWCOMER_H

#include "oidc/claims.h"
#include "user/subject_store.h"
#include "web/exchange.h"

/* Inserts the user with the subject, in one transaction. The username is proposed by the claims, by the rules of the
 * site; when somebody has it, or a deleted user had it, it gets digits. *made: false when another login of the same
 * subject was faster; then user is the one it has made. ST_UNKNOWN: the reply to COMMIT was lost, and it can't be found
 * out · else the status of a store. */
enum status newcomer_make(struct exchange *x, const struct oidc_claims *claims, const struct subject *subject,
                          struct user *user, bool *made);

#endif
