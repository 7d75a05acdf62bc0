/* Shares that were given back: their rows in MySQL (share_return), and what they change in a packet.
 *
 * While the packet is open and somebody else could take the share, its money goes back into the packet. The packet then
 * gets a new share of the same amount behind all others; the position of the return is that share's number. In all
 * other cases the money goes to the sender. The grab itself never changes. */
#ifndef HB_PACKET_RETURNS_H
#define HB_PACKET_RETURNS_H

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "packet/packet.h"

struct share_return {
    uint64_t packet_id;
    uint32_t share_no;
    uint64_t user_id;
    int64_t amount_fen;
    uint32_t position; /* PACKET_NO_SHARE: the money went to the sender */
    int64_t returned_ms;
    bool applied; /* Redis has it */
};

/* ---- rows; every function can also return the errors of db_exec or db_query ---- */

/* All returns of a packet: those with a position in its order, then the others. *out is in the arena. */
enum status returns_find(struct db *db, struct arena *a, uint64_t packet_id, struct share_return **out,
                         size_t *out_count);
/* The same for all packets with first <= packet_id <= last, packet after packet. */
enum status returns_find_between(struct db *db, struct arena *a, uint64_t first, uint64_t last,
                                 struct share_return **out, size_t *out_count);
/* Finds the return of this share. ST_NOT_FOUND: the share was not given back. */
enum status return_find(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no,
                        struct share_return *out);
/* Inserts a return. Inside a transaction that has locked the packet's row. ST_EXISTS: the share was given back before,
 * or the position is taken. */
enum status return_insert(struct db *db, const struct share_return *r);
/* Adds a return with a position to its packet, whose best share becomes best_share_no. */
enum status return_count(struct db *db, const struct share_return *r, uint32_t best_share_no);
/* Records that Redis has the return. */
enum status return_mark_applied(struct db *db, const struct share_return *r, int64_t now_ms);

/* ---- pure ---- */

/* What happens to a share that this user gives back. */
enum return_way {
    RETURN_TO_PACKET, /* the packet is open, and somebody else could take the share */
    RETURN_TO_SENDER, /* to the sender: the packet is over, or no named receiver is left to take the share */
    RETURN_OWN,       /* refused: the share would go to the sender, who is this user */
    RETURN_TOO_MANY   /* refused while the packet is open: it has taken back as many shares as it was sent with */
};
/* open: the packet can be opened, and has not expired. */
enum return_way return_way(const struct packet *p, bool open, uint64_t user_id);
/* The shares of the draw, then those that were given back: packet_share_total(p) items of out_fen, owned by the caller.
 * returns: as returns_find gives them. ST_INVALID: as split_packet · ST_CORRUPT: the positions have a gap, or their
 * sums are not the packet's. */
enum status returns_shares(const struct packet *p, const struct share_return *returns, size_t count, int64_t *out_fen);
/* The best share of a lucky packet: the first of the largest shares that were not given back into the packet.
 * PACKET_NO_SHARE for other kinds. shares_fen: share_total items. */
uint32_t returns_best_share(const struct packet *p, const int64_t *shares_fen, uint32_t share_total,
                            const struct share_return *returns, size_t count);
/* The numbers of the shares as text, in the form that Redis stores: "3,7". In the arena; STR_NONE without memory. */
struct str returns_text(struct arena *a, const struct share_return *returns, size_t count);
/* The number of shares in such a text. */
int64_t returns_text_count(struct str text);
/* True when such a text has this share. */
bool returns_text_has(struct str text, uint32_t share_no);

#endif
