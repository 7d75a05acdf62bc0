/* All data of a user as one JSON file, read and written part by part, so that a million records take the memory of
 * 500. */
#ifndef HB_RECORDS_ACCOUNT_EXPORT_H
#define HB_RECORDS_ACCOUNT_EXPORT_H

#include "web/exchange.h"

/* Rows read for one part, which is all that is in memory. */
enum { ACCOUNT_EXPORT_PART_ROWS = 500 };

/* GET /account/export: a file with the members of GET /account as JSON (names, sessions, passkeys and tokens, without
 * their secrets), and
 *   created_at, exported_at   RFC 3339
 *   balance_fen
 *   sent        packets sent, newest first: as items of /records/sent, and returned_fen
 *   received    shares received: as items of /records/received, returned_fen, and thanks: what one wrote, or null
 *   statement   entries of /wallet */
enum step account_export(struct exchange *x);

#endif
