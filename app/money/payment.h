/* A credit or debit as an operator types it, in a command or in a file: its texts are read, and its user is found. */
#ifndef HB_MONEY_PAYMENT_H
#define HB_MONEY_PAYMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

struct payment_typed {
    struct str username, amount, reference, memo; /* memo may be empty */
};

struct payment {
    uint64_t user_id; /* 0: not found */
    struct str username;
    int64_t amount_fen; /* more than 0 */
    struct str reference, memo;
};

/* Reads the texts, which need not be UTF-8. The texts of *out are in the arena, or are the typed ones. user_id stays 0.
 * ST_INVALID: *why says what is wrong, without a full stop (static storage, or in the arena) · ST_NO_MEMORY. */
enum status payment_read(struct arena *a, const struct payment_typed *typed, struct payment *out, const char **why);

/* An amount of the site's unit, more than 0, in fen. ST_INVALID, ST_NO_MEMORY: as above. */
enum status payment_amount_read(struct arena *a, struct str typed, int64_t *out_fen, const char **why);

/* A cell of the column unit, which lists of `hongbao money` have. ST_OK: it is the site's unit, or empty ·
 * ST_INVALID, ST_NO_MEMORY: as above. */
enum status payment_unit_check(struct arena *a, struct str unit, const char **why);

/* A line of text that the user sees, such as a memo: cleaned (utf8_clean_shown), at most code_points_max characters.
 * ST_INVALID: it is longer, or not UTF-8; *why as above · ST_NO_MEMORY. */
enum status payment_line_read(struct arena *a, struct str typed, size_t code_points_max, struct str *out,
                              const char **why);

/* Sets the user_id of the payments whose user exists and is not being deleted. The same errors as db_query. */
enum status payments_users_find(struct db *db, struct arena *a, struct payment *const *payments, size_t count);

#endif
