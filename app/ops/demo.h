/* People to play with: for benchmarks and demonstrations, only where the configuration says demo = on. */
#ifndef HB_OPS_DEMO_H
#define HB_OPS_DEMO_H

#include <stdint.h>
#include <stdio.h>

#include "base/config.h"
#include "base/status.h"
#include "live/stores.h"

enum { DEMO_USERS_MAX = 1000000, DEMO_MONEY_FEN = 100000 };

/* Makes count users, each with a wallet that holds 1,000 yuan from the bank and a session, no password. Writes one line
 * per user to out: user_id<TAB>username<TAB>cookie, the cookie as `sid=TOKEN`. Names are new ones at every run. What
 * was made before an error stays, and is written. */
enum status demo_make(struct stores *stores, uint32_t count, FILE *out);

/* `demo --users N --out FILE`; FILE - is standard output. 0, 1 when it failed, 2 for a bad argument. */
int demo_command(const struct config *config, int argc, char **argv);

#endif
