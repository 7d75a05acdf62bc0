/* `hongbao user`: what an operator can do about a user. */
#ifndef HB_OPS_USER_H
#define HB_OPS_USER_H

#include <stdio.h>

#include "base/config.h"
#include "base/status.h"
#include "base/str.h"
#include "live/stores.h"

/* `user show|disable|enable|end-sessions|reset NAME`:
 *   show          prints names, times, sessions, and the numbers of access tokens and recovery codes
 *   disable       no login any more; all sessions and access tokens end
 *   enable        the user may log in again, with the password of before
 *   end-sessions  all sessions end; access tokens stay
 *   reset         a new random password, printed once; all sessions, access tokens, passkeys and recovery codes end
 * Each may be repeated, and writes a line to the security log. Returns 0; 1: no such user, or a store failed; 2: bad
 * arguments. */
int user_command(const struct config *config, int argc, char **argv);

/* The same for open stores. ST_NOT_FOUND: no such user · ST_INVALID: no such action · else the status of a store: a
 * part may be done. */
enum status user_operate(struct stores *stores, const char *action, struct str name, FILE *out);

#endif
