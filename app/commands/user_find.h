/* `hongbao user find`: which users an operator means, who has an id, a name or a packet's address. */
#ifndef HB_COMMANDS_USER_FIND_H
#define HB_COMMANDS_USER_FIND_H

#include <stdio.h>

#include "base/status.h"
#include "base/str.h"
#include "live/stores.h"

#define USER_FIND_MAX 20 /* users of one nickname; the newest */

/* Prints a line for each packet that the word names, with its sender, and for each user: first the user of that id or
 * username, then the users of that nickname, newest first. Changes nothing. ST_NOT_FOUND: neither is there ·
 * ST_INVALID: the word can't be read, with *why in static storage (NULL otherwise) · else the status of a store. */
enum status user_find_print(struct stores *stores, struct arena *a, struct str word, FILE *out, const char **why);

#endif
