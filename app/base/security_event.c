#include "base/security_event.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"

static const struct {
    const char *name;
    enum log_level level;
} EVENTS[SECURITY_EVENT_COUNT] = {
    [SECURITY_LOGIN] = { "login", LOG_INFO },
    [SECURITY_LOGIN_REFUSED] = { "login-refused", LOG_WARN },
    [SECURITY_REGISTER] = { "register", LOG_INFO },
    [SECURITY_LOGOUT] = { "logout", LOG_INFO },
    [SECURITY_SESSION_ENDED] = { "session-ended", LOG_INFO },
    [SECURITY_PASSWORD_CHANGED] = { "password-changed", LOG_INFO },
    [SECURITY_PASSWORD_REFUSED] = { "password-refused", LOG_WARN },
    [SECURITY_RECOVERY_CODES_MADE] = { "recovery-codes-made", LOG_INFO },
    [SECURITY_ACCOUNT_DELETED] = { "account-deleted", LOG_INFO },
    [SECURITY_WITHDRAWAL] = { "withdrawal", LOG_INFO },
    [SECURITY_INVITATION_MADE] = { "invitation-made", LOG_INFO },
    [SECURITY_INVITATION_REVOKED] = { "invitation-revoked", LOG_INFO },
    [SECURITY_INVITATION_USED] = { "invitation-used", LOG_INFO },
    [SECURITY_INVITATION_REFUSED] = { "invitation-refused", LOG_WARN },
    [SECURITY_TERMS_ACCEPTED] = { "terms-accepted", LOG_INFO },
    [SECURITY_TOKEN_MADE] = { "token-made", LOG_INFO },
    [SECURITY_TOKEN_REVOKED] = { "token-revoked", LOG_INFO },
    [SECURITY_TOKEN_REFUSED] = { "token-refused", LOG_WARN },
    [SECURITY_PASSKEY_ADDED] = { "passkey-added", LOG_INFO },
    [SECURITY_PASSKEY_REMOVED] = { "passkey-removed", LOG_INFO },
    [SECURITY_PASSKEY_REFUSED] = { "passkey-refused", LOG_WARN },
    [SECURITY_SUBJECT_LINKED] = { "subject-linked", LOG_INFO },
    [SECURITY_SUBJECT_UNLINKED] = { "subject-unlinked", LOG_INFO },
    [SECURITY_ISSUER_REFUSED] = { "issuer-refused", LOG_WARN },
    [SECURITY_SCOPE_REFUSED] = { "scope-refused", LOG_WARN },
    [SECURITY_ACCESS_REFUSED] = { "access-refused", LOG_WARN },
    [SECURITY_ORIGIN_REFUSED] = { "origin-refused", LOG_WARN },
    [SECURITY_LIMITED] = { "limited", LOG_WARN },
    [SECURITY_OPERATOR] = { "operator", LOG_INFO },
    [SECURITY_ROLE_REFUSED] = { "role-refused", LOG_ERROR },
    [SECURITY_FENCE_REFUSED] = { "fence-refused", LOG_WARN },
    [SECURITY_EVENT_FORGED] = { "event-forged", LOG_ERROR },
    [SECURITY_SESSION_PLANTED] = { "session-planted", LOG_ERROR },
    [SECURITY_FUNCTION_PLANTED] = { "function-planted", LOG_ERROR },
};

const char *security_event_name(enum security_event event)
{
    assert(event < SECURITY_EVENT_COUNT);
    return EVENTS[event].name;
}

void security_event_log(enum security_event event, const char *format, ...)
{
    char pairs[LOG_LINE_MAX / 2] = "";
    va_list args;

    assert(event < SECURITY_EVENT_COUNT);
    if (format != NULL) {
        va_start(args, format);
        (void)vsnprintf(pairs, sizeof pairs, format, args);
        va_end(args);
    }
    log_write(EVENTS[event].level, "security", "event=%s%s%s", security_event_name(event), pairs[0] == '\0' ? "" : " ",
              pairs);
}

void security_role_refused(const char *store, struct str error)
{
    char quoted[LOG_LINE_MAX / 4];

    security_event_log(SECURITY_ROLE_REFUSED, "store=%s error=%s", store, log_quote(error, quoted, sizeof quoted));
}
