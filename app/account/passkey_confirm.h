/* A passkey in place of the password once more (account/proof.h), for a form that a script fills in: it asks
 * for a challenge, the authenticator signs it, and the form is posted with the answer. */
#ifndef HB_ACCOUNT_PASSKEY_CONFIRM_H
#define HB_ACCOUNT_PASSKEY_CONFIRM_H

#include "base/status.h"
#include "base/value.h"
#include "user/passkey.h"
#include "user/passkey_ceremony.h"
#include "web/exchange.h"
#include "web/fields.h"

/* The fields of such a form. credential_id.len 0: it has no passkey, but a password. */
struct passkey_confirmation {
    struct str credential_id;
    struct passkey_answer answer;
};
#define PASSKEY_CONFIRM_FIELD(field_name, form, field_member, bytes_max, text)                                         \
    {                                                                                                                  \
        .name = field_name, .type = &FIELD_BASE64URL, .member = offsetof(form, field_member), .no_echo = true,         \
        .max = ((bytes_max)*4 + 2) / 3, .malformed = "text/passkey_refused_detail",                                    \
        .says = text ", in base64url; of a passkey in place of the password"                                           \
    }
/* The rows of them in the table of a form whose struct has this member. */
#define PASSKEY_CONFIRM_FIELDS(form, member)                                                                           \
    PASSKEY_CONFIRM_FIELD("passkey", form, member.credential_id, PASSKEY_CREDENTIAL_MAX, "rawId of the credential"),   \
        PASSKEY_CONFIRM_FIELD("client_data", form, member.answer.client_data, PASSKEY_CLIENT_MAX, "clientDataJSON"),   \
        PASSKEY_CONFIRM_FIELD("authenticator_data", form, member.answer.data, PASSKEY_DATA_MAX, "authenticatorData"),  \
        PASSKEY_CONFIRM_FIELD("signature", form, member.answer.signature, PASSKEY_SIGNATURE_MAX, "signature")

/* Whether the visitor has a passkey and the site is one for passkeys. The same errors as db_query. */
enum status passkey_confirm_can(struct exchange *x, bool *can);
/* The domain of the site's passkeys. STR_NONE: it is none for passkeys. */
struct str passkey_confirm_site(struct exchange *x);

/* Checks the answer. ST_OK · ST_NOT_FOUND: it is no passkey of the visitor, or its answer is wrong, which is logged ·
 * ST_EXISTS: the challenge has expired or was used before · else the status of a store. */
enum status passkey_confirm(struct exchange *x, const struct passkey_confirmation *given);

/* Handler of POST /account/passkeys/confirm, JSON only: { challenge, site, seconds, allow [ { id } ] }: the challenge,
 * which a cookie has, too, and the visitor's passkeys. */
enum step passkey_confirm_challenge(struct exchange *x);

#endif
