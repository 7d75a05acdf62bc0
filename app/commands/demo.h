/* Demo users, for benchmarks and demonstrations. Only where the configuration has demo = on. */
#ifndef HB_COMMANDS_DEMO_H
#define HB_COMMANDS_DEMO_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "config/config.h"
#include "live/stores.h"

enum { DEMO_USERS_MAX = 1000000, DEMO_MONEY_FEN = 100000 /* of a unit with two decimals */ };

/* Creates count users, each with money_fen in the wallet, transferred from the bank, and with a session, but without a
 * password. Writes one line per user to out: user_id<TAB>username<TAB>cookie, the cookie as `sid=TOKEN`.
 * Usernames differ from the usernames of every earlier run. ST_OK · ST_UNAVAILABLE: a store is unreachable, or out
 * can't be written · as db_transaction. After an error the users of earlier batches exist, and their lines are
 * written. */
enum status demo_make(struct stores *stores, uint32_t count, int64_t money_fen, FILE *out);

/* `demo --users N [--amount AMOUNT] --out FILE`; FILE - is standard output. 0: done, 1: failed, 2: bad argument. */
int demo_command(const struct config *config, int argc, char **argv);

#endif
