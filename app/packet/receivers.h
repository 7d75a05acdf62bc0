/* The users for whom a packet is meant, when it is not for everybody: the receiver of an exclusive packet, or several
 * named receivers of another kind. MySQL has a row for each in packet_receiver. When there are several, the packet has
 * their ids in a text: one field of Redis's hash says who may open it. */
#ifndef HB_PACKET_RECEIVERS_H
#define HB_PACKET_RECEIVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "packet/packet.h"

enum {
    RECEIVERS_MAX = 100,    /* of a packet */
    RECEIVERS_NAMES_MAX = 3 /* names that the packet carries for its page */
};

struct receiver {
    uint64_t id;
    struct str name;  /* nickname at the time of sending */
    struct face face; /* face and username: only for users who are named in a form */
    struct str username;
};
struct receivers {
    struct receiver *items;
    size_t count;
};

/* True when this user may open the packet: it is for everybody, or the user is a receiver. Pure. */
bool packet_is_for(const struct packet *p, uint64_t user_id);

/* Sorts the receivers by id and sets receiver_count, receivers and receiver_names of p. The texts are in the arena.
 * ST_NO_MEMORY. */
enum status receivers_describe(struct arena *a, struct packet *p, struct receivers *r);

/* Reads the receivers of a packet of MySQL, as receivers_describe. Does nothing for a packet without several receivers.
 * Returns as db_query; ST_CORRUPT: another number than the packet's row says. */
enum status receivers_find(struct db *db, struct arena *a, struct packet *p);
/* The usernames of the receivers, also of an exclusive packet; none of a packet for everybody. In the arena. Returns as
 * db_query; ST_NO_MEMORY. */
enum status receivers_usernames(struct db *db, struct arena *a, const struct packet *p, struct str_list *out);

#endif
