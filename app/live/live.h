/* The live packet: what Redis keeps of a packet from its loading until its grace time after the end has passed. The
 * scripts in lua/ decide; this file names the keys, packs the arguments and reads the replies without trust.
 *
 * Keys, all of one packet in one slot (NN: partition, ID: decimal id):
 *   hb:{pNN}:packet:ID   hash    sender, nickname, kind, split, count, amount, greeting, receiver, receiver_name,
 *                                expires_ms, created_ms, state, commitment, seed, best, grabbed_fen,
 *                                close_event (id of its `c` event, empty before), held (share_no of the first grab that
 *                                waits behind a dead letter: settle/held.h; not there or empty: none does)
 *   hb:{pNN}:shares:ID   string  one big-endian u32 fen a share
 *   hb:{pNN}:grabs:ID    hash    user id → share_no
 *   hb:{pNN}:order:ID    list    `user,fen,ms-seq,nickname`; the index is the share_no
 *   hb:{pNN}:events      stream  g `packet,share,user,fen,nickname` · c `packet,grabbed_count,grabbed_fen,rest_fen`
 *   hb:{pNN}:settled     string  id of the last settled event
 * and one of the server:
 *   hb:checked           string  its run_id and the number of partitions, once the settle worker has compared every
 *                                stream with its cursor */
#ifndef HB_LIVE_LIVE_H
#define HB_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/status.h"
#include "base/str.h"
#include "io/redis.h"
#include "packet/packet.h"

/* What the scripts answer first; mirrored by lua/include/codes.lua, which a test compares. Never renumber. */
enum live_code {
    LIVE_BAD = 0,         /* the arguments contradict each other or the keys: nothing was written */
    LIVE_MISSING = 1,     /* Redis does not know the packet */
    LIVE_GRABBED = 2,     /* this call took a share */
    LIVE_ALREADY = 3,     /* grab: the same user has this share; close: was closed before */
    LIVE_NOT_FOR_YOU = 4, /* exclusive, and someone else is meant */
    LIVE_EMPTY = 5,       /* every share is taken */
    LIVE_EXPIRED = 6,     /* closed, or its time is over */
    LIVE_BUSY = 7,        /* being rebuilt: come back */
    LIVE_LOADED = 8,
    LIVE_EXISTS = 9,    /* load: was there, nothing was written */
    LIVE_CLOSED = 10,   /* this call closed it */
    LIVE_NOT_YET = 11,  /* close: Redis's clock has not reached expires_ms */
    LIVE_FINISHED = 12, /* close: every share is grabbed, there is nothing to give back */
    LIVE_VIEW = 13
};

enum live_state { LIVE_STATE_OPEN, LIVE_STATE_CLOSED, LIVE_STATE_BUSY };

/* Holds the run_id of the server that is vouched for and the number of partitions: new packets, grabs and ends of
 * packets go to no other, and from nobody with another number (settle/recover.h says why). */
#define LIVE_CHECKED_KEY STR("hb:checked")
/* Lets the connection ask for it: it has to name our number of partitions, too. */
void live_vouched_by(struct redis *redis, const struct config *config);

#define LIVE_KEY_MAX 48 /* bytes of the longest key with its NUL */

/* The keys of one packet. key points into text: don't copy the struct. */
enum live_key {
    LIVE_KEY_PACKET,
    LIVE_KEY_SHARES,
    LIVE_KEY_GRABS,
    LIVE_KEY_ORDER,
    LIVE_KEY_EVENTS,
    LIVE_KEY_SETTLED,
    LIVE_KEY_COUNT
};
struct live_keys {
    struct str key[LIVE_KEY_COUNT];
    char text[LIVE_KEY_COUNT][LIVE_KEY_MAX];
};
void live_keys(struct live_keys *out, uint64_t packet_id, int64_t partitions);
/* The keys of a partition. out: LIVE_KEY_MAX bytes, caller's, NUL-terminated. */
struct str live_events_key(char *out, uint32_t partition);
struct str live_settled_key(char *out, uint32_t partition);

