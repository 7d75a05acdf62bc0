/* Passwords that are too easy to guess: the 10,000 commonest ones, and those that are like the username or the name of
 * the service. */
#ifndef HB_USER_COMMON_PASSWORD_H
#define HB_USER_COMMON_PASSWORD_H

#include <stdbool.h>

#include "base/str.h"

/* True for one of the 10,000 commonest passwords of 8 or more characters, and for digits and letters that are all the
 * same or count up or down (88888888, 87654321, "abcdefgh"), in any case. */
bool password_is_common(struct str password);
/* True when the password is made of a word of this service: hongbao, redpacket, redenvelope, 红包. "Made of" as in the
 * next function. */
bool password_is_like_service(struct str password);
/* True when the password is made of the username (folded), forwards or backwards, any number of times and in any case,
 * and fewer than 5 further bytes: "alice", "ecila2024" and "!Alice-alice" for alice. */
bool password_is_like_username(struct str password, struct str username);

#endif
