/* The common parts of the registration of a passkey and the login with one: the challenge in cookie and answer, its
 * single use, and the form types. Both are for a script: they answer with JSON only. */
#ifndef HB_USER_PASSKEY_CEREMONY_H
#define HB_USER_PASSKEY_CEREMONY_H

#include "user/passkey.h"
#include "user/passkey_store.h"
#include "web/exchange.h"
#include "web/fields.h"
#include "web/respond.h"

/* struct str: bytes in base64url without padding. Limits are in bytes, before decoding. Errors have no message: a
 * browser sends such a field, nobody types it. */
extern const struct field_type FIELD_BASE64URL;
/* A row of a table: a required field of at most so many bytes, stored in this member of the form. */
#define BASE64URL_FIELD(field_name, form, field_member, bytes_max, text)                                               \
    {                                                                                                                  \
        .name = field_name, .type = &FIELD_BASE64URL, .member = offsetof(form, field_member), .required = true,        \
        .no_echo = true, .max = ((bytes_max)*4 + 2) / 3, .says = text ", in base64url", .example = "A0B1C2"            \
    }

/* Bytes in base64url, in the arena. STR_NONE without memory. */
struct str passkey_text(struct arena *a, struct str bytes);

/* Makes the answer JSON and reads the site. False: a site without passkeys; the request is answered. */
bool passkey_begin(struct exchange *x, struct passkey_site *site);
/* Makes a challenge and sets its cookie. STR_NONE without memory. */
struct str passkey_challenge_give(struct exchange *x, enum passkey_ceremony ceremony);
/* Takes the challenge from the cookie, which is deleted. ST_OK · ST_INVALID: there is none, or it is not valid (any
 * more) for this ceremony and session. */
enum status passkey_challenge_take(struct exchange *x, enum passkey_ceremony ceremony, struct str *challenge);
/* Marks the challenge as used until it expires. ST_EXISTS: it was used before · ST_UNAVAILABLE: Redis did not answer ·
 * ST_NO_MEMORY. */
enum status passkey_challenge_use(struct exchange *x, enum passkey_ceremony ceremony, struct str challenge);

/* The user for whom a browser makes a passkey. */
struct passkey_user {
    struct str handle; /* PASSKEY_HANDLE_BYTES */
    struct str username, nickname;
};
/* Adds what static/passkey.js and passkey_new.js make the options of navigator.credentials.create from: challenge,
 * site, user { id, name, nickname }, algorithms, seconds. */
void passkey_create_model(struct exchange *x, struct model *m, const struct passkey_site *site, struct str challenge,
                          const struct passkey_user *user);

/* Checks the browser's answer to a challenge of navigator.credentials.create; the challenge is used up. ST_INVALID:
 * refused, and logged for this user (0: nobody yet) · ST_EXISTS: the challenge was used before · ST_UNAVAILABLE ·
 * ST_NO_MEMORY. */
enum status passkey_creation_check(struct exchange *x, enum passkey_ceremony ceremony, const struct passkey_site *site,
                                   struct str challenge, const struct passkey_answer *answer, struct passkey_key *key);

/* Checks the browser's answer to the challenge against this passkey, and notes its use; the challenge is used up.
 * ST_INVALID: refused, and *why is the word for the log (static storage) · ST_EXISTS: the challenge was used before,
 * and *why is set, too · else the status of a store. */
enum status passkey_answer_accept(struct exchange *x, enum passkey_ceremony ceremony, const struct passkey_site *site,
                                  struct str challenge, const struct passkey_answer *answer,
                                  const struct passkey *passkey, const char **why);

/* 422: the ceremony took too long, or its challenge was used before. */
extern const struct problem PASSKEY_EXPIRED;

#endif