/* What the calls need; borrowed, lives as long as the process. Cheap to make anew for each request. */
struct live {
    struct redis *redis;
    struct redis_script *load, *grab, *close, *view, *busy, *bury, *mark, *vouch, *hold;
    int64_t partitions;
};
/* ST_INVALID when a script is missing or takes another number of keys. */
enum status live_init(struct live *live, struct redis *redis, struct redis_scripts *scripts,
                      const struct config *config);

/* A stream id. Text "ms-seq". */
struct live_event_id {
    uint64_t ms, seq;
};
#define LIVE_EVENT_ID_MAX 42                               /* bytes of the text with its NUL */
#define LIVE_EVENT_NONE   ((struct live_event_id){ 0, 0 }) /* before every event */
bool live_event_id_parse(struct str text, struct live_event_id *out);
bool live_event_id_equal(struct live_event_id a, struct live_event_id b);
int live_event_id_compare(struct live_event_id a, struct live_event_id b); /* < 0, 0, > 0 */
struct str live_event_id_text(char *out, struct live_event_id id);         /* out: LIVE_EVENT_ID_MAX bytes */

/* ---- hot pool: queue now, read after the round ---- */

/* One grab. nickname: as of now, stored with the grab. Unavailable, and not sent, as long as nobody vouches for the
 * server. */
void live_grab_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     struct str nickname);
struct live_grab {
    enum live_code code;
    uint32_t share_no; /* GRABBED and ALREADY only, as the amount */
    int64_t amount_fen;
    uint32_t share_count; /* EMPTY only */
};
/* ST_OK: the script answered, see code (GRABBED ALREADY MISSING NOT_FOR_YOU EMPTY EXPIRED BUSY) ·
 * ST_UNAVAILABLE: nothing happened · ST_CONFLICT: Redis refused (out of memory …), nothing happened ·
 * ST_UNKNOWN: may have happened, the packet page knows · ST_CORRUPT: Redis answered nonsense (logged). */
enum status live_grab_read(const struct redis_call *call, struct live_grab *out);

/* One grab in a list. */
struct live_row {
    uint32_t share_no;
    uint64_t user_id;
    struct str nickname;
    int64_t amount_fen;
    struct live_event_id event; /* .ms is the time of the grab */
    bool settled;               /* its money is in the wallet: not as long as it waits behind a dead letter */
};

/* Reads `user,fen,ms-seq,nickname` into the row; share_no and settled are left alone. False: not one of ours. */
bool live_row_parse(struct str entry, struct live_row *out);

/* A packet as Redis shows it to one visitor. Texts live in the arena. */
struct live_view {
    struct packet packet; /* grabbed_count, grabbed_fen and finished_ms are up to the moment; state is what people
                              see: open, finished or expired; request_key is empty; refund_fen is set
                              once the refund has been settled */
    bool busy;            /* being rebuilt: grabs are refused for the moment */
    bool over;            /* packet_is_over: a packet past its time may not be, a clock can be put back */
    bool closed;          /* finished, and MySQL has settled every grab: none is a dead letter */
    int64_t now_ms;       /* Redis's clock */
    bool has_mine;
    struct live_row mine;  /* the visitor's own grab */
    struct live_row *rows; /* newest first */
    size_t row_count;
    uint32_t next; /* `after` of the next page, 0: there is none */
};
#define LIVE_ROWS_MAX 100

/* user_id 0: logged out. after: rows with share_no < after follow, PACKET_NO_SHARE: from the newest. limit ≤
 * LIVE_ROWS_MAX, 0: no rows. */
void live_view_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     uint32_t after, uint32_t limit);
/* ST_OK, ST_NOT_FOUND (Redis does not know it: ask MySQL), ST_NO_MEMORY, else as live_grab_read. */
enum status live_view_read(const struct redis_call *call, struct arena *a, uint64_t packet_id, struct live_view *out);

/* ---- page pool, settle, commands: may block ---- */

/* A grab that is already settled, for rebuilding. */
struct live_settled {
    uint64_t user_id;
    struct str nickname;
    int64_t amount_fen;
    struct live_event_id event; /* seq is not kept in MySQL: ms-0 will do */
};

