/* The link from an order to the page of its channel, where it is paid. It is signed with the channel's key, so the page
 * can trust what it says (docs/how-to/topup.md). Pure. */
#ifndef HB_WALLET_TOPUP_LINK_H
#define HB_WALLET_TOPUP_LINK_H

#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/str.h"

enum { TOPUP_KEY_MAX = 2 * 32 + 1 };

/* The key of a channel: 64 hex digits with NUL. The operator gives it to the channel's page. It is computed from the
 * key of KEY_TOPUPS and the channel's name, so it is not stored. */
void topup_key(const struct key *topups, struct str channel, char out[TOPUP_KEY_MAX]);

/* NULL: the page of a channel may have this address. Otherwise what is wrong (static storage). */
const char *topup_url_mistake(struct str url);

struct topup_link {
    uint64_t order;
    int64_t amount_fen, expires_ms;
    struct str return_url; /* where the page leads back to */
};

/* The link: url with the parameters order, amount, currency, return, expires and signature behind its own. The
 * signature is HMAC-SHA256, in hex, with the 64 digits of the key, over these six lines, each but the last with a line
 * feed: hongbao-topup-v1, order, amount, currency, return, expires. In the arena; STR_NONE without memory. */
struct str topup_link_text(struct arena *a, struct str url, const char *key, const struct topup_link *link);

#endif
