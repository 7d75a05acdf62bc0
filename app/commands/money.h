/* `hongbao money`: channels, credits and debits, withdrawals, reports (docs/how-to/money.md). */
#ifndef HB_COMMANDS_MONEY_H
#define HB_COMMANDS_MONEY_H

#include "config/config.h"

/* `money ACTION …`; the actions and their options are in money.c. Each may be repeated: what was done is not done
 * twice. Returns 0; 1: refused, or a store failed; 2: bad arguments. */
int money_command(const struct config *config, int argc, char **argv);

#endif