/* Puts a packet into Redis. shares_fen: share_count amounts. settled: the first settled_count grabs in share order, to
 * rebuild it; NULL: it is new. state: LIVE_STATE_OPEN, or LIVE_STATE_CLOSED to show a closed packet again.
 * *code: LIVE_LOADED · LIVE_EXISTS: was there, untouched · LIVE_BAD: amounts and shares disagree (nothing written).
 * A rebuild replaces a packet that is busy or gone (live_bury); a new one that is either is left alone. Grabs of a
 * large packet go in several calls; until the last one its state is busy, and a rebuild that died halfway is simply
 * repeated. ST_OK, or as live_grab_read: a new packet is unavailable, and not sent, as long as nobody vouches for the
 * server. */
enum status live_load(const struct live *live, const struct packet *p, const int64_t *shares_fen,
                      const struct live_settled *settled, uint32_t settled_count, enum live_state state,
                      enum live_code *code);

/* Several packets in one round: at most this many. */
#define LIVE_BATCH_MAX 500

/* Closes the doors of packets before they are rebuilt: grabs are answered busy. One that is not there can only be
 * loaded by a rebuild from now on. ST_OK, or the first error, as live_grab_read. */
enum status live_busy(const struct live *live, const uint64_t *packet_ids, size_t count);

/* Adds an entry with the id of the cursor to a stream that has lost its end. ST_CONFLICT: it went on meanwhile; else as
 * live_grab_read. */
enum status live_mark(const struct live *live, uint32_t partition, struct live_event_id cursor);
/* Says in LIVE_CHECKED_KEY that this process of Redis may be trusted: voucher is redis_voucher. ST_OK, or as
 * live_grab_read. */
enum status live_vouch(const struct live *live, struct str voucher);

/* From which share on the grabs of a packet wait behind a dead letter; PACKET_NO_SHARE: none does. */
struct live_hold {
    uint64_t packet_id;
    uint32_t from_share;
};
/* Says so in at most LIVE_BATCH_MAX packets, in one round; fine when Redis does not know one. ST_OK, or the first
 * error, as live_grab_read. */
enum status live_hold_all(const struct live *live, const struct live_hold *holds, size_t count);

/* Ends packets whose time is over. Unavailable, and not sent, as long as nobody vouches for the server: an older copy
 * of a packet has fewer grabs, and its event would tell their count. */
struct live_close {
    enum status status;  /* ST_OK: see code; else as live_grab_read */
    enum live_code code; /* CLOSED (event appended), ALREADY, FINISHED, NOT_YET, BUSY, MISSING */
    uint32_t grabbed_count;
    int64_t grabbed_fen;
    int64_t rest_fen;
};
/* At most LIVE_BATCH_MAX in one round, each with its own answer in out. */
void live_close_all(const struct live *live, const uint64_t *packet_ids, size_t count, struct live_close *out);

/* Deletes the own keys of a packet (its events stay in the stream). Fine when they are gone. ST_OK, or as
 * live_grab_read. */
enum status live_remove(const struct live *live, uint64_t packet_id);
/* The same for packets that must not come back: a load by the sender that is still on its way finds them gone. ST_OK,
 * or the first error. */
enum status live_bury(const struct live *live, uint64_t packet_id);
enum status live_bury_all(const struct live *live, const uint64_t *packet_ids, size_t count);

/* ---- the stream ---- */

enum live_event_type { LIVE_EVENT_GRAB, LIVE_EVENT_CLOSE };
struct live_event {
    struct live_event_id id;
    enum live_event_type type;
    uint64_t packet_id;
    /* grab */
    uint32_t share_no;
    uint64_t user_id;
    int64_t amount_fen;
    struct str nickname; /* in the reply: lives as long as the call */
    /* close */
    uint32_t grabbed_count;
    int64_t grabbed_fen, rest_fen;
};
/* Reads one entry of an XRANGE / XREAD reply. ST_CORRUPT: not one of ours (a dead letter); out->id is set whenever the
 * entry has a readable id, else 0-0. */
enum status live_event_read(const redisReply *entry, struct live_event *out);

/* The newest id a stream has ever had, from the answer to XINFO STREAM; LIVE_EVENT_NONE when there is no stream.
 * ST_CORRUPT: no such answer; else as the call. */
enum status live_stream_last_id(const struct redis_call *info, struct live_event_id *out);

#endif
