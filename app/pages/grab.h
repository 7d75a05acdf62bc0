/* POST /p/ID/open: the visitor takes a share of the packet, or learns the reason for a refusal. HTML: 303 to the
 * packet's page. JSON: 200 {result "grabbed" | "already", share_no, amount_fen, left_count}, or 403 and 410 problems;
 * not-open-yet has opens_at. A packet with a passphrase: 422 wrong-phrase with tries_left, 429 too-many-tries (HTML:
 * the packet's page with a message). A lost reply of Redis is 503 unknown, never a refusal. */
#ifndef HB_PAGES_GRAB_H
#define HB_PAGES_GRAB_H

#include "web/exchange.h"
#include "web/fields.h"

/* The form of /p/ID/open. */
extern const struct field open_fields[];

/* Hot pool: decided by one Lua script in Redis, or from the page cache. When Redis does not have the packet, the
 * request is passed to the page pool. */
enum step packet_open_hot(struct exchange *x);
/* Page pool: answers from MySQL for a packet that Redis does not have. Nothing can be grabbed there. */
enum step packet_open_cold(struct exchange *x);

#endif
