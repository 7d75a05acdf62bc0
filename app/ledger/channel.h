/* Channels: places outside the site where money is held or comes from (docs/explanation/money.md). A channel is an
 * account that may be below zero: minus its balance is what it has paid in and not taken out. */
#ifndef HB_LEDGER_CHANNEL_H
#define HB_LEDGER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

#define CHANNEL_DEMO_ID      ((uint64_t)1) /* demo money, only where demo = on */
#define CHANNEL_FORFEITED_ID ((uint64_t)2) /* money left by deleted users */

enum { CHANNEL_NAME_MAX = 32, CHANNEL_HINT_CODE_POINTS_MAX = 200 };
/* Whether a channel, or a service, can have this name: small letters, digits and "-", a letter first, at most
 * CHANNEL_NAME_MAX. */
bool channel_name_is_valid(struct str name);

/* What a channel offers to users. */
struct channel_settings {
    bool withdraws; /* users may ask for withdrawals to it */
    int64_t withdraw_min_fen;
    struct str withdraw_hint; /* what a user types as the account, such as "IBAN"; may be empty */
};

struct channel {
    uint64_t id; /* of its account */
    struct str name;
    struct str note;   /* what people read in their statement; may be empty */
    struct str author; /* who made it */
    struct channel_settings settings;
    int64_t balance_fen;
    int64_t created_ms;
};

/* Makes a channel with its account. ST_EXISTS: there is one of this name · ST_INVALID: the name, the note or the author
 * is wrong · else as db_exec_retried. */
enum status channel_open(struct db *db, struct str name, struct str note, struct str author, int64_t now_ms);
/* Changes the note. ST_NOT_FOUND: no such channel, or it is demo · ST_INVALID: the note is wrong · else as
 * db_exec_retried. */
enum status channel_note_set(struct db *db, uint64_t channel_id, struct str note);

/* Which settings channel_withdrawals_set changes. */
enum { CHANNEL_WITHDRAWS = 1, CHANNEL_WITHDRAW_MIN = 2, CHANNEL_WITHDRAW_HINT = 4 };
/* Changes the settings of withdrawals that `changed` names. ST_NOT_FOUND: no such channel, or it is demo or
 * forfeited · ST_INVALID: the amount or the hint is wrong · else as db_exec_retried. */
enum status channel_withdrawals_set(struct db *db, uint64_t channel_id, const struct channel_settings *settings,
                                    unsigned changed);

/* The channel of this name; its texts are in the arena. ST_NOT_FOUND: there is none · else as db_query. */
enum status channel_find(struct db *db, struct arena *a, struct str name, struct channel *out);
/* All channels in the order of their ids, in the arena. The same errors as db_query. */
enum status channel_list(struct db *db, struct arena *a, struct channel **out, size_t *count);

/* The channels that pay withdrawals, in the order of their ids, in the arena: without author, balance and time, which a
 * pool may not read. The same errors as db_query. */
enum status channel_withdraws_list(struct db *db, struct arena *a, struct channel **out, size_t *count);

#endif
