/* Changing one's nickname. The username stays for life: senders write it to name a receiver, so one that another person
 * could take over would lead packets astray. */
#ifndef HB_USER_NICKNAME_PAGE_H
#define HB_USER_NICKNAME_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* struct str: the nickname. */
extern const struct field nickname_fields[];

/* Handler of POST /account/nickname: 303 /account?saved=1, JSON 200 with id, username and nickname; 422. MySQL first,
 * then the sessions, so that a repeat of the same form completes what was left. Packets, grabs and copies of access
 * tokens (for an hour at most) keep the name of their time. */
enum step nickname_submit(struct exchange *x);

#endif
