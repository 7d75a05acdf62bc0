/* Usernames that the page of registering proposes, so that nobody has to invent one. */
#ifndef HB_ACCOUNT_USERNAME_PROPOSAL_H
#define HB_ACCOUNT_USERNAME_PROPOSAL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "mysql/db.h"

/* Two syllables of pinyin, or two English words, and four digits, at random: "xiaoyu2786", "sunnybear2786". It is not
 * looked up. STR_NONE without memory. */
struct str username_invented(struct arena *a, bool english);
/* Makes a username of a typed text: small letters, without blanks and other characters; of an email address only the
 * part before the '@'. In the arena. Empty: less than USERNAME_BYTES_MIN characters are left, or there is no memory. */
struct str username_made_of(struct arena *a, struct str typed);
/* The username with digits at its end, at random, cut to the length that a username may have. STR_NONE without
 * memory. */
struct str username_numbered(struct arena *a, struct str stem);
/* A username for somebody whose own was refused: made of the name that was typed, the same with digits, made of the
 * nickname with digits, or invented; the first that nobody has. Looks up three at most. STR_NONE without memory. */
struct str username_proposed(struct db *db, struct arena *a, struct str username, struct str nickname, bool english);

#endif
