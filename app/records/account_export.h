/* All data of a user as one JSON file. It is read and written part by part: a million records take the memory of
 * 500. */
#ifndef HB_RECORDS_ACCOUNT_EXPORT_H
#define HB_RECORDS_ACCOUNT_EXPORT_H

#include "web/exchange.h"

/* Rows of one part; the memory holds one part at a time. */
enum { ACCOUNT_EXPORT_PART_ROWS = 500 };

/* GET /account/export: a file with the members of GET /account as JSON (names, sessions, passkeys and tokens, without
 * their secrets), and
 *   created_at, exported_at   RFC 3339
 *   balance_fen
 *   sent        packets sent, newest first: as items of /records/sent, and returned_fen
 *   received shares received: as items of /records/received, returned_fen, and thanks: the user's thanks, or null
 *   statement entries of /wallet
 *   topups   orders of top-ups, as on /wallet/topup */
enum step account_export(struct exchange *x);

#endif
