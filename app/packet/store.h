/* Packets, grabs and the totals of years and months in MySQL. Reads take any connection state; what changes rows says
 * whether it wants a transaction around it. Texts of results live in the arena. */
#ifndef HB_PACKET_STORE_H
#define HB_PACKET_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "io/db.h"
#include "packet/grab.h"
#include "packet/packet.h"

/* The columns packet_from_row reads, in its order, of a table named or aliased packet. */
#define PACKET_COLUMNS                                                                                                 \
    "packet.id, packet.sender_id, packet.sender_name, packet.receiver_id, packet.receiver_name, packet.kind, "         \
    "packet.split, packet.amount_fen, packet.count, packet.share_max_fen, packet.best_share_no, packet.greeting, "     \
    "packet.seed, packet.commitment, packet.state, packet.grabbed_count, packet.grabbed_fen, "                         \
    "packet.refund_fen, packet.created_ms, packet.expires_ms, packet.finished_ms, packet.closed_ms, "                  \
    "packet.request_key"
enum { PACKET_COLUMN_COUNT = 23 };

/* Reads the row's cells from first_column on. ST_CORRUPT: a word or a length the schema does not allow. */
enum status packet_from_row(const struct db_rows *rows, size_t row, size_t first_column, struct packet *out);

/* ---- one packet ---- */

/* ST_NOT_FOUND when there is none. */
enum status packet_find(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out);
/* The same, the row locked until the transaction ends. */
enum status packet_find_locked(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out);
/* What this sender's request key made before. */
enum status packet_find_by_key(struct db *db, struct arena *a, uint64_t sender_id, struct str request_key,
                               struct packet *out);
/* A new packet as p says (state, grabbed_count … included). In a transaction. ST_EXISTS: the id or the sender's
 * request_key is taken. */
enum status packet_insert(struct db *db, const struct packet *p);
/* funding → open, after Redis has it. *changed (may be NULL): false when it was in another state. */
enum status packet_mark_open(struct db *db, uint64_t packet_id, bool *changed);

/* ---- grabs ---- */

/* Settled grabs with share_no < before (PACKET_NO_SHARE: from the newest), newest first, at most limit. */
enum status packet_grabs(struct db *db, struct arena *a, uint64_t packet_id, uint32_t before, size_t limit,
                         struct grab **out, size_t *out_count);
/* Settled grabs with first <= share_no < end, in share order. */
enum status packet_grabs_between(struct db *db, struct arena *a, uint64_t packet_id, uint32_t first, uint32_t end,
                                 struct grab **out, size_t *out_count);
/* The user's own grab. ST_NOT_FOUND. */
enum status packet_grab_of(struct db *db, struct arena *a, uint64_t packet_id, uint64_t user_id, struct grab *out);

/* ---- records ---- */

/* Where a page of records starts: rows strictly older than (ms, packet_id). */
struct record_cursor {
    int64_t ms;
    uint64_t packet_id;
};
/* A stretch of time, from_ms <= t < until_ms, and where to go on in it. */
struct record_range {
    int64_t from_ms, until_ms;
    bool has_cursor;
    struct record_cursor cursor;
};

struct received_row {
    struct grab grab;
    uint64_t packet_id;
    enum packet_kind kind;
    struct str greeting;
    uint64_t sender_id;
    struct str sender_name;
    bool best; /* 手气最佳 of a packet that is finished */
};
/* Newest first, at most limit. */
enum status records_received_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                                  size_t limit, struct received_row **out, size_t *out_count);
enum status records_sent_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                              size_t limit, struct packet **out, size_t *out_count);

struct user_year {
    int year;
    uint64_t sent_count, received_count, best_count;
    int64_t sent_fen, received_fen;
};
/* Every year the user has, newest first. */
enum status user_years_find(struct db *db, struct arena *a, uint64_t user_id, struct user_year **out,
                            size_t *out_count);

struct user_month {
    uint64_t sent_count, received_count;
    int64_t sent_fen, received_fen;
};
/* The months of one year, January first; zeros where there was nothing. */
enum status user_months_find(struct db *db, struct arena *a, uint64_t user_id, int year,
                             struct user_month out[MONTHS_PER_YEAR]);
/* One more packet sent at sent_ms, in the totals of its year and month. In the send's transaction. */
enum status user_totals_add_sent(struct db *db, uint64_t user_id, int64_t sent_ms, int64_t amount_fen);

#endif
