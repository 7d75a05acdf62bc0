/* Invitations in MySQL (user/invitation_code.h), and what a registration must bring. */
#ifndef HB_USER_INVITATION_STORE_H
#define HB_USER_INVITATION_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

enum {
    INVITATION_NOTE_GRAPHEMES_MAX = 50,
    INVITATION_NOTE_CODE_POINTS_MAX = 200, /* width of the column */
    INVITATION_BATCH_MAX = 5000,           /* of one command */
    INVITATION_LIST_MAX = 200              /* of one user; the newest */
};

enum invitation_state { INVITATION_OPEN, INVITATION_USED, INVITATION_REVOKED, INVITATION_EXPIRED };

struct invitation {
    uint64_t id, seed;
    uint64_t user_id;  /* who made it; 0: an operator, or a deleted user */
    struct str author; /* the operator who made it; empty: a user */
    struct str maker;  /* the username of user_id, or empty; only invitations_list sets it */
    struct str note;
    int64_t created_ms, expires_ms;
    int64_t revoked_ms, used_ms; /* 0: not */
    uint64_t used_by;            /* 0: nobody, or a deleted user */
    struct str used_name;        /* its nickname; of invitations_list: its username */
};

enum invitation_state invitation_state(const struct invitation *i, int64_t now_ms);
/* "open", "used", "revoked" or "expired". Static storage. */
const char *invitation_state_name(enum invitation_state state);

/* What lets a new user in, for struct user of user/store.h. */
struct admission {
    struct str invitation;    /* hash of a code; empty: none is needed */
    struct str terms_version; /* accepted; empty: none */
    uint64_t invitation_id;   /* user_insert sets it */
};

/* Uses what the admission names for the user, who was just inserted: one UPDATE decides who gets the invitation.
 * ST_NOT_FOUND: the invitation is used, revoked, expired or unknown, or its maker is shut out. Inside a transaction. */
enum status admission_use(struct db *db, struct arena *a, struct admission *admission, uint64_t user_id,
                          int64_t now_ms);
/* The state of the invitation with this hash, before anything slow is done for it. ST_NOT_FOUND: there is none, or its
 * maker is shut out. */
enum status invitation_find(struct db *db, struct arena *a, struct str hash, int64_t now_ms,
                            enum invitation_state *out);

/* Makes an invitation of a user with this note, created_ms and expires_ms, unless the user has max of them that are
 * used or open; sets id and seed. A repeat with the same request key finds the first one. ST_INVALID: the user has max
 * of them · ST_UNAVAILABLE: also when the user was disabled or deleted meanwhile · ST_UNKNOWN: the reply was lost. */
enum status invitation_make(struct db *db, struct arena *a, const struct key *key, struct invitation *invitation,
                            struct str request_key, uint64_t max);
/* Makes count invitations of an operator, at most INVITATION_BATCH_MAX, as model has them: all or none; sets id (0 when
 * it could not be read) and seed of each in list. ST_UNKNOWN: the reply was lost. */
enum status invitations_make(struct db *db, struct arena *a, const struct key *key, const struct invitation *model,
                             struct invitation *list, size_t count);
/* The newest INVITATION_LIST_MAX invitations of the user. *out is in the arena. */
enum status invitations_of_user(struct db *db, struct arena *a, uint64_t user_id, struct invitation **out,
                                size_t *count);
/* How many invitations of the user are used or open. */
enum status invitations_count(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms, uint64_t *out);
/* All invitations below this id (0: from the newest), newest first, at most limit; open_only: those that are open. */
enum status invitations_list(struct db *db, struct arena *a, uint64_t below, size_t limit, bool open_only,
                             int64_t now_ms, struct invitation **out, size_t *count);
/* Revokes an invitation that is not used. user_id: only one of this user; 0: anyone's. May be repeated. ST_NOT_FOUND:
 * there is none · ST_EXISTS: it is used. */
enum status invitation_revoke(struct db *db, struct arena *a, uint64_t id, uint64_t user_id, int64_t now_ms);
/* Revokes all open invitations of a batch: with this note and author NULL or not. *count: how many. */
enum status invitations_revoke_noted(struct db *db, struct str note, int64_t now_ms, uint64_t *count);

/* Whether the user has accepted this version of the terms. */
enum status terms_accepted(struct db *db, struct arena *a, uint64_t user_id, struct str version, bool *out);
/* Notes that the user accepts this version. A repeat keeps the first time. */
enum status terms_accept(struct db *db, uint64_t user_id, struct str version, int64_t now_ms);

struct terms_row {
    struct str version;
    int64_t accepted_ms;
};
/* The versions that the user has accepted, oldest first. *out is in the arena. */
enum status terms_of_user(struct db *db, struct arena *a, uint64_t user_id, struct terms_row **out, size_t *count);

#endif
