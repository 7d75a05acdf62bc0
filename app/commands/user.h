/* `hongbao user`: what an operator can do about a user. */
#ifndef HB_COMMANDS_USER_H
#define HB_COMMANDS_USER_H

#include <stdio.h>

#include "base/status.h"
#include "base/str.h"
#include "config/config.h"
#include "live/stores.h"

/* `user find WORD | show|disable|enable|end-sessions|reset NAME`:
 *   find          prints who has an id, username, nickname or packet (commands/user_find.h)
 *   show          prints names, times, sessions, and the numbers of access tokens and recovery codes
 *   disable       no login any more; all sessions and access tokens end
 *   enable        the user may log in again, with the password of before
 *   end-sessions  all sessions end; access tokens stay
 *   reset         a new random password, printed once; all sessions, access tokens, passkeys, recovery codes and login
 *                 links end
 *   login-link, import, export: commands/user_internal.h
 * NAME is a username, or "~" and the id. Each may be repeated. Each except find and show logs a security event.
 * Returns 0; 1: no such user, or a store failed; 2: bad arguments. */
int user_command(const struct config *config, int argc, char **argv);

/* The role of the command with these arguments: support; or auth, which may make users and login links, and knows who
 * has a password. Static storage. */
const char *user_role(int argc, char **argv);

/* The same for open stores. ST_NOT_FOUND: no such user · ST_INVALID: no such action, or a text that can't be read ·
 * else the status of a store: a part may be done. *why: the message of an error, in static storage; it may be NULL. */
enum status user_operate(struct stores *stores, const char *action, struct str name, FILE *out, const char **why);

#endif
