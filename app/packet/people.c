#include "packet/people.h"

#include <stdlib.h>

/* The number of rows that are read. */
#define RECEIVED_ROWS  "20"
#define SENT_ROWS      "20"
#define SHARES_OF_EACH "8"
#define NAMED_ROWS     "160" /* SENT_ROWS * PEOPLE_MAX: so many rows name PEOPLE_MAX receivers or more */

struct contact {
    uint64_t id;
    int64_t ms;
};

static int contact_order(const void *left, const void *right)
{
    const struct contact *a = left, *b = right;
    return a->ms == b->ms ? (a->id > b->id) - (a->id < b->id) : a->ms > b->ms ? -1 : 1;
}

static bool people_has(const struct people *people, uint64_t id)
{
    for (size_t i = 0; i < people->count; i++)
        if (people->ids[i] == id)
            return true;
    return false;
}

/* The senders of the latest shares. Of the latest packets: the named receivers, else the users who opened them, else
 * the receiver in the packet's row (before the table packet_receiver); a packet with named receivers can be opened
 * by nobody else, so its grabs are not read. The join reads the newest packet first, so the limit cuts off the
 * oldest. Few SELECTs, because each costs the server more than some rows. */
#define RECEIVED                                                                                                       \
    "SELECT packet.sender_id, grab.grabbed_ms FROM grab FORCE INDEX (grab_received) "                                  \
    "STRAIGHT_JOIN packet ON packet.id = grab.packet_id WHERE grab.user_id = ? "                                       \
    "ORDER BY grab.grabbed_ms DESC, grab.packet_id DESC LIMIT " RECEIVED_ROWS
#define PERSON "COALESCE(named.user_id, grab.user_id, latest.receiver_id)"
#define SENT                                                                                                           \
    "SELECT " PERSON ", COALESCE(grab.grabbed_ms, latest.created_ms) FROM "                                            \
    "(SELECT id, created_ms, receiver_id, receiver_count FROM packet FORCE INDEX (packet_sent) WHERE sender_id = ? "   \
    "ORDER BY created_ms DESC, id DESC LIMIT " SENT_ROWS ") AS latest "                                                \
    "LEFT JOIN grab FORCE INDEX (PRIMARY) ON grab.packet_id = latest.id AND grab.share_no < " SHARES_OF_EACH           \
    " AND latest.receiver_count = 0 "                                                                                  \
    "LEFT JOIN packet_receiver AS named FORCE INDEX (PRIMARY) ON named.packet_id = latest.id "                         \
    "WHERE " PERSON " IS NOT NULL LIMIT " NAMED_ROWS

enum status people_recent(struct db *db, struct arena *a, uint64_t user_id, struct people *out)
{
    struct db_rows rows;
    *out = (struct people){ .count = 0 };
    enum status st = db_query_prepared(db, a, &rows, "(" RECEIVED ") UNION ALL (" SENT ")",
                                       DB_PARAMS(DB_U64(user_id), DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    struct contact *contacts = arena_array(a, rows.count + 1, sizeof *contacts);
    if (contacts == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        contacts[i] = (struct contact){ db_cell_u64(&rows, i, 0), db_cell_i64(&rows, i, 1) };
    qsort(contacts, rows.count, sizeof *contacts, contact_order);
    for (size_t i = 0; i < rows.count && out->count < PEOPLE_MAX; i++)
        if (contacts[i].id != user_id && !people_has(out, contacts[i].id))
            out->ids[out->count++] = contacts[i].id;
    return ST_OK;
}
