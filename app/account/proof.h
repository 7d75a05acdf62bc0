/* What proves once more who the visitor is, before a change that would let somebody else into the account later, or pay
 * money out. A session alone, in a browser that was left open or with a stolen cookie, is not enough for it. This file
 * decides it for all forms: a new password, access tokens, passkeys, recovery codes, the deletion, withdrawals.
 *
 * - The password, of a user who has one, where passwords are used (password_login).
 * - Or a passkey of the user, which a script asks for (account/passkey_confirm.h).
 * - Or, of a user who has neither, a session that began within PROOF_FRESH_MS. A later one has to log in again. A user
 *   who logs in by an issuer needs a login that the issuer has asked for anew (user/subject_store.h).
 *
 * Tries are limited for each user, before anything is hashed or verified: wrong passwords by LIMIT_PASSWORD, all tries
 * by LIMIT_CONFIRM, hashes by their budget. The limits refuse only such changes: the session and logins are not
 * touched. */
#ifndef HB_ACCOUNT_PROOF_H
#define HB_ACCOUNT_PROOF_H

#include <stdbool.h>

#include "account/passkey_confirm.h"
#include "base/status.h"
#include "base/str.h"
#include "base/value.h"
#include "user/account.h"
#include "user/password.h"
#include "web/exchange.h"
#include "web/fields.h"

enum { PROOF_FRESH_MS = 600 * 1000 };

/* Bits: what the visitor can prove it with. None of them: by logging in again. */
enum proof_way { PROOF_PASSWORD = 1, PROOF_PASSKEY = 2, PROOF_SESSION = 4 };

/* A part of the struct of such a form. */
struct proof {
    unsigned ways;   /* bits of enum proof_way; proof_begin sets them */
    struct str hash; /* of the password, as proof_begin has found it; absent (.ptr NULL): the user has none */
    struct passkey_confirmation passkey;
    struct password password;
};

/* The rows of a form whose struct has this member: a passkey's answer, else the password in a field of this name. */
#define PROOF_FIELDS(form, proof_member, password_name)                                                                \
    PASSKEY_CONFIRM_FIELDS(form, proof_member.passkey),                                                                \
    {                                                                                                                  \
        .name = password_name, .type = &FIELD_PASSWORD, .member = offsetof(form, proof_member.password),               \
        .required = true, .no_echo = true, .applies = proof_needs_password, .missing = "text/password_missing",        \
        .says = "as typed; not with a passkey, and not by a user without a password", .example = "a good password"     \
    }
/* For PROOF_FIELDS: the user has a password, and the form has no passkey. */
bool proof_needs_password(const struct field_input *in);

/* Finds what the visitor can prove it with. Call it before form_read. ST_OK · else the status of a store. */
enum status proof_begin(struct exchange *x, struct proof *p);
/* Adds what a page asks for. JSON: proofs: [ { way } ], of "password", "passkey" and "session" those that do now;
 * empty: log in again. Page-only proof: password (the name of the field), passkey (the domain), only_passkey, session,
 * again_url (log in again; leads back to page). field: of the password. Call proof_begin before. */
void proof_model(struct exchange *x, struct model *m, const struct proof *p, const char *field, const char *page);
/* Judges what the form has, after form_read. False: the limits refuse to look at it, and the request is answered. True:
 * *st is ST_OK: proved · ST_INVALID: *e has the message, at the password's field, "passkey" or "session" · else the
 * status of a store. */
bool proof_check(struct exchange *x, const struct proof *p, const char *field, struct form_errors *e, enum status *st);

/* The form of a change that needs only this: a struct proof. */
extern const struct field proof_fields[];
/* Begins, reads and judges such a form. The same results as proof_check. */
bool proof_form(struct exchange *x, struct proof *p, struct form_errors *e, enum status *st);

#endif
