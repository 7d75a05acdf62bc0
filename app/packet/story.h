/* The story of a user's year, made from its records: the person to whom the user gave most, the person who gave most,
 * the largest and the fastest share, the liveliest day. Amounts and counts of the whole year are in packet/totals.h. */
#ifndef HB_PACKET_STORY_H
#define HB_PACKET_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "mysql/db.h"

/* The most rows from which a story is made: the newest of the year. */
enum { STORY_RECEIVED_MAX = 2000, STORY_SENT_MAX = 1000, STORY_GIVEN_MAX = 4000 };

/* A share that somebody gave to somebody. */
struct story_gift {
    int64_t ms; /* received: of the grab; given: when the packet was sent */
    uint64_t packet_id;
    uint64_t person_id; /* received: the sender; given: the receiver; 0: nobody has opened the packet */
    int64_t amount_fen;
    int64_t after_ms; /* received: how long after the packet could be opened */
    /* thanked: the receiver wrote thanks; returned: the share was given back and counts for nobody */
    bool thanked, returned;
};
struct story_gifts {
    struct story_gift *rows; /* newest first; gifts of one packet together */
    size_t count;
    bool cut; /* the year has more rows than the story reads */
};

struct story_person {
    uint64_t id; /* 0: nobody */
    int64_t amount_fen;
    uint64_t count;     /* of these shares */
    uint64_t exchanged; /* shares that the two gave each other */
};
struct story_day {
    struct clock_date date;                             /* year 0: none */
    uint64_t sent_count, received_count, thanked_count; /* packets sent, shares received, thanks for packets sent */
};
struct story {
    struct story_person given_most, received_most;
    struct story_gift largest, fastest; /* among shares received; amount_fen 0: there is none */
    struct story_day liveliest;
    uint64_t thanked_count; /* thanks from others */
    bool cut;               /* made from the newest records of the year only */
};

/* Makes the story of these gifts, and sorts them by person. Gifts from or to the user self, and those given back, count
 * for no person. Between equal people, the one with more shares is named, then the one with the older account; between
 * equal shares or days, the later one. */
void story_tell(struct story_gifts *received, struct story_gifts *given, uint64_t self, struct story *out);

/* Reads the gifts of the year in the service's zone, by keys, and makes their story. Errors as db_query. */
enum status story_find(struct db *db, struct arena *a, uint64_t user_id, int year, struct story *out);

#endif
