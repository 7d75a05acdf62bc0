/* Thanks 答谢: a line that a receiver wrote, at most one for each grab. Rows of the table thanks. Every function can also
 * return the errors of db_exec or db_query. */
#ifndef HB_PACKET_THANKS_H
#define HB_PACKET_THANKS_H

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "packet/grab.h"

enum {
    THANKS_GRAPHEMES_MAX = 25,
    THANKS_CODE_POINTS_MAX = 400 /* the width of the column */
};

struct thanks {
    uint64_t packet_id;
    uint32_t share_no;
    uint64_t user_id;
    struct str text; /* one line, clean */
    int64_t created_ms;
};

/* Adds the thanks, and counts them in the packet's row. Inside a transaction that has locked that row. ST_EXISTS: the
 * share has thanks. */
enum status thanks_insert(struct db *db, const struct thanks *t);
/* The text for a share, in the arena. ST_NOT_FOUND: none. */
enum status thanks_find(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no, struct str *text);
/* Sets the texts of grabs of one packet, in the arena. */
enum status thanks_find_all(struct db *db, struct arena *a, uint64_t packet_id, struct grab *grabs, size_t count);
/* The thanks of this user for the packets. texts: an item for each of the count packets, owned by the caller;
 * STR_NONE: no thanks. */
enum status thanks_of_user(struct db *db, struct arena *a, uint64_t user_id, const uint64_t *packet_ids, size_t count,
                           struct str *texts);

/* ---- telling Redis ---- */

/* Thanks that Redis still lacks, with columns of the packet's row. */
struct thanks_pending {
    struct thanks thanks;
    uint32_t packet_count; /* the packet's thanks_count */
    bool packet_closed;
};
/* Finds such thanks for this share, with the text in the arena. ST_NOT_FOUND: there are none, or Redis has them. */
enum status thanks_find_pending(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no,
                                struct thanks_pending *out);
/* Records that Redis has these thanks, or will never need them: they are no longer pending. */
enum status thanks_mark_applied(struct db *db, const struct thanks *t, int64_t now_ms);
/* Marks all thanks of the packet as pending again, because Redis has lost the packet. */
enum status thanks_mark_lost(struct db *db, uint64_t packet_id);

#endif
