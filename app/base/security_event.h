/* The security log: one line for each event that a guard of the system, such as fail2ban, wants to read. The set of
 * events is fixed; docs/reference/log.md describes each of them, and a unit test compares. Lines never have a secret:
 * no password, token, cookie or key. Nor do they have text that a client typed. Code that has a request calls
 * security_log (web/security_log.h), which adds the address. */
#ifndef HB_BASE_SECURITY_EVENT_H
#define HB_BASE_SECURITY_EVENT_H

#include "base/str.h"

enum security_event {
    SECURITY_LOGIN,
    SECURITY_LOGIN_REFUSED,
    SECURITY_REGISTER,
    SECURITY_LOGOUT,
    SECURITY_SESSION_ENDED,
    SECURITY_PASSWORD_CHANGED,
    SECURITY_PASSWORD_REFUSED,
    SECURITY_RECOVERY_CODES_MADE,
    SECURITY_ACCOUNT_DELETED,
    SECURITY_WITHDRAWAL,
    SECURITY_INVITATION_MADE,
    SECURITY_INVITATION_REVOKED,
    SECURITY_INVITATION_USED,
    SECURITY_INVITATION_REFUSED,
    SECURITY_TERMS_ACCEPTED,
    SECURITY_TOKEN_MADE,
    SECURITY_TOKEN_REVOKED,
    SECURITY_TOKEN_REFUSED,
    SECURITY_PASSKEY_ADDED,
    SECURITY_PASSKEY_REMOVED,
    SECURITY_PASSKEY_REFUSED,
    SECURITY_SUBJECT_LINKED,
    SECURITY_SUBJECT_UNLINKED,
    SECURITY_ISSUER_REFUSED,
    SECURITY_SCOPE_REFUSED,
    SECURITY_ACCESS_REFUSED,
    SECURITY_ORIGIN_REFUSED,
    SECURITY_LIMITED,
    SECURITY_OPERATOR,
    SECURITY_ROLE_REFUSED,
    SECURITY_FENCE_REFUSED,
    SECURITY_EVENT_FORGED,
    SECURITY_SESSION_PLANTED,
    SECURITY_FUNCTION_PLANTED,
    SECURITY_EVENT_COUNT
};

/* The word of the log: "login-refused". Static storage. */
const char *security_event_name(enum security_event event);
/* Writes the line msg="security" event=NAME, followed by the pairs of format, as log_write; format may be NULL. The
 * level is the event's: info for what a user did, warn for what was refused, error for what a correct system never
 * does. */
void security_event_log(enum security_event event, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes role-refused: a store ("redis", "mysql") has refused its right to this process with the error. */
void security_role_refused(const char *store, struct str error);

#endif
