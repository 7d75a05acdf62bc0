/* The people with whom a user recently exchanged packets. */
#ifndef HB_PACKET_PEOPLE_H
#define HB_PACKET_PEOPLE_H

#include "base/arena.h"
#include "mysql/db.h"

enum { PEOPLE_MAX = 8 };

struct people {
    uint64_t ids[PEOPLE_MAX]; /* users, the latest first, each once */
    size_t count;
};

/* Senders of the latest packets that the user received, and receivers of the latest packets that the user sent: those
 * who opened one, and those for whom one is meant. Reads a limited number of rows by keys, however many there are, so
 * older ones are not found. Without the user. Errors as db_query. */
enum status people_recent(struct db *db, struct arena *a, uint64_t user_id, struct people *out);

#endif
