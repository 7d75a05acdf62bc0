/* Passkeys in MySQL: insert, list, look up, note a use, delete. The table has public keys only. */
#ifndef HB_USER_PASSKEY_STORE_H
#define HB_USER_PASSKEY_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"
#include "user/passkey.h"

struct passkey {
    uint64_t id;
    uint64_t user_id;
    struct passkey_key key;
    struct str user_handle; /* PASSKEY_HANDLE_BYTES */
    struct str name;        /* empty: the user has given none */
    int64_t created_ms;
    int64_t used_ms; /* 0: never */
};

/* Inserts the passkey and sets its id. ST_EXISTS: somebody has a passkey of this credential id · ST_INVALID, *full: the
 * user has max passkeys, and nothing was inserted · ST_UNKNOWN: the reply to COMMIT was lost · ST_UNAVAILABLE: also
 * when the user was disabled or deleted meanwhile. */
enum status passkey_insert(struct db *db, struct arena *a, struct passkey *passkey, int64_t max, bool *full);
/* Inserts the passkey as it is, and sets its id. Inside a transaction that has inserted the user. ST_EXISTS: as
 * above. */
enum status passkey_row_insert(struct db *db, struct passkey *passkey);
/* The user's passkeys, newest first, without public keys. *out is in the arena. */
enum status passkey_list(struct db *db, struct arena *a, uint64_t user_id, struct passkey **out, size_t *count);
/* The passkey of this credential id. ST_NOT_FOUND. */
enum status passkey_find(struct db *db, struct arena *a, struct str credential_id, struct passkey *out);
/* Notes a login with this counter, for which passkey_count_grows is true. ST_CONFLICT: another login has raised the
 * stored counter meanwhile, and nothing was changed. */
enum status passkey_used(struct db *db, uint64_t id, uint32_t sign_count, int64_t now_ms);
/* The number of the user's passkeys. */
enum status passkey_count(struct db *db, struct arena *a, uint64_t user_id, uint64_t *out);
/* Deletes all passkeys of the user. May be repeated. */
enum status passkey_delete_all(struct db *db, uint64_t user_id);
/* Deletes it. ST_NOT_FOUND: the user has no such passkey. */
enum status passkey_delete(struct db *db, uint64_t user_id, uint64_t id);

#endif
