/* Packets that the visitor has looked at before their opening, and may take from. Their page leaves them in the
 * browser, and home shows them under what waits. Those for named receivers are in the inbox anyway.
 *
 * Cookie `looked` (`__Host-looked` with Secure on https), for LOOKED_S: the user's id and the public ids of at most
 * INBOX_LOOKED_MAX packets, the last one first, with dots between. One that was opened since keeps its place among
 * them until others take it. The cookie gives no right: an id is a link that this browser has opened, and for another
 * user of the browser it counts as no cookie. It ends with the session, at a logout and with the account. */
#ifndef HB_PAGES_LOOKED_H
#define HB_PAGES_LOOKED_H

#include "packet/inbox.h"
#include "packet/view.h"
#include "web/exchange.h"

/* Adds the cookie to the answer, if the view is one of such a packet and the cookie lacks it. */
void looked_remember(struct exchange *x, const struct packet_view *view);
/* The packets of the visitor's cookie: none for a guest, and none for a token, which is of a program. */
void looked_read(const struct exchange *x, struct inbox_looked *out);

#endif
