#include "packet/people.h"

#include <stdlib.h>

/* The rows that are looked at. */
#define RECEIVED_ROWS  "50"
#define SENT_ROWS      "20"
#define SHARES_OF_EACH "8"
#define NAMED_ROWS     "160" /* SENT_ROWS * PEOPLE_MAX: so many rows have PEOPLE_MAX receivers or more */

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

/* The receivers of the latest packets, newest packet first: the join goes from packet to packet, so that the limit cuts
 * off the oldest. Packets of before the table packet_receiver have their receiver in their own row. */
#define NAMED                                                                                                          \
    "(SELECT named.user_id, latest.created_ms FROM (SELECT id, created_ms FROM packet WHERE sender_id = ? "            \
    "ORDER BY created_ms DESC, id DESC LIMIT " SENT_ROWS ") AS latest STRAIGHT_JOIN packet_receiver AS named "         \
    "FORCE INDEX (PRIMARY) ON named.packet_id = latest.id LIMIT " NAMED_ROWS ")"

enum status people_recent(struct db *db, struct arena *a, uint64_t user_id, struct people *out)
{
    struct db_rows rows;
    *out = (struct people){ .count = 0 };
    enum status st = db_query_prepared(
        db, a, &rows,
        "SELECT packet.sender_id, latest.grabbed_ms FROM (SELECT packet_id, grabbed_ms FROM grab WHERE user_id = ? "
        "ORDER BY grabbed_ms DESC, packet_id DESC LIMIT " RECEIVED_ROWS ") AS latest "
        "JOIN packet ON packet.id = latest.packet_id "
        "UNION ALL SELECT grab.user_id, grab.grabbed_ms FROM (SELECT id FROM packet WHERE sender_id = ? "
        "ORDER BY created_ms DESC, id DESC LIMIT " SENT_ROWS ") AS latest "
        "JOIN grab ON grab.packet_id = latest.id AND grab.share_no < " SHARES_OF_EACH " "
        "UNION ALL SELECT latest.receiver_id, latest.created_ms FROM (SELECT receiver_id, created_ms FROM packet "
        "WHERE sender_id = ? ORDER BY created_ms DESC, id DESC LIMIT " SENT_ROWS ") AS latest "
        "WHERE latest.receiver_id IS NOT NULL UNION ALL " NAMED,
        DB_PARAMS(DB_U64(user_id), DB_U64(user_id), DB_U64(user_id), DB_U64(user_id)));
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
