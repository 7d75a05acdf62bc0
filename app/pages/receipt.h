/* Receipts of the visitor's own grabs, and the public keys to check them. Made at each request, in the page pool, from
 * MySQL. */
#ifndef HB_PAGES_RECEIPT_H
#define HB_PAGES_RECEIPT_H

#include "web/exchange.h"

/* GET /p/ID/receipt → pages/receipt. NEED_USER. 404 `no-receipt` when the visitor has no settled share of the packet,
 * or has given it back.
 *   receipt    the members of docs/reference/receipt.md, in their order (page: number "1" for share 0,
 *              amount_text, time_text)
 *   signature  86 characters of base64url
 *   key_id     the key that signed
 *   url        page-only: "/p/ID" */
enum step receipt_show(struct exchange *x);
/* GET /p/ID/receipt.json: the same JSON, as a file to save. */
enum step receipt_download(struct exchange *x);
/* GET /.well-known/hongbao-receipt-keys: JSON { keys [{ key_id, public_key, from, until (or null) }] }, for everybody
 * and cacheable for an hour. */
enum step receipt_keys_show(struct exchange *x);

#endif
