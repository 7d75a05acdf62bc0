/* The rows of packets and grabs in MySQL. Reads work inside and outside a transaction. Texts
 * of results are in the arena a. Every function can also return the errors of db_exec or db_query. */
#ifndef HB_PACKET_STORE_H
#define HB_PACKET_STORE_H

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "packet/caps.h"
#include "packet/grab.h"
#include "packet/packet.h"
#include "packet/receivers.h"

/* The columns for packet_from_row, of a table with the name or alias packet: all columns of packet/members.h. */
#define PACKET_COLUMN(name, type, table, ...) PACKET_COLUMN_##table(name)
#define PACKET_COLUMN_KEY(name)               "packet." #name
#define PACKET_COLUMN_SENT(name)              ", packet." #name
#define PACKET_COLUMN_JSON(name)              ", packet." #name
#define PACKET_COLUMN_COLUMN(name)            ", packet." #name
#define PACKET_COLUMN__(name)
#define PACKET_COLUMNS                            PACKET_MEMBERS(PACKET_COLUMN)

#define PACKET_COLUMN_ONE(name, type, table, ...) +((PACKET_USE_##table & PACKET_USE_COLUMN) != 0)
enum { PACKET_COLUMN_COUNT = 0 PACKET_MEMBERS(PACKET_COLUMN_ONE) };

/* Reads the cells of a row from first_column on; the receivers are in another table (receivers_find). Texts are
 * borrowed from rows. ST_CORRUPT: a name or length that the schema does not allow, or a number of shares or receivers
 * or an amount that no setting allows. */
enum status packet_from_row(const struct db_rows *rows, size_t row, size_t first_column, struct packet *out);

/* ---- one packet ---- */

/* Reads a packet. ST_NOT_FOUND: no such packet. */
enum status packet_find(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out);
/* Reads only what a picture shows: id, kind, the two names, greeting, cover, opens_ms and needs_phrase; all else is 0.
 * For the card pool, whose role may read only these columns. ST_NOT_FOUND: no such packet. */
enum status packet_find_face(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out);
/* Reads only id, sender_id, state, count, grabbed_count and created_ms; all else is 0. For the role support, which may
 * read only these columns. ST_NOT_FOUND: no such packet. */
enum status packet_find_sender(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out);
/* As packet_find, and locks the row until the transaction ends. */
enum status packet_find_locked(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out);
/* Reads the packet that was sent with this request key. ST_NOT_FOUND: none. */
enum status packet_find_by_key(struct db *db, struct arena *a, uint64_t sender_id, struct str request_key,
                               struct packet *out);
/* Inserts the packet, in state funding, with its receivers; the sender pays, and the totals of the month are raised.
 * This is one statement, all of it or nothing (sql/migrations, packet_send_with). Call it outside a transaction. Each
 * named receiver, also of an exclusive packet, gets a row with the present nickname.
 * ST_EXISTS: the sender's request_key is taken, or the id · ST_INVALID: the sender can't pay, or has reached a cap ·
 * ST_NOT_FOUND: the sender or a receiver does not exist or is being deleted · ST_CONFLICT: nothing was done, see
 * db_exec_retried · ST_UNKNOWN: perhaps done, the request_key shows it. */
enum status packet_send(struct db *db, const struct packet *p, const struct receivers *receivers,
                        const struct send_caps *caps);
/* Change the state from funding to open, once Redis has the packets; packets in another state stay. count ≥ 1
 * (asserted). *changed (may be NULL): how many packets were changed. */
enum status packet_mark_open(struct db *db, uint64_t packet_id);
enum status packets_mark_open(struct db *db, const uint64_t *packet_ids, size_t count, uint64_t *changed);

/* Ends a packet early that is not expired at now_ms and has shares left by the tables: sets ended_ms and expires_ms to
 * now_ms. Otherwise changes nothing, so it may be repeated. *ended (may be NULL): this call has ended it. Outside a
 * transaction. */
enum status packet_end(struct db *db, uint64_t packet_id, int64_t now_ms, bool *ended);

/* ---- grabs ---- */

/* The columns for grab_from_row, of a table with the name or alias grab. */
#define GRAB_COLUMNS                                                                                                   \
    "grab.share_no, grab.user_id, grab.nickname, grab.amount_fen, grab.grabbed_ms, EXISTS (SELECT 1 FROM "             \
    "share_return AS r WHERE r.packet_id = grab.packet_id AND r.share_no = grab.share_no)"
enum { GRAB_COLUMN_COUNT = 6 };

/* Reads the cells of a row from the first column on. The nickname is borrowed from rows. */
struct grab grab_from_row(const struct db_rows *rows, size_t row);

/* Settled grabs with share_no < before (PACKET_NO_SHARE: all), newest first, at most limit. *out is in the arena. */
enum status packet_grabs(struct db *db, struct arena *a, uint64_t packet_id, uint32_t before, size_t limit,
                         struct grab **out, size_t *out_count);
/* Settled grabs with first <= share_no < end, in share order. */
enum status packet_grabs_between(struct db *db, struct arena *a, uint64_t packet_id, uint32_t first, uint32_t end,
                                 struct grab **out, size_t *out_count);
/* The grab of this user. ST_NOT_FOUND: none. */
enum status packet_grab_of(struct db *db, struct arena *a, uint64_t packet_id, uint64_t user_id, struct grab *out);

#endif
