/* The inbox of a user: packets that are for the user by name and not opened yet, refunds, shares that were given back,
 * and thanks. It is read from the tables of these things and has no table of its own. */
#ifndef HB_PACKET_INBOX_H
#define HB_PACKET_INBOX_H

#include "base/arena.h"
#include "base/badge.h"
#include "mysql/db.h"

enum inbox_kind {
    INBOX_WAITING, /* an open packet for the user by name, or looked at, that the user has not opened */
    INBOX_REFUND,  /* the rest of a packet that the user had sent */
    INBOX_THANKS,  /* thanks from a receiver of a packet that the user had sent */
    INBOX_RETURN,  /* a share of such a packet, given back by its receiver */
    INBOX_KINDS
};

enum { INBOX_ITEMS_MAX = 10 }; /* of each kind */
enum { INBOX_LOOKED_MAX = 4 }; /* packets that the user has looked at; they come on top of INBOX_ITEMS_MAX */
#define INBOX_SHOWN_MS ((int64_t)7 * 86400000) /* items are shown for this time, except waiting packets */

struct inbox_item {
    enum inbox_kind kind;
    int64_t ms; /* when it was sent, came back or was written */
    uint64_t packet_id;
    struct str greeting;
    uint64_t sender_id; /* waiting: the sender; thanks, return: the receiver who wrote them or gave the share back */
    struct str sender_name;
    struct face sender_face;
    struct str text;    /* thanks */
    int64_t opens_ms;   /* waiting: when it can be opened; 0: from the beginning */
    bool not_yet;       /* waiting: opens_ms is still to come */
    bool looked;        /* waiting: the user has looked at it */
    bool exclusive;     /* waiting: for this user alone */
    struct str cover;   /* waiting: of the envelope, as stored (packet/cover.h) */
    int64_t amount_fen; /* refund, return: the money */
    bool into_packet;   /* return: the packet was open, so others can open the share; false: the user got the money */
};

struct inbox {
    struct inbox_item *items; /* the newest first, then those that open later, the next to open first; in the arena */
    size_t count;
    uint64_t thankers; /* how many users said thanks, also those whose thanks are beyond INBOX_ITEMS_MAX */
};

/* Packets that the user has looked at before their opening. */
struct inbox_looked {
    uint64_t ids[INBOX_LOOKED_MAX];
    size_t count;
};

/* Reads the newest rows, a limited number by keys, however many packets a user has had. looked: adds its packets that
 * are open, for everybody, and of another sender; NULL: adds none. ST_CORRUPT: an unknown kind · ST_NO_MEMORY · else as
 * db_query. */
enum status inbox_find(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms,
                       const struct inbox_looked *looked, struct inbox *out);

/* True when an earlier item of the list is thanks of the same user. item: the index of an item of thanks. */
bool inbox_thanked_before(const struct inbox *inbox, size_t item);

/* The name of a kind in SQL and JSON: "waiting", "refund", "thanks", "return". */
struct str inbox_kind_name(enum inbox_kind kind);

#endif
