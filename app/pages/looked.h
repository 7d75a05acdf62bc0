/* Packets that the visitor has looked at before their opening, and may take from. The packet's page notes them in a
 * cookie, and home lists them among the waiting packets. Packets for named receivers are in the inbox anyway. Cookie
 * `looked` (`__Host-looked` with Secure on https), for LOOKED_S: the user's id and the public ids of at most
 * INBOX_LOOKED_MAX packets, the last one first, with dots between. A packet that was opened since stays in the list
 * until newer ones push it out. The cookie gives no right: an id is a link that this browser has opened, and another
 * user of the browser is treated as if there were no cookie. It is deleted with the session, at a logout and with the
 * account. */
#ifndef HB_PAGES_LOOKED_H
#define HB_PAGES_LOOKED_H

#include "packet/inbox.h"
#include "packet/view.h"
#include "web/exchange.h"

/* Adds the cookie to the answer, if the packet of the view is one of these and the cookie lacks it. */
void looked_remember(struct exchange *x, const struct packet_view *view);
/* Reads the packets of the visitor's cookie: none for a guest, and none for an access token, which belongs to a
 * program. */
void looked_read(const struct exchange *x, struct inbox_looked *out);

#endif
