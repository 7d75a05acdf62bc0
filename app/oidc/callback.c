#include "oidc/callback.h"

#include "base/array.h"

enum oidc_fault oidc_error_fault(struct str error)
{
    static const struct {
        const char *error;
        enum oidc_fault fault;
    } errors[] = {
        { "access_denied", OIDC_DENIED },
        { "server_error", OIDC_UNAVAILABLE },
        { "temporarily_unavailable", OIDC_UNAVAILABLE },
        { "unauthorized_client", OIDC_CLIENT },
        { "invalid_client", OIDC_CLIENT },
        { "invalid_grant", OIDC_CODE },
    };
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (str_equal(error, str_from(errors[i].error)))
            return errors[i].fault;
    return OIDC_ERROR;
}

/* RFC 6749 A.11: a code is of printable ASCII characters. */
static bool code_is_text(struct str code)
{
    for (size_t i = 0; i < code.len; i++)
        if (code.ptr[i] < ' ' || code.ptr[i] > '~')
            return false;
    return code.len > 0 && code.len <= OIDC_CODE_MAX;
}

enum oidc_fault oidc_callback_check(const struct oidc_callback *callback, struct str issuer, bool iss_needed)
{
    if (callback->iss.ptr == NULL ? iss_needed : !str_equal(callback->iss, issuer))
        return OIDC_MIX_UP;
    if (callback->error.ptr != NULL)
        return oidc_error_fault(callback->error);
    return callback->code.ptr != NULL && code_is_text(callback->code) ? OIDC_OK : OIDC_NO_CODE;
}
