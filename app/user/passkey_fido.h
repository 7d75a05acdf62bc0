/* Authenticator data of passkeys (WebAuthn 6.1): reading a key and verifying a signature by libfido2. For
 * user/passkey.c; its callers use user/passkey.h. Pure. */
#ifndef HB_USER_PASSKEY_FIDO_H
#define HB_USER_PASSKEY_FIDO_H

#include "user/passkey.h"

/* Checks the part of a fixed size: the hash of the domain; user present and verified; with a key at a registration;
 * without extensions at a login, as none were requested. */
enum passkey_fault passkey_data_check(struct str data, struct str site_id, enum passkey_ceremony ceremony);
/* Reads the new passkey from checked data of a registration. */
enum passkey_fault passkey_key_read(struct arena *a, struct str data, struct passkey_key *out);
/* Verifies the signature of checked data of a login. */
enum passkey_fault passkey_signature_check(const struct passkey_answer *answer, struct str site_id,
                                           const struct passkey_key *key, uint32_t *sign_count);

#endif
