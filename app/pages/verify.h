/* The verify page: anyone can recompute a draw. The SHA-256 of the seed (the commitment) is public from the
 * start, the seed when the packet is over. */
#ifndef HB_PAGES_VERIFY_H
#define HB_PAGES_VERIFY_H

#include "web/exchange.h"
#include "web/fields.h"

enum { VERIFY_PAGE_SHARES = 1000 };

/* GET /p/ID/verify?after=SHARE_NO → pages/verify. WANT_VISITOR, page pool, from MySQL alone. The members marked [open]
 * are shown to logged-in users once the packet is over (packet_is_over); if it is for named receivers, only to them and
 * its sender. Other visitors, and everyone before, see only the unmarked members. A forged id is 404 without I/O.
 *   id               (page: url "/p/ID")
 *   kind             (page: kind_lucky, kind_even, kind_exclusive bools)
 *   split            double-average|uniform|gaussian|even (page: as present_split)
 *   count (page: count_one)
 *   state            open|finished|expired
 *   expires_at       (page: expires_at_text)
 *   commitment       64 hex digits
 *   seed             [open] 64 hex digits, else null
 *   amount_fen       [open] total, else null (page: amount_text)
 *   share_min_fen    [open] the smallest share, else absent (page: share_min_text, has_share_min when it is above 1)
 *   share_max_fen    [open] the limit of one share when the packet was sent, else absent
 *   commitment_ok    [open] SHA-256(seed) is the commitment, else null
 *   shares_ok        [open] every recorded grab has the recomputed amount, else null
 *   shares           [open] at most 1000 a page: [{ share_no, amount_fen as recomputed (page: amount_text, number "1"
 *                    for share 0), grabbed, paid_fen as recorded or null (page: paid_text), best,
 *                    returned, page: again (a share that was given back, once more) }], else []
 *   next             null, or the `after` of the next page (page: next_url)
 *   command          [open] page-only: `hongbao verify SEED KIND TOTAL COUNT SPLIT SHARE_MAX [SHARE_MIN]`
 *   all_ok           [open] page-only: both are true
 *   revealed         page-only boolean: the members marked [open] are present
 *   login_hint       page-only boolean: they would be present after a login (named: of somebody who may see them)
 *   named            page-only boolean, unless revealed: the packet is for named receivers, and the visitor is none
 *                    of them, not the sender, or not logged in
 *   withheld         page-only boolean, unless revealed: it is over, and the visitor will never see the members */
enum step packet_verify(struct exchange *x);

/* The query of /p/ID/verify. */
extern const struct field verify_fields[];

#endif
