/* The packet for which a visitor logs in or registers: the pages show who sent it. */
#ifndef HB_ACCOUNT_PACKET_AHEAD_H
#define HB_ACCOUNT_PACKET_AHEAD_H

#include "base/value.h"
#include "web/exchange.h"

/* Adds, when next is the page of a packet, page-only `packet_ahead` { nickname (empty: a deleted user), initial, hue,
 * cover, cover_url (null: drawn), greeting (absent for an exclusive packet, which only its receiver reads) }. It is
 * left out when MySQL fails, after its time limit at the latest: the page works without it. */
void packet_ahead_model(struct exchange *x, struct model *m, struct str next);

#endif
